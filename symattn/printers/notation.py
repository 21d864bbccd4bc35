r"""The mathematics of blocks, read into a tree.

Blocks carry LaTeX, of few words: those that :mod:`symattn.formulas`, the
printer of derivations, the definitions of the cross-check and the red pen
write. It is read here, once for all printers that are not TeX; a word that
isn't known is a fault of the program (:class:`Unknown`), so that no LaTeX ever
stands on a page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NoReturn

from symattn.printers.letters import unescape
from symattn.spelling import GREEK


class Unknown(ValueError):
    """LaTeX that no block is meant to carry."""


@dataclass(frozen=True)
class Number:
    """A number, as it is written."""

    text: str


@dataclass(frozen=True)
class Letter:
    """One letter that names something, slanted where its alphabet is."""

    text: str


@dataclass(frozen=True)
class Name:
    """A name in upright letters: of a function, or of an operation."""

    text: str


@dataclass(frozen=True)
class Word:
    """A name in slanted letters."""

    text: str


@dataclass(frozen=True)
class Text:
    """Words between formulas, or a sign that means nothing to mathematics."""

    text: str


#: What a sign does, which says how much air is around it.
Role = Literal["operator", "relation", "close by", "separator", "opening", "closing", "dots"]


@dataclass(frozen=True)
class Sign:
    """An operator, relation, bracket or separator; ``prefix``: it has no left operand."""

    text: str
    role: Role
    prefix: bool = False


@dataclass(frozen=True)
class Limits:
    """A sign whose indices stand below and above it in a display: a sum, a limit."""

    text: str


@dataclass(frozen=True)
class Space:
    """Air, in eighteenths of an em."""

    width: int


@dataclass(frozen=True)
class Group:
    """What stands together as one, as in braces."""

    parts: Row


@dataclass(frozen=True)
class Fraction:
    """One row above another."""

    above: Row
    below: Row


@dataclass(frozen=True)
class Root:
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
    """Brackets that grow with what they hold; an empty one isn't seen."""

    opening: str
    inner: Row
    closing: str


@dataclass(frozen=True)
class Big:
    """A large bracket whose partner is on another line."""

    text: str
    opening: bool


@dataclass(frozen=True)
class Marked:
    """What only a stroke, a weight or a colour tells apart."""

    look: Literal["struck", "correct", "bold"]
    inner: Row


@dataclass(frozen=True)
class Cause:
    """The number of a cause, in a circle."""

    text: str


@dataclass(frozen=True)
class Styled:
    """What follows in a row, set as in a display or as in a line of text."""

    display: bool
    inner: Row


@dataclass(frozen=True)
class Lines:
    """Rows of cells: ``aligned`` at every second one, the ``cases`` of a value, or a
    ``matrix`` without its brackets."""

    kind: Literal["aligned", "cases", "matrix"]
    rows: tuple[tuple[Row, ...], ...]


Node = (
    Number | Letter | Name | Word | Text | Sign | Limits | Space | Group | Fraction | Root
    | Indexed | Fenced | Big | Marked | Cause | Styled | Lines
)  # fmt: skip
#: What stands side by side.
Row = tuple[Node, ...]

