"""Arithmetic on answers, as expressions of QTI.

A program runs over expressions as it does over numbers
(:mod:`~symattn.programs.entrywise`): what is known becomes a number at once, what rests on
answers is kept as an operation. Operations of which several others are made are computed
first, and kept in ordered containers: single outcomes are no place for them, since players
round what they hold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from symattn.errors import Malformed
from symattn.exercises.qti.vocabulary import Vocabulary, plain
from symattn.numbers.values import Value
from symattn.programs.entrywise import Entrywise, LazyGrid
from symattn.programs.nodes import Elementwise, Node


@dataclass(frozen=True)
class Variable:
    """A number by the name of its variable."""

    name: str


@dataclass(frozen=True)
class Place:
    """A number in an ordered container, counted from 1."""

    container: str
    number: int


@dataclass(frozen=True, eq=False)
class Operation:
    """What an operator makes of its operands."""

    name: str
    operands: tuple[Expression, ...]
    attributes: Mapping[str, object] = field(default_factory=dict)


Expression = float | Variable | Place | Operation

#: The functions of QTI's operator ``mathOperator``, by those of programs, and on numbers.
_FUNCTIONS: Mapping[str, tuple[str, Callable[[float], float]]] = {
    "exp": ("exp", math.exp),
    "log": ("ln", math.log),
    "tanh": ("tanh", math.tanh),
    "sin": ("sin", math.sin),
    "cos": ("cos", math.cos),
}


class Answers:
    """The arithmetic of expressions; see :class:`~symattn.programs.entrywise.Scalars`."""

    def constant(self, value: Value) -> Expression:
        """A number of the program."""
        return value.nearest()

    def total(self, items: Iterable[Expression]) -> Expression:
        """The sum; what is known of it is one number."""
        listed = [*items]
        known = math.fsum(x for x in listed if isinstance(x, float))
        rest = [x for x in listed if not isinstance(x, float)]
        if not rest:
            return known
        terms = [*rest, known] if known else rest
        return terms[0] if len(terms) == 1 else Operation("sum", tuple(terms))

    def sum_of_products(self, pairs: Iterable[tuple[Expression, Expression]]) -> Expression:
        """The sum of products; factors 0 and 1 are gone."""
        return self.total(_product(x, y) for x, y in pairs)

    def negative(self, x: Expression) -> Expression:
        """The product with -1."""
        return _product(-1.0, x)

    def divisor(self, y: Expression) -> Expression:
        """``y`` itself."""
        return y

    def quotient(self, x: Expression, divisor: Expression) -> Expression:
        """The quotient."""
        if isinstance(x, float) and isinstance(divisor, float):
            return x / divisor
        return 0.0 if x == 0 else Operation("divide", (x, divisor))

    def function(self, name: Elementwise, x: Expression) -> Expression:
        """A function. Raises :class:`Malformed` for one that QTI has not."""
        if name == "sqrt":
            return math.sqrt(x) if isinstance(x, float) else Operation("power", (x, 0.5))
        if name not in _FUNCTIONS:
            raise Malformed(f"{name} is no function of QTI")
        called, of_numbers = _FUNCTIONS[name]
        return of_numbers(x) if isinstance(x, float) else _called(called, x)

    def largest(self, items: Sequence[Expression], *, to_first: bool) -> Expression:
        """The largest."""
        return items[0] if len(items) == 1 else Operation("max", tuple(items))

    def above(self, x: Expression, y: Expression) -> Expression:
        """The sign of the difference, if it is positive."""
        sign = _called("signum", Operation("subtract", (x, y)))
        return Operation("max", (0.0, sign))

    def is_positive(self, x: Expression) -> bool:
        """Whether it is a positive number, whatever is answered."""
        return isinstance(x, float) and x > 0


def _product(x: Expression, y: Expression) -> Expression:
    if isinstance(x, float) and isinstance(y, float):
        return x * y
    for factor, other in ((x, y), (y, x)):
        if factor == 0:
            return 0.0
        if factor == 1:
            return other
    return Operation("product", (x, y))


def _called(name: str, x: Expression) -> Operation:
    return Operation("math-operator", (x,), {"name": name})


def distance(x: Expression, y: Expression) -> Operation:
    """How far two numbers are from each other."""
    return _called("abs", Operation("subtract", (x, y)))


def _keeps(node: Node, i: int, j: int, mask: LazyGrid[Expression]) -> bool:
    kept = mask.number(i, j)
    if not isinstance(kept, float):
        raise Malformed("the mask rests on answers")
    return kept != 0


def arithmetic() -> Entrywise[Expression]:
    """The arithmetic of programs on answers."""
    return Entrywise(Answers(), _keeps)


class Writer:
    """Writes expressions in a vocabulary; ``known`` are those that containers hold."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.v = vocabulary
        self.known: dict[Operation, Place] = {}
        #: The containers that were filled, by their names.
        self.containers: list[str] = []

    def __call__(self, expression: Expression) -> str:
        """An expression as an element."""
        match expression:
            case float():
                return self.v("base-value", plain(repr(expression)), base_type="float")
            case Variable(name):
                return self.v("variable", identifier=name)
            case Place(container, number):
                return self.v("index", self.v("variable", identifier=container), n=number)
            case Operation() if expression in self.known:
                return self(self.known[expression])
            case Operation(name, operands, attributes):
                return self.v(name, *map(self, operands), **attributes)

    def fill(self, container: str, numbers: Iterable[Expression]) -> str:
        """The rule that fills a container."""
        self.containers.append(container)
        return self.v("set-outcome-value", self.v("ordered", *map(self, numbers)),
                      identifier=container)  # fmt: skip

    def shared(self, name: str, targets: Iterable[Expression]) -> Iterator[str]:
        """The rules that compute what several targets need, each level after those below."""
        levels: dict[int, list[Operation]] = {}
        for operation, level in _shared([*targets]):
            levels.setdefault(level, []).append(operation)
        for level, operations in sorted(levels.items()):
            container = f"{name}_{level}"
            yield self.fill(container, operations)
            for number, operation in enumerate(operations, 1):
                self.known[operation] = Place(container, number)


def _shared(targets: Sequence[Expression]) -> Iterator[tuple[Operation, int]]:
    """The operations that are used more than once, each with the most that stand below it."""
    uses = Counter(x for x in targets if isinstance(x, Operation))
    order: list[Operation] = []
    seen: set[Operation] = set()
    waiting = [(x, False) for x in reversed([*uses])]
    while waiting:
        operation, is_done = waiting.pop()
        if is_done:
            order.append(operation)
        elif operation not in seen:
            seen.add(operation)
            inner = [x for x in operation.operands if isinstance(x, Operation)]
            uses.update(inner)
            waiting += [(operation, True), *((x, False) for x in reversed(inner))]
    below: dict[Operation, int] = {}
    for operation in order:
        inner = [x for x in operation.operands if isinstance(x, Operation)]
        below[operation] = max((below[x] for x in inner), default=0)
        if uses[operation] > 1:
            below[operation] += 1
            yield operation, below[operation]
