"""A vector beside a matrix: along which axis it is read depends on no name of a size."""

from __future__ import annotations

import pytest

from symattn.calculus.library import derive
from symattn.sheets.derivation import statement

SQUARE = "A, B: n x n\nx, y: n\nt: number\n"


@pytest.mark.parametrize(
    "line",
    [
        *("A + x = x + A", "A - x = A - x", "A * x = x * A", "A / x = A / x", "x / A = x / A"),
        *(
            "A B = x",
            "maximum(A, x) = maximum(x, A)",
            "where(A > x, A, B) = A",
            "A B + x = x + A B",
        ),
        *("exp(A + x) = exp(x + A)", "softmax(A + x) = softmax(A)", "sum(A * x) = sum(x * A)"),
        *("A * exp(x) = exp(x) * A", "mask(A, B > x)[i, j] = 0", "A + B x = A"),
    ],
)
def test_a_vector_that_fits_both_axes_is_refused(line: str) -> None:
    """With both ways to write it, by entries; as a claim, a definition or a hypothesis."""
    (judged,) = derive(SQUARE + line).lines
    assert judged.status == "undecided"
    assert "fits the rows and the columns" in judged.why
    left = line.split(" = ")[0]
    for text in (f"Y = {left}", f"assume {line}"):
        if not (line.endswith(" x") or (">" in line and text.startswith("assume"))):
            (fault,) = derive(f"{SQUARE}{text}\nt = t").faults
            assert "fits the rows and the columns" in fault.message
            assert fault.line == 4


def test_the_fault_says_how_to_write_either() -> None:
    """And what it says is read, each as it says."""
    given = "X, W: n x n\nb: n\n"
    (fault,) = derive(f"{given}Y = X W + b\nY = Y").faults
    assert "sum(r, X[i, r] * W[r, j]) with b[j] for the same in every row, or with b[i]" in str(
        fault
    )
    for letter, other in ("ij", "ji"):
        text = f"{given}Y[i,j] = sum(r, X[i, r] * W[r, j]) + b[{letter}]\n"
        lines = f"Y[i,j] - (X W)[i,j] = b[{letter}]\nY[i,j] - (X W)[i,j] = b[{other}]"
        assert [line.status for line in derive(text + lines).lines] == ["proved", "refuted"]


@pytest.mark.parametrize(
    ("shape", "entry", "side"),
    [
        ("n x m", "i", "column"),
        ("m x n", "j", "row"),
        ("3 x n", "j", "row"),
        ("n x 3", "i", "column"),
    ],
)
def test_a_vector_that_fits_one_axis_says_which(shape: str, entry: str, side: str) -> None:
    """In text, JSON and on pages; the line by entries is the same."""
    text = f"A: {shape}\nb: n\nY = A + b\nY[i, j] = A[i, j] + b[{entry}]"
    judged = derive(text)
    assert judged.proved
    said = f"`b[{entry}]` beside `A[i, j]`, the same in every {side}"
    assert judged.to_dict()["along"] == [said]
    assert f"read with b_{entry} beside A_ij, the same in every {side}" in judged.to_text()
    assert f"the same in every {side}" in str([*statement(judged)])


@pytest.mark.parametrize(
    "line",
    [
        *(
            "A * ones(n) = A",
            "A + x.T = x.T + A",
            "A * rowsum(B) = rowsum(B) * A",
            "x x^T = x @ x.T",
        ),
        *("rowsum(A) = A @ ones(n)", "A[i, j] + x[i] = x[i] + A[i, j]", "A + t = t + A"),
        *("colsum(A) = ones(1, n) A", "layernorm(A, x, y, eps=1) = layernorm(A, x, y, eps=1)"),
    ],
)
def test_what_can_be_told_is_read(line: str) -> None:
    """A row, a column, a vector whose entries are all the same, and functions of rows."""
    judged = derive(SQUARE + line)
    assert judged.proved
    assert judged.along == ()


@pytest.mark.parametrize("sizes", [("n", "n"), ("m", "n"), ("n", "m"), ("3", "n"), ("n", "3")])
def test_no_verdict_depends_on_the_names_of_sizes(sizes: tuple[str, str]) -> None:
    """A bias on keys changes weights, one on queries does not; read as neither it is a fault."""
    queries, keys = sizes
    given = f"Q: {queries} x d\nK: {keys} x d\n"
    on_keys = f"b: {keys}\nsoftmax(Q K^T + b) = softmax(Q K^T)"
    (judged,) = derive(given + on_keys).lines
    assert judged.status == ("undecided" if queries == keys else "refuted")
    on_queries = f"b: {queries}\nsoftmax(Q K^T + b) = softmax(Q K^T)"
    (judged,) = derive(given + on_queries).lines
    assert judged.status == ("undecided" if queries == keys else "proved")


def test_one_number_in_brackets_is_a_number() -> None:
    """Beside a vector, which stays one."""
    text = "A: n x n\nx: n\nu = rowsum(colsum(A)) * x\nu[i] = total(A) * x[i]"
    assert derive(text).proved
