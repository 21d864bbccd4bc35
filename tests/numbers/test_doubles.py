"""Pairs of floats hold the exact results of what is done to them, within their bounds."""

from __future__ import annotations

import inspect
from functools import partial

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symattn.numbers import double_double
from symattn.numbers.balls import precision
from symattn.numbers.double_double import DoubleDouble, exact

from ..strategies import brief, some

#: Sums and products of floats are exact at so many bits.
BITS = 5000

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

#: Exponents between which numbers are drawn: everywhere, where squares underflow, near 1,
#: subnormal.
RANGES = [(-1074, 1023), (-600, 600), (-540, -480), (-20, 20), (-2, 2), (-1074, -990)]
worlds = st.builds(
    lambda seed, ends: World(seed, *ends), st.integers(0, 2**32), st.sampled_from(RANGES)
)


class World:
    """Where pairs are drawn from, and a number that each may stand for."""

    def __init__(self, seed, lowest, highest):
        self.rng = np.random.default_rng(seed)
        self.ends = lowest, highest

    def __repr__(self):
        return f"World(exponents {self.ends})"

    def floats(self, shape):
        """Floats of either sign: with random digits, powers of two and their neighbours, 0."""
        sign = self.rng.choice([-1.0, 1.0], shape)
        exponent = self.rng.integers(*self.ends, shape)
        kind = self.rng.random(shape)
        digits = np.where(kind < 0.7, self.rng.uniform(0.5, 1, shape), 0.5)
        drawn = sign * np.ldexp(digits, exponent)
        drawn = np.where((kind > 0.8) & (kind < 0.9), np.nextafter(drawn, 0), drawn)
        return np.where(self.rng.random(shape) < 0.1, 0.0, drawn)

    def pairs(self, shape):
        """Double words with errors, some of them none; an error with nothing but itself."""
        high = self.floats(shape)
        low = np.ldexp(high, -53 - self.rng.choice([0, 1, 9, 60], shape))
        low = low * self.rng.choice([-1.0, 0.0, 1.0], shape) * self.rng.uniform(0.5, 1, shape)
        high, low = double_double.two_sum(high, low)
        error = np.ldexp(np.abs(high), -self.rng.integers(1, 140, shape))
        alone = np.ldexp(1.0, self.rng.integers(self.ends[0], min(self.ends[1], 50), shape))
        error = np.where(high == 0, alone, error)
        return DoubleDouble(high, low, np.where(self.rng.random(shape) < 0.4, 0.0, error))

    def truth(self, x):
        """Exact numbers that the pairs may stand for, at the ends of the bounds often."""
        shares = self.rng.choice([-1.0, 1.0, 0.0, 0.3], x.shape)
        with precision(BITS):
            made = [
                arb(h) + arb(l) + arb(e) * arb(s)
                for h, l, e, s in zip(
                    *(part.ravel().tolist() for part in (x.high, x.low, x.error, shares)),
                    strict=True,
                )
            ]
        return np.array([*made, None], dtype=object)[:-1].reshape(x.shape)


def each(function, *operands):
    """A function of every entry of object arrays, at the bits of the truth."""
    flat = np.broadcast_arrays(*operands)
    with precision(BITS):
        made = [function(*numbers) for numbers in zip(*(x.ravel() for x in flat), strict=True)]
    return np.array([*made, None], dtype=object)[:-1].reshape(flat[0].shape)


def outside(found, truth):
    """Flat places where the exact number is not within the bound, or where the parts of a
    pair are none: NaN, or high not the float nearest to the sum."""
    assert found.shape == truth.shape
    wrong = []
    parts = (found.high, found.low, found.error)
    rows = zip(*(part.ravel().tolist() for part in parts), truth.ravel(), strict=True)
    with precision(BITS):
        for place, (high, low, error, number) in enumerate(rows):
            if not (np.isfinite([high, low]).all() and error >= 0 and high + low == high):
                wrong.append(place)
            elif error < np.inf:
                off = abs(number - arb(high) - arb(low)) - arb(error)
                # What is not rational has an enclosure of its own.
                slack = arb(2) ** -4000 + abs(number) * arb(2) ** -3000
                if not off < slack:
                    wrong.append(place)
    return wrong


