"""Closed statements: what an equation states of printed operands is arithmetic, right or wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.auditing.fixing import fixed
from symattn.cases.article import case_of
from symattn.documents.binding import binder
from symattn.documents.files import article
from symattn.limits import CLOSED
from symattn.verdicts import Verdict

Q = np.array([[1.3, 2.1], [0.4, 1.7]])
K = np.array([[2.3, 1.6], [1.4, 1.2]])
V = np.array([[0.5, 1.5], [2.0, 0.3]])


def audited(source, suffix="md"):
    """Judge an article."""
    return audit(case_of(binder.read(article(Path(f"post.{suffix}"), source.encode()))))


def refuted(source, suffix="md"):
    """The figures that are refuted, with what is right instead."""
    found = audited(source, suffix).figures
    return {one.text: one.correct for one in found if one.verdict is Verdict.REFUTED}


def tex(values, places=4):
    """A matrix, or a row, as LaTeX prints it."""
    rows = np.atleast_2d(values)
    said = r" \\ ".join(" & ".join(f"{x:.{places}f}" for x in row) for row in rows)
    return rf"\begin{{bmatrix}} {said} \end{{bmatrix}}"


def softmax(x):
    """Row by row, in floats: an oracle apart from ours."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


GIVEN = "".join(f"$${name} = {tex(x, 1)}$$\n\n" for name, x in zip("QKV", (Q, K, V), strict=True))
S = Q @ K.T
A = softmax(S / np.sqrt(2))


def test_a_block_that_is_wrong_throughout_is_one_finding_with_its_slip() -> None:
    """Scores are printed ten lines above, and the scale is left out in all figures."""
    text = f"{GIVEN}$$S = Q K^T = {tex(S)}$$\n\nMuch is said between them.\n\n"
    stated = r"$$A = \mathrm{softmax}(S / \sqrt{2}) \approx "
    assert refuted(f"{text}{stated}{tex(A)}$$") == {}
    found = audited(f"{text}{stated}{tex(softmax(S))}$$")
    assert [slip.kind for slip in found.causes] == ["scale-dropped"]
    assert len(found.causes[0].explains) == 4
    assert len(found.roots) == 1


def test_figures_of_no_slip_do_not_come_to_what_is_stated() -> None:
    """Digits that disagree, however many, are no reason for silence."""
    wrong = tex(np.array([[9.11, 8.22], [7.33, 6.44]]), 2)
    found = audited(f"{GIVEN}$$Y = Q V = {wrong}$$")
    assert found.count(Verdict.REFUTED) == 4
    (root,) = found.roots
    assert "does not come to this" in root.reason


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (
            "$p = [0.47, 0.77, 0.30]$, $y = [0, 1, 0]$: $p - y = [0.47, 0.77, 0.30]$",
            {"0.77": "-0.23"},
        ),
        (
            "$x = [1, 2, 3, 6]$\n\n$$\\text{LayerNorm}(x) = [-1.07, -0.53, 0.10, 1.60]$$",
            {"0.10": "0.00"},
        ),
        (
            "```\nW = [[0.38, 0.24, 0.38], [0.21, 0.39, 0.39]]\nV = [[1, 2], [4, 5], [7, 8]]\n"
            "Output = W @ V\n       ≈ [[4.0, 5.0], [4.5, 6.5]]\n```\n",
            {"6.5": "5.5"},
        ),
        (
            "```python\nx = torch.tensor([1.0, 2.0, 0.5])\np = F.softmax(x, dim=-1)\n"
            "# tensor([0.2312, 0.6285, 0.1472])\n```\n",
            {"0.1472": "0.1402"},
        ),
        ("$p = [0.2, 0.5, 0.3]$ and $p_2 + p_3 = 0.9$", {"0.9": "0.8"}),
    ],
    ids=["difference", "norm", "product", "comment", "entries"],
)  # fmt: skip
def test_a_wrong_figure_of_a_closed_statement_is_refuted(text, right) -> None:
    assert refuted(text) == right


