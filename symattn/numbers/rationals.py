"""Rational numbers: text and Python's exact numbers as ``fmpq``, within the limits
of :mod:`symattn.expressions.syntax`.

Printed numbers: what a document writes, with its digits and its unit in the last place.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from numbers import Rational

from flint import fmpq, fmpz

from symattn.errors import Malformed
from symattn.expressions.syntax import SIGNS
from symattn.limits import CHARACTERS, DIGITS, EXPONENT
from symattn.spelling import MINUSES, NUMBER, SIGN, about

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

    :class:`~symattn.errors.Malformed` for a float, a bool, what is not finite and what is too long.

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
    """Return what is said to a float: what to write instead."""
    if not math.isfinite(number):
        return f"expected a finite number, found {number}"
    # NumPy's own float64 is a float too, and would show itself with its type.
    text = repr(float(number))
    return (
        f"{text} is a float, not an exact number: write '{text}' as text, "
        f"Decimal('{text}') or a Fraction, or take its binary value with symattn.from_floats"
    )


def array_refusal(data: object) -> str:
    """Return what is said to an array of floats, of any package; '' to anything else. A number of
    NumPy's is told by its digits, as Python's floats are."""
    package = type(data).__module__.partition(".")[0]
    kind = str(getattr(data, "dtype", "")).rpartition(".")[2]
    if "float" not in kind or (package == "numpy" and not getattr(data, "ndim", 0)):
        return ""
    package = {"numpy": "NumPy", "jaxlib": "jax"}.get(package, package)
    thing = "tensor" if "tensor" in type(data).__name__.lower() else "array"
    return (
        f"a {package} {kind} {thing} is not exact: take its binary values with "
        "symattn.from_floats, or write the numbers as text"
    )


_PRINTED = re.compile(
    r"\s*(?:≈|~|=)?\s*(?P<sign>[+-]?)\s*(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?P<after>(?:\s*(?:[eE]|[x*]\s*10\^?\s*)\(?(?P<power>[+-]?[0-9]{1,3})\)?)?"
    r"\s*(?P<percent>%?))\s*(?:\.\.\.)?\s*\Z"
)
_BARE = re.compile(rf"=?\s*{SIGN}?\s*[0-9]+\Z")
#: What documents write for the signs of :data:`_PRINTED`, each as long as its
#: sign, so that places in the text stay what they are.
_SIGNS = str.maketrans({**dict.fromkeys(MINUSES, "-"), "×": "x", "·": "*"})

#: Longest text of a printed figure.
MAX_LENGTH = 80

# Decimal.scaleb must not round.
_WIDE = Context(prec=1000)


@dataclass(frozen=True)
class PrintedNumber:
    """A printed number: its value, and the value of a unit in its last place.

    ``digits`` counts its significant digits, ``places`` those behind the
    point; ``after`` is what follows them, a power of ten, a percent sign, or zeros
    of what is only about so many thousands.

    >>> p = read_printed("-0.0500")
    >>> p.value, p.unit, p.digits
    (-1/20, 1/10000, 3)
    """

    text: str
    value: fmpq
    unit: fmpq
    digits: int
    places: int
    after: str

    @property
    def is_bare(self) -> bool:
        """Return whether it is digits alone, a whole number that looks exact: no
        point, no percent sign, no power of ten, nothing that says "about".

        >>> [read_printed(text).is_bare for text in ("-3", "3.", "3%", "~3", "3...")]
        [True, False, False, False, False]
        """
        return _BARE.match(self.text) is not None

    @property
    def zeros(self) -> int:
        """The number of zeros at its end that only say how large it is: of about 39,000 three."""
        return len(self.after) - len(self.after.lstrip("0"))

    @property
    def count(self) -> int:
        """The value in units of the last place."""
        return int((self.value / self.unit).p)

    def shown_as(self, count: int) -> str:
        """Return so many units of the last place, in this figure's places and style.

        >>> read_printed("4.2 %").shown_as(39), read_printed("1.25e-7").shown_as(-98)
        ('3.9 %', '-0.98e-7')
        """
        return f"{Decimal(count).scaleb(-self.places, _WIDE):f}{self.after}"


#: A masked score, printed as minus infinity.
MINUS_INFINITY = "-inf"
#: Below this a score is hidden as by minus infinity: programs add -1e9 to it, or -1e4.
HIDDEN = -9999


def read_printed(raw: object) -> PrintedNumber | None:
    """A printed number; None for a masked score, printed as ``-inf``.

    Reads what documents print: trailing zeros, a typographic minus, percent
    signs, scientific notation, and about how many thousands something is. Raises
    :class:`Malformed` for anything else.

    >>> read_printed("50.7%").value, read_printed("1.2e-3").unit, read_printed("~39000").unit
    (507/1000, 1/10000, 1000)
    """
    written = _as_text(raw)
    text = written.translate(_SIGNS).replace("…", "...")
    if text.lower().replace(" ", "") in (MINUS_INFINITY, "-∞"):
        return None
    match = _PRINTED.match(text) if len(text) <= MAX_LENGTH else None
    if match is None or not (match["whole"] or match["part"]):
        raise Malformed(f"expected a printed number, found {written[:60]!r}")
    part, digits = match["part"] or "", match["whole"] or "0"
    zeros = "0" * about(text)
    power = int(match["power"] or 0) - (2 if match["percent"] else 0) - len(part) + len(zeros)
    unit = fmpq(10) ** power if power >= 0 else fmpq(1, 10**-power)
    count = int(digits.removesuffix(zeros) + part)
    value = unit * (-count if match["sign"] == "-" else count)
    after = zeros + written[match.start("after") : match.end("after")]
    return PrintedNumber(written, value, unit, len(str(count)) if count else 0, len(part), after)


def _as_text(raw: object) -> str:
    """Return what a document printed, from a TOML value: text, or a number whose
    digits TOML kept."""
    if isinstance(raw, str):
        return raw.strip()
    if isinstance(raw, Decimal):
        if not raw.is_finite():
            return str(raw).lower().replace("infinity", "inf")
        exponent = raw.as_tuple().exponent
        assert isinstance(exponent, int)
        return format(raw, "f") if -MAX_LENGTH < exponent <= 0 else str(raw)
    if isinstance(raw, int) and not isinstance(raw, bool):
        # A number of many thousand digits has no text at all.
        return str(raw) if raw.bit_length() < 4 * MAX_LENGTH else f"{raw.bit_length()} bits"
    raise Malformed(f"expected a printed number, found {raw!r}")
