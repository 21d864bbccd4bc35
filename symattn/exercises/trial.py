"""Trials: the answers that a question is tested with, and what it should say of them.

The tests of a question hold for all its versions, whatever their numbers: of a
softmax of a single score nothing follows from a slip in it. So what is to be
expected is found out, in floats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from symattn.exercises.chain import Chain
from symattn.exercises.exercise import Exercise
from symattn.programs.floats import Floats, Matrix, matrix
from symattn.programs.nodes import Node
from symattn.programs.running import Run

#: The answers of a test: all right; a slip in the head of the chain and what follows from
#: it; nonsense; the first usual slip of each part.
Answers = Literal["right", "carried", "nonsense", "slips"]

#: What is to be said of a part: right, what follows from earlier answers, wrong, or the
#: usual slip of that number, counted from 0.
Outcome = Literal["right", "follows", "wrong"] | int


def nonsense(k: int) -> int:
    """How far the nonsense of a part is from what is right."""
    return 50 + 13 * k


class Trial:
    """One version of an exercise on trial.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> made = exercise(load("cat-sat-mat"))
    >>> Trial(Chain([made]), made).outcomes("carried")
    {1: 'wrong', 2: 'follows', 3: 'follows', 4: 'follows'}
    """

    def __init__(self, chain: Chain, exercise: Exercise) -> None:
        self._chain = chain
        program = exercise.case.program
        self._nodes = {k: program.named[part.quantity] for k, part in chain.parts.items()}
        given = {**exercise.case.given, "upstream": exercise.case.upstream}
        self._given = {name: matrix(rows) for name, rows in given.items()}
        self._right = self._made(lambda k, value: value)

    def outcomes(self, answers: Answers) -> dict[int, Outcome]:
        """What is to be said of each part in a test."""
        given = self._right
        if answers == "carried":
            given = self._made(self._carried)
        elif answers == "nonsense":
            given = {k: moved(value, nonsense(k)) for k, value in given.items()}
        elif answers == "slips":
            slips = self._chain.slips
            given = {k: self._slip(k, 0) if slips[k] else value for k, value in given.items()}
        rounded = {k: self._rounded(k, answer) for k, answer in given.items()}
        return {k: self._outcome(k, rounded) for k in self._chain.parts}

    def _made(self, change: Callable[[int, Matrix], Matrix]) -> dict[int, Matrix]:
        """The parts one after the other, each from those before as they were changed."""
        values: dict[int, Matrix] = {}
        for k in self._chain.order:
            values[k] = change(k, self._follows(k, values))
        return values

    def _carried(self, k: int, value: Matrix) -> Matrix:
        return self._rounded(k, moved(value, 1) if k == self._chain.head else value)

    def _follows(self, k: int, known: Mapping[int, Matrix]) -> Matrix:
        """What a part is when it is computed from these."""
        inputs = {self._nodes[j].serial: known[j] for j in self._chain.sources[k]}
        run = Run(Floats(), lambda x: self._leaf(x) if x.op == "given" else inputs.get(x.serial))
        node = self._nodes[k]
        return run[node] if node.op == "given" else run.work(node)

    def _slip(self, k: int, place: int) -> Matrix:
        """What a slip makes of a part."""
        run = Run(Floats(), lambda x: self._leaf(x) if x.op == "given" else None)
        return run[self._chain.slips[k][place].nodes[self._chain.parts[k].quantity]]

    def _leaf(self, node: Node) -> Matrix:
        return self._given[node.extra]

    def _rounded(self, k: int, value: Matrix) -> Matrix:
        rounded: Matrix = np.round(value, self._chain.parts[k].places)
        return rounded

    def _outcome(self, k: int, answers: Mapping[int, Matrix]) -> Outcome:
        tolerance = float(self._chain.parts[k].tolerance)
        if _is_close(answers[k], self._right[k], tolerance):
            return "right"
        if self._chain.sources[k] and _is_close(answers[k], self._follows(k, answers), tolerance):
            return "follows"
        for place, _ in enumerate(self._chain.slips[k]):
            if _is_close(answers[k], self._slip(k, place), tolerance):
                return place
        return "wrong"


def moved(value: Matrix, by: int) -> Matrix:
    """A matrix that is off in every entry, in each by another amount."""
    rows, columns = value.shape
    shifted: Matrix = value + by * (np.arange(1, rows + 1)[:, None] + 2 * np.arange(1, columns + 1))
    return shifted


def _is_close(answer: Matrix, truth: Matrix, tolerance: float) -> bool:
    with np.errstate(invalid="ignore"):
        near = (answer == truth) | (np.abs(answer - truth) <= tolerance)
    return bool(near.all())
