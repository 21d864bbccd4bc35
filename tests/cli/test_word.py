"""Word documents at the command line."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import docx
import pytest

from tests.cli.test_exercise import PNG


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("words", "code", "title"),
    [
        (["sheet", "cat-sat-mat"], 0, "Three tiny vectors, no projections"),
        (["audit", "cat-sat-mat"], 1, "Three tiny vectors, no projections: red pen"),
        (["derive", "masking"], 0, "Masking by minus infinity"),
        (["exercise", "cat-sat-mat"], 0, "Three tiny vectors, no projections"),
    ],
)
def test_word(words: list[str], code: int, title: str, tmp_path: Path, symattn) -> None:
    """``--format docx`` is one document, whose first line is its title."""
    done = symattn(*words, "--format", "docx", "-o", "out.docx" if "audit" in words else "out")
    assert (done.code, done.err) == (code, "")
    (path,) = tmp_path.rglob("*.docx")
    first = docx.Document(str(path)).paragraphs[0]
    assert first.style is not None
    assert (first.style.name, first.text) == ("Title", title)


def test_versions_are_bound(tmp_path: Path, symattn) -> None:
    """All versions are one document, all solutions another, each version a section of it with
    the logo; a sheet for each student bears the name, and there is a table to mark in."""
    (tmp_path / "crest.png").write_bytes(PNG)
    (tmp_path / "list.csv").write_text("student,version\nAda Lovelace,2\nBob,1\n")
    words = ["--versions", "2", "--solutions", "--students", "list.csv", "--logo", "crest.png"]
    made = symattn("exercise", "cat-sat-mat", *words, "--format", "docx", "-o", "out")
    assert (made.code, made.err) == (0, "")
    opened = {
        path.stem.removeprefix("cat-sat-mat-"): docx.Document(BytesIO(path.read_bytes()))
        for path in (tmp_path / "out").glob("*.docx")
    }
    assert sorted(opened) == ["01", "01-solution", "02", "02-solution", "all", "all-solutions",
                              "grading", "students"]  # fmt: skip
    for name in ("all", "all-solutions", "students"):
        assert len(opened[name].sections) == len(opened[name].inline_shapes) == 2
    texts = [paragraph.text for paragraph in opened["students"].paragraphs]
    (first, second) = (k for k, text in enumerate(texts) if text.startswith("Name: "))
    assert "Ada Lovelace" in texts[first]
    assert "Bob" in texts[second]
    (table,) = opened["grading"].tables
    assert [row.cells[0].text for row in table.rows] == ["student", "Ada Lovelace", "Bob"]


@pytest.mark.heavy
def test_standard_output(tmp_path: Path) -> None:
    """A document goes there whole."""
    command = [sys.executable, "-m", "symattn", "exercise", "cat-sat-mat", "--format", "docx"]
    done = subprocess.run([*command, "-o", "-"], cwd=tmp_path, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert docx.Document(BytesIO(done.stdout)).paragraphs
