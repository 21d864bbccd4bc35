"""Formulas as trees of what they mean, as plain text, and as they are set.

Everything that symattn shows, a closed form or a step of a program, becomes
one of these trees first, so precedence and layout are decided in one place.
:func:`typeset` makes of it what printers walk.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from symattn.expressions import trees
from symattn.expressions import typesetting as t
from symattn.expressions.trees import ATOM, POSTFIX, PRODUCT, SUM, Walk


@dataclass(frozen=True)
class Number:
    """A non-negative number, by its digits."""

    digits: str


@dataclass(frozen=True)
class Symbol:
    """A name; ``row`` where it is set differently from its text."""

    text: str
    row: t.Row | None = None


@dataclass(frozen=True)
class Negated:
    """``-operand``."""

    operand: Formula


@dataclass(frozen=True)
class Sum:
    """Terms added; a :class:`Negated` term prints as a subtraction."""

    terms: tuple[Formula, ...]


@dataclass(frozen=True)
class Product:
    """Factors multiplied; ``sign`` is ``*`` (numbers), ``@`` (matrices) or
    ``o`` (entry by entry)."""

    factors: tuple[Formula, ...]
    sign: str = "*"


@dataclass(frozen=True)
class Quotient:
    """``numerator / denominator``."""

    numerator: Formula
    denominator: Formula


@dataclass(frozen=True)
class Power:
    """``base ** exponent``."""

    base: Formula
    exponent: Formula


@dataclass(frozen=True)
class Root:
    """The square root."""

    operand: Formula


@dataclass(frozen=True)
class Function:
    """``name(arguments)``."""

    name: str
    arguments: tuple[Formula, ...]


@dataclass(frozen=True)
class Option:
    """``name=value`` among the arguments of a function."""

    name: str
    value: Formula


@dataclass(frozen=True)
class Indicator:
    """1 where a comparison holds, else 0: Iverson's bracket ``[left sign right]``."""

    left: Formula
    sign: str
    right: Formula


@dataclass(frozen=True)
class Transpose:
    """``operand.T``."""

    operand: Formula


@dataclass(frozen=True)
class Entry:
    """``operand[keys]`` with the keys as text."""

    operand: Formula
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Matrix:
    """Rows in brackets; a vector is one row without brackets of its own."""

    rows: tuple[tuple[Formula, ...], ...]
    is_vector: bool = False


Formula = (
    Number
    | Symbol
    | Negated
    | Sum
    | Product
    | Quotient
    | Power
    | Root
    | Function
    | Option
    | Indicator
    | Transpose
    | Entry
    | Matrix
)

E = Symbol("e")
PI = Symbol("pi")
MINUS_INFINITY = Negated(Symbol("inf", t.Row((t.Letter("∞"),))))


_walk: Walk[Formula] = Walk()
parts, mapped = _walk.parts, _walk.mapped


def decimal(number: Decimal) -> Formula:
    """A decimal with the places it has.

    >>> text(decimal(Decimal("-0.50")))
    '-0.50'
    """
    # Not abs(): that rounds to the context's 28 digits.
    size = Number(format(number.copy_abs(), "f"))
    return Negated(size) if number < 0 else size


def text(formula: Formula) -> str:
    """The formula on one line.

    >>> text(Quotient(E, Sum((Number("1"), Root(E), E))))
    'e/(1 + sqrt(e) + e)'
    """
    return _text(formula)[0]


_bracket = partial(trees.bracketed, around="({})".format)


def _join(parts: list[str]) -> str:
    """Terms joined by their signs: ``a - b + c``."""
    joined = parts[0]
    for part in parts[1:]:
        joined += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
    return joined


def _text(formula: Formula) -> tuple[str, int]:
    """The text and how tightly it binds, kept with the formula: it may stand in many others."""
    written: tuple[str, int] | None = formula.__dict__.get("_text")
    if written is None:
        written = formula.__dict__["_text"] = _written(formula)
    return written


