"""Index expressions at every size at once: sums stay sums, deltas are used up.

The arithmetic that confirms a step for all sizes. A value is in the form of
:mod:`symattn.proofs.terms`; zero is decided one way only: a value whose normal
form is empty is zero, any other is left open.

>>> from symattn.proofs.language import Size, delta, indices, sum_over
>>> from symattn.proofs.matrices import Array
>>> n = Size("n")
>>> i, j = indices("i j", n)
>>> S = Array("S", (n,))
>>> AllSizes().vanishes(sum_over(j, delta(i, j) * S[j]) - S[i])
True
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from symattn.proofs import language as term
from symattn.proofs import terms
from symattn.proofs.language import Expr, Image, Index, Position, Size, Target
from symattn.proofs.matrices import Array
from symattn.proofs.meaning import Arithmetic, Dual, Variable
from symattn.proofs.quotients import cleared, denominator_of, is_switch, split, unlinked
from symattn.proofs.structure import Undecidable
from symattn.proofs.terms import Atom, Key, Monomial, Normal, Place, Term, Value

ROUNDS = 8
"""How many different denominators are cleared before a value is left open."""


class AllSizes(Arithmetic[Value, Place]):
    """The arithmetic of index sums whose sizes are symbols."""

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[Index, Place] = {}
        self._depth = 0

    def vanishes(self, value: Expr) -> bool:
        """Whether a value is zero for all sizes; False means only that it was not shown.

        Raises :class:`Undecidable` where the expression has no value here.
        """
        return self.is_zero(self.evaluate(value, {}).value)

    def is_zero(self, found: Value) -> bool:
        """Whether a value is shown to be zero for all sizes."""
        for _ in range(ROUNDS):
            form = terms.normal(found)
            if not form:
                return True
            denominator = denominator_of(form)
            if denominator is None:
                return False
            found, _ = cleared(form, denominator)
        return False

    def number(self, value: Fraction) -> Value:
        """A rational constant."""
        return terms.constant(value)

    def add(self, left: Value, right: Value) -> Value:
        """The sum of two values."""
        return left + right

    def multiply(self, left: Value, right: Value) -> Value:
        """The product of two values."""
        return terms.multiply(left, right)

    def size(self, size: Size) -> Value:
        """A size as a quantity."""
        return terms.atom(("s", size.name))

    def root(self, size: Size) -> Value:
        """The positive root of a size."""
        return terms.atom(("r", size.name))

    def unknown(self, array: Array, at: tuple[Place, ...]) -> Value:
        """An entry of a given array."""
        return terms.atom(("x", array.kind, self.label(array), *at))

    def place(self, position: Position, env: Mapping[Index, Place]) -> Place:
        """Where a position lies."""
        match position:
            case Index():
                return env.get(position) or self._free(position)
            case Image(by, index):
                return (*self.place(index, env), by)
            case Size(name):
                return (f"={name}",)
        return (f"={position}",)

    def _free(self, index: Index) -> Place:
        """A name for a free index; a second index of the same name gets a prime."""
        if index not in self._names:
            name = index.name
            while (name,) in self._names.values():
                name += "'"
            self._names[index] = (name,)
        return self._names[index]

    def same(self, first: Place, second: Place) -> Value:
        """Kronecker's delta."""
        return _indicator(terms.delta(first, second))

    def at_most(self, first: Place, second: Place, axis: str) -> Value:
        """1 where the first place is not after the second, else 0."""
        return _indicator(terms.at_most(first, second, axis))

    def scope(self) -> object:
        """How many sums lie around: their indices have names of that depth."""
        return self._depth

    def total(
        self, index: Index, body: Expr, env: Mapping[Index, Place], by: Variable[Place] | None
    ) -> Dual[Value]:
        """The sum over an index."""
        # The name says how deep the sum lies: unlike those around it, and the same
        # each time, so that an entry met again at this depth is known already.
        name = f"%{self._depth}"
        self._depth += 1
        inside = self.evaluate(body, {**env, index: (name,)}, by)
        self._depth -= 1
        return _bound(inside, name, index.size)

    def pairs(
        self, pair: term.PairSum, env: Mapping[Index, Place], by: Variable[Place] | None
    ) -> Dual[Value]:
        """The sum over all pairs of a symmetric body."""
        # Half of what the whole square adds up to without its diagonal.
        body, size = pair.body, pair.first.size
        first, second = terms.fresh(), terms.fresh()
        here = self.evaluate(body, {**env, pair.first: (first,), pair.second: (second,)}, by)
        there = self.evaluate(body, {**env, pair.first: (second,), pair.second: (first,)})
        if terms.normal(here.value) != terms.normal(there.value):
            raise Undecidable("a sum over pairs whose body is not seen to be symmetric")
        along = self.evaluate(body, {**env, pair.first: (first,), pair.second: (first,)}, by)
        square = _bound(_bound(here, second, size), first, size)
        diagonal = _bound(along, first, size)
        return self.plus(_times(Fraction(1, 2), square), _times(Fraction(-1, 2), diagonal))

    def inverse(self, value: Value) -> Value:
        """One over a value. Raises ZeroDivisionError for zero."""
        shared, leading, rest = split(value)
        found = terms.constant(1 / leading)
        for one, exponent in shared.items():
            if one[0] == "v":
                found = terms.multiply(found, terms.power(terms.reopened(one[1]), exponent))
            else:
                found = terms.multiply(found, terms.atom(one, -exponent))
        for part in unlinked(rest):
            found = terms.multiply(found, terms.atom(("v", terms.key(part))))
        return found

    def exp(self, value: Value) -> Value:
        """The exponential of a value."""
        found = terms.constant(Fraction(1))
        for monomial, coefficient in terms.normal(value).items():
            one = terms.opened(monomial, coefficient)
            found = terms.multiply(found, self._exp_of(one, monomial))
        return found

    def _exp_of(self, one: Term, monomial: Monomial) -> Value:
        """The exponential of a single term."""
        for piece in one.factors:
            if is_switch(piece) and not terms.mentions(piece, one.bound):
                # e^(b x) = 1 + b (e^x - 1) where b is 0 or 1.
                rest = {a: e for a, e in one.factors.items() if a != piece}
                on = self.exp([Term(one.coefficient, rest, one.bound)])
                change = self.add(on, terms.constant(Fraction(-1)))
                step = terms.multiply(terms.atom(piece), change)
                return self.add(terms.constant(Fraction(1)), step)
        whole = one.coefficient.denominator == 1
        if whole and len(one.factors) == 1:
            ((piece, exponent),) = one.factors.items()
            if piece[0] == "g" and exponent == 1 and not one.bound:
                base = terms.reopened(piece[1])
                base = base if one.coefficient > 0 else self.inverse(base)
                return terms.power(base, abs(int(one.coefficient)))
        piece = ("e", monomial, one.coefficient.denominator)
        return terms.atom(piece, one.coefficient.numerator)

    def log(self, value: Value) -> Value:
        """The logarithm of a positive value."""
        shared, leading, rest = split(value)
        if leading < 0:
            leading, rest = -leading, terms.multiply(terms.constant(Fraction(-1)), rest)
        found: Value = []
        for one, exponent in shared.items():
            by = terms.constant(Fraction(exponent, one[2] if one[0] == "e" else 1))
            match one[0]:
                case "e":
                    inside = [terms.opened(one[1])]
                case "v":
                    inside = terms.multiply(terms.constant(Fraction(-1)), _log(one[1]))
                case _:
                    inside = _log(terms.key(terms.atom(one)))
            found = self.add(found, terms.multiply(by, inside))
        for part in (terms.constant(leading), rest):
            if part != terms.constant(Fraction(1)):
                found = self.add(found, _log(terms.key(part)))
        return found

    def limit(self, value: Value, variable: Value, target: Target) -> Value:
        """What a value tends to. Raises :class:`Undecidable` where it is not sure."""
        ((moving, _),) = variable[0].factors.items()
        # Over a common denominator first: there what grows alike cancels.
        below: list[tuple[Atom, int]] = []
        form = terms.normal(value)
        while (denominator := denominator_of(form)) is not None and len(below) < ROUNDS:
            value, exponent = cleared(form, denominator)
            below.append((denominator, exponent))
            form = terms.normal(value)
        found = self._limit_of(form, moving, variable, target)
        for denominator, exponent in below:
            under = self.limit(terms.reopened(denominator[1]), variable, target)
            if not terms.normal(under):
                raise Undecidable("the limit of a quotient whose denominator vanishes")
            found = terms.multiply(found, terms.power(self.inverse(under), exponent))
        return found

    def _limit_of(self, form: Normal, moving: Atom, variable: Value, target: Target) -> Value:
        """The limit of a sum, term by term."""
        found: Value = []
        for one in (terms.opened(monomial, c) for monomial, c in form.items()):
            kept = {a: e for a, e in one.factors.items() if not _contains(a, moving)}
            front = [Term(one.coefficient, kept, one.bound)]
            degree, vanishes = 0, False
            for piece, exponent in one.factors.items():
                if piece == moving:
                    degree = exponent
                elif piece[0] == "e" and _contains(piece, moving):
                    vanishes |= _vanishes(piece, exponent, moving, target)
                elif piece[0] == "v" and _contains(piece, moving):
                    below = self.limit(terms.reopened(piece[1]), variable, target)
                    if not terms.normal(below):
                        raise Undecidable("the limit of a quotient whose denominator vanishes")
                    front = terms.multiply(front, terms.power(self.inverse(below), exponent))
                elif piece not in kept:
                    raise Undecidable("the limit of a logarithm")
            if (degree < 0) if target == "0" else (degree > 0 and not vanishes):
                raise Undecidable("a limit that is not finite")
            if degree == 0 and not vanishes:
                found = self.add(found, front)
        return found

    def mean(self, value: Value) -> Value:
        """The expected value over the random unknowns, up to second moments."""
        found: Value = []
        for one in terms.reopened(terms.key(value)):
            drawn: dict[str, list[tuple[Place, ...]]] = {}
            kept = dict(one.factors)
            for piece, exponent in one.factors.items():
                if piece[:2] == ("x", "random"):
                    drawn.setdefault(piece[2], []).extend([piece[3:]] * exponent)
                    del kept[piece]
                elif _draws(piece):
                    raise Undecidable("the mean of a function of random entries")
            front = [Term(one.coefficient, kept, one.bound)]
            for places in drawn.values():
                if len(places) > 2:
                    raise Undecidable("a moment of higher order than the variance")
                if len(places) == 1:
                    front = []
                    continue
                for first, second in zip(*places, strict=True):
                    front = terms.multiply(front, self.same(first, second))
            found = self.add(found, front)
        return found


