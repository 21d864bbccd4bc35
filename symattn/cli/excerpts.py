"""Lines of an article, cut around what is spoken of, with a mark under that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from symattn.escaping import visible

if TYPE_CHECKING:
    from symattn.documents.article import Article
    from symattn.documents.text import Span

#: Stands for what is left out of a line.
_CUT = "\N{HORIZONTAL ELLIPSIS}"
_ENDS = "\r\n"


class Excerpt(NamedTuple):
    """A line of an article: what stands before what is spoken of, that, and what is behind."""

    before: str
    marked: str
    behind: str

    @property
    def marks(self) -> str:
        """Carets below what is spoken of, one at least."""
        return " " * cell_len(self.before) + "^" * max(cell_len(self.marked), 1)


def excerpt(article: Article, span: Span, width: int) -> Excerpt:
    """The line that a span begins on, no wider than ``width`` cells: what is hidden is
    shown by its code, and what is left out by an ellipsis.

    >>> from pathlib import Path
    >>> from symattn.documents.article import Article
    >>> from symattn.documents.text import Span
    >>> post = Article(Path("post.md"), "markdown", "Weights: 0.51 and 0.49.", ())
    >>> found = excerpt(post, Span(9, 13), 16)
    >>> print("".join(found[:3]), found.marks, sep="\\n")
    …hts: 0.51 and …
          ^^^^
    """
    room = max(width, 8)
    # A line may be as long as the file: no more of it is looked at than could be shown.
    source, start = article.source, span.start
    left = _after_end(source[max(start - room - 1, 0) : start])
    marked = _line(source[start : min(span.end, start + room)])
    end = start + len(marked)
    # Nothing stands behind what itself goes on.
    right = _line(source[end : end + room + 1]) if end >= span.end else ""
    shown_marked = _fitted(marked, room)
    rest = room - _cells(shown_marked)
    if len(left) <= room:
        left = left.lstrip()
    behind = _fitted(right, rest - min(_cells(map(_displayed, left)), rest // 2))
    before = _fitted(reversed(left), rest - _cells(behind))
    return Excerpt("".join(reversed(before)), "".join(shown_marked), "".join(behind))


def _line(text: str) -> str:
    """Text up to where its line ends."""
    return text[: min((at for end in _ENDS if (at := text.find(end)) >= 0), default=len(text))]


def _after_end(text: str) -> str:
    """Text from where its last line begins."""
    return text[max(map(text.rfind, _ENDS)) + 1 :]


def _displayed(character: str) -> str:
    return " " if character == "\t" else visible(character)


def _fitted(text: Iterable[str], room: int) -> list[str]:
    """The characters as they are shown, as many as there is room for; one cell of that is
    kept for the ellipsis where some are left out."""
    pieces: list[str] = []
    used = 0
    for character in text:
        piece = _displayed(character)
        used += cell_len(piece)
        if used > room:
            while pieces and _cells(pieces) >= room:
                pieces.pop()
            return [*pieces, _CUT] if room > 0 else []
        pieces.append(piece)
    return pieces


def _cells(pieces: Iterable[str]) -> int:
    return sum(map(cell_len, pieces))
