"""Entries worked out number by number: formulas as scalars, on the one walk over a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from symattn import formulas as f
from symattn.errors import Malformed, NoClosedForm, Undecided
from symattn.limits import WORKED, WORKED_ALL
from symattn.numbers.reading import Masked, read
from symattn.numbers.values import Value
from symattn.printers.layout import width
from symattn.programs.entrywise import Compute, Entrywise, Keeps, LazyGrid
from symattn.programs.nodes import Elementwise, Node, Run

if TYPE_CHECKING:
    from symattn.sheets.presentation import Presentation


class FormulaScalars:
    """Formulas as the scalars of :class:`~symattn.programs.entrywise.Entrywise`;
    ``number`` says how a number of the program is written."""

    def __init__(self, number: Callable[[Value], f.Formula]) -> None:
        self.constant = number

    def total(self, items: Iterable[f.Formula]) -> f.Formula:
        """A flat sum."""
        flat: list[f.Formula] = []
        for item in items:
            flat += item.terms if isinstance(item, f.Sum) else (item,)
        return flat[0] if len(flat) == 1 else f.Sum(tuple(flat))

    def sum_of_products(self, pairs: Iterable[tuple[f.Formula, f.Formula]]) -> f.Formula:
        """A sum of products."""
        return self.total(f.Product(pair) for pair in pairs)

    def negative(self, x: f.Formula) -> f.Formula:
        """``-x``."""
        return f.Negated(x)

    def divisor(self, y: f.Formula) -> f.Formula:
        """Nothing is to be made ready."""
        return y

    def quotient(self, x: f.Formula, divisor: f.Formula) -> f.Formula:
        """A fraction."""
        return f.Quotient(x, divisor)

    def function(self, name: Elementwise, x: f.Formula) -> f.Formula:
        """A root, or a function by its name."""
        return f.Root(x) if name == "sqrt" else f.Function(name, (x,))

    def largest(self, items: Sequence[f.Formula], *, to_first: bool) -> f.Formula:
        """The largest, written out."""
        return items[0] if len(items) == 1 else f.Function("max", tuple(items))

    def above(self, x: f.Formula, y: f.Formula) -> f.Formula:
        """Iverson's bracket."""
        return f.Indicator(x, ">", y)

    def is_positive(self, x: f.Formula) -> bool:
        """The exact run has seen to that."""
        return True


_ZERO, _ONE = f.Number("0"), f.Number("1")


