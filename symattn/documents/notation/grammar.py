r"""Tokens to trees, by precedence climbing over ranges of tokens.

A range that isn't understood as a whole raises :class:`UnreadNotation`; whoever asked makes
it opaque. Numbers in subscripts and in the limits of sums belong to names and
indices; every other one is in exactly one figure of a tree that is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symattn.documents.notation import arrays, scripts
from symattn.documents.notation.products import (
    is_factor,
    is_number,
    looked_up,
    product,
    stands_beside,
)
from symattn.documents.notation.tokens import (
    NotationToken,
    NotationTooLong,
    TokenRanges,
    UnreadNotation,
)
from symattn.documents.notation.vocabulary import MATRICES
from symattn.documents.text import Text
from symattn.documents.trees import Labelled, Member, Opaque, PrintedFigure
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree
from symattn.limits import DIGITS, NESTING

_PRODUCTS = frozenset("*/@·×⊙")
#: How deep trees are, operations in a row included.
_DEPTH = 2 * NESTING.most


class Grammar(TokenRanges):
    """The tokens of one text as trees."""

    def __init__(self, text: Text, tokens: list[NotationToken], latex: bool) -> None:
        super().__init__(text, tokens, latex)
        self.silent, self.indices = scripts.silent(tokens, self.partners)
        self.depth = 0

    # -- ranges -----------------------------------------------------------------------

    def member(self, start: int, end: int) -> Member:
        """A whole range as a tree, else opaque."""
        try:
            return self._whole(self.inside(start, end), start, end)
        except UnreadNotation:
            return self.opaque(start, end)

    def prefix(self, start: int, end: int) -> Tree | None:
        """The longest expression at the beginning of a range; ``at`` is behind it, or
        behind what is too long to be one."""
        self.at, self.end, self.prose, self.depth = start, end, True, 0
        try:
            return self._whole(self.sum(), start, self.at)
        except UnreadNotation as fault:
            self.at = self.at if isinstance(fault, NotationTooLong) else start
            return None
        finally:
            self.prose = False

    def _whole(self, tree: Tree, start: int, end: int) -> Tree:
        """A tree that has all numbers of a range, and isn't deeper than trees are walked."""
        numbers = sum(
            1 for i in range(start, end) if self.tokens[i].kind == "number" and i not in self.silent
        )
        for node, depth in _walked(tree):
            if depth > _DEPTH:
                raise NotationTooLong
            match node:
                case PrintedFigure(text):
                    numbers -= text != "-inf"
                case Opaque(_, _, figures):
                    numbers -= len(figures)
        if numbers:
            raise UnreadNotation
        return tree

    def inside(self, start: int, end: int) -> Tree:
        """A whole range as a tree."""
        state = self.at, self.end, self.prose
        self.at, self.end, self.prose = start, end, False
        self.depth += 1
        try:
            if start >= end or self.depth > NESTING.most:
                raise UnreadNotation
            tree = self.comparison()
            if self.at != end:
                raise UnreadNotation
            return tree
        finally:
            self.at, self.end, self.prose = state
            self.depth -= 1

    # -- expressions ------------------------------------------------------------------

    def comparison(self) -> Tree:
        """Sums, with inequalities between them."""
        operands, relations = [self.sum()], []
        while self.peek().kind == "inequality":
            relations.append(self.peek().text)
            self.at += 1
            operands.append(self.sum())
        return syntax.Comparison(tuple(operands), tuple(relations)) if relations else operands[0]

    def sum(self) -> Tree:
        """Products with signs between them."""
        left = self.product()
        count = 0
        while self.peek().text in ("+", "-") and self.peek().kind == "operator":
            count = self._bound(count)
            mark, sign = self.at, self.peek().text
            self.at += 1
            right = self.tried(self.product, mark)
            if right is None:
                break
            left = syntax.Binary(sign, left, right)
        return left

    def tried(self, read: Callable[[], Tree], mark: int) -> Tree | None:
        """An operand; in prose None where there is none, and back at the mark."""
        try:
            return read()
        except NotationTooLong:
            raise
        except UnreadNotation:
            if not self.prose:
                raise
            self.at = mark
            return None

    def product(self) -> Tree:
        """Values with signs of products between them, or side by side."""
        left = self.unary()
        count = 0
        while True:
            count = self._bound(count)
            mark, token = self.at, self.peek()
            sign = token.text if token.kind == "operator" and token.text in _PRODUCTS else ""
            if not sign and not stands_beside(self, left):
                return left
            self.at += bool(sign)
            right = self.tried(self.unary if sign else self.postfix, mark)
            if right is None:
                return left
            if not sign and not is_factor(self, mark, right):
                self.at = mark
                return left
            entry = None if sign else looked_up(self, mark, left, right)
            left = entry or product(sign, left, right)

    def unary(self) -> Tree:
        """A value with its sign; that of a number is part of its figure."""
        token = self.peek()
        if token.kind != "operator" or token.text not in ("+", "-"):
            return self.postfix()
        self.at += 1
        self.depth += 1
        if self.depth > NESTING.most:
            raise UnreadNotation
        try:
            if token.text == "+":
                return self.unary()
            following = self.peek()
            if following.kind == "name" and following.text in ("inf", "Inf", "infty"):
                self.at += 1
                return PrintedFigure("-inf", self.span(self.at - 2, self.at))
            powered = self.peek(1).kind == "script"
            if following.kind == "number" and not powered and self._glued(self.at - 1, self.at):
                self._bounded(following)
                self.at += 1
                figure = self.figure(self.at - 1, negative=True)
                self.at += self.peek().kind == "percent"
                return self.after(figure)
            return syntax.Negative(self.unary())
        finally:
            self.depth -= 1

    def _bound(self, count: int) -> int:
        """One operation more, unless the tree became deeper than trees are walked."""
        if count > _DEPTH:
            raise NotationTooLong
        return count + 1

    def _glued(self, at: int, other: int) -> bool:
        """Return whether nothing but blanks stands between two tokens."""
        return not self.text.string[self.tokens[at].end : self.tokens[other].start].strip()

    def _bounded(self, token: NotationToken) -> None:
        """Refuse a number that nobody would print."""
        if len(token.text) > DIGITS.most or "," in token.text:
            raise UnreadNotation
        exponent = token.text.lower().partition("e")[2]
        if len(exponent) > 4:
            raise UnreadNotation

    def postfix(self) -> Tree:
        """A value with what stands behind and above it."""
        start = self.at
        if start in self.failed:
            raise UnreadNotation
        self.depth += 1
        try:
            if self.depth > NESTING.most:
                raise UnreadNotation
            return self.after(self.atom())
        except UnreadNotation:
            self.failed.add(start)
            raise
        finally:
            self.depth -= 1

    def after(self, tree: Tree) -> Tree:
        """A value with what stands behind and above it."""
        count = 0
        while True:
            count = self._bound(count)
            token = self.peek()
            if token.kind == "prime" and not isinstance(tree, PrintedFigure):
                self.at += 1
                tree = syntax.Transposed(tree)
            elif token.kind == "script":
                tree = scripts.scripted(self, tree, token.text)
            elif (
                token.text == "."
                and self.peek(1).text == "T"
                and not token.spaced
                and not self.peek(1).spaced
            ):
                self.at += 2
                tree = syntax.Transposed(tree)
            elif token.text == "[" and not token.spaced and not isinstance(tree, PrintedFigure):
                indexed = scripts.bracketed(self, tree)
                if indexed is None:
                    return tree
                tree = indexed
            else:
                return tree

    def atom(self) -> Tree:
        """A number, a name, or what stands in brackets or behind a command."""
        token = self.peek()
        match token.kind:
            case "number":
                self._bounded(token)
                self.at += 1
                figure = self.figure(self.at - 1)
                self.at += self.peek().kind == "percent"
                return figure
            case "name":
                return scripts.name(self)
            case "open":
                return self.bracket(token)
            case "command":
                return scripts.command(self, token)
        raise UnreadNotation

    def bracket(self, token: NotationToken) -> Tree:
        """Return what stands in brackets."""
        opening = self.at
        try:
            if token.text == "{":
                return self.inside(*self.group(opening))
            if token.text in ("(", "⟨"):
                return self.round(*self.group(opening), opening)
            if token.text == "[":
                return arrays.listed(self, *self.group(opening), opening)
            if token.text[1:] in MATRICES:
                return arrays.matrix(self, *self.group(opening), opening)
            if token.text.endswith("cases"):
                return arrays.cases(self, *self.group(opening))
        except UnreadNotation:
            self.failed.add(opening)
            raise
        raise UnreadNotation

    def round(self, start: int, end: int, opening: int) -> Tree:
        """A group, or a row vector."""
        items = [self.inside(*piece) for piece in self.pieces(start, end)]
        if self.tokens[opening].text == "⟨" and not all(map(is_number, items)):
            if len(items) == 2:
                # The inner product of two vectors.
                return syntax.Binary("@", items[0], items[1])
            raise UnreadNotation
        if len(items) == 1:
            return items[0]
        if any(True for item in items for _ in figures_in(item)):
            return Labelled(tuple(items), span=self.span(opening, end + 1))
        return syntax.Sequence(tuple(items))


def figures_in(tree: Member) -> Iterator[PrintedFigure]:
    """The figures of a tree, in order."""
    for node, _ in _walked(tree):
        match node:
            case PrintedFigure():
                yield node
            case Opaque(_, _, figures):
                yield from figures


def _walked(tree: Member) -> Iterator[tuple[Member, int]]:
    """A tree and all that it is made of, in order, with how deep it is."""
    stack: list[tuple[Member, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        if not isinstance(node, Opaque):
            stack.extend((child, depth + 1) for child in reversed(syntax.inside(node)))
