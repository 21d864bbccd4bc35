r"""Sheets as Typst documents, for a PDF without TeX.

Letters of mathematics, signs and layout are Typst's; all text of a sheet stands in strings, where
nothing is a command. Its fonts are those that Typst brings along, which look as LaTeX's do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path

from symattn.escaping import is_hidden
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers import layout
from symattn.printers.engine import TYPST_DOCUMENT

#: How sheets look: the functions that are called here for each block.
_STYLE = Path(__file__).with_name("sheet.typ").read_text("utf-8")

#: What Typst calls a paper, and what of its width is left beside 166 mm of text.
_PAPERS = {"a4": ("a4", 22), "letter": ("us-letter", 24.95)}


#: What stands before the first line of a sheet, and what is put there for the next in a row:
#: it begins on a right-hand page, and its pages are counted from 1.
_BEGIN = "// The sheet begins here.\n"
_NEXT = '#pagebreak(to: "odd")\n#counter(page).update(1)\n'


def bound(documents: Sequence[str]) -> str:
    """Documents of sheets as one, which begins each on a right-hand page."""
    heads, bodies = zip(*(text.split(_BEGIN, 1) for text in documents), strict=True)
    return "".join((heads[0], _BEGIN, _NEXT.join(bodies)))


def document(sheet: b.Sheet) -> str:
    """The Typst document of a sheet.

    >>> line = (b.Math(t.letters("A")), " is")
    >>> page = document(b.Sheet("x", "A < B", (), (b.Paragraph(line),)))
    >>> page.splitlines()[-1]
    '$A$#(" is")'
    """
    blocks = b.on_paper(sheet.blocks)
    body = "\n\n".join(
        f"#before[{_block(block)}]" if b.introduces(block, after) else _block(block)
        for block, after in zip_longest(blocks, blocks[1:])
    )
    name, side = _PAPERS[sheet.paper]
    logo = f"#logo({_string(sheet.logo.file)})\n" if sheet.logo else ""
    return (
        f"{TYPST_DOCUMENT}\n#set document(title: {_string(b.words(sheet.heading))})\n"
        f'#set page(paper: "{name}", margin: (x: {side}mm, top: 20mm, bottom: 22mm), '
        f'numbering: "1")\n#set text(lang: "{sheet.say.tag.partition("-")[0]}")\n{_STYLE}\n'
        f"{_BEGIN}{logo}#title({_line(sheet.heading)}, {_line(sheet.subtitle)})\n\n{body}\n"
    )


# -- text -----------------------------------------------------------------------

#: Long words, such as addresses, may break after every so many letters.
_LONG, _PART = re.compile(r"\S{17,}"), re.compile(r".{1,4}")


def _string(text: str) -> str:
    r"""Text as a string of Typst, on one line; what steers or hides text is left out.

    >>> print(_string('a "b" #c\n\\d'))
    "a \"b\" #c \\d"
    """
    plain = "".join(" " if c.isspace() else "" if is_hidden(c) else c for c in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(text: str, style: str = "") -> str:
    """Text as content, long words in parts that lines may end behind."""
    parts, done = [], 0
    for word in _LONG.finditer(text):
        pieces = _PART.findall(word[0])
        parts += [text[done : word.start()] + pieces[0], *pieces[1:-1]]
        done = word.end() - len(pieces[-1])
    parts.append(text[done:])
    return "#h(0pt)".join(f"#{style}({_string(part)})" for part in parts)


def _line(line: b.Line, room: float = layout.TEXT) -> str:
    """A line of text as content; formulas that nothing breaks get no wider than ``room`` em."""
    return f"[{_inline(line, room)}]"


def _inline(line: b.Line, room: float = layout.TEXT) -> str:
    code, strong = (partial(_text, style=style) for style in ("raw", "strong"))
    return "".join(b.written(line, _text, partial(_inner, room), code, strong))


def _inner(room: float, formula: t.Row) -> str:
    """Mathematics inside a line."""
    if layout.unbreakable(formula) > room:
        return _fit(formula, room)
    match formula.nodes:
        case (t.Styled(True, inner),) if layout.width(formula) <= room:
            # In a box of its own it doesn't reach into the lines around it.
            return f"#box($ {_row(inner)} $)"
    return _math(formula)


def _fit(formula: t.Row, room: float) -> str:
    return f"#fit({room * layout.EM:.0f}mm, {_math(formula)})"


#: Height of a page that nothing is lost of where what belongs together moves on, in mm.
_PAGE = 170


def _block(block: b.Block) -> str:
    match block:
        case b.Heading(text, level, room):
            return f"#head({level}, {min(room, _PAGE):.0f}mm, {_line(text)})"
        case b.Paragraph(text):
            return _inline(text)
        case b.Equations():
            return _equations(block)
        case b.Matrices(items):
            pieces = [piece for item in items for piece in layout.cut(item)]
            return f"#beside({', '.join(map(_matrix, pieces))})"
        case b.Table():
            return _table(block)
        case b.HeatMaps(items):
            return _heat_maps(items)
        case b.Beside(items):
            return "\n".join(map(_shelf, layout.shelves(items)))
        case b.RedPen(where, matrix, notes):
            pieces = layout.cut(matrix, 0.66 * layout.TEXT)
            remarks = "".join(f"{_line(note)}, " for note in notes)
            return f"#marked({_line((where,))}, ({remarks}), {', '.join(map(_matrix, pieces))})"
        case b.Picture(svg):
            return f"#drawing({_string(svg)})"
        case b.Listing(lines):
            return f"#listing({', '.join(map(_string, lines))})"


def _shelf(items: list[layout.Display]) -> str:
    """Displays side by side; equations that stand alone take as many columns as fit."""
    match items:
        case [b.Equations() as equations]:
            return _equations(layout.in_columns(equations))
        case [b.HeatMap() as heat]:
            return _heat_maps((heat,))
    return f"#shelf({', '.join(map(_display, items))})"


def _display(item: layout.Display) -> str:
    match item:
        case b.Equations():
            return f"$ {_aligned(item)} $"
        case b.Matrix():
            return _matrix(item)
        case b.HeatMap():
            return _heat_map(item)


def _equations(equations: b.Equations) -> str:
    return f"#equations($ {_aligned(equations)} $)"


def _aligned(equations: b.Equations) -> str:
    """Equations aligned at their relations, in several columns; what continues a line is set in."""
    rows = (" & #h(1em) ".join(_equation(*line) for line in row) for row in equations.rows)
    return " \\\n".join(rows)


def _equation(left: t.Row, relation: t.Row, right: t.Row) -> str:
    if not relation:
        return f"{_row(left)} & #h(1em) {_continued(right)}"
    room = max(layout.TEXT - layout.width(left) - 1.5, 8.0)
    formula = _row(right) if layout.width(right) <= room else _fit(right, room)
    return f"{_row(left)} & {_row(relation)} {formula}"


# -- mathematics ----------------------------------------------------------------


_BRACKETS = '"["'


def _math(formula: t.Row) -> str:
    return f"${_row(formula)}$"


def _row(row: t.Row) -> str:
    r"""A formula in Typst's notation.

    >>> print(_row(t.fraction(t.number("1"), t.letters("x"))))
    frac(1, x)
    """
    written, close = "", True
    for node in t.signed(row):
        if not (piece := _node(node)):
            continue
        # Beside text a blank would be seen.
        text = piece.startswith(('"', "#"))
        written += piece if close or text else f" {piece}"
        close = text
    return written


def _body(row: t.Row) -> str:
    """Return what a function of Typst is given, which isn't nothing."""
    return _row(row) or '""'


