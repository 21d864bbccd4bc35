"""Which rules to apply to sums, so that equal ones become the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import permutations, product
from math import factorial, prod
from typing import Any

from symattn.calculus.kernel.computing import Step
from symattn.calculus.kernel.proof import Kernel
from symattn.calculus.kernel.terms import (
    UNIT,
    Atom,
    Exponent,
    Mono,
    Place,
    Poly,
    Unproved,
    free_in,
    is_index,
    led_back,
    parts,
    places_of,
    within,
    without,
)
from symattn.calculus.language import Array, Index

_MOST_SHIFTED = 8
_MOST_WRITTEN = 8
_MOST_ORDERS = 800
_MOST_BOUND = 12


class SumChoices:
    """Chooses rules for sums over axes."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.equations: Callable[[Mono], Step | None] | None = None
        self.symmetric: dict[Array, bool] = {}
        self.unseen = ""
        """Why a limit was left as it stands."""
        self._kept: set[Atom] = set()
        """Sums whose indices are in order."""

    def _sum(self, mono: Mono, atom: Atom, e: Exponent) -> Step | None:
        if e != 1:
            return None
        axes = atom.data[0]
        kernel = self.kernel
        with kernel.inside(*axes) as variables:
            body = kernel.summands(atom, variables)
            for k, own in enumerate(variables):
                if any(a.kind == "d" and own in a.free and self._solves(a, own) for a, _ in body):
                    return Step("collapse", mono, k)
            for k, own in enumerate(variables):
                if isinstance(own.size, int) and own.size <= _MOST_WRITTEN:
                    return Step("written", mono, k)
            if len(axes) == 1 and self._counts(body, variables[0]):
                return Step("counted", mono)
            if any(a.kind == "S" and isinstance(k, int) and k > 0 for a, k in body):
                return Step("flatten", mono)
            for k, own in enumerate(variables):
                mine = tuple(pair for pair in body if own in pair[0].free)
                alone = all(pair[0].free.isdisjoint(set(variables) - {own}) for pair in mine)
                if len(axes) > 1 and not alone and self._counts(mine, own):
                    return Step("nest", mono, (k,))
            if (group := self._contracted(body, variables)) is not None:
                return Step("nest", mono, group)
            for k, own in enumerate(variables):
                if by := _least_offset(body, own):
                    return Step("slide", mono, (k, by))
            groups = _components(body, variables)
            if len(groups) > 1:
                return Step("split", mono, groups)
            if (led := self._led_back(body, variables)) is not None:
                return Step("permuted", mono, led)
            return self._arranged(mono, body, variables)

    @staticmethod
    def _solves(delta: Atom, own: Index) -> bool:
        first, second = delta.data
        ways = ((first, second), (second, first))
        return any(at[:2] == (own, 0) and other[0] is not own for at, other in ways)

    def _counts(self, body: Mono, own: Index) -> bool:
        here = (own, 0, ())
        match body:
            case ((Atom(kind="i", data=at), int(e)),):
                return bool(at == here and 0 < e <= 8)
            case ((Atom(kind="m", data=(first, second)), 1),):
                other = second if first == here else first if second == here else None
                return other is not None and other[0] is not None and other[1:] == (0, ())
        return False

    def _contracted(self, body: Mono, variables: tuple[Index, ...]) -> tuple[int, ...] | None:
        """Indices whose sum is there below: ``exp(S[i, j]) / Z[i]`` summed over j is 1."""
        for below, e in body:
            if below.kind != "S" or e >= 0:
                continue
            axes, pattern = below.data
            for names in permutations(variables, len(axes)):
                if tuple(each.size for each in names) != axes:
                    continue
                inner = self.kernel.opened(pattern, names)
                powers = dict(body)
                if not all(powers.get(a, 0) == k for a, k in inner):
                    continue
                rest = without(body, *(a for a, _ in inner))
                if free_in((rest,)).isdisjoint(names) and len(names) < len(variables):
                    return tuple(variables.index(each) for each in names)
        return None

    def _led_back(
        self, body: Mono, variables: tuple[Index, ...]
    ) -> tuple[int, tuple[tuple[str, int], ...]] | None:
        """An index that goes through fewer permutations when it is led back."""
        for k, own in enumerate(variables):
            ways = {images for _, offset, images in _places(body, own) if images and not offset}
            cost = _images(body, own)
            for images in sorted(ways):
                moved = self.kernel.put({body: UNIT}, {own: (own, 0, led_back(images))})
                if len(moved) == 1 and _images(next(iter(moved)), own) < cost:
                    return k, led_back(images)
        return None

    def _arranged(self, mono: Mono, body: Mono, variables: tuple[Index, ...]) -> Step | None:
        kernel = self.kernel
        if mono[0][0] in self._kept:
            return None
        if len(variables) > _MOST_BOUND:
            raise Unproved("a sum over too many indices at once")
        colours = self._colours(body, variables)
        for atom, _ in body:
            if atom.kind != "m" or not all(is_index(at) and at[0] in colours for at in atom.data):
                continue
            first, second = atom.data
            pair = variables.index(first[0]), variables.index(second[0])
            if colours[first[0]] > colours[second[0]]:
                return Step("reversed", mono, pair)
            if colours[first[0]] == colours[second[0]] and len(variables) == 2:
                rest: Poly = {without(body, atom): UNIT}
                if kernel.put(rest, {first[0]: second, second[0]: first}) == rest:
                    return Step("halved", mono, pair)
        groups: dict[int, list[int]] = {}
        for k, each in enumerate(variables):
            groups.setdefault(colours[each], []).append(k)
        if prod(factorial(len(group)) for group in groups.values()) > _MOST_ORDERS:
            raise Unproved("a sum over too many indices that look alike")
        orders = [
            tuple(k for group in choice for k in group)
            for choice in product(*(permutations(groups[c]) for c in sorted(groups)))
        ]
        own = mono[0][0]
        atoms: dict[Atom, tuple[int, ...]] = {}
        for order in orders:
            with kernel.apart():
                value = kernel.rules["exchange"](kernel, mono, order)
            if not value:
                return Step("exchange", mono, order)
            ((other, _),) = value.items()
            atoms.setdefault(other[0][0], order)
        first = min(atoms, key=lambda atom: atom.number)
        self._kept.add(first)
        return None if first is own else Step("exchange", mono, atoms[first])

    def _colours(self, body: Mono, variables: tuple[Index, ...]) -> dict[Index, int]:
        """Numbers for summed indices that tell apart those with different parts in a sum."""
        own = set(variables)
        stand = [
            (f"{e}{path}", at)
            for atom, e in body
            if not atom.free.isdisjoint(own)
            for path, at in self._standing(atom)
        ]
        colours = _numbered({each: str(each.size) for each in variables})
        for _ in variables:
            marks: dict[Index, list[str]] = {each: [] for each in variables}
            for path, at in stand:
                if not any(base in own for base, _ in at):
                    continue
                labels = [f"{colours.get(base, _outer(base))}{more}" for base, more in at]
                alike = path.endswith("~")
                if alike:
                    labels.sort()
                for k, (base, more) in enumerate(at):
                    if base in own:
                        marks[base].append(f"{path}{more if alike else k}{labels}")
            before = len(set(colours.values()))
            colours = _numbered(
                {each: f"{colours[each]:03}{sorted(marks[each])}" for each in variables}
            )
            if len(set(colours.values())) in (before, len(variables)):
                break
        return colours

    def _standing(self, atom: Atom) -> Iterator[tuple[str, tuple[tuple[Any, str], ...]]]:
        """Where indices stand in an atom, and which."""
        places = places_of(atom)
        if places:
            word = {"d": "d~", "m": "m", "i": "i"}.get(atom.kind)
            if not word:
                word = "D".join(array.name for array, _ in atom.data) if atom.kind == "D" else ""
            if atom.kind == "x":
                array = atom.data[0]
                word = f"{array.name}{'~' if self._is_symmetric(array) else ' '}"
            yield word, tuple((base, f"{offset}{images}") for base, offset, images in places)
        for mono, c in parts(atom):
            for inner, e in mono:
                if inner.free:
                    for path, at in self._standing(inner):
                        yield f"{atom.kind}{c}.{e}{path}", at

    def _is_symmetric(self, array: Array) -> bool:
        """Whether rows and columns of a matrix may be exchanged."""
        if self.equations is None or len(array.axes) != 2 or len({*array.axes}) != 1:
            return False
        if array not in self.symmetric:
            self.symmetric[array] = False
            with self.kernel.inside(*array.axes) as two:
                first, second = ((each, 0, ()) for each in two)
                ways = (first, second), (second, first)
                entries = [self.kernel.entry(array, way) for way in ways]
            self.symmetric[array] = entries[0] == entries[1]
        return self.symmetric[array]


