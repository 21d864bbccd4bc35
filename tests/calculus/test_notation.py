"""Formulas of texts as people write them, and as they are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import pytest

from symattn.calculus import draft, printing
from symattn.calculus.library import derive
from symattn.calculus.names import Names, head, spelt
from symattn.calculus.notation import formula
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.expressions import typesetting as t

from .files import document, names, theory, theory_document

NAMES = Names(
    dict.fromkeys("xzpyb", 1) | dict.fromkeys(["A", "Q", "K", "V", "S", "X", "W_Q", "dA"], 2)
    | dict.fromkeys(["L", "c", "t", "eps"], 0) | {"dz": 1},
    {"n", "m", "d_k"},
    {"pi"},
)  # fmt: skip


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Q K^T / √d_k", "Q @ K.T / sqrt(d_k)"),
        (r"\frac{QK^\top}{\sqrt{d_k}}", "Q @ K.T / sqrt(d_k)"),
        (r"\mathrm{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_k}}\right) V",
         "softmax(Q @ K.T / sqrt(d_k)) @ V"),
        ("X^TX W_Q", "X.T @ X @ W_Q"),
        ("XW_Q", "X @ W_Q"),
        ("dp_j/dz_k", "diff(p[j], z[k])"),
        ("dp/dz", "diff(p, z)"),
        ("dA / dz", "dA / dz"),
        ("∂L/∂z_k", "diff(L, z[k])"),
        ("dL/dz", "diff(L, z)"),
        (r"\frac{\partial L}{\partial z_{k}}", "diff(L, z[k])"),
        (r"\frac{d p_i}{d z_j}", "diff(p[i], z[j])"),
        (r"\frac{d}{dt} e^{-t}", "diff(exp(-t), t)"),
        ("d/dt log(t)", "diff(log(t), t)"),
        ("∇_z L", "diff(L, z)"),
        ("p_i(δ_ij − p_j)", "p[i] * (delta(i, j) - p[j])"),
        (r"p_{i}\,(\delta_{ij} - p_{j})", "p[i] * (delta(i, j) - p[j])"),
        (r"-\sum_{i} y_i \log p_i", "-sum(i, y[i] * log(p[i]))"),
        ("−∑ᵢ yᵢ log(pᵢ)", "-sum(i, y[i] * log(p[i]))"),
        (r"\sum_{i,j} A_{ij}", "sum(i, sum(j, A[i, j]))"),
        (r"\sum_{j=1}^{n} x_j", "sum(j, x[j])"),
        (r"e^{x_i}/\sum_k e^{x_k}", "exp(x[i]) / sum(k, exp(x[k]))"),
        (r"\lim_{t \to \infty} e^{-t}", "limit(t, oo, exp(-t))"),
        ("softmax(x)_i", "softmax(x)[i]"),
        ("A ⊙ A ∘ A", "A * A * A"),
        ("A \\odot Q K", "A * (Q @ K)"),
        ("x · y", "x @ y"),
        ("2 x_i · c", "2 * x[i] * c"),
        ("2(c + 1)", "2 * (c + 1)"),
        ("x^{-1}", "x**-1"),
        ("x_{i+1} + A_12 + x_5", "x[i + 1] + A[1, 2] + x[5]"),
        ("x_π(i) + A_(i,n)", "x[pi[i]] + A[i, n]"),
        (r"\varepsilon + ε", "eps + eps"),
        ("[j ≤ i] A_ij", "step(j <= i) * A[i, j]"),
        ("[i = j]", "delta(i, j)"),
        ("p_k-dz_k", "p[k] - dz[k]"),
        ("E[c²]", "expect(c**2)"),
        ("A 1_m + I_n", "A @ ones(m) + eye(n)"),
        ("mean_i x_i²", "mean(i, x[i]**2)"),
        ("p[i]*(1 - p[i])", "p[i]*(1 - p[i])"),
        (r"\hat{y}", "y_hat"),
    ],
)  # fmt: skip
def test_what_people_write(written, read) -> None:
    """LaTeX and Unicode, in the grammar of derivations; what is in that stays as it stands."""
    assert formula(written, NAMES).text == read


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("twice x", "'twice' beside a formula"),
        ("det A", "'det' beside a formula"),
        ("X^{-1}", "the inverse of a matrix is not known"),
        ("|x|", "unexpected '|'"),
        ("A × X", "'×' between arrays"),
        (r"\sum x_i", "a sum without an index"),
        (r"\sum_{j \ne i} x_j", "a sum runs over all of a range"),
        (r"\sum_{j=2}^{n} x_j", "a sum runs over all of a range"),
        ("1^T x", "a row of ones is written ones(n).T"),
        (r"\mystery{x}", "can't be read as a formula"),
        ("x +", "expected a value"),
        (r"lim \frac", "can't be read as a formula"),
        ("t^2^3", "an exponent right behind an exponent"),
        ("", "expected a value"),
    ],
)
def test_what_is_refused(written, told) -> None:
    """Nothing is guessed: what can't be read says so, and what to write."""
    with pytest.raises(Malformed, match=re.escape(told)):
        formula(written, NAMES)


