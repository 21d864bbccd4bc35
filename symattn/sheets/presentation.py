"""Numbers of a solution as they are written on a sheet.

Row normalisers get names (``Z_0``) and closed forms use them; decimals are correctly rounded, and a
number too small for its places is written with a power of ten instead of as zero."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial

import numpy as np
from flint import fmpq

from symattn.errors import Malformed, NoClosedForm, Undecided
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.elementary import Elementwise
from symattn.expressions.shapes import keys
from symattn.limits import QUICK, WORKED, WORKED_ALL, WORKED_PRODUCTS
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST, Exhausted, precision, remaining, task
from symattn.numbers.closed_forms import NamedNormaliser, Names, linear_form
from symattn.numbers.exponential_sums import constant
from symattn.numbers.quotients import Normaliser
from symattn.numbers.reading import Masked, read
from symattn.numbers.values import Value, of_parts, total
from symattn.printers import blocks as b
from symattn.printers.layout import width
from symattn.programs.display import formula as step_formula
from symattn.programs.display import names as display_names
from symattn.programs.entrywise import Compute, Entrywise, Keeps, LazyGrid, Scalars
from symattn.programs.nodes import Node, Run, ancestors
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

# -- entries worked out number by number -------------------------------------------------
# Formulas as scalars, on the one walk over a program.


class FormulaScalars(Scalars[syntax.Tree]):
    """Formulas as the scalars of :class:`~symattn.programs.entrywise.Entrywise`;
    ``number`` says how a number of the program is written."""

    def __init__(self, number: Callable[[Value], syntax.Tree]) -> None:
        self._number = number

    def constant(self, value: Value) -> syntax.Tree:
        """A number as it is written."""
        return self._number(value)

    def total(self, items: Iterable[syntax.Tree]) -> syntax.Tree:
        """A flat sum."""
        flat: list[syntax.Tree] = []
        for item in items:
            flat += item.terms if isinstance(item, syntax.Sum) else (item,)
        return flat[0] if len(flat) == 1 else syntax.Sum(tuple(flat))

    def sum_of_products(self, pairs: Iterable[tuple[syntax.Tree, syntax.Tree]]) -> syntax.Tree:
        """A sum of products."""
        return self.total(syntax.Product(pair) for pair in pairs)

    def negative(self, x: syntax.Tree) -> syntax.Tree:
        """``-x``."""
        return syntax.Negative(x)

    def quotient(self, x: syntax.Tree, divisor: syntax.Tree) -> syntax.Tree:
        """A fraction."""
        return syntax.Binary("/", x, divisor)

    def function(self, name: Elementwise, x: syntax.Tree) -> syntax.Tree:
        """A function by its name."""
        return syntax.Call(name, (x,))

    def largest(self, items: Sequence[syntax.Tree], *, to_first: bool) -> syntax.Tree:
        """The largest, written out."""
        return items[0] if len(items) == 1 else syntax.Call("max", tuple(items))

    def above(self, x: syntax.Tree, y: syntax.Tree) -> syntax.Tree:
        """Iverson's bracket."""
        return syntax.indicator(x, ">", y)


_ZERO, _ONE = syntax.Literal("0"), syntax.Literal("1")


class TerseScalars(FormulaScalars):
    """Formulas without what changes nothing: how a function is worked out inside, where the
    zeros and ones are its own and not those of the case."""

    def total(self, items: Iterable[syntax.Tree]) -> syntax.Tree:
        """A sum without zeros."""
        kept = [item for item in items if item != _ZERO]
        return super().total(kept) if kept else _ZERO

    def sum_of_products(self, pairs: Iterable[tuple[syntax.Tree, syntax.Tree]]) -> syntax.Tree:
        """A sum of products without zeros and factors 1."""
        return self.total(self._product(*pair) for pair in pairs)

    def _product(self, x: syntax.Tree, y: syntax.Tree) -> syntax.Tree:
        if _ZERO in (x, y):
            return _ZERO
        for factor, other in ((x, y), (y, x)):
            if factor == _ONE:
                return other
            if factor == syntax.Negative(_ONE):
                return self.negative(other)
        return syntax.Product((x, y))

    def negative(self, x: syntax.Tree) -> syntax.Tree:
        """``-x``; not of zero."""
        if isinstance(x, syntax.Negative):
            return x.operand
        return x if x == _ZERO else syntax.Negative(x)

    def quotient(self, x: syntax.Tree, divisor: syntax.Tree) -> syntax.Tree:
        """A fraction, but by 1."""
        return x if divisor == _ONE or x == _ZERO else syntax.Binary("/", x, divisor)


