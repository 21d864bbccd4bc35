"""What a message says to write instead."""

from __future__ import annotations

import pytest

from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.programs.program import RESERVED, name_fault, program

GIVEN = {"Q": [[1, 2, 3], [3, 4, 5]], "K": [[1, 2], [3, 4], [5, 6]], "d_k": 1}


def said(step: str) -> str:
    """The one fault of a case with that step."""
    with pytest.raises(Malformed) as caught:
        make("advice", GIVEN, {"S": "Q @ K", "A": step})
    (fault,) = caught.value.faults
    assert fault.where == "steps.A"
    return fault.message


TRANSPOSE = "the transpose is written X.T"
POWER = "a power is written X**2"


@pytest.mark.parametrize(
    ("step", "advice"),
    [
        *((step, TRANSPOSE) for step in ("Q^T", "Q^{T}", "Q ^ ⊤", r"Q^\top", "Q'", "Q’", "Qᵀ",
                                         "Q.transpose()", "Q.t()", "Q.mT", "np.transpose(Q)",
                                         "transpose(Q)", "Q K^T")),
        *((step, POWER) for step in ("Q^2", "Q²", "Q^-1", "pow(Q, 2)", "np.square(Q)")),
        ("Q K", "write 'Q @ K' for the matrix product, 'Q * K' entry by entry"),
        ("Q K.T", "write 'Q @ K' for the matrix product"),
        ("softmax(Q K)", "write 'Q @ K' for the matrix product"),
        ("2 Q", "'@' for the matrix product, '*' entry by entry"),
        ("(Q) K", "'@' for the matrix product, '*' entry by entry"),
        ("softmax(S) Q", "'@' for the matrix product, '*' entry by entry"),
        ("Q (K)", "Q is a quantity, no function: write 'Q @ (...)' or 'Q * (...)'"),
        ("np.sqrt(d_k)", "write sqrt(...), without 'np.'"),
        ("numpy.exp(S)", "write exp(...), without 'numpy.'"),
        ("torch.softmax(S)", "write softmax(...), without 'torch.'"),
        ("torch.nn.functional.softmax(S)", "write softmax(...), without 'torch.nn.functional.'"),
        ("F.softmax(S, dim=-1)", "write softmax(...), without 'F.'"),
        ("softmax(S, axis=2)", "axis: expected -1 or 1, along rows, or 0, down columns, found 2"),
        ("sum(S, axis=1, keepdims=False)", "write X[:, 0] for a column as a vector"),
        ("softmax(S, 1, 2)", "softmax(x, axis=-1, sink=None) takes at most 2, found 3"),
        ("layernorm(S, eps=S)", "expected a number for eps, found "),
        ("layernorm(S)", "layernorm(x, gamma=None, beta=None, eps=...) needs eps"),
        ("gelu(S, approximate=tan)", 'expected "none" or "tanh", found tan'),
        ("Q ** K", "a power takes a whole number written out, found a quantity"),
        ("Q ** 0.3", "or 1/2 for the square root"),
        ("np.matmul(Q, K)", "the matrix product is written '@'"),
        ("Q.dot(K)", "the matrix product is written '@'"),
        ("Q × K", "'*' goes entry by entry, the matrix product is '@'"),
        ("Q · K", "'*' goes entry by entry, the matrix product is '@'"),
        ("S.exp()", "write exp(S)"),
        ("(S @ S).exp()", "write exp(X)"),
        ("len(Q)", "write rows(X) or cols(X)"),
        ("Q.shape", "write rows(X) or cols(X)"),
        ("argmax(Q)", "only statements have it, under 'holds'"),
        ("mse_loss(Q, Q)", "write mse(X, T)"),
        ("ln(Q)", "write log(X)"),
        ("√(d_k)", "write sqrt(...)"),
        ("α * Q", "spell it out"),
        ("Q = K", "compared with '=='"),
        ("$Q$", "LaTeX is not read here"),
        (r"\frac{Q}{2}", "LaTeX is not read here"),
        ("sofmax(S)", "did you mean softmax?"),
        ("Softmax(S)", "did you mean softmax?"),
        ("s", "did you mean S?"),
        ("d_K", "did you mean d_k?"),
        ("e", "write exp(1) for Euler's number"),
        ("softmax", "as a function it needs brackets"),
        ("upstream", "write dL/dY of the output Y"),
    ],
)  # fmt: skip
def test_what_to_write_instead(step: str, advice: str) -> None:
    """Of the mathematics, NumPy and PyTorch that authors paste."""
    assert advice in said(step)


@pytest.mark.parametrize("step", ["Q − K.T", "Q.T × K", "Q.T · K", "Q[0][1] × 2", "Q @ K ÷ d_k"])
def test_what_is_read_as_it_is(step: str) -> None:
    """Typographic signs, and indices one after the other."""
    assert "A" in make("read", GIVEN, {"A": step}).steps


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_reserved_name_has_a_reason(name: str) -> None:
    """What it is for, and another name that is none of them."""
    message = name_fault(name)
    reason, _, other = message.partition(": call it ")
    assert reason.startswith(f"{name!r} is reserved for ")
    for instead in other.split(" or "):
        assert name_fault(instead) == ""
    with pytest.raises(Malformed, match="is reserved for"):
        program({"X": ()}, {name: "X"})
    with pytest.raises(Malformed) as caught:
        program({"X": ()}, {"A": name})
    assert str(caught.value).startswith(("steps.A: ", "steps.dL: "))


def test_eulers_number() -> None:
    """A matrix may be called e; a number that is would be read as Euler's."""
    assert "e" in make("matrix", GIVEN, {"e": "Q @ K"}).steps
    for given, steps in (({**GIVEN, "e": 1}, {}), (GIVEN, {"e": "d_k"})):
        with pytest.raises(Malformed, match="'e' is reserved for Euler's number: call it E or e1"):
            make("number", given, steps)


@pytest.mark.parametrize("name", ["max", "rows", "softmax", "sum", "pi", "sign"])
def test_functions_do_not_reserve_their_names(name: str) -> None:
    """A quantity of that name and the function live side by side."""
    case = make("both", GIVEN, {name: "Q * 2", "B": f"total({name}) + rows({name})"})
    assert case.program.shapes()[name] == (2, 3)
