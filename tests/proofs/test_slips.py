"""A slip in any line of any derivation is refused.

Each line is changed in one place. Whether the changed line happens to be true
all the same is judged in floating point, by an evaluator that shares nothing
with the package; the checker has to agree, at concrete sizes and for all.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from symattn.errors import Malformed
from symattn.proofs import THEORY, names
from symattn.proofs.allsizes import AllSizes
from symattn.proofs.derivation import Derivation, Result
from symattn.proofs.language import Expr
from symattn.proofs.matrices import Array
from symattn.proofs.onesize import OneSize
from symattn.proofs.printing import text
from symattn.proofs.structure import Undecidable
from symattn.verdicts import Verdict

from .floats import Floats
from .slips import matrix_slips, slips

PER_LINE = 6
"""Slips tried on each line, spread over all that there are."""


def false_at_some_size(left: Expr, right: Expr, derivation: Derivation) -> bool:
    return any(Floats(sizes, seed=3).differ(left, right) for sizes in derivation.sizes)


def shown_for_all_sizes(left: Expr, right: Expr, everywhere: AllSizes) -> bool:
    try:
        return everywhere.vanishes(left - right)
    except (Undecidable, ZeroDivisionError):
        return False


def verdicts(left: Expr, right: Expr, derivation: Derivation) -> Iterator[Verdict]:
    return (OneSize(sizes).compare(left, right) for sizes in derivation.sizes)


@pytest.mark.parametrize("name", names())
def test_every_slip_in_a_step_is_refused(name):
    """Signs, deltas, terms, factors, scales, transposes: at least ten false ones an entry."""
    derivation, everywhere, tried = THEORY[name], AllSizes(), 0
    for step in derivation.steps:
        found = [-step.rhs, *slips(step.rhs)]
        for wrong in found[:: max(1, len(found) // PER_LINE)]:
            if false_at_some_size(step.lhs, wrong, derivation):
                assert not shown_for_all_sizes(step.lhs, wrong, everywhere), step.text
                if "E[s³]" in text(wrong):
                    continue  # A third moment, of which nothing is assumed: undecided.
                assert Verdict.REFUTED in verdicts(step.lhs, wrong, derivation), step.text
                tried += 1
    assert tried >= 10


@pytest.mark.parametrize("name", [name for name in names() if THEORY[name].conclusion.matrix])
def test_every_slip_in_a_matrix_form_is_refused(name):
    """A forgotten scale, a lost transpose, a wrong sign: at least two false ones an entry."""
    derivation, everywhere, tried = THEORY[name], AllSizes(), 0
    for result in derivation.conclusion.results:
        form = result.matrix
        for left, right in wrong_forms(form) if form else ():
            assert form
            try:
                sides = Result(result.index).sides(left, right)
            except Malformed:
                tried += 1  # Shapes that do not fit are refused by themselves.
                continue
            if false_at_some_size(*sides, derivation):
                assert not shown_for_all_sizes(*sides, everywhere), form.text
                assert Verdict.REFUTED in verdicts(*sides, derivation), form.text
                tried += 1
    assert tried >= 2


def wrong_forms(form):
    yield from ((form.lhs, wrong) for wrong in matrix_slips(form.rhs))
    if not isinstance(form.lhs, Array):
        yield from ((wrong, form.rhs) for wrong in matrix_slips(form.lhs))
