"""One program, four arithmetics: exact values, balls, floats and symbols agree."""

from __future__ import annotations

import re

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb, arb_mat, fmpq
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.numbers.reading import MASKED, Masked
from symattn.programs import entrywise, nodes
from symattn.programs.enclosures import BallMatrices, Enclosure
from symattn.programs.program import differentiate, program
from symattn.verdicts import Verdict

from ..machines import as_float, balls, exact, floats, overlap, rows_of, symbolic, symbols
from ..oracle import DIGITS, close, each, entry, run
from ..strategies import brief, small, small_matrices

SCORES = ["Q @ K.T", "Q @ K.T / sqrt(d)", "(Q * w) @ K.T - 1/3", "Q @ K.T + b", "-(K @ Q.T).T"]
WEIGHTS = [
    "softmax(S)",
    "softmax(causal(S))",
    "softmax(mask(S, M))",
    "softmax(causal(mask(S, M)) / sqrt(d))",
    "softmax(2 * causal(S) + b)",
    "exp(S / 4) / rowsum(exp(S / 4))",
    "exp(mask(S, M) - S[0, 0])",
    "softmax(S - concat(S[:, 0:1], S)[:, :-1] / 2)",
    "exp(concat(mask(S, M), causal(S))[:, ::-2])",
    "softmax(S / 3 + mask(S, M)[0] / 2)",
    "exp(causal(S).T).T",
]
OUTPUTS = [
    "A @ V",
    "concat(A @ V, A @ V[:, ::-1])",
    "rowsum(A) * (A @ V) + colsum(V)",
    "total(A) / cols(A) - A[0] @ V",
    "(A @ V).T[0, ::2]",
    "sqrt(rows(A)) * A[-1] / total(V * V + 1)",
    "A[:, 0] @ (A @ V)",
    "A - A / d",
]

# Every form of weights and of output is met by each of the tests below.
FORMS = list(zip(WEIGHTS, OUTPUTS[3:] + OUTPUTS[:6], strict=True))


@st.composite
def programs(draw, weights, output):
    """Inputs of drawn sizes, and steps of attention with these weights and this output."""
    n, m, d, v = (draw(st.integers(1, 3)) for _ in range(4))
    data = {
        "Q": draw(small_matrices(n, d)),
        "K": draw(small_matrices(m, d)),
        "V": draw(small_matrices(m, v)),
        "w": draw(st.lists(small, min_size=d, max_size=d)),
        "b": draw(small_matrices(1, m)),
        "d": d,
        "M": draw(small_matrices(n, m, st.integers(0, 1))),
    }
    for row in data["M"]:
        row[0] = 1
    return data, {"S": draw(st.sampled_from(SCORES)), "A": weights, "Y": output}


def shapes_of(data):
    return {name: np.shape(np.array(raw, dtype=object)) for name, raw in data.items()}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("weights", "output"), FORMS)
@brief
@given(st.data())
def test_exact_values_balls_and_floats_agree(weights, output, data):
    """Every quantity: the balls hold the exact value and are narrow, the floats are near."""
    data, steps = data.draw(programs(weights, output))
    made = program(shapes_of(data), steps)
    for name in steps:
        node = made.quantities[name]
        values, enclosed, near = (run_in(data, node) for run_in in (exact, balls, floats))
        scale = 1 + max(abs(as_float(x)) for row in values for x in row if not hidden(x))
        for row, ball_row, float_row in zip(values, enclosed, near, strict=True):
            for value, ball, x in zip(row, ball_row, float_row, strict=True):
                assert overlap(ball, value)
                if not hidden(value):
                    assert abs(as_float(value) - x) <= 1e-9 * scale


def hidden(x):
    return isinstance(x, Masked)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("weights", "output"), FORMS)
@brief
@given(st.data())
def test_exact_values_are_those_of_a_second_reading(weights, output, data):
    """Every quantity against the steps' text read by Python's ast, at 60 digits."""
    data, steps = data.draw(programs(weights, output))
    made = program(shapes_of(data), steps)
    with mpmath.workdps(DIGITS):
        expected = run(data, steps)
        for name in steps:
            values = exact(data, made.quantities[name])
            flat = [entry for row in values for entry in row]
            for value, x in zip(flat, np.ravel(expected[name]), strict=True):
                assert x == -mpmath.inf if hidden(value) else close(value.ball(260), x, 40)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("weights", "output"), FORMS)
