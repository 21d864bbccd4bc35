"""Plain text to blocks: copies of pages, with what copying does to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.documents import commonmark, plain
from symattn.documents.text import Text
from tests.documents.places import texts, untrue


def read(source):
    """The blocks of a text: kind, and what they say."""
    return [(block.kind, str(block.text)) for block in plain.read(Text.whole(source)).blocks]


def test_numbers_of_lines_are_taken_off():
    """Numbers stuck before the lines of code are gone, its columns stand as they stood."""
    lines = [f"{n}S = [[{n}, 0]," for n in range(1, 10)] + ["10     [0, 1]]", "11", "12x"]
    source = "Scores:\n\n" + "\n".join(lines)
    (_, (kind, code)) = read(source)
    assert kind == "code"
    assert code.split("\n") == [*[f"S = [[{n}, 0]," for n in range(1, 10)], "     [0, 1]]", "", "x"]


@pytest.mark.parametrize(
    "source",
    ["1. one\n2. two", "1) one\n2) two", "1 0\n2 1", "1.5\n2.5", "1x\n3y", "12\n13", "1\n2x", "1a"],
)
def test_numbers_that_belong_to_the_text_stay(source):
    """Lists, tables and figures keep their numbers, or have none that is printed."""
    assert all(kind == "prose" for kind, _ in read(source))
    if source[1] not in ".)" or source[2].isdigit():
        assert "\n".join(text for _, text in read(source)) == source


def test_numbers_go_on_over_blank_lines_and_listings():
    """A run of numbers goes on where it was broken off."""
    source = "1import a\n2\n3x = [1]\n\n4y = [2]\n\nSo we get\n\n5z = [3]\n\n8 heads = (many)"
    assert read(source) == [
        ("code", "import a\n\nx = [1]\n\ny = [2]"),
        ("prose", "So we get"),
        ("code", "z = [3]"),
        ("prose", "8 heads = (many)"),
    ]


def test_numbers_that_began_anew_do_not_go_on():
    """Where each listing counts from 1, a number that happens to follow is text."""
    source = "1a = (b)\n2c\n\nSo:\n\n1d = (e)\n2f\n\nSo:\n\n3g = (h)"
    assert read(source)[-1] == ("prose", "3g = (h)")


@pytest.mark.parametrize("above", ["python", "🐍python", "Python\nCopy code", "🐍 Python\nCopy"])
def test_a_line_names_the_language(above):
    """The language above code is its language, and no text."""
    (block,) = plain.read(Text.whole(f"{above}\n1x = [1]")).blocks
    assert (block.kind, block.language, str(block.text)) == ("code", "python", "x = [1]")


def test_code_among_words_without_blank_lines():
    """Lines that only a program has are code, with what stands between them."""
    words, after = "We multiply the inputs by these and get", "The weights follow."
    code = "import numpy as np\n# inputs\nX = np.array([\n[1, 0],\n[0, 1]\n])\nQ = X @ W"
    assert read(f"{words}\n{code}\n{after}") == [
        ("prose", words),
        ("code", code),
        ("prose", after),
    ]


def test_columns_are_code():
    """Lines set in columns keep them."""
    source = "       I     will\nI   |  0.39  -0.04 |\nwill| -0.04   0.30 |"
    assert read(f"So:\n\n{source}\n\nDone.")[1] == ("code", source)


@pytest.mark.parametrize(
    ("source", "level"),
    [
        ("3.2 Step 1: Scores", 2),
        ("3.2.1. Scores of (Q, K)", 3),
        ("Attention\n=========", 1),
        ("Step 2 — Scale by sqrt(d_k) = 2", 1),
        ("The Final Output Matrix", 1),
        ("Motivation #", 2),
        ("1. Setup", 2),
        ("What does the query do?", 1),
    ],
)
def test_headings(source, level):
    """Headings show by their number, their underline, their mark, or standing alone."""
    blocks = plain.read(Text.whole(f"{source}\n\nIt is so.")).blocks
    assert [block.kind for block in blocks] == ["heading", "prose"]
    assert blocks[0].level == level
    assert str(blocks[0].text) == source.split("\n")[0].removesuffix(" #")


@pytest.mark.parametrize(
    "source",
    [
        "Row 0:",
        "Nobody.",
        "x = 1",
        "please → [1, 0]",
        "1.0 0.5 0.2",
        "Figure of it.png",
        "The sum is",
    ],
)
def test_lines_that_are_no_headings(source):
    """Labels, sentences, chains, figures and names of files are no headings."""
    assert read(f"{source}\n\nIt is so.")[0] == ("prose", source)


def test_items_of_lists_stand_alone():
    """Items are blocks of their own, without their marks; a minus sign is none."""
    assert read("It is equal to\n5. Then we see") == [("prose", "It is equal to\n5. Then we see")]
    source = "We see:\n  • one\n    goes on\n  - two\n- 0.5\n\n1. three\n\n2. four"
    assert read(source) == [
        ("prose", "We see:"),
        ("prose", "one\n    goes on"),
        ("prose", "two\n- 0.5"),
        ("prose", "three"),
        ("prose", "four"),
    ]


def test_formulas_in_text():
    """Dollars mark formulas in text too; rows that lost a backslash end again."""
    source = "So $W_q$ is: $$\\begin{bmatrix} 1 & 2\\ 3 & 4 \\end{bmatrix}$$ and costs $5 * 2*3."
    (block,) = plain.read(Text.whole(source)).blocks
    assert [(part.kind, str(part.text)) for part in block.parts] == [
        ("text", "So "),
        ("math", "W_q"),
        ("text", " is: "),
        ("math", "\\begin{bmatrix} 1 & 2\\\\ 3 & 4 \\end{bmatrix}"),
        ("text", " and costs $5 * 2*3."),
    ]


def test_text_that_is_markdown_is_read_so():
    """A text with fences is Markdown."""
    assert read("# A\n\n```python\nx = 1\n```\n") == [("heading", "A"), ("code", "x = 1")]


def survives(sign, page):
    """Whether a code page has a character for each byte of a sign."""
    try:
        return bool(sign.encode().decode(page))
    except UnicodeDecodeError:
        return False


@pytest.mark.parametrize("page", ["cp1252", "cp1253", "cp1250", "cp1251", "latin-1", "cp437"])
def test_mis_decoded_text_is_repaired(page):
    """UTF-8 that was read in another code page is what it was, each character with the
    place of the run it came from."""
    meant = " 1 ".join(sign for sign in "×·—→≈√Σé“”α₁ᵀ" if survives(sign, page))
    wrong = meant.encode().decode(page)
    assert len(wrong) > len(meant)
    text = commonmark.decoded(Text.whole(wrong))
    assert str(text) == meant
    for at, sign in enumerate(meant):
        span = text.span(at, at + 1)
        assert wrong[span.start : span.end].encode(page).decode() == sign


def test_text_that_was_mis_decoded_twice():
    """A text may have gone through it twice; each character has the place of all of it."""
    wrong = "1×2 → 3".encode().decode("cp1252").encode().decode("cp1252")
    text = commonmark.decoded(Text.whole(wrong))
    assert str(text) == "1×2 → 3"
    assert text.span(1, 2) == (1, wrong.index("2"))


def test_bytes_that_a_code_page_lacks():
    """What a code page leaves undefined may have been shown as another shows it."""
    assert str(commonmark.decoded(Text.whole("= 1.0 βœ“"))) == "= 1.0 ✓"


@pytest.mark.parametrize(
    "source",
    ["Σ αβγ = Ωμέγα και Γλώσσα", "Ещё её моё Всё Рё", "naïve – déjà vu … “café”", "−∞ ≤ x ≤ ∞ ✓✓"],
)
def test_proper_text_is_left_alone(source):
    """Greek, Cyrillic, French and signs that are right stay as they are."""
    assert str(commonmark.decoded(Text.whole(source))) == source


_LINES = st.sampled_from(
    ["", "1x", "2y", "3", "python", "Title", "=====", "a  b   c", "x = np.a(", "[1, 2],", ")"]
)


@given(st.lists(_LINES, max_size=30).map("\n".join))
def test_every_character_knows_its_place(source):
    """What is read of any text is the file's own, at its place, in order."""
    blocks = plain.read(Text.whole(source)).blocks
    assert untrue(source, blocks) == []
    starts = [text.span().start for text in texts(blocks)]
    assert starts == sorted(starts)


def test_a_table_of_markdown_is_one_in_plain_text_too():
    """Cells between bars under a rule are a table's."""
    source = "Weights:\n\nword | cat\n-----|-----\ncat | 0.62\n"
    (said, table) = plain.read(Text.whole(source)).blocks
    assert (said.kind, table.kind) == ("prose", "table")
    cells = [[str(part.text) for cell in row for part in cell.parts] for row in table.rows]
    assert cells == [["word", "cat"], ["cat", "0.62"]]


def test_a_note_goes_on_to_its_end():
    """A note of several lines is one, and what stands behind it no part of it."""
    assert read("<!-- symattn:\nS = X\n--> A = 0.5\n") == [("note", "S = X"), ("prose", " A = 0.5")]
