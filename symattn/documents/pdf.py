"""PDF to text: the lines of its pages, which are then read as plain text.

The library that reads the file is an extra, ``symattn[pdf-articles]``.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from symattn.documents.layout import DrawnRule, PlacedText, lines, plain
from symattn.errors import Malformed, short
from symattn.limits import DRAWN, PAGES, SET, SIGNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pdfplumber.page import Page

#: What drawing a form counts for at least, in bytes.
_CALL = 200
#: What is said where the library is missing.
MISSING = "reading PDF takes pdfplumber: pip install 'symattn[pdf-articles]', or save it as text"


def text(data: bytes) -> str:
    """The text of a PDF file, a line for each line of its pages.

    Raises :class:`Malformed` where the library is missing, or can't read the file.
    """
    try:
        import pdfplumber
    except ImportError:
        raise Malformed(MISSING) from None
    try:
        with pdfplumber.open(io.BytesIO(data)) as document:
            if len(document.pages) > PAGES.most:
                raise Malformed(PAGES.said(len(document.pages)))
            budget = _Budget()
            pages = ["\n".join(_lines(page, budget)) for page in document.pages]
    except Malformed:
        raise
    except Exception as error:  # the library has no one error of its own
        message = short(str(error) or type(error).__name__)
        raise Malformed(f"can't be read as PDF: {message}; save it as text") from None
    return "\n\n".join(pages) + "\n"


class _Budget:
    """What the pages of a file may still take; a form may be drawn again and again, by forms
    that are themselves."""

    def __init__(self) -> None:
        self.drawn = self.set = self.on_page = 0

    def draw(self, size: int) -> None:
        """Count bytes of drawing."""
        self.drawn += size
        if self.drawn > DRAWN.most:
            raise Malformed(DRAWN.said(self.drawn))

    def sign(self) -> None:
        """Count a character."""
        self.set, self.on_page = self.set + 1, self.on_page + 1
        if self.on_page > SIGNS.most:
            raise Malformed(SIGNS.said(f"{self.on_page} or more"))
        if self.set > SET.most:
            raise Malformed(SET.said(self.set))


def _lines(page: Page, budget: _Budget) -> list[str]:
    """The lines of a page, which is let go of then."""
    from pdfminer.pdfinterp import PDFPageInterpreter
    from pdfminer.pdftypes import list_value, stream_value
    from pdfplumber.page import PDFPageAggregatorWithMarkedContent

    class Device(PDFPageAggregatorWithMarkedContent):  # type: ignore[misc]
        def render_char(self, *arguments: Any, **named: Any) -> Any:
            budget.sign()
            return super().render_char(*arguments, **named)

    class Interpreter(PDFPageInterpreter):
        def render_contents(self, resources: Any, streams: Any, ctm: Any = None) -> None:
            # Every call costs something, also of a form that has nothing in it.
            sizes = (len(stream_value(one).get_data()) for one in list_value(streams))
            budget.draw(_CALL + sum(sizes))
            super().render_contents(resources, streams, ctm)

    budget.on_page = 0
    manager = page.pdf.rsrcmgr
    device = Device(manager, pageno=page.page_number, laparams=page.pdf.laparams)
    Interpreter(manager, device).process_page(page.page_obj)
    # The page would go over all of it once more, and count nothing.
    page._layout = device.get_result()
    try:
        return lines(_signs(page), _rules(page))
    finally:
        page.close()


def _signs(page: Page) -> Iterator[PlacedText]:
    """The upright characters of a page."""
    for char in page.chars:
        if char["upright"]:
            down = page.height - char["matrix"][5]
            yield PlacedText(plain(char["text"]), char["x0"], char["x1"], down, char["size"])


def _rules(page: Page) -> Iterator[DrawnRule]:
    """The lines that are drawn across a page, thin boxes among them."""
    for drawn in (*page.lines, *page.rects):
        if drawn["x1"] - drawn["x0"] > 3 and drawn["bottom"] - drawn["top"] < 1.5:
            yield DrawnRule(drawn["x0"], drawn["x1"], (drawn["top"] + drawn["bottom"]) / 2)
