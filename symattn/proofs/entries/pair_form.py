"""dQ as a sum over pairs of keys."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symattn.proofs.derivation import Comparison, Derivation
from symattn.proofs.language import Size, exp, indices, pair_sum, sqrt, sum_over
from symattn.proofs.matrices import rowsum
from symattn.proofs.numeric import attention, gradient, softmax
from symattn.proofs.proof import Proof


def pair_form() -> Derivation:
    """dQ_ic = scale * sum_{j<l} (dA_ij - dA_il) (K_jc - K_lc) e^(S_ij + S_il) / Z_i^2."""
    proof = Proof(
        "pair-form",
        statement="The gradient of a query is a sum over pairs of keys: the difference of their "
        "upstream gradients times the difference of the keys times both weights. Pairs with "
        "equal keys or equal upstream gradients contribute nothing.",
        source="this project; from the gradient in Dao et al., FlashAttention, arXiv 2205.14135",
        assumptions=["Q is n_q x d_k, K is n_k x d_k; S are the scaled scores."],
        sizes=[
            {"n_q": 2, "n_k": 3, "d_k": 2},
            {"n_q": 1, "n_k": 4, "d_k": 1},
            {"n_q": 3, "n_k": 2, "d_k": 3},
        ],
    )
    n_q, n_k, d_k = Size("n_q"), Size("n_k"), Size("d_k")
    (i,) = indices("i", n_q)
    j, l = indices("j l", n_k)
    (c,) = indices("c", d_k)
    scale = 1 / sqrt(d_k)
    Q, K = proof.array("Q", n_q, d_k), proof.array("K", n_k, d_k)
    S = proof.define("S", [i, j], scale * sum_over(c, Q[i, c] * K[j, c]))
    Z = proof.define("Z", [i], sum_over(l, exp(S[i, l])))
    A = proof.define("A", [i, j], exp(S[i, j]) / Z[i])
    dA = proof.array("dA", n_q, n_k)
    L = proof.loss(A, dA, [i, j])
    dS, dQ = proof.gradient(L, S, i, j), proof.gradient(L, Q, i, c)

    both = (dA[i, j] - dA[i, l]) * (K[j, c] - K[l, c])
    proof.step(dS[i, j], A[i, j] * (dA[i, j] - sum_over(l, A[i, l] * dA[i, l])), "softmax-backward")
    proof.then(
        sum_over(l, A[i, j] * A[i, l] * (dA[i, j] - dA[i, l])),
        "dA_ij times 1 = sum of A_il over l",
    )
    proof.step(dQ[i, c], scale * sum_over(j, dS[i, j] * K[j, c]), "attention-gradients")
    proof.then(
        scale * sum_over(j, l, A[i, j] * A[i, l] * (dA[i, j] - dA[i, l]) * K[j, c]),
        "insert dS_ij",
    )
    proof.then(
        1 / (2 * sqrt(d_k)) * sum_over(j, l, both * A[i, j] * A[i, l]),
        "half of it as it stands, half with the names j and l exchanged",
    )
    proof.then(
        scale * pair_sum(j, l, both * A[i, j] * A[i, l]),
        "each term is symmetric in j and l, and zero where j = l",
    )
    proof.then(
        scale * pair_sum(j, l, both * (exp(S[i, j] + S[i, l]) / Z[i] ** 2)),
        "A_ij A_il over the common normaliser",
    )
    proof.conclude(dQ, scale * ((A * (dA - rowsum(A * dA))) @ K))
    return proof.done(_compare)


def _compare(derivation: Derivation, random: np.random.Generator) -> Iterator[Comparison]:
    Q, K, dA = (random.normal(size=size) for size in ((4, 3), (5, 3), (4, 5)))
    A = softmax(Q @ K.T / np.sqrt(3))
    own = derivation.values("dQ", {"A": A, "K": K, "dA": dA, "d_k": 3.0})["dQ"]
    found = gradient(lambda q: np.sum(dA * attention(q, K, np.eye(5))), Q)
    yield "dQ", found, own
    pairs = [(j, l) for l in range(5) for j in range(l)]
    summed = sum(np.outer((dA[:, j] - dA[:, l]) * A[:, j] * A[:, l], K[j] - K[l]) for j, l in pairs)
    yield "pair form", found, np.asarray(summed) / np.sqrt(3)
