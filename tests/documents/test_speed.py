"""Much of the same takes time in proportion: nothing that is read is walked over again and again.

So much effort is left that what grows in proportion stays far below; what grows with the square
takes many times as much.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

from symattn.documents.binding import binder
from symattn.documents.files import article
from symattn.errors import Malformed
from tests.effort import effort

#: Characters of each text, and the effort that reading it may take.
SIZE, MOST = 100_000, 20_000


def notebook(kind, text, printed=""):
    """A notebook of one cell."""
    output = {"output_type": "stream", "name": "stdout", "text": printed}
    outputs = {"outputs": [output], "execution_count": 1} if kind == "code" else {}
    cell = {"cell_type": kind, "source": text, "metadata": {}, **outputs}
    return json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 5, "metadata": {}})


#: Where a text may stand.
PLACES = {
    "words.md": "{}",
    "words.txt": "{}",
    "words.tex": "{}",
    "words.html": "{}",
    "display.md": "$${}$$",
    "heading.md": "# {}",
    "note.md": "<!-- symattn: {} -->",
    "code.md": "```python\nx = {}\n```",
    "comment.md": "```python\nx = [1, 2] # {}\n```",
    "printed.md": "```text\n{}\n```",
    "cell.md": "| a | b |\n|---|---|\n| 1{}x | 3 |\n| 1{} | 4 |\n",
    "row.md": "$X = [[1, 2], [3, 4]]$\n\n$A = softmax(X)$\n\nThe row of cat is {} 0.5",
    "equation.tex": "\\begin{equation}A = {}\\end{equation}",
    "cell.tex": "\\begin{tabular}{cc}\n1{}x & 2 \\\\\n{} & 4 \\\\\n\\end{tabular}",
    "macro.tex": "\\newcommand{\\a}[1]{#1 {}} $\\a{1}$",
    "cell.html": "<table><tr><td>1{}x</td><td>{}2</td></tr><tr><td>3</td><td>4</td></tr></table>",
    "tag.html": "<p {}>0.5</p>",
    "mathml.html": "<math><mn>1</mn><mo>{}</mo><mtext>{}</mtext></math>",
}
#: What it consists of: each once brought a reader to its knees, or is what patterns repeat.
UNITS = (
    *(" ", "\t", "\n", "0", "a", ".", ",", "-", "=", "[", "(", "{", "|", "\\", "'", '"', "`", "<"),
    *("1 ", "a ", "1,", "= ", "[1", "a,", "\n ", "\n|", "x_", "**", "&amp;", "1\n", "a\n", "[1]\n"),
)


def reading(name, text):
    """The effort that reading an article takes."""

    def read():
        with suppress(Malformed):
            binder.read(article(Path(name), text.encode()))

    return effort(read)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("place", PLACES)
def test_spaces_are_read_in_no_time(place):
    """Blanks in any place, which patterns love to begin and to end with."""
    assert reading(place, PLACES[place].replace("{}", " " * SIZE)) < MOST


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(6))
def test_much_of_the_same_is_read_in_no_time(seed):
    """A few of all units in all places, others for each seed."""
    pairs = [(place, unit) for place in PLACES for unit in UNITS]
    for place, unit in pairs[seed * 7 :: 97]:
        text = unit * (6_000 // len(unit))
        assert reading(place, PLACES[place].replace("{}", text)) < MOST, (place, unit)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["markdown", "code"])
@pytest.mark.parametrize("unit", [" ", "a\n", "1 "])
def test_notebooks_are_read_in_no_time(kind, unit):
    """Cells, and what they printed."""
    text = unit * (6_000 // len(unit))
    assert reading("x.ipynb", notebook(kind, text)) < MOST
    assert kind == "markdown" or reading("x.ipynb", notebook(kind, "x", text)) < MOST