def _components(body: Mono, variables: tuple[Index, ...]) -> tuple[tuple[int, ...], ...]:
    """Indices in groups that no factor has in common."""
    left = set(variables)
    groups = []
    for first in variables:
        if first not in left:
            continue
        group = {first}
        grown = True
        while grown:
            grown = False
            for atom, _ in body:
                linked = atom.free & left
                if linked & group and not linked <= group:
                    group |= linked
                    grown = True
        left -= group
        groups.append(tuple(k for k, each in enumerate(variables) if each in group))
    return tuple(groups)


def _places(body: Mono, own: Index) -> Iterator[Place]:
    """The places of a product that an index stands in."""
    for atom, _ in body:
        if own in atom.free:
            yield from (at for inner in within(atom) for at in places_of(inner) if at[0] is own)


def _least_offset(body: Mono, own: Index) -> int:
    """How far beyond an index all its places are; 0 where some are where it is."""
    least = min((offset for _, offset, _ in _places(body, own)), default=0)
    return least if abs(least) <= _MOST_SHIFTED and not _images(body, own) else 0


def _images(body: Mono, own: Index) -> int:
    return sum(len(images) for _, _, images in _places(body, own))


def _outer(base: Any) -> str:
    return f"o{id(base)}" if isinstance(base, Index) else f"b{base}"


def _numbered(marks: Mapping[Index, str]) -> dict[Index, int]:
    order_of = {mark: k for k, mark in enumerate(sorted(set(marks.values())))}
    return {each: order_of[mark] for each, mark in marks.items()}
