"""Formulas: expressions that values of a program were computed by, as trees of the grammar.

A formula holds as long as the names in it mean what they did, and the array that it is of has the
entries that it had.
"""

from __future__ import annotations

import ast
import operator
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
from symattn.documents.trees import NOWHERE, Labelled, Named, PrintedFigure
from symattn.errors import Malformed, UnknownName
from symattn.expressions import syntax
from symattn.expressions.elementary import ELEMENTWISE
from symattn.expressions.shapes import Shape
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
_ENTRYWISE = (*ELEMENTWISE, "abs", "sign", "relu", "sigmoid", "silu", "softplus")
_COLUMN = syntax.Slice(None, None, None)
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


def _down(function: str, x: syntax.Tree) -> syntax.Tree:
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
    return (
        tree.arguments[0] if isinstance(tree, syntax.Call) and tree.function == "rounded" else tree
    )


def _unplaced(tree: syntax.Tree) -> syntax.Tree:
    """An array whose figures are printed elsewhere."""
    match tree:
        case PrintedFigure():
            return number(tree.text)
        case syntax.Array(items):
            return Labelled(tuple(map(_unplaced, items)))
    return tree


def _literal(value: Any) -> syntax.Tree:
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


def _nested(data: Any) -> syntax.Tree:
    if not isinstance(data, np.ndarray):
        return _literal(data)
    if not 1 <= data.ndim <= 2 or not data.size:
        raise Unread
    return Labelled(tuple(_nested(one) for one in data))


