"""Printed values inside trees: figures and arrays of them, their shapes and places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeGuard

from symattn.documents.text import Span
from symattn.documents.trees import NOWHERE, Member, Opaque, PrintedFigure, walk
from symattn.expressions import syntax
from symattn.expressions.shapes import Nested, Shape


def figures(tree: Member) -> Iterator[PrintedFigure]:
    """All figures of a tree that stand somewhere, in order.

    >>> pair = syntax.Array((PrintedFigure("1", Span(3, 4)), PrintedFigure("2")))
    >>> [one.text for one in figures(pair)]
    ['1']
    """
    waiting = [tree]
    while waiting:
        match waiting.pop():
            case PrintedFigure() as figure:
                if figure.span != NOWHERE:
                    yield figure
            case Opaque() as unknown:
                waiting.extend(reversed(unknown.figures))
            case part:
                waiting.extend(reversed(syntax.inside(part)))


def signed(tree: Member) -> Member:
    """The tree with each sign before a figure in the figure itself.

    >>> syntax.text(signed(syntax.Negative(PrintedFigure("1", Span(4, 5)))))
    '-1'
    """
    match tree:
        case Opaque() | PrintedFigure():
            return tree
        case syntax.Negative(PrintedFigure(text, span)) if not text.startswith(("-", "+")):
            return PrintedFigure(f"-{text}", Span(max(span.start - 1, 0), span.end))
        case syntax.Array(items):
            # An item that is not understood makes the array no value, but stays in it.
            return replace(tree, items=tuple(signed(item) for item in items))  # type: ignore[misc]
    return tree


def power(base: syntax.Tree, times: int) -> syntax.Tree:
    """A matrix so many times multiplied with itself, as ``A^2`` means it.

    >>> syntax.text(power(syntax.Name("A"), 3))
    'A @ A @ A'
    """
    product = base
    for _ in range(times - 1):
        product = syntax.Binary("@", product, base)
    return product


#: Powers that are whole, or whole with a square root.
_ROOTS = re.compile(r"[0-9]*\.(?:[05]0*)?|.*%")
#: Powers of a matrix that are worked out.
_WHOLE = re.compile("[1-9]|1[0-6]")


class UnreadPower(Exception):
    """A power of a matrix that isn't worked out: its inverse, its root."""


def multiplied(base: syntax.Tree, exponent: syntax.Tree) -> syntax.Tree:
    """The power of a square matrix, as formulas mean it: a product, and not that of its
    entries. Raises :class:`UnreadPower` for one that is no product.

    >>> syntax.text(multiplied(syntax.Name("A"), syntax.Literal("3")))
    'A @ A @ A'
    """
    if isinstance(exponent, syntax.Literal) and _WHOLE.fullmatch(exponent.text):
        return power(base, int(exponent.text))
    raise UnreadPower


def with_powers(
    tree: syntax.Tree, sizes: Callable[[syntax.Tree], Shape | None]
) -> syntax.Tree | Opaque:
    """A tree with the powers of square matrices of ``sizes`` as products, broken powers
    of numbers by their logarithms, and a softmax of a column of numbers as that of a vector;
    nothing that is understood where a power isn't."""

    def product(part: syntax.Tree) -> syntax.Tree | None:
        match part:
            case syntax.Power(base, exponent) if is_square(sizes(base)):
                return multiplied(base, exponent)
            case syntax.Power(PrintedFigure()):
                return by_logarithm(part)
            case syntax.Call("softmax", (syntax.Array(rows),)) if all(
                isinstance(row, syntax.Array) and len(row.items) == 1 for row in rows
            ):
                vector = tuple(one for row in rows for one in syntax.inside(row))
                return syntax.Call("softmax", (syntax.Array(vector),))
        return None

    try:
        return syntax.replaced(tree, product)
    except UnreadPower:
        return Opaque(syntax.text(tree), figures=tuple(figures(tree)))


def by_logarithm(power: syntax.Power) -> syntax.Tree | None:
    """A power of a number by its logarithm, unless it is whole or one with a half; else None.

    >>> syntax.text(by_logarithm(syntax.parse("10000**(2/512)")))
    'exp(2 / 512 * log(10000))'
    """
    match power.exponent:
        case syntax.Literal(text) if "." not in text or _ROOTS.fullmatch(text):
            return None
        case syntax.Literal() | syntax.Binary() as times if isinstance(power.base, syntax.Literal):
            if not isinstance(times, syntax.Binary) or times.right != syntax.Literal("2"):
                product = syntax.Binary("*", times, syntax.Call("log", (power.base,)))
                return syntax.Call("exp", (product,))
    return None


def is_square(size: Shape | None) -> bool:
    """Return whether that is the shape of a square matrix of more than one entry."""
    return size is not None and len(size) == 2 and size[0] == size[1] > 1


def is_value(tree: Member) -> TypeGuard[syntax.Tree]:
    """Return whether it is a printed value: a figure, or an array of figures.

    >>> is_value(PrintedFigure("1")), is_value(syntax.parse("[1, x]"))
    (True, False)
    """
    match tree:
        case syntax.Array(items):
            return all(map(is_value, items)) and _is_even(items)
    return isinstance(tree, PrintedFigure)


def _is_even(items: tuple[syntax.Tree, ...]) -> bool:
    """Return whether items are all figures, or all rows of one length."""
    lengths = {len(item.items) if isinstance(item, syntax.Array) else -1 for item in items}
    return len(lengths) == 1


def is_share(tree: Member) -> bool:
    """Return whether it is a figure in percent."""
    return isinstance(tree, PrintedFigure) and tree.text.endswith("%")


