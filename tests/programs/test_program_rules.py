"""The program's backward rules are the derived ones, so that neither can change alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symattn.calculus.library import THEORY, derive
from symattn.programs import entrywise
from symattn.programs.backward import RULES
from symattn.programs.enclosures import FloatOperations
from symattn.programs.nodes import Run
from symattn.programs.program import differentiate, program
from symattn.verdicts import Verdict

from ..machines import by_name, symbolic_run
from .derived import RULES as DERIVED

# Step, derived rule, shapes of its operands, and what else the rule needs.
CASES: dict[str, tuple[str, str, list[tuple[int, ...]], dict[str, Any]]] = {
    "product": ("x0 @ x1", "matmul", [(2, 3), (3, 4)], {}),
    "vector times matrix": ("x0 @ x1", "matmul", [(3,), (3, 2)], {}),
    "matrix times vector": ("x0 @ x1", "matmul", [(2, 3), (3,)], {}),
    "sum": ("x0 + x1", "add", [(2, 3), (2, 3)], {}),
    "row added": ("x0 + x1", "add", [(2, 3), (1, 3)], {}),
    "scalar added": ("x0 + x1", "add", [(), (2, 3)], {}),
    "difference": ("x0 - x1", "sub", [(2, 3), (2, 1)], {}),
    "entry by entry": ("x0 * x1", "mul", [(2, 3), (2, 3)], {}),
    "scaled": ("x0 * x1", "mul", [(2, 3), ()], {}),
    "quotient": ("x0 / x1", "div", [(2, 3), (2, 3)], {}),
    "divided by a column": ("x0 / x1", "div", [(2, 3), (2, 1)], {}),
    "divided by a scalar": ("x0 / x1", "div", [(2, 3), ()], {}),
    "negative": ("-x0", "neg", [(2, 3)], {}),
    "transpose": ("x0.T", "transpose", [(2, 3)], {}),
    "root": ("sqrt(x0)", "sqrt", [(2, 3)], {}),
    "exponential": ("exp(x0)", "exp", [(2, 3)], {}),
    "logarithm": ("log(x0)", "log", [(2, 3)], {}),
    "hyperbolic tangent": ("tanh(x0)", "tanh", [(2, 3)], {}),
    "sine": ("sin(x0)", "sin", [(2, 3)], {}),
    "cosine": ("cos(x0)", "cos", [(2, 3)], {}),
    "error function": ("erf(x0)", "erf", [(2, 3)], {}),
    "softmax": ("softmax(x0)", "softmax", [(2, 3)], {}),
    "softmax of a vector": ("softmax(x0)", "softmax", [(3,)], {}),
    "row sums": ("rowsum(x0)", "rowsum", [(2, 3)], {}),
    "column sums": ("colsum(x0)", "colsum", [(2, 3)], {}),
    "total": ("total(x0)", "total", [(2, 3)], {}),
    "heads": ("concat(x0, x1)", "concat", [(2, 3), (2, 1)], {}),
    "row": ("x0[1]", "index", [(2, 3)], {"key": 1}),
    "column": ("x0[:, 0]", "index", [(2, 3)], {"key": (slice(None), 0)}),
    "block": ("x0[:, 1:3]", "index", [(2, 4)], {"key": (slice(None), slice(1, 3))}),
}


def grid(entries: Any) -> Any:
    """Symbols as the grid that programs hold them in."""
    held = np.asarray(entries, dtype=object)
    return entrywise.grid(held.reshape((1, -1) if held.ndim < 2 else held.shape).tolist())


@pytest.mark.sampled(17)
@pytest.mark.parametrize("label", CASES)
def test_rule_is_the_derived_one(label: str) -> None:
    """The gradient of one step, in symbols, is SymPy's derivative contracted with upstream."""
    step, operation, shapes, options = CASES[label]
    rule = DERIVED[operation](*shapes, **options)
    given = {f"x{place}": shape for place, shape in enumerate(shapes)}
    full = differentiate(program(given, {"y": step}), "y")
    inputs = {f"x{place}": grid(x) for place, x in enumerate(rule.operands)}
    run = symbolic_run({**inputs, "upstream": grid(rule.upstream)})
    found = []
    for name, shape in given.items():
        node = full.gradients[name]
        rows, columns = node.grid
        flat = [run[node].at(i, j) for i in range(rows) for j in range(columns)]
        found.append(np.array(flat, dtype=object).reshape(shape))
    assert rule.compare(found) is Verdict.HOLDS