@pytest.mark.parametrize(
    "text",
    [
        # Each is true under one customary reading.
        "$W = [[1, 2], [3, 4]]$, $x = [5, 6]$, $x W = [23, 34]$ and $W x = [17, 39]$",
        f"$$S = {tex(S.T)}$$\n\n$$A = \\text{{softmax}}(S) = {tex(softmax(S).T)}$$",
        "$p = [0.2, 0.5, 0.3]$, $p_2 + p_3 = 0.8$ and $p_0 + p_1 = 0.7$",
        "$A = [[1, 2], [3, 4]]$ and $A^2 = [[7, 10], [15, 22]]$",
        "$x = [1, 2, 3]$ and $\\text{var}(x) = 1.000$",
        # A name of a program may be another in the prose beside it.
        "```python\nw = 2 * x\n```\n\nWith $x = 3$ the weight is $w = 5$.",
        # What words leave out, and what is not read, states nothing.
        f"{GIVEN}Without the scale: $$Q K^T / \\sqrt{{2}} = {tex(S)}$$",
        "$x = [1, 2]$ and $f(x) = [3, 4]$",
        "`top_p = 0.95` is usual, here `0.8 + top_p = 0.95`",
        # An arrow leads to another equation.
        "$$O = P / (1 - P)$$\n\n$P = 0.50 → O = 1.00 → L = 0.00$\n\n"
        "$P = 0.73 → O = 2.70 → L = 0.99$",
        # Shapes are no values.
        "$X = [[1, 2], [3, 4]]$\n\n- $V = X W$\n- **Shapes:**\n    - `X`: `(3, 4)`\n"
        "    - `W`: `(4, 4)`\n    - `V`: `(3, 4)`",
    ],
)
def test_what_is_true_or_open_is_not_refuted(text) -> None:
    assert refuted(text) == {}


def test_a_number_that_stands_twice_is_one_unknown() -> None:
    """No x in [0.7065, 0.7075] gives 0.669, though balls of two unknowns would."""
    assert refuted(r"$$\frac{e^{0.707}}{e^{0.707} + 1} \approx 0.669$$") == {"0.669": "0.670"}
    assert refuted(r"$$\frac{e^{0.707}}{e^{0.707} + 1} \approx 0.670$$") == {}


def test_what_follows_from_a_wrong_figure_is_listed_under_it() -> None:
    """It is right as printed, and not what the right figure comes to."""
    scores = S.copy()
    scores[0, 0] = 8.35
    text = (
        f"{GIVEN}$$S = Q K^T = {tex(scores, 2)}$$\n\n$$T = S / 2 = {tex(scores / 2, 3)}$$\n\n"
        "$$e^{4.175} = 65.04$$"
    )
    found = audited(text)
    (root,) = found.roots
    assert (root.text, root.correct) == ("8.35", "6.35")
    wrong = {one.text: one.correct for one in found.figures if one.cause == "carried"}
    assert wrong == {"4.175": "3.175", "65.04": "23.93"}
    # Of formula and figure nothing says which is wrong.
    assert fixed(found, audited).text == text


def test_an_operand_that_is_wrong_in_itself_makes_no_right_result_wrong() -> None:
    """A block may be meant as it is computed, where it is printed wrongly."""
    scores = S.copy()
    scores[0, 0] = 8.35
    assert refuted(
        f"{GIVEN}$$S = Q K^T = {tex(scores, 2)}$$\n\n$$T = S / 2 = {tex(S / 2, 3)}$$"
    ) == {"8.35": "6.35"}


decimals = st.integers(-40, 40).map(lambda k: k / 10)
matrices = st.lists(decimals, min_size=12, max_size=12, unique=True)


