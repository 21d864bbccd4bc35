"""What a sheet says around its mathematics."""

from __future__ import annotations

import re

import pytest

from symattn.cases.case import make
from symattn.printers import blocks as b
from symattn.printers.latex import document
from symattn.sheets.case_sheet import sheet
from symattn.solution.solution import Solution, solve

from ..notation import in_latex


@pytest.fixture(scope="module")
def blocks() -> tuple[b.Block, ...]:
    """A sheet with softmax, a mask and a gradient that a mask lets through unchanged."""
    return sheet(solve("length-4-causal"), places=5, audience="author").blocks


def words(blocks: tuple[b.Block, ...]) -> list[str]:
    """The plain words of every paragraph."""
    return [
        " ".join(piece for piece in block.text if isinstance(piece, str))
        for block in blocks
        if isinstance(block, b.Paragraph)
    ]


@pytest.mark.heavy
def test_the_commands_that_make_it_again(blocks: tuple[b.Block, ...]) -> None:
    """Whole commands, with the places of this sheet."""
    (listing,) = (block for block in blocks if isinstance(block, b.Listing))
    assert listing.lines == (
        "symattn sheet length-4-causal --for author --places 5",
        "symattn show length-4-causal Y --places 12",
        "symattn verify length-4-causal",
        "symattn audit length-4-causal",
    )


@pytest.mark.heavy
def test_the_table_of_the_cross_check_has_no_empty_rows(blocks: tuple[b.Block, ...]) -> None:
    """Quantities stand in two columns; only the last place may be empty."""
    (table,) = (
        block for block in blocks if isinstance(block, b.Table) and block.header[0] == ("quantity",)
    )
    cells = [row[side] for row in table.rows for side in (0, 4)]
    assert all(cells[:-1])


@pytest.mark.heavy
def test_paragraphs_begin_with_words(blocks: tuple[b.Block, ...]) -> None:
    """The softmax Jacobian is introduced; equal gradients are said to be."""
    said = words(blocks)
    assert any(
        text.startswith("A row of weights depends only on its own row of scores: ") for text in said
    )
    assert any(text.startswith("Take the exponential of every score") for text in said)


def test_what_passes_a_mask_unchanged_is_said_to_be_equal() -> None:
    """A gradient that is 0 wherever the mask hides."""
    said = words(sheet(solve("length-4-causal")).blocks)
    here = [text for text in said if text.endswith(", entry for entry.")]
    assert here
    assert all(text.startswith("Here ") for text in here)


def test_the_definition_of_scaled_scores_is_printed() -> None:
    """As the cross-check runs it, in the letters of the walkthrough."""
    made = sheet(solve("cat-sat-mat"))
    shown = [
        in_latex(piece.formula)
        for block in made.blocks
        if isinstance(block, b.Paragraph)
        for piece in block.text
        if isinstance(piece, b.Math)
    ]
    assert any(r"T_{i,j} = \frac{S_{i,j}}{\sqrt{d_{k}}}" in latex for latex in shown)


def test_numbers_of_six_places_are_decimals_and_longer_ones_fractions() -> None:
    """At the sheet's four places, what is exact in six is still shown as given."""
    case = make("places", {"X": ["0.123456", "0.1234567"]}, {"Y": "2 * X"})
    (given, *_) = (block for block in sheet(Solution(case)).blocks if isinstance(block, b.Matrices))
    assert in_latex(given.items[0].cells) == (("0.123456", r"\frac{1234567}{10000000}"),)


def test_names_in_prose_are_mathematics() -> None:
    """What a note calls by name is typeset as that; words and other names are words."""
    note = "W_Q and d_k, not W_O or W_Q.toml; A token of sqrt(d_k), the mean of g1."
    case = make(
        "prose",
        {"W_Q": [[1]], "d_k": 4, "A": [[2]], "mean": 1},
        {"Y": "W_Q / d_k * A * mean"},
        {"upstream": [["g1"]]},
        note=note,
    )
    (text, *_) = (x.text for x in sheet(Solution(case)).blocks if isinstance(x, b.Paragraph))
    math = [in_latex(piece.formula) for piece in text if isinstance(piece, b.Math)]
    assert math == ["W_{Q}", "d_{k}", "d_{k}", "g_{1}"]
    assert "".join(x for x in text if isinstance(x, str)).startswith(
        " and , not W_O or W_Q.toml; A token of sqrt(), the mean of "
    )


@pytest.mark.heavy
def test_the_row_that_is_worked_is_named() -> None:
    """By its number and its token; a full sheet works all rows and names none."""
    brief, full = (
        " ".join(words(sheet(solve("cat-sat-mat"), detail=detail).blocks))
        for detail in ("brief", "full")
    )
    assert "Each step is worked for one row: row  2 (mat) , which" in brief
    assert "is worked for one row" not in full


def test_words_in_formulas_are_of_the_language() -> None:
    """A choice says in its language what is taken if, and otherwise."""
    for language, words in (("en", {"if", "otherwise"}), ("de", {"falls", "sonst"})):
        latex = document(sheet("cat-sat-mat-causal", language=language))
        found = set(re.findall(r"\\mathrm\{(if|otherwise|falls|sonst)\}", latex))
        assert found == words


def test_what_a_softmax_is_called_depends_on_its_place() -> None:
    """Weights multiply values, or come of scores; of other logits they are probabilities."""
    given = {"Q": [[1, 0]], "K": [[1, 2], [0, 1]], "V": [[1], [2]], "W": [[1, -1]], "S": [[1, 2]]}
    steps = {
        "A": "softmax(Q @ K.T / 2)", "Y": "A @ V", "Z": "Y @ W", "P": "softmax(Z)",
        "B": "softmax(S)", "C": "softmax(Z + 1)", "D": "C @ V",
    }  # fmt: skip
    blocks = in_latex(sheet(make("roles", given, steps))).blocks
    titles = [block.text for block in blocks if isinstance(block, b.Heading)]
    called = {
        str(text[0].formula)[0]: text[1].removeprefix(" \N{EN DASH} ")
        for text in titles
        if len(text) > 1 and isinstance(text[0], b.Math) and isinstance(text[1], str)
    }
    assert called == {
        "A": "attention weights", "Y": "output", "Z": "projection", "P": "probabilities",
        "B": "attention weights", "C": "attention weights", "D": "output",
    }  # fmt: skip


def test_a_loss_is_told_by_the_probabilities_that_have_a_name() -> None:
    """Its formula, its working and its gradient; without a name, by the logits."""
    given = {"Z": [[1, 2, 0], [0, 1, 3]], "t": [1, 2]}
    for steps, wanted in (
        (
            {"P": "softmax(Z)"},
            (r"{\log\,P}_{i,t_{i}}", r"\log\left(P_{0,1}", r"\frac{P - \operatorname{onehot}"),
        ),
        ({}, (r"P_{i,j} = Z_{i,j} - \log", r"\mathrm{d}L \cdot \frac{\operatorname{softmax}")),
    ):
        steps = {**steps, "L": "cross_entropy(Z, t)"}
        case = make("loss", given, steps, {"output": "L", "wrt": ["Z"]})
        latex = document(sheet(case))
        for text in wanted:
            assert text in latex, text
