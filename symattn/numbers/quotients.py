"""Sums of quotients of exponential sums, and their normal form.

The parts of a value: numerators by their denominators. A denominator is a
product of powers of normalisers, which are kept whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import count
from math import lcm, prod
from typing import Literal

from flint import arb, ctx, fmpq, nmod_poly

from symattn.numbers import exponential_sums
from symattn.numbers.balls import spend
from symattn.numbers.exponential_sums import (
    Atoms,
    Base,
    Exponent,
    Monomial,
    NumberAtom,
    Root,
    Sum,
    Symbol,
    Wave,
)

# -- division of exponential sums --------------------------------------------------------
# Where waves occur, a term with one is two exponentials of imaginary angles, ``cos t = (e^(it) +
# e^(-it))/2`` and ``sin t = (e^(it) - e^(-it))/2i``, whose products are their sums: so the long
# division is the same. A quotient of real sums is real, and its terms at opposite angles are a
# wave again.


def divide(numerator: Sum, denominator: Sum) -> Sum | None:
    """``numerator / denominator`` if that is again a sum and found quickly.

    Long division by the leading term in the lexicographic order of the exponents' coordinates. A
    quotient's last term is the quotient of the last terms: a step below it, or a quotient longer
    than the numerator, gives None, and the fraction is left as it stands.

    >>> one, other = ((1, 1, 1),), ((1, 2, 1),)
    >>> wave = exponential_sums.wave
    >>> twice = exponential_sums.scale(wave("sin", one), fmpq(2))
    >>> divide(wave("sin", other), wave("cos", one)) == twice
    True
    """
    if _leaves_rest(numerator, denominator):
        return None
    coordinates = _Coordinates(numerator, denominator)
    rest, below = coordinates.points(numerator), coordinates.points(denominator)
    lead, last = max(below), min(below)
    factor = exponential_sums.invert_surd(below[lead])
    lowest = tuple(a - b for a, b in zip(min(rest), last, strict=True))
    quotient: dict[_Point, Sum] = {}
    most = max(len(numerator), len(rest))
    while rest:
        top = max(rest)
        shift = tuple(a - b for a, b in zip(top, lead, strict=True))
        if shift < lowest or len(quotient) > most:
            return None
        # One step costs about as much as five times as many products.
        spend(5 * len(below))
        step = quotient[shift] = exponential_sums.multiply(rest[top], factor)
        minus = exponential_sums.scale(step, fmpq(-1))
        for point, coefficient in below.items():
            place = tuple(a + b for a, b in zip(point, shift, strict=True))
            total = exponential_sums.add(
                rest.get(place, {}), exponential_sums.multiply(minus, coefficient)
            )
            if total:
                rest[place] = total
            else:
                rest.pop(place, None)
    return coordinates.terms(quotient)


#: Whole coordinates of an exponent, of an angle and of the atoms' powers.
_Point = tuple[int, ...]


#: The prime that remainders are taken by, and the highest degree of what is divided.
_PRIME, _DEGREE = (1 << 61) - 1, 1 << 10


def _leaves_rest(numerator: Sum, denominator: Sum) -> bool:
    """Return whether a division by a sum with coprime integer coefficients is seen to have a
    remainder: modulo a prime it does.

    False where that isn't found out. A quotient would have integer coefficients where the
    numerator has (Gauss), and so would be one of the residues too.

    >>> one, e, e2 = exponential_sums.UNIT, (((1, 1, 1),), 1, ()), (((1, 2, 1),), 1, ())
    >>> below = {one: fmpq(-1), e: fmpq(1)}
    >>> _leaves_rest({one: fmpq(-1), e2: fmpq(1)}, below), _leaves_rest({e2: fmpq(1)}, below)
    (False, True)
    """
    steps = lcm(_steps(numerator), _steps(denominator))
    if not steps:
        return False
    below = _residues(denominator, steps)
    above = _residues(numerator, steps) if below else None
    return above is not None and below is not None and bool(above % below)


def _steps(terms: Sum) -> int:
    """Return what all exponents are a multiple of one by; 0 where roots or atoms occur."""
    steps = 1
    for exponent, radicand, atoms in terms:
        if exponent:
            (m, _, q), *more = exponent
            if m != 1 or more:
                return 0
            steps = lcm(steps, q)
        if radicand != 1 or atoms:
            return 0
    return steps


def _residues(terms: Sum, steps: int) -> nmod_poly | None:
    """The polynomial in ``e**(1/steps)``, times a whole number and from its lowest power on;
    None where it is too long, or the whole number has no residue."""
    powers = [x[0][0][1] * (steps // x[0][0][2]) if x[0] else 0 for x in terms]
    first = min(powers)
    degree = max(powers) - first
    scale = lcm(*(int(q.q) for q in terms.values()))
    if degree > _DEGREE or scale % _PRIME == 0:
        return None
    coefficients = [0] * (degree + 1)
    for power, q in zip(powers, terms.values(), strict=True):
        coefficients[power - first] = int(q.p) * (scale // int(q.q)) % _PRIME
    return nmod_poly(coefficients, _PRIME)


class _Coordinates:
    """Whole coordinates for the exponents, angles and atoms of some sums."""

    def __init__(self, *many: Sum) -> None:
        scales: dict[Base, int] = {}
        turns: dict[Base, int] = {}
        atoms: set[NumberAtom] = set()
        for exponent, _, factors in (key for terms in many for key in terms):
            _refine(scales, exponent)
            for atom, _ in factors:
                if isinstance(atom, Wave):
                    _refine(turns, atom.angle)
                else:
                    atoms.add(atom)
        self.scales = sorted(scales.items())
        self.turns = sorted(turns.items())
        self.atoms = sorted(atoms, key=lambda atom: atom.order)

    def points(self, terms: Sum) -> dict[_Point, Sum]:
        """The coefficient, a sum of roots, at each point."""
        coefficients: dict[_Point, Sum] = {}
        for (exponent, radicand, factors), q in terms.items():
            counts = dict(factors)
            place = _coordinates(exponent, self.scales)
            powers = tuple(counts.get(atom, 0) for atom in self.atoms)
            wave = next((x for x in counts if isinstance(x, Wave)), None) if self.turns else None
            for angle, m, part in _imaginary(wave, radicand, q):
                point = (*place, *_coordinates(angle, self.turns), *powers)
                coefficients.setdefault(point, {})[(), m, ()] = part
        return coefficients

    def terms(self, points: dict[_Point, Sum]) -> Sum:
        """The sum with these coefficients at these points."""
        result: Sum = {}
        first, second = len(self.scales), len(self.scales) + len(self.turns)
        for point, coefficient in points.items():
            exponent = _exponent(point[:first], self.scales)
            angle = _exponent(point[first:second], self.turns)
            powers = zip(self.atoms, point[second:], strict=True)
            factors = tuple((atom, power) for atom, power in powers if power)
            for (_, radicand, waves), q in _real(angle, coefficient).items():
                result[
                    exponent,
                    radicand,
                    exponential_sums.merged(factors, waves) if waves else factors,
                ] = q
        return result


#: What the coefficients of each base are made whole by.
_Scales = list[tuple[Base, int]]


def _refine(scales: dict[Base, int], exponent: Exponent) -> None:
    for m, _, q in exponent:
        scales[m] = lcm(scales.get(m, 1), q)


def _coordinates(exponent: Exponent, scales: _Scales) -> tuple[int, ...]:
    powers = {m: (p, d) for m, p, d in exponent}
    scaled = [(*powers.get(m, (0, 1)), scale) for m, scale in scales]
    return tuple(p * (scale // d) for p, d, scale in scaled)


def _exponent(coordinates: _Point, scales: _Scales) -> Exponent:
    each = zip(scales, coordinates, strict=True)
    return tuple((m, *exponential_sums.lowest(p, scale)) for (m, scale), p in each if p)


def _imaginary(wave: Wave | None, m: int, q: fmpq) -> list[tuple[Exponent, int, fmpq]]:
    """``q sqrt(m) * wave`` by the angles of its exponentials, with radicand and factor;
    ``sqrt(-m)`` is ``i sqrt(m)``."""
    if wave is None:
        return [((), m, q)]
    half, opposite = q / 2, exponential_sums.negative(wave.angle)
    if wave.function == "cos":
        return [(wave.angle, m, half), (opposite, m, half)]
    return [(wave.angle, -m, -half), (opposite, -m, half)]


def _real(angle: Exponent, coefficient: Sum) -> Sum:
    """The term at an angle with that at the opposite one, which then gives none."""
    if not angle:
        return coefficient
    terms: Sum = {}
    if angle[0][1] > 0:
        for (_, m, _), q in coefficient.items():
            wave = exponential_sums.wave("cos" if m > 0 else "sin", angle)
            factor: Sum = {((), abs(m), ()): 2 * q if m > 0 else -2 * q}
            exponential_sums.accumulate(terms, exponential_sums.multiply(wave, factor))
    return terms


# -- quotients ---------------------------------------------------------------------------


class Normaliser:
    """A denominator: a sum with several terms, smallest exponent 0,
    coprime integer coefficients, the first one positive; or a wave."""

    __slots__ = ("_balls", "_hash", "_key", "_order", "symbols", "terms")

    def __init__(self, terms: Sum) -> None:
        self.terms = terms
        self.symbols = _letters_of(terms)
        self._key = exponential_sums.structure(terms)
        self._hash = hash(self._key)
        self._order: tuple[object, ...] = ()
        #: Enclosures by bits: many entries share it.
        self._balls: dict[int, arb] = {}

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Normaliser) and self._key == other._key)

    @property
    def order(self) -> tuple[object, ...]:
        """Sort key of what is shown: short ones first."""
        if not self._order:
            self._order = len(self.terms), *exponential_sums.order(self.terms)
        return self._order

    def ball(self) -> arb:
        """An enclosure at the working precision."""
        if ctx.prec not in self._balls:
            self._balls[ctx.prec] = _ball(self.terms)
        return self._balls[ctx.prec]


#: Normalisers with their powers; empty for a value without denominator.
Denominator = tuple[tuple[Normaliser, int], ...]
Parts = dict[Denominator, Sum]
#: Parts as monomials and whole numbers before them, over another one.
WholeParts = dict[Denominator, tuple[Sequence[Monomial], Sequence[int]]]


class OpaqueAtom(NumberAtom):
    """A function of a number that is no exponential sum, known by its argument."""

    __slots__ = ("argument", "function")

    def __init__(self, function: str, argument: Parts) -> None:
        structures = frozenset(
            (below, exponential_sums.structure(above)) for below, above in argument.items()
        )
        key, order = (function, structures), (function, *_order(argument))
        super().__init__(key, order, length(argument), height(argument))
        self.function = function
        self.argument = argument


class Constant(NumberAtom):
    """A number known by its name: pi."""

    __slots__ = ("name",)

    def __init__(self, name: Literal["pi"]) -> None:
        super().__init__(("constant", name), (name, ()))
        self.name = name


class Unfolded(NumberAtom):
    """A number whose closed form would be too long, known by its own lazy expression:
    ``enclosure`` gives it at any number of bits."""

    __slots__ = ("enclosure",)

    def __init__(self, enclosure: Callable[[int], arb]) -> None:
        serial = next(_serial)
        super().__init__(("unfolded", serial), ("unfolded", serial))
        self.enclosure = enclosure


_serial = count()


def _order(parts: Parts) -> tuple[object, ...]:
    return tuple(
        (_by_normalisers(d), exponential_sums.order(parts[d])) for d in denominators(parts)
    )


def length(parts: Parts) -> int:
    """The terms of a closed form, below and inside its atoms as well."""
    return sum(map(exponential_sums.length, _sums(parts)))


def width(parts: Parts) -> int:
    """The terms of a closed form, those inside its atoms not counted."""
    return sum(map(len, _sums(parts)))


def _sums(parts: Parts) -> list[Sum]:
    below = {normaliser for denominator in parts for normaliser, _ in denominator}
    return [*parts.values(), *(normaliser.terms for normaliser in below)]


def height(parts: Parts) -> int:
    """Bits of the longest number, inside its atoms as well."""
    return max(map(exponential_sums.height, _sums(parts)), default=0)


def denominators(parts: Iterable[Denominator]) -> list[Denominator]:
    """The denominators of the parts, in the order they are shown in."""
    return [*_in_order(tuple(parts))]


# Many entries have the same.
@lru_cache(maxsize=1 << 10)
def _in_order(below: tuple[Denominator, ...]) -> tuple[Denominator, ...]:
    return tuple(sorted(below, key=_by_normalisers))


def _by_normalisers(denominator: Denominator) -> tuple[object, ...]:
    return tuple((normaliser.order, power) for normaliser, power in denominator)


def total(many: Iterable[Parts]) -> Parts:
    """The sum, brought to normal form once."""
    result: Parts = {}
    for parts in many:
        for denominator, terms in parts.items():
            _accumulate(result, denominator, terms)
    return simplified(result)


def sum_of_products(pairs: Iterable[tuple[Parts, Parts]]) -> Parts:
    """``sum(a * b)``, brought to normal form once."""
    result: Parts = {}
    for left, right in pairs:
        for d1, t1 in left.items():
            for d2, t2 in right.items():
                denominator = d1 if not d2 else d2 if not d1 else joined(d1, d2)
                _accumulate(result, denominator, exponential_sums.multiply(t1, t2))
    return simplified(result)


def _accumulate(parts: Parts, denominator: Denominator, extra: Sum) -> None:
    if denominator in parts:
        exponential_sums.accumulate(parts[denominator], extra)
    else:
        parts[denominator] = dict(extra)


def inverse(parts: Parts) -> Parts:
    """One divided by a sum of parts that is not zero."""
    denominator, numerator = over_one(parts)
    unit, rest = primitive(numerator)
    return simplified({rest: exponential_sums.multiply(expanded(denominator), _inverse_unit(unit))})


def joined(left: Denominator, right: Denominator) -> Denominator:
    """The product of two denominators."""
    # It is sorted again: about as much work as so many products.
    spend(5)
    powers = dict(left)
    for normaliser, power in right:
        powers[normaliser] = powers.get(normaliser, 0) + power
    return ordered(powers)


def ordered(powers: dict[Normaliser, int]) -> Denominator:
    """Normalisers with their powers, in the order they are shown in."""
    items = [(n, k) for n, k in powers.items() if k]
    return tuple(items if len(items) < 2 else sorted(items, key=lambda item: item[0].order))


def expanded(denominator: Denominator) -> Sum:
    """A denominator multiplied out."""
    product = exponential_sums.constant(1)
    for normaliser, power in denominator:
        for _ in range(power):
            product = exponential_sums.multiply(product, normaliser.terms)
    return product


def over_one(parts: Parts) -> tuple[Denominator, Sum]:
    """The sum of the parts as one quotient."""
    common = ordered(_highest(parts))
    numerator: Sum = {}
    for denominator, terms in parts.items():
        powers = dict(denominator)
        for normaliser, power in common:
            for _ in range(power - powers.get(normaliser, 0)):
                terms = exponential_sums.multiply(terms, normaliser.terms)
        exponential_sums.accumulate(numerator, terms)
    return common, numerator


def expansion(parts: Parts) -> int:
    """About how many products :func:`over_one` forms."""
    factor: int = prod(len(n.terms) ** power for n, power in _highest(parts).items())
    return factor * sum(len(terms) for terms in parts.values())


def _highest(parts: Parts) -> dict[Normaliser, int]:
    """Every normaliser with the largest power that it has below a part."""
    powers: dict[Normaliser, int] = {}
    for denominator in parts:
        for normaliser, power in denominator:
            powers[normaliser] = max(power, powers.get(normaliser, 0))
    return powers


def simplified(parts: Parts) -> Parts:
    """Parts with the same normalisers joined, common factors cancelled."""
    parts = {denominator: terms for denominator, terms in parts.items() if terms}
    if len(parts) > 1:
        groups: dict[frozenset[Normaliser], Parts] = {}
        for denominator, terms in parts.items():
            groups.setdefault(frozenset(n for n, _ in denominator), {})[denominator] = terms
        # 1 - e/Z reads better as one quotient; with several rows' normalisers
        # the constant stays apart.
        if len(groups) == 2 and (plain := groups.get(frozenset())) is not None:
            del groups[frozenset()]
            next(iter(groups.values())).update(plain)
        parts = {}
        for group in groups.values():
            common, numerator = over_one(group)
            if numerator:
                parts[common] = numerator
    result: Parts = {}
    for denominator, terms in parts.items():
        lowest, numerator = cancelled(denominator, terms) if denominator else ((), terms)
        _accumulate(result, lowest, numerator)
    return {denominator: terms for denominator, terms in result.items() if terms}


def cancelled(denominator: Denominator, numerator: Sum) -> tuple[Denominator, Sum]:
    """The quotient with every normaliser divided out as often as it goes."""
    powers = dict(denominator)
    for normaliser in list(powers):
        while powers[normaliser] and len(numerator) >= len(normaliser.terms):
            quotient = divide(numerator, normaliser.terms)
            if quotient is None:
                break
            numerator = quotient
            powers[normaliser] -= 1
    return ordered(powers), numerator


def primitive(terms: Sum) -> tuple[Sum, Denominator]:
    """``terms`` as a unit, which can be inverted, times a normaliser."""
    grouped = {(exponent, atoms) for exponent, _, atoms in terms}
    if len(grouped) == 1:
        return _without_wave(terms)
    first = min(terms, key=exponential_sums.by_size)
    factor = exponential_sums.content(terms)
    if terms[first] < 0:
        factor = -factor
    shift = exponential_sums.negative(first[0])
    common = common_symbols(terms)
    rest = exponential_sums.multiply(
        exponential_sums.scale(terms, 1 / factor), {(shift, 1, flipped(common)): fmpq(1)}
    )
    return {(first[0], 1, common): factor}, ((Normaliser(rest), 1),)


def common_symbols(terms: Sum) -> Atoms:
    """The symbols that all terms have as factors, with the lowest power of each."""
    counts = [{x: k for x, k in atoms if isinstance(x, Symbol)} for _, _, atoms in terms]
    lowest = {x: min(count.get(x, 0) for count in counts) for count in counts for x in count}
    return exponential_sums.merged(tuple(lowest.items()), ())


def flipped(atoms: Atoms) -> Atoms:
    """One over a product of atoms."""
    return tuple((atom, -power) for atom, power in atoms)


def _without_wave(terms: Sum) -> tuple[Sum, Denominator]:
    """Terms with the same atoms as a unit, and the wave among these: one over a wave is no
    exponential sum."""
    _, _, atoms = next(iter(terms))
    waves = tuple(item for item in atoms if isinstance(item[0], Wave))
    if not waves:
        return terms, ()
    rest = tuple(item for item in atoms if item not in waves)
    unit = {(exponent, radicand, rest): q for (exponent, radicand, _), q in terms.items()}
    return unit, ((Normaliser({((), 1, waves): fmpq(1)}), 1),)


def _inverse_unit(terms: Sum) -> Sum:
    """``1 / terms`` where all terms share their exponential and their atoms, without waves."""
    exponent, _, atoms = next(iter(terms))
    surd: Sum = {((), m, ()): q for (_, m, _), q in terms.items()}
    return exponential_sums.multiply(
        exponential_sums.invert_surd(surd),
        {(exponential_sums.negative(exponent), 1, flipped(atoms)): fmpq(1)},
    )


def ball(parts: Parts) -> arb:
    """An enclosure at the working precision; with symbols that of the
    :func:`~symattn.numbers.exponential_sums.generic` numbers."""
    result = arb(0)
    for denominator, terms in parts.items():
        part = _ball(terms)
        for normaliser, power in denominator:
            part /= normaliser.ball() ** power
        result += part
    return result


@lru_cache(maxsize=1 << 12)
def _exponential_ball(exponent: exponential_sums.Exponent, bits: int) -> arb:
    """At the working precision, which is ``bits``."""
    return exponential_sums.exponent_ball(exponent).exp()


def _ball(terms: Sum) -> arb:
    result = arb(0)
    for (exponent, radicand, atoms), q in terms.items():
        part = arb(q)
        if radicand != 1:
            part *= arb(radicand).sqrt()
        if exponent:
            part *= _exponential_ball(exponent, ctx.prec)
        for atom, power in atoms:
            part *= _atom_ball(atom) ** power
        result += part
    return result


def _atom_ball(atom: NumberAtom) -> arb:
    match atom:
        case Symbol(name=name):
            return exponential_sums.generic(name)
        case Root():
            return _ball(atom.radicand).sqrt()
        case Wave():
            angle = exponential_sums.exponent_ball(atom.angle)
            return angle.cos() if atom.function == "cos" else angle.sin()
        case OpaqueAtom():
            value: arb = getattr(ball(atom.argument), atom.function)()
            return value
        case Constant():
            return arb.pi()
        case Unfolded():
            return atom.enclosure(ctx.prec)
    raise AssertionError(f"{atom!r} is no number")


# -- symbols --------------------------------------------------------------------


def symbols(parts: Parts) -> tuple[str, ...]:
    """The names of the symbols that occur, sorted."""
    return tuple(sorted(letters(parts)))


def letters(parts: Parts) -> dict[str, Symbol]:
    """The symbols that occur, by name."""
    found = {atom.name: atom for terms in parts.values() for atom in _letters_of(terms)}
    for denominator in parts:
        for normaliser, _ in denominator:
            found |= {atom.name: atom for atom in normaliser.symbols}
    return found


def _letters_of(terms: Sum) -> frozenset[Symbol]:
    return frozenset(
        letter
        for exponent, _, atoms in terms
        for found in (*map(_letters_in, exponent), *(_letters(atom) for atom, _ in atoms))
        for letter in found
    )


def _letters_in(multiple: tuple[Base, int, int]) -> list[Symbol]:
    base = multiple[0]
    return [] if isinstance(base, int) else base.symbols


def _letters(atom: NumberAtom) -> Iterable[Symbol]:
    """The symbols in an atom."""
    match atom:
        case Symbol():
            return (atom,)
        case Root():
            return _letters_of(atom.radicand)
        case Wave():
            return [letter for multiple in atom.angle for letter in _letters_in(multiple)]
        case OpaqueAtom():
            return letters(atom.argument).values()
    return ()


def is_linear(parts: Parts) -> bool:
    """Return whether symbols occur, at most one in each term and none below."""
    if any(normaliser.symbols for denominator in parts for normaliser, _ in denominator):
        return False
    powers: list[list[int]] = []
    for exponent, _, atoms in (monomial for group in parts.values() for monomial in group):
        alone = [k for atom, k in atoms if isinstance(atom, Symbol)]
        inside = [atom for atom, _ in atoms if not isinstance(atom, Symbol)]
        if any(map(_letters_in, exponent)) or any(map(_letters, inside)):
            return False
        powers.append(alone)
    return any(powers) and all(group in ([], [1]) for group in powers)


def coefficient(parts: Parts, symbol: str | None) -> Parts:
    """Return what stands before ``symbol`` in a linear form; None: the constant."""
    result: Parts = {}
    for denominator, terms in parts.items():
        for (exponent, radicand, atoms), q in terms.items():
            names = [atom.name for atom, _ in atoms if isinstance(atom, Symbol)]
            if (names[0] if names else None) == symbol:
                rest = tuple(item for item in atoms if not isinstance(item[0], Symbol))
                exponential_sums.accumulate(
                    result.setdefault(denominator, {}), {(exponent, radicand, rest): q}
                )
    return simplified(result)
