"""Functions of steps for any size: the operations of programs, as entries at places.

A function is what :mod:`symattn.programs.functions` makes of its arguments. Here these have axes of
any length (:mod:`symattn.expressions.shapes`), and each operation says what stands at a place, in
sums, deltas and steps: one more arithmetic that a program runs in. Few functions mean something
else here than where all lengths are numbers: :data:`ANEW`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, cast

from symattn.calculus import language as term
from symattn.calculus.language import Axis, AxisPlace, Expr, Index
from symattn.calculus.masks import is_indicator, same, vanishes_without
from symattn.calculus.matrix_forms import Forms, told_apart
from symattn.calculus.tensors import (
    FUNCTIONS,
    Entries,
    Tensor,
    constant,
    described,
    exp,
    kept,
    minus,
    number,
    plus,
    rational,
    times,
)
from symattn.errors import Malformed
from symattn.expressions import formulas, syntax
from symattn.expressions.shapes import AllPlaces, Letter, Shape, Uncounted, any_length
from symattn.expressions.syntax import Binary, Call, Comparison, Literal, Name, Tree
from symattn.limits import Limit
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs import backward, nodes
from symattn.programs.functions import COMPARISONS, OF_ROWS, StepFunction, rows
from symattn.programs.nodes import Node, Run
from symattn.programs.tables import COLUMN, ROW, formula_of, moved

Places = tuple[AxisPlace, ...]
Picked = range | AllPlaces | slice | AxisPlace

WIDEST = Limit(64, "{found} is longer than {most}, of which places are told apart one by one")
#: Entries of three axes that are as long; few are worked out here.
_ROOM = Limit(WIDEST.most**3, "{found} is beyond {most} entries")

BY_ROWS = (
    "whole numbers that name places are no numbers that a line computes with: give a row of 0 "
    "and 1 for each, as in 'T: n x m' with 'assume sum(c, T[i, c]) = 1'"
)


def refused_hidden(x: Tensor) -> Tensor:
    """A tensor that has no hidden scores. Raises :class:`Malformed` for others."""
    if x.keep is not None:
        raise Malformed(
            "a hidden score is minus infinity, no number: take exp, softmax, logsumexp, "
            "log_softmax or max of the scores first"
        )
    return x


Known = dict[int, Tensor]
"""Tensors by the serial numbers of the nodes that are given for them."""


def given(tensor: Tensor, known: Known) -> Node:
    """Return a node for a tensor, which it is known for from here on."""
    with nodes.room(_ROOM):
        node = nodes.given(f"argument {len(known)}", tuple(map(length_of, tensor.axes)))
    known[node.serial] = tensor
    return node


def called(
    forms: Forms,
    function: StepFunction,
    parts: Sequence[Node],
    options: Mapping[str, Any],
    known: Known,
) -> Tensor:
    """Return what a function of steps makes of nodes, some of them ``known``, of sizes and words.

    Raises :class:`Malformed` for what doesn't fit, and for what tells the places of an axis of any
    length apart.
    """
    run = Run(_AtPlaces(forms, function.name), lambda node: known.get(node.serial))
    tensors = {name: run[x] if isinstance(x, Node) else x for name, x in options.items()}
    if function.takes_parts:
        return _worked(forms, function.name, function, [run[part] for part in parts], tensors)
    first = tensors.get("x")
    if function.name in OF_ROWS and isinstance(first, Tensor) and not first.axes:
        raise Malformed(f"{function.name}: expected a row or a matrix, found a number")
    if function.name in _ENTRYWISE:
        tensors = _laid(forms, function.name, tensors)
    if (anew := ANEW.get(function.name)) and (found := anew(forms, **tensors)) is not None:
        return found
    return _worked(forms, function.name, function, (), tensors)


def _worked(
    forms: Forms,
    name: str,
    build: Callable[..., Node],
    parts: Sequence[Any],
    options: Mapping[str, Any],
) -> Tensor:
    """Return what the operations give that a function builds of nodes."""
    known: Known = {}

    def argument(value: Any) -> Any:
        return given(value, known) if isinstance(value, Tensor) else value

    try:
        with nodes.room(_ROOM):
            named = {key: argument(value) for key, value in options.items()}
            node = build(*map(argument, parts), **named)
        return Run(_AtPlaces(forms, name), lambda node: known.get(node.serial))[node]
    except Uncounted as error:
        raise Malformed(f"{name}: {error}") from None


#: Functions of values that meet entry by entry.
_ENTRYWISE = ("maximum", "minimum", "clip", "where", "mask", *COMPARISONS)


def _laid(forms: Forms, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Vectors as columns, or rows, of the matrices that they meet."""
    tensors = [value for value in options.values() if isinstance(value, Tensor)]
    whole = max(tensors, key=lambda tensor: len(tensor.axes))

    def laid(value: Any) -> Any:
        if not isinstance(value, Tensor) or not 0 < len(value.axes) < len(whole.axes):
            return value
        what = name if name.isidentifier() else f"'{name}'"
        return forms.pairwise(value, whole, lambda x, _: x, what)

    return {key: laid(value) for key, value in options.items()}