# -- the laws ----------------------------------------------------------------------------


def adding(world):
    """Sums, of numbers that all but cancel as well."""
    x, y = world.pairs(60), world.pairs(60)
    near = world.rng.random(60) < 0.5
    y = DoubleDouble(
        np.where(near, -x.high, y.high), np.where(near, x.low, y.low), np.where(near, 0, y.error)
    )
    return outside(double_double.add(x, y), each(arb.__add__, world.truth(x), world.truth(y)))


def multiplying(world):
    """Products of a column and a row."""
    x, y = world.pairs((8, 1)), world.pairs((1, 8))
    return outside(double_double.multiply(x, y), each(arb.__mul__, world.truth(x), world.truth(y)))


def dividing(world):
    """Quotients."""
    x, y = world.pairs(60), world.pairs(60)
    return outside(
        double_double.divide(x, y), each(arb.__truediv__, world.truth(x), world.truth(y))
    )


def rooting(world):
    """Square roots."""
    x = world.pairs(60).map(np.abs)
    return outside(double_double.sqrt(x), each(arb.sqrt, world.truth(x)))


def summing(world):
    """Sums along both axes, half of a row taken away from the other half."""
    x = world.pairs((7, 9))
    low = np.where(np.arange(9) % 2, -np.roll(x.low, 1, 1), x.low)
    x = DoubleDouble(np.where(np.arange(9) % 2, -np.roll(x.high, 1, 1), x.high), low, x.error)
    numbers = world.truth(x)
    wrong = []
    for axis in (0, 1):
        with precision(BITS):
            sums = numbers.sum(axis=axis, keepdims=True)
        wrong += outside(double_double.total(x, axis), sums)
    return wrong


def products_of_matrices(world, terms=(1, 2, 3, 5, 8, 9, 33)):
    """Matrix products, with matrices along a leading axis, of which one has no errors."""
    wrong = []
    for n in terms:
        x, y = world.pairs((2, 2, n)), world.pairs((n, 2))
        x.error[0] = y.error[:, 0] = 0
        with precision(BITS):
            numbers = world.truth(x) @ world.truth(y)
        wrong += outside(double_double.matmul(x, y), numbers)
    return wrong


def long_products(world):
    """Matrix products of few bits a slice."""
    return products_of_matrices(world, terms=(300,))


def exponentials_of(world, numbers=None):
    """Exponentials."""
    x = world.pairs(40) if numbers is None else numbers
    return outside(double_double.exp(x), each(_exp, world.truth(x)))


def _exp(x):
    # Beyond, nothing is claimed, and exp(2**1000) has no bits.
    return x.exp() if abs(x) < 2000 else arb(0)


def logarithms_of(world, numbers=None):
    """Logarithms of what is positive for sure."""
    x = (world.pairs(40) if numbers is None else numbers).map(np.abs)
    x = DoubleDouble(np.where(x.high == 0, 1.0, x.high), np.where(x.high == 0, 0.0, x.low), x.error)
    return outside(double_double.log(x), each(arb.log, world.truth(x)))


def waves_of(world, numbers=None):
    """Sines and cosines."""
    x = world.pairs(40) if numbers is None else numbers
    truth = each(_reduced, world.truth(x))
    return [
        place
        for function in (double_double.sin, double_double.cos)
        for place in outside(function(x), each(getattr(arb, function.__name__), truth))
    ]


def _reduced(x):
    # Beyond, nothing is claimed, and the bits are not there.
    return x if abs(x) < 2.0**40 else arb(0)


def errors_of(world, numbers=None):
    """The error function."""
    x = world.pairs(40) if numbers is None else numbers
    # 1 - erf(50) is less than the truth has bits.
    clipped = each(lambda t: arb.max(arb.min(t, arb(50)), arb(-50)), world.truth(x))
    return outside(double_double.erf(x), each(arb.erf, clipped))


