"""Counts as bars, each with its label before it and its number behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symattn.drawing.lettering import Panel, drawing, element, shortened, text_width, words

_SIZE, _ROW, _BAR = 13.0, 24.0, 15.0
_WIDEST, _GAP = 300.0, 10.0
_LABEL = 40


@dataclass(frozen=True)
class Bar:
    """A count, what it is of, and its paint: ``heat``, or ``pen`` for what is wrong."""

    label: str
    count: int
    paint: str = "heat"


def bars(counts: Sequence[Bar], title: str, language: str) -> str:
    """Bars below each other as SVG, as long as their counts; words say the same.

    >>> drawn = bars([Bar("root", 3, "pen"), Bar("carried", 1)], "Causes", "en")
    >>> drawn.count("<rect"), "root: 3; carried: 1" in drawn
    (3, True)
    """
    labels = [shortened(bar.label, _LABEL) for bar in counts]
    side = max((text_width(label, _SIZE) for label in labels), default=0.0) + _GAP
    most = max((bar.count for bar in counts), default=0) or 1
    parts: list[str] = []
    for row, (label, bar) in enumerate(zip(labels, counts, strict=True)):
        y, length = row * _ROW, _WIDEST * bar.count / most
        line = y + _BAR - 3
        parts += [
            words(side - _GAP, line, label, "text", font_size=_SIZE, text_anchor="end"),
            element("rect", bar.paint, x=side, y=y, width=max(length, 1.0), height=_BAR),
            words(side + length + 6, line, f"{bar.count:,}", "faint", font_size=_SIZE),
        ]
    width = side + _WIDEST + 6 + text_width(f"{most:,}", _SIZE)
    panel = Panel(width, len(counts) * _ROW, tuple(parts))
    said = "; ".join(f"{bar.label}: {bar.count}" for bar in counts)
    return drawing(panel, title, said, language)
