"""``symattn audit --fix`` and ``--diff``: what they write, show, and leave alone."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.cases import library
from symattn.cases.article import case_of
from symattn.cases.case import Case
from symattn.cli.fix import patch
from tests.documents.skeletons import Skeleton, skeleton

TRUTH = """
[given]
X = [[1, 0], [0, 1]]
[steps]
A = "softmax(X)"
"""
WRONG = "# Post\n\nA is ⟦A[0, 0]|0.7311⟧ and ⟦A[0, 1]|0.2698⟧.\n"
RIGHT = WRONG.replace("0.2698", "0.2689")


class Shelf:
    """Articles on the disk, read by their skeletons."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read = library.load
        self.skeletons: dict[str, Skeleton] = {}
        (folder / "truth.toml").write_text(TRUTH)

    def put(self, name: str, text: str, encoding: str = "utf-8") -> Path:
        """Write a marked text, without its marks."""
        made = skeleton(text, self.folder / "truth.toml", Path(name))
        self.skeletons[name] = made
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(made.printed.encode(encoding))
        return path

    def load(self, name: str, allow_outside: bool = False, held: bytes | None = None) -> Case:
        if name not in self.skeletons:
            return self.read(name, allow_outside, held)
        made = self.skeletons[name]
        data = Path(name).read_bytes() if held is None else held
        return case_of(made.change(made.read(data.decode(made.encoding))))


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder of articles, in the place of every reader of articles."""
    made = Shelf(tmp_path)
    monkeypatch.setattr(library, "load", made.load)
    return made


def plain(text):
    return skeleton(text, "").printed


def test_fix_corrects_in_place_and_tells(symattn, shelf):
    """The file gets the right digits, a line says so, and a second run changes nothing."""
    path = shelf.put("post.md", WRONG)
    path.chmod(0o640)
    ended = symattn("audit", "post.md", "--fix")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "post.md: 1 figure fixed",
        "  post.md:3:17 A[0, 1] 0.2698 -> 0.2689",
    ]
    assert path.read_text() == plain(RIGHT)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    held = path.stat()
    again = symattn("audit", "post.md", "--fix")
    assert (again.code, again.out) == (0, "post.md: nothing fixed\n")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (held.st_mtime_ns, held.st_ino)


def test_several_articles_at_once(symattn, shelf):
    """Each is corrected and told by itself."""
    shelf.put("one.md", WRONG)
    shelf.put("two.md", RIGHT)
    ended = symattn("audit", "one.md", "two.md", "--fix")
    assert ended.code == 0
    assert [line for line in ended.out.splitlines() if not line.startswith(" ")] == [
        "one.md: 1 figure fixed",
        "two.md: nothing fixed",
    ]


def test_what_is_left_is_told_and_counts_if_asked(symattn, shelf):
    """A figure that can't be corrected is told with its reason; only --strict minds."""
    text = "⟦A[0, 1]=|0.2689⟧".join(["3 = 0.30000 * 0.90000 = ", "\n"])
    path = shelf.put("post.md", text)
    for words, code in (((), 0), (("--strict",), 1)):
        ended = symattn("audit", "post.md", "--fix", *words)
        assert ended.code == code
        first, second = ended.out.splitlines()
        assert first == "post.md: nothing fixed, 1 left"
        assert second.startswith("  post.md:1:25 0.30000 * 0.90000 0.2689 left: ")
    assert path.read_text() == plain(text)


def test_fix_writes_elsewhere(symattn, shelf):
    """With -o the article stays and FILE, or standard output, gets the corrected one."""
    path = shelf.put("post.md", WRONG)
    assert symattn("audit", "post.md", "--fix", "-o", "new.md").code == 0
    assert Path("new.md").read_text() == plain(RIGHT)
    ended = symattn("audit", "post.md", "--fix", "-o", "-")
    assert ended.out == plain(RIGHT)
    assert "1 figure fixed" in ended.err
    assert path.read_text() == plain(WRONG)


GIT = shutil.which("git")
with_git = pytest.mark.needs("git")


@with_git
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_diff_is_a_patch_that_git_takes(symattn, shelf, end):
    """What --diff prints, and what -o writes, is applied by git to what --fix would give."""
    path = shelf.put("a post.md", WRONG.replace("\n", end) + "no line end, ünd")
    old = path.read_bytes()
    ended = symattn("audit", "a post.md", "--diff")
    assert ended.code == 1
    # A tab ends a name with blanks, for patch as well.
    assert ended.out.startswith("--- a/a post.md\t\n+++ b/a post.md\t\n")
    assert path.read_bytes() == old
    assert symattn("audit", "a post.md", "--diff", "-o", "fix.patch").code == 1
    held = Path("fix.patch").read_bytes()
    assert ended.out.encode() == held
    apply(Path.cwd(), "fix.patch")
    assert path.read_bytes() == plain(RIGHT.replace("\n", end) + "no line end, ünd").encode()
    ended = symattn("audit", "a post.md", "--diff")
    assert (ended.code, ended.out) == (0, "")


def apply(folder, name):
    """Apply a patch as git does."""
    words = ["git", "apply", "--whitespace=nowarn", name]
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    subprocess.run(words, cwd=folder, check=True, env=environment, timeout=60)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return tmp_path_factory.mktemp("patches")


@with_git
@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n"), max_size=8),
        min_size=1,
        max_size=9,
    ),
    st.sampled_from(["a.md", "a b.md", 'q"uote\\.md', "tab\t.md", "ü.md"]),
    st.data(),
)
def test_any_change_of_lines_is_applied(bench, lines, name, data):
    """Whatever else ends lines, and whatever a file is called, git makes of the old text
    the new one."""
    old = "\n".join(lines)
    new = "\n".join(data.draw(st.sampled_from([line, f"{line}!"])) for line in lines)
    with chdir(bench):
        Path(name).write_bytes(old.encode())
        made = "".join(patch(Path(name), old, new))
        assert bool(made) == (old != new)
        if made:
            Path("x.patch").write_bytes(made.encode())
            apply(bench, "x.patch")
        assert Path(name).read_bytes() == new.encode()


