"""An array beside the exact quantity that it should be: what is wrong with it, and how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite, log10, nan, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from symattn.errors import Malformed
from symattn.expressions.shapes import Shape, show
from symattn.ieee import need_ieee
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST
from symattn.numbers.float_formats import FORMATS, FloatFormat
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.testing.attention_steps import BY_KEY, Array, Flags, rounded_to
from symattn.testing.bounds import Bound, bounds
from symattn.testing.precision import Level, Precision, floats_of, unit_roundoff
from symattn.verdicts import Verdict

#: Digits of the exact value that are told, and how many are told whatever they cost.
_DIGITS, _FEWEST = 20, 12
#: Formats of at most so many digits end at their largest number as often as not.
_SATURATING = 4
#: Wrong entries that are told one by one.
_MOST_TOLD = 5
#: Lines that are shown of an array.
_MOST_LINES = 5


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
class KernelCause:
    """The cause of a wrong array: the kind of fault, in words, in which parts; there, no entry is
    more than ``residual`` of the bound from what the fault gives."""

    kind: str
    phrase: str
    parts: tuple[str, ...]
    residual: float

    def __str__(self) -> str:
        return f"{', '.join(self.parts)}: {self.phrase}"


@dataclass(frozen=True)
class Report:
    """The report on one array.

    ``mismatch`` is a fault of the whole array, its shape say, and '' without one; then the rest
    is about all entries: how many are ``wrong``, which is ``worst`` (None where all are exact),
    what share is ``correctly_rounded``, the largest error in units in the last place, over the
    condition and over the bound, and the numbers of entries that should be numbers and are NaN
    or infinite. ``misses`` are the worst wrong entries. ``queries`` says how many were sampled,
    '' if all were judged.
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
    causes: tuple[KernelCause, ...] = ()
    queries: str = ""

    @property
    def verdict(self) -> Verdict:
        """``holds`` if every entry is within the bound, else ``refuted``."""
        return Verdict.REFUTED if self.mismatch or self.wrong else Verdict.HOLDS

    def as_dict(self) -> dict[str, object]:
        """The report for JSON, which has neither infinity nor NaN: None."""
        return {"verdict": str(self.verdict), **_plain(asdict(self))}

    def __str__(self) -> str:
        text = f"{self.name}, {show(self.shape)}, {self.format}: "
        if self.mismatch:
            return text + self.mismatch
        judged = f"{self.wrong} of {self.entries} entries wrong" if self.wrong else "right"
        return (
            f"{text}{judged}; worst {_short(self.max_over_bound)} of the bound, "
            f"{_short(self.max_ulp)} ulp; {self.correctly_rounded:.1%} correctly rounded"
            f"{'; ' * bool(self.queries)}{self.queries}"
        )


@dataclass(frozen=True, eq=False)
class Errors:
    """Of all entries: what was found, the exact value as a float of 64 bits, the nearest number
    of the format, the bound, and the error over it."""

    actual: Array
    exact: Array
    nearest: Array
    bound: Array
    over_bound: Array

    def at(self, places: npt.NDArray[np.intp], axis: int) -> Errors:
        """Return those of some queries, which stand along that axis."""
        return Errors(*(x.take(places, axis) for x in vars(self).values()))


