"""What a command reads is never lost, and what symattn did not write only by ``--force``."""

from __future__ import annotations

import ast
import io
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click
import pytest

import symattn as symattn_package
from symattn.cases import library
from symattn.cli.main import _COMMANDS, _group
from symattn.exercises.exercise import exercise
from symattn.exercises.key import key
from symattn.exercises.marking.answer_files import empty_table
from symattn.ownership import RECORD
from symattn.testing import vectors
from symattn.testing.vectors import SampleRequest

WALKTHROUGH = """
[given]
X = [[1, 0], [0, 2]]
[steps]
S = "X @ X.T"
A = "softmax(S)"
[[claims]]
of = "A[0]"
printed = [0.7311, 0.2689]
"""
ARTICLE = """
$$X = \\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\end{pmatrix}$$

$$A = \\mathrm{softmax}(X) = \\begin{pmatrix} 0.731 & 0.269 \\\\ 0.269 & 0.799 \\end{pmatrix}$$

$$Y = 2 A = \\begin{pmatrix} 1.462 & 0.538 \\\\ 0.538 & 1.462 \\end{pmatrix}$$
"""
FOREIGN = b"nobody but its author has this\n"

Files = dict[Path, bytes]


@pytest.fixture(autouse=True)
def folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_tex: None, without_typst: None
) -> Path:
    """A folder with something to read for every command, and a suite of one sample."""
    case = exercise(library.load("cat-sat-mat"))
    for name, text in {
        "post.toml": WALKTHROUGH,
        "post.md": ARTICLE,
        "right.md": ARTICLE.replace("0.799", "0.731"),
        "homework.txt": "diff(exp(t), t) == exp(t)\n",
        "key.toml": key([case]),
        "answers.csv": empty_table(case) + "Ada\nREADME\nindex\n",
    }.items():
        (tmp_path / name).write_text(text, "utf-8")
    one = SampleRequest("one-key", "float32", 0)
    monkeypatch.setattr(vectors, "samples_of", lambda *_: [one])
    return tmp_path


class Row(NamedTuple):
    """A command with its words, and the files that it writes."""

    command: str
    words: str
    outputs: str

    def __str__(self) -> str:
        return f"{self.command} {self.words}"


def commands() -> dict[str, click.Command]:
    context = click.Context(_group)
    every = {name: _group.get_command(context, name) for name in _COMMANDS}
    return {name: one for name, one in every.items() if one is not None}


def held(folder: Path) -> Files:
    """Every file, but records."""
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != RECORD
    }


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "row",
    [
        *(Row("audit", f"post.toml --format {form} -o out/a", "out/a")
          for form in ("text", "json", "github", "sarif", "errata")),
        *(Row("audit", f"post.toml --format {form} -o out", f"out/post-audit.{form}")
          for form in ("html", "tex", "md")),
        Row("audit", "post.md --format html -o out/a.html", "out/a.html"),
        Row("audit", "post.md --fix -o out/a.md", "out/a.md"),
        Row("audit", "post.md --diff -o out/a.patch", "out/a.patch"),
        *(Row("read", f"post.md --format {form} -o out/a", "out/a")
          for form in ("text", "json", "toml")),
        Row("live", "right.md -o out/a.md", "out/a.md"),
        Row("sheet", "post.toml -o out", "out/post.html out/post.tex"),
        Row("sheet", "post.toml --format md -o out", "out/post.md"),
        Row("seal", "post.toml -o out", "out/Symattn.v out/post.v"),
        Row("draw", "post.toml -o out", "out/post.svg"),
        Row("draw", "post.toml -o out/a.svg", "out/a.svg"),
        Row("derive", "homework.txt --format text -o out", "out/homework.txt"),
        Row("derive", "homework.txt --format json -o out", "out/derivations.json"),
        Row("derive", "homework.txt -o out", "out/homework.html out/homework.tex"),
        Row("exercise", "post.toml --versions 1 --solutions -o out",
            "out/key.toml out/post-01.html out/post-01-solution.html"),
        *(Row("exercise", f"post.toml --format {form} -o out", f"out/key.toml out/post-{form}.xml")
          for form in ("moodle", "stack")),
        Row("exercise", "post.toml --format qti -o out",
            "out/key.toml out/post-qti3.zip out/post-qti21.zip out/post-canvas.zip"),
        Row("mark", "answers.csv -o out", "out/Ada.html out/Ada.txt out/README_.txt out/marks.csv"),
        Row("vectors", "-o out", "out/manifest.json out/float32/one-key-float32-0.json"),
    ],
    ids=str,
)  # fmt: skip
def test_what_symattn_did_not_write(row: Row, symattn, folder: Path) -> None:
    """It is replaced by --force alone, all or nothing; what symattn wrote needs none, until
    somebody has changed it."""
    words = [row.command, *row.words.split()]
    paths = [folder / name for name in row.outputs.split()]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(FOREIGN)
    before = held(folder)
    refused = symattn(*words)
    assert (refused.code, refused.out) == (2, "")
    assert "already exists and was not written by symattn" in refused.err
    assert any(path.name in refused.err for path in paths)
    assert "--force" in refused.err
    assert held(folder) == before
    assert symattn(*words, "--force").code < 2
    made = held(folder)
    assert FOREIGN not in made.values()
    assert symattn(*words).code < 2
    assert held(folder).keys() == made.keys()
    paths[-1].write_bytes(FOREIGN)
    before = held(folder)
    refused = symattn(*words)
    assert refused.code == 2
    assert f"{paths[-1].name} was changed since symattn wrote it" in refused.err
    assert held(folder) == before


