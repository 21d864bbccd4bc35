"""A block whose label names an operation is the result of that operation on what stands
before it, and no input."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.auditing.audit import audit
from symattn.cases.article import case_of
from symattn.documents.binding import read
from symattn.documents.files import article
from symattn.verdicts import Verdict


def verdicts(text: str) -> dict[str, str]:
    """The verdicts of the figures of a Markdown article, and what is correct where one is
    refuted, by their texts."""
    case = case_of(read(article(Path("post.md"), text.encode())))
    return {
        figure.text: str(figure.correct) if figure.verdict is Verdict.REFUTED else "holds"
        for figure in audit(case).figures
    }


SCORES = "```\nScores: [1.5, 0.5, -0.4]\n"
RIGHT = {"0.66": "holds", "0.24": "holds", "0.10": "holds"}


@pytest.mark.parametrize(
    "label", ["Softmax → ", "softmax = ", "After the softmax: ", "↓\nSoftmax\n↓\nProbabilities: "]
)
def test_a_block_is_what_its_label_does_to_the_block_before(label):
    """Right figures hold, wrong ones are refuted, though all of them are wrong."""
    assert verdicts(f"{SCORES}{label}[0.66, 0.24, 0.10]\n```\n") == RIGHT
    assert verdicts(f"{SCORES}{label}[0.71, 0.21, 0.08]\n```\n") == {
        "0.71": "0.66", "0.21": "0.24", "0.08": "0.10",
    }  # fmt: skip
