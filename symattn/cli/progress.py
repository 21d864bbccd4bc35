"""What a terminal is shown while something takes long: one line, gone in the end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from symattn.escaping import visible

#: Seconds of silence; what is done by then needs no line.
_PATIENCE = 1.0


class Progress:
    """One line on standard error for what is worked on: which, how far, how long.

    Where standard error is no terminal nothing is shown. It is the
    :class:`~symattn.workers.Watcher` of jobs that have these names.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._begun: dict[int, float] = {}
        self._stages: dict[int, str] = {}
        self._done = 0
        self._start = time.monotonic()
        self._shown = ""
        self.ticking = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def stage(self, index: int, what: str) -> None:
        """A job has come to a stage; the first is empty, the last ``done``."""
        if what == "done":
            self._stages.pop(index)
            self._done += 1
        else:
            self._begun.setdefault(index, time.monotonic())
            self._stages[index] = what
        self.tick()

    def tick(self) -> None:
        """Bring the line up to date."""
        if not self.ticking or time.monotonic() - self._start < _PATIENCE:
            return
        line = self._line()
        if line != self._shown:
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()
            self._shown = line

    def _line(self) -> str:
        if not self._stages:
            return ""
        index, what = next(iter(self._stages.items()))
        seconds = int(time.monotonic() - self._begun[index])
        count = f"[{self._done + 1}/{len(self._names)}] " if len(self._names) > 1 else ""
        more = f", and {len(self._stages) - 1} more" if len(self._stages) > 1 else ""
        line = f"{count}{visible(self._names[index])}: {what or 'starting'}, {seconds} s{more}"
        return line[: max(_width() - 1, 0)]

    def clear(self) -> None:
        """Leave nothing behind."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = ""


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80
