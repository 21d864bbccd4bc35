"""What an article was understood to compute and to print, every number accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from symattn import syntax
from symattn.documents.article import Article
from symattn.documents.text import Span
from symattn.documents.trees import Passage
from symattn.numbers.rows import Numbers
from symattn.shapes import Nested

#: What became of a printed number: an input where it is given, the value of a quantity,
#: part of arithmetic that carries its own operands, recognised as no claim (a year, a
#: size, the number of a section), or not understood.
Status = Literal["given", "bound", "local", "ignored", "unread"]


@dataclass(frozen=True)
class ArticleNumber:
    """A number that the article prints, and what became of it.

    ``of`` is what it is the value of, ``A[0, 1]``; '' where that is not known.
    ``confirmed`` where the article doesn't say so plainly, and its value agrees.
    """

    text: str
    span: Span
    status: Status
    of: str = ""
    confirmed: bool = False
    why: str = ""


@dataclass(frozen=True)
class ReadInput:
    """An input: its numbers, and where they stand; nowhere where a side file says them."""

    numbers: Numbers
    span: Span | None

    @property
    def entries(self) -> Nested[str]:
        """The numbers as they were written."""
        texts: Nested[str] = self.numbers.written
        return texts


@dataclass(frozen=True)
class ReadStep:
    """A step: the tree of its expression, and where the article says it; ``assumed`` where
    it doesn't, but the recipe is known by its name."""

    tree: syntax.Tree
    span: Span | None = None
    assumed: bool = False

    @cached_property
    def expression(self) -> str:
        """The expression as walkthrough files have it."""
        return syntax.text(self.tree)


@dataclass(frozen=True)
class Claimed:
    """A claim as a walkthrough file has it: ``key`` is ``of``, ``as_printed`` or
    ``holds``, ``tree`` what stands under it; ``printed`` and ``spans`` have the figures
    and their places in the same nesting. ``where`` is the heading that it stands under."""

    key: Literal["of", "as_printed", "holds"]
    tree: syntax.Tree
    where: str
    span: Span
    printed: Nested[str] | None = None
    spans: Nested[Span] | None = None
    confirmed: bool = False

    @cached_property
    def text(self) -> str:
        """The expression or the statement."""
        return syntax.text(self.tree)


@dataclass(frozen=True)
class OpenQuestion:
    """What could be read in more than one way, or not at all: its place, and why."""

    what: str
    why: str
    span: Span


@dataclass(frozen=True)
class Reading:
    """An article understood.

    ``numbers`` are all that it prints, in order; ``assumptions`` are sentences that
    every report repeats. ``unfit`` are claims that turned out to fit no recipe.
    ``passages`` are what the article was read as.
    """

    article: Article
    given: Mapping[str, ReadInput] = field(default_factory=dict)
    steps: Mapping[str, ReadStep] = field(default_factory=dict)
    loss: Mapping[str, object] | None = None
    claims: tuple[Claimed, ...] = ()
    tokens: tuple[str, ...] = ()
    numbers: tuple[ArticleNumber, ...] = ()
    assumptions: tuple[str, ...] = ()
    open: tuple[OpenQuestion, ...] = ()
    unfit: tuple[OpenQuestion, ...] = ()
    passages: tuple[Passage, ...] = field(default=(), repr=False, compare=False)
