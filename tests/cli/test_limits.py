"""Limits on time and memory, several cases at once, and what is shown meanwhile."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .processes import Run

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def words(command: str, case: str) -> list[str]:
    """A command on a case."""
    if command == "new":
        return [command, "made.toml", "--from", case]
    return [command, case, *(["A"] if command == "show" else [])]


@pytest.mark.sampled(0, 2)
@pytest.mark.parametrize(
    "command", ["show", "sheet", "draw", "audit", "verify", "exercise", "new", "seal"]
)
def test_max_seconds(command: str, run: Run) -> None:
    """Work that is not done in time ends with exit code 2, one line, and no file."""
    code, out, err = run.ended(*words(command, "slow.toml"), "--max-seconds", "1.5")
    assert (code, out) == (2, "")
    assert err == "symattn: slow.toml: stopped after 1.5 seconds (--max-seconds)\n"
    assert (run.left(), run.temporary(), [*run.work.iterdir()]) == ({}, [], [])


@pytest.mark.sampled(1, 8)
@pytest.mark.parametrize("case", ["large", "hoard"])
@pytest.mark.parametrize(
    "command", ["show", "sheet", "draw", "audit", "verify", "exercise", "new", "seal"]
)
def test_max_memory(command: str, case: str, run: Run) -> None:
    """Work that needs more memory ends so too, whether Python or a library gets none."""
    code, out, err = run.ended(*words(command, f"{case}.toml"), "--max-memory", "400")
    assert (code, out) == (2, "")
    assert err == f"symattn: {case}.toml: needs more than 400 MB (--max-memory)\n"
    assert (run.left(), run.temporary(), [*run.work.iterdir()]) == ({}, [], [])


@pytest.mark.heavy
def test_a_limit_of_the_environment(run: Run) -> None:
    """Limits can be set for all commands."""
    run.environment["SYMATTN_MAX_SECONDS"] = "0.5"
    _, _, err = run.ended("verify", "slow.toml")
    assert err == "symattn: slow.toml: stopped after 0.5 seconds (--max-seconds)\n"


@pytest.mark.heavy
def test_without_a_limit(run: Run) -> None:
    """Where nothing is limited the work is done in the command's own process; too much
    memory is still one line."""
    unlimited = ["--max-seconds", "0", "--max-memory", "0"]
    code, out, _ = run.ended("show", "cat-sat-mat", "A[0, 0]", *unlimited)
    assert (code, out[:10]) == (0, "A[0, 0] = ")
    code, out, err = run.ended("verify", "hoard.toml", *unlimited)
    assert (code, out) == (2, "")
    assert err == "symattn: the input needs more memory than is available\n"


def test_a_worker_that_is_killed(run: Run) -> None:
    """What ended the work from elsewhere is told, and nothing else is."""
    code, out, err = run.ended("verify", "killed.toml")
    assert (code, out) == (2, "")
    assert err == f"symattn: killed.toml: its process was ended ({signal.SIGKILL.name})\n"


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("command", ["sheet", "audit", "verify"])
def test_the_others_go_on(command: str, run: Run) -> None:
    """A case that is stopped takes nothing from the others; the exit code is 2."""
    form = ["--format", "tex"] if command == "sheet" else []
    code, out, err = run.ended(
        command, "slow.toml", "cat-sat-mat", "killed.toml", *form, "--max-seconds", "6"
    )
    assert code == 2
    assert err.splitlines() == [
        "symattn: 2 faults",
        "  slow.toml: stopped after 6 seconds (--max-seconds)",
        "  killed.toml: its process was ended (SIGKILL)",
    ]
    _, alone, _ = run.ended(command, "cat-sat-mat", *form)
    assert out == alone != ""


@pytest.mark.heavy
@pytest.mark.parametrize("output", [[], ["-o", "all.json", "--force"]])
def test_one_document_of_all_is_whole(output: list[str], run: Run) -> None:
    """Where one document tells of all cases, it also tells of a case that was stopped."""
    code, out, err = run.ended(
        "audit", "cat-sat-mat", "slow.toml", "--format", "json", "--max-seconds", "6", *output
    )
    assert code == 2
    assert err == "symattn: slow.toml: stopped after 6 seconds (--max-seconds)\n"
    found, stopped = json.loads((run.work / "all.json").read_text("utf-8") if output else out)
    assert found["case"] == "cat-sat-mat"
    assert stopped == {"case": "slow.toml", "stopped": err.removeprefix("symattn: ").strip()}


def test_a_document_of_nothing_is_not_written(run: Run) -> None:
    """Where all cases were stopped, the old one stays."""
    (run.work / "all.json").write_text("mine", "utf-8")
    words = ("--format", "json", "--max-seconds", "1.5", "-o", "all.json")
    assert run.ended("audit", "slow.toml", *words)[:2] == (2, "")
    assert (run.work / "all.json").read_text("utf-8") == "mine"


@pytest.mark.heavy
@pytest.mark.parametrize("output", [[], ["-o", "all.txt"]])
def test_annotations_are_of_what_is_done(output: list[str], run: Run) -> None:
    """A case that is stopped is an annotation of its own, and takes none from the others."""
    asked = ["--format", "github", "--max-seconds", "6", *output]
    code, out, err = run.ended("audit", "please-study-man", "slow.toml", *asked)
    assert code == 2
    assert err == f"symattn: {(said := 'slow.toml: stopped after 6 seconds (--max-seconds)')}\n"
    lines = ((run.work / "all.txt").read_text("utf-8") if output else out).splitlines()
    assert lines[-1] == f"::error title=stopped::{said}"
    assert len(lines) > 1
    assert all("file=" in line for line in lines[:-1])


@pytest.mark.heavy
def test_a_log_says_what_it_lacks(run: Run) -> None:
    """A SARIF log has the findings of what is done, and of what is not that it was stopped."""
    asked = ["--format", "sarif", "--max-seconds", "6"]
    for cases, count in ((["please-study-man", "slow.toml"], 10), (["slow.toml"], 0)):
        code, out, err = run.ended("audit", *cases, *asked)
        (made,) = json.loads(out)["runs"]
        (invocation,) = made["invocations"]
        assert (code, len(made["results"]) > count // 2) == (2, bool(count))
        assert not invocation["executionSuccessful"]
        (note,) = invocation["toolExecutionNotifications"]
        assert err == f"symattn: {note['message']['text']}\n"
    _, out, _ = run.ended("audit", "please-study-man", "--format", "sarif")
    assert "invocations" not in out


@pytest.mark.parametrize(
    ("option", "unit", "values"),
    [
        ("--max-seconds", "0.000001 to 31536000 seconds", ("inf", "nan", "-1", "1e300", "1e-300")),
        ("--max-memory", "100 to 1048576 megabytes", ("10", "99", "-5", "9" * 30)),
    ],
)
def test_a_limit_that_makes_no_sense(
    option: str, unit: str, values: tuple[str, ...], symattn
) -> None:
    """It is refused at its option, which says what makes sense."""
    for value in values:
        done = symattn("show", "cat-sat-mat", "A", option, value)
        assert (done.code, done.out) == (2, "")
        told = value if option == "--max-memory" else str(float(value))
        assert f"'{option}': {told}: expected 0 (no limit), or {unit}" in done.err
    for value in ("soon", "", "1.5.1"):
        done = symattn("show", "cat-sat-mat", "A", option, value)
        assert (done.code, done.out) == (2, "")
        assert f"Invalid value for '{option}'" in done.err


_EARLY = "ended early, maybe as it needs more than"


@pytest.mark.heavy
def test_the_least_limit_is_one_that_is_told(run: Run) -> None:
    """With the least memory that can be asked for, a command works or says what it needs."""
    code, _, err = run.ended("verify", "cat-sat-mat", "--max-memory", "100")
    assert (code, err) in (
        (0, ""),
        (2, "symattn: cat-sat-mat: needs more than 100 MB (--max-memory)\n"),
        (2, f"symattn: cat-sat-mat: {_EARLY} 100 MB (--max-memory)\n"),
    )
    code, _, err = run.ended("verify", "cat-sat-mat", "--max-seconds", "0.000001")
    assert (code, err[-15:]) == (2, "(--max-seconds)\n"[-15:])


@pytest.mark.heavy
def test_faults_and_limits_are_told_together(run: Run) -> None:
    """What is wrong with the one case and what stopped the other are one message."""
    code, out, err = run.ended("verify", "killed.toml", "nix.toml", "cat-sat-mat")
    assert (code, out) == (2, "")
    assert err.splitlines()[0] == "symattn: 2 faults"
    assert [line.partition(":")[0] for line in err.splitlines()[1:]] == [
        "  killed.toml",
        "  nix.toml",
    ]


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("command", ["sheet", "draw", "audit", "verify", "seal"])
def test_jobs(command: str, run: Run) -> None:
    """Several cases are worked on at once; what is told is in their order."""
    form = ["--format", "tex"] if command == "sheet" else []
    code, out, err = run.ended(command, "left", "right", *form, "--jobs", "2")
    assert (code, out, err) == run.ended(command, "cat-sat-mat", "the-fox-jumps", *form)
    assert out != err == ""


@pytest.mark.heavy
def test_one_job_at_a_time(run: Run) -> None:
    """Unless it is asked for, no case is begun before another is done."""
    code, _, err = run.ended("verify", "left", "right", "--max-seconds", "6")
    assert (code, err) == (2, "symattn: left: stopped after 6 seconds (--max-seconds)\n")


# -- what is shown meanwhile -----------------------------------------------------------------


def on_terminal(run: Run, *words: str) -> tuple[int, str]:
    """Exit code, and what is shown where standard error is a terminal."""
    ours, theirs = pty.openpty()
    run.environment["TERM"] = "xterm"
    with run.start(*words, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:
            # All who could write have gone.
            pass
        os.close(ours)
    return process.returncode, shown.decode()


@pytest.mark.heavy
def test_progress(run: Run) -> None:
    """A terminal is shown which case is worked on, how far it is and how long, and in the end
    a clean line."""
    code, shown = on_terminal(run, "verify", "cat-sat-mat", "slow.toml", "--max-seconds", "2.6")
    assert code == 2
    line, message = shown.rsplit("\r\x1b[K", 1)
    assert message == "symattn: slow.toml: stopped after 2.6 seconds (--max-seconds)\r\n"
    # Between two cases there is nothing to be shown.
    lines = [text for part in line.split("\r") if (text := part.removesuffix("\x1b[K"))]
    # On a slow machine the first case takes long enough to be shown too.
    assert all(text.startswith(("[1/2] cat-sat-mat: ", "[2/2] slow.toml: ")) for text in lines)
    assert any(re.fullmatch(r"\[2/2\] slow\.toml: reading, [12] s", text) for text in lines)


@pytest.mark.heavy
def test_stages(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """Every stage of the work is shown by its name, down to the pages."""
    run.environment["PATH"] = os.pathsep.join([str(run.folder), "/bin", "/usr/bin"])
    engine = run.folder / "pdflatex"
    engine.write_text("#!/bin/sh\nsleep 2\nprintf '%%PDF-1.5\\n%%%%EOF\\n' > sheet.pdf\n", "utf-8")
    engine.chmod(0o755)
    code, shown = on_terminal(run, "sheet", "length-4-causal", "--detail", "full")
    assert code == 0
    assert re.search(r"length-4-causal: typesetting, [1-9]\d* s", shown)
    assert shown.endswith("\r\x1b[K")
    seen = re.findall(r"length-4-causal: (\w+), ", shown)
    stages = ["starting", "reading", "computing", "checking", "typesetting"]
    assert seen == sorted(seen, key=stages.index)


@pytest.mark.heavy
def test_no_progress_in_a_pipe(run: Run) -> None:
    """Where standard error is no terminal, or can't move its cursor, nothing is shown."""
    slow = ["verify", "slow.toml", "--max-seconds", "2"]
    assert run.ended(*slow)[2] == "symattn: slow.toml: stopped after 2 seconds (--max-seconds)\n"


def test_what_is_shown_is_harmless() -> None:
    """The name of a case can't steer the terminal, nor take more than a line."""
    code = (
        "import sys, time\nfrom symattn.cli import options\noptions._PATIENCE = 0\n"
        "shown = options.Progress(['a\\x1b[31m\\n' + 'b' * 500, 'c', 'd'])\n"
        "for index in (0, 1): shown.stage(index, 'reading')\n"
        "shown.stage(0, 'done')\nshown.stage(1, 'done')\nshown.clear()\n"
    )
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stderr=theirs, check=True)
    os.close(theirs)
    parts = os.read(ours, 65536).decode().split("\r")
    os.close(ours)
    assert parts[0] == ""
    assert parts[1].startswith(r"[1/3] a\x1b[31m\nbbb")
    assert len(parts[1].removesuffix("\x1b[K")) == 79
    assert parts[2:] == ["[2/3] c: reading, 0 s\x1b[K", "\x1b[K"]
