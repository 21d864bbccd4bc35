r"""Reading the mathematics of a page as its reader does: LaTeX to trees, trees to numbers.

It shares nothing with what writes the pages. Side by side is times; brackets,
fractions, roots and exponents are what they look like; a name is looked up in
an environment, and so is a name with indices. Anything else is
:class:`Unreadable`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from ..oracle import FUNCTIONS, each

Tree = tuple[Any, ...]


class Unreadable(Exception):
    """Mathematics that this reader doesn't know."""


_TOKEN = re.compile(
    r"\\left\(|\\right\)|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[A-Za-z]|[-+/^_{}(),:.&=]|\s+", re.DOTALL
)
#: Air, and what only sets how something looks.
_SPACE = {r"\,", r"\;", r"\ ", r"\displaystyle"}
_BRACKETS = (
    (r"\Bigl(", r"\left("),
    (r"\Bigr)", r"\right)"),
    (r"\mathopen{}\left", r"\left"),
    (r"\mathclose{}\right", r"\right"),
    (r"\dfrac", r"\frac"),
)


def tokens(latex: str) -> list[str]:
    """The tokens of LaTeX, without the air between them."""
    for shown, plain in _BRACKETS:
        latex = latex.replace(shown, plain)
    found = _TOKEN.findall(latex)
    if "".join(found) != latex:
        raise Unreadable(latex)
    return [token for token in found if token not in _SPACE and not token.isspace()]


def read(latex: str) -> Tree:
    r"""The tree of an expression.

    >>> read(r"2\,e")
    ('*', ('number', '2'), ('name', 'e'))
    """
    return _Reader(tokens(latex), latex).whole()


def relations(latex: str) -> list[tuple[str, str]]:
    r"""An equation cut at its relations: ``[("", left), ("=", right), ...]``.

    >>> relations(r"a = b_{i = 1} \approx 2")
    [('', 'a'), ('=', 'b_{i = 1}'), ('\\approx', '2')]
    """
    parts, depth = [("", "")], 0
    for token in re.split(r"(\\[A-Za-z]+|\\.|[{}=])", latex):
        depth += (token == "{") - (token == "}")
        if depth == 0 and token in ("=", r"\approx"):
            parts.append((token, ""))
        else:
            parts[-1] = (parts[-1][0], parts[-1][1] + token)
    return [(relation, text.strip()) for relation, text in parts]


