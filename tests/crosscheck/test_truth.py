"""The truth, computed with MPFR at 400 bits, lies within the bounds.

The oracle is written with object arrays, apart from the definitions; its
gradients are central differences with a step of 2**-100, good to about 60
places.
"""

from __future__ import annotations

from fractions import Fraction

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.crosscheck.recomputation import Loss, recompute

STEP = Fraction(1, 2**100)
exp, log, sqrt = (
    np.vectorize(function, otypes=[object]) for function in (gmpy2.exp, gmpy2.log, gmpy2.sqrt)
)


def exactly(raw):
    """An array of MPFR numbers."""
    return np.vectorize(lambda x: gmpy2.mpfr(gmpy2.mpq(Fraction(x))), otypes=[object])(raw)


def softmax(scores, keep=None):
    powers = exp(scores)
    if keep is not None:
        powers = powers * keep
    return powers / powers.sum(axis=1, keepdims=True)


def attention(q):
    """Masked attention with rectangular shapes: all steps but the given ones."""
    scores = q["Q"] @ q["K"].T
    scaled = scores / sqrt(q["d"])
    rows, columns = scores.shape
    weights = softmax(scaled, np.tri(rows, columns, dtype=int) if q["causal"] else None)
    return {"S": scores, "A": weights, "Y": weights @ q["V"]}


def steps(causal):
    return {
        "S": "Q @ K.T",
        "T": "causal(S / sqrt(d))" if causal else "S / sqrt(d)",
        "A": "softmax(T)",
        "Y": "A @ V",
    }


def everything(q):
    """The last step of a program that uses every operation."""
    inputs = q["X"]
    queries = inputs @ q["W"]
    scaled = queries @ inputs.T / sqrt(q["d"])
    rows = len(inputs)
    left = softmax(scaled, np.tri(rows, rows, dtype=int)) @ inputs
    joined = np.concatenate([left, softmax(scaled, q["M"]) @ queries], axis=1)
    powers = joined * joined + 1
    ratios = sqrt(powers) / powers.sum(axis=1, keepdims=True)
    entropy = exp(-ratios) - log(powers)
    folded = entropy.T[1:] * entropy.sum(axis=0)[:rows]
    return {"L": folded * entropy.sum()}


EVERY_STEP = {
    "P": "X @ W",
    "T": "P @ X.T / sqrt(d)",
    "J": "concat(softmax(causal(T)) @ X, softmax(mask(T, M)) @ P)",
    "U": "J * J + 1",
    "R": "sqrt(U) / rowsum(U)",
    "E": "exp(-R) - log(U)",
    "F": "E.T[1:] * colsum(E)[0, :3]",
    "L": "F * total(E)",
}


def within(figures, truth, slack=0.0):
    """Is every entry of the truth within its figure's bound, and every bound narrow?

    The slack is for the oracle's differences, which err by the step squared.
    """
    # A long program of steep steps loses digits; the bound then says so.
    if not np.all(figures.bound <= 1e-4 * (1 + np.abs(figures.value).max())):
        return False
    distance = np.array(
        [abs(gmpy2.mpfr(v) - t) for v, t in zip(figures.value.flat, np.ravel(truth), strict=True)],
        dtype=object,
    )
    return all(
        d <= gmpy2.mpfr(b) + slack for d, b in zip(distance, figures.bound.flat, strict=True)
    )


def check(quantities, program, text, output, upstream, wanted):
    """Every figure and every gradient of ``wanted`` encloses the truth."""
    raw = {name: written(value) for name, value in quantities.items() if name != "causal"}
    found = recompute(raw, text, Loss(output, written(upstream), wanted))
    with gmpy2.context(gmpy2.get_context(), precision=400):
        exact = {
            name: value if name in ("causal", "M") else exactly(value)
            for name, value in quantities.items()
        }
        weights = exactly(upstream)
        for name, truth in program(exact).items():
            assert within(found.quantities[name], truth), name
        for name in wanted:
            slopes = np.empty(np.shape(quantities[name]), object)
            for place in np.ndindex(slopes.shape):
                ends = []
                for step in (STEP, -STEP):
                    moved = exact | {name: exact[name].copy()}
                    moved[name][place] += gmpy2.mpq(step)
                    ends.append((program(moved)[output] * weights).sum())
                slopes[place] = (ends[0] - ends[1]) / gmpy2.mpq(2 * STEP)
            gradient = found.gradients[name]["1"]
            assert within(gradient, slopes, slack=1e-50), name
            scale = 4 * gradient.bound + 1e-100
            assert np.all(np.abs(gradient.step - gradient.value) <= scale), name


def written(raw):
    """Nested lists of text, as in a walkthrough's file."""
    return np.vectorize(str, otypes=[object])(raw).tolist()


entries = st.fractions(min_value=-3, max_value=3, max_denominator=12)


def matrices(rows, columns):
    flat = st.lists(entries, min_size=rows * columns, max_size=rows * columns)
    return flat.map(lambda items: np.array(items, object).reshape(rows, columns))


@st.composite
def attentions(draw):
    queries, keys, width, values = (draw(st.integers(1, 4)) for _ in range(4))
    return {
        "Q": draw(matrices(queries, width)),
        "K": draw(matrices(keys, width)),
        "V": draw(matrices(keys, values)),
        "d": np.array(Fraction(draw(st.integers(1, 9))), object),
        "causal": draw(st.booleans()),
    }, draw(matrices(queries, values))


@pytest.mark.heavy
@settings(max_examples=25, deadline=None)
@given(attentions())
def test_attention_of_any_shape(case):
    """Scores, weights, outputs and their gradients, n_q != n_k and d_v != d_k included."""
    quantities, upstream = case
    check(quantities, attention, steps(quantities["causal"]), "Y", upstream, ["Q", "K", "V", "d"])


@pytest.mark.heavy
@settings(max_examples=8, deadline=None)
@given(matrices(3, 4), matrices(4, 4), matrices(7, 3))
def test_every_operation(inputs, maps, upstream):
    """One program with all operations, forwards and backwards."""
    kept = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]])
    quantities = {"X": inputs, "W": maps, "M": kept, "d": np.array(Fraction(9, 2), object)}
    check(quantities, everything, EVERY_STEP, "L", upstream, ["X", "W", "d"])


@pytest.mark.heavy
@settings(max_examples=50, deadline=None)
@given(st.integers(1, 5).flatmap(lambda columns: matrices(3, columns)), st.integers(1, 400))
def test_weights_of_a_row_sum_to_one(scores, scale):
    """Within the bounds, whether the row is flat or steep."""
    found = recompute({"S": written(scores), "c": scale}, {"A": "softmax(S * c)"})
    weights = found.quantities["A"]
    sums, bounds = (
        [sum(map(Fraction, row), Fraction(0)) for row in array.tolist()]
        for array in (weights.value, weights.bound)
    )
    assert all(abs(total - 1) <= bound for total, bound in zip(sums, bounds, strict=True))
    assert np.all(weights.value >= 0)


@settings(max_examples=50, deadline=None)
@given(matrices(2, 3), entries)
def test_softmax_ignores_a_shift(scores, shift):
    """Adding the same number to a row changes no weight."""
    found = recompute(
        {"S": written(scores), "c": str(shift)}, {"A": "softmax(S)", "B": "softmax(S + c)"}
    )
    one, other = found.quantities["A"], found.quantities["B"]
    assert np.all(np.abs(one.value - other.value) <= one.bound + other.bound)
    assert np.all(one.bound + other.bound <= 1e-13)
