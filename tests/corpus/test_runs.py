"""Corpora audited: what is kept, what is done again, and by whom."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import symattn
from symattn import workers
from symattn.auditing.reports import as_dict
from symattn.corpus import records, runs, stores
from symattn.corpus.audit import audit_corpus
from symattn.errors import Malformed, NoClosedForm
from symattn.workers import Asker, Ended, WorkLimits
from tests.corpus import made

WRONG, RIGHT, PLAIN = b"So 0.25 * 3 = 0.85.\n", b"So 0.25 * 3 = 0.75.\n", b"No figures.\n"
LIMITS = WorkLimits(30, 1000)


@pytest.fixture
def here(monkeypatch):
    """Work is done in this process; the names of what was audited, in order, and how an
    article ends by its name, where that is not as it should."""
    done: list[str] = []
    ends: dict[str, list[BaseException]] = {}

    def results(jobs, limits, at_once=1):
        for index, (work, arguments) in enumerate(jobs):
            (article,) = arguments
            done.append(article.name)
            if ends.get(article.name):
                yield index, ends[article.name].pop()
            else:
                yield index, workers.done(work, Asker(lambda what: None), arguments)

    monkeypatch.setattr(workers, "results", results)
    done_and_ends = done, ends
    return done_and_ends


@pytest.fixture
def posts(tmp_path):
    folder = tmp_path / "posts"
    (folder / "more").mkdir(parents=True)
    for name, data in [("a.md", WRONG), ("b.md", RIGHT), ("more/a.md", WRONG), ("c.txt", PLAIN)]:
        (folder / name).write_bytes(data)
    return folder


def lines(results):
    return [json.loads(line) for line in (Path(results) / "results.jsonl").read_text().splitlines()]


def contents(folder) -> dict[str, bytes]:
    """Every file of results by its path in the folder."""
    paths = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_a_line_for_each_article_in_order(posts, tmp_path, here) -> None:
    tally = audit_corpus(posts, tmp_path / "r")
    found = lines(tmp_path / "r")
    assert [Path(line["file"]).relative_to(posts).as_posix() for line in found] == [
        "a.md",
        "b.md",
        "c.txt",
        "more/a.md",
    ]
    assert [line["audit"]["summary"]["refuted"] for line in found] == [1, 0, 0, 1]
    assert all(claim["file"] == line["file"] for line in found for claim in line["audit"]["claims"])
    assert tally.outcomes == {"refuted": 2, "clean": 1, "silent": 1}
    assert tally.counts["refuted"] == 2
    assert tally.failures == 0


def test_the_same_content_is_audited_once(posts, tmp_path, here) -> None:
    """Two files of one name and content are one work, and have each its line; what is kept is
    not done again, and what has changed is."""
    done, _ = here
    audit_corpus(posts, tmp_path / "r")
    assert sorted(done) == ["a.md", "b.md", "c.txt"]
    before = contents(tmp_path / "r")
    audit_corpus(posts, tmp_path / "r")
    assert len(done) == 3
    assert contents(tmp_path / "r") == before
    (posts / "b.md").write_bytes(WRONG)
    audit_corpus(posts, tmp_path / "r")
    assert done[3:] == ["b.md"]
    # What comes back is known still.
    (posts / "b.md").write_bytes(RIGHT)
    audit_corpus(posts, tmp_path / "r")
    assert len(done) == 4


def test_results_know_their_names(posts, tmp_path, here) -> None:
    """The same bytes by another name are another case."""
    (posts / "b.md").write_bytes(WRONG)
    audit_corpus(posts, tmp_path / "r")
    assert [line["audit"]["case"] for line in lines(tmp_path / "r")] == [
        "a.md",
        "b.md",
        "c.txt",
        "a.md",
    ]


def test_another_version_works_anew(posts, tmp_path, here, monkeypatch) -> None:
    done, _ = here
    audit_corpus(posts, tmp_path / "r")
    for module in (records, runs):
        monkeypatch.setattr(module, "__version__", "9.9")
    monkeypatch.setattr(records.Record.__new__, "__defaults__", ("9.9",))
    audit_corpus(posts, tmp_path / "r")
    assert len(done) == 6


def test_workers_of_another_version_are_refused(posts, tmp_path, monkeypatch) -> None:
    def of_another(articles, limits):
        return [records.Record(one.key, "judged", b"", "0.0.1") for one in articles]

    monkeypatch.setattr(runs, "records_of", of_another)
    with (
        ThreadPoolExecutor(1) as threads,
        pytest.raises(Malformed, match=r"a worker has symattn 0.0.1, and this is .*"),
    ):
        audit_corpus(posts, tmp_path / "r", threads)


def test_side_files_count(posts, tmp_path, here) -> None:
    """What a side file says is heard, and another side file is another content."""
    done, _ = here
    audit_corpus(posts, tmp_path / "r")
    (posts / "a.symattn.toml").write_text('document = "a.md"\nignore = [1]\n', "utf-8")
    audit_corpus(posts, tmp_path / "r")
    assert done[3:] == ["a.md"]
    assert [line["audit"]["summary"]["refuted"] for line in lines(tmp_path / "r")] == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("end", "ending", "why"),
    [
        (Ended("time"), "stopped", "stopped after 30 seconds (--max-seconds)"),
        (Ended("memory"), "stopped", "needs more than 1000 MB (--max-memory)"),
        (RecursionError(), "unreadable", "nested too deeply to be computed"),
        (Malformed("no such axis"), "unreadable", "no such axis"),
        (NoClosedForm("too long"), "unreadable", "too long"),
        (workers.Crashed("internal error: KeyError", ""), "error", "internal error: KeyError"),
    ],
)
def test_what_ends_badly_is_a_line(end, ending, why, posts, tmp_path, here) -> None:
    """It is kept, too; what was stopped at limits is done again with others."""
    done, ends = here
    ends["b.md"] = [end]
    tally = audit_corpus(posts, tmp_path / "r", limits=LIMITS)
    line = lines(tmp_path / "r")[1]
    assert (line["ending"], line["failure"], line["audit"]) == (ending, why, None)
    assert tally.outcomes[ending] == tally.failures == 1
    audit_corpus(posts, tmp_path / "r", limits=LIMITS)
    assert len(done) == 3
    audit_corpus(posts, tmp_path / "r", limits=WorkLimits(60, 1000))
    assert done[3:] == (["b.md"] if ending == "stopped" else [])


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (Ended("signal", 9), "its process was ended (SIGKILL)"),
        (Ended("signal"), "ended early, maybe as it needs more than 2048 MB (--max-memory)"),
        (OSError(5, "Input/output error"), "Input/output error"),
    ],
)
def test_what_may_be_the_machine_s_fault_is_tried_again(end, why, posts, tmp_path, here) -> None:
    """Once in a run, since a signal may be sent by anybody, and by the next run."""
    done, ends = here
    ends["a.md"] = [end]
    tally = audit_corpus(posts, tmp_path / "r")
    assert tally.failures == 0
    assert done.count("a.md") == 2
    ends["b.md"] = [end, end]
    tally = audit_corpus(posts, tmp_path / "other")
    assert tally.failed == [(str(posts / "b.md"), why)]
    assert done.count("b.md") == 3
    assert audit_corpus(posts, tmp_path / "other").failures == 0


def test_what_cannot_be_read_is_a_line(posts, tmp_path, here) -> None:
    (posts / "d.md").write_bytes(b"\xff\xfe\xff")
    (posts / "long.md").write_bytes(b" " * 4_000_001)
    listed = posts / "list.txt"
    listed.write_text("a.md\n\nmissing.md\nd.md\nmore\nlong.md\n", "utf-8")
    audit_corpus(listed, tmp_path / "r")
    found = {Path(line["file"]).name: line["failure"] for line in lines(tmp_path / "r")}
    assert found["a.md"] is None
    assert found["missing.md"] == "the file can't be read: no such file"
    assert found["more"] == "the file can't be read: no such file"
    assert found["long.md"] == "the file has more than 4000000 bytes; at most 4000000 are read"
    assert found["d.md"].startswith("not text: byte ")


def test_letters_that_are_none(posts, tmp_path, here) -> None:
    """Names in bytes, and halves of letters in notebooks, go through all that is written."""
    (posts / os.fsdecode(b"\xff.md")).write_bytes(WRONG)
    text = "# \ud800 title\n\n0.25 * 3 = 0.85 \ud800 and $\ud801 = 3$"
    cells = [{"cell_type": "markdown", "metadata": {}, "source": text}]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (posts / "half.ipynb").write_text(json.dumps(book), "utf-8")
    tally = audit_corpus(posts, tmp_path / "r")
    assert tally.articles == len(lines(tmp_path / "r")) == 6
    assert lines(tmp_path / "r")[-1]["file"].endswith("\\udcff.md")
    assert lines(tmp_path / "r")[-1]["audit"]["summary"]["refuted"] == 1
    assert "udcff.md" in (tmp_path / "r" / "index.html").read_text("utf-8")


def repacked(change: Callable[[Any], object]) -> Callable[[bytes], bytes]:
    """A kept result with something else in it, whole in every other way."""

    def changed(content: bytes) -> bytes:
        about = json.loads(gzip.decompress(content))
        made = change(about)
        return gzip.compress(json.dumps(about if made is None else made).encode())

    return changed


def instead(made: Any, about: Any) -> Any:
    return made


def put(at: str, value: Any, about: Any) -> None:
    """Put a value at a place."""
    *above, last = at.split(".")
    for key in above:
        about = about[key]
    about[last] = value


NO_RESULTS: list[Any] = [[], 3, "text", {}, {"audit": None}]
DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda x: x[:-9],
    lambda x: x[:30] + b"???" + x[33:],
    lambda x: b"",
    lambda x: gzip.compress(b" " * 100 + b"{"),
    lambda x: gzip.compress(b"[" * 100_000),
    *(repacked(partial(instead, thing)) for thing in NO_RESULTS),
    *(
        repacked(partial(put, at, value))
        for at, value in [
            ("article", 3), ("ending", "lost"), ("failure", []), ("audit", [1]),
            ("audit.summary", {}), ("audit.summary", None), ("audit.claims", {}),
            ("audit.claims", [{}]), ("audit.claims", [3]), ("audit.causes", [{"kind": "x"}]),
            ("audit.open", [{}]), ("audit.unread", [{"count": -1}]),
            ("audit.unread", [{"count": 1 << 40}]), ("audit.unread", [{"count": True}]),
        ]
    ),
    repacked(lambda about: about["audit"]["summary"].update(refuted="1")),
    repacked(lambda about: about["audit"]["summary"].update(more="1")),
    repacked(lambda about: about["audit"]["summary"].pop("figures")),
    repacked(lambda about: about["audit"]["claims"][0].update(cause="fate")),
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_made_again(damage, posts, tmp_path, here) -> None:
    """A kept result that is torn, or is none, is told, and the next run finds it whole; what is
    written is the same, byte by byte."""
    done, _ = here
    audit_corpus(posts, tmp_path / "r")
    before = contents(tmp_path / "r")
    name, kept = next(
        (path.name, path)
        for path in (tmp_path / "r" / "kept").rglob("*.gz")
        if json.loads(gzip.decompress(path.read_bytes()))["article"] == "a.md"
    )
    kept.write_bytes(damage(kept.read_bytes()))
    tally = audit_corpus(posts, tmp_path / "r")
    assert [Path(one).name for one in tally.remade] == [name]
    assert contents(tmp_path / "r") == before
    assert done[3:] == ["a.md"]
    assert audit_corpus(posts, tmp_path / "r").remade == []
    assert len(done) == 4


def test_a_kept_result_that_unpacks_without_end(posts, tmp_path, here, monkeypatch) -> None:
    """It is no result, and takes no memory."""
    monkeypatch.setattr(records, "_MOST_BYTES", 1 << 20)
    audit_corpus(posts, tmp_path / "r")
    kept = sorted((tmp_path / "r" / "kept").rglob("*.gz"))[0]
    kept.write_bytes(gzip.compress(b" " * (1 << 24) + b"{}"))
    assert len(audit_corpus(posts, tmp_path / "r").remade) == 1


def test_what_is_kept_is_the_line(posts, tmp_path, here) -> None:
    """The compressed file of an article has its name in place of its path, and the rest."""
    audit_corpus(posts, tmp_path / "r")
    (first, *_) = lines(tmp_path / "r")
    every = [
        json.loads(gzip.decompress(path.read_bytes()))
        for path in (tmp_path / "r/kept").rglob("*.gz")
    ]
    (kept,) = (one for one in every if one["article"] == "a.md")
    assert kept["sha256"] == first["sha256"]
    assert kept["audit"]["summary"] == first["audit"]["summary"]


@pytest.mark.sampled(1, 10)
@pytest.mark.parametrize("name", [name for name, _ in made.originals()])
def test_the_same_as_an_audit_of_the_file(name, tmp_path, monkeypatch) -> None:
    """A result is what ``audit --format json`` says of the article where it lies."""
    monkeypatch.chdir(tmp_path)
    data = dict(made.originals())[name]
    (tmp_path / name).write_bytes(data)
    article = records.held(f"far/{name}", data, None)
    content = records.audited(Asker(lambda what: None), article)
    expected = as_dict(symattn.audit(name))
    assert records.unpacked(content, name, article.key)["audit"] == json.loads(json.dumps(expected))


class Losing(Executor):
    """Works here, loses every second piece, and after some takes no more."""

    def __init__(self, most: int = 1000) -> None:
        self.pieces, self.most = 0, most

    def submit(self, work, /, *arguments, **named):
        self.pieces += 1
        if self.pieces > self.most:
            raise RuntimeError("the machine is gone")
        future: Future[object] = Future()
        if self.pieces % 2:
            future.set_result(work(*arguments, **named))
        else:
            future.set_exception(OSError("the machine is gone"))
        return future


@pytest.mark.parametrize("executor", [Losing(), Losing(0), Losing(1)])
def test_what_an_executor_loses_is_done_here(executor, posts, tmp_path, here, monkeypatch) -> None:
    monkeypatch.setattr(runs, "CHUNK", 1)
    audit_corpus(posts, tmp_path / "one")
    audit_corpus(posts, tmp_path / "other", executor)
    assert executor.pieces == 3
    assert contents(tmp_path / "one") == contents(tmp_path / "other")


def test_articles_are_read_as_the_work_goes_on(tmp_path, here, monkeypatch) -> None:
    """Not all of a large corpus is held at once: no more than is given to the executor."""
    monkeypatch.setattr(runs, "CHUNK", 1)
    monkeypatch.setattr("symattn.sharing.AHEAD", 3)
    posts = tmp_path / "posts"
    posts.mkdir()
    for number in range(20):
        (posts / f"{number:02}.md").write_bytes(PLAIN)
    read: list[str] = []
    content = stores.content

    def reading(path):
        read.append(path)
        return content(path)

    monkeypatch.setattr(stores, "content", reading)
    ahead: list[int] = []
    audit_corpus(
        posts, tmp_path / "r", Losing(), watch=lambda done, _: ahead.append(len(read) - done)
    )
    # Half of the pieces are lost, and done at last.
    assert ahead[0] <= 3 + 1
    assert len(read) == 20


def test_progress(posts, tmp_path, here) -> None:
    """Who watches hears of every article, of those that are kept too."""
    for _ in range(2):
        told: list[tuple[int, int]] = []
        audit_corpus(posts, tmp_path / "r", watch=lambda *now, told=told: told.append(now))
        assert told == [(k, 4) for k in (1, 2, 3, 4)]
