"""The functions that lines may use, and the names that they may."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis, Expr, Index, Number
from symattn.calculus.tensors import exp

FUNCTIONS: Mapping[str, Callable[[Expr], Expr]] = {
    "exp": lambda x: term.Apply("exp", x),
    "log": lambda x: term.Apply("log", x),
    "sin": lambda x: term.Apply("sin", x),
    "cos": lambda x: term.Apply("cos", x),
    "erf": lambda x: term.Apply("erf", x),
    "sqrt": lambda x: term.Power(x, Fraction(1, 2)),
    "sigmoid": lambda x: term.Div(term.ONE, term.Add((term.ONE, exp(term.Neg(x))))),
    "tanh": lambda x: _tanh(x),
    "softplus": lambda x: term.Apply("log", term.Add((term.ONE, exp(x)))),
    "silu": lambda x: term.Div(x, term.Add((term.ONE, exp(term.Neg(x))))),
    "relu": lambda x: term.Mul((x, term.Apply("positive", x))),
    "gelu": lambda x: _gelu(x),
}
"""Functions of one number, which work entry by entry."""

ROWWISE = ("softmax", "logsumexp")
OTHERS = (
    *("sum", "mean", "delta", "step", "diff", "limit", "expect", "operations", "rowsum"),
    *("colsum", "total", "diag", "ones", "zeros", "eye", "trace"),
)


def _tanh(x: Expr) -> Expr:
    twice = exp(term.Mul((Number(Fraction(2)), x)))
    return term.Div(term.Add((twice, term.Neg(term.ONE))), term.Add((twice, term.ONE)))


def _gelu(x: Expr) -> Expr:
    half = term.Power(Number(Fraction(2)), Fraction(-1, 2))
    inner = term.Add((term.ONE, term.Apply("erf", term.Mul((x, half)))))
    return term.Mul((Number(Fraction(1, 2)), x, inner))


@dataclass
class LineScope:
    """The names that lines may use."""

    sizes: Sequence[str] = ()
    arrays: dict[str, Array] = field(default_factory=dict)
    permutations: Mapping[str, Axis] = field(default_factory=dict)
    advice: str = ""
    """What to do about a name of which nothing is known."""
    unnamed: int = 0
    """So many parts of lines stand for themselves without a name."""

    def known(self) -> list[str]:
        """All names with a meaning."""
        return [*self.sizes, *self.arrays, *self.permutations]


@dataclass(frozen=True)
class ParsedLine:
    """The sides of ``a == b == ...`` at the same free indices; of a hypothesis such as
    ``x > 0`` the one that is larger comes first."""

    sides: tuple[Expr, ...]
    free: tuple[Index, ...]
    relation: str = "=="
