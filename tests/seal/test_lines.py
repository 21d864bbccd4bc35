"""Lines of derivations as theorems: they say what the lines say, and Coq takes those that hold."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest

from symattn.calculus import library
from symattn.calculus.library import derivation
from symattn.seal.coqc import Kernel
from symattn.seal.derivations import sealed
from symattn.seal.theorems import Theorem

from .line_reader import Reader, world

CHECKED = (
    "softmax-jacobian",
    "softmax-backward",
    "attention-gradients",
    "online-softmax",
    "permutation",
)
PROVED = 260
"""At least so many of the bundled lines go through for all sizes."""


def _rows(draw):
    shares = [[draw.uniform(0.1, 1) for _ in range(3)] for _ in range(3)]
    return lambda i: lambda j: shares[i][j] / sum(shares[i])


SPECIAL = {
    "masking": {"M": lambda _: lambda i: lambda j: float((i, j) != (0, 1))},
    "cross-entropy": {"n": lambda _: 3, "y": lambda draw: _rows(draw)(0)},
    "linear-cross-entropy": {"m": lambda _: 3, "T": _rows},
    "permutation": {"n": lambda _: 3, "pi": lambda _: lambda i: (1, 2, 0)[i]},
}


def test_lines_are_stated_by_entries() -> None:
    stated = {x.name: x for x in sealed(derivation("softmax-backward")).file.sealing()}
    assert stated["line_5"].statement == (
        "forall i j : nat, (i < n_q)%nat -> (j < n_k)%nat -> "
        "is_derive (fun x : R => L (A_of (put2 S i j x))) (S i j) "
        "(A i j * (dA i j - sum n_k (fun l => A i l * dA i l)))"
    )
    assert stated["line_5"].seals == (
        "line 5 of The backward pass of softmax: dS_ij = A_ij (dA_ij − Σ_l A_il dA_il)"
    )
    assert stated["line_8"].statement == (
        "forall i : nat, (i < n_q)%nat -> sum n_k (fun j => A i j) = 1"
    )


def test_names_of_coq_are_left_alone() -> None:
    """The derivation's R is the weights as a row, Coq's R the real numbers."""
    text = sealed(derivation("softmax-jacobian")).file.text()
    assert "Definition R'_of (A : nat -> R) (i j : nat) : R :=\n  A j." in text


def test_conditions_that_always_hold_are_no_hypotheses() -> None:
    stated = {x.name: x.statement for x in sealed(derivation("softmax-jacobian")).file.sealing()}
    assert "<>" not in stated["line_7"]
    made = sealed(derivation("masking")).file
    stated = {x.name: x.statement for x in made.sealing()}
    assert "sum n_k (fun l => E i l) <> 0 ->" in stated["line_3"]
    assert "Hypothesis everywhere_1 : (forall j : nat, (j < n_q)%nat -> " in made.text()


def test_what_has_no_words_is_told() -> None:
    made = sealed(derivation("operation-counts"))
    assert {each.why for each in made.unsealed} == {"a count of operations"}
    assert made.count == 16
    limits = [
        x for x in sealed(derivation("score-scale")).file.sealing() if "is_lim" in x.statement
    ]
    assert limits
    assert not any(theorem.proof for theorem in limits)
    why = sealed(derivation("score-scale")).missing
    assert {why[theorem.name] for theorem in limits} == {"limits"}


@pytest.mark.sampled(4, 9)
@pytest.mark.parametrize("name", library.names())
def test_what_is_stated_is_true_at_numbers(name) -> None:
    made = sealed(derivation(name))
    parts = [part for part in made.file.parts if isinstance(part, str)][1:-1]
    env = world(parts, name, SPECIAL.get(name, {}))
    read = 0
    for theorem in made.file.sealing():
        if "is_lim" in theorem.statement:
            continue
        assert Reader(theorem.statement).statement()(env), theorem.seals
        read += 1
    assert read or len(made.unsealed) == made.count or name == "score-scale"


def test_a_reader_of_its_own_sees_what_is_false() -> None:
    made = sealed(derivation("softmax-jacobian"))
    parts = [part for part in made.file.parts if isinstance(part, str)][1:-1]
    env = world(parts, 1, {})
    wrong = 0
    for theorem in made.file.sealing():
        for mutant in _mutants(theorem.statement):
            wrong += not Reader(mutant).statement()(env)
    assert wrong >= 40


# -- by Coq -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kernel():
    with Kernel() as made:
        yield made


@pytest.mark.needs("coqc")
@pytest.mark.heavy
@pytest.mark.parametrize("name", CHECKED)
def test_coq_takes_all_lines(name, kernel) -> None:
    checked = kernel.check(sealed(derivation(name)).file)
    assert not checked.refused
    assert checked.is_sound
    assert all(theorem.proof for theorem in checked.file.sealing())


@pytest.mark.needs("coqc")
@pytest.mark.heavy
def test_a_readers_own_lines_are_sealed(kernel) -> None:
    found = library.derive(
        """
        x: n
        p = softmax(x)
        diff(p[i], x[k]) = p[i] * (delta(i, k) - p[k])
        sum(i, p[i]) = 1
        """
    )
    checked = kernel.check(sealed(found).file)
    assert [bool(theorem.proof) for theorem in checked.file.sealing()] == [True, True]


_CHANGES = (
    (r" \+ ", " - "),
    (r" - (?=[^>])", " + "),
    (r"delta (\w+) (\w+) \* ", ""),
    (r"\bA (\w+)\b(?! \w)", r"(2 * A \1)"),
    (r"\bdA i j\b", "dA i l"),
    (r"= 1$", "= 2"),
    (r" \* ", " + "),
    (r"\bdY (\w+) (\w+)\b", r"(- dY \1 \2)"),
    (r"\bA (\w+) (\w+)\b", r"(A \1 \2 + 1)"),
    (r"= 0$", "= 1"),
    (r"\bK (\w+) (\w+)\b", r"(2 * K \1 \2)"),
)


def _mutants(statement):
    """A statement with one slip in its conclusion, at each place where one can be."""
    head, arrow, tail = statement.rpartition("-> ")
    for pattern, by in _CHANGES:
        for found in re.finditer(pattern, tail):
            changed = tail[: found.start()] + found.expand(by) + tail[found.end() :]
            yield f"{head}{arrow}{changed}"


@pytest.mark.needs("coqc")
@pytest.mark.parametrize(
    ("name", "each", "seconds"),
    [
        pytest.param("softmax-backward", 1, 2, marks=pytest.mark.heavy),
        pytest.param("softmax-jacobian", 4, 60, marks=pytest.mark.campaign),
        pytest.param("softmax-backward", 4, 60, marks=pytest.mark.campaign),
        pytest.param("attention-gradients", 4, 60, marks=pytest.mark.campaign),
    ],
)
def test_slips_do_not_go_through(name, each, seconds, kernel) -> None:
    """Lines with a slip, which are false at some numbers, are not proved."""
    file = sealed(derivation(name)).file
    env = world([part for part in file.parts if isinstance(part, str)][1:-1], 7, {})
    # The lines themselves first: those with slips cite them.
    parts: list[str | Theorem] = [*file.parts[:-1], f"Ltac line ::= line_within {seconds}."]
    tried = 0
    for theorem in file.sealing():
        false = []
        for mutant in _mutants(theorem.statement):
            # What is true after all is no slip; what can't be read, none of ours.
            try:
                if not Reader(mutant).statement()(env):
                    false.append(mutant)
            except (KeyError, AssertionError, TypeError):
                continue
        for place, mutant in enumerate(Random(theorem.name).sample(false, min(each, len(false)))):
            parts.append(Theorem(f"{theorem.name}_slip_{place}", mutant, theorem.proof, mutant))
            tried += 1
    refused = kernel.refused(replace(file, parts=(*parts, file.parts[-1])))
    slips = {x.name for x in parts if isinstance(x, Theorem) and "slip" in x.name}
    assert len(slips) == tried >= 8 * each
    assert set(refused) == slips


@pytest.mark.needs("coqc")
@pytest.mark.campaign
def test_how_many_lines_go_through(kernel) -> None:
    proved = count = 0
    for name in library.names():
        made = sealed(derivation(name))
        checked = kernel.check(made.file)
        assert checked.is_sound
        own = sum(1 for theorem in checked.file.sealing() if theorem.proof)
        left = {
            x.name: checked.refused.get(x.name, "no proof")
            for x in checked.file.sealing()
            if not x.proof
        }
        print(f"{name}: {own} of {made.count}", left, sorted({x.why for x in made.unsealed}))
        proved, count = proved + own, count + made.count
    print(proved, "of", count)
    assert count == 313
    assert proved >= PROVED
