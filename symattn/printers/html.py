"""Sheets as HTML pages: one file each, that loads nothing.

Mathematics is MathML Core, which Chromium, Firefox and Safari show by themselves; the rest is style
(``page.css``), and the fonts are inside (as ``.ci/fonts.py`` made them). A policy in the head
forbids the page to load anything, or to run anything but the scripts of ours that it names by their
digests, whatever a case says.

The page that lists what lies in a folder.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from symattn.escaping import html_attribute, html_json, html_text
from symattn.expressions import typesetting as t
from symattn.languages.language import Language
from symattn.printers import blocks as b
from symattn.printers.layout import columns
from symattn.printers.web import elements, markup_table, mathml

#: With so many headings a page has a table of contents.
_LONG = 8

_POLICY = (
    "default-src 'none'; script-src {}; style-src 'unsafe-inline'; font-src data:; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_HERE = Path(__file__).parent
#: The fonts by their files: what they are called, and for which letters they stand.
_FONTS = {
    "math": '"Page Math"',
    "text": '"Page Text"; font-weight: 400 700',
    "italic": '"Page Text"; font-style: italic',
}


@cache
def style() -> str:
    """The style of every page, with the fonts inside."""
    faces = []
    for name, face in _FONTS.items():
        font = b64encode((_HERE / "fonts" / f"{name}.woff2").read_bytes()).decode()
        source = f'url("data:font/woff2;base64,{font}") format("woff2")'
        faces.append(f"@font-face {{ font-family: {face}; src: {source}; }}\n")
    return "".join(faces) + (_HERE / "page.css").read_text("utf-8")


def document(sheet: b.Sheet) -> str:
    """The HTML page of a sheet.

    >>> words = b.Paragraph((b.Math(t.letters("A")),))
    >>> page = document(b.Sheet("x", "A < B", ("by hand",), (words,)))
    >>> "<h1>A &lt; B</h1>" in page, "<p><math><mi>A</mi></math></p>" in page
    (True, True)
    """
    named = list(_named(sheet.blocks))
    hints = _Hints()
    body = "\n".join(_folded(named, hints))
    content = f"{_contents(named, sheet.say)}<main>\n{body}\n</main>\n{hints.shown()}"
    paper = f"@page {{ size: {sheet.paper}; }}\n"
    head = f"<h1>{line(sheet.heading)}</h1><p>{line(sheet.subtitle)}</p>"
    if sheet.logo is not None:
        head = _image(sheet.logo) + head
    scripts = []
    if '<div class="matrix">' in body:
        say = sheet.say
        copied = {"text": say.text("Text of the matrix"), "copied": say.text("Copied")}
        content += _data("words", {"copy": say.text("Copy this matrix"), **copied})
        scripts.append((_HERE / "copy.js").read_text("utf-8"))
    if sheet.script is not None:
        content += _data("data", sheet.script.data)
        scripts.append(sheet.script.code)
    return page(words(sheet), head, content, sheet.say, hints.style() + paper, scripts)


def _data(name: str, data: Any) -> str:
    """Data that scripts find by a name."""
    return f'<script type="application/json" id="{name}">{html_json(data)}</script>\n'


def _image(logo: b.Logo) -> str:
    """A logo inside the page; browsers run nothing that is in an image."""
    kind = {"png": "image/png", "svg": "image/svg+xml"}[logo.kind]
    return f'<img class="logo" alt="" src="data:{kind};base64,{b64encode(logo.data).decode()}">'


def page(
    name: str, head: str, body: str, say: Language, more: str = "", scripts: Sequence[str] = ()
) -> str:
    """A page of that name: what stands at its head and below, ``more`` style, and scripts of
    ours, of which it runs no others."""
    digests = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    policy = _POLICY.format(" ".join(f"'sha256-{x}'" for x in digests) or "'none'")
    run = "".join(f"<script>{script}</script>\n" for script in scripts)
    return f"""<!DOCTYPE html>
