"""Which product is meant: of matrices, or of numbers and entry by entry."""

from __future__ import annotations

from symattn import syntax
from symattn.documents.trees import Named, PrintedFigure
from symattn.syntax import Tree

_SCALAR_CALLS = frozenset(("sqrt", "exp", "log", "max", "min", "sum", "abs"))


def joined(sign: str, left: Tree, right: Tree) -> Tree:
    """Two operands as one tree; a number times a power of ten is one figure."""
    if sign in ("×", "·") and isinstance(left, PrintedFigure) and (power := _of_ten(right)):
        exponent, place = power
        if left.text.replace(".", "", 1).lstrip("-").isdigit():
            return PrintedFigure(f"{left.text}e{exponent}", left.span.to(place.span))
    if sign == "/":
        return syntax.Binary("/", left, right)
    return product(sign, left, right)


def _of_ten(tree: Tree) -> tuple[str, PrintedFigure] | None:
    """The exponent of a power of ten."""
    match tree:
        case syntax.Power(PrintedFigure("10"), PrintedFigure(text) as figure):
            if text.lstrip("-").isdigit() and len(text) <= 4:
                return text, figure
    return None


def product(sign: str, left: Tree, right: Tree) -> Tree:
    """A product as its sign and its operands say.

    Where neither tells, side by side and ``·`` are matrix products, ``×`` and ``*``
    are not: whoever knows the shapes decides again.

    >>> A, B, two = Named("A"), Named("B"), PrintedFigure("2")
    >>> [syntax.text(product(sign, A, B)) for sign in ("", "·", "×", "*", "⊙")]
    ['A @ B', 'A @ B', 'A @ B', 'A * B', 'A * B']
    >>> syntax.text(product("·", two, A))
    '2 * A'
    """
    if sign == "@":
        return syntax.Binary("@", left, right)
    if sign in ("*", "⊙") or is_number(left) or is_number(right):
        return syntax.Binary("*", left, right)
    if isinstance(left, syntax.Array) and isinstance(right, syntax.Array):
        return syntax.Binary("@" if _fit(left, right, sign) else "*", left, right)
    if sign == "×":
        both = is_matrix(left) or is_matrix(right)
        return syntax.Binary("@" if both else "*", left, right)
    return syntax.Binary("@", left, right)


def is_number(tree: Tree) -> bool:
    """Whether a tree is surely no array."""
    match tree:
        case PrintedFigure():
            return True
        case syntax.Negative(operand):
            return is_number(operand)
        case syntax.Binary("@", _, _):
            return False
        case syntax.Binary("/", left, right):
            return is_number(left) and not isinstance(right, syntax.Array)
        case syntax.Binary(_, left, right) | syntax.Power(left, right):
            return is_number(right) and is_number(left)
        case syntax.Call(function, arguments):
            plain = function in ("sqrt", "max", "min") and not any(
                isinstance(item, syntax.Array) for item in arguments
            )
            return plain or (function in _SCALAR_CALLS and all(map(is_number, arguments)))
        case syntax.Indexed(_, keys):
            return len(keys) == 2 and all(isinstance(key, int) for key in keys)
        case syntax.Cell(_, places):
            return len(places) == 2
    return False


def is_matrix(tree: Tree) -> bool:
    """Whether a tree is written as matrices are."""
    match tree:
        case Named(name):
            return name[:1].isupper() and (len(name) <= 2 or name[1] == "_")
        case syntax.Transposed():
            return True
        case syntax.Binary("@", _, _):
            return True
        case syntax.Array(items):
            return bool(items) and isinstance(items[0], syntax.Array)
    return False


def _shape(array: syntax.Array) -> tuple[int, ...]:
    first = array.items[0] if array.items else None
    return (
        (len(array.items), len(first.items))
        if isinstance(first, syntax.Array)
        else (len(array.items),)
    )


def _fit(left: syntax.Array, right: syntax.Array, sign: str) -> bool:
    """Whether two arrays have a matrix product."""
    if sign == "×" and len(_shape(left)) == len(_shape(right)) == 1:
        return False
    return _shape(left)[-1] == _shape(right)[0]
