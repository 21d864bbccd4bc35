"""What comes of a student's own answers: the steps of a program once more, in
balls, with numbers that were written down in the places of some."""

from __future__ import annotations

from collections.abc import Mapping

from flint import arb, arb_mat, fmpq

from symattn.errors import SymattnError
from symattn.numbers.balls import FIRST, precision
from symattn.programs.enclosures import BallMatrices, Enclosure, enclose
from symattn.programs.nodes import Node, Op
from symattn.programs.running import Run
from symattn.solution.solution import Solution

#: Operations that only move or copy entries: nothing is rounded in them.
_MOVING: tuple[Op, ...] = (
    "constant", "table", "triangle", "copy", "reshape", "transpose", "hide", "concat", "pick",
    "scatter", "spread", "maximum", "above", "rowmax",
)  # fmt: skip

#: A ball so small around a whole number is taken for it.
_SHARP = arb(2) ** -60

Written = Mapping[tuple[int, int], arb | None]
"""Numbers that stand for entries of a step; None is a masked score."""


class Rounding(BallMatrices):
    """Balls wide enough for every result that may have been rounded to so many places.

    What needs no rounding stays what it is. A softmax is worked as on paper:
    exponentials, their sums, quotients.
    """

    centres = False

    def __init__(self, places: int) -> None:
        self._scale = 10**places
        self._half = arb(fmpq(1, 2 * self._scale)).mid()

    def apply(self, node: Node, operands: list[Enclosure]) -> Enclosure:
        """See :class:`~symattn.programs.running.Arithmetic`."""
        if node.op == "softmax":
            (x,) = operands
            powers = self.apply(Node("exp", node.operands, node.shape), [x])
            sums = self.apply(Node("rowsum", node.operands, (node.grid[0], 1)), [powers])
            return self.apply(Node("divide", node.operands, node.shape), [powers, sums])
        enclosure = super().apply(node, operands)
        if node.op in _MOVING:
            return enclosure
        flat = [self._rounded(entry) for entry in enclosure.matrix.entries()]
        return Enclosure(arb_mat(*enclosure.shape, flat), enclosure.hidden)

    def _rounded(self, entry: arb) -> arb:
        scaled = entry * self._scale
        if scaled.contains_integer() and scaled.rad() < _SHARP:
            return entry
        return entry + arb(0, self._half)


class FollowThrough:
    """The steps of a solved case, computed on from what is put in the places of some.

    With ``places`` every step in between may have been rounded to so many.

    >>> from symattn.solution.solution import solve
    >>> solution = solve("cat-sat-mat")
    >>> following = FollowThrough(solution)
    >>> following.put("S", {(0, 0): arb(4)})
    >>> print(following.computed("T")[0][0])
    2.00000000000000
    """

    def __init__(self, solution: Solution, places: int | None = None) -> None:
        self._solution = solution
        self._nodes = solution.program.named
        self._put: dict[int, Enclosure] = {}
        arithmetic = BallMatrices() if places is None else Rounding(places)
        self._run: Run[Enclosure] = Run(arithmetic, self._leaf)

    def computed(self, name: str) -> list[list[arb | None]]:
        """What a step makes of what stands in the places of those before it, by rows;
        without bound where that is not defined, None for a masked score."""
        return _rows(self._computed(self._nodes[name]))

    def put(self, name: str, written: Written) -> None:
        """Let numbers stand for entries of a step in all that is computed from it; the
        others are what it makes. What is computed on is to be asked for afterwards."""
        node = self._nodes[name]
        enclosure = self._computed(node)
        flat, hidden = enclosure.matrix.entries(), set(enclosure.hidden)
        for (i, j), number in written.items():
            place = i * node.grid[1] + j
            hidden.discard(place)
            if number is None:
                hidden.add(place)
            else:
                flat[place] = number
        self._put[node.serial] = Enclosure(arb_mat(*node.grid, flat), frozenset(hidden))

    def _computed(self, node: Node) -> Enclosure:
        if (known := self._input(node)) is not None:
            return known
        try:
            with precision(FIRST):
                return self._run.work(node)
        except SymattnError:
            # With such numbers the step is not defined: a score is masked where none can be.
            rows, columns = node.grid
            return Enclosure(arb_mat(rows, columns, [arb.nan()] * (rows * columns)))

    def _leaf(self, node: Node) -> Enclosure | None:
        put = self._put.get(node.serial)
        return self._input(node) if put is None else put

    def _input(self, node: Node) -> Enclosure | None:
        case = self._solution.case
        if node is self._solution.program.upstream:
            return enclose(case.upstream, FIRST)
        return enclose(case.given[node.extra], FIRST) if node.op == "given" else None


def _rows(enclosure: Enclosure) -> list[list[arb | None]]:
    rows, columns = enclosure.shape
    flat: list[arb | None] = [*enclosure.matrix.entries()]
    for place in enclosure.hidden:
        flat[place] = None
    return [flat[i * columns : (i + 1) * columns] for i in range(rows)]
