"""Notes of authors to symattn: in notes inside an article, and in a side file."""

from __future__ import annotations

from symattn.documents.article import Article
from symattn.documents.help.notes import (
    FigureHelp,
    Help,
    HelpDraft,
    HelpExpression,
    Origin,
    SideFile,
    Under,
    WrittenValue,
    beside,
    malformed,
    read_side_file,
    take_notes,
    take_side_file,
)

__all__ = [
    "NONE",
    "FigureHelp",
    "Help",
    "HelpExpression",
    "Origin",
    "SideFile",
    "Under",
    "WrittenValue",
    "beside",
    "help_of",
    "malformed",
    "read_side_file",
]

#: Where the author says nothing.
NONE = Help()


def help_of(article: Article, side: SideFile | None = None) -> Help:
    """Return what is said of an article in its notes, and in a side file.

    Raises :class:`Malformed` with every fault of both, each with its line.

    >>> from pathlib import Path
    >>> from symattn.documents.files import article
    >>> made = article(Path("post.md"), b"<!-- symattn: T = S / sqrt(d_k) -->\\n")
    >>> help_of(made).steps["T"].text
    'S / sqrt(d_k)'
    """
    draft = HelpDraft()
    take_notes(article, draft)
    if side is not None:
        take_side_file(article, side, draft)
    return draft.checked()
