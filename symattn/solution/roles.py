"""What a quantity of attention is: which part, of which call, and where in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

#: The parts of attention and of its gradients.
AttentionPart = Literal[
    "scores", "weights", "output", "lse", "dQ", "dK", "dV", "dA", "dS", "dBias", "dSink"
]


@dataclass(frozen=True, eq=False)
class AttentionRole:
    """A part of attention: what an array beside it is judged by.

    ``forward`` is the :class:`~symattn.solution.attention.Attention` that it belongs to,
    ``backward`` its gradients; both are made of quantities, which know only that they are
    there. ``keys`` are the indices that were taken of the whole part, one after the other.

    >>> from symattn import attention
    >>> made = attention([[1]], [[1], [2]], [[3], [4]], scale=1)
    >>> made.output.role.part, made.weights[0].role.keys
    ('output', (0,))
    """

    part: AttentionPart
    forward: Any
    backward: Any = None
    keys: tuple[Any, ...] = ()

    def taken(self, key: Any) -> AttentionRole:
        """The role of what an index takes of the quantity."""
        return replace(self, keys=(*self.keys, key))
