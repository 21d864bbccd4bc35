r"""Python expressions as they are set: the LaTeX that latexify makes of them, read into rows.

latexify has the rules: precedence, brackets, dots between factors, the limits of sums, choices.
Its LaTeX is read once, so that every format shows the same. What a name stands for is a row of its
own; one character, which LaTeX has no use for, holds its place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from latexify.codegen.expression_codegen import ExpressionCodegen
from latexify.codegen.expression_rules import BUILTIN_FUNCS, get_precedence

from symattn.expressions import typesetting as t

#: What functions are called in formulas, where they have other names.
_CALLED = {
    **{"greatest": "max", "least": "min", "first_greatest": "max", "first_least": "min"},
    **{"sign_of": "sign", "ln": "log", "magnitude": "abs"},
}
_SUM = get_precedence(ast.parse("a + a", mode="eval").body)
#: What is nothing to read on the right of an operation, such as what a left-out option stands for.
_NOTHING = {ast.Mult: t.number("1"), ast.Add: t.number("0"), ast.Sub: t.number("0")}
#: The first place for rows, and what is beside one that is a number: latexify takes it for a digit.
_FIRST, _DIGIT = 0xE000, "\u2460"

Entry = Callable[[str, t.Row], t.Row]


def typeset(tree: ast.expr, entry: Entry) -> t.Row:
    r"""An expression as it is set, with what ``entry`` gives for the names in it.

    >>> tree = ast.parse("sum(A[i][k] * (B[k] + 1) for k in range(3))", mode="eval").body
    >>> t.latex(typeset(tree, lambda name, at: t.index(t.letters(name), at)))
    '\\sum_{k = 0}^{2} A_{i,k} \\cdot \\mathopen{}\\left(B_{k} + 1\\mathclose{}\\right)'
    """
    return _Codegen(entry).row(tree)


class _Codegen(ExpressionCodegen):  # type: ignore[misc]
    def __init__(self, entry: Entry) -> None:
        super().__init__()
        self._entry = entry
        self._rows: dict[t.Row, str] = {}

    def row(self, tree: ast.expr) -> t.Row:
        return _Reader(self.visit(tree), {mark: x for x, mark in self._rows.items()}).row("")

    def _mark(self, row: t.Row) -> str:
        is_number = row.nodes[0] == t.MINUS_INFINITY.nodes[0] or t.begins(row, t.Digits)
        beside = _DIGIT if is_number else ""
        return self._rows.setdefault(row, f"{beside}{chr(_FIRST + len(self._rows))}{beside}")

    def visit_Name(self, node: ast.Name) -> str:
        # Functions come as they are written in LaTeX.
        return node.id if node.id.startswith("\\") else self._mark(self._entry(node.id, t.Row()))

    def visit_Subscript(self, node: ast.Subscript) -> str:
        at, of = [self.row(node.slice)], node.value
        while isinstance(of, ast.Subscript):
            at.insert(0, self.row(of.slice))
            of = of.value
        assert isinstance(of, ast.Name)
        return self._mark(self._entry(of.id, t.joined(at, t.COMMA)))

    def visit_BinOp(self, node: ast.BinOp) -> str:
        is_short = isinstance(node.right, ast.Name | ast.Subscript | ast.Constant)
        if is_short and self.row(node.right) == _NOTHING.get(type(node.op)):
            return str(self.visit(node.left))
        return str(super().visit_BinOp(node))

    def visit_Call(self, node: ast.Call) -> str:
        assert isinstance(node.func, ast.Name)
        name = _CALLED.get(node.func.id, node.func.id)
        called = ast.Name(name if name in BUILTIN_FUNCS else rf"\mathrm{{{name}}}")
        latex = str(super().visit_Call(ast.Call(called, node.args, node.keywords)))
        match node.args:
            case [ast.GeneratorExp(body)] if not (
                isinstance(body, ast.IfExp | ast.UnaryOp) or get_precedence(body) == _SUM
            ):
                # It writes brackets around all that is added up.
                inside = str(self.visit(body))
                around = rf"\mathopen{{}}\left({{{inside}}}\mathclose{{}}\right)"
                return latex.removesuffix(around) + inside
        return latex


_TOKEN = re.compile(
    r"\\(?:mathopen|mathclose)\{\}|\\mathbin\{\\%\}|\\(?:begin|end)\{array\}(?:\{ll\})?"
    rf"|\\mathrm\{{\w+\}}|\\[A-Za-z]+|\\.|{_DIGIT}?[\ue000-\uf8ff]{_DIGIT}?|\d+(?:\.\d+)?|\S"
)
_SIGNS = {
    "+": "+", "-": "−", "=": "=", "<": "<", ">": ">", ",": ",", r"\le": "<=", r"\ge": ">=",
    r"\ne": "!=", r"\cdot": "⋅", r"\mathbin{\%}": "%",
}  # fmt: skip
_FENCES = {r"\{": "{", r"\lfloor": "⌊", r"\rfloor": "⌋", ".": ""}


class _Reader:
    """Reads what latexify writes."""

    def __init__(self, latex: str, rows: dict[str, t.Row]) -> None:
        self._tokens: list[str] = [*_TOKEN.findall(latex), ""]
        self._rows = rows
        self._at = 0

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def row(self, *ends: str) -> t.Row:
        """All up to one of the ends, which is passed over."""
        made = t.Row()
        while (token := self._next()) not in ends:
            if token in ("^", "_"):
                at = self._group()
                made = t.index(made, above=at) if token == "^" else t.index(made, at)
            else:
                made += self._piece(token)
        return t.Row(tuple(t.signed(made)))

    def _group(self) -> t.Row:
        assert self._next() == "{"
        return self.row("}")

    def _piece(self, token: str) -> t.Row:
        if token in self._rows:
            return self._rows[token]
        if token in _SIGNS:
            return t.sign(_SIGNS[token])
        match token:
            case r"\mathopen{}" | r"\mathclose{}":
                return t.Row()
            case "{":
                return self.row("}")
            case r"\ ":
                return t.row(t.Space(4))
            case r"\frac":
                return t.fraction(self._group(), self._group())
            case r"\sqrt":
                return t.row(t.Radical(self._group()))
            case r"\sum":
                self._next()
                below = self._group()
                self._next()
                return t.row(t.Indexed(t.Limits("∑"), below, self._group()))
            case r"\left":
                tight, opening = self._tokens[self._at - 2] == r"\mathopen{}", self._next()
                inside, closing = self.row(r"\right"), self._next()
                fences = (_FENCES.get(x, x) for x in (opening, closing))
                return t.row(t.Fenced(next(fences), inside, next(fences), tight))
            case r"\begin{array}{ll}":
                return t.row(t.CellGrid("cases", tuple(self._cases())))
        if token[0].isdigit():
            return t.number(token)
        name = token.removeprefix("\\").removeprefix("mathrm{").rstrip("}")
        is_bare = token.startswith("\\mathrm") and self._tokens[self._at] != r"\mathopen{}"
        space = t.Row() if is_bare or self._tokens[self._at] == r"\mathopen{}" else t.THIN
        return t.row(t.UprightName(name, not is_bare), space)

    def _cases(self) -> Iterator[tuple[t.Row, ...]]:
        """The rows of a choice: values, each with its condition."""
        while self._tokens[self._at - 1] != r"\end{array}":
            yield self.row("&"), self.row(r"\\", r"\end{array}")
