"""Terms of a line in Coq: sums, deltas and derivatives over the library's definitions.

Places are counted from 0 in Coq, from 1 in lines: a place that is a number is one less there,
and an index that stands as a number is one more, ``INR i + 1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from fractions import Fraction

from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis, AxisPlace, Expr, Index
from symattn.errors import Malformed
from symattn.expressions.trees import ATOM, POSTFIX, PRODUCT, SUM, bracketed
from symattn.seal.theorems import Names

ENDINGS = ("_of", "_is", "_gradient", "_positive", "_permutes")
"""What names are made of one by."""
Varied = Mapping[Array, str]
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

    def compared(self, *places: AxisPlace) -> str:
        """Places that are compared, which may lie beyond their axis: all are moved on so far that
        none is before the first."""
        by = max(0, *(_least(at) - _start(at) for at in places if not at.images))
        return " ".join(
            _plus(self.place(at), by)
            if at.images
            else self.place(replace(at, offset=at.offset + by))
            for at in places
        )

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

    def array(self, array: Array, varied: Varied) -> str:
        """An array, as an argument, while others vary."""
        if array in varied:
            return varied[array]
        if not any(each in varied for each in array.uses):
            return self.names[array]
        if array.of is not None:
            return f"({self.names[array]} {self.array(array.of, varied)})"
        if not self.is_defined(array):
            raise Unsayable(f"how {array.name}, a derivative, varies")
        arguments = " ".join(self.array(each, varied) for each in self.direct(array))
        return f"({self.names[array]}_of {arguments})"

    # -- terms -----------------------------------------------------------------

    def text(self, value: Expr, varied: Varied | None = None) -> str:
        """An expression."""
        return self._written(unnamed(value), varied or {})[0]

    def moved(self, of: Expr, array: Array, at: tuple[AxisPlace, ...], varied: Varied) -> str:
        """Return what is differentiated by an entry as a function of it, and where, as
        arguments."""
        with self.variable("x") as x:
            where = [self.place(each) for each in at]
            here = self.array(array, varied)
            entry = f"({' '.join((here, *where))})" if where else here
            put = f"(put{len(at)} {here} {' '.join(where)} {x})" if where else x
            if len(at) > 4:
                raise Unsayable("derivatives by arrays of more than four axes")
            body = self._written(unnamed(of), {**varied, array: put})[0]
            return f"(fun {x} : R => {body}) {entry}"

    def _written(self, value: Expr, varied: Varied) -> tuple[str, int]:
        def inner(part: Expr, tightness: int) -> str:
            return bracketed(self._written(part, varied), tightness, "({})".format)

        match value:
            case term.Number(number):
                return _number(number)
            case term.Constant():
                return "PI", ATOM
            case term.Size():
                axis = term.length(value)
                if isinstance(axis, int):
                    return str(axis), ATOM
                return f"INR {self.axis(axis)}", POSTFIX
            case term.Position(index):
                return f"INR {self.indices[index]} + 1", SUM
            case term.Entry(array, at):
                if array.of is not None:
                    return f"{self.names[array]} {self.array(array.of, varied)}", POSTFIX
                if (
                    array.body is not None
                    and not self.is_defined(array)
                    and (any(each in varied for each in array.uses) and array not in varied)
                ):
                    return self._written(unnamed(opened(value)), varied)
                head = self.array(array, varied)
                if not at:
                    bare = head.startswith("(") and head.endswith(")")
                    return (head[1:-1], POSTFIX) if bare else (head, ATOM)
                head = head[1:-1] if head.startswith("(") else head
                return " ".join((head, *map(self.place, at))), POSTFIX
            case term.Add(terms):
                written = inner(terms[0], PRODUCT)
                for part in terms[1:]:
                    minus = isinstance(part, term.Neg)
                    body = part.body if isinstance(part, term.Neg) else part
                    written += f" {'-' if minus else '+'} {inner(body, PRODUCT)}"
                return written, SUM
            case term.Neg(body):
                return f"- {inner(body, POSTFIX)}", SUM
            case term.Mul(factors):
                first, *rest = factors
                return " * ".join((inner(first, PRODUCT), *(inner(x, POSTFIX) for x in rest))), (
                    PRODUCT
                )
            case term.Div(above, below):
                return f"{inner(above, PRODUCT)} / {inner(below, POSTFIX)}", PRODUCT
            case term.Power(base, exponent):
                return self._power(inner(base, ATOM), exponent)
            case term.Apply(function, body):
                if function == "positive":
                    return f"above {inner(body, ATOM)} 0", POSTFIX
                name = {"log": "ln"}.get(function, function)
                return f"{name} {inner(body, ATOM)}", POSTFIX
            case term.Sum(index, body):
                self._summed.add(index)
                with self.binding(index) as (name,):
                    body_text = self._written(body, varied)[0]
                return f"sum {self.axis(index.size)} (fun {name} => {body_text})", POSTFIX
            case term.Delta(first, second):
                return f"delta {self.compared(first, second)}", POSTFIX
            case term.AtMost(first, second):
                return f"at_most {self.compared(first, second)}", POSTFIX
            case term.Partial(term.Entry(array), other, at) if other is array.of and (
                other not in varied and not any(each in varied for each in other.uses)
            ):
                return " ".join((self.names[self.gradient(array)], *map(self.place, at))), POSTFIX
            case term.Partial(of, array, at):
                return f"Derive {self.moved(of, array, at, varied)}", POSTFIX
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
            for array in self.names:
                if slope_of(array, loss) is loss.of:
                    self.gradients[loss] = array
                    break
            else:
                own = Array(f"d{loss.name}", loss.of.axes)
                self.names[own] = self._fresh.fresh(own.name)
                self.gradients[loss] = own
        return self.gradients[loss]

    @staticmethod
    def _power(base: str, exponent: Fraction) -> tuple[str, int]:
        below = exponent < 0
        match abs(exponent):
            case Fraction(numerator=1, denominator=1):
                written = base
            case Fraction(numerator=k, denominator=1):
                written = f"{base} ^ {k}"
            case Fraction(numerator=1, denominator=2):
                written = f"sqrt {base}"
            case Fraction(numerator=k, denominator=2):
                written = f"sqrt {base} ^ {k}"
            case other:
                written = f"Rpower {base} ({other.numerator} / {other.denominator})"
        return (f"/ ({written})" if below else written), POSTFIX


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
    if isinstance(value, term.Entry) and value.array.body is not None and "." in value.array.name:
        return unnamed(opened(value))
    return term.mapped(value, unnamed, lambda at: at)


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


def _number(number: Fraction) -> tuple[str, int]:
    if number.denominator > 1:
        return f"{number.numerator} / {number.denominator}", PRODUCT if number > 0 else SUM
    return (str(number.numerator), ATOM) if number >= 0 else (f"- {-number.numerator}", SUM)


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
