"""Why the scores are divided by the root of d_k."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from symattn.proofs.derivation import Comparison, Derivation
from symattn.proofs.language import (
    Size,
    delta,
    exp,
    indices,
    limit,
    mean,
    partial,
    sqrt,
    sum_over,
)
from symattn.proofs.numeric import jacobian, softmax
from symattn.proofs.proof import Proof


def score_scale() -> Derivation:
    """Var(q . k) = d_k; large scores saturate softmax, small ones make it uniform."""
    proof = Proof(
        "score-scale",
        statement="The dot product of independent entries with mean 0 and variance 1 has variance "
        "d_k; divided by the root of d_k it has variance 1. Scores that grow without bound "
        "saturate softmax, its Jacobian tending to 0; scores that shrink make it uniform.",
        source="Vaswani et al., Attention is all you need, arXiv 1706.03762, section 3.2.1",
        assumptions=[
            "All entries of q and k are independent, with mean 0 and variance 1; E[ ] is the mean.",
            "The scores are multiplied by lambda. The largest of them, t, stands at one place a "
            "only, and h_i > 0 is its lead over the score at another place i.",
        ],
        sizes=[{"n": 2, "d_k": 3}, {"n": 3, "d_k": 2}, {"n": 1, "d_k": 4}],
    )
    n, d_k = Size("n"), Size("d_k")
    a, i, j, k = indices("a i j k", n)
    b, c = indices("b c", d_k)
    q_, k_ = proof.array("q", d_k, kind="random"), proof.array("k", d_k, kind="random")
    s = proof.name("s", sum_over(c, q_[c] * k_[c]))

    proof.part("The variance of a dot product")
    proof.step(mean(s), sum_over(c, mean(q_[c]) * mean(k_[c])), "linear; q_c and k_c independent")
    proof.then(0, "both means are 0")
    proof.step(
        mean(s**2), sum_over(c, b, mean(q_[c] * q_[b]) * mean(k_[c] * k_[b])), "q and k independent"
    )
    proof.then(
        sum_over(c, b, delta(c, b) * delta(c, b)), "variance 1, different entries independent"
    )
    proof.then(d_k, "the delta leaves d_k ones")
    proof.step(
        mean(s**2) - mean(s) ** 2, d_k, "the variance is the mean square less the squared mean"
    )
    proof.conclude()
    proof.step(
        mean((s / sqrt(d_k)) ** 2) - mean(s / sqrt(d_k)) ** 2,
        (mean(s**2) - mean(s) ** 2) / d_k,
        "a factor comes out of the variance squared",
    )
    proof.then(1, "insert the variance d_k")
    proof.conclude()

    S, lam = proof.array("S", n), proof.scalar("lambda")
    A = proof.define("A", [i], exp(lam * S[i]) / sum_over(j, exp(lam * S[j])))
    h, t = proof.array("h", n, kind="positive"), proof.scalar("t")
    g = proof.define("g", [i, a], (1 - delta(i, a)) * h[i])
    P = proof.define("P", [i, a], exp(-(lam * g[i, a])) / sum_over(j, exp(-(lam * g[j, a]))))
    proof.part("Scores times a large number, or a small one")
    slope = partial(A[i], S[k])
    proof.step(slope, lam * A[i] * (delta(i, k) - A[k]), "softmax-jacobian and the chain rule")
    proof.step(
        exp(lam * (t - g[i, a])) / sum_over(j, exp(lam * (t - g[j, a]))),
        P[i, a],
        "shift-invariance: the largest score t subtracted, g_ia is what score i lacks of it",
    )
    proof.step(
        limit(exp(-(lam * g[i, a])), lam, "oo"), delta(i, a), "g_ia is 0 where i = a, else positive"
    )
    proof.step(
        limit(P[i, a], lam, "oo"), delta(i, a) / sum_over(j, delta(j, a)), "limit of a quotient"
    )
    proof.then(delta(i, a), "the delta leaves one term below")
    proof.conclude()
    proof.step(
        limit(P[i, a] * (delta(i, k) - P[k, a]), lam, "oo"),
        delta(i, a) * (delta(i, k) - delta(k, a)),
        "limit of a product",
    )
    proof.then(0, "where i = a the bracket is zero")
    proof.step(
        limit(lam * P[i, a] * (delta(i, k) - P[k, a]), lam, "oo"),
        0,
        "over the common denominator each term has a factor exp(-lambda h), which outweighs lambda",
    )
    proof.conclude()
    proof.step(limit(A[i], lam, "0"), 1 / sum_over(j, exp(0)), "every exponent tends to 0")
    proof.then(1 / n, "n terms, each 1")
    proof.conclude()
    return proof.done(_compare)


def _compare(derivation: Derivation, random: np.random.Generator) -> Iterator[Comparison]:
    signs = np.array(list(product((-1.0, 1.0), repeat=6)))
    dots = (signs[:, :3] * signs[:, 3:]).sum(axis=1)
    yield "variance over all signs", dots.var(), np.array(3.0)
    S = random.normal(size=5)
    yield "large scores", softmax(1e5 * S), np.eye(5)[S.argmax()]
    yield "their Jacobian", jacobian(lambda x: softmax(1e5 * x), S), np.zeros(1)
    yield "small scores", softmax(1e-12 * S), np.full(5, 0.2)
