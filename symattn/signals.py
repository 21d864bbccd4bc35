"""Undoing, however the program ends: by itself, by an exception, by a signal.

A signal's undoing is done at once and ends the process. Nothing is raised into code that may be
anywhere, also where an exception would be lost or would find things half made."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_undoing: dict[object, Callable[[], object]] = {}


@contextmanager
def undone(undo: Callable[[], object]) -> Iterator[None]:
    """A context at whose end ``undo`` is called, also if a signal is that end.

    It must do nothing where nothing is left to be undone.

    >>> with undone(lambda: print("tidy")):
    ...     print("at work")
    at work
    tidy
    """
    key = object()
    _undoing[key] = undo
    try:
        yield
    finally:
        undo()
        del _undoing[key]


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_heeded() -> Iterator[None]:
    """A context in which a signal that ends the program ends it quietly, everything
    undone, with 128 and its number as exit code; what is ignored stays so.

    What comes after it can't be stopped: an interpreter that ends takes the
    handlers away, and a signal would turn a done piece of work into a failed one.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    try:
        yield
    finally:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: FrameType | None) -> None:
    for undo in reversed([*_undoing.values()]):
        with suppress(Exception):
            undo()
    os._exit(128 + number)
