"""Decimals and floats of numbers of every kind, held against the truth, in any number.

    python -m tests.campaigns.rounding 1e7

rounds so many to decimals and so many to floats, from a seed on if one is given, and prints
every one that is wrong. The truth is a bracket: two whole numbers over a third between
which the number lies, by MPFR from the definition or exactly as it was constructed. It is
rounded by division with remainder, and shares nothing with what it judges.
"""

from __future__ import annotations

import decimal
import math
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import chain, count, islice
from typing import Any, cast

import gmpy2
import numpy as np
from flint import arb, fmpq

from symattn import attention, case, from_floats, solve
from symattn.numbers import float_formats, rounding
from symattn.numbers.balls import precision
from symattn.numbers.rounding import Real, RoundingMode
from symattn.numbers.values import Value, rational
from symattn.solution.entries import EntryValue

Array = np.ndarray[Any, Any]

MODES: tuple[RoundingMode, ...] = (
    "floor", "ceiling", "down", "up", "half-even", "half-up", "half-down",
)  # fmt: skip
_WIDE = decimal.Context(prec=10**5, Emax=10**6, Emin=-(10**6))

#: Places up to which all numbers are rounded, and bits of a number that is rounded so.
MOST = 700
BITS = 5_200

#: Digits, exponents of the smallest and the largest normal number, and the largest number
#: (IEEE 754-2019, table 3.5; P. Micikevicius et al., *FP8 formats for deep learning*, 2022).
FORMATS = {
    "float64": (53, -1022, (2**53 - 1) * 2**971),
    "float32": (24, -126, (2**24 - 1) * 2**104),
    "float16": (11, -14, 65504),
    "bfloat16": (8, -126, (2**8 - 1) * 2**120),
    "float8_e4m3fn": (4, -6, 448),
    "float8_e5m2": (3, -14, 57344),
}


