"""Rules for sums over axes, limits and expected values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.computing import Computing
from symattn.calculus.kernel.germs import expansion
from symattn.calculus.kernel.kinds import Atom, Mono, Place
from symattn.calculus.kernel.rules import MOST_WRITTEN, RULES, check, only, rule
from symattn.calculus.kernel.terms import (
    Poly,
    Unproved,
    composed,
    depends,
    end_of,
    led_back,
    places_in,
    power,
    single,
    summed,
    without,
)
from symattn.calculus.language import Array, Index

Variables = tuple[Index, ...]


@contextmanager
def _inside(kernel: Computing, mono: Mono) -> Iterator[tuple[Mono, Variables]]:
    """The product that a sum adds up and its indices, while this lasts."""
    atom, e = only(mono, kinds.Sum)
    check(e == 1)
    with kernel.inside(*atom.axes) as variables:
        yield kernel.opened(atom.body, variables), variables


def _others(variables: Variables, *own: Index) -> Variables:
    """Indices without some of them."""
    return tuple(each for each in variables if each not in own)


@rule
def collapse(kernel: Computing, mono: Mono, k: int) -> Poly:
    """``sum(i, delta(i, k) * x[i]) == x[k]``: the sum over a delta, where there is such a place."""
    with _inside(kernel, mono) as (body, variables):
        own = variables[k]
        for delta, e in body:
            if e == 1 and (place := solved(delta, own)):
                value = kernel.put(single(without(body, delta)), {own: composed(*place)})
                value = kernel.mul(kernel.is_there(own.size, place[0]), value)
                return kernel.sum(_others(variables, own), value)
    raise Unproved("no delta of that index")


def solved(delta: Atom, own: Index) -> tuple[Place, tuple[tuple[str, int], ...]] | None:
    """The place that a delta gives an index, and through which permutations; None if no delta."""
    if isinstance(delta, kinds.Delta):
        for at, other in (delta.places, delta.places[::-1]):
            if at[:2] == (own, 0) and other[0] is not own:
                return other, led_back(at[2])
    return None


@rule
def written(kernel: Computing, mono: Mono, k: int) -> Poly:
    """``sum(i, w[i]) == w[1] + w[2] + w[3]``: a sum over an axis of known length, term by term."""
    with _inside(kernel, mono) as (body, variables):
        own, axis = variables[k], variables[k].size
        if isinstance(axis, str) or axis > MOST_WRITTEN:
            raise Unproved("this rule does not apply")
        places: list[Place] = [(None, at, ()) for at in range(1, axis + 1)]
        total = summed(kernel.put(single(body), {own: at}) for at in places)
        return kernel.sum(_others(variables, own), total)


@rule
def flatten(kernel: Computing, mono: Mono, _: None) -> Poly:
    """``sum(i, x[i] * sum(k, A[i, k])) == sum(k, sum(i, x[i] * A[i, k]))``: sums inside of a sum
    are sums over more indices."""
    with _inside(kernel, mono) as (body, variables):
        inner = [
            each
            for each, e in body
            if isinstance(each, kinds.Sum) and isinstance(e, int)
            for _ in range(e)
        ]
        with _together(kernel, without(body, *inner), inner) as (rest, more):
            return kernel.sum((*variables, *more), rest)


@contextmanager
def _together(
    kernel: Computing, rest: Mono, sums: Iterable[kinds.Sum]
) -> Iterator[tuple[Poly, Variables]]:
    """The product of sums and others, and the indices of all sums, while this lasts."""
    sums = list(sums)
    with kernel.inside(*(axis for each in sums for axis in each.axes)) as variables:
        left, body = iter(variables), single(rest)
        for each in sums:
            own = tuple(next(left) for _ in each.axes)
            body = kernel.mul(body, single(kernel.opened(each.body, own)))
        yield body, variables


@rule
def exchange(kernel: Computing, mono: Mono, order: tuple[int, ...]) -> Poly:
    """``sum(i, k, A[i, k] * B[k, i]) == sum(i, k, A[k, i] * B[i, k])``: the same sum with its
    indices in another order."""
    axes = only(mono, kinds.Sum)[0].axes
    check(sorted(order) == list(range(len(axes))))
    with (
        _inside(kernel, mono) as (body, variables),
        kernel.inside(*(axes[k] for k in order)) as arranged,
    ):
        to: dict[Index, Place] = {
            variables[k]: (new, 0, ()) for k, new in zip(order, arranged, strict=True)
        }
        placed = kernel.put(single(body), to)
        check(len(placed) == 1)
        ((moved, c),) = placed.items()
        if not placed.free.issuperset(arranged):
            return kernel.sum(arranged, placed)
        axes = tuple(each.size for each in arranged)
        other = kernel.atom(kinds.Sum, axes, kernel.closed(moved, arranged))
        # What is its own negative is 0.
        return Poly() if other is mono[0][0] and c < 0 else power(other) * c


@rule
def nest(kernel: Computing, mono: Mono, group: tuple[int, ...]) -> Poly:
    """``sum(k, i, step(k <= i) * x[i]) == sum(i, i * x[i])``: factors that depend on some indices
    only are summed over these first; what others do not depend on comes out of the sum."""
    with _inside(kernel, mono) as (body, variables):
        check(len({*group}) == len(group) and {*group} <= {*range(len(variables))})
        own = tuple(variables[k] for k in group)
        mine = tuple(pair for pair in body if not pair[0].free.isdisjoint(own))
        rest = single(tuple(pair for pair in body if pair not in mine))
        return kernel.sum(_others(variables, *own), kernel.mul(rest, kernel.sum(own, single(mine))))


@rule
def permuted(kernel: Computing, mono: Mono, data: tuple[int, tuple[tuple[str, int], ...]]) -> Poly:
    """``sum(i, x[s[i]] * y[s[i]]) == sum(i, x[i] * y[i])``: all places, each once."""
    k, images = data
    with _inside(kernel, mono) as (body, variables):
        check(0 <= k < len(variables))
        through = {name for at in places_in(body, variables[k]) for name, _ in at[2]}
        check({name for name, _ in images} <= through)
        moved = kernel.put(single(body), {variables[k]: (variables[k], 0, images)})
        return kernel.sum(variables, moved)


def _compared(body: Mono, variables: Variables, pair: tuple[int, int]) -> kinds.AtMost:
    """The comparison of two indices of a sum."""
    at = tuple((variables[k], 0, ()) for k in pair)
    for atom, e in body:
        if isinstance(atom, kinds.AtMost) and atom.places == at and e == 1:
            return atom
    raise Unproved("no comparison of these indices")


@rule
def reversed_(kernel: Computing, mono: Mono, pair: tuple[int, int]) -> Poly:
    """``sum(i, k, step(k <= i) * x[i] * y[k]) ==
    sum(i, k, (1 + delta(i, k) - step(i <= k)) * x[i] * y[k])``."""
    with _inside(kernel, mono) as (body, variables):
        compared = _compared(body, variables, pair)
        other = power(kernel.atom(kinds.AtMost, compared.second, compared.first))
        turned = 1 + kernel.equal(*compared.places) - other
        return kernel.sum(variables, kernel.mul(single(without(body, compared)), turned))


@rule
def halved(kernel: Computing, mono: Mono, pair: tuple[int, int]) -> Poly:
    """``sum(i, k, step(i <= k) * x[i] * x[k]) == (sum(i, x[i])**2 + sum(i, x[i]**2)) / 2``: of
    places that may be exchanged half of all pairs, and half of one place twice."""
    with _inside(kernel, mono) as (body, variables):
        compared = _compared(body, variables, pair)
        first, second = (variables[k] for k in pair)
        check(first.size == second.size)
        rest = single(without(body, compared))
        check(kernel.put(rest, {first: compared.second, second: compared.first}) == rest)
        met = 1 + kernel.equal(*compared.places)
        return kernel.sum(variables, kernel.mul(rest, met)) * Fraction(1, 2)


@rule
def slide(kernel: Computing, mono: Mono, data: tuple[int, int]) -> Poly:
    """``sum(i, step(i < n) * x[i + 1]) == sum(i, x[i]) - x[1]``: ``sum f(i + 1)`` is
    ``sum f(i) + f(n + 1) - f(1)``, whatever an array is taken to be beyond its ends."""
    k, by = data
    check(0 < abs(by) <= MOST_WRITTEN)
    with _inside(kernel, mono) as (summand, variables):
        own, body = variables[k], single(summand)
        others = _others(variables, own)
        moved = kernel.put(body, {own: (own, -by, ())})
        end = end_of(own.size)
        total = kernel.sum(variables, moved)
        for step in range(1, abs(by) + 1):
            # What comes in at one end, and what goes out at the other.
            at = step if by > 0 else step - abs(by)
            out: Place = (None, at - by, ())
            into: Place = (end[0], end[1] + at - by, ())
            # These places may be beyond the ends of the axis.
            gone, come = (
                kernel.again(Poly(kernel.at(body.frozen(), {own: each}))) for each in (out, into)
            )
            more = kernel.sum(others, come - gone)
            total = total + (more if by > 0 else -more)
        return total


@rule
def counted(kernel: Computing, mono: Mono, whole: tuple[Fraction, ...] | None) -> Poly:
    """``sum(i, i**2 + 0 * x[i]) == n * (n + 1) * (2 * n + 1) / 6`` and other powers of places
    (J. Faulhaber); ``sum(i, step(i <= k)) * x[k] == k * x[k]``, how many there are up to one."""
    with _inside(kernel, mono) as (body, variables):
        check(len(variables) == 1)
        own = variables[0]
        here: Place = (own, 0, ())
        match body:
            case ((kinds.Position(at), int(e)),) if at == here and e > 0:
                return _telescoped(kernel, own, body, whole or ())
            case ((kinds.AtMost(first, second), 1),) if here in (first, second):
                other = second if first == here else first
                check(other[0] is not own)
                kernel.need_place(own.size, other)
                if first == here:
                    return kernel.position(other)
                more = kernel.size(own.size) + 1
                return more - kernel.position(other)
        raise Unproved("this rule does not apply")


def _telescoped(kernel: Computing, own: Index, body: Mono, whole: tuple[Fraction, ...]) -> Poly:
    """``f(1) + ... + f(n) = F(n) - F(0)`` where ``f(i) = F(i) - F(i - 1)``: of such an F the
    coefficients are given."""

    def at(place: Place) -> Poly:
        powers = (kernel.times(kernel.position(place), k) for k in range(len(whole)))
        return summed(each * Fraction(c) for each, c in zip(powers, whole, strict=True))

    check(at((own, 0, ())) - at((own, -1, ())) == single(body))
    return at(end_of(own.size)) - at((None, 0, ()))


# -- limits and expected values ------------------------------------------------------------------

RULES["expansion"] = expansion


@rule
def moments(kernel: Computing, mono: Mono, _: None) -> Poly:
    """``expect(u[i] * u[k]) == delta(i, k)``, ``expect(u[i] * v[k]) == 0``: entries of mean 0 and
    variance 1 that are independent, at most two of each array."""
    atom, e = only(mono, kinds.Mean)
    check(e == 1)
    return summed(_expected(kernel, product) * c for product, c in atom.of)


def _expected(kernel: Computing, product: Mono) -> Poly:
    """The expected value of a product."""
    random = kernel.random
    drawing = tuple(pair for pair in product if depends(pair[0].arrays, random))
    sums = [(atom, e) for atom, e in drawing if isinstance(atom, kinds.Sum)]
    if sums:
        check(all(isinstance(e, int) and 0 < e <= 2 for _, e in sums), _HIGHER)
        outer = without(product, *(atom for atom, _ in sums))
        each_once = (atom for atom, e in sums for _ in range(int(e)))
        with _together(kernel, outer, each_once) as (body, variables):
            inner = summed(_expected(kernel, key) * c for key, c in body.items())
            return kernel.sum(variables, inner)
    kept = without(product, *(atom for atom, _ in drawing))
    if any(isinstance(atom, kinds.Entry) and atom.array not in random for atom, _ in drawing):
        # What is not taken apart may depend on random entries in any way.
        whole = kernel.made(kinds.Mean, single(drawing).frozen())
        return kernel.mul(single(kept), whole)
    drawn: dict[Array, list[tuple[Place, ...]]] = {}
    for atom, e in drawing:
        if not (isinstance(atom, kinds.Entry) and isinstance(e, int) and e > 0):
            raise Unproved(_UNKNOWN)
        drawn.setdefault(atom.array, []).extend([atom.at] * e)
    check(all(len(places) <= 2 for places in drawn.values()), _HIGHER)
    if any(len(places) == 1 for places in drawn.values()):
        return Poly()
    part = single(kept)
    for first, second in drawn.values():
        for two in zip(first, second, strict=True):
            part = kernel.mul(part, kernel.equal(*two))
    return part


_UNKNOWN = "the mean of a function of random entries"
_HIGHER = "a moment of higher order than the variance"
