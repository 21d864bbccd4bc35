"""The usual mistakes: what a refuted line would have to say to hold, or where it would.

Edits of its right side, the usual ones first: a sign, a lost sum, a transposed
factor, a wrong index, a missing factor or term. What stands all trials is
named. Where none does, hypotheses are tried under which the line itself does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice, product

from symattn.calculus import line_reading
from symattn.calculus.language import Array, Axis, arrays
from symattn.calculus.refuting import Sampler
from symattn.calculus.sample_points import Ground
from symattn.calculus.tensors import LineScope, ParsedLine, letters_of
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.expressions.syntax import Binary, Call, Cell, Literal, Name, Negative, Transposed, Tree

_MOST = 300
"""So many changes of one line are tried."""
_FACTORS = 12
"""So many factors are tried that may be missing."""
_ONE = Literal("1")


@dataclass(frozen=True)
class _Line:
    """The line that is edited: its sides, and what its names are."""

    left: Tree
    right: Tree
    scope: LineScope

    def rank(self, name: str) -> int | None:
        """Return how many axes what has a name has."""
        array = self.scope.arrays.get(name)
        return None if array is None else len(array.axes)

    def letters(self) -> list[str]:
        """The indices that stand in it, those that are free first."""
        every = dict.fromkeys(each for side in (self.left, self.right) for each in letters_of(side))
        return [name for name in every if name not in self.scope.known()]

    def free(self) -> list[str]:
        """The indices of the left side."""
        return [name for name in dict.fromkeys(_places(self.left)) if name in self.letters()]


_Edits = Iterator[tuple[Tree, str]]
"""Right sides with a mistake undone, and what that is."""
_PartEdit = Callable[[Tree, _Line], _Edits]


def hint(text: str, scope: LineScope, ground: Ground, holds: Callable[[ParsedLine], bool]) -> str:
    """Return what a line would have to say to hold, or be assumed; nothing if nothing usual
    helps."""
    tree = syntax.written(text).tree
    if not isinstance(tree, syntax.Comparison) or len(tree.operands) != 2:
        return ""
    line = _Line(*tree.operands, scope)
    left, seen = syntax.Written.of(line.left), {syntax.text(line.right)}
    for changed, what in islice(_edits(line), _MOST):
        right = syntax.text(changed)
        if right in seen:
            continue
        seen.add(right)
        written = syntax.equated(left, syntax.Written.of(changed, right))
        parsed = _read(written, scope)
        if parsed is not None and holds(parsed):
            return f"it would hold with {what}: {written}"
    parsed = _read(text, scope)
    known = arrays(*(side for each in ground.hypotheses for side in each.sides))
    for assumed in _assumptions(line, known) if parsed else ():
        more = line_reading.hypothesis(assumed, scope)
        wider = replace(ground, hypotheses=(*ground.hypotheses, more))
        if parsed is not None and Sampler(wider).holds(parsed):
            return f"it would hold where {assumed}"
    return ""


def _read(text: str, scope: LineScope) -> ParsedLine | None:
    try:
        return line_reading.line(text, scope)
    except Malformed:
        return None


def _edits(line: _Line) -> _Edits:
    """All edits of the right side, as a whole and in each of its parts."""
    yield Negative(line.right), "the other sign"
    for edit in _OF_PARTS:
        for part, put in _parts(line.right):
            for new, what in edit(part, line):
                yield put(new), what
    for whole in _OF_ALL:
        yield from whole(line)


# -- edits of a part -----------------------------------------------------------------


def _summed(part: Tree, line: _Line) -> _Edits:
    lost = dict.fromkeys(_places(part))
    for name in lost:
        if name in line.letters() and name not in line.free():
            yield Call("sum", (Name(name), part)), f"a sum over {name}"


def _flipped(part: Tree, line: _Line) -> _Edits:
    match part:
        case Binary("+" | "-" as op, former, other):
            flipped = "-" if op == "+" else "+"
            yield Binary(flipped, former, other), f"'{flipped}' for '{op}'"


def _turned(part: Tree, line: _Line) -> _Edits:
    match part:
        case Transposed(operand):
            yield operand, f"{syntax.text(operand)} not transposed"
        case Name(name) if line.rank(name) == 2:
            yield Transposed(part), f"{name} transposed"
        case Cell(operand, (first, second)):
            exchanged = Cell(operand, (second, first))
            yield exchanged, f"the indices of {syntax.text(operand)} exchanged"


def _multiplied(part: Tree, line: _Line) -> _Edits:
    """A product with its factors in the other order, either of them transposed or not."""
    match part:
        case Binary("@", former, other):
            yield Binary("@", other, former), "the factors exchanged"
            for x, y in product((other, _transposed(other)), (former, _transposed(former))):
                for new in (Binary("@", x, y), Binary("@", y, x)):
                    yield new, syntax.text(new)


def _transposed(tree: Tree) -> Tree:
    return tree.operand if isinstance(tree, Transposed) else Transposed(tree)


def _indexed(part: Tree, line: _Line) -> _Edits:
    """Another index at one place of an entry."""
    match part:
        case Cell(operand, places):
            for at, place in enumerate(places):
                for name in line.letters():
                    if place != Name(name):
                        changed = (*places[:at], Name(name), *places[at + 1 :])
                        new = Cell(operand, changed)
                        yield new, f"{syntax.text(new)} for {syntax.text(part)}"


_AXES = {"rowsum": "colsum", "colsum": "rowsum"}
_ROWS = ("softmax", "logsumexp")


def _axis(part: Tree, line: _Line) -> _Edits:
    """The other axis of what works along one."""
    match part:
        case Call(function, (operand,)) if function in _AXES:
            other = _AXES[function]
            yield Call(other, (operand,)), f"{other} for {function}"
        case Transposed(Call(function, (Transposed(operand),))) if function in _ROWS:
            yield Call(function, (operand,)), f"{function} over the other axis"
        case Call(function, (operand,)) if function in _ROWS:
            columns = Transposed(Call(function, (_transposed(operand),)))
            yield columns, f"{function} over the other axis"


def _differing(part: Tree, line: _Line) -> _Edits:
    """A delta that was lost: for a 1, as a factor, or of a term that was dropped."""
    for first, second in combinations(line.free()[:4], 2):
        delta = Call("delta", (Name(first), Name(second)))
        what = syntax.text(delta)
        if part == _ONE:
            yield delta, f"{what} for 1"
        elif isinstance(part, Cell | Call):
            yield Binary("*", delta, part), f"a factor {what}"


def _accompanied(part: Tree, line: _Line) -> _Edits:
    """A factor that was lost beside an array or an entry: another of the same shape."""
    name = part.operand if isinstance(part, Cell) else part
    if not isinstance(name, Name) or name.name not in line.scope.arrays:
        return
    axes = line.scope.arrays[name.name].axes
    named = {each for side in (line.left, line.right) for each in syntax.names(side)}
    for other in sorted(named):
        array = line.scope.arrays.get(other)
        if array is not None and array.of is None and axes and array.axes == axes:
            more: Tree = Cell(Name(other), part.places) if isinstance(part, Cell) else Name(other)
            yield Binary("*", more, part), f"a factor {syntax.text(more)}"


def _centred(part: Tree, line: _Line) -> _Edits:
    """The sum over a row that was dropped, or mistaken."""
    match part:
        case Binary("*", weights, slopes):
            for first, second in ((weights, slopes), (slopes, weights)):
                sums = Call("rowsum", (Binary("*", first, second),))
                whole = Binary("*", first, Binary("-", second, sums))
                yield whole, f"the term - {syntax.text(first)} * {syntax.text(sums)}"


_OF_PARTS: tuple[_PartEdit, ...] = (
    _flipped,
    _summed,
    _turned,
    _multiplied,
    _indexed,
    _axis,
    _differing,
    _accompanied,
    _centred,
)


# -- edits of the whole ---------------------------------------------------------------


def _scaled(line: _Line) -> _Edits:
    """A size, its root or a 2 that is missing or too many."""
    sizes: list[Tree] = [*map(Name, line.scope.sizes), Literal("2")]
    for size in sizes:
        for factor in (size, Call("sqrt", (size,))):
            yield Binary("/", line.right, factor), f"a division by {syntax.text(factor)}"
            yield Binary("*", line.right, factor), f"a factor {syntax.text(factor)}"


def _extended(line: _Line) -> _Edits:
    """A factor that was lost: a number, an array, or an entry that stands in the line."""
    factors: dict[Tree, None] = {}
    for side in (line.left, line.right):
        for part, _ in _parts(side):
            if isinstance(part, Cell):
                factors[part] = None
    free = line.free()
    for name, array in line.scope.arrays.items():
        if array.of is not None:
            continue
        if not array.axes or not free:
            factors[Name(name)] = None
        for letters in product(free, repeat=len(array.axes)) if free and array.axes else ():
            factors[Cell(Name(name), tuple(map(Name, letters)))] = None
    for factor in list(factors)[: 4 * _FACTORS]:
        yield Binary("*", line.right, factor), f"a factor {syntax.text(factor)}"
    entries = [part for part in factors if isinstance(part, Cell)][:_FACTORS]
    terms: list[Tree] = [_ONE, *entries]
    for first, second in combinations(free[:3], 2):
        delta = Call("delta", (Name(first), Name(second)))
        terms += [delta, *(Binary("*", delta, entry) for entry in entries)]
    for term, op in product(terms, "-+"):
        yield Binary(op, line.right, term), f"the term {op} {syntax.text(term)}"


_OF_ALL = (_scaled, _extended)


# -- hypotheses -----------------------------------------------------------------------

_HYPOTHESES: dict[int, tuple[str, ...]] = {
    0: ("{0} > 0", "{0} == 1"),
    1: ("sum(i, {0}[i]) == 1", "sum(i, {0}[i]) == 0", "{0}[i] > 0", "sum(i, {0}[i]**2) == 1"),
    2: ("sum(j, {0}[i, j]) == 1", "{0}[i, j] > 0"),
}
_SQUARE = ("{0}[i, j] == {0}[j, i]", "{0}[i, j] == -{0}[j, i]")
"""What is often assumed of a number, a vector, a matrix, one with as many columns as rows."""


def _assumptions(line: _Line, known: Set[Array]) -> Iterator[str]:
    """Yield what might have been assumed of what is given in a line, and of which nothing is
    known."""
    names = dict.fromkeys(name for side in (line.left, line.right) for name in syntax.names(side))
    for name in names:
        array = line.scope.arrays.get(name)
        if array is None or array in known or array.body is not None or array.of is not None:
            continue
        axes: tuple[Axis, ...] = array.axes
        square = len(axes) == 2 and axes[0] == axes[1]
        for form in (*(_SQUARE if square else ()), *_HYPOTHESES.get(len(axes), ())):
            yield form.format(name)


# -- parts of trees -------------------------------------------------------------------


def _parts(tree: Tree) -> Iterator[tuple[Tree, Callable[[Tree], Tree]]]:
    """The parts of a tree that a slip may be in, each with what puts another in its place."""
    yield tree, lambda new: new
    inside = syntax.inside(tree)
    match tree:
        case Negative(operand):
            yield operand, lambda new: new
        case syntax.Power():
            inside = inside[:1]
        case Call("sum" | "mean" | "limit"):
            inside = inside[-1:]
        case Call("delta" | "step" | "diff" | "eye" | "ones" | "zeros"):
            inside = ()
        case Cell() | syntax.Comparison():
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
        case Cell(operand, places):
            yield from _places(operand)
            for place in places:
                yield from syntax.names(place)
        case Call("sum" | "mean", (*letters, body)):
            bound = {name for letter in letters for name in syntax.names(letter)}
            yield from (name for name in _places(body) if name not in bound)
        case Call("delta", parts):
            for part in parts:
                yield from syntax.names(part)
        case _:
            for part in syntax.inside(tree):
                yield from _places(part)
