"""Arrays of any package, with any number of axes, as stacks of exact matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import prod
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from symattn.errors import Fault, Faults, Malformed
from symattn.expressions.shapes import Shape, show
from symattn.ieee import need_ieee
from symattn.limits import ENTRIES, STACKED
from symattn.numbers.double_double import Array, two_product
from symattn.numbers.letters import Letters
from symattn.numbers.rationals import array_refusal
from symattn.numbers.reading import MASKED, Masked
from symattn.numbers.rows import AnyArray, Rows, SharedArray, read_rows
from symattn.numbers.tables import NumberTable

#: The exact value of a float.
ExactFloat = Fraction | Masked


@dataclass(frozen=True, eq=False)
class FloatEntries:
    """The exact binary values of an array of floats; minus infinity is a masked score.

    Made by :func:`from_floats`, and taken wherever arrays of exact numbers are.
    """

    array: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.array.shape

    def tolist(self) -> list[Any]:
        """Nested lists of Fractions."""
        nested: list[Any] = _fractions(self.array.tolist())
        return nested

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: Any) -> FloatEntries | ExactFloat:
        part = self.array[key]
        return FloatEntries(part) if np.ndim(part) else _fraction(float(part))

    def __repr__(self) -> str:
        return f"<exact values of {show(self.shape)} floats>"


def _fractions(nested: Any) -> Any:
    return [*map(_fractions, nested)] if isinstance(nested, list) else _fraction(nested)


def _fraction(number: float) -> ExactFloat:
    if number == -math.inf:
        return MASKED
    if not math.isfinite(number):
        raise Malformed(f"expected a finite float, found {number}")
    return Fraction(number)


@overload
def from_floats(array: float) -> ExactFloat: ...


@overload
def from_floats(array: list[Any] | tuple[Any, ...]) -> list[Any]: ...


@overload
def from_floats(array: AnyArray | SharedArray | FloatEntries) -> FloatEntries: ...


def from_floats(array: object) -> FloatEntries | ExactFloat | list[Any]:
    """The exact binary values of floats: of an array of NumPy's or any package's that it
    can hold (float16, bfloat16 and float8 included), of a float, or of lists of them.

    Raises :class:`Malformed` for what is not finite, minus infinity excepted, which is a
    masked score, and for what is no float; :class:`~symattn.errors.Unsound` where the process
    flushes what is small.

    >>> from_floats([0.5, 0.1])
    [Fraction(1, 2), Fraction(3602879701896397, 36028797018963968)]
    >>> from_floats(np.array([[0.5, 0.25]], dtype="float16"))
    <exact values of 1x2 floats>
    """
    if isinstance(array, FloatEntries):
        return array
    if isinstance(array, float):
        return _fraction(float(array))
    if isinstance(array, int) and not isinstance(array, bool):
        return Fraction(array)
    if isinstance(array, list | tuple):
        return [from_floats(item) for item in array]
    floats = as_array(array)
    if floats is None or not (floats.dtype.kind in "iuf" or _is_narrow(floats)):
        what = type(array).__name__ if floats is None else f"an array of {floats.dtype}"
        raise Malformed(f"expected floats, found {what}")
    if floats.dtype.itemsize > 8:
        raise Malformed(f"expected floats of at most 64 bits, found {floats.dtype}")
    need_ieee()
    wide = floats.astype(np.float64)
    if floats.dtype.kind in "iu" and not (np.abs(wide) <= 2.0**53).all():
        whole: list[Any] = from_floats(floats.tolist())
        return whole
    if not wide.ndim:
        return _fraction(float(wide))
    bad = np.argwhere(~(np.isfinite(wide) | np.isneginf(wide)))
    if len(bad):
        place = "".join(f"[{k}]" for k in bad[0])
        more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
        raise Malformed(Fault(place, f"expected a finite float, found {wide[tuple(bad[0])]}{more}"))
    return FloatEntries(wide)


@dataclass(frozen=True, eq=False)
class BlockEntries(FloatEntries):
    """The exact values of quantised numbers, made by :func:`from_blocks`."""


def from_blocks(
    values: object, scales: object, block: int = 32, *, axis: int = -1, scale: float = 1.0
) -> BlockEntries:
    """The exact values that quantised numbers stand for: each times the scale of its block, times
    ``scale``, the one of all.

    ``values`` is an array of floats, or of signed integers; ``scales`` one of floats in the same
    shape but for that axis, which has one for each ``block`` numbers, the last of which may be
    fewer. MXFP8 and MXFP4 (OCP, *Microscaling formats*, 2023) have blocks of 32, with scales
    in ``float8_e8m0fnu``, NVFP4 of 16, in ``float8_e4m3fn``, and one of all in float32; ml_dtypes
    has these types. What :func:`symattn.testing.check_attention` is given so it takes as it is.

    Raises :class:`Malformed` where shapes don't fit, for what is not finite, for bytes, which may
    be bits of anything, and for products that 64 bits don't hold.

    >>> list(from_blocks(np.array([[0.5, 3, -6, 1]]), np.array([[2, 0.25]]), block=2)[0])
    [Fraction(1, 1), Fraction(6, 1), Fraction(-3, 2), Fraction(1, 4)]
    """
    faults, tables = Faults(), []
    for name, data in (("values", values), ("scales", scales), ("scale", np.asarray(scale))):
        with faults.inside(name):
            array = as_array(data)
            if array is not None and array.dtype.kind in "ub":
                raise Malformed(
                    f"{array.dtype} may be bits: view them as what they are, as in "
                    ".view(ml_dtypes.float8_e8m0fnu)"
                )
            tables.append(_finite(np.array(data) if array is None else array))
    faults.raise_all()
    numbers, factors, whole = tables
    if not -numbers.ndim <= axis < numbers.ndim or block < 1:
        wanted = f"an axis of {show(numbers.shape)} and blocks of at least 1"
        raise Malformed(f"axis, block: expected {wanted}, found {axis} and {block}")
    shape = list(numbers.shape)
    shape[axis] = -(-shape[axis] // block)
    if factors.shape != tuple(shape):
        raise Malformed(
            f"scales: expected {show(tuple(shape))}, one for each {block} along axis {axis}, "
            f"found {show(factors.shape)}"
        )
    with np.errstate(all="ignore"):
        once, lost = two_product(factors, whole)
        spread = np.repeat(once, block, axis).take(range(numbers.shape[axis]), axis)
        product, more = two_product(numbers, spread)
    if not (np.isfinite(product).all() and (more == 0).all() and (lost == 0).all()):
        raise Malformed("values: expected products with their scales that 64 bits hold exactly")
    return BlockEntries(product)


def _finite(array: npt.NDArray[Any]) -> Array:
    exact = from_floats(array)
    wide: Array = exact.array if isinstance(exact, FloatEntries) else array.astype(np.float64)
    if not np.isfinite(wide).all():
        raise Malformed("expected finite numbers")
    return wide


def _is_narrow(array: npt.NDArray[Any]) -> bool:
    """Return whether an array holds bfloat16 or float8, as ml_dtypes adds them to NumPy."""
    return array.dtype.kind == "V" and array.dtype.names is None and "float" in array.dtype.name


def as_array(data: object) -> npt.NDArray[Any] | None:
    """The NumPy array of an array of another package; None for what is none.

    One that is on a device, or has gradients (PyTorch), is copied; bfloat16 and float8,
    which PyTorch can't hand over, become float64, which holds them exactly. Any object that
    has ``__dlpack__`` is an array: :class:`Malformed` where NumPy can't have its numbers.

    >>> as_array([1, 2]) is None, as_array(np.array([1, 2])).shape
    (True, (2,))
    """
    if isinstance(data, np.ndarray | np.generic):
        return np.asarray(data)
    detach = getattr(data, "detach", None)
    if callable(detach):
        plain = detach().cpu()
        return np.asarray(plain.double() if plain.is_floating_point() else plain)
    is_shared = hasattr(data, "__dlpack__")
    if hasattr(data, "__array__") and hasattr(data, "dtype"):
        try:
            return np.asarray(data)
        except (TypeError, RuntimeError):
            # On a device (CuPy).
            if not is_shared:
                raise
    return _by_dlpack(data) if is_shared else None


#: Devices of DLPack whose memory is the CPU's: that, and pinned memory of CUDA's and ROCm's.
_HOST = (1, 3, 11)


def _by_dlpack(data: Any) -> npt.NDArray[Any]:
    """The array that a package hands over by DLPack; one that is on a device is copied, once,
    where its package can. :class:`Malformed` says what to write where that can't be had."""
    kind, number = map(int, data.__dlpack_device__())
    there: dict[str, Any] = {} if kind in _HOST else {"device": "cpu"}
    try:
        return np.from_dlpack(data, **there)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        what = type(data).__name__
        if there:
            message = (
                f"{what} is on a device ({kind}, {number} of DLPack): copy it to the CPU first, as "
                f"with .cpu(), .get() or jax.device_get: {error}"
            )
        else:
            message = (
                f"{what} can't be handed to NumPy: where its numbers are bfloat16 or float8, write "
                f"them as float32, which holds them exactly: {error}"
            )
        raise Malformed(message) from None


