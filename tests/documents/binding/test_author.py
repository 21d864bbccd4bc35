"""What an author says of an article decides how it is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.cases import library
from symattn.documents.binding.binder import read as read_reading
from symattn.documents.files import article, read_article
from symattn.documents.help import beside, help_of
from symattn.documents.reading import case_text
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.verdicts import Verdict
from tests.documents import marks

CORPUS = Path(__file__).parent.parent / "corpus"

#: An article in words of its own, that no reader could know: weights of half the scores.
POST = """# Two words

Inputs: $X = [[1, 0], [0, 1]]$

## Glances

The glances, for *cat* first:

$$[0.62, 0.48]$$

$$[0.38, 0.62]$$

The blend is $[[0.62, 0.38], [0.38, 0.63]]$.
"""
STEPS = """
S = X @ X.T / 2
A = softmax(S)
Y = A @ X
"""
NOTES = f"<!-- symattn:{STEPS}-->\n"
SIDE = 'document = "post.md"\n[steps]\n' + re.sub(r"= (.+)", r'= "\1"', STEPS)


def read(text: str, name: str = "post.md"):
    """The reading of an article with its notes."""
    made = article(Path(name), text.encode())
    return read_reading(made, help_of(made))


def bound(reading) -> dict[str, str]:
    """What each bound figure is the value of."""
    return {number.of: number.text for number in reading.numbers if number.status == "bound"}


def test_steps_and_figures() -> None:
    """Steps that the article doesn't say, and what the next values are: each is bound,
    and the wrong ones are found where they stand."""
    notes = NOTES + "<!-- symattn: A[0], A[1] -->\n"
    text = POST.replace("The glances", f"{notes}\nThe glances")
    reading = read(text.replace("The blend is", "<!-- symattn: Y -->\nThe blend is"))
    assert {name: one.expression for name, one in reading.steps.items()} == {
        "S": "X @ X.T / 2",
        "A": "softmax(S)",
        "Y": "A @ X",
    }
    found = bound(reading)
    assert found["A[0][1]"] == "0.48"
    assert found["Y[1, 1]"] == "0.63"


def test_a_side_file_does_the_same(tmp_path: Path) -> None:
    """Without a word in the article; its audit is by its own name or by the side file's."""
    more = "\nThe blend is, with more digits, $[[0.6225, 0.3775], [0.3775, 0.6225]]$.\n"
    (tmp_path / "post.md").write_text(POST + more, "utf-8")
    side = f'{SIDE}[aliases]\nblend = "Y"\n[lines]\n"9-11" = "A"\n'
    (tmp_path / "post.symattn.toml").write_text(side, "utf-8")
    for name in ("post.md", "post.symattn.toml"):
        found = audit(library.load(tmp_path / name))
        wrong = [one for one in found.figures if one.verdict.name == "REFUTED"]
        assert [(one.line, one.text, one.correct) for one in wrong] == [
            (9, "0.48", "0.38"),
            (13, "0.63", "0.62"),
        ]
        assert len(found.figures) == 12


WORDS = (
    POST
    + """
## Elsewhere

Others found [0.1, 0.9] in 2017, e is 2.72, and cat gives itself 0.6 to 0.6.
"""
)


def side_read(tmp_path: Path, side: str, steps: str = SIDE):
    """The reading of an article with a side file."""
    (tmp_path / "post.md").write_text(WORDS, "utf-8")
    (tmp_path / "post.symattn.toml").write_text(steps + side, "utf-8")
    made = read_article(tmp_path / "post.md")
    return read_reading(made, help_of(made, beside(tmp_path / "post.md")))


def test_what_words_announce(tmp_path: Path) -> None:
    """Values are known by the words before them or by their heading, figures by how they
    are written; constants as well."""
    side = """[lines]
"The glances" = "A[0], A[1]"
"The blend is" = "Y"
"Elsewhere" = {"2.72" = "exp(1)", "0.6" = "A[0, 0], A[1, 1]"}
"""
    found = bound(side_read(tmp_path, side))
    assert found["A[0][1]"] == "0.48"
    assert found["Y[1, 1]"] == "0.63"
    assert (found["exp(1)"], found["A[0, 0]"], found["A[1, 1]"]) == ("2.72", "0.6", "0.6")


