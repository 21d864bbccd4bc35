"""Matrices, sums and numbers in the forms that articles print: one reading, wherever they stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.documents.binding import binder
from symattn.documents.editing import Rewriter, applied
from symattn.documents.files import article
from symattn.documents.passages import passages
from symattn.documents.trees import Chain, Labelled, PrintedFigure, walk
from symattn.numbers.rationals import read_printed
from tests.documents.notation.reading_back import shown

#: What stands around a form: Markdown's fences, those behind code, and plain text.
AROUND: dict[str, tuple[str, str]] = {
    "fence": (".md", "Text.\n\n```\n%s\n```"),
    "output": (".md", "Text.\n\n```python\nprint(x)\n```\n\n```\n%s\n```"),
    "text": (".txt", "Text.\n\n%s\n"),
}


def chains(text: str, suffix: str = ".md") -> list[Chain]:
    read = article(Path(f"x{suffix}"), text.encode())
    return [piece for one in passages(read) for piece in one.pieces if isinstance(piece, Chain)]


def said(text: str, suffix: str = ".md") -> list[str]:
    return [shown([chain])[0] for chain in chains(text, suffix)]


MATRICES = {
    "A =\n[\n0.1 0.2\n0.3 0.4\n]": "brackets on lines of their own",
    "A = [\n  0.1, 0.2\n  0.3, 0.4\n]": "commas in the rows alone",
    "A =\n(\n 0.1 0.2\n 0.3 0.4\n)": "tall parentheses",
    "A =\n|\n 0.1 0.2\n 0.3 0.4\n|": "tall bars",
    "A = [0.1 0.2;\n     0.3 0.4]": "rows that semicolons end, over lines",
    "A = [0.1, 0.2;\n     0.3, 0.4]": "the same with commas",
    "A = [ 0.1 0.2 \\\\ 0.3\n0.4 ]": "rows that backslashes end, cut anywhere",
    "A = [ 0.1 & 0.2 \\\\ 0.3 & 0.4 ]": "what is left of an environment",
    "A =\n[0.1 0.2]\n[0.3 0.4]": "rows in brackets under a name",
    "A =\n┌─────┬─────┐\n│ 0.1 │ 0.2 │\n├─────┼─────┤\n│ 0.3 │ 0.4 │\n└─────┴─────┘": "a frame",
    "A =\n+-----+-----+\n| 0.1 | 0.2 |\n| 0.3 | 0.4 |\n+-----+-----+": "a frame of plain signs",
    "A (2 × 2) = [[0.1, 0.2], [0.3, 0.4]]": "a size behind the name",
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("form", MATRICES, ids=MATRICES.values())
def test_a_matrix_is_read_in_every_form(form, around):
    """Its rows and its name, in fences, outputs and plain text."""
    suffix, frame = AROUND[around]
    assert "A = [[0.1, 0.2], [0.3, 0.4]]" in said(frame % form, suffix)


@pytest.mark.parametrize("around", AROUND)
def test_rows_of_whole_numbers_need_a_name_above_them(around):
    """``A (2 x 2):`` says that numbers in columns are a matrix; nothing says it of others."""
    suffix, frame = AROUND[around]
    assert said(frame % "A (2 x 2):\n1 0\n0 1", suffix)[-1:] == ["[[1, 0], [0, 1]]"]
    assert "[[1, 0], [0, 1]]" not in said(frame % "Nothing.\n1 0\n0 1", suffix)


def test_matrices_after_each_other_are_several():
    """Each under its name, with blank lines among the rows; a column is a vector."""
    text = "```\nA =\n[\n1 2\n\n3 4\n]\n\nb =\n[\n0.5\n0.25\n]\n```"
    assert said(text) == ["A = [[1, 2], [3, 4]]", "b = [0.5, 0.25]"]


def test_rows_in_sentences_are_rows():
    """Pandoc writes brackets as escapes and breaks lines anywhere; operands are read as well,
    and names that it marks as raw TeX."""
    text = (
        "Q = \\[ 0.1 0.2 \\\\ 0.3 0.4\\] × \\[ 0.5\n0.6 \\\\ 0.7 0.8\\]\n\n"
        "`\\text{Output}`{=tex} = \\[ 0.1 0.2 \\\\ 0.3\n0.4\\]\n"
    )
    assert said(text) == [
        "Q = [[0.1, 0.2], [0.3, 0.4]] @ [[0.5, 0.6], [0.7, 0.8]]",
        "Output = [[0.1, 0.2], [0.3, 0.4]]",
    ]


FRAMED = (
    "┌─────┬─────┬─────┐\n│     │ cat │ sat │\n├─────┼─────┼─────┤\n"
    "│ cat │ 0.6 │ 0.4 │\n├─────┼─────┼─────┤\n│ sat │ 0.3 │ 0.7 │\n└─────┴─────┴─────┘"
)
BARRED = "      | cat | sat\n------+-----+----\ncat   | 0.6 | 0.4\nsat   | 0.3 | 0.7"


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("form", [FRAMED, BARRED], ids=["frame", "bars"])
def test_tables_drawn_with_lines_keep_their_labels(form, around):
    suffix, frame = AROUND[around]
    chain = chains(frame % form, suffix)[-1]
    array = chain.members[0]
    assert isinstance(array, Labelled)
    assert (array.rows_said, array.columns_said) == (("cat", "sat"), ("cat", "sat"))


@pytest.mark.parametrize("around", AROUND)
def test_figures_in_a_line_of_their_own_are_a_list(around):
    """Also behind a colon; not whole numbers, nor the parts of one number."""
    suffix, frame = AROUND[around]
    assert said(frame % "cat: 0.5, 0.25, -0.5\ntotal ≈ 4,914.77\nsizes: 3, 4", suffix)[-3:] == [
        "cat : [0.5, 0.25, -0.5]",
        "total ≈ 4914.77",
        "sizes : 3",
    ]


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ("np.float64(0.25)", "0.25"),
        ("[np.float64(0.1), np.float64(0.2)]", "[0.1, 0.2]"),
        ("tensor(0.5, grad_fn=<MulBackward0>)", "0.5"),
        ("array(2.)", "2"),
    ],
)
def test_scalars_are_read_without_their_types(printed, read):
    assert said(AROUND["output"][1] % printed)[-1:] == [read]


rows = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.decimals(-99, 99, places=2).map(str), min_size=width, max_size=width),
        min_size=2,
        max_size=4,
    )
)
#: How rows are put together, each a way to write one matrix.
WRITTEN: list[Callable[[list[list[str]]], str]] = [
    lambda rows: "[" + "; ".join(map(" ".join, rows)) + "]",
    lambda rows: "[" + ";\n ".join(map(", ".join, rows)) + "]",
    lambda rows: "[ " + " \\\\ ".join(map(" ".join, rows)) + " ]",
    lambda rows: "[[" + "]\n [".join(map(" ".join, rows)) + "]]",
]


@given(rows, st.sampled_from(WRITTEN))
def test_every_way_to_write_a_matrix_gives_its_figures(rows, written):
    """Each figure once, in its place of the matrix and at its place of the file."""
    text = f"```\nA = {written(rows)}\n```"
    (chain,) = chains(text)
    array = chain.members[1]
    assert isinstance(array, Labelled)
    widths = [len(row.items) for row in array.items if isinstance(row, Labelled)]
    assert widths == [len(row) for row in rows]
    figures = [part for part in walk(array) if isinstance(part, PrintedFigure)]
    assert [figure.text for figure in figures] == [entry for row in rows for entry in row]
    assert all(text[slice(*figure.span)] == figure.text for figure in figures)


# -- sums and products over lines -----------------------------------------------------

SUMS = {
    "s = 0.1 × 0.2 +\n    0.3 × 0.4\n  = 0.14": ["s = 0.1 * 0.2 + 0.3 * 0.4 = 0.14"],
    "s = (0.1 × 0.2)\n+ (0.3 × 0.4)\n= 0.02\n+ 0.12\n= 0.14": [
        "s = 0.1 * 0.2 + 0.3 * 0.4 = 0.02 + 0.12 = 0.14"
    ],
    "s = 0.5 ×\n[0.1 0.2]\n+\n0.5 ×\n[0.3 0.4]": ["s = 0.5 * [0.1, 0.2] + 0.5 * [0.3, 0.4]"],
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("form", SUMS)
def test_a_sum_goes_on_over_lines(form, around):
    suffix, frame = AROUND[around]
    assert said(frame % form, suffix)[-1:] == SUMS[form]


def test_a_listing_that_begins_with_a_sign_of_equality_goes_on():
    """Fences one behind the other are steps of one chain; words between them begin anew."""
    fences = "```\n0.5 × [0.1 0.2]\n```\n\n%s```\n= [0.05\n0.1]\n```"
    assert said(fences % "")[-1:] == ["0.5 * [0.1, 0.2] = [0.05, 0.1]"]
    assert said(fences % "Elsewhere.\n\n")[-1:] == ["[0.05, 0.1]"]


@pytest.mark.parametrize("arrow", "↓→")
@pytest.mark.parametrize("around", AROUND)
def test_an_arrow_on_its_line_is_no_equality(around, arrow):
    """It leads from one block to the next, which is not its value."""
    suffix, frame = AROUND[around]
    read = said(frame % f"0.0136 + 0\n{arrow}\n1.0137 / 3.062\n= 0.3310", suffix)
    assert read[-1:] == ["1.0137 / 3.062 = 0.3310"]


# -- decimal commas -------------------------------------------------------------------

GERMAN = "Die Gewichte sind 0,25 und 0,75, die Summe der Werte 1,5, mit $w = 0{,}506$.\n\n"


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("a = 0,506 + 0,494", "a = 0.506 + 0.494"),
        ("$a = 1{,}237$", "a = 1.237"),
        (r"$a = \frac{0,5}{2} \approx0,25$", "a = 0.5 / 2 ≈ 0.25"),
        ("a = [0,5; 1,25]", "a = [0.5, 1.25]"),
        (r"$a = (1;\ 1{,}5)$", "a = [1, 1.5]"),
        ("a = [0,5, 1,25]", "a = [0.5, 1.25]"),
        ("A = [0,5 0,3; 0,1 0,2]", "A = [[0.5, 0.3], [0.1, 0.2]]"),
        ("a = [100 200 300]", "a = [100, 200, 300]"),
        ("a = [1,0,2]", "a = [1, 0, 2]"),
        ("a = [1,0]", "a = [1, 0]"),
        ("$a_{1,2} = 0,5$", "a[1, 2] = 0.5"),
        ("n = 23 000 + 1 000", "n = 23000 + 1000"),
        ("n = 23 000,5", "n = 23000.5"),
        ("n = 1.234.567,5", "n = 1234567.5"),
        ("n = 50.000 · 2", "n = 50000 * 2"),
    ],
)
def test_an_article_is_read_with_its_decimal_commas(words, read):
    """Numbers and nothing else: lists and indices keep their commas."""
    assert read in said(GERMAN + words)


@pytest.mark.parametrize(
    "words",
    [
        GERMAN + "b = 0.5, n = 50.000 · 2",
        "Of 1.000.000 words 0.25 and 0.5 count.\n\nn = 50.000 · 2",
        "Of 0.25 and 0.75 we take 0.5.\n\n$n = 0,1 \\cdot 15$",
    ],
)
def test_what_may_be_either_is_no_number_that_is_computed_with(words):
    """A point that may part thousands, a comma that may part decimals: no figure is held
    against what it would be in one way."""
    assert "«" in said(words)[-1]


def test_a_comma_in_brackets_is_one_of_a_list():
    text = "Of 0.25 and 0.75 we take 0.5.\n\n$a_{1,2} = f(1,2)$"
    assert said(text) == ["a[1, 2] = f(1, 2)"]


def test_code_has_points_in_every_article():
    assert "x = [[0, 506]]" not in said(f"{GERMAN}a = 0,5")
    assert said(f"{GERMAN}```python\nx = [0,506]\n```")[-1:] == ["x = [0, 506]"]


def test_columns_of_a_text_have_the_commas_of_its_words():
    """But blanks part their cells."""
    words = "Die Gewichte sind 0,25 und 0,75, die Summe 1,0.\n\n"
    columns = "   cat  0,62  0,38\n   sat  0,39  0,61\n\n   A =\n   100 200\n   300 400\n"
    assert said(words + columns, ".txt") == [
        "[[0.62, 0.38], [0.39, 0.61]]",
        "A = [[100, 200], [300, 400]]",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Of 0.25 and 0.75 we take 0.5, see 1,25.\n\nA = [0,5]",
        "Row 0,1 and row 1,2.\n\nA = [0,5]",
        "0,25 und 0,75 sind 1,5, 0.25 and 0.75 are 1.0.\n\nA = [0,5]",
    ],
)
def test_a_comma_is_one_of_a_list_where_the_article_doesnt_show_otherwise(text):
    assert said(text)[-1:] == ["A = [0, 5]"]


def test_no_piece_of_a_number_with_blanks_is_one_of_its_own():
    """In formulas, too, where a power would be that of the zeros alone."""
    for text in ("It takes 2 · 23 000² steps = 2.", "$2 \\cdot 23 000^2 = 2$"):
        assert said(text)[0].startswith("2 * 23000**2")
    assert said("A = [100 000]")[-1:] == ["A = [100, 000]"]


def test_a_figure_with_a_comma_is_corrected_with_one():
    """At its place, with as many digits."""
    text = GERMAN + "a = 0,506 + 0,494 = 1,10"
    read = article(Path("x.md"), text.encode())
    figure = next(
        number for number in binder.read(read).numbers if text[slice(*number.span)] == "1,10"
    )
    printed = read_printed(figure.text)
    assert printed is not None
    edit = Rewriter(read).edit(figure.span, printed, 100)
    assert edit is not None
    assert applied(text, [edit]) == text.replace("1,10", "1,00")


def test_words_with_accents_are_words():
    """Their letters are no factors."""
    text = f"{GERMAN}Wir nehmen 1000 Wörter für die tête, déjà là = 0,5"
    assert not any("@" in chain or "*" in chain for chain in said(text))
