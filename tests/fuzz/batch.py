"""Inputs by their seeds, each through the commands.

``python -m tests.fuzz.batch KIND FIRST COUNT``, with KIND ``valid``, ``grammar``,
``mutants`` or ``steep``, prints one line of JSON for every promise that an input breaks. What is
under way stands in the file ``now``, so that whoever waits for a batch can tell what hangs.
"""

from __future__ import annotations

import gc
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

from symattn.cli import main

from .claims import add_claims
from .files import toml
from .grammar import content
from .mutants import mutant
from .programs import Author
from .steep import Steep

#: What a command may need for an input of a few kB: megabytes, and seconds of work.
MEGABYTES, SECONDS = 2048, 20
FORMATS = ("text", "json", "github", "sarif", "errata", "tex")


def drawn(kind: str, seed: int) -> tuple[bytes, list[list[str]]]:
    """A file, and the commands that it goes through."""
    source = random.Random(f"{kind} {seed}")
    shown = ["X"]
    if kind == "valid":
        made = Author(source).walkthrough()
        add_claims(source, made)
        tables = made.content()
        shown = [*made.values]
    elif kind == "grammar":
        tables = content(source)
        shown = [*tables["given"], *tables["steps"]]
    elif kind == "steep":
        tables = Steep(source).content()
        shown = [*tables["steps"]]
    text = mutant(source) if kind == "mutants" else toml(tables).encode()
    detail = source.choice(["brief", "full"])
    if kind == "steep":
        form = source.choice(["html", "tex", "docx", "md"])
        return text, [
            ["show", "case.toml", source.choice(shown)],
            ["verify", "case.toml"],
            ["audit", "case.toml"],
            ["sheet", "case.toml", "--format", form, "-o", "out", "--detail", detail],
            ["draw", "case.toml", "-o", "out"],
            ["exercise", "case.toml", "-o", "out"],
            ["seal", "case.toml", "-o", "out"],
        ]
    words = [
        ["show", "case.toml", source.choice(shown), "--format", source.choice(["text", "json"])],
        ["sheet", "case.toml", "--format", "tex", "-o", "out", "--detail", detail],
        ["verify", "case.toml", "--format", source.choice(["text", "json"])],
        ["audit", "case.toml", "--format", source.choice(FORMATS), "-o", "audit.tex"],
    ]
    return text, words


class TooLong(BaseException):
    """A command takes longer than it may."""


def late(*_: object) -> None:
    raise TooLong(f"more than {SECONDS} seconds of work")


class Ended:
    """How a command ended."""

    def __init__(self, words: list[str], limited: bool = False) -> None:
        self.words = words
        self.trace = ""
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
        held = sys.stdout, sys.stderr, sys.argv
        signal.setitimer(signal.ITIMER_PROF, SECONDS if limited else 0)
        sys.stdout, sys.stderr, sys.argv = out, err, ["symattn", *words]
        try:
            main()
            self.code: object = 0
        except SystemExit as leaving:
            self.code = leaving.code or 0
        except BaseException:
            self.code = "traceback"
            self.trace = traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            sys.stdout, sys.stderr, sys.argv = held
        out.flush()
        err.flush()
        self.out = out.buffer.getvalue().decode()
        self.err = err.buffer.getvalue().decode()


def written() -> dict[str, bytes]:
    """The files below the current folder, with what they hold."""
    return {str(p): p.read_bytes() for p in sorted(Path().rglob("*")) if p.is_file()}


def broken(kind: str, ended: Ended, before: dict[str, bytes]) -> Iterator[str]:
    """The promises that a command has broken."""
    command = ended.words[0]
    if ended.code not in (0, 1, 2):
        yield f"it ended with {ended.code}\n{ended.trace[-2500:]}"
        return
    if command != "audit" and ended.code == 1:
        yield f"{command} ended with 1: a right result was refuted: {ended.err or ended.out}"
    if kind == "valid" and ended.code == 2:
        yield f"a valid walkthrough was refused: {ended.err}"
    if ended.code == 2:
        lines = ended.err.splitlines()
        heads = [line for line in lines if not line.startswith("  ")]
        if len(heads) != 1 or not heads[0].startswith("symattn: "):
            yield f"exit code 2 with another message than one: {ended.err!r}"
        if written() != before:
            yield "exit code 2, and files were touched"
    elif ended.err:
        yield f"something on standard error: {ended.err}"
    if ended.code != 2 and "json" in ended.words:
        text = ended.out if command != "audit" else Path("audit.tex").read_text("utf-8")
        yield from _unread(text)
    if ended.code != 2 and "sarif" in ended.words:
        yield from _unread(Path("audit.tex").read_text("utf-8"))


def _unread(text: str) -> Iterator[str]:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError as error:
        yield f"no JSON: {error}"


def run(kind: str, seed: int, now: Path) -> Iterator[str]:
    """The broken promises of one input, told."""
    text, commands = drawn(kind, seed)
    Path("case.toml").write_bytes(text)
    ends: dict[str, Ended] = {}
    for words in commands:
        for old in ("out", "audit.tex"):
            if Path(old).is_dir():
                shutil.rmtree(old)
            Path(old).unlink(missing_ok=True)
        line = f"python -m tests.fuzz.batch {kind} {seed} 1: symattn {' '.join(words)}"
        now.write_text(line, "utf-8")
        before = written()
        ended = Ended(words, limited=kind == "steep")
        ends[words[0]] = ended
        for problem in broken(kind, ended, before):
            yield f"{line}\n{problem}"
    if kind != "steep" and ends["show"].code == 0 and ends["verify"].code == 2:
        yield f"{line}\nwhat is shown can't be verified: {ends['verify'].err}"


def batch(kind: str, first: int, count: int, now: Path) -> None:
    """Run the inputs in an empty folder; what is found is printed."""
    # Commands stay in this process, where faults can be seen: each comes with its traceback,
    # which is more than the one message that there may be.
    os.environ |= {"SYMATTN_MAX_SECONDS": "0", "SYMATTN_MAX_MEMORY": "0", "COLUMNS": "200"}
    os.environ["SYMATTN_TRACEBACK"] = "1"
    if kind == "steep":
        # What is unused is looked for as seldom as by the processes that commands work in.
        gc.set_threshold(100_000, 20, 20)
        signal.signal(signal.SIGPROF, late)
        resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for seed in range(first, first + count):
            for problem in run(kind, seed, now):
                content = Path("case.toml").read_bytes().decode("utf-8", "backslashreplace")
                print(json.dumps({"problem": problem, "file": content}), flush=True)
        os.chdir("/")


if __name__ == "__main__":
    batch(
        sys.argv[1],
        int(sys.argv[2]),
        int(sys.argv[3]),
        Path(sys.argv[4] if sys.argv[4:] else os.devnull),
    )
