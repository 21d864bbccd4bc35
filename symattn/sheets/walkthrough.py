"""The worked-solution sheet of a walkthrough, as blocks.

Given matrices; every step as general formula, substitution, closed form and
rounded value; the Jacobian and the gradients by stages; what the cross-check
found; how to make the sheet again.
"""

from __future__ import annotations

from collections.abc import Iterator

from symattn import formulas as f
from symattn.auditing.judgement import audit
from symattn.errors import Malformed
from symattn.numbers.forms import formula as closed_form
from symattn.numbers.reading import Hidden
from symattn.numbers.values import ONE, ZERO, Value, compare
from symattn.programs.axes import Axes
from symattn.programs.display import formula as step_formula
from symattn.programs.nodes import Node
from symattn.programs.program import ancestors
from symattn.sheets import blocks as b
from symattn.sheets import definitions
from symattn.sheets.layout import TEXT, broken, width
from symattn.sheets.presentation import NARROW, Presentation
from symattn.sheets.redpen import differences
from symattn.solution.quantity import Entry
from symattn.solution.solution import Solution, solve
from symattn.verdicts import Verdict
from symattn.verification import Verification, verify

DETAILS = ("brief", "full")

#: Quantities with more entries are shown by their first rows only.
MAX_ENTRIES = 256
_FIRST_ROWS = 4
#: Entries of a row that are worked in a brief sheet.
_ENTRIES_WORKED = 8
#: Jacobians are shown up to this many keys.
MAX_KEYS = 6


def sheet(solution: Solution, detail: str = "brief", places: int = 4) -> b.Sheet:
    """The worked-solution sheet of a solved case.

    ``detail`` is ``brief`` (the first row of every product is worked) or
    ``full`` (all rows); ``places`` the decimal places. Raises
    :class:`Malformed` for other values, and if the cross-check refutes a
    figure: a sheet carries checked lines only.

    >>> made = sheet(solve("cat-sat-mat"))
    >>> made.title
    'Three tiny vectors, no projections'
    """
    if detail not in DETAILS:
        raise Malformed(f"unknown detail {detail!r}: expected one of {', '.join(DETAILS)}")
    if not 1 <= places <= 30:
        raise Malformed(f"expected 1 to 30 places on a sheet, found {places}")
    verification = verify(solution)
    if verification.verdict is Verdict.REFUTED:
        wrong = [c.quantity for c in verification.checks if c.verdict is Verdict.REFUTED]
        raise Malformed(
            f"{solution.case.name}: the cross-check refutes {', '.join(wrong)}; "
            "no sheet is written from figures that don't hold"
        )
    return _Builder(solution, detail, places, verification).sheet()


