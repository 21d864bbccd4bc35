"""How a step is shown: worked entries, closed forms, rounded values, shades.

Forward and backward steps are programs alike, so one class shows both.
"""

from __future__ import annotations

from collections.abc import Iterator

from symattn import formulas as f
from symattn.cases.settings import Settings
from symattn.numbers.balls import FIRST
from symattn.printers import blocks as b
from symattn.printers.layout import TEXT, broken, unbreakable, width
from symattn.programs.axes import Axes
from symattn.programs.display import formula as step_formula
from symattn.programs.nodes import Node
from symattn.programs.program import ancestors
from symattn.sheets.hints import hints
from symattn.sheets.presentation import NARROW, Presentation
from symattn.solution.quantity import Entry
from symattn.solution.solution import Solution

#: Said of a quantity that is only rounded.
NO_CLOSED_FORM = "Not every entry has a short closed form; the digits are certain."

#: Quantities with more entries are shown by their first rows only.
MAX_ENTRIES = 256
_FIRST_ROWS = 4
#: Entries of a row that are worked in a brief sheet, and in a large case.
_ENTRIES_WORKED, _FEW_WORKED = 8, 2
#: Lines of one worked entry; of a longer one the beginning and the end.
_MOST_LINES = 12


class Steps:
    """Shows the steps of one solution; ``say`` says sentences in the sheet's language."""

    def __init__(self, solution: Solution, settings: Settings) -> None:
        self.solution = solution
        self.settings = settings
        self.say = settings.say
        self.case = solution.case
        self.program = solution.program
        self.full = settings.detail == "full"
        self.places = settings.places
        self.shown = Presentation(solution, settings.places)
        self.named = self.shown.named
        self.axes = Axes(solution.program)
        self.large = self.shown.large
        self._forward = {node.serial for node in self.program.quantities.values()}

    def formula(self, name: str, node: Node) -> str:
        """``name = what the node computes``, or the name alone where that
        could not be read."""
        shown = f"{name} = {f.slashed(step_formula(node, self.named))}"
        return shown if unbreakable(shown) <= 1.5 * TEXT else name

    def definitions(self, equations: list[str]) -> Iterator[b.Block]:
        """The definitions that a step uses, entry by entry."""
        if equations:
            text: list[str | b.Math] = ["Entry by entry: "]
            for equation in equations:
                text += [b.Math(rf"\displaystyle {equation}"), ", \N{EM SPACE}"]
            yield b.Paragraph((*text[:-1], "."))

    def work(self, node: Node) -> Iterator[b.Block]:
        """A step in full: worked entries, closed form, rounded value."""
        # A softmax inside a step needs its row sums named as well.
        others = self.named.keys() - {node.serial}
        for inner in ancestors([node], stop=lambda x: x.serial in others):
            if inner.op == "softmax":
                yield from self.softmax(inner)
        if node.op not in ("softmax", "hide"):
            yield from self.worked_rows(node)
        if node.shape:
            yield from self.values(node)
        if node.op == "softmax":
            yield b.HeatMaps((self.heat_map(self.shown, node, ()),))

    def worked_rows(self, node: Node) -> Iterator[b.Block]:
        """The entries of the first row worked out, in a full sheet those of all."""
        rows, columns = node.grid
        most = _FEW_WORKED if self.large else columns if self.full else _ENTRIES_WORKED
        for i in range(rows if self.full and not self.large else 1):
            entries = [self.worked_entry(node, i, j) for j in range(min(columns, most))]
            yield b.Equations(tuple(line for lines in entries for line in lines))

    def worked_entry(self, node: Node, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        """``S_00 = 1*1 + 0*0 = 1``: name, substitution, closed form, decimals."""
        name = f.latex(self.shown.entry_name(node, i, j))
        room = TEXT - width(name) - 3
        stages = [_elided(broken(self.shown.substituted(node, i, j), room))]
        closed = not self.large or node.serial in self._forward or self.shown.is_plain(node)
        if not closed:
            decimal: f.Formula | None = self.shown.decimal(node, i, j)
        else:
            exact = self.shown.exact(node, i, j)
            if exact is not None and [f.latex(exact)] != stages[0]:
                stages.append(_elided(broken(exact, room)))
            decimal = self.shown.approximate(node, i, j)
        if decimal is not None:
            stages.append(broken(decimal, room))
        yield from _chained(name, stages, approximate=decimal is not None, room=room)

    def softmax(self, node: Node) -> Iterator[b.Block]:
        """Exponentials and the sum of each row, which gets a name."""
        lines: list[tuple[str, str, str]] = []
        for i, row in enumerate(self.shown.normalisers[node.serial][: self.rows_shown(node)]):
            terms = self.shown.row_terms(node, i)
            added = f.Sum(terms) if len(terms) > 1 else terms[0]
            name = f.latex(row.label)
            room = TEXT - width(name) - 3
            stages = [_elided(broken(added, room))]
            exact = self.shown.value(row.value) if row.value.rational() else None
            if exact is not None:
                if f.latex(exact) != f.latex(added):
                    stages.append([f.latex(exact)])
            elif 0 < row.count < len(terms):
                simplified = row.value.formula()
                if f.latex(simplified) != f.latex(added):
                    stages.append(broken(simplified, room))
            approximate = exact is None
            if approximate:
                stages.append([f.latex(self.shown.rounded(row.value))])
            lines += _chained(name, stages, approximate, room)
        yield b.Paragraph(("Each row of exponentials has a sum; name it:",))
        yield b.Equations(tuple(lines))
        yield from self._rest(node)

    def values(self, node: Node) -> Iterator[b.Block]:
        """Closed form and rounded value of a whole quantity."""
        name = self.name(node)
        plain = self.shown.is_plain(node)
        if plain or self.large:
            yield b.Matrices(tuple(self.whole(node, name, exact=plain)))
            return
        if self.shown.quantity(node).symbols:
            yield from self.forms(node)
            return
        decimal = self.whole(node, name, exact=False)
        if not self.shown.is_closed(node):
            yield b.Paragraph((NO_CLOSED_FORM,))
            yield b.Matrices(tuple(decimal))
            return
        exact = self.whole(node, name, exact=True)
        widest = max(width(cell) for matrix in exact for row in matrix.cells for cell in row)
        if widest <= 2 * NARROW:
            yield b.Matrices((*exact, *decimal))
            return
        yield from self.listed(node)
        yield b.Matrices(tuple(decimal))

    def listed(self, node: Node) -> Iterator[b.Block]:
        """Closed forms too wide for a matrix, entry by entry, but for the rows
        that were worked out above."""
        rows, columns = node.grid
        worked = rows if self.full else 1 if columns <= _ENTRIES_WORKED else 0
        if node.op in ("softmax", "hide"):
            worked = 0
        for i in range(worked, self.rows_shown(node)):
            lines: list[tuple[str, str, str]] = []
            for j in range(columns):
                name = f.latex(self.shown.entry_name(node, i, j))
                room = TEXT - width(name) - 3
                exact = self.shown.exact(node, i, j)
                assert exact is not None  # Only of quantities that are closed.
                lines += _chained(name, [broken(exact, room)], False, room)
            yield b.Equations(tuple(lines))
        yield from self._rest(node)

    def _rest(self, node: Node) -> Iterator[b.Block]:
        if (shown := self.rows_shown(node)) < node.grid[0]:
            yield b.Paragraph((f"Rows {shown} to {node.grid[0] - 1} likewise.",))

    def forms(self, node: Node) -> Iterator[b.Block]:
        """Entries that are linear forms in symbols: exact, then rounded."""
        for i in range(1 if self.large else self.rows_shown(node)):
            lines: list[tuple[str, str, str]] = []
            zero = []
            for j in range(node.grid[1]):
                name = f.latex(self.shown.entry_name(node, i, j))
                exact = self.shown.exact(node, i, j)
                if exact == f.Number("0"):
                    zero.append(name)
                    continue
                room = TEXT - width(name) - 3
                stages = [] if exact is None else [_elided(broken(exact, room))]
                approximate = exact is None or not _is_short(exact)
                if approximate:
                    stages.append(_elided(broken(self.shown.decimal(node, i, j), room)))
                lines += _chained(name, stages, approximate, room)
            if lines:
                yield b.Equations(tuple(lines))
            if zero:
                yield b.Paragraph((b.Math(" = ".join([*zero, "0"])), "."))

    def whole(self, node: Node, name: str, exact: bool) -> list[b.Matrix]:
        """The matrix of a quantity, of a large one its first rows; ``exact``
        where all entries have closed forms."""
        columns = node.grid[1]
        count = self.rows_shown(node)
        places = [[(i, j) for j in range(columns)] for i in range(count)]
        closed = [[self.shown.exact(node, i, j) for i, j in row] if exact else [] for row in places]
        if exact := exact and all(entry is not None for row in closed for entry in row):
            cells = tuple(tuple(f.latex(entry) for entry in row if entry) for row in closed)
        else:
            cells = tuple(
                tuple(f.latex(self.shown.decimal(node, i, j)) for i, j in row) for row in places
            )
        if count < node.grid[0]:
            name = rf"({name})_{{0\text{{--}}{count - 1},\,\cdot}}"
        labels = self.tokens(node, 0)[:count]
        relation = "=" if exact else r"\approx"
        told = hints(self.shown, node, count)
        return [b.Matrix(f"{name} {relation}", cells, labels if exact else (), told)]

    def tokens(self, node: Node, axis: int) -> tuple[str, ...]:
        """The tokens, if that axis runs over them as the output's rows do."""
        tokens = self.case.tokens
        output = self.program.quantities[self.case.output]
        if node.grid[axis] != len(tokens) or not self.axes.same(node, axis, output, 0):
            return ()
        return tokens

    def rows_shown(self, node: Node) -> int:
        """How many rows of a quantity are shown."""
        rows, columns = node.grid
        return rows if rows * columns <= MAX_ENTRIES else min(rows, _FIRST_ROWS)

    def name(self, node: Node) -> str:
        """What a named node is called, in LaTeX."""
        return f.latex(self.named[node.serial])

    def heat_map(
        self, shown: Presentation, node: Node, title: b.Line, like: Node | None = None
    ) -> b.HeatMap:
        """Weights as shades; ``like`` is the node of this case whose labels fit."""
        rows, columns = node.grid
        quantity = shown.quantity(node)
        shades = tuple(
            tuple(float(Entry(quantity, i, j).ball(FIRST).mid()) for j in range(columns))
            for i in range(min(rows, 24))
        )
        figures = tuple(
            tuple(
                f.latex(shown.decimal(node, i, j)) if columns <= 8 else "" for j in range(columns)
            )
            for i in range(min(rows, 24))
        )
        figures = tuple(tuple(f"${cell}$" if cell else "" for cell in row) for row in figures)
        sides = [
            self.tokens(like or node, axis) or tuple(map(str, range(count)))
            for axis, count in enumerate((rows, columns))
        ]
        told = hints(shown, node, len(shades))
        return b.HeatMap(title, shades, figures, sides[0][:24], sides[1], told)


def _elided(lines: list[str]) -> list[str]:
    """A sum on very many lines by its beginning and its end."""
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 2], r"+ \cdots", lines[-1]]


def _chained(
    name: str, stages: list[list[str]], approximate: bool, room: float
) -> Iterator[tuple[str, str, str]]:
    """``name = stage = stage ~ stage``, on as few lines as fit."""
    left, line, used = name, "", 0.0
    relation = "="
    for place, stage in enumerate(stages):
        sign = r"\approx" if approximate and place == len(stages) - 1 else "="
        if place == 0:
            relation, line = sign, stage[0]
        elif len(stage) == 1 and used + width(stage[0]) + 2.5 <= room:
            line += f" {sign} {stage[0]}"
        else:
            yield left, relation, line
            left, relation, line = "", sign, stage[0]
        for rest in stage[1:]:
            yield left, relation, line
            left, relation, line = "", "", rest
        used = width(line)
    yield left, relation, line


def _is_short(shown: f.Formula) -> bool:
    """Whether a linear form has only decimals as coefficients."""
    match shown:
        case f.Number() | f.Symbol():
            return True
        case f.Negated(operand):
            return _is_short(operand)
        case f.Sum(terms):
            return all(map(_is_short, terms))
        case f.Product(factors):
            return all(map(_is_short, factors))
    return False
