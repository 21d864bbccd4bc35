"""What an exercise asks for, at every level."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.cases import library
from symattn.cases.case import make
from symattn.cases.settings import LEVELS
from symattn.errors import Malformed
from symattn.exercises.exercise import exercise
from symattn.numbers.reading import Masked
from symattn.verdicts import Verdict

GIVEN = "[given]\nX = [[1, 2], [3, 4]]\n"
STEPS = "[steps]\nS = 'X @ X.T'\nA = 'softmax(S)'\nY = 'A @ X'\n"


def parts(name: str, level: str) -> dict[str, int]:
    return {part.quantity: part.points for part in exercise(library.load(name), level).parts}


def test_renaming_is_nothing_to_compute() -> None:
    """Q = K = V = X is not asked for; what computes is, an operation a point."""
    assert parts("cat-sat-mat", "forward") == {"S": 2, "T": 1, "A": 3, "Y": 2}


def test_backward_asks_for_what_lies_on_the_way() -> None:
    """The gradients come from the output back, each once, under the later step's name."""
    found = [*parts("please-study-man", "backward")]
    assert found[:6] == [*parts("please-study-man", "forward")]
    gradients = found[6:]
    assert gradients[:2] == ["dL/dA", "dL/dS"]
    assert {"dL/dQ", "dL/dK", "dL/dV", "dL/dX"} < {*gradients}
    assert len({*found}) == len(found)


def test_masked_puts_a_mask_before_the_softmax() -> None:
    """A case without a mask gets one that hides later keys, and it is asked for."""
    made = exercise(library.load("cat-sat-mat"), "masked")
    assert [part.quantity for part in made.parts] == ["S", "T", "M", "A", "Y"]
    masked = made.solution["M"]
    causal = exercise(library.load("cat-sat-mat-causal"), "masked").solution["M"]
    assert masked.equals(causal) is Verdict.HOLDS


def test_masked_leaves_a_mask_as_it_is() -> None:
    """A case with a mask of its own is asked as it is."""
    case = library.load("cat-sat-mat-padding")
    assert exercise(case, "masked").case is case


@pytest.mark.parametrize(
    "steps",
    [
        {"Y": "X @ X.T"},
        {"A": "(softmax(X))"},
        {"A": "softmax(X) + 1"},
        {"A": "softmax(X[0])"},
        {"A": "softmax(X)", "B": "softmax(X[:, 0:1])"},
    ],
)
def test_no_softmax_to_mask(steps: dict[str, str]) -> None:
    """Where there is no one place for a mask, that is said."""
    case = make("x", {"X": [[1, 2], [3, 4]]}, steps)
    with pytest.raises(Malformed, match="write a mask into its steps"):
        exercise(case, "masked")


def test_names_of_the_mask_are_free() -> None:
    """P and M give way to quantities of these names."""
    case = make("x", {"P": [[1, 2], [3, 4]]}, {"M": "P @ P.T", "A": "softmax(M / 2)"})
    made = exercise(case, "masked").case
    assert made.steps == {"M": "P @ P.T", "M1": "mask(M / 2, P1)", "A": "softmax(M1)"}


def test_proof_asks_for_derivations() -> None:
    """Derivations about what the case does, with a point for each of their formulas."""
    made = exercise(library.load("cat-sat-mat-causal"), "proof")
    assert made.is_proof
    assert {"softmax-jacobian", "masking"} <= {part.quantity for part in made.parts}
    assert made.points == sum(part.points for part in made.parts)


def test_symbols_take_no_blank() -> None:
    """A gradient in symbols is no number that a blank takes; what to do is said."""
    with pytest.raises(Malformed, match=r"give numbers in \[loss\] upstream"):
        exercise(library.load("length-4-causal"), "backward")
    assert exercise(library.load("length-4-causal"), "forward").points


@pytest.mark.heavy
def test_nothing_to_ask_for() -> None:
    """A case that only renames is no exercise."""
    with pytest.raises(Malformed, match="nothing to ask for"):
        exercise(make("x", {"X": [1, 2]}, {"Y": "X"}))
    with pytest.raises(Malformed, match="unknown level 'foward': did you mean forward"):
        exercise(library.load("cat-sat-mat"), "foward")


