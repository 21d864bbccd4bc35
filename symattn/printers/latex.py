r"""Sheets as LaTeX documents.

Only packages of Debian's ``texlive-latex-recommended``, ``texlive-pictures`` and ``lmodern``. Text
that pdflatex's fonts can't show (Greek, Cyrillic, CJK, emoji) makes the document one for lualatex
with fallback fonts; the first line says which engine is meant.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from symattn.escaping import latex as escape
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers import layout
from symattn.printers.engine import engine_for

# -- drawings in LaTeX -------------------------------------------------------------------
# The SVG of :mod:`symattn.drawing`, element by element, as TikZ.

#: What elements hand down to those in them.
_HANDED_DOWN = ("fill", "font-size", "font-weight", "font-style", "text-anchor")
#: Where a text is held, by its anchor.
_ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}
#: A pixel in points of print.
_PIXEL = 0.75
#: The largest picture on a page, in points.
_WIDTH, _HEIGHT = 470.0, 680.0

_Style = Mapping[str, str]


def picture(svg: str) -> str:
    """A drawing as a TikZ picture, made small where it is larger than a page.

    >>> rect = '<rect fill="#ff0000" width="8" height="4"/>'
    >>> print(picture(f'<svg width="8" height="4">{rect}</svg>'))
    \\begin{tikzpicture}[x=0.75bp,y=-0.75bp]
    \\path[fill={rgb,255:red,255;green,0;blue,0}] (0,0) rectangle (8,4);
    \\end{tikzpicture}
    """
    root = ET.fromstring(svg)
    wide, high = (_PIXEL * float(root.get(side, "0")) for side in ("width", "height"))
    scale = min(1.0, _WIDTH / wide, _HEIGHT / high)
    lines = "\n".join(_element(root, (0.0, 0.0), {}))
    body = f"\\begin{{tikzpicture}}[x={_PIXEL}bp,y=-{_PIXEL}bp]\n{lines}\n\\end{{tikzpicture}}"
    return body if scale == 1.0 else rf"\scalebox{{{scale:.3f}}}{{{body}}}"


def _element(element: ET.Element, at: tuple[float, float], style: _Style) -> Iterator[str]:
    name = element.tag.rpartition("}")[2]
    style = {**style, **{key: value for key in _HANDED_DOWN if (value := element.get(key))}}
    x, y = at
    match name:
        case "svg" | "g":
            if moved := re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform", "")):
                x, y = x + float(moved[1]), y + float(moved[2])
            for child in element:
                yield from _element(child, (x, y), style)
        case "rect":
            left, top = x + _number(element, "x"), y + _number(element, "y")
            right, below = left + _number(element, "width"), top + _number(element, "height")
            rounded = f",rounded corners={_PIXEL * _number(element, 'rx'):g}bp"
            shape = f"({left:g},{top:g}) rectangle ({right:g},{below:g})"
            yield _path(element, style, shape, rounded if element.get("rx") else "")
        case "polygon":
            corners = (pair.split(",") for pair in element.get("points", "").split())
            shape = " -- ".join(f"({x + float(a):g},{y + float(b):g})" for a, b in corners)
            yield _path(element, style, f"{shape} -- cycle")
        case "path":
            yield _path(element, style, _outline(element.get("d", ""), at))
        case "text":
            yield _text(element, (x + _number(element, "x"), y + _number(element, "y")), style)


def _number(element: ET.Element, name: str) -> float:
    return float(element.get(name, "0"))


def _path(element: ET.Element, style: _Style, shape: str, more: str = "") -> str:
    paint = []
    for name, color in (("fill", style.get("fill", "#000000")), ("draw", element.get("stroke"))):
        if color and color != "none":
            opacity = element.get("fill-opacity" if name == "fill" else "stroke-opacity", "1")
            see_through = f",{name} opacity={opacity}" if float(opacity) < 1 else ""
            paint.append(f"{name}={_color(color)}{see_through}")
    if width := element.get("stroke-width"):
        paint.append(f"line width={_PIXEL * float(width):g}bp")
    return rf"\path[{','.join(paint)}{more}] {shape};"


def _color(color: str) -> str:
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return f"{{rgb,255:red,{red};green,{green};blue,{blue}}}"


#: The commands of outlines, with how many numbers each takes.
_COMMANDS = {"M": 2, "L": 2, "C": 6, "H": 1, "V": 1, "h": 1, "v": 1, "z": 0, "Z": 0}


def _outline(outline: str, at: tuple[float, float]) -> str:
    """An outline as TikZ draws it."""
    shape = ""
    here = at
    for command, written in re.findall(r"([A-Za-z])([^A-Za-z]*)", outline):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", written)]
        assert len(numbers) == _COMMANDS[command]
        if command in "zZ":
            shape += " -- cycle"
            continue
        points = [(at[0] + a, at[1] + b) for a, b in zip(numbers[::2], numbers[1::2], strict=False)]
        match command:
            case "H":
                points = [(at[0] + numbers[0], here[1])]
            case "V":
                points = [(here[0], at[1] + numbers[0])]
            case "h":
                points = [(here[0] + numbers[0], here[1])]
            case "v":
                points = [(here[0], here[1] + numbers[0])]
        *controls, here = points
        end = f"({here[0]:g},{here[1]:g})"
        if controls:
            shape += " .. controls " + " and ".join(f"({a:g},{b:g})" for a, b in controls)
        shape += f" .. {end}" if controls else f" {end}" if command == "M" else f" -- {end}"
    return shape.strip()


def _text(element: ET.Element, at: tuple[float, float], style: _Style) -> str:
    runs, raised = _run(element.text or "", style, 0.0), 0.0
    for span in element:
        raised -= _number(span, "dy")
        runs += _run(span.text or "", {**style, **span.attrib}, raised)
        runs += _run(span.tail or "", style, raised)
    anchor = _ANCHORS[style.get("text-anchor", "start")]
    color = _color(style.get("fill", "#000000"))
    where = f"anchor={anchor},inner sep=0pt,text={color}"
    return rf"\node[{where}] at ({at[0]:g},{at[1]:g}) {{{runs}}};"


def _run(text: str, style: _Style, raised: float) -> str:
    if not text:
        return ""
    size = _PIXEL * float(style.get("font-size", "12"))
    look = r"\bfseries" if style.get("font-weight") == "bold" else ""
    look += r"\itshape" if style.get("font-style") == "italic" else ""
    run = rf"{{\fontsize{{{size:g}}}{{{size:g}}}\selectfont{look} {escape(text)}}}"
    return rf"\raisebox{{{_PIXEL * raised:g}bp}}{{{run}}}" if raised else run


# -- latex -------------------------------------------------------------------------------

#: Where the preambles are: ``lualatex.tex`` tries fonts for letters that Latin Modern lacks.
_HERE = Path(__file__).parent

#: The words of other languages stay whole: LaTeX would break them by English rules.
_UNBROKEN = "\\hyphenpenalty=10000\n"

_BEGIN, _END = r"\begin{document}", r"\end{document}"
#: The next document begins on a right-hand page, and its pages are counted from 1.
_NEXT = r"""
\clearpage
\ifodd\value{page}\else\null\thispagestyle{empty}\clearpage\fi
\setcounter{page}{1}
"""


def bound(documents: Sequence[str]) -> str:
    """Documents of sheets as one, which begins each on a right-hand page.

    >>> one = document(b.Sheet("x", "X", (), ()))
    >>> two = bound([one, one])
    >>> two.count("documentclass"), two.count("LARGE")
    (1, 2)
    """
    heads, bodies = zip(
        *(text.removesuffix(f"{_END}\n").split(_BEGIN, 1) for text in documents), strict=True
    )
    # What pdflatex prints lualatex prints, too.
    head = next((x for x in heads if "lualatex" in x.splitlines()[0]), heads[0])
    return f"{head}{_BEGIN}{_NEXT.join(bodies)}{_END}\n"


def document(sheet: b.Sheet) -> str:
    """The LaTeX document of a sheet."""
    body = _joined(sheet.blocks)
    logo = ""
    if sheet.logo is not None:
        size = "height=14mm,width=60mm,keepaspectratio"
        logo = rf"{{\raggedleft\includegraphics[{size}]{{{sheet.logo.file}}}\par}}" + "\n"
    head = logo + (
        rf"{{\LARGE\bfseries\boldmath\color{{ink}}\raggedright {_line(sheet.heading)}\par}}"
        + "\n"
        + rf"{{\large\itshape\color{{ink}} {_line(sheet.subtitle)}\par}}"
        + "\n\\smallskip{\\color{ink}\\hrule height .6pt}\\medskip"
    )
    engine = engine_for(head + body)
    # What is the engine's own, and how sheets look, whichever sets them.
    preamble = "".join((_HERE / f"{name}.tex").read_text("utf-8") for name in (engine, "sheet"))
    return "\n".join(
        [
            f"% !TeX program = {engine}",
            f"% Written by symattn from the case '{escape(sheet.name)}'.",
            rf"\documentclass[fontsize=10pt,paper={sheet.paper}]{{scrartcl}}",
            preamble + ("" if sheet.say.is_english else _UNBROKEN),
            _BEGIN,
            head,
            "",
            body,
            _END,
            "",
        ]
    )


def _joined(blocks: tuple[b.Block, ...]) -> str:
    """The blocks; a display belongs to the paragraph above it."""
    text = ""
    blocks = b.on_paper(blocks)
    for place, block in enumerate(blocks):
        display = isinstance(block, b.Equations | b.Matrices | b.Beside)
        if place:
            text += "\n" if display else "\n\n"
        if display and place and isinstance(blocks[place - 1], b.Heading):
            # TeX sets an empty line of text before a display.
            text += "\\vspace{-\\baselineskip}\n"
        text += _block(block)
    return text


def _fit(formula: t.Row, room: float) -> str:
    """Mathematics that nothing breaks, made small if it is wider than ``room`` em."""
    latex = t.latex(formula)
    return latex if layout.width(formula) <= room else rf"\fit{{{10 * room:.0f}pt}}{{{latex}}}"


def _line(line: b.Line, room: float = layout.TEXT) -> str:
    return "".join(b.written(line, escape, partial(_inline, room), _typed, _strong))


def _inline(room: float, formula: t.Row) -> str:
    breaks = layout.unbreakable(formula) <= room
    return f"${t.latex(formula) if breaks else _fit(formula, room)}$"


def _strong(text: str) -> str:
    return rf"\textbf{{{escape(text)}}}"


def _typed(text: str) -> str:
    # Two hyphens would be drawn as one dash, and a quote as a curly one.
    escaped = escape(text).replace("-", "-{}").replace("'", r"\textquotesingle{}")
    return rf"\texttt{{{escaped}}}"


#: Height of a page, and of the beginning of what is longer, in mm.
_PAGE, _BEGINNING = 245, 50


def _block(block: b.Block) -> str:
    match block:
        case b.Heading(text, level, room):
            inner = rf"\{'sub' * (level - 1)}section*{{{_line(text)}}}"
            kept = room if room <= _PAGE else _BEGINNING
            return rf"\needroom{{{kept:.0f}mm}}{inner}" if room else inner
        case b.Paragraph((b.Strong(),) as title):
            # No page ends below a title.
            return rf"\needroom{{14mm}}{_line(title)}"
        case b.Paragraph(text):
            return _line(text)
        case b.Equations():
            return _equations(block)
        case b.Matrices():
            return "\n".join(map(_shelf, layout.shelves((block,))))
        case b.Beside(items):
            return "\n".join(map(_shelf, layout.shelves(items)))
        case b.Table():
            return _table(block)
        case b.HeatMaps(items):
            return _heat_maps(items)
        case b.RedPen():
            return _marked(block)
        case b.Picture(svg):
            return f"\\clearpage\n{{\\centering\n{picture(svg)}\\par}}"
        case b.Listing(lines):
            inner = r"\\".join(map(_typed, lines))
            return rf"\begin{{quote}}{inner}\end{{quote}}"


def _equations(equations: b.Equations) -> str:
    if equations.columns > 1:
        return _in_columns(equations)
    return f"\\begin{{align*}}\n{_aligned(equations.lines)}\n\\end{{align*}}"


def _aligned(lines: tuple[b.Equation, ...]) -> str:
    text = ""
    for place, (left, relation, right) in enumerate(lines):
        indent = "" if relation else r"\quad "
        room = max(layout.TEXT - layout.width(left) - bool(indent) - 1.5, 8.0)
        if place:
            # No page ends inside of an equation.
            text += " \\\\\n" if left else " \\\\*\n"
        sign = t.latex(relation) or "{}"
        text += rf"{t.latex(left)} &{sign} {indent}{_fit(right, room)}".strip()
    return text


def _in_columns(equations: b.Equations) -> str:
    """Short equations side by side, aligned in each column."""
    cells = "{} &{} {}".format
    rows = (r" &\quad ".join(cells(*map(t.latex, x)) for x in row) for row in equations.rows)
    body = " \\\\\n".join(rows)
    return f"\\begin{{alignat*}}{{{equations.columns}}}\n{body}\n\\end{{alignat*}}"


def _shelf(items: list[layout.Display]) -> str:
    """Displays on one line; what stands alone on it may take more."""
    match items:
        case [b.Equations() as equations]:
            return _equations(layout.in_columns(equations))
        case [b.HeatMap() as heat]:
            return _heat_maps((heat,))
    body = " \\qquad\n".join(map(_display, items))
    if isinstance(items[0], b.Matrix) and layout.matrix_width(items[0]) > layout.TEXT:
        body = rf"\fit{{{10 * layout.TEXT:.0f}pt}}{{{body}}}"
    return f"\\[\n{body}\n\\]"


def _display(item: layout.Display) -> str:
    match item:
        case b.Equations(lines):
            return f"\\begin{{aligned}}\n{_aligned(lines)}\n\\end{{aligned}}"
        case b.Matrix():
            return _matrix(item)
        case b.HeatMap():
            return f"\\vcenter{{\\hbox{{%\n{_heat_map(item)}}}}}"


# -- matrices -------------------------------------------------------------------


def _label(text: str) -> str:
    return escape(layout.shortened(text))


def _matrix(matrix: b.Matrix) -> str:
    before = t.latex(matrix.before)
    if not matrix.cells:
        return before
    tall = t.has(matrix.cells, t.Fraction, t.Strut)
    table = [list(map(t.latex, row)) for row in matrix.cells]
    if tall:
        # With air above and below.
        table = [[rf"\air{{{x}}}".replace(r"\frac", r"\dfrac") for x in row] for row in table]
    cells = " \\\\\n".join(" & ".join(row) for row in table)
    # Fractions and sums are centred; figures and short entries line up right.
    spec = ("c" if tall else "r") * len(matrix.cells[0])
    inner = (
        rf"\left[\begin{{array}}{{@{{\,}}{spec}@{{\,}}}}" + f"\n{cells}\n" + r"\end{array}\right]"
    )
    if not matrix.row_labels:
        return f"{before} {inner}"
    side = " \\\\\n".join(
        rf"\textit{{\small {_label(label)}}}" + (r"\vphantom{" + "".join(row) + "}" if tall else "")
        for label, row in zip(matrix.row_labels, table, strict=True)
    )
    labels = r"\begin{array}{r@{}}" + f"\n{side}\n" + r"\end{array}"
    return f"{before} {labels}{inner}"


def _marked(marked: b.RedPen) -> str:
    """Figures on the left, what is said of them in red on the right."""
    pieces = "\n\\par\n".join(
        rf"$\displaystyle {_matrix(piece)}$"
        for piece in layout.cut(marked.matrix, 0.68 * layout.TEXT)
    )
    notes = r"\par ".join(map(_line, marked.notes))
    return (
        rf"\par\noindent\begin{{minipage}}[c]{{.66\textwidth}}\raggedright"
        rf"{{\small\itshape {escape(marked.where)}}}\par\smallskip {pieces}\end{{minipage}}\hfill"
        rf"\begin{{minipage}}[c]{{.32\textwidth}}\raggedright\small\color{{pen}}{notes}\end{{minipage}}"
        r"\par\medskip"
    )


# -- tables and heat maps --------------------------------------------------------

#: The width of a title, in mm.
_TITLE = 150


def _table(table: b.Table) -> str:
    header = " & ".join(rf"\textbf{{{_line(cell)}}}" for cell in table.header)
    rows = "\n".join(_row(row, table) for row in table.rows)
    return (
        rf"\begin{{longtable}}[l]{{@{{\hspace{{6mm}}}}{table.align}@{{}}}}"
        f"\n\\toprule\n{header} \\\\\n\\midrule\n\\endhead\n{rows}\n\\bottomrule"
        "\n\\end{longtable}"
    )


def _row(row: tuple[b.Line, ...], table: b.Table) -> str:
    """A row of a table; below a displayed formula there is air, below a title no end of page."""
    count = len(table.header)
    if len(row) == 1 < count:
        title = rf"\boldmath\textbf{{{_line(row[0])}}}"
        column = rf"@{{\hspace{{6mm}}}}P{{{_TITLE}mm}}@{{}}"
        return rf"\multicolumn{{{count}}}{{{column}}}{{{title}}} \\*\addlinespace[4pt]"
    rooms = [2 * layout.TEXT / max(count, 2)] * count
    if "P" in table.align:
        rooms = [column.width / layout.EM or layout.TEXT for column in layout.columns(table.align)]
    cells = " & ".join(_line(cell, room) for cell, room in zip(row, rooms, strict=True))
    # The end of the row before would take [1] for a distance, and * for a star.
    start = "{}" if cells.lstrip().startswith(("[", "*")) else ""
    return rf"{start}{cells} \\{_air(row)}"


def _air(row: tuple[b.Line, ...]) -> str:
    """Room below a row: displayed mathematics needs some, fractions and sums more."""
    is_sum = t.has(row, t.Limits("∑"))
    if any(isinstance(x, t.Styled) and x.display for x in t.nodes(row)):
        return rf"\addlinespace[{7 if is_sum or t.has(row, t.Fraction) else 5}pt]"
    return r"\addlinespace[3pt]" if is_sum else ""


def _heat_maps(items: tuple[b.HeatMap, ...]) -> str:
    between = "\\hspace{8mm}\n" if layout.are_beside(items) else "\\par\\medskip\\hspace*{8mm}\n"
    pictures = between.join(map(_heat_map, items))
    return f"\\par\\hspace*{{8mm}}{pictures}\\par"


def _heat_map(heat: b.HeatMap) -> str:
    count = len(heat.columns)
    cell, apart = layout.shade_width(count), layout.labels_apart(count)
    side = rf"x={cell:g}mm,y={min(cell, 8.0):g}mm"
    lines = [rf"\begin{{tikzpicture}}[{side},baseline=(current bounding box.center)]"]
    for i, (shades, figures) in enumerate(zip(heat.shades, heat.figures, strict=True)):
        for j, (shade, figure) in enumerate(zip(shades, figures, strict=True)):
            percent = round(100 * min(max(shade, 0.0), 1.0))
            ink = "white" if percent > 55 else "black"
            content = rf"\fit{{{cell - 1:g}mm}}{{{t.latex(figure)}}}" if figure else ""
            lines.append(
                rf"\fill[heat!{percent}!white,draw=white,line width=.6pt] ({j},{-i}) "
                rf"rectangle ({j + 1},{-i - 1});"
            )
            lines.append(rf"\node[text={ink},font=\footnotesize] at ({j}.5,{-i}-.5) {{{content}}};")
    for i, label in list(enumerate(heat.rows))[::apart]:
        lines.append(
            rf"\node[anchor=base east,yshift=-.6ex,font=\small\itshape] at (0,{-i}-.5) "
            rf"{{{_label(label)}}};"
        )
    # On one baseline, whatever letters a label has.
    long = max(map(len, heat.columns)) > 7
    anchor = "rotate=45,anchor=base west" if long else "anchor=base"
    for j, label in list(enumerate(heat.columns))[::apart]:
        content = rf"font=\small\itshape] at ({j}.5,0) {{{_label(label)}}};"
        lines.append(rf"\node[{anchor},yshift=1.2mm,{content}")
    if heat.title:
        lines.append(
            rf"\node[below,font=\small] at ({count / 2:g},{-len(heat.rows)}) "
            rf"{{{_line(heat.title)}}};"
        )
    lines.append(r"\end{tikzpicture}")
    return "\n".join(lines)
