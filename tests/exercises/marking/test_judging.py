"""What answers are: right, rounded too early, following, a named slip, or wrong."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symattn.cases import library
from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.exercises.exercise import Exercise, Part, exercise
from symattn.exercises.faults import suspects
from symattn.exercises.marking.collecting import Blank, Script, read_answer
from symattn.exercises.marking.judging import Examiner

from .students import POINTS, RIGHT, SLIPS, exercise_of, numbers, script, text, written

ORDER = [*POINTS]
SEEDS = st.integers(0, 10_000)


@cache
def examiner(seed=0, places=4):
    """The examiner of the exercise with the numbers of a seed."""
    return Examiner(exercise_of(numbers(seed), places))


def outcomes(judged):
    """What the answers of each part are, each kind once."""
    return {part.quantity: {mark.outcome for mark in marks} for part, marks in judged.parts}


def answering(case, **answers):
    """The marks of answers to a case, by label."""
    found = {
        Blank(name, i, j): read_answer(answer)
        for name, rows in answers.items()
        for i, row in enumerate(rows)
        for j, answer in enumerate(row)
        if answer
    }
    judged = Examiner(case).judged(Script("Ada", 0, found))
    return {mark.label: mark for mark in judged.marks}


@given(SEEDS)
@settings(max_examples=6, deadline=None)
def test_right_answers_are_right(seed) -> None:
    """Who rounds only what is written down has everything right."""
    given_numbers = numbers(seed)
    found = Examiner(exercise_of(given_numbers)).judged(script(written(given_numbers, 4, kept=12)))
    assert {mark.outcome for mark in found.marks} == {"right"}


@given(SEEDS)
@settings(max_examples=6, deadline=None)
def test_computing_on_with_what_is_written_is_no_slip(seed) -> None:
    """Who computes on with four places, as asked, is right or has rounded too early."""
    given_numbers = numbers(seed)
    found = Examiner(exercise_of(given_numbers)).judged(script(written(given_numbers)))
    assert {mark.outcome for mark in found.marks} <= {"right", "early"}


@given(SEEDS, st.integers(2, 3), st.sampled_from([2, 12]))
@settings(max_examples=6, deadline=None)
def test_fewer_places_are_rounded_too_early(seed, places, kept) -> None:
    """With fewer places than asked, computed on with or not, nothing is wrong and much early."""
    given_numbers = numbers(seed)
    answers = script(written(given_numbers, places, kept=max(places, kept)), places)
    found = Examiner(exercise_of(given_numbers)).judged(answers)
    counts = Counter(mark.outcome for mark in found.marks)
    assert set(counts) <= {"right", "early"}
    assert counts["early"] > 10


@pytest.mark.sampled(1)
@pytest.mark.parametrize("slip", SLIPS)
@given(seed=SEEDS)
@settings(max_examples=2, deadline=None)
def test_a_planted_slip_is_named_and_the_rest_follows(slip, seed) -> None:
    """What is before it is right, its own step is that slip, and the steps after it follow."""
    planted = SLIPS[slip]
    given_numbers = numbers(seed)
    found = written(given_numbers, instead={planted.step: planted.instead})
    before = written(given_numbers, kept=12)
    apart = np.abs(np.nan_to_num(found[planted.step], neginf=9) -
                   np.nan_to_num(before[planted.step], neginf=9))  # fmt: skip
    # A slip that changes next to nothing can't be seen.
    assume((apart > 0.01).sum() >= 3 and (apart[apart > 0] > 0.01).all())
    assume(slip != "product-ignored" or (apart > 0.01).sum() >= 5)
    judged = Examiner(exercise_of(given_numbers)).judged(script(found))
    kinds = outcomes(judged)
    place = ORDER.index(planted.step)
    assert all(kinds[name] <= {"right", "early"} for name in ORDER[:place])
    assert "slip" in kinds[planted.step]
    assert kinds[planted.step] <= {"right", "slip"}
    assert all(kinds[name] <= {"right", "early", "follows"} for name in ORDER[place + 1 :])
    (named,) = judged.slips
    assert any(planted.said in said for said in (named.phrase, *named.rivals))


@pytest.mark.heavy
@given(SEEDS, st.sampled_from(ORDER[:-1]), st.randoms(use_true_random=False))
@settings(max_examples=6, deadline=None)
def test_garbage_is_wrong_and_never_named(seed, name, random) -> None:
    """Numbers out of nowhere are wrong; what is computed on from them follows."""
    given_numbers = numbers(seed)
    shape = RIGHT[name](given_numbers | written(given_numbers, kept=12)).shape
    garbage = np.array(
        [[random.choice((-1, 1)) * random.uniform(3, 5) for _ in range(shape[1])]
         for _ in range(shape[0])]
    )  # fmt: skip
    found = written(given_numbers, instead={name: lambda held: garbage})
    judged = Examiner(exercise_of(given_numbers)).judged(script(found))
    kinds = outcomes(judged)
    assert kinds[name] == {"wrong"}
    assert judged.slips == ()
    place = ORDER.index(name)
    assert all(kinds[one] <= {"right", "early"} for one in ORDER[:place])
    assert all(kinds[one] <= {"right", "early", "follows"} for one in ORDER[place + 1 :])


@pytest.mark.heavy
def test_small_whole_numbers_hardly_ever_come_out_of_a_slip() -> None:
    """Of thirty students who fill a step with small whole numbers, one at most is told why."""
    case = exercise(library.load("cat-sat-mat"))
    right = {
        part.quantity: [[f"{x:f}" for x in row] for row in case.right(part)] for part in case.parts
    }
    named = 0
    for seed in range(30):
        random = Random(seed)
        step = random.choice([*right])
        garbage = [[str(random.randint(0, 3)) for _ in row] for row in right[step]]
        marks = answering(case, **{**right, step: garbage})
        named += any(mark.slip for mark in marks.values())
    assert named <= 1


def test_garbage_everywhere_is_wrong() -> None:
    """Numbers that nothing leads to are wrong in every step."""
    rows = [[7.123, 8.457, 9.891], [10.313, 7.577, 8.939], [9.117, 10.751, 7.443]]
    found = {name: np.array(rows) * (1 + k) for k, name in enumerate(ORDER)}
    judged = examiner().judged(script(found))
    assert {mark.outcome for mark in judged.marks} == {"wrong"}
    assert judged.slips == ()


def test_repeating_a_wrong_answer_is_no_method() -> None:
    """Of a symmetric step the same wrong answer on both sides is wrong twice."""
    case = exercise(library.load("cat-sat-mat"))
    marks = answering(case, S=[["2", "9.13", "1"], ["9.13", "2", "1"], ["1", "1", "2"]])
    assert [marks[label].outcome for label in ("S[0, 1]", "S[1, 0]")] == ["wrong", "wrong"]


def test_what_follows_tells_from_what() -> None:
    """The wrong answers that one is computed from are named, and only those."""
    case = exercise(library.load("cat-sat-mat"))
    marks = answering(
        case,
        S=[["2", "4", "1"], ["0", "2", "1"], ["1", "1", "2"]],
        T=[["1", "2", "0.5"], ["0", "1", "0.5"], ["0.5", "0.5", "1"]],
        A=[["0.2312", "0.6285", "0.1402"], ["0.1863", "0.5065", "0.3072"]],
    )
    assert marks["S[0, 1]"].outcome == "wrong"
    assert (marks["T[0, 1]"].outcome, marks["T[0, 1]"].because) == ("follows", (("S", 0, 1),))
    assert [marks[f"A[0, {j}]"].outcome for j in range(3)] == ["follows"] * 3
    assert {marks[f"A[0, {j}]"].because for j in range(3)} == {(("T", 0, 1),)}
    assert {marks[f"A[1, {j}]"].outcome for j in range(3)} == {"right"}


def test_what_is_left_blank_does_not_break_the_chain() -> None:
    """A step that is left out is worked out from those before it."""
    case = exercise(library.load("cat-sat-mat"))
    marks = answering(
        case,
        S=[["2", "4", "1"], ["0", "2", "1"], ["1", "1", "2"]],
        A=[["0.2312", "0.6285", "0.1402"]],
    )
    assert marks["T[0, 1]"].outcome == "blank"
    assert [marks[f"A[0, {j}]"].outcome for j in range(3)] == ["follows"] * 3


def test_more_digits_than_are_written_follow_too() -> None:
    """Who goes on with all digits of a wrong number, and writes down fewer, follows."""
    case = exercise(library.load("cat-sat-mat"))
    # T[0, 1] is 1.2345 in the student's head, written 1.2; the weights are from 1.2345.
    powers = np.exp([1, 1.2345, 0.5])
    weights = [f"{x:.4f}" for x in powers / powers.sum()]
    marks = answering(case, T=[["1", "1.23", "0.5"]], A=[weights])
    assert marks["T[0, 1]"].outcome == "wrong"
    assert [marks[f"A[0, {j}]"].outcome for j in range(3)] == ["follows"] * 3


@pytest.mark.parametrize("slip", ["scale-dropped", "scale-not-rooted"])
def test_a_slip_in_a_step_that_is_not_asked(slip) -> None:
    """It is named where it shows first, in the weights, and what comes after follows."""
    given_numbers = numbers(3)
    planted = SLIPS[slip]
    found = written(given_numbers, instead={planted.step: planted.instead})
    whole = exercise_of(given_numbers)
    asked = Exercise(whole.case, "masked", tuple(Part(name, 1) for name in ("S", "A", "Y")))
    answers = script({name: found[name] for name in ("S", "A", "Y")})
    kinds = outcomes(Examiner(asked).judged(answers))
    assert kinds["S"] == {"right"}
    assert "slip" in kinds["A"]
    assert kinds["Y"] <= {"follows", "right"}


def test_a_slip_behind_several_steps_counts_once() -> None:
    """Who misreads a row of the inputs has made one slip: it is named in the first step that
    shows it, and the others that it spoils follow."""
    given_numbers = numbers(11)
    misread = given_numbers["X"][[0, 1, 1]]
    instead = {
        name: (lambda held, weights=f"W_{name}": misread @ held[weights])
        for name in ("Q", "K", "V")
    }
    answers = script(written(given_numbers, instead=instead))
    judged = Examiner(exercise_of(given_numbers)).judged(answers)
    kinds = outcomes(judged)
    (named,) = judged.slips
    assert "row 1 used for row 2" in named.phrase
    assert kinds["Q"] == {"right", "slip"}
    assert kinds["K"] == kinds["V"] == {"right", "follows"}


def test_rounding_excuses_nothing_that_is_far_off() -> None:
    """Where rounding a small exponential could give almost anything, it explains nothing."""
    given_numbers = numbers(9747)
    planted = SLIPS["product-ignored"]
    answers = script(written(given_numbers, instead={"Y": planted.instead}))
    judged = Examiner(exercise_of(given_numbers)).judged(answers)
    far = {mark.outcome for mark in judged.marks if mark.label.startswith("Y[1")}
    assert far == {"slip"}


def test_rounding_on_the_way_to_a_step_that_is_not_asked() -> None:
    """Where only the output is asked for, weights rounded to four places are no slip."""
    given_numbers = numbers(5)
    whole = exercise_of(given_numbers)
    asked = Exercise(whole.case, "masked", (Part("Y", 1),))
    judged = Examiner(asked).judged(script({"Y": written(given_numbers)["Y"]}))
    assert {mark.outcome for mark in judged.marks} <= {"right", "early"}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("0.2689", "right"), ("0.26894", "right"), ("26.89%", "right"), ("0.2690", "right"),
        ("1/(1 + exp(1))", "right"), ("exp(-1)/(1 + exp(-1))", "right"), ("0,2689", "right"),
        ("0.27", "early"), ("0.26", "early"), ("0.268", "early"), ("0.269", "right"),
        ("0.3", "wrong"), ("0", "wrong"), ("0.2691", "wrong"), ("0.28", "wrong"),
        ("1/4", "wrong"), ("-inf", "wrong"), ("-0.2689", "wrong"), ("1e400", "wrong"),
    ],
)  # fmt: skip
def test_a_single_answer(answer, outcome) -> None:
    """Within a unit of the asked place, in any form, is right; half of the places are early."""
    case = Exercise(make("two", {"X": [[0, 1]]}, {"A": "softmax(-X)"}), "forward", (Part("A", 1),))
    assert answering(case, A=[["", answer]])["A[0, 1]"].outcome == outcome


@pytest.mark.parametrize(
    ("answer", "but"),
    [
        ("-0.2689", "the sign is wrong"), ("0.2698", "two neighbouring digits are swapped"),
        ("0.02689", "the decimal point is misplaced"), ("0.2389", "one digit is another"),
        ("0.5555", ""),
    ],
)  # fmt: skip
def test_slips_of_the_pen_are_told_and_stay_wrong(answer, but) -> None:
    """What differs from the right answer in one thing is told so, and is no named slip."""
    case = Exercise(make("two", {"X": [[0, 1]]}, {"A": "softmax(-X)"}), "forward", (Part("A", 1),))
    mark = answering(case, A=[["", answer]])["A[0, 1]"]
    assert (mark.outcome, mark.slip, mark.but) == ("wrong", None, but)


def moved(whole: int, places: int) -> str:
    """So many units of a decimal place."""
    return f"{Decimal(whole).scaleb(-places):f}"


@given(st.integers(-9999, 9999), st.integers(1, 60), st.integers(0, 6), st.integers(-99, 99))
@settings(max_examples=60, deadline=None)
def test_a_misplaced_point_leaves_the_right_digits(above, below, places, other) -> None:
    """It is said of an answer only if a power of ten other than 1 makes it the right one at the
    places that it then has; and of every right answer of two digits so multiplied."""
    right = Fraction(above, below)
    asked = Exercise(make("one", {"X": [[str(right)]]}, {"A": "X * 1"}), "", (Part("A", 6),))
    whole = round(right * 10**places)
    for answer in (moved(whole, places + 2), moved(whole, places - 1), moved(other, places), "0"):
        mark = answering(asked, A=[[answer]])["A[0, 0]"]
        shown, value = len(answer.partition(".")[2]), Fraction(answer)
        may_be = any(
            value
            and abs(value * Fraction(10) ** k - right) * 2 <= Fraction(1, 10 ** max(shown - k, 0))
            for k in range(-12, 13)
            if k
        )
        is_said = mark.but == "the decimal point is misplaced"
        assert may_be or not is_said, (answer, right)
    mark = answering(asked, A=[[moved(whole, places + 2)]])["A[0, 0]"]
    if mark.outcome == "wrong" and places and abs(whole) > 9:
        assert mark.but == "the decimal point is misplaced"


@pytest.mark.parametrize(
    ("right", "answer", "but"),
    [
        ("-1", "0", ""), ("3", "0.3", "the decimal point is misplaced"), ("-70", "0.00", ""),
        ("30", "3", "the decimal point is misplaced"), ("14/10", "0.1", ""), ("27", "3", ""),
        ("-1", "0.1", ""), ("5", "500", "the decimal point is misplaced"),
        ("1/3", "3.333", "the decimal point is misplaced"), ("1/3", "3.34", ""),
    ],
)  # fmt: skip
def test_one_digit_of_a_figure_tells_nothing_of_its_point(right, answer, but) -> None:
    """Nor does a zero, which is the same wherever its point stands."""
    asked = Exercise(make("one", {"X": [[right]]}, {"A": "X * 1"}), "forward", (Part("A", 4),))
    assert answering(asked, A=[[answer]])["A[0, 0]"].but == but


def test_a_sum_for_a_mean_is_named() -> None:
    """One number is little evidence to an audit; that the mistake is common makes up for it."""
    case = make("loss", {"Z": [[1, 2], [0, 3]], "t": [0, 1]}, {"L": "cross_entropy(Z, t)"})
    asked = Exercise(case, "forward", (Part("L", 1),))
    mean = float(asked.solution["L"].decimal(9))
    for answer, outcome in ((mean, "right"), (2 * mean, "slip"), (1.7 * mean, "wrong")):
        assert answering(asked, L=[[f"{answer:.4f}"]])["L"].outcome == outcome
    slip = answering(asked, L=[[f"{2 * mean:.4f}"]])["L"].slip
    assert slip is not None
    assert slip.phrase == "L with the sum instead of the mean"


@pytest.mark.parametrize("answer", ["0.3333", "0.33", "0.330", "0.3300", "0.3334"])
def test_zeros_that_fill_a_blank_are_no_digits(answer) -> None:
    """Two places are too few, with zeros behind them or without."""
    case = Exercise(make("third", {"X": [[1]]}, {"A": "X / 3"}), "forward", (Part("A", 1),))
    outcome = answering(case, A=[[answer]])["A[0, 0]"].outcome
    assert outcome == ("right" if answer.startswith("0.333") else "early")


def test_masked_scores() -> None:
    """Minus infinity is right where a score is masked, and a number there is not."""
    given_numbers = numbers(7)
    found = written(given_numbers)["M"]
    shown = [[text(x, 4) for x in row] for row in found]
    shown[0][1], shown[0][2], shown[1][2] = "-∞", "0", "−inf"
    marks = answering(exercise_of(given_numbers), M=shown)
    assert [marks[f"M[{at}]"].outcome for at in ("0, 1", "0, 2", "1, 2")] == [
        "right", "wrong", "right"
    ]  # fmt: skip
    assert marks["M[0, 1]"].correct == "-inf"


@pytest.mark.parametrize("number", ["0", "-1", "1e300", "-1e300", "-inf", "1e-300"])
def test_no_number_breaks_the_marking(number) -> None:
    """Where a step is not defined at a student's numbers, nothing follows; and nothing breaks."""
    case = make(
        "odd", {"X": [[1, 2]]},
        {"S": "X * 2", "R": "sqrt(S)", "L": "log(S)", "D": "1 / S", "A": "softmax(S)"},
    )  # fmt: skip
    asked = Exercise(case, "forward", tuple(Part(name, 1) for name in case.steps))
    rows = {name: [[number, number]] for name in case.steps}
    marks = answering(asked, **rows)
    assert len(marks) == 10
    assert "right" not in {mark.outcome for mark in marks.values()}


