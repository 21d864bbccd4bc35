"""Trials: the answers that a question is tested with, and what it should say of them.

A test holds for all versions of a question, whatever their numbers: so what is to be
expected of each is computed, in floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import numpy as np

from symattn.exercises.chain import VersionChain
from symattn.exercises.exercise import Exercise
from symattn.programs.floats import FloatOperations, Matrix, matrix
from symattn.programs.nodes import Node
from symattn.programs.running import Run

#: The answers of a test: all right; a fault in the head of the chain, propagated; nonsense;
#: the first common fault of each part.
AnswerSet = Literal["right", "propagated", "nonsense", "faults"]


def nonsense(k: int) -> int:
    """How far the nonsense of a part is from what is right."""
    return 50 + 13 * k


class Trial:
    """One version of an exercise on trial.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> made = exercise(load("cat-sat-mat"))
    >>> Trial(VersionChain([made]), made).outcomes("propagated")
    {1: None, 2: 1, 3: 1, 4: 1}
    """

    def __init__(self, chain: VersionChain, exercise: Exercise) -> None:
        self._chain = chain
        program = exercise.case.program
        self._nodes = {k: program.named[part.quantity] for k, part in chain.parts.items()}
        given = {**exercise.case.given, "upstream": exercise.case.upstream}
        self._given = {name: matrix(rows) for name, rows in given.items()}
        self._right = self._computed(lambda k, value: value)

    def outcomes(self, answers: AnswerSet) -> dict[int, int | None]:
        """Which node of each part's tree a test ends at: the first that holds, if any does."""
        given = self._right
        if answers == "propagated":
            given = self._computed(self._propagated)
        elif answers == "nonsense":
            given = {k: moved(value, nonsense(k)) for k, value in given.items()}
        elif answers == "faults":
            faults = self._chain.faults
            given = {k: self._faulty(k, 0) if faults[k] else value for k, value in given.items()}
        rounded = {k: self._rounded(k, answer) for k, answer in given.items()}
        return {k: self._outcome(k, rounded) for k in self._chain.parts}

    def _computed(self, change: Callable[[int, Matrix], Matrix]) -> dict[int, Matrix]:
        """The parts one after the other, each from those before as they were changed."""
        values: dict[int, Matrix] = {}
        for k in self._chain.order:
            values[k] = change(k, self._follows(k, values))
        return values

    def _propagated(self, k: int, value: Matrix) -> Matrix:
        return self._rounded(k, moved(value, 1) if k == self._chain.head else value)

    def _follows(self, k: int, known: Mapping[int, Matrix]) -> Matrix:
        return self._value(
            self._nodes[k], {self._nodes[j].serial: known[j] for j in self._chain.sources[k]}
        )

    def _faulty(self, k: int, place: int) -> Matrix:
        return self._value(self._chain.faults[k][place].nodes[self._chain.parts[k].quantity], {})

    def _value(self, node: Node, known: Mapping[int, Matrix]) -> Matrix:
        def leaf(x: Node) -> Matrix | None:
            return self._given[x.extra] if x.op == "given" else known.get(x.serial)

        run = Run(FloatOperations(), leaf)
        return run[node] if node.op == "given" else run.work(node)

    def _rounded(self, k: int, value: Matrix) -> Matrix:
        return np.asarray(np.round(value, self._chain.parts[k].places))

    def _outcome(self, k: int, answers: Mapping[int, Matrix]) -> int | None:
        tolerance = float(self._chain.parts[k].tolerance)
        places = (
            place
            for place, truth in enumerate(self._truths(k, answers))
            if _is_close(answers[k], truth, tolerance)
        )
        return next(places, None)

    def _truths(self, k: int, answers: Mapping[int, Matrix]) -> Iterator[Matrix]:
        """What the nodes of a part's tree compare an answer with."""
        yield self._right[k]
        if self._chain.sources[k]:
            yield self._follows(k, answers)
        for place, _ in enumerate(self._chain.faults[k]):
            yield self._faulty(k, place)


def moved(value: Matrix, by: int) -> Matrix:
    """A matrix that is off in every entry, in each by another amount."""
    rows, columns = value.shape
    steps = np.arange(1, rows + 1)[:, None] + 2 * np.arange(1, columns + 1)
    return np.asarray(value + by * steps)


def _is_close(answer: Matrix, truth: Matrix, tolerance: float) -> bool:
    with np.errstate(invalid="ignore"):
        near = (answer == truth) | (np.abs(answer - truth) <= tolerance)
    return bool(near.all())
