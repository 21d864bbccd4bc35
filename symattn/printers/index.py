"""The page that lists what lies in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from symattn.escaping import html_attribute, html_text
from symattn.languages.language import Language
from symattn.printers import blocks as b
from symattn.printers.html import line, page, picture, title

#: The most columns of a heat map that is shown.
_WIDEST = 6


def card(sheet: b.Sheet) -> str:
    """What a list shows of a sheet: its title, what stands below, its first heat map or words.

    >>> print(card(b.Sheet("x", "A < B", ("by hand",), (b.Paragraph(("It is.",)),))))
    <h2><a href="x.html">A &lt; B</a></h2>
    <p class="faint">by hand</p>
    <p>It is.</p>
    """
    heats = (x for block in sheet.blocks if isinstance(block, b.HeatMaps) for x in block.items)
    words = (block for block in sheet.blocks if isinstance(block, b.Paragraph))
    preview = next((picture(item) for item in heats if len(item.columns) <= _WIDEST), "")
    if not preview:
        preview = next((f"<p>{line(item.text)}</p>" for item in words), "")
    return (
        f"<h2>{_link(f'{sheet.name}.html', title(sheet))}</h2>\n"
        f'<p class="faint">{line(sheet.subtitle)}</p>\n{preview}'
    )


def index(
    cards: Sequence[tuple[str, Sequence[tuple[str, str]]]],
    others: Sequence[tuple[str, str]],
    say: Language,
) -> str:
    """The page of cards, each with its files as (address, what it is called), and of
    other pages as (address, title)."""
    articles = ""
    for card, files in cards:
        links = " ".join(_link(address, html_text(name)) for address, name in files)
        articles += f'<article>{card}<p class="files">{links}</p></article>\n'
    body = f'<main class="cards">\n{articles}</main>'
    if others:
        listed = "".join(f"<li>{_link(file, html_text(name))}</li>" for file, name in others)
        heading = html_text(say.text("Other sheets here"))
        body += f'\n<section class="others"><h2>{heading}</h2><ul>{listed}</ul></section>'
    name = say.text("Sheets")
    return page(name, f"<h1>{html_text(name)}</h1>", body, say)


def _link(address: str, text: str) -> str:
    # A name that is no UTF-8 is told by its bytes.
    path = address.encode("utf-8", "surrogateescape")
    return f'<a href="{html_attribute(quote(path, safe=""))}">{text}</a>'
