"""``symattn derive``: the bundled derivations, and a reader's own."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from symattn.calculus import library
from symattn.calculus.library import THEORY
from symattn.cli import cases
from symattn.limits import BYTES
from symattn.workers import WorkLimits
from tests.folders import written

NAMES = list(THEORY)
TRUE = "diff(A[i], S[k]) == A[i] * (delta(i, k) - A[k])"
FALSE = "diff(A[i], S[k]) == A[i] * (delta(i, k) + A[k])"
#: It holds for all numbers, but is not brought to a normal form.
OPEN = "relu(t - 1) + relu(1 - t) == sqrt((t - 1)**2)"
UNREAD = "A[i] == B[i]"
HOMEWORK = """\
title = "Softmax"
statement = "The `A[i]` are weights."
sizes = ["n"]

[shapes]
S = ["n"]
t = []

[define]
A = "softmax(S)"
"""


@pytest.fixture
def homework(tmp_path):
    """Writes a derivation with these lines into ``homework.toml``."""

    def write(*lines: str, more: str = "") -> str:
        tables = [f'[[lines]]\nline = "{line}"\nbecause = "It is `t`."\n' for line in lines]
        (tmp_path / "homework.toml").write_text(HOMEWORK + more + "\n".join(["", *tables]), "utf-8")
        return "homework.toml"

    return write


# -- a reader's own -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "statuses", "code"),
    [
        ([TRUE], ["proved"], 0),
        ([TRUE, FALSE], ["proved", "refuted"], 1),
        ([OPEN], ["checked"], 1),
        ([UNREAD, TRUE], ["undecided", "proved"], 1),
    ],
)
def test_every_line_has_a_status(lines, statuses, code, homework, symattn) -> None:
    """Each line is judged by itself; the exit code is 0 only if all are proved."""
    done = symattn("derive", homework(*lines), "--format", "json")
    assert (done.code, done.err) == (code, "")
    found = json.loads(done.out)
    assert [line["line"] for line in found["lines"]] == lines
    assert [line["status"] for line in found["lines"]] == statuses
    assert found["proved"] == (code == 0)
    for line in found["lines"]:
        assert (line["counterexample"] is not None) == (line["status"] == "refuted")


def test_what_is_told_of_lines(homework, symattn) -> None:
    """Refuted by which numbers, and what would hold; what is not known; what is missing."""
    done = symattn("derive", homework(TRUE, FALSE, UNREAD, OPEN))
    assert (done.code, done.err) == (1, "")
    head, *_ = done.out.split("\n\n")
    assert head == "Softmax\n  The A_i are weights."
    assert "    1. ∂A_i/∂S_k = A_i (δ_ik − A_k)\n       It is t.\n" in done.out
    assert "    2. ∂A_i/∂S_k = A_i (δ_ik + A_k)  REFUTED (line 16)\n" in done.out
    assert "is not" in done.out
    words = " ".join(done.out.split())
    assert f"it would hold with '-' for '+': {TRUE}" in words
    assert (
        "UNDECIDED (line 20) It is t. unknown name 'B'; give it a shape, [] for a number" in words
    )
    assert "CHECKED" in words
    assert "Checked: 4 lines: 1 proved, 1 checked, 1 refuted, 1 undecided" in done.out


def test_faults_of_a_file(homework, symattn) -> None:
    """What can't be read at all is told at once, each fault with its line, and nothing else."""
    more = 'B = "softmax(T)"\n[losses]\nL = "Y"\n'
    done = symattn("derive", homework(TRUE, more=more), "--format", "json")
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [
        "symattn: homework.toml: 2 faults",
        "  homework.toml:11: define.B: unknown name 'T'; give it a shape, [] for a number",
        "  homework.toml:13: losses.L: 'Y' is neither given nor defined",
    ]


BY_HAND = f"""\
S: n
A = softmax(S)
{TRUE.replace("==", "=")}
{FALSE.replace("==", "=")}
"""


def test_words_of_a_text(tmp_path, symattn) -> None:
    """What was taken for words is counted always, and listed on request; in JSON too."""
    (tmp_path / "homework.txt").write_text(f"Softmax.\n{BY_HAND}# a remark = none\n", "utf-8")
    plain = symattn("derive", "homework.txt").out
    assert "Checked: 2 lines: 1 proved, 1 refuted; 2 lines of words, not judged" in plain
    assert "Words" not in plain
    told = symattn("derive", "homework.txt", "--words").out
    assert "Words\n  line 1: Softmax.\n  line 6: a remark = none\n" in told
    found = json.loads(symattn("derive", "homework.txt", "--format", "json").out)
    assert found["words"][0] == {"at": 1, "text": "Softmax."}