def length_of(axis: Axis) -> int:
    """The length of an axis in a program."""
    return any_length(axis) if isinstance(axis, str) else axis


def _axes(shape: Shape) -> tuple[Axis, ...]:
    """The axes of a program's shape."""
    return tuple(length.name if isinstance(length, Letter) else length for length in shape)


class _AtPlaces:
    """The arithmetic of entries at places."""

    centres = sees_factors = False

    def __init__(self, forms: Forms, function: str) -> None:
        self.forms = forms
        self.function = function
        self._told: set[int] = set()
        """Nodes whose entries are told apart, place by place of their last axis."""

    def apply(self, node: Node, operands: list[Tensor]) -> Tensor:
        """The result of a node given those of its operands."""
        found = self._result(node, operands)
        is_written = node.op == "table" and formula_of(node) is None
        is_sum = node.op in _SUMS and not self._by_table(node)
        if is_written or node.op == "concat" or (not is_sum and self._told & _serials(node)):
            self._told.add(node.serial)
        is_once = is_sum or (node.op in _OF_SUMS and node.operands[0].op != "given")
        if found.keep is None and is_once:
            name = node.written.function if node.written else node.op
            return self.forms.once(name, found)
        return found

    def _by_table(self, node: Node) -> bool:
        """Return whether a node is the product with a matrix of known numbers."""
        table = node.operands[-1:] if node.op == "matmul" else ()
        return any(each.op == "table" and each.serial in self._told for each in table)

    def _result(self, node: Node, x: list[Tensor]) -> Tensor:
        match node.op:
            case "constant":
                return constant(self._number(node.extra))
            case "table":
                return self._table(node)
            case "triangle":
                return self._table(replace(node, extra=_LOWER))
            case "copy":
                return x[0]
            case "concat":
                return _beside(x)
            case "pick":
                return _picked(x[0], _axes(node.shape), node.extra)
            case "reshape":
                return _reshaped(x[0], _axes(node.shape))
            case "transpose":
                return _transposed(x[0], _axes(node.shape))
            case "spread":
                return aligned(x[0], _axes(node.shape))
            case "negate":
                return replace(refused_hidden(x[0]), entry=lambda at: term.Neg(x[0].entry(at)))
            case "hide":
                return self._hidden(x[0], aligned(x[1], x[0].axes))
            case "softmax":
                return self._softmax(x[0])
            case "rowmax":
                return self._largest(x[0])
            case "rowsum" | "colsum":
                return self._sums(refused_hidden(x[0]), -1 if node.op == "rowsum" else -2)
            case "total":
                return self.forms.total(refused_hidden(x[0]))
            case "matmul":
                return self._product(node, *map(refused_hidden, x))
        axes = _axes(node.shape)
        if len(x) == 2:
            if node.op in ("multiply", "divide") and node.extra != nodes.FLOW:
                _need_scale("*" if node.op == "multiply" else "/", *x)
            return self._pairwise(node, *(aligned(side, axes) for side in x))
        return _each(node.op, x[0])

    # -- numbers ---------------------------------------------------------------------------

    def _number(self, value: Value) -> Expr:
        known = value.rational()
        if known is not None:
            return number(Fraction(int(known.p), int(known.q)))
        return self._formula(syntax.paired(formulas.with_exp(value.formula())))

    def _table(self, node: Node) -> Tensor:
        axes = _axes(node.shape)
        if isinstance(node.extra, tuple) and isinstance(node.extra[0][0], Masked):
            return Tensor((), lambda _: term.ZERO, lambda _: term.ZERO)
        if (formula := formula_of(node)) is not None:
            return Tensor(axes, lambda at: self._entry(formula, at, axes))
        rows = [[*map(self._number, row)] for row in node.extra]

        def entry(at: Places) -> Expr:
            row, column = (*(AxisPlace(offset=1),) * (2 - len(at)), *at)
            return told_apart(
                len(rows), row, lambda i: told_apart(len(rows[0]), column, rows[i].__getitem__)
            )

        return Tensor(axes, entry)

    def _entry(self, formula: Tree, at: Places, axes: tuple[Axis, ...]) -> Expr:
        """An entry of a table by its formula."""
        if any(isinstance(part, Call) for part in syntax.walk(formula)):
            self.forms.comparable(axes)
        return self._formula(formula, at, axes)

    def _formula(self, tree: Tree, at: Places = (), axes: tuple[Axis, ...] = ()) -> Expr:
        """Return what a formula says, of places along axes where it is one of a table."""
        match tree:
            case Literal(text):
                return number(Fraction(text))
            case Name() if at and tree in (ROW, COLUMN):
                return as_number(at[-1 if tree == COLUMN else 0])
            case Name("pi"):
                return term.Constant("pi")
            case Name(name):
                return term.Size(name)
            case syntax.Negative(body):
                return term.Neg(self._formula(body, at, axes))
            case Binary(sign, left, right):
                return _SIGNS[sign](*(self._formula(side, at, axes) for side in (left, right)))
            case syntax.Power(base, exponent):
                return term.Power(self._formula(base), cast("Fraction", rational(exponent)))
            case Call("delta"):
                return term.Delta(*at)
            case Call("step", (Comparison((first, second), _),)):
                (one, before), (_, after) = (moved(side) for side in (first, second))
                if one == ROW:
                    return self.forms.ordered(at, axes, before - after, is_least=True)
                return self.forms.ordered(at, axes, after - before)
            case Call(function, (body,)):
                return FUNCTIONS[function](self._formula(body, at, axes))
        raise TypeError(type(tree).__name__)

    # -- entry by entry --------------------------------------------------------------------

    def _pairwise(self, node: Node, x: Tensor, y: Tensor) -> Tensor:
        combine = _COMBINED[node.op]
        if node.extra == nodes.FLOW and y.keep:
            return _weighted(x, y)
        if node.op not in ("add", "multiply", "divide"):
            refused_hidden(y)
            if node.op != "subtract":
                refused_hidden(x)
        keep = kept(x, y)

        def entry(at: Places) -> Expr:
            return combine(x.entry(at), y.entry(at))

        last = x.axes[-1] if x.axes and keep is None else ""
        if _serials(node) <= self._told and isinstance(last, int):
            # Of two sums over places the product would have a term for each pair.
            return Tensor(x.axes, lambda at: told((range(last),), at[-1:], at[:-1], entry))
        return Tensor(x.axes, entry, keep)

    def _hidden(self, x: Tensor, keep: Tensor) -> Tensor:
        _need_indicator(self.forms, self.function, keep)
        before = x.keep
        both = keep.entry if before is None else lambda at: times(before(at), keep.entry(at))
        return Tensor(x.axes, x.entry, both)

    # -- rows and columns ------------------------------------------------------------------

    def _sums(self, x: Tensor, axis: int) -> Tensor:
        """The sums along an axis, which stays with the length 1."""
        axis %= len(x.axes)
        axes = (*x.axes[:axis], 1, *x.axes[axis + 1 :])

        def summed(at: Places) -> Expr:
            index = Index("r", x.axes[axis])
            return term.Sum(index, x.entry((*at[:axis], AxisPlace(index), *at[axis + 1 :])))

        return Tensor(axes, summed)

    def _product(self, node: Node, x: Tensor, y: Tensor) -> Tensor:
        """The product of a matrix, or a row, and a matrix."""
        inner, rows = x.axes[-1], x.axes[:-1] or (1,)
        if self._by_table(node):
            table = node.operands[1].extra
            return Tensor((*rows, y.axes[1]), partial(self._of_table, x, table))

        def at_inner(at: Places, via: AxisPlace) -> Expr:
            return times(x.entry((*at[:-1], via)[-len(x.axes) :]), y.entry((via, at[-1])))

        def entry(at: Places) -> Expr:
            if inner == 1:
                return at_inner(at, AxisPlace(offset=1))
            index = Index("r", inner)
            return term.Sum(index, at_inner(at, AxisPlace(index)))

        return Tensor((*rows, y.axes[1]), entry)

    def _of_table(self, x: Tensor, table: Sequence[Sequence[Value]], at: Places) -> Expr:
        """An entry of the product with a matrix of known numbers, of which many are 0."""

        def value(column: int) -> Expr:
            factors = ((k, row[column]) for k, row in enumerate(table))
            return term.Add(
                tuple(
                    times(
                        self._number(factor),
                        x.entry((*at[:-1], AxisPlace(offset=k + 1))[-len(x.axes) :]),
                    )
                    for k, factor in factors
                    if factor.rational() != 0
                )
            )

        return told_apart(len(table[0]), at[-1], value)

    def _largest(self, x: Tensor) -> Tensor:
        """The mean of those entries of a row than which no other is larger."""
        last, keep = x.axes[-1], x.keep

        def is_largest(at: Places) -> Expr:
            index = Index("r", last)
            other = (*at[:-1], AxisPlace(index))
            apart = minus(term.ONE, term.Delta(at[-1], AxisPlace(index)))
            counted = (apart, keep(other)) if keep else (apart,)
            beyond = term.Mul((*counted, _positive(x.entry(other), x.entry(at))))
            # A number of entries is a whole number: none, or more than a half.
            none = _positive(number(Fraction(1, 2)), term.Sum(index, beyond))
            return term.Mul((keep(at), none)) if keep else none

        largest = self.forms.once("largest", Tensor(x.axes, is_largest))
        taken = Tensor(x.axes, lambda at: times(largest.entry(at), x.entry(at)))
        total, count = (self.forms.once("sum", self._sums(each, -1)) for each in (taken, largest))
        return Tensor(total.axes, lambda at: term.Div(total.entry(at), count.entry(at)))

    def _softmax(self, x: Tensor, sink: Tensor | None = None) -> Tensor:
        """The exponentials of rows over their sums, whose derivatives are taken once."""
        powers = _each("exp", x)
        sums = self.forms.once("sum", self._sums(powers, -1))
        if sink is not None:
            rest = _each("exp", aligned(sink, sums.axes))
            both = Tensor(sums.axes, lambda at: plus(sums.entry(at), rest.entry(at)))
            sums = self.forms.once("sum", both)

        def entry(at: Places) -> Expr:
            return term.Div(powers.entry(at), sums.entry((*at[:-1], AxisPlace(offset=1))))

        return Tensor(x.axes, entry)


