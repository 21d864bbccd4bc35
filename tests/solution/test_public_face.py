"""What a Python user expects of quantities and solutions: indices, length, equality, refusals."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symattn
from symattn.cases.case import make
from symattn.errors import Malformed, OutOfRange, UnknownName
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

from ..strategies import many

CASE = make(
    "small",
    {"X": [[1, 0, 2], [0, 1, 1]], "w": [1, 2, 3]},
    {
        "S": "X @ X.T",
        "M": "causal(S)",
        "A": "softmax(M)",
        "Y": "A @ X",
        "y": "X @ w",
        "t": "total(y)",
    },
)
SOLVED = Solution(CASE)
SHAPES = {"X": (2, 3), "w": (3,), "A": (2, 2), "Y": (2, 3), "M": (2, 2)}


def texts(quantity):
    """The entries as text, in an array of the quantity's shape."""
    flat = [str(entry) for row in quantity.rows for entry in row]
    return np.array(flat, dtype=object).reshape(quantity.shape)


bounds = st.none() | st.integers(-4, 4)
slices = st.builds(slice, bounds, bounds, st.none() | st.integers(-3, 3).filter(bool))


@st.composite
def indexed(draw):
    """A quantity, and keys that mostly choose something of it."""
    name = draw(st.sampled_from(sorted(SHAPES)))
    axes = SHAPES[name][: draw(st.integers(1, 2))]
    inside = [
        st.integers(-length, length - 1) | st.builds(slice, st.none() | st.integers(-length, 0))
        for length in axes
    ]
    keys = [draw(key | st.integers(-4, 4) | slices) for key in inside]
    return name, keys + [0] * (draw(st.integers(0, 9)) == 9)


def test_indices_choose_what_numpy_chooses():
    """Numbers and slices give NumPy's entries in NumPy's shape, and IndexError where it does;
    most of those that are tried choose something."""
    tally: Counter[str] = Counter()

    @many
    @given(indexed())
    def check(drawn):
        tally[as_numpy_chooses(*drawn)] += 1

    check()
    assert tally["chosen"] > 30
    assert tally["refused"] > 2


def as_numpy_chooses(name, drawn):
    """Compares one choice; says whether anything was chosen."""
    quantity = SOLVED[name]
    try:
        wanted = texts(quantity)[tuple(drawn)]
    except IndexError:
        wanted = np.zeros(0)
    if np.size(wanted) == 0:
        # NumPy gives an empty array; a quantity has entries.
        with pytest.raises(IndexError):
            quantity[tuple(drawn)]
        return "refused"
    found = quantity[tuple(drawn)]
    if isinstance(wanted, str):
        assert str(found) == wanted
    else:
        assert texts(found).tolist() == wanted.tolist()
        assert found.decimal(4) == quantity_decimals(quantity, drawn)
    return "chosen"


def quantity_decimals(quantity, drawn):
    """The decimals of a part, taken from those of the whole by NumPy."""
    part = np.array(quantity.decimal(4), dtype=object)[tuple(drawn)]
    return tuple(tuple(row) if isinstance(row, list) else row for row in part.tolist())


def test_a_part_keeps_the_enclosures_of_the_whole():
    """Floats of a part come from the same balls, without closed forms."""
    whole = SOLVED["Y"]
    part = whole[::-1, 1:]
    assert np.array_equal(part.nearest(), whole.nearest()[::-1, 1:])
    assert part.name == "Y[1::-1, 1:3]"
    assert repr(whole[0]) == "<Y[0]: a vector of 3>"


def test_length_and_iteration():
    """A matrix is its rows, a vector its entries; a scalar is neither."""
    assert len(SOLVED["Y"]) == 2
    assert [row.shape for row in SOLVED["Y"]] == [(3,), (3,)]
    assert [str(entry) for entry in SOLVED["w"]] == ["1", "2", "3"]
    with pytest.raises(TypeError, match="t is a scalar"):
        len(SOLVED["t"])


def test_equality_is_decided():
    """Equal forms are equal however they were written; others are not."""
    assert SOLVED["S"] == SOLVED["X @ X.T + 0 * S"]
    assert SOLVED["S"] != SOLVED["2 * S"]
    assert SOLVED["S"] != SOLVED["S[0]"]
    assert SOLVED["S"] != "S"
    assert (SOLVED["S"] == "S") is False
    with pytest.raises(TypeError, match="unhashable"):
        hash(SOLVED["S"])


@pytest.mark.parametrize(
    "convert", [np.asarray, np.array, np.exp, float, lambda x: np.subtract(1, x), math.sqrt]
)
def test_floats_are_never_made_silently(convert):
    """NumPy and float are told what to call instead."""
    with pytest.raises(TypeError, match=r"exact|__array_ufunc__|unsupported operand"):
        convert(SOLVED["A"])


