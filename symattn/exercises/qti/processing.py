"""Response processing: what each answer is, and what it is worth.

The rules say of an answer the first of what ``symattn mark`` says of it
(:mod:`~symattn.exercises.marking.judging`): that it is right, rounded too early, follows
from the student's own earlier answers, comes of a common mistake, or is wrong. Later parts
are computed from what was answered, and from what would follow where nothing was.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import NamedTuple

from symattn.errors import Malformed, Undecided
from symattn.exercises.exercise import Exercise
from symattn.exercises.faults import At, VersionChain, figures, inputs
from symattn.exercises.marking.collecting import DEFAULT, Outcome
from symattn.exercises.marking.judging import FEW, Examiner
from symattn.exercises.qti.vocabulary import Vocabulary
from symattn.expressions.elementary import ELEMENTARY, Elementwise
from symattn.numbers import rounding
from symattn.numbers.reading import MASKED, Masked
from symattn.numbers.values import Value
from symattn.programs.entrywise import Entrywise, LazyGrid, Scalars, grid
from symattn.programs.nodes import Node, Run
from symattn.solution.entries import EntryValue

# -- arithmetic on answers ---------------------------------------------------------------
# A program runs over expressions as it does over numbers (:mod:`~symattn.programs.entrywise`):
# what is known becomes a number at once, what rests on answers is kept as an operation.
# Operations of which several others are made are computed first, and kept in ordered containers:
# single outcomes are no place for them, since players round what they hold.


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
    """An operator with its operands."""

    name: str
    operands: tuple[Expression, ...]
    attributes: Mapping[str, object] = field(default_factory=dict)


Expression = float | Variable | Place | Operation

#: The functions of QTI's operator ``mathOperator``, by those of programs, and on numbers.
_FUNCTIONS = {x: (row.qti, getattr(math, x)) for x, row in ELEMENTARY.items() if row.qti}


class Answers(Scalars[Expression]):
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
        """Return whether it is a positive number, whatever is answered."""
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


def _keeps(node: Node, i: int, j: int, mask: LazyGrid[Expression]) -> bool:
    kept = mask.number(i, j)
    if not isinstance(kept, float):
        raise Malformed("the mask rests on answers")
    return kept != 0


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
                return self.v("base-value", repr(expression), base_type="float")
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


# -- processing --------------------------------------------------------------------------

#: Digits of the exact value beyond the places that are asked for.
_MORE = 8
#: What floats make of a difference is off by less, in units of the last place.
_FLOAT = Fraction(1, 10**6)

#: Of so many answers one may be something else than a mistake gives.
_STRAY = 4

Numbers = Mapping[At, Decimal]


class Near(NamedTuple):
    """Numbers from one to another, both included."""

    least: float
    most: float


class Blanks:
    """The blanks of an exercise, and the numbers that their answers are compared with; a masked
    score is no blank."""

    def __init__(self, exercise: Exercise) -> None:
        self.exercise = exercise
        self.chain = VersionChain([exercise])
        self._examiner = Examiner(exercise)

    @cached_property
    def right(self) -> dict[int, Numbers]:
        """The exact values of each part, to many digits."""
        return {k: self._numbers(k, self.chain.nodes[k]) for k in self.chain.parts}

    def faulty(self, k: int) -> list[Numbers]:
        """Return what each common mistake in a part makes of its blanks."""
        quantity = self.chain.parts[k].quantity
        return [self._numbers(k, fault.nodes[quantity]) for fault in self.chain.faults[k]]

    def _numbers(self, k: int, node: Node) -> Numbers:
        part = self.chain.parts[k]
        return figures(self.exercise, part, node, part.places + _MORE)

    def around(self, k: int, number: Decimal) -> Near:
        """Return what is within the tolerance of a part around a number."""
        reach = self.chain.parts[k].tolerance * (1 + _FLOAT)
        exact = Fraction(number)
        return Near(float(exact - reach), float(exact + reach))

    def early(self, k: int, at: At) -> Iterator[Near]:
        """Yield what comes of rounding too early: what right numbers give that were rounded on the
        way, and what has fewer places than asked for."""
        part = self.chain.parts[k]
        ball = self._examiner.rounded[part.quantity][at[0]][at[1]]
        if ball is not None and ball.rad() <= FEW * float(part.tolerance):
            yield Near(float(ball.lower()), float(ball.upper()))
        entry = EntryValue(self.exercise.solution[part.quantity], *at)
        modes: tuple[rounding.RoundingMode, ...] = ("half-even", "down")
        for places, mode in product(range(-(-part.places // 2), part.places), modes):
            try:
                short = Fraction(rounding.decimal(entry, places, mode))
            except Undecided:
                continue
            little = part.tolerance * _FLOAT
            yield Near(float(short - little), float(short + little))

    def follows(self, k: int, own: Callable[[int, At], str]) -> dict[At, Expression] | None:
        """Return what a part's blanks are computed to from earlier answers, which are the variables
        that ``own`` names; None where no answers are earlier, or where that can't be written."""
        sources = {self.chain.nodes[j].serial: j for j in self.chain.sources[k]}
        if not sources:
            return None

        given = inputs(self.exercise.case)

        def leaf(node: Node) -> LazyGrid[Expression] | None:
            if node.op == "given":
                return _known(given[node.extra])
            if (j := sources.get(node.serial)) is None:
                return None
            asked = self.right[j]
            return LazyGrid(*node.grid, lambda *at: Variable(own(j, at)) if at in asked else MASKED)

        try:
            computed = Run(Entrywise(Answers(), _keeps), leaf).work(self.chain.nodes[k])
            return {at: computed.number(*at) for at in self.right[k]}
        except (Malformed, ArithmeticError, ValueError):
            return None


