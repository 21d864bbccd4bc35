"""What the live figures of a document are computed from: a case file, or an article."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from symattn.live.figures import IN_MATHEMATICS, Figures
from symattn.live.places import found, without


class Origin(NamedTuple):
    """The figures that a file gives; and where live figures stand in it itself, if it is an
    article: the line of each, by its name and text."""

    figures: Figures
    lines: dict[tuple[str, str], int]
    path: Path

    def where(self, name: str, text: str) -> str:
        """Where an article has a live figure, as errors say it; '' where nothing tells."""
        inside = IN_MATHEMATICS.search(text)
        line = self.lines.get((name, inside[1].strip() if inside else text))
        return "" if line is None else f"{self.path}:{line}"


def origin(path: Path) -> Origin:
    """What the file at ``path`` gives. Of an article in Markdown its own live figures are
    no part of what it says.

    Raises :class:`~symattn.errors.SymattnError` with every fault of the file.
    """
    from symattn.cases.library import load
    from symattn.documents.files import is_article, read_article
    from symattn.solution.solution import solve

    article = read_article(path) if is_article(path) else None
    if article is None or article.form != "markdown":
        return Origin(Figures(solve(load(path))), {}, path)
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
