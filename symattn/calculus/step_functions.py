"""Calls of the functions of steps, read by the signatures that steps have.

What they mean is defined anew, here and in :mod:`symattn.calculus.row_functions`, in sums,
deltas and steps over axes of any size.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from symattn import syntax
from symattn.calculus import language as term
from symattn.calculus import row_functions
from symattn.calculus.language import Axis, AxisPlace, Expr, Index
from symattn.calculus.masks import is_indicator
from symattn.calculus.matrix_forms import Forms, told_apart
from symattn.calculus.row_functions import (
    DEFINITIONS,
    Places,
    as_single,
    compared,
    definition,
    each_entry,
    need_matrix,
    size_of,
)
from symattn.calculus.tensors import (
    FUNCTIONS,
    Entries,
    Tensor,
    above,
    constant,
    described,
    exp,
    minus,
    number,
    plus,
    times,
)
from symattn.errors import Malformed
from symattn.programs import functions as steps
from symattn.programs.functions import calls
from symattn.syntax import Tree

# -- functions of steps that tell places apart -------------------------------------------
# Slices, tables, positions, masks of scores.
#
# What is picked or put together by its place needs an axis whose length is a number: the place 2c
# of a row, or a size that is a sum, is nothing that can be said for any size.

_WIDEST = 64
"""An axis whose places are told apart one by one is at most so long."""


# -- entries put elsewhere ---------------------------------------------------------------


def sliced(x: Tensor, keys: Sequence[syntax.Slice | AxisPlace], name: str) -> Tensor:
    """Places along some axes, slices of others, counted as in Python."""
    axes: list[Axis] = []
    picked: list[range | AxisPlace | None] = []
    for key, axis in zip(keys, x.axes, strict=True):
        if isinstance(key, AxisPlace):
            picked.append(key)
        elif key == syntax.Slice(None, None, None):
            axes.append(axis)
            picked.append(None)
        else:
            length = _numbered(axis, name)
            some = range(length)[key.start : key.stop : key.step]
            if not some or max(key.start or 0, key.stop or 0) > length:
                raise Malformed(f"{name} ends at {length}, found the slice {syntax.text(key)}")
            axes.append(len(some))
            picked.append(some)
    return _picked(x, tuple(axes), picked)


def _picked(
    x: Tensor, axes: tuple[Axis, ...], picked: Sequence[range | AxisPlace | None]
) -> Tensor:
    """Some places along each axis; None for all of them."""

    def of(entries: Entries) -> Entries:
        def entry(at: Places) -> Expr:
            return _at(picked, at, (), entries)

        return entry

    return Tensor(axes, of(x.entry), x.keep and of(x.keep))


@definition
def _concat(forms: Forms, *parts: Tensor, axis: int = -1) -> Tensor:
    if not parts or not all(part.axes for part in parts):
        raise Malformed("concat takes matrices or vectors")
    if axis == 0:
        return forms.transposed(_beside(*(_turned_up(forms, part) for part in parts)))
    return _beside(*parts)


def _turned_up(forms: Forms, x: Tensor) -> Tensor:
    """Rows as columns; a vector is a row here, as one below others is."""
    if len(x.axes) == 1:
        return x.moved((*x.axes, 1), lambda at: at[:1])
    return forms.transposed(x)


def _beside(*parts: Tensor) -> Tensor:
    if len({part.axes[:-1] for part in parts}) > 1:
        listed = ", ".join(described(part.axes) for part in parts)
        raise Malformed(f"concat needs as many rows in every part, found {listed}")
    places = [
        (part, place) for part in parts for place in range(_numbered(part.axes[-1], "concat"))
    ]
    length = _numbered(len(places), "concat")

    def of(which: Callable[[Tensor], Entries]) -> Entries:
        def entry(at: Places) -> Expr:
            def value(p: int) -> Expr:
                part, own = places[p]
                return which(part)((*at[:-1], AxisPlace(offset=own + 1)))

            return told_apart(length, at[-1], value)

        return entry

    keep = of(lambda part: part.keep or (lambda _: term.ONE))
    hidden = any(part.keep for part in parts)
    axes = (*parts[0].axes[:-1], length)
    return Tensor(axes, of(lambda part: part.entry), keep if hidden else None)


@definition
def _stack(forms: Forms, *parts: Tensor) -> Tensor:
    if any(len(part.axes) != 1 for part in parts):
        raise Malformed("stack takes vectors: concat(..., axis=0) joins matrices")
    return _concat(forms, *parts, axis=0)


@definition
def _reshape(forms: Forms, x: Tensor, rows: Axis, columns: Axis | None = None) -> Tensor:
    axes = [_numbered(axis, "reshape") for axis in x.axes]
    target = (rows,) if columns is None else (rows, columns)
    lengths = [_numbered(axis, "reshape") for axis in target]
    count, width = prod(axes), axes[-1] if axes else 1
    if prod(lengths) != count:
        raise Malformed(f"{described(x.axes)} has {count} entries, not {prod(lengths)}")

    def at_number(p: int) -> Expr:
        own = (p // width, p % width)[2 - len(axes) :]
        return x.entry(tuple(AxisPlace(offset=place + 1) for place in own))

    def entry(at: Places) -> Expr:
        last = lengths[-1]
        if len(at) == 1:
            return told_apart(last, at[0], at_number)
        return told_apart(
            lengths[0],
            at[0],
            lambda p: told_apart(last, at[1], lambda q: at_number(p * last + q)),
        )

    return Tensor(target, entry)


@definition
def _outer(forms: Forms, x: Tensor, y: Tensor) -> Tensor:
    if not len(x.axes) == len(y.axes) == 1:
        raise Malformed(f"expected vectors, found {described(x.axes)}, {described(y.axes)}")
    return Tensor(
        x.axes + y.axes,
        lambda at: times(x.entry(at[:1]), y.entry(at[1:])),
    )


@definition
def _diag(forms: Forms, x: Tensor) -> Tensor:
    return forms.reduced("diag", x)


@definition
def _repeat(forms: Forms, x: Tensor, times: Axis, axis: int = 0) -> Tensor:
    count = _numbered(times, "repeat")
    if axis == 0 and len(x.axes) == 2:
        return forms.transposed(_repeated(forms.transposed(x), count))
    return _repeated(x, count)


def _repeated(x: Tensor, count: int) -> Tensor:
    if not x.axes:
        raise Malformed("repeat takes a vector or a matrix, found a number")
    length = _numbered(_numbered(x.axes[-1], "repeat") * count, "repeat")

    def back(p: int, at: Places) -> Places:
        return (*at[:-1], AxisPlace(offset=p // count + 1))

    return Tensor(
        (*x.axes[:-1], length),
        lambda at: told_apart(length, at[-1], lambda p: x.entry(back(p, at))),
    )


@definition
def _eye(forms: Forms, n: Axis) -> Tensor:
    return Tensor((n, n), lambda at: term.Delta(*at))


@definition
def _zeros(forms: Forms, rows: Axis, columns: Axis | None = None) -> Tensor:
    return _filled(term.ZERO, rows, columns)


@definition
def _ones(forms: Forms, rows: Axis, columns: Axis | None = None) -> Tensor:
    return _filled(term.ONE, rows, columns)


def _filled(value: Expr, rows: Axis, columns: Axis | None) -> Tensor:
    return Tensor((rows,) if columns is None else (rows, columns), lambda _: value)


# -- positions ---------------------------------------------------------------------------


def _turn(at: Expr, pair: int, d: int, base: Tensor | None) -> Expr:
    """The angle of a pair of columns at a position: position times base^(-2 pair / d)."""
    share = Fraction(-2 * pair, d)
    if base is None:
        frequency: Expr = term.Power(number(10000), share)
    else:
        logarithm = term.Apply("log", as_single(base, "base"))
        frequency = exp(times(number(share), logarithm))
    return times(at, frequency) if pair else at


@definition
def _positions(forms: Forms, n: Axis, d: Axis, *, base: Tensor | None = None) -> Tensor:
    width = _even(_numbered(d, "positions"))

    def entry(at: Places) -> Expr:
        def value(p: int) -> Expr:
            angle = _turn(_as_number(at[0]), p // 2, width, base)
            return term.Apply("cos" if p % 2 else "sin", angle)

        return told_apart(width, at[1], value)

    return Tensor((n, width), entry)


def _even(d: int) -> int:
    if d % 2:
        raise Malformed(f"expected an even number of columns, as they go in pairs, found {d}")
    return d


@definition
def _rope(
    forms: Forms,
    x: Tensor,
    positions: Tensor | None = None,
    *,
    base: Tensor | None = None,
    interleaved: bool = True,
) -> Tensor:
    if positions is not None and positions.axes not in ((), x.axes[:1]):
        raise Malformed(
            f"expected a position for each of {x.axes[0]} rows, found {described(positions.axes)}"
        )

    def position(row: AxisPlace) -> Expr:
        if positions is None:
            return _as_number(row)
        return positions.entry((row,)[: len(positions.axes)])

    if len(x.axes) == 3 and x.axes[2] == 2:
        return _rope_of_pairs(x, position, base)
    need_matrix("rope", x)
    if not isinstance(x.axes[1], int):
        raise Malformed(
            f"rope turns pairs of columns, of which there are none for any {x.axes[1]}: give "
            "pairs an axis of their own, as in 'X: n x p x 2', or that axis a number"
        )
    width = _even(_numbered(x.axes[1], "rope"))
    half = width // 2

    def entry(at: Places) -> Expr:
        def value(p: int) -> Expr:
            pair = p // 2 if interleaved else p % half
            is_first = p % 2 == 0 if interleaved else p < half
            apart = 1 if interleaved else half
            own, other = (
                x.entry((at[0], AxisPlace(offset=q + 1)))
                for q in (p, p + apart if is_first else p - apart)
            )
            return _turned(_turn(position(at[0]), pair, width, base), own, other, is_first)

        return told_apart(width, at[1], value)

    return Tensor(x.axes, entry)


def _rope_of_pairs(x: Tensor, position: Callable[[AxisPlace], Expr], base: Tensor | None) -> Tensor:
    """Pairs that have an axis of their own: there may be any number of them."""
    logarithm = term.Apply("log", number(10000) if base is None else as_single(base, "base"))

    def entry(at: Places) -> Expr:
        share = term.Div(_as_number(at[1]), size_of(x.axes[1]))
        angle = times(position(at[0]), exp(term.Neg(times(share, logarithm))))

        def value(p: int) -> Expr:
            own, other = (x.entry((*at[:2], AxisPlace(offset=q + 1))) for q in (p, 1 - p))
            return _turned(angle, own, other, not p)

        return told_apart(2, at[2], value)

    return Tensor(x.axes, entry)


def _turned(angle: Expr, own: Expr, other: Expr, is_first: bool) -> Expr:
    """One of a pair turned by an angle."""
    cos, sin = term.Apply("cos", angle), term.Apply("sin", angle)
    return (minus if is_first else plus)(times(own, cos), times(other, sin))


# -- scores ------------------------------------------------------------------------------


def _hidden(x: Tensor, keep: Entries) -> Tensor:
    before = x.keep
    both = keep if before is None else lambda at: times(before(at), keep(at))
    return Tensor(x.axes, x.entry, both)


@definition
def _head(forms: Forms, x: Tensor, k: int, heads: Axis) -> Tensor:
    need_matrix("head", x)
    columns, count = _numbered(x.axes[1], "head"), _numbered(heads, "head")
    if columns % count or k >= count:
        raise Malformed(f"there is no head {k} of {count} of {columns} columns")
    width = columns // count
    return _picked(x, (x.axes[0], width), [None, range(k * width, (k + 1) * width)])


@definition
def _rows(forms: Forms, x: Tensor) -> Tensor:
    return _length(x, 0)


@definition
def _cols(forms: Forms, x: Tensor) -> Tensor:
    return _length(x, -1)


@definition
def _causal(forms: Forms, x: Tensor, align: str = "top-left") -> Tensor:
    need_matrix("causal", x)
    forms.comparable(x.axes)
    return _hidden(x, lambda at: forms.at_most(at, x.axes))


@definition
def _mask(forms: Forms, x: Tensor, M: Tensor) -> Tensor:
    _need_indicator("mask", forms, M)
    fits = forms.pairwise(x, M, lambda a, _: a, "mask")
    if fits.axes != x.axes:
        raise Malformed(f"a mask of {described(M.axes)} doesn't fit scores of {described(x.axes)}")
    return _hidden(x, forms.spread(M, x.axes))


def _need_indicator(name: str, forms: Forms, M: Tensor) -> None:
    at = tuple(AxisPlace(Index("i", axis)) for axis in M.axes)
    if not is_indicator(M.entry(at), forms.scope.masks):
        raise Malformed(
            f"{name} takes a given array of 0 and 1, or a comparison: write {name}"
            f"{'(S, X != 0)' if name == 'mask' else '(X != 0, S, Y)'} of what is computed, and "
            "'assume M * M = M' of an array M that stands in it"
        )


@definition
def _window(forms: Forms, x: Tensor, left: int, right: int = 0) -> Tensor:
    need_matrix("window", x)
    forms.comparable(x.axes)

    def keep(at: Places) -> Expr:
        return times(forms.at_least(at, x.axes, -left), forms.at_most(at, x.axes, right))

    return _hidden(x, keep)


@definition
def _padding(forms: Forms, x: Tensor, lengths: Tensor) -> Tensor:
    need_matrix("padding", x)
    # Of a whole number a half more or less is never equal to a place.
    end = plus(as_single(lengths, "the length"), number(Fraction(-1, 2)))
    return _hidden(x, lambda at: above(end, _as_number(at[1])))


@definition
def _alibi(forms: Forms, x: Tensor, slope: Tensor) -> Tensor:
    need_matrix("alibi", x)
    forms.comparable(x.axes)
    step, axes = as_single(slope, "the slope"), x.axes

    def entry(at: Places) -> Expr:
        sign = minus(times(number(2), forms.at_most(at, axes)), term.ONE)
        apart = minus(_as_number(at[0]), _as_number(at[1]))
        return minus(x.entry(at), term.Mul((step, sign, apart)))

    return Tensor(axes, entry, x.keep)


@definition
def _softcap(forms: Forms, x: Tensor, cap: Tensor) -> Tensor:
    most, tanh = as_single(cap, "the cap"), FUNCTIONS["tanh"]
    return Tensor(
        x.axes,
        lambda at: times(most, tanh(term.Div(x.entry(at), most))),
    )


@definition
def _additive(forms: Forms, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    if not (len(q.axes) == len(k.axes) == 2 and q.axes[1:] == k.axes[1:] == v.axes):
        listed = ", ".join(described(x.axes) for x in (q, k, v))
        raise Malformed(
            f"expected matrices of as many columns as the vector is long, found {listed}"
        )
    tanh = FUNCTIONS["tanh"]

    def entry(at: Places) -> Expr:
        index = Index("r", v.axes[0])
        c = AxisPlace(index)
        level = tanh(plus(q.entry((at[0], c)), k.entry((at[1], c))))
        return term.Sum(index, times(v.entry((c,)), level))

    return forms.once("additive", Tensor((q.axes[0], k.axes[0]), entry))


def _length(x: Tensor, axis: int) -> Tensor:
    if not x.axes:
        raise Malformed("a number has no rows and columns")
    return constant(size_of(x.axes[axis]))


@definition
def _where(forms: Forms, M: Tensor, x: Tensor, y: Tensor | None) -> Tensor:
    if y is None:
        return _mask(forms, x, M)
    _need_indicator("where", forms, M)
    first = forms.pairwise(M, x, times, "where")
    rest = Tensor(M.axes, lambda at: minus(term.ONE, M.entry(at)))
    return forms.pairwise(first, forms.pairwise(rest, y, times, "where"), plus, "where")


def _as_number(place: AxisPlace) -> Expr:
    """A place as a number, 0 at the first entry as steps count."""
    if place.images:
        raise Malformed("where a permutation sends an index is no number to compute with")
    start: list[Expr] = [term.Position(place.index)] if place.index else []
    start += [term.Size(place.size)] if place.size else []
    return term.Add((*start, number(place.offset - 1))) if start else number(place.offset - 1)


def _numbered(axis: Axis, name: str) -> int:
    if not isinstance(axis, int):
        raise Malformed(
            f"{name}: the places of an axis of {axis} are not told apart for any {axis}: "
            "give that axis a number as its length, or heads and pairs an axis of their own, "
            "as in 'Q: n x h x d' and Q[:, a, :]"
        )
    if axis > _WIDEST:
        raise Malformed(f"{name}: an axis of {axis} is longer than {_WIDEST}")
    return axis


def _at(
    picked: Sequence[range | AxisPlace | None],
    at: Places,
    before: Places,
    entries: Entries,
) -> Expr:
    """An entry among the places picked along each axis."""
    if not picked:
        return entries(before)
    key, *rest = picked
    if isinstance(key, AxisPlace):
        return _at(rest, at, (*before, key), entries)
    if key is None:
        return _at(rest, at[1:], (*before, at[0]), entries)
    return told_apart(
        len(key),
        at[0],
        lambda p: _at(rest, at[1:], (*before, AxisPlace(offset=key[p] + 1)), entries),
    )


# -- step functions ----------------------------------------------------------------------

UNSAYABLE: Mapping[str, str] = {
    "onehot": f"{row_functions.BY_ROWS}, and write T",
    "embedding": f"{row_functions.BY_ROWS}, and write T @ E",
    "heads": "write the columns of each head, Q[:, 0:2], or give heads an axis of their own: "
    "'Q: n x h x d' and Q[:, a, :]",
    "merge": "write the heads side by side: concat(Y_0, Y_1)",
}
"""Functions that can't be said for any size: why, and what to write instead."""

