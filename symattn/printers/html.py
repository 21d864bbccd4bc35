"""Sheets as HTML pages: one file each, that loads nothing and runs nothing.

Mathematics is MathML Core, which Chromium, Firefox and Safari show by
themselves. What it leaves out (strokes, alignment, the brackets of a matrix)
is style, and so are light, dark and print. A policy in the head forbids the
page to load or to run anything, whatever a walkthrough says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from symattn.escaping import html_attribute, html_text
from symattn.printers import blocks as b
from symattn.printers.mathml import elements, mathml, table

#: With so many headings a page has a table of contents.
_LONG = 8

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --text: #1b1b1b; --ink: #1f3a5f; --heat: #2b6cb0;
  --pen: #b3261e; --rule: #c9ced6; --soft: #f3f5f8; --faint: #5c6470; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181d; --text: #e4e6ea; --ink: #a9c7ee;
  --heat: #3f86d6; --pen: #ff8a80; --rule: #3a4150; --soft: #1f242c; --faint: #9aa3b0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 52rem; background: var(--paper);
  color: var(--text); font: 1rem/1.55 "Latin Modern Roman", Charter, "Bitstream Charter",
  "STIX Two Text", Cambria, Georgia, serif; overflow-wrap: break-word; }
h1, h2, h3 { color: var(--ink); line-height: 1.25; margin: 1.8em 0 .5em; break-after: avoid; }
h1 { font-size: 1.7rem; margin: 0; }
h2 { font-size: 1.3rem; border-bottom: 1px solid var(--rule); padding-bottom: .2em; }
h3 { font-size: 1.08rem; }
h1, h2, h3, p, td, th, figcaption { unicode-bidi: isolate; }
header { border-bottom: 2px solid var(--ink); padding-bottom: .5rem; margin-bottom: 1rem; }
header p { margin: .2em 0 0; font-style: italic; color: var(--ink); }
a { color: var(--ink); }
code, pre { font-family: "Latin Modern Mono", ui-monospace, Menlo, Consolas, monospace;
  font-size: .92em; }
pre { background: var(--soft); padding: .6em 1em; overflow-x: auto; }
math { font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math", math; }
.contents { background: var(--soft); padding: .5em 1em; margin: 1em 0; }
.contents ol { margin: .5em 0 0; padding-left: 1.4em; }
.contents summary { cursor: pointer; font-weight: bold; color: var(--ink); }
.display { overflow-x: auto; overflow-y: hidden; padding: .3em 0 .3em 1.2em; }
.display math { display: inline math; }
.beside { display: flex; flex-wrap: wrap; align-items: center; gap: .6em 2em; }
.beside > * { max-width: 100%; }
main p, h1, h2, h3 { overflow-x: auto; overflow-y: hidden; }
.scroll { overflow-x: auto; margin: .8em 0; }
mtable.aligned > mtr > mtd, mtable.equations > mtr > mtd { padding: .22em .1em; }
mtable.aligned > mtr > mtd { text-align: left; text-align: -webkit-left; }
mtable.aligned > mtr > mtd:nth-child(odd), mtable.equations > mtr > mtd:nth-child(3n+1) {
  text-align: right; text-align: -webkit-right; }
mtable.equations > mtr > mtd:nth-child(3n) { text-align: left; text-align: -webkit-left;
  padding-right: 1em; }
mtable.cases > mtr > mtd { text-align: left; text-align: -webkit-left; padding: .1em .4em; }
mtable.matrix > mtr > mtd { padding: .15em .4em; text-align: right; text-align: -webkit-right; }
mtable.tall > mtr > mtd { padding: .35em .5em; text-align: center; text-align: -webkit-center; }
mtable.matrix > mtr > mtd.bracket { padding: 0; width: .3em; border: 0 solid currentcolor; }
mtable.matrix > mtr > mtd.left { border-width: 1.5px 0 1.5px 1.5px; }
mtable.matrix > mtr > mtd.right { border-width: 1.5px 1.5px 1.5px 0; }
mtable.matrix > mtr > mtd.label, .heat th { font-style: italic; font-weight: normal;
  font-size: .9em; color: var(--faint); }
mi.word { font-style: italic; }
mrow.bold { font-weight: bold; }
mrow.struck > * { text-decoration: line-through .09em var(--pen); }
mrow.correct { color: var(--pen); font-weight: bold; }
mtext.cause { color: var(--pen); border: 1px solid; border-radius: 1em; padding: 0 .35em;
  font-size: .7em; }
table { border-collapse: collapse; font-size: .95em; }
.rows { border-top: 1.5px solid; border-bottom: 1.5px solid; }
.rows thead { border-bottom: 1px solid; }
.rows td, .rows th { padding: .3em .7em; vertical-align: baseline; }
.rows tbody tr + tr { border-top: 1px solid var(--rule); }
.rows tr { break-inside: avoid; }
.rows th[scope=rowgroup] { padding-top: .9em; color: var(--ink); }
.l { text-align: left; } .c { text-align: center; } .r { text-align: right; }
.wide { min-width: 9em; }
figure { margin: .6em 0; break-inside: avoid; }
figcaption { font-size: .92em; }
.heat td { min-width: 3em; height: 2.1em; padding: 0 .3em; text-align: center; font-size: .9em;
  border: 1px solid var(--paper);
  background: color-mix(in srgb, var(--heat) calc(var(--shade) * 1%), var(--paper)); }
.heat td.dark { color: #fff; }
.heat th { padding: .1em .5em; }
.heat figcaption { text-align: center; }
.marked { display: flex; flex-wrap: wrap; gap: .3em 2em; align-items: center; margin: 1.2em 0; }
.marked > div { flex: 1 1 24em; min-width: 0; }
.marked aside { flex: 1 1 14em; color: var(--pen); font-size: .92em; }
.marked figcaption { font-style: italic; }
.marked aside p { margin: .2em 0; }
@media print {
  :root { --paper: #fff; --text: #000; --ink: #1f3a5f; --heat: #2b6cb0; --pen: #b3261e;
    --rule: #bbb; --soft: #f3f5f8; --faint: #444; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .contents { display: none; }
  .display, .scroll, pre, main p, h1, h2, h3 { overflow: visible; }
}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def document(sheet: b.Sheet) -> str:
    """The HTML page of a sheet.

    >>> page = document(b.Sheet("x", "A < B", ("by hand",), (b.Paragraph((b.Math("A"),)),)))
    >>> "<h1>A &lt; B</h1>" in page, "<p><math><mi>A</mi></math></p>" in page
    (True, True)
    """
    title = (sheet.title,) if isinstance(sheet.title, str) else sheet.title
    named = list(_named(sheet.blocks))
    body = "\n".join(_block(block, name) for name, block in named)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="{html_attribute(sheet.say.tag)}">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{html_attribute(_POLICY)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="generator" content="symattn">',
            f"<title>{html_text(_words(title) or sheet.name)}</title>",
            f"<style>{_STYLE}</style>",
            "</head>",
            "<body>",
            f"<header><h1>{_line(title)}</h1><p>{_line(sheet.subtitle)}</p></header>",
            f"{_contents(named)}<main>",
            body,
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _words(line: b.Line) -> str:
    """A line without its mathematics."""
    return "".join(x if isinstance(x, str) else "" if isinstance(x, b.Math) else x.text
                   for x in line).strip()  # fmt: skip


def _named(blocks: tuple[b.Block, ...]) -> Iterator[tuple[str, b.Block]]:
    """The blocks, headings with names that links can point to: ``part-2``, ``part-2-1``."""
    section = part = 0
    for block in blocks:
        name = ""
        if isinstance(block, b.Heading):
            section, part = (section + 1, 0) if block.level == 1 else (section, part + 1)
            name = f"part-{section}" + (f"-{part}" if part else "")
        yield name, block


def _contents(named: list[tuple[str, b.Block]]) -> str:
    """A table of contents, folded, of a page with many headings."""
    headings = [(name, block) for name, block in named if isinstance(block, b.Heading)]
    if len(headings) < _LONG:
        return ""
    shown = ""
    inside = False
    for place, (name, heading) in enumerate(headings):
        nested = heading.level > 1 and place > 0
        if nested != inside:
            shown += "<ol>" if nested else "</li></ol></li>"
        elif place:
            shown += "</li>"
        inside = nested
        shown += f'<li><a href="#{name}">{_line(heading.text)}</a>'
    shown += "</li></ol></li>" if inside else "</li>"
    return (
        '<nav aria-label="Contents"><details class="contents"><summary>Contents</summary>'
        f"<ol>{shown}</ol></details></nav>\n"
    )


def _line(line: b.Line) -> str:
    shown = []
    for piece in line:
        match piece:
            case b.Math(latex):
                shown.append(mathml(latex))
            case b.Code(text):
                shown.append(f"<code>{html_text(text)}</code>")
            case b.Strong(text):
                shown.append(f"<strong>{html_text(text)}</strong>")
            case _:
                shown.append(html_text(piece))
    return "".join(shown)


def _block(block: b.Block, name: str) -> str:
    match block:
        case b.Heading(text, level):
            return f'<h{level + 1} id="{name}">{_line(text)}</h{level + 1}>'
        case b.Paragraph(text):
            return f"<p>{_line(text)}</p>"
        case b.Equations(lines, columns):
            return _equations(lines, columns)
        case b.Matrices(items):
            shown = "".join(f'<div class="display">{_matrix(item)}</div>' for item in items)
            return f'<div class="beside">{shown}</div>'
        case b.Table():
            return _table(block)
        case b.HeatMaps(items):
            return f'<div class="beside">{"".join(map(_heat_map, items))}</div>'
        case b.Marked(where, matrix, notes):
            said = "".join(f"<p>{_line(note)}</p>" for note in notes)
            return (
                f'<figure class="marked"><div><figcaption>{html_text(where)}</figcaption>'
                f'<div class="display">{_matrix(matrix)}</div></div><aside>{said}</aside></figure>'
            )
        case b.Listing(lines):
            return f"<pre>{chr(10).join(map(html_text, lines))}</pre>"


def _equations(lines: tuple[tuple[str, str, str], ...], columns: int) -> str:
    """Equations aligned at their relations; what continues a line is set in."""
    cells = [_equation(*line) for line in lines]
    rows = [
        [cell for equation in cells[k : k + columns] for cell in equation]
        for k in range(0, len(cells), columns)
    ]
    shown = table(rows, "equations")
    return f'<div class="display"><math display="block">{shown}</math></div>'


def _equation(left: str, relation: str, right: str) -> list[str]:
    indent = "" if relation else '<mspace width="1em"></mspace>'
    return [elements(left), elements(relation), indent + elements(right)]


def _matrix(matrix: b.Matrix) -> str:
    """A matrix in brackets, which are the borders of two cells as high as it."""
    before = elements(matrix.before)
    if not matrix.cells:
        return f'<math display="block">{before}</math>'
    count = len(matrix.cells)
    tall = any(r"\frac" in cell for row in matrix.cells for cell in row)
    rows = ""
    for place, (label, row) in enumerate(
        zip_longest(matrix.row_labels, matrix.cells, fillvalue="")
    ):
        shown = "".join(f"<mtd>{elements(cell)}</mtd>" for cell in row)
        left, right = (
            f'<mtd class="bracket {side}" rowspan="{count}"></mtd>' if not place else ""
            for side in ("left", "right")
        )
        beside = f'<mtd class="label"><mtext>{html_text(label)}</mtext></mtd>'
        rows += f"<mtr>{beside if matrix.row_labels else ''}{left}{shown}{right}</mtr>"
    kind = 'matrix tall" displaystyle="true' if tall else "matrix"
    return (
        f'<math display="block"><mrow>{before}<mspace width="0.2em"></mspace>'
        f'<mtable class="{kind}">{rows}</mtable></mrow></math>'
    )


# -- tables and heat maps --------------------------------------------------------

_BETWEEN = re.compile(r"@\{(?:[^{}]|\{[^{}]*\})*\}")
_COLUMN = re.compile(r"P\{\d+mm\}|[lcr]")


def _table(table: b.Table) -> str:
    columns = _COLUMN.findall(_BETWEEN.sub("", table.align))
    kinds = ["l wide" if column[0] == "P" else column for column in columns]
    header = "".join(
        f'<th scope="col" class="{kind}">{_line(cell)}</th>' if cell else "<td></td>"
        for kind, cell in zip(kinds, table.header, strict=True)
    )
    rows = "".join(f"<tr>{_row(row, kinds)}</tr>\n" for row in table.rows)
    return (
        f'<div class="scroll"><table class="rows"><thead><tr>{header}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(row: tuple[b.Line, ...], kinds: list[str]) -> str:
    if len(row) == 1 < len(kinds):
        return f'<th scope="rowgroup" class="l" colspan="{len(kinds)}">{_line(row[0])}</th>'
    return "".join(
        f'<td class="{kind}">{_line(cell)}</td>' for kind, cell in zip(kinds, row, strict=True)
    )


#: From this shade on, in percent, figures are white.
_DARK = 56


def _heat_map(heat: b.HeatMap) -> str:
    head = "".join(f'<th scope="col">{html_text(label)}</th>' for label in heat.columns)
    rows = ""
    for label, shades, figures in zip(heat.rows, heat.shades, heat.figures, strict=True):
        cells = "".join(map(_cell, shades, figures))
        rows += f'<tr><th scope="row" class="r">{html_text(label)}</th>{cells}</tr>\n'
    title = f"<figcaption>{_line(heat.title)}</figcaption>" if heat.title else ""
    return (
        f'<figure class="heat"><div class="scroll"><table><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{title}</figure>"
    )


def _cell(shade: float, figure: str) -> str:
    percent = round(100 * min(max(shade, 0.0), 1.0))
    dark = ' class="dark"' if percent >= _DARK else ""
    shown = mathml(figure.strip("$")) if figure else ""
    return f'<td{dark} style="--shade: {percent}">{shown}</td>'
