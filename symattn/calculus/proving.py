"""Does a line hold for all sizes? Its sides in normal form, their difference nothing.

Equations used as rules: what is assumed, or was shown before, put into normal forms.

A rule replaces a product, with any indices, by what it equals. Of the products
of an equation the largest is the one replaced, so that rules come to an end;
where both sides are as large (``S[i, j] == S[j, i]``) only what makes the
product smaller is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from symattn.calculus import language as term
from symattn.calculus.atoms import (
    BOOLEAN,
    FIRST,
    ONE,
    At,
    Atom,
    Exponent,
    Mono,
    NoNormalForm,
    Poly,
    add,
    at_text,
    indices,
    named,
    order,
    poly_text,
    scaled,
    without,
)
from symattn.calculus.differentiating import names_in
from symattn.calculus.index_sums import identified
from symattn.calculus.language import Array, Axis, AxisPlace
from symattn.calculus.normal import Normal, SlopeCache
from symattn.calculus.powers import matches, size_of
from symattn.calculus.tensors import ParsedLine

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


class _Rewriting:
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
            alone = _Rewriting(self.algebra, [learned])
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


_CASES = 24


class Prover:
    """Normal forms of the lines of one derivation."""

    def __init__(
        self,
        positive: Sequence[str] = (),
        random: Sequence[str] = (),
        folded: frozenset[Array] = frozenset(),
        known: Sequence[ParsedLine] = (),
        slopes: SlopeCache | None = None,
    ) -> None:
        self.normal = Normal(folded, slopes)
        self.normal.positive |= set(positive)
        self.normal.random = frozenset(random)
        self._rules = _Rewriting(self.normal)
        # What is known of whole arrays first, as normal forms depend on it.
        for line in [fact for fact in known if not self._is_kind(fact)]:
            # What has no normal form gives no rule.
            with suppress(NoNormalForm, RecursionError):
                self._learn(line)

    def _is_kind(self, line: ParsedLine) -> bool:
        """Whether all that an equation says is that a matrix is symmetric; where it says that
        all entries of an array are 0 or 1, that is noted, and it is a rule as well."""
        named = {array for side in line.sides for array in names_in(side)}
        if len(line.sides) != 2 or len(named) != 1:
            return False
        alone = Normal(frozenset(named))
        try:
            first, second = map(alone.read, line.sides)
        except NoNormalForm:
            return False
        apart = add(first, scaled(second, -ONE))
        free = [alone.named(index) for index in line.free]
        if name := _symmetric(apart):
            self.normal.symmetric.add(name)
        elif boolean := _zero_or_one(apart, free):
            self.normal.booleans.add(boolean)
        return bool(name)

    def _learn(self, line: ParsedLine) -> None:
        """Take a line for granted."""
        match line:
            case ParsedLine((term.Entry(array, at), other, *_), _, "==") if (
                array in self.normal.folded
            ):
                params = [place.index for place in at if place == AxisPlace(place.index)]
                plain = [index for index in params if index is not None]
                whole = len(set(plain)) == len(at)
                if whole and not any(
                    array in {quantity, *quantity.uses} for quantity in names_in(other)
                ):
                    self.normal.instead[array] = plain, other
        first, *rest = (self.normal.read(side) for side in line.sides)
        free = frozenset(self.normal.named(index)[0] for index in line.free)
        for side in rest:
            apart = add(first, scaled(side, -ONE))
            self._rules.learn(apart, free)

    def suppose(self, above: Sequence[Poly]) -> None:
        """Take it that sums are above 0."""
        for poly in above:
            self.normal.positive.add(poly_text(poly))
            if len(poly) == 1:
                ((mono, c),) = poly.items()
                if c > 0 and len(mono) == 1 and mono[0][1] == 1:
                    self.normal.positive.add(mono[0][0].text)

    def shown(self, line: ParsedLine) -> str:
        """Why a line was not shown for all sizes; nothing if it was."""
        self.normal.unseen = ""
        try:
            first, *rest = (self.normal.read(side) for side in line.sides)
            for side in rest:
                left = add(first, scaled(side, -ONE))
                if not self._vanishes(left, 0):
                    return self.normal.unseen or "its sides have different normal forms"
        except NoNormalForm as reason:
            return str(reason)
        except (RecursionError, OverflowError, ZeroDivisionError):
            return "its normal form is too large"
        return ""

    def _flipped(self, poly: Poly, comparison: Atom) -> Poly:
        """The sum with a comparison put in the other order: one of the two stands for both."""
        total: Poly = {}
        for mono, c in poly.items():
            part: Poly = {mono: c}
            if (rest := without(mono, comparison)) != mono:
                part = self.normal.mul({rest: c}, self.normal.flipped(*comparison.data))
            total = add(total, part)
        return total

    def _turned(self, poly: Poly) -> Poly:
        """The sum with ``x step(-x > 0)`` as ``x - x step(x > 0)``."""
        for mono, c in poly.items():
            powers = dict(mono)
            for step, _ in mono:
                if step.kind != "h" or len(step.data) != 1 or step.data[0][1] > 0:
                    continue
                ((base, k),) = step.data
                if all(powers.get(atom, 0) >= e > 0 for atom, e in base):
                    other = scaled(self.normal.above_zero({base: -k}), -ONE)
                    whole = add(self.normal.number(1), other)
                    turned = self.normal.mul({without(mono, step): c}, whole)
                    return add(add(poly, {mono: -c}), turned)
        return poly

    def _vanishes(self, poly: Poly, depth: int) -> bool:
        if not poly:
            return True
        if depth > _CASES:
            raise NoNormalForm("too many cases")
        poly, _ = self.normal.cleared(poly)
        poly = self.normal.identified(poly)
        if not poly:
            return True
        changed = self._rules.done(poly)
        if changed is not poly:
            return self._vanishes(changed, depth + 1)
        atoms = [atom for mono in poly for atom, _ in mono]
        for atom in atoms:
            if atom.kind == "m" and at_text(atom.data[1]) < at_text(atom.data[0]):
                return self._vanishes(self._flipped(poly, atom), depth + 1)
        turned = self._turned(poly)
        if turned is not poly:
            return self._vanishes(turned, depth + 1)
        for atom in atoms:
            if atom.kind == "d" and (to := identified(atom)) is not None:
                apart = {m: c for m, c in poly.items() if all(a is not atom for a, _ in m)}
                return self._vanishes(self.normal.moved(poly, to), depth + 1) and (
                    self._vanishes(apart, depth + 1)
                )
        return False


def _zero_or_one(poly: Poly, free: Sequence[At]) -> str:
    """The array all of whose entries an equation says to be 0 or 1, if that is all it says."""
    if len(poly) != 2 or sum(poly.values()) != 0 or () in poly:
        return ""
    (atom, e), *more = min(poly, key=lambda mono: mono[0][1])
    if more or e != 1 or atom.kind != "x" or ((atom, 2),) not in poly:
        return ""
    name, at = atom.data
    return str(name) if len(at) == len(free) and set(at) == set(free) else ""


def _symmetric(poly: Poly) -> str:
    """The matrix that an equation says to be symmetric, if that is all it says."""
    if len(poly) != 2 or sum(poly.values()) != 0:
        return ""
    first, second = poly
    if len(first) != 1 or len(second) != 1 or first[0][1] != 1 or second[0][1] != 1:
        return ""
    atom, other = first[0][0], second[0][0]
    if atom.kind != "x" or other.kind != "x" or len(atom.data[1]) != 2:
        return ""
    same = atom.data == (other.data[0], other.data[1][::-1])
    return str(atom.data[0]) if same else ""