def test_gradients_follow_too() -> None:
    """A backward pass computed from wrong weights follows from them."""
    case = exercise(library.load("cat-sat-mat"), "backward")
    right = {
        part.quantity: [[f"{x:f}" for x in row] for row in case.right(part)] for part in case.parts
    }
    weights = [["0.2", "0.3", "0.5"]] * 3
    wanted = np.array(weights, float).T @ np.ones((3, 4))
    given_rows = {**right, "A": weights, "dL/dV": [[f"{x:.4f}" for x in row] for row in wanted]}
    marks = answering(case, **given_rows)
    assert {marks[f"dL/dV[{i}, 0]"].outcome for i in range(3)} == {"follows"}


def test_a_mistake_within_the_tolerance_is_named() -> None:
    """What is a unit of the last place from what a mistake gives is taken for it, as it is for
    what is right."""
    one = exercise(library.load("cat-sat-mat"))
    marks = answering(one, T=[["2.0001", "0", "1.0001"]])
    assert [marks[f"T[0, {j}]"].outcome for j in range(3)] == ["slip", "right", "slip"]


def test_a_masked_score_is_no_weight() -> None:
    """Of a weight that is minus infinity no gradient follows, as it would of the right one."""
    one = exercise(library.load("cat-sat-mat"), "backward")
    upstream = {"dL/dA": [["4", "2", "1"]], "dL/dT": [["", "-0.1315", ""]]}
    for weight, outcome in (("0.5065", "follows"), ("-inf", "wrong")):
        marks = answering(one, A=[[weight, "0.1863", "0.3072"]], **upstream)
        assert marks["dL/dT[0, 1]"].outcome == outcome


