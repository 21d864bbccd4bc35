"""Programs as formulas: what a step computes, in terms of named quantities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, get_args

from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.shapes import keys_of
from symattn.expressions.syntax import (
    Array,
    Binary,
    Call,
    Literal,
    Name,
    Negative,
    Product,
    Sum,
    Tree,
)
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs.nodes import Arithmetic, Node, WrittenCall, ancestors, arguments
from symattn.programs.program import Program

T = TypeVar("T")

#: Operations between two operands.
_ENTRYWISE = get_args(Arithmetic)


def names(program: Program) -> dict[int, Tree]:
    """Return what every named node is called: steps by name, gradients as dL/d(name).

    A gradient that flows on as it came is one node, called by the later step.
    """
    names: dict[int, Tree] = {}
    for name, node in program.gradients.items():
        names[node.serial] = syntax.Gradient(name)
    for name, node in program.quantities.items():
        names[node.serial] = Name(name)
    return names | _again(program, names)


def _again(program: Program, names: Mapping[int, Tree]) -> dict[int, Tree]:
    """Return what gradients compute once more of the steps, as softmax weights, by its name."""
    known: dict[object, int] = {}
    first: dict[int, int] = {}
    called: dict[int, Tree] = {}
    forward = {node.serial for node in ancestors(program.quantities.values())}
    for node in ancestors([*program.quantities.values(), *program.gradients.values()]):
        extra = node.serial if node.op in _OWN else node.extra
        key = node.op, tuple(first[x.serial] for x in node.operands), extra, node.shape
        first[node.serial] = known.setdefault(key, node.serial)
        if node.serial not in forward and first[node.serial] in names:
            called[node.serial] = names[first[node.serial]]
    return {serial: name for serial, name in called.items() if serial not in names}


#: Operations whose results are told apart by more than what they are of.
_OWN = ("given", "constant", "table", "copy", "pick", "scatter", "concat")


def symbol(name: str) -> Tree:
    """Return what a quantity or a gradient is shown as, by its name.

    >>> symbol("W_Q"), f.latex(symbol("dL/dW_Q"))
    (Name(name='W_Q'), '\\\\mathrm{d}W_{Q}')
    """
    match syntax.parse(name):
        case syntax.Gradient() as gradient:
            return gradient
    return Name(name)


def formula(node: Node, named: Mapping[int, Tree]) -> Tree:
    """Return what ``node`` computes, down to the named nodes it uses."""
    formulas = dict(named)
    formulas.pop(node.serial, None)
    # One after the other, operands first: a long chain is too deep for recursion.
    for needed in ancestors([node], stop=lambda x: x.serial in formulas, through=arguments):
        formulas[needed.serial] = _operation(
            needed, [formulas[x.serial] for x in arguments(needed)]
        )
    return formulas[node.serial]


def _operation(node: Node, x: list[Tree]) -> Tree:
    if node.written is not None:
        return _call(node.written, x)
    if node.op in _ENTRYWISE:
        # Entry by entry, what is repeated needs no word, as in the sum of a row and a matrix.
        x = [_once(operand) for operand in x]
    match node.op:
        case "given":
            return Name(node.extra)
        case "constant":
            number: Value = node.extra
            return number.formula()
        case "triangle":
            return Call("tril", (Literal("1"),))
        case "table":
            if not node.shape:
                return _entry(node.extra[0][0])
            rows: list[Tree] = [
                Array(tuple(_short([*map(_entry, row)], _DOTS))) for row in node.extra
            ]
            dots = Array((_DOTS,) * len(syntax.inside(rows[0])))
            return Array(tuple(_short(rows, dots))) if len(node.shape) > 1 else rows[0]
        case "copy" | "reshape":
            return x[0]
        case "transpose":
            return syntax.Transposed(x[0])
        case "negate":
            return Negative(x[0])
        case "add":
            return Sum((*_terms(x[0]), *_terms(x[1])))
        case "subtract":
            return Sum((*_terms(x[0]), Negative(x[1])))
        case "multiply":
            if node.operands[1].op == "triangle":
                return Call("tril", (x[0],))
            scalar = any(_is_number(o) for o in node.operands)
            return Product((x[0], x[1]), "*" if scalar else "o")
        case "divide":
            return Binary("/", x[0], x[1])
        case "matmul":
            return Product((*_factors(x[0]), x[1]), "@")
        case "maximum":
            return Call("max", (x[0], x[1]))
        case "above":
            return syntax.indicator(x[0], ">", x[1])
        case "hide":
            is_causal = node.operands[1].op == "triangle"
            return Call("causal", (x[0],)) if is_causal else Call("mask", (x[0], x[1]))
        case "pick":
            return syntax.Cell(x[0], keys_of(node.operands[0].shape, node.extra))
        case _:
            return Call(node.op, tuple(x))


def _once(formula: Tree) -> Tree:
    match formula:
        case Call("spread", (inner,)):
            return inner
    return formula


def _is_number(node: Node) -> bool:
    """Return whether a factor is one number for all entries."""
    while node.op in ("spread", "reshape", "copy") and node.grid != (1, 1):
        (node,) = node.operands
    return node.grid == (1, 1)


def _call(written: WrittenCall, x: list[Tree]) -> Tree:
    """A call as it was written, but for powers, comparisons and absolute values."""
    match written.function:
        case "**":
            return syntax.Power(x[0], x[1])
        case "grad":
            of, by = (t.PARTIAL + f.typeset(operand) for operand in x)
            shown = f"grad({syntax.shown(x[0])}, {syntax.shown(x[1])})"
            return f.Symbol(shown, t.fraction(of, by))
        case ">" | ">=" | "<" | "<=" | "==" | "!=":
            return syntax.indicator(x[0], written.function, x[1])
    given = (*zip(written.labels, x, strict=True), *written.options)
    arguments = tuple(value for name, value in given if not name)
    return Call(written.function, arguments, tuple((name, value) for name, value in given if name))


#: So many rows and columns of an array are shown in a formula, and what stands for more.
_SHOWN = 6
_DOTS: Tree = f.Symbol("...", t.DOTS)


def _short(items: list[T], dots: T) -> list[T]:
    """The first items and the last one, where there are many."""
    return items if len(items) <= _SHOWN else [*items[: _SHOWN - 2], dots, items[-1]]


def _entry(value: Value | Masked) -> Tree:
    return f.MINUS_INFINITY if isinstance(value, Masked) else value.formula()


def _terms(formula: Tree) -> tuple[Tree, ...]:
    return formula.terms if isinstance(formula, Sum) else (formula,)


def _factors(formula: Tree) -> tuple[Tree, ...]:
    return formula.factors if isinstance(formula, Product) and formula.sign == "@" else (formula,)
