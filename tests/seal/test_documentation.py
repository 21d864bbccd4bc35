"""What the page on seals shows is what is written."""

from __future__ import annotations

import doctest
import re
import tomllib
from fnmatch import fnmatch
from importlib import resources
from pathlib import Path

import pytest

from symattn.calculus.library import derivation
from symattn.seal.derivations import sealed as of_lines
from symattn.seal.seals import AXIOMS
from symattn.seal.walkthroughs import sealed

PAGE = (Path(__file__).parents[2] / "docs" / "seals.md").read_text("utf-8")
SHOWN = ("cat-sat-mat-causal", "the-fox-jumps", "cat-sat-mat")


def blocks(kind):
    """The fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.M | re.S)


def plain(text):
    """Text without its breaks."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def written():
    lines = of_lines(derivation("softmax-backward")).file.text()
    return plain("\n".join((lines, *(sealed(name).file.text() for name in SHOWN))))


def test_definitions_and_theorems(written) -> None:
    shown = [
        plain(sentence)
        for text in blocks("text")
        for sentence in re.split(r"(?<=[.)])\n(?=Definition|Theorem|\(\*\*)|\n\n", text)
        if re.match(r"\s*(Definition|Theorem)", sentence)
    ]
    assert len(shown) == 11
    assert [sentence for sentence in shown if sentence not in written] == []


def test_statements_in_the_text(written) -> None:
    for statement in (
        "T 0 2 = 5000 / 10000",
        "~ Rabs (A 0 0 - 5066 / 10000) <= 1 / 20000 /\\ Rabs (A 0 0 - 5065 / 10000) <= 1 / 20000",
    ):
        assert f"`{statement}`" in plain(PAGE)
        assert f" : {statement}." in written


def test_axioms() -> None:
    (listed,) = (text for text in blocks("text") if "sig_not_dec" in text)
    assert set(listed.split()) == AXIOMS


def test_the_package_has_what_is_written_by_hand() -> None:
    """Nothing that coqc has left is beside the library, nor comes into a wheel or the history."""
    folder = resources.files("symattn.seal")
    names = {item.name for item in folder.iterdir()} - {"__pycache__"}
    assert {name for name in names if not name.endswith(".py")} == {"Symattn.v"}
    root = Path(__file__).parents[2]
    ignored = root.joinpath(".gitignore").read_text("utf-8").split()
    wheel = tomllib.loads(root.joinpath("pyproject.toml").read_text("utf-8"))["tool"]["hatch"]
    excluded = wheel["build"]["targets"]["wheel"]["exclude"]
    for left in (".lia.cache", ".nia.cache", "Symattn.vo", "Symattn.vok", "Symattn.glob"):
        for patterns in (ignored, excluded):
            assert any(fnmatch(left, pattern) for pattern in patterns), left


def test_python() -> None:
    (session,) = blocks("pycon")
    test = doctest.DocTestParser().get_doctest(session, {}, "session", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0
