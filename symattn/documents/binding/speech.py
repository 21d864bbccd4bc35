"""What words say that figures are of, over the quantities that there are."""

from __future__ import annotations

from dataclasses import replace

from symattn import syntax
from symattn.documents.binding import context, values, workings
from symattn.documents.binding.claims import Claims
from symattn.documents.binding.names import Names, usual_role
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.roles import About, Role, spoken
from symattn.documents.binding.standard import Standard
from symattn.documents.binding.subjects import Mention, Subject, subject
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
