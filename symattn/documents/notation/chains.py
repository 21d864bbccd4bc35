"""Chains of equalities, in formulas and among words: where they begin, and where they end.

While they are read, either link around a member may be missing where a part of a paragraph
begins or ends.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from symattn.documents.notation.grammar import Grammar, figures_in
from symattn.documents.notation.tokens import (
    NotationToken,
    laid_flat,
    latex_tokens,
    outside,
    plain_tokens,
)
from symattn.documents.notation.vocabulary import COUNTED, JOINING, may_be_word, plain_name
from symattn.documents.text import Span, Text
from symattn.documents.trees import (
    Chain,
    Labelled,
    Link,
    Member,
    Named,
    Opaque,
    PrintedFigure,
    Words,
    contained,
    opaque,
    walk,
)
from symattn.expressions import syntax
from symattn.spelling import about


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


# -- formulas ----------------------------------------------------------------------------

#: Kinds of tokens that end a chain, or a condition.
_ENDS = ("separator", "row", "words")


def read_formula(text: Text) -> tuple[Chain | Words, ...]:
    r"""A formula in LaTeX as its chains, and the words between them.

    >>> chain, = read_formula(Text.whole(r"S = \frac{Q K^\top}{\sqrt{4}} \approx 0.50"))
    >>> chain.links, chain.members[2]
    (('=', '≈'), PrintedFigure(text='0.50', span=Span(start=38, end=42)))
    """
    return join_drafts(formula_drafts(text))


def formula_drafts(text: Text) -> Iterator[Words | OpenChain]:
    """The chains and the words of a formula, not yet joined with what is around it."""
    grammar = Grammar(text, laid_flat(latex_tokens(text.string)), latex=True)
    return _spread(_Formula(grammar).read())


def _spread(pieces: Iterable[Words | OpenChain]) -> Iterator[Words | OpenChain]:
    """Pieces, names and values that commas part put together."""
    names: list[OpenChain] = []
    ahead = deque(pieces)
    while ahead:
        piece = ahead.popleft()
        match piece:
            case OpenChain(members=[Named()], is_lone=True):
                names.append(piece)
                if piece.comma:
                    continue
                yield from names
            case OpenChain(links=[_, *_]) if names:
                values: list[OpenChain] = []
                while len(values) < len(names) and ahead and piece.comma:
                    value = ahead[0]
                    if not isinstance(value, OpenChain) or not value.is_lone:
                        break
                    values.append(value)
                    ahead.popleft()
                yield from spread(names, piece, values)
            case _:
                yield from (*names, piece)
        names = []
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
            elif _is_said(token) and not self.is_label(at):
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
        r"""Return whether words name what follows: ``\text{Attention weights} = ...``."""
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


def _is_said(token: NotationToken) -> bool:
    return token.kind == "words" or (token.text in JOINING and len(token.text) > 1)


def _goes_on(grammar: Grammar, at: int) -> bool:
    """Return whether behind an arrow of logic a relation follows before the chain ends."""
    ahead = (grammar.tokens[at] for at in outside(grammar.partners, at, len(grammar.tokens)))
    ending = next((token for token in ahead if token.kind in ("relation", *_ENDS)), None)
    return ending is not None and ending.kind == "relation" and ending.text != "⇒"


# -- among words -------------------------------------------------------------------------

#: Signs that make one word of what they stand between.
_JOINED = frozenset("-‐‑_$#")
#: Kinds of tokens that a formula may begin with.
_STARTS = frozenset(("number", "name", "open", "operator", "command"))


def read_parts(parts: Iterable[tuple[str, Text]]) -> tuple[Words | Chain, ...]:
    """A paragraph of parts of text, of mathematics and of code in a line.

    >>> line = Text.whole("Row 0: 0.50 + 0.50 = 1.00 ✓")
    >>> words, chain = read_parts([("text", line)])[:2]
    >>> words.text, chain.links, chain.span
    ('Row 0: ', ('=',), Span(start=7, end=25))
    """
    pieces = join_drafts(_drafts(_apart(parts)))
    return tuple(map(_entire, pieces, (*pieces[1:], None)))


def _entire(piece: Words | Chain, behind: Words | Chain | None) -> Words | Chain:
    """A piece; an array that goes on as "[0.5, 1.5]..." is not understood."""
    match piece, behind:
        case Chain((*before, Labelled(span=span) as array)), Words(text) if text.startswith(
            ("...", "…")
        ):
            figures = tuple(one for one in walk(array) if isinstance(one, PrintedFigure))
            return replace(piece, members=(*before, Opaque(f"[{text}", span, figures)))
    return piece


#: A gap as wide as a column, before something that is said to be equal; or any, where numbers are
#: given to names one after another: "A=0.84 B=0.11".
_COLUMN = re.compile(
    r"(?<=\S)(?P<wide>[ \t]{3,}+)(?=[^\s=≈]{1,16}+[ \t]*+[=≈])"
    r"|(?<=\w)[=≈][+-]?[0-9.]++%?+(?P<gap>[ \t]++)(?=[^\W\d]\w{0,15}+[=≈][+-]?[0-9.]++%?+(?!\S))"
)


def _apart(parts: Iterable[tuple[str, Text]]) -> Iterator[tuple[str, Text]]:
    """The parts, equations that stand in columns beside each other each by itself."""
    for kind, text in parts:
        at = 0
        for match in _COLUMN.finditer(text.string) if kind != "math" else ():
            start, end = match.span(match.lastgroup or 0)
            yield kind, text[at:start]
            at = end
        yield kind, text[at:]


def _drafts(parts: Iterable[tuple[str, Text]]) -> Iterator[Words | OpenChain]:
    for kind, text in parts:
        yield from contained(partial(_drafts_of, kind, text), partial(_unread, text))


def _drafts_of(kind: str, text: Text) -> Iterator[Words | OpenChain]:
    if kind == "math":
        return formula_drafts(text)
    return _Prose(text, is_code=kind == "code").read()


def _unread(text: Text, why: str) -> OpenChain:
    return OpenChain([opaque(why, text)], [text.span()])


class _Prose:
    """One walk over the tokens of a line."""

    def __init__(self, text: Text, is_code: bool) -> None:
        self.text = text
        self.grammar = Grammar(text, plain_tokens(text.string, prose=not is_code), latex=False)
        self.tokens = self.grammar.tokens
        self.is_code = is_code
        #: Behind the first member of the chain that was read last.
        self.first = 0

    def read(self) -> Iterator[Words | OpenChain]:
        at = written = 0
        is_mentioned = False
        while at < len(self.tokens):
            if self.is_passed(at):
                at += 1
                continue
            if self.tokens[at].kind == "condition":
                at = max(self.boundary(at + 1), at + 1)
                continue
            draft, after = self.chain(at)
            if draft is not None and self.is_said(draft, at, after):
                if draft.links and self.is_cut(at, at == written and is_mentioned):
                    # What stands right before it may be part of its first member.
                    draft.members[0] = self.grammar.opaque(at, self.first)
                names = self.names(written, at) if draft.links else []
                yield from self.words(written, names[0][0] if names else at)
                if names:
                    values, after = self.values(after, len(names))
                    yield from spread([self.lone(*name) for name in names], draft, values)
                else:
                    yield draft
                written, is_mentioned = after, not draft.links
            at = max(after, at + 1)
        yield from self.words(written, len(self.tokens))

    def names(self, start: int, at: int) -> list[tuple[int, int]]:
        """The names right before a chain, parted by commas: ``Q, K, V = ...``."""
        names: list[tuple[int, int]] = []
        while at - 2 >= start and self.tokens[at - 1].text == ",":
            begun = at - 2
            if begun - 2 >= start and self.tokens[begun - 1].kind == "script":
                begun -= 2
            token = self.tokens[begun]
            if token.kind != "name" or may_be_word(token.text) or token.text in JOINING:
                break
            names.insert(0, (begun, at - 1))
            at = begun
        return names

    def lone(self, start: int, end: int) -> OpenChain:
        """One member that nothing is said of."""
        return OpenChain([self.grammar.member(start, end)], [self.grammar.span(start, end)])

    def values(self, at: int, count: int) -> tuple[list[OpenChain], int]:
        """Read so many values behind commas, or fewer."""
        drafts: list[OpenChain] = []
        while len(drafts) < count and at < len(self.tokens) and self.tokens[at].text == ",":
            member, after = self.member(at + 1, further=True)
            if member is None:
                break
            drafts.append(OpenChain([member], [self.grammar.span(at + 1, after)]))
            at = after
        return drafts, at

    def is_passed(self, at: int) -> bool:
        """Return whether a token is a word among words: nothing begins with it."""
        token = self.tokens[at]
        if token.kind != "name" or len(token.text) < 2 or at + 1 >= len(self.tokens):
            return token.kind in ("separator", "close")
        following = self.tokens[at + 1]
        return following.spaced and following.kind in ("name", "number", "open")

    def is_cut(self, at: int, is_mentioned: bool) -> bool:
        """Return whether a chain may begin in the middle of an expression: right behind another
        one, or with an operation on the last of several words."""
        token, following = self.tokens[at], self.tokens[at + 1]
        if is_mentioned and at and self.tokens[at - 1].kind not in ("close", "separator"):
            return token.text not in ("[", "(")
        before = self.tokens[at - 1] if at else None
        return (
            may_be_word(token.text)
            and following.kind == "operator"
            and before is not None
            and before.kind == "name"
            and may_be_word(before.text)
            and before.text.lower() not in JOINING
        )

    def words(self, start: int, end: int) -> Iterator[Words]:
        """The words between two formulas, with blanks around them."""
        first = self.tokens[start - 1].end if start else 0
        last = self.tokens[end].start if end < len(self.tokens) else len(self.text)
        if first < last:
            text = self.text[first:last]
            yield Words(text.string, text.span(), self.grammar.figures(start, end))

    def chain(self, at: int) -> tuple[OpenChain | None, int]:
        """The chain that begins at a token, and what is behind it."""
        draft = OpenChain()
        behind = at
        if at == 0 and self.tokens[0].kind == "relation":
            at = self.links(draft, 0)
        elif not self.starts(at):
            return None, at
        while True:
            member, after = self.member(at, bool(draft.members))
            if member is None:
                if at == len(self.tokens):
                    return (draft if draft.members else None), at
                draft.after = None
                return (draft, behind) if draft.members else (None, after)
            draft.add(member, self.grammar.span(at, after))
            if len(draft.members) == 1:
                self.first = after
            behind = after
            at = self.links(draft, after)
            if at == after:
                return draft, after

    def starts(self, at: int) -> bool:
        """Return whether a formula may begin at a token."""
        token = self.tokens[at]
        if token.kind not in _STARTS:
            return False
        before = self.tokens[at - 1] if at else None
        if token.kind == "operator":
            # A sign, but not a dash, nor the hyphen of a word.
            following = self.tokens[at + 1 : at + 2]
            sign = token.text in "+-" and following and not following[0].spaced
            # Behind "：" no blank stands.
            return bool(sign) and (
                before is None
                or token.spaced
                or before.kind == "open"
                or (before.kind == "other" and not before.text.isalnum())
            )
        if before is not None and not token.spaced and before.kind in ("number", "name", "script"):
            return False
        if before is not None and before.text == "." and not (token.spaced or before.spaced):
            # An attribute, or a product with a point: "q1.k2".
            return token.kind != "name"
        if token.kind == "number" and token.text.isdigit() and before is not None:
            return not (before.kind == "name" and before.text.lower() in COUNTED)
        return True

    def links(self, draft: OpenChain, at: int) -> int:
        """The relations at a place as one link."""
        begun = at
        while at < len(self.tokens) and self.tokens[at].kind == "relation":
            text = self.tokens[at].text
            draft.link("→" if text == "⇒" else cast(Link, text))
            at += 1
        is_colon = at == begun and at < len(self.tokens) and self.tokens[at].text == ":"
        if is_colon and len(draft.members) == 1 and self.is_label(draft.members[0], begun):
            draft.link(":")
            at = self.links(draft, at + 1)
        return at

    def is_label(self, member: Member, at: int) -> bool:
        """Return whether a colon behind a member says what it is."""
        known = isinstance(member, Named | syntax.Gradient | syntax.Indexed | syntax.Cell)
        if not known or (_is_word(member) and at > 1) or at + 1 >= len(self.tokens):
            return False
        following = self.tokens[at + 1]
        return following.kind != "name" or len(following.text) == 1

    def member(self, at: int, further: bool) -> tuple[Member | None, int]:
        """The member that begins at a token; opaque where it goes on with what isn't
        understood."""
        if at >= len(self.tokens):
            return None, at
        grammar = self.grammar
        tree = grammar.prefix(at, len(self.tokens))
        after = grammar.at
        if tree is None:
            if not further or self.is_worded(at):
                return None, after
            after = at + (self.tokens[at].kind != "open")
        elif self.is_settled(after):
            if further and isinstance(tree, Named) and _is_word(tree) and self.word_at(after):
                return None, at
            match tree:
                case syntax.Binary("-" | "+", left, right) if _is_word(right):
                    if self.word_at(after):
                        # A dash before the word made it part of the member.
                        return cast(Member, left), after - 2
            return tree, after
        stop = self.boundary(after)
        is_related = stop < len(self.tokens) and self.tokens[stop].kind == "relation"
        if tree is not None and not (further or is_related):
            return tree, after
        return (grammar.opaque(at, stop), stop) if stop > at else (None, at)

    def is_worded(self, at: int) -> bool:
        """Return whether what isn't understood is words, and no expression."""
        token, following = self.tokens[at], self.tokens[at + 1 : at + 2]
        if token.kind == "name":
            return not (following and following[0].text == "(" and not following[0].spaced)
        return token.kind not in ("open", "command", "operator", "number")

    def word_at(self, at: int) -> bool:
        """Return whether a word follows."""
        token = self.tokens[at] if at < len(self.tokens) else None
        return token is not None and token.kind == "name" and token.spaced

    def is_settled(self, at: int) -> bool:
        """Return whether an expression may end before a token."""
        if at >= len(self.tokens):
            return True
        token = self.tokens[at]
        if token.kind in ("separator", "close", "relation", "row", "cell", "condition"):
            return True
        if token.kind in ("other", "prime"):
            return token.spaced or token.text not in _JOINED
        if token.kind == "operator":
            return token.text == "-" and token.spaced
        if token.kind == "name" and not may_be_word(token.text):
            # A letter that something is done with is no remark.
            following = self.tokens[at + 1 : at + 2]
            return token.spaced and not (following and following[0].kind == "operator")
        return token.spaced and token.kind in ("name", "open", "number", "command")

    def boundary(self, at: int) -> int:
        """Return where what isn't understood ends."""
        partners = self.grammar.partners
        limit = at + 200
        while at < len(self.tokens) and at < limit:
            token = self.tokens[at]
            if partners[at] > at:
                at = partners[at]
            elif (
                token.kind in ("relation", "separator", "close")
                or (token.kind == "name" and token.spaced and _is_word(Named(token.text)))
                or (token.kind == "other" and token.text in ".:;—")
            ):
                break
            at += 1
        return at

    def is_said(self, draft: OpenChain, start: int, end: int) -> bool:
        """Return whether a chain is one, and not words that look like it."""
        if start == 0 and draft.before:
            return True
        last = draft.members[-1]
        is_count = isinstance(last, PrintedFigure) and last.text.isdigit() and self.word_at(end)
        if is_count and draft.links == [":"]:
            # Of what is said next: "mask: 6 sets".
            return False
        whole = start == 0 and end == len(self.tokens)
        if len(draft.members) > 1 or draft.after:
            if draft.after == "=" or not all(isinstance(item, Named) for item in draft.members):
                return True
            words = any(_is_word(member) for member in draft.members)
            return not words or (whole and "→" not in draft.links)
        return (whole and self.is_code) or _is_mathematics(draft.members[0])


def _is_word(member: Member) -> bool:
    """Return whether a name may be an ordinary word."""
    return isinstance(member, Named) and may_be_word(member.name)


def _is_mathematics(member: Member) -> bool:
    """Return whether a member that nothing is said of is more than a word or a number."""
    match member:
        case Labelled(items):
            return len(items) > 1 or isinstance(items[0], Labelled)
        case syntax.Transposed() | syntax.Gradient() | syntax.Call():
            return True
        case syntax.Indexed() | syntax.Cell() | syntax.Power():
            return True
        case syntax.Negative(operand):
            return _is_mathematics(operand)
        case syntax.Binary(_, left, right):
            if any("." in figure.text for figure in figures_in(member)):
                return True
            return any(_is_mathematics(side) or _is_letter(side) for side in (left, right))
    return False


def _is_letter(member: Member) -> bool:
    return isinstance(member, Named) and not _is_word(member)
