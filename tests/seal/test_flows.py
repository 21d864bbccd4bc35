"""Gradients of terms, compared with slopes of numbers: nothing of Coq is needed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from flint import arb, fmpq

from symattn.expressions.elementary import ELEMENTWISE
from symattn.numbers import values
from symattn.programs import nodes
from symattn.seal.bounds import precise
from symattn.seal.definitions import Definitions, Unstated
from symattn.seal.gradients import FLOW, LEMMAS, RESULT, Flows
from symattn.seal.terms import FUNCTIONS, Entry, value

X, Y = nodes.given("X", (3, 4)), nodes.given("Y", (3, 4))
ROW, COLUMN, ONE = nodes.given("r", (1, 4)), nodes.given("c", (3, 1)), nodes.given("o", (1, 1))
VECTOR = nodes.given("v", (4,))


def _pairs(op):
    return [nodes.elementwise(op, X, y) for y in (Y, ROW, COLUMN, ONE, VECTOR)] + [
        nodes.elementwise(op, ROW, x) for x in (X, COLUMN, VECTOR)
    ]


def _picked(*keys):
    node = nodes.index(X, keys)
    return node if node.op == "pick" else node.operands[0]


NODES = [
    *(node for op in ("add", "subtract", "multiply", "divide") for node in _pairs(op)),
    *(nodes.apply(name, X) for name in ELEMENTWISE if name in FUNCTIONS),
    nodes.copy(X), nodes.transpose(X), nodes.negate(X), nodes.shaped(ROW, (4,)),
    nodes.matmul(X, nodes.transpose(Y)), nodes.matmul(X, nodes.given("w", (4, 1))),
    nodes.matmul(ROW, nodes.given("W", (4, 2))), nodes.softmax(X), nodes.softmax(VECTOR),
    nodes.softmax(nodes.causal(X)), nodes.causal(X), nodes.rowsum(X), nodes.colsum(X),
    nodes.rowsum(ROW), nodes.total(X), nodes.total(VECTOR), nodes.concat((X, Y, COLUMN)),
    nodes.spread(COLUMN, (3, 4)), nodes.spread(ROW, (3, 4)), nodes.spread(ONE, (3, 4)),
    _picked(slice(1, 3), slice(0, 2)), _picked(1), _picked(slice(0, 1), 3),
    _picked(slice(None), slice(1, 4)),
]  # fmt: skip
STEP = fmpq(1, 10**12)


def _lower(node):
    """The entries of a triangle, for all that is given."""
    m, n = node.grid
    return [[values.ONE if j <= i else values.ZERO for j in range(n)] for i in range(m)]


def _entry(name, i, j):
    """Some number above 0 for each entry of each quantity."""
    return fmpq(1 + (7 * sum(map(ord, name)) + 5 * i + 3 * j + i * j) % 11, 4)


@pytest.mark.parametrize("node", NODES, ids=lambda node: f"{node!r}{[*node.operands]}")
def test_what_flows_back_is_the_slope(node) -> None:
    """Of the sum of all entries of a result, each times what flows into it: how it changes with
    one entry of an operand."""
    definitions = Definitions({}, _lower)
    flows = Flows(definitions)
    m, n = node.grid

    def keeps(condition, place):
        known: dict[str, Callable[..., bool]] = {
            "Nat.ltb": lambda i, j: i < j,
            "within": lambda f, k, i: f <= i < f + k,
        }
        return known.get(condition, lambda i, j: j <= i)(*place)

    def result(i, j, moved=None, by=0):
        def entry(of):
            own = _entry(of.name, *of.indices)
            return own + by if (of.name, of.indices) == moved else own

        made = definitions.made_of(node, i, j, lambda k, *at: Entry(f"{k}'", at))
        return value(made, {}, entry, keeps)

    def loss(moved, by):
        return sum(
            (
                arb(_entry(FLOW, i, j) * result(i, j, moved, by))
                for i, j in product(range(m), range(n))
            ),
            arb(0),
        )

    def known(of):
        return result(*of.indices) if of.name == RESULT else _entry(of.name, *of.indices)

    operands = node.operands[:1] if node.op == "hide" else node.operands
    for number, x in enumerate(operands):
        for i, j in product(range(x.grid[0]), range(x.grid[1])):
            moved = f"{number}'", (i, j)
            with precise():
                slope = (loss(moved, STEP) - loss(moved, -STEP)) / (2 * arb(STEP))
                flow = value(flows.skeleton(node, number, (i, j)), {}, known, keeps)
                assert abs(arb(flow) - slope) < 1e-9, moved


def test_all_operations_with_a_lemma_are_here() -> None:
    assert {node.op for node in NODES} == LEMMAS.keys()


def test_what_is_picked_in_steps_is_told() -> None:
    node = _picked(slice(None), slice(0, 4, 2))
    flows = Flows(Definitions({}, lambda node: ()))
    with pytest.raises(Unstated, match="picked in steps"):
        flows.skeleton(node, 0, (0, 0))
