"""Checks of the figures on a sheet, by NumPy and by SymPy's formulas.

A variant beside the case that it extends.

What a case of one's own is about: its statements that hold, on its sheet.

Which of SymPy's formulas the numbers were put into, and what came out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from math import prod

from symattn.auditing.figures import Decider
from symattn.cases.statements import LoweredComparison
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.syntax import gradient_name
from symattn.languages.language import Language
from symattn.printers import blocks as b
from symattn.printers.layout import TEXT, unbreakable
from symattn.programs.display import formula, symbol
from symattn.programs.nodes import Node, ancestors
from symattn.seal.seals import Seal
from symattn.sheets.presentation import Presentation, grouped
from symattn.sheets.steps import Steps
from symattn.solution.quantity import same
from symattn.solution.solution import Solution, solve
from symattn.verdicts import Verdict
from symattn.verification import Verification

#: Stages of a gradient that are named; more are counted.
_MOST_NAMED = 20


def sealed(seal: Seal, say: Language) -> b.Paragraph:
    """Return what Coq's kernel said of the figures on a sheet, or of the lines of a derivation."""
    version = seal.coq
    if seal.folder:
        version = say.text("{version}, according to {folder}", version=version, folder=seal.folder)
    said: b.Line = say(
        "Sealed: {sealed} of {count} {things}, by Coq {version}. The theorems are in {file}.",
        sealed=str(seal.sealed),
        count=str(seal.count),
        things=say.text("figures") if seal.kind == "figures" else say.text("lines"),
        version=version,
        file=b.Code(seal.file),
    )
    if seal.defined:
        said += (" " + say.text("By definition hold {count} more.", count=seal.defined),)
    return b.Paragraph(said)


def substitution(steps: Steps, verification: Verification) -> Iterator[b.Block]:
    """Yield how SymPy derived each gradient that is asked for, what was put into it,
    and what SymPy leaves open."""
    solution, say = steps.solution, steps.say
    equal = [c.quantity for c in verification.checks if c.symbolic is Verdict.HOLDS]
    count = len(verification.checks)
    if equal:
        every = say.text("all {count}", count=count)
        if len(equal) < count:
            every = say.text("{equal} of {count}", equal=len(equal), count=count)
        sentence: b.Line = say(
            "SymPy derived a formula for every quantity, differentiating one stage at "
            "a time, and the exact inputs were substituted. The result equals the "
            "closed form in every entry of {every} quantities.",
            every=every,
        )
        yield b.Paragraph((*sentence, *_softmax(solution, say)))
    for name in map(gradient_name, solution.case.wrt):
        if name in equal:
            yield b.Paragraph(_gradient(solution, name, say))
    for doubt, quantities in verification.symbolic_doubts.items():
        every_one = len(quantities) == count
        named = say("every quantity") if every_one else listed(quantities)
        yield b.Paragraph(
            (b.Strong(say.text("Not decided by SymPy:")), " ", *named, f": {say.again(doubt)}.")
        )


def _softmax(solution: Solution, say: Language) -> b.Line:
    """Return what the stages of a softmax are called, if there is one."""
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
    if len(stages) > _MOST_NAMED:
        way = say(", in {count} stages", count=str(len(stages)))
    elif stages:
        way = say(", in the stages {names}", names=listed(stages))
    put: b.Line = say(", without symbols")
    if formula.given:
        put = say(", with the values of {names} substituted", names=listed(formula.given))
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


def listed(names: Iterable[str]) -> b.Line:
    """The names as mathematics, with commas between them."""
    return b.joined(b.Math(f.typeset(symbol(name))) for name in names)


def checks(steps: Steps, verification: Verification) -> Iterator[b.Block]:
    """The table of the cross-check, and which of SymPy's formulas came to the figures."""
    say = steps.say
    yield b.Heading(say("Cross-check"))
    sentence = say(
        "NumPy recomputed every quantity in 64-bit floats from the text of the steps, "
        "using the definitions printed above as code, and the gradients also by complex "
        "steps. {ulp}: largest distance from the exact value in units in the last place. "
        "{scaled}: that distance divided by the bound given by the magnitudes of all "
        "terms; up to 1 is rounding, more would be an error.",
        ulp=b.Strong("ulp"),
        scaled=b.Strong(say.text("scaled")),
    )
    yield b.Paragraph(sentence)
    yield _table(verification, say)
    for doubt, quantities in verification.doubts.items():
        undecided = b.Strong(say.text("Not decided by floats:"))
        yield b.Paragraph((undecided, " ", *listed(quantities), f": {say.again(doubt)}."))
    yield from substitution(steps, verification)


