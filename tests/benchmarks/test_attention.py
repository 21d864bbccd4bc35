"""Attention of arrays beside a bare kernel in the same run; nothing here asserts a time.

Ours starts where a user does, at text or an array, and ends with certified floats; the kernel
starts at balls that are ready, and ends with balls. What is wanted of each group stands in
:data:`WANTED`.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import isqrt
from time import process_time
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat, ctx, fmpz_poly

from symattn import attention, from_floats
from symattn.numbers.balls import precision
from symattn.numbers.float_formats import FloatFormat

from .. import bare

#: At most so much of the peer's time.
WANTED = {
    "fractions as text, n = d = 64, to float64; Arb at 128 bits": 2,
    "float32, n = d = 256, to float32; Arb at 64 bits": 1 / 4,
    "float64, n = d = 256, to float64; Arb at 128 bits": 1,
    "float32, causal, 2x8 heads, n = d = 64, to float32; 16 Arb kernels at 128 bits": 1 / 2,
    "int8, n = 24, d = 64, to float64; decimals of 3 digits": 3,
    "closed forms O and dQ, n = d = 16, small integers; pairs in polynomials": 2,
    "closed forms O, dQ, dK, dV as text, n = d = 4, small integers; SymEngine in stages": 1,
    "closed forms O and dQ, n = d = 32, small integers; ours, n = d = 16": 10,
    "closed forms O, dQ, dK, dV as text, n = d = 32, small integers; ours, n = d = 16": 10,
}
TEXT, DOUBLE = [name for name in WANTED if "float64; Arb" in name]

Tables = Sequence[Any]
RNG = np.random.default_rng(0)


def ours(tables: Tables, name: FloatFormat, **options: Any) -> list[Any]:
    """Output, dQ, dK and dV as correctly rounded floats."""
    a = attention(*tables[:3], **options)
    back = a.backward(tables[3])
    return [part.nearest(name) for part in (a.output, back.dQ, back.dK, back.dV)]


def kernel(tables: Sequence[arb_mat], bits: int) -> list[arb_mat]:
    """The same in balls, unrounded."""
    with precision(bits):
        return bare.attention(tables)


def fractions(n: int) -> list[list[str]]:
    """A matrix of reproducible fractions as text."""
    draw = random.Random(n)
    return [[f"{draw.randint(-99, 99)}/{draw.randint(50, 99)}" for _ in range(n)] for _ in range(n)]


def balls(table: Any, bits: int = 128) -> arb_mat:
    """A matrix of numbers as balls."""
    before, ctx.prec = ctx.prec, bits
    try:
        return arb_mat(
            [
                [arb(x.numerator) / x.denominator for x in map(Fraction, row)]
                for row in (table.tolist() if isinstance(table, np.ndarray) else table)
            ]
        )
    finally:
        ctx.prec = before


def text() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Fractions as text."""
    tables = [fractions(64) for _ in range(4)]
    ready = [balls(table) for table in tables]
    return lambda: ours(tables, "float64"), lambda: kernel(ready, 128)


def single() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Arrays of float32."""
    arrays = list(RNG.normal(size=(4, 256, 256)).astype(np.float32))
    ready = [balls(array, 64) for array in arrays]
    return lambda: ours([*map(from_floats, arrays)], "float32"), lambda: kernel(ready, 64)


def double() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Arrays of float64."""
    arrays = list(RNG.normal(size=(4, 256, 256)))
    ready = [balls(array) for array in arrays]
    return lambda: ours([*map(from_floats, arrays)], "float64"), lambda: kernel(ready, 128)


def heads() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A batch of heads; the kernels know no mask."""
    arrays = RNG.normal(size=(4, 2, 8, 64, 64)).astype(np.float32)
    ready = [[balls(array[b, h]) for array in arrays] for b in range(2) for h in range(8)]
    return (
        lambda: ours([*map(from_floats, arrays)], "float32", causal=True),
        lambda: [kernel(one, 128) for one in ready],
    )


def int8() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Integers of 8 bits, whose rows have one weight that is nearly 1, beside decimals."""
    whole = list(RNG.integers(-128, 128, size=(4, 24, 64)))
    decimals = [(np.round(x * 7.8125) / 1000).astype(str).tolist() for x in whole]
    return lambda: ours(whole, "float64"), lambda: ours(decimals, "float64")


