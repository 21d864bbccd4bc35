"""A quantity as cells: how dark each is, and the figures that stand inside.

Shades are for the eye and come from the middles of enclosures. Figures are
correctly rounded; one without trailing zeros is the exact value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from flint import arb

from symattn.errors import SymattnError
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.values import Value
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity

#: What shades mean: weights from 0 to 1, or to the largest where all are small;
#: numbers with their signs, the largest darkest; entries in symbols, by the
#: largest of their coefficients.
Scale = Literal["weights", "small weights", "signed", "symbols"]

#: Weights up to this are small: from 0 to 1 they would all look alike.
_SMALL = 0.2

#: Most cells in a row or a column: of a larger quantity each stands for several entries.
MOST = 16
#: Most rows or columns of a quantity with figures.
_FIGURED = 12

#: Fewest and most places that figures have, unless told.
_PLACES = 2, 6
#: Longest figure, in letters, and longest form in symbols.
_LONGEST, _LONGEST_FORM = 9, 6

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class HeatCell:
    """A cell: its shade from -1 to 1, its figure, whether what is there is masked."""

    shade: float = 0.0
    figure: str = ""
    is_hidden: bool = False


@dataclass(frozen=True)
class Cells:
    """The cells of a quantity; each stands for ``block`` entries, down and across."""

    rows: tuple[tuple[HeatCell, ...], ...]
    scale: Scale
    block: tuple[int, int]

    @property
    def grid(self) -> tuple[int, int]:
        """How many rows and columns of cells there are."""
        return len(self.rows), len(self.rows[0])


def cells(
    quantity: Quantity,
    places: int | None,
    is_hidden: Callable[[int, int], bool],
    are_weights: bool = False,
) -> Cells:
    """The cells of a quantity, with figures to so many ``places``; unless told, so
    many that two digits of the largest are seen.

    Of a block of entries the largest is shown; it is masked if all of it is.

    >>> from symattn.solution.solution import solve
    >>> A = solve("cat-sat-mat")["A"]
    >>> made = cells(A, 2, A.is_hidden, are_weights=True)
    >>> [cell.figure for cell in made.rows[0]], round(made.rows[0][0].shade, 2)
    (['0.51', '0.19', '0.31'], 0.51)
    """
    rows, columns = quantity.grid
    down, across = -(-rows // MOST), -(-columns // MOST)
    sizes: list[list[tuple[arb | None, int, int] | None]] = []
    for top in range(0, rows, down):
        sizes.append([])
        for left in range(0, columns, across):
            block = [
                (_middle(quantity, i, j), i, j)
                for i in range(top, min(top + down, rows))
                for j in range(left, min(left + across, columns))
                if not is_hidden(i, j)
            ]
            sizes[-1].append(max(block, key=_size) if block else None)
    known = [abs(entry[0]) for row in sizes for entry in row if entry and entry[0] is not None]
    size = max(known, default=arb(0))
    scale: Scale = "symbols" if quantity.symbols else "signed"
    if are_weights:
        scale = "small weights" if size <= _SMALL else "weights"
    largest = arb(1) if scale == "weights" else size
    has_figures = max(rows, columns) <= _FIGURED
    digits = _places(size) if places is None else places

    def cell(entry: tuple[arb | None, int, int] | None) -> HeatCell:
        if entry is None:
            return HeatCell(is_hidden=True)
        middle, i, j = entry
        shade = 0.0
        # One number by itself is neither small nor large.
        if middle is not None and largest > 0 and quantity.shape:
            with precision(FIRST):
                shade = max(-1.0, min(1.0, float(middle / largest)))
        return HeatCell(shade, figure(quantity, i, j, digits) if has_figures else "")

    grid = tuple(tuple(map(cell, row)) for row in sizes)
    is_whole = all(x.figure or x.is_hidden for row in grid for x in row)
    return Cells(grid if is_whole else _plain(grid), scale, (down, across))


def _plain(rows: tuple[tuple[HeatCell, ...], ...]) -> tuple[tuple[HeatCell, ...], ...]:
    """The cells with figures for numbers only: a few of the forms in symbols
    would make room for others that are too long for it."""
    return tuple(
        tuple(replace(x, figure="") if any(map(str.isalpha, x.figure)) else x for x in row)
        for row in rows
    )


def _places(size: arb) -> int:
    """The places that show two digits of a number of that size, from two to six."""
    enough = (places for places in range(*_PLACES) if size * 10**places >= 10)
    return next(enough, _PLACES[0] if not size > 0 else _PLACES[1])


def _size(entry: tuple[arb | None, int, int]) -> arb:
    return arb(-1) if entry[0] is None else abs(entry[0])


def _middle(quantity: Quantity, i: int, j: int) -> arb | None:
    """About what an entry is, in symbols its largest coefficient; None where
    no enclosure is small enough to tell."""
    entry = EntryValue(quantity, i, j)
    try:
        if entry.has_symbols:
            parts = [abs(real.ball(FIRST).mid()) for _, real in entry.coefficients()]
            return max(parts, default=arb(0))
        near = entry.ball(FIRST)
    except SymattnError:
        return None
    # What may be zero is too small to be seen, if it isn't.
    return None if not near.is_finite() else arb(0) if near.contains(0) else near.mid()


def figure(quantity: Quantity, i: int, j: int, places: int) -> str:
    """An entry correctly rounded, without trailing zeros if it is that exactly;
    nothing where its digits can't be told, or are many.

    >>> from symattn.solution.solution import solve
    >>> s = solve("cat-sat-mat")
    >>> figure(s["A"], 0, 1, 2), figure(s["S"] , 0, 0, 2), figure(s["-S/8"], 0, 0, 2)
    ('0.19', '2', '−0.25')
    """
    entry = EntryValue(quantity, i, j)
    most = _LONGEST
    try:
        if entry.has_symbols:
            most = _LONGEST_FORM
            text = _form(entry, places, quantity.rounding)
        else:
            text = _figure(entry, places, quantity.rounding)
    except SymattnError:
        return ""
    return text if len(text) <= most else ""


def _figure(entry: rounding.Real, places: int, mode: rounding.RoundingMode) -> str:
    decimal = rounding.decimal(entry, places, mode)
    text = format(decimal, "f").replace("-", MINUS)
    with precision(FIRST):
        # Most entries are told from short decimals without their closed form.
        near = entry.ball(FIRST) * 10**places
        if near.is_finite() and not near.contains_integer():
            return text
    value = entry.value
    number = value.rational() if isinstance(value, Value) else None
    is_exact = number is not None and (number * 10**places).q == 1
    return text.rstrip("0").rstrip(".") if is_exact and places else text


def _form(entry: EntryValue, places: int, mode: rounding.RoundingMode) -> str:
    """A linear form in symbols: ``g1``, ``−0.5g1 + 2``."""
    text = ""
    for symbol, real in entry.coefficients():
        digits = _figure(real, places, mode)
        if symbol and digits.removeprefix(MINUS) == "1":
            digits = digits.removesuffix("1")
        sign = MINUS if digits.startswith(MINUS) else "+"
        term = f"{digits.removeprefix(MINUS)}{symbol or ''}"
        text += f" {sign} {term}" if text else f"{MINUS if sign == MINUS else ''}{term}"
    return text
