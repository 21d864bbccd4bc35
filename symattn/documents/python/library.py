"""Functions of NumPy, PyTorch, JAX and TensorFlow and their meanings, by their last names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from symattn.documents.python import making
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
from symattn.documents.python.making import ARRANGERS, MAKERS
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


def _same(given: Arguments) -> Value:
    given.asked.update(given.options, range(len(given.values)))
    return given.value(0)


def _array(given: Arguments) -> Value:
    value = given.option(("object", "data", "value", "values"), 0)
    if isinstance(value, Items) and all(isinstance(item, str) for item in value.items):
        return value
    return given.scope.tree(value)


def _elementwise(function: str) -> Callable[[Arguments], Value]:
    return lambda given: call(function, given.tree(0))


def _pairwise(function: str) -> Callable[[Arguments], Value]:
    return lambda given: call(function, given.tree(0), given.tree(1))


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
            summed = (
                call(kind, x)
                if everything
                else call(f"row{kind}", x)
                if axis
                else down(f"row{kind}", x)
            )
        elif kind in ("var", "std", "norm"):
            options = {"ddof": _lost(given)} if kind != "norm" else {}
            summed = call(kind, x, **options, **({} if everything else {"axis": axis or 0}))
        else:
            summed = call("total" if everything else "rowsum" if axis else "colsum", x)
        if kind == "mean":
            summed = syntax.Binary("/", summed, making.count(scope, x, rank, axis))
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
            return making.replaced(scores, negated(keep), fill, scope)
    if is_itself:
        raise UnreadCode
    if fill == MASKED:
        return (
            call("causal", scores) if keep == call("triangle") else call("mask", scores, kept(keep))
        )
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
            if scope.shape(fills) and not making.is_mask(fills, scope):
                return masked(scores, scope.each(fills, making.kept), MASKED, scope)
    return syntax.Binary("+", left, right)


def _where(given: Arguments) -> Value:
    condition, yes, no = given.tree(0), given.value(1), given.value(2)
    if isinstance(yes, syntax.Literal) and isinstance(no, syntax.Literal):
        return making.chosen(condition, yes, no, given.scope)
    if isinstance(no, syntax.Literal):
        return masked(given.tree(1), condition, no, given.scope)
    return masked(given.tree(2), negated(condition), yes, given.scope)


def _bounded(given: Arguments) -> Value:
    x, low, high = (
        given.tree(0),
        given.option(("a_min", "min"), 1),
        given.option(("a_max", "max"), 2),
    )
    if low is not None and high is not None:
        return call("clip", x, given.scope.tree(low), given.scope.tree(high))
    if low is not None:
        return call("maximum", x, given.scope.tree(low))
    return call("minimum", x, given.scope.tree(high))


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
            if inner == other and len({row, inner, column}) == 3 and out == [row, column]:
                return product(left, right)
            if inner == other and len({row, inner, column}) == 3 and out == [column, row]:
                return syntax.Transposed(product(left, right))
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
    **{name: _elementwise(name) for name in ENTRYWISE},
    **dict.fromkeys(("expit",), _elementwise("sigmoid")),
    "log1p": lambda given: call("log", syntax.Binary("+", number("1"), given.tree(0))),
    "expm1": lambda given: syntax.Binary("-", call("exp", given.tree(0)), number("1")),
    **{name: _pairwise(name) for name in ("maximum", "minimum", "outer")},
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
    **MAKERS,
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
    **ARRANGERS,
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
