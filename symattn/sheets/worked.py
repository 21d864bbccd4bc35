"""Formulas as scalars: entries worked out number by number, on the one walk over a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from symattn import formulas as f
from symattn.numbers.values import Value
from symattn.programs.nodes import Elementwise


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
