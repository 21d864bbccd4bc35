"""Formats of arrays of any package, and their numbers as floats of 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from symattn.errors import Malformed
from symattn.numbers.arrays import FloatEntries, as_array
from symattn.numbers.formats import FORMATS, FloatFormat, float_format
from symattn.testing.model import Array


def format_of(array: object) -> FloatFormat | None:
    """The format of an array's numbers, from its type; None where that is no such format.

    >>> format_of(np.zeros(3, "float16")), format_of([1.0]), format_of(np.zeros(3, int))
    ('float16', None, None)
    """
    dtype = getattr(array, "dtype", None)
    # Of NumPy "float32", of PyTorch "torch.float32".
    name = getattr(dtype, "name", str(dtype)).rpartition(".")[2]
    return next((form for form in FORMATS if form == name), None)


def named(dtype: object) -> FloatFormat:
    """The format that a type or its name says: ``np.float32``, ``torch.bfloat16``, ``"float16"``.

    :class:`Malformed` for what is none.

    >>> named(np.float32), named("bfloat16")
    ('float32', 'bfloat16')
    """
    if isinstance(dtype, str):
        return float_format(dtype).name
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        dtype = np.dtype(dtype)
    # JAX's types are called, and have a NumPy type.
    dtype = getattr(dtype, "dtype", dtype)
    return float_format(getattr(dtype, "name", str(dtype).rpartition(".")[2])).name


def floats_of(data: object) -> Array:
    """The numbers of an array, or of nested lists, as floats of 64 bits.

    :class:`Malformed` for what is no array of numbers.

    >>> floats_of(np.array([1, 2], "float16")), floats_of([[1, 0.5]])
    (array([1., 2.]), array([[1. , 0.5]]))
    """
    if isinstance(data, FloatEntries):
        return data.array
    array: Any = as_array(data)
    try:
        return np.asarray(data if array is None else array).astype(np.float64)
    except (TypeError, ValueError) as error:
        what = type(data).__name__
        raise Malformed(f"expected an array of numbers, found {what}: {error}") from None
