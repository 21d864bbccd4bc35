"""A stranger's file: what it says reaches every output as text, and no further."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from ..hostile import CASE, FORBIDDEN, TEXT, quoted, steering

FORMATS = {
    "audit": ["text", "json", "github", "sarif", "errata", "tex"],
    "sheet": ["tex"],
    "verify": ["text", "json"],
    "show": ["text", "latex", "json"],
}
RUNS = [(command, form) for command, forms in FORMATS.items() for form in forms]


@pytest.fixture
def case(tmp_path: Path) -> Path:
    path = tmp_path / "a\x1b[31m\u202e::b.toml"
    path.write_text(CASE, "utf-8")
    return path


def words(command: str, form: str, case: Path) -> list[str]:
    more = {"show": ["A_"], "sheet": ["-o", "out"]}.get(command, [])
    return [command, str(case), *more, "--format", form]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("command", "form"), RUNS)
def test_no_output_is_steered(command: str, form: str, case: Path, tmp_path: Path, symattn) -> None:
    """No character that steers, hides or ends a line is printed or written."""
    done = symattn(*words(command, form, case))
    assert done.code == (1 if command == "audit" else 0)
    written = [path.read_text("utf-8") for path in tmp_path.rglob("*.tex")]
    assert bool(written) == (form == "tex")
    for text in (done.out, done.err, *written):
        assert steering(text) == set()


def test_written_reports_are_the_same_text(case: Path, tmp_path: Path, symattn) -> None:
    """What goes to a file is no livelier than what is printed."""
    for form in ("text", "json", "github", "sarif", "errata"):
        symattn("audit", str(case), "--format", form, "-o", f"report.{form}")
        assert steering((tmp_path / f"report.{form}").read_text("utf-8")) == set()


def test_no_line_is_forged(case: Path, symattn) -> None:
    """A newline in a title makes no line of its own."""
    for form in ("text", "errata"):
        lines = symattn("audit", str(case), "--format", form).out.splitlines()
        assert not [line for line in lines if line.strip().startswith(("ALL", "::", "# heading"))]
    lines = symattn("audit", str(case), "--format", "github").out.splitlines()
    assert len(lines) == 5
    for line in lines:
        head, _, _ = line.removeprefix("::").partition("::")
        kind, _, properties = head.partition(" ")
        assert kind in ("error", "warning")
        assert [p.partition("=")[0] for p in properties.split(",")] == ["file", "line", "title"]


def test_json_stays_json(case: Path, symattn) -> None:
    """It says what the file says, escaped."""
    found = json.loads(symattn("audit", str(case), "--format", "json").out)
    assert found["claims"][0]["where"] == TEXT
    assert found["unchecked"][0]["reason"] == TEXT
    log = json.loads(symattn("audit", str(case), "--format", "sarif").out)
    (run,) = log["runs"]
    messages = [result["message"]["text"] for result in run["results"]]
    assert len(messages) == 5
    # What a viewer takes for a link.
    assert not any("](" in message or steering(message) for message in messages)


def test_nothing_is_live_in_errata(case: Path, symattn) -> None:
    """No link, image, mention, HTML or emphasis, one heading, tables of the cells meant."""
    text = symattn("audit", str(case), "--format", "errata").out
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    assert sum(token.type == "heading_open" for token in tokens) == 1
    assert not [token for token in tokens if token.type.startswith(("html", "fence", "code"))]
    rows = sum(token.type == "tr_open" for token in tokens)
    cells = sum(token.type in ("td_open", "th_open") for token in tokens)
    assert rows > 2
    assert cells in (5 * rows, 5 * rows - sum(token.type == "tr_open" for token in tokens))
    inline = [child for token in tokens for child in token.children or []]
    assert {child.type for child in inline} <= {"text", "code_inline", "softbreak"}
    plain = [child.content for child in inline if child.type == "text"]
    assert not [t for t in plain if any(x in t for x in ("@", "#", "://", "www."))]


@pytest.mark.sampled(60)
@pytest.mark.parametrize("c", [c for c in FORBIDDEN if c not in "\ud800\udcff"])
def test_messages_are_not_steered(c: str, tmp_path: Path, symattn) -> None:
    """Faults quote names, values and keys of the file; none of them gets out whole."""
    bad = quoted(f"X{c}Y")
    (tmp_path / "bad.toml").write_text(
        f"{bad} = 1\nrounding = {bad}\ntolerance = {bad}\nextends = {bad}\n"
        f"[given]\n{bad} = 1\nx = {bad}\n[steps]\n{bad} = 'x'\ny = {bad}\n"
        f"[loss]\noutput = {bad}\nwrt = [{bad}]\nupstream = {bad}\n"
        f"[[claims]]\nof = {bad}\nprinted = {bad}\n[[claims]]\nholds = {bad}\n{bad} = 1\n",
        "utf-8",
    )
    done = symattn("audit", "bad.toml")
    assert (done.code, done.out) == (2, "")
    assert steering(done.err) == set()
    assert len(done.err.splitlines()) == int(done.err.split(" faults")[0].split()[-1]) + 1


def test_questions_are_not_steered(symattn) -> None:
    """Nor what is asked on the command line, which may come from names of files."""
    for asked in (["show", "cat-sat-mat", "\x9b31m"], ["audit", "\x9bx"], ["derive", "\x9bx"],
                  ["\x9bx"], ["show", "cat-sat-mat", "A", "--at", "\x9b"]):  # fmt: skip
        done = symattn(*asked)
        assert done.code == 2
        assert steering(done.out + done.err) == set()
    done = symattn("show", "cat-sat-mat", "A\u2028", "--at", "0,0")
    assert (done.code, steering(done.out)) == (0, set())


@pytest.mark.sampled(0, 3)
@pytest.mark.parametrize(("command", "form"), RUNS)
def test_names_of_files_that_are_no_text(command: str, form: str, tmp_path: Path) -> None:
    """Neither a case nor an output called in other bytes than UTF-8 breaks anything, or
    gets out as those bytes."""
    case = tmp_path / os.fsdecode(b"\xff\xfe.toml")
    case.write_text(CASE, "utf-8")
    more = ["-o", os.fsdecode(b"out\xff")] if command in ("audit", "sheet") else []
    asked = [*[word for word in words(command, form, case) if word not in ("-o", "out")], *more]
    done = subprocess.run(
        [sys.executable, "-m", "symattn", *asked], cwd=tmp_path, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.returncode == (1 if command == "audit" else 0), done.stderr
    assert b"Traceback" not in done.stderr
    assert b"\xff" not in done.stdout + done.stderr
    printed = done.stdout.decode()
    if more and form != "tex":
        printed = (tmp_path / os.fsdecode(b"out\xff")).read_text("utf-8")
    if form in ("json", "sarif"):
        assert isinstance(json.loads(printed), dict)
    missing = subprocess.run(
        [sys.executable, "-m", "symattn", "audit", os.fsdecode(b"no\xff.toml")],
        cwd=tmp_path, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert missing.returncode == 2
    assert missing.stderr.startswith(rb"symattn: no\udcff.toml: the file can't be read")


@pytest.mark.heavy
@pytest.mark.needs("pdflatex", "pdftotext")
def test_footnote_marks_at_the_start_of_rows(tmp_path: Path, symattn) -> None:
    """``[1]`` and ``*`` are text in a table: the pages are typeset, every row on its own line."""
    rows = "".join(
        f'[[claims]]\nwhere = "{where}"\nof = "A_"\nprinted = [[0.1{k}, 0.5], [0.5, 0.5]]\n'
        f'[[unchecked]]\nwhere = "{where}"\nwhat = "{where}"\nreason = "{where}"\n'
        for k, where in enumerate(["[1]", "[-20mm]", "*", "* [1]", " [2cm]", "a"])
    )
    given = "[given]\nX_ = [[1, 0.5], [0, 2]]\nW__ = 3\n_x = 2\n_ = 1\n"
    steps = "[steps]\nS__1 = 'X_ * W__ / sqrt(_x) + _'\nA_ = 'softmax(S__1)'\n"
    (tmp_path / "notes.toml").write_text(f"{given}{steps}{rows}", "utf-8")
    done = symattn("audit", "notes.toml", "--format", "pdf", "-o", "red.pdf")
    assert (done.code, done.err) == (1, "")
    done = symattn("sheet", "notes.toml", "--format", "pdf", "-o", "out", "--strict")
    assert (done.code, done.err) == (0, "")
    text = subprocess.run(
        ["pdftotext", "-layout", "red.pdf", "-"], cwd=tmp_path, capture_output=True, check=True
    ).stdout.decode()
    after = text[text.index("Not checked") :].split("\n")
    # The table may go on behind the number of a page, under its head again.
    firsts = [line.split()[0] for line in after if line.strip()][1:]
    starts = [first for first in firsts if first != "where" and not first.isdecimal()]
    assert starts == ["[1]", "[-20mm]", "*", "*", "[2cm]", "a"]
