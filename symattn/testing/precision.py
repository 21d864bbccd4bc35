"""Working precisions: which formats a kernel's numbers have, and what is rounded to them.

Formats of arrays of any package, and their numbers as floats of 64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from symattn.errors import Fault, Faults, Malformed, expected
from symattn.numbers.arrays import FloatEntries, as_array
from symattn.numbers.double_double import Array
from symattn.numbers.float_formats import FORMATS, FloatFormat, float_format

#: What a kernel may round to its format.
Level = Literal["fused", "unfused"]

#: What can have a format of its own: several things by one word, or one.
NAMES: Mapping[str, tuple[str, ...]] = {
    "inputs": ("Q", "K", "V"), "q": ("Q",), "k": ("K",), "v": ("V",), "upstream": ("dY",),
    "weights": ("weights",), "dS": ("dS",), "output": ("output",), "lse": ("lse",),
    "gradients": ("dQ", "dK", "dV"), "dQ": ("dQ",), "dK": ("dK",), "dV": ("dV",),
}  # fmt: skip


def by_name(formats: Mapping[str, object] | None) -> dict[str, FloatFormat]:
    """Formats as they are given, by the words of :data:`NAMES`: of each thing its own. What a
    narrower word says counts more; the upstream gradient has the output's unless given.

    :class:`Malformed` with every fault.

    >>> by_name({"inputs": "float8_e4m3fn", "output": "bfloat16", "k": np.float16})["K"]
    'float16'
    >>> by_name({"output": "bfloat16"})
    {'dY': 'bfloat16', 'output': 'bfloat16'}
    """
    given = dict(formats or {})
    faults = Faults()
    faults += [
        Fault(f"formats[{name!r}]", f"unknown name: {expected(str(name), NAMES)}")
        for name in given
        if name not in NAMES
    ]
    if "output" in given:
        given.setdefault("upstream", given["output"])
    found: dict[str, FloatFormat] = {}
    for name, things in NAMES.items():
        if name in given:
            with faults.inside(f"formats[{name!r}]"):
                found |= dict.fromkeys(things, named(given[name]))
    faults.raise_all()
    return found


@dataclass(frozen=True)
class Precision:
    """A working precision: the format of inputs, of what is stored on the way, and of results;
    that of sums; the level; and what has another format, by its name (:data:`NAMES`).

    >>> Precision("bfloat16").u, Precision("bfloat16").w == 2**-24, Precision("float64").w
    (0.00390625, True, 1.1102230246251565e-16)
    >>> Precision("bfloat16", formats=(("lse", "float32"),)).of("lse")
    'float32'
    """

    format: FloatFormat
    accumulate: FloatFormat | None = None
    level: Level = "unfused"
    formats: tuple[tuple[str, FloatFormat], ...] = ()

    def of(self, name: str) -> FloatFormat:
        """The format of an input, of a result, or of what is stored on the way."""
        return dict(self.formats).get(name, self.format)

    @property
    def u(self) -> float:
        """The unit roundoff of what is stored."""
        return unit_roundoff(self.format)

    @property
    def w(self) -> float:
        """The unit roundoff of sums."""
        return 2.0 ** -FORMATS[self.sums].digits

    @property
    def tiny(self) -> float:
        """Return what a stored number may be off where it is very small, see :func:`tiny`."""
        return tiny(self.format)

    @property
    def small(self) -> float:
        """Return what a term of a sum may be off where it is below the smallest normal number."""
        return 2.0 ** FORMATS[self.sums].lowest

    @property
    def sums(self) -> FloatFormat:
        """The format of sums."""
        wide: FloatFormat = "float64" if self.format == "float64" else "float32"
        return float_format(self.accumulate or wide).name

    def lost(self, name: str, values: Array) -> Array:
        """Return what is lost of an input's numbers that are taken for zero."""
        size = abs(values)
        form = FORMATS[self.of(name)]
        if form.lowest > FORMATS["float32"].lowest:
            return np.zeros_like(size)
        return np.where(size < 2.0**form.lowest, size, 0.0)

    @property
    def unfused(self) -> bool:
        """Return whether every intermediate may be stored."""
        return self.level == "unfused"

    def gamma(self, terms: int) -> float:
        """Return what a sum of so many products may be off, relative to their magnitudes."""
        part = terms * self.w
        return part / (1 - part) if part < 1 else np.inf

    def stored(self, size: Array, error: Array, times: int = 1) -> Array:
        """The error of numbers of that size once they have been stored."""
        return _stored(self.format, size, error, times)

    def kept(self, name: str, size: Array, error: Array, times: int = 1) -> Array:
        """:meth:`stored`, the last time in the format that has that name. Unfused, what goes
        into a narrower one may have been stored before that, too."""
        form = self.of(name)
        if form == self.format:
            return self.stored(size, error, times)
        narrower = FORMATS[form].digits < FORMATS[self.format].digits
        before = self.stored(size, error, times - 1 + (self.unfused and narrower))
        return _stored(form, size, before, 1)

    def shown(self, name: str, size: Array, error: Array) -> Array:
        """The error of a result that is what was stored on the way, in a format of its own."""
        form = self.of(name)
        return error if form == self.format else _stored(form, size, error, 1)


def unit_roundoff(form: FloatFormat) -> float:
    """Half the distance from 1 to the next number.

    >>> unit_roundoff("float16") == 2**-11
    True
    """
    return 2.0 ** -float_format(form).digits


def tiny(name: FloatFormat) -> float:
    """Return what a stored number may be off where the format has no number as small: half the
    distance of its smallest; of formats as wide as float32, which many machines flush to zero
    below the smallest normal number, that.

    >>> tiny("float16") == 2**-25, tiny("float32") == 2**-126
    (True, True)
    """
    form = FORMATS[name]
    narrow = form.lowest > FORMATS["float32"].lowest
    return 2.0 ** (form.lowest - form.digits if narrow else form.lowest)


def _stored(form: FloatFormat, size: Array, error: Array, times: int) -> Array:
    grown = (1 + unit_roundoff(form)) ** times
    return error * grown + size * (grown - 1) + times * tiny(form)


def format_of(array: object) -> FloatFormat | None:
    """The format of an array's numbers, from its type; None where that is no such format.

    >>> format_of(np.zeros(3, "float16")), format_of([1.0]), format_of(np.zeros(3, int))
    ('float16', None, None)
    """
    own = array if hasattr(array, "dtype") or not hasattr(array, "__dlpack__") else as_array(array)
    dtype = getattr(own, "dtype", None)
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
