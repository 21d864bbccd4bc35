"""What an author says to symattn, in notes and in a side file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.documents.files import article
from symattn.documents.help import Help, beside, help_of, read_side_file
from symattn.errors import Malformed
from symattn.expressions import syntax

#: How each form of article hides a note from its readers.
HIDDEN = {
    "post.md": "{before}<!-- symattn: {note} -->\n\n{after}",
    "post.qmd": "{before}<!-- symattn: {note} -->\n\n{after}",
    "post.html": "<p>{before}</p>\n<!-- symattn: {note} -->\n<p>{after}</p>\n",
    "post.tex": "{before}\n\n% symattn: {note}\n{after}\n",
    "post.txt": "{before}\n\n<!-- symattn: {note} -->\n{after}\n",
}
#: What a note says, and what is understood.
SAID = {
    "S_scaled = S / sqrt(d_k)": lambda held: held.steps["S_scaled"].text == "S / sqrt(d_k)",
    "attention = A": lambda held: held.steps["attention"].tree == syntax.Name("A"),
    "X = [[1, 0.50], [1/3, -inf]]": lambda held: (
        held.given["X"].entries == (("1", "0.50"), ("1 / 3", "-inf"))
    ),
    "d_k = 4": lambda held: held.given["d_k"].entries == "4",
    "tokens = cat, sat, mat": lambda held: held.tokens == ("cat", "sat", "mat"),
    'tokens = ["cat", "a, b"]': lambda held: held.tokens == ("cat", "a, b"),
    '"Context  Vectors" = Y': lambda held: held.aliases["context vectors"].text == "Y",
    '"blend" = Y': lambda held: {"blend"} == held.aliases.keys() == held.steps.keys(),
    "count from 0": lambda held: held.count_from == 0,
    "count from 1": lambda held: held.count_from == 1,
    "dL/dY = [[1, 0]]": lambda held: held.loss == {"output": "Y", "upstream": (("1", "0"),)},
}


def read(name: str, text: str) -> Help:
    """What is said in an article."""
    return help_of(article(Path(name), text.encode()))


@pytest.mark.sampled(29)
@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("note", SAID)
def test_each_note_in_each_form(name, note) -> None:
    """A note means the same in every form, and stands where it stands."""
    text = HIDDEN[name].format(before="so", note=note, after="then")
    made = article(Path(name), text.encode())
    held = help_of(made)
    assert SAID[note](held)
    for said in held.places.values():
        assert said.line == text[: text.index("symattn:")].count("\n") + 1
        assert said.span is not None
        assert made.text(said.span) == note


@pytest.mark.parametrize("name", HIDDEN)
def test_what_is_ignored(name) -> None:
    """The block behind the note, and nothing else."""
    held = read(name, text := HIDDEN[name].format(before="old", note="ignore", after="x is 5"))
    assert [text[slice(*span)].strip() for span in held.ignored] == ["x is 5"]


def test_what_is_ignored_between_notes() -> None:
    """Everything between them, and nothing outside."""
    text = "a\n\n<!-- symattn: ignore begin -->\n\nb\n\n# c\n\n<!-- symattn: ignore end -->\n\nd\n"
    (span,) = read("post.md", text).ignored
    inside = text[slice(*span)]
    assert all(inside.count(f"\n{line}\n") == 1 for line in ("b", "# c"))
    assert (text.index("\na\n") if text.startswith("\n") else 0) < span.start
    assert span.end < text.index("\nd\n")


def test_cells_of_a_notebook() -> None:
    """A cell with the tag claims nothing; notes stand in Markdown cells."""
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["<!-- symattn: T = S -->\n", "hi"]},
        {
            "cell_type": "code",
            "metadata": {"tags": ["symattn-ignore"]},
            "source": "x = 5",
            "outputs": [],
        },
        {"cell_type": "code", "metadata": {}, "source": "y = 6", "outputs": []},
    ]
    text = json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}, indent=1)
    held = read("post.ipynb", text)
    assert held.steps["T"].text == "S"
    assert text.splitlines()[held.steps["T"].said.line - 1].strip().startswith('"<!-- symattn')
    assert [text[slice(*span)] for span in held.ignored] == ["x = 5"]


def test_notes_of_several_lines() -> None:
    """Each line says one thing; one with open brackets goes on."""
    held = read("p.md", "<!-- symattn:\nX = [[1,\n 2]]\n\nT = X\ntokens = a\n-->\n")
    assert held.given["X"].entries == (("1", "2"),)
    assert (held.given["X"].said.line, held.steps["T"].said.line) == (2, 5)


def test_what_printed_values_are() -> None:
    """Quantities, for the values behind the note, in their order."""
    text = "0.1\n\n<!-- symattn: of A[0], A[1] -->\n0.5\n"
    (figures,) = read("p.md", text).figures
    assert [one.text for one in figures.expressions] == ["A[0]", "A[1]"]
    assert "0.5" in text[slice(*figures.span)]
    assert "0.1" not in text[slice(*figures.span)]


def test_headings_that_nobody_sees() -> None:
    """What is under a note that names a heading, up to the next heading."""
    text = '<!-- symattn: under "scaled scores" -->\n\na 0.5\n\n# next\n\nb 0.7\n'
    (under,) = read("p.md", text).under
    assert under.words == "scaled scores"
    assert "0.5" in text[slice(*under.span)]
    assert "0.7" not in text[slice(*under.span)]


FAULTY = {
    "T = S /": "'S /': expected a value",
    "ignore ende": "did you mean ignore end?",
    "ignore end": "no 'ignore begin' comes before it",
    "ignore begin": "no 'ignore end' follows",
    "ignore": "nothing follows it to ignore",
    "context vectors = Y": "a phrase in quotes",
    "tokens =": "a text for each token",
    "X = [[1, 2], [3]]": "X[1]: expected 2 numbers as in the other rows, found 1",
    "count from 2": "expected to count from 0 or 1, found '2'",
    '"..." = Y': "expected words in quotes",
    "0.5": "'0.5' names nothing",
    "A == B": "is no quantity",
    "under": "the words of a heading",
    "S = S / 2": "S is defined by itself",
    "dL/dY = Y": "expected numbers for dL/dY",
    "X = [" + "1, " * 2000 + "1]": "expression of 6007 characters; at most 4000",
}


@pytest.mark.parametrize("note", FAULTY)
def test_a_note_that_cannot_be_read(note) -> None:
    """It is a fault at its line that says what was expected; nothing is passed over."""
    with pytest.raises(Malformed) as raised:
        read("post.md", f"# T\n\n<!-- symattn: {note} -->\n")
    (fault,) = raised.value.faults
    assert (raised.value.source, fault.line) == ("post.md", 3)
    assert FAULTY[note] in str(fault)


def test_all_faults_at_once() -> None:
    """Those of notes and of the side file, each with its own file and line."""
    notes = "<!-- symattn: T = S -->\n\n<!-- symattn: ignore end -->\n"
    side = 'document = "post.md"\nsteps.T = "S"\n'
    with pytest.raises(Malformed) as raised:
        help_of(article(Path("post.md"), notes.encode()), written(side))
    assert [str(fault) for fault in raised.value.faults] == [
        "post.md:3: no 'ignore begin' comes before it",
        "post.symattn.toml:2: steps.T: T is already given in line 1 of post.md",
    ]


SIDE = """\
document = "post.md"
tokens = ["cat", "sat"]
count_from = 1
ignore = [2, "4-5"]
[given]
X = [[1, 0.50], ["1/3", -inf]]
[steps]
T = "S / sqrt(d_k)"
[aliases]
"Context vectors" = "Y"
[lines]
1 = "A[0], A[1]"
"3-4" = ["Y"]
[under]
"2-3" = "scaled scores"
[loss]
output = "Y"
upstream = [["g", 1]]
wrt = ["X"]
"""
TEXT = "one\ntwo\nthree\nfour\nfive\n"


class _Written:
    """Where side files of tests are put."""

    folder: Path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch) -> None:
    """Tests write into a folder of their own."""
    _Written.folder = tmp_path
    monkeypatch.chdir(tmp_path)


def written(text: str, name: str = "post.symattn.toml"):
    """A side file with that text."""
    path = _Written.folder / name
    path.write_text(text, "utf-8")
    return read_side_file(Path(name), Path)


def test_a_side_file() -> None:
    """Everything that it can say, in fewer lines than a case file has."""
    made = article(Path("post.md"), TEXT.encode())
    held = help_of(made, written(SIDE))
    assert held.tokens == ("cat", "sat")
    assert held.count_from == 1
    assert [made.text(span) for span in held.ignored] == ["two", "four\nfive"]
    assert held.given["X"].entries == (("1", "0.50"), ("1/3", "-inf"))
    assert held.steps["T"].text == "S / sqrt(d_k)"
    assert held.aliases["context vectors"].text == "Y"
    assert [
        (made.text(one.span), [part.text for part in one.expressions]) for one in held.figures
    ] == [("one", ["A[0]", "A[1]"]), ("three\nfour", ["Y"])]
    assert [(made.text(one.span), one.words) for one in held.under] == [
        ("two\nthree", "scaled scores")
    ]
    assert held.loss == {"output": "Y", "upstream": (("g", "1"),), "wrt": ["X"]}
    assert held.places["T"].line == SIDE[: SIDE.index("T =")].count("\n") + 1


ARTICLE = """# Weights

