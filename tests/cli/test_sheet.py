"""``symattn sheet``: what it writes where, and how it ends, with engines of every temper."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from symattn.cases import library
from tests.folders import written

OVERFULL = r"Overfull \hbox (33.3pt too wide) in paragraph at lines 7--8"
MISSING = "Missing character: There is no \u2603 in font lmroman10-regular"
FORMULA = "[given]\nX = [[1, 2], [3, 4]]\n[steps]\nA = 'softmax(X)'\n"


def files(folder):
    """The names of the files in a folder, sorted."""
    return [path.name for path in written(folder)]


ALL = "1 sheet in sheets: HTML, LaTeX and PDF; open sheets/cat-sat-mat.html\n"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("words", "said", "pages"),
    [
        ([], ALL, ["cat-sat-mat.html", "index.html"]),
        (["--format", "pdf"], "1 sheet in sheets: LaTeX and PDF\n", []),
    ],
)
def test_all_forms(words, said, pages, engine, tmp_path, symattn) -> None:
    """With an engine PDFs are written too, into ``sheets`` unless another folder is given."""
    engine()
    done = symattn("sheet", "cat-sat-mat", *words)
    assert (done.code, done.out, done.err) == (0, said, "")
    assert files(tmp_path / "sheets") == sorted(["cat-sat-mat.pdf", "cat-sat-mat.tex", *pages])
    assert (tmp_path / "sheets" / "cat-sat-mat.pdf").read_bytes() == b"%PDF-1.5\n%%EOF\n"
    tex = (tmp_path / "sheets" / "cat-sat-mat.tex").read_text("utf-8")
    assert tex.startswith("% !TeX program = pdflatex\n")
    assert tex.endswith("\\end{document}\n")


@pytest.mark.heavy
@pytest.mark.parametrize("option", ["-o", "--output"])
def test_only_latex(option, engine, tmp_path, symattn) -> None:
    """``--format tex`` asks no engine, and writes where it is told to."""
    engine(code=1, log="! never asked")
    done = symattn(
        "sheet", "the-fox-jumps", "cat-sat-mat", option, "a/b", "--format", "tex", "--strict"
    )
    assert (done.code, done.out, done.err) == (0, "2 sheets in a/b: LaTeX\n", "")
    assert files(tmp_path / "a" / "b") == ["cat-sat-mat.tex", "the-fox-jumps.tex"]


@pytest.mark.heavy
def test_html(engine, tmp_path, symattn) -> None:
    """``--format html`` writes pages, by no engine, and nothing else; one also to where asked."""
    engine(code=1, log="! never asked")
    done = symattn("sheet", "the-fox-jumps", "cat-sat-mat", "--format", "html", "-o", "a/b")
    said = "2 sheets in a/b: HTML; open a/b/index.html\n"
    assert (done.code, done.out, done.err) == (0, said, "")
    assert files(tmp_path / "a" / "b") == ["cat-sat-mat.html", "index.html", "the-fox-jumps.html"]
    page = (tmp_path / "a" / "b" / "cat-sat-mat.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>\n")
    assert page.endswith("</html>\n")
    printed = symattn("sheet", "cat-sat-mat", "--format", "html", "-o", "-")
    assert (printed.code, printed.out) == (0, page)


@pytest.mark.heavy
def test_every_case_without_a_name(tmp_path, symattn) -> None:
    """Without a CASE there is a sheet for every bundled one."""
    done = symattn("sheet", "--format", "tex")
    assert done.out == f"{len(library.names())} sheets in sheets: LaTeX\n"
    assert files(tmp_path / "sheets") == sorted(f"{name}.tex" for name in library.names())


@pytest.mark.heavy
@pytest.mark.parametrize("log", [OVERFULL, MISSING])
def test_strict(log, engine, tmp_path, symattn) -> None:
    """What the engine's log complains of is said; with --strict the exit code is 1."""
    engine(log)
    shown = {OVERFULL: OVERFULL, MISSING: "no font has the letter \u2603"}[log]
    done = symattn("sheet", "cat-sat-mat")
    assert (done.code, done.err) == (0, f"symattn: sheets/cat-sat-mat.pdf: {shown}\n")
    strict = symattn("sheet", "cat-sat-mat", "--strict")
    assert (strict.code, strict.err) == (1, done.err)
    # The page is there all the same, to look at.
    assert strict.out == done.out == ALL
    assert (tmp_path / "sheets" / "cat-sat-mat.pdf").read_bytes() == b"%PDF-1.5\n%%EOF\n"


