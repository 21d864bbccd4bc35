"""What paragraphs speak of: rows that go on, and quantities that they name."""

from pathlib import Path

import pytest

from symattn.documents.binding.binder import read
from symattn.documents.files import article

TEA = """The embeddings are $X = \\begin{bmatrix} 1 & 0 \\\\ 0 & 2 \\\\ 1 & 1 \\end{bmatrix}$,
of the words "hot", "green" and "tea".

With $Q = K = X$ the scores are $S = Q K^\\top$, the weights are $A = \\mathrm{softmax}(S)$.

"""


def bound(text, name="post.md"):
    """What each figure is bound to, by its text and in its order."""
    made = read(article(Path(name), text.encode()))
    return [(one.text, one.of) for one in made.numbers if one.status == "bound"]


def test_a_list_of_shares_goes_on_with_its_row():
    """The tokens behind the shares of a row are columns: the row stays the same."""
    shares = "- **42.2%** to *hot*,\n- **15.5%** to *green*,\n- **42.2%** to *tea*.\n"
    assert bound(f"{TEA}Of its attention *hot* pays\n\n{shares}") == [
        ("42.2%", "100 * A[0, 0]"),
        ("15.5%", "100 * A[0, 1]"),
        ("42.2%", "100 * A[0, 2]"),
    ]


def test_a_paragraph_speaks_of_the_quantity_that_it_names():
    """The weights of a sentence that names those of another temperature are those."""
    text = TEA + (
        "With $H = \\mathrm{softmax}(2 S)$ the weights become\n\n"
        "| | hot | green | tea |\n|---|---|---|---|\n"
        "| hot | 0.468 | 0.063 | 0.468 |\n| green | 0.000 | 0.982 | 0.018 |\n"
        "| tea | 0.107 | 0.107 | 0.787 |\n"
    )
    assert [of for _, of in bound(text)] == [f"H[{i}, {j}]" for i in range(3) for j in range(3)]


def test_two_tokens_with_a_dot_between_them_are_a_score():
    """Their product is the score of the second for the first, whatever was spoken of."""
    text = TEA + "The keys of all:\n\n- **green** · **green** = 0 × 0 + 2 × 2 = **4**\n"
    assert bound(text)[-1] == ("4", "S[1, 1]")


def test_two_vectors_of_a_sentence_are_no_matrix():
    """What a row was before and what it is now are no two rows of one quantity."""
    text = TEA + "## Output\n\n$$Y = A X$$\n\nSo *tea* moved from [1.0, 1.0] to [0.33, 0.89].\n"
    assert ("1.0", "Y[0, 0]") not in bound(text)


def test_another_matrix_that_is_only_supposed_is_no_claim():
    """Exercises repeat an example with other values."""
    text = "Let $q = (2, -1)$.\n\nRepeat this with $q = (1, 1)$."
    made = read(article(Path("post.md"), text.encode()))
    assert [one.why for one in made.numbers if one.text == "1"][-2:] == ["it is only supposed"] * 2


@pytest.mark.parametrize("label", ["is", "Paris"])
def test_outputs_are_of_what_was_shown_behind_their_words(label):
    """A row that a loop prints behind a word is that which it showed behind it."""
    text = f"""```python
X = np.array([[1, 0], [0, 2]])
S = X @ X.T
for t, row in zip(["Paris", "is"], S):
    print(f"{{t:>6}}: {{row}}")
```

```
{label}: {"[1 0]" if label == "Paris" else "[0 5]"}
```
"""
    row = ["Paris", "is"].index(label)
    assert [of for _, of in bound(text)] == [f"S[{row}][{j}]" for j in range(2)]


PRINTED = """```python
X = np.array([[1, 0], [0, 2]])
S = X @ X.T
for j, s in enumerate(["here", "there"]):
    print(f"{{s:<6}}", *(f"{{t}} {{S[i, j]:.1f}}" for i, t in enumerate(["you", "me"])))
for row in S:
    print("row", [round(one, 1) for one in row])
```

```
{output}
```
"""


def test_figures_in_the_words_of_an_output_are_of_what_code_showed_behind_them():
    """Words tell which of the values that a line shows each is, also where it is wrong."""
    text = PRINTED.format(output="here   you 1.0 me 0.0\nthere  you 0.5 me 4.0")
    assert bound(text) == [
        ("1.0", "S[0, 0]"), ("0.0", "S[1, 0]"), ("0.5", "S[0, 1]"), ("4.0", "S[1, 1]"),
    ]  # fmt: skip
    assert bound(PRINTED.format(output="who   cares 1.0 at 0.0 all")) == []
