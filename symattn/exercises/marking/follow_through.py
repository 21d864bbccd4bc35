"""Follow-through of a student's own answers: the steps of a program once more, in balls, with
numbers that were written down in the places of some.

Answers in nested tables and lists: TOML and JSON, each fault with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from math import inf
from typing import Any, Generic, TypeVar

import numpy as np
from flint import arb, arb_mat, fmpq

from symattn.cases.case import Case, Rows
from symattn.errors import Fault, Malformed, SymattnError, expected, short
from symattn.exercises.faults import InjectedFault, inputs
from symattn.exercises.marking.collecting import Blank, Collector, read_scheme
from symattn.expressions.shapes import show
from symattn.numbers.balls import FIRST, precision
from symattn.programs.enclosures import (
    BallMatrices,
    Enclosure,
    FloatOperations,
    Matrix,
    enclose,
    matrix,
)
from symattn.programs.nodes import FLOW, MOVING, SOURCES, Node, Run, RunArithmetic
from symattn.solution.solution import Solution
from symattn.tables.places import Key, Place, kind, table

#: Operations that only move or copy entries: nothing is rounded in them.
_MOVING = frozenset({*SOURCES, *MOVING, "hide", "maximum", "above", "rowmax"})

#: A ball so near to a whole number is taken for it.
_SHARP, _HALF = arb(2) ** -60, arb(0.5)

Written = Mapping[tuple[int, int], arb | None]
"""Numbers that stand for entries of a step; None is a masked score."""


class Plain(BallMatrices):
    """Balls of numbers that need not be what they should: no row that a student wrote down is
    known to sum to 1, nor one to 0."""

    centres = sees_factors = False

    def _matmul(self, node: Node, x: Enclosure, y: Enclosure) -> arb_mat:
        return x.filled(arb.nan()) * y.filled(arb.nan())


class Rounding(Plain):
    """Balls wide enough for every result that may have been rounded to so many places.

    What needs no rounding stays what it is; what is nearly 0 does. A softmax is worked as on paper:
    exponentials, their sums, quotients.
    """

    def __init__(self, places: int) -> None:
        self._scale = 10**places
        self._half = arb(fmpq(1, 2 * self._scale)).mid()

    def apply(self, node: Node, operands: list[Enclosure]) -> Enclosure:
        """See :class:`~symattn.programs.nodes.Arithmetic`."""
        if node.op == "softmax":
            (x,) = operands
            powers = self.apply(Node("exp", node.operands, node.shape), [x])
            sums = self.apply(Node("rowsum", node.operands, (node.grid[0], 1)), [powers])
            return self.apply(Node("divide", node.operands, node.shape), [powers, sums])
        enclosure = super().apply(node, operands)
        if node.op in _MOVING:
            return enclosure
        flat = [self._rounded(entry) for entry in enclosure.matrix.entries()]
        return Enclosure(arb_mat(*enclosure.shape, flat), enclosure.masked)

    def _rounded(self, entry: arb) -> arb:
        scaled = entry * self._scale
        whole = (scaled.mid() + _HALF).floor()
        if abs(scaled - whole) < _SHARP and (whole != 0 or entry == 0):
            return entry
        return entry + arb(0, self._half)


M = TypeVar("M")


class Steps(Generic[M]):
    """The steps of a program in one arithmetic, computed on from what is put in the places of
    some; ``given`` makes a matrix of its own of the numbers that a case gives."""

    def __init__(
        self,
        arithmetic: RunArithmetic[M],
        case: Case,
        given: Callable[[Rows], M],
        base: Steps[M] | None = None,
        fault: InjectedFault | None = None,
    ) -> None:
        self._arithmetic, self._case, self._given = arithmetic, case, given
        self._base, self._fault = base, fault
        self._inputs = inputs(case)
        self.put: dict[int, M] = base.put if base is not None else {}
        self._values: M | None = None
        self._run: Run[M] = Run(arithmetic, self._leaf)

    def __getitem__(self, node: Node) -> M:
        """Return what an operation makes of what stands in the places of those before it.

        Raises :class:`SymattnError` where that is not defined.
        """
        if self._fault is not None and node.serial in self._fault.instead:
            return self._run[node]
        return self._input(node) if node.op == "given" else self._run.work(node)

    def slipped(self, fault: InjectedFault, values: M | None = None) -> Steps[M]:
        """The same with a slip, computed again where that changes anything; with these values,
        be they of several slips, in the place of its one step."""
        steps = Steps(self._arithmetic, self._case, self._given, self, fault)
        steps._values = values
        return steps

    def instead(self, fault: InjectedFault) -> M:
        """Return what stands in the place of the one step that a slip is made in."""
        (node,) = fault.instead.values()
        return self._run[node]

    def _leaf(self, node: Node) -> M | None:
        if self._base is not None and self._fault is not None:
            if (instead := self._fault.instead.get(node.serial)) is not None:
                return self._run[instead] if self._values is None else self._values
            if node.serial not in self._fault.reached:
                return self._base._run[node]
        put = self.put.get(node.serial)
        if put is None and node.op == "given":
            return self._input(node)
        return put

    def _input(self, node: Node) -> M:
        return self._given(self._inputs[node.extra])


#: Operations that know masked scores.
_OF_MASKED = frozenset({*_MOVING, "softmax", "exp", "add", "subtract", "multiply", "divide"})


class Floats(FloatOperations):
    """Floats of which nothing follows where balls have no bound: a masked score is no number,
    and no scale that is not positive leaves it one."""

    def apply(self, node: Node, operands: list[Matrix]) -> Matrix:
        """See :class:`~symattn.programs.nodes.RunArithmetic`."""
        if node.op not in _OF_MASKED:
            operands = [np.where(np.isneginf(x), np.nan, x) for x in operands]
            result = super().apply(node, operands)
            return np.where(np.isneginf(result), np.nan, result)
        result = super().apply(node, operands)
        if node.op in ("multiply", "divide") and node.extra != FLOW:
            x, y = operands
            undefined = np.isneginf(x) & ~(y > 0)
            if node.op == "multiply":
                undefined |= np.isneginf(y) & ~(x > 0)
            if undefined.any():
                result = np.where(undefined.any(axis=(-1, -2), keepdims=True), np.nan, result)
        return result


class FollowThrough:
    """The steps of a solved case in balls, computed on from what is put in the places of some.

    With ``places`` every step in between may have been rounded to so many; balls have ``bits``.

    >>> from symattn.solution.solution import solve
    >>> solution = solve("cat-sat-mat")
    >>> following = FollowThrough(solution)
    >>> following.put("S", {(0, 0): arb(4)})
    >>> print(following.computed("T")[0][0])
    2.00000000000000
    """

    def __init__(self, solution: Solution, places: int | None = None, bits: int = FIRST) -> None:
        self._bits = bits
        self._case = solution.case
        self._nodes = solution.program.named
        arithmetic = Plain() if places is None else Rounding(places)
        self._steps: Steps[Enclosure] = Steps(
            arithmetic, solution.case, lambda rows: enclose(rows, bits)
        )

    def computed(self, name: str, fault: InjectedFault | None = None) -> list[list[arb | None]]:
        """Return what a step, with a slip or without, makes of what stands in the places of those
        before it, by rows; without bound where that is not defined, None for a masked score."""
        return self._computed(self._nodes[name], fault).rows

    def in_floats(self) -> Steps[Matrix]:
        """The same in floats, from the middles of what was put; -inf is a masked score."""
        # Long ones hold exponentials of larger scores, where a machine has them.
        steps = Steps(Floats(), self._case, lambda rows: matrix(rows).astype(np.longdouble))
        for serial, enclosure in self._steps.put.items():
            rows = ((-inf if x is None else float(x.mid()) for x in row) for row in enclosure.rows)
            steps.put[serial] = np.array([*map(list, rows)], np.longdouble)
        return steps

    def put(self, name: str, written: Written) -> None:
        """Let numbers stand for entries of a step in all that is computed from it; the
        others are what it makes. What is computed on is to be asked for afterwards."""
        node = self._nodes[name]
        enclosure = self._computed(node)
        flat, masked = enclosure.matrix.entries(), set(enclosure.masked)
        for (i, j), number in written.items():
            place = i * node.grid[1] + j
            masked.discard(place)
            if number is None:
                masked.add(place)
            else:
                flat[place] = number
        self._steps.put[node.serial] = Enclosure(arb_mat(*node.grid, flat), frozenset(masked))

    def _computed(self, node: Node, fault: InjectedFault | None = None) -> Enclosure:
        steps = self._steps if fault is None else self._steps.slipped(fault)
        try:
            with precision(self._bits):
                return steps[node]
        except SymattnError:
            # With such numbers the step is not defined: a score is masked where none can be.
            rows, columns = node.grid
            return Enclosure(arb_mat(rows, columns, [arb.nan()] * (rows * columns)))


#: The place of the value at a path; ``KeyError`` where there is none.
Where = Callable[[tuple[Key, ...]], Place]


class _AnswerTree:
    def __init__(self, collector: Collector, place: Where) -> None:
        self.collector = collector
        self._place = place

    def fault(self, where: tuple[Key, ...], message: str) -> None:
        text = ""
        for key in where:
            text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
        place = self._at(where)
        at = f"column {place.column}, {text}" if place.line else text
        self.collector.faults.append(Fault(at, message, place.line))

    def _at(self, where: tuple[Key, ...]) -> Place:
        try:
            return self._place(where)
        except KeyError:
            return Place(0, 0)

    @contextmanager
    def inside(self, *where: Key) -> Iterator[None]:
        """A context whose faults are noted at a place."""
        try:
            yield
        except Malformed as error:
            for fault in error.faults:
                self.fault((*where, fault.where) if fault.where else where, fault.message)

    def student(self, name: str, entry: object) -> None:
        where = ("answers", name)
        with self.inside(*where):
            stated = table(entry)
            student = self.collector.student(name)
            with self.inside(*where, *(key for key in stated if key == "version")):
                if self.collector.begin(student, stated.get("version"), self._at(where).line):
                    for key in (key for key in stated if key != "version"):
                        with self.inside(*where, key):
                            self._answers(student, (*where, key), key, stated[key])

    def _answers(self, student: str, where: tuple[Key, ...], key: str, value: object) -> None:
        if "[" in key:
            self._answer(student, self.collector.blank(key), value)
        else:
            self._nested(student, where, self.collector.quantity(key), (), value)

    def _nested(
        self, student: str, where: tuple[Key, ...], name: str, indices: tuple[int, ...], value: Any
    ) -> None:
        """Answers nested in the shape of a quantity; what is too short is left blank."""
        shape = self.collector.shapes[name]
        if len(indices) == len(shape):
            first = self.collector.asked.first
            at = [index + first for index in indices]
            return self._answer(student, self.collector.at(name, at), value)
        wanted = shape[len(indices)]
        if not isinstance(value, list) or len(value) != wanted:
            actual = len(value) if isinstance(value, list) else kind(value)
            what = "answers" if len(indices) + 1 == len(shape) else "rows"
            message = f'expected {wanted} {what}, found {actual}; a blank is ""'
            raise Malformed(f"{name} is {show(shape)}: {message}")
        for k, inner in enumerate(value):
            with self.inside(*where, k):
                self._nested(student, (*where, k), name, (*indices, k), inner)
        return None

    def _answer(self, student: str, blank: Blank, value: object) -> None:
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise Malformed(f"expected an answer, found {kind(value)}")
        text = f"{value:f}" if isinstance(value, Decimal) and value.is_finite() else str(value)
        self.collector.take(student, blank, text.replace("Infinity", "inf"))


def read_tree(document: Mapping[str, Any], collector: Collector, place: Where) -> None:
    """Take up what tables by the students' names say; ``place`` tells where it stands."""
    tree = _AnswerTree(collector, place)
    known = ("answers", "scheme")
    for key in document:
        if key not in known:
            tree.fault((key,), f"unknown key {short(key, 40)!r}: {expected(key, known)}")
    students = document.get("answers")
    if not isinstance(students, Mapping) or not students:
        actual = "nothing" if not students else kind(students)
        tree.fault(("answers",), f"expected a table of students, [answers.NAME], found {actual}")
        collector.faults.raise_all()
    if "scheme" in document:
        with tree.inside("scheme"):
            collector.scheme = read_scheme(document["scheme"])
        if collector.scheme is None:
            # By another scheme nobody is to be marked.
            collector.faults.raise_all()
    assert isinstance(students, Mapping)
    for name, entry in students.items():
        tree.student(name, entry)


