"""What a walkthrough of one's own is about: its statements that hold, on its sheet."""

from __future__ import annotations

from collections.abc import Iterator

from symattn import formulas as f
from symattn import typesetting as t
from symattn.auditing.statements import Decider
from symattn.cases.claims import Claim
from symattn.cases.statements import LoweredComparison
from symattn.printers import blocks as b
from symattn.printers.layout import TEXT, unbreakable
from symattn.programs.display import formula
from symattn.programs.nodes import Node
from symattn.sheets.steps import Steps
from symattn.verdicts import Verdict


def statements(steps: Steps) -> Iterator[b.Block]:
    """The statements that hold, each in words and as a formula.

    Those of a document, which has a source, are for its audit to tell; what is said of
    shapes alone stands on the sheet anyway.
    """
    if steps.case.source:
        return
    decider = Decider(steps.solution)
    claims = [
        claim
        for claim in steps.case.claims
        if _tells(claim) and decider.decide(claim) is Verdict.HOLDS
    ]
    if not claims:
        return
    yield b.Heading(steps.say("What holds"))
    yield b.Paragraph(steps.say("Each of these is decided exactly, without rounding."))
    for claim in claims:
        words = steps.prose(claim.where)
        lines = [line for comparison in claim.comparisons for line in _lines(steps, comparison)]
        if any(unbreakable(side) > TEXT for left, _, right in lines for side in (left, right)):
            yield b.Paragraph((*words, ": ", b.Code(claim.holds)))
            continue
        yield b.Paragraph((*words, ":"))
        yield b.Equations(tuple(lines))


def _tells(claim: Claim) -> bool:
    """Whether a claim compares quantities, and not their sizes only."""
    return bool(claim.holds) and all(
        isinstance(operand, Node)
        for comparison in claim.comparisons
        for operand in comparison.operands
    )


def _lines(steps: Steps, comparison: LoweredComparison) -> Iterator[b.Equation]:
    """``a <= b < c`` as two lines, the second without its left side."""
    named = dict(steps.named)
    for decided in comparison.decided:
        operand = formula(decided.operand, named)
        named[decided.node.serial] = f.Function(decided.function, (operand,))
    operands = [node for node in comparison.operands if isinstance(node, Node)]
    sides = [f.slashed(named.get(node.serial) or formula(node, named)) for node in operands]
    for k, relation in enumerate(comparison.relations):
        yield sides[0] if k == 0 else t.Row(), t.sign(relation), sides[k + 1]
