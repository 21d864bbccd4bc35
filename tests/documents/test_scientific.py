"""Figures in scientific notation: as sharp as the same figures written out."""

from __future__ import annotations

import json
from pathlib import Path

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.cases.article import case_of
from symattn.documents.binding import binder
from symattn.documents.binding.bounds import coming, halves
from symattn.documents.files import article
from symattn.expressions.syntax import parse
from symattn.spelling import written
from symattn.verdicts import Verdict

from ..strategies import some

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
#: How a power of ten is written behind a mantissa.
POWERS = {
    "e": lambda power: f"e{power}",
    "padded": lambda power: f"e{power:+03d}",
    "dot": lambda power: f"·10{str(power).translate(_RAISED)}",
    "times": lambda power: f" × 10{str(power).translate(_RAISED)}",
    "hat": lambda power: f" * 10^{power}",
    r"\cdot": lambda power: rf"\cdot10^{{{power}}}",
    r"\times": lambda power: rf" \times 10^{{{power}}}",
}


def notebook(*cells):
    """A notebook of cells with what they print."""
    made = [
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": 1,
            "source": source,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": out}] if out else [],
        }
        for source, out in cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": made})


def _notebook(scores, weights):
    return notebook(
        (f"import torch\ns = torch.tensor([{', '.join(f'{x}.' for x in scores)}])", ""),
        ("w = torch.softmax(s, dim=0)\nprint(w)", f"tensor([{', '.join(weights)}])\n"),
    )


def _listed(scores):
    return ", ".join(map(str, scores))


#: Articles that give scores and print their softmax, by their suffix and form.
FORMS = {
    ("md", "formula"): lambda s, w: (
        rf"$s = [{_listed(s)}]$"
        + "\n\n"
        + rf"$$w = \text{{softmax}}(s) = [{', '.join(w)}]$$"
        + "\n"
    ),
    ("md", "prose"): lambda s, w: f"s = [{_listed(s)}]\n\nw = softmax(s) = [{', '.join(w)}]\n",
    ("md", "comment"): lambda s, w: (
        f"```python\ns = [{_listed(s)}]\nw = softmax(s)\n# [{', '.join(w)}]\n```\n"
    ),
    ("md", "table"): lambda s, w: (
        f"$s = [{_listed(s)}]$\n\n$w = softmax(s)$:\n\n| a | b | c |\n|---|---|---|\n"
        f"| {' | '.join(w)} |\n"
    ),
    ("tex", "formula"): lambda s, w: (
        "\\documentclass{article}\\begin{document}\n"
        + rf"$s = [{_listed(s)}]$ \[ w = \mathrm{{softmax}}(s) = "
        + rf"\begin{{bmatrix}} {' & '.join(w)} \end{{bmatrix}} \]"
        + "\n\\end{document}\n"
    ),
    ("ipynb", "output"): _notebook,
}
#: What is no way to write a number there.
_NEVER = {
    "table": (r"\cdot", r"\times"),
    "comment": (r"\cdot", r"\times"),
    "prose": (r"\cdot", r"\times"),
    "output": ("dot", "times", "hat", r"\cdot", r"\times"),
}
ALL = [
    (suffix, form, power)
    for suffix, form in FORMS
    for power in POWERS
    if power not in _NEVER.get(form, ())
]


def audited(source, suffix):
    """What an article comes to."""
    path = Path(f"post.{suffix}")
    return audit(case_of(binder.read(article(path, source.encode()))))


def _softmax(scores):
    powers = [mpmath.exp(score) for score in scores]
    return [power / mpmath.fsum(powers) for power in powers]


def _digits(value, places):
    """Mantissa and exponent of a value, rounded to so many places behind the point."""
    exponent = int(mpmath.floor(mpmath.log10(value)))
    mantissa = int(mpmath.nint(value * mpmath.mpf(10) ** (places - exponent)))
    return (mantissa, exponent) if mantissa < 10 ** (places + 1) else (mantissa // 10, exponent + 1)


@some
@given(
    st.sampled_from(ALL),
    st.lists(st.integers(-3, 5), min_size=3, max_size=3, unique=True),
    st.integers(3, 5),
    st.integers(0, 2),
    st.sampled_from([-3, -1, 0, 1, 2]),
)
def test_a_power_of_ten_says_the_places_of_a_figure(how, scores, places, at, off):
    """The softmax of whole numbers holds where it is rounded right at the last digit that is
    written, and nowhere else; and never because whole numbers were rounded."""
    suffix, form, power = how
    weights = []
    for k, value in enumerate(_softmax(scores)):
        mantissa, exponent = _digits(value, places)
        text = str(mantissa + (off if k == at else 0))
        weights.append(f"{text[0]}.{text[1:]}{POWERS[power](exponent)}")
    found = audited(FORMS[suffix, form](scores, weights), suffix)
    judged = [figure for figure in found.figures if figure.claim.of.startswith("w")]
    assert not any(figure.within_rounding for figure in judged)
    wrong = [figure.entry.j for figure in judged if figure.verdict is not Verdict.HOLDS]
    assert len(judged) == 3 or off
    assert wrong == ([at] if off and len(judged) == 3 else [])
    if not off:
        assert {written(figure.text).decimals for figure in judged} <= {
            places - _digits(value, places)[1] for value in _softmax(scores)
        }


@pytest.mark.parametrize("how", ALL, ids=lambda how: "-".join(how))
@pytest.mark.parametrize("wrong", ["0.84380", "8.4380e-1"])
def test_a_wrong_figure_beside_one_with_an_exponent_is_refuted(how, wrong):
    """As it is beside the same figure written out: the operands are whole numbers."""
    suffix, form, power = how
    weights = [f"4.201{POWERS[power](-2)}", wrong, "0.11420"]
    found = audited(FORMS[suffix, form]((0, 3, 1), weights), suffix)
    judged = [(figure.text, figure.verdict.value) for figure in found.figures]
    refuted = [text for text, verdict in judged if verdict == "refuted"]
    assert len(judged) == 3
    assert refuted == [wrong]
    assert not any(figure.within_rounding for figure in found.figures)


def test_what_a_program_prints_with_exponents_is_refuted():
    """Of five digits none is owed to single precision."""
    source = notebook(
        ("import torch\nscores = torch.tensor([2., 9., 9., 4.])", ""),
        (
            "sw = torch.softmax(scores, dim=0)\nprint(sw)",
            "tensor([4.5420e-04, 4.9810e-01, 4.9810e-01, 3.3561e-03])\n",
        ),
    )
    verdicts = [(figure.text, figure.verdict.value) for figure in audited(source, "ipynb").figures]
    assert verdicts == [
        ("4.5420e-04", "holds"),
        ("4.9810e-01", "refuted"),
        ("4.9810e-01", "refuted"),
        ("3.3561e-03", "holds"),
    ]


def test_how_far_a_figure_may_be_off_does_not_depend_on_how_it_is_written():
    """Half a unit of its last place, of 4.201e-2 as of 0.04201."""
    apart, plain = halves(parse("[4.201e-2, 0.84]")), halves(parse("[0.04201, 0.84]"))
    assert apart.tolist() == pytest.approx(plain.tolist())
    for tree, value, comes in (
        ("1.5e-2 * 2", "0.0309", True),
        ("1.5e-2 * 2", "0.0321", False),
        ("0.015 * 2", "0.0309", True),
        ("0.5 * 2", "1.02", False),
    ):
        found = coming(parse(tree), parse(value))
        assert found is not None
        assert bool(found.all()) is comes
