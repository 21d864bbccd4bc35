r"""Index and matrix expressions as LaTeX (standard amsmath) and as Unicode text.

One walk over the expression, two tables of notation. The order of terms and
factors is the author's.

>>> from symattn.proofs.language import Size, exp, indices, sum_over
>>> from symattn.proofs.matrices import Array
>>> n = Size("n")
>>> i, j = indices("i j", n)
>>> S = Array("S", (n,))
>>> text(exp(S[i]) / sum_over(j, exp(S[j])))
'exp(S_i) / Σ_j exp(S_j)'
>>> print(latex(sum_over(j, exp(S[j]))))
\sum_{j=1}^{n} e^{S_j}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from symattn.proofs import language as scalar
from symattn.proofs import matrices as matrix
from symattn.proofs.language import Expr, Image, Index, Position, Size
from symattn.proofs.matrices import Array, Matrix

SUM, ENTRYWISE, PRODUCT, POWER, ATOM = 1, 2, 3, 4, 5
"""How tightly an expression holds together; a looser one gets parentheses."""

GREEK = {"delta": "δ", "lambda": "λ", "pi": "π"}
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
UNSAFE = str.maketrans({char: rf"\{char}" for char in "&%$#_{}"})
WORD = re.compile(r"\b(?:[A-Za-z]+[_^][A-Za-z]+(?:_[a-z]+)?|" + "|".join(GREEK) + r")\b")


@dataclass(frozen=True)
class Notation:
    """The words of one output language; ``{}`` marks where the parts go."""

    minus: str
    times: str
    divide: str | None
    parentheses: str
    power: str
    root: str
    exponential: str
    logarithm: str
    total: str
    pairs: str
    largest: str
    delta: str
    at_most: str
    partial: str
    operator: str
    limit: str
    mean: str
    count: str
    transpose: str
    hadamard: str
    diagonal: str
    row_sums: str
    row_softmax: str
    constant: str
    infinity: str
    joint: str


LATEX = Notation(
    minus="-",
    times=r"\, ",
    divide=None,
    parentheses=r"\left( {} \right)",
    power="{}^{}",
    root=r"\sqrt{{{}}}",
    exponential="e^{{{}}}",
    logarithm=r"\log {}",
    total=r"\sum_{{{}=1}}^{{{}}} {}",
    pairs=r"\sum_{{1 \le {} < {} \le {}}} {}",
    largest=r"\max_{{1 \le {} \le {}}} {}",
    delta=r"\delta_{{{}}}",
    at_most=r"[{} \le {}]",
    partial=r"\frac{{\partial {}}}{{\partial {}}}",
    operator=r"\frac{{\partial}}{{\partial {1}}} {0}",
    limit=r"\lim_{{{} \to {}}} {}",
    mean=r"\operatorname{{E}}\left[ {} \right]",
    count=r"\operatorname{{ops}}({})",
    transpose=r"{}^\top",
    hadamard=r" \circ ",
    diagonal=r"\operatorname{{diag}}({})",
    row_sums=r"\operatorname{{rowsum}}({})",
    row_softmax=r"\operatorname{{softmax}}({})",
    constant=r"\mathbf{{{}}}",
    infinity=r"\infty",
    joint=r"\, ",
)

TEXT = Notation(
    minus="−",
    times=" ",
    divide="{} / {}",
    parentheses="({})",
    power="{}{}",
    root="√{}",
    exponential="exp({})",
    logarithm="log {}",
    total="Σ_{0} {2}",
    pairs="Σ_{0}<{1} {3}",
    largest="max_{0} {2}",
    delta="δ_{}",
    at_most="[{} ≤ {}]",
    partial="∂{}/∂{}",
    operator="∂/∂{1} {0}",
    limit="lim({} → {}) {}",
    mean="E[{}]",
    count="ops({})",
    transpose="{}ᵀ",
    hadamard=" ∘ ",
    diagonal="diag({})",
    row_sums="rowsum({})",
    row_softmax="softmax({})",
    constant="{}",
    infinity="∞",
    joint=" ",
)


def latex(value: Expr | Matrix) -> str:
    """The expression in LaTeX, for use inside any amsmath display."""
    return _matrix(value, LATEX)[0] if isinstance(value, Matrix) else _scalar(value, LATEX)[0]


def text(value: Expr | Matrix) -> str:
    """The expression in Unicode, on one line."""
    return _matrix(value, TEXT)[0] if isinstance(value, Matrix) else _scalar(value, TEXT)[0]


def prose(words: str, to: Notation = TEXT) -> str:
    r"""Plain words in which names such as ``d_k`` or ``delta_ik`` are set as mathematics.

    >>> prose("delta_ij is 0 & i differs from j"), prose("50 % of d_k", LATEX)
    ('δ_ij is 0 & i differs from j', '50 \\% of $d_k$')
    """
    if to is TEXT:
        return WORD.sub(lambda found: _name(found[0], to), words)
    return "".join(
        f"${name}$" if name else plain.translate(UNSAFE) for plain, name in pieces(words)
    )


def pieces(words: str) -> Iterator[tuple[str, str]]:
    r"""Plain words and names in turn: (words, "") or ("", the name in LaTeX).

    >>> list(pieces("the factor d_k"))
    [('the factor ', ''), ('', 'd_k')]
    """
    end = 0
    for found in WORD.finditer(words):
        yield words[end : found.start()], ""
        yield "", _name(found[0], LATEX)
        end = found.end()
    if words[end:]:
        yield words[end:], ""


def _scalar(value: Expr, to: Notation) -> tuple[str, int]:
    """The expression's text and how tightly it holds together."""
    match value:
        case scalar.Number(number):
            return _number(number, to)
        case scalar.Size(name):
            return _name(name, to), ATOM
        case scalar.Entry(array, at):
            return _entry(array, at, to), ATOM
        case scalar.Add(terms):
            return _add(list(terms), to), SUM
        case scalar.Neg(body):
            return to.minus + _held(body, PRODUCT, to), SUM
        case scalar.Mul(factors):
            return _product(factors, to), PRODUCT
        case scalar.Div(numerator, denominator):
            if to.divide is None:
                return (
                    rf"\frac{{{_scalar(numerator, to)[0]}}}{{{_scalar(denominator, to)[0]}}}",
                    PRODUCT,
                )
            tightness = PRODUCT if isinstance(denominator, scalar.Sum) else POWER
            below = _held(denominator, tightness, to)
            return to.divide.format(_held(numerator, PRODUCT, to), below), PRODUCT
        case scalar.Power(base, exponent):
            raised = str(exponent) if to is LATEX else str(exponent).translate(RAISED)
            return to.power.format(_held(base, ATOM, to), raised), POWER
        case scalar.Sqrt(size):
            return to.root.format(_name(size.name, to)), ATOM
        case scalar.Exp(body):
            return to.exponential.format(_scalar(body, to)[0]), POWER
        case scalar.Log(body):
            return to.logarithm.format(_held(body, ATOM, to)), PRODUCT
        case scalar.Sum(index, body):
            inside = _held(body, PRODUCT, to)
            return to.total.format(index.name, _name(index.size.name, to), inside), PRODUCT
        case scalar.PairSum(first, second, body):
            end, inside = _name(first.size.name, to), _held(body, PRODUCT, to)
            return to.pairs.format(first.name, second.name, end, inside), PRODUCT
        case scalar.Largest(index, body):
            inside = _held(body, PRODUCT, to)
            return to.largest.format(index.name, _name(index.size.name, to), inside), PRODUCT
        case scalar.Delta(first, second):
            return to.delta.format(_places((first, second), to)), ATOM
        case scalar.AtMost(first, second):
            return to.at_most.format(_places((first,), to), _places((second,), to)), ATOM
        case scalar.Partial(of, wrt):
            below = _scalar(wrt, to)[0]
            if isinstance(of, scalar.Entry):
                return to.partial.format(_scalar(of, to)[0], below), PRODUCT
            return to.operator.format(_held(of, ATOM, to), below), PRODUCT
        case scalar.Limit(body, variable, target):
            end = {"0": "0", "oo": to.infinity, "-oo": to.minus + to.infinity}[target]
            return to.limit.format(_scalar(variable, to)[0], end, _held(body, PRODUCT, to)), PRODUCT
        case scalar.Mean(body):
            return to.mean.format(_scalar(body, to)[0]), ATOM
        case scalar.Count(arrays):
            return to.count.format(", ".join(_name(one.name, to) for one in arrays)), ATOM
    raise TypeError(f"no notation for {type(value).__name__}")


