"""Derivations as objects: text, SymPy, plain data; files that can't be read."""

from __future__ import annotations

import pytest
import sympy as sp

from symattn.calculus.library import THEORY, derive, find, names, read
from symattn.errors import Malformed, UnknownName

TEXT = """
title = "Odds and ends"
source = "a book"
statement = "x is x"
sizes = ["n"]
hypotheses = ["t > 0"]
[shapes]
x = ["n"]
S = ["n", "n"]
t = []
[define]
p = "softmax(x)"
[[lines]]
line = "x[i] / x[i] == 1"
because = "it cancels"
part = "First"
[[lines]]
line = "relu(t - 1) + relu(1 - t) == sqrt((t - 1)**2)"
part = "Second"
[[lines]]
line = "S == S.T"
[[lines]]
line = "foo == 1"
"""


@pytest.mark.sampled(1, 3)
@pytest.mark.parametrize("name", names())
def test_every_line_is_handed_out_as_sympy(name) -> None:
    """An equation of its objects, whose sides are of this file's arrays."""
    for line in THEORY[name].lines:
        assert isinstance(line.sympy, sp.Basic), line.text
    assert THEORY[name].conclusion is THEORY[name].lines[-1]
    assert all(one in THEORY[name].lines for one in THEORY[name].conclusions)


def test_the_jacobian_as_sympy() -> None:
    """Indexed entries, deltas, sums, and the derivative as it was to be taken."""
    found = derive(
        'sizes = ["n"]\n[shapes]\nx = ["n"]\n[define]\n"p[i]" = "exp(x[i]) / sum(j, exp(x[j]))"\n'
        '[[lines]]\nline = "diff(p[i], x[k]) == p[i] * (delta(i, k) - p[k])"\n'
    )
    equation = found.lines[0].sympy
    assert equation.has(sp.Derivative)
    assert equation.has(sp.KroneckerDelta)
    assert equation.has(sp.Indexed)


def test_the_text_says_what_was_found() -> None:
    """Every status with its reason, conditions and counterexample."""
    found = derive(TEXT)
    assert [one.status for one in found.lines] == ["proved", "checked", "refuted", "undecided"]
    text = found.to_text()
    for told in (
        *("Odds and ends", "Source: a book", "Given", "First", "Second", "it cancels"),
        *("where x[i] != 0", "CHECKED", "REFUTED", "UNDECIDED", "unknown name 'foo'"),
        "4 lines: 1 proved, 1 checked, 1 refuted, 1 undecided",
    ):
        assert told in text
    assert found.parts == ("First", "Second")
    with pytest.raises(Malformed, match="unknown name"):
        _ = found.lines[3].sympy
    assert found.to_dict()["lines"][2]["counterexample"]


def test_a_file_by_its_path(tmp_path) -> None:
    """Judged as a text is; faults are told with the line where they stand."""
    path = tmp_path / "mine.toml"
    path.write_text(TEXT, "utf-8")
    assert find(str(path)).counts == derive(TEXT).counts
    path.write_text(TEXT.replace('title = "', 'titel = "'), "utf-8")
    with pytest.raises(Malformed, match="titel"):
        read(path)
    path.write_text("sizes = [", "utf-8")
    with pytest.raises(Malformed):
        read(path)


def test_unknown_names() -> None:
    """The nearest one is told."""
    with pytest.raises(UnknownName, match="softmax-jacobian"):
        find("softmax-jacobain")
    assert "softmax-jacobian" in THEORY
    assert "nobody" not in THEORY
    assert len(THEORY) == len(names()) == len(list(THEORY))
    assert repr(THEORY).startswith("<theory: ")