def test_what_may_be_two_things() -> None:
    """A raised number is part of a name or a power; who could mean both has to say which."""
    with pytest.raises(Malformed, match="may be W_2 or a power of W"):
        formula("W^2 + 1", Names({"W": 2, "W_2": 2}))
    assert formula("W^2 + 1", Names({"W_2": 2})).text == "W_2 + 1"
    assert formula("W^2 + 1", Names({"W": 0})).text == "W**2 + 1"


@pytest.mark.parametrize(
    ("written", "told"),
    [
        *((text, "write exponents in brackets") for text in ("t^cs", "e^cs", "e^-cs·t", "x^-ct")),
        *((text, "taken of in brackets") for text in ("√4t", "√cs", "2√t s", "√t(s + 1)")),
        *((text, "may be below or beside it") for text in ("t²/cs", "√(t)/cs", "√(t)/-cs")),
        *((text, "the inverse of a matrix") for text in ("A^{-T}", "A^-⊤ x", r"A^{-\top} x")),
    ],
)
def test_what_is_joined_without_brackets_may_be_two_things(written, told) -> None:
    """A root, an exponent or a quotient ends with its first name, or with all that is joined."""
    names = Names({"t": 0, "c": 0, "s": 0, "x": 1, "A": 2, "T": 2}, {"n"})
    with pytest.raises(Malformed, match=told):
        formula(written, names)


def test_what_is_apart_or_in_brackets_is_one_thing() -> None:
    """As is what LaTeX sets so, whatever stands behind it."""
    names = Names({"t": 0, "c": 0, "s": 0, "A": 2})
    for written, read in (
        ("t^(cs) √(4t)", "t**(c * s) * sqrt(4 * t)"),
        ("e^{cs} + √2 t", "exp(c * s) + sqrt(2) * t"),
        ("√t · s / (cs)", "sqrt(t) * s / (c * s)"),
        (r"t^cs \sqrt 4t", "t**c * s * sqrt(4) * t"),
        ("A^T A", "A.T @ A"),
    ):
        assert formula(written, names).text == read


def test_limits_of_sums() -> None:
    """A sum that names its limits has those of its range, or the line is a fault."""
    text = "x: n\ny: m\nA = x\nsum(A) = \\sum_{{j=1}}^{{{}}} x_j"
    assert derive(text.format("n")).proved
    for size in ("m", "5", "k"):
        (fault,) = derive(text.format(size)).faults
        assert "other limits than those of its index" in fault.message


@pytest.mark.parametrize(
    ("side", "name"),
    [
        ("p_i", ("p", ("i",))),
        (r"p_{i}", ("p", ("i",))),
        (r"\mathbf{p}", ("p", ())),
        (r"A_{ij}", ("A", ("i", "j"))),
        ("G[i, k]", ("G", ("i", "k"))),
        ("W_Q", ("W", ("Q",))),
        ("dz", ("dz", ())),
        (r"\alpha", ("alpha", ())),
        (r"\hat{y}", ("y_hat", ())),
        ("2 x", None),
        ("f(x)", None),
        ("x + y", None),
        ("", None),
    ],
)
def test_the_name_on_a_side(side, name) -> None:
    """A name alone, with what stands below it."""
    assert head(side) == name


# -- what is printed is read again --------------------------------------------------------------


