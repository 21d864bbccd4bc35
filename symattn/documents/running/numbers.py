"""Numbers of a program that is run exactly: whole numbers, balls, and arrays of them.

A number that nobody knows is the ball that holds all. Truth has three values: what no ball decides
is unknown as well.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import prod
from typing import Any, ClassVar

import numpy as np
from flint import arb

from symattn.documents.text import Span
from symattn.documents.trees import NOWHERE
from symattn.expressions import syntax
from symattn.expressions.elementary import ELEMENTARY
from symattn.numbers.balls import charge
from symattn.spelling import written

#: A number that nobody knows.
NOBODY_KNOWS: arb = arb("nan")
#: No whole number with more bits is computed, and no array with more entries.
_BITS, _ENTRIES = 4096, 1 << 14
#: No array has more axes.
_AXES = 8

#: A single number, or the truth of something.
Scalar = int | arb


class Lost(Exception):
    """Something that has to be known, and isn't."""


class Change:
    """The changes of arrays, and of what nobody knows, by number."""

    latest: ClassVar[int] = 0
    _numbers = count(1)

    @classmethod
    def happens(cls) -> None:
        """Count a change."""
        cls.latest = next(cls._numbers)


@dataclass(eq=False)
class Scope:
    """Names and their values; where it ``tells``, what they mean is told."""

    names: dict[str, Any]
    around: Scope | None = None
    shared: set[str] = field(default_factory=set)
    tells: bool = False

    def find(self, name: str) -> Any:
        """Return the value of a name; raises :class:`KeyError`."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.around
        raise KeyError(name)

    def set(self, name: str, value: Any) -> None:
        """Give a name a value."""
        scope = self
        if name in self.shared:
            while scope.around is not None and name not in scope.around.names:
                scope = scope.around
            scope = scope.around or scope
        scope.names[name] = value


@dataclass(eq=False)
class Meaning:
    """The meaning of a name when it was told: the formula that it was said to be, and its value
    then; ``scope`` has its value now."""

    name: str
    value: Any
    formula: Formula | None
    scope: dict[str, Any]
    leaves: Sequence[object] = ()
    is_free: bool = False
    checked: int = -1

    def is_same(self) -> bool:
        """Return whether the value has not been changed since then."""
        match self.value:
            case int() | arb():
                return True
            case Array() | Unknown() if self.checked == Change.latest:
                return True
        if not are_same(self.leaves, leaves(self.value)):
            return False
        self.checked = Change.latest
        return True


@dataclass(frozen=True, eq=False)
class Formula:
    """The expression that a value was computed by, with the meanings of its names then, how many
    parts it has, and how deep they stand in each other."""

    tree: syntax.Tree
    names: Mapping[str, Meaning]
    size: int = 1
    depth: int = 1


@dataclass(eq=False)
class Unknown:
    """A value of which nothing is known; it may change what it ``holds``. Something is added to
    ``changes`` where it may have been changed itself."""

    holds: Sequence[object] = ()
    formula: Formula | None = None
    changes: list[object] = field(default_factory=list)


class Rest(Unknown):
    """Any number of unknown items, in a list that may have been changed."""


def counted(value: Any) -> Any:
    """Return a list, or another value; raises :class:`Lost` where nobody knows how many items it
    has."""
    if isinstance(value, list) and any(isinstance(one, Rest) for one in value):
        raise Lost
    return value


class Whole(int):
    """A whole number with its formula."""

    formula: Formula | None

    def __new__(cls, value: int, formula: Formula | None = None) -> Whole:
        """Return a number with a formula."""
        found = super().__new__(cls, value)
        found.formula = formula
        return found


class Ball(arb):
    """A ball with its formula."""

    formula: Formula | None

    def __init__(self, value: arb, formula: Formula | None = None) -> None:
        super().__init__(value)
        self.formula = formula


class Listed(list[Any]):
    """A list with its place, the comments behind its items, and its formula."""

    def __init__(
        self,
        items: Sequence[Any],
        span: Span = NOWHERE,
        labels: Sequence[str] = (),
        formula: Formula | None = None,
        seen: Sequence[object] = (),
    ) -> None:
        super().__init__(items)
        self.span, self.labels, self.formula, self._seen = span, labels, formula, seen

    def is_as_noted(self) -> bool:
        """Return whether the items are those that the formula is of."""
        return are_same(self._seen, leaves(self))


class Pair(tuple[Any, Any]):
    """Values with their places, as ``torch.max`` gives them."""

    __slots__ = ()

    @property
    def values(self) -> Any:
        """Return the first."""
        return self[0]

    @property
    def indices(self) -> Any:
        """Return the second."""
        return self[1]


@dataclass(eq=False)
class Array:
    """An array of numbers; ``is_torch`` where PyTorch made it, whose functions have other defaults.

    ``birth`` has the number of a random array and its entries then: as long as it has these, it is
    that one, and known from there on where it is printed later. One that ``is_blank`` is there to
    be filled.
    """

    data: np.ndarray[Any, Any]
    is_torch: bool = False
    birth: tuple[int, Sequence[object]] | None = None
    formula: Formula | None = None
    seen: Sequence[object] = ()
    is_blank: bool = False
    checked: int = -1

    @property
    def shape(self) -> tuple[int, ...]:
        """Return how many entries there are along each axis."""
        return tuple(self.data.shape)

    @property
    def born(self) -> int | None:
        """Return the number of the random array that it is; None of others."""
        is_same = self.birth is not None and are_same(self.birth[1], leaves(self))
        return self.birth[0] if self.birth is not None and is_same else None

    def is_as_noted(self) -> bool:
        """Return whether the entries are those that the formula is of."""
        if self.checked != Change.latest:
            if not are_same(self.seen, leaves(self)):
                return False
            self.checked = Change.latest
        return True

    def set(self, keys: Any, value: Any) -> None:
        """Set entries; one of whole numbers keeps no others."""
        Change.happens()
        stored = array(value).data
        if all(isinstance(one, int) for one in self.data.flat):
            stored = np.frompyfunc(cut, 1, 1)(stored)
        self.data[keys] = stored[()] if isinstance(stored, np.ndarray) else stored

    def lose(self) -> None:
        """Forget what the entries are."""
        Change.happens()
        # Another one, to be told from what nobody knew before.
        self.data[...] = arb("nan")


def leaves(value: object) -> Sequence[object]:
    """Return all single values in one, in their order, and what tells of changes of others."""
    found: list[object] = []
    waiting, seen = [value], set[int]()
    while waiting:
        match one := waiting.pop():
            case Array():
                found += one.data.flat
            case Unknown():
                found += one.changes
            case list() | tuple() | dict():
                # What is in several places, or in itself, is looked into once.
                if id(one) not in seen:
                    seen.add(id(one))
                    waiting += [*(one.values() if isinstance(one, dict) else one)][::-1]
            case _:
                found.append(one)
    return found


def are_same(before: Sequence[object], after: Sequence[object]) -> bool:
    """Return whether values are the very ones that they were."""
    charge(len(before))
    return len(before) == len(after) and all(map(operator.is_, before, after))


def is_unknown(value: object) -> bool:
    """Return whether a number is one that nobody knows."""
    return isinstance(value, arb) and value.is_nan()


def ball(value: Scalar) -> arb:
    """A number as a ball."""
    return value if isinstance(value, arb) else arb(int(value))


def number(value: float | str) -> arb:
    """The ball of a decimal, as it is written.

    >>> number(0.5) == number("0.5")
    True
    """
    return arb(str(value))


def near(text: str) -> arb:
    """The ball of all that rounds to a decimal.

    >>> near("0.5").contains(number("0.549")), near("3").contains(number("3.2"))
    (True, True)
    """
    return arb(text, arb(10) ** -written(text).decimals / 2)


def truth(value: object) -> bool:
    """Return whether a value counts as true; raises :class:`Lost` where that isn't known."""
    if isinstance(value, Array):
        value = value.data.item() if value.data.size == 1 else NOBODY_KNOWS
    if isinstance(value, Unknown) or is_unknown(value):
        raise Lost
    if isinstance(value, arb):
        found = _decided(value != 0, value == 0)
        if isinstance(found, arb):
            raise Lost
        return found
    return bool(value)


