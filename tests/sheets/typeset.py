"""A LaTeX document of a sheet read back into what a reader sees of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"\\[A-Za-z]+\{\}|\\[A-Za-z]+|\\.|\$(?:[^$\\]|\\.)*\$|---|--|``|''|\{\}|[{}]|.", re.DOTALL
)
_SEEN = {
    r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", r"\textquotedbl{}": '"',
    r"\textasciigrave{}": "`", r"\textquotesingle{}": "'", r"\dots{}": "…",
    r"\allowbreak{}": "", r"\textbf": "", r"\textbf{}": "", r"\texttt": "", "---": "—", "--": "–",
    "``": "“", "''": "”", "{}": "", "{": "", "}": "",
}  # fmt: skip


class NoText(Exception):
    """A command that is none of a line of text."""


def seen(tex: str) -> str:
    r"""What is seen of a line of text; mathematics stays between its dollars.

    >>> seen(r"\textbf{50\%} of $\fit{80pt}{x_{1}}$, a-{}-b")
    '50% of $x_{1}$, a--b'
    """
    shown = ""
    for token in _TOKEN.findall(tex):
        if token[0] == "$":
            shown += f"${fitted(token[1:-1])}$"
        elif token in _SEEN:
            shown += _SEEN[token]
        elif token[0] == "\\":
            if token[1:] not in set("{}$%#_&"):
                raise NoText(token)
            shown += token[1]
        else:
            shown += token
    return shown


def fitted(latex: str) -> str:
    r"""Mathematics without the box that makes it small.

    >>> fitted(r"\fit{80pt}{a} = b")
    'a = b'
    """
    found = re.search(r"\\fit\{\d+(?:pt|mm)\}\{", latex)
    if found is None:
        return latex
    depth, end = 1, found.end()
    while depth:
        depth += (latex[end] == "{") - (latex[end] == "}")
        end += 1
    return latex[: found.start()] + latex[found.end() : end - 1] + latex[end:]


@dataclass
class Matrix:
    """A matrix as it is typeset; cells with fractions as in text, ``air`` around them."""

    before: str
    cells: list[list[str]]
    labels: list[str]
    columns: str
    air: set[bool]


@dataclass
class Heat:
    """A heat map: shades in per cent with the colour of the figures on them."""

    shades: dict[tuple[int, int], int] = field(default_factory=dict)
    inks: dict[tuple[int, int], str] = field(default_factory=dict)
    figures: dict[tuple[int, int], str] = field(default_factory=dict)
    rows: dict[int, str] = field(default_factory=dict)
    columns: dict[int, str] = field(default_factory=dict)
    title: str = ""
    size: tuple[float, float] = (0.0, 0.0)
    angled: bool = False


_MATRIX = re.compile(
    r"(?P<before>.*?) (?:\\begin\{array\}\{r@\{\}\}\n(?P<labels>.*?)\n\\end\{array\})?"
    r"\\left\[\\begin\{array\}\{@\{\\,\}(?P<columns>[rc]+)@\{\\,\}\}\n(?P<cells>.*?)\n"
    r"\\end\{array\}\\right\]",
    re.DOTALL,
)


def matrix(latex: str) -> Matrix:
    """A matrix, its name and its labels; a name alone has no cells."""
    found = _MATRIX.fullmatch(latex)
    if found is None:
        return Matrix(latex, [], [], "", set())
    rows = [row.split(" & ") for row in found["cells"].split(" \\\\\n")]
    assert all(len(row) == len(found["columns"]) for row in rows)
    cells = [[_AIR.sub(r"\1", cell).replace(r"\dfrac", r"\frac") for cell in row] for row in rows]
    labels = re.findall(
        r"\\textit\{\\small (.*?)\}(?:\\vphantom.*)?(?: \\\\)?(?:\n|\Z)", found["labels"] or ""
    )
    air = {bool(_AIR.fullmatch(cell)) for row in rows for cell in row}
    return Matrix(found["before"], cells, [seen(x) for x in labels], found["columns"], air)


_AIR = re.compile(r"\\air\{(.*)\}")


def shelves(body: str) -> Iterator[list[Matrix]]:
    """The displays of matrices, those beside each other together."""
    for display in re.findall(r"\\\[\n(.*?)\n\\\]", body, re.DOTALL):
        parts = re.split(r" \\qquad\n", display)
        other = (r"\begin{aligned}", r"\vcenter")
        if found := [matrix(fitted(part)) for part in parts if not part.startswith(other)]:
            yield found


def equations(body: str) -> list[list[tuple[str, str, str, bool]]]:
    """The displays of equations: left, relation, right, and whether a line is
    set in from the one it continues."""
    found = []
    pattern = r"\\begin\{align(?:ed|\*|at\*\}\{(\d))\}\n(.*?)\n\\end\{align(?:ed|\*|at\*)\}"
    for columns, display in re.findall(pattern, body, re.DOTALL):
        ends = re.findall(r" (\\\\\*?)\n(.?)", display)
        # No page ends inside of an equation, and one may end behind each.
        assert all((end[-1] == "*") == (start == "&") for end, start in ends)
        rows = [row.split(r" &\quad ") for row in re.split(r" \\\\\*?\n", display)]
        assert all(len(row) == int(columns or 1) for row in rows[:-1])
        lines = []
        for line in (line for row in rows for line in row):
            shown = re.fullmatch(
                r"(.*?) ?&(=|<|>|\\(?:approx|le|ge|ne)|\{\})\s*(\\quad )?\s*(.*)", line
            )
            assert shown is not None, line
            left, relation, quad, right = shown.groups()
            lines.append((left, relation.strip("{}"), fitted(right), bool(quad)))
        found.append(lines)
    return found


def tables(body: str) -> list[tuple[str, list[str], list[list[str]], list[int]]]:
    """The tables: columns, header, rows, and how much air they have below, in pt."""
    found = []
    pattern = (
        r"\\begin\{longtable\}\[l\]\{@\{\\hspace\{6mm\}\}([^\n]*)@\{\}\}\n\\toprule\n(.*?) \\\\\n"
    )
    pattern += r"\\midrule\n\\endhead\n(.*?)\n\\bottomrule\n\\end\{longtable\}"
    for columns, header, rows in re.findall(pattern, body, re.DOTALL):
        lines = rows.split("\n") if rows else []
        ends = [re.search(r" \\\\(\*?)(?:\\addlinespace\[(\d)pt\])?\Z", line) for line in lines]
        air = [int(end[2] or 0) for end in ends if end]
        assert len(air) == len(lines)
        split = []
        for line, end in zip(lines, ends, strict=True):
            cells = line[: end.start()].split(" & ") if end else []
            # A title spans all columns, and no page ends below it.
            title = re.fullmatch(r"\\multicolumn\{\d\}\{.*?\}@\{\}\}\{\\boldmath(.*)\}", cells[0])
            assert bool(title) == bool(end and end[1])
            split.append([title[1]] if title else cells)
        found.append(
            (
                columns,
                [seen(c) for c in header.split(" & ")],
                [[*map(seen, row)] for row in split],
                air,
            )
        )
    return found


def heat_maps(body: str) -> list[list[Heat]]:
    """The heat maps, those beside each other together."""
    found: list[list[Heat]] = []
    pattern = r"\\begin\{tikzpicture\}\[x=([\d.]+)mm,y=([\d.]+)mm,.*?\]\n(.*?)\\end\{tikzpicture\}"
    end = 0
    for part in re.finditer(pattern, body, re.DOTALL):
        heat = Heat(size=(float(part[1]), float(part[2])))
        for line in part[3].splitlines():
            _read_cell(heat, line)
        if found and body[end : part.start()] == "\\hspace{8mm}\n":
            found[-1].append(heat)
        else:
            found.append([heat])
        end = part.end()
    return found


def _read_cell(heat: Heat, line: str) -> None:
    if m := re.fullmatch(
        r"\\fill\[heat!(\d+)!white.*\] \((\d+),(-?\d+)\) rectangle \((\d+),(-?\d+)\);", line
    ):
        shade, x, y, right, below = map(int, m.groups())
        assert (right, below) == (x + 1, y - 1)
        heat.shades[-y, x] = shade
    elif m := re.fullmatch(r"\\node\[text=(\w+),.*\] at \((\d+)\.5,(-?\d+)-\.5\) \{(.*)\};", line):
        place = -int(m[3]), int(m[2])
        heat.inks[place] = m[1]
        heat.figures[place] = fitted(m[4])
    elif m := re.fullmatch(r"\\node\[anchor=base east,.*\] at \(0,(-?\d+)-\.5\) \{(.*)\};", line):
        heat.rows[-int(m[1])] = seen(m[2])
    elif m := re.fullmatch(
        r"\\node\[(rotate=45,anchor=base west|anchor=base),.*\] at \((\d+)\.5,0\) \{(.*)\};", line
    ):
        heat.angled = m[1] != "anchor=base"
        heat.columns[int(m[2])] = seen(m[3])
    else:
        m = re.fullmatch(r"\\node\[below,.*\] at \(([\d.]+),(-\d+)\) \{(.*)\};", line)
        assert m is not None, line
        assert float(m[1]) == (max(x for _, x in heat.shades) + 1) / 2
        assert -int(m[2]) == max(y for y, _ in heat.shades) + 1
        heat.title = seen(m[3])
