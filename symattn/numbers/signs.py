"""Zero, positive or negative: decided by balls and by normal forms.

The sum of the parts over one denominator is zero exactly when its numerator
has no terms left. Only with opaque numbers in it can that stay undecided.
"""

from __future__ import annotations

from flint import arb

from symattn.errors import Malformed, Undecided
from symattn.numbers import quotients
from symattn.numbers.balls import FIRST, LAST, precision
from symattn.numbers.forms import short
from symattn.numbers.quotients import Parts
from symattn.numbers.sums import Symbol
from symattn.verdicts import Verdict

#: Most products that are formed to bring a sum over one denominator.
MAX_EXPANSION = 400_000


def enclosure(parts: Parts, bits: int) -> arb:
    """A ball computed at ``bits`` bits; :class:`Malformed` with symbols."""
    if quotients.symbols(parts):
        raise Malformed(f"{short(parts)} has symbols in it and is not one number")
    with precision(bits):
        return quotients.ball(parts)


def is_zero(parts: Parts) -> Verdict:
    """Whether the sum of the parts is zero."""
    if not parts:
        return Verdict.HOLDS
    is_number = not quotients.symbols(parts)
    if is_number and not enclosure(parts, FIRST).contains(0):
        return Verdict.REFUTED
    if quotients.expansion(parts) <= MAX_EXPANSION:
        _, numerator = quotients.over_one(parts)
        if not numerator:
            return Verdict.HOLDS
        if all(isinstance(atom, Symbol) for _, _, atoms in numerator for atom, _ in atoms):
            return Verdict.REFUTED
    bits = FIRST
    while is_number and bits < LAST:
        bits *= 4
        if not enclosure(parts, bits).contains(0):
            return Verdict.REFUTED
    return Verdict.UNDECIDED


def sign(parts: Parts) -> int:
    """-1, 0 or 1; :class:`Undecided` where no precision tells."""
    if is_zero(parts) is Verdict.HOLDS:
        return 0
    bits = FIRST
    while bits <= LAST:
        ball = enclosure(parts, bits)
        if ball > 0:
            return 1
        if ball < 0:
            return -1
        bits *= 4
    raise Undecided(f"can't decide the sign of {short(parts)}")
