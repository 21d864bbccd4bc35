"""Functions of NumPy, PyTorch, JAX and TensorFlow and their meanings as formulas, by their last
names."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb

from symattn.documents.running.formulas import (
    COLUMN,
    ENTRYWISE,
    Formulas,
    Unread,
    call,
    down,
    expanded,
    literal,
    masked,
    negated,
    number,
    power,
    rank,
    shape_of,
    shown,
    turned,
)
from symattn.documents.running.numbers import Array, Unknown, leaves, whole
from symattn.documents.trees import NOWHERE, Labelled
from symattn.expressions import syntax

# -- what functions are called with --------------------------------------------------------

#: What libraries call the axis of a sum, and that it keeps its place.
_AXES = ("axis", "dim", "axes")
_KEPT = ("keepdims", "keepdim", "keep_dims")
#: Arguments that change no number.
_UNMEANT = {"dtype", "device", "requires_grad", "index", "columns", "copy"}


@dataclass
class Given:
    """The arguments of a call; of a method the first is what it is a method of.

    What is asked for is remembered: a function is not understood where it is called with
    something that nobody asked for (``weights=``, ``where=``).
    """

    formulas: Formulas
    values: Sequence[Any]
    options: Mapping[str, Any]
    path: str
    found: Any
    asked: set[str | int] = field(default_factory=set)

    def tree(self, place: int) -> syntax.Tree:
        """An argument as a tree."""
        return self.formulas.of(self.value(place))

    def value(self, place: int) -> Any:
        """An argument by its place."""
        if place >= len(self.values):
            raise Unread
        self.asked.add(place)
        return self.values[place]

    def rest(self, place: int = 0) -> Sequence[Any]:
        """All arguments from a place on; those of a list, where it is the only one."""
        self.asked.update(range(place, len(self.values)))
        values = self.values[place:]
        return values[0] if len(values) == 1 and isinstance(values[0], list | tuple) else values

    @property
    def is_spent(self) -> bool:
        """Return whether all of it has been asked for."""
        return self.asked >= {*range(len(self.values)), *(self.options.keys() - _UNMEANT)}

    def option(self, names: Sequence[str], place: int | None = None, default: Any = None) -> Any:
        """An argument by one of its names, or its place."""
        for name in names:
            if name in self.options:
                self.asked.add(name)
                return self.options[name]
        if place is not None and place < len(self.values):
            return self.value(place)
        return default

    def axis(self, place: int = 1) -> int | None:
        """Along which axis: 0 down the columns, -1 along the rows; None along all."""
        value = self.option(_AXES, place)
        if value is None:
            return None
        if isinstance(value, list | tuple) and len(value) == 1:
            value = value[0]
        axis, axes = whole(value), self.rank(0)
        if axes is not None and axes > 2:
            raise Unread
        if axis in (-1, (axes or 2) - 1):
            return -1
        if axis in (0, -2) and axes != 1:
            return 0
        raise Unread

    def rank(self, place: int) -> int | None:
        """Return how many axes an argument has, where that is known."""
        return rank(self.values[place], self.tree(place))


_Meaning = Callable[[Given], syntax.Tree]


def called(
    formulas: Formulas, path: str, values: Sequence[Any], options: Mapping[str, Any], found: Any
) -> syntax.Tree:
    """The formula of what a function of a library gives, or a method; raises :class:`Unread`."""
    meaning = FUNCTIONS.get(path.rpartition(".")[2])
    if meaning is None:
        raise Unread
    given = Given(formulas, values, options, path, found)
    tree = meaning(given)
    if not given.is_spent:
        raise Unread
    return tree


def _same(given: Given) -> syntax.Tree:
    given.asked.update(given.options, range(len(given.values)))
    return given.tree(0)


def _kept_whole(given: Given) -> syntax.Tree:
    """Numbers of another type: fractions may be lost where it is one of whole numbers."""
    values = [*given.values[1:], *given.options.values()]
    told = " ".join(map(_kind, values))
    if _keeps_whole(f"{given.path} {told}") and not _is_whole(given.values[0]):
        raise Unread
    return _same(given)


def _is_whole(value: Any) -> bool:
    """Return whether all entries are whole numbers, as far as anybody knows."""
    if isinstance(value, Unknown):
        return True
    return all(
        isinstance(one, int) or (isinstance(one, arb) and one.is_exact() and one.is_integer())
        for one in leaves(value)
    )


def _array(given: Given) -> syntax.Tree:
    value = given.option(("object", "data", "value", "values"), 0)
    kind = given.option(("dtype",), 1) if len(given.values) > 1 else given.options.get("dtype")
    if _keeps_whole(_kind(kind)) and not _is_whole(value):
        raise Unread
    return given.formulas.of(value)


def _kind(value: Any) -> str:
    """The name of a type."""
    return value if isinstance(value, str) else str(getattr(value, "path", ""))


#: Types of numbers that have no room for fractions.
_keeps_whole = re.compile(r"\b(?:u?int\d*|long|bool)\b").search


def _made(given: Given) -> syntax.Tree:
    """An array whose figures are printed nowhere."""
    if not isinstance(given.found, Array) or not isinstance(given.found.data, np.ndarray):
        raise Unread
    given.asked.update(given.options, range(len(given.values)))
    return literal(given.found)


def _ones(given: Given) -> syntax.Tree:
    """Ones, of some size."""
    if isinstance(given.found, Array):
        return _made(given)
    given.asked.update(given.options, range(len(given.values)))
    if any(isinstance(one, Unknown) for one in given.rest()):
        return call("triangle", number("1"))
    raise Unread


def _triangle(keeps: Callable[[int, int], bool]) -> _Meaning:
    def meaning(given: Given) -> syntax.Tree:
        if isinstance(given.found, Array):
            return _made(given)
        x, offset = given.tree(0), whole(given.option(("k", "diagonal"), 1, 0))
        if x != call("triangle", number("1")):
            raise Unread
        return _unsized(keeps, offset)

    return meaning


def _unsized(keeps: Callable[[int, int], bool], offset: int) -> syntax.Tree:
    """A triangle of ones of some size: the lower one, or what it leaves."""
    if keeps(-1, 0) and offset == 0:
        return call("triangle")
    if not keeps(-1, 0) and offset == 1:
        return call("not", call("triangle"))
    raise Unread


def _indices(keeps: Callable[[int, int], bool]) -> _Meaning:
    """``triu_indices``: as a mask of where they are, whatever its size."""

    def meaning(given: Given) -> syntax.Tree:
        given.rest()
        return _unsized(keeps, whole(given.option(("k", "offset"), 1, 0)))

    return meaning


def _applied(function: str, count: int = 1) -> _Meaning:
    return lambda given: call(function, *map(given.tree, range(count)))


def _operation(op: str) -> _Meaning:
    return lambda given: syntax.Binary(op, given.tree(0), given.tree(1))


def _product(given: Given) -> syntax.Tree:
    left, right = given.tree(0), given.tree(1)
    if given.option(("transpose_a", "adjoint_a"), default=False) is True:
        left = syntax.Transposed(left)
    if given.option(("transpose_b", "adjoint_b"), default=False) is True:
        right = syntax.Transposed(right)
    return syntax.Binary("@", left, right)


def _linear(given: Given) -> syntax.Tree:
    """A layer without activation: ``x W^T + b``."""
    weight, bias = given.value(1), given.option(("bias",), 2)
    product = syntax.Binary("@", given.tree(0), turned(weight, given.tree(1)))
    is_none = bias is None or (isinstance(bias, Array) and all(one == 0 for one in bias.data.flat))
    return product if is_none else syntax.Binary("+", product, given.formulas.of(bias))


def _reduction(kind: str) -> _Meaning:
    def meaning(given: Given) -> syntax.Tree:
        x = given.tree(0)
        # A norm has its order where others have the axis.
        axis = given.axis(2 if kind == "norm" else 1)
        axes = given.rank(0)
        if given.path == f"builtins.{kind}":
            # Python's own: the sum of a matrix is that of its rows.
            if axis is not None or axes not in (1, 2) or (kind != "sum" and axes != 1):
                raise Unread
            axis = 0
        if axes is not None and axes > 2:
            raise Unread
        everything = axis is None or axes == 1
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
            summed = syntax.Binary("/", summed, _count(x, axes, axis))
        keeps = given.option(_KEPT, default=False) is True
        if everything or keeps:
            return summed
        return syntax.Indexed(summed, (COLUMN, 0) if axis else (0,))

    return meaning


def _count(x: syntax.Tree, axes: int | None, axis: int | None) -> syntax.Tree:
    """Return how many entries there are along an axis, or in all."""
    if axis is not None or axes == 1:
        return call("cols" if axis or axes == 1 else "rows", x)
    return syntax.Binary("*", call("rows", x), call("cols", x))


def _lost(given: Given) -> int:
    """By how much less than their number squares are divided: 0 in NumPy, 1 in PyTorch."""
    unbiased = given.option(("unbiased",))
    if isinstance(unbiased, bool):
        return int(unbiased)
    if (less := given.option(("ddof", "correction"))) is not None:
        return whole(less)
    library = given.path.partition(".")[0]
    if isinstance(given.values[0], Array):
        return int(given.values[0].is_torch)
    words = set(given.options)
    if library in ("numpy", "jax") or words & {"axis", "keepdims"}:
        return 0
    if library == "torch" or words & {"dim", "keepdim"}:
        return 1
    raise Unread


def _softmax(given: Given) -> syntax.Tree:
    x, axis = given.tree(0), given.axis()
    if axis == 0:
        return down("softmax", x)
    if axis is None and given.path.startswith("scipy") and given.rank(0) in (2, None):
        if given.rank(0) is None:
            raise Unread
        return syntax.Binary("/", call("exp", x), call("total", call("exp", x)))
    return call("softmax", x)


def _filled(given: Given) -> syntax.Tree:
    """``masked_fill``."""
    return _chosen(given, given.value(1), given.option(("value",), 2), given.value(0))


def _where(given: Given) -> syntax.Tree:
    return _chosen(given, given.value(0), given.value(1), given.value(2))


def _chosen(given: Given, condition: Any, yes: Any, no: Any) -> syntax.Tree:
    singles = [isinstance(one, int | arb) for one in (yes, no)]
    of = given.formulas.of
    where = of(condition)
    for value, other, is_single, is_hidden in ((yes, no, singles[0], True),
                                               (no, yes, singles[1], False)):  # fmt: skip
        if not is_single:
            continue
        is_itself = not isinstance(other, int | arb) and of(other) in (where, negated(where))
        if all(singles) or is_itself or given.formulas.is_made(other):
            return literal(given.found)
        fill = of(value)
        return masked(of(other), given.formulas.kept(condition, is_hidden, fill), fill)
    raise Unread


def _clipped(given: Given) -> syntax.Tree:
    x, low = given.tree(0), given.option(("a_min", "min"), 1)
    high, of = given.option(("a_max", "max"), 2), given.formulas.of
    if low is not None and high is not None:
        return call("clip", x, of(low), of(high))
    function, bound = ("minimum", high) if low is None else ("maximum", low)
    return call(function, x, of(bound))


def _attention(given: Given) -> syntax.Tree:
    q, k, v = (given.tree(place) for place in range(3))
    scores = syntax.Binary(
        "/", syntax.Binary("@", q, syntax.Transposed(k)), call("sqrt", call("cols", q))
    )
    if given.option(("dropout_p",), 4, 0) != 0 or given.option(("attn_mask",), 3) is not None:
        raise Unread
    if given.option(("is_causal",), default=False) is True:
        scores_: syntax.Tree = call("causal", scores)
    else:
        scores_ = scores
    return syntax.Binary("@", call("softmax", scores_), v)


def _einsum(given: Given) -> syntax.Tree:
    subscripts = given.value(0)
    match = isinstance(subscripts, str) and re.fullmatch(
        r"(\w)(\w),(\w)(\w)->(\w)(\w)", subscripts.replace(" ", "")
    )
    if not match:
        raise Unread
    a, b, c, d, *out = match.groups()
    x, y = given.tree(1), given.tree(2)
    for left, row, inner in ((x, a, b), (syntax.Transposed(x), b, a)):
        for right, other, column in ((y, c, d), (syntax.Transposed(y), d, c)):
            is_product = inner == other and len({row, inner, column}) == 3
            if is_product and {*out} == {row, column}:
                tree = syntax.Binary("@", left, right)
                return tree if out == [row, column] else syntax.Transposed(tree)
    raise Unread


def _transposed(given: Given) -> syntax.Tree:
    axes = given.option((*_AXES, "perm", "dims"), 1)
    is_order = isinstance(axes, list | tuple) or given.path.endswith("permute")
    listed = axes if isinstance(axes, list | tuple) else given.rest(1)
    wanted = [whole(axis) for axis in listed]
    order = [axis % 2 for axis in wanted if -2 <= axis <= 1]
    if len(order) < len(wanted) or sorted(order) not in ([], [0, 1]):
        raise Unread
    return given.tree(0) if is_order and order == [0, 1] else turned(given.value(0), given.tree(0))


def _concatenated(given: Given) -> syntax.Tree:
    parts, axis = given.value(0), given.option(_AXES, 1, 0)
    if not isinstance(parts, list | tuple) or not parts:
        raise Unread
    along = 1 if "hstack" in given.path else whole(axis)
    trees = [given.formulas.of(part) for part in parts]
    ranks = {rank(part, tree) for part, tree in zip(parts, trees, strict=True)}
    if along in (-1, 1) or ranks == {1}:
        return call("concat", *trees)
    if along not in (0, -2) or ranks != {2}:
        raise Unread
    return call("concat", *trees, axis=0)


def _stacked(given: Given) -> syntax.Tree:
    parts, axis = given.value(0), given.option(_AXES, 1, 0)
    ranks = {rank(part) for part in parts} if isinstance(parts, list | tuple) else set()
    if ranks == {2} and "vstack" in given.path:
        return _concatenated(given)
    stack = given.tree(0)
    if given.path.endswith("column_stack") or whole(axis) in (1, -1):
        if ranks != {1}:
            raise Unread
        return syntax.Transposed(stack)
    return stack


def _reshaped(given: Given) -> syntax.Tree:
    x, found = given.tree(0), given.found
    wanted = [whole(value) for value in given.rest(1)]
    match x, wanted:
        # A sum of rows made the column again that it is.
        case syntax.Indexed(syntax.Call("rowsum" | "rowmax", _) as column, (syntax.Slice(), 0)), [
            -1,
            1,
        ]:
            return column
        case syntax.Array(items), [_, _] if not isinstance(items[0], syntax.Array) and isinstance(
            found, Array
        ):
            columns = found.shape[1]
            span = x.span if isinstance(x, Labelled) else NOWHERE
            rows = (Labelled(items[i : i + columns]) for i in range(0, len(items), columns))
            return Labelled(tuple(rows), span=span)
    if not isinstance(found, Array) or not 1 <= found.data.ndim <= 2:
        raise Unread
    if found.shape == shape_of(given.values[0]):
        return x
    return call("reshape", x, *(number(str(size)) for size in found.shape))


def _flattened(given: Given) -> syntax.Tree:
    given.rest(1)
    if not isinstance(given.found, Array) or given.found.data.ndim != 1:
        raise Unread
    x = given.tree(0)
    return x if given.rank(0) == 1 else call("reshape", x, number(str(given.found.shape[0])))


def _length_of(given: Given) -> syntax.Tree:
    value = given.value(0)
    if isinstance(value, Array | Unknown):
        return call("rows", given.tree(0))
    return number(str(len(value)))


def _size(given: Given) -> syntax.Tree:
    x, axis = given.tree(0), given.option(_AXES, 1)
    axes = given.rank(0)
    if axis is None:
        if given.path.endswith("shape"):
            raise Unread
        return _count(x, axes, None)
    at = whole(axis)
    if at not in (0, 1, -1, -2):
        raise Unread
    return call("rows" if at in (0, -2) and axes != 1 else "cols", x)


def _power_of(given: Given) -> syntax.Tree:
    value = given.option(("exponent",), 1)
    return power(given.tree(0), given.formulas.of(value), value)


def _infinite(given: Given) -> syntax.Tree:
    """``float("-inf")``, or a number as it is."""
    value = given.value(0)
    if isinstance(value, str):
        return given.formulas.of(given.found)
    return given.tree(0)


def _rounded(given: Given) -> syntax.Tree:
    given.asked.update(given.options, range(len(given.values)))
    tree = given.tree(0)
    return tree if shown(tree) is not tree else call("rounded", tree)


def _of_tokens(names: str, meaning: _Meaning) -> Mapping[str, _Meaning]:
    return dict.fromkeys(names.split(), meaning)


#: By its last name, what a function makes of its arguments.
FUNCTIONS: Mapping[str, _Meaning] = {
    **_of_tokens(
        "double half numpy detach item tolist copy clone cpu cuda contiguous requires_grad_ float32"
        " float64 float16 asarray_chkfinite squeeze block_until_ready DataFrame Series to_numpy"
        " convert_to_tensor Parameter stop_gradient values", _same,
    ),
    **_of_tokens("astype to type bool int long cast", _kept_whole),
    **_of_tokens(
        "array asarray tensor as_tensor Tensor FloatTensor matrix constant Variable from_numpy mat"
        " list tuple ascontiguousarray", _array,
    ),
    **_of_tokens("round around array2string array_repr array_str set_precision", _rounded),
    **{name: _applied(name) for name in ENTRYWISE},
    "absolute": _applied("abs"),
    "expit": _applied("sigmoid"),
    "log1p": lambda given: call("log", syntax.Binary("+", number("1"), given.tree(0))),
    "expm1": lambda given: syntax.Binary("-", call("exp", given.tree(0)), number("1")),
    **{name: _applied(name, 2) for name in ("maximum", "minimum", "outer")},
    **_of_tokens("clip clamp", _clipped),
    "float": _infinite,
    "rsqrt": lambda given: syntax.Binary("/", number("1"), call("sqrt", given.tree(0))),
    **_of_tokens("power pow", _power_of),
    "square": lambda given: power(given.tree(0), number("2"), 2),
    **_of_tokens("dot matmul mm mv", _product),
    **_of_tokens("sum reduce_sum", _reduction("sum")),
    **_of_tokens("mean reduce_mean average", _reduction("mean")),
    **_of_tokens("max amax reduce_max", _reduction("max")),
    **_of_tokens("min amin reduce_min", _reduction("min")),
    **{kind: _reduction(kind) for kind in ("var", "std", "norm")},
    **_of_tokens(
        "zeros empty zeros_like empty_like full full_like fill eye identity tri diag arange", _made
    ),
    **_of_tokens("ones ones_like", _ones),
    "tril": _triangle(operator.le),
    "triu": _triangle(operator.ge),
    **_of_tokens("tril_indices tril_indices_from", _indices(operator.le)),
    **_of_tokens("triu_indices triu_indices_from", _indices(operator.ge)),
    "softmax": _softmax,
    "log_softmax": lambda given: call("log", _softmax(given)),
    **_of_tokens("masked_fill masked_fill_", _filled),
    "where": _where,
    "logical_not": lambda given: negated(given.tree(0)),
    **_of_tokens("transpose swapaxes permute t adjoint matrix_transpose", _transposed),
    **_of_tokens("concatenate concat cat hstack", _concatenated),
    **_of_tokens("stack vstack row_stack column_stack", _stacked),
    "len": _length_of,
    **_of_tokens("size shape", _size),
    **_of_tokens("reshape view", _reshaped),
    **_of_tokens("flatten ravel", _flattened),
    **_of_tokens(
        "unsqueeze expand_dims",
        lambda given: expanded(given.value(0), given.tree(0), whole(given.option(_AXES, 1))),
    ),
    "scaled_dot_product_attention": _attention,
    "einsum": _einsum,
    "linear": _linear,
    **_of_tokens("multiply mul", _operation("*")),
    **_of_tokens("divide div true_divide", _operation("/")),
    "add": _operation("+"),
    **_of_tokens("subtract sub", _operation("-")),
}  # fmt: skip
