"""An exercise: a walkthrough as questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from symattn.cases.asked import LEVELS, ExerciseTable
from symattn.cases.case import Case
from symattn.errors import Fault, Faults, Malformed, expected, short
from symattn.exercises.masks import has_mask, masked
from symattn.programs.nodes import Node, ancestors, arguments
from symattn.programs.program import Program
from symattn.shapes import Shape
from symattn.solution.solution import Solution, solve
from symattn.syntax import gradient_name

__all__ = ["LEVELS", "PLACES", "Exercise", "Part", "exercise"]

#: Decimal places of an answer unless the file says otherwise.
PLACES = 4

#: Points of an operation where it is not one: what only moves numbers is nothing to compute.
_POINTS = {
    "matmul": 2,
    "softmax": 3,
    **dict.fromkeys(("given", "constant", "table", "triangle"), 0),
    **dict.fromkeys(("copy", "reshape", "transpose", "pick", "concat", "scatter", "spread"), 0),
}
#: Points of a function that is put together from operations.
_FUNCTION = 3


@dataclass(frozen=True)
class Part:
    """One question: every entry of ``quantity``, a step or ``dL/d(name)``,
    rounded to ``places``; ``points`` for all of it.

    At level proof ``quantity`` is the name of a bundled derivation, and there are
    no places.
    """

    quantity: str
    points: int
    places: int = PLACES

    @property
    def tolerance(self) -> Fraction:
        """How far an answer may be from the exact value: a unit of its last place.

        >>> Part("S", points=2, places=3).tolerance
        Fraction(1, 1000)
        """
        return Fraction(1, 10**self.places)


@dataclass(frozen=True)
class Exercise:
    """A case to be solved by hand; ``version`` counts the variants of one
    ``seed``, and 0 is the case as it is. Made by :func:`exercise`."""

    case: Case
    level: str
    parts: tuple[Part, ...]
    seed: int = 0
    version: int = 0

    @property
    def name(self) -> str:
        """What its files are called: the case's name, and the version's number."""
        return f"{self.case.name}-{self.version:02}" if self.version else self.case.name

    @property
    def title(self) -> str:
        """What stands above it."""
        return self.case.asked.title or self.case.title

    @property
    def points(self) -> int:
        """The points of all parts."""
        return sum(part.points for part in self.parts)

    @property
    def is_proof(self) -> bool:
        """Whether its parts are derivations, which have no figures."""
        return self.level == "proof"

    @cached_property
    def solution(self) -> Solution:
        """The exact answers."""
        return solve(self.case)

    def shape(self, part: Part) -> Shape:
        """The shape of what a part asks for."""
        return self.case.program.named[part.quantity].shape

    def right(self, part: Part) -> tuple[tuple[Decimal, ...], ...]:
        """The right answers of a part, by rows of the grid: correctly rounded
        decimals, minus infinity for a masked score.

        >>> made = exercise(solve("cat-sat-mat").case)
        >>> [str(answer) for answer in made.right(made.parts[2])[0]]
        ['0.5065', '0.1863', '0.3072']
        """
        quantity = self.solution[part.quantity]
        decimals = quantity.decimal(part.places)
        if not quantity.shape:
            return ((decimals,),)
        return tuple(decimals) if len(quantity.shape) == 2 else (tuple(decimals),)


def exercise(case: Case, level: str = "", places: int | None = None) -> Exercise:
    """The exercise that a case is at a level: its own, or ``forward``.

    Without ``ask`` in its file it asks for each step that computes something, at
    level backward for the gradients on the way to those that are asked for as
    well. At level masked a case without a mask gets one: ``P`` keeps for each
    query the keys up to its own.

    Raises :class:`Malformed` for a level that there is none of, and where the case
    has nothing to ask for there.

    >>> made = exercise(solve("cat-sat-mat").case)
    >>> [(part.quantity, part.points) for part in made.parts], made.points
    ([('S', 2), ('T', 1), ('A', 3), ('Y', 2)], 8)
    """
    asked = case.asked
    level = level or asked.level or LEVELS[0]
    if level not in LEVELS:
        raise Malformed(f"unknown level {short(level)!r}: {expected(level, LEVELS)}")
    if level == "masked" and not has_mask(case):
        case = masked(case)
    # What a file asks for at level proof are derivations, and quantities at others.
    fits = (asked.level == "proof") == (level == "proof")
    own = asked if fits else replace(asked, ask=(), points={})
    if level == "proof":
        proofs = tuple(_proofs(case, own))
        if not proofs:
            raise Malformed(f"{case.name} rests on no bundled derivation: ask for one by name")
        return Exercise(case, level, proofs)
    digits = places if places is not None else PLACES if asked.places is None else asked.places
    parts = tuple(_parts(case.program, case, level, own, digits))
    if not parts:
        raise Malformed(f"{case.name} has no step that computes anything: nothing to ask for")
    return Exercise(case, level, parts)


def _parts(
    program: Program, case: Case, level: str, asked: ExerciseTable, places: int
) -> Iterator[Part]:
    names = asked.ask or [*_forward(program), *(_backward(case) if level == "backward" else ())]
    gradients = {node.serial for node in program.gradients.values()}
    named = {node.serial for node in program.named.values()}
    for name in names:
        node = program.named[name]
        if case.symbols and node.serial in gradients:
            raise Malformed(
                f"{name} contains {', '.join(case.symbols)}, but answers must be numbers: "
                "give numbers in [loss] upstream, or draw them with --versions"
            )
        yield Part(name, asked.points.get(name, max(_points(node, named), 1)), places)


def _forward(program: Program) -> Iterator[str]:
    named = {node.serial for node in program.quantities.values()}
    return (name for name in program.steps if _points(program.quantities[name], named))


def _backward(case: Case) -> Iterator[str]:
    """The gradients to work out, from the output back: those that are asked for, and those
    on the way to them; one that flows on as it came is the later step's."""
    program = case.program
    named = {node.serial for node in program.named.values()}
    needed = {x.serial for x in ancestors(program.gradients[name] for name in case.wrt)}
    seen: set[int] = set()
    for name in reversed([*program.quantities]):
        node = program.gradients.get(name)
        if node is None or node.serial in seen or node.serial not in needed:
            continue
        seen.add(node.serial)
        if _points(node, named):
            yield gradient_name(name)


