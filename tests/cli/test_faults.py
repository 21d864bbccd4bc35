"""Bad input: one message with every fault and its place, exit 2, nothing half-written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from symattn.limits import FAULTS_KEPT, FAULTS_PRINTED
from tests.folders import written

KEPT, PRINTED = FAULTS_KEPT.most, FAULTS_PRINTED.most

GOOD = "[given]\nX = [[1, 0], [0, 1]]\n[steps]\nA = 'softmax(X)'\n"

# A file's text and what its message must say.
FAULTS: dict[str, tuple[str, list[str]]] = {
    "broken TOML": ("[given\nX = 1", ["not valid TOML"]),
    "unknown key": (f"titel = 'x'\n{GOOD}", ["titel", "unknown key"]),
    "missing tables": ("title = 'x'", ["given: missing", "steps: missing"]),
    "ragged": ("[given]\nX = [[1, 2], [3]]\n[steps]\nA = 'X'", ["given.X[1]", "found 1"]),
    "shapes": (
        "[given]\nQ = [[1, 2]]\nK = [[1, 2]]\n[steps]\nS = 'Q @ K'",
        ["steps.S", "1x2 @ 1x2", "Q is 1x2", "K is 1x2"],
    ),
    "undefined name": (GOOD + "B = 'A @ C'", ["steps.B", "unknown name 'C'"]),
    "name twice": (GOOD + "X = 'A'", ["steps.X", "'X'"]),
    "nan": ("[given]\nX = [[nan]]\n[steps]\nA = 'X'", ["given.X[0][0]", "finite"]),
    "unknown function": (GOOD + "B = 'rely(A)'", ["steps.B", "unknown function 'rely'"]),
    "code": (GOOD + "B = '().__class__'", ["steps.B", "expected a value"]),
    "import": (GOOD + "B = '__import__(1)'", ["steps.B", "unknown function"]),
    "lambda": (GOOD + "B = 'lambda: 1'", ["steps.B"]),
    "power of ten": ("[given]\nX = '1e999999999'\n[steps]\nA = 'X'", ["given.X", "power of ten"]),
    "decimal power": ("[given]\nX = 1e999999999\n[steps]\nA = 'X'", ["given.X", "power of ten"]),
    "tower": ("[given]\nX = '9**9**9'\n[steps]\nA = 'X'", ["given.X", "is not an exact number"]),
    "million digits": (f"[given]\nX = '{'9' * 10**6}'\n[steps]\nA = 'X'", ["given.X"]),
    "million digit number": (f"[given]\nX = {'9' * 10**6}\n[steps]\nA = 'X'", [""]),
    "too large": (
        "[given]\nX = [" + ",".join(["[" + "1," * 300 + "]"] * 300) + "]\n[steps]\nA = 'X'",
        ["given.X", "beyond 65536 entries"],
    ),
    "masked whole": (
        "[given]\nX = [[1, 2]]\nP = [[0, 0]]\n[steps]\nA = 'softmax(mask(X, P))'",
        ["steps.A", "row 0 is masked whole"],
    ),
    "division by zero": ("[given]\nX = 0\n[steps]\nA = '1 / X'", ["steps.A", "division by zero"]),
    "negative root": ("[given]\nX = -1\n[steps]\nA = 'sqrt(X)'", ["steps.A", "negative"]),
    "extends itself": ("extends = 'case.toml'\n" + GOOD, ["extends"]),
    "claim's shape": (
        GOOD + "[[claims]]\nwhere = 'x'\nof = 'A'\nprinted = [1, 2]",
        ["claims[0].printed", "2x2"],
    ),
    "claim's name": (GOOD + "[[claims]]\nwhere = 'x'\nof = 'B'\nprinted = 1", ["claims[0].of"]),
    "two faults": (
        "[given]\nX = [[nan, 1], [2]]\n[steps]\nA = 'foo(1)'\nB = 'Z'",
        ["given.X[1]", "steps.A", "steps.B"],
    ),
}


# The line of a single fault in its file, also of what only solving finds; several
# faults have theirs beside them.
LINES = {
    **dict.fromkeys(("broken TOML", "unknown key", "extends itself"), 1),
    **dict.fromkeys(("ragged", "nan", "power of ten", "decimal power", "tower"), 2),
    **dict.fromkeys(("million digits", "million digit number", "too large"), 2),
    **dict.fromkeys(("shapes", "undefined name", "name twice", "unknown function"), 5),
    **dict.fromkeys(("code", "import", "lambda"), 5),
    "masked whole": 5,
    **dict.fromkeys(("division by zero", "negative root"), 4),
    "claim's name": 7,
    "claim's shape": 8,
}


@pytest.mark.sampled(15)
@pytest.mark.parametrize("label", FAULTS)
def test_bad_file(label: str, tmp_path: Path, symattn) -> None:
    """The message names the file and every fault's place; no sheet is begun."""
    text, said = FAULTS[label]
    (tmp_path / "case.toml").write_text(text, "utf-8")
    done = symattn("sheet", "case.toml", "--format", "tex", "-o", "out")
    assert (done.code, done.out) == (2, "")
    line = LINES.get(label)
    assert done.err.startswith(f"symattn: case.toml:{line}: " if line else "symattn: case.toml: ")
    assert len(done.err) < 3000
    for piece in said:
        assert piece in done.err
    assert not list(tmp_path.glob("out/*"))


