"""A fault of symattn's own ends one case with one line and exit code 2; the others go on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from symattn.cases import article as article_cases
from symattn.cli import audit as audit_command
from symattn.documents.binding.binder import read

from .processes import Run

GOOD = (
    "$X = [[1.25, 2.5], [3.75, 4]]$\n\n$Y = X + X = [[2.5, 5], [7.5, 9]]$\n\n"
    "$Z = 3 X = [[3.75, 7.5], [11.25, 12]]$\n"
)
LINE = re.compile(
    r"symattn: crash\.md: internal error: KeyError in [\w/]+\.py, line \d+; "
    r"please report it, with the input and what SYMATTN_TRACEBACK=1 prints\n"
)


@pytest.fixture
def crash(tmp_path, monkeypatch):
    """An article that is read, and one whose reading fails with everything."""
    monkeypatch.delenv("SYMATTN_TRACEBACK")

    def failing(article, *rest):
        return {}[article.path.name] if article.path.name == "crash.md" else read(article, *rest)

    monkeypatch.setattr(article_cases, "read", failing)
    for name in ("good.md", "crash.md"):
        (tmp_path / name).write_text(GOOD, "utf-8")


COMMANDS = (
    *(("audit", "--format", form) for form in ("text", "json", "github", "sarif", "errata")),
    *(("audit", "--format", form, "-o", "out") for form in ("html", "tex", "md")),
    *(("audit", "--format", form, "-o", "out.txt") for form in ("text", "json", "sarif", "errata")),
    *(("audit", "--diff"), ("audit", "--fix")),
    *(("verify",), ("verify", "--format", "json")),
    *(("sheet", "--format", form) for form in ("html", "tex", "md")),
    *(("draw",), ("draw", "-o", "out")),
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("order", [("good.md", "crash.md"), ("crash.md", "good.md")])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_others_go_on(words, order, crash, symattn, tmp_path) -> None:
    """In every command and every format what the good article gives is all there."""
    command, *options = words
    alone = symattn(command, "good.md", *options)
    written = {one: one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()}
    for one in written.keys() - {tmp_path / "good.md", tmp_path / "crash.md"}:
        one.unlink()
    (tmp_path / "good.md").write_text(GOOD, "utf-8")
    both = symattn(command, *order, *options)
    assert both.code == 2
    assert LINE.fullmatch(both.err.replace(alone.err, ""))
    assert {one for one in tmp_path.rglob("*") if one.is_file()} == written.keys()
    if "json" in options or "sarif" in options:
        said = both.out or (tmp_path / "out.txt").read_text("utf-8")
        assert "good.md" in said
        assert command == "verify" or "internal error" in said
        assert json.loads(said)
    else:
        assert [line for line in both.out.splitlines() if "title=stopped" not in line] == (
            alone.out.splitlines()
        )
        assert ("title=stopped" in both.out) == ("github" in options)
        assert written == {one: one.read_bytes() for one in written}


@pytest.mark.parametrize(
    "words",
    [("show", "crash.md", "Y"), ("read", "crash.md"), ("new", "x.toml", "--from", "crash.md")],
)
def test_one_that_fails_is_one_line(words, crash, symattn, tmp_path) -> None:
    """Nothing is printed or written of it."""
    done = symattn(*words)
    assert (done.code, done.out) == (2, "")
    assert LINE.fullmatch(done.err)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["crash.md", "good.md"]


def test_two_that_fail_are_told_together(crash, symattn, tmp_path) -> None:
    """Each on a line of its own."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "crash.md").write_text(GOOD, "utf-8")
    done = symattn("audit", "crash.md", "good.md", "sub/crash.md")
    assert done.code == 2
    first, *rest = done.err.splitlines()
    assert first == "symattn: 2 faults"
    assert [line.partition(": ")[0] for line in rest] == ["  crash.md", "  sub/crash.md"]


def test_who_asks_gets_the_traceback(crash, symattn, monkeypatch) -> None:
    """Where the variable is set it stands before the line, from the first frame on."""
    monkeypatch.setenv("SYMATTN_TRACEBACK", "1")
    done = symattn("audit", "good.md", "crash.md")
    assert done.code == 2
    assert done.err.startswith("Traceback (most recent call last):\n")
    assert "KeyError: 'crash.md'\n" in done.err
    assert LINE.search(done.err)


