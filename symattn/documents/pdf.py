"""PDF to text: the lines of its pages, which are then read as plain text.

The library that reads the file is an extra, ``symattn[pdf-articles]``.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from symattn.documents.layout import Rule, Sign, lines, plain
from symattn.errors import Malformed, short
from symattn.limits import PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pdfplumber.page import Page

#: What is said where the library is missing.
MISSING = "reading PDF takes pdfplumber: pip install 'symattn[pdf-articles]', or save it as text"


def text(held: bytes) -> str:
    """The text of a PDF file, a line for each line of its pages.

    Raises :class:`Malformed` where the library is missing, or can't read the file.
    """
    try:
        import pdfplumber
    except ImportError:
        raise Malformed(MISSING) from None
    try:
        with pdfplumber.open(io.BytesIO(held)) as document:
            if len(document.pages) > PAGES.most:
                raise Malformed(PAGES.said(len(document.pages)))
            pages = ["\n".join(lines(_signs(page), _rules(page))) for page in document.pages]
    except Malformed:
        raise
    except Exception as error:  # the library has no one error of its own
        said = short(str(error) or type(error).__name__)
        raise Malformed(f"can't be read as PDF: {said}; save it as text") from None
    return "\n\n".join(pages) + "\n"


def _signs(page: Page) -> Iterator[Sign]:
    """The upright characters of a page."""
    for char in page.chars:
        if char["upright"]:
            down = page.height - char["matrix"][5]
            yield Sign(plain(char["text"]), char["x0"], char["x1"], down, char["size"])


def _rules(page: Page) -> Iterator[Rule]:
    """The lines that are drawn across a page, thin boxes among them."""
    for drawn in (*page.lines, *page.rects):
        if drawn["x1"] - drawn["x0"] > 3 and drawn["bottom"] - drawn["top"] < 1.5:
            yield Rule(drawn["x0"], drawn["x1"], (drawn["top"] + drawn["bottom"]) / 2)
