"""The reader: what it takes, and all that it refuses."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from symattn.crosscheck.reader import Expression, expression, linear, nested, number
from symattn.crosscheck.scalars import UNIT
from symattn.crosscheck.tape import tape
from symattn.errors import Malformed

from ..oracle import mpfr

HOSTILE = [
    "().__class__",
    "().__class__.__bases__[0].__subclasses__()",
    "__import__('os')",
    '__import__("os").system("true")',
    "9**9**9",
    "lambda: 1",
    "lambda x: x",
    "[x for x in Q]",
    "(x for x in Q)",
    "{1: 2}",
    "Q if K else V",
    "Q and K",
    "not Q",
    "(Q := K)",
    "f'{Q}'",
    "'Q'",
    "Q; K",
    "Q = K",
    "Q # K",
    "Q // K",
    "Q % K",
    "~Q",
    "Q.S",
    "Q.T.__class__",
    "Q[None]",
    "Q[...]",
    "Q[[0, 1]]",
    "Q[K]",
    "Q[0.0]",
    "Q[True]",
    "Q[::0]",
    "Q[1_0]",
    "softmax(x=Q)",
    "softmax(*Q)",
    "softmax()",
    "softmax(Q, K)",
    "mask(S)",
    "concat()",
    "print(Q)",
    "eval(Q)",
    "Q(K)",
    "exp(Q)(K)",
    "(Q, K)",
    "[Q, K]",
    "...",
    "1_000",
    "0x10",
    "0b1",
    "1j",
    "1e999999999",
    "1e401",
    "9" * 500,
    "1if",
    "1and 2",
    "1.2.3",
    "1.T",
    "",
    "   ",
    "(",
    "Q @",
    "\u212b",
    "ｓoftmax(Q)",
    "Q\0",
    "(" * 3000,
    "-" * 3000 + "Q",
    "+".join(["Q"] * 1900),
    "Q" * 5000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:30]))
def test_refuses_what_is_not_in_the_grammar(text):
    """Text outside the grammar is malformed, whatever Python would make of it, and Python
    is not heard to warn of it."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(Malformed):
            tape({"Q": [[1, 2], [3, 4]], "K": [[1, 2], [3, 4]], "S": [[1]]}, {"y": text})
    assert not warned


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("-a * b", "(-a) * b"),
        ("-a.T", "-(a.T)"),
        ("a - b - c", "(a - b) - c"),
        ("a / b * c", "(a / b) * c"),
        ("a + b @ c", "a + (b @ c)"),
        ("a @ b * c", "(a @ b) * c"),
        ("+a", "a"),
        ("a −\n  b", "a - b"),
        ("a × b ÷ c", "a * b / c"),
        ("-a ** 2", "-(a ** 2)"),
        ("b * dL/da", "b * grad(a)"),
        ("a >= b + c", "a >= (b + c)"),
        ("007", "7"),
    ],
)
def test_reads_like_python(text, same):
    """Signs bind as in Python, and typographic signs stand for their plain forms."""
    assert expression(text) == expression(same)


def test_keywords_of_python_are_names():
    """A quantity may be called lambda, or None."""
    assert expression("lambda + None").operands == (
        Expression("name", text="lambda"),
        Expression("name", text="None"),
    )


def test_keys_of_a_selection():
    """Whole numbers and slices, negative ones too."""
    assert expression("A[-1, 0:2]").keys == (-1, slice(0, 2))
    assert expression("A[::-2]").keys == (slice(None, None, -2),)