class TerseScalars(FormulaScalars):
    """Formulas without what changes nothing: how a function is worked out inside, where the
    zeros and ones are its own and not those of the case."""

    def total(self, items: Iterable[f.Formula]) -> f.Formula:
        """A sum without zeros."""
        kept = [item for item in items if item != _ZERO]
        return super().total(kept) if kept else _ZERO

    def sum_of_products(self, pairs: Iterable[tuple[f.Formula, f.Formula]]) -> f.Formula:
        """A sum of products without zeros and factors 1."""
        return self.total(self._product(*pair) for pair in pairs)

    def _product(self, x: f.Formula, y: f.Formula) -> f.Formula:
        if _ZERO in (x, y):
            return _ZERO
        for factor, other in ((x, y), (y, x)):
            if factor == _ONE:
                return other
            if factor == f.Negated(_ONE):
                return self.negative(other)
        return f.Product((x, y))

    def negative(self, x: f.Formula) -> f.Formula:
        """``-x``; not of zero."""
        if isinstance(x, f.Negated):
            return x.operand
        return x if x == _ZERO else f.Negated(x)

    def quotient(self, x: f.Formula, divisor: f.Formula) -> f.Formula:
        """A fraction, but by 1."""
        return x if divisor == _ONE or x == _ZERO else f.Quotient(x, divisor)


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
        self._left = WORKED_ALL
        #: The serials of nodes of which an entry was too long.
        self.too_long: set[int] = set()

    def by_name(self, node: Node, i: int, j: int) -> f.Formula | None:
        """Entry (i, j) of a step with the numbers of what it uses put in;
        an entry with more of a closed form appears by its name. None where that is too long."""
        return self._written_out(node, i, j, None)

    def in_numbers(self, node: Node, i: int, j: int) -> f.Formula | None:
        """The same with decimals for all names, as on a board, and with places enough that who
        computes with them gets the entry's own decimals; None where so many are too many."""
        shown = self._shown
        wanted = shown.decimal(node, i, j)
        for places in range(shown.places, shown.places + _MORE + 1):
            formula = self._written_out(node, i, j, places)
            try:
                if (
                    formula is None
                    or shown.rounded(read(f.text(formula).replace("^", "**"))) == wanted
                ):
                    return formula
            except (Malformed, Undecided):
                # Not all that is written on sheets can be read, a name say.
                return None
        return None

    def _written_out(self, node: Node, i: int, j: int, places: int | None) -> f.Formula | None:
        try:
            formula = self._worked(node, i, j, places)
            self._left -= self._sizes.of(formula)
        except NoClosedForm:
            formula = None
        if formula is None or self._left < 0:
            self.too_long.add(node.serial)
            return None
        return formula

    def _worked(self, node: Node, i: int, j: int, places: int | None) -> f.Formula:
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

    def _weight(self, node: Node, i: int, j: int, places: int | None) -> f.Formula:
        row = self._shown.normalisers[node.serial][i]
        power = row.powers[j]
        if places is not None:
            above = f.Number("0") if power is None else self._shown.rounded(power, places)
            return f.Quotient(above, self._shown.rounded(row.value, places))
        above = f.Number("0") if power is None else self._shown.power(node, i, j)
        return f.Quotient(above, row.label)

    def _leaf(self, places: int | None, node: Node) -> LazyGrid[f.Formula] | None:
        """What stands for itself: named quantities, and the weights of an
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
        rows, columns = logits.grid
        quantities = shown.solution.program.quantities
        names = shown.softmaxes()
        found = (names[x] for x, node in quantities.items() if node is logits and x in names)
        if (weights := next(found, None)) is None:
            return None
        places = ((i, j) for i in range(rows) for j in range(columns))
        hidden = any(shown.quantity(logits).is_masked(i, j) for i, j in places)
        return None if hidden else quantities[weights]

    def _logarithm(self, weights: Node, places: int | None, i: int, j: int) -> f.Formula:
        if places is None:
            return f.Function("log", (self._shown.entry_name(weights, i, j),))
        return f.Function("log", (self._entry(weights, i, j, places),))

    def _called(self, node: Node, places: int | None, i: int, j: int) -> f.Formula:
        """An entry of a call inside a step: its number where that is short, else worked."""
        short = self._entry(node, i, j, places)
        is_gradient = node.written is not None and node.written.function == "grad"
        if is_gradient or places is not None or short != self._shown.entry_name(node, i, j):
            return short
        return self._worked(node, i, j, places)

    def _entry(self, node: Node, i: int, j: int, places: int | None) -> f.Formula:
        """An entry's closed form where it is a number or hardly more, else its name, or its
        decimals."""
        shown = self._shown
        is_named = node.serial in shown.named
        if shown.large and is_named and not shown.is_plain(node):
            return shown.entry_name(node, i, j)
        closed = shown.exact(node, i, j)
        plain = closed.operand if isinstance(closed, f.Negated) else closed
        if isinstance(plain, f.Number) and closed is not None:
            return closed
        if places is not None:
            return shown.decimal(node, i, j, places)
        if closed is None:
            return shown.entry_name(node, i, j)
        is_short = width(f.typeset(closed)) <= _LETTER
        is_nameless = not (is_named or node.written)
        return closed if is_short or is_nameless else shown.entry_name(node, i, j)

    def _constant(self, value: Value) -> f.Formula:
        """A number of the program: whatever its size, it was written there."""
        return self._shown.value(value) or value.formula()


class _Sizes:
    """How many parts formulas have, with each as often as it stands there: entries of one step
    share theirs, so that few objects may be very many parts."""

    def __init__(self) -> None:
        # With the formula, which keeps its identity as long.
        self._known: dict[int, tuple[f.Formula, int]] = {}

    def of(self, formula: f.Formula) -> int:
        """The parts of a formula; :class:`NoClosedForm` beyond :data:`~symattn.limits.WORKED`."""
        if id(formula) not in self._known:
            size = 1 + sum(map(self.of, f.parts(formula)))
            if size > WORKED.most:
                raise NoClosedForm(WORKED.said(size))
            self._known[id(formula)] = formula, size
        return self._known[id(formula)][1]


class _Entrywise(Entrywise[f.Formula]):
    """Where a causal mask is multiplied by, what it keeps is what it is. What is too long to be
    written out is told before it is a part of anything."""

    def __init__(self, scalars: FormulaScalars, keeps: Keeps[f.Formula], sizes: _Sizes) -> None:
        super().__init__(scalars, keeps)
        self._sizes = sizes

    def apply(self, node: Node, operands: list[LazyGrid[f.Formula]]) -> LazyGrid[f.Formula]:
        made = super().apply(node, operands)
        compute = made.compute

        def counted(i: int, j: int) -> f.Formula | Masked:
            entry = compute(i, j)
            if not isinstance(entry, Masked):
                self._sizes.of(entry)
            return entry

        made.compute = counted
        return made

    def _multiply(
        self, node: Node, x: LazyGrid[f.Formula], y: LazyGrid[f.Formula]
    ) -> Compute[f.Formula]:
        if _is_masked(node):
            return lambda i, j: x.at(i, j) if j <= i else _ZERO
        return super()._multiply(node, x, y)

    def _divide(
        self, node: Node, x: LazyGrid[f.Formula], y: LazyGrid[f.Formula]
    ) -> Compute[f.Formula]:
        entry = super()._divide(node, x, y)
        if _is_masked(node.operands[0]):
            return lambda i, j: entry(i, j) if j <= i else _ZERO
        return entry


def _is_masked(node: Node) -> bool:
    """Whether a causal mask is multiplied by."""
    return node.op == "multiply" and node.operands[1].op == "triangle"
