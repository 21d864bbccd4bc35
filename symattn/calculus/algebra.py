"""Sums of products of atoms, added and multiplied in normal form.

Each step from an expression to its normal form keeps its value where the
expression has one; equal normal forms are equal values. The converse is tried,
not promised.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import floor
from typing import Any

from symattn.calculus.atoms import (
    BOOLEAN,
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
    in_order,
    indices,
    led_back,
    order,
    plain,
    poly_text,
    put_into,
    scaled,
    without,
)
from symattn.calculus.language import Axis

_MOST_TERMS = 3000
"""A polynomial with more terms is given up."""
_MOST_SHIFTED = 8
"""Numbers added to places that are compared are taken apart up to this."""
_MOST_EXPONENT = 64
"""A sum of terms is multiplied out to this power at most."""
_OPEN = "pqf" + BOOLEAN
"""The kinds of atoms whose powers may be taken apart."""
_BOUND = "#%@"
"""The names of summed indices begin so."""


class Algebra:
    """Makes atoms and computes with sums of their products.

    ``positive`` are texts of atoms that are known to be above 0, and arrays all of whose
    entries are; ``booleans`` arrays of 0 and 1, ``symmetric`` matrices that are symmetric.
    """

    def __init__(self) -> None:
        self._atoms: dict[str, Atom] = {}
        self._fresh = 0
        self.positive: set[str] = set()
        self.booleans: set[str] = set()
        self.symmetric: set[str] = set()

    # -- atoms -----------------------------------------------------------------

    def make(
        self, kind: str, data: Any, text: str, names: Iterable[str] = (), height: int = 0
    ) -> Atom:
        """The atom of that text."""
        atom = self._atoms.get(text)
        if atom is None:
            atom = self._atoms[text] = Atom(kind, data, text, frozenset(names), height)
        return atom

    def fresh(self) -> str:
        """A name that no other index has."""
        self._fresh += 1
        return f"#{self._fresh}"

    def entry(self, name: str, at: tuple[At, ...]) -> Poly:
        """An entry of a given array."""
        if name in self.symmetric:
            at = tuple(sorted(at, key=at_text))
        text = f"{name}({','.join(map(at_text, at))})"
        return self.one(self.make("x", (name, at), text, _names(*at)))

    def size(self, axis: Axis) -> Poly:
        """The length of an axis."""
        if isinstance(axis, int):
            return self.number(axis)
        return self.one(self.make("s", axis, f"|{axis}|"))

    def constant(self, name: str) -> Poly:
        """A number known by its name."""
        return self.one(self.make("c", name, name))

    def position(self, at: At) -> Poly:
        """A place as a number."""
        name, offset, images = at
        if images:
            return self.one(self.make("i", at, f"no.{at_text(at)}", _names(at)))
        more = self.number(offset)
        if name == "=":
            return more
        if name.startswith("="):
            return add(self.size(name[1:]), more)
        bare = (name, 0, ())
        return add(self.one(self.make("i", bare, f"no.{at_text(bare)}", _names(bare))), more)

    def delta(self, first: At, second: At) -> Poly:
        """Kronecker's delta."""
        # All permutations to one side, numbers added to the other, the least text first.
        first = composed(first, led_back(second[2]))
        second = (*second[:2], ())
        if not first[2]:
            if first[0].startswith("="):
                first, second = second, first
            by = first[1] if second[0].startswith("=") else min(first[1], second[1])
            first, second = (first[0], first[1] - by, ()), (second[0], second[1] - by, ())
            if first == second:
                return self.number(1)
            if first[0] == second[0]:
                return {}
        other = composed(second, led_back(first[2])), (*first[:2], ())
        if not second[0].startswith("=") or first[2]:
            first, second = min((first, second), other, key=lambda two: (*map(at_text, two),))
        text = f"d({at_text(first)},{at_text(second)})"
        return self.one(self.make("d", (first, second), text, _names(first, second)))

    def at_most(self, first: At, second: At) -> Poly:
        """1 where the first place is not after the second, else 0."""
        if first[0] == second[0] and (first == second or not (first[2] or second[2])):
            return self.number(int(first[1] <= second[1]))
        if not first[2] and not second[2] and (first[1] or second[1]):
            shifted = self._shifted(first, second)
            if shifted is not None:
                return shifted
        if not (_is_fixed(first) and _is_fixed(second)):
            # Places to which a number is added may lie beyond the ends.
            if (first == FIRST and second[1] >= 0) or (_is_last(second) and first[1] <= 0):
                return self.number(1)
            if (second == FIRST and first[1] >= 0) or (_is_last(first) and second[1] <= 0):
                return self.delta(first, second)
        elif first == FIRST and _is_last(second):
            return self.number(1)
        if (second[0][0] in _BOUND) > (first[0][0] in _BOUND):
            # A summed index comes first.
            return self.flipped(first, second)
        return self._at_most(first, second)

    def flipped(self, first: At, second: At) -> Poly:
        """A comparison by the one in the other order."""
        other = add(self.number(1), self.delta(first, second))
        return add(other, scaled(self._at_most(second, first), -ONE))

    def _shifted(self, first: At, second: At) -> Poly | None:
        """A comparison of places to which numbers are added, by plain ones and deltas."""
        if "=" in (first[0], second[0]):
            return None
        by = second[1] - first[1]
        if abs(by) > _MOST_SHIFTED:
            return None
        at: At = (first[0], 0, ())
        total = self.at_most(at, (second[0], 0, ()))
        for k in range(abs(by)):
            met = self.delta(at, (second[0], k + 1 if by > 0 else -k, ()))
            total = add(total, met if by > 0 else scaled(met, -ONE))
        return total

    def _at_most(self, first: At, second: At) -> Poly:
        text = f"m({at_text(first)},{at_text(second)})"
        return self.one(self.make("m", (first, second), text, _names(first, second)))

    # -- sums and products -----------------------------------------------------

    @staticmethod
    def number(value: Fraction | int) -> Poly:
        """A rational number."""
        return {(): ONE if value == 1 else Fraction(value)} if value else {}

    @staticmethod
    def one(atom: Atom, exponent: Exponent = 1) -> Poly:
        """A power of an atom."""
        return {((atom, exponent),): ONE}

    def mul(self, left: Poly, right: Poly) -> Poly:
        """The product of two sums."""
        terms: Poly = {}
        for first, a in left.items():
            for second, b in right.items():
                mono, open_ = self.merged(first, second)
                factor = b if a is ONE else a if b is ONE else a * b
                if open_:
                    for more, c in self.settled(mono).items():
                        put_into(terms, more, factor * c)
                else:
                    put_into(terms, mono, factor)
            if len(terms) > _MOST_TERMS:
                raise NoNormalForm("too many terms")
        return terms

    def product(self, parts: Iterable[Poly]) -> Poly:
        """The product of several sums."""
        product = self.number(1)
        for part in parts:
            product = self.mul(product, part)
        return product

    def times(self, poly: Poly, exponent: int) -> Poly:
        """A power with a whole exponent from 0."""
        if exponent > _MOST_EXPONENT and len(poly) > 1:
            raise NoNormalForm("too high a power of a sum")
        if len(poly) == 1:
            ((mono, c),) = poly.items()
            raised = tuple((atom, e * exponent) for atom, e in mono) if exponent else ()
            if not any(self._open(atom, e) for atom, e in raised):
                return {raised: c**exponent}
        power = self.number(1)
        while exponent:
            if exponent & 1:
                power = self.mul(power, poly)
            exponent >>= 1
            if exponent:
                poly = self.mul(poly, poly)
        return power

    def merged(self, first: Mono, second: Iterable[tuple[Atom, Exponent]]) -> tuple[Mono, bool]:
        """The product of two products, and whether an atom in it is to be taken apart."""
        exponents = dict(first)
        open_ = compared = False
        for atom, e in second:
            total = exponents.get(atom, 0) + e
            if atom.kind in BOOLEAN:
                exponents[atom] = 1
            elif total:
                exponents[atom] = plain(total)
            else:
                del exponents[atom]
        mono = tuple(sorted(exponents.items(), key=order))
        for atom, e in mono:
            if atom.kind in _OPEN:
                open_ |= self._open(atom, e)
                compared |= atom.kind == "m"
        return mono, open_ or (compared and _is_settled_by_order(mono))

    @staticmethod
    def _open(atom: Atom, e: Exponent) -> bool:
        kind = atom.kind
        if kind == "p":
            return e >= 1
        if kind == "q":
            return not 0 < e < 1
        if kind == "f":
            return e > 1 and atom.data[0] == "cos"
        return kind in BOOLEAN and e != 1

    def settled(self, mono: Mono) -> Poly:
        """A product in which powers of sums, of primes and of cosines are multiplied out."""
        kept, product = [], self.number(1)
        for atom, other in _reversed(mono):
            return self.mul({without(mono, atom, other): ONE}, self.delta(*atom.data))
        mono = without(mono, *_implied(mono))
        for atom, e in mono:
            if not self._open(atom, e):
                kept.append((atom, e))
                continue
            if atom.kind in BOOLEAN:
                kept.append((atom, 1))
                continue
            whole = floor(e)
            rest = e - whole
            if atom.kind == "q":
                product = scaled(product, Fraction(atom.data) ** whole)
            elif atom.kind == "p":
                product = self.mul(product, self.times(dict(atom.data), whole))
            else:
                sine = self.one(self.function("sin", dict(atom.data[1])))
                square = add(self.number(1), scaled(self.times(sine, 2), -ONE))
                product = self.mul(product, self.times(square, whole // 2))
                rest = whole % 2
            if rest:
                kept.append((atom, plain(rest)))
        return self.mul({tuple(kept): ONE}, product)

    def function(self, name: str, of: Poly) -> Atom:
        """A function that is not taken apart."""
        return self.composite("f", (name, in_order(of)), f"{name}({poly_text(of)})", of)

    def of_sum(self, kind: str, word: str, of: Poly) -> Atom:
        """An atom that is made of a sum: a logarithm, a step, the base of powers."""
        return self.composite(kind, in_order(of), f"{word}({poly_text(of)})", of)

    def composite(self, kind: str, data: Any, text: str, of: Iterable[Mono]) -> Atom:
        """The atom of that text, made of products."""
        return self.make(kind, data, text, indices(*of), height(*of))


def _compared(mono: Mono) -> list[Atom]:
    return [atom for atom, _ in mono if atom.kind == "m"]


def _reversed(mono: Mono) -> Iterable[tuple[Atom, Atom]]:
    """Comparisons of two places both ways: together they say that the places are one."""
    comparisons = {atom.data: atom for atom in _compared(mono)}
    for (first, second), atom in comparisons.items():
        if (second, first) in comparisons:
            yield atom, comparisons[second, first]


def _implied(mono: Mono) -> Iterable[Atom]:
    """Comparisons that follow from two others."""
    comparisons = {atom.data: atom for atom in _compared(mono)}
    for first, middle in comparisons:
        for other, last in comparisons:
            if middle == other and (first, last) in comparisons:
                yield comparisons[first, last]


def _is_settled_by_order(mono: Mono) -> bool:
    """Whether comparisons in a product make others of it plain."""
    if len(_compared(mono)) < 2:
        return False
    return any(True for _ in _reversed(mono)) or any(True for _ in _implied(mono))


def _is_fixed(at: At) -> bool:
    """Whether a place is no index: a number, or counted from the end of an axis."""
    return at[0].startswith("=")


def _is_last(at: At) -> bool:
    return at[0].startswith("=") and at[0] != "=" and at[1:] == (0, ())


def _names(*at: At) -> frozenset[str]:
    return frozenset(name for name, _, _ in at if not name.startswith("="))
