"""Products without a sign: what may stand side by side, and what only happens to."""

from __future__ import annotations

import re

from symattn import syntax
from symattn.documents.notation.products import is_number
from symattn.documents.notation.tokens import TokenRanges
from symattn.documents.notation.vocabulary import JOINING, MATRICES
from symattn.documents.trees import Named, PrintedFigure
from symattn.syntax import Tree

#: Names of matrices that are no letter: ``W1``, ``dS``, ``Wq``.
_LETTERS = re.compile("[A-Za-z][0-9]++|d[A-Z]|W[qkvo]")


def stands_beside(grammar: TokenRanges, left: Tree) -> bool:
    """Whether a product goes on without a sign."""
    token = grammar.peek()
    before = grammar.tokens[grammar.at - 1]
    if not grammar.latex and "\n" in grammar.text.string[before.end : max(token.start, before.end)]:
        return False
    if token.kind == "name" and token.text != "inf":
        if grammar.latex:
            return token.text not in JOINING
        if before.text == "]" and token.spaced and grammar.peek(1).kind == "relation":
            # "Q = [1, 0] K = [0, 1]": another name gets its value.
            return False
        return _is_letter(grammar, grammar.at) and (
            isinstance(left, PrintedFigure)
            or before.text in (")", "}", "]", "⊤")
            or _ends_with_letter(left)
        )
    if token.kind == "command":
        return grammar.latex or token.text == r"\sqrt" or _ends_with_letter(left)
    if token.kind == "open":
        if token.text == "(":
            return grammar.latex or not token.spaced or _ends_with_letter(left)
        if token.text == "[":
            return grammar.latex and not isinstance(left, Named)
        return token.text == "{" or token.text[1:] in MATRICES
    return False


def _is_letter(grammar: TokenRanges, at: int) -> bool:
    """Whether a name in plain text is one letter, perhaps with an index."""
    text = grammar.tokens[at].text
    if len(text) == 1:
        if not grammar.tokens[at].spaced and grammar.tokens[at - 1].kind == "number":
            # "268M" is a size, no product.
            return text not in "kMBG"
        scripted = at + 1 < grammar.end and grammar.tokens[at + 1].kind == "script"
        glued = not grammar.tokens[at].spaced
        return text.isupper() or glued or scripted or not text.isascii()
    return _LETTERS.fullmatch(text) is not None


def is_factor(grammar: TokenRanges, at: int, right: Tree) -> bool:
    """Whether what stands in brackets behind a blank is a factor, and no remark."""
    token = grammar.tokens[at]
    if grammar.latex or token.text != "(" or not token.spaced:
        return True
    remark = isinstance(right, Named | syntax.Array | syntax.Sequence) or is_number(right)
    return not remark


def looked_up(grammar: TokenRanges, at: int, left: Tree, right: Tree) -> Tree | None:
    """The entry that words in brackets name: ``A(cat, sat)``; nothing where they are
    factors."""
    if grammar.tokens[at].text != "(" or grammar.tokens[at].spaced or not isinstance(left, Named):
        return None
    match right:
        case syntax.Sequence(items):
            return syntax.Call(left.name, items)
        case Named(name) if len(name) > 2 and name.isalpha():
            return syntax.Call(left.name, (right,))
    return None


def _ends_with_letter(left: Tree) -> bool:
    while isinstance(left, syntax.Binary):
        left = left.right
    match left:
        case Named(name):
            return len(name) == 1 or name[1:2] == "_" or bool(_LETTERS.fullmatch(name))
        case syntax.Transposed() | syntax.Cell() | syntax.Indexed() | syntax.Gradient():
            return True
        case syntax.Power(base, _):
            return _ends_with_letter(base)
    return False
