"""The worked-solution sheet of a case, as blocks.

Given matrices; every step as general formula, substitution, closed form and
rounded value; the Jacobian and the gradients by stages; what the cross-check
and SymPy found; how to make the sheet again. Its settings say which of these.

How a sheet is made again: commands that work from where one stands."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Unpack

import numpy as np

from symattn.auditing.audit import audit
from symattn.cases.case import Case
from symattn.cases.library import load
from symattn.cases.settings import PARTS, Changes, SheetSettings, settings
from symattn.drawing.picture import draw
from symattn.errors import Fault, Faults, Malformed, Refuted
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.languages.language import Language
from symattn.limits import COLUMNS
from symattn.numbers.values import Value, compare
from symattn.printers import blocks as b
from symattn.printers.layout import TEXT, broken, cut, matrix_width, width
from symattn.programs.display import formula as step_formula
from symattn.programs.nodes import Node, ancestors, arguments
from symattn.programs.program import Program
from symattn.seal.seals import Seal
from symattn.sheets import definitions
from symattn.sheets.backward import backward
from symattn.sheets.checks import checks, comparison, sealed, statements
from symattn.sheets.definitions import of_call
from symattn.sheets.presentation import UNWRITTEN, RowNormaliser, indexed, is_legible
from symattn.sheets.redpen import differences
from symattn.sheets.steps import FIGURES, SHADES, Steps, chained, elided
from symattn.solution.solution import Solution, solve
from symattn.tables.file import folder
from symattn.verdicts import Verdict
from symattn.verification import Verification, verify

# -- softmax on a sheet ------------------------------------------------------------------
# Its exponentials, the sums of their rows, its weights.

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
            terms = (Counter(map(syntax.shown, steps.shown.row_terms(node, x))) for x in (i, k))
            sentence: b.Line = say("{equal}: equal, from other exponentials.", equal=equal)
            if next(terms) == next(terms):
                sentence = say("{equal}: both rows hold the same exponentials.", equal=equal)
            yield b.Paragraph(sentence)
    yield from steps.rest(node)


def _introduction(steps: Steps, node: Node) -> b.Line:
    scores = node.operands[0]
    quantity = steps.shown.quantity(scores)
    hidden = any(quantity.is_masked(*place) for place in np.ndindex(scores.grid))
    masked = f.typeset(syntax.Call("exp", (f.MINUS_INFINITY,))) + t.EQUALS + _NOTHING
    return (
        *steps.say("Take the exponential of every score and sum each row."),
        *((" ", *steps.say("A masked score contributes nothing: {zero}.", zero=b.Math(masked)))
          if hidden else ()),
    )  # fmt: skip


def _exponentials(steps: Steps, node: Node, count: int) -> list[b.Matrix]:
    """The matrix of exponentials, in closed form where that is short, and rounded."""
    scores = node.operands[0]
    name = f.typeset(syntax.Call("exp", (f.Symbol("", steps.name(scores)),)))
    if count < node.grid[0]:
        name = steps.first_rows(name, count)
    rows = [row.powers for row in steps.shown.normalisers[node.serial][:count]]

    def cells(write: Callable[[Value], syntax.Tree]) -> tuple[tuple[t.Row, ...], ...]:
        return tuple(
            tuple(_NOTHING if x is None else f.typeset(write(x)) for x in row) for row in rows
        )

    closed = cells(lambda power: power.formula() if power.is_closed else UNWRITTEN)
    exact = b.Matrix(name + t.EQUALS, closed, steps.solution.tokens(scores, 0)[:count])
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
    added = syntax.Sum(terms) if len(terms) > 1 else terms[0]
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
    own, above = rows[i].value, ((k, row.value) for k, row in enumerate(rows[:i]))
    alike = (k for k, x in above if x.is_closed and compare(x, own) is Verdict.HOLDS)
    return next(alike, None) if own.is_closed else None


def inside(steps: Steps, node: Node) -> Iterator[b.Block]:
    """The row sums of every softmax inside of a step."""
    others = steps.named.keys() - {node.serial}

    def through(x: Node) -> tuple[Node, ...]:
        # On the sheet a gradient stands for itself.
        return () if x.written and x.written.function == "grad" else x.operands

    for inner in ancestors([node], stop=lambda x: x.serial in others, through=through):
        if inner.op == "softmax" and inner is not node:
            yield from row_sums(steps, inner)


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


# -- case sheet --------------------------------------------------------------------------


def commands(case: Case, settings: SheetSettings) -> Iterator[b.Block]:
    """The commands that make this sheet and check its figures; none for a case without a file.

    >>> from symattn.cases.settings import settings as of
    >>> (_, listing) = commands(load("cat-sat-mat"), of({"commands": True, "places": 6}))
    >>> listing.lines[0]
    'symattn sheet cat-sat-mat --places 6 --commands'
    """
    if case.path is None:
        return
    name, outside = named(case.path), "" if case.reading else _outside(case.path)
    yield b.Heading(settings.say("Reproduce this sheet"))
    yield b.Listing(
        (
            f"symattn sheet {name}{flags(settings.beyond(case.sheet))}{outside}",
            *([f"symattn show {name} {case.output} --places 12{outside}"] if case.output else []),
            f"symattn verify {name}{outside}",
            *([f"symattn audit {name}{outside}"] if case.claims else []),
        )
    )


def named(path: Path) -> str:
    """A case file as a command line names it: a bundled one by its name,
    another by the path by which it was asked for, quoted for a shell.

    >>> named(Path("my notes/a.toml")), named(Path("-a.toml"))
    ("'my notes/a.toml'", './-a.toml')
    """
    if path.parent == folder():
        return path.stem
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def flags(settings: dict[str, object]) -> str:
    """Settings as flags.

    >>> flags({"audience": "author", "audit": False, "places": 6})
    ' --for author --no-audit --places 6'
    """
    text = ""
    for name, value in settings.items():
        if name in PARTS:
            text += f" --{name}" if value else f" --no-{name}"
        else:
            flag = "for" if name == "audience" else name.replace("_", "-")
            text += f" --{flag} {shlex.quote(str(value))}"
    return text


def _outside(path: Path) -> str:
    """The flag without which a file that extends others outside of its folder is not read."""
    try:
        load(path)
    except Malformed:
        return " --allow-outside"
    return ""


def sheet(
    case: str | Path | Case | Solution, seal: Seal | None = None, **changes: Unpack[Changes]
) -> b.Sheet:
    """The worked-solution sheet of a case or a solution.

    What is on it is as the case's ``[sheet]`` table and ``changes`` say, the
    fields of :class:`~symattn.cases.settings.SheetSettings`. A ``seal`` is told on it.
    Raises :class:`Malformed` for others, and :class:`Refuted` if the cross-check
    refutes a figure: a sheet carries checked lines only.

    >>> made = sheet("cat-sat-mat", audience="author", places=6)
    >>> made.title
    ('Three tiny vectors, no projections',)
    """
    solution = case if isinstance(case, Solution) else solve(case)
    case = solution.case
    wanted = settings(case.sheet, changes)
    _need_room(solution)
    verification = verified(solution, wanted.crosscheck)
    steps = Steps(solution, wanted)
    blocks: list[b.Block] = []
    if wanted.drawing and case.steps:
        svg = draw(solution, "flow", language=wanted.language)
        blocks.append(b.Picture(svg, "drawing" in {**case.sheet, **changes}))
    blocks += [*given(steps), *_forward(steps, {}), *comparison(steps)]
    if wanted.backward and case.output:
        blocks += backward(steps)
    blocks += statements(steps)
    if wanted.audit and case.claims:
        blocks += differences(audit(solution), steps.say)
    if wanted.crosscheck and steps.program.quantities:
        blocks += checks(steps, verification)
    if wanted.commands:
        blocks += commands(case, wanted)
    opening = [*_opening(steps, len(verification.points)), *_in_pieces(steps, blocks)]
    if seal:
        opening.append(sealed(seal, steps.say))
    blocks = [*opening, *blocks]
    title = steps.prose(case.title or case.name)
    subtitle = ", ".join(case.tokens) if case.tokens else case.name
    return b.Sheet(case.name, title, (subtitle,), tuple(blocks), steps.say, wanted.paper)


def working(steps: Steps, remarks: Mapping[str, Sequence[b.Block]]) -> Iterator[b.Block]:
    """All that a sheet works out, with remarks behind the work on a step or a gradient."""
    yield from _opening(steps)
    yield from given(steps)
    yield from _forward(steps, remarks)
    if steps.settings.backward:
        yield from backward(steps, remarks)


def _need_room(solution: Solution) -> None:
    """:class:`Malformed` where a quantity has rows that are too long for any page."""
    Faults(
        Fault(
            f"{'given' if name in solution.program.given else 'steps'}.{name}",
            COLUMNS.said(node.grid[1]),
        )
        for name, node in solution.program.quantities.items()
        if node.grid[1] > COLUMNS.most
    ).raise_all(str(solution.case.path or ""))


def verified(solution: Solution, symbolic: bool = False) -> Verification:
    """The verification of a solution; :class:`Refuted` if it refutes a figure.

    SymPy takes as long as all the rest of a sheet: it is asked where the sheet tells what it says.
    """
    verification = verify(solution, symbolic)
    if verification.verdict is Verdict.REFUTED:
        wrong = [
            check.quantity
            for check in verification.checks
            if Verdict.REFUTED in (check.verdict, check.symbolic)
        ]
        raise Refuted(
            f"{solution.case.name}: the cross-check refutes {', '.join(wrong)}; "
            "no sheet is written from figures that don't hold"
        )
    return verification


def _opening(steps: Steps, points: int = 0) -> Iterator[b.Block]:
    """Yield what the sheet is about, and how it is read; in letters, at how many points it was
    checked."""
    case, say = steps.case, steps.say
    if case.note:
        yield b.Paragraph(steps.prose(case.note))
    if case.source:
        yield b.Paragraph(
            say("{after} {source}.", after=b.Strong(say.text("After:")), source=case.source)
        )
    if not steps.program.quantities:
        return
    sentence: b.Line = say(
        "Values after {equal} are exact. Values after {approximate} are correctly rounded to "
        "{places} decimal places ({rounding}), or to significant digits where that would show "
        "nothing. Rows and columns are counted from {first}. A factor with a long closed form "
        "appears by name, such as {entry}, or in decimals, with as many as the result needs.",
        first=steps.shown.at(0),
        equal=b.Math(t.EQUALS),
        approximate=b.Math(t.ABOUT),
        places=str(steps.places),
        rounding=_rounding(steps),
        entry=b.Math(indexed(t.letters("A"), f"{steps.shown.at(0)},{steps.shown.at(1)}")),
    )
    if points:
        sentence += (" ", *say(
            "Letters stand for any numbers for which no divisor is 0; every formula was checked "
            "at {count} points, with exact numbers in the place of letters.", count=str(points)
        ))  # fmt: skip
    if steps.large:
        sentence += (" ", *say(
            "This case is large: a few entries of each step are worked out, and the rest is "
            "rounded."
        ))  # fmt: skip
    if row := steps.which_row():
        sentence += (" ", *row)
    yield b.Paragraph(sentence)


def _in_pieces(steps: Steps, blocks: Sequence[b.Block]) -> Iterator[b.Block]:
    """Yield what the pieces of matrices are that are wider than a page of paper."""
    matrices = (x for block in blocks if isinstance(block, b.Matrices) for x in block.items)
    if any(len(cut(matrix)) > 1 for matrix in matrices):
        sentence: b.Line = steps.say(
            "On paper a wide matrix is split into blocks of columns; the columns of each "
            "block are listed below its name."
        )
        yield b.Paragraph(sentence)


def _rounding(steps: Steps) -> str:
    """Return how numbers are rounded, in words."""
    say = steps.say
    words = {
        "half-even": say.text("ties to the even digit"),
        "half-up": say.text("ties away from zero"),
        "half-down": say.text("ties towards zero"),
        "down": say.text("towards zero"),
        "up": say.text("away from zero"),
        "floor": say.text("downwards"),
        "ceiling": say.text("upwards"),
    }
    return words[steps.case.rounding]


def given(steps: Steps) -> Iterator[b.Block]:
    """The given quantities."""
    if steps.program.given:
        yield b.Heading(steps.say("Given"))
    scalars = [n for n in steps.program.given if not steps.program.quantities[n].shape]
    matrices = [n for n in steps.program.given if n not in scalars]
    items: list[b.Matrix] = []
    for name in matrices:
        node = steps.program.quantities[name]
        items += steps.whole(node, f.typeset_name(name), exact=True)
    if items:
        yield b.Matrices(tuple(items))
    if scalars:
        values: list[b.Math] = []
        for name in scalars:
            node = steps.program.quantities[name]
            exact = steps.shown.exact(node, 0, 0)
            relation = t.ABOUT if exact is None else t.EQUALS
            value = f.typeset(exact or steps.shown.decimal(node, 0, 0))
            values.append(b.Math(f.typeset_name(name) + relation + value))
        yield b.Paragraph((*b.joined(values), "."))


def _forward(steps: Steps, remarks: Mapping[str, Sequence[b.Block]]) -> Iterator[b.Block]:
    say = steps.say
    if not steps.program.steps:
        yield b.Paragraph(say("There are no steps, so there is nothing to derive."))
        return
    yield b.Heading(say("Forward"))
    nodes = steps.program.quantities
    for are_copies, names in groupby(
        steps.program.steps, lambda name: nodes[name].op == "copy" and not nodes[name].written
    ):
        if are_copies:
            yield from renamed(steps, [*names])
            continue
        for name in names:
            yield from step(steps, name)
            yield from remarks.get(name, ())


def step(steps: Steps, name: str) -> Iterator[b.Block]:
    """A step under its heading: its definition, and its entries worked out.

    >>> from symattn.cases.settings import settings as of
    >>> heading, *work = step(Steps(solve("cat-sat-mat"), of({"backward": False})), "T")
    >>> heading.level, [type(block).__name__ for block in work]
    (2, ['Paragraph', 'Beside'])
    """
    say, node = steps.say, steps.program.quantities[name]
    named = role(steps.program, node, say)
    formula = steps.formula(f.typeset_name(name), node)
    yield b.Heading((b.Math(formula), f" \N{EN DASH} {named}" if named else ""), 2)
    if formula == f.typeset_name(name):
        yield b.Paragraph(say("Computed as {step}.", step=b.Code(steps.case.steps[name])))
    yield from steps.own(node)
    first = steps.settings.count_from
    equations = definitions.of_step(node, steps.named, steps.row_sum(node), first)
    if node.written:
        text, shapes = steps.case.steps[name], steps.program.shapes()
        softmaxes = steps.shown.softmaxes()
        equations = of_call(name, text, shapes, steps.case.functions, softmaxes, first)
    yield from steps.definitions(equations)
    yield from _later(steps, node)
    yield from inside(steps, node)
    yield from weights(steps, node) if node.op == "softmax" else steps.work(node)


def _later(steps: Steps, node: Node) -> Iterator[b.Block]:
    """Yield where the gradients are worked that a step takes of the sheet's loss."""
    output = steps.program.quantities.get(steps.case.output)
    if output is None or not steps.settings.backward:
        return
    parts = ancestors(
        [node], stop=lambda x: x.serial in steps.named and x is not node, through=arguments
    )
    taken = [x.written.operands for x in parts if x.written and x.written.function == "grad"]
    names = {of.serial: steps.named[of.serial] for loss, of in taken if loss is output}
    if names:
        gradients = t.joined((f.differential(f.typeset(name)) for name in names.values()), t.COMMA)
        sentence = steps.say(
            "Worked out in the backward pass: {gradient}.", gradient=b.Math(gradients)
        )
        yield b.Paragraph(sentence)


