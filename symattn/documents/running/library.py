"""The functions of NumPy, PyTorch and their kin, over arrays whose numbers are balls.

Each is a row of :data:`LIBRARY` by its last name; ``axis`` is ``dim`` of PyTorch, and ``keepdims``
its ``keepdim``. What they raise says that nothing is known of what they give.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from flint import arb

from symattn.documents.running.numbers import (
    FUNCTIONS,
    NOBODY_KNOWS,
    OPERATORS,
    Array,
    Lost,
    Scalar,
    Thing,
    array,
    ball,
    each,
    is_unknown,
    made,
    product,
    relu,
    rounded,
    size,
    truth,
    whole,
)
from symattn.numbers.balls import charge

#: What a function of a library is: arguments in, a value out.
Meaning = Callable[..., Any]
#: By their last names.
LIBRARY: dict[str, Meaning] = {}
#: Arguments that change no number.
_UNMEANT = frozenset({"dtype", "device", "out", "requires_grad", "optimize", "copy", "order",
                      "non_blocking", "memory_format", "inplace", "stacklevel"})  # fmt: skip
_ALIASES = {"dim": "axis", "keepdim": "keepdims", "axes": "axis", "dims": "axis", "input": "x",
            "a": "x", "x1": "x"}  # fmt: skip
#: Types of whole numbers, and of truth.
WHOLE = frozenset({"int", "int8", "int16", "int32", "int64", "long", "uint8", "short"})


class Pair(tuple[Any, Any]):
    """Values with their places, as ``torch.max`` gives them."""

    __slots__ = ()

    @property
    def values(self) -> Any:
        """Return the first."""
        return self[0]

    @property
    def indices(self) -> Any:
        """Return the second."""
        return self[1]


def named(*names: str) -> Callable[[Meaning], Meaning]:
    """Enter a function under its names."""

    def entered(function: Meaning) -> Meaning:
        LIBRARY.update(dict.fromkeys(names, function))
        return function

    return entered


def call(name: str, arguments: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """Return what a function of a library gives; raises any :class:`Exception` where it isn't
    known, or gives none of its values for these."""
    meant = {_ALIASES.get(key, key): value for key, value in given.items()}
    kept = {key: value for key, value in meant.items() if key not in _UNMEANT}
    value = LIBRARY[name](*arguments, **kept)
    kind = meant.get("dtype")
    if kind is not None and isinstance(value, Array | int | arb):
        return cast(value, kind)
    return value


def cast(value: Any, kind: object) -> Any:
    """A value as numbers of another type: whole ones cut off what stands behind the point."""
    name = getattr(kind, "name", kind)
    if isinstance(name, str) and name.rsplit(".", 1)[-1] in WHOLE:
        return each(_cut, value)
    if isinstance(name, str) and name.rsplit(".", 1)[-1] == "bool":
        return each(lambda x: truth(x), value)
    return each(lambda x: int(x) if isinstance(x, bool) else x, value)


def _cut(x: Scalar) -> Scalar:
    if isinstance(x, int):
        return int(x)
    if x.is_nan():
        return x
    found = x.floor() if x >= 0 else -((-x).floor())
    return whole(found) if found.is_exact() else NOBODY_KNOWS


def _axis(axis: Any) -> Any:
    return tuple(map(whole, axis)) if isinstance(axis, list | tuple) else (
        None if axis is None else whole(axis)
    )  # fmt: skip


def reduce(x: Any, of: str, axis: Any = None, keepdims: Any = False) -> Any:
    """Add up entries, or find the largest, along axes."""
    values = array(x)
    charge(values.data.size)
    ufunc = np.frompyfunc(OPERATORS[of], 2, 1) if of in ("maximum", "minimum") else np.add
    if axis is not None and _axis(axis) is None:
        axis = None
    data = values.data
    if of == "Mult":
        ufunc = np.multiply
    if data.dtype == object:
        data = np.frompyfunc(lambda v: int(v) if isinstance(v, bool) else v, 1, 1)(data)
    axes = _axis(axis)
    if axes is None and ufunc not in (np.add, np.multiply):
        found = ufunc.reduce(data.ravel(), axis=0)
        return made(np.array(found, dtype=object).reshape((1,) * data.ndim), values) if truth(
            keepdims
        ) else found  # fmt: skip
    if isinstance(axes, tuple) and ufunc not in (np.add, np.multiply):
        for one in axes:
            data = ufunc.reduce(data, axis=one, keepdims=True)
        return made(data if truth(keepdims) else np.squeeze(data, axes), values)
    return made(ufunc.reduce(data, axis=axes, keepdims=truth(keepdims)), values)


def _count(x: Array, axis: Any) -> int:
    axes = _axis(axis)
    if axes is None:
        return x.data.size
    return int(np.prod([x.shape[one] for one in ((axes,) if isinstance(axes, int) else axes)]))


# -- made of nothing ---------------------------------------------------------------------


def filled(shape: Any, value: Scalar, is_torch: bool = False) -> Array:
    """An array of one number."""
    sizes = tuple(map(whole, shape)) if isinstance(shape, list | tuple) else (whole(shape),)
    charge(int(np.prod(sizes, dtype=float)))
    data = np.empty(sizes, dtype=object)
    data[...] = value
    return Array(data, is_torch)


def sizes(shape: Sequence[Any]) -> Sequence[Any]:
    """Sizes that are told one by one, or together."""
    return shape[0] if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape


@named("zeros", "empty")
def _zeros(*shape: Any, size: Any = None, shape_: Any = None) -> Array:
    return filled(sizes(shape) if size is None else size, ball(0))


@named("ones")
def _ones(*shape: Any, size: Any = None) -> Array:
    return filled(sizes(shape) if size is None else size, ball(1))


@named("full")
def _full(shape: Any, fill_value: Any) -> Array:
    return filled(shape, fill_value)


@named("zeros_like", "empty_like")
def _zeros_like(x: Any) -> Any:
    return each(lambda _: ball(0), x)


@named("ones_like")
def _ones_like(x: Any) -> Any:
    return each(lambda _: ball(1), x)


@named("full_like")
def _full_like(x: Any, fill_value: Any) -> Any:
    return each(lambda _: fill_value, x)


@named("eye", "identity")
def _eye(n: Any, m: Any = None) -> Array:
    return Array(np.eye(whole(n), None if m is None else whole(m), dtype=int).astype(object))


@named("arange")
def _arange(*bounds: Any) -> Array:
    if all(isinstance(one, int) for one in bounds):
        return array([*range(*bounds)])
    start, stop, step = (0, *bounds, 1)[:3] if len(bounds) == 1 else (*bounds, 1)[:3]
    count = -whole((-((ball(stop) - start) / step)).floor())
    return array([ball(start) + k * ball(step) for k in range(count)])


@named("linspace")
def _linspace(start: Any, stop: Any, num: Any = 50, steps: Any = None) -> Array:
    count = whole(num if steps is None else steps)
    step = (ball(stop) - start) / (count - 1)
    return array([start + k * step for k in range(count)])


@named("array", "asarray", "asmatrix", "tensor", "as_tensor", "constant", "Tensor", "FloatTensor",
       "LongTensor", "from_numpy", "float32", "float64", "ascontiguousarray", "stop_gradient")  # fmt: skip
def _array(x: Any) -> Any:
    if isinstance(x, int | arb):
        return x
    found = array(x)
    return Array(found.data.copy(), found.is_torch)


# -- entry by entry ----------------------------------------------------------------------


def _of_one(function: Callable[[arb], arb]) -> Meaning:
    def meaning(x: Any) -> Any:
        return each(lambda entry: function(ball(entry)), x)

    return meaning


LIBRARY.update({name: _of_one(function) for name, function in FUNCTIONS.items()})
LIBRARY |= {
    "abs": lambda x: each(size, x),
    "absolute": lambda x: each(size, x),
    "fabs": lambda x: each(size, x),
    "relu": lambda x: each(relu, x),
    "square": lambda x: each(lambda v: OPERATORS["Mult"](v, v), x),
    "negative": lambda x: each(operator.neg, x),
    "neg": lambda x: each(operator.neg, x),
    "sign": lambda x: each(lambda v: (v > 0) - (v < 0) if not is_unknown(v) else v, x),
    "isinf": lambda x: each(lambda v: isinstance(v, arb) and not v.is_finite(), x),
    "logical_not": lambda x: each(lambda v: not truth(v), x),
    "round": lambda x, decimals=0: each(lambda v: rounded(v, whole(decimals)), x),
    "around": lambda x, decimals=0: each(lambda v: rounded(v, whole(decimals)), x),
    "floor": lambda x: each(lambda v: v if isinstance(v, int) else v.floor(), x),
    "ceil": lambda x: each(lambda v: v if isinstance(v, int) else v.ceil(), x),
    "hypot": lambda x, y: each(lambda u, v: (ball(u) ** 2 + ball(v) ** 2).sqrt(), x, y),
    "leaky_relu": lambda x, negative_slope=arb("0.01"): each(
        lambda v: v if truth(OPERATORS["GtE"](v, 0)) else v * negative_slope, x
    ),
}
for _names, _sign in (
    ("add", "Add"), ("subtract sub", "Sub"), ("multiply mul", "Mult"), ("divide div", "Div"),
    ("power pow float_power", "Pow"), ("maximum", "maximum"), ("minimum", "minimum"),
    ("greater gt", "Gt"), ("less lt", "Lt"), ("equal eq", "Eq"), ("not_equal ne", "NotEq"),
    ("greater_equal ge", "GtE"), ("less_equal le", "LtE"), ("logical_and", "BitAnd"),
    ("logical_or", "BitOr"), ("true_divide", "Div"), ("mod remainder", "Mod"),
):  # fmt: skip
    for _name in _names.split():
        LIBRARY[_name] = lambda x, y, _sign=_sign: each(OPERATORS[_sign], x, y)


@named("clip", "clamp", "clip_by_value")
def _clip(x: Any, low: Any = None, high: Any = None, **given: Any) -> Any:
    low, high = (given.get(key, own) for key, own in (("min", low), ("max", high)))
    low, high = (given.get(key, own) for key, own in (("a_min", low), ("a_max", high)))
    x = x if low is None else each(OPERATORS["maximum"], x, low)
    return x if high is None else each(OPERATORS["minimum"], x, high)


@named("where")
def _where(condition: Any, x: Any, y: Any) -> Any:
    def chosen(is_so: Scalar, one: Scalar, other: Scalar) -> Scalar:
        return NOBODY_KNOWS if is_unknown(is_so) else one if truth(is_so) else other

    return each(chosen, condition, x, y)


@named("masked_fill")
def _masked_fill(x: Any, mask: Any, value: Any) -> Any:
    return _where(mask, value, x)


@named("allclose", "array_equal", "isclose")
def _allclose(x: Any, y: Any, *_: Any, **__: Any) -> Any:
    raise Lost


# -- along axes --------------------------------------------------------------------------


@named("sum", "reduce_sum", "nansum")
def _sum(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return reduce(x, "Add", axis, keepdims)


@named("prod")
def _prod(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return reduce(x, "Mult", axis, keepdims)


@named("mean", "reduce_mean", "average")
def _mean(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    values = array(x)
    return each(OPERATORS["Div"], reduce(values, "Add", axis, keepdims), _count(values, axis))


@named("var")
def _var(
    x: Any, axis: Any = None, keepdims: Any = False, ddof: Any = None, unbiased: Any = None,
    correction: Any = None,
) -> Any:  # fmt: skip
    values = array(x)
    if isinstance(axis, bool):
        axis, unbiased = None, axis
    less = next((whole(one) for one in (ddof, unbiased, correction) if one is not None),
                int(values.is_torch))  # fmt: skip
    off = each(OPERATORS["Sub"], values, _mean(values, axis, True))
    squares = reduce(each(lambda v: v * v, off), "Add", axis, keepdims)
    return each(OPERATORS["Div"], squares, _count(values, axis) - less)


@named("std")
def _std(x: Any, *arguments: Any, **given: Any) -> Any:
    return each(arb.sqrt, _var(x, *arguments, **given))


def _extreme(of: str) -> Meaning:
    def meaning(x: Any, axis: Any = None, keepdims: Any = False, *, values_: bool = True) -> Any:
        if isinstance(axis, Array) or (isinstance(axis, arb) and isinstance(x, Array)):
            return each(OPERATORS[of], x, axis)
        found = reduce(x, of, axis, keepdims)
        if isinstance(x, Array) and x.is_torch and axis is not None and values_:
            return Pair((found, _place(x, of, axis, keepdims)))
        return found

    return meaning


def _place(x: Any, of: str, axis: Any = None, keepdims: Any = False) -> Any:
    """Return where the largest entries stand, or the smallest; nobody knows of what balls don't
    decide."""
    values = array(x)
    sign = "Gt" if of == "maximum" else "Lt"

    def place(row: np.ndarray[Any, Any]) -> Scalar:
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


LIBRARY |= {
    "max": _extreme("maximum"),
    "min": _extreme("minimum"),
    "amax": lambda x, axis=None, keepdims=False: reduce(x, "maximum", axis, keepdims),
    "amin": lambda x, axis=None, keepdims=False: reduce(x, "minimum", axis, keepdims),
    "reduce_max": lambda x, axis=None, keepdims=False: reduce(x, "maximum", axis, keepdims),
    "argmax": lambda x, axis=None, keepdims=False: _place(x, "maximum", axis, keepdims),
    "argmin": lambda x, axis=None, keepdims=False: _place(x, "minimum", axis, keepdims),
    "cumsum": lambda x, axis=0: made(np.add.accumulate(array(x).data, axis=whole(axis)), x),
    "cumprod": lambda x, axis=0: made(np.multiply.accumulate(array(x).data, axis=whole(axis)), x),
}


@named("softmax")
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


@named("logsumexp")
def _logsumexp(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return each(arb.log, reduce(_of_one(arb.exp)(x), "Add", axis, keepdims))


@named("log_softmax")
def _log_softmax(x: Any, axis: Any = -1) -> Any:
    return each(OPERATORS["Sub"], x, _logsumexp(x, axis, True))


@named("norm")
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, p: Any = None) -> Any:
    power = 2 if ord is None and p is None else (p if ord is None else ord)
    if power == 1:
        return reduce(each(size, x), "Add", axis, keepdims)
    if power not in (2, "fro"):
        raise Lost
    return each(lambda v: ball(v).sqrt(), reduce(each(lambda v: v * v, x), "Add", axis, keepdims))


@named("normalize")
def _normalize(x: Any, p: Any = 2, axis: Any = None) -> Any:
    values = array(x)
    axis = (1 if values.data.ndim > 1 else 0) if axis is None else axis
    return each(OPERATORS["Div"], values, _norm(values, p, axis, True))


@named("layer_norm")
def layer_norm(
    x: Any, normalized_shape: Any = None, weight: Any = None, bias: Any = None, eps: Any = None
) -> Any:
    """Each row less its mean, over its deviation (Ba et al. 2016)."""
    if isinstance(normalized_shape, list | tuple) and len(normalized_shape) > 1:
        raise Lost
    eps = number_of(eps, "1e-5")
    off = each(OPERATORS["Sub"], x, _mean(x, -1, True))
    width = each(lambda v: (ball(v) + eps).sqrt(), _var(x, -1, True, 0))
    found = each(OPERATORS["Div"], off, width)
    found = found if weight is None else each(OPERATORS["Mult"], found, weight)
    return found if bias is None else each(OPERATORS["Add"], found, bias)


def number_of(value: Any, default: str) -> arb:
    """Return a number, or what it is where none is given."""
    return arb(default) if value is None else ball(value)


# -- products ----------------------------------------------------------------------------


@named("dot", "matmul", "mm", "bmm", "mv", "inner_product", "vdot", "vecdot")
def matmul(x: Any, y: Any) -> Any:
    """The product of matrices or vectors."""
    if isinstance(x, int | arb) or isinstance(y, int | arb):
        return each(OPERATORS["Mult"], x, y)
    return product(array(x), array(y))


@named("inner")
def _inner(x: Any, y: Any) -> Any:
    return made(np.tensordot(array(x).data, array(y).data, axes=(-1, -1)), x, y)


@named("outer", "ger")
def _outer(x: Any, y: Any) -> Any:
    left, right = array(x), array(y)
    charge(left.data.size * right.data.size)
    return made(np.outer(left.data, right.data), left, right)


@named("einsum")
def _einsum(spec: Any, *operands: Any) -> Any:
    arrays = [array(one) for one in sizes(operands)]
    charge(int(np.prod([one.data.size for one in arrays], dtype=float)))
    return made(np.einsum(spec.replace(" ", ""), *(one.data for one in arrays)), *arrays)


@named("linear")
def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """A layer without activation: ``x W^T + b``."""
    found = matmul(x, _transpose(weight))
    return found if bias is None else each(OPERATORS["Add"], found, bias)


@named("cosine_similarity")
def _cosine_similarity(x: Any, y: Any, axis: Any = None) -> Any:
    values = array(x)
    axis = (1 if values.data.ndim > 1 else 0) if axis is None else axis
    both = reduce(each(OPERATORS["Mult"], x, y), "Add", axis)
    lengths = each(OPERATORS["Mult"], _norm(x, axis=axis), _norm(y, axis=axis))
    return each(OPERATORS["Div"], both, lengths)


@named("scaled_dot_product_attention")
def _attention(
    q: Any, k: Any, v: Any, attn_mask: Any = None, dropout_p: Any = 0, is_causal: Any = False,
    scale: Any = None,
) -> Any:  # fmt: skip
    if not (isinstance(dropout_p, int | arb) and dropout_p == 0):
        raise Lost
    q, k = array(q), array(k)
    scale = 1 / ball(q.shape[-1]).sqrt() if scale is None else scale
    scores = each(OPERATORS["Mult"], matmul(q, made(np.swapaxes(k.data, -1, -2), k)), scale)
    if truth(is_causal):
        attn_mask = Array(np.tri(*scores.shape[-2:], dtype=bool).astype(object))
    if attn_mask is not None:
        mask = array(attn_mask)
        if all(isinstance(one, bool) for one in mask.data.flat):
            scores = _where(mask, scores, arb("-inf"))
        else:
            scores = each(OPERATORS["Add"], scores, mask)
    return matmul(softmax(scores, -1), v)


# -- losses ------------------------------------------------------------------------------


@named("mse_loss", "MSELoss")
def _mse_loss(x: Any, y: Any, reduction: Any = "mean") -> Any:
    squares = each(lambda u, v: (ball(u) - v) ** 2, x, y)
    return {"mean": _mean, "sum": _sum, "none": lambda v: v}[reduction](squares)


@named("cross_entropy", "CrossEntropyLoss")
def _cross_entropy(x: Any, target: Any, reduction: Any = "mean") -> Any:
    logs = array(_log_softmax(x, -1))
    if isinstance(target, Array) and target.shape == logs.shape and logs.data.ndim > 1:
        losses = each(operator.neg, _sum(each(OPERATORS["Mult"], logs, target), -1))
    elif isinstance(target, Array) and target.data.ndim:
        rows = range(len(target.data))
        losses = array([-logs.data[k, whole(target.data[k])] for k in rows])
    else:
        losses = array([-logs.data.ravel()[whole(target)]])
    return {"mean": _mean, "sum": _sum, "none": lambda v: v}[reduction](losses)


@named("nll_loss", "NLLLoss")
def _nll_loss(x: Any, target: Any) -> Any:
    return _mean(array([-array(x).data[k, whole(t)] for k, t in enumerate(target.data)]))


@named("one_hot")
def _one_hot(x: Any, num_classes: Any = None) -> Any:
    places = array(x)
    count = whole(num_classes) if num_classes is not None else 1 + max(map(whole, places.data.flat))
    eye = np.eye(count, dtype=int).astype(object)
    return made(eye[places.data.astype(int)], places)


# -- forms -------------------------------------------------------------------------------


@named("transpose", "permute", "swapaxes")
def _transpose(x: Any, *axes: Any, axis: Any = None, perm: Any = None) -> Any:
    values = array(x)
    order = sizes(axes) if axis is None and perm is None else (axis if perm is None else perm)
    if not order or order[0] is None:
        return made(values.data.T, values)
    places = [whole(one) for one in order]
    if len(places) == 2 and (values.data.ndim > 2 or values.is_torch or places[0] < 0):
        return made(np.swapaxes(values.data, *places), values)
    return made(np.transpose(values.data, places), values)


@named("t", "adjoint", "matrix_transpose")
def _turned(x: Any) -> Any:
    return made(np.swapaxes(array(x).data, -1, -2), x)


@named("reshape", "view")
def _reshape(x: Any, *shape: Any) -> Any:
    values = array(x)
    return made(values.data.reshape([whole(one) for one in sizes(shape)]), values)


@named("flatten", "ravel")
def _flatten(x: Any, start_dim: Any = 0) -> Any:
    values = array(x)
    return made(values.data.reshape((*values.shape[: whole(start_dim)], -1)), values)


@named("squeeze")
def _squeeze(x: Any, axis: Any = None) -> Any:
    values = array(x)
    if axis is not None and values.shape[whole(axis)] != 1:
        return values
    return made(np.squeeze(values.data, _axis(axis)), values)


@named("unsqueeze", "expand_dims")
def _unsqueeze(x: Any, axis: Any) -> Any:
    return made(np.expand_dims(array(x).data, whole(axis)), x)


@named("expand", "broadcast_to")
def _expand(x: Any, *shape: Any) -> Any:
    values = array(x)
    wanted = [whole(one) for one in sizes(shape)]
    own = (1,) * (len(wanted) - values.data.ndim) + values.shape
    to = [size if one == -1 else one for one, size in zip(wanted, own, strict=True)]
    return made(np.broadcast_to(values.data, to), values)


@named("repeat", "tile")
def _tile(x: Any, *times: Any, axis: Any = None) -> Any:
    values = array(x)
    if axis is not None:
        return made(np.repeat(values.data, whole(times[0]), whole(axis)), values)
    counts = [whole(one) for one in sizes(times)]
    charge(int(values.data.size * np.prod(counts, dtype=float)))
    return made(np.tile(values.data, counts), values)


@named("repeat_interleave")
def _repeat_interleave(x: Any, times: Any, axis: Any = None) -> Any:
    return made(np.repeat(array(x).data, whole(times), _axis(axis)), x)


@named("concatenate", "cat", "concat")
def _concatenate(parts: Any, axis: Any = 0) -> Any:
    arrays = [array(one) for one in parts]
    return made(np.concatenate([one.data for one in arrays], whole(axis)), *arrays)


@named("stack")
def _stack(parts: Any, axis: Any = 0) -> Any:
    arrays = [array(one) for one in parts]
    return made(np.stack([one.data for one in arrays], whole(axis)), *arrays)


@named("vstack")
def _vstack(parts: Any) -> Any:
    arrays = [array(one) for one in parts]
    return made(np.vstack([one.data for one in arrays]), *arrays)


@named("hstack")
def _hstack(parts: Any) -> Any:
    arrays = [array(one) for one in parts]
    return made(np.hstack([one.data for one in arrays]), *arrays)


@named("split", "array_split")
def _split(x: Any, parts: Any, axis: Any = 0) -> Any:
    values = array(x)
    if isinstance(parts, list | tuple):
        raise Lost
    count, along = whole(parts), whole(axis)
    if values.is_torch:
        count = -(-values.shape[along] // count)
    return [made(one, values) for one in np.array_split(values.data, count, along)]


@named("chunk")
def _chunk(x: Any, parts: Any, axis: Any = 0) -> Any:
    values = array(x)
    return [made(one, values) for one in np.array_split(values.data, whole(parts), whole(axis))]


@named("tril")
def _tril(x: Any, k: Any = 0, diagonal: Any = None) -> Any:
    return _triangle(x, k if diagonal is None else diagonal, np.tril)


@named("triu")
def _triu(x: Any, k: Any = 0, diagonal: Any = None) -> Any:
    return _triangle(x, k if diagonal is None else diagonal, np.triu)


def _triangle(x: Any, k: Any, of: Callable[..., Any]) -> Any:
    values = array(x)
    is_kept = of(np.ones(values.shape[-2:], dtype=bool), whole(k))
    return made(np.where(is_kept, values.data, 0), values)


@named("diag", "diagonal", "diagflat")
def _diag(x: Any) -> Any:
    return made(np.diag(array(x).data), x)


@named("trace")
def _trace(x: Any) -> Any:
    return reduce(_diag(x), "Add")


@named("flip")
def _flip(x: Any, axis: Any = None) -> Any:
    return made(np.flip(array(x).data, _axis(axis)), x)


@named("roll")
def _roll(x: Any, shifts: Any, axis: Any = None) -> Any:
    return made(np.roll(array(x).data, whole(shifts), _axis(axis)), x)


@named("meshgrid", "topk", "sort", "argsort", "unique", "gather", "scatter", "multinomial",
       "median", "quantile", "percentile", "cov", "corrcoef", "inv", "det", "eig", "svd", "qr")  # fmt: skip
def _unread(*_: Any, **__: Any) -> Any:
    raise Lost


# -- what arrays have ----------------------------------------------------------------------

#: Attributes of arrays.
ATTRIBUTES: Mapping[str, Callable[[Array], Any]] = {
    "T": lambda x: made(x.data.T, x),
    "mT": lambda x: _turned(x),
    "H": lambda x: made(x.data.T, x),
    "shape": lambda x: tuple(x.shape),
    "ndim": lambda x: x.data.ndim,
    "data": lambda x: x,
    "real": lambda x: x,
}
#: Methods that give the array itself, or a copy of it.
_SAME = frozenset({"detach", "cpu", "cuda", "numpy", "to", "contiguous", "requires_grad_", "double",
                   "float", "half", "bfloat16", "type", "type_as", "get", "squeeze_", "eval", "view_as",
                   "train", "retain_grad", "block_until_ready", "requires_grad"})  # fmt: skip


def method(x: Array, name: str) -> Meaning:
    """Return a method of an array; raises :class:`Lost` of one that isn't known."""
    if name in _SAME:
        return lambda *_, **__: cast(x, "float") if name == "float" else x
    if name in ("clone", "copy"):
        return lambda: Array(x.data.copy(), x.is_torch, x.birth)
    if name in ("astype", "type"):
        return lambda kind, **_: cast(x, kind)
    if name in WHOLE | {"bool"}:
        return lambda: cast(x, name)
    if name == "item":
        return lambda *_: x.data.item()
    if name == "tolist":
        return lambda: x.data.tolist()
    if name in ("size", "dim", "numel"):
        return {
            "size": lambda axis=None: tuple(x.shape) if axis is None else x.shape[whole(axis)],
            "dim": lambda: x.data.ndim,
            "numel": lambda: x.data.size,
        }[name]
    if name.endswith("_") and not name.endswith("__"):
        return lambda *arguments, **given: _in_place(x, name[:-1], arguments, given)
    if name not in LIBRARY:
        raise Lost
    return lambda *arguments, **given: call(name, (x, *arguments), given)


