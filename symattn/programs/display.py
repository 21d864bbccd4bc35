"""Programs as formulas: what a step computes, in terms of named quantities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, get_args

from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.shapes import keys_text
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs.nodes import Arithmetic, Node, WrittenCall, ancestors, arguments
from symattn.programs.program import Program

T = TypeVar("T")

#: Operations between two operands.
_ENTRYWISE = get_args(Arithmetic)


def names(program: Program) -> dict[int, f.Formula]:
    """Return what every named node is called: steps by name, gradients as dL/d(name).

    A gradient that flows on as it came is one node, called by the later step.
    """
    names: dict[int, f.Formula] = {}
    for name, node in program.gradients.items():
        names[node.serial] = gradient_symbol(name)
    for name, node in program.quantities.items():
        names[node.serial] = f.Symbol(name)
    return names | _again(program, names)


def _again(program: Program, names: Mapping[int, f.Formula]) -> dict[int, f.Formula]:
    """Return what gradients compute once more of the steps, as a softmax its weights, by its
    name."""
    known: dict[object, int] = {}
    first: dict[int, int] = {}
    called: dict[int, f.Formula] = {}
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


def gradient_symbol(name: str) -> f.Symbol:
    r"""``dL/dQ``, typeset short as ``\mathrm{d}Q``.

    >>> f.latex(gradient_symbol("Q"))
    '\\mathrm{d}Q'
    """
    return f.Symbol(syntax.gradient_name(name), differential(f.typeset_name(name)))


def differential(of: t.Row) -> t.Row:
    r"""A name with an upright d before it.

    >>> t.latex(differential(f.typeset_name("Q")))
    '\\mathrm{d}Q'
    """
    return t.row(t.UprightName("d"), of)


def symbol(name: str) -> f.Symbol:
    """Return what a quantity or a gradient is shown as, by its name.

    >>> symbol("W_Q").text, f.latex(symbol("dL/dW_Q"))
    ('W_Q', '\\\\mathrm{d}W_{Q}')
    """
    match syntax.parse(name):
        case syntax.Gradient(of):
            return gradient_symbol(of)
    return f.Symbol(name)


def formula(node: Node, named: Mapping[int, f.Formula]) -> f.Formula:
    """Return what ``node`` computes, down to the named nodes it uses."""
    formulas = dict(named)
    formulas.pop(node.serial, None)
    # One after the other, operands first: a long chain is too deep for recursion.
    for needed in ancestors([node], stop=lambda x: x.serial in formulas, through=arguments):
        formulas[needed.serial] = _operation(
            needed, [formulas[x.serial] for x in arguments(needed)]
        )
    return formulas[node.serial]


def _operation(node: Node, x: list[f.Formula]) -> f.Formula:
    if node.written is not None:
        return _call(node.written, x)
    if node.op in _ENTRYWISE:
        # Entry by entry, what is repeated needs no word, as in the sum of a row and a matrix.
        x = [_once(operand) for operand in x]
    match node.op:
        case "given":
            return f.Symbol(node.extra)
        case "constant":
            number: Value = node.extra
            return number.formula()
        case "triangle":
            return f.Function("tril", (f.Number("1"),))
        case "table":
            if not node.shape:
                return _entry(node.extra[0][0])
            rows = tuple(tuple(_short([*map(_entry, row)], _DOTS)) for row in node.extra)
            dots = (_DOTS,) * len(rows[0])
            return f.Matrix(tuple(_short(list(rows), dots)), is_vector=len(node.shape) == 1)
        case "copy" | "reshape":
            return x[0]
        case "transpose":
            return f.Transpose(x[0])
        case "negate":
            return f.Negated(x[0])
        case "add":
            return f.Sum((*_terms(x[0]), *_terms(x[1])))
        case "subtract":
            return f.Sum((*_terms(x[0]), f.Negated(x[1])))
        case "multiply":
            if node.operands[1].op == "triangle":
                return f.Function("tril", (x[0],))
            scalar = any(_is_number(o) for o in node.operands)
            return f.Product((x[0], x[1]), "*" if scalar else "o")
        case "divide":
            return f.Quotient(x[0], x[1])
        case "matmul":
            return f.Product((*_factors(x[0]), x[1]), "@")
        case "maximum":
            return f.Function("max", (x[0], x[1]))
        case "above":
            return f.Indicator(x[0], ">", x[1])
        case "sqrt":
            return f.Root(x[0])
        case "hide":
            keep = node.operands[1]
            return (
                f.Function("causal", (x[0],))
                if keep.op == "triangle"
                else f.Function("mask", (x[0], x[1]))
            )
        case "pick":
            return f.Entry(x[0], keys_text(node.operands[0].shape, node.extra))
        case "scatter":
            return f.Function("scatter", (x[0],))
        case _:
            return f.Function(node.op, tuple(x))


def _once(formula: f.Formula) -> f.Formula:
    match formula:
        case f.Function("spread", (inner,)):
            return inner
    return formula


def _is_number(node: Node) -> bool:
    """Return whether a factor is one number for all entries."""
    while node.op in ("spread", "reshape", "copy") and node.grid != (1, 1):
        (node,) = node.operands
    return node.grid == (1, 1)


def _call(written: WrittenCall, x: list[f.Formula]) -> f.Formula:
    """A call as it was written, but for powers, comparisons and absolute values."""
    match written.function:
        case "**":
            return f.Power(x[0], x[1])
        case "grad":
            of, by = (t.PARTIAL + f.typeset(operand) for operand in x)
            return f.Symbol(f"grad({f.text(x[0])}, {f.text(x[1])})", t.fraction(of, by))
        case ">" | ">=" | "<" | "<=" | "==" | "!=":
            return f.Indicator(x[0], written.function, x[1])
    options = ((name, _option(value)) for name, value in written.options)
    parts = (*zip(written.labels, x, strict=True), *options)
    named = (f.Option(name, value) if name else value for name, value in parts)
    return f.Function(written.function, tuple(named))


def _option(value: str) -> f.Formula:
    """A number, or a word."""
    digits = value.removeprefix("-")
    if not digits.isdigit():
        return f.Symbol(value, t.row(t.UprightName(value)))
    return f.Negated(f.Number(digits)) if value != digits else f.Number(digits)


#: So many rows and columns of an array are shown in a formula, and what stands for more.
_SHOWN = 6
_DOTS = f.Symbol("...", t.DOTS)


def _short(items: list[T], dots: T) -> list[T]:
    """The first items and the last one, where there are many."""
    return items if len(items) <= _SHOWN else [*items[: _SHOWN - 2], dots, items[-1]]


def _entry(value: Value | Masked) -> f.Formula:
    return f.MINUS_INFINITY if isinstance(value, Masked) else value.formula()


def arithmetic(tree: syntax.Tree) -> f.Formula:
    """An expression of numbers as it is written, these with all their digits.

    >>> f.text(arithmetic(syntax.parse("0.50 * 3 + (1 - sqrt(2)) / 4")))
    '0.50*3 + (1 - sqrt(2))/4'
    """
    match tree:
        case syntax.Literal(text):
            digits, _, power = text.lower().partition("e")
            ten = f.Power(f.Number("10"), f.Number(power.removeprefix("+")))
            return f.Product((f.Number(digits), ten)) if power else f.Number(digits)
        case syntax.Binary("+", left, right):
            return f.Sum((*_terms(arithmetic(left)), arithmetic(right)))
        case syntax.Binary("-", left, right):
            return f.Sum((*_terms(arithmetic(left)), f.Negated(arithmetic(right))))
        case syntax.Binary("/", left, right):
            return f.Quotient(arithmetic(left), arithmetic(right))
        case syntax.Negative(operand):
            return f.Negated(arithmetic(operand))
        case syntax.Call("sqrt", (operand,)):
            return f.Root(arithmetic(operand))
        case syntax.Call(function, arguments):
            return f.Function(function, tuple(map(arithmetic, arguments)))
        case syntax.Array(items):
            is_vector = not isinstance(items[0], syntax.Array)
            rows = (tree,) if is_vector else items
            entries = tuple(tuple(map(arithmetic, syntax.inside(row))) for row in rows)
            return f.Matrix(entries, is_vector)
    parts = tuple(map(arithmetic, syntax.inside(tree)))
    # What is left is a product, and what leaves a number as it is.
    return f.Product(parts) if len(parts) > 1 else parts[0]


def _terms(formula: f.Formula) -> tuple[f.Formula, ...]:
    return formula.terms if isinstance(formula, f.Sum) else (formula,)


def _factors(formula: f.Formula) -> tuple[f.Formula, ...]:
    return formula.factors if isinstance(formula, f.Product) and formula.sign == "@" else (formula,)
