"""An array judged against the exact quantity that it should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite, nan, prod

import numpy as np
import numpy.typing as npt

from symattn.errors import Malformed
from symattn.numbers import rounding
from symattn.numbers.formats import FORMATS, FloatFormat
from symattn.shapes import Shape, show
from symattn.solution.entries import Entry
from symattn.solution.quantity import Quantity
from symattn.testing.bounds import Bound, Level, Precision, bounds
from symattn.testing.dtypes import floats_of, format_of, named
from symattn.testing.model import Array, held_in
from symattn.verdicts import Verdict

#: Digits of the exact value that are told.
_DIGITS = 20
#: Wrong entries that are told one by one.
_MOST_TOLD = 5


@dataclass(frozen=True)
class Miss:
    """One entry: what was found, the exact value (its digits), and how far that is.

    ``ulp`` is the error in units in the last place of the format at the exact value, ``scaled``
    over the entry's condition in unit roundoffs of the format, ``over_bound`` over what a
    correct kernel may be off: above 1 is wrong.
    """

    index: tuple[int, ...]
    got: float
    truth: str
    ulp: float
    scaled: float
    over_bound: float

    def __str__(self) -> str:
        return (
            f"{list(self.index)}: {self.got!r} (ACTUAL), {self.truth} (EXACT), "
            f"{_short(self.ulp)} ulp, {_short(self.over_bound)} of the bound"
        )


@dataclass(frozen=True)
class Report:
    """What is said of one array.

    ``mismatch`` is a fault of the whole array, its shape say, and '' without one; then the rest
    is about all entries: how many are ``wrong``, which is ``worst`` (None where all are exact),
    what share is ``correctly_rounded``, the largest error in units in the last place, over the
    condition and over the bound, and the numbers of entries that should be numbers and are NaN
    or infinite. ``misses`` are the worst wrong entries.
    """

    name: str
    format: FloatFormat
    level: Level
    shape: Shape
    mismatch: str = ""
    entries: int = 0
    wrong: int = 0
    worst: Miss | None = None
    misses: tuple[Miss, ...] = ()
    correctly_rounded: float = 0.0
    max_ulp: float = nan
    max_scaled: float = nan
    max_over_bound: float = nan
    nans: int = 0
    infinities: int = 0
    tolerance: float | None = None

    @property
    def verdict(self) -> Verdict:
        """``holds`` if every entry is within the bound, else ``refuted``."""
        return Verdict.REFUTED if self.mismatch or self.wrong else Verdict.HOLDS

    def as_dict(self) -> dict[str, object]:
        """The report for JSON, which has neither infinity nor NaN: None."""
        return {"verdict": str(self.verdict), **_plain(asdict(self))}

    def __str__(self) -> str:
        said = f"{self.name}, {show(self.shape)}, {self.format}: "
        if self.mismatch:
            return said + self.mismatch
        judged = f"{self.wrong} of {self.entries} entries wrong" if self.wrong else "right"
        return (
            f"{said}{judged}; worst {_short(self.max_over_bound)} of the bound, "
            f"{_short(self.max_ulp)} ulp; {self.correctly_rounded:.1%} correctly rounded"
        )


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

    >>> from symattn import attention
    >>> exact = attention([[1]], [[0], [1]], [[1], [2]])
    >>> found = report(np.array([[1.7310586]], "float32"), exact.output)
    >>> print(found)
    output, 1x1, float32: right; worst 0.0053 of the bound, 0.16 ulp; 100.0% correctly rounded
    >>> report([[1.7311]], exact.output, dtype="float32").verdict
    <Verdict.REFUTED: 'refuted'>
    """
    return Judged(actual, quantity, _precision(actual, dtype, level, accumulate), tolerance).report


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
    judged = Judged(actual, quantity, precision, tolerance)
    if judged.report.verdict is not Verdict.HOLDS:
        raise AssertionError(judged.message())


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