<html lang="{html_attribute(say.tag)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{html_attribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="symattn">
<title>{html_text(name)}</title>
<style>
{style()}{more}</style>
</head>
<body>
<header>{head}</header>
{body}
{run}</body>
</html>
"""


def words(sheet: b.Sheet) -> str:
    """The title of a sheet in plain words, without its mathematics; its name if there are none."""
    return b.words(sheet.heading).strip() or sheet.name


def _named(blocks: tuple[b.Block, ...]) -> Iterator[tuple[str, b.Block]]:
    """The blocks, headings with names that links can point to: ``part-2``, ``part-2-1``."""
    section = part = 0
    for block in blocks:
        name = ""
        if isinstance(block, b.Heading):
            section, part = (section + 1, 0) if block.level == 1 else (section, part + 1)
            name = f"part-{section}" + (f"-{part}" if part else "")
        yield name, block


def _contents(named: list[tuple[str, b.Block]], say: Language) -> str:
    """A table of contents, folded, of a page with many headings."""
    headings = [(name, block) for name, block in named if isinstance(block, b.Heading)]
    if len(headings) < _LONG:
        return ""
    sections: list[list[str]] = []
    for name, heading in headings:
        if heading.level == 1 or not sections:
            sections.append([])
        sections[-1].append(f'<a href="#{name}">{line(heading.text)}</a>')
    items = ""
    for first, *others in sections:
        below = "".join(f"<li>{link}</li>" for link in others)
        items += f"<li>{first}{f'<ol>{below}</ol>' if below else ''}</li>"
    name = html_text(say.text("Contents"))
    return (
        f'<nav aria-label="{name}"><details class="contents"><summary>{name}</summary>'
        f"<ol>{items}</ol></details></nav>\n"
    )


def _folded(named: list[tuple[str, b.Block]], hints: _Hints) -> Iterator[str]:
    """The blocks, below each heading in a part that folds."""
    levels: list[int] = []
    for name, block in named:
        if not isinstance(block, b.Heading):
            yield _block(block, hints)
            continue
        while levels and levels[-1] >= block.level:
            levels.pop()
            yield "</details>"
        levels.append(block.level)
        tag = f"h{block.level + 1}"
        heading = f'<{tag} id="{name}">{line(block.text)}</{tag}>'
        yield f'<details class="part" open><summary>{heading}</summary>'
    yield from ["</details>"] * len(levels)


class _Hints:
    """What a page tells of its figures: each hint once, shown by style while the
    pointer or the focus is on a cell that it describes."""

    def __init__(self) -> None:
        self.names: dict[b.Hint, str] = {}

    def cells(
        self, hints: tuple[tuple[b.Hint, ...], ...], cells: tuple[tuple[t.Row, ...], ...]
    ) -> Iterable[Iterable[str]]:
        """For each cell the attributes that join it with its hint."""
        return (map(self._cell, row) for row in hints) if hints else ([""] * len(x) for x in cells)

    def _cell(self, hint: b.Hint) -> str:
        name = self.names.setdefault(hint, f"h{len(self.names) + 1}")
        return f' tabindex="0" aria-describedby="{name}"'

    def style(self) -> str:
        """By which rules the hints are shown: the pointer goes before the focus."""
        rules = ""
        for body, state in (("body", "hover"), ("body:not(:has(td:hover))", "focus")):
            cases = (f"&:has([aria-describedby={x}]:{state})>#{x}" for x in self.names.values())
            rules += f"{body} {{ {','.join(cases)} {{ display: block; }} }}\n"
        return rules if self.names else ""

    def shown(self) -> str:
        """All hints, the lines of each one below the other: a page has hundreds, and a table in
        each would be a tenth of it."""
        told = ("".join(mathml(t.row(*parts)) for parts in hint.lines) for hint in self.names)
        return "\n".join(
            f'<div role="tooltip" id="{name}">{lines}</div>'
            for name, lines in zip(self.names.values(), told, strict=True)
        )


def line(pieces: b.Line) -> str:
    """A line of text."""
    code, strong = (partial(_tagged, name) for name in ("code", "strong"))
    return "".join(b.written(pieces, html_text, mathml, code, strong, _linked))


def _tagged(name: str, text: str) -> str:
    return f"<{name}>{html_text(text)}</{name}>"


def _linked(piece: b.Link | b.Target) -> str:
    if isinstance(piece, b.Link):
        return f'<a href="#{html_attribute(piece.to)}">{html_text(piece.text)}</a>'
    return f'<span id="{html_attribute(piece.name)}">{html_text(piece.text)}</span>'


def _block(block: b.Block, hints: _Hints) -> str:
    match block:
        case b.Heading(text) | b.Paragraph(text):
            return f"<p>{line(text)}</p>"
        case b.Equations():
            return _equations(block)
        case b.Matrices(items):
            inner = "".join(f'<div class="display">{_matrix(item, hints)}</div>' for item in items)
            return f'<div class="beside">{inner}</div>'
        case b.Table():
            return _table(block)
        case b.HeatMaps(items):
            inner = "".join(_heat_map(item, hints) for item in items)
            return f'<div class="beside">{inner}</div>'
        case b.Beside(items):
            inner = "".join(_block(item, hints) for item in items)
            return f'<div class="beside">{inner}</div>'
        case b.RedPen(where, matrix, notes):
            inner = f'<div class="display">{_matrix(matrix, hints)}</div>'
            remarks = "".join(f"<p>{line(note)}</p>" for note in notes)
            return (
                f'<figure class="marked"><div><figcaption>{html_text(where)}</figcaption>'
                f"{inner}</div><aside>{remarks}</aside></figure>"
            )
        case b.Picture(svg):
            return f'<figure class="picture">{svg.strip()}</figure>'
        case b.Listing(lines):
            return f"<pre>{chr(10).join(map(html_text, lines))}</pre>"


def _equations(equations: b.Equations) -> str:
    """Equations aligned at their relations; what continues a line is set in."""
    rows = [[cell for line in row for cell in _equation(*line)] for row in equations.rows]
    table = markup_table(rows, "equations")
    return f'<div class="display"><math display="block">{table}</math></div>'


def _equation(left: t.Row, relation: t.Row, right: t.Row) -> list[str]:
    indent = "" if relation else '<mspace width="1em"/>'
    return [elements(left), elements(relation), indent + elements(right)]


# -- matrices ----------------------------------------------------------------------


def _matrix(matrix: b.Matrix, hints: _Hints) -> str:
    """A matrix as a table; its brackets are the borders of two cells as high as it."""
    if not matrix.cells:
        return mathml(matrix.before, display=True)
    count = len(matrix.cells)
    tall = t.has(matrix.cells, t.Fraction, t.Strut)
    rows = ""
    labels = matrix.row_labels or ("",) * count
    cells = hints.cells(matrix.hints, matrix.cells)
    for place, (label, row, attributes) in enumerate(zip(labels, matrix.cells, cells, strict=True)):
        figures = zip(row, attributes, strict=True)
        inner = "".join(f"<td{attribute}>{_figure(cell, tall)}</td>" for cell, attribute in figures)
        left, right = (
            f'<td class="bracket {side}" rowspan="{count}" aria-hidden="true"></td>'
            if not place
            else ""
            for side in ("left", "right")
        )
        head = f'<th scope="row">{html_text(label)}</th>' if matrix.row_labels else ""
        rows += f"<tr>{head}{left}{inner}{right}</tr>"
    kind = ' class="tall"' if tall else ""
    before = mathml(matrix.before, display=True) if matrix.before else ""
    return f'<div class="matrix">{before}<table{kind}>{rows}</table></div>'


def _figure(formula: t.Row, tall: bool = False) -> str:
    """A cell's mathematics; ``tall`` where fractions stand in it as in a display."""
    match formula.nodes:
        case ():
            return ""
        case (t.Digits(text),):
            # Digits alone are the same without an element.
            return text
    style = ' displaystyle="true"' if tall else ""
    return f"<math{style}>{elements(formula)}</math>"


