"""Running a program in an arithmetic.

An arithmetic says what each operation does to its matrices; the same program
runs in all of them: :mod:`entrywise` over exact values or symbols, in
:mod:`enclosures` (balls) and in :mod:`floats`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, Protocol, TypeVar

from symattn.programs.nodes import Node
from symattn.programs.program import ancestors

M = TypeVar("M")


class Arithmetic(Protocol[M]):
    """What a program needs to run: one method for all operations."""

    def apply(self, node: Node, operands: list[M]) -> M:
        """The result of ``node`` given those of its operands."""
        ...


class Run(Generic[M]):
    """A program at given inputs in one arithmetic; results are kept."""

    def __init__(self, arithmetic: Arithmetic[M], inputs: Mapping[str, M]) -> None:
        self.arithmetic = arithmetic
        self.inputs = inputs
        self.results: dict[int, M] = {}

    def __getitem__(self, node: Node) -> M:
        if node.serial not in self.results:
            for needed in ancestors([node]):
                if needed.serial not in self.results:
                    self.results[needed.serial] = self._step(needed)
        return self.results[node.serial]

    def _step(self, node: Node) -> M:
        if node.op == "given":
            return self.inputs[node.extra]
        return self.arithmetic.apply(node, [self.results[x.serial] for x in node.operands])