def rank(value: Any, tree: syntax.Tree | None = None) -> int | None:
    """Return how many axes a value has, where that is known."""
    match value:
        case Array():
            return value.data.ndim
        case int() | arb():
            return 0
        case list() | tuple() if value:
            inner = rank(value[0])
            return None if inner is None else inner + 1
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

    def noted(self, found: Any, build: Callable[[], syntax.Tree]) -> Any:
        """A value with the formula that it was computed by, if there is one."""
        formula = self.formula(build)
        return found if formula is None else with_formula(found, formula)

    def formula(self, build: Callable[[], syntax.Tree]) -> Formula | None:
        """The formula that is built; None where there is none."""
        before = self._names, self._size
        self._names, self._size = {}, 1
        try:
            tree = build()
            return Formula(tree, self._names, self._size) if self._size < _LARGE else None
        except Exhausted:
            raise
        except Exception:
            return None
        finally:
            self._names, self._size = before

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
            case list() | tuple():
                return self._array(value, depth + 1)
        raise Unread

    def _known(self, value: Any) -> syntax.Tree:
        if isinstance(value, Array) and value.filling is not None:
            return self._take(self._filled(value))
        formula = value.formula
        if formula is None or not self.holds(formula):
            raise Unread
        if (
            isinstance(value, Array | Listed)
            and not isinstance(formula.tree, syntax.Name)
            and not value.is_as_noted()
        ):
            raise Unread
        return self._take(formula)

    def _take(self, formula: Formula) -> syntax.Tree:
        self._names |= formula.names
        self._size += formula.size
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

    def _filled(self, array: Array) -> Formula:
        """The formula of an array that entries are set of, one after the other."""
        filling = array.filling
        assert filling is not None
        if filling.name and filling.is_told:
            meaning = self.told.get(filling.name)
            if meaning is None or not meaning.is_same():
                raise Unread
            return Formula(Named(filling.name), {filling.name: meaning})
        if not filling.entries:
            if filling.blank is None or not self.holds(filling.blank):
                raise Unread
            return filling.blank
        found = self.whole_of(array)
        if found is None:
            raise Unread
        return found

    def whole_of(self, array: Array) -> Formula | None:
        """The formula of an array all of whose rows, or entries, have been set."""
        filling = array.filling
        assert filling is not None
        entries = {key: one for key, one in filling.entries.items() if one is not None}
        lengths = {len(key) for key in filling.entries}
        if len(entries) < len(filling.entries) or len(lengths) != 1:
            return None
        (length,) = lengths
        if len(entries) != np.prod(array.shape[:length], dtype=int):
            return None
        if not all(map(self.holds, entries.values())):
            return None
        return self.formula(
            lambda: self._lifted({k: self._take(f) for k, f in entries.items()}, array.shape)
        )

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
        functions = (*_ENTRYWISE, "rounded", *(["softmax"] if len(keys) == 1 else []))
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
            case syntax.Binary("@", left, syntax.Name() as right) if len(keys) == 1:
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
        if self._is_made(left, right) and isinstance(found, Array):
            return _literal(found)
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

    def _is_made(self, *values: Any) -> bool:
        """Return whether values are made of numbers that are printed nowhere, and single ones."""
        arrays = [one for one in values if not isinstance(one, int | arb)]
        return bool(arrays) and all(
            isinstance(one, Array)
            and one.filling is None
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
            return _literal(found)
        raise Unread

    def hidden(self, owner: Any, keys: Any, mask: Any, value: Any) -> syntax.Tree:
        """The formula of an array with one number wherever a key says."""
        whole_tree, fill = self.of(owner), self.of(value)
        if isinstance(mask, Array | Unknown):
            with suppress(Unread):
                return masked(whole_tree, negated(self.of(mask)), fill)
        if isinstance(owner, Unknown) and isinstance(keys, tuple) and len(keys) == 2:
            # Where no scores are known, what hides the later ones is told by its places.
            upper = np.triu_indices(1 + int(np.max(keys[1])), 1)
            if all(map(np.array_equal, keys, upper)):
                return masked(whole_tree, call("triangle"), fill)
        if not isinstance(owner, Array) or owner.filling is not None:
            raise Unread
        if isinstance(fill, syntax.Literal) and self._is_made(owner):
            found = Array(owner.data.copy())
            found.set(keys, value)
            return _literal(found)
        keep = np.ones(owner.shape, dtype=int)
        keep[keys] = 0
        is_lower = owner.data.ndim == 2 and bool((keep == np.tril(np.ones_like(keep))).all())
        return masked(whole_tree, call("triangle") if is_lower else _nested(keep), fill)

    # -- entries and attributes ------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> syntax.Tree:
        """The formula of an attribute of an array."""
        tree = self.of(owner)
        if name in ("T", "mT", "H", "mH"):
            return _turned(owner, tree)
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
            return _expanded(owner, tree, 0)
        if every == (whole_row, None):
            return _expanded(owner, tree, 1)
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

    # -- functions -------------------------------------------------------------------------

    def called(
        self, path: str, values: Sequence[Any], options: Mapping[str, Any], found: Any
    ) -> syntax.Tree:
        """The formula of what a function of a library gives, or a method."""
        meaning = FUNCTIONS.get(path.rpartition(".")[2])
        if meaning is None:
            raise Unread
        given = Given(self, values, options, path, found)
        tree = meaning(given)
        if not given.is_spent:
            raise Unread
        return tree


def with_formula(found: Any, formula: Formula | None) -> Any:
    """A value with a formula; an array that shares its entries with what it is."""
    match found:
        case Array():
            return replace(found, formula=formula, filling=None, seen=leaves(found))
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


def _turned(owner: Any, x: syntax.Tree) -> syntax.Tree:
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


def _expanded(owner: Any, x: syntax.Tree, axis: int) -> syntax.Tree:
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
        ) if keys == (_COLUMN, 0):
            # Each row, as a column, by its own sum.
            shares = simplified(syntax.Binary("/", above, below))
            return syntax.Transposed(shares) if isinstance(shares, syntax.Call) else tree
        case syntax.Binary(
            "/", syntax.Call("exp", (power_,)), syntax.Call(sum_, (syntax.Call("exp", (other,)),))
        ) if power_ == other and sum_ in ("rowsum", "colsum", "total"):
            match power_:
                case syntax.Binary("-", scores, shift):
                    along = _down("rowmax", scores) if sum_ == "colsum" else call("rowmax", scores)
                    if shift == call("max", scores) or (sum_ != "total" and shift == along):
                        power_ = scores
            if isinstance(power_, syntax.Array) and not isinstance(power_.items[0], syntax.Array):
                axes = 1
            if sum_ == "rowsum" or (sum_ == "total" and axes == 1):
                return call("softmax", power_)
            if sum_ == "colsum":
                return _down("softmax", power_)
            exponentials = call("exp", power_)
            return syntax.Binary("/", exponentials, call("total", exponentials))
    return tree


