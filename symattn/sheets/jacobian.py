"""The softmax Jacobian on a sheet: at its point, and put to use."""

from __future__ import annotations

from collections.abc import Iterator

from symattn import formulas as f
from symattn import typesetting as t
from symattn.numbers.values import ONE, ZERO, Value
from symattn.printers import blocks as b
from symattn.printers.layout import APART, TEXT, broken, display_width, matrix_width, width
from symattn.programs.nodes import Node
from symattn.sheets import definitions
from symattn.sheets.presentation import grouped, indexed
from symattn.sheets.steps import Steps, chained

#: Jacobians are shown up to this many keys.
MAX_KEYS = 6


def jacobians(steps: Steps) -> Iterator[b.Block]:
    """The Jacobian of every softmax at its point: of the rows that are worked in
    closed form, of the others rounded."""
    say = steps.say
    for name in steps.program.steps:
        node = steps.program.quantities[name]
        if node.op != "softmax" or node.operands[0].serial not in steps.named:
            continue
        if name not in steps.program.gradients:
            continue
        weights = f.typeset_name(name)
        row = indexed(weights, "i")
        jacobian = _named("i")
        yield b.Heading(say("The softmax Jacobian of {weights}",
                            weights=b.Math(weights)), 2)  # fmt: skip
        sentence: b.Line = say(
            "A row of weights depends only on its own row of scores: {entry}, that is, "
            "{matrix}. Each row and each column of {jacobian} sums to 0.",
            entry=b.Math(t.row(t.Styled(True, definitions.jacobian(node, steps.named)))),
            matrix=b.Math(
                t.row(
                    jacobian,
                    t.EQUALS,
                    t.UprightName("diag", True),
                    f.bracketed(row),
                    t.sign("−"),
                    t.index(row, above=f.TOP),
                    row,
                )
            ),
            jacobian=b.Math(jacobian),
        )
        if steps.settings.commands:
            command = b.Code("symattn derive softmax-jacobian")
            sentence += (" ", *say("For any size: {command}.", command=command))
        yield b.Paragraph(sentence)
        if node.grid[1] > MAX_KEYS:
            yield b.Paragraph(
                say(
                    "The matrices are omitted here, since there are {keys} keys.",
                    keys=str(node.grid[1]),
                )
            )
            continue
        rows = range(steps.rows_shown(node))
        worked = [i for i in steps.rows_worked(node) if i in rows]
        items = [item for i in worked for item in _jacobian(steps, node, i)]
        items += [_rounded(steps, node, i) for i in rows if i not in worked]
        yield b.Matrices(tuple(items))


def _named(row: str) -> t.Row:
    """The name of the Jacobian of a row."""
    return t.index(t.letters("J"), t.letters(row))


def _table(steps: Steps, node: Node, i: int) -> list[list[Value]]:
    """The Jacobian of row i."""
    weights = [steps.shown.quantity(node).entry(i, k) for k in range(node.grid[1])]
    values = [weight for weight in weights if isinstance(weight, Value)]
    return [
        [p * ((ONE if j == k else ZERO) - q) for k, q in enumerate(values)]
        for j, p in enumerate(values)
    ]


def _rounded(steps: Steps, node: Node, i: int) -> b.Matrix:
    """``J_0 ~ [...]``."""
    table = _table(steps, node, i)
    cells = tuple(tuple(f.typeset(steps.shown.rounded(v)) for v in line) for line in table)
    exact = all(v.rational() == 0 for line in table for v in line)
    return b.Matrix(_named(str(i)) + (t.EQUALS if exact else t.ABOUT), cells)


def _jacobian(steps: Steps, node: Node, i: int) -> list[b.Matrix]:
    """``J_0 = 1/Z_0^2 [...] ~ [...]``."""
    rounded = _rounded(steps, node, i)
    exact = _exact(steps, node, i)
    if exact is None:
        return [rounded]
    factor, cells = exact
    closed = b.Matrix(_named(str(i)) + t.EQUALS + factor, cells)
    if cells == rounded.cells:
        return [closed]
    if matrix_width(closed) > TEXT:
        return [rounded]
    return [closed, b.Matrix(t.ABOUT, rounded.cells)]


