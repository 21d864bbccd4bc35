"""Every operation: against NumPy, against differences, in its formula, and planted errors."""

from __future__ import annotations

import functools
import re
from types import SimpleNamespace

import numpy as np
import pytest

from symattn.crosscheck import definitions, evaluation
from symattn.crosscheck.calls import FUNCTIONS
from symattn.crosscheck.recomputation import Loss, recompute
from symattn.crosscheck.scalars import Noted
from symattn.crosscheck.tape import tape
from symattn.errors import Malformed

from .operations import GIVEN, STEPS, arrays

#: What is differentiated by; masks and whole numbers are not.
WRT = [name for name in GIVEN if name not in ("M", "t", "k")]


def weights(shape):
    """Weights of the entries, so that no gradient is 0 because of a symmetry."""
    size = int(np.prod(shape))
    flat = np.array([f"{3 * i + 1}/{i + 2}" for i in range(size)], object)
    return flat.reshape(shape).tolist() if shape else flat[0]


def computed(text):
    """A step, and the gradients of its entries weighted; masked scores go through exp."""
    shape = np.shape(STEPS[text](arrays()))
    steps = {"out": text, "y": "exp(out / 4)"}
    return recompute(GIVEN, steps, Loss("y", weights(shape), WRT))


solved = functools.cache(computed)


@pytest.mark.sampled(52)
@pytest.mark.parametrize("text", STEPS)
def test_values_are_numpys(text):
    """With its shape, and a bound of a few roundings."""
    figures = solved(text).quantities["out"]
    wanted = np.asarray(STEPS[text](arrays()))
    assert figures.value.shape == figures.bound.shape == wanted.shape
    assert figures.value == pytest.approx(wanted, rel=1e-13, abs=1e-15)
    assert np.all(figures.bound <= 1e-13 * (1 + np.abs(wanted)).clip(max=1e3))
    assert figures.doubt == ""