@settings(deadline=None, max_examples=40)
@given(matrices, st.sampled_from([2, 3, 4]))
def test_no_right_figure_is_refuted(numbers, places) -> None:
    """Whatever the numbers are, and each step computed from the exact ones before it."""
    q, k, v = np.array(numbers).reshape(3, 2, 2)
    s = q @ k.T / np.sqrt(2)
    given = "".join(f"$${n} = {tex(x, 1)}$$\n\n" for n, x in zip("QKV", (q, k, v), strict=True))
    text = (
        rf"{given}$$S = Q K^T / \sqrt{{2}} \approx {tex(s, places)}$$"
        + rf"$$A = \text{{softmax}}(S) \approx {tex(softmax(s), places)}$$"
        + rf"$$Y = A V \approx {tex(softmax(s) @ v, places)}$$"
    )
    assert refuted(text) == {}


def test_zeros_of_a_dropout_are_open() -> None:
    """Figures of which nobody knows how they are made are refuted by nothing."""
    weights = np.array([[0.4992, 0.5008], [0.3597, 0.6403], [0.2513, 0.7487]])
    dropped = 2 * weights * np.array([[1, 1], [1, 0], [1, 1]])
    code = f"A = torch.tensor({np.array2string(weights, separator=', ')})"
    shown = np.array2string(dropped, separator=", ", precision=4, floatmode="fixed")
    text = (
        f"```python\n{code}\nB = nn.Dropout(0.5)(A)\nprint(B)\n```\n\n```\ntensor({shown})\n```\n"
    )
    assert refuted(text) == {}


def test_one_wrong_operand_that_explains_several_figures_leaves_them_open() -> None:
    """A figure of an input would make a whole column right: who is wrong is not decided."""
    keys = K.copy()
    keys[1, 0] = 3.4
    given = "".join(f"$${n} = {tex(x, 1)}$$\n\n" for n, x in zip("QK", (Q, keys), strict=True))
    found = audited(f"{given}$$Q K^T = {tex(S, 2)}$$")
    assert found.count(Verdict.REFUTED) == 0
    assert len([one for one in found.unjudged if "one other number" in one.why]) == 2


def test_work_on_what_defines_each_other_is_bounded_and_told() -> None:
    """Each name is said again and again, by the others: ended by counting, not by a clock."""
    lines = (
        f"$X = Y + Z = [{k}.25, 2.5]$, $Y = X + Z = [1.25, {k}.5]$, $Z = X + Y = [1.5, 2.25]$"
        for k in range(60)
    )
    found = audited("\n\n".join(lines))
    assert [one.why for one in found.open if one.what == "equations"] == [CLOSED.said()]


def test_powers_with_a_sign_and_floats_of_64_bits_hold() -> None:
    """Authors leave brackets out, and programs show their last bits."""
    assert refuted("So $-1^2 = 1$ and $-1^2 = -1$.") == {}
    assert refuted("`0.1 + 0.2 = 0.30000000000000004`") == {}


def test_a_quantity_called_e_is_an_input() -> None:
    """A case file reserves the name, an article has it."""
    assert refuted("$e = 0.2$ and $y = 2 e + 1 = 1.5$") == {"1.5": "1.4"}


def test_a_block_below_a_label_that_is_wrong_throughout_is_one_finding() -> None:
    """The label says what is done to the block before; entries worked one by one are as many."""
    found = audited("```\nScores: [2.0, 1.0, 0.1]\nAfter softmax: [0.71, 0.21, 0.08]\n```\n")
    assert (found.count(Verdict.REFUTED), len(found.roots)) == (3, 1)
    apart = audited("$$[2 * 3, 3 * 4, 4 * 5] = [7, 13, 21]$$")
    assert (apart.count(Verdict.REFUTED), len(apart.roots)) == (3, 3)


def test_a_single_result_of_numbers_is_corrected_by_hand() -> None:
    """The product may be right, and a factor wrong; where others of it hold, it is not."""
    alone = "Then $6.4 * 1.2 = 9.65$."
    assert refuted(alone) == {"9.65": "7.68"}
    assert fixed(audited(alone), audited).text == alone
    several = "Then $[1, 2, 3] * 2 = [2, 4, 7]$."
    assert fixed(audited(several), audited).text == several.replace("7", "6")


