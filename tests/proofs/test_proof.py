"""A proof refuses what is not so, and says when it does not know."""

from __future__ import annotations

import pytest

from symattn.errors import Malformed
from symattn.proofs.language import Size, at_most, delta, exp, indices, mean, partial, sum_over
from symattn.proofs.matrices import Array, diag
from symattn.proofs.proof import Proof, RefusedStep

n, m = Size("n"), Size("m")
i, j = indices("i j", n)
(k,) = indices("k", m)


def proof(**options):
    sizes = [{"n": 2, "m": 3}, {"n": 3, "m": 1}]
    return Proof("trial", **{"statement": "s", "source": "t", "sizes": sizes, **options})


def nothing(derivation, random):
    return ()


def test_a_false_step_names_itself_and_where_it_fails():
    """The derivation, the step's number, its equation, the sizes and the indices."""
    trial = proof()
    x = trial.array("x", n)
    trial.step(sum_over(j, delta(i, j) * x[j]), x[i], "the delta leaves one term")
    with pytest.raises(RefusedStep) as refused:
        trial.then(x[i] + delta(i, j), "a slip")
    assert str(refused.value) == (
        "trial, step 2: Σ_j δ_ij x_j = x_i + δ_ij fails at n=2, m=3 for i=1, j=1"
    )
    assert (refused.value.derivation, refused.value.line) == ("trial", "step 2")


def test_a_refused_step_is_not_added():
    """After a refusal the proof stands as before."""
    trial = proof()
    x = trial.array("x", n)
    with pytest.raises(RefusedStep):
        trial.step(x[i], -x[i], "a slip")
    trial.step(x[i] - x[i], 0, "cancel")
    trial.conclude()
    assert [step.text for step in trial.done(nothing).steps] == ["x_i − x_i = 0"]


def test_a_step_that_only_sizes_confirm_says_so():
    """A quotient of two terms inside a sum is not reduced for all sizes."""
    trial = proof()
    x, y = trial.array("x", n), trial.array("y", n)
    trial.step(sum_over(i, y[i] * (x[i] + y[i]) / (x[i] + y[i])), sum_over(i, y[i]), "cancel")
    trial.conclude()
    derivation = trial.done(nothing)
    assert derivation.steps[0].how == "concrete"
    assert derivation.confirmed == {"symbolic": 0, "concrete": 1, "undecided": 0}
    assert derivation.proved
    assert "(at concrete sizes only)" in derivation.to_text()
    assert "at concrete sizes only" in derivation._repr_latex_()


def test_an_undecided_step_is_never_shown_as_proved():
    """A fourth moment is not known from mean and variance."""
    trial = proof()
    q = trial.array("q", n, kind="random")
    trial.step(mean(q[i] ** 4), 3, "of a normal variable, which nobody assumed")
    trial.conclude()
    derivation = trial.done(nothing)
    assert derivation.steps[0].how == "undecided"
    assert not derivation.proved
    assert "(UNDECIDED)" in derivation.to_text()
    assert derivation.summary() == "1 lines: 1 UNDECIDED"
    assert str(derivation.check().verdict) == "undecided"


def test_a_false_matrix_form_is_refused():
    """Also where the index form was right."""
    trial = proof()
    x = trial.array("x", n)
    D = trial.define("D", [i, j], delta(i, j) * x[i])
    trial.step(D[i, j], delta(i, j) * x[j], "where i = j, x_i is x_j")
    with pytest.raises(RefusedStep, match="matrix form of step 1: D = x xᵀ fails"):
        trial.conclude(D, x @ x.T)
    trial.conclude(D, diag(x))


def test_a_matrix_form_covers_every_entry():
    """An index form of the first row does not vouch for the others."""
    trial = proof()
    x = trial.array("x", n)
    R = trial.define("R", [i, j], delta(1, i) * x[j])
    one = Array("o", (n,), params=(i,), body=delta(i, i))
    trial.step(R[1, j], x[j], "the first row")
    with pytest.raises(RefusedStep, match=r"R = o xᵀ fails at n=2, m=3 for i=2, j=1"):
        trial.conclude(R, one @ x.T)


