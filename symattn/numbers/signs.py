"""Signs that are seen, whatever real numbers stand for the symbols.

2 is positive and 1 not negative, -2 and -1 are the same for the other side, 0 is zero;
None is not seen.
"""

from __future__ import annotations

from collections.abc import Iterable

from flint import fmpq

from symattn.numbers.exponential_sums import Monomial, NumberAtom, Root, Sum, Symbol
from symattn.numbers.quotients import OpaqueAtom, Parts

Sign = int | None


def of_sum(signs: Iterable[Sign]) -> Sign:
    """Return the sign of a sum, by those of its terms.

    >>> of_sum([1, 2, 0]), of_sum([1, -1])
    (2, None)
    """
    known = set(signs) - {0}
    numbers = [sign for sign in known if sign is not None]
    if len(numbers) < len(known):
        return None
    if not numbers or min(numbers) > 0:
        return max(numbers, default=0)
    return min(numbers) if max(numbers) < 0 else None


def of_product(left: Sign, right: Sign) -> Sign:
    """Return the sign of a product.

    >>> of_product(2, -1), of_product(None, 0)
    (-1, 0)
    """
    if left == 0 or right == 0:
        return 0
    if left is None or right is None:
        return None
    least = min(abs(left), abs(right))
    return least if (left > 0) == (right > 0) else -least


def of_parts(parts: Parts) -> Sign:
    """Return the sign of a closed form, by its terms."""

    def part(below: Iterable[Sign], above: Sum) -> Sign:
        sign = _of_terms(above)
        for each in below:
            # What is divided by is not zero.
            sign = of_product(sign, each and (2 if each > 0 else -2))
        return sign

    return of_sum(
        part((_of_terms(n.terms) for n, power in denominator for _ in range(power)), terms)
        for denominator, terms in parts.items()
    )


def _of_terms(terms: Sum) -> Sign:
    return of_sum(_of_term(monomial, q) for monomial, q in terms.items())


def _of_term(monomial: Monomial, q: fmpq) -> Sign:
    sign: Sign = 2 if q > 0 else -2
    for atom, power in monomial[2]:
        sign = of_product(sign, _of_atom(atom, power))
    return sign


def _of_atom(atom: NumberAtom, power: int) -> Sign:
    is_positive = (isinstance(atom, Symbol) and atom.is_positive) or (
        isinstance(atom, OpaqueAtom) and atom.function == "exp"
    )
    if is_positive:
        return 2
    if power % 2 and not isinstance(atom, Root):
        return None
    return 2 if power < 0 else 1
