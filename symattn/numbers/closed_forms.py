"""Closed forms: the parts of exact values as formulas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.numbers import exponential_sums, quotients
from symattn.numbers.exponential_sums import (
    Atoms,
    Exponent,
    Monomial,
    NumberAtom,
    Root,
    Sum,
    Symbol,
    SymbolicBase,
    Wave,
)
from symattn.numbers.quotients import (
    Constant,
    Denominator,
    Normaliser,
    OpaqueAtom,
    Parts,
    WholeParts,
)

#: Longest closed form that messages and ``repr`` show whole.
MAX_SHORT = 200


@dataclass(frozen=True)
class NamedNormaliser:
    """The name of a normaliser: ``normaliser * unit = name``.

    A sheet calls the sum over a row of exponentials ``Z_0``; the normaliser
    that the value holds is that sum without the common factor ``unit``.
    """

    name: syntax.Tree
    unit: Sum


Names = Mapping[Normaliser, NamedNormaliser]


def formula(parts: Parts, names: Names | None = None) -> syntax.Tree:
    """The closed form of a value; normalisers in ``names`` appear by name.

    >>> from symattn.numbers.reading import read
    >>> syntax.shown(formula(read("3*sqrt(2)/4 - 1/2").parts))
    '3*sqrt(2)/4 - 1/2'
    """
    if quotients.is_linear(parts):
        coefficients = [
            (s, quotients.coefficient(parts, s)) for s in (None, *quotients.symbols(parts))
        ]
        return linear_form(
            (s, formula(coefficient, names)) for s, coefficient in coefficients if coefficient
        )
    pieces: list[syntax.Tree] = []
    for denominator in quotients.denominators(parts):
        pieces += _part(parts[denominator], denominator, names or {})
    return _joined(pieces)


def of_whole(parts: WholeParts, below: int) -> syntax.Tree:
    """The closed form of parts over a whole number, without letters."""
    pieces: list[syntax.Tree] = []
    for denominator in quotients.denominators(parts):
        keys, numbers = parts[denominator]
        if denominator:
            pieces.append(_over(keys, numbers, below, denominator))
        else:
            terms = zip(keys, numbers, strict=True)
            form = _added({key: exponential_sums.lowest(p, below) for key, p in terms})
            pieces += form.terms if isinstance(form, syntax.Sum) else [form]
    return _joined(pieces)


def _over(
    keys: Sequence[Monomial], numbers: Sequence[int], below: int, denominator: Denominator
) -> syntax.Tree:
    factor = gcd(*numbers)
    shared = gcd(factor, below)
    count = factor // shared
    is_negative = max(numbers) < 0
    if is_negative:
        factor = -factor
    if len(keys) == 1:
        upper = _term(keys[0], count, 1)
    else:
        upper = _numerator((*keys,), (*[p // factor for p in numbers],))
        if count != 1:
            upper = syntax.Product((syntax.Literal(str(count)), upper))
    quotient = syntax.Binary("/", upper, _lower(denominator, below // shared))
    return syntax.Negative(quotient) if is_negative else quotient


# What flows into a key differs by factors, from column to column.
@lru_cache(maxsize=1 << 8)
def _numerator(keys: tuple[Monomial, ...], numbers: tuple[int, ...]) -> syntax.Tree:
    return _added({key: (p, 1) for key, p in zip(keys, numbers, strict=True)})


# Many entries share what stands below.
@lru_cache(maxsize=1 << 12)
def _lower(denominator: Denominator, share: int) -> syntax.Tree:
    below: list[syntax.Tree] = [] if share == 1 else [syntax.Literal(str(share))]
    below += [syntax.powered(sum_formula(each.terms), power) for each, power in denominator]
    return _product(below)


def _joined(pieces: Sequence[syntax.Tree]) -> syntax.Tree:
    if not pieces:
        return syntax.Literal("0")
    return pieces[0] if len(pieces) == 1 else syntax.Sum(tuple(pieces))


def short(parts: Parts) -> str:
    """The closed form's text, cut where it is longer than :data:`MAX_SHORT`."""
    text = syntax.shown(formula(parts))
    return text if len(text) <= MAX_SHORT else f"{text[: MAX_SHORT - 3]}..."


