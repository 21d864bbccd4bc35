r"""The mathematics of blocks as MathML Core.

What browsers leave out of MathML Core (strokes, bold, alignment, rules) are
classes, which the style of :mod:`symattn.printers.html` draws.
"""

from __future__ import annotations

from symattn import typesetting as t
from symattn.escaping import html_text

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


def _one(row: t.Row) -> str:
    """What stands side by side as one element."""
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
            return table([list(map(elements, row)) for row in rows], kind)


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
