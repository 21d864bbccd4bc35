"""What is no exact number is refused, and the message says what to do."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symattn
from symattn.cases.case import read_rows
from symattn.errors import Malformed, SymattnError
from symattn.numbers.reading import read
from symattn.numbers.values import Value

from ..strategies import many


@many
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_refused_with_what_to_write(x):
    """A float is refused; the message says what to write instead."""
    for number in (x, np.float64(x)):
        with pytest.raises(Malformed) as caught:
            read(number)
        message = str(caught.value)
        assert f"write {str(x)!r} as text, Decimal({str(x)!r}) or a Fraction" in message
        assert "symattn.from_floats" in message
        assert "np." not in message


@pytest.mark.parametrize(
    "number",
    [np.float32(0.5), np.float16(0.5), np.longdouble(0.5), np.array(0.5)],
    ids=lambda x: str(x.dtype),
)
def test_every_float_of_numpy_is_refused(number):
    """So are NumPy's floats of other widths."""
    with pytest.raises(Malformed, match=r"float, not an exact number|found longdouble"):
        read(number)


@pytest.mark.parametrize(
    "number",
    [
        math.nan,
        math.inf,
        np.float64("nan"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        "nan",
        "NaN",
        "inf",
        "-inf",
        "+Infinity",
        "-nan",
    ],
    ids=repr,
)
def test_what_is_not_finite_is_refused(number):
    """NaN and infinities are refused, in every notation."""
    with pytest.raises(Malformed, match="expected a finite number"):
        read(number)


@pytest.mark.parametrize(
    "thing",
    [
        True,
        False,
        np.True_,
        None,
        1j,
        b"1",
        [1],
        (),
        {},
        {1},
        object(),
        int,
        np.datetime64("now"),
        np.array([1]),
        np.complex128(1),
        np.clongdouble(1),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_is_no_number_is_refused(thing):
    """Booleans and other things are refused by their kind."""
    with pytest.raises(Malformed, match="expected a number, found"):
        read(thing)


@pytest.mark.parametrize(
    "text", ["x", "cot(2)", "2 @ 3", "X.T", "softmax(1)", "1 == 1", "(1, 2)", "sqrt(1, 2)", "e[0]"]
)
def test_text_beyond_numbers_is_refused(text):
    """A number's text has no names, matrices, statements or other functions."""
    with pytest.raises(Malformed, match="is not an exact number: only numbers"):
        read(text)


@pytest.mark.parametrize(
    "number",
    [
        10**500,
        -(10**500),
        Fraction(1, 10**500),
        Decimal("1e999999"),
        Decimal("1e-999999"),
        Decimal("1." + "3" * 500),
        "1" * 401,
        "1e999999999",
        "9" * 1000000,
    ],
    ids=lambda x: str(x)[:12],
)
def test_numbers_beyond_the_stated_size_are_refused(number):
    """Numbers beyond 400 digits, or powers of ten beyond 400, are refused."""
    with pytest.raises(Malformed, match=r"at most|beyond"):
        read(number)


@many
@given(
    st.one_of(
        st.text(alphabet="0123456789.eE+-*/()sqrtexp ,", max_size=30),
        st.text(max_size=20),
    )
)
def test_any_text_is_a_number_or_refused(text):
    """Arbitrary text is read or refused; no other error comes out."""
    try:
        value = read(text)
    except SymattnError:
        return
    assert isinstance(value, Value)


def test_every_fault_of_a_matrix_is_listed_with_its_place():
    """All bad entries of a matrix are named at once."""
    with pytest.raises(Malformed) as caught:
        read_rows([[1, 0.5, "x"], [True, "1/0", "sqrt(-1)"]])
    assert [fault.where for fault in caught.value.faults] == [
        "[0][1]", "[0][2]", "[1][0]", "[1][1]", "[1][2]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "places"),
    [
        ([[1, 2], [3]], ["[1]"]),
        ([[1, 2], 3, [4, 5]], ["[1]"]),
        ([[1, [2]], [3, 4]], ["[0][1]"]),
        ([], [""]),
        ([[], []], [""]),
        ([[[1]]], ["[0][0]"]),
    ],
)
def test_ragged_matrices_are_refused(data, places):
    """Ragged, empty and deeper lists are refused where they go wrong."""
    with pytest.raises(Malformed) as caught:
        read_rows(data)
    assert [fault.where for fault in caught.value.faults] == places


class Tensor:
    """A tensor as PyTorch's are seen from outside."""

    def __init__(self, array, kind):
        self.array, self.dtype = array, f"torch.{kind}"

    @property
    def shape(self):
        return self.array.shape

    @property
    def ndim(self):
        return self.array.ndim

    def tolist(self):
        return self.array.tolist()


Tensor.__module__ = "torch"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("array", [np.array(0.5), np.ones(2), np.ones((2, 2))], ids=np.ndim)
def test_a_tensor_of_floats_is_called_by_its_name(array, kind):
    """As numbers of a case, an entry of a list, numbers put in, and in attention."""
    said = f"a torch {kind} tensor is not exact: take its binary values with symattn.from_floats"
    tensor = Tensor(array, kind)
    for read_it in (
        read,
        read_rows,
        lambda x: symattn.case("mine", {"X": x}, {"Y": "X"}),
        lambda x: symattn.solve("cat-sat-mat").symbolic["A"].subs(X=x),
        lambda x: symattn.attention(x, [[1]], [[1]]),
    ):
        with pytest.raises(Malformed, match=said):
            read_it(tensor)
    if not array.ndim:
        with pytest.raises(Malformed, match=rf"\[0\]\[1\]: {said}"):
            read_rows([[1, tensor]])
    # What holds whole numbers is exact.
    assert read_rows(Tensor(np.ones((2, 2), dtype=int), "int64"))[0] == (2, 2)


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_an_array_of_floats_is_called_by_its_name(kind):
    """Once, not for each of its entries."""
    with pytest.raises(Malformed) as caught:
        read_rows(np.ones((2, 3), dtype=kind))
    (fault,) = caught.value.faults
    assert fault.message.startswith(f"a NumPy {kind} array is not exact: take its binary values")
