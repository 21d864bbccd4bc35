"""Paragraphs and tables of Word documents: rows, matrices to be filled in, heat maps.

Word makes columns as wide as what is in them, other programs as wide as they are told:
widths are estimated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from symattn import typesetting as t
from symattn.escaping import html_text
from symattn.printers import blocks as b
from symattn.printers import omml
from symattn.printers.layout import EM, columns, shade_width, shortened, width

#: A line to write on, in text and in mathematics.
_LINE_TO_WRITE = re.compile(r"(_{4,})")
#: What stands below a table: two that touched would become one, and a cell ends with a paragraph.
GAP = '<w:p><w:pPr><w:pStyle w:val="Gap"/></w:pPr></w:p>'
#: The colours of shades, of nothing and of 1.
_LIGHT, _DARK = (255, 255, 255), (43, 108, 176)
#: From this shade on figures are white.
_DEEP = 0.55
#: An em of mathematics in mm: LibreOffice sets it in 12 pt, whatever is around it.
MATH = 1.2 * EM
#: Estimated width of a letter of text, air beside it in a cell, and width of a page, in mm.
_LETTER, _AIR, PAGE = 1.85, 4.5, 166.0


def twips(millimetres: float) -> int:
    """Lengths of Word: twentieths of a point.

    >>> twips(25.4)
    1440
    """
    return round(millimetres * 1440 / 25.4)


# -- text -----------------------------------------------------------------------


def paragraph(content: str, style: str = "", keep: bool = False, side: str = "") -> str:
    """A paragraph of a style; one to ``keep`` stays on the page of what follows."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    kept = "<w:keepNext/>" if keep else ""
    aligned = f'<w:jc w:val="{side}"/>' if side else ""
    looks = named + kept + aligned
    return f"<w:p>{f'<w:pPr>{looks}</w:pPr>' if looks else ''}{content}</w:p>"


BLANK = paragraph("", "Cell")


def runs(line: b.Line, colour: str = "", bold: bool = False) -> str:
    """A line of text; lines to write on are controls to type into.

    >>> runs(("a < b",))
    '<w:r><w:t>a &lt; b</w:t></w:r>'
    """
    strong = ("<w:b/>" if bold else "") + _colour(colour)
    styles = (f'<w:rStyle w:val="{name}"/>{strong}' for name in ("Code", "Strong"))
    code, stressed = (partial(_run, look=style) for style in styles)
    mathematics = partial(_mathematics, colour=colour)
    return "".join(b.written(line, partial(_words, strong), mathematics, code, stressed))


def _words(look: str, text: str) -> str:
    """Words, with the lines to write on among them."""
    parts = enumerate(_LINE_TO_WRITE.split(text))
    return "".join(_control(part) if place % 2 else _run(part, look) for place, part in parts)


def _run(text: str, look: str = "") -> str:
    if not text:
        return ""
    told = f"<w:rPr>{look}</w:rPr>" if look else ""
    # A blank at an end counts.
    space = ' xml:space="preserve"' if text[0].isspace() or text[-1].isspace() else ""
    return f"<w:r>{told}<w:t{space}>{html_text(text)}</w:t></w:r>"


def _control(line: str) -> str:
    """A control to type into, that shows a line."""
    return (
        "<w:sdt><w:sdtPr><w:showingPlcHdr/><w:text/></w:sdtPr><w:sdtContent>"
        + _run(line, '<w:rStyle w:val="PlaceholderText"/>')
        + "</w:sdtContent></w:sdt>"
    )


def _is_blank(node: t.Node) -> bool:
    return isinstance(node, t.Text) and bool(_LINE_TO_WRITE.fullmatch(node.text))


def _mathematics(formula: t.Row, colour: str = "") -> str:
    """A formula inside a line; a blank in it is no mathematics, but a control."""
    written = ""
    pending: list[t.Node] = []
    for node in (*formula.nodes, None):
        if node is not None and not _is_blank(node):
            pending.append(node)
            continue
        if any(not isinstance(x, t.Strut) for x in pending):
            written += omml.inline(t.Row(tuple(pending)), colour)
        pending = []
        if isinstance(node, t.Text):
            written += _control(node.text)
    return written


def has_blanks(matrix: b.Matrix) -> bool:
    """Whether something of a matrix is to be filled in."""
    return any(map(_is_blank, t.nodes((matrix.before, matrix.cells))))


