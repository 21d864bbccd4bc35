"""The commands and snippets of the README and of docs/ do what they show."""

from __future__ import annotations

import doctest
import itertools
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import symattn
from symattn.auditing import reports
from symattn.auditing.figures import CauseKind
from symattn.cases import library
from symattn.cases.settings import settings
from symattn.documents.binding import confidence, discovery, evidence
from symattn.exercises.exercise import exercise
from symattn.exercises.key import key as key_of
from symattn.exercises.marking.collecting import DEFAULT, OUTCOMES
from symattn.programs.functions import FUNCTIONS
from tests.folders import written

from .auditing import articles

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
DOCS = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
PAGES = "\n".join([README, *DOCS.values()])


def blocks(kind: str) -> list[str]:
    """The different fenced blocks of a kind."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", PAGES, re.M | re.S)
    return [*dict.fromkeys(text for of, text in fenced if of == kind)]


def block(kind: str, start: str) -> str:
    """The fenced block of a kind that begins so."""
    (found,) = (text for text in blocks(kind) if text.startswith(start))
    return found


def commands(kind: str, start: str, comment: str) -> list[str]:
    """The commands of a block, without the comments behind them."""
    return [line.split(comment)[0].strip() for line in block(kind, start).splitlines()]


COMMANDS = commands("sh", "symattn list", "#")


@pytest.mark.heavy
@pytest.mark.parametrize("session", blocks("python"), ids=itertools.count())
def test_python_sessions(session: str) -> None:
    """Every Python session gives what it shows."""
    test = doctest.DocTestParser().get_doctest(session, {}, "session", None, 0)
    results = doctest.DocTestRunner().run(test)
    assert results.attempted >= 7
    assert results.failed == 0


def test_front_page_is_short() -> None:
    """The README is a front page; what is longer is a page of docs/."""
    assert len(README.splitlines()) <= 150


def test_links_lead_somewhere() -> None:
    """Every file that a page links to is there."""
    for folder, text in [(ROOT, README), *((ROOT / "docs", text) for text in DOCS.values())]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text):
            assert (folder / target).exists(), target


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """What a command gives in a folder, on a terminal of 100 letters."""
    return subprocess.run(
        [sys.executable, "-m", "symattn", *words[1:]],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


#: What each command says, among other things, by its name and its first argument.
SAID = {
    "list": "please-study-man +Three words in two dimensions",
    "sheet cat-sat-mat": "1 sheet in sheets: (LaTeX|HTML)",
    "sheet please-study-man": "1 sheet in sheets: LaTeX",
    "draw length-4-causal": "1 drawing in drawings: SVG",
    "exercise cat-sat-mat": "(20 sheets in exercises: HTML|10 versions for Moodle)",
    "show cat-sat-mat": r"sqrt\(e\)/\(2 \+ sqrt\(e\)\)[\s\S]* 0\.4518627619\b",
    "show length-4-causal": r"dL/dQ\[3, 0\].*\*g1 .*\*g2 .*\*g3 .*\*g4",
    "verify cat-sat-mat": "cat-sat-mat  holds  87 of 87",
    "audit please-study-man": "308 hold, 55 refuted, [0-9] roots",
    "mark answers.csv": r"1  T without the division by sqrt\(d_k\)",
    "read post.md": "T = S / sqrt\\(d_k\\) +line 1",
    "new post.toml": "now try .symattn audit post.toml.",
    "vectors --suite": "60 samples in vectors: safetensors and json",
    "derive softmax-jacobian": "J = diag\\(A\\) − A Aᵀ",
}


@pytest.mark.sampled(0, 3)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, tmp_path: Path) -> None:
    """Every command runs and says what it should; only an audit that refutes something
    exits with 1."""
    words = shlex.split(command)
    assert words[0] == "symattn"
    if words[1] == "sheet" and "--format" not in words:
        words += ["--format", "tex"]
    if words[1] == "mark":
        (table_of_answers,) = blocks("csv")
        (tmp_path / "answers.csv").write_text(table_of_answers, "utf-8")
        (tmp_path / "key.toml").write_text(key_of([exercise(library.load("cat-sat-mat"))]), "utf-8")
    if words[1] == "read":
        notes = block("markdown", "<!-- symattn")
        (tmp_path / "post.md").write_text(f"{notes}\n$S = X X^T$, $d_k = 2$, $Y = X$\n", "utf-8")
    done = run(words, tmp_path)
    # Vectors take long, and say how far they are.
    told = "" if words[1] != "vectors" else "".join(f"{k} of 60\n" for k in range(6, 61, 6))
    assert done.stderr == told
    assert done.returncode == (1 if words[1] == "audit" else 0)
    assert re.search(SAID[" ".join(words[1:3])], done.stdout)
    if words[1] == "sheet":
        form = words[words.index("--format") + 1]
        names = {path.name for path in written(tmp_path, "**/*.*")} - {"index.html"}
        assert names == {f"{words[2]}.{form}"}


@pytest.mark.heavy
def test_an_article(tmp_path: Path) -> None:
    """The command says of the article that stands there what it is shown to say."""
    (tmp_path / "post.md").write_text(block("markdown", "# "), "utf-8")
    command = block("sh", "symattn audit post.md")
    done = run(shlex.split(command), tmp_path)
    shown = PAGES.split(f"```sh\n{command}```\n\n```\n")[1].split("```")[0]
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.rstrip("\n") == shown.rstrip("\n")


CORRECTING = "symattn audit post.md --diff  "


@pytest.mark.sampled(0, 2)
@pytest.mark.parametrize("command", commands("", CORRECTING, "   "))
def test_an_article_corrected(command: str, tmp_path: Path) -> None:
    """``--diff`` shows the three mistakes, ``--fix`` mends them, and nothing is left."""
    (tmp_path / "posts").mkdir()
    for name in ("post.md", "posts/post.md"):
        (tmp_path / name).write_text(block("markdown", "# "), "utf-8")
    words = shlex.split(command)
    words[2:3] = [str(one) for one in sorted(tmp_path.glob(words[2]))]
    done = run(words, tmp_path)
    assert done.returncode == (0 if "--fix" in words else 1)
    if "--fix" in words:
        assert run(words[:3], tmp_path).returncode == 0
        return
    patch = (tmp_path / "fix.patch").read_text("utf-8") if "-o" in words else done.stdout
    assert len(re.findall(r"^\+(?!\+)", patch, re.M)) == 3


def test_walkthrough_file(tmp_path: Path) -> None:
    """The file that the README shows is read, solved and audited."""
    text = next(text for text in blocks("toml") if "[[claims]]" in text)
    path = tmp_path / "two-words.toml"
    path.write_text(text, "utf-8")
    found = symattn.audit(path)
    assert found.case.tokens == ("hello", "world")
    assert found.summary["figures"] == 4
    wanted = settings(found.case.sheet)
    assert (wanted.audience, wanted.jacobian, wanted.say.name) == ("teacher", False, "de")


def test_side_file(tmp_path: Path) -> None:
    """The side file that the README shows binds the figures that it names, and ignores others."""
    lines = [""] * 90
    lines[0] = "$X = [[1, 0], [0, 1], [1, 1]]$, $S = X X^T$, $A = softmax(T)$, $Y = A X$"
    lines[11] = "$0.5 + 0.5 = 2.0$"
    lines[44] = "[0.38, 0.23, 0.38] [0.23, 0.38, 0.38]"
    lines[47] = "It gives 0.38 to itself and 23% to the next."
    lines[50] = "The weights of cat are [0.38, 0.23, 0.38]."
    lines[80:83] = ["# Exercises", "", "$0.5 + 0.5 = 3.0$"]
    lines[59:62] = ["0.77 0.62", "0.62 0.77", "0.76 0.73"]
    (tmp_path / "post.md").write_text("\n".join(lines) + "\n", "utf-8")
    text = block("toml", "document")
    (tmp_path / "post.symattn.toml").write_text(text, "utf-8")
    found = symattn.audit(tmp_path / "post.md")
    wrong = [(one.line, one.text) for one in found.figures if one.cause]
    assert (wrong, found.summary["figures"]) == ([(62, "0.76")], 17)


def test_a_derivation_by_hand() -> None:
    """The homework that the README shows fares as it says."""
    found = symattn.derive(block("text", "# Softmax backward"))
    assert found.faults == ()
    *right, wrong = found.lines
    assert [line.status for line in right] == ["proved"] * 3
    told = f"{wrong.counterexample}; {wrong.hint}"
    assert "dA = [[1]], S = [[0]]: 0 is not 2; it would hold with '-' for '+'" in told


def test_walkthroughs_of_blocks(tmp_path: Path) -> None:
    """All that the steps of several heads and of training state holds; the table names
    bundled cases whose statements hold."""
    path = tmp_path / "two-heads.toml"
    path.write_text(block("toml", 'title = "Two heads learn"'), "utf-8")
    named = [name for row in table("case | in it holds, exactly") for name in code(row[0])]
    assert len(named) == 12
    walkthroughs: list[str | Path] = [path, *named]
    for name in walkthroughs:
        found = symattn.audit(name).summary
        assert found["holds"] == found["statements"] > 0, name


def test_derivation_file() -> None:
    """The derivation that the README shows fares as it says."""
    found = symattn.derive(block("toml", 'title = "Softmax backward"'))
    assert [line.status for line in found.lines] == ["proved", "refuted"]
    assert found.lines[1].hint.startswith("it would hold with a sum over l")


def test_set_up_commands_are_there() -> None:
    """The two commands that CI runs stand behind their marks."""
    text = PAGES
    for mark, end in (("make", "symattn sheet"), ("test", "pytest")):
        block = text.split(f"<!-- {mark} -->\n```sh\n")[1].split("\n```")[0]
        assert block.startswith("python3 -m venv .venv")
        assert block.endswith(end)


def table(head: str) -> list[list[str]]:
    """The cells of the rows of the table under that head."""
    lines = PAGES.split(f"| {head} |")[1].splitlines()[2:]
    rows = list(itertools.takewhile(lambda line: line.startswith("|"), lines))
    return [[cell.strip() for cell in re.split(r" ?\| ?", row.strip("| "))] for row in rows]


def code(cell: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("head", "item"),
    [
        ("a Solution | is", symattn.solve("cat-sat-mat")),
        ("a Quantity | is", symattn.solve("cat-sat-mat")["A"]),
        ("a Formula (SymPy's) | is", symattn.solve("cat-sat-mat").symbolic["A"]),
        ("an Audit | is", symattn.audit("cat-sat-mat-unscaled")),
    ],
)
def test_members_are_there(head: str, item: object) -> None:
    """Every member that a table names is one, and every expression in it runs."""
    rows = table(head)
    assert len(rows) >= 4
    for row in rows:
        for text in code(row[0]):
            name = re.match(r"(?:s)?\.(\w+)", text)
            if name:
                assert hasattr(item, name[1]), text
    figure = symattn.audit("cat-sat-mat-unscaled").figures[0]
    if head.startswith("an Audit"):
        named = next(row for row in rows if ".figures" in row[0])
        assert len(code(named[1])) == 9
        assert all(hasattr(figure, name) for name in code(named[1]))


def test_all_that_an_answer_may_be() -> None:
    """The table of marking names every outcome, in order, and the scheme by default."""
    assert [name for row in table("an answer is | when") for name in code(row[0])] == [*OUTCOMES]
    text = PAGES
    assert all(f'`{name} = "{of}"`' in text for name, of in DEFAULT.table.items())


def keys_of(head: str) -> set[str]:
    """All keys that a table of JSON names."""
    return {name for row in table(head) for name in code(row[0])}


def test_the_keys_of_a_line_of_a_derivation() -> None:
    """The table names the keys that there are, no others."""
    named = {name for row in table("key of a line | holds") for name in code(row[0])}
    (line,) = symattn.derive(
        'sizes = ["n"]\n[shapes]\nx = ["n"]\n[[lines]]\nline = "x[i] == x[i]"'
    ).lines
    assert named == set(line.to_dict())


@pytest.mark.heavy
def test_the_keys_of_the_json() -> None:
    """The tables name the keys that there are, no others."""
    found = reports.as_dict(symattn.audit("please-study-man"))
    article = reports.as_dict(articles.audited())
    assert found.keys() == article.keys() == keys_of("key | holds")
    place = {"file", "line", "column", "end_line", "end_column", "cell", "paragraph"}
    for row in table("key | holds"):
        for key in code(row[0]):
            entries = found[key] or article[key]
            named = set(code(row[1])) | (place if "its place" in row[1] else set())
            if isinstance(entries, list) and named:
                assert entries
                assert all(entry.keys() == named for entry in entries)
    (listed,) = (row[1] for row in table("key | holds") if row[0] == "`coverage`")
    assert {*article["coverage"], "text", "why"} == set(code(listed))
    assert {"text", "why", *place} == set(article["coverage"]["unread_at"][0])


def test_every_cause_is_explained() -> None:
    """The table has all causes, in the order in which they are tried."""
    assert [code(row[0])[0] for row in table("cause | means")] == list(get_args(CauseKind))


def test_the_tables_of_evidence() -> None:
    """The tables have all evidence with its weights, and the page the numbers that decide."""
    bits = {code(row[0])[0]: row[1:3] for row in table("evidence | bits | trust | what says so")}
    trust = {code(row[0])[0]: row[1] for row in table("company | trust | how much there is of it")}
    weighed = {kind: one.bits for kind, one in evidence.EVIDENCE.items()}
    assert {kind: float(cells[0]) for kind, cells in bits.items()} == weighed
    told = {kind: cells[1] for kind, cells in bits.items() if cells[1]} | trust
    assert {kind: float(cell) for kind, cell in told.items()} == evidence.TRUST
    assert not bits.keys() & trust.keys()
    page = " ".join(DOCS["evidence"].split())
    for said in (
        f"One that agrees is worth {evidence._DIGIT:.1f} bits",
        f"costs up to {evidence._MISS:.1f} bits, a block at most {evidence._SYSTEMATIC:g}",
        f"are added to {evidence.PRIOR}",
        f"the *margin*, {evidence.MARGIN} bits",
        f"once {confidence._BORNE_OUT:g} bits of figures",
        f"the {discovery._BEFORE} before it, of up to {discovery._ENTRIES} figures",
    ):
        assert said in page


def test_functions_of_steps() -> None:
    """The table has every function, as it is called and what it is."""
    rows = {row[0]: row[-1] for row in table("function | what it is")}
    for function in FUNCTIONS.values():
        said = rows.pop(f"`{function.signature}`")
        assert said.startswith(function.summary)
        assert str(function.kink) in said
    assert all(name.startswith("**") for name in rows)
