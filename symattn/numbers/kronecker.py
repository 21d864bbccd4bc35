"""Exponential sums of a softmax with rational scores, packed by Kronecker substitution.

Above the least score of its row every exponential is a whole power of one ``t = exp(1/steps)``. A
sum of them with whole coefficients is a polynomial in t, held by its value at ``2**64`` (Kronecker
substitution; von zur Gathen, Gerhard, *Modern Computer Algebra*, 8.4): sums and products of such
numbers are those of the polynomials, FLINT multiplies whole matrices of them, and coefficients
below ``2**63`` are the digits that they are read off from again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import compress
from math import gcd
from struct import unpack

from flint import arb, ctx, fmpq, fmpz, fmpz_poly

from symattn.limits import SHOWN, Budget
from symattn.numbers import exponential_sums, quotients
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.exponential_sums import Sum
from symattn.numbers.quotients import Denominator, Normaliser, Parts, WholeParts

#: Bits of a digit; coefficients and their sums are smaller than half of that.
_DIGIT = 64
MOST = 1 << (_DIGIT - 2)

_ONE, _ZERO = fmpz(1), fmpz(0)

#: ``numerator / normaliser**power``, packed; without a denominator the power is 0 and
#: the normaliser 1.
PackedPart = tuple[fmpz, int, fmpz]


class NotPacked(Exception):
    """A result without such a form, or with none that is surely the normal one: entries are then
    computed one by one, as lazy expressions."""


class KroneckerLattice:
    """The powers of ``t = exp(1/steps)`` in a softmax, and the normalisers of its rows.

    ``powers`` are those of each row, the least of them 0. A normaliser is their sum over
    its ``content``, which leaves coprime coefficients.

    >>> lattice = KroneckerLattice(2, [[0, 1, 2], [0, 0]])
    >>> lattice.degree, lattice.contents, lattice.normalisers[1]
    (2, [1, 2], 1)
    """

    def __init__(self, steps: int, powers: Sequence[Sequence[int]]) -> None:
        self.steps = steps
        self.degree = max(map(max, powers))
        self.contents = [gcd(*map(row.count, set(row))) for row in powers]
        #: By row, packed; and what no normaliser's coefficients sum to more than.
        self.normalisers = [
            packed(row) // content for row, content in zip(powers, self.contents, strict=True)
        ]
        self.size = max(map(len, powers))
        self._known: dict[fmpz, Normaliser] = {}
        self._denominators: dict[tuple[fmpz, int], Denominator] = {}
        self._units: dict[int, arb] = {}
        self._values: dict[tuple[fmpz, int], arb] = {}
        self._monomials: list[exponential_sums.Monomial] = [exponential_sums.UNIT]

    def normal(self, parts: Sequence[PackedPart]) -> Sequence[PackedPart]:
        """The sum of parts that are in normal form and not 0, as
        :func:`~symattn.numbers.quotients.simplified` makes it."""
        if not are_added([below for below, _, _ in parts]):
            return parts
        totals: dict[tuple[fmpz, int], fmpz] = {}
        for below, power, above in parts:
            totals[below, power] = totals.get((below, power), _ZERO) + above
        groups: dict[fmpz, list[tuple[int, fmpz]]] = {}
        for (below, power), above in totals.items():
            if above:
                groups.setdefault(below, []).append((power, above))
        if len(groups) == 2 and (plain := groups.pop(_ONE, None)) is not None:
            next(iter(groups.values())).extend(plain)
        result: dict[tuple[fmpz, int], fmpz] = {}
        for below, group in groups.items():
            most = max(power for power, _ in group)
            above = sum((part * below ** (most - power) for power, part in group), _ZERO)
            below, most, above = cancelled(below, most, above) if above else (_ONE, 0, above)
            result[below, most] = result.get((below, most), _ZERO) + above
        return [(below, power, above) for (below, power), above in result.items() if above]

    def parts(self, packed_parts: Iterable[PackedPart], below: int) -> Parts:
        """The parts over a whole number as the dictionaries of a closed form.

        >>> lattice = KroneckerLattice(2, [[0, 1, 2]])
        >>> lattice.parts([(fmpz(1), 0, fmpz(1 - (3 << 64)))], 6)
        {(): {((), 1, ()): 1/6, (((1, 1, 2),), 1, ()): -1/2}}
        """
        return {
            self.denominator(normaliser, power): self._terms(above, below)
            for normaliser, power, above in packed_parts
        }

    def denominator(self, normaliser: fmpz, power: int) -> Denominator:
        """A normaliser's power as what stands below."""
        if not power:
            return ()
        denominator = self._denominators.get((normaliser, power))
        if denominator is None:
            known = self._known.setdefault(normaliser, Normaliser(self._terms(normaliser, 1)))
            denominator = self._denominators[normaliser, power] = ((known, power),)
        return denominator

    def _terms(self, above: fmpz, below: int) -> Sum:
        numbers = coefficients(above)
        terms = zip(self.monomials(len(numbers)), numbers, strict=False)
        return {monomial: fmpq(number, below) for monomial, number in terms if number}

    def monomials(self, count: int) -> Sequence[exponential_sums.Monomial]:
        """Powers of t, at least so many."""
        missing = range(len(self._monomials), count)
        self._monomials += [
            (((1, *exponential_sums.lowest(k, self.steps)),), 1, ()) for k in missing
        ]
        return self._monomials

    def ball(self, packed_parts: Iterable[PackedPart], below: int) -> arb:
        """The sum of the parts over a whole number, at the working precision."""
        parts = (
            self.quotient(below, power, coefficients(above)) for below, power, above in packed_parts
        )
        return sum(parts, arb(0)) / below

    def quotient(self, normaliser: fmpz, power: int, above: Sequence[int]) -> arb:
        """A polynomial over a normaliser's power, at the working precision."""
        number = fmpz_poly([*above])(self._unit(ctx.prec))
        return number / self._value(normaliser, ctx.prec) ** power if power else number

    def _unit(self, bits: int) -> arb:
        """``t`` at the working precision."""
        if bits not in self._units:
            self._units[bits] = arb(fmpq(1, self.steps)).exp()
        return self._units[bits]

    def _value(self, normaliser: fmpz, bits: int) -> arb:
        """A normaliser at the working precision."""
        if (normaliser, bits) not in self._values:
            self._values[normaliser, bits] = _polynomial(normaliser)(self._unit(bits))
        return self._values[normaliser, bits]


