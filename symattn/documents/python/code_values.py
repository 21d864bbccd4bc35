"""Values of expressions of a program: trees of the grammar, and what only programs have.

What functions of libraries are called with."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from math import prod

from symattn.documents.python.source import ProgramSource
from symattn.documents.text import Span
from symattn.documents.trees import NOWHERE, Labelled, Opaque, PrintedFigure
from symattn.errors import Malformed, UnknownName
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape
from symattn.limits import FOLLOWED, UNROLLED_ENTRIES
from symattn.programs import nodes
from symattn.programs.program import Program


class UnreadCode(Exception):
    """An expression that is not understood."""


@dataclass(frozen=True)
class Items:
    """A list, a tuple or a dictionary; of the last, ``keys`` are the keys.

    ``labels`` are those of its items, by comments behind them.
    """

    items: tuple[Value, ...]
    span: Span = NOWHERE
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Applied:
    """A function ready to be called: ``nn.Softmax(dim=-1)``."""

    name: str
    options: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FollowedFunction:
    """A function of the program, and what the names around it stand for."""

    source: ProgramSource
    node: ast.FunctionDef
    around: Mapping[str, Value]


@dataclass(frozen=True)
class UnknownValue:
    """A value that nobody knows."""


UNKNOWN = UnknownValue()

#: Strings are texts, ``None`` and truth values themselves; all else is a tree.
Value = syntax.Tree | Items | Applied | FollowedFunction | UnknownValue | str | bool | None

#: Functions that trees have here and steps don't: largest numbers, for a stable softmax is one
#: only as a whole, what is not hidden, and a triangle whose size is not known.
BEYOND = frozenset({"rowmax", "rowmin", "not", "triangle"})


def number(text: str) -> PrintedFigure:
    """A number that is printed nowhere."""
    return PrintedFigure(text)


def call(function: str, *arguments: syntax.Tree, **options: int) -> syntax.Call:
    """A call of a function of the grammar."""
    settings = tuple((word, number(str(value))) for word, value in options.items())
    return syntax.Call(function, arguments, settings)


def down(function: str, x: syntax.Tree) -> syntax.Tree:
    """Return what a function of rows gives for columns."""
    return syntax.Transposed(call(function, syntax.Transposed(x)))


def is_expressible(tree: syntax.Tree) -> bool:
    """Return whether the grammar of steps has all that the tree is made of."""
    return not any(
        (isinstance(part, syntax.Call) and part.function in BEYOND)
        or isinstance(part, syntax.Sequence | syntax.Comparison)
        or part in (INFINITE, MASKED)
        for part in _parts(tree)
    )


def _parts(tree: syntax.Tree) -> Iterator[syntax.Tree]:
    """All that a tree is made of, each array as one."""
    return syntax.walk(tree, lambda part: not isinstance(part, syntax.Array))


#: So deep are lists nested at most, batches of one around matrices among them.
_DEEPEST = 8
#: What masked scores are filled with.
MASKED = PrintedFigure("-inf")
INFINITE = PrintedFigure("inf")


def size(tree: syntax.Tree, most: int) -> int:
    """Return how many parts a tree has, counted up to ``most``; an array is one."""
    return sum(1 for _ in islice(_parts(tree), most))


def _unplaced(tree: syntax.Tree) -> syntax.Tree:
    """An array whose figures are printed elsewhere."""
    match tree:
        case PrintedFigure():
            return PrintedFigure(tree.text)
        case syntax.Array(items):
            return Labelled(tuple(map(_unplaced, items)))
    return tree


@dataclass
class _Spending:
    """Entries that were made by name, and statements that were followed."""

    made: int = 0
    followed: int = 0


@dataclass
class CodeScope:
    """The scope of names: those that stand for something else, those whose numbers are known, the
    shapes of those that have one, those of integers; those that were told, and those of them that
    were told a meaning; and which are in what others stand for."""

    stands_for: dict[str, Value] = field(default_factory=dict)
    known: dict[str, syntax.Tree] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    integers: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    within: dict[str, set[str]] = field(default_factory=dict)
    spent: _Spending = field(default_factory=_Spending)

    def stand(self, name: str, value: Value) -> None:
        """Let a name stand for a value, until what that is made of changes."""
        self.stands_for[name] = value
        for part in value_names(value) - {name}:
            self.within.setdefault(part, set()).add(name)

    def drop(self, name: str) -> None:
        """Forget what a name was, and what was made of it and has no name of its own."""
        for known in (self.stands_for, self.known, self.shapes):
            known.pop(name, None)
        self.integers.discard(name)
        for other in self.within.pop(name, ()):
            if other in self.stands_for:
                self.stands_for[other] = UNKNOWN

    def follow(self) -> None:
        """Count a statement, or a turn of a loop, that is followed."""
        self.spent.followed += 1
        if self.spent.followed > FOLLOWED.most:
            raise UnreadCode

    @contextmanager
    def restored(self) -> Iterator[dict[str, Value]]:
        """Return what names stand for now, and again afterwards."""
        before = dict(self.stands_for)
        try:
            yield before
        finally:
            self.stands_for.clear()
            self.stands_for.update(before)

    def make(self, shape: Sequence[int], entry: Callable[[int, int], str]) -> Labelled:
        """An array of numbers that are printed nowhere; a vector is its row 0."""
        if min(shape) < 1:
            raise UnreadCode
        self.spent.made += prod(shape)
        if self.spent.made > UNROLLED_ENTRIES.most:
            raise UnreadCode
        *above, columns = shape
        rows = [
            Labelled(tuple(number(entry(i, j)) for j in range(columns))) for i in range(prod(above))
        ]
        return Labelled(tuple(rows)) if above else rows[0]

    def shape(self, tree: syntax.Tree) -> Shape | None:
        """The shape of a tree, where it is known."""
        match tree:
            case syntax.Name(name):
                return self.shapes.get(name)
            case syntax.Array(items):
                return len(items), *_length(items[0])
            case syntax.Literal():
                return ()
            case syntax.Transposed(operand):
                shape = self.shape(operand)
                return shape and shape[::-1]
            case syntax.Call("mask" | "causal" | "not", (scores, *_)):
                # Also under a mask of keys, one row for all queries.
                return self.shape(scores)
        names = {name for name in syntax.names(tree) if name in self.shapes}
        quantities = {name: nodes.given(name, self.shapes[name]) for name in names}
        try:
            return Program(quantities, (), ()).lower_tree(tree).shape
        except (Malformed, UnknownName):
            return None

    def rank(self, tree: syntax.Tree) -> int | None:
        """Return how many axes a tree has, where that is known."""
        shape = self.shape(tree)
        if shape is None and isinstance(tree, syntax.Indexed):
            # A row of a matrix, whatever its size.
            return 1 if len(tree.keys) == 1 and isinstance(tree.keys[0], int) else None
        return None if shape is None else len(shape)

    def whole(self, value: Value) -> int:
        """The whole number that a value is known to be."""
        match value:
            case syntax.Literal(text) if re.fullmatch("-?[0-9]{1,9}", text):
                return int(text)
            case syntax.Name(name) if name in self.known:
                return self.whole(self.known[name])
            case syntax.Negative(operand):
                return -self.whole(operand)
            case syntax.Call("rows" | "cols" as axis, (operand,)) if shape := self.shape(operand):
                return shape[0 if axis == "rows" else -1]
            case syntax.Binary(op, left, right) if op in "+-*":
                x, y = self.whole(left), self.whole(right)
                return x + y if op == "+" else x - y if op == "-" else x * y
        raise UnreadCode

    def each(
        self,
        tree: syntax.Tree,
        entry: Callable[[syntax.Literal], syntax.Tree] = lambda one: number(one.text),
    ) -> syntax.Tree:
        """An array whose numbers are known, with something made of each; as if printed nowhere."""
        match tree:
            case syntax.Name(name) if name in self.known:
                return self.each(self.known[name], entry)
            case syntax.Array(items):
                return Labelled(tuple(self.each(item, entry) for item in items))
            case syntax.Literal():
                return entry(tree)
        raise UnreadCode

    def tree(self, value: Value, depth: int = 0) -> syntax.Tree:
        """A value as a tree: lists are arrays, truth values 1 and 0.

        The ``depth`` is how many lists it is in: ``x = [x]`` would never end.
        """
        match value:
            case bool():
                return number("1" if value else "0")
            case Items():
                return self._array(value, depth + 1)
            case None | str() | Applied() | FollowedFunction() | UnknownValue():
                raise UnreadCode
        return value

    def _array(self, items: Items, depth: int) -> syntax.Tree:
        if depth > _DEEPEST or not items.items:
            raise UnreadCode
        entries = [self._entry(item, depth) for item in items.items]
        if any(True for entry in entries for _ in syntax.names(entry)):
            return self._stacked(entries)
        if len({_length(entry) for entry in entries}) > 1:
            raise UnreadCode
        is_matrix = isinstance(entries[0], syntax.Array)
        if any(isinstance(row, syntax.Array) and _length(row.items[0]) for row in entries):
            # More than two axes are none of the grammar's; a batch of one is its only one.
            if len(entries) == 1 and isinstance(entries[0], Labelled):
                return replace(entries[0], span=items.span)
            raise UnreadCode
        labels = items.keys or items.labels
        if not any(labels):
            names = [item.name if isinstance(item, syntax.Name) else "" for item in items.items]
            labels = tuple(names) if is_matrix and any(names) else ()
        return Labelled(
            tuple(entries),
            rows_said=labels if is_matrix else (),
            columns_said=() if is_matrix else labels,
            span=items.span,
        )

    def _entry(self, value: Value, depth: int) -> syntax.Tree:
        """An entry, or a row, of an array: of names whose numbers are known, the numbers."""
        tree = self.tree(value, depth)
        if isinstance(tree, syntax.Name) and tree.name in self.known:
            return _unplaced(self.tree(self.known[tree.name], depth))
        return tree

    def _stacked(self, entries: Sequence[syntax.Tree]) -> syntax.Tree:
        """Quantities as the entries of a vector, or the rows of a matrix."""
        shapes = {self.shape(entry) for entry in entries}
        if shapes == {()} and not all(map(_is_size, entries)):
            return call("concat", *(call("reshape", entry, number("1")) for entry in entries))
        if len(shapes) == 1 and all(shape is not None and len(shape) == 1 for shape in shapes):
            return call("stack", *entries)
        raise UnreadCode


def value_names(value: Value | Opaque) -> set[str]:
    """The names of quantities in a value."""
    names: set[str] = set()
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        match part := waiting.pop():
            case Items(items) if id(part) not in seen:
                seen.add(id(part))
                waiting += items
            case _ if isinstance(part, syntax.Tree):
                names.update(syntax.names(part))
    return names


def _is_size(tree: syntax.Tree) -> bool:
    """Return whether a tree is what arrays have as their ``shape``."""
    return isinstance(tree, syntax.Call) and tree.function in ("rows", "cols")


def _length(tree: syntax.Tree) -> tuple[int, ...]:
    return (len(tree.items),) if isinstance(tree, syntax.Array) else ()


#: What libraries call the axis of a sum, and that it keeps its place.
AXES = ("axis", "dim", "axes")
KEPT = ("keepdims", "keepdim", "keep_dims")


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call; of a method the first is what it is a method of.

    What is asked for is remembered: a function is not understood where it is called with
    something that nobody asked for (``weights=``, ``where=``).
    """

    scope: CodeScope
    values: Sequence[Value]
    options: Mapping[str, Value]
    path: str
    asked: set[str | int] = field(default_factory=set, compare=False)

    def tree(self, place: int) -> syntax.Tree:
        """An argument as a tree."""
        return self.scope.tree(self.value(place))

    def value(self, place: int) -> Value:
        """An argument by its place."""
        if place >= len(self.values):
            raise UnreadCode
        self.asked.add(place)
        return self.values[place]

    def rest(self, place: int = 0) -> Sequence[Value]:
        """All arguments from a place on; those of a list, where it is the only one."""
        self.asked.update(range(place, len(self.values)))
        values = self.values[place:]
        if len(values) == 1 and isinstance(values[0], Items):
            return values[0].items
        return values

    @property
    def is_spent(self) -> bool:
        """Return whether all of it has been asked for."""
        return self.asked >= {*range(len(self.values)), *self.options}

    def option(
        self, names: Sequence[str], place: int | None = None, default: Value = None
    ) -> Value:
        """An argument by one of its names, or its place."""
        for name in names:
            if name in self.options:
                self.asked.add(name)
                return self.options[name]
        if place is not None and place < len(self.values):
            return self.value(place)
        return default

    def axis(self, place: int = 1) -> int | None:
        """Along which axis: 0 down the columns, -1 along the rows; None along all."""
        value = self.option(AXES, place)
        if value is None:
            return None
        if isinstance(value, Items) and len(value.items) == 1:
            value = value.items[0]
        axis = self.scope.whole(value)
        rank = self.scope.rank(self.tree(0))
        if axis in (-1, (rank or 2) - 1):
            return -1
        if axis in (0, -2) and rank != 1:
            return 0
        raise UnreadCode