def choosing(world):
    """Maxima of numbers, of those that are nearly the same as well, and signs."""
    x, y = world.pairs(60), world.pairs(60)
    same = world.rng.random(60) < 0.5
    low = np.where(world.rng.random(60) < 0.5, x.low, 0.0)
    y = DoubleDouble(np.where(same, x.high, y.high), np.where(same, low, y.low), y.error)
    one, other = world.truth(x), world.truth(y)
    found = double_double.sign(x)
    return [
        *outside(double_double.maximum(x, y), each(arb.max, one, other)),
        *outside(found, each(arb.sgn, one)),
    ]


LAWS = [adding, multiplying, dividing, rooting, summing, products_of_matrices, exponentials_of]
LAWS += [logarithms_of, waves_of, errors_of, choosing]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("law", LAWS)
@some
@given(world=worlds)
def test_the_exact_result_is_within_the_bound(law, world):
    """Whatever numbers within the bounds of the operands are meant, the result of these
    is within the bound of the result."""
    assert law(world) == []


@brief
@given(worlds)
def test_long_products_and_sums_hold_too(world):
    """Up to 300 terms, and rows that cancel to nothing."""
    assert products_of_matrices(world, terms=(64, 129)) + long_products(world) == []
    x = world.pairs((2, 150)).map(lambda part: np.concatenate([part, part], axis=1))
    sign = np.repeat([1.0, -1.0], 150)
    y = DoubleDouble(sign[:, None], np.zeros((300, 1)), np.zeros((300, 1)))
    with precision(BITS):
        numbers = world.truth(x) @ sign
    assert outside(double_double.matmul(x, y), numbers[:, None]) == []
    flat = DoubleDouble(x.high * sign, x.low * sign, x.error)
    assert outside(double_double.total(flat, 1), numbers[:, None]) == []


def dense(x):
    """Floats with as many digits as double words can have, and no errors."""
    return DoubleDouble(x, np.ldexp(x, -54) * (1 - 2.0**-40), np.zeros_like(x))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9, 16, 17, 128, 129, 300])
def test_slices_hold_the_worst_digits(n):
    """Entries whose slices are as large as they come, and whose low floats don't fit behind
    what is left of the high ones."""
    world = World(n, -1, 1)
    ones = np.full((3, n), 1 - 2.0**-53)
    halves = 0.5 + np.ldexp(world.rng.integers(1, 2**20, (3, n)) * 2.0 + 1, -48)
    low = np.full((3, n), 2.0**-54 + 2.0**-99)
    sparse = DoubleDouble(np.full((3, n), 1 + 2.0**-45), low, np.zeros((3, n)))
    for x in (dense(ones), dense(-halves), sparse):
        for y in (dense(halves), dense(ones), exact(np.full((3, n), 2 - 2.0**-18))):
            y = y.map(np.transpose)
            with precision(BITS):
                numbers = world.truth(x) @ world.truth(y)
            assert outside(double_double.matmul(x, y), numbers) == []


