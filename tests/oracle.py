"""A second reading of the grammar: Python's own ``ast`` over mpmath numbers.

It shares nothing with symattn: what it computes is the oracle of many tests.
Matrices are object arrays, so NumPy does the shapes and mpmath the numbers.
"""

from __future__ import annotations

import ast
import itertools
import operator
from fractions import Fraction
from functools import partial

import gmpy2
import mpmath
import numpy as np

#: Digits that the oracle works with.
DIGITS = 60

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.MatMult: operator.matmul,
    ast.Pow: operator.pow,
}


def each(function):
    """``function`` of every entry."""
    return np.vectorize(function, otypes=[object])


def _softmax(x, sink=None):
    x = np.asarray(x, dtype=object)
    powers = each(mpmath.exp)(x)
    taken = 0 if sink is None else each(mpmath.exp)(sink)
    return powers / (powers.sum(axis=-1, keepdims=True) + taken)


def _layernorm(x, gamma, beta, eps):
    apart = x - x.mean(axis=1, keepdims=True)
    return gamma * apart / each(mpmath.sqrt)((apart**2).mean(axis=1, keepdims=True) + eps) + beta


def _cross_entropy(logits, ids):
    chosen = [row[int(k)] for row, k in zip(_softmax(logits), ids, strict=True)]
    return -each(mpmath.log)(chosen).mean()


