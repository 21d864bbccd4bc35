"""Articles are bound to what they say that their figures are."""

from pathlib import Path

import pytest

from symattn.auditing.audit import audit
from symattn.cases.article import case_of
from symattn.documents.binding import read
from symattn.documents.files import read_article

ARTICLE = """# Two words

The embeddings are $X = \\begin{bmatrix} 1 & 0 \\\\ 0 & 1 \\end{bmatrix}$.

$$S = X X^\\top = \\begin{bmatrix} 1 & 0 \\\\ 0 & 1 \\end{bmatrix}$$

$$A = \\mathrm{softmax}(S) \\approx \\begin{bmatrix} 0.73 & 0.27 \\\\ 0.26 & 0.73 \\end{bmatrix}$$

In 2017 there were 8 heads. By the way, $2.5 \\cdot 2 + 1 = 6.5$.
"""


@pytest.fixture
def reading(tmp_path: Path):
    path = tmp_path / "post.md"
    path.write_text(ARTICLE)
    return read(read_article(path))


def test_a_chain_defines_a_step_and_claims_its_values(reading):
    """The first expression of a chain defines, a lone value gives, further values claim."""
    assert list(reading.given) == ["X"]
    assert {name: step.expression for name, step in reading.steps.items()} == {
        "S": "X @ X.T",
        "A": "softmax(S)",
    }
    assert [(claim.key, claim.text) for claim in reading.claims] == [
        ("of", "S"),
        ("of", "A"),
        ("as_printed", "2.5 * 2 + 1"),
    ]


def test_every_number_is_accounted_for(reading):
    """Each printed number has one status, years and counts are none of the claims."""
    statuses = [(number.text, number.status) for number in reading.numbers]
    assert statuses[-6:] == [
        ("2017", "ignored"),
        ("8", "ignored"),
        ("2.5", "local"),
        ("2", "local"),
        ("1", "local"),
        ("6.5", "local"),
    ]
    assert sum(status == "bound" for _, status in statuses) == 8
    assert sum(status == "given" for _, status in statuses) == 4


def test_the_case_of_an_article_finds_its_wrong_figures_where_they_stand(reading):
    """A wrong figure is refuted at its own place in the article."""
    case = case_of(reading)
    refuted = [figure for figure in audit(case).figures if figure.cause]
    places = [
        reading.article.place(figure.claim.spans[figure.entry.i][figure.entry.j].start)
        for figure in refuted
    ]
    assert [(figure.label, figure.text, figure.correct) for figure in refuted] == [
        ("A[1, 0]", "0.26", "0.27"),
        ("2.5 * 2 + 1", "6.5", "6.0"),
    ]
    assert [(place.line, place.column) for place in places] == [(7, 66), (9, 60)]
