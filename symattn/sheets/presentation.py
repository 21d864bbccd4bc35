"""How the numbers of a solution are written on a sheet.

Row normalisers get names (``Z_0``) and closed forms use them; decimals are
correctly rounded, and a number too small for its places is written with a
power of ten instead of as zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq

from symattn import formulas as f
from symattn import typesetting as t
from symattn.errors import Malformed, Undecided
from symattn.limits import QUICK
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.closed_forms import NamedNormaliser, Names, linear_form
from symattn.numbers.exponential_sums import constant
from symattn.numbers.quotients import Normaliser
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value, of_parts, total
from symattn.printers import blocks as b
from symattn.printers.layout import width
from symattn.programs.display import formula as step_formula
from symattn.programs.display import names as display_names
from symattn.programs.nodes import Node, ancestors
from symattn.shapes import keys
from symattn.sheets.figures import decimal_places, rational_formula, scientific
from symattn.sheets.worked import WorkedEntries
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

#: Widest cell of a matrix that stands beside its rounded one, in em.
NARROW = 7.0

#: Widest closed form, in em, that is shown at all, and the most numbers and letters in it, in
#: a cell of a matrix: of a longer one the digits say more.
_SHORT_FORM, PARTS, CELL_PARTS = 24.0, 11, 8

#: What it costs a reader, in em, to look up the name of a row sum.
_LOOK_UP = 2.5

#: With a quantity of more entries a case is large: closed forms would fill
#: hundreds of pages.
LARGE = 60

#: Places up to which a rational number is written as a decimal.
SHORT = 6

#: Significant digits of a number that its places would show as zero, or that
#: is larger than ``_LARGE``.
_FEW_DIGITS = 3
_LARGE = 10**12

#: Of so many rows the most telling one is looked for.
_MOST_ROWS = 64
#: Entries beyond which of a quantity only the first rows are shown, and how many of these.
MAX_ENTRIES, FIRST_ROWS = 256, 4
#: A quantity that may be looked at whole.
_MANY_ENTRIES = 1 << 12

#: What stands for a number that is too large, or too little known, for digits.
UNWRITTEN = f.Symbol("(no digits)", t.row(t.Text("(no digits)")))

#: What the sum of a row of exponentials is called: the first that is free.
_ROW_SUMS = ("Z", "N", "R", "𝒵")


@dataclass(frozen=True)
class RowNormaliser:
    """What row i of a softmax divides by: its exponentials and their sum."""

    label: f.Formula
    powers: tuple[Value | None, ...]
    value: Value

    @property
    def count(self) -> int:
        """How many terms the sum has; 0 where it is no plain sum."""
        return len((self.value.form() or {}).get((), {}))


class Presentation:
    """The numbers of one solution, as formulas; rows and columns are counted from ``first``."""

    def __init__(self, solution: Solution, places: int, first: int = 0) -> None:
        self.solution = solution
        self.first = first
        self.places = places
        self.rounding = solution.case.rounding
        self.named = display_names(solution.program)
        #: What was told of the first rows of quantities already, by node.
        self.hints: dict[int, list[tuple[b.Hint, ...]]] = {}
        self._plain: dict[int, bool] = {}
        self._closed: dict[int, bool] = {}
        self._exact: dict[tuple[int, int, int], f.Formula | None] = {}
        grids = [node.grid for node in solution.program.quantities.values()]
        self.large = any(rows * columns > LARGE for rows, columns in grids)
        self.worked = WorkedEntries(self)
        self._marks: dict[int, t.Row] = {}
        self._letter = self._free_letter()
        self.normalisers = self._find_normalisers()
        self._common: dict[Normaliser, NamedNormaliser] = {}
        self._by_row: dict[int, dict[Normaliser, NamedNormaliser]] = {}
        for rows in self.normalisers.values():
            if not self.large and _are_longer_by_name(rows):
                continue
            for i, row in enumerate(rows):
                if (named := _as_named(row)) is not None:
                    self._common.setdefault(*named)
                    self._by_row.setdefault(i, {})[named[0]] = named[1]

    def quantity(self, node: Node) -> Quantity:
        """The quantity of a node."""
        return self.solution.quantity(node)

    # -- softmax rows ---------------------------------------------------------

    def _find_normalisers(self) -> dict[int, tuple[RowNormaliser, ...]]:
        """The rows of every softmax of the forward steps, by node."""
        program = self.solution.program
        steps = ancestors(program.quantities[name] for name in program.steps)
        softmaxes = [node for node in steps if node.op == "softmax"]
        self._softmaxes = {node.serial: node for node in softmaxes}
        for place, node in enumerate(softmaxes, 1):
            named = self.named.get(node.serial, f.Symbol("", t.letters(f"({place})")))
            is_alone = len(softmaxes) == 1
            self._marks[node.serial] = t.Row() if is_alone else f.typeset(named) + t.COMMA
        return {
            node.serial: tuple(self._row(node, i) for i in range(node.grid[0]))
            for node in softmaxes
        }

    def softmaxes(self) -> dict[str, str]:
        """The steps that are a softmax of a quantity, by its name."""
        quantities = self.solution.program.quantities
        called = {node.serial: name for name, node in quantities.items()}
        softmaxes = {name: node for name, node in quantities.items() if node.op == "softmax"}
        return {
            called[node.operands[0].serial]: name
            for name, node in softmaxes.items()
            if node.operands[0].serial in called
        }

    def row_label(self, node: Node, i: str) -> f.Symbol:
        """What the sum over row i of a softmax is called: ``Z_i``, with
        several softmaxes ``Z_{A,i}``."""
        keys = self._marks[node.serial] + t.letters(i)
        named = t.index(t.letters(self._letter), keys)
        return f.Symbol(f"{self._letter}[{t.latex(keys).replace(' ', '')}]", named)

    def _free_letter(self) -> str:
        """A letter for row sums that no quantity and no symbol has."""
        names = (*self.solution.program.quantities, *self.solution.case.letters)
        taken = {f.name_parts(name)[0] for name in names}
        return next((x for x in _ROW_SUMS if x not in taken), _ROW_SUMS[-1])

    def _row(self, node: Node, i: int) -> RowNormaliser:
        scores = self.quantity(node.operands[0])
        entries = [scores.entry(i, k) for k in range(node.grid[1])]
        powers = tuple(score.exp() if isinstance(score, Value) else None for score in entries)
        kept = [power for power in powers if power is not None]
        return RowNormaliser(self.row_label(node, self.at(i)), powers, total(kept))

    def row_terms(self, node: Node, i: int) -> tuple[f.Formula, ...]:
        """The exponentials of row i of a softmax, without those of masked
        scores; one that has no short closed form by the score's name."""
        powers = self.normalisers[node.serial][i].powers
        return tuple(self.power(node, i, k) for k, power in enumerate(powers) if power is not None)

    def power(self, node: Node, i: int, j: int) -> f.Formula:
        """The exponential of a score of a softmax, by the score's name where it has
        no short closed form."""
        value = self.normalisers[node.serial][i].powers[j]
        if value is not None and value.is_closed and is_legible(closed := value.formula()):
            return closed
        return f.Function("exp", (self.entry_name(node.operands[0], i, j),))

    def divisor(self, row: RowNormaliser, i: int) -> tuple[Value, f.Formula]:
        """What the closed forms of row i divide by, and how it is written: the row's
        sum by its name, or without a common factor where that reads shorter."""
        named = _as_named(row)
        if named is None or named[0] in {**self._common, **self._by_row.get(i, {})}:
            return row.value, row.label
        reduced = of_parts({(): named[0].terms})
        return reduced, reduced.formula()

    # -- numbers ----------------------------------------------------------------

    def exact(self, node: Node, i: int, j: int) -> f.Formula | None:
        """The closed form of an entry, its own row's normaliser by name."""
        place = node.serial, i, j
        if place not in self._exact:
            self._exact[place] = self.value(self.quantity(node).entry(i, j), i)
        return self._exact[place]

    def value(self, value: Value | Masked, row: int | None = None) -> f.Formula | None:
        """The closed form of a value, None where there is no short one; short
        decimals stay decimals."""
        if isinstance(value, Masked):
            return f.MINUS_INFINITY
        if not value.is_closed:
            return None
        return self._closed_form(
            value, {**self._common, **self._by_row.get(-1 if row is None else row, {})}
        )

    def short_form(self, node: Node, i: int, j: int) -> f.Formula | None:
        """The closed form of an entry where it is short enough to say something."""
        closed = self.exact(node, i, j)
        return closed if closed is not None and is_legible(closed, PARTS) else None

    def short_forms(self, node: Node, i: int, j: int) -> Iterator[f.Formula]:
        """The closed form where it is short, of a weight also without the name
        of its row's sum."""
        closed = self.short_form(node, i, j)
        if closed is None:
            return
        yield closed
        value = self.quantity(node).entry(i, j)
        if node.op == "softmax" and isinstance(value, Value) and value.rational() is None:
            itself = value.formula()
            if itself != closed and width(f.typeset(itself)) <= NARROW:
                yield itself

    def _closed_form(self, value: Value, names: Names) -> f.Formula:
        if (number := value.rational()) is not None:
            return rational_formula(number, max(self.places, SHORT))
        if value.is_linear_form:
            return linear_form((s, self._closed_form(x, names)) for s, x in value.coefficients())
        return value.formula(names)

    def is_lettered(self, node: Node) -> bool:
        """Whether entries are formulas in symbols that have no digits."""
        return self.quantity(node).is_lettered and bool(self.quantity(node).symbols)

    def about(self, node: Node) -> t.Row:
        """What stands before rounded entries: formulas in symbols are not rounded."""
        return t.EQUALS if self.is_lettered(node) else t.ABOUT

    def is_closed(self, node: Node) -> bool:
        """Whether every entry has a short closed form."""
        if node.serial not in self._closed:
            rows, columns = node.grid
            self._closed[node.serial] = all(
                self.exact(node, i, j) is not None for i in range(rows) for j in range(columns)
            )
        return self._closed[node.serial]

    def is_zero(self, node: Node, i: int, j: int) -> bool:
        """Whether an entry is 0, as far as enclosures tell, or a masked score."""
        quantity = self.quantity(node)
        if quantity.is_masked(i, j):
            return True
        if quantity.is_lettered:
            return EntryValue(quantity, i, j).value.is_zero(QUICK) is Verdict.HOLDS
        if quantity.letters:
            return next(EntryValue(quantity, i, j).coefficients(), None) is None
        near = quantity.near(i, j)
        if near is None or not near.is_finite():
            return self.decimal(node, i, j) == f.Number("0")
        return bool(near.contains(0))

    @cached_property
    def main_row(self) -> int:
        """The row of tokens that tells most: of the first softmax the row with the
        most keys, and of several such the one with the fewest scores of 0."""
        for serial, rows in self.normalisers.items():
            node = self._softmaxes[serial].operands[0]
            return min(range(len(rows)), key=lambda i: self._zeros(node, i))
        return 0

    def _zeros(self, node: Node, i: int) -> tuple[int, int]:
        """How many entries of a row are masked, and how many are 0 or masked."""
        columns = range(node.grid[1])
        masked = sum(self.quantity(node).is_masked(i, j) for j in columns)
        return masked, sum(self.is_zero(node, i, j) for j in columns)

    def telling_row(self, node: Node) -> int:
        """The row of a quantity that is worked: with the fewest zeros, and of several
        such the main row, or else the first."""
        rows = range(min(node.grid[0], _MOST_ROWS))
        return min(rows, key=lambda i: (self._zeros(node, i), i != self.main_row, i))

    def is_plain(self, node: Node) -> bool:
        """Whether all entries are short decimals, so that exact is rounded; of a large
        quantity those that may be shown."""
        if node.serial not in self._plain:
            rows, columns = node.grid
            if rows * columns > _MANY_ENTRIES:
                rows = min(rows, FIRST_ROWS)
            self._plain[node.serial] = all(
                self._is_short(node, i, j) for i in range(rows) for j in range(columns)
            )
        return self._plain[node.serial]

    def _is_short(self, node: Node, i: int, j: int) -> bool:
        quantity = self.quantity(node)
        if (near := quantity.near(i, j)) is not None and near.is_finite():
            with precision(FIRST):
                # Most entries are told from short decimals without their closed form.
                if not (near * 10**self.places).contains_integer():
                    return False
        value = quantity.entry(i, j)
        number = fmpq(0) if isinstance(value, Masked) else value.rational()
        return number is not None and decimal_places(number, self.places) is not None

    def decimal(self, node: Node, i: int, j: int, places: int | None = None) -> f.Formula:
        """An entry correctly rounded to the sheet's places, or to so many."""
        quantity = self.quantity(node)
        if quantity.is_masked(i, j):
            return f.MINUS_INFINITY
        real = EntryValue(quantity, i, j)
        if quantity.is_lettered and real.has_symbols:
            return self.exact(node, i, j) or UNWRITTEN
        if real.has_symbols:
            return linear_form((s, self.rounded(x, places)) for s, x in real.coefficients())
        return self.rounded(real, places)

    def approximate(
        self, node: Node, i: int, j: int, places: int | None = None
    ) -> f.Formula | None:
        """The entry rounded as by :meth:`decimal`, or None where the closed form shows it."""
        quantity = self.quantity(node)
        value = quantity.entry(i, j)
        if isinstance(value, Masked) or (quantity.is_lettered and value.has_symbols):
            return None
        number = value.rational()
        if number is not None and decimal_places(number, places or self.places) is not None:
            return None
        return self.decimal(node, i, j, places)

    def rounded(self, real: rounding.Real, places: int | None = None) -> f.Formula:
        """A number to the sheet's places, or to so many, or with a power of ten
        where those would show it as zero; zero itself is ``0``."""
        if self.solution.case.lettered:
            value = real.value
            if isinstance(value, Value) and value.has_symbols:
                return self.value(value) or UNWRITTEN
        near = real.ball(FIRST)
        plain = None
        try:
            if not abs(near) > _LARGE:
                number = rounding.decimal(real, places or self.places, self.rounding)
                plain = f.decimal(number)
                known = number or not near.contains(0)
                zero = Verdict.REFUTED if known else real.value.is_zero(QUICK)
                if number or zero is not Verdict.REFUTED:
                    return f.Number("0") if zero is Verdict.HOLDS else plain
            return scientific(rounding.significant(real, _FEW_DIGITS, self.rounding))
        except (Malformed, Undecided):
            # Its places are certain, or not even its size can be written out.
            return plain or UNWRITTEN

    def at(self, place: int) -> str:
        """A row or a column as it is counted."""
        return str(place + self.first)

    def entry_name(self, node: Node, i: int, j: int) -> f.Formula:
        """``A_{i,j}``: the name of an entry; of a quantity that has none its
        formula stands in brackets."""
        name = self.named.get(node.serial)
        if name is None:
            formula = step_formula(node, self.named)
            name = f.Symbol(f"({f.text(formula)})", f.bracketed(f.typeset(formula)))
        if not node.shape:
            return name
        at = [str(key) for key in keys(node.shape, i, j, self.first)]
        text = f"{f.text(name)}[{', '.join(at)}]"
        return f.Symbol(text, indexed(f.typeset(name), ",".join(at)))


