"""The backward pass of softmax, row by row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symattn.proofs import numeric
from symattn.proofs.derivation import Comparison, Derivation
from symattn.proofs.language import Size, delta, exp, indices, partial, sum_over
from symattn.proofs.matrices import ones, rowsum, zeros
from symattn.proofs.proof import Proof


def softmax_backward() -> Derivation:
    """dS = A * (dA - rowsum(A * dA))."""
    proof = Proof(
        "softmax-backward",
        statement="A gradient passes back through softmax by subtracting from it its weighted "
        "mean over the row and multiplying by the weights.",
        source="Dao et al., FlashAttention, arXiv 2205.14135, appendix B.2",
        assumptions=["S has a row of n_k scores for each of n_q queries; A is softmax by rows."],
        sizes=[{"n_q": 2, "n_k": 3}, {"n_q": 3, "n_k": 2}, {"n_q": 1, "n_k": 4}],
    )
    n_q, n_k = Size("n_q"), Size("n_k")
    a, i = indices("a i", n_q)
    j, l = indices("j l", n_k)
    S = proof.array("S", n_q, n_k)
    A = proof.define("A", [i, j], exp(S[i, j]) / sum_over(l, exp(S[i, l])))
    dA = proof.array("dA", n_q, n_k)
    L = proof.loss(A, dA, [i, j])
    dS = proof.gradient(L, S, i, j)

    proof.step(
        partial(A[a, l], S[i, j]),
        delta(a, i) * A[i, l] * (delta(l, j) - A[i, j]),
        "the softmax Jacobian within a row; other rows do not depend on S_ij",
    )
    proof.step(
        dS[i, j], sum_over(a, l, dA[a, l] * partial(A[a, l], S[i, j])), "chain rule over all of A"
    )
    proof.then(
        sum_over(l, dA[i, l] * A[i, l] * (delta(l, j) - A[i, j])), "the delta leaves the row a = i"
    )
    proof.then(
        dA[i, j] * A[i, j] - A[i, j] * sum_over(l, A[i, l] * dA[i, l]),
        "the delta leaves the term l = j",
    )
    proof.then(A[i, j] * (dA[i, j] - sum_over(l, A[i, l] * dA[i, l])), "factor out A_ij")
    proof.conclude(dS, A * (dA - rowsum(A * dA)))
    proof.step(
        sum_over(j, dS[i, j]),
        sum_over(j, A[i, j] * dA[i, j]) - sum_over(j, A[i, j]) * sum_over(l, A[i, l] * dA[i, l]),
        "sum over j",
    )
    proof.then(0, "the weights of a row add up to 1")
    proof.conclude(dS @ ones(n_k), zeros(n_q))
    return proof.done(_compare)


def _compare(derivation: Derivation, random: np.random.Generator) -> Iterator[Comparison]:
    S, dA = random.normal(size=(2, 4, 5))
    dS = numeric.gradient(lambda s: np.sum(dA * numeric.softmax(s)), S)
    yield "dS", dS, derivation.values("dS", {"A": numeric.softmax(S), "dA": dA})["dS"]
