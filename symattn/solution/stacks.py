"""Quantities of one shape along leading axes: one quantity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from symattn.shapes import Shape, grid
from symattn.solution.quantity import Quantity
from symattn.solution.sources import StackedSource


def stacked(
    name: str,
    lead: Shape,
    parts: Sequence[Quantity],
    undefined: npt.NDArray[np.bool_] | None = None,
) -> Quantity:
    """The parts along leading axes; ``undefined``, in the shape of all, tells which entries
    are not numbers.

    >>> from symattn import attention
    >>> two = attention([[[1]], [[2]]], [[[0], [1]]] * 2, [[[1], [0]]] * 2, scale=1)
    >>> two.output, two.output[1], two.output.decimal(2)[1][0][0], print(two.output[1, 0, 0])
    1/(1 + e^2)
    (<output: 2x1x1>, <output[1]: 1x1>, Decimal('0.12'), None)
    """
    first = parts[0]
    shape = (*lead, *first.shape)
    letters = tuple(sorted({letter for part in parts for letter in part.letters}))

    def coefficient(symbol: str | None) -> Quantity:
        title = f"{name} [{symbol or 1}]"
        return stacked(title, lead, [part.coefficient(symbol or "1") for part in parts], undefined)

    return Quantity(
        name,
        shape,
        StackedSource(
            [part.source for part in parts],
            first.grid,
            None if undefined is None else undefined.reshape(grid(shape)),
        ),
        first.rounding,
        letters,
        coefficient if letters else None,
        is_weights=first.is_weights,
    )
