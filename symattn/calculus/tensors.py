"""Numbers along axes: what matrix forms stand for, and how they fit together.

An axis of length one is repeated.

The indices of a line: which letters they are, and how far each of them runs.

The functions that lines may use, and the names that they may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial, reduce

from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis, AxisPlace, Entry, Expr, Index, Number
from symattn.calculus.language import ParsedLine as ParsedLine
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree

_ALPHABET = "ijklabcdefgh"
"""The indices of what is written without any."""


Entries = Callable[[tuple[AxisPlace, ...]], Expr]
"""What stands at each place."""


@dataclass(frozen=True)
class Tensor:
    """A number for every place along some axes.

    Of scores some may be hidden: ``keep`` is 1 at a score that counts, 0 at one that is minus
    infinity. The exponential of a score is that factor times the exponential of its entry.
    A vector that is transposed ``is_row``: it meets no column entry by entry.
    """

    axes: tuple[Axis, ...]
    entry: Entries
    keep: Entries | None = None
    is_row: bool = False

    def moved(
        self,
        axes: tuple[Axis, ...],
        back: Callable[[tuple[AxisPlace, ...]], tuple[AxisPlace, ...]],
    ) -> Tensor:
        """The same entries in other places; ``back`` says where one was."""
        keep = self.keep
        return Tensor(
            axes,
            lambda at: self.entry(back(at)),
            keep and (lambda at: keep(back(at))),
        )

    def repeated(self, axes: tuple[Axis, ...], own: Sequence[int]) -> Tensor:
        """The entries repeated along the axes of a larger one, of which some are its ``own``."""

        def back(at: tuple[AxisPlace, ...]) -> tuple[AxisPlace, ...]:
            ends = zip(self.axes, own, strict=True)
            return tuple(AxisPlace(offset=1) if axis == 1 else at[k] for axis, k in ends)

        return self.moved(axes, back)


def kept(*sides: Tensor) -> Entries | None:
    """Return which scores count that are put together of these; None where none are hidden."""
    keeps = [side.keep for side in sides if side.keep]
    return (lambda at: reduce(times, [keep(at) for keep in keeps])) if keeps else None


def constant(value: Expr) -> Tensor:
    """A number that depends on no place."""
    return Tensor((), lambda _: value)


def whole(array: Array) -> Tensor:
    """All of an array."""
    return Tensor(array.axes, lambda at: Entry(array, at))


def number(value: Fraction | int) -> Number:
    """An exact constant."""
    return Number(Fraction(value))


def plus(x: Expr, y: Expr) -> Expr:
    """A sum, longer by a term."""
    left = x.terms if isinstance(x, term.Add) else (x,)
    return term.Add((*left, y))


def times(x: Expr, y: Expr) -> Expr:
    """A product, longer by a factor."""
    left = x.factors if isinstance(x, term.Mul) else (x,)
    return term.Mul((*left, y))


def minus(x: Expr, y: Expr) -> Expr:
    """A difference."""
    return plus(x, term.Neg(y))


def exp(x: Expr) -> Expr:
    """The exponential of a number."""
    return term.Apply("exp", x)


def before(first: AxisPlace, second: AxisPlace) -> Expr:
    """1 where the first place comes before the second."""
    return term.Add((term.ONE, term.Neg(term.AtMost(second, first))))


def rational(tree: Tree) -> Fraction | None:
    """The rational number that a tree of digits stands for; else None."""
    match tree:
        case syntax.Literal(text):
            return Fraction(text)
        case syntax.Negative(operand):
            inner = rational(operand)
            return None if inner is None else -inner
        case syntax.Binary("/", left, right):
            above, below = rational(left), rational(right)
            return above / below if above is not None and below else None
    return None


def lettered(axes: tuple[Axis, ...]) -> Iterator[tuple[str, Axis]]:
    """Axes with a letter each."""
    if len(axes) > len(_ALPHABET):
        raise Malformed(f"more than {len(_ALPHABET)} axes")
    return zip(_ALPHABET, axes, strict=False)


def matched(axes: tuple[Axis, ...], whole: tuple[Axis, ...]) -> list[int]:
    """Return which axis of a larger tensor each axis of a smaller one lies along.

    A vector is a column, and stands for a row as well where only that fits.
    """
    if len(axes) == 1 and len(whole) == 2 and whole[0] == axes[0]:
        return [0]
    return [*range(len(whole) - len(axes), len(whole))]


def common(left: tuple[Axis, ...], right: tuple[Axis, ...]) -> tuple[Axis, ...] | None:
    """The axes of both, those of length one repeated; None where they don't fit."""
    if len(left) < len(right):
        left, right = right, left
    if len(right) == 1 and len(left) == 2:
        return right if left == (1, 1) else left if right[0] in left else None
    axes = [*left]
    for at, other in zip(matched(right, left), right, strict=True):
        if axes[at] != other and 1 not in (axes[at], other):
            return None
        axes[at] = other if axes[at] == 1 else axes[at]
    return tuple(axes)


