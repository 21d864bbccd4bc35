"""Losses of steps, by their definitions for any size."""

from __future__ import annotations

from symattn.calculus import language as term
from symattn.calculus.language import AxisPlace, Expr, Index
from symattn.calculus.masks import vanishes_without
from symattn.calculus.matrix_forms import Forms
from symattn.calculus.row_functions import (
    as_single,
    definition,
    difference,
    log_softmax,
    negative,
    over,
    size_of,
    squared,
)
from symattn.calculus.tensors import Tensor, described, minus, plus, times
from symattn.errors import Malformed

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


@definition
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


@definition
def _nll(forms: Forms, x: Tensor, targets: Tensor) -> Tensor:
    return _weighted(forms, targets, x, x)


def _need_alike(x: Tensor, y: Tensor) -> None:
    if x.axes != y.axes:
        raise Malformed(
            f"expected two of one shape, found {described(x.axes)} and {described(y.axes)}"
        )


@definition
def _binary_cross_entropy(forms: Forms, x: Tensor, targets: Tensor) -> Tensor:
    _need_alike(x, targets)

    def entry(level: Expr, target: Expr) -> Expr:
        rest = times(minus(term.ONE, target), term.Apply("log", minus(term.ONE, level)))
        return plus(times(target, term.Apply("log", level)), rest)

    terms = forms.pairwise(x, targets, entry, "targets")
    return negative(forms.total("average", terms))


@definition
def _mse(forms: Forms, x: Tensor, targets: Tensor) -> Tensor:
    _need_alike(x, targets)
    return forms.total("average", squared(difference(forms, x, targets)))
