"""The texts that lie on the desk: each is judged as it is now, and a version that is no longer
the last one is not told of."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from symattn.editor import jobs
from symattn.editor.answers import Answer
from symattn.editor.crew import Crew
from symattn.editor.held import Held
from symattn.errors import Malformed
from symattn.limits import BYTES
from symattn.workers import Job

#: Seconds after the last change until a text is judged.
_PAUSE = 0.03


@dataclass(eq=False)
class _Lying:
    """A version of a text, the work on what is told of it, and on what else was asked."""

    held: Held
    judged: asyncio.Task[Answer]
    others: dict[Job, asyncio.Task[Any]] = field(default_factory=dict)

    def drop(self) -> None:
        for task in (self.judged, *self.others.values()):
            task.cancel()


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
        lying.drop()
        return True

    async def _judged(self, held: Held, pause: float) -> Answer:
        await asyncio.sleep(pause)
        job = (jobs.judge, (held.name, held.source))
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

    async def asked(self, held: Held, job: Job) -> Any:
        """What else is asked of a version, once; None where that is no longer the last one,
        or there is no answer."""
        lying = self._lying.get(held.uri)
        if lying is None or lying.held is not held:
            return None
        if job not in lying.others:
            lying.others[job] = asyncio.ensure_future(self._worked(held, job))
        answer = await _outcome(lying.others[job])
        is_last = self._lying.get(held.uri) is lying
        return answer if is_last and not isinstance(answer, Exception) else None


async def _outcome(task: asyncio.Task[Any]) -> Any:
    """What a task gives, None where it was stopped: whoever waits for it stops it not."""
    await asyncio.wait({task})
    return None if task.cancelled() else task.result()
