"""What is built on an article says what it assumes, and isn't built on what figures suggest."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..documents.test_unknown_calls import SILENT

MASKED = """With a causal mask:

$$S = [[0, 1], [2, 0]]$$

$$A = [[1.0000, 0.0000], [0.8808, 0.1192]]$$

The weights $A = \\text{softmax}(S)$.
"""


@pytest.mark.parametrize(
    "command",
    [["sheet", "--format", "md"], ["draw"], ["exercise"], ["show"]],
    ids=lambda command: command[0],
)
def test_an_assumed_step_is_told_and_a_guessed_one_refused(command, symattn, tmp_path: Path):
    """With the note that settles it, with which it is built."""
    more = ["w"] if command[0] == "show" else []
    (tmp_path / "silent.ipynb").write_text(SILENT)
    refused = symattn(*command, "silent.ipynb", *more)
    note = "<!-- symattn: outputs = w @ values -->"
    assert (refused.code, note in refused.err) == (2, True)
    cell = f'{{"cell_type": "markdown", "metadata": {{}}, "source": "{note}"}}, '
    (tmp_path / "settled.ipynb").write_text(SILENT.replace('"cells": [', f'"cells": [{cell}'))
    built = symattn(*command, "settled.ipynb", *more)
    assert (built.code, "assumed" in built.err) == (0, False)
    (tmp_path / "masked.md").write_text(MASKED)
    told = symattn(*command, "masked.md", *(["A"] if more else ["-o", "told"]))
    assert (told.code, "masked.md: assumed: " in told.err) == (0, True)
    assert "M = causal(S)" in told.err