#: Widest closed form, in em, that is put in place of an entry's name.
_LETTER = 2.2
#: By how many more places than the sheet's an entry may be written in a line of numbers.
_MORE = 3


class WorkedEntries:
    """The entries of one solution, worked out from those of what a step uses."""

    def __init__(self, shown: Presentation) -> None:
        self._shown = shown
        self._sizes = _Sizes()
        self._literal = _Entrywise(
            FormulaScalars(self._constant), shown.solution.keeps, self._sizes
        )
        self._terse = _Entrywise(TerseScalars(self._constant), shown.solution.keeps, self._sizes)
        self._left, self._work = WORKED_ALL, WORKED_PRODUCTS
        #: The serials of nodes of which an entry was too long.
        self.too_long: set[int] = set()

    def by_name(self, node: Node, i: int, j: int) -> syntax.Tree | None:
        """Entry (i, j) of a step with the numbers of what it uses put in;
        an entry with more of a closed form appears by its name. None where that is too long."""
        return self._written_out(node, i, j, None)

    def in_numbers(self, node: Node, i: int, j: int) -> syntax.Tree | None:
        """The same with decimals for all names, as on a board, and with places enough that who
        computes with them gets the entry's own decimals; None where so many are too many."""
        shown = self._shown
        wanted = shown.decimal(node, i, j)
        for places in range(shown.places, shown.places + _MORE + 1):
            formula = self._written_out(node, i, j, places)
            try:
                if (
                    formula is None
                    or shown.rounded(read(syntax.shown(formula).replace("^", "**"))) == wanted
                ):
                    return formula
            except (Malformed, Undecided):
                # Not all that is written on sheets can be read, a name say.
                return None
        return None

    def _written_out(self, node: Node, i: int, j: int, places: int | None) -> syntax.Tree | None:
        if self._left > 0:
            try:
                with task(self._work):
                    formula = self._worked(node, i, j, places)
                    self._work = remaining()
                self._left -= self._sizes.of(formula)
                return formula
            except NoClosedForm:
                pass
            except Exhausted:
                self._left = 0
        self.too_long.add(node.serial)
        return None

    def _worked(self, node: Node, i: int, j: int, places: int | None) -> syntax.Tree:
        if node.op == "softmax":
            return self._weight(node, i, j, places)
        called = node.written.function if node.written else "grad"
        if node.op == "copy" and called != "grad" and node.operands[0].written:
            # A function that is another one of something else, as mse is a mean.
            return self._worked(node.operands[0], i, j, places)
        if node.op == "given":
            # A gradient that is the upstream gradient itself.
            return self._entry(node, i, j, places)
        arithmetic = self._terse if node.written else self._literal
        entry = Run(arithmetic, partial(self._leaf, places)).work(node).at(i, j)
        return f.MINUS_INFINITY if isinstance(entry, Masked) else entry

    def _weight(self, node: Node, i: int, j: int, places: int | None) -> syntax.Tree:
        row = self._shown.normalisers[node.serial][i]
        power = row.powers[j]
        if places is not None:
            above = syntax.Literal("0") if power is None else self._shown.rounded(power, places)
            return syntax.Binary("/", above, self._shown.rounded(row.value, places))
        above = syntax.Literal("0") if power is None else self._shown.power(node, i, j)
        return syntax.Binary("/", above, row.label)

    def _leaf(self, places: int | None, node: Node) -> LazyGrid[syntax.Tree] | None:
        """Return what stands for itself: named quantities, and the weights of an
        unnamed softmax, whose row sums have names."""
        if node.serial in self._shown.named or node.op == "softmax":
            return LazyGrid(*node.grid, partial(self._entry, node, places=places))
        if (weights := self._weights_of(node)) is not None:
            return LazyGrid(*node.grid, partial(self._logarithm, weights, places))
        if node.written:
            return LazyGrid(*node.grid, partial(self._called, node, places))
        return None

    def _weights_of(self, node: Node) -> Node | None:
        """The quantity that a log-softmax is the logarithm of."""
        if node.written is None or node.written.function != "log_softmax" or node.written.options:
            return None
        (logits,) = node.written.operands
        shown = self._shown
        quantities = shown.solution.program.quantities
        names = shown.softmaxes()
        found = (names[x] for x, node in quantities.items() if node is logits and x in names)
        if (weights := next(found, None)) is None:
            return None
        scores = shown.quantity(logits)
        hidden = any(scores.is_masked(*place) for place in np.ndindex(logits.grid))
        return None if hidden else quantities[weights]

    def _logarithm(self, weights: Node, places: int | None, i: int, j: int) -> syntax.Tree:
        if places is None:
            return syntax.Call("log", (self._shown.entry_name(weights, i, j),))
        return syntax.Call("log", (self._entry(weights, i, j, places),))

    def _called(self, node: Node, places: int | None, i: int, j: int) -> syntax.Tree:
        """An entry of a call inside a step: its number where that is short, else worked."""
        short = self._entry(node, i, j, places)
        is_gradient = node.written is not None and node.written.function == "grad"
        if is_gradient or places is not None or short != self._shown.entry_name(node, i, j):
            return short
        return self._worked(node, i, j, places)

    def _entry(self, node: Node, i: int, j: int, places: int | None) -> syntax.Tree:
        """An entry's closed form where it is a number or hardly more, else its name, or its
        decimals."""
        shown = self._shown
        is_named = node.serial in shown.named
        if shown.large and is_named and not shown.is_plain(node):
            return shown.entry_name(node, i, j)
        closed = shown.exact(node, i, j)
        plain = closed.operand if isinstance(closed, syntax.Negative) else closed
        if isinstance(plain, syntax.Literal) and closed is not None:
            return closed
        if places is not None:
            return shown.decimal(node, i, j, places)
        if closed is None:
            return shown.entry_name(node, i, j)
        is_short = width(f.typeset(closed)) <= _LETTER
        is_nameless = not (is_named or node.written)
        return closed if is_short or is_nameless else shown.entry_name(node, i, j)

    def _constant(self, value: Value) -> syntax.Tree:
        """A number of the program: whatever its size, it was written there."""
        return self._shown.value(value) or value.formula()