def test_strict_without_a_complaint(engine, symattn) -> None:
    """A log without a complaint is fine, strictly too."""
    engine(r"Overfull \hbox (0.9pt too wide) in paragraph at lines 7--8")
    done = symattn("sheet", "cat-sat-mat", "--strict")
    assert (done.code, done.err) == (0, "")


@pytest.mark.heavy
def test_complaints_of_several_sheets(engine, symattn) -> None:
    """Every complaint of every sheet is said, in the order of their names."""
    engine(f"{OVERFULL}\n{MISSING}\n")
    done = symattn("sheet", "the-fox-jumps", "cat-sat-mat", "--strict")
    assert done.code == 1
    assert done.out == "2 sheets in sheets: HTML, LaTeX and PDF; open sheets/index.html\n"
    assert done.err.splitlines() == [
        f"symattn: sheets/{case}.pdf: {complaint}"
        for case in ("cat-sat-mat", "the-fox-jumps")
        for complaint in (OVERFULL, "no font has the letter \u2603")
    ]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("words", [[], ["--format", "pdf"], ["--strict"]])
def test_a_failing_engine(words, engine, tmp_path, symattn) -> None:
    """An engine that fails is bad input whatever was asked for; a complaint counts for less."""
    engine("! Undefined control sequence.\nl.7 \\foo\n", code=1)
    done = symattn("sheet", "cat-sat-mat", *words)
    said = "LaTeX" if "pdf" in words else "HTML and LaTeX; open sheets/cat-sat-mat.html"
    assert (done.code, done.out) == (2, f"1 sheet in sheets: {said}\n")
    assert done.err == (
        "symattn: sheets/cat-sat-mat.pdf: pdflatex failed: Undefined control sequence. l.7 \\foo\n"
    )
    assert not (tmp_path / "sheets" / "cat-sat-mat.pdf").exists()
    assert (tmp_path / "sheets" / "cat-sat-mat.tex").exists()


def test_an_engine_that_makes_nothing(engine, symattn) -> None:
    """An engine that ends well but leaves no PDF has failed too."""
    engine("nothing to say", pdf=False)
    done = symattn("sheet", "cat-sat-mat")
    assert done.code == 2
    assert done.err == (
        "symattn: sheets/cat-sat-mat.pdf: pdflatex made no PDF: it gave no reason\n"
    )


@pytest.fixture
def only_pdflatex(engine, without_typst, monkeypatch, tmp_path):
    """Of all engines only pdflatex is there, and it works."""
    engine()
    # What the engine's script needs, but no other engine.
    for tool in ("sh", "cat"):
        (tmp_path / "engines" / tool).symlink_to(shutil.which(tool))
    monkeypatch.setenv("PATH", str(tmp_path / "engines"))


@pytest.mark.heavy
def test_one_engine_of_two(only_pdflatex, tmp_path, symattn) -> None:
    """Without an engine for one of the sheets the other is typeset, and the first is told."""
    (tmp_path / "\u732b.toml").write_text(f"title = '\u732b'\n{FORMULA}", "utf-8")
    words = ["sheet", "\u732b.toml", "cat-sat-mat", "-o", "out"]
    done = symattn(*words)
    said = "2 sheets in out: HTML and LaTeX; open out/index.html\n"
    assert (done.code, done.out) == (0, said)
    assert done.err.startswith("symattn: no PDF of \u732b: no lualatex was found; on Debian")
    assert [path.name for path in (tmp_path / "out").glob("*.pdf")] == ["cat-sat-mat.pdf"]
    explicit = symattn(*words, "--format", "pdf")
    assert (explicit.code, explicit.out) == (2, "2 sheets in out: LaTeX\n")
    assert explicit.err == done.err