@pytest.mark.sampled(59)
@pytest.mark.parametrize("text", STEPS)
def test_gradients_are_differences_of_numpys_values(text):
    """Central differences of the oracle, good to about eight places."""
    found = solved(text)
    base = arrays()
    upstream = arrays({"u": weights(np.shape(STEPS[text](base)))}).u

    def loss(moved):
        return float((np.exp(np.asarray(STEPS[text](moved)) / 4) * upstream).sum())

    for name in WRT:
        gradient = found.gradients[name]["1"]
        assert np.all(np.isfinite(gradient.bound)), name
        for place in np.ndindex(gradient.value.shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = SimpleNamespace(**{**vars(base), name: getattr(base, name).copy()})
                getattr(moved, name)[place] += step
                ends.append(loss(moved))
            slope = (ends[0] - ends[1]) / 2e-5
            assert gradient.value[place] == pytest.approx(slope, rel=1e-6, abs=1e-7), name


def differing(found):
    """The quantities of whose gradients the two ways disagree."""
    return [
        name
        for name, parts in found.gradients.items()
        for gradient in parts.values()
        if np.any(np.abs(gradient.value - gradient.step) > 4 * gradient.bound + 1e-100)
    ]


@pytest.mark.parametrize("text", STEPS)
def test_gradients_agree_with_complex_steps(text):
    """Each entry within its bound, which is narrow; all entries are probed."""
    found = solved(text)
    assert differing(found) == []
    assert found.probed == found.probes
    for parts in found.gradients.values():
        gradient = parts["1"]
        assert np.all(gradient.bound <= 1e-12 * (1 + np.abs(gradient.value).max()))


@functools.cache
def users(name):
    """The steps that use a definition."""
    operation = "softmax" if name == "normaliser" else name
    found = []
    for text in STEPS:
        lines = tape(GIVEN, {"out": text}).lines
        if any(line.operation == operation for line in lines):
            found.append(text)
    return found


def planted(monkeypatch, name):
    """An error of one part in 10^9 in a definition."""
    original = definitions.definition(name)

    @functools.wraps(original)
    def wrong(*arguments):
        return original(*arguments) * (1 + 2.0**-30) + 2.0**-40

    monkeypatch.setattr(definitions, name, wrong)


@pytest.mark.sampled(1, 10)
@pytest.mark.parametrize("name", definitions.names())
def test_a_wrong_definition_is_caught(name, monkeypatch):
    """A figure off by one part in 10^9 lies outside the bound, or is no mask any more."""
    for text in users(name):
        solved(text)
    planted(monkeypatch, name)

    def differs(text):
        right = solved(text).quantities["out"]
        try:
            wrong = computed(text).quantities["out"]
        except Malformed:
            return True
        known = np.isfinite(right.value)
        distance = np.abs(right.value[known] - wrong.value[known])
        return np.any(distance > (right.bound + wrong.bound)[known])

    assert any(map(differs, users(name)))


@pytest.mark.heavy
def test_every_function_has_a_step_and_every_definition_is_used():
    """Nothing is out of the tests' reach."""
    called = {name for text in STEPS for name in re.findall(r"([a-z_0-9]\w*)\(", text)}
    assert {*FUNCTIONS, "heads", "merge"} <= called
    assert all(users(name) for name in definitions.names())


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("__mul__", "-A / w + w * A - C"),
        ("__truediv__", "-A / w + w * A - C"),
        ("__rtruediv__", "sigmoid(A)"),
        ("__pow__", "A ** 3"),
        ("exp", "exp(A)"),
        ("log", "log(w)"),
        ("sqrt", "sqrt(w)"),
        ("tanh", "tanh(A)"),
        ("sin", "sin(A)"),
        ("cos", "cos(A)"),
        ("erf", "gelu(A)"),
    ],
)
def test_a_wrong_link_of_the_chain_rule_is_caught(function, text, monkeypatch):
    """What flows through a function, off by one part in 10^9, disagrees with the complex steps."""
    right = getattr(Noted, function)

    def wrong(*numbers):
        made = right(*numbers)
        made.edges = [
            (of, lambda flow, e=edge: e(flow) * (1 + 2.0**-30)) for of, edge in made.edges
        ]
        return made

    monkeypatch.setattr(Noted, function, wrong)
    assert differing(computed(text))


@pytest.mark.parametrize(
    "text", ["merge(softmax(heads(F, 4) @ [[1, 1]] @ heads(F, 2).T) @ heads(F, 2))"]
)
@pytest.mark.parametrize("place", [0, 1])
def test_a_wrong_flow_through_a_product_is_caught(text, place, monkeypatch):
    """Either operand's, off by one part in 10^9."""
    right = evaluation._through_product

    def wrong(line, index, operands, gradient):
        rows = right(line, index, operands, gradient)
        return [[x * (1 + 2.0**-30) for x in row] for row in rows] if index == place else rows

    monkeypatch.setattr(evaluation, "_through_product", wrong)
    assert differing(computed(text))


def test_a_wrong_flow_through_weights_is_caught(monkeypatch):
    """Give to the scores all that flows to the weights."""
    monkeypatch.setattr(evaluation, "_through_weights", lambda weights, gradient: gradient)
    assert differing(computed("softmax(A)"))


@pytest.mark.parametrize("text", ["maximum(A, C)", "clip(A, -0.7, s)", "relu(A)", "min(A, axis=1)"])
def test_a_flow_to_a_number_that_is_not_the_greatest_is_caught(text, monkeypatch):
    """Give all that flows to the first of some numbers, whichever is the greatest."""

    def wrong(self, row, way, is_shared):
        made = greatest_of(self, row, way, is_shared)
        made.edges = [(x, lambda flow: flow) for x in row if isinstance(x, Noted)][:1]
        return made

    greatest_of = Noted.greatest_of
    monkeypatch.setattr(Noted, "greatest_of", wrong)
    assert differing(computed(text))
