"""Whoever works, and whatever ends: the same bytes."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest

from symattn.cli import options
from symattn.corpus.audit import audit_corpus
from symattn.errors import Malformed
from tests.corpus import made

from .test_runs import PLAIN, RIGHT, WRONG, contents, lines

ROOT = Path(__file__).parent.parent.parent
#: Articles of the small corpus, and of the large one.
FEW = 20
MANY = int(os.environ.get("SYMATTN_CORPUS", "1000"))


@contextmanager
def cluster(folder: Path, environment: dict[str, str] | None = None):
    """A scheduler of Dask and two workers, processes of their own; its address, and these."""
    (folder / "cluster").mkdir()
    where = folder / "cluster" / "scheduler.json"
    environment = environment or {**os.environ, "PYTHONPATH": str(ROOT)}

    def started(what, *words):
        command = [sys.executable, "-m", "distributed.cli." + what, "--scheduler-file", str(where)]
        return subprocess.Popen(
            [*command, *words],
            env=environment,
            cwd=folder / "cluster",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    processes = [started("dask_scheduler", "--port", "0", "--no-dashboard")]
    try:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
        hands = [started("dask_worker", *options) for _ in range(2)]
        processes += hands
        from distributed import Client

        with Client(scheduler_file=str(where), timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield address, hands
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def opened(kind: str, folder: Path, environment: dict[str, str] | None = None):
    """An executor of a kind; a cluster in this environment."""
    match kind:
        case "processes":
            yield None
        case "threads":
            with ThreadPoolExecutor(2) as pool:
                yield pool
        case "pool":
            with ProcessPoolExecutor(2, get_context("spawn")) as pool:
                yield pool
        case "dask":
            with (
                cluster(folder, environment) as (address, _),
                options.opened_executor(f"dask={address}") as executor,
            ):
                yield executor


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A corpus of some articles, some edited, and what one process finds in it."""
    folder = tmp_path_factory.mktemp("few")
    # Some of the originals, and all that follows from the first edits.
    start = len(made.originals()) - FEW // 2
    made.written(folder / "posts", FEW, start=start)
    audit_corpus(folder / "posts", folder / "one", jobs=1)
    return folder


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["processes", "threads", "pool", "dask"])
def test_the_bytes_are_the_same_whoever_works(kind, few, tmp_path) -> None:
    with opened(kind, tmp_path) as executor:
        audit_corpus(few / "posts", tmp_path / "r", executor, jobs=2)
    assert contents(tmp_path / "r") == contents(few / "one")


@pytest.mark.heavy
@pytest.mark.parametrize("number", range(3))
def test_a_worker_of_a_cluster_is_killed(number, few, tmp_path) -> None:
    """In the middle of the work; nothing is lost, nothing is other."""
    with (
        cluster(tmp_path) as (address, hands),
        options.opened_executor(f"dask={address}") as executor,
    ):
        killed: list[int] = []

        def watch(done: int, count: int) -> None:
            if done >= 1 + number * FEW // 3 and not killed:
                killed.append(hands[0].pid)
                hands[0].kill()

        from symattn.corpus import runs

        chunk, runs.CHUNK = runs.CHUNK, 2
        try:
            audit_corpus(few / "posts", tmp_path / "r", executor, watch=watch)
        finally:
            runs.CHUNK = chunk
        assert killed
        hands[0].wait()
    assert contents(tmp_path / "r") == contents(few / "one")


@pytest.mark.heavy
def test_a_cluster_that_is_gone(few, tmp_path) -> None:
    """What all workers of a pool lose is done here."""
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        pool.submit(os.getpid).result()
        for place in [*pool._processes]:
            os.kill(place, signal.SIGKILL)
        time.sleep(0.2)
        audit_corpus(few / "posts", tmp_path / "r", pool)
    assert contents(tmp_path / "r") == contents(few / "one")


@pytest.mark.campaign
def test_a_large_corpus_whoever_works(tmp_path) -> None:
    """A thousand articles, most of them with random edits, by all executors."""
    posts = made.written(tmp_path / "posts", MANY, seed=1)
    audit_corpus(posts, tmp_path / "processes", jobs=2)
    expected = contents(tmp_path / "processes")
    assert len(lines(tmp_path / "processes")) == MANY
    for kind in ("pool", "dask"):
        with opened(kind, tmp_path) as executor:
            audit_corpus(posts, tmp_path / kind, executor)
        assert contents(tmp_path / kind) == expected


def test_executors_that_there_are_not() -> None:
    with pytest.raises(Malformed, match="unknown executor 'dusk': expected one of processes, dask"):
        options.check_executor("dusk")
    with pytest.raises(Malformed, match="unknown executor 'dask='"):
        options.check_executor("dask=")


@pytest.mark.heavy
def test_a_scheduler_that_does_not_answer(monkeypatch) -> None:
    monkeypatch.setattr(options, "_ANSWERING", 1)
    with (
        pytest.raises(Malformed, match=r"no Dask scheduler answers at tcp://127.0.0.1:9: "),
        options.opened_executor("dask=tcp://127.0.0.1:9"),
    ):
        pass


