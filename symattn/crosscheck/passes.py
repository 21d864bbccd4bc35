"""Three passes over a tape, all by the same definitions.

:func:`forward` computes every line in tracked floats, :func:`reverse` sends a
gradient back through the lines, and :func:`complex_step` runs the lines again
on complex vectors, one component for each entry that is perturbed, which gives
derivatives without any gradient definition (W. Squire and G. Trapp, *Using
complex variables to estimate derivatives of real functions*, 1998).

What floats can't tell, and why: the lines of a tape where that begins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from symattn.crosscheck import definitions
from symattn.crosscheck.evaluation import (
    DECIDING,
    Rows,
    Tracks,
    entries,
    flow,
    is_class,
    rational,
    run,
    sharpened,
    tracks,
    values,
)
from symattn.crosscheck.lines import TapeLine
from symattn.crosscheck.scalars import NOTHING, UNIT, UNKNOWN, Tracked
from symattn.crosscheck.tape import Tape
from symattn.errors import Fault, Malformed
from symattn.languages.sentence import Sentence
from symattn.limits import RECOMPUTED

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
#: Which operand is a mask, and which one holds whole numbers.
MASKS = {"mask": 1, "where": 0}
_CLASSES = {"one_hot": 0, "embedding": 0, "nll": 1}
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
    """What has no value because of an operand: row and column (None: all), and why."""
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
        for rows in zip(*operands, strict=True):
            if any(x.is_masked and not part.near(0.0) for x, part in zip(*rows, strict=True)):
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

    ``lines`` are the results of :func:`forward`. Lines that the output does
    not depend on are not in the answer. Nothing flows into a masked score but
    from the output itself: where that holds -inf, or may hold it, the loss may
    have no slope, and what arrives there flows on as unknown.
    """
    left_out = tape.beyond()
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
            gradient = _sloped(tape, lines, output, gradient)
        line = tape.lines[place]
        if line.operation == "gradient":
            # A second derivative, which no definition gives.
            for earlier in tape.uses(line.operands[0]) & useful:
                arrived[earlier] = _filled(tape.lines[earlier], UNKNOWN)
            continue
        if place in left_out:
            for operand in useful.intersection(line.operands):
                arrived[operand] = _filled(tape.lines[operand], UNKNOWN)
            continue
        for index, operand in enumerate(line.operands):
            if operand not in useful:
                continue
            arriving = flow(line, index, [lines[o] for o in line.operands], lines[place], gradient)
            if arriving is not None:
                before = arrived.get(operand)
                arrived[operand] = _added(before, arriving) if before else arriving
    return arrived


def _sloped(tape: Tape, lines: Sequence[Tracks], output: int, upstream: Tracks) -> Tracks:
    """What flows on from the output: unknown where that may hold -inf, which an entry that
    nothing is known of may, if anything that it is computed from does."""
    used = chain.from_iterable(lines[place] for place in tape.uses(output))
    if not any(entry.is_masked for entry in chain.from_iterable(used)):
        return upstream
    return [
        [
            UNKNOWN if (entry.is_masked or entry.is_unknown) and not flow.is_zero else flow
            for entry, flow in zip(*rows, strict=True)
        ]
        for rows in zip(lines[output], upstream, strict=True)
    ]


def _added(left: Tracks, right: Tracks) -> Tracks:
    grid = len(left), len(left[0])
    return entries("addition", {"A": left, "B": right}, grid)


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
        if _moves(line) and any(operand in runs for operand in line.operands):
            rows = _moved(line, lines, runs, floats, components)
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


def _moves(line: TapeLine) -> bool:
    """Whether a result moves with its operands; signs and comparisons don't."""
    rule = definitions.RULES.get(line.operation)
    return rule is None or any(rule[1])


def _moved(
    line: TapeLine,
    lines: Sequence[Tracks],
    runs: Mapping[int, Rows],
    floats: list[list[float]],
    components: int,
) -> Rows:
    """The entries of a line whose operands have moved."""
    if line.operation == "gradient":
        # The gradients of gradients are not known.
        return [[np.full(components, math.nan + 0j) for _ in row] for row in floats]
    known = [lines[operand] for operand in line.operands]
    operands = [
        runs[operand] if operand in runs else values(lines[operand]) for operand in line.operands
    ]
    return [
        # Complex arithmetic makes NaN of -inf; masked scores stay plain.
        [
            value if value == -math.inf or entry is UNKNOWN else entry
            for entry, value in zip(*pair, strict=True)
        ]
        for pair in zip(run(line, operands, known), floats, strict=True)
    ]


