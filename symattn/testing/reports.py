"""One array judged: as data, or as an assertion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from symattn.errors import Malformed
from symattn.numbers.formats import FORMATS, FloatFormat
from symattn.solution.quantity import Quantity
from symattn.testing.bounds import Level, Precision, format_of, named
from symattn.testing.causes import causes_of
from symattn.testing.judged import JudgedArray, KernelCause, Report
from symattn.verdicts import Verdict


def report(
    actual: object,
    quantity: Quantity,
    *,
    dtype: object = None,
    level: Level = "unfused",
    accumulate: FloatFormat | None = None,
    tolerance: float | None = None,
) -> Report:
    """An array judged against an exact quantity: a part of :func:`symattn.attention`, as
    ``exact.output`` or ``exact.backward(do).dQ``.

    ``actual`` is an array of NumPy, PyTorch, JAX or any other package, or nested lists.
    ``dtype`` is the format that it was computed in, its own unless given; ``accumulate`` that
    of sums, float32 for narrower ones unless given. The verdict is by the bound for correct
    kernels of that working precision, see :mod:`symattn.testing.bounds`, or, with a
    ``tolerance``, by that many unit roundoffs of each entry's condition, the sum of the
    magnitudes of its terms. Of a quantity that is no part of attention the magnitude of the
    entry itself is taken, and :class:`Malformed` asks for a tolerance.

    >>> import numpy as np
    >>> from symattn import attention
    >>> exact = attention([[1]], [[0], [1]], [[1], [2]])
    >>> judged = report(np.array([[1.7310586]], "float32"), exact.output)
    >>> print(judged)
    output, 1x1, float32: right; worst 0.0053 of the bound, 0.16 ulp; 100.0% correctly rounded
    >>> report([[1.7311]], exact.output, dtype="float32").verdict
    <Verdict.REFUTED: 'refuted'>
    """
    return _judged(actual, quantity, _precision(actual, dtype, level, accumulate), tolerance)[1]


def assert_close(
    actual: object,
    quantity: Quantity,
    *,
    dtype: object = None,
    level: Level = "unfused",
    accumulate: FloatFormat | None = None,
    tolerance: float | None = None,
) -> None:
    """Raise :class:`AssertionError` unless an array is what a correct kernel may give; the
    arguments are those of :func:`report`.

    >>> import numpy as np
    >>> from symattn import attention
    >>> exact = attention([[1]], [[0], [1]], [[1], [2]])
    >>> assert_close(np.array([[1.7310586]], "float32"), exact.output)
    >>> try:
    ...     assert_close(np.array([1.7310586], "float32"), exact.output)
    ... except AssertionError as error:
    ...     print(str(error).strip())
    Not what a correct float32 kernel may give (bound: unfused)
    output: shapes differ: (1,) (ACTUAL), (1, 1) (EXACT)
    """
    precision = _precision(actual, dtype, level, accumulate)
    judged, report = _judged(actual, quantity, precision, tolerance)
    if report.verdict is not Verdict.HOLDS:
        raise AssertionError("\n".join([judged.message(), *cause_lines(report.causes)]))


def cause_lines(causes: Iterable[KernelCause]) -> list[str]:
    """Causes as lines of a message."""
    return [f"Likely cause: {cause}" for cause in causes]


def _judged(
    actual: object, quantity: Quantity, precision: Precision, tolerance: float | None
) -> tuple[JudgedArray, Report]:
    judged = JudgedArray(actual, quantity, precision, tolerance)
    causes = causes_of({judged.name: judged}, precision)
    return judged, replace(judged.report, causes=causes)


def _precision(
    actual: object, dtype: object, level: Level, accumulate: FloatFormat | None
) -> Precision:
    form = format_of(actual) if dtype is None else named(dtype)
    if form is None:
        own = getattr(actual, "dtype", None)
        if own is not None:
            raise Malformed(f"dtype: expected the format of {own}: one of {', '.join(FORMATS)}")
        form = "float64"
    return Precision(form, accumulate, level)
