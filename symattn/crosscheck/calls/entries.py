"""Functions of entries: each by itself, or two by two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from symattn.crosscheck.calls.arguments import Word, each
from symattn.crosscheck.lines import Place, TapeLines
from symattn.crosscheck.scalars import tracked
from symattn.errors import Malformed

#: What the cube of gelu's tanh form is multiplied by.
_CUBE = Fraction(44715, 1000000)


def _of_two(operation: str) -> Callable[..., Place]:
    """A function of two entries."""

    def call(w: TapeLines, X: Place, Y: Place) -> Place:
        return w.entrywise(operation, X, Y)

    return call


def _gelu(w: TapeLines, X: Place, approximate: Word = "none") -> Place:
    if approximate == "none":
        return each("gelu")(w, X)
    if approximate != "tanh":
        raise Malformed(f"approximate expects 'tanh' or 'none', found {approximate!r}")
    U = w.add("gelu_inner", (X, w.number(tracked(_CUBE))), w.shape(X))
    return w.add("gelu_tanh", (X, U), w.shape(X))


def _clip(w: TapeLines, X: Place, low: Place, high: Place) -> Place:
    return w.entrywise("clip", X, low, high)


def _where(w: TapeLines, M: Place, X: Place, Y: Place) -> Place:
    return w.entrywise("where", M, X, Y)


def _softcap(w: TapeLines, S: Place, c: Place) -> Place:
    return w.add("softcap", (S, w.scalar(c, "softcap")), w.shape(S))


#: The functions of steps that this module writes, by name.
FUNCTIONS: Mapping[str, Callable[..., Place]] = {
    **{
        name: each(operation)
        for name, operation in {
            "sqrt": "square_root", "exp": "exponential", "log": "logarithm", "sin": "sine",
            "tanh": "hyperbolic_tangent", "cos": "cosine", "erf": "error_function",
            "sigmoid": "sigmoid", "softplus": "softplus", "silu": "silu", "relu": "relu",
            "abs": "absolute", "sign": "sign",
        }.items()
    },
    "gelu": _gelu, "softcap": _softcap, "maximum": _of_two("maximum"),
    "minimum": _of_two("minimum"), "clip": _clip, "clamp": _clip, "where": _where,
}  # fmt: skip
