"""The Jacobian of softmax."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symattn.proofs import numeric
from symattn.proofs.derivation import Comparison, Derivation
from symattn.proofs.language import Size, delta, exp, indices, partial, sum_over
from symattn.proofs.matrices import diag, ones, zeros
from symattn.proofs.proof import Proof


def softmax_jacobian() -> Derivation:
    """dA_i/dS_k = A_i (delta_ik - A_k): symmetric, rows adding up to zero, rank n - 1."""
    proof = Proof(
        "softmax-jacobian",
        statement="The Jacobian of softmax is the diagonal of the weights minus their outer "
        "product. It is symmetric, its rows add up to zero, and its rank is n - 1.",
        source="J. S. Bridle, Training stochastic model recognition algorithms as networks, 1990",
        assumptions=["S is a row of n real scores; every index runs from 1 to n."],
        sizes=[{"n": 1}, {"n": 2}, {"n": 3}],
    )
    n = Size("n")
    i, j, k, l = indices("i j k l", n)
    S = proof.array("S", n)
    E = proof.define("E", [i], exp(S[i]))
    Z = proof.name("Z", sum_over(j, E[j]))
    A = proof.define("A", [i], E[i] / Z)
    J = proof.define("J", [i, k], partial(A[i], S[k]))

    dE = partial(E[i], S[k])
    dZ = partial(Z, S[k])
    proof.part("The derivative")
    proof.step(dE, delta(i, k) * E[i], "derivative of exp; of all scores only S_i enters E_i")
    proof.step(dZ, sum_over(j, delta(j, k) * E[j]), "derivative of a sum, term by term")
    proof.then(E[k], "the delta leaves the term j = k")
    proof.step(J[i, k], (dE * Z - E[i] * dZ) / Z**2, "quotient rule")
    proof.then((delta(i, k) * E[i] * Z - E[i] * E[k]) / Z**2, "insert both derivatives")
    proof.then(delta(i, k) * E[i] / Z - E[i] / Z * (E[k] / Z), "split the fraction")
    proof.then(A[i] * (delta(i, k) - A[k]), "E_i / Z is A_i")

    proof.conclude(J, diag(A) - A @ A.T)

    v = proof.array("v", n)
    proof.part("Symmetry, row sums, rank")
    proof.step(J[i, k], J[k, i], "delta_ik is symmetric, and where it is 1 A_i is A_k")
    proof.conclude(J, J.T)
    proof.step(
        sum_over(k, J[i, k] * v[k]),
        A[i] * (v[i] - sum_over(k, A[k] * v[k])),
        "the delta leaves v_i; the rest is a weighted mean of v",
    )
    proof.step(sum_over(k, J[i, k]), A[i] * (1 - sum_over(k, A[k])), "the same with all v_k = 1")
    proof.then(0, "the weights add up to 1")
    proof.conclude(J @ ones(n), zeros(n))
    proof.step(
        sum_over(k, J[i, k] * v[k]) / A[i] - sum_over(k, J[l, k] * v[k]) / A[l],
        v[i] - v[l],
        "so J v = 0 only where all entries of v are equal: the kernel is a line, the rank n - 1",
    )
    proof.conclude()
    return proof.done(_compare)


def _compare(derivation: Derivation, random: np.random.Generator) -> Iterator[Comparison]:
    S = random.normal(size=5)
    J = numeric.jacobian(numeric.softmax, S)
    yield "Jacobian", J, derivation.values("J", {"A": numeric.softmax(S)})["J"]
    yield "rank", np.array(float(np.linalg.matrix_rank(J))), np.array(4.0)