class _Builder:
    def __init__(
        self, solution: Solution, detail: str, places: int, verification: Verification
    ) -> None:
        self.solution = solution
        self.case = solution.case
        self.program = solution.program
        self.full = detail == "full"
        self.places = places
        self.shown = Presentation(solution, places)
        self.named = self.shown.named
        self.axes = Axes(solution.program)
        self.verification = verification

    def sheet(self) -> b.Sheet:
        case = self.case
        subtitle = ", ".join(case.tokens) if case.tokens else case.name
        blocks = [
            *self._opening(),
            *self._given(),
            *self._forward(),
            *self._comparison(),
            *self._backward(),
            *self._differences(),
            *self._check(),
            *self._reproduction(),
        ]
        return b.Sheet(case.name, case.title or case.name, (subtitle,), tuple(blocks))

    # -- opening -----------------------------------------------------------------

    def _opening(self) -> Iterator[b.Block]:
        case = self.case
        if case.note:
            yield b.Paragraph((case.note,))
        if case.source:
            yield b.Paragraph((b.Strong("After: "), case.source, "."))
        yield b.Paragraph(
            (
                "Every value after ", b.Math("="), " is exact. What follows ", b.Math(r"\approx"),
                f" is correctly rounded to {self.places} decimal places "
                f"({case.rounding.replace('-', ' ')}). Rows and columns are counted from 0. "
                "A factor whose closed form is long stands by its name, such as ",
                b.Math(r"A_{0,1}"), "; its value is given where that name is worked out.",
            )
        )  # fmt: skip

    def _given(self) -> Iterator[b.Block]:
        yield b.Heading(("Given",))
        scalars = [n for n in self.program.given if not self.program.quantities[n].shape]
        matrices = [n for n in self.program.given if n not in scalars]
        items: list[b.Matrix] = []
        for name in matrices:
            node = self.program.quantities[name]
            items += self._whole(node, f"{f.name_latex(name)} =", exact=True)
        if items:
            yield b.Matrices(tuple(items))
        if scalars:
            text: list[str | b.Math] = []
            for name in scalars:
                node = self.program.quantities[name]
                value = f.latex(self.shown.exact(node, 0, 0))
                text += [b.Math(f"{f.name_latex(name)} = {value}"), ", "]
            yield b.Paragraph((*text[:-1], "."))

    # -- steps -------------------------------------------------------------------

    def _forward(self) -> Iterator[b.Block]:
        yield b.Heading(("Forward",))
        copies: list[str] = []
        for name in self.program.steps:
            node = self.program.quantities[name]
            if node.op == "copy":
                copies.append(name)
                continue
            yield from self._copies(copies)
            copies = []
            role = _role(node)
            formula = f"{f.name_latex(name)} = {f.slashed(step_formula(node, self.named))}"
            yield b.Heading((b.Math(formula), f" \N{EN DASH} {role}" if role else ""), 2)
            yield from self._definitions(definitions.of_step(node, self.named))
            yield from self._work(node)
        yield from self._copies(copies)

    def _copies(self, names: list[str]) -> Iterator[b.Block]:
        """``Q = K = V = X``: steps that only rename."""
        sources: dict[str, list[str]] = {}
        for name in names:
            source = f.latex(step_formula(self.program.quantities[name], self.named))
            sources.setdefault(source, []).append(f.name_latex(name))
        for source, aliases in sources.items():
            chain = " = ".join([*aliases, source])
            yield b.Paragraph(
                ("Nothing to compute in ", b.Math(chain), ": the same matrix under another name.")
            )

    def _definitions(self, equations: list[str]) -> Iterator[b.Block]:
        if equations:
            text: list[str | b.Math] = ["Entry by entry: "]
            for equation in equations:
                text += [b.Math(rf"\displaystyle {equation}"), ", \N{EM SPACE}"]
            yield b.Paragraph((*text[:-1], "."))

    def _work(self, node: Node) -> Iterator[b.Block]:
        """A step in full: worked entries, closed form, rounded value."""
        if node.op == "softmax":
            yield from self._softmax(node)
        elif node.op != "hide":
            rows = range(node.grid[0]) if self.full else range(1)
            for i in rows:
                yield b.Equations(tuple(self._worked_row(node, i)))
        yield from self._values(node)
        if node.op == "softmax":
            yield b.HeatMaps((self._heat_map(self.shown, node, ()),))

    def _worked_row(self, node: Node, i: int) -> Iterator[tuple[str, str, str]]:
        columns = node.grid[1]
        for j in range(columns if self.full else min(columns, _ENTRIES_WORKED)):
            yield from self._worked_entry(node, i, j)

    def _worked_entry(self, node: Node, i: int, j: int) -> Iterator[tuple[str, str, str]]:
        """``S_00 = 1*1 + 0*0 = 1``: name, substitution, closed form, decimals."""
        name = f.latex(self.shown.entry_name(node, i, j))
        room = TEXT - width(name) - 3
        stages = [broken(self.shown.substituted(node, i, j), room)]
        exact = self.shown.exact(node, i, j)
        if [f.latex(exact)] != stages[0]:
            stages.append(broken(exact, room))
        decimal = self.shown.approximate(node, i, j)
        if decimal is not None:
            stages.append(broken(decimal, room))
        yield from _chained(name, stages, approximate=decimal is not None, room=room)

    def _softmax(self, node: Node) -> Iterator[b.Block]:
        """Exponentials and the sum of each row, which gets a name."""
        lines: list[tuple[str, str, str]] = []
        for row in self.shown.normalisers[node.serial]:
            terms = tuple(power for power in row.powers if power is not None)
            added = f.Sum(terms) if len(terms) > 1 else terms[0]
            name = f.latex(row.label)
            room = TEXT - width(name) - 3
            stages = [broken(added, room)]
            exact = self.shown.value(row.value) if row.value.rational() else None
            if exact is None:
                simplified = f.latex(closed_form(row.value))
                if simplified != f.latex(added) and len(row.value.parts[()]) < len(terms):
                    stages.append(broken(closed_form(row.value), room))
            elif f.latex(exact) != f.latex(added):
                stages.append([f.latex(exact)])
            approximate = exact is None
            if approximate:
                stages.append([f.latex(self.shown.rounded(row.value))])
            lines += _chained(name, stages, approximate, room)
        yield b.Paragraph(("Each row of exponentials has a sum; name it:",))
        yield b.Equations(tuple(lines))

    def _values(self, node: Node) -> Iterator[b.Block]:
        """Closed form and rounded value of a whole quantity."""
        name = self._name(node)
        if self.shown.is_plain(node):
            yield b.Matrices(tuple(self._whole(node, f"{name} =", exact=True)))
            return
        exact = self._whole(node, f"{name} =", exact=True)
        widest = max(width(cell) for matrix in exact for row in matrix.cells for cell in row)
        decimal = self._whole(node, rf"{name} \approx", exact=False)
        if widest <= 2 * NARROW and not self.shown.quantity(node).symbols:
            yield b.Matrices((*exact, *decimal))
            return
        if self.shown.quantity(node).symbols:
            yield from self._forms(node)
            return
        yield from self._listed(node)
        yield b.Matrices(tuple(decimal))

    def _listed(self, node: Node) -> Iterator[b.Block]:
        """Closed forms too wide for a matrix, entry by entry, but for the rows
        that were worked out above."""
        rows, columns = node.grid
        worked = rows if self.full else 1 if columns <= _ENTRIES_WORKED else 0
        for i in range(worked, self._rows_shown(node)):
            lines: list[tuple[str, str, str]] = []
            for j in range(columns):
                name = f.latex(self.shown.entry_name(node, i, j))
                room = TEXT - width(name) - 3
                lines += _chained(name, [broken(self.shown.exact(node, i, j), room)], False, room)
            yield b.Equations(tuple(lines))
        if self._rows_shown(node) < rows:
            yield b.Paragraph((f"Rows {self._rows_shown(node)} to {rows - 1} likewise.",))

    def _forms(self, node: Node) -> Iterator[b.Block]:
        """Entries that are linear forms in symbols: exact, then rounded."""
        for i in range(self._rows_shown(node)):
            lines: list[tuple[str, str, str]] = []
            zero = []
            for j in range(node.grid[1]):
                name = f.latex(self.shown.entry_name(node, i, j))
                exact = self.shown.exact(node, i, j)
                if exact == f.Number("0"):
                    zero.append(name)
                    continue
                room = TEXT - width(name) - 3
                stages = [broken(exact, room)]
                decimal = self.shown.decimal(node, i, j)
                approximate = not _is_short(exact)
                if approximate:
                    stages.append(broken(decimal, room))
                lines += _chained(name, stages, approximate, room)
            if lines:
                yield b.Equations(tuple(lines))
            if zero:
                yield b.Paragraph((b.Math(" = ".join([*zero, "0"])), "."))

    def _whole(self, node: Node, before: str, exact: bool) -> list[b.Matrix]:
        """The matrix of a quantity; of a large one its first rows."""
        columns = node.grid[1]
        entry = self.shown.exact if exact else self.shown.decimal
        count = self._rows_shown(node)
        cells = tuple(
            tuple(f.latex(entry(node, i, j)) for j in range(columns)) for i in range(count)
        )
        if count < node.grid[0]:
            before = (
                rf"({before.split()[0]})_{{0\text{{--}}{count - 1},\,\cdot}} {before.split()[1]}"
            )
        labels = self._tokens(node, 0)[:count]
        return [b.Matrix(before, cells, labels if exact else ())]

    def _tokens(self, node: Node, axis: int) -> tuple[str, ...]:
        """The tokens, if that axis runs over them as the output's rows do."""
        tokens = self.case.tokens
        output = self.program.quantities[self.case.output]
        if node.grid[axis] != len(tokens) or not self.axes.same(node, axis, output, 0):
            return ()
        return tokens

    def _rows_shown(self, node: Node) -> int:
        rows, columns = node.grid
        return rows if rows * columns <= MAX_ENTRIES else min(rows, _FIRST_ROWS)

    def _name(self, node: Node) -> str:
        return f.latex(self.named[node.serial])

    # -- heat maps ---------------------------------------------------------------

    def _heat_map(
        self, shown: Presentation, node: Node, title: b.Line, like: Node | None = None
    ) -> b.HeatMap:
        """Weights as shades; ``like`` is the node of this case whose labels fit."""
        rows, columns = node.grid
        quantity = shown.quantity(node)
        shades = tuple(
            tuple(float(Entry(quantity, i, j).ball(64)) for j in range(columns))
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
            self._tokens(like or node, axis) or tuple(map(str, range(count)))
            for axis, count in enumerate((rows, columns))
        ]
        return b.HeatMap(title, shades, figures, sides[0][:24], sides[1])

    # -- backward ----------------------------------------------------------------

    def _backward(self) -> Iterator[b.Block]:
        output = self.case.output
        shown_output = f.name_latex(output)
        yield b.Heading(("Backward",))
        upstream = self.program.gradients[output]
        intro: list[str | b.Math] = [
            "Write ", b.Math(r"\mathrm{d}X"), " for ", b.Math(r"\partial L/\partial X"), ". ",
        ]  # fmt: skip
        if self.case.raw_upstream is None:
            why = "" if self.case.states_loss else "The document has no loss. "
            intro += [
                why + "Differentiate the sum of all outputs, ",
                b.Math(rf"L = \sum_{{i,j}} {shown_output}_{{i,j}}"),
                ": the gradient that comes from above is all ones.",
            ]
        else:
            intro += ["The gradient that comes from above is given:"]
        yield b.Paragraph(tuple(intro))
        yield b.Matrices(tuple(self._whole(upstream, rf"\mathrm{{d}}{shown_output} =", exact=True)))
        yield from self._jacobians()
        wanted = self._stages()
        for name in wanted:
            node = self.program.gradients[name]
            short = self._name(node)
            formula = f"{short} = {f.slashed(step_formula(node, self.named))}"
            yield b.Heading((b.Math(formula),), 2)
            yield from self._definitions(definitions.of_gradient(self.program, name, self.named))
            yield from self._gradient_work(node)

    def _stages(self) -> list[str]:
        """The gradients to show, from the output back: those asked for and
        those on the way to them."""
        gradients = self.program.gradients
        needed = {x.serial for x in ancestors(gradients[name] for name in self.case.wrt)}
        order = [n for n in reversed(list(self.program.quantities)) if n in gradients]
        return [
            name for name in order if gradients[name].serial in needed and name != self.case.output
        ]

    def _gradient_work(self, node: Node) -> Iterator[b.Block]:
        if (equal := self._equal_operand(node)) is not None:
            short, other = self._name(node), self._name(equal)
            yield b.Paragraph(("Here ", b.Math(f"{short} = {other}"), ", entry for entry."))
            return
        if self._is_zero(node):
            yield b.Equations(tuple(self._worked_entry(node, 0, 0)))
            yield b.Paragraph(("Every entry of ", b.Math(self._name(node)), " is exactly 0."))
            return
        if self.shown.quantity(node).symbols:
            yield from self._forms(node)
            return
        rows = range(node.grid[0]) if self.full else range(1)
        for i in rows:
            yield b.Equations(tuple(self._worked_row(node, i)))
        yield from self._values(node)

    def _equal_operand(self, node: Node) -> Node | None:
        """A gradient that only passes a mask, or is copied, and stays the same."""
        for operand in node.operands[:1]:
            if node.op in ("multiply", "copy") and operand.serial in self.named:
                same = self.shown.quantity(node).equals(self.shown.quantity(operand))
                if same is Verdict.HOLDS:
                    return operand
        return None

    def _is_zero(self, node: Node) -> bool:
        return all(
            isinstance(value, Value) and value.rational() == 0
            for row in self.shown.quantity(node).rows
            for value in row
        )

    def _jacobians(self) -> Iterator[b.Block]:
        """The Jacobian of every softmax row at its point."""
        for name in self.program.steps:
            node = self.program.quantities[name]
            if node.op != "softmax" or node.operands[0].serial not in self.named:
                continue
            if name not in self.program.gradients:
                continue
            weights = f.name_latex(name)
            yield b.Heading((b.Math(weights), " by its scores: the softmax Jacobian"), 2)
            yield b.Paragraph(
                (
                    "A row of weights depends on its own row of scores only: ",
                    b.Math(rf"\displaystyle {definitions.jacobian(node, self.named)}"),
                    ", that is ",
                    b.Math(
                        rf"J_i = \operatorname{{diag}}({weights}_i)"
                        rf" - {weights}_i^{{\top}} {weights}_i"
                    ),
                    ". Each row and each column of ", b.Math("J_i"), " sums to 0.",
                )
            )  # fmt: skip
            if node.grid[1] > MAX_KEYS:
                yield b.Paragraph((f"With {node.grid[1]} keys the matrices are left out here.",))
                continue
            for i in range(self._rows_shown(node)):
                yield b.Matrices(tuple(self._jacobian(node, i)))

    def _jacobian(self, node: Node, i: int) -> list[b.Matrix]:
        weights = [self.shown.quantity(node).entry(i, k) for k in range(node.grid[1])]
        values = [weight for weight in weights if isinstance(weight, Value)]
        table = [
            [p * ((ONE if j == k else ZERO) - q) for k, q in enumerate(values)]
            for j, p in enumerate(values)
        ]
        before = f"J_{{{i}}} ="
        above = table
        row = self.shown.normalisers[node.serial][i]
        if len(row.value.parts[()]) > 1:
            # All entries share the denominator Z_i^2.
            square = row.value * row.value
            above = [[value * square for value in line] for line in table]
            before += rf" \frac{{1}}{{{f.latex(f.Power(row.label, f.Number('2')))}}}"
        exact = tuple(tuple(f.latex(self.shown.value(v, i)) for v in line) for line in above)
        rounded = tuple(
            tuple(f.latex(self.shown.rounded(v)) if v.parts else "0" for v in line)
            for line in table
        )
        items = [b.Matrix(before, exact)]
        if exact != rounded:
            items.append(b.Matrix(r"\approx", rounded))
        return items

    # -- comparison, check, reproduction ---------------------------------------------

    def _comparison(self) -> Iterator[b.Block]:
        """What changes against the walkthrough that this one extends."""
        if self.case.base is None:
            return
        base = solve(self.case.base)
        shared = [
            name
            for name in self.program.steps
            if name in base.program.steps
            and base.program.quantities[name].shape == self.program.quantities[name].shape
            and self.program.quantities[name].op != "copy"
        ]
        if not shared:
            return
        yield b.Heading(("Compared with ", b.Code(self.case.extends)))
        other = Presentation(base, self.places)
        rows: list[tuple[b.Line, ...]] = []
        changed = []
        for name in shared:
            ours, theirs = self.solution[name], base[name]
            same = ours.equals(theirs)
            if same is Verdict.HOLDS:
                rows.append(((b.Math(f.name_latex(name)),), ("equal, exactly",)))
                continue
            changed.append(name)
            count = sum(
                a is not c
                if isinstance(a, Hidden) or isinstance(c, Hidden)
                else compare(a, c) is not Verdict.HOLDS
                for left, right in zip(ours.rows, theirs.rows, strict=True)
                for a, c in zip(left, right, strict=True)
            )
            entries = len(ours.rows) * len(ours.rows[0])
            rows.append(((b.Math(f.name_latex(name)),), (f"{count} of {entries} entries differ",)))
        yield b.Table((("quantity",), ("against the base case",)), tuple(rows), "ll")
        for name in changed:
            node, was = self.program.quantities[name], base.program.quantities[name]
            if node.op == "softmax" and was.op == "softmax":
                yield b.HeatMaps(
                    (
                        self._heat_map(
                            other, was, (b.Math(f.name_latex(name)), ", base case"), node
                        ),
                        self._heat_map(self.shown, node, (b.Math(f.name_latex(name)), ", here")),
                    )
                )
        if self.case.output in changed:
            node = self.program.quantities[self.case.output]
            was = base.program.quantities[self.case.output]
            name = f.name_latex(self.case.output)
            before = tuple(
                tuple(f.latex(other.decimal(was, i, j)) for j in range(was.grid[1]))
                for i in range(self._rows_shown(was))
            )
            yield b.Matrices(
                (
                    b.Matrix(rf"{name}_{{\text{{base}}}} \approx", before),
                    *self._whole(node, rf"{name}_{{\text{{here}}}} \approx", exact=False),
                )
            )

    def _differences(self) -> Iterator[b.Block]:
        """Where the document's figures differ, if it prints any."""
        if self.case.claims:
            yield from differences(audit(self.solution))

    def _check(self) -> Iterator[b.Block]:
        verification = self.verification
        yield b.Heading(("Cross-check",))
        yield b.Paragraph(
            (
                "NumPy computed every quantity a second time in 64-bit floats, from the steps' "
                "text, with the definitions printed above as its code, and the gradients also by "
                "complex steps. ", b.Strong("ulp"),
                ": largest distance from the exact value in units of the last place. ",
                b.Strong("scaled"), ": that distance over the bound that follows from the "
                "magnitudes of all terms; up to 1 is rounding, more would be an error.",
            )
        )  # fmt: skip
        half = (len(verification.checks) + 1) // 2
        cells: list[tuple[b.Line, ...]] = [
            (
                (b.Math(_check_name(check.quantity)),),
                (f"{check.max_ulp:.2f}",),
                (f"{check.scaled_ulp:.3f}",),
                (str(check.verdict),),
            )
            for check in verification.checks
        ]
        empty: tuple[b.Line, ...] = ((), (), (), ())
        right = cells[half:] + [empty] * (2 * half - len(cells))
        header: tuple[b.Line, ...] = (("quantity",), ("ulp",), ("scaled",), ("verdict",))
        yield b.Table(
            (*header, *header),
            tuple((*a, *c) for a, c in zip(cells[:half], right, strict=True)),
            "lrrl@{\\hspace{12mm}}lrrl",
        )

    def _reproduction(self) -> Iterator[b.Block]:
        name = self.case.name
        detail = " --detail full" if self.full else ""
        places = "" if self.places == 4 else f" --places {self.places}"
        yield b.Heading(("Make it again",))
        yield b.Listing(
            (
                f"symattn sheet {name}{detail}{places}",
                f"symattn show {name} {self.case.output} --places 12",
                f"symattn verify {name}",
            )
        )


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


def _check_name(quantity: str) -> str:
    if quantity.startswith("dL/d"):
        return rf"\mathrm{{d}}{f.name_latex(quantity[4:])}"
    return f.name_latex(quantity)


def _role(node: Node) -> str:
    """What a step is called in the field, where its form tells."""
    match node.op, node.operands:
        case "softmax", _:
            return "attention weights"
        case "hide", _:
            return "masked scores"
        case "matmul", (_, y) if y.op == "transpose":
            return "scores"
        case "matmul", (x, _) if x.op == "softmax":
            return "output"
        case "divide" | "multiply", (x, _) if x.op == "matmul" and x.operands[1].op == "transpose":
            return "scaled scores"
        case "matmul", (x, y) if y.op == "given":
            return "projection"
    return ""
