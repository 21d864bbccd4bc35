"""Readings of operators and functions over printed values: what a product, a power or a name of a
function may mean there, and in what shape it may be printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import product

from symattn.documents.binding import values
from symattn.documents.binding.stated import numbers, size
from symattn.errors import SymattnError
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape
from symattn.numbers.balls import charge
from symattn.programs import nodes
from symattn.programs.functions import FUNCTIONS
from symattn.programs.program import Program

#: Functions of two vectors by their usual names.
_COSINE = "x @ y / (norm(x) * norm(y))"
OF_TWO = {
    "dot": "x @ y", **dict.fromkeys(("cosine", "cos", "cosine_similarity", "cos_sim"), _COSINE),
}  # fmt: skip
_ALIASES = {"variance": "var", "average": "mean", "stdev": "std", "stddev": "std"}
#: Parameters of functions that may be meant in several ways.
_SEVERAL = {"eps", "ddof"}


def called(function: str, operand: syntax.Tree) -> Iterator[syntax.Tree]:
    """The functions that a name may be of: with the constant that keeps a norm finite or without,
    a variance by the count or by one less."""
    name = function if function in FUNCTIONS else function.replace("_", "").lower()
    name = _ALIASES.get(name, name)
    yield syntax.Call(name, (operand,))
    parameters = FUNCTIONS[name].parameters if name in FUNCTIONS else ()
    if "eps" in parameters:
        yield syntax.Call(name, (operand,), (("eps", syntax.Literal("0")),))
    by_less = (("ddof", syntax.Literal("1")),)
    if "ddof" in parameters:
        yield syntax.Call(name, (operand,), by_less)
    vector = values.flat(operand)
    if name == "layernorm" and rank(vector) == 1:
        apart = syntax.Binary("-", vector, syntax.Call("mean", (vector,)))
        yield syntax.Binary("/", apart, syntax.Call("std", (vector,), by_less))


def has_forms(tree: syntax.Tree) -> bool:
    """Return whether functions in it may be meant in several ways, or are called otherwise, or
    matrices are raised to a power."""
    for part in syntax.walk(tree):
        match part:
            case syntax.Call(function, _, ()):
                known = FUNCTIONS.get(function)
                if known is None or not _SEVERAL.isdisjoint(known.parameters):
                    return True
            case syntax.Power(base) if rank(base):
                return True
    return False


def raised(base: syntax.Tree, exponent: syntax.Tree) -> Iterator[syntax.Tree]:
    """A power as formulas mean it: of a square matrix a product, where it is one."""
    if not values.is_square(shape_of(base)):
        yield syntax.Power(base, exponent)
        return
    with suppress(values.UnreadPower):
        yield values.multiplied(base, exponent)


def over(tree: syntax.Tree, parts: Sequence[syntax.Tree]) -> syntax.Tree:
    """An expression over other parts, in their order."""
    rest = iter(parts)
    return syntax.mapped(tree, lambda _: next(rest))


def entry_of(tree: syntax.Tree, keys: Sequence[int]) -> syntax.Tree:
    """The entry, or the row, of a value or an expression at some keys."""
    if not isinstance(tree, syntax.Array) or not keys:
        return syntax.Indexed(tree, tuple(keys)) if keys else tree
    return entry_of(tree.items[keys[0]], keys[1:])


def shape_of(tree: syntax.Tree) -> Shape | None:
    """The shape of an expression of numbers; None of one that makes no sense."""
    if values.is_value(tree):
        return values.shape(tree)
    charge(size(tree))
    given: dict[str, Shape] = {}

    def named(part: syntax.Tree) -> syntax.Tree | None:
        if not (values.is_value(part) and (shape := values.shape(part))):
            return None
        name = f"of_{'_'.join(map(str, shape))}"
        given[name] = shape
        return syntax.Name(name)

    try:
        return _lowered(syntax.replaced(tree, named), tuple(given.items()))
    except (SymattnError, RecursionError):
        return None


@lru_cache(maxsize=1 << 12)
def _lowered(tree: syntax.Tree, given: tuple[tuple[str, Shape], ...]) -> Shape:
    """Looked for once: it is that of all matrices of these shapes."""
    quantities = {name: nodes.given(name, shape) for name, shape in given}
    return Program(quantities, tuple(quantities), ()).lower_tree(numbers(tree)).shape


def rank(tree: syntax.Tree) -> int:
    """Return how many axes an expression of numbers has; 0 of one that makes no sense."""
    return len(shape_of(tree) or ())


def _forms(tree: syntax.Tree) -> Iterator[syntax.Tree]:
    """An operand as it is, as a vector, and turned."""
    yield tree
    shape = shape_of(tree) or ()
    if len(shape) == 2:
        if 1 in shape and values.is_value(tree):
            yield values.flat(tree)
        yield syntax.Transposed(tree)


def operations(
    op: str, left: syntax.Tree, right: syntax.Tree, is_code: bool, turned: tuple[bool, bool]
) -> Iterator[syntax.Tree]:
    """The products, or sums, that two operands allow."""
    shapes = shape_of(left), shape_of(right)
    if None in shapes:
        return
    if is_code or op not in "@*" or () in shapes:
        yield from _first_that_fits("*" if () in shapes and op == "@" else op, left, right)
        return
    if any(turned) and all(len(shape or ()) == 1 for shape in shapes):
        # Of rows, or of columns.
        yield from _first_that_fits("@", left, right)
        yield syntax.Call("outer", (left, right))
        return
    yield from _first_that_fits(op, left, right)
    if op == "*" or shapes[0] == shapes[1]:
        yield from _first_that_fits("*" if op == "@" else "@", left, right)


def _first_that_fits(op: str, left: syntax.Tree, right: syntax.Tree) -> Iterator[syntax.Tree]:
    for x, y in product(_forms(left), _forms(right)):
        tree = syntax.Binary(op, x, y)
        if shape_of(tree) is not None:
            yield tree
            return


def fitted(tree: syntax.Tree, value: syntax.Tree) -> Iterator[syntax.Tree]:
    """An expression in the shape of a printed value."""
    shape, wanted = shape_of(tree), values.shape(value)
    if shape is None:
        return
    if shape == wanted:
        yield tree
    elif [x for x in shape if x != 1] != [x for x in wanted if x != 1]:
        return
    elif len(shape) == 2 and shape == wanted[::-1]:
        yield syntax.Transposed(tree)
    elif len(shape) == 2 and len(wanted) == 1:
        row = tree if shape[0] == 1 else syntax.Transposed(tree)
        yield syntax.Indexed(row, (0,))
    elif shape and not wanted:
        yield syntax.Indexed(tree, (0,) * len(shape))
