"""Names that an article uses and says nothing of: told where they hide figures, else never."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.documents.binding import read
from symattn.documents.files import article
from symattn.documents.reading import undefined

from . import marks
from .test_corpus import CORPUS


def of(text, name="post.md"):
    """What is undefined in an article, with its line."""
    reading = read(article(Path(name), text.encode()))
    return [(one.what, reading.article.place(one.span.start).line) for one in undefined(reading)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("So\n\n$$Q = X W = [1, 2.5]$$\n\n$$K = X U = [3, 4.5]$$", [("X", 3), ("W", 3), ("U", 5)]),
        ("Let $W = [[1], [2]]$.\n\n$$Q = X W = [1, 2.5]$$", [("X", 3)]),
        ("$X = [[1, 2]]$, $Q = 2 X = [[2, 4]]$", []),
        ("We call it $X$, and $Q = X W$ is what it asks for 1.5 times.", []),
        ("Shape: $[3, 4] = [n, d]$, 0.25 of it", []),
    ],
)
def test_what_is_told(text, found):
    """A name in a formula whose figures nothing is said of, once, where it stands first; not
    one that is given, nor one beside which there are no figures."""
    assert of(text) == found


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.marked")), ids=lambda path: path.stem)
def test_articles_that_are_whole(path):
    """An article that says what its names are has none."""
    assert of(marks.load(path).text, path.stem) == []
