"""Work done in processes of its own, which can be stopped.

Native code (FLINT, GMP, NumPy) answers to no signal handler, and what it is asked to do may take
any time and memory. A worker is a process in a session of its own with limits that the system holds
it to; it is ended together with all that it has started. The process that asks stays light: it
loads nothing that the work needs. Whoever survives, tidies up.
"""

from __future__ import annotations

import errno
import gc
import os
import re
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import IO, Any, Literal, Protocol

from symattn.errors import SymattnError, lacks_memory, reported, unforeseen
from symattn.signals import undone

#: What is to be done: a function of a module, which is given an
#: :class:`Asker` and these arguments. Both must be plain data to Python's pickle.
Job = tuple[Callable[..., Any], tuple[Any, ...]]

#: Seconds that pass between two looks at the time, where somebody watches.
_TICK = 0.2
#: How libraries say that they got no memory, or that no memory would hold a number.
_NO_MEMORY = re.compile(rb"memory|alloc|overflow in mpz", re.IGNORECASE)
_START = "import sys; sys.path[:] = sys.argv[6:]; from symattn import workers; workers.serve()"


@dataclass(frozen=True)
class WorkLimits:
    """The limits of one piece of work: seconds, and megabytes of memory; 0 is no limit."""

    seconds: float = 0.0
    memory: int = 0


class Asker:
    """The one who asked for the work; ``stage`` tells how far it is: ``reading``, ``computing``,
    ..."""

    def __init__(self, stage: Callable[[str], object]) -> None:
        self.stage = stage


class Watcher(Protocol):
    """The one who watches the work; ``ticking`` if it wants to be called while nothing happens."""

    ticking: bool

    def stage(self, index: int, what: str) -> None:
        """The job of that index has come to a stage; the first is empty, the last ``done``."""

    def tick(self) -> None:
        """Some time has passed."""


class Ended(SymattnError):
    """A worker ended before its work: at a limit, or by a signal from elsewhere."""

    def __init__(self, why: Literal["time", "memory", "signal"], number: int = 0) -> None:
        self.why = why
        self.number = number
        super().__init__(why, number)


class Crashed(Exception):
    """The work failed in a way that nobody has foreseen: what is told of it, and the
    traceback from where it happened."""

    def __init__(self, why: str, trace: str) -> None:
        self.why = why
        self.trace = trace
        super().__init__(why, trace)


def told(end: BaseException, limits: WorkLimits) -> str:
    """Return what is told of work that ended with an exception.

    >>> told(Ended("time"), WorkLimits(seconds=2)), told(Ended("signal", 9), WorkLimits())
    ('stopped after 2 seconds (--max-seconds)', 'its process was ended (SIGKILL)')
    """
    beyond = f"needs more than {limits.memory} MB (--max-memory)"
    match end:
        case Ended(why="time"):
            return f"stopped after {limits.seconds:g} seconds (--max-seconds)"
        case Ended(why="memory"):
            return beyond if limits.memory else "needs more memory than is available"
        case Ended(number=0):
            # What is not ours may end without a word where there is no memory.
            return f"ended early, maybe as it {beyond}" if limits.memory else "ended early"
        case Ended(number=number):
            how = "aborted" if number == signal.SIGABRT else "was ended"
            return f"its process {how} ({signal.Signals(number).name})"
        case Crashed(why=why):
            return reported(why, "")[0]
        case RecursionError():
            return "nested too deeply to be computed"
        case OSError():
            return end.strerror or type(end).__name__
    return str(end)


# -- the side that asks ------------------------------------------------------------------


def results(
    jobs: Iterable[Job],
    limits: WorkLimits,
    at_once: int = 1,
    watcher: Watcher | None = None,
    tidy: bool = False,
) -> Generator[tuple[int, Any], None, None]:
    """The index of every job with what it gave, or the exception it ended with, as they end.

    A worker does one job after the other, up to ``at_once`` of them at a time; no job is taken from
    ``jobs`` before a worker is free for it. With ``tidy`` each has a folder for temporary files
    (:attr:`Client.folder`), and may start other programs. Close the iterator to stop all work.
    """
    todo = enumerate(jobs)
    again: deque[tuple[int, Job]] = deque()
    team = _Team(limits, tidy)
    ticking = watcher is not None and watcher.ticking
    with undone(team.stop):
        while True:
            while len(team.busy) < at_once:
                given = again.popleft() if again else next(todo, None)
                if given is None:
                    break
                team.give(*given)
                if watcher:
                    watcher.stage(given[0], "")
            if not team.busy:
                break
            for connection in wait([*team.busy], _TICK if ticking else None):
                assert isinstance(connection, Connection)
                job = team.busy[connection].job
                index, kind, answer = team.heard(connection)
                if kind == "again":
                    again.append((index, job))
                elif kind == "stage":
                    if watcher:
                        watcher.stage(index, answer)
                else:
                    if watcher:
                        watcher.stage(index, "done")
                    yield index, answer
            if watcher:
                watcher.tick()
        team.dismiss()


