"""Commands run as processes, with cases of every temper, and what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

#: Python loads this before anything else, where its folder is on the path: cases
#: whose file does not matter, since reading them is what goes wrong.
_SITE = """\
import os, pathlib, signal, time
from symattn.cases import library

held = library.load

def load(name, allow_outside=False):
    kind = name.removesuffix(".toml")
    if kind == "slow":
        # Native code, which answers to no signal handler.
        import flint
        flint.fmpz((2**521 - 1) * (2**607 - 1)).factor()
    elif kind == "large":
        import flint
        flint.fmpz(3) ** (10**10)
    elif kind == "hoard":
        bytearray(1 << 40)
    elif kind == "crash":
        raise KeyError("lost")
    elif kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind in ("left", "right"):
        # Done only while the other is being done as well.
        pathlib.Path(kind).touch()
        while not pathlib.Path("right" if kind == "left" else "left").exists():
            time.sleep(0.01)
        return held("cat-sat-mat" if kind == "left" else "the-fox-jumps")
    return held(name, allow_outside)

library.load = load
"""


@dataclass
class Run:
    """One command in a folder of its own, with a folder for its temporary files."""

    folder: Path
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        for name in ("site", "work", "tmp"):
            (self.folder / name).mkdir(exist_ok=True)
        (self.folder / "site" / "sitecustomize.py").write_text(_SITE, "utf-8")
        path = [str(self.folder / "site"), *filter(None, sys.path)]
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "TMPDIR": str(self.folder / "tmp"),
            "SYMATTN_TEST": self.token,
        }

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def command(self, *words: str) -> list[str]:
        """A command line."""
        return [sys.executable, "-m", "symattn", *words]

    def start(
        self, *words: str, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE
    ) -> subprocess.Popen[bytes]:
        """The command, running."""
        # Who runs the tests in the background has interrupts ignored, and with
        # them all that is started; what is handled here is not ignored there.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return subprocess.Popen(
            self.command(*words),
            cwd=self.work,
            env=self.environment,
            stdout=stdout,
            stderr=stderr,
        )

    def ended(self, *words: str) -> tuple[int, str, str]:
        """Exit code and streams of a command that has run to its end."""
        with self.start(*words) as process:
            out, err = process.communicate(timeout=120)
        return process.returncode, out.decode(), err.decode()

    def processes(self) -> dict[int, str]:
        """The processes of this run that there are, with their command lines."""
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                ours = f"SYMATTN_TEST={self.token}".encode() in (place / "environ").read_bytes()
                # Without a command line it has ended, and waits to be noticed.
                if ours and (words := (place / "cmdline").read_bytes()):
                    found[int(place.name)] = words.replace(b"\0", b" ").decode()[:200]
            except OSError:
                continue
        return found

    def left(self, grace: float = 3.0) -> dict[int, str]:
        """The processes that are still there after some time."""
        until = time.monotonic() + grace
        while (found := self.processes()) and time.monotonic() < until:
            time.sleep(0.02)
        return found

    def temporary(self) -> list[str]:
        """What lies in the folder for temporary files."""
        return sorted(path.name for path in (self.folder / "tmp").rglob("*"))


def heeds_signals(process: subprocess.Popen[bytes]) -> None:
    """Wait until a command has come so far that it answers to signals."""
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        for line in status.read_text().splitlines():
            if line.startswith("SigCgt:") and int(line[7:], 16) >> (signal.SIGTERM - 1) & 1:
                return
        time.sleep(0.005)
