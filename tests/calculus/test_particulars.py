"""Single promises of the calculus: what is proved, what is drawn, how it is written down."""

from __future__ import annotations

from random import Random

import pytest

from symattn.calculus import draft
from symattn.calculus.judging import derived
from symattn.calculus.printing import text, typeset
from symattn.calculus.refuting import _drawn
from symattn.calculus.sample_points import draw
from symattn.calculus.slips import exchanged
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.numbers.balls import precision

from .proofs import proof

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {"x": ["n"], "v": ["m"], "M": ["n", "n"], "T": ["n", "n", "m"], "t": []},
}


@pytest.fixture(autouse=True)
def _precise():
    with precision(192):
        yield


def judged(line, **tables):
    document = derived("particulars", {**TABLES, **tables, "lines": [{"line": line}]})
    assert document.faults == ()
    return document.lines[0]


@pytest.mark.parametrize(
    ("first", "second"),
    [("1", "i + 2"), ("2", "i + 1"), ("3", "i - 1"), ("i + 1", "3"), ("i", "j + 1"), ("n", "i")],
)
def test_a_delta_is_symmetric(first, second) -> None:
    """Whichever of two places is a number, and whatever is added to the other."""
    line = f"delta({first}, {second}) * M[i, j] == delta({second}, {first}) * M[i, j]"
    assert judged(line).status == "proved"


def test_a_number_moves_to_the_other_side_of_a_delta() -> None:
    """Places are the same where places that both stand further on are."""
    assert judged("delta(2, i + 1) * x[i] == delta(i, 1) * x[i]").status == "proved"
    assert judged("delta(3, i + 1) * x[i] == delta(i, 1) * x[i]").status == "refuted"


@pytest.mark.parametrize("function", ["log", "sqrt"])
def test_a_sum_of_what_a_causal_mask_keeps_is_above_0(function) -> None:
    """At least the first place is kept: the sum can be taken out of what needs it positive."""
    kept = "sum(j, step(j <= i) * exp(x[j]))"
    power = f"2 * log({kept})" if function == "log" else kept
    one = judged(f"{function}({kept}**2) == {power}")
    assert (one.status, one.where) == ("proved", ())


@pytest.mark.parametrize("function", ["sum", "mean"])
def test_a_sum_over_an_index_keeps_the_axes_inside(function) -> None:
    """Vectors are summed to a vector, not to a number."""
    assert judged(f"{function}(j, x[j] * v) == {function}(x) * v").status == "proved"
    assert judged(f"{function}(j, x[j] * v) == {function}(x) * {function}(v)").status == "refuted"


@pytest.mark.heavy
def test_too_many_indices_that_look_alike_are_given_up() -> None:
    """Seven can be put in order in thousands of ways: that is not waited for."""

    def summed(letters):
        entries = [f"x[{letter}]" for letter in letters]
        return f"sum({', '.join(letters)}, exp({' + '.join(entries)} - {' * '.join(entries)}))"

    assert proof(f"{summed('abc')} == {summed('cab')}", TABLES) == ("", [])
    why, _ = proof(f"{summed('abcdefg')} == 0", TABLES)
    assert why == "a sum over too many indices that look alike"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        ("a * b * c == d * t", "a * b == sin(t)", "sin(t) * c == d * t"),
        ("sin(a) * cos(b) * c == d**2", "sin(a) * cos(b) == exp(t)", "exp(t) * c == d**2"),
        ("d**2 * c == d * t", "a * b == d**2", "a * b * c == d * t"),
    ],
)
def test_a_hypothesis_is_put_into_those_before_it(first, second, line) -> None:
    """What follows from two equations is proved in whichever order they are assumed."""
    shapes: dict[str, list[str]] = {name: [] for name in "abcdt"}
    for hypotheses in ([first, second], [second, first]):
        assert judged(line, shapes=shapes, hypotheses=hypotheses).status == "proved"


def test_every_small_size_is_tried_first() -> None:
    """Of one size the first three trials are 1, 2 and 3: most false lines are false there."""
    assert {_drawn(["n"], Random(0), number, 0)["n"] for number in range(3)} == {1, 2, 3}


def test_a_counterexample_tells_arrays_of_three_axes_entry_by_entry() -> None:
    """Matrices and vectors are told whole; what has no way of writing is not left out."""
    told = judged("T[i, j, k] == T[j, i, k] + 0 * x[i]").counterexample
    assert told is not None
    entries = {f"T[{i}, {j}, 1] = " for i in (1, 2) for j in (1, 2)}
    assert all(entry in str(told) for entry in entries)
    assert judged("M[i, j] == M[j, i]").counterexample is not None


