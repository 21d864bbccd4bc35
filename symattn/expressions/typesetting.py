r"""Formulas as they are set: signs, fractions and indices side by side, and their LaTeX.

A formula as a tree of what it means (:mod:`symattn.expressions.formulas`) becomes a :class:`Row` of
these, with all its brackets; blocks carry rows, and every printer walks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Literal

from symattn import spelling
from symattn.escaping import latex as escape
from symattn.expressions.elementary import ELEMENTARY


@dataclass(frozen=True)
class Row:
    """Nodes side by side.

    >>> latex(Row((Letter("x"),)) + EQUALS + number("1"))
    'x = 1'
    """

    nodes: tuple[Node, ...] = ()

    def __add__(self, other: Row) -> Row:
        return Row(self.nodes + other.nodes)

    def __bool__(self) -> bool:
        return bool(self.nodes)

    @cached_property
    def _hash(self) -> int:
        return hash(self.nodes)

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True)
class Lettered:
    """Letters or signs of one kind, which a class of their own tells."""

    text: str


class Digits(Lettered):
    """A number, as it is written."""


class Letter(Lettered):
    """One letter that names something, slanted where its alphabet is."""


@dataclass(frozen=True)
class UprightName:
    """A name in upright letters; that of an ``operator`` keeps room from what it is of."""

    text: str
    is_operator: bool = False


class SlantedName(Lettered):
    """A name in slanted letters."""


class Text(Lettered):
    """Words between formulas, or a sign that means nothing to mathematics."""


#: What a sign does, which says how much air is around it.
Role = Literal["operator", "relation", "close by", "separator", "opening", "closing", "dots"]


@dataclass(frozen=True)
class Sign:
    """An operator, relation, bracket or separator; ``prefix``: it has no left operand."""

    text: str
    role: Role
    prefix: bool = False


class Limits(Lettered):
    """A sign whose indices stand below and above it in a display: a sum, a limit."""


@dataclass(frozen=True)
class Space:
    """Air, in eighteenths of an em."""

    width: int


@dataclass(frozen=True)
class Strut:
    """Nothing, as high as a fraction or a large bar; only TeX needs it."""

    height: Literal["fraction", "bar"]


@dataclass(frozen=True)
class Group:
    """A row that stands together as one."""

    inner: Row


@dataclass(frozen=True)
class Fraction:
    """One row above another."""

    above: Row
    below: Row


@dataclass(frozen=True)
class Radical:
    """A square root."""

    inner: Row


@dataclass(frozen=True)
class Indexed:
    """A base with what stands below and above it, of which one may be empty."""

    base: Node
    below: Row
    above: Row


@dataclass(frozen=True)
class Fenced:
    """Brackets that grow with what they hold; an empty one isn't seen. ``tight`` ones
    keep no room from what stands before them."""

    opening: str
    inner: Row
    closing: str
    tight: bool = False


@dataclass(frozen=True)
class Big:
    """A large bracket whose partner is on another line."""

    text: str
    opening: bool


@dataclass(frozen=True)
class Marking:
    """A row that only a stroke, a weight or a colour tells apart."""

    look: Literal["struck", "correct", "bold"]
    inner: Row


class CauseMark(Lettered):
    """The number of a cause, in a circle."""


@dataclass(frozen=True)
class Styled:
    """A row set as in a display or as in a line of text."""

    display: bool
    inner: Row


@dataclass(frozen=True)
class CellGrid:
    """Rows of cells: ``aligned`` at every second one, the ``cases`` of a value, or a
    ``matrix`` without its brackets."""

    kind: Literal["aligned", "cases", "matrix"]
    rows: tuple[tuple[Row, ...], ...]


Node = (
    Digits | Letter | UprightName | SlantedName | Text | Sign | Limits | Space | Strut | Group
    | Fraction | Radical | Indexed | Fenced | Big | Marking | CauseMark | Styled | CellGrid
)  # fmt: skip


#: Greek letters by their commands in LaTeX, which has two forms of some.
GREEK = {
    **spelling.GREEK, "epsilon": "ϵ", "varepsilon": "ε", "phi": "ϕ", "varphi": "φ", "Sigma": "Σ",
}  # fmt: skip
#: Letters with a name of their own in LaTeX.
_LETTERS = {
    **{letter: rf"\{name}" for name, letter in GREEK.items()},
    "ο": "o", "∂": r"\partial", "∞": r"\infty", "⊤": r"\top", "𝒵": r"\mathcal{Z}",
}  # fmt: skip
_ROLES: tuple[tuple[str, Role], ...] = (
    ("−+∗⋅⊙∘×%", "operator"), ("=<>≈≤≥≠→", "relation"), ("/:|!", "close by"), (",.", "separator"),
    ("([", "opening"), (")]", "closing"), ("⋯", "dots"),
)  # fmt: skip
_ROLE = {text: role for texts, role in _ROLES for text in texts}
_SIGNS = {
    "−": "-", "∗": "*", "⋅": r"\cdot", "⊙": r"\odot", "∘": r"\circ", "×": r"\times",
    "≈": r"\approx", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "→": r"\to", "⋯": r"\cdots",
    "%": r"\mathbin{\%}",
}  # fmt: skip
#: Signs as programs write them, and as mathematics does.
TYPED = {"-": "−", "*": "∗", "==": "=", "!=": "≠", "<=": "≤", ">=": "≥"}
_SPACES = {3: r"\,", 5: r"\;", 4: r"\ ", -3: r"\!", 18: r"\quad", 36: r"\qquad"}
_STRUTS = {"fraction": r"\vphantom{\frac{0}{0}}", "bar": r"\vphantom{\Bigg|}"}
_LIMITS = {"∑": r"\sum", "lim": r"\lim"}
_FENCES = {"": ".", "{": r"\{", "}": r"\}", "⌊": r"\lfloor", "⌋": r"\rfloor"}
_MARKS = {"struck": r"\struck", "correct": r"\correct", "bold": r"\mathbf"}
#: Functions that LaTeX has a command for.
_COMMANDS = frozenset(name for name, row in ELEMENTARY.items() if row.em)


# -- rows of one thing ------------------------------------------------------------


def row(*parts: Row | Node) -> Row:
    """Nodes, and what other rows are made of, side by side."""
    nodes: list[Node] = []
    for part in parts:
        nodes += part.nodes if isinstance(part, Row) else (part,)
    return Row(tuple(nodes))


def sign(text: str, prefix: bool = False) -> Row:
    """A sign: as mathematics writes it, or as programs do.

    >>> latex(sign("<="))
    '\\\\le'
    """
    text = TYPED.get(text, text)
    return Row((Sign(text, _ROLE[text], prefix),))


def number(text: str) -> Row:
    """Digits, with a minus before them or not.

    >>> latex(number("-0.5"))
    '-0.5'
    """
    digits = Row((Digits(text.lstrip("+-")),))
    return sign(text[0], True) + digits if text[0] in "+-" else digits


def figure(text: str) -> Row:
    """A number as somebody wrote it; what is none is text.

    >>> latex(figure("−0.50")), latex(figure("-inf")), latex(figure("1/2"))
    ('-0.50', '-\\\\infty', '\\\\text{1/2}')
    """
    if text in ("-inf", "−inf", "-∞", "−∞"):
        return MINUS_INFINITY
    plain = text.replace("−", "-")
    return number(plain) if re.fullmatch(r"[-+]?[0-9.]+", plain) else Row((Text(text),))


def letters(text: str) -> Row:
    """Every letter by itself, and numbers.

    >>> latex(letters("ij")), latex(letters("i,10"))
    ('ij', 'i, 10')
    """
    start = sign(text[0], True) if text[:1] in ("-", "−", "+") else Row()
    pieces = re.findall(r"\d+(?:\.\d+)?|.", text[len(start.nodes) :])
    return start + row(*map(_letter, pieces))


def _letter(piece: str) -> Row | Node:
    if piece[0].isdigit():
        return Digits(piece)
    return sign(piece) if piece in _ROLE or piece in TYPED else Letter(piece)


def joined(rows: Iterable[Row], between: Row) -> Row:
    """Rows with the same between them."""
    return row(
        *(part for k, item in enumerate(rows) for part in ((between, item) if k else (item,)))
    )


def index(of: Row, below: Row = Row(), above: Row = Row()) -> Row:
    """A row whose last node has something below or above it."""
    *front, last = of.nodes
    if isinstance(last, Indexed) and not (last.below and below) and not (last.above and above):
        return row(*front, replace(last, below=last.below + below, above=last.above + above))
    return row(*front, Indexed(last, below, above))


def fraction(above: Row, below: Row) -> Row:
    """One row above another."""
    return Row((Fraction(above, below),))


def fenced(inner: Row, fences: str = "()", tight: bool = False) -> Row:
    """Brackets that grow."""
    return Row((Fenced(fences[0], inner, fences[1], tight),))


def matrix(cells: Iterable[Iterable[Row]]) -> Row:
    """Rows of cells in square brackets."""
    return fenced(row(CellGrid("matrix", tuple(map(tuple, cells)))), "[]")


EQUALS, ABOUT, COMMA, TIMES, DOT = map(sign, "=≈,×⋅")
PARTIAL = Row((Letter("∂"),))
MINUS_INFINITY = sign("−", True) + Row((Letter("∞"),))
THIN, THICK, QUAD = (Row((Space(width),)) for width in (3, 5, 18))
DOTS = sign("⋯")


def signed(whole: Row) -> Iterator[Node]:
    """The nodes of a row, a sign without a left operand as such, as where a line goes on."""
    before: Node | None = None
    for node in whole.nodes:
        if isinstance(node, Sign) and node.text in ("+", "−") and _is_open(before):
            node = replace(node, prefix=True)
        yield node
        before = before if isinstance(node, Space) else node


def _is_open(before: Node | None) -> bool:
    """Return whether an operand is still to come behind a node."""
    match before:
        case None | Limits() | Indexed(Limits()):
            return True
        case Sign(_, role):
            return role not in ("closing", "dots")
        case Big(_, opening):
            return opening
    return False


# -- what is in a row ---------------------------------------------------------------


def plain_figure(whole: Row) -> str | None:
    """A number with its signs as text; None for other mathematics."""
    parts = [node.text for node in whole.nodes if isinstance(node, Digits | Sign)]
    return "".join(parts) if len(parts) == len(whole.nodes) else None


def nodes(tree: Any) -> Iterator[Node]:
    """All nodes of a row, or of any tree of tuples and dataclasses that has rows in it."""
    if isinstance(tree, tuple):
        for item in tree:
            yield from nodes(item)
    elif is_dataclass(tree) and not isinstance(tree, type):
        if isinstance(tree, Node):
            yield tree
        for field in fields(tree):
            yield from nodes(getattr(tree, field.name))


def in_words(tree: Any, words: Mapping[str, str]) -> Any:
    r"""The same with other words for upright names.

    >>> latex(in_words(fraction(row(UprightName("if")), number("2")), {"if": "falls"}))
    '\\frac{\\mathrm{falls}}{2}'
    """
    if isinstance(tree, tuple):
        return tuple(in_words(item, words) for item in tree)
    if isinstance(tree, UprightName) and tree.text in words:
        return replace(tree, text=words[tree.text])
    if is_dataclass(tree) and not isinstance(tree, type):
        return replace(
            tree, **{x.name: in_words(getattr(tree, x.name), words) for x in fields(tree)}
        )
    return tree


def has(tree: Any, *kinds: Node | type) -> bool:
    """Return whether a node of one of the kinds, or equal to one that is given, is in a row.

    >>> has(fraction(number("1"), number("2")), Fraction)
    True
    """
    types = tuple(kind for kind in kinds if isinstance(kind, type))
    return any(isinstance(node, types) or node in kinds for node in nodes(tree))


def begins(whole: Row, *kinds: type) -> bool:
    """Return whether the first node of a row, without its indices, is of one of the kinds."""
    first = whole.nodes[0]
    return isinstance(first.base if isinstance(first, Indexed) else first, kinds)


def has_index(whole: Row) -> bool:
    """Return whether anything in a row has something below it, or in its name."""
    return any(
        (isinstance(node, Indexed) and bool(node.below))
        or (isinstance(node, SlantedName | UprightName) and "_" in node.text)
        for node in nodes(whole)
    )


# -- LaTeX ------------------------------------------------------------------------------


#: The end of a command that a letter behind it would be read as part of.
_COMMAND = re.compile(r"\\[A-Za-z]+\Z")


def latex(whole: Row, is_index: bool = False) -> str:
    r"""A row in LaTeX's mathematics.

    >>> latex(fraction(number("1"), Row((Radical(number("2")),))))
    '\\frac{1}{\\sqrt{2}}'
    """
    written = ""
    for node in whole.nodes:
        piece = _node(node)
        if is_index and isinstance(node, Sign) and node.role != "relation":
            piece = piece.strip()
        if written.endswith(" "):
            piece = piece.removeprefix(" ")
        elif piece[:1].isalpha() and _COMMAND.search(written):
            piece = f" {piece}"
        elif piece.startswith((r"\,", r"\;")):
            written = written.rstrip()
        written += piece
    written = written.removeprefix(" ")
    return written if written.endswith(r"\ ") else written.removesuffix(" ")


def _node(node: Node) -> str:
    match node:
        case Digits(text):
            return text
        case Letter(text):
            return _LETTERS.get(text, text)
        case UprightName(text, is_operator):
            if is_operator and text in _COMMANDS:
                return rf"\{text}"
            return rf"\{'operatorname' if is_operator else 'mathrm'}{{{_upright(text)}}}"
        case SlantedName(text):
            return rf"\mathit{{{_upright(text)}}}"
        case Text(text):
            is_sign = text in ("?", ";")
            return text if is_sign else rf"\text{{{escape(text)}}}"
        case Sign(text, role, prefix):
            written = _SIGNS.get(text, text)
            if role in ("operator", "relation") and not prefix:
                return f" {written} "
            return f"{written} " if text == "," else written
        case Limits(text):
            return _LIMITS.get(text) or rf"\operatorname*{{{_upright(text)}}}"
        case Space(width):
            return _SPACES[width]
        case Strut(height):
            return _STRUTS[height]
        case Group(inner):
            return f"{{{latex(inner)}}}"
        case Fraction(above, below):
            return rf"\frac{{{latex(above)}}}{{{latex(below)}}}"
        case Radical(inner):
            return rf"\sqrt{{{latex(inner)}}}"
        case Indexed(base, below, above):
            written = f"{{{_node(base)}}}" if isinstance(base, Indexed) else _node(base)
            written += f"_{{{latex(below, True)}}}" if below else ""
            written += f"^{{{latex(above)}}}" if above else ""
            return f"{written} " if isinstance(base, Limits) else written
        case Fenced("[", Row((CellGrid("matrix", rows),)), "]"):
            return _lines("bmatrix", rows)
        case Fenced(opening, inner, closing, tight):
            return _fenced(opening, latex(inner), closing, tight)
        case Big(text, opening):
            return rf"\Big{'l' if opening else 'r'}{text}"
        case Marking(look, inner):
            return f"{_MARKS[look]}{{{latex(inner)}}}"
        case CauseMark(text):
            return rf"\cause{{{text}}}"
        case Styled(display, inner):
            return rf"\{'displaystyle' if display else 'textstyle'} {latex(inner)}"
        case CellGrid("aligned", rows):
            body = r" \\ ".join(" &".join(map(latex, cells)).lstrip() for cells in rows)
            return rf"\begin{{aligned}}[t]{body}\end{{aligned}}"
        case CellGrid(kind, rows):
            return _lines("array}{ll" if kind == "cases" else kind, rows)


def _fenced(opening: str, inner: str, closing: str, tight: bool) -> str:
    first, last = (_FENCES.get(fence, fence) for fence in (opening, closing))
    is_joined = first[-1].isalpha() and inner[:1].isalpha()
    apart = " " if is_joined or inner.startswith(r"\begin") else ""
    if tight:
        return rf"\mathopen{{}}\left{first}{apart}{inner}{apart}\mathclose{{}}\right{last}"
    return rf"\left{first}{apart}{inner}{apart}\right{last}"


def _lines(kind: str, rows: tuple[tuple[Row, ...], ...]) -> str:
    body = r" \\ ".join(" & ".join(map(latex, cells)) for cells in rows)
    return rf"\begin{{{kind}}} {body} \end{{{kind.partition('}')[0]}}}"


def _upright(name: str) -> str:
    return name.replace("_", r"\_")
