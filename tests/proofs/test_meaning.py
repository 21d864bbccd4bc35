"""Both exact arithmetics give every expression the value that floating point gives it.

Random expressions are evaluated for all sizes (and brought to normal form), at
one size, and by the evaluator in ``floats``; the exact values are then read off
in floating point and compared.
"""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from symattn.proofs import terms
from symattn.proofs.allsizes import AllSizes
from symattn.proofs.language import (
    Size,
    delta,
    exp,
    expression,
    image,
    indices,
    log,
    pair_sum,
    partial,
    sqrt,
    sum_over,
)
from symattn.proofs.matrices import Array
from symattn.proofs.onesize import OneSize
from symattn.proofs.polynomials import exponent_of, polynomial_of, size_of
from symattn.proofs.structure import Undecidable

from .floats import Floats

n, m = Size("n"), Size("m")
I, J = indices("i j", n)
K, L = indices("k l", m)
x, y = Array("x", (n,)), Array("y", (m,))
A, B = Array("A", (n, m)), Array("B", (n, n))
E = Array("E", (n,), params=(I,), body=exp(x[I]))
P = Array("P", (n,), params=(I,), body=E[I] / sum_over(J, E[J]))
SIZES = ({"n": 2, "m": 3}, {"n": 3, "m": 1})

first, second = st.sampled_from([I, J]), st.sampled_from([K, L])
leaves = st.one_of(
    st.sampled_from([expression(2), expression(-1), n, m, 1 / sqrt(m)]),
    st.builds(lambda i: x[i], first),
    st.builds(lambda i: x[image("pi", i)], first),
    st.builds(lambda i: P[i], first),
    st.builds(lambda k: y[k], second),
    st.builds(lambda i, k: A[i, k], first, second),
    st.builds(lambda i, j: B[i, j], first, first),
    st.builds(lambda i, j: delta(i, j), first, first),
    st.builds(lambda k, l: delta(k, l), second, second),
)


def larger(inner):
    return st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda a, b: a - b, inner, inner),
        st.builds(lambda i, a: sum_over(i, a), st.sampled_from([I, J, K, L]), inner),
    )


expressions = st.recursive(leaves, larger, max_leaves=6)


def place(one, env, at):
    head, *images = one
    found = env.get(head)
    if head.startswith("="):
        found = int(head[1:]) if head[1:].isdigit() else at.sizes[head[1:]]
    for by in images:
        step = -1 if by.endswith("-") else 1
        found = (found - 1 + step) % at.sizes["n"] + 1
    return found


def of_value(value, env, at):
    """A sum of terms in floating point."""
    total = 0.0
    for coefficient, factors, bound in value:
        ranges = [range(1, at.sizes[size] + 1) for size in bound.values()]
        for places in product(*ranges):
            inner = env | dict(zip(bound, places, strict=True))
            part = float(coefficient)
            for one, exponent in factors.items():
                part *= of_atom(one, inner, at) ** exponent
            total += part
    return total


def of_atom(one, env, at):
    match one[0]:
        case "x":
            array = {"x": x, "y": y, "A": A, "B": B}[one[2]]
            return at.entry(array, tuple(place(p, env, at) for p in one[3:])).real
        case "d":
            return float(place(one[1], env, at) == place(one[2], env, at))
        case "s":
            return at.sizes[one[1]]
        case "r":
            return math.sqrt(at.sizes[one[1]])
        case "e":
            return math.exp(of_value([terms.opened(one[1])], env, at) / one[2])
        case "v":
            return 1 / of_value(terms.reopened(one[1]), env, at)
    return math.log(of_value(terms.reopened(one[1]), env, at))


def of_polynomial(value, field, at):
    """A polynomial at one size in floating point."""
    total = 0.0
    for monomial, coefficient in value.items():
        part = float(coefficient)
        for _, generator, exponent in field.decoded(monomial):
            part *= of_generator(generator, field, at) ** exponent
        total += part
    return total


def of_generator(generator, field, at):
    match generator.sort:
        case "root":
            return math.sqrt(size_of(generator))
        case "exp":
            inner, divisor = exponent_of(generator)
            return math.exp(of_polynomial({inner: 1}, field, at) / divisor)
        case "inverse":
            return 1 / of_polynomial(polynomial_of(generator), field, at)
        case "log":
            return math.log(of_polynomial(polynomial_of(generator), field, at))
    name, *places = generator.of
    return at.entry({"x": x, "y": y, "A": A, "B": B}[name], tuple(places)).real


def agree(value):
    """The value of an expression in all three arithmetics at all places and sizes."""
    found = AllSizes().evaluate(value, {}).value
    closed = terms.reopened(terms.key(found))
    for sizes in SIZES:
        at, exact = Floats(sizes), OneSize(sizes)
        for env in at.everywhere((I, J, K, L)):
            true = at(value, env).real
            names = {index.name: where for index, where in env.items()}
            for other in (
                of_value(found, names, at),
                of_value(closed, names, at),
                of_polynomial(exact.evaluate(value, env).value, exact, at),
            ):
                assert other == pytest.approx(true, rel=1e-9, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(expressions)
def test_values_agree(value):
    """Sums, products, deltas and images, however nested, and with names met twice."""
    agree(value)


@settings(max_examples=40, deadline=None)
@given(expressions, st.sampled_from([x[J], E[I], P[J], x[image("pi", J)]]), first)
def test_derivatives_agree(value, factor, i):
    """In an entry of x, through softmax and permutations, also where i is a bound name."""
    agree(partial(value * factor, x[i]))


@settings(max_examples=20, deadline=None)
@given(expressions)
def test_exponentials_and_quotients_agree(value):
    """exp, one over a positive sum, and the logarithm of one."""
    small = value / 64
    try:
        agree(exp(small) / sum_over(I, sum_over(K, exp(small))))
        agree(log(exp(small) + sum_over(J, exp(x[J]))))
    except Undecidable:
        reject()  # An exponent with a denominator, as in exp(P_i).


@settings(max_examples=30, deadline=None)
@given(expressions)
def test_every_expression_equals_itself(value):
    """Zero is found where two copies meet, however deep their bound indices lie."""
    assert AllSizes().vanishes(value * value - value**2)
    assert AllSizes().vanishes(sum_over(I, value) - sum_over(I, value * 1))


def test_a_sum_over_pairs_is_taken_once_each():
    """sum over i < j of B_ij B_ji, symmetric; an unsymmetric body is left open."""
    agree(pair_sum(I, J, B[I, J] * B[J, I]))
    with pytest.raises(Undecidable):
        AllSizes().evaluate(pair_sum(I, J, B[I, J]), {})


def test_a_bound_name_is_not_captured():
    """d/dx_j of sum_j exp(x_j) is exp(x_j), not the whole sum."""
    total = Array("Z", (), body=sum_over(J, exp(x[J])))[()]
    everywhere = AllSizes()
    assert everywhere.vanishes(partial(total, x[J]) - exp(x[J]))
    assert not everywhere.vanishes(partial(total, x[J]) - total)


def test_division_by_zero_is_an_error():
    """One over a sum that is zero for all sizes has no value."""
    with pytest.raises(ZeroDivisionError):
        AllSizes().evaluate(1 / (x[I] - x[I]), {})
    with pytest.raises(ZeroDivisionError):
        OneSize({"n": 1, "m": 1}).evaluate(1 / (x[1] - x[1]), {})
