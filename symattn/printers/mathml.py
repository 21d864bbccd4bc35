r"""The mathematics of blocks as MathML Core.

What browsers leave out of MathML Core (strokes, bold, alignment, rules) are
classes, which the style of :mod:`symattn.printers.html` draws.
"""

from __future__ import annotations

from functools import lru_cache

from symattn.escaping import html_text
from symattn.printers import notation as n

#: What a sign is told of the air around it, and of growing.
_LOOKS: dict[n.Role, str] = {
    "close by": ' stretchy="false" lspace="0" rspace="0"',
    "opening": ' stretchy="false"',
    "closing": ' stretchy="false"',
}
#: What those are told of a look who do not see it.
_ROLES = {"struck": ' role="deletion"', "correct": ' role="insertion"'}
#: What brackets grow with.
_TALL = ("<mfrac", "<msqrt", "<munder", "<mover", "<mtable", "minsize")


def mathml(latex: str, display: bool = False) -> str:
    r"""A formula as a ``math`` element, in a line or as a display.

    >>> mathml(r"\frac{1}{2}")
    '<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>'
    """
    block = ' display="block"' if display else ""
    return f"<math{block}>{elements(latex)}</math>"


@lru_cache(maxsize=1 << 14)
def elements(latex: str) -> str:
    r"""The elements of a formula, side by side. Raises :class:`symattn.printers.notation.Unknown`.

    >>> elements("-x_{0}")
    '<mo form="prefix">−</mo><msub><mi>x</mi><mn>0</mn></msub>'
    """
    return _row(n.read(latex))


def table(rows: list[list[str]], kind: str) -> str:
    r"""Rows of elements under one another; ``kind`` is the class that aligns them.

    >>> table([["<mi>a</mi>", "<mi>b</mi>"]], "cases")
    '<mtable class="cases"><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable>'
    """
    body = "".join(
        "<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in row) + "</mtr>" for row in rows
    )
    style = "" if kind == "cases" else ' displaystyle="true"'
    return f'<mtable class="{kind}"{style}>{body}</mtable>'


def _row(row: n.Row) -> str:
    return "".join(map(_node, row))


def _one(row: n.Row) -> str:
    """What stands side by side as one element."""
    return _node(row[0]) if len(row) == 1 else f"<mrow>{_row(row)}</mrow>"


def _node(node: n.Node) -> str:
    match node:
        case n.Number(text):
            return f"<mn>{text}</mn>"
        case n.Letter(text):
            return f"<mi>{text}</mi>"
        case n.Name(text):
            # One letter alone would be slanted.
            variant = ' mathvariant="normal"' if len(text) == 1 else ""
            return f"<mi{variant}>{html_text(text)}</mi>"
        case n.Word(text):
            return f'<mi class="word">{html_text(text)}</mi>'
        case n.Text(text):
            return f"<mtext>{html_text(text)}</mtext>"
        case n.Cause(text):
            return f'<mtext class="cause">{html_text(text)}</mtext>'
        case n.Sign(text, role, prefix):
            form = ' form="prefix"' if prefix else ""
            looks = _LOOKS.get(role, "")
            if text == "/":
                # It never grows.
                looks = looks.replace(' stretchy="false"', "")
            return f"<mo{form}{looks}>{html_text(text)}</mo>"
        case n.Limits(text):
            return _limits(text)
        case n.Space(width):
            return f'<mspace width="{width / 18:.2g}em"/>'
        case n.Group(parts):
            return f"<mrow>{_row(parts)}</mrow>"
        case n.Fraction(above, below):
            return f"<mfrac>{_one(above)}{_one(below)}</mfrac>"
        case n.Root(inner):
            return f"<msqrt>{_one(inner)}</msqrt>"
        case n.Indexed():
            return _indexed(node)
        case n.Fenced(opening, inner, closing):
            inside = _row(inner)
            # Beside what may grow browsers keep room for its largest size.
            grows = "" if any(tag in inside for tag in _TALL) else ' stretchy="false"'
            fences = [
                f'<mo form="{form}"{grows}>{html_text(fence)}</mo>' if fence else ""
                for fence, form in ((opening, "prefix"), (closing, "postfix"))
            ]
            return f"<mrow>{fences[0]}{inside}{fences[1]}</mrow>"
        case n.Big(text):
            return f'<mo minsize="1.8em">{html_text(text)}</mo>'
        case n.Marked(look, inner):
            return f'<mrow class="{look}"{_ROLES.get(look, "")}>{_row(inner)}</mrow>'
        case n.Styled(display, inner):
            return f'<mstyle displaystyle="{str(display).lower()}">{_row(inner)}</mstyle>'
        case n.Lines(kind, rows):
            return table([list(map(_row, row)) for row in rows], kind)


def _limits(text: str) -> str:
    """A sign with limits: below and above it in a display, else beside it."""
    if text == "∑":
        return f"<mo>{text}</mo>"
    left = ' lspace="0"' if text == "lim" else ""
    return f'<mo movablelimits="true"{left} rspace="0.17em">{html_text(text)}</mo>'


def _indexed(node: n.Indexed) -> str:
    under, over = ("under", "over") if isinstance(node.base, n.Limits) else ("sub", "sup")
    name = f"m{under if node.below else ''}{over if node.above else ''}"
    indices = "".join(_one(index) for index in (node.below, node.above) if index)
    return f"<{name}>{_node(node.base)}{indices}</{name}>"
