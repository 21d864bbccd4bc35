"""What all readers and printers share is known to each of them."""

import re

import pytest

from symattn.calculus import printing
from symattn.documents import html, latex, markdown
from symattn.documents.text import DISPLAYS, FORMULAS, WITH_ARGUMENT, Text
from symattn.expressions import typesetting as t
from symattn.spelling import ENTRY, GREEK, is_figure

from . import notation


@pytest.mark.parametrize("name", sorted(FORMULAS))
@pytest.mark.parametrize("reader", [html, latex, markdown])
def test_every_environment_of_formulas_is_one_in_every_form(reader, name):
    """With or without a star, and with the argument that it takes."""
    for star in ("", "*"):
        argument = "{2}" if name in WITH_ARGUMENT else ""
        source = rf"So \begin{{{name}{star}}}{argument}x = 1\end{{{name}{star}}}"
        math = [
            part.text.string
            for block in reader.read(Text.whole(source)).blocks
            for part in block.parts
            if part.kind == "math"
        ]
        assert len(math) == 1
        assert "x = 1" in math[0]
        # Who reads a page or LaTeX takes off the marks of a display, as of dollars.
        assert reader is markdown or (name in DISPLAYS) == ("begin" not in math[0])


@pytest.mark.parametrize("name", sorted(GREEK))
def test_greek_letters_are_printed_as_such(name):
    """In text as the letter, in LaTeX by a command that the other printers know."""
    assert printing.text(name, {}) == GREEK[name]
    letter = {"phi": "ϕ", "omicron": "o"}.get(name, GREEK[name])
    assert notation.read(t.latex(printing.typeset(name, {}))) == t.row(t.Letter(letter))


@pytest.mark.parametrize(
    "entry", ["1", "1.", ".5", "-0.5", "−1e−3", "+2E5", "50%", "-inf", "−∞", "NaN", "True", "..."]
)
def test_entries_of_arrays(entry):
    assert re.fullmatch(ENTRY, entry)


@pytest.mark.parametrize("text", ["", ".", "-", "%", "x", "1 2", "1.5.x", "..."])
def test_what_is_no_figure(text):
    assert not is_figure(text)