def test_a_command_that_fails_is_one_line(symattn, monkeypatch, tmp_path) -> None:
    """Also outside of the work on a case."""
    monkeypatch.delenv("SYMATTN_TRACEBACK")
    (tmp_path / "good.md").write_text(GOOD, "utf-8")
    monkeypatch.setattr(audit_command, "_text", lambda *_: dict[str, str]()["lost"])
    done = symattn("audit", "good.md", "--format", "json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("symattn: internal error: KeyError in cli/audit.py, line ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("during", [(article_cases, "read"), (audit_command, "_text")])
@pytest.mark.parametrize(
    "error", [MemoryError(), SystemError("error return without exception set")], ids=repr
)
def test_a_lack_of_memory_is_no_fault(error, during, symattn, monkeypatch, tmp_path) -> None:
    """Whatever it is called, and wherever it shows."""

    def failing(*_):
        raise error

    (tmp_path / "good.md").write_text(GOOD, "utf-8")
    monkeypatch.setattr(*during, failing)
    done = symattn("audit", "good.md", "--format", "json")
    assert (done.code, done.out) == (2, "")
    assert done.err == "symattn: the input needs more memory than is available\n"


@pytest.mark.heavy
@pytest.mark.parametrize("shown", ["", "1"])
def test_a_worker_that_fails_is_one_line(shown, tmp_path) -> None:
    """What fails in a process of its own is told like what fails in this one."""
    run = Run(tmp_path)
    run.environment["SYMATTN_TRACEBACK"] = shown
    code, out, err = run.ended("verify", "crash.toml", "cat-sat-mat")
    assert code == 2
    assert out == run.ended("verify", "cat-sat-mat")[1] != ""
    assert err.endswith("prints\n")
    assert err.count("\n") == 1 or shown
    assert ("KeyError: 'lost'" in err) is bool(shown)


def test_standard_input_that_is_closed(tmp_path) -> None:
    """It has nothing in it."""
    words = [sys.executable, "-m", "symattn", "derive", "-"]
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("symattn: -: nothing is claimed")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_file_name_that_is_no_text(symattn, tmp_path) -> None:
    """Pages of it are written, and so are all later ones into that folder."""
    name = os.fsdecode(b"caf\xe9.md")
    (tmp_path / name).write_text(GOOD, "utf-8")
    for command in ("audit", "sheet"):
        for form in ("html", "tex", "md"):
            done = symattn(command, name, "--format", form, "-o", "out")
            assert (done.code, done.err) == (int(command == "audit"), "")
    done = symattn("sheet", "cat-sat-mat", "--format", "html", "-o", "out")
    assert (done.code, done.err) == (0, "")
    assert 'href="caf%E9.md.html"' in (tmp_path / "out" / "index.html").read_text("utf-8")


def test_scores_beyond_all_measure(symattn, tmp_path) -> None:
    """The weights of scores of 1e100 have shades: those of 1 and 0."""
    scores = '[["1e100", "2"], ["1", "-1e100"]]'
    text = f'[given]\nX = {scores}\n[steps]\nS = "X @ X.T"\nA = "softmax(S)"\nY = "A @ X"\n'
    (tmp_path / "big.toml").write_text(text, "utf-8")
    for form in ("html", "tex", "md"):
        done = symattn("sheet", "big.toml", "--format", form, "-o", ".")
        assert (done.code, done.err) == (0, "")
    page = (tmp_path / "big.html").read_text("utf-8")
    assert re.findall(r"--shade: (\d+)", page) == ["100", "0", "0", "100"]


def test_reasons_that_are_digits_of_no_number(symattn, tmp_path) -> None:
    """A reason is no number of a line because it looks like a digit."""
    lines = '[[lines]]\nline = "t == t"\nby = ["²"]\n'
    text = '[definitions]\nt = "sum(i, x[i])"\n[shapes]\nx = ["n"]\n'
    for content in (text + lines, lines, lines.replace("²", "1" * 5000)):
        (tmp_path / "odd.toml").write_text(content, "utf-8")
        for form in ("text", "html", "tex"):
            done = symattn("derive", "odd.toml", "--format", form, "-o", "-")
            assert done.code in (0, 1, 2)
            assert "internal error" not in done.err
