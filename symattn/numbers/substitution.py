"""Numbers put in the place of symbols."""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

from symattn.numbers import exponential_sums, lazy
from symattn.numbers.exponential_sums import Exponent, NumberAtom, Root, Sum, Symbol, Wave
from symattn.numbers.quotients import OpaqueAtom, Parts
from symattn.numbers.values import ONE, Value, of_parts, sum_of_products, total


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