@pytest.mark.parametrize(
    "says", [b"HTTP/1.1 400 Bad Request", b"\1" + bytes(7) + b"\5" + bytes(20)]
)
def test_a_server_of_another_kind(says: bytes) -> None:
    """As at the port of a scheduler's dashboard."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:

        def answer() -> socket.socket:
            connection, _ = server.accept()
            connection.sendall(says)
            return connection

        answered = pool.submit(answer)
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        why = f"no Dask scheduler answers at {address}: a server of another kind does"
        with pytest.raises(Malformed, match=why), options.opened_executor(f"dask={address}"):
            pass
        answered.result().close()


def test_a_server_that_says_nothing(monkeypatch) -> None:
    monkeypatch.setattr(options, "_ANSWERING", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        why = f"no Dask scheduler answers at {address}: it says nothing for 0.2 seconds"
        with pytest.raises(Malformed, match=why), options.opened_executor(f"dask={address}"):
            pass


#: What makes articles of these names end as no article should, in any worker.
SITE = """\
import os, signal
from symattn.cases import article

held = article.held_article_case

def case(name, data, side):
    with open(os.environ["SYMATTN_LOG"], "a") as log:
        log.write(name + "\\n")
    kind = name.partition(".")[0]
    if kind == "slow":
        import flint
        flint.fmpz((2**521 - 1) * (2**607 - 1)).factor()
    elif kind == "hoard":
        bytearray(1 << 40)
    elif kind == "power":
        import flint
        flint.fmpz(3) ** (10**10)
    elif kind == "crash":
        raise KeyError("lost")
    elif kind == "exit":
        os._exit(3)
    elif kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == "segment":
        os.kill(os.getpid(), signal.SIGSEGV)
    return held(name, data, side)

article.held_article_case = case
"""
ENDINGS = {
    "slow": ("stopped", "stopped after 5 seconds (--max-seconds)"),
    "hoard": ("stopped", "needs more than 600 MB (--max-memory)"),
    "power": ("stopped", "needs more than 600 MB (--max-memory)"),
    "crash": ("error", "internal error: KeyError"),
    "exit": ("ended", "ended early, maybe as it needs more than 600 MB (--max-memory)"),
    "killed": ("ended", "its process was ended (SIGKILL)"),
    "segment": ("ended", "its process was ended (SIGSEGV)"),
}


@pytest.fixture
def rough(tmp_path):
    """Articles of every temper among others, and the environment that has them so."""
    posts = tmp_path / "posts"
    posts.mkdir()
    for name in ENDINGS:
        (posts / f"{name}.md").write_bytes(PLAIN + name.encode())
    for number in range(6):
        (posts / f"good-{number}.md").write_bytes((WRONG, RIGHT)[number % 2] + b"%d" % number)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(SITE, "utf-8")
    path = os.pathsep.join([str(tmp_path / "site"), *filter(None, sys.path)])
    return {**os.environ, "PYTHONPATH": path, "SYMATTN_LOG": str(tmp_path / "log")}


def command(*words: str) -> list[str]:
    limits = ("--max-seconds", "5", "--max-memory", "600")
    return [sys.executable, "-m", "symattn", "audit", "--corpus", "posts", *limits, *words]


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["processes", "dask"])
def test_a_bad_article_costs_itself_only(kind, rough, tmp_path) -> None:
    """However it ends, whoever works; the cluster's own processes live on."""
    words = ["-o", "r", "--jobs", "2"]
    if kind == "dask":
        with cluster(tmp_path, rough) as (address, hands):
            words += ["--executor", f"dask={address}"]
            done = run(command(*words), tmp_path, rough)
            assert [hand.poll() for hand in hands] == [None, None]
    else:
        done = run(command(*words), tmp_path, rough)
    assert done.returncode == 1, done.stderr
    found = {Path(line["file"]).stem: line for line in lines(tmp_path / "r")}
    assert len(found) == 6 + len(ENDINGS)
    for name, (ending, why) in ENDINGS.items():
        assert found[name]["ending"] == ending
        assert found[name]["failure"].startswith(why)
    for number in range(6):
        assert found[f"good-{number}"]["audit"]["summary"]["refuted"] == 1 - number % 2
    assert "13 articles: 6 judged, 3 with refuted figures, 7 failed" in done.stdout


def run(words, folder, environment):
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(int(os.environ.get("SYMATTN_KILLS", "2"))))
def test_killed_at_any_moment(seed, few, rough, tmp_path) -> None:
    """Killed again and again, a run comes to its end with the bytes of one that was left alone;
    no article whose result was kept is audited again, and nothing runs on."""
    drawn = random.Random(seed)
    (tmp_path / "posts").rename(tmp_path / "others")
    (tmp_path / "posts").symlink_to(few / "posts")
    begun = time.monotonic()
    assert run(command("-o", "whole"), tmp_path, rough).returncode == 1
    long = time.monotonic() - begun
    log, results = tmp_path / "log", tmp_path / "r"
    kills = 0
    while True:
        kept = {
            json.loads(gzip.decompress(path.read_bytes()))["article"]
            for path in (results / "kept").rglob("*.json.gz")
        }
        log.write_text("")
        with subprocess.Popen(
            command("-o", "r", "--jobs", "2"), cwd=tmp_path, env=rough, stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            try:
                process.wait(drawn.uniform(0.2, 1.0 if kills else 0.6) * long)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                kills += 1
        assert kept.isdisjoint(log.read_text().splitlines())
        for name in ("results.jsonl", "index.html"):
            if (results / name).exists():
                assert (results / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
        if process.returncode != -signal.SIGKILL:
            if kills:
                break
            # It was faster than the one that its time is taken from.
            shutil.rmtree(results)
            long /= 2
    assert process.returncode == 1
    assert contents(results) == contents(tmp_path / "whole")
