"""Expressions of lines as trees of what could stand in a file: for conditions and messages."""

from __future__ import annotations

from fractions import Fraction

from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis, AxisPlace, Expr
from symattn.expressions import syntax
from symattn.expressions.syntax import Binary, Call, Cell, Comparison, Name, Tree, Written


def text(value: Expr) -> str:
    """An expression as it could stand in a file; parts without a name are written out."""
    return syntax.text(tree(value))


def tree(value: Expr) -> Tree:
    """An expression as the tree of what could stand in a file."""
    match value:
        case term.Number(number):
            return syntax.rational(number)
        case term.Constant(name):
            return Name(name)
        case term.Size():
            return length(term.length(value))
        case term.Position(index):
            return Name(index.name)
        case term.Entry(array, at):
            return _entry(array, at)
        case term.Add(terms):
            return syntax.added(map(tree, terms))
        case term.Neg(body):
            return syntax.negated(tree(body))
        case term.Mul(factors):
            return syntax.multiplied(map(tree, factors))
        case term.Div(above, below):
            return Binary("/", tree(above), tree(below))
        case term.Power(base, exponent):
            return syntax.powered(tree(base), exponent)
        case term.Apply("positive", body):
            return syntax.indicator(syntax.rational(0), "<", tree(body))
        case term.Apply(function, body):
            return Call(function, (tree(body),))
        case term.Sum(index, body):
            return Call("sum", (Name(index.name), tree(body)))
        case term.Delta(first, second):
            return Call("delta", (place(first), place(second)))
        case term.AtMost(first, second):
            return syntax.indicator(place(first), "<=", place(second))
        case term.Partial(of, array, at):
            return Call("diff", (tree(of), _entry(array, at)))
        case term.Limit(body, variable, target):
            return Call("limit", (Name(variable.name), goal(target), tree(body)))
        case term.Expectation(body):
            return Call("expect", (tree(body),))
        case term.Operations(arrays):
            return Call("operations", tuple(Name(part.name) for part in arrays))
    raise TypeError(type(value).__name__)


def length(axis: Axis) -> Tree:
    """The length of an axis."""
    return Name(axis) if isinstance(axis, str) else syntax.rational(axis)


def goal(target: Fraction | str) -> Tree:
    """Return what a variable tends to."""
    if isinstance(target, Fraction):
        return syntax.rational(target)
    return syntax.Negative(Name("oo")) if target == "-oo" else Name(target)


def place(at: AxisPlace) -> Tree:
    """A place as it stands in brackets."""
    base = at.index.name if at.index else at.size
    written = syntax.shifted(Name(base), at.offset) if base else syntax.rational(at.offset)
    for image in at.images:
        written = Cell(Name(image), (written,))
    return written


def _entry(array: Array, at: tuple[AxisPlace, ...]) -> Tree:
    if array.body is not None and "." in array.name:
        # A part of a line that has no name.
        return tree(term.replaced(array.body, dict(zip(array.params, at, strict=True))))
    return Cell(Name(array.name), tuple(map(place, at))) if at else Name(array.name)


class SideCondition(Written):
    """A comparison, with its tree, that holds for all values of some ``letters``.

    >>> each = SideCondition.that(syntax.Name("x"), ">", syntax.Literal("0"), ("i",))
    >>> each, each.letters
    ('x > 0 for all i', ('i',))
    """

    sides: tuple[Tree, Tree]
    relation: str
    letters: tuple[str, ...]

    @classmethod
    def that(
        cls, left: Tree, relation: str, right: Tree, letters: tuple[str, ...] = ()
    ) -> SideCondition:
        """Return the condition that two sides are related."""
        compared = Comparison((left, right), (relation,))
        every = f" for all {', '.join(letters)}" if letters else ""
        made = cls.of(compared, f"{syntax.text(compared)}{every}")
        made.sides, made.relation, made.letters = (left, right), relation, letters
        return made
