"""What a reader did not expect, kept to the piece that it was reading.

That piece is then not understood: its numbers are counted as not read, and why stands
where it stands. Who asked for tracebacks gets the exception instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from symattn.documents.text import Text
from symattn.documents.trees import Chain, Opaque, PrintedFigure
from symattn.errors import lacks_memory, shows_tracebacks, unforeseen
from symattn.spelling import DECIMAL

T = TypeVar("T")


def contained(read: Callable[[], Iterable[T]], otherwise: Callable[[str], T]) -> tuple[T, ...]:
    """What a reader finds in a piece; where it fails, what stands for a piece that is not
    understood, made of the reason.

    >>> contained(lambda: [1, 2], len)
    (1, 2)
    """
    try:
        return tuple(read())
    except Exception as error:
        if lacks_memory(error) or shows_tracebacks():
            raise
        return (otherwise(unforeseen(error)),)


def opaque(why: str, *texts: Text) -> Opaque:
    """Texts that are not understood, with the numbers in them, and why.

    >>> opaque("", Text.whole("A = 0.5")).figures
    (Figure(text='0.5', span=Span(start=4, end=7)),)
    """
    found = [(text, one) for text in texts for one in re.finditer(DECIMAL, text.string)]
    figures = tuple(PrintedFigure(one[0], text.span(*one.span())) for text, one in found)
    said = " ".join(text.string for text in texts)
    return Opaque(said, texts[0].span().to(texts[-1].span()), figures, why)


def alone(member: Opaque) -> Chain:
    """A chain of that alone."""
    return Chain((member,), (), (member.span,))
