"""Reading steps and numbers, apart from the reader that is being checked.

Python's own ``ast`` splits the text, after a first look at its characters; the
tree is then translated node by node through an allow-list. Nothing is run.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from keyword import iskeyword
from math import prod
from numbers import Rational
from typing import Any, NoReturn

import numpy as np

from symattn.crosscheck.scalars import PI, Tracked, plain_of
from symattn.errors import Fault, Faults, Malformed

#: Longest text and deepest tree that are read, most digits and largest power of ten.
MAX_LENGTH = 4000
MAX_DEPTH = 250
_MAX_DIGITS = 400
_MAX_EXPONENT = 400
#: Largest power that an entry is raised to.
MAX_POWER = 1000

_NUMBER = re.compile(r"(?<![\w.])(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.])")
_FOREIGN = re.compile(r"""[^A-Za-z0-9_+\-*/@.,:()\[\]<>=!"' ]""")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_MARK = "__quantity"
#: Typographic signs that authors paste from documents.
_SIGNS = str.maketrans("\u2212\u2013\u00d7\u00b7\u00f7", "--**/")
_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "addition",
    ast.Sub: "subtraction",
    ast.Mult: "times",
    ast.Div: "quotient",
    ast.MatMult: "product",
    ast.Pow: "power",
}
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Gt: "greater",
    ast.GtE: "at_least",
    ast.Lt: "less",
    ast.LtE: "at_most",
    ast.Eq: "equal",
    ast.NotEq: "unequal",
}
#: The functions that numbers may be written with.
_FUNCTIONS: Mapping[str, Callable[[Tracked], Tracked]] = {
    "cos": Tracked.cos, "erf": Tracked.erf, "exp": Tracked.exp, "log": Tracked.log,
    "sin": Tracked.sin, "sqrt": Tracked.sqrt, "tanh": Tracked.tanh,
}  # fmt: skip
#: A gradient as documents write it; to Python it would be a quotient.
_GRADIENT = re.compile(r"(?<![\w.])dL ?/ ?d([A-Za-z_]\w*)")
_QUOTED = re.compile(r"""(["'])([A-Za-z][A-Za-z-]*)\1""")


@dataclass(frozen=True)
class Expression:
    """An operation and its operands.

    ``operation`` is the name of a definition, or ``number``, ``name`` and ``word``
    (their text is in ``text``), ``call`` (of the function ``text``, with ``options``),
    ``gradient`` (with respect to ``text``; its operand, if any, is the loss),
    ``selection`` (its keys are in ``keys``), ``entries`` (the numbers are in
    ``rows``, nested as they are written), ``line`` (of a tape, its only key).
    """

    operation: str
    operands: tuple[Expression, ...] = ()
    text: str = ""
    keys: tuple[int | slice, ...] = ()
    rows: object = None
    options: tuple[tuple[str, Expression], ...] = ()


def expression(text: str) -> Expression:
    """The tree of a step's text.

    Raises :class:`~symattn.errors.Malformed` for all that is not in the grammar.

    >>> expression("exp(-x)").operands[0].operation
    'negation'
    >>> expression("9 // 9")
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: '9 // 9': FloorDiv has no meaning here
    """
    text = re.sub(r"\s+", " ", text.translate(_SIGNS)).strip()
    if len(text) > MAX_LENGTH:
        raise Malformed(f"expected at most {MAX_LENGTH} characters, found {len(text)}")
    foreign = _FOREIGN.search(text)
    if foreign:
        _refuse(text, f"{foreign[0]!r} has no meaning here")
    # Python knows more numbers (1_000, 0x10, 1j) than the grammar, and refuses leading zeros.
    if re.search(r"(?<![\w.])\.?[0-9]", _NUMBER.sub("", text)):
        _refuse(text, "not a number as the grammar has it")
    text = re.sub(r"(?<![\w.])0+(?=[0-9])", "", text)
    text = _GRADIENT.sub(r"grad(\1)", text)
    # A quantity may well be called lambda; to Python that is a keyword.
    text = _WORD.sub(lambda match: match[0] + _MARK if iskeyword(match[0]) else match[0], text)
    try:
        body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _refuse(text, "not an expression")
    return _Translator(text).tree(body, 0)


