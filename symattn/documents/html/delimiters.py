"""Formulas in the text of pages that MathJax or KaTeX render where they are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from symattn.documents.article import PartKind
from symattn.documents.environments import DISPLAYS, INNER
from symattn.documents.text import Text

_OPENING = re.compile(r"\\[\\$]|\\\(|\\\[|\$\$|\$|\\begin\{(?P<name>[A-Za-z]{1,20}\*?)\}")
_CLOSING = {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "$": "$"}

Display = Literal["display"]


def split(text: Text, dollars: bool) -> Iterator[tuple[PartKind | Display, Text]]:
    """A text as words and the sources of formulas in it; ``dollars`` where a single one
    is a mark too.

    >>> [(kind, str(piece)) for kind, piece in split(Text.whole(r"so \\(x\\): $5"), False)]
    [('text', 'so '), ('math', 'x'), ('text', ': $5')]
    """
    string, at, done = text.string, 0, 0
    missing: set[str] = set()
    while match := _OPENING.search(string, at):
        at, mark, name = match.end(), match[0], match["name"]
        is_inner = name is not None and name.rstrip("*") in INNER
        if name is None:
            closing = _CLOSING.get(mark, "")
        else:
            closing = f"\\end{{{name}}}" if is_inner or name.rstrip("*") in DISPLAYS else ""
        if not closing or closing in missing or (mark == "$" and not dollars):
            continue
        end = string.find(closing, at)
        if end < 0:
            missing.add(closing)
            continue
        if mark == "$" and not _is_formula(string, at, end):
            continue
        yield "text", text[done : match.start()]
        done = end + len(closing)
        inner = text[match.start() : done] if is_inner else text[at:end]
        yield ("math" if mark in ("$", "\\(") else "display"), inner
        at = done
    yield "text", text[done:]


def _is_formula(string: str, at: int, end: int) -> bool:
    """Whether what stands between two dollars is a formula, and not two prices."""
    following = string[end + 1 : end + 2]
    return not (string[at].isspace() or string[end - 1].isspace() or following.isdigit())
