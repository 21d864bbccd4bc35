"""The README's commands and snippets do what they show."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import symattn

README = Path(__file__).parent.parent / "README.md"


def blocks(kind: str) -> list[str]:
    """The fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S)


COMMANDS = [line.split("#")[0].strip() for line in blocks("sh")[2].splitlines() if line.strip()]


def test_python_snippet() -> None:
    """The Python session gives what it shows."""
    parser = doctest.DocTestParser()
    (session,) = blocks("python")
    test = parser.get_doctest(session, {}, "README.md", str(README), 0)
    results = doctest.DocTestRunner().run(test)
    assert results.attempted >= 9
    assert results.failed == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, tmp_path: Path) -> None:
    """Every command runs; only an audit that refutes something exits with 1."""
    words = shlex.split(command)
    assert words[0] == "symattn"
    if words[1] == "sheet":
        words += ["--format", "tex"]
    done = subprocess.run(
        [sys.executable, "-m", "symattn", *words[1:]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == (1 if words[1] == "audit" else 0)


def test_walkthrough_file(tmp_path: Path) -> None:
    """The file that the README shows is read, solved and audited."""
    (text,) = blocks("toml")
    path = tmp_path / "two-words.toml"
    path.write_text(text, "utf-8")
    found = symattn.audit(path)
    assert found.case.tokens == ("hello", "world")
    assert found.summary["figures"] == 2


def test_set_up_commands_are_there() -> None:
    """The two commands that CI runs stand behind their marks."""
    text = README.read_text("utf-8")
    for mark, end in (("make", "symattn sheet"), ("test", "pytest")):
        block = text.split(f"<!-- {mark} -->\n```sh\n")[1].split("\n```")[0]
        assert block.startswith("python3 -m venv .venv")
        assert block.endswith(end)
