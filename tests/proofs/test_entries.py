"""The eleven derivations: confirmed line by line, printable, and as the literature has them."""

from __future__ import annotations

import json
import re

import pytest

from symattn.errors import UnknownName
from symattn.proofs import ENTRIES, THEORY, derivation, names
from symattn.proofs.printing import LATEX, latex, prose
from symattn.verdicts import Verdict

COMMANDS = {
    *(r"\frac", r"\sqrt", r"\sum", r"\max", r"\lim", r"\log", r"\left", r"\right"),
    *(r"\partial", r"\delta", r"\lambda", r"\pi", r"\circ", r"\top", r"\infty", r"\to"),
    *(r"\operatorname", r"\mathbf", r"\le", r"\,"),
}

CONCLUSIONS = {
    "softmax-jacobian": ("J_ik = A_i (δ_ik − A_k)", "J = diag(A) − A Aᵀ", "J 1 = 0"),
    "softmax-backward": ("dS = A ∘ (dA − rowsum(A ∘ dA))",),
    "attention-gradients": (
        "dV = Aᵀ dY",
        "dA = dY Vᵀ",
        "dQ = (1 / √d_k) dS K",
        "dK = (1 / √d_k) dSᵀ Q",
        "dW^Q = Xᵀ dQ",
        "dX = dQ (W^Q)ᵀ + dK (W^K)ᵀ + dV (W^V)ᵀ",
    ),
    "pair-form": (
        "dQ_ic = (1 / √d_k) Σ_j<l (dA_ij − dA_il) (K_jc − K_lc) (exp(S_ij + S_il) / Z_i²)",
    ),
    "masking": ("(1 − M_ij) A_ij = 0", "(1 − M_ij) dS_ij = 0", "∂L/∂S_1k = 0"),
    "shift-invariance": ("softmax(S + c 1ᵀ) = softmax(S)",),
    "score-scale": ("E[s²] − E[s]² = d_k", "lim(λ → ∞) P_ia = δ_ia", "lim(λ → 0) A_i = 1 / n"),
    "cross-entropy": ("dz = p − y",),
    "permutation": ("Y' = P Y", "A''_ij = 1 / n"),
    "blockwise-softmax": ("D = rowsum(dY ∘ Y)", "dS = A ∘ (dA − D 1ᵀ)"),
    "operation-counts": ("ops(R, T, S, m, E, Z, A, Y) = 2 n² (d_k + d_v + 3) − n (d_v + 2)",),
}
"""Some of what each entry concludes."""


def others(sizes):
    """Two choices of sizes that a proof was not written with."""
    turned = [{name: size % 3 + 1 for name, size in one.items()} for one in sizes[:2]]
    added = [{name: size + 3 for name, size in one.items()} for one in sizes[:2]]
    found = [a if a not in sizes else b for a, b in zip(turned, added, strict=True)]
    assert not any(one in sizes for one in found)
    return found


@pytest.mark.parametrize("name", names())
def test_every_line_is_confirmed_for_all_sizes(name):
    """No step of the eleven rests on concrete sizes alone, and none is undecided."""
    assert THEORY[name].proved
    assert set(THEORY[name].confirmed) == {"symbolic", "concrete", "undecided"}
    assert {step.how for step in THEORY[name].steps} == {"symbolic"}


@pytest.mark.parametrize("name", names())
def test_every_line_holds_at_other_sizes_and_numerically(name):
    """check(): exactly at new sizes, and with NumPy at random points."""
    entry = THEORY[name]
    sizes = others(entry.sizes)
    report = entry.check(sizes=sizes)
    assert report.verdict is Verdict.HOLDS
    assert report.numeric
    assert len(report.lines) >= len(entry.steps)
    for line in report.lines:
        assert line.confirmation.at == tuple((one, Verdict.HOLDS) for one in sizes)


