"""Marked documents: worked examples whose printed figures say what they are the value of.

A document is committed with marks in its text, beside a case file of the same
name that says the truth. Between the brackets stand, with bars between them, an
expression over the names of the truth, what the document prints and, where that is a
planted slip, what would be correct::

    ⟦A[0, 1]|0.1863⟧  ⟦A[0, 1]|0.1836|0.1863⟧  ⟦given X[0, 0]|1⟧  ⟦=|0.42⟧

``given`` is an entry of an input where the document gives it; ``=`` a figure in
arithmetic that carries its own operands. Numbers without marks claim nothing.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

from symattn.numbers.rationals import PrintedNumber, read_printed

_MARK = re.compile(r"⟦(given )?([^|⟦⟧]*+)\|([^|⟦⟧]++)(?:\|([^|⟦⟧]++))?+⟧")
_ARITHMETIC = "="
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:[,' \u202f][0-9]{3})+(?:\.[0-9]+)?")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


@dataclass(frozen=True)
class Mark:
    """A figure of a document: its expression, '' in arithmetic of its own; what is
    printed from ``start`` to before ``end`` of the text without marks; and what is
    correct, if that is something else."""

    expression: str
    printed: str
    correct: str | None
    start: int
    end: int
    is_given: bool = False

    @property
    def is_slip(self) -> bool:
        return self.correct is not None


@dataclass(frozen=True)
class Marked:
    """A document without its marks, these, and the file that has the truth."""

    name: str
    text: str
    marks: tuple[Mark, ...]
    truth: Path

    @property
    def slips(self) -> tuple[Mark, ...]:
        """The marks of planted slips."""
        return tuple(mark for mark in self.marks if mark.is_slip)

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of a character, both from 1."""
        line = self.text.count("\n", 0, offset)
        return line + 1, offset - (self.text.rfind("\n", 0, offset) + 1) + 1


def read(text: str) -> tuple[str, tuple[Mark, ...]]:
    """The text without its marks, and the marks; ValueError for what is no mark."""
    pieces: list[str] = []
    marks: list[Mark] = []
    at = length = 0
    for match in _MARK.finditer(text):
        before = text[at : match.start()]
        given, expression, printed, correct = match.groups()
        pieces += [before, printed]
        start = length + len(before)
        length = start + len(printed)
        named = "" if expression == _ARITHMETIC else expression
        marks.append(Mark(named, printed, correct, start, length, given is not None))
        at = match.end()
    stripped = "".join([*pieces, text[at:]])
    if left := re.search("[⟦⟧]", stripped):
        line = stripped.count("\n", 0, left.start()) + 1
        raise ValueError(f"line {line}: a bracket that belongs to no mark")
    return stripped, tuple(marks)


def load(path: Path) -> Marked:
    """The marked document of a file that ends in ``.marked``."""
    text, marks = read(path.read_bytes().decode())
    document = path.with_suffix("")
    return Marked(document.name, text, marks, document.with_suffix(".toml"))


def documents(folder: Path) -> list[Path]:
    """The marked documents of a folder, by name."""
    return sorted(folder.glob("*.marked"))


def number(figure: str) -> PrintedNumber:
    """A figure's number, however its document writes signs, points and powers of ten.

    A comma before three digits parts thousands, unless it stands in braces.

    >>> number("&minus;0.50") == number("-0.50"), number("−0.50").places
    (True, 2)
    >>> [str(number(text).value) for text in ("0,506", "4{,}066", "1,234.5", "3.07×10²")]
    ['253/500', '2033/500', '2469/2', '307']
    """
    plain = html.unescape(figure).replace("−", "-").replace("{,}", ".")
    plain = plain.replace(r"\times", "×").replace("{", "").replace("}", "")
    if _THOUSANDS.fullmatch(plain):
        plain = re.sub("[,' \u202f]", "", plain)
    printed = read_printed(plain.replace(",", ".").translate(_RAISED))
    assert printed is not None, figure
    return printed