@pytest.mark.parametrize(
    "line", ["rowsum(A) ≈ 7", "S is 7", "(S = 7", "twice S = S", "+ 5", "S <= S", "- S = -S"]
)
def test_what_is_no_line_of_a_text(line, tmp_path, symattn) -> None:
    """Is a fault, told with its line: 2 is the exit code, and nothing is judged."""
    (tmp_path / "homework.txt").write_text(f"S: n\n\n{line}\n\nS = S\n", "utf-8")
    done = symattn("derive", "homework.txt")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("symattn: homework.txt:3: ")


@pytest.mark.parametrize("name", ["homework.txt", "homework.md", "-"])
def test_a_text_as_it_is_written_by_hand(name, tmp_path, symattn, monkeypatch) -> None:
    """In a file or at standard input it is judged as a TOML file is, with the lines of the text."""
    (tmp_path / "homework").with_suffix(Path(name).suffix).write_text(BY_HAND, "utf-8")
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(BY_HAND.encode())))
    done = symattn("derive", name, "--format", "json")
    assert (done.code, done.err) == (1, "")
    found = json.loads(done.out)
    assert [(one["status"], one["at"]) for one in found["lines"]] == [("proved", 3), ("refuted", 4)]
    assert found["name"] == ("text" if name == "-" else "homework")


def test_a_text_is_not_replaced(tmp_path, symattn) -> None:
    """What is written out has another name, or another folder."""
    path = tmp_path / "homework.txt"
    path.write_text(BY_HAND, "utf-8")
    done = symattn("derive", "homework.txt", "--format", "text", "-o", ".")
    assert (done.code, done.out) == (2, "")
    why = "is an input and would be overwritten: choose another -o, or omit it"
    assert done.err == f"symattn: homework.txt {why}\n"
    assert path.read_text("utf-8") == BY_HAND
    done = symattn("derive", "homework.txt", "--format", "tex", "-o", ".")
    assert (done.code, done.err) == (1, "")
    assert "symattn derive homework.txt" in (tmp_path / "homework.tex").read_text("utf-8")


def test_too_long_at_standard_input(symattn, monkeypatch) -> None:
    """As long as a file may be, no longer."""
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"x" * (BYTES.most + 2))))
    done = symattn("derive", "-")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("symattn: standard input has ")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("softmax-jacobain", "did you mean softmax-jacobian?"),
        ("nothing", "expected the path of a file or one of softmax-jacobian, "),
        ("missing.toml", "the file can't be read: no such file or directory"),
    ],
)
def test_names_that_are_none(name, said, symattn) -> None:
    """A name close to one is told; a path that leads nowhere says so."""
    done = symattn("derive", name)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_limits(homework, monkeypatch, symattn) -> None:
    """Work beyond a limit of time ends with one line, and exit code 2; memory has its limit too."""
    done = symattn("derive", homework(TRUE), "--max-seconds", "0.05")
    assert (done.code, done.out) == (2, "")
    assert done.err == "symattn: homework.toml: stopped after 0.05 seconds (--max-seconds)\n"
    paces = []

    def of_each(_, pace, *rest):
        paces.append(pace.limits)
        return cases.Results([], [])

    monkeypatch.setattr(cases, "of_each", of_each)
    symattn("derive", homework(TRUE), "--max-memory", "123")
    assert paces == [WorkLimits(0, 123)]


def test_text_is_harmless(homework, symattn) -> None:
    """What a file says steers no terminal."""
    path = homework(TRUE, more="")
    more = '[[lines]]\nline = "t == t"\nbecause = "\\u001b[31mred\\u202e"\n'
    Path(path).write_text(Path(path).read_text("utf-8") + more, "utf-8")
    done = symattn("derive", path)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


# -- exit codes and pages -------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json", "tex"])
def test_what_is_not_proved_is_written_all_the_same(form, homework, tmp_path, symattn) -> None:
    """A line that is not proved is exit code 1 in every format."""
    done = symattn("derive", homework(TRUE, FALSE), "--format", form, "-o", "out")
    assert (done.code, done.err) == (1, "")
    (path,) = written(tmp_path / "out")
    assert "refuted" in path.read_text("utf-8").lower()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("log", "words", "code"),
    [
        (r"Overfull \hbox (20.0pt too wide) in paragraph at lines 1--2", [], 0),
        (r"Overfull \hbox (20.0pt too wide) in paragraph at lines 1--2", ["--strict"], 1),
        ("Missing character: There is no x in font y", ["--strict"], 1),
        ("", ["--strict"], 0),
    ],
)
def test_strict(log, words, code, engine, symattn) -> None:
    """What the engine complains of is exit code 1 with --strict."""
    engine(log)
    done = symattn("derive", "softmax-jacobian", "--format", "pdf", *words)
    assert (done.code, done.out) == (code, "1 sheet in derivations-out: LaTeX and PDF\n")
    assert done.err.startswith("symattn: derivations-out/softmax-jacobian.pdf: ") == bool(log)