def _refuse(text: str, why: str) -> NoReturn:
    excerpt = text if len(text) <= 60 else text[:57] + "..."
    raise Malformed(f"{excerpt!r}: {why}")


class _Translator:
    """From Python's tree to :class:`Expression`, or a refusal."""

    def __init__(self, text: str) -> None:
        self.text = text

    def source(self, node: ast.expr) -> str:
        """The text of ``node``; it is ASCII on one line, so columns are characters."""
        return self.text[node.col_offset : node.end_col_offset].replace(_MARK, "")

    def refuse(self, why: str) -> NoReturn:
        _refuse(self.text, why)

    def tree(self, node: ast.expr, depth: int) -> Expression:
        if depth > MAX_DEPTH:
            self.refuse(f"nested deeper than {MAX_DEPTH}")
        depth += 1
        match node:
            case ast.Constant(value=str()):
                return Expression("word", text=self.word(self.source(node)))
            case ast.Constant():
                return Expression("number", text=self.number(self.source(node)))
            case ast.Name(id=name):
                return Expression("name", text=name.removesuffix(_MARK))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Expression("negation", (self.tree(operand, depth),))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.tree(operand, depth)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                operands = (self.tree(left, depth), self.tree(right, depth))
                return Expression(_BINARY[type(op)], operands)
            case ast.Attribute(value=value, attr="T"):
                return Expression("transpose", (self.tree(value, depth),))
            case ast.Subscript(value=value, slice=keys):
                return Expression(
                    "selection", (self.tree(value, depth),), keys=tuple(self.keys(keys))
                )
            case ast.List():
                return Expression("entries", rows=self.listed(node))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                operands = (self.tree(left, depth), self.tree(right, depth))
                return Expression(_COMPARISONS[type(op)], operands)
            case ast.Call(func=ast.Name(id="grad"), args=names, keywords=[]):
                return self.gradient([self.tree(item, depth) for item in names])
            case ast.Call(func=ast.Name(id=function), args=arguments, keywords=options):
                return self.call(function, arguments, options, depth)
        self.refuse(f"{type(getattr(node, 'op', node)).__name__} has no meaning here")

    def listed(self, node: ast.List, within: bool = False) -> list[object]:
        """The numbers in brackets, in rows or not."""
        if within and any(isinstance(item, ast.List) for item in node.elts):
            self.refuse("brackets in a row have no meaning here")
        return [
            self.listed(item, True) if isinstance(item, ast.List) else number(self.source(item))
            for item in node.elts
        ]

    def number(self, digits: str) -> str:
        # '...' is a constant of Python too.
        if not _NUMBER.fullmatch(digits):
            self.refuse(f"{digits} is not a number")
        mantissa, _, exponent = digits.lower().partition("e")
        if len(mantissa) > _MAX_DIGITS:
            self.refuse(f"expected at most {_MAX_DIGITS} digits, found {len(mantissa)}")
        if exponent and (len(exponent) > 6 or abs(int(exponent)) > _MAX_EXPONENT):
            self.refuse(f"power of ten beyond {_MAX_EXPONENT}")
        return digits

    def word(self, quoted: str) -> str:
        word = _QUOTED.fullmatch(quoted)
        if not word:
            self.refuse(f"expected a word in quotes, found {quoted}")
        return word[2]

    def call(
        self, function: str, arguments: list[ast.expr], keywords: list[ast.keyword], depth: int
    ) -> Expression:
        operands = tuple(self.tree(item, depth) for item in arguments)
        options: dict[str, Expression] = {}
        for keyword in keywords:
            name = (keyword.arg or "").removesuffix(_MARK)
            if not name or name in options:
                self.refuse(f"{function} takes each option once, by its name")
            options[name] = self.tree(keyword.value, depth)
        return Expression(
            "call", operands, text=function.removesuffix(_MARK), options=tuple(options.items())
        )

    def gradient(self, names: list[Expression]) -> Expression:
        if not 1 <= len(names) <= 2 or any(name.operation != "name" for name in names):
            self.refuse("grad expects a quantity, or a loss and a quantity")
        return Expression("gradient", tuple(names[:-1]), text=names[-1].text)

    def keys(self, node: ast.expr) -> Iterator[int | slice]:
        for key in node.elts if isinstance(node, ast.Tuple) else [node]:
            if isinstance(key, ast.Slice):
                bounds = [
                    None if bound is None else self.whole(bound)
                    for bound in (key.lower, key.upper, key.step)
                ]
                if bounds[2] == 0:
                    self.refuse("a slice can't step by 0")
                yield slice(*bounds)
            else:
                yield self.whole(key)

    def whole(self, node: ast.expr) -> int:
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        digits = self.source(node.operand if isinstance(node, ast.UnaryOp) else node)
        if not re.fullmatch(r"[0-9]{1,9}", digits):
            self.refuse(f"expected a whole number as index, found {self.source(node)}")
        return -int(digits) if negative else int(digits)


