"""No line takes without end, in Python either."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest
from flint import ctx

import symattn
from symattn.calculus import judging
from symattn.calculus.clocks import OutOfTime, time_limit
from symattn.calculus.refuting import Sampler
from symattn.limits import LINE_WORK


def endless(*_):
    """Work without end that handles all errors."""
    while True:
        try:
            ctx.prec = 999
        except Exception:
            continue


def test_a_line_out_of_time_is_undecided_and_the_others_are_judged(monkeypatch) -> None:
    """It says so."""
    before = ctx.prec
    tried = Sampler.of

    def slow(self, line):
        return endless() if len(line.free) == 1 else tried(self, line)

    monkeypatch.setattr(Sampler, "of", slow)
    found = symattn.derive("x: n\nx[i] = x[i] * 1\nsum(i, x[i]) = sum(j, x[j])", seconds=0.3)
    assert [line.status for line in found.lines] == ["undecided", "proved"]
    assert found.lines[0].why == "not decided within 0.3 seconds, which a line may take"
    assert ctx.prec == before


def test_waiting_is_no_work(monkeypatch) -> None:
    """What a line waits for on a busy machine doesn't count, nor what others do there."""
    # Garbage of other tests is work: a clock may ring while it is looked for.
    gc.collect()
    before = time.monotonic()
    with time_limit(0.3):
        time.sleep(0.6)
    assert time.monotonic() - before > 0.5
    tried = Sampler.of

    def slow(self, line):
        time.sleep(0.8)
        return tried(self, line)

    monkeypatch.setattr(Sampler, "of", slow)
    (line,) = symattn.derive("x: n\nx[i] = x[i] * 1", seconds=0.5).lines
    assert line.status == "proved"


def test_the_work_of_a_proof_is_counted(monkeypatch) -> None:
    """The same each time, whatever the time: with less a line is undecided, others are not."""
    text = "x: n\ny: n\n{0} * {0} * {0} = {0}**3\nx = x".format("(x[i] + y[i] + 1)")
    left = []
    judge = judging.Judge._line

    def judged(self, number, statement):
        line = judge(self, number, statement)
        left.append(self.kernel.left)
        return line

    monkeypatch.setattr(judging.Judge, "_line", judged)
    for _ in range(2):
        assert [line.status for line in symattn.derive(text).lines] == ["proved"] * 2
    assert left[:2] == left[2:]
    assert left[0] < LINE_WORK.most - 50
    most = int(LINE_WORK.most - left[0])
    for allowed, status in ((most, "proved"), (most - 1, "undecided")):
        limit = replace(LINE_WORK, most=allowed)
        monkeypatch.setattr(judging, "LINE_WORK", limit)
        lines = symattn.derive(text).lines
        assert [line.status for line in lines] == [status, "proved"]
    assert lines[0].why == limit.said()
    assert symattn.derive(text, seconds=0).lines[0].status == "proved"


def test_a_hint_out_of_time_leaves_the_verdict(monkeypatch) -> None:
    """What was found out is said."""
    monkeypatch.setattr(judging, "hint", endless)
    (line,) = symattn.derive("x: n\nx[i] = 2 * x[i]", seconds=0.5).lines
    assert (line.status, line.hint) == ("refuted", "")


def test_sines_of_sines_end() -> None:
    """However the terms stand in them."""
    (line,) = symattn.derive("v: number\nsin(sin(v + 4)) = sin(sin(4 + v))", seconds=1).lines
    assert line.status in ("proved", "undecided")


def test_time_is_limited_in_any_thread() -> None:
    """Not in the main one alone."""
    ends = []

    def work():
        try:
            with time_limit(0.05):
                endless()
        except OutOfTime:
            ends.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)
    assert ends == [True]


def test_an_interruption_that_nobody_heard_is_made_again(monkeypatch) -> None:
    """An exception that is raised while an object ends is lost; the work ends all the same."""
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lambda raised: lost.append(raised.exc_type))

    class Slow:
        def __del__(self) -> None:
            end = time.thread_time() + 0.3
            while time.thread_time() < end:
                pass

    def worked() -> None:
        with time_limit(0.1):
            Slow()
            assert lost == [OutOfTime]
            endless()

    with pytest.raises(OutOfTime):
        worked()


def test_no_interruption_comes_late() -> None:
    """What ends about when its time does ends as a whole or not at all."""
    ended = 0
    for count in range(200):
        try:
            with time_limit(0.0005):
                for _ in range(100 * count):
                    pass
        except OutOfTime:
            ended += 1
        time.sleep(0)
    assert 0 <= ended <= 200


def test_nothing_is_limited_by_nothing() -> None:
    """0 is no limit."""
    with time_limit(0):
        assert threading.active_count() == threading.active_count()
    assert symattn.derive("x: n\nx = x", seconds=0).lines[0].status == "proved"


def test_errors_pass_through() -> None:
    """As without a limit."""
    with pytest.raises(KeyError), time_limit(20):
        raise KeyError


_PROFILED = """
import sys
from symattn.calculus.clocks import OutOfTime, time_limit
try:
    with time_limit(0.01):
        while True:
            pass
except OutOfTime:
    pass
sys.setprofile(lambda *told: None)
(lambda: None)()
sys.setprofile(None)
print("profiled")
"""


def test_what_was_interrupted_can_be_profiled() -> None:
    """CPython 3.11 would look for the exception without end (it did, in a test run)."""
    done = subprocess.run([sys.executable, "-c", _PROFILED], capture_output=True, timeout=60)
    assert done.stdout.split() == [b"profiled"]
