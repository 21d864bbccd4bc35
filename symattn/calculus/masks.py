"""Masks, which are 0 or 1: by its form, or because a file takes it to be so."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields, replace

from symattn.calculus import language as term
from symattn.calculus.language import Expr
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree

# -- by its form -------------------------------------------------------------------------


def is_indicator(value: Expr, masks: Collection[str]) -> bool:
    """Return whether a number is 0 or 1 wherever the entries of ``masks`` are."""
    match value:
        case term.Number(known):
            return known in (0, 1)
        case term.Delta() | term.AtMost() | term.Apply("positive", _):
            return True
        case term.Apply("exp", term.Number(score)):
            # exp(causal(zeros(n, n))) is 1 where a score counts.
            return score == 0
        case term.Entry(array, _):
            defined = array.body
            return array.name in masks or (defined is not None and is_indicator(defined, masks))
        case term.Add((term.Number(one), term.Neg(rest))) if one == 1:
            return is_indicator(rest, masks)
        case term.Add(parts):
            return _is_one_at_most(parts) and all(is_indicator(part, masks) for part in parts)
        case term.Mul(parts):
            return all(is_indicator(part, masks) for part in parts)
    return False


def _is_one_at_most(parts: tuple[Expr, ...]) -> bool:
    """Return whether of terms that are 0 or 1 no two are 1 at once."""
    match parts:
        case (term.Apply("positive", more), term.Apply("positive", less)):
            # Of x > y and y > x.
            others = [(-sign, part) for sign, part in _terms(less)]
            for sign, part in _terms(more):
                alike = [pair for pair in others if pair[0] == sign and same(part, pair[1])]
                if not alike:
                    return False
                others.remove(alike[0])
            return not others
    apart = [
        part.factors[0]
        for part in parts
        if isinstance(part, term.Mul) and isinstance(part.factors[0], term.Delta)
    ]
    places = {(delta.first, delta.second) for delta in apart if isinstance(delta, term.Delta)}
    return (
        len(places) == len(parts)
        and len({first for first, _ in places}) == 1
        and not any(place.index or place.size or place.images for _, place in places)
    )


def _terms(value: Expr, sign: int = 1) -> list[tuple[int, Expr]]:
    match value:
        case term.Add(parts):
            return [each for part in parts for each in _terms(part, sign)]
        case term.Neg(body):
            return _terms(body, -sign)
    return [(sign, value)]


def same(x: object, y: object) -> bool:
    """Return whether two expressions are written alike; sums over indices of their own are not."""
    match x, y:
        case Expr(), Expr():
            return type(x) is type(y) and all(
                same(getattr(x, part.name), getattr(y, part.name))
                for part in fields(x)  # type: ignore[arg-type]
            )
        case tuple(), tuple():
            return len(x) == len(y) and all(map(same, x, y))
    return x == y


def vanishes_without(value: Expr, keep: Expr) -> bool:
    """Return whether a number is 0 for certain wherever ``keep`` is, by the factors of both."""
    factors = [*_factors(value)]
    return all(
        any(same(factor, other) or _implies(factor, other) for factor in factors)
        for other in _factors(keep)
    )


def _factors(value: Expr) -> Iterator[Expr]:
    match value:
        case term.Mul(parts):
            for part in parts:
                yield from _factors(part)
        case term.Entry(array, at) if array.body and not any(place.images for place in at):
            by = dict(zip(array.params, at, strict=True))
            yield from _factors(term.replaced(array.body, by))
        case _:
            yield value


def _implies(factor: Expr, other: Expr) -> bool:
    """Return whether the same places are in order, too: ``delta(i, j)``, ``step(j <= i)``."""
    match factor, other:
        case term.Delta(x, y), term.AtMost(first, second):
            for a, b in ((x, y), (y, x)):
                before, after = first.offset - a.offset, second.offset - b.offset
                alike = replace(first, offset=0) == replace(a, offset=0)
                alike = alike and replace(second, offset=0) == replace(b, offset=0)
                if alike and not (a.images or b.images) and before <= after:
                    return True
    return False


# -- because a file takes it to be so ----------------------------------------------------


def assumed(tree: Tree, sizes: Collection[str]) -> str | None:
    """The array all of whose entries a hypothesis says to be 0 or 1: ``M * M == M``.

    >>> assumed(syntax.parse("M[i, j] * M[i, j] == M[i, j]", letters=True), ["n"])
    'M'
    """
    match tree:
        case syntax.Comparison((syntax.Binary("*", one, two), three), ("==",)):
            if one == two == three:
                match one:
                    case syntax.Name(name):
                        return name
                    case syntax.Cell(syntax.Name(name), places):
                        letters = {x.name for x in places if isinstance(x, syntax.Name)}
                        whole = len(letters) == len(places) and letters.isdisjoint(sizes)
                        return name if whole else None
    return None


def hiding(tree: Tree) -> Iterator[str]:
    """The names of what hides scores by itself, as M in ``mask(S, M)`` and ``where(M.T, S, Y)``."""
    for part in syntax.walk(tree):
        if isinstance(part, syntax.Call):
            slot, _ = _slot(part)
            if slot is not None and (name := _named(slot)):
                yield name


def is_used_otherwise(name: str, tree: Tree, as_factor: bool = False) -> bool:
    """Return whether an array is used for more than to hide scores, and as a factor."""

    def otherwise(part: Tree, as_factor: bool = False) -> bool:
        return is_used_otherwise(name, part, as_factor)

    match tree:
        case syntax.Name() | syntax.Cell(syntax.Name()) if _named(tree) == name:
            return not as_factor
        case syntax.Transposed(operand) | syntax.Negative(operand):
            return otherwise(operand, as_factor)
        case syntax.Binary("*" | "@", left, right):
            return otherwise(left, True) or otherwise(right, True)
        case syntax.Binary("/", left, right):
            return otherwise(left, True) or otherwise(right)
        case syntax.Binary("-", syntax.Literal("1"), right):
            return otherwise(right, as_factor)
        case syntax.Call():
            slot, others = _slot(tree)
            if slot is not None:
                beside = any(name in syntax.names(part) for part in others)
                return beside or otherwise(slot, _named(slot) == name)
    return any(map(otherwise, syntax.inside(tree)))


def _slot(call: syntax.Call) -> tuple[Tree | None, list[Tree]]:
    """Return what of a call is to be 0 or 1, and the rest of it."""
    options = dict(call.options)
    place = {"mask": 1, "where": 0}.get(call.function)
    if place is None:
        return None, []
    arguments = [*call.arguments]
    slot = arguments.pop(place) if len(arguments) > place else options.pop("M", None)
    return slot, [*arguments, *options.values()]


def _named(tree: Tree) -> str | None:
    """The array of which a tree is all, some entries, or the transpose."""
    match tree:
        case syntax.Name(name):
            return name
        case syntax.Transposed(operand) | syntax.Cell(operand, _):
            return _named(operand)
    return None
