"""How many figures a second the audit judges, without start-up, and what its search takes."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from symattn.auditing import search
from symattn.auditing.audit import audit
from symattn.numbers.rationals import read_printed
from symattn.solution.solution import Solution, solve
from tests.auditing.planting import document

NAMES = ("cat-sat-mat", "please-study-man", "length-4-causal", "the-cat-sleeps")


def judged(name: str) -> Any:
    """The audit of a bundled document, or of one with a mistake in its recipe, solved anew."""
    if name != "planted":
        return audit(solve(name))
    return audit(Solution(document(Random(6), "scale-dropped").case))


@pytest.mark.parametrize("name", [*NAMES, "planted"])
def test_audit(benchmark: Any, name: str) -> None:
    """Every figure judged, and causes looked for."""
    benchmark.group = f"audit of {name}"
    found = benchmark.pedantic(judged, args=(name,), rounds=3, warmup_rounds=1)
    benchmark.extra_info["figures"] = len(found.figures)
    benchmark.extra_info["tried"] = found.tried
    assert len(found.figures) > 20


@pytest.mark.parametrize("name", [*NAMES, "planted"])
def test_audit_without_a_search(benchmark: Any, monkeypatch: Any, name: str) -> None:
    """Every figure judged, each with a cause of its own: repeated, carried, cut off."""
    monkeypatch.setattr(search, "WORK", 0)
    benchmark.group = f"audit of {name}"
    found = benchmark.pedantic(judged, args=(name,), rounds=3, warmup_rounds=1)
    assert found.causes == ()


@pytest.mark.benchmark(group="audit")
def test_hundreds_of_wrong_figures(benchmark: Any) -> None:
    """Every figure of the largest document replaced by nonsense: the search is bounded."""
    solution = solve("cat-sat-mat")

    wrong = read_printed("7.3519")
    claims = tuple(
        replace(claim, printed=tuple((wrong,) * len(row) for row in claim.printed))
        for claim in solution.case.claims
        if claim.of
    )
    solution.case = replace(solution.case, claims=claims)
    found = benchmark.pedantic(lambda: audit(solution), rounds=1)
    benchmark.extra_info["figures"] = len(found.figures)
    assert found.summary["refuted"] == len(found.figures)
