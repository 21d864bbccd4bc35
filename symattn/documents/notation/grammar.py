r"""Tokens to trees, by precedence climbing over ranges of tokens.

A range that isn't understood as a whole raises :class:`UnreadNotation`; whoever asked makes
it opaque. Numbers in subscripts and in the limits of sums belong to names and
indices; every other one is in exactly one figure of a tree that is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from symattn.documents.notation import scripts
from symattn.documents.notation.tokens import (
    END,
    NotationToken,
    NotationTooLong,
    UnreadNotation,
    cut,
    matched,
    numbers_in,
)
from symattn.documents.notation.vocabulary import MATRICES
from symattn.documents.text import Span, Text
from symattn.documents.trees import Labelled, Member, Opaque, PrintedFigure
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree
from symattn.limits import DIGITS, ENTRIES, NESTING
from symattn.numbers.rationals import MINUS_INFINITY

_PRODUCTS = frozenset("*/@·×⊙")
#: Environments that have no brackets of their own.
_UNFENCED = frozenset((r"\array", r"\matrix", r"\smallmatrix", r"\tabular"))
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
#: How deep trees are, operations in a row included.
_DEPTH = 2 * NESTING.most
#: Tokens that a part of a name has at most.
_NAME = 40


class Grammar:
    """The tokens of one text as trees, read in ranges.

    ``at`` is the token that is looked at, ``end`` the end of the range; in ``prose`` an
    expression ends where it can't go on, and names don't stand side by side by chance.
    """

    def __init__(self, text: Text, tokens: list[NotationToken], latex: bool) -> None:
        self.text = text
        self.tokens = tokens
        self.latex = latex
        self.partners = matched(tokens)
        #: Numbers that are no figures, and the brackets of indices.
        self.silent, self.indices = scripts.silent(tokens, self.partners)
        self.at, self.end = 0, len(tokens)
        self.prose = False
        #: Brackets that are known to hold nothing that is read.
        self.failed: set[int] = set()
        self.depth = 0

    # -- ranges -----------------------------------------------------------------------

    def span(self, start: int, end: int) -> Span:
        """Return where the tokens of a range stand in the file."""
        if start >= end:
            place = self.tokens[start].start if start < len(self.tokens) else len(self.text)
            return self.text.span(place, place)
        return self.text.span(self.tokens[start].start, self.tokens[end - 1].end)

    def source(self, start: int, end: int) -> str:
        """Return what is written there."""
        if start >= end:
            return ""
        return self.text.string[self.tokens[start].start : self.tokens[end - 1].end]

    def figures(self, start: int, end: int) -> tuple[PrintedFigure, ...]:
        """The numbers in a range, each with the sign and the percent sign at it."""
        figures: list[PrintedFigure] = []
        for i in range(start, end):
            token = self.tokens[i]
            if token.kind == "number" and i not in self.silent:
                figures.append(self.figure(i, self._signed(i, start)))
            elif token.kind == "words":
                figures.extend(
                    PrintedFigure(number, self.text.span(at, at + len(number)))
                    for at, number in numbers_in(token)
                )
        return tuple(figures)

    def _signed(self, at: int, start: int) -> bool:
        """Return whether a minus sign belongs to a number that isn't part of a tree."""
        if at <= start or self.tokens[at - 1].text != "-" or self.tokens[at].spaced:
            return False
        if at - 1 == start:
            return at < 2 or self.tokens[at - 1].spaced or self.tokens[at - 2].kind != "name"
        before = self.tokens[at - 2].kind
        return before not in ("number", "name", "close") or (
            self.tokens[at - 1].spaced and before != "number"
        )

    def figure(self, at: int, negative: bool = False) -> PrintedFigure:
        """The figure of a number."""
        token = self.tokens[at]
        first, last = at - negative, at
        text = ("-" if negative else "") + token.text
        if at + 1 < len(self.tokens) and self.tokens[at + 1].kind == "percent":
            text, last = text + "%", at + 1
        return PrintedFigure(text, self.span(first, last + 1))

    def opaque(self, start: int, end: int) -> Opaque:
        """A range that isn't understood."""
        return Opaque(self.source(start, end), self.span(start, end), self.figures(start, end))

    def few(self, start: int, end: int) -> list[NotationToken]:
        """The tokens of a script; the first of many."""
        return self.tokens[start : min(end, start + _NAME)]

    def written(self, start: int, end: int) -> str:
        """The tokens of a name, one after the other."""
        if end - start > _NAME:
            raise UnreadNotation
        return "".join(token.text for token in self.tokens[start:end])

    def group(self, at: int) -> tuple[int, int]:
        """Return what stands between a bracket and its partner, which is passed over."""
        if self.partners[at] < 0 or at in self.failed or self.partners[at] >= self.end:
            raise UnreadNotation
        self.at = self.partners[at] + 1
        return at + 1, self.partners[at]

    def peek(self, ahead: int = 0) -> NotationToken:
        """The next token; one without a kind at the end of the range."""
        at = self.at + ahead
        return self.tokens[at] if at < self.end else END

    def cut(self, start: int, end: int, kind: str) -> list[tuple[int, int]]:
        """A range cut at the tokens of a kind that stand in no brackets."""
        return cut(self.tokens, self.partners, start, end, kind)

    def pieces(self, start: int, end: int, signs: str = ",") -> list[tuple[int, int]]:
        """The parts of a range between separators, an empty last one left out."""
        *pieces, last = cut(self.tokens, self.partners, start, end, "separator", signs)
        return pieces if pieces and last[0] == last[1] else [*pieces, last]

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
            if not sign and not scripts.stands_beside(self, left):
                return left
            self.at += bool(sign)
            right = self.tried(self.unary if sign else self.postfix, mark)
            if right is None:
                return left
            if not sign and not scripts.is_factor(self, mark, right):
                self.at = mark
                return left
            entry = None if sign else scripts.looked_up(self, mark, left, right)
            left = entry or scripts.product(sign, left, right)

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
                return self.after(self._number(negative=True))
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
        exponent = token.text.lower().partition("e")[2]
        if len(token.text) > DIGITS.most or "," in token.text or len(exponent) > 4:
            raise UnreadNotation

    def _number(self, negative: bool = False) -> PrintedFigure:
        """The figure of the next number, which is passed over with its percent sign."""
        at = self.at
        self._bounded(self.peek())
        self.at += 1 + (self.peek(1).kind == "percent")
        return self.figure(at, negative)

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
            token, following = self.peek(), self.peek(1)
            is_attribute = token.text == "." and following.text == "T"
            if token.kind == "prime" and not isinstance(tree, PrintedFigure):
                self.at += 1
                tree = syntax.Transposed(tree)
            elif token.kind == "script":
                tree = scripts.scripted(self, tree, token.text)
            elif is_attribute and not (token.spaced or following.spaced):
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
                return self._number()
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
                return _listed(self, *self.group(opening), opening)
            if token.text[1:] in MATRICES:
                return _matrix(self, *self.group(opening), opening)
            if token.text.endswith("cases"):
                return _cases(self, *self.group(opening))
        except UnreadNotation:
            self.failed.add(opening)
            raise
        raise UnreadNotation

    def round(self, start: int, end: int, opening: int) -> Tree:
        """A group, or a row vector."""
        items = [self.inside(*piece) for piece in self.pieces(start, end)]
        if self.tokens[opening].text == "⟨" and not all(map(scripts.is_number, items)):
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