#: What can't be told where an operation has no float for a result.
_NO_FLOAT = {
    "quotient": Sentence("a divisor can't be distinguished from 0"),
    "scaled_score": Sentence("a divisor can't be distinguished from 0"),
    "logarithm": Sentence("the argument of a logarithm can't be distinguished from 0"),
    "square_root": Sentence("the argument of a root can't be distinguished from a negative number"),
    "mask": Sentence("whether the mask is 0 or 1 can't be decided"),
    "where": Sentence("whether the mask is 0 or 1 can't be decided"),
    **dict.fromkeys(
        ("greater", "at_least", "less", "at_most", "equal", "unequal", "sign"),
        Sentence("which of two numbers is larger can't be decided"),
    ),
    **dict.fromkeys(
        ("one_hot", "embedding", "nll"),
        Sentence("whether a number is an integer can't be decided"),
    ),
    "entropy": Sentence("whether a weight is 0 can't be decided"),
    "cross_entropy": Sentence("whether the target of a masked logit is 0 can't be decided"),
    "entries": Sentence("the upstream gradient contains symbols"),
    "gradient": Sentence("a divisor can't be distinguished from 0, or a number from a kink"),
}
_OVERFLOW = Sentence("a number is beyond the range of 64-bit floats")
_NEARLY = Sentence("the mask is 0 or 1 only up to rounding")


class Doubts:
    """The lines at which floats stop to tell what is true, with the reason."""

    def __init__(self, tape: Tape, lines: Sequence[Tracks]) -> None:
        self._tape = tape
        self._unknown = {place for place, rows in enumerate(lines) if _has_unknown(rows)}
        #: Where something unknown comes of what is known.
        beyond = tape.beyond()
        self._origins = {
            place: RECOMPUTED.said(beyond[place])
            if place in beyond
            else _reason(tape.lines[place], lines[place])
            for place in sorted(self._unknown)
            if self._unknown.isdisjoint(tape.lines[place].operands)
        }
        # Steps may mask more than once; each is one quantity.
        self._masks = {
            line.where: _said(line, _NEARLY)
            for line in tape.lines
            if line.operation in MASKS
            and _is_rounded(lines[line.operands[MASKS[line.operation]]])
            and rational(tape, lines, line.operands[MASKS[line.operation]]) is None
        }

    def of_quantity(self, place: int) -> str:
        """Why floats leave a quantity open; '' where they don't."""
        if place in self._unknown:
            return self._first(self._tape.uses(place))
        return self._masks.get(self._tape.lines[place].where, "")

    def of_gradient(self, output: int, flow: Tracks, slopeless: bool) -> str:
        """Why floats leave a gradient open; ``slopeless`` where the output holds
        -inf at an entry that counts."""
        if not _has_unknown(flow):
            return ""
        name = _name(self._tape.lines[output])
        if slopeless:
            return Sentence(
                "{output}, the output of the loss, contains -inf, where it has no derivative",
                output=name,
            )
        return self._first(self._tape.uses(output)) or self._way_back(output, name)

    def _way_back(self, output: int, name: str) -> str:
        operations = {self._tape.lines[place].operation for place in self._tape.uses(output)}
        if "gradient" in operations:
            return Sentence(
                "{output} contains a gradient, and gradients of gradients are not computed",
                output=name,
            )
        if operations & DECIDING:
            return Sentence(
                "in the backward pass from {output} a number can't be distinguished from a kink",
                output=name,
            )
        return Sentence(
            "in the backward pass from {output} a divisor can't be distinguished from 0, or "
            "{overflow}",
            output=name, overflow=_OVERFLOW,
        )  # fmt: skip

    def _first(self, places: Iterable[int]) -> str:
        return next(
            (self._origins[place] for place in sorted(places) if place in self._origins), ""
        )


def _has_unknown(rows: Tracks) -> bool:
    """Whether nothing is known of an entry."""
    return any(entry.is_unknown for row in rows for entry in row)


def _is_rounded(mask: Tracks) -> bool:
    return any(entry.error for row in mask for entry in row if len(entry.near(0.0, 1.0)) == 1)


def _reason(line: TapeLine, rows: Tracks) -> str:
    entries = [entry for row in rows for entry in row if entry.is_unknown]
    undefined = any(math.isnan(entry.value) for entry in entries)
    return _said(line, _NO_FLOAT.get(line.operation, _OVERFLOW) if undefined else _OVERFLOW)


def _said(line: TapeLine, what: str) -> str:
    return Sentence("in {quantity} {what}", quantity=_name(line), what=what)


def _name(line: TapeLine) -> str:
    """The quantity that a line belongs to."""
    return line.where.partition(".")[2]