def test_a_failing_engine_counts_for_more(homework, engine, symattn) -> None:
    """An engine that fails is exit code 2, even where a derivation isn't proved."""
    engine("! Emergency stop.", code=1)
    done = symattn("derive", homework(FALSE), "--format", "pdf", "--strict")
    assert (done.code, done.out) == (2, "1 sheet in derivations-out: LaTeX\n")
    assert "Emergency stop." in done.err


# -- the bundled ones -----------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch):
    """Some of the bundled derivations, for all of them; that each is proved has a test."""
    names = NAMES[:4]
    monkeypatch.setattr(library, "names", lambda: tuple(names))
    return names


@pytest.mark.heavy
def test_list(symattn, few) -> None:
    """Every derivation with its statement and how its lines fared."""
    done = symattn("derive")
    assert done.code == 0
    assert done.table[0] == ["name", "statement", "checked"]
    assert [row[0] for row in done.table if row and row[0] in NAMES] == few
    for name in few:
        (row,) = (row for row in done.table if row and row[0] == name)
        assert row[-1] == THEORY[name].summary()
    # The first column stands at the left edge.
    assert all(f"\n{name} " in done.out for name in few)


@pytest.mark.heavy
def test_colours_of_the_list(terminal, symattn, few) -> None:
    """On a terminal names have a colour and are whole; what is checked is green."""
    out = symattn("derive").out
    assert out.startswith("\x1b[1mname")
    assert "\x1b[36msoftmax-backward" in out
    assert "\x1b[32m" in out
    assert "\x1b[31m" not in out


def test_text(symattn) -> None:
    """The derivations named, in their order, one blank line after each."""
    names = ["softmax-backward", "softmax-jacobian"]
    for words in ([], ["--format", "text"]):
        done = symattn("derive", *names, *words)
        assert (done.code, done.err) == (0, "")
        assert done.out == "".join(f"{THEORY[name].to_text()}\n\n" for name in names)
    assert "J = diag(A) − A Aᵀ" in done.out


@pytest.mark.heavy
def test_json(symattn) -> None:
    """One derivation as it is, several as a list."""
    done = symattn("derive", "masking", "pair-form", "--format", "json")
    assert done.code == 0
    shown = json.loads(done.out)
    assert shown == [THEORY[name].to_dict() for name in ("masking", "pair-form")]
    assert set(shown[0]) == {
        *("name", "title", "statement", "source", "hypotheses", "conclusions", "proved"),
        *("faults", "words", "lines", "along", "unused"),
    }
    assert {"line", "status", "counterexample", "where"} <= set(shown[0]["lines"][0])
    (one, other) = (symattn("derive", name, "--format", "json").out for name in ("masking",) * 2)
    assert json.loads(one) == shown[0]
    assert one == other


@pytest.mark.heavy
def test_every_derivation_without_a_name(symattn) -> None:
    """Without a NAME, where data are asked for, all derivations are written out."""
    done = symattn("derive", "--format", "json")
    assert done.code == 0
    assert [item["name"] for item in json.loads(done.out)] == NAMES


@pytest.mark.heavy
def test_a_file_of_every_derivation(tmp_path, symattn) -> None:
    """Without a NAME, where files are asked for, all derivations are written out."""
    done = symattn("derive", "--format", "text", "-o", "out")
    assert (done.code, done.out) == (0, "")
    files = {path.name: path.read_text("utf-8") for path in written(tmp_path / "out")}
    assert files == {f"{name}.txt": THEORY[name].to_text() + "\n" for name in NAMES}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("option", ["-o", "--output"])
def test_json_in_a_folder(option, tmp_path, symattn) -> None:
    """JSON goes into one file of the folder, which is made."""
    printed = symattn("derive", "masking", "--format", "json").out
    done = symattn("derive", "masking", "--format", "json", option, "a/b")
    assert (done.code, done.out) == (0, "")
    (path,) = written(tmp_path / "a" / "b")
    assert path.name == "derivations.json"
    assert path.read_text("utf-8") == printed


@pytest.mark.heavy
def test_html(tmp_path, symattn) -> None:
    """Pages for the browser, in ``derivations-out`` unless another folder is given."""
    names = ["masking", "pair-form"]
    done = symattn("derive", *names, "--format", "html")
    said = "2 sheets in derivations-out: HTML; open derivations-out/index.html\n"
    assert (done.code, done.out) == (0, said)
    made = {path.name: path.read_text("utf-8") for path in written(tmp_path / "derivations-out")}
    assert set(made) == {f"{n}.html" for n in [*names, "index"]}
    assert all(page.startswith("<!DOCTYPE html>\n") for page in made.values())