@pytest.mark.heavy
def test_without_an_engine(without_tex, without_typst, tmp_path, symattn) -> None:
    """Without an engine there are pages and LaTeX, and one line that says so, for all sheets."""
    done = symattn("sheet", "the-fox-jumps", "cat-sat-mat")
    said = "2 sheets in sheets: HTML and LaTeX; open sheets/index.html\n"
    assert (done.code, done.out) == (0, said)
    assert re.fullmatch(r"symattn: no PDF: no pdflatex was found; .*\n", done.err)
    assert not [*(tmp_path / "sheets").glob("*.pdf")]
    assert len(files(tmp_path / "sheets")) == 5


@pytest.mark.heavy
def test_typst_in_place_of_tex(without_tex, tmp_path, symattn) -> None:
    """Without TeX, PDFs are Typst's where that is installed, and it is said that they are."""
    done = symattn("sheet", "cat-sat-mat-causal", "cat-sat-mat")
    said = "2 sheets in sheets: HTML, LaTeX and PDF by Typst; open sheets/index.html\n"
    assert (done.code, done.out, done.err) == (0, said, "")
    pages = [*(tmp_path / "sheets").glob("*.pdf")]
    assert len(pages) == 2
    assert all(b"Typst" in page.read_bytes() for page in pages)
    printed = symattn("sheet", "cat-sat-mat", "--format", "pdf", "-o", "cat")
    assert printed.out == "1 sheet in cat: LaTeX and PDF by Typst\n"
    red = symattn("audit", "cat-sat-mat", "--format", "pdf", "-o", "red.pdf")
    assert (red.code, red.out, red.err) == (1, "red.pdf\n", "")
    assert (tmp_path / "red.pdf").read_bytes().startswith(b"%PDF-")


def test_tex_before_typst(engine, tmp_path, symattn) -> None:
    """Where TeX's engine is there, it makes the PDFs."""
    engine()
    assert symattn("sheet", "cat-sat-mat").out == ALL
    assert b"Typst" not in (tmp_path / "sheets" / "cat-sat-mat.pdf").read_bytes()


# -- the list of pages ----------------------------------------------------------------------


def links(page):
    """Where the links of a page lead."""
    return set(re.findall(r'href="([^"]*)"', page.read_text("utf-8")))


@pytest.mark.heavy
def test_the_list_of_pages(engine, tmp_path, symattn) -> None:
    """The list leads to every file that was made, and to the pages of earlier runs."""
    engine()
    symattn("sheet", "cat-sat-mat", "the-fox-jumps")
    page = tmp_path / "sheets" / "index.html"
    made = {f"{case}.{form}" for case in ("cat-sat-mat", "the-fox-jumps")
            for form in ("html", "tex", "pdf")}  # fmt: skip
    assert links(page) == made
    symattn("sheet", "please-study-man", "--format", "html")
    assert links(page) == {"please-study-man.html", "cat-sat-mat.html", "the-fox-jumps.html"}
    assert ">Three nearly one-hot words through 4 x 3 projections</a>" in page.read_text("utf-8")


@pytest.mark.heavy
@pytest.mark.parametrize("text", ["mine", "<title>mine</title>", ""])
def test_a_page_of_somebody_else(text, tmp_path, symattn) -> None:
    """A list that is not ours stays as it is, and no other page is taken for ours."""
    (tmp_path / "sheets").mkdir()
    for name in ("index.html", "other.html"):
        (tmp_path / "sheets" / name).write_text(text, "utf-8")
    done = symattn("sheet", "cat-sat-mat", "the-fox-jumps", "--format", "html")
    assert done.out == "2 sheets in sheets: HTML; open sheets/cat-sat-mat.html\n"
    assert (tmp_path / "sheets" / "index.html").read_text("utf-8") == text
    (tmp_path / "sheets" / "index.html").unlink()
    symattn("sheet", "cat-sat-mat", "--format", "html")
    assert links(tmp_path / "sheets" / "index.html") == {"cat-sat-mat.html", "the-fox-jumps.html"}


def test_a_sheet_that_is_called_index(tmp_path, symattn) -> None:
    """A case of the list's name has its own page, and odd names are addresses all the same."""
    (tmp_path / "index.toml").write_text(FORMULA, "utf-8")
    done = symattn("sheet", "index.toml", "--format", "html")
    assert done.out == "1 sheet in sheets: HTML; open sheets/index.html\n"
    assert "<h1>index</h1>" in (tmp_path / "sheets" / "index.html").read_text("utf-8")
    (tmp_path / "a b&%.toml").write_text(FORMULA, "utf-8")
    symattn("sheet", "a b&%.toml", "--format", "html", "-o", "odd")
    assert links(tmp_path / "odd" / "index.html") == {"a%20b%26%25.html"}