class _Sizes:
    """How many parts formulas have, with each as often as it stands there: entries of one step
    share theirs, so that few objects may be very many parts."""

    def __init__(self) -> None:
        # With the formula, which keeps its identity as long.
        self._known: dict[int, tuple[syntax.Tree, int]] = {}

    def of(self, formula: syntax.Tree) -> int:
        """The parts of a formula; :class:`NoClosedForm` beyond :data:`~symattn.limits.WORKED`."""
        if id(formula) not in self._known:
            size = 1 + sum(map(self.of, syntax.inside(formula)))
            if size > WORKED.most:
                raise NoClosedForm(WORKED.said(size))
            self._known[id(formula)] = formula, size
        return self._known[id(formula)][1]


class _Entrywise(Entrywise[syntax.Tree]):
    """Where a causal mask is multiplied by, what it keeps is what it is. What is too long to be
    written out is told before it is a part of anything."""

    def __init__(self, scalars: FormulaScalars, keeps: Keeps[syntax.Tree], sizes: _Sizes) -> None:
        super().__init__(scalars, keeps)
        self._sizes = sizes

    def apply(self, node: Node, operands: list[LazyGrid[syntax.Tree]]) -> LazyGrid[syntax.Tree]:
        made = super().apply(node, operands)
        compute = made.compute

        def counted(i: int, j: int) -> syntax.Tree | Masked:
            entry = compute(i, j)
            if not isinstance(entry, Masked):
                self._sizes.of(entry)
            return entry

        made.compute = counted
        return made

    def _multiply(
        self, node: Node, x: LazyGrid[syntax.Tree], y: LazyGrid[syntax.Tree]
    ) -> Compute[syntax.Tree]:
        if _is_masked(node):
            return lambda i, j: x.at(i, j) if j <= i else _ZERO
        return super()._multiply(node, x, y)

    def _divide(
        self, node: Node, x: LazyGrid[syntax.Tree], y: LazyGrid[syntax.Tree]
    ) -> Compute[syntax.Tree]:
        entry = super()._divide(node, x, y)
        if _is_masked(node.operands[0]):
            return lambda i, j: entry(i, j) if j <= i else _ZERO
        return entry


