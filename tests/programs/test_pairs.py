"""Programs in pairs of floats: what they claim holds the balls of Arb, and is close."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

from symattn.cases import library
from symattn.cases.case import make
from symattn.numbers.balls import precision
from symattn.numbers.reading import MASKED
from symattn.programs import double_double
from symattn.programs.nodes import ancestors
from symattn.solution.solution import Solution, solve

from .test_operations import STEPS, solved

#: Bits of the balls that pairs are held against.
BITS = 512


def beside_balls(solution: Solution) -> tuple[int, int]:
    """How many entries of all nodes pairs know, and how many there are; each is held
    against its ball, and where it is hidden."""
    known = entries = 0
    program = solution.program
    targets = [*program.quantities.values(), *program.gradients.values()]
    runs = [(solution._runs, targets)]
    for held, nodes in runs:
        for node in ancestors(nodes):
            pairs, balls = held.pairs[node], held.balls(BITS)[node]
            assert pairs.shape == node.grid, node.op
            flat = balls.matrix.entries()
            rows = zip(
                *(part.ravel().tolist() for part in (pairs.high, pairs.low, pairs.error)),
                strict=True,
            )
            for place, (high, low, error) in enumerate(rows):
                entries += 1
                if high == -np.inf:
                    assert place in balls.masked, node.op
                    assert error == 0
                elif error < np.inf:
                    known += 1
                    assert place not in balls.masked, node.op
                    with precision(BITS):
                        off = flat[place] - arb(high) - arb(low)
                        # Balls of Arb have a bound of their own.
                        assert not abs(off) > arb(error), (node.op, place)
                else:
                    entries -= node.op == "divide" and not flat[place].is_finite()
    return known, entries


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", library.names())
def test_pairs_hold_the_balls_of_every_node(name):
    """All nodes of the bundled cases, forward and backward; nearly all entries are
    known."""
    solution = solve(name)
    known, entries = beside_balls(solution)
    # Which of equal numbers is the larger is left to the exact values.
    takes_largest = any("max(" in step for step in solution.case.steps.values())
    assert known >= (0.7 if takes_largest else 0.8) * entries


@pytest.mark.sampled(44)
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_every_operation_is_known_in_pairs(step):
    """A step for every form of the grammar, with all gradients."""
    known, entries = beside_balls(solved(step))
    # Which of equal numbers is the larger is left to the exact values.
    assert known >= (0.5 if "max" in step else 0.7) * entries


@pytest.mark.parametrize("op", ["softmax", "rowmax", "pick"])
def test_an_operation_without_a_row_is_left_to_balls(op, monkeypatch):
    """Whoever adds one need not say what pairs of floats make of it."""
    given, steps = {"X": [[1, 3], [2, 0]]}, {"A": "softmax(X)", "Y": "A[0] * rowmax(A)"}
    wanted = Solution(make("t", given, steps))["dL/dX"].decimal(6)
    monkeypatch.delitem(double_double._OPERATIONS, op)
    solution = Solution(make("t", given, steps))
    assert np.isinf(solution._runs.pairs[solution.program.quantities["Y"]].error).all()
    assert solution["dL/dX"].decimal(6) == wanted


def test_a_mask_that_is_computed_is_left_to_the_exact_value():
    """What is 0 or 1 only by cancelling is not known in pairs: no score is masked by a
    guess."""
    given = {"P": [[1, 2], [3, 4]], "x": "1/3"}
    near = Solution(make("mask", given, {"y": "mask(P, P * 0 + exp(x) / exp(x))"}))["y"]
    held = near.source.pairs()
    assert held is not None
    assert (held.error == np.inf).all()
    assert near[0, 0] is not MASKED
    np.testing.assert_array_equal(near.nearest(), [[1, 2], [3, 4]])