_TOKEN = re.compile(r"\\operatorname\*|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)

#: TeX has two forms of some letters; those named plainly are the straight ones.
_GREEK = {**GREEK, "phi": "ϕ", "epsilon": "ϵ", "varphi": "φ", "varepsilon": "ε"}
_LETTERS = {
    **{rf"\{name}": letter for name, letter in _GREEK.items()},
    r"\partial": "∂", r"\infty": "∞", r"\top": "⊤",
}  # fmt: skip
_OPERATORS = {
    "-": "−", "+": "+", "*": "∗", r"\cdot": "⋅", r"\odot": "⊙", r"\circ": "∘", r"\times": "×",
}  # fmt: skip
_RELATIONS = {
    "=": "=", "<": "<", ">": ">", r"\approx": "≈", r"\le": "≤", r"\leq": "≤", r"\ge": "≥",
    r"\geq": "≥", r"\ne": "≠", r"\neq": "≠", r"\to": "→",
}  # fmt: skip
_ROLES: tuple[tuple[dict[str, str], Role], ...] = (
    (_OPERATORS, "operator"),
    (_RELATIONS, "relation"),
    ({sign: sign for sign in "/:|!"}, "close by"),
    ({sign: sign for sign in ",."}, "separator"),
    ({sign: sign for sign in "(["}, "opening"),
    ({sign: sign for sign in ")]"}, "closing"),
    ({r"\cdots": "⋯", r"\dots": "⋯"}, "dots"),
)
_SIGNS = {word: (sign, role) for table, role in _ROLES for word, sign in table.items()}
_SPACES = {
    r"\,": 3, r"\;": 5, r"\ ": 4, r"\!": -3, r"\quad": 18, r"\qquad": 36,
}  # fmt: skip
_NAMES = {r"\exp", r"\log", r"\sin", r"\cos"}
_LIMITS = {r"\sum": "∑", r"\lim": "lim"}
#: Signs that are words of LaTeX by themselves.
_MARKS = "\\{}$&#%~"


@lru_cache(maxsize=1 << 14)
def read(latex: str) -> Row:
    r"""A formula as what stands side by side in it. Raises :class:`Unknown`.

    >>> read("-x")
    (Sign(text='−', role='operator', prefix=True), Letter(text='x'))
    """
    reader = _Reader(latex)
    row = reader.row()
    if reader.peek():
        reader.fail()
    return row


class _Reader:
    """One walk over the tokens of a formula."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.tokens = _TOKEN.findall(latex)
        self.place = 0

    def fail(self) -> NoReturn:
        raise Unknown(f"{self.peek()!r} in {self.latex!r} is no word of formulas in blocks")

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            self.fail()
        self.place += 1
        return token

    def row(self, ends: tuple[str, ...] = ()) -> Row:
        """What stands side by side, up to one of the tokens that end it."""
        nodes: list[Node] = []
        while (token := self.peek()) and token not in ends:
            if token.isspace():
                self.place += 1
            elif token in (r"\displaystyle", r"\textstyle"):
                self.place += 1
                nodes.append(Styled(token == r"\displaystyle", self.row(ends)))
            elif token in "_^":
                nodes.append(self.indexed(nodes.pop() if nodes else Group(())))
            elif (node := self.node(nodes)) is not None:
                nodes.append(node)
        return tuple(nodes)

    def indexed(self, base: Node) -> Indexed:
        """A base with what stands below and above it."""
        indices: dict[str, Row] = {"_": (), "^": ()}
        while self.peek() in ("_", "^"):
            place = self.take()
            indices[place] = self.argument()
        return Indexed(base, indices["_"], indices["^"])

    def argument(self) -> Row:
        """What stands in braces, or a single sign."""
        while self.peek().isspace():
            self.place += 1
        if self.peek() != "{":
            if (node := self.node([])) is None:
                self.fail()
            return (node,)
        self.place += 1
        row = self.row(("}",))
        self.take("}")
        return row

    def raw(self) -> str:
        """What stands in braces, as it is written."""
        self.take("{")
        start, depth = self.place, 1
        while depth:
            token = self.take()
            depth += (token == "{") - (token == "}")
        return "".join(self.tokens[start : self.place - 1])

    def node(self, before: list[Node]) -> Node | None:
        """The next node, after others; nothing where the token has none."""
        if self.peek() == "{":
            inner = self.argument()
            return inner[0] if len(inner) == 1 else Group(inner) if inner else None
        token = self.take()
        if token[0].isdigit():
            return Number(token)
        if token in _SIGNS:
            text, role = _SIGNS[token]
            return Sign(text, role, token in "+-" and not _is_operand(before))
        if token in _LETTERS:
            return Letter(_LETTERS[token])
        if token in _SPACES:
            return Space(_SPACES[token])
        if token in _LIMITS:
            return Limits(_LIMITS[token])
        if token in _NAMES:
            return Name(token[1:])
        if token in (r"\vphantom", r"\mathopen", r"\mathclose"):
            # Brackets and bars grow, and stand close, by themselves.
            self.raw()
            return None
        if token.isalpha():
            return Letter(token)
        if len(token) == 1 and token not in _MARKS:
            return Text(token)
        return self.command(token)

    def command(self, token: str) -> Node:
        """A word of LaTeX with what belongs to it."""
        match token:
            case r"\frac":
                return Fraction(self.argument(), self.argument())
            case r"\sqrt":
                return Root(self.argument())
            case r"\left":
                opening, inner = self.fence(), self.row((r"\right",))
                self.take(r"\right")
                return Fenced(opening, inner, self.fence())
            case r"\Bigl" | r"\Bigr":
                return Big(self.take(), token == r"\Bigl")
            case r"\mathrm" | r"\operatorname":
                return Name(unescape(self.raw()))
            case r"\operatorname*":
                return Limits(unescape(self.raw()))
            case r"\mathit":
                return Word(unescape(self.raw()))
            case r"\mathcal":
                # The script letters of Unicode that have no older place: Z is one.
                return Letter(chr(0x1D49C + ord(self.raw()) - ord("A")))
            case r"\text":
                return Text(unescape(self.raw()))
            case r"\cause":
                return Cause(self.raw())
            case r"\struck":
                return Marked("struck", self.argument())
            case r"\correct":
                return Marked("correct", self.argument())
            case r"\mathbf":
                return Marked("bold", self.argument())
            case r"\begin":
                return self.lines()
        self.place -= 1
        self.fail()

    def fence(self) -> str:
        """A bracket that grows; a dot is none."""
        fence = self.take()
        return "" if fence == "." else fence.removeprefix("\\")

    def lines(self) -> Node:
        """Rows under one another: ``aligned``, the cases of an ``array``, or a matrix."""
        name = self.raw()
        if name == "aligned":
            for mark in "[t]":
                self.take(mark)
        elif name == "array":
            self.raw()
        elif name != "bmatrix":
            self.fail()
        rows: list[list[Row]] = [[]]
        while True:
            rows[-1].append(self.row(("&", r"\\", r"\end")))
            if (end := self.take()) == r"\end":
                break
            if end == r"\\":
                rows.append([])
        self.raw()
        grid = tuple(map(tuple, rows))
        if name == "bmatrix":
            return Fenced("[", (Lines("matrix", grid),), "]")
        return Lines("cases" if name == "array" else "aligned", grid)


def _is_operand(nodes: Sequence[Node]) -> bool:
    """Whether a sign after these stands between operands."""
    last = next((node for node in reversed(nodes) if not isinstance(node, Space)), None)
    match last:
        case None | Limits():
            return False
        case Sign(_, role):
            return role in ("closing", "dots")
        case Big(_, opening):
            return not opening
        case Group(parts):
            return _is_operand(parts)
    return True
