"""The common mistakes of an exercise: the faults of the audit's catalogue, at the part
where each is made, and what comes of it.

The parts of an exercise as a chain: which are computed from which, and which faults show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import chain, islice, product, takewhile
from string import ascii_lowercase
from typing import TypeVar

import numpy as np
from flint import fmpq

from symattn.cases.case import Case, Rows
from symattn.errors import Malformed, SymattnError
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.key import Draws
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree
from symattn.languages.language import Language
from symattn.languages.sentence import Sentence
from symattn.numbers import rounding
from symattn.numbers.rounding import RoundingMode
from symattn.numbers.values import rational
from symattn.printers.blocks import Line, Math
from symattn.programs import nodes
from symattn.programs.enclosures import FloatOperations, Matrix, matrix
from symattn.programs.functions import DOMAINS
from symattn.programs.nodes import Node, Run, ancestors, arguments, replaced
from symattn.slips.catalogue import (
    KINDS,
    MadeSlip,
    Word,
    arrangements,
    mistaken_calls,
    phrase,
    rounded_to,
    together,
)
from symattn.slips.graph import Recipe
from symattn.solution.entries import EntryValue

T = TypeVar("T")

#: A row and a column of the grid of a part.
At = tuple[int, int]

#: Kinds whose term is one of a sum; where nothing is subtracted, no sign is told.
_OF_TERMS, _OF_SUMS = ("term-dropped", "term-sign"), ("term-sign", "add")
#: Operations that no formula on a board has, as they tell places, which words do; and those of
#: them that tell classes, in which nobody makes a slip.
_UNWRITTEN = ("above", "table", "triangle", "spread", "scatter", "concat")
_TELLING = ("above", "scatter")

#: A figure is visibly another from so many units of its last place on.
VISIBLE = 5

#: Numbers are rounded to fewer places than so many before they are used, and rows taken for
#: others where there are no more.
_PLACES, _LINES = 4, 8
#: Numbers that stand for any: no fault goes unseen because of their values.
_ANY = 4


@dataclass(frozen=True, eq=False)
class InjectedFault:
    """A slip in a step, or in all that are alike: the part where its figures are asked for
    first, and what nodes of the program are ``instead``, by their serial numbers; ``reached``
    are these and all that is computed from them.

    ``words`` fill the phrase of its kind; ``pieces`` are those behind the first as formulas,
    None where no sentence for a board tells them. Slips with the same ``key`` are one that is
    made in several places.
    """

    kind: str
    part: str
    words: tuple[str, ...]
    pieces: Mapping[str, Tree | str] | None
    key: object
    instead: Mapping[int, Node]
    reached: Set[int]
    targets: Mapping[str, Node]

    @property
    def rank(self) -> tuple[bool, float, bool]:
        """Return how soon it is told: first what people make by hand, the likelier first, and of
        steps those that have a name."""
        return self.pieces is None, KINDS[self.kind].price, not self.words[0].isidentifier()

    @property
    def phrase(self) -> Sentence:
        """The slip, and where it was made, as an audit says it."""
        return phrase(self.kind, self.words)

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes that parts are with it, by quantity."""
        put = dict(self.instead)
        changed = {name: replaced(node, put) for name, node in self.targets.items()}
        return {name: node for name, node in changed.items() if node is not self.targets[name]}

    def said(self, say: Language) -> Line:
        """The beginning of a sentence, with formulas."""
        said = self._filled_in(say, lambda piece: Math(f.typeset(piece)))
        words = [*takewhile(lambda piece: isinstance(piece, str), said)]
        return _opening("".join(map(str, words))), *said[len(words) :]

    def text(self, say: Language) -> str:
        """The beginning of a sentence as plain text."""
        return _opening("".join(map(str, self._filled_in(say, syntax.shown))))

    def _filled_in(self, say: Language, shown: Callable[[Tree], T]) -> tuple[str | T, ...]:
        pieces = {
            name: say.again(piece) if isinstance(piece, str) else shown(piece)
            for name, piece in (self.pieces or {}).items()
        }
        # Where it was made is said by the place of the sentence.
        return say(KINDS[self.kind].phrase, a=(), **pieces)


def _opening(text: str) -> str:
    text = text.lstrip(" ,")
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class FaultyEntry:
    """The outcome of a fault for an entry: (i, j) of the grid of a part."""

    part: Part
    i: int
    j: int
    right: Decimal
    wrong: Decimal


def catalogue(exercise: Exercise) -> tuple[InjectedFault, ...]:
    """The common faults that the parts of an exercise show, whatever its numbers are;
    of those that always give the same the first.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> [(fault.kind, fault.part) for fault in catalogue(exercise(load("cat-sat-mat")))][:2]
    [('scale-dropped', 'T'), ('scale-not-rooted', 'T')]
    """
    return tuple(
        fault
        for fault in suspects(exercise)
        if fault.pieces is not None and len(fault.instead) == 1
    )