class PackedQuotient:
    """An entry as an operation without operands: packed parts in normal form over a whole
    number, written down as a closed form when that is used.

    ``check`` is given an enclosure of it before it is used for the first time, and one of
    the closed form.
    """

    __slots__ = ("_ball_is_checked", "_below", "_check", "_lattice", "_packed")

    def __init__(
        self,
        lattice: KroneckerLattice,
        packed: Sequence[PackedPart],
        below: int,
        check: Callable[[arb], None],
    ) -> None:
        self._lattice = lattice
        self._packed = packed
        self._below = below
        self._check = check
        self._ball_is_checked = False

    def rational(self) -> fmpq | None:
        """The entry, if it is rational."""
        count = len(self._packed)
        if count != 1:
            return None if count else fmpq(0)
        _, power, above = self._packed[0]
        if power or abs(above) >= MOST:
            return None
        return fmpq(above, self._below)

    def is_beyond(self, budget: Budget) -> bool:
        """See :class:`~symattn.numbers.lazy.Operation`."""
        if self._below.bit_length() > budget.bits:
            return True
        numbers = [above for _, _, above in self._packed]
        numbers += {below for below, power, _ in self._packed if power}
        if sum(number.bit_length() // _DIGIT + 1 for number in numbers) <= budget.size:
            return False
        left = budget.size
        for number in numbers:
            digits = coefficients(number)
            left -= len(digits) - digits.count(0)
            if left < 0:
                return True
        return False

    def form(self, operands: Sequence[Parts] = ()) -> Parts:
        """See :class:`~symattn.numbers.lazy.Operation`."""
        parts = self._lattice.parts(self._packed, self._below)
        with precision(FIRST):
            self._check(quotients.ball(parts))
        return parts

    def whole(self) -> tuple[WholeParts, int] | None:
        """The closed form as :func:`~symattn.numbers.closed_forms.of_whole` takes it; None
        where it is too long to be shown."""
        if self.is_beyond(SHOWN):
            return None
        total = arb(0)
        parts: WholeParts = {}
        with precision(FIRST):
            for normaliser, power, above in self._packed:
                numbers = coefficients(above)
                total += self._lattice.quotient(normaliser, power, numbers)
                parts[self._lattice.denominator(normaliser, power)] = (
                    [*compress(self._lattice.monomials(len(numbers)), numbers)],
                    [*filter(None, numbers)],
                )
            self._check(total / self._below)
        return parts, self._below

    def ball(self, operands: Sequence[arb] = ()) -> arb:
        """See :class:`~symattn.numbers.lazy.Operation`."""
        if not self._ball_is_checked and ctx.prec != FIRST:
            with precision(FIRST):
                self.ball()
        ball = self._lattice.ball(self._packed, self._below)
        if not self._ball_is_checked:
            self._check(ball)
            self._ball_is_checked = True
        return ball


def are_added(normalisers: Sequence[fmpz]) -> bool:
    """Return whether of parts over these some are added in a normal form, or may be where only some
    of the parts are there.

    >>> two, three = fmpz(2), fmpz(3)
    >>> are_added([two, three]), are_added([two, three, two]), are_added([two, fmpz(1)])
    (False, True, True)
    """
    return len({_ONE, *normalisers}) <= len(normalisers) > 1


def packed(powers: Iterable[int]) -> fmpz:
    """The sum of these powers of t."""
    return sum((_ONE << (_DIGIT * power) for power in powers), _ZERO)


def coefficients(number: fmpz) -> tuple[int, ...]:
    """The coefficients of a packed polynomial, from the constant on.

    >>> coefficients(fmpz(3 - (2 << 64)))
    (3, -2)
    """
    whole = int(number)
    count = (abs(whole).bit_length() + _DIGIT) // _DIGIT
    half = _halves(count)
    # With half of the base added no digit is negative: none borrows from the next. Taken
    # away again, without carries, it leaves each in two's complement.
    return unpack(f"<{count}q", ((whole + half) ^ half).to_bytes(8 * count, "little"))


@lru_cache(maxsize=1 << 10)
def _halves(count: int) -> int:
    """Half of the base in every digit."""
    return int(((1 << (_DIGIT * count)) - 1) // ((1 << _DIGIT) - 1) << (_DIGIT - 1))


def _polynomial(number: fmpz) -> fmpz_poly:
    return fmpz_poly([*coefficients(number)])


def cancelled(below: fmpz, power: int, above: fmpz) -> PackedPart:
    """A numerator that is not 0 over a normaliser's power, the normaliser divided out as
    often as it goes.

    Where the packed numbers leave a remainder, so do the polynomials.
    """
    if below == _ONE:
        return _ONE, 0, above
    while power and not above % below:
        quotient = _quotient(above, below)
        if quotient is None:
            break
        above, power = quotient, power - 1
    return (below, power, above) if power else (_ONE, 0, above)


def _quotient(above: fmpz, below: fmpz) -> fmpz | None:
    numerator, normaliser = _polynomial(above), _polynomial(below)
    quotient = numerator // normaliser
    if quotient * normaliser != numerator:
        return None
    rows = [x.coeffs() for x in (quotient, numerator, normaliser)]
    terms = [sum(map(bool, row)) for row in rows]
    sizes = [sum(map(abs, row)) for row in rows[:2]]
    # Such a division may be left undone where entries are computed one by one
    # (quotients.cancelled, division.divide): the form then depends on the order.
    if terms[1] < max(terms) or sizes[1] < sizes[0]:
        raise NotPacked
    return sum((c << (_DIGIT * k) for k, c in enumerate(quotient.coeffs())), _ZERO)