def test_wrong_transposes_do_not_fit():
    """Indices over different ranges and matrices of different shapes are malformed."""
    trial = proof()
    A, B = trial.array("A", n, m), trial.array("B", m, n)
    with pytest.raises(Malformed, match="A: expected an index up to n, found one up to m"):
        A[k, i]
    with pytest.raises(Malformed, match="A: expected 2 indices, found 1"):
        A[i]
    with pytest.raises(Malformed, match="delta: indices up to m and n, expected one range"):
        delta(i, k)
    with pytest.raises(Malformed, match="the left has m columns, the right n rows"):
        A @ A
    with pytest.raises(Malformed, match="entry by entry: axes of n and m entries"):
        A + B
    trial.step(A[i, k] - A[i, k], 0, "cancel")
    with pytest.raises(Malformed, match="A = B: two different shapes"):
        trial.conclude(A, B)


def test_only_the_first_place_is_sure_to_exist():
    """S_2 has no meaning where n is 1."""
    S = proof().array("S", n)
    with pytest.raises(Malformed, match="place 2: expected 1 or an index"):
        S[2]
    with pytest.raises(Malformed, match="place 3"):
        delta(i, 3)


def test_the_last_place_of_another_axis_is_not_the_last_of_this():
    """[j <= i] at i = n is 1 for j up to n, not for an index up to m."""
    trial = proof()
    x = trial.array("x", n)
    trial.step(sum_over(i, delta(i, n) * at_most(j, i) * x[j]), x[j], "j is at most n")
    with pytest.raises(RefusedStep):
        trial.step(sum_over(i, delta(i, n) * at_most(k, i)), 1, "k runs to m")
    with pytest.raises(Malformed, match="at_most: indices up to m and n"):
        at_most(k, n)


def test_two_arrays_of_one_name_are_two():
    """What is written alike is not equal for that."""
    trial = proof()
    with pytest.raises(RefusedStep):
        trial.step(trial.array("x", n)[i], trial.array("x", n)[i], "the same letter")


def test_sizes_are_read_with_all_their_faults():
    """Missing, unknown and impossible sizes, in one error."""
    with pytest.raises(Malformed) as malformed:
        proof(sizes=[{"n": 2, "m": 1}, {"n": 0, "d": 4}])
    assert [str(fault) for fault in malformed.value.faults] == [
        "sizes[1].n: expected a whole number from 1, found 0",
        "sizes[1].m: missing",
        "sizes[1].d: unknown; expected n, m",
    ]
    with pytest.raises(Malformed, match="sizes: expected at least one"):
        proof(sizes=[])


def test_a_derivation_needs_steps_and_a_conclusion():
    """Nothing is concluded from nothing."""
    with pytest.raises(Malformed, match="no step to conclude from"):
        proof().conclude()
    with pytest.raises(Malformed, match="no step to continue"):
        proof().then(0, "")
    trial = proof()
    trial.step(exp(trial.scalar("s") * 0), 1, "e^0")
    with pytest.raises(Malformed, match="needs a step and a conclusion"):
        trial.done(nothing)


def test_division_by_zero_is_refused_not_confirmed():
    """A step that divides by a sum that is always zero is no step."""
    trial = proof()
    x = trial.array("x", n)
    with pytest.raises(RefusedStep, match="division by zero"):
        trial.step(x[i] / (x[i] - x[i]), x[i], "a slip")


def test_the_derivative_of_a_derivative_is_left_open():
    """Second derivatives are not taken; the step is recorded as undecided."""
    trial = proof()
    x = trial.array("x", n)
    trial.step(partial(partial(exp(x[i]), x[i]), x[i]), exp(x[i]), "twice")
    trial.conclude()
    assert not trial.done(nothing).proved
