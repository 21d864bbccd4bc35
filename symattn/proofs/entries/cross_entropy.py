"""Cross-entropy after softmax."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from symattn.proofs import numeric
from symattn.proofs.derivation import Comparison, Derivation
from symattn.proofs.language import Size, delta, exp, indices, log, partial, sum_over
from symattn.proofs.proof import Proof


def cross_entropy() -> Derivation:
    """dL/dz = p - y."""
    proof = Proof(
        "cross-entropy",
        statement="The gradient of cross-entropy after softmax, in the logits, is the "
        "probabilities minus the targets.",
        source="J. S. Bridle, Training stochastic model recognition algorithms as networks, 1990",
        assumptions=[
            "z are n real logits; y are target probabilities, written over any positive w so "
            "that they add up to 1.",
        ],
        sizes=[{"n": 2}, {"n": 3}, {"n": 4}],
    )
    n = Size("n")
    i, j, k, t = indices("i j k t", n)
    z, w = proof.array("z", n), proof.array("w", n, kind="positive")
    Z = proof.name("Z", sum_over(j, exp(z[j])))
    p = proof.define("p", [i], exp(z[i]) / Z)
    y = proof.define("y", [i], w[i] / sum_over(j, w[j]))
    L = proof.name("L", -sum_over(i, y[i] * log(p[i])))
    dz = proof.gradient(L, z, k)

    proof.step(log(p[i]), z[i] - log(Z), "logarithm of a quotient")
    proof.step(sum_over(i, y[i]), 1, "y adds up to 1")
    proof.step(L, -sum_over(i, y[i] * z[i]) + sum_over(i, y[i]) * log(Z), "insert log p_i")
    proof.then(log(Z) - sum_over(i, y[i] * z[i]), "y adds up to 1")
    proof.step(partial(log(Z), z[k]), exp(z[k]) / Z, "chain rule: one over Z times dZ/dz_k")
    proof.then(p[k], "definition of p_k")
    proof.step(dz[k], p[k] - sum_over(i, y[i] * delta(i, k)), "term by term")
    proof.then(p[k] - y[k], "the delta leaves the term i = k")
    proof.conclude(dz, p - y)
    proof.step(partial(-log(p[t]), z[k]), p[k] - delta(k, t), "one true class t: y_k is delta_kt")
    proof.conclude()
    return proof.done(_compare)


def _compare(derivation: Derivation, random: np.random.Generator) -> Iterator[Comparison]:
    z, y = random.normal(size=5), random.dirichlet(np.ones(5))
    found = numeric.gradient(lambda x: -np.sum(y * np.log(numeric.softmax(x))), z)
    own = derivation.values("dz", {"p": numeric.softmax(z), "y": y})["dz"]
    yield "dz", found, own[:, 0]
