"""Correct rounding to decimals; :mod:`.float_formats` has that to floats.

Rounding is monotone, so a digit is certain when both ends of an enclosure round alike. Where they
don't, the precision grows (Ziv's strategy; A. Ziv, *Fast evaluation of elementary mathematical
functions with correctly rounded last bit*, ACM TOMS 17, 1991); where a value seems to sit on a
boundary, its exact value decides on which side of it it is.

Numbers as an exact leading term and a rest: what is left where leading terms cancel.

A ball is as wide as its number is large, so that ``1 + erf(-212)`` holds zero at every precision
that anybody would pay for, and ``log(1 + exp(-50000))`` too. Here a number is a term
``q * sqrt(m) * exp(r)``, or none, and a ball around the rest, however small that is: ``erf(-212)``
is -1 and ``erfc(212)``. Terms are added and multiplied exactly, and functions are expanded about
them. What is left of a rest that cancels in its turn is not closer than a ball.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Literal, Protocol, cast

from flint import arb, fmpq

from symattn.errors import Malformed, Undecided, expected
from symattn.limits import DECIDING, MAGNITUDE, PLACES, SIGNIFICANT, Budget
from symattn.numbers import exponential_sums, quotients
from symattn.numbers.balls import FIRST, LAST, Exceeded, growing, precision
from symattn.numbers.exponential_sums import UNIT, Monomial, NumberAtom, Root, Sum
from symattn.numbers.quotients import OpaqueAtom, Parts
from symattn.verdicts import Verdict

RoundingMode = Literal["half-even", "half-up", "half-down", "down", "up", "floor", "ceiling"]


def _floor(x: fmpq) -> int:
    return int(x.p // x.q)


def _half(x: fmpq, tie_up: Callable[[int], bool]) -> int:
    """The nearest integer; on a tie the upper one where ``tie_up(lower)``."""
    lower = _floor(x)
    rest = x - lower
    if rest == _HALF:
        return lower + 1 if tie_up(lower) else lower
    return lower + 1 if rest > _HALF else lower


#: Rounding modes by name: rational number to integer, all monotone.
MODES: Mapping[RoundingMode, Callable[[fmpq], int]] = {
    "half-even": lambda x: _half(x, lambda lower: lower % 2 == 1),
    "half-up": lambda x: _half(x, lambda lower: lower >= 0),
    "half-down": lambda x: _half(x, lambda lower: lower < 0),
    "down": lambda x: _floor(x) if x >= 0 else -_floor(-x),
    "up": lambda x: -_floor(-x) if x >= 0 else _floor(x),
    "floor": _floor,
    "ceiling": lambda x: -_floor(-x),
}

# Decimal.scaleb must not round: room for every digit there can be.
_WIDE = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)

# Below this size every mode rounds as it does at this size.
_TINY = fmpq(1, 1 << 64)

# All modes jump at whole and half numbers only. A narrow ball holds one of them at most,
# and hardly one by chance: closer balls cost less than the exact value's side of it.
_HALF, _NARROW = fmpq(1, 2), fmpq(1, 1 << 16)


def rounding_mode(name: str) -> RoundingMode:
    """A name that was read as that of a mode; :class:`Malformed` names those there are.

    >>> MODES[rounding_mode("half-even")](fmpq(5, 2))
    2
    """
    if name not in MODES:
        raise Malformed(f"unknown rounding {name!r}: {expected(name, MODES)}")
    return cast(RoundingMode, name)


class ExactQueries(Protocol):
    """Questions to an exact number where its enclosures leave a doubt."""

    def is_zero(self, budget: Budget = DECIDING, /) -> Verdict:
        """Return whether the number is zero, as far as the budget tells."""

    def sign(self) -> int:
        """-1, 0 or 1; :class:`Undecided` where that can't be told."""

    def rational(self) -> fmpq | None:
        """The number as a rational, if its form shows that it is one."""

    def __sub__(self, other: fmpq, /) -> ExactQueries: ...


class Real(Protocol):
    """A real number by its enclosures, and by its exact value where those
    don't settle a question."""

    def ball(self, bits: int) -> arb:
        """An enclosure computed at ``bits`` bits."""

    @property
    def value(self) -> ExactQueries:
        """The exact value."""


def to_integer(real: Real, scale: fmpq, mode: RoundingMode) -> int:
    """``real * scale`` rounded to an integer."""
    rounded = MODES[rounding_mode(mode)]
    for bits in growing():
        with precision(bits):
            scaled = real.ball(bits) * scale
            lower, upper = scaled.lower(), scaled.upper()
            # A larger number is not settled at these bits; e^(10^12) written
            # out as a rational would only fill the memory.
            bounded = abs(scaled) < arb(2) ** bits
        if bounded:
            first, last = _rational(lower), _rational(upper)
            low, high = rounded(first), rounded(last)
            if low == high:
                return low
            if bits > FIRST and last - first < _NARROW:
                # The only whole or half number between the ends: there the rounding jumps.
                jump = _HALF * -_floor(-2 * first)
                side = _side(real, jump / scale)
                if side is not None:
                    return (low, rounded(jump), high)[side + 1]
    if (whole := real.value.rational()) is not None:
        return rounded(whole * scale)
    raise Undecided(f"a digit of {real.value!r} is not settled at {LAST} bits")


