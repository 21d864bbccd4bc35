"""Functions of steps, of entries and of rows, by their definitions for any size; losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

from symattn.calculus import language as term
from symattn.calculus.language import Axis, AxisPlace, Expr, Index
from symattn.calculus.masks import vanishes_without
from symattn.calculus.matrix_forms import Forms
from symattn.calculus.tensors import (
    FUNCTIONS,
    Tensor,
    above,
    described,
    exp,
    minus,
    number,
    plus,
    times,
)
from symattn.errors import Malformed

Places = tuple[AxisPlace, ...]

DEFINITIONS: dict[str, Callable[..., Tensor]] = {}
"""What functions of steps mean, by name."""

_HIDDEN = (
    "a hidden score is minus infinity, no number: take exp, softmax, logsumexp, log_softmax or "
    "max of the scores first"
)


def meaning(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Makes what a function of steps means known by its name."""
    DEFINITIONS[function.__name__.strip("_")] = function
    return function


def size_of(axis: Axis) -> Expr:
    """The length of an axis as a number."""
    return number(axis) if isinstance(axis, int) else term.Size(axis)


def need_matrix(name: str, x: Tensor) -> None:
    """See to it that something has rows and columns."""
    if len(x.axes) != 2:
        raise Malformed(f"{name} takes a matrix, found {described(x.axes)}")


def refused_hidden(x: Tensor) -> Tensor:
    """A tensor that has no hidden scores. Raises :class:`Malformed` for others."""
    if x.keep is not None:
        raise Malformed(_HIDDEN)
    return x


# -- entry by entry ----------------------------------------------------------------------

_relu = FUNCTIONS["relu"]


def each_entry(name: str, x: Tensor) -> Tensor:
    """A function of every entry; of what may have hidden scores only the exponential."""
    function, keep = FUNCTIONS[name], x.keep
    if keep is None:
        return replace(x, entry=lambda at: function(x.entry(at)))
    # The exponential of a hidden score is 0.
    return Tensor(x.axes, lambda at: times(keep(at), exp(x.entry(at))))


def as_single(x: Tensor, what: str) -> Expr:
    """The one entry of a number."""
    if x.axes:
        raise Malformed(f"expected a number as {what}, found {described(x.axes)}")
    return x.entry(())


def compared(forms: Forms, left: Tensor, right: Tensor, sign: str) -> Tensor:
    """1 where a comparison of values holds, else 0."""

    def told(x: Expr, y: Expr) -> Expr:
        more, less = above(x, y), above(y, x)
        apart = plus(more, less)
        return {
            ">": more,
            "<": less,
            ">=": minus(term.ONE, less),
            "<=": minus(term.ONE, more),
            "!=": apart,
            "==": minus(term.ONE, apart),
        }[sign]

    return forms.pairwise(left, right, told, f"'{sign}'")


