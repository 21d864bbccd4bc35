"""Formulas: expressions that values of a program were computed by, as trees of the grammar.

A formula holds as long as the names in it mean what they did, and the array that it is of has the
entries that it had.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from flint import arb

from symattn.documents.running.numbers import (
    Array,
    Ball,
    Change,
    Formula,
    Listed,
    Meaning,
    Pair,
    Unknown,
    Whole,
    ball,
    leaves,
    whole,
)
from symattn.documents.text import Span
from symattn.documents.trees import NOWHERE, Labelled, PrintedFigure
from symattn.errors import Malformed, UnknownName
from symattn.expressions import syntax
from symattn.expressions.elementary import ELEMENTWISE
from symattn.expressions.shapes import Shape
from symattn.limits import NESTING
from symattn.numbers.balls import Exhausted
from symattn.programs import nodes
from symattn.programs.program import Program

#: Functions that trees have here and steps don't: largest numbers, for a stable softmax is one
#: only as a whole, what is not hidden, a triangle whose size is not known, and what is rounded.
BEYOND = frozenset({"rowmax", "rowmin", "not", "triangle", "rounded"})
#: What masked scores are filled with.
MASKED, INFINITE = PrintedFigure("-inf"), PrintedFigure("inf")
#: No expression with so many parts is an operand.
_LARGE = 5000
#: Functions of each entry, called as the grammar calls them.
ENTRYWISE = (*ELEMENTWISE, "abs", "sign", "relu", "sigmoid", "silu", "softplus")
COLUMN = syntax.Slice(None, None, None)
#: So deep are lists nested at most.
_DEEPEST = 8


class Unread(Exception):
    """A value that no formula is known of."""


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
    parts = syntax.walk(tree, lambda part: not isinstance(part, syntax.Array))
    return not any(
        (isinstance(part, syntax.Call) and part.function in BEYOND) or part in (INFINITE, MASKED)
        for part in parts
    )


def shown(tree: syntax.Tree) -> syntax.Tree:
    """Return what is shown where a value is shown that was only rounded."""
    match tree:
        case syntax.Call("rounded", (inner,)):
            return inner
    return tree


def _unplaced(tree: syntax.Tree) -> syntax.Tree:
    """An array whose figures are printed elsewhere."""
    match tree:
        case PrintedFigure():
            return number(tree.text)
        case syntax.Array(items):
            return Labelled(tuple(map(_unplaced, items)))
    return tree


def literal(value: Any) -> syntax.Tree:
    """A value that is known exactly as its numbers, which are printed nowhere."""
    if isinstance(value, Array):
        return _nested(value.data)
    if isinstance(value, bool | int):
        return number(str(int(value)))
    found = ball(value)
    if found.is_nan() or found.is_finite():
        text = re.sub(r"(?<=\.)(\d*?)0*\Z", r"\1", found.mid().str(17, radius=False)).rstrip(".")
        told = arb(text) if re.fullmatch(r"-?[0-9.]+", text) else arb("nan")
        if not (told - found == 0 or (told.mid() == found.mid() and told.rad() == found.rad())):
            raise Unread
        return number(text)
    return MASKED if found < 0 else INFINITE


def _nested(data: Any, entry: Callable[[Any], syntax.Tree] = literal) -> syntax.Tree:
    """A vector or a matrix of what is made of its entries."""
    if not isinstance(data, np.ndarray):
        return entry(data)
    if not 1 <= data.ndim <= 2 or not 0 < data.size < _LARGE:
        raise Unread
    return Labelled(tuple(_nested(one, entry) for one in data))


def rank(value: Any, tree: syntax.Tree | None = None) -> int | None:
    """Return how many axes a value has, where that is known."""
    if (shape := shape_of(value)) is not None:
        return len(shape)
    if isinstance(tree, syntax.Indexed):
        # A row of a matrix, whatever its size.
        return 1 if len(tree.keys) == 1 and isinstance(tree.keys[0], int) else None
    return None


def shape_of(value: Any) -> Shape | None:
    """Return the shape of a value, where that is known."""
    match value:
        case Array():
            return value.shape
        case int() | arb():
            return ()
        case list() | tuple() if value:
            inner = shape_of(value[0])
            return None if inner is None else (len(value), *inner)
    return None


@dataclass
class Formulas:
    """Formulas of values, over the names of a program and their meanings by now."""

    told: dict[str, Meaning] = field(default_factory=dict)
    _names: dict[str, Meaning] = field(default_factory=dict)
    _size: int = 0
    _depth: int = 0

    def noted(self, found: Any, build: Callable[[], syntax.Tree]) -> Any:
        """A value with the formula that it was computed by, if there is one."""
        formula = self.formula(build)
        return found if formula is None else with_formula(found, formula)

    def formula(self, build: Callable[[], syntax.Tree]) -> Formula | None:
        """The formula that is built; None where there is none."""
        before = self._names, self._size, self._depth
        self._names, self._size, self._depth = {}, 1, 1
        try:
            tree = build()
            if self._size >= _LARGE or self._depth >= NESTING.most:
                return None
            return Formula(tree, self._names, self._size, self._depth)
        except Exhausted:
            raise
        except Exception:
            return None
        finally:
            self._names, self._size, self._depth = before

    def is_read(self, value: Any) -> bool:
        """Return whether it is known what a value was computed by."""
        return self.formula(lambda: self.of(value)) is not None

    def of(self, value: Any, depth: int = 0) -> syntax.Tree:
        """Return what a value was computed by; raises :class:`Unread`."""
        match value:
            case Array() | Unknown() | Ball() | Whole() | Listed(formula=Formula()):
                return self._known(value)
            case bool() | int():
                return number(str(int(value)))
            case arb() if not value.is_nan() and not value.is_finite():
                return MASKED if value < 0 else INFINITE
            case dict() if value and all(isinstance(key, str) for key in value):
                return self._array([*value.values()], depth + 1, [*value])
            case list() | tuple() | range():
                return self._array(value, depth + 1)
        raise Unread

    def _known(self, value: Any) -> syntax.Tree:
        formula = value.formula
        is_named = formula is not None and isinstance(formula.tree, syntax.Name)
        is_kept = is_named or not isinstance(value, Array | Listed) or value.is_as_noted()
        if formula is not None and is_kept and self.holds(formula):
            return self._take(formula)
        if not isinstance(value, Array) or not all(
            getattr(one, "formula", None) for one in value.data.flat
        ):
            raise Unread
        # Its entries have been set one by one.
        trees = {at: self.of(one) for at, one in np.ndenumerate(value.data)}
        with suppress(Unread):
            return self._lifted(trees, value.shape)
        if not all(map(_is_numbers, trees.values())):
            raise Unread
        return _nested(value.data, self.of)

    def _take(self, formula: Formula) -> syntax.Tree:
        self._names |= formula.names
        self._size += formula.size
        self._depth = max(self._depth, formula.depth + 1)
        return formula.tree

    def holds(self, formula: Formula) -> bool:
        """Return whether the names in a formula mean what they did."""
        return all(
            self.told.get(name) is meaning and meaning.is_same()
            for name, meaning in formula.names.items()
        )

    def singles(self, over: list[Any]) -> list[Any]:
        """The items of a list, single numbers as entries of it."""
        formula = self.formula(lambda: self.of(over))
        if formula is None:
            return over
        return [
            with_formula(one, replace(formula, tree=syntax.Indexed(formula.tree, (k,))))
            if isinstance(one, int | arb)
            else one
            for k, one in enumerate(over)
        ]

    def listed(self, found: list[Any]) -> list[Any]:
        """The items of a comprehension, as one array where the same is done to all."""
        formula = self.formula(lambda: self._array(found, 1)) if found else None
        match formula and formula.tree:
            case None | syntax.Array() | syntax.Call("concat" | "stack"):
                return Listed([self._resolved(one) for one in found])
        return Listed(found, formula=formula, seen=leaves(found))

    @staticmethod
    def _resolved(value: Any) -> Any:
        """A value whose formula has entries of lists as they are."""

        def inside(tree: syntax.Tree) -> syntax.Tree:
            match tree:
                case syntax.Indexed(syntax.Array(items), (int(k),)):
                    return items[k]
                case syntax.Literal() | syntax.Name() | syntax.Array():
                    return tree
            return syntax.mapped(tree, inside)

        formula = getattr(value, "formula", None)
        if formula is None or not isinstance(value, Array | Unknown | int | arb):
            return value
        return with_formula(value, replace(formula, tree=inside(formula.tree)))

    def spread(self, value: Any, shape: Sequence[int]) -> Any:
        """A value, for a place of a shape: its entries know what they are entries of."""
        if isinstance(value, Unknown):
            value = with_formula(Array(np.full(shape, arb("nan"), dtype=object)), value.formula)
        formula = self.formula(lambda: self.of(value))
        if formula is None or not isinstance(value, Array):
            return value
        data = np.empty(value.shape, dtype=object)
        for at, one in np.ndenumerate(value.data):
            tree = syntax.Indexed(formula.tree, at) if at else formula.tree
            data[at] = with_formula(one, replace(formula, tree=tree))
        return Array(data)

    # -- lists ---------------------------------------------------------------------------

    def _array(self, items: Sequence[Any], depth: int, keys: Sequence[str] = ()) -> syntax.Tree:
        if depth > _DEEPEST or not items:
            raise Unread
        entries = [self._entry(item, depth) for item in items]
        if any(not _is_numbers(entry) for entry in entries):
            return self._stacked(entries, items)
        if len({_length(entry) for entry in entries}) > 1:
            raise Unread
        span = items.span if isinstance(items, Listed) else NOWHERE
        if any(isinstance(row, syntax.Array) and _length(row.items[0]) for row in entries):
            # More than two axes are none of the grammar's; a batch of one is its only one.
            if len(entries) == 1 and isinstance(entries[0], Labelled):
                return replace(entries[0], span=span)
            raise Unread
        is_matrix = isinstance(entries[0], syntax.Array)
        labels = tuple(keys or (items.labels if isinstance(items, Listed) else ()))
        if not any(labels):
            trees = [
                item.formula.tree for item in items if isinstance(item, Array) and item.formula
            ]
            names = [one.name if isinstance(one, syntax.Name) else "" for one in trees]
            labels = tuple(names) if is_matrix and any(names) and len(names) == len(items) else ()
        return Labelled(
            tuple(entries),
            rows_said=labels if is_matrix else (),
            columns_said=() if is_matrix else labels,
            span=span,
        )

    def _entry(self, value: Any, depth: int) -> syntax.Tree:
        """An entry, or a row, of an array: of names whose numbers are told, the numbers."""
        names = dict(self._names)
        tree = self.of(value, depth)
        if isinstance(tree, syntax.Name) and tree.name in self.told:
            formula = self.told[tree.name].formula
            told = None if formula is None else formula.tree
            if isinstance(told, syntax.Literal | syntax.Array) and not any(
                True for _ in syntax.names(told)
            ):
                self._names = names
                return _unplaced(told)
        return tree

    def _stacked(self, entries: Sequence[syntax.Tree], items: Sequence[Any]) -> syntax.Tree:
        """Quantities as the entries of a vector, or the rows of a matrix."""
        shapes = {shape_of(item) for item in items}
        with suppress(Unread):
            (shape,) = shapes if len(shapes) == 1 else (None,)
            whole_shape = None if shape is None else (len(items), *shape)
            return self._lifted({(k,): entry for k, entry in enumerate(entries)}, whole_shape)
        if shapes == {()} and not all(map(_is_size, entries)):
            return call("concat", *(call("reshape", entry, number("1")) for entry in entries))
        if len(shapes) == 1 and all(shape is not None and len(shape) == 1 for shape in shapes):
            return call("stack", *entries)
        raise Unread

    def _shape(self, tree: syntax.Tree) -> Shape | None:
        """The shape of a tree, where it is known."""
        shapes = {
            name: shape
            for name in set(syntax.names(tree))
            if name in self.told and (shape := shape_of(self.told[name].value)) is not None
        }
        quantities = {name: nodes.given(name, shape) for name, shape in shapes.items()}
        try:
            return Program(quantities, (), ()).lower_tree(tree).shape
        except (Malformed, UnknownName):
            return None

    def _lifted(
        self, entries: Mapping[tuple[syntax.Key, ...], syntax.Tree], shape: Shape | None
    ) -> syntax.Tree:
        """The one tree of a shape whose rows, or entries, are those."""
        common: syntax.Tree | None = None
        sizes = [1 + max(int(key[k]) for key in entries) for k in range(len(next(iter(entries))))]  # type: ignore[arg-type]
        for keys, tree in entries.items():
            whole_tree = self._lift(tree, keys, sizes)
            if common is not None and whole_tree != common:
                raise Unread
            common = whole_tree
        if common is None or (self._shape(common) or shape) != shape:
            raise Unread
        return common

    def _lift(
        self, tree: syntax.Tree, keys: tuple[syntax.Key, ...], sizes: Sequence[int]
    ) -> syntax.Tree:
        """Return what gives a row, or an entry, by itself, as what gives all of them."""
        if (found := self._leaf(tree, keys, sizes)) is not None:
            return found
        functions = (*ENTRYWISE, "rounded", *(["softmax"] if len(keys) == 1 else []))
        match tree:
            case syntax.Call(function, (_,), ()) if function in functions:
                pass
            case syntax.Binary(op) if op != "@":
                pass
            case syntax.Negative():
                pass
            case _:
                raise Unread
        return simplified(syntax.mapped(tree, lambda part: self._lift(part, keys, sizes)))

    def _leaf(
        self, part: syntax.Tree, keys: tuple[syntax.Key, ...], sizes: Sequence[int]
    ) -> syntax.Tree | None:
        match part:
            case syntax.Indexed(operand, at) if at[-len(keys) :] == keys:
                above = at[: -len(keys)]
                rows = syntax.Indexed(operand, above) if above else operand
                if self._has(rows, sizes):
                    return rows
            case syntax.Binary("@", syntax.Indexed(left, (i,)), syntax.Indexed(right, (j,))) if (
                keys == (i, j) and self._has(left, sizes[:1]) and self._has(right, sizes[1:])
            ):
                return syntax.Binary("@", left, syntax.Transposed(right))
            case syntax.Indexed(operand, (j,)) if len(keys) == 2 and j == keys[1]:
                return self._lift(operand, keys[:1], sizes[:1])
            case syntax.Binary(
                "@", left, syntax.Name() | syntax.Transposed(syntax.Name()) as right
            ) if len(keys) == 1:
                return syntax.Binary("@", self._lift(left, keys, sizes), right)
            case syntax.Literal() | syntax.Call("rows" | "cols" | "total" | "max" | "min"):
                return part
            case syntax.Name(name) if len(keys) == 1 or name not in self.told:
                return part
            case syntax.Name() | syntax.Indexed() if self._shape(part) == ():
                return part
        return None

    def _has(self, operand: syntax.Tree, sizes: Sequence[int]) -> bool:
        """Return whether an operand has just so many rows, or entries."""
        shape = self._shape(operand)
        return shape is None or list(shape[: len(sizes)]) == list(sizes)

    # -- operations ----------------------------------------------------------------------

    def unary(self, op: ast.unaryop, value: Any, span: Span | None) -> syntax.Tree:
        """The formula of ``-x`` and its kin; ``span`` is that of a number with its sign."""
        tree = self.of(value)
        match op:
            case ast.UAdd():
                return tree
            case ast.Invert():
                return negated(tree)
            case ast.USub() if span is not None and isinstance(tree, PrintedFigure):
                return PrintedFigure(f"-{tree.text}", span)
            case ast.USub():
                return syntax.Negative(_numeric(tree))
        raise Unread

    def binary(self, op: ast.operator, left: Any, right: Any, found: Any) -> syntax.Tree:
        """The formula of ``x + y`` and its kin."""
        if isinstance(left, list | tuple | str | dict) and not isinstance(right, Array | Unknown):
            # Lists of Python are joined and repeated, not added.
            raise Unread
        if isinstance(right, list | tuple | str | dict) and not isinstance(left, Array | Unknown):
            raise Unread
        x, y = self.of(left), self.of(right)
        if self.is_made(left, right) and isinstance(found, Array):
            return literal(found)
        match op:
            case ast.Pow():
                return power(_numeric(x), y, right)
            case ast.FloorDiv() | ast.Mod() if isinstance(found, int):
                return number(str(found))
        x, y = _numeric(x), _numeric(y)
        match op:
            case ast.MatMult():
                return syntax.Binary("@", x, y)
            case ast.Add():
                return self._added(left, right, x, y)
            case ast.Sub():
                return syntax.Binary("-", x, y)
            case ast.Mult():
                return syntax.Binary("*", x, y)
            case ast.Div():
                return simplified(syntax.Binary("/", x, y), rank(left, x))
        raise Unread

    def is_made(self, *values: Any) -> bool:
        """Return whether values are made of numbers that are printed nowhere, and single ones."""
        arrays = [one for one in values if not isinstance(one, int | arb)]
        return bool(arrays) and all(
            isinstance(one, Array)
            and one.is_as_noted()
            and one.formula is not None
            and isinstance(one.formula.tree, Labelled)
            and one.formula.tree.span == NOWHERE
            and not one.formula.names
            for one in arrays
        )

    @staticmethod
    def _added(left: Any, right: Any, x: syntax.Tree, y: syntax.Tree) -> syntax.Tree:
        """A sum; where an array of zeros and minus infinity is added, what it hides."""
        for scores, hides in ((x, right), (y, left)):
            if isinstance(hides, Array) and not is_mask(hides):
                entries = [*hides.data.flat]
                if all(isinstance(one, int | arb) and (one == 0 or _is_hidden(one))
                       for one in entries):  # fmt: skip
                    seen = np.frompyfunc(lambda one: int(not _is_hidden(one)), 1, 1)(hides.data)
                    return masked(scores, _nested(seen), MASKED)
        return syntax.Binary("+", x, y)

    def compared(self, op: ast.cmpop, left: Any, right: Any, found: Any) -> syntax.Tree:
        """A mask held against 0 or 1, or numbers that are known against one."""
        certain = is_mask(left)
        if isinstance(right, int | arb) and right in (0, 1):
            is_one = bool(right == 1)
            if certain or (certain is None and isinstance(op, ast.Eq | ast.NotEq)):
                keep = self.of(left)
                match op, is_one:
                    case (ast.Eq(), True) | (ast.NotEq() | ast.Gt(), False):
                        return keep
                    case (ast.Eq(), False) | (ast.NotEq() | ast.Lt(), True):
                        return negated(keep)
        if isinstance(found, Array) and isinstance(right, int | arb):
            return literal(found)
        raise Unread

    def hidden(self, owner: Any, keys: Any, mask: Any, value: Any) -> syntax.Tree:
        """The formula of an array with one number wherever a key says."""
        whole_tree, fill = self.of(owner), self.of(value)
        if isinstance(mask, Array | Unknown):
            with suppress(Unread):
                return masked(whole_tree, self.kept(mask, True, fill), fill)
        if isinstance(owner, Unknown) and isinstance(keys, tuple) and len(keys) == 2:
            # Where no scores are known, what hides the later ones is told by its places.
            upper = np.triu_indices(1 + int(np.max(keys[1])), 1)
            if all(map(np.array_equal, keys, upper)):
                return masked(whole_tree, call("triangle"), fill)
        if not isinstance(owner, Array) or owner.is_blank:
            raise Unread
        if isinstance(fill, syntax.Literal) and self.is_made(owner):
            found = Array(owner.data.copy())
            found.set(keys, value)
            return literal(found)
        keep = np.ones(owner.shape, dtype=int)
        keep[keys] = 0
        is_causal = fill == MASKED and _is_lower(keep)
        return masked(whole_tree, call("triangle") if is_causal else _nested(keep), fill)

    def kept(self, mask: Any, is_hidden: bool, fill: syntax.Tree) -> syntax.Tree:
        """A mask as what it keeps; a triangle that is printed nowhere as that."""
        tree = self.of(mask)
        names = [self.told.get(name) for name in set(syntax.names(tree))]
        trees = [one.formula.tree for one in names if one is not None and one.formula is not None]
        is_printed = len(trees) < len(names) or any(
            isinstance(part, PrintedFigure | Labelled) and part.span != NOWHERE
            for one in (tree, *trees)
            for part in syntax.walk(one)
        )
        if isinstance(mask, Array) and not is_printed and is_mask(mask) and fill == MASKED:
            keep = np.frompyfunc(lambda one: int(bool(one != 0) is not is_hidden), 1, 1)(mask.data)
            if _is_lower(keep):
                return call("triangle")
        return negated(tree) if is_hidden else tree

    # -- entries and attributes ------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> syntax.Tree:
        """The formula of an attribute of an array."""
        tree = self.of(owner)
        if name in ("T", "mT", "H", "mH"):
            return turned(owner, tree)
        if name in ("values", "data", "real", "A"):
            return tree
        raise Unread

    def sizes(self, owner: Any) -> Any:
        """The sizes along all axes, as :class:`Whole` or unknown numbers with formulas."""
        tree = self.formula(lambda: self.of(owner))
        if isinstance(owner, Array):
            count = owner.data.ndim
            if tree is None or not 1 <= count <= 2:
                return owner.shape
            told = ["cols"] if count == 1 else ["rows", "cols"]
            values: list[Any] = [Whole(size) for size in owner.shape]
        else:
            told, values = ["rows", "cols"], [Unknown(), Unknown()]
        if tree is None:
            return tuple(values)
        return tuple(
            with_formula(value, replace(tree, tree=call(name, tree.tree)))
            for value, name in zip(values, told, strict=True)
        )

    def entry(self, owner: Any, keys: Any) -> syntax.Tree:
        """The formula of ``x[keys]``."""
        tree = self.of(owner)
        every = keys if isinstance(keys, tuple) else (keys,)
        match tree, every:
            case syntax.Indexed(syntax.Call("rowsum" | "rowmax") as column, (syntax.Slice(), 0)), (
                slice(),
                None,
            ):
                return column
            case syntax.Call("rowmax"), (0,) if isinstance(owner, Unknown):
                # PyTorch gives the largest beside their places.
                return tree
        whole_row = slice(None)
        if every in ((None,), (None, whole_row)):
            return expanded(owner, tree, 0)
        if every == (whole_row, None):
            return expanded(owner, tree, 1)
        if ... in every:
            at = every.index(...)
            rest = (rank(owner, tree) or 2) - len(every) + 1
            every = (*every[:at], *[whole_row] * rest, *every[at + 1 :])
        indices = tuple(map(_key, every))
        if (
            isinstance(tree, syntax.Indexed)
            and len(tree.keys) == len(indices) == 1
            and isinstance(tree.keys[0], int)
        ):
            return syntax.Indexed(tree.operand, (*tree.keys, *indices))
        return syntax.Indexed(tree, indices)

    def rows(self, array: Any, items: Sequence[Any]) -> list[Any]:
        """The rows or entries that a loop goes through."""
        return [
            self.noted(one, lambda k=k: self.entry(array, k))  # type: ignore[misc]
            for k, one in enumerate(items)
        ]


def with_formula(found: Any, formula: Formula | None) -> Any:
    """A value with a formula; an array that shares its entries with what it is."""
    match found:
        case Array():
            return replace(
                found, formula=formula, is_blank=False, seen=leaves(found), checked=Change.latest
            )
        case Unknown():
            return Unknown(found.holds, formula, found.changes)
        case Pair():
            return Pair((with_formula(found[0], formula), found[1]))
        case bool():
            return found
        case int():
            return Whole(found, formula)
        case arb():
            return Ball(found, formula)
        case list():
            return Listed(found, formula=formula, seen=leaves(found))
    return found


def _is_hidden(one: Any) -> bool:
    return isinstance(one, arb) and not one.is_finite() and bool(one < 0)


def _is_numbers(tree: syntax.Tree) -> bool:
    """Return whether a tree is a number, or an array of numbers."""
    parts = tree.items if isinstance(tree, syntax.Array) else (tree,)
    return all(
        _is_numbers(one) if isinstance(one, syntax.Array) else isinstance(one, syntax.Literal)
        for one in parts
    )


def _is_size(tree: syntax.Tree) -> bool:
    """Return whether a tree is what arrays have as their ``shape``."""
    return isinstance(tree, syntax.Call) and tree.function in ("rows", "cols")


def _length(tree: syntax.Tree) -> tuple[int, ...]:
    return (len(tree.items),) if isinstance(tree, syntax.Array) else ()


def _numeric(tree: syntax.Tree) -> syntax.Tree:
    """Return what can be computed with: infinite numbers can't."""
    if tree in (MASKED, INFINITE):
        raise Unread
    return tree