def test_a_section_that_claims_nothing(tmp_path: Path) -> None:
    """All of a section is ignored by its heading."""
    side = SIDE.replace("[steps]", 'ignore = ["Elsewhere"]\n[steps]')
    for text, statuses in ((SIDE, {"ignored", "unread"}), (side, {"ignored"})):
        reading = side_read(tmp_path, "", text)
        start = reading.article.source.index("Elsewhere")
        assert {one.status for one in reading.numbers if one.span.start > start} == statuses


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('"Elsewhere" = {"0.7" = "A[0, 0]"}', "0.7 is printed nowhere there"),
        ('"Elsewhere" = {"0.9" = "A[0, 0], A[0, 1]"}', "0.9 is printed once there"),
        ('"Elsewhere" = {"0.9" = "A[0]"}', "A[0] is a vector of 2, found 1 figure"),
    ],
)
def test_figures_that_are_not_there(tmp_path: Path, lines: str, message: str) -> None:
    """Are told with the line of the side file."""
    with pytest.raises(Malformed, match=re.escape(message)):
        side_read(tmp_path, f"[lines]\n{lines}\n")


def test_a_figure_that_a_note_tells_comes_next() -> None:
    """The next one that is written so, wherever it stands in a formula or a sentence."""
    note = "<!-- symattn: 0.62 = A[1, 1] -->\n"
    text = NOTES + POST.replace("The blend", f"{note}\nThe blend")
    assert [one.of for one in read(text).numbers if one.text == "0.62"][2] == "A[1, 1]"


def test_what_an_author_says_is_not_assumed() -> None:
    """A step of the usual recipe that the author states is no assumption, though the
    article needs it before."""
    text = (
        "$$X = [[1, 0], [0, 1], [1, 1]]$$\n\nWith a causal mask the weights are\n\n"
        "$$S = X X^T / \\sqrt{2}$$\n\n$$A = \\mathrm{softmax}(S)"
        " = [[1, 0, 0], [0.33, 0.67, 0], [0.25, 0.25, 0.50]]$$\n"
    )
    for note, assumed in (("", True), ("<!-- symattn: M = causal(S) -->\n\n", False)):
        reading = read(note + text)
        assert (reading.steps["M"].assumed, bool(reading.assumptions)) == (assumed, assumed)


@pytest.mark.parametrize("phrase", ["The Blend", "blend", "blend  is"])
def test_a_phrase_binds_what_it_announces(phrase) -> None:
    """In any case and spacing, wherever it stands."""
    notes = f'{NOTES}<!-- symattn: "{phrase}" = Y -->\n'
    assert bound(read(notes + POST))["Y[1, 1]"] == "0.63"


def test_a_phrase_that_stands_for_a_row() -> None:
    """A phrase may stand for any expression."""
    text = f'{NOTES}<!-- symattn: "glances of cat" = A[0] -->\n{POST}'
    found = bound(read(text.replace("The glances, for *cat* first:", "Glances of cat:")))
    assert found["A[0][1]"] == "0.48"


def test_a_heading_that_only_symattn_sees() -> None:
    """Words of a role, and of a token, for all that is under the note."""
    text = "<!-- symattn: tokens = cat, sat -->\n" + NOTES + POST
    heading = '<!-- symattn: under "attention weights for cat" -->\n'
    found = bound(read(text.replace("The glances, for *cat* first:", heading)))
    assert found.get("A[0][1]", found.get("A[0, 1]")) == "0.48"


def test_given_numbers_win() -> None:
    """What the author gives is what is computed with; the article's own is a claim."""
    reading = read("<!-- symattn: X = [[2, 0], [0, 2]] -->\n" + NOTES + POST)
    assert reading.given["X"].entries == (("2", "0"), ("0", "2"))
    assert bound(reading)["X[0, 0]"] == "1"


