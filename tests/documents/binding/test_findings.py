"""What blocks are of each other, taken into the recipe of an article."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.auditing.audit import audit
from symattn.cases.article import case_of
from symattn.documents.binding.binder import read
from symattn.documents.files import article
from tests.documents import marks
from tests.documents.test_corpus import PATHS

INPUTS = "X = [[0.52, 0.61], [0.33, 0.97]]\nW = [[1.2, 0.7], [0.4, 1.5]]\n\n"
#: X @ W, and the softmax of its rows.
PRODUCT = "[[0.868, 1.279], [0.784, 1.686]]"
SHARES = "[[0.3987, 0.6013], [0.2886, 0.7114]]"


def reading(text, name="post.md"):
    """A text understood."""
    return read(article(Path(name), text.encode()))


def test_what_no_word_says_is_found():
    """Under a name that tells nothing, and without one."""
    found = reading(f"{INPUTS}so that zorp = {PRODUCT}\n\nand then\n\n{SHARES}\n")
    assert [one.of for one in found.numbers if one.text in ("1.686", "0.7114")] == [
        "zorp[1, 1]",
        "A[1, 1]",
    ]
    assert {name: one.expression for name, one in found.steps.items()} == {
        "zorp": "X @ W",
        "A": "softmax(zorp)",
    }


def test_steps_on_the_way_are_assumed():
    """They stand nowhere: only what comes of them does."""
    found = reading(f"{INPUTS}and then\n\n{SHARES}\n")
    assert {one.expression: one.assumed for one in found.steps.values()} == {
        "X @ W": True,
        "softmax(B)": False,
    }
    assert found.assumptions


def test_what_is_printed_again_is_no_input():
    """Neither place says what it is; the second may be as wrong as the first."""
    found = reading(
        "We saw [0.3153, 0.9264, 0.4782] there.\n\nAnd [0.3153, 0.9264, 0.4782] here.\n"
    )
    assert not found.given
    assert {one.status for one in found.numbers} == {"unread"}


def test_what_its_name_says_is_defined_once():
    """Though some of its figures are those of rounded scores."""
    text = (
        f"{INPUTS}S = X @ W = [[0.87, 1.28], [0.78, 1.69]]\n\n"
        "A = softmax(S) = [[0.399, 0.601], [0.287, 0.713]]\n"
    )
    found = reading(text)
    assert list(found.steps) == ["S", "A"]
    assert [one.of for one in found.numbers][-1] == "A[1, 1]"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "name", ["interpreter-at-the-table.md", "counting-on-fingers.md", "weather-report.html"]
)
def test_what_is_in_doubt_counts_as_not_read(name):
    """With a sign of percent behind it as well."""
    marked = marks.load(PATHS[name])
    found = audit(case_of(reading(marked.text, marked.name)))
    doubted = {item.span.start for item in found.unjudged}
    assert doubted
    assert {one.status for one in found.numbers if one.span.start in doubted} == {"unread"}


def bound(text: str) -> list[str]:
    """What the last four figures of an article are of."""
    return [one.of for one in reading(text).numbers][-4:]


A_WHOLE = ["A[0, 0]", "A[0, 1]", "A[1, 0]", "A[1, 1]"]
SHOWN = f"""{INPUTS}scores = X @ W = {PRODUCT}

A = softmax(scores) = [[0.399, 0.601], [0.289, 0.711]]

The scores of both are:

    {SHARES}
"""


def test_what_words_say_of_a_block_gives_way_to_what_all_of_its_figures_are_of():
    """Words may be about another block, digits can hardly agree by chance."""
    assert bound(SHOWN) == A_WHOLE


def test_what_misses_a_step_of_its_formula_is_not_taken_for_what_it_shows():
    """It is a mistake, and no agreement: the formula is believed, and told what it shows."""
    found = reading(f"{INPUTS}S = X @ W = {PRODUCT}\n\nT = S / sqrt(2) = {PRODUCT}\n")
    first, second = found.claims
    assert (first.text, second.text, second.key) == ("S", "S / sqrt(2)", "as_printed")
    assert not found.open
