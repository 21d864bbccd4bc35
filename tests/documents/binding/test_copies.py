"""What a careful reader of a poor copy knows: whose row it is, and which figures come again."""

from pathlib import Path

import pytest

from symattn.documents.binding import tables
from symattn.documents.binding.binder import read
from symattn.documents.binding.coverage import Coverage
from symattn.documents.binding.ledger import Ledger
from symattn.documents.binding.recipe import Recipe
from symattn.documents.files import article
from symattn.documents.help import help_of
from symattn.documents.text import Span
from symattn.documents.trees import Labelled
from symattn.expressions.syntax import parse

GIVEN = """The sentence "snow falls softly" has these embeddings:

snow → [1, 0]
falls → [0, 2]
softly → [1, 1]

"""
#: exp and softmax of the scores [[1, 0, 1], [0, 4, 2], [1, 2, 2]].
SCORES = "Q = X\nK = X\nV = X\n\nS = Q @ K.T\n\nA = softmax(S)\n\nY = A @ V\n\n"


def bound(text: str, name: str = "copy.txt") -> dict[int, list[str]]:
    """What the numbers of each line are the values of, '' where that is not known."""
    made = article(Path(name), text.encode())
    found: dict[int, list[str]] = {}
    for one in read(made, help_of(made)).numbers:
        found.setdefault(made.place(one.span.start).line, []).append(one.of)
    return found


def line(text: str, piece: str) -> int:
    """The number of the first line with a piece."""
    return text[: text.index(piece)].count("\n") + 1


def said(text: str, piece: str) -> list[str]:
    """What the numbers in the first line with a piece are the values of."""
    return bound(text)[line(text, piece)]


ROWS = (
    GIVEN
    + SCORES
    + """Softmax

Row 0 ("snow"):

logits = [1, 0, 1]
shifted = logits - 1 = [0, -1, 0]
exp = [1, 0.4, 1]
sum = 2.4
softmax = [0.42, 0.17, 0.42]

Row 1 ("falls"):

logits = [0, 4, 2]
shifted = logits - 4 = [-4, 0, -2]
exp = [0.02, 1, 0.15]
sum = 1.17
softmax = [0.016, 0.865, 0.117]
"""
)


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("piece", "means"),
    [
        ("logits = [1", ["S[0][0]", "S[0][1]", "S[0][2]"]),
        ("exp = [1", [f"exp(S[0] - S[0, 0])[{k}]" for k in range(3)]),
        ("sum = 2.4", ["total(exp(S[0] - S[0, 0]))"]),
        ("softmax = [0.42", ["A[0][0]", "A[0][1]", "A[0][2]"]),
        ("logits = [0", ["S[1][0]", "S[1][1]", "S[1][2]"]),
        ("logits - 4", ["S[1, 1]", *(f"(S[1] - S[1, 1])[{k}]" for k in range(3))]),
        ("exp = [0.02", [f"exp(S[1] - S[1, 1])[{k}]" for k in range(3)]),
        ("sum = 1.17", ["total(exp(S[1] - S[1, 1]))"]),
        ("softmax = [0.016", ["A[1][0]", "A[1][1]", "A[1][2]"]),
    ],
)
def test_what_follows_is_of_the_row_that_was_spoken_of(piece, means):
    """Names that tell what they are stand for that of the row, until another is spoken of."""
    assert said(ROWS, piece) == means


def test_figures_that_are_not_those_of_the_row_are_left_open():
    """A name of something in a row does not make other figures its own."""
    assert said(ROWS + "\nexp = [9, 8, 7]\n", "exp = [9") == ["", "", ""]


WORKED = (
    GIVEN
    + SCORES
    + """Softmax for "falls"

e^0 = 1
e^4 = 55.6
e^2 = 7.39

Sum = 1 + 55.6 + 7.39 = 63.99

1 / 63.99 ≈ 0.016
55.6 / 63.99 ≈ 0.878
7.39 / 63.99 ≈ 0.115

"falls" pays 1.6% attention to "snow", 87.8% to itself and 11.5% to "softly".

Output vectors (weights × values)

Vector for "falls"

0.016 × [1, 0] = [0.016, 0]
0.878 × [0, 2] = [0, 1.756]
0.115 × [1, 1] = [0.115, 0.115]

Add:
dim 1: 0.016 + 0 + 0.115 = 0.141
dim 2: 0 + 1.756 + 0.115 = 1.871
"""
)


@pytest.mark.parametrize(
    ("piece", "means"),
    [
        ("e^4", ["S[1, 1]", "exp(S[1, 1])"]),
        ("Sum", [*(f"exp(S[1, {k}])" for k in range(3)), "total(exp(S[1]))"]),
        ("pays", [f"100 * A[1, {k}]" for k in range(3)]),
    ],
)
def test_a_wrong_figure_is_known_again_where_it_is_worked_with(piece, means):
    """Numbers in workings are what was printed before, right or wrong."""
    assert said(WORKED, piece) == means


def test_numbers_that_do_not_agree_are_not_known_by_the_row():
    """What lines of numbers work out must agree."""
    text = GIVEN + SCORES + 'Softmax for "falls"\n\n1 / 9.9 = 0.1\n8.8 / 9.9 = 0.9\n'
    assert said(text, "8.8") == ["", "", ""]


