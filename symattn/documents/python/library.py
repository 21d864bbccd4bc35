"""Functions of NumPy, PyTorch, JAX and TensorFlow and their meanings, by their last names."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import prod

from symattn.documents.python.code_values import (
    AXES,
    INFINITE,
    KEPT,
    MASKED,
    Applied,
    Arguments,
    CodeScope,
    Items,
    UnreadCode,
    Value,
    call,
    down,
    number,
)
from symattn.documents.trees import NOWHERE, Labelled, PrintedFigure
from symattn.expressions import syntax
from symattn.expressions.elementary import ELEMENTWISE

#: Names of libraries, as they are usually imported.
LIBRARIES = frozenset(
    {"np", "numpy", "jnp", "jax", "torch", "F", "nn", "functional", "tf", "tensorflow", "math",
     "scipy", "special", "sp", "mx", "cp", "cupy", "onp", "lax", "linalg", "keras", "mnp",
     "nd", "paddle", "ms"}
)  # fmt: skip
#: Functions of each entry, called as the grammar calls them.
ENTRYWISE = (*ELEMENTWISE, "abs", "sign", "relu", "sigmoid", "silu", "softplus")
_COLUMN = syntax.Slice(None, None, None)


# -- arrays that libraries make ----------------------------------------------------------
# Zeros, ones, identities, triangles, counts: their figures are printed nowhere. A triangle of
# ones whose size is not known stands as a call of
# :data:`~symattn.documents.python.code_values.BEYOND`.


def _sizes(given: Arguments) -> list[int]:
    """Rows and columns; of a vector how many entries it has."""
    shape = given.option(("shape", "size"))
    sizes = given.rest() if shape is None else shape.items if isinstance(shape, Items) else [shape]
    if not 1 <= len(sizes) <= 2:
        raise UnreadCode
    return [given.scope.whole(size) for size in sizes]


def _filled(text: str) -> Callable[[Arguments], Value]:
    def meaning(given: Arguments) -> Value:
        try:
            return given.scope.make(_sizes(given), lambda i, j: text)
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
        return given.scope.make(shape, lambda i, j: text)

    return meaning


def _full(given: Arguments) -> Value:
    entry = given.option(("fill_value", "value"), 1)
    if not isinstance(entry, syntax.Literal):
        raise UnreadCode
    sizes = Arguments(given.scope, given.values[:1], given.options, given.path, given.asked)
    return given.scope.make(_sizes(sizes), lambda i, j: entry.text)


def _square(keeps: Callable[[int, int], bool]) -> Callable[[Arguments], Value]:
    """Ones where the distance from the diagonal, and the offset, are kept."""

    def meaning(given: Arguments) -> Value:
        rows = given.scope.whole(given.option(("N", "n", "num_rows"), 0))
        offset = given.scope.whole(given.option(("k",), default=number("0")))
        return given.scope.make((rows, rows), lambda i, j: "1" if keeps(j - i, offset) else "0")

    return meaning


def _diagonal(given: Arguments) -> Value:
    x = given.scope.each(given.tree(0))
    if not isinstance(x, syntax.Array) or isinstance(x.items[0], syntax.Array):
        raise UnreadCode
    texts = [syntax.text(item) for item in x.items]
    return given.scope.make((len(texts), len(texts)), lambda i, j: texts[i] if i == j else "0")


def _counted(given: Arguments) -> Value:
    bounds = [given.scope.whole(value) for value in given.rest()]
    if not 1 <= len(bounds) <= 3 or bounds[2:] == [0]:
        raise UnreadCode
    counted = range(*bounds)
    return given.scope.make((len(counted),), lambda i, j: str(counted[j]))


def _triangle(keeps: Callable[[int, int], bool]) -> Callable[[Arguments], Value]:
    def meaning(given: Arguments) -> Value:
        x = given.tree(0)
        offset = given.scope.whole(given.option(("k", "diagonal"), 1, number("0")))
        if x == call("triangle", number("1")):
            return _unsized(keeps, offset)
        x = given.scope.each(x)
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


# -- masks -------------------------------------------------------------------------------
# Which arrays are masks, and numbers that are known held against others.

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


def _seen(entry: syntax.Literal) -> syntax.Literal:
    """The entry of a mask where one of zeros and minus infinities is added to scores."""
    if entry.text not in ("0", "0.0", "-inf"):
        raise UnreadCode
    return number("0" if entry.text == "-inf" else "1")


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
    known, mask = scope.each(array), chosen(hidden, number("1"), number("0"), scope)
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


# -- functions ---------------------------------------------------------------------------
# What they make of their arguments.


def _same(given: Arguments) -> Value:
    given.asked.update(given.options, range(len(given.values)))
    return given.value(0)


def _array(given: Arguments) -> Value:
    value = given.option(("object", "data", "value", "values"), 0)
    if isinstance(value, Items) and all(isinstance(item, str) for item in value.items):
        return value
    return given.scope.tree(value)


def _applied(function: str, count: int = 1) -> Callable[[Arguments], Value]:
    return lambda given: call(function, *map(given.tree, range(count)))


def power(scope: CodeScope, base: syntax.Tree, exponent: Value) -> syntax.Tree:
    """``base ** exponent``: a root, or a product."""
    text = exponent.text if isinstance(exponent, syntax.Literal) else ""
    match exponent, text:
        case syntax.Literal(), "0.5" | ".5":
            return call("sqrt", base)
        case syntax.Literal(), "-0.5" | "-.5":
            return syntax.Binary("/", number("1"), call("sqrt", base))
        case syntax.Binary("/", syntax.Literal("1" | "1.0"), syntax.Literal("2" | "2.0")), _:
            return call("sqrt", base)
    times = scope.whole(exponent)
    if not 1 <= abs(times) <= 4 or isinstance(base, syntax.Array):
        raise UnreadCode
    product = base
    for _ in range(abs(times) - 1):
        product = syntax.Binary("*", product, base)
    return product if times > 0 else syntax.Binary("/", number("1"), product)


def _product(given: Arguments) -> Value:
    left, right = given.tree(0), given.tree(1)
    if given.option(("transpose_a", "adjoint_a"), default=False) is True:
        left = syntax.Transposed(left)
    if given.option(("transpose_b", "adjoint_b"), default=False) is True:
        right = syntax.Transposed(right)
    return product(left, right)


def product(left: syntax.Tree, right: syntax.Tree) -> syntax.Tree:
    """The matrix product."""
    return syntax.Binary("@", left, right)


def _reduction(kind: str) -> Callable[[Arguments], Value]:
    def meaning(given: Arguments) -> Value:
        scope, x = given.scope, given.tree(0)
        # A norm has its order where others have the axis.
        axis = given.axis(2 if kind == "norm" else 1)
        rank = scope.rank(x)
        if given.path == kind:
            # Python's own: the sum of a matrix is that of its rows.
            if axis is not None or rank not in (1, 2) or (kind != "sum" and rank != 1):
                raise UnreadCode
            axis = 0
        everything = axis is None or rank == 1
        summed: syntax.Tree
        if kind in ("max", "min"):
            along = call if axis else down
            summed = call(kind, x) if everything else along(f"row{kind}", x)
        elif kind in ("var", "std", "norm"):
            options = {"ddof": _lost(given)} if kind != "norm" else {}
            summed = call(kind, x, **options, **({} if everything else {"axis": axis or 0}))
        else:
            summed = call("total" if everything else "rowsum" if axis else "colsum", x)
        if kind == "mean":
            summed = syntax.Binary("/", summed, count(scope, x, rank, axis))
        keeps = given.option(KEPT, default=False) is True
        if everything or keeps:
            return summed
        return syntax.Indexed(summed, (_COLUMN, 0) if axis else (0,))

    return meaning


def _lost(given: Arguments) -> int:
    """By how much less than their number squares are divided: 0 in NumPy, 1 in PyTorch."""
    unbiased = given.option(("unbiased",))
    if isinstance(unbiased, bool):
        return int(unbiased)
    if (number_ := given.option(("ddof", "correction"))) is not None:
        return given.scope.whole(number_)
    library = given.path.partition(".")[0]
    words = set(given.options)
    if library in ("np", "numpy", "jnp") or words & {"axis", "keepdims"}:
        return 0
    if library == "torch" or words & {"dim", "keepdim"}:
        return 1
    raise UnreadCode


def _softmax(given: Arguments) -> Value:
    scope, x = given.scope, given.tree(0)
    axis = given.axis()
    if axis == 0:
        return down("softmax", x)
    if axis is None and "special" in given.path and scope.rank(x) == 2:
        return syntax.Binary("/", call("exp", x), call("total", call("exp", x)))
    return call("softmax", x)


def negated(keep: syntax.Tree) -> syntax.Tree:
    """Return what a mask leaves out: 1 where it has 0."""
    match keep:
        case syntax.Call("not", (inner,)):
            return inner
    return call("not", keep)


def kept(keep: syntax.Tree) -> syntax.Tree:
    """A mask as the grammar has it."""
    match keep:
        case syntax.Call("not", (inner,)):
            return syntax.Binary("-", number("1"), inner)
    return keep


def masked(scores: syntax.Tree, keep: syntax.Tree, fill: Value, scope: CodeScope) -> syntax.Tree:
    """Scores where the mask has 1; elsewhere what they are filled with."""
    is_itself = scores in (keep, negated(keep))
    if isinstance(fill, syntax.Literal) and (is_itself or fill != MASKED):
        with suppress(UnreadCode):
            return replaced(scores, negated(keep), fill, scope)
    if is_itself:
        raise UnreadCode
    if fill == MASKED:
        is_causal = keep == call("triangle")
        return call("causal", scores) if is_causal else call("mask", scores, kept(keep))
    if not isinstance(fill, syntax.Literal) or fill == INFINITE:
        raise UnreadCode
    left = kept(negated(keep))
    return syntax.Binary(
        "+", syntax.Binary("*", scores, kept(keep)), syntax.Binary("*", left, fill)
    )


def added(left: syntax.Tree, right: syntax.Tree, scope: CodeScope) -> syntax.Tree:
    """A sum; where an array of zeros and minus infinity is added, what it hides."""
    for scores, fills in ((left, right), (right, left)):
        with suppress(UnreadCode):
            if scope.shape(fills) and not is_mask(fills, scope):
                return masked(scores, scope.each(fills, _seen), MASKED, scope)
    return syntax.Binary("+", left, right)


def _where(given: Arguments) -> Value:
    condition, yes, no = given.tree(0), given.value(1), given.value(2)
    if isinstance(yes, syntax.Literal) and isinstance(no, syntax.Literal):
        return chosen(condition, yes, no, given.scope)
    if isinstance(no, syntax.Literal):
        return masked(given.tree(1), condition, no, given.scope)
    return masked(given.tree(2), negated(condition), yes, given.scope)


def _bounded(given: Arguments) -> Value:
    x, low = given.tree(0), given.option(("a_min", "min"), 1)
    high = given.option(("a_max", "max"), 2)
    if low is not None and high is not None:
        return call("clip", x, given.scope.tree(low), given.scope.tree(high))
    function, bound = ("minimum", high) if low is None else ("maximum", low)
    return call(function, x, given.scope.tree(bound))


def _attention(given: Arguments) -> Value:
    q, k, v = (given.tree(place) for place in range(3))
    scores = syntax.Binary("/", product(q, syntax.Transposed(k)), call("sqrt", call("cols", q)))
    keep = given.option(("attn_mask",), 3)
    if given.option(("dropout_p",), 4, number("0.0")) != number("0.0"):
        raise UnreadCode
    tree: syntax.Tree = scores
    if given.option(("is_causal",), default=False) is True:
        tree = call("causal", scores)
    elif keep is not None:
        raise UnreadCode
    return product(call("softmax", tree), v)


def _einsum(given: Arguments) -> Value:
    subscripts = given.value(0)
    if not isinstance(subscripts, str):
        raise UnreadCode
    match = re.fullmatch(r"(\w)(\w),(\w)(\w)->(\w)(\w)", subscripts.replace(" ", ""))
    if not match:
        raise UnreadCode
    a, b, c, d, *out = match.groups()
    x, y = given.tree(1), given.tree(2)
    for left, row, inner in ((x, a, b), (syntax.Transposed(x), b, a)):
        for right, other, column in ((y, c, d), (syntax.Transposed(y), d, c)):
            is_product = inner == other and len({row, inner, column}) == 3
            if is_product and {*out} == {row, column}:
                tree = product(left, right)
                return tree if out == [row, column] else syntax.Transposed(tree)
    raise UnreadCode


def _infinite(given: Arguments) -> Value:
    """``float("-inf")``."""
    value = given.value(0)
    if isinstance(value, str):
        text = value.strip().lower().replace("infinity", "inf")
        known = {"-inf": MASKED, "inf": INFINITE, "+inf": INFINITE}
        if text not in known:
            raise UnreadCode
        return known[text]
    return given.tree(0)


def _prepared(given: Arguments) -> Value:
    axis = given.option(AXES, 0)
    return Applied("softmax", {} if axis is None else {"dim": axis})


def _operation(op: str) -> Callable[[Arguments], Value]:
    return lambda given: syntax.Binary(op, given.tree(0), given.tree(1))


#: Functions and methods that leave the numbers as they are.
_SAME = frozenset(
    {"astype", "float", "double", "half", "numpy", "detach", "item", "tolist", "copy", "clone",
     "cpu", "cuda", "to", "bool", "contiguous", "requires_grad_", "type", "float32", "float64",
     "float16", "asarray_chkfinite", "squeeze", "block_until_ready", "DataFrame", "Series",
     "to_numpy", "convert_to_tensor", "Parameter", "cast", "stop_gradient"}
)  # fmt: skip
#: Functions that make numbers nobody knows.
RANDOM = re.compile(
    r"\b(?:random|rand\w*|normal\w*|uniform\w*|Linear|Embedding|default_rng|PRNGKey)\b"
)

#: By its last name, what a function makes of its arguments.
FUNCTIONS: Mapping[str, Callable[[Arguments], Value]] = {
    **dict.fromkeys(_SAME, _same),
    **dict.fromkeys(
        ("array", "asarray", "tensor", "as_tensor", "Tensor", "FloatTensor", "matrix",
         "constant", "Variable", "from_numpy", "mat", "list", "tuple"), _array,
    ),
    **{name: _applied(name) for name in ENTRYWISE},
    "expit": _applied("sigmoid"),
    "log1p": lambda given: call("log", syntax.Binary("+", number("1"), given.tree(0))),
    "expm1": lambda given: syntax.Binary("-", call("exp", given.tree(0)), number("1")),
    **{name: _applied(name, 2) for name in ("maximum", "minimum", "outer")},
    **dict.fromkeys(("clip", "clamp"), _bounded),
    "float": _infinite,
    "rsqrt": lambda given: syntax.Binary("/", number("1"), call("sqrt", given.tree(0))),
    **dict.fromkeys(
        ("power", "pow"),
        lambda given: power(given.scope, given.tree(0), given.option(("exponent",), 1)),
    ),
    "square": lambda given: power(given.scope, given.tree(0), number("2")),
    **dict.fromkeys(("dot", "matmul", "mm", "mv"), _product),
    **dict.fromkeys(("sum", "reduce_sum"), _reduction("sum")),
    **dict.fromkeys(("mean", "reduce_mean", "average"), _reduction("mean")),
    **dict.fromkeys(("max", "amax", "reduce_max"), _reduction("max")),
    **dict.fromkeys(("min", "amin", "reduce_min"), _reduction("min")),
    **{kind: _reduction(kind) for kind in ("var", "std", "norm")},
    **dict.fromkeys(("zeros", "empty"), _filled("0")),
    "ones": _filled("1"),
    **dict.fromkeys(("zeros_like", "empty_like"), _filled_like("0")),
    "ones_like": _filled_like("1"),
    **dict.fromkeys(("full", "fill"), _full),
    **dict.fromkeys(("eye", "identity"), _square(operator.eq)),
    "tri": _square(operator.le),
    "diag": _diagonal,
    **dict.fromkeys(("arange", "range"), _counted),
    "tril": _triangle(operator.le),
    "triu": _triangle(operator.ge),
    **dict.fromkeys(("tril_indices", "tril_indices_from"), _indices(operator.le)),
    **dict.fromkeys(("triu_indices", "triu_indices_from"), _indices(operator.ge)),
    "softmax": _softmax,
    "log_softmax": lambda given: call("log", given.scope.tree(_softmax(given))),
    **dict.fromkeys(("Softmax", "Softmax1d"), _prepared),
    **dict.fromkeys(
        ("masked_fill", "masked_fill_"),
        lambda given: masked(
            given.tree(0), negated(given.tree(1)), given.option(("value",), 2), given.scope
        ),
    ),
    "where": _where,
    "logical_not": lambda given: negated(given.tree(0)),
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
    "scaled_dot_product_attention": _attention,
    "einsum": _einsum,
    **{name: _operation(op) for name, op in (
        ("multiply", "*"), ("mul", "*"), ("divide", "/"), ("div", "/"), ("true_divide", "/"),
        ("add", "+"), ("subtract", "-"), ("sub", "-"),
    )},
}  # fmt: skip


def simplified(tree: syntax.Tree, scope: CodeScope) -> syntax.Tree:
    """A quotient of exponentials by their own sum as the softmax that it is; a shift
    that is the same for a whole row is no difference.

    >>> from symattn.expressions.syntax import parse, text
    >>> text(simplified(parse("exp(S - rowmax(S)) / rowsum(exp(S - rowmax(S)))"), CodeScope()))
    'softmax(S)'
    """
    match tree:
        case syntax.Binary(
            "/", syntax.Transposed(above), syntax.Indexed(syntax.Call("rowsum") as below, keys)
        ) if keys == (_COLUMN, 0):
            # Each row, as a column, by its own sum.
            shares = simplified(syntax.Binary("/", above, below), scope)
            return syntax.Transposed(shares) if isinstance(shares, syntax.Call) else tree
        case syntax.Binary(
            "/", syntax.Call("exp", (power,)), syntax.Call(sum_, (syntax.Call("exp", (other,)),))
        ) if power == other and sum_ in ("rowsum", "colsum", "total"):
            match power:
                case syntax.Binary("-", scores, shift):
                    along = down("rowmax", scores) if sum_ == "colsum" else call("rowmax", scores)
                    if shift == call("max", scores) or (sum_ != "total" and shift == along):
                        power = scores
            if sum_ == "rowsum" or (sum_ == "total" and scope.rank(power) == 1):
                return call("softmax", power)
            if sum_ == "colsum":
                return down("softmax", power)
            exponentials = call("exp", power)
            return syntax.Binary("/", exponentials, call("total", exponentials))
    return tree


def scaled_array(
    op: str, array: syntax.Tree, factor: syntax.Tree, scope: CodeScope
) -> syntax.Tree | None:
    """An array that is printed nowhere times or by a number, in full; else None."""
    if (
        not isinstance(array, Labelled)
        or array.span != NOWHERE
        or not isinstance(factor, PrintedFigure)
    ):
        return None
    if op not in "*/" or factor in (MASKED, INFINITE):
        return None

    def entry(tree: syntax.Tree) -> syntax.Tree:
        match tree:
            case syntax.Array(items):
                return replace(array, items=tuple(map(entry, items)))
            case PrintedFigure("0" | "-inf"):
                return tree
            case PrintedFigure("1") if op == "*":
                return number(factor.text)
        raise UnreadCode

    try:
        return entry(array)
    except UnreadCode:
        return None
