"""SymPy as a second opinion, and where it is known to be wrong."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from symattn.proofs import THEORY, names
from symattn.proofs.indexed import Indexed
from symattn.proofs.language import Size, delta, exp, indices, partial, sum_over
from symattn.proofs.proof import Proof, RefusedStep
from symattn.verdicts import Verdict

from .derived import RULES

n = Size("n")
i, j, k = indices("i j k", n)

NOT_ASKED = {
    # Limits and expected values are not put to SymPy.
    "masking": {1, 2},
    "score-scale": {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18},
}
THROUGH_PROJECTIONS = 13
"""From this step on SymPy takes seconds; `check(sympy=True)` asks it all the same."""


@pytest.mark.parametrize("name", names())
def test_sympy_confirms_every_step_for_all_sizes(name):
    """All but limits and expected values, with IndexedBase, Sum and KroneckerDelta."""
    sympy, found = Indexed(), {}
    for step in THEORY[name].steps:
        if name == "attention-gradients" and step.number >= THROUGH_PROJECTIONS:
            break
        found[step.number] = sympy.agree(step.lhs, step.rhs)
    open_steps = {number for number, verdict in found.items() if verdict is Verdict.UNDECIDED}
    assert open_steps == NOT_ASKED.get(name, set())


def test_check_reports_what_sympy_says():
    """With sympy=True each line of the report carries SymPy's verdict."""
    report = THEORY["shift-invariance"].check(sympy=True)
    assert {line.sympy for line in report.lines} == {Verdict.HOLDS}
    assert report.to_dict()["lines"][0]["sympy"] == "holds"
    assert THEORY["shift-invariance"].check().lines[0].sympy is None


def written():
    """A proof about softmax of one row, and its quantities."""
    proof = Proof("wrong", statement="", source="", sizes=[{"n": 2}, {"n": 3}])
    S = proof.array("S", n)
    Z = proof.name("Z", sum_over(j, exp(S[j])))
    return proof, S, Z, proof.define("A", [i], exp(S[i]) / Z)


def test_the_lost_outer_product_is_refused():
    """SymPy's matrix calculus differentiates softmax to diag(p): -p p^T is gone."""
    x = sp.MatrixSymbol("x", 3, 1)
    powers = x.applyfunc(sp.exp)
    softmax = powers / (sp.OneMatrix(1, 3) * powers)[0, 0]
    wrong = softmax.diff(x).as_explicit()
    assert wrong.is_diagonal()  # If SymPy mends this, the test below is all that remains.

    rule = RULES["softmax"]((3,))
    at = dict(zip(x.as_explicit(), rule.operands[0], strict=True))
    product = wrong.xreplace(at).T * sp.Matrix(rule.upstream)
    found = np.array(list(product), dtype=object)
    assert rule.compare([found]) is Verdict.REFUTED

    proof, S, _, A = written()
    with pytest.raises(RefusedStep, match="wrong, step 1: ∂A_i/∂S_k = δ_ik A_i fails at n=2"):
        proof.step(partial(A[i], S[k]), delta(i, k) * A[i], "SymPy's matrix calculus")
    proof.step(partial(A[i], S[k]), A[i] * (delta(i, k) - A[k]), "quotient rule")


def test_the_captured_index_is_refused():
    """SymPy differentiates sum_j exp(S_j) in S_j to the sum itself."""
    S, J, N = sp.IndexedBase("S"), sp.Symbol("j", integer=True), sp.Symbol("n", positive=True)
    total = sp.Sum(sp.exp(S[J]), (J, 1, N))
    assert total.diff(S[J]) == total

    proof, scores, Z, A = written()
    with pytest.raises(RefusedStep, match="∂Z/∂S_j = Z fails"):
        proof.step(partial(Z, scores[j]), Z, "SymPy, the index being captured")
    with pytest.raises(RefusedStep, match="∂A_i/∂S_j = δ_ij A_i − A_i fails"):
        proof.step(partial(A[i], scores[j]), delta(i, j) * A[i] - A[i], "the same in softmax")
    proof.step(partial(Z, scores[j]), exp(scores[j]), "one term has S_j")
