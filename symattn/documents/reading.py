"""The reading of an article: what it computes and prints, every number accounted for; the names
that it never says anything of, and the case file that it amounts to."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Literal

from symattn.documents.article import Article
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Named, Passage, ReadTable, walk
from symattn.escaping import visible
from symattn.expressions import syntax
from symattn.expressions.shapes import Nested
from symattn.numbers.rows import Numbers
from symattn.tables.file import text, written

#: What became of a printed number: an input where it is given, the value of a quantity,
#: part of arithmetic that carries its own operands, recognised as no claim (a year, a
#: size, the number of a section), or not understood.
Status = Literal["given", "bound", "local", "ignored", "unread"]


@dataclass(frozen=True)
class ArticleNumber:
    """A number that the article prints, and what became of it.

    ``of`` is what it is the value of, ``A[0, 1]``; '' where that is not known.
    ``confirmed`` where the article doesn't say so plainly, and its value agrees; ``is_exact``
    where it is all of what it shows, and no rounding of it. ``source`` is where the result begins
    that it copies; -1 of none.
    """

    text: str
    span: Span
    status: Status
    of: str = ""
    confirmed: bool = False
    why: str = ""
    is_exact: bool = False
    source: int = -1


@dataclass(frozen=True)
class ReadInput:
    """An input: its numbers, and where they stand; nowhere where a side file says them.
    ``is_rounded`` where they have more digits than are shown."""

    numbers: Numbers
    span: Span | None
    is_rounded: bool = False

    @property
    def entries(self) -> Nested[str]:
        """The numbers as they were written."""
        texts: Nested[str] = self.numbers.written
        return texts


@dataclass(frozen=True)
class ReadStep:
    """A step: the tree of its expression, and where the article says it; ``assumed`` where
    it doesn't, but the recipe is known by its name; ``guessed`` where a program makes it in a
    way that isn't understood, and its figures alone suggest it."""

    tree: syntax.Tree
    span: Span | None = None
    assumed: bool = False
    guessed: bool = False

    @cached_property
    def expression(self) -> str:
        """The expression as case files have it."""
        return syntax.text(self.tree)


@dataclass(frozen=True)
class Stated:
    """A closed statement: what is ``said`` of figures, the ``formula`` that is meant by that,
    which of its numbers are ``exact``, and where figures stand that are wrong, so that these
    ``follow`` from them. What ``is_run`` comes of a program."""

    said: syntax.Tree
    formula: syntax.Tree
    exact: tuple[bool, ...] = ()
    follows: tuple[int, ...] = ()
    is_run: bool = False


@dataclass(frozen=True)
class Claimed:
    """A claim as a case file has it: ``key`` is ``of``, ``as_printed`` or
    ``holds``, ``tree`` what stands under it; ``printed`` and ``spans`` have the figures
    and their places in the same nesting. ``where`` is the heading that it stands under,
    ``basis`` what its binding rests on; ``doubt`` says why it refutes nothing, '' where
    it is sure what it is of; ``trust`` has the bits for its being that, and wrong,
    -inf where not even what agrees says that it is; within ``reach`` lies what it may be as
    inputs are shown rounded, or as floats are. ``stated`` is of a closed statement, whose
    ``tree`` has the numbers that are printed of its operands."""

    key: Literal["of", "as_printed", "holds"]
    tree: syntax.Tree
    where: str
    span: Span
    printed: Nested[str] | None = None
    spans: Nested[Span] | None = None
    doubt: str = ""
    basis: str = ""
    trust: float = inf
    reach: float = 0.0
    stated: Stated | None = None

    @cached_property
    def text(self) -> str:
        """The expression or the statement, as it is said."""
        return syntax.text(self.stated.said if self.stated else self.tree)


@dataclass(frozen=True)
class OpenQuestion:
    """A question left open: what could be read in more than one way, or not at all: its place, and
    why."""

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


UNDEFINED = "not defined by anything read; define it in a note, as 'symattn read --help' shows"


