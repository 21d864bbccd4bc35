"""Is a product a part of another, whatever its indices are called?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction

from symattn.calculus.atoms import At, Atom, Exponent, Mono, places_of

Names = Mapping[str, At]
_Terms = Sequence[tuple[Mono, Fraction]]


def matches(
    pattern: list[tuple[Atom, Exponent]], mono: Mono, names: Names, free: Set[str]
) -> Iterator[tuple[Names, Mono]]:
    """The ways in which a product is a part of another: names for its indices, and the rest."""
    if not pattern:
        yield names, mono
        return
    (atom, e), *others = pattern
    for target, k in mono:
        if (k < e) if e > 0 else (k > e):
            continue
        bound = _unified(atom, target, names, free)
        if bound is None:
            continue
        rest = tuple((a, b - e if a is target else b) for a, b in mono if a is not target or b != e)
        yield from matches(others, rest, bound, free)


def _unified(atom: Atom, target: Atom, names: Names, free: Set[str]) -> Names | None:
    if atom is target and atom.names.isdisjoint(free):
        return names
    if atom.kind != target.kind:
        return None
    match atom.kind:
        case "x" if atom.data[0] != target.data[0] or len(atom.data[1]) != len(target.data[1]):
            return None
        case "x" | "d" | "i":
            return _places(places_of(atom), places_of(target), names, free)
        case "S" if atom.data[0] == target.data[0] and atom.height == target.height:
            return next(_wholly(atom.data[1], target.data[1], names, free), None)
        case "f" if atom.data[0] == target.data[0]:
            return _sums(atom.data[1], target.data[1], names, free)
        case "e" if len(atom.data) == len(target.data):
            return next(_wholly(atom.data, target.data, names, free), None)
    return None


def _wholly(pattern: Mono, mono: Mono, names: Names, free: Set[str]) -> Iterator[Names]:
    """The names that make a product another."""
    return (bound for bound, rest in matches(list(pattern), mono, names, free) if not rest)


def _sums(pattern: _Terms, terms: _Terms, names: Names, free: Set[str]) -> Names | None:
    """Names that make a sum another, term by term as they stand."""
    if len(pattern) != len(terms):
        return None
    if not pattern:
        return names
    (mono, c), *others = pattern
    (target, k), *left = terms
    if c != k or len(mono) != len(target):
        return None
    ways = (_sums(others, left, bound, free) for bound in _wholly(mono, target, names, free))
    return next((way for way in ways if way is not None), None)


def _places(
    pattern: Sequence[At], places: Sequence[At], names: Names, free: Set[str]
) -> Names | None:
    bound = dict(names)
    for mine, theirs in zip(pattern, places, strict=True):
        if mine[0] not in free:
            if mine != theirs:
                return None
            continue
        if mine[2]:
            if theirs[2][-len(mine[2]) :] != mine[2]:
                return None
            theirs = (theirs[0], theirs[1], theirs[2][: -len(mine[2])])
        if mine[1] and theirs[2]:
            return None
        at = (theirs[0], theirs[1] - mine[1], theirs[2])
        if bound.setdefault(mine[0], at) != at:
            return None
    return bound
