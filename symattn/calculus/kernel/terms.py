"""Terms: sums of products of powers of atoms, over sizes that stay symbols.

A :data:`Poly` maps products of powers of atoms to rational coefficients, so that terms that
the laws of a commutative ring make equal are equal. Atoms are made once each: two that are
alike are one object. Arrays, axes and indices are objects of :mod:`symattn.calculus.language`;
an index that a sum binds is a number, counted from the innermost (N. de Bruijn, 1972), so that
sums that differ in the names of their indices only are one atom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import count
from typing import Any, TypeAlias

from symattn.calculus.language import Array, Axis, Index

Base: TypeAlias = Index | int | str | None
"""Where a place is counted from: an index, one that is bound, the end of an axis, nothing."""
Place: TypeAlias = tuple[Base, int, tuple[tuple[str, int], ...]]
"""A base, a number added to it, and the permutations it then goes through, forth or back."""
Exponent: TypeAlias = int | Fraction
Mono: TypeAlias = "tuple[tuple[Atom, Exponent], ...]"
Poly: TypeAlias = dict[Mono, Fraction]
Frozen: TypeAlias = "frozenset[tuple[Mono, Fraction]]"

UNIT = Fraction(1)
FIRST: Place = (None, 1, ())
BOOLEAN = "dmh"
"""The kinds of atoms that are 0 or 1: deltas, comparisons, steps of values."""


class Unproved(Exception):
    """There is no proof this way; the message says what is in the way."""


class OutOfWork(BaseException):
    """A proof takes more work than it may; not to be caught by what handles errors."""


class Atom:
    """Something that is not taken apart, of one of these kinds:

    ``x`` an entry of an array, ``D`` a derivative of one in another, ``s`` a size, ``c`` pi,
    ``i`` a place as a number, ``d`` a delta, ``m`` 1 where a place is not after another,
    ``h`` 1 where a term is above 0, ``F`` another function of a term, ``p`` a term that is the
    base of powers, ``S`` a sum over axes, ``L`` a limit, ``E`` an expected value,
    ``O`` how many operations an array takes.
    """

    __slots__ = ("arrays", "data", "free", "kind", "loose", "number")

    def __init__(self, number: int, kind: str, data: Any) -> None:
        self.number, self.kind, self.data = number, kind, data
        self.free: frozenset[Index]
        """The indices that it depends on."""
        free: set[Index] = set()
        self.loose = 0
        for base, _, _ in places_of(self):
            if isinstance(base, Index):
                free.add(base)
            elif isinstance(base, int):
                self.loose = max(self.loose, base + 1)
        own = {array for array, _ in data} if kind == "D" else {data[0]} if kind == "x" else set()
        bound = len(data[0]) if kind == "S" else 0
        for mono, _ in parts(self):
            for inner, _ in mono:
                free |= inner.free
                own |= inner.arrays
                self.loose = max(self.loose, inner.loose - bound)
        if kind == "L":
            own.discard(data[0])
        self.free = frozenset(free)
        self.arrays: frozenset[Array] = frozenset(own)
        """The arrays whose entries stand in it."""

    def __repr__(self) -> str:
        return f"{self.kind}{self.number}"


def places_of(atom: Atom) -> tuple[Place, ...]:
    """The places that stand in an atom itself."""
    data: Any = atom.data
    match atom.kind:
        case "x":
            return tuple(data[1])
        case "D":
            return (*data[0][1], *data[1][1])
        case "d" | "m":
            return tuple(data)
        case "i":
            return (data,)
    return ()


def parts(atom: Atom) -> Iterable[tuple[Mono, Fraction]]:
    """The products that an atom is made of, each with its factor."""
    match atom.kind:
        case "S":
            return ((atom.data[1], UNIT),)
        case "p" | "E" | "h":
            return atom.data  # type: ignore[no-any-return]
        case "F":
            return atom.data[1]  # type: ignore[no-any-return]
        case "L":
            return atom.data[2]  # type: ignore[no-any-return]
    return ()


def within(atom: Atom) -> Iterator[Atom]:
    """An atom, and all atoms that stand in it."""
    yield atom
    for mono, _ in parts(atom):
        for inner, _ in mono:
            yield from within(inner)


def atoms_of(poly: Iterable[Mono]) -> Iterator[Atom]:
    """The atoms of a term, those in them left out."""
    return (atom for mono in poly for atom, _ in mono)


def free_in(poly: Iterable[Mono]) -> frozenset[Index]:
    """The indices that a term depends on."""
    return frozenset().union(*(atom.free for atom in atoms_of(poly)))


def arrays_in(poly: Iterable[Mono]) -> frozenset[Array]:
    """The arrays whose entries stand in a term."""
    return frozenset().union(*(atom.arrays for atom in atoms_of(poly)))


def number(value: Fraction | int) -> Poly:
    """A rational number."""
    return {(): Fraction(value)} if value else {}


def power(atom: Atom, exponent: Exponent = 1) -> Poly:
    """A power of an atom."""
    return {((atom, exponent),): UNIT}


def put_into(into: Poly, mono: Mono, c: Fraction) -> None:
    """Add a product to a term in its place."""
    total = into.get(mono, 0) + c
    if total:
        into[mono] = Fraction(total)
    else:
        into.pop(mono, None)


def add(left: Poly, right: Poly) -> Poly:
    """The sum of two terms."""
    if len(left) < len(right):
        left, right = right, left
    if not right:
        return left
    total = dict(left)
    for mono, c in right.items():
        put_into(total, mono, c)
    return total


def summed(polys: Iterable[Poly]) -> Poly:
    """The sum of several terms."""
    total: Poly = {}
    for poly in polys:
        for mono, c in poly.items():
            put_into(total, mono, c)
    return total


def scaled(poly: Poly, by: Fraction | int) -> Poly:
    """A term times a number."""
    if by == 1:
        return poly
    return {mono: c * by for mono, c in poly.items()} if by else {}


def minus(left: Poly, right: Poly) -> Poly:
    """The difference of two terms."""
    return add(left, scaled(right, -1))


def ordered(pairs: Iterable[tuple[Atom, Exponent]]) -> Mono:
    """A product of powers of different atoms."""
    return tuple(sorted(pairs, key=lambda pair: pair[0].number))


def without(mono: Mono, *atoms: Atom) -> Mono:
    """A product without some of its atoms."""
    return tuple(pair for pair in mono if pair[0] not in atoms)


def plain(exponent: Exponent) -> Exponent:
    """An exponent, whole where it can be."""
    return int(exponent) if exponent == int(exponent) else exponent


# -- places ------------------------------------------------------------------------------------


def composed(at: Place, images: Iterable[tuple[str, int]]) -> Place:
    """A place sent through permutations; one forth and back cancels."""
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
    """A place with its index replaced."""
    base, offset, images = at
    if not isinstance(base, Index) or base not in to:
        return at
    other = to[base]
    if offset and other[2]:
        raise Unproved("a number added to where a permutation sends an index")
    return composed((other[0], other[1] + offset, other[2]), images)


def axis_of(at: Place) -> Axis | None:
    """The axis that an index runs along; None for other places."""
    return at[0].size if isinstance(at[0], Index) else None


def is_index(at: Place) -> bool:
    """Whether a place is an index and no more."""
    return isinstance(at[0], Index) and not at[1] and not at[2]


def is_fixed(at: Place) -> bool:
    """Whether a place is counted from an end of its axis."""
    return at[0] is None or isinstance(at[0], str)


class Terms:
    """Makes atoms, each once, and renames indices in them."""

    def __init__(self) -> None:
        self._atoms: dict[tuple[str, Any], Atom] = {}
        self._numbers: dict[Index, int] = {}
        self._count = count()
        self.left = float("inf")
        """How many products may yet be formed or renamed: all that is proved is made of these."""

    def work(self) -> None:
        """Count a product."""
        self.left -= 1
        if self.left < 0:
            raise OutOfWork

    def atom(self, kind: str, data: Any) -> Atom:
        """The atom of a kind that is made of ``data``."""
        key = (kind, data)
        atom = self._atoms.get(key)
        if atom is None:
            atom = self._atoms[key] = Atom(next(self._count), kind, data)
        return atom

    def rank(self, at: Place) -> tuple[Any, ...]:
        """Where a place stands in the order of all places."""
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
            return power(self.atom("d", (first, second)))
        if first[0] == second[0]:
            return number(int(first[1] == second[1]))
        fixed = [is_fixed(at) for at in (first, second)]
        by = second[1] if fixed[0] else first[1] if fixed[1] else min(first[1], second[1])
        moved = ((base, offset - by, images) for base, offset, images in (first, second))
        return power(self.atom("d", tuple(sorted(moved, key=self.rank))))

    # -- renaming without computing --------------------------------------------------------------

    def renamed(self, mono: Mono, change: Callable[[Place, int], Place], depth: int = 0) -> Poly:
        """A product with its places changed, each told how many indices are bound around it."""
        self.work()
        exponents: dict[Atom, Exponent] = {}
        for atom, e in mono:
            renamed = self._renamed(atom, change, depth)
            if not renamed:
                return {}
            for other, k in next(iter(renamed)):
                exponents[other] = plain(Fraction(exponents.get(other, 0)) + e * k)
        return {ordered((atom, e) for atom, e in exponents.items() if e): UNIT}

    def changed(
        self, poly: Frozen, change: Callable[[Place, int], Place], depth: int = 0
    ) -> Frozen:
        """A term with its places changed; products that become one are added up."""
        total: Poly = {}
        for each, c in poly:
            for mono, k in self.renamed(each, change, depth).items():
                put_into(total, mono, c * k)
        return frozenset(total.items())

    def _renamed(self, atom: Atom, change: Callable[[Place, int], Place], depth: int) -> Poly:
        if not atom.free and atom.loose <= depth:
            return power(atom)

        def at(places: Iterable[Place]) -> tuple[Place, ...]:
            return tuple(change(place, depth) for place in places)

        def frozen(poly: Frozen) -> Frozen:
            return self.changed(poly, change, depth)

        data: Any = atom.data
        match atom.kind:
            case "x":
                return power(self.atom("x", (data[0], at(data[1]))))
            case "D":
                return power(self.atom("D", tuple((array, at(where)) for array, where in data)))
            case "i":
                return power(self.atom("i", change(data, depth)))
            case "d":
                # Names don't matter to what a delta is.
                return self.delta(*at(data))
            case "m":
                return power(self.atom("m", at(data)))
            case "S":
                axes, body = data
                (inner,) = self.renamed(body, change, depth + len(axes))
                return power(self.atom("S", (axes, inner)))
            case "F":
                return power(self.atom("F", (data[0], frozen(data[1]))))
            case "L":
                return power(self.atom("L", (*data[:2], frozen(data[2]))))
        return power(self.atom(atom.kind, frozen(data)))

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
        k = len(variables)

        def change(place: Place, depth: int) -> Place:
            base, offset, images = place
            if isinstance(base, int) and base >= depth:
                if base - depth < k:
                    return variables[k - 1 - (base - depth)], offset, images
                return base - k, offset, images
            return place

        (inner,) = self.renamed(mono, change)
        return inner


def is_plain(data: Any) -> bool:
    """Whether terms in what a step is applied with are written as they are computed: numbers
    are fractions other than 0, each atom stands once in a product, with an exponent not 0."""
    match data:
        case Atom():
            return is_plain(data.data)
        case frozenset():
            return all(
                is_plain(mono) and isinstance(c, Fraction) and c != 0 for mono, c in data
            ) and len({mono for mono, _ in data}) == len(data)
        case tuple() if data and all(_is_power(pair) for pair in data):
            atoms = [atom for atom, _ in data]
            return len({*atoms}) == len(atoms) and all(e != 0 and is_plain(a) for a, e in data)
        case tuple():
            return all(map(is_plain, data))
        case _ if is_dataclass(data) and not isinstance(data, Array | Index):
            return all(is_plain(getattr(data, each.name)) for each in fields(data))
    return True


def _is_power(pair: Any) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], Atom)


def indices_of(data: Any) -> Iterator[Index]:
    """The indices that a step is applied with."""
    match data:
        case Index():
            yield data
        case Atom():
            yield from data.free
        case tuple() | frozenset():
            for part in data:
                yield from indices_of(part)
        case _ if is_dataclass(data):
            for each in fields(data):
                yield from indices_of(getattr(data, each.name))
