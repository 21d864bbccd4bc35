"""``symattn vectors``: what it writes, how far it says it is, and how it ends."""

from __future__ import annotations

import json
import re
from math import ceil

import pytest

from symattn.cli import options
from symattn.testing.vectors import samples_of
from symattn.workers import WorkLimits
from tests.folders import written


def files(folder):
    """The names of all files in a folder and below, sorted."""
    return [str(path.relative_to(folder)) for path in written(folder, "**/*.*")]


@pytest.mark.heavy
def test_vectors(tmp_path, symattn) -> None:
    """A suite, in some formats, for a number of seeds: two files for each sample."""
    words = ["--suite", "quick", "--dtype", "float16", "--dtype", "bfloat16", "--seeds", "2"]
    done = symattn("vectors", *words, "--format", "all", "-o", "few")
    assert (done.code, done.out) == (0, "60 samples in few: safetensors and json\n")
    lines = json.loads((tmp_path / "few" / "manifest.json").read_text("utf-8"))["cases"]
    assert len(lines) == 60
    assert files(tmp_path / "few") == sorted(
        ["manifest.json", *(path for line in lines for path in line["sha256"])]
    )


@pytest.mark.heavy
def test_any_number_of_jobs(tmp_path, symattn) -> None:
    """The same files for any, and a line now and then where nobody looks at a bar."""
    words = ["--suite", "quick", "--dtype", "float16", "--seeds", "1"]
    done = symattn("vectors", *words, "--format", "json", "--output", "one", "--jobs", "1")
    assert (done.code, done.out) == (0, "15 samples in one: json\n")
    told = [1.5, 3, 4.5, 6, 7.5, 9, 10.5, 12, 13.5, 15]
    assert done.err.splitlines() == [f"{ceil(k)} of 15" for k in told]
    done = symattn("vectors", *words, "--format", "json", "--output", "two", "--jobs", "2")
    assert done.code == 0
    names = files(tmp_path / "one")
    assert len(names) == 16
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    done = symattn("vectors", *words, "--format", "safetensors", "--jobs", "2")
    assert {name.rpartition(".")[2] for name in files(tmp_path / "vectors")} == {
        "json",
        "safetensors",
    }


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--max-seconds", "0.001"], r"stopped after 0\.001 seconds \(--max-seconds\)"),
        # With a fifth of that the libraries can't be loaded; some of them end the process.
        (["--max-memory", "100"], "needs more than 20 MB|ended early"),
    ],
)
def test_what_is_stopped_is_a_line(words, why, tmp_path, symattn, monkeypatch) -> None:
    """A sample that takes too much costs itself only, and the exit code tells."""
    monkeypatch.setattr(
        options, "WorkLimits", lambda seconds, memory: WorkLimits(seconds, memory // 5)
    )
    done = symattn("vectors", "--suite", "quick", "--dtype", "float16", "--jobs", "4", *words)
    assert (done.code, done.out) == (1, "0 samples in vectors: safetensors and json\n")
    assert "ordinary-float16-0 failed: vectors/manifest.json says why" in done.err
    lines = json.loads((tmp_path / "vectors" / "manifest.json").read_text("utf-8"))["cases"]
    assert len(lines) == 15
    assert all(re.match(why, line["failure"]) for line in lines)


def test_what_there_is_not(tmp_path, symattn) -> None:
    """Nothing is written for a suite that is unknown, or where nothing can be."""
    done = symattn("vectors", "--suite", "quik", "--dtype", "float8")
    assert done.code == 2
    assert "unknown suite 'quik': did you mean quick?" in done.err
    assert "unknown dtype 'float8': did you mean float" in done.err
    assert not (tmp_path / "vectors").exists()
    (tmp_path / "taken").write_text("", "utf-8")
    done = symattn("vectors", "--suite", "quick", "-o", "taken")
    assert (done.code, done.out) == (2, "")
    assert "the folder taken can't be written to: file exists" in done.err


@pytest.mark.heavy
def test_a_bar_on_a_terminal(monkeypatch, symattn) -> None:
    """On a terminal it is a bar, gone in the end."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    done = symattn("vectors", "--suite", "quick", "--dtype", "float32", "--format", "json")
    assert done.code == 0
    assert "15/15" in done.err
    assert "of 10" not in done.err


@pytest.mark.parametrize("seeds", ["10000000", "9" * 30])
def test_more_samples_than_anybody_keeps(seeds, tmp_path, symattn) -> None:
    """So many are refused before a list of them is made, and what is asked for is counted."""
    done = symattn("vectors", "--seeds", seeds, "--dtype", "float32")
    count = len(samples_of("standard", ["float32"], 1)) * int(seeds)
    assert (done.code, done.out) == (2, "")
    assert f"seeds: {count} samples; at most 100000 are made at once" in done.err
    assert not (tmp_path / "vectors").exists()
