"""Articles in Word at the command line: places, reports, and what is corrected."""

from __future__ import annotations

import json
from zipfile import ZipFile

import pytest

from tests.documents.word_files import line, m, made, math, matrix, packed, parts, run, table

INPUTS = line(math(m("X=") + matrix("10", "01"))) + line(math(m("W=") + matrix("12", "34")))
PRODUCT = line(run("So "), math(m("Q=X W=") + matrix("12", "34")))
SOFTMAX = line(
    math(
        m("A=")
        + m("softmax", look="<m:nor/>")
        + m("(X W)=")
        + matrix(["0.2689", "0.7311"], ["0.26", "0.73"])
        .replace(">0.26<", ">0.2689<")
        .replace(">0.73<", ">0.72</m:t></m:r><m:r><m:t>11<")
    )
)
SUM = table(["a", "b"], ["cat", "0.5*3 = 1.6"])
BODY = INPUTS + PRODUCT + SOFTMAX + SUM


@pytest.fixture
def post(tmp_path):
    """An article with a wrong weight, cut in two by Word, and a wrong product in a table."""
    path = tmp_path / "post.docx"
    path.write_bytes(made(BODY))
    return path


def test_report(symattn, post):
    """Places are paragraphs and rows; the line is shown as people see it."""
    done = symattn("audit", "post.docx")
    assert done.code == 1
    assert "post.docx: paragraph 4: A[1, 1] printed 0.7211, correct 0.7311" in done.out
    assert "post.docx: table 1, row 2: 0.5 * 3 printed 1.6, correct 1.5" in done.out
    assert "    2 | cat | 0.5*3 = 1.6" in done.out
    assert "w:t" not in done.out


def test_read(symattn, post):
    """What is understood, with the paragraphs that it stands in."""
    done = symattn("read", "post.docx")
    assert ["X", "2x2", "[[1, 0], [0, 1]]", "paragraph 1"] in done.table
    assert ["A = softmax(X @ W)", "paragraph 4"] in done.table
    found = json.loads(symattn("read", "post.docx", "--format", "json").out)
    assert found["given"]["X"]["paragraph"] == {"kind": "paragraph", "number": 1, "table": None}


def test_json(symattn, post):
    """Places have the paragraph or the row beside their line."""
    found = json.loads(symattn("audit", "post.docx", "--format", "json").out)
    wrong = [claim for claim in found["claims"] if claim["verdict"] == "refuted"]
    assert [claim["paragraph"] for claim in wrong] == [
        {"kind": "paragraph", "number": 4, "table": None},
        {"kind": "table", "number": 2, "table": 1},
    ]


def test_sarif(symattn, post):
    """A file that is no text has no lines to point at: its paragraphs are named."""
    log = json.loads(symattn("audit", "post.docx", "--format", "sarif").out)
    places = [
        result["locations"][0] for result in log["runs"][0]["results"] if result["level"] == "error"
    ]
    assert all("region" not in place["physicalLocation"] for place in places)
    assert [place["logicalLocations"][0]["fullyQualifiedName"] for place in places] == [
        "paragraph 4",
        "table 1, row 2",
    ]


def test_github(symattn, post):
    """An annotation names the paragraph."""
    done = symattn("audit", "post.docx", "--format", "github")
    assert "::error file=post.docx,line=1,title=root::paragraph 4: A[1, 1]" in done.out


def test_red_pen(symattn, post):
    """The page shows the text of the document."""
    done = symattn("audit", "post.docx", "--format", "html", "-o", "post.html")
    assert done.code == 1
    page = (post.parent / "post.html").read_text("utf-8")
    assert "cat | 0.5*3 = " in page


def test_fix(symattn, post):
    """Digits change where they stand, also where Word has cut a figure in two, and nothing
    else; then all is right."""
    old = post.read_bytes()
    shown = symattn("audit", "post.docx", "--diff")
    assert "-cat | 0.5*3 = 1.6\n+cat | 0.5*3 = 1.5\n" in shown.out
    assert post.read_bytes() == old
    done = symattn("audit", "post.docx", "--fix")
    assert "post.docx: paragraph 4: A[1, 1] 0.7211 -> 0.7311" in done.out
    assert "post.docx: table 1, row 2: 1.6 -> 1.5" in done.out
    with ZipFile(post) as file:
        document = file.read("word/document.xml").decode()
    expected = parts(BODY)["word/document.xml"]
    expected = expected.replace(">0.72<", ">0.73<").replace("= 1.6<", "= 1.5<")
    assert document == expected
    assert symattn("audit", "post.docx").code == 0


def test_fix_elsewhere(symattn, post):
    """``-o`` takes a document."""
    old = post.read_bytes()
    symattn("audit", "post.docx", "--fix", "-o", "new.docx")
    assert post.read_bytes() == old
    assert symattn("audit", "new.docx").code == 0


def test_notes_stand_in_the_side_file(symattn, post):
    """A document has no comments that are read: its side file says what is meant, by lines of
    its text, which the page shows."""
    (post.parent / "post.symattn.toml").write_text('document = "post.docx"\nignore = [4, 6]\n')
    assert "0 refuted" in symattn("audit", "post.docx").out


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("post.doc", b"", "save it as a Word document (.docx)"),
        ("old.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save it as a Word document (.docx)"),
        ("text.docx", b"# Post", "can't be read as a Word document (.docx): File is not a zip"),
        ("zip.docx", packed({"a": "b"}), "it has no [Content_Types].xml"),
    ],
)
def test_other_files(symattn, tmp_path, name, data, message):
    """One line, and no traceback."""
    (tmp_path / name).write_bytes(data)
    done = symattn("audit", name)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
