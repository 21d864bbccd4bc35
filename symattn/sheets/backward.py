"""The backward half of a sheet: Jacobians, then the gradients by stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from symattn import formulas as f
from symattn.numbers.values import ONE, ZERO, Value
from symattn.printers import blocks as b
from symattn.programs.display import gradient_symbol
from symattn.programs.nodes import Node
from symattn.programs.program import ancestors
from symattn.sheets import definitions
from symattn.sheets.presentation import indexed
from symattn.sheets.steps import Steps
from symattn.syntax import gradient_name
from symattn.verdicts import Verdict

#: Jacobians are shown up to this many keys.
MAX_KEYS = 6


def backward(
    steps: Steps, remarks: Mapping[str, Sequence[b.Block]] = MappingProxyType({})
) -> Iterator[b.Block]:
    """The upstream gradient, the softmax Jacobians and every gradient asked for, with
    remarks behind the work on it."""
    output = steps.case.output
    shown_output = f.name_latex(output)
    yield b.Heading(("Backward",))
    upstream = steps.program.gradients[output]
    intro: list[str | b.Math] = [
        "Write ", b.Math(r"\mathrm{d}X"), " for ", b.Math(r"\partial L/\partial X"), ". ",
    ]  # fmt: skip
    if steps.case.raw_upstream is None:
        is_document = bool(steps.case.source or steps.case.claims)
        why = "The document has no loss. " if is_document and not steps.case.states_loss else ""
        intro += [
            why + "Differentiate the sum of all outputs, ",
            b.Math(_sum_of_outputs(steps.program.quantities[output], shown_output)),
            ": the gradient that comes from above is all ones.",
        ]
    else:
        intro += ["The gradient that comes from above is given:"]
    yield b.Paragraph(tuple(intro))
    yield b.Matrices(tuple(steps.whole(upstream, rf"\mathrm{{d}}{shown_output}", exact=True)))
    if steps.settings.commands:
        yield b.Paragraph(
            (
                "The rules used below are proved for any size by ",
                b.Code("symattn derive attention-gradients softmax-backward masking"),
                ".",
            )
        )
    if steps.settings.jacobian:
        yield from _jacobians(steps)
    seen = {upstream.serial}
    for name in _stages(steps):
        node = steps.program.gradients[name]
        if node.serial in seen:
            # What flows on as it came is one node, with the name of the later step.
            same = f"{f.latex(gradient_symbol(name))} = {steps.name(node)}"
            yield b.Heading((b.Math(same),), 2)
            yield b.Paragraph(("Here ", b.Math(same), ", entry for entry."))
            continue
        seen.add(node.serial)
        yield b.Heading((b.Math(steps.formula(steps.name(node), node)),), 2)
        yield from steps.definitions(definitions.of_gradient(steps.program, name, steps.named))
        yield from _gradient_work(steps, node)
        yield from remarks.get(gradient_name(name), ())


def _sum_of_outputs(node: Node, name: str) -> str:
    keys = ("", "i", "i,j")[len(node.shape)]
    return rf"L = \sum_{{{keys}}} {indexed(name, keys)}" if keys else f"L = {name}"


def _stages(steps: Steps) -> list[str]:
    """The gradients to show, from the output back: those asked for and
    those on the way to them."""
    gradients = steps.program.gradients
    needed = {x.serial for x in ancestors(gradients[name] for name in steps.case.wrt)}
    order = [n for n in reversed(list(steps.program.quantities)) if n in gradients]
    return [
        name for name in order if gradients[name].serial in needed and name != steps.case.output
    ]


def _gradient_work(steps: Steps, node: Node) -> Iterator[b.Block]:
    if (equal := _equal_operand(steps, node)) is not None:
        short, other = steps.name(node), steps.name(equal)
        yield b.Paragraph(("Here ", b.Math(f"{short} = {other}"), ", entry for entry."))
        return
    if _is_zero(steps, node):
        yield b.Equations(tuple(steps.worked_entry(node, 0, 0)))
        yield b.Paragraph(("Every entry of ", b.Math(steps.name(node)), " is exactly 0."))
        return
    if steps.shown.quantity(node).symbols:
        yield from steps.forms(node)
        return
    yield from steps.worked_rows(node)
    if node.shape:
        yield from steps.values(node)


def _equal_operand(steps: Steps, node: Node) -> Node | None:
    """A gradient that only passes a mask, or is copied, and stays the same."""
    for operand in node.operands[:1]:
        if node.op in ("multiply", "copy") and operand.serial in steps.named and not steps.large:
            same = steps.shown.quantity(node).equals(steps.shown.quantity(operand))
            if same is Verdict.HOLDS:
                return operand
    return None


def _is_zero(steps: Steps, node: Node) -> bool:
    rows, columns = node.grid
    zero = f.Number("0")
    return all(steps.shown.decimal(node, i, j) == zero for i in range(rows) for j in range(columns))


def _jacobians(steps: Steps) -> Iterator[b.Block]:
    """The Jacobian of every softmax row at its point."""
    for name in steps.program.steps:
        node = steps.program.quantities[name]
        if node.op != "softmax" or node.operands[0].serial not in steps.named:
            continue
        if name not in steps.program.gradients:
            continue
        weights = f.name_latex(name)
        row = indexed(weights, "i")
        yield b.Heading((b.Math(weights), " by its scores: the softmax Jacobian"), 2)
        proved = ("; for any size: ", b.Code("symattn derive softmax-jacobian"))
        yield b.Paragraph(
            (
                "A row of weights depends on its own row of scores only: ",
                b.Math(rf"\displaystyle {definitions.jacobian(node, steps.named)}"),
                ", that is ",
                b.Math(rf"J_i = \operatorname{{diag}}({row}) - {row}^{{\top}} {row}"),
                ". Each row and each column of ", b.Math("J_i"), " sums to 0",
                *(proved if steps.settings.commands else ()), ".",
            )
        )  # fmt: skip
        if node.grid[1] > MAX_KEYS:
            yield b.Paragraph((f"With {node.grid[1]} keys the matrices are left out here.",))
            continue
        for i in range(steps.rows_shown(node)):
            yield b.Matrices(tuple(_jacobian(steps, node, i)))


def _jacobian(steps: Steps, node: Node, i: int) -> list[b.Matrix]:
    weights = [steps.shown.quantity(node).entry(i, k) for k in range(node.grid[1])]
    values = [weight for weight in weights if isinstance(weight, Value)]
    table = [
        [p * ((ONE if j == k else ZERO) - q) for k, q in enumerate(values)]
        for j, p in enumerate(values)
    ]
    before = f"J_{{{i}}} ="
    above = table
    row = steps.shown.normalisers[node.serial][i]
    if row.count > 1:
        # All entries share the denominator Z_i^2.
        square = row.value * row.value
        above = [[value * square for value in line] for line in table]
        before += rf" \frac{{1}}{{{f.latex(f.Power(row.label, f.Number('2')))}}}"
    closed = [[steps.shown.value(v, i) for v in line] for line in above]
    exact = tuple(tuple(f.latex(v) for v in line if v) for line in closed)
    rounded = tuple(tuple(f.latex(steps.shown.rounded(v)) for v in line) for line in table)
    if any(v is None for line in closed for v in line):
        return [b.Matrix(rf"J_{{{i}}} \approx", rounded)]
    items = [b.Matrix(before, exact)]
    if exact != rounded:
        items.append(b.Matrix(r"\approx", rounded))
    return items
