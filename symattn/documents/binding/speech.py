"""What words say that figures are of, over the quantities that there are.

Where the reading of an article is: what headings and the last label speak of.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from symattn import syntax
from symattn.documents.binding import context, values, workings
from symattn.documents.binding.claims import Claims
from symattn.documents.binding.names import Names, usual_role
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.roles import About, Role, spoken
from symattn.documents.binding.standard import Standard
from symattn.documents.binding.subjects import Mention, Subject, subject
from symattn.documents.text import Span
from symattn.documents.trees import Member


class Speech:
    """Turns what words speak of into expressions; ``first`` is what labels of rows count
    from, ``tokens`` are these labels."""

    def __init__(
        self, recipe: Recipe, standard: Standard, names: Names, claims: Claims, first: int
    ) -> None:
        self.recipe = recipe
        self.standard = standard
        self.names = names
        self.claims = claims
        self.first = first
        self.tokens: tuple[str, ...] = ()

    def subject(self, words: str, adjacent: bool = False) -> Subject:
        """Who words speak of; ``adjacent`` where they stand right before a figure."""
        return subject(words, self.tokens, adjacent, self.standard.phrases)

    def counted(self, mention: Mention) -> int:
        """The number of a row or column from 0."""
        return mention.place - (self.first if mention.counted else 0)

    def meant(self, about: Subject, members: list[Member]) -> syntax.Tree | None:
        """What the words around a chain, or a word that it begins with, say that it is of:
        of what they may mean the one that its first value agrees with most."""
        head = members[0] if members else None
        if isinstance(head, syntax.Name):
            # What isn't defined may be called by what it is: "softmax = [0.49, 0.51]".
            role = self._by_name(head.name)
            if role is None:
                return None
            about = replace(about, role=role)
        if about.role is None:
            return None
        found = [
            tree
            for whole in self._of_role(about.role, about)
            if (tree := self._chosen(whole, about)) is not None
        ]
        value = next((one for one in members if values.is_value(one)), None)
        if value is None or len(found) < 2:
            return found[0] if found else None
        fitting = [tree for tree in found if self.claims.fits(tree, value)] or found
        # Of exponentials less their largest the sum is as well.
        worked = [tree for tree in fitting if self._follows(tree)]
        return max(worked or fitting, key=lambda tree: self.claims.agreement(tree, value))

    def is_worked(self, tree: syntax.Tree) -> bool:
        """Whether what a sum adds up was claimed before."""
        match tree:
            case syntax.Call("total", (syntax.Call("exp", (row,)),)):
                whole, first = row, workings.entry(row, 0)
                return any(
                    self.claims.is_claimed(syntax.Call("exp", (one,))) for one in (whole, first)
                )
        return False

    def _follows(self, tree: syntax.Tree) -> bool:
        """Whether it is the sum of what was claimed before, or its exponentials are of scores
        less their largest that were."""
        match tree:
            case syntax.Call("exp", (syntax.Binary("-") as row,)):
                return self.claims.is_claimed(row)
        return self.is_worked(tree)

    def is_suggested(self, member: Member) -> bool:
        """Whether a name is not defined, but called by what it is."""
        if not isinstance(member, syntax.Name) or self.names.is_defined(member.name):
            return False
        return self._by_name(member.name) is not None

    def _by_name(self, name: str) -> About | None:
        said = spoken(name.replace("_", " "), self.standard.phrases)
        return said[-1].role if said else usual_role(name)

    def _of_role(self, role: About, about: Subject) -> list[syntax.Tree]:
        """The quantities that a role may mean: "scores" are also those that are scaled or
        masked, exponentials may be of scores less their largest."""
        if not isinstance(role, str):
            made = self.standard.of(role)
            return [] if made is None else [made]
        if role in ("exponentials", "sums", "shifted"):
            rows = [self.counted(one) for one in about.mentions if not one.across]
            if not rows:
                return []
            return list(context.of_softmax(self.recipe, role, rows[0]))
        alike: tuple[Role, ...] = (role,)
        if role in ("scores", "scaled", "masked"):
            alike = (role, *(one for one in ("scores", "scaled", "masked") if one != role))
        found = [self.standard.of(alike[0])]
        found += [syntax.Name(name) for one in alike[1:] for name in self.recipe.with_role(one)]
        return [tree for tree in found if tree is not None]

    def _chosen(self, whole: syntax.Tree, about: Subject) -> syntax.Tree | None:
        """The row, column or entry of a quantity that words mention; None where it has
        none of that kind."""
        shape = self.recipe.shape(whole)
        if shape is None or not isinstance(whole, syntax.Name):
            return whole
        keys = [self.counted(one) for one in about.mentions if not one.across]
        across = [self.counted(one) for one in about.mentions if one.across]
        chosen = [*keys[:2], *across[:1]][:2] if len(keys) < 2 else keys[:2]
        if len(chosen) > len(shape):
            return None
        if any(not 0 <= key < size for key, size in zip(chosen, shape, strict=False)):
            return None
        return workings.indexed(whole, *chosen) if chosen else whole


@dataclass
class Place:
    """Where the reading is: what headings and the last label speak of; ``row`` is the row
    that was spoken of last in a section, ``topic`` what words with a colon announced there,
    ``said`` the words right before what is read."""

    headings: list[tuple[int, str, Subject]] = field(default_factory=list)
    label: Subject = field(default_factory=Subject)
    under: list[tuple[Span, str, Subject]] = field(default_factory=list)
    row: Mention | None = None
    topic: Subject = field(default_factory=Subject)
    said: str = ""

    def enter(self, level: int, words: str, about: Subject) -> None:
        """A heading begins; it ends those of its level and below."""
        self.headings = [one for one in self.headings if one[0] < level]
        self.headings.append((level, words, about))
        self.label = Subject()
        self.row, self.topic = None, Subject()
        self.speak(about)

    def speak(self, about: Subject) -> None:
        """Words speak of a row: what follows is of it, until they speak of another; of
        several, only where the first is the row already."""
        said = [(one.place, one.counted) for one in about.mentions if not one.across]
        before = None if self.row is None else (self.row.place, self.row.counted)
        if len(set(said)) == 1:
            self.row = next(one for one in about.mentions if not one.across)
        elif said and said[0] != before:
            self.row = None

    @property
    def where(self) -> str:
        """The heading that stands above, or that the author says."""
        if self.under:
            return self.under[-1][1]
        return self.headings[-1][1] if self.headings else ""

    @property
    def around(self) -> Subject:
        """What is spoken of without being said again."""
        about = Subject()
        for _, _, heading in self.under[-1:] or self.headings:
            about = heading.within(about)
        return self.label.within(about.within(Subject(self.topic.role)))
