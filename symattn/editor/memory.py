"""What was told of texts before, and is told again where nothing that is judged has changed.

All that an audit of an article depends on is its reading, and of the places in it only how they
stand to each other, and what people call them. So a text whose reading is that of an earlier
version, moved, is answered what that was, moved. There is nothing that could become stale: a
text is read anew each time, and what differs in anything is judged anew.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from symattn.documents.reading import Reading, chains
from symattn.documents.relocation import Relocatable, moved
from symattn.documents.text import Span
from symattn.editor.answers import Answer
from symattn.shapes import rows_of

#: So many answers are kept, each of a few thousand places.
_KEPT = 4


class _Kept(NamedTuple):
    """Where all stood that an answer depends on, and the answer."""

    places: tuple[Span, ...]
    answer: Relocatable


class AnswerMemory:
    """The last answers, by what they depend on."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()

    def answer(self, reading: Reading, judged: Callable[[], Answer]) -> Answer:
        """What was told of such a reading before, at its places; what is ``judged`` where it
        was not seen before."""
        try:
            known = Relocatable.of(_judged_of(reading))
        except pickle.PicklingError:
            return judged()
        if (kept := self._kept.get(known.content)) is not None:
            self._kept.move_to_end(known.content)
            if (to := moved(kept.places, known.spans)) is not None:
                spans = [Span(to[span.start], to[span.end]) for span in kept.answer.spans]
                answer: Answer = kept.answer.at(spans)
                return answer
        answer = judged()
        told = Relocatable.of(answer)
        if {end for span in told.spans for end in span} <= {e for s in known.spans for e in s}:
            self._kept[known.content] = _Kept(known.spans, told)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return answer


def _judged_of(reading: Reading) -> object:
    """All of a reading that it is judged by: not its words, but what they were taken to mean."""
    article = reading.article
    grids = [rows_of(claim.spans) for claim in reading.claims if claim.spans is not None]
    figures = (span for rows in grids for row in rows for span in row)
    said = [article.said(span.start) for span in (*figures, *(one.span for one in reading.claims))]
    known = (article.path, article.form, article.title, article.notes, said)
    return known, replace(reading, article=None, passages=()), list(chains(reading))
