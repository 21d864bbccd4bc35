"""What formulas may mean in two ways: refused, with what to write."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from symattn import syntax
from symattn.calculus import tensors
from symattn.calculus.names import Names
from symattn.calculus.printing import is_array
from symattn.calculus.spellings import style_of
from symattn.documents.notation import plain_name
from symattn.documents.notation.grammar import Grammar
from symattn.documents.notation.tokens import NotationToken
from symattn.documents.notation.vocabulary import FUNCTIONS, MARKS
from symattn.documents.text import Text
from symattn.errors import Malformed, short
from symattn.escaping import is_hidden
from symattn.syntax import Tree

#: What counts a formula in brackets behind it.
_MARK = re.compile(r"\s*\d{1,3}(?:\.\d{1,3})*[a-z]?\s*")
_EXPONENT = "write exponents in brackets, as in x^(2n)"
LETTERS = ("pi", "oo", "inf", *"ijkl")
"""Names that mean something without being known."""


class DoubleMeanings(Grammar):
    """Refuses what a reader may take for something else."""

    def __init__(self, text: str, tokens: list[NotationToken], latex: bool, names: Names) -> None:
        super().__init__(Text.whole(text), tokens, latex)
        self.names = names
        self.bound_up_to: dict[int, frozenset[str]] = {}
        """The letters of the sums and limits that end at a token."""

    def refuse_exponent(self, start: int) -> None:
        """What is raised again behind an exponent that begins there may be all of it or that."""
        at = start
        while at <= self.at and at < self.end:
            token, ahead = self.tokens[at], at + 1 - self.at
            is_power = token.text == "*" and ahead > 0 and self.peek(ahead).text == "*"
            if token.text == "^" or is_power:
                raise Malformed(
                    f"{short(self.text.string)!r} has an exponent right behind an exponent: write"
                    " brackets, as in a^(b^c) or (a^b)^c"
                )
            at = max(at, self.partners[at] if token.kind == "open" else at) + 1

    def refuse_bare_exponent(self, start: int) -> None:
        """Letters right behind an exponent without brackets may be part of it."""
        is_bare = not self.latex and self.tokens[self.at - 1].end == self.peek().start
        if is_bare and self.peek().kind == "name" and self.tokens[start].text != "T":
            raise Malformed(f"{short(self.text.string)!r}: {_EXPONENT}")

    def refuse_joined(self, start: int, tree: Tree, why: str = _EXPONENT) -> None:
        """Names side by side, without brackets: all of them may be meant, or only the first."""
        while isinstance(tree, syntax.Negative):
            tree, start = tree.operand, start + 1
        if self.tokens[start].kind == "name" and isinstance(tree, syntax.Binary):
            raise Malformed(f"{short(self.text.string)!r}: {why}")

    def refuse_bare_root(self, start: int, tree: Tree) -> None:
        """What stands right behind a root may be below it, or beside."""
        why = "write what the root is taken of in brackets, as in √(2n)"
        self.refuse_joined(start, tree, why)
        is_apart = self.peek().spaced and self.tokens[self.at - 1].kind in ("number", "close")
        if self.is_beside() and not is_apart:
            raise Malformed(f"{short(self.text.string)!r}: {why}")

    def is_beside(self) -> bool:
        """Whether a factor stands here without a sign before it."""
        token = self.peek()
        if token.kind in ("name", "command", "open"):
            return True
        is_apart = token.spaced or token.start != self.tokens[self.at - 1].end
        return token.kind == "number" and is_apart

    def refuse_number(self, left: Tree) -> None:
        """A number without a sign before it multiplies, counts the line, or is one with it."""
        token, whole = self.peek(), short(self.text.string)
        is_fraction = token.text == "\\frac" and self.peek(2).kind == "number"
        if isinstance(left, syntax.Literal) and (token.kind == "number" or is_fraction):
            raise Malformed(
                f"{whole!r} has a number right behind a number: write '*' or '+' between them"
            )
        if token.kind == "open" and token.spaced and self.partners[self.at] == self.end - 1:
            mark = self.source(self.at + 1, self.end - 1)
            if _MARK.fullmatch(mark):
                raise Malformed(
                    f"'{self.source(self.at, self.end)}' may count, or multiply: write '* {mark}',"
                    " or what counts a line behind '#'"
                )

    def refuse_words(self, factor: Tree) -> None:
        """A product without a sign has factors that are known: others are words."""
        match factor:
            case syntax.Name(name) if len(name) > 1 and not self.names.known(name):
                if name not in LETTERS:
                    raise Malformed(
                        f"{name!r} beside a formula: it has no meaning here; if it is a word, "
                        "write the formula on a line of its own or between backquotes"
                    )

    def refuse_bold(self, token: NotationToken) -> None:
        """A number that is set as a vector or matrix is one, of a size that has to be named."""
        style, _ = style_of(self.text.string, token)
        if style != "plain" and len(self.tokens) > 1 and self.peek(1).text != "_":
            raise Malformed(
                f"{short(self.text.string)!r}: what is bold may be a number, or a vector or matrix"
                f" of them: write it with its size, {token.text}_n or {token.text}_(n×m)"
            )

    def refuse_product(self, left: syntax.Binary, right: Tree) -> None:
        """A matrix product without a sign, behind a product entry by entry."""
        if all(is_array(x, self.names.shapes) for x in (left.left, left.right, right)):
            raise Malformed(
                f"{short(self.text.string)!r}: a matrix product behind '{left.op}' may be meant"
                " before it: write brackets"
            )

    def refuse_place(self, left: Tree, inner: Tree) -> None:
        """What is defined, before brackets, may be meant at another place: ``f(0)``."""
        last = left.right if isinstance(left, syntax.Binary) else left
        if not isinstance(last, syntax.Name):
            return
        used = self.names.uses.get(last.name, frozenset())
        within = {*syntax.names(inner)}
        is_single = isinstance(inner, syntax.Literal | syntax.Name | syntax.Negative)
        if is_single or (used & within and last.name not in within):
            raise Malformed(
                f"{last.name}(...) may be {last.name} at a place, or a product: write"
                f" {last.name} * (...)"
            )

    def may_be_below(self, token: NotationToken) -> bool:
        """Whether a reader may take a factor behind a quotient to be below: not a large sum, nor
        what is apart; in LaTeX blanks set nothing apart."""
        word = plain_name(token.text) or token.text
        stem = word.removeprefix("\\").partition("_")[0]
        last = self.tokens[self.at - 1]
        is_apart = token.spaced and not self.latex and "{" not in self.text.string
        is_apart &= last.kind in ("number", "close")
        return FUNCTIONS.get(stem, stem) != "sum" and not is_apart

    def tried(self, read: Callable[[], Tree], mark: int) -> Tree | None:
        """What stands behind a sum, or a limit, must not have the letter that it is over."""
        bound = self.bound_up_to.get(mark, frozenset())
        right = super().tried(read, mark)
        if right is not None and bound & _free(right):
            raise Malformed(
                f"{short(self.text.string)!r}: what is added may belong to the sum or limit before"
                " it: write brackets"
            )
        return right

    def is_matrix(self, tree: Tree) -> bool:
        """Whether a value is seen to be a matrix."""
        match tree:
            case syntax.Name(name):
                return self.names.axes.get(name, 0) > 1
            case syntax.Transposed(operand) | syntax.Negative(operand) | syntax.Power(operand, _):
                return self.is_matrix(operand)
            case syntax.Call("diag" | "eye", _):
                return True
            case syntax.Call(name, (operand, *_)) if is_array(tree, self.names.shapes):
                return self.is_matrix(operand) and not name.startswith(("row", "col"))
            case syntax.Binary(_, left, right):
                return self.is_matrix(left) or self.is_matrix(right)
        return False


def _free(tree: Tree) -> set[str]:
    """The letters in a tree that no sum or limit in it binds."""
    bound = {
        letter.name
        for part in syntax.walk(tree)
        if isinstance(part, syntax.Call) and part.function in ("sum", "mean", "limit")
        for letter in part.arguments[:1]
        if isinstance(letter, syntax.Name) and len(part.arguments) > 1
    }
    return {*tensors.letters_of(tree), *syntax.names(tree)} - bound


def unseen(text: str) -> str:
    """The first sign of a formula that is not seen, or a mark of a letter that means nothing;
    '' where there is none.

    >>> unseen("y\u200b2 = y"), unseen("caf\u00e9 = 1"), unseen("\u0177 = 1")
    ('the invisible U+200B', "the mark of 'é'", '')
    """
    before = ""
    for sign in unicodedata.normalize("NFD", text):
        if is_hidden(sign):
            return f"the invisible U+{ord(sign):04X}"
        if unicodedata.combining(sign) and sign not in MARKS:
            return f"the mark of {unicodedata.normalize('NFC', before + sign)!r}"
        before = sign
    return ""