def _is_masked(node: Node) -> bool:
    """Return whether a causal mask is multiplied by."""
    return node.op == "multiply" and node.operands[1].op == "triangle"


# -- numbers as they are written ---------------------------------------------------------
# Short decimals, fractions, powers of ten.


def rational_formula(number: fmpq, places: int) -> syntax.Tree:
    """A rational number: as a decimal where that is exact and short, else as a fraction.

    >>> [syntax.shown(rational_formula(number, 4)) for number in (fmpq(-3, 8), fmpq(1, 3))]
    ['-0.375', '1/3']
    """
    size = abs(number)
    needed = decimal_places(size, places)
    if needed is None:
        above, below = syntax.Literal(str(size.p)), syntax.Literal(str(size.q))
        form: syntax.Tree = syntax.Binary("/", above, below)
    else:
        digits = str((size * 10**needed).p).rjust(needed + 1, "0")
        point = len(digits) - needed
        form = syntax.Literal(digits if not needed else f"{digits[:point]}.{digits[point:]}")
    return syntax.Negative(form) if number < 0 else form


def decimal_places(number: fmpq, most: int) -> int | None:
    """Return how many decimal places show the number exactly, if at most ``most``."""
    return next((places for places in range(most + 1) if (number * 10**places).q == 1), None)


def scientific(number: Decimal) -> syntax.Tree:
    """A decimal as digits times a power of ten.

    >>> syntax.shown(scientific(Decimal("0.0000123")))
    '1.23*10^(-5)'
    """
    sign, digits, _ = number.as_tuple()
    exponent = number.adjusted()
    lead = "".join(map(str, digits))
    mantissa = syntax.Literal(lead[0] + (f".{lead[1:]}" if lead[1:] else ""))
    power = syntax.Literal(str(abs(exponent)))
    raised = syntax.Power(syntax.Literal("10"), syntax.Negative(power) if exponent < 0 else power)
    product = syntax.Product((mantissa, raised))
    return syntax.Negative(product) if sign else product


# -- presentation ------------------------------------------------------------------------

#: Widest cell of a matrix that stands beside its rounded one, in em.
NARROW = 7.0

#: Widest closed form, in em, that is shown at all, and the most numbers and letters in it, in
#: a cell of a matrix: of a longer one the digits say more.
_SHORT_FORM, PARTS, CELL_PARTS = 24.0, 11, 8

#: What it costs a reader, in em, to look up the name of a row sum.
_LOOK_UP = 2.5

