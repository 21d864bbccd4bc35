"""What a live figure comes to, against decimals computed another way."""

from __future__ import annotations

from contextlib import suppress
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.cases.library import load, names
from symattn.errors import Malformed, SymattnError
from symattn.expressions import typesetting as t
from symattn.live.figures import Figures, Mathematics, Picture, Text, Wanted
from symattn.solution.solution import solve

FIGURES = Figures(solve("cat-sat-mat"))


def weight(places: int) -> str:
    """A[0, 1] of that case, 1 / (1 + e^(1/2) + e), by Python's decimals."""
    with localcontext() as context:
        context.prec = places + 20
        half = Decimal("0.5").exp()
        exact = 1 / (1 + half + half * half)
        return str(exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN))


@given(st.integers(1, 60))
def test_digits_of_a_number(places: int) -> None:
    """Digits are those of the exact value, correctly rounded, as many as asked for."""
    assert FIGURES.number(f"A[0, 1]:.{places}f") == Text(weight(places))
    assert t.latex(FIGURES.row(f"A[0, 1] : .{places}f")) == weight(places)


def test_how_a_number_is_printed() -> None:
    """Four places unless told, percent, and closed forms."""
    assert FIGURES.number("A[0, 1]") == Text(weight(4))
    percent = f"{Decimal(weight(30)) * 100:.2f}%"
    assert FIGURES.number("A[0, 1]:.2%") == Text(percent)
    closed = FIGURES.number("A[0, 1]:exact")
    assert isinstance(closed, Mathematics)
    assert closed.latex == r"\frac{1}{1 + \sqrt{e} + e}"


@given(st.text("ABQ[]0.,:*f%e ", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text ends in anything but a figure or an error that says why."""
    with suppress(SymattnError):
        assert FIGURES.paragraphs("number", text)


@given(st.integers(0, 1000), st.booleans())
def test_a_figure_reads_as_it_is_written(places: int, percent: bool) -> None:
    """What is written of a figure reads as the same figure."""
    wanted = Wanted("A[0:2] @ V", places, percent)
    assert Wanted.read(str(wanted)) == wanted


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        ("number", "B[0]", "unknown name 'B': expected one of"),
        ("number", "A", r"A is 3x3: expected one number, such as A\[0, 0\], or symattn:matrix"),
        ("number", "A[9, 0]", "index 9 is outside"),
        ("number", ":.3f", "expected an expression"),
        ("number", "A[0, 0]:.1001f", "at most 1000 places"),
        ("number", "A[0, 0]: .4g", "expected :.4f, :.1% or :exact behind it, found :.4g"),
        ("number", "A[0:2", "'A.0:2': expected"),
        ("number", "1 / 0", "division by zero"),
        ("matrix", "A:.1%", "percent are for text"),
        ("step", "X", "unknown step 'X'"),
        ("heatmap", "A:.9f", "0 to 6 places"),
    ],
)
def test_what_has_no_answer(kind, text, why) -> None:
    """Nothing is printed for what can't be computed: it is told why."""
    with pytest.raises(Malformed, match=why):
        FIGURES.paragraphs(kind, text)


def test_what_has_symbols_has_no_digits() -> None:
    """A form in symbols is refused as digits, and printed in closed form."""
    figures = Figures(solve("length-4-causal"))
    with pytest.raises(Malformed, match="no digits, with g1"):
        figures.number("dL/dQ[3, 0]")
    assert "g" in t.latex(figures.row("dL/dQ[3, 0]:exact"))


@pytest.mark.sampled(2, 6)
@pytest.mark.parametrize("name", names())
def test_every_step_of_every_case(name: str) -> None:
    """Every step is worked out, and drawn, in all bundled cases."""
    case = load(name)
    figures = Figures(solve(case))
    for step in case.steps:
        worked = figures.paragraphs("step", step)
        assert isinstance(worked[0][0], Mathematics)
        ((picture,),) = figures.paragraphs("heatmap", step)
        assert isinstance(picture, Picture)
        assert picture.svg.startswith("<svg ")


def test_a_matrix() -> None:
    """A matrix is one formula, as LaTeX and as MathML."""
    ((matrix,),) = FIGURES.paragraphs("matrix", "A[0:2, 0:2]:.2f")
    assert isinstance(matrix, Mathematics)
    assert matrix.latex == r"\begin{bmatrix} 0.51 & 0.19 \\ 0.19 & 0.51 \end{bmatrix}"
    assert matrix.mathml.count("<mtd>") == 4
