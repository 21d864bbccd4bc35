"""However a formula is dressed: it is judged, or it is a fault, and never passed over."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from symattn.calculus.library import derive
from symattn.calculus.manuscript import Manuscript, read_text
from symattn.errors import Malformed

from .decorated import AROUND, BETWEEN, FALSE, FRAME, HIDING, ODD, TRUE, ways

Pair = tuple[str, str]


def texts(pair: Pair, kinds: tuple[list[str], ...]) -> Iterator[tuple[str, str]]:
    """All ways to write an equation of these kinds, at two places of a text."""
    for way in ways(*pair, *kinds):
        for before, behind in ((way, ""), ("", way)):
            yield way, FRAME.format(before=before, behind=behind)


def read(text: str) -> Manuscript | None:
    """A text as tables; None where it has faults."""
    try:
        return read_text(Path("-"), text.encode())
    except Malformed:
        return None


@cache
def proves(
    definitions: tuple[tuple[str, str], ...], hypotheses: tuple[str, ...], line: str
) -> bool:
    """Whether a line is proved of these definitions."""
    tables = [f"{key} := {said}" for key, said in definitions]
    head = "\n".join(FRAME.splitlines()[1:3])
    assumed = [f"assume {hypothesis}" for hypothesis in hypotheses]
    judged = derive("\n".join([head, *tables, *assumed, line]))
    return not judged.faults and [item.proved for item in judged.lines] == [True]


def all_proved(found: Manuscript) -> bool:
    """Whether all lines are proved: the text exits 0."""
    said = found.document
    define = tuple(said["define"].items())
    return all(proves(define, tuple(said["hypotheses"]), item["line"]) for item in said["lines"])


@cache
def passes(text: str) -> bool:
    """Whether a text exits 0: it has no faults, and all that it claims is proved."""
    judged = derive(text)
    return not judged.faults and judged.proved


@pytest.mark.sampled(0, 2)
@pytest.mark.parametrize("pair", FALSE, ids=lambda pair: pair[0])
def test_no_dress_hides_a_false_formula(pair: Pair) -> None:
    """It is refuted or a fault, in more than 250 ways and at two places."""
    hidden = [
        way
        for way, text in texts(pair, (AROUND, BETWEEN, ODD))
        if (found := read(text)) is not None and all_proved(found)
    ]
    assert hidden == []
    assert len([*texts(pair, (AROUND, BETWEEN, ODD))]) > 500


@pytest.mark.sampled(16)
@pytest.mark.parametrize(
    ("given", "behind"), [(given, behind) for given, odd in HIDING.items() for behind in odd]
)
def test_what_makes_a_true_text_false_is_not_passed_over(given, behind) -> None:
    """A text that is proved is refuted, or can't be read, as soon as that follows."""
    given += "".join(f"{name} = {name}\n" for _, name in derive(given).unused)
    assert passes(given)
    assert not passes(given + behind)


@pytest.mark.heavy
@pytest.mark.parametrize("pair", TRUE, ids=lambda pair: pair[0])
def test_a_true_formula_is_read_in_most_dresses(pair: Pair) -> None:
    """Of the ways in which people do write formulas nine in ten are read, and all that are
    read are proved."""
    every = [*texts(pair, (AROUND, BETWEEN))]
    found = [(way, manuscript) for way, text in every if (manuscript := read(text))]
    assert len(found) >= 0.9 * len(every)
    assert [way for way, manuscript in found if not all_proved(manuscript)] == []
    claimed = [len(manuscript.document["lines"]) for _, manuscript in found]
    assert min(claimed) > 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x: n\nA = x\nA := x + x", "line 3: A is defined on line 2: a name is defined once"),
        ("x: n\nA = x\nx := A", "line 3: x is given, and used on line 2 already"),
        ("x: n\nx[i] = b[i]\nb = x", "line 3: b is used on line 2, before it is defined"),
        ("x: n\nA = x\nx: m\nA = x", "line 3: x is given on line 1 already, as something else"),
        (
            "x: n\nL = sum(x)\nJ = mean(x)\ndx = x",
            "line 4: dx may be the gradient of several losses",
        ),
        (
            "x: n\nA = x\ndx = A\nL = sum(A)",
            "line 3: dx is the gradient of L, which is not known yet",
        ),
        ("x: n\nm = mean(x)\ndx = x - m\ndx = x", "line 3: dx may be the gradient of m in x"),
        ("x: n\nL = sum(x)\ndx := x", "line 3: dx is the gradient of L"),
        ("x: n\n+ 5\nx = x", "line 2: '+ 5' begins with an operator, and there is no formula"),
        ("x: n\n= x", "line 2: it begins with '=', and no formula stands right before it"),
        (
            "x: n\nx = x\nwords\n= x",
            "line 4: it begins with '=', and no formula stands right before",
        ),
        ("x: n\nso (x + 1 becomes x) easily", "line 2: 'so (x + 1 becomes x) easily': write '='"),
        ("x: n\nx = x (i ≠ i)", "line 2: i ≠ i: expected two different indices of the line"),
        ("x: n\nx ＝ 2x", "line 2: 'x ＝ 2x': write '='"),
        ("x: n\nlog 2x = x", "line 2: write what log is taken of in brackets"),
        ("x: n\n1/2x = x", "line 2: '1/2x'"),
        ("x: n\nso - x = x", "line 2: '-' with a blank behind it"),
        ("x: n\nx > 0\nx = x", "line 2: 'x > 0': an inequality is not judged; 'assume ...'"),
        ("x: n\nx ≈ x", "line 2: 'x ≈ x': only what is exactly equal is judged"),
        ("x: n\nx → x", "line 2: 'x → x': an arrow claims nothing"),
        ("x: n\nx is x + 1\nx = x", "line 2: 'x is x + 1': write '=' between what is equal"),
        ("x: n\nx + 1\nx = x", "line 2: 'x + 1' is a formula of which nothing is claimed"),
        ("x: n\n- cos(x) = diff(-sin(x), x)", "line 2: '-' with a blank behind it"),
        ("x: n\n$$\nx = x", "line 2: a display that begins here is not closed"),
        ("x: n\nsum(x = x", "line 2: a bracket that is opened here is not closed"),
        ("x: n\n## x = x + 1\nx = x", "line 2: a heading with a formula"),
        ("x: n\nx = x + 1 =", "line 2: 'x = x + 1 =': a side is missing beside '='"),
        ("x: n\nx = x by the rule x + 1", "line 2: 'by the rule x + 1' beside a formula"),
    ],
)
def test_faults(text, told) -> None:
    """What was found, on which line, and what to write."""
    found = derive(text)
    assert [fault.at("")[: len(told)] for fault in found.faults][:1] == [told]


