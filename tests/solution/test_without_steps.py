"""Cases without steps: what is given and mere numbers, of which claims are made."""

from __future__ import annotations

import json
import tomllib

import pytest

import symattn
from symattn.cases.case import make
from symattn.errors import Malformed, UnknownName
from symattn.exercises.exercise import exercise
from symattn.printers.markdown import document
from symattn.solution.template import template
from symattn.verdicts import Verdict
from symattn.verification import verify

GIVEN = {"X": [[1, 2], [3, 4]], "d": 2}
CLAIMS = [
    {"as_printed": "[[1, 2]] @ [[3], [4]]", "printed": 12},
    {"of": "softmax(X)[0]", "printed": ["0.27", "0.73"]},
    {"holds": "d == 2"},
]


def case(given=GIVEN, claims=CLAIMS[:1]):
    """A case without steps."""
    return make("numbers", given, {}, claims=claims, tokens=["a", "b"] if given else ())


def test_what_is_given_is_all_there_is():
    """Quantities are those that are given; expressions over them have values, and there are
    no gradients."""
    solution = symattn.solve(case())
    assert [*solution] == ["X", "d"]
    assert str(solution["X[1] / d"]) == "[3/2, 2]"
    assert solution.symbolic["X"].equals(solution["X"]) is Verdict.HOLDS
    with pytest.raises(UnknownName, match=r"say of which number, as in grad\(L, X\)"):
        solution.gradient("X")
    with pytest.raises(UnknownName, match="say of which number"):
        solution.symbolic["dL/dX"]


@pytest.mark.parametrize("given", [GIVEN, {}], ids=["given", "nothing"])
def test_its_claims_are_judged(given):
    """Of numbers always, of quantities and statements where they are given."""
    found = symattn.audit(case(given, CLAIMS if given else CLAIMS[:1]))
    assert found.count(Verdict.REFUTED) == 1
    assert found.figures[0].correct == "11"
    assert found.count(Verdict.HOLDS) == (3 if given else 0)


@pytest.mark.parametrize("given", [GIVEN, {}], ids=["given", "nothing"])
def test_it_is_verified(given):
    """Each quantity that there is, by both."""
    found = verify(case(given))
    assert found.verdict is Verdict.HOLDS
    assert [check.quantity for check in found.checks] == [*given]
    assert (found.probed, found.probes) == (0, 0)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("audience", ["student", "teacher", "author"])
@pytest.mark.parametrize("given", [GIVEN, {}], ids=["given", "nothing"])
def test_its_sheet_says_that_there_is_nothing_to_derive(given, audience, language):
    """With what is given and what the document prints, without headings over nothing."""
    text = document(symattn.sheet(case(given), audience=audience, language=language))
    nothing = "there is nothing to derive" if language == "en" else "nichts herzuleiten"
    assert nothing in text
    assert "Forward" not in text
    assert "Backward" not in text
    assert ("# Given" in text or "# Gegeben" in text) is bool(given)


def test_what_there_is_nothing_for():
    """A drawing and an exercise need steps, and say so."""
    with pytest.raises(Malformed, match="numbers has no steps: nothing to draw"):
        symattn.draw(case())
    with pytest.raises(Malformed, match="no step that computes anything"):
        exercise(case())


def test_its_template_is_a_file_to_start_from():
    """With what is given, and no steps yet."""
    read = tomllib.loads(template(symattn.solve(case())))
    assert (json.loads(json.dumps(read["given"])), read["steps"]) == (GIVEN, {})
