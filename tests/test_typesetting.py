"""Formulas as they are set: their LaTeX says the same as the rows that are printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.printers.web import mathml

from .notation import read, unescape
from .printers.test_html import larger, letters, numbers
from .strategies import many


@many
@given(st.recursive(letters | numbers, larger, max_leaves=12))
def test_the_latex_of_a_formula_is_the_formula(formula: syntax.Tree) -> None:
    """Who reads it has the same elements as who was given the row."""
    assert mathml(read(f.latex(formula))) == mathml(f.typeset(formula))


@many
@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=2))
def test_words_in_a_formula_stay_words(text: str) -> None:
    """Nothing in them is LaTeX."""
    written = t.latex(t.row(t.Text(text)))
    assert unescape(written.removeprefix(r"\text{").removesuffix("}")) == text


@pytest.mark.parametrize(
    ("row", "prefixes"),
    [("-x + y", [True, False]), ("(-x)", [True]), (r"\sum_{i} -x", [True]), ("x - y", [False])],
)
def test_signs_without_a_left_operand(row: str, prefixes: list[bool]) -> None:
    """At the start, behind a bracket and behind the sign of a sum."""
    signs = [node for node in t.signed(read(row)) if isinstance(node, t.Sign)]
    assert [sign.prefix for sign in signs if sign.text in "+−"] == prefixes
