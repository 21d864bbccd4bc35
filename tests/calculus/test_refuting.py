"""Lines of every family that once passed are refuted, by numbers that the oracle confirms."""

from __future__ import annotations

import mpmath
import pytest

from symattn.calculus.counterexamples import Counterexample
from symattn.calculus.judging import derived

from .grids import Grid
from .states import State
from .worlds import World, comparison

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {
        "x": ["n"],
        "S": ["n", "m"],
        "C": ["n", "n"],
        "Q": ["n", "n"],
        "t": [],
        "a": [],
    },
    "losses": {"L": "A"},
    "permutations": {"p": "n"},
    "define": {
        "P[i, j]": "delta(p[i], j)",
        "A": "softmax(S)",
        "r[i]": "sqrt(sum(j, S[i, j]**2))",
        "W[i, j]": "step(j < i) * exp(C[i, j]) / sum(k, step(k < i) * exp(C[i, k]))",
    },
}

FAMILIES = {
    "permutations": ["P[1, 1] == 0", "trace(P) == 1", "P == P.T", "x[p[i]] == x[i]"],
    "quotients in exponentials": [
        "exp(a) + (t / (t + 1) + 1 / (t + 1) - 1) * x[i] == 5 + 7 * x[i]",
        "softmax(softmax(S)) == softmax(S)",
        "30 * tanh(t / 30) == t",
    ],
    "means": ["mean(i, 1 / r[i]) == 1", "mean(i, x[i] / r[i]) == mean(i, x[i])"],
    "limits": [
        "limit(t, 0, exp(t / (exp(t) - 1))) == 1",
        "limit(t, oo, (1 + 1 / t)) == 2",
        "limit(t, -oo, exp(t)) == 1",
    ],
    "large exponents": ["exp(65504 * t) == exp(-32 * t) * x[1]", "exp(65536 * t) == 1"],
    "sizes": ["(n - 2) * (n - 3) * t == 0", "m == n + 1", "n == 2", "sqrt(n) * t == sqrt(m) * t"],
    "losses": ["diff(L, S) == 0 * S", "L == total(A)", "diff(L, A) == A"],
    "names": ["sum(i, x[i]) == n * x[i]", "C[i, i] == C[i, j]"],
    "division": ["(n - 1) * t / n == t", "sum(j, W[n, j]) == 0", "log(t**2) == 2 * log(a)"],
    "steps": ["step(i <= j) * C[i, j] == C[i, j]", "step(t < a) == 1", "relu(t) == t"],
}


def said(line):
    found = derived("families", {**TABLES, "lines": [{"line": line}]})
    assert found.faults == ()
    return found.lines[0]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("line", [line for lines in FAMILIES.values() for line in lines])
def test_every_family_is_refuted(line) -> None:
    """Each by a counterexample."""
    one = said(line)
    assert one.status == "refuted"
    assert one.counterexample.left != one.counterexample.right


@pytest.mark.sampled(11)
@pytest.mark.parametrize(
    "line",
    [line for family in ("sizes", "names", "division", "steps") for line in FAMILIES[family]],
)
def test_counterexamples_are_confirmed(line) -> None:
    """At the numbers told the oracle finds the same two sides."""
    told = said(line).counterexample
    document = {**TABLES, "losses": {}}
    world = World(document, {"n": 1, "m": 1, **told.sizes}, 0)
    for name, value in told.values.items():
        stem, _, places = name.rstrip("]").partition("[")
        number = mpmath.mpf(value)
        if places:
            at = tuple(int(one) - 1 for one in places.split(","))
            world.given[stem].data[at] = number
        else:
            world.given[stem] = number
    tree = comparison(line)
    state = State(world)
    env = {"i": 1, "j": 1, **told.indices}
    axes = dict.fromkeys(env, "n")
    sides = [state.evaluate(one, env, axes) for one in tree.operands]
    for found, shown in zip(sides, (told.left, told.right), strict=True):
        assert not isinstance(found, Grid)
        assert mpmath.almosteq(found, mpmath.mpf(shown), 1e-4, 1e-4)


def test_the_counterexample_is_small() -> None:
    """The least size at which the line is false, plain numbers."""
    told = said("(n - 1) * (n - 2) * t == 0").counterexample
    assert told.sizes == {"n": 3}
    assert set(told.values) == {"t"}
    assert str(told).startswith("n = 3, t = ")
    assert str(told).endswith(f": {told.left} is not {told.right}")
    assert told.to_dict()["sizes"] == {"n": 3}
    assert str(Counterexample({}, {}, {}, "1", "2")) == "always: 1 is not 2"


def test_the_counterexample_is_plain() -> None:
    """As many numbers as can be are 0, or else 1; those of a gradient too, as matrices."""
    tables = {
        "sizes": ["n", "m"],
        "shapes": {"S": ["n", "m"], "V": ["m", "n"], "t": []},
        "losses": {"L": "A", "M": "Y"},
        "define": {"A": "softmax(S)", "dA": "diff(L, A)", "dS": "diff(L, S)", "Y": "A @ V"},
        "hypotheses": ["t > 0"],
    }

    def told(line):
        found = derived("plain", {**tables, "lines": [{"line": line}]}).lines[0]
        return str(found.counterexample).partition(", column = ")[2][3:]

    assert told("dS == A * (dA - A * dA)") == "dA = [[0, 1]], S = [[0, 0]]: -0.25 is not 0"
    assert told("S == S - S") == "S = [[1]]: 1 is not 0"
    assert told("S @ V == 0 * S @ V") == "S = [[1]], V = [[1]]: 1 is not 0"
    assert told("diff(M, A) == 0 * A") == "diff(M, Y) = [[1]], S = [[0]], V = [[1]]: 1 is not 0"
    assert told("S * t == 0 * S").startswith("S = [[1]], t = ")


def test_sides_that_differ_in_far_digits_are_told_in_as_many() -> None:
    """Both sides are printed until they differ."""
    told = said("t == t + 1e-30").counterexample
    assert told.left != told.right


@pytest.mark.parametrize(
    "line",
    [
        "1 / (t - t) == 1",
        "log(-1 - t**2) == 1",
        "x[n + 1] == 0",
        "limit(t, 0, 1 / t) == 1",
        "diff(limit(a, 0, a * t), t) == 0",
        "exp(exp(exp(exp(100)))) == 1",
    ],
)
def test_what_has_no_number_is_undecided(line) -> None:
    """A reason is told."""
    one = said(line)
    assert one.status == "undecided"
    assert one.why
    assert one.counterexample is None


def test_contradictory_hypotheses_leave_a_line_undecided() -> None:
    """Anything would follow."""
    tables = {**TABLES, "hypotheses": ["t > 0", "t < 0"], "lines": [{"line": "t == a * t"}]}
    (one,) = derived("contradiction", tables).lines
    assert one.status == "undecided"
    assert "hypotheses" in one.why or one.why


def test_what_holds_at_large_sizes_only_is_refuted() -> None:
    """Sizes up to 15 are tried where that is cheap."""
    assert said("delta(n, 13) * t == 0").status == "refuted"
    assert said("step(n <= 12) * x[i] == x[i]").status == "refuted"


def test_a_limit_is_not_looked_for_at_far_numbers() -> None:
    """Where what tends to its end is still far from it."""
    line = "tanh(a * 2**2) + 1 == tanh(2**2 * a) + limit(t, oo, tanh(t * exp(2 * a)))"
    assert said(line).status == "proved"
