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
    BOOLEAN,
    FIRST,
    ONE,
    Atom,
    Exponent,
    Mono,
    Poly,
    add,
    indices,
    named,
    order,
    scaled,
    without,
)
from symattn.calculus.language import Axis
from symattn.calculus.matching import matches
from symattn.calculus.normal import Normal
from symattn.calculus.powers import size_of

_STEPS = 120
_LEARNED = 60
"""So many equations are made rules, those counted again that a later one changes."""


@dataclass(frozen=True)
class RewriteRule:
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


def rule(algebra: Normal, zero: Poly, free: frozenset[str]) -> RewriteRule | None:
    """The rule that a sum which is zero gives; None where it says nothing."""
    choice = _left(zero, free, solved=True)
    if choice is None:
        zero = _whole(algebra, zero)
        choice = _left(zero, free)
    if choice is None:
        return None
    left, eliminates = choice
    right = scaled(_rest(zero, left), -1 / zero[left])
    if idle := indices(*right) & free - indices(left):
        # Whatever these indices are: they may be the first.
        right = algebra.moved(right, dict.fromkeys(idle, FIRST))
        return RewriteRule(left, right, free - idle, eliminates, constant=len(right) == 1)
    return RewriteRule(left, right, free, eliminates)


def _left(zero: Poly, free: frozenset[str], solved: bool = False) -> tuple[Mono, bool] | None:
    """The product to be replaced, and whether something of it does not come back."""
    best = None
    for mono in zero:
        if not mono or any(atom.kind == "p" or e < 0 for atom, e in mono):
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


def _whole(algebra: Normal, zero: Poly) -> Poly:
    """A sum which is zero, times its denominators."""
    zero, _ = algebra.cleared(zero)
    below: dict[Atom, Exponent] = {}
    for mono in zero:
        for atom, e in mono:
            below[atom] = min(below.get(atom, 0), e)
    inverse = tuple(sorted(((atom, -e) for atom, e in below.items() if e < 0), key=order))
    return algebra.mul(zero, {inverse: ONE}) if inverse else zero


def _covers(mono: Mono, free: frozenset[str]) -> bool:
    """Whether a product has all indices of its equation, and nothing that is only 0 or 1."""
    return free <= indices(mono) and all(atom.kind not in BOOLEAN for atom, _ in mono)


