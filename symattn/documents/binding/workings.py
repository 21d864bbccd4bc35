"""Workings: what the numbers in ``0.51 * 1 + 0.19 * 0 = 0.51`` are, from the recipe.

A quantity is unfolded by its definition, an entry of a product to a sum of products
of entries, an entry of a softmax to a quotient of exponentials; where numbers stand
in that very form, each is what stands there in the form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import comb

import numpy as np

from symattn.documents.binding import values
from symattn.documents.binding.bounds import interval, rounds
from symattn.documents.binding.evidence import information
from symattn.documents.binding.recipe import Recipe
from symattn.documents.trees import PrintedFigure, walk
from symattn.expressions import syntax

#: Sums of more terms than that are not unfolded.
_TERMS = 64
#: So many figures that are printed of one entry are compared with others.
_READINGS = 4
#: Of terms that may be left out, so many choices are tried.
_CHOICES = 20
#: A working is one of what numbers stand for that tell so many times more than the others.
_SURELY = 2

Bound = list[tuple[syntax.Tree, syntax.Tree]]
"""Printed values, each with the expression that it is the value of."""


def bindings(recipe: Recipe, target: syntax.Tree, numbers: syntax.Tree) -> tuple[float, Bound]:
    """Return what the values in an expression of numbers are, if it computes ``target``, and
    which part of them agrees: the unfolding of its form with the largest.

    Of two that agree alike the first, which is nearer to the definition. Nothing, and
    0, where no form fits.
    """
    best: Bound = []
    most = 0.0
    for bound in _matches(recipe, target, numbers, depth=4):
        share = _agreeing(recipe, bound) / len(bound) if bound else 0.0
        if share > most + 1e-9:
            best, most = bound, share
    return most, best


def _matches(
    recipe: Recipe, target: syntax.Tree, numbers: syntax.Tree, depth: int
) -> Iterator[Bound]:
    """The ways in which numbers have a form of the target."""
    if not any(isinstance(part, syntax.Literal) for part in walk(numbers)):
        # A name in it stands for what has its value.
        if _are_same(recipe, target, numbers):
            yield []
        return
    if numbers == target or isinstance(target, syntax.Literal):
        if isinstance(numbers, syntax.Literal) and numbers.text != getattr(target, "text", ""):
            return
        yield []
        return
    if values.is_value(numbers):
        for value in (numbers, values.flat(numbers)):
            if recipe.shape(target) == values.shape(value):
                yield [(value, target)]
                return
        return
    if isinstance(numbers, syntax.Array):
        yield from _entries(recipe, target, numbers, depth)
        return
    for form in _forms(recipe, target, depth):
        yield from _same(recipe, form, numbers, depth)


def _forms(recipe: Recipe, target: syntax.Tree, depth: int) -> list[syntax.Tree]:
    """The target, and what it is by the definitions: worked out once."""
    if (target, depth) not in recipe.forms:
        recipe.forms[target, depth] = [target, *_unfolded(recipe, target, depth)]
    return recipe.forms[target, depth]


def _entries(
    recipe: Recipe, target: syntax.Tree, numbers: syntax.Array, depth: int
) -> Iterator[Bound]:
    """Entries of an array that are worked by themselves."""
    shape = recipe.shape(target)
    if shape is None or not shape or shape[0] != len(numbers.items):
        return
    bound: Bound = []
    for place, item in enumerate(numbers.items):
        part = next(_matches(recipe, entry_at(recipe, target, (place,)), item, depth), None)
        if part is None:
            return
        bound += part
    yield bound


def _same(recipe: Recipe, form: syntax.Tree, numbers: syntax.Tree, depth: int) -> Iterator[Bound]:
    """The ways in which numbers match a form, part by part."""
    match form, numbers:
        case syntax.Binary("+", _, _), syntax.Binary("+", _, _):
            yield from _sums(recipe, terms(form), terms(numbers), depth)
        case syntax.Binary("+", _, _), syntax.Binary("-" | "*", _, _):
            yield from _sums(recipe, terms(form), terms(numbers), depth)
        case syntax.Binary("*" | "@", a, b), syntax.Binary("*" | "@", x, y):
            yield from _parts(recipe, [a, b], [x, y], depth)
            if form.op == "*":
                yield from _parts(recipe, [b, a], [x, y], depth)
        case syntax.Binary(op, a, b), syntax.Binary(other, x, y) if op == other:
            yield from _parts(recipe, [a, b], [x, y], depth)
        case syntax.Call(name, (a,)), syntax.Call(other, (x,)) if name == other:
            yield from _parts(recipe, [a], [x], depth)
        case (syntax.Negative(a), syntax.Negative(x)) | (
            syntax.Transposed(a),
            syntax.Transposed(x),
        ):
            yield from _parts(recipe, [a], [x], depth)


def _sums(
    recipe: Recipe, forms: list[syntax.Tree], numbers: list[syntax.Tree], depth: int
) -> Iterator[Bound]:
    """Terms one by one; where fewer are printed, zeros are left out: all of them, those at
    the end, or some."""
    missing = len(forms) - len(numbers)
    if missing < 0:
        return
    if missing == 0:
        yield from _parts(recipe, *_with_signs(forms, numbers), depth)
        if all(isinstance(one, syntax.Call) for one in forms):
            # Exponentials are added up in any order.
            yield from _parts(recipe, *_with_signs(forms[::-1], numbers), depth)
        return
    zeros = [k for k, form in enumerate(forms) if _is_zero(recipe, form)]
    if len(zeros) < missing or comb(len(zeros), missing) > _CHOICES:
        return
    for left_out in reversed(list(combinations(zeros, missing))):
        kept = [form for k, form in enumerate(forms) if k not in left_out]
        yield from _parts(recipe, *_with_signs(kept, numbers), depth)


def _with_signs(
    forms: list[syntax.Tree], numbers: list[syntax.Tree]
) -> tuple[list[syntax.Tree], list[syntax.Tree]]:
    """Terms and numbers, a sign before a number that is taken off turned to its term."""
    pairs = [
        (syntax.Negative(form), number.operand)
        if isinstance(number, syntax.Negative) and values.is_value(number.operand)
        else (form, number)
        for form, number in zip(forms, numbers, strict=True)
    ]
    return [form for form, _ in pairs], [number for _, number in pairs]


def _are_same(recipe: Recipe, one: syntax.Tree, other: syntax.Tree) -> bool:
    if recipe.shape(one) != recipe.shape(other):
        return False
    first, second = recipe.floats(one), recipe.floats(other)
    return first is not None and second is not None and np.array_equal(first, second)


def _is_zero(recipe: Recipe, tree: syntax.Tree) -> bool:
    numbers = recipe.floats(tree)
    return numbers is not None and not np.any(numbers)


def _parts(
    recipe: Recipe, forms: list[syntax.Tree], numbers: list[syntax.Tree], depth: int
) -> Iterator[Bound]:
    if len(forms) != len(numbers):
        return
    bound: Bound = []
    for form, number in zip(forms, numbers, strict=True):
        options = list(_matches(recipe, form, number, depth - 1)) if depth else []
        if not options:
            return
        bound += max(options, key=partial(_agreeing, recipe))
    yield bound


def _agreeing(recipe: Recipe, bound: Bound) -> float:
    return sum(likeness(recipe, tree, value) for value, tree in bound)


def likeness(recipe: Recipe, tree: syntax.Tree, value: syntax.Tree) -> float:
    """The part of a value's figures that an expression rounds to, or that are printed of
    its entries elsewhere, right or wrong: what is worked out there begins with them."""
    agreeing = recipe.agreement(tree, value)
    shape = recipe.shape(tree)
    if agreeing == 1 or shape is None or shape != values.shape(value):
        return agreeing
    held = [
        rounds_as_printed(recipe, entry_at(recipe, tree, keys), figure)
        for figure, keys in values.entries(value)
    ]
    return max(agreeing, sum(held) / len(held)) if held else agreeing


def rounds_as_printed(recipe: Recipe, tree: syntax.Tree, figure: PrintedFigure) -> bool:
    """Return whether an entry rounds to a figure, or the figure is printed of it elsewhere."""
    if recipe.agreement(tree, figure) == 1:
        return True
    return any(rounds(value, figure.text) for value in _from_printed(recipe, tree))


def _from_printed(recipe: Recipe, tree: syntax.Tree) -> list[float]:
    """Return what an entry is as it is printed elsewhere, or from entries that are."""
    if texts := recipe.printed.get(syntax.text(tree)):
        return sorted(texts)[:_READINGS]
    match tree:
        case syntax.Negative(operand):
            return [-value for value in _from_printed(recipe, operand)]
    return []


def entry_at(recipe: Recipe, tree: syntax.Tree, keys: Sequence[int]) -> syntax.Tree:
    """An entry of an expression, as it is computed from the entries of its parts."""
    if not keys:
        return tree
    shape = recipe.shape(tree)
    match tree:
        case syntax.Binary("+" | "-" | "*" | "/" as op, left, right):
            parts = [
                entry_at(recipe, part, keys) if recipe.shape(part) == shape else part
                for part in (left, right)
                if recipe.shape(part) in (shape, ())
            ]
            if len(parts) == 2:
                return syntax.Binary(op, *parts)
        case syntax.Call("exp", (operand,)):
            return syntax.Call("exp", (entry_at(recipe, operand, keys),))
        case syntax.Negative(operand):
            return syntax.Negative(entry_at(recipe, operand, keys))
    return indexed(tree, *keys)


def terms(tree: syntax.Tree) -> list[syntax.Tree]:
    """The terms of a sum, each that is taken off with its sign.

    >>> [syntax.text(one) for one in terms(syntax.parse("a + b*c - d"))]
    ['a', 'b * c', '-d']
    """
    trees: list[syntax.Tree] = []
    while isinstance(tree, syntax.Binary) and tree.op in ("+", "-"):
        trees.append(tree.right if tree.op == "+" else syntax.Negative(tree.right))
        tree = tree.left
    return [tree, *reversed(trees)]


def operands(tree: syntax.Tree, numbers: syntax.Tree) -> Bound:
    """The numbers of a working with what each stands for in an expression of printed values:
    ``0.4 * 0.9 + 1.3 * 0.6`` works out the product of two vectors, with its entries for numbers.
    Nothing where the others tell more, or it has another form."""
    if _may_be_shape(numbers):
        return []
    forms = dict.fromkeys((tree, syntax.replaced(tree, to_base_two)))
    return max((_operands(one, numbers) for one in forms), key=lambda found: found[0])[1]


def _may_be_shape(numbers: syntax.Tree) -> bool:
    """Return whether numbers are two whole ones, as in ``(4 x 16) = (1 x 16)``."""
    match numbers:
        case syntax.Binary("*", PrintedFigure(rows), PrintedFigure(columns)):
            return rows.isdigit() and columns.isdigit()
    return False


def _operands(tree: syntax.Tree, numbers: syntax.Tree) -> tuple[float, Bound]:
    """The expressions that numbers stand for, and how much those tell that are no others."""
    recipe, printed = Recipe(), dict[str, syntax.Tree]()

    def named(part: syntax.Tree) -> syntax.Tree | None:
        if not values.is_value(part):
            return None
        name = recipe.give(f"x{len(printed)}", part, None)
        if name is not None:
            printed[name] = part
        return None if name is None else syntax.Name(name)

    plain = syntax.replaced(
        tree, lambda part: values.by_logarithm(part) if isinstance(part, syntax.Power) else None
    )
    _, bound = bindings(recipe, syntax.replaced(plain, named), numbers)
    is_closed = values.is_closed(tree)
    told = {True: 0.0, False: 0.0}
    for value, one in bound:
        bits = 1.0 if is_closed else sum(map(information, values.texts(value)))
        told[likeness(recipe, one, value) == 1] += bits
    if told[True] < (1 if is_closed else _SURELY) * told[False]:
        return 0.0, []
    return told[True], [
        (value, syntax.renamed(one, lambda name: printed.get(name, syntax.Name(name))))
        for value, one in bound
    ]


def indexed(tree: syntax.Tree, *keys: int) -> syntax.Tree:
    """An entry or a row of an expression, of the entry of another in one step.

    >>> syntax.text(indexed(syntax.parse("A[1]"), 2)), syntax.text(indexed(syntax.parse("K.T"), 1))
    ('A[1, 2]', 'K[:, 1]')
    """
    match tree:
        case syntax.Indexed(operand, before) if all(isinstance(key, int) for key in before):
            return indexed(operand, *before, *keys)  # type: ignore[arg-type]
        case syntax.Indexed(operand, (syntax.Slice(None, None, None), column)) if len(keys) == 1:
            return syntax.Indexed(operand, (keys[0], column))
        case syntax.Transposed(operand) if len(keys) == 2:
            return indexed(operand, keys[1], keys[0])
        case syntax.Transposed(operand) if len(keys) == 1:
            return syntax.Indexed(operand, (syntax.Slice(None, None, None), keys[0]))
    return syntax.Indexed(tree, keys)


def entry(row: syntax.Tree, place: int) -> syntax.Tree:
    """An entry of a row, also of one that something is taken off.

    >>> syntax.text(entry(syntax.parse("T[0] - T[0, 2]"), 1))
    'T[0, 1] - T[0, 2]'
    """
    match row:
        case syntax.Binary("-", left, right):
            return syntax.Binary("-", indexed(left, place), right)
    return indexed(row, place)


def column(tree: syntax.Tree, place: int) -> syntax.Tree:
    """A column of an expression: a row of what it is the transpose of.

    >>> syntax.text(column(syntax.parse("K.T"), 1)), syntax.text(column(syntax.parse("V"), 0))
    ('K[1]', 'V[:, 0]')
    """
    if isinstance(tree, syntax.Transposed):
        return indexed(tree.operand, place)
    return syntax.Indexed(tree, (syntax.Slice(None, None, None), place))


def _unfolded(recipe: Recipe, target: syntax.Tree, depth: int) -> Iterator[syntax.Tree]:
    """Yield what a quantity, its row or its entry is by the definitions."""
    if depth <= 0:
        return
    match target:
        case syntax.Name(name) if name in recipe.trees:
            made = recipe.trees[name]
            yield made
            if isinstance(made, syntax.Binary) and made.op == "/":
                below = syntax.Binary("/", syntax.Literal("1"), made.right)
                yield syntax.Binary("*", below, made.left)
            match made:
                case syntax.Binary("@", syntax.Binary("*", factor, left), right) if (
                    recipe.shape(factor) == ()
                ):
                    yield syntax.Binary("*", factor, syntax.Binary("@", left, right))
                case syntax.Binary("@", left, right) if len(recipe.shape(left) or ()) == 1:
                    yield from _of_product(recipe, left, right, [])
            yield from _unfolded(recipe, made, depth - 1)
        case syntax.Indexed(operand, keys):
            whole: syntax.Tree | None = operand
            if isinstance(operand, syntax.Name):
                whole = recipe.trees.get(operand.name)
            elif isinstance(operand, syntax.Gradient):
                whole = recipe.said.get(operand.of)
            plain = [key for key in keys if isinstance(key, int)]
            if whole is not None and len(plain) == len(keys):
                yield from _of_entry(recipe, whole, plain, depth)
        case syntax.Call("total", (operand,)):
            yield from _sum_of(recipe, operand)
        case syntax.Binary("@", left, right) if (
            len(shape := recipe.shape(left) or ()) == 1
            and recipe.shape(right) == shape
            and shape[0] <= _TERMS
        ):
            yield syntax.added(
                syntax.Binary("*", indexed(left, k), indexed(right, k)) for k in range(shape[0])
            )


def _of_entry(
    recipe: Recipe, whole: syntax.Tree, keys: list[int], depth: int
) -> Iterator[syntax.Tree]:
    """The entry or row of what an expression makes, by its operation."""
    shape = recipe.shape(whole)
    if shape is None or len(keys) > len(shape):
        return
    match whole:
        case syntax.Name():
            same = indexed(whole, *keys)
            yield same
            yield from _unfolded(recipe, same, depth - 1)
        case syntax.Binary("@", left, right):
            yield from _of_product(recipe, left, right, keys)
        case syntax.Binary(op, left, right):
            parts = [_entry(recipe, part, shape, keys) for part in (left, right)]
            if parts[0] is not None and parts[1] is not None:
                yield syntax.Binary(op, parts[0], parts[1])
                if op == "/":
                    part = syntax.Binary("/", syntax.Literal("1"), parts[1])
                    yield syntax.Binary("*", part, parts[0])
        case syntax.Call("softmax", (scores,), ()):
            row = scores if len(shape) == 1 else indexed(scores, keys[0])
            if len(keys) == len(shape):
                for exponent in (row, shifted(recipe, row)):
                    if exponent is not None:
                        of_row = syntax.Call("exp", (entry(exponent, keys[-1]),))
                        below = syntax.Call("total", (syntax.Call("exp", (exponent,)),))
                        yield syntax.Binary("/", of_row, below)
                if shape[-1] == 2:
                    yield from _of_two(entry(row, keys[-1]), entry(row, 1 - keys[-1]))
            else:
                yield syntax.Call("softmax", (row,))


def _of_two(this: syntax.Tree, other: syntax.Tree) -> Iterator[syntax.Tree]:
    """A softmax of two scores, by their difference."""
    unit = syntax.Literal("1")
    power = syntax.Call("exp", (syntax.Binary("-", this, other),))
    yield syntax.Binary("/", power, syntax.Binary("+", power, unit))
    less = syntax.Call("exp", (syntax.Binary("-", other, this),))
    yield syntax.Binary("/", unit, syntax.Binary("+", unit, less))


def _entry(
    recipe: Recipe, part: syntax.Tree, shape: tuple[int, ...], keys: list[int]
) -> syntax.Tree | None:
    """The entry of an operand that goes into that entry of the result."""
    own = recipe.shape(part)
    if own == ():
        return part
    return indexed(part, *keys) if own == shape else None


def _of_product(
    recipe: Recipe, left: syntax.Tree, right: syntax.Tree, keys: list[int]
) -> Iterator[syntax.Tree]:
    """An entry or a row of a product, as sums of products."""
    sizes = recipe.shape(left), recipe.shape(right)
    if sizes[0] is None or sizes[1] is None or len(sizes[0]) < 1 or sizes[0][-1] > _TERMS:
        return
    inner = sizes[0][-1]
    if len(sizes[0]) == 2:
        row, rest = indexed(left, keys[0]), keys[1:]
    else:
        row, rest = left, keys
    if rest:
        yield syntax.added(
            syntax.Binary("*", indexed(row, k), indexed(right, k, *rest)) for k in range(inner)
        )
        yield syntax.Binary("@", row, column(right, rest[0]))
        yield syntax.Binary("@", column(right, rest[0]), row)
    elif len(sizes[1]) == 2:
        yield syntax.added(
            syntax.Binary("*", indexed(row, k), indexed(right, k)) for k in range(inner)
        )
        yield syntax.Binary("@", row, right)


def shifted(recipe: Recipe, scores: syntax.Tree) -> syntax.Tree | None:
    """A row of scores less its largest entry, as it is done for stability."""
    numbers = recipe.floats(scores)
    if numbers is None or not 0 < numbers.size <= _TERMS:
        return None
    return syntax.Binary("-", scores, indexed(scores, int(np.argmax(numbers))))


def _sum_of(recipe: Recipe, operand: syntax.Tree) -> Iterator[syntax.Tree]:
    """The sum of a row's entries, each by itself."""
    shape = recipe.shape(operand)
    if shape is None or len(shape) != 1 or shape[0] > _TERMS:
        return
    match operand:
        case syntax.Call("exp", (row,)):
            yield syntax.added(syntax.Call("exp", (entry(row, k),)) for k in range(shape[0]))
        case _:
            yield syntax.added(indexed(operand, k) for k in range(shape[0]))