def _written(formula: Formula) -> tuple[str, int]:
    match formula:
        case Number(digits):
            return digits, ATOM
        case Symbol(name):
            return name, ATOM
        case Negated(operand):
            return "-" + _bracket(_text(operand), PRODUCT), SUM
        case Sum(terms):
            return _join([_bracket(_text(term), SUM) for term in terms]), SUM
        case Product(factors, sign):
            mark = {"*": "*", "@": " @ ", "o": " * "}[sign]
            first = _bracket(_text(factors[0]), PRODUCT)
            return mark.join(
                [first, *(_bracket(_text(factor), POSTFIX) for factor in factors[1:])]
            ), PRODUCT
        case Quotient(numerator, denominator):
            over = _bracket(_text(numerator), PRODUCT)
            return f"{over}/{_bracket(_text(denominator), POSTFIX)}", PRODUCT
        case Power(base, exponent):
            raised = _text(exponent)
            return f"{_bracket(_text(base), ATOM)}^{_bracket(raised, ATOM)}", POSTFIX
        case Root(operand):
            return f"sqrt({text(operand)})", ATOM
        case Function(name, arguments):
            return f"{name}({', '.join(map(text, arguments))})", ATOM
        case Option(name, value):
            return f"{name}={text(value)}", ATOM
        case Indicator(left, sign, right):
            return f"[{text(left)} {sign} {text(right)}]", ATOM
        case Transpose(operand):
            return f"{_bracket(_text(operand), POSTFIX)}.T", POSTFIX
        case Entry(operand, keys):
            return f"{_bracket(_text(operand), POSTFIX)}[{', '.join(keys)}]", POSTFIX
        case Matrix(rows, is_vector):
            shown_rows = ", ".join(f"[{', '.join(map(text, row))}]" for row in rows)
            return shown_rows if is_vector else f"[{shown_rows}]", ATOM


def latex(formula: Formula) -> str:
    r"""The formula in LaTeX's mathematics.

    >>> latex(Quotient(E, Sum((Number("1"), Root(E), E))))
    '\\frac{e}{1 + \\sqrt{e} + e}'
    """
    return t.latex(typeset(formula))


def typeset(formula: Formula) -> t.Row:
    """The formula as it is set.

    >>> typeset(Negated(PI)).nodes
    (Sign(text='−', role='operator', prefix=True), Letter(text='π'))
    """
    return _typeset(formula)[0]


def _typeset(formula: Formula) -> tuple[t.Row, int]:
    match formula:
        case Number(digits):
            return t.number(digits), ATOM
        case Symbol(name, row):
            return row or typeset_name(name), ATOM
        case Negated(operand):
            return t.sign("−", True) + _fence(_typeset(operand), PRODUCT), SUM
        case Sum(terms):
            return added([_fence(_typeset(term), SUM) for term in terms]), SUM
        case Product(factors, sign):
            return _typeset_product(factors, sign), PRODUCT
        case Quotient(numerator, denominator):
            return t.fraction(typeset(numerator), typeset(denominator)), POSTFIX
        case Power(base, exponent):
            return t.index(_fence(_typeset(base), ATOM), above=slashed(exponent)), POSTFIX
        case Root(operand):
            return t.row(t.Radical(typeset(operand))), ATOM
        case Function(name, arguments):
            inner = t.joined(map(typeset, arguments), t.COMMA)
            return t.row(t.UprightName(name, True), t.fenced(inner)), ATOM
        case Option(name, value):
            return t.row(t.UprightName(name), t.EQUALS, typeset(value)), ATOM
        case Indicator(left, sign, right):
            return t.fenced(t.row(typeset(left), t.sign(sign), typeset(right)), "[]"), ATOM
        case Transpose(operand):
            return t.index(_fence(_typeset(operand), ATOM), above=TOP), POSTFIX
        case Entry(operand, keys):
            inner, binding = _typeset(operand)
            if binding < ATOM:
                inner = t.fenced(inner)
            # TeX refuses a second subscript on W_{Q}.
            elif t.has_index(inner):
                inner = bracketed(inner)
            return t.index(inner, t.letters(",".join(keys))), POSTFIX
        case Matrix(rows):
            return t.matrix(map(typeset, row) for row in rows), ATOM


