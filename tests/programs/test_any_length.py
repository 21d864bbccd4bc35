"""Lengths that may be any: programs of letters in the place of numbers."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.calculus import functions as for_any_size
from symattn.errors import Malformed
from symattn.expressions.shapes import Uncounted, any_length, every, how_many, show, tree_of
from symattn.expressions.syntax import Literal, Name, text, walk
from symattn.programs.functions import FUNCTIONS
from symattn.programs.lines import LineWriter
from symattn.programs.nodes import ancestors
from symattn.programs.program import program
from symattn.programs.tables import distance, formula_of, indicator, reach_of, same, seen, tabled

from ..strategies import many

N, M = any_length("n"), any_length("m")


def worth(length, n, m):
    """The number that a length is where the letters are these."""
    match tree_of(length):
        case Literal(digits):
            return int(digits)
        case tree:
            letters = {"n": n, "m": m}
            names = {part.name for part in walk(tree) if isinstance(part, Name)}
            assert names <= letters.keys()
            return eval(text(tree), {"__builtins__": {}}, letters)


@many
@given(st.integers(1, 40), st.integers(1, 40))
def test_lengths_are_reckoned_with_as_numbers(n, m):
    """Sums and products of lengths are those of the numbers that they stand for."""
    for x, y in product((N, M, 3), repeat=2):
        mine, other = worth(x, n, m), worth(y, n, m)
        assert worth(x + y, n, m) == mine + other
        assert worth(x * y, n, m) == mine * other
    assert worth(N - 2, n, m) == n - 2


def test_lengths_are_told_apart_by_their_letters():
    assert any_length("n") == N != M
    assert (N, M) != (N, N)
    assert 1 not in (N, M)
    assert N > 10**9
    assert not N < 10**9
    assert show((N, M)) == "n x m"


@pytest.mark.parametrize(
    "counting",
    [range, lambda n: n % 2, lambda n: n // 2, lambda n: [0] * n, lambda n: every(n + n)[0:1]],
    ids=["range", "half", "pairs", "list", "some of all"],
)
def test_places_of_any_number_are_not_told_apart(counting):
    """Refuse what would be true of one length only."""
    with pytest.raises((Uncounted, TypeError)):
        counting(N)


def test_all_places_are_as_many_as_the_axis_is_long():
    assert how_many(every(N)) is N.__add__(0)
    assert how_many(every(4)) == 4


@pytest.mark.parametrize(
    ("entry", "formula"),
    [
        (lambda i, j: indicator(same(i, j)), "delta(i, j)"),
        (distance, "(2 * step(j <= i) - 1) * (i - j)"),
        (lambda i, j: seen(2, 1, i, j), "step(i - 2 <= j) * step(j <= i + 1)"),
    ],
    ids=["identity", "distance", "window"],
)
def test_a_table_of_any_length_is_a_formula(entry, formula):
    """One definition gives the numbers of a table and its formula; these agree."""
    table = tabled(entry, N, N)
    assert text(table.extra) == formula
    numbers = tabled(entry, 5, 5).extra
    step, delta = (lambda holds: int(holds)), (lambda i, j: int(i == j))
    for i, j in product(range(5), repeat=2):
        names = {"i": i, "j": j, "step": step, "delta": delta, "__builtins__": {}}
        assert numbers[i][j].rational() == eval(formula, names)


@pytest.mark.parametrize("size", [N, 6])
@pytest.mark.parametrize("reach", [(1, 0), (2, 1), (1, 3)])
def test_how_far_a_window_reaches_is_read_off(size, reach):
    formula = formula_of(tabled(partial(seen, *reach), size, size))
    assert formula is not None
    assert reach_of(formula) == reach


def test_a_program_of_letters_is_the_program_of_numbers():
    """Operation by operation, at whatever lengths."""
    steps = {
        "S": "causal(Q @ K.T / sqrt(cols(Q)))",
        "A": "softmax(S)",
        "Y": "layernorm(A @ K, eps=0.001)",
        "Z": "cumsum(Y) + alibi(Y @ Y.T, 1) @ var(Y, axis=1)",
    }
    letters = program({"Q": (N, M), "K": (N, M)}, steps)
    numbers = program({"Q": (5, 3), "K": (5, 3)}, steps)

    def told(made):
        every_node = ancestors(made.quantities.values())
        return [(node.op, len(node.shape), len(node.operands)) for node in every_node]

    # A length is a constant where it is a number, and a table where it may be any.
    assert [each for each in told(letters) if each[0] not in ("table", "constant")] == [
        each for each in told(numbers) if each[0] not in ("table", "constant")
    ]
    assert text(LineWriter({}).tree(letters.quantities["A"])).startswith("softmax(causal(Q @ K.T /")


def test_shapes_that_fit_for_one_length_only_are_refused():
    with pytest.raises(Malformed, match=r"steps.S: shapes don't fit: n x m @ n x m needs the m"):
        program({"Q": (N, M), "K": (N, M)}, {"S": "Q @ K"})
    with pytest.raises(Malformed, match="the places of an axis of n are not told apart"):
        program({"X": (N, M)}, {"y": "repeat(X, 2)"})


def test_functions_mean_the_same_for_any_size():
    """Few are defined a second time, each for a reason that stands beside it."""
    anew = {"entropy", "where", "cross_entropy", "nll", "softmax", "additive", "rope"}
    assert set(for_any_size.ANEW) == anew <= FUNCTIONS.keys()
    assert all(function.__doc__ for function in for_any_size.ANEW.values())
