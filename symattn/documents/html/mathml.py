"""MathML to the source that LaTeX would have, each character with its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from symattn.documents.html.tokens import Characters, Tag, Token, decoded
from symattn.documents.latex.macros import joined
from symattn.documents.text import Span, Text

#: Elements nested deeper are read as if they were not there.
_DEPTH = 100
_TEX = {"application/x-tex", "latex", "tex", "math/tex", "text/x-tex"}
_OPENING, _CLOSING = "([{|⟨‖", ")]}|⟩‖"
#: Characters of operators that LaTeX writes otherwise.
_OPERATORS = {
    "−": "-",
    "{": "\\{",
    "}": "\\}",
    "%": "\\%",
    "#": "\\#",
    "&": "\\&",
    "$": "\\$",
    "\u2061": "",
    "\u2062": "",
    "\u2063": ",",
    "\u2064": "+",
}
#: Marks over a letter.
_ACCENTS = {
    "^": "\\hat",
    "ˆ": "\\hat",
    "~": "\\tilde",
    "˜": "\\tilde",
    "¯": "\\bar",
    "‾": "\\bar",
    "―": "\\bar",
    "_": "\\bar",
    "→": "\\vec",
    "⃗": "\\vec",
    "˙": "\\dot",
    "¨": "\\ddot",
}
_UNREAD = {"annotation-xml", "mphantom", "mprescripts", "none", "maligngroup", "malignmark"}


@dataclass
class _Element:
    """An element while its children come; in the end each child is a list of pieces."""

    name: str
    tag: Tag
    children: list[list[Text]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def formula(start: Tag, tokens: Iterator[Token]) -> Text:
    """The source of the formula that a ``math`` tag begins: its annotation in LaTeX, or
    what is made of its elements. Reads up to its end.

    >>> from symattn.documents.html.tokens import tokens
    >>> found = tokens(Text.whole("<math><mfrac><mi>x</mi><mn>2</mn></mfrac></math>"))
    >>> str(formula(next(found), found))
    '\\\\frac{x}{2}'
    """
    stack, source = [_Element("math", start)], start.attributes.get("alttext")
    source = decoded(source) if source is not None and "\\" in source.string else None
    for token in tokens:
        if isinstance(token, Characters):
            _say(stack[-1], decoded(token.text))
        elif isinstance(token, Tag) and not token.closes:
            if len(stack) < _DEPTH and not token.rest.string.endswith("/"):
                stack.append(_Element(token.name, token))
        elif isinstance(token, Tag):
            if token.name == "math":
                break
            while any(element.name == token.name for element in stack[1:]):
                ended = stack.pop()
                if ended.name == "annotation" and ended.tag.value("encoding").lower() in _TEX:
                    source = Text.joined([piece for child in ended.children for piece in child])
                _end(stack[-1], ended, token.whole)
                if ended.name == token.name:
                    break
    while len(stack) > 1:
        ended = stack.pop()
        _end(stack[-1], ended, ended.tag.whole)
    return (source if source is not None else joined(_row(stack[0]))).stripped()


def _say(element: _Element, text: Text) -> None:
    """Add the text of a leaf; white space between elements is none."""
    if element.name == "annotation":
        element.children.append([text])
    elif text.string.strip():
        element.children.append([text.stripped()])
        element.names.append("")


def _end(parent: _Element, element: _Element, closing: Text) -> None:
    if element.name not in _UNREAD and element.name != "annotation":
        pieces = _made(element, closing.span())
        parent.children.append(pieces)
        parent.names.append(element.name)


def _made(element: _Element, end: Span) -> list[Text]:
    name, children, begin = element.name, element.children, element.tag.whole.span()

    def pieces(*parts: str | list[Text]) -> list[Text]:
        """Strings stand where the element begins, or where it ends behind its last child."""
        last = max((at for at, part in enumerate(parts) if not isinstance(part, str)), default=-1)
        texts: list[Text] = []
        for at, part in enumerate(parts):
            texts += [Text.at(part, begin if at < last else end)] if isinstance(part, str) else part
        return texts

    def listed(between: str, parts: Sequence[list[Text]]) -> list[Text]:
        return [
            text
            for at, part in enumerate(parts)
            for text in pieces(between if at else "", part, "")
        ]

    row = _row(element)
    match name:
        case "mi":
            word = "".join(piece.string for piece in row)
            return pieces("\\operatorname{", row, "}") if len(word) > 1 else row
        case "mo":
            return [_operator(piece) for piece in row]
        case "mtext" | "ms":
            return pieces("\\text{", row, "}")
        case "msqrt":
            return pieces("\\sqrt{", row, "}")
        case "mtd":
            return row
        case "mtr" | "mlabeledtr":
            return listed(" & ", children[name == "mlabeledtr" :])
        case "mtable":
            return pieces("\\begin{matrix} ", listed(" \\\\ ", children), " \\end{matrix}")
        case "mfenced":
            opening = element.tag.value("open") or "("
            closing = element.tag.value("close") or ")"
            between = (element.tag.value("separators").strip() or ",")[0]
            left = f"\\left{_OPERATORS.get(opening, opening)} "
            right = f" \\right{_OPERATORS.get(closing, closing)}"
            return pieces(left, listed(between, children), right)
    match name, children:
        case "mfrac", [over, under]:
            return pieces("\\frac{", over, "}{", under, "}")
        case "mroot", [base, index]:
            return pieces("\\sqrt[", index, "]{", base, "}")
        case "msub" | "munder", [base, below]:
            return pieces(base, "_{", below, "}")
        case "msup", [base, above]:
            return pieces(base, "^{", above, "}")
        case "msubsup" | "munderover", [base, below, above]:
            return pieces(base, "_{", below, "}^{", above, "}")
        case "mover", [base, above]:
            mark = _ACCENTS.get("".join(piece.string for piece in above).strip())
            if mark:
                return pieces(f"{mark}{{", base, "}")
            return pieces(base, "^{", above, "}")
        case _:
            return row


def _row(element: _Element) -> list[Text]:
    """Children one after the other; brackets around a table grow with it."""
    pieces: list[Text] = []
    for at, child in enumerate(element.children):
        string = child[0].string if len(child) == 1 else ""
        if string and string in _OPENING and element.names[at + 1 : at + 2] == ["mtable"]:
            pieces.append(Text.at(f"\\left{string} ", child[0].span()))
        elif string and string in _CLOSING and at and element.names[at - 1] == "mtable":
            pieces.append(Text.at(f" \\right{string}", child[0].span()))
        else:
            pieces += child
    return pieces


def _operator(text: Text) -> Text:
    meant = _OPERATORS.get(text.string)
    return text if meant is None else Text.at(meant, text.span())
