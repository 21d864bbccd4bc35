"""What notebooks show of a result: a table, as a snippet of HTML.

A snippet loads nothing, runs nothing and styles nothing but itself. Its
letters have the colour that the notebook gives them, and shades are mixed into
the notebook's own background, so that it can be read in light and in dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symattn.escaping import html_attribute, html_text

#: Most rows and columns that are shown of a result.
MOST = 12
#: How much of a cell's background the deepest shade takes, in percent: letters
#: are read on it, whatever colour the notebook gives them.
_DEEPEST = 55
_AIR = "padding: .2em .6em"


class NotebookCell(NamedTuple):
    """A figure, its shade from 0 to 1, and what the pointer is told of it."""

    text: str
    shade: float = 0.0
    hint: str = ""


def shown(count: int) -> range:
    """Which of so many rows or columns are shown.

    >>> shown(3), shown(500)
    (range(0, 3), range(0, 12))
    """
    return range(min(count, MOST))


def beginning(rows: int, columns: int) -> str:
    """What is said of a result that isn't shown whole.

    >>> beginning(500, 3)
    'The first 12 of 500 rows.'
    """
    parts = [
        f"{MOST} of {count} {name}"
        for count, name in ((rows, "rows"), (columns, "columns"))
        if count > MOST
    ]
    return f"The first {' and '.join(parts)}." if parts else ""


def table(
    title: str,
    about: str,
    header: Sequence[str],
    rows: Sequence[Sequence[NotebookCell]],
    labels: Sequence[str] = (),
    note: str = "",
) -> str:
    """A table of figures on the right of their cells, rows and columns labelled where
    there are labels.

    >>> found = table("A", "1x1", ["cat"], [[NotebookCell("0.5", 0.5, "1/2")]], note="x < y")
    >>> 'title="1/2"' in found, "28%, transparent)\\">0.5</td>" in found, "x &lt; y" in found
    (True, True, True)
    """
    corner = "<td></td>" if labels else ""
    names = "".join(_heading(name, "col") for name in header)
    head = f"<thead><tr>{corner}{names}</tr></thead>\n" if header else ""
    sides = [_heading(label, "row") for label in labels] or [""] * len(rows)
    body = "\n".join(
        f"<tr>{side}{''.join(map(_cell, row))}</tr>" for side, row in zip(sides, rows, strict=True)
    )
    return _snippet(title, about, f"{head}<tbody>{body}</tbody>", note)


def summary(
    title: str,
    about: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: str = "",
) -> str:
    """A table of texts.

    >>> "&lt;b&gt;</td>" in summary("t", "", ["a"], [["<b>"]])
    True
    """
    names = "".join(_heading(name, "col", "left") for name in header)
    body = "\n".join(
        "<tr>"
        + "".join(f'<td style="{_AIR}; text-align: left">{html_text(x)}</td>' for x in row)
        + "</tr>"
        for row in rows
    )
    content = f"<thead><tr>{names}</tr></thead>\n<tbody>{body}</tbody>"
    return _snippet(title, about, content, note)


def _snippet(title: str, about: str, content: str, note: str) -> str:
    below = f"\n<p>{html_text(note)}</p>" if note else ""
    beside = f" {html_text(about)}" if about else ""
    return (
        f'<div><table><caption style="text-align: left"><strong>{html_text(title)}</strong>'
        f"{beside}</caption>\n{content}</table>{below}</div>"
    )


def _heading(name: str, scope: str, side: str = "right") -> str:
    return f'<th scope="{scope}" style="{_AIR}; text-align: {side}">{html_text(name)}</th>'


def _cell(cell: NotebookCell) -> str:
    percent = round(_DEEPEST * min(max(cell.shade, 0.0), 1.0))
    mixed = f"; background: color-mix(in srgb, #3f86d6 {percent}%, transparent)" if percent else ""
    hint = f'title="{html_attribute(cell.hint)}" ' if cell.hint else ""
    return f'<td {hint}style="{_AIR}; text-align: right{mixed}">{html_text(cell.text)}</td>'