def whole(value: object) -> int:
    """Return the whole number that a value is; raises :class:`Lost` where it is none."""
    if isinstance(value, Array) and value.data.size == 1:
        value = value.data.item()
    if isinstance(value, int):
        return int(value)
    if isinstance(value, arb) and value.is_exact() and value.is_integer():
        return int(value.fmpz())
    raise Lost


def small(value: object) -> int:
    """Return a whole number that says where or how many; raises :class:`Lost` of a large one."""
    found = whole(value)
    if abs(found) > _ENTRIES:
        raise Lost
    return found


# -- arithmetic of single numbers --------------------------------------------------------


def _decided(is_so: bool, is_not: bool) -> bool | arb:
    return True if is_so else False if is_not else NOBODY_KNOWS


def _whole_or_ball(
    of_whole: Callable[[int, int], Scalar], of_balls: Callable[[arb, arb], arb]
) -> Callable[[Scalar, Scalar], Scalar]:
    def calculated(x: Scalar, y: Scalar) -> Scalar:
        if isinstance(x, int) and isinstance(y, int):
            return of_whole(int(x), int(y))
        return of_balls(ball(x), ball(y))

    return calculated


def _bounded(x: Scalar) -> Scalar:
    """A number; a whole one with too many bits as a ball, which has no more than are computed."""
    return ball(x) if isinstance(x, int) and x.bit_length() > _BITS else x


