r"""LaTeX of formulas read into rows, and blocks with their formulas as LaTeX.

It shares nothing with what sets formulas: what is read of the LaTeX of a row is the row again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, NoReturn

from symattn.escaping import _LATEX, TYPOGRAPHY
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.spelling import GREEK


class Unknown(ValueError):
    """LaTeX that no block is meant to carry."""


_TOKEN = re.compile(r"\\operatorname\*|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)

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
_ROLES: tuple[tuple[dict[str, str], t.Role], ...] = (
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


_WRITTEN = {
    **{shown.removesuffix("{}"): c for c, shown in (_LATEX | TYPOGRAPHY).items()},
    r"\allowbreak": "", "{}": "", "'": "'",
}  # fmt: skip
_PIECE = re.compile(r"---|--|``|''|(?:\\[A-Za-z]+|\\.)|\{\}|.", re.DOTALL)


def unescape(latex: str) -> str:
    """The text that was escaped for LaTeX, curly apostrophes as straight ones."""
    return "".join(_WRITTEN.get(piece, piece) for piece in _PIECE.findall(latex))


@lru_cache(maxsize=1 << 14)
def read(latex: str) -> t.Row:
    r"""A formula as what stands side by side in it. Raises :class:`Unknown`."""
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

    def row(self, ends: tuple[str, ...] = ()) -> t.Row:
        """What stands side by side, up to one of the tokens that end it."""
        nodes: list[t.Node] = []
        while (token := self.peek()) and token not in ends:
            if token.isspace():
                self.place += 1
            elif token in (r"\displaystyle", r"\textstyle"):
                self.place += 1
                nodes.append(t.Styled(token == r"\displaystyle", self.row(ends)))
            elif token in "_^":
                nodes.append(self.indexed(nodes.pop() if nodes else t.Group(t.Row())))
            elif (node := self.node(nodes)) is not None:
                nodes.append(node)
        return t.Row(tuple(nodes))

    def indexed(self, base: t.Node) -> t.Indexed:
        """A base with what stands below and above it."""
        indices: dict[str, t.Row] = {"_": t.Row(), "^": t.Row()}
        while self.peek() in ("_", "^"):
            place = self.take()
            indices[place] = self.argument()
        return t.Indexed(base, indices["_"], indices["^"])

    def argument(self) -> t.Row:
        """What stands in braces, or a single sign."""
        while self.peek().isspace():
            self.place += 1
        if self.peek() != "{":
            if (node := self.node([])) is None:
                self.fail()
            return t.Row((node,))
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

    def node(self, before: list[t.Node]) -> t.Node | None:
        """The next node, after others; nothing where the token has none."""
        if self.peek() == "{":
            inner = self.argument()
            return t.Group(inner) if inner else None
        token = self.take()
        if token[0].isdigit():
            return t.Digits(token)
        if token in _SIGNS:
            text, role = _SIGNS[token]
            return t.Sign(text, role, token in "+-" and not _is_operand(before))
        if token in _LETTERS:
            return t.Letter(_LETTERS[token])
        if token in _SPACES:
            return t.Space(_SPACES[token])
        if token in _LIMITS:
            return t.Limits(_LIMITS[token])
        if token in _NAMES:
            return t.UprightName(token[1:], True)
        if token in (r"\vphantom", r"\mathopen", r"\mathclose"):
            # Brackets and bars grow, and stand close, by themselves.
            self.raw()
            return None
        if token.isalpha():
            return t.Letter(token)
        if len(token) == 1 and token not in _MARKS:
            return t.Text(token)
        return self.command(token)

    def command(self, token: str) -> t.Node:
        """A word of LaTeX with what belongs to it."""
        match token:
            case r"\frac":
                return t.Fraction(self.argument(), self.argument())
            case r"\sqrt":
                return t.Radical(self.argument())
            case r"\left":
                opening, inner = self.fence(), self.row((r"\right",))
                self.take(r"\right")
                return t.Fenced(opening, inner, self.fence())
            case r"\Bigl" | r"\Bigr":
                return t.Big(self.take(), token == r"\Bigl")
            case r"\mathrm" | r"\operatorname":
                return t.UprightName(unescape(self.raw()), token == r"\operatorname")
            case r"\operatorname*":
                return t.Limits(unescape(self.raw()))
            case r"\mathit":
                return t.SlantedName(unescape(self.raw()))
            case r"\mathcal":
                # The script letters of Unicode that have no older place: Z is one.
                return t.Letter(chr(0x1D49C + ord(self.raw()) - ord("A")))
            case r"\text":
                return t.Text(unescape(self.raw()))
            case r"\cause":
                return t.CauseMark(self.raw())
            case r"\struck":
                return t.Marking("struck", self.argument())
            case r"\correct":
                return t.Marking("correct", self.argument())
            case r"\mathbf":
                return t.Marking("bold", self.argument())
            case r"\begin":
                return self.lines()
        self.place -= 1
        self.fail()

    def fence(self) -> str:
        """A bracket that grows; a dot is none."""
        fence = self.take()
        return "" if fence == "." else fence.removeprefix("\\")

    def lines(self) -> t.Node:
        """Rows under one another: ``aligned``, the cases of an ``array``, or a matrix."""
        name = self.raw()
        if name == "aligned":
            for mark in "[t]":
                self.take(mark)
        elif name == "array":
            self.raw()
        elif name != "bmatrix":
            self.fail()
        rows: list[list[t.Row]] = [[]]
        while True:
            rows[-1].append(self.row(("&", r"\\", r"\end")))
            if (end := self.take()) == r"\end":
                break
            if end == r"\\":
                rows.append([])
        self.raw()
        grid = tuple(map(tuple, rows))
        if name == "bmatrix":
            return t.Fenced("[", t.row(t.CellGrid("matrix", grid)), "]")
        return t.CellGrid("cases" if name == "array" else "aligned", grid)


def _is_operand(nodes: Sequence[t.Node]) -> bool:
    """Whether a sign after these stands between operands."""
    last = next((node for node in reversed(nodes) if not isinstance(node, t.Space)), None)
    match last:
        case None | t.Limits():
            return False
        case t.Sign(_, role):
            return role in ("closing", "dots")
        case t.Big(_, opening):
            return not opening
        case t.Group(parts):
            return _is_operand(parts.nodes)
    return True


def in_latex(tree: Any) -> Any:
    """Blocks, or anything made of tuples and dataclasses, with LaTeX for every row."""
    if isinstance(tree, t.Row):
        return t.latex(tree)
    if isinstance(tree, tuple):
        return tuple(map(in_latex, tree))
    if is_dataclass(tree) and not isinstance(tree, type):
        changed = {field.name: in_latex(getattr(tree, field.name)) for field in fields(tree)}
        return replace(tree, **changed)
    return tree


# -- blocks of LaTeX ----------------------------------------------------------------


def math(latex: str) -> b.Math:
    """Mathematics inside a line."""
    return b.Math(read(latex))


def equations(lines: Any, columns: int = 1) -> b.Equations:
    """Displayed lines."""
    return b.Equations(tuple(tuple(map(read, line)) for line in lines), columns)  # type: ignore[misc]


def matrix(before: str, cells: Any, labels: tuple[str, ...] = ()) -> b.Matrix:
    """A matrix with what stands before it."""
    return b.Matrix(read(before), tuple(tuple(map(read, row)) for row in cells), labels)


def heat_map(title: b.Line, shades: Any, figures: Any, *labels: Any) -> b.HeatMap:
    """A heat map with figures in it."""
    return b.HeatMap(title, shades, tuple(tuple(map(read, row)) for row in figures), *labels)