def test_every_operation_is_held_against_a_derivation() -> None:
    """No backward rule of a program goes unchecked; masks are checked below."""
    checked = {"copy", "reshape", "hide"}
    # What has kinks, and what only gradients have, is held against SymPy in test_rules.
    checked |= {"maximum", "above", "rowmax", "scatter", "spread"}
    for step, _, shapes, _ in CASES.values():
        given = {f"x{place}": shape for place, shape in enumerate(shapes)}
        node = program(given, {"y": step}).quantities["y"]
        waiting = [node]
        while waiting:
            one = waiting.pop()
            checked.add(one.op)
            waiting += one.operands
    assert set(RULES) <= checked


def floats(step: dict[str, str], data: dict[str, Any], output: str, upstream: Any) -> Any:
    """The gradients of a program in floats, by name."""
    shapes = {name: np.shape(value) for name, value in data.items()}
    full = differentiate(program(shapes, step), output)
    inputs = {name: np.atleast_2d(value) for name, value in data.items()}
    run = Run(FloatOperations(), by_name({**inputs, "upstream": np.atleast_2d(upstream)}))
    return lambda name: run[full.gradients[name]], lambda name: run[full.quantities[name]]


#: Operations on x and y, and the gradients of any loss of their result Z, in the
#: language that derivations and programs share; with the shapes of x and y.
DERIVED_FOR_ALL_SIZES: dict[str, tuple[dict[str, str], dict[str, tuple[str, ...]]]] = {
    "x @ y": ({"x": "dZ @ y.T", "y": "x.T @ dZ"}, {"x": ("n", "m"), "y": ("m", "k")}),
    "x + y": ({"x": "dZ", "y": "dZ"}, {"x": ("n", "m"), "y": ("n", "m")}),
    "x - y": ({"x": "dZ", "y": "-dZ"}, {"x": ("n", "m"), "y": ("n", "m")}),
    "x * y": ({"x": "dZ * y", "y": "dZ * x"}, {"x": ("n", "m"), "y": ("n", "m")}),
    "y * x": ({"x": "dZ * y", "y": "total(dZ * x)"}, {"x": ("n", "m"), "y": ()}),
    "x / y": ({"x": "dZ / y", "y": "-dZ * x / (y * y)"}, {"x": ("n", "m"), "y": ("n", "m")}),
    "-x": ({"x": "-dZ"}, {"x": ("n", "m")}),
    "x.T": ({"x": "dZ.T"}, {"x": ("n", "m")}),
    "sqrt(x)": ({"x": "dZ / (2 * sqrt(x))"}, {"x": ("n", "m")}),
    "exp(x)": ({"x": "dZ * exp(x)"}, {"x": ("n", "m")}),
    "log(x)": ({"x": "dZ / x"}, {"x": ("n", "m")}),
    "tanh(x)": ({"x": "dZ * (1 - tanh(x) * tanh(x))"}, {"x": ("n", "m")}),
    "softmax(x)": ({"x": "softmax(x) * (dZ - rowsum(softmax(x) * dZ))"}, {"x": ("n", "m")}),
    "rowsum(x)": ({"x": "dZ + 0 * x"}, {"x": ("n", "m")}),
    "colsum(x)": ({"x": "dZ + 0 * x"}, {"x": ("n", "m")}),
    "total(x)": ({"x": "dZ + 0 * x"}, {"x": ("n", "m")}),
}
SIZES = {"n": 2, "m": 3, "k": 4}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("step", DERIVED_FOR_ALL_SIZES)
def test_a_rule_holds_for_all_sizes(step: str) -> None:
    """For every size and every differentiable loss: proved by both witnesses."""
    gradients, shapes = DERIVED_FOR_ALL_SIZES[step]
    given = "\n".join(f"{name} = {list(shape)}" for name, shape in shapes.items())
    lines = "\n".join(
        f'[[lines]]\nline = "diff(L, {name}) == {formula}"' for name, formula in gradients.items()
    )
    found = derive(
        f'sizes = ["n", "m", "k"]\n[shapes]\n{given}\n[losses]\nL = "Z"\n'
        f'[define]\nZ = "{step}"\ndZ = "diff(L, Z)"\n{lines}'
    )
    assert found.faults == ()
    assert [(line.status, line.why) for line in found.lines] == [("proved", "")] * len(gradients)


