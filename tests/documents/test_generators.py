"""The generators of hostile documents make what they say."""

from __future__ import annotations

import re

import pytest

from tests.documents.hostile import DOCUMENTS, EITHER, READ, REFUSED

AWKWARD = [x for x in DOCUMENTS if x.slips]


def test_each_document_has_a_name_of_its_own(tmp_path):
    """Documents can lie in one folder; what is expected of each is one of three."""
    assert len({x.name for x in DOCUMENTS}) == len(DOCUMENTS) > 200
    assert {x.expected for x in DOCUMENTS} == {EITHER, READ, REFUSED}
    path = DOCUMENTS[0].write(tmp_path)
    assert path.read_bytes() == DOCUMENTS[0].make()


@pytest.mark.parametrize("awkward", AWKWARD, ids=[x.name for x in AWKWARD])
def test_slips_stand_where_they_are_said_to(awkward):
    """At their line and column, both from 1."""
    lines = re.split("\\r\\n|\\n", awkward.make().decode("utf-8-sig"))
    for line, column, printed in awkward.slips:
        assert lines[line - 1][column - 1 :].startswith(printed)