def is_legible(closed: f.Formula, most: int = CELL_PARTS) -> bool:
    """Whether a closed form is short, with at most so many numbers and letters.

    >>> is_legible(f.Power(f.E, f.Quotient(f.Number("1"), f.Number("2")))), is_legible(f.E, 0)
    (True, False)
    """
    row = f.typeset(closed)
    parts = sum(isinstance(node, t.Digits | t.Letter) for node in t.nodes(row))
    return parts <= most and width(row) <= _SHORT_FORM


def indexed(name: t.Row, keys: str) -> t.Row:
    r"""A name with indices, bracketed where it has a subscript of its own.

    >>> names = map(f.typeset_name, ("S", "W_Q"))
    >>> [t.latex(indexed(name, "0,1")) for name in names]
    ['S_{0,1}', '(W_{Q})_{0,1}']
    """
    return t.index(grouped(name), t.letters(keys)) if keys else name


def grouped(name: t.Row) -> t.Row:
    """A name as one thing that takes an index."""
    if t.has_index(name):
        return f.bracketed(name)
    is_letter = len(name.nodes) == 1 and isinstance(name.nodes[0], t.Letter)
    return name if is_letter else t.row(t.Group(name))


def _as_named(row: RowNormaliser) -> tuple[Normaliser, NamedNormaliser] | None:
    """The normaliser inside a row's sum, with what makes it the whole sum."""
    for denominator in row.value.inverse().form() or {}:
        if len(denominator) == 1 and denominator[0][1] == 1:
            unit = (row.value * of_parts({denominator: constant(1)})).form()
            if unit is not None and unit.keys() == {()}:
                return denominator[0][0], NamedNormaliser(row.label, unit[()])
    return None


def _are_longer_by_name(rows: tuple[RowNormaliser, ...]) -> bool:
    """Whether the weights of a softmax read longer with the names of the row sums
    in them, which must be looked up: ``1/(1 + e)`` is shorter than ``1/Z_0``."""
    named = itself = 0.0
    for row in rows:
        powers = [power for power in row.powers if power is not None]
        if not all(power.is_closed for power in (*powers, row.value)):
            return False
        below = row.value.inverse()
        for power in powers if len(powers) > 1 else ():
            named += width(f.typeset(f.Quotient(power.formula(), row.label))) + _LOOK_UP
            itself += width(f.typeset((power * below).formula()))
    return named > itself
