"""``symattn read``: how an article is understood."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import symattn as package

POST = """# Two words

<!-- symattn: tokens = cat, sat -->
Inputs: $X = [[1, 0], [0, 1]]$

$$S = X X^T = [[1, 0], [0, 1.0]]$$

## Weights

$$A = softmax(S) = [[0.73, 0.37], [0.27, 0.73]]$$

and $0.5 + 0.25 = 0.75$, unlike 0.123 of it.

$$Y = 2 A = [[1.46, 0.54], [0.54, 1.46]]$$
"""


@pytest.fixture
def post(tmp_path: Path) -> Path:
    """An article with a slip, a note, and a number that nothing says what it is."""
    path = tmp_path / "post.md"
    path.write_text(POST, "utf-8")
    return path


def test_text(post: Path, symattn) -> None:
    """Inputs, steps and claims beside their lines, what was not read, and the coverage."""
    done = symattn("read", "post.md", "--format", "text")
    assert (done.code, done.err) == (0, "")
    assert ["X", "2x2", "[[1, 0], [0, 1]]", "line 4"] in done.table
    assert ["S = X @ X.T", "line 6"] in done.table
    assert ["A = softmax(S)", "line 10"] in done.table
    assert ["A", "4", "line 10"] in done.table
    assert ["line 12", "0.123", "and $0.5 + 0.25 = 0.75$, unlike 0.123 of it."] in done.table
    assert "cat, sat" in done.out
    assert done.out.splitlines()[-1].startswith("21 numbers: 12 bound, 3 local, 4 given")


def test_on_a_terminal(post: Path, symattn, terminal) -> None:
    """No line is wider than it, and what the article says steers nothing."""
    post.write_text(POST.replace("Two words", "Two \x1b[2J words"), "utf-8")
    done = symattn("read", "post.md")
    assert done.code == 0
    assert "\x1b[2J" not in done.out
    assert "softmax" in done.out


def test_json(post: Path, symattn) -> None:
    """The same as data, lines and columns from 1."""
    found = json.loads(symattn("read", "post.md", "--format", "json").out)
    assert found["file"] == "post.md"
    assert found["tokens"] == ["cat", "sat"]
    assert found["given"]["X"]["shape"] == [2, 2]
    assert (found["given"]["X"]["line"], found["given"]["X"]["numbers"][1]) == (4, ["0", "1"])
    assert found["steps"]["A"]["expression"] == "softmax(S)"
    assert not found["steps"]["A"]["assumed"]
    claims = {claim.get("of"): claim for claim in found["claims"]}
    assert claims["A"]["printed"] == [["0.73", "0.37"], ["0.27", "0.73"]]
    assert claims["A"]["where"] == "Weights"
    line = POST.splitlines()[claims["A"]["line"] - 1]
    assert line[claims["A"]["column"] - 1 :].startswith("0.73")
    (unread,) = found["coverage"]["unread_at"]
    assert (unread["line"], unread["text"]) == (12, "0.123")


def test_toml(post: Path, tmp_path: Path, symattn) -> None:
    """The case file that it amounts to has every figure with its zeros, and its
    audit finds the same."""
    done = symattn("read", "post.md", "--format", "toml", "-o", "mine.toml")
    assert (done.code, done.out) == (0, "")
    written = (tmp_path / "mine.toml").read_text("utf-8")
    assert '["0", "1.0"]' in written
    assert written == symattn("read", "post.md", "--format", "toml").out
    judged = [
        [(one.claim.of, one.text, one.verdict) for one in package.audit(package.load(path)).figures]
        for path in (post, tmp_path / "mine.toml")
    ]
    assert judged[0] == judged[1]
    assert symattn("audit", "mine.toml").code == symattn("audit", "post.md").code == 1


def test_what_is_doubted_is_no_claim(tmp_path: Path, symattn) -> None:
    """What an audit of the article leaves open is not refuted as a case file either."""
    (tmp_path / "post.md").write_text(
        "$X = [[1, 2], [3, 4]]$\n\nWithout the mask $Y = X + X = [[2, 4], [6, 9]]$\n"
    )
    symattn("read", "post.md", "--format", "toml", "-o", "mine.toml")
    assert 'what = "Y"' in (tmp_path / "mine.toml").read_text("utf-8")
    assert symattn("audit", "mine.toml").code == symattn("audit", "post.md").code == 0


def test_output(post: Path, tmp_path: Path, symattn) -> None:
    """A file has plain text; a dash is standard output."""
    assert symattn("read", "post.md", "--output", "read.txt").code == 0
    assert symattn("read", "post.md", "-o", "-").out == (tmp_path / "read.txt").read_text("utf-8")


def test_what_the_help_shows(tmp_path: Path, symattn) -> None:
    """Each note that it shows is read, and so is its side file."""
    said = symattn("read", "--help").out.splitlines()
    notes = [line.strip().partition("-->")[0] + "-->" for line in said if "<!--" in line]
    assert len(notes) == 8
    # What figures are said to be of comes right before these.
    notes.sort(key=lambda note: ("0.507" in note, "A[0]" in note))
    *others, figures, figure = notes
    steps = "<!-- symattn:\nd_k = 4\nS = X @ X.T\nA = softmax(T)\nY = A @ X\n-->\n"
    shown = "\n".join(others)
    text = (
        f"{steps}{shown}\n\nIgnored.\n\n{figures}\n\n0.6 0.4 0.4 0.6\n\n{figure}\n\nIt is 0.507.\n"
    )
    (tmp_path / "post.md").write_text(text.replace("cat, sat, mat", "cat, sat"), "utf-8")
    done = symattn("read", "post.md")
    assert (done.code, done.err) == (0, "")
    assert ["T = S / sqrt(d_k)", "line 7"] in done.table


def test_the_side_file_that_the_help_shows(tmp_path: Path, symattn) -> None:
    """It is read as it is shown, beside an article that has those lines."""
    said = [line.strip() for line in symattn("read", "--help").out.splitlines()]
    first = said.index('document = "post.md"')
    side = said[first : said.index("", first)]
    steps = "X = [[1, 0], [0, 1]]\nd_k = 4\nS = X @ X.T\nA = softmax(T)\nY = A @ X"
    note = ["<!-- symattn:", *steps.split("\n"), "-->"]
    lines = [*note, *[""] * (44 - len(note)), "0.6 0.4", "", "", "It is 0.507.", ""]
    lines += ["The weights of cat are 0.6 0.4", "", "# Exercises", "", "1.5"]
    (tmp_path / "post.md").write_text("\n".join(lines), "utf-8")
    (tmp_path / "post.symattn.toml").write_text("\n".join(side), "utf-8")
    done = symattn("read", "post.md")
    assert (done.code, done.err) == (0, "")
    assert ["A", "5", "lines 45, 48, 50"] in done.table


def test_a_side_file(post: Path, tmp_path: Path, symattn) -> None:
    """It is found by itself, and says what it says by its own name too; another folder's
    article is read only where that is allowed."""
    (tmp_path / "post.symattn.toml").write_text(
        'document = "post.md"\nignore = [12]\n[steps]\nY = "A @ X"\n', "utf-8"
    )
    done = symattn("read", "post.md")
    assert ["Y = A @ X", "side file"] in done.table
    assert "not read" not in done.out
    assert symattn("read", "post.symattn.toml").out == done.out
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "p.symattn.toml").write_text('document = "../post.md"\n', "utf-8")
    refused = symattn("read", "in/p.symattn.toml")
    assert refused.code == 2
    assert "in/p.symattn.toml:1: document: '../post.md' is not in the file's folder" in refused.err
    assert symattn("read", "in/p.symattn.toml", "--allow-outside").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cat-sat-mat"], "symattn: cat-sat-mat is a case"),
        (["none.md"], "symattn: none.md: the file can't be read: no such file or directory"),
        (["bad.md"], "symattn: bad.md: 2 faults\n  bad.md:1: 'S /': expected a value"),
        (["post.md", "-o", "no/where.txt"], "symattn: no/where.txt can't be written"),
        (["none.symattn.toml"], "symattn: none.symattn.toml: the file can't be read"),
        (["other.symattn.toml"], "symattn: other.symattn.toml:1: document: 'x.doc' is no article"),
    ],
)
def test_bad_input(words, message, post: Path, tmp_path: Path, symattn) -> None:
    """One message, no traceback."""
    bad = "<!-- symattn: T = S / -->\n\n<!-- symattn: ignore end -->\n"
    (tmp_path / "bad.md").write_text(bad, "utf-8")
    (tmp_path / "other.symattn.toml").write_text('document = "x.doc"\n', "utf-8")
    done = symattn("read", *words)
    assert done.code == 2
    assert done.err.startswith(message)


def test_limits(post: Path, symattn) -> None:
    """Reading is stopped where the other commands are."""
    done = symattn("read", "post.md", "--max-seconds", "0.01", "--max-memory", "0")
    assert (done.code, done.out) == (2, "")
    assert "stopped after 0.01 seconds (--max-seconds)" in done.err
