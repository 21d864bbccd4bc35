"""Expressions as text: read back they have the same value."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from symattn.calculus import draft, line_reading
from symattn.calculus import language as term
from symattn.calculus.language import AxisPlace, Index
from symattn.calculus.sample_points import draw
from symattn.calculus.writing import place, text
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.numbers.balls import precision

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {"x": ["n"], "S": ["n", "m"], "B": ["n", "n"], "u": ["n"], "t": [], "a": []},
    "random": ["u"],
    "permutations": {"p": "n"},
    "define": {"A": "softmax(S)", "G[i]": "x[i]**2"},
    "lines": [{"line": "t == t"}],
}
READ = draft.read(TABLES)
I = Index("i", "n")


@pytest.fixture(autouse=True)
def _precise():
    with precision(256):
        yield


@pytest.mark.parametrize(
    "line",
    [
        "t - (a - t) * (a + 1/2)",
        "-(t + a) / (t * a) / (a / t)",
        "t / (a * t)",
        "(t + a)**2 + t**(-1) + sqrt(1 + t**2) + (t**2)**0.25",
        "(-t)**2 - -t",
        "exp(t) * log(2 + t**2) * sin(t) * cos(a) * erf(t) * pi",
        "x[i + 1] + x[n - 1] + x[p[p[1]]] + x[2] + x[n]",
        "sum(i, i * x[i]) * n",
        "delta(i, j) * x[i] + step(i <= j) * x[j] + step(i < j)",
        "diff(x[i]**2 * t, x[j]) + diff(t**3, t)",
        "limit(a, 0, sin(a) / a + t) + limit(a, oo, 1 / a)",
        "expect(u[1] * u[i])",
        "operations(A, G)",
        "step(0 < t + 10) + relu(t)",
        "total(A) + (A @ A.T)[i, j] + logsumexp(x) + mean(S)",
        "total(S * S) + trace(diag(x)) + (x.T @ S)[1, 1]",
        "G[i] * A[i, 1]",
        "(2 / 3)**2 * (1 / 7)",
        "diff(rowsum(S)[i, 1], S[i, 1])",
        "sum(k, diff(softmax(x)[i], x[k]))",
        "expect(rowsum(S)[i, 1]) + limit(a, 0, colsum(S)[1, 1])",
        "(step(x < t) * x)[i] + eye(n)[i, j] + (x**-2)[i] + logsumexp(S)[i, 1]",
    ],
)
def test_what_is_written_is_read_back(line) -> None:
    """In the language of derivation files, with the same value."""
    first = line_reading.line(f"{line} == 0", READ.scope)
    written = text(first.sides[0])
    assert syntax.text(syntax.parse(written, letters=True)) == written
    assert "." not in written.replace("0.", "").replace("2.", "")
    second = line_reading.line(f"{written} == 0", READ.scope)
    point = draw(READ.ground, frozenset(READ.ground.given), {"n": 3, "m": 2}, Random(3), "any")
    assert point is not None
    values = []
    for one in (first, second):
        by_name = {"i": 2, "j": 1}
        point.env.update({index: by_name[index.name] for index in one.free})
        values.append(float(point.evaluate(one.sides[0])))
    assert values[0] == pytest.approx(values[1], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("at", "written"),
    [
        (AxisPlace(Index("i")), "i"),
        (AxisPlace(Index("i"), offset=1), "i + 1"),
        (AxisPlace(size="n", offset=-2), "n - 2"),
        (AxisPlace(offset=3), "3"),
        (AxisPlace(Index("i"), images=("p", "q")), "q[p[i]]"),
    ],
)
def test_places(at, written) -> None:
    """As they stand in brackets."""
    assert syntax.text(place(at)) == written


@pytest.mark.parametrize(
    ("at", "number"),
    [
        (AxisPlace(I), 2),
        (AxisPlace(I, offset=1), 3),
        (AxisPlace(offset=3), 3),
        (AxisPlace(size="n", offset=-1), 2),
        (AxisPlace(I, images=("p",)), None),
    ],
)
def test_an_index_as_a_number_is_replaced_by_where_it_is_put(at, number) -> None:
    """With what is added to it, at a number, at an end, and where a permutation sends it."""
    own = Index("k", "n")
    point = draw(READ.ground, frozenset(READ.ground.given), {"n": 3, "m": 2}, Random(3), "any")
    assert point is not None
    point.env[I] = 2
    put = term.replaced(term.Position(own), {own: at})
    assert point.evaluate(put) == (number or point.images["p"][1])


@pytest.mark.parametrize("offset", [-1, 1])
@pytest.mark.parametrize("kind", [term.AtMost, term.Delta])
@pytest.mark.parametrize("sides", [1, -1])
def test_a_place_is_compared_behind_where_a_permutation_sends_it(offset, kind, sides) -> None:
    """What is added is added to the image, for every permutation and every pair of places."""
    own, other = Index("k", "n"), Index("j", "n")
    value = kind(*(AxisPlace(own, offset=offset), AxisPlace(other))[::sides])
    put = term.replaced(value, {own: AxisPlace(I, images=("p",))})
    point = draw(READ.ground, frozenset(READ.ground.given), {"n": 3, "m": 2}, Random(3), "any")
    assert point is not None
    for i, j in product((1, 2, 3), repeat=2):
        point.env.update({I: i, other: j})
        first, second = (point.images["p"][i - 1] + offset, j)[::sides]
        holds = first <= second if kind is term.AtMost else first == second
        assert point.evaluate(put) == int(holds)


def test_an_entry_behind_where_a_permutation_sends_it_has_no_name() -> None:
    """It may be beyond the end."""
    own = Index("k", "n")
    value = term.Delta(AxisPlace(own), AxisPlace(own, offset=1))
    entry = term.Entry(term.Array("x", ("n",)), (AxisPlace(own, offset=1),))
    put = {own: AxisPlace(I, images=("p",))}
    assert term.replaced(value, put)
    with pytest.raises(Malformed, match="nothing can be added"):
        term.replaced(entry, put)


def test_a_part_without_a_name_is_written_where_it_stands() -> None:
    """A place as a number in it is that of the entry, not of what it was read with."""
    line = line_reading.line("softmax(alibi(B, t))[2, j] == 0", READ.scope)
    written = text(line.sides[0])
    again = line_reading.line(f"{written} == 0", READ.scope)
    point = draw(READ.ground, frozenset(READ.ground.given), {"n": 3, "m": 2}, Random(3), "any")
    assert point is not None
    values = []
    for one in (line, again):
        point.env.update(dict.fromkeys(one.free, 1))
        values.append(float(point.evaluate(one.sides[0])))
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_what_is_no_expression() -> None:
    """A mistake in the program, not in a file."""
    with pytest.raises(TypeError):
        text(term.Expr())
