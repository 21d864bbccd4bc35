"""All gradients of attention, and through its projections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from symattn.proofs.derivation import Comparison, Derivation
from symattn.proofs.language import Size, delta, exp, indices, partial, sqrt, sum_over
from symattn.proofs.matrices import Array, rowsum
from symattn.proofs.numeric import attention, gradient, softmax
from symattn.proofs.proof import Proof

n_q, n_k, n, d, d_k, d_v = map(Size, ("n_q", "n_k", "n", "d", "d_k", "d_v"))


def attention_gradients() -> Derivation:
    """dV, dA, dS, dQ and dK, then dW^Q, dW^K, dW^V and dX."""
    proof = Proof(
        "attention-gradients",
        statement="The gradients of scaled dot-product attention in its values, weights, scores, "
        "queries and keys, and through the projections in their weights and the tokens. "
        "The scale of the scores comes back as the scale of dQ and dK.",
        source="Vaswani et al., Attention is all you need, arXiv 1706.03762, equation 1; "
        "Dao et al., FlashAttention, arXiv 2205.14135, appendix B.2",
        assumptions=[
            "Q is n_q x d_k, K is n_k x d_k, V is n_k x d_v; S are the scaled scores.",
            "In the second part n tokens X of width d give all three: n_q = n_k = n.",
        ],
        sizes=[
            {"n_q": 2, "n_k": 3, "d_k": 2, "d_v": 1, "n": 2, "d": 1},
            {"n_q": 3, "n_k": 2, "d_k": 1, "d_v": 2, "n": 3, "d": 2},
            {"n_q": 1, "n_k": 2, "d_k": 3, "d_v": 2, "n": 2, "d": 2},
        ],
    )
    _through_attention(proof)
    _through_projections(proof)
    return proof.done(_compare)


def _through_attention(proof: Proof) -> None:
    i, a = indices("i a", n_q)
    j, b, l = indices("j b l", n_k)
    (c,) = indices("c", d_k)
    (u,) = indices("u", d_v)
    scale = 1 / sqrt(d_k)
    Q, K, V = proof.array("Q", n_q, d_k), proof.array("K", n_k, d_k), proof.array("V", n_k, d_v)
    S, A, Y = _attention(proof, Q, K, V)
    dY = proof.array("dY", n_q, d_v)
    L = proof.loss(Y, dY, [i, u])
    dV, dA = proof.gradient(L, V, j, u), proof.gradient(L, A, i, j)
    dS = proof.gradient(L, S, i, j)
    dQ, dK = proof.gradient(L, Q, i, c), proof.gradient(L, K, j, c)

    proof.part("Through the output Y = A V")
    proof.step(dV[j, u], sum_over(i, dY[i, u] * partial(Y[i, u], V[j, u])), "chain rule")
    proof.then(sum_over(i, A[i, j] * dY[i, u]), "V_ju has the factor A_ij in Y_iu")
    proof.conclude(dV, A.T @ dY)
    proof.step(dA[i, j], sum_over(u, dY[i, u] * partial(Y[i, u], A[i, j])), "chain rule")
    proof.then(sum_over(u, dY[i, u] * V[j, u]), "A_ij has the factor V_ju in Y_iu")
    proof.conclude(dA, dY @ V.T)

    proof.part("Through softmax")
    proof.step(
        dS[i, j], sum_over(l, dA[i, l] * partial(A[i, l], S[i, j])), "chain rule within row i"
    )
    proof.then(A[i, j] * (dA[i, j] - sum_over(l, A[i, l] * dA[i, l])), "softmax-backward")
    proof.conclude(dS, A * (dA - rowsum(A * dA)))

    proof.part("Through the scores S = Q K^T / sqrt(d_k)")
    proof.step(
        partial(S[a, j], Q[i, c]), scale * delta(a, i) * K[j, c], "row a of S holds row a of Q only"
    )
    proof.step(
        dQ[i, c], sum_over(a, j, dS[a, j] * partial(S[a, j], Q[i, c])), "chain rule over all of S"
    )
    proof.then(scale * sum_over(j, dS[i, j] * K[j, c]), "the delta leaves a = i; the scale stays")
    proof.conclude(dQ, scale * (dS @ K))
    proof.step(
        partial(S[i, b], K[j, c]),
        scale * delta(b, j) * Q[i, c],
        "column b of S holds row b of K only",
    )
    proof.step(
        dK[j, c], sum_over(i, b, dS[i, b] * partial(S[i, b], K[j, c])), "chain rule over all of S"
    )
    proof.then(scale * sum_over(i, dS[i, j] * Q[i, c]), "the delta leaves b = j; the scale stays")
    proof.conclude(dK, scale * (dS.T @ Q))


def _through_projections(proof: Proof) -> None:
    i, j = indices("i j", n)
    (a,) = indices("a", d)
    (c,) = indices("c", d_k)
    (u,) = indices("u", d_v)
    X = proof.array("X", n, d)
    W_Q, W_K = proof.array("W^Q", d, d_k), proof.array("W^K", d, d_k)
    W_V = proof.array("W^V", d, d_v)
    Q = proof.define("Q", [i, c], sum_over(a, X[i, a] * W_Q[a, c]))
    K = proof.define("K", [j, c], sum_over(a, X[j, a] * W_K[a, c]))
    V = proof.define("V", [j, u], sum_over(a, X[j, a] * W_V[a, u]))
    *_, Y = _attention(proof, Q, K, V)
    L = proof.loss(Y, proof.array("dY", n, d_v), [i, u])
    dQ, dK = proof.gradient(L, Q, i, c), proof.gradient(L, K, j, c)
    dV = proof.gradient(L, V, j, u)

    proof.part("Through the projections Q = X W^Q, K = X W^K, V = X W^V")
    for grad, weights, column in ((dQ, W_Q, c), (dK, W_K, c), (dV, W_V, u)):
        dW = proof.gradient(L, weights, a, column)
        rule = f"{weights.name}_ac has the factor X_ia in the projection"
        proof.step(dW[a, column], sum_over(i, X[i, a] * grad[i, column]), rule)
        proof.conclude(dW, X.T @ grad)
    dX = proof.gradient(L, X, i, a)
    proof.step(
        dX[i, a],
        sum_over(c, dQ[i, c] * W_Q[a, c])
        + sum_over(c, dK[i, c] * W_K[a, c])
        + sum_over(u, dV[i, u] * W_V[a, u]),
        "X enters on three paths, through Q, K and V, and their gradients add up",
    )
    proof.conclude(dX, dQ @ W_Q.T + dK @ W_K.T + dV @ W_V.T)


def _attention(proof: Proof, Q: Array, K: Array, V: Array) -> tuple[Array, Array, Array]:
    """Scaled scores S, weights A and output Y."""
    (i,) = indices("i", Q.axes[0])
    j, l = indices("j l", K.axes[0])
    (c,) = indices("c", d_k)
    (u,) = indices("u", d_v)
    S = proof.define("S", [i, j], 1 / sqrt(d_k) * sum_over(c, Q[i, c] * K[j, c]))
    A = proof.define("A", [i, j], exp(S[i, j]) / sum_over(l, exp(S[i, l])))
    Y = proof.define("Y", [i, u], sum_over(j, A[i, j] * V[j, u]))
    return S, A, Y


def _compare(derivation: Derivation, random: np.random.Generator) -> Iterator[Comparison]:
    Q, K = random.normal(size=(4, 3)), random.normal(size=(5, 3))
    V, dY = random.normal(size=(5, 2)), random.normal(size=(4, 2))
    A = softmax(Q @ K.T / np.sqrt(3))
    given = {"Q": Q, "K": K, "V": V, "A": A, "dY": dY, "d_k": 3.0}
    own = derivation.values("dV dA dS dQ dK", given)
    yield "dQ", gradient(lambda q: np.sum(dY * attention(q, K, V)), Q), own["dQ"]
    yield "dK", gradient(lambda k: np.sum(dY * attention(Q, k, V)), K), own["dK"]
    yield "dV", gradient(lambda v: np.sum(dY * attention(Q, K, v)), V), own["dV"]
    yield "dA", gradient(lambda w: np.sum(dY * (w @ V)), A), own["dA"]
    yield "dS", gradient(lambda s: np.sum(dY * (softmax(s) @ V)), np.log(A)), own["dS"]

    X, dY = random.normal(size=(4, 3)), random.normal(size=(4, 1))
    W = {"W^Q": random.normal(size=(3, 2)), "W^K": random.normal(size=(3, 2))}
    W["W^V"] = random.normal(size=(3, 1))
    Q, K, V = (X @ one for one in W.values())
    A = softmax(Q @ K.T / np.sqrt(2))
    given = {"Q": Q, "K": K, "V": V, "A": A, "X": X, "dY": dY, "d_k": 2.0, **W}
    own = derivation.values("dV dA dS dQ dK dW^Q dW^K dW^V dX", given)

    def loss(x: Any, q: Any, k: Any, v: Any) -> Any:
        return np.sum(dY * attention(x @ q, x @ k, x @ v))

    q, k, v = W.values()
    yield "dX", gradient(lambda x: loss(x, q, k, v), X), own["dX"]
    yield "dW^Q", gradient(lambda w: loss(X, w, k, v), q), own["dW^Q"]
    yield "dW^K", gradient(lambda w: loss(X, q, w, v), k), own["dW^K"]
    yield "dW^V", gradient(lambda w: loss(X, q, k, w), v), own["dW^V"]