#: The suspects of the programs that were asked for last: versions of an exercise share one.
_SUSPECTS: dict[tuple[int, ...], tuple[InjectedFault, ...]] = {}
_KEPT = 16


def suspects(exercise: Exercise) -> tuple[InjectedFault, ...]:
    """All slips that the answers of an exercise are searched for, whatever its numbers are."""
    if exercise.is_proof:
        return ()
    targets = {part.quantity: exercise.case.program.named[part.quantity] for part in exercise.parts}
    key = tuple(node.serial for node in targets.values())
    if key not in _SUSPECTS:
        while len(_SUSPECTS) >= _KEPT:
            del _SUSPECTS[next(iter(_SUSPECTS))]
        _SUSPECTS[key] = tuple(_Suspects(exercise.case, targets).found())
    return _SUSPECTS[key]


class _Suspects:
    """Looks for the slips that can be made in the steps of a case."""

    def __init__(self, case: Case, targets: Mapping[str, Node]) -> None:
        self._targets = targets
        self._recipe = Recipe(case.program)
        self._order = ancestors(case.program.named.values())
        self._inside = {node.serial for node in _inside_calls(case)}
        given = _any_numbers(case)
        self._run: Run[Matrix] = Run(
            FloatOperations(), lambda node: given[node.extra] if node.op == "given" else None
        )

    def found(self) -> Iterator[InjectedFault]:
        """Yield what shows in a part, first that which is told by a sentence for a board."""
        covered: set[int] = set()
        for name, target in sorted(self._targets.items(), key=lambda item: item[1].serial):
            inside = [x for x in ancestors([target]) if x.serial not in covered]
            covered |= {x.serial for x in inside}
            right = self._run[target]
            of_part = [fault for node in inside for fault in self._of_step(name, node)]
            of_part += self._in_all(name, of_part)
            known: dict[bytes, int] = {}
            for place, fault in enumerate(of_part):
                values = self._run[replaced(target, dict(fault.instead))]
                if not np.array_equal(values, right, equal_nan=True):
                    # Of those that give the same the likelier one is told.
                    key = np.round(values, 6).tobytes()
                    known[key] = min(known.get(key, place), place, key=lambda k: of_part[k].rank)
            yield from (of_part[place] for place in sorted(known.values()))

    def _of_step(self, part: str, node: Node) -> Iterator[InjectedFault]:
        recipe = self._recipe
        if node.serial in self._inside or any(x.op in _TELLING for x in (node, *node.operands)):
            return
        reached = {x.serial for x in self._order if recipe.depends(x, node)}
        for kind, instead, words in self._slips(node):
            # Functions are mistaken as a whole.
            is_inside = any(isinstance(x, Node) and x.serial in self._inside for x in words)
            if instead.grid != node.grid or instead is node or is_inside:
                continue
            said = (x if isinstance(x, str) else recipe.text(x) for x in words)
            yield InjectedFault(
                kind,
                part,
                (recipe.text(node), *said),
                self._pieces(kind, node, words),
                recipe.key(kind, node, instead),
                {node.serial: instead},
                reached,
                self._targets,
            )

    def _in_all(self, part: str, faults: Sequence[InjectedFault]) -> Iterator[InjectedFault]:
        """Yield each slip made in all steps that are alike, which is one slip, too."""
        alike: dict[object, dict[int, InjectedFault]] = {}
        for fault in faults:
            (serial,) = fault.instead
            if not KINDS[fault.kind].once:
                alike.setdefault(fault.key, {}).setdefault(serial, fault)
        for same in (list(same.values()) for same in alike.values() if len(same) > 1):
            put: dict[int, Node] = {}
            for serial, instead in sorted(x for y in same for x in y.instead.items()):
                put[serial] = replaced(instead, put)
            words = together(fault.words for fault in same)
            reached = {x for fault in same for x in fault.reached}
            yield replace(same[0], words=words, pieces=None, instead=put, reached=reached)

    def _slips(self, node: Node) -> Iterator[MadeSlip]:
        """The slips of a step: of an operation, of what it is made of, of its rows."""
        yield from self._recipe.slips(node, lambda x: float(self._run[x][0, 0]))
        itself = Node(node.op, node.operands, node.shape, node.extra)
        if node.serial in self._recipe.names and max(node.grid) <= _LINES:
            for kind, axes, words in arrangements(node):
                yield kind, Node("pick", (itself,), node.shape, axes), words
        if node.grid[0] == node.grid[1] > 1:
            yield "result-transposed", Node("transpose", (itself,), node.shape), ()
        # Of numbers those that are computed from what all versions share.
        if node.operands and all(x.grid == (1, 1) for x in ancestors([node])):
            value = self._run[node][0, 0]
            for places in range(_PLACES):
                near = fmpq(*Decimal(f"{value:.{places}f}").as_integer_ratio())
                if near:
                    yield "rounded", nodes.constant(rational(near)), (rounded_to(places),)

    def _pieces(
        self, kind: str, node: Node, words: Sequence[Word]
    ) -> Mapping[str, Tree | str] | None:
        """Return the words of a slip that people make by hand, by their letters; None where no
        sentence tells them."""
        # A sign may be lost in any step, which needs no saying.
        if not KINDS[kind].by_hand or kind == "sign-flipped" or (kind, node.op) == _OF_SUMS:
            return None
        pieces: dict[str, Tree | str] = {}
        for letter, word in zip(ascii_lowercase[1:], words, strict=False):
            if isinstance(word, str):
                pieces[letter] = word
                continue
            # Of a sum of sums each term is left out where it is added.
            is_none = word.op == "constant" or word.op == node.op == "add"
            parts = ancestors([word], stop=lambda x: x.serial in self._recipe.names)
            if (kind in _OF_TERMS and is_none) or any(x.op in _UNWRITTEN for x in parts):
                return None
            pieces[letter] = self._recipe.formula(word)
        return pieces