# -- what functions are called with --------------------------------------------------------

#: What libraries call the axis of a sum, and that it keeps its place.
_AXES = ("axis", "dim", "axes")
_KEPT = ("keepdims", "keepdim", "keep_dims")
#: Arguments that change no number.
_UNMEANT = {"dtype", "device", "requires_grad", "index", "columns", "copy"}


@dataclass
class Given:
    """The arguments of a call; of a method the first is what it is a method of.

    What is asked for is remembered: a function is not understood where it is called with
    something that nobody asked for (``weights=``, ``where=``).
    """

    formulas: Formulas
    values: Sequence[Any]
    options: Mapping[str, Any]
    path: str
    found: Any
    asked: set[str | int] = field(default_factory=set)

    def tree(self, place: int) -> syntax.Tree:
        """An argument as a tree."""
        return self.formulas.of(self.value(place))

    def value(self, place: int) -> Any:
        """An argument by its place."""
        if place >= len(self.values):
            raise Unread
        self.asked.add(place)
        return self.values[place]

    def rest(self, place: int = 0) -> Sequence[Any]:
        """All arguments from a place on; those of a list, where it is the only one."""
        self.asked.update(range(place, len(self.values)))
        values = self.values[place:]
        return values[0] if len(values) == 1 and isinstance(values[0], list | tuple) else values

    @property
    def is_spent(self) -> bool:
        """Return whether all of it has been asked for."""
        return self.asked >= {*range(len(self.values)), *(self.options.keys() - _UNMEANT)}

    def option(self, names: Sequence[str], place: int | None = None, default: Any = None) -> Any:
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
        value = self.option(_AXES, place)
        if value is None:
            return None
        if isinstance(value, list | tuple) and len(value) == 1:
            value = value[0]
        axis, axes = whole(value), self.rank(0)
        if axes is not None and axes > 2:
            raise Unread
        if axis in (-1, (axes or 2) - 1):
            return -1
        if axis in (0, -2) and axes != 1:
            return 0
        raise Unread

    def rank(self, place: int) -> int | None:
        """Return how many axes an argument has, where that is known."""
        return rank(self.values[place], self.tree(place))


_Meaning = Callable[[Given], syntax.Tree]


def _same(given: Given) -> syntax.Tree:
    given.asked.update(given.options, range(len(given.values)))
    return given.tree(0)


def _kept_whole(given: Given) -> syntax.Tree:
    """Numbers of another type: fractions may be lost where it is one of whole numbers."""
    values = [*given.values[1:], *given.options.values()]
    told = " ".join(str(getattr(one, "path", one)) for one in values)
    if _keeps_whole(f"{given.path} {told}") and not _is_whole(given.values[0]):
        raise Unread
    return _same(given)


def _is_whole(value: Any) -> bool:
    """Return whether all entries are whole numbers, as far as anybody knows."""
    if isinstance(value, Unknown):
        return True
    return all(
        isinstance(one, int) or (isinstance(one, arb) and one.is_exact() and one.is_integer())
        for one in leaves(value)
    )


def _array(given: Given) -> syntax.Tree:
    value = given.option(("object", "data", "value", "values"), 0)
    kind = given.option(("dtype",), 1) if len(given.values) > 1 else given.options.get("dtype")
    if _keeps_whole(str(getattr(kind, "path", kind))) and not _is_whole(value):
        raise Unread
    return given.formulas.of(value)


