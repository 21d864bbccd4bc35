"""Markdown at the command line."""

from __future__ import annotations

import pytest


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("words", "code", "title"),
    [
        (["sheet", "cat-sat-mat"], 0, "# Three tiny vectors, no projections\n"),
        (["audit", "cat-sat-mat"], 1, "# "),
        (["derive", "masking"], 0, "# "),
        (["exercise", "cat-sat-mat"], 0, "# "),
    ],
)
def test_markdown(words: list[str], code: int, title: str, symattn) -> None:
    """``--format md`` is one document whose first line is its title."""
    done = symattn(*words, "--format", "md", "-o", "-")
    assert (done.code, done.err) == (code, "")
    assert done.out.startswith(title)
    assert "\n## " in done.out
    assert "$" in done.out
