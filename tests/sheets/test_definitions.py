"""The formulas that sheets make of the definitions of the cross-check."""

from __future__ import annotations

import ast
import inspect
import math
import random
import re

import pytest

from symattn.crosscheck import definitions
from symattn.crosscheck.evaluation import flow as flow_by_chain_rule
from symattn.crosscheck.evaluation import run
from symattn.crosscheck.lines import TapeLine
from symattn.crosscheck.scalars import Tracked
from symattn.expressions import typesetting as t
from symattn.sheets.definitions import equation, flow


def latex(name: str) -> str:
    """A definition in its own letters."""
    return t.latex(equation(name, {}, {}))


@pytest.mark.parametrize("name", definitions.names())
def test_formulas_have_no_leftovers(name):
    """Every formula is an equation in symbols: no function call, no Python name."""
    formula = latex(name)
    left, _, right = formula.partition(" = ")
    assert left
    assert right
    braces = formula.replace(r"\{", "")
    assert braces.count("{") == braces.count("}")
    for leftover in ("mathrm{inf", "mathrm{d", "range", "sum(", "[", "]"):
        assert leftover not in formula


ENTRY = r"(?:\\?[A-Za-z]+(?:_\{[ijkc](?:,[ijkc])?\})?)"


@pytest.mark.parametrize("name", definitions.names())
def test_what_a_formula_defines_is_one_entry(name):
    """At the indices that the definition takes, and no others."""
    left = latex(name).partition(" = ")[0]
    assert re.fullmatch(ENTRY, left)
    shown = {letter for keys in re.findall(r"_\{(.*?)\}", left) for letter in keys.split(",")}
    parameters = inspect.signature(definitions.definition(name)).parameters
    indices = {key for key, kind in parameters.items() if kind.annotation == "int"}
    assert shown == indices & set(definitions.INDICES)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("softmax", r"A_{i,j} = \frac{\exp\,S_{i,j}}{Z_{i}}"),
        ("scaled_score", r"T_{i,j} = \frac{S_{i,j}}{\sqrt{d}}"),
        ("score", r"S_{i,j} = \sum_{c = 0}^{d - 1} Q_{i,c}K_{j,c}"),
        (
            "variance",
            r"C_{i} = \frac{\sum_{j = 0}^{d - 1} \mathopen{}\left(A_{i,j} - \mu_{i}"
            r"\mathclose{}\right)^{2}}{d - a}",
        ),
        ("angle", r"\theta_{i,c} = \frac{p_{i}}{b^{\frac{2c}{d}}}"),
        ("repeat", r"C_{i,j} = A_{\left\lfloor\frac{i}{a}\right\rfloor,j}"),
        ("cumulative", r"C_{i,j} = \sum_{k = 0}^{j} A_{i,k}"),
        (
            "causal",
            r"T_{i,j} = \left\{ \begin{array}{ll} S_{i,j}, & \mathrm{if}\ j \le i \\ "
            r"-\infty, & \mathrm{otherwise} \end{array} \right.",
        ),
    ],
)
def test_formula(name, formula):
    """The formulas that sheets use most, letter by letter."""
    assert latex(name) == formula


FLOWS = {
    ("product", "A"): "sum((G[i][j] * B[k][j] for j in range(m)))",
    ("product", "B"): "sum((A[i][k] * G[i][j] for i in range(n)))",
    ("score", "Q"): "sum((G[i][j] * K[j][c] for j in range(m)))",
    ("score", "K"): "sum((G[i][j] * Q[i][c] for i in range(n)))",
    ("scaled_score", "S"): "G[i][j] / sqrt(d)",
    ("causal", "S"): "G[i][j] if j <= i else 0",
    ("mask", "S"): "G[i][j] if M[i][j] == 1 else 0",
    ("where", "Y"): "0 if M[i][j] != 0 else G[i][j]",
    ("outer", "u"): "sum((G[i][j] * v[j] for j in range(m)))",
    ("softmax", "S"): "A[i][j] * (G[i][j] - sum((A[i][k] * G[i][k] for k in range(m))))",
}
"""The gradient by an operand, of its indices in their order."""


@pytest.mark.parametrize(("name", "operand"), FLOWS)
def test_what_flows_into_an_operand(name, operand):
    """The formula, and its entries beside those of the chain rule."""
    derived = flow(name, operand)
    assert derived is not None
    indices, entry = derived
    assert ast.unparse(entry) == FLOWS[name, operand]
    rng, n, d, m = random.Random(name), 2, 3, 4
    shapes = {
        "product": [(n, d), (d, m)], "score": [(n, d), (m, d)], "scaled_score": [(n, m), (1, 1)],
        "outer": [(1, n), (1, m)], "mask": [(n, m)] * 2, "where": [(n, m)] * 3,
    }.get(name, [(n, m)])  # fmt: skip
    operands = [
        [[rng.uniform(0.1, 2) for _ in range(columns)] for _ in range(rows)]
        for rows, columns in shapes
    ]
    kinds = [definitions.parameters(name)[x] for x in definitions.operands(name)]
    for k, kind in enumerate(kinds):
        if kind == "Mask":
            operands[k] = [[float(rng.randrange(2)) for _ in row] for row in operands[k]]
    known = [[[Tracked(x) for x in row] for row in rows] for rows in operands]
    line = TapeLine(name, tuple(range(len(operands))), (n, m), "steps.y")
    arriving = [[rng.uniform(-1, 1) for _ in range(m)] for _ in range(n)]
    place = definitions.operands(name).index(operand)
    wanted = flow_by_chain_rule(line, place, operands, arriving, known)
    assert wanted is not None
    taken = {
        "Scalar": lambda rows: rows[0][0],
        "Row": lambda rows: rows[0],
    }
    letters = {
        x: taken.get(kind, lambda rows: rows)(rows)
        for x, kind, rows in zip(definitions.operands(name), kinds, operands, strict=True)
    }
    names = {"G": arriving, "A": run(line, operands, known), "n": n, "m": m, "sqrt": math.sqrt}
    code = compile(ast.fix_missing_locations(ast.Expression(entry)), name, "eval")
    height, width = shapes[place]
    for row in range(height):
        for column in range(width):
            at = (row, column) if len(indices) == 2 else (column,)
            found = eval(code, {**names, **letters, **dict(zip(indices, at, strict=True))})
            assert found == pytest.approx(wanted[row][column])


@pytest.mark.parametrize(
    ("name", "operand"),
    [
        ("exponential", "A"), ("silu", "A"), ("power", "A"), ("quotient", "B"), ("rope", "X"),
        ("reshape", "A"), ("rowsum", "B"), ("scaled_score", "d"), ("addition", "A"),
    ],
)  # fmt: skip
def test_what_is_not_linear_has_no_formula(name, operand):
    """Nothing is derived where the operand stands alone, twice, below or within a function."""
    assert flow(name, operand) is None
