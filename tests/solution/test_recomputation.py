"""Every exact value of the bundled cases against a second computation.

The oracle reads the steps' text with Python's own parser and computes with
mpmath at 60 digits; its gradients are central differences.
"""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np
import pytest

import symattn
from symattn.numbers.reading import Masked

from ..oracle import DIGITS, close, evaluate, matrix, run

NAMES = symattn.names()
#: Step of the central differences: their error is about its square.
STEP = "1e-18"


@cache
def solution(name):
    return symattn.solve(name)


def expected(case):
    with mpmath.workdps(DIGITS):
        return run(case.raw, case.steps, case.output)


def upstreams(case):
    """What the loss multiplies the output by: one array per symbol, one for numbers."""
    shape = np.shape(expected(case)[case.output])
    if case.raw_upstream is None:
        return {"1": np.ones(shape, dtype=object)}
    raw = np.array(case.raw_upstream, dtype=object)
    return {
        symbol: np.vectorize(lambda x, s=symbol: mpmath.mpf(x == s), otypes=[object])(raw)
        for symbol in case.symbols
    } or {"1": matrix(case.raw_upstream)}


def losses(case, known, name, value):
    """The loss for every upstream where quantity ``name`` has another value."""
    found = {**known, name: value}
    passed = name in case.given
    for step, text in case.steps.items():
        if passed:
            found[step] = np.array(evaluate(text, found), dtype=object)
        passed |= step == name
        if step == case.output:
            break
    output = found[case.output]
    return {symbol: np.sum(upstream * output) for symbol, upstream in upstreams(case).items()}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_every_forward_value_is_recomputed(name):
    """Every entry of every step, exactly computed, agrees with mpmath to 50 digits."""
    solved = solution(name)
    known = expected(solved.case)
    assert set(known) == {*solved.case.given, *solved.case.steps}
    with mpmath.workdps(DIGITS):
        for step, value in known.items():
            quantity = solved[step]
            assert quantity.shape == np.shape(value)
            entries = [entry for row in quantity.rows for entry in row]
            for entry, x in zip(entries, np.ravel(value), strict=True):
                if isinstance(entry, Masked):
                    assert x == -mpmath.inf
                else:
                    assert close(entry.ball(250), x)


@pytest.mark.sampled(1, 5)
@pytest.mark.parametrize("name", NAMES)
def test_every_gradient_is_recomputed(name):
    """Every entry of every gradient, by each symbol of the upstream, agrees with central
    differences to 30 digits."""
    solved = solution(name)
    case = solved.case
    known = expected(case)
    assert set(case.wrt) <= set(solved.program.gradients)
    with mpmath.workdps(DIGITS):
        step = mpmath.mpf(STEP)
        for target in solved.program.gradients:
            gradient = solved.gradient(target)
            value = np.array(known[target], dtype=object)
            for place in np.ndindex(gradient.shape):
                ends = []
                for sign in (1, -1):
                    moved = value.copy()
                    moved[place] += sign * step
                    ends.append(losses(case, known, target, moved))
                entry = gradient.at(*place)
                for symbol in ends[0]:
                    slope = (ends[0][symbol] - ends[1][symbol]) / (2 * step)
                    part = entry.coefficient(symbol) if case.symbols else entry
                    assert close(part.ball(250), slope, 30), (target, place, symbol)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_every_printed_digit_is_recomputed(name):
    """Decimals at 4 and 20 places and the nearest float64 of every step are those of the
    60 digits, by string."""
    solved = solution(name)
    with mpmath.workdps(DIGITS):
        for step, value in expected(solved.case).items():
            quantity = solved[step]
            near = np.ravel(value)
            for places in (4, 20):
                found = np.ravel(np.array(quantity.decimal(places), dtype=object))
                for digits, x in zip(found, near, strict=True):
                    if x == -mpmath.inf:
                        assert str(digits) == "-Infinity"
                    else:
                        half = mpmath.mpf(10) ** -places / 2
                        slack = mpmath.mpf(10) ** -50
                        assert abs(mpmath.mpf(str(digits)) - x) <= half + slack
            # What 60 digits leave of a zero is no float.
            floats = [0.0 if abs(x) < mpmath.mpf(10) ** -50 else float(x) for x in near]
            assert np.ravel(quantity.nearest()).tolist() == floats
