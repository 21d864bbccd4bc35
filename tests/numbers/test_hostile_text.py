"""Code, powers and oversized text are no expressions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn import limits
from symattn.errors import Malformed
from symattn.expressions.syntax import names, parse

from ..strategies import many

HOSTILE = [
    ("().__class__", "expected a value at character 2"),
    ("(1).__class__", "the transpose, the only attribute there is"),
    ("X.real", "the transpose, the only attribute there is"),
    ("lambda: 1", "expected an operator or the end"),
    ("lambda x: x", "expected an operator or the end"),
    ("[1 for x in X]", "expected ']' at character 4"),
    ("__import__('os')", "expected a value"),
    ("f'{x}'", "unexpected"),
    ("X if Y else Z", "expected an operator or the end"),
    ("X[Y]", "expected a whole number or a slice"),
    ("X[None]", "expected a whole number or a slice"),
    ("X[0][1", "expected ']'"),
    ("X[1.5]", "expected a whole number"),
    ("X[1:2:3:4]", "expected ']'"),
    ("X[::0]", "can't step by 0"),
    ("X[9999999999]", "expected a whole number"),
    ("X[-]", "expected a whole number"),
    ("X[]", "expected a whole number or a slice"),
    ("7 // 2", "no whole division"),
    ("a = b", "unexpected '='"),
    ("a := b", "expected an operator or the end"),
    ("a; b", "unexpected ';'"),
    ("a or b", "expected an operator or the end"),
    ("not a", "expected an operator or the end"),
    ("", "expected a value at character 1, found the end"),
    ("   ", "found the end"),
    ("1 +", "found the end"),
    ("2 x", "expected an operator or the end"),
    ("1_000", "expected an operator or the end"),
    ("0x10", "expected an operator or the end"),
    ("1j", "expected an operator or the end"),
    ("f(a=1, a=2)", "the option a is given twice"),
    ("f(*a)", "expected a value"),
    ("(f)(a)(b)", "expected an operator or the end"),
    ("f(a,)", "expected a value"),
    ("猫", "unexpected '猫'"),
    ("a\x00b", "unexpected '\\x00'"),
    ("１", "unexpected '１'"),
    ("1" * 1_000_000, "expression of 1000000 characters"),
    ("1" * 3999, "a number of 3999 digits"),
    ("0." + "1" * 3000, "digits; at most 400"),
    ("1e999999999", "power of ten beyond 400"),
    ("1e-999999999", "power of ten beyond 400"),
    ("1e401", "power of ten beyond 400"),
    ("1e" + "9" * 3000, "power of ten beyond 400"),
    ("(" * 150 + ")" * 150, "nested deeper than 60"),
    ("f(" * 100 + "1" + ")" * 100, "nested deeper than 60"),
    ("-" * 3999 + "1", "more than 400 symbols"),
    ("+".join("1" * 1000), "more than 400 symbols"),
    ("X" + ".T" * 1500, "more than 400 symbols"),
    ("X" + "[0]" * 1000, "more than 400 symbols"),
    ("==".join("1" * 1000), "more than 400 symbols"),
]


@pytest.mark.parametrize(("text", "reason"), HOSTILE, ids=[text[:20] for text, _ in HOSTILE])
def test_hostile_text_is_refused(text, reason):
    """Code, powers and oversized text are refused with a reason, shown short."""
    with pytest.raises(Malformed) as caught:
        parse(text)
    message = str(caught.value)
    assert reason in message
    assert len(message) < 250


@many
@given(st.text(max_size=80) | st.text("xyT12 .,:+-*/@()[]<=>", max_size=20))
def test_any_text_is_read_or_refused(text):
    """Arbitrary text gives a tree of what stands in it, or one fault, nothing else."""
    try:
        tree = parse(text)
    except Malformed as refused:
        (fault,) = refused.faults
        assert fault.message
    else:
        assert all(name.removeprefix("dL/d") in text for name in names(tree))


@pytest.mark.parametrize(
    "text", ["+".join("x" * 200), "-" * 398 + "x", "x" + ".T" * 199, "f(" * 59 + "x" + ")" * 59]
)
def test_the_longest_expressions_are_read(text):
    """What is just within the limits is read: the limits are not in the way."""
    assert len(text) < limits.CHARACTERS.most
    assert parse(text) is not None
