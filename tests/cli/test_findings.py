"""The text report of an audit: as wide as the terminal, and no word of it cut in two."""

from __future__ import annotations

import io
import re
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

import symattn
from symattn.auditing import reports
from symattn.cases import library
from symattn.cli.audit_report import report
from symattn.cli.terminal_table import wrapped
from symattn.verdicts import Verdict


@cache
def audited(name):
    """The audit of a bundled case, made once."""
    return symattn.audit(name)


def whole(name, width, strict=False, unfolded=False) -> str:
    """The report of a bundled case on a terminal of that width."""
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None)
    report(audited(name), strict, unfolded, console)
    return out.getvalue()


def printed(name, width, strict=False, unfolded=False) -> str:
    """The report from the counts on."""
    out = whole(name, width, strict, unfolded)
    found = re.search("^[0-9]+ figures?[ :].*", out, re.DOTALL | re.MULTILINE)
    assert found
    return found[0]


@pytest.mark.sampled(9, 37)
@pytest.mark.parametrize("unfolded", [False, True])
@pytest.mark.parametrize("width", [60, 80, 132, 200])
@pytest.mark.parametrize("name", library.names())
def test_no_report_is_too_wide(name, width, unfolded) -> None:
    """No line is longer than the terminal, no word or index is cut in two, and the figures
    that are told stand there with the right ones."""
    out = printed(name, width, strict=True, unfolded=unfolded)
    lines = out.splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
    assert all(line.count("[") == line.count("]") for line in lines)
    words = set(out.replace(";", "").split())
    assert words <= set(printed(name, 2000, True, unfolded).replace(";", "").split())
    wrong = [f for f in audited(name).figures if f.verdict is Verdict.REFUTED]
    for figure in wrong:
        if unfolded or figure.cause != "carried":
            assert {figure.text, figure.correct} <= words


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", library.names())
def test_what_is_folded_is_counted(name) -> None:
    """The figures that are shown, and those that are only counted, are all that are wrong."""
    wrong = audited(name).count(Verdict.REFUTED) - sum(
        statement.verdict is Verdict.REFUTED for statement in audited(name).statements
    )
    lines = printed(name, 2000).splitlines()
    counts = [int(line.split()[0]) for line in lines if line.startswith("    ")]
    assert len(reports.grouped(audited(name))) + sum(counts) == wrong


def test_closed_forms_go_first() -> None:
    """They are left out where room is short; where it is shorter, reasons stand below."""
    wide, middle, narrow = (printed("cat-sat-mat", width) for width in (140, 90, 60))
    assert "e/(1 + sqrt(e) + e)" in wide
    for text in (middle, narrow):
        assert "exact" not in text
        assert "sqrt(e)" not in text
    reason = "off by one unit in the last place"
    assert f"0.5065  {reason}\n" in middle
    assert f"0.5065\n    {reason}" in narrow


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [1, 3, 10, 20])
def test_no_terminal_is_too_narrow(width) -> None:
    """What fits nowhere is folded; nothing is lost."""
    figures = "".join(whole("please-study-man", width, unfolded=True).split())
    assert all(figure.correct[:3] in figures for figure in audited("please-study-man").roots)


WORD = st.text("ab,.()=*\u732b\u00e9", min_size=1, max_size=8)
INDEX = st.integers(0, 9).map(lambda k: f"S[{k}, 0]")


@given(st.lists(WORD | INDEX, max_size=12), st.integers(16, 40))
def test_wrapping(words, width) -> None:
    """All words are there in their order, whole, in lines that are no wider than they may be
    and that have no room for the first word of the next."""
    lines = wrapped(" ".join(words), width)
    assert " ".join(lines) == " ".join(words)
    assert all(cell_len(line) <= width for line in lines)
    assert all(line.count("[") == line.count("]") for line in lines)
    for line, after in pairwise(lines):
        first = after.partition("]")[0] + "]" if after.startswith("S[") else after.split()[0]
        assert cell_len(f"{line} {first}") > width


@given(st.text("abc\u732b[], ", max_size=60), st.integers(4, 9))
def test_wrapping_what_is_too_long(text, width) -> None:
    """A longer word goes on in the next line; but for blanks nothing is lost."""
    lines = wrapped(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cell_len(line) <= width for line in lines)
