"""Arrays of attention code, judged against the exact truth.

>>> import numpy as np
>>> import symattn
>>> from symattn.testing import assert_close
>>> exact = symattn.attention([[1]], [[0], [1]], [[1], [2]])
>>> assert_close(np.array([[1.7310586]], "float32"), exact.output)

:func:`~symattn.testing.kernels.assert_close` and :func:`~symattn.testing.kernels.report`
judge one array, :func:`~symattn.testing.kernels.check_attention` a kernel, forward and
backward. What is right is said by bounds for correct kernels of a working precision
(:mod:`~symattn.testing.bounds`). Names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symattn.testing.judged import KernelCause, Miss, Report
    from symattn.testing.kernels import KernelReport, assert_close, check_attention, report
    from symattn.testing.precision import Level, Precision

#: The module that each public name is from.
_HOMES = {
    name: f"symattn.{home}"
    for home, names in (
        ("testing.judged", "KernelCause Miss Report"),
        ("testing.kernels", "KernelReport assert_close check_attention report"),
        ("testing.precision", "Level Precision"),
    )
    for name in names.split()
}

__all__ = [
    "KernelCause", "KernelReport", "Level", "Miss", "Precision", "Report", "assert_close",
    "check_attention", "report",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'symattn.testing' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