def _held(value: Expr, tightness: int, to: Notation) -> str:
    """The text, in parentheses unless it holds together at least so tightly."""
    written, tight = _scalar(value, to)
    return written if tight >= tightness else to.parentheses.format(written)


def _number(value: Fraction, to: Notation) -> tuple[str, int]:
    if value.denominator == 1:
        return str(value).replace("-", to.minus), ATOM if value >= 0 else SUM
    if to.divide is None:
        return rf"\frac{{{value.numerator}}}{{{value.denominator}}}", PRODUCT
    return to.divide.format(value.numerator, value.denominator), PRODUCT


def _add(terms: list[Expr], to: Notation) -> str:
    written = _held(terms[0], PRODUCT, to) if not isinstance(terms[0], scalar.Neg) else ""
    written = written or _scalar(terms[0], to)[0]
    for term in terms[1:]:
        if isinstance(term, scalar.Neg):
            written += f" {to.minus} {_held(term.body, PRODUCT, to)}"
        else:
            written += f" + {_held(term, PRODUCT, to)}"
    return written


def _product(factors: tuple[Expr, ...], to: Notation) -> str:
    """Factors side by side; only the last may be a sum or a product left open."""
    *front, last = factors
    open_ended = scalar.Sum | scalar.PairSum | scalar.Log | scalar.Limit
    written = [_factor(one, to, POWER if isinstance(one, open_ended) else PRODUCT) for one in front]
    return to.times.join([*written, _factor(last, to)])