@pytest.mark.parametrize("step", DERIVED_FOR_ALL_SIZES)
def test_a_program_has_that_rule(step: str) -> None:
    """At random numbers the program's gradient is the derived formula."""
    gradients, shapes = DERIVED_FOR_ALL_SIZES[step]
    random = np.random.default_rng(7)
    data: dict[str, Any] = {
        name: random.uniform(0.5, 2, size=tuple(SIZES[size] for size in shape))
        for name, shape in shapes.items()
    }
    _, value = floats({"Z": step}, data, "Z", np.zeros(1))
    upstream = random.normal(size=np.shape(value("Z")))
    gradient, _ = floats({"Z": step}, data, "Z", upstream)
    for name, formula in gradients.items():
        _, derived = floats({"G": formula}, {**data, "dZ": upstream}, "G", np.zeros(1))
        np.testing.assert_allclose(gradient(name), derived("G"), rtol=1e-12)


STEPS = {
    "S": "Q @ K.T / sqrt(d_k)",
    "A": "softmax(S)",
    "Y": "A @ V",
}


@pytest.mark.heavy
def test_attention_is_the_derived_one() -> None:
    """All gradients of attention are the matrix forms that the derivation has."""
    random = np.random.default_rng(7)
    data: dict[str, Any] = {
        "Q": random.normal(size=(4, 2)),
        "K": random.normal(size=(3, 2)),
        "V": random.normal(size=(3, 5)),
        "d_k": 2.0,
    }
    upstream = random.normal(size=(4, 5))
    gradient, value = floats(STEPS, data, "Y", upstream)
    formulas = {
        "dV": "A.T @ dY",
        "dA": "dY @ V.T",
        "dS": "A * (dA - rowsum(A * dA))",
        "dQ": "dS @ K / sqrt(d_k)",
        "dK": "dS.T @ Q / sqrt(d_k)",
    }
    said = [
        line.text.replace("(", "").replace(")", "") for line in THEORY["attention-gradients"].lines
    ]
    for name in ("dV", "dA"):
        assert f"{name} == {formulas[name]}" in said
    assert THEORY["attention-gradients"].proved
    held = {**data, "A": value("A"), "dY": upstream}
    _, derived = floats(formulas, held, "dK", np.zeros(1))
    for name in formulas:
        np.testing.assert_allclose(gradient(name[1:]), derived(name), rtol=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("step", ["causal(S)", "mask(S, P)"])
def test_masks_are_the_derived_ones(step: str) -> None:
    """A masked score has weight and gradient exactly 0, as the derivation of masking says."""
    random = np.random.default_rng(9)
    data = {"S": random.normal(size=(3, 3)), "P": np.tri(3)}
    gradient, value = floats({"T": step, "A": "softmax(T)"}, data, "A", random.normal(size=(3, 3)))
    above = np.triu_indices(3, 1)
    assert not value("A")[above].any()
    assert not gradient("S")[above].any()
    # In the first causal row one key is left, and nothing can change its weight.
    assert gradient("S")[0].tolist() == [0.0, 0.0, 0.0]
    assert THEORY["masking"].proved


def test_programs_of_the_same_steps_are_made_once():
    """Whoever has the same steps over the same shapes has the same program, node for node;
    with other shapes, steps or another order of names another one."""
    shapes, steps = {"X": (2, 3)}, {"A": "softmax(X)", "Y": "A * X"}
    made = program(shapes, steps)
    assert program(dict(shapes), dict(steps)).named == made.named
    assert differentiate(made, "Y") is differentiate(made, "Y")
    assert differentiate(made, "A").upstream is not differentiate(made, "Y").upstream
    for other in (program({"X": (3, 3)}, steps), program(shapes, {**steps, "Y": "A + X"})):
        assert other.quantities["Y"] is not made.quantities["Y"]
