"""Attention without a file: exact scores, weights, output and gradients."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from symattn.cases.case import Case, make, read_rows, shape_of
from symattn.errors import Fault, Malformed
from symattn.shapes import show
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution


class Attention:
    """Exact attention; made by :func:`attention`."""

    def __init__(self, given: dict[str, Any], steps: dict[str, str]) -> None:
        self._given = given
        self._steps = steps
        self.solution = Solution(self._case(None))

    def _case(self, upstream: Any) -> Case:
        loss = {"output": "Y", "upstream": upstream, "wrt": ["Q", "K", "V", "A", "M"]}
        return make("attention", self._given, self._steps, loss)

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

    def backward(self, upstream: Any = None) -> Gradients:
        """Gradients of the loss ``sum(upstream * output)``.

        ``upstream`` is dL/dY, n_q x d_v, exact numbers or symbol names such
        as ``"g1"``; all ones unless given. Raises :class:`Malformed` for
        another shape.
        """
        return Gradients(Solution(self._case(upstream)))

    def _repr_latex_(self) -> str:
        return self.output._repr_latex_()


class Gradients:
    """Gradients of one loss; made by :meth:`Attention.backward`."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution

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


def attention(Q: Any, K: Any, V: Any, mask: Any = None, scale: Any = None) -> Attention:
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
    _need_matrices(given)
    if scale is None:
        given["d_k"] = shape_of(_plain(Q))[1]
    else:
        if shape := shape_of(_plain(scale)):
            raise Malformed(f"scale: expected a number, found {show(shape)}")
        given["scale"] = scale
    steps = {"S": "Q @ K.T", "T": "S / sqrt(d_k)" if scale is None else "S * scale", "M": "T"}
    if isinstance(mask, str) and mask == "causal":
        steps["M"] = "causal(T)"
    elif mask is not None:
        if isinstance(mask, str):
            raise Malformed(f"mask: expected None, 'causal' or a matrix, found {mask!r}")
        given["keep"] = mask
        steps["M"] = "mask(T, keep)"
    return Attention(given, {**steps, "A": "softmax(M)", "Y": "A @ V"})


def _plain(data: Any) -> Any:
    return data.tolist() if hasattr(data, "tolist") else data


def _need_matrices(given: dict[str, Any]) -> None:
    faults: list[Fault] = []
    for name, data in given.items():
        try:
            shape, _ = read_rows(data)
            if len(shape) != 2:
                faults.append(Fault(name, f"expected a matrix, found {show(shape)}"))
        except Malformed as error:
            faults += [fault.inside(name) for fault in error.faults]
    if faults:
        raise Malformed(faults)
