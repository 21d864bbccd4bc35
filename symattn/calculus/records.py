"""Records of proofs: the rules that were chosen, so that they can be chosen again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from symattn.calculus.kernel.computing import Step
from symattn.calculus.kernel.kinds import Mono
from symattn.calculus.kernel.proof import Kernel, Last
from symattn.calculus.language import Array

#: When a product came up: after how many times of forgetting, and which arrays were varied.
_Key = tuple[int, frozenset[Array], Mono]


@dataclass
class Record:
    """The choices made for one proof, or to get ready for proofs."""

    steps: dict[_Key, Step] = field(default_factory=dict)
    equations: list[tuple[str, int]] = field(default_factory=list)
    """Equations that were made of others: how, and of which."""
    lasts: list[Last] = field(default_factory=list)


class Recorder:
    """Asks for rules, and keeps the answers."""

    def __init__(self, kernel: Kernel, choose: Callable[[Mono], Step | None]) -> None:
        self._kernel, self._choose = kernel, choose
        self.record = Record()
        self._start = kernel.epoch

    def begin(self, _: Record | None = None) -> None:
        """Keep what comes now in a record of its own."""
        self.record, self._start = Record(), self._kernel.epoch

    def _key(self, mono: Mono) -> _Key:
        return self._kernel.epoch - self._start, self._kernel.moving, mono

    def __call__(self, mono: Mono) -> Step | None:
        """The rule for a product, if any."""
        step = self._choose(mono)
        if step is not None:
            self.record.steps[self._key(mono)] = step
        return step


class Replayer(Recorder):
    """Answers from records that were kept."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel, lambda _: None)

    def begin(self, record: Record | None = None) -> None:
        """Answer from this record from now on."""
        super().begin()
        self._answers = (record or Record()).steps

    def __call__(self, mono: Mono) -> Step | None:
        """The rule for a product, as the record has it."""
        return self._answers.get(self._key(mono))
