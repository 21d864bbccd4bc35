"""What read --format toml writes can be read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.cases import library
from symattn.solution.solution import solve
from tests.documents import marks
from tests.fuzz.articles import hostile, sources

FOLDER = Path(__file__).parents[1] / "documents" / "corpus"
PATHS = {path.stem: path for path in marks.documents(FOLDER)}
#: So many hostile articles are read.
HOSTILE = 60


def holds(done, written: Path) -> bool:
    """Whether a file was written, that is then a case; else the message says why."""
    if done.code == 0:
        solve(library.load(written))
        return True
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("symattn: ")
    assert "internal error" not in done.err
    assert not written.exists()
    return False


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", PATHS)
def test_worked_examples_are_written(name, symattn, tmp_path) -> None:
    """Each amounts to a case file."""
    (tmp_path / name).write_text(marks.load(PATHS[name]).text, "utf-8")
    done = symattn("read", name, "--format", "toml", "-o", "made.toml")
    assert holds(done, tmp_path / "made.toml")


@pytest.mark.heavy
def test_what_is_written_can_be_read_again(symattn, tmp_path) -> None:
    """Whatever the article: with exit code 0 it is a case, else nothing is written."""
    examples, written = sources(), 0
    for seed in range(HOSTILE):
        name, held = hostile(examples, seed)
        (tmp_path / name).write_bytes(held)
        done = symattn("read", name, "--format", "toml", "-o", f"{seed}.toml")
        written += holds(done, tmp_path / f"{seed}.toml")
    assert written


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Nothing is computed.", "steps: expected at least one step"),
        ("$X = [0, 1]$\n\n$L = \\log(X)$", "steps: expected at least one step"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(text, why, symattn, tmp_path) -> None:
    """It says so, of the article."""
    (tmp_path / "post.md").write_text(text, "utf-8")
    for more in ((), ("-o", "made.toml")):
        done = symattn("read", "post.md", "--format", "toml", *more)
        assert (done.code, done.out) == (2, "")
        so = "it can't be written as a case file"
        assert done.err == f"symattn: post.md: {why}; {so}\n"
    assert not (tmp_path / "made.toml").exists()
    assert symattn("read", "post.md").code == 0
