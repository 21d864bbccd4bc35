"""The backward rule of every operation of a program, derived by SymPy at a concrete size.

For each operation the forward definition is written entry by entry; the rule
is what SymPy's derivatives of the entries, contracted with the upstream
gradient, come to:  ``gradient[a] = sum over o of upstream[o] * d output[o] / d a``.
A program's own gradient code is held against this table, so that neither can
change alone.

Operands are arrays of positive symbols ``x0_ij``, ``x1_ij``, ... in the shapes
asked for (``()``, ``(n,)`` or ``(n, m)``); the upstream gradient ``g_ij`` has
the output's shape.

>>> rule = RULES["matmul"]((1, 2), (2, 1))
>>> rule.gradients[0].tolist()
[[g_00*x1_00, g_00*x1_10]]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from symattn.errors import Malformed
from symattn.verdicts import Verdict

Entries: TypeAlias = NDArray[Any]
"""SymPy expressions in the shape of a quantity."""
Shape: TypeAlias = tuple[int, ...]
Definition: TypeAlias = Callable[..., Entries]


@dataclass(frozen=True, eq=False)
class BackwardRule:
    """An operation at a concrete size, and its vector-Jacobian product."""

    operation: str
    operands: tuple[Entries, ...]
    output: Entries
    upstream: Entries
    gradients: tuple[Entries, ...]

    def compare(self, found: Sequence[Entries]) -> Verdict:
        """Whether gradients computed otherwise, from the same symbols, are these.

        ``found`` has one array for each operand. Raises Malformed where the
        number or a shape is not as expected.
        """
        if len(found) != len(self.gradients):
            raise Malformed(f"expected {len(self.gradients)} gradients, found {len(found)}")
        for place, (mine, theirs) in enumerate(zip(self.gradients, found, strict=True)):
            if np.shape(theirs) != mine.shape:
                raise Malformed(
                    f"gradient {place}: expected shape {mine.shape}, found {np.shape(theirs)}"
                )
            for one, other in zip(mine.flat, np.asarray(theirs, dtype=object).flat, strict=True):
                if not _is_zero(one - other):
                    return Verdict.REFUTED
        return Verdict.HOLDS


def derived(operation: str, definition: Definition, *shapes: Shape) -> BackwardRule:
    """The rule of an operation whose entries ``definition`` computes from its operands."""
    operands = tuple(_symbols(f"x{place}", shape) for place, shape in enumerate(shapes))
    output = np.asarray(definition(*operands), dtype=object)
    upstream = _symbols("g", output.shape)
    gradients = tuple(_contracted(output, upstream, operand) for operand in operands)
    return BackwardRule(operation, operands, output, upstream, gradients)


def _contracted(output: Entries, upstream: Entries, operand: Entries) -> Entries:
    found = np.empty(operand.shape, dtype=object)
    for place in np.ndindex(operand.shape):
        parts = zip(output.flat, upstream.flat, strict=True)
        found[place] = sp.Add(*(g * sp.diff(one, operand[place]) for one, g in parts))
    return found


def _symbols(stem: str, shape: Shape) -> Entries:
    found = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        name = f"{stem}_{''.join(map(str, place))}" if place else stem
        found[place] = sp.Symbol(name, positive=True)
    return found


def _is_zero(value: Any) -> bool:
    """Whether a rational function of symbols, roots and exponentials is zero."""
    raised = {symbol for one in value.atoms(sp.exp) for symbol in one.free_symbols}
    # With x = log t every exponential becomes a monomial, and SymPy's cancel decides.
    plain = value.subs({symbol: sp.log(sp.Dummy(positive=True)) for symbol in raised})
    return bool(sp.cancel(sp.together(plain)) == 0)


# The operations, as NumPy and the definitions have them.


def _each(function: Any) -> Definition:
    """A function of one number, at every entry."""

    def definition(x: Entries) -> Entries:
        found = np.empty(x.shape, dtype=object)
        for place in np.ndindex(x.shape):
            found[place] = function(x[place])
        return found

    return definition


def _softmax(x: Entries) -> Entries:
    powers = _each(sp.exp)(x)
    found = np.empty(x.shape, dtype=object)
    for place in np.ndindex(x.shape):
        found[place] = powers[place] / sp.Add(*powers[place[:-1]])
    return found


def _masked(x: Entries, keep: Any) -> Entries:
    kept = np.broadcast_to(np.asarray(keep, dtype=object), x.shape)
    found = x.copy()
    for place in np.ndindex(x.shape):
        if kept[place] == 0:
            found[place] = -sp.oo
    return found


def _matmul(left: Shape, right: Shape) -> BackwardRule:
    return derived("matmul", lambda a, b: a @ b, left, right)


def _add(left: Shape, right: Shape) -> BackwardRule:
    return derived("add", lambda a, b: a + b, left, right)


def _sub(left: Shape, right: Shape) -> BackwardRule:
    return derived("sub", lambda a, b: a - b, left, right)


def _mul(left: Shape, right: Shape) -> BackwardRule:
    return derived("mul", lambda a, b: a * b, left, right)


def _div(numerator: Shape, denominator: Shape) -> BackwardRule:
    return derived("div", lambda a, b: a / b, numerator, denominator)


def _mask(shape: Shape, keep: Any) -> BackwardRule:
    return derived("mask", lambda x: _masked(x, keep), shape)


def _causal(shape: Shape) -> BackwardRule:
    return derived("causal", lambda x: _masked(x, np.tri(*shape, dtype=int)), shape)


def _concat(*shapes: Shape) -> BackwardRule:
    return derived("concat", lambda *parts: np.concatenate(parts, axis=-1), *shapes)


def _index(shape: Shape, key: Any) -> BackwardRule:
    return derived("index", lambda x: x[key], shape)


def _unary(operation: str, definition: Definition) -> Callable[[Shape], BackwardRule]:
    return lambda shape: derived(operation, definition, shape)


RULES: Mapping[str, Callable[..., BackwardRule]] = MappingProxyType(
    {
        "matmul": _matmul,
        "add": _add,
        "sub": _sub,
        "mul": _mul,
        "div": _div,
        "neg": _unary("neg", lambda x: -x),
        "transpose": _unary("transpose", lambda x: x.T),
        "sqrt": _unary("sqrt", _each(sp.sqrt)),
        "exp": _unary("exp", _each(sp.exp)),
        "log": _unary("log", _each(sp.log)),
        "tanh": _unary("tanh", _each(sp.tanh)),
        "sin": _unary("sin", _each(sp.sin)),
        "cos": _unary("cos", _each(sp.cos)),
        "erf": _unary("erf", _each(sp.erf)),
        "softmax": _unary("softmax", _softmax),
        "mask": _mask,
        "causal": _causal,
        "rowsum": _unary("rowsum", lambda x: x.sum(axis=1, keepdims=True)),
        "colsum": _unary("colsum", lambda x: x.sum(axis=0, keepdims=True)),
        "total": _unary("total", lambda x: x.sum()),
        "concat": _concat,
        "index": _index,
    }
)
"""Operation to the function that derives its rule at given operand shapes.

Binary operations take two shapes (broadcast as in NumPy; 1-D operands of
``matmul`` too) and give a gradient for each operand: left and right factor,
numerator and denominator. ``mask`` takes a shape and ``keep``, zeros and ones;
``concat`` any number of shapes; ``index`` a shape and a NumPy ``key``.
"""
