"""Division of exponential sums, where the quotient is one again.

Where waves occur, a term with one is two exponentials of imaginary angles, ``cos t = (e^(it) +
e^(-it))/2`` and ``sin t = (e^(it) - e^(-it))/2i``, whose products are their sums: so the long
division is the same. A quotient of real sums is real, and its terms at opposite angles
are a wave again.
"""

from __future__ import annotations

from math import lcm

from flint import fmpq, nmod_poly

from symattn.numbers import exponential_sums
from symattn.numbers.balls import spend
from symattn.numbers.exponential_sums import Base, Exponent, NumberAtom, Sum, Wave


def divide(numerator: Sum, denominator: Sum) -> Sum | None:
    """``numerator / denominator`` if that is again a sum and found quickly.

    Long division by the leading term in the lexicographic order of the
    exponents' coordinates. A quotient's last term is the quotient of the last
    terms: a step below it, or a quotient longer than the numerator, gives
    None, and the fraction is left as it stands.

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
    """Whether a division by a sum with coprime integer coefficients is seen to have a
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
    """What all exponents are a multiple of one by; 0 where roots or atoms occur."""
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
            wave = (
                exponential_sums.wave("cos", angle)
                if m > 0
                else exponential_sums.wave("sin", angle)
            )
            factor: Sum = {((), abs(m), ()): 2 * q if m > 0 else -2 * q}
            exponential_sums.accumulate(terms, exponential_sums.multiply(wave, factor))
    return terms
