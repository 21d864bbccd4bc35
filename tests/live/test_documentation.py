"""The snippets of docs/live-figures.md do what the page says."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from symattn.live.names import NAMES
from tests.installed import found, path

from .posts import POST, without_theme

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "live-figures.md").read_text("utf-8")
#: The blocks of the page, by their kinds.
BLOCKS = re.findall(r"^(?P<fence>```|~~~+)(\w+)\n(.*?)^(?P=fence)$", PAGE, re.M | re.S)
FIGURES = ("0.269", "0.268941", "26.9%")


def blocks(kind: str) -> list[str]:
    return [text for _, of, text in BLOCKS if of == kind]


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """A command of the page, with symattn as a program."""
    (folder / "symattn").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m symattn "$@"\n')
    (folder / "symattn").chmod(0o755)
    name, *words = shlex.split(command, comments=True)
    paths = os.pathsep.join([str(folder), path()])
    program = folder / name if name == "symattn" else found(name)
    assert program is not None
    return subprocess.run(
        [program, *words], cwd=folder, env={**os.environ, "PATH": paths, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def put(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, "utf-8")
    (folder / name).chmod(0o755)


@pytest.mark.heavy
def test_the_commands(tmp_path: Path) -> None:
    """Every command succeeds; at the end an article is as it was."""
    there_and_back, from_a_case = (text for text in blocks("sh") if text.startswith("symattn "))
    put(tmp_path, "post.md", POST)
    for command in there_and_back.splitlines():
        assert run(tmp_path, command).returncode == 0, command
    assert (tmp_path / "post.md").read_text("utf-8") == POST
    for command in from_a_case.splitlines():
        assert run(tmp_path, command).returncode == 0, command
    assert "{symattn:case} post.toml" in (tmp_path / "post.md").read_text("utf-8")


@pytest.mark.heavy
@pytest.mark.needs("myst")
def test_the_page_of_myst(tmp_path: Path) -> None:
    """The script, the configuration and the page make a site without a complaint."""
    script, _ = (text for text in blocks("sh") if text.startswith("#!"))
    (configuration,) = blocks("yaml")
    put(tmp_path, "symattn.sh", script)
    put(tmp_path, "myst.yml", without_theme(tmp_path, configuration))
    put(tmp_path, "post.md", blocks("md")[0])
    done = run(tmp_path, "myst build --site --strict")
    assert (done.returncode, "⛔" in done.stdout + done.stderr) == (0, False)
    page = json.loads((tmp_path / "_build/site/content/post.json").read_text("utf-8"))
    shown = json.dumps(page["mdast"])
    assert [figure for figure in FIGURES if figure not in shown] == []
    assert shown.count('.svg"') == 1


@pytest.mark.heavy
def test_the_page_of_sphinx(tmp_path: Path) -> None:
    """The same page and the two lines of configuration make a page of Sphinx; so does
    reStructuredText as it is shown."""
    pytest.importorskip("sphinx", reason="needs sphinx")
    (configuration,) = blocks("py")
    put(tmp_path, "conf.py", configuration)
    put(tmp_path, "index.md", blocks("md")[0].replace("post.md", "index.md"))
    role, directive = re.findall(r"(:symattn:`[^`]+`)[\s\S]*?(\.\. symattn:step:: A)", PAGE)[0]
    put(tmp_path, "other.rst", f":orphan:\n\nPost\n====\n\n{role}\n\n{directive}\n\n.. symattn:case:: index.md\n")  # noqa: E501  # fmt: skip
    done = run(tmp_path, "sphinx-build -q -W . _build")
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "_build" / "index.html").read_text("utf-8")
    assert [figure for figure in FIGURES if figure not in page] == []
    assert "0.2689" in (tmp_path / "_build" / "other.html").read_text("utf-8")


@pytest.mark.heavy
@pytest.mark.needs("pandoc")
def test_the_page_of_pandoc(tmp_path: Path) -> None:
    """The script, the page and the command make a document."""
    _, script = (text for text in blocks("sh") if text.startswith("#!"))
    (command,) = (text for text in blocks("sh") if text.startswith("pandoc"))
    put(tmp_path, "symattn.sh", script)
    put(tmp_path, "post.qmd", blocks("md")[1])
    done = run(tmp_path, f"{command.strip()} -f markdown")
    assert (done.returncode, done.stderr) == (0, "")
    page = unescape((tmp_path / "post.html").read_text("utf-8"))
    assert [figure for figure in FIGURES if figure not in page] == []
    assert "Take the exponential of every score" in page


def test_all_that_there_is_is_named() -> None:
    """The page names every kind of live figure, and the directive for their file."""
    for name in (*NAMES, "symattn:case"):
        assert f"`{name}`" in PAGE or f"{{{name}}}`" in PAGE