def renamed(steps: Steps, names: Sequence[str]) -> Iterator[b.Block]:
    """``Q = K = V = X``: steps that only rename."""
    sources: dict[t.Row, list[t.Row]] = {}
    for name in names:
        source = f.typeset(step_formula(steps.program.quantities[name], steps.named))
        sources.setdefault(source, []).append(f.typeset_name(name))
    for source, aliases in sources.items():
        chain = t.joined([*aliases, source], t.EQUALS)
        sentence = steps.say(
            "Nothing to compute in {chain}: the same matrix under another name.",
            chain=b.Math(chain),
        )
        yield b.Paragraph(sentence)


def role(program: Program, node: Node, say: Language) -> str:
    """Return what a step is called in the field, where its form and its place tell."""
    if node.written:
        return ""
    match node.op, node.operands:
        case "softmax", (x,) if not _weighs(program, node) and not _has_scores(x):
            return say.text("probabilities")
        case "softmax", _:
            return say.text("attention weights")
        case "hide", _:
            return say.text("masked scores")
        case "matmul", (_, y) if y.op == "transpose" and not y.written:
            return say.text("scores")
        case "matmul", (x, _) if x.op == "softmax":
            return say.text("output")
        case "divide" | "multiply", (x, _) if x.op == "matmul" and x.operands[1].op == "transpose":
            return say.text("scaled scores")
        case "matmul", (x, y) if y.op == "given":
            return say.text("projection")
    return ""


def _weighs(program: Program, weights: Node) -> bool:
    """Return whether a step multiplies by weights from the left, as values are."""
    steps = ancestors(program.quantities.values())
    return any(node.op == "matmul" and node.operands[0] is weights for node in steps)


def _has_scores(x: Node) -> bool:
    """Return whether what a softmax is taken of are products of queries and keys, scaled or masked,
    or given."""
    while x.op in ("copy", "hide", "divide", "multiply", "add", "subtract"):
        x = x.operands[0]
    return x.op == "given" or (x.op == "matmul" and x.operands[1].op == "transpose")