@pytest.mark.parametrize("name", names())
def test_sizes_are_rectangular(name):
    """Different sizes differ, so that a wrong transpose can't hide."""
    sizes = THEORY[name].sizes
    assert len(sizes) >= 2
    for one, other in (("n_q", "n_k"), ("d_k", "d_v")):
        if {one, other} <= sizes[0].keys():
            assert all(size[one] != size[other] for size in sizes)


@pytest.mark.parametrize("name", names())
def test_conclusions_read_as_in_the_literature(name):
    """In index form and, where there is one, in matrix form."""
    conclusion = THEORY[name].conclusion
    found = {line.text for line in (*conclusion.index, *conclusion.matrix)}
    assert set(CONCLUSIONS[name]) <= found


@pytest.mark.parametrize("name", names())
def test_latex_is_plain_amsmath(name):
    """ASCII, balanced, and with no command that amsmath does not know."""
    entry = THEORY[name]
    lines = [*entry.definitions, *entry.steps, *entry.conclusion.index, *entry.conclusion.matrix]
    for line in lines:
        written = line.latex
        assert written.isascii()
        assert written.count("{") == written.count("}")
        assert written.count(r"\left") == written.count(r"\right")
        assert set(re.findall(r"\\[A-Za-z]+|\\.", written)) <= COMMANDS


@pytest.mark.parametrize("name", names())
def test_words_are_plain(name):
    """Statement, assumptions and rules are ASCII, and safe in LaTeX once set as prose."""
    entry = THEORY[name]
    rules = [step.rule for step in entry.steps]
    for words in (entry.statement, entry.source, *entry.assumptions, *rules):
        assert words
        assert words.isascii()
        assert not re.search(r"(?<!\\)[&%#_^]", re.sub(r"\$[^$]*\$", "", prose(words, LATEX)))


@pytest.mark.parametrize("name", names())
def test_text_has_one_line_a_step(name):
    """Each step stands on its own line with its rule."""
    entry = THEORY[name]
    lines = entry.to_text().splitlines()
    for step in entry.steps:
        (line,) = [line for line in lines if re.match(rf" +{step.number}\. ", line)]
        assert line.rstrip().endswith(f"[{prose(step.rule)}]")
    assert lines[0] == name


@pytest.mark.parametrize("name", names())
def test_plain_data_survives_json(name):
    """to_dict() of a derivation and of its report."""
    data = THEORY[name].to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["steps"][0].keys() == {
        "number", "part", "continues", "text", "latex", "confirmed", "rule"
    }  # fmt: skip


def test_the_theory_is_a_mapping():
    """Names in order; the derivation is written once; a slip in a name is told."""
    assert list(THEORY) == list(names()) == list(ENTRIES)
    assert len(THEORY) == 11
    assert THEORY["masking"] is derivation("masking")
    assert all(THEORY[name].name == name for name in names())
    assert "softmax" not in THEORY
    with pytest.raises(UnknownName, match="did you mean softmax-jacobian"):
        THEORY["softmax-jakobian"]
    with pytest.raises(KeyError):
        THEORY["?"]


def test_a_step_prints_itself():
    """.text and .latex are whole equations, also in the middle of a chain."""
    step = THEORY["attention-gradients"].steps[8]
    assert step.text == "dQ_ic = (1 / √d_k) Σ_j dS_ij K_jc"
    assert step.latex == (r"dQ_{ic} = \frac{1}{\sqrt{d_k}}\, \sum_{j=1}^{n_k} dS_{ij}\, K_{jc}")
    assert step.continues
    assert THEORY["attention-gradients"].conclusion.matrix[3].latex == (
        r"dQ = \frac{1}{\sqrt{d_k}}\, dS\, K"
    )


def test_notebooks_show_the_steps():
    """_repr_latex_ is one aligned display with a row for each step."""
    entry = THEORY["softmax-jacobian"]
    shown = entry._repr_latex_()
    assert shown.startswith("$$\\begin{aligned}")
    assert shown.count("&=") == len(entry.steps)
    assert latex(entry.steps[0].rhs) in shown
