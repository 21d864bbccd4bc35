"""Variants: pleasant numbers, the same for a seed everywhere, and each its own."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.cases import library
from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.exercises import variants as search
from symattn.exercises.exercise import Exercise, exercise
from symattn.exercises.faults import catalogue, is_visible, visible_faults
from symattn.exercises.key import Draws, key
from symattn.exercises.variants import NumberRange, variants, with_numbers_upstream
from symattn.languages.language import ENGLISH
from symattn.numbers import rounding
from symattn.numbers.reading import MASKED
from symattn.solution.entries import EntryValue

CASES = ("cat-sat-mat", "cat-sat-mat-padding", "cat-sat-mat-d16", "the-cat-sleeps")
LEVELS = ("forward", "masked", "backward")

some = given(st.sampled_from(CASES), st.sampled_from(LEVELS), st.integers(0, 1 << 64))


def few(name: str, level: str, seed: int, count: int = 3) -> list[Exercise]:
    return list(variants(library.load(name), count, seed, level))


def test_words_are_splitmix64() -> None:
    """The published first words of the generator for the seed 1234567."""
    assert Draws(1234567).words(5).tolist() == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
        16408922859458223821,
    ]  # fmt: skip
    split = Draws(1234567)
    assert [*split.words(2).tolist(), *split.words(1).tolist()] == (
        Draws(1234567).words(3).tolist()
    )


@given(st.integers(0, 1 << 70), st.integers(1, 1 << 32))
def test_draws_are_below_their_bound(seed: int, bound: int) -> None:
    """What is drawn is 0 or more and below the bound, in the shape asked for."""
    drawn = Draws(seed).below(bound, (3, 5))
    assert drawn.shape == (3, 5)
    assert ((drawn >= 0) & (drawn < bound)).all()


def test_the_same_on_every_machine() -> None:
    """The numbers of a seed, as they were found first: nobody's sheets change."""
    (first,) = few("cat-sat-mat", "masked", 7, 1)
    assert first.case.raw == {
        "X": ((-1, 1, -1, 1), (0, -1, 0, -1), (0, 0, 1, 0)),
        "d_k": 4,
        "P": ((1, 1, 0), (1, 1, 0), (1, 1, 0)),
    }
    (first,) = few("length-4-causal", "backward", 1, 1)
    assert first.case.raw["X"] == ((0, 0, 1, 0), (0, 1, 0, 0), (1, 2, 0, 2), (0, -1, 0, 0))
    assert first.case.raw_upstream == (*[(0, 0, 0, 0)] * 3, (-1, -2, -1, 2))


@pytest.mark.heavy
@settings(max_examples=8, deadline=None)
@some
def test_the_same_however_many(name: str, level: str, seed: int) -> None:
    """A version is the same whether more are asked for or not, byte for byte."""
    made = few(name, level, seed, 3)
    assert key(few(name, level, seed, 2)) == key(made[:2])
    assert [one.version for one in made] == [1, 2, 3]
    assert {one.seed for one in made} == {seed}


@pytest.mark.heavy
@settings(max_examples=12, deadline=None)
@some
def test_numbers_are_pleasant(name: str, level: str, seed: int) -> None:
    """Small whole numbers, rows distinct, weights between, no ties, no doubtful digit."""
    base = library.load(name)
    made = few(name, level, seed)
    for one in made:
        case = one.case
        assert case.tokens == base.tokens
        assert {**base.program.shapes()}.items() <= {**case.program.shapes()}.items()
        assert case.raw["d_k"] == base.raw["d_k"]
        drawn: list[Any] = [x for name, x in case.raw.items() if name[0] in "XW"]
        for rows in drawn:
            assert all(type(x) is int and abs(x) <= 3 for row in rows for x in row)
            assert len({tuple(row) for row in rows}) == len(rows)
            assert all(any(row) for row in rows)
        masks = [x for x in case.program.steps if case.program.quantities[x].op == "hide"]
        scores = one.solution[(*masks, "T")[0]]
        for above, weights in zip(scores.rows, one.solution["A"].decimal(8), strict=True):
            kept = [place for place, x in enumerate(above) if x is not MASKED]
            assert kept
            if len(kept) > 1:
                shown = sorted(weights[place] for place in kept)
                assert shown[0] >= Decimal("0.01")
                assert shown[-1] - shown[0] >= Decimal("0.05")
                assert all(b - a > Decimal("1e-7") for a, b in pairwise(shown))
            assert sum(weights) - 1 < Decimal("1e-6")
        several = [x for x in one.solution["A"].decimal(4) if sorted(x)[-2]]
        assert len({*several}) == len(several)
        for part in one.parts:
            quantity = one.solution[part.quantity]
            rows, columns = quantity.grid
            for i in range(rows):
                for j in range(columns):
                    if not quantity.is_masked(i, j):
                        entry = EntryValue(quantity, i, j)
                        units = rounding.decimal(entry, part.places + 4, "down")
                        units = abs(units).scaleb(part.places)
                        assert units <= 60 * 10**part.places
                        assert abs(units % 1 - Decimal("0.5")) >= Decimal("0.009")
    assert len({key([one]).split("[versions.given]")[1] for one in made}) == len(made)