CENTRED = make(
    "centred",
    {"S": [[1, 2], [0, 1]], "G": [[2, 1], [1, 3]]},
    {"A": "softmax(S)", "H": "A * (G - rowsum(A * G))"},
)


def texts(rows) -> list[list[str]]:
    """Numbers as a student writes them."""
    return [[f"{x:.4f}" for x in row] for row in rows]


def test_rows_that_a_student_wrote_down_need_not_sum_to_one() -> None:
    """Answers follow from the numbers as they stand, not from what weights are."""
    asked = Exercise(CENTRED, "forward", (Part("A", 1), Part("H", 1)))
    upstream = np.array([[2.0, 1.0], [1.0, 3.0]])
    right = np.exp([[1, 2], [0, 1]]) / np.exp([[1, 2], [0, 1]]).sum(axis=1, keepdims=True)
    weights = np.round(right, 4) + np.array([[0, 0.01], [0, 0]])
    honest = weights * (upstream - (weights * upstream).sum(axis=1, keepdims=True))
    marks = answering(asked, A=texts(weights), H=texts(honest))
    assert marks["A[0, 1]"].outcome == "wrong"
    assert {marks[f"H[0, {j}]"].outcome for j in range(2)} == {"follows"}


def test_a_slip_in_weights_that_are_not_asked() -> None:
    """It is named in what is computed from them, though their rows sum to something else."""
    asked = Exercise(CENTRED, "forward", (Part("H", 1),))
    upstream, weights = np.array([[2.0, 1.0], [1.0, 3.0]]), np.exp([[1, 2], [0, 1]])
    made = weights * (upstream - (weights * upstream).sum(axis=1, keepdims=True))
    marks = answering(asked, H=texts(made))
    assert {mark.slip and mark.slip.kind for mark in marks.values()} == {"not-normalised"}


