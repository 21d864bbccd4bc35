"""The indices of a line: which letters they are, and how far each of them runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from symattn import syntax
from symattn.calculus.language import Axis, AxisPlace, Index
from symattn.calculus.scope import LineScope
from symattn.errors import Malformed
from symattn.syntax import Tree

FARTHEST = 1000
"""Numbers as places are at most so large."""


class Indices:
    """Reads the places of one text; how far an index runs follows from where it stands."""

    def __init__(self, scope: LineScope) -> None:
        self.scope = scope
        self.free: dict[str, Index] = {}
        self.bound: dict[str, Index] = {}
        self.letters: frozenset[str] = frozenset()
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
        return self.index(place.name, self.free)

    def index(self, name: str, among: dict[str, Index]) -> Index:
        """A new index of that name."""
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
        outer = self.bound.get(name)
        index = self.index(name, self.bound)
        try:
            yield index
        finally:
            if outer is None:
                del self.bound[name]
            else:
                self.bound[name] = outer

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
    if abs(offset) > FARTHEST:
        raise Malformed(f"a place as far as {offset} is beyond what is checked, {FARTHEST}")
    return offset
