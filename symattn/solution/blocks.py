"""Attention of float arrays of any length: some queries at a time.

A few queries with all keys that they see are a head like any other, and its program runs as it
is: with proved bounds in pairs of floats (:mod:`symattn.programs.double_double`), what is left
in doubt for its row alone in balls, and exactly. Queries don't depend on each other, so the rows
of the whole are those of its blocks, and what flows into keys and values is the sum of what
flows into them from every block. Both are the definition itself: no bound is added to those of
the operations on pairs, of which the sum over blocks is one more for each block.

Rows of a block are whole, so its largest score and the sum of its exponentials are too: memory
grows with the keys, never with queries times keys. Keys that no query of a block sees are left
out of it: their weights are exactly 0, and what flows into them from it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import starmap
from operator import itemgetter
from typing import ClassVar
from weakref import WeakSet

import numpy as np
import numpy.typing as npt
from flint import arb

from symattn.cases.case import Case, Rows, with_upstream
from symattn.errors import UnknownName
from symattn.expressions.shapes import Shape, grid
from symattn.expressions.syntax import gradient_name
from symattn.ieee import need_ieee
from symattn.limits import BLOCK, ENTRIES, SHARED, STACKED
from symattn.numbers import double_double
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.double_double import DoubleDouble
from symattn.numbers.reading import MASKED, Masked
from symattn.numbers.rounding import RoundingMode
from symattn.numbers.tables import NumberTable
from symattn.numbers.values import Value, total
from symattn.programs import nodes
from symattn.programs.double_double import DoubleDoubleMatrices, enclose
from symattn.programs.nodes import Run, ancestors
from symattn.solution.arguments import Head, Some, rows_of, scores_of
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity
from symattn.solution.runs import EntrySource
from symattn.solution.solution import Solution

# -- the logarithm of the sum of exponentials of each row of scores ----------------------

Flags = npt.NDArray[np.bool_]


class _LogSums(EntrySource):
    """The entries of ``log(rowsum(exp(scores)))``, scores possibly masked, as one row; those
    of rows that see no key are masked."""

    def __init__(
        self, scores: Quantity, weights: Quantity, empty: Flags, kept: dict[str, DoubleDouble]
    ) -> None:
        super().__init__(self._entry)
        self._scores = scores
        self._weights = weights
        self._empty = empty
        self._kept = kept

    def _entry(self, i: int, j: int) -> Value | Masked:
        if self._empty[j]:
            return MASKED
        row = (self._scores.entry(j, k) for k in range(self._scores.grid[1]))
        return total(score.exp() for score in row if isinstance(score, Value)).log()

    def pairs(self) -> DoubleDouble | None:
        if "lse" not in self._kept:
            scores, weights = self._scores.source.pairs(), self._weights.source.pairs()
            if scores is None or weights is None:
                return None
            self._kept["lse"] = log_sum_pairs(scores, weights, self._empty)
        return self._kept["lse"]

    def balls(self, bits: int) -> Sequence[arb | None] | None:
        scores = self._scores.source.balls(bits)
        if scores is None:
            return None
        rows, columns = self._scores.grid
        with precision(bits):
            lines = (scores[i * columns : (i + 1) * columns] for i in range(rows))
            powers = ([x.exp() for x in line if x is not None] for line in lines)
            sums = [sum(row, arb(0)).log() for row in powers]
        return [None if empty else x for x, empty in zip(sums, self._empty, strict=True)]


def log_sum_pairs(scores: DoubleDouble, weights: DoubleDouble, empty: Flags) -> DoubleDouble:
    """Pairs around the log-sum-exps, as one row: ``x - log(a)`` for the largest score x of each
    row and its weight a, which is no less than one over the number of keys."""
    largest = np.argmax(scores.high, axis=-1)[:, None]
    score, weight = (
        x.map(lambda part: np.take_along_axis(part, largest, -1).T) for x in (scores, weights)
    )
    with np.errstate(all="ignore"):
        sums = double_double.add(score, double_double.negative(double_double.log(weight)))
    return DoubleDouble(
        np.where(empty, -np.inf, sums.high),
        np.where(empty, 0.0, sums.low),
        np.where(empty, 0.0, sums.error),
    )


def log_sums(head: Solution) -> Quantity:
    """``log(rowsum(exp(M)))`` of a head, a number for each query; its sink takes part. For a
    query that sees no key it is masked, minus infinity.

    >>> from symattn import attention
    >>> log_sums(attention([[1]], [[0], [0]], [[1], [2]], scale=1).solution).at(0)
    log(2)
    """
    scores = head["concat(M, sink)" if "sink" in head else "M"]
    weights = head["W" if "W" in head else "A"]
    live = head["live"].nearest()[:, 0] if "live" in head else np.ones(scores.shape[0])

    def put(numbers: Mapping[str, object]) -> Quantity:
        return log_sums(head.at(**numbers))

    return Quantity(
        "lse",
        (scores.shape[0],),
        _LogSums(scores, weights, live == 0, head.kept),
        head.case.rounding,
        scores.letters,
        put=put if scores.is_open else None,
    )


# -- blocks ------------------------------------------------------------------------------

#: What has a row for each key, and what flows into the output.
_BY_KEY = tuple(map(gradient_name, "KV"))
_UPSTREAM = gradient_name("Y")

#: Some queries of a head with the keys that they see, their part of dL/dY, whether there are
#: gradients, the quantities asked for, and the length of a block.
Task = tuple[Head, Rows | None, bool, Sequence[str], int]


def needs_blocks(head: Head) -> bool:
    """Return whether a head of floats is too large for one program.

    >>> two, long = (NumberTable(1, floats=np.ones((n, 1))) for n in (2, 300))
    >>> needs_blocks(Head(two, long, long)), needs_blocks(Head(long, long, long))
    (False, True)
    """
    if not head.is_floats:
        return False
    tables = [x for x in (head.q, head.k, head.v, head.bias) if x is not None]
    sizes = [len(x) * len(x[0]) for x in tables]
    return max(*sizes, len(head.q) * len(head.k)) > ENTRIES.most


class BlockedSolution:
    """The solution of a large head, quantity by quantity, called as in
    :class:`~symattn.solution.solution.Solution`; the log-sum-exps are ``lse``.

    ``upstream`` is dL/dY, all ones unless given; ``forward`` is the solution without it.
    ``rows`` is the length of a block.

    >>> x = NumberTable(2, floats=np.eye(2))
    >>> head = BlockedSolution(Head(x, x, x, scale=1), rows=1)
    >>> head["Y"].decimal(2)[1], head["lse"].decimal(2)
    ((Decimal('0.27'), Decimal('0.73')), (Decimal('1.31'), Decimal('1.31')))
    """

    #: Entries are rounded as everywhere where nobody says how.
    rounding: ClassVar[RoundingMode] = "half-even"

    def __init__(
        self,
        head: Head,
        upstream: Rows | None = None,
        forward: BlockedSolution | None = None,
        rows: int | None = None,
    ) -> None:
        self.head = head
        self._rows: int = rows or (forward._rows if forward else BLOCK)
        self._upstream = upstream
        self._forward = forward
        #: Those that are differentiated, which compute what is here on their way.
        self._backward: WeakSet[BlockedSolution] = WeakSet()
        if forward is not None:
            forward._backward.add(self)
        self._known: dict[str, DoubleDouble] = {}
        self._rows_known = lru_cache(maxsize=4)(self._row)
        self._wide = lru_cache(maxsize=1)(lambda name: self.computed([name])[name])

    def __repr__(self) -> str:
        return f"<Solution of {len(self.head.q)} queries and {len(self.head.k)} keys, in blocks>"

    def __contains__(self, name: object) -> bool:
        return name in self._shapes

    def __getitem__(self, name: str) -> Quantity:
        """The quantity of that name; :class:`UnknownName` for another."""
        if name not in self._shapes:
            raise UnknownName(f"{name!r}: expected one of {', '.join(self._shapes)}")
        source: EntrySource
        if name in self._given:
            source = _Given(self._given[name])
        else:
            source = (_SumOfBlocks if name in _BY_KEY else _RowsOfBlocks)(self, name)
        shape, is_weights = self._shapes[name], name in ("A", "Z")
        return Quantity(name, shape, source, self.rounding, is_weights=is_weights)

    def gradient(self, name: str) -> Quantity:
        """dL/d(name)."""
        return self[gradient_name(name)]

    def shape(self, name: str) -> Shape:
        """The shape of a quantity."""
        return self._shapes[name]

    @cached_property
    def _given(self) -> Mapping[str, Rows]:
        head = self.head
        one = self.case(slice(0, 1), slice(0, 1)).given
        tables = {"Q": head.q, "K": head.k, "V": head.v, "bias": head.bias, "sink": head.sink}
        given = {name: rows for name, rows in tables.items() if rows is not None}
        given |= {name: one[name] for name in ("scale", "cap") if name in one}
        for name, away in (("live", head.dead), ("used", head.unused)):
            if away.any():
                given[name] = NumberTable(1, floats=(~away).astype(float)[:, None])
        if self._forward is not None:
            ones = NumberTable(len(head.v[0]), floats=np.ones((len(head.q), len(head.v[0]))))
            given[_UPSTREAM] = ones if self._upstream is None else self._upstream
        return given

    @cached_property
    def _shapes(self) -> Mapping[str, Shape]:
        steps, n_q = self.head.steps, len(self.head.q)
        shapes: dict[str, Shape] = {
            name: () if name in ("scale", "cap") else (len(rows), len(rows[0]))
            for name, rows in self._given.items()
        }
        shapes |= dict.fromkeys(steps, (n_q, len(self.head.k)))
        shapes |= {"Y": (n_q, len(self.head.v[0])), "lse": (n_q,)}
        shapes.pop("W", None)
        if self._forward is None:
            return shapes
        targets = [x for x in ("Q", "K", "V", "A", scores_of(steps), "bias", "sink") if x in shapes]
        return shapes | {gradient_name(name): shapes[name] for name in targets}

    # -- blocks -------------------------------------------------------------------

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Rows of queries, and the keys that they see."""
        return self._ranges(self._rows)

    def _ranges(self, length: int) -> Iterator[tuple[slice, slice]]:
        for start in range(0, len(self.head.q), length):
            rows = slice(start, min(start + length, len(self.head.q)))
            yield rows, self._seen(rows)

    def _seen(self, rows: Some) -> slice:
        seen, everything = self.head.seen, slice(0, len(self.head.k))
        if seen is None:
            return everything
        places = np.flatnonzero(seen[rows].any(axis=0))
        return slice(int(places[0]), int(places[-1]) + 1) if len(places) else slice(0, 1)

    def case(self, rows: Some, keys: slice = slice(None)) -> Case:
        """The case of some rows; its limit is that of arrays."""
        with nodes.room(STACKED):
            case = self.head.part(rows, keys).case()
            if self._forward is None:
                return case
            upstream = None if self._upstream is None else rows_of(self._upstream, rows)
            return with_upstream(case, upstream)

    def _row(self, i: int, keys: tuple[int, int]) -> Solution:
        """The solution of one query with some keys, among them all that it sees."""
        return Solution(self.case(slice(i, i + 1), slice(*keys)), is_sound=True)

    def row(self, i: int, name: str) -> Solution:
        """The solution of one query, with the keys that it sees unless all are asked for."""
        keys = slice(0, len(self.head.k)) if self.is_wide(name) else self._seen(slice(i, i + 1))
        return self._rows_known(i, (keys.start, keys.stop))

    def queries(self, keys: Sequence[int]) -> npt.NDArray[np.intp]:
        """Return those into whose keys some of these are."""
        if self.head.seen is None:
            return np.arange(len(self.head.q))
        return np.flatnonzero(self.head.seen[:, keys].any(axis=1))

    def flow(self, name: str, queries: npt.NDArray[np.intp]) -> tuple[slice, Quantity]:
        """Return what flows from some queries into the keys that they see."""
        keys = self._seen(queries)
        return keys, Solution(self.case(queries, keys), is_sound=True)[name]

    # -- pairs of floats ----------------------------------------------------------

    def pairs(self, name: str) -> DoubleDouble:
        """Pairs around the entries of what queries and keys have. Of what doesn't grow with
        queries times keys all is computed at once, and kept."""
        if self.is_wide(name):
            return self._wide(name)
        if name not in self._known:
            # What is asked forward is computed backward as well.
            whole = next(iter(self._backward), self)
            whole.take(starmap(certified, whole.tasks()))
        return self._known[name]

    @property
    def is_known(self) -> bool:
        """Return whether what doesn't grow with queries times keys was computed."""
        return bool(self._known)

    def tasks(self) -> Iterator[Task]:
        """Yield what :func:`certified` is called with, for some blocks after the other."""
        whole = self._shapes.keys() - self._given.keys()
        names = tuple(sorted(name for name in whole if not self.is_wide(name)))
        for rows, keys in self._ranges(SHARED * self._rows):
            upstream = None if self._upstream is None else rows_of(self._upstream, rows)
            is_backward = self._forward is not None
            yield self.head.part(rows, keys), upstream, is_backward, names, self._rows

    def take(self, results: Iterable[dict[str, DoubleDouble]]) -> None:
        """Keep what the tasks gave, in their order: sums over blocks are the same, whoever
        worked them out."""
        whole: dict[str, DoubleDouble] = {}
        for (rows, keys), found in zip(self._ranges(SHARED * self._rows), results, strict=True):
            whole = whole or {name: _zeros(grid(self._shapes[name])) for name in found}
            self._gather(whole, rows, keys, found)
        for head in (self, self._forward or self):
            head._known |= {name: whole[name] for name in head._shapes if name in whole}

    @staticmethod
    def _gather(
        whole: dict[str, DoubleDouble], rows: slice, keys: slice, part: Mapping[str, DoubleDouble]
    ) -> None:
        """Put the pairs of some rows in their place, or add them."""
        for name, sums in whole.items():
            if name in _BY_KEY:
                _put(sums, keys, double_double.add(sums.map(itemgetter(keys)), part[name]))
            else:
                _put(sums, (slice(None), rows) if name == "lse" else rows, part[name])

    def is_wide(self, name: str) -> bool:
        """Return whether a quantity has a row for each query, and a column for each key."""
        return name not in _BY_KEY and self._shapes[name] == (len(self.head.q), len(self.head.k))

    def computed(self, names: Iterable[str]) -> dict[str, DoubleDouble]:
        """The pairs of these quantities, from one pass over the blocks."""
        need_ieee()
        whole = {name: _zeros(grid(self._shapes[name])) for name in names}
        is_wide = any(map(self.is_wide, whole))
        for rows, keys in self.blocks():
            # Gradients into weights are numbers where no query looks.
            keys = slice(0, len(self.head.k)) if is_wide else keys
            block = _Block(self.case(rows, keys), self.head.dead[rows])
            self._gather(whole, rows, keys, {name: block.pairs(name) for name in whole})
        return whole


