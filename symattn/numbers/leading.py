"""Numbers as an exact leading term and a rest: what is left where leading terms cancel.

A ball is as wide as its number is large, so that ``1 + erf(-212)`` holds zero at every
precision that anybody would pay for, and ``log(1 + exp(-50000))`` too. Here a number is a
term ``q * sqrt(m) * exp(r)``, or none, and a ball around the rest, however small that is:
``erf(-212)`` is -1 and ``erfc(212)``. Terms are added and multiplied exactly, and functions
are expanded about them. What is left of a rest that cancels in its turn is not closer than
a ball.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from flint import arb, fmpq

from symattn.numbers import quotients, sums
from symattn.numbers.balls import Exceeded
from symattn.numbers.quotients import OpaqueAtom, Parts
from symattn.numbers.sums import UNIT, Monomial, NumberAtom, Root, Sum

#: Bits of a term's coefficient; one of more is not exact any more.
_HEIGHT = 1 << 12


@dataclass(frozen=True)
class LeadingTerm:
    """``term + rest``: a sum of one monomial without atoms, or of none, and a ball."""

    term: Sum
    rest: arb

    @property
    def ball(self) -> arb:
        """An enclosure of the number, at the working precision."""
        return quotients.ball({(): self.term}) + self.rest

    @property
    def share(self) -> arb | None:
        """The rest as a part of the term; None where it isn't less than half of it."""
        if not self.term:
            return None
        share = self.rest / quotients.ball({(): self.term})
        return share if abs(share) < 0.5 else None

    @property
    def monomial(self) -> tuple[Monomial, fmpq]:
        """The term's monomial and coefficient, where there is one."""
        ((monomial, q),) = self.term.items()
        return monomial, q


def of_ball(ball: arb) -> LeadingTerm:
    """A number without a term."""
    return LeadingTerm({}, ball)


def total(many: Iterable[LeadingTerm]) -> LeadingTerm:
    """The sum, its term the largest that is left of theirs."""
    terms: Sum = {}
    rest = arb(0)
    for x in many:
        sums.accumulate(terms, x.term)
        rest += x.rest
    short = [key for key, q in terms.items() if q.height_bits() <= _HEIGHT]
    if len(short) == len(terms) <= 1:
        return LeadingTerm(terms, rest)
    balls = {key: quotients.ball({(): {key: q}}) for key, q in terms.items()}
    largest = max(short, key=lambda key: abs(balls[key]), default=None)
    rest += sum((ball for key, ball in balls.items() if key != largest), arb(0))
    return LeadingTerm({} if largest is None else {largest: terms[largest]}, rest)


def products(pairs: Iterable[tuple[LeadingTerm, LeadingTerm]]) -> LeadingTerm:
    """The sum of the products.

    >>> tiny = arb(-1000).exp()
    >>> one_more = LeadingTerm({UNIT: fmpq(1)}, tiny)
    >>> total([products([(one_more, one_more)]), LeadingTerm({UNIT: fmpq(-1)}, arb(0))]).rest > tiny
    True
    """
    return total(_product(x, y) for x, y in pairs)


def _product(x: LeadingTerm, y: LeadingTerm) -> LeadingTerm:
    rest = x.rest * y.rest
    for one, other in ((x, y), (y, x)):
        if one.term and not other.rest.is_zero():
            rest += quotients.ball({(): one.term}) * other.rest
    return LeadingTerm(sums.multiply(x.term, y.term), rest)


def inverse(x: LeadingTerm) -> LeadingTerm:
    """``1 / x``."""
    share = x.share
    if share is None:
        return of_ball(1 / x.ball)
    (exponent, m, _), q = x.monomial
    return _times({(sums.negative(exponent), m, ()): 1 / (q * m)}, -share / (1 + share))


def _times(term: Sum, share: arb) -> LeadingTerm:
    """``term * (1 + share)``."""
    return LeadingTerm(term, quotients.ball({(): term}) * share)


