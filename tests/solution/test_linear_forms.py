"""Gradients with symbols in them: their coefficients are gradients too, whatever the size."""

from __future__ import annotations

from decimal import Decimal

import pytest
from flint import ctx

from symattn import Malformed, Verdict
from symattn.cases.case import make, with_upstream
from symattn.numbers.lazy import LazyExpression
from symattn.numbers.reading import Masked
from symattn.programs.enclosures import BallMatrices
from symattn.programs.entrywise import Entrywise
from symattn.programs.nodes import ancestors
from symattn.solution.solution import Solution

GIVEN = {"Q": [["1/2", 1], [0, "-1/3"]], "K": [[1, 2], ["1/5", 0]], "V": [[1, 0], [3, "1/7"]]}
STEPS = {"S": "Q @ K.T", "A": "softmax(S)", "Y": "A @ V"}
UPSTREAM = [["g1 + 2*g2 - 1", "1/2"], [0, "g2/3"]]
#: The same upstream gradient's constant, and the coefficients of its symbols.
PARTS = {"1": [[-1, "1/2"], [0, 0]], "g1": [[1, 0], [0, 0]], "g2": [[2, 0], [0, "1/3"]]}


def solved(upstream: object = UPSTREAM) -> Solution:
    return Solution(make("t", GIVEN, STEPS, {"output": "Y", "upstream": upstream}))


#: Linear expressions over gradients.
LINEAR = [
    "grad(Q)", "dL/dK", "dV", "grad(S).T", "-grad(Q)", "grad(Q) + grad(K)", "2 * grad(S)",
    "grad(S) - grad(A)", "grad(Q) @ K.T", "A @ grad(V)", "grad(Q) / 3", "rowsum(grad(Q))",
    "colsum(grad(Q))", "total(grad(Q))", "grad(Q)[1]", "grad(K)[:, 0]", "Q * grad(Q)",
    "concat(grad(Q), grad(K))", "grad(Y)", "grad(Q)[0] - grad(Q)[1]",
]  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("text", LINEAR)
def test_coefficients_are_what_their_own_upstream_gradient_gives(text):
    """Of every linear expression over gradients, exactly and in digits."""
    found = solved()[text]
    assert found.letters == ("g1", "g2")
    for symbol, upstream in PARTS.items():
        alone = solved(upstream)[text]
        part = found.coefficient(symbol)
        assert part.shape == alone.shape
        assert part.equals(alone) is Verdict.HOLDS
        assert part.decimal(9) == alone.decimal(9)
        assert part.nearest().tolist() == alone.nearest().tolist()
        # By the entry's closed form, which goes another way.
        rows, columns = found.grid
        for i in range(rows):
            for j in range(columns):
                value = found.entry(i, j)
                assert not isinstance(value, Masked)
                key = None if symbol == "1" else symbol
                assert value.coefficient(key) == alone.entry(i, j)
    assert found.name in part.name


@pytest.mark.parametrize("text", LINEAR)
def test_coefficients_need_no_closed_form(text, monkeypatch):
    """They are runs of the gradient, in balls."""
    found = solved()[text]
    # Reading the upstream gradient's own entries may ask for theirs.
    for symbol in PARTS:
        found.coefficient(symbol).decimal(1)

    def forbidden(*_):
        raise AssertionError("a closed form was asked for")

    monkeypatch.setattr(LazyExpression, "form", forbidden)
    for symbol in PARTS:
        part = found.coefficient(symbol)
        assert part.nearest().shape == found.shape
        assert part.name == f"{found.name} [{symbol}]"


def test_coefficients_are_rounded_as_the_case_declares():
    """In its mode, and six significant digits unless told."""
    case = make("t", GIVEN, STEPS, {"output": "Y", "upstream": UPSTREAM}, rounding="up")
    found = Solution(case)["dL/dY"]
    assert found.decimal(1)[1][1] == "0.4*g2"
    assert found.coefficient("g2").significant()[1][1] == Decimal("0.333334")
    beside = Solution(case)["grad(Y) + Y"].coefficient("g2")
    assert beside.name == "grad(Y) + Y [g2]"
    assert beside.decimal(1)[1][1] == Decimal("0.4")


@pytest.mark.parametrize("text", ["grad(Q) + Q", "concat(Q, grad(Q))", "grad(S) * A - 1"])
def test_what_stands_beside_a_gradient_is_the_constant(text):
    """Coefficients of the symbols leave it out, the constant has it."""
    found = solved()[text]
    nothing = solved([[0, 0], [0, 0]])[text]
    for symbol, upstream in PARTS.items():
        alone = solved(upstream)[text]
        part = found.coefficient(symbol)
        for i, row in enumerate(part.rows):
            for j, value in enumerate(row):
                whole, rest = alone.entry(i, j), nothing.entry(i, j)
                assert not isinstance(whole, Masked)
                assert not isinstance(rest, Masked)
                assert value == (whole if symbol == "1" else whole - rest)


@pytest.mark.parametrize("text", ["grad(Q) * grad(Q)", "1 / grad(S)", "grad(Q) @ grad(K).T"])
def test_what_is_not_linear_has_no_coefficients(text):
    """Products and quotients of gradients."""
    with pytest.raises(Malformed, match="is not linear in its symbols"):
        solved()[text].coefficient("g1").entry(0, 0)


def test_the_forward_pass_is_computed_once(monkeypatch):
    """Coefficients and other upstream gradients take it over."""
    computed: list[tuple[type, int, int]] = []
    for arithmetic in (Entrywise, BallMatrices):
        right = arithmetic.apply

        def watched(self, node, operands, right=right):
            computed.append((type(self), ctx.prec, node.serial))
            return right(self, node, operands)

        monkeypatch.setattr(arithmetic, "apply", watched)
    base = solved()
    other = Solution(with_upstream(base.case, None), forward=base)
    forward = {node.serial for node in ancestors([base.program.quantities["Y"]])}
    for found in (base["Y"], base["dL/dQ"], other["dL/dV"], base["dL/dK"]):
        assert found.decimal(3)
        assert found.rows
    again = [each for each in computed if each[2] in forward]
    assert len(again) == len(set(again)) > len(STEPS)


def test_symbols_that_do_not_reach_an_entry_do_not_occur_in_it():
    """Of a gradient's entries, and of the gradient as a whole."""
    found = solved([["g1", 0], [0, "g2"]])["dL/dQ"]
    assert found.symbols == ("g1", "g2")
    assert found[0].symbols == ("g1",)
    assert found[1].symbols == ("g2",)
    assert solved([["g1", "g1"], [0, 0]])["dL/dV"][0, 0].symbols == ("g1",)
    assert solved([["g1", 0], [0, 0]])["dL/dQ"][1].symbols == ()
    assert solved([["g1", 0], [0, 0]])["dL/dQ"][1].decimal(2) == (0, 0)


def test_rounded_forms():
    """Coefficient by coefficient, zeros left out."""
    found = solved()["dL/dY"]
    assert found.decimal(2)[0] == ("-1.00 + 1.00*g1 + 2.00*g2", found.decimal(2)[0][1])
    assert str(found.decimal(2)[1][0]) == "0.00"
    assert found.significant(3)[1][1] == "0.333*g2"
