"""``symattn draw``: what it writes where, and what it refuses."""

from __future__ import annotations

import pytest

from symattn.cases import library
from symattn.drawing.picture import draw
from tests.folders import written


def files(folder):
    """The names of the files in a folder, sorted."""
    return [path.name for path in written(folder)]


@pytest.mark.heavy
def test_every_case_without_a_name(tmp_path, symattn) -> None:
    """Without a CASE there is a drawing of every bundled one, in ``drawings``."""
    done = symattn("draw")
    count = len(library.names())
    assert (done.code, done.out, done.err) == (0, f"{count} drawings in drawings: SVG\n", "")
    assert files(tmp_path / "drawings") == sorted(f"{name}.svg" for name in library.names())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", ["all", "pattern", "flow", "gradients"])
@pytest.mark.parametrize("option", ["-o", "--output"])
def test_one_file(what, option, tmp_path, symattn) -> None:
    """A name that ends in .svg is a file; it holds what Python gives for it."""
    done = symattn("draw", "cat-sat-mat", "--what", what, option, "a.svg")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "a.svg").read_text("utf-8") == draw("cat-sat-mat", what)


def test_folders(tmp_path, symattn) -> None:
    """Another folder is made; all is what is drawn without a word."""
    done = symattn("draw", "cat-sat-mat", "the-fox-jumps", "-o", "a/b")
    assert (done.code, done.out) == (0, "2 drawings in a/b: SVG\n")
    assert files(tmp_path / "a" / "b") == ["cat-sat-mat.svg", "the-fox-jumps.svg"]
    text = (tmp_path / "a" / "b" / "the-fox-jumps.svg").read_text("utf-8")
    assert text == draw("the-fox-jumps", "all")


def test_standard_output(symattn) -> None:
    """``-o -`` prints the drawing of one case, and nothing else."""
    done = symattn("draw", "cat-sat-mat", "--what", "flow", "-o", "-")
    assert (done.code, done.out, done.err) == (0, draw("cat-sat-mat", "flow"), "")


def test_places(symattn) -> None:
    """Figures have the places that are asked for."""
    done = symattn("draw", "cat-sat-mat", "--what", "pattern", "--places", "5", "-o", "-")
    assert ">0.50648<" in done.out
    assert ">0.51<" not in done.out


def test_language(symattn) -> None:
    """The words of a drawing are in the language that is asked for."""
    words = ["draw", "cat-sat-mat-causal", "--what", "pattern", "-o", "-"]
    assert ' lang="de" ' in symattn(*words, "--language", "de").out
    assert ' lang="en" ' in symattn(*words).out
    assert symattn(*words, "--language", "xx").code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "-"], "take a single drawing: name one CASE"),
        (["cat-sat-mat", "the-fox-jumps", "-o", "a.svg"], "take a single drawing: name one CASE"),
        (["cat-sat-mat", "--places", "7"], "expected 0 to 6 places in a drawing, found 7"),
        (["cat-sit-mat"], "cat-sat-mat"),
        (["plain.toml", "--what", "pattern"], "plain.toml: no step is a softmax"),
        (["cat-sat-mat", "-o", "plain.toml"], "the folder plain.toml can't be written to"),
        (["cat-sat-mat", "-o", "nowhere/a.svg"], "nowhere/a.svg can't be written"),
    ],
)
def test_bad_use(words, said, tmp_path, symattn) -> None:
    """What can't be drawn or written is told on one line, and nothing is written."""
    (tmp_path / "plain.toml").write_text("[given]\nX = [1, 2]\n[steps]\nY = 'X * 2'\n", "utf-8")
    done = symattn("draw", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert files(tmp_path) == ["plain.toml"]
