"""Notebooks to blocks: cells, outputs, and places through JSON's escapes."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symattn.documents import notebook
from symattn.documents.files import article
from symattn.documents.text import Text
from symattn.errors import Malformed
from tests.documents.places import texts, untrue


def cell(source, kind="markdown", **more):
    return {"cell_type": kind, "metadata": {}, "source": source, **more}


def written(*cells, **more):
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, **more}, indent=1)


def read(*cells, **more):
    """The blocks of a notebook: kind, and what they say."""
    blocks = notebook.read(Text.whole(written(*cells, **more))).blocks
    return [(block.kind, str(block.text)) for block in blocks]


def printed(*lines, name="stdout"):
    return {"output_type": "stream", "name": name, "text": list(lines)}


def left(**data):
    data = {key.replace("_", "/"): value for key, value in data.items()}
    return {"output_type": "execute_result", "data": data}


def test_cells_in_their_order():
    """Markdown is read as such, code and what it printed as such; raw cells are not read."""
    assert read(
        cell(["# Scores\n", "\n", "So $x$\n"]),
        cell("raw 5", "raw"),
        cell("S = Q @ K.T\n", "code", outputs=[printed("[[1. 2.]\n", " [3. 4.]]\n")]),
        cell("", "code", outputs=[]),
    ) == [
        ("heading", "Scores"),
        ("prose", "So x"),
        ("code", "S = Q @ K.T"),
        ("output", "[[1. 2.]\n [3. 4.]]"),
    ]


def test_outputs():
    """Text that is shown counts; errors, warnings and pictures don't."""
    outputs = [
        printed("warned 1", name="stderr"),
        {"output_type": "error", "ename": "E", "traceback": ["2"]},
        {"output_type": "display_data", "data": {"image/png": "3"}},
        left(text_plain=["array([1., 2.])"]),
        left(text_latex="$$x = 4$$", text_plain="Math(5)"),
        printed("\u001b[31m0.5\u001b[0m"),
    ]
    assert read(cell("x", "code", outputs=outputs)) == [
        ("code", "x"),
        ("output", "array([1., 2.])"),
        ("formula", "x = 4"),
        ("output", "0.5"),
    ]


def test_tables_that_are_shown_twice():
    """A table is printed as a page shows it, and as text."""
    page = "<div><p>2 rows</p><table><tr><td>0.5</td></tr></table></div>"
    outputs = [left(text_html=page, text_plain="   0\n0  0.5"), left(text_html="<b>1</b>")]
    _, table, output = notebook.read(Text.whole(written(cell("x", "code", outputs=outputs)))).blocks
    assert (table.kind, str(table.rows[0][0].parts[0].text)) == ("table", "0.5")
    assert (output.kind, str(output.text)) == ("output", "   0\n0  0.5")


def test_languages_and_tags():
    """Cells have the notebook's language, or that of their magic, and their tags."""
    tagged = {**cell("%%R\nx <- 1", "code"), "metadata": {"tags": ["symattn-ignore"]}}
    source = written(cell("x = 1", "code"), tagged, metadata={"kernelspec": {"language": "julia"}})
    first, second = notebook.read(Text.whole(source)).blocks
    assert (first.language, first.tags) == ("julia", ())
    assert (second.language, second.tags, str(second.text)) == ("r", ("symattn-ignore",), "x <- 1")


def test_places_through_escapes():
    """A character that JSON escapes has the place of its escape; a pair of them is one."""
    source = (
        '{"cells": [{"cell_type": "code", "metadata": {}, "source": "\\u03b1\\ud83d\\ude00\\n1"}]}'
    )
    (block,) = notebook.read(Text.whole(source)).blocks
    text = block.parts[0].text
    assert str(text) == "α😀\n1"
    assert [source[slice(*text.span(i, i + 1))] for i in range(4)] == [
        "\\u03b1",
        "\\ud83d\\ude00",
        "\\n",
        "1",
    ]


