"""Arrays that libraries make: zeros, ones, identities, triangles, counts.

Their figures are printed nowhere. A triangle of ones whose size is not known stands as
a call of :data:`~symattn.documents.python.code_values.BEYOND`.

Which arrays are masks, and numbers that are known held against others.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod

from symattn.documents.python.code_values import (
    AXES,
    Arguments,
    CodeScope,
    Items,
    UnreadCode,
    Value,
    call,
    number,
)
from symattn.documents.trees import NOWHERE, Labelled
from symattn.expressions import syntax


def _sizes(given: Arguments) -> tuple[int, int | None]:
    """Rows and columns; no columns of a vector."""
    shape = given.option(("shape", "size"))
    sizes = given.rest() if shape is None else shape.items if isinstance(shape, Items) else [shape]
    if not 1 <= len(sizes) <= 2:
        raise UnreadCode
    counts = [given.scope.whole(size) for size in sizes]
    return counts[0], counts[1] if len(counts) == 2 else None


def _filled(text: str) -> Callable[[Arguments], Value]:
    def meaning(given: Arguments) -> Value:
        try:
            return given.scope.make(*_sizes(given), lambda i, j: text)
        except UnreadCode:
            if text == "1" and given.values:
                return call("triangle", number("1"))
            raise

    return meaning


def _filled_like(text: str) -> Callable[[Arguments], Value]:
    def meaning(given: Arguments) -> Value:
        shape = given.scope.shape(given.tree(0))
        if shape is None and text == "1":
            return call("triangle", number("1"))
        if not shape:
            raise UnreadCode
        rows, columns = shape[0], shape[1] if len(shape) == 2 else None
        return given.scope.make(rows, columns, lambda i, j: text)

    return meaning


def _full(given: Arguments) -> Value:
    entry = given.option(("fill_value", "value"), 1)
    if not isinstance(entry, syntax.Literal):
        raise UnreadCode
    sizes = Arguments(given.scope, given.values[:1], given.options, given.path, given.asked)
    return given.scope.make(*_sizes(sizes), lambda i, j: entry.text)


def _square(keeps: Callable[[int, int], bool]) -> Callable[[Arguments], Value]:
    """Ones where the distance from the diagonal, and the offset, are kept."""

    def meaning(given: Arguments) -> Value:
        rows = given.scope.whole(given.option(("N", "n", "num_rows"), 0))
        offset = given.scope.whole(given.option(("k",), default=number("0")))
        return given.scope.make(rows, rows, lambda i, j: "1" if keeps(j - i, offset) else "0")

    return meaning


def _diagonal(given: Arguments) -> Value:
    x = given.scope.each(given.tree(0), _itself)
    if not isinstance(x, syntax.Array) or isinstance(x.items[0], syntax.Array):
        raise UnreadCode
    texts = [syntax.text(item) for item in x.items]
    return given.scope.make(len(texts), len(texts), lambda i, j: texts[i] if i == j else "0")


def _counted(given: Arguments) -> Value:
    bounds = [given.scope.whole(value) for value in given.rest()]
    if not 1 <= len(bounds) <= 3 or bounds[2:] == [0]:
        raise UnreadCode
    counted = range(*bounds)
    return given.scope.make(len(counted), None, lambda i, j: str(counted[j]))


def _triangle(keeps: Callable[[int, int], bool]) -> Callable[[Arguments], Value]:
    def meaning(given: Arguments) -> Value:
        x = given.tree(0)
        offset = given.scope.whole(given.option(("k", "diagonal"), 1, number("0")))
        if x == call("triangle", number("1")):
            return _unsized(keeps, offset)
        x = given.scope.each(x, _itself)
        if not isinstance(x, syntax.Array) or not isinstance(x.items[0], syntax.Array):
            raise UnreadCode
        zero = number("0")
        rows = [row.items for row in x.items if isinstance(row, syntax.Array)]
        kept = tuple(
            Labelled(tuple(e if keeps(j - i, offset) else zero for j, e in enumerate(row)))
            for i, row in enumerate(rows)
        )
        return Labelled(kept)

    return meaning


def _unsized(keeps: Callable[[int, int], bool], offset: int) -> syntax.Tree:
    """A triangle of ones of some size: the lower one, or what it leaves."""
    if keeps(-1, 0) and offset == 0:
        return call("triangle")
    if not keeps(-1, 0) and offset == 1:
        return call("not", call("triangle"))
    raise UnreadCode


def _indices(keeps: Callable[[int, int], bool]) -> Callable[[Arguments], Value]:
    """``triu_indices``: as a mask of where they are, whatever its size."""

    def meaning(given: Arguments) -> Value:
        given.rest()
        offset = given.option(("k", "offset"), 1, number("0"))
        return _unsized(keeps, given.scope.whole(offset))

    return meaning


def _is_below(distance: int, offset: int) -> bool:
    return distance <= offset


def _is_above(distance: int, offset: int) -> bool:
    return distance >= offset


#: By its last name, the function that makes an array.
MAKERS: Mapping[str, Callable[[Arguments], Value]] = {
    **dict.fromkeys(("zeros", "empty"), _filled("0")),
    "ones": _filled("1"),
    **dict.fromkeys(("zeros_like", "empty_like"), _filled_like("0")),
    "ones_like": _filled_like("1"),
    **dict.fromkeys(("full", "fill"), _full),
    **dict.fromkeys(("eye", "identity"), _square(operator.eq)),
    "tri": _square(_is_below),
    "diag": _diagonal,
    **dict.fromkeys(("arange", "range"), _counted),
    "tril": _triangle(_is_below),
    "triu": _triangle(_is_above),
    **dict.fromkeys(("tril_indices", "tril_indices_from"), _indices(_is_below)),
    **dict.fromkeys(("triu_indices", "triu_indices_from"), _indices(_is_above)),
}


_COMPARED: dict[type[ast.cmpop], Callable[[Fraction | float, Fraction | float], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


#: The number of what a mask leaves out.
_NO = ("0", "0.0")


def is_mask(tree: syntax.Tree, scope: CodeScope) -> bool | None:
    """Return whether all entries are 0 or 1; None where nobody knows.

    >>> from symattn.expressions.syntax import parse
    >>> is_mask(parse("[[1, 0], [1, 1]]"), CodeScope()), is_mask(parse("[1, 2]"), CodeScope())
    (True, False)
    >>> is_mask(parse("M"), CodeScope())
    """
    match tree:
        case syntax.Call("not" | "triangle"):
            return True
        case syntax.Literal(text):
            return text in (*_NO, "1", "1.0")
        case syntax.Array(items):
            return all(is_mask(item, scope) for item in items)
        case syntax.Name(name) if name in scope.known:
            return is_mask(scope.known[name], scope)
        case syntax.Name(name):
            return False if name in scope.shapes else None
        case syntax.Indexed(operand) | syntax.Transposed(operand):
            return is_mask(operand, scope)
    return False


def is_whole(tree: syntax.Tree, scope: CodeScope) -> bool:
    """Return whether all entries are known to be whole numbers."""
    match tree:
        case syntax.Literal(text):
            return text.lstrip("-").isdigit()
        case syntax.Array(items):
            return all(is_whole(item, scope) for item in items)
        case syntax.Name(name) if name in scope.known:
            return is_whole(scope.known[name], scope)
        case syntax.Call("rows" | "cols"):
            return True
    return is_mask(tree, scope) is not False


def are_integers(tree: syntax.Tree, scope: CodeScope) -> bool:
    """Return whether an array has surely no room for fractions."""
    match tree:
        case syntax.Literal(text):
            return text.lstrip("-").isdigit()
        case syntax.Name(name):
            return name in scope.integers
        case syntax.Binary("/") | syntax.Power():
            return False
        case syntax.Call(function) if function not in ("total", "rowsum", "colsum", "max", "min"):
            return False
    return all(are_integers(part, scope) for part in syntax.inside(tree))


def kept(entry: syntax.Literal) -> syntax.Literal:
    """The entry of a mask where one of zeros and minus infinities is added to scores."""
    if entry.text not in ("0", "0.0", "-inf"):
        raise UnreadCode
    return number("0" if entry.text == "-inf" else "1")


def _itself(entry: syntax.Literal) -> syntax.Literal:
    return number(entry.text)


def replaced(
    array: syntax.Tree, hidden: syntax.Tree, fill: syntax.Literal, scope: CodeScope
) -> syntax.Tree:
    """An array of what masks are made of, with another number where a mask that is known
    has 1.

    >>> from symattn.expressions.syntax import parse, text
    >>> scores, hidden = parse("[[1, 1], [0, 0]]"), parse("[[0, 1], [0, 0]]")
    >>> text(replaced(scores, hidden, number("-inf"), CodeScope()))
    '[[1, -inf], [0, 0]]'
    """
    known, mask = scope.each(array, _itself), chosen(hidden, number("1"), number("0"), scope)
    if scope.shape(known) != scope.shape(mask):
        raise UnreadCode
    taken = (part for part in syntax.walk(mask) if isinstance(part, syntax.Literal))

    def entry(one: syntax.Literal) -> syntax.Literal:
        if one.text not in (*_NO, "1", "1.0", "-inf"):
            raise UnreadCode
        return fill if next(taken).text == "1" else one

    return scope.each(known, entry)


def chosen(
    condition: syntax.Tree, yes: syntax.Literal, no: syntax.Literal, scope: CodeScope
) -> syntax.Tree:
    """One number where a mask that is known has 1, another where it has 0."""
    if isinstance(condition, syntax.Call) and condition.function == "not":
        return chosen(condition.arguments[0], no, yes, scope)
    return scope.each(condition, lambda one: number((no if one.text in _NO else yes).text))


def compared(tree: syntax.Tree, op: ast.cmpop, limit: syntax.Tree, scope: CodeScope) -> syntax.Tree:
    """1 where a number that is known compares so with another, 0 elsewhere.

    >>> from symattn.expressions.syntax import parse, text
    >>> text(compared(Labelled((number("1"), number("3"))), ast.Gt(), number("2"), CodeScope()))
    '[0, 1]'
    """
    if not isinstance(limit, syntax.Literal) or type(op) not in _COMPARED:
        raise UnreadCode
    text = limit.text

    def entry(one: syntax.Literal) -> syntax.Literal:
        try:
            holds = _COMPARED[type(op)](_exact(one.text), _exact(text))
        except ValueError:
            raise UnreadCode from None
        return number("1" if holds else "0")

    return scope.each(tree, entry)


def _exact(text: str) -> Fraction | float:
    return float(text) if text.endswith("inf") else Fraction(text)


# -- arrays put together -----------------------------------------------------------------
# Their figures are those they had.


def count(scope: CodeScope, x: syntax.Tree, rank: int | None, axis: int | None) -> syntax.Tree:
    """Return how many entries there are along an axis, or in all."""
    if axis is not None or rank == 1:
        return call("cols" if axis or rank == 1 else "rows", x)
    return syntax.Binary("*", call("rows", x), call("cols", x))


def flipped(x: syntax.Tree) -> syntax.Tree:
    """The transpose; of a transpose, what that is of."""
    return x.operand if isinstance(x, syntax.Transposed) else syntax.Transposed(x)


def _transposed(given: Arguments) -> Value:
    x, axes = given.tree(0), given.option((*AXES, "perm", "dims"), 1)
    is_order = isinstance(axes, Items) or given.path.endswith("permute")
    listed = axes.items if isinstance(axes, Items) else given.rest(1)
    turned = [given.scope.whole(axis) for axis in listed]
    order = [axis % 2 for axis in turned if -2 <= axis <= 1]
    if len(order) < len(turned) or sorted(order) not in ([], [0, 1]):
        raise UnreadCode
    return x if is_order and order == [0, 1] else flipped(x)


def _concat(given: Arguments) -> Value:
    parts, axis = given.value(0), given.option(AXES, 1, number("0"))
    if not isinstance(parts, Items) or not parts.items:
        raise UnreadCode
    along = 1 if "hstack" in given.path else given.scope.whole(axis)
    trees = [given.scope.tree(part) for part in parts.items]
    ranks = {given.scope.rank(tree) for tree in trees}
    if along in (-1, 1) or ranks == {1}:
        return call("concat", *trees)
    if along not in (0, -2) or ranks != {2}:
        raise UnreadCode
    return call("concat", *trees, axis=0)


def _stacked(given: Arguments) -> Value:
    parts, axis = given.value(0), given.option(AXES, 1, number("0"))
    items = parts.items if isinstance(parts, Items) else ()
    ranks = {given.scope.rank(given.scope.tree(part)) for part in items}
    if ranks == {2} and "vstack" in given.path:
        return _concat(given)
    stack = given.tree(0)
    if given.path.endswith("column_stack") or given.scope.whole(axis) in (1, -1):
        if ranks != {1}:
            raise UnreadCode
        return syntax.Transposed(stack)
    return stack


def _length(given: Arguments) -> Value:
    value = given.value(0)
    if isinstance(value, Items):
        return number(str(len(value.items)))
    return call("rows", given.tree(0))


def size(operand: syntax.Tree, axis: int) -> syntax.Tree:
    """The size along an axis."""
    if axis not in (0, 1, -1, -2):
        raise UnreadCode
    return call("rows" if axis in (0, -2) else "cols", operand)


def _size(given: Arguments) -> Value:
    x, axis = given.tree(0), given.option(AXES, 1)
    if axis is not None:
        return size(x, given.scope.whole(axis))
    if given.path in ("np.size", "numpy.size", "tf.size", "jnp.size"):
        return count(given.scope, x, given.scope.rank(x), None)
    return sizes(given.scope, x)


def sizes(scope: CodeScope, x: syntax.Tree) -> Items:
    """The sizes along all axes."""
    return Items((size(x, 1),) if scope.rank(x) == 1 else (size(x, 0), size(x, 1)))


def _reshaped(given: Arguments) -> Value:
    x = given.tree(0)
    wanted = [given.scope.whole(value) for value in given.rest(1)]
    match x, wanted:
        # A sum of rows made the column again that it is.
        case syntax.Indexed(syntax.Call("rowsum" | "rowmax", _) as column, (syntax.Slice(), 0)), [
            -1,
            1,
        ]:
            return column
        case syntax.Array(items), [_, columns] if not isinstance(items[0], syntax.Array):
            columns = columns if columns > 0 else len(items) // max(wanted[0], 1)
            if columns < 1 or len(items) % columns or wanted[0] not in (-1, len(items) // columns):
                raise UnreadCode
            cut = range(0, len(items), columns)
            span = x.span if isinstance(x, Labelled) else NOWHERE
            return Labelled(tuple(Labelled(items[i : i + columns]) for i in cut), span=span)
    shape = given.scope.shape(x)
    if shape == tuple(wanted):
        return x
    if shape is None or not 1 <= len(wanted) <= 2:
        raise UnreadCode
    return _shaped(x, prod(shape), wanted)


def _shaped(x: syntax.Tree, entries: int, wanted: Sequence[int]) -> syntax.Tree:
    """So many entries in another shape, of which one size may be left out."""
    rest = prod(size for size in wanted if size != -1)
    if wanted.count(-1) > 1 or min(wanted) < -1 or rest < 1 or entries % rest:
        raise UnreadCode
    sizes = [entries // rest if size == -1 else size for size in wanted]
    return call("reshape", x, *(number(str(size)) for size in sizes))


def _flat(given: Arguments) -> Value:
    x = given.tree(0)
    if not (shape := given.scope.shape(x)):
        raise UnreadCode
    return x if len(shape) == 1 else _shaped(x, prod(shape), [-1])


def _expanded(given: Arguments) -> Value:
    return expanded(given.scope, given.tree(0), given.scope.whole(given.option(AXES, 1)))


def expanded(scope: CodeScope, x: syntax.Tree, axis: int) -> syntax.Tree:
    """A vector as a column, or as a row."""
    shape = scope.shape(x)
    if shape is None or len(shape) != 1 or not -2 <= axis <= 1:
        raise UnreadCode
    return _shaped(x, shape[0], [1, -1] if axis in (0, -2) else [-1, 1])


#: By its last name, the function that arranges arrays.
ARRANGERS: Mapping[str, Callable[[Arguments], Value]] = {
    **dict.fromkeys(
        ("transpose", "swapaxes", "permute", "t", "adjoint", "matrix_transpose"), _transposed
    ),
    **dict.fromkeys(("concatenate", "concat", "cat", "hstack"), _concat),
    **dict.fromkeys(("stack", "vstack", "row_stack", "column_stack"), _stacked),
    "len": _length,
    **dict.fromkeys(("size", "shape"), _size),
    **dict.fromkeys(("reshape", "view"), _reshaped),
    **dict.fromkeys(("flatten", "ravel"), _flat),
    **dict.fromkeys(("unsqueeze", "expand_dims"), _expanded),
}
