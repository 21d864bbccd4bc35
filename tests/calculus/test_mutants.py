"""A slip in any line: none of the false mutants of true lines is proved.

Whether a mutant is false is decided by an oracle that shares nothing with the
package but the grammar. ``SYMATTN_MUTANTS=10000`` tries so many (about 900 unless
it is set).
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from symattn.calculus import draft, line_reading
from symattn.calculus.judging import derived
from symattn.errors import Malformed
from symattn.expressions import syntax

from .files import document, names, theory, theory_document
from .grids import Unreadable
from .mutants import Changes
from .oracle import Judge
from .proofs import prover

MUTANTS = int(os.environ.get("SYMATTN_MUTANTS", "900"))
FILES = [("corpus", name) for name in names("corpus")] + [("theory", name) for name in theory()]


def tables(kind, name):
    return theory_document(name) if kind == "theory" else document(kind, name)


#: False mutants of each line, so that there are as many as are asked for.
EACH = -(-11 * MUTANTS // (10 * sum(len(tables(*one)["lines"]) for one in FILES)))


def falsehoods(held):
    """False mutants of every line: they can be read, and the oracle says that they are false."""
    judge, scope = Judge(held), draft.read(held).scope
    for one in held["lines"]:
        found = 0
        for mutant in Changes(one["line"], held["sizes"]).all():
            if found == EACH:
                break
            try:
                line_reading.line(mutant, scope)
                false = judge.is_false(mutant)
            except (Malformed, Unreadable):
                continue
            if false:
                found += 1
                yield mutant


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize(("kind", "name"), FILES)
def test_no_false_mutant_is_proved(kind, name, record_property) -> None:
    """None is proved or checked; all but one in twenty are refuted, by numbers."""
    held = tables(kind, name)
    lines = [{"line": one} for one in falsehoods(held)]
    assert len(lines) >= len(held["lines"]) / 4
    found = derived(name, {**held, "lines": lines, "conclusions": []})
    assert found.faults == ()
    wrong = [one.text for one in found.lines if one.status in ("proved", "checked")]
    assert wrong == []
    assert all(one.counterexample for one in found.lines if one.status == "refuted")
    counts = Counter(one.status for one in found.lines)
    record_property("mutants", dict(counts))
    open_ = [f"{one.text}: {one.why}" for one in found.lines if one.status != "refuted"]
    assert len(open_) <= 1 + 0.05 * len(lines), open_


@pytest.mark.sampled(1, 3)
@pytest.mark.parametrize(("kind", "name"), FILES)
def test_the_kernel_alone_proves_no_false_mutant(kind, name) -> None:
    """The first witness is right without the second."""
    held = tables(kind, name)
    read = draft.read(held)
    by = prover(read)
    proofs = [(text, by.proof(line_reading.line(text, read.scope))) for text in falsehoods(held)]
    assert [text for text, proof in proofs if not proof.why] == []


@pytest.mark.sampled(49)
@pytest.mark.parametrize(("kind", "name"), FILES)
def test_trees_are_written_as_they_are_read(kind, name) -> None:
    """Mutants say what they are meant to say."""
    for one in tables(kind, name)["lines"]:
        tree = syntax.parse(one["line"], letters=True)
        assert syntax.parse(syntax.text(tree), letters=True) == tree
