"""Terms of Coq about entries: what a definition says, as text and as a number.

A quantity is a function of its indices; a term is one entry of it in terms of others. Figures of
walkthroughs and lines of derivations are stated in the same terms.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import add, mul, sub, truediv
from typing import Any, Literal, cast

from flint import arb, fmpq
from flint.utils.flint_exceptions import DomainError

from symattn.expressions.elementary import ELEMENTARY
from symattn.expressions.trees import (
    ATOM,
    CHOICE,
    OPERATORS,
    POSTFIX,
    PRODUCT,
    SUM,
    Walk,
    bracketed,
)

Env = Mapping[str, int]


#: Operations of two numbers, as they are written; those that are words stand before them.
Sign = Literal["+", "-", "*", "/", "^", "Rmax", "above", "Rpower"]


@dataclass(frozen=True)
class Moved:
    """An index that is another one, moved: ``start + step * name``."""

    name: str
    start: int = 0
    step: int = 1

    def __str__(self) -> str:
        moved = self.name if abs(self.step) == 1 else f"{abs(self.step)} * {self.name}"
        if self.step < 0:
            words = f"{self.start} - {moved}"
        elif self.start < 0:
            words = f"{moved} - {-self.start}"
        else:
            words = f"{self.start} + {moved}" if self.start else moved
        return words if words == self.name else f"({words})%nat"

    def at(self, env: Env) -> int:
        """The place where the variable is known."""
        return self.start + self.step * env[self.name]

    def on(self, index: Index) -> Index:
        """It with another index for the variable."""
        if isinstance(index, int):
            return self.start + self.step * index
        return Moved(index.name, self.start + self.step * index.start, self.step * index.step)


#: What an index may be: a place, or a variable of the definition.
Index = int | Moved
#: A row and a column.
Places = tuple[Index, Index]
#: A condition on indices: a function of them that says true or false.
Asked = tuple[str, tuple[Index, ...]]


def free(*used: Index) -> Moved:
    """A variable that none of the indices is, and no quantity."""
    names = {index.name for index in used if isinstance(index, Moved)}
    return Moved(next(name for name in ("k", "l", "k'", "l'", "k''") if name not in names))


def shifted(index: Index, by: int) -> Index:
    """An index so many places on."""
    return Moved("", by).on(index)


def place(index: Index, env: Env) -> int:
    """The place that an index is."""
    return index if isinstance(index, int) else index.at(env)


class Algebra:
    """Terms put together by the signs of algebra.

    >>> x, y = Entry("x"), Entry("y")
    >>> text(-(x + y) * x / y)
    '(- (x + y)) * x / y'
    """

    def _with(self, sign: Sign, *others: Term) -> Operation:
        return Operation(sign, (cast("Term", self), *others))

    def __neg__(self) -> Operation:
        return self._with("-")

    def __add__(self, other: Term) -> Operation:
        return self._with("+", other)

    def __sub__(self, other: Term) -> Operation:
        return self._with("-", other)

    def __mul__(self, other: Term) -> Operation:
        return self._with("*", other)

    def __truediv__(self, other: Term) -> Operation:
        return self._with("/", other)


@dataclass(frozen=True)
class Number(Algebra):
    """A rational number."""

    value: fmpq


@dataclass(frozen=True)
class Entry(Algebra):
    """An entry of a quantity that has a definition; where that is a function of other
    quantities, ``of`` these."""

    name: str
    indices: tuple[Index, ...] = ()
    of: tuple[Entry, ...] = ()

    def at(self, *places: str) -> Entry:
        """Its entry at places as they are written."""
        return Entry(self.name, (*self.indices, *map(Moved, places)), self.of)

    def put(self, places: Sequence[str], x: str) -> Entry:
        """All of it with a variable for its entry at a place; of a number the variable."""
        return Entry(f"put{len(places)}", (), (self,)).at(*places, x) if places else Entry(x)


@dataclass(frozen=True)
class Operation(Algebra):
    """``+ - * /`` and powers of two terms, or ``-`` of one; the larger of two, and 1 where the
    first is above the second, else 0."""

    sign: Sign
    operands: tuple[Term, ...]


@dataclass(frozen=True)
class Function(Algebra):
    """A function of a term, as Coq calls it."""

    name: str
    operand: Term


@dataclass(frozen=True)
class Sum(Algebra):
    """The sum of a term over a variable from 0 up to a size, a number or the name of one."""

    size: int | str
    variable: str
    body: Term

    def places(self) -> range:
        """The places that the variable is in turn, where the size is a number."""
        assert isinstance(self.size, int)
        return range(self.size)


@dataclass(frozen=True)
class Choice(Algebra):
    """A term where a condition on indices holds, else another.

    The condition is a function of two indices that says true or false.
    """

    condition: str
    indices: tuple[Index, ...]
    then: Term
    other: Term


@dataclass(frozen=True)
class Slope(Algebra):
    """The slope of a term as a function of a variable, at a number."""

    variable: str
    body: Term
    at: Term

    def arguments(self) -> str:
        """The function and the number, as what takes them in Coq is given them."""
        return f"(fun {self.variable} : R => {text(self.body)}) {within(self.at, ATOM)}"


Term = Number | Entry | Operation | Function | Sum | Choice | Slope
ZERO, ONE = Number(fmpq(0)), Number(fmpq(1))

#: Functions of every entry, as Coq calls them; the tactic ``slopes`` of the library knows each.
FUNCTIONS: Mapping[str, str] = {name: row.coq for name, row in ELEMENTARY.items() if row.coq}
BY_COQ = {row.coq: row for row in ELEMENTARY.values() if row.coq}

# -- as text -----------------------------------------------------------------------------------


def number_text(value: fmpq) -> str:
    """A rational number as Coq reads it.

    >>> number_text(fmpq(-1, 2))
    '- 1 / 2'
    """
    return decimal_fraction(int(value.p), int(value.q))


def decimal_fraction(above: int, below: int) -> str:
    """A decimal number by its digits, as Coq reads it.

    >>> decimal_fraction(-1860, 10000)
    '- 1860 / 10000'
    """
    return f"{'- ' if above < 0 else ''}{abs(above)}{f' / {below}' if below != 1 else ''}"


def text(term: Term) -> str:
    """A term as Coq reads it.

    >>> k = Moved("k")
    >>> text(Sum(2, "k", Entry("Q", (0, k)) * Entry("K", (k, 1))))
    'sum 2 (fun k => Q 0 k * K k 1)'
    """
    return _text(term)[0]


def side(term: Term) -> str:
    """A term as a side of an equation, or before a sign."""
    return within(term, SUM)


def _text(term: Term) -> tuple[str, int]:
    match term:
        case Number(value):
            level = SUM if value < 0 else PRODUCT if value.q != 1 else ATOM
            return number_text(value), level
        case Entry(name, indices, of):
            words = (name, *(within(each, ATOM) for each in of), *map(str, indices))
            return " ".join(words), POSTFIX if words[1:] else ATOM
        case Operation("-", (operand,)):
            return f"- {within(operand, POSTFIX)}", SUM
        case Operation("^", (base, exponent)):
            return f"{within(base, ATOM)} ^ {within(exponent, ATOM)}", POSTFIX
        case Operation("Rmax" | "above" | "Rpower" as name, (left, right)):
            return f"{name} {within(left, ATOM)} {within(right, ATOM)}", POSTFIX
        case Operation(sign, (left, right)):
            level = OPERATORS[sign]
            return f"{within(left, level)} {sign} {within(right, level + 1)}", level
        case Function(name, operand):
            return f"{name} {within(operand, ATOM)}", POSTFIX
        case Sum(size, variable, body):
            return f"sum {size} (fun {variable} => {text(body)})", POSTFIX
        case Choice(condition, indices, then, other):
            asked = " ".join((condition, *map(str, indices)))
            return f"if {asked} then {text(then)} else {text(other)}", CHOICE
        case Slope():
            return f"Derive {term.arguments()}", POSTFIX
    raise AssertionError(term)


def within(term: Term, level: int) -> str:
    """A term inside another, in brackets where it binds less."""
    return bracketed(_text(term), level, "({})".format)


_walk: Walk[Term] = Walk()
parts = _walk.walk
replaced = _walk.replaced

# -- at a place --------------------------------------------------------------------------------


def placed(term: Term, env: Mapping[str, Index]) -> Term:
    """A term with what is known of its variables put in, places or other indices.

    >>> text(placed(Function("exp", Entry("T", (Moved("i"), Moved("k")))), {"i": 0}))
    'exp (T 0 k)'
    """

    def index(x: Index) -> Index:
        return x if isinstance(x, int) or x.name not in env else x.on(env[x.name])

    match term:
        case Entry(name, indices):
            return Entry(name, tuple(map(index, indices)))
        case Sum(size, variable, body):
            outer = {k: v for k, v in env.items() if k != variable}
            return Sum(size, variable, placed(body, outer))
        case Choice(condition, indices, then, other):
            term = Choice(condition, tuple(map(index, indices)), then, other)
    return _walk.mapped(term, lambda part: placed(part, env))


def local(term: Term, names: Container[str]) -> Term:
    """A term where these names are variables: Coq has to be told that numbers are places there.

    >>> text(local(Entry("Y", (0, Moved("j"))), {"Y"}))
    'Y 0%nat j'
    """
    if isinstance(term, Entry) and term.name in names:
        places = (Moved(f"{x}%nat") if isinstance(x, int) else x for x in term.indices)
        return Entry(term.name, tuple(places))
    return _walk.mapped(term, lambda part: local(part, names))


def needed(
    term: Term, env: Env, holds: Callable[[str, tuple[int, ...]], bool]
) -> Iterator[Entry | Function]:
    """The entries and functions that a term is made of at a place, not what is inside these."""
    match term:
        case Entry() | Function():
            found = placed(term, env)
            assert isinstance(found, (Entry, Function))
            yield found
        case Operation(_, operands):
            for operand in operands:
                yield from needed(operand, env, holds)
        case Sum(_, variable, body):
            for k in term.places():
                yield from needed(body, {**env, variable: k}, holds)
        case Choice(condition, indices, then, other):
            chosen = holds(condition, tuple(place(index, env) for index in indices))
            yield from needed(then if chosen else other, env, holds)


def value(
    term: Term,
    env: Env,
    entry: Callable[[Entry], fmpq | arb],
    holds: Callable[[str, tuple[int, ...]], bool],
) -> fmpq | arb:
    """Return what a term comes to: exactly where it takes rational steps only, else in a ball.

    >>> value(Function("sqrt", Number(fmpq(4))), {}, lambda e: fmpq(0), lambda c, i: True)
    2
    """

    def of(part: Term, there: Env = env) -> fmpq | arb:
        return value(part, there, entry, holds)

    match term:
        case Number(number):
            return number
        case Entry(name, indices):
            return entry(Entry(name, tuple(place(index, env) for index in indices)))
        case Operation("-", (operand,)):
            return -of(operand)
        case Operation(sign, (left, right)):
            return _operated(sign, of(left), of(right))
        case Function(name, operand):
            return _applied(name, of(operand))
        case Sum(_, variable, body):
            total: fmpq | arb = fmpq(0)
            for k in term.places():
                total = _operated("+", total, of(body, {**env, variable: k}))
            return total
        case Choice(condition, indices, then, other):
            chosen = holds(condition, tuple(place(index, env) for index in indices))
            return of(then if chosen else other)
    raise AssertionError(term)


class Undecided(Exception):
    """An order of two numbers that is not known."""


_COMPUTED: Mapping[str, Callable[[Any, Any], fmpq | arb]] = {
    "+": add, "-": sub, "*": mul, "/": truediv,
}  # fmt: skip


def _operated(sign: str, x: fmpq | arb, y: fmpq | arb) -> fmpq | arb:
    nothing = [isinstance(number, fmpq) and number == 0 for number in (x, y)]
    if (sign == "*" and any(nothing)) or (sign == "/" and nothing[0] and not nothing[1]):
        return fmpq(0)
    if isinstance(x, arb) or isinstance(y, arb):
        x, y = arb(x), arb(y)
    if (computed := _COMPUTED.get(sign)) is not None:
        return computed(x, y)
    if not (x > y or x <= y):
        raise Undecided(f"{x} and {y} are too close")
    if sign == "above":
        return fmpq(int(x > y))
    return x if x > y else y


def _applied(name: str, x: fmpq | arb) -> fmpq | arb:
    if isinstance(x, fmpq):
        if name == "sqrt":
            with suppress(DomainError):
                return x.sqrt()
        if (exact := BY_COQ[name].exact) is not None and x == exact[0]:
            return fmpq(exact[1])
    return arb(getattr(arb(x), BY_COQ[name].name)())
