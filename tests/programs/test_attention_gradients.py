"""The gradients of attention: SymEngine's, entry by entry, and the pair form."""

from __future__ import annotations

from fractions import Fraction

import pytest
import symengine
from hypothesis import given
from hypothesis import strategies as st

from symattn.numbers.reading import read
from symattn.numbers.values import ZERO, compare
from symattn.programs.program import differentiate, program
from symattn.verdicts import Verdict

from ..machines import exact
from ..strategies import few, matrices

BITS = 300
STEPS = {"S": "Q @ K.T", "T": "S / sqrt(d)", "M": "T", "A": "softmax(M)", "Y": "A @ V"}
SIZES = [(1, 1, 1, 1), (2, 3, 2, 1), (3, 2, 1, 2), (1, 4, 3, 2), (4, 2, 2, 3), (3, 3, 3, 3)]


def attention(n_q, n_k, d_k, d_v, causal):
    """The differentiated program of attention at these sizes."""
    steps = {**STEPS, "M": "causal(T)"} if causal else STEPS
    given_shapes = {"Q": (n_q, d_k), "K": (n_k, d_k), "V": (n_k, d_v), "d": ()}
    return differentiate(program(given_shapes, steps), "Y")


def numbers(rows, columns, seed):
    """Fractions that follow no pattern of the formulas."""
    return [
        [Fraction((seed + 31 * i + 17 * j + 7 * i * j) % 23 - 11, 4 + (i + j) % 3)
         for j in range(columns)]
        for i in range(rows)
    ]  # fmt: skip


def expanded_loss(q, k, v, g, d_k, causal):
    """sum(G * Y) written out over SymEngine symbols, every softmax in full."""
    loss = 0
    for i, query in enumerate(q):
        seen = range(min(i + 1, len(k)) if causal else len(k))
        powers = [
            symengine.exp(
                sum(x * y for x, y in zip(query, k[j], strict=True)) / symengine.sqrt(d_k)
            )
            for j in seen
        ]
        for c, upstream in enumerate(g[i]):
            loss += upstream * sum(powers[j] * v[j][c] for j in seen) / sum(powers)
    return loss


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_gradients_are_symengines(sizes, causal):
    """dQ, dK and dV of rectangular attention equal SymEngine's derivative of the
    expanded loss, at 300 bits."""
    n_q, n_k, d_k, d_v = sizes
    shapes = {"Q": (n_q, d_k), "K": (n_k, d_k), "V": (n_k, d_v), "upstream": (n_q, d_v)}
    data = {name: numbers(*shape, seed) for seed, (name, shape) in enumerate(shapes.items())}
    letters = {
        name: [[symengine.Symbol(f"{name}{i}_{j}") for j in range(m)] for i in range(n)]
        for name, (n, m) in shapes.items()
    }
    point = {
        letters[name][i][j]: symengine.Rational(x.numerator, x.denominator)
        for name, rows in data.items()
        for i, row in enumerate(rows)
        for j, x in enumerate(row)
    }
    q, k, v, g = letters.values()
    loss = expanded_loss(q, k, v, g, d_k, causal)
    made = attention(n_q, n_k, d_k, d_v, causal)
    for name in "QKV":
        found = exact({**data, "d": d_k}, made.gradients[name])
        for i, row in enumerate(found):
            for j, value in enumerate(row):
                derivative = loss.diff(letters[name][i][j]).subs(point)
                expected = symengine.sympify(derivative).n(BITS, real=True)
                near = read(str(expected)).ball(BITS)
                assert abs(value.ball(BITS) - near) < 1e-60


@few
@given(st.data(), *[st.integers(1, 3)] * 4)
def test_the_pair_form_of_dq(data, n_q, n_k, d_k, d_v):
    """dQ_ic = scale sum_{j<l} (dA_ij - dA_il)(K_jc - K_lc) e^(s_ij + s_il) / Z_i^2,
    as equality of closed forms, for any shape."""
    q, k, v, g = (
        data.draw(matrices(*shape)) for shape in ((n_q, d_k), (n_k, d_k), (n_k, d_v), (n_q, d_v))
    )
    made = attention(n_q, n_k, d_k, d_v, causal=False)
    found = exact({"Q": q, "K": k, "V": v, "d": d_k, "upstream": g}, made.gradients["Q"])
    scale = read(Fraction(1, d_k)).sqrt()
    for i in range(n_q):
        score = [read(dot(q[i], k[j])) * scale for j in range(n_k)]
        flow = [read(dot(g[i], v[j])) for j in range(n_k)]
        normaliser = ZERO
        for s in score:
            normaliser = normaliser + s.exp()
        for c in range(d_k):
            total = ZERO
            for l in range(n_k):
                for j in range(l):
                    gap = read(k[j][c] - k[l][c])
                    total = total + (flow[j] - flow[l]) * gap * (score[j] + score[l]).exp()
            expected = total * scale / (normaliser * normaliser)
            assert compare(found[i][c], expected) is Verdict.HOLDS


def dot(x, y):
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


@few
@given(st.data(), st.integers(1, 3), st.integers(2, 3))
def test_conservation_laws(data, n, m):
    """Each row of dS sums to zero, the columns of dK sum to zero when all queries
    are equal to 0, and dV sums to the upstream: exactly."""
    q, k, v, g = (data.draw(matrices(rows, 2)) for rows in (n, m, m, n))
    made = attention(n, m, 2, 2, causal=False)
    inputs = {"Q": q, "K": k, "V": v, "d": 2, "upstream": g}
    for row in exact(inputs, made.gradients["M"]):
        assert added(row).is_zero() is Verdict.HOLDS
    into_values = exact(inputs, made.gradients["V"])
    for c in range(2):
        into = added([row[c] for row in into_values])
        assert compare(into, read(sum(row[c] for row in g))) is Verdict.HOLDS
    into_keys = exact({**inputs, "Q": [[0, 0]] * n}, made.gradients["K"])
    for row in into_keys:
        for value in row:
            assert value.is_zero() is Verdict.HOLDS


def added(values):
    total = ZERO
    for value in values:
        total = total + value
    return total


def test_causal_gradients_never_look_ahead():
    """With a causal mask, dS above the diagonal is exactly zero, and the first row of
    dS and dQ is zero: its one weight is 1 whatever the query."""
    made = attention(3, 3, 2, 2, causal=True)
    data = {"Q": numbers(3, 2, 1), "K": numbers(3, 2, 2), "V": numbers(3, 2, 3), "d": 2}
    inputs = {**data, "upstream": numbers(3, 2, 5)}
    scores, queries = (exact(inputs, made.gradients[name]) for name in ("M", "Q"))
    for i in range(3):
        for j in range(3):
            expected = Verdict.HOLDS if j > i or i == 0 else Verdict.REFUTED
            assert scores[i][j].is_zero() is expected
    assert all(value.is_zero() is Verdict.HOLDS for value in queries[0])
