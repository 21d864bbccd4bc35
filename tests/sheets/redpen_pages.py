"""A red-pen sheet read back: what is struck is wrong, what replaces it is right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from symattn.printers import blocks as b

from ..notation import in_latex
from .mathematics import read, value
from .pages import agree, plain
from .truth import DIGITS, Truth, exactly, rounded

_STRUCK = re.compile(r"\\struck\{(.*)\}\\;\\correct\{(.*)\}")
_POINTER = re.compile(r"\\,\\cause\{(\d+)\}$")
_SUMMARY = re.compile(
    r"(?:(\d+) figures?)(?: and (\d+) statements?)?: (\d+) holds?(?: \((\d+) coarse\))?"
    r", (\d+) refuted(?:, (\d+) undecided)?, (\d+) roots?(?:; (\d+) not checked)?\. ?(.*)"
)


@dataclass(frozen=True)
class Claimed:
    """What a document prints, as the file has it, with the true values."""

    where: str
    of: str
    texts: np.ndarray
    values: np.ndarray

    def marks(self, mode: str) -> list[list[str]]:
        """How a red pen marks the figures, row by row."""
        marked = [mark(*pair, mode) for pair in zip(self.texts.flat, self.values.flat, strict=True)]
        columns = self.texts.shape[-1] if self.texts.shape else 1
        return [marked[k : k + columns] for k in range(0, len(marked), columns)]


def printed(raw: Any) -> str:
    """A figure as it is printed."""
    if isinstance(raw, Decimal) and not raw.is_finite():
        return "-inf"
    return str(raw)


def written(text: str) -> str:
    return r"-\infty" if text == "-inf" else text


def mark(text: str, number: Any, mode: str = "half-even") -> str:
    """A figure as it stands where it is right; struck, with the right one, where it isn't."""
    if text == "-inf" or number == -mpmath.inf:
        assert text == "-inf"
        assert number == -mpmath.inf
        return r"-\infty"
    places = len(text.partition(".")[2])
    unit = Fraction(1, 10**places)
    exact = exactly(number)
    if abs(exact - Fraction(text)) <= unit / 2:
        return text
    count = rounded(exact / unit, mode)
    correct = format(Decimal(count).scaleb(-places, Context(prec=1000)), "f")
    return rf"\struck{{{text}}}\;\correct{{{correct}}}"


def claims(truth: Truth) -> Iterator[Claimed]:
    """The figures of a document, claim by claim."""
    for claim in truth.document["claims"]:
        if "of" in claim:
            raw = np.array(claim["printed"], dtype=object)
            texts = np.array([printed(x) for x in raw.flat], dtype=object).reshape(raw.shape)
            yield Claimed(claim["where"], claim["of"], texts, truth.evaluated(claim["of"]))


class RedPen:
    """A red-pen sheet, read."""

    def __init__(self, sheet: b.Sheet, truth: Truth) -> None:
        self.sheet = sheet = in_latex(sheet)
        self.truth = truth
        self.marked = [block for block in sheet.blocks if isinstance(block, b.RedPen)]
        tables = [block for block in sheet.blocks if isinstance(block, b.Table)]
        self.tables = {plain(table.header[1]): table for table in tables}
        self.paragraphs = [plain(x.text) for x in sheet.blocks if isinstance(x, b.Paragraph)]
        self.headings = [plain(x.text) for x in sheet.blocks if isinstance(x, b.Heading)]

    @property
    def summary(self) -> tuple[int, ...]:
        """Figures, statements, those that hold, coarse ones among these, refuted,
        undecided, roots, not checked."""
        found = _SUMMARY.fullmatch(self.paragraphs[0])
        assert found is not None, self.paragraphs[0]
        return tuple(int(text or 0) for text in found.groups()[:8])

    def value(self, latex: str) -> Any:
        """What stands before a figure, worked out."""
        with mpmath.workdps(DIGITS):
            return value(read(latex), self.truth.find)


def cells(block: Any) -> tuple[str, list[list[str]]]:
    """The expression of marked figures, and the figures, without what points to a cause."""
    name, _, figure = block.matrix.before.partition(" =")
    if block.matrix.cells:
        assert not figure
        return name, [[_POINTER.sub("", cell) for cell in row] for row in block.matrix.cells]
    return name, [[_POINTER.sub("", figure.strip())]]


def pointers(block: Any) -> list[int | None]:
    """The number of the cause that each struck figure points to, None where it points to none."""
    figures = [cell for row in block.matrix.cells for cell in row] or [block.matrix.before]
    found = [(_POINTER.search(figure), r"\struck" in figure) for figure in figures]
    assert all(is_struck for pointer, is_struck in found if pointer)
    return [int(pointer[1]) if pointer else None for pointer, is_struck in found if is_struck]


def pieces(figure: str) -> tuple[str, str]:
    """A struck figure and the right one."""
    found = _STRUCK.fullmatch(figure)
    assert found is not None, figure
    return found[1], found[2]


def check_rows(truth: Truth, rows: Iterator[tuple[b.Line, ...]]) -> int:
    """Rows of a table of roots: where, quantity, figure, and why; gives how many.

    The quantity's value is wrong as printed and right as corrected.
    """
    claimed = list(claims(truth))
    checked = 0
    for where, (quantity,), (figure,), (why,), *_ in rows:
        assert isinstance(figure, b.Math)
        struck, correct = pieces(in_latex(figure.formula))
        assert any(
            c.where == plain(where) and struck in map(written, c.texts.flat) for c in claimed
        )
        if isinstance(quantity, b.Math):
            with mpmath.workdps(DIGITS):
                found = value(read(in_latex(quantity.formula)), truth.find)
        else:
            assert isinstance(quantity, b.Code)
            found = truth.evaluated(quantity.text).item()
        assert mark(struck, found, truth.rounding) == rf"\struck{{{struck}}}\;\correct{{{correct}}}"
        assert why
        checked += 1
    return checked


def same(found: Any, wanted: np.ndarray) -> bool:
    """Whether an expression on the page is what is claimed; rows and vectors are alike."""
    found = np.asarray(found, dtype=object)
    return found.size == wanted.size and agree(found.reshape(-1), wanted.reshape(-1))