@pytest.mark.parametrize(
    ("act", "errors"),
    [
        (lambda: SOLVED["B"], (KeyError, UnknownName)),
        (lambda: SOLVED.gradient("B"), (KeyError, UnknownName)),
        (lambda: SOLVED["dL/dX[9, 9]"], (IndexError, OutOfRange)),
        (lambda: SOLVED["A"].at(2, 0), (IndexError, OutOfRange)),
        (lambda: SOLVED["A"].decimal(-1), (ValueError, Malformed)),
        (lambda: SOLVED["A"].nearest("float8"), (ValueError, Malformed)),  # type: ignore[arg-type]
        (lambda: symattn.load("no-such-case"), (KeyError, UnknownName)),
    ],
)
def test_errors_are_those_that_python_users_expect(act, errors):
    """A name that is not there is a KeyError, an index an IndexError, a value a ValueError."""
    for error in errors:
        with pytest.raises(error):
            act()


@pytest.mark.parametrize("spelling", ["dL/dX", "grad(X)", "dX", "dL / dX"])
def test_a_gradient_has_one_name(spelling):
    """However it is asked for, it is the same quantity with the same name."""
    assert SOLVED[spelling].name == "dL/dX"
    assert SOLVED[spelling] is SOLVED.gradient("X")


def test_a_quantity_called_dx_is_itself():
    """``dX`` is the gradient only where no quantity has that name."""
    s = Solution(make("own", {"X": [1, 2]}, {"dX": "2 * X", "Y": "X * X"}))
    assert str(s["dX"]) == "[2, 4]"
    assert s["2 * dL/dX - dX"] == s["2 * dL/dX - 2 * X"]
    assert str(s["dL/dX"]) == "[2, 4]"
    assert str(s["dL/dX * dL/dX / 2"]) == "[2, 8]"


def test_a_gradient_in_each_spelling():
    """``dL/dQ``, ``grad(Q)`` and ``dQ`` are one gradient, wherever one is named."""
    steps = {"A": "softmax(Q @ Q.T)", "Y": "A @ V"}
    numbers = {"Q": [[1], [2]], "V": [[1], [3]]}
    back = symattn.attention([[1]], [[1], [2]], [[1], [3]]).backward()
    for spelling in ("dL/dQ", "grad(Q)", "dQ"):
        ask = {"ask": [spelling]}
        claims: list[dict[str, object]] = [{"of": f"{spelling}[0]", "printed": ["0"]}]
        claims.append({"holds": f"{spelling}[0, 0] < 9"})
        loss = {"output": "Y", "wrt": [spelling]}
        case = make("spelt", numbers, steps, loss, claims=claims, exercise=ask)
        assert case.wrt == ("Q",)
        assert case.asked.ask == ("dL/dQ",)
        solved = Solution(case)
        assert spelling in solved
        assert solved[spelling] is solved["dL/dQ"]
        assert solved.gradient(spelling) is solved.gradient("Q")
        assert spelling in solved.symbolic
        assert solved.symbolic[spelling] is solved.symbolic["dL/dQ"]
        assert back[spelling] is back.dQ
        assert [one.verdict for one in symattn.audit(solved).statements] == [Verdict.HOLDS]
    for other in ("dL/dZ", "dZ", "grad(Z)", "Q +"):
        assert other not in solved
        with pytest.raises(UnknownName, match="expected one of dQ, dK, dV"):
            back[other]


@pytest.mark.heavy
def test_reprs_are_short():
    """No repr says more than a line."""
    found = symattn.audit("please-study-man")
    solved = symattn.solve("cat-sat-mat")
    verified = symattn.verify(solved)
    whole = symattn.attention([[1]] * 99, [[1]] * 99, [[1]] * 99, causal=True)
    proof = symattn.theory["masking"]
    for item in (
        SOLVED,
        SOLVED["A"],
        CASE,
        found,
        *(x for one in found.figures for x in (one, one.why, one.claim)),
        *found.statements,
        *found.causes,
        *found.unchecked,
        solved,
        solved.program,
        solved.program.quantities["A"],
        solved.symbolic,
        solved.symbolic["A"],
        verified,
        *verified.checks,
        symattn.sheet(solved),
        whole,
        whole.output,
        whole.backward(),
        whole.solution,
        proof,
        symattn.theory,
        symattn.from_floats(np.zeros((64, 64))),
    ):
        assert len(repr(item)) < 300
        assert "\n" not in repr(item)


def test_testing_needs_no_import_of_its_own():
    """``symattn.testing`` is there when it is asked for, and not before; without pytest."""
    code = (
        "import sys, symattn; before = 'symattn.testing' in sys.modules; "
        "symattn.testing.assert_close; "
        "print(before, 'symattn.testing' in sys.modules, 'pytest' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "False"]
    assert "testing" in dir(symattn)