def _known(rows: Sequence[Sequence[object]]) -> LazyGrid[Expression]:
    return grid([[x if isinstance(x, Masked) else x.nearest() for x in row] for row in rows])  # type: ignore[attr-defined]


class Processing:
    """The rules of an item, and the variables that they use; answers that are not right are worth
    what they are by default."""

    def __init__(self, blanks: Blanks, vocabulary: Vocabulary) -> None:
        self.blanks = blanks
        self.v = vocabulary
        self._writer = Writer(vocabulary)

    # -- names -------------------------------------------------------------------------

    @staticmethod
    def response(k: int, at: At) -> str:
        """The variable of an answer; rows and columns are counted from 1."""
        return _name("ANSWER", k, at)

    @staticmethod
    def mistake(k: int) -> str:
        """The outcome that names a common mistake in a part: ``mistake_1``, ..."""
        return f"MISTAKE_{k}"

    @staticmethod
    def said(outcome: Outcome, k: int) -> str:
        """The outcome that says whether an answer of a part is that."""
        return f"{outcome.upper()}_{k}"

    # -- declarations --------------------------------------------------------------------

    def declarations(self) -> Iterator[str]:
        """The outcomes that the rules set, once they are written."""
        chain = self.blanks.chain
        most = self.blanks.exercise.points
        yield self._declared("SCORE", "float", "0", normal_maximum=most, normal_minimum=0)
        yield self._declared("MAXSCORE", "float", str(most))
        for k, part in chain.parts.items():
            yield self._declared(f"POINTS_{k}", "float", "0", normal_maximum=part.points)
            yield self._declared(self.mistake(k), "identifier")
            for outcome in ("early", "follows"):
                yield self._declared(self.said(outcome, k), "identifier")
            yield self._declared(f"OFF_{k}", "boolean", "false")
            for at in self.blanks.right[k]:
                yield self._declared(_name("IS", k, at), "identifier", "blank")
                yield self._declared(_name("SHARE", k, at), "float", "0")
                yield self._declared(_name("OWN", k, at), "float", "0")
                yield self._declared(_name("FITS", k, at), "float", "0")
        for container in self._writer.containers:
            yield self.v.declared("outcome", container, "float", cardinality="ordered")

    def _declared(self, name: str, kind: str, value: str = "", **more: object) -> str:
        default = self.v("default-value", self.v("value", value)) if value else ""
        return self.v.declared("outcome", name, kind, default, **more)

    # -- rules ---------------------------------------------------------------------------

    def rules(self) -> Iterator[str]:
        """The rules, part by part, each after those that it is computed from."""
        for k in self.blanks.chain.order:
            follows = self.blanks.follows(k, lambda j, at: _name("OWN", j, at))
            if follows is not None:
                yield from self._writer.shared(f"STEP_{k}", follows.values())
                yield self._writer.fill(f"FOLLOWS_FOR_{k}", follows.values())
            for number, (at, right) in enumerate(self.blanks.right[k].items(), 1):
                place = Place(f"FOLLOWS_FOR_{k}", number) if follows is not None else None
                yield self._judged(k, at, right, place)
            yield from self._mistakes(k)
            yield from self._flags(k)
        yield from self._points()

    def _judged(self, k: int, at: At, right: Decimal, follows: Place | None) -> str:
        """Return what an answer is, and what is computed on from."""
        name = self.response(k, at)
        own = _name("OWN", k, at)
        expected: Expression = float(right) if follows is None else follows
        cases = [(self._within(name, [self.blanks.around(k, right)]), self._is(k, at, "right"))]
        if early := [*self.blanks.early(k, at)]:
            cases.append((self._within(name, early), self._is(k, at, "early")))
        if follows is not None:
            tolerance = float(self.blanks.chain.parts[k].tolerance * (1 + _FLOAT))
            off = _called("abs", Operation("subtract", (Variable(name), follows)))
            near = self.v("lte", self._writer(off), self._writer(tolerance))
            earlier = [self._variable(f"OFF_{j}") for j in self.blanks.chain.sources[k]]
            cases.append((self.v("and", near, self.v("or", *earlier)), self._is(k, at, "follows")))
            cases.append((near, self._is(k, at, "early")))
        judged = self._first_of(cases, self._is(k, at, "wrong"))
        kept = self.v("set-outcome-value", self._variable(name), identifier=own)
        computed = self.v("set-outcome-value", self._writer(expected), identifier=own)
        return self._first_of([(self._is_number(name), kept + judged)], computed)

    def _is_number(self, name: str) -> str:
        """Return whether something is answered that is a number."""
        # What players take for a number is neither here nor there if it is none.
        answered = self._variable(name)
        least = self.v("gte", answered, self._writer(0.0))
        less = self.v("lt", answered, self._writer(0.0))
        empty = self.v("is-null", answered)
        return self.v("and", self.v("not", empty), self.v("or", least, less))

    def _within(self, name: str, ranges: Iterable[Near]) -> str:
        """Return whether a number is in one of some ranges."""
        answered = self._variable(name)
        tests = [
            self.v(
                "and",
                self.v("gte", answered, self._writer(near.least)),
                self.v("lte", answered, self._writer(near.most)),
            )
            for near in dict.fromkeys(ranges)
        ]
        return tests[0] if len(tests) == 1 else self.v("or", *tests)

    def _is(self, k: int, at: At, outcome: Outcome) -> str:
        share = float(DEFAULT.worth(outcome))
        is_so = self.named(_name("IS", k, at), outcome)
        worth = self.v("set-outcome-value", self._writer(share), identifier=_name("SHARE", k, at))
        return is_so + worth if share else is_so

    def named(self, name: str, identifier: str) -> str:
        """The rule that gives a variable an identifier."""
        value = self.v("base-value", identifier, base_type="identifier")
        return self.v("set-outcome-value", value, identifier=name)

    def _matches(self, k: int, at: At, *outcomes: Outcome) -> str:
        own = self._variable(_name("IS", k, at))
        values = (self.v("base-value", outcome, base_type="identifier") for outcome in outcomes)
        tests = [self.v("match", own, value) for value in values]
        return tests[0] if len(tests) == 1 else self.v("or", *tests)

    def _any(self, k: int, *outcomes: Outcome) -> str:
        return self.v("or", *(self._matches(k, at, *outcomes) for at in self.blanks.right[k]))

    def _mistakes(self, k: int) -> Iterator[str]:
        """The common mistake that gives the answers of a part, but for a few of them, that
        neither follow nor are rounded too early; those that it gives are worth something then."""
        blanks = self.blanks.right[k]
        most = Operation("sum", tuple(Variable(_name("FITS", k, at)) for at in blanks))
        least = float(len(blanks) - len(blanks) // _STRAY)
        enough = self.v("gte", self._writer(most), self._writer(least))
        none = self.v("is-null", self._variable(self.mistake(k)))
        rules = []
        for number, numbers in enumerate(self.blanks.faulty(k), 1):
            # Players count numbers better than what is true.
            for at in blanks:
                fits = self._given_by(k, at, numbers.get(at))
                rules.append(
                    self._first_of([(fits, self._fits(k, at, 1.0))], self._fits(k, at, 0.0))
                )
            named = [self.named(self.mistake(k), f"mistake_{number}")]
            for at in numbers:
                fits = self.v("gte", self._variable(_name("FITS", k, at)), self._writer(1.0))
                given = self.v("and", self._matches(k, at, "wrong"), fits)
                named.append(self._first_of([(given, self._is(k, at, "slip"))]))
            rules.append(self._first_of([(self.v("and", none, enough), "".join(named))]))
        if rules:
            yield self._first_of([(self._any(k, "wrong"), "".join(rules))])

    def _given_by(self, k: int, at: At, number: Decimal | None) -> str:
        other = self._matches(k, at, "blank", "early", "follows")
        if number is None:
            return other
        near = self._within(self.response(k, at), [self.blanks.around(k, number)])
        return self.v("or", other, near)

    def _fits(self, k: int, at: At, number: float) -> str:
        return self.v("set-outcome-value", self._writer(number), identifier=_name("FITS", k, at))

    def _flags(self, k: int) -> Iterator[str]:
        """Yield whether answers of a part, or earlier ones, are not right; and what is said of
        all."""
        off = [self._variable(f"OFF_{j}") for j in self.blanks.chain.sources[k]]
        off.append(self._any(k, "wrong", "slip", "follows"))
        yield self.v("set-outcome-value", self.v("or", *off), identifier=f"OFF_{k}")
        for outcome in ("early", "follows"):
            said = self.named(self.said(outcome, k), outcome)
            yield self._first_of([(self._any(k, outcome), said)])

    def _points(self) -> Iterator[str]:
        parts: dict[int, Operation] = {}
        for k, part in self.blanks.chain.parts.items():
            shares = tuple(Variable(_name("SHARE", k, at)) for at in self.blanks.right[k])
            worth = Operation("product", (float(part.points), Operation("sum", shares)))
            parts[k] = Operation("divide", (worth, float(len(shares))))
        for k, points in parts.items():
            yield self.v("set-outcome-value", self._writer(points), identifier=f"POINTS_{k}")
        # Players may round what they hold: the sum is of what is exact.
        total = Operation("sum", tuple(parts.values()))
        yield self.v("set-outcome-value", self._writer(total), identifier="SCORE")

    def _variable(self, name: str) -> str:
        return self._writer(Variable(name))

    def _first_of(self, cases: Iterable[tuple[str, str]], otherwise: str = "") -> str:
        """A condition: the rules of the first case that holds."""
        branches = [
            self.v("response-if" if place == 0 else "response-else-if", test, rules)
            for place, (test, rules) in enumerate(cases)
        ]
        if otherwise:
            branches.append(self.v("response-else", otherwise))
        return self.v("response-condition", *branches)


def _name(kind: str, k: int, at: At) -> str:
    return f"{kind}_{k}_{at[0] + 1}_{at[1] + 1}"