def _exact(steps: Steps, node: Node, i: int) -> tuple[t.Row, tuple[tuple[t.Row, ...], ...]] | None:
    """The common factor of the Jacobian of a row, and its entries without it."""
    table = _table(steps, node, i)
    row = steps.shown.normalisers[node.serial][i]
    factor = t.Row()
    if row.count > 1:
        # All entries share the square of what the row is divided by.
        below, divisor = steps.shown.divisor(row, i)
        table = [[value * below * below for value in line] for line in table]
        factor = f.typeset(f.Quotient(f.Number("1"), f.Power(divisor, f.Number("2"))))
    closed = [[steps.shown.value(v, i) for v in line] for line in table]
    if any(v is None for line in closed for v in line):
        return None
    return factor, tuple(tuple(f.typeset(v) for v in line if v) for line in closed)


def use(steps: Steps, weights: Node, node: Node) -> Iterator[b.Block]:
    """``dS = J dA`` for the row that is worked, and the row formula from it; ``node``
    is the gradient of the scores."""
    keys = weights.grid[1]
    program = steps.program
    name = next(n for n, x in program.quantities.items() if x is weights)
    flow = program.gradients[name]
    i = steps.shown.telling_row(weights)
    target, above = steps.name(node), steps.name(flow)
    if keys <= MAX_KEYS and len(weights.shape) == 2 and steps.rows_shown(weights) > i:
        yield b.Paragraph(steps.say("Row {row}, with its symmetric Jacobian:", row=str(i)))
        yield _product(steps, weights, node, flow, i)
    if len(weights.shape) == 2:
        chain = definitions.by_jacobian(target, above, steps.name(weights), keys)
        yield b.Paragraph(steps.say("For any entry of any row: {formula}.", formula=b.Math(chain)))


def _product(steps: Steps, weights: Node, node: Node, flow: Node, i: int) -> b.Block:
    """The Jacobian times the row that flows in, as matrices where those fit on a line."""
    target, above = steps.name(node), steps.name(flow)
    columns = range(weights.grid[1])
    place = t.number(str(i))
    left, right = (t.index(grouped(name), place, f.TOP) for name in (target, above))
    head = t.row(left, t.EQUALS, _named(str(i)), t.THIN, right)
    exact = _exact(steps, weights, i)
    forms = [[steps.shown.short_form(x, i, j) for j in columns] for x in (flow, node)]
    if exact is not None and all(form is not None for row in forms for form in row):
        factor, cells = exact
        items = [
            b.Matrix(head + t.EQUALS + factor, cells),
            *(b.Matrix(before, tuple((f.typeset(x),) for x in row if x is not None))
              for before, row in zip((t.Row(), t.EQUALS), forms, strict=True)),
        ]  # fmt: skip
        if sum(display_width(item) + APART for item in items) <= TEXT + APART:
            return b.Matrices(tuple(items))
    near = [[f.typeset(steps.shown.decimal(x, i, j)) for j in columns] for x in (flow, node)]
    items = [
        b.Matrix(head + t.ABOUT, _rounded(steps, weights, i).cells),
        *(b.Matrix(before, tuple((cell,) for cell in row))
          for before, row in zip((t.Row(), t.ABOUT), near, strict=True)),
    ]  # fmt: skip
    if sum(display_width(item) + APART for item in items) <= TEXT + APART:
        return b.Matrices(tuple(items))
    name = f.typeset(steps.shown.entry_name(node, i, 0))
    room = TEXT - width(name) - 3
    terms = [
        f.Product(
            (f.Symbol("", indexed(_named(str(i)), f"0,{k}")), steps.shown.entry_name(flow, i, k))
        )
        for k in columns
    ]
    stages = [broken(f.Sum(tuple(terms)), room), broken(steps.shown.decimal(node, i, 0), room)]
    return b.Equations(tuple(chained(name, stages, True, room)))
