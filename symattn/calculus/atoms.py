"""Sums of products over sizes that stay symbols, in a normal form.

A :data:`Poly` maps products of powers of atoms to rational coefficients. An atom
is made once, under a text that tells it from all others: an entry, a delta, a
size, the exponential of a product, a sum over indices, and so on. A sum over
indices is one atom, whose indices are numbered in a way that does not depend on
what they were called; a product of independent sums is a product of atoms, so
that a ninth power of a sum is as short as the sum.

Each step from an expression to its normal form keeps its value where the
expression has one; equal normal forms are equal values. The converse is tried,
not promised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import permutations, product
from math import floor
from typing import Any, TypeAlias

from symattn.calculus.language import Axis
from symattn.calculus.matching import matches

At: TypeAlias = tuple[str, int, tuple[tuple[str, int], ...]]
"""A place: a name (an index, ``=`` for 0, ``=n`` for the last place of an axis), a
number added to it, and the permutations it then goes through, each forth or back."""
Exponent: TypeAlias = int | Fraction
Mono: TypeAlias = "tuple[tuple[Atom, Exponent], ...]"
Poly: TypeAlias = dict[Mono, Fraction]

ONE = Fraction(1)
MOST_TERMS = 3000
"""A polynomial with more terms is given up."""
MOST_ORDERS = 800
"""So many orders of the indices of one sum are compared."""
MOST_BOUND = 7
"""Indices of one sum are at most so many."""
MOST_SHIFTED = 8
"""Numbers added to places that are compared are taken apart up to this."""
MOST_WRITTEN = 8
"""Sums over axes of fixed length up to this are written out."""
MOST_EXPONENT = 64
"""A sum of terms is multiplied out to this power at most."""
_BOOLEAN = "dmh"
_OPEN = "pqf" + _BOOLEAN
"""The kinds of atoms whose powers may be taken apart."""
_BOUND = "#%@"
"""The names of summed indices begin so."""
FIRST: At = ("=", 1, ())


class Undecided(Exception):
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
    return "*".join(one.text if e == 1 else f"{one.text}^{e}" for one, e in mono)


def poly_text(poly: Poly) -> str:
    """A sum as text; equal sums have equal texts."""
    return "+".join(sorted(f"{c}.{mono_text(mono)}" for mono, c in poly.items()))


def order(pair: tuple[Atom, Exponent]) -> str:
    """The order of the factors of a product."""
    return pair[0].text


def _plain(exponent: Exponent) -> Exponent:
    if isinstance(exponent, int) or exponent.denominator > 1:
        return exponent
    return int(exponent)


class Algebra:
    """Makes atoms and computes with sums of their products.

    ``positive`` are texts of atoms that are known to be above 0, and arrays all of whose
    entries are; ``booleans`` arrays of 0 and 1, ``symmetric`` matrices that are symmetric.
    """

    def __init__(self) -> None:
        self._atoms: dict[str, Atom] = {}
        self._moved: dict[tuple[Atom, tuple[tuple[str, At], ...]], Poly] = {}
        self._stands: dict[Atom, list[tuple[str, tuple[tuple[str, str], ...]]]] = {}
        self._fresh = 0
        self.positive: set[str] = set()
        self.booleans: set[str] = set()
        self.symmetric: set[str] = set()
        self.exists: set[tuple[Axis, At]] = set()

    # -- atoms -----------------------------------------------------------------

    def make(
        self, kind: str, data: Any, text: str, names: Iterable[str] = (), height: int = 0
    ) -> Atom:
        """The atom of that text."""
        found = self._atoms.get(text)
        if found is None:
            found = self._atoms[text] = Atom(kind, data, text, frozenset(names), height)
        return found

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
        first = composed(first, _back(second[2]))
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
        other = composed(second, _back(first[2])), (*first[:2], ())
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
        bound = [one[0][0] in _BOUND for one in (first, second)]
        if bound[1] > bound[0]:
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
        if abs(by) > MOST_SHIFTED:
            return None
        found = self.at_most((first[0], 0, ()), (second[0], 0, ()))
        for k in range(abs(by)):
            met = (second[0], k + 1 if by > 0 else -k, ())
            found = add(
                found, scaled(self.delta((first[0], 0, ()), met), Fraction(1 if by > 0 else -1))
            )
        return found

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
        found: Poly = {}
        for first, a in left.items():
            for second, b in right.items():
                mono, open_ = self._merged(first, second)
                factor = b if a is ONE else a if b is ONE else a * b
                if open_:
                    for more, c in self._settled(mono).items():
                        _put(found, more, factor * c)
                else:
                    _put(found, mono, factor)
            if len(found) > MOST_TERMS:
                raise Undecided("too many terms")
        return found

    def product(self, parts: Iterable[Poly]) -> Poly:
        """The product of several sums."""
        found = self.number(1)
        for one in parts:
            found = self.mul(found, one)
        return found

    def times(self, poly: Poly, exponent: int) -> Poly:
        """A power with a whole exponent from 0."""
        if exponent > MOST_EXPONENT and len(poly) > 1:
            raise Undecided("too high a power of a sum")
        if len(poly) == 1:
            ((mono, c),) = poly.items()
            raised = tuple((one, e * exponent) for one, e in mono) if exponent else ()
            if not any(self._open(one, e) for one, e in raised):
                return {raised: c**exponent}
        found = self.number(1)
        while exponent:
            if exponent & 1:
                found = self.mul(found, poly)
            exponent >>= 1
            if exponent:
                poly = self.mul(poly, poly)
        return found

    def _merged(self, first: Mono, second: Iterable[tuple[Atom, Exponent]]) -> tuple[Mono, bool]:
        """The product of two products, and whether an atom in it is to be taken apart."""
        found = dict(first)
        open_ = compared = False
        for one, e in second:
            total = found.get(one, 0) + e
            if one.kind in _BOOLEAN:
                found[one] = 1
            elif total:
                found[one] = _plain(total)
            else:
                del found[one]
        mono = tuple(sorted(found.items(), key=order))
        for one, e in mono:
            if one.kind in _OPEN:
                open_ |= self._open(one, e)
                compared |= one.kind == "m"
        return mono, open_ or (compared and _is_settled_by_order(mono))

    @staticmethod
    def _open(one: Atom, e: Exponent) -> bool:
        kind = one.kind
        if kind == "p":
            return e >= 1
        if kind == "q":
            return not 0 < e < 1
        if kind == "f":
            return e > 1 and one.data[0] == "cos"
        return kind in _BOOLEAN and e != 1

    def _settled(self, mono: Mono) -> Poly:
        """A product in which powers of sums, of primes and of cosines are multiplied out."""
        kept, found = [], self.number(1)
        for one, other in _reversed(mono):
            rest_ = tuple(pair for pair in mono if pair[0] is not one and pair[0] is not other)
            return self.mul({rest_: ONE}, self.delta(*one.data))
        mono = tuple(pair for pair in mono if pair[0] not in set(_implied(mono)))
        for one, e in mono:
            if not self._open(one, e):
                kept.append((one, e))
                continue
            if one.kind in _BOOLEAN:
                kept.append((one, 1))
                continue
            whole = floor(e)
            rest = e - whole
            if one.kind == "q":
                found = scaled(found, Fraction(one.data) ** whole)
            elif one.kind == "p":
                found = self.mul(found, self.times(dict(one.data), whole))
            else:
                sine = self.one(self.function("sin", dict(one.data[1])))
                square = add(self.number(1), scaled(self.times(sine, 2), -ONE))
                found = self.mul(found, self.times(square, whole // 2))
                rest = whole % 2
            if rest:
                kept.append((one, _plain(rest)))
        return self.mul({tuple(kept): ONE}, found)

    def function(self, name: str, of: Poly) -> Atom:
        """A function that is not taken apart."""
        names = frozenset().union(*(one.names for mono in of for one, _ in mono))
        height = max((one.height for mono in of for one, _ in mono), default=0)
        data = (name, tuple(sorted(of.items(), key=lambda item: mono_text(item[0]))))
        return self.make("f", data, f"{name}({poly_text(of)})", names, height)

    def of_sum(self, kind: str, word: str, of: Poly) -> Atom:
        """An atom that is made of a sum: a logarithm, a step, the base of powers."""
        names = frozenset().union(*(one.names for mono in of for one, _ in mono))
        height = max((one.height for mono in of for one, _ in mono), default=0)
        data = tuple(sorted(of.items(), key=lambda item: mono_text(item[0])))
        return self.make(kind, data, f"{word}({poly_text(of)})", names, height)

    # -- signs -----------------------------------------------------------------

    def is_positive(self, poly: Poly) -> bool:
        """Whether a sum is seen to be above 0."""
        if self.never_negative(poly) and any(
            all(self.above(one, e) for one, e in mono) for mono in poly
        ):
            return True
        return poly_text(poly) in self.positive

    def never_negative(self, poly: Poly) -> bool:
        """Whether a sum is seen not to be below 0."""
        return bool(poly) and all(
            c > 0 and all(self.above(one, e) or self._not_below(one, e) for one, e in mono)
            for mono, c in poly.items()
        )

    def above(self, one: Atom, e: Exponent) -> bool:
        """Whether a power of an atom is seen to be above 0."""
        match one.kind:
            case "e" | "s" | "q" | "i" | "c":
                return True
            case "S":
                return (
                    all(
                        self.above(inner, k) or (len(one.data[0]) == 1 and _meets(inner))
                        for inner, k in one.data[1]
                    )
                    and sum(inner.kind == "m" for inner, _ in one.data[1]) <= 1
                )
            case "p":
                return self.is_positive(dict(one.data))
            case "x":
                return one.data[0] in self.positive or one.text in self.positive
        return one.text in self.positive

    def _not_below(self, one: Atom, e: Exponent) -> bool:
        if one.kind in _BOOLEAN:
            return True
        if one.kind == "S":
            return all(self.above(a, k) or self._not_below(a, k) for a, k in one.data[1])
        return (isinstance(e, int) and e % 2 == 0) or isinstance(e, Fraction)

    # -- renaming --------------------------------------------------------------

    def moved(self, poly: Poly, to: Mapping[str, At]) -> Poly:
        """The sum with indices replaced by places."""
        found: Poly = {}
        for mono, c in poly.items():
            if not any(name in to for one, _ in mono for name in one.names):
                _put(found, mono, c)
                continue
            for more, k in self._mono_moved(mono, to).items():
                _put(found, more, c if k is ONE else c * k)
        return found

    def _mono_moved(self, mono: Mono, to: Mapping[str, At]) -> Poly:
        pairs: list[tuple[Atom, Exponent]] = []
        sums: list[Poly] = []
        factor = ONE
        for one, e in mono:
            if one.names.isdisjoint(to):
                pairs.append((one, e))
                continue
            moved = self._atom_moved(one, to)
            if e != 1:
                moved = self.raised(moved, e)
            if len(moved) == 1:
                ((more, c),) = moved.items()
                pairs += more
                if c is not ONE:
                    factor *= c
            else:
                sums.append(moved)
        found = self._of_pairs(pairs, factor)
        for one_sum in sums:
            found = self.mul(found, one_sum)
        return found

    def _of_pairs(self, pairs: Iterable[tuple[Atom, Exponent]], c: Fraction) -> Poly:
        """A number times powers in any order, of which several may be of one atom."""
        mono, open_ = self._merged((), pairs)
        return scaled(self._settled(mono), c) if open_ else {mono: c}

    def _atom_moved(self, one: Atom, to: Mapping[str, At]) -> Poly:
        here = tuple(sorted((name, at) for name, at in to.items() if name in one.names))
        key = (one, here)
        if key not in self._moved:
            self._moved[key] = self._rebuilt(one, dict(here))
        return self._moved[key]

    def _rebuilt(self, one: Atom, to: Mapping[str, At]) -> Poly:
        match one.kind:
            case "x":
                name, at = one.data
                return self.entry(name, tuple(put(place, to) for place in at))
            case "d":
                return self.delta(*(put(place, to) for place in one.data))
            case "m":
                return self.at_most(*(put(place, to) for place in one.data))
            case "i":
                return self.position(put(one.data, to))
            case "e":
                return self.exp(self._mono_moved(one.data, to))
            case "l":
                return self.log(self.moved(dict(one.data), to))
            case "p":
                return self.moved(dict(one.data), to)
            case "f":
                name, of = one.data
                return self.apply(name, self.moved(dict(of), to))
            case "h":
                return self.above_zero(self.moved(dict(one.data), to))
            case "S":
                return self._sum_moved(one, to)
        raise AssertionError(one.kind)

    def _sum_moved(self, one: Atom, to: Mapping[str, At]) -> Poly:
        if _renames(one, to):
            # It is as short as it was; only the order of its indices may change.
            axes, factors = one.data
            moved = self._mono_moved(factors, to)
            if len(moved) == 1:
                ((mono, c),) = moved.items()
                bounds = {f"@{one.height}.{k}": axis for k, axis in enumerate(axes)}
                return scaled(self._sum(mono, bounds), c)
        bounds, found = self.opened(one)
        return self._bound_all(self.moved(found, to), bounds)

    def opened(self, one: Atom) -> tuple[dict[str, Axis], Poly]:
        """The indices of a sum, under fresh names, and what is summed."""
        axes, factors = one.data
        fresh = [self.fresh() for _ in axes]
        to = {f"@{one.height}.{k}": (name, 0, ()) for k, name in enumerate(fresh)}
        return dict(zip(fresh, axes, strict=True)), self._mono_moved(factors, to)

    # -- summing ---------------------------------------------------------------

    def bind(self, poly: Poly, name: str, axis: Axis) -> Poly:
        """The sum over all places that an index can take."""
        found: Poly = {}
        if isinstance(axis, int) and axis <= MOST_WRITTEN:
            for place in range(1, axis + 1):
                found = add(found, self.moved(poly, {name: ("=", place, ())}))
            return found
        for mono, c in self.reduced(poly, name).items():
            for more, k in self._bound(mono, name, axis).items():
                _put(found, more, c if k is ONE else c * k)
        return found

    def _bound(self, mono: Mono, name: str, axis: Axis) -> Poly:
        inside = tuple(pair for pair in mono if name in pair[0].names)
        outside = tuple(pair for pair in mono if name not in pair[0].names)
        front: Poly = {outside: ONE}
        if not inside:
            return self.mul(front, self.size(axis))
        for one, _ in inside:
            if one.kind == "d" and (at := self._solved(one.data, name, axis)) is not None:
                rest = tuple(pair for pair in inside if pair[0] is not one)
                return self.mul(front, self._mono_moved(rest, {name: at}))
        plain = self._counted(inside, name, axis)
        if plain is not None:
            return self.mul(front, plain)
        bounds: dict[str, Axis] = {name: axis}
        flat: Poly = {(): ONE}
        for one, e in inside:
            if one.kind == "S" and isinstance(e, int) and e > 0:
                for _ in range(e):
                    more, summed = self.opened(one)
                    bounds |= more
                    flat = self.mul(flat, summed)
            else:
                flat = self.mul(flat, self.one(one, e))
            if len(bounds) > MOST_BOUND:
                raise Undecided("a sum over too many indices at once")
        if len(flat) != 1:
            raise Undecided("a sum that falls into parts")
        ((factors, c),) = flat.items()
        for inner, length in bounds.items() if len(bounds) > 1 else ():
            mine = tuple(pair for pair in factors if inner in pair[0].names)
            counted = self._counted(mine, inner, length) if mine else None
            if counted is not None:
                rest = tuple(pair for pair in factors if inner not in pair[0].names)
                found = self.mul({rest: c}, counted)
                for other, size in bounds.items():
                    if other != inner:
                        found = self.bind(found, other, size)
                return self.mul(front, found)
        factors = self._contracted(factors, bounds)
        for part in self._components(factors, bounds):
            front = self.mul(front, part)
        return scaled(front, c)

    def _contracted(self, factors: Mono, bounds: dict[str, Axis]) -> Mono:
        """A product in which sums that are there below are found above as well:
        ``exp(S[i, j]) / Z[i]`` summed over j is 1."""
        for below, e in factors:
            if below.kind != "S" or e >= 0 or len(below.data[0]) != 1:
                continue
            (axis,), inner = below.data
            held = f"@{below.height}.0"
            for names, rest in matches(list(inner), factors, {}, {held}):
                name, offset, images = names.get(held, ("", 0, ()))
                if offset or images or bounds.get(name) != axis:
                    continue
                if any(name in one.names for one, _ in rest):
                    continue
                del bounds[name]
                found = dict(rest)
                found[below] = _plain(found.get(below, 0) + 1)
                kept = {one: k for one, k in found.items() if k}
                mono = tuple(sorted(kept.items(), key=order))
                return self._contracted(mono, bounds)
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
                for one, _ in rest:
                    linked = one.names & left.keys()
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
        ways = {images for one, _ in factors for images in _images(one, name)}
        best = factors
        for images in ways:
            poly = self._mono_moved(factors, {name: (name, 0, _back(images))})
            if len(poly) == 1:
                ((mono, c),) = poly.items()
                if c == 1 and (len(mono_text(mono)), mono_text(mono)) < (
                    len(mono_text(best)),
                    mono_text(best),
                ):
                    best = mono
        return best

    def _in_order(self, factors: Mono, bounds: Mapping[str, Axis]) -> Poly:
        """A sum in which of two summed places that are compared always the same comes first,
        and none where they may be exchanged: then it is half of all pairs, and of one place."""
        compared = [
            one
            for one, _ in factors
            if one.kind == "m" and all(at[0] in bounds and at[1:] == (0, ()) for at in one.data)
        ]
        if not compared:
            return self._sum(factors, bounds)
        plain = tuple(pair for pair in factors if pair[0] not in compared)
        colours = self._colours(plain, bounds)
        for one in compared:
            first, second = one.data
            rest = tuple(pair for pair in factors if pair[0] is not one)
            if colours[first[0]] > colours[second[0]]:
                found = self.mul({rest: ONE}, self.flipped(first, second))
                return self._bound_all(found, bounds)
            if colours[first[0]] == colours[second[0]] and len(bounds) == 2:
                to = {first[0]: second, second[0]: first}
                if self._mono_moved(rest, to) == {rest: ONE}:
                    met = add(self.number(1), self.delta(first, second))
                    found = self._bound_all(self.mul({rest: ONE}, met), bounds)
                    return scaled(found, Fraction(1, 2))
        return self._sum(factors, bounds)

    def _bound_all(self, poly: Poly, bounds: Mapping[str, Axis]) -> Poly:
        for name, axis in bounds.items():
            poly = self.bind(poly, name, axis)
        return poly

    def _sum(self, factors: Mono, bounds: Mapping[str, Axis]) -> Poly:
        """A sum as an atom, its indices numbered so that equal sums look equal."""
        height = 1 + max((one.height for one, _ in factors), default=0)
        names = frozenset().union(*(one.names for one, _ in factors)) - bounds.keys()
        found: dict[str, tuple[Mono, tuple[Axis, ...], set[Fraction]]] = {}
        for order in self._orders(factors, bounds):
            to: dict[str, At] = {name: (f"@{height}.{k}", 0, ()) for k, name in enumerate(order)}
            poly = self._mono_moved(factors, to)
            if len(poly) != 1:
                raise Undecided("a sum that falls into parts")
            ((mono, c),) = poly.items()
            axes = tuple(bounds[name] for name in order)
            text = f"S{list(axes)}({mono_text(mono)})"
            found.setdefault(text, (mono, axes, set()))[2].add(c)
        text = min(found)
        mono, axes, signs = found[text]
        if len(signs) > 1:
            # It is its own negative.
            return {}
        return scaled(self.one(self.make("S", (axes, mono), text, names, height)), signs.pop())

    def _orders(self, factors: Mono, bounds: Mapping[str, Axis]) -> Iterable[list[str]]:
        """The orders of summed indices in which a sum can look its least."""
        if len(bounds) == 1:
            return [list(bounds)]
        groups: dict[int, list[str]] = {}
        for name, colour in self._colours(factors, bounds).items():
            groups.setdefault(colour, []).append(name)
        ways = 1
        for group in groups.values():
            for k in range(len(group)):
                ways *= k + 1
        if ways > MOST_ORDERS:
            raise Undecided("a sum over too many indices that look alike")
        choices = product(*(permutations(groups[colour]) for colour in sorted(groups)))
        return ([name for group in one for name in group] for one in choices)

    def _colours(self, factors: Mono, bounds: Mapping[str, Axis]) -> dict[str, int]:
        """Numbers for summed indices that tell apart those with different parts in a sum,
        whatever they are called: from where they stand, and beside which others."""
        stand = [
            (f"{e}{path}", at)
            for one, e in factors
            if not one.names.isdisjoint(bounds)
            for path, at in self._standing(one)
        ]
        colours = _numbered({name: str(axis) for name, axis in bounds.items()})
        for _ in range(len(bounds)):
            marks: dict[str, list[str]] = {name: [] for name in bounds}
            for path, at in stand:
                if any(name in bounds for name, _ in at):
                    told = [f"{colours.get(name, _shown(name))}{more}" for name, more in at]
                    alike = path.endswith("~")
                    if alike:
                        told.sort()
                    for k, (name, more) in enumerate(at):
                        if name in bounds:
                            marks[name].append(f"{path}{more if alike else k}{told}")
            before = len(set(colours.values()))
            colours = _numbered(
                {name: f"{colours[name]:03}{sorted(marks[name])}" for name in bounds}
            )
            if len(set(colours.values())) in (before, len(bounds)):
                break
        return colours

    def _standing(self, one: Atom) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
        """Where indices stand in an atom: a word for what leads there, ending in ``~`` where
        places may be exchanged, and the places there, each a name and what is done to it."""
        if one not in self._stands:
            match one.kind:
                case "x":
                    name, at = one.data
                    found = [(f"{name}{'~' if name in self.symmetric else ' '}", _told(at))]
                case "d":
                    found = [("d~", _told(one.data))]
                case "m":
                    found = [("m", _told(one.data))]
                case "i":
                    found = [("i", _told((one.data,)))]
                case _:
                    found = [
                        (f"{one.kind}{c}.{e}{path}", at)
                        for mono, c in parts(one)
                        for inner, e in mono
                        for path, at in self._standing(inner)
                    ]
            self._stands[one] = found
        return self._stands[one]

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
        for one, other in (pair, pair[::-1]):
            if one[:2] == (name, 0) and other[0] != name:
                certain = other[1] == 0 and other[0] != "="
                if certain or other == FIRST or (axis, other) in self.exists:
                    return composed(other, _back(one[2]))
        return None

    def _faulhaber(self, size: Poly, power: int) -> Poly:
        found: Poly = {}
        for degree, c in _FAULHABER[power - 1].items():
            found = add(found, scaled(self.times(size, degree), Fraction(c)))
        return found

    # What :class:`symattn.calculus.powers.Powers` adds.

    def exp(self, poly: Poly) -> Poly:
        """The exponential of a sum."""
        raise NotImplementedError

    def log(self, poly: Poly) -> Poly:
        """The logarithm of a sum that is above 0."""
        raise NotImplementedError

    def raised(self, poly: Poly, exponent: Exponent) -> Poly:
        """A rational power of a sum."""
        raise NotImplementedError

    def apply(self, name: str, poly: Poly) -> Poly:
        """A function that has no algebra here but its symmetries."""
        raise NotImplementedError

    def above_zero(self, poly: Poly) -> Poly:
        """1 where a sum is above 0, else 0."""
        raise NotImplementedError

    def limit_by_parts(self, one: Atom, known: Callable[[Atom], Poly | None]) -> Poly | None:
        """A limit that stands as it is, by those of its parts that are known and finite."""
        raise NotImplementedError

    def reduced(self, poly: Poly, name: str) -> Poly:
        """The sum with quotients in an index cancelled."""
        raise NotImplementedError


_FAULHABER: list[dict[int, str]] = [
    {1: "1/2", 2: "1/2"},
    {1: "1/6", 2: "1/2", 3: "1/3"},
    {2: "1/4", 3: "1/2", 4: "1/4"},
    {1: "-1/30", 3: "1/3", 4: "1/2", 5: "1/5"},
]
"""The sums of first, second, third and fourth powers of 1, ..., n."""


def add(left: Poly, right: Poly) -> Poly:
    """The sum of two sums."""
    if len(left) < len(right):
        left, right = right, left
    if not right:
        return left
    found = dict(left)
    for mono, c in right.items():
        _put(found, mono, c)
    return found


def scaled(poly: Poly, by: Fraction) -> Poly:
    """A sum times a number."""
    if by == 1:
        return poly
    return {mono: c * by for mono, c in poly.items()} if by else {}


def _put(into: Poly, mono: Mono, c: Fraction) -> None:
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
    found = list(at[2])
    for name, way in images:
        if found and found[-1] == (name, -way):
            found.pop()
        else:
            found.append((name, way))
    return at[0], at[1], tuple(found)


def put(at: At, to: Mapping[str, At]) -> At:
    """A place with its index replaced."""
    name, offset, images = at
    if name not in to:
        return at
    other = to[name]
    if offset and other[2]:
        raise Undecided("a number added to where a permutation sends an index")
    return composed((other[0], other[1] + offset, other[2]), images)


def _back(images: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """The permutations that undo others."""
    return tuple((name, -way) for name, way in reversed(images))


def identified(delta: Atom) -> dict[str, At] | None:
    """Where a delta is 1: one index replaced by the other place."""
    first, second = delta.data
    for one, other in ((second, first), (first, second)):
        if not one[0].startswith("=") and one[1:] == (0, ()) and other[0] != one[0]:
            return {one[0]: other}
    return None


def _meets(one: Atom) -> bool:
    """Whether a comparison of one summed index holds somewhere: at the first place or the last."""
    if one.kind != "m":
        return False
    (first, *more), (second, *other) = one.data
    return (first[0] == "@") != (second[0] == "@") and [*more, *other] == [0, (), 0, ()]


def _renames(one: Atom, to: Mapping[str, At]) -> bool:
    """Whether indices of an atom get other names and nothing else happens to it."""
    names = {name for name in one.names if name not in to}
    for name in one.names & to.keys():
        other, offset, images = to[name]
        if offset or images or other.startswith("=") or other in names:
            return False
        names.add(other)
    return True


def _compared(mono: Mono) -> list[Atom]:
    return [one for one, _ in mono if one.kind == "m"]


def _reversed(mono: Mono) -> Iterable[tuple[Atom, Atom]]:
    """Comparisons of two places both ways: together they say that the places are one."""
    found = {one.data: one for one in _compared(mono)}
    for (first, second), one in found.items():
        if (second, first) in found:
            yield one, found[second, first]


def _implied(mono: Mono) -> Iterable[Atom]:
    """Comparisons that follow from two others."""
    found = {one.data: one for one in _compared(mono)}
    for first, middle in found:
        for other, last in found:
            if middle == other and (first, last) in found:
                yield found[first, last]


def _is_settled_by_order(mono: Mono) -> bool:
    """Whether comparisons in a product make others of it plain."""
    if len(_compared(mono)) < 2:
        return False
    return any(True for _ in _reversed(mono)) or any(True for _ in _implied(mono))


def parts(one: Atom) -> Iterable[tuple[Mono, Fraction]]:
    """The products that an atom is made of, each with its factor."""
    match one.kind:
        case "e":
            return [(one.data, ONE)]
        case "S":
            return [(one.data[1], ONE)]
        case "l" | "p" | "h":
            return list(one.data)
        case "f":
            return list(one.data[1])
    return []


def _told(at: Iterable[At]) -> tuple[tuple[str, str], ...]:
    """Places by their names and what is done to each."""
    return tuple((name, at_text(("", offset, images))) for name, offset, images in at)


def _shown(name: str) -> str:
    """The name of an index that is not summed here; those of sums inside don't matter."""
    return "@" if name.startswith("@") else name


