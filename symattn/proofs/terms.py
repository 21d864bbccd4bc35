"""Normal form of index expressions at symbolic sizes.

A value is a list of terms; a term is a rational coefficient times atoms with
whole exponents, summed over the full range of its bound indices. Atoms are
nested tuples, so that they can be compared, sorted and renamed:

    ("x", kind, name, place, ...)   an unknown entry
    ("d", place, place)             Kronecker's delta
    ("m", place, place, axis)       1 where the first place is at most the second
    ("s", name), ("r", name)        a size, and its root
    ("e", monomial, q)              the exponential of a monomial over the whole number q
    ("v", poly), ("g", poly)        one over a sum, and its logarithm

A place is ``(name,)``, ``(name, permutation, ...)`` for an image, ``("=1",)``
for a fixed number or ``("=n",)`` for the last place of an axis. :func:`normal`
brings a value to a form in which bound indices are numbered canonically; equal
normal forms are equal values (the converse is tried, not promised).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import count, permutations, product
from typing import Any, NamedTuple, TypeAlias

Place: TypeAlias = tuple[str, ...]
Atom: TypeAlias = tuple[Any, ...]
Monomial: TypeAlias = tuple[tuple[str, ...], tuple[tuple[Atom, int], ...]]
"""Sizes of the bound indices ``@h.0, @h.1, ...``; atoms with exponents, sorted."""
Key: TypeAlias = tuple[tuple[Monomial, Fraction], ...]
Normal: TypeAlias = dict[Monomial, Fraction]

_fresh = count()


class Term(NamedTuple):
    """Coefficient, atoms with exponents, and the sizes of the bound names."""

    coefficient: Fraction
    factors: dict[Atom, int]
    bound: dict[str, str]


Value: TypeAlias = list[Term]


def fresh() -> str:
    """A name that nothing else has."""
    return f"#{next(_fresh)}"


def constant(number: Fraction) -> Value:
    """A rational number as a value."""
    return [Term(number, {}, {})] if number else []


def atom(one: Atom, exponent: int = 1) -> Value:
    """A power of a single atom as a value."""
    return [Term(Fraction(1), {one: exponent}, {})]


def multiply(left: Value, right: Value) -> Value:
    """The product; clashing bound names are renamed first."""
    found = []
    for a, b in product(left, right):
        clash = a.bound.keys() & b.bound.keys()
        if clash:
            b = renamed(b, {name: (fresh(),) for name in clash})
        factors = dict(a.factors)
        for one, exponent in b.factors.items():
            total = factors.get(one, 0) + exponent
            if total:
                factors[one] = total
            else:
                del factors[one]
        found.append(Term(a.coefficient * b.coefficient, factors, a.bound | b.bound))
    return found


def power(value: Value, exponent: int) -> Value:
    """A power with exponent zero or more."""
    found = constant(Fraction(1))
    for _ in range(exponent):
        found = multiply(found, value)
    return found


def bind(value: Value, name: str, size: str) -> Value:
    """The sum of a value over all places that ``name`` can take."""
    summed = (Term(c, factors, bound | {name: size}) for c, factors, bound in value)
    return [settled for one in summed if (settled := settle(one)) is not None]


def delta(first: Place, second: Place) -> Atom | int:
    """Kronecker's delta: an atom, or 0 or 1 where the places decide it."""
    while len(first) > 1 and len(second) > 1 and first[-1] == second[-1]:
        first, second = first[:-1], second[:-1]
    if first == second:
        return 1
    if first[0][0] == second[0][0] == "=" and first[0][1:].isdigit() and second[0][1:].isdigit():
        return 0
    return ("d", *sorted((first, second)))


def at_most(first: Place, second: Place, axis: str) -> Atom | int:
    """1 where ``first <= second``, else 0; decided where a place is the first or last.

    ``axis`` is the size that both run to; empty where they run to different ones.
    """
    if first in (second, ("=1",)) or (axis and second == (f"={axis}",)):
        return 1
    return delta(first, second) if second == ("=1",) else ("m", first, second, axis)


# Renaming.


def rename_place(place: Place, names: Mapping[str, Place]) -> Place:
    """The place under new names; a permutation and its inverse side by side cancel."""
    head = names.get(place[0])
    if head is None:
        return place
    found = list(head)
    for image in place[1:]:
        if found[1:] and (found[-1] == image + "-" or image == found[-1] + "-"):
            found.pop()
        else:
            found.append(image)
    return tuple(found)


