"""Articles are bound to what they say that their figures are."""

from pathlib import Path

import pytest

from symattn.auditing.audit import audit
from symattn.cases.article import case_of
from symattn.documents.binding import read
from symattn.documents.files import article, read_article

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


def read_text(text: str):
    return read(article(Path("post.md"), text.encode()))


GIVEN = """$$X = \\begin{bmatrix} 1 & 0 \\\\ 0 & 2 \\end{bmatrix}$$

$$S = X X^\\top$$

$$A = \\mathrm{softmax}(S)$$

"""


def test_what_words_and_figures_say_differently_is_left_open():
    """The scores under the words "attention weights" are neither bound nor refuted."""
    value = r"1 & 0 \\ 0 & 4"
    matrix = rf"$$\begin{{bmatrix}} {value} \end{{bmatrix}}$$"
    text = f"{GIVEN}The attention weights:\n\n{matrix}\n"
    reading = read_text(text)
    assert reading.claims == ()
    (one,) = reading.open
    assert one.what == "A"
    assert text[one.span.start : one.span.end] == value


def test_a_paragraph_announces_a_value_of_its_own():
    """A chain goes on behind "is", not behind the words of another paragraph."""
    value = "$$\\begin{bmatrix} 0.73 & 0.54 \\\\ 0.02 & 1.96 \\end{bmatrix}$$\n"
    announced = read_text(GIVEN + "$$Y = A X$$\n\nThe outputs:\n\n" + value)
    assert [claim.text for claim in announced.claims] == ["Y"]
    unsaid = read_text(GIVEN + "Something else:\n\n" + value)
    assert unsaid.claims == ()
    joined = read_text(GIVEN + "$$Y = A X$$\n\nis\n\n" + value)
    assert [claim.text for claim in joined.claims] == ["Y"]
