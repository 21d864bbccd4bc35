"""Taking index sums apart: shared factors, independent sums, denominators."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symattn.proofs import terms
from symattn.proofs.terms import Atom, Normal, Term, Value


def shared_exponent(exponents: Sequence[int]) -> int:
    """The power that can be taken out of terms in which an atom has these exponents.

    >>> shared_exponent([2, 3]), shared_exponent([-1, -2]), shared_exponent([-1, 0])
    (2, -1, 0)
    """
    least, most = min(exponents), max(exponents)
    return least if least > 0 else most if most < 0 else 0


def is_switch(piece: Atom) -> bool:
    """Whether an atom is 0 or 1 by its nature."""
    return piece[0] in "dm" or piece[:2] == ("x", "binary")


def split(value: Value) -> tuple[dict[Atom, int], Fraction, Value]:
    """A value as shared factors times a leading coefficient times the rest.

    Raises ZeroDivisionError for zero.
    """
    form = terms.key(value)
    if not form:
        raise ZeroDivisionError("one over, or the logarithm of, a value that is zero")
    opened = terms.reopened(form)
    every = {piece for one in opened for piece in one.factors}
    shared = {}
    for piece in every:
        if is_switch(piece) or any(terms.mentions(piece, one.bound) for one in opened):
            continue
        exponent = shared_exponent([one.factors.get(piece, 0) for one in opened])
        if exponent:
            shared[piece] = exponent
    leading = form[0][1]
    rest = []
    for one in opened:
        factors = {a: one.factors.get(a, 0) - shared.get(a, 0) for a in {*one.factors, *shared}}
        kept = {a: e for a, e in factors.items() if e}
        rest.append(Term(one.coefficient / leading, kept, one.bound))
    return shared, leading, rest


def unlinked(value: Value) -> list[Value]:
    """The independent sums that a single term is a product of; a longer value is one part."""
    if len(value) > 1:
        return [value]
    ((_, factors, bound),) = value
    parts: list[Value] = []
    left = dict(factors)
    while left:
        names: set[str] = set()
        piece = next(iter(left))
        part = {piece: left.pop(piece)}
        grown = True
        while grown:
            names |= {name for name in bound for a in part if terms.mentions(a, (name,))}
            more = {a for a in left if terms.mentions(a, names)}
            part |= {a: left.pop(a) for a in more}
            grown = bool(more)
        parts.append([Term(Fraction(1), part, {name: bound[name] for name in names})])
    return parts


def denominator_of(form: Normal) -> Atom | None:
    """An inverse in the normal form that does not depend on a summed index."""
    for monomial in form:
        one = terms.opened(monomial)
        for piece in one.factors:
            if piece[0] == "v" and not terms.mentions(piece, one.bound):
                return piece
    return None


def cleared(form: Normal, denominator: Atom) -> tuple[Value, int]:
    """The value times the highest power of a denominator that occurs in it; that power."""
    opened = [terms.opened(monomial, coefficient) for monomial, coefficient in form.items()]
    most = max(one.factors.get(denominator, 0) for one in opened)
    found: Value = []
    for one in opened:
        rest = {a: e for a, e in one.factors.items() if a != denominator}
        by = terms.power(terms.reopened(denominator[1]), most - one.factors.get(denominator, 0))
        found += terms.multiply([Term(one.coefficient, rest, one.bound)], by)
    return found, most
