"""What a line says: broadcasting, indices, sizes; and what is told where it says nothing."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.calculus import draft, line_reading
from symattn.calculus import language as term
from symattn.calculus.judging import derived
from symattn.calculus.writing import text
from symattn.errors import Malformed

from .files import GIVEN, document, names

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {
        **GIVEN,
        "T": ["n", "m", "m"],
        "F": [3],
        "r": [1, "m"],
        "c": ["n", 1],
        "o": [1, 1],
    },
    "losses": {"L": "x"},
    "permutations": {"p": "n", "q": "m"},
    "define": {"A": "softmax(S)"},
    "lines": [{"line": "t == t"}],
}


def message(line):
    scope = draft.read(TABLES).scope
    with pytest.raises(Malformed) as error:
        line_reading.line(line, scope)
    return error.value.faults[0].message


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("t", "expected two sides with '==' between them"),
        ("t < 1", "expected '==' between the sides of a line"),
        ("t == 1 <= 2", "expected two sides with '==' between them"),
        ("t == 1 and t == 2", "expected two sides with '==' between them"),
        ("foo == 1", "unknown name 'foo'; give it a shape, [] for a number"),
        ("tt == 1", "unknown name 'tt'; did you mean t?"),
        ("sofmax(S) == A", "there is no function 'sofmax'; did you mean softmax?"),
        ("zzz(S) == A", "there is no function 'zzz'; there are sqrt, exp, "),
        ("x[i, j] == 0", "x has 1 axis, found 2 in brackets"),
        ("S[i] == 0", "S has 2 axes, found 1 in brackets"),
        ("(S + S)[i] == 0", "what is before the bracket has 2 axes, found 1 in brackets"),
        ("diff(t, S[i]) == 0", "S has 2 axes, found 1 in brackets"),
        ("x[i] == z[i]", "the index i runs to n elsewhere, but to m in z"),
        ("delta(i, j) * x[i] == z[j]", "runs to"),
        ("x[m] == 0", "x ends at n, not at m"),
        ("F[4] == 0", "F ends at 3, found the place 4"),
        ("x[0] == 0", "x: places are counted from 1, found 0"),
        ("x[2000] == 0", "a place as far as 2000 is beyond what is checked, 1000"),
        ("x[i * 2] == 0", "expected an index, a number or a size as a place"),
        ("x[p] == 0", "p is a permutation: write where it sends an index, p[i]"),
        ("x[p[i] + 1] == 0", "nothing can be added to where a permutation sends an index"),
        ("z[p[i]] == 0", "p does not permute an axis of z"),
        ("p[i] == 1", "p[...] is a place: write it in brackets, x[p[i]]"),
        ("p == 1", "p is a permutation: write where it sends an index, p[i]"),
        ("x + z == 0", "'+': a vector of n and a vector of m don't fit entry by entry"),
        ("S + Q == 0", "'+': an array of n x m and an array of n x n don't fit entry by entry"),
        ("T + x == T", "don't fit entry by entry"),
        ("S == x[i] * Q", "the sides: "),
        (
            "S @ Q == S",
            "'@': an array of n x m and an array of n x n don't fit, m columns meet n rows",
        ),
        ("t @ S == S", "'@' is the matrix product; for a number write '*'"),
        ("r @ T == 0", "'@': an array of 1 x m and an array of n x m x m don't fit"),
        ("T.T == T", "'.T' is the transpose of a matrix; here are three axes: write it by entries"),
        ("exp(t, t) == 1", "exp(x) takes at most 1, found 2"),
        ("sum(2, x[i]) == 1", "sum takes indices before what is summed, as in sum(j, x[j])"),
        ("mean() == 1", "mean(x, axis=None) needs x, found 0 arguments"),
        ("sum(S, t) == 1", "S is given, expected an index such as j"),
        ("sum(j, t) == 1", "the index j has no known range: it indexes no array"),
        ("delta(i) == 1", "delta takes two places, as in delta(i, j)"),
        ("step(i) == 1", "step takes a comparison of two places, as in step(j <= i)"),
        ("step(i == j) == 1", "step takes a comparison of two places, as in step(j <= i)"),
        (
            "step(t <= 1) == 1",
            "step of values is 1 where one is below the other: write step(x < y)",
        ),
        (
            "step(1 >= t) == 1",
            "step of values is 1 where one is below the other: write step(x < y)",
        ),
        ("diff(t) == 1", "diff takes what is differentiated and an entry, as in diff(A[i], S[k])"),
        ("diff(t, u) == 1", "diff: 'u' is neither given nor defined"),
        (
            "limit(t) == 1",
            "limit takes a given number, where it goes, and what tends: limit(x, 0, ...)",
        ),
        ("limit(x, 0, t) == 1", "limit: expected a given number, found x"),
        ("limit(t, x, t) == 1", "limit: expected a number, oo or -oo as where it goes"),
        ("operations(3) == 1", "operations takes the names of what is defined"),
        ("operations(S) == 1", "operations: S is given, not computed"),
        (
            "ones(t) == 1",
            "ones: rows: expected a whole number above 0, or rows(X) or cols(X), found",
        ),
        (
            "ones(0) == 1",
            "ones: rows: expected a whole number above 0, or rows(X) or cols(X), found",
        ),
        ("ones(n, n, n) == 1", "ones(rows, columns=None) takes at most 2, found 3"),
        ("eye(n, n) == 1", "eye(n) takes at most 1, found 2"),
        ("trace(S) == 1", "trace: found an array of n x m"),
        ("diag(S) == 1", "expected as many rows as columns, found n x m"),
        ("rowsum(x) == 1", "rowsum takes a matrix, found a vector of n"),
        ("softmax(t) == 1", "expected a row or a matrix, found a number"),
        ("x[i] * sum(j, x) == t", "the index j has no known range"),
        ("exp(t == 1) == 1", "expected a value, found a comparison"),
        ("dL/dx == 0", "write diff(L, x), and which quantity the loss L is a function of"),
        ("(t, t) == 1", "expected a value"),
        ("t[1] == 1", "t has 0 axes, found 1 in brackets"),
        ("t == ", "expected a value at character 6, found the end"),
    ],
)
def test_what_can_not_be_read_is_told(line, told) -> None:
    """The message names what is wrong, and what to write."""
    assert told in message(line)


@pytest.mark.parametrize(
    ("key", "text", "told"),
    [
        ("3", "t", "expected a name, or a name with indices such as 'G[i, k]', found '3'"),
        ("x", "t", "'x' is already in use; choose another name"),
        ("exp", "t", "'exp' is already in use; choose another name"),
        ("B[i, i]", "t", "expected different letters as indices of what is defined"),
        ("B[1]", "t", "expected different letters as indices of what is defined"),
        ("B[i]", "S", "expected a number for each entry, found a matrix"),
        (
            "B[i]",
            "x[i] * z[j]",
            "the index j is free: no sum binds it, and it is not on the left",
        ),
        ("B[i]", "t", "the index i has no known range: it indexes no array"),
    ],
)
def test_definitions_that_can_not_be_read(key, text, told) -> None:
    """The message names what is wrong."""
    scope = draft.read(TABLES).scope
    with pytest.raises(Malformed) as error:
        line_reading.definition(key, text, scope)
    assert told in error.value.faults[0].message


@pytest.mark.parametrize(
    ("line", "axes"),
    [
        ("S == S", ("n", "m")),
        ("S + x == S", ("n", "m")),
        ("S + z == S", ("n", "m")),
        ("S * r == S * c", ("n", "m")),
        ("c + r == r + c", ("n", "m")),
        ("o + S == S", ("n", "m")),
        ("S + t == S", ("n", "m")),
        ("Q + x.T == Q", ("n", "n")),
        ("T * S[1, 1] == T", ("n", "m", "m")),
        ("x @ z.T == S", ("n", "m")),
        ("x @ r == S", ("n", "m")),
        ("x.T @ x == x @ x", ()),
        ("S @ z == x", ("n",)),
        ("x.T @ S == r", (1, "m")),
        ("x @ S == z", ("m",)),
        ("rowsum(S) == c", ("n", 1)),
        ("colsum(S) == r", (1, "m")),
        ("logsumexp(S) == c", ("n", 1)),
        ("logsumexp(x) == t", ()),
        ("diag(x) == Q", ("n", "n")),
        ("diag(Q) == x", ("n",)),
        ("trace(Q) == t", ()),
        ("diff(t, S) == S", ("n", "m")),
        ("diff(x, z) == S", ("n", "m")),
        ("sum(S) == total(S)", ()),
        ("mean(S) == total(S) / (n * m)", ()),
        ("eye(n) == Q", ("n", "n")),
        ("zeros(n, m) == S", ("n", "m")),
        ("ones(n) == x", ("n",)),
        ("S ** t == S", ("n", "m")),
        ("t.T == t", ()),
        ("step(x < 0) == x", ("n",)),
        ("T @ T == T", ("n", "m", "m")),
        ("softmax(T) == T", ("n", "m", "m")),
    ],
)
def test_shapes(line, axes) -> None:
    """The places at which the sides of a line are compared run along these axes."""
    scope = draft.read(TABLES).scope
    assert tuple(index.size for index in line_reading.line(line, scope).free) == axes


def test_places() -> None:
    """Indices, numbers and sizes with something added, and where permutations send them."""
    scope = draft.read(TABLES).scope
    line = line_reading.line("x[i + 1] * x[n - 1] * x[2] * x[1 + i] == x[p[p[i]]]", scope)
    (i,) = line.free
    assert [one.at[0] for one in term.walk(line.sides[0]) if isinstance(one, term.Entry)] == [
        term.AxisPlace(i, offset=1),
        term.AxisPlace(size="n", offset=-1),
        term.AxisPlace(offset=2),
        term.AxisPlace(i, offset=1),
    ]
    assert term.places(line.sides[1]) == (term.AxisPlace(i, images=("p", "p")),)


def test_how_far_indices_run() -> None:
    """It follows from the places, also from those of others that they are compared with."""
    scope = draft.read(TABLES).scope
    line = line_reading.line("sum(j, delta(i, j) * step(j <= k)) == x[k]", scope)
    assert {index.name: index.size for index in line.free} == {"i": "n", "k": "n"}
    one = draft.read({"sizes": ["n"], "lines": [{"line": "0 == 0"}]}).scope
    assert [index.size for index in line_reading.line("i * j == j * i", one).free] == ["n", "n"]


def test_a_bound_index_hides_a_free_one() -> None:
    """The same letter inside a sum is another index."""
    scope = draft.read(TABLES).scope
    line = line_reading.line("sum(i, x[i]) == n * x[i]", scope)
    assert [index.name for index in line.free] == ["i"]
    assert isinstance(line.sides[0], term.Sum)
    assert line.sides[0].index is not line.free[0]


def test_a_hypothesis_has_its_larger_side_first() -> None:
    """Inequalities are turned round."""
    scope = draft.read(TABLES).scope
    found = [
        line_reading.hypothesis(text, scope) for text in ("t > 0", "0 < t", "t >= 0", "0 <= t")
    ]
    assert [one.relation for one in found] == [">", ">", ">=", ">="]
    assert all(isinstance(one.sides[0], term.Entry) for one in found)
    with pytest.raises(Malformed):
        line_reading.hypothesis("0 < t < 1", scope)


def test_every_name_has_a_scope() -> None:
    """What is known is told."""
    scope = draft.read(TABLES).scope
    assert {"n", "S", "A", "L", "p"} <= set(scope.known())


TOKENS = (
    *("x", "S", "Q", "T", "A", "t", "i", "j", "k", "n", "m", "p", "L", "dL/dx", "oo", "foo"),
    *("sum", "mean", "delta", "step", "diff", "limit", "softmax", "exp", "diag", "ones", "eye"),
    *("(", ")", "[", "]", ",", ".T", "+", "-", "*", "/", "@", "**", "==", "<", "<=", "and", ">"),
    *("1", "0", "2.5", "1e9", ".5", ":", ".", "!=", "λ", '"'),
)


@pytest.mark.heavy
@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=14))
def test_random_words_are_read_or_refused(words) -> None:
    """A line, or what is wrong: never another error."""
    scope = draft.read(TABLES).scope
    with suppress(Malformed):
        assert len(line_reading.line(" ".join(words), scope).sides) >= 2


LINES = [one["line"] for name in names("corpus") for one in document("corpus", name)["lines"]]


@pytest.mark.heavy
@settings(max_examples=150, deadline=None)
@given(st.sampled_from(names("corpus")), st.randoms(use_true_random=False))
def test_changed_lines_are_judged_or_refused(name, random: Random) -> None:
    """A line of which characters are lost, doubled or exchanged: a status, never an error."""
    tables = document("corpus", name)
    line = list(random.choice(tables["lines"])["line"])
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(line))
        match random.randrange(3):
            case 0:
                del line[at]
            case 1:
                line.insert(at, random.choice(line))
            case _:
                line[at] = random.choice("ijkn0123[](),.+-*/@=< xS")
    text = "".join(line)
    (found,) = derived(name, {**tables, "lines": [{"line": text}]}).lines
    assert found.status in ("proved", "checked", "refuted", "undecided")
    assert found.status == "proved" or found.why or found.counterexample


@pytest.mark.parametrize("rows", ["n", 6])
def test_only_places_that_differ_are_told_apart(rows) -> None:
    """Turning pairs of columns has a term for each column, whatever the rows are."""
    document = {
        "sizes": ["n"],
        "shapes": {"X": [rows, 6]},
        "define": {"y": "rope(X)"},
        "lines": [{"line": "y == y"}],
    }
    body = draft.read(document).scope.arrays["y"].body
    assert body is not None
    written = text(body)
    assert written.count("delta(") == 6
    assert "delta(i" not in written
