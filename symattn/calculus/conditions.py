"""Conditions, printed under "where", written as they could stand in a file."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import assert_never

from symattn.calculus import language as term
from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.kinds import Atom, Frozen, Mono, Place, within
from symattn.calculus.kernel.signs import Condition, Exists, Source
from symattn.calculus.kernel.terms import Poly
from symattn.calculus.language import AxisPlace, Index
from symattn.calculus.names import LETTERS, free_letters
from symattn.calculus.writing import SideCondition, goal, length, tree
from symattn.expressions import syntax
from symattn.expressions.syntax import Call, Cell, Name, Tree


def written(condition: Condition, sources: Mapping[Condition, Source]) -> SideCondition:
    """A condition as it is printed."""
    if isinstance(condition, Exists):
        return _place_exists(condition.axis, condition.at)
    relation, of, axes = condition
    if (source := _source(sources.get(condition), bool(axes))) is not None:
        value, letters = source
    else:
        taken = _names_in(of) | {axis for axis in axes if isinstance(axis, str)}
        letters = tuple(free_letters(len(axes), taken))
        value = _Writer(letters[::-1], taken).poly(of)
    return SideCondition.that(value, relation, _ZERO, letters)


_ZERO = syntax.rational(0)


def _source(source: Source | None, is_bound: bool) -> tuple[Tree, tuple[str, ...]] | None:
    """An expression that a condition is of, where its indices are, and the letters that it is for
    all of; None where these have no letters."""
    if source is None:
        return None
    at: dict[Index, AxisPlace] = {}
    every: list[Index] = []
    for index, (base, offset, images) in source.at.items():
        if any(way < 0 for _, way in images) or isinstance(base, int):
            return None
        if isinstance(base, Index) and base.name.startswith("%"):
            if offset or images or not is_bound:
                return None
            every.append(index)
            continue
        names = tuple(name for name, _ in images)
        own = base if isinstance(base, Index) else None
        at[index] = AxisPlace(own, "" if own else base or "", offset, names)  # type: ignore[arg-type]
    named = {part.index for each in term.walk(source.value) for part in term.places(each)}
    words = [index.name for index in every if index in named]
    others = {place.index.name for place in at.values() if place.index is not None}
    summed = {part.index for part in term.walk(source.value) if isinstance(part, term.Sum)}
    free = {index for index in named if index is not None and index not in source.at}
    others |= {index.name for index in free - summed}
    inner = {index.name for index in summed}
    captures = {*words} & (others | inner) or others & inner
    if len(set(words)) < len(words) or captures:
        return None
    return tree(term.replaced(source.value, at)), tuple(words)


def _place_exists(axis: term.Axis, at: Place) -> SideCondition:
    base, offset, _ = at
    if base is None:
        return SideCondition.that(length(axis), ">=", syntax.rational(offset))
    if base == axis and offset <= 0:
        return SideCondition.that(length(axis), ">=", syntax.rational(1 - offset))
    index = _Writer().place((base, 0, ()))
    every = (syntax.text(index),) if isinstance(base, int) else ()
    if offset < 0:
        return SideCondition.that(index, ">=", syntax.rational(1 - offset), every)
    return SideCondition.that(_Writer().place((base, offset, ())), "<=", length(axis), every)


class _Writer:
    """Writes terms; ``bound`` are the letters of bound indices, the innermost last, and
    ``taken`` those that name something else."""

    def __init__(self, bound: tuple[str, ...] = (), taken: frozenset[str] = frozenset()) -> None:
        self.bound, self.taken = bound, taken

    def poly(self, poly: Frozen) -> Tree:
        """A term; what has the most factors is added last, whenever atoms were made."""
        products = [(len(mono), self._product(mono, abs(c)), c < 0) for mono, c in poly]
        products.sort(key=lambda each: (each[0], syntax.text(each[1]), each[2]))
        terms = (syntax.negated(each) if below else each for _, each, below in products)
        return syntax.added(terms) if products else _ZERO

    def _product(self, mono: Mono, c: Fraction) -> Tree:
        powers = (syntax.powered(self.atom(atom), e) for atom, e in mono)
        factors = sorted(powers, key=syntax.text)
        if c != 1 or not factors:
            factors.insert(0, syntax.rational(c))
        return syntax.multiplied(factors)

    def atom(self, atom: Atom) -> Tree:
        match atom:
            case kinds.Entry(array, at):
                return self._entry(array.name, at)
            case kinds.Derivative((of, first), (by, second)):
                return Call("diff", (self._entry(of.name, first), self._entry(by.name, second)))
            case kinds.Size(name) | kinds.Constant(name):
                return Name(name)
            case kinds.Position(place):
                return self.place(place)
            case kinds.Delta(first, second):
                return Call("delta", (self.place(first), self.place(second)))
            case kinds.AtMost(first, second):
                return syntax.indicator(self.place(first), "<=", self.place(second))
            case kinds.Positive(term):
                return syntax.indicator(_ZERO, "<", self.poly(term))
            case kinds.Function(name, term):
                return Call(name, (self.poly(term),))
            case kinds.Bracket(term):
                return self.poly(term)
            case kinds.Sum(axes, body):
                own = tuple(free_letters(len(axes), self.taken.union(self.bound)))
                inner = _Writer((*self.bound, *own), self.taken)._product(body, Fraction(1))
                return Call("sum", (*map(Name, own), inner))
            case kinds.Limit(variable, target, of):
                return Call("limit", (Name(variable.name), goal(target), self.poly(of)))
            case kinds.Mean(term):
                return Call("expect", (self.poly(term),))
            case kinds.Operations(array):
                return Call("operations", (Name(array.name),))
        assert_never(atom)

    def _entry(self, name: str, at: tuple[Place, ...]) -> Tree:
        return Cell(Name(name), tuple(map(self.place, at))) if at else Name(name)

    def place(self, at: Place) -> Tree:
        """A place as it stands in brackets."""
        base, offset, images = at
        if isinstance(base, Index):
            name = base.name if not base.name.startswith("%") else LETTERS[int(base.name[1:])]
        elif isinstance(base, int):
            name = self.bound[-1 - base] if base < len(self.bound) else LETTERS[base]
        else:
            name = base or ""
        written = syntax.shifted(Name(name), offset) if name else syntax.rational(offset)
        for image, way in images:
            written = Cell(Name(image if way > 0 else f"{image}^-1"), (written,))
        return written


def _names_in(of: Frozen) -> frozenset[str]:
    """The letters that name something in a term."""
    atoms = [inner for atom in Poly(of).atoms for inner in within(atom)]
    bases = {at[0] for atom in atoms for at in atom.places}
    names = {base.name if isinstance(base, Index) else base for base in bases}
    names |= {atom.axis for atom in atoms if isinstance(atom, kinds.Size)}
    names |= {array.name for atom in atoms for array in atom.arrays}
    return frozenset(name for name in names if isinstance(name, str))