The weights of
cat are [0.5, 0.5].

## Later

Again 0.5 and 0.50.

# Other

In 2017 the weights were 0.5.
"""


@pytest.mark.parametrize(
    ("words", "piece", "ahead"),
    [
        ("Later", "Later\n\nAgain 0.5 and 0.50.\n\n# ", "Again 0.5 and 0.50.\n\n#"),
        ("Other", "Other\n\nIn 2017 the weights were 0.5.\n", "In 2017 the weights were 0.5."),
        ("weights  of cat", "The weights of\ncat are [0.5, 0.5].", "are [0.5, 0.5].\n\n##"),
        ("In 2017", "In 2017 the weights were 0.5.", "the weights were 0.5."),
        (
            "10-12",
            "# Other\n\nIn 2017 the weights were 0.5.",
            "# Other\n\nIn 2017 the weights were 0.5.",
        ),
    ],
)
def test_words_stand_for_what_they_announce(words, piece, ahead) -> None:
    """A heading for its section, other words for their block and what comes up to the
    next heading, wherever lines have moved to."""
    made = article(Path("post.md"), ARTICLE.encode())
    side = f'document = "post.md"\nignore = ["{words}"]\n[lines]\n"{words}" = "A"\n'
    held = help_of(made, written(side))
    assert [made.text(one) for one in held.ignored] == [piece]
    assert [made.text(one.span).strip() for one in held.figures] == [ahead]


def test_words_in_plain_text_are_their_lines() -> None:
    """Lines of plain text are paragraphs of their own."""
    made = article(Path("post.txt"), b"One is 1.\nTwo is\n2, three is 3.\nFour is 4.\n")
    held = help_of(made, written('document = "post.txt"\nignore = ["Two is 2"]\n'))
    assert [made.text(one) for one in held.ignored] == ["Two is\n2, three is 3."]


def test_figures_are_told_by_how_they_are_written() -> None:
    """In a side file and in a note, each with what it is of."""
    made = article(Path("post.md"), ARTICLE.encode())
    side = 'document = "post.md"\n[lines]\n8 = {"0.50" = "A[0, 1]", "50 %" = ["A[0]", "A[1]"]}\n'
    noted = read("p.md", "<!-- symattn: -0.5 = A[0, 0] -->\n\nhi\n")
    for held, said in (
        (help_of(made, written(side)), [("0.50", ["A[0, 1]"]), ("50%", ["A[0]", "A[1]"])]),
        (noted, [("-0.5", ["A[0, 0]"])]),
    ):
        assert [(one.text, [e.text for e in one.expressions]) for one in held.figures] == said


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("weights", "'weights' occurs in lines 3, 12: expected words that occur only once"),
        ("no such", 'expected lines such as 12 or "30-41", a heading or words of post.md, found'),
        ("--", "expected lines such as 12"),
    ],
)
def test_words_that_are_nowhere_or_everywhere(key, message) -> None:
    """Are told, with the lines that they stand in."""
    made = article(Path("post.md"), ARTICLE.encode())
    with pytest.raises(Malformed) as raised:
        help_of(made, written(f'document = "post.md"\n[lines]\n"{key}" = "A"\n'))
    assert message in str(raised.value)


SIDE_FAULTS = {
    "lines.1 = {x = 'A'}": 'post.symattn.toml:2: lines.1: expected a figure such as "0.507"',
    "lines.1 = '0.5'": "post.symattn.toml:2: lines.1: '0.5' names nothing: expected a quantity",
    'tokns = ["a"]': "post.symattn.toml:2: tokns: unknown key 'tokns': did you mean tokens?",
    'tokens = "a"': "post.symattn.toml:2: tokens: expected a list, found text",
    "count_from = 3": "post.symattn.toml:2: count_from: expected to count from 0 or 1",
    "ignore = [1, 9]": "post.symattn.toml:2: ignore[1]: post.md has 5 lines, found line 9",
    'ignore = [\n"3-2"]': "post.symattn.toml:3: ignore[0]: line 2 is before line 3",
    "ignore = [0.5]": 'post.symattn.toml:2: ignore[0]: expected lines such as 12 or "30-41"',
    "lines.x = 'A'": "post.symattn.toml:2: lines.x: expected lines such as 12",
    "lines.1 = 'A['": "post.symattn.toml:2: lines.1: 'A[': expected",
    "lines.1 = [2]": "post.symattn.toml:2: lines.1: expected an expression as text, found a number",
    "steps.S = 4": "post.symattn.toml:2: steps.S: expected an expression as text",
    "given.X = [[1],\n['x']]": "post.symattn.toml:3: given.X[1][0]: 'x' is not an exact number",
    "loss.outptu = 'Y'": "post.symattn.toml:2: loss.outptu: unknown key 'outptu': did you mean",
    "loss.wrt = 'Y'": "post.symattn.toml:2: loss.wrt: expected a list of names",
    "under.1 = ''": "post.symattn.toml:2: under.1: expected the words of a heading, found nothing",
}


@pytest.mark.parametrize("text", SIDE_FAULTS)
def test_faults_of_a_side_file(text) -> None:
    """Each is told with its line and its place in the file."""
    with pytest.raises(Malformed) as raised:
        help_of(article(Path("post.md"), TEXT.encode()), written(f'document = "post.md"\n{text}\n'))
    assert str(raised.value).startswith(SIDE_FAULTS[text])


def test_a_side_file_is_found_by_itself() -> None:
    """By its name beside the article, unless it is about another one that is there."""
    for name in ("post.md", "post.tex"):
        (_Written.folder / name).write_text("hi", "utf-8")
    written('document = "post.md"\n')
    found = beside(Path("post.md"))
    assert found is not None
    assert found.path.name == "post.symattn.toml"
    assert beside(Path("post.tex")) is None
    assert beside(Path("other.md")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "document: missing: expected the article's name"),
        ("document = 3", "post.symattn.toml:1: document: expected the article's name as text"),
        ("document = 'psot.md'", "there is no 'psot.md' beside it: did you mean post.md?"),
        ("document = ", "not valid TOML"),
    ],
)
def test_a_side_file_of_nothing(text, message) -> None:
    """One that is about no article is told, also where it was found by itself."""
    (_Written.folder / "post.md").write_text("hi", "utf-8")
    (_Written.folder / "post.symattn.toml").write_text(text, "utf-8")
    with pytest.raises(Malformed, match=r"post\.symattn\.toml") as raised:
        beside(Path("post.md"))
    assert message in str(raised.value)


@given(st.text(alphabet="AX[](),=\"' 01./-\nintokesgr#", max_size=60))
def test_any_note(text) -> None:
    """Whatever a note says, it is understood or a fault at one of its lines."""
    made = article(Path("p.md"), f"<!-- symattn: {text.replace('--', '')} -->\n\nhi\n".encode())
    places: list[int] = []
    try:
        places += [said.line for said in help_of(made).places.values()]
    except Malformed as error:
        places += [fault.line for fault in error.faults]
    assert all(1 <= line <= text.count("\n") + 1 for line in places)


def test_no_more_than_is_read() -> None:
    """Of very many lines of a side file it is told that they are too many, and of names too."""
    lines = "".join(f'"{n}" = "A"\n' for n in range(1, 1200))
    steps = "".join(f'S{n} = "X"\n' for n in range(1, 300))
    side = f'document = "post.md"\n[lines]\n{lines}[steps]\n{steps}'
    with pytest.raises(Malformed) as raised:
        help_of(article(Path("post.md"), TEXT.encode()), written(side))
    first = str(raised.value.faults[0])
    assert first == "lines: 1199 notes; at most 1000 are read"
    assert "at most 100 are read" in str(raised.value.faults[1])


def test_no_more_phrases_than_are_looked_for() -> None:
    """Each costs a look at all words, so that there are few."""
    notes = "".join(f'<!-- symattn: "phrase {n}" = Y -->\n' for n in range(101))
    with pytest.raises(Malformed, match=r"post\.md:101: 101 phrases; at most 100 are read"):
        read("post.md", notes)
