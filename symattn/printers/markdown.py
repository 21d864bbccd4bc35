r"""Sheets as Markdown with mathematics in dollars, as GitHub and many chats show it.

Of LaTeX only words stand here that MathJax and KaTeX both know, and none that
Markdown reads in its own way: ``\cr`` ends a line, since it takes ``\\`` for
an escape, and behind ``_`` stands a blank, so that nothing is stressed. Struck
and corrected figures are struck and stressed as text. Labels of matrices are
left out; heat maps are tables, which have them.

What notebooks show of a result: a table, as a snippet of HTML.

A snippet loads nothing, runs nothing and styles nothing but itself. Its
letters have the colour that the notebook gives them, and shades are mixed into
the notebook's own background, so that it can be read in light and in dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from symattn.escaping import (
    html_attribute,
    html_text,
    markdown,
    markdown_code,
    markdown_start,
    visible,
)
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers.layout import columns

_SIGNS = {
    "−": "-", "∗": r"\ast ", "⋅": r"\cdot ", "⊙": r"\odot ", "∘": r"\circ ", "×": r"\times ",
    "<": r"\lt ", ">": r"\gt ", "≈": r"\approx ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ",
    "→": r"\to ", "|": r"\vert ", "⋯": r"\cdots ", "{": r"\lbrace ", "}": r"\rbrace ",
    "⌊": r"\lfloor ", "⌋": r"\rfloor ", "%": r"\bmod ",
    "∑": r"\sum ", "∂": r"\partial ", "∞": r"\infty ", "⊤": r"\top ",
}  # fmt: skip
#: What Markdown or mathematics would take for its own inside a name: shown as a blank.
_LIVE = str.maketrans(dict.fromkeys("\\{}$%#&~^_*`|<>", " "))


def document(sheet: b.Sheet) -> str:
    """The Markdown document of a sheet.

    >>> line = ("so ", b.Math(t.index(t.letters("A"), t.number("0"))))
    >>> print(document(b.Sheet("x", "A < B", (), (b.Paragraph(line),))))
    # A \\< B
    <BLANKLINE>
    so $A_ {0}$
    <BLANKLINE>
    """
    parts = [f"# {_line(sheet.heading)}"]
    if subtitle := _line(sheet.subtitle, start=True):
        parts.append(subtitle)
    parts += filter(None, map(_block, sheet.blocks))
    return "\n\n".join(parts) + "\n"


def _block(block: b.Block) -> str:
    match block:
        case b.Heading(text, level):
            return f"{'#' * (level + 1)} {_line(text)}"
        case b.Paragraph(text):
            return _line(text, start=True)
        case b.Equations():
            rows = [" & ".join(_equation(*line) for line in row) for row in block.rows]
            return _display(_lines("aligned", rows))
        case b.Matrices(items):
            return "\n\n".join(_display(_matrix(item)) for item in items)
        case b.Table(header, rows, align):
            sides = [column.side for column in columns(align)]
            return _table([*map(_line, header)], [_cells(row, len(sides)) for row in rows], sides)
        case b.HeatMaps(items):
            return "\n\n".join(map(_heat_map, items))
        case b.Beside(items):
            return "\n\n".join(map(_block, items))
        case b.RedPen():
            return _marked(block)
        case b.Picture():
            return ""
        case b.Listing(lines):
            listing = "\n".join(map(visible, lines))
            fence = "```" if "```" not in listing else "~~~~~~"
            return f"{fence}sh\n{listing}\n{fence}"


def _line(line: b.Line, start: bool = False) -> str:
    """A line of text; at the ``start`` of a block nothing makes it a list."""
    written = ""
    for piece in line:
        match piece:
            case b.Math(formula):
                more = _inline(formula)
            case b.Code(text):
                more = markdown_code(text)
            case b.Strong(text):
                more = f"**{markdown(text)}**" + (" " if text[-1:].isspace() else "")
            case b.Link(text) | b.Target(text):
                more = markdown(text)
            case _:
                more = _text(piece, start and not written)
        if written.endswith("]") and more.startswith(("(", "[", ":")):
            # Each is harmless by itself, but not together.
            written = rf"{written[:-1]}\]"
        written += more
    return written.strip()


def _text(text: str, start: bool) -> str:
    """Text with the blanks at its ends, in which it meets mathematics."""
    if not text.strip():
        return " " if text else ""
    before, after = (" " if text[end].isspace() else "" for end in (0, -1))
    return before + (markdown_start if start else markdown)(text) + after


# -- mathematics ----------------------------------------------------------------


def _inline(row: t.Row) -> str:
    """Mathematics in a line; figures that are struck and those beside them as text."""
    parts: list[str] = []
    pending: list[t.Node] = []
    for node in (*row.nodes, None):
        if not isinstance(node, t.Marking | t.CauseMark | None):
            pending.append(node)
            continue
        if not all(isinstance(piece, t.Space) for piece in pending):
            parts.append(f"${_row(t.Row(tuple(pending))).strip()}$")
        pending = []
        match node:
            case t.Marking(look, inner_row):
                mark = "~~" if look == "struck" else "**"
                parts.append(f"{mark}{_figure(inner_row)}{mark}")
            case t.CauseMark(text):
                parts.append(f"({markdown(text)})")
    return " ".join(parts)


def _figure(row: t.Row) -> str:
    """A figure as text, other mathematics in dollars."""
    figure = t.plain_figure(row)
    return f"${_row(row)}$" if figure is None else figure


def _display(latex: str) -> str:
    return f"$$\n{latex}\n$$"


def _equation(left: t.Row, relation: t.Row, right: t.Row) -> str:
    """One line, aligned at its relation; what continues a line is set in."""
    sign = _row(relation) if relation else r"{} \quad "
    return f"{_row(left)} & {sign}{_row(right)}"


def _row(row: t.Row) -> str:
    return "".join(map(_node, row.nodes))


def _node(node: t.Node) -> str:
    match node:
        case t.Digits(text) | t.Letter(text) | t.Sign(text):
            return _SIGNS.get(text, text)
        case t.UprightName(text):
            return rf"\mathrm{{{text.translate(_LIVE)}}}"
        case t.SlantedName(text):
            return rf"\mathit{{{text.translate(_LIVE)}}}"
        case t.Text(text) if text and not text.strip("_"):
            # A line to write on.
            return r"\underline{\qquad}"
        case t.Text(text) | t.CauseMark(text):
            return rf"\text{{{text.translate(_LIVE)}}}"
        case t.Limits(text):
            return _SIGNS.get(text) or rf"\mathop{{\mathrm{{{text.translate(_LIVE)}}}}}"
        case t.Space(width):
            return r"\quad " if width >= 18 else r"\enspace " if width > 3 else r"\thinspace "
        case t.Strut():
            return ""
        case t.Group(inner):
            return f"{{{_row(inner)}}}" if len(inner.nodes) > 1 else _row(inner)
        case t.Fraction(above, below):
            return rf"\frac{{{_row(above)}}}{{{_row(below)}}}"
        case t.Radical(inner):
            return rf"\sqrt{{{_row(inner)}}}"
        case t.Indexed(base, below, above):
            indices = f"_ {{{_row(below)}}}" if below else ""
            indices += f"^{{{_row(above)}}}" if above else ""
            return f"{_node(base).strip()}{indices}"
        case t.Fenced(opening, inner, closing):
            left, right = (_SIGNS.get(fence, fence) or "." for fence in (opening, closing))
            return rf"\left{left} {_row(inner)} \right{right}"
        case t.Big(text, opening):
            side = "l" if opening else "r"
            return rf"\Big{side}{_SIGNS.get(text, text)}"
        case t.Marking(_, inner):
            return rf"\mathbf{{{_row(inner)}}}"
        case t.Styled(display, inner):
            return (r"\displaystyle " if display else r"\textstyle ") + _row(inner)
        case t.CellGrid(kind, rows):
            return _lines(
                "aligned" if kind == "aligned" else "matrix",
                [" & ".join(map(_row, row)) for row in rows],
            )


def _lines(kind: str, rows: list[str]) -> str:
    return rf"\begin{{{kind}}}" + " " + r" \cr ".join(rows) + " " + rf"\end{{{kind}}}"


def _matrix(matrix: b.Matrix) -> str:
    before = _row(matrix.before)
    if not matrix.cells:
        return before
    return f"{before} {_lines('bmatrix', [' & '.join(map(_row, row)) for row in matrix.cells])}"


# -- tables ---------------------------------------------------------------------

_SIDES = {"l": ":--", "c": ":-:", "r": "--:"}


def _table(header: list[str], rows: list[list[str]], sides: list[str]) -> str:
    lines = [header, [_SIDES[side] for side in sides], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(row: tuple[b.Line, ...], count: int) -> list[str]:
    """The cells of a row; one alone is a title of the rows below."""
    if len(row) == 1 < count:
        return [f"**{_line(row[0])}**", *[""] * (count - 1)]
    return [_line(cell) for cell in row]


def _heat_map(heat: b.HeatMap) -> str:
    header = ["", *map(markdown, heat.columns)]
    rows = [
        [f"**{markdown(label)}**", *map(_inline, figures)]
        for label, figures in zip(heat.rows, heat.figures, strict=True)
    ]
    title = f"{_line(heat.title)}\n\n" if heat.title else ""
    return title + _table(header, rows, ["r", *("c" for _ in heat.columns)])


def _marked(marked: b.RedPen) -> str:
    """Figures in a table, where they are many, and what is said of them below."""
    before = _inline(marked.matrix.before)
    lead = f"*{markdown(marked.where)}* {before}".strip()
    parts = [lead]
    if marked.matrix.cells:
        count = len(marked.matrix.cells[0])
        rows = [list(map(_inline, row)) for row in marked.matrix.cells]
        parts.append(_table([""] * count, rows, ["r"] * count))
    parts.append("\n".join(f"- {_line(note, start=True)}" for note in marked.notes))
    return "\n\n".join(filter(None, parts))


#: Most rows and columns that are shown of a result.
MOST = 12
#: How much of a cell's background the deepest shade takes, in percent: letters
#: are read on it, whatever colour the notebook gives them.
_DEEPEST = 55
_AIR = "padding: .2em .6em"


class NotebookCell(NamedTuple):
    """A figure, its shade from 0 to 1, and what the pointer is told of it."""

    text: str
    shade: float = 0.0
    hint: str = ""


def shown(count: int) -> range:
    """Return which of so many rows or columns are shown.

    >>> shown(3), shown(500)
    (range(0, 3), range(0, 12))
    """
    return range(min(count, MOST))


def beginning(rows: int, columns: int) -> str:
    """Return what is said of a result that isn't shown whole.

    >>> beginning(500, 3)
    'The first 12 of 500 rows.'
    """
    parts = [
        f"{MOST} of {count} {name}"
        for count, name in ((rows, "rows"), (columns, "columns"))
        if count > MOST
    ]
    return f"The first {' and '.join(parts)}." if parts else ""


def table(
    title: str,
    about: str,
    header: Sequence[str],
    rows: Sequence[Sequence[NotebookCell]],
    labels: Sequence[str] = (),
    note: str = "",
    side: str = "right",
) -> str:
    """A table of figures on one ``side`` of their cells, rows and columns labelled where
    there are labels.

    >>> found = table("A", "1x1", ["cat"], [[NotebookCell("0.5", 0.5, "1/2")]], note="x < y")
    >>> 'title="1/2"' in found, "28%, transparent)\\">0.5</td>" in found, "x &lt; y" in found
    (True, True, True)
    """
    corner = "<td></td>" if labels else ""
    names = "".join(_heading(name, "col", side) for name in header)
    head = f"<thead><tr>{corner}{names}</tr></thead>\n" if header else ""
    before = [_heading(label, "row", side) for label in labels] or [""] * len(rows)
    cells = ("".join(map(partial(_cell, side), row)) for row in rows)
    body = "\n".join(f"<tr>{x}{row}</tr>" for x, row in zip(before, cells, strict=True))
    below = f"\n<p>{html_text(note)}</p>" if note else ""
    beside = f" {html_text(about)}" if about else ""
    return (
        f'<div><table><caption style="text-align: left"><strong>{html_text(title)}</strong>'
        f"{beside}</caption>\n{head}<tbody>{body}</tbody></table>{below}</div>"
    )


def summary(
    title: str,
    about: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: str = "",
) -> str:
    """A table of texts.

    >>> "&lt;b&gt;</td>" in summary("t", "", ["a"], [["<b>"]])
    True
    """
    cells = [[NotebookCell(text) for text in row] for row in rows]
    return table(title, about, header, cells, note=note, side="left")


def _heading(name: str, scope: str, side: str) -> str:
    return f'<th scope="{scope}" style="{_AIR}; text-align: {side}">{html_text(name)}</th>'


def _cell(side: str, cell: NotebookCell) -> str:
    percent = round(_DEEPEST * min(max(cell.shade, 0.0), 1.0))
    mixed = f"; background: color-mix(in srgb, #3f86d6 {percent}%, transparent)" if percent else ""
    hint = f'title="{html_attribute(cell.hint)}" ' if cell.hint else ""
    return f'<td {hint}style="{_AIR}; text-align: {side}{mixed}">{html_text(cell.text)}</td>'
