"""Files that extend others read only those beside them, unless they are allowed to."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn import load
from symattn.errors import Malformed

BASE = "[given]\nX = [[1, 2], [3, 4]]\n[steps]\nA = 'softmax(X)'\n"
SECRET = "root:x:0:0:hunter2\n"


@pytest.fixture
def inner(tmp_path: Path) -> Path:
    """A folder with a file that extends one outside of it."""
    (tmp_path / "base.toml").write_text(BASE, "utf-8")
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "case.toml").write_text("extends = '../base.toml'\n", "utf-8")
    return folder


def refused(done) -> None:
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "symattn: inner/case.toml:1: extends: '../base.toml' is not in the file's folder or below: "
        "it is read only with --allow-outside, in Python allow_outside=True\n"
    )


def test_auditing_what_is_outside(inner, symattn) -> None:
    """Refused, and read when it is allowed."""
    refused(symattn("audit", "inner/case.toml"))
    assert symattn("audit", "inner/case.toml", "--allow-outside").code == 0


def test_sealing_what_is_outside(inner, symattn) -> None:
    """``seal`` as well."""
    refused(symattn("seal", "inner/case.toml"))
    assert symattn("seal", "inner/case.toml", "--allow-outside").code == 0


def test_verifying_what_is_outside(inner, symattn) -> None:
    """Refused, and read when it is allowed."""
    refused(symattn("verify", "inner/case.toml"))
    assert symattn("verify", "inner/case.toml", "--allow-outside").code == 0


def test_sheets_of_what_is_outside(inner, symattn) -> None:
    """Refused, and read when it is allowed."""
    refused(symattn("sheet", "inner/case.toml", "--format", "tex"))
    assert symattn("sheet", "inner/case.toml", "--format", "tex", "--allow-outside").code == 0


def test_drawing_what_is_outside(inner, symattn) -> None:
    """Refused, and read when it is allowed."""
    refused(symattn("draw", "inner/case.toml"))
    assert symattn("draw", "inner/case.toml", "--allow-outside").code == 0


def test_exercises_of_what_is_outside(inner, symattn) -> None:
    """Refused, and read when it is allowed."""
    refused(symattn("exercise", "inner/case.toml"))
    assert symattn("exercise", "inner/case.toml", "--allow-outside").code == 0


def test_showing_what_is_outside(inner, symattn) -> None:
    """Refused, and read when it is allowed."""
    refused(symattn("show", "inner/case.toml", "A"))
    assert symattn("show", "inner/case.toml", "A", "--allow-outside").code == 0


def test_starting_from_what_is_outside(inner, symattn) -> None:
    """Refused, and read when it is allowed."""
    refused(symattn("new", "mine.toml", "--from", "inner/case.toml"))
    assert symattn("new", "mine.toml", "--from", "inner/case.toml", "--allow-outside").code == 0


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "words",
    [
        ["audit", "inner/case.toml"],
        ["verify", "inner/case.toml"],
        ["sheet", "inner/case.toml", "--format", "tex"],
        ["draw", "inner/case.toml"],
        ["exercise", "inner/case.toml"],
        ["show", "inner/case.toml", "A"],
        ["new", "mine.toml", "--from", "inner/case.toml"],
    ],
)
@pytest.mark.sampled(4)
def test_in_a_worker(words: list[str], inner, symattn) -> None:
    """The same where the case is worked on in a process of its own."""
    words = [*words, "--max-seconds", "100"]
    refused(symattn(*words))
    assert symattn(*words, "--allow-outside").code == 0


def test_in_python(inner: Path) -> None:
    """The same, where the file is read."""
    with pytest.raises(Malformed, match="is not in the file's folder"):
        load(inner / "case.toml")
    assert list(load(inner / "case.toml", allow_outside=True).steps) == ["A"]


@pytest.mark.parametrize("kind", ["absolute", "upwards", "link", "linked folder", "below, linked"])
def test_every_way_out_is_closed(kind: str, tmp_path: Path, symattn) -> None:
    """Paths and links that lead out are refused before anything is opened."""
    (tmp_path / "base.toml").write_text(BASE, "utf-8")
    (tmp_path / "inner" / "deep").mkdir(parents=True)
    names = {
        "absolute": str(tmp_path / "base.toml"),
        "upwards": "deep/../../base.toml",
        "link": "link.toml",
        "linked folder": "out/base.toml",
        "below, linked": "deep/link.toml",
    }
    (tmp_path / "inner" / "link.toml").symlink_to("../base.toml")
    (tmp_path / "inner" / "out").symlink_to("..")
    (tmp_path / "inner" / "deep" / "link.toml").symlink_to(tmp_path / "base.toml")
    case = tmp_path / "inner" / "case.toml"
    case.write_text(f"extends = '{names[kind]}'\n", "utf-8")
    assert "is not in the file's folder or below" in symattn("verify", str(case)).err
    assert symattn("verify", str(case), "--allow-outside").code == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["base.toml", "deep/base.toml", "deep/../base.toml", "link.toml"])
def test_what_is_beside_is_read(name: str, tmp_path: Path, symattn) -> None:
    """In the same folder or below, also by a link that stays there, or in the library."""
    (tmp_path / "deep").mkdir()
    for place in ("base.toml", "deep/base.toml"):
        (tmp_path / place).write_text(BASE, "utf-8")
    (tmp_path / "link.toml").symlink_to("deep/base.toml")
    (tmp_path / "case.toml").write_text(f"extends = '{name}'\n", "utf-8")
    assert symattn("verify", "case.toml").code == 0
    (tmp_path / "case.toml").write_text("extends = 'cat-sat-mat'\n", "utf-8")
    assert symattn("verify", "case.toml").code == 0


@pytest.mark.parametrize(
    "content",
    [
        SECRET,
        "hunter2 = 1\n",
        "title = hunter2\n",
        "[hunter2]\n",
        "title = 2\nhunter2 = 3\n",
        "extends = 'hunter2'\n",
        "extends = '../hunter2.toml'\n",
        "extends = 'hunter2.toml'\n",
        "'hunter2'." * 50 + "x = 1\n",
        "x = 'hunter2\n",
    ],
)
def test_what_another_file_says_is_not_told(content: str, tmp_path: Path, symattn) -> None:
    """A message says which file is no walkthrough, and at which line; nothing that is in it,
    also where it is reached through a third."""
    (tmp_path / "other.toml").write_text(content, "utf-8")
    (tmp_path / "middle.toml").write_text("extends = 'other.toml'\n", "utf-8")
    for base in ("other.toml", "middle.toml"):
        (tmp_path / "case.toml").write_text(f"\nextends = '{base}'\n", "utf-8")
        for more in ([], ["--allow-outside"]):
            done = symattn("audit", "case.toml", *more)
            assert done.code == 2
            assert "hunter2" not in done.err
            assert done.err.startswith("symattn: case.toml:2: extends: ")