def certified(
    head: Head, upstream: Rows | None, is_backward: bool, names: Sequence[str], rows: int
) -> dict[str, DoubleDouble]:
    """Pairs around the quantities of some queries of a head, ``rows`` of them at a time.

    >>> x = NumberTable(1, floats=np.ones((2, 1)))
    >>> certified(Head(x, x, x), None, True, ["dL/dV"], 1)["dL/dV"].high.tolist()
    [[1.0], [1.0]]
    """
    forward = BlockedSolution(head, rows=rows)
    solution = BlockedSolution(head, upstream, forward) if is_backward else forward
    return solution.computed(names)


def _zeros(shape: tuple[int, int]) -> DoubleDouble:
    return DoubleDouble(np.zeros(shape), np.zeros(shape), np.zeros(shape))


def _put(whole: DoubleDouble, place: object, part: DoubleDouble) -> None:
    for name in ("high", "low", "error"):
        getattr(whole, name)[place] = getattr(part, name)


def _local(name: str, there: Container[str]) -> str:
    """Return what a block calls a quantity: where it has no row that sees no key, nothing is done
    to scores and weights of such."""
    if name in there or name not in ("L", "Z"):
        return name
    return "A" if name == "Z" else next(step for step in "BCT" if step in there)


#: A head solved whole, or where it is large some queries at a time.
HeadSolution = Solution | BlockedSolution


