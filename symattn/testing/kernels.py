"""Kernels judged: a function is called, and all that it gives is held against the truth.

One array judged: as data, or as an assertion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from symattn.errors import Faults, Malformed
from symattn.ieee import need_ieee
from symattn.numbers.arrays import BlockEntries, from_floats
from symattn.numbers.float_formats import FORMATS, FloatFormat
from symattn.numbers.rows import ArrayLike, Mask, Number
from symattn.solution.arguments import Empty
from symattn.solution.attention import attention
from symattn.solution.layouts import Alignment
from symattn.solution.quantity import Quantity
from symattn.testing.attention_steps import BY_KEY, Array, rounded_to
from symattn.testing.frameworks import (
    Backward,
    Framework,
    FrameworkName,
    Kernel,
    framework_of,
    parts_of,
)
from symattn.testing.judged import JudgedArray, KernelCause, Report, failure, likely, part_of
from symattn.testing.precision import Level, Precision, by_name, floats_of, format_of, named
from symattn.verdicts import Verdict


def report(
    actual: object,
    quantity: Quantity,
    *,
    dtype: object = None,
    inputs: object = None,
    level: Level = "unfused",
    accumulate: FloatFormat | None = None,
    formats: Mapping[str, object] | None = None,
    tolerance: float | None = None,
) -> Report:
    """An array judged against an exact quantity: a part of :func:`symattn.attention`, as
    ``exact.output`` or ``exact.backward(do).dQ``.

    ``actual`` is an array of NumPy, PyTorch, JAX or any other package, or nested lists.
    ``dtype`` is its format, that of its own type unless given; ``inputs`` that of the kernel's
    inputs and of what it stores on the way, the same unless given, and ``formats`` says what
    else has another, see :func:`check_attention`; ``accumulate`` is that of sums, float32 for
    narrower ones unless given. The verdict is by the bound for correct
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
    >>> report(np.float32([1.3132616]), exact.lse, inputs="float16").format
    'float32'
    """
    return _judged(actual, quantity, dtype, inputs, level, accumulate, formats, tolerance)[1]


def assert_close(
    actual: object,
    quantity: Quantity,
    *,
    dtype: object = None,
    inputs: object = None,
    level: Level = "unfused",
    accumulate: FloatFormat | None = None,
    formats: Mapping[str, object] | None = None,
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
    asked = dtype, inputs, level, accumulate, formats, tolerance
    judged, report = _judged(actual, quantity, *asked)
    if report.verdict is not Verdict.HOLDS:
        raise AssertionError(failure([judged], report.causes))


def _causes(judged: Mapping[str, JudgedArray], precision: Precision) -> tuple[KernelCause, ...]:
    if all(one.report.verdict is Verdict.HOLDS for one in judged.values()):
        return ()
    # Loads all that is tried.
    from symattn.testing.faults import causes_of

    return causes_of(judged, precision)


def _judged(
    actual: object,
    quantity: Quantity,
    dtype: object,
    inputs: object,
    level: Level,
    accumulate: FloatFormat | None,
    formats: Mapping[str, object] | None,
    tolerance: float | None,
) -> tuple[JudgedArray, Report]:
    form = format_of(actual) if dtype is None else named(dtype)
    if form is None:
        own = getattr(actual, "dtype", None)
        if own is not None:
            raise Malformed(f"dtype: expected the format of {own}: one of {', '.join(FORMATS)}")
        form = "float64"
    working = form if inputs is None else named(inputs)
    own_formats = {part_of(quantity): form} | by_name(formats)
    precision = _of_formats(working, accumulate, level, own_formats)
    judged = JudgedArray(actual, quantity, precision, tolerance)
    causes = _causes({judged.name: judged}, precision)
    return judged, replace(judged.report, causes=causes)


def _of_formats(
    working: FloatFormat,
    accumulate: FloatFormat | None,
    level: Level,
    formats: Mapping[str, FloatFormat],
) -> Precision:
    own = tuple(sorted((name, form) for name, form in formats.items() if form != working))
    return Precision(working, accumulate, level, own)


@dataclass(frozen=True)
class KernelReport:
    """The report on a kernel: a report of each array that it gave, by name (``output``, ``lse``,
    ``dQ``, ``dK``, ``dV``), why it is wrong where that can be told, and what a failing test
    says."""

    reports: Mapping[str, Report]
    causes: tuple[KernelCause, ...] = ()
    message: str = ""

    @property
    def verdict(self) -> Verdict:
        """``holds`` if all arrays do, else ``refuted``."""
        return Verdict.all(report.verdict for report in self.reports.values())

    def raise_if_wrong(self) -> None:
        """Raise :class:`AssertionError` that says what is wrong, if anything is."""
        if self.verdict is not Verdict.HOLDS:
            raise AssertionError(self.message)

    def as_dict(self) -> dict[str, object]:
        """The report for JSON."""
        parts = {name: report.as_dict() for name, report in self.reports.items()}
        causes = [asdict(cause) for cause in self.causes]
        return {"verdict": str(self.verdict), "parts": parts, "causes": causes}

    def __str__(self) -> str:
        return "\n".join([*map(likely, self.causes), *map(str, self.reports.values())])


def check_attention(
    function: Kernel,
    *,
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    upstream: ArrayLike | None = None,
    backward: Backward | None = None,
    framework: FrameworkName = "numpy",
    dtype: object = "float32",
    level: Level = "unfused",
    accumulate: FloatFormat | None = None,
    formats: Mapping[str, object] | None = None,
    raises: bool = True,
    mask: Mask | None = None,
    scale: Number | float | None = None,
    bias: ArrayLike | None = None,
    causal: Alignment | bool | None = None,
    window: int | tuple[int | None, int | None] | None = None,
    lengths: Number | ArrayLike | None = None,
    softcap: Number | float | None = None,
    sink: Number | float | ArrayLike | None = None,
    on_empty_row: Empty = "error",
    rows: Literal["sample"] | int | Sequence[int] | None = None,
    seed: int = 0,
    layout: str | None = None,
    cu_seqlens_q: ArrayLike | None = None,
    cu_seqlens_k: ArrayLike | None = None,
) -> KernelReport:
    """Call a kernel with arrays, and judge all that it gives by the exact attention of them.

    Queries, keys and values, floats or exact numbers, are rounded to ``dtype`` and handed over
    as arrays of the ``framework``; what :func:`symattn.from_blocks` gives stays as it is, in
    float64. ``function(q, k, v)`` returns the output, or the output and the log-sum-exp, or a
    mapping with some of output, lse, dQ, dK, dV. Gradients of ``sum(upstream * output)`` are
    asked of ``backward(q, k, v, upstream)``, which returns dQ, dK and dV, else, with an
    ``upstream``, of PyTorch or JAX; without an upstream those of ``backward`` are with all ones.
    The last arguments are those of :func:`symattn.attention`: what the kernel should compute.
    Floats among them are taken for their binary values. The kernel's arrays have the axes that
    ``layout`` and ``cu_seqlens_q`` say, those that it takes and those that it gives.

    ``dtype`` is also the format of what is stored on the way, and of results. ``formats`` names
    what has another (:data:`~symattn.testing.precision.NAMES`): some ``inputs``, ``weights`` and
    ``dS`` as they are multiplied, the ``output``, ``lse``, ``gradients`` or one of them. A result
    that isn't named, in an array of more digits than ``dtype`` with numbers that need them, has
    the format of its array: the float32 ``lse`` of a float16 kernel.

    ``rows`` judges some queries only, which takes seconds where all take minutes: ``"sample"``
    are 64, a number so many, drawn by ``seed`` from parts of equal length, or they are given by
    their numbers. The kernel works on all; the upstream gradient is 0 for the other queries, so
    that dK and dV, judged whole, are what flows into keys and values from these.

    Each array is judged as by :func:`~symattn.testing.kernels.report`. Raises
    :class:`AssertionError` that says what is wrong, unless ``raises`` is false, and
    :class:`~symattn.errors.Unsound` where the kernel leaves floats changed for the whole process.

    >>> def kernel(q, k, v):
    ...     weights = np.exp(q @ k.T / np.sqrt(np.float32(q.shape[1])))
    ...     return weights / weights.sum(axis=1, keepdims=True) @ v
    >>> report = check_attention(kernel, q=[[1, 2]], k=[[1, 0], [0, 1]], v=[[1], [0]])
    >>> report.verdict, report.reports["output"].max_over_bound < 0.1
    (<Verdict.HOLDS: 'holds'>, True)
    """
    form, given = named(dtype), by_name(formats)
    made_by = framework_of(framework)
    faults = Faults()
    tables: list[_Table] = []
    for name, data in (("Q", q), ("K", k), ("V", v), ("dY", upstream)):
        if isinstance(data, BlockEntries):
            given[name] = "float64"
        own = given.get(name, form)
        with faults.inside("upstream" if name == "dY" else name):
            tables += [] if data is None else [(rounded_to(floats_of(data), own), own)]
    faults.raise_all()
    above = tables.pop() if upstream is not None else None
    shape = tables[0][0].shape
    #: The axis that queries stand along.
    along = -2 if layout is None or "s" not in layout else layout.index("s") - len(layout)
    some = _chosen(rows, shape[along] if len(shape) >= -along else 1, seed)
    exact = attention(
        from_floats(tables[0][0]),
        from_floats(tables[1][0]),
        from_floats(tables[2][0]),
        mask,
        _exact(scale),
        bias=_exact(bias),
        causal=causal,
        window=window,
        lengths=lengths,
        softcap=_exact(softcap),
        sink=_exact(sink),
        on_empty_row=on_empty_row,
        queries=some,
        layout=layout,
        cu_seqlens_q=cu_seqlens_q,
        cu_seqlens_k=cu_seqlens_k,
    )
    if above is None and backward is not None:
        sizes = [*exact.output.shape]
        sizes[along] = shape[along]
        above = np.ones(sizes), given.get("dY", form)
    truth: dict[str, Any] = {"output": exact.output, "lse": exact.lse}
    if above is not None:
        above = _alone(above[0], some, along), above[1]
        back = exact.backward(from_floats(_taken(above[0], some, along)))
        truth |= {"dQ": back.dQ, "dK": back.dK, "dV": back.dV}
    arrays = _called(function, backward, made_by, tables, above)
    need_ieee("the kernel was called")
    judged = {}
    given |= {name: _widened(x, form) for name, x in arrays.items() if name not in given}
    if some is not None:
        is_told = backward is not None or made_by.differentiates
        arrays = {name: _of_some(name, x, some, along, is_told) for name, x in arrays.items()}
    precision = _of_formats(form, accumulate, level, given)
    for name, array in arrays.items():
        if name not in truth:
            raise Malformed(f"upstream: expected one, the kernel gave {name}")
        judged[name] = JudgedArray(array, truth[name], precision)
    reports = {name: judgement.report for name, judgement in judged.items()}
    wrong = [one for one in judged.values() if one.report.verdict is not Verdict.HOLDS]
    causes = _causes(judged, precision)
    result = KernelReport(reports, causes, failure(wrong, causes) if wrong else "")
    if raises:
        result.raise_if_wrong()
    return result


#: Numbers, and the format that they are of.
_Table = tuple[Array, FloatFormat]


def _widened(array: object, form: FloatFormat) -> FloatFormat:
    """The format of a result of which nothing was said: that of the array where it has more
    digits, and needs them."""
    own = format_of(array)
    if own is None or FORMATS[own].digits <= FORMATS[form].digits:
        return form
    floats = floats_of(array)
    finite = floats[np.isfinite(floats)]
    return form if (rounded_to(finite, form) == finite).all() else own


#: How many queries a sample has.
_SAMPLE = 64


def _chosen(
    rows: Literal["sample"] | int | Sequence[int] | None, n_q: int, seed: int
) -> npt.NDArray[np.intp] | None:
    """The queries that are judged; None for all.

    >>> _chosen(3, 9, 0)
    array([2, 4, 7])
    """
    count = _SAMPLE if rows == "sample" else rows
    if isinstance(count, str) or (isinstance(count, int) and count < 1):
        raise Malformed(
            f'rows: expected "sample", how many, or the numbers of queries, found {rows!r}'
        )
    if not isinstance(count, int):
        return None if count is None else np.asarray(count)
    if count >= n_q:
        return None
    bounds = np.linspace(0, n_q, count + 1).astype(np.intp)
    chosen: npt.NDArray[np.intp] = np.random.default_rng(seed).integers(bounds[:-1], bounds[1:])
    return chosen


def _taken(array: Array, places: npt.NDArray[np.intp] | None, axis: int) -> Array:
    """The rows of some queries; what has another number of rows stays as it is."""
    fits = array.ndim >= -axis and (places is None or places[-1] < array.shape[axis])
    return array if places is None or not fits else array.take(places, axis)


def _alone(upstream: Array, places: npt.NDArray[np.intp] | None, axis: int) -> Array:
    """An upstream gradient that is 0 but for some queries."""
    if places is None or upstream.ndim < -axis:
        return upstream
    kept = np.isin(np.arange(upstream.shape[axis]), places)
    alone: Array = np.where(kept.reshape(-1, *[1] * (-axis - 1)), upstream, 0.0)
    return alone


def _of_some(
    name: str, array: object, places: npt.NDArray[np.intp], axis: int, is_told: bool
) -> Array:
    """Return what of a result is judged: the rows of some queries, or all of what has one for each
    key."""
    if name in ("dQ", *BY_KEY) and not is_told:
        raise Malformed(
            f"rows: expected gradients from backward=, which is handed an upstream gradient that "
            f"is 0 for queries that are not judged; the kernel gave {name} itself"
        )
    floats = floats_of(array)
    return floats if name in BY_KEY else _taken(floats, places, -1 if name == "lse" else axis)


def _exact(number: Any) -> Any:
    """Floats as their exact values, everything else as it is."""
    floats = isinstance(number, float) or format_of(number) is not None
    return from_floats(number) if floats else number


def _called(
    function: Kernel,
    backward: Backward | None,
    made_by: Framework,
    tables: list[_Table],
    upstream: _Table | None,
) -> dict[str, Any]:
    """Return what a kernel gives, by name, its gradients too."""
    q, k, v = (made_by.array(*x) for x in tables)
    inputs = q, k, v
    if upstream is None or not (backward or made_by.differentiates):
        return parts_of(function(*inputs))
    above = made_by.array(*upstream)
    if backward is None:
        result, gradients = made_by.gradients(function, inputs, above)
    else:
        result, gradients = function(*inputs), backward(*inputs, above)
    parts = parts_of(result)
    if isinstance(gradients, Mapping):
        return parts | parts_of(gradients)
    if len(gradients) != 3:
        raise Malformed(f"backward: expected dQ, dK, dV, found {len(gradients)} results")
    return parts | dict(zip(("dQ", "dK", "dV"), gradients, strict=True))