def answers(jobs: Sequence[Job], limits: WorkLimits) -> list[Any]:
    """Return what every job gives, or the exception that it ended with, in their order: what an
    executor is asked for, whose own processes have no limits and are not to die of a job."""
    found: dict[int, Any] = {}
    with closing(results(jobs, limits)) as ended:
        found.update(ended)
    return [found[index] for index in range(len(jobs))]


@dataclass(frozen=True)
class _Busy:
    """A worker at work, and its job with the index that goes by."""

    worker: Worker
    index: int
    job: Job


class _Team:
    """The workers: those that work, each with the index of its job, and those that wait."""

    def __init__(self, limits: WorkLimits, tidy: bool) -> None:
        self._limits = limits
        self._tidy = tidy
        self._idle: list[Worker] = []
        self.busy: dict[Connection, _Busy] = {}
        self._all: list[Worker] = []

    def give(self, index: int, job: Job) -> None:
        worker = self._idle.pop() if self._idle else Worker(self._limits, self._tidy, self._all)
        worker.jobs += 1
        self.busy[worker.connection] = _Busy(worker, index, job)
        # That it is gone is heard when it is listened to.
        with suppress(BrokenPipeError, ConnectionResetError):
            worker.connection.send(job)

    def heard(self, connection: Connection) -> tuple[int, str, Any]:
        """Return what a worker says, with the index of its job: ``stage``, ``ended``, or
        ``again`` where its memory was full before it began."""
        worker, index = self.busy[connection].worker, self.busy[connection].index
        try:
            kind, answer = connection.recv()
        except (EOFError, OSError):
            del self.busy[connection]
            end = worker.stop()
            full = end.why == "memory" and worker.jobs > 1
            return index, "again" if full else "ended", end
        if kind == "ended":
            del self.busy[connection]
            self._idle.append(worker)
        return index, kind, answer

    def dismiss(self) -> None:
        """Let those who wait go home by themselves."""
        for worker in self._idle:
            worker.connection.close()
        for worker in self._idle:
            with suppress(subprocess.TimeoutExpired):
                worker.process.wait(1)
            worker.stop()

    def stop(self) -> None:
        for worker in self._all:
            worker.stop()


class Worker:
    """A process that does one job after the other; it ends with the thread that made it."""

    def __init__(self, limits: WorkLimits, tidy: bool, known: list[Worker]) -> None:
        self.jobs = 0
        name = f"symattn-{secrets.token_hex(8)}"
        self.folder = str(Path(tempfile.gettempdir()) / name) if tidy else ""
        self.connection, other = Pipe()
        self._heard, said = os.pipe()
        os.set_blocking(self._heard, False)
        handed = (other.fileno(), limits.seconds, limits.memory, self.folder, os.getpid())
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter and this module
            [sys.executable, "-c", _START, *map(str, handed), *sys.path],
            stdin=subprocess.DEVNULL,
            # Libraries that give up say so in words of their own, FLINT on standard output.
            stdout=said,
            stderr=said,
            pass_fds=[other.fileno()],
            start_new_session=True,
            # One thread each: every thread's stack and buffers count as memory.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        known.append(self)
        other.close()
        os.close(said)

    def ask(self, job: Job) -> Any:
        """Return what a job gives, or the exception it ends with; the thread that asks waits for
        it."""
        self.jobs += 1
        try:
            self.connection.send(job)
            while True:
                kind, answer = self.connection.recv()
                if kind == "ended":
                    return answer
        except (EOFError, OSError):
            return self.stop()

    def kill(self) -> None:
        """End it and all that it has started, if it still runs: whoever asked it learns it."""
        if self.process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def stop(self) -> Ended:
        """End it, and tidy up after it; how it ended."""
        self.kill()
        code, said = self.process.wait(), self._said()
        self.connection.close()
        if self.folder:
            _clear(Path(self.folder))
        if code == -signal.SIGALRM:
            return Ended("time")
        # GMP and FLINT abort when they get no memory, and for other reasons.
        if code == errno.ENOMEM or (code == -signal.SIGABRT and _NO_MEMORY.search(said)):
            return Ended("memory")
        return Ended("signal", max(-code, 0))

    def _said(self) -> bytes:
        """Return what its libraries have said, as far as the pipe holds it; once."""
        heard, self._heard = self._heard, -1
        if heard < 0:
            return b""
        with open(heard, "rb") as pipe:  # noqa: PTH123 - a descriptor
            return pipe.read() or b""


