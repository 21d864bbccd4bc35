"""How many operations attention takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symattn.proofs.derivation import Comparison, Derivation
from symattn.proofs.language import (
    Expr,
    Size,
    exp,
    indices,
    largest,
    operations,
    sum_over,
)
from symattn.proofs.matrices import Array
from symattn.proofs.onesize import OneSize
from symattn.proofs.proof import Proof

d_k, d_v = Size("d_k"), Size("d_v")
PRODUCT = "an entry is a sum of products: one multiplication each, one addition fewer"


def operation_counts() -> Derivation:
    """Counts for scores, scaling, mask, softmax, output; forward and backward."""
    proof = Proof(
        "operation-counts",
        statement="The operations of scaled, masked attention, forward and backward, as "
        "polynomials in the numbers of queries and keys and the two widths. Backward takes "
        "about twice the forward pass.",
        source="counted from the definitions; leading terms as in Dao et al., FlashAttention, "
        "arXiv 2205.14135",
        assumptions=[
            "Each addition, multiplication, division, exponential and comparison is one "
            "operation; ops(R) is the number that all entries of R take, the arrays it is "
            "made of being at hand.",
            "f is the scale, 1 over the root of d_k; B is 0, or minus infinity where a score "
            "is hidden.",
        ],
        sizes=[
            {"n_q": 2, "n_k": 3, "n": 3, "d_k": 4, "d_v": 5},
            {"n_q": 5, "n_k": 2, "n": 2, "d_k": 3, "d_v": 1},
            {"n_q": 1, "n_k": 4, "n": 4, "d_k": 2, "d_v": 3},
        ],
    )
    n_q, n_k, n = Size("n_q"), Size("n_k"), Size("n")
    proof.part("Forward")
    forward = R, T, S, m, E, Z, A, Y = _forward(proof, n_q, n_k)
    proof.step(operations(R), n_q * n_k * (2 * d_k - 1), PRODUCT)
    proof.step(operations(T), n_q * n_k, "scaling: one multiplication an entry")
    proof.step(operations(S), n_q * n_k, "mask: one addition an entry")
    proof.step(
        operations(m, E, Z, A),
        n_q * (n_k - 1) + 2 * n_q * n_k + n_q * (n_k - 1) + n_q * n_k,
        "softmax: maximum; subtract and exponentiate; add up; divide",
    )
    proof.then(n_q * (5 * n_k - 2), "collect")
    proof.step(operations(Y), n_q * d_v * (2 * n_k - 1), PRODUCT)
    proof.step(
        operations(*forward),
        n_q * n_k * (2 * d_k + 2 * d_v + 6) - n_q * (d_v + 2),
        "add up the forward pass",
    )
    proof.conclude()

    proof.part("Backward, the weights A being kept")
    backward = dV, dA, D, dS, dR, dQ, dK = _backward(proof, n_q, n_k)
    proof.step(operations(dV), n_k * d_v * (2 * n_q - 1), PRODUCT)
    proof.step(operations(dA), n_q * n_k * (2 * d_v - 1), PRODUCT)
    proof.step(operations(D, dS), n_q * (2 * n_k - 1) + 2 * n_q * n_k, "softmax-backward")
    proof.step(operations(dR), n_q * n_k, "the scale")
    proof.step(operations(dQ), n_q * d_k * (2 * n_k - 1), PRODUCT)
    proof.step(operations(dK), n_k * d_k * (2 * n_q - 1), PRODUCT)
    proof.step(
        operations(*backward),
        n_q * n_k * (4 * d_k + 4 * d_v + 4) - n_q * (d_k + 1) - n_k * (d_k + d_v),
        "add up the backward pass",
    )
    proof.conclude()

    proof.part("Self-attention of n tokens")
    proof.step(
        operations(*_forward(proof, n, n)),
        2 * n**2 * (d_k + d_v + 3) - n * (d_v + 2),
        "forward, with n queries and n keys",
    )
    proof.conclude()
    proof.step(
        operations(*_backward(proof, n, n)),
        4 * n**2 * (d_k + d_v + 1) - n * (2 * d_k + d_v + 1),
        "backward, with n queries and n keys",
    )
    proof.conclude()
    return proof.done(_compare)


def _forward(proof: Proof, rows: Size, columns: Size) -> tuple[Array, ...]:
    (i,), (j,), (c,), (u,) = (indices(*one) for one in _letters(rows, columns))
    Q, K = proof.array("Q", rows, d_k), proof.array("K", columns, d_k)
    V, f, B = proof.array("V", columns, d_v), proof.scalar("f"), proof.array("B", rows, columns)
    R = proof.define("R", [i, j], sum_over(c, Q[i, c] * K[j, c]))
    T = proof.define("T", [i, j], f * R[i, j])
    S = proof.define("S", [i, j], T[i, j] + B[i, j])
    m = proof.define("m", [i], largest(j, S[i, j]))
    E = proof.define("E", [i, j], exp(S[i, j] - m[i]))
    Z = proof.define("Z", [i], sum_over(j, E[i, j]))
    A = proof.define("A", [i, j], E[i, j] / Z[i])
    Y = proof.define("Y", [i, u], sum_over(j, A[i, j] * V[j, u]))
    return R, T, S, m, E, Z, A, Y


def _backward(proof: Proof, rows: Size, columns: Size) -> tuple[Array, ...]:
    (i,), (j,), (c,), (u,) = (indices(*one) for one in _letters(rows, columns))
    Q, K = proof.array("Q", rows, d_k), proof.array("K", columns, d_k)
    V, f, A = proof.array("V", columns, d_v), proof.scalar("f"), proof.array("A", rows, columns)
    dY = proof.array("dY", rows, d_v)
    dV = proof.define("dV", [j, u], sum_over(i, A[i, j] * dY[i, u]))
    dA = proof.define("dA", [i, j], sum_over(u, dY[i, u] * V[j, u]))
    D = proof.define("D", [i], sum_over(j, A[i, j] * dA[i, j]))
    dS = proof.define("dS", [i, j], A[i, j] * (dA[i, j] - D[i]))
    dR = proof.define("dR", [i, j], f * dS[i, j])
    dQ = proof.define("dQ", [i, c], sum_over(j, dR[i, j] * K[j, c]))
    dK = proof.define("dK", [j, c], sum_over(i, dR[i, j] * Q[i, c]))
    return dV, dA, D, dS, dR, dQ, dK


def _letters(rows: Size, columns: Size) -> tuple[tuple[str, Size], ...]:
    return ("i", rows), ("j", columns), ("c", d_k), ("u", d_v)


class _Counted:
    """A number that counts on a shared tally what is done with it."""

    __slots__ = ("_tally",)

    def __init__(self, tally: list[int]) -> None:
        self._tally = tally

    def _one(self, _: object = None) -> _Counted:
        self._tally[0] += 1
        return self

    __add__ = __sub__ = __mul__ = __truediv__ = exp = _one

    def __ge__(self, other: object) -> bool:
        self._tally[0] += 1
        return True

    __gt__ = __le__ = __lt__ = __ge__


def _compare(derivation: Derivation, random: np.random.Generator) -> Iterator[Comparison]:
    tally = [0]

    def array(*shape: int) -> NDArray[Any]:
        found = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            found[place] = _Counted(tally)
        return found

    queries, keys, width, out = 3, 4, 5, 2
    Q, K, V, B = array(queries, width), array(keys, width), array(keys, out), array(queries, keys)
    f, dY = _Counted(tally), array(queries, out)
    S = (Q @ K.T) * f + B
    E = np.exp(S - np.max(S, axis=1, keepdims=True))
    A = E / E.sum(axis=1, keepdims=True)
    _ = A @ V
    own = OneSize({"n_q": queries, "n_k": keys, "n": 1, "d_k": width, "d_v": out})
    forward, backward, *_ = (
        own.evaluate(line.rhs, {}).value[0]
        for line in derivation.conclusion.index
        if isinstance(line.rhs, Expr)
    )
    yield "forward", np.array(float(tally[0])), np.array(float(forward))
    tally[0] = 0
    dA = dY @ V.T
    dR = (A * (dA - (A * dA).sum(axis=1, keepdims=True))) * f
    _ = A.T @ dY, dR @ K, dR.T @ Q
    yield "backward", np.array(float(tally[0])), np.array(float(backward))
