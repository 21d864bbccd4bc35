"""What words conclude is no definition of what is given, and no sign is a letter."""

from __future__ import annotations

import pytest

from symattn.calculus.library import derive

NUMBERS = "x: number\ny: number\nb: number\nx_b: number\n"
ARRAYS = "y: n\ny2: n\nb: number\nx: number\nx_b: number\n"


@pytest.mark.parametrize(
    "line",
    [
        "It follows that y = x.", "Hence x = y.", "therefore: x = 2y", "thus x = 2y", "so x = 2y",
        "We prove that x = y.", "Claim: x = y", "Theorem. x = y", "Show that x = y.",
        "By the chain rule, x = 2b", "Q.E.D. x = 7", "From (1) we get x = 7",
        "x = 1 => x^2 = 1", "x = 1 ⇒ x^2 = 1", r"x = y \implies x^2 = y^2", "x = y, so x^2 = y^2",
        "Hence x = y, where b > 0", "By the given rule, x = 2b",
        "since x = y, x^2 = y^2", "Daraus folgt x = y", "On obtient x = y",
    ],
)  # fmt: skip
def test_what_is_concluded_is_no_definition(line: str) -> None:
    """Of what is given: it would make whatever is claimed true."""
    judged = derive(f"{NUMBERS}\n{line}\nx - y = 0")
    assert not judged.proved
    (fault,) = [fault for fault in judged.faults if "is given" in str(fault)]
    assert "':=" not in str(fault)
    assert ":= ..." in str(fault)


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        ("Let A = softmax(S).", "rowsum(A) = ones(n)"),
        ("A = softmax(S)", "rowsum(A) = ones(n)"),
        ("so let A = softmax(S)", "rowsum(A) = ones(n)"),
        ("Hence A := softmax(S)", "rowsum(A) = ones(n)"),
        ("We define P = softmax(S)", "rowsum(P) = ones(n)"),
        ("So rowsum(softmax(S)) = ones(n), where A = softmax(S)", "rowsum(A) = ones(n)"),
    ],
)
def test_definitions_stay_definitions(line: str, claim: str) -> None:
    """Where nothing says that they follow, or where the name is new."""
    assert derive(f"S: n x m\nA: n x m\n{line}\n{claim}").proved


@pytest.mark.parametrize("sign", ["×", "÷"])
@pytest.mark.parametrize(
    "line",
    ["y2 - y{}2 = 0", "sum(y{}2) = sum(y2)", "x{}b = x_b", "exp(x{}b) = exp(x_b)", "y{}2 = y",
     "x + x{}b = x + x_b", "diff(x{}b, x) = 0", "limit(x, 0, x{}b) = x_b", "y = y{}", "y = {}y",
     "sum(y) = sum({}y)", "n{}b = n", "x{}b = x"],
)  # fmt: skip
def test_signs_are_no_letters_of_names(line: str, sign: str) -> None:
    """Without blanks around them, too."""
    assert not derive(f"{ARRAYS}\nb = b\n{line.format(sign)}").proved


def test_products_without_blanks_are_products() -> None:
    """As they are with blanks."""
    assert derive("x: number\nb: number\nx×b = b*x\nx÷2 = x/2").proved


@pytest.mark.parametrize("line", ["y\u200b2 = y", "y\u00ad2 = y", "x\u2062b = x", "\u00e9^2 = e^2"])
def test_what_is_not_seen_is_told(line: str) -> None:
    """An invisible sign, or a mark that means nothing."""
    judged = derive(f"{ARRAYS}\nb = b\n{line}")
    assert not judged.proved
    assert any("take it out" in str(fault) for fault in judged.faults)
