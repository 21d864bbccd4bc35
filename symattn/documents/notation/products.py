"""Products, by which is meant: of matrices, or of numbers and entry by entry.

Products without a sign: what may stand side by side, and what only happens to.

Chains while they are read: members between links, either of which may be missing
where a part of a paragraph begins or ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from symattn.documents.notation.vocabulary import JOINING, MATRICES
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Link, Member, Named, Opaque, PrintedFigure, Words
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree
from symattn.spelling import about

if TYPE_CHECKING:
    from symattn.documents.notation.grammar import Grammar

_SCALAR_CALLS = frozenset(("sqrt", "exp", "log", "max", "min", "sum", "abs"))


def product(sign: str, left: Tree, right: Tree) -> Tree:
    """A product as its sign and its operands say.

    Where neither tells, side by side and ``·`` are matrix products, ``×`` and ``*``
    are not: whoever knows the shapes decides again.

    >>> A, B, two = Named("A"), Named("B"), PrintedFigure("2")
    >>> [syntax.text(product(sign, A, B)) for sign in ("", "·", "×", "*", "⊙")]
    ['A @ B', 'A @ B', 'A @ B', 'A * B', 'A * B']
    >>> syntax.text(product("·", two, A))
    '2 * A'
    """
    if sign in ("@", "/"):
        return syntax.Binary(sign, left, right)
    if sign in ("*", "⊙") or is_number(left) or is_number(right):
        return syntax.Binary("*", left, right)
    if isinstance(left, syntax.Array) and isinstance(right, syntax.Array):
        return syntax.Binary("@" if _fit(left, right, sign) else "*", left, right)
    if sign == "×":
        both = is_matrix(left) or is_matrix(right)
        return syntax.Binary("@" if both else "*", left, right)
    return syntax.Binary("@", left, right)


def is_number(tree: Tree) -> bool:
    """Return whether a tree is surely no array."""
    match tree:
        case PrintedFigure():
            return True
        case syntax.Negative(operand):
            return is_number(operand)
        case syntax.Binary("@", _, _):
            return False
        case syntax.Binary("/", left, right):
            return is_number(left) and not isinstance(right, syntax.Array)
        case syntax.Binary(_, left, right) | syntax.Power(left, right):
            return is_number(right) and is_number(left)
        case syntax.Call(function, arguments):
            plain = function in ("sqrt", "max", "min") and not any(
                isinstance(item, syntax.Array) for item in arguments
            )
            return plain or (function in _SCALAR_CALLS and all(map(is_number, arguments)))
        case syntax.Indexed(_, keys):
            return len(keys) == 2 and all(isinstance(key, int) for key in keys)
        case syntax.Cell(_, places):
            return len(places) == 2
    return False


def is_matrix(tree: Tree) -> bool:
    """Return whether a tree is written as matrices are."""
    match tree:
        case Named(name):
            return name[:1].isupper() and (len(name) <= 2 or name[1] == "_")
        case syntax.Transposed() | syntax.Binary("@", _, _):
            return True
        case syntax.Array(items):
            return bool(items) and isinstance(items[0], syntax.Array)
    return False


def _shape(array: syntax.Array) -> tuple[int, ...]:
    first = array.items[0] if array.items else None
    inner = (len(first.items),) if isinstance(first, syntax.Array) else ()
    return len(array.items), *inner


def _fit(left: syntax.Array, right: syntax.Array, sign: str) -> bool:
    """Return whether two arrays have a matrix product."""
    if sign == "×" and len(_shape(left)) == len(_shape(right)) == 1:
        return False
    return _shape(left)[-1] == _shape(right)[0]


#: Names of matrices that are no letter: ``W1``, ``dS``, ``Wq``.
_LETTERS = re.compile("[A-Za-z][0-9]++|d[A-Z]|W[qkvo]")
#: What is counted has so many digits at most.
_COUNT = 2


def stands_beside(grammar: Grammar, left: Tree) -> bool:
    """Return whether a product goes on without a sign."""
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
            is_glued = isinstance(left, PrintedFigure) and not token.spaced
            return is_glued or (grammar.latex and not isinstance(left, Named))
        return token.text == "{" or token.text[1:] in MATRICES
    return False


def _is_letter(grammar: Grammar, at: int) -> bool:
    """Return whether a name in plain text is one letter, perhaps with an index."""
    text = grammar.tokens[at].text
    if len(text) == 1:
        if not grammar.tokens[at].spaced and grammar.tokens[at - 1].kind == "number":
            # "268M" is a size, no product.
            return text not in "kMBG"
        scripted = at + 1 < grammar.end and grammar.tokens[at + 1].kind == "script"
        glued = not grammar.tokens[at].spaced
        return text.isupper() or glued or scripted or not text.isascii()
    return _LETTERS.fullmatch(text) is not None


def is_factor(grammar: Grammar, at: int, right: Tree) -> bool:
    """Return whether what stands in brackets behind a blank is a factor, and no remark."""
    token = grammar.tokens[at]
    if grammar.latex or token.text != "(" or not token.spaced:
        return True
    return not (isinstance(right, Named | syntax.Array | syntax.Sequence) or is_number(right))


def looked_up(grammar: Grammar, at: int, left: Tree, right: Tree) -> Tree | None:
    """The entry that words, or a count, in brackets name: ``A(cat, sat)``, ``P(2)``; nothing where
    they are factors."""
    if grammar.tokens[at].text != "(" or grammar.tokens[at].spaced or not isinstance(left, Named):
        return None
    match right:
        case syntax.Sequence(items):
            return syntax.Call(left.name, items)
        case Named(name) if len(name) > 2 and name.isalpha():
            return syntax.Call(left.name, (right,))
        case PrintedFigure(text) if text.isdigit() and len(text) <= _COUNT:
            return syntax.Indexed(left, (int(text),))
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


def _about(member: Member, link: Link | None) -> Member:
    """A member behind a link: behind "≈" zeros that end a whole number are not its digits."""
    if link == "≈" and isinstance(member, PrintedFigure) and about(f"~{member.text}"):
        return replace(member, text=f"~{member.text}")
    return member


@dataclass
class OpenChain:
    """A chain that may begin or end with a link: ``= 0.5``, ``A =``."""

    members: list[Member] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    before: Link | None = None
    after: Link | None = None
    #: Whether a comma ends it.
    comma: bool = False

    def add(self, member: Member, span: Span) -> None:
        """The next member, behind the link that waits for one."""
        if self.members:
            self.links.append(self.after or "=")
        elif self.after:
            self.before = self.after
        self.after = None
        self.members.append(member)
        self.spans.append(span)

    def link(self, link: Link) -> None:
        """A link; of several, the one that claims least."""
        current = self.after
        weaker: tuple[Link, ...] = ("→", "≈", ":")
        self.after = next((candidate for candidate in weaker if candidate in (link, current)), link)

    def chain(self) -> Chain:
        """The chain as it is."""
        links, spans = tuple(self.links), tuple(self.spans)
        members = tuple(map(_about, self.members, [self.before, *links]))
        return Chain(members, links, spans, after="≈" if self.after == "≈" else "=")

    @property
    def is_lone(self) -> bool:
        """Return whether it is one member that nothing is said of."""
        return len(self.members) == 1 and not (self.before or self.after)


def spread(
    names: Sequence[OpenChain], chain: OpenChain, values: Sequence[OpenChain]
) -> list[OpenChain]:
    """Several names and their values in one line: ``Q, K, V = X A, X B, X C``.

    Where their numbers differ it stays open what the last name is equal to.
    """
    first, *rest = chain.members
    if len(names) != len(values):
        head = Opaque(first.name, chain.spans[0]) if isinstance(first, Named) else first
        return [*names, replace(chain, members=[head, *rest]), *values]
    drafts: list[OpenChain] = []
    named = [(draft.members[0], draft.spans[0]) for draft in (*names, chain)]
    contents = [(rest, chain.spans[1:], chain.links)] + [
        (draft.members, draft.spans, [*chain.links[:1], *draft.links]) for draft in values
    ]
    for (name_, place), (members, spans, links) in zip(named, contents, strict=True):
        drafts.append(OpenChain([name_, *members], [place, *spans], list(links)))
    return drafts


def join_drafts(pieces: Iterable[Words | OpenChain]) -> tuple[Words | Chain, ...]:
    """Pieces in order; a chain that goes on in the next piece is one."""
    parts: list[Words | OpenChain] = []
    for piece in pieces:
        if isinstance(piece, Words):
            if piece.text.strip() or piece.figures:
                parts.append(piece)
            continue
        last = parts[-1] if parts else None
        if isinstance(last, OpenChain) and (last.after or piece.before):
            last.link(piece.before or last.after or "=")
            for i, (member, span) in enumerate(zip(piece.members, piece.spans, strict=True)):
                if i:
                    last.link(piece.links[i - 1])
                last.add(member, span)
            if piece.after:
                last.link(piece.after)
            continue
        if piece.members:
            parts.append(piece)
    return tuple(piece.chain() if isinstance(piece, OpenChain) else piece for piece in parts)
