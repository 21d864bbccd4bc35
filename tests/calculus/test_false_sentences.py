"""Sentences that say something false: none passes as words, or as a definition."""

from __future__ import annotations

from itertools import product

import pytest

from symattn.calculus.library import derive

GIVEN = "z, y: n\nassume sum(y) = 1\np = softmax(z)\nL = -sum(y*log(p))\nsum(p) = 1\ndz = p - y\n"
SUBJECTS = ("p", "`p`", "$L$", "dz", "the gradient of L", "the loss L", "each entry of p")
SAID = (
    *("is positive", "is then 0", "is the vector y", "vanishes everywhere", "decreases", "is 7"),
    *("does not depend on z", "equals y", "is also the softmax of y", "becomes y", "is constant"),
    *("has a maximum at y", "is proportional to y", "sums to 3", "stays the same"),
)
LEADS = ("", "So ", "Note that ", "It follows that ", "As everybody knows, ")
STATED = [
    f"{lead}{subject} {said}." if lead else f"{subject[0].upper()}{subject[1:]} {said}."
    for lead, subject, said in product(LEADS, SUBJECTS[4:], SAID)
] + [f"{lead}{subject} {said}." for lead, subject, said in product(LEADS[1:], SUBJECTS[:4], SAID)]
#: An equation of a new name, in words that claim it.
CLAIMED = [
    lead.format(f"{name} = {formula}")
    for lead, name, formula in product(
        (
            *("The gradient of the loss with respect to z is {}", "Hence {}", "The answer is {}"),
            *("The derivative:\n{}", "We get\n{}", "$${}$$\nis the gradient.", "Therefore ${}$."),
            *("Let {} be the gradient of L.", "The mean of y is {}", "The Jacobian reads ${}$"),
            *("The variance is {}", "Thus, by the chain rule, {}", "{} is the derivative of L"),
            *("which gives {}", "The Hessian of L in z is then `{}`", "Solution: {}"),
        ),
        ("g", "err", "H_p", "answer"),
        ("p + y", "0 * y"),
    )
]
#: Names, whatever they call, defined and left at that.
NAMED = [
    f"{name} = p + y"
    for name in (
        *("g", "grad", "H_L", "dloss", "err", "answer", "Δz", "result", "out", "delta", "update"),
        *("slope", "sensitivity", "backprop", "jac", "the_gradient", "r", "w", "dir", "step1"),
    )
]


@pytest.mark.sampled(40)
@pytest.mark.parametrize("sentence", [*STATED, *CLAIMED, *NAMED])
def test_no_false_sentence_passes(sentence: str) -> None:
    """It is a fault, or it is judged and refuted, or it is told."""
    assert not derive(GIVEN + sentence).proved


@pytest.mark.sampled(10)
@pytest.mark.parametrize("sentence", CLAIMED)
def test_what_is_used_later_was_claimed_all_the_same(sentence: str) -> None:
    """A true line about a name proves nothing of the words by which it came."""
    name = next(part for part in ("answer", "H_p", "err", "g") if f"{part} = " in sentence)
    assert not derive(f"{GIVEN}{sentence}\n{name} + 0 = {name}").proved


@pytest.mark.parametrize("name", ["grad_z", "gradz", "z_grad", "L_z", "Dz", "δz", "gz", "nabla_z"])
def test_what_calls_a_gradient_is_none_by_definition(name: str) -> None:
    """Also where a true line speaks of it: it is asked whether it is the gradient."""
    judged = derive(f"{GIVEN}{name} = p + y\nsum({name}) = 2")
    assert not judged.proved
    assert any("the gradient" in fault.message for fault in judged.faults)


def test_a_gradient_in_words_is_judged() -> None:
    """As what the words say that it is of; it holds if it is that."""
    words = "The gradient of the loss with respect to z is g ="
    right, wrong = (derive(f"{GIVEN}{words} p {sign} y") for sign in "-+")
    assert (right.faults, right.proved) == ((), True)
    assert [line.text for line in right.lines][-1] == "g == diff(L, z)"
    assert wrong.faults == ()
    assert wrong.lines[-1].status == "refuted"
    assert derive("x: n\nThe mean of x is m = sum(x)/n").proved
    assert not derive("x: n\nThe mean of x is m = sum(x)").proved


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("S: n x m\nA = softmax(S)\nEach row of A sums to one.", "rowsum(A) == 1"),
        ("S: n x m\nA = softmax(S)\nThe entries of A sum to 2.", "sum(A) == 2"),
        ("S: n x n\nA = S + S.T\nNote that $A$ is symmetric.", "A.T == A"),
    ],
)
def test_sentences_that_are_formulas_are_judged(text: str, claim: str) -> None:
    """Sums and symmetry are said in words."""
    judged = derive(text)
    assert [line.text for line in judged.lines] == [claim]
    assert judged.proved == ("2" not in claim)


@pytest.mark.parametrize(
    "words",
    [
        *("Now differentiate.", "by the chain rule", "We compute the derivative of L.", "Proof."),
        *("Next, the backward pass through p.", "where p is the output of the layer"),
        *("For all $i$:", "Differentiate L with respect to z.", "The derivation is simple."),
        *("This follows from the definition of $p$.", "The loss of a classifier.", "Let us begin."),
    ],
)
def test_words_that_state_nothing_pass(words: str) -> None:
    """Introductions, and what one does."""
    judged = derive(f"{GIVEN}\n{words}\n\nsum(p) = 1")
    assert (judged.faults, judged.proved) == ((), True)


def test_a_definition_without_a_claim_is_told() -> None:
    """By its name and line, in text and JSON; the exit code is that of a line not proved."""
    judged = derive("x: n\nm = mean(x)\nv = 2 m\nm = sum(x)/n")
    assert [line.status for line in judged.lines] == ["proved"]
    assert (judged.unused, judged.proved) == (((3, "v"),), False)
    assert "v (line 3)" in judged.to_text()
    assert judged.to_dict()["unused"] == [{"at": 3, "name": "v"}]
