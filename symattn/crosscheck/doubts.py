"""What floats can't tell, and why: the lines of a tape where that begins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from symattn.crosscheck.evaluation import DECIDING, Tracks, rational
from symattn.crosscheck.lines import TapeLine
from symattn.crosscheck.passes import MASKS
from symattn.crosscheck.tape import Tape
from symattn.languages.sentence import Sentence
from symattn.limits import RECOMPUTED

#: What can't be told where an operation has no float for a result.
_NO_FLOAT = {
    "quotient": Sentence("a divisor can't be distinguished from 0"),
    "scaled_score": Sentence("a divisor can't be distinguished from 0"),
    "logarithm": Sentence("the argument of a logarithm can't be distinguished from 0"),
    "square_root": Sentence("the argument of a root can't be distinguished from a negative number"),
    "mask": Sentence("whether the mask is 0 or 1 can't be decided"),
    "where": Sentence("whether the mask is 0 or 1 can't be decided"),
    **dict.fromkeys(
        ("greater", "at_least", "less", "at_most", "equal", "unequal", "sign"),
        Sentence("which of two numbers is larger can't be decided"),
    ),
    **dict.fromkeys(
        ("one_hot", "embedding", "nll"),
        Sentence("whether a number is an integer can't be decided"),
    ),
    "entropy": Sentence("whether a weight is 0 can't be decided"),
    "cross_entropy": Sentence("whether the target of a masked logit is 0 can't be decided"),
    "entries": Sentence("the upstream gradient contains symbols"),
    "gradient": Sentence("a divisor can't be distinguished from 0, or a number from a kink"),
}
_OVERFLOW = Sentence("a number is beyond the range of 64-bit floats")
_NEARLY = Sentence("the mask is 0 or 1 only up to rounding")


class Doubts:
    """The lines at which floats stop to tell what is true, with the reason."""

    def __init__(self, tape: Tape, lines: Sequence[Tracks]) -> None:
        self._tape = tape
        self._unknown = {place for place, rows in enumerate(lines) if _has_unknown(rows)}
        #: Where something unknown comes of what is known.
        beyond = tape.beyond()
        self._origins = {
            place: RECOMPUTED.said(beyond[place])
            if place in beyond
            else _reason(tape.lines[place], lines[place])
            for place in sorted(self._unknown)
            if self._unknown.isdisjoint(tape.lines[place].operands)
        }
        # Steps may mask more than once; each is one quantity.
        self._masks = {
            line.where: _said(line, _NEARLY)
            for line in tape.lines
            if line.operation in MASKS
            and _is_rounded(lines[line.operands[MASKS[line.operation]]])
            and rational(tape, lines, line.operands[MASKS[line.operation]]) is None
        }

    def of_quantity(self, place: int) -> str:
        """Why floats leave a quantity open; '' where they don't."""
        if place in self._unknown:
            return self._first(self._tape.uses(place))
        return self._masks.get(self._tape.lines[place].where, "")

    def of_gradient(self, output: int, flow: Tracks, slopeless: bool) -> str:
        """Why floats leave a gradient open; ``slopeless`` where the output holds
        -inf at an entry that counts."""
        if not _has_unknown(flow):
            return ""
        name = _name(self._tape.lines[output])
        if slopeless:
            return Sentence(
                "{output}, the output of the loss, contains -inf, where it has no derivative",
                output=name,
            )
        return self._first(self._tape.uses(output)) or self._way_back(output, name)

    def _way_back(self, output: int, name: str) -> str:
        operations = {self._tape.lines[place].operation for place in self._tape.uses(output)}
        if "gradient" in operations:
            return Sentence(
                "{output} contains a gradient; its slope meets a kink, needs a third "
                "derivative, or is counted with that of another quantity",
                output=name,
            )
        if operations & DECIDING:
            return Sentence(
                "in the backward pass from {output} a number can't be distinguished from a kink",
                output=name,
            )
        return Sentence(
            "in the backward pass from {output} a divisor can't be distinguished from 0, or "
            "{overflow}",
            output=name, overflow=_OVERFLOW,
        )  # fmt: skip

    def _first(self, places: Iterable[int]) -> str:
        return next(
            (self._origins[place] for place in sorted(places) if place in self._origins), ""
        )


def _has_unknown(rows: Tracks) -> bool:
    """Whether nothing is known of an entry."""
    return any(entry.is_unknown for row in rows for entry in row)


def _is_rounded(mask: Tracks) -> bool:
    return any(entry.error for row in mask for entry in row if len(entry.near(0.0, 1.0)) == 1)


def _reason(line: TapeLine, rows: Tracks) -> str:
    entries = [entry for row in rows for entry in row if entry.is_unknown]
    undefined = any(math.isnan(entry.value) for entry in entries)
    return _said(line, _NO_FLOAT.get(line.operation, _OVERFLOW) if undefined else _OVERFLOW)


def _said(line: TapeLine, what: str) -> str:
    return Sentence("in {quantity} {what}", quantity=_name(line), what=what)


def _name(line: TapeLine) -> str:
    """The quantity that a line belongs to."""
    return line.where.partition(".")[2]
