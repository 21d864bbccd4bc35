"""Lines of a text, each with its places."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.documents.text import Text

_END = re.compile(r"\r\n?")


def unified(text: Text) -> Text:
    """The text with ``\\n`` at the end of each line, however the file ends its lines.

    >>> text = unified(Text.whole("a\\r\\nb"))
    >>> str(text), text.span(1, 2)
    ('a\\nb', Span(start=1, end=3))
    """
    return text.sub(_END, "\n")


def divided(text: Text) -> Iterator[Text]:
    """Its lines, each with its ``\\n``, as it stands; no other sign ends one.

    >>> [str(line) for line in divided(Text.whole("a\\n\\nb"))]
    ['a\\n', '\\n', 'b']
    """
    start = 0
    while start < len(text):
        end = text.string.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end
