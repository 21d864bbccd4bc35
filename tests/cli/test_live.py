"""``symattn live``, ``symattn myst`` and ``symattn pandoc``."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import docx
import pytest

from tests.live.posts import FIGURES, POST

SUMMARY = f"post.md: {len(FIGURES)} figures"


@pytest.fixture
def post(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An article in the folder where commands run."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "post.md"
    path.write_text(POST)
    return path


def test_live_and_plain(symattn, post) -> None:
    """In place, and back: the same bytes; standard output gets the article alone."""
    done = symattn("live", "post.md")
    assert (done.code, done.err, done.out) == (0, "", f"{SUMMARY} live\n")
    assert "{symattn}`A[0, 1]:.4f`" in (live := post.read_text())
    printed = symattn("live", "post.md", "--plain", "-o", "-")
    assert (printed.code, printed.err, printed.out) == (0, f"{SUMMARY} in digits\n", POST)
    assert post.read_text() == live
    assert symattn("live", "post.md", "--plain").out == f"{SUMMARY} in digits\n"
    assert post.read_text() == POST


def test_output(symattn, post) -> None:
    """A file of its own names itself; the article stays, and is never overwritten."""
    assert symattn("live", "post.md", "--output", "live.md").code == 0
    assert (post.read_text(), "{symattn:case} live.md" in Path("live.md").read_text()) == (
        POST,
        True,
    )
    Path("other.md").write_text("mine")
    assert symattn("live", "post.md", "-o", "other.md").code == 2
    assert symattn("live", "post.md", "-o", "other.md", "--force").code == 0


@pytest.mark.parametrize(
    ("name", "words", "written"),
    [
        ("post.md", (), "{symattn}`A[0, 1]:.4f`"),
        ("post.md", ("--for", "myst"), "{symattn}`A[0, 1]:.4f`"),
        ("post.md", ("--for", "pandoc"), "`A[0, 1]:.4f`{.symattn}"),
        ("post.qmd", (), "`A[0, 1]:.4f`{.symattn}"),
    ],
)
def test_for_whom(symattn, post, name, words, written) -> None:
    """Each document system has its own spelling."""
    post.rename(name)
    assert symattn("live", name, *words).code == 0
    assert written in Path(name).read_text()


def test_case(symattn, post) -> None:
    """Figures may come from a case file."""
    Path("case.toml").write_text('[given]\nX = [[1, 0], [0, 1]]\n[steps]\nA = "softmax(X)"\n')
    assert symattn("live", "post.md", "--case", "case.toml").code == 0
    assert "```{symattn:case} case.toml\n```" in post.read_text()
    assert symattn("live", "post.md", "--plain").code == 0
    assert post.read_text() == POST


def test_what_stays_is_told(symattn, post) -> None:
    """Each figure that stays is told with its place and why."""
    post.write_text(POST + "\nAlso A[0, 1] = .269.\n")
    done = symattn("live", "post.md")
    assert f"{SUMMARY} live, 1 stay\n" in done.out
    assert "post.md:14:16 A[0, 1] .269: it is written otherwise" in done.out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("live", "cat-sat-mat"), "cat-sat-mat is no article"),
        (("live", "none.md"), "none.md"),
        (("live", "post.md", "--case", "none.toml"), "none.toml"),
        (("live", "post.tex"), "only Markdown can be made live, not latex"),
        (("live", "post.tex", "--plain"), "only Markdown can be made live, not latex"),
        (("live", "post.docx"), "only Markdown can be made live, not word"),
        (("live", "post.md", "--max-seconds", "0.001"), "0.001"),
        (("live", "post.md", "--max-memory", "1"), "1"),
    ],
)
def test_bad_use(symattn, post, words, why) -> None:
    """What can't be done is told, and the article stays."""
    Path("post.tex").write_text("$X = 1$\n")
    document = docx.Document()
    document.add_paragraph("So 0.25 * 3 = 0.75.")
    document.save("post.docx")
    done = symattn(*words)
    assert (done.code, done.out, why in done.err) == (2, "", True)
    assert post.read_text() == POST


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Text on standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_the_protocol_of_myst(symattn, post, monkeypatch) -> None:
    """What is offered; what a role and a directive stand for; and a page computed."""
    assert json.loads(symattn("myst").out)["name"].startswith("symattn")
    given(monkeypatch, '{"name": "symattn", "body": "A[0, 1]:.3f"}')
    role = json.loads(symattn("myst", "--role", "symattn").out)
    given(monkeypatch, '{"name": "symattn:case", "arg": "post.md"}')
    case = json.loads(symattn("myst", "--directive", "symattn:case").out)
    given(monkeypatch, json.dumps({"type": "root", "children": [*role, *case]}))
    done = symattn("myst", "--transform", "symattn")
    (text,) = json.loads(done.out)["children"]
    assert (done.code, done.err, text["value"]) == (0, "", "0.269")


