"""From the text of a line to what it says, entry by entry.

Matrix forms are read as entries at indices of their own, so that
``dS == A * (dA - rowsum(A * dA))`` and
``dS[i, j] == A[i, j] * (dA[i, j] - sum(l, A[i, l] * dA[i, l]))`` are the same
line. How far an index runs follows from the places where it stands.

Functions of steps are read by the signatures that steps have. What they mean is defined anew,
here and in :mod:`symattn.calculus.row_functions`, in sums, deltas and steps over axes of any
size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction
from math import prod
from types import NoneType
from typing import Any, Literal, cast, get_args, get_origin

from symattn.calculus import language as term
from symattn.calculus import row_functions
from symattn.calculus.language import Array, Axis, AxisPlace, Entry, Expr, Index, Number
from symattn.calculus.masks import is_indicator
from symattn.calculus.matrix_forms import Forms, told_apart
from symattn.calculus.row_functions import (
    DEFINITIONS,
    Places,
    as_single,
    compared,
    each_entry,
    meaning,
    need_matrix,
    refused_hidden,
    scaled,
    size_of,
)
from symattn.calculus.tensors import (
    FUNCTIONS,
    OTHERS,
    Entries,
    LineScope,
    ParsedLine,
    Tensor,
    above,
    before,
    constant,
    described,
    exp,
    lettered,
    letters_of,
    minus,
    misplaced,
    number,
    plus,
    position,
    rational,
    times,
    whole,
)
from symattn.errors import Malformed, alike
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree
from symattn.programs import functions as steps
from symattn.programs.functions import ALIASES, calls
from symattn.programs.functions import FUNCTIONS as STEP_FUNCTIONS

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


@meaning
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


@meaning
def _stack(forms: Forms, *parts: Tensor) -> Tensor:
    if any(len(part.axes) != 1 for part in parts):
        raise Malformed("stack takes vectors: concat(..., axis=0) joins matrices")
    return _concat(forms, *parts, axis=0)


@meaning
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


@meaning
def _outer(forms: Forms, x: Tensor, y: Tensor) -> Tensor:
    if not len(x.axes) == len(y.axes) == 1:
        raise Malformed(f"expected vectors, found {described(x.axes)}, {described(y.axes)}")
    return Tensor(
        x.axes + y.axes,
        lambda at: times(x.entry(at[:1]), y.entry(at[1:])),
    )


@meaning
def _diag(forms: Forms, x: Tensor) -> Tensor:
    return forms.reduced("diag", x)


@meaning
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


@meaning
def _eye(forms: Forms, n: Axis) -> Tensor:
    return Tensor((n, n), lambda at: term.Delta(*at))


@meaning
def _zeros(forms: Forms, rows: Axis, columns: Axis | None = None) -> Tensor:
    return _filled(term.ZERO, rows, columns)


@meaning
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


@meaning
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


@meaning
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


@meaning
def _head(forms: Forms, x: Tensor, k: int, heads: Axis) -> Tensor:
    need_matrix("head", x)
    columns, count = _numbered(x.axes[1], "head"), _numbered(heads, "head")
    if columns % count or k >= count:
        raise Malformed(f"there is no head {k} of {count} of {columns} columns")
    width = columns // count
    return _picked(x, (x.axes[0], width), [None, range(k * width, (k + 1) * width)])


@meaning
def _rows(forms: Forms, x: Tensor) -> Tensor:
    return _length(x, 0)


@meaning
def _cols(forms: Forms, x: Tensor) -> Tensor:
    return _length(x, -1)


@meaning
def _causal(forms: Forms, x: Tensor, align: str = "top-left") -> Tensor:
    need_matrix("causal", x)
    forms.comparable(x.axes)
    return _hidden(x, lambda at: forms.at_most(at, x.axes))


@meaning
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


@meaning
def _window(forms: Forms, x: Tensor, left: int, right: int = 0) -> Tensor:
    need_matrix("window", x)
    forms.comparable(x.axes)

    def keep(at: Places) -> Expr:
        return times(forms.at_least(at, x.axes, -left), forms.at_most(at, x.axes, right))

    return _hidden(x, keep)


@meaning
def _padding(forms: Forms, x: Tensor, lengths: Tensor) -> Tensor:
    need_matrix("padding", x)
    # Of a whole number a half more or less is never equal to a place.
    end = plus(as_single(lengths, "the length"), number(Fraction(-1, 2)))
    return _hidden(x, lambda at: above(end, _as_number(at[1])))


@meaning
def _alibi(forms: Forms, x: Tensor, slope: Tensor) -> Tensor:
    need_matrix("alibi", x)
    forms.comparable(x.axes)
    step, axes = as_single(slope, "the slope"), x.axes

    def entry(at: Places) -> Expr:
        sign = minus(times(number(2), forms.at_most(at, axes)), term.ONE)
        apart = minus(_as_number(at[0]), _as_number(at[1]))
        return minus(x.entry(at), term.Mul((step, sign, apart)))

    return Tensor(axes, entry, x.keep)


@meaning
def _softcap(forms: Forms, x: Tensor, cap: Tensor) -> Tensor:
    most, tanh = as_single(cap, "the cap"), FUNCTIONS["tanh"]
    return Tensor(
        x.axes,
        lambda at: times(most, tanh(term.Div(x.entry(at), most))),
    )


@meaning
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


@meaning
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


# -- lines -------------------------------------------------------------------------------

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
"""Functions that take hidden scores."""


def named() -> list[str]:
    """The functions of steps that lines know."""
    return [name for name in steps.FUNCTIONS if name in DEFINITIONS or name in FUNCTIONS]


def _whole(tree: Tree, where: str, kind: Any) -> int:
    match tree:
        case syntax.Literal(text) if text.isdigit() and (kind is calls.Count or int(text) < 2):
            return int(text)
        case syntax.Negative(syntax.Literal("1")) if kind is calls.Axis:
            return -1
    wanted = "a whole number" if kind is calls.Count else "-1 or 1, along rows, or 0, down columns"
    raise Malformed(f"{where}: expected {wanted}, found {syntax.text(tree)}")


INFINITE = ("oo", "inf")
RESERVED = (
    *FUNCTIONS,
    *("softmax", "logsumexp", "sum", "mean", "rowsum", "colsum", "total", "diag", "ones", "zeros"),
    "eye",
)
"""Functions of steps whose names nothing else has."""
_FEW = 8
"""A line speaks of each place by itself along axes that are no longer."""
PLAIN = ("i", "j", "k", "l")
"""Letters that are indices also where they stand as numbers only."""


def line(text: str, scope: LineScope) -> ParsedLine:
    """Return what a line says. Raises :class:`Malformed` with what is wrong, and what to write."""
    return _Reader(scope).line(syntax.parse(text, letters=True), ("==",))


def hypothesis(text: str, scope: LineScope) -> ParsedLine:
    """Return what is assumed: an equation, or ``x > y`` or ``x >= y``. Raises
    :class:`Malformed`."""
    return _Reader(scope).line(syntax.parse(text, letters=True), ("==", ">", ">=", "<", "<="))


def definition(key: str, text: str, scope: LineScope) -> Array:
    """The array that ``key = "text"`` defines: ``A`` in matrix form, ``A[i, j]`` by entries.

    Raises :class:`Malformed`.
    """
    head = syntax.parse(key, letters=True)
    reader = _Reader(scope)
    match head:
        case syntax.Name(name):
            params: tuple[Index, ...] | None = None
        case syntax.Cell(syntax.Name(name), places):
            params = tuple(reader.parameter(place) for place in places)
        case _:
            raise Malformed(
                f"expected a name, or a name with indices such as 'G[i, k]', found {key!r}"
            )
    if name in (*scope.known(), *RESERVED, *OTHERS, "pi"):
        raise Malformed(f"{name!r} is already in use; choose another name")
    tree = syntax.parse(text, letters=True)
    reader.letters = frozenset((*reader.free, *letters_of(tree)))
    tensor = reader.scores(tree)
    if params is None:
        if tensor.keep is not None:
            scope.hidden[name] = tensor.keep
        if tensor.is_row:
            scope.rows.add(name)
        params = tuple(Index(letter, axis) for letter, axis in lettered(tensor.axes))
        at = tuple(map(AxisPlace, params))
        body = tensor.entry(at)
        if isinstance(body, Entry) and "." in body.array.name and body.at == at:
            # What stood for itself has its name now.
            assert body.array.body is not None
            params, body = body.array.params, body.array.body
    else:
        if tensor.axes:
            raise Malformed("expected a number for each entry, found a matrix")
        refused_hidden(tensor)
        body = tensor.entry(())
    reader.settle([index for index in reader.free.values() if index not in params])
    axes = tuple(index.size for index in params)
    return Array(name, axes, params, body, uses=term.arrays(body), along=tuple(reader.laid))


def _place_by_place(
    entry: Entries, axes: tuple[Axis, ...], at: tuple[AxisPlace, ...], before: tuple[AxisPlace, ...]
) -> Expr:
    """An entry, told by its place along axes that have a number of places."""
    if not axes:
        return entry(before)
    (axis, *rest), (place, *after) = axes, at
    if not isinstance(axis, int) or axis > _FEW:
        return _place_by_place(entry, tuple(rest), tuple(after), (*before, place))
    return told_apart(
        axis,
        place,
        lambda p: _place_by_place(
            entry, tuple(rest), tuple(after), (*before, AxisPlace(offset=p + 1))
        ),
    )


class _Reader(Forms):
    """Reads one text: its indices, and how far they run."""

    # -- lines -----------------------------------------------------------------

    def line(self, tree: Tree, relations: tuple[str, ...]) -> ParsedLine:
        match tree:
            case syntax.Comparison(operands, (relation, *rest)) if set(rest) <= {relation}:
                pass
            case _:
                raise Malformed("expected two sides with '==' between them")
        if relation not in relations or (relation != "==" and len(operands) > 2):
            raise Malformed("expected '==' between the sides of a line")
        if relation in ("<", "<="):
            operands, relation = operands[::-1], relation.replace("<", ">")
        self.letters = frozenset(letters_of(tree))
        tensors = [self.tensor(side) for side in operands]
        whole = tensors[0]
        for tensor in tensors[1:]:
            whole = self.pairwise(whole, tensor, lambda x, _: x, "the sides")
        words = {1: ["entry"], 2: ["row", "column"]}.get(len(whole.axes))
        words = words or [f"axis{place}" for place in range(1, len(whole.axes) + 1)]
        own = [Index(word, axis) for word, axis in zip(words, whole.axes, strict=True)]
        at = tuple(map(AxisPlace, own))
        entries = [self.spread(tensor, whole.axes) for tensor in tensors]
        sides = tuple(_place_by_place(entry, whole.axes, at, ()) for entry in entries)
        self.settle([])
        return ParsedLine(sides, (*self.free.values(), *own), relation, tuple(self.laid))

    # -- values ----------------------------------------------------------------

    def number(self, tree: Tree) -> Expr:
        tensor = self.tensor(tree)
        if tensor.axes:
            raise Malformed(f"expected a number, found {described(tensor.axes)}")
        return tensor.entry(())

    def tensor(self, tree: Tree) -> Tensor:
        return refused_hidden(self.scores(tree))

    def scores(self, tree: Tree) -> Tensor:
        match tree:
            case syntax.Literal(text):
                return constant(Number(Fraction(text)))
            case syntax.Name(name):
                return self._named(name)
            case syntax.Negative(operand):
                return self._each(operand, term.Neg)
            case syntax.Binary("@", left, right):
                return self.product(self.tensor(left), self.tensor(right))
            case syntax.Binary("*" | "/" as op, left, right):
                return scaled(self, self.scores(left), self.scores(right), op)
            case syntax.Binary("+", left, right):
                return self.pairwise(self.scores(left), self.scores(right), plus, "'+'")
            case syntax.Binary(op, left, right):
                return self.pairwise(self.scores(left), self.tensor(right), minus, f"'{op}'")
            case syntax.Power(base, exponent):
                return self._power(self.tensor(base), exponent)
            case syntax.Transposed(operand):
                inner = self.scores(operand)
                if not inner.axes and isinstance(operand, syntax.Cell):
                    raise Malformed("an entry has no transpose: write the entry of one, X.T[i, j]")
                is_column = len(inner.axes) == 1 or inner.axes[1:] == (1,)
                return replace(self.transposed(inner), is_row=is_column)
            case syntax.Cell(operand, places):
                return self._cell(operand, places)
            case syntax.Call():
                return self._call(tree)
            case syntax.Gradient(of):
                raise Malformed(
                    f"write diff(L, {of}), and which quantity the loss L is a function of"
                    ' under [losses], such as L = "Y"'
                )
            case syntax.Comparison():
                raise Malformed(
                    "expected a value, found a comparison: step(j <= i) is 1 where it holds"
                )
        raise Malformed("expected a value")

    def _named(self, name: str) -> Tensor:
        if name in self.bound:
            return position(self.bound[name])
        if name in self.scope.arrays:
            array = whole(self.scope.arrays[name])
            is_row = name in self.scope.rows
            return replace(array, keep=self.scope.hidden.get(name), is_row=is_row)
        if name in self.scope.sizes:
            return constant(term.Size(name))
        if name in self.scope.permutations:
            raise Malformed(f"{name} is a permutation: write where it sends an index, {name}[i]")
        if name == "pi":
            return constant(term.Constant("pi"))
        # Where there is one size only, it is clear how far a plain index runs.
        alone = name in PLAIN and len(self.scope.sizes) == 1
        if name in self.letters or alone:
            return position(self.free.get(name) or self.index(name, self.free))
        close = get_close_matches(name, self.scope.known(), n=1)
        hint = f"did you mean {close[0]}?" if close else self.scope.advice
        raise Malformed(f"unknown name {name!r}; {hint}")

    def _each(self, operand: Tree, function: Callable[[Expr], Expr]) -> Tensor:
        inner = self.tensor(operand)
        return replace(inner, entry=lambda at: function(inner.entry(at)))

    def _power(self, base: Tensor, exponent: Tree) -> Tensor:
        fixed = rational(exponent)
        if len(base.axes) == 2 and base.axes[0] == base.axes[1] != 1 and fixed != 1:
            raise Malformed(
                f"a power of {described(base.axes)} may be one of matrices, or entry by entry:"
                " write A @ A for the one, A * A for the other, or A[i, j]**2"
            )
        if fixed is not None:
            return replace(base, entry=lambda at: term.Power(base.entry(at), fixed))

        def raised(x: Expr, y: Expr) -> Expr:
            return exp(times(y, term.Apply("log", x)))

        return self.pairwise(base, self.tensor(exponent), raised, "'**'")

    def _cell(self, operand: Tree, places: tuple[Tree, ...]) -> Tensor:
        if isinstance(operand, syntax.Name) and operand.name in self.scope.permutations:
            raise Malformed(
                f"{operand.name}[...] is a place: write it in brackets, x[{operand.name}[i]]"
            )
        tensor = self.scores(operand)
        name = operand.name if isinstance(operand, syntax.Name) else "what is before the bracket"
        if len(places) != len(tensor.axes):
            raise Malformed(misplaced(name, len(tensor.axes), len(places)))
        keys = [key if isinstance(key, syntax.Slice) else self.place(key) for key in places]
        for key, axis in zip(keys, tensor.axes, strict=True):
            if isinstance(key, AxisPlace):
                self.along(key, axis, name)
        return sliced(tensor, keys, name)

    # -- functions -------------------------------------------------------------

    def _call(self, call: syntax.Call) -> Tensor:
        name, arguments = call.function, call.arguments
        if name in ("sum", "mean") and self._has_letters(call):
            if call.options:
                raise Malformed(f"{name} over an index has no options")
            return self._sum(name, arguments)
        if name in UNSAYABLE or name in ALIASES or name in STEP_FUNCTIONS:
            return self.step_call(call)
        if call.options:
            raise Malformed(f"{name} has no options")
        if name in ("delta", "step"):
            return self._indicator(name, arguments)
        if name == "diff":
            return self._derivative(arguments)
        if name == "limit":
            return self._limit(arguments)
        if name == "operations":
            return self._operations(arguments)
        if name in OTHERS:
            return self.reduced(name, self.tensor(self._only(name, arguments)))
        every = [*named(), *OTHERS]
        hint = alike(name, every) or f"there are {', '.join(every)}"
        raise Malformed(f"there is no function {name!r}; {hint}")

    def _has_letters(self, call: syntax.Call) -> bool:
        """Return whether a sum is over indices, not of all entries or along an axis."""
        match call.arguments:
            case (syntax.Name(name), syntax.Literal() | syntax.Negative()):
                return name not in self.scope.arrays
            case (_, syntax.Literal() | syntax.Negative()) | (_,):
                return False
        return bool(call.arguments)

    def _only(self, name: str, arguments: tuple[Tree, ...]) -> Tree:
        if len(arguments) != 1:
            raise Malformed(f"{name} takes one argument, found {len(arguments)}")
        return arguments[0]

    def _sum(self, name: str, arguments: tuple[Tree, ...]) -> Tensor:
        first, *rest, body = arguments
        if not isinstance(first, syntax.Name):
            raise Malformed(f"{name} takes indices before what is summed, as in {name}(j, x[j])")
        array = self.scope.arrays.get(first.name)
        if array is not None and not (array.axes and first.name in letters_of(body)):
            raise Malformed(f"{name}: {first.name} is given, expected an index such as j")
        if first.name in self.scope.sizes:
            raise Malformed(f"{name}: {first.name} is a size, expected an index such as j")
        with self.binding(first.name) as index:
            inner = self._sum(name, (*rest, body)) if rest else self.tensor(body)

        def entry(at: tuple[AxisPlace, ...]) -> Expr:
            total: Expr = term.Sum(index, inner.entry(at))
            return term.Div(total, term.Size(index)) if name == "mean" else total

        return Tensor(inner.axes, entry)

    def _indicator(self, name: str, arguments: tuple[Tree, ...]) -> Tensor:
        build: Callable[[AxisPlace, AxisPlace], Expr] = term.Delta
        match name, arguments:
            case "delta", (left, right):
                first, second = self.place(left), self.place(right)
            case "step", (syntax.Comparison((left, right), (relation,)),) if relation != "==":
                if not self._are_places(left, right):
                    return self._step_of_values(left, right, relation)
                if relation in (">", ">="):
                    left, right, relation = right, left, relation.replace(">", "<")
                first, second = self.place(left), self.place(right)
                build = term.AtMost if relation == "<=" else before
            case "delta", _:
                raise Malformed("delta takes two places, as in delta(i, j)")
            case _:
                raise Malformed("step takes a comparison of two places, as in step(j <= i)")
        self.meet(first, second, name)
        return Tensor((), lambda _: build(first, second))

    def _are_places(self, *sides: Tree) -> bool:
        parts = [part for side in sides for part in syntax.walk(side)]
        return not any(
            isinstance(part, syntax.Call)
            or (isinstance(part, syntax.Name) and self._is_array(part.name))
            for part in parts
        )

    def _is_array(self, name: str) -> bool:
        return name in self.scope.arrays and name not in self.bound

    def _step_of_values(self, left: Tree, right: Tree, relation: str) -> Tensor:
        if relation in (">", ">="):
            left, right, relation = right, left, relation.replace(">", "<")
        if relation == "<=":
            raise Malformed("step of values is 1 where one is below the other: write step(x < y)")
        return self.pairwise(
            self.tensor(right),
            self.tensor(left),
            lambda x, y: term.Apply("positive", plus(x, term.Neg(y))),
            "step",
        )

    def _derivative(self, arguments: tuple[Tree, ...]) -> Tensor:
        match arguments:
            case (of, syntax.Name(name)):
                places: tuple[Tree, ...] | None = None
            case (of, syntax.Cell(syntax.Name(name), indices)):
                places = indices
            case _:
                raise Malformed(
                    "diff takes what is differentiated and an entry, as in diff(A[i], S[k])"
                )
        if name not in self.scope.arrays:
            raise Malformed(f"diff: {name!r} is neither given nor defined")
        array, body = self.scope.arrays[name], self.tensor(of)
        self._need_built(body, array)
        if places is not None:
            at = tuple(map(self.place, places))
            if len(at) != len(array.axes):
                raise Malformed(misplaced(name, len(array.axes), len(at)))
            for place, axis in zip(at, array.axes, strict=True):
                self.along(place, axis, name)
            return Tensor(body.axes, lambda here: term.Partial(body.entry(here), array, at))
        own = len(body.axes)
        return Tensor(
            (*body.axes, *array.axes),
            lambda here: term.Partial(body.entry(here[:own]), array, here[own:]),
        )

    def _need_built(self, body: Tensor, array: Array) -> None:
        """What is differentiated by something that is defined has to be built of that, or share
        nothing with it."""
        if array.body is None:
            return
        params = tuple(AxisPlace(Index(letter, axis)) for letter, axis in lettered(body.axes))
        named = term.arrays(body.entry(params))
        if array not in named and (shared := named & array.uses):
            names = ", ".join(sorted(each.name for each in shared if "." not in each.name))
            raise Malformed(
                f"diff by {array.name} of what is not built of it: both depend on {names}; what is"
                " to vary must be given, or stand in what is differentiated"
            )

    def _limit(self, arguments: tuple[Tree, ...]) -> Tensor:
        match arguments:
            case (syntax.Name(name), target, body) if name in self.scope.arrays:
                variable = self.scope.arrays[name]
            case _:
                raise Malformed(
                    "limit takes a given number, where it goes, and what tends: limit(x, 0, ...)"
                )
        if variable.axes or variable.body is not None:
            raise Malformed(f"limit: expected a given number, found {name}")
        goal: Fraction | str | None
        match target:
            case syntax.Name(word) if word in INFINITE:
                goal = "oo"
            case syntax.Negative(syntax.Name(word)) if word in INFINITE:
                goal = "-oo"
            case _:
                goal = rational(target)
        if goal is None:
            raise Malformed("limit: expected a number, oo or -oo as where it goes")
        inner = self.tensor(body)
        return Tensor(
            inner.axes,
            lambda at: term.Limit(inner.entry(at), variable, cast("Fraction", goal)),
        )

    def _operations(self, arguments: tuple[Tree, ...]) -> Tensor:
        arrays = []
        for argument in arguments:
            if not isinstance(argument, syntax.Name) or argument.name not in self.scope.arrays:
                raise Malformed("operations takes the names of what is defined")
            array = self.scope.arrays[argument.name]
            if array.body is None:
                raise Malformed(f"operations: {argument.name} is given, not computed")
            arrays.append(array)
        return constant(term.Operations(tuple(arrays)))

    # -- functions of steps --------------------------------------------------------------

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