def _clear(folder: Path) -> None:
    """Remove a folder; programs that were ended may write into it for a moment yet."""
    for _ in range(100):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.01)


# -- the worker's side -------------------------------------------------------------------


class Client(Asker):
    """The process that asked, seen from the worker."""

    def __init__(self, connection: Connection, folder: str) -> None:
        super().__init__(lambda what: connection.send(("stage", what)))
        self._connection = connection
        #: For temporary files; not there yet, and removed when the worker ends.
        self.folder = Path(folder)

    def read(self, stream: IO[bytes]) -> bytes:
        """All that a program says that this worker has started.

        Should the process that asked be gone, the program is ended, the folder
        removed, and this process ended too.
        """
        output = b""
        while True:
            ready, _, _ = select.select([stream.fileno(), self._connection.fileno()], [], [])
            # Nothing is sent to a worker at work: what can be read is the end.
            if self._connection.fileno() in ready:
                self._abandon()
            piece = os.read(stream.fileno(), 1 << 16)
            if not piece:
                return output
            output += piece

    def _abandon(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
        _clear(self.folder)
        os.killpg(0, signal.SIGKILL)


def serve() -> None:
    """Work until nobody asks any more; the arguments are on the command line."""
    # Work makes much and keeps it: looking for what is unused would take a tenth of its time.
    gc.set_threshold(100_000, 20, 20)
    handle, seconds, memory, folder, parent = sys.argv[1:6]
    connection = Connection(int(handle))
    # What native code says fills a pipe, and is not to be waited for; nobody reads the rest.
    os.set_blocking(1, False)
    sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as it lives
    for number in (signal.SIGINT, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    if int(memory):
        _limit_memory(int(memory) << 20)
    if not folder:
        _die_with(int(parent))
    client = Client(connection, folder)
    try:
        with suppress(EOFError, OSError):
            while True:
                _answer(connection, client, float(seconds))
    except (MemoryError, SystemError):
        # To ask what it is would be a call, for which there may be no memory either.
        os._exit(errno.ENOMEM)
    # Who asked is gone, perhaps without the time to tidy up.
    if folder:
        _clear(client.folder)
    # Taking the libraries down in order would take longer than some work.
    os._exit(0)


def _answer(connection: Connection, client: Client, seconds: float) -> None:
    try:
        # What the work needs is loaded with it.
        work, arguments = connection.recv()
        # The system's own clock ends native code too.
        signal.setitimer(signal.ITIMER_REAL, seconds)
        answer = done(work, client, arguments)
        signal.setitimer(signal.ITIMER_REAL, 0)
        connection.send(("ended", answer))
    except Exception as error:
        if lacks_memory(error):
            raise MemoryError from None
        raise


def done(work: Callable[..., Any], asker: Asker, arguments: tuple[Any, ...]) -> Any:
    """Return what work gives, or the exception it ends with; raises what says that memory lacks."""
    try:
        return work(asker, *arguments)
    except (SymattnError, RecursionError) as error:
        # Not what it came from: only plain data goes to the other side.
        return error.with_traceback(None)
    except Exception as error:
        if lacks_memory(error):
            raise
        if isinstance(error, OSError):
            return OSError(error.errno, error.strerror or str(error))
        return Crashed(unforeseen(error), traceback.format_exc())


def _limit_memory(most: int) -> None:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _die_with(parent: int) -> None:
    """Have the system end this process with the one that asked, even in native code.

    Only Linux can; elsewhere the work ends at its limit.
    """
    if sys.platform == "linux":
        import ctypes

        set_death_signal = 1
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
