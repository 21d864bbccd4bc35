r"""Formulas as chains of equalities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from symattn.documents.notation.drafts import Draft, joined
from symattn.documents.notation.grammar import Grammar
from symattn.documents.notation.latex import latex_tokens
from symattn.documents.notation.names import plain_name
from symattn.documents.notation.tokens import Token, matched
from symattn.documents.notation.vocabulary import JOINING, LAYOUTS
from symattn.documents.text import Text
from symattn.documents.trees import Chain, Link, Member, Named, Words


def read_formula(text: Text) -> tuple[Chain | Words, ...]:
    r"""A formula in LaTeX as its chains, and the words between them.

    >>> chain, = read_formula(Text.whole(r"S = \frac{Q K^\top}{\sqrt{4}} \approx 0.50"))
    >>> chain.links, chain.members[2]
    (('=', '≈'), Figure(text='0.50', span=Span(start=38, end=42)))
    """
    return joined(formula_drafts(text))


def formula_drafts(text: Text) -> Iterator[Words | Draft]:
    """The chains and the words of a formula, not yet joined with what is around it."""
    grammar = Grammar(text, _laid_flat(latex_tokens(text.string)), latex=True)
    tokens = grammar.tokens
    draft, at, begun = Draft(), 0, 0

    def close(end: int) -> Iterator[Draft]:
        nonlocal draft
        if begun < end:
            draft.add(_member(grammar, begun, end), grammar.span(begun, end))
        if draft.members or draft.after:
            yield draft
        draft = Draft()

    while at < len(tokens):
        token = tokens[at]
        if grammar.partners[at] > at:
            at = grammar.partners[at] + 1
            continue
        if token.kind == "relation":
            if token.text == "⇒" and _goes_on(grammar, at + 1):
                yield from close(at)
            else:
                if begun < at:
                    draft.add(_member(grammar, begun, at), grammar.span(begun, at))
                draft.link("→" if token.text == "⇒" else cast(Link, token.text))
            begun = at + 1
        elif token.text == ":" and not draft.members and begun < at:
            member = _member(grammar, begun, at)
            if isinstance(member, Named):
                draft.add(member, grammar.span(begun, at))
                draft.link(":")
            else:
                yield from close(at)
            begun = at + 1
        elif token.kind == "separator" or token.text in (".", ":") or token.kind == "row":
            yield from close(at)
            begun = at + 1
        elif token.kind == "words" or (token.text in JOINING and len(token.text) > 1):
            following = tokens[at + 1].kind if at + 1 < len(tokens) else ""
            name = plain_name("_".join(token.text.split())) if token.kind == "words" else ""
            if name and following == "relation" and begun == at:
                # A label: "\text{Attention weights} = ...".
                draft.add(Named(name, grammar.span(at, at + 1)), grammar.span(at, at + 1))
                at += 1
                begun = at
                continue
            yield from close(at)
            yield Words(
                grammar.source(at, at + 1), grammar.span(at, at + 1), grammar.figures(at, at + 1)
            )
            begun = at + 1
        at += 1
    yield from close(len(tokens))


def _member(grammar: Grammar, start: int, end: int) -> Member:
    return grammar.member(start, end)


def _goes_on(grammar: Grammar, at: int) -> bool:
    """Whether behind an arrow of logic a relation follows before the chain ends."""
    while at < len(grammar.tokens):
        if grammar.partners[at] > at:
            at = grammar.partners[at]
        elif grammar.tokens[at].kind == "relation":
            return grammar.tokens[at].text != "⇒"
        elif grammar.tokens[at].kind in ("separator", "row", "words"):
            return False
        at += 1
    return False


def _laid_flat(tokens: list[Token]) -> list[Token]:
    r"""Tokens without the environments that lay equations out: rows that begin an
    equation are kept apart, those that go on are not.
    """
    partners = matched(tokens)
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        name = token.text[1:]
        if token.kind in ("open", "close") and name in LAYOUTS and partners[at] >= 0:
            opens = token.kind == "open"
            if name.endswith("cases") and opens and any(t.text != r"\{" for t in found):
                found.extend(tokens[at : partners[at] + 1])
                at = partners[at] + 1
                continue
            if opens and found and found[-1].text == r"\{":
                found.pop()
        elif token.kind == "row":
            following = at + 1
            aligned = False
            while following < len(tokens) and (
                tokens[following].kind == "cell" or tokens[following].text == "quad"
            ):
                aligned = True
                following += 1
            if not _continues(found, tokens[following : following + 1], aligned):
                found.append(token)
            at = following
            continue
        elif token.kind == "cell":
            beside = [found[-1:], tokens[at + 1 : at + 2]]
            kinds = {one[0].kind for one in beside if one}
            if found and not kinds & {"relation", "separator", "row", "cell", "operator"}:
                found.append(token._replace(kind="separator", text="quad"))
        elif partners[at] > at:
            found.extend(tokens[at : partners[at] + 1])
            at = partners[at]
        else:
            found.append(token)
        at += 1
    return found


def _continues(before: list[Token], following: list[Token], aligned: bool) -> bool:
    """Whether a row goes on with the equation of the row before."""
    if before and before[-1].kind in ("relation", "operator"):
        return True
    if not following or not before:
        return False
    token = following[0]
    if token.kind == "relation":
        return token.text != "⇒"
    return token.kind == "operator" and (aligned or token.text not in "+-")
