"""Programs in packed polynomials: their closed forms are those of the recipes, to the letter."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz
from hypothesis import given
from hypothesis import strategies as st

from symattn import attention
from symattn.errors import Refuted
from symattn.limits import DECIDING
from symattn.numbers import kronecker
from symattn.programs import entrywise, polynomials
from symattn.programs.nodes import Run
from symattn.programs.polynomials import PolynomialMatrices, Polynomials
from symattn.programs.program import differentiate, program

from ..machines import by_name, rows_of
from ..strategies import few

SCALES = ["S", "S / 2", "S / sqrt(4)", "-(S * c)", "S + B", "S - B / 3"]
MASKS = ["T", "causal(T)", "mask(T, keep)", "2 * mask(T, keep)", "causal(mask(T, first))"]
OUTPUTS = [
    "A @ V",
    "A @ V - W",
    "(A * A) @ V / 3",
    "(A * T) @ V + rowsum(A * T)",
    "(2 * A - B) @ V",
    "(A - A) @ V",
    "A * B - rowsum(A * B)",
]


def small(numerators, denominators):
    """Small whole numbers, many of them equal, or fractions."""
    return st.builds(Fraction, st.integers(*numerators), st.sampled_from(denominators))


def tables(shape, numbers):
    """Matrices of these numbers."""
    rows, columns = shape
    row = st.lists(numbers, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


@st.composite
def programs(draw):
    """A program around a softmax with its gradients, and its numbers."""
    n, m, d = (draw(st.integers(1, 3)) for _ in range(3))
    numbers = small((-2, 2), draw(st.sampled_from([[1], [1, 2, 3]])))
    steps = {
        "S": "Q @ K.T",
        "T": draw(st.sampled_from(SCALES)),
        "M": draw(st.sampled_from(MASKS)),
        "A": "softmax(M)",
        "Y": draw(st.sampled_from(OUTPUTS)),
    }
    steps["Y"] = steps["Y"].replace("T", "S") if steps["M"] != "T" else steps["Y"]
    shapes = {"Q": (n, d), "K": (m, d), "V": (m, 2), "W": (n, 2), "B": (n, m), "c": ()}
    shapes |= {"keep": (n, m), "first": (1, m)}
    made = differentiate(program(shapes, steps), "Y")
    bits = st.integers(0, 1)
    data = {name: draw(tables(shape, numbers)) for name, shape in shapes.items() if shape}
    data["c"] = draw(small((1, 3), [1, 2, 5]))
    data["keep"] = [[1, *row[1:]] for row in draw(tables((n, m), bits))]
    data["first"] = [[1, *draw(tables((1, m), bits))[0][1:]]]
    data["upstream"] = draw(tables(made.quantities["Y"].grid, numbers))
    return made, data


def runs(data):
    """The run in polynomials and the exact one, entry by entry."""
    rows = {name: rows_of(raw) for name, raw in data.items()}
    packed = {name: polynomials.read(held) for name, held in rows.items()}
    exact = {name: entrywise.grid(held) for name, held in rows.items()}
    return Run(PolynomialMatrices(), by_name(packed)), Run(entrywise.exact(), by_name(exact))


def beside(made, data):
    """The names of what is held, every entry beside that of the recipe."""
    packed, exact = runs(data)
    names = set()
    for name, node in made.named.items():
        held = polynomials.quotients(packed[node])
        if held is None:
            continue
        names.add(name)
        rows, columns = node.grid
        if isinstance(packed[node], Polynomials):
            numerators = map(kronecker.coefficients, packed[node].matrix.entries())
            assert max(sum(map(abs, one)) for one in numerators) <= packed[node].size
        for i in range(rows):
            for j in range(columns):
                ours, theirs = held.at(i, j, lambda ball: None), exact[node].at(i, j)
                known = theirs.form()
                if known is not None:
                    assert ours.form() == known, (name, i, j)
                    assert str(ours) == str(theirs)
                assert ours.enclosure(128).overlaps(theirs.enclosure(128)), (name, i, j)
    return names


@given(programs())
@few
def test_forms_are_those_of_the_recipes(case):
    """Parts and text, of every step and gradient: masks, fractions, rows that are equal,
    gradients that vanish, normalisers that cancel."""
    beside(*case)


ATTENTION = {"S": "Q @ K.T", "T": "S / sqrt(d)", "A": "softmax(T)", "Y": "A @ V"}
SHAPES = {"Q": (3, 4), "K": (3, 4), "V": (3, 2), "d": ()}
DATA = {
    "Q": [[1, 0, 2, -1], [0, 1, 1, 1], [1, 0, 2, -1]],
    "K": [[1, 1, 0, 1], [0, 2, 1, -1], ["1/2", 0, 1, 2]],
    "V": [[1, 2], [0, 1], [2, 0]],
    "d": 4,
    "upstream": [[1, 2], [0, "1/3"], [1, 1]],
}


def test_attention_is_held():
    """Weights, output and all gradients of attention: nothing is left to the recipes."""
    made = differentiate(program(SHAPES, ATTENTION), "Y")
    assert beside(made, DATA) == {"A", "Y", "dL/dT", "dL/dS", "dL/dQ", "dL/dK", "dL/dV"}


def test_normalisers_count_in_the_bound():
    """Numbers beside weights are multiplied by a normaliser of as many terms as keys: no
    coefficient is beyond what is said."""
    made = program({"S": (1, 3)}, {"A": "softmax(S)", "Y": "A + 1"})
    assert beside(made, {"S": [[0, 1, 3]]}) == {"A", "Y"}


@pytest.mark.parametrize(
    ("name", "text", "data"),
    [
        ("a root", "softmax(S / sqrt(d))", {"d": 3}),
        ("a softmax of weights", "softmax(softmax(S))", {}),
        ("another function", "exp(softmax(S))", {}),
        ("weights of two softmaxes", "softmax(S) * softmax(2 * S)", {}),
        ("weights turned", "softmax(S) + softmax(S).T", {}),
        ("weights mixed", "softmax(S).T @ S + S", {}),
        ("masked weights", "causal(softmax(S))", {}),
        ("weights turned and masked", "causal(softmax(S).T)", {}),
        ("a long lattice", "softmax(1000 * S)", {}),
        ("long coefficients", f"softmax(S) * {10**19}", {}),
        ("no rational number", "softmax(S)", {"Q": [["sqrt(2)", 0, 0, 0]] * 3}),
    ],
)
def test_what_is_not_held(name, text, data):
    """It is None and so is what is made of it; nothing is raised."""
    made = program(SHAPES, {"S": "Q @ K.T", "A": text, "B": "A @ V"})
    packed, _ = runs({**DATA, **data})
    assert packed[made.named["A"]] is packed[made.named["B"]] is None


def test_faults_are_left_to_the_recipes():
    """A row without keys, a division by zero: those say what is wrong."""
    steps = {"A": "softmax(mask(X, M))", "B": "X / 0", "C": "-causal(X)", "D": "causal(X) * c"}
    made = program({"X": (2, 2), "M": (2, 2), "c": ()}, steps)
    packed, _ = runs({"X": [[1, 2], [3, 4]], "M": [[0, 0], [1, 1]], "c": -2})
    assert [packed[made.named[name]] for name in steps] == [None] * 4


def test_a_form_that_the_order_decides_is_left_to_the_recipes():
    """``1 - e**3`` is divided by ``1 + e + e**2`` where entries are computed one by one only
    when it has more terms: whoever can't tell what came first takes the recipes."""
    below = kronecker.packed([0, 1, 2])
    with pytest.raises(kronecker.NotPacked):
        kronecker.cancelled(below, 1, fmpz(1) - kronecker.packed([3]))
    assert kronecker.cancelled(below, 2, below * below * 5) == (fmpz(1), 0, fmpz(5))
    assert kronecker.cancelled(below, 1, below + 1) == (below, 1, below + 1)