def described(axes: tuple[Axis, ...]) -> str:
    """Return what has such axes, in words."""
    match axes:
        case ():
            return "a number"
        case (axis,):
            return f"a vector of {axis}"
    return f"an array of {' x '.join(map(str, axes))}"


def misplaced(name: str, axes: int, places: int) -> str:
    """Return what is wrong where an array has another number of axes than places."""
    return f"{name} has {axes} {'axis' if axes == 1 else 'axes'}, found {places} in brackets"


FUNCTIONS: Mapping[str, Callable[[Expr], Expr]] = {
    **{name: partial(term.Apply, name) for name in term.PRIMITIVE},
    "sqrt": lambda x: term.Power(x, Fraction(1, 2)),
    "tanh": lambda x: _tanh(x),
}
"""Functions of one number, which work entry by entry."""

OTHERS = ("delta", "step", "diff", "limit", "expect", "operations", "trace", "tril")
"""What steps don't have."""


def _tanh(x: Expr) -> Expr:
    twice = exp(term.Mul((Number(Fraction(2)), x)))
    return term.Div(term.Add((twice, term.Neg(term.ONE))), term.Add((twice, term.ONE)))


@dataclass
class LineScope:
    """The names that lines may use."""

    sizes: Sequence[str] = ()
    arrays: dict[str, Array] = field(default_factory=dict)
    permutations: Mapping[str, Axis] = field(default_factory=dict)
    hidden: dict[str, Entries] = field(default_factory=dict)
    """Of defined scores, which of them count (:attr:`Tensor.keep`)."""
    rows: set[str] = field(default_factory=set)
    """What is defined as a vector transposed."""
    masks: frozenset[str] = frozenset()
    """The arrays that are taken to hold 0 and 1."""
    is_random: bool = False
    """Whether something given is."""
    advice: str = ""
    """What to do about a name of which nothing is known."""
    unnamed: int = 0
    """So many parts of lines stand for themselves without a name."""

    def known(self) -> list[str]:
        """All names with a meaning."""
        return [*self.sizes, *self.arrays, *self.permutations]

    def learn_losses(self, losses: Mapping[str, str]) -> list[str]:
        """Know losses as soon as what they are functions of is known: those that are new."""
        new = []
        for name, of in losses.items():
            if of in self.arrays and name not in self.arrays:
                array = self.arrays[of]
                uses = frozenset({array, *array.uses})
                self.arrays[name] = Array(name, (), of=array, uses=uses)
                new.append(name)
        return new


_FARTHEST = 1000
"""Numbers as places are at most so large."""