def _indicator(found: Atom | int) -> Value:
    """An atom that is 0 or 1, or the number that it was found to be."""
    return terms.constant(Fraction(found)) if isinstance(found, int) else terms.atom(found)


def _bound(inside: Dual[Value], name: str, size: Size) -> Dual[Value]:
    """The sum of a value and its slope over an index."""
    value = terms.bind(inside.value, name, size.name)
    if inside.slope is None:
        return Dual(value)
    return Dual(value, terms.bind(inside.slope, name, size.name))


def _times(number: Fraction, dual: Dual[Value]) -> Dual[Value]:
    by = terms.constant(number)
    slope = None if dual.slope is None else terms.multiply(by, dual.slope)
    return Dual(terms.multiply(by, dual.value), slope)


def _log(form: Key) -> Value:
    return terms.atom(("g", form))


def _contains(tree: object, piece: Atom) -> bool:
    """Whether an atom occurs in another, or inside it."""
    if tree == piece:
        return True
    return isinstance(tree, tuple) and any(_contains(part, piece) for part in tree)


def _draws(tree: object) -> bool:
    """Whether a random entry occurs inside an atom."""
    if not isinstance(tree, tuple):
        return False
    return tree[:2] == ("x", "random") or any(_draws(part) for part in tree)


def _vanishes(piece: Atom, exponent: int, moving: Atom, target: Target) -> bool:
    """Whether a power of ``e`` tends to 0 (True) or 1 (False) in a limit.

    Raises :class:`Undecidable` where it grows, or where its sign is not known.
    """
    sizes, factors = piece[1]
    others = {a: e for a, e in factors if a != moving}
    if dict(factors).get(moving) != 1:
        raise Undecidable("a limit inside a nested exponential")
    if target == "0":
        return False
    if sizes or any(a[:2] != ("x", "positive") for a in others):
        raise Undecidable("the limit of an exponential whose sign is not known")
    if (exponent > 0) == (target == "oo"):
        raise Undecidable("a limit that is not finite")
    return True