def test_a_terminal_shows_the_changes_in_colours(symattn, shelf, terminal):
    """What goes away is red, what comes green, and nothing in the file steers it."""
    shelf.put("post.md", f"\x1b[5m {WRONG}")
    ended = symattn("audit", "post.md", "--diff")
    assert "\x1b[31m-A is 0.7311 and 0.2698" in ended.out
    assert "\x1b[32m+A is 0.7311 and 0.2689" in ended.out
    assert "\x1b[5m" not in ended.out


def test_nothing_is_written_where_it_would_be_worse(symattn, shelf):
    """An article that would be understood otherwise stays as it is, and the run fails."""
    path = shelf.put("post.md", WRONG)

    def forgetful(reading):
        return reading if "0.2698" in reading.article.source else replace(reading, claims=())

    shelf.skeletons["post.md"] = replace(shelf.skeletons["post.md"], change=forgetful)
    for words in (("--fix",), ("--diff",)):
        ended = symattn("audit", "post.md", *words)
        assert ended.code == 1
        assert "would be read differently" in ended.out + ended.err
    assert path.read_text() == plain(WRONG)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_other_encodings_stay(symattn, shelf, encoding, monkeypatch):
    """An article in UTF-16 is corrected in UTF-16."""
    path = shelf.put("post.md", f"\ufeff{WRONG}", encoding)
    made = replace(shelf.skeletons["post.md"], encoding=encoding)
    shelf.skeletons["post.md"] = made
    assert symattn("audit", "post.md", "--fix").code == 0
    assert path.read_bytes() == plain(f"\ufeff{RIGHT}").encode(encoding)


def test_a_text_that_is_not_that_of_the_file_is_left(symattn, shelf, monkeypatch):
    """What somebody else has written meanwhile is not lost."""
    path = shelf.put("post.md", WRONG)

    def load(*words):
        case = shelf.load(*words)
        path.write_text("something else")
        return case

    monkeypatch.setattr(library, "load", load)
    ended = symattn("audit", "post.md", "--fix")
    assert ended.code == 2
    assert "its bytes differ from its text" in ended.err
    assert path.read_text() == "something else"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--fix",), "need at least one article"),
        (("post.md", "--fix", "--format", "json"), "write no report: omit --format"),
        (("post.md", "other.md", "--fix", "-o", "new.md"), "takes a single article"),
        (("cat-sat-mat", "--diff"), "cat-sat-mat.toml: only articles can be corrected"),
        (("post.md", "--fix", "-o", "no/folder.md"), "can't be written"),
    ],
)
def test_wrong_use_is_told_and_writes_nothing(symattn, shelf, words, said):
    """One message, and the article as it was."""
    path = shelf.put("post.md", WRONG)
    shelf.put("other.md", WRONG)
    ended = symattn("audit", *words)
    assert ended.code == 2
    assert said in ended.err
    assert path.read_text() == plain(WRONG)
    assert not Path("new.md").exists()


POST = r"""# Two words

$$ X = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix} $$

The weights are the softmax of these rows,

$$ A = \text{softmax}(X) = \begin{bmatrix} 0.7311 & 0.2698 \\ 0.2689 & 0.7311 \end{bmatrix} $$

and for instance $0.7311 \cdot 2 = 1.4622$, $0.50 \cdot 3 = 1.60$.
"""


def test_a_post_is_corrected_as_it_is(symattn):
    """Without any help a post is read, corrected in place, and then has nothing wrong."""
    path = Path("post.md")
    path.write_text(POST, newline="\r\n")
    assert symattn("audit", "post.md").code == 1
    assert symattn("audit", "post.md", "--fix").code == 0
    right = POST.replace("0.2698", "0.2689").replace("1.60", "1.50")
    assert path.read_bytes() == right.replace("\n", "\r\n").encode()
    assert symattn("audit", "post.md").code == 0
    assert symattn("audit", "post.md", "--diff").code == 0


HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"


@pytest.mark.parametrize("entry", re.findall(r"^  entry: symattn (.*)$", HOOKS.read_text(), re.M))
def test_hooks_run(symattn, shelf, entry):
    """What a hook runs takes several files, and lets right ones pass."""
    shelf.put("one.md", RIGHT)
    shelf.put("two.md", RIGHT)
    assert symattn(*entry.split(), "one.md", "two.md").code == 0


def test_the_page_of_an_article_is_the_article(symattn, shelf):
    """As HTML an article has the red pen in its own text."""
    shelf.put("post.md", WRONG)
    ended = symattn("audit", "post.md", "--format", "html", "-o", "pen")
    assert ended.code == 1
    text = Path("pen", "post.md-audit.html").read_text()
    assert "<del>0.2698</del><ins> 0.2689</ins>" in text


def test_fix_leaves_what_only_a_label_says(symattn):
    """Behind "Softmax:" a figure is refuted, but either side may be the wrong one; behind the
    softmax itself it is corrected."""
    text = "```\nScores: [1.5, 0.5, -0.4]\n%s [0.66, 0.24, 0.19]\n```\n"
    Path("post.md").write_text(text % "Softmax →")
    ended = symattn("audit", "post.md", "--fix")
    assert "only a label says" in ended.out
    assert Path("post.md").read_text() == text % "Softmax →"
    Path("post.md").write_text(text % "softmax([1.5, 0.5, -0.4]) =")
    symattn("audit", "post.md", "--fix")
    assert "0.10" in Path("post.md").read_text()
