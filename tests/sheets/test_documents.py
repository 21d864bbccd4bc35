"""Sheets: the same bytes each time, checked lines only, and pages without complaints."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from flint import arb

import symattn
from symattn.calculus.library import THEORY
from symattn.errors import EngineFailure, Refuted
from symattn.numbers.reading import read
from symattn.numbers.values import ONE, Value
from symattn.printers import blocks as b
from symattn.printers import engine
from symattn.printers.latex import document
from symattn.sheets import case_sheet, derivation, redpen
from symattn.solution.solution import solve
from symattn.verdicts import Verdict
from symattn.verification import verify

from ..notation import matrix

needs_tex = pytest.mark.needs("pdflatex")
needs_lua = pytest.mark.needs("lualatex")

HOSTILE = r"""
title = 'x $%#_{}\input{/etc/passwd} & ~^'
tokens = ['\input{/etc/passwd}', '$%#_{}&~^"|<>', 'ordinary']
[given]
X = [[1, 0], [0, 1], [1, 1]]
[steps]
A = "softmax(X @ X.T)"
Y = "A @ X"
"""


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["cat-sat-mat", "length-4-causal"])
def test_same_input_same_bytes(name: str) -> None:
    """Two runs write the same LaTeX."""
    assert document(case_sheet.sheet(solve(name))) == document(case_sheet.sheet(solve(name)))


@pytest.mark.heavy
@needs_tex
def test_same_input_same_pdf() -> None:
    """Two runs typeset the same PDF."""
    tex = document(case_sheet.sheet(solve("cat-sat-mat-identical")))
    assert engine.typeset(tex).pdf == engine.typeset(tex).pdf


@pytest.mark.heavy
@needs_tex
@pytest.mark.parametrize("name", ["length-4-causal", "the-fox-jumps", "cat-sat-mat-d16"])
def test_pages_without_complaints(name: str) -> None:
    """The widest sheets have no overfull line, missing letter or undefined reference."""
    assert engine.typeset(document(case_sheet.sheet(solve(name)))).complaints == ()


def _pages(pdf: bytes, folder: Path) -> list[list[str]]:
    """The lines of text on each page, without its number."""
    (folder / "sheet.pdf").write_bytes(pdf)
    command = ["pdftotext", "-layout", "sheet.pdf", "-"]
    text = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return [[one.strip() for one in page.splitlines() if one.strip()][:-1]
            for page in text.split("\f")[:-1]]  # fmt: skip


@pytest.mark.heavy
@needs_tex
@pytest.mark.needs("pdftotext")
@pytest.mark.parametrize(
    "name",
    ["softmax-backward", "masking", "blockwise-softmax", "grouped-query-gradients"],
)
def test_pages_of_derivations(name: str, tmp_path: Path) -> None:
    """Nothing is too wide, no page ends with a title, and the last one is not nearly empty."""
    theory = THEORY[name]
    made = engine.typeset(document(derivation.sheet(theory)))
    assert made.complaints == ()
    pages = _pages(made.pdf, tmp_path)
    titles = {"Notation", "Proof", "line", "Definitions:", *theory.parts} - {""}
    assert not [page[-1] for page in pages if page[-1] in titles]
    assert len(pages[-1]) >= 12


@pytest.mark.heavy
@needs_tex
def test_red_pen_without_complaints() -> None:
    """The red-pen sheet of the document with the most slips is typeset cleanly."""
    made = engine.typeset(document(redpen.sheet(symattn.audit("length-4-causal"))))
    assert made.complaints == ()


@pytest.mark.heavy
@needs_tex
def test_hostile_text_prints_as_it_is(tmp_path: Path) -> None:
    """LaTeX in tokens and titles is text: nothing is read, and it compiles."""
    path = tmp_path / "hostile.toml"
    path.write_text(HOSTILE, "utf-8")
    tex = document(case_sheet.sheet(solve(path)))
    assert r"\input{/etc" not in tex
    assert engine.typeset(tex).complaints == ()


@pytest.mark.heavy
@needs_lua
def test_letters_beyond_latin(tmp_path: Path) -> None:
    """Greek and Cyrillic tokens are typeset by lualatex; a letter that no font has is reported."""
    path = tmp_path / "letters.toml"
    path.write_text(HOSTILE.replace("ordinary", "кот \U0001f98a"), "utf-8")
    tex = document(case_sheet.sheet(solve(path)))
    assert engine.wanted_engine(tex) == "lualatex"
    made = engine.typeset(tex)
    assert all("no font has the letter" in complaint for complaint in made.complaints)


def test_a_hanging_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that does not end is stopped at the limit."""
    fake = tmp_path / "pdflatex"
    fake.write_text("#!/bin/sh\nexec /bin/sleep 60\n", "utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineFailure, match=r"did not finish within 0\.3 seconds"):
        engine.typeset("% !TeX program = pdflatex\n", limit=0.3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("quantity", ["A", "Y", "grad(V)"])
def test_a_corrupted_enclosure_is_caught(quantity: str) -> None:
    """The cross-check refutes exactly the quantity with an entry that is off by
    one part in a billion, and no sheet is written from it."""
    solution = solve("cat-sat-mat")
    held = solution[quantity]
    right = held.source.balls

    def wrong(bits: int) -> object:
        first, *rest = right(bits) or ()
        assert first is not None
        return [first * (1 + arb("1e-9")), *rest]

    held.source.balls = wrong  # type: ignore[method-assign, assignment]
    found = verify(solution)
    refuted = [check.quantity for check in found.checks if check.verdict is Verdict.REFUTED]
    assert refuted == [quantity.replace("grad(V)", "dL/dV")]
    message = f"the cross-check refutes {refuted[0]}; no sheet is written"
    with pytest.raises(Refuted, match=message):
        case_sheet.sheet(solution)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("quantity", ["A", "Y", "grad(V)"])
def test_a_corrupted_exact_value_is_caught(quantity: str) -> None:
    """An exact entry that is off by one part in a billion is refuted by its
    enclosure when it is asked for, and no sheet is written from it."""
    solution = solve("cat-sat-mat")
    entries = solution._runs.exact[solution.program.lower(quantity)]
    value = entries.at(0, 0)
    assert isinstance(value, Value)
    entries.entries[0, 0] = value * (ONE + read("1e-9"))
    with pytest.raises(Refuted, match=r"entry \[0, 0\] is .* exactly, in balls"):
        solution[quantity].at(0, 0)
    with pytest.raises(Refuted):
        case_sheet.sheet(solution)


def test_normalisers_have_names() -> None:
    """Exponentials and normalisers are named, and used by name."""
    tex = document(case_sheet.sheet(solve("cat-sat-mat")))
    assert r"Z_{0} &= e + 1 + \sqrt{e} \approx 5.3670" in tex
    assert r"\dfrac{e}{Z_{0}}" in tex


def test_pieces_of_a_matrix_have_its_name() -> None:
    """The columns that a piece has are those of what stands before the sign; a factor stays
    with the entries, and so does a sign without a name."""
    row = tuple(r"-e^{2} + e^{3}" for _ in range(8))
    items = (matrix(r"J_{0} = \frac{1}{Z_{0}^{2}}", (row,)), matrix(r"\approx", (row * 2,)))
    tex = document(b.Sheet("made", "Made", ("by hand",), (b.Matrices(items),)))
    assert r"(J_{0})_{\cdot,\,0\text{--}6} = \frac{1}{Z_{0}^{2}} \left[" in tex
    assert r"{}_{\cdot,\,0\text{--}" in tex
    assert r"} \approx \left[" in tex
