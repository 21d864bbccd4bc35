"""Numbers among words that claim nothing: those of sections and versions, sizes and times."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.documents.trees import PrintedFigure, Words

#: What stands right before a number that only says where something is, or which one.
_REFERS = re.compile(
    r"(?:\b(?:sections?|sec\.?|chapters?|ch\.|figures?|figs?\.?|tables?|tab\.|equations?|eqs?\.?"
    r"|appendix|problems?|exercises?|theorem|lemma|listing|footnote|pages?|pp?\.|rooms?"
    r"|versions?|release|python|numpy|pytorch|torch|jax|cuda|tensorflow)|§)"
    r"[\s~]{0,3}\(?v?\Z",
    re.I,
)
#: What stands right before a number that says how a model is trained.
_TRAINS = re.compile(
    r"\b(?:learning rates?|dropout|weight decay|momentum|label smoothing)"
    r"(?:\s(?:of|is|was|=|to))?\s{0,3}\Z",
    re.I,
)
#: What stands right behind a number of a size, a time or a price.
_MEASURES = re.compile(
    r"(?:\s?(?:[kKMG]i?B|[kMG]?Hz|[mµn]s|[ckm]?m|k?g)|[KMBk]|\s(?:seconds?|secs?|s|minutes?|mins?"
    r"|hours?|h|days?|million|billion|thousand|points?|euros?|dollars?))(?![\w^(])"
)
_PRICES = re.compile(r"[$€£]\s?\Z")
#: So many characters before a number are looked at.
_BEFORE = 40


def found(words: Words) -> Iterator[PrintedFigure]:
    """The figures among words that claim nothing.

    >>> from symattn.documents.text import Span
    >>> said = "see section 3.2: 0.25 in 1.5 ms"
    >>> figures = [PrintedFigure(one, Span(said.index(one), 0)) for one in ("3.2", "0.25", "1.5")]
    >>> [one.text for one in found(Words(said, Span(0, 0), tuple(figures)))]
    ['3.2', '1.5']
    """
    at = 0
    for figure in words.figures:
        digits = figure.text.lstrip("+-").rstrip("%").rstrip()
        start = words.text.find(digits, at)
        if start < 0:
            continue
        at = start + len(digits)
        before = words.text[max(start - _BEFORE, 0) : start]
        announced = any(said.search(before) for said in (_REFERS, _TRAINS, _PRICES))
        if announced or _MEASURES.match(words.text, at):
            yield figure
