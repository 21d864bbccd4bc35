"""A step shown as a formula says what the step computes."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.programs.axes import Axes
from symattn.programs.display import formula, names
from symattn.programs.program import differentiate, program

from ..machines import floats
from ..oracle import evaluate

SHAPES = {"X": (3, 4), "W": (4, 2), "v": (4,), "s": (), "M": (3, 4)}
DATA = {
    "X": [[1, 2, 3, 4], [5, 6, 7, 8], [2, 4, 6, 9]],
    "W": [[1, 2], [3, 1], [2, 2], [1, 0]],
    "v": [3, 1, 2, 5],
    "s": 2,
    "M": [[1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 1]],
}

TEXTS = [
    "X @ W",
    "X @ W @ W.T",
    "X @ (W @ W.T)",
    "(X * v) @ W",
    "X * (W[:, 0] @ W)[0] @ W",
    "(X @ W).T",
    "X - (v - s)",
    "X - v - s",
    "-(X + v)",
    "-X * s",
    "-(X * s)",
    "X / (v / s)",
    "X / v / s",
    "X * (v + 1) / 2",
    "s * (X @ v)",
    "v[1] * X",
    "v[::-1] + X[0]",
    "X[::-1, 1:3]",
    "X[-1, ::2]",
    "X[:, 0]",
    "v[::-2]",
    "v[:0:-1]",
    "v[:1:-2]",
    "X[1:2, 3:0:-2]",
    "X[1:, 2][0]",
    "softmax(X - rowsum(X) / cols(X))",
    "sqrt(X * X) + exp(-v) - log(v)",
    "concat(X, X.T[0:3], rowsum(X))",
    "total(X) * (X[0] @ v)",
    "exp(causal(X - 9))",
    "exp(mask(X - 9, M))",
    "2/3 * X - 0.25",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_formula_of_a_step_computes_the_step(text):
    """The formula's text, read as a step again, gives the same numbers."""
    made = program(SHAPES, {"R": text})
    shown = syntax.shown(formula(made.quantities["R"], {}))
    again = program(SHAPES, {"R": shown})
    first, second = (floats(DATA, p.quantities["R"]) for p in (made, again))
    assert np.array_equal(first, second)


@pytest.mark.parametrize(
    ("text", "shown", "latex"),
    [
        ("Q @ K.T", "Q @ K.T", r"Q\,K^{\top}"),
        ("S / sqrt(d_k)", "S/sqrt(d_k)", r"\frac{S}{\sqrt{d_{k}}}"),
        ("causal(S)", "causal(S)", r"\operatorname{causal}\left(S\right)"),
        ("A * A", "A * A", r"A \odot A"),
        ("2 * A", "2*A", r"2\,A"),
        ("W_Q[0, 1]", "W_Q[0, 1]", "(W_{Q})_{0,1}"),
        ("A", "A", "A"),
        ("mask(S, A)", "mask(S, A)", r"\operatorname{mask}\left(S, A\right)"),
    ],
)
def test_known_formulas(text, shown, latex):
    """Steps of attention look as they are written."""
    shapes = {"Q": (2, 3), "K": (2, 3), "S": (2, 2), "A": (2, 2), "W_Q": (2, 2), "d_k": ()}
    tree = formula(program(shapes, {"R": text}).quantities["R"], {})
    assert syntax.shown(tree) == shown
    assert f.latex(tree) == latex


def attention():
    shapes = {"Q": (2, 3), "K": (4, 3), "V": (4, 1)}
    return differentiate(program(shapes, {"S": "Q @ K.T", "A": "softmax(S)", "Y": "A @ V"}), "Y")


def shown_gradients(made):
    """The formula of every gradient, by the names of what it is computed from."""
    known = names(made)
    return {name: syntax.shown(formula(node, known)) for name, node in made.gradients.items()}


def test_backward_steps_are_shown_by_named_quantities():
    """The textbook's backward pass comes out of the rules."""
    assert shown_gradients(attention()) == {
        "Y": "upstream",
        "A": "dL/dY @ V.T",
        "V": "A.T @ dL/dY",
        "S": "A * (dL/dA - rowsum(A * dL/dA))",
        "Q": "dL/dS @ K",
        "K": "dL/dS.T @ Q",
    }


#: Steps, the last of which is differentiated: formulas that can be read again.
BACKWARD = [
    {"Q": "X @ W", "K": "Q / sqrt(s)", "S": "X @ X.T", "A": "softmax(causal(S))", "Y": "A @ K"},
    {"E": "exp(X) * s", "L": "E * E / rowsum(E)"},
    {"B": "log(X) - sqrt(X) + v", "C": "concat(B, X)", "D": "C * C - C"},
    {"B": "colsum(X) * M", "C": "-(X - B).T", "D": "C * total(B)"},
]


@pytest.mark.parametrize("steps", BACKWARD, ids=lambda steps: steps[max(steps)])
def test_the_formula_of_a_gradient_computes_the_gradient(steps):
    """Read by the second reader, over quantities and gradients, it gives the same numbers."""
    output = list(steps)[-1]
    made = differentiate(program(SHAPES, steps), output)
    rows, columns = made.quantities[output].grid
    upstream = [[(3 * i + 5 * j) % 7 - 2 for j in range(columns)] for i in range(rows)]
    data = {**DATA, "upstream": upstream}
    nodes = {**made.quantities, **{f"d{name}": node for name, node in made.gradients.items()}}
    known = {name: floats(data, node) for name, node in nodes.items()}
    known["upstream"] = np.array(upstream, dtype=float)
    for name, text in shown_gradients(made).items():
        # Entry by entry NumPy repeats by itself what a formula says is spread.
        plain = re.sub(r"\bspread\(", "(", re.sub(r"dL/d(\w)", r"d\1", text))
        found = evaluate(plain, known)
        assert np.allclose(np.asarray(found, dtype=float), known[f"d{name}"], rtol=1e-12, atol=0)


