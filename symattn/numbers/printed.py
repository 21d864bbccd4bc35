"""Printed numbers: what a document writes, with its digits and its unit in the last place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal

from flint import fmpq

from symattn.errors import Malformed
from symattn.spelling import MINUSES, SIGN

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
    def is_bare(self) -> bool:
        """Whether it is digits alone, a whole number that looks exact: no
        point, no percent sign, no power of ten, nothing that says "about".

        >>> [read_printed(text).is_bare for text in ("-3", "3.", "3%", "~3", "3...")]
        [True, False, False, False, False]
        """
        return _BARE.match(self.text) is not None

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


def read_printed(raw: object) -> PrintedNumber | None:
    """A printed number; None for a masked score, printed as ``-inf``.

    Reads what documents print: trailing zeros, a typographic minus, percent
    signs, scientific notation. Raises :class:`Malformed` for anything else.

    >>> read_printed("50.7%").value, read_printed("1.2e-3").unit
    (507/1000, 1/10000)
    """
    written = _as_text(raw)
    text = written.translate(_SIGNS).replace("…", "...")
    if text.lower().replace(" ", "") in (MINUS_INFINITY, "-∞"):
        return None
    match = _PRINTED.match(text) if len(text) <= MAX_LENGTH else None
    if match is None or not (match["whole"] or match["part"]):
        raise Malformed(f"expected a printed number, found {written[:60]!r}")
    part = match["part"] or ""
    power = int(match["power"] or 0) - (2 if match["percent"] else 0) - len(part)
    unit = fmpq(10) ** power if power >= 0 else fmpq(1, 10**-power)
    count = int((match["whole"] or "0") + part)
    value = unit * (-count if match["sign"] == "-" else count)
    after = written[match.start("after") : match.end("after")]
    return PrintedNumber(written, value, unit, len(str(count)) if count else 0, len(part), after)


def _as_text(raw: object) -> str:
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
