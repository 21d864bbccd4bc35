"""Trees of text: what the one grammar makes of numbers, steps and statements.

Trees written down again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from symattn.trees import Walk

#: How tightly the operators bind.
BINARY = {"+": 1, "-": 1, "*": 2, "/": 2, "@": 2}
#: Words without quotes.
WORDS = ("True", "False", "None")


@dataclass(frozen=True)
class Literal:
    """A number as written; its digits are kept."""

    text: str


@dataclass(frozen=True)
class Name:
    """A quantity or a symbol."""

    name: str


@dataclass(frozen=True)
class Gradient:
    """``dL/dQ`` or ``grad(Q)``: the gradient with respect to a quantity."""

    of: str


@dataclass(frozen=True)
class Negative:
    """``-operand``."""

    operand: Tree


@dataclass(frozen=True)
class Binary:
    """``left op right`` with op one of ``+ - * / @``."""

    op: str
    left: Tree
    right: Tree


@dataclass(frozen=True)
class Word:
    """A word that is no name, the value of an option: ``"tanh"``, True, False, None."""

    text: str


@dataclass(frozen=True)
class Call:
    """``function(arguments, option=value)``."""

    function: str
    arguments: tuple[Tree, ...]
    options: tuple[tuple[str, Tree], ...] = ()


@dataclass(frozen=True)
class Transposed:
    """``operand.T``."""

    operand: Tree


@dataclass(frozen=True)
class Slice:
    """A slice ``start:stop:step`` inside an index."""

    start: int | None
    stop: int | None
    step: int | None


Key = int | Slice


@dataclass(frozen=True)
class Indexed:
    """``operand[keys]``."""

    operand: Tree
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class Cell:
    """``operand[places]``, the places being expressions or slices; only where letters are
    indices."""

    operand: Tree
    places: tuple[Tree, ...]


@dataclass(frozen=True)
class Power:
    """``base ** exponent``."""

    base: Tree
    exponent: Tree


@dataclass(frozen=True)
class Array:
    """``[1, 2]`` or ``[[1, 2], [3, 4]]``: numbers, or rows of them."""

    items: tuple[Tree, ...]


@dataclass(frozen=True)
class Comparison:
    """``a < b <= c``: operands with the relations between them."""

    operands: tuple[Tree, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True)
class Conjunction:
    """``a and b and ...``."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Sequence:
    """``(a, b, ...)``, only on one side of a comparison."""

    items: tuple[Tree, ...]


Tree = (
    Literal
    | Name
    | Gradient
    | Negative
    | Binary
    | Word
    | Call
    | Transposed
    | Indexed
    | Slice
    | Cell
    | Power
    | Array
    | Comparison
    | Conjunction
    | Sequence
)


_walk: Walk[Tree] = Walk()
inside, walk, mapped, replaced = _walk.parts, _walk.walk, _walk.mapped, _walk.replaced


def renamed(tree: Tree, called: Callable[[str], Tree]) -> Tree:
    """A tree with every name replaced by the tree that ``called`` gives for it; the letters
    that cells count by are no names of quantities.

    >>> from symattn.syntax import parse, text
    >>> text(renamed(parse("Q @ K.T"), lambda name: Name(name.lower())))
    'q @ k.T'
    """
    match tree:
        case Name(name):
            return called(name)
        case Cell(operand, places):
            return Cell(renamed(operand, called), places)
    return mapped(tree, lambda part: renamed(part, called))


def names(tree: Tree) -> Iterator[str]:
    """The quantities that a tree names, gradients as ``dL/dQ``.

    >>> from symattn.syntax import parse
    >>> list(names(parse("max(A @ V.T) == grad(Q)[0, 1] + 2 * d_k")))
    ['A', 'V', 'dL/dQ', 'd_k']
    """
    for part in walk(tree):
        match part:
            case Name(name):
                yield name
            case Gradient(of):
                yield gradient_name(of)


def gradient_name(name: str) -> str:
    """Return what the gradient with respect to a quantity is called, wherever it has
    a name: in messages, tables, JSON and on sheets.

    >>> gradient_name("W_Q")
    'dL/dW_Q'
    """
    return f"dL/d{name}"


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
        case Slice():
            return _key(tree), 0
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
