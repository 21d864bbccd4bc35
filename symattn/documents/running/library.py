"""The functions of NumPy, PyTorch and their kin, over arrays whose numbers are balls.

Each is a row of :data:`LIBRARY` by its last name; ``axis`` is ``dim`` of PyTorch, and ``keepdims``
its ``keepdim``. What they raise says that nothing is known of what they give.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from flint import arb

from symattn.documents.running.numbers import (
    FUNCTIONS,
    NOBODY_KNOWS,
    OPERATORS,
    Array,
    Lost,
    Pair,
    Scalar,
    Thing,
    array,
    ball,
    cut,
    each,
    is_unknown,
    made,
    product,
    rounded,
    small,
    truth,
    whole,
)
from symattn.numbers.balls import charge

#: A function of a library: arguments in, a value out.
Meaning = Callable[..., Any]
#: Arguments that change no number.
_UNMEANT = (
    {"dtype", "device", "out", "requires_grad", "optimize", "copy", "order", "inplace"}
)  # fmt: skip
_ALIASES = {"dim": "axis", "keepdim": "keepdims", "axes": "axis", "dims": "axis", "input": "x"}
#: Types of whole numbers.
WHOLE = {"int", "int8", "int16", "int32", "int64", "long", "uint8", "short"}


def call(name: str, arguments: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """Return what a function of a library gives; raises any :class:`Exception` where it isn't
    known, or gives nothing for these values."""
    meant = {_ALIASES.get(key, key): value for key, value in given.items()}
    kept = {key: value for key, value in meant.items() if key not in _UNMEANT}
    value = LIBRARY[name](*arguments, **kept)
    return cast(value, meant["dtype"]) if meant.get("dtype") is not None else value


def cast(value: Any, kind: object) -> Any:
    """A value as numbers of another type: whole ones lose what stands behind the point."""
    name = str(getattr(kind, "name", kind))
    if name in WHOLE:
        return each(cut, value)
    return each(truth if name == "bool" else lambda x: int(x) if isinstance(x, bool) else x, value)


# -- arguments -----------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """An argument that says where or how often: a whole number, or several."""
    match value:
        case None | bool():
            return value
        case list() | tuple():
            return tuple(map(plain, value))
    return small(value)


def spread(values: Sequence[Any]) -> Sequence[Any]:
    """Arguments that are told one by one, or together."""
    return values[0] if len(values) == 1 and isinstance(values[0], list | tuple) else values


def filled(shape: Any, value: Scalar, is_torch: bool = False) -> Array:
    """An array of one number."""
    sizes = plain(shape) if isinstance(shape, list | tuple) else (small(shape),)
    charge(small(prod(sizes)))
    data = np.empty(sizes, dtype=object)
    data[...] = value
    return Array(data, is_torch)


def _constant(value: arb) -> Meaning:
    def meaning(*sizes: Any, size: Any = None, shape: Any = None) -> Array:
        told = size if shape is None else shape
        return filled(spread(sizes) if told is None else told, value)

    return meaning


def _alike(value: arb) -> Meaning:
    """An array of one number like another; whole numbers are its own where that has them."""

    def meaning(x: Any) -> Any:
        are_whole = value.is_finite() and all(isinstance(one, int) for one in array(x).data.flat)
        return each(lambda _: whole(value) if are_whole else value, x)

    return meaning


def _moved(of: Callable[..., Any]) -> Meaning:
    """A function of NumPy that only moves entries."""

    def meaning(x: Any, *arguments: Any, **given: Any) -> Any:
        keys = {key: plain(value) for key, value in given.items()}
        return made(of(array(x).data, *map(plain, arguments), **keys), array(x))

    return meaning


def _joined(of: Callable[..., Any]) -> Meaning:
    """A function of NumPy that puts arrays together."""

    def meaning(parts: Any, *arguments: Any, **given: Any) -> Any:
        arrays = [array(one) for one in parts]
        keys = {key: plain(value) for key, value in given.items()}
        return made(of([one.data for one in arrays], *map(plain, arguments), **keys), *arrays)

    return meaning


def _of_one(function: Callable[[arb], Any]) -> Meaning:
    return lambda x: each(lambda entry: function(ball(entry)), x)


def _of_two(sign: str) -> Meaning:
    return lambda x, y: each(OPERATORS[sign], x, y)


def _arange(*bounds: Any) -> Array:
    if all(isinstance(one, int) for one in bounds):
        small(len(range(*bounds)))
        return array([*range(*bounds)])
    start, stop, step = map(ball, (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3])
    count = -small((-((stop - start) / step)).floor())
    return array([start + k * step for k in range(count)])


def _linspace(start: Any, stop: Any, num: Any = 50, steps: Any = None) -> Array:
    count = small(num if steps is None else steps)
    step = (ball(stop) - start) / (count - 1)
    return array([start + k * step for k in range(count)])


def _square(of: Callable[..., Any]) -> Meaning:
    """Ones on a diagonal, or up to one."""

    def meaning(rows: Any, columns: Any = None, k: Any = 0, **given: Any) -> Array:
        columns = given.get("M", given.get("m", rows if columns is None else columns))
        small(small(rows) * small(columns))
        return Array(of(small(rows), small(columns), small(k), dtype=int).astype(object))

    return meaning


def _array(x: Any) -> Any:
    found = array(x)
    return made(found.data.copy(), found)


def _clip(x: Any, low: Any = None, high: Any = None, **given: Any) -> Any:
    low, high = (given.get(f"{key}", own) for key, own in (("min", low), ("max", high)))
    low, high = (given.get(f"a_{key}", own) for key, own in (("min", low), ("max", high)))
    x = x if low is None else each(OPERATORS["maximum"], x, low)
    return x if high is None else each(OPERATORS["minimum"], x, high)


def _where(condition: Any, x: Any, y: Any) -> Any:
    def chosen(is_so: Scalar, one: Scalar, other: Scalar) -> Scalar:
        return NOBODY_KNOWS if is_unknown(is_so) else one if truth(is_so) else other

    return each(chosen, condition, x, y)


# -- along axes ----------------------------------------------------------------------------


def reduce(x: Any, of: str, axis: Any = None, keepdims: Any = False) -> Any:
    """Add up entries, or find the largest, along axes."""
    values = array(x)
    charge(values.data.size)
    data: Any = np.frompyfunc(lambda v: int(v) if isinstance(v, bool) else v, 1, 1)(values.data)
    axes = range(data.ndim) if axis is None else np.atleast_1d(plain(axis))
    fold = np.frompyfunc(OPERATORS[of], 2, 1)
    for one in axes:
        data = np.expand_dims(np.asarray(fold.reduce(data, axis=int(one))), int(one))
    return made(data if truth(keepdims) else np.squeeze(data, tuple(map(int, axes))), values)


def _folded(of: str) -> Meaning:
    return lambda x, axis=None, keepdims=False: reduce(x, of, axis, keepdims)


def _mean(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    values = array(x)
    total = reduce(values, "Add", axis, keepdims)
    return each(OPERATORS["Div"], total, _count(values, axis))


def _count(x: Array, axis: Any) -> int:
    axes = range(x.data.ndim) if axis is None else np.atleast_1d(plain(axis))
    return int(np.prod([x.shape[int(one)] for one in axes]))


def _var(
    x: Any,
    axis: Any = None,
    keepdims: Any = False,
    ddof: Any = None,
    unbiased: Any = None,
    correction: Any = None,
) -> Any:
    """The mean square of what entries are off their mean; PyTorch divides by one less."""
    values = array(x)
    if isinstance(axis, bool):
        axis, unbiased = None, axis
    told = [whole(one) for one in (ddof, unbiased, correction) if one is not None]
    less = told[0] if told else int(values.is_torch)
    off = each(OPERATORS["Sub"], values, _mean(values, axis, True))
    squares = reduce(each(lambda v: v * v, off), "Add", axis, keepdims)
    return each(OPERATORS["Div"], squares, _count(values, axis) - less)


def _std(x: Any, *arguments: Any, **given: Any) -> Any:
    return each(arb.sqrt, _var(x, *arguments, **given))


def _extreme(of: str) -> Meaning:
    """The largest, of two arrays as well; PyTorch tells the places of those along an axis."""

    def meaning(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
        if isinstance(axis, Array):
            return each(OPERATORS[of], x, axis)
        found = reduce(x, of, axis, keepdims)
        if isinstance(x, Array) and x.is_torch and axis is not None:
            return Pair((found, _place(x, of, axis, keepdims)))
        return found

    return meaning


def _place(x: Any, of: str, axis: Any = None, keepdims: Any = False) -> Any:
    """Return where the largest entries stand, or the smallest; nobody knows of what balls don't
    decide."""
    values = array(x)
    sign = "Gt" if of == "maximum" else "Lt"

    def place(row: Any) -> Scalar:
        best = 0
        for k in range(1, len(row)):
            is_so = OPERATORS[sign](row[k], row[best])
            if is_unknown(is_so):
                return NOBODY_KNOWS
            best = k if is_so else best
        return best

    if axis is None:
        return place(values.data.ravel())
    rows = np.moveaxis(values.data, whole(axis), -1)
    data = np.empty(rows.shape[:-1], dtype=object)
    for at in np.ndindex(data.shape):
        data[at] = place(rows[at])
    return made(np.expand_dims(data, whole(axis)) if truth(keepdims) else data, values)


def softmax(x: Any, axis: Any = None, **_: Any) -> Any:
    """Shares along an axis, the last one where none is told."""
    values = array(x)
    if axis is None:
        # What PyTorch takes where nothing is said depends on how many axes there are.
        axis = 0 if values.is_torch and values.data.ndim == 3 else -1
    # Any number may be subtracted; the middle of the largest keeps the exponentials small.
    top = each(_middle, reduce(values, "maximum", axis, True))
    powers = each(lambda v, m: (ball(v) - m).exp(), values, top)
    return each(OPERATORS["Div"], powers, reduce(powers, "Add", axis, True))


def _middle(x: Scalar) -> arb:
    found = ball(x).mid()
    return found if found.is_finite() else ball(0)


def _logsumexp(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return each(arb.log, reduce(_of_one(arb.exp)(x), "Add", axis, keepdims))


def _log_softmax(x: Any, axis: Any = -1) -> Any:
    return each(OPERATORS["Sub"], x, _logsumexp(x, axis, True))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, p: Any = None) -> Any:
    power = next((one for one in (ord, p) if one is not None), 2)
    if power == 1:
        return reduce(each(abs, x), "Add", axis, keepdims)
    if power not in (2, "fro"):
        raise Lost
    return each(lambda v: ball(v).sqrt(), reduce(each(lambda v: v * v, x), "Add", axis, keepdims))


def _normalize(x: Any, p: Any = 2, axis: Any = None) -> Any:
    return each(OPERATORS["Div"], x, _norm(x, p, _second(x, axis), True))


def _second(x: Any, axis: Any) -> Any:
    """The axis that PyTorch takes for that of vectors."""
    return min(1, array(x).data.ndim - 1) if axis is None else axis


def layer_norm(
    x: Any, normalized_shape: Any = None, weight: Any = None, bias: Any = None, eps: Any = None
) -> Any:
    """Each row less its mean, over its deviation (Ba et al. 2016)."""
    if isinstance(normalized_shape, list | tuple) and len(normalized_shape) > 1:
        raise Lost
    least = arb("1e-5") if eps is None else ball(eps)
    off = each(OPERATORS["Sub"], x, _mean(x, -1, True))
    width = each(lambda v: (ball(v) + least).sqrt(), _var(x, -1, True, 0))
    found = each(OPERATORS["Div"], off, width)
    found = found if weight is None else each(OPERATORS["Mult"], found, weight)
    return found if bias is None else each(OPERATORS["Add"], found, bias)


# -- products ------------------------------------------------------------------------------


def matmul(x: Any, y: Any) -> Any:
    """The product of matrices or vectors."""
    if isinstance(x, int | arb) or isinstance(y, int | arb):
        return each(OPERATORS["Mult"], x, y)
    return product(array(x), array(y))


def _outer(x: Any, y: Any) -> Any:
    left, right = array(x), array(y)
    charge(small(left.data.size * right.data.size))
    return made(np.outer(left.data, right.data), left, right)


def _einsum(spec: Any, *operands: Any) -> Any:
    arrays = [array(one) for one in spread(operands)]
    charge(int(np.prod([one.data.size for one in arrays], dtype=float)))
    return made(np.einsum(spec.replace(" ", ""), *(one.data for one in arrays)), *arrays)


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """A layer without activation: ``x W^T + b``."""
    found = matmul(x, _transpose(weight))
    return found if bias is None else each(OPERATORS["Add"], found, bias)


def _cosine_similarity(x: Any, y: Any, axis: Any = None) -> Any:
    axis = _second(x, axis)
    both = reduce(each(OPERATORS["Mult"], x, y), "Add", axis)
    lengths = each(OPERATORS["Mult"], _norm(x, axis=axis), _norm(y, axis=axis))
    return each(OPERATORS["Div"], both, lengths)


def _attention(
    q: Any,
    k: Any,
    v: Any,
    attn_mask: Any = None,
    dropout_p: Any = 0,
    is_causal: Any = False,
    scale: Any = None,
) -> Any:
    if not (isinstance(dropout_p, int | arb) and dropout_p == 0):
        raise Lost
    scale = 1 / ball(array(q).shape[-1]).sqrt() if scale is None else scale
    scores = each(OPERATORS["Mult"], matmul(q, LIBRARY["t"](k)), scale)
    if truth(is_causal):
        attn_mask = Array(np.tri(*scores.shape[-2:]).astype(bool).astype(object))
    if attn_mask is not None:
        mask = array(attn_mask)
        if all(isinstance(one, bool) for one in mask.data.flat):
            scores = _where(mask, scores, arb("-inf"))
        else:
            scores = each(OPERATORS["Add"], scores, mask)
    return matmul(softmax(scores, -1), v)


# -- losses --------------------------------------------------------------------------------

_REDUCTIONS: Mapping[str, Meaning] = {
    "mean": _mean,
    "sum": _folded("Add"),
    "none": lambda x: x,
}


def _mse_loss(x: Any, y: Any, reduction: Any = "mean") -> Any:
    return _REDUCTIONS[reduction](each(lambda u, v: (ball(u) - v) ** 2, x, y))


def _nll_loss(x: Any, target: Any, reduction: Any = "mean") -> Any:
    logs = array(x)
    if not isinstance(target, Array):
        return -logs.data.ravel()[whole(target)]
    if target.shape == logs.shape and logs.data.ndim > 1:
        losses = each(operator.neg, reduce(each(OPERATORS["Mult"], logs, target), "Add", -1))
    else:
        losses = array([-logs.data[k, whole(one)] for k, one in enumerate(target.data)])
    return _REDUCTIONS[reduction](losses)


def _one_hot(x: Any, num_classes: Any = None) -> Any:
    places = array(x).data.astype(int)
    count = 1 + int(places.max()) if num_classes is None else num_classes
    small(count * count)
    return made(np.eye(small(count), dtype=int).astype(object)[places], array(x))


# -- forms ---------------------------------------------------------------------------------


def _transpose(x: Any, *axes: Any, axis: Any = None, perm: Any = None) -> Any:
    values = array(x)
    told = [one for one in (axis, perm, spread(axes)) if one is not None and one != ()]
    order = plain(told[0]) if told and told[0] != (None,) else ()
    if not order:
        return made(values.data.T, values)
    # What NumPy never is told by negative numbers, PyTorch always swaps.
    if len(order) == 2 and (values.is_torch or values.data.ndim != 2 or min(order) < 0):
        return made(np.swapaxes(values.data, *order), values)
    return made(np.transpose(values.data, order), values)


def _reshape(x: Any, *shape: Any) -> Any:
    return made(array(x).data.reshape(plain(spread(shape))), array(x))


def _flatten(x: Any, start_dim: Any = 0) -> Any:
    values = array(x)
    return made(values.data.reshape((*values.shape[: whole(start_dim)], -1)), values)


def _squeeze(x: Any, axis: Any = None) -> Any:
    values = array(x)
    if axis is not None and values.shape[whole(axis)] != 1:
        return values
    return made(np.squeeze(values.data, plain(axis)), values)


def _expand(x: Any, *shape: Any) -> Any:
    values = array(x)
    wanted = plain(spread(shape))
    own = (1,) * (len(wanted) - values.data.ndim) + values.shape
    to = [size if one == -1 else one for one, size in zip(wanted, own, strict=True)]
    small(prod(to))
    return made(np.broadcast_to(values.data, to), values)


def _tile(x: Any, *times: Any, axis: Any = None) -> Any:
    values = array(x)
    counts = plain(spread(times))
    charge(small(values.data.size * prod(counts)))
    if axis is not None or not (values.is_torch or len(counts) > 1):
        return made(np.repeat(values.data, counts[0], plain(axis)), values)
    return made(np.tile(values.data, counts), values)


def _split(x: Any, parts: Any, axis: Any = 0) -> Any:
    values = array(x)
    count, along = whole(parts), whole(axis)
    if values.is_torch:
        # PyTorch is told how long the parts are, NumPy how many there are.
        count = -(-values.shape[along] // count)
    return [made(one, values) for one in np.array_split(values.data, count, along)]


def _chunk(x: Any, parts: Any, axis: Any = 0) -> Any:
    data = array(x).data
    return [made(one, array(x)) for one in np.array_split(data, whole(parts), whole(axis))]


def _triangle(of: Callable[..., Any]) -> Meaning:
    def meaning(x: Any, k: Any = 0, diagonal: Any = None) -> Any:
        values = array(x)
        is_kept = of(
            np.ones(values.shape[-2:], dtype=int), whole(k if diagonal is None else diagonal)
        )
        return made(np.where(is_kept, values.data, 0), values)

    return meaning


def _indices(of: Callable[..., Any]) -> Meaning:
    """The places of a triangle, as arrays of rows and columns."""

    def meaning(n: Any, k: Any = 0, offset: Any = 0) -> Any:
        small(small(n) ** 2)
        return tuple(made(one) for one in of(small(n), small(k or offset)))

    return meaning


#: By all names: those of one meaning stand together.
_NAMES: Mapping[str, Meaning] = {
    "zeros": _constant(arb(0)),
    "ones": _constant(arb(1)),
    "empty": _constant(NOBODY_KNOWS),
    "full": lambda shape, fill_value: filled(shape, fill_value),
    "zeros_like": _alike(arb(0)),
    "ones_like": _alike(arb(1)),
    "empty_like": _alike(NOBODY_KNOWS),
    "full_like": lambda x, fill_value: each(lambda _: fill_value, x),
    "eye identity": _square(np.eye),
    "tri": _square(np.tri),
    "tril_indices": _indices(np.tril_indices),
    "triu_indices": _indices(np.triu_indices),
    "shape": lambda x: array(x).shape,
    "arange": _arange,
    "linspace": _linspace,
    "array tensor constant Tensor FloatTensor LongTensor float32 float64": _array,
    # These share their entries with what they are made of.
    "asarray asmatrix as_tensor from_numpy ascontiguousarray": lambda x: replace(array(x)),
    "abs absolute fabs": lambda x: each(abs, x),
    "relu": lambda x: each(OPERATORS["maximum"], x, 0),
    "leaky_relu": lambda x, negative_slope=None: each(
        OPERATORS["maximum"], x, each(OPERATORS["Mult"], x, negative_slope or arb("0.01"))
    ),
    "square": lambda x: each(lambda v: OPERATORS["Mult"](v, v), x),
    "negative neg": lambda x: each(operator.neg, x),
    "sign": lambda x: each(lambda v: v if is_unknown(v) else (v > 0) - (v < 0), x),
    "isinf": lambda x: each(lambda v: isinstance(v, arb) and not v.is_finite(), x),
    "logical_not": lambda x: each(lambda v: not truth(v), x),
    "round around": lambda x, decimals=0: each(lambda v: rounded(v, small(decimals)), x),
    "floor": lambda x: each(lambda v: v if isinstance(v, int) else v.floor(), x),
    "ceil": lambda x: each(lambda v: v if isinstance(v, int) else v.ceil(), x),
    "add": _of_two("Add"),
    "subtract sub": _of_two("Sub"),
    "multiply mul": _of_two("Mult"),
    "divide div true_divide": _of_two("Div"),
    "power pow float_power": _of_two("Pow"),
    "mod remainder": _of_two("Mod"),
    "maximum": _of_two("maximum"),
    "minimum": _of_two("minimum"),
    "greater gt": _of_two("Gt"),
    "less lt": _of_two("Lt"),
    "equal eq": _of_two("Eq"),
    "not_equal ne": _of_two("NotEq"),
    "greater_equal ge": _of_two("GtE"),
    "less_equal le": _of_two("LtE"),
    "logical_and": _of_two("BitAnd"),
    "logical_or": _of_two("BitOr"),
    "clip clamp clip_by_value": _clip,
    "where": _where,
    "masked_fill": lambda x, mask, value: _where(mask, value, x),
    "sum reduce_sum nansum": _folded("Add"),
    "prod": _folded("Mult"),
    "mean reduce_mean average": _mean,
    "var": _var,
    "std": _std,
    "max": _extreme("maximum"),
    "min": _extreme("minimum"),
    "amax reduce_max": _folded("maximum"),
    "amin reduce_min": _folded("minimum"),
    "argmax": lambda x, axis=None, keepdims=False: _place(x, "maximum", axis, keepdims),
    "argmin": lambda x, axis=None, keepdims=False: _place(x, "minimum", axis, keepdims),
    "cumsum": lambda x, axis=0: made(np.add.accumulate(array(x).data, axis=whole(axis)), x),
    "softmax": softmax,
    "logsumexp": _logsumexp,
    "log_softmax": _log_softmax,
    "norm": _norm,
    "normalize": _normalize,
    "layer_norm": layer_norm,
    "dot matmul mm bmm mv vdot": matmul,
    "inner": lambda x, y: made(np.tensordot(array(x).data, array(y).data, (-1, -1)), x, y),
    "outer": _outer,
    "einsum": _einsum,
    "linear": linear,
    "cosine_similarity": _cosine_similarity,
    "scaled_dot_product_attention": _attention,
    "mse_loss": _mse_loss,
    "cross_entropy": lambda x, target, **how: _nll_loss(_log_softmax(x, -1), target, **how),
    "nll_loss": _nll_loss,
    "one_hot": _one_hot,
    "transpose permute": _transpose,
    "t matrix_transpose": lambda x: made(np.swapaxes(array(x).data, -1, -2), array(x)),
    "swapaxes": _moved(np.swapaxes),
    "reshape view": _reshape,
    "flatten ravel": _flatten,
    "squeeze": _squeeze,
    "unsqueeze expand_dims": _moved(np.expand_dims),
    "expand broadcast_to": _expand,
    "repeat": _tile,
    "tile": lambda x, *times: _tile(Array(array(x).data, is_torch=True), *times),
    "repeat_interleave": _moved(np.repeat),
    "concatenate cat concat": _joined(np.concatenate),
    "stack": _joined(np.stack),
    "vstack": _joined(np.vstack),
    "hstack": _joined(np.hstack),
    "split array_split": _split,
    "chunk": _chunk,
    "tril": _triangle(np.tril),
    "triu": _triangle(np.triu),
    "diag diagonal": _moved(np.diag),
    "trace": lambda x: reduce(_moved(np.diag)(x), "Add"),
    "flip": _moved(np.flip),
    "roll": _moved(np.roll),
    **{name: _of_one(function) for name, function in FUNCTIONS.items()},
}
LIBRARY: Mapping[str, Meaning] = {
    name: meaning for names, meaning in _NAMES.items() for name in names.split()
}

# -- what arrays have ----------------------------------------------------------------------

#: Attributes of arrays, and methods that are of arrays alone.
ATTRIBUTES: Mapping[str, Callable[[Array], Any]] = {
    "T": lambda x: made(x.data.T, x),
    "mT": LIBRARY["t"],
    "shape": lambda x: tuple(x.shape),
    "ndim": lambda x: x.data.ndim,
    "data": lambda x: x,
    "clone": lambda x: lambda: Array(x.data.copy(), x.is_torch, x.birth),
    "copy": lambda x: lambda: Array(x.data.copy(), x.is_torch, x.birth),
    "astype": lambda x: lambda kind, **_: cast(x, kind),
    "float": lambda x: lambda: cast(x, "float"),
    "bool": lambda x: lambda: cast(x, "bool"),
    "item": lambda x: lambda: x.data.item(),
    "tolist": lambda x: lambda: x.data.tolist(),
    "dim": lambda x: lambda: x.data.ndim,
    "numel": lambda x: lambda: x.data.size,
    "size": lambda x: lambda axis=None: tuple(x.shape) if axis is None else x.shape[whole(axis)],
    **dict.fromkeys(WHOLE, lambda x: lambda: cast(x, "int")),
}
#: Methods that give the array itself.
_SAME = {
    "detach", "cpu", "cuda", "numpy", "to", "contiguous", "requires_grad_", "double", "half",
}  # fmt: skip


def attribute(x: Array, name: str) -> Any:
    """Return an attribute of an array; raises :class:`Lost` of one that isn't known."""
    if name == "size" and not x.is_torch:
        return x.data.size
    if name in ATTRIBUTES:
        return ATTRIBUTES[name](x)
    if name in _SAME:
        return lambda *_, **__: x
    if name.endswith("_"):
        return lambda *arguments, **given: _in_place(x, name[:-1], arguments, given)
    if name not in LIBRARY:
        raise Lost
    return lambda *arguments, **given: call(name, (x, *arguments), given)