def test_a_file_says_what_is_asked(tmp_path: Path) -> None:
    """[exercise] chooses level, parts, points and places; gradients by any of their names."""
    path = tmp_path / "two.toml"
    table = (
        "[exercise]\ntitle = 'Sheet 3'\nlevel = 'backward'\nask = ['A', 'dX']\n"
        "points = {A = 5, 'grad(X)' = 7}\nplaces = 2\n"
    )
    path.write_text(GIVEN + STEPS + table)
    made = exercise(library.load(path))
    assert made.title == "Sheet 3"
    assert [(p.quantity, p.points, p.places) for p in made.parts] == [
        ("A", 5, 2),
        ("dL/dX", 7, 2),
    ]
    assert exercise(library.load(path), places=3).parts[0].places == 3
    # At another kind of level the file's names mean nothing.
    assert "softmax-jacobian" in {part.quantity for part in exercise(made.case, "proof").parts}


def test_what_extends_asks_anew(tmp_path: Path) -> None:
    """What a file asks for is said of its own steps only."""
    (tmp_path / "two.toml").write_text(GIVEN + STEPS + "[exercise]\nask = ['A']\n")
    above = tmp_path / "three.toml"
    above.write_text("extends = 'two.toml'\n")
    assert len(exercise(library.load(above)).parts) == 3


def test_every_fault_of_the_table_with_its_line(tmp_path: Path) -> None:
    """All that is wrong with [exercise] is told at once, each fault with its line."""
    path = tmp_path / "two.toml"
    table = """[exercise]
level = "hard"
ask = ["A", "X", "A",
       "A[0]", 3, "Z"]
places = 13
point = 3
[exercise.points]
S = 2
A = 2.5
"""
    path.write_text(GIVEN + STEPS + table)
    with pytest.raises(Malformed) as caught:
        library.load(path)
    faults = {(fault.line, fault.where): fault.message for fault in caught.value.faults}
    assert {where: message[:24] for (_, where), message in faults.items()} == {
        "exercise.level": "unknown level 'hard': ex",
        "exercise.ask[1]": "X is given: expected one",
        "exercise.ask[2]": "A is asked twice",
        "exercise.ask[3]": "unknown name 'A[0]': exp",
        "exercise.ask[4]": "expected a name, found a",
        "exercise.ask[5]": "unknown name 'Z': expect",
        "exercise.places": "expected 0 to 12 places,",
        "exercise.point": "unknown key 'point': did",
        "exercise.points.S": "S is not among what is a",
        "exercise.points.A": "expected a whole number,",
    }
    first = (GIVEN + STEPS).count("\n") + 1
    assert (first + 3, "exercise.ask[5]") in faults
    assert (first + 7, "exercise.points.S") in faults


def test_unknown_derivations(tmp_path: Path) -> None:
    """At level proof the names are those of bundled derivations."""
    path = tmp_path / "two.toml"
    path.write_text(GIVEN + STEPS + "[exercise]\nlevel = 'proof'\nask = ['softmax-jacobi']\n")
    with pytest.raises(Malformed, match="did you mean softmax-jacobian"):
        exercise(library.load(path))
    path.write_text(GIVEN + STEPS + "[exercise]\nlevel = 'proof'\nask = ['masking']\n")
    made = exercise(library.load(path))
    assert [part.quantity for part in made.parts] == ["masking"]


@pytest.mark.heavy
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(library.names()), st.sampled_from(LEVELS[:3]), st.integers(0, 6))
def test_right_answers_are_rounded_correctly(name: str, level: str, places: int) -> None:
    """Every right answer is within half a unit of its last place, decided in exact numbers,
    and stands where its quantity has it."""
    case = library.load(name)
    # Symbols are no answers, and where nothing is a softmax there is nothing to mask.
    without_softmax = "softmax" not in " ".join(case.steps.values())
    if (case.symbols and level == "backward") or (without_softmax and level == "masked"):
        level = "forward"
    made = exercise(case, level, places)
    for part in made.parts:
        quantity = made.solution[part.quantity]
        rows, columns = quantity.grid
        right = made.right(part)
        assert (len(right), {len(row) for row in right}) == (rows, {columns})
        for i, row in enumerate(right):
            for j, answer in enumerate(row):
                exact = quantity.entry(i, j)
                if isinstance(exact, Masked):
                    assert answer == Decimal("-Infinity")
                    continue
                assert -answer.as_tuple().exponent == places  # type: ignore[operator]
                off = abs(float((exact * 10**places).ball(200).mid()) - float(answer * 10**places))
                assert off <= 0.5 + 1e-9