@pytest.mark.parametrize("order", [("S", "Y"), ("Y", "S")])
def test_parts_may_be_asked_in_any_order(order) -> None:
    """A slip is named where it is made, and what is computed from it follows."""
    given_numbers = {"Q": [[1, 2], [0, 1]], "K": [[2, 1], [1, 3]], "d": 2}
    case = make("order", given_numbers, {"S": "Q @ K.T / sqrt(d)", "Y": "exp(S)"})
    asked = Exercise(case, "forward", tuple(Part(name, 1) for name in order))
    scores = np.array([[1, 2], [0, 1]]) @ np.array([[2, 1], [1, 3]]).T
    marks = answering(asked, S=texts(scores), Y=texts(np.exp(scores)))
    assert {mark.slip.kind for mark in marks.values() if mark.slip} == {"scale-dropped"}
    assert {marks[f"Y[{i}, 0]"].outcome for i in range(2)} == {"follows"}
    parts = {fault.part for fault in suspects(asked) if fault.kind == "scale-dropped"}
    assert parts == {"S"}


def test_a_slip_in_a_step_that_two_parts_share() -> None:
    """It is named in the one that it is made in, be it the later one."""
    given_numbers = {"X": [[1, 2], [3, 1]], "B": [[2, 0], [1, 1]], "d": 3}
    steps = {"H": "X / sqrt(d)", "P": "H @ B", "R": "B @ H"}
    asked = Exercise(make("two", given_numbers, steps), "forward", (Part("P", 1), Part("R", 1)))
    x, b = np.array([[1, 2], [3, 1]]), np.array([[2, 0], [1, 1]])
    marks = answering(asked, P=texts(x / np.sqrt(3) @ b), R=texts(b @ x))
    assert {marks[f"P[{i}, 0]"].outcome for i in range(2)} == {"right"}
    assert {marks[f"R[{i}, 0]"].slip.kind for i in range(2)} == {"scale-dropped"}


