"""Workers: what they are given and give back, their limits, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from symattn import workers
from symattn.errors import Fault, Malformed, Undecided
from symattn.workers import Crashed, Ended, WorkLimits

MINUTE = WorkLimits(60)
#: What workers are asked to do here; they find it where this process does.
LABOUR = '''
import os, pathlib, signal, subprocess, time
from symattn.errors import *

def add(asker, x, y):
    asker.stage("adding")
    return x + y

def raises(asker, error):
    raise error

def who(asker):
    return os.getpid()

def spin(asker):
    while True:
        pass

def factor(asker):
    """Native code that answers to no signal handler."""
    import flint
    return str(flint.fmpz((2**521 - 1) * (2**607 - 1)).factor())

def hoard(asker, megabytes):
    return len(bytearray(megabytes << 20))

def keep(asker, megabytes):
    global kept
    kept = bytearray(megabytes << 20)
    return os.getpid()

class Bulk:
    def __reduce__(self):
        raise MemoryError

def bulk(asker):
    return Bulk()

class Wordless(SystemError):
    def __str__(self):
        raise MemoryError

def wordless(asker):
    raise Wordless

def power(asker):
    """GMP ends the process when it gets no memory."""
    import flint
    return int(flint.fmpz(3) ** (10**10))

def too_large(asker):
    """FLINT ends the process for a number, however much memory there is."""
    import flint
    return flint.arb("1e30").exp().lower().floor().unique_fmpz()

def loud(asker):
    print("nobody reads " * 20_000, flush=True)
    return 1

def shout(asker):
    print("nobody asked", flush=True)
    os.write(2, b"nobody asked")

def end(asker, number):
    os.kill(os.getpid(), number)

def tidy(asker, path):
    asker.folder.mkdir()
    pathlib.Path(path).write_text(str(asker.folder))
    with subprocess.Popen(["sleep", "1000.25"], stdout=subprocess.PIPE) as process:
        asker.read(process.stdout)

def leave(asker):
    asker.folder.mkdir()

'''


@pytest.fixture
def labour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    (tmp_path / "labour_of_workers.py").write_text(LABOUR, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "labour_of_workers", raising=False)
    return import_module("labour_of_workers")


def one(work: Callable[..., Any], *arguments: object, limits: WorkLimits = MINUTE) -> Any:
    """What a single job gives."""
    ((index, answer),) = workers.results([(work, arguments)], limits)
    assert index == 0
    return answer


class Watching:
    """A watcher that remembers."""

    def __init__(self, ticking: bool = False) -> None:
        self.ticking = ticking
        self.seen: list[tuple[int, str]] = []
        self.ticks = 0

    def stage(self, index: int, what: str) -> None:
        self.seen.append((index, what))

    def tick(self) -> None:
        self.ticks += 1


def test_every_job_is_done(labour) -> None:
    """Each by its index, whoever did it; the watcher is told of every stage."""
    jobs: list[workers.Job] = [(labour.add, (x, 100)) for x in range(5)]
    watching = Watching()
    done = dict(workers.results(jobs, MINUTE, 2, watching))
    assert done == {x: x + 100 for x in range(5)}
    for x in range(5):
        assert [what for index, what in watching.seen if index == x] == ["", "adding", "done"]
    assert [*workers.results([], WorkLimits())] == []


def test_one_worker_does_several_jobs(labour) -> None:
    """A worker is used again; as many run at once as are allowed."""
    jobs: list[workers.Job] = [(labour.who, ()) for _ in range(3)]
    assert len({who for _, who in workers.results(jobs, MINUTE)}) == 1


@pytest.mark.heavy
def test_a_watcher_is_called_while_nothing_happens(labour) -> None:
    """Time passes for who wants to show it."""
    watching = Watching(ticking=True)
    assert [*workers.results([(labour.spin, ())], WorkLimits(1.0), 1, watching)]
    assert watching.ticks >= 3


@pytest.mark.parametrize(
    "error",
    [
        Malformed([Fault("a", "missing"), Fault("b", "unknown", 3)], "x.toml"),
        Undecided("a digit stays open"),
        RecursionError("too deep"),
        OSError(28, "No space left on device"),
    ],
)
def test_what_is_foreseen_comes_back(error: Exception, labour) -> None:
    """Errors that mean something are given back as they are."""
    found = one(labour.raises, error)
    assert type(found) is type(error)
    assert (found.args, str(found)) == (error.args, str(error))


def test_what_is_not_foreseen_comes_back_with_its_place(labour) -> None:
    """A fault of the program's own shows where it happened."""
    found = one(labour.raises, KeyError("lost"))
    assert isinstance(found, Crashed)
    assert "KeyError" in found.why
    assert "in raises" in found.trace
    assert "KeyError: 'lost'" in found.trace


@pytest.mark.heavy
@pytest.mark.parametrize("work", ["spin", "factor"])
def test_time(work: str, labour) -> None:
    """Work ends at its limit, also in native code; the next job has a new worker."""
    jobs: list[workers.Job] = [(getattr(labour, work), ()), (labour.add, (1, 2))]
    begun = time.monotonic()
    done = dict(workers.results(jobs, WorkLimits(1.5)))
    assert time.monotonic() - begun < 15
    assert isinstance(done[0], Ended)
    assert done[0].why == "time"
    assert done[1] == 3