def _rope(x, base):
    """Pairs of neighbours as complex numbers, turned."""
    turned = np.empty_like(x)
    for p, c in np.ndindex(x.shape[0], x.shape[1] // 2):
        angle = p * base ** (mpmath.mpf(-2 * c) / x.shape[1])
        end = mpmath.mpc(*x[p, 2 * c : 2 * c + 2]) * mpmath.expj(angle)
        turned[p, 2 * c : 2 * c + 2] = end.real, end.imag
    return turned


def _hide(x, keep):
    rows, columns = x.shape
    keep = np.broadcast_to(keep, (rows, columns))
    masked = -mpmath.inf
    return np.array(
        [[x[i, j] if keep[i, j] != 0 else masked for j in range(columns)] for i in range(rows)],
        dtype=object,
    )


FUNCTIONS = {
    "sqrt": each(mpmath.sqrt),
    "exp": each(mpmath.exp),
    "log": each(mpmath.log),
    "tanh": each(mpmath.tanh),
    "cos": each(mpmath.cos),
    "sin": each(mpmath.sin),
    "erf": each(mpmath.erf),
    "silu": each(lambda x: x / (1 + mpmath.exp(-x))),
    "gelu": each(lambda x: x * mpmath.ncdf(x)),
    "softmax": _softmax,
    "layernorm": _layernorm,
    "mse": lambda x, y: ((x - y) ** 2).mean(),
    "cross_entropy": _cross_entropy,
    "causal": lambda x: _hide(x, np.tri(*x.shape, dtype=int)),
    "mask": _hide,
    "window": lambda x, left, right: _hide(
        x, np.tril(np.triu(np.ones(x.shape), -int(left)), int(right))
    ),
    "alibi": lambda x, m: x - m * each(abs)(np.subtract(*np.indices(x.shape))),
    "rope": _rope,
    "head": lambda x, k, heads: np.split(x, int(heads), axis=1)[int(k)],
    "embedding": lambda ids, table: table[[int(k) for k in ids]],
    "tril": np.tril,
    "concat": lambda *parts, axis=-1: np.concatenate(parts, axis=int(axis)),
    "rowsum": lambda x: x.sum(axis=1, keepdims=True),
    "colsum": lambda x: x.sum(axis=0, keepdims=True),
    "total": lambda x: x.sum(),
    "rowmax": lambda x: x.max(axis=1, keepdims=True),
    "maximum": np.maximum,
    "rows": lambda x: mpmath.mpf(x.shape[0]),
    "cols": lambda x: mpmath.mpf(x.shape[-1]),
}


CONSTANTS = {"pi": mpmath.pi}


def evaluate(text, names=None):
    """The value of an expression at the working precision of mpmath.

    ``^`` is a power here, as closed forms are written.
    """
    source = text.replace("^", "**")
    names = {} if names is None else names

    def value(node):
        match node:
            case ast.Expression(body):
                return value(body)
            case ast.Constant():
                # As written: the float that Python makes of it is not exact.
                return mpmath.mpf(ast.get_source_segment(source, node))
            case ast.Name(name):
                return names[name] if name in names else CONSTANTS[name]
            case ast.UnaryOp(ast.USub(), operand):
                return -value(operand)
            case ast.UnaryOp(ast.UAdd(), operand):
                return value(operand)
            case ast.BinOp(left, op, right):
                return _OPERATORS[type(op)](value(left), value(right))
            case ast.Attribute(operand, "T"):
                return value(operand).T
            case ast.Subscript(operand, key):
                return value(operand)[_key(key)]
            case ast.Call(ast.Name("grad"), [ast.Name(name)]):
                return names["grad"](name)
            case ast.Call(ast.Name(name), arguments, options):
                said = {str(option.arg): value(option.value) for option in options}
                return FUNCTIONS[name](*map(value, arguments), **said)
        raise AssertionError(ast.dump(node))

    found = value(ast.parse(source, mode="eval"))
    return found.item() if getattr(found, "shape", None) == () else found


def _key(node):
    match node:
        case ast.Tuple(items):
            return tuple(map(_key, items))
        case ast.Slice(start, stop, step):
            return slice(*(None if x is None else _key(x) for x in (start, stop, step)))
        case ast.UnaryOp(ast.USub(), operand):
            return -_key(operand)
        case ast.Constant(number):
            return number
    raise AssertionError(ast.dump(node))


def entry(raw):
    """A given number, as files write it."""
    if isinstance(raw, str):
        return evaluate(raw)
    if isinstance(raw, Fraction):
        return mpmath.mpf(raw.numerator) / raw.denominator
    return mpmath.mpf(str(raw))


def matrix(raw):
    """Given numbers as an object array; a scalar as a number."""
    return each(entry)(np.array(raw, dtype=object)) if isinstance(raw, list) else entry(raw)


def run(given, steps, loss=None):
    """All quantities of a program, by name; steps may take gradients of a step that is a
    number, ``loss``."""
    found = {name: matrix(raw) for name, raw in given.items()}
    for name, text in steps.items():
        slopes = {"grad": partial(_slopes, given, steps, loss, found)}
        found[name] = np.array(evaluate(text, found | slopes), dtype=object)
    return found


def _slopes(given, steps, loss, found, name):
    """Central differences by every entry of what is given, at twice the digits."""
    before = dict(itertools.takewhile(lambda step: step[0] != loss, steps.items()))
    slopes = np.empty_like(found[name])
    with mpmath.workdps(2 * mpmath.mp.dps):
        step = mpmath.mpf(10) ** (-mpmath.mp.dps // 3)
        for place in np.ndindex(slopes.shape):
            ends = []
            for moved in (step, -step):
                values = {key: matrix(raw) for key, raw in given.items()}
                values[name][place] += moved
                for key, text in [*before.items(), (loss, steps[loss])]:
                    values[key] = np.array(evaluate(text, values), dtype=object)
                ends.append(values[loss].item())
            slopes[place] = (ends[0] - ends[1]) / (2 * step)
    return slopes


def close(ball, expected, digits=50):
    """Whether an enclosure's middle is ``expected`` to so many digits."""
    middle = mpmath.mpf(ball.mid().str(DIGITS + 10, radius=False))
    return abs(middle - expected) <= mpmath.mpf(10) ** -digits * (1 + abs(expected))


_MPFR = {
    "exp": gmpy2.exp, "sqrt": gmpy2.sqrt, "log": gmpy2.log,
    "cos": gmpy2.cos, "sin": gmpy2.sin, "erf": gmpy2.erf, "tanh": gmpy2.tanh,
}  # fmt: skip


def mpfr(text):
    """The value of a number's text in MPFR at 900 bits, as a Fraction."""

    def value(node):
        match node:
            case ast.Constant():
                digits = ast.get_source_segment(text, node)
                assert digits is not None
                return gmpy2.mpfr(gmpy2.mpq(Fraction(digits)))
            case ast.UnaryOp(ast.USub(), operand):
                return -value(operand)
            case ast.UnaryOp(_, operand):
                return value(operand)
            case ast.BinOp(left, op, right):
                a, b = value(left), value(right)
                match op:
                    case ast.Add():
                        return a + b
                    case ast.Sub():
                        return a - b
                    case ast.Mult():
                        return a * b
                    case ast.Div():
                        return a / b
            case ast.Call(ast.Name(name), [operand]):
                return _MPFR[name](value(operand))
            case ast.Name("pi"):
                return gmpy2.const_pi()
        raise AssertionError(ast.dump(node))

    with gmpy2.context(precision=900):
        q = gmpy2.mpq(value(ast.parse(text.strip(), mode="eval").body))
    return Fraction(int(q.numerator), int(q.denominator))
