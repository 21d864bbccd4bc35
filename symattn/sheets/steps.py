"""Steps as they are shown: worked entries, closed forms, rounded values, shades.

Forward and backward steps are programs alike, so one class shows both.

What is told of a figure where a reader asks for it: where it comes from, its closed form,
more of its digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from symattn.cases.settings import SheetSettings
from symattn.errors import Malformed
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.numbers.balls import FIRST
from symattn.printers import blocks as b
from symattn.printers.layout import TEXT, broken, matrix_width, unbreakable, width
from symattn.programs.display import formula as step_formula
from symattn.programs.functions.own import calls
from symattn.programs.nodes import Node, ancestors, arguments
from symattn.sheets.presentation import (
    FIRST_ROWS,
    MAX_ENTRIES,
    NARROW,
    PARTS,
    UNWRITTEN,
    Presentation,
    is_legible,
)
from symattn.solution.entries import EntryValue
from symattn.solution.solution import Solution

#: Decimal places of a figure that is asked for.
PLACES = 12

#: Room of a line in em, which telephones have, and of a closed form.
_HINT_ROOM, _CLOSED = 21.0, 2 * NARROW
#: Terms of a sum of which a line can't show all.
_TERMS = 24


def hints(presentation: Presentation, node: Node, count: int) -> tuple[tuple[b.Hint, ...], ...]:
    """The hints of the first rows of a quantity; none where there is nothing to tell."""
    if node.op == "given" and presentation.is_plain(node):
        return ()
    rows = range(len(presentation.hints.setdefault(node.serial, [])), count)
    presentation.hints[node.serial] += [
        tuple(hint(presentation, node, i, j) for j in range(node.grid[1])) for i in rows
    ]
    return tuple(presentation.hints[node.serial][:count])


def hint(presentation: Presentation, node: Node, i: int, j: int) -> b.Hint:
    """The hint of an entry.

    >>> from symattn.solution.solution import solve
    >>> solution = solve("cat-sat-mat")
    >>> weights = solution.program.quantities["A"]
    >>> for line in hint(Presentation(solution, 4), weights, 0, 1).lines:
    ...     print(*map(t.latex, line))
    A_{0,1} = \\frac{1}{Z_{0}}
     \\approx 0.186323723226
    """
    rows: list[tuple[t.Row, t.Row]] = []
    if node.op != "given" and not presentation.quantity(node).is_masked(i, j):
        worked = presentation.worked.by_name(node, i, j)
        rows += [(t.EQUALS, _short(worked))] if worked else []
    exact = (
        None
        if presentation.large and not presentation.is_plain(node)
        else presentation.exact(node, i, j)
    )
    if exact is not None and width(closed := f.typeset(exact)) <= _CLOSED:
        rows.append((t.EQUALS, closed))
    digits = presentation.approximate(node, i, j, max(PLACES, presentation.places))
    if digits is not None:
        rows.append((t.ABOUT, _short(digits)))
    name = f.typeset(presentation.entry_name(node, i, j))
    lines = ((name if row is rows[0] else t.Row(), *row) for row in dict.fromkeys(rows))
    return b.Equations(tuple(lines))


def _short(formula: syntax.Tree) -> t.Row:
    """A formula on one line; of a longer sum the beginning."""
    if isinstance(formula, syntax.Sum):
        # No more stand on the line than that, and all of a long one take long to be set.
        formula = syntax.Sum(formula.terms[:_TERMS])
    first, *more = broken(formula, _HINT_ROOM)
    return t.row(first, t.sign("+"), t.DOTS) if more else first


#: Shades are as near as that to what they stand for.
_APART = 1e-3
#: Entries of a row that are worked in a brief sheet, and in a large case.
_ENTRIES_WORKED, _FEW_WORKED = 8, 2
#: Lines of one worked entry, of a longer one the beginning and the end; their width, in em.
_MOST_LINES, _ROOM = 12, TEXT - 6
#: What stands between definitions.
_BETWEEN = ", \N{EM SPACE}"
#: A stage of a calculation: the sign before it, and its lines.
_Stage = tuple[t.Row, tuple[t.Row, ...]]
#: Most rows of a heat map, and most columns that have figures in them.
SHADES, FIGURES = 24, 8


class Steps:
    """Shows the steps of one solution; ``full`` works all rows of a product, and
    ``say`` says sentences in the sheet's language."""

    def __init__(self, solution: Solution, settings: SheetSettings) -> None:
        self.solution = solution
        self.settings = settings
        self.say = settings.say
        self.case = solution.case
        self.program = solution.program
        self.full = settings.detail == "full"
        self.places = settings.places
        self.shown = Presentation(solution, settings.places, settings.count_from)
        self.named = self.shown.named
        self.large = self.shown.large
        self._told: set[str] = set()
        self._forward = {node.serial for node in self.program.quantities.values()}

    def prose(self, text: str) -> b.Line:
        """Words of the case, with the quantities and symbols that they name as mathematics.

        A name of one letter, and a word, may be no name at all: ``A`` and ``mean`` stay. What has
        an index, or digits, is surely one.
        """
        known = {*self.program.quantities, *self.case.letters}
        pieces = re.split(r"(?<![\w.])([A-Za-z]\w*)(?![\w.]*\w)", text)
        parts: list[str | b.Math] = [""]
        for piece in pieces:
            if piece in known and re.search(r"[_\d]", piece):
                parts += [b.Math(f.typeset_name(piece)), ""]
            else:
                parts[-1] = f"{parts[-1]}{piece}"
        return tuple(piece for piece in parts if piece)

    def which_row(self) -> b.Line:
        """Return which row is worked, where not all are."""
        if self.full or self.large or not self.shown.normalisers:
            return ()
        row, tokens = self.shown.main_row, self.case.tokens
        labelled = len(tokens) == len(next(iter(self.shown.normalisers.values())))
        at = self.shown.at(row)
        name = f"{at} ({tokens[row]})" if labelled else at
        return self.say(
            "Each step is worked for one row: row {row}, which has the most keys and the "
            "fewest zero scores, or a row with fewer zeros where the step has one.",
            row=name,
        )

    def computed(self, name: t.Row, node: Node) -> t.Row:
        """Return what a node computes; nothing where that could not be read behind its name."""
        formula = f.slashed(step_formula(node, self.named))
        return formula if unbreakable(name + t.EQUALS + formula) <= 1.5 * TEXT else t.Row()

    def formula(self, name: t.Row, node: Node) -> t.Row:
        """``name = what the node computes``, or the name alone."""
        formula = self.computed(name, node)
        return name + t.EQUALS + formula if formula else name

    def row_sum(self, node: Node) -> t.Row:
        """Return what the sum over row i of a softmax is called; nothing for another step."""
        return f.typeset(self.shown.row_label(node, "i")) if node.op == "softmax" else t.Row()

    def definitions(self, equations: Sequence[t.Row]) -> Iterator[b.Block]:
        """The definitions that a step uses, entry by entry."""
        if equations:
            words = {"if": self.say.text("if"), "otherwise": self.say.text("otherwise")}
            formulas: list[b.Math] = []
            for english in equations:
                equation = t.in_words(english, words)
                if t.has(equation, t.Fraction):
                    equation = t.row(t.Styled(True, equation))
                formulas.append(b.Math(equation))
            apart = b.joined(formulas, _BETWEEN)
            yield b.Paragraph(self.say("Entry by entry: {formulas}.", formulas=apart))

    def own(self, node: Node) -> Iterator[b.Block]:
        """Yield what the functions are that the case defines, where a step is the first to call
        them."""
        if definitions := b.joined(self._own(node), _BETWEEN):
            yield b.Paragraph(self.say("Defined for this case: {formulas}.", formulas=definitions))

    def _own(self, node: Node) -> Iterator[b.Math | b.Code]:
        for part in ancestors(
            [node], stop=lambda x: x.serial in self.named and x is not node, through=arguments
        ):
            call = part.written
            if call is None or not call.is_own or call.function in self._told:
                continue
            function = self.program.functions[call.function]
            given = tuple(map(syntax.Name, function.parameters))
            head = f.typeset(syntax.Call(function.name, given))
            try:
                body = self.program.definition(call)
                computed = self.computed(head, body)
            except Malformed:
                computed = t.Row()
            if computed:
                self._told.add(call.function)
                yield b.Math(head + t.EQUALS + computed)
                yield from self._own(body)
            else:
                yield from self._own_text(call.function)

    def _own_text(self, name: str) -> Iterator[b.Code]:
        """A function as it is written, and those that it calls."""
        if name in self.program.functions and name not in self._told:
            self._told.add(name)
            function = self.program.functions[name]
            yield b.Code(f"{function.head} = {function.text}")
            for called in calls(function.body):
                yield from self._own_text(called)

    def work(self, node: Node) -> Iterator[b.Block]:
        """A quantity in full: worked entries beside its closed form and its rounded value."""
        if self.shown.quantity(node).symbols:
            yield from self.forms(node)
            return
        worked = [] if node.op in ("hide", "table") else list(self.worked_rows(node))
        values = self.values(node) if node.shape else []
        yield b.Beside((*worked, b.Matrices(tuple(values))) if values else tuple(worked))
        yield from self._cut(node)

    def _cut(self, node: Node) -> Iterator[b.Block]:
        """Return what is said where entries are too long to be worked out."""
        if node.serial in self.shown.worked.too_long:
            sentence = self.say(
                "Entries of {name} are too long to be worked out here: as steps of their own, "
                "parts of it would be shown one by one.",
                name=b.Math(self.name(node)),
            )
            yield b.Paragraph(sentence)

    def rows_worked(self, node: Node) -> list[int]:
        """The most telling row of a quantity, in a full sheet all rows."""
        if self.full and not self.large:
            return [*range(node.grid[0])]
        return [self.shown.telling_row(node)]

    def worked_rows(self, node: Node) -> Iterator[b.Equations]:
        """The entries of a row worked out, for each row that is."""
        columns = node.grid[1]
        most = _FEW_WORKED if self.large else columns if self.full else _ENTRIES_WORKED
        for i in self.rows_worked(node):
            yield b.Equations(tuple(self.worked(node, [(i, j) for j in range(min(columns, most))])))

    def worked(self, node: Node, places: Sequence[tuple[int, int]]) -> Iterator[b.Equation]:
        """``S_00 = 1*1 + 0*0 = 1`` for every place: name, substitution, closed form where
        all have a short one, else in numbers; decimals; entries that are worked alike in one."""
        closed = not self.large or node.serial in self._forward or self.shown.is_plain(node)
        closed = closed and all(self.shown.short_form(node, i, j) is not None for i, j in places)
        alike: dict[tuple[syntax.Tree | None, tuple[_Stage, ...]], list[t.Row]] = {}
        for i, j in places:
            worked = self.shown.worked.by_name(node, i, j)
            stages = {
                formula: (relation, tuple(elided(broken(formula, _ROOM))))
                for relation, formula in self._stages(node, i, j, worked, closed)
                if formula
            }
            name = f.typeset(self.shown.entry_name(node, i, j))
            # Decimals that are alike are not equal for that.
            alike.setdefault((worked, tuple(stages.values())), []).append(name)
        for (_, written), names in alike.items():
            room = TEXT - width(names[0]) - 3
            together = t.joined(names, t.EQUALS)
            if width(together) + sum(width(lines[0]) for _, lines in written) <= room:
                names = [together]
            for name in names:
                yield from chained(name, written, room)

    def _stages(
        self, node: Node, i: int, j: int, worked: syntax.Tree | None, closed: bool
    ) -> Iterator[tuple[t.Row, syntax.Tree | None]]:
        """Tell how an entry is worked out, each formula with the sign before it; None for one that
        is too long."""
        decimal: syntax.Tree | None = self.shown.decimal(node, i, j)
        if closed:
            forms = [worked, *self.shown.short_forms(node, i, j)]
            yield from ((t.EQUALS, form) for form in forms)
            decimal = self.shown.approximate(node, i, j)
            if self.shown.quantity(node).symbols and is_short(forms[-1]):
                decimal = None
        elif self.shown.is_lettered(node):
            yield t.EQUALS, worked
            yield t.EQUALS, self.shown.exact(node, i, j) or UNWRITTEN
            decimal = None
        else:
            numbers = None if self.large else self.shown.worked.in_numbers(node, i, j)
            # Of an entry that was only moved the name says where from.
            if (
                numbers is None
                or numbers == worked
                or isinstance(worked, syntax.Name | syntax.Gradient)
            ):
                yield t.EQUALS, worked
            else:
                if worked and not node.shape and is_legible(worked, 2 * PARTS):
                    yield t.EQUALS, worked
                yield t.ABOUT, numbers
        if decimal is not None:
            yield t.ABOUT, decimal

    def values(self, node: Node) -> list[b.Matrix]:
        """Closed form and rounded value of a whole quantity, the closed form where
        it fits on a line."""
        name = self.name(node)
        plain = self.shown.is_plain(node)
        if plain or self.large:
            return self.whole(node, name, exact=plain)
        decimal = self.whole(node, name, exact=False)
        if not self.shown.is_closed(node):
            return decimal
        (exact,) = self.whole(node, name, exact=True)
        widest = max(width(cell) for row in exact.cells for cell in row)
        fits = self.is_legible(node) and widest <= NARROW and matrix_width(exact) <= TEXT
        if (
            node.op == "hide"
            and fits
            # In digits alone, or masked.
            and all(
                cell == t.MINUS_INFINITY or t.plain_figure(cell) is not None
                for row in exact.cells
                for cell in row
            )
        ):
            # The rounded scores stand above.
            return [exact]
        return [exact, *decimal] if fits else decimal

    def is_legible(self, node: Node) -> bool:
        """Return whether all entries have closed forms for the cells of a matrix."""
        forms = (self.shown.exact(node, *place) for place in np.ndindex(node.grid))
        return all(form is not None and is_legible(form) for form in forms)

    def first_rows(self, name: t.Row, count: int) -> t.Row:
        """The name of the first rows of a quantity."""
        first, last = (t.number(self.shown.at(row)) for row in (0, count - 1))
        rows = first + t.row(t.Text("–")) + last
        return t.index(f.bracketed(name), t.row(rows, t.COMMA, t.THIN, t.letters("⋅")))

    def rest(self, node: Node) -> Iterator[b.Block]:
        """Yield what is said of the rows that are not shown."""
        if (count := self.rows_shown(node)) < node.grid[0]:
            yield b.Paragraph(
                self.say("Likewise for rows {first} to {last}.", first=self.shown.at(count),
                         last=self.shown.at(node.grid[0] - 1))
            )  # fmt: skip

    def forms(self, node: Node) -> Iterator[b.Block]:
        """A quantity whose entries are forms in symbols: a row worked, then
        the whole as a matrix, or as equations where that is too wide."""
        rows = 1 if self.large else self.rows_shown(node)
        places = [(i, j) for i in range(rows) for j in range(node.grid[1])]
        zero = syntax.Literal("0")
        live = [place for place in places if self.shown.decimal(node, *place) != zero]
        if not live:
            # Of a large case that shows its first row.
            live = places[:1]
        exact = self.shown.is_lettered(node)
        exact = exact or all(is_short(self.shown.exact(node, i, j)) for i, j in places)
        (matrix,) = self.whole(node, self.name(node), exact=exact)
        first = max(live, key=lambda place: (place[0] == self.shown.telling_row(node), -place[1]))
        if node.op != "given" and matrix_width(matrix) <= TEXT:
            row = [(i, j) for i, j in live if i == first[0]]
            lines = tuple(self.worked(node, row))
            yield b.Beside((b.Equations(lines), b.Matrices((matrix,))))
            yield from self._cut(node)
            return
        equations = list(self.worked(node, [first]))
        for place in live:
            equations += self._result(node, *place) if place != first else ()
        yield b.Beside((b.Equations(tuple(equations)),))
        yield from self._cut(node)
        if len(live) < len(places):
            yield b.Paragraph(
                self.say("All other entries of {name} are 0.", name=b.Math(self.name(node)))
            )

    def _result(self, node: Node, i: int, j: int) -> Iterator[b.Equation]:
        name = f.typeset(self.shown.entry_name(node, i, j))
        exact = self.shown.exact(node, i, j)
        if is_short(exact) and exact is not None:
            yield name, t.EQUALS, f.typeset(exact)
            return
        room = TEXT - width(name) - 3
        lines = tuple(broken(self.shown.decimal(node, i, j), room))
        yield from chained(name, [(self.shown.about(node), lines)], room)

    def whole(self, node: Node, name: t.Row, exact: bool) -> list[b.Matrix]:
        """The matrix of a quantity, of a large one its first rows; ``exact``
        where all entries have closed forms."""
        columns = node.grid[1]
        count = self.rows_shown(node)
        places = [[(i, j) for j in range(columns)] for i in range(count)]
        closed = [[self.shown.exact(node, i, j) for i, j in row] if exact else [] for row in places]
        if exact := exact and all(entry is not None for row in closed for entry in row):
            cells = tuple(tuple(f.typeset(entry) for entry in row if entry) for row in closed)
        else:
            cells = tuple(
                tuple(f.typeset(self.shown.decimal(node, i, j)) for i, j in row) for row in places
            )
        if count < node.grid[0]:
            name = self.first_rows(name, count)
        labels = self.solution.tokens(node, 0)[:count]
        relation = t.EQUALS if exact else t.ABOUT
        notes = hints(self.shown, node, count)
        return [b.Matrix(name + relation, cells, labels if exact else (), notes)]

    def rows_shown(self, node: Node) -> int:
        """Return how many rows of a quantity are shown."""
        rows, columns = node.grid
        return rows if rows * columns <= MAX_ENTRIES else min(rows, FIRST_ROWS)

    def name(self, node: Node) -> t.Row:
        """Return what a node is called: by its name, or else by its formula."""
        return f.typeset(self.named.get(node.serial) or step_formula(node, self.named))

    def heat_map(
        self, presentation: Presentation, node: Node, title: b.Line, like: Node | None = None
    ) -> b.HeatMap:
        """Weights as shades; ``like`` is the node of this case whose labels fit."""
        rows, columns = node.grid
        quantity = presentation.quantity(node)
        shades = tuple(
            tuple(_shade(EntryValue(quantity, i, j)) for j in range(columns))
            for i in range(min(rows, SHADES))
        )
        figures = tuple(
            tuple(
                f.typeset(presentation.decimal(node, i, j)) if columns <= FIGURES else t.Row()
                for j in range(columns)
            )
            for i in range(min(rows, SHADES))
        )
        sides = [
            self.solution.tokens(like or node, axis) or tuple(map(self.shown.at, range(count)))
            for axis, count in enumerate((rows, columns))
        ]
        notes = hints(presentation, node, len(shades))
        return b.HeatMap(title, shades, figures, sides[0][:SHADES], sides[1], notes)


