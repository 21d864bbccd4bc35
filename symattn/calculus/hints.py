"""The usual mistakes: what a refuted line would have to say to hold.

A transposed factor, a wrong sign, a lost sum, a scale, indices exchanged: each
is tried on the right side, and named where the line then stands all trials.

Expressions as text, in the language of derivation files: for conditions and messages.

What must be so that a line has a meaning: no denominator 0, logarithms and
roots of what they are defined for, places that exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import islice

from symattn import syntax
from symattn.calculus import language as term
from symattn.calculus import line_reading
from symattn.calculus.language import Array, AxisPlace, Expr, Index
from symattn.calculus.tensors import LineScope, ParsedLine
from symattn.errors import Malformed
from symattn.syntax import Tree

_MOST = 60
"""So many changes of one line are tried."""


def hint(text: str, scope: LineScope, holds: Callable[[ParsedLine], bool]) -> str:
    """What a line would have to say to hold; nothing if none of the usual changes helps."""
    tree = syntax.parse(text, letters=True)
    if not isinstance(tree, syntax.Comparison) or len(tree.operands) != 2:
        return ""
    left, right = tree.operands
    seen = set()
    for changed, what in islice(_changes(left, right, scope), _MOST):
        written = f"{syntax.text(left)} == {syntax.text(changed)}"
        if written in seen:
            continue
        seen.add(written)
        try:
            line = line_reading.line(written, scope)
        except Malformed:
            continue
        if holds(line):
            return f"it would hold with {what}: {written}"
    return ""


def _changes(left: Tree, right: Tree, scope: LineScope) -> Iterator[tuple[Tree, str]]:
    """The right side with one of the usual mistakes undone, and what that is."""
    yield syntax.Negative(right), "the other sign"
    lost = [name for name in dict.fromkeys(_places(right)) if name not in set(_places(left))]
    for name in lost:
        if name not in scope.sizes and name not in scope.arrays:
            for part, put in _parts(right):
                if name in set(_places(part)):
                    summed: Tree = syntax.Call("sum", (syntax.Name(name), part))
                    yield put(summed), f"a sum over {name}"
    for part, put in _parts(right):
        match part:
            case syntax.Binary("+" | "-" as op, former, other):
                flipped = "-" if op == "+" else "+"
                yield put(syntax.Binary(flipped, former, other)), f"'{flipped}' for '{op}'"
            case syntax.Transposed(operand):
                yield put(operand), f"{syntax.text(operand)} not transposed"
            case syntax.Name(name) if name in scope.arrays and len(scope.arrays[name].axes) == 2:
                yield put(syntax.Transposed(part)), f"{name} transposed"
            case syntax.Cell(operand, (first, second)):
                exchanged = syntax.Cell(operand, (second, first))
                yield put(exchanged), f"the indices of {syntax.text(operand)} exchanged"
            case syntax.Binary("@", former, other):
                yield put(syntax.Binary("@", other, former)), "the factors exchanged"
    sizes: list[Tree] = [*map(syntax.Name, scope.sizes), syntax.Literal("2")]
    for size in sizes:
        roots: tuple[Tree, Tree] = (size, syntax.Call("sqrt", (size,)))
        for factor in roots:
            yield syntax.Binary("/", right, factor), f"a division by {syntax.text(factor)}"
            yield syntax.Binary("*", right, factor), f"a factor {syntax.text(factor)}"


def _parts(tree: Tree) -> Iterator[tuple[Tree, Callable[[Tree], Tree]]]:
    """The parts of a tree that a slip may be in, each with what puts another in its place."""
    yield tree, lambda new: new
    inside = syntax.inside(tree)
    match tree:
        case syntax.Negative(operand):
            yield operand, lambda new: new
        case syntax.Power():
            inside = inside[:1]
        case syntax.Cell() | syntax.Comparison():
            inside = ()
    for child in inside:
        for part, put in _parts(child):
            yield part, partial(_put, tree, child, put)


def _put(tree: Tree, child: Tree, put: Callable[[Tree], Tree], new: Tree) -> Tree:
    return exchanged(tree, child, put(new))


def exchanged(tree: Tree, part: Tree, new: Tree) -> Tree:
    """A tree with another in the place of one that it is made of."""
    return syntax.mapped(tree, lambda each: new if each is part else each)


def _places(tree: Tree) -> Iterator[str]:
    """The indices that no sum binds in a tree."""
    match tree:
        case syntax.Cell(operand, places):
            yield from _places(operand)
            for place in places:
                yield from syntax.names(place)
        case syntax.Call("sum" | "mean", (*letters, body)):
            bound = {name for letter in letters for name in syntax.names(letter)}
            yield from (name for name in _places(body) if name not in bound)
        case syntax.Call("delta", parts):
            for part in parts:
                yield from syntax.names(part)
        case _:
            for part in syntax.inside(tree):
                yield from _places(part)


_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4


def text(value: Expr) -> str:
    """An expression as it could stand in a file; parts without a name are written out."""
    return _written(value)[0]


def place(at: AxisPlace) -> str:
    """A place as it stands in brackets."""
    base = at.index.name if at.index else at.size
    written = f"{base} {'+' if at.offset > 0 else '-'} {abs(at.offset)}" if at.offset else base
    written = written if base else str(at.offset)
    for image in at.images:
        written = f"{image}[{written}]"
    return written


def _written(value: Expr) -> tuple[str, int]:
    match value:
        case term.Number(number):
            return (str(number), _ATOM if number.denominator == 1 and number >= 0 else _SUM)
        case term.Constant(name):
            return name, _ATOM
        case term.Size():
            return str(term.length(value)), _ATOM
        case term.Position(index):
            return index.name, _ATOM
        case term.Entry(array, at):
            return _entry(array, at)
        case term.Add(terms):
            written = _bracketed(terms[0], _PRODUCT)
            for part in terms[1:]:
                if isinstance(part, term.Neg):
                    written += f" - {_bracketed(part.body, _PRODUCT)}"
                else:
                    written += f" + {_bracketed(part, _PRODUCT)}"
            return written, _SUM
        case term.Neg(body):
            return f"-{_bracketed(body, _PRODUCT)}", _SUM
        case term.Mul(factors):
            return " * ".join(_bracketed(part, _PRODUCT) for part in factors), _PRODUCT
        case term.Div(above, below):
            return f"{_bracketed(above, _PRODUCT)} / {_bracketed(below, _POWER)}", _PRODUCT
        case term.Power(base, Fraction(numerator=1, denominator=2)):
            return f"sqrt({text(base)})", _ATOM
        case term.Power(base, exponent):
            return f"{_bracketed(base, _ATOM)}**{_exponent(exponent)}", _POWER
        case term.Apply("positive", body):
            return f"step(0 < {text(body)})", _ATOM
        case term.Apply(function, body):
            return f"{function}({text(body)})", _ATOM
        case term.Sum(index, body):
            return f"sum({index.name}, {text(body)})", _ATOM
        case term.Delta(first, second):
            return f"delta({place(first)}, {place(second)})", _ATOM
        case term.AtMost(first, second):
            return f"step({place(first)} <= {place(second)})", _ATOM
        case term.Partial(of, array, at):
            return f"diff({text(of)}, {_entry(array, at)[0]})", _ATOM
        case term.Limit(body, variable, target):
            return f"limit({variable.name}, {target}, {text(body)})", _ATOM
        case term.Expectation(body):
            return f"expect({text(body)})", _ATOM
        case term.Operations(arrays):
            return f"operations({', '.join(part.name for part in arrays)})", _ATOM
    raise TypeError(type(value).__name__)


def _bracketed(value: Expr, tightness: int) -> str:
    written, tight = _written(value)
    return written if tight >= tightness else f"({written})"


def _exponent(exponent: Fraction) -> str:
    plain = exponent.denominator == 1 and exponent >= 0
    return str(exponent) if plain else f"({exponent})"


def _entry(array: Array, at: tuple[AxisPlace, ...]) -> tuple[str, int]:
    if array.body is not None and "." in array.name:
        # A part of a line that has no name.
        return _written(replaced(array.body, dict(zip(array.params, at, strict=True))))
    places = ", ".join(map(place, at))
    return (f"{array.name}[{places}]" if at else array.name), _ATOM


def replaced(value: Expr, by: dict[Index, AxisPlace]) -> Expr:
    """An expression with indices replaced by places."""

    def at(part: AxisPlace) -> AxisPlace:
        if part.index not in by:
            return part
        other = by[part.index]
        return AxisPlace(
            other.index, other.size, other.offset + part.offset, other.images + part.images
        )

    match value:
        case term.Position(index):
            goal = by.get(index, AxisPlace(index)).index
            return term.Position(goal) if goal else value
    return term.mapped(value, lambda part: replaced(part, by), at)
