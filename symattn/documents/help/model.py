"""What an author says to symattn, whichever way it was said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from symattn import syntax
from symattn.documents.text import Span
from symattn.errors import Fault, Faults, Malformed
from symattn.shapes import Nested


class Origin(NamedTuple):
    """Where something was said: the file and the line; ``where`` is the path inside a
    side file, ``span`` that of a note in the article."""

    path: Path
    line: int
    where: str = ""
    span: Span | None = None

    def fault(self, message: str) -> Fault:
        """What is wrong with it."""
        return Fault(self.where, message, self.line)


@dataclass(frozen=True)
class WrittenValue:
    """Numbers as they were written, in their nesting."""

    entries: Nested[str]
    said: Origin


@dataclass(frozen=True)
class HelpExpression:
    """An expression in the grammar of walkthrough files."""

    text: str
    tree: syntax.Tree
    said: Origin


@dataclass(frozen=True)
class FigureHelp:
    """The values that are printed in ``span`` are, in their order, those of
    ``expressions``; of a note the first ones behind it. With a ``text`` only the figures
    that are written so."""

    span: Span
    expressions: tuple[HelpExpression, ...]
    text: str = ""


@dataclass(frozen=True)
class Under:
    """What stands in ``span`` is to be read as if it stood under a heading of these ``words``."""

    span: Span
    words: str


@dataclass
class Help:
    """What the author of an article says of it.

    ``given`` and ``steps`` have names of their own or of the article, whose meaning
    they replace; ``aliases`` have phrases, in lower case; ``ignored`` are pieces of
    the article that claim nothing. ``places`` says where names, ``tokens`` and the
    like were said.
    """

    given: dict[str, WrittenValue] = field(default_factory=dict)
    steps: dict[str, HelpExpression] = field(default_factory=dict)
    aliases: dict[str, HelpExpression] = field(default_factory=dict)
    tokens: tuple[str, ...] = ()
    ignored: list[Span] = field(default_factory=list)
    figures: list[FigureHelp] = field(default_factory=list)
    under: list[Under] = field(default_factory=list)
    count_from: int | None = None
    loss: dict[str, object] | None = None
    places: dict[str, Origin] = field(default_factory=dict)


def malformed(faults: Iterable[tuple[Origin, Fault]], more: int = 0) -> Malformed:
    """Faults of what was said in one file or in several, in the order of their lines.

    >>> where = Origin(Path("post.md"), 7)
    >>> print(malformed([(where, where.fault("unknown name 'Z'"))]))
    post.md:7: unknown name 'Z'
    """
    ordered = sorted(faults, key=lambda pair: (str(pair[0].path), pair[0].line))
    paths = {str(origin.path) for origin, _ in ordered}
    if len(paths) == 1:
        return Malformed([fault for _, fault in ordered], paths.pop(), more)
    messages = [Fault("", fault.at(str(origin.path))) for origin, fault in ordered]
    return Malformed(Faults(messages), more=more)
