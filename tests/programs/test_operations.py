"""Every operation has all its parts: a node, an entry in each arithmetic, a gradient, a
definition in the cross-check, a term for the audit, a line on the sheet."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from flint import arb

from symattn import formulas
from symattn.auditing.prints import Recomputation
from symattn.auditing.recipes import Recipes
from symattn.cases.case import make
from symattn.crosscheck.calls import FUNCTIONS as CROSSCHECKED
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.reading import Hidden
from symattn.programs import nodes
from symattn.programs.display import formula, names
from symattn.programs.floats import Floats
from symattn.programs.gradient import RULES
from symattn.programs.program import ancestors
from symattn.programs.running import Run
from symattn.sheets.presentation import Presentation
from symattn.sheets.walkthrough import sheet
from symattn.solution.entries import Entry
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict
from symattn.verification import verify

from ..machines import as_float, by_name, rows_of

GIVEN = {
    "P": [["1/2", 2, "7/4"], ["3/2", "5/4", 3]],
    "Q": [[1, "-1/3", 2], ["1/5", -2, "3/4"]],
    "v": ["1/2", -1, 2],
    "K": [[1, 0, 1], [1, 1, 0]],
    "c": "3/2",
}

#: A step for every function, operator and form of the grammar.
STEPS: dict[str, str] = {
    **{name: f"{name}(P)" for name in nodes.ELEMENTWISE},
    "softmax": "softmax(Q)",
    "causal": "exp(causal(Q))",
    "mask": "exp(mask(Q, K))",
    "concat": "concat(P, Q, P[:, 0:1])",
    "rowsum": "rowsum(P * Q)",
    "colsum": "colsum(P * Q)",
    "total": "total(P * Q)",
    "rows": "rows(P) * Q",
    "cols": "cols(P) * Q",
    "+": "P + v",
    "-": "P - c",
    "*": "P * Q",
    "/": "Q / P",
    "@": "P @ Q.T",
    "negative": "-P",
    "transpose": "P.T @ Q",
    "index": "P[1, ::-1] * Q[0]",
    "name": "P",
    "number": "P * 0.25",
}

#: Operations that are no function of a variable: nothing flows into them.
SOURCES = {"given", "constant", "table", "triangle"}
#: Operations that the gradient makes; a gradient is not differentiated again.
GRADIENT_ONLY = {"scatter", "spread"}


def operations():
    """All names of operations."""
    found = []
    waiting = list(get_args(nodes.Op))
    while waiting:
        one = waiting.pop()
        inner = get_args(one)
        if inner:
            waiting += inner
        else:
            found.append(one)
    return sorted(found)


def floats_of(rows):
    """Exact entries as floats."""
    return np.array([[as_float(entry) for entry in row] for row in rows])


def solved(step):
    """A walkthrough with one step, and the gradients with respect to all that it uses."""
    return Solution(make("one-step", GIVEN, {"y": step}))


def test_the_steps_are_all_that_the_grammar_knows():
    """No function is missing in the table, and no operation is out of its steps' reach."""
    assert set(nodes.FUNCTIONS) <= STEPS.keys()
    reached = set()
    for step in STEPS.values():
        program = solved(step).program
        targets = [program.quantities["y"], *program.gradients.values()]
        reached |= {node.op for node in ancestors(targets)}
    # Tables are made by statements (max, abs), not by steps.
    assert reached == set(operations()) - {"table"}


@pytest.mark.parametrize("op", operations())
def test_every_operation_has_a_backward_rule(op):
    """But those that nothing flows into, and those that only gradients contain."""
    assert (op in RULES) == (op not in SOURCES | GRADIENT_ONLY)


def test_the_cross_check_has_every_function():
    """By its own table; tests/crosscheck holds that each has definitions and formulas."""
    assert set(nodes.FUNCTIONS) <= set(CROSSCHECKED)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_each_part_computes_the_same(step):
    """Forward and backward: the cross-check holds; balls, floats and the audit's terms give the
    exact values again, and the sheet shows them worked."""
    solution = solved(step)
    program = solution.program
    near = {name: rows_of(data) for name, data in GIVEN.items()} | {"upstream": program.upstream}
    inputs = {
        name: np.ones(rows.grid) if name == "upstream" else floats_of(rows)
        for name, rows in near.items()
    }
    floats = Run(Floats(), by_name(inputs))
    verification = verify(solution)
    assert verification.verdict is Verdict.HOLDS
    assert verification.probed == verification.probes > 0
    recipes = Recipes(solution)
    presentation = Presentation(solution, 4)
    exactly = Recomputation(recipes, lambda *_: None)
    with precision(FIRST):
        for name, node in program.named.items():
            quantity = solution[name]
            worked = node.op not in ("given", "constant")
            for i, j in np.ndindex(node.grid):
                entry = quantity.entry(i, j)
                if isinstance(entry, Hidden):
                    assert floats[node][i, j] == -np.inf
                    continue
                assert floats[node][i, j] == pytest.approx(float(entry.ball(64)), rel=1e-12)
                ball = entry.ball(FIRST)
                assert ball.overlaps(Entry(quantity, i, j).ball(FIRST))
                term = recipes.work(node, i, j)
                assert ball.overlaps(exactly.value(term, 0).value), (name, i, j, term.key)
                assert not worked or formulas.latex(presentation.substituted(node, i, j))
            assert formulas.text(formula(node, names(program)))
    shown = str(sheet(solution, detail="full").blocks)
    differentiated = [program.gradients[name] for name in solution.case.wrt if name != "y"]
    for node in (*program.quantities.values(), *differentiated):
        assert repr(formulas.latex(names(program)[node.serial]))[1:-1] in shown


def test_terms_follow_the_numbers_not_the_exact_values():
    """A recomputation from one changed entry changes what depends on it, and nothing else."""
    recipes = Recipes(solved("softmax(Q) @ P.T"))
    node = recipes.nodes["y"]
    wrong = recipes.entry("P", 0, 1)
    changed = Recomputation(recipes, lambda term, *_: arb(5) if term is wrong else None)
    plain = Recomputation(recipes, lambda *_: None)
    with precision(FIRST):
        for i, j in np.ndindex(node.grid):
            ours, theirs = (x.value(recipes.work(node, i, j), 0) for x in (changed, plain))
            same = ours.value.overlaps(theirs.value)
            assert same == (j != 0)
