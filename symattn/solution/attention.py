"""Attention without a file: exact scores, weights, output and gradients."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from symattn.cases.case import Case, make, with_upstream
from symattn.errors import Fault, Faults, Malformed
from symattn.numbers.rows import shape_of
from symattn.shapes import show
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution

#: No mask, the mask of that name, or a matrix of 1 (keep) and 0 (hide).
Mask = Literal["causal"] | object | None


class Attention:
    """Exact attention; made by :func:`attention`."""

    def __init__(self, case: Case) -> None:
        self.solution = Solution(case)

    def __repr__(self) -> str:
        return f"<Attention: {show(self.weights.shape)} weights, {show(self.output.shape)} output>"

    @property
    def scores(self) -> Quantity:
        """What softmax sees: scaled, masked scores, n_q x n_k."""
        return self.solution["M"]

    @property
    def weights(self) -> Quantity:
        """The softmax of each row of scores, n_q x n_k."""
        return self.solution["A"]

    @property
    def output(self) -> Quantity:
        """Weights times values, n_q x d_v."""
        return self.solution["Y"]

    def backward(self, upstream: object = None) -> Gradients:
        """Gradients of the loss ``sum(upstream * output)``.

        ``upstream`` is dL/dY, n_q x d_v, exact numbers or symbol names such
        as ``"g1"``; all ones unless given. The forward pass is not run again.
        Raises :class:`Malformed` for another shape.
        """
        case = with_upstream(self.solution.case, upstream)
        return Gradients(Solution(case, forward=self.solution))

    def _repr_latex_(self) -> str | None:
        return self.output._repr_latex_()

    def _repr_html_(self) -> str:
        return self.output._repr_html_()


class Gradients:
    """Gradients of one loss; made by :meth:`Attention.backward`."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution

    def __repr__(self) -> str:
        return "<Gradients: dQ, dK, dV, dA, dS>"

    @cached_property
    def dQ(self) -> Quantity:
        """dL/dQ, n_q x d_k."""
        return self.solution.gradient("Q")

    @cached_property
    def dK(self) -> Quantity:
        """dL/dK, n_k x d_k."""
        return self.solution.gradient("K")

    @cached_property
    def dV(self) -> Quantity:
        """dL/dV, n_k x d_v."""
        return self.solution.gradient("V")

    @cached_property
    def dA(self) -> Quantity:
        """dL/dA, n_q x n_k."""
        return self.solution.gradient("A")

    @cached_property
    def dS(self) -> Quantity:
        """The gradient into the scaled, masked scores, n_q x n_k."""
        return self.solution.gradient("M")


def attention(
    Q: object, K: object, V: object, mask: Mask = None, scale: object = None
) -> Attention:
    """Exact attention of queries Q (n_q x d_k), keys K (n_k x d_k) and values
    V (n_k x d_v): ``softmax(scale * Q K^T) V`` (Vaswani et al., 2017, eq. 1).

    Entries are integers, Fractions, Decimals, exact text (``"1/3"``,
    ``"sqrt(2)"``) or SymPy numbers; floats are refused, see
    :func:`symattn.from_floats`. ``mask`` is None, ``"causal"`` or n_q x n_k of
    1 (keep) and 0 (hide); ``scale`` is an exact number, ``1/sqrt(d_k)`` unless
    given. Raises :class:`Malformed` with every fault.

    >>> a = attention([[1, 0]], [[1, 0], [0, 1]], [[1], ["1/2"]], scale=1)
    >>> print(a.weights.at(0, 0), a.output.decimal(4), sep=", ")
    e/(1 + e), ((Decimal('0.8655'),),)
    >>> print(a.backward([["g"]]).dV.at(1, 0))
    1/(1 + e)*g
    """
    given = {"Q": Q, "K": K, "V": V}
    faults = Faults()
    for name, data in given.items():
        with faults.inside(name):
            _need(2, "a matrix", data)
    steps = {"S": "Q @ K.T", "T": "S / sqrt(cols(K))", "M": "T"}
    if scale is not None:
        given["scale"] = scale
        steps["T"] = "S * scale"
        with faults.inside("scale"):
            _need(0, "a number", scale)
    if isinstance(mask, str):
        steps["M"] = "causal(T)"
        if mask != "causal":
            faults.append(Fault("mask", f"expected None, 'causal' or a matrix, found {mask!r}"))
    elif mask is not None:
        given["keep"] = mask
        steps["M"] = "mask(T, keep)"
    steps |= {"A": "softmax(M)", "Y": "A @ V"}
    loss = {"output": "Y", "wrt": ["Q", "K", "V", "A", "M"]}
    try:
        case = make("attention", given, steps, loss)
    except Malformed as error:
        raise Malformed([*faults, *_others(error, faults)]) from None
    faults.raise_all()
    return Attention(case)


def _others(error: Malformed, told: list[Fault]) -> Iterator[Fault]:
    """The faults of a case as those of the arguments, but for what is told
    already and what follows from that."""
    known = {fault.where for fault in told}
    for fault in error.faults:
        if fault.where.startswith("given."):
            place = re.sub(r"^keep\b", "mask", fault.where.removeprefix("given."))
            if place not in known:
                yield Fault(place, fault.message)
        elif not known:
            yield fault


def _need(axes: int, what: str, data: object) -> None:
    """Raise where numbers, which are not read here, have another number of axes."""
    shape = shape_of(data)
    if len(shape) != axes:
        raise Malformed(f"expected {what}, found {show(shape)}")
