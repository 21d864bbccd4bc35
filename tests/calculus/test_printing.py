"""Lines and reasons as they are printed."""

from __future__ import annotations

import pytest

from symattn.calculus.library import THEORY
from symattn.calculus.printing import Shapes, condition, pieces, prose, sides, text, typeset
from symattn.calculus.writing import SideCondition
from symattn.expressions import syntax
from symattn.expressions import typesetting as t


def latex(line: str, shapes: Shapes) -> str:
    """A line in LaTeX."""
    return t.latex(typeset(line, shapes))


SHAPES = {"A": 2, "S": 2, "dA": 2, "x": 1, "t": 0, "pi": 0, "W_Q": 2, "lam": 0}


@pytest.mark.parametrize("words", ["an `a b` c", "`", "an `A", "``", "`$x$` d", "`A` `"])
def test_prose_with_what_is_no_formula(words) -> None:
    """It stays as it stands, and so does a backquote alone."""
    assert prose(words, {}) == words.replace("`A`", "A")
    plain = "".join(one for one in pieces(words, {}) if isinstance(one, str))
    assert plain.count("`") == prose(words, {}).count("`")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("row i of A enters row i of Y only", "row <i> of A enters row <i> of <Y> only"),
        ("any function of A.", "any function of <A>."),
        ("A factor of `A`, a sum, and I agree", "A factor of <A>, a sum, and I agree"),
        ("leaves a = i; the rank n - 1", "leaves <a = i>; the rank <n - 1>"),
        ("the pairs with j < l count", "the pairs with <j < l> count"),
        ("where j <= i holds", r"where <j \le i> holds"),
        ("d_k and W_Q, dA and lam", r"<d_{k}> and <W^{Q}>, <dA> and <\lambda>"),
        ("the n-th, e.g. Q's, can't", "the <n>-th, e.g. <Q>'s, can't"),
        ("from 1 to 3, 5 - 2 of them", "from 1 to 3, 5 - 2 of them"),
        ("line 7 with n queries", "line 7 with <n> queries"),
        ("`S[i, j] / x[i]` and `diff(A, S)`", r"<S_{ij}/x_{i}> and <\partial A/\partial S>"),
        ("row `pi[i]`", r"row <\pi(i)>"),
        ("the delta and the sum", "the delta and the sum"),
    ],
)
def test_letters_in_prose(words: str, shown: str) -> None:
    """Letters, names and what relates them are mathematics; articles and words are not."""
    parts = pieces(words, SHAPES)
    found = (x if isinstance(x, str) else f"<{t.latex(x)}>" for x in parts)
    assert "".join(found) == shown


@pytest.mark.sampled(1, 7)
@pytest.mark.parametrize("name", sorted(THEORY))
def test_no_letter_of_the_theory_is_left_upright(name: str) -> None:
    """In statements, assumptions, parts and reasons single letters are mathematics."""
    draft = THEORY[name].draft
    said = [draft.statement, *draft.assumptions]
    said += [one for line in draft.lines for one in (line.because, line.part)]
    for words in said:
        parts = pieces(words, draft.shapes)
        upright = "".join(f" {x} " if isinstance(x, str) else "$" for x in parts)
        left = [one.strip(".,;:") for one in upright.split()]
        assert not [one for one in left if len(one) == 1 and one.isalpha() and one not in "Aa"]


def test_brackets_are_as_tall_as_what_they_hold() -> None:
    """Plain ones around letters, growing ones around sums and fractions."""
    assert latex("A * (1 - x[i])", {}) == r"A\,(1 - x_{i})"
    tall = latex("x[i] * (1 - sum(j, x[j])) * exp(1 / t)", {})
    assert tall == r"x_{i}\,\left(1 - \sum_{j} x_{j}\right)\,e^{\frac{1}{t}}"
    assert latex("expect(x[1])", {}) == r"\operatorname{E}[x_{1}]"
    assert latex("log(1 / t)", {}) == r"\log\left(\frac{1}{t}\right)"
    assert latex("softmax(S / t)", SHAPES) == r"\operatorname{softmax}\left(\frac{S}{t}\right)"


def test_a_fraction_in_a_fraction_is_not_small() -> None:
    """The outer one has it in the size of a display."""
    shown = latex("(x[i] / t) / t", {})
    assert shown == r"\frac{\displaystyle \frac{x_{i}}{t}\vphantom{\Bigg|}}{t}"


def test_off_the_diagonal() -> None:
    """A factor 1 - delta on each side that is not 0 says where the line holds."""
    line = "(1 - delta(i, k)) * A[i, k] == (1 - delta(i, k)) * -x[i]"
    assert latex(line, SHAPES) == r"A_{ik} = -x_{i}\quad(i \ne k)"
    assert list(map(t.latex, sides(line, SHAPES))) == ["A_{ik}", r"-x_{i}\quad(i \ne k)"]
    assert text(line, SHAPES) == "A_ik = −x_i   (i ≠ k)"
    assert latex("(1 - delta(i, k)) * A[i, k] == 0", {}) == r"A_{ik} = 0\quad(i \ne k)"


@pytest.mark.parametrize(
    "line",
    [
        "(1 - delta(i, k)) * A[i, k] == x[i]",
        "(1 - delta(i, k)) * A[i, k] == (1 - delta(k, i)) * x[i]",
        "(1 - delta(i, k)) * A[i, k] == (1 - delta(i, j)) * x[i]",
        "(2 - delta(i, k)) * A[i, k] == (2 - delta(i, k)) * x[i]",
        "(1 + delta(i, k)) * A[i, k] == (1 + delta(i, k)) * x[i]",
        "(1 - x[i]) * A[i, k] == 0",
        "0 == 0",
    ],
)
def test_no_factor_is_dropped_elsewhere(line: str) -> None:
    """Where not all sides have that factor, each stands as it is written."""
    first, second = (latex(one, SHAPES) for one in line.split(" == "))
    assert latex(line, SHAPES) == f"{first} = {second}"
    assert list(map(t.latex, sides(line, SHAPES))) == [first, second]


def test_conditions() -> None:
    """What is not 0, or above it."""
    zero = syntax.Literal("0")

    def set_as(left: str, relation: str, *letters: str) -> str:
        tree = syntax.parse(left, letters=True)
        return t.latex(condition(SideCondition.that(tree, relation, zero, letters), SHAPES))

    assert set_as("sum(l, x[l])", "!=") == r"\sum_{l} x_{l} \ne 0"
    assert set_as("x[i] * t", ">") == r"x_{i}\,t > 0"
    assert set_as("x[i]", ">", "i") == r"x_{i} > 0\text{ for all }i"


@pytest.mark.heavy
def test_permutations_are_functions() -> None:
    """Inside of an index as by themselves."""
    assert latex("x[pi[i]] == x[pi[pi[i]]]", SHAPES) == r"x_{\pi(i)} = x_{\pi(\pi(i))}"
    assert latex("pi[i]", SHAPES) == r"\pi(i)"
    assert latex("pi[i]", THEORY["permutation"].draft.shapes) == r"\pi(i)"
