"""Floats of attention beside MPFR's; ``conversions`` does the same for any number of them."""

from __future__ import annotations

import pytest

from .conversions import KINDS, compared, same


@pytest.mark.parametrize("seed", range(2 * len(KINDS)))
def test_floats_are_those_of_mpfr(seed):
    """Ordinary, saturated, cancelling, wide and small inputs, in every format."""
    differ = [name for name, found, wanted in compared(seed) if not same(found, wanted)]
    assert differ == []


def test_a_wrong_float_is_seen():
    """One unit in the last place, and the sign of zero, are differences."""
    assert not same(1.0, 1.0 + 2**-52)
    assert not same(0.0, -0.0)
    assert same(float("nan"), float("nan"))