def test_tables_that_come_from_no_file_have_no_lines_to_point_to() -> None:
    """Neither what is judged nor what is wrong."""
    lines = [{"line": "t == t"}, {"line": "t == 2 * t"}]
    assert [one.said.at for one in derived("lines", {**TABLES, "lines": lines}).lines] == [0, 0]
    faulty = derived("faulty", {**TABLES, "title": 1, "lines": lines})
    assert {fault.line for fault in faulty.faults} == {0}


@pytest.mark.parametrize(
    "line",
    ["M[i, j]", "T[i, j, k]", "x[i]", "-x", "x.T", "a + b", "a**b", "f(a, b)", "a == b", "a"],
)
def test_one_part_of_a_tree_is_exchanged(line) -> None:
    """No part is left out of what is mended elsewhere."""
    tree = syntax.parse(line, letters=True)
    for part in syntax.inside(tree):
        assert exchanged(tree, part, part) == tree
        other = exchanged(tree, part, syntax.Name("another"))
        assert syntax.inside(other).count(syntax.Name("another")) == 1


# -- points ---------------------------------------------------------------------------------


def drawn(hypotheses, style, name):
    """The entries of an array at points drawn in a style, and how many there are."""
    tables = {**TABLES, "hypotheses": hypotheses, "lines": [{"line": "t == t"}]}
    ground = draft.read(tables).ground
    found = []
    for seed in range(20):
        point = draw(ground, frozenset(ground.given), {"n": 3, "m": 2}, Random(seed), style)
        if point is not None:
            (values,) = (held for array, held in point.values.items() if array.name == name)
            found.append([float(one) for one in values.values()])
    return found


@pytest.mark.parametrize("style", ["any", "wide", "whole"])
def test_numbers_have_both_signs_unless_they_are_assumed_above_0(style) -> None:
    """What is assumed is met by drawing it so; of the rest nothing is supposed."""
    free = [entry for entries in drawn(["t > 0"], style, "x") for entry in entries]
    assert min(free) < 0 < max(free)
    above = [entry for entries in drawn(["x[i] > 0"], style, "x") for entry in entries]
    assert len(above) == 60
    assert min(above) > 0


def test_what_is_assumed_not_below_0_may_be_0() -> None:
    """The least number that a hypothesis allows is tried too."""
    points = drawn(["t >= 0"], "whole", "t")
    assert [0.0] in points
    assert all(entry >= 0 for (entry,) in points)
    assert [0.0] not in drawn(["t > 0"], "whole", "t")


def test_numbers_bound_by_equations_are_of_middling_size() -> None:
    """From very large ones no steps lead to where the equations hold; others stay wild."""
    hypotheses = ["sum(i, x[i]) == 1"]
    bound = [abs(entry) for entries in drawn(hypotheses, "wide", "x") for entry in entries]
    assert bound
    assert max(bound) < 100
    free = [abs(entry) for entries in drawn(hypotheses, "wide", "v") for entry in entries]
    assert max(free) > 1e6


# -- printing -------------------------------------------------------------------------------


def test_differentials_of_greek_letters() -> None:
    """``dalpha`` is a d before an alpha; ``delta`` and ``d`` are what they are called."""
    assert text("dalpha == 1", {}) == "dα = 1"
    assert t.latex(typeset("dalpha == 1", {})) == r"d\alpha = 1"
    assert text("d == 1", {}) == "d = 1"


def test_comparisons_are_written_from_the_smaller_side() -> None:
    """In brackets, with the sign that was written."""
    for line, shown in (
        ("step(i <= j)", "[i ≤ j]"),
        ("step(i < j)", "[i < j]"),
        ("step(i >= j)", "[j ≤ i]"),
        ("step(i > j)", "[j < i]"),
    ):
        assert text(line, {}) == shown
        assert t.latex(typeset(line, {})) == shown.replace("≤", r"\le")


def test_what_has_an_exponent_is_transposed_in_braces() -> None:
    """LaTeX takes no second exponent beside the first."""
    assert t.latex(typeset("W_Q.T", {"W_Q": 2})) == r"{W^{Q}}^{\top}"
    assert text("W_Q.T", {"W_Q": 2}) == "W^Qᵀ"
