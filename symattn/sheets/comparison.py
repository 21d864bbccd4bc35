"""A variant beside the walkthrough that it extends."""

from __future__ import annotations

from collections.abc import Iterator

from symattn import formulas as f
from symattn import typesetting as t
from symattn.numbers.reading import Masked
from symattn.numbers.values import compare
from symattn.printers import blocks as b
from symattn.sheets.presentation import Presentation, grouped
from symattn.sheets.steps import Steps
from symattn.solution.solution import solve
from symattn.verdicts import Verdict


def comparison(steps: Steps) -> Iterator[b.Block]:
    """What changes against the walkthrough that this one extends."""
    if steps.case.base is None:
        return
    base = solve(steps.case.base)
    shared = [
        name
        for name in steps.program.steps
        if name in base.program.steps
        and base.program.quantities[name].shape == steps.program.quantities[name].shape
        and steps.program.quantities[name].op != "copy"
    ]
    if not shared:
        return
    say = steps.say
    yield b.Heading(say("Compared with {base}", base=b.Code(steps.case.extends)))
    other = Presentation(base, steps.places)
    rows: list[tuple[b.Line, ...]] = []
    changed = []
    for name in shared:
        ours, was = steps.solution[name], base[name]
        same = ours.equals(was)
        if same is Verdict.HOLDS:
            rows.append(((b.Math(f.typeset_name(name)),), say("equal, exactly")))
            continue
        changed.append(name)
        count = sum(
            a is not c
            if isinstance(a, Masked) or isinstance(c, Masked)
            else compare(a, c) is not Verdict.HOLDS
            for left, right in zip(ours.rows, was.rows, strict=True)
            for a, c in zip(left, right, strict=True)
        )
        entries = len(ours.rows) * len(ours.rows[0])
        differ = say("{count} of {entries} entries differ", count=str(count), entries=str(entries))
        rows.append(((b.Math(f.typeset_name(name)),), differ))
    yield b.Table((say("quantity"), say("compared with the base case")), tuple(rows), "ll")
    for name in changed:
        node, old = steps.program.quantities[name], base.program.quantities[name]
        if node.op == "softmax" and old.op == "softmax":
            symbol = b.Math(f.typeset_name(name))
            then, now = say("{name}, base case", name=symbol), say("{name}, here", name=symbol)
            yield b.HeatMaps(
                (
                    steps.heat_map(other, old, then, node),
                    steps.heat_map(steps.shown, node, now),
                )
            )
    if steps.case.output in changed:
        node = steps.program.quantities[steps.case.output]
        old = base.program.quantities[steps.case.output]
        output = f.typeset_name(steps.case.output)
        before = tuple(
            tuple(f.typeset(other.decimal(old, i, j)) for j in range(old.grid[1]))
            for i in range(steps.rows_shown(old))
        )
        sides = say.text("base"), say.text("here")
        there, here = (t.index(grouped(output), t.row(t.Text(side))) for side in sides)
        yield b.Matrices(
            (
                b.Matrix(there + t.ABOUT, before),
                *steps.whole(node, here, exact=False),
            )
        )