@pytest.mark.heavy
def test_each_job_has_its_own_time(labour) -> None:
    """The clock begins anew with every job, and stops while nobody asks."""
    jobs: list[workers.Job] = [(labour.who, ())] * 2
    with closing(workers.results(jobs, WorkLimits(1.0))) as made:
        first = next(made)[1]
        time.sleep(1.5)
        assert next(made)[1] == first


@pytest.mark.parametrize("work", ["hoard", "power"])
def test_memory(work: str, labour) -> None:
    """Whether Python or a library gets no memory, it is said to be that."""
    arguments = (1000,) if work == "hoard" else ()
    done = one(getattr(labour, work), *arguments, limits=WorkLimits(60, 400))
    assert isinstance(done, Ended)
    assert done.why == "memory"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        ImportError("x.so: failed to map segment from shared object"),
        SystemError("error return without exception set"),
        SystemError("<function f> returned NULL without setting an exception"),
    ],
)
def test_words_for_no_memory(error: Exception, labour) -> None:
    """Python and libraries have several, one of them that there is no word for it."""
    done = one(labour.raises, error)
    assert isinstance(done, Ended)
    assert done.why == "memory"


@pytest.mark.parametrize("error", [SystemError("bad argument"), ImportError("no module")])
def test_what_is_not_about_memory(error: Exception, labour) -> None:
    """Exceptions of the same types about something else are faults."""
    assert isinstance(one(labour.raises, error), Crashed)


@pytest.mark.parametrize("work", ["bulk", "wordless"])
def test_no_memory_to_say_so(work: str, labour) -> None:
    """Telling what came out, or looking at what went wrong, may be what takes too much."""
    done = one(getattr(labour, work))
    assert isinstance(done, Ended)
    assert done.why == "memory"


@pytest.mark.heavy
def test_memory_that_is_enough(labour) -> None:
    """What fits is done, and without a limit more does."""
    assert one(labour.hoard, 100, limits=WorkLimits(60, 400)) == 100 << 20
    assert one(labour.hoard, 500, limits=MINUTE) == 500 << 20


def test_memory_that_another_job_has_taken(labour) -> None:
    """A job that had not all memory to itself is done again by a new worker."""
    jobs: list[workers.Job] = [(labour.keep, (250,)), (labour.hoard, (250,))]
    done = dict(workers.results(jobs, WorkLimits(60, 400)))
    assert done[1] == 250 << 20


def test_a_worker_that_is_killed(labour) -> None:
    """What ends a worker from elsewhere is told by its signal; the others go on."""
    jobs: list[workers.Job] = [(labour.end, (signal.SIGKILL,)), (labour.add, (1, 2))]
    done = dict(workers.results(jobs, MINUTE))
    assert isinstance(done[0], Ended)
    assert (done[0].why, done[0].number) == ("signal", signal.SIGKILL)
    assert done[1] == 3


def test_libraries_say_nothing_on_standard_error(labour, capfd) -> None:
    """What native code prints on its way out doesn't reach the user."""
    one(labour.shout)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("name", "why"), [("power", "memory"), ("too_large", "signal")])
def test_an_abort_is_told_as_what_it_was(labour, name: str, why: str, capfd) -> None:
    """Memory lacks where a library says so; whatever else ends a process is no word on memory,
    and what libraries say of it is nobody's output."""
    limits = WorkLimits(60, 500)
    ((_, end),) = workers.results([(getattr(labour, name), ())], limits)
    assert isinstance(end, Ended)
    assert end.why == why
    assert ("memory" in workers.told(end, limits)) is (why == "memory")
    assert capfd.readouterr() == ("", "")


def test_what_nobody_reads_stops_no_work(labour) -> None:
    """However much a job prints, it comes to its end."""
    assert one(labour.loud) == 1


def test_closing_ends_all_work(labour, tmp_path: Path) -> None:
    """Who doesn't want the rest leaves no worker, nothing that it has started, no folder."""
    note = tmp_path / "note"
    jobs: list[workers.Job] = [(labour.add, (1, 2)), (labour.tidy, (str(note),))]
    made = workers.results(jobs, MINUTE, 2, tidy=True)
    assert next(made) == (0, 3)
    folder = waited_for(note)
    assert folder.is_dir()
    made.close()
    assert not folder.exists()
    assert not running("sleep 1000.25")


def test_a_worker_tidies_up_after_who_asked(labour, tmp_path: Path) -> None:
    """Also a worker that is between two pieces of work, and told nothing."""
    site = f"import sys; sys.path[:0] = [{str(tmp_path)!r}]\n"
    asks = (
        "import os, labour_of_workers as labour\n"
        "from symattn import workers\n"
        "made = workers.results([(labour.leave, ())], workers.Limits(60), tidy=True)\n"
        "next(made)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    folder = tmp_path / "tmp"
    folder.mkdir()
    environment = {**os.environ, "TMPDIR": str(folder)}
    subprocess.run([sys.executable, "-c", site + asks], env=environment, check=False, timeout=60)
    for _ in range(600):
        if not list(folder.iterdir()):
            return
        time.sleep(0.05)
    raise AssertionError(list(folder.iterdir()))


def waited_for(note: Path) -> Path:
    """The path that a note names, as soon as it is there."""
    for _ in range(600):
        if note.exists() and (text := note.read_text()):
            return Path(text)
        time.sleep(0.05)
    raise AssertionError("no note")


def running(words: str) -> list[str]:
    """The processes with that command line."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if line == words]
