"""Entries of a quantity one by one, and rounded all together.

What a quantity of attention is: which part, of which call, and where in it.

Numbers held against what functions are of (:mod:`symattn.programs.functions.calls`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from flint import arb

from symattn.errors import Fault, Faults, Undecided, short
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape, keys
from symattn.ieee import need_ieee
from symattn.limits import PURSUED
from symattn.numbers import float_formats, rounding
from symattn.numbers.balls import FIRST
from symattn.numbers.closed_forms import linear_form
from symattn.numbers.double_double import DoubleDouble
from symattn.numbers.float_formats import BinaryFormat
from symattn.numbers.reading import MASKED, Masked
from symattn.numbers.rounding import RoundingMode
from symattn.numbers.values import Value, compare, rational
from symattn.programs.functions import DOMAINS
from symattn.programs.functions.attention import WEIGHTED
from symattn.programs.functions.calls import Domain
from symattn.programs.nodes import Node
from symattn.solution.runs import EntrySource
from symattn.verdicts import Verdict

#: How numbers are rounded: to decimal places, or to significant digits.
Rounding = Callable[[rounding.Real, int, RoundingMode], Decimal]

#: Above this many bits single entries are enclosed instead of all together.
_WHOLE = 4 * FIRST


class _Quantity(Protocol):
    """What an entry needs of its :class:`~symattn.solution.quantity.Quantity`."""

    name: str
    shape: Shape
    source: EntrySource
    letters: tuple[str, ...]

    @property
    def is_lettered(self) -> bool: ...
    @property
    def grid(self) -> tuple[int, int]: ...
    def entry(self, i: int, j: int) -> Value | Masked: ...
    def is_masked(self, i: int, j: int) -> bool: ...
    def coefficient(self, symbol: str) -> _Quantity: ...


@dataclass(frozen=True)
class EntryValue:
    """One entry: by enclosures first, exactly where those leave a doubt."""

    quantity: _Quantity
    i: int
    j: int

    @property
    def value(self) -> Value:
        """The exact value; see :class:`~symattn.numbers.rounding.Real`."""
        value = self.quantity.entry(self.i, self.j)
        assert isinstance(value, Value)
        return value

    @property
    def is_masked(self) -> bool:
        """Return whether the entry is a masked score."""
        return self.quantity.is_masked(self.i, self.j)

    def ball(self, bits: int) -> arb:
        """An enclosure computed at ``bits`` bits; :class:`Malformed` with symbols."""
        if self.quantity.is_lettered:
            return self.value.ball(bits)
        if self.quantity.letters and not self.has_symbols:
            # They cancel, though the closed form may be too long to show it.
            return EntryValue(self.quantity.coefficient("1"), self.i, self.j).ball(bits)
        source, at = self.quantity.source, self.i * self.quantity.grid[1] + self.j
        balls = source.balls_at(bits, [at]) if bits <= _WHOLE else None
        near = balls[0] if balls is not None else None
        # A function that isn't defined on a ball may be on a closer one.
        return source.point(self.i, self.j, bits) if near is None or not near.is_finite() else near

    @property
    def has_symbols(self) -> bool:
        """Return whether the entry is a form in symbols."""
        # A quantity of numbers needs no exact value to know that it has none.
        if not self.quantity.letters or self.is_masked:
            return False
        if self.quantity.is_lettered:
            return self.value.has_symbols
        return any(symbol is not None for symbol, _ in self.coefficients())

    @property
    def place(self) -> str:
        """The entry as it is asked for: ``A[0, 1]``.

        >>> from symattn.solution.solution import solve
        >>> EntryValue(solve("cat-sat-mat")["A"], 0, 1).place
        'A[0, 1]'
        """
        return f"{self.quantity.name}{[*keys(self.quantity.shape, self.i, self.j)] or ''}"

    def coefficients(self) -> Iterator[tuple[str | None, EntryValue]]:
        """The terms of a linear form: what stands alone (None), and before each
        symbol; zeros are left out."""
        for symbol in (None, *sorted(self.value.letters)):
            coefficient = EntryValue(self.quantity.coefficient(symbol or "1"), self.i, self.j)
            near = coefficient.ball(FIRST)
            if near.is_zero():
                continue
            if not near.contains(0) or coefficient.value.is_zero() is not Verdict.HOLDS:
                yield symbol, coefficient


def rounded(entry: EntryValue, to: Rounding, digits: int, mode: RoundingMode) -> Decimal | str:
    """One entry rounded, to decimal places or significant digits: a Decimal, or for a linear
    form its text."""
    if not entry.has_symbols:
        return to(entry, digits, mode)
    terms = ((symbol, f.decimal(to(x, digits, mode))) for symbol, x in entry.coefficients())
    return syntax.shown(linear_form(terms))


def nearest(quantity: _Quantity, form: BinaryFormat) -> tuple[npt.NDArray[np.float64], Faults]:
    """The float of the format nearest to each entry of the grid, and which entries it is not
    certain of, with the digits that are: NaN stands there, and where an entry is no number.
    :class:`~symattn.errors.Unsound` where floats aren't those of IEEE 754."""
    need_ieee()
    source = quantity.source
    floats = np.zeros(quantity.grid)
    doubt = np.ones(quantity.grid, dtype=bool)
    if (own := source.pairs()) is not None:
        floats, certain = float_formats.rounded(own, form)
        doubt = ~certain
    if source.undefined is not None:
        floats = np.where(source.undefined, np.nan, floats)
        doubt &= ~source.undefined
    for bits in (FIRST, _WHOLE):
        places = np.flatnonzero(doubt)
        if not places.size or (balls := source.balls_at(bits, places.tolist())) is None:
            break
        near, certain = float_formats.rounded_balls(balls, bits, form)
        floats.ravel()[places], doubt.ravel()[places] = near, ~certain
    faults = Faults()
    for i, j in np.argwhere(doubt).tolist():
        entry = EntryValue(quantity, i, j)
        try:
            floats[i, j] = _followed_up(entry, form, len(faults))
        except Undecided as error:
            floats[i, j] = np.nan
            faults += [fault.inside(entry.place) for fault in error.faults]
    return floats, faults