def undefined(reading: Reading) -> tuple[OpenQuestion, ...]:
    """The names in formulas with figures that were not read, where these begin no chain and
    are no part of the recipe; each once, at its first place.

    >>> from pathlib import Path
    >>> from symattn.documents.binding.binder import read
    >>> from symattn.documents.files import article
    >>> reading = read(article(Path("post.md"), b"So $Q = 2 X = [2, 4.0]$."))
    >>> [one.what for one in undefined(reading)]
    ['X']
    """
    unread = [number.span.start for number in reading.numbers if number.status == "unread"]
    if not unread:
        return ()
    all_chains = list(chains(reading))
    known = {*reading.given, *reading.steps}
    for chain in all_chains:
        if len(chain.members) > 1:
            known |= {part.name for part in chain.members if isinstance(part, syntax.Name)}
    places: dict[str, Span] = {}
    for chain in all_chains:
        at = bisect_left(unread, chain.span.start)
        if at == len(unread) or unread[at] >= chain.span.end or len(chain.members) == 1:
            continue
        for member in chain.members:
            # What stands in an array tells its shape, as "[n, d_k]" does.
            for part in () if isinstance(member, syntax.Array) else walk(member):
                if isinstance(part, Named) and part.name not in known:
                    places.setdefault(part.name, part.span)
    return tuple(OpenQuestion(name, UNDEFINED, span) for name, span in places.items())


def chains(reading: Reading) -> Iterator[Chain]:
    """All chains in their order, in tables as well."""
    for passage in reading.passages:
        for piece in passage.pieces:
            parts = piece.pieces if isinstance(piece, ReadTable) else (piece,)
            yield from (part for part in parts if isinstance(part, Chain))


#: Why a case file does without a figure that holds within what an article shows.
_ROUNDED = "it holds only within the rounding of its operands"
#: Numbers that TOML has as well, with their zeros.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,40})?\Z")


def case_text(reading: Reading) -> str:
    """A case file with what an article gives, computes and prints, each with its
    line; an audit of it judges the same figures. What is doubted is not claimed: a case
    file says only what is sure.

    >>> from pathlib import Path
    >>> article = Article(Path("post.md"), "markdown", "X = [1, 2.50]\\nA = softmax(X)", ())
    >>> given = {"X": ReadInput(Numbers.read(("1", "2.50")), Span(4, 13))}
    >>> steps = {"A": ReadStep(syntax.parse("softmax(X)"), Span(14, 15))}
    >>> made = case_text(Reading(article, given, steps))
    >>> print(made[made.index("[given]") :])
    [given]
    X = [1, 2.50]    # line 1
    <BLANKLINE>
    [steps]
    A = "softmax(X)"    # line 2
    <BLANKLINE>
    """
    return "\n".join(_lines(reading))


def _lines(reading: Reading) -> Iterator[str]:
    article = reading.article
    name = article.path.name
    yield f"# What {visible(name)} was understood to compute and to print:"
    yield "# 'symattn audit' says which of its figures are wrong."
    yield ""
    yield f"title = {text(article.title or name)}"
    yield f"source = {text(name)}"
    if reading.tokens:
        yield f"tokens = {written(reading.tokens)}"
    yield from ("", "[given]")
    for key, quantity in reading.given.items():
        at = "" if quantity.span is None else f"    # {_line(reading, quantity.span)}"
        yield f"{key} = {_numbers(quantity.entries)}{at}"
    yield from ("", "[steps]")
    for key, step in reading.steps.items():
        at = "    # assumed" if step.assumed else ""
        if step.span is not None:
            at = f"    # {_line(reading, step.span)}"
        yield f"{key} = {text(step.expression)}{at}"
    if reading.loss is not None:
        yield from ("", "[loss]")
        for key, value in reading.loss.items():
            yield f"{key} = {written(value)}"
    doubted = []
    for claim in reading.claims:
        why = claim.doubt or (_ROUNDED if claim.reach else "")
        if why:
            doubted.append(OpenQuestion(claim.text, why, claim.span))
        else:
            yield from _claim(reading, claim)
    for left in (*reading.open, *reading.unfit, *doubted):
        yield from ("", "[[unchecked]]", f"where = {text(_line(reading, left.span))}")
        yield f"what = {text(left.what or '?')}"
        yield f"reason = {text(left.why or 'not read')}"
    yield ""


def _line(reading: Reading, span: Span) -> str:
    return reading.article.said(span.start)


def _claim(reading: Reading, claim: Claimed) -> Iterator[str]:
    at = _line(reading, claim.span)
    where = f"{claim.where}, {at}" if claim.where else at
    said = syntax.text(claim.tree)
    yield from ("", "[[claims]]", f"where = {text(where)}", f"{claim.key} = {text(said)}")
    if claim.printed is not None:
        yield f"printed = {written(claim.printed)}"


def _numbers(entries: Nested[str]) -> str:
    """Numbers as TOML has them, and as text where it has none."""
    if isinstance(entries, str):
        return entries if _NUMBER.match(entries) else text(entries)
    rows = [_numbers(entry) for entry in entries]
    if entries and not isinstance(entries[0], str):
        return "\n".join(["[", *(f"    {row}," for row in rows), "]"])
    return f"[{', '.join(rows)}]"
