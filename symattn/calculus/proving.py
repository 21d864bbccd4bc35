"""Does a line hold for all sizes? Its sides in normal form, their difference nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from symattn.calculus.atoms import ONE, At, Atom, Poly, Undecided, add, at_text, poly_text, scaled
from symattn.calculus.language import Array
from symattn.calculus.normal import Normal, Slopes
from symattn.calculus.rules import Rewriting, Rule, rule
from symattn.calculus.scope import Line

_CASES = 24


class Prover:
    """Normal forms of the lines of one derivation."""

    def __init__(
        self,
        positive: Sequence[str] = (),
        random: Sequence[str] = (),
        folded: frozenset[Array] = frozenset(),
        known: Sequence[Line] = (),
        slopes: Slopes | None = None,
    ) -> None:
        self.normal = Normal(folded, slopes)
        self.normal.positive |= set(positive)
        self.normal.random = frozenset(random)
        self._rules = Rewriting(self.normal, ())
        self._rules = Rewriting(self.normal, [*self._read(known)])

    def _read(self, known: Sequence[Line]) -> Iterator[Rule]:
        """The rules that equations give; those without a normal form give none."""
        for line in known:
            with suppress(Undecided):
                first, *rest = (self.normal.read(side) for side in line.sides)
                free = frozenset(self.normal.named(index)[0] for index in line.free)
                for side in rest:
                    zero = add(first, scaled(side, -ONE))
                    if name := _symmetric(zero):
                        self.normal.symmetric.add(name)
                        continue
                    zero, _ = self.normal.cleared(zero)
                    found = rule(self._rules.done(zero), free)
                    if found:
                        yield found

    def suppose(self, above: Sequence[Poly]) -> None:
        """Take it that sums are above 0."""
        for poly in above:
            self.normal.positive.add(poly_text(poly))
            if len(poly) == 1:
                ((mono, c),) = poly.items()
                if c > 0 and len(mono) == 1 and mono[0][1] == 1:
                    self.normal.positive.add(mono[0][0].text)

    def shown(self, line: Line) -> str:
        """Why a line was not shown for all sizes; nothing if it was."""
        try:
            first, *rest = (self.normal.read(side) for side in line.sides)
            for side in rest:
                left = add(first, scaled(side, -ONE))
                if not self._vanishes(left, 0):
                    return "its sides have different normal forms"
        except Undecided as reason:
            return str(reason)
        except (RecursionError, OverflowError, ZeroDivisionError):
            return "its normal form is too large"
        return ""

    def _flipped(self, poly: Poly, one: Atom) -> Poly:
        """The sum with a comparison put in the other order: one of the two stands for both."""
        found: Poly = {}
        for mono, c in poly.items():
            if all(atom is not one for atom, _ in mono):
                found = add(found, {mono: c})
                continue
            rest = tuple(pair for pair in mono if pair[0] is not one)
            found = add(found, self.normal.mul({rest: c}, self.normal.flipped(*one.data)))
        return found

    def _vanishes(self, poly: Poly, depth: int) -> bool:
        if not poly:
            return True
        if depth > _CASES:
            raise Undecided("too many cases")
        poly, _ = self.normal.cleared(poly)
        if not poly:
            return True
        changed = self._rules.done(poly)
        if changed is not poly:
            return self._vanishes(changed, depth + 1)
        for mono in poly:
            for one, _ in mono:
                if one.kind == "m" and at_text(one.data[1]) < at_text(one.data[0]):
                    return self._vanishes(self._flipped(poly, one), depth + 1)
        for mono in poly:
            for one, _ in mono:
                if one.kind == "d" and (to := _identified(one)) is not None:
                    apart = {m: c for m, c in poly.items() if all(a is not one for a, _ in m)}
                    return self._vanishes(self.normal.moved(poly, to), depth + 1) and (
                        self._vanishes(apart, depth + 1)
                    )
        return False


def _symmetric(poly: Poly) -> str:
    """The matrix that an equation says to be symmetric, if that is all it says."""
    if len(poly) != 2 or sum(poly.values()) != 0:
        return ""
    first, second = poly
    if len(first) != 1 or len(second) != 1 or first[0][1] != 1 or second[0][1] != 1:
        return ""
    one, other = first[0][0], second[0][0]
    if one.kind != "x" or other.kind != "x" or len(one.data[1]) != 2:
        return ""
    same = one.data == (other.data[0], other.data[1][::-1])
    return str(one.data[0]) if same else ""


def _identified(delta: Atom) -> dict[str, At] | None:
    """Where a delta is 1: one index replaced by the other place."""
    first, second = delta.data
    for one, other in ((first, second), (second, first)):
        if not one[0].startswith("=") and one[1:] == (0, ()) and other[0] != one[0]:
            return {one[0]: other}
    return None
