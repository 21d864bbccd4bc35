"""``-o -``, closed streams, and files that a command must leave as they are."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.folders import written

COMMAND = [sys.executable, "-m", "symattn"]
ONE = "symattn: -o - takes a single document: name one, and give a --format\n"


def ends(command: str) -> int:
    """The exit code of a command on a case that has a refuted figure."""
    return 1 if command == "audit" else 0


# -- standard output ----------------------------------------------------------------------


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("form", ["text", "json", "github", "sarif", "errata"])
def test_audits(form: str, tmp_path: Path, symattn) -> None:
    """A dash is where an audit goes without one."""
    words = ["audit", "please-study-man", "cat-sat-mat", "--format", form]
    assert symattn(*words, "-o", "-") == symattn(*words)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("form", ["text", "json"])
def test_derivations(form: str, tmp_path: Path, symattn) -> None:
    """A dash is where derivations go without one."""
    words = ["derive", "masking", "pair-form", "--format", form]
    assert symattn(*words, "-o", "-") == symattn(*words)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", ["html", "tex", "pdf"])
@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["sheet", "cat-sat-mat"], "cat-sat-mat"),
        (["derive", "masking"], "masking"),
        (["audit", "cat-sat-mat"], "cat-sat-mat-audit"),
    ],
)
def test_one_page(words: list[str], file: str, form: str, engine, tmp_path: Path, symattn) -> None:
    """One document in one form is printed just as it would be written, and nothing else is."""
    engine()
    printed = symattn(*words, "--format", form, "-o", "-")
    assert (printed.code, printed.err) == (ends(words[0]), "")
    assert [path.name for path in tmp_path.iterdir()] == ["engines"]
    symattn(*words, "--format", form, "-o", "out")
    assert printed.out == (tmp_path / "out" / f"{file}.{form}").read_text("utf-8")


@pytest.mark.parametrize(
    "words",
    [
        ["sheet", "cat-sat-mat"],
        ["sheet", "--format", "tex"],
        ["sheet", "cat-sat-mat", "the-fox-jumps", "--format", "tex"],
        ["derive", "masking", "pair-form", "--format", "pdf"],
        ["derive", "--format", "tex"],
        ["audit", "cat-sat-mat", "the-fox-jumps", "--format", "pdf"],
        ["audit", "--format", "tex"],
    ],
)
def test_several_pages(words: list[str], tmp_path: Path, symattn) -> None:
    """Several documents in one stream are refused, before any work."""
    done = symattn(*words, "-o", "-")
    assert (done.code, done.out, done.err) == (2, "", ONE)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.heavy
@pytest.mark.parametrize("command", ["sheet", "derive", "audit"])
def test_a_page_that_is_not_made(command: str, engine, symattn) -> None:
    """Where the engine fails nothing is printed; its complaints are not in the way."""
    name = "masking" if command == "derive" else "cat-sat-mat"
    words = [command, name, "--format", "pdf", "-o", "-"]
    engine("! Emergency stop.", code=1)
    done = symattn(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err == "symattn: pdflatex failed: Emergency stop.\n"
    engine("Missing character: There is no \u2603 in font x")
    done = symattn(*words)
    assert (done.code, done.out) == (ends(command), "%PDF-1.5\n%%EOF\n")
    assert done.err.endswith("no font has the letter \u2603\n")
    if command != "audit":
        assert symattn(*words, "--strict").code == 1


# -- closed streams ------------------------------------------------------------------------


@pytest.mark.sampled(1, 4)
@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["--help"],
        ["show", "cat-sat-mat", "A"],
        ["verify", "cat-sat-mat"],
        ["audit", "cat-sat-mat", "--format", "json", "-o", "-"],
        ["sheet", "cat-sat-mat", "--format", "tex"],
        ["derive", "masking"],
    ],
)
def test_nobody_reads(words: list[str], tmp_path: Path) -> None:
    """A reader that is gone is no fault, and no failed check."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *words], cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