class JudgedArray:
    """An array beside the truth: the report, and the errors of all entries, unless the whole
    array is of another shape or format."""

    def __init__(
        self,
        actual: object,
        quantity: Quantity,
        precision: Precision,
        tolerance: float | None = None,
    ) -> None:
        # The array is another's work, in which floats may have been changed.
        need_ieee("the array was made")
        self.actual = floats_of(actual)
        self.quantity = quantity
        self.precision = precision
        self.tolerance = tolerance
        self.name = part_of(quantity)
        #: The format that its numbers have.
        self.format = precision.of(self.name)
        self.errors: Errors | None = None
        self.report = self._report()

    def _report(self) -> Report:
        p, shape = self.precision, self.quantity.shape
        plain = Report(
            self.name, self.format, p.level, shape, tolerance=self.tolerance, queries=self._queries
        )
        if self.actual.shape != shape:
            message = f"shapes differ: {self.actual.shape} (ACTUAL), {shape} (EXACT)"
            return replace(plain, mismatch=message)
        if len(wide := self._not_of_format()):
            place = tuple(map(int, wide[0]))
            message = f"{list(place)} is {self.actual[place]!r}, no {self.format}"
            return replace(plain, mismatch=message)
        bound = self._bound()
        high, low = _truth(self.quantity, bound.bound)
        nearest = self.quantity.nearest(self.format).astype(np.float64)
        beyond = self._beyond(nearest, high)
        with np.errstate(all="ignore"):
            error = np.where(beyond, 0.0, error_of(self.actual, high, low, nearest))
            ratio = over(error, bound.bound)
            scaled = over(error, bound.condition * unit_roundoff(self.format))
            ulp = error / _units(abs(high), self.format)
        rounded = beyond | (self.actual == nearest) | (np.isnan(self.actual) & np.isnan(nearest))
        wrong = ratio > 1
        order = np.argsort(-ratio, axis=None, kind="stable")[: max(_MOST_TOLD, 1)]

        def miss(flat: int) -> Miss:
            index = tuple(int(k) for k in np.unravel_index(flat, shape))
            return Miss(
                self._place(index),
                float(self.actual[index]),
                _digits(self.quantity, index),
                float(ulp[index]),
                float(scaled[index]),
                float(ratio[index]),
            )

        self.errors = Errors(self.actual, high, nearest, bound.bound, ratio)
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
            infinities=int((np.isinf(self.actual) & np.isfinite(nearest)).sum()),
        )

    def _place(self, index: tuple[int, ...]) -> tuple[int, ...]:
        """Return where an entry is in the array of all queries."""
        role = self.quantity.role
        if role is None or role.keys or role.part in BY_KEY:
            return index
        lay = role.forward.layout
        if lay.is_packed:
            return index
        axis = lay.axis(role.part)
        return (*index[:axis], int(lay.queries[index[axis]]), *index[axis + 1 :])

    @property
    def _queries(self) -> str:
        """Return which queries the array is of, where not of all."""
        role = self.quantity.role
        if role is None or role.forward.layout.is_whole:
            return ""
        lay = role.forward.layout
        return f"{lay.n_q} of {lay.n_all} queries"

    def _not_of_format(self) -> npt.NDArray[np.intp]:
        """Return where the numbers are none of the format that they should be of."""
        with np.errstate(all="ignore"):
            known = np.isfinite(self.actual)
            stored = rounded_to(np.where(known, self.actual, 0.0), self.format)
        return np.argwhere(known & (stored != self.actual))

    def _beyond(self, nearest: Array, exact: Array) -> Flags:
        """Return what is right where the format ends, in 8 bits: its largest number, as good as one
        that is none, or as minus infinity."""
        form = FORMATS[self.format]
        largest = np.copysign(float(form.number(form.count - 1)), exact)
        ends = (self.actual == largest) | (self.actual == np.copysign(inf, exact))
        ends |= np.isnan(self.actual) & np.isfinite(exact)
        is_beyond: Flags = ~np.isfinite(nearest) & ~np.isnan(exact) & ends
        return is_beyond & (form.digits <= _SATURATING)

    def _bound(self) -> Bound:
        is_part = self.quantity.role is not None
        if not is_part and self.tolerance is None:
            raise Malformed(
                f"tolerance: {self.name} is no part of symattn.attention, no bound is known: say "
                "how many unit roundoffs of its own magnitude each entry may be off"
            )
        if is_part:
            bound = bounds(self.quantity, self.precision)
        else:
            size: Array = abs(self.quantity.nearest("float64"))
            bound = Bound(size, size)
        if self.tolerance is None:
            return bound
        unit = unit_roundoff(self.format)
        return Bound(bound.condition, self.tolerance * unit * bound.condition)

    def summary(self) -> list[str]:
        """Return what is wrong, line by line, in the words of NumPy's ``assert_allclose``."""
        report, is_other = self.report, self.format != self.precision.format
        name = f"{self.name} in {self.format}" if is_other else self.name
        name += f" ({report.queries})" if report.queries else ""
        if report.mismatch or self.errors is None:
            return [f"{name}: {report.mismatch}"]
        share = 100 * report.wrong / report.entries
        lines = [
            f"{name}: mismatched elements: {report.wrong} / {report.entries} ({share:.3g}%)",
            "Worst of them:",
            *(f" {miss}" for miss in report.misses),
            f"Max error over bound: {_short(report.max_over_bound)}",
            f"Max error over condition: {_short(report.max_scaled)} unit roundoffs",
            f"Correctly rounded: {100 * report.correctly_rounded:.3g}%",
        ]
        if report.nans or report.infinities:
            lines.append(
                f"NaN: {report.nans}, infinite: {report.infinities} that should be numbers"
            )
        return lines

    def excerpts(self) -> list[str]:
        """The array and the exact one, in a few lines."""
        if self.errors is None:
            return []
        # NumPy shows numbers of other formats as float32.
        short = self.format if self.format in ("float16", "float32", "float64") else "float32"
        shown = (" ACTUAL: ", self.actual), (" EXACT:  ", self.errors.nearest)
        with np.printoptions(threshold=64, edgeitems=2):
            texts = [f"{label}{array.astype(short)!r}".splitlines() for label, array in shown]
        return [
            line
            for lines in texts
            for line in (
                lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], "  ..."]
            )
        ]


