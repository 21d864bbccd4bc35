"""The backward half of a sheet: Jacobians, then the gradients by stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from symattn import formulas as f
from symattn import typesetting as t
from symattn.numbers.values import Value, compare
from symattn.printers import blocks as b
from symattn.programs.display import differential, gradient_symbol
from symattn.programs.functions import FUNCTIONS
from symattn.programs.nodes import Node, ancestors, arguments
from symattn.sheets import definitions
from symattn.sheets.jacobian import jacobians, use
from symattn.sheets.presentation import indexed
from symattn.sheets.steps import Steps
from symattn.syntax import gradient_name
from symattn.verdicts import Verdict


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
        yield b.Matrices(tuple(steps.whole(upstream, differential(shown_output), exact=True)))
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
            same = f.typeset(gradient_symbol(name)) + t.EQUALS + steps.name(node)
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
        yield from steps.definitions(definitions.of_gradient(steps.program, name, steps.named))
        yield from _gradient_work(steps, node, weights)
        if _is_zero(steps, node):
            zero |= {node.serial}
            yield from _likewise(steps, node, zero)
        yield from remarks.get(gradient_name(name), ())


def _kinks(steps: Steps) -> Iterator[b.Block]:
    """What is taken for the gradient of functions where they have none."""
    output = steps.program.quantities[steps.case.output]
    used: dict[str, str] = {}
    for node in ancestors([output], through=arguments):
        name = node.written.function if node.written else node.op
        if name in FUNCTIONS and FUNCTIONS[name].kink:
            used[name] = FUNCTIONS[name].kink
    for name, kink in used.items():
        yield b.Paragraph(
            steps.say(
                "Where {function} has no derivative, its gradient is taken to be {kink}.",
                function=b.Code(name),
                kink=steps.say.again(kink),
            )
        )


def _places(steps: Steps) -> Iterator[b.Block]:
    """What is meant by the gradient of an index, where one is shown."""
    gradients = [steps.program.gradients[name] for name in _stages(steps)]
    if any(node.op == "scatter" for node in ancestors(gradients)):
        yield b.Paragraph(
            steps.say(
                "{scatter} has {matrix} where it was taken from, and 0 elsewhere.",
                scatter=b.Math(f.typeset(f.Function("scatter", (f.Symbol("X"),)))),
                matrix=b.Math(t.letters("X")),
            )
        )


#: ``dX``, and what is short for.
BY_X = (
    differential(t.letters("X")),
    t.row(t.PARTIAL, t.letters("L/"), t.PARTIAL, t.letters("X")),
)


def sum_of_outputs(node: Node, name: t.Row) -> t.Row:
    """``L = sum of all entries`` of a quantity."""
    keys = ("", "i", "i,j")[len(node.shape)]
    total = t.row(t.Indexed(t.Limits("∑"), t.letters(keys), t.Row())) if keys else t.Row()
    return t.letters("L") + t.EQUALS + total + indexed(name, keys)


def _stages(steps: Steps) -> list[str]:
    """The gradients to show, from the output back: those asked for and
    those on the way to them."""
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
            yield b.Paragraph(
                steps.say(
                    "Every entry of {name} is exactly 0: all entries in a row of {flow} are "
                    "equal, and the weights of a row always sum to 1, so moving weight from "
                    "one key to another changes nothing.",
                    name=name, flow=flow,
                )
            )  # fmt: skip
        else:
            yield b.Paragraph(steps.say("Every entry of {name} is exactly 0.", name=name))
    else:
        yield from steps.work(node)


def _flow(steps: Steps, weights: Node) -> Node:
    """The gradient that flows into a softmax that is a step."""
    gradients = steps.program.gradients
    return next(gradients[n] for n, x in steps.program.quantities.items() if x is weights)


def _moves_nothing(steps: Steps, weights: Node) -> bool:
    """Whether what flows into a softmax is the same for all keys of a row."""
    flow = steps.shown.quantity(_flow(steps, weights))
    return all(
        isinstance(row[0], Value)
        and isinstance(value, Value)
        and compare(row[0], value) is Verdict.HOLDS
        for row in flow.rows
        for value in row
    )


def _likewise(steps: Steps, node: Node, zero: set[int]) -> Iterator[b.Block]:
    """What is 0 because a gradient is: said in one sentence, and added to ``zero``."""
    formulas: list[t.Row] = []
    for name in _stages(steps):
        later = steps.program.gradients[name]
        flows = {x.serial for x in ancestors([later]) if x.serial in zero}
        if later.serial not in zero and flows and _is_zero(steps, later):
            zero.add(later.serial)
            formulas.append(steps.formula(steps.name(later), later) + t.EQUALS + t.number("0"))
    if formulas:
        pieces = [piece for x in formulas for piece in (b.Math(x), ", ")][:-1]
        yield b.Paragraph(
            steps.say(
                "Since {name} is 0, so is every entry of these: {formulas}.",
                name=b.Math(steps.name(node)),
                formulas=tuple(pieces),
            )
        )


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