def test_a_fraction_of_one_sign_is_a_number() -> None:
    """As two whole numbers are, one over the other."""
    assert refuted("The loss is L = ½·(-4)² = 8.0 and R = ¾ · 2 = 1.5.") == {}
    assert refuted("The loss is L = ½·(-4)² = 8.5 and R = ¾ · 2 = 1.5.") == {"8.5": "8.0"}


@pytest.mark.parametrize(("second", "wrong"), [("0.64", {}), ("0.46", {"0.46": "0.64"})])
def test_a_softmax_of_a_column_of_numbers_is_one_of_all_of_them(second, wrong):
    """As everybody means it."""
    column = r"\begin{{bmatrix}} {} \\ {} \\ {} \end{{bmatrix}}"
    scores, weights = column.format(-1.2, 1.6, 0.9), column.format("0.04", second, "0.32")
    assert refuted(rf"$$\text{{softmax}}\left({scores}\right) = {weights}$$") == wrong


PROGRAM = """# The projections

```python
X = np.array([[0.5, 0.1, -0.4], [0.6, 0.2, -0.3]])
W_Q = np.array([[0.2, 0.3], [0.4, 0.1], [0.3, 0.2]])
Q = X @ W_Q
```

We get

```python
Q = np.array([
    [0.020, 0.080],  # first
    [0.110, {}]   # second
])
s = Q @ Q.T
```

```python
s = np.array([[0.0068, {}], [0.0134, 0.0317]])
```
"""


def test_numbers_of_a_name_that_was_computed_are_what_came_of_it() -> None:
    """In another section, or of inputs with as many decimals, they may be given anew."""
    assert refuted(PROGRAM.format("0.140", "0.0134")) == {}
    assert refuted(PROGRAM.format("0.160", "0.0150"))["0.160"] == "0.140"
    # What follows from the wrong figure is right as printed, and another without it.
    assert refuted(PROGRAM.format("0.160", "0.0150"))["0.0150"] == "0.0134"
    assert "0.160" not in refuted(PROGRAM.format("0.160", "0.0150").replace("We get", "# Another"))
    coarse = PROGRAM.format("0.160", "0.0150").split("s = Q")[0].replace("0.020, 0.080", "0.5, 0.1")
    assert refuted(coarse.replace("0.110, 0.160", "0.2, 0.7") + "```\n") == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # The second side is what a value comes of, the first is another.
        ("We have $0.3 \\cdot 0.5 = 0.25 \\cdot 0.5 = 0.125$.", {"0.25": "0.30", "0.125": "0.150"}),
        ("So $1/3 \\approx 0.33 \\cdot 1 = 0.33$ and 2 * 3 = 6 * 4 = 24.", {}),
        ("[1 * 2, 3 * 4] = [2, 12] + [1, 1] = [3, 13]", {}),
        ("e^{3.54}/e^{7.21} \\approx 34/1353 \\approx 2.5%", {}),
        (
            "$0.9\\log\\frac{0.9}{0.5} + 0.1\\log\\frac{0.1}{0.5}"
            " \\approx 0.9 \\cdot 0.85 + 0.1 \\cdot (-1.32) \\approx 0.63 \\text{ bits}$",
            {"-1.32": "-2.32", "0.63": "0.53"},
        ),
        # An array of numbers that no value follows is what its name is said to be.
        (
            "$$P = [e^2 / (e^2 + e^1), e^1 / (e^2 + e^1)]$$ so $$P = [0.73, 0.37]$$",
            {"0.37": "0.27"},
        ),
        # The cosine of vectors that are known to two digits.
        ("cosine([0.72, 0.31, 0.18], [0.79, 0.33, 0.18]) = 0.96", {"0.96": "1.00"}),
        ("sin(1 / 10000^(2/512)) ≈ 0.001 and 10000^{2/4} = 100", {"0.001": "0.822"}),
        # What an arrow does.
        ("$$[2, 1] \\xrightarrow{\\times \\frac{1}{2}} [1.0, 0.6]$$", {"0.6": "0.5"}),
        ("```\nout = 0.51[1,2] + 0.49[5,6]\n    ≈ [2.96, 3.69]\n```", {"3.69": "3.96"}),
        ("With k=10: τ=1.5/k=100/p=0.95 and y = 4 / 2 = 2.", {}),
        ("Here d_model = 4, h = 8 and d_k = d_model / h. An example has d_k = 2.", {}),
        (
            "$$g = [0.5, 0.1]$$ $$dW = 2 g$$\n\n```\nBackward shapes:\n"
            "  x: [1, 2] → same as before\n  W: [2, 1] → as before\n  b: [1, 1] → so\n"
            "  dW: [2, 1]   → as W\n```",
            {},
        ),
    ],
)
def test_what_stands_there_is_what_is_stated(text, found) -> None:
    assert refuted(text.replace("\\\\", "\\")) == found


