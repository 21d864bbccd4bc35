"""Arrays put together, turned and in other shapes: their figures are those they had."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from symattn import syntax
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


def count(scope: CodeScope, x: syntax.Tree, rank: int | None, axis: int | None) -> syntax.Tree:
    """How many entries there are along an axis, or in all."""
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
