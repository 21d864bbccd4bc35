"""Terms of the kernel keep the value of an expression, whatever is done to it."""

from __future__ import annotations

import os
from random import Random

import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symattn.calculus import draft, line_reading
from symattn.calculus.kernel.terms import Unproved
from symattn.calculus.refuting import _needed
from symattn.calculus.sample_points import draw
from symattn.calculus.sampling import Missing, Unclear
from symattn.errors import Malformed
from symattn.numbers.balls import precision

from .files import GIVEN, document, names
from .proofs import proof, prover
from .values import Unknown, Values, close, exact


@pytest.fixture(autouse=True)
def _precise():
    with precision(400):
        yield


def compared(line, ground, by, sizes, style, seed) -> int:
    """How often the sides of a line have the value of their terms, everywhere at a point where
    the conditions hold that the kernel notes."""
    needed = _needed(line, ground)
    given = frozenset(one for one in needed if one.body is None)
    point = draw(ground, given, sizes, Random(seed), style)
    if point is None:
        return 0
    values = Values(point)
    held = 0
    kernel = by.kernel
    terms = []
    with by.entered():
        for side in line.sides:
            with kernel.apart() as conditions:
                try:
                    terms.append((kernel.read(side), conditions))
                except (Unproved, RecursionError):
                    terms.append((None, ()))
    for at in list(point.indices(line))[:6]:
        env = dict(zip(line.free, at, strict=True))
        point.env.update(env)
        for side, (poly, conditions) in zip(line.sides, terms, strict=True):
            try:
                expected = arb(point.evaluate(side))
            except (Missing, Unclear):
                continue
            if poly is None or not abs(expected) < 10**30:
                continue
            try:
                if not all(values.holds(each, env) for each in conditions):
                    continue
                found = values.poly(poly.items(), env)
            except (Unknown, Missing):
                continue
            assert close(found, exact(expected)), (poly, sizes, at)
            held += 1
    return held


SIZES = [(2, 3, 1, 4, 2), (3, 1, 2, 2, 3)]
#: Of files whose lines have up to five sums in one another.
SMALL = {"projections": [(2, 1, 2, 3), (1, 2, 3, 1)]}


@pytest.mark.sampled(1, 8)
@pytest.mark.parametrize("folder", ["corpus", "falsehoods"])
@pytest.mark.parametrize("name", names("corpus"))
def test_terms_keep_values(folder, name) -> None:
    """Each side of each line, true or false: its term has its value."""
    tables = document(folder, name)
    read = draft.read(tables)
    by = prover(read)
    held = 0
    for number, one in enumerate(tables["lines"]):
        try:
            line = line_reading.line(one["line"], read.scope)
        except Malformed:
            continue
        for k, chosen in enumerate(SMALL.get(name, SIZES)):
            sizes = dict(zip(tables["sizes"], chosen, strict=False))
            held += compared(line, read.ground, by, sizes, ("above", "any")[k % 2], number + k)
    assert held >= 0.8 * len(tables["lines"])


# -- random expressions --------------------------------------------------------

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {**GIVEN, "y": ["n"], "a": []},
    "permutations": {"pi_": "n"},
    "define": {"A": "softmax(S)", "G[i]": "sum(j, step(j <= i) * x[j])", "R[i]": "x[pi_[i]] ** 2"},
    "lines": [{"line": "t == t"}],
}
READ = draft.read(TABLES)

FIRST = ["i", "k", "1", "n", "pi_[i]", "pi_[pi_[k]]"]
places = st.sampled_from(FIRST)
second = st.sampled_from(["j", "l", "1", "m"])
leaves = st.one_of(
    st.sampled_from(["t", "a", "2", "1/3", "n", "m", "i", "pi", "0.5"]),
    st.builds("x[{}]".format, places),
    st.builds("y[{}]".format, places),
    st.builds("R[{}]".format, places),
    st.builds("G[{}]".format, places),
    st.builds("S[{}, {}]".format, places, second),
    st.builds("A[{}, {}]".format, places, second),
    st.builds("Q[{}, {}]".format, places, places),
    st.builds("delta({}, {})".format, places, places),
    st.builds("step({} <= {})".format, st.sampled_from(["i", "k", "pi_[i]"]), places),
    st.builds("step({} < {})".format, st.sampled_from(["i", "k"]), places),
    st.builds("delta({}, {})".format, second, second),
)