class Rewriting:
    """Rules put into sums until none applies."""

    def __init__(self, algebra: Normal, rules: Sequence[RewriteRule] = ()) -> None:
        self.algebra = algebra
        self.rules = [*rules]

    def learn(self, zero: Poly, free: frozenset[str]) -> None:
        """Add the rule that a sum which is zero gives, and put it into the rules before."""
        todo = [(zero, free)]
        for _ in range(_LEARNED):
            if not todo:
                return
            zero, free = todo.pop(0)
            learned = rule(self.algebra, self.done(zero), free)
            if learned is None:
                continue
            alone = Rewriting(self.algebra, [learned])
            kept = []
            for known in self.rules:
                before = known.equation
                after = alone.done(before)
                if after is before:
                    kept.append(known)
                else:
                    todo.append((after, known.free))
            self.rules = [*kept, learned]

    def done(self, poly: Poly) -> Poly:
        """The sum with all rules applied as far as they go."""
        if not self.rules:
            return poly
        for _ in range(_STEPS):
            changed = self._poly(poly, {})
            if changed is None:
                break
            poly = changed
        return poly

    def _mono(self, mono: Mono, bounds: Mapping[str, Axis]) -> Poly | None:
        """A product with one rule applied somewhere in it; None where none applies."""
        for rule in self.rules:
            changed = self._applied(rule, mono, bounds)
            if changed is not None:
                return changed
        for atom, e in mono:
            inner = self._inside(atom)
            if inner is None and (e < 0 or e != int(e)):
                inner = self._base(atom, bounds)
            if inner is not None:
                return self.algebra.mul({without(mono, atom): ONE}, self.algebra.raised(inner, e))
        return None

    def _base(self, atom: Atom, bounds: Mapping[str, Axis]) -> Poly | None:
        """What stands below, or under a root, with a rule applied."""
        candidates = (self._applied(candidate, ((atom, 1),), bounds) for candidate in self.rules)
        return next((candidate for candidate in candidates if candidate is not None), None)

    def _applied(self, rule: RewriteRule, mono: Mono, bounds: Mapping[str, Axis]) -> Poly | None:
        summed = [pair for pair in rule.left if pair[0].kind == "S"]
        if len(rule.left) == 1 and summed:
            return self._sums(rule, mono)
        for names, rest in matches(list(rule.left), mono, {}, rule.free):
            if len(names) < len(rule.free):
                continue
            changed = self.algebra.mul({rest: ONE}, self.algebra.moved(rule.right, names))
            if (
                rule.eliminates
                or _smaller(changed, mono)
                or (rule.constant and mono not in changed)
            ):
                return changed
        return None

    def _sums(self, rule: RewriteRule, mono: Mono) -> Poly | None:
        """A rule for a sum, applied to a sum of which it is a part."""
        ((pattern, power),) = rule.left
        axes, factors = pattern.data
        indices = {f"@{pattern.height}.{k}": axis for k, axis in enumerate(axes)}
        for target, e in mono:
            if target.kind != "S" or e != power != 1 or (power == 1 and e < 1):
                continue
            bounds, poly = self.algebra.opened(target)
            ((inside, c),) = poly.items()
            for names, rest in matches(list(factors), inside, {}, rule.free | indices.keys()):
                taken = {names[name][0] for name in indices if name in names}
                if len(names) < len(rule.free) + len(indices) or len(taken) < len(indices):
                    continue
                if any(names[name][1:] != (0, ()) for name in indices):
                    continue
                if not all(bounds.get(names[name][0]) == axis for name, axis in indices.items()):
                    continue
                if any(atom.names & taken for atom, _ in rest):
                    continue
                free = {name: at for name, at in names.items() if name not in indices}
                if any(at[0] in taken for at in free.values()):
                    continue
                total = self.algebra.mul({rest: c}, self.algebra.moved(rule.right, free))
                left = {name: axis for name, axis in bounds.items() if name not in taken}
                total = self.algebra.bound_all(total, left)
                others, _ = self.algebra.merged(mono, [(target, -1)])
                changed = self.algebra.mul({others: ONE}, total)
                if rule.eliminates or _smaller(changed, mono):
                    return changed
        return None

    def _inside(self, atom: Atom) -> Poly | None:
        """An atom with one rule applied inside; None where none applies."""
        algebra = self.algebra
        match atom.kind:
            case "S":
                bounds, body = algebra.opened(atom)
                inner = self._poly(body, bounds)
                return None if inner is None else algebra.bound_all(inner, bounds)
            case "e":
                inner = self._mono(atom.data, {})
                return None if inner is None else algebra.exp(inner)
            case "l" | "p" | "h":
                inner = self._poly(dict(atom.data), {})
                if inner is None or atom.kind == "p":
                    return inner
                return algebra.log(inner) if atom.kind == "l" else algebra.above_zero(inner)
            case "f":
                inner = self._poly(dict(atom.data[1]), {})
                if inner is not None:
                    return algebra.apply(atom.data[0], inner)
                return algebra.limit_by_parts(atom, lambda part: self._base(part, {}))
        return None

    def _poly(self, poly: Poly, bounds: Mapping[str, Axis]) -> Poly | None:
        """A sum with one rule applied to one of its products; None where none applies."""
        for mono, c in poly.items():
            inner = self._mono(mono, bounds)
            if inner is not None:
                return add(_rest(poly, mono), scaled(inner, c))
        return None


def _smaller(changed: Poly, mono: Mono) -> bool:
    """Whether all that a rule made is smaller than what it was applied to."""
    return all(size_of(product) < size_of(mono) for product in changed)
