"""Kinds of atoms: what a term is made of and is not taken apart, and walks over it.

Arrays, axes and indices are objects of :mod:`symattn.calculus.language`; an index that a sum binds
is a number, counted from the innermost (N. de Bruijn, 1972), so that sums that differ in the names
of their indices only are one atom.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias, assert_never, get_args

from symattn.calculus.language import Array, Axis, Index

Base: TypeAlias = Index | int | str | None
"""The start of counting: an index, one that is bound, the end of an axis, nothing."""
Place: TypeAlias = tuple[Base, int, tuple[tuple[str, int], ...]]
"""A base, a number added to it, and the permutations it then goes through, forth or back."""
Exponent: TypeAlias = int | Fraction
Mono: TypeAlias = "tuple[tuple[Atom, Exponent], ...]"
Frozen: TypeAlias = "frozenset[tuple[Mono, Fraction]]"
Where: TypeAlias = tuple[Array, tuple[Place, ...]]
"""An array and the places of one of its entries."""
Target: TypeAlias = Fraction | Literal["oo", "-oo"]
"""The end that a number tends to; ``oo`` is infinity."""

UNIT = Fraction(1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Kind:
    """Something that is not taken apart: its class says of which kind, its fields of what it is
    made. Atoms are made by :meth:`Terms.atom`, each once."""

    letter: ClassVar[str]
    """The letter that stands for the kind in text."""
    number: int = field(init=False)
    """The count of atoms made before it, which orders them."""
    places: tuple[Place, ...] = field(init=False)
    """The places that stand in it, those in its parts left out."""
    parts: Collection[tuple[Mono, Fraction]] = field(init=False)
    """The products that it is made of, each with its factor."""
    free: frozenset[Index] = field(init=False)
    """The indices that it depends on."""
    loose: int = field(init=False)
    """The count of indices that have to be bound around it."""
    arrays: frozenset[Array] = field(init=False)
    """The arrays whose entries stand in it."""

    def __init_subclass__(cls, letter: str = "") -> None:
        cls.letter = letter or getattr(cls, "letter", "")

    def __repr__(self) -> str:
        return f"{self.letter}{self.number}"

    def __hash__(self) -> int:
        # Sets of products are walked in the same order in every run.
        return self.number


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Boolean(Kind):
    """Something that is 0 or 1."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Entry(Kind, letter="x"):
    """An entry of an array."""

    array: Array
    at: tuple[Place, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Derivative(Kind, letter="D"):
    """The derivative of an entry in another."""

    of: Where
    by: Where


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Size(Kind, letter="s"):
    """The length of an axis as a number."""

    axis: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Constant(Kind, letter="c"):
    """The number pi."""

    name: Literal["pi"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Position(Kind, letter="i"):
    """A place as a number, 1 at the first."""

    at: Place


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Delta(Boolean, letter="d"):
    """Kronecker's delta: 1 where two places are the same."""

    first: Place
    second: Place


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AtMost(Boolean, letter="m"):
    """A comparison: 1 where the first place is not after the second."""

    first: Place
    second: Place


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Positive(Boolean, letter="h"):
    """A step: 1 where a term is above 0."""

    of: Frozen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Function(Kind, letter="F"):
    """Another function of a term."""

    name: str
    of: Frozen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bracket(Kind, letter="p"):
    """A term in brackets, of which powers are taken."""

    of: Frozen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sum(Kind, letter="S"):
    """A sum over axes, whose indices are bound in what is added up, the last innermost."""

    axes: tuple[Axis, ...]
    body: Mono


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Limit(Kind, letter="L"):
    """The limit of a term as a number tends to its target."""

    variable: Array
    target: Target
    of: Frozen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mean(Kind, letter="E"):
    """The expected value of a term."""

    of: Frozen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Operations(Kind, letter="O"):
    """The count of operations that all entries of an array take."""

    array: Array


Atom: TypeAlias = (
    Entry | Derivative | Size | Constant | Position | Delta | AtMost | Positive | Function
    | Bracket | Sum | Limit | Mean | Operations
)  # fmt: skip
KINDS: Mapping[str, type[Atom]] = {kind.letter: kind for kind in get_args(Atom)}
"""The kinds of atoms by their letters."""


def mapped(
    atom: Atom, at: Callable[[Place], object], of: Callable[[Frozen], object]
) -> tuple[Any, ...]:
    """The parts that an atom is made of, with its places and its terms changed."""
    match atom:
        case Entry(array, places):
            return array, tuple(map(at, places))
        case Derivative((array, here), (by, there)):
            return (array, tuple(map(at, here))), (by, tuple(map(at, there)))
        case Delta(first, second) | AtMost(first, second):
            return at(first), at(second)
        case Position(place):
            return (at(place),)
        case Sum(axes, body):
            return axes, of(frozenset({(body, UNIT)}))
        case Limit(variable, target, term):
            return variable, target, of(term)
        case Function(name, term):
            return name, of(term)
        case Bracket(term) | Positive(term) | Mean(term):
            return (of(term),)
        case Size(part) | Constant(part) | Operations(part):
            return (part,)
    assert_never(atom)


def tell(atom: Atom, number: int) -> None:
    """Tell an atom what it is not made with: its number, and what stands in it."""
    places: list[Place] = []
    parts: list[tuple[Mono, Fraction]] = []
    mapped(atom, places.append, parts.extend)
    inner = [each for mono, _ in parts for each, _ in mono]
    bases = [base for base, _, _ in places]
    bound = len(atom.axes) if isinstance(atom, Sum) else 0
    loose = [base + 1 for base in bases if isinstance(base, int)]
    loose += [each.loose - bound for each in inner]
    own = frozenset(each for each in bases if isinstance(each, Index))
    arrays, varied = set[Array](), set[Array]()
    match atom:
        case Entry(array):
            arrays = {array}
        case Derivative((array, _), (by, _)):
            arrays = {array, by}
        case Limit(variable):
            varied = {variable}
    told = {
        "number": number,
        "places": tuple(places),
        "parts": tuple(parts),
        "free": own.union(*(each.free for each in inner)),
        "loose": max([0, *loose]),
        "arrays": frozenset(arrays).union(*(each.arrays for each in inner)) - varied,
    }
    for name, value in told.items():
        object.__setattr__(atom, name, value)


def within(atom: Atom) -> Iterator[Atom]:
    """An atom, and all atoms that stand in it."""
    yield atom
    for mono, _ in atom.parts:
        for inner, _ in mono:
            yield from within(inner)


def inside(data: object) -> Iterable[object]:
    """The parts of something that a step is applied with."""
    if isinstance(data, tuple | frozenset):
        return data
    own = () if isinstance(data, Array | Index) else getattr(data, "__match_args__", ())
    return [getattr(data, name) for name in own]


def is_plain(data: object) -> bool:
    """Return whether terms in what a step is applied with are written as they are computed:
    numbers are fractions other than 0, each atom stands once in a product, its exponent not 0."""
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
