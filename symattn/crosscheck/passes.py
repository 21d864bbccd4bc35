"""Three passes over a tape, all by the same definitions.

:func:`forward` computes every line in tracked floats, :func:`reverse` sends a
gradient back through the lines, and :func:`complex_step` runs the lines again
on complex vectors, one component for each entry that is perturbed, which gives
derivatives without any gradient definition (W. Squire and G. Trapp, *Using
complex variables to estimate derivatives of real functions*, 1998).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from symattn.crosscheck import definitions
from symattn.crosscheck.scalars import NOTHING, UNKNOWN, Scalar, Tracked
from symattn.crosscheck.tape import Line, Tape
from symattn.errors import Fault, Malformed

Rows = list[list[Any]]
Tracks = list[list[Tracked]]

#: How far an entry is moved along the imaginary axis: about 1e-200, and a power
#: of 2, so that multiplying by it and dividing by it rounds nothing.
STEP = 2.0**-664
#: A perturbation is small while it is within this part of what is perturbed: its
#: square, which complex steps leave out, is no more than a rounding then.
_SMALL = 2.0**-30
#: Beyond this a row of scores is shifted before softmax, so that exp can't overflow.
_STEEP = 600.0

#: For each operation: what its definition calls the operands, the gradient
#: definition for each (none: no gradient flows), what those call the result.
_RULES: Mapping[str, tuple[str, tuple[str | None, ...]]] = {
    "product": ("AB", ("product_left_gradient", "product_right_gradient")),
    "score": ("QK", ("score_query_gradient", "score_key_gradient")),
    "scaled_score": ("Sd", ("scaled_score_gradient", "scaled_score_width_gradient")),
    "addition": ("AB", ("addition_gradient", "addition_gradient")),
    "subtraction": ("AB", ("addition_gradient", "subtraction_right_gradient")),
    "times": ("AB", ("times_left_gradient", "times_right_gradient")),
    "quotient": ("AB", ("quotient_numerator_gradient", "quotient_denominator_gradient")),
    "negation": ("A", ("negation_gradient",)),
    "transpose": ("A", ("transpose_gradient",)),
    "exponential": ("A", ("exponential_gradient",)),
    "logarithm": ("A", ("logarithm_gradient",)),
    "square_root": ("A", ("square_root_gradient",)),
    "hyperbolic_tangent": ("A", ("hyperbolic_tangent_gradient",)),
    "softmax": ("S", ("softmax_gradient",)),
    "causal": ("S", ("causal_gradient",)),
    "mask": ("SM", ("mask_gradient", None)),
    "concat": ("AB", ("concat_left_gradient", "concat_right_gradient")),
    "rowsum": ("A", ("rowsum_gradient",)),
    "colsum": ("A", ("colsum_gradient",)),
    "total": ("A", ("total_gradient",)),
}
_NO_VALUE = {
    "quotient": "division by zero",
    "scaled_score": "division by the square root of a number that is not above 0",
    "logarithm": "logarithm of a number that is not above 0",
    "square_root": "square root of a negative number",
}
_MASKED_PRODUCT = "-inf in a matrix product has no meaning"


@cache
def _parameters(function: Callable[..., Scalar]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def _entries(name: str, bindings: Mapping[str, Any], grid: tuple[int, int]) -> Rows:
    """All entries of a definition; parameters that are not bound are indices, row first."""
    function = definitions.definition(name)
    parameters = _parameters(function)
    fixed = [bindings[parameter] for parameter in parameters if parameter in bindings]
    indices = parameters[len(fixed) :]
    rows, columns = range(grid[0]), range(grid[1])
    if len(indices) == 2:
        return [[function(*fixed, i, j) for j in columns] for i in rows]
    if indices == ("i",):
        return [[function(*fixed, i)] for i in rows]
    if indices == ("j",):
        return [[function(*fixed, j) for j in columns]]
    return [[function(*fixed)]]


def _bindings(line: Line, operands: Sequence[Rows]) -> dict[str, Any]:
    """The sizes and operands under the names that the definitions give them.

    A small letter stands for a number, a capital for a matrix.
    """
    bound: dict[str, Any] = {
        "n": len(operands[0]),
        "d": len(operands[0][0]),
        "m": line.grid[1],
    }
    for name, rows in zip(_RULES[line.operation][0], operands, strict=True):
        bound[name] = rows if name.isupper() else rows[0][0]
    return bound


def _values(rows: Sequence[Sequence[Tracked]]) -> list[list[float]]:
    return [[entry.value for entry in row] for row in rows]


def _kept(mask: Sequence[Sequence[Tracked]]) -> list[list[float]]:
    """What a mask holds: 0 or 1, whichever of them alone is near, and NaN where
    floats can't tell."""
    return [
        [near[0] if len(near := entry.near(0.0, 1.0)) == 1 else math.nan for entry in row]
        for row in mask
    ]