def test_exponentials_hold_at_the_edges_of_their_table():
    """Half way between two powers of the table, at them, and at +-700; beyond, what is
    known is that nothing is left, or nothing."""
    world = World(1, -4, 4)
    half = np.log(2) / 512
    steps = world.rng.integers(-(2**19) // 2, 2**19 // 2, 150) * half
    edges = np.concatenate([steps, [-700.0, 700.0, np.nextafter(700, 0), 0.0, half, -half, 1e-300]])
    for x in (exact(edges), dense(edges), exact(np.nextafter(edges, 0))):
        assert exponentials_of(world, x) == []
    beyond = double_double.exp(exact(np.array([-701.0, -1e300, 701.0, 1e300])))
    assert beyond.high.tolist() == [0.0] * 4
    assert (beyond.error[:2] == double_double.TINY).all()
    assert (beyond.error[2:] == np.inf).all()
    vague = DoubleDouble(np.array([-701.0, 1.0]), np.zeros(2), np.array([2.0, 1.5]))
    assert (double_double.exp(vague).error == np.inf).all()


def test_logarithms_hold_near_one_and_far():
    """Near 1, where the logarithm is small, near the ends of the range, and of 1 itself."""
    world = World(2, -4, 4)
    far = [2.0**-1000, 2.0**1000, 1e-300, 1e300, 1.0, np.nextafter(1, 0), np.nextafter(1, 2)]
    near = 1 + np.ldexp(world.rng.uniform(-1, 1, 60), -world.rng.integers(1, 60, 60))
    for x in (exact(np.array(far)), dense(near), exact(near)):
        assert logarithms_of(world, x) == []
    doubtful = DoubleDouble(np.array([0.0, -1.0, 1.0]), np.zeros(3), np.array([0.0, 0.0, 1.0]))
    assert (double_double.log(doubtful).error == np.inf).all()


def test_waves_hold_at_the_edges_of_their_table():
    """At the points of the table, half way between two and at multiples of quarter turns, up
    to 2**15, with all bits a pair can have."""
    world = World(4, -4, 4)
    half = np.pi / 512
    steps = world.rng.integers(-5_000_000, 5_000_000, 300) * half
    quarters = np.arange(-20, 20) * np.pi / 2
    edges = np.concatenate([steps, quarters, [2.0**15, -(2.0**15), 0.0, 1e-300, 5e-324, half]])
    for x in (exact(edges), dense(edges), exact(np.nextafter(edges, 0))):
        assert waves_of(world, x) == []
        known = np.abs(x.high) <= 2.0**15
        assert np.isfinite(double_double.sin(x).error[known]).all()


def test_the_error_function_holds_at_the_edges_of_its_table():
    """At the points of the table, half way, and from 8 on, where 1 is left."""
    world = World(5, -4, 4)
    steps = world.rng.integers(-1100, 1100, 300) / 128
    edges = np.concatenate([steps, [8.0, -8.0, np.nextafter(8, 9), 1e300, 0.0, 1e-300, 5e-324]])
    for x in (exact(edges), dense(edges), exact(np.nextafter(edges, 0))):
        assert errors_of(world, x) == []
        assert (double_double.erf(x).error < 2.0**-92).all()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["sin", "cos", "erf"])
def test_a_hundred_thousand_points_are_within_the_bound(name):
    """Held against Arb at 200 bits, at all sizes, near the zeros of waves most of all."""
    rng = np.random.default_rng(6)
    drawn = rng.uniform(-1, 1, 50_000) * 2.0 ** rng.integers(-40, 15, 50_000)
    zeros = rng.integers(-20_000, 20_000, 50_000) * (np.pi / 2)
    near = zeros + np.spacing(zeros) * rng.integers(-3, 4, 50_000)
    x = np.concatenate([drawn, near / (1 if name != "erf" else 2000)])
    found = getattr(double_double, name)(exact(x.reshape(100, -1)))
    parts = (part.ravel().tolist() for part in (found.high, found.low, found.error))
    function = getattr(arb, name)
    with precision(200):
        for number, high, low, error in zip(x.tolist(), *parts, strict=True):
            assert error < 2.0**-86
            # Arb's own enclosure is not a point.
            assert abs(function(arb(number)) - arb(high) - arb(low)) < arb(error) + arb(2) ** -150


# -- a bound that is too small is seen -----------------------------------------------------


def fewer(monkeypatch):
    """Three slices where there should be four."""
    cut = double_double._slices

    def cut_short(x, bits, axis):
        found, above, rest = cut(x, bits, axis)
        return found[:3], above, rest

    monkeypatch.setattr(double_double, "_slices", cut_short)


def short(monkeypatch):
    """Products without those of the low floats."""

    def multiply_pairs(a, b, c, d):
        return double_double.two_product(a, c)

    monkeypatch.setattr(double_double, "multiply_pairs", multiply_pairs)


def both(monkeypatch):
    """Numbers told apart whatever their errors are."""
    monkeypatch.setattr(double_double, "is_apart", lambda x: x.high != 0)


