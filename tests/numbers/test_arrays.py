"""Arrays of any package as exact numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn import Malformed, attention, from_floats
from symattn.numbers.arrays import as_array, read_stack

from ..strategies import some

NARROW = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz"]
KINDS = ["float16", "float32", "float64", *(getattr(ml_dtypes, name) for name in NARROW)]


class Other:
    """An array of another package, with ``__array__``."""

    def __init__(self, array):
        self.array = array
        self.dtype, self.shape = array.dtype, array.shape

    def __array__(self, dtype=None, copy=None):
        return self.array


class Capsule:
    """An array of another package, with DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def fractions(matrix):
    """Rows of exact numbers as Fractions."""
    return [[Fraction(int(x.number.p), int(x.number.q)) for x in row] for row in matrix]


@pytest.mark.parametrize("kind", KINDS)
def test_floats_of_every_type_are_what_they_are(kind):
    """Exactly: the largest, the smallest, and others."""
    array = np.array([[1.5, -0.25, 0.0], [0.1, 3.0, -0.0]]).astype(kind)
    wanted = [[Fraction(float(x)) for x in row] for row in array]
    assert from_floats(array).tolist() == wanted
    assert from_floats(Other(array)).tolist() == wanted
    assert fractions(read_stack(from_floats(array)).matrices[0]) == wanted


@some
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_lists_and_arrays_of_floats_are_the_same(numbers):
    """A list gives Fractions, an array what says the same of itself."""
    assert from_floats(numbers) == [Fraction(x) for x in numbers]
    assert from_floats(np.array(numbers)).tolist() == from_floats(numbers)
    foreign: Any = Capsule(np.array(numbers))
    assert from_floats(foreign).tolist() == from_floats(numbers)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64", "uint64"])
def test_whole_numbers_are_exact(kind):
    """To the end of their range, given as they are or through the door of floats."""
    ends = np.iinfo(kind)
    array = np.array([[ends.min, ends.max]], dtype=kind)
    wanted = [[Fraction(int(x)) for x in row] for row in array]
    found: Any = from_floats(array)
    # Beyond 2**53 a list of Fractions, below an array that says the same of itself.
    assert [list(row) for row in getattr(found, "tolist", lambda: found)()] == wanted
    assert fractions(read_stack(array).matrices[0]) == wanted


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (
            np.array([[0.5, np.nan], [np.inf, 1]]),
            r"\[0\]\[1\]: expected a finite float, found nan, and 1",
        ),
        (np.array(["a"]), "expected floats, found an array of <U1"),
        (np.array([1j]), "expected floats, found an array of complex128"),
        (np.array([True]), "expected floats, found an array of bool"),
        pytest.param(
            np.array([1], dtype=np.longdouble),
            "at most 64 bits",
            marks=pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="float64"),
        ),
        (object(), "expected floats, found object"),
        (float("nan"), "expected a finite float, found nan"),
        ([0.5, float("inf")], "expected a finite float, found inf"),
    ],
)
def test_what_is_no_finite_float_is_refused(array, said):
    """With its place, and how many more there are."""
    with pytest.raises(Malformed, match=said):
        from_floats(array)


def test_floats_alone_are_told_of_their_door():
    """An array of floats is exact only by asking for it; so are those of other packages."""
    floats = np.ones((2, 2)) / 3
    for array in (floats, Other(floats), floats.astype("float16")):
        with pytest.raises(Malformed, match=r"is not exact: take its binary values with"):
            read_stack(array)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3, 2), (2, 1, 3, 2)])
def test_leading_axes_are_stacks_of_matrices(shape):
    """Nested lists, whole numbers and floats of any number of axes."""
    array = np.random.default_rng(1).integers(-9, 9, size=shape)
    flat = array.reshape(-1, 3, 2)
    for data in (array, array.tolist(), from_floats(array / 1.0), Other(array)):
        stack = read_stack(data)
        assert stack.shape == shape
        assert len(stack.matrices) == len(flat)
        for matrix, wanted in zip(stack.matrices, flat, strict=True):
            assert fractions(matrix) == wanted.tolist()


def test_shapes_that_do_not_fit_are_all_told():
    """Every matrix that is unlike the first, and every entry that is no number."""
    with pytest.raises(Malformed) as caught:
        read_stack([[[1, 2]], [[1]], [["x", 2]], [[1, "1/0"]]])
    assert [fault.where[:3] for fault in caught.value.faults] == ["[1]", "[2]", "[3]"]
    for data in (1, [1, 2], np.zeros((0, 2), dtype=int)):
        with pytest.raises(Malformed):
            read_stack(data)


def test_only_arrays_are_arrays():
    """Lists, numbers and text are none; another package's is."""
    assert as_array([1]) is as_array("a") is as_array(1.5) is None
    assert as_array(Other(np.ones(2))) is not None


def test_arrays_of_booleans_are_masks_and_no_numbers():
    """A mask of booleans hides; as queries they are refused."""
    keep = np.array([[True, False]])
    masked = attention([[1]], [[1], [2]], [[3], [4]], mask=keep)
    np.testing.assert_array_equal(masked.output.nearest(), [[3.0]])
    with pytest.raises(Malformed):
        attention(keep, [[1, 2]], [[3]])


class OnDevice(Capsule):
    """One on CUDA's first device, which hands out copies on the CPU if it ``copies``."""

    def __init__(self, array, copies):
        super().__init__(array)
        self.copies = copies

    def __array__(self, dtype=None, copy=None):
        raise TypeError("implicit conversion is not allowed")

    dtype = np.dtype("float32")

    def __dlpack__(self, *, dl_device=None, **options):
        if not self.copies or dl_device != (1, 0):
            raise BufferError("no copies to other devices")
        return self.array.copy().__dlpack__()

    def __dlpack_device__(self):
        return (2, 0)


def test_what_is_on_a_device_is_copied_or_told():
    """One copy where its package makes one, else what to write."""
    array = np.array([[0.5, 1.5]], dtype="float32")
    assert from_floats(OnDevice(array, True)).tolist() == from_floats(array).tolist()
    with pytest.raises(Malformed, match=r"OnDevice is on a device \(2, 0 of DLPack\): copy it"):
        from_floats(OnDevice(array, False))


def test_what_dlpack_cannot_hand_over_is_told():
    """bfloat16, which NumPy does not take by DLPack."""
    foreign: Any = Capsule(np.ones((1, 1), dtype=ml_dtypes.bfloat16))
    with pytest.raises(Malformed, match=r"Capsule can't be handed to NumPy: .* as float32"):
        from_floats(foreign)
    with pytest.raises(Malformed, match=r"is not exact: take its binary values"):
        read_stack(Capsule(np.ones((1, 1))))
