"""The rules that need a choice: what they make of a product, and under which conditions.

A rule is given the product that it is applied to and what it is applied with; it raises
:class:`Unproved` where it does not apply. What it needs it notes (:meth:`Signs.need`), so that a
line that is proved by it holds where that is so.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

from symattn.calculus.kernel.computing import Computing, primes
from symattn.calculus.kernel.germs import expansion
from symattn.calculus.kernel.signs import Condition, Relation
from symattn.calculus.kernel.terms import (
    BOOLEAN,
    UNIT,
    Atom,
    Exponent,
    Mono,
    Place,
    Poly,
    Unproved,
    add,
    composed,
    is_index,
    led_back,
    minus,
    number,
    ordered,
    places_of,
    plain,
    power,
    put_into,
    scaled,
    summed,
    within,
    without,
)
from symattn.calculus.language import Index

_MOST_WRITTEN = 12

Rule = Callable[[Computing, Mono, Any], Poly]
RULES: dict[str, Rule] = {}
"""All rules by name."""


def _rule(rule: Rule) -> Rule:
    RULES[rule.__name__.rstrip("_")] = rule
    return rule


def _only(mono: Mono, kinds: str) -> tuple[Atom, Exponent]:
    """The one power of an atom that a product is."""
    if len(mono) != 1 or mono[0][0].kind not in kinds:
        raise Unproved("this rule is for another kind of term")
    return mono[0]


def _check(condition: bool, what: str = "this rule does not apply") -> None:
    if not condition:
        raise Unproved(what)


# -- deltas and comparisons ----------------------------------------------------------------------


@_rule
def transport(kernel: Computing, mono: Mono, delta: Atom) -> Poly:
    """``delta(i, p) f(i) = delta(i, p) f(p)``."""
    _check(delta.kind == "d" and (delta, 1) in mono)
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


@_rule
def antisymmetry(kernel: Computing, mono: Mono, pair: tuple[Atom, Atom]) -> Poly:
    """Comparisons of two places both ways: together they say that the places are one."""
    first, second = pair
    _check(first.kind == second.kind == "m" and first.data == second.data[::-1])
    _check((first, 1) in mono and (second, 1) in mono)
    return kernel.mul({without(mono, first, second): UNIT}, kernel.equal(*first.data))


@_rule
def transitivity(kernel: Computing, mono: Mono, three: tuple[Atom, Atom, Atom]) -> Poly:
    """A comparison that follows from two others is 1 beside them."""
    first, second, last = three
    _check(all(atom.kind == "m" and (atom, 1) in mono for atom in three))
    _check(first.data[1] == second.data[0] and last.data == (first.data[0], second.data[1]))
    _check(last is not first and last is not second)
    return kernel.settled(without(mono, last))


@_rule
def reversal(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """``step(i <= k) = 1 + delta(i, k) - step(k <= i)``."""
    atom, e = _only(mono, "m")
    _check(e == 1)
    first, second = atom.data
    other = kernel.at_most(second, first)
    return minus(add(number(1), kernel.equal(first, second)), other)


@_rule
def shift(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """``step(i <= k + 1) = step(i <= k) + delta(i, k + 1)``, and so on."""
    atom, e = _only(mono, "m")
    _check(e == 1)
    (base, a, images), (other, b, more) = atom.data
    _check(not images and not more and base is not None and other is not None)
    by, at = b - a, (base, 0, ())
    _check(abs(by) <= _MOST_WRITTEN)
    total = kernel.at_most(at, (other, 0, ()))
    for k in range(abs(by)):
        met = kernel.equal(at, (other, k + 1 if by > 0 else -k, ()))
        total = add(total, met if by > 0 else scaled(met, -1))
    return total


# -- powers and functions ------------------------------------------------------------------------


@_rule
def boolean(kernel: Computing, mono: Mono, switch: Atom) -> Poly:
    """``f(a + b x) = f(a) + b (f(a + x) - f(a))`` where b is 0 or 1."""
    atom, e = _only(mono, "Fph")
    if switch.kind not in BOOLEAN:
        _check(kernel.settled(((switch, 2),)) == power(switch))
    of = _argument(atom)
    _check(all(dict(m).get(switch, 1) == 1 for m in of))
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


@_rule
def inside(kernel: Computing, mono: Mono, steps: tuple[tuple[Mono, Atom, Mono], ...]) -> Poly:
    """A function of what is equal: quotients cancelled in its argument."""
    atom, e = _only(mono, "Fph")
    of = _argument(atom)
    for product, base, leading in steps:
        c = of.get(product, Fraction(0))
        of = add(of, {product: -c}) if c else of
        of = add(of, scaled(_divided(kernel, product, base, leading), c))
    return _function(kernel, atom, e, of)


def _divided(kernel: Computing, mono: Mono, base: Atom, leading: Mono) -> Poly:
    """With ``v = 1/p`` and ``p = a m + r``: ``m v`` is ``(1 - r v) / a``."""
    poly: Poly = dict(base.data)
    _check(base.kind == "p" and leading in poly and bool(leading))
    kernel.need("!=", poly)
    powers = dict(mono)
    _check(all(powers.get(atom, 0) >= k > 0 for atom, k in leading))
    for atom, k in leading:
        powers[atom] = plain(Fraction(powers[atom]) - k)
    left: Poly = {ordered((atom, k) for atom, k in powers.items() if k): UNIT}
    rest = {key: c for key, c in poly.items() if key != leading}
    raised = kernel.mul(left, power(base))
    return scaled(minus(raised, kernel.mul(left, rest)), 1 / poly[leading])


@_rule
def factor(kernel: Computing, mono: Mono, data: tuple[Fraction, Mono]) -> Poly:
    """``(c a b)^e = c^e a^e b^e``; of a root each factor taken out is above 0, or an even power."""
    atom, e = _only(mono, "p")
    content, shared = data
    with kernel.apart() as conditions:
        poly, outer = _parted(kernel, dict(atom.data), content, shared)
    # Where a factor of all parts is 0 so is the base, and a quotient by it is taken to be 0.
    if isinstance(e, Fraction):
        kernel.conditions |= {each for each in conditions if e < 0 or each.relation != "!="}
    elif not all(dict(m).get(a, 0) >= k for m, _ in atom.data for a, k in shared):
        kernel.conditions |= conditions
    parts = []
    for inner, k in shared:
        if isinstance(e, Fraction) and not (k % 2 == 0 and (k * e) % 2 == 0):
            base = power(inner) if inner.kind != "p" else dict(inner.data)
            kernel.need(">" if k < 0 or e < 0 else ">=", base)
        parts.append(kernel.raised(power(inner), Fraction(k) * e))
    if poly == number(1):
        rest = number(1)
    elif len(poly) == 1 and isinstance(e, Fraction):
        rest = power(kernel.atom("p", frozenset(poly.items())), e)
    else:
        rest = kernel.raised(poly, e) if outer else power(atom, e)
    if isinstance(e, Fraction):
        _check(content > 0)
    return kernel.product([kernel.raised(number(content), e), *parts, rest])


def _parted(kernel: Computing, poly: Poly, content: Fraction, shared: Mono) -> tuple[Poly, bool]:
    """What is left of a term when factors are taken out of it."""
    _check(content != 0)
    for atom, _e in shared:
        base = dict(atom.data) if atom.kind == "p" else power(atom)
        kernel.need("!=", base)
    inverse: Poly = {tuple((atom, -e) for atom, e in shared): 1 / content}
    return kernel.mul(poly, inverse), bool(shared) or content != 1


@_rule
def magnitude(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """``sqrt(c x^2) = sqrt(c) (2 x step(0 < x) - x)``."""
    atom, e = _only(mono, "p")
    ((square, c),) = atom.data
    _check(e == Fraction(1, 2) and c > 0 and all(k % 2 == 0 for _, k in square))
    of: Poly = kernel.settled(tuple((inner, k // 2) for inner, k in square))
    sign = minus(scaled(kernel.function("positive", of), 2), number(1))
    return kernel.product([kernel.raised(number(c), e), of, sign])


@_rule
def denominator(kernel: Computing, mono: Mono, data: tuple[Atom, int]) -> Poly:
    """``f(a / b)`` of what stands above and below: powers and logarithms."""
    atom, e = _only(mono, "Fp")
    below, k = data
    _check(below.kind == "p" and k > 0)
    base: Poly = dict(below.data)
    above = cleared(kernel, _argument(atom), below, k)
    _keep_sign(kernel, _argument(atom), base, above)
    if atom.kind == "p":
        if isinstance(e, Fraction):
            kernel.need(">", base)
        return kernel.mul(kernel.raised(above, e), kernel.raised(base, -k * Fraction(e)))
    _check(atom.data[0] == "log")
    kernel.need(">", base)
    parted = minus(kernel.function("log", above), scaled(kernel.function("log", base), k))
    _check(e == 1)
    return parted


def _keep_sign(kernel: Computing, of: Poly, factor: Poly, product: Poly) -> None:
    """Know the sign of what is a product of two terms whose signs are known."""
    relations: tuple[Relation, ...] = (">", "!=")
    for relation in relations:
        if kernel.is_met(relation, of) and kernel.is_met(relation, factor):
            kernel.know([Condition(relation, frozenset(product.items()))])


def cleared(kernel: Computing, poly: Poly, below: Atom, k: int) -> Poly:
    """A term times a power of what stands below in it."""
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


@_rule
def logarithm(kernel: Computing, mono: Mono, data: tuple[Fraction, Mono]) -> Poly:
    """``log(c a b) = log c + log a + log b`` where these are above 0."""
    atom, e = _only(mono, "F")
    _check(atom.data[0] == "log" and e == 1)
    content, shared = data
    _check(content > 0)
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
        {((kernel.atom("F", ("log", frozenset({((), Fraction(prime))}))), 1),): Fraction(k)}
        for prime, k in primes(value).items()
    )


@_rule
def angle(kernel: Computing, mono: Mono, part: tuple[Mono, Fraction]) -> Poly:
    """Sine and cosine of a sum of two."""
    atom, e = _only(mono, "F")
    name, of = atom.data
    _check(name in ("sin", "cos") and e == 1)
    first: Poly = {part[0]: part[1]}
    rest = minus(dict(of), first)
    _check(bool(rest) and bool(first))
    sines, cosines = (
        [kernel.function(each, angle) for angle in (first, rest)] for each in ("sin", "cos")
    )
    if name == "sin":
        return add(kernel.mul(sines[0], cosines[1]), kernel.mul(cosines[0], sines[1]))
    return minus(kernel.mul(cosines[0], cosines[1]), kernel.mul(sines[0], sines[1]))


@_rule
def quarter(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """Sine and cosine of quarters of a turn."""
    atom, _e = _only(mono, "F")
    name, of = atom.data
    ((key, c),) = of
    _check(name in ("sin", "cos") and [(a.kind, k) for a, k in key] == [("c", 1)] and _e == 1)
    _check((2 * c).denominator == 1)
    turn = int(2 * c) % 4
    return number((0, 1, 0, -1)[turn if name == "sin" else (turn + 1) % 4])


@_rule
def parity(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """``f(-x)`` of even and odd functions."""
    atom, e = _only(mono, "F")
    name, of = atom.data
    _check(name in ("sin", "cos", "erf") and e == 1)
    other = kernel.function(name, scaled(dict(of), -1))
    return other if name == "cos" else scaled(other, -1)


@_rule
def pythagoras(kernel: Computing, mono: Mono, cosine: Atom) -> Poly:
    """``cos^2 = 1 - sin^2``."""
    e = dict(mono)[cosine]
    _check(cosine.kind == "F" and cosine.data[0] == "cos" and isinstance(e, int) and e > 1)
    sine = kernel.function("sin", dict(cosine.data[1]))
    square = minus(number(1), kernel.times(sine, 2))
    rest = [*without(mono, cosine), *([(cosine, e % 2)] if e % 2 else [])]
    return kernel.mul(
        kernel.settled(ordered(rest)) if rest else number(1), kernel.times(square, e // 2)
    )


@_rule
def sign(kernel: Computing, mono: Mono, data: tuple[Fraction, Mono]) -> Poly:
    """A step of ``c a b`` is that of b where c and a are above 0; 1 where all are."""
    atom, e = _only(mono, "h")
    content, shared = data
    _check(content > 0 and e == 1)
    for inner, k in shared:
        if k % 2:
            kernel.need(">", power(inner) if inner.kind != "p" else dict(inner.data))
        else:
            kernel.need("!=", power(inner))
    rest, _ = _parted(kernel, dict(atom.data), content, shared)
    if kernel.is_positive(rest):
        return number(1)
    return power(kernel.atom("h", frozenset(rest.items())))


@_rule
def turn(kernel: Computing, mono: Mono, step: Atom) -> Poly:
    """``x step(0 < -x) = x - x step(0 < x)``."""
    ((base, k),) = step.data
    powers = dict(mono)
    _check(step.kind == "h" and (step, 1) in mono)
    _check(all(powers.get(atom, 0) >= e > 0 for atom, e in base))
    other = minus(number(1), kernel.function("positive", {base: -k}))
    return kernel.mul({without(mono, step): UNIT}, other)


# -- sums ----------------------------------------------------------------------------------------


def _sum(mono: Mono) -> Atom:
    atom, e = _only(mono, "S")
    _check(e == 1)
    return atom


@_rule
def collapse(kernel: Computing, mono: Mono, k: int) -> Poly:
    """The sum over a delta: its index is the other place, where there is such a place."""
    atom = _sum(mono)
    axes = atom.data[0]
    with kernel.inside(*axes) as variables:
        body = kernel.summands(atom, variables)
        own = variables[k]
        for delta, e in body:
            if delta.kind == "d" and e == 1 and own in delta.free:
                place = _solved(delta, own)
                if place is not None:
                    break
        else:
            raise Unproved("no delta of that index")
        value = kernel.put({without(body, delta): UNIT}, {own: composed(*place)})
        value = kernel.mul(kernel.is_there(axes[k], place[0]), value)
        return kernel.sum(tuple(each for each in variables if each is not own), value)


def _solved(delta: Atom, own: Index) -> tuple[Place, tuple[tuple[str, int], ...]] | None:
    """The place that a delta gives an index, and through which permutations."""
    first, second = delta.data
    for at, other in ((first, second), (second, first)):
        if at[:2] == (own, 0) and other[0] is not own:
            return other, led_back(at[2])
    return None


@_rule
def written(kernel: Computing, mono: Mono, k: int) -> Poly:
    """A sum over an axis of known length, term by term."""
    atom = _sum(mono)
    axis = atom.data[0][k]
    _check(isinstance(axis, int) and axis <= _MOST_WRITTEN)
    with kernel.inside(*atom.data[0]) as variables:
        own = variables[k]
        body = {kernel.summands(atom, variables): UNIT}
        total = summed(kernel.put(body, {own: (None, at, ())}) for at in range(1, axis + 1))
        return kernel.sum(tuple(each for each in variables if each is not own), total)


@_rule
def flatten(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """Sums inside of a sum become sums over more indices."""
    atom = _sum(mono)
    with kernel.inside(*atom.data[0]) as variables:
        return _flattened(kernel, kernel.summands(atom, variables), variables)


def _flattened(kernel: Computing, body: Mono, variables: tuple[Index, ...]) -> Poly:
    inner = [pair for pair in body if pair[0].kind == "S" and isinstance(pair[1], int)]
    inner = [(each, e) for each, e in inner if e > 0]
    axes = [axis for each, e in inner for axis in each.data[0] * int(e)]
    rest: Poly = {without(body, *(each for each, _ in inner)): UNIT}
    with kernel.inside(*axes) as more:
        left = list(more)
        for each, e in inner:
            for _ in range(int(e)):
                own = tuple(left.pop(0) for _ in each.data[0])
                rest = kernel.mul(rest, {kernel.summands(each, own): UNIT})
        return kernel.sum((*variables, *more), rest)


@_rule
def split(kernel: Computing, mono: Mono, groups: tuple[tuple[int, ...], ...]) -> Poly:
    """Sums over indices that no factor has in common: their product."""
    atom = _sum(mono)
    with kernel.inside(*atom.data[0]) as variables:
        body = kernel.summands(atom, variables)
        product = number(1)
        used: list[int] = []
        for group in groups:
            own = tuple(variables[k] for k in group)
            used += group
            mine = tuple(pair for pair in body if not pair[0].free.isdisjoint(own))
            others = set(variables) - set(own)
            _check(all(pair[0].free.isdisjoint(others) for pair in mine))
            product = kernel.mul(product, kernel.sum(own, {mine: UNIT}))
        _check(sorted(used) == list(range(len(variables))))
        return product


@_rule
def exchange(kernel: Computing, mono: Mono, order: tuple[int, ...]) -> Poly:
    """The same sum with its indices in another order."""
    atom = _sum(mono)
    _check(sorted(order) == list(range(len(atom.data[0]))))
    with kernel.inside(*atom.data[0]) as variables:
        body = kernel.summands(atom, variables)
        with kernel.inside(*(variables[k].size for k in order)) as arranged:
            to = {variables[k]: (new, 0, ()) for k, new in zip(order, arranged, strict=True)}
            ((moved, c),) = kernel.put({body: UNIT}, to).items()
            axes = tuple(each.size for each in arranged)
            other = kernel.atom("S", (axes, kernel.closed(moved, arranged)))
            # What is its own negative is 0.
            return {} if other is atom and c < 0 else scaled(power(other), c)


@_rule
def nest(kernel: Computing, mono: Mono, group: tuple[int, ...]) -> Poly:
    """What depends on some indices only is summed over these first."""
    atom = _sum(mono)
    with kernel.inside(*atom.data[0]) as variables:
        body = kernel.summands(atom, variables)
        _check(len({*group}) == len(group) and {*group} <= {*range(len(variables))})
        own = tuple(variables[k] for k in group)
        others = tuple(each for each in variables if each not in own)
        mine = tuple(pair for pair in body if not pair[0].free.isdisjoint(own))
        rest: Poly = {tuple(pair for pair in body if pair not in mine): UNIT}
        return kernel.sum(others, kernel.mul(rest, kernel.sum(own, {mine: UNIT})))


def _images_of(body: Mono, own: Index) -> set[str]:
    """The permutations that an index goes through in a product: those of its axis."""
    atoms = (inner for atom, _ in body for inner in within(atom))
    places = (at for inner in atoms for at in places_of(inner) if at[0] is own)
    return {name for at in places for name, _ in at[2]}


@_rule
def permuted(kernel: Computing, mono: Mono, data: tuple[int, tuple[tuple[str, int], ...]]) -> Poly:
    """The sum over all ``pi(j)`` is the sum over all j."""
    k, images = data
    atom = _sum(mono)
    with kernel.inside(*atom.data[0]) as variables:
        _check(0 <= k < len(variables))
        summand = kernel.summands(atom, variables)
        _check({name for name, _ in images} <= _images_of(summand, variables[k]))
        moved = kernel.put({summand: UNIT}, {variables[k]: (variables[k], 0, images)})
        return kernel.sum(variables, moved)


def _comparison_of(body: Mono, variables: tuple[Index, ...], pair: tuple[int, int]) -> Atom:
    """The comparison of two indices of a sum."""
    at = tuple((variables[k], 0, ()) for k in pair)
    for atom, e in body:
        if atom.kind == "m" and atom.data == at and e == 1:
            return atom
    raise Unproved("no comparison of these indices")


@_rule
def reversed_(kernel: Computing, mono: Mono, pair: tuple[int, int]) -> Poly:
    """A sum with one comparison of two of its indices in the other order."""
    atom = _sum(mono)
    with kernel.inside(*atom.data[0]) as variables:
        body = kernel.summands(atom, variables)
        compared = _comparison_of(body, variables, pair)
        first, second = compared.data
        other = power(kernel.atom("m", (second, first)))
        turned = minus(add(number(1), kernel.equal(first, second)), other)
        return kernel.sum(variables, kernel.mul({without(body, compared): UNIT}, turned))


@_rule
def halved(kernel: Computing, mono: Mono, pair: tuple[int, int]) -> Poly:
    """Pairs of places that may be exchanged: half of all pairs, and half of one place twice."""
    atom = _sum(mono)
    with kernel.inside(*atom.data[0]) as variables:
        body = kernel.summands(atom, variables)
        compared = _comparison_of(body, variables, pair)
        first, second = compared.data
        _check(first[0].size == second[0].size)
        rest: Poly = {without(body, compared): UNIT}
        _check(kernel.put(rest, {first[0]: second, second[0]: first}) == rest)
        met = add(number(1), kernel.equal(first, second))
        return scaled(kernel.sum(variables, kernel.mul(rest, met)), Fraction(1, 2))


@_rule
def slide(kernel: Computing, mono: Mono, data: tuple[int, int]) -> Poly:
    """``sum f(i + 1) = sum f(i) + f(n + 1) - f(1)``, whatever an array is taken to be beyond its
    ends."""
    k, by = data
    atom = _sum(mono)
    _check(0 < abs(by) <= _MOST_WRITTEN)
    axis = atom.data[0][k]
    with kernel.inside(*atom.data[0]) as variables:
        own = variables[k]
        others = tuple(each for each in variables if each is not own)
        body: Poly = {kernel.summands(atom, variables): UNIT}
        moved = kernel.put(body, {own: (own, -by, ())})
        end = (None, axis, ()) if isinstance(axis, int) else (axis, 0, ())
        total = kernel.sum(variables, moved)
        for step in range(1, abs(by) + 1):
            # What comes in at one end, and what goes out at the other.
            at = step if by > 0 else step - abs(by)
            first = kernel.again(kernel.placed(body, own, (None, at - by, ())))
            last = kernel.again(kernel.placed(body, own, (end[0], end[1] + at - by, ())))
            more = kernel.sum(others, minus(last, first))
            total = add(total, more if by > 0 else scaled(more, -1))
        return total


@_rule
def counted(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """Sums of powers of places (J. Faulhaber), and how many places there are up to one."""
    atom = _sum(mono)
    axes = atom.data[0]
    _check(len(axes) == 1)
    with kernel.inside(*axes) as (own,):
        body = kernel.summands(atom, (own,))
        ((inner, e),) = body
        here: Place = (own, 0, ())
        if inner.kind == "i" and inner.data == here and isinstance(e, int) and e > 0:
            return _powers_of_places(kernel.size(axes[0]), e, kernel)
        _check(inner.kind == "m" and e == 1)
        first, second = inner.data
        other = second if first == here else first
        _check(here in (first, second) and other[0] is not own)
        kernel.need_place(axes[0], other)
        if first == here:
            return kernel.position(other)
        more = add(kernel.size(axes[0]), number(1))
        return minus(more, kernel.position(other))


def _powers_of_places(size: Poly, power_: int, kernel: Computing) -> Poly:
    """1^p + ... + n^p, by the numbers of Bernoulli."""
    numbers = [UNIT]
    for m in range(1, power_ + 1):
        below = sum((comb(m + 1, k) * numbers[k] for k in range(m)), Fraction(0))
        numbers.append(-below / (m + 1))
    numbers[1:2] = [Fraction(1, 2)]
    return summed(
        scaled(
            kernel.times(size, power_ + 1 - k),
            comb(power_ + 1, k) * numbers[k] / (power_ + 1),
        )
        for k in range(power_ + 1)
        if numbers[k]
    )


# -- limits and expected values ------------------------------------------------------------------

RULES["expansion"] = expansion


@_rule
def moments(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """The expected value over entries that are independent, with mean 0 and variance 1: of
    products of at most two of each array."""
    atom, e = _only(mono, "E")
    _check(e == 1)
    return summed(scaled(_expected(kernel, product), c) for product, c in atom.data)


def _expected(kernel: Computing, product: Mono) -> Poly:
    sums = [pair for pair in product if pair[0].kind == "S" and _draws(kernel, pair[0])]
    if sums:
        _check(all(isinstance(e, int) and 0 < e <= 2 for _, e in sums), _HIGHER)
        outer = without(product, *(atom for atom, _ in sums))
        axes = [axis for atom, e in sums for axis in atom.data[0] * int(e)]
        with kernel.inside(*axes) as variables:
            left, body = list(variables), {outer: UNIT}
            for atom, e in sums:
                for _ in range(int(e)):
                    own = tuple(left.pop(0) for _ in atom.data[0])
                    body = kernel.mul(body, {kernel.summands(atom, own): UNIT})
            inner = summed(scaled(_expected(kernel, key), c) for key, c in body.items())
            return kernel.sum(variables, inner)
    drawing = tuple(pair for pair in product if _draws(kernel, pair[0]))
    if any(atom.kind == "x" and atom.data[0] not in kernel.random for atom, _ in drawing):
        # What is not taken apart may depend on random entries in any way.
        whole = kernel.settled(((kernel.atom("E", frozenset({(drawing, UNIT)})), 1),))
        return kernel.mul({without(product, *(atom for atom, _ in drawing)): UNIT}, whole)
    drawn: dict[Any, list[tuple[Place, ...]]] = {}
    kept = []
    for atom, e in product:
        if not _draws(kernel, atom):
            kept.append((atom, e))
            continue
        _check(atom.kind == "x" and atom.data[0] in kernel.random, _UNKNOWN)
        _check(isinstance(e, int) and e > 0, _UNKNOWN)
        drawn.setdefault(atom.data[0], []).extend([atom.data[1]] * int(e))
    _check(all(len(places) <= 2 for places in drawn.values()), _HIGHER)
    if any(len(places) == 1 for places in drawn.values()):
        return {}
    part: Poly = {tuple(kept): UNIT}
    for first, second in drawn.values():
        for two in zip(first, second, strict=True):
            part = kernel.mul(part, kernel.equal(*two))
    return part


_UNKNOWN = "the mean of a function of random entries"
_HIGHER = "a moment of higher order than the variance"


def _draws(kernel: Computing, atom: Atom) -> bool:
    return any(
        each in kernel.random or not each.uses.isdisjoint(kernel.random) for each in atom.arrays
    )
