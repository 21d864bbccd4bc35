"""Printed figures: their digits, their places, and whether they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from flint import arb, fmpq

from symattn.errors import Malformed, Undecided
from symattn.numbers import rounding
from symattn.numbers.balls import FIRST, LAST, precision
from symattn.numbers.values import Value, rational
from symattn.verdicts import Verdict

_PRINTED = re.compile(
    r"\s*(?:≈|~|=)?\s*(?P<sign>[+-]?)\s*(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?:\s*(?:e|E|[x*]\s*10\^?\s*)\(?(?P<power>[+-]?[0-9]{1,3})\)?)?\s*(?P<percent>%?)\s*(?:\.\.\.)?\s*\Z"
)
_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "x", "·": "*", "…": "..."})


@dataclass(frozen=True)
class Printed:
    """A printed number: its value, and the value of a unit in its last place.

    >>> p = read_printed("-0.0500")
    >>> p.value, p.unit, p.digits
    (-1/20, 1/10000, 3)
    """

    text: str
    value: fmpq
    unit: fmpq
    digits: int

    def shown_as(self, number: Decimal) -> str:
        """A number with this figure's places, in this figure's style."""
        if "%" in self.text:
            return f"{number * 100:f}".rstrip() + "%"
        if re.search(r"[eE]|10", self.text.translate(_SIGNS)) and self.unit < fmpq(1, 10**6):
            return f"{number:E}"
        return format(number, "f")


#: A masked score, printed as minus infinity.
MINUS_INFINITY = "-inf"


def read_printed(raw: Any) -> Printed | None:
    """A printed number; None for a masked score, printed as ``-inf``.

    Reads what documents print: trailing zeros, a typographic minus, percent
    signs, scientific notation. Raises :class:`Malformed` for anything else.

    >>> read_printed("50.7%").value, read_printed("1.2e-3").unit
    (507/1000, 1/10000)
    """
    if isinstance(raw, bool) or not isinstance(raw, int | str | Decimal):
        raise Malformed(f"expected a printed number, found {raw!r}")
    if isinstance(raw, Decimal) and not raw.is_finite():
        raw = str(raw).lower().replace("infinity", "inf")
    text = (format(raw, "f") if _is_plain(raw) else str(raw)).strip().translate(_SIGNS)
    if text.lower().replace(" ", "") in (MINUS_INFINITY, "-∞"):
        return None
    match = _PRINTED.match(text) if len(text) <= 80 else None
    if match is None or not (match["whole"] or match["part"]):
        raise Malformed(f"expected a printed number, found {str(raw)[:60]!r}")
    part = match["part"] or ""
    power = int(match["power"] or 0) - (2 if match["percent"] else 0)
    unit = (
        fmpq(10) ** (power - len(part))
        if power >= len(part)
        else fmpq(1, 10 ** (len(part) - power))
    )
    count = int((match["whole"] or "0") + part)
    value = unit * (-count if match["sign"] == "-" else count)
    return Printed(str(raw), value, unit, len(str(count)) if count else 0)


def _is_plain(raw: Any) -> bool:
    """Whether a TOML number was printed without a power of ten."""
    return isinstance(raw, Decimal) and -30 < raw.as_tuple().exponent <= 0  # type: ignore[operator]


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
            exact = rounding.to_integer(real, 1 / printed.unit, self.mode)
            same = exact * printed.unit == printed.value
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


def corrected(real: rounding.Real, printed: Printed, mode: str) -> Decimal:
    """The exact value at the printed places, correctly rounded."""
    count = rounding.to_integer(real, 1 / printed.unit, mode)
    exponent = len(str(printed.unit.q)) - 1 if printed.unit < 1 else 1 - len(str(printed.unit.p))
    return Decimal(count).scaleb(-exponent)


def is_truncated(real: rounding.Real, printed: Printed) -> bool:
    """Whether the figure is the exact value cut off behind its last place."""
    count = rounding.to_integer(real, 1 / printed.unit, "down")
    return count * printed.unit == printed.value


def is_vacuous(value: Value, printed: Printed) -> bool:
    """Whether so few digits are printed that almost anything would pass:
    one or none, of a value that is not exactly what is printed."""
    return printed.digits <= 1 and (value - rational(printed.value)).is_zero() is not Verdict.HOLDS