def inputs(case: Case) -> Mapping[str, Rows]:
    """The given numbers of a case and its upstream gradient, as the nodes are called that hold
    them."""
    return {**case.given, "upstream": case.upstream}


def _any_numbers(case: Case) -> Mapping[str, Matrix]:
    """Numbers that stand for any, but for masks, and where functions are not of all numbers."""
    draws, program = Draws(_ANY), case.program
    kept = mask_names(case) | restricted_names(case)
    found = {}
    for name, rows in inputs(case).items():
        node = program.quantities.get(name, program.upstream)
        is_drawn = node is not None and node.shape and name not in kept
        if node is not None and is_drawn and (case.raw_upstream is not None or name in case.given):
            found[name] = 0.2 + draws.below(1000, node.grid) / 500
        else:
            found[name] = matrix(rows)
    return found


def _inside_calls(case: Case) -> Iterator[Node]:
    """Yield what a function computes on the way to its result, where it is mistaken as a whole:
    nobody who takes a cross-entropy makes a slip in one of its comparisons."""
    for node in ancestors(case.program.named.values()):
        if node.written and any(mistaken_calls(node)):
            given = {x.serial for x in arguments(node)}
            inner = ancestors([node], stop=lambda x, given=given: x.serial in given)  # type: ignore[misc]
            yield from (x for x in inner if x is not node)


def restricted_names(case: Case) -> set[str]:
    """Return what is given to a function that is not of all numbers, such as the ids of an
    embedding."""
    program = case.program
    steps = ancestors(program.quantities[name] for name in program.steps)
    calls = [node.written for node in steps if node.written]
    operands = [
        call.given[parameter]
        for call in calls
        for parameter in DOMAINS.get(call.function, {})
        if isinstance(call.given.get(parameter), Node)
    ]
    sources = {node.serial for node in ancestors(operands) if not node.operands}
    return {name for name in program.given if program.quantities[name].serial in sources}


def mask_names(case: Case) -> set[str]:
    """Return what is given as a mask, and used as nothing else."""
    program = case.program
    steps = ancestors(program.quantities[name] for name in program.steps)
    masks = {node.operands[1].serial for node in steps if node.op == "hide"}
    operands = (node.operands[:1] if node.op == "hide" else node.operands for node in steps)
    masks -= {x.serial for x in chain(*operands)}
    return {name for name in program.given if program.quantities[name].serial in masks}


def visible_faults(
    exercise: Exercise,
) -> Iterator[tuple[InjectedFault, tuple[FaultyEntry, ...]]]:
    """The faults that show in the figures of an exercise, each with the first entry of its
    own part that is visibly another, and of the weights below.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> made = exercise(load("cat-sat-mat"))
    >>> for fault, shown in visible_faults(made):
    ...     if fault.kind == "scale-dropped":
    ...         print(*((one.part.quantity, str(one.wrong)) for one in shown))
    ('T', '2.0000') ('A', '0.6652')
    """
    parts = {part.quantity: part for part in exercise.parts}
    for fault in catalogue(exercise):
        own = mistake(exercise, fault, parts[fault.part])
        if own is None:
            continue
        weights = (
            part
            for part in exercise.parts
            if part is not own.part
            and part.quantity in fault.nodes
            and exercise.case.program.named[part.quantity].op == "softmax"
        )
        below = next(weights, None)
        follows = mistake(exercise, fault, below) if below else None
        yield fault, (own, *((follows,) if follows else ()))


