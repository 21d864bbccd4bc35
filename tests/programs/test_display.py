"""A step shown as a formula says what the step computes."""

from __future__ import annotations

import numpy as np
import pytest

from symattn import formulas as f
from symattn.programs.axes import Axes
from symattn.programs.display import formula, gradient_symbol, names
from symattn.programs.gradient import differentiate
from symattn.programs.program import program

from ..machines import floats

SHAPES = {"X": (3, 4), "W": (4, 2), "v": (4,), "s": ()}
DATA = {
    "X": [[1, 2, 3, 4], [5, 6, 7, 8], [2, 4, 6, 9]],
    "W": [[1, 2], [3, 1], [2, 2], [1, 0]],
    "v": [3, 1, 2, 5],
    "s": 2,
}

TEXTS = [
    "X @ W",
    "X @ W @ W.T",
    "X @ (W @ W.T)",
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
    "X[1:, 2][0]",
    "softmax(X - rowsum(X) / cols(X))",
    "sqrt(X * X) + exp(-v) - log(v)",
    "concat(X, X.T[0:3], rowsum(X))",
    "total(X) * (X[0] @ v)",
    "exp(causal(X - 9))",
    "exp(mask(X - 9, v - v))",
    "2/3 * X - 0.25",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_formula_of_a_step_computes_the_step(text):
    """The formula's text, read as a step again, gives the same numbers."""
    made = program(SHAPES, {"R": text})
    shown = f.text(formula(made.quantities["R"], {}))
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
        ("W_Q[0, 1]", "W_Q[0, 1]", "{W_{Q}}_{0,1}"),
    ],
)
def test_known_formulas(text, shown, latex):
    """Steps of attention look as they are written."""
    shapes = {"Q": (2, 3), "K": (2, 3), "S": (2, 2), "A": (2, 2), "W_Q": (2, 2), "d_k": ()}
    tree = formula(program(shapes, {"R": text}).quantities["R"], {})
    assert f.text(tree) == shown
    assert f.latex(tree) == latex


def attention():
    shapes = {"Q": (2, 3), "K": (4, 3), "V": (4, 1)}
    return differentiate(program(shapes, {"S": "Q @ K.T", "A": "softmax(S)", "Y": "A @ V"}), "Y")


def test_backward_steps_are_shown_by_named_quantities():
    """The textbook's backward pass comes out of the rules."""
    made = attention()
    known = names(made)
    shown = {name: f.text(formula(node, known)) for name, node in made.gradients.items()}
    assert shown == {
        "Y": "upstream",
        "A": "dL/dY @ V.T",
        "V": "A.T @ dL/dY",
        "S": "A * (dL/dA - rowsum(A * dL/dA))",
        "Q": "dL/dS @ K",
        "K": "dL/dS.T @ Q",
    }


def test_gradients_have_a_symbol():
    """dL/dW_Q in text, with its subscript in LaTeX."""
    assert gradient_symbol("W_Q").text == "dL/dW_Q"
    assert f.latex(gradient_symbol("W_Q")) == r"\mathrm{d}W_{Q}"


def test_long_chains_are_shown():
    """The gradient of the longest chain of operations is shown without running deep."""
    made = differentiate(program({"X": (1, 1)}, {"R": "/".join(["X"] * 199)}), "R")
    for node in (made.quantities["R"], made.gradients["X"]):
        assert f.text(formula(node, names(made)))


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
    square = Axes(program({"X": (2, 2), "W": (2, 2)}, {"Y": "X @ W"}))
    assert square is not None