TOP = t.row(t.Letter("⊤"))


def added(terms: list[t.Row]) -> t.Row:
    """Terms joined by their signs: ``a - b + c``."""
    total = terms[0]
    for term in terms[1:]:
        is_negated = term.nodes[0] == t.Sign("−", "operator", True)
        total += t.sign("−") + t.Row(term.nodes[1:]) if is_negated else t.sign("+") + term
    return total


def bracketed(row: t.Row) -> t.Row:
    """A row in round brackets that don't grow."""
    return t.sign("(") + row + t.sign(")")


# A fraction, a root or a superscript brackets by its shape.
_fence = partial(trees.bracketed, around=t.fenced)


def _typeset_product(factors: tuple[Formula, ...], sign: str) -> t.Row:
    pieces = [_fence(_typeset(factors[0]), PRODUCT)]
    pieces += [_fence(_typeset(factor), POSTFIX) for factor in factors[1:]]
    if sign == "o":
        return t.joined(pieces, t.sign("⊙"))
    product = pieces[0]
    for left, right, factor in zip(pieces, pieces[1:], factors[1:], strict=False):
        # Two numbers side by side would read as one.
        touching = isinstance(left.nodes[-1], t.Digits) and t.begins(right, t.Digits)
        signed = isinstance(factor, Negated) and isinstance(factor.operand, Number)
        apart = touching or signed or isinstance(factor, Number)
        apart = apart or t.begins(right, t.Fraction)
        product += (t.DOT if apart else t.THIN) + right
    return product


def slashed(formula: Formula) -> t.Row:
    """A superscript as it is set: a fraction there is written with a slash.

    >>> t.latex(slashed(Quotient(Number("17"), Number("400"))))
    '17/400'
    """
    match formula:
        case Quotient(numerator, denominator):
            over = _fence(_typeset(numerator), PRODUCT)
            return over + t.sign("/") + _fence(_typeset(denominator), POSTFIX)
        case Negated(operand) if not isinstance(operand, Sum | Negated):
            return t.sign("−", True) + slashed(operand)
        case _:
            return typeset(formula)


def name_parts(name: str) -> tuple[str, str]:
    """The letters of a quantity's name, and its subscript.

    >>> name_parts("W_Q"), name_parts("g1"), name_parts("scores"), name_parts("A_")
    (('W', 'Q'), ('g', '1'), ('scores', ''), ('A_', ''))
    """
    base, _, below = name.partition("_")
    if not base or not below.strip("_"):
        base, below = name, ""
    if not below and base.rstrip("0123456789") != base and base[0].isalpha():
        letters = base.rstrip("0123456789")
        base, below = letters, base[len(letters) :]
    return base, below


def typeset_name(name: str) -> t.Row:
    r"""Return how a quantity's name is set: what follows ``_`` is a subscript,
    where there are letters before and after it.

    >>> names = "W_Q", "d_k", "g1", "scores", "A_"
    >>> [t.latex(typeset_name(name)) for name in names]
    ['W_{Q}', 'd_{k}', 'g_{1}', '\\mathit{scores}', '\\mathit{A\\_}']
    """
    if name == "pi":
        return t.row(t.Letter("π"))
    base, below = name_parts(name)
    letter = t.Letter(base) if len(base) == 1 and base != "_" else t.SlantedName(base)
    if not below:
        return t.row(letter)
    is_short = len(below) == 1 or below.isdigit()
    return t.index(t.row(letter), t.letters(below) if is_short else t.row(t.UprightName(below)))