def _continued(row: t.Row) -> str:
    """The rest of a sum on a new line: its sign has an operand above."""
    match tuple(t.signed(row)):
        case (t.Sign(text, prefix=True), *rest):
            return f'class("binary", {text}) {_row(t.Row(tuple(rest)))}'
    return _row(row)


def _node(node: t.Node) -> str:
    match node:
        case t.Digits(text) | t.Letter(text):
            return text
        case t.UprightName(text) | t.Text(text):
            return _string(text)
        case t.SlantedName(text):
            return f"#word({_string(text)})"
        case t.CauseMark(text):
            return f"#cause({_string(text)})"
        case t.Sign():
            return _sign(node)
        case t.Limits(text):
            return text if text == "∑" else f"op({_string(text)}, limits: #true)"
        case t.Space(width):
            return f"#h({width / 18:.3g}em)"
        case t.Group(inner):
            return _row(inner)
        case t.Strut():
            return ""
        case t.Fraction(above, below):
            return f"frac({_body(above)}, {_body(below)})"
        case t.Radical(inner):
            return f"sqrt({_body(inner)})"
        case t.Indexed(base, below, above):
            indices = f", b: {_row(below)}" if below else ""
            indices += f", t: {_row(above)}" if above else ""
            return f"attach({_body(t.row(base))}{indices})"
        case t.Fenced(opening, inner, closing):
            return f"lr({_escaped(opening)} {_row(inner)} {_escaped(closing)})"
        case t.Big(text):
            return f"lr(size: #1.8em, {_escaped(text)})"
        case t.Marking("bold", inner):
            return f"upright(bold({_body(inner)}))"
        case t.Marking("correct", inner):
            return f"#correct({_figure(inner)})"
        case t.Marking(look, inner):
            return f"{look}({_body(inner)})"
        case t.Styled(display, inner):
            return f"{'display' if display else 'inline'}({_body(inner)})"
        case t.CellGrid("cases", rows):
            return _mat("#none", "left", [list(map(_row, row)) for row in rows], ".3em")
        case t.CellGrid("matrix", rows):
            return _mat("#none", "center", [list(map(_row, row)) for row in rows], ".6em")
        case t.CellGrid(_, rows):
            lines = " \\ ".join(
                " & ".join([_row(row[0]), *map(_continued, row[1:])]) for row in rows
            )
            return f"#lines($ {lines} $)"