#: A sum of terms, a number times a symbol each; the plain number is under "1". Numbers are
#: fractions, and tracked as soon as one of two is not.
_Linear = dict[str, Any]


def number(raw: object) -> Tracked:
    """A number of a case: a rational, Decimal or text; ``"-inf"`` is allowed.

    >>> number("1/4"), number("-inf")
    (Tracked(0.25, 0.0), Tracked(-inf, 0.0))
    >>> number("sqrt(2)").value
    1.4142135623730951
    >>> number(0.5)
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: expected an exact number, found the float 0.5: write it as text, '0.5'
    """
    if raw == -math.inf or (isinstance(raw, str) and raw.translate(_SIGNS).strip() == "-inf"):
        return Tracked(-math.inf)
    terms = linear(raw)
    if symbols := sorted(terms.keys() - {"1"}):
        raise Malformed(f"expected a number, found the name {symbols[0]!r} in {raw!r}")
    return terms.get("1", Tracked(0.0))


def linear(raw: object) -> dict[str, Tracked]:
    """An entry of the upstream gradient: a number, or a sum of multiples of symbols.

    >>> linear("2*g1 - g2/4 + 3")
    {'g1': Tracked(2.0, 0.0), 'g2': Tracked(-0.25, 0.0), '1': Tracked(3.0, 0.0)}
    """
    terms: _Linear
    if isinstance(raw, str):
        terms = _linear(expression(raw), raw)
    elif isinstance(raw, Decimal):
        if not raw.is_finite() or abs(raw.adjusted()) > 2 * _MAX_EXPONENT:
            raise Malformed(f"expected a number below 10^{2 * _MAX_EXPONENT}, found {raw}")
        terms = {"1": Fraction(raw)}
    elif isinstance(raw, Rational) and not isinstance(raw, bool):
        terms = {"1": Fraction(raw)}
    elif isinstance(raw, float):
        raise Malformed(
            f"expected an exact number, found the float {raw!r}: write it as text, '{raw!r}'"
        )
    else:
        raise Malformed(f"expected a number, found {raw!r}")
    return {symbol: plain_of(factor) for symbol, factor in terms.items()}


