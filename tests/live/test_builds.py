"""Pages built by mystmd, pandoc and Sphinx themselves."""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from symattn.cases.library import load, names
from symattn.live.figures import Figures, Mathematics
from symattn.solution.solution import solve
from tests.installed import found, path
from tests.live.test_conversion import made_live

from .posts import FIGURES, POST, without_theme

ROOT = Path(__file__).parent.parent.parent
CASE = '[given]\nX = [[1, 0], [0, 1]]\n[steps]\nA = "softmax(X)"\n'


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A program in a folder, with symattn as a program beside it."""
    program = found(words[0])
    assert program is not None
    environment = {**os.environ, "PATH": path(), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [program, *words[1:]], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def script(file: Path, command: str) -> None:
    """An executable file that runs a command of symattn, as the documentation shows it."""
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {command} "$@"\n')
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


# -- mystmd -------------------------------------------------------------------------

MYST = r"""version: 1
project:
  math:
    '\symattn': '\text{#1}'
  plugins:
    - type: executable
      path: symattn.sh
site: {}
"""


def myst_site(folder: Path, text: str) -> tuple[int, str, dict[str, Any]]:
    """How a strict build ends, what it says, and the page that it makes."""
    (folder / "myst.yml").write_text(without_theme(folder, MYST))
    script(folder / "symattn.sh", "symattn myst")
    (folder / "post.md").write_text(text)
    done = run(folder, "myst", "build", "--site", "--strict")
    page = folder / "_build" / "site" / "content" / "post.json"
    return done.returncode, done.stdout + done.stderr, json.loads(page.read_text("utf-8"))["mdast"]


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("children", []):
        yield from walk(child)


@pytest.mark.heavy
@pytest.mark.needs("myst")
def test_a_myst_page(tmp_path: Path) -> None:
    """A page of MyST has every digit in text and in formulas, as mystmd sets them, a matrix,
    a step and a picture; nothing is complained of."""
    more = "\n{symattn:matrix}`A:.2f`\n\n```{symattn:step} A\n```\n\n```{symattn:heatmap} A\n```\n"
    text = made_live(tmp_path / "post.md", POST).text + more
    code, said, page = myst_site(tmp_path, text)
    assert (code, "⛔" in said) == (0, False)
    nodes = [*walk(page)]
    formulas = [node for node in nodes if node["type"] in ("math", "inlineMath")]
    assert all(node["html"] and "symattn" not in node["html"] for node in formulas)
    shown = [re.sub("<annotation.*?</annotation>|<[^>]*>", " ", node["html"]) for node in formulas]
    # What is seen, and what is read out.
    assert sum(text.split().count("0.7311") for text in shown) >= 4
    texts = [node["value"].strip() for node in nodes if node["type"] == "text"]
    assert [text for text in texts if text in FIGURES] == FIGURES[5:]
    (picture,) = (node for node in nodes if node["type"] == "image")
    assert picture["url"].endswith(".svg")
    values = [node["value"] for node in formulas]
    assert r"\begin{bmatrix} 0.73 & 0.27 \\ 0.27 & 0.73 \end{bmatrix}" in values


@pytest.mark.heavy
@pytest.mark.needs("myst")
def test_a_myst_page_with_an_error(tmp_path: Path) -> None:
    """A strict build fails, and says where; the page shows it, and no digit in its place."""
    text = made_live(tmp_path / "post.md", POST).text
    broken = text.replace("A[0, 1]:.4f` is", "B[0]:.4f` is")
    code, said, page = myst_site(tmp_path, broken)
    assert code
    assert re.search(r"post\.md:7.*B\[0\]:\.4f: unknown name 'B'", said)
    assert re.search("Site has [0-9]+ errors?", said)
    texts = [node["value"] for node in walk(page) if node["type"] == "text"]
    (shown,) = (text for text in texts if text.startswith("[symattn: "))
    assert "unknown name 'B'" in shown
    assert "0.2689" not in texts


# -- pandoc -------------------------------------------------------------------------


def pandoc_page(folder: Path, text: str, command: str, *words: str) -> tuple[int, str, str]:
    script(folder / "symattn.sh", command)
    (folder / "post.md").write_text(text)
    done = run(folder, "pandoc", "post.md", "--filter", "./symattn.sh", *words)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.heavy
@pytest.mark.needs("pandoc")
@pytest.mark.parametrize("form", ["html", "latex", "docx"])
def test_a_pandoc_document(tmp_path: Path, form: str) -> None:
    """All that pandoc writes has the digits; it knows every formula of a worked step."""
    more = "\n```{.symattn-step}\nA\n```\n\n```{.symattn-heatmap}\nA\n```\n"
    text = made_live(tmp_path / "post.md", POST, "pandoc").text + more
    options = {"html": ["--mathml"], "docx": ["-o", "post.docx"]}.get(form, [])
    code, out, err = pandoc_page(tmp_path, text, "symattn pandoc --strict", "-t", form, *options)
    assert code == 0
    # What turns pictures for paper may not be there.
    assert [line for line in err.splitlines() if "rsvg" not in line] == []
    if form == "docx":
        with ZipFile(tmp_path / "post.docx") as made:
            out = made.read("word/document.xml").decode()
    assert [figure for figure in FIGURES if figure not in out] == []
    assert "symattn" not in out
    if form == "html":
        assert "[</mo><mi>t</mi>" not in out
        (picture,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', out)
        assert base64.b64decode(picture).startswith(b"<svg ")


@pytest.mark.heavy
@pytest.mark.needs("pandoc")
@pytest.mark.parametrize("strict", [False, True])
def test_a_pandoc_document_with_an_error(tmp_path: Path, strict: bool) -> None:
    """An error is shown in the place of the digits; strictly, no document is made."""
    (tmp_path / "post.toml").write_text(CASE)
    text = "---\nsymattn: post.toml\n---\n\nIt is `B[0]`{.symattn}, not `A[0, 1]:.3f`{.symattn}.\n"
    command = "symattn pandoc" + " --strict" * strict
    code, out, err = pandoc_page(tmp_path, text, command, "-t", "html")
    assert "symattn: B[0]: unknown name 'B'" in err
    assert bool(code) == strict
    if not strict:
        shown = " ".join(unescape(out).split())
        assert "[symattn: B[0]: unknown name 'B': expected one of X, A]" in shown
        assert "0.269" in out


# -- Sphinx -------------------------------------------------------------------------


def sphinx_page(folder: Path, text: str, more: str = "") -> tuple[int, str, str]:
    """The exit code of a build that fails on warnings, what it says, and the page."""
    pytest.importorskip("sphinx", reason="needs sphinx")
    configuration = (
        'extensions = ["myst_parser", "symattn.live.sphinx"]\n'
        f'myst_enable_extensions = ["dollarmath"]\n{more}'
    )
    for name, content in (("conf.py", configuration), ("index.md", text)):
        # What is the same stays as old as it is.
        if not (folder / name).exists() or (folder / name).read_text() != content:
            (folder / name).write_text(content)
    words = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", ".", "_build"]
    done = subprocess.run(
        words, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    page = folder / "_build" / "index.html"
    return done.returncode, done.stderr, page.read_text("utf-8")


@pytest.mark.heavy
def test_a_sphinx_page(tmp_path: Path) -> None:
    """A page of Sphinx has every digit, from itself without a word about that."""
    text = made_live(tmp_path / "index.md", POST).text
    text = text[: text.index("```{symattn:case}")]
    more = "{symattn:matrix}`A:.2f`\n\n```{symattn:step} A\n```\n\n```{symattn:heatmap} A\n```\n"
    code, said, page = sphinx_page(tmp_path, f"{text}{more}")
    assert (code, said) == (0, "")
    assert [figure for figure in FIGURES if figure not in page] == []
    assert r"\begin{bmatrix} 0.73 &amp; 0.27 \\ 0.27 &amp; 0.73 \end{bmatrix}" in page
    assert '<img alt="A"' in page
    assert r"\symattn" not in page


@pytest.mark.heavy
def test_a_second_build_of_sphinx(tmp_path: Path) -> None:
    """Where a case changes that another one extends, a page is built anew, though it is the
    same itself."""
    (tmp_path / "base.toml").write_text(CASE)
    (tmp_path / "post.toml").write_text('extends = "base.toml"\n')
    text = "---\nsymattn: post.toml\n---\n# Post\n\nIt is {symattn}`A[0, 1]:.3f`.\n"
    assert "It is 0.269." in sphinx_page(tmp_path, text)[2]
    (tmp_path / "base.toml").write_text(CASE.replace("[1, 0]", "[2, 0]"))
    assert "It is 0.119." in sphinx_page(tmp_path, text)[2]


@pytest.mark.heavy
def test_a_sphinx_page_with_errors(tmp_path: Path) -> None:
    """Every error is a warning with file and line, and stands in its place."""
    (tmp_path / "post.toml").write_text(CASE)
    text = (
        "---\nsymattn: post.toml\n---\n# Post\n\nIt is {symattn}`B[0]`.\n\n"
        "$\\symattn{C}$\n\n```{symattn:matrix} D\n```\n"
    )
    code, said, page = sphinx_page(tmp_path, text)
    assert code == 1
    for line, name in ((6, "B"), (8, "C"), (10, "D")):
        assert re.search(rf"index\.md:{line}: WARNING: .*unknown name '{name}'", said)
    assert page.count("[symattn: ") == 3


@pytest.mark.heavy
def test_a_sphinx_page_from_elsewhere(tmp_path: Path) -> None:
    """A file outside of the folder of sources is read with leave only; one above the page, but
    in that folder, needs none."""
    (tmp_path / "case.toml").write_text(CASE)
    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    page = ".. symattn:case:: ../inner.toml\n\nIt is :symattn:`A[0, 1]:.2f`.\n"
    (source / "sub" / "page.rst").write_text(f":orphan:\n\nPage\n====\n\n{page}")
    (source / "inner.toml").write_text(CASE)
    text = "---\nsymattn: ../case.toml\n---\n# Post\n\nIt is {symattn}`A[0, 1]:.3f`.\n"
    code, said, page = sphinx_page(source, text)
    assert code == 1
    assert "is read only with --allow-outside, in Sphinx symattn_allow_outside = True" in said
    assert said.count("WARNING") == 1
    assert "0.269" not in page
    assert "It is 0.27." in (source / "_build" / "sub" / "page.html").read_text("utf-8")
    code, said, page = sphinx_page(source, text, "symattn_allow_outside = True\n")
    assert (code, said, "It is 0.269." in page) == (0, "", True)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("limit", "why"),
    [
        ("symattn_max_seconds = 0.001", "stopped after 0.001 seconds"),
        ("symattn_max_memory = 40", "40 MB"),
    ],
)
def test_a_sphinx_page_has_limits(limit: str, why: str, tmp_path: Path) -> None:
    """A page is worked out by a process: what takes too much is an error at its place, and the
    build goes on."""
    (tmp_path / "post.toml").write_text(CASE)
    text = "---\nsymattn: post.toml\n---\n# Post\n\nIt is {symattn}`A[0, 1]`, {symattn}`A[0]`.\n"
    code, said, page = sphinx_page(tmp_path, text, f"{limit}\n")
    assert (code, said.count(why), page.count(why)) == (1, 2, 2), said


@pytest.mark.sampled(0, 5)
@pytest.mark.needs("pandoc")
@pytest.mark.parametrize("name", names())
def test_pandoc_knows_every_formula(tmp_path: Path, name: str) -> None:
    """pandoc turns each formula of the worked steps of a case into MathML."""
    case = load(name)
    figures = Figures(solve(case))
    worked = (pieces for step in case.steps for pieces in figures.paragraphs("step", step))
    formulas = [piece.latex for pieces in worked for piece in pieces
                if isinstance(piece, Mathematics)]  # fmt: skip
    (tmp_path / "post.md").write_text("\n\n".join(f"$${latex}$$" for latex in formulas), "utf-8")
    done = run(tmp_path, "pandoc", "post.md", "--mathml", "-t", "html")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("<math") == len(formulas)
