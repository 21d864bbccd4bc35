"""The command line and the world: pipes, terminals, odd names, several cases, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from symattn import verification
from symattn.errors import Malformed, Refuted, Undecided
from symattn.sheets import case_sheet
from tests.folders import written

GOOD = "[given]\nX = [[1, 2], [3, 4]]\n[steps]\nA = 'softmax(X)'\n"
COMMAND = [sys.executable, "-m", "symattn"]


def run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command line in a folder, as bytes."""
    return subprocess.run(
        [*COMMAND, *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    """A closed pipe ends the run without a word, and not as a failed check."""
    with subprocess.Popen(
        [*COMMAND, "list"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) not in (1, 2)


@pytest.mark.heavy
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [["list"], ["show", "cat-sat-mat", "A"]])
def test_a_full_disk(words: list[str], tmp_path: Path) -> None:
    """Output that can't be written is one message."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"symattn: the output can't be written: No space left on device\n"


def test_a_terminal_without_the_letters(tmp_path: Path) -> None:
    """Where an encoding lacks a sign, its code is shown."""
    done = run(tmp_path, "show", "cat-sat-mat", "A[0, 0]", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0
    assert done.stdout == rb"A[0, 0] = e/(1 + sqrt(e) + e) \u2248 0.506480" + b"\n"


@pytest.mark.heavy
@pytest.mark.parametrize("words", [["list"], ["verify", "cat-sat-mat"]])
def test_no_colour_in_a_pipe(words: list[str], tmp_path: Path) -> None:
    """What is piped has no control codes in it."""
    assert b"\x1b" not in run(tmp_path, *words).stdout


@pytest.mark.heavy
def test_odd_names(tmp_path: Path) -> None:
    """Case files may be called anything that a file can be called."""
    names = ["a b$%#{}~^_&", "\u732b", "new\nline", os.fsdecode(b"\xff\xfe")]
    for name in names:
        (tmp_path / f"{name}.toml").write_text(GOOD, "utf-8")
    files = [f"{name}.toml" for name in names]
    done = run(tmp_path, "sheet", *files, "--format", "tex", "-o", "out")
    assert done.returncode == 0
    assert {path.stem for path in written(tmp_path / "out")} == set(names)
    found = json.loads(run(tmp_path, "verify", *files, "--format", "json").stdout)
    assert len(found) == len(names)


@pytest.mark.parametrize("command", ["verify", "sheet", "audit"])
def test_two_cases_of_one_name(command: str, tmp_path: Path, symattn) -> None:
    """Results go by name, so none may be lost under another's."""
    (tmp_path / "other").mkdir()
    for folder in (tmp_path, tmp_path / "other"):
        (folder / "case.toml").write_text(GOOD, "utf-8")
    done = symattn(command, "case.toml", "other/case.toml")
    assert (done.code, done.out) == (2, "")
    assert done.err == "symattn: two cases are called case: run them one at a time\n"


def test_the_faults_of_all_cases_together(tmp_path: Path, symattn) -> None:
    """Several bad cases are one message that says which fault is whose."""
    (tmp_path / "one.toml").write_text("", "utf-8")
    (tmp_path / "two.toml").write_text(GOOD.replace("softmax", "sofmax"), "utf-8")
    done = symattn("verify", "one.toml", "cat-sat-mat", "two.toml", "three")
    assert (done.code, done.out) == (2, "")
    lines = done.err.splitlines()
    assert lines[0] == "symattn: 4 faults"
    assert [line.partition(": ")[0].strip() for line in lines[1:]] == [
        "one.toml", "one.toml", "two.toml:4", "unknown case 'three'",
    ]  # fmt: skip


@pytest.mark.parametrize("error", [Undecided("a digit stays open"), Malformed("no size fits")])
def test_what_only_solving_finds(
    error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, symattn
) -> None:
    """What goes wrong behind the reading is told with the file it comes from, of all cases."""

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(verification, "verify", refuse)
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(GOOD, "utf-8")
    done = symattn("verify", "one.toml")
    assert (done.code, done.err) == (2, f"symattn: one.toml: {error}\n")
    done = symattn("verify", "one.toml", "two.toml")
    told = [f"  {name}.toml: {error}" for name in ("one", "two")]
    assert (done.code, done.err.splitlines()) == (2, ["symattn: 2 faults", *told])


def test_nested_too_deep(monkeypatch: pytest.MonkeyPatch, symattn) -> None:
    "What is nested too deeply to be computed is one message."

    def sink(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(verification, "verify", sink)
    done = symattn("verify", "cat-sat-mat")
    assert (done.code, done.out) == (2, "")
    assert done.err == "symattn: cat-sat-mat: nested too deeply to be computed\n"


def test_a_disk_that_says_no_more(monkeypatch: pytest.MonkeyPatch, symattn) -> None:
    """An error of the system without a text of its own is told in its own words."""

    def refuse(*_: object) -> None:
        raise OSError("no more room")

    monkeypatch.setattr(verification, "verify", refuse)
    done = symattn("verify", "cat-sat-mat")
    assert (done.code, done.err) == (2, "symattn: the output can't be written: no more room\n")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["A", "--at", "0,1"], "A[0, 1] = 1/(1 + sqrt(e) + e) \u2248 0.186324\n"),
        (["A + 1", "--at", "0,1"], "(A + 1)[0, 1] = "),
        (["dL/dV", "--at", "-1,0"], "dL/dV[-1, 0] = "),
        (["total(A)"], "total(A) = 3 \u2248 3.000000\n"),
    ],
)
def test_an_entry_is_called_what_it_is(words: list[str], shown: str, symattn) -> None:
    """What is printed before the sign of equality can be asked for again."""
    assert symattn("show", "cat-sat-mat", *words).out.startswith(shown)


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    "words",
    [
        ["A", "--at", ""],
        ["A", "--at", "0"],
        ["A", "--at", "0,1,2"],
        ["A", "--at", "0,-4"],
        ["d_k", "--at", "0"],
        ["A", "--rounding", ""],
        ["A", "--format", "pdf"],
        ["A", "--places", "many"],
        ["exp(1e300)"],
        ["log(0)"],
        ["1 / (A - A)"],
        ["upstream"],
    ],
)
def test_questions_without_an_answer(words: list[str], symattn) -> None:
    """A question that can't be answered is refused with exit code 2, in one message."""
    done = symattn("show", "cat-sat-mat", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(("symattn: ", "Usage: symattn show "))


def test_a_refuted_sheet_is_a_failed_check(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, symattn
) -> None:
    """A figure that does not hold ends with exit code 1, and no file."""

    def refuse(*_: object) -> None:
        raise Refuted("the cross-check refutes A")

    monkeypatch.setattr(case_sheet, "sheet", refuse)
    done = symattn("sheet", "cat-sat-mat", "-o", "out")
    assert (done.code, done.out, done.err) == (1, "", "symattn: the cross-check refutes A\n")
    assert not list(tmp_path.glob("out/*"))
