"""Every known slip, planted in a program, is named where it was made."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import pytest

from symattn.auditing.audit import audit
from symattn.auditing.slips import SENTENCES

from .papers import (
    BACKWARD,
    GIVEN,
    STEPS,
    Said,
    causes,
    claiming,
    claims_of,
    document,
    honest,
    printed,
    refuted,
    slipping,
)

PLACES = 5

#: A slip of a whole step: its name, the step, and what was computed instead.
WHOLE = [
    ("scale-dropped", "T", "S"),
    ("scale-dropped", "A", "softmax(causal(S))"),
    ("scale-not-rooted", "T", "S / d_k"),
    ("mask-forgotten", "M", "T"),
    ("mask-forgotten", "A", "softmax(T)"),
    ("mask-transposed", "M", "causal(T.T).T"),
    ("softmax-columns", "A", "softmax(M.T).T"),
    ("not-normalised", "A", "exp(M)"),
    ("transposed", "Q", "X @ W_Q.T"),
    ("transposed", "S", "Q @ K"),
    ("transposed", "Y", "A.T @ V"),
    ("product-swapped", "K", "W_K @ X"),
    ("product-swapped", "Y", "V @ A"),
    ("result-transposed", "S", "K @ Q.T"),
    ("other-matrix", "V", "X @ W_K"),
    ("other-matrix", "S", "Q @ V.T"),
    ("other-matrix", "Y", "A @ K"),
    ("matrix-reused", "V", "X"),
    ("matrix-reused", "Y", "V"),
    ("sign-flipped", "S", "-(Q @ K.T)"),
    ("sign-flipped", "Y", "-(A @ V)"),
]


def audited(wrong, expressions=tuple(STEPS), places=PLACES, right=None):
    """What the honest program's audit says of what another one prints."""
    return audit(claiming(right or honest(), claims_of(wrong, expressions, places)))


def named(found):
    """The slips that are named, each with the quantity it is named at."""
    return {(figure.slip, figure.place[0]) for figure in found.roots}


@pytest.mark.parametrize(("slip", "step", "instead"), WHOLE)
def test_a_slip_of_a_whole_step_is_named(slip, step, instead):
    """It is named at its step and nowhere else; all that is wrong after it is
    carried, and what does not depend on it holds."""
    found = audited(slipping(**{step: instead}))
    assert named(found) == {(slip, step)}
    places = list(STEPS)
    for figure in refuted(found):
        if figure.place[0] == step:
            assert (figure.cause, figure.slip) == ("root", slip)
        else:
            assert figure.cause == "carried"
            assert places.index(figure.place[0]) > places.index(step)
            assert all(source.order < figure.order for source in figure.because)


#: What is not a slip of the standard program: other programs, and their slips.
OTHER = [
    ("scaled-twice", {"T": "S * 0.3"}, "T", "S * 0.3 * 0.3"),
    ("scale-dropped", {"T": "S * 0.3"}, "T", "S"),
    ("term-dropped", {"S": "Q @ K.T + W_V"}, "S", "Q @ K.T"),
    ("term-sign", {"S": "Q @ K.T + W_V"}, "S", "Q @ K.T - W_V"),
    ("term-sign", {"S": "Q @ K.T - W_V"}, "S", "Q @ K.T + W_V"),
    ("mask-forgotten", {"M": "mask(T, P)"}, "M", "T"),
    ("mask-transposed", {"M": "mask(T, P)"}, "M", "mask(T, P.T)"),
    ("scale-dropped", {"A": "softmax(causal(Q @ K.T / sqrt(d_k)))"}, "A", "softmax(causal(S))"),
]
PADDING = [["1", "0", "1", "1"], ["1", "1", "0", "1"], ["0", "1", "1", "1"], ["1", "1", "1", "0"]]


@pytest.mark.parametrize(("slip", "steps", "step", "instead"), OTHER)
def test_slips_of_other_programs_are_named(slip, steps, step, instead):
    """A scale that is no root, a bias, a padding mask, steps written as one."""
    given = {**GIVEN, "P": PADDING}
    right, wrong = slipping(given, **steps), slipping(given, **{**steps, step: instead})
    found = audited(wrong, right=right)
    assert named(found) == {(slip, step)}
    assert all(f.cause == "carried" for f in refuted(found) if f.place[0] != step)


#: Slips of the backward pass, with what the gradients after it become.
BACK = [
    ("term-dropped", "dL/dM", {"dL/dM": "A * dL/dA"}),
    ("sign-flipped", "dL/dM", {"dL/dM": "-dL/dM"}),
    ("scale-dropped", "dL/dS", {"dL/dS": "dL/dT"}),
    ("transposed", "dL/dV", {"dL/dV": "A @ dL/dY"}),
    ("transposed", "dL/dK", {"dL/dK": "dL/dS @ Q"}),
    ("other-matrix", "dL/dQ", {"dL/dQ": "dL/dS @ V"}),
    ("scale-dropped", "dL/dQ", {"dL/dQ": "dL/dT @ K"}),
]
#: How each gradient follows from those before it.
FOLLOWS = {"dL/dT": "dL/dM", "dL/dS": "dL/dT / sqrt(d_k)", "dL/dQ": "dL/dS @ K",
           "dL/dK": "dL/dS.T @ Q"}  # fmt: skip