class _Reader:
    """A recursive descent over the tokens."""

    def __init__(self, found: list[str], latex: str) -> None:
        self.found = found
        self.latex = latex
        self.place = 0

    def whole(self) -> Tree:
        tree = self.sum()
        if self.peek():
            self.fail()
        return tree

    def fail(self) -> None:
        raise Unreadable(f"{self.latex!r} at {self.peek()!r}")

    def peek(self) -> str:
        return self.found[self.place] if self.place < len(self.found) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            self.fail()
        self.place += 1
        return token

    def sum(self) -> Tree:
        terms: list[Tree] = []
        while not terms or self.peek() in ("+", "-"):
            sign = self.take() if self.peek() in ("+", "-") else "+"
            if sign == "+" and not terms and self.found[self.place - 1 : self.place] == ["+"]:
                self.fail()
            terms.append((sign, self.product()))
        return terms[0][1] if len(terms) == 1 and terms[0][0] == "+" else ("sum", tuple(terms))

    def product(self) -> Tree:
        tree = self.power()
        while True:
            token = self.peek()
            if token in (r"\cdot", r"\odot", "/"):
                self.take()
                tree = ({r"\cdot": "*"}.get(token, token), tree, self.power())
            elif token in ("", "+", "-", "}", ")", r"\right)", ","):
                return tree
            else:
                last = self.found[self.place - 1]
                if last[0].isdigit() and token[0].isdigit():
                    self.fail()
                tree = ("*", tree, self.power())

    def power(self) -> Tree:
        tree = self.indexed()
        while self.peek() == "^":
            self.take()
            if self.found[self.place : self.place + 3] == ["{", r"\top", "}"]:
                self.place += 3
                tree = ("transpose", tree)
            else:
                tree = ("power", tree, self.group(self.sum))
        return tree

    def indexed(self) -> Tree:
        tree = self.atom()
        while self.peek() == "_":
            self.take()
            tree = ("entry", tree, self.keys())
        return tree

    def keys(self) -> tuple[str, ...]:
        """What stands in a subscript, cut at its commas."""
        if self.peek() != "{":
            return (self.take(),)
        self.take()
        keys, depth = [""], 0
        while depth or self.peek() != "}":
            token = self.take()
            depth += (token == "{") - (token == "}")
            if token == "," and not depth:
                keys.append("")
            else:
                keys[-1] += token
        self.take()
        return tuple(keys)

    def group(self, inside: Callable[[], Tree]) -> Tree:
        self.take("{")
        tree = inside()
        self.take("}")
        return tree

    def word(self) -> str:
        self.take("{")
        text = ""
        while self.peek() != "}":
            text += self.take()
        self.take()
        return text

    def atom(self) -> Tree:
        token = self.take()
        if token[0].isdigit():
            return ("number", token)
        if token.isalpha():
            return ("name", token)
        match token:
            case r"\left(":
                return self.closed(r"\right)")
            case "(":
                return self.closed(")")
            case "{":
                return self.closed("}")
            case r"\frac":
                return ("/", self.group(self.sum), self.group(self.sum))
            case r"\sqrt":
                return ("call", "sqrt", (self.group(self.sum),))
            case r"\exp" | r"\log":
                return ("call", token[1:], self.arguments())
            case r"\operatorname":
                return ("call", self.word(), self.arguments())
            case r"\infty":
                return ("number", "inf")
            case r"\cdots":
                return ("dots",)
            case r"\pi":
                return ("name", token)
            case r"\mathit" | r"\mathcal":
                return ("name", f"{token}{{{self.word()}}}")
            case r"\mathrm":
                word = self.word()
                if word == "d":
                    return ("gradient", self.indexed())
                if self.peek() != r"\left(":
                    self.fail()
                return ("call", word, self.arguments())
            case r"\delta":
                self.take("_")
                return ("delta", *self.keys())
            case r"\sum":
                return self.series()
        self.place -= 1
        self.fail()
        raise AssertionError

    def closed(self, end: str) -> Tree:
        tree = self.sum()
        self.take(end)
        return tree

    def arguments(self) -> tuple[Tree, ...]:
        """What a function is of: brackets, or the one factor that follows."""
        if self.peek() != r"\left(":
            return (self.power(),)
        self.take()
        found = [self.sum()]
        while self.peek() == ",":
            self.take()
            found.append(self.sum())
        self.take(r"\right)")
        return tuple(found)

    def series(self) -> Tree:
        r"""``\sum_{k = 0}^{3}`` of the product that follows."""
        self.take("_")
        self.take("{")
        letter = self.take()
        self.take("=")
        first = self.take()
        self.take("}")
        self.take("^")
        self.take("{")
        last = self.take()
        self.take("}")
        return ("series", letter, int(first), int(last), self.product())


def spelled(tree: Tree, bound: Mapping[str, int] | None = None) -> str:
    """A name as it is written, without air; indices that are bound as numbers."""
    match tree:
        case ("name", str(name)):
            return name
        case ("gradient", inner):
            return rf"\mathrm{{d}}{spelled(inner, bound)}"
        case ("entry", inner, keys):
            held = [str((bound or {}).get(key, key)) for key in keys]
            return f"{spelled(inner, bound)}_{{{','.join(held)}}}"
    raise Unreadable(str(tree))


def is_name(tree: Tree) -> bool:
    """Whether a tree is a name, perhaps with indices."""
    return tree[0] == "name" or (tree[0] in ("entry", "gradient") and is_name(tree[1]))


# -- numbers --------------------------------------------------------------------

#: Finds the value of a name, None where there is none.
Names = Callable[[str], Any]

_CALLS = {**FUNCTIONS, "tril": lambda x: np.tril(np.ones(x.shape, dtype=int)) * x}