def _shade(entry: EntryValue) -> float:
    """About what a weight is; 0 where no enclosure tells, as with scores beyond all measure."""
    balls = (entry.ball(bits) for bits in (FIRST, 8 * FIRST, 64 * FIRST))
    return next((float(near.mid()) for near in balls if near.rad() < _APART), 0.0)


def elided(lines: list[t.Row]) -> list[t.Row]:
    """A sum on very many lines by its beginning and its end."""
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 2], t.sign("+") + t.DOTS, lines[-1]]


def chained(name: t.Row, stages: Iterable[_Stage], room: float) -> Iterator[b.Equation]:
    """``name = stage = stage ~ stage``, on as few lines as fit."""
    left, line, used = name, t.Row(), 0.0
    relation = t.EQUALS
    for place, (sign, (first, *more)) in enumerate(stages):
        if place == 0:
            relation, line = sign, first
        elif not more and used + width(first) + 2.5 <= room:
            line += sign + first
        else:
            yield left, relation, line
            left, relation, line = t.Row(), sign, first
        for rest in more:
            yield left, relation, line
            left, relation, line = t.Row(), t.Row(), rest
        used = width(line)
    yield left, relation, line


def is_short(formula: syntax.Tree | None) -> bool:
    """Return whether a linear form has only decimals as coefficients."""
    kinds = syntax.Literal | syntax.Name | syntax.Negative | syntax.Sum | syntax.Product
    return formula is not None and all(isinstance(x, kinds) for x in syntax.walk(formula))
