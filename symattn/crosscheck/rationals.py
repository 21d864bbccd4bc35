"""Lines worked out in fractions, for what floats can't decide.

A comparison, a kink or a tie asks which of two numbers is larger. Where both are sums,
products and quotients of given rationals, as in many a walkthrough, fractions know it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from symattn.crosscheck.evaluation import Rows, Tracks, run
from symattn.crosscheck.lines import Place
from symattn.crosscheck.scalars import tracked
from symattn.crosscheck.tape import Tape

#: Operations that give fractions of fractions.
_RATIONAL = frozenset(
    {"copy", "spread", "selection", "transpose", "concat", "below", "reshape", "repeat", "outer"}
    | {"addition", "subtraction", "times", "quotient", "negation", "power", "product", "score"}
    | {"rowsum", "colsum", "total", "cumulative", "mean", "mean_square", "identity"}
    | {"diagonal", "diagonal_matrix", "relu", "absolute", "maximum", "minimum", "clip"}
    | {"row_maximum", "row_minimum", "greater", "at_least", "less", "at_most", "equal"}
    | {"unequal", "sign", "squared_error"}
)
#: Operations that ask which of two numbers is larger, in their result or in a gradient.
DECIDING = frozenset(
    {"relu", "absolute", "sign", "maximum", "minimum", "clip", "row_maximum", "row_minimum"}
    | {"greater", "at_least", "less", "at_most", "equal", "unequal"}
)
#: Most products of fractions that are formed for one line, some tenths of a second's work.
_MOST = 1 << 16


def rational(tape: Tape, lines: Sequence[Tracks], place: Place) -> Rows | None:
    """A line in fractions, where only such operations on rationals lead to it: what is
    rounding in floats is none there."""
    runs: dict[Place, Rows] = {}
    work = 0
    for each in sorted(tape.uses(place)):
        line = tape.lines[each]
        if line.operation == "entries":
            rows: Rows = [[entry.fraction for entry in row] for row in lines[each]]
            if any(entry is None for row in rows for entry in row):
                return None
        elif line.operation in _RATIONAL:
            inner = max((len(runs[operand][0]) for operand in line.operands), default=1)
            work += prod(line.grid) * inner
            if work > _MOST:
                return None
            try:
                rows = run(line, [runs[operand] for operand in line.operands])
            except ZeroDivisionError:
                return None
        else:
            return None
        # Signs and comparisons are plain numbers, whose quotients would be rounded.
        runs[each] = [[Fraction(entry) for entry in row] for row in rows]
    return runs[place]


def sharpened(tape: Tape, lines: Sequence[Tracks], place: Place) -> Tracks:
    """A line with its entries known as fractions, where they are ones."""
    rows = rational(tape, lines, place)
    if rows is None:
        return lines[place]
    return [[tracked(entry) for entry in row] for row in rows]
