"""The workers of an editor's server: who has judged a text is asked about it again.

Each question is a job of a worker process (:mod:`symattn.workers`), which keeps what it has
worked out. A question that nobody wants to know any more is given a moment to end, and the next
one on its text waits for that: who has judged a text needs less for its next version than
another worker. Then its worker is ended; another one waits with everything loaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

from symattn.editor import jobs
from symattn.editor.answers import Answer
from symattn.editor.held import Held
from symattn.errors import Malformed
from symattn.limits import BYTES
from symattn.workers import Ended, Job, Worker, WorkLimits

#: So many questions are worked on at a time, and so many workers wait for the next one.
_AT_ONCE, _WAITING = 4, 3
#: Seconds that a question which nobody wants to know any more may take yet.
_GRACE = 1.0
#: So many jobs a worker does before another one, with an empty memory, takes its place.
_JOBS = 500


@dataclass(eq=False)
class _Member:
    """A worker, what it is about to load, and the text that it worked on last."""

    worker: Worker
    loading: asyncio.Future[Any]
    text: str = ""


class Crew:
    """Worker processes, within limits; made and used by one event loop."""

    def __init__(self, limits: WorkLimits) -> None:
        self._limits = limits
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._waiting: list[_Member] = []
        self._all: list[Worker] = []
        #: Work that nobody wants to know any more, until its worker is free: on which text.
        self._retiring: dict[asyncio.Task[None], str] = {}

    def prepare(self) -> None:
        """Have a worker wait with everything loaded."""
        if all(member.text for member in self._waiting):
            worker = Worker(self._limits, False, self._all)
            loading = _threaded(worker, (jobs.load, ()))
            self._waiting.append(_Member(worker, loading))

    async def ask(self, text: str, job: Job) -> Any:
        """What a job on the text of that name gives, or the exception that it ends with."""
        while stale := [task for task, of in self._retiring.items() if of == text]:
            await asyncio.wait(stale)
        async with self._places:
            while True:
                member = self._taken(text)
                answer = await self._asked(member, job)
                is_over = isinstance(answer, Ended) and answer.why != "time"
                # It may have been full of what other jobs left, or ended while it waited.
                if not is_over or member.worker.jobs <= 2:
                    return answer

    def _taken(self, text: str) -> _Member:
        """A worker for a text: the one that knows it, or the one with everything loaded."""
        for member in [*self._waiting]:
            if member.worker.process.poll() is not None:
                self._waiting.remove(member)
                self._dismiss(member)
        known = [member for member in self._waiting if member.text == text]
        if not known:
            self.prepare()
            known = [member for member in self._waiting if not member.text]
        self._waiting.remove(known[0])
        known[0].text = text
        return known[0]

    async def _asked(self, member: _Member, job: Job) -> Any:
        work = asyncio.ensure_future(self._done(member, job))
        try:
            answer = await asyncio.shield(work)
        except asyncio.CancelledError:
            task = asyncio.ensure_future(self._retire(member, work))
            task.add_done_callback(self._retiring.pop)
            self._retiring[task] = member.text
            raise
        self._back(member, answer)
        return answer

    async def _done(self, member: _Member, job: Job) -> Any:
        await asyncio.wait({member.loading})
        return await _threaded(member.worker, job)

    async def _retire(self, member: _Member, work: asyncio.Future[Any]) -> None:
        self.prepare()
        done, _ = await asyncio.wait({work}, timeout=_GRACE)
        if not done:
            member.worker.kill()
        self._back(member, await work)

    def _back(self, member: _Member, answer: object) -> None:
        """A worker is free again, if it still is."""
        if isinstance(answer, Ended) or member.worker.jobs > _JOBS:
            self._dismiss(member)
        else:
            self._waiting.append(member)
        self.prepare()
        if len(self._waiting) > _WAITING:
            oldest = next(member for member in self._waiting if member.text)
            self._waiting.remove(oldest)
            self._dismiss(oldest)

    def _dismiss(self, member: _Member) -> None:
        member.worker.stop()
        self._all.remove(member.worker)

    def stop(self) -> None:
        """End all workers."""
        for worker in self._all:
            worker.kill()
            worker.process.wait()


def _threaded(worker: Worker, job: Job) -> asyncio.Future[Any]:
    """Return what a worker gives, waited for in a thread that keeps nobody from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def tell(answer: Any) -> None:
        if not future.done():
            future.set_result(answer)

    def ask() -> None:
        try:
            answer = worker.ask(job)
        except Exception as error:
            answer = error
        # Where the loop has ended, nobody waits any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(tell, answer)

    Thread(target=ask, daemon=True).start()
    return future


# -- the texts that lie on the desk ------------------------------------------------------
# Each is judged as it is now, and a version that is no longer the last one is not told of.

#: Seconds after the last change until a text is judged.
_PAUSE = 0.03


@dataclass(eq=False)
class _Lying:
    """A version of a text, the work on what is told of it, and on what else was asked."""

    held: Held
    judged: asyncio.Task[Answer]
    others: dict[tuple[Any, ...], asyncio.Task[Any]] = field(default_factory=dict)


class Desk:
    """All texts with their answers; ``publish`` gets what became of the work on each
    version that is still the last one then, and says what the answer is."""

    def __init__(self, crew: Crew, publish: Callable[[Held, Any], Answer]) -> None:
        self._crew = crew
        self._publish = publish
        self._lying: dict[str, _Lying] = {}

    def put(self, held: Held, at_once: bool) -> None:
        """Judge this version, ``at_once`` or after a pause in which another one may come."""
        self.take(held.uri)
        task = asyncio.ensure_future(self._judged(held, 0 if at_once else _PAUSE))
        self._lying[held.uri] = _Lying(held, task)

    def take(self, uri: str) -> bool:
        """Forget a text, and stop all work on it; whether one lay there."""
        if (lying := self._lying.pop(uri, None)) is None:
            return False
        for task in (lying.judged, *lying.others.values()):
            task.cancel()
        return True

    async def _judged(self, held: Held, pause: float) -> Answer:
        await asyncio.sleep(pause)
        job = (jobs.ask, ("judge", held.name, held.source))
        return self._publish(held, await self._worked(held, job))

    async def _worked(self, held: Held, job: Job) -> Any:
        """Return what a job on a version gives, or the exception that it ends with."""
        if held.beyond:
            return Malformed(f"the text has {BYTES.said(held.beyond)}")
        return await self._crew.ask(held.uri, job)

    async def answer(self, uri: str) -> tuple[Held, Answer] | None:
        """The version that lies there, with what is told of it, as soon as that is known;
        None where there is none, or another one has come meanwhile."""
        if (lying := self._lying.get(uri)) is None:
            return None
        answer = await _outcome(lying.judged)
        return None if self._lying.get(uri) is not lying else (lying.held, answer)

    async def asked(self, held: Held, *question: Any) -> Any:
        """Return what else is asked of a version, once; None where that is no longer the last one,
        or there is no answer."""
        lying = self._lying.get(held.uri)
        if lying is None or lying.held is not held:
            return None
        if question not in lying.others:
            job = (jobs.ask, question)
            lying.others[question] = asyncio.ensure_future(self._worked(held, job))
        answer = await _outcome(lying.others[question])
        is_last = self._lying.get(held.uri) is lying
        return answer if is_last and not isinstance(answer, Exception) else None


async def _outcome(task: asyncio.Task[Any]) -> Any:
    """Return what a task gives, None where it was stopped: whoever waits for it stops it not."""
    await asyncio.wait({task})
    return None if task.cancelled() else task.result()
