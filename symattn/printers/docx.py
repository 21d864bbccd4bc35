"""Sheets as Word documents, for who must edit them.

A document is a ZIP file of parts in XML (Office Open XML, ECMA-376); those that are the
same in each, as the styles, lie in ``word/``. Mathematics is that of
:mod:`symattn.printers.omml`, headings and paragraphs have the styles of Word, and what is
aligned or side by side stands in tables, which every program shows. A blank is a content
control: who types into it replaces its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from string import Template
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from symattn.escaping import html_text
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers import layout, omml

# -- paragraphs and tables of Word documents ---------------------------------------------
# Rows, matrices to be filled in, heat maps.
#
# Word makes columns as wide as what is in them, other programs as wide as they are told: widths
# are estimated.

#: A line to write on, in text and in mathematics.
_LINE_TO_WRITE = re.compile(r"(_{4,})")
#: What stands below a table: two that touched would become one, and a cell ends with a paragraph.
GAP = '<w:p><w:pPr><w:pStyle w:val="Gap"/></w:pPr></w:p>'
#: The colours of shades, of nothing and of 1.
_LIGHT, _DARK = (255, 255, 255), (43, 108, 176)
#: From this shade on figures are white.
_DEEP = 0.55
#: An em of mathematics in mm: LibreOffice sets it in 12 pt, whatever is around it.
MATH = 1.2 * layout.EM
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
    """Return whether something of a matrix is to be filled in."""
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
        f'<w:tblInd w:w="{twips(4)}" w:type="dxa"/>'
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


def rows_table(whole: b.Table) -> str:
    """A table with a head, that is repeated on each of its pages."""
    columns = layout.columns(whole.align)
    full = [row for row in whole.rows if len(row) == len(whole.header)]
    sides = [layout.SIDES[column.side] for column in columns]
    widths = [
        (column.width or _breadth(cells)) + column.gap + _AIR
        for column, *cells in zip(columns, whole.header, *full, strict=True)
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


def _breadth(cells: Sequence[b.Line]) -> float:
    """Estimated width of the widest of some lines, in mm."""
    return max(
        sum(
            layout.width(piece.formula) * MATH
            if isinstance(piece, b.Math)
            else _LETTER * len(b.words((piece,)))
            for piece in cell
        )
        for cell in cells
    )


def _room(labels: Sequence[str]) -> float:
    """Room for labels one below the other, in mm."""
    return _breadth([(layout.shortened(label),) for label in labels]) + 3


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
        merged = "<w:vMerge/>" if place else '<w:vMerge w:val="restart"/>'
        row = [Cell(paragraph(before, "Cell", keep, "right"), merged)]
        if matrix.row_labels:
            row.append(_label(matrix.row_labels[place], "right", keep))
        row.append(_bracket("left", place, last))
        row += [Cell(paragraph(_mathematics(cell), "Cell", keep, "center")) for cell in cells]
        row.append(_bracket("right", place, last))
        rows.append(row)
    labels = [_room(matrix.row_labels)] if matrix.row_labels else []
    figures = [
        max(*(layout.width(x) * layout.EM for x in column), 12.0) + 2
        for column in zip(*matrix.cells, strict=True)
    ]
    widths = [layout.width(matrix.before) * MATH + 3, *labels, _BRACKET, *figures, _BRACKET]
    height = f'<w:trHeight w:val="{twips(7.5)}" w:hRule="atLeast"/>'
    return table(rows, widths, properties=[height] * len(rows)) + GAP


def _label(text: str, side: str, keep: bool, properties: str = "") -> Cell:
    return Cell(paragraph(runs((layout.shortened(text),)), "Label", keep, side), properties)


def _bracket(side: str, place: int, last: int) -> Cell:
    has = {"top": place == 0, "left": side == "left", "bottom": place == last}
    has["right"] = side == "right"
    edges = "".join(_EDGE.format(name) for name, is_there in has.items() if is_there)
    return Cell(paragraph("", "Cell", keep=place < last), f"<w:tcBorders>{edges}</w:tcBorders>")


def heat_map(heat: b.HeatMap) -> str:
    """A heat map: a table of shaded cells, with labels, and its title below."""
    count = len(heat.columns)
    figures = max((layout.width(figure) for row in heat.figures for figure in row), default=0.0)
    wanted = max(layout.shade_width(count), 0.85 * layout.EM * figures + 2)
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
    longest = _room(heat.columns)
    heights = [
        f'<w:trHeight w:val="{twips(longest)}" w:hRule="atLeast"/>' if upright else "",
        *[f'<w:trHeight w:val="{twips(7)}" w:hRule="atLeast"/>'] * len(heat.rows),
        *[""] * bool(heat.title),
    ]
    widths = [_room(heat.rows), *[cell] * count]
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


# -- docx --------------------------------------------------------------------------------

_PARTS = Path(__file__).with_name("word")
#: The parts by their places in the file, the first of which says what the others are.
_FILES = {
    "[Content_Types].xml": "content-types.xml",
    "_rels/.rels": "package.rels",
    "docProps/core.xml": "core.xml",
    "word/_rels/document.xml.rels": "document.rels",
    "word/styles.xml": "styles.xml",
    "word/settings.xml": "settings.xml",
    "word/footer.xml": "footer.xml",
}
_DOCUMENT = "word/document.xml"
_BEGIN, _END = (_PARTS / "document.xml").read_text("utf-8").split("$body")
_SECTION = "<w:sectPr>"
#: Width and height of a paper in mm.
_PAPERS = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
#: Word's dictionaries are those of a country.
_LANGUAGES = {"en": "en-US", "de": "de-DE"}
#: No document tells when it was made: the same sheet gives the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)
_LOGO = "word/media/logo.png"
_DRAWING = '<wp:docPr id="{}"'
#: The width of a page, in em of mathematics.
_ROOM = PAGE / MATH


def document(sheet: b.Sheet) -> bytes:
    """The Word document of a sheet.

    >>> made = document(b.Sheet("x", "A < B", ("by hand",), (b.Paragraph(("It is.",)),)))
    >>> text = ZipFile(BytesIO(made)).read("word/document.xml").decode()
    >>> "<w:t>A &lt; B</w:t>" in text, "<w:t>It is.</w:t>" in text
    (True, True)
    """
    tag = _LANGUAGES.get(sheet.say.tag, sheet.say.tag)
    title = b.words(sheet.heading) or sheet.name
    values = {"language": tag, "title": html_text(title), "logo": ""}
    parts: dict[str, bytes] = {}
    logo = ""
    if sheet.logo is not None:
        values["logo"] = (
            '\n  <Relationship Id="logo" Type="http://schemas.openxmlformats.org/officeDocument/'
            '2006/relationships/image" Target="media/logo.png"/>'
        )
        parts[_LOGO] = sheet.logo.data
        logo = paragraph(_image(sheet.logo), side="right")
    head = (
        logo + paragraph(runs(sheet.heading), "Title") + paragraph(runs(sheet.subtitle), "Subtitle")
    )
    text = f"{_BEGIN}{head}{_blocks(sheet.blocks)}{_section(sheet.paper)}{_END}"
    written = {
        name: Template((_PARTS / file).read_text("utf-8")).substitute(values).encode()
        for name, file in _FILES.items()
    }
    return packed(written | {_DOCUMENT: text.encode()} | parts)


def bound(documents: Sequence[bytes]) -> bytes:
    """Documents of sheets as one, which begins each on a right-hand page.

    >>> one = document(b.Sheet("x", "X", (), ()))
    >>> text = ZipFile(BytesIO(bound([one, one]))).read("word/document.xml").decode()
    >>> text.count("<w:body>"), text.count('<w:type w:val="oddPage"/>')
    (1, 2)
    """
    packages = list(map(unpacked, documents))
    *most, last = (
        # No two drawings have the same number.
        parts[_DOCUMENT].decode().removeprefix(_BEGIN).removesuffix(_END)
        .replace(_DRAWING.format(1), _DRAWING.format(number))
        for number, parts in enumerate(packages, 1)
    )  # fmt: skip
    ended = "".join(map(_ended, most))
    return packed(packages[0] | {_DOCUMENT: f"{_BEGIN}{ended}{last}{_END}".encode()})


def _ended(body: str) -> str:
    """A body with the end of its section in a last paragraph, where others follow."""
    before, start, section = body.rpartition(_SECTION)
    return f'{before}<w:p><w:pPr><w:pStyle w:val="Gap"/>{start}{section}</w:pPr></w:p>'


def packed(parts: Mapping[str, bytes], rights: int = 0) -> bytes:
    """Parts by their names as an archive, that tells nothing of when and where it was made."""
    file = BytesIO()
    with ZipFile(file, "w") as package:
        for name, data in parts.items():
            info = ZipInfo(name, _DATE)
            # As on other systems.
            info.create_system = 3
            info.compress_type, info.external_attr = ZIP_DEFLATED, rights
            package.writestr(info, data)
    return file.getvalue()


def unpacked(document: bytes) -> dict[str, bytes]:
    """The parts of an archive by their names."""
    with ZipFile(BytesIO(document)) as package:
        return {name: package.read(name) for name in package.namelist()}


def _section(paper: str) -> str:
    """The last of a body: its paper, and that its pages begin on the right and are counted
    from 1."""
    across, high = _PAPERS[paper]
    side = (across - PAGE) / 2
    return (
        f'{_SECTION}<w:footerReference w:type="default" r:id="footer"/><w:type w:val="oddPage"/>'
        f'<w:pgSz w:w="{twips(across)}" w:h="{twips(high)}"/>'
        f'<w:pgMar w:top="{twips(18)}" w:right="{twips(side)}" w:bottom="{twips(22)}" '
        f'w:left="{twips(side)}" w:header="{twips(9)}" w:footer="{twips(9)}" w:gutter="0"/>'
        '<w:pgNumType w:start="1"/></w:sectPr>'
    )


def _image(logo: b.Logo) -> str:
    """A logo in a line, as large as 60 mm by 14 mm allow."""
    across, high = (int.from_bytes(logo.data[k : k + 4]) or 1 for k in (16, 20))
    scale = min(60 / across, 14 / high)
    # In units of which a millimetre has 36000.
    cx, cy = (max(round(36000 * scale * x), 1) for x in (across, high))
    return Template((_PARTS / "logo.xml").read_text("utf-8")).substitute(across=cx, high=cy)


# -- blocks ---------------------------------------------------------------------


def _blocks(blocks: Iterable[b.Block]) -> str:
    shown = [block for block in blocks if not isinstance(block, b.Picture)]
    return "\n".join(
        _block(block, b.introduces(block, after)) for block, after in zip_longest(shown, shown[1:])
    )


def _block(block: b.Block, keep: bool) -> str:
    match block:
        case b.Heading(text, level):
            return paragraph(runs(text), f"Heading{min(level, 3)}")
        case b.Paragraph(text):
            return paragraph(runs(text), keep=keep)
        case b.Equations():
            return _equations(block)
        case b.Matrices() | b.HeatMaps():
            return "".join(map(_shelf, layout.shelves((block,), _ROOM)))
        case b.Beside(items):
            return "".join(map(_shelf, layout.shelves(items, _ROOM)))
        case b.Table():
            return rows_table(block)
        case b.RedPen():
            return _marked(block)
        case b.Listing(lines):
            return "".join(paragraph(runs((line,)), "Listing") for line in lines) + GAP
        case b.Picture():
            return ""


def _shelf(items: Sequence[layout.Display]) -> str:
    """Displays side by side: matrices in one formula, others in a table without lines."""
    matrices = [item for item in items if isinstance(item, b.Matrix) and not has_blanks(item)]
    if len(matrices) == len(items):
        return _matrices(matrices)
    match items:
        case [b.Equations() as equations]:
            return _equations(layout.in_columns(equations, _ROOM))
        case [item]:
            return _display(item)
    widths = [(layout.display_width(item) + 1.5) * MATH for item in items]
    cells = [Cell(_display(item)) for item in items]
    return table([cells], widths) + GAP


def _matrices(items: Sequence[b.Matrix]) -> str:
    return paragraph(omml.matrices(items), "Display")


def _display(item: layout.Display) -> str:
    match item:
        case b.Equations():
            return _equations(item, layout.display_width(item) * MATH)
        case b.Matrix():
            return blank_matrix(item) if has_blanks(item) else _matrices([item])
        case b.HeatMap():
            return heat_map(item)


def _equations(equations: b.Equations, room: float = PAGE) -> str:
    """Equations aligned at their relations, in as many columns as fit: a table without lines."""
    most = layout.in_columns(equations, room / MATH)
    fitted = min(equations, most, key=lambda x: x.columns)
    left = (max(layout.width(line[0]) for line in fitted.lines) + 1) * MATH
    right = max(room / fitted.columns - left, 20.0)
    rows = [[cell for line in row for cell in _equation(*line)] for row in fitted.rows]
    widths = [left, right] * fitted.columns
    rows[-1] += [Cell(BLANK)] * (len(widths) - len(rows[-1]))
    return table(rows, widths) + GAP


def _equation(left: t.Row, relation: t.Row, right: t.Row) -> list[Cell]:
    """Both sides of a line; what continues that above is set in."""
    indent = t.Row() if relation else t.QUAD
    sides = (left, "right"), (indent + relation + right, "left")
    return [Cell(paragraph(omml.display(side, jc) if side else "", "Cell")) for side, jc in sides]


def _marked(marked: b.RedPen) -> str:
    """Figures on the left, what is said of them in red on the right."""
    pieces = [_matrices([piece]) for piece in layout.cut(marked.matrix, 0.62 * _ROOM)]
    left = paragraph(runs((marked.where,)), "Label") + "".join(pieces)
    notes = "".join(paragraph(runs(note, omml.PEN), "RedPen") for note in marked.notes)
    return table([[Cell(left), Cell(notes or BLANK)]], [0.65 * PAGE, 0.35 * PAGE]) + GAP
