"""The usual mistakes: what a refuted line would have to say to hold, or where it would.

The slips of the catalogue are undone on its right side, the likeliest first. What stands all
trials is named. Where none does, hypotheses are tried under which the line itself does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import combinations, islice, permutations, product
from math import log2
from operator import itemgetter

from symattn.calculus import line_reading
from symattn.calculus.language import Array, arrays
from symattn.calculus.refuting import Sampler
from symattn.calculus.sample_points import Ground
from symattn.calculus.tensors import LineScope, ParsedLine, letters_of
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.expressions.syntax import Binary, Call, Cell, Literal, Name, Negative, Transposed, Tree
from symattn.slips.catalogue import KINDS, OF_LINES, fits, formula

_MOST = 300
"""So many changes of one line are tried."""
_FACTORS = 48
"""So many factors and terms are tried that may be missing."""


def hint(text: str, scope: LineScope, ground: Ground, holds: Callable[[ParsedLine], bool]) -> str:
    """Return what a line would have to say or assume to hold; nothing if nothing usual helps."""
    tree = syntax.written(text).tree
    if not isinstance(tree, syntax.Comparison) or len(tree.operands) != 2:
        return ""
    line, left = _Line(tree, scope), syntax.Written.of(tree.operands[0])
    changes = ((new, syntax.equated(left, syntax.Written.of(new))) for new in _mended(line))
    read = ((new, changed, parsed) for new, changed in changes if (parsed := _read(changed, scope)))
    for new, changed, parsed in islice(read, _MOST):
        if holds(parsed):
            return f"it would hold {_told(line.right, new)}: {changed}"
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


# -- slips undone ---------------------------------------------------------------------


class _Line:
    """The line that is mended: the arrays in it, and what the letters of rules may stand for."""

    def __init__(self, tree: syntax.Comparison, scope: LineScope) -> None:
        left, self.right = tree.operands
        self.arrays = {x: scope.arrays[x] for x in syntax.names(tree) if x in scope.arrays}
        indices = [Name(x) for x in dict.fromkeys(letters_of(tree)) if x not in scope.known()]
        read = _read(syntax.equated(*[syntax.Written.of(left)] * 2), scope)
        free = [x for x in indices if read and x.name in {own.name for own in read.free}]
        sizes: list[Tree] = [*map(Name, scope.sizes), Literal("2")]
        self.stand_ins: Mapping[str, Sequence[Tree]] = {
            **dict.fromkeys("nr", sizes),
            "s": [*sizes, *(Call("sqrt", (size,)) for size in sizes)],
            "m": [syntax.shifted(size, by) for size in sizes for by in (-1, 1)],
            "A": [Name(name) for name, array in self.arrays.items() if array.axes],
            "D": [Call("delta", pair) for pair in combinations(free[:4], 2)],
            "u": [index for index in indices if index not in free],
            **dict.fromkeys("ijkl", indices),
        }
        given = (
            Cell(Name(name), places) if places else Name(name)
            for name, array in scope.arrays.items()
            if array.of is None
            for places in product(free, repeat=len(array.axes) if free else 0)
        )
        cells = (x for x in syntax.walk(tree) if isinstance(x, Cell))
        self.others = [*dict.fromkeys([Literal("1"), *cells, *given])][:_FACTORS]

    def may_be(self, letter: str, part: Tree) -> bool:
        """Tell whether a letter of a rule may stand for a part."""
        return letter in "ijkl" or part in self.stand_ins.get(letter, (part,))

    def beside(self, part: Tree, letter: str, _: object) -> Iterable[Tree]:
        """The stand-ins of a letter that was lost beside a part: anything beside the whole, what
        has its shape beside an array or an entry."""
        match part:
            case _ if letter in self.stand_ins or part is self.right:
                return self.stand_ins.get(letter, self.others)
            case Name(name) | Cell(Name(name)) if name in self.arrays:
                axes = self.arrays[name].axes
                same = (Name(x) for x, y in self.arrays.items() if not y.of and y.axes == axes)
                return [Cell(x, part.places) if isinstance(part, Cell) else x for x in same if axes]
        return ()


def _mended(line: _Line) -> Iterable[Tree]:
    """The right sides that a line may have had, each once, the likeliest first: a slip costs its
    kind's price, and bits that tell which it is of those that a rule undoes."""
    made = []
    for kind in (*KINDS.values(), *OF_LINES.values()):
        for rule in kind.rules:
            # What is done to no purpose is a slip as well.
            for old, new in permutations((formula(rule.instead), formula(rule.step))):
                undone = dict.fromkeys(_changed(line.right, line, old, new))
                made.append((kind.price + log2(len(undone) or 1), undone))
    made.sort(key=itemgetter(0))
    return map(_plain, dict.fromkeys(new for _, undone in made for new in undone))