def test_all_cases_are_checked_before_anything_is_written(tmp_path: Path, symattn) -> None:
    """One bad case among good ones leaves earlier files as they were."""
    (tmp_path / "bad.toml").write_text("[given]\n", "utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "cat-sat-mat.tex").write_text("mine", "utf-8")
    done = symattn("sheet", "cat-sat-mat", "bad.toml", "--format", "tex", "-o", "out")
    assert done.code == 2
    assert (tmp_path / "out" / "cat-sat-mat.tex").read_text("utf-8") == "mine"


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "no-such-case", "A"], "unknown case"),
        (["show", "cat-sat-mat", "A", "--at", "9,9"], "outside"),
        (["show", "cat-sat-mat", "A", "--at", "x"], "--at"),
        (["show", "cat-sat-mat", "A", "--places", "-1"], "places"),
        (["show", "cat-sat-mat", "A", "--places", "1000000000"], "places"),
        (["show", "cat-sat-mat", "A", "--rounding", "nearly"], "rounding"),
        (["show", "cat-sat-mat", "().__class__"], "expected a value"),
        (["show", "cat-sat-mat", "grad(d_j)"], "unknown name"),
        (["sheet", "cat-sat-mat", "-o", "/proc/nowhere"], "can't be written to"),
        (["derive", "softmax-jacobi"], "did you mean softmax-jacobian"),
        (["verify", "."], "unknown case"),
    ],
)
def test_bad_use(words: list[str], said: str, symattn) -> None:
    """Bad usage ends with exit 2 and one message."""
    done = symattn(*words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.heavy
def test_without_an_engine(without_tex, without_typst, tmp_path: Path, symattn) -> None:
    """Without TeX pages and LaTeX are written and fine; asking for PDF is an error."""
    done = symattn("sheet", "cat-sat-mat", "-o", "out")
    said = "1 sheet in out: HTML and LaTeX; open out/cat-sat-mat.html\n"
    assert (done.code, done.out) == (0, said)
    assert done.err.startswith("symattn: no PDF: no pdflatex was found; on Debian")
    assert "apt-get install" in done.err
    made = {path.name for path in written(tmp_path / "out")}
    assert made == {"cat-sat-mat.html", "cat-sat-mat.tex", "index.html"}
    explicit = symattn("sheet", "cat-sat-mat", "-o", "out", "--format", "pdf")
    assert (explicit.code, explicit.out) == (2, "1 sheet in out: LaTeX\n")
    assert explicit.err == done.err
    audited = symattn("audit", "cat-sat-mat", "-o", "red.pdf", "--format", "pdf")
    assert (audited.code, audited.out) == (2, "")
    assert audited.err.startswith("symattn: no pdflatex was found; on Debian")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("word", "loaded"), [("--version", []), ("--help", []), ("list", ["flint"])]
)
def test_quick_words_load_nothing_heavy(word: str, loaded: list[str]) -> None:
    """Asking for the version, for help or what cases there are imports neither SymPy nor
    NumPy; cases are read with exact numbers."""
    code = (
        "import sys\nfrom symattn.cli import main\n"
        f"sys.argv = ['symattn', {word!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'sympy', 'numpy', 'flint'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(loaded)


def test_a_sheet_loads_nothing_that_it_does_without() -> None:
    """Of a case file: neither SymPy, nor what reads articles, nor clusters of workers."""
    code = (
        "import sys, symattn.cli.cases, symattn\n"
        "symattn.sheet('cat-sat-mat')\n"
        "unused = {'sympy', 'asyncio', 'symattn.documents.binding.binder', 'symattn.calculus'}\n"
        "print(sorted(unused & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


GONE = "the file can't be read: no such file or directory"
NEITHER = (
    "no case file ending in .toml and no article (.md, .ipynb, .tex, .html, .docx, .pdf, .txt)"
)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("post.toml", "symattn: post.toml: the file can't be read: no such file or directory; "),
        ("folder.toml", "symattn: folder.toml: the file is a folder, not a case file; "),
        ("article.odf", f"symattn: unknown case 'article.odf': {NEITHER}; "),
        ("no/post", f"symattn: unknown case 'no/post': {NEITHER}; "),
        ("elephants", "symattn: unknown case 'elephants': expected the path of an article, of a "),
    ],
)
@pytest.mark.parametrize(
    "words", [["show", "", "A"], ["audit", ""], ["sheet", ""], ["draw", ""], ["verify", ""]]
)
def test_what_is_no_case(words, name: str, said: str, tmp_path: Path, symattn) -> None:
    """It is told how to make one."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "article.odf").write_text("# Attention\n", "utf-8")
    done = symattn(*[word or name for word in words])
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(said)
    assert done.err.endswith("'symattn new FILE.toml' writes one to start from\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("folder", "unknown case 'folder': a folder; name the articles in it"),
        ("post", "unknown case 'post': did you mean post.md?"),
        ("psot.md", f"psot.md: {GONE}; did you mean post.md?"),
        ("folder/psot.md", f"folder/psot.md: {GONE}; an article ends in one of .md, "),
    ],
)
def test_what_is_no_article(name: str, said: str, tmp_path: Path, symattn) -> None:
    """The one beside it that may have been meant is offered."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "post.md").write_text("# Attention\n", "utf-8")
    done = symattn("audit", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"symattn: {said}")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["audti", "cat-sat-mat"], "audit"),
        (["audit", "cat-sat-matt"], "cat-sat-mat"),
        (["show", "cat-sat-mat", "sofmax(A)"], "softmax"),
        (["show", "cat-sat-mat", "A", "--rounding", "half-eve"], "half-even"),
        (["derive", "softmax-jacobi"], "softmax-jacobian"),
    ],
)
def test_did_you_mean(words: list[str], meant: str, symattn) -> None:
    """Of commands, cases, functions, roundings and derivations the closest is offered."""
    done = symattn(*words)
    assert (done.code, done.out) == (2, "")
    assert f"did you mean {meant}?" in done.err


@pytest.mark.sampled(1)
@pytest.mark.parametrize("limits", [[], ["--max-seconds", "100"]])
def test_very_many_faults_of_several_cases(limits: list[str], tmp_path: Path, symattn) -> None:
    """They are counted together, also those that no process has kept or handed on."""
    for name, count in (("a", KEPT + 500), ("b", KEPT + 70)):
        text = "".join(f"key_{number} = 1\n" for number in range(count))
        (tmp_path / f"{name}.toml").write_text(f"{text}[given]\n[steps]\nA = '1'\n", "utf-8")
    done = symattn("verify", "a.toml", "b.toml", *limits)
    assert (done.code, done.out) == (2, "")
    first, *faults, last = done.err.splitlines()
    assert first == f"symattn: {2 * KEPT + 570} faults"
    assert [line.split(": ")[0] for line in faults] == [
        f"  a.toml:{line}" for line in range(1, PRINTED + 1)
    ]
    assert last == f"  and {2 * KEPT + 570 - PRINTED} more"
