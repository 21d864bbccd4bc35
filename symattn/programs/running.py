"""Running a program in an arithmetic.

An arithmetic says what each operation does to its matrices; the same program
runs in all of them: entry by entry over any kind of scalar
(:mod:`~symattn.programs.entrywise`), in polynomials
(:mod:`~symattn.programs.polynomials`), in balls
(:mod:`~symattn.programs.enclosures`) and in floats
(:mod:`~symattn.programs.floats`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from symattn.programs.nodes import Node, ancestors, weights_of_mean

M = TypeVar("M")

#: What a node is without being computed: an input, or what stands for itself.
Leaf = Callable[[Node], "M | None"]


class Arithmetic(Protocol[M]):
    """What a program needs to run: one method for all operations.

    One that ``centres`` gets the weights of a mean as a third operand where something
    is subtracted from what it is the mean of
    (:func:`~symattn.programs.nodes.weights_of_mean`).
    """

    centres: bool

    def apply(self, node: Node, operands: list[M]) -> M:
        """The result of ``node`` given those of its operands."""
        ...


class Run(Generic[M]):
    """A program in one arithmetic; results are kept, by node.

    ``leaf`` gives what is known of a node without computing it, or None.
    """

    def __init__(self, arithmetic: Arithmetic[M], leaf: Leaf[M]) -> None:
        self.arithmetic = arithmetic
        self.leaf = leaf
        self._results: dict[int, M] = {}

    def __getitem__(self, node: Node) -> M:
        if node.serial not in self._results:
            # Operands first, one after the other: a program is too deep for recursion.
            for needed in ancestors([node], stop=self._is_known):
                self._results[needed.serial] = self._result(needed)
        return self._results[node.serial]

    def work(self, node: Node) -> M:
        """What a node's operation makes of its operands, be it a leaf or not."""
        return self.arithmetic.apply(node, [self[operand] for operand in self._operands(node)])

    def _is_known(self, node: Node) -> bool:
        if node.serial in self._results:
            return True
        if (known := self.leaf(node)) is not None:
            self._results[node.serial] = known
            return True
        return False

    def _result(self, node: Node) -> M:
        operands = [self._results[operand.serial] for operand in self._operands(node)]
        return self.arithmetic.apply(node, operands)

    def _operands(self, node: Node) -> tuple[Node, ...]:
        weights = weights_of_mean(node) if self.arithmetic.centres else None
        return node.operands if weights is None else (*node.operands, weights)
