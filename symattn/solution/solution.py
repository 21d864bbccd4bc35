"""A case solved: every quantity forward and backward, exact and rounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from flint import arb

from symattn.cases import library
from symattn.cases.case import Case, Rows
from symattn.errors import Fault, Malformed, SymattnError
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.reading import Hidden
from symattn.numbers.values import Value
from symattn.programs import enclosures, entrywise
from symattn.programs.enclosures import Enclosure
from symattn.programs.entrywise import Grid
from symattn.programs.nodes import Node
from symattn.programs.program import ancestors
from symattn.programs.running import Run
from symattn.solution.quantity import Quantity
from symattn.syntax import gradient_name

#: Above this many bits one entry's closed form is enclosed instead of the
#: whole program.
_WHOLE = 4 * FIRST


class Runs:
    """The runs of one program: exact, and in balls at every precision asked for.

    Solutions that differ in their upstream gradients share them, and with them
    the forward pass.
    """

    def __init__(self) -> None:
        self.inputs: dict[int, Rows] = {}
        self.exact: Run[Grid[Value]] = Run(entrywise.exact(), self._given)
        self._balls: dict[int, _BallRun] = {}

    def _given(self, node: Node) -> Grid[Value] | None:
        rows = self.inputs.get(node.serial)
        return None if rows is None else entrywise.grid(rows)

    def balls(self, bits: int) -> Run[Enclosure]:
        """The run in balls at ``bits`` bits."""
        if bits not in self._balls:
            self._balls[bits] = _BallRun(bits, self.inputs)
        return self._balls[bits]


class Solution:
    """The exact solution of a case; quantities are computed when asked for.

    ``forward`` is a solution of the same forward program with the same
    numbers: what it has computed is taken over.

    >>> s = solve("cat-sat-mat")
    >>> s["A[0, 0]"].decimal(4), s.gradient("V").decimal(3)[0][0]
    (Decimal('0.5065'), Decimal('0.967'))
    """

    def __init__(self, case: Case, forward: Solution | None = None) -> None:
        self.case = case
        self.program = case.program
        self._runs: Runs = forward._runs if forward else Runs()
        for name, rows in case.given.items():
            self._runs.inputs[self.program.quantities[name].serial] = rows
        if self.program.upstream is not None:
            self._runs.inputs[self.program.upstream.serial] = case.upstream
        self._quantities: dict[str, Quantity] = {}
        self._by_node: dict[tuple[int, str], Quantity] = {}
        if forward is None:
            self._validate()

    def __getitem__(self, expression: str) -> Quantity:
        """The quantity of an expression: a step (``"A"``), an entry
        (``"A[0, 1]"``), a gradient (``"dL/dQ"``, ``"grad(Q)"``, ``"dQ"``) or any
        expression over them. :class:`Malformed` if it is none."""
        if expression not in self._quantities:
            node = self.program.lower(expression)
            self._quantities[expression] = self.quantity(node, self._name(expression, node))
        return self._quantities[expression]

    def __iter__(self) -> Iterator[str]:
        """The names of the given quantities and the steps."""
        return iter(self.program.quantities)

    def __contains__(self, name: object) -> bool:
        return name in self.program.named

    def __repr__(self) -> str:
        return f"<Solution of {self.case.name[:60]!r}: {', '.join(self.program.steps)}>"

    def _name(self, expression: str, node: Node) -> str:
        """What a quantity is called: ``dL/dQ``, however the gradient was asked for."""
        named = self.program.named
        if expression in named:
            return expression
        return next((name for name, known in named.items() if known is node), expression)

    def gradient(self, name: str) -> Quantity:
        """dL/d(name), where L is the sum of upstream times output."""
        return self[gradient_name(name)]

    def quantity(self, node: Node, name: str = "") -> Quantity:
        """The quantity of a node of the program."""
        key = node.serial, name
        if key not in self._by_node:
            self._by_node[key] = self._made(node, name)
        return self._by_node[key]

    def keeps(self, node: Node, i: int, j: int, mask: object) -> bool:
        """Whether the mask of a masking step keeps entry (i, j); see
        :data:`~symattn.programs.entrywise.Keeps`."""
        return not self.quantity(node).is_hidden(i, j)

    def _made(self, node: Node, name: str) -> Quantity:
        plain = not self.case.symbols or self.program.upstream not in ancestors([node])

        @lru_cache(maxsize=4)
        def balls(bits: int) -> list[arb | None] | None:
            if not plain or bits > _WHOLE:
                return None
            held = self._runs.balls(bits)[node]
            flat: list[arb | None] = [*held.matrix.entries()]
            for place in held.hidden:
                flat[place] = None
            return flat

        def entry(i: int, j: int) -> Value | Hidden:
            return self._runs.exact[node].at(i, j)

        return Quantity(name, node.shape, entry, balls, self.case.rounding, numeric=plain)

    def _validate(self) -> None:
        """Raise for every step that is not defined at these numbers: a row
        masked whole, a division by zero, the root of a negative number."""
        faults: list[Fault] = []
        broken: set[int] = set()
        for name in self.program.steps:
            node = self.program.quantities[name]
            if broken & {x.serial for x in ancestors([node])}:
                continue
            try:
                held = self._runs.balls(FIRST)[node]
                if all(entry.is_finite() for entry in held.matrix.entries()):
                    continue
                self.quantity(node, name).rows  # noqa: B018
            except SymattnError as error:
                broken.add(node.serial)
                found = error.faults if isinstance(error, Malformed) else (Fault("", str(error)),)
                faults += [fault.inside(f"steps.{name}") for fault in found]
        if faults:
            raise Malformed(faults, source=str(self.case.path or ""))


class _BallRun(Run[Enclosure]):
    """A run in balls, every step of it at the same precision."""

    def __init__(self, bits: int, inputs: Mapping[int, Rows]) -> None:
        self.bits = bits
        super().__init__(enclosures.Balls(), self._given)
        self._inputs = inputs

    def __getitem__(self, node: Node) -> Enclosure:
        with precision(self.bits):
            return super().__getitem__(node)

    def _given(self, node: Node) -> Enclosure | None:
        rows = self._inputs.get(node.serial)
        return None if rows is None else enclosures.enclose(rows, self.bits)


def solve(case: str | Path | Case) -> Solution:
    """The solution of a bundled walkthrough (by name), a file (by path) or a case.

    Raises :class:`Malformed` with every fault.

    >>> solve("cat-sat-mat")["S"].exact
    Matrix([
    [2, 0, 1],
    [0, 2, 1],
    [1, 1, 2]])
    """
    return Solution(case if isinstance(case, Case) else library.load(case))
