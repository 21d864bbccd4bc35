"""Floats: the quick arithmetic, for sizing things up; never for a printed digit.

A matrix may have axes before its rows and columns: then it stands for many at
once, and so does all that is computed from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs.nodes import ELEMENTWISE, FLOW, Node

Matrix = npt.NDArray[np.float64]


class FloatOperations:
    """The operations on NumPy arrays; a masked score is ``-inf``."""

    centres = False

    def apply(self, node: Node, operands: list[Matrix]) -> Matrix:
        """See :class:`~symattn.programs.running.Arithmetic`."""
        with np.errstate(all="ignore"):
            result: Matrix = _OPERATIONS[node.op](node, *operands)
        return result


def _product(node: Node, x: Matrix, y: Matrix) -> Matrix:
    if node.extra == FLOW:
        x, y = (np.where(np.isneginf(factor), 0.0, factor) for factor in (x, y))
    product: Matrix = x * y
    return product


def _softmax(node: Node, x: Matrix) -> Matrix:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    weights: Matrix = powers / powers.sum(axis=-1, keepdims=True)
    return weights


def _concat(node: Node, *parts: Matrix) -> Matrix:
    many = np.broadcast_shapes(*(part.shape[:-2] for part in parts))
    return np.concatenate([np.broadcast_to(x, many + x.shape[-2:]) for x in parts], axis=-1)


def _pick(node: Node, x: Matrix) -> Matrix:
    rows, columns = node.extra
    picked: Matrix = x[..., np.array(rows)[:, None], np.array(columns)]
    return picked


def _scatter(node: Node, x: Matrix) -> Matrix:
    rows, columns = node.extra
    result = np.zeros(x.shape[:-2] + node.grid)
    result[..., np.array(rows)[:, None], np.array(columns)] = x
    return result


#: NumPy has none.
_erf = np.vectorize(math.erf, otypes=[float])


def matrix(rows: Iterable[Iterable[Value | Masked]]) -> Matrix:
    """Floats close to exact entries."""
    return np.array(
        [[-np.inf if isinstance(x, Masked) else float(x.ball(64)) for x in row] for row in rows]
    )


#: Operations that only move entries, or repeat them.
MOVING: Mapping[str, Callable[[Node, Matrix], Matrix]] = {
    "copy": lambda node, x: x,
    "reshape": lambda node, x: x,
    "transpose": lambda node, x: x.swapaxes(-1, -2),
    "pick": _pick,
    "scatter": _scatter,
    "spread": lambda node, x: np.broadcast_to(x, x.shape[:-2] + node.grid),
}
_OPERATIONS: Mapping[str, Callable[..., Matrix]] = {
    **MOVING,
    "constant": lambda node: np.full((1, 1), float(node.extra.ball(64))),
    "table": lambda node: matrix(node.extra),
    "triangle": lambda node: np.tril(np.ones(node.grid)),
    "negate": lambda node, x: -x,
    "add": lambda node, x, y: x + y,
    "subtract": lambda node, x, y: x - y,
    "multiply": _product,
    "divide": lambda node, x, y: x / y,
    "matmul": lambda node, x, y: x @ y,
    "maximum": lambda node, x, y: np.maximum(x, y),
    "above": lambda node, x, y: (x > y).astype(float),
    **{name: lambda node, x: getattr(np, node.op)(x) for name in ELEMENTWISE if name != "erf"},
    "erf": lambda node, x: _erf(x),
    "softmax": _softmax,
    "hide": lambda node, x, keep: np.where(keep == 0, -np.inf, x),
    "concat": _concat,
    "rowsum": lambda node, x: x.sum(axis=-1, keepdims=True),
    "colsum": lambda node, x: x.sum(axis=-2, keepdims=True),
    "rowmax": lambda node, x: x.max(axis=-1, keepdims=True),
    "total": lambda node, x: x.sum(axis=(-1, -2), keepdims=True),
}
