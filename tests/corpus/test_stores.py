"""Places of articles and results: folders, patterns, lists, buckets."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import fsspec
import pytest

from symattn.corpus import stores
from symattn.corpus.audit import audit_corpus
from symattn.corpus.stores import library
from symattn.errors import Malformed

from .test_runs import PLAIN, RIGHT, WRONG, contents, here, posts

__all__ = ["here", "posts"]


@pytest.fixture
def bucket():
    """A bucket in memory; what is in it goes."""
    files = fsspec.filesystem("memory")
    yield files
    for name in files.ls("/", detail=False):
        files.rm(name, recursive=True)


def test_a_folder_and_below(posts) -> None:
    """Not what begins with a dot, nor results, nor what is no article."""
    (posts / ".git").mkdir()
    for name in (".git/a.md", ".hidden.md", "a.py", "a.symattn.toml"):
        (posts / name).touch()
    (posts / "results").mkdir()
    with stores.opened(str(posts / "results")):
        pass
    (posts / "results" / "index.html").touch()
    found = [Path(path).relative_to(posts).as_posix() for path in stores.articles(str(posts))]
    assert found == ["a.md", "b.md", "c.txt", "more/a.md"]


def test_patterns(posts, monkeypatch) -> None:
    monkeypatch.chdir(posts)
    (posts / "a[1].py").touch()
    assert stores.articles("*.md") == ["a.md", "b.md"]
    assert stores.articles("**/a.*") == ["a.md", "more/a.md"]
    with pytest.raises(Malformed, match=r"\*\.tex: no articles there"):
        stores.articles("*.tex")


def test_lists(posts) -> None:
    """Paths are seen from the list's folder; each counts once, addresses stay."""
    (posts / "list").write_text("b.md\nmore/a.md\nb.md\n\nmemory://x/y.md\n", "utf-8")
    found = stores.articles(str(posts / "list"), allow_outside=True)
    assert found == sorted([str(posts / "b.md"), str(posts / "more/a.md"), "memory://x/y.md"])
    article = str(posts / "a.md")
    with pytest.raises(Malformed, match=rf"\A{re.escape(article)} is an article: audit it by its"):
        stores.articles(article)
    with pytest.raises(Malformed, match="nowhere can't be read: no such file"):
        stores.articles(str(posts / "nowhere"))


OUTSIDE = [
    "../secret/x.md",
    "/etc/x.md",
    "memory://x/y.md",
    "file:///etc/x.md",
    "link.md",
    "up/x.md",
]


@pytest.mark.parametrize("line", OUTSIDE)
def test_a_list_leads_nowhere_else(line, posts, tmp_path) -> None:
    """Its lines are text: what they name outside of its folder, through links too, is read only
    with leave; all such lines are told."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "x.md").write_bytes(WRONG)
    (posts / "link.md").symlink_to("../secret/x.md")
    (posts / "up").symlink_to("../secret")
    (posts / "list").write_text(f"a.md\n{line}\nb.md\n/x.md\n", "utf-8")
    with pytest.raises(Malformed, match="it is read only with --allow-outside") as told:
        stores.articles(str(posts / "list"))
    assert [fault.line for fault in told.value.faults] == [2, 4]
    assert len(stores.articles(str(posts / "list"), allow_outside=True)) == 4


@pytest.mark.parametrize("where", ["posts", "posts/*.md", "posts/**/*.md"])
def test_a_link_leads_nowhere_else(where, posts, tmp_path, monkeypatch) -> None:
    """One that leads out of a folder or a pattern is read only with leave."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.md").write_bytes(WRONG)
    (posts / "inner.md").symlink_to("a.md")
    assert "posts/inner.md" in stores.articles(where)
    (posts / "link.md").symlink_to("../secret.md")
    with pytest.raises(Malformed, match=r"posts/link\.md leads out of its folder"):
        stores.articles(where)
    assert "posts/link.md" in stores.articles(where, allow_outside=True)


@pytest.mark.parametrize("line", ["../b.md", "memory://other/d.md", "a/../../b.md", "file:///x.md"])
def test_a_list_in_a_bucket_leads_nowhere_else(line, bucket) -> None:
    bucket.pipe("/corpus/list", f"a.md\n{line}\n".encode())
    with pytest.raises(Malformed, match=r"list:2: .* leads out of its folder"):
        stores.articles("memory://corpus/list")


@pytest.mark.parametrize("where", ["folder", "list", "bucket"])
def test_no_article_is_written_over(where, posts, bucket, here) -> None:
    """Results that are written beside articles, by force, replace none of them."""
    if where == "bucket":
        corpus = out = "memory://corpus"
        bucket.pipe("/corpus/index.html", b"<p>mine</p>")
    else:
        out, corpus = str(posts), str(posts / "list" if where == "list" else posts)
        (posts / "index.html").write_text("<p>mine</p>", "utf-8")
        (posts / "list").write_text("a.md\nindex.html\n", "utf-8")
    with pytest.raises(Malformed, match=r"index\.html is an input and would be overwritten"):
        audit_corpus(corpus, out, force=True)
    if where == "bucket":
        assert bucket.cat("/corpus/index.html") == b"<p>mine</p>"
    else:
        assert (posts / "index.html").read_text("utf-8") == "<p>mine</p>"
        assert sorted(path.name for path in posts.iterdir() if path.is_file()) == sorted(
            ["a.md", "b.md", "c.txt", "index.html", "list"]
        )


LINKS = [".symattn-corpus", "results.jsonl.part", "index.html.part", "kept", "index.html"]


