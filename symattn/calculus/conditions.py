"""Conditions, printed under "where", written as they could stand in a file."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import assert_never

from symattn.calculus import language as term
from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.kinds import Atom, Exponent, Frozen, Mono, Place, within
from symattn.calculus.kernel.signs import Condition, Exists, Source
from symattn.calculus.kernel.terms import Poly
from symattn.calculus.language import Array, AxisPlace, Index, text
from symattn.calculus.names import LETTERS, free_letters


def written(condition: Condition, sources: Mapping[Condition, Source]) -> str:
    """A condition as text."""
    if isinstance(condition, Exists):
        return _place_exists(condition.axis, condition.at)
    relation, of, axes = condition
    value = _source(sources.get(condition), bool(axes))
    if value is None:
        taken = _names_in(of) | {axis for axis in axes if isinstance(axis, str)}
        letters = tuple(free_letters(len(axes), taken))
        every = f" for all {', '.join(letters)}" if axes else ""
        return f"{_Writer(letters[::-1], taken).poly(of)} {relation} 0{every}"
    return value.replace("?", relation, 1)


def _source(source: Source | None, is_bound: bool) -> str | None:
    """An expression that a condition is of, where its indices are; None where these have no
    letters."""
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
    return f"{text(term.replaced(source.value, at))} ? 0" + (
        f" for all {', '.join(words)}" if words else ""
    )


def _place_exists(axis: object, at: Place) -> str:
    base, offset, _ = at
    if base is None:
        return f"{axis} >= {offset}"
    if base == axis and offset <= 0:
        return f"{axis} >= {1 - offset}"
    index = _Writer().place((base, 0, ()))
    every = f" for all {index}" if isinstance(base, int) else ""
    if offset < 0:
        return f"{index} >= {1 - offset}{every}"
    return f"{_Writer().place((base, offset, ()))} <= {axis}{every}"


class _Writer:
    """Writes terms; ``bound`` are the letters of bound indices, the innermost last, and
    ``taken`` those that name something else."""

    def __init__(self, bound: tuple[str, ...] = (), taken: frozenset[str] = frozenset()) -> None:
        self.bound, self.taken = bound, taken

    def poly(self, poly: Frozen) -> str:
        """A term; what is added last is what has the most factors. The order does not depend on
        when atoms were made."""
        products = sorted((len(mono), self._product(mono, abs(c)), c < 0) for mono, c in poly)
        parts = [f"{'-' if below else ''}{text}" for _, text, below in products]
        return " + ".join(parts).replace("+ -", "- ") or "0"

    def _product(self, mono: Mono, c: Fraction) -> str:
        factors = sorted(self._power(atom, e) for atom, e in mono)
        if abs(c) != 1 or not factors:
            factors.insert(0, str(abs(c)))
        return f"{'-' if c < 0 else ''}{' * '.join(factors)}"

    def _power(self, atom: Atom, e: Exponent) -> str:
        base = self.atom(atom)
        if e == 1:
            return base
        if e == Fraction(1, 2):
            is_bracket = isinstance(atom, kinds.Bracket)
            return f"sqrt({base.removeprefix('(').removesuffix(')') if is_bracket else base})"
        return f"{base}**{e if e == int(e) and e > 0 else f'({e})'}"

    def atom(self, atom: Atom) -> str:
        match atom:
            case kinds.Entry(array, at):
                return self._entry(array, at)
            case kinds.Derivative(of, by):
                return f"diff({self._entry(*of)}, {self._entry(*by)})"
            case kinds.Size(name) | kinds.Constant(name):
                return name
            case kinds.Position(place):
                return self.place(place)
            case kinds.Delta(first, second):
                return f"delta({self.place(first)}, {self.place(second)})"
            case kinds.AtMost(first, second):
                return f"step({self.place(first)} <= {self.place(second)})"
            case kinds.Positive(term):
                return f"step(0 < {self.poly(term)})"
            case kinds.Function(name, term):
                return f"{name}({self.poly(term)})"
            case kinds.Bracket(term):
                return f"({self.poly(term)})"
            case kinds.Sum(axes, body):
                own = tuple(free_letters(len(axes), self.taken.union(self.bound)))
                inner = _Writer((*self.bound, *own), self.taken)
                return f"sum({', '.join(own)}, {inner._product(body, Fraction(1))})"
            case kinds.Limit(variable, target, term):
                return f"limit({variable.name}, {target}, {self.poly(term)})"
            case kinds.Mean(term):
                return f"expect({self.poly(term)})"
            case kinds.Operations(array):
                return f"operations({array.name})"
        assert_never(atom)

    def _entry(self, array: Array, at: tuple[Place, ...]) -> str:
        return f"{array.name}[{', '.join(map(self.place, at))}]" if at else array.name

    def place(self, at: Place) -> str:
        """A place as it stands in brackets."""
        base, offset, images = at
        if isinstance(base, Index):
            name = base.name if not base.name.startswith("%") else LETTERS[int(base.name[1:])]
        elif isinstance(base, int):
            name = self.bound[-1 - base] if base < len(self.bound) else LETTERS[base]
        else:
            name = base or ""
        written = f"{name} {'+' if offset > 0 else '-'} {abs(offset)}" if name and offset else name
        written = written or str(offset)
        for image, way in images:
            written = f"{image}{'' if way > 0 else '^-1'}[{written}]"
        return written


def _names_in(of: Frozen) -> frozenset[str]:
    """The letters that name something in a term."""
    atoms = [inner for atom in Poly(of).atoms for inner in within(atom)]
    bases = {at[0] for atom in atoms for at in atom.places}
    names = {base.name if isinstance(base, Index) else base for base in bases}
    names |= {atom.axis for atom in atoms if isinstance(atom, kinds.Size)}
    names |= {array.name for atom in atoms for array in atom.arrays}
    return frozenset(name for name in names if isinstance(name, str))