def log_sums_of(head: HeadSolution) -> Quantity:
    """The log-sum-exps of a head."""
    return head["lse"] if isinstance(head, BlockedSolution) else log_sums(head)


class _Block:
    """Pairs of floats in a block: a run that is gone when nobody holds it any more."""

    def __init__(self, case: Case, dead: npt.NDArray[np.bool_]) -> None:
        self._nodes, self._dead = case.program.named, dead
        given = {self._nodes[name].serial: rows for name, rows in case.given.items()}
        if case.program.upstream is not None:
            given[case.program.upstream.serial] = case.upstream
        self._run: Run[DoubleDouble] = Run(
            DoubleDoubleMatrices(),
            lambda node: enclose(given[node.serial]) if node.serial in given else None,
        )

    def pairs(self, name: str) -> DoubleDouble:
        """Pairs around the entries of a quantity."""
        if name == "lse":
            (softmax,) = (x for x in ancestors([self._nodes["A"]]) if x.op == "softmax")
            scores, weights = self._run[softmax.operands[0]], self._run[softmax]
            return log_sum_pairs(scores, weights, self._dead)
        return self._run[self._nodes[_local(name, self._nodes)]]


class _Given(EntrySource):
    """Numbers that are there."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(lambda i, j: rows[i][j])
        self._rows = rows

    def pairs(self) -> DoubleDouble:
        return enclose(self._rows)


class _OfBlocks(EntrySource):
    """What is worked out in pairs: these are also the first balls that are asked for."""

    def __init__(
        self, whole: BlockedSolution, name: str, entry: Callable[[int, int], Value | Masked]
    ) -> None:
        super().__init__(entry)
        self._whole, self._name = whole, name

    def pairs(self) -> DoubleDouble:
        return self._whole.pairs(self._name)

    def balls_at(self, bits: int, places: Sequence[int]) -> Sequence[arb | None] | None:
        if bits > FIRST or self._whole.is_wide(self._name):
            return self._closer(bits, places)
        parts = self.pairs().map(lambda part: part.ravel()[places])
        with precision(2 * FIRST):
            return [
                arb(high) + arb(low) + arb(0, error)
                for high, low, error in zip(parts.high, parts.low, parts.error, strict=True)
            ]

    def _closer(self, bits: int, places: Sequence[int]) -> Sequence[arb | None] | None:
        """Balls that are closer than pairs, where they are had together."""
        return None


class _RowsOfBlocks(_OfBlocks):
    """What has a row for each query: each doubtful entry is one of its row alone."""

    def __init__(self, whole: BlockedSolution, name: str) -> None:
        super().__init__(whole, name, self._entry)

    def _at(self, i: int, j: int) -> EntryValue:
        """The entry in the solution of its row."""
        if self._name == "lse":
            return EntryValue(log_sums(self._whole.row(j, self._name)), 0, 0)
        row = self._whole.row(i, self._name)
        return EntryValue(row[_local(self._name, row)], 0, j)

    def _entry(self, i: int, j: int) -> Value | Masked:
        at = self._at(i, j)
        return at.quantity.entry(at.i, at.j)

    def is_masked(self, i: int, j: int) -> bool:
        if self._name == "lse":
            return bool(self._whole.head.dead[j])
        return self._whole.is_wide(self._name) and self._at(i, j).is_masked

    def point(self, i: int, j: int, bits: int) -> arb:
        return self._at(i, j).ball(bits)


class _SumOfBlocks(_OfBlocks):
    """What has a row for each key: the sum over blocks of what flows into it. A doubtful entry
    is one of its row alone, and costs what the queries do that see its key."""

    def __init__(self, whole: BlockedSolution, name: str) -> None:
        super().__init__(whole, name, self._entry)
        self._columns = whole.shape(name)[1]
        #: The rows of keys that were asked for, by bits.
        self._rows: dict[int, dict[int, list[arb]]] = {}

    def balls(self, bits: int) -> Sequence[arb | None] | None:
        return self.balls_at(bits, range(len(self._whole.head.k) * self._columns))

    def _closer(self, bits: int, places: Sequence[int]) -> Sequence[arb | None]:
        known = self._rows.setdefault(bits, {})
        keys = sorted({place // self._columns for place in places} - known.keys())
        known |= self._flows(bits, keys)
        return [known[place // self._columns][place % self._columns] for place in places]

    def _flows(self, bits: int, keys: Sequence[int]) -> dict[int, list[arb]]:
        """Return what flows into some keys."""
        sums = {key: [arb(0)] * self._columns for key in keys}
        for seen, part in self._parts(keys):
            flows = part.source.balls(bits)
            assert flows is not None
            with precision(bits):
                for key in keys:
                    if seen.start <= key < seen.stop:
                        start = (key - seen.start) * self._columns
                        row = zip(sums[key], flows[start : start + self._columns], strict=True)
                        sums[key] = [x + (arb(0) if y is None else y) for x, y in row]
        return sums

    def _parts(self, keys: Sequence[int]) -> Iterator[tuple[slice, Quantity]]:
        """Yield what flows from the queries that see some keys, and into which, some at a time."""
        queries = self._whole.queries(keys)
        for start in range(0, len(queries), BLOCK):
            yield self._whole.flow(self._name, queries[start : start + BLOCK])

    def _entry(self, i: int, j: int) -> Value:
        flows = (part.entry(i - keys.start, j) for keys, part in self._parts([i]))
        return total(flow for flow in flows if isinstance(flow, Value))

    def is_masked(self, i: int, j: int) -> bool:
        return False

    def point(self, i: int, j: int, bits: int) -> arb:
        (ball,) = self._closer(bits, [i * self._columns + j])
        assert ball is not None
        return ball