@dataclass(frozen=True)
class MatrixStack:
    """Matrices of one shape, n x d, along leading axes."""

    lead: Shape
    n: int
    d: int
    matrices: Sequence[Rows]

    @property
    def shape(self) -> Shape:
        """All axes."""
        return (*self.lead, self.n, self.d)


def read_stack(data: object, symbols: Letters | bool = False) -> MatrixStack:
    """A matrix, or matrices along leading axes: nested lists or arrays of exact numbers.

    Raises :class:`Malformed` with every fault.

    >>> stack = read_stack([[[1, "1/2"]], [[3, 4]]])
    >>> stack.lead, stack.n, stack.d, stack.matrices[1][0]
    ((2,), 1, 2, (3, 4))
    """
    array = data.array if isinstance(data, FloatEntries) else as_array(data)
    refusal = array_refusal(data) or array_refusal(array)
    if refusal and not isinstance(data, FloatEntries):
        raise Malformed(refusal)
    if array is not None and array.ndim >= 2 and array.dtype.kind in "iuf":
        _need_room(array.shape, array.dtype.kind == "f")
        *lead, n, d = array.shape
        flat = array.reshape(-1, n, d)
        if array.dtype.kind == "f":
            return MatrixStack((*lead,), n, d, [NumberTable(d, floats=part) for part in flat])
        return MatrixStack((*lead,), n, d, [read_rows(part.tolist())[1] for part in flat])
    nested: Any = data.tolist() if hasattr(data, "tolist") else data
    depth = _depth(nested)
    if depth < 2:
        raise Malformed(f"expected a matrix, found {'a number' if not depth else 'a vector'}")
    if depth == 2:
        shape, rows = read_rows(nested, symbols)
        return MatrixStack((), shape[0], shape[1], [rows])
    return _stacked(nested, symbols)


