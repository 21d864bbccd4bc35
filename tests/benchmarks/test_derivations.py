"""How fast derivations are read and judged, beside SymPy's bare indexed derivative."""

from __future__ import annotations

from typing import Any

import pytest

from symattn.calculus.library import derivation, derive, draft_of, names

JACOBIAN = """
title = "The Jacobian of softmax"
sizes = ["n"]
[shapes]
S = ["n"]
[define]
"A[i]" = "exp(S[i]) / sum(j, exp(S[j]))"
[[lines]]
line = "diff(A[i], S[k]) == A[i] * (delta(i, k) - A[k])"
"""


def sympy_jacobian() -> Any:
    """The softmax Jacobian by SymPy's indexed expressions, without confirming anything."""
    import sympy
    from sympy.concrete.delta import deltasummation

    n = sympy.Symbol("n", integer=True, positive=True)
    i, j, k = (sympy.Dummy(letter, integer=True) for letter in "ijk")
    scores = sympy.IndexedBase("S", shape=(n,))
    normaliser = sympy.Sum(sympy.exp(scores[j]), (j, 1, n))
    power = sympy.exp(scores[i])
    slope = deltasummation(sympy.exp(scores[j]).diff(scores[k]), (j, 1, n), no_piecewise=True)
    return power.diff(scores[k]) / normaliser - power * slope / normaliser**2


def fresh() -> None:
    """Forget what was derived before."""
    import sympy

    sympy.core.cache.clear_cache()
    derivation.cache_clear()
    draft_of.cache_clear()


@pytest.mark.benchmark(group="softmax Jacobian for any size")
def test_jacobian(benchmark: Any) -> None:
    """Ours: read, derived and confirmed by both witnesses."""

    def run() -> Any:
        fresh()
        return derive(JACOBIAN)

    assert benchmark(run).proved


@pytest.mark.benchmark(group="softmax Jacobian for any size")
def test_jacobian_by_sympy(benchmark: Any) -> None:
    """SymPy: the derivative alone."""

    def run() -> Any:
        fresh()
        return sympy_jacobian()

    benchmark(run)


@pytest.mark.benchmark(group="derivations")
@pytest.mark.parametrize("name", names())
def test_entry(benchmark: Any, name: str) -> None:
    """A bundled derivation, read and judged with its reasons."""

    def run() -> Any:
        fresh()
        return derivation(name)

    assert benchmark.pedantic(run, rounds=2).proved


@pytest.mark.heavy
@pytest.mark.benchmark(group="derivations")
def test_all(benchmark: Any) -> None:
    """All of them."""

    def everything() -> bool:
        fresh()
        return all(derivation(name).proved for name in names())

    assert benchmark.pedantic(everything, rounds=2, warmup_rounds=1)
