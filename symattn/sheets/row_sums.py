"""Softmax on a sheet: its exponentials, the sums of their rows, its weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from symattn import formulas as f
from symattn import typesetting as t
from symattn.numbers.values import Value, compare
from symattn.printers import blocks as b
from symattn.printers.layout import TEXT, broken, matrix_width, width
from symattn.programs.nodes import Node, ancestors
from symattn.sheets.presentation import UNWRITTEN, RowNormaliser, is_legible
from symattn.sheets.steps import FIGURES, SHADES, Steps, chained, elided
from symattn.verdicts import Verdict

_NOTHING = t.number("0")


def row_sums(steps: Steps, node: Node) -> Iterator[b.Block]:
    """The exponential of every score, and the sum of each row, which gets a name."""
    say, rows = steps.say, steps.shown.normalisers[node.serial]
    count = steps.rows_shown(node)
    matrices: list[b.Matrix] = []
    if not steps.large:
        matrices = _exponentials(steps, node, count)
        yield b.Paragraph(_introduction(steps, node))
    else:
        yield b.Paragraph(say("Name the sum of each row of exponentials:"))
    lines = [line for i in range(count) for line in _row_sum(steps, node, i)]
    yield b.Beside(
        (*((b.Matrices(tuple(matrices)),) if matrices else ()), b.Equations(tuple(lines)))
    )
    for i, row in enumerate(rows[:count]):
        if (k := _equal_before(rows, i)) is not None:
            equal = b.Math(f.typeset(row.label) + t.EQUALS + f.typeset(rows[k].label))
            if _same_terms(steps, node, i, k):
                yield b.Paragraph(
                    say("{equal}: both rows hold the same exponentials.", equal=equal)
                )
            else:
                yield b.Paragraph(say("{equal}: equal, from other exponentials.", equal=equal))
    yield from steps.rest(node)


def _introduction(steps: Steps, node: Node) -> b.Line:
    scores = node.operands[0]
    quantity = steps.shown.quantity(scores)
    rows, columns = scores.grid
    hidden = any(quantity.is_masked(i, j) for i in range(rows) for j in range(columns))
    masked = f.typeset(f.Function("exp", (f.MINUS_INFINITY,))) + t.EQUALS + _NOTHING
    return (
        *steps.say("Take the exponential of every score and sum each row."),
        *((" ", *steps.say("A masked score contributes nothing: {zero}.", zero=b.Math(masked)))
          if hidden else ()),
    )  # fmt: skip


def _exponentials(steps: Steps, node: Node, count: int) -> list[b.Matrix]:
    """The matrix of exponentials, in closed form where that is short, and rounded."""
    scores = node.operands[0]
    name = f.typeset(f.Function("exp", (f.Symbol("", steps.name(scores)),)))
    if count < node.grid[0]:
        name = steps.first_rows(name, count)
    rows = [row.powers for row in steps.shown.normalisers[node.serial][:count]]

    def cells(write: Callable[[Value], f.Formula]) -> tuple[tuple[t.Row, ...], ...]:
        return tuple(
            tuple(_NOTHING if x is None else f.typeset(write(x)) for x in row) for row in rows
        )

    closed = cells(lambda power: power.formula() if power.is_closed else UNWRITTEN)
    exact = b.Matrix(name + t.EQUALS, closed, steps.tokens(scores, 0)[:count])
    if steps.shown.is_lettered(scores):
        return [exact]
    rounded = cells(steps.shown.rounded)
    near = b.Matrix(name + t.ABOUT, rounded)
    if not all(power is None or power.is_closed for row in rows for power in row):
        return [near]
    forms = [power.formula() for row in rows for power in row if power is not None]
    fits = matrix_width(exact) <= TEXT and all(map(is_legible, forms))
    return [exact, b.Matrix(t.ABOUT, rounded)] if fits else [near]


def _row_sum(steps: Steps, node: Node, i: int) -> Iterator[b.Equation]:
    """``Z_0 = 1 + e = 2 + 1.7183``, as far as it is not that of a row above."""
    rows = steps.shown.normalisers[node.serial]
    row = rows[i]
    terms = steps.shown.row_terms(node, i)
    added = f.Sum(terms) if len(terms) > 1 else terms[0]
    name = f.typeset(row.label)
    room = TEXT - width(name) - 3
    stages = [(t.EQUALS, tuple(elided(broken(added, room))))]
    if (k := _equal_before(rows, i)) is not None:
        stages.append((t.EQUALS, (f.typeset(rows[k].label),)))
        yield from chained(name, stages, room)
        return
    exact = steps.shown.value(row.value) if row.value.rational() else None
    if exact is not None:
        if f.typeset(exact) != f.typeset(added):
            stages.append((t.EQUALS, (f.typeset(exact),)))
    elif 0 < row.count < len(terms):
        simplified = row.value.formula()
        if f.typeset(simplified) != f.typeset(added):
            stages.append((t.EQUALS, tuple(broken(simplified, room))))
    if exact is None and not row.value.has_symbols:
        stages.append((t.ABOUT, (f.typeset(steps.shown.rounded(row.value)),)))
    yield from chained(name, stages, room)


def _equal_before(rows: tuple[RowNormaliser, ...], i: int) -> int | None:
    """The first row above whose sum is the same."""
    if not rows[i].value.is_closed:
        return None
    for k in range(i):
        if rows[k].value.is_closed and compare(rows[k].value, rows[i].value) is Verdict.HOLDS:
            return k
    return None


def _same_terms(steps: Steps, node: Node, i: int, k: int) -> bool:
    ours, theirs = (Counter(map(f.text, steps.shown.row_terms(node, row))) for row in (i, k))
    return ours == theirs


def inside(steps: Steps, node: Node) -> Iterator[b.Block]:
    """The row sums of every softmax inside of a step."""
    others = steps.named.keys() - {node.serial}
    for inner in ancestors([node], stop=lambda x: x.serial in others, through=_seen):
        if inner.op == "softmax" and inner is not node:
            yield from row_sums(steps, inner)


def _seen(node: Node) -> tuple[Node, ...]:
    """What a node is worked out of on the sheet: a gradient stands for itself."""
    is_gradient = node.written is not None and node.written.function == "grad"
    return () if is_gradient else node.operands


def weights(steps: Steps, node: Node) -> Iterator[b.Block]:
    """A softmax that is a step: its exponentials, rows worked, closed forms, shades."""
    yield from row_sums(steps, node)
    if steps.shown.is_lettered(node):
        yield from steps.forms(node)
        return
    shades = b.HeatMaps((steps.heat_map(steps.shown, node, ()),))
    drawn = len(shades.items[0].columns) <= FIGURES and node.grid[0] <= SHADES
    worked = [] if steps.large else list(steps.worked_rows(node))
    exact = steps.whole(node, steps.name(node), exact=True)
    if steps.large or not steps.is_legible(node) or matrix_width(exact[0]) > TEXT:
        exact = []
        if not drawn:
            exact = steps.whole(node, steps.name(node), exact=False)
    elif not drawn and not steps.shown.is_plain(node):
        exact += steps.whole(node, steps.name(node), exact=False)
    matrices = (b.Matrices(tuple(exact)),) if exact else ()
    yield b.Beside((*worked, *matrices, shades))
