"""The entries of one line, and what flows back through it, by the definitions.

Lines worked out in fractions, for what floats can't decide.

A comparison, a kink or a tie asks which of two numbers is larger. Where both are sums,
products and quotients of given rationals, as in many a case, fractions know it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from math import prod
from typing import Any

from symattn.crosscheck import definitions
from symattn.crosscheck.definitions import CHAIN
from symattn.crosscheck.lines import Place, TapeLine, cos, exp, log, sin, sqrt, tanh
from symattn.crosscheck.lines import erf as error_function
from symattn.crosscheck.scalars import PI, UNKNOWN, CannotTell, Dual, Tracked, tracked
from symattn.crosscheck.tape import Tape

# -- the chain rule through a definition -------------------------------------------------
# Numbers that note what they are made of.
#
# A definition is run on such numbers; what arrives at its results is then sent back along the
# notes, last one first (A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd ed., chapter
# 3). So one definition gives a result and its gradients.

#: What becomes of what arrives at a number on its way to one that it is made of.
Edge = Callable[[Any], Any]


def _noted(
    function: Callable[[Any], Any], slope: Callable[[Any, Any, Any], Any]
) -> Callable[[Noted], Noted]:
    """A function of a number that is noted: by what flows out of it, the number, and what it is
    there."""

    def made(self: Noted) -> Noted:
        x, y = self.value, function(self.value)
        return self._made(y, (self, lambda flow: slope(flow, x, y)))

    return made


class Noted(Dual):
    """A number of any kind, with the numbers that it is made of.

    ``journal`` has all that were made, in their order. It derives from the other scalars so
    that Python asks it first how it goes with them.

    >>> journal = []
    >>> x = Noted(3.0, journal)
    >>> y = x * x + 1 / x
    >>> sent_back(journal, [(y, 1.0)])
    >>> round(x.arrived, 4)
    5.8889
    """

    __slots__ = ("arrived", "edges", "journal")
    # Vectors leave operations with it to it.
    __array_ufunc__ = None

    def __init__(
        self, value: Any, journal: list[Noted], edges: Sequence[tuple[Noted, Edge]] = ()
    ) -> None:
        self.value, self.journal, self.edges = value, journal, edges
        self.arrived: Any = None
        journal.append(self)

    def _made(self, value: Any, *edges: tuple[Any, Edge]) -> Noted:
        """A number that is made of this one, and of others of which those count that are noted."""
        noted = [(of, edge) for of, edge in edges if isinstance(of, Noted)]
        return Noted(value, self.journal, noted)

    def __add__(self, other: Any) -> Noted:
        return self._made(self.value + plain(other), (self, _same), (other, _same))

    __radd__ = __add__

    def __neg__(self) -> Noted:
        return self._made(-self.value, (self, _minus))

    def __sub__(self, other: Any) -> Noted:
        return self._made(self.value - plain(other), (self, _same), (other, _minus))

    def __rsub__(self, other: Any) -> Noted:
        return self._made(other - self.value, (self, _minus))

    def __mul__(self, other: Any) -> Noted:
        left, right = self.value, plain(other)
        return self._made(
            left * right, (self, lambda flow: flow * right), (other, lambda flow: flow * left)
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Noted:
        below = plain(other)
        quotient = self.value / below
        return self._made(
            quotient,
            (self, lambda flow: flow / below),
            (other, lambda flow: -(flow * quotient) / below),
        )

    def __rtruediv__(self, other: Any) -> Noted:
        below = self.value
        quotient = other / below
        return self._made(quotient, (self, lambda flow: -(flow * quotient) / below))

    def __pow__(self, exponent: Any) -> Noted:
        base = self.value
        power = base**exponent
        if not isinstance(exponent, int):
            # The base is above 0.
            return self._made(power, (self, lambda flow: flow * exponent * power / base))
        if exponent == 0:
            return self._made(power)
        return self._made(power, (self, lambda flow: flow * exponent * base ** (exponent - 1)))

    exp = _noted(exp, lambda g, x, y: g * y)
    log = _noted(log, lambda g, x, y: g / x)
    sqrt = _noted(sqrt, lambda g, x, y: g / (2 * y))
    tanh = _noted(tanh, lambda g, x, y: g * (1 - y * y))
    sin = _noted(sin, lambda g, x, y: g * cos(x))
    cos = _noted(cos, lambda g, x, y: -(g * sin(x)))
    erf = _noted(error_function, lambda g, x, y: 2 * g / sqrt(_pi(x)) * exp(-(x * x)))


def _pi(beside: Any) -> Any:
    return PI if isinstance(beside, Tracked) else math.pi


def plain(number: Any) -> Any:
    """Return a number without what is noted of it."""
    return number.value if isinstance(number, Noted) else number


def _same(flow: Any) -> Any:
    return flow


def _minus(flow: Any) -> Any:
    return -flow


def sent_back(journal: Sequence[Noted], arriving: Sequence[tuple[Any, Any]]) -> None:
    """Send what arrives at results back to all that they are made of.

    Each number then has what ``arrived`` at it, None where nothing did.
    """
    for result, flow in arriving:
        if isinstance(result, Noted):
            result.arrived = flow if result.arrived is None else result.arrived + flow
    for number in reversed(journal):
        if number.arrived is None:
            continue
        for of, edge in number.edges:
            sent = edge(number.arrived)
            of.arrived = sent if of.arrived is None else of.arrived + sent


# -- evaluation --------------------------------------------------------------------------

Rows = list[list[Any]]
Tracks = list[list[Tracked]]

#: Beyond this a row of scores is shifted before its exponentials: they can't overflow, and
#: complex steps don't underflow in them all.
_STEEP = 100.0
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


def _bindings(
    name: str,
    line: TapeLine,
    operands: Sequence[Rows],
    known: Sequence[Tracks],
    result: Rows | None = None,
    gradient: Rows | None = None,
) -> dict[str, Any]:
    """Return what the definition ``name`` takes of a line: operands as the kinds of its parameters
    say, the sizes of the first and of the result, and what a gradient needs besides."""
    pairs = zip(operands, known, strict=True)
    named = dict(zip(definitions.operands(line.operation), pairs, strict=True))
    if gradient is not None and result is not None:
        named.setdefault(definitions.RULES[line.operation][0], (result, result))
        named["G"] = gradient, gradient
    first = operands[0] if operands else [[0]]
    sizes = {"n": len(first), "d": len(first[0]), "m": line.grid[1], **line.sizes}
    is_tracked = bool(operands) and isinstance(plain(first[0][0]), Tracked)
    number = Tracked if is_tracked else float
    bound: dict[str, Any] = {}
    for key, kind in definitions.parameters(name).items():
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
    return [
        [UNKNOWN if keep != keep else entry for keep, entry in zip(*pair, strict=True)]
        for pair in zip(mask, rows, strict=True)
    ]


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
        bound = _bindings(line.operation, line, operands, known)
        if line.operation == "cross_entropy":
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
    for row, parts in zip(known, targets, strict=True):
        if any(x.is_masked and not part.is_zero for x, part in zip(row, parts, strict=True)):
            raise CannotTell
    return [
        [0.0 if x.is_masked else entry for entry, x in zip(*pair, strict=True)]
        for pair in zip(logits, known, strict=True)
    ]


def flow(
    line: TapeLine, index: int, operands: Sequence[Tracks], result: Tracks, gradient: Tracks
) -> Tracks | None:
    """Return what flows from a line's result into its operand number ``index``; None: nothing."""
    rows = flow_of(line, index, operands, result, gradient, operands)
    return None if rows is None else tracks(rows)