#: Types of numbers that have no room for fractions.
_keeps_whole = re.compile(r"\b(?:u?int\d*|long|bool)\b").search


def _made(given: Given) -> syntax.Tree:
    """An array whose figures are printed nowhere."""
    if not isinstance(given.found, Array) or not isinstance(given.found.data, np.ndarray):
        raise Unread
    given.asked.update(given.options, range(len(given.values)))
    return _literal(given.found)


def _ones(given: Given) -> syntax.Tree:
    """Ones, of some size."""
    if isinstance(given.found, Array):
        return _made(given)
    given.asked.update(given.options, range(len(given.values)))
    if any(isinstance(one, Unknown) for one in given.rest()):
        return call("triangle", number("1"))
    raise Unread


def _triangle(keeps: Callable[[int, int], bool]) -> _Meaning:
    def meaning(given: Given) -> syntax.Tree:
        if isinstance(given.found, Array):
            return _made(given)
        x, offset = given.tree(0), whole(given.option(("k", "diagonal"), 1, 0))
        if x != call("triangle", number("1")):
            raise Unread
        return _unsized(keeps, offset)

    return meaning


def _unsized(keeps: Callable[[int, int], bool], offset: int) -> syntax.Tree:
    """A triangle of ones of some size: the lower one, or what it leaves."""
    if keeps(-1, 0) and offset == 0:
        return call("triangle")
    if not keeps(-1, 0) and offset == 1:
        return call("not", call("triangle"))
    raise Unread


def _indices(keeps: Callable[[int, int], bool]) -> _Meaning:
    """``triu_indices``: as a mask of where they are, whatever its size."""

    def meaning(given: Given) -> syntax.Tree:
        given.rest()
        return _unsized(keeps, whole(given.option(("k", "offset"), 1, 0)))

    return meaning


def _applied(function: str, count: int = 1) -> _Meaning:
    return lambda given: call(function, *map(given.tree, range(count)))


def _operation(op: str) -> _Meaning:
    return lambda given: syntax.Binary(op, given.tree(0), given.tree(1))


def _product(given: Given) -> syntax.Tree:
    left, right = given.tree(0), given.tree(1)
    if given.option(("transpose_a", "adjoint_a"), default=False) is True:
        left = syntax.Transposed(left)
    if given.option(("transpose_b", "adjoint_b"), default=False) is True:
        right = syntax.Transposed(right)
    return syntax.Binary("@", left, right)


def _reduction(kind: str) -> _Meaning:
    def meaning(given: Given) -> syntax.Tree:
        x = given.tree(0)
        # A norm has its order where others have the axis.
        axis = given.axis(2 if kind == "norm" else 1)
        axes = given.rank(0)
        if given.path == f"builtins.{kind}":
            # Python's own: the sum of a matrix is that of its rows.
            if axis is not None or axes not in (1, 2) or (kind != "sum" and axes != 1):
                raise Unread
            axis = 0
        if axes is not None and axes > 2:
            raise Unread
        everything = axis is None or axes == 1
        summed: syntax.Tree
        if kind in ("max", "min"):
            along = call if axis else _down
            summed = call(kind, x) if everything else along(f"row{kind}", x)
        elif kind in ("var", "std", "norm"):
            options = {"ddof": _lost(given)} if kind != "norm" else {}
            summed = call(kind, x, **options, **({} if everything else {"axis": axis or 0}))
        else:
            summed = call("total" if everything else "rowsum" if axis else "colsum", x)
        if kind == "mean":
            summed = syntax.Binary("/", summed, _count(x, axes, axis))
        keeps = given.option(_KEPT, default=False) is True
        if everything or keeps:
            return summed
        return syntax.Indexed(summed, (_COLUMN, 0) if axis else (0,))

    return meaning


