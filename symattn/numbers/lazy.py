"""Lazy expressions: how a number is made of others, and what follows from that.

A lazy expression is an operation and its operands. Balls evaluate it at any precision,
at the cost of one operation each; its closed form is made on demand, under a
budget, and many have none. So digits never wait for closed forms.

Zero, positive or negative is told by balls first, by the closed form where
those leave a doubt. A ball that holds zero is worked out again by leading terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from flint import arb, fmpq

from symattn.errors import Malformed, Refuted, Undecided
from symattn.expressions.elementary import ELEMENTWISE
from symattn.limits import DECIDING, ENCLOSURE, EXPANSION, QUICK, QUICK_BITS, SHOWN, Budget
from symattn.numbers import closed_forms, functions, quotients, rounding, signs, zero_test
from symattn.numbers.balls import FIRST, LAST, Exceeded, charge, growing, precision, spending
from symattn.numbers.exponential_sums import UNIT, Symbol, Wave
from symattn.numbers.quotients import Parts, Unfolded
from symattn.numbers.rounding import LeadingTerm
from symattn.numbers.signs import Sign
from symattn.verdicts import Verdict

T = TypeVar("T")
R = TypeVar("R", bound="LazyExpression")


class Operation(Protocol):
    """An operation on the operands' closed forms, and on balls."""

    def is_beyond(self, budget: Budget, /) -> bool | None:
        """Return whether the form is beyond the budget; None where that isn't known before."""

    def form(self, operands: Sequence[Parts], /) -> Parts:
        """The closed form of the result."""

    def ball(self, operands: Sequence[arb], /) -> arb:
        """An enclosure of the result, at the working precision."""


@dataclass(frozen=True)
class _Made:
    """An operation made of two functions."""

    form: Callable[[Sequence[Parts]], Parts]
    ball: Callable[[Sequence[arb]], arb]

    def is_beyond(self, budget: Budget) -> None:
        return None


def _pairs(flat: Sequence[T]) -> Iterator[tuple[T, T]]:
    return zip(flat[::2], flat[1::2], strict=True)


def _products(flat: Sequence[arb]) -> arb:
    result = arb(0)
    for k in range(0, len(flat), 2):
        result += flat[k] * flat[k + 1]
    return result


NUMBER: Operation = _Made(lambda x: {}, lambda x: arb(0))
TOTAL: Operation = _Made(quotients.total, lambda x: sum(x, arb(0)))
#: The sum of the products of each two operands.
PRODUCTS: Operation = _Made(lambda x: quotients.sum_of_products(_pairs(x)), _products)
INVERSE: Operation = _Made(lambda x: quotients.inverse(x[0]), lambda x: 1 / x[0])


def _function(name: str) -> Operation:
    of_parts = functions.function(name)
    return _Made(lambda x: of_parts(x[0]), lambda x: getattr(x[0], name)())


#: Elementary functions by name; the hyperbolic tangent is written with exponentials.
FUNCTIONS: Mapping[str, Operation] = {
    name: _function(name) for name in ELEMENTWISE if name != "tanh"
}

#: Operations that need no closed form to be evaluated at a point.
_KINDS: Mapping[int, zero_test.InstructionKind] = {
    id(TOTAL): "total", id(PRODUCTS): "products", id(INVERSE): "inverse",
}  # fmt: skip

#: Operations of one operand on numbers with a leading term.
_LEADING: dict[int, Callable[[LeadingTerm], LeadingTerm]] = {id(INVERSE): rounding.inverse}
_LEADING |= {id(made): rounding.function(name) for name, made in FUNCTIONS.items()}

#: Budgets, from the smallest to the largest.
LEVELS = (SHOWN, QUICK, DECIDING)