def _key(key: Any) -> syntax.Key:
    if isinstance(key, slice):
        if key.step == 0:
            raise Unread
        return syntax.Slice(key.start, key.stop, key.step)
    if isinstance(key, int) and not isinstance(key, bool):
        return int(key)
    raise Unread


def is_mask(value: Any) -> bool | None:
    """Return whether all entries are 0 or 1; None where nobody knows.

    >>> is_mask(Array(np.array([1, 0], dtype=object))), is_mask(Unknown())
    (True, None)
    """
    match value:
        case Array():
            if any(isinstance(one, arb) and one.is_nan() for one in value.data.flat):
                return None
            return all(bool(one == 0 or one == 1) for one in value.data.flat)
        case Unknown():
            return None
        case int() | arb():
            return bool(value == 0 or value == 1)
    return False


def turned(owner: Any, x: syntax.Tree) -> syntax.Tree:
    """The transpose; of a transpose, what that is of."""
    if isinstance(owner, Array) and owner.data.ndim != 2:
        if owner.data.ndim > 2:
            raise Unread
        return x
    return x.operand if isinstance(x, syntax.Transposed) else syntax.Transposed(x)


def power(base: syntax.Tree, exponent: syntax.Tree, value: Any) -> syntax.Tree:
    """``base ** exponent``: a root, or a product."""
    if isinstance(value, arb) and value == arb("0.5"):
        return call("sqrt", base)
    if isinstance(value, arb) and value == arb("-0.5"):
        return syntax.Binary("/", number("1"), call("sqrt", base))
    times = whole(value)
    if not 1 <= abs(times) <= 4 or isinstance(base, syntax.Array):
        raise Unread
    product = base
    for _ in range(abs(times) - 1):
        product = syntax.Binary("*", product, base)
    return product if times > 0 else syntax.Binary("/", number("1"), product)


