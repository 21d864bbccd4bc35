"""Floating-point formats: the nearest number of one, with certainty.

Rounding is monotone, so the nearest number is certain when both ends of an enclosure have the same
one (Ziv's strategy, as in :mod:`.rounding`). Where they don't, the precision grows, and the exact
value decides on which side of the boundary between two neighbours it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import copysign, inf, nan
from typing import TYPE_CHECKING, Literal

from flint import arb, fmpq

from symattn.errors import Malformed, Undecided, expected
from symattn.numbers.balls import FIRST, LAST, growing, precision

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from symattn.numbers.double_double import DoubleDouble
    from symattn.numbers.rounding import Real

#: Certain digits that are told of a number whose float is not.
_CERTAIN = 17
#: Entries rounded at a time: so many stay near the processor.
_BLOCK = 1 << 13
#: Double-doubles around numbers below two to this power are not tight.
_SMALL = -850

FloatFormat = Literal[
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
]


@dataclass(frozen=True)
class BinaryFormat:
    """A binary floating-point format: digits, and exponents of the smallest
    and largest normal number (IEEE 754-2019, table 3.5).

    ``unused`` numbers at the top of the range stand for something else, and ``overflow`` is
    what is beyond them, infinities too: no number where there is no infinity (P. Micikevicius et
    al., *FP8 formats for deep learning*, 2022; to saturate is not to round). Where what is no
    number has the bits of minus zero there is no minus zero (B. Noune et al., *8-bit numerical
    formats for deep neural networks*, 2022).
    """

    name: FloatFormat
    digits: int
    lowest: int
    highest: int
    unused: int = 0
    overflow: float = inf
    minus_zero: bool = True

    @property
    def count(self) -> int:
        """Return how many numbers from 0 on there are; the one after the last is beyond.

        >>> FORMATS["float16"].count == 0x7C00
        True
        """
        return ((self.highest - self.lowest + 2) << (self.digits - 1)) - self.unused

    def number(self, place: int) -> Fraction:
        """The number at a place, counted from 0 on.

        >>> form = FORMATS["float8_e4m3fn"]
        >>> form.number(1), form.number(form.count - 1)
        (Fraction(1, 512), Fraction(448, 1))
        """
        binade = max((place >> (self.digits - 1)) - 1, 0)
        units = place - (binade << (self.digits - 1))
        return units * Fraction(2) ** (binade + self.lowest - self.digits + 1)

    def place(self, whole: int, exponent: int) -> int:
        """The place of the number nearest to ``whole * 2**exponent``, ties to even."""
        magnitude = whole.bit_length() + exponent - 1
        if magnitude > self.highest or magnitude < self.lowest - self.digits:
            return self.count if magnitude > self.highest else 0
        binade = max(magnitude, self.lowest)
        shift = binade - self.digits + 1 - exponent
        units = whole << -shift if shift <= 0 else _halved(whole, shift)
        return min(units + ((binade - self.lowest) << (self.digits - 1)), self.count)

    def float(self, place: int) -> float:
        """The number at a signed place as a float; see :func:`nearest`."""
        size = place if place >= 0 else -1 - place
        value = float(self.number(size)) if size < self.count else self.overflow
        return copysign(value, 1 if place >= 0 or not (size or self.minus_zero) else -1)


def _halved(whole: int, shift: int) -> int:
    """``whole / 2**shift`` to the nearest integer, ties to even."""
    units, rest = divmod(whole, 1 << shift)
    half = 1 << (shift - 1)
    return units + (rest > half or (rest == half and units % 2))


FORMATS: Mapping[FloatFormat, BinaryFormat] = {
    "float64": BinaryFormat("float64", 53, -1022, 1023),
    "float32": BinaryFormat("float32", 24, -126, 127),
    "float16": BinaryFormat("float16", 11, -14, 15),
    "bfloat16": BinaryFormat("bfloat16", 8, -126, 127),
    "float8_e4m3fn": BinaryFormat("float8_e4m3fn", 4, -6, 8, 1, nan),
    "float8_e5m2": BinaryFormat("float8_e5m2", 3, -14, 15),
    "float8_e4m3fnuz": BinaryFormat("float8_e4m3fnuz", 4, -7, 7, 0, nan, False),
    "float8_e5m2fnuz": BinaryFormat("float8_e5m2fnuz", 3, -15, 15, 0, nan, False),
}


def float_format(name: str) -> BinaryFormat:
    """The format of that name; :class:`Malformed` names those there are."""
    for form in FORMATS.values():
        if form.name == name:
            return form
    raise Malformed(f"unknown format {name!r}: {expected(name, FORMATS)}")


def nearest(real: Real, form: BinaryFormat) -> float:
    """The number of the format nearest to ``real``, ties to even, as a float.

    Underflow is gradual and keeps the sign, overflow gives an infinity, as IEEE 754 has it.
    :class:`Undecided` where the exact value can't be told from the boundary between two numbers.

    >>> from symattn.numbers.reading import read
    >>> nearest(read("1/3"), FORMATS["bfloat16"]), nearest(-read("1e-400"), FORMATS["float64"])
    (0.333984375, -0.0)
    """
    # Places of negative numbers are counted down from -1, which is -0.0.
    for bits in growing():
        with precision(bits):
            ball = real.ball(bits)
            ends = (ball.lower(), ball.upper()) if ball.is_finite() else None
        if ends is not None:
            low, high = (_place(end, form) for end in ends)
            if low == high:
                return form.float(low)
            if bits > FIRST and high - low == 1:
                try:
                    return form.float(_beside(real, low, form))
                except Undecided:
                    # More bits may tell what the closed form doesn't.
                    pass
    raise Undecided(unsettled(ball, form, LAST))


def unsettled(ball: arb, form: BinaryFormat, bits: int) -> str:
    """Return what is certain of a number that lies in a ball of so many bits, but not its float.

    >>> unsettled(arb(1, 1e-9), FORMATS["float16"], 128)
    'the nearest float16 is not settled at 128 bits: the number is [1.00000000 +/- 1.01e-9]'
    """
    known = f"the number is {ball.str(_CERTAIN)}" if ball.is_finite() else "nothing is known of it"
    return f"the nearest {form.name} is not settled at {bits} bits: {known}"


def _place(end: arb, form: BinaryFormat) -> int:
    """The signed place of an end of an enclosure."""
    whole, exponent = end.man_exp()
    place = form.place(abs(int(whole)), int(exponent)) if whole else 0
    return place if whole >= 0 else -1 - place


def _beside(real: Real, low: int, form: BinaryFormat) -> int:
    """Return which of two neighbours that enclose the number is nearer: ``low`` or the next."""
    sizes = [place if place >= 0 else 1 + place for place in (low, low + 1)]
    ends = [form.number(abs(size)) * (1 if size >= 0 else -1) for size in sizes]
    middle = (ends[0] + ends[1]) / 2
    side = (real.value - fmpq(middle.numerator, middle.denominator)).sign()
    if side == 0 and low != -1:
        return low + abs(sizes[0]) % 2
    return low if side < 0 else low + 1


def rounded(
    x: DoubleDouble, form: BinaryFormat
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """:func:`nearest` of many numbers at once: the floats, and which of them are certain.

    The float nearest to ``high`` is; it is certain where the whole ball stays within half
    the distance to its neighbours on either side: the distance below a power of two is half
    of that above, but not below the smallest normal number, and beyond the largest number
    there is only the side towards it.
    """
    import numpy as np

    from symattn.numbers.double_double import DoubleDouble

    floats, certain = np.empty(x.shape), np.empty(x.shape, dtype=bool)
    flat = x.map(np.ravel)
    for start in range(0, floats.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        some = DoubleDouble(flat.high[part], flat.low[part], flat.error[part])
        floats.ravel()[part], certain.ravel()[part] = _rounded(some, form)
    return floats, certain


#: Numbers above have a half of their last unit among floats.
_WHOLE = 2.0**-900


def _rounded(
    x: DoubleDouble, form: BinaryFormat
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    import numpy as np

    with np.errstate(all="ignore"):
        masked, size = x.masked, np.abs(np.where(x.masked, 0.0, x.high))
        largest = float(form.number(form.count - 1))
        beyond = largest + 2.0 ** (form.highest - form.digits + 1)
        exponent = np.maximum(np.frexp(size)[1] - 1, form.lowest)
        unit = np.ldexp(1.0, exponent - form.digits + 1)
        low = np.where(x.high < 0, -x.low, x.low)
        units = size / unit
        whole = np.rint(units)
        # Where ``high`` is a tie ``low`` breaks it.
        whole = np.where(
            (np.abs(units - whole) == 0.5) & (low != 0), units + np.copysign(0.5, low), whole
        )
        near = np.minimum(whole * unit, beyond)
        # The room on both sides: half of the unit at ``near``, which is not always that at
        # ``size``, and a quarter below a power of two, but not below the smallest normal one.
        part, power = np.frexp(near)
        power = np.where(near == 0, form.lowest, power - 1)
        above = np.ldexp(0.5, np.maximum(power, form.lowest) - form.digits + 1)
        below = np.where((part == 0.5) & (power > form.lowest), above / 2, above)
        above = np.where(near > largest, inf, above)
        # ``size - near`` is exact up to twice ``near``; of it and of the sum less than
        # 2**-51 is lost, and ``slack`` outweighs that. An end that is within the room once
        # the last sum is rounded was so before: the room is a float, and rounding monotone.
        off = (size - near) + low
        slack = np.copysign(2.0**-50, off)
        certain = off * (1 + slack) + x.error < above
        certain &= off * (1 - slack) - x.error > -below
        if form.minus_zero:
            # Of what underflows the sign must be known.
            certain &= (near > 0) | (size * (1 - 2.0**-50) > x.error)
        # Floats have no half of their smallest number, and 0 no sign to be known.
        certain |= (off == 0) & (x.error == 0)
        # A tie is broken where the number is exact: to even, as ``rint`` has it.
        certain |= (x.error == 0) & (size > _WHOLE) & (near <= largest)
        sign = np.where((size == 0) | ((near == 0) & (not form.minus_zero)), 1.0, x.high)
        near = np.where(near > largest, form.overflow, near)
        signed = np.where(masked, -form.overflow, np.copysign(near, sign))
    return signed, certain | masked


def rounded_balls(
    balls: Sequence[arb | None], bits: int, form: BinaryFormat
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """:func:`rounded` for balls of so many bits; None is a masked score. A number too small
    for the format keeps its sign, however small it is.

    >>> rounded_balls([arb(-1) / 3, arb(-1) / 10**1000], 128, FORMATS["float16"])[0].tolist()
    [-0.333251953125, -0.0]
    """
    import numpy as np

    from symattn.numbers.double_double import of_balls

    # What is below half of the smallest number rounds to 0; of what double-doubles, which
    # have no room for small numbers, can't hold, the ends are rounded.
    half, small = arb(2) ** (form.lowest - form.digits), arb(2) ** _SMALL
    low = -half
    floats, certain = np.zeros(len(balls)), np.ones(len(balls), dtype=bool)
    rest = []
    for place, ball in enumerate(balls):
        if ball is None or not -small < ball < small or ball.contains(0):
            rest.append(place)
        elif low < ball < half:
            floats[place] = form.float(0 if ball > 0 else -1)
        else:
            with precision(bits):
                first, last = (_place(end, form) for end in (ball.lower(), ball.upper()))
            floats[place], certain[place] = form.float(first), first == last
    if rest:
        floats[rest], certain[rest] = rounded(of_balls([balls[k] for k in rest], bits), form)
    return floats, certain
