"""Every mistake in a recipe, planted in a program, is named where it was made."""

from __future__ import annotations

import re
from decimal import Decimal
from random import Random

import pytest

from symattn.auditing.audit import audit
from symattn.cases.case import make
from symattn.solution.solution import Solution

from .papers import (
    BACKWARD,
    GIVEN,
    STEPS,
    Said,
    claiming,
    claims_of,
    document,
    honest,
    printed,
    refuted,
    slipping,
)
from .planting import document as planted

PLACES = 5

#: A mistake in a whole step: its kind, the step, what was computed instead, and how it is said.
WHOLE = [
    ("scale-dropped", "T", "S", "T without the division by sqrt(d_k)"),
    ("scale-dropped", "A", "softmax(causal(S))", "T without the division by sqrt(d_k)"),
    ("scale-not-rooted", "T", "S / d_k", "T with d_k itself instead of its square root"),
    ("other-scale", "T", "S / sqrt(4)", "T with sqrt(4) instead of sqrt(d_k)"),
    ("mask-forgotten", "M", "T", "M without the mask"),
    ("mask-forgotten", "A", "softmax(T)", "M without the mask"),
    ("mask-transposed", "M", "causal(T.T).T", "M with the mask transposed"),
    (
        "mask-after",
        "A",
        "softmax(T) * exp(causal(0 * T))",
        "A with the mask after the softmax instead of before it",
    ),
    (
        "mask-as-zero",
        "M",
        "T * exp(causal(0 * T))",
        "M with 0 for a masked score instead of minus infinity",
    ),
    ("softmax-columns", "A", "softmax(M.T).T", "A with the softmax down the columns"),
    ("softmax-all", "A", "exp(M) / total(exp(M))", "A with the softmax over all entries"),
    ("not-normalised", "A", "exp(M)", "A without the division by the sums"),
    ("transposed", "Q", "X @ W_Q.T", "Q with W_Q transposed"),
    ("transposed", "S", "Q @ K", "S with K not transposed"),
    ("transposed", "Y", "A.T @ V", "Y with A transposed"),
    ("product-swapped", "K", "W_K @ X", "K with the factors of the product in the wrong order"),
    ("product-swapped", "Y", "V @ A", "Y with the factors of the product in the wrong order"),
    ("result-transposed", "S", "K @ Q.T", "S transposed"),
    ("other-matrix", "V", "X @ W_K", "V with W_K instead of W_V"),
    ("other-matrix", "S", "Q @ V.T", "S with V instead of K"),
    ("other-matrix", "Y", "A @ K", "Y with K instead of V"),
    ("operand-ignored", "V", "X", "V replaced by X"),
    ("operand-ignored", "Y", "V", "Y replaced by V"),
    ("sign-flipped", "S", "-(Q @ K.T)", "S with the wrong sign"),
    ("sign-flipped", "Y", "-(A @ V)", "Y with the wrong sign"),
    ("other-base", "A", "softmax(M * log(2))", "exp(M) to base 2"),
]


def audited(wrong, expressions=tuple(STEPS), places=PLACES, right=None):
    """What the honest program's audit says of what another one prints."""
    return audit(claiming(right or honest(), claims_of(wrong, expressions, places)))


def the_cause(found, phrase):
    """The one cause of a document, which says a phrase, or has a rival that does."""
    (slip,) = found.causes
    assert any(phrase in said for said in (slip.sentence, *slip.rivals)), (slip, phrase)
    return slip


@pytest.mark.sampled(2, 19)
@pytest.mark.parametrize(("kind", "step", "instead", "phrase"), WHOLE)
def test_a_mistake_in_a_whole_step_is_named(kind, step, instead, phrase) -> None:
    """It is the one cause of all that is wrong: one root, from the step on, the rest carried."""
    found = audited(slipping(**{step: instead}))
    slip = the_cause(found, phrase)
    # Of kinds that come to the same here the first is named, the others are its rivals.
    assert kind == slip.kind or slip.rivals
    assert [*slip.explains] == refuted(found)
    assert slip.breaks == ()
    assert slip.coverage == 1
    first, *others = refuted(found)
    assert (first.cause, first.explained) == ("root", slip)
    assert {figure.cause for figure in others} == {"carried"}
    places = [*STEPS]
    assert all(places.index(figure.place[0]) >= places.index(step) for figure in refuted(found))