def _stacked(nested: Sequence[object], symbols: Letters | bool) -> MatrixStack:
    parts: list[MatrixStack] = []
    faults = Faults()
    for place, item in enumerate(nested):
        with faults.inside(f"[{place}]"):
            parts.append(part := read_stack(item, symbols))
            if part.shape != parts[0].shape:
                wanted = f"expected {show(parts[0].shape)} as before"
                raise Malformed(f"{wanted}, found {show(part.shape)}")
    faults.raise_all()
    first = parts[0]
    matrices = [*chain.from_iterable(part.matrices for part in parts)]
    stack = MatrixStack((len(parts), *first.lead), first.n, first.d, matrices)
    _need_room(stack.shape)
    return stack


def _depth(nested: Any) -> int:
    depth = 0
    while isinstance(nested, list | tuple) and nested:
        depth, nested = depth + 1, nested[0]
    return depth


def _need_room(shape: Shape, is_table: bool = False) -> None:
    """Matrices of values are limited each, tables of floats only all together."""
    if not is_table and prod(shape[-2:]) > ENTRIES.most:
        raise Malformed(ENTRIES.said(show(shape[-2:])))
    if prod(shape) > STACKED.most:
        raise Malformed(STACKED.said(show(shape)))
    if not prod(shape):
        raise Malformed(f"{show(shape)} has no entries")
