"""Rules for sums over axes, limits and expected values."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

from symattn.calculus.kernel.computing import Computing
from symattn.calculus.kernel.germs import expansion
from symattn.calculus.kernel.power_rules import MOST_WRITTEN, RULES, check, only, rule
from symattn.calculus.kernel.terms import (
    UNIT,
    AtMost,
    Atom,
    Mean,
    Mono,
    Place,
    Poly,
    Sum,
    Unproved,
    add,
    composed,
    led_back,
    minus,
    number,
    places_of,
    power,
    scaled,
    summed,
    within,
    without,
)
from symattn.calculus.language import Index


def _sum(mono: Mono) -> Atom:
    atom, e = only(mono, "S")
    check(e == 1)
    return atom


@rule
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


@rule
def written(kernel: Computing, mono: Mono, k: int) -> Poly:
    """A sum over an axis of known length, term by term."""
    atom = _sum(mono)
    axis = atom.data[0][k]
    check(isinstance(axis, int) and axis <= MOST_WRITTEN)
    with kernel.inside(*atom.data[0]) as variables:
        own = variables[k]
        body = {kernel.summands(atom, variables): UNIT}
        total = summed(kernel.put(body, {own: (None, at, ())}) for at in range(1, axis + 1))
        return kernel.sum(tuple(each for each in variables if each is not own), total)


@rule
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


@rule
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
            check(all(pair[0].free.isdisjoint(others) for pair in mine))
            product = kernel.mul(product, kernel.sum(own, {mine: UNIT}))
        check(sorted(used) == list(range(len(variables))))
        rest = tuple(pair for pair in body if pair[0].free.isdisjoint(variables))
        return kernel.mul({rest: UNIT}, product)


@rule
def exchange(kernel: Computing, mono: Mono, order: tuple[int, ...]) -> Poly:
    """The same sum with its indices in another order."""
    atom = _sum(mono)
    check(sorted(order) == list(range(len(atom.data[0]))))
    with kernel.inside(*atom.data[0]) as variables:
        body = kernel.summands(atom, variables)
        with kernel.inside(*(variables[k].size for k in order)) as arranged:
            to = {variables[k]: (new, 0, ()) for k, new in zip(order, arranged, strict=True)}
            placed = kernel.put({body: UNIT}, to)
            check(len(placed) == 1)
            ((moved, c),) = placed.items()
            if not all(any(each in atom.free for atom, _ in moved) for each in arranged):
                return kernel.sum(arranged, placed)
            axes = tuple(each.size for each in arranged)
            other = kernel.atom(Sum, axes, kernel.closed(moved, arranged))
            # What is its own negative is 0.
            return {} if other is atom and c < 0 else scaled(power(other), c)


@rule
def nest(kernel: Computing, mono: Mono, group: tuple[int, ...]) -> Poly:
    """What depends on some indices only is summed over these first."""
    atom = _sum(mono)
    with kernel.inside(*atom.data[0]) as variables:
        body = kernel.summands(atom, variables)
        check(len({*group}) == len(group) and {*group} <= {*range(len(variables))})
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


@rule
def permuted(kernel: Computing, mono: Mono, data: tuple[int, tuple[tuple[str, int], ...]]) -> Poly:
    """The sum over all ``pi(j)`` is the sum over all j."""
    k, images = data
    atom = _sum(mono)
    with kernel.inside(*atom.data[0]) as variables:
        check(0 <= k < len(variables))
        summand = kernel.summands(atom, variables)
        check({name for name, _ in images} <= _images_of(summand, variables[k]))
        moved = kernel.put({summand: UNIT}, {variables[k]: (variables[k], 0, images)})
        return kernel.sum(variables, moved)


def _comparison_of(body: Mono, variables: tuple[Index, ...], pair: tuple[int, int]) -> Atom:
    """The comparison of two indices of a sum."""
    at = tuple((variables[k], 0, ()) for k in pair)
    for atom, e in body:
        if atom.kind == "m" and atom.data == at and e == 1:
            return atom
    raise Unproved("no comparison of these indices")


@rule
def reversed_(kernel: Computing, mono: Mono, pair: tuple[int, int]) -> Poly:
    """A sum with one comparison of two of its indices in the other order."""
    atom = _sum(mono)
    with kernel.inside(*atom.data[0]) as variables:
        body = kernel.summands(atom, variables)
        compared = _comparison_of(body, variables, pair)
        first, second = compared.data
        other = power(kernel.atom(AtMost, second, first))
        turned = minus(add(number(1), kernel.equal(first, second)), other)
        return kernel.sum(variables, kernel.mul({without(body, compared): UNIT}, turned))


@rule
def halved(kernel: Computing, mono: Mono, pair: tuple[int, int]) -> Poly:
    """Pairs of places that may be exchanged: half of all pairs, and half of one place twice."""
    atom = _sum(mono)
    with kernel.inside(*atom.data[0]) as variables:
        body = kernel.summands(atom, variables)
        compared = _comparison_of(body, variables, pair)
        first, second = compared.data
        check(first[0].size == second[0].size)
        rest: Poly = {without(body, compared): UNIT}
        check(kernel.put(rest, {first[0]: second, second[0]: first}) == rest)
        met = add(number(1), kernel.equal(first, second))
        return scaled(kernel.sum(variables, kernel.mul(rest, met)), Fraction(1, 2))


@rule
def slide(kernel: Computing, mono: Mono, data: tuple[int, int]) -> Poly:
    """``sum f(i + 1) = sum f(i) + f(n + 1) - f(1)``, whatever an array is taken to be beyond its
    ends."""
    k, by = data
    atom = _sum(mono)
    check(0 < abs(by) <= MOST_WRITTEN)
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


@rule
def counted(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """Sums of powers of places (J. Faulhaber), and how many places there are up to one."""
    atom = _sum(mono)
    axes = atom.data[0]
    check(len(axes) == 1)
    with kernel.inside(*axes) as (own,):
        body = kernel.summands(atom, (own,))
        ((inner, e),) = body
        here: Place = (own, 0, ())
        if inner.kind == "i" and inner.data == here and isinstance(e, int) and e > 0:
            return _powers_of_places(kernel.size(axes[0]), e, kernel)
        check(inner.kind == "m" and e == 1)
        first, second = inner.data
        other = second if first == here else first
        check(here in (first, second) and other[0] is not own)
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


@rule
def moments(kernel: Computing, mono: Mono, _: Any) -> Poly:
    """The expected value over entries that are independent, with mean 0 and variance 1: of
    products of at most two of each array."""
    atom, e = only(mono, "E")
    check(e == 1)
    return summed(scaled(_expected(kernel, product), c) for product, c in atom.data)


def _expected(kernel: Computing, product: Mono) -> Poly:
    sums = [pair for pair in product if pair[0].kind == "S" and _draws(kernel, pair[0])]
    if sums:
        check(all(isinstance(e, int) and 0 < e <= 2 for _, e in sums), _HIGHER)
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
        whole = kernel.settled(((kernel.atom(Mean, frozenset({(drawing, UNIT)})), 1),))
        return kernel.mul({without(product, *(atom for atom, _ in drawing)): UNIT}, whole)
    drawn: dict[Any, list[tuple[Place, ...]]] = {}
    kept = []
    for atom, e in product:
        if not _draws(kernel, atom):
            kept.append((atom, e))
            continue
        check(atom.kind == "x" and atom.data[0] in kernel.random, _UNKNOWN)
        check(isinstance(e, int) and e > 0, _UNKNOWN)
        drawn.setdefault(atom.data[0], []).extend([atom.data[1]] * int(e))
    check(all(len(places) <= 2 for places in drawn.values()), _HIGHER)
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
