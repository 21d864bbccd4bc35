"""The definitions behind a function of steps, in the letters of a walkthrough.

The cross-check writes a step on its tape as operations that each have a definition; what is
shown are these, in their order, with the letters of what comes in between as they stand there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from symattn import formulas as f
from symattn.crosscheck import definitions
from symattn.crosscheck.lines import Line
from symattn.crosscheck.tape import Tape, tape
from symattn.errors import Malformed
from symattn.printers import notation
from symattn.shapes import Shape
from symattn.sheets.definitions import in_sizes
from symattn.sheets.presentation import grouped

#: Operations that move entries, or repeat them: a letter stands for what they are of.
_MOVING = ("copy", "spread")
#: More definitions say less than the step itself.
_MOST = 4
#: A letter of a definition: of an array with its indices, or of a number.
_WORD = re.compile(r"(\\?[A-Za-z]+)(_\{(?:[^{}]|\{[^{}]*\})*\})?")
_NUMBER = re.compile(r"-?[\d.]+(?: \\cdot 10\^\{-?\d+\})?|10\^\{-?\d+\}")


def of_call(name: str, text: str, shapes: Mapping[str, Shape]) -> list[str]:
    r"""The definitions that a step uses, in LaTeX; none where they would say little.

    >>> of_call("N", "rmsnorm(X, g, eps=0)", {"X": (2, 3), "g": (3,)})[1]
    'N_{i, j} = \\frac{X_{i, j}}{\\sqrt{ v_{i} }} g_{j}'
    """
    used = set(re.findall(r"\w+", text)) - {name}
    given = {quantity: _filled(shape) for quantity, shape in shapes.items() if quantity in used}
    try:
        laid = tape(given, {name: text})
    except Malformed:
        return []
    known = {place: f.name_latex(quantity) for quantity, place in laid.places.items()}
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
    if not all(equations) or len(set(known.values())) < len(known):
        return []
    return equations if all(map(_is_readable, equations)) else []


def _is_readable(equation: str) -> bool:
    """Whether every printer of sheets knows the signs of an equation."""
    try:
        notation.read(equation)
    except notation.Unknown:
        return False
    return True


def _letter(laid: Tape, place: int, own: Sequence[int]) -> str:
    """What a line in between is called: as the definition calls it that uses it first."""
    for user in own:
        line = laid.lines[user]
        for letter, operand in zip(
            definitions.operands(line.operation), line.operands, strict=True
        ):
            if operand == place:
                return definitions.letter(letter)
    return definitions.RULES[laid.lines[place].operation][0]


def _filled(shape: Shape) -> object:
    """Ones: whole numbers for whatever the step takes them to be."""
    if not shape:
        return 1
    return [_filled(shape[1:]) for _ in range(shape[0])]


def _equations(laid: Tape, place: int, known: Mapping[int, str]) -> Iterator[str]:
    """The definition of a line with its letters and sizes replaced, and before it that of the
    normalisers that it takes; '' where something has no name."""
    line = laid.lines[place]
    letters = {definitions.RULES[line.operation][0]: known[place]}
    for letter, operand in zip(definitions.operands(line.operation), line.operands, strict=True):
        letters[letter] = _name(laid, operand, known, letter)
    if not all(letters.values()):
        yield ""
        return
    if "Z_{" in definitions.formula(line.operation):
        letters["Z"] = "Z" if "Z" not in known.values() else r"\Sigma"
        yield _replaced("normaliser", letters, laid, line)
    yield _replaced(line.operation, letters, laid, line)


def _replaced(operation: str, letters: Mapping[str, str], laid: Tape, line: Line) -> str:
    first = laid.lines[line.operands[0]].grid if line.operands else line.grid
    sizes = {"n": first[0], "d": first[1], "m": line.grid[1], **line.sizes}
    formula = in_sizes(definitions.formula(operation), sizes)

    def replaced(match: re.Match[str]) -> str:
        word, indices = match[1].removeprefix("\\"), match[2] or ""
        if word in letters:
            letter = letters[word]
            if _NUMBER.fullmatch(letter):
                return letter
            inner = _WORD.sub(replaced, indices)
            return (grouped(letter) if inner else letter) + inner
        inner = _WORD.sub(replaced, indices)
        is_size = word in sizes and not match[1].startswith("\\")
        return (str(sizes[word]) if is_size else match[1]) + inner

    formula = _WORD.sub(replaced, formula).replace(r"\exp ", r"\exp\, ")
    formula = re.sub(r"(?<=\d) (?=\d)", r" \\cdot ", formula)
    # What a left-out option adds or multiplies by is nothing to read.
    return re.sub(r" [+-] 0(?![\d.])|(?<=\}) 1(?= |$)", "", formula)


def _name(laid: Tape, place: int, known: Mapping[int, str], letter: str) -> str:
    """What stands for an operand: a name, a number written in the step, or of several its
    letter."""
    line: Line = laid.lines[place]
    while place not in known and line.operation in _MOVING:
        (place,) = line.operands
        line = laid.lines[place]
    if place in known:
        return known[place]
    if line.operation != "entries":
        return ""
    if line.grid != (1, 1):
        return letter
    mantissa, _, power = f"{line.entries[0][0].value:g}".partition("e")
    if not power:
        return mantissa
    return (rf"{mantissa} \cdot " if mantissa != "1" else "") + f"10^{{{int(power)}}}"
