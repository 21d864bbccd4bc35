"""The entries of one line, what flows back through it, and lines in fractions.

A definition gives the entries in any scalars, and what the chain rule makes of it the gradients.
Fractions are for what floats can't decide: a comparison, a kink or a tie asks which of two
numbers is larger. Where both are sums, products and quotients of given rationals, as in many a
case, fractions know it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from math import prod
from typing import Any

from symattn.crosscheck import definitions
from symattn.crosscheck.lines import Place, TapeLine
from symattn.crosscheck.scalars import PI, UNKNOWN, CannotTell, Noted, Tracked, sent_back, tracked
from symattn.crosscheck.tape import Tape

Rows = list[list[Any]]
Tracks = list[list[Tracked]]

#: Beyond this a row of scores is shifted before its exponentials: they can't overflow, and
#: complex steps don't underflow in them all.
_STEEP = 100.0
#: Which operand is a mask.
MASKS = definitions.taking("Mask")
#: Operations on the exponentials of rows; where a constant is taken off a row, the last
#: is less by it and the others stay the same.
_SHIFTED = ("softmax", "log_softmax", "logsumexp")


def entries(name: str, bindings: Mapping[str, Any], grid: tuple[int, int]) -> Rows:
    """All entries of a definition; parameters that are not bound are indices, row first.

    One that floats can't decide is unknown.
    """
    function = definitions.definition(name)
    parameters = definitions.parameters(name)
    fixed = [bindings[parameter] for parameter in parameters if parameter in bindings]
    free = len(parameters) - len(fixed)

    def entry(*indices: int) -> Any:
        try:
            return function(*fixed, *indices)
        except CannotTell:
            return UNKNOWN

    rows, columns = range(grid[0]), range(grid[1])
    if free == 2:
        return [[entry(i, j) for j in columns] for i in rows]
    if free == 0:
        return [[entry()]]
    # One index runs along the row or the column that there is.
    return [[entry(j) for j in columns]] if len(rows) == 1 else [[entry(i)] for i in rows]


def _bindings(line: TapeLine, operands: Sequence[Rows], known: Sequence[Tracks]) -> dict[str, Any]:
    """Return what the definition of a line takes: operands as the kinds of its parameters say, and
    the sizes of the first and of the result."""
    pairs = zip(operands, known, strict=True)
    named = dict(zip(definitions.operands(line.operation), pairs, strict=True))
    first = operands[0] if operands else [[0]]
    sizes = {"n": len(first), "d": len(first[0]), "m": line.grid[1], **line.sizes}
    entry = first[0][0]
    is_tracked = isinstance(entry.plain if isinstance(entry, Noted) else entry, Tracked)
    number = Tracked if is_tracked else float
    bound: dict[str, Any] = {}
    for key, kind in definitions.parameters(line.operation).items():
        if key in named:
            rows, tracked = named[key]
            bound[key] = _whole(tracked, line) if kind == "Whole" else _taken(kind, rows, tracked)
        elif key == "pi":
            bound[key] = PI if is_tracked else math.pi
        elif key in sizes:
            bound[key] = sizes[key] if kind == "int" else number(float(sizes[key]))
    return bound


def _taken(kind: str, rows: Rows, known: Tracks) -> Any:
    """An operand as a definition takes it."""
    match kind:
        case "Scalar":
            return rows[0][0]
        case "Row":
            return rows[0]
        case "Column":
            return [row[0] for row in rows]
        case "Mask":
            return _kept(known)
    return rows


def _whole(ids: Tracks, line: TapeLine) -> list[int]:
    """The whole numbers of a row, each of which names one of the line's ``m`` classes."""
    if not all(is_class(entry, line.sizes["m"]) for entry in ids[0]):
        raise CannotTell
    return [int(entry.value) for entry in ids[0]]


def together(function: Callable[..., Any], *tables: Sequence[Sequence[Any]]) -> Rows:
    """Return what a function gives for the entries at each place of several tables."""
    rows = zip(*tables, strict=True)
    return [[function(*items) for items in zip(*row, strict=True)] for row in rows]


def is_class(entry: Tracked, classes: int) -> bool:
    """Return whether it is certainly a whole number from 0 to ``classes - 1``."""
    return not entry.error and entry.value.is_integer() and 0 <= entry.value < classes


def _kept(mask: Sequence[Sequence[Tracked]]) -> list[list[float]]:
    """Return what a mask holds: 0 or 1, whichever of them alone is near, and NaN where
    floats can't tell."""
    return [
        [near[0] if len(near := entry.near(0.0, 1.0)) == 1 else math.nan for entry in row]
        for row in mask
    ]


def _where_known(mask: Sequence[Sequence[float]], rows: Rows) -> Rows:
    """The entries, with nothing known of those that a mask may keep or not."""
    return together(lambda keep, entry: UNKNOWN if keep != keep else entry, mask, rows)


def values(rows: Sequence[Sequence[Tracked]]) -> list[list[float]]:
    """Tracked floats without their errors."""
    return [[entry.value for entry in row] for row in rows]


