"""Rules for powers and functions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symattn.calculus.kernel.computing import Computing, primes
from symattn.calculus.kernel.signs import Condition, Relation
from symattn.calculus.kernel.terms import (
    BOOLEAN,
    UNIT,
    Atom,
    Bracket,
    Exponent,
    Function,
    Mono,
    Place,
    Poly,
    Positive,
    Unproved,
    add,
    frozen,
    is_index,
    minus,
    number,
    ordered,
    plain,
    power,
    put_into,
    scaled,
    summed,
    without,
)
from symattn.calculus.language import Index

# -- the table of all rules that need a choice -------------------------------------------
# A rule is given the product that it is applied to and what it is applied with; it raises
# :class:`Unproved` where it does not apply. What it needs it notes (:meth:`Signs.need`), so that
# a line that is proved by it holds where that is so.

MOST_WRITTEN = 12
"""Sums over axes of fixed length are written out up to this, and places shifted."""

Rule = Callable[[Computing, Mono, Any], Poly]
RULES: dict[str, Rule] = {}
"""All rules by name."""


def rule(each: Rule) -> Rule:
    """Put a rule into the table."""
    RULES[each.__name__.rstrip("_")] = each
    return each


def only(mono: Mono, kinds: str) -> tuple[Atom, Exponent]:
    """The one power of an atom that a product is."""
    if len(mono) != 1 or mono[0][0].kind not in kinds:
        raise Unproved("this rule is for another kind of term")
    return mono[0]


def check(condition: bool, what: str = "this rule does not apply") -> None:
    """Refuse a rule where a condition does not hold."""
    if not condition:
        raise Unproved(what)


# -- power rules -------------------------------------------------------------------------

_MOST_CLEARED = 64


@rule
def boolean(kernel: Computing, mono: Mono, switch: Atom) -> Poly:
    """``f(a + b x) = f(a) + b (f(a + x) - f(a))`` where b is 0 or 1."""
    atom, e = only(mono, "Fph")
    if switch.kind not in BOOLEAN:
        check(kernel.settled(((switch, 2),)) == power(switch))
    of = _argument(atom)
    check(all(dict(m).get(switch, 1) == 1 for m in of))
    off = _function(kernel, atom, e, {m: c for m, c in of.items() if (switch, 1) not in m})
    on = _function(kernel, atom, e, summed({without(m, switch): c} for m, c in of.items()))
    return add(off, kernel.mul(power(switch), minus(on, off)))


def _argument(atom: Atom) -> Poly:
    return dict(atom.data[1] if atom.kind == "F" else atom.data)


def _function(kernel: Computing, atom: Atom, e: Exponent, of: Poly) -> Poly:
    """The function that an atom is, of something else."""
    if atom.kind == "p":
        return kernel.raised(of, e)
    if atom.kind == "h":
        return kernel.raised(kernel.function("positive", of), e) if of else {}
    return kernel.raised(kernel.function(atom.data[0], of), e)


@rule
def inside(kernel: Computing, mono: Mono, steps: tuple[tuple[Mono, Atom, Mono], ...]) -> Poly:
    """A function of what is equal: quotients cancelled in its argument."""
    atom, e = only(mono, "Fph")
    of = _argument(atom)
    for product, base, leading in steps:
        c = of.get(product, Fraction(0))
        of = add(of, {product: -c}) if c else of
        of = add(of, scaled(divided(kernel, product, base, leading), c))
    return _function(kernel, atom, e, of)


def divided(kernel: Computing, mono: Mono, base: Atom, leading: Mono) -> Poly:
    """With ``v = 1/p`` and ``p = a m + r``: ``m v`` is ``(1 - r v) / a``."""
    poly: Poly = dict(base.data)
    check(base.kind == "p" and leading in poly and bool(leading))
    kernel.need("!=", poly)
    powers = dict(mono)
    check(all(powers.get(atom, 0) >= k > 0 for atom, k in leading))
    for atom, k in leading:
        powers[atom] = plain(Fraction(powers[atom]) - k)
    left: Poly = {ordered((atom, k) for atom, k in powers.items() if k): UNIT}
    rest = {key: c for key, c in poly.items() if key != leading}
    raised = kernel.mul(left, power(base))
    return scaled(minus(raised, kernel.mul(left, rest)), 1 / poly[leading])


@rule
def factor(kernel: Computing, mono: Mono, data: tuple[Fraction, Mono]) -> Poly:
    """``(c a b)^e = c^e a^e b^e``; of a root each factor taken out is above 0, or an even power."""
    atom, e = only(mono, "p")
    content, shared = Fraction(data[0]), data[1]
    with kernel.apart() as own:
        _need_parts(kernel, shared)
    with kernel.apart() as conditions:
        poly, outer = _parted(kernel, dict(atom.data), content, shared)
    # Where a factor of all parts is 0 so is the base, and a quotient by it is taken to be 0.
    parts_of = [dict(m) for m, _ in atom.data]
    divides = all(
        all(part.get(a, 0) >= k for part in parts_of)
        if k > 0
        else any(part.get(a, 0) <= k for part in parts_of)
        for a, k in shared
    )
    is_root = isinstance(e, Fraction)
    kernel.conditions |= conditions if not divides or (is_root and e < 0) else conditions - own
    parts = []
    for inner, k in shared:
        if isinstance(e, Fraction) and not (k % 2 == 0 and (k * e) % 2 == 0):
            base = power(inner) if inner.kind != "p" else dict(inner.data)
            kernel.need(">" if k < 0 or e < 0 else ">=", base)
        parts.append(kernel.raised(power(inner), Fraction(k) * e))
    if poly == number(1):
        rest = number(1)
    elif len(poly) == 1 and isinstance(e, Fraction):
        rest = power(kernel.atom(Bracket, frozen(poly)), e)
    else:
        rest = kernel.raised(poly, e) if outer else power(atom, e)
    if isinstance(e, Fraction):
        check(content > 0)
    return kernel.product([kernel.raised(number(content), e), *parts, rest])


def _need_parts(kernel: Computing, shared: Mono) -> None:
    for atom, _e in shared:
        kernel.need("!=", dict(atom.data) if atom.kind == "p" else power(atom))


def _parted(kernel: Computing, poly: Poly, content: Fraction, shared: Mono) -> tuple[Poly, bool]:
    """What is left of a term when factors are taken out of it."""
    check(content != 0)
    _need_parts(kernel, shared)
    inverse: Poly = {tuple((atom, -e) for atom, e in shared): 1 / content}
    return kernel.mul(poly, inverse), bool(shared) or content != 1


@rule
def magnitude(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """``sqrt(c x^2) = sqrt(c) (2 x step(0 < x) - x)``."""
    atom, e = only(mono, "p")
    ((square, c),) = atom.data
    check(e == Fraction(1, 2) and c > 0 and all(k % 2 == 0 for _, k in square))
    of: Poly = kernel.settled(tuple((inner, k // 2) for inner, k in square))
    sign = minus(scaled(kernel.function("positive", of), 2), number(1))
    return kernel.product([kernel.raised(number(c), e), of, sign])


@rule
def denominator(kernel: Computing, mono: Mono, data: tuple[Atom, int]) -> Poly:
    """``f(a / b)`` of what stands above and below: powers and logarithms."""
    atom, e = only(mono, "Fp")
    below, k = data
    check(below.kind == "p" and k > 0)
    base: Poly = dict(below.data)
    above = cleared(kernel, _argument(atom), below, k)
    _keep_sign(kernel, _argument(atom), base, above)
    if atom.kind == "p":
        if isinstance(e, Fraction):
            kernel.need(">", base)
        return kernel.mul(kernel.raised(above, e), kernel.raised(base, -k * Fraction(e)))
    check(atom.data[0] == "log")
    kernel.need(">", base)
    parted = minus(kernel.function("log", above), scaled(kernel.function("log", base), k))
    check(e == 1)
    return parted


def _keep_sign(kernel: Computing, of: Poly, factor: Poly, product: Poly) -> None:
    """Know the sign of what is a product of two terms whose signs are known."""
    relations: tuple[Relation, ...] = (">", "!=")
    for relation in relations:
        if kernel.is_met(relation, of) and kernel.is_met(relation, factor):
            kernel.know([Condition(relation, frozen(product))])


def cleared(kernel: Computing, poly: Poly, below: Atom, k: int) -> Poly:
    """A term times a power of what stands below in it."""
    check(0 < k <= _MOST_CLEARED and any(below is atom for mono in poly for atom, _ in mono))
    kernel.need("!=", dict(below.data))
    return summed(
        scaled(
            kernel.mul(
                {without(mono, below): UNIT},
                kernel.raised(dict(below.data), Fraction(dict(mono).get(below, 0)) + k),
            ),
            c,
        )
        for mono, c in poly.items()
    )


@rule
def logarithm(kernel: Computing, mono: Mono, data: tuple[Fraction, Mono]) -> Poly:
    """``log(c a b) = log c + log a + log b`` where these are above 0."""
    atom, e = only(mono, "F")
    check(atom.data[0] == "log" and e == 1)
    content, shared = Fraction(data[0]), data[1]
    check(content > 0)
    rest, _ = _parted(kernel, dict(atom.data[1]), content, shared)
    kernel.need(">", dict(atom.data[1]))
    total = _log_number(kernel, content)
    for inner, k in shared:
        base = dict(inner.data) if inner.kind == "p" else power(inner)
        kernel.need(">", base)
        if inner.kind == "F" and inner.data[0] == "exp":
            part: Poly = dict(inner.data[1])
        else:
            part = kernel.function("log", base)
        total = add(total, scaled(part, Fraction(k)))
    return total if rest == number(1) else add(total, kernel.function("log", rest))


def _log_number(kernel: Computing, value: Fraction) -> Poly:
    """The logarithm of a number, by its primes."""
    return summed(
        {((kernel.atom(Function, "log", frozen(number(prime))), 1),): Fraction(k)}
        for prime, k in primes(value).items()
    )


@rule
def angle(kernel: Computing, mono: Mono, part: tuple[Mono, Fraction]) -> Poly:
    """Sine and cosine of a sum of two."""
    atom, e = only(mono, "F")
    name, of = atom.data
    check(name in ("sin", "cos") and e == 1)
    first: Poly = {part[0]: part[1]}
    rest = minus(dict(of), first)
    check(bool(rest) and bool(first))
    sines, cosines = (
        [kernel.function(each, angle) for angle in (first, rest)] for each in ("sin", "cos")
    )
    if name == "sin":
        return add(kernel.mul(sines[0], cosines[1]), kernel.mul(cosines[0], sines[1]))
    return minus(kernel.mul(cosines[0], cosines[1]), kernel.mul(sines[0], sines[1]))


@rule
def quarter(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """Sine and cosine of quarters of a turn."""
    atom, _e = only(mono, "F")
    name, of = atom.data
    ((key, c),) = of
    check(name in ("sin", "cos") and [(a.kind, k) for a, k in key] == [("c", 1)] and _e == 1)
    check((2 * c).denominator == 1)
    turn = int(2 * c) % 4
    return number((0, 1, 0, -1)[turn if name == "sin" else (turn + 1) % 4])


@rule
def parity(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """``f(-x)`` of even and odd functions."""
    atom, e = only(mono, "F")
    name, of = atom.data
    check(name in ("sin", "cos", "erf") and e == 1)
    other = kernel.function(name, scaled(dict(of), -1))
    return other if name == "cos" else scaled(other, -1)


@rule
def pythagoras(kernel: Computing, mono: Mono, cosine: Atom) -> Poly:
    """``cos^2 = 1 - sin^2``."""
    e = dict(mono)[cosine]
    check(cosine.kind == "F" and cosine.data[0] == "cos" and isinstance(e, int) and e > 1)
    sine = kernel.function("sin", dict(cosine.data[1]))
    square = minus(number(1), kernel.times(sine, 2))
    rest = [*without(mono, cosine), *([(cosine, e % 2)] if e % 2 else [])]
    return kernel.mul(
        kernel.settled(ordered(rest)) if rest else number(1), kernel.times(square, e // 2)
    )


@rule
def sign(kernel: Computing, mono: Mono, data: tuple[Fraction, Mono]) -> Poly:
    """A step of ``c a b`` is that of b where c and a are above 0; 1 where all are."""
    atom, e = only(mono, "h")
    content, shared = Fraction(data[0]), data[1]
    check(content > 0 and e == 1)
    for inner, k in shared:
        if k % 2:
            kernel.need(">", power(inner) if inner.kind != "p" else dict(inner.data))
        else:
            kernel.need("!=", power(inner))
    rest, _ = _parted(kernel, dict(atom.data), content, shared)
    if kernel.is_positive(rest):
        return number(1)
    return power(kernel.atom(Positive, frozen(rest)))


@rule
def turn(kernel: Computing, mono: Mono, step: Atom) -> Poly:
    """``x step(0 < -x) = x - x step(0 < x)``."""
    ((base, k),) = step.data
    powers = dict(mono)
    check(step.kind == "h" and (step, 1) in mono)
    check(all(powers.get(atom, 0) >= e > 0 for atom, e in base))
    other = minus(number(1), kernel.function("positive", {base: -k}))
    return kernel.mul({without(mono, step): UNIT}, other)


# -- rules for deltas and comparisons of places ------------------------------------------


@rule
def transport(kernel: Computing, mono: Mono, delta: Atom) -> Poly:
    """``delta(i, p) f(i) = delta(i, p) f(p)``."""
    check(delta.kind == "d" and (delta, 1) in mono)
    index, place = identified(delta)
    rest = kernel.put({without(mono, delta): UNIT}, {index: place})
    return _times_boolean(rest, delta)


def identified(delta: Atom) -> tuple[Index, Place]:
    """An index that a delta says to be another place, and that place."""
    first, second = delta.data
    for at, other in ((second, first), (first, second)):
        if is_index(at) and other[0] != at[0]:
            return at[0], other
    raise Unproved("a delta of no index")


def is_identity(delta: Atom) -> bool:
    """Whether a delta says that an index is another place."""
    first, second = delta.data
    ways = ((second, first), (first, second))
    return any(is_index(at) and other[0] != at[0] for at, other in ways)


def _times_boolean(poly: Poly, atom: Atom) -> Poly:
    """A term times what is 0 or 1, as it stands."""
    total: Poly = {}
    for mono, c in poly.items():
        put_into(total, ordered([*without(mono, atom), (atom, 1)]), c)
    return total


@rule
def antisymmetry(kernel: Computing, mono: Mono, pair: tuple[Atom, Atom]) -> Poly:
    """Comparisons of two places both ways: together they say that the places are one."""
    first, second = pair
    check(first.kind == second.kind == "m" and first.data == second.data[::-1])
    check((first, 1) in mono and (second, 1) in mono)
    return kernel.mul({without(mono, first, second): UNIT}, kernel.equal(*first.data))


@rule
def transitivity(kernel: Computing, mono: Mono, three: tuple[Atom, Atom, Atom]) -> Poly:
    """A comparison that follows from two others is 1 beside them."""
    first, second, last = three
    check(all(atom.kind == "m" and (atom, 1) in mono for atom in three))
    check(first.data[1] == second.data[0] and last.data == (first.data[0], second.data[1]))
    check(last is not first and last is not second)
    return kernel.settled(without(mono, last))


@rule
def reversal(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """``step(i <= k) = 1 + delta(i, k) - step(k <= i)``."""
    atom, e = only(mono, "m")
    check(e == 1)
    first, second = atom.data
    other = kernel.at_most(second, first)
    return minus(add(number(1), kernel.equal(first, second)), other)


@rule
def shift(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """``step(i <= k + 1) = step(i <= k) + delta(i, k + 1)``, and so on."""
    atom, e = only(mono, "m")
    check(e == 1)
    (base, a, images), (other, b, more) = atom.data
    check(not images and not more and base is not None and other is not None)
    by, at = b - a, (base, 0, ())
    check(abs(by) <= MOST_WRITTEN)
    total = kernel.at_most(at, (other, 0, ()))
    for k in range(abs(by)):
        met = kernel.equal(at, (other, k + 1 if by > 0 else -k, ()))
        total = add(total, met if by > 0 else scaled(met, -1))
    return total
