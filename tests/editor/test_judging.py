"""What is told of articles whose every figure is known, and by whom it is worked out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from symattn.documents.text import Span
from symattn.editor import judging
from symattn.workers import Asker
from tests.documents import marks

FOLDER = Path(__file__).parents[1] / "documents"
DOCUMENTS = [
    path for folder in ("corpus", "further", "unseen") for path in marks.documents(FOLDER / folder)
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_error_is_a_planted_slip(path):
    """Its place is that of the figure, to the letter, and it says the right figure; what is
    only doubted is a hint."""
    document = marks.load(path)
    name = path.name.removesuffix(".marked")
    slips = {Span(mark.start, mark.end): mark for mark in document.slips}
    answer = judging.judge(Asker(lambda what: None), name, document.text)
    assert answer.coverage
    for finding in answer.findings:
        if finding.severity in ("error", "warning"):
            assert finding.span in slips, finding
            assert document.text[slice(*finding.span)] == slips[finding.span].printed
        else:
            assert finding.code in ("open", "unread", "coarse", "undecided")


def test_the_server_loads_nothing_that_work_takes():
    code = "import sys, symattn.editor.server; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "symattn.editor.crew" in loaded
    assert not loaded & {"numpy", "flint", "sympy", "symattn.auditing", "symattn.programs"}
