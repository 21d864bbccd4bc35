"""Hostile articles by processes, by a pool and by a cluster: the same bytes, and nobody left."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from symattn.corpus.audit import audit_corpus
from symattn.workers import WorkLimits
from tests.fuzz import articles, batch

from .test_executors import ENDINGS, SITE, opened
from .test_runs import PLAIN, contents, lines

#: What ends workers, besides what :mod:`.test_executors` has: calls without end, a stack that
#: is full, threads and programs that outlive the work, and an interpreter that can't be left.
MORE = """
plain = article.held_article_case

def worse(name, data, side):
    kind = name.partition(".")[0]
    if kind == "deep":
        worse(name, data, side)
    elif kind == "stack":
        sys.setrecursionlimit(1 << 30)
        import json
        json.loads("[" * 100_000_000)
    elif kind == "thread":
        import threading, time
        threading.Thread(target=time.sleep, args=(1000,)).start()
    elif kind == "program":
        import subprocess
        subprocess.Popen(["sleep", "1000"])
    elif kind == "atexit":
        import atexit, time
        atexit.register(time.sleep, 1000)
    elif kind == "signals":
        for number in {*signal.Signals} - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM}:
            signal.signal(number, signal.SIG_IGN)
    elif kind == "stopped":
        os.kill(os.getpid(), signal.SIGTERM)
    elif kind == "chatter":
        import ctypes
        for _ in range(3000):
            ctypes.CDLL(None).puts(b"x" * 100)
    return plain(name, data, side)

article.held_article_case = worse
"""
WORSE = ("deep", "stack", "thread", "program", "atexit", "signals", "stopped", "chatter")
#: Articles, and case files that say that they are articles.
FEW, MANY = 4, 200
#: Seconds that a run may take beside one for each article: the slow one is stopped after 20.
PATIENCE = 120


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder whose articles of some names end as no article should, wherever they are read."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys\n" + SITE + MORE, "utf-8")
    path = os.pathsep.join([str(tmp_path / "site"), *filter(None, sys.path)])
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("SYMATTN_LOG", str(tmp_path / "log"))
    # What no reader expected ends its article, as it does for users.
    monkeypatch.setenv("SYMATTN_TRACEBACK", "0")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, count: int) -> None:
    """So many hostile articles, mutants of case files among them, and those that end workers."""
    folder.mkdir()
    examples = articles.sources()
    for seed in range(count):
        name, data = articles.hostile(examples, seed)
        if seed % 5 == 4:
            kind = ("mutants", "grammar", "valid")[seed % 3]
            name, data = "x.md", batch.drawn(kind, seed)[0]
        (folder / f"{seed:04}-{name}").write_bytes(data)
    for name in (*ENDINGS, *WORSE):
        (folder / f"{name}.md").write_bytes(PLAIN + name.encode())


def left(log: Path) -> list[int]:
    """The processes of this test that still run, but for this one."""
    mark = f"SYMATTN_LOG={log}\0".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes() and int(path.parent.name) != os.getpid():
                words = (path.parent / "cmdline").read_bytes()
                # Python starts one for all pools of a process.
                if b"resource_tracker" not in words:
                    found.append(int(path.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    "count",
    [pytest.param(FEW, marks=pytest.mark.heavy), pytest.param(MANY, marks=pytest.mark.campaign)],
)
def test_hostile_articles_whoever_works(count: int, place: Path) -> None:
    written(place / "posts", count)
    held: dict[str, dict[str, bytes]] = {}
    for kind in ("processes", "pool", "dask"):
        begun = time.monotonic()
        limits = WorkLimits(20 if count > FEW else 8, 600)
        with opened(kind, place, {**os.environ}) as executor:
            tally = audit_corpus("posts", kind, executor, limits=limits, jobs=2)
            # A cluster's own processes, and those of a pool, are there as long as it is.
            if kind == "processes":
                assert left(place / "log") == []
        assert time.monotonic() - begun < PATIENCE + count
        assert tally.articles == count + len(ENDINGS) + len(WORSE)
        assert tally.remade == []
        held[kind] = contents(kind)
        assert left(place / "log") == []
    assert held["processes"] == held["pool"] == held["dask"]
    found = {Path(line["file"]).stem: line for line in lines("dask")}
    assert [found[name]["ending"] for name in ENDINGS] == [end for end, _ in ENDINGS.values()]
    # Nothing but what was made to: no hostile article is a fault of symattn.
    assert [name for name, line in found.items() if line["ending"] == "error"] == ["crash"]
    assert {name for name, line in found.items() if line["ending"] in ("stopped", "ended")} == {
        "slow", "hoard", "power", "exit", "killed", "segment", "stack", "stopped",
    }  # fmt: skip