def _serials(node: Node) -> set[int]:
    return {operand.serial for operand in node.operands}


#: Operations whose results are things of their own, so that a derivative is taken once; and such
#: of what is no argument.
_SUMS, _OF_SUMS = ("softmax", "rowmax", "rowsum", "colsum", "matmul"), ("sqrt", "log")
#: What :func:`symattn.programs.nodes.triangle` keeps, as a formula.
_LOWER = syntax.parse("step(j <= i)", letters=True)


def _need_indicator(forms: Forms, name: str, keep: Tensor) -> None:
    at = tuple(AxisPlace(Index("i", axis)) for axis in keep.axes)
    if not is_indicator(keep.entry(at), forms.scope.masks):
        asked = "where(X != 0, S, Y)" if name == "where" else "mask(S, X != 0)"
        raise Malformed(
            f"{name} takes a given array of 0 and 1, or a comparison: write {asked} of what is "
            "computed, and 'assume M * M = M' of an array M that stands in it"
        )


# -- numbers -----------------------------------------------------------------------------


def as_number(place: AxisPlace) -> Expr:
    """A place as a number, 0 at the first entry as steps count."""
    if place.images:
        raise Malformed("where a permutation sends an index is no number to compute with")
    start: list[Expr] = [term.Position(place.index)] if place.index else []
    start += [term.Size(place.size)] if place.size else []
    return term.Add((*start, number(place.offset - 1))) if start else number(place.offset - 1)


