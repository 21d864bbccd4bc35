"""Names that an article uses and says nothing of: told where they hide figures, else never."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.auditing.audit import audit
from symattn.cases.article import case_of
from symattn.documents.binding.binder import read
from symattn.documents.files import article
from symattn.documents.reading import undefined
from symattn.solution.solution import solve
from symattn.verdicts import Verdict

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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.marked")), ids=lambda path: path.stem)
def test_articles_that_are_whole(path):
    """An article that says what its names are has none."""
    assert of(marks.load(path).text, path.stem) == []


WITHOUT_VALUE = r"""# Shares of seed

$$\mu = \frac{n}{G}, \quad \nu = 2 \mu$$

$$a = \begin{bmatrix} 6 & 4 \end{bmatrix}, \quad b = \begin{bmatrix} 3 \\ 2 \end{bmatrix}$$

$$n = a b = 26$$

$$G = \begin{bmatrix} 2.5 & 1.5 \\ 0 & 2.5 \end{bmatrix}$$

$$a G = \begin{bmatrix} 15 & 19 \end{bmatrix}$$

$$\nu = \begin{bmatrix} 20.8 & 34.7 \\ 0 & 20.8 \end{bmatrix}$$
"""


def test_a_step_without_a_value_is_left_open():
    """What an article defines and its numbers have no value for ends no audit: it is told
    with what is computed from it, and the rest is judged."""
    solution = solve(case_of(read(article(Path("seed.md"), WITHOUT_VALUE.encode()))))
    assert set(solution.case.steps) == {"n"}
    judged = audit(solution)
    assert [one.text for one in judged.figures] == ["26", "15", "19"]
    assert {one.verdict for one in judged.figures} == {Verdict.HOLDS}
    said = {one.what: one.why for one in judged.open}
    assert said["mu = n / G"] == said["nu = 2 * mu"] == said["nu"] == "division by zero"
    unread = [one.text for one in judged.numbers if one.status == "unread"]
    assert unread == ["20.8", "34.7", "0", "20.8"]
