"""One graph: equal parts are one node, and every node has the value that it had."""

from __future__ import annotations

import numpy as np
import pytest

from symattn.cases.case import make
from symattn.programs.enclosures import FloatOperations
from symattn.programs.nodes import Run
from symattn.slips.graph import Graph
from symattn.solution.solution import Solution

from .papers import GIVEN, LOSS, STEPS


@pytest.fixture(scope="module")
def program():
    """The standard program with its gradients."""
    return Solution(make("graph", GIVEN, STEPS, LOSS))


def place(graph, solution, text, *at):
    """Where an entry of an expression stands in the graph."""
    node = solution.program.lower(text)
    return graph.place(graph[node], *at)


@pytest.mark.parametrize(
    ("one", "at", "other", "there"),
    [
        ("exp(M[1])[1]", (0, 0), "exp(M)", (1, 1)),
        ("softmax(M[2])", (0, 1), "softmax(M)", (2, 1)),
        ("total(exp(M[3]))", (0, 0), "rowsum(exp(M))", (3, 0)),
        ("Q[2] @ K[1]", (0, 0), "Q @ K.T", (2, 1)),
        ("K @ Q.T", (1, 2), "Q @ K.T", (2, 1)),
        ("(A @ V).T", (3, 1), "Y", (1, 3)),
        ("S + 0", (2, 3), "S", (2, 3)),
        ("1 * S", (2, 3), "S", (2, 3)),
        ("S / 1", (2, 3), "S", (2, 3)),
        ("-(-S)", (2, 3), "S", (2, 3)),
        ("S * d_k", (1, 1), "d_k * S", (1, 1)),
        ("T[1:3][1]", (0, 2), "T", (2, 2)),
        ("T[::-1][0]", (0, 2), "T", (3, 2)),
        ("(S / sqrt(d_k))[1, 2]", (0, 0), "T", (1, 2)),
        ("exp(M)[1] / total(exp(M[1]))", (0, 1), "A", (1, 1)),
        ("dL/dS.T @ Q", (1, 2), "dL/dK", (1, 2)),
    ],
)
def test_equal_parts_are_one(program, one, at, other, there) -> None:
    """Indices are taken last, sums and products have one order, what changes nothing is gone."""
    graph = Graph()
    for node in program.program.named.values():
        graph[node]
    assert place(graph, program, one, *at) == place(graph, program, other, *there)


@pytest.mark.parametrize(
    ("one", "other"), [("Q @ K.T", "Q @ V.T"), ("S - T", "T - S"), ("S / d_k", "d_k / S")]
)
def test_what_differs_stays_apart(program, one, other) -> None:
    """No two values share a node."""
    graph = Graph()
    assert place(graph, program, one, 0, 1) != place(graph, program, other, 0, 1)


@pytest.mark.parametrize(
    "text",
    [
        *STEPS, *(f"dL/d{name}" for name in ("Q", "K", "V", "S")), "softmax(T[1:, ::2])",
        "concat(Q, K)[1]", "(Q @ K.T)[::-1, 1:]", "exp(S)[1:] / rowsum(exp(S))[1:]",
        "colsum(A)", "total(A * A)", "A[2] @ V", "V.T @ A[1]", "log(exp(T[0]) + 1)",
    ],
)  # fmt: skip
def test_a_node_in_its_form_has_its_value(program, text) -> None:
    """By NumPy, of the node as it was written and as it stands in the graph."""
    node = program.program.lower(text)
    inputs = {
        program.program.quantities[name].serial: rows for name, rows in program.case.given.items()
    }
    inputs[program.program.upstream.serial] = program.case.upstream

    def leaf(one):
        rows = inputs.get(one.serial)
        return rows and np.array([[float(x.ball(64)) for x in row] for row in rows])

    graph = Graph()
    with np.errstate(all="ignore"):
        before, after = (
            Run(FloatOperations(), leaf)[node],
            Run(FloatOperations(), leaf)[graph[node]],
        )
    np.testing.assert_allclose(after, before, rtol=1e-12)
    made = graph[node]
    for i, j in np.ndindex(*node.grid):
        inner, a, b = graph.place(made, i, j)
        assert Run(FloatOperations(), leaf)[inner][a, b] == pytest.approx(before[i, j], rel=1e-12)


def test_many_alternatives_are_run_at_once(program) -> None:
    """Each of a stack of matrices gives what it gives alone."""
    random = np.random.default_rng(5)
    floats = FloatOperations()
    given = {"S": random.normal(size=(6, 4, 4)), "V": random.normal(size=(4, 4))}
    for text in ("softmax(S) @ V", "concat(S, V)", "S[1:, ::2].T", "colsum(S)", "total(S * V)"):
        node = program.program.lower(text)
        serials = {program.program.quantities[name].serial: name for name in given}

        def run(of, node=node, serials=serials):
            found = Run(floats, lambda x: of[serials[x.serial]] if x.serial in serials else None)
            return found[node]

        many = run(given)
        for k in range(6):
            np.testing.assert_allclose(many[k], run({**given, "S": given["S"][k]}))
