"""Error-free transformations of floats, and double-double arithmetic built on them.

A double-double is ``high + low``, ``high`` being the float nearest to the sum; what these
functions return is one. What is relied on: addition, subtraction and multiplication are
rounded to nearest and underflow is gradual (:mod:`symattn.ieee`), so that sums and differences
never lose what is small. ``U`` is 2**-53.

The transformations are those of D. E. Knuth, *The Art of Computer Programming*, volume 2,
4.2.2, and T. J. Dekker, *A floating-point technique for extending the available precision*,
Numerische Mathematik 18, 1971; the bounds are those of M. Joldes, J.-M. Muller and V. Popescu,
*Tight and rigorous error bounds for basic building blocks of double-word arithmetic*, ACM TOMS
44, 2017.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Dekker's constant splits a float into halves of 26 bits.
_SPLIT = 2.0**27 + 1


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """``a + b`` as its float and the rest, exactly (Knuth).

    >>> two_sum(np.array(1.0), np.array(2.0**-60))[1] == 2.0**-60
    np.True_
    """
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """``a * b`` as its float and the rest, exactly (Dekker) but for what underflows, which
    is less than 2**-1070; not a number where a factor is beyond 2**996.

    >>> two_product(np.array(1 + 2.0**-30), np.array(1 + 2.0**-30))[1] == 2.0**-60
    np.True_
    """
    product = a * b
    wide = a * _SPLIT
    a1 = wide - (wide - a)
    wide = b * _SPLIT
    b1 = wide - (wide - b)
    a2, b2 = a - a1, b - b1
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def fast_two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """:func:`two_sum` where ``a`` is the larger (Dekker).

    >>> fast_two_sum(np.array(1.0), np.array(2.0**-60))[1] == 2.0**-60
    np.True_
    """
    total = a + b
    return total, b - (total - a)


def add(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """``(a + b) + (c + d)`` of double-doubles, off by at most ``3 U**2 / (1 - 4 U)`` of it, in
    the whole range: what is less than 2**-1021 is added without loss.

    >>> high, low = add(*np.array([1.0, 2.0**-60, -1.0, 2.0**-70]))
    >>> high + low == 2.0**-60 + 2.0**-70
    np.True_
    """
    high, low = two_sum(a, c)
    more, rest = two_sum(b, d)
    high, low = fast_two_sum(high, low + more)
    return fast_two_sum(high, low + rest)


def multiply(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """``(a + b) * (c + d)`` of double-doubles, off by at most ``5 U**2`` of it, and less than
    2**-1068 where it underflows.

    >>> high, low = multiply(*np.array([1.0, 2.0**-60, 1.0, 2.0**-60]))
    >>> high == 1, low == 2.0**-59
    (np.True_, np.True_)
    """
    high, low = two_product(a, c)
    return fast_two_sum(high, low + (a * d + b * c))