def _in_place(x: Array, name: str, arguments: Sequence[Any], given: Mapping[str, Any]) -> Array:
    """Change an array by a method whose name ends with an underscore."""
    values = {"zero": ball(0), "zeros": ball(0), "ones": ball(1)}
    try:
        if name in values:
            value: Any = values[name]
        elif name in ("fill", "copy", "constant"):
            (value,) = arguments
        else:
            value = call(name, (x, *arguments), given)
        x.set(..., value)
    except Exception:
        x.lose()
        raise
    return x


# -- layers --------------------------------------------------------------------------------

#: Layers of PyTorch without weights, as the functions that they are.
_PLAIN = {
    "Softmax": "softmax",
    "ReLU": "relu",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "GELU": "gelu",
    "SiLU": "silu",
    "LogSoftmax": "log_softmax",
    "Flatten": "flatten",
    "MSELoss": "mse_loss",
    "CrossEntropyLoss": "cross_entropy",
}
#: What others take, in this order.
_TAKEN = {
    "Linear": ("in_features", "out_features", "bias"),
    "Embedding": ("num_embeddings", "embedding_dim", "padding_idx"),
    "LayerNorm": ("normalized_shape", "eps"),
    "Dropout": ("p",),
}


def layer(name: str, arguments: Sequence[Any], given: Mapping[str, Any], draw: Meaning) -> Any:
    """Return what a class of ``torch.nn`` makes; ``draw`` gives random arrays, normal ones or those
    within a bound. Raises :class:`Lost` of others."""
    taken = _TAKEN.get(name, ("axis",))
    own: dict[str, Any] = {
        **dict(zip(taken, arguments, strict=False)),
        **{_ALIASES.get(key, key): value for key, value in given.items()},
    }
    match name:
        case "Parameter":
            return arguments[0]
        case "ModuleList":
            return [*arguments[0]]
        case "Sequential":
            return Thing(name, {"layers": [*arguments]})
        case "Linear":
            sizes = small(own["out_features"]), small(own["in_features"])
            # Kaiming's, as its reset_parameters() has it, comes to this.
            bound = 1 / ball(sizes[1]).sqrt()
            own["weight"] = draw("uniform", sizes, bound)
            is_biased = truth(own.get("bias", True))
            own["bias"] = draw("uniform", sizes[:1], bound) if is_biased else None
        case "Embedding":
            sizes = small(own["num_embeddings"]), small(own["embedding_dim"])
            own["weight"] = draw("normal", sizes)
            if own.get("padding_idx") is not None:
                own["weight"].set(whole(own["padding_idx"]), 0)
        case "LayerNorm":
            own["weight"] = filled(own["normalized_shape"], 1)
            own["bias"] = filled(own["normalized_shape"], 0)
        case _ if name not in _PLAIN and name not in _TAKEN:
            raise Lost
    return Thing(name, own)


def run_layer(thing: Thing, arguments: Sequence[Any], called: Meaning) -> Any:
    """Return what a layer makes of its arguments; ``called`` calls one of several."""
    own = thing.attributes
    match thing.kind:
        case "Sequential":
            (value,) = arguments
            for one in own["layers"]:
                value = called(one, [value])
            return value
        case "Linear":
            return linear(arguments[0], own["weight"], own["bias"])
        case "Embedding":
            return made(own["weight"].data[array(arguments[0]).data.astype(int)], own["weight"])
        case "LayerNorm":
            shape, eps = own["normalized_shape"], own.get("eps")
            return layer_norm(arguments[0], shape, own["weight"], own["bias"], eps)
        case "Dropout":
            is_none = whole(own.get("p", 1)) == 0
            return arguments[0] if is_none else each(lambda _: NOBODY_KNOWS, arguments[0])
    return call(_PLAIN[thing.kind], arguments, own)