class LazyExpression:
    """A lazy expression: a number by the operation that makes it; a known closed form
    has no operands."""

    __slots__ = (
        "_balls", "_checked", "_forms", "_is_long", "_leading",
        "degree", "letters", "operands", "operation",
    )  # fmt: skip

    def __init__(self, operation: Operation, operands: Sequence[LazyExpression]) -> None:
        self.operation = operation
        self.operands = tuple(operands)
        #: The symbols inside, whether or not they cancel.
        self.letters: frozenset[str] = frozenset()
        #: How the expression grows with its symbols, at most: 0 without, 1 a linear form.
        self.degree: int = 0
        for operand in self.operands:
            if operand.letters:
                self.letters |= operand.letters
        if self.letters:
            self.degree = _degree(operation, self.operands)
        #: Closed forms by the level of their budgets; what is shown serves all.
        self._forms: dict[int, Parts] = {}
        #: Whether there is none to be shown.
        self._is_long = False
        #: Enclosures by bits: what other numbers are made of is evaluated once.
        self._balls: dict[int, arb] = {}
        self._leading: dict[int, LeadingTerm] = {}
        self._checked = False

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that occur, sorted: without a closed form all that are inside."""
        if not self.letters:
            return ()
        parts = self.form()
        return tuple(sorted(self.letters)) if parts is None else quotients.symbols(parts)

    # -- balls ----------------------------------------------------------------

    def ball(self, bits: int) -> arb:
        """An enclosure computed at ``bits`` bits; :class:`Malformed` with symbols."""
        if self.symbols:
            raise Malformed(f"{self!r} has symbols in it and is not one number")
        return self.enclosure(bits)

    def enclosure(self, bits: int) -> arb:
        """Like :meth:`ball`, with generic numbers for the symbols.

        :class:`Undecided` where so many operations at so many bits are beyond what is computed.
        """
        if bits not in self._balls:
            order = self._unknown(lambda node: bits in node._balls)
            if bits > FIRST:
                if len(order) * bits > ENCLOSURE.most:
                    raise Undecided(ENCLOSURE.said(f"{len(order)} operations at {bits} bits"))
                charge(len(order) * bits >> 9)
            with precision(bits):
                for node in order:
                    node._balls[bits] = node._evaluated(bits)
        ball = self._balls[bits]
        if bits > FIRST and ball.contains(0) and not ball.is_zero():
            return self._closer(bits, ball)
        return ball

    def _closer(self, bits: int, near: arb) -> arb:
        """An enclosure by leading terms, or that which is near where it isn't better."""
        if bits not in self._leading:
            with precision(bits):
                for node in self._unknown(lambda node: bits in node._leading):
                    node._leading[bits] = node._led(bits)
        with precision(bits):
            closer = self._leading[bits].ball
        return near if closer.contains(0) else closer

    def _unknown(self, is_known: Callable[[LazyExpression], bool]) -> list[LazyExpression]:
        """Return what is to be evaluated, operands first."""
        return in_order(self, lambda node: [x for x in node.operands if not is_known(x)])

    @property
    def waits(self) -> bool:
        """Return whether it is a closed form that is known, but written down when it is used."""
        return not self.operands and self.operation is not NUMBER

    def _evaluated(self, bits: int) -> arb:
        if self.operation is NUMBER:
            return quotients.ball(self._forms[0])
        return self.operation.ball([operand._balls[bits] for operand in self.operands])

    def _led(self, bits: int) -> LeadingTerm:
        """The number with its leading term, as those of its operands are known."""
        below = [x._leading[bits] for x in self.operands]
        if self.operation is TOTAL:
            return rounding.total(below)
        if self.operation is PRODUCTS:
            return rounding.products(_pairs(below))
        if below:
            return _LEADING[id(self.operation)](*below)
        parts = self.form()
        return rounding.of_ball(self.enclosure(bits)) if parts is None else rounding.of_parts(parts)

    # -- closed form ------------------------------------------------------------

    def form(self, budget: Budget = SHOWN) -> Parts | None:
        """The closed form, or None where it is beyond the budget
        :data:`~symattn.limits.SHOWN` only; else there is always one."""
        level = LEVELS.index(budget)
        path = [(self, iter(self.operands))]
        while path:
            node, rest = path[-1]
            if node._has(level) is None:
                needed = next((x for x in rest if x._has(level) is not True), None)
                if needed is None:
                    node._make(level)
                elif needed._has(level) is False:
                    node._is_long = True
                else:
                    path.append((needed, iter(needed.operands)))
                    continue
            path.pop()
            if node._has(level) is False:
                # What is made of it has none either.
                for waiting, _ in path:
                    waiting._is_long = True
                break
        return self._at(level)

    def _at(self, level: int) -> Parts | None:
        short = self._forms.get(0)
        return self._forms.get(level) if short is None else short

    def _has(self, level: int) -> bool | None:
        """Return whether there is a form at that level; None where that isn't known yet."""
        if self._at(level) is not None:
            return True
        return False if level == 0 and self._is_long else None

    def _make(self, level: int) -> None:
        budget = LEVELS[level]
        below = [parts for x in self.operands if (parts := x._at(level)) is not None]
        form: Parts | None = None
        # A function of something long is an atom that nothing is lost by.
        is_kept = budget is SHOWN or self.operation not in FUNCTIONS.values() or _is_short(below[0])
        is_beyond = self.operation.is_beyond(budget)
        if is_kept and not is_beyond:
            try:
                with spending(budget.products):
                    form = self.operation.form(below)
            except (Exceeded, Undecided):
                form = None
        if form is not None and (is_beyond is False or _fits(form, budget)):
            self._forms[level] = form
        elif budget is not SHOWN:
            atom = Unfolded(self.enclosure)
            self._forms[level] = {(): {((), 1, ((atom, 1),)): fmpq(1)}}
        else:
            self._is_long = True

    def checked_form(self) -> Parts | None:
        """The closed form that is to be shown, held against the expression in balls.

        :class:`Refuted` if they are different numbers, which would be a fault of this package.
        """
        parts = self.form()
        if parts is not None and self.operation is NUMBER and quotients.height(parts) > SHOWN.bits:
            # A rational number that was worked out, but that nobody would read.
            return None
        # A form that waited was held against them as it was written down.
        if parts is not None and self.operands and not self._checked:
            closed, near = _enclosed(parts, FIRST), self.enclosure(FIRST)
            if closed.is_finite() and near.is_finite() and not closed.overlaps(near):
                raise Refuted(f"the closed form {closed_forms.short(parts)} is not {near}")
            self._checked = True
        return parts

    def rational(self) -> fmpq | None:
        """The number as a rational, if its closed form shows that it is one."""
        parts = self.form()
        if parts is None or not parts:
            return None if parts is None else fmpq(0)
        terms = parts.get(())
        return terms.get(UNIT) if terms is not None and len(parts) == len(terms) == 1 else None

    # -- questions --------------------------------------------------------------

    def is_zero(self, budget: Budget = DECIDING, bits: int = LAST) -> Verdict:
        """Return whether the number is zero.

        ``undecided`` where its balls hold zero at every precision up to ``bits``
        and its closed form is beyond the budget or has opaque numbers in it.
        """
        near = self.enclosure(FIRST)
        if not near.contains(0) or near.is_zero():
            return Verdict.HOLDS if near.is_zero() else Verdict.REFUTED
        if budget is not QUICK and _first_sign(self.enclosure, QUICK_BITS, 4 * QUICK_BITS):
            # What is not zero shows it before a long form is made.
            return Verdict.REFUTED
        # Where few of many numbers differ there is a short form, that costs less than a proof.
        if budget is not QUICK:
            short = self.form()
            seems = Verdict.UNDECIDED if short is None else _form_is_zero(short)
            if seems is Verdict.UNDECIDED:
                seems = zero_test.is_zero(self._lines())
            if seems is not Verdict.UNDECIDED:
                return seems
        parts = self.form(budget)
        assert parts is not None
        if (verdict := _form_is_zero(parts)) is not Verdict.UNDECIDED:
            return verdict
        last = QUICK_BITS if budget is QUICK else bits
        return Verdict.UNDECIDED if self._sign_by_balls(last) is None else Verdict.REFUTED

    def _lines(self) -> list[zero_test.ZeroTestLine]:
        """The expression as a straight-line program: functions by their closed forms."""
        known: dict[int, Parts] = {}

        def below(node: LazyExpression) -> Sequence[LazyExpression]:
            parts = node._forms.get(0)
            if parts is None and id(node.operation) not in _KINDS:
                parts = node._at(len(LEVELS) - 1) or node.form(DECIDING)
            if parts is None:
                return node.operands
            known[id(node)] = parts
            return ()

        lines: list[zero_test.ZeroTestLine] = []
        places: dict[int, int] = {}
        for node in in_order(self, below):
            places[id(node)] = len(lines)
            if id(node) in known:
                lines.append(zero_test.ZeroTestLine("number", parts=known[id(node)]))
            else:
                operands = [places[id(x)] for x in node.operands]
                lines.append(zero_test.ZeroTestLine(_KINDS[id(node.operation)], operands))
        return lines

    def sign(self) -> int:
        """-1, 0 or 1; :class:`Undecided` where no precision tells, or symbols do."""
        if self.symbols:
            seen = self.seen_sign()
            if seen is None or abs(seen) < 2:
                raise Undecided(self._depends())
            return 1 if seen > 0 else -1
        if self.is_zero() is Verdict.HOLDS:
            return 0
        sign = self._sign_by_balls(LAST)
        if sign is None:
            raise Undecided(f"can't decide the sign of {self!r}")
        return sign

    def is_negative(self) -> bool:
        """Return whether the number is below zero; :class:`Undecided` where that isn't known."""
        if not self.symbols:
            return self.sign() < 0
        seen = self.seen_sign()
        if seen is None or seen == -1:
            raise Undecided(self._depends())
        return seen < 0

    def _depends(self) -> str:
        names = ", ".join(self.symbols)
        return f"the sign of {self!r} depends on {names}: put numbers in"

    def seen_sign(self) -> Sign:
        """The sign that an expression has whatever its symbols are: by how it is made, in
        which squares are seen, or by its closed form; see :mod:`.signs`."""
        seen: dict[int, Sign] = {}
        for node in in_order(self, lambda node: node.operands if node.letters else ()):
            below = [seen[id(x)] for x in node.operands] if node.letters else []
            seen[id(node)] = node._seen(below)
        made = seen[id(self)]
        parts = self.form() if made is None else None
        return made if parts is None else signs.of_parts(parts)

    def _seen(self, below: Sequence[Sign]) -> Sign:
        """The sign by those of the operands."""
        if not self.letters:
            return 2 * self.sign()
        if self.operation is TOTAL:
            return signs.of_sum(below)
        if self.operation is PRODUCTS:
            terms = zip(_pairs(self.operands), _pairs(below), strict=True)
            return signs.of_sum(
                (1 if s is None or abs(s) < 2 else 2) if _same(x, y) else signs.of_product(s, t)
                for (x, y), (s, t) in terms
            )
        if self.operation is INVERSE:
            return below[0] and (2 if below[0] > 0 else -2)
        if self.operation is FUNCTIONS["exp"]:
            return 2
        if self.operation is FUNCTIONS["sqrt"]:
            return 2 if below[0] == 2 else 1
        if self.operation is FUNCTIONS["erf"]:
            return below[0]
        return signs.of_parts(self._forms[0]) if self.operation is NUMBER else None

    def _sign_by_balls(self, last: int) -> int | None:
        """1 or -1 by balls of growing precision, of the expression and then of a short closed form:
        what cancels in the one may be gone in the other. None where all hold zero."""
        sign = _first_sign(self.enclosure, FIRST, min(last, QUICK_BITS))
        if sign is None and last > QUICK_BITS:
            parts = self.form(DECIDING)
            if parts is not None and _is_short(parts):
                sign = _first_sign(partial(_enclosed, parts), FIRST, last)
            if sign is None:
                sign = _first_sign(self.enclosure, 4 * QUICK_BITS, last)
        return sign