#: What is not a mistake of the standard program: other programs, and theirs.
OTHER = [
    ({"T": "S * 0.3"}, "T", "S * 0.3 * 0.3", "T with the factor 3/10 twice"),
    ({"T": "S * 0.3"}, "T", "S", "T without the factor 3/10"),
    ({"T": "S / 4"}, "T", "S / 3", "T divided by 3 instead of 4"),
    ({"S": "Q @ K.T + W_V"}, "S", "Q @ K.T", "S without the term W_V"),
    ({"S": "Q @ K.T + W_V"}, "S", "Q @ K.T - W_V", "S with the wrong sign of W_V"),
    ({"S": "Q @ K.T - W_V"}, "S", "Q @ K.T + W_V", "S with the wrong sign of W_V"),
    ({"M": "mask(T, P)"}, "M", "T", "M without the mask"),
    ({"M": "mask(T, P)"}, "M", "mask(T, P.T)", "M with the mask transposed"),
    ({"Y": "concat(A @ V, V)"}, "Y", "concat(V, A @ V)", "Y with parts 0 and 1 swapped"),
    (
        {"A": "softmax(causal(Q @ K.T / sqrt(d_k)))"},
        "A",
        "softmax(causal(S))",
        "without the division by sqrt(d_k)",
    ),
]
PADDING = [["1", "0", "1", "1"], ["1", "1", "0", "1"], ["0", "1", "1", "1"], ["1", "1", "1", "0"]]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("steps", "step", "instead", "phrase"), OTHER)
def test_mistakes_in_other_programs_are_named(steps, step, instead, phrase) -> None:
    """A scale that is no root, a bias, a padding mask, heads, steps written as one."""
    given = {**GIVEN, "P": PADDING}
    if "Y" in steps:
        # The loss of the standard program is of another shape.
        right, wrong = (
            Solution(make("heads", given, {**STEPS, "Y": text})) for text in (steps["Y"], instead)
        )
    else:
        right, wrong = slipping(given, **steps), slipping(given, **{**steps, step: instead})
    found = audited(wrong, right=right)
    slip = the_cause(found, phrase)
    assert [*slip.explains] == refuted(found)


#: Mistakes in the backward pass, with what the gradients after it become.
BACK = [
    ({"dL/dM": "A * dL/dA"}, "without the term rowsum(A * dL/dA)"),
    ({"dL/dM": "-dL/dM"}, "dL/dM with the wrong sign"),
    ({"dL/dS": "dL/dT"}, "dL/dS without the division by sqrt(d_k)"),
    ({"dL/dV": "A @ dL/dY"}, "dL/dV with A not transposed"),
    ({"dL/dK": "dL/dS @ Q"}, "dL/dK with dL/dS not transposed"),
    ({"dL/dQ": "dL/dS @ V"}, "dL/dQ with V instead of K"),
    ({"dL/dQ": "dL/dT @ K"}, "dL/dQ with dL/dT instead of dL/dS"),
]
#: How each gradient follows from those before it.
FOLLOWS = {"dL/dT": "dL/dM", "dL/dS": "dL/dT / sqrt(d_k)", "dL/dQ": "dL/dS @ K",
           "dL/dK": "dL/dS.T @ Q"}  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("instead", "phrase"), BACK)