def _is_number(value: Expr, wanted: int) -> bool:
    return isinstance(value, term.Number) and value.value == wanted


def _difference(x: Expr, y: Expr) -> Expr:
    if _is_number(y, 0):
        return x
    return term.Neg(y) if _is_number(x, 0) else minus(x, y)


def _quotient(x: Expr, y: Expr) -> Expr:
    return x if _is_number(y, 1) else term.Div(x, y)


def _positive(x: Expr, y: Expr) -> Expr:
    """1 where the first number is the larger, else 0."""
    return term.Apply("positive", _difference(x, y))


def _larger(x: Expr, y: Expr) -> Expr:
    """``y + relu(x - y)``; of a number and its negative what ``x sign(x)`` is."""
    if _is_number(x, 0):
        x, y = y, x
    if isinstance(y, term.Neg) and same(x, y.body):
        return times(x, minus(_positive(x, term.ZERO), _positive(term.ZERO, x)))
    more = _difference(x, y)
    excess = term.Mul((more, term.Apply("positive", more)))
    return excess if _is_number(y, 0) else plus(y, excess)


_COMBINED: Mapping[str, Callable[[Expr, Expr], Expr]] = {
    "add": plus,
    "subtract": _difference,
    "multiply": times,
    "divide": _quotient,
    "maximum": _larger,
    "above": _positive,
}
_SIGNS = {"+": plus, "-": minus, "*": times, "/": term.Div}