def value(tree: Tree, names: Names, bound: Mapping[str, int] | None = None) -> Any:
    """The number, or the array of numbers, that a tree stands for.

    ``bound`` are indices with their values.
    """
    bound = bound or {}

    def of(part: Tree) -> Any:
        return value(part, names, bound)

    match tree:
        case ("number", "inf"):
            return mpmath.inf
        case ("number", digits):
            return mpmath.mpf(digits)
        case _ if is_name(tree):
            return _named(tree, names, bound)
        case ("entry", inner, keys):
            return _at(of(inner), keys, bound)
        case ("sum", terms):
            total: Any = 0
            for sign, term in terms:
                total = total - of(term) if sign == "-" else total + of(term)
            return total
        case ("*", left, right):
            a, b = of(left), of(right)
            return a @ b if np.ndim(a) and np.ndim(b) else a * b
        case (r"\odot", left, right):
            return of(left) * of(right)
        case ("/", left, right):
            return of(left) / of(right)
        case ("power", base, exponent):
            return of(base) ** of(exponent)
        case ("transpose", inner):
            return of(inner).T
        case ("call", function, arguments) if function in _CALLS:
            found = _CALLS[function](*map(of, arguments))
            return found.item() if getattr(found, "shape", None) == () else found
        case ("delta", a, b):
            return int(bound[a] == bound[b])
        case ("series", letter, first, last, body):
            return sum(value(body, names, {**bound, letter: k}) for k in range(first, last + 1))
    raise Unreadable(str(tree))


def _named(tree: Tree, names: Names, bound: Mapping[str, int]) -> Any:
    found = names(spelled(tree, bound))
    if found is not None:
        # A vector is one row here, as it is on the page.
        return found[None, :] if np.ndim(found) == 1 else found
    match tree:
        case ("entry", inner, keys) | ("gradient", ("entry", inner, keys)):
            inner = ("gradient", inner) if tree[0] == "gradient" else inner
            return _at(_named(inner, names, bound), keys, bound)
    raise Unreadable(f"no value is known for {spelled(tree)}")


def _at(array: Any, keys: tuple[str, ...], bound: Mapping[str, int]) -> Any:
    """An entry or a part of a matrix; indices as on the page, from 0. The
    one index of a vector is that of its column."""
    if np.ndim(array) != 2 or (len(keys) == 1 and len(array) > 1) or len(keys) > 2:
        raise Unreadable(f"indices {keys} of {np.shape(array)}")
    rows, columns = (_key(key, bound) for key in (("0", *keys) if len(keys) == 1 else keys))
    part = array[rows][:, columns]
    return part.item() if not any(":" in key for key in keys) else part


def _key(key: str, bound: Mapping[str, int]) -> slice:
    parts = [None if not part else int(bound.get(part, part)) for part in key.split(":")]
    if any(part is not None and part < 0 for part in parts[:2]):
        # In Python those would count from the end.
        raise Unreadable(key)
    if len(parts) > 1:
        return slice(*parts)
    (place,) = parts
    assert place is not None
    return slice(place, place + 1)


# -- decimals -------------------------------------------------------------------


@dataclass(frozen=True)
class Decimal:
    """A printed decimal: its sign, digits and power of ten; of a linear form
    also the symbol that it stands before."""

    digits: str
    power: int | None = None
    symbol: str = ""

    @property
    def places(self) -> int:
        """Digits behind the point."""
        return len(self.digits.partition(".")[2])

    @property
    def text(self) -> str:
        """The number as Python reads it."""
        return self.digits if self.power is None else f"{self.digits}e{self.power}"


def decimals(tree: Tree) -> Iterator[Decimal]:
    """The decimals of a number, or of a linear form in symbols."""
    terms = tree[1] if tree[0] == "sum" else (("+", tree),)
    for sign, term in terms:
        digits, power, symbol = "", None, ""
        for factor in _factors(term):
            match factor:
                case ("number", text) if not digits:
                    digits = text
                case ("power", ("number", "10"), exponent) if digits and power is None:
                    power = int(value(exponent, lambda name: None))
                case ("name", _) | ("entry", ("name", _), _) if not symbol:
                    symbol = spelled(factor)
                case _:
                    raise Unreadable(f"no decimal: {term}")
        yield Decimal(("-" if sign == "-" else "") + (digits or "1"), power, symbol)


def _factors(tree: Tree) -> Iterator[Tree]:
    if tree[0] == "*":
        yield from _factors(tree[1])
        yield from _factors(tree[2])
    else:
        yield tree


absolute = each(abs)
