"""Every backward rule against SymPy's derivative of every entry."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.expressions.shapes import Shape
from symattn.numbers.values import compare
from symattn.programs import entrywise
from symattn.programs.backward import RULES
from symattn.programs.functions import COMPARISONS, FUNCTIONS
from symattn.programs.nodes import ancestors
from symattn.programs.program import differentiate, program
from symattn.verdicts import Verdict

from ..machines import exact, symbolic, symbols
from ..oracle import DIGITS
from ..strategies import few, matrices

#: For every operation: shapes of the inputs, and a step that uses it.
CASES: dict[str, list[tuple[dict[str, Shape], str]]] = {
    "copy": [({"X": (2, 3)}, "X"), ({"X": (3,)}, "X"), ({"X": ()}, "X")],
    "negate": [({"X": (2, 3)}, "-X"), ({"X": (3,)}, "-X")],
    "add": [
        ({"X": (2, 3), "Y": (2, 3)}, "X + Y"),
        ({"X": (2, 3), "Y": (1, 3)}, "X + Y"),
        ({"X": (2, 1), "Y": (3,)}, "X + Y"),
        ({"X": (2, 3), "Y": ()}, "Y + X + Y"),
        ({"X": (1, 1), "Y": (2, 3)}, "X + Y"),
    ],
    "subtract": [
        ({"X": (2, 3), "Y": (2, 1)}, "X - Y"),
        ({"X": (1, 3), "Y": (2, 1)}, "X - Y"),
        ({"X": (), "Y": (3,)}, "X - Y"),
    ],
    "multiply": [
        ({"X": (2, 3), "Y": (2, 3)}, "X * Y"),
        ({"X": (2, 3), "Y": (3,)}, "X * Y * X"),
        ({"X": (), "Y": (2, 2)}, "X * Y"),
        ({"X": (1, 2), "Y": (3, 1)}, "X * Y"),
    ],
    "divide": [
        ({"X": (2, 3), "Y": (2, 3)}, "X / Y"),
        ({"X": (2, 3), "Y": ()}, "X / Y"),
        ({"X": (3,), "Y": (2, 1)}, "X / Y"),
        ({"X": (2, 2)}, "1 / X"),
    ],
    "matmul": [
        ({"X": (2, 3), "Y": (3, 1)}, "X @ Y"),
        ({"X": (3,), "Y": (3, 2)}, "X @ Y"),
        ({"X": (2, 3), "Y": (3,)}, "X @ Y"),
        ({"X": (3,), "Y": (3,)}, "X @ Y"),
        ({"X": (3, 2)}, "X @ X.T"),
        ({"X": (2, 2), "Y": (2,)}, "Y @ X @ Y"),
    ],
    "transpose": [
        ({"X": (2, 3)}, "X.T"),
        ({"X": (2, 3), "Y": (4, 3)}, "(X @ Y.T).T"),
        ({"X": (2, 3)}, "X * X.T[0, 0] * X[:, 0:1].T[0, 1]"),
    ],
    "reshape": [({"X": (2, 3)}, "X[0] * X[1]"), ({"X": (2, 3)}, "X[:, 1]"), ({"X": (3,)}, "X[1]")],
    "sqrt": [({"X": (2, 3)}, "sqrt(X)"), ({"X": (3,)}, "sqrt(X * X[0])")],
    "exp": [({"X": (2, 3)}, "exp(X)"), ({"X": ()}, "exp(-X)")],
    "log": [({"X": (2, 3)}, "log(X)"), ({"X": (3,)}, "log(1 + X)")],
    "tanh": [({"X": (2, 3)}, "tanh(X)"), ({"X": (3,)}, "tanh(X / 2)")],
    "softmax": [
        ({"X": (2, 3)}, "softmax(X)"),
        ({"X": (3,)}, "softmax(X)"),
        ({"X": (3, 1)}, "softmax(X)"),
        ({"X": (2, 2)}, "softmax(softmax(X))"),
    ],
    "hide": [
        ({"X": (3, 2)}, "softmax(causal(X))"),
        ({"X": (2, 3)}, "exp(causal(X * X))"),
        ({"X": (2, 3), "M": (2, 3)}, "softmax(mask(X, M))"),
        ({"X": (2, 3), "M": (3,)}, "softmax(mask(X, M) / 2)"),
        ({"X": (2, 2), "Y": (2, 1)}, "softmax(causal(X) + Y * X)"),
    ],
    "concat": [
        ({"X": (2, 1), "Y": (2, 3)}, "concat(X, Y, X)"),
        ({"X": (2,), "Y": (3,)}, "concat(X, Y)"),
    ],
    "rowsum": [({"X": (2, 3)}, "rowsum(X * X)"), ({"X": (3, 1)}, "rowsum(X)")],
    "colsum": [({"X": (2, 3)}, "colsum(X * X)"), ({"X": (1, 3)}, "colsum(X)")],
    "total": [({"X": (2, 3)}, "total(X * X)"), ({"X": (3,)}, "total(X)"), ({"X": ()}, "total(X)")],
    "pick": [
        ({"X": (2, 3)}, "X[:, ::-2]"),
        ({"X": (2, 3)}, "X[-1] * X[0, 1]"),
        ({"X": (3, 2)}, "X[::2, 0:1] @ X[1:2]"),
    ],
    "sin": [({"X": (2, 3)}, "sin(X)"), ({"X": (3,)}, "sin(X * X)")],
    "cos": [({"X": (2, 3)}, "cos(X)"), ({"X": (3,)}, "cos(X / 2)")],
    "erf": [({"X": (2, 3)}, "erf(X)"), ({"X": (3,)}, "erf(1 - X)")],
    "maximum": [
        ({"X": (2, 3), "Y": (2, 3)}, "maximum(X, Y)"),
        ({"X": (2, 3), "Y": (3,)}, "maximum(X * X, Y)"),
        ({"X": (2, 3), "Y": ()}, "maximum(Y, X)"),
    ],
    "above": [({"X": (2, 3), "Y": (3,)}, "(X > Y) * X")],
    "rowmax": [({"X": (2, 3)}, "rowmax(X)"), ({"X": (3, 1)}, "X * rowmax(X)")],
    # Gradients of gradients.
    "scatter": [({"X": (2, 3)}, "grad(f, X) * X")],
    "spread": [({"X": (2, 3)}, "grad(f, X) * 2")],
}
#: Of every function that has a rule of its own: shapes of the inputs, and steps that use it.
FUNCTION_CASES: dict[str, list[tuple[dict[str, Shape], str]]] = {
    **{
        name: [({"X": (2, 3)}, f"{name}(X - 1)"), ({"X": (3,)}, f"{name}(X)")]
        for name in ("relu", "abs", "sign", "sigmoid", "silu", "softplus", "gelu")
    },
    "minimum": [
        ({"X": (2, 3), "Y": (3,)}, "minimum(X, Y)"),
        ({"X": (), "Y": (3,)}, "minimum(X, Y)"),
    ],
    "clip": [
        ({"X": (2, 3)}, "clip(X, 1, 3/2)"),
        ({"X": (2, 3), "Y": (3,), "Z": ()}, "clip(X, Y, Z)"),
        ({"X": (3,)}, "clip(X, X[0] / 2, X[1])"),
        ({"X": (3,)}, "clip(X, X, X * X)"),
    ],
    "var": [
        ({"X": (2, 3)}, "var(X, axis=1, ddof=1)"),
        ({"X": (2, 3)}, "var(X, axis=0) * var(X)"),
        ({"X": (3,)}, "var(X)"),
    ],
    "std": [({"X": (2, 3)}, "std(X, axis=1)"), ({"X": (2, 3)}, "std(X, ddof=1) * std(X, axis=0)")],
    "max": [({"X": (2, 3)}, "max(X, axis=0) * max(X)"), ({"X": (3,)}, "max(X)")],
    "min": [({"X": (2, 3)}, "min(X, axis=1) * min(X)"), ({"X": (3,)}, "min(X)")],
    "rowmin": [({"X": (2, 3)}, "rowmin(X)")],
    "softmax": [
        ({"X": (2, 3)}, "softmax(X, axis=0)"),
        ({"X": (2, 3), "Y": ()}, "softmax(X, sink=Y)"),
        ({"X": (2, 2), "Y": (2, 1)}, "softmax(X, sink=Y)"),
        ({"X": (3,), "Y": ()}, "softmax(X, sink=Y)"),
    ],
    "logsumexp": [
        ({"X": (2, 3)}, "logsumexp(X) * logsumexp(X, axis=0)"),
        ({"X": (3,)}, "logsumexp(X)"),
    ],
    "log_softmax": [({"X": (2, 3)}, "log_softmax(X) * log_softmax(X, axis=0)")],
    "layernorm": [
        ({"X": (2, 3), "Y": (3,), "Z": (3,)}, "layernorm(X, Y, Z, eps=1/10)"),
        ({"X": (3,)}, "layernorm(X, eps=0)"),
        ({"X": (2, 3), "Y": ()}, "layernorm(X, eps=Y)"),
    ],
    "rmsnorm": [
        ({"X": (2, 3), "Y": (3,)}, "rmsnorm(X, Y, eps=1/10)"),
        ({"X": (3,)}, "rmsnorm(X, eps=0)"),
        ({"X": (2, 3), "Y": (3,), "Z": ()}, "rmsnorm(X, Y, eps=Z)"),
    ],
    "norm": [({"X": (2, 3)}, "norm(X, axis=0) * norm(X)")],
    "concat": [({"X": (2, 3), "Y": (3,)}, "concat(X, Y, X, axis=0)")],
    "stack": [({"X": (3,), "Y": (3,)}, "stack(X, Y, X)")],
    "reshape": [({"X": (2, 3)}, "reshape(X, 3, 2)"), ({"X": (6,)}, "reshape(X, 2, 3)")],
    "rope": [
        ({"X": (2, 4)}, "rope(X, positions=[1, 3], base=2)"),
        ({"X": (2, 4)}, "rope(X, interleaved=False)"),
        ({"X": (2, 2), "Y": (2,)}, "rope(X, Y)"),
        ({"X": (2, 4), "Y": ()}, "rope(X, positions=Y, base=4)"),
    ],
    "cross_entropy": [
        ({"X": (2, 3)}, "cross_entropy(X, [2, 0], label_smoothing=1/5)"),
        ({"X": (2, 3)}, "cross_entropy(X, [[1, 0, 2], [0, 1/2, 1/2]])"),
        ({"X": (3,)}, "cross_entropy(X, 1)"),
        ({"X": (2, 3), "Y": (2, 3), "Z": ()}, "cross_entropy(X, Y, label_smoothing=Z)"),
        ({"X": (3,), "Z": ()}, "cross_entropy(X, 1, label_smoothing=Z)"),
    ],
    "nll": [
        ({"X": (2, 3)}, "nll(X, [2, 0])"),
        ({"X": (3,)}, "nll(X, 1)"),
        ({"X": (2, 3), "Y": (2, 3)}, "nll(X, Y)"),
    ],
}
OTHER_CASES = [
    *[({"X": (2, 3)}, f"X**{k}") for k in (0, 1, 2, 3, -1, -2, 0.5)],
    *[({"X": (2, 3), "Y": (3,)}, f"(X {sign} Y) * X") for sign in COMPARISONS],
    ({"X": (2, 4)}, 'gelu(X, approximate="tanh")'),
    ({"X": (2, 3), "Y": (2, 3), "Z": (3,)}, "where(X, Y, Z) * where(X > Z, 2, Y)"),
]
#: Functions that nothing flows into.
FLAT_FUNCTIONS = {"onehot"}
FLAT = [(op, *case) for op, cases in CASES.items() for case in cases]
WRITTEN = [case for cases in FUNCTION_CASES.values() for case in cases] + OTHER_CASES
#: A step before: what gradients in the next one are of.
BEFORE = "total(X[0:1] * X[1:2] * total(X))"


def made_of(shapes, text):
    """The program of a step, and of the one before where it takes a gradient of that."""
    before = {"f": BEFORE} if "grad" in text else {}
    return program(shapes, {**before, "R": text})


# The mask of the cases that have one: no variable, some of it hidden.
MASKS = {(2, 3): [[1, 0, 1], [0, 1, 1]], (3,): [[1, 0, 1]]}


def inputs_of(shapes):
    """Symbols for every input; numbers for a mask."""
    inputs = {name: symbols(name, shape) for name, shape in shapes.items()}
    if "M" in shapes:
        rows = [[sympy.Integer(x) for x in row] for row in MASKS[shapes["M"]]]
        inputs["M"] = entrywise.grid(rows)
    return inputs


def test_every_rule_has_cases():
    """The table below covers the rules, all of them, and each case uses its rule."""
    assert CASES.keys() == RULES.keys()
    for op, shapes, text in FLAT:
        made = made_of(shapes, text)
        assert op in {node.op for node in ancestors([made.quantities["R"]])}, text


def test_every_rule_of_a_function_has_cases():
    """As the operations' rules have."""
    own = {name for name, function in FUNCTIONS.items() if function.back}
    assert own == FUNCTION_CASES.keys() | FLAT_FUNCTIONS
    for name, cases in FUNCTION_CASES.items():
        for shapes, text in cases:
            needed = ancestors([program(shapes, {"R": text}).quantities["R"]])
            assert name in {node.written.function for node in needed if node.written}, text


