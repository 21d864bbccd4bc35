"""Trees written down again."""

from __future__ import annotations

from collections.abc import Iterable

from symattn.syntax.trees import (
    BINARY,
    WORDS,
    Array,
    Binary,
    Call,
    Cell,
    Comparison,
    Conjunction,
    Gradient,
    Indexed,
    Key,
    Literal,
    Name,
    Negative,
    Power,
    Sequence,
    Slice,
    Transposed,
    Tree,
    Word,
)

#: How tightly trees bind: comparisons, sums, products, signs, what comes after a value, values.
_SUM, _PRODUCT, _SIGN, _POSTFIX, _ATOM = range(1, 6)


def text(tree: Tree) -> str:
    """A tree written down, so that it reads back as the same tree.

    >>> from symattn.syntax import parse
    >>> text(parse("(A - -2*x) @ V.T / sqrt(d_k)"))
    '(A - -2 * x) @ V.T / sqrt(d_k)'
    >>> text(parse("softmax([[1, 0.50], [2, -1]])[0, 1:] <= 1"))
    'softmax([[1, 0.50], [2, -1]])[0, 1:] <= 1'
    >>> text(parse("gelu(X**2, approximate='tanh')"))
    'gelu(X**2, approximate="tanh")'
    """
    return _text(tree)[0]


def _text(tree: Tree) -> tuple[str, int]:
    match tree:
        case Literal(digits):
            return digits, _SIGN if digits.startswith("-") else _ATOM
        case Name(name):
            return name, _ATOM
        case Gradient(of):
            return f"grad({of})", _POSTFIX
        case Negative(operand):
            return f"-{_inside(operand, _POSTFIX)}", _SIGN
        case Binary(op, left, right):
            level = BINARY[op]
            return f"{_inside(left, level)} {op} {_inside(right, level + 1)}", level
        case Power(base, exponent):
            return f"{_inside(base, _POSTFIX)}**{_inside(exponent, _SIGN)}", _SIGN
        case Word(word):
            return (word if word in WORDS else f'"{word}"'), _ATOM
        case Call(function, arguments, options):
            named = (f"{name}={text(value)}" for name, value in options)
            return f"{function}({', '.join((*map(text, arguments), *named))})", _POSTFIX
        case Transposed(operand):
            return f"{_inside(operand, _POSTFIX)}.T", _POSTFIX
        case Indexed(operand, keys):
            return f"{_inside(operand, _POSTFIX)}[{', '.join(map(_key, keys))}]", _POSTFIX
        case Cell(operand, places):
            return f"{_inside(operand, _POSTFIX)}[{_listed(places)}]", _POSTFIX
        case Array(items):
            return f"[{_listed(items)}]", _ATOM
        case Sequence(items):
            return f"({_listed(items)})", _ATOM
        case Comparison(operands, relations):
            sides = [_inside(operand, _SUM) for operand in operands]
            rest = (f" {sign} {side}" for sign, side in zip(relations, sides[1:], strict=True))
            return sides[0] + "".join(rest), 0
        case Conjunction(parts):
            return " and ".join(_inside(part, 0) for part in parts), -1


def _inside(tree: Tree, level: int) -> str:
    written, binding = _text(tree)
    return written if binding >= level else f"({written})"


def _listed(trees: Iterable[Tree]) -> str:
    return ", ".join(map(text, trees))


def _key(key: Key) -> str:
    match key:
        case int():
            return str(key)
        case Slice(start, stop, step):
            ends = f"{'' if start is None else start}:{'' if stop is None else stop}"
            return ends if step is None else f"{ends}:{step}"


def entry_text(text: str, tree: Tree, keys: Iterable[int]) -> str:
    """An entry of an expression, as text: ``A[0, 2]``, ``(A @ V)[0, 2]``.

    >>> from symattn.syntax import parse
    >>> entry_text("dL/dQ", parse("dL/dQ"), (0, 2)), entry_text("x + y", parse("x + y"), (1,))
    ('dL/dQ[0, 2]', '(x + y)[1]')
    """
    keys = tuple(keys)
    if not keys:
        return text
    plain = isinstance(tree, Name | Gradient | Indexed | Transposed | Call)
    return f"{text if plain else f'({text})'}[{', '.join(map(str, keys))}]"
