"""Columns of text on a terminal: cells wrap at blanks, and what is one word stays whole."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from symattn.cli.cases import styled
from symattn.escaping import visible

#: Blanks inside of brackets part nothing: ``A[0, 2]`` is one word.
_WORD = re.compile(r"(?:\[[^\[\]]{0,60}\]|\S)+")
#: Blanks between columns, and letters that the narrowest has.
_GAP, _LEAST = 2, 4

Widths = dict[int, int]
"""The widths of the columns that are shown."""


def wrapped(text: str, width: int) -> list[str]:
    """Text as lines of at most that width; a longer word goes on in the next line.

    >>> wrapped("carries A[0, 2] and more", 12)
    ['carries', 'A[0, 2] and', 'more']
    """
    width = max(width, _LEAST)
    lines, line = [], ""
    for word in _WORD.findall(text):
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        *whole, line = chop_cells(word, width)
        lines += whole
    return [*lines, line]


def heading(out: Console, name: str, title: str) -> None:
    """Print what is reported on: its name, and its title if it has one."""
    out.print(*filter(None, (styled(name, style="bold"), styled(title, style="dim"))))


def paragraph(out: Console, text: str, style: str, start: str = "") -> None:
    """Text that hangs from its start."""
    after = " " * (len(start) + (2 if not start.strip() and start else 0))
    for k, line in enumerate(wrapped(visible(text), out.width - len(after))):
        out.print(styled((after if k else start) + line, style=style), soft_wrap=True)


@dataclass(frozen=True)
class Columns:
    """Columns with headings and styles; those on the ``right`` end together there."""

    headings: Sequence[str]
    styles: Sequence[str]
    right: Collection[int]

    def fitted(
        self, rows: Sequence[Sequence[str]], width: int, left_out: Collection[int], last: int
    ) -> Widths | None:
        """All columns but those ``left_out``, none but the last narrower than what is in
        it, and that not below ``last``; None if this does not fit."""
        widths = self._natural(rows, left_out)
        final = max(widths)
        room = width - _total({k: n for k, n in widths.items() if k != final}) - _GAP
        if room < min(widths[final], last):
            return None
        return {**widths, final: min(widths[final], room)}

    def shrunk(
        self, rows: Sequence[Sequence[str]], width: int, left_out: Collection[int]
    ) -> Widths:
        """All columns but those ``left_out``, the widest narrowed until they fit."""
        widths = {k: min(n, width) for k, n in self._natural(rows, left_out).items()}
        least = {k: self._longest_word(rows, k) for k in widths}
        while _total(widths) > width:
            wide = [k for k in widths if widths[k] > least[k]]
            wide = wide or [k for k in widths if widths[k] > _LEAST]
            if not wide:
                break
            widths[max(wide, key=widths.__getitem__)] -= 1
        return widths

    def _natural(self, rows: Sequence[Sequence[str]], left_out: Collection[int]) -> Widths:
        every = [self.headings[: len(rows[0])], *rows]
        columns = [k for k in range(len(rows[0])) if k not in left_out]
        return {k: max(cell_len(row[k]) for row in every) for k in columns}

    def _longest_word(self, rows: Sequence[Sequence[str]], column: int) -> int:
        cells = [self.headings[column], *(row[column] for row in rows)]
        return max(cell_len(word) for cell in cells for word in ("", *_WORD.findall(cell)))

    def head(self, out: Console, widths: Widths) -> None:
        """Print the headings."""
        self._print(out, widths, self.headings, ["dim"] * len(self.headings))

    def row(self, out: Console, widths: Widths, cells: Sequence[str], strong: bool) -> None:
        """Print a row; a ``strong`` one has its plain cells in bold."""
        styles = [style or "bold" * strong for style in self.styles]
        self._print(out, widths, cells, styles)

    def _print(
        self, out: Console, widths: Widths, cells: Sequence[str], styles: Sequence[str]
    ) -> None:
        columns = {k: _indented(cells[k], width) for k, width in widths.items()}
        for place in range(max(map(len, columns.values()))):
            line = Text()
            for k, lines in columns.items():
                cell = lines[place] if place < len(lines) else ""
                blank = " " * (widths[k] - cell_len(cell))
                line.append(" " * (_GAP * bool(line)))
                line.append(blank + cell if k in self.right else cell + blank, styles[k])
            line.rstrip()
            out.print(line, soft_wrap=True)


def _indented(cell: str, width: int) -> list[str]:
    """A cell's lines, all of them indented as its first one is."""
    blank = " " * min(len(cell) - len(cell.lstrip()), width - _LEAST)
    return [blank + line for line in wrapped(cell, width - len(blank))]


def _total(widths: Widths) -> int:
    return sum(widths.values()) + _GAP * (len(widths) - 1)