def _count(x: syntax.Tree, axes: int | None, axis: int | None) -> syntax.Tree:
    """Return how many entries there are along an axis, or in all."""
    if axis is not None or axes == 1:
        return call("cols" if axis or axes == 1 else "rows", x)
    return syntax.Binary("*", call("rows", x), call("cols", x))


def _lost(given: Given) -> int:
    """By how much less than their number squares are divided: 0 in NumPy, 1 in PyTorch."""
    unbiased = given.option(("unbiased",))
    if isinstance(unbiased, bool):
        return int(unbiased)
    if (less := given.option(("ddof", "correction"))) is not None:
        return whole(less)
    library = given.path.partition(".")[0]
    if isinstance(given.values[0], Array):
        return int(given.values[0].is_torch)
    words = set(given.options)
    if library in ("numpy", "jax") or words & {"axis", "keepdims"}:
        return 0
    if library == "torch" or words & {"dim", "keepdim"}:
        return 1
    raise Unread


def _softmax(given: Given) -> syntax.Tree:
    x, axis = given.tree(0), given.axis()
    if axis == 0:
        return _down("softmax", x)
    if axis is None and given.path.startswith("scipy") and given.rank(0) in (2, None):
        if given.rank(0) is None:
            raise Unread
        return syntax.Binary("/", call("exp", x), call("total", call("exp", x)))
    return call("softmax", x)


def _filled(given: Given) -> syntax.Tree:
    """``masked_fill``."""
    return _chosen(given, given.value(1), given.option(("value",), 2), given.value(0))


def _where(given: Given) -> syntax.Tree:
    return _chosen(given, given.value(0), given.value(1), given.value(2))


def _chosen(given: Given, condition: Any, yes: Any, no: Any) -> syntax.Tree:
    singles = [isinstance(one, int | arb) for one in (yes, no)]
    of = given.formulas.of
    where = of(condition)
    for value, other, is_single, keep in ((yes, no, singles[0], negated(where)),
                                          (no, yes, singles[1], where)):  # fmt: skip
        if not is_single:
            continue
        is_itself = not isinstance(other, int | arb) and of(other) in (where, negated(where))
        if all(singles) or is_itself or given.formulas._is_made(other):
            return _literal(given.found)
        return masked(of(other), keep, of(value))
    raise Unread


def _clipped(given: Given) -> syntax.Tree:
    x, low = given.tree(0), given.option(("a_min", "min"), 1)
    high, of = given.option(("a_max", "max"), 2), given.formulas.of
    if low is not None and high is not None:
        return call("clip", x, of(low), of(high))
    function, bound = ("minimum", high) if low is None else ("maximum", low)
    return call(function, x, of(bound))


def _attention(given: Given) -> syntax.Tree:
    q, k, v = (given.tree(place) for place in range(3))
    scores = syntax.Binary(
        "/", syntax.Binary("@", q, syntax.Transposed(k)), call("sqrt", call("cols", q))
    )
    if given.option(("dropout_p",), 4, 0) != 0 or given.option(("attn_mask",), 3) is not None:
        raise Unread
    if given.option(("is_causal",), default=False) is True:
        scores_: syntax.Tree = call("causal", scores)
    else:
        scores_ = scores
    return syntax.Binary("@", call("softmax", scores_), v)


def _einsum(given: Given) -> syntax.Tree:
    subscripts = given.value(0)
    match = isinstance(subscripts, str) and re.fullmatch(
        r"(\w)(\w),(\w)(\w)->(\w)(\w)", subscripts.replace(" ", "")
    )
    if not match:
        raise Unread
    a, b, c, d, *out = match.groups()
    x, y = given.tree(1), given.tree(2)
    for left, row, inner in ((x, a, b), (syntax.Transposed(x), b, a)):
        for right, other, column in ((y, c, d), (syntax.Transposed(y), d, c)):
            is_product = inner == other and len({row, inner, column}) == 3
            if is_product and {*out} == {row, column}:
                tree = syntax.Binary("@", left, right)
                return tree if out == [row, column] else syntax.Transposed(tree)
    raise Unread