def _quotient(x: Scalar, y: Scalar) -> Scalar:
    return ball(x) / ball(y)


def _floor(x: arb) -> Scalar:
    found = x.floor()
    return found if found.is_exact() else NOBODY_KNOWS


def _power(x: Scalar, y: Scalar) -> Scalar:
    if isinstance(y, int) or (y.is_exact() and y.is_integer()):
        exponent = whole(y)
        if isinstance(x, int) and isinstance(y, int) and exponent >= 0:
            if int(x).bit_length() * exponent > _BITS:
                raise Lost
            return int(int(x) ** exponent)
        base = ball(x)
        return base**exponent
    base = ball(x)
    return base.sqrt() if y == arb("0.5") else base**y


def _rest(x: arb, y: arb) -> arb:
    return x - y * ball(_floor(x / y))


#: What signs of Python mean.
OPERATORS: Mapping[str, Callable[[Scalar, Scalar], Scalar]] = {
    "Add": _whole_or_ball(operator.add, operator.add),
    "Sub": _whole_or_ball(operator.sub, operator.sub),
    "Mult": _whole_or_ball(lambda x, y: _bounded(x * y), operator.mul),
    "Div": _quotient,
    "FloorDiv": _whole_or_ball(operator.floordiv, lambda x, y: ball(_floor(x / y))),
    "Mod": _whole_or_ball(operator.mod, _rest),
    "Pow": _power,
    "BitAnd": lambda x, y: _logical(operator.and_, x, y),
    "BitOr": lambda x, y: _logical(operator.or_, x, y),
    "BitXor": lambda x, y: _logical(operator.xor, x, y),
    "Eq": lambda x, y: _decided(ball(x) == ball(y), ball(x) != ball(y)),
    "NotEq": lambda x, y: _decided(ball(x) != ball(y), ball(x) == ball(y)),
    "Lt": lambda x, y: _decided(ball(x) < ball(y), ball(x) >= ball(y)),
    "LtE": lambda x, y: _decided(ball(x) <= ball(y), ball(x) > ball(y)),
    "Gt": lambda x, y: _decided(ball(x) > ball(y), ball(x) <= ball(y)),
    "GtE": lambda x, y: _decided(ball(x) >= ball(y), ball(x) < ball(y)),
    "maximum": _whole_or_ball(max, lambda x, y: x.max(y)),
    "minimum": _whole_or_ball(min, lambda x, y: x.min(y)),
}


def _logical(of: Callable[[Any, Any], Any], x: Scalar, y: Scalar) -> Scalar:
    if isinstance(x, bool) and isinstance(y, bool):
        return bool(of(x, y))
    # Of numbers "^" may be meant as a power.
    return NOBODY_KNOWS


#: Functions that Arb has under the same name.
_ARB = ("log1p", "expm1", "tan", "sinh", "cosh", "atan", "acos", "rsqrt")


def _sigmoid(x: arb) -> arb:
    return 1 / (1 + (-x).exp())


def _gelu(x: arb) -> arb:
    return x * (-x / arb(2).sqrt()).erfc() / 2


