"""Shapes are NumPy's: broadcasting, products, transposes, indices."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import product
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.limits import ENTRIES, STEPS
from symattn.programs.functions import FUNCTIONS as FUNCTION_TABLE
from symattn.programs.functions.calls import Count, Size
from symattn.programs.nodes import Node
from symattn.programs.program import program

from ..machines import floats
from ..oracle import FUNCTIONS
from ..strategies import many

shapes = st.lists(st.integers(1, 3), max_size=2).map(tuple)
counts = st.integers(0, 10_000)


def filled(shape, start):
    """Different whole numbers in an array of that shape."""
    return (np.arange(start, start + np.prod(shape, dtype=int)) % 7 + 1.0).reshape(shape)


def numpys(text, names):
    """What NumPy makes of the text, or None where it refuses."""
    try:
        found = np.asarray(eval(text, {}, names))
    except (ValueError, IndexError):
        return None
    return found if found.size else None


def assert_as_in_numpy(text, names, tally):
    """Our shape and entries are NumPy's, and we refuse what NumPy refuses; the tally
    counts both."""
    expected = numpys(text, names)
    given_shapes = {name: array.shape for name, array in names.items()}
    if expected is None:
        with pytest.raises(Malformed):
            program(given_shapes, {"R": text})
        tally["refused"] += 1
        return
    tally["fits"] += 1
    made = program(given_shapes, {"R": text})
    assert made.shapes()["R"] == expected.shape
    data = {name: array.astype(int).tolist() for name, array in names.items()}
    assert np.allclose(floats(data, made.quantities["R"]).reshape(expected.shape), expected)


def test_operators_broadcast_and_multiply_as_in_numpy():
    """Any two shapes under any operator, 1-D products included; most of them fit."""
    tally: Counter[str] = Counter()

    @many
    @given(shapes, shapes, st.sampled_from(["+", "-", "*", "/", "@"]), counts)
    def check(left, right, sign, start):
        names = {"A": filled(left, start), "B": filled(right, start + 3)}
        assert_as_in_numpy(f"A {sign} B", names, tally)

    check()
    assert tally["fits"] > 40
    assert tally["refused"] > 0


@st.composite
def chains(draw):
    """Shapes that mostly meet in a product of three; the ends may be vectors."""
    n, m, p, q = (draw(st.integers(1, 3)) for _ in range(4))
    fitting = [(n, m)[draw(st.integers(0, 1)) :], (m, p), (p, q)[: draw(st.integers(1, 2))]]
    if draw(st.integers(0, 3)) == 3:
        fitting[draw(st.integers(0, 2))] = draw(shapes)
    return fitting


def test_chains_of_products_are_numpys():
    """Products of products, with transposes."""
    tally: Counter[str] = Counter()

    @many
    @given(
        chains(), st.sampled_from(["A @ B @ C", "A @ (B @ C)", "(B @ C).T @ A.T", "A @ B + C.T"])
    )
    @example([(2, 3), (4, 5), (5, 2)], "A @ B @ C")
    def check(fitting, text):
        names = {
            name: filled(shape, k)
            for k, (name, shape) in enumerate(zip("ABC", fitting, strict=True))
        }
        assert_as_in_numpy(text, names, tally)

    check()
    assert tally["fits"] > 40
    assert tally["refused"] > 0


bounds = st.one_of(st.just(""), st.integers(-4, 4).map(str))
keys = st.one_of(
    st.integers(-4, 3).map(str),
    st.builds("{}:{}:{}".format, bounds, bounds, st.sampled_from(["", "1", "2", "-1", "-2"])),
    st.sampled_from([":", "1:", ":1"]),
)


@st.composite
def indexed(draw):
    """A shape, and keys that mostly select something of it."""
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2).map(tuple))
    wanted = draw(st.integers(1, len(shape) + (draw(st.integers(0, 9)) == 9)))
    sure = [
        st.integers(-length, length - 1).map(str) | st.sampled_from([":", "::2", "::-1", "-1::-2"])
        for length in shape
    ]
    picked = [draw(sure[k] | keys if k < len(shape) else keys) for k in range(wanted)]
    return shape, ", ".join(picked)


def test_indices_and_slices_are_numpys():
    """Whole numbers, slices with any steps, negative ones; empty results are refused."""
    tally: Counter[str] = Counter()

    @many
    @given(indexed(), st.sampled_from(["A[{}]", "A.T[{}]", "A[{}].T", "A[{}][0]"]), counts)
    def check(drawn, form, start):
        shape, key = drawn
        assert_as_in_numpy(form.format(key), {"A": filled(shape, start)}, tally)

    check()
    assert tally["fits"] > 40
    assert tally["refused"] > 2


@many
@given(
    shapes, st.sampled_from(["softmax", "rowsum", "colsum", "total", "exp", "log", "sqrt"]), counts
)
def test_functions_are_numpys(shape, name, start):
    """Functions of one operand on every shape; a second reading of them in NumPy."""
    array = filled(shape, start)
    needs = {"softmax": 1, "rowsum": 2, "colsum": 2}.get(name, 0)
    if len(shape) < needs:
        with pytest.raises(Malformed, match=f"{name} takes a"):
            program({"A": shape}, {"R": f"{name}(A)"})
        return
    made = program({"A": shape}, {"R": f"{name}(A)"})
    expected = np.asarray(FUNCTIONS[name](array)).astype(float)
    assert made.shapes()["R"] == expected.shape
    found = floats({"A": array.astype(int).tolist()}, made.quantities["R"])
    assert np.allclose(found.reshape(expected.shape), expected)


#: All shapes with at most two axes of 1 to 3 entries.
ALL = [(), *product((1, 2, 3)), *product((1, 2, 3), repeat=2)]


@pytest.mark.parametrize("first", ALL, ids=str)
def test_concat_is_numpys_along_the_last_axis(first):
    """Heads side by side, or a refusal where NumPy refuses."""
    for second in ALL:
        names = {f"A{k}": filled(shape, k) for k, shape in enumerate((first, second, first))}
        text = f"concat({', '.join(names)})"
        given_shapes = {name: array.shape for name, array in names.items()}
        try:
            expected = np.concatenate(list(names.values()), axis=-1)
        except ValueError:
            with pytest.raises(Malformed, match="concat"):
                program(given_shapes, {"R": text})
            continue
        made = program(given_shapes, {"R": text})
        assert made.shapes()["R"] == expected.shape
        data = {name: array.astype(int).tolist() for name, array in names.items()}
        found = floats(data, made.quantities["R"])
        assert np.array_equal(found.reshape(expected.shape), expected)


@pytest.mark.parametrize("scores", ALL, ids=str)
def test_masks_broadcast_onto_scores_only(scores):
    """A mask fits where NumPy broadcasts it to the shape of the scores, and hides there."""
    for keep in ALL:
        kept = filled(keep, 3) % 2
        try:
            fits = np.broadcast_shapes(scores, keep) == scores
        except ValueError:
            fits = False
        if not fits:
            with pytest.raises(Malformed, match="fit"):
                program({"S": scores, "M": keep}, {"R": "mask(S, M)"})
            continue
        made = program({"S": scores, "M": keep}, {"R": "mask(S, M)"})
        assert made.shapes()["R"] == scores
        data = {"S": filled(scores, 1).astype(int).tolist(), "M": kept.astype(int).tolist()}
        found = floats(data, made.quantities["R"]).reshape(scores)
        assert np.array_equal(found, np.where(kept == 1, filled(scores, 1), -np.inf))


def test_sizes_are_numbers_of_the_program():
    """rows and cols are scalars with the sizes; a scalar has none."""
    made = program({"X": (3, 2), "v": (4,)}, {"a": "rows(X)", "b": "cols(X)", "c": "cols(v)"})
    sizes = [floats({}, made.quantities[name]).item() for name in "abc"]
    assert sizes == [3, 2, 4]
    with pytest.raises(Malformed, match="a scalar has no rows and columns"):
        program({"s": ()}, {"a": "rows(s)"})


FAULTS = {
    "Q @ K": "3x4 @ 3x4 needs the 4 columns on the left to meet as many rows on the right, "
    "found 3; the right side transposed (.T) would fit (Q is 3x4, K is 3x4)",
    "Q + v": "shapes don't fit: 3x4 and a vector of 3 (Q is 3x4, v is a vector of 3)",
    "Q @ 2": "'@' multiplies matrices or vectors, one side is a scalar: write '*'",
    "Q[3]": "index 3 is outside axis 0 of 3x4: expected -3 to 2",
    "Q[0, 1, 2]": "3 indices into 3x4",
    "Q[2:1]": "an empty slice of axis 0 of 3x4",
    "nope + 1": "unknown name 'nope': expected one of Q, K, v",
    "rely(Q)": "unknown function 'rely': did you mean relu?",
    "softmax": "'softmax' is no quantity; as a function it needs brackets",
    "softmax(Q, K)": "axis: expected -1 or 1, along rows, or 0, down columns, found a quantity",
    "mask(Q)": "mask(x, M) needs M, found 1 argument",
    "grad(Q)": "say of which number, as in grad(L, Q)",
    "concat(Q, v)": "concat needs as many rows in every part, found 3x4, a vector of 3",
    "concat(1, 2)": "concat takes matrices or vectors",
    "causal(v)": "causal takes a matrix of scores, found a vector of 3",
    "rowsum(v)": "rowsum takes a matrix, found a vector of 3: 'total' sums a vector",
    "Q == v": "shapes don't fit: 3x4 and a vector of 3",
    "Q == Q and K == K": "statements joined by 'and' are no quantities",
    "(Q, K)": "a list in brackets and statements joined by 'and' are no quantities",
}


@pytest.mark.parametrize("text", FAULTS)
def test_what_does_not_fit_is_said_with_both_shapes(text):
    """The message names the operation, the shapes and what the names are bound to."""
    with pytest.raises(Malformed) as caught:
        program({"Q": (3, 4), "K": (3, 4), "v": (3,)}, {"R": text})
    assert [fault.where for fault in caught.value.faults] == ["steps.R"]
    assert FAULTS[text] in str(caught.value)


def test_all_faults_of_a_program_are_listed():
    """Every faulty step is named once; steps that use a faulty one are passed over."""
    steps = {"A": "X @ X", "B": "A + 1", "X": "1", "softmax": "X", "2c": "X", "C": "9**9**9"}
    with pytest.raises(Malformed) as caught:
        program({"X": (2, 3), "e": ()}, steps)
    assert [fault.where for fault in caught.value.faults] == [
        "given.e",
        "steps.A",
        "steps.X",
        "steps.2c",
        "steps.C",
    ]


@pytest.mark.parametrize(
    "text", ["c + c.T", "c * r", "c @ r", "total(c + r)", "concat(c, c, c).T", "mask(c + r, 1)"]
)
def test_nothing_grows_beyond_the_stated_size(text):
    """A product, a broadcast or a concat beyond the limit is refused before it is formed."""
    long = ENTRIES.most // 2
    with pytest.raises(Malformed, match="is beyond 65536 entries"):
        program({"c": (long, 1), "r": (1, long)}, {"R": text})


def test_too_many_steps_are_refused():
    """A program has at most so many steps."""
    steps = {f"a{k}": "x" for k in range(STEPS.most + 1)}
    with pytest.raises(Malformed, match="101 steps; at most 100 are read"):
        program({"x": ()}, steps)


# -- sizes --------------------------------------------------------------------------------------

#: Operands within the limit, of which few calls make no more; and a length within it.
BROAD = {"M": (2, 30_000), "N": (30_000, 2), "v": (60_000,), "c": ()}
LONG = "60000"
#: What none of the functions is called with by itself.
TOO_LARGE = (
    *("eye(9999)", "ones(9999, 9999)", "eye(20000) @ N", "eye(60000)", "zeros(60000, 2)"),
    *("repeat(M, 60000)", "repeat(M, 60000, axis=1)", "outer(v, v)", "diag(v)", "onehot(v, 60000)"),
    *("positions(2, 60000)", "positions(60000, 2)", "concat(v, v)", "stack(v, v)", "N @ M"),
    *("v + N[0:2, 0:1]", "rope(M)", "alibi(N @ M, c)", "embedding(v, N)"),
    *("N @ N.T", "additive(N, N, v[0:2])", "reshape(N, 60000, 60000)", "concat(N, N, axis=1)"),
)


def largest(text):
    """The most memory that a program needed, and what is said of it."""
    tracemalloc.start()
    try:
        with pytest.raises(Malformed) as refused:
            program(BROAD, {"Y": text})
        return tracemalloc.get_traced_memory()[1], str(refused.value)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", TOO_LARGE)
def test_no_array_is_made_that_is_too_large(text):
    """Its size is known before it is made, and refused."""
    needed, said = largest(text)
    assert needed < 8_000_000
    assert "is beyond 65536 entries" in said or "has 60000 entries" in said


@pytest.mark.heavy
@pytest.mark.parametrize("name", FUNCTION_TABLE)
@pytest.mark.parametrize("operand", BROAD)
def test_no_function_makes_more_than_it_may(name, operand):
    """Whatever a function is called with: what it makes is within the limit, and what it
    refuses has cost nothing."""
    parameters = FUNCTION_TABLE[name].parameters
    kinds = {x: get_args(p.annotation) or (p.annotation,) for x, p in parameters.items()}
    words = [
        LONG if Size in kinds[x] or Count in kinds[x] else operand
        for x, p in parameters.items()
        if p.kind is not p.KEYWORD_ONLY and {Size, Count, Node} & {*kinds[x]}
    ]
    for count in range(1, len(words) + 1):
        text = f"{name}({', '.join(words[:count])})"
        tracemalloc.start()
        try:
            made = program(BROAD, {"Y": text})
        except Malformed:
            assert tracemalloc.get_traced_memory()[1] < 8_000_000, text
        else:
            assert all(np.prod(x.shape) <= ENTRIES.most for x in made.quantities.values())
        finally:
            tracemalloc.stop()