def forms() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Closed forms: every entry of O and dQ.

    Ours end where the peer's do, with the polynomials held: in normal form, every normaliser
    that cancels cancelled. They are unpacked, held against balls and written down as terms
    when an entry is used, which is not in the time.
    """
    q, k, v, g = RNG.integers(-2, 3, size=(4, 16, 16)).tolist()

    def closed() -> list[Any]:
        a = attention(q, k, v, scale=1)
        values = [x for part in (a.output, a.backward(g).dQ) for x in part.values()]
        assert all(value.waits or value.number is not None for value in values)
        return values

    return closed, lambda: pairs(q, k, v, g)


def pairs(q: Tables, k: Tables, v: Tables, g: Tables) -> list[fmpz_poly]:
    """Numerators of O over Z and of dQ over Z**2, and Z, row by row, as polynomials in e:
    ``sum over j < l of e**(s_j + s_l) (dA_j - dA_l) (K_jc - K_lc)``."""
    found = []
    for query, upstream in zip(q, g, strict=True):
        scores = [sum(x * y for x, y in zip(query, key, strict=True)) for key in k]
        least = min(scores)
        powers = [score - least for score in scores]
        flows = [sum(x * y for x, y in zip(upstream, value, strict=True)) for value in v]
        length = max(powers) + 1
        for column in ([1] * len(k), *zip(*v, strict=True)):
            above = [0] * length
            for power, number in zip(powers, column, strict=True):
                above[power] += number
            found.append(fmpz_poly(above))
        steps = [
            (powers[j] + powers[m], flows[j] - flows[m], j, m)
            for j, m in combinations(range(len(k)), 2)
        ]
        for column in zip(*k, strict=True):
            above = [0] * (2 * length - 1)
            for power, flow, j, m in steps:
                above[power] += flow * (column[j] - column[m])
            found.append(fmpz_poly(above))
    return found


def small(n: int, count: int = 1) -> Iterator[list[Any]]:
    """So many times four matrices of small integers at once, always others."""
    while True:
        yield RNG.integers(-2, 4, size=(count, 4, n, n)).tolist()


def printed() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Closed forms as text, of ten times four matrices that nobody has seen before, from the
    reading of the numbers on; SymEngine is told what to do, and has expanded forms."""
    symengine = pytest.importorskip("symengine", reason="SymEngine is the peer here")
    cases = small(4, 10)
    return (
        lambda: [ours_as_text(tables) for tables in next(cases)],
        lambda: [staged(symengine, tables) for tables in next(cases)],
    )


def closed(tables: Sequence[list[Any]], *gradients: str) -> list[Any]:
    """Closed forms of the output and of gradients. The scale is rational, as it is by itself
    where d is a square."""
    q, k, v, g = tables
    a = attention(q, k, v, scale=Fraction(1, isqrt(len(q))))
    back = a.backward(g)
    return [x for part in (a.output, *map(back.__getitem__, gradients)) for x in part.values()]


def ours_as_text(tables: Sequence[list[Any]]) -> list[str]:
    """Output, dQ, dK and dV as text: digits where a form would be too long to be read."""
    return [str(x) for x in closed(tables, "dQ", "dK", "dV")]