@brief
@given(st.data())
def test_symbolic_results_hold_at_every_number(weights, output, data):
    """The SymPy expressions of the steps, at the drawn numbers, are the exact values."""
    data, steps = data.draw(programs(weights, output))
    made = program(shapes_of(data), steps)
    inputs = {name: symbols(name, shape) for name, shape in shapes_of(data).items()}
    kept = {0: sympy.S.Zero, 1: sympy.S.One}
    inputs["M"] = entrywise.grid([[kept[x] for x in row] for row in data["M"]])
    # Of a symbol it isn't known that a masked score may be scaled by it.
    inputs["d"] = entrywise.grid([[sympy.Integer(data["d"])]])
    node = made.quantities["Y"]
    expressions = [x for row in symbolic(inputs, node) for x in row]
    values = [x for row in exact(data, node) for x in row]
    with mpmath.workdps(DIGITS):
        numbers = {
            symbol: entry(x)
            for name, shape in shapes_of(data).items()
            if name not in ("M", "d")
            for symbol, x in zip(
                letters(inputs[name], shape),
                np.ravel(np.array(data[name], dtype=object)),
                strict=True,
            )
        }
        found = sympy.lambdify(list(numbers), expressions, "mpmath")(*numbers.values())
        for value, x in zip(values, found, strict=True):
            assert close(value.ball(260), x, 40)


def letters(grid, shape):
    return [grid.at(i, j) for i, j in np.ndindex(grid_of(shape))]


def grid_of(shape):
    return shape if len(shape) == 2 else (1, shape[0] if shape else 1)


def ancestors_of(name, steps):
    """The given quantities that a step is made of, by the letters in its text."""
    used = set(re.findall(r"(?<![\w.])[A-Za-z](?!\w)", steps.get(name, "")))
    given = used - steps.keys()
    return given.union(*(ancestors_of(other, steps) for other in used & steps.keys()))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("weights", "output"), FORMS)
@brief
@given(st.data())
def test_gradients_agree_in_exact_values_balls_and_floats(weights, output, data):
    """The gradient program too runs alike in every arithmetic."""
    data, steps = data.draw(programs(weights, output))
    made = differentiate(program(shapes_of(data), steps), "Y")
    shape = made.quantities["Y"].shape
    ones = np.ones(shape, dtype=int).tolist()
    assert set(made.gradients) - set(steps) == ancestors_of("Y", steps) - {"M"}
    names = made.gradients.keys() & {"Q", "K", "V", "w", "b"}
    if "d" not in weights:  # No gradient flows into what scales a masked score.
        names |= made.gradients.keys() & {"d"}
    for name in sorted(names):
        node = made.gradients[name]
        assert node.shape == made.quantities[name].shape
        inputs = {**data, "upstream": ones}
        values, enclosed, near = (run_in(inputs, node) for run_in in (exact, balls, floats))
        scale = 1 + max(abs(as_float(x)) for row in values for x in row)
        for i, j in np.ndindex(node.grid):
            assert overlap(enclosed[i][j], values[i][j])
            assert abs(as_float(values[i][j]) - near[i, j]) <= 1e-8 * scale


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rowsum(X)", [[2, 2, 2], [3, 3, 3]]),
        ("colsum(X)", [[5, 7, 11], [5, 7, 11]]),
        ("total(X)", [[13, 13, 13], [13, 13, 13]]),
        ("X", [[1, 2, 3], [4, 5, 6]]),
        ("X[1:, ::2]", [[0, 0, 0], [17, 0, 19]]),
    ],
)
def test_gradients_are_spread_and_put_back_to_the_shape_of_the_input(text, expected):
    """Of a sum alone, of a copy, of a part: in every arithmetic."""
    made = differentiate(program({"X": (2, 3)}, {"Y": text}), "Y")
    upstream = {
        "rowsum(X)": [[2], [3]],
        "colsum(X)": [[5, 7, 11]],
        "total(X)": 13,
        "X": [[1, 2, 3], [4, 5, 6]],
        "X[1:, ::2]": [[17, 19]],
    }
    data = {"X": [[1, 1, 1], [1, 1, 1]], "upstream": upstream[text]}
    node = made.gradients["X"]
    assert [[int(str(x)) for x in row] for row in exact(data, node)] == expected
    assert [[int(x.unique_fmpz()) for x in row] for row in balls(data, node)] == expected
    assert floats(data, node).tolist() == expected


