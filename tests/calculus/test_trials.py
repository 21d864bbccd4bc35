"""What lines mean in numbers, against NumPy."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest

from symattn.calculus import draft, line_reading
from symattn.calculus import language as term
from symattn.calculus.language import AxisPlace
from symattn.calculus.sample_points import draw
from symattn.calculus.sampling import Missing, Unclear
from symattn.numbers.balls import precision

TABLES = {
    "sizes": ["n", "m", "d"],
    "shapes": {
        "S": ["n", "m"],
        "C": ["n", "n"],
        "Q": ["n", "d"],
        "K": ["m", "d"],
        "V": ["m", "d"],
        "T": ["n", "m", "d"],
        "x": ["n"],
        "u": ["n"],
        "t": [],
    },
    "random": ["u"],
    "permutations": {"p": "n"},
    "define": {
        "A": "softmax(Q @ K.T / sqrt(d))",
        "M[i, j]": "step(j <= i) * exp(C[i, j]) / sum(k, step(k <= i) * exp(C[i, k]))",
        "G[i, j]": "sum(k, T[i, j, k] * V[j, k])",
    },
    "losses": {"L": "A"},
    "lines": [{"line": "t == t"}],
}
READ = draft.read(TABLES)
SIZES = {"n": 3, "m": 4, "d": 2}


@pytest.fixture(autouse=True)
def _precise():
    with precision(256):
        yield


@pytest.fixture
def point():
    needed = frozenset((*READ.ground.given, *READ.ground.losses))
    return draw(READ.ground, needed, SIZES, Random(1), "any")


def number(point, text, scope=READ.scope):
    line = line_reading.line(f"{text} == 0", scope)
    point.env.update(dict.fromkeys(line.free, 1))
    return float(point.evaluate(line.sides[0]))


def array(point, name):
    one = READ.scope.arrays[name]
    shape = tuple(map(point.length, one.axes))
    found = np.zeros(shape)
    for at in np.ndindex(shape):
        places = tuple(AxisPlace(offset=k + 1) for k in at)
        found[at] = float(point.evaluate(term.Entry(one, places)))
    return found


def softmax(x):
    powers = np.exp(x)
    return powers / powers.sum(axis=-1, keepdims=True)


def test_softmax(point) -> None:
    """Scaled scores, by rows."""
    expected = softmax(array(point, "Q") @ array(point, "K").T / np.sqrt(2))
    np.testing.assert_allclose(array(point, "A"), expected, rtol=1e-12)


def test_causal_mask(point) -> None:
    """No key after its query."""
    scores = np.where(np.tri(3, dtype=bool), array(point, "C"), -np.inf)
    np.testing.assert_allclose(array(point, "M"), softmax(scores), rtol=1e-12)


def test_three_axes(point) -> None:
    """Sums over one of three."""
    expected = np.einsum("ijk,jk->ij", array(point, "T"), array(point, "V"))
    np.testing.assert_allclose(array(point, "G"), expected, rtol=1e-12)


def test_permutations(point) -> None:
    """An index goes where it is sent, again and again."""
    order, x = point.images["p"], array(point, "x")
    assert sorted(order) == [1, 2, 3]
    assert number(point, "x[p[1]]") == x[order[0] - 1]
    assert number(point, "x[p[p[2]]]") == x[order[order[1] - 1] - 1]
    assert number(point, "delta(p[1], 2)") == float(order[0] == 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n * m + d", 14),
        ("2**10", 1024),
        ("1/3 + 0.5", 5 / 6),
        ("cos(pi)", -1),
        ("sum(i, i * x[i] / x[i])", 6),
        ("mean(i, i * x[i] / x[i])", 2),
        ("sum(i, j, delta(i, j) * C[i, j] / C[i, j])", 3),
        ("sum(i, j, step(j < i) * C[i, j] / C[i, j])", 3),
        ("step(3 <= n) + step(2 <= 1) + delta(n, 3)", 2),
        ("relu(3) + relu(-3)", 3),
        ("step(0 < 2 * t**2)", 1),
        ("limit(t, 0, (exp(t) - 1) / t)", 1),
        ("limit(t, oo, (t + 1) / (2 * t))", 0.5),
        ("limit(t, -oo, exp(t))", 0),
        ("limit(t, 2, t**2)", 4),
        ("limit(t, 1/2, t**2)", 0.25),
        ("expect(u[1])", 0),
        ("expect(u[1]**2)", 1),
        ("expect(u[1] * u[2])", 0),
        ("expect(sum(i, u[i])**2)", 3),
        ("x[1] * delta(1, 2) * x[n - 2]", 0),
        ("gelu(0) + silu(0) + tanh(0) + softplus(0) - log(2)", 0),
        ("sigmoid(0)", 0.5),
    ],
)
def test_known_values(point, text, expected) -> None:
    """Numbers that are known."""
    assert number(point, text) == pytest.approx(expected, abs=1e-9)


def test_a_jacobian(point) -> None:
    """The derivative of softmax is diag(a) - a a^T."""
    a = softmax(array(point, "S"))[0]
    expected = np.diag(a) - np.outer(a, a)
    for j, k in itertools.product(range(4), repeat=2):
        text = f"diff(softmax(S)[1, {j + 1}], S[1, {k + 1}])"
        assert number(point, text) == pytest.approx(expected[j, k], abs=1e-12)


def test_second_derivatives(point) -> None:
    """One inside the other, in two variables."""
    assert number(point, "diff(diff(t**3 * x[1]**2, t), x[1])") == pytest.approx(
        6 * float(number(point, "t")) ** 2 * array(point, "x")[0]
    )


def test_the_gradient_of_a_loss_is_a_chain(point) -> None:
    """A loss knows of its own argument; the rest follows by the chain rule."""
    by_rule = "sum(i, j, diff(L, A[i, j]) * diff(A[i, j], Q[2, 1]))"
    assert number(point, "diff(L, Q[2, 1])") == pytest.approx(number(point, by_rule))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("operations(A)", 3 * 4 * ((2 + 4) + 3)),
        ("operations(G)", 12 * 3),
        ("operations(M, G)", None),
    ],
)
def test_operations_are_counted(point, text, count) -> None:
    """Every entry takes its additions, products and functions."""
    found = number(point, text)
    assert found > 0
    if text == "operations(G)":
        assert found == count


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x[4]", Missing),
        ("x[n + 1]", Missing),
        ("x[1] * x[n - 3]", Missing),
        ("diff(limit(t, 0, x[1] * t), x[1])", Unclear),
        ("limit(t, 0, log(t))", Unclear),
        ("limit(t, 0, 1 / t)", Unclear),
        ("expect(sum(i, u[i])**2 * T[1, 1, 1])", None),
    ],
)
def test_what_has_no_value(point, text, error) -> None:
    """Places that do not exist, limits that are not seen to be finite."""
    if error is None:
        assert np.isfinite(number(point, text))
    else:
        with pytest.raises(error):
            number(point, text)


def test_expected_values_of_many_entries_are_unclear() -> None:
    """All outcomes of six entries are counted, of more none."""
    read = draft.read({**TABLES, "define": {}, "losses": {}})
    point = draw(read.ground, frozenset(read.ground.given), {**SIZES, "n": 11}, Random(0), "any")
    with pytest.raises(Unclear, match="too many random entries"):
        number(point, "expect(u[1])", read.scope)