def _where_known(kept: Sequence[Sequence[float]], rows: Rows) -> Rows:
    """The entries, with nothing known of those that a mask may keep or not."""
    return [
        [UNKNOWN if keep != keep else entry for keep, entry in zip(*pair, strict=True)]
        for pair in zip(kept, rows, strict=True)
    ]


def run(line: Line, operands: Sequence[Rows], known: Sequence[Tracks] = ()) -> Rows:
    """The entries of a line in any scalars; ``known`` are the operands in tracked floats.

    Masks and the shift of steep rows are decided by the known values, which
    keeps them the same for every scalar.
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
    bound = _bindings(line, operands)
    if line.operation == "mask":
        bound["M"] = _kept(known[1])
        return _where_known(bound["M"], _entries("mask", bound, line.grid))
    if line.operation == "softmax":
        # Softmax stays the same when a constant is taken off a row.
        tops = [max(row) for row in _values(known[0])]
        bound["S"] = [
            [entry - top for entry in row] if abs(top) > _STEEP else row
            for row, top in zip(operands[0], tops, strict=True)
        ]
        bound["Z"] = [row[0] for row in _entries("normaliser", bound, line.grid)]
    return _entries(line.operation, bound, line.grid)


def forward(tape: Tape) -> list[Tracks]:
    """Every line of the tape in tracked floats.

    Raises :class:`~symattn.errors.Malformed` where an entry of a named quantity has no
    value: a division by zero, a row with nothing left to attend to, a mask that holds
    more than 0 and 1. An entry inside a step that nothing uses may well have none.
    """
    lines: list[Tracks] = []
    faults: dict[int, Fault] = {}
    for place, line in enumerate(tape.lines):
        if line.operation == "entries":
            lines.append([list(row) for row in line.entries])
            continue
        operands = [lines[operand] for operand in line.operands]
        result = _tracks(run(line, operands, operands))
        for i, j, message in _faults(line, operands):
            faults.setdefault(place, Fault(line.where, message))
            height, width = line.grid
            for k in range(height) if i is None else (i,):
                for l in range(width) if j is None else (j,):
                    result[k][l] = NOTHING
        for i, row in enumerate(result):
            for j, entry in enumerate(row):
                if entry.is_nothing:
                    why = _NO_VALUE.get(line.operation, "-inf where only a number has a meaning")
                    found = Fault(line.where, f"entry [{i}, {j}] has no value: {why}")
                    faults.setdefault(place, found)
                    if place in tape.named:
                        raise Malformed(faults[min(tape.uses(place) & faults.keys())])
        lines.append(result)
    return lines


def _tracks(rows: Rows) -> Tracks:
    """Definitions may give plain numbers, as a mask's 0 and -inf."""
    return [
        [entry if entry.__class__ is Tracked else Tracked(float(entry)) for entry in row]
        for row in rows
    ]


