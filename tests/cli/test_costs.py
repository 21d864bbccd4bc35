"""Small files that are large work: every command ends, with the digits that are certain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..models import COSTLY, repeated, symbols

pytestmark = pytest.mark.heavy


@pytest.fixture(autouse=True)
def in_workers(symattn, monkeypatch) -> None:
    """What hangs is stopped and fails; it takes seconds where it doesn't."""
    monkeypatch.setenv("SYMATTN_MAX_SECONDS", "120")
    monkeypatch.setenv("SYMATTN_MAX_MEMORY", "2048")


@pytest.mark.sampled(0, 6)
@pytest.mark.parametrize("name", COSTLY)
def test_every_command_ends(name, symattn):
    """Verified, audited, drawn and on a sheet: nothing is refused, nothing runs into the limit."""
    Path("case.toml").write_text(COSTLY[name], "utf-8")
    wrong = "claim" in name or "wrong" in name
    for words in (["verify"], ["audit"], ["draw"], ["sheet", "--format", "tex"]):
        ended = symattn(*words, "case.toml")
        assert (ended.code, ended.err) == (1 if wrong and words == ["audit"] else 0, "")
    assert "\\end{document}" in Path("sheets/case.tex").read_text("utf-8")


def test_what_has_no_closed_form_has_digits(symattn):
    """A number that is too long to be written out is shown rounded, and that is said."""
    Path("case.toml").write_text(repeated("softmax(X)", "softmax({})", 30, 3), "utf-8")
    ended = symattn("show", "case.toml", "A29")
    assert ended.code == 0
    assert ended.out == (
        "A29, 3x3: no short closed form\n"
        "\N{ALMOST EQUAL TO} 6 places, half-even:\n" + "  0.333333  0.333333  0.333333\n" * 3
    )
    ended = symattn("show", "case.toml", "A29[0, 0]", "--format", "json")
    assert '"exact": null' in ended.out
    assert '"latex": null' in ended.out
    ended = symattn("show", "case.toml", "A29[0, 0]", "--format", "latex")
    assert (ended.code, ended.out) == (2, "")
    assert "has no short closed form" in ended.err
    symattn("sheet", "case.toml", "--format", "tex")
    sheet = Path("sheets/case.tex").read_text("utf-8")
    assert "\\approx 0.3333" in sheet


def test_a_figure_without_a_closed_form_is_judged(symattn):
    """Its digits are enough; the report has no closed form to tell."""
    claim = '[[claims]]\nof = "A29[0, 0]"\nprinted = "0.3334"\n'
    text = repeated("softmax(X)", "softmax({})", 30, 3) + claim
    Path("case.toml").write_text(text, "utf-8")
    ended = symattn("audit", "case.toml", "--format", "json")
    assert ended.code == 1
    (found,) = json.loads(ended.out)["claims"]
    assert (found["correct"], found["exact"], found["verdict"]) == ("0.3333", None, "refuted")
    assert "0.3333" in symattn("audit", "case.toml").out


def test_coefficients_of_many_symbols(symattn):
    """A linear form in sixteen symbols has sixteen certain coefficients."""
    Path("case.toml").write_text(symbols(16), "utf-8")
    ended = symattn("show", "case.toml", "dL/dV[0, 0]", "--places", "3")
    assert ended.code == 0
    assert ended.out.partition("\N{ALMOST EQUAL TO}")[2].count("*g") == 16


def test_powers_beyond_all_floats(symattn):
    """A matrix squared sixty times has entries of some 10^16 digits: floats can't
    check them, decimals would fill the memory, and both is said."""
    Path("case.toml").write_text(repeated("X", "{0} @ {0}", 60, 4), "utf-8")
    ended = symattn("verify", "case.toml")
    assert ended.code == 0
    assert "undecided" in ended.out
    ended = symattn("show", "case.toml", "A59")
    assert ended.code == 2
    assert "case.toml: 16 faults\n" in ended.err
    assert "case.toml: A59[3, 3]: a digit of" in ended.err
