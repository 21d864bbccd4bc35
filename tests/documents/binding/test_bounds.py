"""Between what numbers that were rounded can come to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.documents.binding.bounds import bounds, interval
from symattn.expressions import syntax

#: A number with its places, and how far beside it a value that rounds to it lies, in halves
#: of its last place.
PRINTED = st.tuples(st.integers(-999, 999), st.integers(0, 3), st.floats(-1, 1))


def text(digits, places):
    """A figure in those places."""
    return f"{digits / 10**places:.{places}f}"


def value(digits, places, beside):
    """A number that rounds to it."""
    return (digits + beside / 2) / 10**places


@given(st.lists(PRINTED, min_size=2, max_size=6), st.sampled_from("+-*/@"))
def test_what_rounds_to_the_figures_comes_to_something_within(printed, op):
    """Whatever numbers stand behind the figures: what they come to lies in the bounds."""
    half = len(printed) // 2
    left, right = printed[:half], printed[half : 2 * half]
    shown = [f"[{', '.join(text(*one[:2]) for one in side)}]" for side in (left, right)]
    found = bounds(syntax.parse(f"exp(({shown[0]} {op} {shown[1]}) / 100000)"))
    x, y = (np.array([value(*one) for one in side]) for side in (left, right))
    if op == "/" and any(abs(digits) < 1 for digits, _, _ in right):
        assert found is None
        return
    come = {"+": x + y, "-": x - y, "*": x * y, "@": x @ y}
    with np.errstate(all="ignore"):
        true = np.exp((come[op] if op in come else x / y) / value(100000, 0, 0))
    assert found is not None
    assert found.holds(true.squeeze()).all()


@given(PRINTED)
def test_a_figure_holds_what_rounds_to_it(printed):
    """Half a unit either way, and no more than that."""
    digits, places, beside = printed
    ends = interval(text(digits, places))
    assert ends is not None
    assert ends[0] <= value(digits, places, beside) <= ends[1]
    assert not ends[0] <= value(digits, places, 1.01) <= ends[1]


@pytest.mark.parametrize(
    "shown", ["1 / [1, 0]", "log(0)", "[1, 2] + [1, 2, 3]", "x + 1", "[1] @ 2"]
)
def test_what_has_no_bounds(shown):
    """What is not known to come to something between two numbers: nothing is told of it."""
    assert bounds(syntax.parse(shown)) is None


def test_a_row_written_as_a_matrix_is_a_row():
    """Axes of length one are left out, so that shapes can be compared."""
    found = bounds(syntax.parse("[[1, 2]] @ [[1, 0], [0, 1]]"))
    assert found is not None
    assert found.low.shape == (2,)
