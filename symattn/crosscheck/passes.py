"""Three passes over a tape, all by the same definitions.

:func:`forward` computes every line in tracked floats, :func:`reverse` sends a
gradient back through the lines, and :func:`complex_step` runs the lines again
on complex vectors, one component for each entry that is perturbed, which gives
derivatives without the chain rule's notes (W. Squire and G. Trapp, *Using
complex variables to estimate derivatives of real functions*, 1998).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from symattn.crosscheck import definitions
from symattn.crosscheck.evaluation import (
    DECIDING,
    MASKS,
    Rows,
    Tracks,
    flow,
    is_class,
    run,
    sharpened,
    together,
    tracks,
    values,
)
from symattn.crosscheck.lines import TapeLine
from symattn.crosscheck.scalars import NOTHING, UNIT, UNKNOWN, Dual, Tracked, slope_of
from symattn.crosscheck.tape import Tape
from symattn.errors import Fault, Malformed

#: How far an entry is moved along the imaginary axis: about 1e-200, and a power
#: of 2, so that multiplying by it and dividing by it rounds nothing.
STEP = 2.0**-664
#: A perturbation is small while it is within this part of what is perturbed: its
#: square, which complex steps leave out, is no more than a rounding then.
_SMALL = 2.0**-30

_NO_VALUE = {
    **dict.fromkeys(
        ("quotient", "layer_norm", "rms_norm", "unit_rows", "variance", "power"), "division by zero"
    ),
    "scaled_score": "division by the square root of a number that is not above 0",
    "logarithm": "logarithm of a number that is not above 0",
    "square_root": "square root of a negative number",
    "binary_cross_entropy": "logarithm of a number that is not above 0",
    "entropy": "logarithm of a number that is not above 0",
    "angle": "a base that is not above 0",
}
#: Which operand holds whole numbers.
_CLASSES = definitions.taking("Whole")
#: Which operand lies between which numbers, where the definition itself takes any.
_RANGES = {
    "smoothed": (1, 0.0, 1.0),
    "binary_cross_entropy": (1, 0.0, 1.0),
    "cross_entropy": (1, 0.0, math.inf),
    "layer_norm": (5, 0.0, math.inf),
    "rms_norm": (3, 0.0, math.inf),
}
#: Which operand is above 0, likewise.
_POSITIVE = {"angle": 1}
_INFINITE_LOSS = "the logit is masked (-inf) and its target is not 0: the loss is infinite"
_MASKED_PRODUCT = "-inf in a matrix product has no meaning"


def forward(tape: Tape) -> list[Tracks]:
    """Every line of the tape in tracked floats.

    Raises :class:`~symattn.errors.Malformed` where an entry of a named quantity has no
    value: a division by zero, a row with nothing left to attend to, a mask that holds
    more than 0 and 1. An entry inside a step that nothing uses may well have none.
    """
    lines: list[Tracks] = []
    faults: dict[int, Fault] = {}
    left_out = tape.beyond()
    for place, line in enumerate(tape.lines):
        if place in left_out:
            lines.append(_filled(line, UNKNOWN))
            continue
        if line.operation == "entries":
            lines.append([list(row) for row in line.entries])
            continue
        if line.operation == "gradient":
            lines.append(_gradient(tape, lines, line))
            continue
        if line.operation in DECIDING:
            for operand in line.operands:
                lines[operand] = sharpened(tape, lines, operand)
        operands = [lines[operand] for operand in line.operands]
        result = tracks(run(line, operands))
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
                    fault = Fault(line.where, f"entry [{i}, {j}] has no value: {why}")
                    faults.setdefault(place, fault)
                    if place in tape.named:
                        raise Malformed(faults[min(tape.uses(place) & faults.keys())])
        lines.append(result)
    return lines


def _gradient(tape: Tape, lines: Sequence[Tracks], line: TapeLine) -> Tracks:
    """The gradient by an earlier line, as a step uses it."""
    output, above, wanted = line.operands
    if wanted > output:
        return _filled(line, Tracked(0.0))
    flows = reverse(tape, lines, output, lines[above], [wanted])
    return flows.get(wanted, _filled(line, Tracked(0.0)))


def _filled(line: TapeLine, entry: Tracked) -> Tracks:
    rows, columns = line.grid
    return [[entry] * columns for _ in range(rows)]


def _faults(
    line: TapeLine, operands: Sequence[Tracks]
) -> Iterator[tuple[int | None, int | None, str]]:
    """Yield what has no value because of an operand: row and column (None: all), and why."""
    if line.operation in _RANGES:
        place, least, most = _RANGES[line.operation]
        for i, row in enumerate(operands[place]):
            for j, entry in enumerate(row):
                reach = UNIT * entry.error
                if entry.value + reach < least or entry.value - reach > most:
                    wanted = f"at least {least:g}" if most == math.inf else f"{least:g} to {most:g}"
                    yield None, None, f"entry [{i}, {j}]: expected {wanted}, found {entry.value!r}"
    if line.operation in _POSITIVE:
        entry = operands[_POSITIVE[line.operation]][0][0]
        if entry.value + UNIT * entry.error <= 0:
            yield None, None, f"expected a number above 0, found {entry.value!r}"
    if line.operation in MASKS:
        for i, row in enumerate(operands[MASKS[line.operation]]):
            for j, entry in enumerate(row):
                if not entry.near(0.0, 1.0):
                    where = f"entry [{i}, {j}] of the mask"
                    yield i, j, f"{where}: expected 0 or 1, found {entry.value!r}"
    elif line.operation in _CLASSES:
        (ids,), most = operands[_CLASSES[line.operation]], line.sizes["m"]
        for entry in ids:
            known = not entry.is_unknown
            if known and not entry.near(float(min(max(round(entry.value), 0), most - 1))):
                yield None, None, f"expected whole numbers below {most}, found {entry.value!r}"
        if line.operation == "nll" and all(is_class(entry, most) for entry in ids):
            for row, entry in zip(operands[0], ids, strict=True):
                if row[int(entry.value)].is_masked:
                    yield None, None, _INFINITE_LOSS
    if line.operation == "cross_entropy":
        for row in together(lambda x, part: x.is_masked and not part.near(0.0), *operands):
            if any(row):
                yield None, None, _INFINITE_LOSS
    elif line.operation in ("softmax", "log_softmax", "logsumexp"):
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

    ``lines`` are the results of :func:`forward`. Lines that the output does not depend on are not
    in the answer. Nothing flows into a masked score but from the output itself: where that holds
    -inf, or may hold it, the loss may have no slope, and what arrives there flows on as unknown.
    """
    useful = _useful(tape, wanted)
    shared: set[int] = set()

    def bent(line: TapeLine, arriving: Rows) -> Iterator[tuple[int, Rows]]:
        shared.update(_shared(tape, line))
        return _bent(tape, lines, line, arriving, useful)

    sloped = _sloped(tape, lines, output, upstream)
    flows = _flows(tape, lines.__getitem__, lines, output, sloped, useful, bent)
    arrived = {place: tracks(rows) for place, rows in flows.items()}
    arrived[output] = upstream
    for place in shared & arrived.keys():
        arrived[place] = _filled(tape.lines[place], UNKNOWN)
    return arrived