def negated(keep: syntax.Tree) -> syntax.Tree:
    """Return what a mask leaves out: 1 where it has 0."""
    match keep:
        case syntax.Call("not", (inner,)):
            return inner
    return call("not", keep)


def _is_lower(keep: Any) -> bool:
    """Return whether a mask keeps just what is not later."""
    is_square = keep.ndim == 2 and keep.shape[0] == keep.shape[1] > 1
    return is_square and bool((keep == np.tri(len(keep), dtype=int)).all())


def _kept(keep: syntax.Tree) -> syntax.Tree:
    """A mask as the grammar has it."""
    match keep:
        case syntax.Call("not", (inner,)):
            return syntax.Binary("-", number("1"), inner)
    return keep


def masked(scores: syntax.Tree, keep: syntax.Tree, fill: syntax.Tree) -> syntax.Tree:
    """Scores where the mask has 1; elsewhere what they are filled with."""
    if scores in (keep, negated(keep)) or not isinstance(fill, syntax.Literal) or fill == INFINITE:
        raise Unread
    if fill == MASKED:
        is_causal = keep == call("triangle")
        return call("causal", scores) if is_causal else call("mask", scores, _kept(keep))
    left = _kept(negated(keep))
    return syntax.Binary(
        "+", syntax.Binary("*", scores, _kept(keep)), syntax.Binary("*", left, fill)
    )


