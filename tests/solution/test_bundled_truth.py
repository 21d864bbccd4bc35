"""Every exact value of the bundled walkthroughs against an independent recomputation.

The oracle evaluates the steps' text with mpmath at 60 digits, through Python's
own ``ast``; gradients are its central differences.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from symattn.cases import library
from symattn.numbers.reading import Hidden
from symattn.solution.attention import attention
from symattn.solution.solution import solve
from symattn.verdicts import Verdict

from .. import oracle

STEP = mpmath.mpf(10) ** -20


def loss(case, given, steps, upstream, bumped=None):
    """The sum of upstream times output, with one entry of one quantity moved."""
    found = {name: oracle.matrix(raw) for name, raw in given.items()}
    bump(found, bumped)
    for name, text in steps.items():
        found[name] = np.array(oracle.evaluate(text, found), dtype=object)
        if bumped and bumped[0] == name:
            bump(found, bumped)
    return (found[case.output] * upstream).sum()


def bump(found, bumped):
    if bumped and bumped[0] in found:
        name, place, step = bumped
        moved = np.array(found[name], dtype=object).copy()
        moved[place] += step
        found[name] = moved


def upstreams(case, shape):
    """The upstream gradient for each of its symbols, or of ones."""
    if case.raw_upstream is None:
        return {None: np.full(shape, mpmath.mpf(1), dtype=object)}
    raw = np.array(case.raw_upstream, dtype=object)
    symbols = case.symbols or (None,)
    return {
        symbol: oracle.each(
            lambda x, symbol=symbol: (
                mpmath.mpf(int(x == symbol)) if isinstance(x, str) and symbol else oracle.entry(x)
            )
        )(raw)
        for symbol in symbols
    }


@pytest.mark.parametrize("name", library.names())
def test_forward_agrees(name):
    """Every closed form is what the steps' text comes to, to 50 digits."""
    with mpmath.workdps(oracle.DIGITS):
        solution = solve(name)
        expected = oracle.run(solution.case.raw, solution.case.steps)
        for step, values in expected.items():
            quantity = solution[step]
            table = np.array(values, dtype=object).reshape(quantity.grid)
            for i, row in enumerate(quantity.rows):
                for j, value in enumerate(row):
                    if isinstance(value, Hidden):
                        assert table[i, j] == -mpmath.inf
                    else:
                        assert oracle.close(value.ball(260), table[i, j])


@pytest.mark.parametrize("name", ["cat-sat-mat-causal", "the-fox-jumps", "length-4-causal"])
def test_gradients_agree(name):
    """Every gradient is the central difference of the loss, to 25 digits."""
    with mpmath.workdps(oracle.DIGITS):
        solution = solve(name)
        case = solution.case
        shape = solution[case.output].shape
        for symbol, upstream in upstreams(case, shape).items():
            for quantity in case.wrt:
                held = solution.gradient(quantity)
                exact = held.coefficient(symbol) if symbol else held
                masked = solution[quantity].rows
                for place in np.ndindex(*exact.shape):
                    if isinstance(masked[place[0]][place[1]], Hidden):
                        assert exact.at(*place).is_zero() is Verdict.HOLDS
                        continue
                    ends = [
                        loss(case, case.raw, case.steps, upstream, (quantity, place, step))
                        for step in (STEP, -STEP)
                    ]
                    slope = (ends[0] - ends[1]) / (2 * STEP)
                    assert oracle.close(exact.at(*place).ball(260), slope, digits=25)


def test_equality_is_decided():
    """Mirror images, uniform weights and rows that sum to 1 are theorems."""
    base = solve("cat-sat-mat")
    assert base["Y[0, 0]"].equals(base["Y[1, 1]"]) is Verdict.HOLDS
    assert base["Y[0, 0]"].equals(base["Y[0, 1]"]) is Verdict.REFUTED
    assert base["rowsum(A) - 1"].exact.is_zero_matrix
    same = solve("cat-sat-mat-identical")
    assert {str(value) for value in same["A"].values()} == {"1/3"}


def test_first_causal_row_gets_no_gradient():
    """A row with one key left can't change its weight: its gradients are exactly 0."""
    back = attention([[1, 2], [3, 1]], [[1, 0], [2, 1]], [[1], [4]], mask="causal").backward()
    assert [str(x) for x in back.dQ.rows[0]] == ["0", "0"]
    assert back.dQ.decimal(3)[0] == (0, 0)


def test_rectangular_attention_needs_no_file():
    """n_q != n_k and d_v != d_k; the scale survives backward."""
    a = attention([["1/2", 1]], [[1, 0], [0, 1], [1, 1]], [[1, 2, 3], [0, 1, 0], [2, 0, 1]])
    assert (a.scores.shape, a.output.shape) == ((1, 3), (1, 3))
    back = a.backward([["g", 0, "-1/2"]])
    assert back.dQ.shape == (1, 2)
    assert back.dQ.symbols == ("g",)
    assert back.dV.coefficient("g").decimal(6)[2][0] == a.weights.decimal(6)[0][2]
