"""The backward half of a sheet: Jacobians, then the gradients by stages.

The softmax Jacobian on a sheet: at its point, and put to use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.syntax import gradient_name
from symattn.numbers.values import ONE, ZERO, Value, compare
from symattn.printers import blocks as b
from symattn.printers.layout import APART, TEXT, broken, display_width, matrix_width, width
from symattn.programs.functions import FUNCTIONS
from symattn.programs.nodes import Node, ancestors, built_in
from symattn.sheets import definitions
from symattn.sheets.presentation import grouped, indexed
from symattn.sheets.steps import Steps, chained
from symattn.verdicts import Verdict

#: Jacobians are shown up to this many keys.
_MAX_KEYS = 6


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
        products = t.row(t.UprightName("diag", True), f.bracketed(row))
        products += t.row(t.sign("−"), t.index(row, above=f.TOP), row)
        yield b.Heading(say("The softmax Jacobian of {weights}",
                            weights=b.Math(weights)), 2)  # fmt: skip
        sentence: b.Line = say(
            "A row of weights depends only on its own row of scores: {entry}, that is, "
            "{matrix}. Each row and each column of {jacobian} sums to 0.",
            entry=b.Math(t.row(t.Styled(True, definitions.jacobian(node, steps.named)))),
            matrix=b.Math(_JACOBIAN + t.EQUALS + products),
            jacobian=b.Math(_JACOBIAN),
        )
        if steps.settings.commands:
            command = b.Code("symattn derive softmax-jacobian")
            sentence += (" ", *say("For any size: {command}.", command=command))
        yield b.Paragraph(sentence)
        if node.grid[1] > _MAX_KEYS:
            keys = str(node.grid[1])
            sentence = say("The matrices are omitted here, since there are {keys} keys.", keys=keys)
            yield b.Paragraph(sentence)
            continue
        rows = range(steps.rows_shown(node))
        worked = [i for i in steps.rows_worked(node) if i in rows]
        items = [item for i in worked for item in _jacobian(steps, node, i)]
        items += [_rounded(steps, node, i) for i in rows if i not in worked]
        yield b.Matrices(tuple(items))


#: The name of the Jacobian of any row.
_JACOBIAN = t.index(t.letters("J"), t.letters("i"))


def _named(steps: Steps, row: int) -> t.Row:
    """The name of the Jacobian of a row."""
    return t.index(t.letters("J"), t.number(steps.shown.at(row)))


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
    relation = t.EQUALS if exact else steps.shown.about(node)
    return b.Matrix(_named(steps, i) + relation, cells)


def _jacobian(steps: Steps, node: Node, i: int) -> list[b.Matrix]:
    """``J_0 = 1/Z_0^2 [...] ~ [...]``."""
    rounded = _rounded(steps, node, i)
    exact = _exact(steps, node, i)
    if exact is None:
        return [rounded]
    factor, cells = exact
    closed = b.Matrix(_named(steps, i) + t.EQUALS + factor, cells)
    if cells == rounded.cells or steps.shown.is_lettered(node):
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
        one = syntax.Literal("1")
        factor = f.typeset(syntax.Binary("/", one, syntax.Power(divisor, syntax.Literal("2"))))
    closed = [[steps.shown.value(v, i) for v in line] for line in table]
    if any(v is None for line in closed for v in line):
        return None
    return factor, tuple(tuple(f.typeset(v) for v in line if v) for line in closed)


def use(steps: Steps, weights: Node, node: Node) -> Iterator[b.Block]:
    """``dS = J dA`` for the row that is worked, and the row formula from it; ``node``
    is the gradient of the scores."""
    keys = weights.grid[1]
    flow = _flow(steps, weights)
    i = steps.shown.telling_row(weights)
    target, above = steps.name(node), steps.name(flow)
    if keys <= _MAX_KEYS and len(weights.shape) == 2 and steps.rows_shown(weights) > i:
        yield b.Paragraph(
            steps.say("Row {row}, with its symmetric Jacobian:", row=steps.shown.at(i))
        )
        yield _product(steps, weights, node, flow, i)
    if len(weights.shape) == 2:
        first = steps.settings.count_from
        chain = definitions.by_jacobian(target, above, steps.name(weights), keys, first)
        yield b.Paragraph(steps.say("For any entry of any row: {formula}.", formula=b.Math(chain)))


def _product(steps: Steps, weights: Node, node: Node, flow: Node, i: int) -> b.Block:
    """The Jacobian times the row that flows in, as matrices where those fit on a line."""
    target, above = steps.name(node), steps.name(flow)
    columns = range(weights.grid[1])
    place = t.number(steps.shown.at(i))
    left, right = (t.index(grouped(name), place, f.TOP) for name in (target, above))
    head = t.row(left, t.EQUALS, _named(steps, i), t.THIN, right)
    exact = _exact(steps, weights, i)
    forms = [
        [form for j in columns if (form := steps.shown.short_form(x, i, j)) is not None]
        for x in (flow, node)
    ]
    near = [[steps.shown.decimal(x, i, j) for j in columns] for x in (flow, node)]
    rounded = _rounded(steps, weights, i).cells
    ways = [(steps.shown.about(weights), rounded, steps.shown.about(node), near)]
    if exact is not None and all(len(row) == len(columns) for row in forms):
        factor, cells = exact
        ways.insert(0, (t.EQUALS + factor, cells, t.EQUALS, forms))
    for relation, cells, result, (flowing, entries) in ways:
        items = (
            b.Matrix(head + relation, cells),
            b.Matrix(t.Row(), tuple((f.typeset(x),) for x in flowing)),
            b.Matrix(result, tuple((f.typeset(x),) for x in entries)),
        )
        if sum(display_width(item) + APART for item in items) <= TEXT + APART:
            return b.Matrices(items)
    name = f.typeset(steps.shown.entry_name(node, i, 0))
    room = TEXT - width(name) - 3
    terms = [
        syntax.Product(
            (
                f.Symbol("", indexed(_named(steps, i), f"{steps.shown.at(0)},{steps.shown.at(k)}")),
                steps.shown.entry_name(flow, i, k),
            )
        )
        for k in columns
    ]
    stages = (
        (t.EQUALS, tuple(broken(syntax.Sum(tuple(terms)), room))),
        (steps.shown.about(node), tuple(broken(steps.shown.decimal(node, i, 0), room))),
    )
    return b.Equations(tuple(chained(name, stages, room)))


def backward(
    steps: Steps, remarks: Mapping[str, Sequence[b.Block]] = MappingProxyType({})
) -> Iterator[b.Block]:
    """The upstream gradient, the softmax Jacobians and every gradient asked for, with
    remarks behind the work on it."""
    output = steps.case.output
    shown_output = f.typeset_name(output)
    say = steps.say
    yield b.Heading(say("Backward"))
    upstream = steps.program.gradients[output]
    short, whole = map(b.Math, BY_X)
    intro = [*say("Write {short} for {whole}.", short=short, whole=whole), " "]
    if steps.case.raw_upstream is None:
        is_document = bool(steps.case.source) or any(not x.holds for x in steps.case.claims)
        if is_document and not steps.case.states_loss:
            intro += [*say("The document has no loss."), " "]
        if steps.program.quantities[output].shape:
            whole = b.Math(sum_of_outputs(steps.program.quantities[output], shown_output))
            intro += say(
                "Differentiate the sum of all outputs, {loss}: every entry of the upstream "
                "gradient is 1.",
                loss=whole,
            )
        else:
            intro += say(
                "The loss is {loss} itself, so the upstream gradient is 1.",
                loss=b.Math(shown_output),
            )
    else:
        intro += say("The upstream gradient is given:")
    yield b.Paragraph(tuple(intro))
    yield from _kinks(steps)
    yield from _places(steps)
    if upstream.shape or steps.case.raw_upstream is not None:
        yield b.Matrices(tuple(steps.whole(upstream, f.differential(shown_output), exact=True)))
    if steps.settings.commands:
        rules = "symattn derive attention-gradients softmax-backward masking"
        yield b.Paragraph(
            say("{command} proves the rules used below for any size.", command=b.Code(rules))
        )
    if steps.settings.jacobian:
        yield from jacobians(steps)
    zero: set[int] = set()
    seen = {upstream.serial}
    for name in _stages(steps):
        node = steps.program.gradients[name]
        if node.serial in seen:
            # What flows on as it came is one node, with the name of the later step.
            same = f.typeset(syntax.Gradient(name)) + t.EQUALS + steps.name(node)
            yield b.Heading((b.Math(same),), 2)
            yield b.Paragraph(steps.say("Here {equation}, entry for entry.", equation=b.Math(same)))
            continue
        seen.add(node.serial)
        if node.serial in zero:
            yield from remarks.get(gradient_name(name), ())
            continue
        yield b.Heading((b.Math(steps.formula(steps.name(node), node)),), 2)
        weights = _weights(steps, name)
        if weights is not None and steps.settings.jacobian:
            yield from use(steps, weights, node)
        first = steps.settings.count_from
        equations = definitions.of_gradient(steps.program, name, steps.named, first)
        yield from steps.definitions(equations)
        yield from _gradient_work(steps, node, weights)
        if _is_zero(steps, node):
            zero |= {node.serial}
            yield from _likewise(steps, node, zero)
        yield from remarks.get(gradient_name(name), ())


def _kinks(steps: Steps) -> Iterator[b.Block]:
    """Yield what is taken for the gradient of functions where they have none."""
    output = steps.program.quantities[steps.case.output]
    used: dict[str, str] = {}
    for node in ancestors([output], through=built_in):
        name = node.written.function if node.written and not node.written.is_own else node.op
        if name in FUNCTIONS and FUNCTIONS[name].kink:
            used[name] = FUNCTIONS[name].kink
    for name, kink in used.items():
        sentence: b.Line = steps.say(
            "Where {function} has no derivative, its gradient is taken to be {kink}.",
            function=b.Code(name),
            kink=steps.say.again(kink),
        )
        yield b.Paragraph(sentence)


def _places(steps: Steps) -> Iterator[b.Block]:
    """Yield what is meant by the gradient of an index, where one is shown."""
    gradients = [steps.program.gradients[name] for name in _stages(steps)]
    if any(node.op == "scatter" for node in ancestors(gradients)):
        sentence: b.Line = steps.say(
            "{scatter} has {matrix} where it was taken from, and 0 elsewhere.",
            scatter=b.Math(f.typeset(syntax.Call("scatter", (syntax.Name("X"),)))),
            matrix=b.Math(t.letters("X")),
        )
        yield b.Paragraph(sentence)


#: ``dX``, and what is short for.
BY_X = (
    f.differential(t.letters("X")),
    t.row(t.PARTIAL, t.letters("L/"), t.PARTIAL, t.letters("X")),
)


def sum_of_outputs(node: Node, name: t.Row) -> t.Row:
    """``L = sum of all entries`` of a quantity."""
    keys = ("", "i", "i,j")[len(node.shape)]
    total = t.row(t.Indexed(t.Limits("∑"), t.letters(keys), t.Row())) if keys else t.Row()
    return t.letters("L") + t.EQUALS + total + indexed(name, keys)


def _stages(steps: Steps) -> list[str]:
    """The gradients to show, from the output back: those asked for and those on the way to them."""
    gradients = steps.program.gradients
    needed = {x.serial for x in ancestors(gradients[name] for name in steps.case.wrt)}
    order = [n for n in reversed(list(steps.program.quantities)) if n in gradients]
    return [
        name for name in order if gradients[name].serial in needed and name != steps.case.output
    ]


def _weights(steps: Steps, name: str) -> Node | None:
    """The softmax that a quantity is the scores of and nothing else."""
    used = definitions.use(steps.program, name, steps.named)
    if used is None or used[0].op != "softmax" or used[0].serial not in steps.named:
        return None
    return used[0] if steps.program.quantities[name] is used[0].operands[0] else None


def _gradient_work(steps: Steps, node: Node, weights: Node | None) -> Iterator[b.Block]:
    name = b.Math(steps.name(node))
    if (equal := _equal_operand(steps, node)) is not None:
        same = b.Math(steps.name(node) + t.EQUALS + steps.name(equal))
        yield b.Paragraph(steps.say("Here {equation}, entry for entry.", equation=same))
    elif _is_zero(steps, node):
        row = steps.shown.telling_row(node if weights is None else weights)
        yield b.Equations(tuple(steps.worked(node, [(row, 0)])))
        if weights is not None and _moves_nothing(steps, weights):
            flow = b.Math(steps.name(_flow(steps, weights)))
            sentence = steps.say(
                "Every entry of {name} is exactly 0: all entries in a row of {flow} are "
                "equal, and the weights of a row always sum to 1, so moving weight from "
                "one key to another changes nothing.",
                name=name, flow=flow,
            )  # fmt: skip
            yield b.Paragraph(sentence)
        else:
            yield b.Paragraph(steps.say("Every entry of {name} is exactly 0.", name=name))
    else:
        yield from steps.work(node)


def _flow(steps: Steps, weights: Node) -> Node:
    """The gradient that flows into a softmax that is a step."""
    gradients = steps.program.gradients
    return next(gradients[n] for n, x in steps.program.quantities.items() if x is weights)


def _moves_nothing(steps: Steps, weights: Node) -> bool:
    """Return whether what flows into a softmax is the same for all keys of a row."""
    flow = steps.shown.quantity(_flow(steps, weights))
    return all(
        isinstance(row[0], Value)
        and isinstance(value, Value)
        and compare(row[0], value) is Verdict.HOLDS
        for row in flow.rows
        for value in row
    )


def _likewise(steps: Steps, node: Node, zero: set[int]) -> Iterator[b.Block]:
    """Yield what is 0 because a gradient is: said in one sentence, and added to ``zero``."""
    formulas: list[t.Row] = []
    for name in _stages(steps):
        later = steps.program.gradients[name]
        flows = {x.serial for x in ancestors([later]) if x.serial in zero}
        if later.serial not in zero and flows and _is_zero(steps, later):
            zero.add(later.serial)
            formulas.append(steps.formula(steps.name(later), later) + t.EQUALS + t.number("0"))
    if formulas:
        sentence: b.Line = steps.say(
            "Since {name} is 0, so is every entry of these: {formulas}.",
            name=b.Math(steps.name(node)),
            formulas=b.joined(map(b.Math, formulas)),
        )
        yield b.Paragraph(sentence)


def _equal_operand(steps: Steps, node: Node) -> Node | None:
    """A gradient that only passes a mask, or is copied, and stays the same."""
    for operand in node.operands[:1]:
        if node.op in ("multiply", "copy") and operand.serial in steps.named and not steps.large:
            same = steps.shown.quantity(node).equals(steps.shown.quantity(operand))
            if same is Verdict.HOLDS:
                return operand
    return None


def _is_zero(steps: Steps, node: Node) -> bool:
    zero = syntax.Literal("0")
    return all(steps.shown.decimal(node, *place) == zero for place in np.ndindex(node.grid))