@pytest.mark.heavy
def test_detail(tmp_path, symattn) -> None:
    """``full`` works every row of every product where ``brief`` works the most telling one."""
    worked = {}
    for detail in ("brief", "full"):
        symattn("sheet", "cat-sat-mat", "--format", "tex", "-o", detail, "--detail", detail)
        tex = (tmp_path / detail / "cat-sat-mat.tex").read_text("utf-8")
        names = re.findall(r"(?<![Ad])([STY])_\{(\d),(\d)\}(?= (?:=|&=))", tex)
        worked[detail] = set(names)
    rows = {"S": 3, "T": 3, "Y": 4}
    assert worked["brief"] == {(x, "2", str(j)) for x, m in rows.items() for j in range(m)}
    assert worked["full"] == {
        (x, str(i), str(j)) for x, m in rows.items() for i in range(3) for j in range(m)
    }
    symattn("sheet", "cat-sat-mat", "--format", "tex", "-o", "default")
    default = (tmp_path / "default" / "cat-sat-mat.tex").read_text("utf-8")
    assert default == (tmp_path / "brief" / "cat-sat-mat.tex").read_text("utf-8")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("words", "places", "value"),
    [
        ([], 4, "0.7259"),
        (["--places", "2"], 2, "0.73"),
        (["--places", "7"], 7, "0.7259314"),
    ],
)
def test_places(words, places, value, tmp_path, symattn) -> None:
    """Decimals have as many places as are asked for, four without a word."""
    symattn("sheet", "cat-sat-mat", "--format", "tex", *words)
    tex = (tmp_path / "sheets" / "cat-sat-mat.tex").read_text("utf-8")
    assert f"correctly rounded to {places} decimal places" in tex
    assert re.search(rf"Y_\{{2,0\}} &= .* \\approx {re.escape(value)} ", tex)


@pytest.mark.heavy
@pytest.mark.needs("lualatex")
def test_a_letter_that_no_font_has(tmp_path, symattn) -> None:
    """The real engine's log is understood: a missing letter is exit code 1, strictly."""
    (tmp_path / "rune.toml").write_text(f'title = "Rune \\u16A0"\n{FORMULA}', "utf-8")
    done = symattn("sheet", "rune.toml", "--strict")
    said = "1 sheet in sheets: HTML, LaTeX and PDF; open sheets/rune.html\n"
    assert (done.code, done.out) == (1, said)
    assert done.err == "symattn: sheets/rune.pdf: no font has the letter \u16a0\n"
    assert (tmp_path / "sheets" / "rune.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.heavy
@pytest.mark.needs("pdflatex")
def test_a_page_without_a_fault(tmp_path, symattn) -> None:
    """The real engine typesets a bundled case without a complaint."""
    done = symattn("sheet", "cat-sat-mat", "--format", "pdf", "--strict")
    assert (done.code, done.err) == (0, "")
    assert (tmp_path / "sheets" / "cat-sat-mat.pdf").read_bytes().startswith(b"%PDF-")


def test_what_rows_are_counted_from(symattn):
    """So do flags, over it, and it is said again where a sheet tells its command."""
    text = '[given]\nX = [[1, 0]]\n[steps]\nA = "softmax(X)"\n[sheet]\ncount_from = 1\n'
    Path("case.toml").write_text(text, "utf-8")
    symattn("sheet", "case.toml", "--format", "tex", "-o", "own")
    assert "Z_{1}" in Path("own/case.tex").read_text("utf-8")
    symattn("sheet", "case.toml", "--format", "tex", "--count-from", "0", "--for", "author")
    made = Path("sheets/case.tex").read_text("utf-8")
    assert "Z_{0}" in made
    assert "count-{}from 0" in made
    Path("case.toml").write_text(text.replace("= 1\n", "= 2\n"), "utf-8")
    ended = symattn("sheet", "case.toml", "--format", "tex")
    assert ended.code == 2
    assert "sheet.count_from: rows are counted from 0 or 1, found 2" in ended.err