def test_tables_and_constants_stand_alone():
    """Exact values worked out elsewhere, and a number that is a step of its own."""
    rows = rows_of([["1/3", "sqrt(2)"], ["exp(1)", -2]])
    node = nodes.table(tuple(map(tuple, rows)), (2, 2))
    assert exact({}, node) == [list(row) for row in rows]
    enclosed, near = balls({}, node), floats({}, node)
    for i, j in np.ndindex(2, 2):
        assert overlap(enclosed[i][j], rows[i][j])
        assert near[i, j] == pytest.approx(as_float(rows[i][j]), rel=1e-15)
    half = program({"X": (2, 3)}, {"Y": "1/2 * cols(X)"}).quantities["Y"]
    assert [str(exact({}, half)[0][0]), floats({}, half)[0, 0]] == ["3/2", 1.5]


def test_floats_of_steep_rows_do_not_vanish():
    """Each row is shifted by its own largest score."""
    weights = program({"S": (2, 2)}, {"A": "softmax(S)"}).quantities["A"]
    found = floats({"S": [[0, 0], [-2000, -2000]]}, weights)
    assert found.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_masked_scores_are_minus_infinity_everywhere():
    """A masked score is HIDDEN exactly, None among balls, -inf in floats, and has weight 0."""
    made = program({"S": (2, 3)}, {"M": "causal(S)", "A": "softmax(M)", "E": "exp(M)"})
    data = {"S": [[1, 2, 3], ["1/2", 1, 0]]}
    masked, weights, powers = (made.quantities[name] for name in "MAE")
    assert [x is MASKED for x in exact(data, masked)[0]] == [False, True, True]
    assert [x is None for x in balls(data, masked)[0]] == [False, True, True]
    assert list(floats(data, masked)[0]) == [1, -np.inf, -np.inf]
    assert exact(data, weights)[0][2].is_zero() is Verdict.HOLDS
    assert balls(data, weights)[0][1] == 0
    assert floats(data, weights)[0].tolist() == [1, 0, 0]
    assert exact(data, powers)[0][2].rational() == fmpq(0)


def test_given_minus_infinity_is_a_masked_score():
    """'-inf' among given scores hides like a mask, in every arithmetic."""
    made = program({"S": (1, 3)}, {"A": "softmax(S)"})
    data = {"S": [["-inf", 0, 0]]}
    weights = made.quantities["A"]
    assert [str(x) for x in exact(data, weights)[0]] == ["0", "1/2", "1/2"]
    assert balls(data, weights)[0][0] == 0
    assert floats(data, weights)[0].tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize(
    "text",
    [
        "X @ causal(X)",
        "-causal(X)",
        "X - causal(X)",
        "causal(X) * -1",
        "causal(X) * 0",
        "causal(X) / -2",
        "rowsum(causal(X))",
        "total(causal(X))",
        "sqrt(causal(X))",
        "causal(X) * causal(X)",
        "1 / causal(X)",
        "log(causal(X))",
    ],
)
def test_minus_infinity_has_no_other_arithmetic(text):
    """Only adding, scaling by a positive number, exp and softmax take a masked score."""
    node = program({"X": (2, 2)}, {"R": text}).quantities["R"]
    with pytest.raises(Malformed, match=r"masked score \(-inf\)"):
        exact({"X": [[1, 2], [3, 4]]}, node)


@pytest.mark.parametrize(
    "text",
    [
        "causal(X) * -1",
        "-1 * causal(X)",
        "causal(X) * 0",
        "causal(X) / -2",
        "causal(X) * -X",
        "causal(X) * causal(X)",
        "-X * causal(X)",
        "causal(X) / -X",
    ],
)
def test_balls_refuse_to_scale_a_masked_score_by_what_is_not_positive(text):
    """Whatever it is scaled by, a number or a matrix."""
    node = program({"X": (2, 2)}, {"R": text}).quantities["R"]
    with pytest.raises(Malformed, match=r"masked score \(-inf\) is scaled by a number that is not"):
        balls({"X": [[1, 2], [3, 4]]}, node)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("-causal(X)", {(0, 1)}),
        ("X - causal(X)", {(0, 1)}),
        ("sqrt(causal(X))", {(0, 1)}),
        ("log(causal(X))", {(0, 1)}),
        ("1 / causal(X)", {(0, 1)}),
        ("X / causal(X)", {(0, 1)}),
        ("causal(X) @ X", {(0, 0), (0, 1)}),
        ("X @ causal(X)", {(0, 1), (1, 1)}),
        ("rowsum(causal(X))", {(0, 0)}),
        ("colsum(causal(X))", {(0, 1)}),
        ("total(causal(X))", {(0, 0)}),
    ],
)
def test_balls_have_no_bound_where_minus_infinity_has_no_arithmetic(text, unknown):
    """No number is claimed of these entries; all others are enclosed."""
    node = program({"X": (2, 2)}, {"R": text}).quantities["R"]
    enclosed = balls({"X": [[1, 2], [3, 4]]}, node)
    for i, j in np.ndindex(node.grid):
        assert enclosed[i][j].is_finite() is ((i, j) not in unknown)