def _faults(line: Line, operands: Sequence[Tracks]) -> Iterator[tuple[int | None, int | None, str]]:
    """What has no value because of an operand: row and column (None: all), and why."""
    if line.operation == "mask":
        for i, row in enumerate(operands[1]):
            for j, entry in enumerate(row):
                if not entry.near(0.0, 1.0):
                    where = f"entry [{i}, {j}] of the mask"
                    yield i, j, f"{where}: expected 0 or 1, found {entry.value!r}"
    elif line.operation == "softmax":
        for i, row in enumerate(operands[0]):
            if all(entry.is_masked for entry in row):
                yield i, None, f"row {i} is masked whole: nothing is left to attend to"
    elif line.operation in ("product", "score"):
        left, right = operands
        columns = zip(*right, strict=True) if line.operation == "product" else right
        for i, row in enumerate(left):
            if any(entry.is_masked for entry in row):
                yield i, None, _MASKED_PRODUCT
        for j, column in enumerate(columns):
            if any(entry.is_masked for entry in column):
                yield None, j, _MASKED_PRODUCT
    elif line.operation == "times":
        # Scalars take 0 * -inf for 0, which is right for gradients of masked scores only.
        for i, pair in enumerate(zip(*operands, strict=True)):
            for j, (a, b) in enumerate(zip(*pair, strict=True)):
                if (a.is_masked and b.is_zero) or (b.is_masked and a.is_zero):
                    yield i, j, f"entry [{i}, {j}]: -inf times zero"


def reverse(
    tape: Tape, lines: Sequence[Tracks], output: int, upstream: Tracks, wanted: Sequence[int]
) -> dict[int, Tracks]:
    """The gradients by the ``wanted`` lines, and by those on the way to them, of the sum
    of ``upstream`` times the output.

    ``lines`` are the results of :func:`forward`. Lines that the output does
    not depend on are not in the answer. Nothing flows into a masked score but
    from the output itself: where that holds -inf, the loss has no slope, and
    what arrives there flows on as unknown.
    """
    # Lines that a wanted line flows into: only there a gradient is of use.
    useful: set[int] = set()
    for place, line in enumerate(tape.lines):
        if place in wanted or not useful.isdisjoint(line.operands):
            useful.add(place)
    arrived: dict[int, Tracks] = {output: upstream}
    for place in range(output, -1, -1):
        if place not in arrived or place not in useful:
            continue
        gradient = arrived[place]
        if place == output:
            gradient = [
                [
                    UNKNOWN if entry.is_masked and not flow.is_zero else flow
                    for entry, flow in zip(*rows, strict=True)
                ]
                for rows in zip(lines[place], gradient, strict=True)
            ]
        line = tape.lines[place]
        for index, operand in enumerate(line.operands):
            if operand not in useful:
                continue
            flow = _flow(line, index, [lines[o] for o in line.operands], lines[place], gradient)
            if flow is not None:
                arrived[operand] = _added(arrived[operand], flow) if operand in arrived else flow
    return arrived


def _added(left: Tracks, right: Tracks) -> Tracks:
    grid = len(left), len(left[0])
    return _entries("addition", {"A": left, "B": right}, grid)


def _flow(
    line: Line, index: int, operands: Sequence[Tracks], result: Tracks, gradient: Tracks
) -> Tracks | None:
    """What flows from a line's result into its operand number ``index``."""
    operand = operands[index]
    match line.operation:
        case "copy":
            return gradient
        case "spread":
            return _gathered(gradient, len(operand), len(operand[0]))
        case "selection":
            spot: Tracks = [[Tracked(0.0)] * len(operand[0]) for _ in operand]
            for picks, flows in zip(line.picks, gradient, strict=True):
                for (i, j), flow in zip(picks, flows, strict=True):
                    spot[i][j] = flow
            return spot
    name = _RULES[line.operation][1][index]
    if name is None:
        return None
    bound = _bindings(line, operands) | {"G": gradient}
    if line.operation == "softmax":
        bound["A"] = result
    elif line.operation == "mask":
        bound["M"] = _kept(operands[1])
        return _tracks(_where_known(bound["M"], _entries(name, bound, line.grid)))
    return _tracks(_entries(name, bound, (len(operand), len(operand[0]))))


