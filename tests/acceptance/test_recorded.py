"""What users rely on stays: every fact of every subject is as it was recorded."""

from __future__ import annotations

import pytest

from tests.acceptance.facts import KINDS, facts
from tests.acceptance.recorded import recorded

SUBJECTS = [(kind, subject) for kind, (subjects, _) in KINDS.items() for subject in subjects()]


@pytest.mark.sampled(8, 60)
@pytest.mark.parametrize(("kind", "subject"), SUBJECTS, ids=map("-".join, SUBJECTS))
def test_the_facts_are_as_recorded(kind, subject):
    """Values, verdicts, causes and proofs are those of the table."""
    found, known = facts(kind, subject), recorded(kind)[subject]
    names = [*dict.fromkeys((*known, *found))]
    changed = [name for name in names if found.get(name) != known.get(name)]
    shown = [f"{name}: {known.get(name)}, now {found.get(name)}" for name in changed[:10]]
    assert not changed, "\n".join([f"{len(changed)} facts changed", *shown])


@pytest.mark.parametrize("kind", KINDS)
def test_every_subject_is_recorded(kind):
    """A case, a derivation, an article or a kernel that is added has its facts recorded."""
    assert sorted(recorded(kind)) == sorted(KINDS[kind][0]())