def test_a_wrong_form_is_refuted(monkeypatch):
    """Each is held against the run in balls before it is used."""
    monkeypatch.setitem(polynomials._OPERATIONS, "rowsum", lambda node, x: x)
    made = attention([[1], [2]], [[1], [0]], [[1], [3]]).backward().dQ
    value = made.at(0, 0)
    for use in (str, lambda x: x.form(), lambda x: x.enclosure(64), lambda x: x == 3):
        with pytest.raises(Refuted, match=r"entry \[0, 0\] is .* exactly, in balls"):
            use(value)


@pytest.mark.parametrize("use", [str, lambda x: x.form()])
def test_digits_read_wrongly_are_refuted(monkeypatch, use):
    """What is written is what is held against balls, not the number it was read from."""
    value = attention([[1], [2]], [[1], [0]], [[1], [3]]).output.at(0, 0)
    monkeypatch.setattr(kronecker, "coefficients", lambda number: (1, 1))
    with pytest.raises(Refuted, match=r"entry \[0, 0\] is .* exactly, in balls"):
        use(value)


def drawn(n, seed):
    """Attention of small integers at a rational scale, and its gradients."""
    q, k, v, g = np.random.default_rng(seed).integers(-2, 3, size=(4, n, n)).tolist()
    a = attention(q, k, v, scale=1)
    return a, a.backward(g)


@pytest.mark.heavy
def test_larger_attention_is_held():
    """At n = 32 too all forms are polynomials, of gradients that sum over rows as well."""
    a, back = drawn(32, 0)
    for part in (a.output, back.dQ, back.dK, back.dV):
        assert all(value.waits or value.number is not None for value in part.values())


def test_long_forms_are_not_written_down(monkeypatch):
    """Where there is none to be shown nothing is made of one, and digits are printed; what is
    decided of it is made under the larger budget."""
    value = drawn(24, 1)[1].dK.at(0, 0)
    with monkeypatch.context() as patch:
        patch.setattr(kronecker.KroneckerLattice, "parts", None)
        assert not value.is_closed
        assert str(value) == str(value.enclosure(128).str(8))
    assert value.form(DECIDING) is not None


def test_forms_of_sums_over_equal_rows():
    """Parts with the same normaliser are added, others are not: to the letter as entry by
    entry, where a factor is 0 too."""
    data = {**DATA, "Q": [[1, 0, 2, -1], [0, 1, 0, 0], [1, 0, 2, -1]]}
    assert "dL/dK" in beside(differentiate(program(SHAPES, ATTENTION), "Y"), data)


def test_forms_are_written_down_when_they_are_used(monkeypatch):
    """Those of all entries are decided, none is written down."""
    written = []
    coefficients = kronecker.coefficients

    def counted(number):
        written.append(number)
        return coefficients(number)

    monkeypatch.setattr(kronecker, "coefficients", counted)
    a = attention([[1, 2], [0, 1]], [[1, 0], [0, 1]], [[1], [3]], scale="1/2")
    values = [*a.output.values(), *a.backward([[1], [2]]).dQ.values()]
    assert all(value.waits for value in values)
    assert not written
    assert str(values[1]) == "(1 + 3*sqrt(e))/(1 + sqrt(e))"
    assert written