def larger(inner):
    return st.one_of(
        st.builds("({} + {})".format, inner, inner),
        st.builds("({} - {})".format, inner, inner),
        st.builds("({} * {})".format, inner, inner),
        st.builds("({} / ({})**2)".format, inner, inner),
        st.builds("({})**{}".format, inner, st.sampled_from(["2", "3", "(-1)", "(-2)"])),
        st.builds("sqrt(({})**2 + 1)".format, inner),
        st.builds("exp(({}) / 4)".format, inner),
        st.builds("log(({})**2 + 2)".format, inner),
        st.builds("{}({})".format, st.sampled_from(["sin", "cos", "sigmoid", "erf"]), inner),
        st.builds(lambda k, e: f"sum({k}, ({e}) * x[{k}])", st.sampled_from("ik"), inner),
        st.builds(lambda k, e: f"sum({k}, ({e}) * z[{k}])", st.sampled_from("jl"), inner),
        st.builds("diff({}, x[{}])".format, inner, places),
        st.builds("diff({}, S[{}, {}])".format, inner, places, second),
        st.builds("diff({}, t)".format, inner),
    )


expressions = st.recursive(leaves, larger, max_leaves=6)


@pytest.mark.heavy
@settings(max_examples=int(os.environ.get("SYMATTN_EXPRESSIONS", "120")), deadline=None)
@given(expressions, st.integers(0, 5))
def test_terms_of_random_expressions_keep_values(text, seed) -> None:
    """Whatever an expression is made of, its term has its value."""
    try:
        line = line_reading.line(f"{text} == {text}", READ.scope)
    except Malformed:
        assume(False)
    sizes = dict(zip(["n", "m"], [(1, 2), (3, 2), (4, 1)][seed % 3], strict=True))
    # Some have no value anywhere, such as 1 / delta(n, i).
    assume(compared(line, READ.ground, prover(READ), sizes, ("any", "above")[seed % 2], seed))


@pytest.mark.heavy
@settings(max_examples=40, deadline=None)
@given(expressions, expressions, expressions)
def test_terms_obey_the_rules_of_computing(a, b, c) -> None:
    """What is taken from itself is nothing; products distribute; order does not matter."""
    laws = [
        f"({a}) - ({a}) == 0",
        f"({a}) * (({b}) + ({c})) == ({b}) * ({a}) + ({a}) * ({c})",
        f"(({a}) + ({b}))**2 == ({a})**2 + 2 * ({b}) * ({a}) + ({b})**2",
    ]
    for text in laws:
        try:
            why, _ = proof(text, TABLES)
        except Malformed:
            assume(False)
        assume(why != "a quotient by 0" and "too" not in why and "where" not in why)
        assert why == "", text


@pytest.mark.parametrize(
    "line",
    [
        "sum(i, x[i] * sum(k, Q[i, k])) == sum(u, x[u] * sum(v, Q[u, v]))",
        "sum(i, sum(j, S[i, j] * x[i])) == sum(j, sum(i, x[i] * S[i, j]))",
        "sum(i, k, Q[i, k] * Q[k, i]) == sum(k, i, Q[i, k] * Q[k, i])",
        "sum(i, sum(k, Q[i, k] - Q[k, i])) == 0",
        "sum(i, x[pi_[i]] * y[pi_[i]]) == sum(i, y[i] * x[i])",
        "sum(i, delta(pi_[i], k) * x[i] * y[k]) == sum(i, delta(pi_[i], k) * x[i]) * y[k]",
    ],
)
def test_names_and_order_of_sums_do_not_matter(line) -> None:
    """The same sum is one term."""
    assert proof(line, TABLES) == ("", [])
