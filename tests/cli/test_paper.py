"""Exercises on paper: all versions bound, a sheet for each student, a table to mark in."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from symattn.errors import Malformed
from symattn.exercises.marking.answer_files import read_list
from symattn.printers import blocks as b
from symattn.printers import latex, typst

LIST = "student,version\nAda Lovelace,2\nBob,\nÉmile & Co,1\n"


def test_versions_are_given_out_in_turn() -> None:
    """To whom the list names no version."""
    names = "".join(f"S{k}\n" for k in range(5))
    assert [number for _, number in read_list(f"student\n{names}", 2)] == [1, 2, 1, 2, 1]
    assert read_list(LIST, 3) == [("Ada Lovelace", 2), ("Bob", 1), ("Émile & Co", 1)]
    assert read_list("Student\nAda\n", 0) == [("Ada", 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the heading student"),
        ("name\nAda\n", "found name"),
        ("student\n", "expected 1 to 2000 students, found 0"),
        ("student,version\nAda,3\nAda,x\n,1\n", "4 faults"),
        ('student\n"Ada\n', "not valid CSV"),
        (f"student\n{'A' * 81}\n", "at most 80 letters"),
    ],
)
def test_faults_of_a_list(text: str, message: str) -> None:
    """All at once, with their lines."""
    with pytest.raises(Malformed, match=message):
        read_list(text, 2)


def sheets(symattn, folder: Path, *words: str) -> dict[str, str]:
    (folder / "list.csv").write_text(LIST)
    made = symattn("exercise", "cat-sat-mat", "--format", "tex", "-o", "out", *words)
    assert (made.code, made.err) == (0, "")
    return {path.stem: path.read_text() for path in (folder / "out").glob("*.tex")}


def test_all_versions_are_one_document(tmp_path, symattn) -> None:
    """And all solutions another; a table to mark in has a column for each part."""
    made = sheets(symattn, tmp_path, "--versions", "3", "--solutions", "--students", "list.csv")
    assert made["cat-sat-mat-all"].count(r"\documentclass") == 1
    for name, one in made.items():
        if name.endswith(("-01", "-02", "-03")):
            body = one.partition(r"\begin{document}")[2].removesuffix("\\end{document}\n")
            assert body in made["cat-sat-mat-all"]
    assert made["cat-sat-mat-all"].count(r"\ifodd") == 2
    assert made["cat-sat-mat-all-solutions"].count(": solution") == 3
    own = made["cat-sat-mat-students"]
    assert [own.index(name) for name in ("Ada Lovelace", "Bob", r"Émile \& Co")] == sorted(
        own.index(name) for name in ("Ada Lovelace", "Bob", r"Émile \& Co")
    )
    for part in "abcd":
        assert f"({part})" in made["cat-sat-mat-grading"]
    assert "Bob" in made["cat-sat-mat-grading"]


def test_one_version_is_bound_for_students_only(tmp_path, symattn) -> None:
    """Else it is there already."""
    assert [*sheets(symattn, tmp_path)] == ["cat-sat-mat"]
    (tmp_path / "list.csv").write_text("student\nAda\n")
    made = symattn(
        "exercise", "cat-sat-mat", "--students", "list.csv", "--format", "tex", "-o", "b"
    )
    assert made.code == 0
    assert "Ada" in (tmp_path / "b/cat-sat-mat-students.tex").read_text()


def test_a_list_is_for_paper(tmp_path, symattn) -> None:
    """It says so."""
    (tmp_path / "list.csv").write_text(LIST)
    made = symattn("exercise", "cat-sat-mat", "--students", "list.csv")
    assert made.code == 2
    assert "--format pdf" in made.err


def test_typst_binds_as_well() -> None:
    """Where there is no LaTeX."""
    one = typst.document(b.Sheet("x", "X", (), ()))
    assert typst.bound([one, one]).count("#pagebreak") == 1
    assert latex.bound([latex.document(b.Sheet("x", "X", (), ()))] * 3).count("ifodd") == 2


@pytest.mark.heavy
@pytest.mark.needs("pdflatex", "pdftotext")
def test_each_version_begins_on_a_right_hand_page(tmp_path, symattn) -> None:
    """So that a bundle printed on both sides comes apart."""
    words = ["cat-sat-mat", "--level", "backward", "--versions", "3", "--format", "pdf"]
    assert symattn("exercise", *words, "--strict", "-o", "out").code == 0
    path = tmp_path / "out/cat-sat-mat-all.pdf"
    done = subprocess.run(["pdftotext", str(path), "-"], capture_output=True, timeout=60)
    pages = done.stdout.decode().split("\f")
    begun = [place for place, page in enumerate(pages) if "Version " in page]
    assert len(begun) == 3
    assert all(place % 2 == 0 for place in begun)


def test_a_solution_works_every_row_or_one(tmp_path, symattn) -> None:
    """All rows are asked for; a brief one works the most telling."""
    texts = {}
    for detail in ("", "full", "brief"):
        words = ["--detail", detail] if detail else []
        made = symattn(
            "exercise", "cat-sat-mat", "--solutions", "--format", "tex", "-o", f"o{detail}", *words
        )
        assert made.code == 0
        texts[detail] = (tmp_path / f"o{detail}/cat-sat-mat-solution.tex").read_text()
    assert texts[""] == texts["full"]
    rows = {detail: text.count("S_{0,") + text.count("S_{2,") for detail, text in texts.items()}
    assert rows["brief"] < rows["full"]