#: A degree in radians.
_DEGREE = syntax.Literal("0.017453292519943295769236907685")


def to_base_two(part: syntax.Tree) -> syntax.Tree | None:
    """A logarithm as that of base 2.

    >>> syntax.text(to_base_two(syntax.parse("log(8)")))
    'log(8) / log(2)'
    """
    match part:
        case syntax.Call("log", (_,)):
            return syntax.Binary("/", part, syntax.Call("log", (syntax.Literal("2"),)))
    return None


def as_meant(part: syntax.Tree) -> syntax.Tree | None:
    """A power as authors write it who leave brackets out: of a number with its sign, or with all
    behind it in the exponent.

    >>> [syntax.text(as_meant(syntax.parse(one))) for one in ("-2**2", "100**1 / 2")]
    ['(-2)**2', '100**(1 / 2)']
    """
    match part:
        case syntax.Negative(syntax.Power(base, exponent)):
            return syntax.Power(syntax.Negative(base), exponent)
        case syntax.Binary("/", syntax.Power(base, exponent), below):
            return syntax.Power(base, syntax.Binary("/", exponent, below))
    return None


def in_degrees(tree: syntax.Tree, least: float = 0) -> syntax.Tree:
    """An expression with its angles, those of that many at least, in degrees.

    >>> syntax.text(in_degrees(syntax.parse("2 * cos(60)"))).startswith("2 * cos(60 * 0.01745")
    True
    """

    def turned(part: syntax.Tree) -> syntax.Tree | None:
        match part:
            case syntax.Call("cos" | "sin", (syntax.Literal(text) as angle,)):
                ends = interval(text)
                if ends is not None and abs(sum(ends)) >= 2 * least:
                    return replace(part, arguments=(syntax.Binary("*", angle, _DEGREE),))
        return None

    return syntax.replaced(tree, turned)
