"""Whatever a file holds, a command ends as documented: its message, its exit code, no traceback.

``SYMATTN_FUZZ`` is the number of commands (about 1,500 unless it is set); a batch
runs in a process of its own, so that what hangs is told and not waited for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .batch import drawn

ROOT = Path(__file__).parents[2]
KINDS = ("valid", "grammar", "mutants")
#: What is meant to take for ever is the campaign's: it finds what is to be mended.
CAMPAIGN = ("steep",) if "SYMATTN_FUZZ" in os.environ else ()
COMMANDS = int(os.environ.get("SYMATTN_FUZZ", "1500"))
#: Commands that each input goes through, and inputs of a batch.
EACH, MOST = 4, 1000
#: Seconds without a command that ends, after which a batch is said to hang.
PATIENCE = 120


def batches():
    """The kind, the first seed and the number of inputs of every batch."""
    count = max(1, COMMANDS // EACH // len(KINDS))
    size = min(MOST, -(-count // 2))
    return [
        (kind, first, min(size, count - first))
        for kind in (*KINDS, *CAMPAIGN)
        for first in range(0, count, size)
    ]


@pytest.mark.heavy
@pytest.mark.parametrize(("kind", "first", "count"), batches())
def test_every_command_ends_as_documented(kind, first, count, tmp_path) -> None:
    """Exit codes 0, 1 and 2 only, one message, no file touched on 2, no valid file refused,
    nothing right refuted, and what is said to be JSON is."""
    now, found = tmp_path / "now", tmp_path / "found"
    now.touch()
    words = [sys.executable, "-W", "error", "-m", "tests.fuzz.batch", kind, str(first), str(count)]
    with found.open("wb") as out:
        done = subprocess.Popen([*words, str(now)], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
        try:
            while done.poll() is None:
                idle = time.time() - now.stat().st_mtime
                assert idle < PATIENCE, f"no end after {PATIENCE} s: {now.read_text('utf-8')}"
                time.sleep(0.05)
        finally:
            done.kill()
            done.wait()
    problems, rest = [], []
    for line in found.read_text("utf-8").splitlines():
        if line.startswith('{"problem"'):
            problem = json.loads(line)
            problems.append(f"{problem['problem']}\n{problem['file']}")
        else:
            rest.append(line)
    told = "\n\n".join([*problems[:20], *rest[-30:]])
    assert not told, f"{len(problems)} broken promises\n{told}"
    assert done.returncode == 0


@pytest.mark.parametrize("kind", [*KINDS, "steep"])
def test_a_seed_is_a_file(kind) -> None:
    """The same seed gives the same file and commands, others give others."""
    files = [drawn(kind, seed) for seed in range(20)]
    assert files == [drawn(kind, seed) for seed in range(20)]
    assert len({text for text, _ in files}) == 20