MASKED = """```python
mask = np.triu(np.ones((3, 3)), k=1)
mask = mask * -1e9
# [[ 0, -inf, -inf],
#  [ 0,  0,   -inf],
#  [ 0,  0,    0 ]]
scores = given + mask  # [[2, -inf, -inf],
                       #  [1,  2,   -inf],
                       #  [3,  1,    2  ]]
weights = softmax(scores)
# [[1.0, 0, 0],   # first
#  [{}, 0.73, 0],
#  [0.67, 0.09, 0.24]]
```
"""


def test_a_comment_of_several_lines_says_what_a_statement_gives() -> None:
    """Scores below -9999 are minus infinity; what nobody knows is what a comment says."""
    assert refuted(MASKED.format("0.27")) == {}
    assert refuted(MASKED.format("0.40")) == {"0.40": "0.27"}


OUTPUT = """```python
w = softmax(np.array([2.0, 1.0, 0.5]))
print(f"first: {{w[0]:.3f}}")
print(f"others: {{w[1]:.3f}} {{w[2]:.3f}}")
# Output:
# first: {}
# others: 0.231 0.140
print(w[1:])
# [0.231, 0.140] → the rest
```
"""


def test_comments_are_held_against_all_that_is_printed_before() -> None:
    assert refuted(OUTPUT.format("0.629")) == {}
    assert refuted(OUTPUT.format("0.692")) == {"0.692": "0.629"}


def test_a_row_of_figures_that_come_by_chance_is_no_analogy() -> None:
    """Small whole numbers are in many a place."""
    text = (
        "$$A = [[1, 1], [0, 1], [1, 0]]$$ $$B = [[1, 2], [0, 1], [1, 0]]$$ $$W = [[1, 1], [0, 1]]$$"
    )
    assert refuted(f"{text} $$[1, 1] W = [1, 2]$$") == {}


def test_a_whole_number_that_is_far_off_is_a_setting() -> None:
    """Of a name that was worked out: it is given anew, for other sizes."""
    text = "Here h = 512 and a = 8.\n\nThe crossing is at $c = 11 h / (5 a)$.\n\nNow {}.\n"
    assert refuted(text.format("c = 32768, h = 4096")) == {}
    assert refuted(text.format("$c = 141$")) == {}
    assert refuted(text.format("$c = 151$")) == {"151": "141"}


def test_rows_beside_each_other_are_no_result_of_the_line_above() -> None:
    text = (
        "```\nY = [0.33  0.67] × [1  1] = [0.33×1 + 0.67×0  0.33×1 + 0.67×1]\n"
        "    [0.67  0.33]   [0  1]   [0.67×1 + 0.33×0  0.67×1 + 0.33×1]\n```\n"
    )
    assert refuted(text) == {}
