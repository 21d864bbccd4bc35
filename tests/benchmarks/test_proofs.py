"""How fast the derivations are written down and confirmed, beside SymPy's indexed route."""

from __future__ import annotations

from typing import Any

import pytest

from symattn.proofs import ENTRIES


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


@pytest.mark.benchmark(group="softmax Jacobian for any size")
def test_jacobian(benchmark: Any) -> None:
    """Ours: every line and matrix form, confirmed for all sizes and at concrete ones."""
    assert benchmark(ENTRIES["softmax-jacobian"]).proved


@pytest.mark.benchmark(group="softmax Jacobian for any size")
def test_jacobian_by_sympy(benchmark: Any) -> None:
    """SymPy: the derivative alone."""
    import sympy

    def fresh() -> Any:
        sympy.core.cache.clear_cache()
        return sympy_jacobian()

    benchmark(fresh)


@pytest.mark.benchmark(group="derivations")
def test_gradients(benchmark: Any) -> None:
    """All gradients of attention, through the projections too."""
    assert benchmark.pedantic(ENTRIES["attention-gradients"], rounds=3, warmup_rounds=1).proved


@pytest.mark.benchmark(group="derivations")
def test_all(benchmark: Any) -> None:
    """All derivations, written down and confirmed."""

    def everything() -> bool:
        return all(entry().proved for entry in ENTRIES.values())

    assert benchmark.pedantic(everything, rounds=3, warmup_rounds=1)