def _numbered(marks: Mapping[str, str]) -> dict[str, int]:
    """Numbers for names, equal for equal marks, in the order of the marks."""
    order_of = {mark: k for k, mark in enumerate(sorted(set(marks.values())))}
    return {name: order_of[mark] for name, mark in marks.items()}


def _images(one: Atom, name: str) -> Iterable[tuple[tuple[str, int], ...]]:
    """The permutations that an index goes through in an atom."""
    match one.kind:
        case "x":
            places = one.data[1]
        case "d" | "m":
            places = one.data
        case "i":
            places = (one.data,)
        case "e":
            return [found for a, _ in one.data for found in _images(a, name)]
        case "S":
            return [found for a, _ in one.data[1] for found in _images(a, name)]
        case "f":
            return [found for mono, _ in one.data[1] for a, _ in mono for found in _images(a, name)]
        case "l" | "p" | "h":
            return [found for mono, _ in one.data for a, _ in mono for found in _images(a, name)]
        case _:
            return []
    return [at[2] for at in places if at[0] == name and at[2] and not at[1]]


def _is_fixed(at: At) -> bool:
    """Whether a place is no index: a number, or counted from the end of an axis."""
    return at[0].startswith("=")


def _is_last(at: At) -> bool:
    return at[0].startswith("=") and at[0] != "=" and at[1:] == (0, ())


def _names(*at: At) -> frozenset[str]:
    return frozenset(name for name, _, _ in at if not name.startswith("="))