# -- entry by entry ----------------------------------------------------------------------


def _each(name: str, x: Tensor) -> Tensor:
    """A function of every entry; of what may have hidden scores only the exponential."""
    keep = x.keep
    if keep is not None and name == "exp":
        # The exponential of a hidden score is 0.
        return Tensor(x.axes, lambda at: times(keep(at), exp(x.entry(at))))
    function = FUNCTIONS[name]
    return replace(refused_hidden(x), entry=lambda at: function(x.entry(at)))


def aligned(x: Tensor, axes: tuple[Axis, ...]) -> Tensor:
    """A tensor repeated along the axes of a larger one, from the last on, as in NumPy."""
    return x if x.axes == axes else x.repeated(axes, range(len(axes) - len(x.axes), len(axes)))


def scaled(forms: Forms, x: Tensor, y: Tensor, sign: str) -> Tensor:
    """A product or a quotient; hidden scores stay hidden where the other is above 0."""
    _need_scale(sign, x, y)
    return forms.pairwise(x, y, _SIGNS[sign], f"'{sign}'")


def _need_scale(sign: str, x: Tensor, y: Tensor) -> None:
    """See to it that hidden scores stay so: they are scaled by a number above 0."""
    if x.keep or sign == "/":
        refused_hidden(y)
    other = y if x.keep else x
    if (x.keep or y.keep) and (other.axes or not is_positive(other.entry(()))):
        raise Malformed(
            f"'{sign}': scores that are hidden, minus infinity, are scaled only by a number "
            "that is above 0 for certain: scale before they are masked, as in causal(S / t)"
        )


def is_positive(value: Expr) -> bool:
    """Return whether a number is above 0 wherever it can be divided by."""
    match value:
        case term.Number(known):
            return known > 0
        case term.Size() | term.Constant() | term.Apply("exp", _):
            return True
        case term.Power(base, exponent):
            return exponent.denominator % 2 == 0 or is_positive(base)
        case term.Mul(parts) | term.Add(parts):
            return all(map(is_positive, parts))
        case term.Div(upper, lower):
            return is_positive(upper) and is_positive(lower)
    return False


def _weighted(weights: Tensor, levels: Tensor) -> Tensor:
    """Weights times logarithms; one that is hidden has no weight.

    It is infinite where a target is not 0 there: targets have to be 0 by their form.
    """
    keep = levels.keep
    assert keep is not None
    at = tuple(AxisPlace(Index("i", axis)) for axis in levels.axes)
    if not vanishes_without(weights.entry(at), keep(at)):
        raise Malformed(
            "the loss is infinite where a level is hidden and its target is not 0: multiply "
            "the targets by what is kept, as in tril(T) beside causal(S), T * M beside "
            "mask(S, M), without label_smoothing"
        )
    return Tensor(levels.axes, lambda at: term.Mul((keep(at), weights.entry(at), levels.entry(at))))


# -- entries put elsewhere ---------------------------------------------------------------


