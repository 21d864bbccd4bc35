"""The Maxima code of programs, run by Maxima and held against exact values."""

from __future__ import annotations

import random
from typing import get_args

import pytest

from symattn.cases import library
from symattn.cases.case import Case, make, with_numbers
from symattn.errors import Malformed
from symattn.exercises.stack import function, helpers, matrix, number
from symattn.numbers.reading import read
from symattn.numbers.rows import read_rows
from symattn.numbers.values import ONE
from symattn.programs.nodes import Node, Op, ancestors
from symattn.solution.solution import solve

from ..programs.test_arithmetics import FORMS, SCORES
from .maxima_runs import answers, ask, needs_maxima

pytestmark = pytest.mark.heavy

BUNDLED = library.names()


def with_upstream_numbers(case: Case) -> Case:
    """The case, its symbols replaced by numbers."""
    if not case.symbols:
        return case
    rows = [
        [1 + (3 * i + 2 * j) % 5 for j in range(len(row))] for i, row in enumerate(case.upstream)
    ]
    return with_numbers(case, case.raw, rows)


def asked(case: Case) -> list[str]:
    """Statements that ask whether every quantity and gradient of a case is what it is."""
    program = case.program
    given = dict(case.given) | {"upstream": case.upstream}
    nodes = {name: program.quantities[name] for name in case.given}
    assert program.upstream is not None
    nodes["upstream"] = program.upstream
    known = {node.serial: f"v_{name}" for name, node in nodes.items()}
    code = [f"v_{name}: {matrix(rows)}" for name, rows in given.items()]
    solution = solve(case)
    checks = []
    for k, (name, node) in enumerate(program.named.items()):
        code.append(function(f"f_{k}", node, known, []))
        exact = matrix(read_rows(rounded(solution[name]))[1])
        checks.append(ask(f"sa_close(f_{k}(), {exact}, 1.0e-9)"))
    return [*helpers([*code, *checks]), *code, *checks]


def rounded(quantity):
    """Its entries to ten places, masked scores as text."""
    found = quantity.decimal(10)
    rows = found if len(quantity.shape) == 2 else [found] if quantity.shape else [[found]]
    return [["-inf" if x.is_infinite() else x for x in row] for row in rows]


@needs_maxima
def test_bundled_walkthroughs():
    """Every step and every gradient of each is what it is exactly."""
    cases = [with_upstream_numbers(library.load(name)) for name in BUNDLED]
    said = answers(line for case in cases for line in asked(case))
    assert len(said) > 150
    assert set(said) == {"true"}


def drawn(chance, rows, columns):
    return [[f"{chance.randint(-6, 6)}/{chance.randint(3, 5)}" for _ in range(columns)]
            for _ in range(rows)]  # fmt: skip


def drawn_case(seed, weights, output):
    """A walkthrough of drawn sizes and numbers, with every form of mask and index."""
    chance = random.Random(seed)
    n, m, d, v = (chance.randint(1, 3) for _ in range(4))
    keep = [[1, *(chance.randint(0, 1) for _ in range(m - 1))] for _ in range(n)]
    given = {
        "Q": drawn(chance, n, d), "K": drawn(chance, m, d), "V": drawn(chance, m, v),
        "w": drawn(chance, 1, d)[0], "b": drawn(chance, 1, m), "d": d, "M": keep,
    }  # fmt: skip
    return make("drawn", given, {"B": "K", "S": chance.choice(SCORES), "A": weights, "Y": output})


@needs_maxima
def test_drawn_programs():
    """Every operation that steps and gradients have, at drawn sizes: rows, columns, single
    entries, masks, slices; and every gradient."""
    outputs = [
        "log(tanh(A) + 1 - (-A)) @ V",
        "A[0, 0] * V",
        "(sin(A) * cos(A) + erf(A) * maximum(A, 1/3) + rowmax(S)) @ V",
    ]
    forms = [*FORMS, *(("softmax(S)", output) for output in outputs)]
    cases = [drawn_case(seed, *form) for seed in range(3) for form in forms]
    ops = {node.op for case in cases for node in ancestors(case.program.named.values())}
    assert ops == {op for part in get_args(Op) for op in get_args(part)} - {"table"}
    said = answers(line for case in cases for line in asked(case))
    assert set(said) == {"true"}


@needs_maxima
def test_large_scores():
    """Weights of scores whose exponentials no float holds, and of rows that are masked whole."""
    code = ["x: matrix([2000, 1999, -inf], [-inf, -inf, -inf])", "y: sa_softmax(x)"]
    near = "sa_close(matrix(y[1]), matrix([1/(1 + exp(-1)), 1/(1 + exp(1)), 0]), 1.0e-9)"
    said = answers([*helpers([*code, near]), *code, ask(near), ask("y[2]")])
    assert said == ["true", "[-inf,-inf,-inf]"]


#: What students may type, what is right, and whether that is close.
TYPED = [
    ("matrix([1, -inf])", "matrix([1, -inf])", True),
    ("matrix([1, minf])", "matrix([1, -inf])", True),
    ("matrix([1, 0])", "matrix([1, -inf])", False),
    ("matrix([1, inf])", "matrix([1, -inf])", False),
    ("matrix([-inf, 1])", "matrix([1, 1])", False),
    ("matrix([1.0001, 2])", "matrix([1, 2])", True),
    ("matrix([1.00011, 2])", "matrix([1, 2])", False),
    ("matrix([sqrt(4), 1/2])", "matrix([2, 0.5])", True),
    ("matrix([x, 2])", "matrix([1, 2])", False),
    ("matrix([null, null])", "matrix([1, 2])", False),
    ("matrix([1, 2], [3, 4])", "matrix([1, 2])", False),
    ("3", "matrix([1, 2])", False),
    ("EMPTYANSWER", "3", False),
    ("%i", "0", False),
    ("3.00005", "3", True),
]


@needs_maxima
def test_what_is_close():
    """An answer is close entry by entry, whatever a student types."""
    lines = [ask(f"sa_close({answer}, {truth}, 1/10000)") for answer, truth, _ in TYPED]
    found = answers([*helpers(lines), *lines])
    assert found == [str(close).lower() for _, _, close in TYPED]


def test_numbers():
    """Numbers are exact; one that holds symbols has no code."""
    assert number(read("-0.125")) == "-1/8"
    with pytest.raises(Malformed, match="g1 has symbols: expected numbers"):
        number(read("g1", symbols=True))


def test_an_operation_without_code():
    """It is named."""
    node = Node("gamma", (Node("constant", (), (), ONE),), ())  # type: ignore[arg-type]
    with pytest.raises(Malformed, match="the operation 'gamma' can't be exported"):
        function("f", node, {}, [])