def linear_form(terms: Iterable[tuple[str | None, syntax.Tree]]) -> syntax.Tree:
    """Coefficient times symbol, one after the other; the constant has no symbol.

    >>> terms = [(None, "1"), ("g1", "2"), ("g2", "-1")]
    >>> syntax.shown(linear_form((symbol, syntax.parse(number)) for symbol, number in terms))
    '1 + 2*g1 - g2'
    """
    pieces: list[syntax.Tree] = []
    for symbol, coefficient in terms:
        negative = isinstance(coefficient, syntax.Negative)
        inner = coefficient.operand if isinstance(coefficient, syntax.Negative) else coefficient
        if symbol is not None:
            if inner == syntax.Literal("1"):
                inner = syntax.Name(symbol)
            else:
                inner = syntax.Product((inner, syntax.Name(symbol)))
        pieces.append(syntax.Negative(inner) if negative else inner)
    return _joined(pieces)


def _part(terms: Sum, denominator: Denominator, names: Names) -> list[syntax.Tree]:
    below: list[syntax.Tree] = []
    for normaliser, power in denominator:
        named = names.get(normaliser)
        if named is None:
            form = sum_formula(normaliser.terms)
        else:
            form = named.name
            for _ in range(power):
                terms = exponential_sums.multiply(terms, named.unit)
        below.append(syntax.powered(form, power))
    if not below:
        form = sum_formula(terms)
        return list(form.terms) if isinstance(form, syntax.Sum) else [form]
    return [_quotient(terms, below)]


def _quotient(terms: Sum, below: list[syntax.Tree]) -> syntax.Tree:
    """A sum over what is below it, with what all its terms have before it."""
    factor = exponential_sums.content(terms)
    if all(q < 0 for q in terms.values()):
        factor = -factor
    exponent, radicand, common = _common(terms)
    unit: Sum = {
        (exponential_sums.negative(exponent), radicand, quotients.flipped(common)): 1
        / (factor * radicand)
    }
    primitive = exponential_sums.multiply(terms, unit)
    above: list[syntax.Tree] = []
    count = abs(int(factor.p))
    if len(primitive) == 1:
        key, q = next(iter(primitive.items()))
        above.append(_term(key, int(q.p) * count, int(q.q)))
    else:
        if count != 1:
            above.append(syntax.Literal(str(count)))
        above += [] if radicand == 1 else [syntax.Call("sqrt", (syntax.Literal(str(radicand)),))]
        above += _atoms(common, positive=True)
        above += [_power_of_e(exponent)] if exponent else []
        above.append(sum_formula(primitive))
        below += _atoms(common, positive=False)
    if factor.q != 1:
        below.insert(0, syntax.Literal(str(factor.q)))
    whole = syntax.Binary("/", _product(above), _product(below)) if below else _product(above)
    return syntax.Negative(whole) if factor < 0 else whole


def _common(terms: Sum) -> Monomial:
    """Return what stands before a sum in letters, not in each of its terms."""
    if len(terms) == 1 or not _in_letters(terms):
        return exponential_sums.UNIT
    exponents = {exponent for exponent, _, _ in terms}
    radicands = {radicand for _, radicand, _ in terms}
    return (
        exponents.pop() if len(exponents) == 1 else (),
        radicands.pop() if len(radicands) == 1 else 1,
        quotients.common_symbols(terms),
    )


def _in_letters(terms: Sum) -> bool:
    return any(
        isinstance(part, Symbol | SymbolicBase)
        for exponent, _, atoms in terms
        for part, *_ in (*exponent, *atoms)
    )


def sum_formula(terms: Sum) -> syntax.Tree:
    """An exponential sum, smallest exponent first.

    >>> from symattn.numbers.reading import read
    >>> syntax.shown(sum_formula((read(1).exp() + read(2)).parts[()]))
    '2 + e'
    """
    return _added({key: (int(q.p), int(q.q)) for key, q in terms.items()})