def test_halves_of_characters():
    """Half a pair is no character: it is read as one that can't be."""
    source = '{"cells": [{"cell_type": "code", "source": "x\\ud800y"}]}'
    assert str(notebook.read(Text.whole(source)).blocks[0].text) == "x\ufffdy"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("[]", "not a notebook: expected an object, found a list"),
        ("{}", "cells: not a notebook: expected a list of cells, found nothing"),
        ('{"cells": "a"}', "cells: not a notebook: expected a list of cells, found the text 'a'"),
        ('{"worksheets": []}', "worksheets: a notebook of format 3 is not read"),
        ('{"cells": [\n1,, 2]}', "line 2: not valid JSON: expecting value at column 3"),
        ("[" * 100_000, "nested too deep"),
        ('{"cells": [1]}', "cells[0]: expected an object, found 1"),
        ('{"cells": [{"cell_type": "code"}]}', "cells[0].source: missing"),
        (
            '{"cells": [{"cell_type": "code", "source": [1]}]}',
            "cells[0].source: expected text, or a list of lines, found 1",
        ),
        (
            '{"cells": [{"cell_type": "cod"}]}',
            "cells[0].cell_type: expected 'markdown', 'code' or 'raw', found 'cod'",
        ),
    ],
)
def test_what_is_no_notebook(source, said):
    """Faults say what was expected, what was found, and where."""
    with pytest.raises(Malformed) as error:
        notebook.read(Text.whole(source))
    assert said in str(error.value)


def test_all_faults_are_told():
    """Every faulty cell is told at once."""
    source = json.dumps({"cells": [1, cell(2), cell("x"), cell("x", "cod")]})
    with pytest.raises(Malformed) as error:
        notebook.read(Text.whole(source))
    assert [fault.where for fault in error.value.faults] == [
        "cells[0]",
        "cells[1].source",
        "cells[3].cell_type",
    ]


@example(["-\t\t1"], True, "markdown")
@example(["- 1", "\n\t\u20281"], False, "markdown")
@given(
    st.lists(st.text(st.sampled_from('aα😀\n"\\$x*1\t `-#\u2028'), max_size=20), max_size=4),
    st.booleans(),
    st.sampled_from(["markdown", "code"]),
)
def test_every_character_knows_its_place(lines, is_ascii, kind):
    """What is read of any notebook is the file's own, at its place, in order."""
    source = json.dumps({"cells": [cell(lines, kind)]}, ensure_ascii=is_ascii)
    blocks = notebook.read(Text.whole(source)).blocks
    assert untrue(source, blocks) == []
    for text in texts(blocks):
        places = list(zip(text.starts, text.ends, strict=True))
        written = "".join(source[a:b] for a, b in places)
        # Spaces that a tab is wide, beyond what a list takes of it, are nowhere in the file.
        kept = [c for c, (a, b) in zip(text.string, places, strict=True) if a < b or c != " "]
        assert json.loads(f'"{written}"') == "".join(kept)


#: What a character of a cell is marked with, so that an independent reader finds it.
_MARK = "¶"
_LINES = st.text(st.sampled_from('aα😀\n"\\$'), max_size=12)


@given(
    st.lists(st.tuples(_LINES, _LINES, st.booleans()), min_size=1, max_size=4),
    st.integers(0, 7),
    st.booleans(),
)
def test_a_place_is_that_of_its_cell(contents, marked, is_sorted):
    """The cell's number, whether it was printed, and the line and the column there are those of
    the text that JSON's own reader gives, however the file is laid out."""
    chosen, is_output = divmod(marked % (2 * len(contents)), 2)
    cells = []
    for number, (source, output, are_lines) in enumerate(contents):
        if number == chosen:
            source, output = (source, output + _MARK) if is_output else (source + _MARK, output)
        lines = source.splitlines(keepends=True) if are_lines else source
        cells.append(cell(lines, "code", outputs=[printed(output)]))
    file = json.dumps({"cells": cells}, indent=1, sort_keys=is_sorted, ensure_ascii=False)
    read = article(Path("x.ipynb"), file.encode())
    text = contents[chosen][is_output]
    line, column = text.count("\n") + 1, len(text.rpartition("\n")[2]) + 1
    place = read.cell(file.index(_MARK))
    assert place == (chosen + 1, bool(is_output), line, column)
    name = "output of cell" if is_output else "cell"
    assert read.said(file.index(_MARK)) == f"{name} {chosen + 1}, line {line}"


def test_what_is_no_notebook_has_lines():
    """Elsewhere a place is a line of the file."""
    read = article(Path("x.md"), b"a\nb")
    assert (read.cell(2), read.said(2)) == (None, "line 2")