def _points(node: Node, named: set[int]) -> int:
    """One for each operation on a matrix between a quantity and those that it is made of."""
    nodes = ancestors([node], stop=lambda x: x is not node and x.serial in named, through=arguments)
    return sum(_worth(x) for x in nodes if x is node or x.grid != (1, 1))


def _worth(node: Node) -> int:
    return _FUNCTION if node.written else _POINTS.get(node.op, 1)


def _proofs(case: Case, asked: ExerciseTable) -> Iterator[Part]:
    """The derivations that a case rests on; each has a point for every formula it shows."""
    from symattn.calculus import library

    known = library.names()
    faults = Faults()
    for place, name in enumerate(asked.ask):
        if name not in known:
            message = f"unknown derivation {short(name)!r}: {expected(name, known)}"
            faults.append(Fault(f"exercise.ask[{place}]", message))
    faults.raise_all(str(case.path or ""))
    for name in asked.ask or _rests_on(case.program):
        draft = library.draft_of(name)
        assert draft is not None
        yield Part(name, asked.points.get(name, len(draft.concluded)), 0)


def _rests_on(program: Program) -> Iterator[str]:
    needed = ancestors(program.quantities.values())
    ops = {node.op for node in needed} | {x.written.function for x in needed if x.written}
    if "softmax" in ops:
        yield from ("softmax-jacobian", "softmax-backward")
    if "hide" in ops:
        yield "masking"
    if any(x.op == "matmul" and x.operands[1].op == "given" for x in program.quantities.values()):
        yield "projection-gradients"
    yield from dict.fromkeys(_ABOUT[name] for name in _ABOUT if name in ops)


#: What derivations are about, by operations and functions.
_ABOUT = {
    "rowmax": "online-softmax",
    "logsumexp": "log-sum-exp",
    "cross_entropy": "cross-entropy",
    "layernorm": "layer-norm-backward",
    "rmsnorm": "rms-norm-backward",
    "rope": "rotary-positions",
    **dict.fromkeys(("gelu", "silu", "sigmoid", "softplus", "tanh"), "activation-derivatives"),
}
