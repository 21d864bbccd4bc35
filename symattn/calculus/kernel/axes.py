"""Axes along which the places of an atom are.

What is read from a derivation compares places of one axis, sends them through permutations of
their axis and sums over axes that have places; the rules rely on it. Atoms that come from
elsewhere have to be made so, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.kinds import Atom, Place
from symattn.calculus.kernel.terms import Unproved
from symattn.calculus.language import Array, Axis, Index


def refuse_no_axis(axis: object) -> None:
    """Refuse what is no axis: a name, or a length from 1."""
    if not (isinstance(axis, str) or (isinstance(axis, int) and axis > 0)):
        raise Unproved("an axis without places")


def refuse_misplaced(
    atom: Atom, permutations: Mapping[str, Axis], around: tuple[Axis, ...] = ()
) -> None:
    """Refuse an atom with places that are not along the axes that they have to be along; so many
    indices are bound ``around`` it, the innermost last."""
    match atom:
        case kinds.Sum(axes):
            for axis in axes:
                refuse_no_axis(axis)
            around = (*around, *axes)
        case kinds.Entry(array, at):
            _refuse_beside(array, at, around)
        case kinds.Derivative(of, by):
            _refuse_beside(*of, around)
            _refuse_beside(*by, around)
        case kinds.Limit(variable):
            if variable.axes:
                raise Unproved("a limit in what is no number")
        case kinds.Delta() | kinds.AtMost():
            own = [_axis(place, around) for place in atom.places if not isinstance(place[0], str)]
            if len({axis for axis in own if axis is not None}) > 1:
                raise Unproved("places of two axes are compared")
        case kinds.Size() | kinds.Constant() | kinds.Position() | kinds.Operations():
            pass
        case kinds.Positive() | kinds.Function() | kinds.Bracket() | kinds.Mean():
            pass
        case _:
            assert_never(atom)
    for place in atom.places:
        along = _axis(place, around)
        if any(permutations[name] != (along or permutations[name]) for name, _ in place[2]):
            raise Unproved("a place goes through a permutation of another axis")
    if around:
        # What binds no index was looked at when it was made.
        for mono, _ in atom.parts:
            for inner, _ in mono:
                if inner.loose:
                    refuse_misplaced(inner, permutations, around)


def _refuse_beside(array: Array, at: tuple[Place, ...], around: tuple[Axis, ...]) -> None:
    """Refuse an entry that has not its places along the axes of its array."""
    for axis, place in zip(array.axes, at, strict=True):
        if _axis(place, around) not in (axis, None):
            raise Unproved("a place along another axis than that of its array")


def _axis(place: Place, around: tuple[Axis, ...]) -> Axis | None:
    """The axis that a place is along, as far as it is known."""
    base = place[0]
    if isinstance(base, int):
        return around[-1 - base] if base < len(around) else None
    return base.size if isinstance(base, Index) else base