@pytest.mark.sampled(1, 4)
@pytest.mark.parametrize("closing", [">&-", "<&- >&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    "words",
    [
        "list",
        "--help",
        "show cat-sat-mat A",
        "verify cat-sat-mat",
        "audit cat-sat-mat --format json -o out.json",
        "audit cat-sat-mat --format json -o -",
        "sheet cat-sat-mat --format tex",
    ],
)
def test_closed_from_the_start(words: str, closing: str, tmp_path: Path) -> None:
    """Without a standard output all is done that can be, and nothing is said."""
    line = f"'{sys.executable}' -m symattn {words} {closing}"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (ends(words[:5]), b"", b"")
    if "out.json" in words:
        # What is printed did not end up in the file.
        assert json.loads((tmp_path / "out.json").read_text("utf-8"))["case"] == "cat-sat-mat"
    if words.startswith("sheet"):
        tex = (tmp_path / "sheets" / "cat-sat-mat.tex").read_text("utf-8")
        assert tex.endswith("\\end{document}\n")


# -- what stays as it is -----------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can make a device")
@pytest.mark.parametrize("form", ["json", "tex", "pdf"])
def test_devices(form: str, engine, tmp_path: Path, symattn) -> None:
    """An audit that goes to a device is gone, and the device is still there."""
    engine()
    null = tmp_path / "null"
    os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    assert symattn("audit", "cat-sat-mat", "--format", form, "-o", "null").code == ends("audit")
    assert stat.S_ISCHR(null.stat().st_mode)


def test_nothing_is_touched_before_the_work_is_done(tmp_path: Path, symattn) -> None:
    """Bad input leaves files as they are, and makes no folder."""
    (tmp_path / "bad.toml").write_text("[given]\n", "utf-8")
    (tmp_path / "mine").write_text("mine", "utf-8")
    for words in (
        ["sheet", "cat-sat-mat", "bad.toml", "-o", "new"],
        ["audit", "bad.toml", "-o", "mine"],
        ["audit", "bad.toml", "--format", "tex", "-o", "new"],
        ["derive", "no-such-derivation", "--format", "tex", "-o", "new"],
        ["audit", "cat-sat-mat", "--format", "pdf", "-o", "mine/below"],
        ["sheet", "cat-sat-mat", "-o", "mine"],
    ):
        assert symattn(*words).code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.toml", "mine"]
    assert (tmp_path / "mine").read_text("utf-8") == "mine"


@pytest.mark.heavy
@pytest.mark.parametrize("command", ["sheet", "derive"])
def test_no_older_page_beside_newer_source(command: str, engine, tmp_path: Path, symattn) -> None:
    """Where an engine fails, what it made of an older source goes."""
    name = "masking" if command == "derive" else "cat-sat-mat"
    words = [command, name, "-o", "out", "--format", "pdf"]
    engine()
    assert symattn(*words).code == 0
    engine(pdf=False)
    assert symattn(*words).code == 2
    assert [path.name for path in written(tmp_path / "out")] == [f"{name}.tex"]


@pytest.mark.heavy
def test_an_older_page_without_an_engine(
    engine, without_typst, monkeypatch, tmp_path: Path, symattn
) -> None:
    """Where there is no engine an older page stays, unless a new one was asked for."""
    engine()
    symattn("sheet", "cat-sat-mat", "-o", "out")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert symattn("sheet", "cat-sat-mat", "-o", "out").code == 0
    assert (tmp_path / "out" / "cat-sat-mat.pdf").exists()
    assert symattn("sheet", "cat-sat-mat", "-o", "out", "--format", "pdf").code == 2
    assert not (tmp_path / "out" / "cat-sat-mat.pdf").exists()


@pytest.mark.heavy
def test_the_command_stays_light(tmp_path: Path) -> None:
    """What is computed is computed by a worker: the command itself loads no arithmetic."""
    code = (
        "import sys\nfrom symattn.cli import main\n"
        "sys.argv = ['symattn', 'verify']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'sympy', 'numpy', 'flint', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    assert done.stdout.count(" holds ") > 12
