"""Which of SymPy's formulas the numbers were put into, and what came out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from symattn import formulas as f
from symattn.printers import blocks as b
from symattn.programs.display import symbol
from symattn.programs.program import ancestors
from symattn.sheets.steps import Steps
from symattn.solution.solution import Solution
from symattn.syntax import gradient_name
from symattn.verdicts import Verdict
from symattn.verification import Verification

#: Stages of a gradient that are named; more are counted.
MOST_NAMED = 20


def substitution(steps: Steps, verification: Verification) -> Iterator[b.Block]:
    """How SymPy derived each gradient that is asked for, what was put into it,
    and what SymPy leaves open."""
    solution = steps.solution
    equal = [c.quantity for c in verification.checks if c.symbolic is Verdict.HOLDS]
    if equal:
        every = "all" if len(equal) == len(verification.checks) else f"{len(equal)} of"
        yield b.Paragraph(
            (
                "SymPy derived every quantity as a formula in stages, differentiating one stage "
                "at a time, and put the exact given values in. What came out is equal to the "
                f"closed form, in every entry, for {every} {len(verification.checks)} quantities.",
                *_softmax(solution),
            )
        )
    for name in map(gradient_name, solution.case.wrt):
        if name in equal:
            yield b.Paragraph(tuple(_gradient(solution, name)))
    for doubt, quantities in verification.symbolic_doubts.items():
        every_one = len(quantities) == len(verification.checks)
        named = ("every quantity",) if every_one else listed(quantities)
        yield b.Paragraph((b.Strong("Left open by SymPy: "), *named, f": {doubt}."))


def _softmax(solution: Solution) -> tuple[str | b.Math, ...]:
    """What the stages of a softmax are called, if there is one."""
    # Loads SymPy, which is there by now.
    from symattn.solution.stages import POWERS, SUMS

    program = solution.program
    if all(node.op != "softmax" for node in ancestors(program.quantities.values())):
        return ()
    if {POWERS, SUMS} & program.quantities.keys():
        return ()
    powers, sums = b.Math(POWERS), b.Math(SUMS)
    return (" The exponentials of a softmax are ", powers, ", their sums over rows ", sums, ".")


def _gradient(solution: Solution, name: str) -> Iterator[str | b.Math]:
    """``dQ: SymPy's formula, in the stages ..., with the values of ... put in; ...``."""
    formula = solution.symbolic[name]
    stages = [stage for stage in formula.stages if stage != name]
    yield from (b.Math(f.latex(symbol(name))), ": SymPy's formula")
    if len(stages) > MOST_NAMED:
        yield f", in {len(stages)} stages"
    elif stages:
        yield ", in the stages "
        yield from listed(stages)
    if formula.given:
        yield ", with the values of "
        yield from listed(formula.given)
        yield " put in"
    else:
        yield ", without letters"
    entries = prod(solution[name].grid)
    every = f"all {entries} entries" if entries > 1 else "its entry"
    yield f"; equal to the closed form in {every}."


def listed(names: Iterable[str]) -> Iterator[str | b.Math]:
    """The names as mathematics, with commas between them."""
    for place, name in enumerate(names):
        yield from (", ",) if place else ()
        yield b.Math(f.latex(symbol(name)))