def flow_of(
    line: TapeLine,
    index: int,
    operands: Sequence[Rows],
    result: Rows,
    gradient: Rows,
    known: Sequence[Tracks],
) -> Rows | None:
    """The same in any scalars; ``known`` are the operands in tracked floats."""
    operand = operands[index]
    rows, columns = len(operand), len(operand[0])
    match line.operation:
        case "copy":
            return gradient
        case "spread":
            return _gathered(gradient, rows, columns)
        case "selection":
            zero = Tracked(0.0) if isinstance(operand[0][0], Tracked) else 0.0
            spot: Rows = [[zero] * columns for _ in operand]
            for picks, flows in zip(line.picks, gradient, strict=True):
                for (i, j), arriving in zip(picks, flows, strict=True):
                    spot[i][j] = arriving
            return spot
    name = definitions.RULES[line.operation][1][index]
    if name is None:
        return None
    try:
        if name == CHAIN:
            return _by_chain_rule(line, index, operands, gradient, known)
        bound = _bindings(name, line, operands, known, result, gradient)
    except CannotTell:
        return [[UNKNOWN] * columns for _ in range(rows)]
    computed = entries(name, bound, (rows, columns))
    return _where_known(bound["M"], computed) if "M" in bound else computed


def _by_chain_rule(
    line: TapeLine, index: int, operands: Sequence[Rows], gradient: Rows, known: Sequence[Tracks]
) -> Rows:
    """Return what flows into an operand, as the definition of the result says."""
    journal: list[Noted] = []
    noted = [[Noted(entry, journal) for entry in row] for row in operands[index]]
    moving = [*operands[:index], noted, *operands[index + 1 :]]
    bound = _bindings(line.operation, line, moving, known)
    results = entries(line.operation, bound, line.grid)
    sent_back(journal, [*zip(chain(*results), chain(*gradient), strict=True)])
    return [[0 if entry.arrived is None else entry.arrived for entry in row] for row in noted]


def _gathered(gradient: Rows, rows: int, columns: int) -> Rows:
    """The gradient summed over the axes that broadcasting has repeated."""
    if rows < len(gradient):
        sizes = {"A": gradient, "n": len(gradient)}
        gradient = entries("colsum", sizes, (1, len(gradient[0])))
    if columns < len(gradient[0]):
        sizes = {"A": gradient, "d": len(gradient[0])}
        gradient = entries("rowsum", sizes, (len(gradient), 1))
    return gradient


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
