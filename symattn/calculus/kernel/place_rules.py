"""Rules for deltas and comparisons of places."""

from __future__ import annotations

from typing import Any

from symattn.calculus.kernel.computing import Computing
from symattn.calculus.kernel.rule_table import MOST_WRITTEN, check, only, rule
from symattn.calculus.kernel.terms import (
    UNIT,
    Atom,
    Mono,
    Place,
    Poly,
    Unproved,
    add,
    is_index,
    minus,
    number,
    ordered,
    put_into,
    scaled,
    without,
)
from symattn.calculus.language import Index


@rule
def transport(kernel: Computing, mono: Mono, delta: Atom) -> Poly:
    """``delta(i, p) f(i) = delta(i, p) f(p)``."""
    check(delta.kind == "d" and (delta, 1) in mono)
    index, place = identified(delta)
    rest = kernel.put({without(mono, delta): UNIT}, {index: place})
    return _times_boolean(rest, delta)


def identified(delta: Atom) -> tuple[Index, Place]:
    """An index that a delta says to be another place, and that place."""
    first, second = delta.data
    for at, other in ((second, first), (first, second)):
        if is_index(at) and other[0] != at[0]:
            return at[0], other
    raise Unproved("a delta of no index")


def is_identity(delta: Atom) -> bool:
    """Whether a delta says that an index is another place."""
    first, second = delta.data
    ways = ((second, first), (first, second))
    return any(is_index(at) and other[0] != at[0] for at, other in ways)


def _times_boolean(poly: Poly, atom: Atom) -> Poly:
    """A term times what is 0 or 1, as it stands."""
    total: Poly = {}
    for mono, c in poly.items():
        put_into(total, ordered([*without(mono, atom), (atom, 1)]), c)
    return total


@rule
def antisymmetry(kernel: Computing, mono: Mono, pair: tuple[Atom, Atom]) -> Poly:
    """Comparisons of two places both ways: together they say that the places are one."""
    first, second = pair
    check(first.kind == second.kind == "m" and first.data == second.data[::-1])
    check((first, 1) in mono and (second, 1) in mono)
    return kernel.mul({without(mono, first, second): UNIT}, kernel.equal(*first.data))


@rule
def transitivity(kernel: Computing, mono: Mono, three: tuple[Atom, Atom, Atom]) -> Poly:
    """A comparison that follows from two others is 1 beside them."""
    first, second, last = three
    check(all(atom.kind == "m" and (atom, 1) in mono for atom in three))
    check(first.data[1] == second.data[0] and last.data == (first.data[0], second.data[1]))
    check(last is not first and last is not second)
    return kernel.settled(without(mono, last))


@rule
def reversal(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """``step(i <= k) = 1 + delta(i, k) - step(k <= i)``."""
    atom, e = only(mono, "m")
    check(e == 1)
    first, second = atom.data
    other = kernel.at_most(second, first)
    return minus(add(number(1), kernel.equal(first, second)), other)


@rule
def shift(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """``step(i <= k + 1) = step(i <= k) + delta(i, k + 1)``, and so on."""
    atom, e = only(mono, "m")
    check(e == 1)
    (base, a, images), (other, b, more) = atom.data
    check(not images and not more and base is not None and other is not None)
    by, at = b - a, (base, 0, ())
    check(abs(by) <= MOST_WRITTEN)
    total = kernel.at_most(at, (other, 0, ()))
    for k in range(abs(by)):
        met = kernel.equal(at, (other, k + 1 if by > 0 else -k, ()))
        total = add(total, met if by > 0 else scaled(met, -1))
    return total