class Indices:
    """Reads the places of one text; how far an index runs follows from where it stands."""

    def __init__(self, scope: LineScope) -> None:
        self.scope = scope
        self.free: dict[str, Index] = {}
        self.bound: dict[str, Index] = {}
        self.letters: frozenset[str] = frozenset()
        self.laid: list[str] = []
        """Of vectors that meet matrices, along which axis they were read."""
        self._every: list[Index] = []
        self._same: dict[Index, Index] = {}

    def settle(self, unwanted: Sequence[Index]) -> None:
        """Tell every index how far it runs."""
        for index in unwanted:
            raise Malformed(
                f"the index {index.name} is free: no sum binds it, and it is not on the left"
            )
        for index in self._every:
            root = self._root(index)
            if not root.size and len(self.scope.sizes) == 1:
                root.size = self.scope.sizes[0]
            if not root.size:
                raise Malformed(f"the index {index.name} has no known range: it indexes no array")
            index.size = root.size

    def parameter(self, place: Tree) -> Index:
        """An index of what is being defined."""
        if not isinstance(place, syntax.Name) or place.name in self.free:
            raise Malformed("expected different letters as indices of what is defined")
        if place.name in self.scope.arrays:
            raise Malformed(f"{place.name} is given or defined: name the index otherwise")
        if place.name in self.scope.sizes:
            raise Malformed(
                f"{place.name} is a size, and as a place the last one: name the index of what is "
                "defined otherwise"
            )
        return self.index(place.name, self.free)

    def index(self, name: str, among: dict[str, Index]) -> Index:
        """A new index of that name."""
        array = self.scope.arrays.get(name)
        if among is self.free and array is not None and not array.axes:
            raise Malformed(f"{name} is a number: name the index otherwise")
        index = Index(name)
        self._every.append(index)
        among[name] = index
        return index

    def _root(self, index: Index) -> Index:
        while index in self._same:
            index = self._same[index]
        return index

    def _runs(self, index: Index, axis: Axis, where: str) -> None:
        root = self._root(index)
        if not root.size:
            root.size = axis
        elif root.size != axis:
            raise Malformed(
                f"the index {index.name} runs to {root.size} elsewhere, but to {axis} in {where}"
            )

    def _alike(self, first: Index, second: Index, where: str) -> None:
        root, other = self._root(first), self._root(second)
        if root is other:
            return
        if root.size and other.size:
            self._runs(first, other.size, where)
        if not root.size:
            root, other = other, root
        self._same[other] = root

    @contextmanager
    def binding(self, name: str) -> Iterator[Index]:
        """While this lasts a letter is the index of a sum."""
        outer, self.bound = self.bound, {**self.bound}
        try:
            yield self.index(name, self.bound)
        finally:
            self.bound = outer

    def place(self, tree: Tree) -> AxisPlace:
        """A place in brackets: an index, a number, a size, these with a number added."""
        match tree:
            case syntax.Name(name):
                if name not in self.bound and name in self.scope.sizes:
                    return AxisPlace(size=name)
                if name in self.scope.permutations:
                    raise Malformed(
                        f"{name} is a permutation: write where it sends an index, {name}[i]"
                    )
                if index := self.bound.get(name) or self.free.get(name):
                    return AxisPlace(index)
                return AxisPlace(self.index(name, self.free))
            case syntax.Literal(text) if text.isdigit():
                return AxisPlace(offset=_within(int(text)))
            case syntax.Binary("+" | "-" as op, left, syntax.Literal(text)) if text.isdigit():
                inner = self.place(left)
                if inner.images:
                    raise Malformed("nothing can be added to where a permutation sends an index")
                step = int(text) if op == "+" else -int(text)
                return AxisPlace(inner.index, inner.size, _within(inner.offset + step))
            case syntax.Binary("+", syntax.Literal(_) as left, right):
                return self.place(syntax.Binary("+", right, left))
            case syntax.Cell(syntax.Name(name), (inside,)) if name in self.scope.permutations:
                inner = self.place(inside)
                self.along(inner, self.scope.permutations[name], f"{name}[...]")
                return AxisPlace(inner.index, inner.size, inner.offset, (*inner.images, name))
        raise Malformed("expected an index, a number or a size as a place")

    def along(self, place: AxisPlace, axis: Axis, where: str) -> None:
        """See to it that a place lies along an axis."""
        if place.images and self.scope.permutations[place.images[-1]] != axis:
            raise Malformed(f"{place.images[-1]} does not permute an axis of {where}")
        if place.index:
            self._runs(place.index, axis, where)
        elif place.size and place.size != axis:
            raise Malformed(f"{where} ends at {axis}, not at {place.size}")
        elif not place.size and isinstance(axis, int) and place.offset > axis:
            raise Malformed(f"{where} ends at {axis}, found the place {place.offset}")
        elif not place.size and place.offset < 1:
            raise Malformed(f"{where}: places are counted from 1, found {place.offset}")

    def meet(self, first: AxisPlace, second: AxisPlace, where: str) -> None:
        """Two places of one axis."""
        if first.index and second.index:
            self._alike(first.index, second.index, where)
        for place, other in ((first, second), (second, first)):
            if place.index and other.size:
                self._runs(place.index, other.size, where)


def letters_of(tree: Tree) -> Iterator[str]:
    """The names that stand as places."""
    match tree:
        case syntax.Cell(operand, places):
            yield from letters_of(operand)
            for place in places:
                yield from _leaves(place)
        case syntax.Call("delta", sides) | syntax.Call("step", (syntax.Comparison(sides, _),)):
            for side in sides:
                yield from _leaves(side)
        case syntax.Call("sum" | "mean", (*letters, body)):
            for letter in letters:
                yield from _leaves(letter)
            yield from letters_of(body)
        case _:
            for part in syntax.inside(tree):
                yield from letters_of(part)


def _leaves(place: Tree) -> Iterator[str]:
    match place:
        case syntax.Name(name):
            yield name
        case syntax.Binary(_, left, right):
            yield from _leaves(left)
            yield from _leaves(right)
        case syntax.Cell(_, places):
            for inner in places:
                yield from _leaves(inner)


def _within(offset: int) -> int:
    if abs(offset) > _FARTHEST:
        raise Malformed(f"a place as far as {offset} is beyond what is checked, {_FARTHEST}")
    return offset
