"""Articles as cases at the command line: audited as they are, solved, verified, on sheets."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

POST = r"""# Attention by hand

Three words of 2017, each a row of

$$X = \begin{bmatrix} 1 & 0 & 1 & 0 \\ 0 & 1 & 0 & 1 \\ 1 & 1 & 0 & 0 \end{bmatrix}$$

and we take $Q = K = V = X$, $d_k = 4$.

$$S = Q K^T = \begin{bmatrix} 2 & 0 & 1 \\ 0 & 2 & 1 \\ 1 & 1 & 2 \end{bmatrix}$$

$$A = \text{softmax}(S / \sqrt{d_k}) = \begin{bmatrix}
0.5065 & 0.1863 & 0.3072 \\
0.1863 & 0.5605 & 0.3072 \\
0.2741 & 0.2741 & 0.4519
\end{bmatrix}$$
"""
RIGHT = POST.replace("0.5605", "0.5065")
#: What carries its own operands, and no recipe at all.
NUMBERS = "So $2 \\cdot 3 = 7$ and $[1, 2] \\cdot 2 = [2, 4]$.\n"


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    """A folder with a wrong post, a right one, one of numbers, and one without any."""
    contents = {"post.md": POST, "right.md": RIGHT, "numbers.md": NUMBERS, "none.md": "# Hello\n"}
    for name, text in contents.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "code"), [("post.md", 1), ("right.md", 0), ("numbers.md", 1), ("none.md", 0)]
)
def test_exit_codes(name, code, posts, symattn):
    """As for walkthroughs: 1 where a figure is refuted, 0 where none is, or none is there."""
    done = symattn("audit", name)
    assert (done.code, done.err) == (code, "")
    assert done.out.splitlines()[0].startswith(name)


def test_the_wrong_figure_is_told_at_its_place(posts, symattn):
    """With its line and a mark below it, in text and in JSON."""
    done = symattn("audit", "post.md")
    assert "\npost.md:13:10: A[1, 1] printed 0.5605, correct 0.5065\n" in done.out
    assert "   13 | 0.1863 & 0.5605 & 0.3072 \\\\\n      |          ^^^^^^ 0.5065\n" in done.out
    shown = json.loads(symattn("audit", "post.md", "--format", "json").out)
    (wrong,) = (item for item in shown["claims"] if item["verdict"] == "refuted")
    assert (wrong["file"], wrong["line"], wrong["column"], wrong["end_column"]) == (
        "post.md", 13, 10, 16
    )  # fmt: skip
    counts = shown["coverage"]
    assert counts["unread"] == len(counts["unread_at"])
    assert (
        sum(counts[key] for key in ("given", "bound", "local", "ignored", "unread"))
        == (counts["numbers"])
    )


def test_annotations_of_a_post(posts, symattn):
    """In its own file, at its line and columns."""
    done = symattn("audit", "post.md", "--format", "github")
    assert done.out.startswith("::error file=post.md,line=13,col=10,endLine=13,endColumn=16,")
    log = json.loads(symattn("audit", "post.md", "right.md", "--format", "sarif").out)
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    places = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in run["results"]
    }
    assert places == {"post.md", "right.md"}


def test_strictness_counts_what_was_not_read(posts, symattn):
    """A number of which nothing is known fails only where that is asked for."""
    (posts / "left.md").write_text(RIGHT + "\nNobody knows why it is 0.77 here.\n", "utf-8")
    assert "1 not read (line 17)" in symattn("audit", "left.md").out
    assert symattn("audit", "left.md").code == 0
    assert symattn("audit", "left.md", "--strict").code == 1
    assert symattn("audit", "right.md", "--strict").code == 0


def test_posts_of_one_name(posts, symattn):
    """Each is told by its path; what would be one file is refused before any work."""
    for folder in ("one", "two"):
        (posts / folder).mkdir()
        (posts / folder / "index.md").write_text(POST, "utf-8")
    paths = ["one/index.md", "two/index.md"]
    found = json.loads(symattn("audit", *paths, "--format", "json").out)
    assert [(item["case"], item["file"]) for item in found] == [
        ("index.md", path) for path in paths
    ]
    assert list(json.loads(symattn("verify", *paths, "--format", "json").out)) == paths
    for words in (["audit", "--format", "html"], ["sheet"], ["draw"]):
        done = symattn(*words, *paths)
        assert (done.code, done.out) == (2, "")
        assert "two cases are called index.md" in done.err
    assert symattn("audit", paths[0], paths[0]).code == 2


@pytest.mark.heavy
def test_what_else_takes_a_post(posts, symattn):
    """Digits, verification, a sheet and a drawing of what it computes; a file to start from."""
    assert "0.5065" in symattn("show", "post.md", "A", "--places", "4").out
    assert symattn("verify", "post.md").code == 0
    assert symattn("sheet", "post.md", "--format", "md", "--for", "author").code == 0
    sheet = Path("sheets/post.md.md").read_text("utf-8")
    assert "symattn show post.md A --places 12" in sheet
    assert "0.5605" in sheet
    assert symattn("draw", "post.md").code == 0
    assert Path("drawings/post.md.svg").exists() or list(Path().rglob("*.svg"))
    assert symattn("new", "mine.toml", "--from", "post.md").code == 0
    assert symattn("audit", "mine.toml").code == 0


def test_a_post_without_steps(posts, symattn):
    """Its arithmetic is judged; a sheet says that there is nothing to derive, and there is
    nothing to draw."""
    assert "numbers.md:1:17: 2 * 3 printed 7, correct 6" in symattn("audit", "numbers.md").out
    for name in ("numbers.md", "none.md"):
        assert symattn("verify", name).code == 0
        assert symattn("sheet", name, "--format", "md").code == 0
        assert "nothing to derive" in Path(f"sheets/{name}.md").read_text("utf-8")
        done = symattn("draw", name)
        assert (done.code, "has no steps: nothing to draw" in done.err) == (2, True)


def test_errata_and_pages_of_a_post(posts, symattn):
    """The text for its author and the red pen have the place."""
    errata = symattn("audit", "post.md", "--format", "errata").out
    assert re.search(r"line 13, column 10\) \| `A\[1, 1\]` \| 0\.5605 \| 0\.5065", errata)
    assert symattn("audit", "post.md", "--format", "tex", "-o", "out").code == 1
    assert "line 13, column 10" in Path("out/post.md-audit.tex").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "held", "said"),
    [
        ("lost.md", None, "symattn: lost.md: the file can't be read: no such file"),
        ("binary.md", b"a\0b", "symattn: binary.md: binary, not text"),
        ("latin.tex", b"caf\xe9", "symattn: latin.tex: not text: byte 3, in line 1"),
    ],
)
@pytest.mark.parametrize("words", [["audit"], ["verify"], ["sheet"]])
def test_what_is_no_article(words, name, held, said, posts, symattn):
    """It is told with its name, and nothing else."""
    if held is not None:
        (posts / name).write_bytes(held)
    done = symattn(*words, name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(said)


def test_no_walkthrough_extends_an_article(posts, symattn):
    """What it is said to extend is a case file."""
    (posts / "case.toml").write_text('extends = "post.md"\n', "utf-8")
    done = symattn("audit", "case.toml")
    assert done.code == 2
    assert "unknown case 'post.md': no case file ending in .toml;" in done.err


@pytest.mark.heavy
def test_a_post_is_audited_without_sympy(posts):
    """Nor is what looks for causes loaded, where nothing is wrong."""
    code = (
        "import sys; import symattn; from symattn.auditing import reports\n"
        "from symattn.cli.audit_report import report\n"
        "found = symattn.audit(sys.argv[1]); reports.as_dict(found)\n"
        "print(*sorted({'sympy', 'symattn.auditing.search'} & set(sys.modules)))"
    )
    for name, loaded in (("right.md", ""), ("post.md", "symattn.auditing.search")):
        done = subprocess.run(
            [sys.executable, "-c", code, posts / name], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == loaded


def test_what_hides_figures_is_told(posts, symattn):
    """A name that nothing is said of, at its place; files that are not followed; and that
    there is nothing to judge."""
    (posts / "lost.md").write_text("So\n\n$$Q = X W_Q = [1, 2.5]$$\n", "utf-8")
    (posts / "part.tex").write_text("\\input{other}\nHello\n", "utf-8")
    lost, part = symattn("audit", "lost.md").out, symattn("audit", "part.tex").out
    assert "not read: X is not defined (2 numbers, line 3)" in lost
    assert "\n      <!-- symattn: X = ... -->\n" in lost
    assert "\nNo figures to judge\n" in lost
    assert "\npart.tex: \\input{other} is not followed\n" in part
    assert "\\input{other} is not followed" in symattn("read", "part.tex").out
    assert (
        "::\\input{other} is not followed" in symattn("audit", "part.tex", "--format", "github").out
    )
    held = json.loads(symattn("audit", "part.tex", "--format", "json").out)
    assert held["coverage"]["notes"] == ["\\input{other} is not followed"]
    symattn("audit", "part.tex", "--format", "html", "-o", "part.html")
    assert "input{other} is not followed" in (posts / "part.html").read_text("utf-8")


def test_places_of_notebooks_are_cells(tmp_path, symattn):
    """People are told cells and the lines in them; data has the file's lines as well."""
    text = ["[[14.5  7. ]\n", " [ 3.5  6. ]]\n", "[[7.25 3.5 ]\n", " [1.75 2.5 ]]\n"]
    code = {
        "cell_type": "code",
        "source": [
            *("import numpy as np\n", "X = np.array([[7.25, 3.5], [1.75, 2.5]])\n"),
            *("Y = 2 * X\n", "print(Y)\n", "print(X)"),
        ],
        "outputs": [{"output_type": "stream", "name": "stdout", "text": text}],
    }
    source = ["# Weights\n", "\n", "$$0.1 + 0.2 = 0.4$$\n", "17.3"]
    words = {"cell_type": "markdown", "source": source}
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": [words, code], "nbformat": 4}, indent=1))
    read, audited = symattn("read", "n.ipynb"), symattn("audit", "n.ipynb")
    assert "cell 2, line 2" in read.out
    assert "output of cell 2, lines 1, 2" in read.out
    assert "1 not read (cell 1, line 4)" in read.out
    assert "n.ipynb: output of cell 2, line 2: Y[1, 1] printed 6., correct 5" in audited.out
    assert not re.search(r"(?<!, )\bline |ipynb:[0-9]", read.out + audited.out)
    data = json.loads(symattn("audit", "n.ipynb", "--format", "json").out)
    _, wrong = data["roots"]
    lines = (tmp_path / "n.ipynb").read_text().splitlines()
    assert lines[wrong["line"] - 1][wrong["column"] - 1 : wrong["end_column"] - 1] == "6."
    assert wrong["cell"] == {"number": 2, "is_output": True, "line": 2, "column": 9}
    given = json.loads(symattn("read", "n.ipynb", "--format", "json").out)["given"]["X"]
    assert given["cell"] == {"number": 2, "is_output": False, "line": 2, "column": 1}
