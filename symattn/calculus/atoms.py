"""Sums of products over sizes that stay symbols, in a normal form.

A :data:`Poly` maps products of powers of atoms to rational coefficients. An atom
is made once, under a text that tells it from all others: an entry, a delta, a
size, the exponential of a product, a sum over indices, and so on. A sum over
indices is one atom, whose indices are numbered in a way that does not depend on
what they were called; a product of independent sums is a product of atoms, so
that a ninth power of a sum is as short as the sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

At: TypeAlias = tuple[str, int, tuple[tuple[str, int], ...]]
"""A place: a name (an index, ``=`` for 0, ``=n`` for the last place of an axis), a
number added to it, and the permutations it then goes through, each forth or back."""
Exponent: TypeAlias = int | Fraction
Mono: TypeAlias = "tuple[tuple[Atom, Exponent], ...]"
Poly: TypeAlias = dict[Mono, Fraction]

ONE = Fraction(1)
BOOLEAN = "dmh"
"""The kinds of atoms that are 0 or 1."""
FIRST: At = ("=", 1, ())


class NoNormalForm(Exception):
    """No normal form was found; the message says what is in the way."""


class Atom:
    """Something that is not taken apart; equal only to itself.

    ``names`` are the indices that it depends on, ``height`` how deep sums lie in it.
    """

    __slots__ = ("data", "height", "kind", "names", "text")

    def __init__(self, kind: str, data: Any, text: str, names: frozenset[str], height: int) -> None:
        self.kind, self.data, self.text = kind, data, text
        self.names, self.height = names, height

    def __repr__(self) -> str:
        return self.text


def mono_text(mono: Mono) -> str:
    """A product as text."""
    return "*".join(atom.text if e == 1 else f"{atom.text}^{e}" for atom, e in mono)


def poly_text(poly: Poly) -> str:
    """A sum as text; equal sums have equal texts."""
    return "+".join(sorted(f"{c}.{mono_text(mono)}" for mono, c in poly.items()))


def order(pair: tuple[Atom, Exponent]) -> str:
    """The order of the factors of a product."""
    return pair[0].text


def plain(exponent: Exponent) -> Exponent:
    """An exponent, whole where it can be."""
    if isinstance(exponent, int) or exponent.denominator > 1:
        return exponent
    return int(exponent)


def without(mono: Mono, *atoms: Atom) -> Mono:
    """A product without some of its atoms."""
    return tuple(pair for pair in mono if pair[0] not in atoms)


def indices(*monos: Mono) -> frozenset[str]:
    """The indices that products depend on."""
    return frozenset().union(*(atom.names for mono in monos for atom, _ in mono))


def height(*monos: Mono) -> int:
    """How deep sums lie in products."""
    return max((atom.height for mono in monos for atom, _ in mono), default=0)


def in_order(poly: Poly) -> tuple[tuple[Mono, Fraction], ...]:
    """The terms of a sum, in the order of their texts."""
    return tuple(sorted(poly.items(), key=lambda item: mono_text(item[0])))


def summed(polys: Iterable[Poly]) -> Poly:
    """The sum of several sums."""
    return reduce(add, polys, {})


def add(left: Poly, right: Poly) -> Poly:
    """The sum of two sums."""
    if len(left) < len(right):
        left, right = right, left
    if not right:
        return left
    total = dict(left)
    for mono, c in right.items():
        put_into(total, mono, c)
    return total


def scaled(poly: Poly, by: Fraction) -> Poly:
    """A sum times a number."""
    if by == 1:
        return poly
    return {mono: c * by for mono, c in poly.items()} if by else {}


def put_into(into: Poly, mono: Mono, c: Fraction) -> None:
    """Add a term to a sum in its place."""
    before = into.get(mono)
    total = c if before is None else before + c
    if total:
        into[mono] = total
    elif before is not None:
        del into[mono]


def at_text(at: At) -> str:
    """A place as text."""
    name, offset, images = at
    text = f"{name}{offset:+}" if offset else name
    for image, way in images:
        text = f"{image}{'' if way > 0 else '-'}[{text}]"
    return text


def composed(at: At, images: Iterable[tuple[str, int]]) -> At:
    """A place sent through permutations; one forth and back cancels."""
    chain = list(at[2])
    for name, way in images:
        if chain and chain[-1] == (name, -way):
            chain.pop()
        else:
            chain.append((name, way))
    return at[0], at[1], tuple(chain)


def put(at: At, to: Mapping[str, At]) -> At:
    """A place with its index replaced."""
    name, offset, images = at
    if name not in to:
        return at
    other = to[name]
    if offset and other[2]:
        raise NoNormalForm("a number added to where a permutation sends an index")
    return composed((other[0], other[1] + offset, other[2]), images)


def led_back(images: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """The permutations that undo others."""
    return tuple((name, -way) for name, way in reversed(images))


def places_of(atom: Atom) -> tuple[At, ...]:
    """The places that stand in an atom itself."""
    match atom.kind:
        case "x":
            at: tuple[At, ...] = atom.data[1]
            return at
        case "d" | "m":
            return (atom.data[0], atom.data[1])
        case "i":
            return (atom.data,)
    return ()


def within(atom: Atom) -> Iterator[Atom]:
    """An atom, and all atoms that stand in it."""
    yield atom
    for mono, _ in parts(atom):
        for inner, _ in mono:
            yield from within(inner)


def entries(atom: Atom) -> Iterator[str]:
    """The arrays whose entries stand in an atom."""
    return (inner.data[0] for inner in within(atom) if inner.kind == "x")


def named(poly: Poly) -> frozenset[str]:
    """The arrays whose entries stand in a sum."""
    return frozenset(name for mono in poly for atom, _ in mono for name in entries(atom))


def parts(atom: Atom) -> Iterable[tuple[Mono, Fraction]]:
    """The products that an atom is made of, each with its factor."""
    match atom.kind:
        case "e":
            return [(atom.data, ONE)]
        case "S":
            return [(atom.data[1], ONE)]
        case "l" | "p" | "h":
            return list(atom.data)
        case "f":
            return list(atom.data[1])
    return []
