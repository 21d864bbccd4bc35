"""Workers of an editor's server: one that crashes, or does not end, costs only its question."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest

from symattn.editor.crew import Crew
from symattn.workers import Ended, WorkLimits


def add(asker, x, y):
    return x + y


def spin(asker):
    while True:
        pass


def fall(asker):
    os.kill(os.getpid(), signal.SIGSEGV)


def who(asker):
    return os.getpid()


def nap(asker, seconds):
    time.sleep(seconds)


def run(conversation, seconds=60.0):
    """What a conversation with a crew gives."""

    async def talk():
        crew = Crew(WorkLimits(seconds))
        try:
            return await conversation(crew)
        finally:
            crew.stop()

    return asyncio.run(talk())


def test_who_knows_a_text_is_asked_again():
    async def conversation(crew):
        first = [await crew.ask(text, (who, ())) for text in ("a", "b")]
        again = [await crew.ask(text, (who, ())) for text in ("a", "b", "a")]
        return first, again

    (a, b), again = run(conversation)
    assert again == [a, b, a]
    assert a != b


def test_who_knows_a_text_is_waited_for():
    """Nobody wants to know any more what it is asked, and it is about to be free."""

    async def conversation(crew):
        first = await crew.ask("a", (who, ()))
        stale = asyncio.ensure_future(crew.ask("a", (nap, (0.2,))))
        await asyncio.sleep(0.05)
        stale.cancel()
        await asyncio.wait({stale})
        return first, await crew.ask("a", (who, ()))

    first, again = run(conversation)
    assert again == first


def test_a_crash_costs_its_own_question():
    async def conversation(crew):
        return await asyncio.gather(
            crew.ask("a", (fall, ())), crew.ask("b", (add, (1, 2))), crew.ask("a", (add, (3, 4)))
        )

    end, *sums = run(conversation)
    assert isinstance(end, Ended)
    assert end.number == signal.SIGSEGV
    assert sums == [3, 7]


def test_a_worker_that_was_ended_while_it_waited_costs_nothing(monkeypatch):
    """Also where the system has not yet told that it was."""

    async def conversation(crew):
        first = await crew.ask("a", (who, ()))
        (member,) = (one for one in crew._waiting if one.text == "a")
        monkeypatch.setattr(member.worker.process, "poll", lambda: None)
        os.kill(first, signal.SIGKILL)
        return await crew.ask("a", (add, (1, 2)))

    assert run(conversation) == 3


@pytest.mark.heavy
def test_what_does_not_end_is_ended():
    async def conversation(crew):
        return await asyncio.gather(crew.ask("a", (spin, ())), crew.ask("b", (add, (1, 2))))

    end, three = run(conversation, seconds=3.0)
    assert isinstance(end, Ended)
    assert end.why == "time"
    assert three == 3


@pytest.mark.heavy
def test_what_nobody_waits_for_any_more_is_stopped():
    """The next question on the same text is answered at once, and the processor is free."""

    async def conversation(crew):
        await crew.ask("a", (add, (0, 0)))
        await crew.ask("b", (add, (0, 0)))
        stale = asyncio.ensure_future(crew.ask("a", (spin, ())))
        await asyncio.sleep(0.05)
        stale.cancel()
        start = time.monotonic()
        answer = await crew.ask("a", (add, (1, 2)))
        waited = time.monotonic() - start
        await asyncio.sleep(1.0)
        return answer, waited, len(crew._all), len(crew._waiting)

    answer, waited, workers, waiting = run(conversation)
    assert answer == 3
    assert waited < 5
    assert workers == waiting <= 3