# -- tables ---------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A cell: its paragraphs and tables, and what is told of it (``properties``), which
    stands between its width and its vertical place."""

    content: str
    properties: str = ""
    span: int = 1


def table(
    rows: Sequence[Sequence[Cell]],
    widths: Sequence[float],
    style: str = "Layout",
    properties: Sequence[str] = (),
    margins: str = "",
) -> str:
    """A table whose columns are so many mm wide; ``properties`` are those of its rows."""
    scale = min(1.0, PAGE / sum(widths))
    told = [twips(scale * x) for x in widths]
    columns = "".join(f'<w:gridCol w:w="{x}"/>' for x in told)
    body = "".join(
        _row(row, told, more)
        for row, more in zip(rows, properties or [""] * len(rows), strict=True)
    )
    return (
        f'<w:tbl><w:tblPr><w:tblStyle w:val="{style}"/><w:tblW w:w="{sum(told)}" w:type="dxa"/>'
        f'<w:tblInd w:w="{twips(4)}" w:type="dxa"/>{margins}'
        '<w:tblLook w:val="0020" w:firstRow="1"/></w:tblPr>'
        f"<w:tblGrid>{columns}</w:tblGrid>{body}</w:tbl>"
    )


def _row(cells: Sequence[Cell], widths: Sequence[int], properties: str) -> str:
    written, place = "", 0
    for cell in cells:
        across = sum(widths[place : place + cell.span])
        span = f'<w:gridSpan w:val="{cell.span}"/>' if cell.span > 1 else ""
        written += (
            f'<w:tc><w:tcPr><w:tcW w:w="{across}" w:type="dxa"/>{span}{cell.properties}'
            f'<w:vAlign w:val="center"/></w:tcPr>{cell.content}</w:tc>'
        )
        place += cell.span
    return f"<w:tr><w:trPr><w:cantSplit/>{properties}</w:trPr>{written}</w:tr>"


_SIDES = {"l": "left", "c": "center", "r": "right"}


def rows_table(whole: b.Table) -> str:
    """A table with a head, that is repeated on each of its pages."""
    layout = columns(whole.align)
    sides = [_SIDES[column.side] for column in layout]
    widths = [
        (column.width or _breadth(cells)) + column.gap + _AIR
        for column, cells in zip(layout, _by_column(whole), strict=True)
    ]
    head = [
        Cell(paragraph(runs(cell, bold=True), "Cell", keep=True, side=side))
        for cell, side in zip(whole.header, sides, strict=True)
    ]
    rows, properties = [head], ["<w:tblHeader/>"]
    for row in whole.rows:
        if len(row) == 1 < len(sides):
            title = paragraph(runs(row[0], bold=True), "Cell", keep=True)
            rows.append([Cell(title, span=len(sides))])
        else:
            rows.append([Cell(_entry(cell, side)) for cell, side in zip(row, sides, strict=True)])
        # Room for a hand.
        high = any(isinstance(x, t.Strut) and x.height == "fraction" for x in t.nodes(row))
        height = f'<w:trHeight w:val="{twips(7)}" w:hRule="atLeast"/>' if high else ""
        properties.append(height)
    return table(rows, widths, "Rows", properties) + GAP


def _entry(cell: b.Line, side: str) -> str:
    """A cell; a formula that is displayed stands alone in it."""
    match cell:
        case (b.Math(t.Row((t.Styled(True, inner),))),):
            return paragraph(omml.display(inner, side), "Cell")
    return paragraph(runs(cell), "Cell", side=side)


def _by_column(whole: b.Table) -> list[list[b.Line]]:
    full = [row for row in whole.rows if len(row) == len(whole.header)]
    return [list(cells) for cells in zip(whole.header, *full, strict=True)]


def _breadth(cells: Sequence[b.Line]) -> float:
    """Estimated width of the widest of some lines, in mm."""
    return max(
        sum(
            width(piece.formula) * MATH
            if isinstance(piece, b.Math)
            else _LETTER * len(b.words((piece,)))
            for piece in cell
        )
        for cell in cells
    )


#: A bracket's lines, but for its ends.
_EDGE = '<w:{} w:val="single" w:sz="8" w:space="0" w:color="auto"/>'
_BRACKET = 1.6


def blank_matrix(matrix: b.Matrix) -> str:
    """A matrix to be filled in: a table, whose brackets are the lines of two columns."""
    if not matrix.cells:
        return paragraph(_mathematics(matrix.before), "Display")
    last = len(matrix.cells) - 1
    rows = []
    for place, cells in enumerate(matrix.cells):
        # On one page: each row stays with the next.
        keep = place < last
        before = _mathematics(matrix.before) if not place else ""
        row = [Cell(paragraph(before, "Cell", keep, "right"), _merged(not place))]
        if matrix.row_labels:
            row.append(_label(matrix.row_labels[place], "right", keep))
        row.append(_bracket("left", place, last))
        row += [Cell(paragraph(_mathematics(cell), "Cell", keep, "center")) for cell in cells]
        row.append(_bracket("right", place, last))
        rows.append(row)
    labels = (
        [_breadth([(shortened(x),) for x in matrix.row_labels]) + 3] if matrix.row_labels else []
    )
    figures = [
        max(*(width(x) * EM for x in column), 12.0) + 2
        for column in zip(*matrix.cells, strict=True)
    ]
    widths = [width(matrix.before) * MATH + 3, *labels, _BRACKET, *figures, _BRACKET]
    height = f'<w:trHeight w:val="{twips(7.5)}" w:hRule="atLeast"/>'
    return table(rows, widths, properties=[height] * len(rows)) + GAP


def _label(text: str, side: str, keep: bool, properties: str = "") -> Cell:
    return Cell(paragraph(runs((shortened(text),)), "Label", keep, side), properties)


def _merged(begins: bool) -> str:
    return '<w:vMerge w:val="restart"/>' if begins else "<w:vMerge/>"


def _bracket(side: str, place: int, last: int) -> Cell:
    top = _EDGE.format("top") if place == 0 else ""
    bottom = _EDGE.format("bottom") if place == last else ""
    left = _EDGE.format("left") if side == "left" else ""
    right = _EDGE.format("right") if side == "right" else ""
    borders = f"<w:tcBorders>{top}{left}{bottom}{right}</w:tcBorders>"
    return Cell(paragraph("", "Cell", keep=place < last), borders)


def heat_map(heat: b.HeatMap) -> str:
    """A heat map: a table of shaded cells, with labels, and its title below."""
    count = len(heat.columns)
    figures = max((width(figure) for row in heat.figures for figure in row), default=0.0)
    wanted = max(shade_width(count), 0.85 * EM * figures + 2)
    cell = min(wanted, (PAGE - 25) / count)
    upright = max(map(len, heat.columns), default=0) * _LETTER > cell
    turned = '<w:textDirection w:val="btLr"/>' if upright else ""
    above = "left" if upright else "center"
    rows = [[Cell(BLANK), *(_label(label, above, True, turned) for label in heat.columns)]]
    for label, shades, row in zip(heat.rows, heat.shades, heat.figures, strict=True):
        rows.append([_label(label, "right", True), *map(_shade, shades, row)])
    if heat.title:
        title = paragraph(runs(heat.title), "Cell", side="center")
        rows.append([Cell(BLANK), Cell(title, span=count)])
    longest = _breadth([(shortened(x),) for x in heat.columns]) + 3
    heights = [
        f'<w:trHeight w:val="{twips(longest)}" w:hRule="atLeast"/>' if upright else "",
        *[f'<w:trHeight w:val="{twips(7)}" w:hRule="atLeast"/>'] * len(heat.rows),
        *[""] * bool(heat.title),
    ]
    widths = [_breadth([(shortened(x),) for x in heat.rows]) + 3, *[cell] * count]
    return table(rows, widths, properties=heights) + GAP


def _shade(shade: float, figure: t.Row) -> Cell:
    part = min(max(shade, 0.0), 1.0)
    colour = "".join(
        f"{round(light + part * (dark - light)):02X}"
        for light, dark in zip(_LIGHT, _DARK, strict=True)
    )
    ink = "FFFFFF" if part > _DEEP else ""
    # A figure as text is as small as its style says in every program.
    text = t.plain_figure(figure)
    written = omml.inline(figure, ink) if text is None else _run(text, _colour(ink))
    content = paragraph(written if figure else "", "Shade", keep=True)
    return Cell(content, f'<w:shd w:val="clear" w:color="auto" w:fill="{colour}"/>')


def _colour(name: str) -> str:
    return f'<w:color w:val="{name}"/>' if name else ""
