"""Chains while they are read: members between links, either of which may be missing
where a part of a paragraph begins or ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from symattn.documents.text import Span
from symattn.documents.trees import Chain, Link, Member, Named, Opaque, Words


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
        return Chain(tuple(self.members), tuple(self.links), tuple(self.spans))

    @property
    def is_lone(self) -> bool:
        """Whether it is one member that nothing is said of."""
        return len(self.members) == 1 and not (self.before or self.after)


def spread(
    names: Sequence[OpenChain], chain: OpenChain, values: Sequence[OpenChain]
) -> list[OpenChain]:
    """Several names and their values in one line: ``Q, K, V = X A, X B, X C``.

    Where their numbers differ it stays open what the last name is equal to.
    """
    first, *rest = chain.members
    if len(names) != len(values):
        name = first.name if isinstance(first, Named) else ""
        return [*names, replace(chain, members=[Opaque(name, chain.spans[0]), *rest]), *values]
    drafts: list[OpenChain] = []
    named = [(draft.members[0], draft.spans[0]) for draft in (*names, chain)]
    contents = [(rest, chain.spans[1:], chain.links)] + [
        (draft.members, draft.spans, [*chain.links[:1], *draft.links]) for draft in values
    ]
    for (name_, place), (members, spans, links) in zip(named, contents, strict=True):
        drafts.append(OpenChain([name_, *members], [place, *spans], list(links)))
    return drafts


def joined(pieces: Iterable[Words | OpenChain]) -> tuple[Words | Chain, ...]:
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