def test_all_faults_at_once() -> None:
    """In the order of their lines."""
    found = derive("x: n\nx ≈ x\nx = x\nx <= x\n(x = x")
    assert [fault.line for fault in found.faults] == [2, 4, 5]


GRADIENTS = {
    "z, y: n\np = softmax(z)\nL = -sum(i, y[i]*log(p[i]))\n": ("dz = p + y", "dL/dz = p + y"),
    "S: n x m\nL: function of A\nA = softmax(S)\n": ("dS = A * (dA + rowsum(A * dA))",),
    "S, dA: n x m\nA = softmax(S)\n": (
        *("dS = A * (dA + rowsum(A * dA))", "dS_ij = A_ij dA_ij", "∂L/∂S = A ∘ dA"),
    ),
    "S, dA, dS: n x m\nA = softmax(S)\n": ("dS = A * (dA + rowsum(A * dA))",),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("given", "line"), [(given, line) for given, lines in GRADIENTS.items() for line in lines]
)
def test_gradients_are_what_they_are(given, line) -> None:
    """Once there is a loss, or the gradient in what is defined is given, what is equated to a
    gradient is a claim, on the first line that names it."""
    (judged,) = derive(given + line).lines
    assert judged.status == "refuted"


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    "text",
    [
        "z, y: n\nassume sum(y) = 1\np = softmax(z)\nL = -sum(i, y[i]*log(p[i]))\ndz = p - y",
        "S, dA: n x m\nA = softmax(S)\ndS = A * (dA - rowsum(A * dA))",
        "x: n\nf = sum(i, x[i]**2)\nf: loss\ndx = 2 x",
        "x: n\nL = sum(i, x_i^2)\nJ = mean(x)\nJ: loss\ndL/dx = 2 x\ndx_i = 1/n",
        "x: n\nm = mean(x)\ndx := x - m\nsum(dx) = 0",
        "z, y: n\nlog_p = log(softmax(z))\nexp_z = exp(z)\ne = y - z\nz1 = 2 z\nz1 - z = z + 0 e\n"
        "exp_z = exp(z) + 0 log_p",
        "t, c: number\nt**(c^2) t**2 = t^(c^2) t²\n(t^2)^3 = t^6\nt**2**3 = t^8\ne^(t^2) = e^{t²}",
        "x: n\n\\sum_{i=1}^n \\sum_{j=1}^n x_i x_j = (\\sum_{i=1}^{n} x_i)^2",
        "x: n\nx_max = 2 x\nx_max - x = x\nG_ij = x_i x_j\nG = x x^T",
        "A, B: n x n\nAB := A B\nAB = A @ B",
        "x: n\nm = mean(x)\n\\bar{x} = m\nL = sum(x)\nx_bar = m\nL = n m",
        "z, y: n\np = softmax(z)\nL = sum(p * y)\ngrad_z := p + y\ngrad_z = y + p\nL = y^T p",
    ],
)
def test_gradients_hold(text) -> None:
    """The right ones are proved; a loss may be named, and ``:=`` makes a name of its own."""
    found = derive(text)
    assert found.faults == ()
    assert found.proved


def test_words_are_counted_and_listed() -> None:
    """All that was taken for words, with its line, in each report."""
    found = derive(
        "# Title\nSome words.\nx: n\nA = x   # a remark\nso x = A, by definition\n% none"
    )
    assert found.words == ((2, "Some words."), (4, "a remark"), (5, "by definition"), (6, "none"))
    assert found.summary() == "1 line: 1 proved; 4 lines of words, not judged"
    assert found.to_dict()["words"][1] == {"at": 4, "text": "a remark"}