@pytest.mark.parametrize("keep", [[[2, 1]], [["1/2", 1]], [["sqrt(2)", 1]], [[-1, 1]]])
def test_a_mask_of_anything_but_0_and_1_is_refused(keep):
    """Exactly: an error; in balls: an entry without bound, so the exact value is asked."""
    node = program({"S": (1, 2), "M": (1, 2)}, {"A": "mask(S, M)"}).quantities["A"]
    data = {"S": [[1, 2]], "M": keep}
    with pytest.raises(Malformed, match=r"a mask holds 0 \(hide\) and 1 \(keep\), found"):
        exact(data, node)
    assert balls(data, node)[0][0].is_nan()


def test_a_mask_may_be_computed():
    """A mask entry that is 0 or 1 only after simplification still counts."""
    node = program({"S": (1, 2), "M": (1, 2)}, {"A": "mask(S, M)"}).quantities["A"]
    data = {"S": [[1, 2]], "M": [["sqrt(2)*sqrt(2) - 2", "exp(1)*exp(-1)"]]}
    assert exact(data, node)[0][0] is MASKED
    assert str(exact(data, node)[0][1]) == "2"


def test_entries_are_computed_when_asked_for():
    """An entry that isn't needed may be undefined."""
    made = program({"X": (1, 2)}, {"R": "1 / X", "T": "log(R)", "Y": "T[0, 1] + R[0, 1]"})
    data = {"X": [[0, 1]]}
    assert str(exact(data, made.quantities["Y"])[0][0]) == "1"
    with pytest.raises(Malformed, match="division by zero"):
        exact(data, made.quantities["T"])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("operations", [10, 60])
def test_long_programs_run_in_every_arithmetic(operations):
    """A hundred steps of many operations each: no recursion gives out, forward or backward."""
    chain = " + x - x" * (operations // 2)
    steps = {"a0": "x * x", **{f"a{k + 1}": f"a{k}{chain}" for k in range(99)}}
    made = differentiate(program({"x": (1, 1)}, steps), "a99")
    data = {"x": [[3]], "upstream": [[1]]}
    for node, expected in ((made.quantities["a99"], 9), (made.gradients["x"], 6)):
        assert exact(data, node)[0][0].rational() == expected
        assert balls(data, node)[0][0] == expected
        assert floats(data, node)[0, 0] == expected


def test_the_float_oracle_and_numpy_agree_on_functions():
    """The second reading itself, on a known row: softmax of (0, log 3) is (1/4, 3/4)."""
    with mpmath.workdps(30):
        found = run({"S": [[0, 1]]}, {"T": "S * log(3)", "A": "softmax(T)"})["A"]
        assert each(lambda x: abs(x) < 1e-25)(found - np.array([[0.25, 0.75]])).all()


def test_nothing_is_known_of_what_is_not_defined():
    """Equal keys leave nothing of what flows into scores, unless that is no number."""
    steps = {"S": "Q @ K.T", "A": "softmax(S)", "Y": "A @ V"}
    made = differentiate(program({"Q": (1, 1), "K": (2, 1), "V": (2, 1)}, steps), "Y")
    node = made.gradients["Q"]
    keys = Enclosure(arb_mat(2, 1, [3, 3]))
    for flows, is_known in (([1, -1], True), ([arb(1), arb.nan()], False)):
        flow = Enclosure(arb_mat(1, 2, flows))
        (entry,) = BallMatrices().apply(node, [flow, keys]).matrix.entries()
        assert entry.is_zero() == is_known
        assert entry.is_finite() == is_known
