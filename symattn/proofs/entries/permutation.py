"""Attention does not know the order of its tokens."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symattn.proofs.derivation import Comparison, Derivation
from symattn.proofs.language import Size, delta, exp, image, indices, sqrt, sum_over
from symattn.proofs.matrices import Array, ones
from symattn.proofs.numeric import attention, softmax
from symattn.proofs.proof import Proof

n, d, d_k, d_v = map(Size, ("n", "d", "d_k", "d_v"))


def permutation() -> Derivation:
    """Permuted tokens give permuted outputs; identical tokens give uniform weights."""
    proof = Proof(
        "permutation",
        statement="Without a mask or positions, permuting the tokens permutes the outputs in the "
        "same way. Identical tokens receive uniform weights.",
        source="Lee et al., Set Transformer, arXiv 1810.00825",
        assumptions=["X are n tokens of width d; pi is any permutation of 1 to n."],
        sizes=[
            {"n": 3, "d": 2, "d_k": 1, "d_v": 2},
            {"n": 2, "d": 1, "d_k": 2, "d_v": 3},
            {"n": 4, "d": 1, "d_k": 1, "d_v": 2},
        ],
    )
    i, j, l = indices("i j l", n)
    (a,), (u,) = indices("a", d), indices("u", d_v)
    W = (proof.array("W^Q", d, d_k), proof.array("W^K", d, d_k), proof.array("W^V", d, d_v))
    X = proof.array("X", n, d)
    proof.part("Permuted tokens")
    S, A, V, Y = _self_attention(proof, X, W, "")
    moved = proof.define("X'", [i, a], X[image("pi", i), a])
    S1, A1, _, Y1 = _self_attention(proof, moved, W, "'")
    to_i, to_j, to_l = image("pi", i), image("pi", j), image("pi", l)
    proof.step(S1[i, j], S[to_i, to_j], "row i of X' is row pi(i) of X, row j is row pi(j)")
    proof.step(
        sum_over(l, exp(S1[i, l])), sum_over(l, exp(S[to_i, to_l])), "the same, in every term"
    )
    proof.then(
        sum_over(l, exp(S[to_i, l])), "pi meets every l exactly once, so the sum is only reordered"
    )
    proof.step(A1[i, j], A[to_i, to_j], "divide the two")
    proof.step(Y1[i, u], sum_over(j, A[to_i, to_j] * V[to_j, u]), "insert")
    proof.then(sum_over(j, A[to_i, j] * V[j, u]), "the same reordering")
    proof.then(Y[to_i, u], "definition of Y")
    P = proof.define("P", [i, j], delta(to_i, j))
    proof.conclude(Y1, P @ Y)

    proof.part("Identical tokens")
    x = proof.array("x", d)
    same = proof.define("X''", [i, a], x[a])
    S2, A2, *_ = _self_attention(proof, same, W, "''")
    proof.step(S2[i, j], S2[i, l], "the score does not depend on j: row j of X'' is row l")
    proof.step(A2[i, j], exp(S2[i, j]) / (n * exp(S2[i, j])), "n equal terms in the normaliser")
    proof.then(1 / n, "cancel")
    proof.conclude(A2, 1 / n * (ones(n) @ ones(n).T))
    return proof.done(_compare)


def _self_attention(
    proof: Proof, X: Array, W: tuple[Array, Array, Array], prime: str
) -> tuple[Array, Array, Array, Array]:
    """Scores, weights, values and output of the tokens X."""
    i, j, l = indices("i j l", n)
    (a,), (c,), (u,) = indices("a", d), indices("c", d_k), indices("u", d_v)
    Q = proof.define(f"Q{prime}", [i, c], sum_over(a, X[i, a] * W[0][a, c]))
    K = proof.define(f"K{prime}", [j, c], sum_over(a, X[j, a] * W[1][a, c]))
    V = proof.define(f"V{prime}", [j, u], sum_over(a, X[j, a] * W[2][a, u]))
    S = proof.define(f"S{prime}", [i, j], 1 / sqrt(d_k) * sum_over(c, Q[i, c] * K[j, c]))
    A = proof.define(f"A{prime}", [i, j], exp(S[i, j]) / sum_over(l, exp(S[i, l])))
    Y = proof.define(f"Y{prime}", [i, u], sum_over(j, A[i, j] * V[j, u]))
    return S, A, V, Y


def _compare(derivation: Derivation, random: np.random.Generator) -> Iterator[Comparison]:
    X = random.normal(size=(5, 4))
    W = [random.normal(size=(4, width)) for width in (3, 3, 2)]
    order = random.permutation(5)
    Y = attention(*(X @ one for one in W))
    permuted = attention(*(X[order] @ one for one in W))
    yield (
        "permuted tokens",
        permuted,
        derivation.values("Y'", {"P": np.eye(5)[order], "Y": Y})["Y'"],
    )
    same = np.tile(X[:1], (5, 1))
    weights = softmax(same @ W[0] @ (same @ W[1]).T / np.sqrt(3))
    yield "identical tokens", weights, derivation.values("A''", {"n": 5})["A''"]