def test_steps_win() -> None:
    """What the author says of a step is meant, whatever the article defines."""
    text = "$X = [[1, 0], [0, 1]]$ and $S = X X^T = [[0.5, 0], [0, 0.5]]$\n"
    assert {name: one.expression for name, one in read(text).steps.items()} == {"S": "X @ X.T"}
    told = read("<!-- symattn: S = X @ X.T / 2 -->\n" + text)
    assert {name: one.expression for name, one in told.steps.items()} == {"S": "X @ X.T / 2"}
    assert bound(told)["S[1, 1]"] == "0.5"


def test_what_is_ignored_claims_nothing() -> None:
    """Neither a claim nor a definition nor an input; its numbers are counted as ignored."""
    text = (
        "<!-- symattn: ignore -->\n$X = [[1, 2]]$, $0.5 + 0.5 = 2.0$ and 0.75.\n\n$1.5 + 1 = 2$\n"
    )
    reading = read(text)
    assert not reading.given
    assert [claim.text for claim in reading.claims] == ["1.5 + 1"]
    statuses = {number.text: number.status for number in reading.numbers}
    assert statuses["0.75"] == statuses["2.0"] == "ignored"
    assert [one.status for one in reading.numbers].count("ignored") == 6


def test_a_gradient_that_is_given() -> None:
    """The upstream gradient of a note is the loss of the case."""
    reading = read(NOTES + POST + "\n<!-- symattn: dL/dY = [[1, 0], [0, 1]] -->\n")
    assert reading.loss == {"output": "Y", "upstream": (("1", "0"), ("0", "1"))}


@pytest.mark.parametrize(
    ("note", "message"),
    [
        ("A[2]", "post.md:6: index 2 is outside axis 0 of 2x2"),
        ("A[0]", "post.md:6: A[0] is a vector of 2, found 4 figures"),
        ("A", "post.md:6: what is printed there is X[0, 0] already"),
        ("B[0]", "post.md:6: unknown name 'B': expected one of"),
        ("Z = A @ W", "post.md:6: unknown name 'W'"),
        ("Z = A @ [1, 2, 3]", "post.md:6: shapes don't fit"),
        ('"blend" = Q', "post.md:6: unknown name 'Q'"),
        ("tokens = a, b, c", "post.md:6: no input has 3 rows"),
        ("X, A, Y, Y", "post.md:6: Y is 2x2, found no figure"),
    ],
)
def test_what_an_author_speaks_of_is_there(note, message) -> None:
    """What isn't is a fault at the line of the note, and nothing is guessed."""
    with pytest.raises(Malformed) as raised:
        read(f"{NOTES}<!-- symattn: {note} -->\n{POST}")
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("note", "text", "found"),
    [
        ("A[0]", "The 2 words: 0.62 and 0.38.", {"A[0][0]": "0.62", "A[0][1]": "0.38"}),
        ("A[0, 1]", "In row 1 it is 0.38 here.", {"A[0, 1]": "0.38"}),
        (
            "A",
            "The cat: 0.62, 0.38; the dog: 0.38 and 0.63.",
            {"A[0, 0]": "0.62", "A[0, 1]": "0.38", "A[1, 0]": "0.38", "A[1, 1]": "0.63"},
        ),
        ("X[0]", "The cat is 1 and 0.", {"X[0][0]": "1", "X[0][1]": "0"}),
    ],
)
def test_figures_among_words_are_what_a_note_says(note, text, found) -> None:
    """In their order; whole numbers only where there are not enough without them."""
    inputs = "Inputs: $X = [[1, 0], [0, 1]]$"
    reading = read(f"{NOTES}\n{inputs}\n\n<!-- symattn: {note} -->\n{text}\n")
    start = reading.article.source.index(text)
    assert {
        number.of: number.text
        for number in reading.numbers
        if number.status == "bound" and number.span.start >= start
    } == found


