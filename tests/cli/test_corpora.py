"""``symattn audit --corpus``, ``--executor`` and ``--watch`` at the command line."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from symattn.cli import options, watching
from symattn.corpus.audit import LINES, PAGE

WRONG, RIGHT = "So 0.25 * 3 = 0.85.\n", "So 0.25 * 3 = 0.75.\n"


@pytest.fixture
def posts(tmp_path):
    (tmp_path / "posts").mkdir()
    (tmp_path / "posts" / "wrong.md").write_text(WRONG, "utf-8")
    (tmp_path / "posts" / "right.md").write_text(RIGHT, "utf-8")
    return tmp_path / "posts"


@pytest.mark.heavy
def test_a_corpus(posts, symattn) -> None:
    """The results in a folder; 1 while anything is refuted or failed."""
    done = symattn("audit", "--corpus", "posts", "--jobs", "1")
    said = "2 articles: 2 judged, 1 with refuted figures, 0 failed; open results/index.html\n"
    assert (done.code, done.out) == (1, said)
    assert done.err.splitlines() == ["1 of 2", "2 of 2"]
    found = [json.loads(line) for line in (Path("results") / LINES).read_text().splitlines()]
    assert [line["file"] for line in found] == ["posts/right.md", "posts/wrong.md"]
    (posts / "wrong.md").unlink()
    done = symattn("audit", "--corpus", "posts", "--language", "de", "-o", "results")
    assert done.code == 0
    assert "1 Artikel" in (Path("results") / PAGE).read_text("utf-8")
    (posts / "open.md").write_text("$X = [[1, 2], [3, 4]]$, $Y = Z + X = [[2, 4], [6, 8]]$\n")
    assert symattn("audit", "--corpus", "posts").code == 0
    assert symattn("audit", "--corpus", "posts", "--strict").code == 1


@pytest.mark.heavy
def test_results_in_a_bucket(posts, symattn) -> None:
    import fsspec

    assert symattn("audit", "--corpus", "posts", "-o", "memory://results").code == 1
    files = fsspec.filesystem("memory")
    assert len(files.cat("/results/results.jsonl").splitlines()) == 2
    files.rm("/results", recursive=True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--corpus", "posts", "cat-sat-mat"), "--corpus makes a folder of its own kind"),
        (("--corpus", "posts", "--format", "json"), "--corpus makes a folder of its own kind"),
        (("--corpus", "posts", "--watch"), "--corpus makes a folder of its own kind"),
        (("--corpus", "posts", "-o", "-"), "--corpus writes a folder"),
        (("--corpus", "posts", "-o", "posts"), "posts holds something else than results"),
        (("--corpus", "nothing"), "nothing can't be read: no such file or directory"),
        (("--corpus", "memory://nothing"), "memory://nothing can't be read: no such file or dir"),
        (("--corpus", "no://such"), "no://such: Protocol not known"),
        (("--corpus", "posts", "-o", "posts/right.md"), "posts/right.md is no folder"),
        (("--corpus", "posts", "--executor", "dusk"), "unknown executor 'dusk'"),
        (("cat-sat-mat", "--executor", "dask=tcp://127.0.0.1:9"), "no Dask scheduler answers"),
        (("posts/right.md", "--watch", "--format", "json"), "--watch prints the report"),
        (("posts/right.md", "--watch", "-o", "x"), "--watch prints the report"),
        (("nothing.xyz", "--watch"), "unknown case 'nothing.xyz'"),
    ],
)
def test_bad_use(words, why, posts, symattn, monkeypatch) -> None:
    monkeypatch.setattr("symattn.cli.options._ANSWERING", 0.1)
    done = symattn("audit", *words)
    assert done.code == 2
    assert done.err.startswith(f"symattn: {why}")
    assert not Path("results").exists()


@pytest.mark.heavy
def test_vectors_by_a_cluster(tmp_path, symattn) -> None:
    """The same bytes as by processes."""
    from tests.corpus.test_executors import cluster

    words = ("vectors", "--suite", "quick", "--dtype", "float16", "--format", "json")
    assert symattn(*words, "-o", "one").code == 0
    with cluster(tmp_path) as (address, _):
        assert symattn(*words, "-o", "other", "--executor", f"dask={address}").code == 0
    assert digest(Path("one")) == digest(Path("other"))


@pytest.mark.heavy
def test_exercises_by_a_cluster(tmp_path, symattn) -> None:
    from tests.corpus.test_executors import cluster

    words = ("exercise", "cat-sat-mat", "--versions", "4", "--solutions")
    assert symattn(*words, "-o", "one").code == 0
    with cluster(tmp_path) as (address, _):
        assert symattn(*words, "-o", "other", "--executor", f"dask={address}").code == 0
    assert digest(Path("one")) == digest(Path("other"))


def digest(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*.*")
        if not path.name.startswith(".")
    }


# -- --watch ---------------------------------------------------------------------------------


class Watched:
    """``symattn audit --watch``, on a terminal or not; what it has printed up to now."""

    def __init__(self, folder: Path, *words: str, terminal: bool) -> None:
        self.read, other = pty.openpty() if terminal else os.pipe()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "symattn", "audit", *words, "--watch"],
            cwd=folder,
            env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=other,
            stderr=subprocess.PIPE,
        )
        os.close(other)
        self.said = ""

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self.read)

    def until(self, text: str, seconds: float = 30) -> str:
        """What is printed until a text is; TimeoutError if it is not."""
        end, before = time.monotonic() + seconds, len(self.said)
        while text not in self.said[before:]:
            ready, _, _ = select.select([self.read], [], [], max(end - time.monotonic(), 0))
            if not ready:
                raise TimeoutError(self.said[before:])
            self.said += os.read(self.read, 1 << 16).decode()
        return self.said[before:]

    def ended(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        self.process.wait(20)
        return self.process.returncode


def replaced(path: Path, text: str) -> None:
    """As editors write: a new file in the place of the old."""
    beside = path.with_suffix(".new")
    beside.write_text(text, "utf-8")
    beside.replace(path)


@pytest.mark.heavy
@pytest.mark.parametrize("terminal", [True, False])
def test_watch(terminal, posts) -> None:
    """The report again as the article, its side file or a base of its case changes; the screen
    is cleared on a terminal only; Ctrl-C ends it with 130."""
    article = posts / "wrong.md"
    with Watched(posts, "wrong.md", terminal=terminal) as watched:
        assert "printed 0.85" in watched.until("1 refuted")
        replaced(article, RIGHT)
        said = watched.until("1 holds")
        assert "printed 0.85" not in said.partition("auditing")[2]
        article.with_suffix(".symattn.toml").write_text('document = "wrong.md"\nignore = [1]\n')
        watched.until("No figures to judge")
        article.unlink()
        watched.until("can't be read")
        replaced(article, WRONG)
        article.with_suffix(".symattn.toml").unlink()
        watched.until("1 refuted")
        assert ("\x1b[2J" in watched.said) == terminal
        assert watched.ended(signal.SIGINT) == 130


@pytest.mark.heavy
def test_watch_follows_what_a_case_extends(tmp_path) -> None:
    base = '[given]\nX = [[{}]]\n[steps]\nY = "X + X"\n'
    claim = '[[claims]]\nwhere = "here"\nholds = "Y[0, 0] < 3"\n'
    (tmp_path / "base.toml").write_text(base.format(1))
    (tmp_path / "case.toml").write_text(f'extends = "base.toml"\n{claim}')
    with Watched(tmp_path, "case.toml", terminal=False) as watched:
        watched.until("0 refuted")
        replaced(tmp_path / "base.toml", base.format(2))
        watched.until("1 refuted")
        assert watched.ended(signal.SIGTERM) == 143


def test_a_report_that_is_out_of_date_is_not_shown(tmp_path, monkeypatch, capsys) -> None:
    """What changes while the report is made makes it be made again before anything is told."""
    article = tmp_path / "post.md"
    article.write_text("0")
    made = []

    class Enough(Exception):
        pass

    def report() -> str:
        made.append(article.read_text())
        if len(made) < 3:
            article.write_text("x" * len(made))
        return f"report of {made[-1]!r}\n"

    def sleep(seconds: float) -> None:
        raise Enough

    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(Enough):
        watching.watch([str(article)], report)
    assert made == ["0", "x", "xx"]
    assert capsys.readouterr().out == "report of 'xx'\n"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "words",
    [
        "audit --corpus s3://me:hunter2@bucket/posts",
        "audit --corpus ftp://me:hunter2@127.0.0.1:1/posts",
        "audit --corpus ftp://me:hunter2@127.0.0.1:1/posts/*.md?sig=hunter2",
        "audit --corpus http://127.0.0.1:1/list.txt?token=hunter2",
        "audit --corpus nowhere://me:hunter2@host/posts",
        "audit --corpus list.txt",
        "audit --corpus . -o ftp://me:hunter2@127.0.0.1:1/results",
        "audit --corpus . --executor dask=tcp://me:hunter2@127.0.0.1:1",
        "audit --corpus . --executor dask=me:hunter2@127.0.0.1:1",
        "audit --corpus . --executor dask=nowhere://me:hunter2@127.0.0.1:1",
        "audit --corpus . --executor tcp://me:hunter2@127.0.0.1:1",
        "audit --corpus . --executor me:hunter2@127.0.0.1:1",
        "audit s3://me:hunter2@bucket/post.md",
        "audit s3://me:hunter2@bucket/" + "a" * 80,
        "audit s3://me:" + "hunter2" * 20 + "@bucket/post.md",
        "show s3://me:hunter2@bucket/post A",
        "show cat-sat-mat A s3://me:hunter2@bucket",
        "show cat-sat-mat A --format s3://me:hunter2@bucket",
        "show cat-sat-mat A --max-seconds s3://me:hunter2@bucket",
        "show cat-sat-mat s3://me:hunter2@bucket",
        "s3://me:hunter2@bucket",
        "sheet cat-sat-mat --nowhere=s3://me:hunter2@bucket",
        "new s3://me:hunter2@bucket/x.toml",
        "read s3://me:hunter2@bucket/x.md",
        "mark s3://me:hunter2@bucket/x.csv",
        "live s3://me:hunter2@bucket/x.md",
        "derive s3://me:hunter2@bucket/x.txt",
        "seal s3://me:hunter2@bucket/x.toml",
        "sheet cat-sat-mat -o s3://me:hunter2@bucket/x",
    ],
)  # fmt: skip
def test_passwords_are_not_told(words, symattn, tmp_path, monkeypatch, caplog) -> None:
    """What stands in an address for whoever asks is in no message, log or file, however the
    command ends."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(options, "_ANSWERING", 2)
    Path("list.txt").write_text("a.md\nftp://me:hunter2@127.0.0.1:1/b.md\n", "utf-8")
    Path("post.md").write_text("So 0.25 * 3 = 0.75.", "utf-8")
    done = symattn(*words.split())
    told = done.out + done.err + caplog.text
    assert "hunter" not in told
    assert done.code in (0, 2)
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "list.txt"]
    # Where a folder is called so, that is its name.
    assert not any(b"hunter2" in path.read_bytes() for path in written)
