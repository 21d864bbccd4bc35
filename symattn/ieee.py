"""Floats as IEEE 754-2019 has them: what every bound on their errors relies on."""

from __future__ import annotations

import numpy as np

from symattn.errors import Unsound


def need_ieee(since: str = "") -> None:
    """Raise :class:`Unsound` where this thread rounds otherwise or flushes what is small.

    Libraries built with ``-ffast-math`` and packages that are told to
    (``torch.set_flush_denormal``) change that for a whole thread, at any time; no bound holds
    then. So it is asked, in a few microseconds, wherever floats with bounds are computed, and
    ``since`` says after what: another's code, say.
    """
    one, ulp, least = np.array([1.0, -1.0]), np.array([2.0**-52] * 2), np.array([2.0**-1022] * 2)
    up, tie = one + ulp * one, ulp * one / 2
    to_even = np.array_equal(one + tie, one) and np.array_equal(up + tie, one + 2 * ulp * one)
    if not (to_even and (least / 2 * 2 == least).all()):
        what = "flushes subnormal numbers to 0" if to_even else "doesn't round floats to nearest"
        when = f" since {since}" if since else ""
        raise Unsound(
            f"this process {what}{when}, so that no float is certain: expected the arithmetic of "
            "IEEE 754. A library built with -ffast-math, or a setting such as "
            "torch.set_flush_denormal(True), does that: take it back, or ask in another process"
        )