@pytest.mark.parametrize(
    ("chain", "means"),
    [
        ("Y[0] = 0.42*X[0] + 0.16*X[1] + 0.42*X[2]", ["A[0, 0]", "A[0, 1]", "A[0, 2]"]),
        ("X[1] · X[1] = 0 + 4 = 4", ["X[1, 0] * X[1, 0]", "X[1, 1] * X[1, 1]", "X[1] @ X[1]"]),
    ],
)
def test_numbers_stand_where_the_definition_has_them(chain, means):
    """A name may stand for what has its value, and a product of rows for its sum."""
    text = GIVEN + SCORES + chain + "\n"
    assert said(text, chain)[-len(means) :] == means


def test_a_term_that_is_taken_off_keeps_its_sign():
    """'-0.5 - 1' adds up -0.5 and -1."""
    text = "X = [[1, 2], [-1, 1]]\nW = [[1.5, 0.5], [0.5, -1]]\n\nQ = X @ W\n\n"
    text += "Q[1] = [-1.5 + 0.5, -0.5 - 1] = [-1, -1.5]\n"
    products = ["X[1, 0] * W[0, 0]", "X[1, 1] * W[1, 0]", "X[1, 0] * W[0, 1]"]
    assert said(text, "Q[1]") == [*products, "-(X[1, 1] * W[1, 1])", "Q[1][0]", "Q[1][1]"]


def test_values_in_a_list_are_of_what_is_announced():
    """Words that only go on say nothing new."""
    text = GIVEN + SCORES + "Output\n\nValues: snow=[1,0], falls=[0,2] and softly=[1,1]\n"
    assert said(text, "Values") == [f"V[{i}][{j}]" for i in range(3) for j in range(2)]


def test_what_a_heading_says_in_brackets_is_an_aside():
    """'Output (weights x values)' is about the output."""
    text = "# Post\n\n" + GIVEN + SCORES + "## Output vectors (weights and values)\n\nsnow:\n\n"
    text += "- for snow: [0.85, 0.73]\n"
    found = bound(text, "copy.md")[line(text, "0.85")]
    assert found == ["Y[0][0]", "Y[0][1]"]


PROGRAM = """# Post

```python
import numpy as np
X = np.array([[1, 0], [0, 2]])
S = X @ X.T
T = S / 2
print("Scores:")
print(S)
print("Halved:")
print(T)
```

{output}
"""


def test_an_output_is_that_of_the_words_before_it():
    """Where a value is named in an output, the next is what was shown after that; and words
    that a program shows are known where they come again."""
    text = PROGRAM.format(
        output="```text\nScores: S =\n[[1 0]\n [0 4]]\nHalved:\n[[0.5 0. ]\n [0.  2.1]]\n```"
    )
    assert bound(text, "copy.md")[line(text, "[0.  2.1")] == ["T[1, 0]", "T[1, 1]"]
    again = PROGRAM.format(output="Result:\n\n```python\nHalved:\n[[0.5, 0], [0, 2.1]]\n```")
    assert bound(again, "copy.md")[line(again, "2.1")] == [
        "T[0, 0]",
        "T[0, 1]",
        "T[1, 0]",
        "T[1, 1]",
    ]


def test_a_line_of_words_above_a_value_says_what_it_is():
    """In a listing as well, as far as its figures agree."""
    text = GIVEN + SCORES + "Summary\n\n```\nSoftmax (attention weights)\n"
    value = "[[0.42, 0.16, 0.42], [0.016, 0.867, 0.119], [0.16, 0.42, 0.42]]"
    found = bound(text + value + "\n```\n", "copy.md")[line(text + value, value)]
    assert found == [f"A[{i}, {j}]" for i in range(3) for j in range(3)]


def test_a_colon_announces_what_follows_in_a_section_about_nothing():
    """Rows with their labels are of what was announced, if their figures were printed of it."""
    text = GIVEN + SCORES + 'Attention weights for "falls": [0.016, 0.876, 0.117]\n\n'
    text += "What was learned?\n\nLet us read the attention weights again:\n\n"
    text += '"falls" — [0.016, 0.876, 0.117]\n\n- Dominated by self-attention (87.6%)\n'
    assert said(text, '"falls" —') == [f"A[1][{k}]" for k in range(3)]
    assert said(text, "Dominated") == ["100 * A[1, 1]"]


def test_labels_that_tell_quantities_are_no_tokens():
    """'logits' and 'softmax' under each other are not the words of a sentence."""
    text = "logits = [1, 2]\nsoftmax = [0.3, 0.7]\n"
    made = article(Path("copy.txt"), text.encode())
    assert read(made).tokens == ()


def test_rows_without_labels_are_those_of_no_token():
    """A header alone names no rows of a quantity that has more."""
    recipe = Recipe()
    recipe.give("X", parse("[[1, 0], [0, 2], [1, 1]]"), Span(0, 0))
    header = Labelled((parse("[1, 0]"), parse("[0, 2]")), columns_said=("one", "two"))
    held = Ledger(recipe, Coverage([]))
    assert tables.parts(header, parse("X"), held, ["snow", "falls", "softly"]) == []