@pytest.mark.parametrize("name", LINKS)
def test_results_are_written_through_no_link(name, posts, tmp_path, here) -> None:
    """A folder that says it holds results writes nothing outside of itself."""
    (tmp_path / "outside").mkdir()
    precious = tmp_path / "precious"
    precious.write_bytes(b"" if name == stores.MARKER else b"mine")
    before = precious.read_bytes()
    out = tmp_path / "results"
    out.mkdir()
    (out / stores.MARKER).write_bytes(b"ours\n")
    (out / name).unlink(missing_ok=True)
    (out / name).symlink_to("../outside" if name == "kept" else "../precious")
    with suppress(Malformed):
        audit_corpus(posts, out)
    assert precious.read_bytes() == before
    assert [*(tmp_path / "outside").iterdir()] == []


def test_a_bucket_is_as_good_as_a_folder(posts, bucket, tmp_path, here, monkeypatch) -> None:
    """Articles from a bucket and results into one: the same but for the addresses."""
    for path, data in [("a.md", WRONG), ("b.md", RIGHT), ("more/a.md", WRONG), ("c.txt", PLAIN)]:
        bucket.pipe(f"/corpus/{path}", data)
    bucket.pipe("/corpus/a.symattn.toml", b'document = "a.md"\nignore = [1]\n')
    (posts / "a.symattn.toml").write_text('document = "a.md"\nignore = [1]\n', "utf-8")
    audit_corpus("memory://corpus", "memory://results")
    monkeypatch.chdir(tmp_path)
    audit_corpus("posts", "r")

    def moved(content: bytes) -> bytes:
        return content.replace(b"memory:///corpus", b"posts").replace(b"memory://corpus", b"posts")

    held = {name: bucket.cat(f"/results/{name}") for name in contents("r")}
    assert {name: moved(data) for name, data in held.items() if "parquet" not in name} == {
        name: data for name, data in contents("r").items() if "parquet" not in name
    }
    assert len(bucket.find("/results")) == len(held)


def test_bucket_patterns_and_lists(bucket) -> None:
    for name in ("a.md", "b.tex", "more/c.md", "results/" + stores.MARKER, "results/index.html"):
        bucket.pipe(f"/corpus/{name}", PLAIN)
    bucket.pipe("/corpus/list", b"b.tex\nmemory://other/d.md\n")
    addresses = [f"memory:///corpus/{name}" for name in ("a.md", "b.tex", "more/c.md")]
    shown = [name.replace("memory:///", "memory://") for name in addresses]
    assert [x.replace(":///", "://") for x in stores.articles("memory://corpus")] == shown
    found = stores.articles("memory://corpus/**/*.md")
    assert [x.replace(":///", "://") for x in found] == [shown[0], shown[2]]
    addresses = ["memory://corpus/b.tex", "memory://other/d.md"]
    assert stores.articles("memory://corpus/list", allow_outside=True) == addresses


def test_a_bucket_that_resumes(bucket, here) -> None:
    done, _ = here
    bucket.pipe("/corpus/a.md", WRONG)
    for _ in range(2):
        audit_corpus("memory://corpus", "memory://results")
    assert done == ["a.md"]
    (line,) = bucket.cat("/results/results.jsonl").splitlines()
    assert json.loads(line)["file"].endswith("corpus/a.md")


@pytest.mark.parametrize("where", ["folder", "bucket"])
def test_what_is_not_ours_stays(where, tmp_path, bucket) -> None:
    """A folder that holds something else is refused, unless by force."""
    place = str(tmp_path / "mine") if where == "folder" else "memory://mine"
    with fsspec.open(f"{place}/thesis.tex", "wb", auto_mkdir=True) as file:
        file.write(b"mine")
    with (
        pytest.raises(Malformed, match="holds something else than results of a corpus"),
        stores.opened(place),
    ):
        pass
    with stores.opened(place, force=True) as store:
        store.write("results.jsonl", [b"ours"])
    with fsspec.open(f"{place}/thesis.tex", "rb") as file:
        assert file.read() == b"mine"


def test_one_run_at_a_time(tmp_path) -> None:
    with (
        stores.opened(str(tmp_path)),
        pytest.raises(Malformed, match="another run writes there"),
        stores.opened(str(tmp_path)),
    ):
        pass
    with stores.opened(str(tmp_path)) as store:
        assert store.names("kept") == set()


def test_half_a_file_is_none(tmp_path) -> None:
    """What fails while it is written leaves what was there."""
    with stores.opened(str(tmp_path)) as store:
        store.write("kept/ab/x", [b"whole"])

        def pieces():
            yield b"half"
            raise MemoryError

        with pytest.raises(MemoryError):
            store.write("kept/ab/x", pieces())
        assert store.read("kept/ab/x") == b"whole"
        assert store.names("kept") == {"x"}


def test_without_the_extra(monkeypatch) -> None:
    """Plain installs are told what to install."""
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(
        Malformed, match=r"fsspec is not installed: pip install 'symattn\[corpus\]'"
    ):
        library("fsspec")
    with pytest.raises(Malformed, match="fsspec is not installed"):
        stores.articles("s3://bucket/posts")


@pytest.mark.heavy
def test_plain_runs_load_nothing_of_the_extra(posts) -> None:
    """Nor do they load what only workers need."""
    script = (
        "import sys; from symattn.corpus import audit, stores; import symattn.cli.audit; "
        f"stores.articles({str(posts)!r}); "
        "heavy = {'fsspec', 'dask', 'distributed', 'pyarrow', 'sympy', 'flint'}; "
        "print(sorted(heavy & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
