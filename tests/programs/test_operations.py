"""Every operation has all its parts: a node, an entry in each arithmetic, a gradient, a
definition in the cross-check, a term for the audit, a line on the sheet."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from flint import arb

from symattn.auditing.search import PrintedRecomputation
from symattn.auditing.standard import Recipes
from symattn.cases.case import make
from symattn.crosscheck.calls import FUNCTIONS as CROSSCHECKED
from symattn.expressions import formulas, syntax
from symattn.expressions.elementary import ELEMENTWISE
from symattn.numbers.balls import FIRST, precision
from symattn.numbers.reading import Masked
from symattn.programs import nodes
from symattn.programs.backward import RULES
from symattn.programs.display import formula, names
from symattn.programs.enclosures import MOVES, FloatOperations
from symattn.programs.functions import FUNCTIONS
from symattn.programs.nodes import Run, ancestors
from symattn.sheets.case_sheet import sheet
from symattn.sheets.presentation import Presentation
from symattn.solution.entries import EntryValue
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict
from symattn.verification import verify

from ..machines import as_float, by_name, rows_of
from ..notation import in_latex

GIVEN = {
    "P": [["1/2", 2, "7/4"], ["3/2", "5/4", 3]],
    "Q": [[1, "-1/3", 2], ["1/5", -2, "3/4"]],
    "v": ["1/2", -1, 2],
    "K": [[1, 0, 1], [1, 1, 0]],
    "c": "3/2",
    "R": [[1, 2, "1/2", -1], [0, 1, 3, "1/4"]],
    "i": [0, 1],
}

#: Steps for every function, operator and form of the grammar.
STEPS: dict[str, str] = {
    **{name: f"{name}(P)" for name in ELEMENTWISE},
    "sigmoid": "sigmoid(Q)",
    "silu": "silu(Q)",
    "softplus": "softplus(Q)",
    "gelu": "gelu(Q)",
    "gelu, tanh": 'gelu(Q, approximate="tanh")',
    "relu": "relu(Q)",
    "abs": "abs(Q)",
    "sign": "sign(Q) * P",
    "maximum": "maximum(P, Q * 2)",
    "minimum": "minimum(P, v)",
    "clip": "clip(Q, -1, c)",
    "where": "where(Q > 0, P, Q)",
    "where, hidden": "exp(where(K == 1, Q, -inf))",
    "comparisons": "(P >= 2) * (Q < 1) * (P <= 3) * (Q != 2) * P",
    "power": "P**3 + Q**-2 + P**0.5",
    "softmax": "softmax(Q)",
    "softmax, columns": "softmax(Q, axis=0)",
    "softmax, sink": "softmax(Q, sink=c)",
    "log_softmax": "log_softmax(Q)",
    "logsumexp": "logsumexp(Q) * logsumexp(v) * logsumexp(Q, axis=0)",
    "entropy": "entropy(softmax(causal(Q)))",
    "sum": "sum(Q, axis=0) * sum(Q) * sum(v)",
    "mean": "mean(Q, axis=1) * mean(Q)",
    "var": "var(Q, axis=1, ddof=1) * var(v)",
    "std": "std(Q, axis=0) + std(P)",
    "max": "max(Q, axis=1) * max(Q) * max(v)",
    "min": "min(Q, axis=0) + min(P)",
    "rowmax": "rowmax(causal(Q)) * rowmax(K)",
    "rowmin": "rowmin(Q)",
    "cumsum": "cumsum(Q) * cumsum(P, axis=0)",
    "layernorm": "layernorm(Q, v, P[0], eps=1e-5)",
    "layernorm, plain": "layernorm(Q, eps=c)",
    "rmsnorm": "rmsnorm(Q, v, eps=1e-5)",
    "norm": "norm(Q, axis=1) * norm(v)",
    "l2norm": "l2norm(P)",
    "concat": "concat(P, Q, P[:, 0:1])",
    "concat, below": "concat(P, v, Q, axis=0)",
    "stack": "stack(v, P[0], v)",
    "reshape": "reshape(P, 3, 2) @ reshape(Q, 2, 3) + total(reshape(P, 6))",
    "outer": "outer(v, P[0])",
    "diag": "diag(v) * diag(P @ Q.T)[0]",
    "repeat": "total(repeat(P, 2) @ v) + repeat(P, 2, axis=1) @ repeat(v, 2)",
    "eye": "eye(3) @ P.T",
    "zeros": "zeros(2, 3) + P",
    "ones": "ones(3) * P + ones(2, 3)",
    "head": "head(R, 1, 2)",
    "onehot": "onehot(i, 3) * P",
    "embedding": "embedding(i, Q)",
    "positions": "positions(2, 4) @ positions(rows(P), 4, base=100).T @ P",
    "causal": "exp(causal(Q))",
    "causal, bottom-right": 'exp(causal(Q, align="bottom-right"))',
    "mask": "exp(mask(Q, K))",
    "window": "exp(window(Q, 1, 1))",
    "padding": "exp(padding(Q, 2))",
    "alibi": "alibi(Q, c)",
    "softcap": "softcap(Q, c)",
    "additive": "additive(P, Q, v)",
    "rope": "rope(R, positions=[2, 5], base=100)",
    "rope, halves": "rope(R, interleaved=False)",
    "cross_entropy": "cross_entropy(Q, i, label_smoothing=1/10)",
    "cross_entropy, shares": "cross_entropy(Q, softmax(P)) * cross_entropy(v, i[0])",
    "nll": "nll(log_softmax(Q), i)",
    "binary_cross_entropy": "binary_cross_entropy(sigmoid(Q), K)",
    "mse": "mse(P, Q)",
    "rowsum": "rowsum(P * Q)",
    "colsum": "colsum(P * Q)",
    "total": "total(P * Q)",
    "rows": "rows(P) * Q",
    "cols": "cols(P) * Q",
    "pi": "pi * Q",
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


@pytest.mark.heavy
def test_the_steps_are_all_that_the_grammar_knows():
    """No function is missing in the table, and no operation is out of its steps' reach."""
    assert set(FUNCTIONS) <= {name.partition(",")[0] for name in STEPS}
    reached = set()
    for step in STEPS.values():
        program = solved(step).program
        targets = [program.quantities["y"], *program.gradients.values()]
        reached |= {node.op for node in ancestors(targets)}
    assert reached == set(operations())