def _in_place(x: Array, name: str, arguments: Sequence[Any], given: Mapping[str, Any]) -> Array:
    """Change an array by a method whose name ends with an underscore."""
    x.birth = None
    try:
        match name:
            case "zero" | "zeros":
                value: Any = ball(0)
            case "ones":
                value = ball(1)
            case "fill" | "copy" | "constant":
                (value,) = arguments
            case _:
                value = call(name, (x, *arguments), given)
        x.data[...] = value.data if isinstance(value, Array) else value
    except Exception:
        x.lose()
        raise
    return x


# -- layers ------------------------------------------------------------------------------

#: Layers of PyTorch without weights, as the functions that they are.
_PLAIN = {"Softmax": "softmax", "ReLU": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "GELU": "gelu",
          "SiLU": "silu", "LogSoftmax": "log_softmax", "Flatten": "flatten",
          "MSELoss": "mse_loss", "CrossEntropyLoss": "cross_entropy",
          "LeakyReLU": "leaky_relu"}  # fmt: skip


#: What those with weights take, in this order.
_LAYERS = {
    "Linear": ("in_features", "out_features", "bias"),
    "Embedding": ("num_embeddings", "embedding_dim"),
    "LayerNorm": ("normalized_shape", "eps"),
    "Dropout": ("p",),
}