@pytest.mark.parametrize(
    ("raw", "value", "exact"),
    [
        (3, 3.0, True),
        ("3/8", 0.375, True),
        (Fraction(1, 3), 1 / 3, False),
        (np.int64(3), 3.0, True),
        (Decimal("0.50"), 0.5, True),
        (Decimal("0.1"), 0.1, False),
        ("0.1", 0.1, False),
        ("1e-3", 0.001, False),
        ("-(1 + 2)*3/4", -2.25, True),
        ("sqrt(9/4)", 1.5, True),
        ("3*sqrt(2)/4", 3 * math.sqrt(2) / 4, False),
        ("sqrt(sqrt(2))", 2**0.25, False),
        ("0*sqrt(2)", 0.0, True),
        ("exp(0)", 1.0, True),
        ("exp(1)", math.e, False),
        ("1 + exp(-2)/3", 1 + math.exp(-2) / 3, False),
        ("log(3)", math.log(3), False),
        ("sin(1)/2", math.sin(1) / 2, False),
        ("cos(1/7)", math.cos(1 / 7), False),
        ("tanh(1/2)", math.tanh(0.5), False),
        ("erf(1/3)", math.erf(1 / 3), False),
        ("sqrt(2/pi)", math.sqrt(2 / math.pi), False),
        (2**53 + 1, 2.0**53, False),
        ("-inf", -math.inf, True),
        ("−inf", -math.inf, True),
        (Decimal("-inf"), -math.inf, True),
    ],
)
def test_numbers(raw, value, exact):
    """Exact numbers become the nearest float, marked exact only where they are; of
    others the truth lies within a bound of a few roundings."""
    read = number(raw)
    assert (read.error == 0) is exact
    if exact:
        assert read.value == value
    else:
        distance = abs(Fraction(read.value) - mpfr(str(raw)))
        assert 0 < distance <= UNIT * Fraction(read.error)
        assert read.error <= 8 * abs(value)


@pytest.mark.parametrize(
    "raw",
    [0.5, True, None, "x", "inf", "nan", "1/0", "sqrt(-1)", "sqrt(2)@2", "", [1], Decimal("nan"),
     "2 + -inf", Decimal("1e99999"), "softmax(1)", "x[0]", b"1"],
)  # fmt: skip
def test_refuses_what_is_no_exact_number(raw):
    """A float is refused like everything else that is not exact."""
    with pytest.raises(Malformed):
        number(raw)


def test_numbers_beyond_float64_are_unknown():
    """What float64 can't hold has no bound, and is not an error."""
    assert number("1e400").error == math.inf
    small = number("1e-400")
    assert small.value == 0
    assert 1e-400 <= UNIT * small.error < 1e-322


@pytest.mark.parametrize(
    ("raw", "terms"),
    [
        ("g1", {"g1": 1}),
        ("-g1", {"g1": -1}),
        ("2*g1", {"g1": 2}),
        ("g1*3/2 - g2 + 5", {"g1": 1.5, "g2": -1, "1": 5}),
        ("-(g1 - 2)", {"g1": -1, "1": 2}),
        (0, {"1": 0}),
    ],
)
def test_linear(raw, terms):
    """Upstream entries are sums of multiples of symbols."""
    assert {symbol: factor.value for symbol, factor in linear(raw).items()} == terms


@pytest.mark.parametrize("raw", ["g1*g2", "1/g1", "sqrt(g1)", "g1/0", "exp(g1)"])
def test_refuses_what_is_not_linear(raw):
    """A product of symbols and a function of one are malformed."""
    with pytest.raises(Malformed):
        linear(raw)


def test_nested_gives_every_fault_its_place():
    """All faults of a matrix come at once."""
    with pytest.raises(Malformed) as caught:
        nested([[1, "x"], [2], [0.5, 3], 4], number)
    assert [fault.where for fault in caught.value.faults] == ["[0][1]", "[1]", "[2][0]", "[3]"]
    assert "expected 2 numbers, found 1" in str(caught.value)


@pytest.mark.parametrize("raw", [[], [[]], [[], []]])
def test_nested_refuses_what_is_empty(raw):
    """A vector or a matrix has at least one entry."""
    with pytest.raises(Malformed, match="at least one number"):
        nested(raw, number)


def test_nested_shapes():
    """A number, a vector and a matrix, as NumPy has them."""
    shapes = [nested(raw, number)[0] for raw in (5, [5], [[5]], [[1, 2], [3, 4], [5, 6]])]
    assert shapes == [(), (1,), (1, 1), (3, 2)]
    assert nested(np.eye(2, dtype=int), number)[0] == (2, 2)
    with pytest.raises(Malformed, match="float"):
        nested(np.eye(2), number)