def figures(
    exercise: Exercise, part: Part, node: Node, places: int, mode: RoundingMode = "half-even"
) -> dict[At, Decimal]:
    """Return what a node gives for the blanks of a part, but for masked scores."""
    right = exercise.solution[part.quantity]
    given = exercise.solution.quantity(node)
    return {
        (i, j): rounding.decimal(EntryValue(given, i, j), places, mode)
        for i, j in product(*map(range, right.grid))
        if not right.is_masked(i, j) and not given.is_masked(i, j)
    }


def mistake(exercise: Exercise, fault: InjectedFault, part: Part) -> FaultyEntry | None:
    """The first entry of a part that a fault makes visibly another, if any."""
    quantity = exercise.solution.quantity(fault.nodes[part.quantity])
    mode = exercise.case.rounding
    for i, row in enumerate(exercise.right(part)):
        for j, right in enumerate(row):
            try:
                wrong = Decimal("-Infinity")
                if not quantity.is_masked(i, j):
                    wrong = rounding.decimal(EntryValue(quantity, i, j), part.places, mode)
            except SymattnError:
                # With the fault the entry is not defined: a row, or a column, masked whole.
                continue
            if is_visible(right, wrong, part.places):
                return FaultyEntry(part, i, j, right, wrong)
    return None


def is_visible(right: Decimal, wrong: Decimal, places: int) -> bool:
    """Return whether two figures are told apart at a glance.

    >>> is_visible(Decimal("0.5065"), Decimal("0.6652"), 4)
    True
    """
    if right.is_infinite() or wrong.is_infinite():
        return right != wrong
    return abs(right - wrong) >= VISIBLE * Decimal(1).scaleb(-places)


#: So many common faults of a part are known at most.
_FAULTS = 5


class VersionChain:
    """The parts of the versions of one exercise, each by its number, counted from 1.

    Raises :class:`Malformed` where they differ in more than their numbers.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> chain = VersionChain([exercise(load("cat-sat-mat"))])
    >>> [part.quantity for part in chain.parts.values()], chain.sources
    (['S', 'T', 'A', 'Y'], {1: [], 2: [1], 3: [2], 4: [3]})
    """

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        self.exercises = exercises
        self.first = first = exercises[0]
        _check(exercises)
        program = first.case.program
        self.parts = dict(enumerate(first.parts, 1))
        self.nodes = {k: program.named[part.quantity] for k, part in self.parts.items()}
        #: Each part after those that it may be computed from.
        self.order = sorted(self.parts, key=lambda k: self.nodes[k].serial)
        #: The faults in each part that show in every version.
        self.faults = {
            k: [*islice((x for x in catalogue(first) if self._shows(x, part)), _FAULTS)]
            for k, part in self.parts.items()
        }

    @cached_property
    def sources(self) -> dict[int, list[int]]:
        """The parts that each is computed from, with none in between."""
        asked = {node.serial: k for k, node in self.nodes.items()}
        sources: dict[int, list[int]] = {}
        for k, node in self.nodes.items():

            def stop(x: Node, own: Node = node) -> bool:
                return x is not own and x.serial in asked

            # What stops the walk is not among what it gives.
            inside = ancestors([node], stop)
            sources[k] = sorted({asked[x.serial] for y in inside for x in y.operands if stop(x)})
        return sources

    @cached_property
    def head(self) -> int:
        """The first part that others are computed from, or else the first."""
        used = {j for sources in self.sources.values() for j in sources}
        return next((k for k in self.order if k in used), self.order[0])

    def _shows(self, fault: InjectedFault, part: Part) -> bool:
        return fault.part == part.quantity and all(
            _shows(exercise, fault, part) for exercise in self.exercises
        )


def _shows(exercise: Exercise, fault: InjectedFault, part: Part) -> bool:
    """Return whether a fault makes a part visibly another, and each of its entries a number."""
    try:
        # With a fault a step may not be defined: a row of scores is masked whole.
        exercise.solution.quantity(fault.nodes[part.quantity]).decimal(part.places)
    except SymattnError:
        return False
    return mistake(exercise, fault, part) is not None


def _check(exercises: Sequence[Exercise]) -> None:
    first = exercises[0]
    if first.is_proof:
        raise Malformed("a proof has no figures: STACK questions need another level")
    for exercise in exercises[1:]:
        same = exercise.case.steps == first.case.steps and exercise.parts == first.parts
        if not same or exercise.case.program.shapes() != first.case.program.shapes():
            raise Malformed(
                f"version {exercise.version} has other steps, parts or shapes than version "
                f"{first.version}: variants of a question may only differ in their numbers"
            )