def _transposed(given: Given) -> syntax.Tree:
    axes = given.option((*_AXES, "perm", "dims"), 1)
    is_order = isinstance(axes, list | tuple) or given.path.endswith("permute")
    listed = axes if isinstance(axes, list | tuple) else given.rest(1)
    turned = [whole(axis) for axis in listed]
    order = [axis % 2 for axis in turned if -2 <= axis <= 1]
    if len(order) < len(turned) or sorted(order) not in ([], [0, 1]):
        raise Unread
    return given.tree(0) if is_order and order == [0, 1] else _turned(given.value(0), given.tree(0))


def _concatenated(given: Given) -> syntax.Tree:
    parts, axis = given.value(0), given.option(_AXES, 1, 0)
    if not isinstance(parts, list | tuple) or not parts:
        raise Unread
    along = 1 if "hstack" in given.path else whole(axis)
    trees = [given.formulas.of(part) for part in parts]
    ranks = {rank(part, tree) for part, tree in zip(parts, trees, strict=True)}
    if along in (-1, 1) or ranks == {1}:
        return call("concat", *trees)
    if along not in (0, -2) or ranks != {2}:
        raise Unread
    return call("concat", *trees, axis=0)


def _stacked(given: Given) -> syntax.Tree:
    parts, axis = given.value(0), given.option(_AXES, 1, 0)
    ranks = {rank(part) for part in parts} if isinstance(parts, list | tuple) else set()
    if ranks == {2} and "vstack" in given.path:
        return _concatenated(given)
    stack = given.tree(0)
    if given.path.endswith("column_stack") or whole(axis) in (1, -1):
        if ranks != {1}:
            raise Unread
        return syntax.Transposed(stack)
    return stack


def _reshaped(given: Given) -> syntax.Tree:
    x, found = given.tree(0), given.found
    wanted = [whole(value) for value in given.rest(1)]
    match x, wanted:
        # A sum of rows made the column again that it is.
        case syntax.Indexed(syntax.Call("rowsum" | "rowmax", _) as column, (syntax.Slice(), 0)), [
            -1,
            1,
        ]:
            return column
        case syntax.Array(items), [_, _] if not isinstance(items[0], syntax.Array) and isinstance(
            found, Array
        ):
            columns = found.shape[1]
            span = x.span if isinstance(x, Labelled) else NOWHERE
            rows = (Labelled(items[i : i + columns]) for i in range(0, len(items), columns))
            return Labelled(tuple(rows), span=span)
    if not isinstance(found, Array) or not 1 <= found.data.ndim <= 2:
        raise Unread
    if found.shape == shape_of(given.values[0]):
        return x
    return call("reshape", x, *(number(str(size)) for size in found.shape))


def _flattened(given: Given) -> syntax.Tree:
    given.rest(1)
    if not isinstance(given.found, Array) or given.found.data.ndim != 1:
        raise Unread
    x = given.tree(0)
    return x if given.rank(0) == 1 else call("reshape", x, number(str(given.found.shape[0])))


def _length_of(given: Given) -> syntax.Tree:
    value = given.value(0)
    if isinstance(value, Array | Unknown):
        return call("rows", given.tree(0))
    return number(str(len(value)))


def _size(given: Given) -> syntax.Tree:
    x, axis = given.tree(0), given.option(_AXES, 1)
    axes = given.rank(0)
    if axis is None:
        if given.path.endswith("shape"):
            raise Unread
        return _count(x, axes, None)
    at = whole(axis)
    if at not in (0, 1, -1, -2):
        raise Unread
    return call("rows" if at in (0, -2) and axes != 1 else "cols", x)


def _power_of(given: Given) -> syntax.Tree:
    value = given.option(("exponent",), 1)
    return power(given.tree(0), given.formulas.of(value), value)


def _infinite(given: Given) -> syntax.Tree:
    """``float("-inf")``, or a number as it is."""
    value = given.value(0)
    if isinstance(value, str):
        return given.formulas.of(given.found)
    return given.tree(0)


