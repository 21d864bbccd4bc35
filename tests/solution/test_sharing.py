"""Attention worked out by an executor, head by head and some queries at a time."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

from symattn import attention, from_floats
from symattn.sharing import shared
from symattn.solution import attention as attention_module
from symattn.solution.attention import Gradients

OPTIONS: dict[str, tuple[dict[str, Any], int]] = {
    "small": ({"causal": True}, 9),
    "scaled, capped, with a sink": ({"scale": "1/3", "softcap": 2, "sink": [1, 2]}, 9),
    "in blocks": ({"window": (300, 20)}, 600),
    "empty rows in blocks": ({"lengths": [0, 400], "on_empty_row": "mean"}, 600),
}


def made(name: str) -> Gradients:
    options, n = OPTIONS[name]
    rng = np.random.default_rng(3)
    q, k, v, upstream = (
        from_floats(rng.normal(size=(2, n, 3)).astype("float32")) for _ in range(4)
    )
    return attention(q, k, v, **options).backward(upstream)


def pairs(gradients: Gradients) -> list[Any]:
    forward = gradients._forward
    parts = (forward.output, forward.lse, gradients.dQ, gradients.dK, gradients.dV)
    return [part.source.pairs() for part in parts]


def assert_same(ours: Gradients, theirs: Gradients) -> None:
    for x, y in zip(pairs(ours), pairs(theirs), strict=True):
        for part in ("high", "low", "error"):
            np.testing.assert_array_equal(getattr(x, part), getattr(y, part))


class _Broken(Executor):
    """Takes one piece of work, and loses it."""

    def __init__(self) -> None:
        self.taken = 0

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.taken:
            raise RuntimeError("broken")
        self.taken += 1
        future: Future[Any] = Future()
        future.set_exception(RuntimeError("lost"))
        return future


@pytest.fixture(scope="module")
def executor() -> Any:
    with ProcessPoolExecutor(1) as pool:
        yield pool


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", OPTIONS)
def test_the_same_whoever_works(
    name: str, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    lazy, ours, broken = made(name), made(name), made(name)
    told: list[tuple[int, int]] = []
    with monkeypatch.context() as here:
        here.setattr(attention_module, "call", _away)
        ours.compute(executor, lambda *done: told.append(done))
    assert told == [(k + 1, len(told)) for k in range(len(told))]
    assert len(told) == (2 if OPTIONS[name][1] < 300 else 6)
    broken.compute(_Broken())
    with monkeypatch.context() as here:
        here.setattr("symattn.programs.double_double.DoubleDoubleMatrices.apply", None)
        kept = pairs(ours), pairs(broken)
        ours.compute()
    assert len(kept[0]) == len(kept[1]) == 5
    assert_same(ours, lazy)
    assert_same(broken, lazy)


def _away(*task: Any) -> Any:
    """Work that must not be done here."""
    import multiprocessing

    assert multiprocessing.parent_process() is not None
    return task[0](*task[1:])


def test_a_fault_of_the_work_is_met_here(executor: Executor) -> None:
    with pytest.raises(ZeroDivisionError):
        [*shared(divmod, [(1, 0)], executor)]


def test_letters_are_left_alone() -> None:
    made = attention([["a"]], [[1]], [[2]], symbols=["a"]).compute()
    assert made.output[0, 0] == 2
