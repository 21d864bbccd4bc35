"""Work shared out to an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from symattn.limits import AHEAD

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

T = TypeVar("T")

#: The place of a piece of work, and its arguments.
_Piece = tuple[int, tuple[Any, ...]]
#: Who is told how many pieces of work are done, of how many.
Watch = Callable[[int, int], None]


def shared(
    work: Callable[..., T], pieces: Iterable[tuple[Any, ...]], executor: Executor | None
) -> Iterator[tuple[int, T]]:
    """Yield what ``work`` gives for each piece, its arguments, with the place of the piece, as they
    end; what the executor loses, with a machine or a process that was ended, is done here at
    last, as everything is where there is none. Pieces are taken as the work goes on.

    >>> [*shared(pow, [(2, 3), (3, 2)], None)]
    [(0, 8), (1, 9)]
    """
    if executor is None:
        for place, piece in enumerate(pieces):
            yield place, work(*piece)
        return
    waiting: dict[Future[T], _Piece] = {}
    lost: list[_Piece] = []
    try:
        for place, piece in enumerate(pieces):
            try:
                waiting[executor.submit(work, *piece)] = place, piece
            # One that is broken takes nothing more.
            except Exception:
                yield place, work(*piece)
            if len(waiting) >= AHEAD:
                yield from _ended(waiting, lost)
        while waiting:
            yield from _ended(waiting, lost)
        for place, piece in sorted(lost, key=itemgetter(0)):
            yield place, work(*piece)
    finally:
        for future in waiting:
            future.cancel()


def _ended(waiting: dict[Future[T], _Piece], lost: list[_Piece]) -> Iterator[tuple[int, T]]:
    """Yield what the first that end of those that are waited for give, or that they are lost."""
    from concurrent.futures import FIRST_COMPLETED, wait

    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
        place, piece = waiting.pop(future)
        try:
            result = future.result()
        # The work's own, too: it is met here again.
        except Exception:
            lost.append((place, piece))
        else:
            yield place, result