def _figure(row: t.Row) -> str:
    """A figure as text, which is copied as such; else bold mathematics."""
    if (figure := t.plain_figure(row)) is not None:
        return _string(figure)
    return f"$upright(bold({_row(row)}))$"


def _sign(sign: t.Sign) -> str:
    if sign.role == "close by":
        return f'class("normal", {_escaped(sign.text)})'
    if sign.role in ("separator", "opening", "closing"):
        return _escaped(sign.text)
    is_open = sign.prefix and sign.text in "+−"
    return f'class("unary", {sign.text})' if is_open else sign.text


def _escaped(text: str) -> str:
    """A sign that Typst reads as itself."""
    return f"\\{text}" if text else ""


def _mat(delimiter: str, align: str, rows: list[list[str]], gap: str) -> str:
    # A semicolon right behind code would be taken for its end.
    cells = " ; ".join(" , ".join(row) for row in rows)
    return f"mat(delim: {delimiter}, align: #{align}, row-gap: #{gap}, column-gap: #1em, {cells})"


def _matrix(matrix: b.Matrix) -> str:
    before = _row(matrix.before)
    if not matrix.cells:
        return f"$ {before} $"
    tall = t.has(matrix.cells, t.Fraction, t.Strut)
    # Fractions and sums are centred; figures and short entries line up right.
    align, gap = ("center", ".45em") if tall else ("right", ".3em")
    style = "display({})" if tall else "{}"
    cells = [[style.format(_row(cell)) for cell in row] for row in matrix.cells]
    labels = [
        [
            f"#label({_string(layout.shortened(label))})"
            + (f"#strut(${' '.join(row)}$)" if tall else "")
        ]
        for label, row in zip(matrix.row_labels, cells, strict=bool(matrix.row_labels))
    ]
    side = _mat("#none", "right", labels, gap) if labels else ""
    display = f"$ {before} {side} {_mat(_BRACKETS, align, cells, gap)} $"
    if layout.matrix_width(matrix) <= layout.TEXT:
        return display
    return f"fit({layout.TEXT * layout.EM:.0f}mm, {display})"


# -- tables and heat maps ---------------------------------------------------------


def _table(table: b.Table) -> str:
    sides = layout.columns(table.align)
    # Beside the first and the last column there is no air.
    air = [12] * len(sides)
    air[0] -= 6
    air[-1] -= 6
    widths = "".join(
        f"{column.width:g}mm + {pt}pt, " if column.width else "auto, "
        for column, pt in zip(sides, air, strict=True)
    )
    align = "".join(f"{layout.SIDES[column.side]} + horizon, " for column in sides)
    gaps = "".join(f"{column.gap:g}mm, " for column in sides[1:])
    header = "".join(f"strong({_line(cell)}), " for cell in table.header)
    rooms = [column.width / layout.EM or 2 * layout.TEXT / max(len(sides), 2) for column in sides]
    rows = ",\n".join(_table_row(row, rooms) for row in table.rows)
    return f"#rows(({widths}), ({align}), ({gaps}), ({header}),\n{rows})"


def _table_row(row: tuple[b.Line, ...], rooms: list[float]) -> str:
    if len(row) == 1 < len(rooms):
        return f"group({len(rooms)}, {_line(row[0])})"
    return ", ".join(_line(cell, room) for cell, room in zip(row, rooms, strict=True))


def _heat_maps(items: tuple[b.HeatMap, ...]) -> str:
    between = "h(8mm)" if layout.are_beside(items) else "parbreak()"
    return f"#heatmaps({between}, {', '.join(map(_heat_map, items))})"


def _heat_map(heat: b.HeatMap) -> str:
    count = len(heat.columns)
    cell, apart = layout.shade_width(count), layout.labels_apart(count)
    style = "slanted" if max(map(len, heat.columns)) > 7 else "label"
    above = "".join(f"{x}, " for x in _labels(heat.columns, apart, style))
    rows = ",\n".join(
        ", ".join([label, *(_shade(*pair, cell) for pair in zip(shades, figures, strict=True))])
        for label, shades, figures in zip(
            _labels(heat.rows, apart, "label"), heat.shades, heat.figures, strict=True
        )
    )
    return f"heatmap({cell:g}mm, {_line(heat.title)}, ({above}),\n{rows})"


def _label(text: str, style: str = "label") -> str:
    return f"{style}({_string(layout.shortened(text))})"


def _labels(labels: tuple[str, ...], apart: int, style: str) -> list[str]:
    """Labels of rows or columns, of so many only one."""
    return ["[]" if place % apart else _label(label, style) for place, label in enumerate(labels)]


def _shade(shade: float, figure: t.Row, cell: float) -> str:
    percent = round(100 * min(max(shade, 0.0), 1.0))
    content = f"fit({cell - 1:g}mm, {_math(figure)})" if figure else "[]"
    return f"shade({percent}%, {content})"
