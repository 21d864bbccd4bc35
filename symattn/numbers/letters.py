"""The symbols that numbers may be written with, and numbers put in their place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from flint import fmpq

from symattn.errors import Malformed, short
from symattn.numbers import exponential_sums, lazy
from symattn.numbers.exponential_sums import Exponent, NumberAtom, Root, Sum, Symbol, Wave
from symattn.numbers.quotients import OpaqueAtom, Parts
from symattn.numbers.values import ONE, Value, of_parts, of_symbol, sum_of_products, total

#: What a symbol may be declared to be.
DOMAINS = ("real", "positive")


class Letters:
    """The symbols of some numbers: those that are declared, by name, and SymPy's own; with
    ``is_open`` every name is one. ``known`` are those that were declared or used.

    >>> letters = Letters({"t": "positive"})
    >>> letters.named("t"), letters.named("x"), [*letters.known]
    (t, None, ['t'])
    """

    def __init__(self, declared: Mapping[str, str] | None = None, is_open: bool = False) -> None:
        self.known = {
            name: Symbol(name, domain == "positive") for name, domain in (declared or {}).items()
        }
        self._is_open = is_open

    def opened(self) -> Letters:
        """These, and every other name."""
        opened = Letters(is_open=True)
        opened.known = self.known
        return opened

    def without(self, names: Collection[str]) -> Letters:
        """These but for some, in whose place there are numbers."""
        rest = Letters(is_open=self._is_open)
        rest.known = {name: symbol for name, symbol in self.known.items() if name not in names}
        return rest

    def named(self, name: str) -> Value | None:
        """The symbol of that name in text; None for a name that is none."""
        if name not in self.known and not self._is_open:
            return None
        return self.taken(self.known.get(name) or Symbol(name))

    def written(self, symbol: Any) -> Value:
        """A symbol of SymPy; :class:`Malformed` where another has its name."""
        is_positive = bool(symbol.is_positive)
        plain = type(symbol)(symbol.name, positive=is_positive or None)
        return self.taken(Symbol(symbol.name, is_positive, None if symbol == plain else symbol))

    def taken(self, symbol: Symbol) -> Value:
        """A symbol as a value, known from here on; :class:`Malformed` if another has its name."""
        if self.known.setdefault(symbol.name, symbol) != symbol:
            raise Malformed(
                f"two symbols are called {short(symbol.name)!r}, with different assumptions: "
                "use one of them"
            )
        return of_symbol(symbol)


def letters_of(symbols: Letters | bool) -> Letters | None:
    """Letters, any if that is said with True, or none."""
    if isinstance(symbols, Letters):
        return symbols
    return Letters(is_open=True) if symbols else None


def put(value: Value, numbers: Mapping[str, Value]) -> Value:
    """The value with these in the place of its symbols, by name; others stay.

    Raises what their functions raise: :class:`~symattn.errors.Malformed` for a division by
    zero or the root of a negative number.

    >>> from symattn.numbers.reading import read
    >>> put(read("exp(a*b)/(1 + a)", symbols=True), {"a": read(2)})
    e^(2*b)/3
    """
    if not value.letters & numbers.keys():
        return value
    done: dict[int, Value] = {}
    for node in lazy.in_order(value, lambda node: node.operands if node.letters else ()):
        below = [done[id(x)] for x in node.operands] if node.letters else []
        done[id(node)] = _Put(numbers).made(node, below) if node.letters else node
    return done[id(value)]


class _Put:
    def __init__(self, numbers: Mapping[str, Value]) -> None:
        self.numbers = numbers

    def made(self, node: Value, below: list[Value]) -> Value:
        """Return what a node is of these operands."""
        if node.operation is lazy.TOTAL:
            return total(below)
        if node.operation is lazy.PRODUCTS:
            return sum_of_products(zip(below[::2], below[1::2], strict=True))
        if node.operation is lazy.INVERSE:
            return below[0].inverse()
        for name, made in lazy.FUNCTIONS.items():
            if node.operation is made:
                return below[0].applied(name)
        return self.parts(node.parts)

    def parts(self, parts: Parts) -> Value:
        """A closed form with the numbers put in."""
        quotients = []
        for denominator, terms in parts.items():
            above = self.terms(terms)
            for normaliser, power in denominator:
                above = above / self.terms(normaliser.terms) ** power
            quotients.append(above)
        return total(quotients)

    def terms(self, terms: Sum) -> Value:
        """A sum with the numbers put in."""
        products = []
        for (exponent, radicand, atoms), q in terms.items():
            product = self.power(exponent) * of_parts({(): {((), radicand, ()): q}})
            for atom, power in atoms:
                product = product * self.atom(atom) ** power
            products.append((product, ONE))
        return sum_of_products(products)

    def power(self, exponent: Exponent) -> Value:
        """``e`` to the power of an exponent."""
        if all(isinstance(base, int) for base, _, _ in exponent):
            return of_parts({(): {(exponent, 1, ()): fmpq(1)}})
        return self.terms(exponential_sums.terms_of(exponent)).exp()

    def atom(self, atom: NumberAtom) -> Value:
        """An atom with the numbers put in."""
        match atom:
            case Symbol(name=name) if name in self.numbers:
                return self.numbers[name]
            case Root(radicand=radicand):
                return self.terms(radicand).sqrt()
            case Wave(function=function, angle=angle):
                return self.terms(exponential_sums.terms_of(angle)).applied(function)
            case OpaqueAtom(function=function, argument=argument):
                return self.parts(argument).applied(function)
        return of_parts({(): {((), 1, ((atom, 1),)): fmpq(1)}})
