"""Terms: sums of products of powers of atoms, over sizes that stay symbols.

A :data:`Poly` maps products of powers of atoms to rational coefficients, so that terms that
the laws of a commutative ring make equal are equal. Atoms are made once each: two that are
alike are one object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from types import UnionType
from typing import Any, ParamSpec, TypeVar

from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.kinds import UNIT, Atom, Exponent, Frozen, Mono, Place, within
from symattn.calculus.language import Array, Axis, Index

FIRST: Place = (None, 1, ())


class Unproved(Exception):
    """There is no proof this way; the message says what is in the way."""


class OutOfWork(BaseException):
    """A proof takes more work than it may; not to be caught by what handles errors."""


class Poly(dict[Mono, Fraction]):
    """A term: products with their factors, which are not 0."""

    __slots__ = ()

    def put(self, other: Mapping[Mono, Fraction], times: Fraction | int = 1) -> None:
        """Add another term, times a number, in its place."""
        for mono, c in other.items():
            added = c if times == 1 else c * times
            total = self[mono] + added if mono in self else added
            if total:
                self[mono] = total
            else:
                self.pop(mono, None)

    def frozen(self) -> Frozen:
        """The term as it can be a part of an atom."""
        return frozenset(self.items())

    @property
    def atoms(self) -> Iterator[Atom]:
        """The atoms of which it is made, those in them left out."""
        return (atom for mono in self for atom, _ in mono)

    @property
    def free(self) -> frozenset[Index]:
        """The indices that it depends on."""
        return frozenset().union(*(atom.free for atom in self.atoms))

    @property
    def arrays(self) -> frozenset[Array]:
        """The arrays whose entries stand in it."""
        return frozenset().union(*(atom.arrays for atom in self.atoms))

    def at(self, switch: Atom, value: int) -> Poly:
        """The term where an atom is 0, or is 1."""
        if not value:
            return Poly(pair for pair in self.items() if (switch, 1) not in pair[0])
        return summed(single(without(mono, switch), c) for mono, c in self.items())

    def has(self, kind: type[kinds.Kind] | UnionType) -> bool:
        """Return whether one of its atoms is of a kind."""
        return any(isinstance(atom, kind) for atom in self.atoms)

    def __add__(self, other: Poly | Fraction | int) -> Poly:
        left, right = self, other if isinstance(other, Poly) else number(other)
        if len(left) < len(right):
            left, right = right, left
        if not right:
            return left
        total = Poly(left)
        total.put(right)
        return total

    def __radd__(self, other: Fraction | int) -> Poly:
        return number(other) + self

    def __sub__(self, other: Poly | Fraction | int) -> Poly:
        return self + -other

    def __rsub__(self, other: Fraction | int) -> Poly:
        return number(other) + -self

    def __neg__(self) -> Poly:
        return self * -1

    def __mul__(self, by: Fraction | int) -> Poly:
        if by == 1:
            return self
        return Poly({mono: c * by for mono, c in self.items()}) if by else Poly()


P = ParamSpec("P")
AnyAtom = TypeVar("AnyAtom", bound=Atom)


def base_of(atom: Atom) -> Poly:
    """The term that powers of an atom are powers of."""
    return Poly(atom.of) if isinstance(atom, kinds.Bracket) else power(atom)


def depends(named: Iterable[Array], on: Set[Array]) -> bool:
    """Tell whether one of the arrays is among others, or computed from them."""
    return any(each in on or not each.uses.isdisjoint(on) for each in named)


def number(value: Fraction | int) -> Poly:
    """A rational number."""
    return Poly({(): Fraction(value)}) if value else Poly()


def power(atom: Atom, exponent: Exponent = 1) -> Poly:
    """A power of an atom."""
    return Poly({((atom, exponent),): UNIT})


def single(mono: Mono, c: Fraction = UNIT) -> Poly:
    """A product as a term."""
    return Poly({mono: c})


def summed(polys: Iterable[Poly]) -> Poly:
    """The sum of several terms."""
    total = Poly()
    for poly in polys:
        total.put(poly)
    return total


def ordered(pairs: Iterable[tuple[Atom, Exponent]]) -> Mono:
    """A product of powers of different atoms."""
    return tuple(sorted(pairs, key=lambda pair: pair[0].number))


def merged(pairs: Iterable[tuple[Atom, Exponent]]) -> Mono:
    """A product of powers, those of one atom put together."""
    exponents: dict[Atom, Exponent] = {}
    for atom, e in pairs:
        exponents[atom] = plain(exponents.get(atom, 0) + e)
    return ordered((atom, e) for atom, e in exponents.items() if e)


def numbered(mono: Mono) -> list[tuple[int, Fraction]]:
    """The atoms of a product by their numbers, which orders products."""
    return [(atom.number, Fraction(e)) for atom, e in mono]


def divides(part: Mono, mono: Mono) -> bool:
    """Return whether a product of powers with exponents above 0 is a part of another."""
    powers = dict(mono)
    return all(powers.get(atom, 0) >= e > 0 for atom, e in part)


def inverse(mono: Mono) -> Mono:
    """The powers by which a product is undone."""
    return tuple((atom, -e) for atom, e in mono)


def without(mono: Mono, *atoms: Atom) -> Mono:
    """A product without some of its atoms."""
    return tuple(pair for pair in mono if pair[0] not in atoms)


def plain(exponent: Exponent) -> Exponent:
    """An exponent, whole where it can be."""
    return int(exponent) if exponent == int(exponent) else exponent


def places_in(mono: Mono, own: Index) -> Iterator[Place]:
    """The places of a product that an index stands in."""
    for atom, _ in mono:
        if own in atom.free:
            yield from (at for each in within(atom) for at in each.places if at[0] is own)


# -- places ------------------------------------------------------------------------------------


def composed(at: Place, images: Sequence[tuple[str, int]]) -> Place:
    """A place sent through permutations; one forth and back cancels."""
    if not images:
        return at
    chain = list(at[2])
    for name, way in images:
        if chain and chain[-1] == (name, -way):
            chain.pop()
        else:
            chain.append((name, way))
    return at[0], at[1], tuple(chain)


def led(place: Place, to: Place) -> Place:
    """A place whose index is another place."""
    base, offset, images = to
    if place[1] and images:
        raise Unproved("a number added to where a permutation sends an index")
    return composed((base, offset + place[1], images), place[2])


def led_back(images: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """The permutations that undo others."""
    return tuple((name, -way) for name, way in reversed(images))


def replaced(at: Place, to: Mapping[Index, Place]) -> Place:
    """A place with its index replaced, if it is one of these."""
    base = at[0]
    return led(at, to[base]) if isinstance(base, Index) and base in to else at


def end_of(axis: Axis) -> Place:
    """The last place of an axis."""
    return (None, axis, ()) if isinstance(axis, int) else (axis, 0, ())


def is_index(at: Place) -> bool:
    """Return whether a place is an index and no more."""
    return isinstance(at[0], Index) and not at[1] and not at[2]


def is_fixed(at: Place) -> bool:
    """Return whether a place is counted from an end of its axis."""
    return at[0] is None or isinstance(at[0], str)


def _opening(places: Sequence[Place]) -> Callable[[Place, int], Place]:
    """A change of places by which bound indices are at these places, the innermost first."""

    def change(place: Place, depth: int) -> Place:
        base, offset, images = place
        if not isinstance(base, int) or base < depth:
            return place
        inner = base - depth - len(places)
        return led(place, places[inner]) if inner < 0 else (inner + depth, offset, images)

    return change


class Terms:
    """Makes atoms, each once, and renames indices in them."""

    def __init__(self) -> None:
        self._atoms: dict[object, Any] = {}
        self._numbers: dict[Index, int] = {}
        self.left = float("inf")
        """The products that may yet be formed or renamed: all that is proved is made of these."""

    def work(self) -> None:
        """Count a product."""
        self.left -= 1
        if self.left < 0:
            raise OutOfWork

    def atom(self, kind: Callable[P, AnyAtom], *of: P.args, **_: P.kwargs) -> AnyAtom:
        """The atom of a kind that is made of these parts."""
        key = (kind, of)
        atom: AnyAtom | None = self._atoms.get(key)
        if atom is None:
            atom = self._atoms[key] = kind(*of, **_)
            kinds.tell(atom, len(self._atoms) - 1)
        return atom

    def rank(self, at: Place) -> tuple[object, ...]:
        """The position of a place in the order of all places."""
        base, offset, images = at
        if isinstance(base, Index):
            return (3, self._numbers.setdefault(base, len(self._numbers)), "", offset, images)
        if isinstance(base, int):
            return (2, base, "", offset, images)
        return (int(base is not None), 0, base or "", offset, images)

    def delta(self, first: Place, second: Place) -> Poly:
        """Kronecker's delta: all permutations on one side, numbers added on the other."""
        first, second = composed(first, led_back(second[2])), (*second[:2], ())
        if first[2]:
            other = composed(second, led_back(first[2])), (*first[:2], ())
            first, second = min((first, second), other, key=lambda two: [*map(self.rank, two)])
            return power(self.atom(kinds.Delta, first, second))
        if first[0] == second[0]:
            return number(int(first[1] == second[1]))
        fixed = [is_fixed(at) for at in (first, second)]
        by = second[1] if fixed[0] else first[1] if fixed[1] else min(first[1], second[1])
        moved = ((base, offset - by, images) for base, offset, images in (first, second))
        first, second = sorted(moved, key=self.rank)
        return power(self.atom(kinds.Delta, first, second))

    # -- renaming without computing --------------------------------------------------------------

    def renamed(self, mono: Mono, change: Callable[[Place, int], Place], depth: int = 0) -> Poly:
        """A product with its places changed, each told how many indices are bound around it."""
        self.work()
        powers: list[tuple[Atom, Exponent]] = []
        for atom, e in mono:
            renamed = self._renamed(atom, change, depth)
            if not renamed:
                return Poly()
            powers += [(other, e * k) for other, k in next(iter(renamed))]
        return single(merged(powers))

    def changed(
        self, poly: Frozen, change: Callable[[Place, int], Place], depth: int = 0
    ) -> Frozen:
        """A term with its places changed; products that become one are added up."""
        total = Poly()
        for each, c in poly:
            total.put(self.renamed(each, change, depth), c)
        return total.frozen()

    def at(self, poly: Frozen, to: Mapping[Index, Place]) -> Frozen:
        """A term with its indices replaced, not computed."""
        return self.changed(poly, lambda place, _: replaced(place, to))

    def _renamed(self, atom: Atom, change: Callable[[Place, int], Place], depth: int) -> Poly:
        if not atom.free and atom.loose <= depth:
            return power(atom)

        if isinstance(atom, kinds.Sum):
            (inner,) = self.renamed(atom.body, change, depth + len(atom.axes))
            return power(self.atom(kinds.Sum, atom.axes, inner))
        parts = kinds.mapped(
            atom,
            lambda place: change(place, depth),
            lambda term: self.changed(term, change, depth),
        )
        if isinstance(atom, kinds.Delta):
            # Names don't matter to what a delta is.
            return self.delta(*parts)
        return power(self.atom(type(atom), *parts))

    def closed(self, mono: Mono, variables: tuple[Index, ...]) -> Mono:
        """A product in which indices are bound, the last innermost."""
        k = len(variables)
        level = {variable: k - 1 - at for at, variable in enumerate(variables)}

        def change(place: Place, depth: int) -> Place:
            base, offset, images = place
            if isinstance(base, Index) and base in level:
                return level[base] + depth, offset, images
            if isinstance(base, int) and base >= depth:
                return base + k, offset, images
            return place

        (inner,) = self.renamed(mono, change)
        return inner

    def opened(self, mono: Mono, variables: tuple[Index, ...]) -> Mono:
        """A product whose bound indices are ``variables``."""
        change = _opening([(each, 0, ()) for each in reversed(variables)])
        (inner,) = self.renamed(mono, change)
        return inner

    def opened_at(self, of: Frozen, places: Sequence[Place]) -> Poly:
        """A term whose bound indices are at these places, the innermost first."""
        return Poly(self.changed(of, _opening(places)))