# -- arrays ------------------------------------------------------------------------------
# Environments of LaTeX, and lists in brackets. Two cases of an entry, one of them hidden: what
# a mask of LaTeX says.


def _matrix(grammar: Grammar, start: int, end: int, opening: int) -> Tree:
    """The rows of an environment, its labels apart."""
    rows = [grammar.cut(*row, "cell") for row in grammar.cut(start, end, "row") if row[0] < row[1]]
    if not rows or len({len(row) for row in rows}) > 1 or sum(map(len, rows)) > ENTRIES.most:
        raise UnreadNotation
    columns_said, rows_said, rows = _labels(grammar, rows)
    lines = [
        Labelled(
            tuple(_cell(grammar, *cell) for cell in row),
            span=grammar.span(row[0][0], row[-1][1]),
        )
        for row in rows
    ]
    return Labelled(tuple(lines), rows_said, columns_said, span=grammar.span(opening, end + 1))


def _labels(
    grammar: Grammar, rows: list[list[tuple[int, int]]]
) -> tuple[tuple[str, ...], tuple[str, ...], list[list[tuple[int, int]]]]:
    """The labels of columns and of rows, and the rows without them; nothing but numbers
    has labels."""
    first, below = rows[0], rows[1:]
    if len(first) < 2 or not below or not all(_is_said(grammar, *row[0]) for row in below):
        return (), (), rows
    if not all(_has_number(grammar, *cell) for row in below for cell in row[1:]):
        return (), (), rows
    columns_said: tuple[str, ...] = ()
    if all(not _has_number(grammar, *cell) for cell in first):
        columns_said = tuple(grammar.source(*cell).strip() for cell in first[1:])
        rows = below
    elif not _is_said(grammar, *first[0]):
        return (), (), rows
    rows_said = tuple(grammar.source(*row[0]).strip() for row in rows)
    return columns_said, rows_said, [row[1:] for row in rows]


def _is_said(grammar: Grammar, start: int, end: int) -> bool:
    """Return whether a cell is empty or a word: a label, or nothing."""
    return start == end or all(
        grammar.tokens[i].kind == "words"
        or (grammar.tokens[i].kind == "name" and len(grammar.tokens[i].text) > 1)
        for i in range(start, end)
    )


def _has_number(grammar: Grammar, start: int, end: int) -> bool:
    return any(grammar.tokens[i].kind == "number" for i in range(start, end))


def _cell(grammar: Grammar, start: int, end: int) -> Tree:
    """An entry; what isn't understood is opaque."""
    try:
        return grammar.inside(start, end)
    except UnreadNotation:
        return cast(Tree, grammar.opaque(start, end))