def run(line: TapeLine, operands: Sequence[Rows], known: Sequence[Tracks] = ()) -> Rows:
    """The entries of a line in any scalars; ``known`` are the operands in tracked floats.

    Masks, whole numbers and the shift of steep rows are decided by the known
    values, which keeps them the same for every scalar.
    """
    match line.operation:
        case "copy":
            return [list(row) for row in operands[0]]
        case "spread":
            (rows, columns), source = line.grid, operands[0]
            down, across = int(len(source) > 1), int(len(source[0]) > 1)
            return [[source[i * down][j * across] for j in range(columns)] for i in range(rows)]
        case "selection":
            return [[operands[0][i][j] for i, j in row] for row in line.picks]
    known = known or operands
    try:
        bound = _bindings(line, operands, known)
        # What flows into a target is the logit, be it masked.
        if line.operation == "cross_entropy" and not isinstance(operands[1][0][0], Noted):
            bound["P"] = _finite(operands[0], *known)
    except CannotTell:
        return [[UNKNOWN] * line.grid[1] for _ in range(line.grid[0])]
    if line.operation in _SHIFTED:
        tops = [max(row) for row in values(known[0])]
        shifts = [top if abs(top) > _STEEP else 0.0 for top in tops]
        bound["S"] = [
            [entry - shift for entry in row] if shift else row
            for row, shift in zip(operands[0], shifts, strict=True)
        ]
        if line.operation == "logsumexp":
            sums = entries(line.operation, bound, line.grid)
            return [[row[0] + shift] for row, shift in zip(sums, shifts, strict=True)]
        column = len(operands[0]), 1
        bound["Z"] = [row[0] for row in entries("normaliser", bound | {"m": line.grid[1]}, column)]
    computed = entries(line.operation, bound, line.grid)
    return _where_known(bound["M"], computed) if "M" in bound else computed


def _finite(logits: Rows, known: Tracks, targets: Tracks) -> Rows:
    """Logits that are masked as 0, as their targets are: 0 times -inf is NaN in plain floats."""
    if any(chain(*together(lambda x, part: x.is_masked and not part.is_zero, known, targets))):
        raise CannotTell
    return together(lambda entry, x: 0.0 if x.is_masked else entry, logits, known)


def flow(
    line: TapeLine,
    index: int,
    operands: Sequence[Rows],
    gradient: Rows,
    known: Sequence[Tracks] = (),
) -> Rows | None:
    """Return what flows from a line's result into its operand number ``index``; None: nothing.

    ``gradient`` is what arrives at the result; ``known`` are the operands in tracked floats.
    """
    if line.operation in definitions.names() and not definitions.flows(line.operation)[index]:
        return None
    match line.operation:
        case "copy":
            return gradient
        case "product" | "score":
            return _through_product(line, index, operands, gradient)
        case "softmax":
            return _through_weights(run(line, operands, known), gradient)
    known = known or operands
    journal: list[Noted] = []
    noted = [[Noted(entry, journal) for entry in row] for row in operands[index]]
    results = run(line, [*operands[:index], noted, *operands[index + 1 :]], known)
    if line.operation in MASKS:
        kept = _kept(known[MASKS[line.operation]])
    elif any(entry is UNKNOWN for entry in chain(*results)):
        return [[UNKNOWN] * len(row) for row in noted]
    else:
        kept = []
    sent_back(journal, [*zip(chain(*results), chain(*gradient), strict=True)])
    flows = [[0 if entry.arrived is None else entry.arrived for entry in row] for row in noted]
    return _where_known(kept, flows) if kept else flows


def _through_product(line: TapeLine, index: int, operands: Sequence[Rows], gradient: Rows) -> Rows:
    """Return what flows through a product, which is one of matrices too: by the chain rule alone it
    would be a note for each product of numbers."""
    left, right = operands
    inner = len(left[0])
    match line.operation, index:
        case "product", 0:
            return _multiplied("score", gradient, right, (len(left), inner))
        case "product", _:
            return _multiplied("product", _turned(left), gradient, (inner, len(right[0])))
        case _, 0:
            return _multiplied("product", gradient, right, (len(left), inner))
    return _multiplied("product", _turned(gradient), left, (len(right), inner))


def _through_weights(weights: Rows, gradient: Rows) -> Rows:
    """Return what flows through a softmax into its scores, with fewer roundings than through the
    exponentials and their sums."""
    flows: Rows = []
    for row, arriving in zip(weights, gradient, strict=True):
        mean = sum(weight * flow for weight, flow in zip(row, arriving, strict=True))
        flows.append([w * (g - mean) for w, g in zip(row, arriving, strict=True)])
    return flows


def _multiplied(name: str, left: Rows, right: Rows, grid: tuple[int, int]) -> Rows:
    first, second = definitions.operands(name)
    return entries(name, {first: left, second: right, "d": len(left[0])}, grid)


def _turned(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def tracks(rows: Rows) -> Tracks:
    """Definitions may give plain numbers, as a mask's 0 and -inf."""
    return [
        [entry if isinstance(entry, Tracked) else Tracked(float(entry)) for entry in row]
        for row in rows
    ]


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