def _changed(tree: Tree, line: _Line, old: Tree, new: Tree, inner: bool = False) -> Iterator[Tree]:
    """A tree with a part that fits the old one of a rule replaced, each of them in turn."""
    # What scales a factor scales the product.
    if not inner or old != Name("M"):
        for known in fits(old, tree, new, line.may_be, partial(line.beside, tree)):
            filled = dict[Tree, Tree]((Name(x), part) for x, part in known.items())
            yield syntax.replaced(new, filled.get)
    inside = syntax.inside(tree)
    match tree:
        case syntax.Power():
            inside = inside[:1]
        case Call("sum" | "mean" | "limit"):
            inside = inside[-1:]
        case Cell() | Call("delta" | "step" | "diff" | "eye" | "ones" | "zeros"):
            inside = ()
    inner = not isinstance(tree, Call) and not (isinstance(tree, Binary) and tree.op in "+-")
    for part in inside:
        for other in _changed(part, line, old, new, inner):
            yield exchanged(tree, part, other)


def _plain(tree: Tree) -> Tree:
    """A tree in which nothing is transposed twice."""
    match syntax.mapped(tree, _plain):
        case Transposed(Transposed(operand)):
            return operand
        case plain:
            return plain


def exchanged(tree: Tree, part: Tree, new: Tree) -> Tree:
    """A tree with another in the place of one that it is made of."""
    return syntax.mapped(tree, lambda each: new if each is part else each)


def _told(old: Tree, new: Tree) -> str:
    """Say how one tree differs from another, in the smallest part that holds all of it."""
    for x, y in zip(syntax.inside(old), syntax.inside(new), strict=False):
        if not isinstance(old, Cell) and x != y and exchanged(old, x, y) == new:
            return _told(x, y)
    match old, new:
        case Binary(was), Binary(op, left, right) if old == Binary(was, left, right):
            return f"with '{op}' for '{was}'"
        case Call(was, arguments), Call(function, others) if arguments == others:
            return f"with {function} for {was}"
    if Negative(old) == new or old == Negative(new):
        return "with the other sign"
    if more := _more(old, new):
        return f"with {'the' if more.startswith('term') else 'a'} {more}"
    if less := _more(new, old):
        return f"without the {less}"
    return f"with {syntax.text(new)} for {syntax.text(old)}"


def _more(old: Tree, new: Tree) -> str:
    """Return what a tree has more than another; nothing if it is not that and more."""
    match new:
        case Call("sum", (index, operand)) if operand == old:
            return f"sum over {syntax.text(index)}"
        case Binary(op, left, right) if old in (left, right):
            return f"{_MORE[op]} {syntax.text(right if left == old else left)}"
    return ""


_MORE = {"+": "term +", "-": "term -", "*": "factor", "@": "factor", "/": "division by"}


# -- hypotheses -----------------------------------------------------------------------

_HYPOTHESES: dict[int, tuple[str, ...]] = {
    0: ("{0} > 0", "{0} == 1"),
    1: ("sum(i, {0}[i]) == 1", "sum(i, {0}[i]) == 0", "{0}[i] > 0", "sum(i, {0}[i]**2) == 1"),
    2: ("sum(j, {0}[i, j]) == 1", "{0}[i, j] > 0"),
}
_SQUARE = ("{0}[i, j] == {0}[j, i]", "{0}[i, j] == -{0}[j, i]")
"""Assumptions often made of a number, of a vector, of a matrix and of a square one."""


def _assumptions(line: _Line, known: Set[Array]) -> Iterator[str]:
    """Yield what may be assumed of what is given in a line and of which nothing is known."""
    for name, array in line.arrays.items():
        if array not in known and array.body is None and array.of is None:
            axes = array.axes
            square = _SQUARE if len(axes) == 2 and axes[0] == axes[1] else ()
            for form in (*square, *_HYPOTHESES.get(len(axes), ())):
                yield form.format(name)