def failure(judged: Sequence[JudgedArray], causes: Sequence[KernelCause]) -> str:
    """Return what a failing test says of wrong arrays: the cause first, then the worst entries of
    each, and some of the first array."""
    p, tolerance = judged[0].precision, judged[0].tolerance
    limit = f"bound: {p.level}" if tolerance is None else f"tolerance={tolerance:g}"
    return "\n".join(
        [
            "",
            *map(likely, causes),
            f"Not what a correct {p.format} kernel may give ({limit})",
            *(line for array in judged for line in array.summary()),
            *judged[0].excerpts(),
        ]
    )


def likely(cause: KernelCause) -> str:
    """A cause as a line of a message."""
    return f"Likely cause: {cause}"


def part_of(quantity: Quantity) -> str:
    """The name of the part of attention that a quantity is, or its own."""
    return quantity.role.part if quantity.role else quantity.name


def _truth(quantity: Quantity, bound: Array) -> tuple[Array, Array]:
    """The exact values as sums of two floats, to 20 bits more than the first has, or than the
    bound needs."""
    pairs = quantity.source.pairs()
    if pairs is not None and quantity.source.undefined is None:
        needed = np.maximum(2.0**-73 * abs(pairs.high), 2.0**-20 * bound.reshape(pairs.shape))
        if (np.isfinite(pairs.high) & np.isfinite(pairs.error) & (pairs.error <= needed)).all():
            # Which of two neighbours is the nearest float matters to no error.
            return pairs.high.reshape(quantity.shape), pairs.low.reshape(quantity.shape)
    high: Array = quantity.nearest("float64")
    if pairs is None:
        return high, np.zeros(high.shape)
    with np.errstate(all="ignore"):
        near = high.reshape(pairs.shape)
        rest = (pairs.high - near) + pairs.low
        close = (pairs.error <= 2.0**-73 * abs(near)) & np.isfinite(rest)
        low: Array = np.where(close, rest, 0.0).reshape(high.shape)
    return high, low


def error_of(
    actual: Array, high: Array, low: Array | float = 0.0, nearest: Array | None = None
) -> Array:
    """The distance to the exact values ``high + low``, ``nearest`` in the format; infinite
    where only one of both is a number."""
    with np.errstate(all="ignore"):
        error = abs((actual - high) - low)
    nearest = high if nearest is None else nearest
    same = (actual == nearest) & ~np.isfinite(nearest)
    same |= np.isnan(actual) & np.isnan(nearest)
    distance: Array = np.where(
        same, 0.0, np.where(np.isfinite(actual) & ~np.isnan(high), error, inf)
    )
    return distance


def over(error: Array, limit: Array) -> Array:
    """``error / limit``, where 0 / 0 is 0; a bound that says nothing lets all pass."""
    with np.errstate(all="ignore"):
        return np.where(np.isinf(limit) | (error == 0), 0.0, error / limit)


def _units(size: Array, name: FloatFormat) -> Array:
    """The unit in the last place at numbers of that size."""
    form = FORMATS[name]
    finite = np.where(np.isfinite(size), size, 1.0)
    exponent = np.maximum(np.frexp(finite)[1] - 1, form.lowest)
    units: Array = np.ldexp(1.0, exponent - form.digits + 1)
    return units


def _digits(quantity: Quantity, index: Sequence[int]) -> str:
    """The exact value of an entry in digits, as many as its first enclosure tells: of a large
    kernel that is a pair of floats, and more would cost a pass over all keys."""
    places = np.arange(prod(quantity.shape)).reshape(quantity.shape)
    i, j = divmod(int(places[tuple(index)]), quantity.grid[1])
    entry, undefined = EntryValue(quantity, i, j), quantity.source.undefined
    if undefined is not None and undefined[i, j]:
        return "nan"
    if entry.is_masked:
        return "-inf"
    told = int(entry.ball(FIRST).rel_accuracy_bits() * log10(2)) - 1
    decimal = rounding.significant(entry, min(max(told, _FEWEST), _DIGITS), "half-even")
    return str(decimal) if decimal else "0"


def _short(figure: float) -> str:
    if not isfinite(figure):
        return str(figure)
    return (
        f"{figure:.2g}" if figure < 100 else f"{figure:,.0f}" if figure < 1e6 else f"{figure:.1e}"
    )


def _plain(data: Any) -> Any:
    if isinstance(data, float):
        return data if isfinite(data) else None
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    return [*map(_plain, data)] if isinstance(data, list | tuple) else data