def test_mistakes_in_the_backward_pass_are_named(instead, phrase) -> None:
    """Gradients are steps like any other: the dropped row sum of the softmax derivative, a
    scale or a transpose forgotten; those after them carry it."""
    claims, wrong = [], dict(instead)
    for name in BACKWARD:
        if name not in wrong:
            text = FOLLOWS.get(name, name)
            for earlier, other in wrong.items():
                text = text.replace(earlier, f"({other})") if name in FOLLOWS else text
            if text != FOLLOWS.get(name, name):
                wrong[name] = text
        text = wrong.get(name, name)
        claims.append(Said(name, name, printed(honest()[text], PLACES)))
    found = audit(claiming(honest(), claims))
    slip = the_cause(found, phrase)
    assert [*slip.explains] == refuted(found)
    assert {figure.place[0] for figure in refuted(found)} <= {*wrong}


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("instead", "phrase"),
    [
        ({"T": "S"}, "T without the division by sqrt(d_k)"),
        ({"T": "S / d_k"}, "T with d_k itself instead of its square root"),
        ({"M": "T"}, "M without the mask"),
        ({"A": "softmax(M.T).T"}, "A with the softmax down the columns"),
        ({"Q": "X @ W_Q.T"}, "Q with W_Q transposed"),
    ],
)
def test_gradients_may_follow_the_mistake(instead, phrase) -> None:
    """What a library differentiates is what was computed: one cause, forward and backward."""
    found = audited(slipping(**instead), (*STEPS, *BACKWARD))
    slip = the_cause(found, phrase)
    assert [*slip.explains] == refuted(found)
    assert any(figure.place[0].startswith("dL/d") for figure in slip.reproduces)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("of", ["A[3, 1]", "Y[2, 1]", "S[1, 2]"])
def test_one_figure_is_not_enough(of) -> None:
    """Digits in the wrong order, a sign, a point: chance gives one figure as well. What comes
    nearest is told in the data, and nothing is named."""
    right = printed(honest()[of], PLACES)
    for wrong, said in (
        (right[:-2] + right[-1] + right[-2], "two neighbouring digits are swapped"),
        (f"-{right}".replace("--", ""), "the sign is wrong"),
    ):
        (figure,) = document((of, wrong)).figures
        if wrong != right:
            assert figure.explained is None
            assert figure.cause in ("root", "last-digit")
            assert said in [sentence for sentence, _ in figure.candidates]


def test_one_unit_in_the_last_place_is_named_so() -> None:
    """Nothing else explains it: no slip is made up for a single unit."""
    for of in ("A[3, 1]", "Y[2, 0]", "S[1, 2]"):
        # Away from zero: a unit towards it may be a figure that is cut off.
        beyond = honest()[of].decimal(3) + Decimal("0.001")
        found = document((of, str(beyond)))
        assert [figure.cause for figure in found.figures] == ["last-digit"]
        assert found.causes == ()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(4))
def test_random_figures_have_no_cause(seed) -> None:
    """What was not planted is not named: figures made up at random."""
    random = Random(seed)
    table = printed(honest()["A"], 4)
    for _ in range(3):
        i = random.randrange(1, 4)
        table[i][random.randrange(i + 1)] = f"{random.random():.4f}"
    found = document(("A", table))
    assert found.roots
    assert found.causes == ()


def test_two_mistakes_are_two_causes() -> None:
    """After the one is named the rest is searched again."""
    wrong = slipping(Q="X @ W_Q.T")
    claims = claims_of(wrong, ("Q",), PLACES)
    claims += claims_of(slipping(V="X @ W_K"), ("V",), PLACES)
    found = audit(claiming(honest(), claims))
    assert {slip.kind for slip in found.causes} == {"transposed", "other-quantity"}
    assert len(found.roots) == 2


def test_what_a_slip_does_not_explain_stays_a_root() -> None:
    """A figure that is wrong for itself is no part of the cause beside it."""
    claims = claims_of(slipping(T="S"), ("T", "M", "A"), PLACES)
    table = printed(honest()["V"], PLACES)
    table[1][2] = "9.87654"
    found = audit(claiming(honest(), [*claims, Said("values", "V", table)]))
    (slip,) = found.causes
    assert slip.kind == "scale-dropped"
    own = [figure for figure in found.roots if figure.explained is None]
    assert [figure.label for figure in own] == ["V[1, 2]"]
    assert own[0].reason == "incorrect, no cause found"


@pytest.mark.heavy
def test_a_wrong_number_is_told_by_the_digits_that_give_the_figures() -> None:
    """No more of them than that takes, and those of its rivals and candidates alike."""
    told = []
    for seed in (100, 105, 110, 117):
        found = audit(planted(Random(seed), "wrong-value").case)
        (slip, *_) = found.causes
        assert slip.kind == "wrong-number"
        candidates = [said for figure in found.roots for said, _ in figure.candidates]
        told += [slip.sentence, *slip.rivals, *candidates]
    numbers = [number for said in told for number in re.findall(r"\d+\.(\d+)", said)]
    assert len(numbers) >= 8
    assert max(map(len, numbers)) <= 9
