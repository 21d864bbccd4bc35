"""The table of rules that need a choice; those for powers and functions, deltas and comparisons."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias, TypeVar, assert_never

from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.computing import Computing, Rule, primes
from symattn.calculus.kernel.germs import ADDITION
from symattn.calculus.kernel.kinds import Atom, Exponent, Mono, Place
from symattn.calculus.kernel.signs import Relation, Sign
from symattn.calculus.kernel.terms import (
    Poly,
    Unproved,
    base_of,
    divides,
    inverse,
    is_index,
    merged,
    number,
    ordered,
    power,
    single,
    summed,
    without,
)
from symattn.calculus.language import Index
from symattn.expressions.elementary import ELEMENTARY

# -- the table of all rules that need a choice -------------------------------------------
# Each row is a lemma: its name, an instance of what it says, in the language of derivations, and
# the function that applies it, which raises :class:`Unproved` where it does not apply. What a rule
# needs it notes (:meth:`Signs.need`), so that a line that is proved by it holds where that is so.
# What it says is proved by it, and tried at numbers, whenever the tests are run.

MOST_WRITTEN = 12
"""Sums over axes of fixed length are written out up to this, and places shifted."""

RULES: dict[str, Rule] = {}
"""All rules by name."""


def rule(each: Rule) -> Rule:
    """Put a rule into the table."""
    RULES[each.__name__.rstrip("_")] = each
    return each


AnyKind = TypeVar("AnyKind", bound=kinds.Kind)
Applied: TypeAlias = kinds.Function | kinds.Bracket | kinds.Positive


def of_kind(atom: Atom, kind: type[AnyKind]) -> AnyKind:
    """An atom, which has to be of a kind."""
    if not isinstance(atom, kind):
        raise Unproved("this rule is for another kind of term")
    return atom


def only(mono: Mono, kind: type[AnyKind]) -> tuple[AnyKind, Exponent]:
    """The one power of an atom that a product is."""
    check(len(mono) == 1)
    return of_kind(mono[0][0], kind), mono[0][1]


def _applied(mono: Mono) -> tuple[Applied, Exponent]:
    """The one power of a function of a term that a product is."""
    match mono:
        case ((kinds.Function() | kinds.Bracket() | kinds.Positive() as atom, e),):
            return atom, e
    raise Unproved("this rule is for another kind of term")


def check(condition: bool, what: str = "this rule does not apply") -> None:
    """Refuse a rule where a condition does not hold."""
    if not condition:
        raise Unproved(what)


# -- power rules -------------------------------------------------------------------------

_MOST_CLEARED = 64


@rule
def boolean(kernel: Computing, mono: Mono, switch: Atom) -> Poly:
    """``sin(a + step(0 < t) * b) == sin(a) + step(0 < t) * (sin(a + b) - sin(a))``, and so of any
    function, where what stands for the step is 0 or 1."""
    atom, e = _applied(mono)
    if not isinstance(switch, kinds.Boolean):
        check(kernel.settled(((switch, 2),)) == power(switch))
    of = Poly(atom.of)
    check(all(dict(m).get(switch, 1) == 1 for m in of))
    off = _function(kernel, atom, e, of.at(switch, 0))
    on = _function(kernel, atom, e, of.at(switch, 1))
    return off + kernel.mul(power(switch), on - off)


def _function(kernel: Computing, atom: Applied, e: Exponent, of: Poly) -> Poly:
    """The function that an atom is, of something else."""
    match atom:
        case kinds.Bracket():
            return kernel.raised(of, e)
        case kinds.Positive():
            return kernel.raised(kernel.function("positive", of), e) if of else of
        case kinds.Function(name):
            return kernel.raised(kernel.function(name, of), e)
    assert_never(atom)


@rule
def inside(kernel: Computing, mono: Mono, steps: tuple[tuple[Mono, Atom, Mono], ...]) -> Poly:
    """``sin((a * b + a * t) / (b + t)) == sin(a)``: quotients cancelled in an argument."""
    atom, e = _applied(mono)
    of = Poly(atom.of)
    for product, base, leading in steps:
        c = of.get(product, Fraction(0))
        of = of - single(product, c) if c else of
        of = of + divided(kernel, product, base, leading) * c
    return _function(kernel, atom, e, of)


def divided(kernel: Computing, mono: Mono, base: Atom, leading: Mono) -> Poly:
    """With ``v = 1/p`` and ``p = a m + r``: ``m v`` is ``(1 - r v) / a``."""
    poly: Poly = Poly(of_kind(base, kinds.Bracket).of)
    check(leading in poly and bool(leading))
    kernel.need("!=", poly)
    check(divides(leading, mono))
    left = single(merged((*mono, *inverse(leading))))
    rest = poly - single(leading, poly[leading])
    raised = kernel.mul(left, power(base))
    return (raised - kernel.mul(left, rest)) * (1 / poly[leading])


@rule
def factor(kernel: Computing, mono: Mono, data: tuple[Fraction, Mono]) -> Poly:
    """``sqrt(4 * exp(2 * a) * b) == 2 * exp(a) * sqrt(b)``, and of other powers: of a root each
    factor taken out is above 0, or an even power."""
    atom, e = only(mono, kinds.Bracket)
    content, shared = Fraction(data[0]), data[1]
    with kernel.apart() as own:
        _need_parts(kernel, shared)
    with kernel.apart() as conditions:
        poly = _parted(kernel, Poly(atom.of), content, shared)
    # Where a factor of all parts is 0 so is the base, and a quotient by it is taken to be 0.
    parts_of = [dict(m) for m, _ in atom.of]
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
            kernel.need(">" if k < 0 or e < 0 else ">=", base_of(inner))
        parts.append(kernel.raised(power(inner), Fraction(k) * e))
    if poly == number(1):
        rest = number(1)
    elif len(poly) == 1 and isinstance(e, Fraction):
        rest = power(kernel.atom(kinds.Bracket, poly.frozen()), e)
    else:
        rest = kernel.raised(poly, e) if shared or content != 1 else power(atom, e)
    if isinstance(e, Fraction):
        check(content > 0)
    return kernel.product([kernel.raised(number(content), e), *parts, rest])


def _need_parts(kernel: Computing, shared: Mono) -> None:
    for atom, _e in shared:
        kernel.need("!=", base_of(atom))


def _parted(kernel: Computing, poly: Poly, content: Fraction, shared: Mono) -> Poly:
    """Return what is left of a term when factors are taken out of it."""
    check(content != 0)
    _need_parts(kernel, shared)
    return kernel.mul(poly, single(inverse(shared), 1 / content))


@rule
def magnitude(kernel: Computing, mono: Mono, _: None) -> Poly:
    """``sqrt(3 * a**2) == sqrt(3) * a * (2 * step(0 < a) - 1)``."""
    atom, e = only(mono, kinds.Bracket)
    ((square, c),) = atom.of
    check(e == Fraction(1, 2) and c > 0 and all(k % 2 == 0 for _, k in square))
    of: Poly = kernel.settled(tuple((inner, k // 2) for inner, k in square))
    sign = kernel.function("positive", of) * 2 - 1
    return kernel.product([kernel.raised(number(c), e), of, sign])


@rule
def denominator(kernel: Computing, mono: Mono, data: tuple[Atom, int]) -> Poly:
    """``log(a + 1 / (b + t)) == log(a * (b + t) + 1) - log(b + t)``, and of powers: of what stands
    above and below."""
    atom, e = _applied(mono)
    below, k = of_kind(data[0], kinds.Bracket), data[1]
    check(k > 0)
    base, of = base_of(below), Poly(atom.of)
    above = cleared(kernel, of, below, k)
    relations: tuple[Relation, ...] = (">", "!=")
    for relation in relations:
        if kernel.is_met(relation, of) and kernel.is_met(relation, base):
            kernel.know([Sign(relation, above.frozen())])
    if isinstance(atom, kinds.Bracket):
        if isinstance(e, Fraction):
            kernel.need(">", base)
        return kernel.mul(kernel.raised(above, e), kernel.raised(base, -k * Fraction(e)))
    check(isinstance(atom, kinds.Function) and atom.name == "log" and e == 1)
    kernel.need(">", base)
    return kernel.function("log", above) - kernel.function("log", base) * k


def cleared(kernel: Computing, poly: Poly, below: Atom, k: int) -> Poly:
    """A term times a power of what stands below in it."""
    check(0 < k <= _MOST_CLEARED and any(below is atom for mono in poly for atom, _ in mono))
    base: Poly = Poly(of_kind(below, kinds.Bracket).of)
    kernel.need("!=", base)

    def times_power(mono: Mono) -> Poly:
        raised = kernel.raised(base, Fraction(dict(mono).get(below, 0)) + k)
        return kernel.mul(single(without(mono, below)), raised)

    return summed(times_power(mono) * c for mono, c in poly.items())


@rule
def logarithm(kernel: Computing, mono: Mono, data: tuple[Fraction, Mono]) -> Poly:
    """``log(6 * exp(a) * b) == log(2) + log(3) + a + log(b)`` where these are above 0."""
    atom, e = only(mono, kinds.Function)
    content, shared = Fraction(data[0]), data[1]
    check(atom.name == "log" and e == 1 and content > 0)
    rest = _parted(kernel, Poly(atom.of), content, shared)
    kernel.need(">", Poly(atom.of))
    primary = (
        power(kernel.atom(kinds.Function, "log", number(prime).frozen())) * k
        for prime, k in primes(content).items()
    )
    total = summed(primary)
    for inner, k in shared:
        kernel.need(">", base_of(inner))
        match inner:
            case kinds.Function("exp", of):
                part = Poly(of)
            case _:
                part = kernel.function("log", base_of(inner))
        total = total + part * Fraction(k)
    return total if rest == number(1) else total + kernel.function("log", rest)


@rule
def angle(kernel: Computing, mono: Mono, part: tuple[Mono, Fraction]) -> Poly:
    """``sin(a + b) == sin(a) * cos(b) + cos(a) * sin(b)``,
    ``cos(a + b) == cos(a) * cos(b) - sin(a) * sin(b)``."""
    atom, e = only(mono, kinds.Function)
    check(atom.name in ADDITION and e == 1)
    first = single(part[0], Fraction(part[1]))
    rest = Poly(atom.of) - first
    check(bool(rest) and bool(first))
    return summed(
        kernel.mul(kernel.function(outer, first), kernel.function(inner, rest)) * sign
        for outer, inner, sign in ADDITION[atom.name]
    )


@rule
def quarter(kernel: Computing, mono: Mono, _: None) -> Poly:
    """``sin(pi / 2) == 1``, ``cos(pi) == -1``, and so of all quarters of a turn."""
    atom, e = only(mono, kinds.Function)
    ((key, c),) = atom.of
    check(atom.name in ("sin", "cos") and only(key, kinds.Constant)[1] == e == 1)
    check((2 * c).denominator == 1)
    turn = int(2 * c) % 4
    return number((0, 1, 0, -1)[turn if atom.name == "sin" else (turn + 1) % 4])


@rule
def parity(kernel: Computing, mono: Mono, _: None) -> Poly:
    """``sin(-a) == -sin(a)``, ``cos(-a) == cos(a)``, and so of all odd and even functions."""
    atom, e = only(mono, kinds.Function)
    of = ELEMENTARY[atom.name]
    check(of.parity != "" and e == 1)
    other = kernel.function(atom.name, -Poly(atom.of))
    return other if of.parity == "even" else -other


@rule
def pythagoras(kernel: Computing, mono: Mono, cosine: Atom) -> Poly:
    """``cos(a)**2 == 1 - sin(a)**2``."""
    e, function = dict(mono)[cosine], of_kind(cosine, kinds.Function)
    if function.name != "cos" or not isinstance(e, int) or e <= 1:
        raise Unproved("this rule does not apply")
    sine = kernel.function("sin", Poly(function.of))
    square = 1 - kernel.times(sine, 2)
    rest = [*without(mono, cosine), *([(cosine, e % 2)] if e % 2 else [])]
    return kernel.mul(kernel.settled(ordered(rest)), kernel.times(square, e // 2))


@rule
def sign(kernel: Computing, mono: Mono, data: tuple[Fraction, Mono]) -> Poly:
    """``step(0 < 2 * exp(a) * b) == step(0 < b)``: factors above 0 change no step; of these alone
    it is 1."""
    atom, e = only(mono, kinds.Positive)
    content, shared = Fraction(data[0]), data[1]
    check(content > 0 and e == 1)
    for inner, k in shared:
        if k % 2:
            kernel.need(">", base_of(inner))
    rest = _parted(kernel, Poly(atom.of), content, shared)
    if kernel.is_positive(rest):
        return number(1)
    return power(kernel.atom(kinds.Positive, rest.frozen()))


@rule
def turn(kernel: Computing, mono: Mono, step: Atom) -> Poly:
    """``a * step(0 < -a) == a - a * step(0 < a)``."""
    ((base, k),) = of_kind(step, kinds.Positive).of
    check((step, 1) in mono and divides(base, mono))
    other = 1 - kernel.function("positive", single(base, -k))
    return kernel.mul(single(without(mono, step)), other)


# -- rules for deltas and comparisons of places ------------------------------------------


@rule
def transport(kernel: Computing, mono: Mono, delta: Atom) -> Poly:
    """``delta(i, k) * x[i] == delta(i, k) * x[k]``."""
    check((delta, 1) in mono)
    rest = kernel.put(single(without(mono, delta)), identified(delta))
    # What is 0 or 1 stands once in a product.
    return summed(single(ordered([*without(m, delta), (delta, 1)]), c) for m, c in rest.items())


def identity(delta: kinds.Delta) -> dict[Index, Place]:
    """An index that a delta says to be another place, and that place, if there is one."""
    for at, other in ((delta.second, delta.first), (delta.first, delta.second)):
        if isinstance(at[0], Index) and is_index(at) and other[0] != at[0]:
            return {at[0]: other}
    return {}


def identified(delta: Atom) -> dict[Index, Place]:
    """The same of a delta that has to say it."""
    found = identity(of_kind(delta, kinds.Delta))
    check(bool(found), "a delta of no index")
    return found


@rule
def antisymmetry(kernel: Computing, mono: Mono, pair: tuple[Atom, Atom]) -> Poly:
    """``step(i <= k) * step(k <= i) * x[i] == delta(i, k) * x[k]``: both comparisons of two places
    say that they are one."""
    first, second = (of_kind(each, kinds.AtMost) for each in pair)
    check(first.places == second.places[::-1] and {(first, 1), (second, 1)} <= {*mono})
    return kernel.mul(single(without(mono, first, second)), kernel.equal(*first.places))


@rule
def transitivity(kernel: Computing, mono: Mono, three: tuple[Atom, Atom, Atom]) -> Poly:
    """``step(i <= k) * step(k <= l) * step(i <= l) * x[i] * x[l] ==
    step(i <= k) * step(k <= l) * x[i] * x[l]``: a comparison that follows from two others."""
    first, second, last = (of_kind(each, kinds.AtMost) for each in three)
    check(all((atom, 1) in mono for atom in three))
    check(first.second == second.first and last.places == (first.first, second.second))
    check(last is not first and last is not second)
    return kernel.settled(without(mono, last))


@rule
def reversal(kernel: Computing, mono: Mono, _: None) -> Poly:
    """``step(i <= k) * x[i] * y[k] == (1 + delta(i, k) - step(k <= i)) * x[i] * y[k]``."""
    atom, e = only(mono, kinds.AtMost)
    check(e == 1)
    other = kernel.at_most(atom.second, atom.first)
    return 1 + kernel.equal(atom.first, atom.second) - other


@rule
def shift(kernel: Computing, mono: Mono, _: None) -> Poly:
    """``step(i <= k + 1) * x[i] * y[k] == (step(i <= k) + delta(i, k + 1)) * x[i] * y[k]``, and so
    on."""
    atom, e = only(mono, kinds.AtMost)
    (base, a, images), (other, b, more) = atom.places
    check(e == 1 and not images and not more and base is not None and other is not None)
    by, at = b - a, (base, 0, ())
    check(abs(by) <= MOST_WRITTEN)
    total = kernel.at_most(at, (other, 0, ()))
    for k in range(abs(by)):
        met = kernel.equal(at, (other, k + 1 if by > 0 else -k, ()))
        total = total + (met if by > 0 else -met)
    return total