def _table(verification: Verification, say: Language) -> b.Table:
    """Every quantity with its figures, in two columns."""
    cells: list[tuple[b.Line, ...]] = [
        (
            (b.Math(f.typeset(symbol(check.quantity))),),
            *((text,) for text in check.texts),
            (verdict(check.verdict, say),),
        )
        for check in verification.checks
    ]
    half = (len(cells) + 1) // 2
    rows = zip_longest(cells[:half], cells[half:], fillvalue=((), (), (), ()))
    header: tuple[b.Line, ...] = (say("quantity"), ("ulp",), say("scaled"), say("verdict"))
    return b.Table(
        (*header, *header),
        tuple((*left, *right) for left, right in rows),
        "lrrl@{\\hspace{12mm}}lrrl",
    )


def verdict(outcome: Verdict, say: Language) -> str:
    """A verdict in a word.

    >>> from symattn.languages.language import ENGLISH
    >>> verdict(Verdict.HOLDS, ENGLISH)
    'holds'
    """
    words = {
        Verdict.HOLDS: say.text("holds"),
        Verdict.REFUTED: say.text("refuted"),
        Verdict.UNDECIDED: say.text("undecided"),
    }
    return words[outcome]


def comparison(steps: Steps) -> Iterator[b.Block]:
    """Yield what changes against the case that this one extends."""
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
    other = Presentation(base, steps.places, steps.settings.count_from)
    rows: list[tuple[b.Line, ...]] = []
    changed = []
    for name in shared:
        ours, was = steps.solution[name], base[name]
        if ours.equals(was) is Verdict.HOLDS:
            rows.append(((b.Math(f.typeset_name(name)),), say("equal, exactly")))
            continue
        changed.append(name)
        pairs = zip(chain(*ours.rows), chain(*was.rows), strict=True)
        count = sum(same(*pair) is not Verdict.HOLDS for pair in pairs)
        entries = prod(ours.grid)
        differ = say("{count} of {entries} entries differ", count=str(count), entries=str(entries))
        rows.append(((b.Math(f.typeset_name(name)),), differ))
    yield b.Table((say("quantity"), say("compared with the base case")), tuple(rows), "ll")
    for name in changed:
        node, old = steps.program.quantities[name], base.program.quantities[name]
        in_letters = steps.shown.is_lettered(node) or other.is_lettered(old)
        if node.op == "softmax" and old.op == "softmax" and not in_letters:
            symbol = b.Math(f.typeset_name(name))
            then, now = say("{name}, base case", name=symbol), say("{name}, here", name=symbol)
            before = steps.heat_map(other, old, then, node)
            yield b.HeatMaps((before, steps.heat_map(steps.shown, node, now)))
    if steps.case.output in changed:
        node = steps.program.quantities[steps.case.output]
        old = base.program.quantities[steps.case.output]
        output = f.typeset_name(steps.case.output)
        cells = tuple(
            tuple(f.typeset(other.decimal(old, i, j)) for j in range(old.grid[1]))
            for i in range(steps.rows_shown(old))
        )
        sides = say.text("base"), say.text("here")
        there, here = (t.index(grouped(output), t.row(t.Text(side))) for side in sides)
        base_matrix = b.Matrix(there + t.ABOUT, cells)
        yield b.Matrices((base_matrix, *steps.whole(node, here, exact=False)))


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
        if claim.holds
        # It compares quantities, and not their sizes only.
        and all(isinstance(x, Node) for compared in claim.comparisons for x in compared.operands)
        and decider.decide(claim) is Verdict.HOLDS
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


def _lines(steps: Steps, comparison: LoweredComparison) -> Iterator[b.Equation]:
    """``a <= b < c`` as two lines, the second without its left side."""
    named = dict(steps.named)
    for decided in comparison.decided:
        operand = formula(decided.operand, named)
        named[decided.node.serial] = syntax.Call(decided.function, (operand,))
    operands = [node for node in comparison.operands if isinstance(node, Node)]
    sides = [f.slashed(named.get(node.serial) or formula(node, named)) for node in operands]
    for k, relation in enumerate(comparison.relations):
        yield sides[0] if k == 0 else t.Row(), t.sign(relation), sides[k + 1]
