"""Which of SymPy's formulas the numbers were put into, and what came out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from symattn import formulas as f
from symattn.languages.language import Language
from symattn.printers import blocks as b
from symattn.programs.display import symbol
from symattn.programs.nodes import ancestors
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
    solution, say = steps.solution, steps.say
    equal = [c.quantity for c in verification.checks if c.symbolic is Verdict.HOLDS]
    count = len(verification.checks)
    if equal:
        every = say.text("all {count}", count=count)
        if len(equal) < count:
            every = say.text("{equal} of {count}", equal=len(equal), count=count)
        yield b.Paragraph(
            (
                *say(
                    "SymPy derived a formula for every quantity, differentiating one stage at "
                    "a time, and the exact inputs were substituted. The result equals the "
                    "closed form in every entry of {every} quantities.",
                    every=every,
                ),
                *_softmax(solution, say),
            )
        )
    for name in map(gradient_name, solution.case.wrt):
        if name in equal:
            yield b.Paragraph(_gradient(solution, name, say))
    for doubt, quantities in verification.symbolic_doubts.items():
        every_one = len(quantities) == count
        named = say("every quantity") if every_one else tuple(listed(quantities))
        yield b.Paragraph(
            (b.Strong(say.text("Not decided by SymPy:")), " ", *named, f": {say.again(doubt)}.")
        )


def _softmax(solution: Solution, say: Language) -> b.Line:
    """What the stages of a softmax are called, if there is one."""
    # Loads SymPy, which is there by now.
    from symattn.solution.stages import POWERS, SUMS

    program = solution.program
    if all(node.op != "softmax" for node in ancestors(program.quantities.values())):
        return ()
    if {POWERS, SUMS} & program.quantities.keys():
        return ()
    sentence: b.Line = say(
        "The exponentials of a softmax are {powers}, and their row sums {sums}.",
        powers=b.Math(f.typeset_name(POWERS)),
        sums=b.Math(f.typeset_name(SUMS)),
    )
    return (" ", *sentence)


def _gradient(solution: Solution, name: str, say: Language) -> b.Line:
    """``dQ: SymPy's formula, in the stages ..., with the values of ... put in; ...``."""
    formula = solution.symbolic[name]
    stages = [stage for stage in formula.stages if stage != name]
    way: b.Line = ()
    if len(stages) > MOST_NAMED:
        way = say(", in {count} stages", count=str(len(stages)))
    elif stages:
        way = say(", in the stages {names}", names=tuple(listed(stages)))
    put: b.Line = say(", without symbols")
    if formula.given:
        put = say(", with the values of {names} substituted", names=tuple(listed(formula.given)))
    entries = prod(solution[name].grid)
    every = say("its entry")
    if entries > 1:
        every = say("all {count} entries", count=str(entries))
    return say(
        "{gradient}: SymPy's formula{way}{put}; it equals the closed form in {every}.",
        gradient=b.Math(f.typeset(symbol(name))),
        way=way,
        put=put,
        every=every,
    )


def listed(names: Iterable[str]) -> Iterator[str | b.Math]:
    """The names as mathematics, with commas between them."""
    for place, name in enumerate(names):
        yield from (", ",) if place else ()
        yield b.Math(f.typeset(symbol(name)))