def test_gradients_of_masks_and_entries_are_named():
    """The part below the diagonal, and what is put back in its place."""
    causal = differentiate(program({"X": (3, 3)}, {"Y": "causal(X)", "E": "exp(Y)"}), "E")
    assert shown_gradients(causal)["X"] == "tril(dL/dY)"
    picked = differentiate(program({"X": (3, 3)}, {"Y": "X * X", "E": "Y[1:, :2]"}), "E")
    assert shown_gradients(picked)["Y"] == "scatter(dL/dE)"
    node = picked.gradients["Y"]
    assert f.latex(formula(node, names(picked))) == (
        r"\operatorname{scatter}\left(\mathrm{d}E\right)"
    )


def test_gradients_have_a_symbol():
    """dL/dW_Q in text, with its subscript in LaTeX."""
    assert syntax.shown(syntax.Gradient("W_Q")) == "dL/dW_Q"
    assert f.latex(syntax.Gradient("W_Q")) == r"\mathrm{d}W_{Q}"


@pytest.mark.heavy
def test_long_chains_are_shown():
    """The gradient of the longest chain of operations is shown without running deep."""
    made = differentiate(program({"X": (1, 1)}, {"R": "/".join(["X"] * 199)}), "R")
    assert syntax.shown(formula(made.quantities["R"], {})) == "/".join(["X"] * 199)
    shown = shown_gradients(made)["X"].replace("dL/dR", "dR")
    assert evaluate(shown, {"X": 2.0, "R": 2.0**-197, "dR": 3.0}) == -3 * 197 * 2.0**-198


def test_axes_that_run_over_the_same_things():
    """Columns of S run over the rows of K and V; features of Q and K are shared, sizes
    that merely agree are not."""
    made = attention()
    axes, q = Axes(made), made.quantities
    assert axes.same(q["S"], 1, q["V"], 0)
    assert axes.same(q["A"], 1, q["K"], 0)
    assert axes.same(q["Q"], 1, q["K"], 1)
    assert axes.same(made.gradients["K"], 0, q["K"], 0)
    assert not axes.same(q["Q"], 0, q["K"], 0)
    assert not axes.same(q["S"], 0, q["S"], 1)


#: One step over square X, W and Z: the classes of axes, by name and axis (0 rows, 1 columns).
AXES = {
    "X @ W": "X0 R0, X1 W0, W1 R1, Z0, Z1",
    "X @ W.T": "X0 R0, X1 W1, W0 R1, Z0, Z1",
    "X.T": "X0 R1, X1 R0, W0, W1, Z0, Z1",
    "X + W": "X0 W0 R0, X1 W1 R1, Z0, Z1",
    "softmax(X)": "X0 R0, X1 R1, W0, W1, Z0, Z1",
    "concat(X, W)": "X0 W0 R0, X1, W1, R1, Z0, Z1",
    "X * total(W)": "X0 R0, X1 R1, W0, W1, Z0, Z1",
    "X + W[0]": "X0 R0, X1 W1 R1, W0, Z0, Z1",
    "X + W[:, :1]": "X0 W0 R0, X1 R1, W1, Z0, Z1",
    "(X - W) @ Z": "X0 W0 R0, X1 W1 Z0, Z1 R1",
}


@pytest.mark.parametrize("text", AXES)
def test_axes_are_the_same_where_an_operation_lines_them_up(text):
    """Of square matrices too: sizes that merely agree say nothing."""
    made = program({"X": (3, 3), "W": (3, 3), "Z": (3, 3)}, {"R": text})
    axes = Axes(made)
    classes = {
        (label[0], int(label[1])): group
        for group, labels in enumerate(AXES[text].split(", "))
        for label in labels.split()
    }
    assert len(classes) == 8
    for one, other in product(classes, repeat=2):
        (x, i), (y, j) = one, other
        found = axes.same(made.quantities[x], i, made.quantities[y], j)
        assert found is (classes[one] == classes[other]), (one, other)


def test_a_scalar_lines_up_nothing():
    """Two rows that are scaled by one number have nothing in common for that."""
    steps = {"A": "s * X", "B": "s * W"}
    made = program({"X": (1, 3), "W": (1, 3), "s": ()}, steps)
    axes, q = Axes(made), made.quantities
    assert axes.same(q["A"], 1, q["X"], 1)
    assert not axes.same(q["X"], 0, q["W"], 0)


def test_a_gradient_runs_over_what_its_quantity_does():
    """Axis by axis, whatever way it was computed, and so do axes that only it lines up."""
    made = differentiate(program({"X": (3, 3), "W": (3, 3)}, {"Y": "X @ W"}), "Y")
    axes, q = Axes(made), made.quantities
    for name, gradient in made.gradients.items():
        for i, j in product((0, 1), repeat=2):
            assert axes.same(gradient, i, q[name], j) is (i == j)
    upstream = made.gradients["Y"]
    assert axes.same(upstream, 0, q["X"], 0)
    assert not axes.same(upstream, 1, q["X"], 1)