class Judged:
    """An array beside the truth: the report, and the errors of all entries over their bounds."""

    def __init__(
        self,
        actual: object,
        quantity: Quantity,
        precision: Precision,
        tolerance: float | None = None,
    ) -> None:
        self.actual = floats_of(actual)
        self.quantity = quantity
        self.precision = precision
        self.tolerance = tolerance
        self.name = quantity.role.part if quantity.role else quantity.name
        self.ratio: Array | None = None
        self.nearest: Array | None = None
        self.report = self._report()

    def _report(self) -> Report:
        p, shape = self.precision, self.quantity.shape
        plain = Report(self.name, p.format, p.level, shape, tolerance=self.tolerance)
        if self.actual.shape != shape:
            said = f"shapes differ: {self.actual.shape} (ACTUAL), {shape} (EXACT)"
            return replace(plain, mismatch=said)
        if len(wide := self._not_of_format()):
            place = tuple(map(int, wide[0]))
            said = f"{list(place)} is {self.actual[place]!r}, no {p.format}"
            return replace(plain, mismatch=said)
        high, low = _truth(self.quantity)
        bound = self._bound(abs(high))
        self.nearest = self.quantity.nearest(p.format).astype(np.float64)
        with np.errstate(all="ignore"):
            error = _error(self.actual, high, low, self.nearest)
            ratio = self.ratio = _over(error, bound.bound)
            scaled = _over(error, bound.condition * p.u)
            ulp = error / _units(abs(high), p.format)
        rounded = (self.actual == self.nearest) | (np.isnan(self.actual) & np.isnan(self.nearest))
        wrong = ratio > 1
        order = np.argsort(-ratio, axis=None, kind="stable")[: max(_MOST_TOLD, 1)]

        def miss(flat: int) -> Miss:
            index = tuple(int(k) for k in np.unravel_index(flat, shape))
            return Miss(
                index,
                float(self.actual[index]),
                _digits(self.quantity, index),
                float(ulp[index]),
                float(scaled[index]),
                float(ratio[index]),
            )

        known = np.isfinite(high)
        return replace(
            plain,
            entries=ratio.size,
            wrong=int(wrong.sum()),
            worst=miss(int(order[0])) if error.any() else None,
            misses=tuple(miss(int(k)) for k in order[: int(wrong.sum())]),
            correctly_rounded=float(rounded.mean()),
            max_ulp=float(ulp.max()),
            max_scaled=float(scaled.max()),
            max_over_bound=float(ratio.max()),
            nans=int((np.isnan(self.actual) & known).sum()),
            infinities=int((np.isinf(self.actual) & np.isfinite(self.nearest)).sum()),
        )

    def _not_of_format(self) -> npt.NDArray[np.intp]:
        """Where the numbers are none of the format that they should be of."""
        with np.errstate(all="ignore"):
            known = np.isfinite(self.actual)
            held = held_in(np.where(known, self.actual, 0.0), self.precision.format)
        return np.argwhere(known & (held != self.actual))

    def _bound(self, size: Array) -> Bound:
        is_part = self.quantity.role is not None
        if not is_part and self.tolerance is None:
            raise Malformed(
                f"tolerance: {self.name} is no part of symattn.attention, no bound is known: say "
                "how many unit roundoffs of its own magnitude each entry may be off"
            )
        found = bounds(self.quantity, self.precision) if is_part else Bound(size, size)
        if self.tolerance is None:
            return found
        return Bound(found.condition, self.tolerance * self.precision.u * found.condition)

    def message(self) -> str:
        """What is wrong, as NumPy's ``assert_allclose`` says it."""
        found, p = self.report, self.precision
        limit = f"bound: {p.level}" if self.tolerance is None else f"tolerance={self.tolerance:g}"
        head = f"\nNot what a correct {p.format} kernel may give ({limit})\n{self.name}: "
        if found.mismatch:
            return head + found.mismatch
        share = 100 * found.wrong / found.entries
        short = _shorter(p.format)
        lines = [
            f"{head}mismatched elements: {found.wrong} / {found.entries} ({share:.3g}%)",
            "Worst of them:",
            *(f" {miss}" for miss in found.misses),
            f"Max error over bound: {_short(found.max_over_bound)}",
            f"Max error over condition: {_short(found.max_scaled)} unit roundoffs",
            f"Correctly rounded: {100 * found.correctly_rounded:.3g}%",
        ]
        if found.nans or found.infinities:
            lines.append(f"NaN: {found.nans}, infinite: {found.infinities} that should be numbers")
        assert self.nearest is not None
        lines.append(f" ACTUAL: {self.actual.astype(short)!r}")
        lines.append(f" EXACT:  {self.nearest.astype(short)!r}")
        return "\n".join(lines)


