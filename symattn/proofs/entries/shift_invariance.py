"""Softmax does not see a shift of its scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symattn.proofs.derivation import Comparison, Derivation
from symattn.proofs.language import Size, exp, indices, partial, sum_over
from symattn.proofs.matrices import ones, softmax
from symattn.proofs.numeric import jacobian
from symattn.proofs.proof import Proof


def shift_invariance() -> Derivation:
    """softmax(S + c 1^T) = softmax(S), so the maximum may be subtracted first."""
    proof = Proof(
        "shift-invariance",
        statement="Adding a number to all scores of a row changes no weight; so the form that "
        "first subtracts the row's maximum, and can't overflow, is softmax itself.",
        source="Milakov and Gimelshein, Online normalizer calculation for softmax, "
        "arXiv 1805.02867, section 2",
        assumptions=["c_i and m_i are any numbers, one for each row; m_i may be the maximum."],
        sizes=[{"n_q": 2, "n_k": 3}, {"n_q": 3, "n_k": 2}, {"n_q": 1, "n_k": 4}],
    )
    n_q, n_k = Size("n_q"), Size("n_k")
    (i,) = indices("i", n_q)
    j, l = indices("j l", n_k)
    S, c, m = proof.array("S", n_q, n_k), proof.array("c", n_q), proof.array("m", n_q)
    A = proof.define("A", [i, j], exp(S[i, j]) / sum_over(l, exp(S[i, l])))
    B = proof.define("B", [i, j], exp(S[i, j] + c[i]) / sum_over(l, exp(S[i, l] + c[i])))

    proof.step(exp(S[i, j] + c[i]), exp(c[i]) * exp(S[i, j]), "exponential of a sum")
    proof.step(
        sum_over(l, exp(S[i, l] + c[i])),
        exp(c[i]) * sum_over(l, exp(S[i, l])),
        "the factor exp(c_i) does not depend on l",
    )
    proof.step(
        B[i, j],
        exp(c[i]) * exp(S[i, j]) / (exp(c[i]) * sum_over(l, exp(S[i, l]))),
        "insert both",
    )
    proof.then(A[i, j], "cancel exp(c_i), which is never zero")
    proof.conclude(softmax(S + c @ ones(n_k).T), softmax(S))
    proof.step(
        exp(S[i, j] - m[i]) / sum_over(l, exp(S[i, l] - m[i])),
        A[i, j],
        "the case c_i = -m_i; for the maximum no exponent is above 0 and one is 0",
    )
    proof.conclude()
    proof.step(partial(B[i, j], c[i]), 0, "so no gradient flows through the shift")
    proof.conclude()
    return proof.done(_compare)


def _compare(derivation: Derivation, random: np.random.Generator) -> Iterator[Comparison]:
    S, c = random.normal(size=(4, 5)), random.normal(size=(4, 1))

    def weights(shift: NDArray[Any]) -> NDArray[Any]:
        powers = np.exp(S + shift)
        found: NDArray[Any] = powers / powers.sum(axis=1, keepdims=True)
        return found

    plain = weights(np.zeros((4, 1)))
    yield "shifted", weights(c), plain
    yield "maximum subtracted", weights(-S.max(axis=1, keepdims=True)), plain
    yield "gradient in the shift", jacobian(weights, c), np.zeros(1)
