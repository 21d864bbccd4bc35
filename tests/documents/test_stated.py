"""What an equation states of its figures stands, whatever else they are the figures of: that is
what is wrong with them, and no reason to let them hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.auditing.fixing import fixed
from symattn.cases.article import case_of
from symattn.documents.binding import binder
from symattn.documents.files import article
from symattn.verdicts import Verdict

from ..strategies import few
from .test_scientific import notebook

Q = np.array([[1.3, 2.1], [0.4, 1.7], [3.2, 1.1]])
K = np.array([[2.3, 1.6], [1.4, 1.2], [0.7, 3.3]])


def softmax(scores):
    """By rows, in plain loops."""
    rows = []
    for row in scores.tolist():
        powers = [np.exp(one - max(row)) for one in row]
        rows.append([power / sum(powers) for power in powers])
    return np.array(rows)


def tex(matrix, places=4):
    """A matrix as LaTeX has it."""
    rows = (" & ".join(f"{x:.{places}f}" for x in row) for row in matrix.tolist())
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


def code(matrix, places=4):
    """A matrix as programs have it."""
    rows = (f"[{', '.join(f'{x:.{places}f}' for x in row)}]" for row in matrix.tolist())
    return "[{}]".format(",\n ".join(rows))


def given_in(form, q=Q, k=K, names=("Q", "K")):
    """The queries and keys, as an article of a form gives them."""
    if form in ("code", "plain"):
        return f"{names[0]} = np.array({code(q, 1)})\n{names[1]} = np.array({code(k, 1)})\n"
    return "".join(
        f"$${name} = {tex(one, 1)}$$\n\n" for name, one in zip(names, (q, k), strict=True)
    )


def _heads(text):
    return text.replace("Q", "Q^{(2)}").replace(r"K^\top", r"{K^{(2)}}^\top")


LABEL = r"Scaled scores $Q K^\top / \sqrt{2}$:"
#: Articles that state scaled scores of their figures, with a suffix, by their shape.
SCALED = {
    "display": (
        "md",
        lambda f: given_in("tex") + rf"$$T = \frac{{Q K^\top}}{{\sqrt{{2}}}} = {tex(f)}$$",
    ),
    "nameless": ("md", lambda f: given_in("tex") + rf"$$Q K^\top / \sqrt{{2}} = {tex(f)}$$"),
    "label": ("md", lambda f: f"{given_in('tex')}{LABEL}\n\n$${tex(f)}$$\n"),
    "label of a head": (
        "md",
        lambda f: (
            given_in("tex", names=("Q^{(2)}", "K^{(2)}")) + f"{_heads(LABEL)}\n\n$${tex(f)}$$\n"
        ),
    ),
    "after the scores": (
        "md",
        lambda f: (
            given_in("tex")
            + rf"$$S = Q K^\top = {tex(Q @ K.T)}$$"
            + "\n\n"
            + rf"$$T = S / \sqrt{{2}} = {tex(f)}$$"
        ),
    ),
    "definition": (
        "md",
        lambda f: given_in("tex") + r"$$T = Q K^\top / \sqrt{2}$$" + f"\n\n$$T = {tex(f)}$$",
    ),
    "heading": (
        "md",
        lambda f: given_in("tex") + r"## Scores $Q K^\top / \sqrt{2}$" + f"\n\n$${tex(f)}$$",
    ),
    "plain": (
        "md",
        lambda f: (
            f"```\n{given_in('plain')}```\n\nScaled scores `Q K^T / sqrt(2)`:\n\n"
            f"```\n{code(f)}\n```\n"
        ),
    ),
    "comment": (
        "md",
        lambda f: (
            f"```python\n{given_in('code')}T = Q @ K.T / np.sqrt(2)\n# "
            + code(f).replace("\n", "\n# ")
            + "\n```\n"
        ),
    ),
    "output": (
        "ipynb",
        lambda f: notebook(
            (f"import numpy as np\n{given_in('code')}", ""),
            ("T = Q @ K.T / np.sqrt(2)\nprint(T)", code(f)),
        ),
    ),
    "latex": (
        "tex",
        lambda f: (
            "\\documentclass{article}\\begin{document}\n"
            f"{given_in('tex')}{LABEL}\n\\[ {tex(f)} \\]\n\\end{{document}}\n"
        ),
    ),
}


def audited(source, suffix="md"):
    """What an article comes to."""
    path = Path(f"post.{suffix}")
    return audit(case_of(binder.read(article(path, source.encode()))))


def verdicts(found):
    """How many of the figures hold, and how many are refuted."""
    return found.count(Verdict.HOLDS), found.count(Verdict.REFUTED)


@pytest.mark.parametrize("shape", SCALED)
def test_scores_without_the_scale_that_is_stated_are_refuted(shape):
    """With the scale they hold; without it all are wrong, because of it."""
    suffix, made = SCALED[shape]
    others = 9 * (shape == "after the scores")
    assert verdicts(audited(made(Q @ K.T / np.sqrt(2)), suffix)) == (9 + others, 0)
    found = audited(made(Q @ K.T), suffix)
    assert verdicts(found) == (others, 9)
    assert [slip.kind for slip in found.causes] == ["scale-dropped"]
    assert len(found.causes[0].explains) == 9


@few
@given(
    st.lists(st.integers(-30, 30), min_size=12, max_size=12, unique=True),
    st.sampled_from(["display", "nameless", "label", "plain", "comment", "latex"]),
)
def test_nothing_right_is_refuted_and_no_other_form_holds(numbers, shape):
    """Whatever the numbers are."""
    q, k = np.array(numbers).reshape(2, 3, 2) / 10
    suffix, made = SCALED[shape]

    def article_of(figures):
        return (
            made(figures)
            .replace(tex(Q, 1), tex(q, 1))
            .replace(tex(K, 1), tex(k, 1))
            .replace(code(Q, 1), code(q, 1))
            .replace(code(K, 1), code(k, 1))
        )

    right = q @ k.T / np.sqrt(2)
    assert audited(article_of(right), suffix).count(Verdict.REFUTED) == 0
    found = audited(article_of(q @ k.T), suffix)
    holding = [one for one in found.figures if one.verdict is Verdict.HOLDS]
    assert all(abs(right[one.entry.i][one.entry.j]) < 5e-5 for one in holding)


def test_what_the_figures_are_instead_is_said():
    """Another quantity that they are the figures of is named."""
    text = given_in("tex") + rf"$$V = {tex(np.array([[0.5, 1.5], [2.0, 0.3], [1.1, 0.7]]), 1)}$$"
    scores = softmax(Q @ K.T)
    stated = rf"{text}$$S = Q K^\top$$" + "\n\n" + r"$$T = S / \sqrt{2}$$" + "\n\n"
    found = audited(stated + rf"$$A = \text{{softmax}}(T) = {tex(scores)}$$")
    assert verdicts(found) == (0, 9)
    far = audited(stated + rf"$$A = \text{{softmax}}(T) = {tex(Q @ K.T / np.sqrt(2))}$$")
    assert verdicts(far) == (0, 9)
    assert "softmax(T) replaced by T" in far.causes[0].sentence
    small = np.array([[1, 2], [0, 1]]), np.array([[3, 1], [1, 1]])
    few_digits = audited(
        given_in("tex", *small)
        + rf"$$T = Q K^\top / \sqrt{{2}} = {tex(small[0] @ small[1].T, 1)}$$"
    )
    assert verdicts(few_digits) == (0, 4)
    assert few_digits.figures[0].reason == "Q @ K.T / sqrt(2) does not come to this"


def test_which_of_formula_and_figures_is_wrong_is_not_decided():
    """Nothing is corrected where an equation and its figures are two quantities."""
    text = SCALED["display"][1](Q @ K.T)
    assert fixed(audited(text), audited).text == text


S = Q @ K.T
MASKED = softmax(np.where(np.tri(3) > 0, S / np.sqrt(2), -np.inf))
#: Figures that no equation states to be what stands near them.
OPEN = {
    "numerator": r"The numerator of $Q K^\top / \sqrt{2}$ is" + f"\n\n$${tex(S)}$$\n",
    "scores of": r"We want $\text{softmax}(Q K^\top / \sqrt{2})$, whose scores are:"
    + f"\n\n$${tex(S)}$$\n",
    "heading of": r"## The scores of $\text{softmax}(Q K^\top / \sqrt{2})$" + f"\n\n$${tex(S)}$$\n",
    "section": r"## $\text{softmax}(Q K^\top / \sqrt{2})$"
    + f"\n\n$${tex(S)}$$\n\nand so\n\n$${tex(softmax(S / np.sqrt(2)))}$$\n",
    "first": r"We compute $Q K^\top / \sqrt{2}$. First the product:" + f"\n\n$${tex(S)}$$\n",
    "without": r"$$T = Q K^\top / \sqrt{2}$$" + f"\n\nWithout the scale:\n\n$$T = {tex(S)}$$\n",
    "size": r"Here $d_k = 1$." + "\n\n" + rf"$$T = Q K^\top / \sqrt{{d_k}} = {tex(S)}$$",
    "mask": "With a causal mask:\n\n"
    + rf"$$A = \text{{softmax}}(Q K^\top / \sqrt{{2}}) = {tex(MASKED)}$$",
    "factor": rf"$$T = \alpha Q K^\top / \sqrt{{2}} = {tex(S)}$$",
}


@pytest.mark.parametrize("words", OPEN)
def test_what_is_not_stated_refutes_nothing(words):
    """Words that speak of a part of a formula, sizes and masks that are not what it says."""
    assert audited(given_in("tex") + OPEN[words]).count(Verdict.REFUTED) == 0


@pytest.mark.parametrize(
    "program",
    [
        "S = Q @ K.T\nT = S / np.sqrt(2)\nprint(T)\nprint(S)",
        "S = Q @ K.T\nT = S / np.sqrt(2)\nlog(S)\nprint(T)",
        "T = Q @ K.T / np.sqrt(2)\nT *= np.sqrt(2)\nprint(T)",
    ],
)
def test_what_a_program_may_have_shown_instead_refutes_nothing(program):
    """An output may be of another of its quantities."""
    source = notebook((f"import numpy as np\n{given_in('code')}", ""), (program, code(S)))
    assert audited(source, "ipynb").count(Verdict.REFUTED) == 0