def meaning(tree: syntax.Tree, shapes: printing.Shapes) -> object:
    """A tree without what is only in its order of brackets: products flat, signs before them,
    sums over one index each."""

    def negative(tree: syntax.Tree) -> tuple[bool, syntax.Tree]:
        match tree:
            case syntax.Negative(operand):
                is_negative, inner = negative(operand)
                return not is_negative, inner
            case syntax.Binary("*" | "@" | "/" as op, left, right):
                is_negative, inner = negative(left)
                return is_negative, syntax.Binary(op, inner, right)
        return False, tree

    def is_entrywise(tree: syntax.Tree) -> bool:
        match tree:
            case syntax.Binary("*", left, right):
                return printing.is_array(left, shapes) and printing.is_array(right, shapes)
        return False

    def factors(tree: syntax.Tree) -> list[object]:
        match tree:
            case syntax.Binary("*" | "@", left, right) if not is_entrywise(tree):
                return [*factors(left), *factors(right)]
        return [of(tree)]

    def of(tree: syntax.Tree) -> object:
        is_negative, tree = negative(tree)
        if is_negative:
            return "-", of(tree)
        match tree:
            case syntax.Binary("*" | "@", left, right):
                return ("∘", of(left), of(right)) if is_entrywise(tree) else ("", *factors(tree))
            case syntax.Call("sum" | "mean" as function, (index, *more, body)) if more:
                return function, of(index), of(syntax.Call(function, (*more, body)))
            case syntax.Call("step", (syntax.Comparison((left, right), (">" | ">=" as sign,)),)):
                other = syntax.Comparison((right, left), (sign.replace(">", "<"),))
                return of(syntax.Call("step", (other,)))
            case syntax.Gradient(name):
                return "diff", "L", name
            case syntax.Name(name):
                return spelt(name)
            case syntax.Literal(digits):
                return digits
            case syntax.Call(function, arguments):
                return (function, *map(of, arguments))
            case syntax.Binary(op, left, right):
                return op, of(left), of(right)
            case syntax.Comparison(operands, relations):
                return relations, *map(of, operands)
        return type(tree).__name__, *map(of, syntax.inside(tree))

    return of(tree)


def sides() -> Iterator[tuple[draft.DerivationDraft, Names, str]]:
    """All sides of the lines, definitions and hypotheses of all derivations, and their names."""
    documents = [*map(theory_document, theory()), *(document("corpus", x) for x in names("corpus"))]
    for tables in documents:
        read = draft.read(tables)
        texts = [line.line for line in read.lines] + [item.text for item in read.definitions]
        axes = {name: len(array.axes) for name, array in read.scope.arrays.items()}
        about = Names(axes, {*read.scope.sizes}, {*read.scope.permutations})
        for text in (*texts, *read.hypotheses):
            tree = syntax.parse(text, letters=True)
            parts = tree.operands if isinstance(tree, syntax.Comparison) else (tree,)
            yield from ((read, about, syntax.text(part)) for part in parts)


@pytest.mark.heavy
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.heavy)])
def test_what_is_printed_is_read_again(step) -> None:
    """As Unicode and as LaTeX each side of each line is the same when it is read back."""
    counted = 0
    for read, about, side in islice(sides(), 0, None, step):
        meant = meaning(syntax.parse(side, letters=True), read.shapes)
        for written in (
            printing.text(side, read.shapes),
            t.latex(printing.typeset(side, read.shapes)),
        ):
            again = formula(written, about).tree
            assert meaning(again, read.shapes) == meant, (side, written, syntax.text(again))
            counted += 1
    assert counted > 5000 / step


@pytest.mark.parametrize("last", ["sqrt(n)", "x[i]", "(x[i] + 2)", "2", "exp(n)", "sum(j, x[j])"])
@pytest.mark.parametrize("first", ["sqrt(n)", "n*sqrt(n)", "-sqrt(x[i])", "sqrt(2)", "sqrt(n + 2)"])
@pytest.mark.parametrize("sign", ["*", "/", "+"])
def test_roots_beside_others_are_read_again(sign, first, last) -> None:
    """What stands behind a printed root is not below it when it is read back."""
    side, shapes = f"{first}{sign}{last}", {"x": 1}
    again = formula(printing.text(side, shapes), Names({"x": 1}, {"n"}, set())).tree
    assert meaning(again, shapes) == meaning(syntax.parse(side, letters=True), shapes)


def test_a_printed_derivation_is_one_again() -> None:
    """The text of a derivation, as it is printed, says the same lines as a manuscript."""
    source = "x: n\nL: function of p\np = softmax(x)\ndx = p * (dp - p @ dp)\n"
    source += "diff(p[i], x[k]) = -p[i] * p[k]   (i ≠ k)\nsum(i, p[i]) = 1"
    first = derive(source)
    lines = [printing.text(line.text, first.draft.shapes) for line in first.lines]
    again = derive("\n".join([*source.splitlines()[:3], *lines]))
    assert [line.text for line in again.lines] == [line.text for line in first.lines]
    assert first.proved
    assert again.proved
