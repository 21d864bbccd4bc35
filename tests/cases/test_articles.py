"""An article's reading becomes a case as it is: trees and places, and no text twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.cases.article import case_of
from symattn.documents.binding.binder import read
from symattn.documents.files import article
from symattn.documents.help import help_of
from symattn.expressions import syntax
from tests.documents import marks

POST = """# Weights

<!-- symattn: A = softmax(X, axis=0) -->

$$X = [[1, 0], [0, -2]]$$

$$A = [[0.73, 0.88], [0.27, 0.12]]$$

Its first entry is $A_{11} = e^1 / (e^1 + e^0) = 0.73$.
"""


def test_nothing_is_read_twice(monkeypatch) -> None:
    """The case has the very trees of the reading, each claim at the place of its figures."""
    source = article(Path("post.md"), POST.encode())
    reading = read(source, help_of(source))

    def parse(text: str, letters: bool = False) -> syntax.Tree:
        raise AssertionError(f"{text!r} is parsed again")

    monkeypatch.setattr(syntax, "parse", parse)
    case = case_of(reading)
    assert case.given["X"] is reading.given["X"].numbers.rows
    assert case.raw["X"] == (("1", "0"), ("0", "-2"))
    assert case.steps == {"A": "softmax(X, axis=0)"}
    assert [claim.tree for claim in case.claims] == [claim.tree for claim in reading.claims]
    assert len(case.claims) > 1
    for claim in case.claims:
        for row, spans in zip(claim.printed, claim.spans, strict=True):
            written = [source.text(span) for span in spans]
            assert written == [figure.text for figure in row if figure]


CORPUS = sorted((Path(__file__).parent.parent / "documents" / "corpus").glob("*.marked"))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_trees_of_a_reading_are_those_of_the_grammar(path) -> None:
    """Written down, each expression of a reading reads back as the tree that it has."""
    marked = marks.load(path)
    source = article(Path(marked.name), marked.text.encode())
    reading = read(source, help_of(source))
    steps, claims = reading.steps.values(), reading.claims
    for tree in (*(step.tree for step in steps), *(claim.tree for claim in claims)):
        assert syntax.parse(syntax.text(tree)) == tree
