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
from dataclasses import fields
from itertools import chain
from typing import NamedTuple

from symattn.documents.reading import Reading, chains
from symattn.documents.relocation import Relocatable, moved
from symattn.documents.text import Span
from symattn.editor.answers import Answer

#: So many answers are kept, each of a few thousand places.
_KEPT = 4
#: What of a reading is the text itself.
_WRITTEN = ("article", "passages")


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
        if set(chain(*told.spans)) <= set(chain(*known.spans)):
            self._kept[known.content] = _Kept(known.spans, told)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return answer


def _judged_of(reading: Reading) -> object:
    """All of a reading that it is judged by: not its words, but what they were taken to mean."""
    article = reading.article
    figures = Relocatable.of([(claim.span, claim.spans) for claim in reading.claims]).spans
    said = [article.said(span.start) for span in figures]
    known = article.path, article.form, article.title, article.notes, said
    meant = [getattr(reading, one.name) for one in fields(reading) if one.name not in _WRITTEN]
    return known, meant, list(chains(reading))
