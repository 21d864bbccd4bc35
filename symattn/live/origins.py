"""Origins of the live figures of a document: a case file, or an article."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from symattn.errors import Fault, Malformed, SymattnError
from symattn.live.figures import IN_MATHEMATICS, Figures, Paragraph
from symattn.live.names import NAMES
from symattn.live.places import How, found, without
from symattn.workers import Asker


class Origin(NamedTuple):
    """The figures that a file gives; and where live figures stand in it itself, if it is an
    article: the line of each, by its name and text."""

    figures: Figures
    lines: dict[tuple[str, str], int]
    path: Path

    def where(self, name: str, text: str) -> str:
        """Return where an article has a live figure, as errors say it; '' where nothing tells."""
        inside = IN_MATHEMATICS.search(text)
        line = self.lines.get((name, inside[1].strip() if inside else text))
        return "" if line is None else f"{self.path}:{line}"


class Asked(NamedTuple):
    """A live figure that a page asks for by its name: in a line, on lines of its own, or in the
    mathematics that is its text."""

    how: How
    name: str
    text: str


#: What stands in the place of a live figure: paragraphs, or mathematics as LaTeX; or why there
#: is nothing, with its place in the article where that tells.
Answer = list[Paragraph] | str | Fault


def worked(asker: Asker, find: Callable[[], Origin], asked: Sequence[Asked]) -> list[Answer]:
    """The same as :func:`answers`: the work of a process."""
    asker.stage("computing")
    return answers(find, asked)


def answers(find: Callable[[], Origin], asked: Sequence[Asked]) -> list[Answer]:
    """Return what each live figure of a page comes to, from what is found only where there are
    any."""
    try:
        source = find() if asked else None
    except SymattnError as error:
        return [Fault("", str(error))] * len(asked)
    return [] if source is None else [_answer(source, one) for one in asked]


def _answer(source: Origin, one: Asked) -> Answer:
    try:
        match one.how:
            case "line":
                return [source.figures.inline(NAMES[one.name], one.text)]
            case "block":
                return source.figures.paragraphs(NAMES[one.name], one.text)
            case "mathematics":
                return source.figures.mathematics(one.text)
    except SymattnError as error:
        return Fault(source.where(one.name, one.text), str(error))


def named_origin(
    name: str, path: Path, folder: Path, allow_outside: bool, unsaid: str = ""
) -> Origin:
    """Return what the file at ``path`` gives that a document names: one in ``folder`` or below,
    unless others are allowed. Raises as :func:`origin`, and for no name with ``unsaid``."""
    from symattn.cases.library import check_inside

    if not name:
        raise Malformed(unsaid)

    leave = "in Sphinx symattn_allow_outside = True"
    check_inside(name, path, folder, allow_outside, "the folder of the documents", leave)
    return origin(path, allow_outside)


def origin(path: Path, allow_outside: bool = False) -> Origin:
    """Return what the file at ``path`` gives. Of an article in Markdown its own live figures are
    no part of what it says.

    Raises :class:`~symattn.errors.SymattnError` with every fault of the file.
    """
    from symattn.cases.library import load
    from symattn.documents.files import is_article, read_article
    from symattn.solution.solution import solve

    article = read_article(path) if is_article(path) else None
    if article is None or article.form != "markdown":
        return Origin(Figures(solve(load(path, allow_outside))), {}, path)
    places: dict[tuple[str, str], int] = {}
    for one in found(article.source):
        line = article.place(one.span.start).line
        places.setdefault((one.name, one.text.strip()), line)
    return Origin(figures_of(path, article.source, article.encoding), places, path)


def figures_of(path: Path, source: str, encoding: str) -> Figures:
    """The figures of an article that has this text."""
    from symattn.cases.library import load
    from symattn.solution.solution import solve

    data = without(source).encode(encoding, "surrogateescape")
    return Figures(solve(load(path, data=data)))
