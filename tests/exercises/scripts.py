"""Random scripts of students: right, rounded early, following, mistaken, and nonsense."""

from __future__ import annotations

import random
from collections.abc import Iterator

from flint import arb

from symattn.errors import SymattnError
from symattn.exercises.exercise import Exercise
from symattn.exercises.faults import VersionChain
from symattn.exercises.marking.collecting import Blank
from symattn.exercises.marking.follow_through import FollowThrough
from symattn.programs.nodes import Node
from symattn.solution.entries import EntryValue
from symattn.solution.quantity import Quantity

#: How a part is worked, each by the parts out of all; and how often an answer is something else.
_WAYS = {"right": 4, "follows": 6, "early": 2, "short": 2, "mistake": 3, "nonsense": 1, "blank": 1}
_ODD = 0.08


class Students:
    """Makes up what students answer to an exercise; numbers are as they write them."""

    def __init__(self, exercise: Exercise, seed: int) -> None:
        self.exercise = exercise
        self.chain = VersionChain([exercise])
        self.draw = random.Random(seed)

    def script(self) -> dict[Blank, str]:
        """What one of them writes; a masked score is one."""
        answers: dict[Blank, str] = {}
        own = FollowThrough(self.exercise.solution)
        for k in self.chain.order:
            part = self.chain.parts[k]
            written = {at: text for at, text in self._part(k, own) if text}
            for at, text in written.items():
                answers[Blank(part.quantity, *at)] = text
            own.put(part.quantity, {at: _number(x) for at, x in written.items() if _is_number(x)})
        return answers

    def _part(self, k: int, own: FollowThrough) -> Iterator[tuple[tuple[int, int], str]]:
        part = self.chain.parts[k]
        quantity = self.exercise.solution[part.quantity]
        right = self.exercise.right(part)
        follows = own.computed(part.quantity)
        way = self.draw.choices([*_WAYS], [*_WAYS.values()])[0]
        places = self.draw.choice([2, 3]) if way == "short" else part.places
        faults = self.chain.faults[k]
        fault = self.draw.choice(faults) if faults and way == "mistake" else None
        rows, columns = quantity.grid
        for i in range(rows):
            for j in range(columns):
                exact = right[i][j]
                if exact.is_infinite():
                    yield (i, j), "-inf"
                    continue
                number = float(exact)
                if way in ("follows", "early") or (way == "mistake" and fault is None):
                    number = _middle(follows[i][j], number)
                if way == "early":
                    number = round(number, 2) + self.draw.choice([0, 0.0001, 0.0002])
                elif way == "short":
                    number = _exact(quantity, i, j)
                elif fault is not None:
                    number = self._faulty(fault.nodes[part.quantity], i, j, number)
                if way == "blank":
                    yield (i, j), ""
                elif way == "nonsense" or self.draw.random() < _ODD:
                    yield (i, j), self._odd(number)
                else:
                    yield (i, j), f"{number:.{places}f}"

    def _faulty(self, node: Node, i: int, j: int, number: float) -> float:
        quantity = self.exercise.solution.quantity(node)
        try:
            return number if quantity.is_masked(i, j) else _exact(quantity, i, j)
        except SymattnError:
            return number

    def _odd(self, number: float) -> str:
        other = self.draw.uniform(-5, 5)
        return self.draw.choice(
            ["", "?", "two", f"{other:.4f}", f"{other:.2f}", f"{-number:.4f}", f"{10 * number:.3f}",
             f"{round(other)}"]
        )  # fmt: skip


def _middle(number: arb | None, otherwise: float) -> float:
    if number is None or not number.is_finite():
        return otherwise
    return float(number.mid())


def _exact(quantity: Quantity, i: int, j: int) -> float:
    return EntryValue(quantity, i, j).value.nearest()


def _number(text: str) -> arb | None:
    return None if text == "-inf" else arb(text)


def _is_number(text: str) -> bool:
    return text not in ("", "?", "two")
