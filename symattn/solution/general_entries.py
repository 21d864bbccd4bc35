"""The general entry of a stage: one definition with indices for all of its entries.

The definition of one entry is the pattern: terms that differ in an index alone become a sum
over it, and the place of the entry becomes indices. What comes out is put to the proof: it
must give the definition of every entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations

import sympy

from symattn.shapes import Shape
from symattn.solution.stages import Expr, Stage

#: So many entries are tried as patterns, and a sum is over so many axes of letters at most.
_PATTERNS, _AXES = 6, 6


def shapes_of(stages: Iterable[Stage]) -> dict[str, Shape]:
    """The lengths of the axes of all arrays of letters.

    >>> from symattn.solution.solution import solve
    >>> shapes_of(solve("cat-sat-mat").symbolic.derived.up_to("S"))
    {'X': (3, 4), 'Q': (3, 4), 'K': (3, 4), 'S': (3, 3)}
    """
    letters = [x for stage in stages for x in chain(*stage.letters) if isinstance(x, sympy.Indexed)]
    shapes: dict[str, Shape] = {}
    for letter in letters:
        before = shapes.get(letter.base.name, (0,) * len(letter.indices))
        shapes[letter.base.name] = tuple(
            max(length, int(place) + 1)
            for length, place in zip(before, letter.indices, strict=True)
        )
    return shapes


def general_entry(
    stage: Stage, shapes: Mapping[str, Shape], names: Iterable[str]
) -> tuple[Expr, Expr] | None:
    """A letter with indices, called by ``names``, and its definition in such letters; None where
    no definition gives all entries. ``shapes`` are those of all letters in it.

    >>> from symattn.solution.solution import solve
    >>> stages = solve("cat-sat-mat").symbolic.derived
    >>> general_entry(stages["S"], shapes_of(stages.up_to("S")), "ijk")
    (S[_i, _j], Sum(K[_j, _k]*Q[_i, _k], (_k, 0, 3)))
    """
    defined = stage.defined
    if any(entry not in defined for entry in chain(*stage.letters)):
        return None
    dummies = [*map(sympy.Dummy, names)]
    # An axis of length 1 needs no index.
    axes = [axis for axis, length in enumerate(shapes.get(stage.name, ())) if length > 1]
    indices, summed = dict(zip(axes, dummies, strict=False)), dummies[len(axes) :]
    for pattern in _patterns(defined, axes):
        places = {pattern.indices[axis]: index for axis, index in indices.items()}
        letter, definition = (
            _indexed(part, places, shapes) for part in (pattern, _folded(defined[pattern], summed))
        )
        if all(
            _spelled_out(definition.xreplace({indices[axis]: entry.indices[axis] for axis in axes}))
            == wanted
            for entry, wanted in defined.items()
        ):
            return letter, definition
    return None


def _patterns(letters: Iterable[Expr], axes: Sequence[int]) -> list[Expr]:
    """Entries with as many places as indices, the last ones first: 0 may mean much."""
    apart = [x for x in letters if len({x.indices[axis] for axis in axes}) == len(axes)]
    return apart[: -_PATTERNS - 1 : -1]


def _indexed(expression: Expr, places: Mapping[Expr, Expr], shapes: Mapping[str, Shape]) -> Expr:
    """An expression with indices for places."""

    def at(letter: sympy.Indexed) -> Expr:
        lengths = zip(letter.indices, shapes[letter.base.name], strict=True)
        return letter.base[*(places.get(p, p) if length > 1 else p for p, length in lengths)]

    return expression.xreplace({x: at(x) for x in expression.atoms(sympy.Indexed)})


def _folded(expression: Expr, summed: Sequence[Expr]) -> Expr:
    """Terms that differ in an index alone as sums."""
    if not expression.args or isinstance(expression, sympy.Indexed):
        return expression
    parts = [_folded(part, summed) for part in expression.args]
    if not isinstance(expression, sympy.Add):
        return expression.func(*parts)
    alike: dict[Expr, list[Expr]] = {}
    for part in parts:
        form = part.xreplace({x: x.base.label for x in part.atoms(sympy.Indexed)})
        alike.setdefault(form, []).append(part)
    return sympy.Add(*chain.from_iterable(_summed(terms, summed) for terms in alike.values()))


def _summed(terms: list[Expr], summed: Sequence[Expr]) -> list[Expr]:
    """Terms of one form as a sum, or a sum of sums, where they are one."""
    inner = {limit[0] for term in terms for x in term.atoms(sympy.Sum) for limit in x.limits}
    free = [index for index in summed if index not in inner]
    if len(terms) > 1 and free:
        axes = {
            (x.base, axis)
            for x in terms[0].atoms(sympy.Indexed)
            for axis, place in enumerate(x.indices)
            if place.is_Integer
        }
        for count in range(min(len(axes), _AXES), 0, -1):
            for chosen in combinations(sorted(axes, key=str), count):
                if sums := _summed_over(terms, chosen, free[0]):
                    return _summed(sums, summed)
    return terms


def _summed_over(terms: list[Expr], axes: Sequence[tuple[Expr, int]], index: Expr) -> list[Expr]:
    """Terms as sums over one index, at the same axes of the same letters; none where they
    aren't."""
    runs: dict[Expr, set[Expr]] = {}
    for term in terms:
        letters = term.atoms(sympy.Indexed)
        at = {x: [axis for base, axis in axes if base == x.base] for x in letters}
        places = {x.indices[axis] for x in letters for axis in at[x]}
        general = {
            x: x.base[*(index if k in at[x] else place for k, place in enumerate(x.indices))]
            for x in letters
        }
        if len(places) != 1:
            return []
        runs.setdefault(term.xreplace(general), set()).update(places)
    count = len(terms) // len(runs)
    if count < 2 or any(run != {*map(sympy.Integer, range(count))} for run in runs.values()):
        return []
    signs = ((-1 if term.could_extract_minus_sign() else 1, term) for term in runs)
    return [sign * sympy.Sum(sign * term, (index, 0, count - 1)) for sign, term in signs]


def _spelled_out(expression: Expr) -> Expr:
    """An expression with its sums written out."""
    if not expression.has(sympy.Sum):
        return expression
    if not isinstance(expression, sympy.Sum):
        return expression.func(*map(_spelled_out, expression.args))
    whole = _spelled_out(expression.function)
    for index, first, last in expression.limits:
        places = range(int(first), int(last) + 1)
        whole = sympy.Add(*(whole.xreplace({index: sympy.Integer(k)}) for k in places))
    return whole
