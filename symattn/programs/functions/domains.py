"""Which numbers the functions of steps are of: one table.

What operations refuse by themselves does not stand here: the logarithm and the root of negative
numbers, divisions by 0, masks other than 0 and 1, rows that are masked whole. What stands here
are numbers that a function's formula is defined for, and means nothing: a class beyond the last,
a negative share. Numbers are known when a case is solved, which holds them against the table
(:mod:`symattn.solution.domains`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from symattn.programs.functions.losses import weighted
from symattn.programs.nodes import Node


@dataclass(frozen=True)
class Domain:
    """Numbers from ``least``, or above it where that is left ``out``, to ``most``; ``whole``
    ones only.

    >>> str(Domain(0, 2, whole=True)), str(Domain(0)), str(Domain(0, out=True)), str(Domain(0, 1))
    ('a whole number from 0 to 2', 'at least 0', 'a number above 0', 'a number from 0 to 1')
    """

    least: int
    most: int | None = None
    whole: bool = False
    out: bool = False

    def __str__(self) -> str:
        if (self.least, self.most, self.whole) == (0, 1, True):
            return "0 or 1"
        kind = "a whole number" if self.whole else "a number"
        if self.most is not None:
            return f"{kind} from {self.least} to {self.most}"
        return f"{kind} above {self.least}" if self.out else f"at least {self.least}"


#: What a call was given, by parameter.
_Given = Mapping[str, Any]
_Domain = Callable[[_Given], Domain]


def _is(domain: Domain) -> _Domain:
    return lambda given: domain


def _classes(count: int) -> Domain:
    return Domain(0, count - 1, whole=True)


def _targets(given: _Given) -> Domain:
    """Weights of all classes, or whole numbers."""
    x, targets = given["x"], given["targets"]
    return _WEIGHT if targets.shape == x.shape else _classes(x.shape[-1])


_WEIGHT, _SHARE, _ABOVE_0 = Domain(0), Domain(0, 1), Domain(0, out=True)

#: What each parameter of a function may be, by their names.
DOMAINS: Mapping[str, Mapping[str, _Domain]] = {
    "onehot": {"ids": lambda given: _classes(given["n"])},
    "embedding": {"ids": lambda given: _classes(given["table"].shape[0])},
    "nll": {"targets": _targets},
    "cross_entropy": {"targets": _targets, "label_smoothing": _is(_SHARE)},
    "binary_cross_entropy": {"targets": _is(_SHARE)},
    "entropy": {"x": _is(_WEIGHT)},
    "where": {"M": _is(Domain(0, 1, whole=True))},
    "padding": {"lengths": lambda given: Domain(0, given["x"].shape[1], whole=True)},
    "layernorm": {"eps": _is(_WEIGHT)},
    "rmsnorm": {"eps": _is(_WEIGHT)},
    "rope": {"base": _is(_ABOVE_0)},
    "positions": {"base": _is(_ABOVE_0)},
}

#: Weights, and the logarithms that they weigh: one that is minus infinity has weight 0.
WEIGHTED: Mapping[str, Callable[[Node], tuple[Node, Node]]] = {
    "nll": weighted,
    "cross_entropy": weighted,
}
