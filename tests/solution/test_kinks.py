"""At their kinks functions have the slopes that are said of them, by all three reckonings."""

from __future__ import annotations

import pytest
import sympy

from symattn.cases.case import make
from symattn.programs.functions import FUNCTIONS
from symattn.solution import stages
from symattn.solution.solution import solve
from symattn.verdicts import Verdict
from symattn.verification import verify

#: Of every function with a kink: a step that is at it with P = [[0, 2], [1, 3]], and dL/dP
#: where 1 flows into every entry.
AT_KINKS: dict[str, list[tuple[str, list[list[object]]]]] = {
    "relu": [("relu(P)", [[0, 1], [1, 1]]), ("relu(P - 2)", [[0, 0], [0, 1]])],
    "abs": [("abs(P - 1)", [[-1, 1], [0, 1]])],
    "sign": [("sign(P - 1) + 0 * P", [[0, 0], [0, 0]])],
    "maximum": [("maximum(P, 2)", [[0, "1/2"], [0, 1]]), ("maximum(P, P)", [[1, 1], [1, 1]])],
    "minimum": [("minimum(P, 2)", [[1, "1/2"], [1, 0]])],
    "clip": [
        ("clip(P, 0, 1)", [[1, 0], [1, 0]]),
        ("clip(P, 2, 2)", [[0, 1], [0, 0]]),
        ("clip(P, P, 2)", [[1, 1], [1, 0]]),
    ],
    "max": [
        ("max(P * P - [[-9, 0], [0, 0]])", [[0, 0], [0, 3]]),
        ("max(P * 0 + P[1, 1])", [[0, 0], [0, 1]]),
        ("max(concat(P, P[:, 1:], P[:, 1:]), axis=1)", [[0, 1], [0, 1]]),
        ("max(concat(P[:, 1:], P[:, 1:], 1 + P[:, :1] * 2))", [[0, 0], ["2/3", "2/3"]]),
    ],
    "min": [("min(P - [[0, 2], [1, 0]])", [["1/3", "1/3"], ["1/3", 0]])],
    "rowmax": [
        ("rowmax(concat(P, 2 + P[:, :1] / 2, 2 - P[:, :1]))", [["-1/6", "1/3"], [0, 1]]),
    ],
    "rowmin": [("rowmin(concat(P, P[:, :1], P[:, :1]))", [[1, 0], [1, 0]])],
}


def test_every_kink_has_a_step():
    """None is left out."""
    assert {name for name, function in FUNCTIONS.items() if function.kink} == AT_KINKS.keys()


def at_kink(text):
    """A case that is at a kink; 1 flows into every entry."""
    return make("kink", {"P": [[0, 2], [1, 3]]}, {"O": f"total({text})"})


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "slopes"), [case for cases in AT_KINKS.values() for case in cases]
)
def test_slopes_at_kinks(text, slopes):
    """Known by hand, and by NumPy's loops, and by SymPy's derivatives."""
    case = at_kink(text)
    found = [[str(x) for x in row] for row in solve(case)["dL/dP"].rows]
    assert found == [[str(x) for x in row] for row in slopes]
    assert verify(case).verdict is Verdict.HOLDS


def test_a_wrong_share_is_refuted(monkeypatch):
    """SymPy's letters with another convention than that of the rules are told apart."""
    monkeypatch.setattr(stages, "FirstLargest", stages.Largest)
    checks = {check.quantity: check for check in verify(at_kink("relu(P)")).checks}
    assert checks["dL/dP"].symbolic is Verdict.REFUTED
    assert checks["O"].symbolic is Verdict.HOLDS


def test_largest_of_letters():
    """SymPy's users can put numbers in, write it as Max, and print it."""
    x, y = sympy.symbols("x y")
    largest = solve(at_kink("rowmax(P)")).symbolic["O"].stages["O_1"][0, 0]
    assert isinstance(largest, stages.Largest)
    found = stages.Largest(x, y)
    assert found.subs({x: 2, y: 5}) == 5
    assert found.rewrite(sympy.Max) == sympy.Max(x, y)
    assert sympy.latex(found) == sympy.latex(sympy.Max(x, y))


def test_numbers_that_sympy_cant_compare_stay_as_they_are() -> None:
    """Of log(2) + log(3) - log(6), which is 0, SymPy's ``Max`` says that it is not comparable."""
    nothing = sympy.log(2) + sympy.log(3) - sympy.log(6)
    assert set(stages.Largest(nothing, 1).args) == {nothing, 1}
    assert stages.Largest(2, 3) == 3
