"""What the two witnesses are measured with: true lines, false ones, and false ones times what
is 0 at random points, each by the hundreds (``python -m tests.calculus.measure`` makes more)."""

from __future__ import annotations

from itertools import islice

import pytest

from symattn.calculus import judging

from .measure import falsehood, judge, judged, mutants, true_lines, vanishing

#: All of them take minutes; CI takes some.
ALL = pytest.mark.campaign


@pytest.mark.heavy
@pytest.mark.parametrize("step", [pytest.param(1, marks=ALL), 12])
def test_what_is_true_by_construction_is_so_in_numbers(step) -> None:
    """The oracle finds no generated line false, nor one without a meaning."""
    cases = list(true_lines(7, 0))
    assert len(cases) >= 1300
    assert len({case.family for case in cases}) >= 19
    assert [case for case in cases[::step] if falsehood(case.key, case.line) is not False] == []


@pytest.mark.heavy
@pytest.mark.parametrize("step", [pytest.param(1, marks=ALL), 15])
def test_no_true_line_is_refuted(step) -> None:
    """And none takes long."""
    seen = list(judged(list(true_lines(7, 0))[::step]))
    assert [case for case, line, _ in seen if line.status == "refuted"] == []
    assert max(seconds for *_, seconds in seen) < 20


@pytest.mark.heavy
@pytest.mark.parametrize("count", [pytest.param(2_000, marks=ALL), 200])
def test_no_false_mutant_holds(count, monkeypatch) -> None:
    """None is proved, and none stands all numbers; what each would have to say is not asked."""
    monkeypatch.setattr(judging, "hint", lambda *asked: "")
    seen = list(judged(list(mutants(count, 1 if count < 1_000 else 0))))
    assert len(seen) == count
    assert [c for c, line, _ in seen if line.status in ("proved", "checked")] == []


@pytest.mark.heavy
@pytest.mark.parametrize("count", [pytest.param(300, marks=ALL), 30])
def test_no_false_line_holds_for_a_factor_that_vanishes_nearly_everywhere(count) -> None:
    """And none is refuted at numbers where the oracle finds it true."""
    for case, line, _ in judged(list(islice(vanishing(count, 1), count))):
        assert not (case.false and line.status in ("proved", "checked")), case
        if line.counterexample and not case.false:
            assert judge(case.key).is_false_at(case.line, line.counterexample) is not False, case