def _transposed(x: Tensor, axes: tuple[Axis, ...]) -> Tensor:
    """Rows and columns exchanged; a vector as a column."""
    return x.moved(axes, lambda at: at[: len(x.axes)] if len(x.axes) < 2 else at[::-1])


def _reshaped(x: Tensor, axes: tuple[Axis, ...]) -> Tensor:
    """The same entries, row by row, along axes that differ by some of length 1."""

    def kept(axes: tuple[Axis, ...]) -> list[int]:
        return [place for place, axis in enumerate(axes) if axis != 1]

    mine, theirs = kept(x.axes), kept(axes)
    if [x.axes[place] for place in mine] != [axes[place] for place in theirs]:
        raise Malformed(f"{described(x.axes)} is put into another shape, {described(axes)}")
    by = dict(zip(mine, theirs, strict=True))
    first = AxisPlace(offset=1)
    return x.moved(
        axes,
        lambda at: tuple(at[by[k]] if k in by else first for k in range(len(x.axes))),
    )


def _picked(x: Tensor, axes: tuple[Axis, ...], picked: Sequence[Picked]) -> Tensor:
    """Some places along each axis of the grid, or one that is known."""
    some = [
        slice(None) if isinstance(axis, int) and key == range(axis) else key
        for key, axis in zip(picked[len(picked) - len(x.axes) :], x.axes, strict=True)
    ]
    left = sum(not isinstance(key, AxisPlace) for key in some)

    def of(entries: Entries) -> Entries:
        def entry(at: Places) -> Expr:
            here = (*(AxisPlace(offset=1),) * (left - len(at)), *at)
            return told(some, here[len(here) - left :], (), entries)

        return entry

    return Tensor(axes, of(x.entry), x.keep and of(x.keep))


def told(picked: Sequence[Picked], at: Places, before: Places, entries: Entries) -> Expr:
    """An entry among the places picked along each axis; those of a range are told apart."""
    if not picked:
        return entries(before)
    key, *rest = picked
    if isinstance(key, AxisPlace):
        return told(rest, at, (*before, key), entries)
    if not isinstance(key, range):
        return told(rest, at[1:], (*before, at[0]), entries)
    return told_apart(
        len(key),
        at[0],
        lambda p: told(rest, at[1:], (*before, AxisPlace(offset=key[p] + 1)), entries),
    )


def sliced(x: Tensor, keys: Sequence[syntax.Slice | AxisPlace], name: str) -> Tensor:
    """Places along some axes, slices of others, counted as in Python."""
    axes: list[Axis] = []
    picked: list[Picked] = []
    for key, axis in zip(keys, x.axes, strict=True):
        if isinstance(key, AxisPlace):
            picked.append(key)
        elif key == syntax.Slice(None, None, None):
            axes.append(axis)
            picked.append(slice(None))
        else:
            try:
                some = range(length_of(axis))[key.start : key.stop : key.step]
            except Uncounted as error:
                raise Malformed(f"{name}: {error}") from None
            if not some or max(key.start or 0, key.stop or 0) > cast("int", axis):
                raise Malformed(f"{name} ends at {axis}, found the slice {syntax.text(key)}")
            axes.append(len(some))
            picked.append(some)
    return _picked(x, tuple(axes), picked)


def _beside(parts: Sequence[Tensor]) -> Tensor:
    """Parts side by side, along the last axis."""
    places = [(part, p) for part in parts for p in range(length_of(part.axes[-1]))]
    length = len(places)
    if length > WIDEST.most:
        raise Malformed(f"concat: an axis of {WIDEST.said(length)}")

    def of(which: Callable[[Tensor], Entries]) -> Entries:
        def entry(at: Places) -> Expr:
            def value(p: int) -> Expr:
                part, own = places[p]
                return which(part)((*at[:-1], AxisPlace(offset=own + 1)))

            return told_apart(length, at[-1], value)

        return entry

    keep = of(lambda part: part.keep or (lambda _: term.ONE))
    axes = (*parts[0].axes[:-1], length)
    hidden = any(part.keep for part in parts)
    return Tensor(axes, of(lambda part: part.entry), keep if hidden else None)


# -- functions that mean something else for any size ------------------------------------------


