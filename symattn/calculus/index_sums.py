"""Sums over indices, and normal forms with their indices renamed.

A sum is one atom, whose indices are numbered in a way that does not depend on
what they were called: equal sums look equal. What does not depend on an index
comes out of its sum, deltas are used up, comparisons are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import permutations, product
from math import factorial, prod

from symattn.calculus.atoms import (
    FIRST,
    ONE,
    At,
    Atom,
    Exponent,
    Mono,
    NoNormalForm,
    Poly,
    add,
    at_text,
    composed,
    height,
    indices,
    led_back,
    mono_text,
    parts,
    places_of,
    put,
    put_into,
    scaled,
    summed,
    within,
    without,
)
from symattn.calculus.language import Axis
from symattn.calculus.powers import Powers, matches

_MOST_ORDERS = 800
"""So many orders of the indices of one sum are compared."""
_MOST_BOUND = 7
"""Indices of one sum are at most so many."""
_MOST_WRITTEN = 8
"""Sums over axes of fixed length up to this are written out."""
_FAULHABER: list[dict[int, str]] = [
    {1: "1/2", 2: "1/2"},
    {1: "1/6", 2: "1/2", 3: "1/3"},
    {2: "1/4", 3: "1/2", 4: "1/4"},
    {1: "-1/30", 3: "1/3", 4: "1/2", 5: "1/5"},
]
"""The sums of first, second, third and fourth powers of 1, ..., n."""


class Sums(Powers):
    """The algebra with its sums; ``exists`` are places that there are for certain."""

    def __init__(self) -> None:
        super().__init__()
        self._moved: dict[tuple[Atom, tuple[tuple[str, At], ...]], Poly] = {}
        self._stands: dict[Atom, list[tuple[str, tuple[tuple[str, str], ...]]]] = {}
        self.exists: set[tuple[Axis, At]] = set()

    # -- renaming --------------------------------------------------------------

    def moved(self, poly: Poly, to: Mapping[str, At]) -> Poly:
        """The sum with indices replaced by places."""
        total: Poly = {}
        for mono, c in poly.items():
            if not any(name in to for atom, _ in mono for name in atom.names):
                put_into(total, mono, c)
                continue
            for more, k in self._mono_moved(mono, to).items():
                put_into(total, more, c if k is ONE else c * k)
        return total

    def _mono_moved(self, mono: Mono, to: Mapping[str, At]) -> Poly:
        pairs: list[tuple[Atom, Exponent]] = []
        sums: list[Poly] = []
        factor = ONE
        for atom, e in mono:
            if atom.names.isdisjoint(to):
                pairs.append((atom, e))
                continue
            moved = self._atom_moved(atom, to)
            if e != 1:
                moved = self.raised(moved, e)
            if len(moved) == 1:
                ((more, c),) = moved.items()
                pairs += more
                if c is not ONE:
                    factor *= c
            else:
                sums.append(moved)
        merged, open_ = self.merged((), pairs)
        whole = scaled(self.settled(merged), factor) if open_ else {merged: factor}
        for part in sums:
            whole = self.mul(whole, part)
        return whole

    def _atom_moved(self, atom: Atom, to: Mapping[str, At]) -> Poly:
        here = tuple(sorted((name, at) for name, at in to.items() if name in atom.names))
        key = (atom, here)
        if key not in self._moved:
            self._moved[key] = self._rebuilt(atom, dict(here))
        return self._moved[key]

    def _rebuilt(self, atom: Atom, to: Mapping[str, At]) -> Poly:
        places = [put(place, to) for place in places_of(atom)]
        match atom.kind:
            case "x":
                return self.entry(atom.data[0], tuple(places))
            case "d":
                return self.delta(*places)
            case "m":
                return self.at_most(*places)
            case "i":
                return self.position(*places)
            case "e":
                return self.exp(self._mono_moved(atom.data, to))
            case "l":
                return self.log(self.moved(dict(atom.data), to))
            case "p":
                return self.moved(dict(atom.data), to)
            case "f":
                name, of = atom.data
                return self.apply(name, self.moved(dict(of), to))
            case "h":
                return self.above_zero(self.moved(dict(atom.data), to))
            case "S":
                return self._sum_moved(atom, to)
        raise AssertionError(atom.kind)

    def _sum_moved(self, atom: Atom, to: Mapping[str, At]) -> Poly:
        if _renames(atom, to):
            # It is as short as it was; only the order of its indices may change.
            axes, factors = atom.data
            moved = self._mono_moved(factors, to)
            if len(moved) == 1:
                ((mono, c),) = moved.items()
                bounds = {f"@{atom.height}.{k}": axis for k, axis in enumerate(axes)}
                return scaled(self._sum(mono, bounds), c)
        bounds, body = self.opened(atom)
        return self.bound_all(self.moved(body, to), bounds)

    def opened(self, atom: Atom) -> tuple[dict[str, Axis], Poly]:
        """The indices of a sum, under fresh names, and what is summed."""
        axes, factors = atom.data
        fresh = [self.fresh() for _ in axes]
        to = {f"@{atom.height}.{k}": (name, 0, ()) for k, name in enumerate(fresh)}
        return dict(zip(fresh, axes, strict=True)), self._mono_moved(factors, to)

    # -- summing ---------------------------------------------------------------

    def bind(self, poly: Poly, name: str, axis: Axis) -> Poly:
        """The sum over all places that an index can take."""
        total: Poly = {}
        if isinstance(axis, int) and axis <= _MOST_WRITTEN:
            places = range(1, axis + 1)
            return summed(self.moved(poly, {name: ("=", place, ())}) for place in places)
        for mono, c in self.reduced(poly, name).items():
            for more, k in self._bound(mono, name, axis).items():
                put_into(total, more, c if k is ONE else c * k)
        return total

    def _bound(self, mono: Mono, name: str, axis: Axis) -> Poly:
        inside = tuple(pair for pair in mono if name in pair[0].names)
        outside = tuple(pair for pair in mono if name not in pair[0].names)
        front: Poly = {outside: ONE}
        if not inside:
            return self.mul(front, self.size(axis))
        for atom, _ in inside:
            if atom.kind == "d" and (at := self._solved(atom.data, name, axis)) is not None:
                return self.mul(front, self._mono_moved(without(inside, atom), {name: at}))
        counted = self._counted(inside, name, axis)
        if counted is not None:
            return self.mul(front, counted)
        bounds: dict[str, Axis] = {name: axis}
        flat: Poly = {(): ONE}
        for atom, e in inside:
            if atom.kind == "S" and isinstance(e, int) and e > 0:
                for _ in range(e):
                    more, summed = self.opened(atom)
                    bounds |= more
                    flat = self.mul(flat, summed)
            else:
                flat = self.mul(flat, self.one(atom, e))
            if len(bounds) > _MOST_BOUND:
                raise NoNormalForm("a sum over too many indices at once")
        if len(flat) != 1:
            raise NoNormalForm("a sum that falls into parts")
        ((factors, c),) = flat.items()
        for inner, length in bounds.items() if len(bounds) > 1 else ():
            mine = tuple(pair for pair in factors if inner in pair[0].names)
            counted = self._counted(mine, inner, length) if mine else None
            if counted is not None:
                rest = tuple(pair for pair in factors if inner not in pair[0].names)
                others = {name: size for name, size in bounds.items() if name != inner}
                return self.mul(front, self.bound_all(self.mul({rest: c}, counted), others))
        factors = self._contracted(factors, bounds)
        return scaled(self.product([front, *self._components(factors, bounds)]), c)

    def _contracted(self, factors: Mono, bounds: dict[str, Axis]) -> Mono:
        """A product in which sums that are there below are found above as well:
        ``exp(S[i, j]) / Z[i]`` summed over j is 1."""
        for below, e in factors:
            if below.kind != "S" or e >= 0 or len(below.data[0]) != 1:
                continue
            (axis,), inner = below.data
            index = f"@{below.height}.0"
            for names, rest in matches(list(inner), factors, {}, {index}):
                name, offset, images = names.get(index, ("", 0, ()))
                if offset or images or bounds.get(name) != axis:
                    continue
                if any(name in atom.names for atom, _ in rest):
                    continue
                del bounds[name]
                return self._contracted(self.merged(rest, [(below, 1)])[0], bounds)
        return factors

    def _components(self, factors: Mono, bounds: Mapping[str, Axis]) -> Iterable[Poly]:
        """Sums that have no index in common, one by one."""
        left = dict(bounds)
        rest = list(factors)
        while left:
            start = next(iter(left))
            names = {start}
            grown = True
            while grown:
                grown = False
                for atom, _ in rest:
                    linked = atom.names & left.keys()
                    if linked & names and not linked <= names:
                        names |= linked
                        grown = True
            mine = tuple(pair for pair in rest if pair[0].names & names)
            rest = [pair for pair in rest if not pair[0].names & names]
            own = {name: left.pop(name) for name in list(left) if name in names}
            for name in own:
                mine = self._led_back(mine, name)
            yield self._in_order(mine, own) if mine else self.size(own[start])
        if rest:
            yield {tuple(rest): ONE}

    def _led_back(self, factors: Mono, name: str) -> Mono:
        """A product in which a summed index goes through as few permutations as can be:
        the sum over all ``pi(j)`` is the sum over all j."""
        ways = {images for atom, _ in factors for images in _images(atom, name)}
        best = factors
        for images in ways:
            poly = self._mono_moved(factors, {name: (name, 0, led_back(images))})
            if len(poly) == 1:
                ((mono, c),) = poly.items()
                if c == 1:
                    best = min(best, mono, key=lambda m: (len(mono_text(m)), mono_text(m)))
        return best

    def _in_order(self, factors: Mono, bounds: Mapping[str, Axis]) -> Poly:
        """A sum in which of two summed places that are compared always the same comes first,
        and none where they may be exchanged: then it is half of all pairs, and of one place."""
        compared = [
            atom
            for atom, _ in factors
            if atom.kind == "m" and all(at[0] in bounds and at[1:] == (0, ()) for at in atom.data)
        ]
        if not compared:
            return self._sum(factors, bounds)
        colours = self._colours(without(factors, *compared), bounds)
        for atom in compared:
            first, second = atom.data
            rest = without(factors, atom)
            if colours[first[0]] > colours[second[0]]:
                total = self.mul({rest: ONE}, self.flipped(first, second))
                return self.bound_all(total, bounds)
            if colours[first[0]] == colours[second[0]] and len(bounds) == 2:
                to = {first[0]: second, second[0]: first}
                if self._mono_moved(rest, to) == {rest: ONE}:
                    met = add(self.number(1), self.delta(first, second))
                    total = self.bound_all(self.mul({rest: ONE}, met), bounds)
                    return scaled(total, Fraction(1, 2))
        return self._sum(factors, bounds)

    def bound_all(self, poly: Poly, bounds: Mapping[str, Axis]) -> Poly:
        """The sum over all places that several indices can take."""
        for name, axis in bounds.items():
            poly = self.bind(poly, name, axis)
        return poly

    def _sum(self, factors: Mono, bounds: Mapping[str, Axis]) -> Poly:
        """A sum as an atom, its indices numbered so that equal sums look equal."""
        level = 1 + height(factors)
        names = indices(factors) - bounds.keys()
        forms: dict[str, tuple[Mono, tuple[Axis, ...], set[Fraction]]] = {}
        for arranged in self._orders(factors, bounds):
            to: dict[str, At] = {name: (f"@{level}.{k}", 0, ()) for k, name in enumerate(arranged)}
            poly = self._mono_moved(factors, to)
            if len(poly) != 1:
                raise NoNormalForm("a sum that falls into parts")
            ((mono, c),) = poly.items()
            axes = tuple(bounds[name] for name in arranged)
            text = f"S{list(axes)}({mono_text(mono)})"
            forms.setdefault(text, (mono, axes, set()))[2].add(c)
        text = min(forms)
        mono, axes, signs = forms[text]
        if len(signs) > 1:
            # It is its own negative.
            return {}
        return scaled(self.one(self.make("S", (axes, mono), text, names, level)), signs.pop())

    def _orders(self, factors: Mono, bounds: Mapping[str, Axis]) -> Iterable[list[str]]:
        """The orders of summed indices in which a sum can look its least."""
        if len(bounds) == 1:
            return [list(bounds)]
        groups: dict[int, list[str]] = {}
        for name, colour in self._colours(factors, bounds).items():
            groups.setdefault(colour, []).append(name)
        if prod(factorial(len(group)) for group in groups.values()) > _MOST_ORDERS:
            raise NoNormalForm("a sum over too many indices that look alike")
        choices = product(*(permutations(groups[colour]) for colour in sorted(groups)))
        return ([name for group in choice for name in group] for choice in choices)

    def _colours(self, factors: Mono, bounds: Mapping[str, Axis]) -> dict[str, int]:
        """Numbers for summed indices that tell apart those with different parts in a sum,
        whatever they are called: from where they stand, and beside which others."""
        stand = [
            (f"{e}{path}", at)
            for atom, e in factors
            if not atom.names.isdisjoint(bounds)
            for path, at in self._standing(atom)
        ]
        colours = _numbered({name: str(axis) for name, axis in bounds.items()})
        for _ in range(len(bounds)):
            marks: dict[str, list[str]] = {name: [] for name in bounds}
            for path, at in stand:
                if any(name in bounds for name, _ in at):
                    labels = [f"{colours.get(name, _outer(name))}{more}" for name, more in at]
                    alike = path.endswith("~")
                    if alike:
                        labels.sort()
                    for k, (name, more) in enumerate(at):
                        if name in bounds:
                            marks[name].append(f"{path}{more if alike else k}{labels}")
            before = len(set(colours.values()))
            colours = _numbered(
                {name: f"{colours[name]:03}{sorted(marks[name])}" for name in bounds}
            )
            if len(set(colours.values())) in (before, len(bounds)):
                break
        return colours

    def _standing(self, atom: Atom) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
        """Where indices stand in an atom: a word for what leads there, ending in ``~`` where
        places may be exchanged, and the places there, each a name and what is done to it."""
        if atom not in self._stands:
            word = {"d": "d~", "m": "m", "i": "i"}.get(atom.kind, "")
            if atom.kind == "x":
                word = f"{atom.data[0]}{'~' if atom.data[0] in self.symmetric else ' '}"
            self._stands[atom] = [(word, _marked(places_of(atom)))] if word else []
            self._stands[atom] += [
                (f"{atom.kind}{c}.{e}{path}", at)
                for mono, c in parts(atom)
                for inner, e in mono
                for path, at in self._standing(inner)
            ]
        return self._stands[atom]

    def _counted(self, inside: Mono, name: str, axis: Axis) -> Poly | None:
        """The sum of powers of places, or of places up to one; else None."""
        here = (name, 0, ())
        match inside:
            case ((Atom(kind="i", data=at), int(e)),) if at == here and 0 < e <= len(_FAULHABER):
                return self._faulhaber(self.size(axis), e)
            case ((Atom(kind="m", data=(first, second)), 1),) if first == here:
                # Up to a place that there is: an index, or the last.
                is_there = second[0] != "=" and second[1] == 0 and not second[2]
                return self.position(second) if is_there else None
            case ((Atom(kind="m", data=(first, second)), 1),) if second == here:
                if first[0] != "=" and first[1] == 0 and not first[2]:
                    more = add(self.size(axis), self.number(1))
                    return add(more, scaled(self.position(first), -ONE))
        return None

    def _solved(self, pair: tuple[At, At], name: str, axis: Axis) -> At | None:
        """What a delta makes of an index: the other place, led back; None where it is not
        sure that there is such a place."""
        for place, other in (pair, pair[::-1]):
            if place[:2] == (name, 0) and other[0] != name:
                certain = other[1] == 0 and other[0] != "="
                if certain or other == FIRST or (axis, other) in self.exists:
                    return composed(other, led_back(place[2]))
        return None

    def _faulhaber(self, size: Poly, power: int) -> Poly:
        sums = _FAULHABER[power - 1].items()
        return summed(scaled(self.times(size, degree), Fraction(c)) for degree, c in sums)

    def reduced(self, poly: Poly, name: str) -> Poly:
        """The sum with quotients in an index cancelled."""
        if not any(atom.kind == "p" and name in atom.names for mono in poly for atom, _ in mono):
            return poly
        return self.cancelled(poly)

    def identified(self, poly: Poly) -> Poly:
        """A sum with one index for both beside each delta, so that what is alike cancels."""
        total: Poly = {}
        for mono, c in poly.items():
            for atom, _ in mono:
                if atom.kind == "d" and (to := identified(atom)) is not None:
                    moved = self.identified(self.moved({without(mono, atom): c}, to))
                    total = add(total, self.mul(self.one(atom), moved))
                    break
            else:
                total = add(total, {mono: c})
        return total


def identified(delta: Atom) -> dict[str, At] | None:
    """Where a delta is 1: one index replaced by the other place."""
    first, second = delta.data
    for place, other in ((second, first), (first, second)):
        if not place[0].startswith("=") and place[1:] == (0, ()) and other[0] != place[0]:
            return {place[0]: other}
    return None


def _renames(atom: Atom, to: Mapping[str, At]) -> bool:
    """Whether indices of an atom get other names and nothing else happens to it."""
    names = {name for name in atom.names if name not in to}
    for name in atom.names & to.keys():
        other, offset, images = to[name]
        if offset or images or other.startswith("=") or other in names:
            return False
        names.add(other)
    return True


def _marked(at: Iterable[At]) -> tuple[tuple[str, str], ...]:
    """Places by their names and what is done to each."""
    return tuple((name, at_text(("", offset, images))) for name, offset, images in at)


def _outer(name: str) -> str:
    """The name of an index that is not summed here; those of sums inside don't matter."""
    return "@" if name.startswith("@") else name


def _numbered(marks: Mapping[str, str]) -> dict[str, int]:
    """Numbers for names, equal for equal marks, in the order of the marks."""
    order_of = {mark: k for k, mark in enumerate(sorted(set(marks.values())))}
    return {name: order_of[mark] for name, mark in marks.items()}


def _images(atom: Atom, name: str) -> Iterable[tuple[tuple[str, int], ...]]:
    """The permutations that an index goes through in an atom."""
    for inner in within(atom):
        for at in places_of(inner):
            if at[0] == name and at[2] and not at[1]:
                yield at[2]