@pytest.mark.heavy
@settings(max_examples=12, deadline=None)
@some
def test_every_usual_mistake_shows(name: str, level: str, seed: int) -> None:
    """With each slip of the catalogue the figures of its part are visibly others."""
    for one in few(name, level, seed, 2):
        slips = catalogue(one)
        assert len(slips) > 4
        shown = dict(visible_faults(one))
        # A mask the wrong way round may hide a row whole, where there is no softmax.
        unseen = {slip.kind for slip in slips if slip not in shown}
        assert unseen <= {"mask-transposed"}
        for slip, found in shown.items():
            assert found[0].part.quantity == slip.part
            for mistake in found:
                assert is_visible(mistake.right, mistake.wrong, mistake.part.places)
                row = one.right(mistake.part)[mistake.i]
                assert row[mistake.j] == mistake.right


def test_without_the_scale() -> None:
    """The known answer: the scores of cat and sat without the division by 2."""
    (exercise,) = few("cat-sat-mat", "forward", 7, 1)
    found = {slip.kind: shown for slip, shown in visible_faults(exercise)}
    S = exercise.solution["S"]
    without = found["scale-dropped"]
    assert [one.part.quantity for one in without] == ["T", "A"]
    assert without[0].wrong == S.decimal(4)[without[0].i][without[0].j]
    unscaled = exercise.solution["softmax(S)"].decimal(4)
    assert without[1].wrong == unscaled[without[1].i][without[1].j]


def test_symbols_become_numbers() -> None:
    """Where the loss has symbols upstream, versions have numbers there, and zeros stay."""
    for one in few("length-4-causal", "backward", 3, 2):
        upstream: Any = one.case.raw_upstream
        assert upstream[:3] == ((0, 0, 0, 0),) * 3
        assert all(x in (-2, -1, 1, 2) for x in upstream[3])
        assert not one.case.symbols


def test_masks_change_only_where_they_are_asked() -> None:
    """A mask that is given is drawn at level masked, and stays at others."""
    padding = library.load("cat-sat-mat-padding")
    assert {str(one.case.raw["P"]) for one in few("cat-sat-mat-padding", "forward", 1)} == {
        str(padding.raw["P"])
    }
    masks: list[Any] = [one.case.raw["P"] for one in few("cat-sat-mat-padding", "masked", 1, 8)]
    assert len(set(map(str, masks))) > 1
    for mask in masks:
        assert all(any(row) for row in mask)
        assert {x for row in mask for x in row} == {0, 1}