@meaning
def _gelu(forms: Forms, x: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "none":
        return each_entry("gelu", x)
    slope = term.Power(term.Div(number(2), term.Constant("pi")), Fraction(1, 2))

    def entry(value: Expr) -> Expr:
        cubed = term.Mul((number(Fraction(44715, 10**6)), term.Power(value, Fraction(3))))
        inner = FUNCTIONS["tanh"](term.Mul((slope, plus(value, cubed))))
        return term.Mul((number(Fraction(1, 2)), value, plus(term.ONE, inner)))

    return Tensor(x.axes, lambda at: entry(x.entry(at)))


@meaning
def _abs(forms: Forms, x: Tensor) -> Tensor:
    return forms.pairwise(x, _sign(forms, x), times, "abs")


@meaning
def _sign(forms: Forms, x: Tensor) -> Tensor:
    def entry(at: Places) -> Expr:
        value = x.entry(at)
        return minus(above(value, term.ZERO), above(term.ZERO, value))

    return Tensor(x.axes, entry)


@meaning
def _maximum(forms: Forms, x: Tensor, y: Tensor) -> Tensor:
    return forms.pairwise(x, y, lambda a, b: plus(b, _relu(minus(a, b))), "maximum")


@meaning
def _minimum(forms: Forms, x: Tensor, y: Tensor) -> Tensor:
    return forms.pairwise(x, y, lambda a, b: minus(a, _relu(minus(a, b))), "minimum")


@meaning
def _clip(forms: Forms, x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    return _minimum(forms, _maximum(forms, x, low), high)


def scaled(forms: Forms, x: Tensor, y: Tensor, op: str) -> Tensor:
    """A product or a quotient; hidden scores stay hidden where the other is above 0."""
    combine: Callable[[Expr, Expr], Expr] = times if op == "*" else term.Div
    if y.keep and (x.keep or op == "/"):
        raise Malformed(_HIDDEN)
    other = y if x.keep else x
    scales = x.keep or y.keep
    if scales and not (other.axes == () and _is_positive(other.entry(()))):
        raise Malformed(
            f"'{op}': scores that are hidden, minus infinity, are scaled only by a number "
            "that is above 0 for certain: scale before they are masked, as in causal(S / t)"
        )
    return forms.pairwise(x, y, combine, f"'{op}'")


# -- rows and columns --------------------------------------------------------------------


def _along(forms: Forms, axis: int, x: Tensor, of_rows: Callable[[Tensor], Tensor]) -> Tensor:
    """Return what a function of rows gives along an axis."""
    if axis == 0 and len(x.axes) == 2:
        return forms.transposed(of_rows(forms.transposed(x)))
    if not x.axes:
        raise Malformed("expected a row or a matrix, found a number")
    if axis >= 0 and len(x.axes) != 2:
        raise Malformed(f"there is no axis {axis} of {described(x.axes)}: -1 is along its rows")
    return of_rows(x)


def _row_totals(forms: Forms, x: Tensor, name: str = "rowsum") -> Tensor:
    *front, last = x.axes

    def summed(at: Places) -> Expr:
        index = Index("r", last)
        return term.Sum(index, x.entry((*at[: len(front)], AxisPlace(index))))

    axes = (*front, 1) if front else ()
    return forms.once(name, Tensor(axes, summed))


@meaning
def _rowsum(forms: Forms, x: Tensor) -> Tensor:
    need_matrix("rowsum", x)
    return _row_totals(forms, x)


@meaning
def _colsum(forms: Forms, x: Tensor) -> Tensor:
    need_matrix("colsum", x)
    return _sum(forms, x, 0)


def _need_row(name: str, x: Tensor, axis: int | None) -> None:
    if not x.axes:
        raise Malformed(f"{name}: expected a row or a matrix, found a number")
    if axis is not None and not -len(x.axes) <= axis < len(x.axes):
        raise Malformed(f"{name}: there is no axis {axis} of {described(x.axes)}")


@meaning
def _total(forms: Forms, x: Tensor) -> Tensor:
    _need_row("total", x, None)
    return forms.total("total", x)


@meaning
def _sum(forms: Forms, x: Tensor, axis: int | None = None) -> Tensor:
    _need_row("sum", x, axis)
    if axis is None or len(x.axes) < 2:
        return forms.total("total", x)
    return _along(forms, axis, x, partial(_row_totals, forms))


@meaning
def _mean(forms: Forms, x: Tensor, axis: int | None = None) -> Tensor:
    _need_row("mean", x, axis)
    if axis is None or len(x.axes) < 2:
        return forms.total("average", x)
    return over(_sum(forms, x, axis), size_of(x.axes[0 if axis == 0 else -1]))


def over(x: Tensor, count: Expr) -> Tensor:
    """Every entry divided by a number."""
    return Tensor(x.axes, lambda at: term.Div(x.entry(at), count))


def difference(forms: Forms, x: Tensor, y: Tensor) -> Tensor:
    """``x - y``."""
    return forms.pairwise(x, y, minus, "'-'")


def _root(x: Tensor) -> Tensor:
    return each_entry("sqrt", x)


def squared(x: Tensor) -> Tensor:
    """The square of every entry."""
    return Tensor(x.axes, lambda at: term.Power(x.entry(at), Fraction(2)))


@meaning
def _var(forms: Forms, x: Tensor, axis: int | None = None, ddof: int = 0) -> Tensor:
    apart = difference(forms, x, _mean(forms, x, axis))
    if not ddof:
        return _mean(forms, squared(apart), axis)
    axes = x.axes if axis is None else x.axes[:1] if axis == 0 else x.axes[-1:]
    count = term.Mul(tuple(map(size_of, axes)))
    return over(_sum(forms, squared(apart), axis), minus(count, number(ddof)))


@meaning
def _std(forms: Forms, x: Tensor, axis: int | None = None, ddof: int = 0) -> Tensor:
    return _root(_var(forms, x, axis, ddof))


@meaning
def _cumsum(forms: Forms, x: Tensor, axis: int = -1) -> Tensor:
    def of_rows(row: Tensor) -> Tensor:
        def summed(at: Places) -> Expr:
            index = Index("r", row.axes[-1])
            entry = row.entry((*at[:-1], AxisPlace(index)))
            return term.Sum(index, times(term.AtMost(AxisPlace(index), at[-1]), entry))

        return forms.once("cumsum", Tensor(row.axes, summed))

    return _along(forms, axis, x, of_rows)


# -- extremes ----------------------------------------------------------------------------


def _row_largest(forms: Forms, x: Tensor) -> Tensor:
    """The mean of those entries of a row than which no other is larger."""
    last, keep = x.axes[-1], x.keep

    def is_largest(at: Places) -> Expr:
        index = Index("r", last)
        other = (*at[:-1], AxisPlace(index))
        apart = minus(term.ONE, term.Delta(at[-1], AxisPlace(index)))
        counted = (apart, keep(other)) if keep else (apart,)
        beyond = term.Mul((*counted, above(x.entry(other), x.entry(at))))
        # A number of entries is a whole number: none, or more than a half.
        none = above(number(Fraction(1, 2)), term.Sum(index, beyond))
        return term.Mul((keep(at), none)) if keep else none

    largest = forms.once("largest", Tensor(x.axes, is_largest))
    taken = Tensor(x.axes, lambda at: times(largest.entry(at), x.entry(at)))
    total, count = _row_totals(forms, taken), _row_totals(forms, largest)
    return forms.once("max", forms.pairwise(total, count, term.Div, "max"))


@meaning
def _rowmax(forms: Forms, x: Tensor) -> Tensor:
    need_matrix("rowmax", x)
    return _row_largest(forms, x)


@meaning
def _rowmin(forms: Forms, x: Tensor) -> Tensor:
    return negative(_rowmax(forms, negative(x)))


def negative(x: Tensor) -> Tensor:
    """``-x``."""
    if x.keep:
        raise Malformed(_HIDDEN)
    return Tensor(x.axes, lambda at: term.Neg(x.entry(at)))


@meaning
def _max(forms: Forms, x: Tensor, axis: int | None = None) -> Tensor:
    _need_row("max", x, axis)
    if axis is not None:
        return _along(forms, axis, x, partial(_row_largest, forms))
    if len(x.axes) == 1:
        return _row_largest(forms, x)
    need_matrix("max", x)
    column = forms.transposed(_row_largest(forms, x))
    row = _row_largest(forms, column)
    return Tensor((), lambda _: row.entry((AxisPlace(offset=1),) * 2))


@meaning
def _min(forms: Forms, x: Tensor, axis: int | None = None) -> Tensor:
    _need_row("min", x, axis)
    return negative(_max(forms, negative(x), axis))


# -- softmax -----------------------------------------------------------------------------


def _powers(forms: Forms, x: Tensor) -> tuple[Tensor, Tensor]:
    """The exponentials of rows, and their sums, each a thing of its own: its
    derivative is taken once."""
    powers = each_entry("exp", x)
    return powers, _row_totals(forms, powers, "sum")


@meaning
def _softmax(forms: Forms, x: Tensor, axis: int = -1, sink: Tensor | None = None) -> Tensor:
    def of_rows(row: Tensor) -> Tensor:
        powers, sums = _powers(forms, row)
        if sink is not None:
            if sink.axes not in ((), (1, 1), (*row.axes[:-1], 1), row.axes[:-1]):
                raise Malformed(f"a sink is a number, or a column, found {described(sink.axes)}")
            sums = forms.once("sum", forms.pairwise(sums, each_entry("exp", sink), plus, "sink"))
        return forms.once("softmax", forms.pairwise(powers, sums, term.Div, "softmax"))

    return _along(forms, axis, x, of_rows)


@meaning
def _logsumexp(forms: Forms, x: Tensor, axis: int = -1) -> Tensor:
    def of_rows(row: Tensor) -> Tensor:
        return forms.once("logsumexp", each_entry("log", _powers(forms, row)[1]))

    return _along(forms, axis, x, of_rows)


@meaning
def log_softmax(forms: Forms, x: Tensor, axis: int = -1) -> Tensor:
    """``x - logsumexp(x)``; what is hidden stays so."""
    return _along(forms, axis, x, lambda row: difference(forms, row, _logsumexp(forms, row)))


@meaning
def _entropy(forms: Forms, x: Tensor, axis: int = -1) -> Tensor:
    logarithms = forms.pairwise(x, each_entry("log", x), times, "entropy")
    return negative(_sum(forms, logarithms, axis if len(x.axes) > 1 else None))


# -- norms -------------------------------------------------------------------------------


def _fitted(x: Tensor, vector: Tensor | None, combine: Callable[..., Expr]) -> Tensor:
    """Rows combined with a vector, entry by entry along each row."""
    if vector is None:
        return x
    if vector.axes not in ((), x.axes[-1:], (1, *x.axes[-1:])):
        raise Malformed(
            f"expected as many numbers as a row has, {x.axes[-1]}, found {described(vector.axes)}"
        )
    own = len(vector.axes)

    def entry(at: Places) -> Expr:
        places = (AxisPlace(offset=1), at[-1])[2 - own :]
        return combine(x.entry(at), vector.entry(places))

    return Tensor(x.axes, entry)


@meaning
def _layernorm(
    forms: Forms,
    x: Tensor,
    gamma: Tensor | None = None,
    beta: Tensor | None = None,
    *,
    eps: Tensor,
) -> Tensor:
    small = as_single(eps, "eps")
    apart = difference(forms, x, _mean(forms, x, _rows(x)))
    unit = _normed(forms, apart, _mean(forms, squared(apart), _rows(x)), small)
    return _fitted(_fitted(unit, gamma, times), beta, plus)


@meaning
def _rmsnorm(forms: Forms, x: Tensor, gamma: Tensor | None = None, *, eps: Tensor) -> Tensor:
    small = as_single(eps, "eps")
    mean = _mean(forms, squared(x), _rows(x))
    return _fitted(_normed(forms, x, mean, small), gamma, times)


def _rows(x: Tensor) -> int:
    if not x.axes:
        raise Malformed("expected a row or a matrix, found a number")
    return -1


def _normed(forms: Forms, x: Tensor, square: Tensor, eps: Expr) -> Tensor:
    spread = Tensor(square.axes, lambda at: plus(square.entry(at), eps))
    deviation = forms.once("deviation", _root(spread))
    return forms.once("normed", forms.pairwise(x, deviation, term.Div, "norm"))


@meaning
def _norm(forms: Forms, x: Tensor, axis: int | None = None) -> Tensor:
    return forms.once("norm", _root(_sum(forms, squared(x), axis)))


@meaning
def _l2norm(forms: Forms, x: Tensor) -> Tensor:
    return forms.pairwise(x, _norm(forms, x, _rows(x)), term.Div, "l2norm")


def _is_positive(value: Expr) -> bool:
    """Return whether a number is above 0 wherever it can be divided by."""
    match value:
        case term.Number(known):
            return known > 0
        case term.Size() | term.Constant() | term.Apply("exp", _):
            return True
        case term.Power(base, exponent):
            return exponent.denominator % 2 == 0 or _is_positive(base)
        case term.Mul(parts) | term.Add(parts):
            return all(map(_is_positive, parts))
        case term.Div(upper, lower):
            return _is_positive(upper) and _is_positive(lower)
    return False


# -- losses of steps ---------------------------------------------------------------------

BY_ROWS = (
    "whole numbers that name places are no numbers that a line computes with: give a row of 0 "
    "and 1 for each, as in 'T: n x m' with 'assume sum(c, T[i, c]) = 1'"
)


def _weighted(forms: Forms, targets: Tensor, levels: Tensor, x: Tensor) -> Tensor:
    """Minus the mean over rows of weighted logarithms; one that is hidden has no weight.

    It is infinite where a target is not 0 there: targets have to be 0 by their form.
    """
    if targets.axes != x.axes or not x.axes:
        raise Malformed(
            f"expected targets of the shape of what they are for, {described(x.axes)}, found "
            f"{described(targets.axes)}: {BY_ROWS}"
        )
    counted = Tensor(levels.axes, levels.entry)
    terms = forms.pairwise(targets, counted, times, "targets")
    if levels.keep:
        at = tuple(AxisPlace(Index("i", axis)) for axis in x.axes)
        if not vanishes_without(targets.entry(at), levels.keep(at)):
            raise Malformed(
                "the loss is infinite where a level is hidden and its target is not 0: multiply "
                "the targets by what is kept, as in tril(T) beside causal(S), T * M beside "
                "mask(S, M), without label_smoothing"
            )
        kept = Tensor(levels.axes, levels.keep)
        terms = forms.pairwise(kept, terms, times, "targets")
    loss = negative(forms.total("total", terms))
    return loss if len(x.axes) == 1 else over(loss, size_of(x.axes[0]))


@meaning
def _cross_entropy(
    forms: Forms, x: Tensor, targets: Tensor, label_smoothing: Tensor | None = None
) -> Tensor:
    levels = log_softmax(forms, x)
    if label_smoothing is not None and targets.axes:
        share, classes = as_single(label_smoothing, "label_smoothing"), targets.axes[-1]
        sharp = targets
        targets = Tensor(
            sharp.axes,
            lambda at: plus(
                times(minus(term.ONE, share), sharp.entry(at)),
                term.Div(share, size_of(classes)),
            ),
        )
    return _weighted(forms, targets, levels, x)


@meaning
def _nll(forms: Forms, x: Tensor, targets: Tensor) -> Tensor:
    return _weighted(forms, targets, x, x)


def _need_alike(x: Tensor, y: Tensor) -> None:
    if x.axes != y.axes:
        raise Malformed(
            f"expected two of one shape, found {described(x.axes)} and {described(y.axes)}"
        )


@meaning
def _binary_cross_entropy(forms: Forms, x: Tensor, targets: Tensor) -> Tensor:
    _need_alike(x, targets)

    def entry(level: Expr, target: Expr) -> Expr:
        rest = times(minus(term.ONE, target), term.Apply("log", minus(term.ONE, level)))
        return plus(times(target, term.Apply("log", level)), rest)

    terms = forms.pairwise(x, targets, entry, "targets")
    return negative(forms.total("average", terms))


@meaning
def _mse(forms: Forms, x: Tensor, targets: Tensor) -> Tensor:
    _need_alike(x, targets)
    return forms.total("average", squared(difference(forms, x, targets)))
