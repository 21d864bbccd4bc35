"""``symattn exercise``: what it writes where, for which numbers, and how it ends."""

from __future__ import annotations

import io
import json
import re
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from zipfile import ZipFile

import pytest

from symattn.exercises.key import read_key
from symattn.exercises.stack import matrix
from tests.folders import written
from tests.scripts import unscripted

GIVEN = "[given]\nX = [[1, 2], [3, 4]]\n"
STEPS = "[steps]\nS = 'X @ X.T'\nA = 'softmax(S)'\n"


def files(folder):
    """The names of the exercises and their key in a folder, sorted."""
    return [path.name for path in written(folder) if path.name != "index.html"]


def test_a_question(tmp_path, symattn) -> None:
    """Without more words: the case as it is, as a page, and its key."""
    done = symattn("exercise", "cat-sat-mat")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("answer key: exercises/key.toml\n")
    assert files(tmp_path / "exercises") == ["cat-sat-mat.html", "key.toml"]
    page = (tmp_path / "exercises" / "cat-sat-mat.html").read_text("utf-8")
    assert page.count("______") >= 39
    (one,) = read_key(tmp_path / "exercises" / "key.toml")
    assert (one.version, one.points) == (0, 8)


def test_versions_with_solutions(tmp_path, symattn) -> None:
    """Each version has a question and a solution; the same again, byte for byte."""
    words = ["cat-sat-mat", "--versions", "2", "--seed", "7", "--solutions"]
    assert symattn("exercise", *words, "-o", "a").code == 0
    assert symattn("exercise", *words, "--output", "b").code == 0
    names = [f"cat-sat-mat-0{k}{x}.html" for k in (1, 2) for x in ("-solution", "")]
    assert files(tmp_path / "a") == [*names, "key.toml"]
    for name in (*names, "key.toml"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert len({(tmp_path / "a" / name).read_bytes() for name in names}) == 4
    assert [one.name for one in read_key(tmp_path / "a" / "key.toml")] == [
        "cat-sat-mat-01", "cat-sat-mat-02",
    ]  # fmt: skip


def test_another_seed(tmp_path, symattn) -> None:
    """Another seed gives other numbers."""
    for seed in ("1", "2"):
        symattn("exercise", "cat-sat-mat", "--versions", "1", "--seed", seed, "-o", seed)
    one, other = (read_key(tmp_path / seed / "key.toml")[0] for seed in ("1", "2"))
    assert one.case.given != other.case.given


@pytest.mark.parametrize(
    ("words", "quantities"),
    [
        (["--level", "forward"], {"S", "T", "A", "Y"}),
        (["--level", "masked"], {"S", "T", "M", "A", "Y"}),
        (["--level", "backward"], {"S", "dL/dT", "dL/dX"}),
        (["--level", "proof"], {"softmax-jacobian"}),
    ],
)
def test_levels(words, quantities, tmp_path, symattn) -> None:
    """--level chooses what is asked for."""
    assert symattn("exercise", "cat-sat-mat", *words).code == 0
    (one,) = read_key(tmp_path / "exercises" / "key.toml")
    assert quantities <= {part.quantity for part in one.parts}
    assert one.level == words[1]


def test_places_and_numbers(tmp_path, symattn) -> None:
    """--places are those of the answers, --largest bounds what is drawn, --ties permits them."""
    done = symattn("exercise", "cat-sat-mat", "--places", "2", "--largest", "1", "--ties",
                   "--versions", "3", "--jobs", "1")  # fmt: skip
    assert done.code == 0
    for one in read_key(tmp_path / "exercises" / "key.toml"):
        assert {part.places for part in one.parts} == {2}
        assert {abs(int(str(x))) for row in one.case.given["X"] for x in row} <= {0, 1}
    held = tomllib.loads((tmp_path / "exercises" / "key.toml").read_text())
    assert {len(str(x).partition(".")[2]) for x in held["versions"][0]["answers"]["A"][0]} <= {1, 2}


@pytest.mark.parametrize("form", ["html", "tex"])
def test_standard_output(form, symattn) -> None:
    """One question may go to standard output, in a form that is text, and nothing else."""
    words = {"html": ["--format", "html"], "tex": ["--format", "tex"]}[form]
    done = symattn("exercise", "cat-sat-mat", *words, "-o", "-", "--paper", "letter")
    assert (done.code, done.err) == (0, "")
    begins = {"html": "<!DOCTYPE html>\n", "tex": "% !TeX program = pdflatex\n"}[form]
    assert done.out.startswith(begins)
    assert "key" not in done.out[-200:]


def test_a_pdf(engine, tmp_path, symattn) -> None:
    """--format pdf writes LaTeX and PDF; an engine's complaint is told, with --strict by 1."""
    engine(r"Overfull \hbox (33.3pt too wide) in paragraph at lines 7--8")
    done = symattn("exercise", "cat-sat-mat", "--format", "pdf")
    assert done.code == 0
    assert files(tmp_path / "exercises") == ["cat-sat-mat.pdf", "cat-sat-mat.tex", "key.toml"]
    assert "Overfull" in done.err
    strict = symattn("exercise", "cat-sat-mat", "--format", "pdf", "--strict")
    assert (strict.code, strict.err) == (1, done.err)


def test_language_and_paper(tmp_path, symattn) -> None:
    """Its words are in the language, and the page of the size, that are asked for."""
    done = symattn("exercise", "cat-sat-mat", "--language", "de", "--paper", "letter",
                   "--format", "tex")  # fmt: skip
    assert done.code == 0
    tex = (tmp_path / "exercises" / "cat-sat-mat.tex").read_text("utf-8")
    assert "paper=letter" in tex
    done = symattn("exercise", "cat-sat-mat", "--paper", "a4", "--format", "tex", "-o", "-")
    assert "paper=a4" in done.out
    assert symattn("exercise", "cat-sat-mat", "--language", "xx").code == 2


def test_what_the_file_says(tmp_path, symattn) -> None:
    """[exercise] and [sheet] of the file hold, and flags count for more."""
    table = "[exercise]\ntitle = 'Sheet 3'\nask = ['A']\nplaces = 3\n[sheet]\npaper = 'letter'\n"
    (tmp_path / "two.toml").write_text(GIVEN + STEPS + table)
    assert symattn("exercise", "two.toml", "--format", "tex").code == 0
    tex = (tmp_path / "exercises" / "two.tex").read_text("utf-8")
    assert "Sheet 3" in tex
    assert "paper=letter" in tex
    (one,) = read_key(tmp_path / "exercises" / "key.toml")
    assert [(part.quantity, part.places) for part in one.parts] == [("A", 3)]


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(17) + b"\x00\x00\x00\x00IEND\xaeB`\x82"


def test_interactive(tmp_path, symattn) -> None:
    """Pages get fields that check themselves; other forms and proofs are refused."""
    words = ["exercise", "cat-sat-mat", "--interactive"]
    assert symattn(*words, "--versions", "2", "--solutions").code == 0
    pages = {path.stem: path.read_text("utf-8") for path in (tmp_path / "exercises").glob("*.html")}
    checking = {name for name, page in pages.items() if 'id="data"' in page}
    assert checking == {"cat-sat-mat-01", "cat-sat-mat-02"}
    for page in pages.values():
        assert "<script" not in unscripted(page)
    for form in ("tex", "md", "moodle"):
        result = symattn(*words, "--format", form)
        assert (result.code, "--interactive is for web pages" in result.err) == (2, True)
    result = symattn(*words, "--level", "proof")
    assert (result.code, "a proof has no figures to check" in result.err) == (2, True)


def test_letterhead(engine, tmp_path, symattn) -> None:
    """Lines of a text or a file, and an image, stand above; on a page nothing in it runs."""
    engine()
    (tmp_path / "course.txt").write_text("Deep <b>Learning</b>\n\nSheet 3\n")
    (tmp_path / "crest.svg").write_bytes(SVG)
    (tmp_path / "crest.png").write_bytes(PNG)
    words = ["cat-sat-mat", "--header", "course.txt", "--logo", "crest.svg"]
    assert symattn("exercise", *words).code == 0
    page = (tmp_path / "exercises" / "cat-sat-mat.html").read_text("utf-8")
    assert page.count('<img class="logo" alt="" src="data:image/svg+xml;base64,') == 1
    assert "<script" not in unscripted(page)
    assert page.index("<p>Deep &lt;b&gt;Learning&lt;/b&gt;</p>") < page.index("<p>Sheet 3</p>")
    words = ["cat-sat-mat", "--header", "Sheet 3, 50%", "--logo", "crest.png"]
    assert symattn("exercise", *words, "--format", "pdf", "-o", "b").code == 0
    tex = (tmp_path / "b" / "cat-sat-mat.tex").read_text("utf-8")
    assert "{symattn-logo.png}" in tex
    assert r"Sheet 3, 50\%" in tex
    assert (tmp_path / "b" / "symattn-logo.png").read_bytes() == PNG


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--header", "none.txt"], "none.txt: the header can't be read"),
        (["--header", "x" * 201], "a header has at most 6 lines of 200 letters"),
        (["--logo", "crest.svg", "--format", "tex"], "a logo for tex is png or pdf, found svg"),
        (["--logo", "crest.pdf"], "a logo for html is png or svg, found pdf"),
        (["--logo", "crest.svg", "--format", "docx"], "a logo for docx is png, found svg"),
        (["--logo", "crest.png", "--format", "md"], "tex, pdf, docx, not for md"),
        (["--logo", "none.png"], "none.png: the logo can't be read"),
        (["--logo", "text.png"], "the file's content is not PNG"),
        (["--logo", "entities.svg"], "the file's content is not SVG"),
        (["--logo", "page.svg"], "the file's content is not SVG"),
        (["--logo", "large.png"], "at most 500000 are allowed"),
        (["--logo", "."], "found nothing"),
        (
            ["--header", "Sheet 3", "--format", "moodle"],
            "--header and --logo are not for questions of learning platforms",
        ),
    ],
)
def test_letterheads_that_are_none(words, said, tmp_path, symattn) -> None:
    """What is no header or no image is refused, and nothing is written."""
    (tmp_path / "text.png").write_text("no image")
    (tmp_path / "page.svg").write_text("<html><svg></svg></html>")
    declared = '<!DOCTYPE svg [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>'
    (tmp_path / "entities.svg").write_text(f"{declared}<svg>&b;</svg>")
    (tmp_path / "large.png").write_bytes(PNG + bytes(500_000))
    done = symattn("exercise", "cat-sat-mat", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not (tmp_path / "exercises").exists()


def questions(path):
    """The questions of a file for Moodle, but for the category."""
    return ET.parse(path).getroot().findall("question")[1:]


def test_questions_for_moodle(tmp_path, symattn) -> None:
    """All versions are in one file, beside the key; --solutions puts the working behind the
    right answers, and --language says both."""
    words = ["cat-sat-mat", "--versions", "2", "--seed", "7", "--format", "moodle"]
    done = symattn("exercise", *words)
    assert (done.code, done.err) == (0, "")
    path = "exercises/cat-sat-mat-moodle.xml"
    assert done.out == (
        f"2 versions for Moodle's question bank: {path}\nanswer key: exercises/key.toml\n"
        "the same in all versions: d_k\n"
    )
    assert files(tmp_path / "exercises") == ["cat-sat-mat-moodle.xml", "key.toml"]
    plain = questions(tmp_path / path)
    assert [one.get("type") for one in plain] == ["cloze", "cloze"]
    assert symattn("exercise", *words, "--solutions", "--language", "de").code == 0
    worked = questions(tmp_path / path)
    for one, other in zip(plain, worked, strict=True):
        texts = [x.findtext("generalfeedback/text", "") for x in (one, other)]
        assert len(texts[1]) > 2 * len(texts[0])
        assert r"\begin{aligned}" in texts[1]
        assert "<h5>Gegeben</h5>" in other.findtext("questiontext/text", "")


def test_packages_of_qti(tmp_path, symattn) -> None:
    """Each dialect has a file with all versions, beside the key; made again, it has the same
    bytes. Standard output takes one document."""
    words = ["exercise", "cat-sat-mat", "--versions", "2", "--seed", "7", "--format", "qti"]
    done = symattn(*words)
    assert (done.code, done.err) == (0, "")
    names = [f"cat-sat-mat-{dialect}.zip" for dialect in ("qti3", "qti21", "canvas")]
    assert done.out == (
        "".join(f"2 versions for learning platforms: exercises/{name}\n" for name in names)
        + "answer key: exercises/key.toml\nthe same in all versions: d_k\n"
    )
    assert files(tmp_path / "exercises") == sorted([*names, "key.toml"])
    assert symattn(*words, "-o", "again").code == 0
    for name in names:
        made = (tmp_path / "exercises" / name).read_bytes()
        assert made == (tmp_path / "again" / name).read_bytes()
        assert ZipFile(io.BytesIO(made)).testzip() is None
    assert "-o - takes a single document" in symattn(*words, "-o", "-").err


def test_a_stack_question(tmp_path, symattn) -> None:
    """The versions are the variants of one question, and its code has their numbers."""
    done = symattn("exercise", "cat-sat-mat", "--versions", "3", "--format", "stack", "-o", "a")
    assert (done.code, done.err) == (0, "")
    (one,) = questions(tmp_path / "a" / "cat-sat-mat-stack.xml")
    assert one.get("type") == "stack"
    assert [seed.text for seed in one.findall("deployedseed")] == ["1", "2", "3"]
    code = one.findtext("questionvariables/text", "")
    for version in read_key(tmp_path / "a" / "key.toml"):
        assert matrix(version.case.given["X"]) in code


def test_proofs_are_essays(tmp_path, symattn) -> None:
    """Who marks them sees the derivations; STACK has no questions of that kind."""
    words = ["exercise", "cat-sat-mat", "--level", "proof", "--format"]
    assert symattn(*words, "moodle").code == 0
    (one,) = questions(tmp_path / "exercises" / "cat-sat-mat-moodle.xml")
    assert one.get("type") == "essay"
    asked, working = (one.findtext(f"{x}/text", "") for x in ("questiontext", "graderinfo"))
    assert len(working) > 2 * len(asked) > 0
    done = symattn(*words, "stack")
    assert done.code == 2
    assert "a proof has no figures" in done.err


def test_questions_to_standard_output(symattn) -> None:
    """-o - prints the file, however many versions there are, and no key."""
    done = symattn("exercise", "cat-sat-mat", "--versions", "2", "--format", "moodle", "-o", "-")
    assert done.code == 0
    assert len(ET.fromstring(done.out.encode()).findall("question")) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["length-4-causal", "--level", "backward"], "give numbers in [loss] upstream"),
        (["cat-sat-mat", "--level", "proof", "--versions", "2"], "no numbers to draw"),
        (["nowhere"], "nowhere"),
        (["cat-sat-mat", "--versions", "2", "-o", "-"], "-o - takes a single document"),
        (["cat-sat-mat", "--solutions", "-o", "-"], "-o - takes a single document"),
        (["cat-sat-mat", "--versions", "0"], "range 1<=x<=999"),
        (["cat-sat-mat", "--level", "hard"], "'hard' is not one of"),
    ],
)
def test_bad_use(words, said, tmp_path, symattn) -> None:
    """What can't be done is told in a message, and nothing is written."""
    done = symattn("exercise", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not (tmp_path / "exercises").exists()


def test_a_search_ends_where_one_criterion_is_never_met(tmp_path, symattn, monkeypatch) -> None:
    """No more is drawn then, and it is told among how many draws."""
    monkeypatch.setattr("symattn.exercises.variants._IN_VAIN", 512)
    (tmp_path / "two.toml").write_text(GIVEN + "[steps]\nS = 'X @ X.T * 1000'\n")
    done = symattn("exercise", "two.toml", "--versions", "1")
    assert done.code == 2
    (drawn,) = re.findall(r"found 0 of 1 versions in (\d+) draws", done.err)
    assert 512 <= int(drawn) < 10_000
    monkeypatch.setattr("symattn.exercises.variants._IN_VAIN", 100_000)
    assert symattn("exercise", "cat-sat-mat", "--versions", "1").code == 0


@pytest.mark.parametrize("command", ["sheet", "exercise", "draw", "audit", "mark"])
def test_faults_of_a_language_file_are_told_there(command, tmp_path, symattn) -> None:
    """With its name and line, not as faults of the walkthrough; nothing is written."""
    (tmp_path / "mine.toml").write_text('"a" = "b"\n"rows {first} to {last}" = "Zeilen {first}"\n')
    words = [command, "cat-sat-mat", "--language", "mine.toml"]
    done = symattn(*words, *(["--format", "html"] if command == "audit" else []))
    assert (done.code, done.out) == (2, "")
    said = "rows {first} to {last}: expected {first}, {last}, found {first}"
    assert done.err == f"symattn: mine.toml:2: {said}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


def test_a_search_in_vain(tmp_path, symattn, monkeypatch) -> None:
    """Where too few versions are found, it is told why and what helps."""
    monkeypatch.setattr("symattn.exercises.variants._CANDIDATES", 512)
    (tmp_path / "two.toml").write_text(GIVEN + "[steps]\nS = 'X @ X.T * 1000'\n")
    done = symattn("exercise", "two.toml", "--versions", "5")
    assert done.code == 2
    assert "found 0 of 5 versions in 512 draws" in done.err
    assert "an answer is too large: draw smaller numbers (--largest 1)" in done.err


def test_what_rows_are_counted_from(symattn):
    """The pages, the key, the table to fill in and the marks count alike, from 1 if it is said."""
    symattn("exercise", "cat-sat-mat", "--solutions", "--count-from", "1", "--format", "tex")
    solution = Path("exercises/cat-sat-mat-solution.tex").read_text("utf-8")
    assert "S_{3,3}" in solution
    assert "S_{0," not in solution
    begun = symattn("mark", "answers.csv", "--key", "exercises/key.toml", "--begin")
    assert begun.code == 0
    assert Path("answers.csv").read_text("utf-8").startswith('student,version,"S[1, 1]","S[1, 2]"')
    table = "student,quantity,row,column,answer\nAda,S,1,1,2\nAda,S,3,3,7\nAda,S,0,1,2\n"
    Path("long.csv").write_text(table, "utf-8")
    ended = symattn("mark", "long.csv", "--key", "exercises/key.toml", "--format", "json")
    assert ended.code == 2
    assert "S is 3x3: expected a row from 1 to 3, found 0" in ended.err
    (ada,) = json.loads(ended.out)["students"]
    outcomes = {x["of"]: x["outcome"] for x in ada["answers"] if x["answer"]}
    assert outcomes == {"S[1, 1]": "right", "S[3, 3]": "wrong"}