def test_every_command_that_writes_is_here() -> None:
    """Who has -o has --force, says so in its help, and is in the table."""
    writing = {
        name
        for name, command in commands().items()
        if any("-o" in parameter.opts for parameter in command.params)
    }
    (table,) = (
        mark for mark in test_what_symattn_did_not_write.pytestmark if mark.name == "parametrize"
    )
    assert writing == {row.command for row in table.args[1]}
    for name in writing:
        command = commands()[name]
        assert "--force" in command.get_help(click.Context(command, info_name=name))


#: What each command is told beside the option that is tried.
WORDS = {
    "list": "", "sheet": "post.toml --format md", "draw": "post.toml", "show": "post.toml A",
    "verify": "post.toml", "audit": "post.toml", "read": "post.md", "seal": "post.toml",
    "derive": "homework.txt --format text", "exercise": "post.toml --versions 1 --format md",
    "mark": "answers.csv", "lsp": "", "new": "fresh.toml", "vectors": "",
    "live": "right.md -o l.md", "myst": "", "pandoc": "",
}  # fmt: skip


def values() -> list[tuple[str, str]]:
    """Every option of every command that takes any text, which may be a file's name."""
    return [
        (name, parameter.opts[-1])
        for name, command in commands().items()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        and not parameter.is_flag
        and isinstance(parameter.type, click.Path | click.types.StringParamType)
    ]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("command", "option"), values())