#: With a quantity of more entries a case is large: closed forms would fill hundreds of pages.
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
    """The divisor of row i of a softmax: its exponentials and their sum."""

    label: syntax.Tree
    powers: tuple[Value | None, ...]
    value: Value

    @property
    def count(self) -> int:
        """Return how many terms the sum has; 0 where it is no plain sum."""
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
        self._exact: dict[tuple[int, int, int], syntax.Tree | None] = {}
        grids = [node.grid for node in solution.program.quantities.values()]
        self.large = any(rows * columns > LARGE for rows, columns in grids)
        self.worked = WorkedEntries(self)
        self._marks: dict[int, t.Row] = {}
        #: Names by node: as a formula, as text, and set as what takes an index.
        self._names: dict[int, tuple[syntax.Tree, str, t.Row]] = {}
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
        """Return what the sum over row i of a softmax is called: ``Z_i``, with
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

    def row_terms(self, node: Node, i: int) -> tuple[syntax.Tree, ...]:
        """The exponentials of row i of a softmax, without those of masked
        scores; one that has no short closed form by the score's name."""
        powers = self.normalisers[node.serial][i].powers
        return tuple(self.power(node, i, k) for k, power in enumerate(powers) if power is not None)

    def power(self, node: Node, i: int, j: int) -> syntax.Tree:
        """The exponential of a score of a softmax, by the score's name where it has
        no short closed form."""
        value = self.normalisers[node.serial][i].powers[j]
        if value is not None and value.is_closed and is_legible(closed := value.formula()):
            return closed
        return syntax.Call("exp", (self.entry_name(node.operands[0], i, j),))

    def divisor(self, row: RowNormaliser, i: int) -> tuple[Value, syntax.Tree]:
        """Return what the closed forms of row i divide by, and how it is written: the row's
        sum by its name, or without a common factor where that reads shorter."""
        named = _as_named(row)
        if named is None or named[0] in {**self._common, **self._by_row.get(i, {})}:
            return row.value, row.label
        reduced = of_parts({(): named[0].terms})
        return reduced, reduced.formula()

    # -- numbers ----------------------------------------------------------------

    def exact(self, node: Node, i: int, j: int) -> syntax.Tree | None:
        """The closed form of an entry, its own row's normaliser by name."""
        place = node.serial, i, j
        if place not in self._exact:
            self._exact[place] = self.value(self.quantity(node).entry(i, j), i)
        return self._exact[place]

    def value(self, value: Value | Masked, row: int | None = None) -> syntax.Tree | None:
        """The closed form of a value, None where there is no short one; short
        decimals stay decimals."""
        if isinstance(value, Masked):
            return f.MINUS_INFINITY
        if not value.is_closed:
            return None
        return self._closed_form(
            value, {**self._common, **self._by_row.get(-1 if row is None else row, {})}
        )

    def short_form(self, node: Node, i: int, j: int) -> syntax.Tree | None:
        """The closed form of an entry where it is short enough to say something."""
        closed = self.exact(node, i, j)
        return closed if closed is not None and is_legible(closed, PARTS) else None

    def short_forms(self, node: Node, i: int, j: int) -> Iterator[syntax.Tree]:
        """The closed form where it is short, of a weight also without the name of its row's sum."""
        closed = self.short_form(node, i, j)
        if closed is None:
            return
        yield closed
        value = self.quantity(node).entry(i, j)
        if node.op == "softmax" and isinstance(value, Value) and value.rational() is None:
            itself = value.formula()
            if itself != closed and width(f.typeset(itself)) <= NARROW:
                yield itself

    def _closed_form(self, value: Value, names: Names) -> syntax.Tree:
        if (number := value.rational()) is not None:
            return rational_formula(number, max(self.places, SHORT))
        if value.is_linear_form:
            return linear_form((s, self._closed_form(x, names)) for s, x in value.coefficients())
        return value.formula(names)

    def is_lettered(self, node: Node) -> bool:
        """Return whether entries are formulas in symbols that have no digits."""
        return self.quantity(node).is_lettered and bool(self.quantity(node).symbols)

    def about(self, node: Node) -> t.Row:
        """Return what stands before rounded entries: formulas in symbols are not rounded."""
        return t.EQUALS if self.is_lettered(node) else t.ABOUT

    def is_closed(self, node: Node) -> bool:
        """Return whether every entry has a short closed form."""
        if node.serial not in self._closed:
            forms = (self.exact(node, *place) for place in np.ndindex(node.grid))
            self._closed[node.serial] = all(form is not None for form in forms)
        return self._closed[node.serial]

    def is_zero(self, node: Node, i: int, j: int) -> bool:
        """Return whether an entry is 0, as far as enclosures tell, or a masked score."""
        quantity = self.quantity(node)
        if quantity.is_masked(i, j):
            return True
        if quantity.is_lettered:
            return EntryValue(quantity, i, j).value.is_zero(QUICK) is Verdict.HOLDS
        if quantity.letters:
            return next(EntryValue(quantity, i, j).coefficients(), None) is None
        near = quantity.near(i, j)
        if near is None or not near.is_finite():
            return self.decimal(node, i, j) == syntax.Literal("0")
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
        """Return how many entries of a row are masked, and how many are 0 or masked."""
        columns = range(node.grid[1])
        masked = sum(self.quantity(node).is_masked(i, j) for j in columns)
        return masked, sum(self.is_zero(node, i, j) for j in columns)

    def telling_row(self, node: Node) -> int:
        """The row of a quantity that is worked: with the fewest zeros, and of several
        such the main row, or else the first."""
        rows = range(min(node.grid[0], _MOST_ROWS))
        return min(rows, key=lambda i: (self._zeros(node, i), i != self.main_row, i))

    def is_plain(self, node: Node) -> bool:
        """Return whether all entries are short decimals, so that exact is rounded; of a large
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

    def decimal(self, node: Node, i: int, j: int, places: int | None = None) -> syntax.Tree:
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
    ) -> syntax.Tree | None:
        """The entry rounded as by :meth:`decimal`, or None where the closed form shows it."""
        quantity = self.quantity(node)
        value = quantity.entry(i, j)
        if isinstance(value, Masked) or (quantity.is_lettered and value.has_symbols):
            return None
        number = value.rational()
        if number is not None and decimal_places(number, places or self.places) is not None:
            return None
        return self.decimal(node, i, j, places)

    def rounded(self, real: rounding.Real, places: int | None = None) -> syntax.Tree:
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
                    return syntax.Literal("0") if zero is Verdict.HOLDS else plain
            return scientific(rounding.significant(real, _FEW_DIGITS, self.rounding))
        except (Malformed, Undecided):
            # Its places are certain, or not even its size can be written out.
            return plain or UNWRITTEN

    def at(self, place: int) -> str:
        """A row or a column as it is counted."""
        return str(place + self.first)

    def entry_name(self, node: Node, i: int, j: int) -> syntax.Tree:
        """``A_{i,j}``: the name of an entry; of a quantity that has none its
        formula stands in brackets."""
        if node.serial not in self._names:
            name = self.named.get(node.serial)
            if name is None:
                formula = step_formula(node, self.named)
                name = f.Symbol(f"({syntax.shown(formula)})", f.bracketed(f.typeset(formula)))
            self._names[node.serial] = name, syntax.shown(name), grouped(f.typeset(name))
        name, text, base = self._names[node.serial]
        if not node.shape:
            return name
        at = [str(key) for key in keys(node.shape, i, j, self.first)]
        return f.Symbol(f"{text}[{', '.join(at)}]", t.index(base, t.letters(",".join(at))))


def is_legible(closed: syntax.Tree, most: int = CELL_PARTS) -> bool:
    """Return whether a closed form is short, with at most so many numbers and letters.

    >>> is_legible(syntax.parse("e**(1 / 2)")), is_legible(f.E, 0)
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
    """Return whether the weights of a softmax read longer with the names of the row sums
    in them, which must be looked up: ``1/(1 + e)`` is shorter than ``1/Z_0``."""
    named = itself = 0.0
    for row in rows:
        powers = [power for power in row.powers if power is not None]
        weights = [power * row.value.inverse() for power in powers] if len(powers) > 1 else []
        if not all(value.is_closed for value in (*powers, row.value, *weights)):
            return False
        for power, weight in zip(powers, weights, strict=False):
            named += width(f.typeset(syntax.Binary("/", power.formula(), row.label))) + _LOOK_UP
            itself += width(f.typeset(weight.formula()))
    return named > itself