@pytest.mark.parametrize("top", [700, 3000])
def test_a_slip_behind_a_large_exponential(top) -> None:
    """It is named where floats overflow on the way, too."""
    given_numbers = {"S": [[top, top - 1], [2, 0]], "V": [[1, 2], [3, 5]]}
    steps = {"A": "exp(S) / rowsum(exp(S))", "Y": "A @ V"}
    asked = Exercise(make("large", given_numbers, steps), "forward", (Part("Y", 1),))
    powers = np.exp([[0, -1], [0, -2]])
    weights = powers / powers.sum(axis=1, keepdims=True)
    marks = answering(asked, Y=texts(weights @ np.array([[1, 2], [3, 5]]).T))
    assert {mark.slip and mark.slip.kind for mark in marks.values()} == {"transposed"}


def test_the_same_number_everywhere_is_little_evidence() -> None:
    """Who writes 7 into each blank has not taken scores for weights; that it stands for scaled
    scores and for those before is the usual slip."""
    one = exercise(library.load("cat-sat-mat"))
    sevens = {part.quantity: [["7"] * len(row) for row in one.right(part)] for part in one.parts}
    marks = answering(one, **sevens)
    assert {mark.blank.quantity for mark in marks.values() if mark.slip} <= {"T"}
    assert {marks[f"A[{i}, 0]"].outcome for i in range(3)} == {"wrong"}


def test_proofs_are_not_marked() -> None:
    """People mark them."""
    with pytest.raises(Malformed, match="only people can mark"):
        Examiner(exercise(library.load("cat-sat-mat"), "proof"))
