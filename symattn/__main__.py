"""``symattn``, or ``python -m symattn``."""

from __future__ import annotations

# Built in: nothing is loaded before the most frequent signal ends the program quietly.
import _signal  # type: ignore[import-not-found]
import os

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, lambda number, frame: os._exit(128 + number))

import sys

from symattn.signals import signals_heeded


def main() -> None:
    """Run the command that the command line asks for, and exit."""
    # Before anything else is loaded: a signal may come at any time.
    with signals_heeded():
        _open_streams()
        from symattn.cli import main as run

        run()


def _open_streams() -> None:
    """Have standard streams that were closed lead nowhere: the next file
    opened would take the place of one, and get what is printed."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one.
            os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


if __name__ == "__main__":
    main()
