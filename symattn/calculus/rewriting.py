"""Equations used as rules: what is assumed, or was shown before, put in where it comes up.

A rule replaces a product, with any indices, by what it equals. Of the products of an equation
the largest is the one replaced, so that rules come to an end; where both sides are as large
(``S[i, j] == S[j, i]``) only what makes the product smaller is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from symattn.calculus.choices import size_of
from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.computing import Step
from symattn.calculus.kernel.kinds import Atom, Exponent, Mono, Place, within
from symattn.calculus.kernel.proof import Instance, Kernel, Last, Shown
from symattn.calculus.kernel.terms import FIRST, Poly, Unproved, single
from symattn.calculus.language import Array, Index
from symattn.calculus.tensors import ParsedLine

_SOLVED: tuple[type[Atom], ...] = (
    kinds.Entry,
    kinds.Operations,
    kinds.Limit,
    kinds.Mean,
    kinds.Derivative,
)
"""Kinds that an equation is solved for rather than for others, the last first."""
_LEARNED = 60
"""So many equations are made rules, those counted again that a later one changes."""


#: When a product came up: after how many times of forgetting, and which arrays were varied.
ProductKey = tuple[int, frozenset[Array], Mono]


@dataclass
class Record:
    """The choices made for one proof, or to get ready for proofs."""

    steps: dict[ProductKey, Step] = field(default_factory=dict)
    equations: list[tuple[str, int]] = field(default_factory=list)
    """Equations that were made of others: how, and of which."""
    lasts: list[Last] = field(default_factory=list)


@dataclass(frozen=True)
class RewriteRule:
    """``left`` of an equation is what the rest of it says, whatever its indices are."""

    number: int
    left: Mono
    free: frozenset[Index]
    eliminates: bool
    """Whether something of what is replaced does not come back."""
    idle: tuple[Index, ...] = ()
    """Indices of the rest only: whatever they are, they may be the first place."""


class Rewriting:
    """The rules of the equations that a kernel is given."""

    def __init__(self, kernel: Kernel, record: Record) -> None:
        self.kernel = kernel
        self._record = record
        self.rules: list[RewriteRule] = []

    def learn(self, place: int, line: ParsedLine, shown: Shown | None) -> None:
        """Add the rules of a line, and put them into the rules before."""
        for number in self._assumed(place, line, shown):
            self._learn(number)

    def again(self, record: Record, given: Sequence[tuple[ParsedLine, Shown | None]]) -> None:
        """Do what was done to learn from lines."""
        for how, number in record.equations:
            if how == "assume":
                self._assumed(number, *given[number])
            elif how == "forget":
                self._forget()
            else:
                self._derived(how, number)

    def _assumed(self, place: int, line: ParsedLine, shown: Shown | None) -> list[int]:
        self._record.equations.append(("assume", place))
        return self.kernel.assume(line, shown)

    def _forget(self) -> None:
        self._record.equations.append(("forget", 0))
        self.kernel.forget()

    def _derived(self, how: str, number: int) -> int:
        """The number of an equation that the kernel makes of another."""
        self._record.equations.append((how, number))
        return self.kernel.derive(how, number)

    def _learn(self, number: int) -> None:
        kernel = self.kernel
        todo = [number]
        for _ in range(_LEARNED):
            if not todo:
                return
            number = self._derived("restated", todo.pop(0))
            learned = self._rule(number)
            if learned is None:
                continue
            before, self.rules = self.rules, [learned]
            self._forget()
            kept = []
            for known in before:
                zero = kernel.given[known.number].zero
                if kernel.again(zero) == zero:
                    kept.append(known)
                else:
                    todo.append(known.number)
            self.rules = [*kept, learned]
            self._forget()

    def _rule(self, number: int) -> RewriteRule | None:
        given = self.kernel.given[number]
        choice = _left(given.zero, given.free, solved=True)
        if choice is None:
            number = self._derived("whole", number)
            given = self.kernel.given[number]
            choice = _left(given.zero, given.free)
        if choice is None:
            return None
        left, eliminates = choice
        idle = tuple((given.free & given.zero.free) - single(left).free)
        return RewriteRule(number, left, given.free, eliminates, idle)

    def step(self, mono: Mono) -> Step | None:
        """The step that applies a rule to a product, if one applies."""
        return next((step for rule in self.rules for step in self._steps(rule, mono)), None)

    def _steps(self, rule: RewriteRule, mono: Mono) -> Iterator[Step]:
        kernel = self.kernel
        match rule.left, mono:
            case ((kinds.Sum() as pattern, _),), ((kinds.Sum() as target, 1),):
                yield from self._nests(rule, pattern, mono, target)
        single = len(mono) == 1 and len(rule.left) == 1 and rule.left[0][1] == 1
        of = mono
        if single and (mono[0][1] < 0 or not isinstance(mono[0][1], int)):
            of = ((mono[0][0], 1),)
        for names, rest in matches(list(rule.left), of, {}, rule.free):
            at = {**dict.fromkeys(rule.idle, FIRST), **names}
            inner = rule.free - at.keys()
            if any(index in self.kernel.given[rule.number].zero.free for index in inner):
                continue
            at |= dict.fromkeys(inner, FIRST)
            use = Instance(rule.number, rule.left, tuple(at.items()), rest)
            try:
                with kernel.apart():
                    changed = kernel.instance(of, use)
            except Unproved:
                continue
            if (
                rule.eliminates
                or all(size_of(product) < size_of(of) for product in changed)
                or (rule.idle and len(changed) == 1 and of not in changed)
            ):
                yield Step("instance" if of is mono else "base", mono, use)
                return

    def _nests(
        self, rule: RewriteRule, pattern: kinds.Sum, mono: Mono, target: kinds.Sum
    ) -> Iterator[Step]:
        """A rule for a sum, applied to a sum of which it is a part."""
        axes, kernel = pattern.axes, self.kernel
        with kernel.inside(*target.axes) as variables:
            if len(variables) <= len(axes):
                return
            body = kernel.opened(target.body, variables)
            for names in permutations(variables, len(axes)):
                if tuple(each.size for each in names) != axes:
                    continue
                inner = kernel.opened(pattern.body, names)
                for found, rest in matches(list(inner), body, {}, rule.free):
                    if not single(rest).free.isdisjoint(names):
                        continue
                    if any(at[0] in names for at in found.values()):
                        continue
                    yield Step("nest", mono, tuple(variables.index(each) for each in names))
                    return


def _left(zero: Poly, free: Set[Index], solved: bool = False) -> tuple[Mono, bool] | None:
    """The product to be replaced, and whether something of it does not come back."""
    best: tuple[Any, Mono] | None = None
    for mono in zero:
        if not mono or any(isinstance(atom, kinds.Bracket) or e < 0 for atom, e in mono):
            continue
        rest = [other for other in zero if other != mono]
        # It has all indices of its equation, and nothing that is only 0 or 1.
        covers = free & zero.free <= single(mono).free and not any(
            isinstance(atom, kinds.Boolean) for atom, _ in mono
        )
        eliminates = covers and not _named((mono,)) <= _named(rest)
        kind = type(mono[0][0]) if eliminates and len(mono) == 1 and mono[0][1] == 1 else None
        if solved and not eliminates:
            continue
        rank = _SOLVED.index(kind) if kind in _SOLVED else -1
        key = (rank, eliminates, covers, size_of(mono))
        if best is None or key > best[0]:
            best = key, mono
    return best and (best[1], best[0][1])


def _named(monos: Iterable[Mono]) -> set[object]:
    """Return what stands in products that is given a value: arrays, derivatives, counts."""
    names: set[object] = set()
    for outer in (atom for mono in monos for atom, _ in mono):
        for atom in within(outer):
            match atom:
                case kinds.Entry(array):
                    names.add(array)
                case kinds.Derivative((of, _), (by, _)):
                    names.add((of, by))
                case kinds.Operations():
                    names.add(atom)
    return names


Names = Mapping[Index, Place]
_Terms = Sequence[tuple[Mono, Any]]


def matches(
    pattern: list[tuple[Atom, Exponent]], mono: Mono, names: Names, free: Set[Index]
) -> Iterator[tuple[Names, Mono]]:
    """The ways in which a product is a part of another: places for its indices, and the rest."""
    if not pattern:
        yield names, mono
        return
    (atom, e), *others = pattern
    for target, k in mono:
        if (k < e) if e > 0 else (k > e):
            continue
        if k != e and not (isinstance(k, int) and isinstance(e, int)):
            continue
        bound = _unified(atom, target, names, free)
        if bound is None:
            continue
        rest = tuple((a, b - e if a is target else b) for a, b in mono if a is not target or b != e)
        yield from matches(others, rest, bound, free)


def _unified(atom: Atom, target: Atom, names: Names, free: Set[Index]) -> Names | None:
    if atom is target and atom.free.isdisjoint(free):
        return names
    if _head(atom) != _head(target):
        return None
    bound = _places(atom.places, target.places, names, free)
    return None if bound is None else _sums([*atom.parts], [*target.parts], bound, free)


def _head(atom: Atom) -> tuple[object, ...]:
    """Return what an atom is apart from its places and what it is made of."""
    return atom.letter, *kinds.mapped(atom, lambda place: None, lambda term: None)


def _sums(pattern: _Terms, terms: _Terms, names: Names, free: Set[Index]) -> Names | None:
    """Places that make a term another."""
    if len(pattern) != len(terms):
        return None
    if not pattern:
        return names
    (mono, c), *others = pattern
    for target, k in terms:
        if c != k:
            continue
        left = [pair for pair in terms if pair[0] != target]
        wholly = (bound for bound, rest in matches([*mono], target, names, free) if not rest)
        for bound in wholly:
            way = _sums(others, left, bound, free)
            if way is not None:
                return way
    return None


def _places(
    pattern: Sequence[Place], places: Sequence[Place], names: Names, free: Set[Index]
) -> Names | None:
    bound = dict(names)
    if len(pattern) != len(places):
        return None
    for mine, theirs in zip(pattern, places, strict=True):
        index = mine[0]
        if not isinstance(index, Index) or index not in free:
            if mine != theirs:
                return None
            continue
        if mine[2]:
            if theirs[2][-len(mine[2]) :] != mine[2]:
                return None
            theirs = (theirs[0], theirs[1], theirs[2][: -len(mine[2])])
        if mine[1] and theirs[2]:
            return None
        if isinstance(theirs[0], int):
            return None
        at = (theirs[0], theirs[1] - mine[1], theirs[2])
        if bound.setdefault(index, at) != at:
            return None
    return bound
