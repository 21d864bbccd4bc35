"""What an index expression means, in any arithmetic.

One walk over the expression gives its value together with its slope: a
derivative is taken by carrying ``value + slope * epsilon`` with
``epsilon**2 = 0`` through sums, products, quotients, exponentials and
logarithms. An arithmetic says what a number, an unknown, a sum over an index
and a delta are; see :mod:`symattn.proofs.allsizes` and
:mod:`symattn.proofs.onesize`.

Indices are looked up in an environment and every sum opens a new scope, so a
free index can't be captured by a bound one of the same name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from symattn.proofs import language as term
from symattn.proofs.language import Expr, Index, Position, Size, Target
from symattn.proofs.matrices import Array
from symattn.proofs.structure import Undecidable, ancestors, cost

P = TypeVar("P")
"""A value of the arithmetic."""
T = TypeVar("T")
"""A place along an axis, as the arithmetic sees it."""


@dataclass(frozen=True, slots=True)
class Dual(Generic[P]):
    """A value and its slope in the entry under differentiation (None: zero)."""

    value: P
    slope: P | None = None


@dataclass(frozen=True, slots=True)
class Variable(Generic[T]):
    """The entry under differentiation."""

    array: Array
    at: tuple[T, ...]


class Arithmetic(ABC, Generic[P, T]):
    """Numbers, unknowns and index sums of one kind, and the walk that uses them."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Dual[P]] = {}
        self._labels: dict[Array, str] = {}

    # What each arithmetic says for itself.

    @abstractmethod
    def number(self, value: Fraction) -> P:
        """A rational constant."""

    @abstractmethod
    def add(self, left: P, right: P) -> P:
        """The sum of two values."""

    @abstractmethod
    def multiply(self, left: P, right: P) -> P:
        """The product of two values."""

    @abstractmethod
    def inverse(self, value: P) -> P:
        """One over a value."""

    @abstractmethod
    def exp(self, value: P) -> P:
        """The exponential of a value."""

    @abstractmethod
    def log(self, value: P) -> P:
        """The logarithm of a value."""

    @abstractmethod
    def size(self, size: Size) -> P:
        """A size as a quantity."""

    @abstractmethod
    def root(self, size: Size) -> P:
        """The positive root of a size."""

    @abstractmethod
    def unknown(self, array: Array, at: tuple[T, ...]) -> P:
        """An entry of a given array."""

    @abstractmethod
    def place(self, position: Position, env: Mapping[Index, T]) -> T:
        """Where a position lies."""

    @abstractmethod
    def same(self, first: T, second: T) -> P:
        """Kronecker's delta."""

    @abstractmethod
    def at_most(self, first: T, second: T, axis: str) -> P:
        """1 where the first place is not after the second, else 0; ``axis`` if they share one."""

    @abstractmethod
    def total(
        self, index: Index, body: Expr, env: Mapping[Index, T], by: Variable[T] | None
    ) -> Dual[P]:
        """The sum over an index."""

    @abstractmethod
    def pairs(self, pair: term.PairSum, env: Mapping[Index, T], by: Variable[T] | None) -> Dual[P]:
        """The sum over all pairs of a symmetric body."""

    @abstractmethod
    def limit(self, value: P, variable: P, target: Target) -> P:
        """What a value tends to."""

    @abstractmethod
    def mean(self, value: P) -> P:
        """The expected value over the random unknowns."""

    @abstractmethod
    def scope(self) -> object:
        """What besides its indices the value of an entry depends on."""

    # The walk.

    def label(self, array: Array) -> str:
        """A name for a given array; a second array of the same name gets a prime."""
        if array not in self._labels:
            name = array.name
            while name in self._labels.values():
                name += "'"
            self._labels[array] = name
        return self._labels[array]

    def evaluate(
        self, value: Expr, env: Mapping[Index, T], by: Variable[T] | None = None
    ) -> Dual[P]:
        """The value of an expression, and its slope in the entry ``by``.

        Raises :class:`Undecidable` where this arithmetic has no answer.
        """
        match value:
            case term.Entry(array, at):
                return self.entry(array, tuple(self.place(one, env) for one in at), by)
            case term.Mul(factors):
                found = self.evaluate(factors[0], env, by)
                for one in factors[1:]:
                    found = self._times(found, self.evaluate(one, env, by))
                return found
            case term.Sum(index, body):
                return self.total(index, body, env, by)
            case term.Number(number):
                return Dual(self.number(number))
            case term.Size():
                return Dual(self.size(value))
            case term.Sqrt(size):
                return Dual(self.root(size))
            case term.Add(terms):
                found = self.evaluate(terms[0], env, by)
                for one in terms[1:]:
                    found = self.plus(found, self.evaluate(one, env, by))
                return found
            case term.Neg(body):
                return self._times(Dual(self.number(Fraction(-1))), self.evaluate(body, env, by))
            case term.Div(numerator, denominator):
                below = self._inverse(self.evaluate(denominator, env, by))
                return self._times(self.evaluate(numerator, env, by), below)
            case term.Power(base, exponent):
                factor = self.evaluate(base, env, by)
                factor = self._inverse(factor) if exponent < 0 else factor
                found = Dual(self.number(Fraction(1)))
                for _ in range(abs(exponent)):
                    found = self._times(found, factor)
                return found
            case term.Exp(body):
                inside = self.evaluate(body, env, by)
                power = self.exp(inside.value)
                return Dual(power, self._scaled(power, inside.slope))
            case term.Log(body):
                inside = self.evaluate(body, env, by)
                if inside.slope is None:
                    return Dual(self.log(inside.value))
                slope = self.multiply(self.inverse(inside.value), inside.slope)
                return Dual(self.log(inside.value), slope)
            case term.PairSum():
                return self.pairs(value, env, by)
            case term.Delta(first, second):
                return Dual(self.same(self.place(first, env), self.place(second, env)))
            case term.AtMost(first, second):
                axes = {axis.name for axis in map(term.axis_of, (first, second)) if axis}
                axis = axes.pop() if len(axes) == 1 else ""
                return Dual(self.at_most(self.place(first, env), self.place(second, env), axis))
        if by is not None:
            raise Undecidable(f"the derivative of {type(value).__name__}")
        return Dual(self.special(value, env))

    def special(self, value: Expr, env: Mapping[Index, T]) -> P:
        """Operators that are never differentiated themselves."""
        match value:
            case term.Partial(of, wrt):
                at = tuple(self.place(one, env) for one in wrt.at)
                slope = self.evaluate(of, env, Variable(wrt.array, at)).slope
                return self.number(Fraction(0)) if slope is None else slope
            case term.Limit(body, variable, target):
                inside = self.evaluate(body, env).value
                return self.limit(inside, self.evaluate(variable, env).value, target)
            case term.Mean(body):
                return self.mean(self.evaluate(body, env).value)
            case term.Count(arrays):
                return self.evaluate(cost(*arrays), env).value
        raise Undecidable(f"the value of {type(value).__name__}")

    def entry(self, array: Array, at: tuple[T, ...], by: Variable[T] | None) -> Dual[P]:
        """An entry of a given or defined array."""
        if by is not None and array is by.array:
            slope = self.number(Fraction(1))
            for mine, theirs in zip(at, by.at, strict=True):
                slope = self.multiply(slope, self.same(mine, theirs))
            return Dual(self.entry(array, at, None).value, slope)
        if array.body is None:
            return Dual(self.unknown(array, at))
        if by is not None and by.array not in ancestors(array):
            by = None
        key = (array, at, by, self.scope())
        if key not in self._known:
            env = dict(zip(array.params, at, strict=True))
            self._known[key] = self.evaluate(array.body, env, by)
        return self._known[key]

    def plus(self, left: Dual[P], right: Dual[P]) -> Dual[P]:
        """The sum of two values and of their slopes."""
        value = self.add(left.value, right.value)
        if left.slope is None or right.slope is None:
            return Dual(value, right.slope if left.slope is None else left.slope)
        return Dual(value, self.add(left.slope, right.slope))

    def _times(self, left: Dual[P], right: Dual[P]) -> Dual[P]:
        value = self.multiply(left.value, right.value)
        first = self._scaled(right.value, left.slope)
        second = self._scaled(left.value, right.slope)
        if first is None or second is None:
            return Dual(value, second if first is None else first)
        return Dual(value, self.add(first, second))

    def _inverse(self, one: Dual[P]) -> Dual[P]:
        value = self.inverse(one.value)
        if one.slope is None:
            return Dual(value)
        minus = self.multiply(self.number(Fraction(-1)), self.multiply(value, value))
        return Dual(value, self.multiply(minus, one.slope))

    def _scaled(self, by: P, slope: P | None) -> P | None:
        return None if slope is None else self.multiply(by, slope)
