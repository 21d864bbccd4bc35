"""Floats of attention, forward and backward, held against MPFR's, in any number.

    python -m tests.solution.conversions 1000000

prints how many were converted, and every one that is not the same, the sign of zero
included. MPFR shares nothing with what makes the floats but the inputs.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any

import gmpy2
import numpy as np

from symattn import attention, from_floats
from symattn.numbers.formats import FORMATS

Array = np.ndarray[Any, Any]

NAMES = ("output", "dQ", "dK", "dV")


@dataclass(frozen=True)
class Inputs:
    """Queries, keys, values and the upstream gradient, arrays of floats or whole numbers; a
    mask of booleans; and bits that leave nothing in doubt."""

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


def by_mpfr(case: Inputs) -> list[Array]:
    """Output and gradients, as written down, in numbers of MPFR."""
    number = np.vectorize(gmpy2.mpfr, otypes=[object])
    power = np.vectorize(gmpy2.exp, otypes=[object])
    with gmpy2.context(precision=case.bits, emax=10**9, emin=-(10**9)):
        q, k, v, g = map(number, case.tables)
        scale = 1 / gmpy2.sqrt(gmpy2.mpfr(q.shape[1]))
        scores = q @ k.T * scale
        scores = scores - scores.max(axis=1, keepdims=True)
        powers = np.where(case.keep, power(scores), gmpy2.mpfr(0))
        weights = powers / powers.sum(axis=1, keepdims=True)
        flow = g @ v.T
        inner = weights * (flow - (weights * flow).sum(axis=1, keepdims=True)) * scale
        return [weights @ v, inner @ k, inner.T @ q, weights.T @ g]


def rounded(x: Any, bits: int, name: str) -> float:
    """A number of so many bits, nearly all of them right, as the nearest float."""
    form = FORMATS[name]  # type: ignore[index]
    with gmpy2.context(precision=bits // 2):
        x = +x
    if abs(x) < gmpy2.mpfr(2) ** -(bits // 2):
        return 0.0
    arithmetic = gmpy2.context(
        precision=form.digits,
        emax=form.highest + 1,
        emin=form.lowest - form.digits + 2,
        subnormalize=True,
    )
    with arithmetic:
        found = float(+x)
    return math.copysign(math.nan, found) if form.unused and abs(found) > 448 else found


def ours(case: Inputs) -> list[Any]:
    """Output and gradients, as quantities."""
    q, k, v, g = map(from_floats, case.tables)
    a = attention(q, k, v, mask=case.keep)
    back = a.backward(g)
    return [a.output, back.dQ, back.dK, back.dV]


def compared(seed: int) -> Iterator[tuple[str, float, float]]:
    """What each float is called, what it is here and what by MPFR."""
    case = inputs(seed)
    for name, quantity, exact in zip(NAMES, ours(case), by_mpfr(case), strict=True):
        for form in FORMATS:
            found = quantity.nearest(form).astype(float)
            for place in np.ndindex(*found.shape):
                wanted = rounded(exact[place], case.bits, form)
                yield f"{name}{[*place]} as {form}, seed {seed}", float(found[place]), wanted


def same(x: float, y: float) -> bool:
    """Whether two floats are the same, the sign of zero included."""
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y and math.copysign(1, x) == math.copysign(1, y)


def main(wanted: int) -> int:
    """Compare at least so many; how many differ."""
    done = wrong = 0
    for seed in count():
        if done >= wanted:
            break
        for name, found, truth in compared(seed):
            done += 1
            if not same(found, truth):
                wrong += 1
                print(f"{name}: {found.hex()}, by MPFR {truth.hex()}")
    print(f"{done} floats, {wrong} differ from MPFR's")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(int(Fraction(sys.argv[1])))))