def test_what_is_wanted() -> None:
    """The largest number is what is asked for."""
    case = library.load("cat-sat-mat")
    for one in variants(case, 5, 1, wanted=NumberRange(largest=1)):
        rows: Any = one.case.raw["X"]
        assert {x for row in rows for x in row} <= {-1, 0, 1}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("given", "steps", "said"),
    [
        ({"X": [[1]]}, {"A": "softmax(X)", "Y": "X * 0"}, "all answers of a part are 0"),
        ({"X": [[1, 2], [3, 4]]}, {"S": "X @ X.T * 1000"}, "an answer is too large.*--largest 1"),
        ({"X": [[1, 2], [3, 4]]}, {"S": "X * 0 + 1", "A": "softmax(S)"}, "nearly equal"),
        (
            {"X": [[1, 2], [3, 4]]},
            {"S": "X / 1000000", "Y": "S @ X"},
            "all answers of a part are 0",
        ),
        ({"X": [[1, 2, 3, 4, 5, 6, 7, 8, 9]] * 2}, {"A": "softmax(X)"}, "equal.*--ties"),
        (
            {"x": [1, 2], "d": 2},
            {"S": "x / 2"},
            "of 999 versions.*they have occurred before: ask for fewer versions",
        ),
        ({"X": [[1]] * 9}, {"S": "X / 2"}, "has equal rows.*--largest 9"),
        ({"X": [[1] * 21] * 20}, {"S": "X / 2"}, "too large for variants: 20x21"),
        (
            {"X": [[1, 2], [3, 4]]},
            {"A": "softmax(X[0:1] + X * 0)"},
            "rows of weights are equal.*--largest 4",
        ),
        ({"d": 2}, {"S": "d * 3"}, "no given matrix to draw numbers for"),
    ],
)
def test_a_search_that_finds_nothing_says_why(
    given: dict[str, object], steps: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names what most candidates fail by, and what to relax."""
    monkeypatch.setattr(search, "_CANDIDATES", 2048)
    with pytest.raises(Malformed, match=said):
        list(variants(make("x", given, steps), 999, 0))


def test_levels_without_numbers() -> None:
    """Derivations have no variants, and a count is within bounds."""
    case = library.load("cat-sat-mat")
    with pytest.raises(Malformed, match="no numbers to draw"):
        next(variants(case, 1, level="proof"))
    for count in (0, 1000):
        with pytest.raises(Malformed, match="expected 1 to 999 versions"):
            next(variants(case, count))


LECTURE = make(
    "lecture",
    {
        "X": [["1/2", -1], [2, "1/4"], [-1, 1]],
        "W_q": [[1, "1/2"], ["-1/2", 1]],
        "W_v": [[1, 0, "1/2"], [-1, 1, "1/4"]],
        "t": [2, 0, 1],
    },
    {
        "Q": "X @ W_q",
        "V": "X @ W_v",
        "A": "softmax(causal(Q @ X.T / sqrt(2)))",
        "Z": "A @ V",
        "L": "cross_entropy(Z, t)",
    },
    {"output": "L", "wrt": ["Z", "V", "A", "Q", "W_q", "W_v"]},
)


def test_a_loss_over_causal_attention_has_versions() -> None:
    """Backward, too; targets stay what they are. A mistake in what is fixed never showed."""
    for version in variants(LECTURE, 3, seed=1, level="backward"):
        assert version.case.raw["t"] == [2, 0, 1]
        assert version.case.raw["X"] != LECTURE.raw["X"]
        shown = {fault.text(ENGLISH) for fault, _ in visible_faults(version)}
        assert {"With the sum instead of the mean", "Without the division by 3"} <= shown


def test_a_function_that_is_mistaken_as_a_whole_is_not_taken_apart() -> None:
    """Nobody makes a slip in the logarithms of a cross-entropy."""
    faults = catalogue(exercise(LECTURE, "backward"))
    assert {fault.text(ENGLISH) for fault in faults if fault.part == "L"} == {
        "With the sum instead of the mean",
        "With the other sign instead of its own",
    }


def test_what_no_version_can_have_is_not_asked() -> None:
    """Where a word occurs twice its scores are equal, and so they are in the case."""
    first, second = few("training-step", "forward", 0, 2)
    assert first.case.raw["ids"] == second.case.raw["ids"] == [0, 1, 0]
    assert first.case.raw["E"] != second.case.raw["E"]


@pytest.mark.parametrize("name", library.names())
def test_mistakes_are_said_in_terms_of_a_board(name: str) -> None:
    """No comparison, no table of numbers, and nothing that only moves numbers."""
    for fault in catalogue(exercise(with_numbers_upstream(library.load(name)), "backward")):
        said = fault.text(ENGLISH)
        assert not re.search(r"\[\[|\d, \d|[<>]|tril|spread|scatter|concat", said), said