#: Functions of a single number, each entry by itself.
FUNCTIONS: Mapping[str, Callable[[arb], arb]] = {
    **{name: getattr(arb, name) for name in (*ELEMENTARY, *_ARB)},
    "arctan": arb.atan,
    "arccos": arb.acos,
    "sigmoid": _sigmoid,
    "expit": _sigmoid,
    "gelu": _gelu,
    "log2": lambda x: x.log() / arb(2).log(),
    "log10": lambda x: x.log() / arb(10).log(),
    "exp2": lambda x: arb(2) ** x,
    "reciprocal": lambda x: 1 / x,
    "silu": lambda x: x * _sigmoid(x),
    "softplus": lambda x: (1 + x.exp()).log(),
    "radians": lambda x: x * arb.pi() / 180,
    "deg2rad": lambda x: x * arb.pi() / 180,
}


def cut(value: Scalar) -> Scalar:
    """A number without what stands behind its point, as arrays of whole numbers keep it.

    >>> cut(number("-1.5")), cut(True)
    (-1, True)
    """
    if isinstance(value, int) or value.is_nan():
        return value
    found = value.floor() if value >= 0 else -((-value).floor())
    return whole(found) if found.is_exact() else NOBODY_KNOWS


def rounded(value: Scalar, places: int = 0) -> Scalar:
    """A number rounded to so many decimals; all that it may be rounded to where it is half-way.

    >>> abs(rounded(number("0.126"), 2) - number("0.13")) < 1e-9
    True
    """
    if isinstance(value, int) or not value.is_finite():
        return value
    scale = arb(10) ** places
    below, above = (
        (value * scale + half).floor() for half in (arb("0.499999999"), arb("0.500000001"))
    )
    return below.union(above) / scale


# -- arrays ------------------------------------------------------------------------------


def each(of: Callable[..., Any], *values: Any) -> Any:
    """Return what a function of single numbers makes of arrays, entry by entry."""
    parts = [value.data if isinstance(value, Array) else value for value in values]
    shape = np.broadcast_shapes(*map(np.shape, parts))
    if (size := prod(shape)) > _ENTRIES:
        raise Lost
    charge(size)
    return made(np.frompyfunc(of, len(parts), 1)(*parts), *values)


def made(data: Any, *values: Any) -> Any:
    """An array, or a single number, made of values."""
    if not isinstance(data, np.ndarray):
        return data
    if data.dtype != object:
        data = data.astype(object)
    if data.size > _ENTRIES:
        raise Lost
    is_torch = any(isinstance(value, Array) and value.is_torch for value in values)
    return data.item() if data.ndim == 0 else Array(data, is_torch)


def array(value: object, is_torch: bool = False) -> Array:
    """A value as an array; raises :class:`Lost` of what is none."""
    if isinstance(value, Array):
        return value
    data = np.empty(_shape(value), dtype=object)
    if data.size > _ENTRIES:
        raise Lost
    charge(data.size)
    for place in np.ndindex(data.shape):
        entry = value
        for k in place:
            entry = entry.data[k] if isinstance(entry, Array) else entry[k]  # type: ignore[index]
        if not isinstance(entry, int | arb):
            raise Lost
        data[place] = entry
    return Array(data, is_torch)


def _shape(value: object, depth: int = 0) -> tuple[int, ...]:
    if depth > _AXES:
        raise Lost
    match value:
        case Array():
            return value.shape
        case int() | arb():
            return ()
        case list() | tuple() | range():
            shapes = [_shape(entry, depth + 1) for entry in value]
            if len(set(shapes)) > 1:
                raise Lost
            return (len(value), *(shapes[0] if shapes else ()))
    raise Lost


def product(left: Array, right: Array) -> Any:
    """The product of matrices, or of vectors."""
    charge(left.data.size * (right.shape[-1] if right.data.ndim > 1 else 1))
    return made(np.frompyfunc(_bounded, 1, 1)(left.data @ right.data), left, right)


def lose(value: object) -> None:
    """Forget all of a value that something unknown may have changed."""
    waiting, seen = [value], set[int]()
    while waiting:
        one: Any = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        match one:
            case Array():
                one.lose()
            case tuple():
                waiting += one
            case list():
                waiting += one
                one[:] = [Rest()]
            case dict():
                waiting += one.values()
                one.update(dict.fromkeys(one, Unknown()))
            case Unknown(holds):
                Change.happens()
                one.changes.append(object())
                waiting += holds
            case Thing():
                waiting.append(one.attributes)


@dataclass(eq=False)
class Thing:
    """An object of a class of the program, or of a library's layer: its attributes."""

    kind: Any
    attributes: dict[str, Any] = field(default_factory=dict)
