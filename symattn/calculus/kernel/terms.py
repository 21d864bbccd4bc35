"""Terms: sums of products of powers of atoms, over sizes that stay symbols.

A :data:`Poly` maps products of powers of atoms to rational coefficients, so that terms that
the laws of a commutative ring make equal are equal. Atoms are made once each: two that are
alike are one object. Arrays, axes and indices are objects of :mod:`symattn.calculus.language`;
an index that a sum binds is a number, counted from the innermost (N. de Bruijn, 1972), so that
sums that differ in the names of their indices only are one atom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import (
    Any,
    ClassVar,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    assert_never,
    get_args,
)

from symattn.calculus.language import Array, Axis, Index
from symattn.calculus.language import Function as Name

Base: TypeAlias = Index | int | str | None
"""Where a place is counted from: an index, one that is bound, the end of an axis, nothing."""
Place: TypeAlias = tuple[Base, int, tuple[tuple[str, int], ...]]
"""A base, a number added to it, and the permutations it then goes through, forth or back."""
Exponent: TypeAlias = int | Fraction
Mono: TypeAlias = "tuple[tuple[Atom, Exponent], ...]"
Poly: TypeAlias = dict[Mono, Fraction]
Frozen: TypeAlias = "frozenset[tuple[Mono, Fraction]]"
Where: TypeAlias = tuple[Array, tuple[Place, ...]]
"""An array and the places of one of its entries."""
Target: TypeAlias = Fraction | Literal["oo", "-oo"]
"""Where a number tends to; ``oo`` is infinity."""

UNIT = Fraction(1)
FIRST: Place = (None, 1, ())


class Unproved(Exception):
    """There is no proof this way; the message says what is in the way."""


# -- atoms -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Kind:
    """Something that is not taken apart: its class says of which kind, its fields of what it is
    made. Atoms are made by :meth:`Terms.atom`, each once."""

    letter: ClassVar[str]
    """What stands for the kind in text."""
    number: int = field(init=False)
    """How many atoms were made before it, which orders them."""
    free: frozenset[Index] = field(init=False)
    """The indices that it depends on."""
    loose: int = field(init=False)
    """How many sums have to be around it, so that all its indices are bound or free."""
    arrays: frozenset[Array] = field(init=False)
    """The arrays whose entries stand in it."""

    def __repr__(self) -> str:
        return f"{self.letter}{self.number}"

    @property
    def kind(self) -> str:
        """Its letter."""
        return self.letter

    @property
    def data(self) -> Any:
        """What it is made of, as one value."""
        values = tuple(inside(self))
        return values[0] if len(values) == 1 else values


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Boolean(Kind):
    """Something that is 0 or 1."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Entry(Kind):
    """An entry of an array."""

    letter = "x"
    array: Array
    at: tuple[Place, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Derivative(Kind):
    """The derivative of an entry in another."""

    letter = "D"
    of: Where
    by: Where


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Size(Kind):
    """The length of an axis as a number."""

    letter = "s"
    axis: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Constant(Kind):
    """The number pi."""

    letter = "c"
    name: Literal["pi"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Position(Kind):
    """A place as a number, 1 at the first."""

    letter = "i"
    at: Place


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Delta(Boolean):
    """Kronecker's delta: 1 where two places are the same."""

    letter = "d"
    first: Place
    second: Place


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AtMost(Boolean):
    """A comparison: 1 where the first place is not after the second."""

    letter = "m"
    first: Place
    second: Place


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Positive(Boolean):
    """A step: 1 where a term is above 0."""

    letter = "h"
    of: Frozen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Function(Kind):
    """Another function of a term."""

    letter = "F"
    name: Name
    of: Frozen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bracket(Kind):
    """A term in brackets, of which powers are taken."""

    letter = "p"
    of: Frozen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sum(Kind):
    """A sum over axes, whose indices are bound in what is added up, the last innermost."""

    letter = "S"
    axes: tuple[Axis, ...]
    body: Mono


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Limit(Kind):
    """The limit of a term as a number tends to its target."""

    letter = "L"
    variable: Array
    target: Target
    of: Frozen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mean(Kind):
    """The expected value of a term."""

    letter = "E"
    of: Frozen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Operations(Kind):
    """How many operations all entries of an array take."""

    letter = "O"
    array: Array


Atom: TypeAlias = (
    Entry
    | Derivative
    | Size
    | Constant
    | Position
    | Delta
    | AtMost
    | Positive
    | Function
    | Bracket
    | Sum
    | Limit
    | Mean
    | Operations
)
KINDS: Mapping[str, type[Atom]] = {kind.letter: kind for kind in get_args(Atom)}
"""The kinds of atoms by their letters."""
BOOLEAN = "dmh"
P = ParamSpec("P")
AnyAtom = TypeVar("AnyAtom", bound=Atom)


def places_of(atom: Atom) -> tuple[Place, ...]:
    """The places that stand in an atom itself."""
    match atom:
        case Entry(_, at):
            return at
        case Derivative((_, here), (_, there)):
            return (*here, *there)
        case Delta(first, second) | AtMost(first, second):
            return first, second
        case Position(place):
            return (place,)
        case Size() | Constant() | Positive() | Function() | Bracket() | Sum() | Limit() | Mean():
            return ()
        case Operations():
            return ()
    assert_never(atom)


def parts(atom: Atom) -> Iterable[tuple[Mono, Fraction]]:
    """The products that an atom is made of, each with its factor."""
    match atom:
        case Sum(_, body):
            return ((body, UNIT),)
        case Bracket(of) | Positive(of) | Mean(of) | Function(_, of) | Limit(_, _, of):
            return of
        case Entry() | Derivative() | Size() | Constant() | Position() | Delta() | AtMost():
            return ()
        case Operations():
            return ()
    assert_never(atom)


def _bound_in(atom: Atom) -> int:
    """How many indices an atom binds in what it is made of."""
    return len(atom.axes) if isinstance(atom, Sum) else 0


def _named_in(atom: Atom) -> set[Array]:
    """The arrays whose entries an atom itself names."""
    match atom:
        case Entry(array):
            return {array}
        case Derivative((of, _), (by, _)):
            return {of, by}
    return set()


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


def frozen(poly: Poly) -> Frozen:
    """A term that can be a part of an atom."""
    return frozenset(poly.items())


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
        self._atoms: dict[object, Any] = {}
        self._numbers: dict[Index, int] = {}

    def atom(self, kind: Callable[P, AnyAtom], *of: P.args, **_: P.kwargs) -> AnyAtom:
        """The atom of a kind that is made of these parts."""
        key = (kind, of)
        atom: AnyAtom | None = self._atoms.get(key)
        if atom is None:
            atom = self._atoms[key] = kind(*of, **_)
            self._tell(atom)
        return atom

    def _tell(self, atom: Atom) -> None:
        """Tell an atom its number, and what stands in it."""
        inner = [each for mono, _ in parts(atom) for each, _ in mono]
        bases = [base for base, _, _ in places_of(atom)]
        free = {base for base in bases if isinstance(base, Index)}
        loose = [base + 1 for base in bases if isinstance(base, int)]
        loose += [each.loose - _bound_in(atom) for each in inner]
        arrays = _named_in(atom).union(*(each.arrays for each in inner))
        if isinstance(atom, Limit):
            arrays.discard(atom.variable)
        told = {
            "number": len(self._atoms) - 1,
            "free": frozenset(free).union(*(each.free for each in inner)),
            "loose": max(0, *loose) if loose else 0,
            "arrays": frozenset(arrays),
        }
        for name, value in told.items():
            object.__setattr__(atom, name, value)

    def rank(self, at: Place) -> tuple[object, ...]:
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
            return power(self.atom(Delta, first, second))
        if first[0] == second[0]:
            return number(int(first[1] == second[1]))
        fixed = [is_fixed(at) for at in (first, second)]
        by = second[1] if fixed[0] else first[1] if fixed[1] else min(first[1], second[1])
        moved = ((base, offset - by, images) for base, offset, images in (first, second))
        first, second = sorted(moved, key=self.rank)
        return power(self.atom(Delta, first, second))

    # -- renaming without computing --------------------------------------------------------------

    def renamed(self, mono: Mono, change: Callable[[Place, int], Place], depth: int = 0) -> Poly:
        """A product with its places changed, each told how many indices are bound around it."""
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

        match atom:
            case Entry(array, where):
                return power(self.atom(Entry, array, at(where)))
            case Derivative((of, here), (by, there)):
                return power(self.atom(Derivative, (of, at(here)), (by, at(there))))
            case Position(place):
                return power(self.atom(Position, change(place, depth)))
            case Delta(first, second):
                # Names don't matter to what a delta is.
                return self.delta(*at((first, second)))
            case AtMost(first, second):
                return power(self.atom(AtMost, *at((first, second))))
            case Sum(axes, body):
                (inner,) = self.renamed(body, change, depth + len(axes))
                return power(self.atom(Sum, axes, inner))
            case Function(name, term):
                return power(self.atom(Function, name, frozen(term)))
            case Limit(variable, target, term):
                return power(self.atom(Limit, variable, target, frozen(term)))
            case Bracket(term) | Positive(term) | Mean(term):
                return power(self.atom(type(atom), frozen(term)))
            case Size() | Constant() | Operations():
                return power(atom)
        assert_never(atom)

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


def inside(data: object) -> Iterable[object]:
    """What something that a step is applied with is made of."""
    if isinstance(data, tuple | frozenset):
        return data
    own = () if isinstance(data, Array | Index) else getattr(data, "__match_args__", ())
    return [getattr(data, name) for name in own]


def is_plain(data: object) -> bool:
    """Whether terms in what a step is applied with are written as they are computed: numbers
    are fractions other than 0, each atom stands once in a product, with an exponent not 0."""
    match data:
        case frozenset():
            return all(
                is_plain(mono) and isinstance(c, Fraction) and c != 0 for mono, c in data
            ) and len({mono for mono, _ in data}) == len(data)
        case tuple() if data and all(_is_power(pair) for pair in data):
            atoms = [atom for atom, _ in data]
            return len({*atoms}) == len(atoms) and all(e != 0 and is_plain(a) for a, e in data)
    return all(map(is_plain, inside(data)))


def _is_power(pair: object) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], Kind)


def indices_of(data: object) -> Iterator[Index]:
    """The indices that a step is applied with."""
    match data:
        case Index():
            yield data
        case Kind(free=free):
            yield from free
        case _:
            for part in inside(data):
                yield from indices_of(part)