def _side(real: Real, boundary: fmpq) -> int | None:
    """The sign of ``real - boundary``, by the exact value: relative to what is left of it,
    a difference may be plain where no enclosure of the number tells. None: it doesn't
    tell either, and more bits may."""
    try:
        return (real.value - boundary).sign()
    except Undecided:
        return None


def _rational(end: arb) -> fmpq:
    """An end of an enclosure, or a rational that rounds alike where it is tiny."""
    if abs(end) >= arb(_TINY):
        return end.fmpq()
    return _TINY if end > 0 else -_TINY if end < 0 else fmpq(0)


def decimal(real: Real, places: int, mode: RoundingMode = "half-even") -> Decimal:
    """``real`` to ``places`` decimal places, correctly rounded.

    >>> from symattn.numbers.reading import read
    >>> decimal(read("1/8"), 2), decimal(read("1/8"), 2, "half-up"), decimal(read(1).exp(), 6)
    (Decimal('0.12'), Decimal('0.13'), Decimal('2.718282'))
    """
    if not 0 <= places <= PLACES.most:
        raise Malformed(PLACES.said(places))
    return Decimal(to_integer(real, fmpq(10**places), mode)).scaleb(-places, _WIDE)


def significant(real: Real, digits: int, mode: RoundingMode = "half-even") -> Decimal:
    """``real`` to ``digits`` significant digits, correctly rounded.

    :class:`Malformed` for numbers beyond ``10**MAGNITUDE`` either way.

    >>> from symattn.numbers.reading import read
    >>> significant(read(-12).exp(), 3)
    Decimal('0.00000614')
    """
    if not 1 <= digits <= SIGNIFICANT.most:
        raise Malformed(SIGNIFICANT.said(digits))
    magnitude = _magnitude(real, 10)
    if magnitude is None:
        return Decimal(0)
    if abs(magnitude) > MAGNITUDE.most:
        raise Malformed(MAGNITUDE.said(magnitude))
    places = digits - 1 - magnitude
    scale = fmpq(10) ** places if places >= 0 else 1 / fmpq(10) ** -places
    count = to_integer(real, scale, mode)
    if abs(count) == 10**digits:
        # 9.996 is 10.0 to three digits, not 10.00.
        count, places = count // 10, places - 1
    return Decimal(count).scaleb(-places, _WIDE)


def _magnitude(real: Real, base: int) -> int | None:
    """``floor(log_base |real|)``; None for zero."""
    for bits in growing():
        with precision(bits):
            ball = abs(real.ball(bits)).log() / arb(base).log()
            ends = ball.lower().floor(), ball.upper().floor()
        if ball.is_finite():
            low, high = (int(end.fmpq()) for end in ends)
            if low == high:
                return low
            if high - low == 1 and abs(high) <= 4 * MAGNITUDE.most:
                sign = real.value.sign()
                beyond = (real.value - sign * fmpq(base) ** high).sign()
                return high if beyond in (0, sign) else low
        elif bits > FIRST and real.value.is_zero() is Verdict.HOLDS:
            return None
    raise Undecided(f"the size of {real.value!r} is not settled at {LAST} bits")


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
        exponential_sums.accumulate(terms, x.term)
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
    return LeadingTerm(exponential_sums.multiply(x.term, y.term), rest)


def inverse(x: LeadingTerm) -> LeadingTerm:
    """``1 / x``."""
    share = x.share
    if share is None:
        return of_ball(1 / x.ball)
    (exponent, m, _), q = x.monomial
    return _times({(exponential_sums.negative(exponent), m, ()): 1 / (q * m)}, -share / (1 + share))


def _times(term: Sum, share: arb) -> LeadingTerm:
    """``term * (1 + share)``."""
    return LeadingTerm(term, quotients.ball({(): term}) * share)


def exp(x: LeadingTerm) -> LeadingTerm:
    """``exp(x)``."""
    exponent = exponential_sums.exponent_of(x.term)
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
    return total([of_sum(exponential_sums.terms_of(exponent)), of_ball(rest)])


def sqrt(x: LeadingTerm) -> LeadingTerm:
    """``sqrt(x)``."""
    share = x.share
    if share is not None:
        (exponent, m, _), q = x.monomial
        half = tuple((n, *exponential_sums.lowest(a, 2 * b)) for n, a, b in exponent)
        if m == 1 and q > 0:
            try:
                root = exponential_sums.multiply(
                    exponential_sums.root_of_rational(q), {(half, 1, ()): fmpq(1)}
                )
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


_OWN = {"exp": exp, "log": log, "sqrt": sqrt, "cos": cos, "erf": erf}


def function(name: str) -> Callable[[LeadingTerm], LeadingTerm]:
    """Return an elementary function by its name: of the enclosure where no better is known."""
    return _OWN.get(name) or (lambda x: of_ball(getattr(x.ball, name)()))


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
            return function(atom.function)(of_parts(atom.argument))
    return of_ball(quotients.ball({(): {((), 1, ((atom, 1),)): fmpq(1)}}))
