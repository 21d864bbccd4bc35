"""A case computed a second time, in floats with their error bounds.

Every figure comes with a bound on its error, every gradient in two ways: by
the chain rule through the definitions, with a bound, and by complex steps, which know no
rule of it. A figure that lies outside its bound, or a gradient on which the two ways
disagree, means that somebody computed it wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest

import numpy as np
import numpy.typing as npt

from symattn.crosscheck import passes, reader
from symattn.crosscheck.evaluation import DECIDING, MASKS, Tracks, rational, together
from symattn.crosscheck.lines import TapeLine
from symattn.crosscheck.scalars import SLACK, UNIT, Tracked
from symattn.crosscheck.tape import Tape
from symattn.crosscheck.tape import tape as laid_out
from symattn.errors import Fault, Faults, Malformed
from symattn.ieee import need_ieee
from symattn.languages.sentence import Sentence
from symattn.limits import RECOMPUTED

# -- what floats can't tell --------------------------------------------------------------
# The lines of a tape where that begins.

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
            and any(
                entry.error and len(entry.near(0.0, 1.0)) == 1
                for entry in chain(*lines[line.operands[MASKS[line.operation]]])
            )
            and rational(tape, lines, line.operands[MASKS[line.operation]]) is None
        }

    def of_quantity(self, place: int) -> str:
        """Return why floats leave a quantity open; '' where they don't."""
        if place in self._unknown:
            return self._first(self._tape.uses(place))
        return self._masks.get(self._tape.lines[place].where, "")

    def of_gradient(self, output: int, flow: Tracks, slopeless: bool) -> str:
        """Return why floats leave a gradient open; ``slopeless`` where the output holds
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
                "{output} contains a gradient; its slope meets a kink, needs a third "
                "derivative, or is counted with that of another quantity",
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
    return any(entry.is_unknown for row in rows for entry in row)


def _reason(line: TapeLine, rows: Tracks) -> str:
    entries = [entry for row in rows for entry in row if entry.is_unknown]
    undefined = any(math.isnan(entry.value) for entry in entries)
    return _said(line, _NO_FLOAT.get(line.operation, _OVERFLOW) if undefined else _OVERFLOW)


def _said(line: TapeLine, what: str) -> str:
    return Sentence("in {quantity} {what}", quantity=_name(line), what=what)


def _name(line: TapeLine) -> str:
    """The quantity that a line belongs to."""
    return line.where.partition(".")[2]


# -- recomputation -----------------------------------------------------------------------

Floats = npt.NDArray[np.float64]

#: Most entries that are perturbed in one complex-step run.
_MAX_PROBES = 512
#: Most complex numbers that such a run may hold; larger cases perturb fewer entries.
_MAX_HELD = 1 << 22
#: The part of a gradient that no symbol multiplies.
PLAIN = "1"


@dataclass(frozen=True)
class Loss:
    """A loss: the sum of ``upstream`` times the ``output``, entry by entry.

    ``upstream`` is nested like the output; its entries are numbers, or sums of multiples of symbols
    (``"g1"``, ``"-2*g1 + 1"``); absent, all ones. ``wrt`` names the quantities to differentiate by;
    absent, every vector and matrix that the output depends on, the output included.
    """

    output: str
    upstream: object | None = None
    wrt: Sequence[str] | None = None


@dataclass(frozen=True)
class BoundedFloats:
    """Float64 values with bounds on their errors, both of the quantity's shape.

    The true value lies within ``bound`` of ``value``; masked scores are -inf
    with bound 0; an infinite bound means that float64 can't tell. ``doubt``
    says why floats leave something open: entries without a bound, or a mask
    that is 0 and 1 only up to rounding, taken here for what it is near.
    """

    value: Floats
    bound: Floats
    doubt: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class CheckedGradient(BoundedFloats):
    """A gradient by the chain rule, and again by complex steps.

    ``step`` is NaN where the entry was not perturbed, and where it differs from ``value`` by no
    more than what underflow may have taken from it, or rounding where the value is exact; its own
    rounding error is else of the size of ``bound``, but ``bound`` is not proved for it.
    """

    step: Floats


@dataclass(frozen=True)
class Recomputation:
    """The quantities by name, the gradients by what they are with respect to
    and by part of the upstream.

    A part is ``"1"``, without symbols, or a symbol that is set to 1 while all else is 0; a gradient
    is the sum of its parts, each times its symbol. ``probed`` of ``probes`` entries were perturbed.
    """

    quantities: Mapping[str, BoundedFloats]
    gradients: Mapping[str, Mapping[str, CheckedGradient]] = field(default_factory=dict)
    probed: int = 0
    probes: int = 0


#: How far the sum of a step's terms may be off by rounding, relative to their magnitudes.
_ROUNDED = 2.0**-44


def recompute(
    given: Mapping[str, object],
    steps: Mapping[str, str],
    loss: Loss | None = None,
    functions: Mapping[str, str] | None = None,
    max_probes: int = _MAX_PROBES,
) -> Recomputation:
    """Compute every quantity, and the gradients if there is a loss.

    ``given`` holds numbers, vectors (lists) and matrices (lists of rows) of
    exact numbers, ``steps`` the text of each step, in order, ``functions`` the text of each
    function that they define, by its head. Raises
    :class:`~symattn.errors.Malformed`, listing all faults that can be found, and
    :class:`~symattn.errors.Unsound` where floats aren't those of IEEE 754.

    >>> again = recompute({"x": ["1/2", 0]}, {"A": "softmax(x)"}, Loss("A", [1, "g1"]))
    >>> again.quantities["A"].value.round(4)
    array([0.6225, 0.3775])
    >>> again.gradients["x"]["g1"].value.round(4)
    array([-0.235,  0.235])
    """
    need_ieee()
    above = (loss.output, loss.upstream) if loss else ("", None)
    tape = laid_out(given, steps, *above, functions)
    wanted, parts = _read_loss(tape, loss) if loss else ((), {})
    lines = passes.forward(tape)
    doubts = Doubts(tape, lines)
    quantities = {
        name: BoundedFloats(
            *_figures(lines[place], tape.lines[place]), doubt=doubts.of_quantity(place)
        )
        for name, place in tape.places.items()
    }
    if not loss:
        return Recomputation(quantities)
    output = tape.places[loss.output]
    places = [tape.places[name] for name in wanted]
    probes, possible = _probes(tape, places, output, max_probes)
    if tape.beyond():
        probes = []
    slopes = passes.complex_step(tape, lines, output, probes)
    gradients: dict[str, dict[str, CheckedGradient]] = {name: {} for name in wanted}
    for part, upstream in parts.items():
        flows = passes.reverse(tape, lines, output, upstream, places)
        weights = np.array([[entry.value for entry in row] for row in upstream])
        slopeless = _is_slopeless(lines[output], upstream)
        least = passes.smallest_derivative(lines, flows)
        with np.errstate(all="ignore"):
            derivatives = np.tensordot(slopes, weights, 2)
            terms = np.tensordot(abs(slopes), abs(weights), 2)
        for name, place in zip(wanted, places, strict=True):
            line = tape.lines[place]
            rows, columns = line.grid
            flow = flows.get(place, [[Tracked(0.0)] * columns] * rows)
            step = _steps(tape, output, place, probes, derivatives)
            if place == output:
                # What comes from above stands there as it was given: -inf has no slope.
                masked = [[entry.is_masked for entry in row] for row in lines[output]]
                step[np.reshape(masked, line.shape)] = math.nan
            value, bound = _figures(flow, line)
            with np.errstate(all="ignore"):
                off = abs(step - value)
                # A gradient may be exact where the terms of its step, which cancel, are rounded.
                size = _steps(tape, output, place, probes, terms)
                lost = least + np.where(bound == 0, _ROUNDED * size, 0.0)
            step[(off > 0) & (off <= lost)] = math.nan
            doubt = doubts.of_gradient(output, flow, slopeless)
            gradients[name][part] = CheckedGradient(value, bound, step, doubt=doubt)
    probed = int(np.isfinite(slopes).all(axis=(1, 2)).sum())
    return Recomputation(quantities, gradients, probed, possible)


def _is_slopeless(output: Tracks, upstream: Tracks) -> bool:
    """Return whether the output holds -inf at an entry that counts."""
    flows = together(lambda entry, x: entry.is_masked and not x.is_zero, output, upstream)
    return any(chain(*flows))


def _figures(rows: Tracks, line: TapeLine) -> tuple[Floats, Floats]:
    values = np.array([entry.value for row in rows for entry in row])
    errors = np.array([entry.error for row in rows for entry in row])
    errors[np.isnan(values)] = math.inf
    return values.reshape(line.shape), (UNIT * SLACK * errors).reshape(line.shape)


def _steps(
    tape: Tape,
    output: int,
    place: int,
    probes: Sequence[tuple[int, int, int]],
    derivatives: Floats,
) -> Floats:
    """The complex-step derivatives by one quantity; 0 where it is no input of the output."""
    line = tape.lines[place]
    if place not in tape.uses(output):
        return np.zeros(line.shape)
    step = np.full(line.grid, math.nan)
    for (owner, i, j), derivative in zip(probes, derivatives, strict=True):
        if owner == place:
            step[i, j] = derivative
    return step.reshape(line.shape)


def _read_loss(tape: Tape, loss: Loss) -> tuple[tuple[str, ...], dict[str, Tracks]]:
    """The quantities to differentiate by, and the upstream gradient in parts."""
    faults = Faults()
    if loss.output not in tape.places:
        raise Malformed(Fault("loss.output", f"unknown name {loss.output!r}"))
    output = tape.places[loss.output]
    uses = tape.uses(output)
    whole = (name for name, at in tape.places.items() if at in uses and tape.lines[at].shape)
    wanted = tuple(whole if loss.wrt is None else loss.wrt)
    faults += [
        Fault("loss.wrt", f"unknown name {name!r}") for name in wanted if name not in tape.places
    ]
    line = tape.lines[output]
    rows, columns = line.grid
    terms: list[list[dict[str, Tracked]]] = [[{PLAIN: Tracked(1.0)}] * columns] * rows
    if loss.upstream is not None:
        with faults.inside("loss.upstream"):
            shape, terms = reader.nested(loss.upstream, reader.linear)
            if shape != line.shape:
                raise Malformed(f"expected the shape {line.shape}, found {shape}")
    faults.raise_all()
    symbols = dict.fromkeys(symbol for row in terms for entry in row for symbol in entry)
    zero = Tracked(0.0)
    return wanted, {
        part: [[entry.get(part, zero) for entry in row] for row in terms]
        for part in dict.fromkeys((PLAIN, *symbols))
    }


def _probes(
    tape: Tape, places: Sequence[int], output: int, most: int
) -> tuple[list[tuple[int, int, int]], int]:
    """The entries to perturb, taken in turn from each quantity, and how many there are.

    A sample is always the same. It walks through a quantity in strides near the
    golden section, so that it meets all rows and columns evenly.
    """
    uses = tape.uses(output)
    waiting = [place for place in dict.fromkeys(places) if place in uses]
    total = sum(math.prod(tape.lines[place].grid) for place in uses)
    most = max(min(most, _MAX_HELD // total), len(waiting))
    walks = []
    for place in waiting:
        rows, columns = tape.lines[place].grid
        size = rows * columns
        stride = round(size * 0.618)
        while math.gcd(stride, size) != 1:
            stride += 1
        walks.append([(place, *divmod(k * stride % size, columns)) for k in range(size)])
    turns = (probe for turn in zip_longest(*walks) for probe in turn if probe is not None)
    return sorted(islice(turns, most)), sum(map(len, walks))
