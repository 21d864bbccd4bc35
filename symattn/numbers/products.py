"""Matrix products of double-doubles by Ozaki slices, whose products are exact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from symattn.numbers.double_double import TINY, UP, Array, DoubleDouble, settled, two_sum

#: Ozaki slices that a factor is cut into at most.
_SLICES = 4
#: Entries of a product that are added at a time: so many stay near the processor.
_TILE = 1 << 13


def matmul(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """The matrix product of the last two axes, to about 85 bits of ``n * max|x_i| *
    max|y_j|``, row i by column j.

    Each factor is cut into Ozaki slices of few bits, whose products are exact in every
    order of summation (K. Ozaki, T. Ogita, S. Oishi and S. M. Rump, *Error-free
    transformations of matrix multiplication*, Numerical Algorithms 59, 2012). With n terms,
    powers of two a and c more than twice the entries of the row and of the column, and b
    bits, slice i is at most ``a 2**(-(b+1) i)``, half of it for the first one, and what s
    slices leave is at most ``a 2**(-(b+1) s)``, half a unit of the last one. The products of
    slices i and j with ``i + j >= s`` are left out, and those of what is left: they sum
    to less than ``(s + 1) n a c 2**(-(b+1) s)``, times 1.01. The m others are added from the
    smallest on. Where ``i + j >= 2`` they are at most ``n a c 2**(-2 (b+1))`` each and added
    as floats; the highs of the rest are added exactly, and their lows, at most ``U n a c``
    each, to those. So at most m sums are rounded, of numbers that are at most ``m (2**(-2 (b+1))
    + U) n a c`` together: they are off by less than ``m**2 U (2**(-2 (b+1)) + U) n a c``, times
    1.01. Where all products are added and no sum was rounded, the product is exact.

    >>> from symattn.numbers.double_double import exact
    >>> product = matmul(exact(np.array([[1.0, 2.0**-60]])), exact(np.array([[1.0], [1.0]])))
    >>> product.high, product.low == 2.0**-60, product.error < 2.0**-90
    (array([[1.]]), array([[ True]]), array([[ True]]))
    """
    terms = x.shape[-1]
    # Sums of n products of 2 b bits have one to spare, for the third slice; see _slices.
    bits = (52 - max(terms - 1, 1).bit_length()) // 2
    left, above, cut = _slices(x, bits, -1)
    right, beside, cut_too = _slices(y, bits, -2)
    pairs = [(i, j) for i in range(len(left)) for j in range(len(right)) if i + j < _SLICES]
    pairs.sort(key=sum, reverse=True)
    whole = not (cut or cut_too) and len(pairs) == len(left) * len(right)
    high, low, is_exact = _sums(left, right, pairs, whole)
    small = 2.0 ** (-2 * (bits + 1)) if sum(pairs[0]) >= 2 else 0.0
    share = len(pairs) ** 2 * 2.0**-53 * (small + 2.0**-53)
    if cut or cut_too or len(left) + len(right) - 1 > _SLICES:
        share += (_SLICES + 1) * 2.0 ** (-(bits + 1) * _SLICES)
    error = (1.02 * terms * share) * (above * beside)
    error = error + np.where(_some(x, above, -1) & _some(y, beside, -2), TINY, 0.0)
    if whole:
        # Nothing can be lost but in sums, where it is seen, and in what underflows.
        normal = (above >= 2.0**-300) & (beside >= 2.0**-300)
        error = np.where(is_exact & normal, 0.0, error)
    if y.error.any():
        error = error + (np.abs(x.high) * (1 + 2.0**-50) + x.error) @ y.error
    if x.error.any():
        error = error + x.error @ (np.abs(y.high) * (1 + 2.0**-50))
    return settled(high, low, error * UP)


def _sums(
    left: Sequence[Array],
    right: Sequence[Array],
    pairs: Sequence[tuple[int, int]],
    watched: bool,
) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """The sums of products of slices, some rows or columns of them at a time, and if they are
    ``watched`` which of them no rounding has changed."""
    rows, columns = left[0].shape[-2], right[0].shape[-1]
    many = np.broadcast_shapes(left[0].shape[:-2], right[0].shape[:-2])
    high, low = np.empty((*many, rows, columns)), np.empty((*many, rows, columns))
    is_exact = np.full(high.shape, watched)
    step = max(1, _TILE // min(rows, columns))
    for start in range(0, max(rows, columns), step):
        across = (..., slice(start, start + step))
        down = (..., slice(start, start + step), slice(None))
        first, second = (down, ...) if rows > columns else (..., across)
        total, rest, lost = np.zeros(()), np.zeros(()), np.zeros((), dtype=bool)
        for i, j in pairs:
            more = left[i][first] @ right[j][second]
            if i + j < 2:
                total, more = two_sum(total, more)
            if watched:
                rest, over = two_sum(rest, more)
                lost = lost | (over != 0)
            else:
                rest = rest + more
        place = down if rows > columns else across
        high[place], low[place] = two_sum(total, rest)
        is_exact[place] &= ~lost
    return high, low, is_exact


def _some(x: DoubleDouble, above: Array, axis: int) -> npt.NDArray[np.bool_]:
    """Rows or columns with entries that may not be 0."""
    some: npt.NDArray[np.bool_] = (above != 0) | x.error.any(axis=axis, keepdims=True)
    return some


def _slices(x: DoubleDouble, bits: int, axis: int) -> tuple[list[Array], Array, bool]:
    """Ozaki slices of the entries, each a whole multiple of one power of two by row (or
    column) that ``bits`` bits and a sign hold; powers of two above twice the entries along
    the axis, 0 where all are 0; and whether something is left over.

    Adding and subtracting ``1.5 * 2**52 * unit`` rounds to multiples of the unit, ``2**-bits``
    of the power of two at first; what is left is at most half a unit, so the next slice
    begins a bit lower. The low floats join when two slices are cut: they are at most half
    the unit of the second one, so that the third may have a bit more; what is lost in
    joining them, U of half that unit, is less than what four slices leave.
    """
    largest = np.max(np.abs(x.high), axis=axis, keepdims=True, initial=0.0)
    above = np.where(largest > 0, np.ldexp(2.0, np.frexp(largest)[1]), 0.0)
    slices: list[Array] = []
    rest = x.high
    unit = above * 2.0**-bits
    lost = False
    for k in range(_SLICES):
        big = unit * (1.5 * 2.0**52)
        part = (rest + big) - big
        slices.append(part)
        rest = rest - part
        if k == 1:
            rest, over = two_sum(rest, x.low)
            lost = bool(over.any())
        if not rest.any() and (k >= 1 or not x.low.any()):
            return slices, above, lost
        unit = unit * 2.0 ** -(bits + 1)
    return slices, above, True
