"""How many figures a second the audit judges, without start-up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from symattn.auditing.audit import audit
from symattn.numbers.printed import read_printed
from symattn.solution.solution import solve

NAMES = ("cat-sat-mat", "please-study-man", "length-4-causal", "the-cat-sleeps")


@pytest.mark.benchmark(group="audit")
@pytest.mark.parametrize("name", NAMES)
def test_bundled(benchmark: Any, name: str) -> None:
    """A bundled document, solved anew each time."""
    found = benchmark(lambda: audit(solve(name)))
    benchmark.extra_info["figures"] = len(found.figures)
    assert len(found.figures) > 20


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