def test_no_option_replaces_a_file(command, option, symattn, folder: Path, monkeypatch) -> None:
    """Whatever an option is for, a file of the user's that it names is there afterwards, and
    so is all else; where it would be written, what to do is told."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    (folder / "mine").write_bytes(FOREIGN)
    before = held(folder)
    done = symattn(command, *WORDS[command].split(), option, "mine")
    after = held(folder)
    assert {path: after.get(path) for path in before} == before
    if option == "--output":
        assert done.code == 2
        assert re.search(
            r"--force|File exists|file exists|not a directory|choose another", done.err
        )


#: Who may write: by its own rules, or into folders that it has made for itself.
WRITERS = {
    "outputs.py": "writes every file",
    "ownership.py": "has whatever is written allowed, and notes it",
    "corpus/stores.py": "writes into folders that hold results of corpora only",
    "printers/engine.py": "writes into a temporary folder, for TeX",
    "seal/seals.py": "writes into a temporary folder, for Coq",
    "workers.py": "takes away the temporary folders of what was ended",
    "editor/server.py": "writes to an editor",
    "__main__.py": "opens streams that are closed",
    "documents/binding/construction.py": "renames a quantity, no file",
}
#: What writes, makes or takes away, in Python: methods of paths, and functions of modules.
_METHODS = {
    "write_bytes", "write_text", "touch", "mkdir", "rename", "unlink", "symlink_to",
    "hardlink_to", "rmdir", "chmod",
}  # fmt: skip
_FUNCTIONS = re.compile(
    r"os\.(open|mkdir|makedirs|rename|replace|unlink|remove|link|symlink|truncate|chmod)"
    r"|shutil\.\w+|tempfile\.(mk|Named)\w+|outputs\.(write|remove|prepare_folder)"
)


def writes(call: ast.Call, modules: set[str]) -> bool:
    """Whether a call is one of these; ``modules`` are those that its file imports."""
    if not isinstance(call.func, ast.Attribute | ast.Name):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id
    if name in ("open", "fdopen"):
        said = [*call.args, *(word.value for word in call.keywords)]
        modes = [x.value for x in said if isinstance(x, ast.Constant)]
        if any(isinstance(x, str) and re.fullmatch(r"[rbt]*[wax+][wrbt+]*", x) for x in modes):
            return True
    whole = ast.unparse(call.func)
    if whole.partition(".")[0] in modules and _FUNCTIONS.fullmatch(whole):
        return True
    return isinstance(call.func, ast.Attribute) and name in _METHODS


def test_only_who_asks_writes() -> None:
    """No other module opens a file to write, so that whatever is written is known to be
    allowed; outside of these only ``Outputs`` is used."""
    root = Path(symattn_package.__file__).parent
    writing = set()
    for path in sorted(root.rglob("*.py")):
        nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
        modules = {
            one.name
            for node in nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for one in node.names
        }
        if any(isinstance(node, ast.Call) and writes(node, modules) for node in nodes):
            writing.add(path.relative_to(root).as_posix())
    assert writing == WRITERS.keys()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize(
    "words",
    [
        "audit post.md -o post.md",
        "audit post.md -o ./post.md",
        "audit post.md -o link.md",
        "audit post.md -o hard.md",
        "audit link.md -o post.md",
        "audit post.md --diff -o post.md",
        "audit post.md --fix -o post.md",
        "audit post.toml --format json -o post.toml",
        "audit post.html --format html -o post.html",
        "read post.md --format toml -o post.md",
        "read post.md -o post.md",
        "sheet post.md --format md -o copies",
        "draw post.svg.toml -o post.svg.toml",
        "derive homework.txt --format text -o .",
        "exercise key.toml -o .",
        "mark marks.csv -o .",
        "mark marks.csv --key marks.csv -o .",
    ],
)
def test_what_is_read_stays(words: str, force: list[str], symattn, folder: Path) -> None:
    """However its name is spelled, with force or without."""
    (folder / "link.md").symlink_to("post.md")
    (folder / "hard.md").hardlink_to(folder / "post.md")
    (folder / "post.html").write_text(f"<p>{ARTICLE}</p>", "utf-8")
    (folder / "post.svg.toml").write_text(WALKTHROUGH, "utf-8")
    (folder / "marks.csv").write_bytes((folder / "answers.csv").read_bytes())
    (folder / "copies").mkdir()
    (folder / "copies" / "post.md").symlink_to("../post.md")
    (folder / "copies" / "post.md.md").symlink_to("../post.md")
    before = held(folder)
    symattn(*words.split(), *force)
    after = held(folder)
    assert {path: after.get(path) for path in before} == before


@pytest.mark.parametrize("words", ["new post.toml", "mark answers.csv --begin"])
def test_what_a_file_is_begun_with(words: str, symattn, folder: Path) -> None:
    """It replaces nothing; the new one is the user's, and no record speaks of it."""
    name = words.split()[1]
    before = (folder / name).read_bytes()
    refused = symattn(*words.split())
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == f"symattn: {name} already exists and is not overwritten\n"
    assert (folder / name).read_bytes() == before
    (folder / name).unlink()
    assert symattn(*words.split()).code == 0
    assert not (folder / RECORD).exists()