def parsed_json(text: str) -> Mapping[str, Any]:
    """Return what a JSON text says, its numbers as they are written."""
    twice: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            keys = [key for key, _ in pairs]
            twice.extend(key for key in entries if keys.count(key) > 1)
        return entries

    try:
        document = json.loads(
            text, object_pairs_hook=unique, parse_float=str, parse_int=str,
            parse_constant=lambda word: word.replace("Infinity", "inf"),
        )  # fmt: skip
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg} at column {error.colno}"
        raise Malformed(Fault("", message, error.lineno)) from None
    except RecursionError:
        raise Malformed("JSON nested too deeply to be read") from None
    if twice:
        raise Malformed([Fault(key, "the key occurs twice") for key in twice])
    if not isinstance(document, dict):
        raise Malformed(f'expected {{"answers": {{...}}}}, found {kind(document)}')
    return document


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')


class Positions:
    """The places of all values of a JSON text.

    >>> Positions('{"a": [1,\\n  "x"]}').at(("a", 1))
    Place(line=2, column=3)
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[tuple[Key, ...], int] | None = None

    def at(self, where: tuple[Key, ...]) -> Place:
        """The place of a value. Raises ``KeyError`` where there is none."""
        if self._found is None:
            self._found = dict(self._walked())
        start = self._found[where]
        line = self._text.count("\n", 0, start) + 1
        return Place(line, start - self._text.rfind("\n", 0, start))

    def _walked(self) -> Iterator[tuple[tuple[Key, ...], int]]:
        path: list[Key] = []
        tables: list[bool] = []
        is_key = False
        for token in _TOKEN.finditer(self._text):
            match token[0]:
                case "{" | "[" as mark:
                    yield tuple(path), token.start()
                    is_key = mark == "{"
                    tables.append(is_key)
                    path.append("" if is_key else 0)
                case "}" | "]":
                    tables.pop()
                    path.pop()
                    is_key = False
                case ",":
                    is_key = tables[-1]
                    if not is_key:
                        path[-1] = int(path[-1]) + 1
                case ":":
                    is_key = False
                case word if is_key:
                    path[-1] = str(json.loads(word))
                case _:
                    yield tuple(path), token.start()