def expanded(owner: Any, x: syntax.Tree, axis: int) -> syntax.Tree:
    """A vector as a column, or as a row."""
    shape = shape_of(owner)
    if shape is None or len(shape) != 1 or not -2 <= axis <= 1:
        raise Unread
    sizes = (1, shape[0]) if axis in (0, -2) else (shape[0], 1)
    return call("reshape", x, *(number(str(size)) for size in sizes))


def simplified(tree: syntax.Tree, axes: int | None = None) -> syntax.Tree:
    """A quotient of exponentials by their own sum as the softmax that it is; a shift
    that is the same for a whole row is no difference. ``axes`` is how many the first has.

    >>> from symattn.expressions.syntax import parse, text
    >>> text(simplified(parse("exp(S - rowmax(S)) / rowsum(exp(S - rowmax(S)))")))
    'softmax(S)'
    """
    match tree:
        case syntax.Binary(
            "/", syntax.Transposed(above), syntax.Indexed(syntax.Call("rowsum") as below, keys)
        ) if keys == (COLUMN, 0):
            # Each row, as a column, by its own sum.
            shares = simplified(syntax.Binary("/", above, below))
            return syntax.Transposed(shares) if isinstance(shares, syntax.Call) else tree
        case syntax.Binary(
            "/", syntax.Call("exp", (power_,)), syntax.Call(sum_, (syntax.Call("exp", (other,)),))
        ) if power_ == other and sum_ in ("rowsum", "colsum", "total"):
            match power_:
                case syntax.Binary("-", scores, shift):
                    along = down("rowmax", scores) if sum_ == "colsum" else call("rowmax", scores)
                    if shift == call("max", scores) or (sum_ != "total" and shift == along):
                        power_ = scores
            if isinstance(power_, syntax.Array) and not isinstance(power_.items[0], syntax.Array):
                axes = 1
            if sum_ == "rowsum" or (sum_ == "total" and axes == 1):
                return call("softmax", power_)
            if sum_ == "colsum":
                return down("softmax", power_)
            exponentials = call("exp", power_)
            return syntax.Binary("/", exponentials, call("total", exponentials))
    return tree