def _followed_up(entry: EntryValue, form: BinaryFormat, undecided: int) -> float:
    """The nearest float of one entry, after so many that can't be decided."""
    if entry.is_masked:
        return -form.overflow
    if undecided < PURSUED.most:
        return float_formats.nearest(entry, form)
    raise Undecided(PURSUED.said(float_formats.unsettled(entry.ball(_WHOLE), form, _WHOLE)))


#: The parts of attention and of its gradients.
AttentionPart = Literal[
    "scores", "weights", "output", "lse", "dQ", "dK", "dV", "dA", "dS", "dBias", "dSink"
]


@dataclass(frozen=True, eq=False)
class AttentionRole:
    """A part of attention: what an array beside it is judged by.

    ``forward`` is the :class:`~symattn.solution.attention.Attention` that it belongs to,
    ``backward`` its gradients; both are made of quantities, which know only that they are
    there. ``keys`` are the indices that were taken of the whole part, one after the other.

    >>> from symattn import attention
    >>> made = attention([[1]], [[1], [2]], [[3], [4]], scale=1)
    >>> made.output.role.part, made.weights[0].role.keys
    ('output', (0,))
    """

    part: AttentionPart
    forward: Any
    backward: Any = None
    keys: tuple[Any, ...] = ()

    def taken(self, key: Any) -> AttentionRole:
        """The role of what an index takes of the quantity."""
        return replace(self, keys=(*self.keys, key))


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
            expected = domain if isinstance(domain, Domain) else domain(written.given)
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
        if isinstance(value, Masked) or not _is_seen(value, domain):
            yield "".join(f"[{k}]" for k in keys(node.shape, i, j)), _said(value)


def _is_seen(value: Value, domain: Domain) -> bool:
    """Return whether a number is in a domain, or what has symbols is whatever they are."""
    if not value.has_symbols:
        return _holds(value, domain)
    try:
        return not domain.whole and _holds(value, domain)
    except Undecided:
        return False


def _said(value: Value | Masked) -> str:
    if isinstance(value, Masked):
        return "-inf"
    if value.has_symbols or value.rational() is not None:
        return short(str(value), 40)
    return str(rounding.significant(value, 6, "half-even"))


def _inside(x: DoubleDouble, domain: Domain) -> Flags:
    """Return where pairs of floats are certain to be in a domain."""
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
    """Yield where a logarithm is minus infinity, and its weight is not 0."""
    weights, levels = WEIGHTED[function](node)
    pairs, exact = known
    masked = np.broadcast_to(~np.isfinite(pairs(levels).high), levels.grid)
    for i, j in np.argwhere(masked).tolist():
        if exact(levels, i, j) is not MASKED:
            continue
        weight = exact(weights, i, j)
        if isinstance(weight, Masked) or weight.is_zero() is not Verdict.HOLDS:
            what = f"the logit is masked (-inf) and its target is {_said(weight)}, not 0"
            yield Fault(f"{function}: x[{i}][{j}]", f"{what}: the loss is infinite")
