"""SymPy's slopes, against central differences; normal forms as SymPy writes them."""

from __future__ import annotations

import pytest
import sympy as sp
from symattn.calculus.atoms import NoNormalForm
from symattn.calculus.differentiating import Stage, ToSympy
from symattn.calculus.normal import Normal

from symattn.calculus import differentiating, draft, line_reading
from symattn.calculus.judging import derived

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {"x": ["n"], "S": ["n", "m"], "t": [], "a": []},
    "permutations": {"s": "n"},
    "lines": [{"line": "t == t"}],
}
SCOPE = draft.read(TABLES).scope
POINT = {"t": 0.7, "a": -1.3}


def side(text):
    return line_reading.line(f"{text} == 0", SCOPE).sides[0]


@pytest.mark.parametrize(
    "text",
    [
        "t**3 * a",
        "exp(t * a) / (1 + t**2)",
        "log(1 + t**2)",
        "sin(t) * cos(a * t)",
        "sqrt(1 + t**2)",
        "t**(-2)",
        "erf(t)",
        "tanh(t) + sigmoid(t)",
        "gelu(t)",
        "relu(t) * a",
        "pi * t - 1/3",
        "-t",
    ],
)
def test_slopes_of_numbers(text) -> None:
    """The same as a central difference, to eight digits."""
    value = side(text)
    slope, _, _ = differentiating.slope(value, SCOPE.arrays["t"])
    plain = Stage().read(value)
    symbols = {name: differentiating.entry(SCOPE.arrays[name], ()) for name in POINT}
    own = {
        differentiating.Above: lambda x: sp.Heaviside(x),
        differentiating.Reciprocal: lambda x: 1 / x,
    }

    def at(expression, t):
        for function, other in own.items():
            expression = expression.replace(function, other)
        return float(expression.subs({symbols["t"]: t, symbols["a"]: POINT["a"]}))

    h = 1e-5
    expected = (at(plain, 0.7 + h) - at(plain, 0.7 - h)) / (2 * h)
    assert at(slope, 0.7) == pytest.approx(expected, rel=1e-8)


def test_slopes_of_entries_have_deltas() -> None:
    """Of one entry in another; indices are never captured."""
    slope, names, via = differentiating.slope(side("sum(i, x[i]**2) * x[i]"), SCOPE.arrays["x"])
    assert len(names) == 2
    assert slope.has(sp.KroneckerDelta)
    assert via[0] in slope.free_symbols
    assert len(set(names.values())) == 2


@pytest.mark.parametrize(
    "text",
    [
        "x[i + 1] * x[n - 1] * x[s[i]] * x[2]",
        "n * i * delta(i, j) * step(i <= j) * x[j]",
        "sum(j, S[i, j])",
        "sqrt(2) * exp(x[i]) * log(2 + x[i]) * pi",
        "sin(x[i]) * erf(x[i]) / (1 + x[i]**2)",
        "step(0 < t) * t",
        "sum(i, x[s[i]] * i)",
    ],
)
def test_normal_forms_are_written_and_read_back(text) -> None:
    """What SymPy is given means the same when it is read again."""
    normal = Normal()
    poly = normal.read(side(text))
    written = ToSympy()
    value = written.poly(poly)
    names = {dummy: (name, 0, ()) for name, dummy in written.names.items()}
    normal._arrays = dict(SCOPE.arrays)
    assert normal._from_sympy(value, names) == poly


def test_what_is_worked_out_before_is_not_written() -> None:
    """Derivatives, limits and means are no stages."""
    for text in ("diff(t, t)", "limit(t, 0, t)", "expect(t)"):
        with pytest.raises(NoNormalForm):
            Stage().read(side(text))


@pytest.mark.parametrize(
    "line",
    [
        "diff(diff(t**3, t), t) == 6 * t",
        "diff(sum(i, exp(x[i])), x[k]) == exp(x[k])",
        "diff(x[s[i]], x[k]) == delta(s[i], k)",
        "diff(x[i + 1] * x[i], x[i]) == x[i + 1]",
        "diff(sum(i, i * x[i]), x[k]) == k",
        "diff(diff(sum(i, x[i]**3), x[j]), x[k]) == 6 * delta(j, k) * x[k]",
        "diff(relu(t), t) == step(0 < t)",
        "diff(sum(j, step(j <= i) * x[j]), x[k]) == step(k <= i)",
        "diff(sin(t) * cos(t), t) == cos(t)**2 - sin(t)**2",
        "diff(erf(t), t) == 2 / sqrt(pi) * exp(-(t**2))",
        "diff(sqrt(2) * t**1.5, t) == 1.5 * sqrt(2) * sqrt(t)",
        "diff(t, a) == 0",
        "diff(log(sum(i, exp(x[i]))), x[k]) == exp(x[k]) / sum(i, exp(x[i]))",
    ],
)
def test_derivatives_are_proved(line) -> None:
    """First and second ones, of entries and numbers."""
    (one,) = derived("slopes", {**TABLES, "lines": [{"line": line}]}).lines
    assert one.status == "proved", one.why


def test_numbers_cross_the_border_exactly() -> None:
    """SymPy's rational as Python's."""
    assert differentiating.rational(sp.Rational(-3, 7)) * 7 == -3
    assert differentiating.size(3) == 3