def layer(name: str, arguments: Sequence[Any], given: Mapping[str, Any], draw: Meaning) -> Any:
    """Return what a class of ``torch.nn`` makes; ``draw`` gives random arrays. Raises
    :class:`Lost` of others."""
    names = _LAYERS.get(name, ())
    own = dict(zip(names, arguments, strict=False)) | {k: v for k, v in given.items() if k in names}
    match name:
        case "Parameter":
            return arguments[0]
        case "ModuleList":
            return [*arguments[0]]
        case "Sequential":
            return Thing(name, {"layers": [*arguments]})
        case "Linear":
            sizes = own["out_features"], own["in_features"]
            bias = draw(sizes[:1]) if truth(own.get("bias", True)) else None
            return Thing(name, {"weight": draw(sizes), "bias": bias})
        case "Embedding":
            return Thing(name, {"weight": draw((own["num_embeddings"], own["embedding_dim"]))})
        case "LayerNorm":
            width = own["normalized_shape"]
            weights = {"weight": filled(width, 1), "bias": filled(width, 0)}
            return Thing(name, {**weights, "eps": own.get("eps"), "normalized_shape": width})
        case "Dropout":
            return Thing(name, {"p": own.get("p", arb("0.5"))})
    if name not in _PLAIN:
        raise Lost
    return Thing(name, {"arguments": given | dict(zip(("axis",), arguments, strict=False))})


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
            return layer_norm(
                arguments[0], own["normalized_shape"], own["weight"], own["bias"], own["eps"]
            )
        case "Dropout":
            p = own["p"]
            if is_unknown(p) or not p == 0:
                return each(lambda _: NOBODY_KNOWS, arguments[0])
            return arguments[0]
    return call(_PLAIN[thing.kind], arguments, own["arguments"])
