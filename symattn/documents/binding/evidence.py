"""Evidence in bits for what printed figures are the values of.

A bit doubles the odds. What a figure says is counted from its digits: one that agrees in
four digits can hardly do so by chance, zeros and ones say next to nothing, one that is
far off speaks against. All else stands in two tables. :data:`EVIDENCE` is what names, words
and places are worth for saying what a block is, set by hand. :data:`TRUST` is what tells a
mistake from a misreading where a block disagrees: its weights are estimated by logistic
regression on marked articles (``python -m tests.documents.weights``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, inf, isfinite, log2, log10
from typing import Literal, NamedTuple

from symattn.documents.binding.bounds import interval
from symattn.languages.sentence import Sentence
from symattn.spelling import is_whole, written

#: What a digit says.
_DIGIT = log2(10)
#: More digits than that say no more: a figure may be copied.
_MOST = 4
#: One figure in so many is misprinted, and one in so many by a little only.
_MISS, _NEAR, _MISPRINT = log2(24), log2(200), log2(900)
_DECIMAL = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
#: What is no farther from a whole number may be printed as one.
_WHOLE = 0.02
#: So many units in the last place are a little.
_UNITS = 3
#: More speaks against a block only as one mistake does that all of it carries.
_SYSTEMATIC = 9.0


@lru_cache(maxsize=1 << 14)
def information(text: str) -> float:
    """The bits that a printed figure tells it from others by: its digits without the zeros
    around them; 0 and 1 stand everywhere.

    >>> [round(information(text), 1) for text in ("0.2741", "0.50", "1.00", "12")]
    [13.3, 3.3, 1.0, 6.6]
    """
    digits = written(text).digits
    return 1.0 if digits in ("", "1") else _DIGIT * min(len(digits), _MOST)


def telling(texts: Iterable[str]) -> Mapping[str, float]:
    """The bits that each figure of a block tells it from others by: what stands there twice
    tells no more than once, and where one is known, the others tell no more digits than
    those in which all differ. To a block that is constant, or nearly, many others come.

    >>> {text: round(bits, 1) for text, bits in telling(["0.21", "0.20", "0.20", "0.19"]).items()}
    {'0.21': 6.6, '0.20': 3.3, '0.19': 3.3}
    """
    return _telling(tuple(texts))


@lru_cache(maxsize=1 << 10)
def _telling(texts: tuple[str, ...]) -> Mapping[str, float]:
    known: dict[str, float] = {}
    for text in texts:
        # Of a number and its negative one tells no more than a sign.
        is_again = {text.lstrip("+-"), "-" + text.lstrip("+-")} & known.keys() - {text}
        known[text] = min(information(text), 1.0) if is_again else information(text)
    ends = {text: one for text in known if (one := interval(text)) and isfinite(sum(one))}
    if len(ends) < 2:
        return known
    spread = max(high for _, high in ends.values()) - min(low for low, _ in ends.values())
    most = max(known, key=lambda text: known[text])
    for text, (low, high) in ends.items():
        if text != most and low < high:
            digits = ceil(log10(spread / (high - low)) - 1e-9)
            known[text] = min(known[text], _DIGIT * digits)
    return known


@dataclass(frozen=True)
class Agreement:
    """The agreement of a block's figures with a value: how many agree of how many, and the bits."""

    agreeing: int = 0
    figures: int = 0
    support: float = 0.0
    against: float = 0.0

    @property
    def bits(self) -> float:
        """For and against; one mistake may have made all that is against."""
        return self.support - min(self.against, _SYSTEMATIC)

    @property
    def share(self) -> float:
        """The part of the figures that agree."""
        return self.agreeing / self.figures if self.figures else 0.0

    @property
    def sentence(self) -> str:
        """Return how many agree, for people."""
        count = {"count": self.agreeing, "all": self.figures}
        return Sentence("{count} of {all} figures agree", **count)


def agreement(pairs: Iterable[tuple[str, float]]) -> Agreement:
    """Return what figures say for the values that they would be of (see :func:`telling`).

    >>> found = agreement([("0.27", 0.2741), ("0.45", 0.4518), ("0.3", 0.9)])
    >>> found.sentence, round(found.bits, 1)
    ('2 of 3 figures agree', 8.7)
    """
    block = list(pairs)
    known = telling(text for text, _ in block)
    agreeing = 0
    support: dict[str, float] = {}
    against: dict[str, float] = {}
    for text, value in block:
        bits = figure_bits(text, value)
        if bits is None:
            agreeing += 1
            support[text] = known[text]
        elif bits > 0:
            support.setdefault(text, min(bits, known[text]))
        else:
            against[text] = -bits
    return Agreement(agreeing, len(block), sum(support.values()), sum(against.values()))