def test_an_author_s_own_sheet(symattn, folder: Path) -> None:
    """Sheets beside their walkthrough take nothing of the author's: not one file is written."""
    for name in ("post.tex", "post.html"):
        (folder / name).write_bytes(FOREIGN)
    before = held(folder)
    done = symattn("sheet", "post.toml", "-o", ".")
    assert done.code == 2
    assert "post.tex" in done.err
    assert "post.html" in done.err
    assert held(folder) == before


def test_the_key_of_another_exercise(symattn, folder: Path) -> None:
    """It is not replaced by that of the next one; the same exercise is made again at will."""
    assert symattn("exercise", "post.toml").code == 0
    before = held(folder)
    done = symattn("exercise", "cat-sat-mat")
    assert (done.code, done.out) == (2, "")
    assert "exercises/key.toml was written by symattn for something else" in done.err
    assert "(exercise post)" in done.err
    assert "another -o" in done.err
    assert held(folder) == before
    assert symattn("exercise", "post.toml", "--places", "3").code == 0
    assert symattn("exercise", "cat-sat-mat", "--force").code == 0


def test_one_command_s_results_are_not_another_s(symattn, folder: Path) -> None:
    """A sheet and a question of one name need two folders."""
    assert symattn("sheet", "post.toml", "--format", "html", "-o", "out").code == 0
    before = held(folder)
    done = symattn("exercise", "post.toml", "-o", "out")
    assert done.code == 2
    assert "out/post.html was written by symattn for something else (sheet)" in done.err
    # The key was not written either.
    assert held(folder) == before


@pytest.mark.parametrize("command", ["sheet --format html", "draw", "audit --format html"])
def test_names_that_differ_in_case(command: str, symattn, folder: Path) -> None:
    """They would be one file on many disks."""
    (folder / "POST.toml").write_text(WALKTHROUGH, "utf-8")
    before = held(folder)
    done = symattn(*command.split(), "post.toml", "POST.toml", "-o", "out")
    assert done.code == 2
    assert "would be one file" in done.err
    assert held(folder) == before


@pytest.fixture
def saved_meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """An editor that saves a file when all are worked out, just before they are written."""

    def saving(path: Path) -> None:
        from symattn.cli import cases

        work: Callable[..., object] = cases.of_each

        def and_save(*arguments: object, **named: object) -> object:
            result = work(*arguments, **named)
            path.write_bytes(path.read_bytes() + b"A paragraph.\n")
            return result

        monkeypatch.setattr(cases, "of_each", and_save)

    return saving


def test_a_paragraph_that_is_saved_meanwhile(symattn, folder: Path, saved_meanwhile) -> None:
    """The file is left as it is, and told; the others are corrected."""
    for name in ("a.md", "b.md"):
        (folder / name).write_text(ARTICLE, "utf-8")
    saved_meanwhile(folder / "post.md")
    done = symattn("audit", "a.md", "post.md", "b.md", "--fix")
    assert done.code == 2
    assert "post.md has changed in the meantime and is left as it is" in done.err
    assert (folder / "post.md").read_text("utf-8") == ARTICLE + "A paragraph.\n"
    for name in ("a.md", "b.md"):
        assert "0.731" in (folder / name).read_text("utf-8")
        assert "0.799" not in (folder / name).read_text("utf-8")
    assert "post.md:" not in done.out


def test_an_article_stays_its_author_s(symattn, folder: Path) -> None:
    """What --fix corrected in place is nothing that symattn may replace."""
    assert symattn("audit", "post.md", "--fix").code == 0
    assert not (folder / RECORD).exists()
    assert symattn("audit", "post.toml", "-o", "post.md").code == 2


def test_standard_input_is_read_too(symattn, folder: Path, monkeypatch) -> None:
    """A file that comes in there is not replaced either."""
    path = (folder / "homework.txt").rename(folder / "text.txt")
    before = path.read_bytes()
    terminal = os.dup(0)
    with path.open(encoding="utf-8") as typed:
        os.dup2(typed.fileno(), 0)
        monkeypatch.setattr("sys.stdin", typed)
        done = symattn("derive", "-", "--format", "text", "-o", ".", "--force")
    os.dup2(terminal, 0)
    os.close(terminal)
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == "symattn: text.txt is an input and would be overwritten: choose another -o, or omit it\n"
    )
    assert path.read_bytes() == before