def _shorter(name: FloatFormat) -> str:
    """The type that NumPy shows numbers of a format by."""
    return name if name in ("float16", "float32", "float64") else "float32"


def _truth(quantity: Quantity) -> tuple[Array, Array]:
    """The exact values as sums of two floats, to 20 bits more than the first has."""
    high: Array = quantity.nearest("float64")
    pairs = quantity.source.pairs()
    if pairs is None:
        return high, np.zeros(high.shape)
    with np.errstate(all="ignore"):
        near = high.reshape(pairs.shape)
        rest = (pairs.high - near) + pairs.low
        close = (pairs.error <= 2.0**-73 * abs(near)) & np.isfinite(rest)
        low: Array = np.where(close, rest, 0.0).reshape(high.shape)
    return high, low


def _error(actual: Array, high: Array, low: Array, nearest: Array) -> Array:
    """The distance to the exact values; infinite where only one of both is a number."""
    error = abs((actual - high) - low)
    same = (actual == nearest) & ~np.isfinite(nearest)
    same |= np.isnan(actual) & np.isnan(high)
    found: Array = np.where(same, 0.0, np.where(np.isfinite(actual) & ~np.isnan(high), error, inf))
    return found


def _over(error: Array, limit: Array) -> Array:
    """``error / limit``, where 0 / 0 is 0; a bound that says nothing lets all pass."""
    return np.where(np.isinf(limit) | (error == 0), 0.0, error / limit)


def _units(size: Array, name: FloatFormat) -> Array:
    """The unit in the last place at numbers of that size."""
    form = FORMATS[name]
    finite = np.where(np.isfinite(size), size, 1.0)
    exponent = np.maximum(np.frexp(finite)[1] - 1, form.lowest)
    found: Array = np.ldexp(1.0, exponent - form.digits + 1)
    return found


def _digits(quantity: Quantity, index: Sequence[int]) -> str:
    """The exact value of an entry in digits."""
    places = np.arange(prod(quantity.shape)).reshape(quantity.shape)
    i, j = divmod(int(places[tuple(index)]), quantity.grid[1])
    entry, undefined = Entry(quantity, i, j), quantity.source.undefined
    if undefined is not None and undefined[i, j]:
        return "nan"
    if entry.is_hidden:
        return "-inf"
    found = rounding.significant(entry, _DIGITS, "half-even")
    return str(found) if found else "0"


def _short(figure: float) -> str:
    if not isfinite(figure):
        return str(figure)
    return (
        f"{figure:.2g}" if figure < 100 else f"{figure:,.0f}" if figure < 1e6 else f"{figure:.1e}"
    )


def _plain(held: object) -> dict[str, object]:
    def clean(x: object) -> object:
        if isinstance(x, float):
            return x if isfinite(x) else None
        if isinstance(x, dict):
            return {key: clean(value) for key, value in x.items()}
        return [clean(y) for y in x] if isinstance(x, list | tuple) else x

    found = clean(held)
    assert isinstance(found, dict)
    return found
