"""Steps and labels: what words say that a block is, whatever its digits are."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symattn.auditing.fixing import fixed
from symattn.verdicts import Verdict
from tests.documents.test_statements import audited, refuted, softmax

TOKENS = ("the", "cat", "sat", "down")


def row(values, places=3):
    """A row as an article prints it."""
    return "[" + ", ".join(f"{x:.{places}f}" for x in values) + "]"


def lines(values, places=2, end=""):
    """A number for each of some words, a line each."""
    pairs = zip(TOKENS, values, strict=False)
    return "\n".join(f"{token}: {x:.{places}f}{end}" for token, x in pairs)


def steps(scores, places=3):
    """A softmax worked step by step, as lists show it; what each prints is rounded."""
    shifted = scores - scores.max()
    powers = np.exp(shifted)
    return [
        f"Scores: {row(scores, 1)}",
        f"1. Find the max: {scores.max():.1f}",
        f"2. Subtract the max: {row(shifted, 1)}",
        f"3. Exponentiate: {row(powers, places)}",
        f"4. Sum: {powers.sum():.{places}f}",
        f"5. Normalize: {row(powers / powers.sum(), places)}",
    ]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-30, 40), min_size=3, max_size=5, unique=True), st.integers(3, 5))
def test_no_step_of_a_right_list_is_refuted(tenths, places) -> None:
    """Each is rounded from what the one before was rounded from."""
    assert refuted("\n\n".join(steps(np.array(tenths) / 10, places))) == {}


@pytest.mark.parametrize(
    ("step", "wrong", "right"),
    [(1, "2.4", "2.2"), (2, "-1.4", "-1.2"), (3, "0.201", "0.301"), (4, "1.512", "1.412")],
)
def test_a_wrong_step_is_refuted(step, wrong, right) -> None:
    """By its words alone; what follows is right as computed from what is right."""
    listed = steps(np.array([2.2, 1.0, 0.0]))
    assert right in listed[step]
    listed[step] = listed[step].replace(right, wrong)
    assert refuted("\n\n".join(listed)) == {wrong: right}


def test_a_step_may_be_of_a_block_before_the_last() -> None:
    text = "Scores: [2.2, 1.0, 0.0]\n\n1. Exponentiate: [9.025, 2.718, 1.000]\n\n2. Max: {}"
    assert refuted(text.format("2.2")) == refuted(text.format("9.0")) == {}
    assert refuted(text.format("3.2")) == {"3.2": "9.0"}


def test_lines_of_words_are_a_row_and_what_softmax_makes_of_it_another() -> None:
    scores = np.array([1.5, 0.5, -1.0, 2.0])
    right = softmax(scores)
    before = f"The raw scores are:\n\n```\n{lines(scores, 1)}\n```\n\nAfter softmax:\n\n```\n"
    assert refuted(f"{before}{lines(100 * right, 1, '%')}\n```\n") == {}
    # Shares in that order which no scale, mask or rounding of the scores gives.
    wrong = refuted(f"{before}{lines([30, 20, 10, 40], 1, '%')}\n```\n")
    assert wrong == {f"{x}.0%": f"{y:.1%}" for x, y in zip((30, 20, 10, 40), right, strict=True)}


def test_scores_that_are_scaled_in_silence_are_no_wrong_softmax() -> None:
    scores = np.array([4.0, 2.0, 1.0])
    for divisor in (1, np.sqrt(2), 2, 8):
        text = f"Scores: {row(scores, 1)}\n\nAttention weights after softmax:\n\n"
        assert refuted(text + row(softmax(scores / divisor))) == {}


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("`scores = Q @ K.T`", "```\nScores =\n{}\n```"),
        ("Attention scores: `attention_scores = Q @ K.T`", "Attention scores:\n\n{}"),
        ("$$S_{{ij}} = Q_i \\cdot K_j$$", "$$S = {}$$"),
        ("```\nAttention scores = Q × Kᵀ\n```", "```\nAttention scores:\n{}\n```"),
    ],
)
def test_a_block_is_what_its_name_or_its_words_were_defined_as(said, label) -> None:
    """In other letters, in several words, or entry by entry."""
    given_ = "Q = [[1, 0], [0, 2]]\n\nK = [[1, 1], [2, 0]]\n\n"
    text = f"{given_}{said}\n\n{label}\n"
    assert refuted(text.format("[[1, 2], [2, 0]]")) == {}
    assert refuted(text.format("[[1, 3], [2, 0]]")) == {"3": "2"}


def test_capitals_and_words_before_a_name_make_no_other_of_it() -> None:
    mixed = "W = [[0.25, 0.75], [0.50, 0.50]]\n\nV = [[1, 2], [3, 4]]\n\n`mixture = W @ V`\n\n"
    assert refuted(f"{mixed}Mixture = [[2.5, 3.5], [2.0, 3.5]]") == {"3.5": "3.0"}
    scaled = "scores = [[1.0, 2.0], [2.0, 0.0]]\n\n```\nScaled scores = Scores / 2\n```\n\n"
    assert refuted(f"{scaled}Scaled scores:\n\n[[0.5, 1.0], [1.0, 0.5]]") == {"0.5": "0.0"}


def test_a_comment_has_the_result_of_the_statement_before_it() -> None:
    code = "```python\nq = np.array([1.0, 0.5])\nK = np.array([[0.5, 1.0], [0.8, 0.2]])\n"
    assert refuted(f"{code}s = q @ K.T\n# Result: [1.0, 0.9]\n```\n") == {}
    assert refuted(f"{code}s = q @ K.T\n# Result: [1.0, 0.7]\n```\n") == {"0.7": "0.9"}
    # Behind something else it says of that what it is.
    assert refuted(f"{code}s = q @ K.T\n# T = 0.1: [1.0, 0.7]\n```\n") == {}


def test_copies_of_a_wrong_figure_follow_from_it() -> None:
    """In percent, as a row, under its name; a right figure has no such copies."""
    text = (
        "x = [1.0, 2.0, 3.0]\n\np = softmax(x) = [0.090, 0.265, 0.645]\n\n"
        "The second gets 26.5% of it, and 64.5% goes to the last.\n\n## Then\n\n"
        "p = [0.090, 0.265, 0.645]\n"
    )
    found = Counter((x.text, x.correct) for x in audited(text).figures if x.cause)
    again = {("0.265", "0.245"): 2, ("0.645", "0.665"): 2}
    assert found == {**again, ("26.5%", "24.5%"): 1, ("64.5%", "66.5%"): 1}


def test_what_follows_is_corrected_with_its_root_or_neither_is() -> None:
    found = audited("x = [1.0, 2.0]\n\ny = 2 x = [2.0, 5.0]\n\n$5.0^2 = 25.0$ and $y_2 + 1 = 6.0$")
    result = fixed(found, audited)
    assert result.text.count("5.0") == found.case.reading.article.source.count("5.0")


@pytest.mark.parametrize(
    "text",
    [
        "(3, 2) × (2, 4) = (3, 4)",
        "X：(3, 2)\n\nW：(2, 2)\n\nQ = X × W：(3, 2)",
        "X：(3, 2)\n\nB：(3, 2)\n\nY = X + B：(3, 2)",
        "x = 5\n\nFrom $2 x = 6$ follows more.",
        "With $e = 0.5$ we begin.\n\n$\\ln(e) = 1$",
        "ΔW = B × A = 0, B = 0",
        "log(1e-46) = -inf, for 1e-46 is 0 in single precision",
        "## A\n\n`B=2` and `T=4`\n\n## Another\n\n`T=5`.\n\n## A third\n\n`B*T=12`",
    ],
)
def test_shapes_and_numbers_of_other_examples_state_nothing(text) -> None:
    assert refuted(text) == {}


def test_blanks_of_a_page_part_what_stands_beside_each_other() -> None:
    page = "<p>e^2.1 &asymp; 8.2&nbsp;&nbsp;e^0.4 &asymp; {}</p>"
    assert refuted(page.format("1.5"), "html") == {}
    assert refuted(page.format("1.6"), "html") == {"1.6": "1.5"}


def test_what_only_figures_suggest_is_refuted_and_not_corrected() -> None:
    """No word says that the third table is the sum of the first two."""
    left = np.array([[0.15, 0.33, 0.47, 0.83], [0.21, 0.12, 0.63, 0.58], [0.42, 0.31, 0.94, 0.27]])
    right = np.array([[0.84, 0.54, 0.99, 1.37], [0.91, 1.42, 0.98, 0.76], [0.14, 0.98, 0.95, 0.69]])
    sums = [row(x, 2) for x in left + right]
    tables = {
        "Embedding": [row(x, 2) for x in left],
        "Encoding": [row(x, 2) for x in right],
        "Final": [sums[0], sums[1].replace("1.61", "1.16"), sums[2]],
    }
    text = "\n\n".join(
        f"| Token | {head} |\n|---|---|\n" + "\n".join(f"| t | {x} |" for x in rows)
        for head, rows in tables.items()
    )
    # What stands around it is right, and speaks for it.
    text += "\n\n$e^{0.31} = 1.363$, $e^{0.47} = 1.600$ and $0.4321 / 2 = 0.21605$\n"
    found = audited(text)
    assert {x.text: x.correct for x in found.figures if x.cause} == {"1.16": "1.61"}
    result = fixed(found, audited)
    assert not result.fixes
    assert [one.printed for one in result.left] == ["1.16"]


def statistics(x, places=3):
    """The statistics of a vector as lists show them, each from what is exact."""
    apart = x - x.mean()
    return [
        f"Take the vector x = {row(x, 1)}.",
        f"1. Mean: {x.mean():.{places}f}",
        f"2. Deviations: {row(apart, places)}",
        f"3. Squared deviations: {row(apart**2, places)}",
        f"4. Variance: {x.var():.{places}f}",
        f"5. Standard deviation: {x.std():.{places}f}",
        f"6. Normalized: {row(apart / x.std(), places)}",
    ]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-30, 40), min_size=3, max_size=5, unique=True), st.integers(2, 5))
@example([15, -15, -21, -5, -16], 4)  # -0.76 / 1.28 is half-way.
def test_no_right_statistics_are_refuted(tenths, places) -> None:
    """Whatever of them was computed from what is printed before."""
    assert refuted("\n\n".join(statistics(np.array(tenths) / 10, places))) == {}


@pytest.mark.parametrize(
    ("step", "wrong", "right"),
    [(1, "2.450", "2.250"), (2, "0.750", "-0.250"), (3, "1.502", "1.562"), (4, "0.912", "0.812"),
     (5, "0.961", "0.901"), (6, "-1.357", "-1.387")],
)  # fmt: skip
def test_a_wrong_statistic_is_refuted(step, wrong, right) -> None:
    """By its words alone, a variance of all of less one too."""
    x = np.array([1.0, 2.0, 3.5, 2.5])
    listed = statistics(x)
    assert right in listed[step]
    listed[step] = listed[step].replace(right, wrong, 1)
    assert refuted("\n\n".join(listed)) == {wrong: right}
    # What is normalized has about these.
    about = ["So it is [-1.2, 0.0, 1.2].", "Mean: 0", "Variance: 1", "Std: 1.0"]
    assert refuted("\n\n".join(about)) == {}
    less = [*statistics(x)[:2], f"Variance: {x.var(ddof=1):.3f}", f"Std: {x.std(ddof=1):.3f}"]
    assert refuted("\n\n".join(less)) == {}


ROWS = """```
X = [
    [0.1, 0.3, -0.2, 0.8],  # "cat"
    [0.0, 0.1, 0.4, -0.1],  # ","
    [0.5, -0.3, 0.2, 0.6]   # "sat"
]

"cat": mean=0.25, std=0.364
","  : mean=0.10, std={}
"sat": mean=0.25, std=0.350
```
"""


def test_what_is_said_of_a_label_is_said_of_its_row() -> None:
    assert refuted(ROWS.format("0.187")) == refuted(ROWS.format("0.216")) == {}
    assert refuted(ROWS.format("0.208")) == {"0.208": "0.187"}
    text = "Scores:\n\n```\ncat [ 0.71, 0.00, 0.71]\nsat [ 0.00, 0.71, 0.71]\n```\n\n"
    said = 'After softmax, "cat" row: `[{}]`'
    assert refuted(text + said.format("0.40, 0.20, 0.40")) == {}
    # Both scores are the same: the first two of its figures can't be right together.
    assert "0.50" in refuted(text + said.format("0.50, 0.18, 0.32"))


def test_a_step_with_an_operand_is_of_the_block_before() -> None:
    text = (
        "Scores:\n\n[[1.0, 2.0], [4.0, 3.0]]\n\nScale by √2 ≈ 1.41:\n\n[[0.71, {}], [2.83, 2.12]]"
    )
    assert refuted(text.format("1.41")) == {}
    assert refuted(text.format("1.51")) == {"1.51": "1.41"}
    # Of another block than the one before it may be, which is not read.
    assert refuted(f"Values:\n\n[[7, 8], [9, 6]]\n\n{text.split('3.0]]')[1].format('1.51')}") == {}
    # What is scaled is no operand of the scaling.
    last = "\n\nNow, apply softmax to each row:\n\nWeights = [[0.33, {}], [0.67, 0.33]]"
    assert refuted(text.format("1.41") + last.format("0.67")) == {}


def temperatures(at, shares):
    """Shares at temperatures, as lists show them."""
    listed = [
        f"T = {t} (so):  [{', '.join(f'{x:.3f}' for x in of)}]  → so"
        for t, of in zip(at, shares, strict=True)
    ]
    head = "The temperature divides the logits.\n\n```\nLogits: [3.0, 2.0, 1.0, 0.5]\n\n"
    return head + "\n".join([*listed, "T → ∞: [0.25, 0.25, 0.25, 0.25]"]) + "\n```\n"


def test_shares_at_a_temperature_are_those_of_the_scores_over_it() -> None:
    scores, at = np.array([3.0, 2.0, 1.0, 0.5]), (0.5, 1.0, 2.0)
    right = [softmax(scores / t) for t in at]
    assert refuted(temperatures(at, right)) == {}
    wrong = [right[0], np.array([0.5, 0.3, 0.15, 0.05]), right[2]]
    found = refuted(temperatures(at, wrong))
    assert set(found.values()) >= {f"{right[1][0]:.3f}"}
    table = "| $\\tau$ | $p_1$ | $p_2$ | $p_3$ | $p_4$ |\n|---|---|---|---|---|\n"
    lines_ = [
        f"| {t} | " + " | ".join(f"{x:.3f}" for x in of) + " |"
        for t, of in zip(at, right, strict=True)
    ]
    text = f"Logits $z = [3.0, 2.0, 1.0, 0.5]$:\n\n{table}" + "\n".join(lines_)
    assert refuted(text) == {}
    assert refuted(text.replace(f"{right[2][0]:.3f}", "0.499")) == {"0.499": f"{right[2][0]:.3f}"}


def test_a_table_of_temperatures_is_of_the_scores_that_a_row_agrees_with() -> None:
    """As printed, before any that it may agree with as rounded."""
    rows = ("0.5 | 0.468 | 0.063 | 0.468", "1 | 0.422 | 0.155 | 0.422", "4 | 0.360 | 0.280 | 0.360")
    head = "| $\\tau$ | $p_1$ | $p_2$ | $p_3$ |\n|---|---|---|---|\n"
    given_ = "$$s = [2, 1, 2]$$ $$u = s / \\sqrt{2} = [1.4142, 0.7071, 1.4142]$$\n\n"
    assert refuted(given_ + head + "\n".join(f"| {one} |" for one in rows)) == {}


def test_a_mask_that_is_spoken_of_leaves_the_softmax_of_all_open() -> None:
    text = "Scores: [4.0, 6.7, 1.2]\n\n{}\n\nAfter softmax: [0.15, 0.80, 0.05]"
    assert refuted(text.format("We look at them."))
    assert refuted(text.format("We add a causal mask.")) == {}


def test_a_softmax_that_is_said_outright_may_be_wrong_in_one_figure() -> None:
    text = "```\nRaw logits: [2.1, -0.5, 0.3]\n     ↓ softmax\nProbabilities: [{}, 0.06, 0.13]\n```"
    assert refuted(text.format("0.81")) == {}
    assert refuted(text.format("0.73")) == {"0.73": "0.81"}


@pytest.mark.parametrize(
    ("scores", "shares"),
    [("Scaled", "Probs"), ("Raw scores", "Attention scores"), ("logits", "weights")],
)
def test_shares_behind_scores_are_their_softmax_by_their_names(scores, shares) -> None:
    """In an article that speaks of it, or of logits; of others that no scale gives they may be of
    something."""
    text = "Softmax makes shares.\n\n```\n{}: [{}]\n{}: [{}]\n```\n"
    x, wrong = "2.0, 1.0, 0.5, 0.1", "0.57, 0.23, 0.14, 0.06"
    assert refuted(text.format(scores, x, shares, "0.57, 0.21, 0.13, 0.09")) == {}
    found = {"0.23": "0.21", "0.14": "0.13", "0.06": "0.09"}
    assert refuted(text.format(scores, x, shares, wrong)) == found
    # Those of other names, or at a temperature of 2.
    assert refuted(text.format("Sizes", x, "Parts", wrong)) == {}
    assert refuted(text.format(scores, x, shares, "0.41, 0.25, 0.19, 0.16")) == {}
    silent = text.format(scores, x, shares, wrong).replace("Softmax", "It")
    assert refuted(silent) == (found if scores == "logits" else {})


def test_words_above_a_block_that_is_repeated_are_of_the_next() -> None:
    text = "Scores: [2.0, 1.0, 0.1]\n\nAfter softmax:\n\n```\nBefore: [2.0, 1.0, 0.1]\n{}\n```\n"
    assert refuted(text.format("After:  [0.66, 0.24, 0.10]")) == {}
    assert refuted(text.format("After:  [0.66, 0.28, 0.06]")) == {"0.28": "0.24", "0.06": "0.10"}


def test_a_statistic_right_behind_a_vector_is_of_it() -> None:
    errors, numbers = "[0.1, 0.2, 0.1, 0.15] → MSE = {}", "[-0.48, 0.0, 1.44]  # Range: ~{}, so"
    text = f"```\nErrors: {errors}\nx: {numbers}\n```"
    assert refuted(text.format("0.0206", "1.92")) == {}
    assert refuted(text.format("0.0255", "1.92")) == {"0.0255": "0.0206"}
    assert refuted(text.format("0.0206", "2.88")) == {"2.88": "1.92"}
    # With other numbers between them nothing says so.
    assert refuted("x: [1, 1, 0, 0], exp = 2.7, 1.0 → sum 5.4\n\nSo much.") == {}


def test_a_slip_is_named_only_where_it_is_one() -> None:
    """Figures that are off by a unit follow from none, nor from one that changes nothing."""
    listed = "T = 0.1: [0.9999, 0.0001, 0.0000, 0.0000]"
    found = audited(f"The temperature:\n\n```\nLogits: [5.0, 2.0, 1.0, 0.5]\n\n{listed}\n```\n")
    assert refuted_of(found) == ["0.9999", "0.0001"]
    assert not found.causes


def refuted_of(found):
    """The figures of an audit that are refuted."""
    return [one.text for one in found.figures if one.verdict is Verdict.REFUTED]
