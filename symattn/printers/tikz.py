"""Drawings in LaTeX: the SVG of :mod:`symattn.drawing`, element by element, as TikZ."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping

from symattn.escaping import latex as escape

#: What elements hand down to those in them.
_HANDED_DOWN = ("fill", "font-size", "font-weight", "font-style", "text-anchor")
#: Where a text is held, by its anchor.
_ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}
#: A pixel in points of print.
_PIXEL = 0.75
#: The largest picture on a page, in points.
_WIDTH, _HEIGHT = 470.0, 680.0

_Style = Mapping[str, str]


def picture(svg: str) -> str:
    """A drawing as a TikZ picture, made small where it is larger than a page.

    >>> rect = '<rect fill="#ff0000" width="8" height="4"/>'
    >>> print(picture(f'<svg width="8" height="4">{rect}</svg>'))
    \\begin{tikzpicture}[x=0.75bp,y=-0.75bp]
    \\path[fill={rgb,255:red,255;green,0;blue,0}] (0,0) rectangle (8,4);
    \\end{tikzpicture}
    """
    root = ET.fromstring(svg)
    wide, high = (_PIXEL * float(root.get(side, "0")) for side in ("width", "height"))
    scale = min(1.0, _WIDTH / wide, _HEIGHT / high)
    lines = "\n".join(_element(root, (0.0, 0.0), {}))
    body = f"\\begin{{tikzpicture}}[x={_PIXEL}bp,y=-{_PIXEL}bp]\n{lines}\n\\end{{tikzpicture}}"
    return body if scale == 1.0 else rf"\scalebox{{{scale:.3f}}}{{{body}}}"


def _element(element: ET.Element, at: tuple[float, float], style: _Style) -> Iterator[str]:
    name = element.tag.rpartition("}")[2]
    style = {**style, **{key: value for key in _HANDED_DOWN if (value := element.get(key))}}
    x, y = at
    match name:
        case "svg" | "g":
            if moved := re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform", "")):
                x, y = x + float(moved[1]), y + float(moved[2])
            for child in element:
                yield from _element(child, (x, y), style)
        case "rect":
            left, top = x + _number(element, "x"), y + _number(element, "y")
            right, below = left + _number(element, "width"), top + _number(element, "height")
            rounded = f",rounded corners={_PIXEL * _number(element, 'rx'):g}bp"
            shape = f"({left:g},{top:g}) rectangle ({right:g},{below:g})"
            yield _path(element, style, shape, rounded if element.get("rx") else "")
        case "polygon":
            corners = (pair.split(",") for pair in element.get("points", "").split())
            shape = " -- ".join(f"({x + float(a):g},{y + float(b):g})" for a, b in corners)
            yield _path(element, style, f"{shape} -- cycle")
        case "path":
            yield _path(element, style, _outline(element.get("d", ""), at))
        case "text":
            yield _text(element, (x + _number(element, "x"), y + _number(element, "y")), style)


def _number(element: ET.Element, name: str) -> float:
    return float(element.get(name, "0"))


def _path(element: ET.Element, style: _Style, shape: str, more: str = "") -> str:
    paint = []
    for name, color in (("fill", style.get("fill", "#000000")), ("draw", element.get("stroke"))):
        if color and color != "none":
            opacity = element.get("fill-opacity" if name == "fill" else "stroke-opacity", "1")
            see_through = f",{name} opacity={opacity}" if float(opacity) < 1 else ""
            paint.append(f"{name}={_color(color)}{see_through}")
    if width := element.get("stroke-width"):
        paint.append(f"line width={_PIXEL * float(width):g}bp")
    return rf"\path[{','.join(paint)}{more}] {shape};"


def _color(color: str) -> str:
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return f"{{rgb,255:red,{red};green,{green};blue,{blue}}}"


#: The commands of outlines, with how many numbers each takes.
_COMMANDS = {"M": 2, "L": 2, "C": 6, "H": 1, "V": 1, "h": 1, "v": 1, "z": 0, "Z": 0}


def _outline(outline: str, at: tuple[float, float]) -> str:
    """An outline as TikZ draws it."""
    shape = ""
    here = at
    for command, written in re.findall(r"([A-Za-z])([^A-Za-z]*)", outline):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", written)]
        assert len(numbers) == _COMMANDS[command]
        if command in "zZ":
            shape += " -- cycle"
            continue
        points = [(at[0] + a, at[1] + b) for a, b in zip(numbers[::2], numbers[1::2], strict=False)]
        match command:
            case "H":
                points = [(at[0] + numbers[0], here[1])]
            case "V":
                points = [(here[0], at[1] + numbers[0])]
            case "h":
                points = [(here[0] + numbers[0], here[1])]
            case "v":
                points = [(here[0], here[1] + numbers[0])]
        *controls, here = points
        end = f"({here[0]:g},{here[1]:g})"
        if controls:
            shape += " .. controls " + " and ".join(f"({a:g},{b:g})" for a, b in controls)
        shape += f" .. {end}" if controls else f" {end}" if command == "M" else f" -- {end}"
    return shape.strip()


def _text(element: ET.Element, at: tuple[float, float], style: _Style) -> str:
    runs, raised = _run(element.text or "", style, 0.0), 0.0
    for span in element:
        raised -= _number(span, "dy")
        runs += _run(span.text or "", {**style, **span.attrib}, raised)
        runs += _run(span.tail or "", style, raised)
    anchor = _ANCHORS[style.get("text-anchor", "start")]
    color = _color(style.get("fill", "#000000"))
    where = f"anchor={anchor},inner sep=0pt,text={color}"
    return rf"\node[{where}] at ({at[0]:g},{at[1]:g}) {{{runs}}};"


def _run(text: str, style: _Style, raised: float) -> str:
    if not text:
        return ""
    size = _PIXEL * float(style.get("font-size", "12"))
    look = r"\bfseries" if style.get("font-weight") == "bold" else ""
    look += r"\itshape" if style.get("font-style") == "italic" else ""
    run = rf"{{\fontsize{{{size:g}}}{{{size:g}}}\selectfont{look} {escape(text)}}}"
    return rf"\raisebox{{{_PIXEL * raised:g}bp}}{{{run}}}" if raised else run
