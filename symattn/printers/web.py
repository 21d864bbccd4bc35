r"""Mathematics on the web: MathML for pages, LaTeX for the MathJax of learning platforms.

For MathJax formulas are LaTeX between ``\(`` and ``\)``, or ``\[`` and ``\]``. There is no
style but in attributes: what stands around it is not ours.

What browsers leave out of MathML Core (strokes, bold, alignment, rules) are
classes, which the style of :mod:`symattn.printers.html` draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

from symattn.escaping import html_text
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers.layout import SIDES, columns

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
_CELL = "padding: .15em .5em; text-align: {}"
#: The colour that heat maps shade with.
_HEAT = "43, 108, 176"
_MATHML = "http://www.w3.org/1998/Math/MathML"


def words(text: str) -> str:
    r"""Text as HTML in which neither MathJax nor a platform finds anything.

    >>> words("{1:NUMERICAL:=1} [[input:a]]")
    '&#123;1:NUMERICAL:=1&#125; &#91;&#91;input:a]]'
    >>> words(r"\(x\) < $y$")
    '<span>&#92;</span>(x<span>&#92;</span>) &lt; <span>&#36;</span>y<span>&#36;</span>'
    """
    return html_text(text).translate(_LIVE)


def _tagged(name: str, text: str) -> str:
    return f"<{name}>{words(text)}</{name}>"


@dataclass(frozen=True)
class Platform:
    r"""The dialect of platforms of one kind.

    Formulas are MathML, or else LaTeX for MathJax; where they are MathML, nothing has style: there
    elements are checked by a schema that knows of none.

    >>> print(Platform().math(t.letters("a") + t.sign("<") + t.letters("b")))
    \(a &lt; b\)
    >>> print(Platform(mathml=True).math(t.letters("a")))
    <math xmlns="http://www.w3.org/1998/Math/MathML"><mi>a</mi></math>
    """

    mathml: bool = False

    def math(self, formula: t.Row) -> str:
        """A formula inside a line."""
        if self.mathml:
            return _element(elements(formula))
        return rf"\({html_text(t.latex(formula))}\)"

    def line(self, pieces: b.Line) -> str:
        """A line of text with mathematics in it."""
        code, strong = (partial(_tagged, name) for name in ("code", "strong"))
        # A question is a part of a page: it has no names that links lead to.
        return "".join(b.written(pieces, words, self.math, code, strong))

    def paragraph(self, pieces: b.Line) -> str:
        """A paragraph."""
        return f"<p>{self.line(pieces)}</p>"

    def table(
        self,
        rows: Iterable[Sequence[str]],
        labels: Sequence[str] = (),
        caption: str = "",
        style: str = "",
    ) -> str:
        """A table of cells of HTML; each row may have a label.

        >>> print(Platform(mathml=True).table([["1"]], ["a"]))
        <table><tbody><tr><th scope="row">a</th><td>1</td></tr></tbody></table>
        """
        body = ""
        cell = self._style(_CELL.format("right"))
        for label, row in zip_longest(labels, rows, fillvalue=""):
            before = f'<th scope="row"{cell}>{words(label)}</th>' if labels else ""
            cells = "".join(f"<td{cell}>{x}</td>" for x in row)
            body += f"<tr>{before}{cells}</tr>"
        at_once = self._style("white-space: nowrap")
        named = f"<caption{at_once}>{caption}</caption>" if caption else ""
        return f"<table{self._style(style)}>{named}<tbody>{body}</tbody></table>"

    def _style(self, style: str) -> str:
        return f' style="{style}"' if style and not self.mathml else ""

    def printed(self, blocks: Iterable[b.Block]) -> str:
        """Blocks one after the other; headings are those of a part of a page."""
        return "\n".join(map(self._block, blocks))

    def _block(self, block: b.Block) -> str:
        match block:
            case b.Heading(text, level):
                return f"<h{level + 3}>{self.line(text)}</h{level + 3}>"
            case b.Paragraph(text):
                return self.paragraph(text)
            case b.Equations():
                return self._equations(block)
            case b.Matrices(items):
                return self._matrices(items)
            case b.Beside(items):
                return "\n".join(map(self._block, items))
            case b.Table():
                return self._table(block)
            case b.HeatMaps(items):
                return "\n".join(map(self._heat_map, items))
            case b.Listing(lines):
                return f"<pre>{chr(10).join(map(words, lines))}</pre>"
            case b.RedPen(where, matrix, notes):
                return "\n".join(
                    [
                        self.paragraph((where,)),
                        self._matrices([matrix]),
                        *map(self.paragraph, notes),
                    ]
                )
            case b.Picture():
                # Platforms take the style out of drawings, or the drawings whole.
                return ""

    def _equations(self, equations: b.Equations) -> str:
        if self.mathml:
            rows = [[elements(side) for line in row for side in line] for row in equations.rows]
            return f"<div>{_element(markup_table(rows, 'equations'), block=True)}</div>"
        cells = "{} &{} {}".format
        joined = (" & ".join(cells(*map(t.latex, line)) for line in row) for row in equations.rows)
        return _display(r"\begin{aligned} " + r" \\ ".join(joined) + r" \end{aligned}")

    def _matrices(self, items: Sequence[b.Matrix]) -> str:
        rows = [x.before + (t.matrix(x.cells) if x.cells else t.row()) for x in items]
        if self.mathml:
            return "".join(f"<div>{_element(elements(row), block=True)}</div>" for row in rows)
        return _display(r" \qquad ".join(map(_matrix, items)))

    def _table(self, table: b.Table) -> str:
        styles = [self._style(_CELL.format(SIDES[x.side])) for x in columns(table.align)]
        head = "".join(
            f'<th scope="col"{style}>{self.line(cell)}</th>'
            for style, cell in zip(styles, table.header, strict=True)
        )
        rows = "".join(f"<tr>{self._row(row, styles)}</tr>" for row in table.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def _row(self, row: Sequence[b.Line], styles: Sequence[str]) -> str:
        if len(row) == 1 < len(styles):
            return f'<th scope="rowgroup" colspan="{len(styles)}">{self.line(row[0])}</th>'
        cells = zip(styles, row, strict=True)
        return "".join(f"<td{style}>{self.line(cell)}</td>" for style, cell in cells)

    def _heat_map(self, heat: b.HeatMap) -> str:
        narrow = self._style("padding: .15em .5em")
        head = "".join(f'<th scope="col"{narrow}>{words(x)}</th>' for x in heat.columns)
        rows = ""
        beside, inside = self._style(_CELL.format("right")), _CELL.format("center")
        for label, shades, figures in zip(heat.rows, heat.shades, heat.figures, strict=True):
            cells = "".join(
                f"<td{self._style(f'{inside}; background: rgba({_HEAT}, {shade:.2f})')}>"
                + (self.math(figure) if figure else "")
                + "</td>"
                for shade, figure in zip(shades, figures, strict=True)
            )
            rows += f'<tr><th scope="row"{beside}>{words(label)}</th>{cells}</tr>'
        return (
            f"<table><caption>{self.line(heat.title)}</caption><thead><tr><td></td>{head}</tr>"
            f"</thead><tbody>{rows}</tbody></table>"
        )


def _element(inside: str, block: bool = False) -> str:
    """A ``math`` element where all else is of another language."""
    look = ' display="block"' if block else ""
    return f'<math xmlns="{_MATHML}"{look}>{inside}</math>'


def _display(latex: str) -> str:
    return rf"<div>\[{html_text(latex)}\]</div>"


def _matrix(matrix: b.Matrix) -> str:
    before = t.latex(matrix.before)
    if not matrix.cells:
        return before
    return f"{before} {t.latex(t.matrix(matrix.cells))}"


#: Platforms with MathJax, such as Moodle and Canvas.
MATHJAX = Platform()
math, line, paragraph = MATHJAX.math, MATHJAX.line, MATHJAX.paragraph
table, printed = MATHJAX.table, MATHJAX.printed


#: What a sign is told of the air around it, and of growing.
_LOOKS: dict[t.Role, str] = {
    "close by": ' stretchy="false" lspace="0" rspace="0"',
    "opening": ' stretchy="false"',
    "closing": ' stretchy="false"',
}
#: What those are told of a look who do not see it.
_ROLES = {"struck": ' role="deletion"', "correct": ' role="insertion"'}
#: What brackets grow with.
_TALL = ("<mfrac", "<msqrt", "<munder", "<mover", "<mtable", "minsize")


def mathml(formula: t.Row, display: bool = False) -> str:
    r"""A formula as a ``math`` element, in a line or as a display.

    >>> mathml(t.fraction(t.number("1"), t.number("2")))
    '<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>'
    """
    block = ' display="block"' if display else ""
    return f"<math{block}>{elements(formula)}</math>"


def elements(formula: t.Row) -> str:
    r"""The elements of a formula, side by side.

    >>> elements(t.number("-3"))
    '<mo form="prefix">−</mo><mn>3</mn>'
    """
    return "".join(map(_node, t.signed(formula)))


def markup_table(rows: list[list[str]], kind: str) -> str:
    r"""Rows of elements under one another; ``kind`` is the class that aligns them.

    >>> markup_table([["<mi>a</mi>", "<mi>b</mi>"]], "cases")
    '<mtable class="cases"><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable>'
    """
    body = "".join(
        "<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in row) + "</mtr>" for row in rows
    )
    style = "" if kind == "cases" else ' displaystyle="true"'
    return f'<mtable class="{kind}"{style}>{body}</mtable>'


def _one(row: t.Row) -> str:
    """Return what stands side by side as one element."""
    return elements(row) if len(row.nodes) == 1 else f"<mrow>{elements(row)}</mrow>"


def _node(node: t.Node) -> str:
    match node:
        case t.Digits(text):
            return f"<mn>{text}</mn>"
        case t.Letter(text):
            return f"<mi>{text}</mi>"
        case t.UprightName(text):
            # One letter alone would be slanted.
            variant = ' mathvariant="normal"' if len(text) == 1 else ""
            return f"<mi{variant}>{html_text(text)}</mi>"
        case t.SlantedName(text):
            return f'<mi class="word">{html_text(text)}</mi>'
        case t.Text(text):
            return f"<mtext>{html_text(text)}</mtext>"
        case t.CauseMark(text):
            return f'<mtext class="cause">{html_text(text)}</mtext>'
        case t.Sign(text, role, prefix):
            form = ' form="prefix"' if prefix and text in "+−" else ""
            looks = _LOOKS.get(role, "")
            if text == "/":
                # It never grows.
                looks = looks.replace(' stretchy="false"', "")
            return f"<mo{form}{looks}>{html_text(text)}</mo>"
        case t.Limits(text):
            return _limits(text)
        case t.Space(width):
            return f'<mspace width="{width / 18:.2g}em"/>'
        case t.Group(inner):
            return _one(inner)
        case t.Strut():
            return ""
        case t.Fraction(above, below):
            return f"<mfrac>{_one(above)}{_one(below)}</mfrac>"
        case t.Radical(inner):
            return f"<msqrt>{_one(inner)}</msqrt>"
        case t.Indexed():
            return _indexed(node)
        case t.Fenced(opening, inner, closing):
            inside = elements(inner)
            # Beside what may grow browsers keep room for its largest size.
            grows = "" if any(tag in inside for tag in _TALL) else ' stretchy="false"'
            fences = [
                f'<mo form="{form}"{grows}>{html_text(fence)}</mo>' if fence else ""
                for fence, form in ((opening, "prefix"), (closing, "postfix"))
            ]
            return f"<mrow>{fences[0]}{inside}{fences[1]}</mrow>"
        case t.Big(text):
            return f'<mo minsize="1.8em">{html_text(text)}</mo>'
        case t.Marking(look, inner):
            return f'<mrow class="{look}"{_ROLES.get(look, "")}>{elements(inner)}</mrow>'
        case t.Styled(display, inner):
            return f'<mstyle displaystyle="{str(display).lower()}">{elements(inner)}</mstyle>'
        case t.CellGrid(kind, rows):
            return markup_table([list(map(elements, row)) for row in rows], kind)


def _limits(text: str) -> str:
    """A sign with limits: below and above it in a display, else beside it."""
    if text == "∑":
        return f"<mo>{text}</mo>"
    left = ' lspace="0"' if text == "lim" else ""
    return f'<mo movablelimits="true"{left} rspace="0.17em">{html_text(text)}</mo>'


def _indexed(node: t.Indexed) -> str:
    under, over = ("under", "over") if isinstance(node.base, t.Limits) else ("sub", "sup")
    name = f"m{under if node.below else ''}{over if node.above else ''}"
    indices = "".join(_one(index) for index in (node.below, node.above) if index)
    return f"<{name}>{_node(node.base)}{indices}</{name}>"
