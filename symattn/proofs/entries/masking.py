"""Masking by minus infinity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from symattn.proofs import numeric
from symattn.proofs.derivation import Comparison, Derivation
from symattn.proofs.language import Size, at_most, delta, exp, indices, limit, partial, sum_over
from symattn.proofs.matrices import rowsum
from symattn.proofs.proof import Proof


def masking() -> Derivation:
    """A hidden score has weight exactly 0 and gradient exactly 0."""
    proof = Proof(
        "masking",
        statement="A score masked by minus infinity has weight exactly 0 and gradient exactly 0; "
        "the others have softmax over what is kept. In the first row of a causal mask "
        "all gradients into the scores vanish.",
        source="Vaswani et al., Attention is all you need, arXiv 1706.03762, section 3.2.3",
        assumptions=[
            "M_ij is 1 where query i may see key j, else 0; each row keeps at least one key.",
            "C are the weights under the causal mask, which keeps key j for query i where "
            "j is at most i.",
        ],
        sizes=[{"n_q": 2, "n_k": 3}, {"n_q": 3, "n_k": 2}, {"n_q": 1, "n_k": 3}],
    )
    n_q, n_k = Size("n_q"), Size("n_k")
    (i,) = indices("i", n_q)
    j, k, l = indices("j k l", n_k)
    S = proof.array("S", n_q, n_k)
    M = proof.array("M", n_q, n_k, kind="binary")
    b = proof.scalar("b")
    E = proof.define("E", [i, j], M[i, j] * exp(S[i, j]))
    A = proof.define("A", [i, j], E[i, j] / sum_over(l, E[i, l]))
    dA = proof.array("dA", n_q, n_k)
    L = proof.loss(A, dA, [i, j])
    dS = proof.gradient(L, S, i, j)

    proof.part("Minus infinity as a limit")
    masked = exp(S[i, j] + (1 - M[i, j]) * b)
    others = exp(S[i, l] + (1 - M[i, l]) * b)
    proof.step(
        limit(masked, b, "-oo"),
        E[i, j],
        "where M_ij = 1 there is no b; where M_ij = 0, e^b goes to 0",
    )
    proof.step(
        limit(masked / sum_over(l, others), b, "-oo"),
        A[i, j],
        "limit of a quotient; the denominator keeps a term",
    )

    proof.part("Hidden weights and gradients are zero")
    proof.step(
        (1 - M[i, j]) * A[i, j],
        (1 - M[i, j]) * M[i, j] * exp(S[i, j]) / sum_over(l, E[i, l]),
        "definition of A_ij",
    )
    proof.then(0, "M_ij is 0 or 1, so (1 - M_ij) M_ij = 0")
    proof.conclude()
    proof.step(
        partial(A[i, l], S[i, j]), A[i, l] * (delta(l, j) - A[i, j]), "quotient rule, as unmasked"
    )
    proof.step(dS[i, j], sum_over(l, dA[i, l] * A[i, l] * (delta(l, j) - A[i, j])), "chain rule")
    proof.then(A[i, j] * (dA[i, j] - sum_over(l, A[i, l] * dA[i, l])), "as in softmax-backward")
    proof.conclude(dS, A * (dA - rowsum(A * dA)))
    proof.step((1 - M[i, j]) * dS[i, j], 0, "dS_ij has the factor A_ij, which is 0 where M_ij is")
    proof.conclude()

    proof.part("The first row under a causal mask")
    C = proof.define(
        "C",
        [i, j],
        at_most(j, i) * exp(S[i, j]) / sum_over(l, at_most(l, i) * exp(S[i, l])),
    )
    dC = proof.array("dC", n_q, n_k)
    L = proof.loss(C, dC, [i, j])
    proof.step(
        C[1, j],
        delta(1, j) * exp(S[1, j]) / sum_over(l, delta(1, l) * exp(S[1, l])),
        "of all keys only the first is at most 1",
    )
    proof.then(delta(1, j), "the delta leaves the same exponential above and below")
    proof.conclude()
    proof.step(
        partial(L, S[1, k]),
        C[1, k] * (dC[1, k] - sum_over(l, C[1, l] * dC[1, l])),
        "as in softmax-backward",
    )
    proof.then(delta(1, k) * (dC[1, k] - dC[1, 1]), "insert the weights of the first row")
    proof.then(0, "where k = 1 the bracket is zero")
    proof.conclude()
    return proof.done(_compare)


def _compare(derivation: Derivation, random: np.random.Generator) -> Iterator[Comparison]:
    S, dA = random.normal(size=(2, 4, 5))
    for label, keep in (("mask", random.random((4, 5)) < 0.6), ("causal", np.tri(4, 5) > 0)):
        keep[:, 0] = True
        masked = np.where(keep, S, -np.inf)
        A = numeric.softmax(masked)
        dS = _backward(keep, S, dA)
        yield f"{label}: dS", dS, derivation.values("dS", {"A": A, "dA": dA})["dS"]
        yield f"{label}: hidden weights", A[~keep], np.zeros((~keep).sum())
        yield f"{label}: hidden gradients", dS[~keep], np.zeros((~keep).sum())
    yield "first causal row", dS[0], np.zeros(5)


def _backward(keep: NDArray[np.bool_], S: numeric.Real, dA: numeric.Real) -> numeric.Real:
    """The gradient in the scores behind a mask, by complex steps."""
    return numeric.gradient(lambda s: np.sum(dA * numeric.softmax(np.where(keep, s, -np.inf))), S)
