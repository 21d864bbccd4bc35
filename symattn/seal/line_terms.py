"""Terms of a line in Coq: sums, deltas and derivatives over the library's definitions.

Places are counted from 0 in Coq, from 1 in lines: a place that is a number is one less there,
and an index that stands as a number is one more, ``INR i + 1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from fractions import Fraction
from functools import reduce
from operator import mul

from flint import fmpq

from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis, AxisPlace, Expr, Index
from symattn.errors import Malformed
from symattn.expressions.trees import ATOM
from symattn.seal.terms import (
    FUNCTIONS,
    ONE,
    ZERO,
    Entry,
    Function,
    Number,
    Operation,
    Slope,
    Sum,
    Term,
    text,
    within,
)  # fmt: skip
from symattn.seal.theorems import Names

ENDINGS = ("_of", "_is", "_gradient", "_positive", "_permutes")
"""What names are made of one by."""
Varied = Mapping[Array, Entry]
"""Arrays that vary, and what stands for them."""


class Unsayable(Exception):
    """A term that the library has no word for; the message names it."""


class Terms:
    """Writes the terms of one derivation in Coq.

    ``names`` are those of its arrays, given by ``fresh``, as those of sizes and permutations.
    ``bounds`` are what has to hold that the places written have a place before them.
    """

    def __init__(
        self,
        fresh: Names,
        arrays: Iterable[Array],
        sizes: Iterable[str],
        others: Iterable[str],
    ) -> None:
        self._fresh = fresh
        self.sizes = {size: fresh.fresh(size) for size in sizes}
        self.permutations = {name: fresh.fresh(name) for name in others}
        self.names = {array: fresh.fresh(array.name) for array in arrays}
        self.indices: dict[Index, str] = {}
        self.gradients: dict[Array, Array] = {}
        self.bounds: dict[str, None] = {}
        self._summed: set[Index] = set()

    @contextmanager
    def binding(self, *indices: Index) -> Iterator[list[str]]:
        """While this lasts indices have names."""
        before, names = self.indices, [self._fresh.fresh(index.name) for index in indices]
        self.indices = {**before, **dict(zip(indices, names, strict=True))}
        try:
            yield names
        finally:
            self.indices = before
            self._fresh.give_back(names)

    @contextmanager
    def variable(self, name: str) -> Iterator[str]:
        """While this lasts a name that nothing else has is taken."""
        name = self._fresh.fresh(name)
        try:
            yield name
        finally:
            self._fresh.give_back([name])

    # -- sizes and places ------------------------------------------------------

    def axis(self, axis: Axis) -> str:
        """The length of an axis."""
        return str(axis) if isinstance(axis, int) else self.sizes[axis]

    def place(self, at: AxisPlace) -> str:
        """A place, as an argument. Subtraction of naturals stops at 0: what is before an index
        or the end of an axis is noted as a bound, unless sizes have it anyhow."""
        moved, written = _start(at), self.sizes[at.size] if at.size else ""
        if at.index is not None:
            written = self.indices[at.index]
        if moved < _least(at):
            if not written or at.index in self._summed:
                raise Unsayable("a place before the first of its axis")
            self.bounds[f"({-moved} <= {written})%nat"] = None
        written = _plus(written, moved)
        for image in at.images:
            written = f"({self.permutations[image]} {written})"
        return written

    def compared(self, *places: AxisPlace) -> list[str]:
        """Places that are compared, which may lie beyond their axis: all are moved on so far that
        none is before the first."""
        by = max(0, *(_least(at) - _start(at) for at in places if not at.images))
        return [
            _plus(self.place(at), by)
            if at.images
            else self.place(replace(at, offset=at.offset + by))
            for at in places
        ]

    def within(self, index: Index) -> str:
        """State that an index is a place along its axis."""
        return f"({self.indices[index]} < {self.axis(index.size)})%nat"

    # -- arrays ----------------------------------------------------------------

    def is_defined(self, array: Array) -> bool:
        """Return whether an array is defined by what it is computed from, entry by entry."""
        return array.body is not None and not _has_slopes(array.body)

    def direct(self, array: Array) -> list[Array]:
        """The arrays that a definition is written with, in order."""
        assert array.body is not None
        found: dict[Array, None] = {}
        for part in term.walk(unnamed(array.body)):
            if isinstance(part, term.Entry):
                found[part.array.of or part.array] = None
        return list(found)

    def array(self, array: Array, varied: Varied) -> Entry:
        """An array, as an argument, while others vary."""
        if array in varied:
            return varied[array]
        if not any(each in varied for each in array.uses):
            return Entry(self.names[array])
        if array.of is not None:
            return Entry(self.names[array], (), (self.array(array.of, varied),))
        if not self.is_defined(array):
            raise Unsayable(f"how {array.name}, a derivative, varies")
        arguments = tuple(self.array(each, varied) for each in self.direct(array))
        return Entry(f"{self.names[array]}_of", (), arguments)

    # -- terms -----------------------------------------------------------------

    def text(self, value: Expr, varied: Varied | None = None) -> str:
        """An expression as Coq reads it."""
        return text(self.of(value, varied or {}))

    def slope(self, value: term.Partial, varied: Varied) -> Slope:
        """A derivative by an entry of an array: of what is there with a variable put in for it."""
        with self.variable("x") as x:
            where = [*map(self.place, value.at)]
            here = self.array(value.array, varied)
            if len(where) > 4:
                raise Unsayable("derivatives by arrays of more than four axes")
            body = self.of(value.of, {**varied, value.array: here.put(where, x)})
            return Slope(x, body, here.at(*where))

    def derived(self, value: term.Partial, to: Term) -> str:
        """State that there is a derivative, and that it is a term."""
        return f"is_derive {self.slope(value, {}).arguments()} ({text(to)})"

    def argument(self, array: Array, varied: Varied) -> str:
        """An array as Coq reads it as an argument, while others vary."""
        return within(self.array(array, varied), ATOM)

    def of(self, value: Expr, varied: Varied) -> Term:
        """An expression in terms of Coq."""

        def inner(part: Expr) -> Term:
            return self.of(part, varied)

        match value:
            case term.Number(number):
                return _number(number)
            case term.Constant():
                return Entry("PI")
            case term.Size():
                axis = term.length(value)
                return (
                    Number(fmpq(axis))
                    if isinstance(axis, int)
                    else Entry("INR").at(self.axis(axis))
                )
            case term.Position(index):
                return Entry("INR").at(self.indices[index]) + ONE
            case term.Entry(array, at):
                if array.of is not None:
                    return Entry(self.names[array], (), (self.array(array.of, varied),))
                if _has_no_name(array) or (
                    array.body is not None
                    and not self.is_defined(array)
                    and (any(each in varied for each in array.uses) and array not in varied)
                ):
                    return inner(opened(value))
                return self.array(array, varied).at(*map(self.place, at))
            case term.Add(terms):
                found = inner(terms[0])
                for part in terms[1:]:
                    if isinstance(part, term.Neg):
                        found -= inner(part.body)
                    else:
                        found += inner(part)
                return found
            case term.Neg(body):
                return -inner(body)
            case term.Mul(factors):
                return reduce(mul, map(inner, factors))
            case term.Div(above, below):
                return inner(above) / inner(below)
            case term.Power(base, exponent):
                return _power(inner(base), exponent)
            case term.Apply("positive", body):
                return Operation("above", (inner(body), ZERO))
            case term.Apply(function, body):
                return Function(FUNCTIONS.get(function, function), inner(body))
            case term.Sum(index, body):
                self._summed.add(index)
                with self.binding(index) as (name,):
                    return Sum(self.axis(index.size), name, inner(body))
            case term.Delta(first, second):
                return Entry("delta").at(*self.compared(first, second))
            case term.AtMost(first, second):
                return Entry("at_most").at(*self.compared(first, second))
            case term.Partial(of, by, at):
                loss = unnamed(of)
                varies = by in varied or any(each in varied for each in by.uses)
                if isinstance(loss, term.Entry) and loss.array.of is by and not varies:
                    return Entry(self.names[self.gradient(loss.array)]).at(*map(self.place, at))
                return self.slope(value, varied)
            case term.Limit():
                raise Unsayable("a limit within a line")
            case term.Expectation():
                raise Unsayable("an expected value")
            case term.Operations():
                raise Unsayable("a count of operations")
        raise TypeError(type(value).__name__)

    def gradient(self, loss: Array) -> Array:
        """The array that is the gradient of a loss in what it is a function of."""
        assert loss.of is not None
        if loss not in self.gradients:
            known = (array for array in self.names if slope_of(array, loss) is loss.of)
            if (found := next(known, None)) is None:
                found = Array(f"d{loss.name}", loss.of.axes)
                self.names[found] = self._fresh.fresh(found.name)
            self.gradients[loss] = found
        return self.gradients[loss]


def slope_of(array: Array, loss: Array | None = None) -> Array | None:
    """Return what an array is the gradient in, of a loss that is any function or of this one; else
    None."""
    match array.body:
        case term.Partial(term.Entry(of), by, at) if of.of is not None and of is (loss or of):
            return by if at == tuple(map(AxisPlace, array.params)) else None
    return None


def opened(entry: term.Entry) -> Expr:
    """Return what the definition of an array says of an entry. Raises :class:`Unsayable`."""
    assert entry.array.body is not None
    at = dict(zip(entry.array.params, entry.at, strict=True))
    try:
        return term.replaced(entry.array.body, at)
    except Malformed as error:
        raise Unsayable(str(error)) from None


def unnamed(value: Expr) -> Expr:
    """An expression with the parts that have no name written out."""
    if isinstance(value, term.Entry) and _has_no_name(value.array):
        return unnamed(opened(value))
    return term.mapped(value, unnamed, lambda at: at)


def _has_no_name(array: Array) -> bool:
    return array.body is not None and "." in array.name


def same(one: object, other: object, bound: Mapping[object, Index], steps: Iterator[int]) -> bool:
    """Tell whether two expressions are the same term, with definitions put in where they differ and
    ``bound`` indices by other names; not known, hence not, when the ``steps`` are used up."""
    if next(steps, None) is None:
        return False
    match one, other:
        case Index(), Index():
            return bound.get(one, one) is other
        case tuple(), tuple():
            pairs = zip(one, other, strict=False)
            return len(one) == len(other) and all(same(*x, bound, steps) for x in pairs)
        case term.Sum(index, body), term.Sum(own, its):
            return index.size == own.size and same(body, its, {**bound, index: own}, steps)
        case term.Entry(array, at), term.Entry(its, there) if array is its:
            return same(at, there, bound, steps)
        case term.Entry(array), _ if array.body is not None:
            return same(opened(one), other, bound, steps)
        case _, term.Entry(array) if array.body is not None:
            return same(one, opened(other), bound, steps)
        case (Expr() | AxisPlace(), _) if type(one) is type(other):
            names = [part.name for part in fields(one)]  # type: ignore[arg-type]
            return all(same(getattr(one, x), getattr(other, x), bound, steps) for x in names)
    return one == other


def _has_slopes(value: Expr) -> bool:
    kinds = (term.Partial, term.Limit, term.Expectation, term.Operations)
    return any(isinstance(part, kinds) for part in term.walk(unnamed(value)))


def _number(number: Fraction) -> Number:
    return Number(fmpq(number.numerator, number.denominator))


def _power(base: Term, exponent: Fraction) -> Term:
    """A power with whole exponents and roots, if it has one: those the library knows."""
    if exponent < 0:
        return Function("/", _power(base, -exponent))
    if exponent.denominator > 2:
        return Operation("Rpower", (base, _number(exponent)))
    root = base if exponent.denominator == 1 else Function("sqrt", base)
    power = exponent.numerator
    return root if power == 1 else Operation("^", (root, Number(fmpq(power))))


def _start(at: AxisPlace) -> int:
    """Tell how far on a place is, counted from 0, of an index, the length of an axis, or 0."""
    return at.offset if at.index is not None else at.offset - 1


def _least(at: AxisPlace) -> int:
    """Tell how far that is at least where there is such a place: every size is 1 or more."""
    return -1 if at.size else 0


def _plus(written: str, offset: int) -> str:
    """A place so many places on; of none the place itself."""
    if not written:
        return f"{offset}%nat"
    return f"({written} {'+' if offset > 0 else '-'} {abs(offset)})%nat" if offset else written