# -- the truth ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Bracket:
    """A number between ``low / below`` and ``high / below``, or at both."""

    low: int
    high: int
    below: int

    def times(self, q: Fraction) -> Bracket:
        """A positive multiple of the number."""
        return Bracket(self.low * q.numerator, self.high * q.numerator, self.below * q.denominator)

    def settled(self, rounded: Callable[[int, int], Any], scale: Fraction = Fraction(1)) -> Any:
        """What both ends times a scale round to; where they don't agree, the number must be
        the only fraction between them whose denominator is short: a tie, or 0."""
        scaled = self if scale == 1 else self.times(scale)
        ends = [rounded(end, scaled.below) for end in (scaled.low, scaled.high)]
        if repr(ends[0]) == repr(ends[1]):
            return ends[0]
        room = (self.below // (self.high - self.low)).bit_length() - 40
        assert room > 0, "the bracket is too wide"
        simple = Fraction(self.low + self.high, 2 * self.below).limit_denominator(1 << room // 2)
        assert self.low <= simple * self.below <= self.high, "no short fraction"
        simple *= scale
        return rounded(simple.numerator, simple.denominator)


def exactly(q: Fraction) -> Bracket:
    """A rational number."""
    return Bracket(q.numerator, q.numerator, q.denominator)


def by_mpfr(x: Any, right: int) -> Bracket:
    """A number of MPFR's of which so many bits behind the point are right."""
    mantissa, exponent = map(int, x.as_mantissa_exp())
    whole = mantissa << exponent + right if exponent >= -right else mantissa >> -exponent - right
    return Bracket(whole - 2, whole + 2, 1 << right)


def counts(above: int, below: int) -> tuple[int, ...]:
    """The number rounded to a whole one in each of :data:`MODES`."""
    floor, rest = divmod(above, below)
    if not rest:
        return (floor,) * len(MODES)
    ceiling = floor + 1
    down, up = (ceiling, floor) if above < 0 else (floor, ceiling)
    if 2 * rest != below:
        near = floor if 2 * rest < below else ceiling
        return floor, ceiling, down, up, near, near, near
    return floor, ceiling, down, up, floor + floor % 2, up, down


def float_of(name: str) -> Callable[[int, int], float]:
    """Rounding to the nearest number of a format, ties to even."""
    digits, lowest, largest = FORMATS[name]

    def nearest(above: int, below: int) -> float:
        size = abs(above)
        if not size:
            return 0.0
        exponent = size.bit_length() - below.bit_length()
        # Now 2**(exponent - 1) < size / below < 2**(exponent + 1).
        if size << max(-exponent, 0) < below << max(exponent, 0):
            exponent -= 1
        unit = max(exponent, lowest) - digits + 1
        units, rest = divmod(size << max(-unit, 0), below << max(unit, 0))
        half = below << max(unit, 0)
        units += 2 * rest > half or (2 * rest == half and units % 2)
        if (units << max(unit, 0)) > largest << max(-unit, 0):
            found = math.nan if name == "float8_e4m3fn" else math.inf
        else:
            found = math.ldexp(units, unit)
        return found if above > 0 else -found

    return nearest


_NEAREST = {name: float_of(name) for name in FORMATS}


def same(x: float, y: float) -> bool:
    """Whether two floats are the same, the sign of zero included."""
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y and math.copysign(1, x) == math.copysign(1, y)


# -- attention, forward and backward -----------------------------------------------------

NAMES = ("output", "dQ", "dK", "dV")


@dataclass(frozen=True)
class Inputs:
    """Queries, keys, values and the upstream gradient, arrays of floats or whole numbers; a
    mask of booleans; and bits that leave nothing in doubt about floats."""

    tables: tuple[Array, Array, Array, Array]
    keep: Array
    bits: int = 600


def _ordinary(rng: np.random.Generator, n: int = 12, d: int = 8) -> Inputs:
    tables = rng.normal(size=(4, n, d)).astype("float32").astype(float)
    return Inputs(tuple(tables), np.ones((n, n), dtype=bool))


def _causal(rng: np.random.Generator) -> Inputs:
    made = _ordinary(rng, 16, 4)
    return Inputs(made.tables, np.tri(16, dtype=bool))


def _saturated(rng: np.random.Generator) -> Inputs:
    tables = rng.integers(-40, 41, size=(4, 8, 16)).astype(float)
    return Inputs(tuple(tables), np.ones((8, 8), dtype=bool), bits=16_000)


def _cancelling(rng: np.random.Generator) -> Inputs:
    """Keys twice, queries and their opposites, upstream gradients that sum to 0."""
    q, k, v, g = rng.integers(-3, 4, size=(4, 6, 4)).astype(float)
    k, v = np.concatenate([k, k]), np.concatenate([v, -v])
    q, g = np.concatenate([q, -q, q]), np.concatenate([g, g, -g])
    return Inputs((q, k, v, g), rng.random((len(q), len(k))) < 0.8, bits=1200)


def _wide(rng: np.random.Generator) -> Inputs:
    """Values and gradients that overflow and underflow in all formats but the widest."""
    q, k, v, g = rng.normal(size=(4, 8, 4))
    powers = rng.integers(-160, 140, size=(2, 8, 4))
    return Inputs((q, k, np.ldexp(v, powers[0]), g), np.ones((8, 8), dtype=bool), bits=1200)


def _small(rng: np.random.Generator) -> Inputs:
    """Few keys with small numbers: exact ties, equal weights and zeros."""
    q, k, v, g = rng.integers(-2, 3, size=(4, 4, 4)) / 4
    return Inputs((q * (rng.random((4, 1)) < 0.5), k, v, g), np.ones((4, 4), dtype=bool))


KINDS: tuple[Callable[[np.random.Generator], Inputs], ...] = (
    _ordinary,
    _causal,
    _saturated,
    _cancelling,
    _wide,
    _small,
)


def inputs(seed: int) -> Inputs:
    """Inputs of a kind, the same for every seed; each query sees a key."""
    rng = np.random.default_rng(seed)
    made = KINDS[seed % len(KINDS)](rng)
    made.keep[:, 0] = True
    return made


def written_down(given: Inputs, bits: int) -> list[Array]:
    """Output and gradients, as written down, in numbers of MPFR."""
    mpfr = np.vectorize(gmpy2.mpfr, otypes=[object])
    power = np.vectorize(gmpy2.exp, otypes=[object])
    with gmpy2.context(precision=bits, emax=10**9, emin=-(10**9)):
        q, k, v, g = map(mpfr, given.tables)
        scale = 1 / gmpy2.sqrt(gmpy2.mpfr(q.shape[1]))
        scores = q @ k.T * scale
        scores = scores - scores.max(axis=1, keepdims=True)
        powers = np.where(given.keep, power(scores), gmpy2.mpfr(0))
        weights = powers / powers.sum(axis=1, keepdims=True)
        flow = g @ v.T
        inner = weights * (flow - (weights * flow).sum(axis=1, keepdims=True)) * scale
        return [weights @ v, inner @ k, inner.T @ q, weights.T @ g]


def quantities(given: Inputs) -> list[Any]:
    """Output and gradients, as quantities."""
    q, k, v, g = map(from_floats, given.tables)
    a = attention(q, k, v, mask=given.keep)
    back = a.backward(g)
    return [a.output, back.dQ, back.dK, back.dV]


# -- numbers and their brackets ----------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """A number with what it is called, where it lies, and decimal places to ask for."""

    name: str
    real: Real
    bracket: Bracket
    places: Sequence[int] = (0, 1, 2, 3, 153, 154, 155, 615, 616)


def entries(seed: int, chance: random.Random) -> Iterator[Known]:
    """Some entries of attention."""
    given = inputs(seed)
    bits = max(BITS, given.bits)
    for name, quantity, exact in zip(
        NAMES, quantities(given), written_down(given, bits), strict=True
    ):
        for i, j in chance.sample([*np.ndindex(*exact.shape)], 8):
            near = by_mpfr(exact[i, j], bits // 2)
            yield Known(f"{name}[{i}, {j}]", EntryValue(quantity, i, j), near)


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": gmpy2.exp,
    "log": lambda x: gmpy2.log(abs(x)),
    "sqrt": lambda x: gmpy2.sqrt(abs(x)),
    "cos": gmpy2.cos,
    "sin": gmpy2.sin,
    "erf": gmpy2.erf,
    "tanh": gmpy2.tanh,
}


def functions(seed: int, chance: random.Random) -> Iterator[Known]:
    """Quotients and sums of functions and roots, algebraic numbers among them."""
    for _ in range(8):
        terms: list[tuple[str, Value, Any]] = []
        with gmpy2.context(precision=BITS):
            for _ in range(3):
                q = Fraction(chance.randint(1, 60), chance.randint(1, 12))
                name = chance.choice([*_FUNCTIONS, "sqrt", "sqrt"])
                # Beyond, what the error function lacks of 1 is less than the bracket.
                q = q / 4 if name == "erf" else q
                made = getattr(number(q), name)()
                terms.append((f"{name}({q})", made, _FUNCTIONS[name](gmpy2.mpfr(gmpy2.mpq(q)))))
            (a, x, u), (b, y, v), (c, z, w) = terms
            yield Known(f"{a} - {b}", x - y, by_mpfr(u - v, BITS // 2))
            if abs(w) > 2.0**-40:
                yield Known(f"{a}*{b}/{c}", x * y / z, by_mpfr(u * v / w, BITS // 2))


def near_powers(seed: int, chance: random.Random) -> Iterator[Known]:
    """Multiples that are, times ten to some places, about a power of two that balls have as
    many bits as: their ends are whole numbers there."""
    for entry in entries(seed, chance):
        low, high = sorted(map(abs, (entry.bracket.low, entry.bracket.high)))
        below = entry.bracket.below
        if entry.bracket.low * entry.bracket.high <= 0 or low << 200 < below:
            continue
        places = chance.randint(30, 600)
        exponent = chance.choice([128, 512, 512, 2048]) - chance.randint(-2, 3)
        if exponent - places * 10 // 3 > 1_200:
            continue
        power = Fraction(2) ** exponent / 10**places
        factor = Fraction(int(power * below / high * 2**200) + 1, 2**200)
        yield Known(
            f"{entry.name} times about {exponent} bits",
            cast(Value, entry.real.value) * number(factor),
            entry.bracket.times(factor),
            range(places - 2, places + 3),
        )


def jumps(seed: int, chance: random.Random) -> Iterator[Known]:
    """Whole and half multiples of a power of ten, exactly and very closely beside them."""
    for _ in range(40):
        places = chance.choice([0, 1, 2, 4, 17, 38, 39, 153, 154, 155, 614, 615, 616, 700])
        size = chance.choice([3, 40, 127, 128, 510, 512, 513, 2047, 2048])
        whole = chance.getrandbits(size) | 1 << (size - 1)
        at = Fraction(chance.choice([-1, 1]) * whole, 2 * 10**places)
        side = chance.choice([-1, 0, 1])
        offset, ends = tiny(chance, 4 * places + 20)
        yield Known(
            f"{whole.bit_length()} bits over 2*10**{places}, {side}",
            number(at) + side * offset,
            between(*sorted(at + side * end for end in ends)),
            range(max(places - 1, 0), places + 2),
        )


def tiny(chance: random.Random, bits: int) -> tuple[Value, tuple[Fraction, Fraction]]:
    """A positive number that is less than two to the power of minus so many bits, and what
    is less than it and what is more: beside a jump all that matters is the side."""
    k = bits + chance.randint(0, 2_000)
    root = math.isqrt(k) + 1
    half = Fraction(1, 2)
    small = number(-k).exp()
    kinds: list[tuple[Callable[[], Value], int]] = [
        (lambda: number(half**k), k),
        (lambda: small, 2 * k),
        (lambda: 1 - number(k).tanh(), 4 * k),
        (lambda: 1 - small.cos(), 4 * k),
        (lambda: (1 + small).log(), 2 * k),
        (lambda: (1 + small).sqrt() - 1, 3 * k),
        (lambda: number(k) - (number(k).exp() - 1).log(), 2 * k),
        # More than exp(-x**2)/(2 x + 2), and less than exp(-x**2).
        (lambda: 1 - number(root).erf(), 2 * root * root + 20),
    ]
    made, most = chance.choice(kinds)
    return made(), (half**most, half**k)


def number(q: Fraction | int) -> Value:
    """A rational number of any length."""
    return rational(_fmpq(q))


def _fmpq(q: Fraction | int) -> fmpq:
    return fmpq(q.numerator, q.denominator)


def between(low: Fraction, high: Fraction) -> Bracket:
    """A number between two fractions."""
    below = math.lcm(low.denominator, high.denominator)
    return Bracket(int(low * below), int(high * below), below)


@dataclass(frozen=True)
class Loose:
    """A number whose balls have ends where they hurt: on a jump, at few bits."""

    value: Value
    low: fmpq
    high: fmpq
    bits: int

    def ball(self, bits: int) -> arb:
        """The closest ball, or from one end to the other where there are few bits."""
        if bits > self.bits:
            return self.value.ball(bits)
        with precision(4096):
            return arb(self.low).union(arb(self.high))


def ends(seed: int, chance: random.Random) -> Iterator[Known]:
    """Balls whose ends are whole and half numbers, where no power of ten makes them others."""
    for _ in range(80):
        # Of numbers as long as a ball the ends are whole and half numbers.
        low = Fraction(chance.randint(-6, 5), 2) + chance.choice([0, 0, -1, 1]) * 2**510
        high = low + Fraction(chance.randint(1, 2), 2 ** chance.choice([1, 2, 40, 80]))
        if chance.randrange(2):
            low, high = 2 * low - high, low
        tiny = (high - low) / 2 ** chance.choice([2, 60, 70, 900])
        q = chance.choice([low, high, low + tiny, high - tiny, (low + high) / 2])
        real = Loose(number(q), _fmpq(low), _fmpq(high), chance.choice([128, 512]))
        yield Known(f"{float(q)} in [{float(low)}, {float(high)}]", real, exactly(q), (0,))


#: Sources of numbers, and those whose numbers may be rounded to any number of places.
SOURCES = (ends, jumps, functions, near_powers, entries)
GENERAL = (entries, functions)


# -- decimals ----------------------------------------------------------------------------

#: What is wrong: what it is called, what it is here and what it should be.
Wrong = tuple[str, object, object]


def decimals(seed: int) -> Iterator[Wrong | None]:
    """Decimals of a seed, None for each that is right."""
    chance = random.Random(seed)
    for source in SOURCES:
        for known in source(seed, chance):
            more = 24 if source in GENERAL else 0
            for places in (*known.places, *(chance.randint(0, MOST) for _ in range(more))):
                yield from _at(known, places, seed)
            if source in GENERAL:
                yield _significant(known, chance, seed)


def _at(known: Known, places: int, seed: int) -> Iterator[Wrong | None]:
    wanted = known.bracket.settled(counts, Fraction(10**places))
    for mode, right in zip(MODES, wanted, strict=True):
        found = rounding.decimal(known.real, places, mode)
        expected = Decimal(right).scaleb(-places, _WIDE)
        is_right = found == expected and found.as_tuple().exponent == -places
        what = f"{known.name}, seed {seed}, to {places} {mode}"
        yield None if is_right else (what, found, expected)


def _significant(known: Known, chance: random.Random, seed: int) -> Wrong | None:
    digits, mode = chance.randint(1, 60), chance.choice(MODES)
    low, high, below = known.bracket.low, known.bracket.high, known.bracket.below
    if low * high <= 0 or min(abs(low), abs(high)) << 300 < below:
        return None
    whole = known.bracket.settled(counts, Fraction(10**100))[MODES.index("down")]
    places = digits + 100 - len(str(abs(whole)))
    right = known.bracket.settled(counts, Fraction(10) ** places)[MODES.index(mode)]
    expected = Decimal(right).scaleb(-places, _WIDE)
    found = rounding.significant(known.real, digits, mode)
    is_right = found == expected and len(found.as_tuple().digits) == digits
    what = f"{known.name}, seed {seed}, to {digits} digits {mode}"
    return None if is_right else (what, found, expected)


# -- floats ------------------------------------------------------------------------------


def floats(seed: int) -> Iterator[Wrong | None]:
    """Floats of a seed, None for each that is right: whole arrays, and one by one."""
    chance = random.Random(seed)
    for source in (functions, ends, midway):
        for known in islice(source(seed, chance), 16):
            for form in FORMATS:
                found = float_formats.nearest(known.real, float_formats.float_format(form))
                expected = known.bracket.settled(_NEAREST[form])
                what = (f"{known.name} as {form}, seed {seed}", found.hex(), expected.hex())
                yield None if same(found, expected) else what
    yield from _elementwise(seed)
    given = inputs(seed)
    exact = written_down(given, given.bits)
    for name, quantity, table in zip(NAMES, quantities(given), exact, strict=True):
        brackets = [by_mpfr(x, given.bits // 2) for x in table.ravel()]
        yield from _nearest(f"{name}, seed {seed}", quantity, brackets)


def _nearest(name: str, quantity: Any, brackets: Sequence[Bracket]) -> Iterator[Wrong | None]:
    for form, nearest in _NEAREST.items():
        made = quantity.nearest(form).astype(float).ravel().tolist()
        for place, (found, bracket) in enumerate(zip(made, brackets, strict=True)):
            expected = bracket.settled(nearest)
            what = (f"{name} [{place}] as {form}", found.hex(), expected.hex())
            yield None if same(found, expected) else what


def midway(seed: int, chance: random.Random) -> Iterator[Known]:
    """Halves between neighbours of a format, exactly and very closely beside them."""
    for _ in range(12):
        middle, side = _middle(chance), chance.choice([-1, 0, 1])
        offset, ends = tiny(chance, 1_200)
        real = number(middle) + side * offset
        yield Known(
            f"{middle}, {side}", real, between(*sorted(middle + side * end for end in ends))
        )


def _middle(chance: random.Random) -> Fraction:
    digits, lowest, largest = FORMATS[chance.choice([*FORMATS])]
    if not chance.randrange(8):
        top = chance.choice([Fraction(largest), Fraction(2) ** (lowest - digits + 1)])
        return top + chance.choice([-1, 0, 1]) * Fraction(2) ** (top.numerator.bit_length() // 2)
    spread = chance.choice([8, 60, 2 - lowest])
    exponent = max(chance.randint(-spread, min(spread, 13)), lowest)
    units = chance.randint(0, 2**digits - 1)
    return chance.choice([-1, 1]) * Fraction(2 * units + 1) * Fraction(2) ** (exponent - digits)


#: Functions of an array's entries as MPFR has them, without cancellation.
_ENTRIES: dict[str, Callable[[Any], Any]] = {
    "exp(X)": gmpy2.exp,
    "tanh(X)": gmpy2.tanh,
    "erf(X)": gmpy2.erf,
    "sin(X)": gmpy2.sin,
    "sigmoid(X)": lambda x: 1 / (1 + gmpy2.exp(-x)),
    "silu(X)": lambda x: x / (1 + gmpy2.exp(-x)),
    "softplus(X)": lambda x: gmpy2.log1p(gmpy2.exp(x)),
    "gelu(X)": lambda x: x * gmpy2.erfc(-x / gmpy2.sqrt(gmpy2.mpfr(2))) / 2,
    "log(X*X + 1)": lambda x: gmpy2.log1p(x * x),
    "sqrt(X*X + 1) - 1": lambda x: x * x / (1 + gmpy2.sqrt(1 + x * x)),
}


def _elementwise(seed: int) -> Iterator[Wrong | None]:
    """Functions of an array of numbers of all sizes."""
    rng = np.random.default_rng(seed)
    text = [*_ENTRIES][seed % len(_ENTRIES)]
    table = np.ldexp(rng.normal(size=(12, 12)), rng.integers(-30, 9, size=(12, 12)))
    quantity = solve(case("t", {"X": from_floats(table)}, {"Y": text}))["Y"]
    with gmpy2.context(precision=400, emax=10**9, emin=-(10**9)):
        exact = [_ENTRIES[text](gmpy2.mpfr(x)) for x in table.ravel().tolist()]
    yield from _nearest(f"{text}, seed {seed}", quantity, [_relative(x) for x in exact])


def _relative(x: Any) -> Bracket:
    """A number of MPFR's with 300 bits that are right, from its first one on."""
    mantissa, exponent = map(int, x.as_mantissa_exp())
    room = abs(mantissa) >> 300
    below = 1 << max(-exponent, 0)
    low, high = ((mantissa + off) << max(exponent, 0) for off in (-room, room))
    return Bracket(low, high, below)


# -- counting ----------------------------------------------------------------------------


def judged(
    kind: Callable[[int], Iterable[Wrong | None]], wanted: int, first: int = 0
) -> list[Wrong]:
    """What is wrong of so many, from a seed on."""
    results = chain.from_iterable(map(kind, count(first)))
    return [result for result in islice(results, wanted) if result is not None]


def main(wanted: int, first: int = 0) -> int:
    """Judge so many decimals and floats; how many are wrong."""
    total = 0
    for kind in (decimals, floats):
        wrong = judged(kind, wanted, first)
        for what, found, expected in wrong:
            print(f"{what}: {str(found)[-60:]}, expected {str(expected)[-60:]}")
        print(f"{wanted} {kind.__name__}, {len(wrong)} wrong", flush=True)
        total += len(wrong)
    return total


if __name__ == "__main__":
    sys.exit(bool(main(int(Fraction(sys.argv[1])), *map(int, sys.argv[2:]))))
