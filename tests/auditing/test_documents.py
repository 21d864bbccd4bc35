"""The bundled documents, audited as they are: what they come to, and what is reported."""

from __future__ import annotations

import json

import pytest

from symattn.auditing import reports
from symattn.auditing.audit import audit
from symattn.cases import library
from symattn.errors import Malformed
from symattn.verdicts import Verdict

from .papers import DOCUMENTS, document, solved


@pytest.mark.heavy
def test_the_bundled_documents():
    """How many figures each prints and how many are wrong; these were checked by hand."""
    found = {name: audit(solved(name)).summary for name in DOCUMENTS}
    assert found["the-cat-sleeps"]["figures"] == 25
    assert {name: summary["refuted"] for name, summary in found.items()} == {
        "cat-sat-mat": 56,
        "the-cat-sleeps": 4,
        "please-study-man": 55,
        "length-4-causal": 54,
    }


@pytest.mark.heavy
def test_the_causes_of_the_bundled_documents():
    """One exponential taken for another behind a whole row, one matrix used for another;
    the other roots have causes that nobody can name."""
    causes = {name: audit(solved(name)).causes for name in DOCUMENTS}
    assert {name for name, slips in causes.items() if slips} == {"please-study-man"}
    notes, study = causes["please-study-man"]
    assert "Y with V_other instead of V" in notes.sentence
    assert "exp(S)[1, 0] used instead of exp(S)[1, 2]" in study.sentence
    explained = {figure.label for figure in study.explains}
    assert {"exp(S[1, 2])", "A[1, 0]", "A[1, 1]", "A[1, 2]", "total(exp(S[1]))"} <= explained
    roots = [figure for figure in study.explains if figure.cause == "root"]
    assert [figure.label for figure in roots] == ["A[1, 0]"]


@pytest.mark.parametrize(
    ("of", "printed", "said"),
    [
        ("A[0, 0]", "about a third", "printed"),
        ("A[0]", ["0.1", "x", "0.2", "0"], r"printed\[1\]"),
    ],
)
def test_unreadable_figures_are_faults(of, printed, said):
    """A figure that can't be read is a fault of the file, not a verdict."""
    with pytest.raises(Malformed, match=said):
        document((of, printed))


def test_reports_point_at_the_claims():
    """Annotations and SARIF name the line on which the claim stands, one for each root and
    one for each wrong figure."""
    found = audit(solved("cat-sat-mat-unscaled"))
    path = library.find("cat-sat-mat-unscaled")
    lines = path.read_text("utf-8").splitlines()
    entries = reports.as_dict(found)["claims"]
    assert {entry["where"] for entry in entries} == {claim.where for claim in found.case.claims}
    for entry in entries:
        at = entry["line"] - 1
        assert lines[at : at + 2] == ["[[claims]]", f'where = "{entry["where"]}"']
    log = json.loads(reports.sarif([found], "0"))
    results = log["runs"][0]["results"]
    assert log["version"] == "2.1.0"
    assert {result["ruleId"] for result in results} <= set(reports.RULES)
    assert len(results) == found.count(Verdict.REFUTED) > 0
    assert reports.github([found]).count("::error") == len(found.roots) > 0