def is_of_shapes(tree: syntax.Tree, value: syntax.Tree) -> bool:
    """Return whether a product is one of shapes: "(3, 2) x (2, 4) = (3, 4)".

    >>> is_of_shapes(syntax.parse("[3, 2] * [2, 4]"), syntax.parse("[3, 4]"))
    True
    """
    return isinstance(tree, syntax.Binary) and _contracted(tree) == texts(value)


def _contracted(tree: syntax.Tree) -> list[str]:
    match tree:
        case syntax.Array(items) if all(isinstance(one, syntax.Literal) for one in items):
            return texts(tree)
        case syntax.Binary("*" | "@", left, right):
            first, second = _contracted(left), _contracted(right)
            if first and second and first[-1] == second[0] and len(first) > 1:
                return [*first[:-1], *second[1:]]
    return []


def is_numeric(tree: Member) -> TypeGuard[syntax.Tree]:
    """Return whether it has numbers but no names, and is an expression, not a value."""
    return not isinstance(tree, Opaque) and not is_value(tree) and is_closed(tree)


def is_scientific(tree: syntax.Tree) -> bool:
    """Return whether it is one number, written with a power of ten.

    >>> thousand = syntax.Power(syntax.Literal("10"), syntax.Literal("3"))
    >>> is_scientific(thousand), is_scientific(syntax.parse("2 * 3"))
    (True, False)
    """
    match tree:
        case syntax.Binary("*", syntax.Literal(), syntax.Power() as power):
            return is_scientific(power)
        case syntax.Power(syntax.Literal("10"), _):
            return True
    return False


def is_closed(tree: Member) -> TypeGuard[syntax.Tree]:
    """Return whether nothing is named in it."""
    return not isinstance(tree, Opaque | syntax.Cell | syntax.Sequence) and not any(
        isinstance(part, syntax.Name | syntax.Gradient | Opaque | syntax.Cell)
        for part in walk(tree)
    )


def shape(tree: Member) -> Shape:
    """The shape of a printed value.

    >>> shape(syntax.parse("[[1, 2]]"))
    (1, 2)
    """
    match tree:
        case syntax.Array((syntax.Array(row), *_) as rows):
            return len(rows), len(row)
        case syntax.Array(items):
            return (len(items),)
    return ()


def printed(tree: syntax.Tree) -> Nested[str]:
    """The texts of a printed value, in its nesting."""
    match tree:
        case syntax.Array((syntax.Array(), *_) as rows):
            return tuple(_texts(row) for row in rows)
        case syntax.Array():
            return _texts(tree)
    assert isinstance(tree, syntax.Literal)
    return tree.text


def _texts(row: syntax.Tree) -> tuple[str, ...]:
    return tuple(entry.text for entry in syntax.inside(row) if isinstance(entry, syntax.Literal))


def of_texts(entries: Nested[str]) -> syntax.Tree:
    """Numbers as a printed value that stands nowhere.

    >>> syntax.text(of_texts((("1", "0.50"),)))
    '[[1, 0.50]]'
    """
    if isinstance(entries, str):
        return syntax.Literal(entries)
    return syntax.Array(tuple(map(of_texts, entries)))


def spans(tree: syntax.Tree) -> Nested[Span]:
    """The places of a printed value's figures, in its nesting."""
    match tree:
        case syntax.Array((syntax.Array(), *_) as rows):
            return tuple(_places(row) for row in rows)
        case syntax.Array():
            return _places(tree)
    return _place(tree)


def _places(row: syntax.Tree) -> tuple[Span, ...]:
    return tuple(map(_place, syntax.inside(row)))


def _place(tree: syntax.Tree) -> Span:
    return tree.span if isinstance(tree, PrintedFigure) else NOWHERE


def transposed(tree: syntax.Tree) -> syntax.Tree:
    """A printed matrix with its rows and columns exchanged.

    >>> syntax.text(transposed(syntax.parse("[[1, 2], [3, 4]]")))
    '[[1, 3], [2, 4]]'
    """
    assert isinstance(tree, syntax.Array)
    rows = [syntax.inside(row) for row in tree.items]
    return syntax.Array(tuple(syntax.Array(column) for column in zip(*rows, strict=True)))


def flat(tree: syntax.Tree) -> syntax.Tree:
    """A printed matrix of one row or one column as a vector, one of one entry as a number;
    else itself.

    >>> syntax.text(flat(syntax.parse("[[1], [3]]"))), syntax.text(flat(syntax.parse("[5]")))
    ('[1, 3]', '5')
    """
    match shape(tree):
        case (1, 1) | (1,):
            return next(iter(leaves(tree)))
        case (1, _) | (_, 1):
            return syntax.Array(tuple(leaves(tree)))
    return tree


def leaves(tree: syntax.Tree) -> Iterator[syntax.Tree]:
    """The entries of an array of any nesting; a tree that is none is its only one."""
    if isinstance(tree, syntax.Array):
        for item in tree.items:
            yield from leaves(item)
    else:
        yield tree


def texts(tree: syntax.Tree) -> list[str]:
    """The texts of all numbers of a printed value."""
    return [one.text for one in leaves(tree) if isinstance(one, syntax.Literal)]


def entries(value: syntax.Tree) -> Iterator[tuple[PrintedFigure, tuple[int, ...]]]:
    """The figures of a printed value, each with its index.

    >>> pair = syntax.Array((PrintedFigure("1"), PrintedFigure("2")))
    >>> [(one.text, keys) for one, keys in entries(pair)]
    [('1', (0,)), ('2', (1,))]
    """
    match value:
        case PrintedFigure():
            yield value, ()
        case syntax.Array(items):
            for i, item in enumerate(items):
                for figure, keys in entries(item):
                    yield figure, (i, *keys)