def _flows(
    tape: Tape,
    rows: Callable[[int], Rows],
    lines: Sequence[Tracks],
    output: int,
    upstream: Rows,
    useful: set[int],
    bent: Callable[[TapeLine, Rows], Iterable[tuple[int, Rows]]],
) -> dict[int, Rows]:
    """Return what arrives at each ``useful`` line in any scalars, in which ``rows`` has the lines;
    ``bent`` says what flows from a gradient on."""
    left_out = tape.beyond()
    arrived = {output: upstream}
    for place in range(output, -1, -1):
        line = tape.lines[place]
        into = useful.intersection(line.operands)
        if place not in arrived or not into:
            continue
        flows: Iterable[tuple[int, Rows | None]]
        if place in left_out:
            flows = [(operand, _filled(tape.lines[operand], UNKNOWN)) for operand in into]
        elif line.operation == "gradient":
            flows = bent(line, arrived[place])
        else:
            operands = [rows(operand) for operand in line.operands]
            known = [lines[operand] for operand in line.operands]
            flows = [
                (operand, flow(line, index, operands, arrived[place], known))
                for index, operand in enumerate(line.operands)
                if operand in useful
            ]
        for operand, back in flows:
            if back is not None:
                before = arrived.get(operand)
                arrived[operand] = together(operator.add, before, back) if before else back
    return arrived


#: Results that a slope may be written with, which moves where this operand does.
_SLOPED_BY_RESULT = {
    **dict.fromkeys(("softmax", "log_softmax", "logsumexp", "row_maximum", "row_minimum"), 0),
    **dict.fromkeys(("exponential", "hyperbolic_tangent", "sigmoid", "square_root", "length"), 0),
    **dict.fromkeys(("quotient", "scaled_score", "rms_norm"), 1),
}


def _shared(tape: Tape, line: TapeLine) -> set[int]:
    """The results that a gradient may be written with, as that of a softmax: what flows into these
    is counted here with their operands, and no part of it is known to be their own."""
    output, _, wanted = line.operands
    between = [(place, tape.lines[place]) for place in tape.uses(output) if place > wanted]
    return {
        place
        for place, used in between
        if used.operation in _SLOPED_BY_RESULT
        and wanted in tape.uses(used.operands[_SLOPED_BY_RESULT[used.operation]])
    }


def _useful(tape: Tape, wanted: Collection[int]) -> set[int]:
    """Lines that a wanted line flows into: only there a gradient is of use."""
    useful: set[int] = set()
    for place, line in enumerate(tape.lines):
        if place in wanted or not useful.isdisjoint(line.operands):
            useful.add(place)
    return useful