def _added(terms: Mapping[Monomial, tuple[int, int]]) -> syntax.Tree:
    """Monomials times fractions."""
    ordered = sorted(terms, key=_reading_order)
    # e - 1 rather than -1 + e.
    first = next((key for key in ordered if terms[key][0] > 0), ordered[0])
    if first is not ordered[0]:
        ordered.remove(first)
        ordered.insert(0, first)
    return _joined([_term(key, *terms[key]) for key in ordered])


@lru_cache(maxsize=1 << 12)
def _reading_order(key: Monomial) -> tuple[object, ...]:
    """By the text of the atoms, then by growing exponents."""
    exponent, radicand, atoms = key
    named = " ".join(f"{name}^{power}" for name, _, power in _by_text(atoms))
    size = exponential_sums.size(exponent)
    # Whole numbers first: they are compared faster.
    return named, int(size * 1024), size, exponent, radicand


# Terms recur, from sum to sum.
@lru_cache(maxsize=1 << 14)
def _term(key: Monomial, p: int, q: int) -> syntax.Tree:
    """``p/q`` times a monomial."""
    above, below = _factors(key)
    if abs(p) != 1 or not above:
        above = syntax.Literal(str(abs(p))), *above
    if q != 1:
        below = syntax.Literal(str(q)), *below
    absolute = syntax.Binary("/", _product(above), _product(below)) if below else _product(above)
    return syntax.Negative(absolute) if p < 0 else absolute


@lru_cache(maxsize=1 << 12)
def _factors(key: Monomial) -> tuple[tuple[syntax.Tree, ...], tuple[syntax.Tree, ...]]:
    """``sqrt(m) * exp(r) * atoms``: what stands above, and below."""
    exponent, radicand, atoms = key
    above: list[syntax.Tree] = []
    if radicand != 1:
        above.append(syntax.Call("sqrt", (syntax.Literal(str(radicand)),)))
    letters = tuple(item for item in atoms if isinstance(item[0], Symbol))
    above += _atoms(letters, positive=True)
    if exponent:
        above.append(_power_of_e(exponent))
    above += _atoms(tuple(item for item in atoms if item not in letters), positive=True)
    return tuple(above), tuple(_atoms(atoms, positive=False))


def _atoms(atoms: Atoms, positive: bool) -> list[syntax.Tree]:
    return [
        syntax.powered(base, abs(power))
        for _, base, power in _by_text(atoms)
        if (power > 0) is positive
    ]


def _by_text(atoms: Atoms) -> list[tuple[str, syntax.Tree, int]]:
    return sorted(((*_atom(atom), power) for atom, power in atoms), key=lambda item: item[0])


# Cached, or else a root in a root in a root would be shown again and again.
@lru_cache(maxsize=1 << 12)
def _atom(atom: NumberAtom) -> tuple[str, syntax.Tree]:
    match atom:
        case Symbol(name=name):
            form: syntax.Tree = syntax.Name(name)
        case Root(radicand=radicand):
            form = syntax.Call("sqrt", (sum_formula(radicand),))
        case Wave(function=function, angle=angle):
            form = syntax.Call(function, (sum_formula(exponential_sums.terms_of(angle)),))
        case Constant():
            form = f.PI
        case OpaqueAtom(function=function, argument=argument):
            form = syntax.Call(function, (formula(argument),))
        case _:
            raise AssertionError(f"no closed form of {atom!r}")
    return syntax.shown(form), form


def _product(factors: Sequence[syntax.Tree]) -> syntax.Tree:
    return factors[0] if len(factors) == 1 else syntax.Product(tuple(factors))


def _power_of_e(exponent: Exponent) -> syntax.Tree:
    """``e``, ``sqrt(e)`` or ``e`` raised to the exponent."""
    if exponent == ((1, 1, 1),):
        return f.E
    if exponent == ((1, 1, 2),):
        return syntax.Call("sqrt", (f.E,))
    terms = exponential_sums.terms_of(exponent)
    shared = len(terms) > 1 and _in_letters(terms)
    return syntax.Power(f.E, _quotient(terms, []) if shared else sum_formula(terms))