def _listed(grammar: Grammar, start: int, end: int, opening: int) -> Tree:
    """A list in square brackets: with commas, rows with semicolons, or with blanks only."""
    span = grammar.span(opening, end + 1)
    beside = grammar.cut(start, end, "condition")
    if len(beside) > 1 and all(grammar.tokens[end].text == r"\mid" for _, end in beside[:-1]):
        # [H_1 \mid H_2] are matrices side by side.
        return Labelled(tuple(grammar.inside(*part) for part in beside), span=span)
    rows = grammar.pieces(start, end, ";")
    if len(rows) > 1:
        lines = [_row(grammar, *row) for row in rows]
        if len({len(row) for row in lines}) > 1:
            raise UnreadNotation
        return Labelled(
            tuple(
                Labelled(row, span=grammar.span(*piece))
                for row, piece in zip(lines, rows, strict=True)
            ),
            span=span,
        )
    items = _row(grammar, start, end)
    if (
        len(items) == 1
        and grammar.tokens[start].text in _UNFENCED
        and grammar.partners[start] == end - 1
    ):
        # The brackets are those of the environment in them.
        return items[0]
    match items:
        case (syntax.Binary("+" | "-") as total,):
            return total
    lengths = {len(item.items) if isinstance(item, Labelled) else -1 for item in items}
    if len(lengths) > 1 and not any(isinstance(item, Opaque) for item in items):
        raise UnreadNotation
    return Labelled(items, span=span)


def _row(grammar: Grammar, start: int, end: int) -> tuple[Tree, ...]:
    """The items of a list."""
    pieces = grammar.pieces(start, end)
    if len(pieces) == 1 and (apart := _apart(grammar, start, end)):
        pieces = apart
    return tuple(
        cast(Tree, grammar.opaque(*piece))
        if piece[1] - piece[0] == 1 and grammar.tokens[piece[0]].kind == "dots"
        else grammar.inside(*piece)
        for piece in pieces
    )


def _apart(grammar: Grammar, start: int, end: int) -> list[tuple[int, int]]:
    """Numbers, or lists, that only blanks keep apart; none where there is anything else."""
    ranges: list[tuple[int, int]] = []
    at = start
    while at < end:
        token = grammar.tokens[at]
        begun = at
        if token.kind == "operator" and token.text in "+-" and at + 1 < end:
            if grammar.tokens[at + 1].spaced:
                return []
            at += 1
            token = grammar.tokens[at]
        if token.kind == "number" or token.text in ("inf", "nan") or token.kind == "dots":
            at += 1
            if at < end and grammar.tokens[at].kind == "percent":
                at += 1
        elif token.text == "[" and grammar.partners[at] > 0 and at == begun:
            at = grammar.partners[at] + 1
        else:
            return []
        if ranges and not grammar.tokens[begun].spaced and token.text != "[":
            return []
        ranges.append((begun, at))
    return ranges if len(ranges) > 1 else []


def _cases(grammar: Grammar, start: int, end: int) -> Tree:
    r"""``kept(entry, i >= j)`` of an entry that minus infinity stands for elsewhere::

    \begin{cases} s_{ij} & \text{if } i \ge j \\ -\infty & \text{otherwise} \end{cases}
    """
    rows = [grammar.cut(*row, "cell") for row in grammar.cut(start, end, "row")]
    rows = [row for row in rows if any(first < last for first, last in row)]
    if len(rows) != 2 or any(len(row) > 2 for row in rows):
        raise UnreadNotation
    entries = [grammar.inside(*_trimmed(grammar, *row[0])) for row in rows]
    conditions = [_condition(grammar, *row[1]) if len(row) > 1 else None for row in rows]
    masked = [
        isinstance(entry, PrintedFigure) and entry.text == MINUS_INFINITY for entry in entries
    ]
    if sum(masked) != 1:
        raise UnreadNotation
    kept = masked.index(False)
    condition, other = conditions[kept], conditions[1 - kept]
    if condition is None and other is not None:
        condition = syntax.Comparison(other.operands, (_OPPOSITE[other.relations[0]],))
    if condition is None:
        raise UnreadNotation
    return syntax.Call("kept", (entries[kept], condition))


def _trimmed(grammar: Grammar, start: int, end: int) -> tuple[int, int]:
    """A range without the comma that it ends with."""
    while end > start and grammar.tokens[end - 1].kind in ("separator", "words"):
        end -= 1
    return start, end


def _condition(grammar: Grammar, start: int, end: int) -> syntax.Comparison | None:
    """The letters that a cell compares, among words such as "if"; None where it doesn't."""
    for at in range(start + 1, end - 1):
        relation = grammar.tokens[at]
        sides = grammar.tokens[at - 1], grammar.tokens[at + 1]
        if relation.kind == "inequality" and all(side.kind == "name" for side in sides):
            letters = tuple(syntax.Name(side.text) for side in sides)
            return syntax.Comparison(letters, (relation.text,))
    return None