@pytest.mark.parametrize("op", operations())
def test_every_operation_has_a_backward_rule(op):
    """But those that are no function of a variable: nothing flows into them."""
    assert (op in RULES) == (op not in nodes.SOURCES)


def test_what_only_moves_entries_is_told_once():
    """Floats, pairs of floats and balls move them alike."""
    assert {*MOVES} == {*nodes.MOVING}


def test_the_cross_check_has_every_function():
    """By its own table; tests/crosscheck holds that each has definitions and formulas."""
    assert set(FUNCTIONS) <= set(CROSSCHECKED)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_told(name):
    """In a line, with its signature; and what its gradient is where it has a kink."""
    function = FUNCTIONS[name]
    assert function.signature.startswith(f"{name}(")
    assert function.summary.endswith(".")
    node = solved(STEPS[next(step for step in STEPS if step.partition(",")[0] == name)])
    ops = {one.op for one in ancestors([node.program.quantities["y"]])}
    assert bool(function.kink) >= (name in ("relu", "abs", "maximum", "max", "rowmax"))
    assert not function.kink or ops & {"maximum", "above", "rowmax"}


@pytest.mark.sampled(2, 33)
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
    floats = Run(FloatOperations(), by_name(inputs))
    verification = verify(solution)
    # SymPy may leave open what is beyond the field, such as tanh of a root of 2/pi.
    assert {check.verdict for check in verification.checks} == {Verdict.HOLDS}
    assert verification.verdict is Verdict.HOLDS or "tanh" in step
    # Beside a kink there is nothing to probe.
    assert 0 < verification.probed <= verification.probes
    assert verification.probed == verification.probes or "max" in step or "min" in step
    recipes = Recipes(solution)
    presentation = Presentation(solution, 4)
    exactly = PrintedRecomputation(recipes, lambda *_: None)
    with precision(FIRST):
        for name, node in program.named.items():
            quantity = solution[name]
            worked = node.op not in ("given", "constant")
            for i, j in np.ndindex(node.grid):
                entry = quantity.entry(i, j)
                if isinstance(entry, Masked):
                    assert floats[node][i, j] == -np.inf
                    continue
                assert floats[node][i, j] == pytest.approx(float(entry.ball(64)), rel=1e-12)
                ball = entry.ball(FIRST)
                assert ball.overlaps(EntryValue(quantity, i, j).ball(FIRST))
                term = work(recipes, node, i, j)
                assert ball.overlaps(exactly.value(term, 0).value), (name, i, j, term.key)
                written = presentation.worked.by_name(node, i, j)
                assert written is not None
                assert not worked or formulas.latex(written)
            assert syntax.shown(formula(node, names(program)))
    shown = str(in_latex(sheet(solution, detail="full").blocks))
    differentiated = [program.gradients[name] for name in solution.case.wrt if name != "y"]
    for node in (*program.quantities.values(), *differentiated):
        assert repr(formulas.latex(names(program)[node.serial]))[1:-1] in shown


def work(recipes, node, i, j):
    """Return what an entry is computed as, though it has a name; an input is itself."""
    name = recipes.names.get(node.serial)
    terms = recipes.definitions(name, i, j) if name else ()
    return terms[0] if terms else recipes.at(node, i, j)


def test_terms_follow_the_numbers_not_the_exact_values():
    """A recomputation from one changed entry changes what depends on it, and nothing else."""
    recipes = Recipes(solved("softmax(Q) @ P.T"))
    node = recipes.nodes["y"]
    wrong = recipes.entry("P", 0, 1)
    changed = PrintedRecomputation(recipes, lambda term, *_: arb(5) if term is wrong else None)
    plain = PrintedRecomputation(recipes, lambda *_: None)
    with precision(FIRST):
        for i, j in np.ndindex(node.grid):
            ours, theirs = (x.value(work(recipes, node, i, j), 0) for x in (changed, plain))
            same = ours.value.overlaps(theirs.value)
            assert same == (j != 0)
