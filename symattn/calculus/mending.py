"""The usual mistakes: what a refuted line would have to say to hold.

A transposed factor, a wrong sign, a lost sum, a scale, indices exchanged: each
is tried on the right side, and named where the line then stands all trials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from symattn import syntax
from symattn.calculus import reading
from symattn.calculus.scope import LineScope, ParsedLine
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
            line = reading.line(written, scope)
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