# -- tables and heat maps --------------------------------------------------------


def _table(table: b.Table) -> str:
    kinds = [f"{x.side} wide" if x.width else x.side for x in columns(table.align)]
    header = "".join(
        f'<th scope="col" class="{kind}">{line(cell)}</th>' if cell else "<td></td>"
        for kind, cell in zip(kinds, table.header, strict=True)
    )
    rows = "".join(f"<tr>{_row(row, kinds)}</tr>\n" for row in table.rows)
    return (
        f'<div class="scroll"><table class="rows"><thead><tr>{header}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(row: tuple[b.Line, ...], kinds: list[str]) -> str:
    if len(row) == 1 < len(kinds):
        return f'<th scope="rowgroup" class="l" colspan="{len(kinds)}">{line(row[0])}</th>'
    return "".join(
        f'<td class="{kind}">{line(cell)}</td>' for kind, cell in zip(kinds, row, strict=True)
    )


#: From this shade on, in percent, figures are white.
_DARK = 72


def picture(heat: b.HeatMap) -> str:
    """A heat map by itself."""
    return _heat_map(replace(heat, hints=()), _Hints())


def _heat_map(heat: b.HeatMap, hints: _Hints) -> str:
    head = "".join(f'<th scope="col">{html_text(label)}</th>' for label in heat.columns)
    rows = ""
    attributes = hints.cells(heat.hints, heat.figures)
    for label, *row in zip(heat.rows, heat.shades, heat.figures, attributes, strict=True):
        cells = "".join(map(_cell, *row))
        rows += f'<tr><th scope="row">{html_text(label)}</th>{cells}</tr>\n'
    title = f"<figcaption>{line(heat.title)}</figcaption>" if heat.title else ""
    return (
        f'<figure class="heat"><div class="scroll"><table><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{title}</figure>"
    )


def _cell(shade: float, figure: t.Row, attribute: str) -> str:
    percent = round(100 * min(max(shade, 0.0), 1.0))
    dark = ' class="dark"' if percent >= _DARK else ""
    return f'<td{dark} style="--shade: {percent}"{attribute}>{_figure(figure)}</td>'


#: The most columns of a heat map that is shown.
_WIDEST = 6


def card(sheet: b.Sheet) -> str:
    """Return what a list shows of a sheet: its title, what stands below, its first heat map or
    words.

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
        f"<h2>{_link(f'{sheet.name}.html', line(sheet.heading))}</h2>\n"
        f'<p class="faint">{line(sheet.subtitle)}</p>\n{preview}'
    )


def index_page(
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
