"""Printed figures: their digits, their places, and whether they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from flint import arb, fmpq

from symattn.errors import Malformed, Undecided
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST, LAST, precision
from symattn.numbers.values import Value, rational
from symattn.verdicts import Verdict

_PRINTED = re.compile(
    r"\s*(?:≈|~|=)?\s*(?P<sign>[+-]?)\s*(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?P<after>(?:\s*(?:[eE]|[x*]\s*10\^?\s*)\(?(?P<power>[+-]?[0-9]{1,3})\)?)?"
    r"\s*(?P<percent>%?))\s*(?:\.\.\.)?\s*\Z"
)
#: What documents write for the signs of :data:`_PRINTED`, each as long as its
#: sign, so that places in the text stay what they are.
_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "x", "·": "*"})

#: Longest text of a printed figure.
MAX_LENGTH = 80

# Decimal.scaleb must not round.
_WIDE = Context(prec=1000)


@dataclass(frozen=True)
class Printed:
    """A printed number: its value, and the value of a unit in its last place.

    ``digits`` counts its significant digits, ``places`` those behind the
    point; ``after`` is what follows them, a power of ten or a percent sign.

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
    def count(self) -> int:
        """The value in units of the last place."""
        return int((self.value / self.unit).p)

    def shown_as(self, count: int) -> str:
        """So many units of the last place, in this figure's places and style.

        >>> read_printed("4.2 %").shown_as(39), read_printed("1.25e-7").shown_as(-98)
        ('3.9 %', '-0.98e-7')
        """
        return f"{Decimal(count).scaleb(-self.places, _WIDE):f}{self.after}"


#: A masked score, printed as minus infinity.
MINUS_INFINITY = "-inf"


def read_printed(raw: Any) -> Printed | None:
    """A printed number; None for a masked score, printed as ``-inf``.

    Reads what documents print: trailing zeros, a typographic minus, percent
    signs, scientific notation. Raises :class:`Malformed` for anything else.

    >>> read_printed("50.7%").value, read_printed("1.2e-3").unit
    (507/1000, 1/10000)
    """
    shown = _as_text(raw)
    text = shown.translate(_SIGNS).replace("…", "...")
    if text.lower().replace(" ", "") in (MINUS_INFINITY, "-∞"):
        return None
    match = _PRINTED.match(text) if len(text) <= MAX_LENGTH else None
    if match is None or not (match["whole"] or match["part"]):
        raise Malformed(f"expected a printed number, found {shown[:60]!r}")
    part = match["part"] or ""
    power = int(match["power"] or 0) - (2 if match["percent"] else 0) - len(part)
    unit = fmpq(10) ** power if power >= 0 else fmpq(1, 10**-power)
    count = int((match["whole"] or "0") + part)
    value = unit * (-count if match["sign"] == "-" else count)
    after = shown[match.start("after") : match.end("after")]
    return Printed(shown, value, unit, len(str(count)) if count else 0, len(part), after)


def _as_text(raw: Any) -> str:
    """What a document printed, from a TOML value: text, or a number whose
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


@dataclass(frozen=True)
class Standard:
    """What a document promises of its figures: a rounding, or a tolerance."""

    mode: str = "half-even"
    tolerance: fmpq | None = None

    def verdict(self, real: rounding.Real, printed: Printed) -> Verdict:
        """Whether a figure holds.

        It does when the exact value rounds to it at its printed places; on an
        exact tie either neighbour holds. A declared directed rounding must
        give the figure itself; a declared tolerance is the largest distance.
        """
        try:
            if self.tolerance is not None:
                return _within(real, printed.value, self.tolerance)
            if self.mode.startswith("half"):
                return _within(real, printed.value, printed.unit / 2)
            same = correct_count(real, printed, self.mode) == printed.count
            return Verdict.HOLDS if same else Verdict.REFUTED
        except Undecided:
            return Verdict.UNDECIDED


def _within(real: rounding.Real, centre: fmpq, distance: fmpq) -> Verdict:
    """Whether ``|real - centre| <= distance``, decided exactly at the ends."""
    bits = FIRST
    while bits <= LAST:
        with precision(bits):
            gap = abs(real.ball(bits) - arb(centre)) - arb(distance)
        if gap < 0:
            return Verdict.HOLDS
        if gap > 0:
            return Verdict.REFUTED
        if bits > FIRST:
            for end in (centre - distance, centre + distance):
                if (real.value - rational(end)).is_zero() is Verdict.HOLDS:
                    return Verdict.HOLDS
        bits *= 4
    return Verdict.UNDECIDED


def correct_count(real: rounding.Real, printed: Printed, mode: str) -> int:
    """The exact value in units of the figure's last place, correctly rounded."""
    return rounding.to_integer(real, 1 / printed.unit, mode)


def is_truncated(real: rounding.Real, printed: Printed) -> bool:
    """Whether the figure is the exact value cut off behind its last place."""
    return correct_count(real, printed, "down") == printed.count


def is_vacuous(value: Value, printed: Printed) -> bool:
    """Whether so few digits are printed that almost anything would pass:
    one or none, of a value that is not exactly what is printed."""
    return printed.digits <= 1 and (value - rational(printed.value)).is_zero() is not Verdict.HOLDS
