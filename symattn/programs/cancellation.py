"""Cancellation in a matrix product, told from what flows into scores and what weights are.

What flows into scores sums to 0 by rows, weights sum to 1: products are enclosed closely, or
known to be 0, where the terms that are as good as all of them cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from flint import arb, arb_mat

from symattn.expressions.elementary import ELEMENTWISE
from symattn.programs.nodes import FLOW, Node, weights_of_mean


def sums_to_zero(node: Node, keys: Node | None = None) -> bool:
    """Return whether each row is known to sum to 0: that of ``A * (g - rowsum(A * g))``, what flows
    into the scores of a softmax A, with a mask that A has too, or scaled by a number. Where
    the rows of ``keys`` are equal, by any function of products with them, too.

    >>> from symattn.programs.program import differentiate
    >>> from symattn.programs.program import program
    >>> steps = {"S": "Q @ K.T", "A": "softmax(causal(S) / 2)"}
    >>> p = differentiate(program({"Q": (3, 3), "K": (3, 3)}, steps), "A")
    >>> sums_to_zero(p.gradients["S"]), sums_to_zero(p.gradients["A"])
    (True, False)
    """
    masks: list[Node] = []
    while node.op in ("copy", "divide", "multiply"):
        x, *factors = node.operands
        for side, other in (node.operands, node.operands[::-1]) if node.op == "multiply" else ():
            weights = weights_of_mean(side)
            if weights is other:
                masked = {mask.serial for mask in _masks(weights.operands[0])}
                return all(mask.serial in masked or _is_even(mask, keys) for mask in masks)
        if node.op == "multiply" and node.extra != FLOW and x.grid == (1, 1):
            x, factors = factors[0], [x]
        masks += [factor for factor in factors if factor.grid != (1, 1)]
        node = x
    return False


def has_equal_rows(x: arb_mat) -> bool:
    """Return whether all rows are exactly the same.

    >>> has_equal_rows(arb_mat(2, 1, [3, 3])), has_equal_rows(arb_mat(2, 1, [3, 4]))
    (True, False)
    """
    first, *others = x.tolist()
    return all(a.is_exact() and a == b for row in others for a, b in zip(first, row, strict=True))


def _is_even(node: Node, keys: Node | None) -> bool:
    """Return whether the entries of each row are equal where the rows of ``keys`` are: what a soft
    cap's slopes are where all scores of a query are one."""
    if node.op == "matmul":
        right = node.operands[1]
        return right.op == "transpose" and right.operands[0] is keys
    if node.grid == (1, 1):
        return True
    return node.op in _ENTRYWISE and all(_is_even(x, keys) for x in node.operands)


#: Operations each of whose entries comes from the same entries of what they are given.
_ENTRYWISE = {*ELEMENTWISE, "copy", "negate", "add", "subtract", "multiply", "divide"}


def _masks(scores: Node) -> Iterator[Node]:
    """The masks that hide scores, and those below them that are scaled or added to."""
    while scores.op in ("copy", "hide", "divide", "multiply", "add", "subtract"):
        if scores.op == "hide":
            yield scores.operands[1]
        scores = scores.operands[0]


#: An entry of a product, of the row at that place of the left factor, and of a column.
_Dot = Callable[[int, Sequence[Sequence[arb]], Sequence[arb]], arb]


def closer_product(node: Node) -> _Dot | None:
    """Return what encloses entries of a matrix product closely where the terms that are as good as
    all of it cancel; None where nothing is known of the left factor.

    What flows into scores sums to 0 by rows, weights sum to 1: two of a row that share nearly
    all of it are as good as opposite, two weights that are nearly 1 as good as equal.
    """
    left = node.operands[0]
    if sums_to_zero(left):
        return _from_heaviest
    if left.op == "transpose" and left.operands[0].op == "softmax":
        return _by_complements
    return None


def _from_heaviest(i: int, left: Sequence[Sequence[arb]], y: Sequence[arb]) -> arb:
    """``sum of x_k y_k`` for x that sum to 0, y seen from where x is heaviest.

    >>> _from_heaviest(0, [[arb(-3), arb("3 +/- 0.1")]], [arb(5), arb(5)])
    0
    """
    x = left[i]
    heaviest = max(range(len(x)), key=lambda k: abs(x[k].mid()))
    middle = y[heaviest]
    others = (k for k in range(len(x)) if k != heaviest)
    return sum((x[k] * (y[k] - middle) for k in others), arb(0))


def _by_complements(i: int, left: Sequence[Sequence[arb]], y: Sequence[arb]) -> arb:
    """``sum of x_k y_k`` where each x_k is one of a column that sums to 1: one that is nearly
    1 by what the others leave.

    >>> tiny = arb("1e-99")
    >>> _by_complements(0, [[1 - tiny, 1 - tiny], [tiny, tiny]], [arb(5), arb(-5)]) < 1e-110
    True
    """
    whole = rest = arb(0)
    for k, factor in enumerate(y):
        weight = left[i][k]
        if weight > 0.5:
            whole += factor
            weight = -sum((row[k] for at, row in enumerate(left) if at != i), arb(0))
        rest += weight * factor
    return whole + rest
