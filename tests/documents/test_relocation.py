"""Blocks that were read before, at other places: what is remembered is what would be read."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from symattn.documents.files import article
from symattn.documents.passages import passages
from symattn.documents.text import Memory, Relocatable

from . import marks

FOLDER = Path(__file__).parent
TEXTS = [
    path
    for folder in ("corpus", "further", "unseen")
    for path in marks.documents(FOLDER / folder)
    if path.name.removesuffix(".marked").endswith((".md", ".tex", ".html"))
]
#: What is put before a text, so that no block of it begins at its very beginning.
BEFORE = ("One.\n\n", "Before it.\n\nMore before it.\n\n")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_what_is_remembered_is_what_would_be_read(path):
    """To the last place, of figures and names in formulas too, which equality leaves out."""
    name, text = path.name.removesuffix(".marked"), marks.load(path).text
    memory = Memory(1000)
    for before in BEFORE:
        moved = article(Path(name), f"{before}{text}".encode())
        assert Relocatable.of(passages(moved, memory)) == Relocatable.of(passages(moved))


def test_a_memory_is_bounded():
    memory = Memory(2)
    numbers = count()
    found = [memory.value(key, 1, lambda: next(numbers)) for key in (b"a", b"b", b"c", b"c", b"a")]
    assert found == [0, 1, 2, 2, 3]