def renamed(one: Term, names: Mapping[str, Place]) -> Term:
    """The term under new names, bound ones included; deltas that are decided drop out."""
    factors: dict[Atom, int] = {}
    coefficient = one.coefficient
    for piece, exponent in one.factors.items():
        new = _rename_atom(piece, names) if mentions(piece, names) else piece
        if isinstance(new, int):
            coefficient *= new
        else:
            factors[new] = factors.get(new, 0) + exponent
    bound = {names.get(name, (name,))[0]: size for name, size in one.bound.items()}
    return Term(coefficient, {a: e for a, e in factors.items() if e}, bound)


def _rename_atom(one: Atom, names: Mapping[str, Place]) -> Atom | int:
    match one[0]:
        case "x":
            return (*one[:3], *(rename_place(place, names) for place in one[3:]))
        case "d":
            return delta(rename_place(one[1], names), rename_place(one[2], names))
        case "m":
            return at_most(rename_place(one[1], names), rename_place(one[2], names), one[3])
        case "e":
            inside = normal([renamed(opened(one[1]), names)])
            return ("e", next(iter(inside)), one[2]) if inside else 1
    return (one[0], key([renamed(part, names) for part in reopened(one[1])]))


@lru_cache(maxsize=1 << 14)
def places(one: Atom) -> Mapping[str, frozenset[Place]]:
    """The indices in an atom, each with the first permutation on it wherever it stands.

    >>> dict(places(("x", "number", "S", ("i",), ("j", "pi"))))
    {'i': frozenset({()}), 'j': frozenset({('pi',)})}
    """
    found: dict[str, frozenset[Place]] = {}
    if all(isinstance(part, str) for part in one):
        return {one[0]: frozenset([one[1:2]])} if one else found
    for part in one:
        if isinstance(part, tuple):
            for name, images in places(part).items():
                found[name] = found.get(name, frozenset()) | images
    return found


def mentions(one: Atom, names: Iterable[str]) -> bool:
    """Whether any of the names occurs in an atom."""
    seen = places(one)
    return any(name in seen for name in names)


def opened(monomial: Monomial, coefficient: Fraction = Fraction(1)) -> Term:
    """A monomial in normal form as a term with fresh bound names."""
    sizes, factors = monomial
    if not sizes:
        return Term(coefficient, dict(factors), {})
    names = [f"@{_height(factors)}.{number}" for number in range(len(sizes))]
    closed = Term(coefficient, dict(factors), dict(zip(names, sizes, strict=True)))
    return renamed(closed, {name: (fresh(),) for name in names})


def reopened(form: Key) -> Value:
    """A sum in normal form as a value with fresh bound names."""
    return [opened(monomial, coefficient) for monomial, coefficient in form]


def _height(factors: Any) -> int:
    """How deeply sums are nested in the atoms; bound names are numbered by it."""
    deepest = 0
    for one, _ in factors:
        if one[0] == "e":
            deepest = max(deepest, 1 + _height(one[1][1]))
        elif one[0] in "vg":
            deepest = max(deepest, 1, *(1 + _height(monomial[1]) for monomial, _ in one[1]))
    return deepest


# Settling a term: deltas, images, empty sums, roots, cancellation.


def settle(one: Term) -> Term | None:
    """The term with its deltas used up and its empty sums counted; None where it vanishes."""
    done: set[Atom] = set()
    while deltas := [piece for piece in one.factors if piece[0] == "d" and piece not in done]:
        piece = deltas[0]
        others = {other: e for other, e in one.factors.items() if other != piece}
        old, new = _direction(piece, one.bound)
        if old is None:
            done.add(piece)
        elif old in one.bound:
            bound = {name: size for name, size in one.bound.items() if name != old}
            one = renamed(Term(one.coefficient, others, bound), {old: new})
        else:
            moved = renamed(Term(one.coefficient, others, one.bound), {old: new})
            if moved.factors != others:
                done.clear()
            done.add(piece)
            one = Term(moved.coefficient, {**moved.factors, piece: 1}, moved.bound)
        if not one.coefficient:
            return None
    for name, size in list(one.bound.items()):
        images = {image for piece in one.factors for image in places(piece).get(name, ())}
        if not images:
            factors = dict(one.factors)
            factors["s", size] = factors.get(("s", size), 0) + 1
            bound = {other: end for other, end in one.bound.items() if other != name}
            one = Term(one.coefficient, {a: e for a, e in factors.items() if e}, bound)
        elif len(images) == 1 and () not in images:
            one = renamed(one, {name: (fresh(), images.pop()[0] + "-")})
    return one