def _same(left: LazyExpression, right: LazyExpression) -> bool:
    """Return whether two factors are seen to be the same."""
    return left is right or (left.form() is not None and left.form() == right.form())


def in_order(last: R, below: Callable[[R], Sequence[R]]) -> list[R]:
    """All that a number is made of by ``below``, operands first, counted: too deep to recur."""
    order: list[R] = []
    seen: set[int] = set()
    waiting = [(last, False)]
    while waiting:
        node, is_last = waiting.pop()
        if is_last:
            order.append(node)
        elif id(node) not in seen:
            if node.operands:
                charge((len(node.operands) + 1) // 2)
            seen.add(id(node))
            waiting.append((node, True))
            waiting += [(x, False) for x in below(node)]
    return order


def _first_sign(enclosure: Callable[[int], arb], bits: int, last: int) -> int | None:
    """1 or -1 by the first ball without zero; None where there is none."""
    try:
        for precise in growing(bits, last):
            ball = enclosure(precise)
            if not ball.contains(0):
                return 1 if ball > 0 else -1
    except Undecided:
        return None
    return None


def _enclosed(parts: Parts, bits: int) -> arb:
    with precision(bits):
        return quotients.ball(parts)


def _is_short(parts: Parts) -> bool:
    return quotients.length(parts) <= SHOWN.size


def _fits(parts: Parts, budget: Budget) -> bool:
    size = quotients.length(parts) if budget is SHOWN else quotients.width(parts)
    return size <= budget.size and quotients.height(parts) <= budget.bits


def _form_is_zero(parts: Parts) -> Verdict:
    if not parts:
        return Verdict.HOLDS
    if quotients.expansion(parts) > EXPANSION:
        return Verdict.UNDECIDED
    _, numerator = quotients.over_one(parts)
    if not numerator:
        return Verdict.HOLDS
    none_opaque = all(
        isinstance(atom, Symbol | Wave) for _, _, atoms in numerator for atom, _ in atoms
    )
    return Verdict.REFUTED if none_opaque else Verdict.UNDECIDED


def _degree(operation: Operation, operands: Sequence[LazyExpression]) -> int:
    if operation is PRODUCTS:
        return max(x.degree + y.degree for x, y in zip(operands[::2], operands[1::2], strict=True))
    highest = max(x.degree for x in operands)
    return highest if operation is TOTAL else 2
