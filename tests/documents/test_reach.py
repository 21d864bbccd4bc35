"""What the worked examples print is reached, wherever their forms put it."""

from pathlib import Path

import pytest

from symattn.documents.files import article, is_article
from tests.documents import marks

CORPUS = sorted(
    path
    for path in (Path(__file__).parent / "corpus").glob("*.marked")
    if is_article(path.stem) and path.stem.endswith((".tex", ".html"))
)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_every_marked_figure_is_reached(path):
    """Each figure stands in a part of a block, from its first character to its last."""
    text, figures = marks.read(path.read_text("utf-8"))
    document = article(Path(path.stem), text.encode())
    reached = set()
    for block in document.blocks:
        for part in (*block.parts, *(p for row in block.rows for cell in row for p in cell.parts)):
            starts, ends = part.text.starts, part.text.ends
            # Figures are short; a longer piece of a part is none.
            reached |= {(starts[i], end) for i in range(len(starts)) for end in ends[i : i + 12]}
    assert figures
    assert [text[f.start : f.end] for f in figures if (f.start, f.end) not in reached] == []
