"""The table of backward rules agrees with complex steps and with the derivations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp

from symattn.errors import Malformed
from symattn.proofs import THEORY
from symattn.proofs.numeric import gradient, softmax
from symattn.verdicts import Verdict

from .derived import RULES

KEEP = [[1, 0, 1], [1, 1, 0]]

CASES: dict[str, tuple[tuple[tuple[int, ...], ...], dict[str, Any], Callable[..., Any]]] = {
    "matmul": (((2, 3), (3, 4)), {}, lambda a, b: a @ b),
    "matmul with a row": (((3,), (3, 2)), {}, lambda a, b: a @ b),
    "matmul with a column": (((2, 3), (3,)), {}, lambda a, b: a @ b),
    "matmul of vectors": (((3,), (3,)), {}, lambda a, b: a @ b),
    "add": (((2, 3), (3,)), {}, lambda a, b: a + b),
    "sub": (((2, 3), (2, 1)), {}, lambda a, b: a - b),
    "mul": (((2, 3), ()), {}, lambda a, b: a * b),
    "div": (((2, 3), (2, 1)), {}, lambda a, b: a / b),
    "neg": (((2, 3),), {}, lambda a: -a),
    "transpose": (((2, 3),), {}, lambda a: a.T),
    "sqrt": (((2, 3),), {}, np.sqrt),
    "exp": (((2, 3),), {}, np.exp),
    "log": (((2, 3),), {}, np.log),
    "tanh": (((2, 3),), {}, np.tanh),
    "softmax": (((2, 3),), {}, softmax),
    "softmax of a row": (((4,),), {}, softmax),
    "mask": (((2, 3),), {"keep": KEEP}, lambda a: np.where(np.array(KEEP) > 0, a, 0)),
    "causal": (((2, 3),), {}, lambda a: np.where(np.tri(2, 3) > 0, a, 0)),
    "rowsum": (((2, 3),), {}, lambda a: a.sum(axis=1, keepdims=True)),
    "colsum": (((2, 3),), {}, lambda a: a.sum(axis=0, keepdims=True)),
    "total": (((2, 3),), {}, lambda a: a.sum()),
    "concat": (((2, 3), (2, 1)), {}, lambda a, b: np.concatenate((a, b), axis=1)),
    "index": (((3, 4),), {"key": (slice(0, 3, 2), slice(1, 3))}, lambda a: a[0:3:2, 1:3]),
}


def drawn(entries, random):
    """Random positive numbers in place of symbols, and what they stand for."""
    values = random.uniform(0.5, 1.5, size=entries.shape)
    return values, dict(zip(entries.flat, map(sp.Float, values.flat), strict=True))


def at(entries, given):
    found = [float(entry.xreplace(given)) for entry in entries.flat]
    return np.array(found).reshape(entries.shape)


@pytest.mark.parametrize("label", CASES)
def test_rules_agree_with_complex_steps(label):
    """Each operand's gradient, at rectangular shapes and with broadcasting."""
    shapes, options, function = CASES[label]
    rule = RULES[label.split()[0]](*shapes, **options)
    random = np.random.default_rng(1)
    drawings = [drawn(operand, random) for operand in rule.operands]
    upstream, given = drawn(rule.upstream, random)
    values = [value for value, _ in drawings]
    for _, part in drawings:
        given |= part
    for place, found in enumerate(rule.gradients):

        def loss(x, place=place):
            return np.sum(upstream * function(*values[:place], x, *values[place + 1 :]))

        assert at(found, given) == pytest.approx(gradient(loss, values[place]), rel=1e-12)


def test_every_rule_is_tried():
    """No operation of the table is without a case."""
    assert {label.split()[0] for label in CASES} == set(RULES)


def test_rules_are_those_of_the_derivations():
    """softmax-backward, and dV = A^T dY, dA = dY V^T, are the table's rules."""
    random = np.random.default_rng(2)
    rule = RULES["softmax"]((2, 3))
    S, given = drawn(rule.operands[0], random)
    dA, more = drawn(rule.upstream, random)
    own = THEORY["softmax-backward"].values("dS", {"A": softmax(S), "dA": dA})["dS"]
    assert at(rule.gradients[0], given | more) == pytest.approx(own)

    rule = RULES["matmul"]((2, 3), (3, 4))
    A, given = drawn(rule.operands[0], random)
    V, more = drawn(rule.operands[1], random)
    dY, most = drawn(rule.upstream, random)
    both = THEORY["attention-gradients"].values("dV dA", {"A": A, "V": V, "dY": dY})
    for name, found in zip(("dA", "dV"), rule.gradients, strict=True):
        assert at(found, given | more | most) == pytest.approx(both[name])


def test_compare_tells_right_from_wrong():
    """The same gradients written otherwise hold; a lost term or scale is refuted."""
    rule = RULES["softmax"]((1, 3))
    (x,), g = rule.operands, rule.upstream
    powers = np.array([[sp.exp(one) for one in x[0]]], dtype=object)
    A = powers / powers.sum()
    right = A * (g - (A * g).sum())
    assert rule.compare([right]) is Verdict.HOLDS
    assert rule.compare([A * g]) is Verdict.REFUTED
    assert rule.compare([2 * right]) is Verdict.REFUTED
    root = RULES["sqrt"]((1,))
    assert root.compare([root.upstream / (2 * np.array([sp.sqrt(root.operands[0][0])]))]) is (
        Verdict.HOLDS
    )


def test_compare_wants_the_operands_shapes():
    """A gradient for each operand, in its shape."""
    rule = RULES["matmul"]((2, 3), (3, 1))
    with pytest.raises(Malformed, match="expected 2 gradients, found 1"):
        rule.compare([rule.gradients[0]])
    with pytest.raises(Malformed, match=r"gradient 0: expected shape \(2, 3\), found \(3, 2\)"):
        rule.compare([rule.gradients[0].T, rule.gradients[1]])
