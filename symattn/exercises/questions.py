"""An exercise as sheets: the question with blanks, and its solution with the common mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from symattn.cases.settings import SheetSettings, settings
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.faults import FaultyEntry, InjectedFault, visible_faults
from symattn.exercises.page_script import page_script
from symattn.expressions import formulas as f
from symattn.expressions import typesetting as t
from symattn.expressions.shapes import keys
from symattn.languages.language import Language
from symattn.printers import blocks as b
from symattn.programs.display import symbol
from symattn.sheets import definitions
from symattn.sheets.backward import BY_X, sum_of_outputs
from symattn.sheets.case_sheet import given, renamed, role, verified, working
from symattn.sheets.presentation import indexed
from symattn.sheets.steps import Steps

#: A blank for one figure, in a row with room for a hand.
BLANK = t.row(t.Strut("fraction"), t.Text("______"))
#: Room for a hand in a row.
_HAND = t.row(t.Strut("fraction"))
#: A line to write on: for a name, and for what is counted.
_LONG, _SHORT = "_" * 24, "_" * 6
#: So many parts stand side by side in a table to mark in.
_COLUMNS = 7


def question(
    exercise: Exercise,
    header: Sequence[str] = (),
    logo: b.Logo | None = None,
    student: str = "",
    interactive: bool = False,
    **changes: Any,
) -> b.Sheet:
    """The question: what is given, what is to be computed, and blanks for every figure.

    ``header`` are lines above, such as the course and the date, ``student`` is whose it is, for a
    line to write a name on. Blanks of one that is ``interactive`` become fields on a page, which
    tells what each answer is. Rows are counted as the exercise counts them, whose key and marks do,
    too. ``changes`` are ``language`` and ``paper`` of
    :class:`~symattn.cases.settings.SheetSettings`, over the case's ``[sheet]``.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> made = question(exercise(load("cat-sat-mat")))
    >>> made.name, made.title
    ('cat-sat-mat', 'Three tiny vectors, no projections')
    """
    wanted = _settings(exercise, changes)
    say = wanted.say
    name = f"{student or _LONG}\N{EM SPACE}"
    blanks = {"name": name, "points": _SHORT, "all": str(exercise.points)}
    blocks: list[b.Block] = [b.Paragraph(say("Name: {name} Points: {points} of {all}", **blanks))]
    if exercise.is_proof:
        blocks += derivations(exercise, say)
    else:
        steps = Steps(exercise.solution, wanted)
        blocks += [*given(steps), *_steps(steps), *_loss(exercise, steps)]
        blocks += _blanks(exercise, steps)
    made = _sheet(exercise, exercise.name, exercise.title, header, blocks, wanted, logo)
    return replace(made, script=page_script(exercise, say)) if interactive else made


def solution(
    exercise: Exercise,
    header: Sequence[str] = (),
    logo: b.Logo | None = None,
    **changes: Any,
) -> b.Sheet:
    """The solution: points, every step worked, and behind it what its common mistakes give.

    ``changes`` may have
    ``detail`` as well, which is ``full`` unless the case's ``[sheet]`` says otherwise. Raises
    :class:`~symattn.errors.Refuted` if the cross-check refutes a figure.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> solution(exercise(load("cat-sat-mat"))).name
    'cat-sat-mat-solution'
    """
    # Every row is asked for, and worked.
    detail = exercise.case.sheet.get("detail", "full")
    wanted = _settings(exercise, {"detail": detail, **changes})
    say = wanted.say
    blocks = [*_points(exercise, say)]
    if exercise.is_proof:
        blocks += proved(exercise)
    else:
        verified(exercise.solution)
        remarks: dict[str, list[b.Block]] = {}
        for fault, examples in visible_faults(exercise):
            remarks.setdefault(fault.part, []).append(
                b.Paragraph(_mistake(fault, examples, exercise.first, say))
            )
        for listed in remarks.values():
            listed.insert(0, b.Paragraph((b.Strong(say.text("Common mistakes")),)))
        blocks += working(Steps(exercise.solution, wanted), remarks)
    title = say.text("{title}: solution", title=exercise.title)
    return _sheet(exercise, f"{exercise.name}-solution", title, header, blocks, wanted, logo)


def grading(exercise: Exercise, students: Sequence[tuple[str, int]], **changes: Any) -> b.Sheet:
    """A table to mark in: a row for each student, with the version, and a column for each part.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> grading(exercise(load("cat-sat-mat")), [("Ada", 1)]).name
    'cat-sat-mat-grading'
    """
    wanted = _settings(exercise, {x: y for x, y in changes.items() if x not in ("header", "logo")})
    say = wanted.say
    heads: list[b.Line] = [
        (f"({letter(place)}) {part.points}",) for place, part in enumerate(exercise.parts)
    ]
    heads.append((f"{say.text('total')} {exercise.points}",))
    blocks: list[b.Block] = []
    for start in range(0, len(heads), _COLUMNS):
        some = heads[start : start + _COLUMNS]
        blanks: tuple[b.Line, ...] = ((),) * len(some)
        rows = tuple(
            ((name,), (str(number or ""), b.Math(_HAND)), *blanks) for name, number in students
        )
        align = "P{52mm}l" + "l" * len(some)
        blocks.append(b.Table((say("student"), say("version"), *some), rows, align))
    title = say.text("{title}: points", title=exercise.title)
    whole = replace(exercise, version=0)
    return _sheet(whole, f"{exercise.case.name}-grading", title, (), blocks, wanted, None)


def _settings(exercise: Exercise, changes: dict[str, Any]) -> SheetSettings:
    places = max([part.places for part in exercise.parts if part.places] or [4])
    chosen = {name: value for name, value in changes.items() if value is not None}
    asked = {"backward": exercise.level == "backward", "places": places}
    # Pages, keys and marks count alike.
    chosen["count_from"] = exercise.first
    return settings(
        exercise.case.sheet, {"audience": "teacher", "commands": False, **asked, **chosen}
    )


def _sheet(
    exercise: Exercise,
    name: str,
    title: str,
    header: Sequence[str],
    blocks: Sequence[b.Block],
    wanted: SheetSettings,
    logo: b.Logo | None,
) -> b.Sheet:
    say, case = wanted.say, exercise.case
    subtitle = ", ".join(case.tokens) if case.tokens else case.name
    if exercise.version:
        subtitle = say.text("Version {number}", number=exercise.version) + f": {subtitle}"
    head = [b.Paragraph((text,)) for text in header]
    return b.Sheet(name, title, (subtitle,), (*head, *blocks), say, wanted.paper, logo)


def letter(place: int) -> str:
    """Return what the part at a place is called: a to z, then aa.

    >>> letter(0), letter(25), letter(26)
    ('a', 'z', 'aa')
    """
    above, last = divmod(place, 26)
    return (letter(above - 1) if above else "") + chr(ord("a") + last)


def worth(part: Part, say: Language) -> str:
    """The points of a part in words."""
    return say.text("1 point") if part.points == 1 else say.text("{n} points", n=part.points)


# -- the question --------------------------------------------------------------------


def _steps(steps: Steps) -> Iterator[b.Block]:
    say, program = steps.say, steps.program
    yield b.Heading(say("Steps"))
    copies = [name for name in program.steps if program.quantities[name].op == "copy"]
    yield from renamed(steps, copies)
    lines = []
    defined: list[b.Block] = []
    for name in program.steps:
        node = program.quantities[name]
        if name in copies:
            continue
        left = f.typeset_name(name)
        right = steps.computed(left, node) or t.row(t.Text(steps.case.steps[name]))
        lines.append((left, t.EQUALS, right))
        if node.op in ("softmax", "hide"):
            row_sum, first = steps.row_sum(node), steps.settings.count_from
            defined += steps.definitions(definitions.of_step(node, steps.named, row_sum, first))
    yield b.Equations(tuple(lines))
    yield from defined


def _loss(exercise: Exercise, steps: Steps) -> Iterator[b.Block]:
    case, say = exercise.case, steps.say
    gradients = [part for part in exercise.parts if part.quantity.startswith("dL/d")]
    if not gradients:
        return
    output = f.typeset_name(case.output)
    written = say("Write {short} for {long}.", short=b.Math(BY_X[0]), long=b.Math(BY_X[1]))
    if case.raw_upstream is None:
        node = case.program.quantities[case.output]
        total = sum_of_outputs(node, output) if node.shape else output
        yield b.Paragraph((*written, " ", *say("The loss is {loss}.", loss=b.Math(total))))
        return
    sentence = say(
        "The gradient of the loss with respect to {output} is given:", output=b.Math(output)
    )
    yield b.Paragraph((*written, " ", *sentence))
    upstream = case.program.gradients[case.output]
    yield b.Matrices(tuple(steps.whole(upstream, f.differential(output), exact=True)))


def _blanks(exercise: Exercise, steps: Steps) -> Iterator[b.Block]:
    say = steps.say
    yield b.Heading(say("Compute"))
    sentence = figures(exercise, say)
    if any(exercise.case.program.named[part.quantity].op == "hide" for part in exercise.parts):
        masked = say("A masked score is {masked}.", masked=b.Math(t.MINUS_INFINITY))
        sentence = (*sentence, " ", *masked)
    yield b.Paragraph(sentence)
    nodes = [exercise.case.program.named[part.quantity] for part in exercise.parts]
    rooms = [_TITLE_HEIGHT + _ROW_HEIGHT * node.grid[0] for node in nodes]
    # The last blank never stands alone on a page.
    rooms[-2:-1] = [sum(rooms[-2:])] if len(rooms) > 1 else []
    for place, (part, node) in enumerate(zip(exercise.parts, nodes, strict=True)):
        name = f.typeset(symbol(part.quantity))
        named = part_role(exercise, part, say)
        size = (
            b.Math(t.joined((t.number(str(x)) for x in node.shape), t.TIMES)) if node.shape else ""
        )
        title: b.Line = (
            f"({letter(place)}) ", b.Math(name), named, ", " if size else "", size,
            f" ({worth(part, say)})",
        )  # fmt: skip
        rows, columns = node.grid
        yield b.Heading(title, 2, rooms[place])
        if not node.shape:
            yield b.Matrices((b.Matrix(name + t.EQUALS + BLANK, ()),))
            continue
        labels = steps.solution.tokens(node, 0)
        yield b.Matrices((b.Matrix(name + t.EQUALS, ((BLANK,) * columns,) * rows, labels),))


#: The height of a part's title with what is around it, and of a row of blanks, in mm.
_TITLE_HEIGHT, _ROW_HEIGHT = 12.0, 7.0


def figures(exercise: Exercise, say: Language) -> b.Line:
    """Return how figures are to be given."""
    return say(
        "Give every value to {places} decimal places; whole numbers may stay as they are. "
        "Keep more places in your calculation than you write down.",
        places=" / ".join(map(str, sorted({part.places for part in exercise.parts}))),
    )


def part_role(exercise: Exercise, part: Part, say: Language) -> str:
    """Return what a part is in the case, behind a dash; '' where nothing is said of it."""
    if part.quantity not in exercise.case.steps:
        return ""
    program = exercise.case.program
    description = role(program, program.named[part.quantity], say)
    return f" \N{EN DASH} {description}" if description else ""


def derivations(exercise: Exercise, say: Language) -> Iterator[b.Block]:
    """Yield what is to be shown, for any size."""
    yield b.Paragraph(say("Prove each statement for any size, and justify every line."))
    yield from proved(exercise, say)


def _lower(block: b.Block) -> b.Block:
    return b.Heading(block.text, 2, block.room) if isinstance(block, b.Heading) else block


# -- the solution --------------------------------------------------------------------


def _points(exercise: Exercise, say: Language) -> Iterator[b.Block]:
    rows: list[tuple[b.Line, ...]] = []
    for place, part in enumerate(exercise.parts):
        label = part.quantity if exercise.is_proof else b.Math(f.typeset(symbol(part.quantity)))
        rows.append(((f"({letter(place)})",), (label,), (str(part.points),)))
    rows.append(((), (b.Strong(say.text("total")),), (b.Strong(str(exercise.points)),)))
    yield b.Heading(say("Points"))
    yield b.Table((say("part"), say("quantity"), say("points")), tuple(rows), "llr")


def _mistake(
    fault: InjectedFault, mistakes: Sequence[FaultyEntry], first: int, say: Language
) -> b.Line:
    """``Without the division by sqrt(d_k): T[0, 0] = 2.0000, not 1.0000; then A[0, 0] ...``"""
    line: list[Any] = [*fault.said(say)]
    for place, mistake in enumerate(mistakes):
        line += ["; ", *say("then"), " "] if place else [": "]
        line += say(
            "{wrong} instead of {right}",
            wrong=b.Math(_entry(fault, mistake, first) + t.EQUALS + _figure(mistake.wrong)),
            right=b.Math(_figure(mistake.right)),
        )
    return (*line, ".")


def _entry(fault: InjectedFault, mistake: FaultyEntry, first: int) -> t.Row:
    shape = fault.nodes[mistake.part.quantity].shape
    at = ",".join(map(str, keys(shape, mistake.i, mistake.j, first)))
    return indexed(f.typeset(symbol(mistake.part.quantity)), at)


def _figure(figure: Decimal) -> t.Row:
    return t.MINUS_INFINITY if figure.is_infinite() else t.number(f"{figure:f}")


def proved(exercise: Exercise, asked: Language | None = None) -> Iterator[b.Block]:
    """The derivations that are asked for, line by line; where they are ``asked`` in a language,
    what each states, and its points."""
    from symattn.calculus import library
    from symattn.sheets.derivation import sheet, statement

    for place, part in enumerate(exercise.parts):
        derivation = library.derivation(part.quantity)
        proof = sheet(derivation)
        points = (f" ({worth(part, asked)})",) if asked else ()
        yield b.Heading((f"({letter(place)}) ", *proof.heading, *points))
        yield b.Paragraph(proof.subtitle)
        yield from map(_lower, statement(derivation) if asked else proof.blocks)
