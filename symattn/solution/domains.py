"""Numbers held against what functions are of (:mod:`symattn.programs.functions.domains`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from symattn.errors import Fault, short
from symattn.numbers import rounding
from symattn.numbers.doubles import DoubleDouble
from symattn.numbers.reading import HIDDEN, Masked
from symattn.numbers.values import Value, compare, rational
from symattn.programs.functions.domains import DOMAINS, WEIGHTED, Domain
from symattn.programs.nodes import Node
from symattn.shapes import keys
from symattn.verdicts import Verdict

Flags = npt.NDArray[np.bool_]
#: Pairs of floats around the entries of a node, and its exact entries.
Known = tuple[Callable[[Node], DoubleDouble], Callable[[Node, int, int], "Value | Masked"]]


def faults(nodes: Iterable[Node], known: Known) -> Iterator[Fault]:
    """The numbers that a function of one of the nodes is not of, each once: by the last of the
    calls that take it, which the others are part of."""
    reported: set[int] = set()
    for node in reversed([*nodes]):
        written = node.written
        if written is None:
            continue
        for parameter, domain in DOMAINS.get(written.function, {}).items():
            operand = written.given.get(parameter)
            if operand is None or (source := _source(operand)) in reported:
                continue
            expected = domain(written.given)
            for place, number in _outside(operand, expected, known):
                reported.add(source)
                what = f"expected {expected}, found {number}"
                yield Fault(f"{written.function}: {parameter}{place}", what)
        if written.function in WEIGHTED and not reported.intersection(
            map(_source, written.operands)
        ):
            yield from _infinite(node, written.function, known)


def _source(node: Node) -> int:
    while node.op in ("copy", "reshape"):
        (node,) = node.operands
    return node.serial


def _outside(node: Node, domain: Domain, known: Known) -> Iterator[tuple[str, str]]:
    pairs, exact = known
    doubtful = ~np.broadcast_to(_inside(pairs(node), domain), node.grid)
    for i, j in np.argwhere(doubtful).tolist():
        value = exact(node, i, j)
        if isinstance(value, Masked) or not _holds(value, domain):
            yield "".join(f"[{k}]" for k in keys(node.shape, i, j)), _said(value)


def _said(value: Value | Masked) -> str:
    if isinstance(value, Masked):
        return "-inf"
    if value.rational() is not None:
        return short(str(value), 40)
    return str(rounding.significant(value, 6, "half-even"))


def _inside(x: DoubleDouble, domain: Domain) -> Flags:
    """Where pairs of floats are certain to be in a domain."""
    is_exact = (x.low == 0) & (x.error == 0)
    # What a pair may be beyond its first float, and the rounding of adding it.
    reach = np.where(is_exact, 0.0, 2 * (abs(x.low) + x.error) + 2.0**-1000)
    inside = x.high - reach >= domain.least
    if domain.out:
        inside &= x.high - reach > domain.least
    if domain.most is not None:
        inside &= x.high + reach <= domain.most
    if domain.whole:
        inside &= is_exact & (x.high == np.floor(x.high))
    return np.asarray(inside)


def _holds(value: Value, domain: Domain) -> bool:
    if domain.whole:
        near = value.ball(64).mid().unique_fmpz() or round(float(value.ball(64).mid()))
        if compare(value, rational(int(near))) is not Verdict.HOLDS:
            return False
    if domain.most is not None and value > domain.most:
        return False
    return value > domain.least or (not domain.out and value >= domain.least)


def _infinite(node: Node, function: str, known: Known) -> Iterator[Fault]:
    """Where a logarithm is minus infinity, and its weight is not 0."""
    weights, levels = WEIGHTED[function](node)
    pairs, exact = known
    masked = np.broadcast_to(~np.isfinite(pairs(levels).high), levels.grid)
    for i, j in np.argwhere(masked).tolist():
        if exact(levels, i, j) is not HIDDEN:
            continue
        weight = exact(weights, i, j)
        if isinstance(weight, Masked) or weight.is_zero() is not Verdict.HOLDS:
            what = f"the logit is masked (-inf) and its target is {_said(weight)}, not 0"
            yield Fault(f"{function}: x[{i}][{j}]", f"{what}: the loss is infinite")
