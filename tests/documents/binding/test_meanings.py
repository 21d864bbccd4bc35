"""What names mean that an article says in passing, or writes in several ways."""

from __future__ import annotations

from pathlib import Path

from symattn.documents.binding.binder import read
from symattn.documents.files import article

GIVEN = "$Q = [[1, 2], [3, 1]]$, $K = [[2, 0], [1, 1]]$, $V = [[1, 0], [0, 4]]$.\n\n"


def steps(text: str) -> dict[str, str]:
    """The steps of a Markdown article, by name."""
    reading = read(article(Path("post.md"), text.encode()))
    return {name: step.expression for name, step in reading.steps.items()}


def test_printed_scores_with_minus_infinities_are_those_that_they_agree_with():
    """A matrix with hidden entries is known scores under that mask, however it is rounded,
    and what is computed from it isn't computed from printed digits."""
    text = GIVEN + (
        "$$S = QK^T / \\sqrt{2} = [[1.41, 2.12], [4.24, 2.83]]$$\n\n"
        "Then one entry is hidden: $$\\tilde S = %s$$\n\n$$A = \\mathrm{softmax}(\\tilde S)$$\n"
    )
    later, first = "[[1.41, -\\infty], [4.24, 2.83]]", "[[-\\infty, 2.12], [4.24, 2.83]]"
    assert steps(text % later)["S_tilde"] == "causal(S)"
    assert steps(text % first)["S_tilde"] == "mask(S, [[0, 1], [1, 1]])"


def test_a_matrix_whose_name_ends_in_a_number_is_no_row():
    """q1 is a row of q, unless the article says that it is a matrix."""
    code = "```python\nq1, q2 = q[:, :1], q[:, 1:]\nS1 = q1 @ q1.T\n```\n"
    found = steps("$q = [[1, 2], [3, 1]]$\n\n" + code + "$$S_1 = [[1, 3], [3, 9]]$$\n")
    assert (found["q1"], found["S1"]) == ("q[:, :1]", "q1 @ q1.T")


def test_a_number_behind_a_name_stands_with_or_without_a_line():
    """A1 in code is A_1 in a formula."""
    found = steps(GIVEN + "```python\nA1 = Q @ K.T\n```\n\n$$O_1 = A_1 V = [[2, 12], [6, 16]]$$\n")
    assert found["O_1"] == "A1 @ V"


def test_a_gradient_may_have_a_name_of_its_own():
    """dL/dY = G = [matrix] says where the backward pass begins, and what G is."""
    text = GIVEN + (
        "$$P = \\mathrm{softmax}(QK^T)$$ $$Y = PV$$\n\n"
        "$$\\frac{\\partial L}{\\partial Y} = G = [[1, 1], [1, 0]]$$\n\n"
        "$$\\frac{\\partial L}{\\partial P} = G V^T = [[1, 4], [1, 0]]$$\n"
    )
    reading = read(article(Path("post.md"), text.encode()))
    assert reading.loss == {"output": "Y", "upstream": (("1", "1"), ("1", "0"))}
    assert ("grad(P)", (("1", "4"), ("1", "0"))) in [(c.text, c.printed) for c in reading.claims]


def statuses(text: str) -> dict[str, str]:
    """What became of the numbers of a Markdown article, by their digits."""
    reading = read(article(Path("post.md"), text.encode()))
    return {number.text: number.status for number in reading.numbers}


def test_numbers_that_say_where_or_how_much_are_no_claims():
    """Sections, versions, times and rates claim nothing; a share beside them may."""
    found = statuses("Section 3.2, numpy 1.26, 4.5 ms, dropout 0.1 and $0.6, but 0.25.\n")
    assert found.pop("0.25") == "unread"
    assert set(found.values()) == {"ignored"}
    assert len(found) == 5


def test_constants_of_a_formula_are_read():
    """The 2 in QK^T / sqrt(2) is part of what is computed."""
    text = GIVEN + "$$S = \\frac{QK^T}{\\sqrt{2}}$$\n"
    assert statuses(text.replace("2}", "7}"))["7"] == "ignored"


def test_the_value_column_of_a_table_has_values():
    """Under "value" alone stand value vectors; the words "mixed values" say output."""
    text = (
        '# The words "ice", "melts"\n\n$X = [[1, 2], [0, 1]]$, $W_V = [[1, 3], [2, 0]]$\n\n'
        "| word | value |\n|---|---|\n| ice | [5, 3] |\n| melts | [2, 0] |\n"
    )
    reading = read(article(Path("post.md"), text.encode()))
    assert [(claim.text, claim.printed) for claim in reading.claims] == [
        ("V[0]", ("5", "3")),
        ("V[1]", ("2", "0")),
    ]


def test_words_with_a_dot_between_them_are_a_score():
    """Under "scores", ice · melts is the score of the second word in the row of the first,
    not a product of what else the words name."""
    text = GIVEN + (
        'Two tokens ("ice", "melts").\n\n## Scores\n\n'
        "- melts · ice = 3×2 + 1×0 = 6\n- melts · melts = 3×1 + 1×1 = 5\n"
    )
    reading = read(article(Path("post.md"), text.encode()))
    claimed = [(one.text, one.printed) for one in reading.claims if one.key == "of"]
    assert ("S[1, 0]", "6") in claimed
    assert ("S[1, 1]", "5") in claimed


def test_a_target_in_whole_numbers_is_no_output():
    """y usually is the output; where it is printed as (1, 0) in words, and the output isn't
    of whole numbers, it is what it says."""
    text = (
        "$q = [[1, 2]]$, $K = [[1, 0], [1, 1]]$, $V = [[2, 0], [0, 2]]$\n\n"
        "$$o = \\mathrm{softmax}(q K^T) V$$\n\nThe target is $y = (1, 0)$.\n\n"
        "$$e = o - y \\approx (-0.8, 1.8)$$\n"
    )
    reading = read(article(Path("post.md"), text.encode()))
    assert reading.given["y"].entries == ("1", "0")
    assert "o - o" not in [claim.text for claim in reading.claims]


def test_arithmetic_is_not_refuted_for_an_operand_that_is():
    """Where a printed matrix is wrong, and what follows from it right, only the matrix is
    refuted."""
    text = GIVEN + (
        "$$S = \\frac{QK^T}{\\sqrt{2}} = \\frac{1}{\\sqrt{2}} [[2, 5], [6, 4]] "
        "\\approx [[1.414, 2.121], [4.243, 2.828]]$$\n"
    )
    reading = read(article(Path("post.md"), text.encode()))
    assert [claim.key for claim in reading.claims] == ["of", "of"]
    right = read(article(Path("post.md"), text.replace("5]", "3]").encode()))
    assert [claim.key for claim in right.claims].count("as_printed") == 1


def test_rows_without_labels_are_not_told_apart_by_them():
    """A printed matrix of another shape than what it is named after, without labels of its
    rows, is none of its rows."""
    text = GIVEN + (
        'Two tokens ("ice", "melts").\n\n$$S = QK^T$$\n\n$$S = [[2, 3, 5], [6, 4, 10]]$$\n'
    )
    reading = read(article(Path("post.md"), text.encode()))
    assert reading.claims == ()
