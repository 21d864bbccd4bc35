"""Engines run shut in, with a limit, and what they say is passed on."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.errors import EngineFailure
from symattn.printers import blocks as b
from symattn.printers import engine
from symattn.printers.latex import document

PDFLATEX = "% !TeX program = pdflatex\n"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which ``says`` is what a fake pdflatex runs; ``runs`` counts."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def says(folder: Path, script: str) -> None:
    program = folder / "pdflatex"
    program.write_text(f"#!/bin/sh\necho run >> {folder}/runs\n{script}\n", "utf-8")
    program.chmod(0o755)


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


def test_how_an_engine_runs(fake: Path) -> None:
    """In an empty folder of its own, without a shell, input or the way out, on the same date."""
    says(
        fake,
        f"""
        echo "$@" > {fake}/arguments; echo * > {fake}/folder
        read line; echo "[$line]" > {fake}/in
        echo "$openin_any $openout_any" > {fake}/names
        echo "$SOURCE_DATE_EPOCH $FORCE_SOURCE_DATE $max_print_line $PATH" >> {fake}/names
        printf '%%PDF-1.5\\n%%%%EOF\\n' > sheet.pdf; echo fine > sheet.log
        """,
    )
    made = engine.typeset(PDFLATEX)
    assert made == engine.TypesetDocument(b"%PDF-1.5\n%%EOF\n", ())
    assert (fake / "arguments").read_text().split() == [
        "-no-shell-escape",
        "-interaction=nonstopmode",
        "-halt-on-error",
        "sheet.tex",
    ]
    assert (fake / "folder").read_text() == "sheet.tex\n"
    assert (fake / "in").read_text() == "[]\n"
    assert (fake / "names").read_text() == f"p p\n0 1 10000 {fake}\n"
    assert runs(fake) == 1


@pytest.mark.parametrize("line", ["Rerun LaTeX.", "Please rerun"])
def test_a_second_run(fake: Path, line: str) -> None:
    """An engine that asks for it runs a second time, and the second log counts."""
    says(
        fake,
        f"""
        if [ -e sheet.aux ]; then wide=' Overfull \\hbox (2.5pt too wide) here'; fi
        printf '%s%s\\n' '{line}' "$wide" > sheet.log; : > sheet.aux
        printf '%%PDF-1.5\\n%%%%EOF\\n' > sheet.pdf
        """,
    )
    assert engine.typeset(PDFLATEX).complaints == ("Overfull \\hbox (2.5pt too wide) here",)
    assert runs(fake) == 2


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "printf '! Bad.\\nl.1 \\\\x\\n  y\\nz\\n' > sheet.log; exit 1",
            r"pdflatex failed: Bad\. l\.1 \\x y",
        ),
        ("printf 'a\\n! Said.\\n'; exit 3", r"pdflatex failed: Said\.$"),
        ("exit 1", "pdflatex failed: it gave no reason$"),
        ("printf 'x\\n! Lost.\\n' > sheet.log", r"pdflatex made no PDF: Lost\.$"),
        (": > sheet.pdf; echo > sheet.log", r"pdflatex made no PDF: it gave no reason$"),
        ("echo whole > sheet.pdf", r"pdflatex made a broken PDF: it gave no reason$"),
        ("printf '%%PDF-1.5 and no more' > sheet.pdf", r"pdflatex made a broken PDF: it gave"),
        ("echo '%%EOF' > sheet.pdf", r"pdflatex made a broken PDF: it gave no reason$"),
        ("printf '! %400d\\n' 1 > sheet.log; exit 1", r"pdflatex failed: 1$"),
    ],
)
def test_what_an_engine_says(fake: Path, script: str, message: str) -> None:
    """Its first error, with the lines that show the place, is the reason of the failure."""
    says(fake, script)
    with pytest.raises(EngineFailure, match=message):
        engine.typeset(PDFLATEX)


def test_long_reasons_are_cut(fake: Path) -> None:
    """Of a reason of any length the beginning is told."""
    says(fake, f"echo '! {'x' * 400}' > sheet.log; exit 1")
    with pytest.raises(EngineFailure) as failure:
        engine.typeset(PDFLATEX)
    assert str(failure.value) == "pdflatex failed: " + "x" * 300


def test_no_engine(fake: Path) -> None:
    """What is missing is named, and how it is had; so is one that can't be run."""
    assert engine.find_engine(PDFLATEX) is None
    with pytest.raises(EngineFailure, match="no pdflatex was found; on Debian or Ubuntu: apt-get"):
        engine.typeset(PDFLATEX)
    program = fake / "pdflatex"
    program.write_text("#!/no/such/program\n", "utf-8")
    program.chmod(0o755)
    assert engine.find_engine(PDFLATEX) == str(program)
    with pytest.raises(EngineFailure, match="pdflatex can't be run: No such file or directory"):
        engine.typeset(PDFLATEX)


def test_complaints() -> None:
    """Boxes that stick out by more than a point, letters that no font has, lost references; each
    once."""
    log = """
Overfull \\hbox (1.0pt too wide) in paragraph at lines 1--2
Overfull \\hbox (1.01pt too wide) in paragraph at lines 3--4
Overfull \\vbox (30.5pt too high) has occurred
Overfull \\hbox (1.01pt too wide) in paragraph at lines 3--4
Missing character: There is no \N{CAT FACE} (U+1F431) in font lmroman10
LaTeX Warning: Reference `x' on page 1 undefined on input line 9.
LaTeX Warning: Citation `y' undefined
LaTeX Warning: Label `x' multiply defined.
"""
    assert engine.complaints(log) == (
        "Overfull \\hbox (1.01pt too wide) in paragraph at lines 3--4",
        "Overfull \\vbox (30.5pt too high) has occurred",
        "no font has the letter \N{CAT FACE}",
        "LaTeX Warning: Reference `x' on page 1 undefined on input line 9.",
        "LaTeX Warning: Citation `y' undefined",
    )


@pytest.mark.parametrize(("word", "name"), [("plain", "pdflatex"), ("\N{CAT FACE}", "lualatex")])
def test_which_engine(word: str, name: str) -> None:
    """A document's first line names the engine; anything but lualatex means pdflatex."""
    tex = document(b.Sheet("made", word, ("by hand",), (b.Paragraph((word,)),)))
    assert engine.wanted_engine(tex) == name
    assert (r"\usepackage{fontspec}" in tex) == (name == "lualatex")
    assert (r"\usepackage[T1]{fontenc}" in tex) == (name == "pdflatex")
    assert engine.wanted_engine("no first line\n% lualatex") == "pdflatex"