_OF_SCORES = (
    *("exp", "softmax", "logsumexp", "log_softmax", "rowmax", "max", "causal", "mask", "window"),
    *("padding", "alibi", "head", "cross_entropy", "nll", "rows", "cols"),
)
"""What takes hidden scores."""


def named() -> list[str]:
    """The functions of steps that lines know."""
    return [name for name in steps.FUNCTIONS if name in DEFINITIONS or name in FUNCTIONS]


class StepCalls(Forms):
    """Reads the functions of steps."""

    sliced = staticmethod(sliced)

    @abstractmethod
    def tensor(self, tree: Tree) -> Tensor:
        """Return what a tree stands for, which has no hidden scores."""

    @abstractmethod
    def scores(self, tree: Tree) -> Tensor:
        """Return what a tree stands for, of which scores may be hidden."""

    def step_call(self, call: syntax.Call) -> Tensor:
        """Return what a function of steps gives."""
        name = steps.ALIASES.get(call.function, call.function)
        if name in UNSAYABLE:
            raise Malformed(f"{call.function}: {UNSAYABLE[name]}")
        function = steps.FUNCTIONS[name]
        if name in ("max", "min") and len(call.arguments) > 1:
            raise Malformed(
                f"{name}: write axis={syntax.text(call.arguments[1])} for an axis; the larger of"
                " two numbers is maximum(x, y), the smaller minimum(x, y)"
            )
        read = {
            option: self._argument(function, option, tree)
            for option, tree in function.given(call).items()
        }
        if name in FUNCTIONS and len(read) == 1:
            return each_entry(name, read["x"])
        parts = map(self.scores, call.arguments) if function.takes_parts else ()
        return DEFINITIONS[name](self, *parts, **read)

    def _argument(self, function: calls.StepFunction, name: str, tree: Tree) -> Any:
        """Return what an argument is, by what it may be."""
        annotation = function.parameters[name].annotation
        allowed = get_args(annotation) if get_origin(annotation) is not Literal else (annotation,)
        allowed = allowed or (annotation,)
        word = tree.text if isinstance(tree, syntax.Word) else None
        if word == "None" and NoneType in allowed:
            return None
        where = f"{function.name}: {name}"
        for kind in allowed:
            if get_origin(kind) is Literal or kind is bool:
                choices = {str(choice): choice for choice in get_args(kind) or (True, False)}
                choice = tree.name if isinstance(tree, syntax.Name) else word
                if choice not in choices:
                    raise Malformed(f"{where}: expected {' or '.join(choices)}")
                return choices[choice]
            if kind is calls.Size:
                return self.size(tree, where)
            if kind in (calls.Axis, calls.Count):
                return _whole(tree, where, kind)
        if word is not None:
            raise Malformed(f"{where}: expected a value, found {word}")
        if name == "M" and isinstance(tree, syntax.Comparison):
            if len(tree.operands) != 2:
                raise Malformed(f"{where}: expected one comparison, such as X > 0")
            left, right = map(self.tensor, tree.operands)
            return compared(self, left, right, tree.relations[0])
        if function.name == "where" and name == "y" and tree == syntax.Negative(syntax.Name("inf")):
            return None
        may_hide = function.name in _OF_SCORES and name == "x"
        return self.scores(tree) if may_hide else self.tensor(tree)

    def size(self, tree: Tree, where: str) -> Axis:
        """A size: its name, a number, ``rows(X)`` or ``cols(X)``."""
        match tree:
            case syntax.Name(name) if name in self.scope.sizes:
                return name
            case syntax.Literal(text) if text.isdigit() and int(text):
                return int(text)
            case syntax.Call("rows" | "cols" as side, (of,), ()):
                axes = self.scores(of).axes
                if axes:
                    return axes[0 if side == "rows" else -1]
        raise Malformed(f"{where}: expected a size, a whole number above 0, rows(X) or cols(X)")


def _whole(tree: Tree, where: str, kind: Any) -> int:
    match tree:
        case syntax.Literal(text) if text.isdigit() and (kind is calls.Count or int(text) < 2):
            return int(text)
        case syntax.Negative(syntax.Literal("1")) if kind is calls.Axis:
            return -1
    wanted = "a whole number" if kind is calls.Count else "-1 or 1, along rows, or 0, down columns"
    raise Malformed(f"{where}: expected {wanted}, found {syntax.text(tree)}")
