"""A case solved: every quantity forward and backward, exact and rounded."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from flint import arb

from symattn.cases import library
from symattn.cases.case import Case
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

#: Above this many bits one entry's closed form is enclosed instead of the
#: whole program.
_WHOLE = 4 * FIRST

_GRADIENT = re.compile(r"dL/d([A-Za-z_][A-Za-z0-9_]*)")


class Solution:
    """The exact solution of a case; quantities are computed when asked for.

    >>> s = solve("cat-sat-mat")
    >>> s["A[0, 0]"].decimal(4), s.gradient("V").decimal(3)[0][0]
    (Decimal('0.5065'), Decimal('0.967'))
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.program = case.program
        inputs = {**case.given, "upstream": case.upstream}
        self._exact: Run[Grid[Value]] = Run(
            entrywise.exact(), {name: entrywise.grid(rows) for name, rows in inputs.items()}
        )
        self._inputs = inputs
        self._balls: dict[int, Run[Enclosure]] = {}
        self._quantities: dict[str, Quantity] = {}
        self._validate()

    def __getitem__(self, expression: str) -> Quantity:
        """The quantity of an expression: a step (``"A"``), an entry
        (``"A[0, 1]"``), a gradient (``"dL/dQ"`` or ``"grad(Q)"``) or any
        expression over them. :class:`Malformed` if it is none."""
        if expression not in self._quantities:
            node = self.program.lower(_GRADIENT.sub(r"grad(\1)", expression))
            self._quantities[expression] = self.quantity(node, expression)
        return self._quantities[expression]

    def gradient(self, name: str) -> Quantity:
        """dL/d(name), where L is the sum of upstream times output."""
        return self[f"grad({name})"]

    def quantity(self, node: Node, name: str) -> Quantity:
        """The quantity of a node of the program."""
        plain = not self.case.symbols or self.program.upstream not in ancestors([node])

        @lru_cache(maxsize=4)
        def balls(bits: int) -> list[arb | None] | None:
            if not plain or bits > _WHOLE:
                return None
            held = self._enclosures(bits)[node]
            flat: list[arb | None] = [*held.matrix.entries()]
            for place in held.hidden:
                flat[place] = None
            return flat

        entry = self._exact_entry(node)
        return Quantity(name, node.shape, entry, balls, self.case.rounding, numeric=plain)

    def _exact_entry(self, node: Node) -> Any:
        def entry(i: int, j: int) -> Value | Hidden:
            return self._exact[node].at(i, j)

        return entry

    def _enclosures(self, bits: int) -> Run[Enclosure]:
        if bits not in self._balls:
            self._balls[bits] = _BallRun(bits, self._inputs)
        return self._balls[bits]

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
                held = self._enclosures(FIRST)[node]
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

    def __init__(self, bits: int, inputs: dict[str, Any]) -> None:
        self.bits = bits
        self.raw = inputs
        super().__init__(enclosures.Balls(), {})

    def __getitem__(self, node: Node) -> Enclosure:
        if node.serial in self.results:
            return self.results[node.serial]
        with precision(self.bits):
            return super().__getitem__(node)

    def _step(self, node: Node) -> Enclosure:
        if node.op == "given":
            return enclosures.enclose(self.raw[node.extra], self.bits)
        return super()._step(node)


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
