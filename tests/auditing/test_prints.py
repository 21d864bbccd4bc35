"""Entries recomputed from what is printed: once for many figures, and as if each time anew."""

from __future__ import annotations

from functools import partial

from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.auditing.figures import Figure
from symattn.auditing.search import (
    PrintedRecomputation,
    Prints,
    RecomputedValue,
    _look,
    first,
    latest,
    sharpest,
)
from symattn.auditing.standard import Recipes
from symattn.numbers.balls import FIRST, precision
from symattn.verdicts import Verdict

from ..strategies import some
from .papers import claiming, claims_of, honest, slipping

#: Steps said twice, wrongly the first time, and some not at all: what is
#: recomputed changes from place to place.
SAID = [
    *claims_of(slipping(V="X @ W_K"), ["Q", "V", "T"], 2),
    *claims_of(honest(), ["V", "S", "A", "Y"], 3),
    *claims_of(slipping(T="S"), ["Y", "T", "dL/dV"], 4),
]


def number(figure: Figure) -> arb:
    return figure.number


def document() -> tuple[Recipes, Prints, tuple[Figure, ...]]:
    solution = claiming(honest(), SAID)
    figures = audit(solution).figures
    recipes = Recipes(solution)
    return recipes, Prints(recipes, figures), figures


RECIPES, PRINTS, FIGURES = document()


@some
@given(
    st.sampled_from([first, latest, sharpest]),
    st.lists(
        st.tuples(
            st.integers(0, 60) | st.integers(0, len(FIGURES)),
            st.sampled_from(["K", "V", "S", "M", "A", "Y", "dL/dQ", "dL/dK"]),
            st.integers(0, 3),
            st.integers(0, 3),
        ),
        min_size=2,
        max_size=12,
    ),
)
def test_what_is_kept_is_what_would_be_computed_anew(choose, asked):
    """In whatever order entries are asked for, at whatever places in the document: the
    same value, from the same figures."""
    look = partial(_look, PRINTS, choose, number)
    kept = PrintedRecomputation(RECIPES, look)
    with precision(FIRST):
        for order, name, i, j in asked:
            term = RECIPES.entry(name, i, j)
            ours, fresh = (
                kept.value(term, order),
                PrintedRecomputation(RECIPES, look).value(term, order),
            )
            assert ours.value.mid() == fresh.value.mid()
            assert ours.value.rad() == fresh.value.rad()
            assert ours.used() == fresh.used()
            assert (ours.choice, ours.since, ours.until) == (fresh.choice, fresh.since, fresh.until)
            assert ours.is_printed == bool(ours.used())
            assert ours.is_wrong == any(f.verdict is Verdict.REFUTED for f in ours.used())
            assert all(figure.order < order for figure in ours.used())


def test_a_value_holds_between_two_prints():
    """After the last figure that it is taken from, up to the next of the same thing."""
    seen = [figure.order for figure in FIGURES if figure.label == "V[0, 0]"]
    assert len(seen) == 2
    term = RECIPES.entry("V", 0, 0)
    for order in (0, seen[0]):
        assert PRINTS.around(term, order) == ([], seen[0] + 1)
    found, until = PRINTS.around(term, seen[0] + 1)
    assert ([f.order for f in found], until) == (seen[:1], seen[1] + 1)
    found, until = PRINTS.around(term, seen[1] + 1)
    assert ([f.order for f in found], until) == (seen, float("inf"))
    held = RecomputedValue()
    assert held.holds_at(0)
    assert held.holds_at(10**9)
    held.within(3, 7)
    held.within(2, 9)
    assert [order for order in range(10) if held.holds_at(order)] == [4, 5, 6]


def test_an_entry_is_worked_out_once():
    """While nothing that it depends on is printed; the cost is that of the program."""
    asked = []

    def look(term, order, made):
        asked.append(term.key)
        return None

    kept = PrintedRecomputation(RECIPES, look)
    with precision(FIRST):
        for _ in range(3):
            for i in range(4):
                for j in range(4):
                    kept.value(RECIPES.entry("dL/dQ", i, j), 0)
                    kept.value(RECIPES.entry("Y", i, j), 0)
    # An entry and its parts are looked up where they are used, and no more:
    # the third time over costs what 32 leaves cost.
    once = len(asked)
    with precision(FIRST):
        kept.value(RECIPES.entry("Y", 0, 0), 0)
    assert len(asked) - once <= 4