def _direction(piece: Atom, bound: Mapping[str, str]) -> tuple[str | None, Place]:
    """Which index a delta replaces, and by what: a bound one if it can, else the later name."""
    _, first, second = piece
    for place, other in ((first, second), (second, first)):
        if len(place) == 1 and place[0] in bound:
            return place[0], other
    for place, other in ((second, first), (first, second)):
        if len(place) == 1 and place[0][0] != "=" and other[0] not in bound:
            return place[0], other
    return None, first


def _cancel(one: Term) -> Term:
    """Inverses that meet the very sum they are the inverse of, cancelled."""
    inverses = {piece for piece in one.factors if piece[0] == "v" and len(piece[1]) == 1}
    for name, size in one.bound.items():
        part = {a: e for a, e in one.factors.items() if mentions(a, (name,))}
        if inverses <= part.keys():
            continue
        inverse = ("v", key([Term(Fraction(1), part, {name: size})]))
        if inverse in inverses - part.keys():
            factors = {a: e for a, e in one.factors.items() if a not in part}
            factors[inverse] -= 1
            bound = {other: end for other, end in one.bound.items() if other != name}
            kept = {a: e for a, e in factors.items() if e}
            return _cancel(Term(one.coefficient, kept, bound))
    return one


# Normal form.


def normal(value: Value) -> Normal:
    """The normal form: monomials with canonically numbered indices, and coefficients."""
    found: Normal = {}
    for one in value:
        settled = settle(one)
        if settled is None:
            continue
        settled = _cancel(_plain_powers(settled))
        monomial = _numbered(settled)
        total = found.get(monomial, Fraction(0)) + settled.coefficient
        if total:
            found[monomial] = total
        else:
            found.pop(monomial, None)
    return found


def key(value: Value) -> Key:
    """The normal form as a sorted, hashable tuple."""
    return tuple(sorted(normal(value).items()))


def _plain_powers(one: Term) -> Term:
    """Squares of roots become sizes; powers of things that are 0 or 1 become themselves."""
    factors = dict(one.factors)
    for piece, exponent in one.factors.items():
        if piece[0] == "r":
            squares, rest = divmod(exponent, 2)
            size = ("s", piece[1])
            factors[size] = factors.get(size, 0) + squares
            factors[piece] = rest
        elif piece[0] in "dm" or piece[:2] == ("x", "binary"):
            factors[piece] = 1
    return Term(one.coefficient, {a: e for a, e in factors.items() if e}, one.bound)


def _numbered(one: Term) -> Monomial:
    """The term's monomial with bound indices numbered so that equal terms look equal."""
    if not one.bound:
        return (), tuple(sorted(one.factors.items()))
    h = _height(one.factors.items())
    marks = {name: _mark(one, name) for name in one.bound} if len(one.bound) > 1 else {}
    groups: dict[Any, list[str]] = {}
    for name in one.bound:
        groups.setdefault(marks.get(name), []).append(name)
    found: list[Monomial] = []
    for orders in product(*(permutations(groups[mark]) for mark in sorted(groups))):
        order = [name for group in orders for name in group]
        numbering = {name: (f"@{h}.{number}",) for number, name in enumerate(order)}
        factors = tuple(sorted(renamed(one, numbering).factors.items()))
        found.append((tuple(one.bound[name] for name in order), factors))
    return min(found)


def _mark(one: Term, name: str) -> Any:
    """What distinguishes a bound index from the others, whatever they are called."""
    seen = ((a[0], _traces(a)[name], e) for a, e in one.factors.items() if mentions(a, (name,)))
    return one.bound[name], tuple(sorted(seen))


@lru_cache(maxsize=1 << 14)
def _traces(one: Any) -> dict[str, tuple[tuple[str, int], ...]]:
    """For each index in an atom, what it stands at and in which position, all depths mixed."""
    found: dict[str, list[tuple[str, int]]] = {}
    for position, part in enumerate(one):
        if isinstance(part, tuple) and part and all(isinstance(piece, str) for piece in part):
            label = one[2] if one[0] == "x" else str(one[0])
            found.setdefault(part[0], []).append((label, position))
        elif isinstance(part, tuple):
            for name, traces in _traces(part).items():
                found.setdefault(name, []).extend(traces)
    return {name: tuple(sorted(traces)) for name, traces in found.items()}