def thin(module, name, value):
    """A constant that claims too much."""
    return lambda monkeypatch: monkeypatch.setattr(module, name, value)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("law", "fault"),
    [
        (adding, thin(double_double, "PAIR", 2.0**-106)),
        (multiplying, thin(double_double, "PAIR", 2.0**-106)),
        (multiplying, thin(double_double, "TINY", 0.0)),
        (multiplying, short),
        (dividing, thin(double_double, "PAIR", 2.0**-106)),
        (dividing, thin(double_double, "TINY", 0.0)),
        (rooting, thin(double_double, "PAIR", 2.0**-106)),
        (rooting, thin(double_double, "TINY", 0.0)),
        (summing, thin(double_double, "PAIR", 2.0**-112)),
        (products_of_matrices, thin(double_double, "TINY", 0.0)),
        (long_products, fewer),
        (exponentials_of, thin(double_double, "_EXP", 2.0**-96)),
        (exponentials_of, thin(double_double, "TINY", 0.0)),
        (logarithms_of, thin(double_double, "_EXP", 2.0**-96)),
        (waves_of, thin(double_double, "_SERIES", 2.0**-110)),
        (waves_of, thin(double_double, "PAIR", 2.0**-112)),
        (waves_of, thin(double_double, "_TERMS", 10)),
        (errors_of, thin(double_double, "_SERIES", 2.0**-110)),
        (errors_of, thin(double_double, "_ONE", 5)),
        (choosing, both),
    ],
)
def test_a_bound_that_claims_too_much_is_found(law, fault, monkeypatch):
    """With a constant that is too small, or a part left out, the laws fail."""
    fault(monkeypatch)
    assert any(law(World(seed, *ends)) for seed in range(40) for ends in RANGES)


# -- what is not known, hidden, or nothing ---------------------------------------------------


def test_what_is_not_known_stays_unknown():
    """An error without bound goes through every operation, and overflow makes one."""
    unknown = DoubleDouble(np.zeros(1), np.zeros(1), np.array([np.inf]))
    one = exact(np.ones(1))
    row = partial(DoubleDouble.map, change=lambda part: part.reshape(1, 1))
    for found in (
        double_double.add(unknown, one),
        double_double.multiply(unknown, one),
        double_double.divide(one, unknown),
        double_double.sqrt(unknown),
        double_double.negative(unknown),
        double_double.total(unknown, 0),
        double_double.exp(unknown),
        double_double.log(unknown),
        double_double.sin(unknown),
        double_double.cos(unknown),
        double_double.erf(unknown),
        double_double.maximum(unknown, one),
        double_double.maximum(one, unknown),
        double_double.sign(unknown),
        double_double.sin(exact(np.array([32769.0]))),
        double_double.cos(exact(np.array([-1e300]))),
        double_double.matmul(row(unknown), row(exact(np.zeros(1)))),
        double_double.matmul(row(one), row(unknown)),
        double_double.add(exact(np.array([1.7e308])), exact(np.array([1.7e308]))),
        double_double.multiply(exact(np.array([1e200])), exact(np.array([1e200]))),
        double_double.divide(one, exact(np.zeros(1))),
        double_double.sqrt(exact(-np.ones(1))),
        double_double.matmul(row(exact(np.array([1e300]))), row(exact(np.array([1e300])))),
    ):
        assert found.error == np.inf
        assert np.isfinite([found.high, found.low]).all()


def test_masked_scores_stay_masked_beside_what_is_positive():
    """A sum with one, a positive multiple and a share of it are masked; what is not known
    to be positive makes nothing known of it; its exponential is exactly 0."""
    masked = exact(np.array([-np.inf]))
    two, zero = exact(np.array([2.0])), exact(np.array([0.0]))
    vague = DoubleDouble(np.array([1.0]), np.array([0.0]), np.array([1.0]))
    for found in (
        double_double.add(masked, two),
        double_double.add(two, masked),
        double_double.multiply(masked, two),
        double_double.multiply(two, masked),
        double_double.divide(masked, two),
    ):
        assert found.masked.all()
        assert (found.low == 0).all()
        assert (found.error == 0).all()
    for found in (
        double_double.multiply(masked, zero),
        double_double.multiply(masked, vague),
        double_double.multiply(masked, double_double.negative(two)),
        double_double.multiply(masked, masked),
        double_double.divide(masked, vague),
        double_double.divide(two, masked),
        double_double.negative(masked),
        double_double.log(masked),
        double_double.sin(masked),
        double_double.cos(masked),
        double_double.erf(masked),
    ):
        assert not found.masked.any()
        assert found.error == np.inf
    assert double_double.exp(masked).is_zero.all()
    for found in (double_double.maximum(masked, vague), double_double.maximum(vague, masked)):
        assert found.high == found.error == 1
    assert double_double.maximum(masked, masked).masked.all()


