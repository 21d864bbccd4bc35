"""A counterexample meets what is assumed exactly, or it is none."""

from __future__ import annotations

import ast
from fractions import Fraction

import pytest

from symattn.calculus.library import derive


def numbers(text: str) -> dict[str, Fraction]:
    """The numbers of the counterexample of the last line of a text; none is cut off."""
    place = derive(text).lines[-1].counterexample
    assert place is not None
    return {name: Fraction(value) for name, value in place.values.items()}


@pytest.mark.parametrize("line", ["P * P = P", "P = P.T", "P[i, j] = delta(i, j)"])
def test_an_idempotent_matrix_is_one(line: str) -> None:
    """To the last digit that is printed."""
    found = numbers(f"P: n x n\nassume P P = P\n{line}")
    size = max(int(name[2]) for name in found)
    every = range(1, size + 1)
    p = {(i, j): found[f"P[{i}, {j}]"] for i in every for j in every}
    assert all(sum(p[i, k] * p[k, j] for k in every) == p[i, j] for i in every for j in every)


@pytest.mark.parametrize(
    ("assumed", "line", "residual"),
    [
        ("x*y = 1", "y = 2*x", "x*y - 1"),
        ("c*c + s*s = 1", "c = s", "c*c + s*s - 1"),
        ("3*x = 1", "x = 1", "3*x - 1"),
        ("x = y/3\nassume y > 1", "x = y", "3*x - y"),
        ("x*x*x = 8", "x = 3", "x*x*x - 8"),
        ("x*x = x", "x = 1", "x*x - x"),
    ],
)
def test_numbers_meet_equations(assumed: str, line: str, residual: str) -> None:
    """In fractions, computed apart."""
    names = "".join(part for part in ast.unparse(ast.parse(residual)) if part.isalpha())
    given = "\n".join(f"{name}: number" for name in sorted({*names}))
    found = numbers(f"{given}\nassume {assumed}\n{line}")
    left = residual
    for name, value in found.items():
        left = left.replace(name, f"F({value.numerator},{value.denominator})")
    total = _sum(ast.parse(left, mode="eval").body)
    assert total == 0


def _sum(node: ast.expr) -> Fraction:
    match node:
        case ast.BinOp(left, op, right):
            a, b = _sum(left), _sum(right)
            return (
                a * b if isinstance(op, ast.Mult) else a + b if isinstance(op, ast.Add) else a - b
            )
        case ast.Constant(int(value)):
            return Fraction(value)
        case ast.Call(_, [above, below]):
            return _sum(above) / _sum(below)
        case ast.UnaryOp(_, operand):
            return -_sum(operand)
    raise AssertionError(ast.dump(node))


@pytest.mark.parametrize("assumed", ["exp(x) = 3", "x*x = 2", "x*x*x = 2"])
def test_a_number_that_is_no_fraction_ends_in_dots(assumed: str) -> None:
    """It is cut off, and was shown to exist."""
    (line,) = derive(f"x: number\nassume {assumed}\nx = 1").lines
    assert line.status == "refuted"
    assert line.counterexample is not None
    assert line.counterexample.values["x"].endswith("…")


@pytest.mark.parametrize(
    "text",
    [
        "t, u: number\nassume t*t = -1\nu = 2*u",
        "t, u: number\nassume t = t + 1\nu = 2*u",
        "x: n\nassume x*x = -ones(n)\nx = 2*x",
    ],
)
def test_what_nothing_meets_refutes_nothing(text: str) -> None:
    """Also where the line speaks of something else."""
    (line,) = derive(text).lines
    assert line.status not in ("refuted", "proved")


def test_a_power_of_a_square_matrix_means_two_things() -> None:
    """So a line that is true of the one is not refuted by the other."""
    (line,) = derive("P: n x n\nassume P P = P\nP^2 = P").lines
    assert line.status == "undecided"
    assert "A @ A for the one, A * A for the other" in line.why


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (
            "S: n x m\nA = softmax(S)\nassume colsum(A) = ones(1, m)\nrowsum(A) = ones(n)",
            "proved",
        ),
        ("S: n x m\nassume S > 0\nA = softmax(S)\nassume colsum(A) = ones(1, m)\nA = 1", ""),
    ],
)
def test_hypotheses_that_are_hard_to_meet_are_given_up_soon(text, status, monkeypatch) -> None:
    """After a number of steps of computing."""
    from symattn.calculus.sampling import SamplePoint

    steps = 0
    evaluate = SamplePoint.evaluate

    def counted(self, value):
        nonlocal steps
        steps += 1
        return evaluate(self, value)

    monkeypatch.setattr(SamplePoint, "evaluate", counted)
    (line,) = derive(text).lines
    assert line.status == status or not status
    assert steps < 1_500_000


def test_a_quotient_by_zero_takes_no_work() -> None:
    """What is multiplied by it isn't computed."""
    from symattn.calculus import line_reading
    from symattn.calculus.draft import read

    tables = {"sizes": ["n"], "shapes": {"x": ["n"]}, "lines": [{"line": "1 == 1"}]}
    scope = read(tables).scope
    line = line_reading.line("(1/0) * sum(i, sum(j, x[i] * x[j])) == 1", scope)
    from symattn.calculus.sampling import SamplePoint

    x = scope.arrays["x"]
    point = SamplePoint({"n": 9}, {x: {(k,): k for k in range(1, 10)}}, {})
    point.evaluate(line.sides[0])
    assert point.worked < 20
