"""Spellings of numbers and Greek letters: what all that reads or prints them shares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho"
    " sigma tau upsilon phi chi psi omega"
)
#: The Greek letters by their names.
GREEK: Mapping[str, str] = dict(zip(_NAMES.split(), "αβγδεζηθικλμνξοπρστυφχψω", strict=True))
#: Raised digits and signs, and what they raise.
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True))

#: Signs of a minus, as keyboards, formulas and prose have them.
MINUSES = "-−–"

# Parts of regular expressions. None of them gives back what it took: long texts take one pass.
SIGN = f"[{MINUSES}+]"
#: A number as programs write it: a point may end it, as in "1.".
NUMBER = r"(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)"
#: One in a sentence, which a point may end too.
DECIMAL = r"(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)"
#: What is written for a sign in a number that may part its decimals, its thousands or two.
EITHER = "\u201a"
POWER_OF_TEN = f"(?:[eE]{SIGN}?+[0-9]++)"
#: An entry of an array, as programs and authors print it.
ENTRY = (
    rf"(?:{SIGN}?+{NUMBER}{POWER_OF_TEN}?+%?+(?![\w.])"
    rf"|{SIGN}?+(?:inf(?:inity)?\b|Infinity\b|∞)|[nN]a[nN]\b|True\b|False\b|\.\.\.|…)"
)

_RAISED = f"[{''.join(SUPERSCRIPTS)}]"
_TIMES_TEN = rf"\s*+[×·*]\s*+10(?:\^?+[({{]?+{SIGN}?+[0-9]++[)}}]?+|{_RAISED}++)"
_FIGURE = re.compile(
    rf"\s*+{SIGN}?+\s*+(?=[.,]?[0-9])[0-9.,]++(?:{POWER_OF_TEN}|{_TIMES_TEN})?+\s*+\\?+%?+\s*+\Z"
)
_WRITTEN = re.compile(
    rf"[~≈]?\s*{SIGN}?(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<power>[+-]?[0-9]{{1,4}}))?"
)
_ABOUT = re.compile(rf"\s*[~≈]\s*{SIGN}?\s*[0-9]*[1-9](?P<zeros>00+)\s*")
_WHOLE = re.compile(rf"{SIGN}?[0-9]++\Z")
_SHORT = re.compile(r"[0-9]{1,9}\Z")


class WrittenNumber(NamedTuple):
    """A printed number by its digits before and behind the point, and its power of ten."""

    whole: str
    part: str
    power: int

    @property
    def decimals(self) -> int:
        """Tell how many decimal places it has, as its power of ten moves the point; less than 0
        where it ends before the ones. One in percent has those that stand there.

        >>> [written(text).decimals for text in ("0.04201", "4.201e-2", "1.2e3", "50.7%", "~900")]
        [5, 5, -2, 1, -2]
        """
        return len(self.part) - self.power

    @property
    def digits(self) -> str:
        """Return those that tell it from others: without the zeros around them.

        >>> [written(text).digits for text in ("-0.0420", "4.20e-02", "0.0")]
        ['42', '42', '']
        """
        return (self.whole + self.part).strip("0")

    @property
    def is_exact(self) -> bool:
        """Tell whether it is what it says where nothing else is known: no more than one digit
        behind the point, and none before a power of ten.

        >>> [written(text).is_exact for text in ("12", "0.5", "2.", "0.50", "1.5e-2", "1e-5")]
        [True, True, True, False, False, True]
        """
        return not self.part or (len(self.part) == 1 and not self.power)


def written(text: str) -> WrittenNumber:
    """The digits of a printed number; none of a text that is none."""
    match = _WRITTEN.match(text)
    assert match is not None  # All of it may be missing.
    zeros = about(text)
    whole = match["whole"].removesuffix("0" * zeros)
    return WrittenNumber(whole, match["part"] or "", int(match["power"] or 0) + zeros)


def about(text: str) -> int:
    """Return how many zeros at the end of a whole number say only how large it is: of about so many
    hundreds, or thousands.

    >>> [about(text) for text in ("~39000", "≈ 1,000", "39000", "~39000.0", "~10")]
    [3, 0, 0, 0, 0]
    """
    match = _ABOUT.fullmatch(text)
    return len(match["zeros"]) if match else 0


def is_figure(text: str) -> bool:
    """Return whether a text is one printed number and nothing else.

    >>> [is_figure(text) for text in ("-0.50", "27.4 %", "1,234", "4.2 × 10⁻²", "A")]
    [True, True, True, True, False]
    """
    return _FIGURE.match(text) is not None


def is_whole(text: str) -> bool:
    """Return whether a text is a whole number, perhaps with a sign.

    >>> is_whole("-12"), is_whole("12.0")
    (True, False)
    """
    return _WHOLE.match(text) is not None


def whole(text: str) -> int | None:
    """The number that a few digits are; None for any other text.

    >>> whole("12"), whole("-1"), whole("²")
    (12, None, None)
    """
    return int(text) if _SHORT.match(text) else None


def pairs(text: str) -> dict[str, str]:
    """Return what stands behind each other word of a table that is written as text.

    >>> pairs("part 1 section 2")
    {'part': '1', 'section': '2'}
    """
    listed = text.split()
    return dict(zip(listed[::2], listed[1::2], strict=True))


def words(text: str) -> frozenset[str]:
    """The words of a table that is written as text.

    >>> sorted(words("pre code"))
    ['code', 'pre']
    """
    return frozenset(text.split())