@pytest.mark.parametrize(
    ("ignored", "found"),
    [
        ([(3, 5)], ["0.62", "0.38"]),
        ([(5, 5), (5, 6)], ["0.62", "0.38", "0.39", "0.61"]),
        ([(8, 8)], ["0.5"]),
        ([(9, 9), (6, 6)], ["0.39", "0.61", "0.25"]),
    ],
)
def test_parts_of_tables_and_paragraphs_are_ignored(ignored, found) -> None:
    """Rows of a table, lines of a paragraph, pieces that lie over each other."""
    text = (
        "Inputs: $X = [[1, 0], [0, 1]]$\n\n| word | cat | dog |\n|---|---|---|\n"
        "| cat | 0.62 | 0.38 |\n| dog | 0.39 | 0.61 |\n\nA 0.5 and\nthen 0.25.\n"
    )
    made = article(Path("post.md"), text.encode())
    held = type(help_of(made))(ignored=[made.lines(*lines) for lines in ignored])
    numbers = read_reading(made, held).numbers
    assert [one.text for one in numbers if one.status == "ignored"] == found


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_ignoring_changes_no_other_place(data) -> None:
    """Numbers outside of what is ignored stand where they stood, all of them."""
    lines = POST.splitlines()
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    made = article(Path("post.md"), POST.encode())
    whole = read_reading(made)
    held = help_of(made)
    ignored = type(held)(ignored=[made.lines(first, last)])
    found = read_reading(made, ignored)
    assert [one.span for one in found.numbers] == [one.span for one in whole.numbers]
    inside = [one for one in found.numbers if first <= made.place(one.span.start).line <= last]
    assert all(one.status == "ignored" for one in inside)


@pytest.mark.sampled(0, 6)
@pytest.mark.parametrize("path", marks.documents(CORPUS), ids=lambda path: path.name)
def test_the_walkthrough_file_of_an_article(path: Path, tmp_path: Path) -> None:
    """An audit of the file that an article amounts to judges the same figures alike, but
    those of claims that are doubted: these it doesn't have."""
    marked = marks.load(path)
    (tmp_path / marked.name).write_bytes(marked.text.encode())
    case = library.load(tmp_path / marked.name)
    assert case.reading is not None
    (tmp_path / "written.toml").write_text(case_text(case.reading), "utf-8")
    written = library.load(tmp_path / "written.toml")
    assert dict(written.steps) == dict(case.steps)
    assert str(written.given) == str(case.given)
    judged, again = (
        [
            (syntax.text(one.claim.tree), one.text, one.verdict, one.correct, one.cause)
            for one in audit(held).figures
            if not one.claim.doubt
        ]
        for held in (case, written)
    )
    assert judged == again
    assert judged


def test_options_of_an_authors_call_are_judged(tmp_path: Path) -> None:
    """A softmax down the columns is judged as that, and not as one along the rows."""
    text = """Inputs: $X = [[1, 0], [0, 2]]$

<!-- symattn: A = softmax(X, axis=0) -->

The weights: $A = [[0.73, 0.12], [0.27, 0.78]]$, and their product with the inputs
$Y = A X = [[0.731, 0.238], [0.269, 1.762]]$
"""
    (tmp_path / "post.md").write_text(text, "utf-8")
    case = library.load(tmp_path / "post.md")
    assert case.steps == {"A": "softmax(X, axis=0)", "Y": "A @ X"}
    judged = {
        one.text: one.correct for one in audit(case).figures if one.verdict is Verdict.REFUTED
    }
    assert judged == {"0.78": "0.88"}
    assert len(audit(case).figures) == 8


@pytest.mark.parametrize("step", ["X**2", "X > 0", "X + [[0, -inf], [0, 0]]", "gelu(X)"])
def test_an_author_writes_what_walkthrough_files_do(step) -> None:
    """A note's step may be any expression of the one grammar."""
    text = f"$X = [[1, 0], [0, 2]]$\n\n<!-- symattn: A = {step} -->\n\n$A = [[1, 0], [0, 4]]$\n"
    made = article(Path("post.md"), text.encode())
    assert "A" in read_reading(made, help_of(made)).steps