def _bent(
    tape: Tape, lines: Sequence[Tracks], line: TapeLine, arriving: Tracks, useful: set[int]
) -> Iterator[tuple[int, Tracks]]:
    """Yield what flows from a gradient into the lines that it is computed from, each for itself.

    With g the gradient of f by w, the derivative of ``sum(arriving * g)`` is that of the slope
    of f along ``arriving``: so w moves by that, and what changes in each flow back to w from
    there is what flows on (A. Griewank and A. Walther, *Evaluating Derivatives*, section 5.3).
    """
    output, above, wanted = line.operands
    between = [place for place in sorted(tape.uses(output)) if place > wanted]
    if any(tape.lines[place].operation == "gradient" for place in between):
        # A third derivative.
        for place in tape.uses(output) & useful:
            yield place, _filled(tape.lines[place], UNKNOWN)
        return
    moved = {wanted: together(Dual, lines[wanted], arriving)}
    for place in between:
        operands = tape.lines[place].operands
        if not moved.keys().isdisjoint(operands):
            known = [lines[operand] for operand in operands]
            duals = [moved.get(operand, lines[operand]) for operand in operands]
            moved[place] = tracks(run(tape.lines[place], duals, known))
    flows = reverse(tape, lines, output, lines[above], sorted(tape.uses(output)))
    for place in reversed(between):
        used = tape.lines[place]
        if place not in flows or moved.keys().isdisjoint((place, *used.operands)):
            continue
        duals = [moved.get(operand, lines[operand]) for operand in used.operands]
        for index, operand in enumerate(used.operands):
            back = flow(used, index, duals, flows[place]) if operand in useful else None
            if back is not None:
                yield operand, [[slope_of(entry) for entry in row] for row in back]
    if above in useful and output in moved:
        yield above, [[slope_of(entry) for entry in row] for row in moved[output]]


def _sloped(tape: Tape, lines: Sequence[Tracks], output: int, upstream: Tracks) -> Tracks:
    """Return what flows on from the output: unknown where that may hold -inf, which an entry that
    nothing is known of may, if anything that it is computed from does."""
    used = chain.from_iterable(lines[place] for place in tape.uses(output))
    if not any(entry.is_masked for entry in chain.from_iterable(used)):
        return upstream

    def sloped(entry: Tracked, flow: Tracked) -> Tracked:
        return UNKNOWN if (entry.is_masked or entry.is_unknown) and not flow.is_zero else flow

    return together(sloped, lines[output], upstream)


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
    """Return what underflow may take from a derivative by complex steps.

    One operation on entries that move by :data:`STEP` loses up to the smallest
    subnormal times its result, or over it, where it is divided by; ``flows``, from
    :func:`reverse`, say what that makes in the end. There are 2**10 operations in an entry
    at most, say.
    """
    lost = sum(
        abs(flow.value) * max(1.0, abs(entry.value), 1 / (abs(entry.value) or 1.0))
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
        line, floats = tape.lines[place], values(lines[place])
        rows: Rows = [list(row) for row in floats]
        # Signs and comparisons don't move with their operands.
        moves = line.operation not in definitions.names() or any(definitions.flows(line.operation))
        if moves and any(operand in runs for operand in line.operands):
            rows = _moved(tape, line, lines, runs, floats)
        elif place not in perturbed:
            continue
        for component, i, j in perturbed.get(place, ()):
            if floats[i][j] != -math.inf:
                bump = np.zeros(components, complex)
                bump[component] = 1j * STEP
                rows[i][j] = rows[i][j] + bump
        for entry, value in zip(chain(*rows), chain(*floats), strict=True):
            if isinstance(entry, np.ndarray):
                moved |= abs(entry.imag) > _SMALL * (abs(value) or 2.0**-600)
        runs[place] = rows
    return runs.get(output, []), moved


def _moved_gradient(
    tape: Tape, line: TapeLine, lines: Sequence[Tracks], runs: Mapping[int, Rows]
) -> Rows:
    """A gradient by the chain rule, where the lines that it flows through have moved."""
    output, above, wanted = line.operands

    def rows(place: int) -> Rows:
        return runs[place] if place in runs else values(lines[place])

    unknown = [[math.nan] * len(row) for row in lines[wanted]]
    flows = _flows(
        tape, rows, lines, output, rows(above), _useful(tape, [wanted]),
        lambda *_: [(wanted, unknown)],
    )  # fmt: skip
    return flows.get(wanted, [[0.0] * len(row) for row in lines[wanted]])


def _moved(
    tape: Tape,
    line: TapeLine,
    lines: Sequence[Tracks],
    runs: Mapping[int, Rows],
    floats: list[list[float]],
) -> Rows:
    if line.operation == "gradient":
        return _moved_gradient(tape, line, lines, runs)
    known = [lines[operand] for operand in line.operands]
    operands = [
        runs[operand] if operand in runs else values(lines[operand]) for operand in line.operands
    ]

    def moved(entry: Any, value: float) -> Any:
        # Complex arithmetic makes NaN of -inf; masked scores stay plain.
        return value if value == -math.inf or entry is UNKNOWN else entry

    return together(moved, run(line, operands, known), floats)
