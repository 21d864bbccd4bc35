"""Formulas as Office mathematics: the elements ``m:`` of Word documents.

An operator holds its operand there, where rows have them side by side: that of a sum
reaches to the next sign that binds no tighter, that of a function is what follows its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from symattn.escaping import html_attribute, html_text
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers.layout import shortened

#: The colour of corrections.
PEN = "B3261E"
#: Spaces by their eighteenths of an em; none is narrower than nothing.
_SPACES = {3: "\u2006", 4: "\u2005", 5: "\u2004", 18: "\u2003", 36: "\u2003\u2003", -3: ""}
#: The strokes around a figure that is struck: all but the one through it are hidden.
_STRUCK = "".join(
    f'<m:{name} m:val="1"/>' for name in ("hideTop", "hideBot", "hideLeft", "hideRight", "strikeH")
)
#: What is not seen, as high as what a large bracket holds and as wide as nothing.
_HIDDEN = '<m:phantPr><m:show m:val="0"/><m:zeroWid m:val="1"/></m:phantPr>'
_TALL = t.fraction(t.number("0"), t.number("0"))


class _Style(NamedTuple):
    """How what stands in a formula is set: limits of sums below and above them as in a
    ``display``, letters ``bold``, and all in a ``colour``."""

    display: bool = False
    bold: bool = False
    colour: str = ""


#: What is told of each kind of letters, and whether they are slanted by themselves.
_Kind = Literal["mathematics", "upright", "slanted"]
_KINDS: Mapping[_Kind, tuple[str, str]] = {
    "mathematics": ("", ""),
    "upright": ("<m:nor/>", ""),
    "slanted": ("<m:nor/>", "<w:i/>"),
}
#: An operand that isn't seen.
_OPERAND = '<m:r><m:t xml:space="preserve">\u200b</m:t></m:r>'


def inline(formula: t.Row, colour: str = "") -> str:
    """A formula inside a line.

    >>> inline(t.letters("x"))
    '<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>'
    """
    return _whole(formula, _Style(colour=colour))


def display(formula: t.Row, side: str = "left") -> str:
    """A formula that stands alone in its paragraph, on a side of it.

    >>> display(t.letters("x")).partition("</m:oMathParaPr>")[2]
    '<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath></m:oMathPara>'
    """
    return _alone(_whole(formula, _Style(display=True)), side)


def matrices(items: Sequence[b.Matrix]) -> str:
    """Matrices side by side, as one formula that stands alone in its paragraph."""
    between = _run(_SPACES[36], _Style())
    return _alone(f"<m:oMath>{between.join(map(_matrix, items))}</m:oMath>", "left")


def _alone(formula: str, side: str) -> str:
    jc = f'<m:oMathParaPr><m:jc m:val="{side}"/></m:oMathParaPr>'
    return f"<m:oMathPara>{jc}{formula}</m:oMathPara>"


def _matrix(matrix: b.Matrix) -> str:
    """A matrix with what stands before it, and a label beside each row."""
    before = _missing(matrix.before.nodes[:1]) + _row(matrix.before, _Style(display=True))
    if not matrix.cells:
        return before
    # Fractions and sums are centred; figures and short entries line up right.
    tall = t.has(matrix.cells, t.Fraction, t.Strut)
    style = _Style(display=tall)
    labels = ""
    for label, row in zip(matrix.row_labels, matrix.cells, strict=bool(matrix.row_labels)):
        # As high as the row that it is beside.
        height = f"<m:phant>{_HIDDEN}{_held(t.row(*row), style)}</m:phant>" if tall else ""
        labels += f"<m:mr><m:e>{_run(shortened(label), style, 'slanted')}{height}</m:e></m:mr>"
    side = _framed(1, "right", labels) if labels else ""
    cells = _grid(matrix.cells, "center" if tall else "right", style)
    return before + side + _fenced("[", f"<m:e>{cells}</m:e>", "]")


def _whole(formula: t.Row, style: _Style) -> str:
    """A formula; signs at its ends have an operand in another one."""
    seen = [node for node in formula.nodes if not isinstance(node, t.Strut)]
    return f"<m:oMath>{_missing(seen[:1])}{_row(formula, style)}{_missing(seen[-1:])}</m:oMath>"


def _missing(end: Sequence[t.Node]) -> str:
    """An operand for the sign at an end of a formula."""
    match end:
        case [t.Sign(_, "relation" | "operator", False)]:
            return _OPERAND
    return ""


def _row(row: t.Row, style: _Style) -> str:
    return "".join(_elements(_grouped(t.signed(row)), style))


def _grouped(nodes: Iterable[t.Node]) -> list[t.Node]:
    """Nodes in which an index is that of the whole bracket, not of its last sign."""
    done: list[t.Node] = []
    openings: list[int] = []
    for node in nodes:
        sign = _operator(node)
        role = sign.role if isinstance(sign, t.Sign) else ""
        if role == "opening":
            openings.append(len(done))
        elif role == "closing" and openings:
            start = openings.pop()
            if isinstance(node, t.Indexed):
                held = t.Row((*done[start:], node.base))
                done[start:] = []
                node = t.Indexed(t.Group(held), node.below, node.above)
        done.append(node)
    return done


def _elements(nodes: Sequence[t.Node], style: _Style) -> Iterator[str]:
    place = 0
    while place < len(nodes):
        node, place = nodes[place], place + 1
        end = _operand_end(node, nodes, place)
        if end > place:
            yield _applied(node, nodes[place:end], style)
        else:
            yield _node(node, style)
        place = end


def _operator(node: t.Node) -> t.Node:
    """Return what is applied, without its indices."""
    return node.base if isinstance(node, t.Indexed) else node


def _operand_end(node: t.Node, nodes: Sequence[t.Node], start: int) -> int:
    """Return where the operand ends that begins behind a node; at the start if there is none."""
    end = start
    match _operator(node):
        case t.Limits():
            depth = 0
            for after in nodes[start:]:
                if isinstance(after, t.Big) or (
                    isinstance(after, t.Sign) and not depth and _ends_operand(after)
                ):
                    break
                if isinstance(after, t.Sign):
                    depth += (after.role == "opening") - (after.role == "closing")
                end += 1
        case t.UprightName(_, True):
            while end < len(nodes) and isinstance(nodes[end], t.Space):
                end += 1
            if end < len(nodes) and not isinstance(nodes[end], t.Sign | t.Big | t.Text):
                return end + 1
            return start
    if all(isinstance(item, t.Space) for item in nodes[start:end]):
        return start
    return end


def _ends_operand(sign: t.Sign) -> bool:
    binds_less = sign.text in ("+", "−") and not sign.prefix
    return binds_less or sign.role in ("relation", "separator", "closing", "close by")


def _applied(node: t.Node, operand: Sequence[t.Node], style: _Style) -> str:
    """An operator with what it is applied to."""
    inner = "".join(_elements(operand, style))
    operator = _operator(node)
    if not isinstance(operator, t.Limits) or operator.text != "∑":
        return f"<m:func><m:fName>{_node(node, style)}</m:fName><m:e>{inner}</m:e></m:func>"
    below, above = (node.below, node.above) if isinstance(node, t.Indexed) else (t.Row(), t.Row())
    limits = _Style(bold=style.bold, colour=style.colour)
    hidden = "".join(
        f'<m:{name}Hide m:val="1"/>'
        for name, limit in (("sub", below), ("sup", above))
        if not limit
    )
    place = "undOvr" if style.display else "subSup"
    return (
        f'<m:nary><m:naryPr><m:chr m:val="∑"/><m:limLoc m:val="{place}"/>{hidden}</m:naryPr>'
        f"<m:sub>{_row(below, limits)}</m:sub><m:sup>{_row(above, limits)}</m:sup>"
        f"<m:e>{inner}</m:e></m:nary>"
    )


def _run(text: str, style: _Style, kind: _Kind = "mathematics") -> str:
    """Letters and signs of one kind."""
    told, look = _KINDS[kind]
    if style.bold:
        told, look = told or '<m:sty m:val="b"/>', f"<w:b/>{look}"
    look += f'<w:color w:val="{style.colour}"/>' if style.colour else ""
    told = f"<m:rPr>{told}</m:rPr>" if told else ""
    look = f"<w:rPr>{look}</w:rPr>" if look else ""
    space = ' xml:space="preserve"' if text != text.strip() else ""
    return f"<m:r>{told}{look}<m:t{space}>{html_text(text)}</m:t></m:r>"


def _node(node: t.Node, style: _Style) -> str:
    # What stands small has no room for limits below and above.
    small = style._replace(display=False)
    match node:
        case t.Limits("∑" as text) | t.Digits(text) | t.Letter(text):
            return _run(text, style)
        case t.Sign(text, role):
            # Around upright text there is no air.
            return _run(text, style, "upright" if role == "close by" else "mathematics")
        case t.UprightName(text) | t.Limits(text) | t.Text(text):
            return _run(text, style, "upright")
        case t.SlantedName(text):
            return _run(text, style, "slanted")
        case t.CauseMark(text):
            return _run(f"({text})", style._replace(colour=PEN), "upright")
        case t.Space(width):
            return _run(_SPACES[width], style) if _SPACES[width] else ""
        case t.Strut():
            return ""
        case t.Group(inner):
            return _row(inner, style)
        case t.Fraction(above, below):
            return (
                f"<m:f><m:num>{_row(above, small)}</m:num><m:den>{_row(below, small)}</m:den></m:f>"
            )
        case t.Radical(inner):
            hidden = '<m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>'
            return f"<m:rad>{hidden}{_held(inner, style)}</m:rad>"
        case t.Indexed(base, below, above):
            return _indexed(base, below, above, style)
        case t.Fenced(opening, inner, closing):
            return _fenced(opening, _held(inner, style), closing)
        case t.Big(text, opening):
            held = f"<m:e><m:phant>{_HIDDEN}{_held(_TALL, style)}</m:phant></m:e>"
            return _fenced(text if opening else "", held, "" if opening else text)
        case t.Marking("struck", inner):
            held = _held(inner, style)
            return f"<m:borderBox><m:borderBoxPr>{_STRUCK}</m:borderBoxPr>{held}</m:borderBox>"
        case t.Marking(look, inner):
            colour = PEN if look == "correct" else style.colour
            return _row(inner, style._replace(bold=True, colour=colour))
        case t.Styled(displayed, inner):
            return _row(inner, style._replace(display=displayed))
        case t.CellGrid("aligned", rows):
            # Word's own way to align lines is read by no other program.
            lines = ((first if first else t.QUAD, *rest) for first, *rest in rows)
            return _grid([[t.row(*line)] for line in lines], "left", style)
        case t.CellGrid(kind, rows):
            return _grid(rows, "left" if kind == "cases" else "center", style)


def _held(row: t.Row, style: _Style) -> str:
    return f"<m:e>{_row(row, style)}</m:e>"


def _fenced(opening: str, held: str, closing: str) -> str:
    fences = (
        f'<m:{name}Chr m:val="{html_attribute(fence)}"/>'
        for name, fence in (("beg", opening), ("end", closing))
    )
    return f"<m:d><m:dPr>{''.join(fences)}</m:dPr>{held}</m:d>"


def _indexed(base: t.Node, below: t.Row, above: t.Row, style: _Style) -> str:
    small = style._replace(display=False)
    sub, sup = _row(below, small), _row(above, small)
    written = _node(base, style)
    if isinstance(base, t.Limits) and style.display:
        for name, limit in (("Low", sub), ("Upp", sup)):
            if limit:
                written = f"<m:lim{name}><m:e>{written}</m:e><m:lim>{limit}</m:lim></m:lim{name}>"
        return written
    indices = (f"<m:sub>{sub}</m:sub>" if below else "") + (
        f"<m:sup>{sup}</m:sup>" if above else ""
    )
    name = f"s{'Sub' if below else ''}{'Sup' if above else ''}"
    return f"<m:{name}><m:e>{written}</m:e>{indices}</m:{name}>"


def _grid(rows: Sequence[Sequence[t.Row]], side: str, style: _Style) -> str:
    """Rows of cells, each on that side of its column."""
    body = "".join(f"<m:mr>{''.join(_held(cell, style) for cell in row)}</m:mr>" for row in rows)
    return _framed(len(rows[0]), side, body)


def _framed(count: int, side: str, body: str) -> str:
    columns = f'<m:mc><m:mcPr><m:count m:val="{count}"/><m:mcJc m:val="{side}"/></m:mcPr></m:mc>'
    return f"<m:m><m:mPr><m:mcs>{columns}</m:mcs></m:mPr>{body}</m:m>"
