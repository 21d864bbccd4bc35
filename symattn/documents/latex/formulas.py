"""The sources of formulas, gathered from a stream of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from symattn.documents.latex.commands import HEADINGS, KEPT
from symattn.documents.latex.macros import Stream, inside
from symattn.documents.latex.tokens import is_paragraph
from symattn.documents.text import Span, Text

_WORD = re.compile(r"\\[A-Za-z@]++\Z")


def formula(
    stream: Stream,
    end: str,
    note: Callable[[Text], None],
    others: Sequence[str] = (),
    opening: Text | None = None,
) -> tuple[Text, str]:
    """The source of a formula up to its end, and what ended it: ``end`` or one of
    ``others``, which are taken from the stream; or '' for one that isn't closed.

    ``opening``, if there is one, is part of the formula, and so is its end then.
    ``$`` and ``\\)`` may be missing in what is broken: their formula ends with its
    paragraph. An environment ends before the next heading, if not sooner.
    """
    tokens: list[Text] = [opening] if opening else []
    last, depth = "", 0
    begin = end.replace("\\end", "\\begin") if end.startswith("\\end") else ""
    while (token := stream.next()) is not None:
        string = token.string
        if string in HEADINGS or string == "\\end{document}":
            stream.push([token])
            break
        if not begin and is_paragraph(token):
            stream.push([token])
            break
        if string == end and depth <= 0:
            last = string
            tokens += [token] if opening else []
            break
        if string in others:
            last = string
            break
        if string[0] == "%":
            note(token)
            continue
        if string == "\\ensuremath":
            stream.push(inside(stream.argument()))
            continue
        if begin:
            depth += (string == begin) - (string == end)
        elif end == "$":
            depth += (string == "{") - (string == "}")
        tokens.append(token)
    return joined(tokens).stripped(), last


def joined(tokens: Iterable[Text]) -> Text:
    """Tokens as one text; a command doesn't run into the letter after it."""
    pieces: list[Text] = []
    for token in tokens:
        if pieces and token.string[:1].isalpha() and _WORD.match(pieces[-1].string):
            pieces.append(token.before(" "))
        pieces.append(token)
    return Text.joined(pieces)


class Macros:
    """The macros that the formulas of a page define for those behind them.

    >>> macros = Macros()
    >>> str(macros.expanded(Text.whole(r"\\newcommand{\\W}{W^Q}")))
    ''
    >>> str(macros.expanded(Text.whole(r"\\W x \\label{eq:1}")))
    'W^Q x'
    """

    def __init__(self) -> None:
        self._stream = Stream(Text.whole(""), KEPT)

    @property
    def stopped(self) -> Span | None:
        """Where macros were no longer expanded, because they wrote too much."""
        return self._stream.stopped

    def expanded(self, source: Text) -> Text:
        """The source of a formula without macros, labels and comments."""
        if "\\" not in source.string and "%" not in source.string:
            return source.stripped()
        self._stream.follow(source)
        tokens = [token for token in iter(self._stream.next, None) if token.string[0] != "%"]
        return joined(tokens).stripped()
