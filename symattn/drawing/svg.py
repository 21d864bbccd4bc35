"""SVG: elements, the colours of the sheets, and the frame of a drawing.

A drawing loads nothing and runs nothing. Its colours are plain attributes, for
every program that reads SVG; a style for dark screens stands over them, which
no attribute can. What is hatched is lines, not a pattern by reference, so that
drawings on one page can't mistake each other's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from symattn.escaping import html_attribute, html_text

#: What paints an element: the attribute, its colour on paper, and on a dark screen.
PAINTS = {
    "paper": ("fill", "#ffffff", "#16191e"),
    "soft": ("fill", "#f3f5f8", "#20252d"),
    "text": ("fill", "#1b1b1b", "#e4e6ea"),
    "ink": ("fill", "#1f3a5f", "#a9c7ee"),
    "faint": ("fill", "#5c6470", "#9aa3b0"),
    "heat": ("fill", "#2b6cb0", "#2f6fb5"),
    "pen": ("fill", "#b3261e", "#e0584e"),
    "symbolic": ("fill", "#1f3a5f", "#4f6f9c"),
    "on-heat": ("fill", "#ffffff", "#ffffff"),
    "on-pen": ("fill", "#b3261e", "#ff8a80"),
    "rule-line": ("stroke", "#d4d9e0", "#363d49"),
    "ink-line": ("stroke", "#1f3a5f", "#a9c7ee"),
    "heat-line": ("stroke", "#2b6cb0", "#3f86d6"),
    "pen-line": ("stroke", "#b3261e", "#ff8a80"),
    "hatch-line": ("stroke", "#8b94a3", "#6b7484"),
}

#: Fonts with lining figures, the first of them that is there.
FONTS = (
    "'Latin Modern Roman', 'STIX Two Text', Charter, 'Bitstream Charter', Cambria, "
    "'Times New Roman', serif"
)

_DARK = " ".join(
    f"svg.drawing .{name} {{ {attribute}: {dark}; }}"
    for name, (attribute, light, dark) in PAINTS.items()
    if light != dark
)
_STYLE = f"@media screen and (prefers-color-scheme: dark) {{ {_DARK} }}"


def number(x: float) -> str:
    """A length: a tenth of a pixel is enough.

    >>> number(12.0), number(0.26), number(-0.04)
    ('12', '0.3', '0')
    """
    text = f"{x:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def element(name: str, paint: str = "", content: str = "", **attributes: float | str | None) -> str:
    """An element painted so; an attribute that is None is left out.

    >>> element("rect", "heat", x=1, stroke_width="2")
    '<rect class="heat" fill="#2b6cb0" x="1" stroke-width="2"/>'
    """
    painted: dict[str, float | str | None] = {}
    if paint:
        attribute, light, _ = PAINTS[paint]
        painted = {"class": paint, attribute: light}
        if attribute == "stroke":
            painted["fill"] = "none"
    markup = "".join(
        f' {key.replace("_", "-")}="'
        f'{html_attribute(value) if isinstance(value, str) else number(value)}"'
        for key, value in (painted | attributes).items()
        if value is not None
    )
    return f"<{name}{markup}>{content}</{name}>" if content else f"<{name}{markup}/>"


def words(
    x: float, y: float, text: str, paint: str = "text", **attributes: float | str | None
) -> str:
    """Text at a place, made harmless; see :func:`element`."""
    return element("text", paint, html_text(text), x=x, y=y, **attributes)


def framed(
    corner: tuple[float, float],
    size: tuple[float, float],
    paint: str,
    line: str,
    radius: float = 0.0,
    opacity: str = "1",
) -> str:
    """A rectangle in one paint with a thin line around it in another."""
    frame = {"x": corner[0], "y": corner[1], "width": size[0], "height": size[1]}
    corners = {"rx": radius} if radius else {}
    inside = element("rect", paint, "", **frame, **corners)
    around = element("rect", line, "", **frame, **corners, stroke_width=0.8, stroke_opacity=opacity)
    return inside + around


def group(parts: Iterable[str], x: float = 0, y: float = 0) -> str:
    """Elements moved to a place."""
    moved = f"translate({number(x)} {number(y)})" if x or y else None
    return element("g", "", "\n".join(parts), transform=moved)


@dataclass(frozen=True)
class Panel:
    """A part of a drawing, with its size."""

    width: float
    height: float
    parts: tuple[str, ...]


#: Room around a drawing, and between its panels.
MARGIN, BETWEEN = 16.0, 28.0
#: Wider drawings would be too small to read on the smallest screens: pages let them scroll.
_WIDE = 480.0


def stacked(panels: Iterable[Panel]) -> Panel:
    """Panels under each other, each in the middle."""
    column = list(panels)
    width = max(panel.width for panel in column)
    parts, y = [], 0.0
    for panel in column:
        parts.append(group(panel.parts, (width - panel.width) / 2, y))
        y += panel.height + BETWEEN
    return Panel(width, y - BETWEEN, tuple(parts))


def drawing(panel: Panel, title: str, description: str, language: str) -> str:
    """A whole drawing: a file of its own, or a part of a page.

    >>> made = drawing(Panel(10, 10, ()), "A < B", "", "en")
    >>> made.startswith('<svg xmlns="http://www.w3.org/2000/svg"'), "A &lt; B" in made
    (True, True)
    """
    width, height = panel.width + 2 * MARGIN, panel.height + 2 * MARGIN
    size = f'width="{number(width)}" height="{number(height)}"'
    kind = "drawing wide" if width > _WIDE else "drawing"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" {size} '
            f'viewBox="0 0 {number(width)} {number(height)}" lang="{html_attribute(language)}" '
            f'font-family="{html_attribute(FONTS)}" font-size="12">',
            f"<title>{html_text(title)}</title>",
            f"<desc>{html_text(description)}</desc>",
            f"<style>{_STYLE}</style>",
            element("rect", "paper", width=width, height=height),
            group(panel.parts, MARGIN, MARGIN),
            "</svg>",
            "",
        ]
    )
