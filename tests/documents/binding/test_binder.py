"""Articles are bound to what they say that their figures are."""

from pathlib import Path

import pytest

from symattn.auditing.audit import audit
from symattn.cases.article import case_of
from symattn.documents.binding.binder import Binder, read
from symattn.documents.binding.standard import Variant
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


GRADIENT = r"""$$X = \begin{bmatrix} 1 & 0 \\ 0 & 2 \end{bmatrix}, \quad
V = \begin{bmatrix} 3 & 1 \\ 1 & 5 \end{bmatrix}$$

$$P = \mathrm{softmax}(X), \quad Y = P V$$

$$\frac{\partial L}{\partial Y} = \begin{bmatrix} 1 & 0 \\ 2 & 1 \end{bmatrix}$$

## Values

$$\frac{\partial L}{\partial V} = P^\top \frac{\partial L}{\partial Y} \approx
\begin{bmatrix} 0.97 & 0.12 \\ 2.03 & 0.88 \end{bmatrix}$$

"""


def bound(reading) -> dict[str, str]:
    """What the figures of an article are of, by where they begin."""
    return {number.text: number.of for number in reading.numbers if number.status == "bound"}


def test_the_working_of_an_entry_of_a_gradient_is_bound_to_it():
    """Numbers that an entry of what was shown last is worked out from are its operands."""
    words = "For instance, the entry in row 2, column 1 is"
    text = rf"{GRADIENT}{words} $0.269 \cdot 1 + 0.881 \cdot 2 = 2.031$."
    found = bound(read_text(text))
    assert found["0.269"] == "P[0, 1]"
    assert found["2.031"] == "grad(V)[1, 0]"


def test_arithmetic_that_comes_out_right_is_no_wrong_figure_of_what_words_suggest():
    """What isn't the working of the entry that is spoken of isn't its value either."""
    reading = read_text(rf"{GRADIENT}The value in row 2, column 1: $0.25 \cdot 4 + 1.5 = 2.5$.")
    assert "2.5" not in bound(reading)


def test_subscripts_of_a_gradient_count_like_those_of_its_quantity():
    """The first entry of a gradient has the subscripts 1, 1."""
    text = GRADIENT + r"$$\frac{\partial L}{\partial V_{11}} \approx 0.9698$$"
    assert bound(read_text(text))["0.9698"] == "grad(V)[0, 0]"


def test_what_is_only_supposed_is_no_claim():
    """Another number in a sentence that supposes so is not judged; without that it is given
    anew."""
    scaled = r"With $\tau = 4$ the scores are $S = X X^\top / \tau$."
    text = ARTICLE.replace("$$S = X", f"{scaled}\n\n$$S = X", 1)
    supposed = read_text(text + r"With $\tau = 0.5$ instead, nobody would look elsewhere.")
    ((status, why),) = {(one.status, one.why) for one in supposed.numbers if one.text == "0.5"}
    assert (status, why) == ("ignored", "it is only supposed")
    said = read_text(text + r"From here on, $\tau = 0.5$.")
    assert [one.of for one in said.numbers if one.text == "0.5"] == ["tau_2"]


LETTERS = r"""$$s_1 = (1, 0.5), \quad s_2 = (-0.5, 2)$$

$$h_1 = (1, 1), \quad h_2 = (0, 1), \quad h_3 = (0.5, -1)$$

The scores are $e_{ij} = \langle s_i, h_j \rangle$.

"""


def test_states_of_any_letters_have_inner_products():
    """Rows that are given one by one make a matrix, whatever their letters."""
    reading = read_text(LETTERS)
    assert [step.expression for step in reading.steps.values()] == ["S @ H.T"]


def test_a_matrix_may_be_named_by_its_entries():
    """``E = (e_ij)`` is another name; equations may stand in the columns of an array."""
    rows = r"e_{21} &=& 1.5, \\ e_{22} &=& 2.0"
    matrix = r"\begin{bmatrix} 1.5 & 0.5 & 0 \\ 1.5 & 2 & -2.25 \end{bmatrix}"
    text = (
        rf"{LETTERS}$$\begin{{array}}{{rcl}} {rows} \end{{array}}$$"
        "\n\n"
        rf"$$E = (e_{{ij}}) = {matrix}$$"
    )
    reading = read_text(text)
    assert [claim.text.partition("[")[2] for claim in reading.claims] == ["1, 0]", "1, 1]", ""]