def _gathered(gradient: Tracks, rows: int, columns: int) -> Tracks:
    """The gradient summed over the axes that broadcasting has repeated."""
    if rows < len(gradient):
        sizes = {"A": gradient, "n": len(gradient)}
        gradient = _entries("colsum", sizes, (1, len(gradient[0])))
    if columns < len(gradient[0]):
        sizes = {"A": gradient, "d": len(gradient[0])}
        gradient = _entries("rowsum", sizes, (len(gradient), 1))
    return _tracks(gradient)


def complex_step(
    tape: Tape,
    lines: Sequence[Tracks],
    output: int,
    probes: Sequence[tuple[int, int, int]],
) -> npt.NDArray[np.float64]:
    """The derivatives of the output's entries by each probed entry.

    A probe is a line with a row and a column; the answer has the shape
    (probes, rows of the output, columns of the output). All probes share one
    run: each is a component of the complex vectors that stand for entries.
    """
    perturbed: dict[int, list[tuple[int, int, int]]] = {}
    for component, (place, i, j) in enumerate(probes):
        perturbed.setdefault(place, []).append((component, i, j))
    slopes = np.zeros((len(probes), *tape.lines[output].grid))
    try:
        with np.errstate(all="ignore"):
            result, moved = _perturbed_run(tape, lines, output, perturbed, len(probes))
            for i, row in enumerate(result):
                for j, entry in enumerate(row):
                    if isinstance(entry, np.ndarray):
                        slopes[:, i, j] = entry.imag / STEP
            slopes[moved] = math.nan
    except (ArithmeticError, ValueError):
        # A plain float has left its range or domain, where tracked floats go to infinity.
        slopes[:] = math.nan
    unknown = [[entry.is_unknown for entry in row] for row in lines[output]]
    slopes[:, np.array(unknown)] = math.nan
    return slopes


def smallest_derivative(lines: Sequence[Tracks], flows: Mapping[int, Tracks]) -> float:
    """What underflow may take from a derivative by complex steps.

    One operation on entries that move by :data:`STEP` loses up to the smallest
    subnormal times its result; ``flows``, from :func:`reverse`, say what that makes
    in the end. There are 2**10 operations in an entry at most, say.
    """
    lost = sum(
        abs(flow.value) * max(1.0, abs(entry.value))
        for place, gradient in flows.items()
        for rows in zip(lines[place], gradient, strict=True)
        for entry, flow in zip(*rows, strict=True)
        if flow.value and not flow.is_unknown and math.isfinite(entry.value)
    )
    return lost * 2.0**-1064 / STEP


def _perturbed_run(
    tape: Tape,
    lines: Sequence[Tracks],
    output: int,
    perturbed: Mapping[int, Sequence[tuple[int, int, int]]],
    components: int,
) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """The output's entries: complex vectors where a perturbation reaches them, else
    floats; and which components moved an entry on the way too far."""
    runs: dict[int, Rows] = {}
    moved = np.zeros(components, bool)
    for place in sorted(tape.uses(output)):
        line, values = tape.lines[place], _values(lines[place])
        rows: Rows = [list(row) for row in values]
        if any(operand in runs for operand in line.operands):
            known = [lines[operand] for operand in line.operands]
            operands = [
                runs[operand] if operand in runs else _values(lines[operand])
                for operand in line.operands
            ]
            rows = [
                # Complex arithmetic makes NaN of -inf; masked scores stay plain.
                [
                    value if value == -math.inf or entry is UNKNOWN else entry
                    for entry, value in zip(*pair, strict=True)
                ]
                for pair in zip(run(line, operands, known), values, strict=True)
            ]
        elif place not in perturbed:
            continue
        for component, i, j in perturbed.get(place, ()):
            if values[i][j] != -math.inf:
                bump = np.zeros(components, complex)
                bump[component] = 1j * STEP
                rows[i][j] = rows[i][j] + bump
        for entry, value in zip(chain(*rows), chain(*values), strict=True):
            if isinstance(entry, np.ndarray):
                moved |= abs(entry.imag) > _SMALL * (abs(value) or 2.0**-600)
        runs[place] = rows
    return runs.get(output, []), moved