def _factor(factor: Expr, to: Notation, tightness: int = PRODUCT) -> str:
    """One factor of a product; a quotient on one line needs parentheses."""
    slashed = scalar.Div | scalar.Number | scalar.Partial
    quotient = isinstance(factor, slashed) and to.divide is not None
    return _held(factor, POWER if quotient else tightness, to)


def _name(name: str, to: Notation) -> str:
    """A quantity's name: ``d_k``, ``W^Q``, ``W^Q_ac``; Greek letters by their English names."""
    base, _, above = name.partition("^")
    above, _, below = above.partition("_")
    stem, _, under = base.partition("_")
    lead = "d" if stem[1:] in GREEK else ""
    letter = stem.removeprefix(lead)
    if letter in GREEK:
        stem = lead + (rf"\{letter}" if to is LATEX else GREEK[letter])
    marks = (("superscript", above), ("subscript", below or under))
    for mark, written in marks:
        stem = _marked(mark, stem, written, to) if written else stem
    return stem


def _marked(mark: str, stem: str, written: str, to: Notation) -> str:
    """A name with an index or exponent; LaTeX needs braces around more than a letter."""
    held = f"{{{written}}}" if to is LATEX and len(written) > 1 else written
    return f"{stem}{'^' if mark == 'superscript' else '_'}{held}"


def _entry(array: Array, at: tuple[Position, ...], to: Notation) -> str:
    name = _name(array.name, to)
    return _marked("subscript", name, _places(at, to), to) if at else name


def _places(at: tuple[Position, ...], to: Notation) -> str:
    """Indices side by side; commas only where one of them is more than a letter."""
    written = [_place(place, to) for place in at]
    if all(len(one) == 1 for one in written):
        return "".join(written)
    joined = ",".join(written)
    return joined if to is LATEX or len(written) == 1 else f"({joined})"


def _place(place: Position, to: Notation) -> str:
    match place:
        case Index():
            return place.name
        case Image(by, index):
            return f"{_name(by, to)}({index.name})"
        case Size(name):
            return _name(name, to)
        case int():
            return str(place)


def _matrix(value: Matrix, to: Notation) -> tuple[str, int]:
    """The matrix expression's text and how tightly it holds together."""
    match value:
        case Array():
            return _name(value.name, to), ATOM
        case matrix.Product(left, right):
            return _around(left, PRODUCT, to) + to.joint + _around(right, PRODUCT, to), PRODUCT
        case matrix.Entrywise(left, right):
            return _around(left, POWER, to) + to.hadamard + _around(right, POWER, to), ENTRYWISE
        case matrix.Plus(left, right):
            return f"{_around(left, SUM, to)} + {_around(right, ENTRYWISE, to)}", SUM
        case matrix.Minus(left, right):
            return f"{_around(left, SUM, to)} {to.minus} {_around(right, ENTRYWISE, to)}", SUM
        case matrix.Scaled(by, body):
            return _factor(by, to) + to.joint + _around(body, PRODUCT, to), PRODUCT
        case matrix.Transpose(body):
            inner, tight = _matrix(body, to)
            if tight < ATOM or "^" in inner:
                inner = to.parentheses.format(inner)
            return to.transpose.format(inner), POWER
        case matrix.Diagonal(body):
            return to.diagonal.format(_matrix(body, to)[0]), ATOM
        case matrix.RowSums(body):
            return to.row_sums.format(_matrix(body, to)[0]), ATOM
        case matrix.RowSoftmax(body):
            return to.row_softmax.format(_matrix(body, to)[0]), ATOM
        case matrix.Constant(number):
            return to.constant.format(number), ATOM
    raise TypeError(f"no notation for {type(value).__name__}")


def _around(value: Matrix, tightness: int, to: Notation) -> str:
    written, tight = _matrix(value, to)
    return written if tight >= tightness else to.parentheses.format(written)
