"""Does a line hold for all sizes? Its sides in normal form, their difference nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from symattn.calculus import language as term
from symattn.calculus.atoms import (
    ONE,
    At,
    Atom,
    NoNormalForm,
    Poly,
    add,
    at_text,
    poly_text,
    scaled,
    without,
)
from symattn.calculus.differentiating import names_in
from symattn.calculus.language import Array, AxisPlace
from symattn.calculus.normal import Normal, SlopeCache
from symattn.calculus.rules import Rewriting
from symattn.calculus.scope import ParsedLine
from symattn.calculus.sums import identified

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
        self._rules = Rewriting(self.normal)
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
