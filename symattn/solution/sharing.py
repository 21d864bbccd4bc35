"""The heads of attention, worked out by an executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symattn.cases.case import make
from symattn.numbers.double_double import DoubleDouble
from symattn.sharing import Watch, shared
from symattn.solution.blocks import BlockedSolution, HeadSolution, certified, log_sums_of
from symattn.solution.solution import Solution
from symattn.syntax import gradient_name

if TYPE_CHECKING:
    from concurrent.futures import Executor


def certify(
    heads: Sequence[tuple[HeadSolution, HeadSolution]],
    executor: Executor | None,
    watch: Watch | None,
) -> None:
    """Work out the pairs of floats around all that has a row for each query or key, of heads
    that were not yet, each with the one of its forward pass, and keep them there."""
    todo = [pair for pair in heads if not _is_known(*pair)]
    groups = [_tasks(*pair) for pair in todo]
    places = [k for k, group in enumerate(groups) for _ in group]
    pieces = [piece for group in groups for piece in group]
    found: list[dict[int, dict[str, DoubleDouble]]] = [{} for _ in groups]
    firsts = [places.index(k) for k in range(len(groups))]
    for done, (place, result) in enumerate(shared(_worked, pieces, executor), 1):
        k = places[place]
        found[k][place - firsts[k]] = result
        if len(found[k]) == len(groups[k]):
            _keep(*todo[k], [found[k].pop(n) for n in range(len(groups[k]))])
        if watch is not None:
            watch(done, len(pieces))


def _is_known(head: HeadSolution, forward: HeadSolution) -> bool:
    if isinstance(head, BlockedSolution):
        return head.is_known
    # What has letters is no float.
    return "done" in head.kept or bool(head.case.letters)


def _tasks(head: HeadSolution, forward: HeadSolution) -> list[tuple[Any, ...]]:
    """What :func:`_worked` is called with for a head, piece by piece."""
    if isinstance(head, BlockedSolution):
        return [(certified, *task) for task in head.tasks()]
    case, names = head.case, ["Y", "lse"]
    loss = {"output": "Y", "upstream": case.raw_upstream, "wrt": case.wrt}
    if head is not forward:
        names += [gradient_name(name) for name in ("Q", "K", "V")]
    return [(_solved, case.raw, case.steps, loss, names)]


def _worked(work: Callable[..., dict[str, DoubleDouble]], *task: Any) -> dict[str, DoubleDouble]:
    return work(*task)


def _solved(
    given: Mapping[str, object],
    steps: Mapping[str, str],
    loss: Mapping[str, object],
    names: Sequence[str],
) -> dict[str, DoubleDouble]:
    """Pairs around quantities of a head that is solved whole."""
    solution = Solution(make("attention", given, steps, loss), is_sound=True)
    quantities = {
        name: log_sums_of(solution) if name == "lse" else solution[name] for name in names
    }
    pairs = {name: quantity.source.pairs() for name, quantity in quantities.items()}
    return {name: known for name, known in pairs.items() if known is not None}


def _keep(
    head: HeadSolution, forward: HeadSolution, results: Sequence[dict[str, DoubleDouble]]
) -> None:
    if isinstance(head, BlockedSolution):
        head.take(results)
        return
    assert isinstance(forward, Solution)
    for name, pairs in results[0].items():
        (forward if name in ("Y", "lse") else head).keep(name, pairs)
    head.kept["done"] = results[0]["Y"]
