"""Single entries in balls of their own: what whole matrices of balls hold, at any precision."""

from __future__ import annotations

import pytest

from symattn.cases import library
from symattn.numbers.balls import precision
from symattn.programs.nodes import ancestors
from symattn.solution.solution import solve

from .test_operations import STEPS, solved

FEW, MANY = 128, 1024


def beside_matrices(solution):
    """How many entries of quantities and gradients have a ball of their own; each overlaps
    that of the matrix, and holds what more bits leave of it."""
    program, runs = solution.program, solution._runs
    known = 0
    for node in ancestors([*program.quantities.values(), *program.gradients.values()]):
        held = runs.balls(MANY)[node]
        for place, ball in enumerate(held.matrix.entries()):
            i, j = divmod(place, node.grid[1])
            if place in held.masked or not ball.is_finite():
                continue
            near, closer = (runs.point(node, i, j, bits) for bits in (FEW, MANY))
            with precision(2 * MANY):
                assert near.overlaps(ball), node.op
                assert closer.overlaps(ball), node.op
                assert near.overlaps(closer), node.op
                assert closer.rad() <= near.rad() * 2 + 2**-FEW
            known += 1
    return known


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", library.names())
def test_entries_of_walkthroughs_are_those_of_whole_matrices(name):
    """Forward and backward, every node."""
    assert beside_matrices(solve(name)) > 0


@pytest.mark.sampled(29)
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_entries_of_every_operation_are_those_of_whole_matrices(step):
    """A step for every form of the grammar, with all gradients."""
    assert beside_matrices(solved(step)) > 0
