"""The definitions behind a function of steps, in the letters of a walkthrough.

The cross-check writes a step on its tape as operations that each have a definition; what is
shown are these, in their order, with the letters of what comes in between as they stand there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from symattn import formulas as f
from symattn import typesetting as t
from symattn.crosscheck import definitions
from symattn.crosscheck.lines import TapeLine
from symattn.crosscheck.tape import Tape, tape
from symattn.errors import Malformed
from symattn.shapes import Shape
from symattn.sheets.definitions import equation, parameter

#: Operations that move entries, or repeat them: a letter stands for what they are of.
_MOVING = ("copy", "spread")
#: Operations that divide by the sum of a row of exponentials, or take its logarithm.
_NORMALISED = ("softmax", "log_softmax")
#: More definitions say less than the step itself.
_MOST = 4


def of_call(name: str, text: str, shapes: Mapping[str, Shape]) -> list[t.Row]:
    r"""The definitions that a step uses; none where they would say little.

    >>> t.latex(of_call("N", "rmsnorm(X, g, eps=0)", {"X": (2, 3), "g": (3,)})[1])
    'N_{i,j} = \\frac{X_{i,j}}{\\sqrt{v_{i}}}g_{j}'
    """
    used = set(re.findall(r"\w+", text)) - {name}
    given = {quantity: _filled(shape) for quantity, shape in shapes.items() if quantity in used}
    try:
        laid = tape(given, {name: text})
    except Malformed:
        return []
    known = {place: f.typeset_name(quantity) for quantity, place in laid.places.items()}
    last = laid.places[name]
    own = [
        place
        for place, line in enumerate(laid.lines)
        if line.where == f"steps.{name}" and line.operation in definitions.RULES
    ]
    if not 0 < len(own) <= _MOST or own[-1] != last:
        return []
    for place in own[:-1]:
        known[place] = _letter(laid, place, own)
    equations = [equation for place in own for equation in _equations(laid, place, known)]
    return equations if all(equations) and len(set(known.values())) == len(known) else []


def _letter(laid: Tape, place: int, own: Sequence[int]) -> t.Row:
    """What a line in between is called: as the definition calls it that uses it first."""
    for user in own:
        line = laid.lines[user]
        for letter, operand in zip(
            definitions.operands(line.operation), line.operands, strict=True
        ):
            if operand == place:
                return parameter(letter)
    return parameter(definitions.RULES[laid.lines[place].operation][0])


def _filled(shape: Shape) -> object:
    """Ones: whole numbers for whatever the step takes them to be."""
    if not shape:
        return 1
    return [_filled(shape[1:]) for _ in range(shape[0])]


def _equations(laid: Tape, place: int, known: Mapping[int, t.Row]) -> Iterator[t.Row]:
    """The definition of a line with its letters and sizes replaced, and before it that of the
    normalisers that it takes; nothing where something has no name."""
    line = laid.lines[place]
    letters = {definitions.RULES[line.operation][0]: known[place]}
    for letter, operand in zip(definitions.operands(line.operation), line.operands, strict=True):
        letters[letter] = _name(laid, operand, known, letter)
    if not all(letters.values()):
        yield t.Row()
        return
    first = laid.lines[line.operands[0]].grid if line.operands else line.grid
    sizes = {"n": first[0], "d": first[1], "m": line.grid[1], **line.sizes}
    if line.operation in _NORMALISED:
        letters["Z"] = parameter("Sigma" if parameter("Z") in known.values() else "Z")
        yield equation("normaliser", letters, sizes)
    yield equation(line.operation, letters, sizes)


def _name(laid: Tape, place: int, known: Mapping[int, t.Row], letter: str) -> t.Row:
    """What stands for an operand: a name, a number written in the step, or of several its
    letter."""
    line: TapeLine = laid.lines[place]
    while place not in known and line.operation in _MOVING:
        (place,) = line.operands
        line = laid.lines[place]
    if place in known:
        return known[place]
    if line.operation != "entries":
        return t.Row()
    if line.grid != (1, 1):
        return parameter(letter)
    mantissa, _, power = f"{line.entries[0][0].value:g}".partition("e")
    if not power:
        return t.number(mantissa)
    ten = t.index(t.number("10"), above=t.number(str(int(power))))
    return t.row(t.number(mantissa), t.DOT, ten) if mantissa != "1" else ten
