"""Trees of text: what the one grammar makes of numbers, steps and statements.

Trees written down again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

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


def inside(tree: Tree) -> tuple[Tree, ...]:
    """The trees that a tree is made of.

    >>> from symattn.syntax import parse
    >>> inside(parse("x + 2")), inside(parse("x"))
    ((Name(name='x'), Literal(text='2')), ())
    """
    # Most that is asked is a leaf: no kind is tried after another.
    kind: type = type(tree)
    parts = _parts_of(kind)
    return () if parts is None else parts(tree)


@cache
def _parts_of(kind: type) -> Callable[[Any], tuple[Tree, ...]] | None:
    """Return what gives the parts of a tree of that kind; None of leaves."""
    return next((_INSIDE[base] for base in kind.__mro__ if base in _INSIDE), None)


_INSIDE: Mapping[type, Callable[[Any], tuple[Tree, ...]]] = {
    Negative: lambda tree: (tree.operand,),
    Transposed: lambda tree: (tree.operand,),
    Indexed: lambda tree: (tree.operand,),
    Binary: lambda tree: (tree.left, tree.right),
    Power: lambda tree: (tree.base, tree.exponent),
    Cell: lambda tree: (tree.operand, *tree.places),
    Call: lambda tree: (*tree.arguments, *(value for _, value in tree.options)),
    Array: lambda tree: tree.items,
    Comparison: lambda tree: tree.operands,
    Conjunction: lambda tree: tree.parts,
    Sequence: lambda tree: tree.items,
}


def walk(tree: Tree, into: Callable[[Tree], bool] = lambda part: True) -> Iterator[Tree]:
    """A tree and all that it is made of, in order; nothing inside of what isn't gone ``into``.

    >>> from symattn.syntax import parse
    >>> [type(part).__name__ for part in walk(parse("-x + 2"))]
    ['Binary', 'Negative', 'Name', 'Literal']
    """
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        yield part
        if into(part):
            waiting.extend(reversed(inside(part)))


def mapped(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """A tree with the trees that it is made of changed.

    >>> from symattn.syntax import parse, text
    >>> text(mapped(parse("x + y.T"), lambda part: Negative(part)))
    '-x + -y.T'
    """
    match tree:
        case Literal() | Name():
            return tree
        case Binary(op, left, right):
            return Binary(op, change(left), change(right))
        case Negative(operand):
            return Negative(change(operand))
        case Transposed(operand):
            return Transposed(change(operand))
        case Indexed(operand, keys):
            return Indexed(change(operand), keys)
        case Power(base, exponent):
            return Power(change(base), change(exponent))
        case Cell(operand, places):
            return Cell(change(operand), tuple(map(change, places)))
        case Call(function, arguments, options):
            # In the order in which they stand.
            changed = tuple(map(change, arguments))
            named = tuple((name, change(value)) for name, value in options)
            return Call(function, changed, named)
        case Array(parts) | Sequence(parts):
            return replace(tree, items=tuple(map(change, parts)))
        case Comparison(operands, _):
            return replace(tree, operands=tuple(map(change, operands)))
        case Conjunction(parts):
            return Conjunction(tuple(map(change, parts)))
    return tree


def replaced(tree: Tree, by: Callable[[Tree], Tree | None]) -> Tree:
    """A tree with each part replaced that ``by`` gives another tree for.

    >>> from symattn.syntax import parse, text
    >>> doubled = {parse("2"): parse("4")}
    >>> text(replaced(parse("softmax(x / 2, axis=0)"), doubled.get))
    'softmax(x / 4, axis=0)'
    """
    other = by(tree)
    return mapped(tree, lambda part: replaced(part, by)) if other is None else other


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