def _linear(tree: Expression, raw: str) -> _Linear:
    operands = [_linear(operand, raw) for operand in tree.operands]
    match tree.operation, operands:
        case "number", _:
            return {"1": Fraction(tree.text)}
        case "name", _:
            return {"1": PI} if tree.text == "pi" else {tree.text: Fraction(1)}
        case "negation", [terms]:
            return {symbol: -factor for symbol, factor in terms.items()}
        case ("addition" | "subtraction") as sign, [left, right]:
            apply = operator.add if sign == "addition" else operator.sub
            zero = Fraction(0)
            return {
                symbol: apply(left.get(symbol, zero), right.get(symbol, zero))
                for symbol in {**left, **right}
            }
        case "times", [left, right] if left.keys() == {"1"} or right.keys() == {"1"}:
            factor, terms = (left, right) if left.keys() == {"1"} else (right, left)
            return {symbol: value * factor["1"] for symbol, value in terms.items()}
        case "quotient", [terms, divisor] if divisor.keys() == {"1"}:
            return {symbol: _quotient(value, divisor["1"], raw) for symbol, value in terms.items()}
        case "power", [terms, {"1": Fraction(denominator=1) as power}] if terms.keys() == {"1"}:
            if not terms or abs(power) > MAX_POWER:
                _refuse(raw, "not a number, nor a sum of multiples of symbols")
            product = prod([terms["1"]] * abs(int(power)), start=Fraction(1))
            return {"1": product if power >= 0 else _quotient(Fraction(1), product, raw)}
        case "call", [terms] if terms.keys() == {"1"} and tree.text in _FUNCTIONS:
            return {"1": _applied(tree.text, terms["1"], raw)}
    _refuse(raw, "not a number, nor a sum of multiples of symbols")


def _quotient(above: Any, below: Any, raw: str) -> Any:
    if plain_of(below).is_zero:
        _refuse(raw, "division by zero")
    return above / below


def _applied(function: str, value: Fraction | Tracked, raw: str) -> Fraction | Tracked:
    """A function of a number; exact where it is exp of 0 or the root of a square."""
    if isinstance(value, Fraction) and value >= 0 and function == "sqrt":
        above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if above * above == value.numerator and below * below == value.denominator:
            return Fraction(above, below)
    if function == "exp" and plain_of(value).is_zero:
        return Fraction(1)
    result: Tracked = _FUNCTIONS[function](plain_of(value))
    if math.isnan(result.value):
        _refuse(raw, f"{function} of a number that is not certainly in its domain")
    return result


def nested(raw: object, leaf: Callable[[object], Any]) -> tuple[tuple[int, ...], list[list[Any]]]:
    """The shape and the rows of a number, a vector or a matrix, each entry read by ``leaf``.

    A number has the shape () and one row with one entry, a vector one row.
    Lists, tuples and NumPy arrays are taken. Raises
    :class:`~symattn.errors.Malformed` with every fault at its place.

    >>> nested([["1", 2]], number)
    ((1, 2), [[Tracked(1.0, 0.0), Tracked(2.0, 0.0)]])
    """
    faults = Faults()
    if isinstance(raw, np.ndarray):
        raw = raw.tolist()

    def entry(item: object, where: str) -> Any:
        with faults.inside(where):
            return leaf(item)

    shape: tuple[int, ...] = ()
    if not isinstance(raw, (list, tuple)):
        rows = [[entry(raw, "")]]
    elif not any(isinstance(item, (list, tuple)) for item in raw):
        rows, shape = [[entry(item, f"[{j}]") for j, item in enumerate(raw)]], (len(raw),)
    else:
        width = next(len(item) for item in raw if isinstance(item, (list, tuple)))
        rows, shape = [], (len(raw), width)
        for i, row in enumerate(raw):
            if not isinstance(row, (list, tuple)) or len(row) != width:
                actual = len(row) if isinstance(row, (list, tuple)) else repr(row)
                faults.append(Fault(f"[{i}]", f"expected {width} numbers, found {actual}"))
                continue
            rows.append([entry(item, f"[{i}][{j}]") for j, item in enumerate(row)])
    if 0 in shape:
        faults.append(Fault("", "expected at least one number, found none"))
    faults.raise_all()
    return shape, rows
