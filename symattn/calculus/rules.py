"""Equations used as rules: what is assumed, or was shown before, put into normal forms.

A rule replaces a product, with any indices, by what it equals. Of the products
of an equation the largest is the one replaced, so that rules come to an end;
where both sides are as large (``S[i, j] == S[j, i]``) only what makes the
product smaller is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symattn.calculus.atoms import (
    FIRST,
    ONE,
    Atom,
    Exponent,
    Mono,
    Poly,
    add,
    named,
    order,
    scaled,
)
from symattn.calculus.language import Axis
from symattn.calculus.matching import matches
from symattn.calculus.normal import Normal
from symattn.calculus.powers import size_of

_STEPS = 120
_LEARNED = 60
"""So many equations are made rules, those counted again that a later one changes."""


@dataclass(frozen=True)
class Rule:
    """``left`` is ``right``, whatever the indices ``free`` are."""

    left: Mono
    right: Poly
    free: frozenset[str]
    eliminates: bool = False
    """Whether something of what is replaced does not come back."""
    constant: bool = False
    """Whether indices of ``left`` do not matter: on the right they are the first place."""

    @property
    def equation(self) -> Poly:
        """The sum which is zero."""
        return add({self.left: ONE}, scaled(self.right, -ONE))


def rule(algebra: Normal, zero: Poly, free: frozenset[str]) -> Rule | None:
    """The rule that a sum which is zero gives; None where it says nothing."""
    found = _left(zero, free, solved=True)
    if found is None:
        zero = _whole(algebra, zero)
        found = _left(zero, free)
    if found is None:
        return None
    left, eliminates = found
    right = scaled(_rest(zero, left), -1 / zero[left])
    if idle := _names(right) & free - _names({left: ONE}):
        # Whatever these indices are: they may be the first.
        right = algebra.moved(right, dict.fromkeys(idle, FIRST))
        return Rule(left, right, free - idle, eliminates, constant=len(right) == 1)
    return Rule(left, right, free, eliminates)


def _left(zero: Poly, free: frozenset[str], solved: bool = False) -> tuple[Mono, bool] | None:
    """The product to be replaced, and whether something of it does not come back."""
    best = None
    for mono in zero:
        if not mono or any(one.kind == "p" or e < 0 for one, e in mono):
            continue
        others = named(_rest(zero, mono))
        mine = named({mono: ONE})
        covers = _covers(mono, free)
        eliminates = covers and not mine <= others
        single = eliminates and len(mono) == 1 and mono[0][0].kind == "x" and mono[0][1] == 1
        if solved and not eliminates:
            continue
        key = (single, eliminates, covers, size_of(mono))
        if best is None or key > best[0]:
            best = key, mono
    return best and (best[1], best[0][1])


def _rest(zero: Poly, left: Mono) -> Poly:
    return {mono: c for mono, c in zero.items() if mono != left}


def _names(poly: Poly) -> frozenset[str]:
    return frozenset().union(*(one.names for mono in poly for one, _ in mono))


def _whole(algebra: Normal, zero: Poly) -> Poly:
    """A sum which is zero, times its denominators."""
    zero, _ = algebra.cleared(zero)
    below: dict[Atom, Exponent] = {}
    for mono in zero:
        for one, e in mono:
            below[one] = min(below.get(one, 0), e)
    inverse = tuple(sorted(((one, -e) for one, e in below.items() if e < 0), key=order))
    return algebra.mul(zero, {inverse: ONE}) if inverse else zero


def _covers(mono: Mono, free: frozenset[str]) -> bool:
    """Whether a product has all indices of its equation, and nothing that is only 0 or 1."""
    names = frozenset().union(*(one.names for one, _ in mono))
    return free <= names and all(one.kind not in "dmh" for one, _ in mono)


class Rewriting:
    """Rules put into sums until none applies."""

    def __init__(self, algebra: Normal, rules: Sequence[Rule] = ()) -> None:
        self.algebra = algebra
        self.rules = [*rules]

    def learn(self, zero: Poly, free: frozenset[str]) -> None:
        """Add the rule that a sum which is zero gives, and put it into the rules before."""
        todo = [(zero, free)]
        for _ in range(_LEARNED):
            if not todo:
                return
            zero, free = todo.pop(0)
            found = rule(self.algebra, self.done(zero), free)
            if found is None:
                continue
            alone = Rewriting(self.algebra, [found])
            kept = []
            for one in self.rules:
                before = one.equation
                after = alone.done(before)
                if after is before:
                    kept.append(one)
                else:
                    todo.append((after, one.free))
            self.rules = [*kept, found]

    def done(self, poly: Poly) -> Poly:
        """The sum with all rules applied as far as they go."""
        if not self.rules:
            return poly
        for _ in range(_STEPS):
            for mono, c in poly.items():
                changed = self._mono(mono, {})
                if changed is not None:
                    rest = {key: k for key, k in poly.items() if key != mono}
                    poly = add(rest, scaled(changed, c))
                    break
            else:
                return poly
        return poly

    def _mono(self, mono: Mono, bounds: Mapping[str, Axis]) -> Poly | None:
        """A product with one rule applied somewhere in it; None where none applies."""
        for one in self.rules:
            changed = self._applied(one, mono, bounds)
            if changed is not None:
                return changed
        for atom, e in mono:
            inner = self._inside(atom)
            if inner is None and (e < 0 or e != int(e)):
                inner = self._base(atom, bounds)
            if inner is not None:
                rest = tuple(pair for pair in mono if pair[0] is not atom)
                return self.algebra.mul({rest: ONE}, self.algebra.raised(inner, e))
        return None

    def _base(self, atom: Atom, bounds: Mapping[str, Axis]) -> Poly | None:
        """What stands below, or under a root, with a rule applied."""
        found = (self._applied(one, ((atom, 1),), bounds) for one in self.rules)
        return next((one for one in found if one is not None), None)

    def _applied(self, one: Rule, mono: Mono, bounds: Mapping[str, Axis]) -> Poly | None:
        summed = [pair for pair in one.left if pair[0].kind == "S"]
        if len(one.left) == 1 and summed:
            return self._sums(one, mono)
        for names, rest in matches(list(one.left), mono, {}, one.free):
            if len(names) < len(one.free):
                continue
            changed = self.algebra.mul({rest: ONE}, self.algebra.moved(one.right, names))
            if one.eliminates or _smaller(changed, mono) or (one.constant and mono not in changed):
                return changed
        return None

    def _sums(self, one: Rule, mono: Mono) -> Poly | None:
        """A rule for a sum, applied to a sum of which it is a part."""
        ((pattern, power),) = one.left
        axes, factors = pattern.data
        held = {f"@{pattern.height}.{k}": axis for k, axis in enumerate(axes)}
        for target, e in mono:
            if target.kind != "S" or e != power != 1 or (power == 1 and e < 1):
                continue
            bounds, poly = self.algebra.opened(target)
            ((inside, c),) = poly.items()
            for names, rest in matches(list(factors), inside, {}, one.free | held.keys()):
                taken = {names[name][0] for name in held if name in names}
                if len(names) < len(one.free) + len(held) or len(taken) < len(held):
                    continue
                if any(names[name][1:] != (0, ()) for name in held):
                    continue
                if not all(bounds.get(names[name][0]) == axis for name, axis in held.items()):
                    continue
                if any(atom.names & taken for atom, _ in rest):
                    continue
                free = {name: at for name, at in names.items() if name not in held}
                if any(at[0] in taken for at in free.values()):
                    continue
                found = self.algebra.mul({rest: c}, self.algebra.moved(one.right, free))
                left = {name: axis for name, axis in bounds.items() if name not in taken}
                found = self.algebra.bound_all(found, left)
                others = tuple(
                    (a, k - 1 if a is target else k) for a, k in mono if a is not target or k != 1
                )
                changed = self.algebra.mul({others: ONE}, found)
                if one.eliminates or _smaller(changed, mono):
                    return changed
        return None

    def _inside(self, one: Atom) -> Poly | None:
        """An atom with one rule applied inside; None where none applies."""
        algebra = self.algebra
        match one.kind:
            case "S":
                bounds, poly = algebra.opened(one)
                found, changed = poly, False
                for mono, c in poly.items():
                    inner = self._mono(mono, bounds)
                    if inner is not None:
                        rest = {key: k for key, k in poly.items() if key != mono}
                        found, changed = add(rest, scaled(inner, c)), True
                        break
                if not changed:
                    return None
                return algebra.bound_all(found, bounds)
            case "e":
                inner = self._mono(one.data, {})
                return None if inner is None else algebra.exp(inner)
            case "l" | "p" | "h":
                inner = self._poly(dict(one.data))
                if inner is None:
                    return None
                if one.kind == "p":
                    return inner
                return algebra.log(inner) if one.kind == "l" else algebra.above_zero(inner)
            case "f":
                inner = self._poly(dict(one.data[1]))
                if inner is not None:
                    return algebra.apply(one.data[0], inner)
                return algebra.limit_by_parts(one, lambda part: self._base(part, {}))
        return None

    def _poly(self, poly: Poly) -> Poly | None:
        for mono, c in poly.items():
            inner = self._mono(mono, {})
            if inner is not None:
                rest = {key: k for key, k in poly.items() if key != mono}
                return add(rest, scaled(inner, c))
        return None


def _smaller(changed: Poly, mono: Mono) -> bool:
    """Whether all that a rule made is smaller than what it was applied to."""
    return all(size_of(one) < size_of(mono) for one in changed)
