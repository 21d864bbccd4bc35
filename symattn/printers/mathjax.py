r"""Blocks as HTML for learning platforms, whose MathJax sets the mathematics.

Formulas are LaTeX between ``\(`` and ``\)``, or ``\[`` and ``\]``. There is no
style but in attributes: what stands around it is not ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from symattn import typesetting as t
from symattn.escaping import html_text
from symattn.printers import blocks as b
from symattn.printers.layout import columns

#: Letters of text that a platform or MathJax would read as the start of something.
_LIVE = str.maketrans(
    {
        "{": "&#123;",
        "}": "&#125;",
        "[": "&#91;",
        "\\": "<span>&#92;</span>",
        "$": "<span>&#36;</span>",
    }
)
_SIDES = {"l": "left", "c": "center", "r": "right"}
_CELL = "padding: .15em .5em; text-align: {}"
#: The colour that heat maps shade with.
_HEAT = "43, 108, 176"


def words(text: str) -> str:
    r"""Text as HTML in which neither MathJax nor a platform finds anything.

    >>> words("{1:NUMERICAL:=1} [[input:a]]")
    '&#123;1:NUMERICAL:=1&#125; &#91;&#91;input:a]]'
    >>> words(r"\(x\) < $y$")
    '<span>&#92;</span>(x<span>&#92;</span>) &lt; <span>&#36;</span>y<span>&#36;</span>'
    """
    return html_text(text).translate(_LIVE)


def math(formula: t.Row) -> str:
    r"""A formula inside a line.

    >>> print(math(t.letters("a") + t.sign("<") + t.letters("b")))
    \(a &lt; b\)
    """
    return rf"\({html_text(t.latex(formula))}\)"


def line(pieces: b.Line) -> str:
    """A line of text with mathematics in it."""
    return "".join(map(_piece, pieces))


def _piece(piece: str | b.Math | b.Code | b.Strong | b.Link | b.Target) -> str:
    match piece:
        case str():
            return words(piece)
        case b.Math(formula):
            return math(formula)
        case b.Code(text):
            return f"<code>{words(text)}</code>"
        case b.Strong(text):
            return f"<strong>{words(text)}</strong>"
        case _:
            # A question is a part of a page: it has no names that links lead to.
            return words(piece.text)


def paragraph(pieces: b.Line) -> str:
    """A paragraph."""
    return f"<p>{line(pieces)}</p>"


def table(
    rows: Iterable[Sequence[str]], labels: Sequence[str] = (), caption: str = "", style: str = ""
) -> str:
    """A table of cells of HTML; each row may have a label.

    >>> print(table([["1"]]))
    <table><tbody><tr><td style="padding: .15em .5em; text-align: right">1</td></tr></tbody></table>
    """
    body = ""
    cell = _CELL.format("right")
    for label, row in zip_longest(labels, rows, fillvalue=""):
        before = f'<th scope="row" style="{cell}">{words(label)}</th>' if labels else ""
        cells = "".join(f'<td style="{cell}">{x}</td>' for x in row)
        body += f"<tr>{before}{cells}</tr>"
    named = f'<caption style="white-space: nowrap">{caption}</caption>' if caption else ""
    attribute = f' style="{style}"' if style else ""
    return f"<table{attribute}>{named}<tbody>{body}</tbody></table>"


def printed(blocks: Iterable[b.Block]) -> str:
    """Blocks one after the other; headings are those of a part of a page."""
    return "\n".join(map(_block, blocks))


def _block(block: b.Block) -> str:
    match block:
        case b.Heading(text, level):
            return f"<h{level + 3}>{line(text)}</h{level + 3}>"
        case b.Paragraph(text):
            return paragraph(text)
        case b.Equations(lines, columns):
            return _equations(lines, columns)
        case b.Matrices(items):
            return _display(r" \qquad ".join(map(_matrix, items)))
        case b.Beside(items):
            return "\n".join(map(_block, items))
        case b.Table():
            return _table(block)
        case b.HeatMaps(items):
            return "\n".join(map(_heat_map, items))
        case b.Listing(lines):
            return f"<pre>{chr(10).join(map(words, lines))}</pre>"
        case b.RedPen(where, matrix, notes):
            display = _display(_matrix(matrix))
            return "\n".join([paragraph((where,)), display, *map(paragraph, notes)])
        case b.Picture():
            # Platforms take the style out of drawings, or the drawings whole.
            return ""


def _display(latex: str) -> str:
    return rf"<div>\[{html_text(latex)}\]</div>"


def _equations(lines: Sequence[b.Equation], columns: int) -> str:
    cells = ["{} &{} {}".format(*map(t.latex, line)) for line in lines]
    rows = (" & ".join(cells[k : k + columns]) for k in range(0, len(cells), columns))
    return _display(r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}")


def _matrix(matrix: b.Matrix) -> str:
    before = t.latex(matrix.before)
    if not matrix.cells:
        return before
    return f"{before} {t.latex(t.matrix(matrix.cells))}"


def _table(table: b.Table) -> str:
    styles = [_CELL.format(_SIDES[column.side]) for column in columns(table.align)]
    head = "".join(
        f'<th scope="col" style="{style}">{line(cell)}</th>'
        for style, cell in zip(styles, table.header, strict=True)
    )
    rows = "".join(f"<tr>{_row(row, styles)}</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(row: Sequence[b.Line], styles: Sequence[str]) -> str:
    if len(row) == 1 < len(styles):
        return f'<th scope="rowgroup" colspan="{len(styles)}">{line(row[0])}</th>'
    cells = zip(styles, row, strict=True)
    return "".join(f'<td style="{style}">{line(cell)}</td>' for style, cell in cells)


def _heat_map(heat: b.HeatMap) -> str:
    head = "".join(f'<th scope="col" style="padding: .15em .5em">{words(x)}</th>'
                   for x in heat.columns)  # fmt: skip
    rows = ""
    beside, inside = _CELL.format("right"), _CELL.format("center")
    for label, shades, figures in zip(heat.rows, heat.shades, heat.figures, strict=True):
        cells = "".join(
            f'<td style="{inside}; background: rgba({_HEAT}, {shade:.2f})">'
            + (math(figure) if figure else "")
            + "</td>"
            for shade, figure in zip(shades, figures, strict=True)
        )
        rows += f'<tr><th scope="row" style="{beside}">{words(label)}</th>{cells}</tr>'
    return (
        f"<table><caption>{line(heat.title)}</caption><thead><tr><td></td>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