TEXTS = [case[1:] for case in FLAT] + WRITTEN


@pytest.mark.sampled(1, 17)
@pytest.mark.parametrize(("shapes", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_rules_are_sympys_derivatives(shapes, text):
    """dL/dX for L = sum(upstream * R) is SymPy's derivative by each entry of X, for
    every entry, upstream and point."""
    made = differentiate(made_of(shapes, text), "R")
    inputs = inputs_of(shapes)
    inputs["upstream"] = symbols("G", made.quantities["R"].shape)
    rows, columns = made.quantities["R"].grid
    outputs = symbolic(inputs, made.quantities["R"])
    loss = sum(
        outputs[i][j] * inputs["upstream"].at(i, j) for i in range(rows) for j in range(columns)
    )
    letters = sorted(loss.free_symbols, key=str)
    point = [mpmath.mpf(37 + 11 * k % 29) / (20 + k) for k in range(len(letters))]
    for name in shapes.keys() - {"M"}:
        variable = made.quantities[name]
        # Nothing at all flows into what only decides a comparison.
        found = np.zeros(variable.grid, int).tolist()
        if (gradient := made.gradients.get(name)) is not None:
            assert gradient.shape == variable.shape
            found = symbolic(inputs, gradient)
        for i, j in np.ndindex(variable.grid):
            slope = sympy.diff(loss, inputs[name].at(i, j)).replace(sympy.DiracDelta, lambda *_: 0)
            difference = slope - found[i][j]
            with mpmath.workdps(DIGITS):
                at_point = sympy.lambdify(letters, difference, "mpmath")(*point)
                assert abs(at_point) < mpmath.mpf(10) ** -50


def test_nothing_flows_into_a_mask():
    """A mask is no variable: it has no gradient."""
    made = differentiate(program({"X": (2, 3), "M": (3,)}, {"R": "softmax(mask(X, M))"}), "R")
    assert "M" not in made.gradients
    with pytest.raises(Malformed, match=r"dL/dM: the loss does not depend on M"):
        made.lower("grad(M)")


def test_what_the_output_does_not_use_has_no_gradient():
    """Quantities beside the path to the output have none; sizes carry none."""
    steps = {"A": "X * 2", "B": "X * 3", "C": "A * rows(Z)"}
    made = differentiate(program({"X": (2, 2), "Z": (3, 1)}, steps), "C")
    assert sorted(made.gradients) == ["A", "C", "X"]


def test_a_step_is_differentiated_as_if_it_were_an_input():
    """grad of a step flows through its uses; grad of the output is the upstream itself."""
    steps = {"A": "X * X", "B": "A * 5", "C": "A * B"}
    made = differentiate(program({"X": (1, 1)}, steps), "C")
    data = {"X": [[3]], "upstream": [["1/7"]]}
    found = {name: str(exact(data, node)[0][0]) for name, node in made.gradients.items()}
    # B = 5A, so dC/dA = B + 5A = 90 and dC/dX = 90 * 2X; C itself gets the upstream.
    assert found == {"X": "540/7", "A": "90/7", "B": "9/7", "C": "1/7"}


def test_aliases_have_gradients_of_their_own():
    """Q = X, K = X: each use is a quantity with its own gradient, and X gets their sum;
    a named transpose that is transposed back is still used."""
    steps = {"Q": "X", "K": "X", "P": "Q.T", "S": "P.T @ K"}
    made = differentiate(program({"X": (2, 2)}, steps), "S")
    data = {"X": [[1, 2], [3, 5]], "upstream": [[1, 0], [0, 2]]}
    q, k, x, p = (
        np.array([[str(entry) for entry in row] for row in exact(data, made.gradients[name])])
        for name in "QKXP"
    )
    assert (q == p.T).all()
    assert q.tolist() == [["1", "3"], ["4", "10"]]
    assert k.tolist() == [["1", "6"], ["2", "10"]]
    assert x.tolist() == [["2", "9"], ["6", "20"]]


@few
@given(st.data(), st.integers(1, 3), st.integers(1, 3))
def test_gradients_are_linear_in_the_upstream(data, n, m):
    """The gradient for 2 G + H is twice that for G plus that for H, exactly."""
    steps = {"A": "softmax(X)", "Y": "A * X - X / (1 + total(X * X))"}
    made = differentiate(program({"X": (n, m)}, steps), "Y")
    node = made.gradients["X"]
    x, g, h = (data.draw(matrices(n, m)) for _ in range(3))
    both = [[2 * a + b for a, b in zip(*rows, strict=True)] for rows in zip(g, h, strict=True)]
    of_g, of_h, of_both = (exact({"X": x, "upstream": u}, node) for u in (g, h, both))
    for i, j in np.ndindex(n, m):
        expected = of_g[i][j] + of_g[i][j] + of_h[i][j]
        assert compare(of_both[i][j], expected) is Verdict.HOLDS