CLAUSES = (
    "Our tokens are *we like tea*, and the attention weights $A = \\mathrm{softmax}(X)$ of "
    "$$X = \\begin{bmatrix} 1 & 0 & 1 \\\\ 0 & 2 & 1 \\\\ 1 & 1 & 0 \\end{bmatrix}$$\n\n"
)


def test_itself_is_the_token_of_its_own_clause():
    """In "we (42.2 % on tea) ... than tea does (15.5 % on itself)" itself is tea."""
    said = "So *we* (42.2% on *tea*) looks elsewhere than *tea* does (15.5% on itself)."
    reading = read_text(CLAUSES + said)
    of = {one.text: one.of for one in reading.numbers if one.text.endswith("%")}
    assert of == {"42.2%": "100 * A[0, 2]", "15.5%": "100 * A[2, 2]"}


@pytest.fixture
def tried(monkeypatch):
    """The forms of the recipe that an article is read with."""
    found = []
    whole = Binder.__init__

    def counted(binder, article, passages, variant, *others):
        found.append(variant)
        whole(binder, article, passages, variant, *others)

    monkeypatch.setattr(Binder, "__init__", counted)
    return found


INPUTS = """# One head of a causal model

```
Q = [[1, 0], [0, 1]]
K = [[1, 1], [0, 2]]
V = [[1, 2], [3, 4]]
```
"""


def test_an_article_is_read_once_where_it_leaves_no_form_open(tried):
    """Of forms that only differ in what nobody asks for, one is read."""
    text = f"{INPUTS}\n$$S = Q K^T = [[1, 0], [1, 2]]$$"
    made = read(article(Path("post.md"), text.encode()))
    assert [claim.text for claim in made.claims] == ["S"]
    assert tried == [Variant()]


def test_an_article_is_read_with_each_form_that_it_may_mean(tried):
    """The weights may be scaled or not, masked or not: all four are read, and the one that
    the figures agree with is taken."""
    text = f"{INPUTS}\nThe attention weights are\n\n```\n[[1.0, 0.0], [0.27, 0.73]]\n```\n"
    made = read(article(Path("post.md"), text.encode()))
    assert len(tried) == len(set(tried)) == 4
    assert {name: step.expression for name, step in made.steps.items()} == {
        "S": "Q @ K.T",
        "M": "causal(S)",
        "A": "softmax(M)",
    }


EXERCISE = r"""# Two hens

$$X = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}, \quad
Q = X X = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}$$

## Exercise

Now let

$$Q = \begin{bmatrix} 2 & 0 \\ 0 & 2 \end{bmatrix}$$

and say what comes out.
"""


def test_zeros_of_another_example_do_not_hold():
    """Half of its figures agree, and say less than the other half."""
    found = audit(case_of(read(article(Path("post.md"), EXERCISE.encode()))))
    assert {figure.line for figure in found.figures} == {4}
    assert [(one.what, one.why) for one in found.unjudged] == [
        (text, f"it may not be Q{place}: too little around it agrees to be sure what it is")
        for text, place in zip("2002", ("[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"), strict=True)
    ]


WARMER = r"""# Warm and cold

$$z = \begin{bmatrix} 1.2 & 0.4 \\ 0.3 & 1.9 \end{bmatrix}, \quad T = 2$$

$$p = \mathrm{softmax}(z / T) =
\begin{bmatrix} 0.5987 & 0.4013 \\ 0.3100 & 0.6900 \end{bmatrix}$$

## Colder

Now $T = 0.5$, so that

$$p = \mathrm{softmax}(z / T) =
\begin{bmatrix} 0.8320 & 0.1680 \\ 0.0392 & 0.9608 \end{bmatrix}$$
"""


def test_a_number_that_is_given_anew_is_meant_from_there_on():
    """What it was before says nothing of what follows."""
    found = audit(case_of(read(article(Path("post.md"), WARMER.encode()))))
    assert [figure.text for figure in found.figures][-4:] == [
        "0.8320",
        "0.1680",
        "0.0392",
        "0.9608",
    ]
    assert {figure.verdict.value for figure in found.figures} == {"holds"}
    assert not found.unjudged