@pytest.mark.parametrize(("words", "code"), [((), 0), (("html",), 0), (("--strict", "html"), 1)])
def test_the_filter_of_pandoc(symattn, post, monkeypatch, words, code) -> None:
    """A filter takes the name of a format; it fails on an error only where it is strict."""
    inline = [{"t": "Code", "c": [["", ["symattn"], []], text]} for text in ("A[0, 1]:.3f", "B")]
    meta = {"symattn": {"t": "MetaString", "c": "post.md"}}
    given(monkeypatch, json.dumps({"meta": meta, "blocks": [{"t": "Para", "c": inline}]}))
    done = symattn("pandoc", *words)
    assert (done.code, "symattn: B: unknown name 'B'" in done.err) == (code, True)
    assert '"0.269"' in done.out


@pytest.mark.parametrize("words", [("myst", "--transform", "symattn"), ("pandoc",)])
@pytest.mark.parametrize("limit", [("--max-seconds", "0.001"), ("--max-memory", "1")])
def test_limits(symattn, post, monkeypatch, words, limit) -> None:
    """Who builds pages of others has limits: nothing is printed beyond them."""
    given(monkeypatch, '{"meta": {}, "blocks": [], "type": "root", "children": []}')
    assert symattn(*words).code == 0
    given(monkeypatch, '{"meta": {}, "blocks": [], "type": "root", "children": []}')
    done = symattn(*words, *limit)
    assert (done.code, done.out) == (2, "")
    assert limit[0] in done.err


@pytest.mark.parametrize("words", [("myst", "--transform", "symattn"), ("pandoc",)])
@pytest.mark.parametrize("text", ["{", "[1]", "3", '{"a": NaN}', '{"a": 1e999}'])
def test_no_tree(symattn, monkeypatch, words, text) -> None:
    """What is no object of JSON is told."""
    given(monkeypatch, text)
    done = symattn(*words)
    assert (done.code, done.out) == (2, "")
    assert re.search("standard input: expected (an object of )?JSON", done.err)


SYSTEMS = ["live", "myst", "pandoc"]


def elsewhere(system: str, symattn, monkeypatch, *words: str):
    """How a command ends for a document that names a case in the folder above."""
    Path("inner").mkdir(exist_ok=True)
    Path("case.toml").write_text('[given]\nX = [[1, 0], [0, 1]]\n[steps]\nA = "softmax(X)"\n')
    monkeypatch.chdir("inner")
    place = {"type": "symattn", "inline": True}
    if system == "live":
        Path("a.md").write_text("---\nsymattn: ../case.toml\n---\nIt is {symattn}`A[0, 1]:.3f`.\n")
        return symattn("live", "a.md", "--plain", "-o", "-", *words)
    if system == "myst":
        nodes = [
            {**place, "name": "symattn", "value": "A[0, 1]:.3f"},
            {**place, "name": "symattn:case", "value": "../case.toml"},
        ]
        given(monkeypatch, json.dumps({"type": "root", "children": nodes}))
        return symattn("myst", "--transform", "symattn", *words)
    code = {"t": "Code", "c": [["", ["symattn"], []], "A[0, 1]:.3f"]}
    meta = {"symattn": {"t": "MetaString", "c": "../case.toml"}}
    given(monkeypatch, json.dumps({"meta": meta, "blocks": [{"t": "Para", "c": [code]}]}))
    return symattn("pandoc", "--strict", *words)


@pytest.mark.parametrize("system", SYSTEMS)
def test_documents_that_name_what_is_outside(system, symattn, tmp_path, monkeypatch) -> None:
    """Nothing of it is printed without leave."""
    done = elsewhere(system, symattn, monkeypatch)
    assert "is read only with --allow-outside" in done.out + done.err
    assert "0.269" not in done.out
    assert done.code == {"live": 2, "myst": 0, "pandoc": 1}[system]


def test_live_of_what_is_outside(symattn, monkeypatch) -> None:
    """With leave it is read."""
    done = elsewhere("live", symattn, monkeypatch, "--allow-outside")
    assert (done.code, "0.269" in done.out) == (0, True)


def test_myst_of_what_is_outside(symattn, monkeypatch) -> None:
    """With leave it is read."""
    done = elsewhere("myst", symattn, monkeypatch, "--allow-outside")
    assert (done.code, done.err, '"0.269"' in done.out) == (0, "", True)


def test_pandoc_of_what_is_outside(symattn, monkeypatch) -> None:
    """With leave it is read."""
    done = elsewhere("pandoc", symattn, monkeypatch, "--allow-outside")
    assert (done.code, done.err, '"0.269"' in done.out) == (0, "", True)
