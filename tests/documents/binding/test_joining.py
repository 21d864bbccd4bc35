"""What stands by itself behind a chain, and whether it is the value of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.documents.binding.context import asserted
from symattn.documents.binding.joining import joined
from symattn.documents.files import article
from symattn.documents.passages import passages
from symattn.documents.trees import Chain, Opaque
from symattn.expressions import syntax

COLUMN = r"\begin{bmatrix} 2 \\ 3 \end{bmatrix}"
MATRIX = r"\begin{bmatrix} e & 1 \\ 1 & e \end{bmatrix}"


def chains(text):
    """The chains of an article, as text with their links."""
    read = passages(article(Path("post.md"), text.encode()))
    return [
        " ".join(
            part
            for link, member in zip(("", *piece.links), piece.members, strict=True)
            if not isinstance(member, Opaque)
            for part in (link, syntax.text(member))
        ).strip()
        for passage in asserted([*joined(read)])
        for piece in passage.pieces
        if isinstance(piece, Chain)
    ]


@pytest.mark.parametrize(
    ("before", "is_value"),
    [
        ("g = A v", True),
        (rf"g = \exp(A) \cdot {COLUMN}", True),
        (rf"g = {MATRIX}", False),
        (rf"g = A v = \frac{{1}}{{Z}} {MATRIX}", False),
        (rf"g = -\frac{{1}}{{4}} {MATRIX}", False),
    ],
)
def test_a_column_beside_a_matrix(before, is_value):
    """It is no value of that: the two are multiplied, and what comes of it stands behind."""
    first, *_, last = chains(f"$$\n{before}\n$$\n\n$$\n{COLUMN}\n$$\n")
    assert last == (f"{first} = [[2], [3]]" if is_value else "[[2], [3]]")


@pytest.mark.parametrize(("sign", "link"), [("=", "="), (r"\approx", "≈"), ("", "=")])
def test_a_sign_at_the_end_of_a_display(sign, link):
    """What the next one has is as equal as the sign says."""
    assert chains(f"$$\nQ {sign}\n$$\n\n$$\n{COLUMN}\n$$\n")[-1] == f"Q {link} [[2], [3]]"


TABLE = "\n\n| | a | b |\n|-|-|-|\n| a | {} | 0.25 |\n| b | 0.5 | 0.5 |\n\n"


@pytest.mark.parametrize(("said", "count"), [("base case", 1), ("again", 2)])
def test_a_table_of_another_case(said, count):
    """A name whose values in another case are shown keeps its own."""
    text = f"$A$:{TABLE.format(0.75)}$A$, {said}:{TABLE.format(0.25)}"
    assert sum("0.5" in one for one in chains(text)) == count