def _entropy(forms: Forms, x: Tensor, axis: int = -1) -> Tensor:
    """Logarithms are of what is above 0 here, where 0 log 0 need not be told."""

    def build(x: Node) -> Node:
        return nodes.negate(rows.summed(backward.times(x, nodes.apply("log", x)), axis))

    return _worked(forms, "entropy", build, (x,), {})


def _where(forms: Forms, M: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """By the array of 0 and 1 itself, which a gradient flows into as well."""
    if y.keep and not y.axes:
        return _worked(forms, "where", nodes.mask, (x, M), {})
    _need_indicator(forms, "where", M)

    def build(M: Node, x: Node, y: Node) -> Node:
        rest = backward.minus(1, M)
        return backward.plus(backward.times(M, x), backward.times(rest, y))

    return _worked(forms, "where", build, (M, x, y), {})


def _with_rows(forms: Forms, x: Tensor, targets: Tensor, **_: object) -> None:
    """Targets are probabilities."""
    if targets.axes != x.axes or not x.axes:
        raise Malformed(
            f"expected targets of the shape of what they are for, {described(x.axes)}, found "
            f"{described(targets.axes)}: {BY_ROWS}"
        )


def _softmax(forms: Forms, x: Tensor, axis: int = -1, sink: Tensor | None = None) -> Tensor | None:
    """With a sink, which is one more score than any number of them."""
    if sink is None or (axis >= 0 and len(x.axes) != 2):
        return None
    if axis == 0:
        turned = _softmax(forms, forms.transposed(x), -1, sink)
        return turned and forms.transposed(turned)
    if sink.axes not in ((), (1, 1), (*x.axes[:-1], 1), x.axes[:-1]):
        raise Malformed(f"a sink is a number, or a column, found {described(sink.axes)}")
    column = sink if sink.axes != x.axes[:-1] else _transposed(sink, (*sink.axes, 1))
    return forms.once("softmax", _AtPlaces(forms, "softmax")._softmax(x, column))


def _additive(forms: Forms, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Each query meets each key, along three axes."""
    if not (len(q.axes) == len(k.axes) == 2 and q.axes[1:] == k.axes[1:] == v.axes):
        listed = ", ".join(described(x.axes) for x in (q, k, v))
        raise Malformed(
            f"expected matrices of as many columns as the vector is long, found {listed}"
        )

    def entry(at: Places) -> Expr:
        index = Index("r", v.axes[0])
        c = AxisPlace(index)
        level = FUNCTIONS["tanh"](plus(q.entry((at[0], c)), k.entry((at[1], c))))
        return term.Sum(index, times(v.entry((c,)), level))

    return forms.once("additive", Tensor((q.axes[0], k.axes[0]), entry))


def _rope(
    forms: Forms, x: Tensor, positions: Tensor | None = None, **options: Any
) -> Tensor | None:
    """Pairs that have an axis of their own: there may be any number of them."""
    if len(x.axes) == 2 and isinstance(x.axes[1], str):
        raise Malformed(
            f"rope turns pairs of columns, of which there are none for any {x.axes[1]}: give "
            "pairs an axis of their own, as in 'X: n x p x 2', or that axis a number"
        )
    if len(x.axes) != 3 or x.axes[2] != 2:
        return None
    base = options.get("base")
    log = term.Apply("log", number(10000) if base is None else base.entry(()))

    def entry(at: Places) -> Expr:
        pairs = x.axes[1]
        count = number(pairs) if isinstance(pairs, int) else term.Size(pairs)
        share = term.Div(as_number(at[1]), count)
        row = as_number(at[0]) if positions is None else positions.entry(at[: len(positions.axes)])
        angle = times(row, exp(term.Neg(times(share, log))))
        cos, sin = term.Apply("cos", angle), term.Apply("sin", angle)

        def value(p: int) -> Expr:
            own, other = (x.entry((*at[:2], AxisPlace(offset=q + 1))) for q in (p, 1 - p))
            return (plus if p else minus)(times(own, cos), times(other, sin))

        return told_apart(2, at[2], value)

    return Tensor(x.axes, entry)


#: Functions by their definitions for any size, which give None where they are as ever.
ANEW: Mapping[str, Callable[..., Tensor | None]] = {
    "entropy": _entropy,
    "where": _where,
    "cross_entropy": _with_rows,
    "nll": _with_rows,
    "softmax": _softmax,
    "additive": _additive,
    "rope": _rope,
}