def test_zeros_are_exact():
    """A factor that is 0, sums that cancel, a root of 0 and rows of zeros make exact
    zeros; a factor that is only next to 0 doesn't, however small its bound."""
    zero, some_number = exact(np.zeros((2, 2))), dense(np.full((2, 2), 0.3))
    made = DoubleDouble(some_number.high, some_number.low, np.full((2, 2), 0.1))
    for found in (
        double_double.multiply(zero, made),
        double_double.divide(zero, made),
        double_double.add(some_number, double_double.negative(some_number)),
        double_double.sqrt(zero),
        double_double.total(zero, 0),
        double_double.matmul(zero, made),
        double_double.matmul(made, zero),
        double_double.sin(zero),
        double_double.erf(zero),
        double_double.add(double_double.cos(zero), exact(-np.ones((2, 2)))),
        double_double.maximum(zero, double_double.negative(made)),
        double_double.sign(zero),
    ):
        assert found.is_zero.all()
    next_to = DoubleDouble(np.zeros((2, 2)), np.zeros((2, 2)), np.full((2, 2), 2.0**-1000))
    small = exact(np.full((2, 2), 2.0**-500))
    for found in (
        double_double.multiply(next_to, small),
        double_double.divide(next_to, exact(np.full((2, 2), 2.0**500))),
        double_double.matmul(next_to, small),
        double_double.matmul(small, next_to),
        double_double.matmul(small, double_double.multiply(small, small)),
    ):
        assert not found.is_zero.any()


def test_large_arrays_are_done_in_blocks():
    """By blocks of rows, whatever is broadcast to what, the results are the same."""
    world = World(3, -20, 20)
    wide, column, row = world.pairs((3, 7, 1201)), world.pairs((7, 1)), world.pairs((1201,))
    for operation in (double_double.add, double_double.multiply, double_double.divide):
        for x, y in ((wide, column), (row, wide), (wide, wide), (column, row)):
            found, whole = operation(x, y), inspect.unwrap(operation)(x, y)
            for part in ("high", "low", "error"):
                assert (getattr(found, part) == getattr(whole, part)).all()
    exps = double_double.exp(wide), inspect.unwrap(double_double.exp)(wide)
    assert (exps[0].high == exps[1].high).all()
    assert exps[0].shape == wide.shape


# -- pairs around balls ----------------------------------------------------------------------


@some
@given(worlds, st.sampled_from([128, 512]))
def test_pairs_around_balls_hold_them(world, bits):
    """Both ends of a ball are within the pair's bound."""
    x = world.pairs(30)
    with precision(bits):
        parts = (x.high, x.low, x.error)
        rows = zip(*(part.tolist() for part in parts), strict=True)
        balls = [arb(h) * (arb(l) + 1).exp() + arb(0, e) for h, l, e in rows]
    found = double_double.of_balls(balls, bits)
    for end in (arb.lower, arb.upper):
        assert outside(found, each(end, np.array([*balls, None], dtype=object)[:-1])) == []
    assert found.error[(x.high == 0) & (x.error == 0)].tolist() == [0.0] * int(
        ((x.high == 0) & (x.error == 0)).sum()
    )


def test_balls_without_bounds_are_not_known():
    """What is no number, has no bound or is beyond floats; None is a masked score."""
    with precision(128):
        balls = [arb("nan"), arb("inf"), arb("-inf"), arb(0, "inf"), arb(2) ** 1030, None]
    found = double_double.of_balls(balls, 128)
    assert found.error.tolist() == [np.inf] * 5 + [0.0]
    assert found.masked.tolist() == [False] * 5 + [True]
    with precision(128):
        tiny = arb(2) ** -1100
    assert not double_double.of_balls([tiny], 128).is_zero.any()


def test_parts_are_joined_along_an_axis():
    """The parts of a whole, put together again, are the whole."""
    whole = World(4, -20, 20).pairs((4, 6))
    halves = [whole.map(lambda part, k=k: part[:, k : k + 3]) for k in (0, 3)]
    again = double_double.joined(halves, 1)
    for part in ("high", "low", "error"):
        assert (getattr(again, part) == getattr(whole, part)).all()
