"""Exponentials, logarithms, powers and other functions of normal forms.

Exponentials of sums are products of exponentials of products; logarithms take
out what is known to be above 0; a power of a sum is an atom of its own, made
primitive, so that quotients that differ by a factor look alike.

Is a product a part of another, whatever its indices are called?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from math import floor, gcd, lcm

from symattn.calculus.algebra import Algebra
from symattn.calculus.atoms import (
    BOOLEAN,
    ONE,
    At,
    Atom,
    Exponent,
    Mono,
    NoNormalForm,
    Poly,
    add,
    mono_text,
    order,
    places_of,
    plain,
    poly_text,
    put_into,
    scaled,
    summed,
    without,
)

_REDUCTIONS = 300
"""So many quotients are cancelled in one sum."""
_ROUNDS = 8
_LARGEST = 10**12
"""Numbers above are not split into primes."""


class Powers(Algebra):
    """The algebra with its functions."""

    def exp(self, poly: Poly) -> Poly:
        """The exponential of a sum."""
        return self.product(self._exp_of(mono, c) for mono, c in self.cancelled(poly).items())

    def _exp_of(self, mono: Mono, c: Fraction) -> Poly:
        for factor, _ in mono:
            if factor.kind in BOOLEAN or (factor.kind == "x" and factor.data[0] in self.booleans):
                # e^(b x) = 1 + b (e^x - 1) where b is 0 or 1.
                change = add(self.exp({without(mono, factor): c}), self.number(-1))
                return add(self.number(1), self.mul(self.one(factor), change))
        if len(mono) == 1 and mono[0][0].kind == "l" and mono[0][1] == 1:
            return self.raised(dict(mono[0][0].data), c)
        return self.one(self.composite("e", mono, f"e({mono_text(mono)})", [mono]), plain(c))

    def log(self, poly: Poly) -> Poly:
        """The logarithm of a sum that is above 0."""
        poly, below = self.cleared(poly)
        if not poly:
            raise NoNormalForm("the logarithm of 0")
        if below:
            return summed(
                scaled(self.log(part), Fraction(-times))
                for part, times in [(poly, -1), *((dict(base.data), e) for base, e in below)]
            )
        if switch := _switch(poly):
            return self._switched(switch, poly, self.log)
        content, shared, rest = self._primitive(poly, of_any_sign=False)
        total = summed(scaled(self._log_of(atom), Fraction(e)) for atom, e in shared)
        total = add(total, self._log_number(content))
        return add(total, self._log_atom(rest)) if rest != self.number(1) else total

    def _log_of(self, atom: Atom) -> Poly:
        match atom.kind:
            case "e":
                return {atom.data: ONE}
            case "p":
                return self.log(dict(atom.data))
            case "q":
                return self._log_number(Fraction(atom.data))
        return self._log_atom(self.one(atom))

    def _log_number(self, value: Fraction) -> Poly:
        return summed(
            scaled(self._log_atom(self.number(prime)), Fraction(e))
            for prime, e in _primes(value).items()
        )

    def _log_atom(self, of: Poly) -> Poly:
        return self.one(self.of_sum("l", "log", of))

    def raised(self, poly: Poly, exponent: Exponent) -> Poly:
        """A rational power of a sum; of a fractional one the sum is not below 0."""
        exponent = Fraction(exponent)
        if exponent.denominator == 1 and exponent >= 0:
            return self.times(poly, int(exponent))
        if len(poly) > 1 and (exponent.denominator == 1 or self._over_positive(poly)):
            poly, below = self.cleared(poly)
            if below and poly:
                factors = [(poly, exponent), *((dict(a.data), -k * exponent) for a, k in below)]
                return self.product(self.raised(base, e) for base, e in factors)
        if not poly:
            if exponent > 0:
                return {}
            raise NoNormalForm("a quotient by 0")
        if switch := _switch(poly):
            return self._switched(switch, poly, lambda part: self.raised(part, exponent))
        whole = exponent.denominator == 1
        content, shared, rest = self._primitive(poly, of_any_sign=whole)
        product = self.number(1)
        if not whole and len(rest) == 1:
            # (t^4)^(1/2) is t^2, whatever the sign of t.
            ((mono, c),) = rest.items()
            even = [pair for pair in mono if (pair[1] * exponent) % 2 == 0 and pair[1] % 2 == 0]
            shared = (*shared, *even)
            rest = {tuple(pair for pair in mono if pair not in even): c}
        for part, e in shared:
            product = self.mul(product, self.one(part, plain(Fraction(e) * exponent)))
        if whole:
            product = scaled(product, content ** int(exponent))
        else:
            for prime, e in _primes(content).items():
                product = self.mul(
                    product, self.one(self.make("q", prime, f"q{prime}"), e * exponent)
                )
        if rest == self.number(1):
            return product
        return self.mul(product, self.one(self.of_sum("p", "p", rest), plain(exponent)))

    def _switched(self, switch: Atom, poly: Poly, function: Callable[[Poly], Poly]) -> Poly:
        """A function of a sum in which something is 0 or 1."""
        off = function(
            {mono: c for mono, c in poly.items() if all(a is not switch for a, _ in mono)}
        )
        on = function(_switched_on(poly, switch))
        return add(off, self.mul(self.one(switch), add(on, scaled(off, -ONE))))

    def _primitive(self, poly: Poly, of_any_sign: bool) -> tuple[Fraction, Mono, Poly]:
        """A number, a product of atoms, and a sum without either: their product is ``poly``.

        Only factors that are above 0 are taken out unless ``of_any_sign``.
        """
        shared: dict[Atom, Exponent] = dict(next(iter(poly)))
        if len(poly) > 1:
            for factor in {atom for mono in poly for atom, _ in mono}:
                exponents = [dict(mono).get(factor, 0) for mono in poly]
                shared[factor] = min(exponents)
        if not of_any_sign:
            shared = {factor: e for factor, e in shared.items() if self.above(factor, e)}
        shared = {factor: e for factor, e in shared.items() if e}
        mono = tuple(sorted(shared.items(), key=order))
        inverse: Poly = {tuple((factor, -e) for factor, e in mono): ONE}
        rest: Poly = {}
        for key, c in poly.items():
            for more, k in self.mul({key: c}, inverse).items():
                put_into(rest, more, k)
        content = Fraction(
            gcd(*(c.numerator for c in rest.values())),
            lcm(*(c.denominator for c in rest.values())),
        )
        if of_any_sign and rest[max(rest, key=size_of)] < 0:
            content = -content
        return content, mono, scaled(rest, 1 / content)

    def apply(self, name: str, poly: Poly) -> Poly:
        """Sine and cosine with their rules for sums; other functions as atoms."""
        poly = self.cancelled(poly)
        if name not in ("sin", "cos"):
            if not poly:
                return {}
            if name == "erf" and poly[max(poly, key=size_of)] < 0:
                return scaled(self.one(self.function(name, scaled(poly, -ONE))), -ONE)
            return self.one(self.function(name, poly))
        if not poly:
            return self.number(int(name == "cos"))
        mono = max(poly, key=size_of)
        c = poly[mono]
        for atom, _ in mono:
            if atom.kind in BOOLEAN:
                rest = {key: k for key, k in poly.items() if key != mono}
                on = add(rest, {without(mono, atom): c})
                off = self.apply(name, rest)
                change = add(self.apply(name, on), scaled(off, -ONE))
                return add(off, self.mul(self.one(atom), change))
        unit = Fraction(1, c.denominator)
        first: Poly = {mono: unit if c > 0 else -unit}
        if mono_text(mono) == "pi" and 2 * c == int(2 * c):
            first = {mono: c}
            if len(poly) == 1:
                quarter = int(2 * c) % 4
                return self.number((0, 1, 0, -1)[quarter if name == "sin" else (quarter + 1) % 4])
        rest = add(poly, scaled(first, -ONE))
        if rest:
            if abs(c.numerator) > 8:
                raise NoNormalForm("a sine of many times an angle")
            sin, cos = self.apply("sin", first), self.apply("cos", first)
            other_sin, other_cos = self.apply("sin", rest), self.apply("cos", rest)
            if name == "sin":
                return add(self.mul(sin, other_cos), self.mul(cos, other_sin))
            return add(self.mul(cos, other_cos), scaled(self.mul(sin, other_sin), -ONE))
        if c < 0:
            plain = self.one(self.function(name, scaled(poly, -ONE)))
            return plain if name == "cos" else scaled(plain, -ONE)
        return self.one(self.function(name, poly))

    def above_zero(self, poly: Poly) -> Poly:
        """1 where a sum is above 0, else 0."""
        poly = self.cancelled(poly)
        if not poly:
            raise NoNormalForm("a step where it jumps")
        if self.is_positive(poly):
            return self.number(1)
        switch = _switch(poly)
        if switch and all(any(atom is switch for atom, _ in mono) for mono in poly):
            # Where it is 0, so is the sum.
            return self.mul(self.one(switch), self.above_zero(_switched_on(poly, switch)))
        _, _, rest = self._primitive(poly, of_any_sign=False)
        return self.one(self.of_sum("h", "step", rest))

    def _over_positive(self, poly: Poly) -> bool:
        """Whether all denominators in a sum are above 0."""
        return all(
            self.above(atom, 1) for mono in poly for atom, e in mono if atom.kind == "p" and e < 0
        )

    # -- signs -----------------------------------------------------------------

    def is_positive(self, poly: Poly) -> bool:
        """Whether a sum is seen to be above 0."""
        if self.never_negative(poly) and any(
            all(self.above(atom, e) for atom, e in mono) for mono in poly
        ):
            return True
        return poly_text(poly) in self.positive

    def never_negative(self, poly: Poly) -> bool:
        """Whether a sum is seen not to be below 0."""
        return bool(poly) and all(
            c > 0 and all(self.above(atom, e) or self._not_below(atom, e) for atom, e in mono)
            for mono, c in poly.items()
        )

    def above(self, atom: Atom, e: Exponent) -> bool:
        """Whether a power of an atom is seen to be above 0."""
        match atom.kind:
            case "e" | "s" | "q" | "i" | "c":
                return True
            case "S":
                return (
                    all(
                        self.above(inner, k) or (len(atom.data[0]) == 1 and _meets(inner))
                        for inner, k in atom.data[1]
                    )
                    and sum(inner.kind == "m" for inner, _ in atom.data[1]) <= 1
                )
            case "p":
                return self.is_positive(dict(atom.data))
            case "x":
                return atom.data[0] in self.positive or atom.text in self.positive
        return atom.text in self.positive

    def _not_below(self, atom: Atom, e: Exponent) -> bool:
        if atom.kind in BOOLEAN:
            return True
        if atom.kind == "S":
            return all(self.above(a, k) or self._not_below(a, k) for a, k in atom.data[1])
        return (isinstance(e, int) and e % 2 == 0) or isinstance(e, Fraction)

    # -- quotients -------------------------------------------------------------

    def cleared(self, poly: Poly) -> tuple[Poly, list[tuple[Atom, int]]]:
        """A sum times its denominators, and these with their exponents."""
        below: list[tuple[Atom, int]] = []
        for _ in range(_ROUNDS):
            lowest: dict[Atom, Fraction] = {}
            for mono in poly:
                for base, e in mono:
                    if base.kind == "p" and e < 0:
                        lowest[base] = min(lowest.get(base, Fraction(0)), Fraction(e))
            if not lowest:
                return poly, below
            base = max(lowest, key=lambda atom: (atom.height, len(atom.text), atom.text))
            by = -floor(lowest[base])
            below.append((base, by))
            poly = self._multiplied(poly, base, by)
        raise NoNormalForm("too many denominators")

    def _multiplied(self, poly: Poly, base: Atom, by: int) -> Poly:
        """A sum times a power of a base; what cancels is not multiplied out first."""
        return summed(
            self.mul(
                {without(mono, base): c},
                self.raised(dict(base.data), dict(mono).get(base, 0) + by),
            )
            for mono, c in poly.items()
        )

    def cancelled(self, poly: Poly) -> Poly:
        """The sum with quotients cancelled as far as one leading term shows it.

        With ``v = 1/p`` and ``m`` the leading term of ``p = a m + r``, ``m v`` is
        ``(1 - r v) / a``.
        """
        if not any(atom.kind == "p" for mono in poly for atom, _ in mono):
            return poly
        todo, rounds = dict(poly), 0
        reduced: Poly = {}
        while todo:
            mono, c = todo.popitem()
            step = self._cancelled(mono)
            if step is None:
                put_into(reduced, mono, c)
                continue
            rounds += 1
            if rounds > _REDUCTIONS:
                raise NoNormalForm("too many quotients")
            todo = dict(add(todo, scaled(step, c)))
        return reduced

    def _cancelled(self, mono: Mono) -> Poly | None:
        here = dict(mono)
        for atom, e in mono:
            if atom.kind != "p" or e > 0:
                continue
            base: Poly = dict(atom.data)
            leading = max(base, key=size_of)
            if not leading or not all(here.get(a, 0) >= k > 0 for a, k in leading):
                continue
            left = self.mul({mono: ONE}, {tuple((a, -k) for a, k in leading): ONE})
            rest = {key: c for key, c in base.items() if key != leading}
            raised = self.mul(left, self.one(atom))
            return scaled(add(raised, scaled(self.mul(left, rest), -ONE)), 1 / base[leading])
        return None


def _meets(atom: Atom) -> bool:
    """Whether a comparison of one summed index holds somewhere: at the first place or the last."""
    if atom.kind != "m":
        return False
    (first, *more), (second, *other) = atom.data
    return (first[0] == "@") != (second[0] == "@") and [*more, *other] == [0, (), 0, ()]


def _switch(poly: Poly) -> Atom | None:
    """Something in a sum that is 0 or 1."""
    return next((atom for mono in poly for atom, _ in mono if atom.kind in BOOLEAN), None)


def _switched_on(poly: Poly, switch: Atom) -> Poly:
    """A sum where something in it is 1."""
    return summed({without(mono, switch): c} for mono, c in poly.items())


def size_of(mono: Mono) -> tuple[Fraction, list[tuple[str, Exponent]]]:
    """An order of products that multiplying keeps: by degree, then by the last atoms."""
    degree = Fraction(sum((e * _weight(atom) for atom, e in mono), Fraction(0)))
    return degree, [(atom.text, e) for atom, e in reversed(mono)]


def _weight(atom: Atom) -> Fraction:
    """How much an atom counts: a sum as much as what is summed, and more."""
    if atom.kind in "pdm":
        return Fraction(0)
    if atom.kind == "S":
        return 1 + sum((e * _weight(inner) for inner, e in atom.data[1]), Fraction(0))
    return ONE


def _primes(value: Fraction) -> dict[int, int]:
    """The primes of a rational number above 0, with their exponents."""
    import flint

    if max(value.numerator, value.denominator) > _LARGEST:
        raise NoNormalForm("the primes of a large number")
    exponents: dict[int, int] = {}
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        if number > 1:
            for prime, e in flint.fmpz(number).factor():
                exponents[int(prime)] = sign * e
    return exponents


Names = Mapping[str, At]
_Terms = Sequence[tuple[Mono, Fraction]]


def matches(
    pattern: list[tuple[Atom, Exponent]], mono: Mono, names: Names, free: Set[str]
) -> Iterator[tuple[Names, Mono]]:
    """The ways in which a product is a part of another: names for its indices, and the rest."""
    if not pattern:
        yield names, mono
        return
    (atom, e), *others = pattern
    for target, k in mono:
        if (k < e) if e > 0 else (k > e):
            continue
        bound = _unified(atom, target, names, free)
        if bound is None:
            continue
        rest = tuple((a, b - e if a is target else b) for a, b in mono if a is not target or b != e)
        yield from matches(others, rest, bound, free)


def _unified(atom: Atom, target: Atom, names: Names, free: Set[str]) -> Names | None:
    if atom is target and atom.names.isdisjoint(free):
        return names
    if atom.kind != target.kind:
        return None
    match atom.kind:
        case "x" if atom.data[0] != target.data[0] or len(atom.data[1]) != len(target.data[1]):
            return None
        case "x" | "d" | "i":
            return _places(places_of(atom), places_of(target), names, free)
        case "S" if atom.data[0] == target.data[0] and atom.height == target.height:
            return next(_wholly(atom.data[1], target.data[1], names, free), None)
        case "f" if atom.data[0] == target.data[0]:
            return _sums(atom.data[1], target.data[1], names, free)
        case "e" if len(atom.data) == len(target.data):
            return next(_wholly(atom.data, target.data, names, free), None)
    return None


def _wholly(pattern: Mono, mono: Mono, names: Names, free: Set[str]) -> Iterator[Names]:
    """The names that make a product another."""
    return (bound for bound, rest in matches(list(pattern), mono, names, free) if not rest)


def _sums(pattern: _Terms, terms: _Terms, names: Names, free: Set[str]) -> Names | None:
    """Names that make a sum another, term by term as they stand."""
    if len(pattern) != len(terms):
        return None
    if not pattern:
        return names
    (mono, c), *others = pattern
    (target, k), *left = terms
    if c != k or len(mono) != len(target):
        return None
    ways = (_sums(others, left, bound, free) for bound in _wholly(mono, target, names, free))
    return next((way for way in ways if way is not None), None)


def _places(
    pattern: Sequence[At], places: Sequence[At], names: Names, free: Set[str]
) -> Names | None:
    bound = dict(names)
    for mine, theirs in zip(pattern, places, strict=True):
        if mine[0] not in free:
            if mine != theirs:
                return None
            continue
        if mine[2]:
            if theirs[2][-len(mine[2]) :] != mine[2]:
                return None
            theirs = (theirs[0], theirs[1], theirs[2][: -len(mine[2])])
        if mine[1] and theirs[2]:
            return None
        at = (theirs[0], theirs[1] - mine[1], theirs[2])
        if bound.setdefault(mine[0], at) != at:
            return None
    return bound