def test_a_folder(engine, tmp_path, symattn) -> None:
    """With a folder and no format there are pages, LaTeX and PDFs, as of sheets."""
    engine()
    done = symattn("derive", "masking", "-o", "out")
    assert (done.code, done.err) == (0, "")
    assert done.out == "1 sheet in out: HTML, LaTeX and PDF; open out/masking.html\n"
    assert {path.name for path in written(tmp_path / "out")} == {
        "index.html", "masking.html", "masking.tex", "masking.pdf",
    }  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("words", "folder"), [([], "derivations-out"), (["--output", "a/b"], "a/b")]
)
def test_pages(words, folder, engine, tmp_path, symattn) -> None:
    """LaTeX alone, or LaTeX and PDF, in ``derivations-out`` unless another folder is given."""
    engine()
    names = ["masking", "pair-form"]
    done = symattn("derive", *names, "--format", "tex", *words)
    assert (done.code, done.out) == (0, f"2 sheets in {folder}: LaTeX\n")
    assert {path.name for path in written(tmp_path / folder)} == {f"{n}.tex" for n in names}
    done = symattn("derive", *names, "--format", "pdf", *words)
    assert (done.code, done.out) == (0, f"2 sheets in {folder}: LaTeX and PDF\n")
    for name in names:
        assert (tmp_path / folder / f"{name}.pdf").read_bytes() == b"%PDF-1.5\n%%EOF\n"
        tex = (tmp_path / folder / f"{name}.tex").read_text("utf-8")
        assert tex.count("\\begin{document}") == 1


def test_standard_input_that_is_closed(symattn, monkeypatch) -> None:
    """It is told, with what to do."""
    monkeypatch.setattr(sys, "stdin", None)
    done = symattn("derive", "-")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("symattn: standard input is closed: pipe a derivation into it")


# -- from a walkthrough ----------------------------------------------------------------------------


@pytest.mark.heavy
def test_the_gradients_of_a_case_are_lines(symattn) -> None:
    """They are proved for any size; as text they can be judged again, and are."""
    done = symattn("derive", "--from", "cat-sat-mat")
    assert (done.code, done.err) == (0, "")
    assert "X (n × d)" in done.out
    assert "dT = A ∘ (dA − rowsum(A ∘ dA))" in done.out
    assert "Checked: 8 lines: 8 proved" in done.out
    written = symattn("derive", "--from", "cat-sat-mat", "--text")
    assert (written.code, written.err) == (0, "")
    assert "dV = A.T @ dY     # V is used in Y" in written.out
    Path("edited.txt").write_text(written.out.replace("dS = dT / sqrt", "dS = dT * sqrt"), "utf-8")
    again = symattn("derive", "edited.txt", "--format", "json")
    statuses = {line["line"]: line["status"] for line in json.loads(again.out)["lines"]}
    assert again.code == 1
    assert [line for line, status in statuses.items() if status != "proved"] == [
        "dS == dT * sqrt(d_k)"
    ]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("softmax-jacobian", "--from", "cat-sat-mat"), "a NAME and --from don't go together"),
        (("softmax-jacobian", "--text"), "--text goes with --from"),
        (("--from", "cat-sat-mat", "--text", "--format", "json"), "--text goes with --from"),
        (("--from", "cat-sat-mt"), "unknown case 'cat-sat-mt': did you mean cat-sat-mat?"),
    ],
)
def test_what_does_not_go_together_with_from(arguments, why, symattn) -> None:
    done = symattn("derive", *arguments)
    assert (done.code, done.out) == (2, "")
    assert why in " ".join(done.err.split())


def test_a_certificate_is_written_and_replayed(symattn, tmp_path) -> None:
    """It proves the derivation that it was made of, and no other."""
    text = "# Weights\nS: n x m\nA = softmax(S)\nrowsum(A) = ones(n)\n"
    (tmp_path / "weights.txt").write_text(text)
    assert symattn("derive", "weights.txt", "--format", "certificate", "-o", "out").code == 0
    name = "out/weights.certificate.json"
    done = symattn("derive", "weights.txt", "--replay", name)
    assert (done.code, done.out.splitlines()[-1]) == (0, "Replayed: 1 of 1 line proved")
    (tmp_path / "weights.txt").write_text(text.replace("rowsum", "colsum").replace("(n)", "(m)"))
    done = symattn("derive", "weights.txt", "--replay", name)
    assert (done.code, done.out) == (2, "")
    assert "certificate" in done.err
    for held in ("{", "[1]", '{"format": 3}'):
        (tmp_path / "no.json").write_text(held)
        done = symattn("derive", "weights.txt", "--replay", "no.json")
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("symattn: no.json: ")
