"""Rational numbers: text and Python's exact numbers as ``fmpq``, within the limits
of :mod:`symattn.syntax`."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Rational

from flint import fmpq, fmpz

from symattn.errors import Malformed
from symattn.limits import CHARACTERS, DIGITS, EXPONENT
from symattn.spelling import NUMBER
from symattn.syntax import SIGNS

_NUMBER = re.compile(
    rf"\s*(?P<sign>[+-]?)\s*(?P<mantissa>{NUMBER})"
    r"(?:[eE](?P<power>[+-]?[0-9]+))?(?:\s*/\s*(?P<below>[0-9]+))?\s*\Z"
)


def from_text(text: str) -> fmpq | None:
    """An integer, a decimal or a fraction of these as written.

    None for other text, and for numbers that the grammar has words against:
    too long, or divided by zero.

    >>> from_text("-17/40"), from_text("1.50"), from_text("2e-3"), from_text("1/0")
    (-17/40, 3/2, 1/500, None)
    """
    if len(text) > CHARACTERS.most:
        return None
    match = _NUMBER.match(text if text.isascii() else text.translate(SIGNS))
    if match is None:
        return None
    sign, mantissa, power, below = match.groups(default="")
    if max(len(mantissa), len(below)) > DIGITS.most or len(power) > 6:
        return None
    shift, under = int(power or 0), int(below or 1)
    if abs(shift) > EXPONENT.most or not under:
        return None
    whole, _, part = mantissa.partition(".")
    count, shift = int(f"{sign}{whole}{part}"), shift - len(part)
    return fmpq(count * 10**shift, under) if shift >= 0 else fmpq(count, under * 10**-shift)


def from_number(number: object) -> fmpq | None:
    """An int, Fraction, Decimal, fmpq or other rational number; None for the rest.

    :class:`~symattn.errors.Malformed` for a float, a bool, what is not finite
    and what is too long.

    >>> from_number(Decimal("0.50")), from_number(3), from_number("3")
    (1/2, 3, None)
    """
    if isinstance(number, bool):
        raise Malformed(f"expected a number, found {number}")
    if isinstance(number, int | fmpz):
        _need_short(number.bit_length())
        return fmpq(number)
    if isinstance(number, Fraction):
        p, q = number.numerator, number.denominator
        _need_short(max(p.bit_length(), q.bit_length()))
        return fmpq(p, q)
    if isinstance(number, fmpq):
        return number
    if isinstance(number, Decimal):
        return _from_decimal(number)
    if isinstance(number, float):
        raise Malformed(refusal(number))
    # NumPy's integers, SymPy's and gmpy2's rationals.
    if isinstance(number, Rational):
        return fmpq(int(number.numerator), int(number.denominator))
    return None


def _from_decimal(number: Decimal) -> fmpq:
    if not number.is_finite():
        raise Malformed(f"expected a finite number, found {number}")
    digits = len(number.as_tuple().digits)
    if digits > DIGITS.most:
        raise Malformed(DIGITS.said(digits))
    if not number:
        # 0E+999999999 has a power of ten that nobody could work out.
        return fmpq(0)
    if abs(number.adjusted()) > EXPONENT.most:
        raise Malformed(f"{number}: {EXPONENT.said()}")
    return fmpq(*number.as_integer_ratio())


def _need_short(bits: int) -> None:
    if bits > 10 * DIGITS.most // 3:
        raise Malformed(DIGITS.said(f"about {bits * 3 // 10}"))


def refusal(number: float) -> str:
    """What is said to a float: what to write instead."""
    if not math.isfinite(number):
        return f"expected a finite number, found {number}"
    # NumPy's own float64 is a float too, and would show itself with its type.
    text = repr(float(number))
    return (
        f"{text} is a float, not an exact number: write '{text}' as text, "
        f"Decimal('{text}') or a Fraction, or take its binary value with symattn.from_floats"
    )
