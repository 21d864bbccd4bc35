"""An end to what takes too long, wherever it is at work.

The work is interrupted between two of Python's own steps, by an exception that nothing on the way
catches. It works in any thread, needs no signals, and counts the time of the processor alone.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from flint import ctx


class OutOfTime(BaseException):
    """The time for some work is over; not to be caught by what handles errors."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Limit the time of the processor; then :class:`OutOfTime` is raised. 0 is no limit.

    >>> try:
    ...     with time_limit(0.01):
    ...         while True:
    ...             pass
    ... except OutOfTime:
    ...     print("given up")
    given up
    """
    if not seconds:
        yield
        return
    clock = _Clock(seconds)
    bits = ctx.prec
    try:
        with suppress(RuntimeError):
            # Where there are no threads there is no limit.
            clock.watch.start()
        yield
    except OutOfTime:
        # What is restored on the way out may have been interrupted itself.
        ctx.prec = bits
        raise
    finally:
        clock.stop()


#: Seconds after which an interruption that was not heard is made again: what is raised while
#: garbage is collected, or an object ends, is lost there.
_AGAIN = 1.0


class _Clock:
    """Interrupts the thread that makes it, again and again until it is stopped."""

    def __init__(self, seconds: float) -> None:
        self.watch = threading.Thread(target=self._ring, daemon=True)
        self._thread = ctypes.c_ulong(threading.get_ident())
        clock_of = getattr(time, "pthread_getcpuclockid", None)
        self._clock = clock_of(threading.get_ident()) if clock_of else None
        self._end = self._now() + seconds
        self._lock, self._over = threading.Lock(), threading.Event()
        self._stopped = self._rung = False

    def _now(self) -> float:
        """Seconds of work of the thread; of the process where no other is told."""
        return time.process_time() if self._clock is None else time.clock_gettime(self._clock)

    def _ring(self) -> None:
        # There is no clock of a thread that has just ended.
        with suppress(OSError):
            while not self._stopped:
                while (left := self._end - self._now()) > 0:
                    if self._over.wait(max(left, 0.001)):
                        return
                with self._lock:
                    if not self._stopped:
                        self._rung = True
                        self._interrupt()
                self._end += _AGAIN

    def stop(self) -> None:
        """Interrupt no more, nor with what was not raised yet."""
        with self._lock:
            self._stopped = True
        self._over.set()
        if self._rung:
            # Whether it was raised is not known. Taken back with nothing in its place it leaves
            # CPython 3.11 looking for an exception at every call, and a profiler that is
            # started later looks without end: it is raised here, once, instead.
            with suppress(OutOfTime):
                self._interrupt()
                while True:
                    pass

    def _interrupt(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, ctypes.py_object(OutOfTime))
