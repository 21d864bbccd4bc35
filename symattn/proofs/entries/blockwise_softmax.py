"""Softmax attention in blocks, its backward pass, and the KV cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symattn.proofs.derivation import Comparison, Derivation
from symattn.proofs.language import (
    Size,
    at_most,
    delta,
    exp,
    indices,
    log,
    partial,
    sqrt,
    sum_over,
)
from symattn.proofs.matrices import ones, rowsum
from symattn.proofs.numeric import attention, gradient, softmax
from symattn.proofs.proof import Proof


def blockwise_softmax() -> Derivation:
    """Two blocks of keys merge exactly; D = rowsum(dY * Y); the last row needs one query."""
    proof = Proof(
        "blockwise-softmax",
        statement="Attention over two blocks of keys merges from each block's output, normaliser "
        "and reference score. Backward, the weighted mean of dA over a row is the row sum "
        "of dY and Y. The last causal row needs only the last query.",
        source="Milakov and Gimelshein, arXiv 1805.02867, section 3; Dao et al., FlashAttention, "
        "arXiv 2205.14135, section 3.1 and appendix B.2",
        assumptions=[
            "Each row's keys are split into blocks a and b of n_a and n_b keys. The references "
            "m^a, m^b and m are any numbers; maxima keep every exponent at most 0. By "
            "repetition any number of blocks merges.",
            "Under the causal mask query i of n sees the keys up to i.",
        ],
        sizes=[
            {"n_q": 2, "n_a": 1, "n_b": 2, "n_k": 3, "n": 2, "d_k": 3, "d_v": 1},
            {"n_q": 1, "n_a": 2, "n_b": 3, "n_k": 2, "n": 3, "d_k": 1, "d_v": 2},
        ],
    )
    _forward(proof)
    _backward(proof)
    _cache(proof)
    return proof.done(_compare)


def _forward(proof: Proof) -> None:
    proof.part("Forward: two blocks merge")
    n_q, n_a, n_b, d_v = Size("n_q"), Size("n_a"), Size("n_b"), Size("d_v")
    (i,), (u,) = indices("i", n_q), indices("u", d_v)
    (j,), (k,) = indices("j", n_a), indices("k", n_b)
    Sa, Sb = proof.array("S^a", n_q, n_a), proof.array("S^b", n_q, n_b)
    Va, Vb = proof.array("V^a", n_a, d_v), proof.array("V^b", n_b, d_v)
    ma, mb, m = proof.array("m^a", n_q), proof.array("m^b", n_q), proof.array("m", n_q)
    Z = proof.define("Z", [i], sum_over(j, exp(Sa[i, j])) + sum_over(k, exp(Sb[i, k])))
    above = sum_over(j, exp(Sa[i, j]) * Va[j, u]) + sum_over(k, exp(Sb[i, k]) * Vb[k, u])
    Y = proof.define("Y", [i, u], above / Z[i])
    la = proof.define("l^a", [i], sum_over(j, exp(Sa[i, j] - ma[i])))
    lb = proof.define("l^b", [i], sum_over(k, exp(Sb[i, k] - mb[i])))
    Ya = proof.define("Y^a", [i, u], sum_over(j, exp(Sa[i, j] - ma[i]) * Va[j, u]) / la[i])
    Yb = proof.define("Y^b", [i, u], sum_over(k, exp(Sb[i, k] - mb[i]) * Vb[k, u]) / lb[i])
    to_a, to_b = exp(ma[i] - m[i]), exp(mb[i] - m[i])
    l = proof.define("l", [i], to_a * la[i] + to_b * lb[i])
    merged = (to_a * la[i] * Ya[i, u] + to_b * lb[i] * Yb[i, u]) / l[i]

    proof.step(
        to_a * la[i],
        exp(-m[i]) * sum_over(j, exp(Sa[i, j])),
        "the block's own reference cancels; likewise in block b",
    )
    proof.step(l[i], exp(-m[i]) * Z[i], "add both blocks")
    proof.conclude()
    proof.step(m[i] + log(l[i]), log(Z[i]), "logarithm: the log-sum-exp to be kept for backward")
    proof.step(
        to_a * la[i] * Ya[i, u] + to_b * lb[i] * Yb[i, u],
        exp(-m[i])
        * (sum_over(j, exp(Sa[i, j]) * Va[j, u]) + sum_over(k, exp(Sb[i, k]) * Vb[k, u])),
        "the normalisers and references of the blocks cancel",
    )
    proof.step(merged, Y[i, u], "divide by l_i; exp(-m_i) cancels")
    proof.conclude()


def _backward(proof: Proof) -> None:
    proof.part("Backward: the row sum D without the weights")
    n_q, n_k, d_v = Size("n_q"), Size("n_k"), Size("d_v")
    (i,), (u,), (j, l) = indices("i", n_q), indices("u", d_v), indices("j l", n_k)
    S, V = proof.array("S", n_q, n_k), proof.array("V", n_k, d_v)
    Z = proof.define("Z", [i], sum_over(l, exp(S[i, l])))
    A = proof.define("A", [i, j], exp(S[i, j]) / Z[i])
    Y = proof.define("Y", [i, u], sum_over(j, A[i, j] * V[j, u]))
    dY = proof.array("dY", n_q, d_v)
    L = proof.loss(Y, dY, [i, u])
    dA, dS = proof.gradient(L, A, i, j), proof.gradient(L, S, i, j)
    D = proof.define("D", [i], sum_over(j, A[i, j] * dA[i, j]))

    proof.step(exp(S[i, j] - log(Z[i])), A[i, j], "the weights come back from the log-sum-exp")
    proof.step(D[i], sum_over(j, A[i, j] * sum_over(u, dY[i, u] * V[j, u])), "dA = dY V^T")
    proof.then(sum_over(u, dY[i, u] * sum_over(j, A[i, j] * V[j, u])), "exchange the sums")
    proof.then(sum_over(u, dY[i, u] * Y[i, u]), "Y = A V")
    proof.conclude(D, rowsum(dY * Y))
    proof.step(dS[i, j], A[i, j] * (dA[i, j] - D[i]), "softmax-backward")
    proof.conclude(dS, A * (dA - D @ ones(n_k).T))


def _cache(proof: Proof) -> None:
    proof.part("The last causal row and the KV cache")
    n, d_k, d_v = Size("n"), Size("d_k"), Size("d_v")
    (i, j, l), (c,), (u,) = indices("i j l", n), indices("c", d_k), indices("u", d_v)
    Q, K, V = proof.array("Q", n, d_k), proof.array("K", n, d_k), proof.array("V", n, d_v)
    S = proof.define("S", [i, j], 1 / sqrt(d_k) * sum_over(c, Q[i, c] * K[j, c]))
    C = proof.define(
        "C",
        [i, j],
        at_most(j, i) * exp(S[i, j]) / sum_over(l, at_most(l, i) * exp(S[i, l])),
    )
    Y = proof.define("Y", [i, u], sum_over(j, C[i, j] * V[j, u]))
    proof.step(
        Y[n, u],
        sum_over(j, exp(S[n, j]) * V[j, u]) / sum_over(l, exp(S[n, l])),
        "every key is at most n: the last row is unmasked attention of the query n",
    )
    proof.conclude()
    proof.step(
        partial(Y[n, u], Q[i, c]),
        delta(i, n) * partial(Y[n, u], Q[n, c]),
        "no other query enters: keys and values may be kept, earlier queries dropped",
    )
    proof.conclude()


def _compare(derivation: Derivation, random: np.random.Generator) -> Iterator[Comparison]:
    S, V, dY = (random.normal(size=size) for size in ((4, 5), (5, 3), (4, 3)))
    whole, parts = softmax(S) @ V, []
    for block in (slice(0, 2), slice(2, 5)):
        top = S[:, block].max(axis=1, keepdims=True)
        powers = np.exp(S[:, block] - top)
        parts.append((top, powers.sum(axis=1, keepdims=True), powers @ V[block]))
    (ma, la, oa), (mb, lb, ob) = parts
    m = np.maximum(ma, mb)
    below = np.exp(ma - m) * la + np.exp(mb - m) * lb
    yield "merged output", whole, (np.exp(ma - m) * oa + np.exp(mb - m) * ob) / below
    own = derivation.values(
        "D dS", {"dY": dY, "Y": whole, "A": softmax(S), "dA": dY @ V.T, "n_k": 5}
    )
    yield "dS", gradient(lambda s: np.sum(dY * (softmax(s) @ V)), S), own["dS"]
    Q, K = random.normal(size=(2, 5, 3))
    causal = np.where(np.tri(5) > 0, Q @ K.T / np.sqrt(3), -np.inf)
    yield "last causal row", (softmax(causal) @ V)[-1:], attention(Q[-1:], K, V)