def _rounded(given: Given) -> syntax.Tree:
    given.asked.update(given.options, range(len(given.values)))
    tree = given.tree(0)
    return tree if shown(tree) is not tree else call("rounded", tree)


def _of_tokens(names: str, meaning: _Meaning) -> Mapping[str, _Meaning]:
    return dict.fromkeys(names.split(), meaning)


#: By its last name, what a function makes of its arguments.
FUNCTIONS: Mapping[str, _Meaning] = {
    **_of_tokens(
        "double half numpy detach item tolist copy clone cpu cuda contiguous requires_grad_ float32"
        " float64 float16 asarray_chkfinite squeeze block_until_ready DataFrame Series to_numpy"
        " convert_to_tensor Parameter stop_gradient values str repr display", _same,
    ),
    **_of_tokens("astype to type bool int long cast", _kept_whole),
    **_of_tokens(
        "array asarray tensor as_tensor Tensor FloatTensor matrix constant Variable from_numpy mat"
        " list tuple ascontiguousarray", _array,
    ),
    **_of_tokens("round around array2string array_repr array_str set_precision", _rounded),
    **{name: _applied(name) for name in _ENTRYWISE},
    "absolute": _applied("abs"),
    "expit": _applied("sigmoid"),
    "log1p": lambda given: call("log", syntax.Binary("+", number("1"), given.tree(0))),
    "expm1": lambda given: syntax.Binary("-", call("exp", given.tree(0)), number("1")),
    **{name: _applied(name, 2) for name in ("maximum", "minimum", "outer")},
    **_of_tokens("clip clamp", _clipped),
    "float": _infinite,
    "rsqrt": lambda given: syntax.Binary("/", number("1"), call("sqrt", given.tree(0))),
    **_of_tokens("power pow", _power_of),
    "square": lambda given: power(given.tree(0), number("2"), 2),
    **_of_tokens("dot matmul mm mv", _product),
    **_of_tokens("sum reduce_sum", _reduction("sum")),
    **_of_tokens("mean reduce_mean average", _reduction("mean")),
    **_of_tokens("max amax reduce_max", _reduction("max")),
    **_of_tokens("min amin reduce_min", _reduction("min")),
    **{kind: _reduction(kind) for kind in ("var", "std", "norm")},
    **_of_tokens(
        "zeros empty zeros_like empty_like full full_like fill eye identity tri diag arange", _made
    ),
    **_of_tokens("ones ones_like", _ones),
    "tril": _triangle(operator.le),
    "triu": _triangle(operator.ge),
    **_of_tokens("tril_indices tril_indices_from", _indices(operator.le)),
    **_of_tokens("triu_indices triu_indices_from", _indices(operator.ge)),
    "softmax": _softmax,
    "log_softmax": lambda given: call("log", _softmax(given)),
    **_of_tokens("masked_fill masked_fill_", _filled),
    "where": _where,
    "logical_not": lambda given: negated(given.tree(0)),
    **_of_tokens("transpose swapaxes permute t adjoint matrix_transpose", _transposed),
    **_of_tokens("concatenate concat cat hstack", _concatenated),
    **_of_tokens("stack vstack row_stack column_stack", _stacked),
    "len": _length_of,
    **_of_tokens("size shape", _size),
    **_of_tokens("reshape view", _reshaped),
    **_of_tokens("flatten ravel", _flattened),
    **_of_tokens(
        "unsqueeze expand_dims",
        lambda given: _expanded(given.value(0), given.tree(0), whole(given.option(_AXES, 1))),
    ),
    "scaled_dot_product_attention": _attention,
    "einsum": _einsum,
    **_of_tokens("multiply mul", _operation("*")),
    **_of_tokens("divide div true_divide", _operation("/")),
    "add": _operation("+"),
    **_of_tokens("subtract sub", _operation("-")),
}  # fmt: skip
