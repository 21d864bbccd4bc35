"""What a place may be in two ways: it never holds as one thing and is refuted as another."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.auditing.audit import audit
from symattn.auditing.fixing import fixed
from symattn.cases.article import case_of
from symattn.documents.binding.binder import read
from symattn.documents.files import article
from symattn.verdicts import Verdict

#: Scores are scaled, and weights are nearly those of the scores before that.
UNSCALED = r"""# Weights of hens

$$S = \begin{bmatrix} 0.9 & 1.7 & 2.5 \\ 1.4 & 3.1 & 5.2 \\ 2.2 & 4.9 & 7.6 \end{bmatrix}$$

$$\frac{S}{\sqrt{2}} =
\begin{bmatrix} 0.64 & 1.20 & 1.77 \\ 0.99 & 2.19 & 3.68 \\ 1.56 & 3.46 & 5.37 \end{bmatrix}$$

$$\text{softmax}\left(\begin{bmatrix} 0.64 & 1.20 & 1.77 \\ 0.99 & 2.19 & 3.68 \\
1.56 & 3.46 & 5.37 \end{bmatrix}\right) \approx
\begin{bmatrix} 0.12 & 0.27 & 0.61 \\ 0.02 & 0.11 & 0.87 \\ 0.01 & 0.06 & 0.93 \end{bmatrix}$$

Sums are $0.64 + 1.20 + 1.77 = 3.61$ and $0.99 + 2.19 + 3.68 = 6.86$, and
$1.56 + 3.46 + 5.37 = 10.39$.
"""

#: A product that is wrong, printed again as an input of the next.
REPEATED = r"""# Seed for hens

$$C = \begin{bmatrix} 0.25 & 0.75 \\ 0.5 & 0.5 \end{bmatrix}
\begin{bmatrix} 1.6 & 2.4 \\ 0.8 & 1.2 \end{bmatrix}
= \begin{bmatrix} 1.14 & 1.62 \\ 1.20 & 1.80 \end{bmatrix}$$

Put side by side, with

$$C = \begin{bmatrix} 1.14 & 1.62 \\ 1.20 & 1.80 \end{bmatrix}, \quad
U = \begin{bmatrix} 2.5 & 1.5 \\ 0.5 & 2.5 \end{bmatrix}$$

$$C U = \begin{bmatrix} 3.66 & 5.76 \\ 3.90 & 6.30 \end{bmatrix}$$
"""

#: A working that slips comes to another figure than the right one behind it.
SLIPPED = r"""# Scores of hens

$$Q = \begin{bmatrix} 1.4 & 0.7 \\ 1.1 & 2.6 \end{bmatrix}, \quad
K = \begin{bmatrix} 1.3 & 0.2 \\ 0.5 & 1.9 \end{bmatrix}$$

$$S = Q K^T = \begin{bmatrix} 1.96 & 2.03 \\ 1.95 & 5.49 \end{bmatrix}$$

The first of them is $S_{1,1} = 3.4 \cdot 0.3 + 2.7 \cdot 0.6 = 1.96$.
In short $S_{2,2} = 1.1 \cdot 0.5 + 2.6 \cdot 1.9 = 5.49$ and
$1.4 \cdot 0.5 + 0.7 \cdot 1.9 = 2.03$.
"""

#: Weights that are rounded coarsely, and go on so.
COARSE = """# What hens look at

```
softmax([2.0, 4.0, 4.0]) = [0.0, 0.5, 0.5]
```

```
1: 0.0 * [1, 2, 3] = [0.0, 0.0, 0.0]
2: 0.5 * [2, 8, 0] = [1.0, 4.0, 0.0]
```

The weights [0.0, 0.5, 0.5] are those of the first.
"""


def judged(text):
    return audit(case_of(read(article(Path("hens.md"), text.encode()))))


def places(found, verdict):
    return {figure.span for figure in found.figures if figure.verdict is verdict}


def texts(found, verdict):
    return sorted(one.text for one in found.figures if one.verdict is verdict)


def test_what_numbers_beside_a_block_come_to_comes_before_what_agrees_by_chance():
    """Five of nine figures are those of the scores that nobody scaled: none holds for that."""
    found = judged(UNSCALED)
    assert all(figure.claim.is_arithmetic for figure in found.figures if figure.line > 7)
    assert not places(found, Verdict.HOLDS) & places(found, Verdict.REFUTED)


def test_a_repeated_figure_is_not_right_by_that():
    """Where the numbers beside it come to another, it is wrong both times."""
    found = judged(REPEATED)
    assert texts(found, Verdict.REFUTED) == ["1.14", "1.62"]
    assert not places(found, Verdict.HOLDS) & places(found, Verdict.REFUTED)


def test_a_right_figure_behind_a_wrong_working_is_open():
    """Which of the numbers is wrong isn't known, and none is corrected."""
    found = judged(SLIPPED)
    assert texts(found, Verdict.REFUTED) == []
    (left,) = found.open
    assert left.why == "as S[0, 0] it is right, but the numbers beside it come to 2.64"
    assert fixed(found, judged).text == SLIPPED


def test_a_row_that_is_printed_again_is_not_corrected_in_one_place():
    """Else what follows would be computed with other figures than stand before it."""
    result = fixed(judged(COARSE), judged)
    assert [(one.printed, one.why) for one in result.left] == [
        ("0.0", "its row is printed again, and goes on as it is")
    ]
    assert result.text == COARSE
    alone = COARSE.replace("weights [0.0, 0.5, 0.5]", "weights")
    assert [one.correct for one in fixed(judged(alone), judged).fixes] == ["0.1"]


@pytest.mark.parametrize(
    ("sums", "wrong"),
    [
        (r"1 \cdot 2 + e^{-1} \cdot 4 = 4 e^{-1} + 2 \approx 3.4715", []),
        (r"1 \cdot 2 + 3 \cdot 4 = 12 + 2 = 14", []),
        (r"1 \cdot 2 + 3 \cdot 4 = 2 + 13 = 15", ["13", "15"]),
        (r"1 \cdot 2 + 3 \cdot 4 = 1 \cdot 2 + 13 = 15", ["13", "15"]),
        (r"0.5 \cdot 2 + 0.25 \cdot 4 = 1.0 + 1.1 = 2.1", ["1.1", "2.1"]),
    ],
)
def test_terms_of_sums(sums, wrong):
    """They are judged one by one where all are worked out or kept in their places, and so is what
    follows from them; a sum that is put in order is true as printed."""
    found = judged(f"The sum:\n\n$${sums}$$\n")
    assert [figure.text for figure in found.figures if figure.verdict is Verdict.REFUTED] == wrong
