r"""Formulas as chains of equalities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from symattn.documents.notation.arrays import laid_flat
from symattn.documents.notation.grammar import Grammar
from symattn.documents.notation.latex import latex_tokens
from symattn.documents.notation.products import OpenChain, join_drafts, spread
from symattn.documents.notation.tokens import NotationToken, outside
from symattn.documents.notation.vocabulary import JOINING, plain_name
from symattn.documents.text import Text
from symattn.documents.trees import Chain, Link, Named, Words

#: Kinds of tokens that end a chain, or a condition.
_ENDS = ("separator", "row", "words")


def read_formula(text: Text) -> tuple[Chain | Words, ...]:
    r"""A formula in LaTeX as its chains, and the words between them.

    >>> chain, = read_formula(Text.whole(r"S = \frac{Q K^\top}{\sqrt{4}} \approx 0.50"))
    >>> chain.links, chain.members[2]
    (('=', '≈'), Figure(text='0.50', span=Span(start=38, end=42)))
    """
    return join_drafts(formula_drafts(text))


def formula_drafts(text: Text) -> Iterator[Words | OpenChain]:
    """The chains and the words of a formula, not yet joined with what is around it."""
    grammar = Grammar(text, laid_flat(latex_tokens(text.string)), latex=True)
    return _spread(list(_Formula(grammar).read()))


def _spread(pieces: list[Words | OpenChain]) -> Iterator[Words | OpenChain]:
    """Pieces, names and values that commas part put together."""
    names: list[OpenChain] = []
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        at += 1
        if isinstance(piece, OpenChain) and piece.is_lone and isinstance(piece.members[0], Named):
            names.append(piece)
            if piece.comma:
                continue
        elif isinstance(piece, OpenChain) and piece.links and names:
            values: list[OpenChain] = []
            while len(values) < len(names) and at < len(pieces) and piece.comma:
                value = pieces[at]
                if not isinstance(value, OpenChain) or value.links or not value.is_lone:
                    break
                values.append(value)
                at += 1
            yield from spread(names, piece, values)
            names = []
            continue
        yield from names
        names = []
        if not (
            isinstance(piece, OpenChain) and piece.is_lone and isinstance(piece.members[0], Named)
        ):
            yield piece
    yield from names


class _Formula:
    """One walk over the tokens of a formula, outside of brackets."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.draft = OpenChain()
        #: Where the member begins that is walked over.
        self.begun = 0

    def read(self) -> Iterator[Words | OpenChain]:
        grammar, at = self.grammar, 0
        while at < len(grammar.tokens):
            token = grammar.tokens[at]
            if grammar.partners[at] > at:
                at = grammar.partners[at] + 1
                continue
            if token.kind == "relation":
                yield from self.relation(token, at)
            elif token.text == ":" and not self.draft.members and self.begun < at:
                self.add(at)
                if isinstance(self.draft.members[0], Named):
                    self.draft.link(":")
                else:
                    yield from self.close(at)
            elif token.kind in ("separator", "row") or token.text in (".", ":"):
                self.draft.comma = token.text == ","
                yield from self.close(at)
            elif token.kind == "condition":
                yield from self.close(at)
                end = self.ended(at)
                yield self.words(at, end)
                self.begun = at = end
                continue
            elif _is_word(token) and not self.is_label(at):
                yield from self.close(at)
                yield self.words(at, at + 1)
            at += 1
        yield from self.close(len(grammar.tokens))

    def add(self, end: int) -> None:
        """The member that ends here, if there is one."""
        if self.begun < end:
            span = self.grammar.span(self.begun, end)
            self.draft.add(self.grammar.member(self.begun, end), span)
        self.begun = end + 1

    def close(self, end: int) -> Iterator[OpenChain]:
        """The chain that ends here, if there is one."""
        self.add(end)
        if self.draft.members or self.draft.after:
            yield self.draft
        self.draft = OpenChain()

    def relation(self, token: NotationToken, at: int) -> Iterator[OpenChain]:
        """A link; behind an arrow of logic a chain of its own begins, if it is one."""
        if token.text == "⇒" and _goes_on(self.grammar, at + 1):
            yield from self.close(at)
        else:
            self.add(at)
            self.draft.link("→" if token.text == "⇒" else cast(Link, token.text))

    def is_label(self, at: int) -> bool:
        r"""Whether words name what follows: ``\text{Attention weights} = ...``."""
        tokens = self.grammar.tokens
        token, following = tokens[at], tokens[at + 1 : at + 2]
        name = plain_name("_".join(token.text.split())) if token.kind == "words" else ""
        named = name and following and following[0].kind == "relation" and self.begun == at
        if not named or self.grammar.figures(at, at + 1):
            return False
        span = self.grammar.span(at, at + 1)
        self.draft.add(Named(name, span), span)
        self.begun = at + 1
        return True

    def ended(self, at: int) -> int:
        """The end of the condition that begins here."""
        tokens = self.grammar.tokens
        ahead = outside(self.grammar.partners, at, len(tokens))
        return next((at for at in ahead if tokens[at].kind in _ENDS), len(tokens))

    def words(self, start: int, end: int) -> Words:
        """A range as words."""
        grammar = self.grammar
        return Words(
            grammar.source(start, end), grammar.span(start, end), grammar.figures(start, end)
        )


def _is_word(token: NotationToken) -> bool:
    return token.kind == "words" or (token.text in JOINING and len(token.text) > 1)


def _goes_on(grammar: Grammar, at: int) -> bool:
    """Whether behind an arrow of logic a relation follows before the chain ends."""
    ahead = (grammar.tokens[at] for at in outside(grammar.partners, at, len(grammar.tokens)))
    ending = next((token for token in ahead if token.kind in ("relation", *_ENDS)), None)
    return ending is not None and ending.kind == "relation" and ending.text != "⇒"
