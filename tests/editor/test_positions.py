"""Positions in UTF-16, and changes made by them, against an oracle that counts bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.documents.text import Span
from symattn.editor.held import Cell, Change, OpenDocuments, OpenNotebook, OpenText
from symattn.editor.positions import Lines, Position

#: Letters of one, two, three and four bytes, and what may end a line, or only seems to.
LETTERS = st.text(st.sampled_from("a0 .ä∞𝑥😀\n\r\x0b\x0c\x85\u2028"), max_size=30)
UNITS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


def before(text, position, encoding):
    """The text before a position, by cutting the bytes of its line."""
    lines = text.replace("\r\n", "\0\n").replace("\r", "\n").split("\n")
    done = sum(len(line) + 1 for line in lines[: position.line])
    name = encoding if encoding == "utf-8" else f"{encoding}-le"
    line = lines[position.line].encode(name)[: position.character * UNITS[encoding]].decode(name)
    return text[: done + len(line)]


@given(text=LETTERS, encoding=st.sampled_from([*UNITS]))
def test_every_place_and_back(text, encoding):
    lines = Lines(text, encoding)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] == "\r\n":
            continue
        position = lines.position(offset)
        assert before(text, position, encoding) == text[:offset]
        assert lines.offset(position) == offset


@given(text=LETTERS)
def test_beyond_the_end_is_the_end(text):
    lines = Lines(text)
    assert lines.offset(Position(99, 0)) == len(text)
    assert lines.offset(Position(0, 99)) == len(lines.line(0))


@given(text=LETTERS, new=LETTERS, data=st.data())
def test_a_change(text, new, data):
    """What an editor changes is what changes, whatever letters stand around it."""
    lines = Lines(text)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    if "\r\n" in (text[start - 1 : start + 1], text[end - 1 : end + 1]):
        return
    document = OpenText("file:///a.md", "markdown", 1, text, "utf-16")
    document.change(2, [Change(new, lines.position(start), lines.position(end))])
    assert (document.text, document.version) == (text[:start] + new + text[end:], 2)


def test_half_of_a_pair_is_replaced():
    assert OpenText("a.md", "markdown", 1, "x\ud835", "utf-16").text == "x\ufffd"


@given(cells=st.lists(st.tuples(LETTERS, st.booleans()), max_size=4), data=st.data())
def test_places_in_notebooks(cells, data):
    """Any characters of a cell are found in the file, and back."""
    from symattn.documents.notebook import read
    from symattn.documents.text import Text

    documents = OpenDocuments()
    documents.notebooks["n"] = OpenNotebook("n", [])
    for k, (text, is_code) in enumerate(cells):
        documents.texts[str(k)] = OpenText(str(k), "x", 1, text, "utf-16")
        documents.notebooks["n"].cells.append(Cell(str(k), is_code))
    held = documents.held("n")
    assert held is not None
    read(Text.whole(held.source))
    assert len(held.pieces) == len(cells)
    for piece in held.pieces:
        for start in range(len(piece.text)):
            at = held.locate(Span(piece.starts[start], piece.starts[start + 1]))
            assert at == (piece, Span(start, start + 1))


@pytest.mark.parametrize(
    ("uri", "language", "text", "name"),
    [
        ("file:///a%20b.md", "markdown", "", "/a b.md"),
        ("untitled:Untitled-1", "markdown", "", "untitled:Untitled-1.md"),
        ("file:///notes", "latex", "", "/notes.tex"),
        ("file:///a.py", "python", "", None),
        ("file:///a.pdf", "plaintext", "", None),
        ("file:///pyproject.toml", "toml", "[project]\nname = 'x'", None),
        ("file:///case.toml", "toml", "[given]\nX = 1", "/case.toml"),
        ("file:///post.symattn.toml", "toml", "[given]\nX = 1", None),
    ],
)
def test_what_is_judged(uri, language, text, name):
    documents = OpenDocuments(texts={uri: OpenText(uri, language, 1, text, "utf-16")})
    held = documents.held(uri)
    assert (held and held.name) == name
