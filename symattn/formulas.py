"""Formulas as trees, and their printers: plain text and LaTeX.

Everything that symattn shows, a closed form or a step of a program, becomes
one of these trees first, so precedence and layout are decided in one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Number:
    """A non-negative number, by its digits."""

    digits: str


@dataclass(frozen=True)
class Symbol:
    """A name; ``latex`` where it is typeset differently from its text."""

    text: str
    latex: str = ""


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
PI = Symbol("pi", r"\pi")
MINUS_INFINITY = Negated(Symbol("inf", r"\infty"))


def decimal(number: Decimal) -> Formula:
    """A decimal with the places it has.

    >>> text(decimal(Decimal("-0.50")))
    '-0.50'
    """
    # Not abs(): that rounds to the context's 28 digits.
    size = Number(format(number.copy_abs(), "f"))
    return Negated(size) if number < 0 else size


# How tightly each kind binds, in text; LaTeX differs only where a fraction,
# a root or a superscript brackets by its shape.
_SUM, _PRODUCT, _NEGATED, _POSTFIX, _ATOM = range(5)


def text(formula: Formula) -> str:
    """The formula on one line.

    >>> text(Quotient(E, Sum((Number("1"), Root(E), E))))
    'e/(1 + sqrt(e) + e)'
    """
    return _text(formula)[0]


def _bracket(written: tuple[str, int], level: int) -> str:
    string, binding = written
    return string if binding >= level else f"({string})"


def _join(parts: list[str]) -> str:
    """Terms joined by their signs: ``a - b + c``."""
    joined = parts[0]
    for part in parts[1:]:
        joined += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
    return joined


def _text(formula: Formula) -> tuple[str, int]:
    match formula:
        case Number(digits):
            return digits, _ATOM
        case Symbol(name):
            return name, _ATOM
        case Negated(operand):
            return "-" + _bracket(_text(operand), _PRODUCT), _SUM
        case Sum(terms):
            return _join([_bracket(_text(term), _SUM) for term in terms]), _SUM
        case Product(factors, sign):
            mark = {"*": "*", "@": " @ ", "o": " * "}[sign]
            first = _bracket(_text(factors[0]), _PRODUCT)
            return mark.join(
                [first, *(_bracket(_text(factor), _NEGATED) for factor in factors[1:])]
            ), _PRODUCT
        case Quotient(numerator, denominator):
            over = _bracket(_text(numerator), _PRODUCT)
            return f"{over}/{_bracket(_text(denominator), _NEGATED)}", _PRODUCT
        case Power(base, exponent):
            raised = _text(exponent)
            return f"{_bracket(_text(base), _ATOM)}^{_bracket(raised, _ATOM)}", _POSTFIX
        case Root(operand):
            return f"sqrt({text(operand)})", _ATOM
        case Function(name, arguments):
            return f"{name}({', '.join(map(text, arguments))})", _ATOM
        case Option(name, value):
            return f"{name}={text(value)}", _ATOM
        case Indicator(left, sign, right):
            return f"[{text(left)} {sign} {text(right)}]", _ATOM
        case Transpose(operand):
            return f"{_bracket(_text(operand), _POSTFIX)}.T", _POSTFIX
        case Entry(operand, keys):
            return f"{_bracket(_text(operand), _POSTFIX)}[{', '.join(keys)}]", _POSTFIX
        case Matrix(rows, is_vector):
            shown_rows = ", ".join(f"[{', '.join(map(text, row))}]" for row in rows)
            return shown_rows if is_vector else f"[{shown_rows}]", _ATOM


#: LaTeX of the functions that have an own command; others are set upright.
_COMMANDS: Mapping[str, str] = {"exp": r"\exp", "log": r"\log", "cos": r"\cos", "sin": r"\sin"}
_RELATIONS: Mapping[str, str] = {
    ">=": r"\geq", "<=": r"\leq", "==": "=", "!=": r"\neq",
}  # fmt: skip


def latex(formula: Formula) -> str:
    r"""The formula in LaTeX's mathematics.

    >>> latex(Quotient(E, Sum((Number("1"), Root(E), E))))
    '\\frac{e}{1 + \\sqrt{e} + e}'
    """
    return _latex(formula)[0]


def _latex(formula: Formula) -> tuple[str, int]:
    match formula:
        case Number(digits):
            return digits, _ATOM
        case Symbol(name, special):
            return special or name_latex(name), _ATOM
        case Negated(operand):
            return "-" + _brace(_latex(operand), _PRODUCT), _SUM
        case Sum(terms):
            return _join([_brace(_latex(term), _SUM) for term in terms]), _SUM
        case Product(factors, sign):
            return _latex_product(factors, sign), _PRODUCT
        case Quotient(numerator, denominator):
            return rf"\frac{{{latex(numerator)}}}{{{latex(denominator)}}}", _POSTFIX
        case Power(base, exponent):
            return f"{_brace(_latex(base), _ATOM)}^{{{slashed(exponent)}}}", _POSTFIX
        case Root(operand):
            return rf"\sqrt{{{latex(operand)}}}", _ATOM
        case Function(name, arguments):
            command = _COMMANDS.get(name) or rf"\operatorname{{{_upright(name)}}}"
            return rf"{command}\left({', '.join(map(latex, arguments))}\right)", _ATOM
        case Option(name, value):
            return rf"\mathrm{{{_upright(name)}}} = {latex(value)}", _ATOM
        case Indicator(left, sign, right):
            inner = f"{latex(left)} {_RELATIONS.get(sign, sign)} {latex(right)}"
            return rf"\left[{inner}\right]", _ATOM
        case Transpose(operand):
            return rf"{_brace(_latex(operand), _ATOM)}^{{\top}}", _POSTFIX
        case Entry(operand, keys):
            inner = _brace(_latex(operand), _ATOM)
            # TeX refuses a second subscript on W_{Q}.
            inner = f"({inner})" if "_{" in inner else inner
            return f"{inner}_{{{','.join(keys)}}}", _POSTFIX
        case Matrix(rows):
            return latex_matrix([list(map(latex, row)) for row in rows]), _ATOM


def _brace(written: tuple[str, int], level: int) -> str:
    string, binding = written
    return string if binding >= level else rf"\left({string}\right)"


def _latex_product(factors: tuple[Formula, ...], sign: str) -> str:
    pieces = [_brace(_latex(factors[0]), _PRODUCT)]
    pieces += [_brace(_latex(factor), _NEGATED) for factor in factors[1:]]
    if sign == "o":
        return r" \odot ".join(pieces)
    product = pieces[0]
    for left, right, factor in zip(pieces, pieces[1:], factors[1:], strict=False):
        # Two numbers side by side would read as one.
        touching = left[-1:].isdigit() and right[:1].isdigit()
        signed = isinstance(factor, Negated) and isinstance(factor.operand, Number)
        apart = touching or signed or isinstance(factor, Number) or right.startswith(r"\frac")
        product += (r" \cdot " if apart else r"\,") + right
    return product


def slashed(formula: Formula) -> str:
    """LaTeX for a superscript: a fraction there is written with a slash.

    >>> slashed(Quotient(Number("17"), Number("400")))
    '17/400'
    """
    match formula:
        case Quotient(numerator, denominator):
            over = _brace(_latex(numerator), _PRODUCT)
            return f"{over}/{_brace(_latex(denominator), _POSTFIX)}"
        case Negated(operand):
            return f"-{slashed(operand)}" if not isinstance(operand, Sum) else latex(formula)
        case _:
            return latex(formula)


#: Names of the field that are typeset as more than their letters.
_NAMES: Mapping[str, str] = {"pi": r"\pi"}


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


def name_latex(name: str) -> str:
    r"""How a quantity's name is typeset: what follows ``_`` is a subscript,
    where there are letters before and after it.

    >>> name_latex("W_Q"), name_latex("d_k"), name_latex("g1"), name_latex("scores")
    ('W_{Q}', 'd_{k}', 'g_{1}', '\\mathit{scores}')
    >>> name_latex("A_"), name_latex("_x")
    ('\\mathit{A\\_}', '\\mathit{\\_x}')
    """
    if name in _NAMES:
        return _NAMES[name]
    base, below = name_parts(name)
    latex = base if len(base) == 1 and base != "_" else rf"\mathit{{{_upright(base)}}}"
    if below:
        inner = below if len(below) == 1 or below.isdigit() else rf"\mathrm{{{_upright(below)}}}"
        latex += f"_{{{inner}}}"
    return latex


def _upright(name: str) -> str:
    return name.replace("_", r"\_")


def latex_matrix(cells: list[list[str]], kind: str = "bmatrix") -> str:
    r"""A matrix of LaTeX cells.

    More than ten columns, amsmath's default, need ``MaxMatrixCols`` raised
    where this is typeset.

    >>> latex_matrix([["1", "2"]])
    '\\begin{bmatrix} 1 & 2 \\end{bmatrix}'
    """
    body = r" \\ ".join(" & ".join(row) for row in cells)
    return rf"\begin{{{kind}}} {body} \end{{{kind}}}"