def figure_bits(text: str, value: float) -> float | None:
    """Return what a figure that isn't a value's says of it all the same; None where it is the
    value's own, rounded."""
    ends = interval(text)
    if ends is None or value != value:
        return -_MISS
    low, high = ends
    is_whole_value = abs(value - round(value)) < _WHOLE if isfinite(value) else True
    if low <= value <= high and (is_whole_value or not is_bare(text)):
        return None
    middle = (low + high) / 2
    if not (isfinite(middle) and isfinite(value)):
        return -_MISS
    is_near = abs(value - middle) <= _UNITS * (high - low) or low <= -value <= high
    rare = _NEAR if is_near else _MISPRINT if _is_misprint(text, value) else inf
    return max(information(text) - rare, -_MISS)


def is_bare(text: str) -> bool:
    """Return whether a figure has no digit behind a point: a program shows zeros as "0.".

    >>> is_bare("0."), is_bare("12"), is_bare("0.0")
    (True, True, False)
    """
    return is_whole(text.removesuffix("."))


def _is_misprint(text: str, value: float) -> bool:
    """Return whether a figure is what would be right with one digit another, or two neighbours
    exchanged."""
    shown, power, _ = text.rstrip("% ").lower().partition("e")
    if not _DECIMAL.fullmatch(shown):
        return False
    places, value = len(written(shown).part), value * (100 if text.endswith("%") else 1)
    right = f"{value:.{places}{power or 'f'}}"
    if power:
        right, _, right_exponent = right.partition(power)
        if int(right_exponent) != written(text).power:
            return False
    if len(right) != len(shown):
        return False
    off = [k for k, (a, b) in enumerate(zip(shown, right, strict=True)) if a != b]
    return len(off) == 1 or (
        len(off) == 2
        and off[1] - off[0] == 1
        and shown[off[0] : off[1] + 1] == right[off[0] : off[1] + 1][::-1]
    )


#: What tells what a block is, or whether to believe that.
Kind = Literal[
    "note", "formula", "name", "suggested", "adjacent", "around", "row", "labels", "output",
    "working", "result", "sentence", "loose", "arithmetic", "figures", "value",
    "digits", "miss", "kin", "operands", "company", "section", "article",
    "assumed", "rival",
]  # fmt: skip


class Evidence(NamedTuple):
    """A reason to take a block for something: how many bits, what it is called in a report, and for
    short."""

    bits: float
    called: str
    short: str


#: All of it, in the order in which a report names it.
EVIDENCE: Mapping[Kind, Evidence] = {
    "note": Evidence(40.0, Sentence("the author's note"), Sentence("notes")),
    "formula": Evidence(14.0, Sentence("the formula beside it"), Sentence("formulas")),
    "name": Evidence(10.0, Sentence("its name"), Sentence("names")),
    "suggested": Evidence(5.0, Sentence("what its name suggests"), Sentence("names")),
    "adjacent": Evidence(6.0, Sentence("the words before it"), Sentence("words")),
    "around": Evidence(3.0, Sentence("what is spoken of there"), Sentence("words")),
    "row": Evidence(1.0, Sentence("the row that is spoken of"), Sentence("words")),
    "labels": Evidence(6.0, Sentence("its labels"), Sentence("labels")),
    "output": Evidence(8.0, Sentence("the code that shows it"), Sentence("code")),
    "working": Evidence(8.0, Sentence("the working that it stands in"), Sentence("workings")),
    "result": Evidence(8.0, Sentence("the numbers that come to it"), Sentence("workings")),
    "figures": Evidence(10.0, Sentence("the blocks that come to it"), Sentence("figures")),
    "sentence": Evidence(7.0, Sentence("its sentence"), Sentence("words")),
    "loose": Evidence(3.0, Sentence("its sentence"), Sentence("words")),
    "arithmetic": Evidence(10.0, Sentence("the numbers beside it"), Sentence("arithmetic")),
    "value": Evidence(-6.0, Sentence("its value"), Sentence("values")),
}


#: What says of a block that disagrees whether it is a mistake (more than 0), or misread.
TRUST: Mapping[Kind, float] = {
    "digits": 2.2, "miss": -2.3, "kin": 1.2, "operands": 0.6, "company": 1.8, "section": 1.9,
    "article": 2.1, "formula": 1.4, "name": 0.5, "result": 0.4, "output": 0.4, "row": 0.6,
    "around": 0.5, "working": -1.0, "sentence": -0.4, "loose": -0.5, "figures": -0.6,
    "labels": 0.4, "suggested": 0.4,
}  # fmt: skip
#: Odds before anything is known.
PRIOR = -4.7
#: So many bits make a refutation.
MARGIN = 1.0


def structure(kinds: Collection[Kind]) -> float:
    """Return what names, words and places say together."""
    return sum(EVIDENCE[kind].bits for kind in kinds)