@pytest.mark.parametrize(("slip", "step", "instead"), BACK)
def test_slips_of_the_backward_pass_are_named(slip, step, instead):
    """Gradients are steps like any other: the dropped row sum of the softmax
    derivative, a scale or a transpose forgotten."""
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
    assert named(found) == {(slip, step)}
    for figure in refuted(found):
        assert figure.place[0] in wrong
        assert (figure.cause == "root") == (figure.place[0] == step)


def test_a_score_copied_within_a_row_is_named():
    """One score of a row taken for another: all weights of the row are wrong
    from that, and the output of the row carries them."""
    given = {**GIVEN, "E": [[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]}
    wrong = slipping(given, A="softmax(causal(T - T * E + T[2, 0] * E))")
    found = audited(wrong)
    assert named(found) == {("score-copied", "A")}
    assert {figure.place[1] for figure in refuted(found)} == {2}
    assert causes(found, of="Y") == {"carried"}
    assert {f.reason for f in found.roots} == {"M[2, 0] in place of M[2, 1] was used"}


#: Slips of one entry: what is printed of A[3, 1], S[1, 2] or Y[2, 0].
ENTRY = [
    ("entry-copied", "A[3, 1]", "A[3, 2]"),
    ("entry-copied", "Y[2, 0]", "Y[1, 0]"),
    ("term-dropped", "S[1, 2]", "S[1, 2] - Q[1, 3] * K[2, 3]"),
    ("term-dropped", "Y[2, 0]", "Y[2, 0] - A[2, 1] * V[1, 0]"),
    ("term-dropped", "A[3, 1]", "exp(T[3, 1]) / (exp(T[3, 0]) + exp(T[3, 1]) + exp(T[3, 3]))"),
    ("term-sign", "S[1, 2]", "S[1, 2] - 2 * Q[1, 0] * K[2, 0]"),
    ("term-sign", "Y[2, 0]", "Y[2, 0] - 2 * A[2, 2] * V[2, 0]"),
    ("sign-flipped", "S[1, 2]", "-S[1, 2]"),
    ("decimal-misplaced", "Y[2, 0]", "Y[2, 0] / 10"),
    ("decimal-misplaced", "S[1, 2]", "100 * S[1, 2]"),
]


@pytest.mark.parametrize(("slip", "of", "instead"), ENTRY)
def test_a_slip_of_one_entry_is_named(slip, of, instead):
    """Printed by itself, or in the matrix that it belongs to."""
    wrong = printed(honest()[instead], PLACES)
    (figure,) = document((of, wrong)).figures
    assert (figure.cause, figure.slip) == ("root", slip)
    name, i, j = figure.place
    table = printed(honest()[name], PLACES)
    table[i][j] = wrong
    (figure,) = refuted(document((name, table)))
    assert (figure.cause, figure.slip, figure.at) == ("root", slip, (i, j))


@pytest.mark.parametrize("of", ["A[3, 1]", "Y[2, 1]", "S[1, 2]"])
def test_digits_written_in_the_wrong_order_are_named(of):
    """Two neighbouring digits swapped, wherever they are different."""
    right = printed(honest()[of], PLACES)
    swaps = 0
    for k in range(right.index(".") + 1, len(right) - 1):
        wrong = right[:k] + right[k + 1] + right[k] + right[k + 2 :]
        (figure,) = document((of, wrong)).figures
        if right[k] != right[k + 1]:
            swaps += 1
            assert figure.correct == right
            assert figure.slip == "digits-transposed"
        else:
            assert not figure.cause
    assert swaps > 1


def test_two_figures_swapped_are_named():
    """Both are roots, and each names the other."""
    table = printed(honest()["A"], PLACES)
    table[2][0], table[3][1] = table[3][1], table[2][0]
    one, other = refuted(document(("A", table)))
    assert one.slip == other.slip == "entries-swapped"
    assert one.reason == "this figure and that of A[3, 1] were swapped"
    assert other.reason == "this figure and that of A[2, 0] were swapped"


def test_one_unit_in_the_last_place_is_named_so():
    """Nothing else explains it: no slip is made up for a single unit."""
    for of in ("A[3, 1]", "Y[2, 0]", "S[1, 2]"):
        # Away from zero: a unit towards it may be a figure that is cut off.
        beyond = honest()[of].decimal(3) + Decimal("0.001")
        (figure,) = document((of, str(beyond))).figures
        assert (figure.cause, figure.slip) == ("last-digit", "last-digit")


def test_every_known_slip_has_been_planted():
    """The list of slips and these tests stay together."""
    planted = {slip for slip, *_ in (*WHOLE, *OTHER, *BACK, *ENTRY)}
    single = {"score-copied", "digits-transposed", "entries-swapped", "last-digit"}
    assert planted | single == set(SENTENCES)


@pytest.mark.parametrize("seed", range(4))
def test_random_figures_have_no_named_slip(seed):
    """What was not planted is not named: figures made up at random."""
    random = Random(seed)
    table = printed(honest()["A"], 4)
    for _ in range(3):
        i = random.randrange(1, 4)
        table[i][random.randrange(i + 1)] = f"{random.random():.4f}"
    found = document(("A", table))
    assert found.roots
    assert {figure.slip for figure in found.roots} == {""}