def staged(library: Any, tables: Sequence[Tables]) -> list[str]:
    """The same by a library for expressions: products, exponentials, weights and what flows
    back, one after the other, each entry expanded and written."""

    def times(left: Tables, turned: Tables) -> list[list[Any]]:
        return [[total(x * y for x, y in zip(a, b, strict=True)) for b in turned] for a in left]

    def total(terms: Iterable[Any]) -> Any:
        return library.Add(*terms)

    q, k, v, g = ([[library.Integer(x) for x in row] for row in table] for table in tables)
    root = library.sqrt(len(q[0]))
    powers = [[library.exp(x / root) for x in row] for row in times(q, k)]
    weights = [[x / total(row) for x in row] for row in powers]
    into = [
        [
            x * (y - total(map(operator.mul, row, flows))) / root
            for x, y in zip(row, flows, strict=True)
        ]
        for row, flows in zip(weights, times(g, v), strict=True)
    ]
    kt, qt, vt, gt, wt, it = ([*zip(*x, strict=True)] for x in (k, q, v, g, weights, into))
    found = times(weights, vt), times(into, kt), times(it, qt), times(wt, gt)
    return [str(library.expand(x)) for part in found for row in part for x in row]


def larger() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Closed forms of twice the size, as polynomials, beside those of the size."""
    twice, once = small(32), small(16)
    return lambda: closed(next(twice)[0], "dQ"), lambda: closed(next(once)[0], "dQ")


def larger_printed() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The same as text, with all gradients."""
    twice, once = small(32), small(16)
    return lambda: ours_as_text(next(twice)[0]), lambda: ours_as_text(next(once)[0])


ROWS = text, single, double, heads, int8, forms, printed, larger, larger_printed
WORK = dict(zip(WANTED, ROWS, strict=True))


def taken(work: Callable[[], Any]) -> float:
    """Milliseconds of processor time that work takes."""
    start = process_time()
    work()
    return 1000 * (process_time() - start)


@pytest.mark.parametrize("group", WANTED)
def test_attention(benchmark: Any, capsys: pytest.CaptureFixture[str], group: str) -> None:
    """Ours and the peer in turns; of each the quickest round, in processor time."""
    work, peer = WORK[group]()
    mine, theirs = [], []
    peer()
    benchmark.pedantic(
        lambda: mine.append(taken(work)),
        setup=lambda: theirs.append(taken(peer)),
        rounds=5,
        warmup_rounds=1,
    )
    ratio = min(mine) / min(theirs)
    benchmark.extra_info |= {"ours": min(mine), "peer": min(theirs), "ratio": ratio}
    with capsys.disabled():
        times = f"{min(mine):.1f} ms beside {min(theirs):.1f} ms"
        print(f"\n{group}: {times}, {ratio:.2f} (wanted: {WANTED[group]:g})")


@pytest.mark.parametrize("group", [TEXT, DOUBLE])
def test_the_same_is_computed(group: str) -> None:
    """Our floats are the middles of the kernel's balls."""
    work, peer = WORK[group]()
    for floats, one in zip(work(), peer(), strict=True):
        assert floats.tolist() == [[float(x) for x in row] for row in one.tolist()]


def test_the_same_forms() -> None:
    """Our closed forms of O and dQ are the quotients of the peer's polynomials."""
    closed, peer = forms()
    e = arb(1).exp()
    values, found = iter(closed()), peer()
    output = [[next(values) for _ in range(16)] for _ in range(16)]
    gradient = [[next(values) for _ in range(16)] for _ in range(16)]
    for i in range(16):
        below, *above = (poly(e) for poly in found[33 * i : 33 * (i + 1)])
        for value, number in zip(output[i], above[:16], strict=True):
            assert value.ball(64).overlaps(number / below)
        for value, number in zip(gradient[i], above[16:], strict=True):
            assert value.ball(64).overlaps(number / below**2)


def test_the_same_text() -> None:
    """What we write is the number that SymEngine's expanded form is, entry by entry."""
    symengine = pytest.importorskip("symengine", reason="SymEngine is the peer here")
    ((tables,),) = [next(small(4))]
    for value, text in zip(
        closed(tables, "dQ", "dK", "dV"), staged(symengine, tables), strict=True
    ):
        number = float(symengine.sympify(text).n(53, real=True))
        assert number == pytest.approx(value.nearest(), rel=1e-9, abs=1e-9)