def exp(x: LeadingTerm) -> LeadingTerm:
    """``exp(x)``."""
    exponent = sums.exponent_of(x.term)
    if exponent is None or not abs(x.rest) < 1:
        return of_ball(x.ball.exp())
    return _times({(exponent, 1, ()): fmpq(1)}, x.rest.expm1())


def log(x: LeadingTerm) -> LeadingTerm:
    """``log(x)``."""
    share = x.share
    if share is None:
        return of_ball(x.ball.log())
    (exponent, m, _), q = x.monomial
    rest = share.log1p() + quotients.ball({(): {((), m, ()): q}}).log()
    return total([of_sum(sums.terms_of(exponent)), of_ball(rest)])


def sqrt(x: LeadingTerm) -> LeadingTerm:
    """``sqrt(x)``."""
    share = x.share
    if share is not None:
        (exponent, m, _), q = x.monomial
        half = tuple((n, *sums.lowest(a, 2 * b)) for n, a, b in exponent)
        if m == 1 and q > 0:
            try:
                root = sums.multiply(sums.root_of_rational(q), {(half, 1, ()): fmpq(1)})
            except Exceeded:
                pass
            else:
                return _times(root, share / (1 + (1 + share).sqrt()))
    return of_ball(x.ball.sqrt())


def cos(x: LeadingTerm) -> LeadingTerm:
    """``cos(x)``, by ``1 - 2 sin(x/2)**2`` near 0."""
    ball = x.ball
    if abs(ball) < 1:
        return LeadingTerm({UNIT: fmpq(1)}, -2 * (ball / 2).sin() ** 2)
    return of_ball(ball.cos())


def sin(x: LeadingTerm) -> LeadingTerm:
    """``sin(x)``."""
    return of_ball(x.ball.sin())


def erf(x: LeadingTerm) -> LeadingTerm:
    """``erf(x)``, by what it lacks of 1 or -1 away from 0.

    >>> erf(of_ball(arb(-1000))).term, 0 < erf(of_ball(arb(-1000))).rest < 1e-300
    ({((), 1, ()): -1}, True)
    """
    ball = x.ball
    if abs(ball) > 1:
        sign = 1 if ball > 0 else -1
        # Of a wide ball Arb gives the size at its middle, and far out nothing is left of that.
        first, last = (end.erfc() for end in (abs(ball).lower(), abs(ball).upper()))
        return LeadingTerm({UNIT: fmpq(sign)}, -sign * first.union(last))
    return of_ball(ball.erf())


FUNCTIONS: Mapping[str, Callable[[LeadingTerm], LeadingTerm]] = {
    "exp": exp, "log": log, "sqrt": sqrt, "cos": cos, "sin": sin, "erf": erf,
}  # fmt: skip


def of_parts(parts: Parts) -> LeadingTerm:
    """A closed form."""
    summands = []
    for denominator, above in parts.items():
        part = of_sum(above)
        for normaliser, power in denominator:
            part = _powers(part, of_sum(normaliser.terms), -power)
        summands.append(part)
    return total(summands)


def of_sum(terms: Sum) -> LeadingTerm:
    """A sum, with functions of its atoms."""
    summands = []
    for (exponent, m, atoms), q in terms.items():
        part = LeadingTerm({(exponent, m, ()): q}, arb(0))
        for atom, power in atoms:
            part = _powers(part, _of_atom(atom), power)
        summands.append(part)
    return total(summands)


def _powers(x: LeadingTerm, factor: LeadingTerm, power: int) -> LeadingTerm:
    """``x * factor**power``."""
    factor = factor if power > 0 else inverse(factor)
    for _ in range(abs(power)):
        x = _product(x, factor)
    return x


def _of_atom(atom: NumberAtom) -> LeadingTerm:
    match atom:
        case Root():
            return sqrt(of_sum(atom.radicand))
        case OpaqueAtom():
            return FUNCTIONS[atom.function](of_parts(atom.argument))
    return of_ball(quotients.ball({(): {((), 1, ((atom, 1),)): fmpq(1)}}))
