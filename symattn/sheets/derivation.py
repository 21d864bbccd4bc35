"""A derivation as a sheet: statement, notation, proof line by line, conclusion."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, groupby, zip_longest
from math import ceil

from symattn.calculus.derivation import Derivation
from symattn.calculus.judged_lines import JudgedLine
from symattn.calculus.judging import PLAIN
from symattn.calculus.library import draft_of
from symattn.calculus.printing import Shapes, condition, pieces, sides, typeset
from symattn.calculus.writing import SideCondition
from symattn.errors import Malformed
from symattn.expressions import typesetting as t
from symattn.languages.language import ENGLISH
from symattn.printers import blocks as b
from symattn.printers.layout import EM, TEXT, aligned, broken_row, width
from symattn.seal.seals import Seal
from symattn.sheets.checks import sealed
from symattn.spelling import whole

#: How many axes the arrays have in what is said of signs.
_EXAMPLES: Shapes = {"A": 2}
_BY_J = t.letters("j")
_SUM = t.row(t.Styled(False, t.row(t.Indexed(t.Limits("∑"), _BY_J, t.Row()))))
_MEAN = t.index(t.row(t.UprightName("mean", True)), _BY_J)
_DERIVATIVE = t.row(t.PARTIAL, t.letters("y/"), t.PARTIAL, t.letters("x"))
#: What is said of a sign where it stands in a line: what to look for, the sign itself or a
#: line with it, what it means.
_SIGNS: tuple[tuple[str, str | t.Row, str], ...] = (
    ("delta(", "delta(i, j)", "1 where i and j are the same, else 0"),
    ("step(", "step(j <= i)", "1 where the comparison holds, else 0"),
    ("sum(", _SUM, "runs over the whole range of its index"),
    ("mean(", _MEAN, "the sum over j divided by their number"),
    ("diff(", _DERIVATIVE, "derivative; in an array, in each of its entries"),
    ("diag(", t.row(t.UprightName("diag", True)), "the matrix with these entries on its diagonal"),
    (".T", "A.T", "transpose; a vector is a column"),
    ("ones(", "ones(n)", "the column of n ones"),
    ("zeros(", "zeros(n)", "the column of n zeros"),
    ("eye(", "eye(n)", "the unit matrix"),
    ("rowsum(", t.row(t.UprightName("rowsum", True)), "the column of row sums; beside a matrix it "
     "stands in each of its columns"),
    ("softmax(", t.row(t.UprightName("softmax", True)), "taken row by row"),
    ("expect(", "expect(x)", "expected value"),
    ("operations(", t.row(t.UprightName("ops", True)), "number of operations for all entries"),
)  # fmt: skip
#: At most so many short equations stand side by side.
_BESIDE = 4
#: Widths in mm: of both columns of a proof, and the least and the most of the lines.
_BOTH, _LEAST, _MOST = 147, 62, 94
#: Height in mm of what is said of the checks and of the headings.
_CHECKS = 40
#: Width in mm of shapes of up to three axes.
_SHAPE = 20
#: Room in em that stays free beside a line.
_SPARE = 2.0
_REFERENCE = re.compile(r"(?<=\bsee )[a-z]+(?:-[a-z]+)+\b")


def sheet(derivation: Derivation, seal: Seal | None = None) -> b.Sheet:
    """The sheet of a derivation, its lines and how they were checked, and sealed.

    >>> from symattn.calculus.library import THEORY
    >>> sheet(THEORY["softmax-jacobian"]).name
    'softmax-jacobian'
    """
    draft = derivation.draft
    title = draft.title or derivation.name.replace("-", " ").capitalize()
    subtitle = _prose(draft.statement, draft.shapes)
    blocks = tuple(_blocks(derivation))
    if seal:
        blocks = (*blocks, sealed(seal, ENGLISH))
    return b.Sheet(derivation.name, _prose(title, draft.shapes), subtitle, blocks)


def statement(derivation: Derivation) -> Iterator[b.Block]:
    """Yield what a derivation shows, and all that its formulas mean."""
    draft, shapes = derivation.draft, derivation.draft.shapes
    if draft.conclusions:
        yield from _side_by_side([item.text for item in derivation.conclusions], shapes)
    if draft.source:
        yield b.Paragraph((b.Strong("Source: "), draft.source, "."))
    yield b.Heading(("Notation",))
    if draft.assumptions:
        yield b.Paragraph(_prose(" ".join(draft.assumptions), shapes))
    if draft.hypotheses:
        assumed = _prose(", ".join(f"`{item}`" for item in draft.hypotheses), shapes)
        yield b.Paragraph(("It is assumed that ", *assumed, "."))
    if draft.definitions:
        yield b.Paragraph(("Definitions:",))
        yield from _side_by_side([item.line for item in draft.definitions], shapes)
    if derivation.along:
        yield b.Paragraph(_prose(f"Read with {'; '.join(derivation.along)}.", shapes))
    yield from _signs(derivation)


def _blocks(derivation: Derivation) -> Iterator[b.Block]:
    yield from statement(derivation)
    proof = _proof(derivation)
    yield b.Heading(("Proof",), room=_height(proof) + _CHECKS)
    yield proof
    yield from _checks(derivation)


def _signs(derivation: Derivation) -> Iterator[b.Block]:
    """The shapes of all arrays beside what the signs mean."""
    draft, shapes = derivation.draft, derivation.draft.shapes
    arrays = [*draft.ground.given, *(item.array for item in draft.definitions)]
    named: dict[t.Row, list[t.Row]] = {}
    for array in arrays:
        shape = t.joined((typeset(str(axis), {}) for axis in array.axes), t.TIMES)
        named.setdefault(shape, []).append(typeset(array.name, shapes))
    left: list[tuple[b.Line, ...]] = []
    for shape, names in named.items():
        kind: b.Line = (b.Math(shape),) if shape else (_plural("number", names),)
        if shape and not t.has(shape, *t.TIMES.nodes):
            kind = (*kind, " entries")
        left.append((b.joined(map(b.Math, names)), kind))
    lines = [item.text for item in derivation.lines if item.read]
    text = " ".join([*lines, *(item.text for item in draft.definitions)])
    right: list[tuple[b.Line, ...]] = [
        (
            (b.Math(sign if isinstance(sign, t.Row) else typeset(sign, _EXAMPLES)),),
            _prose(words, shapes),
        )
        for word, sign, words in _SIGNS
        if word in text
    ]
    entrywise = t.sign("∘")
    if any(t.has(typeset(item, shapes), *entrywise.nodes) for item in lines):
        product = t.letters("A") + entrywise + t.letters("B")
        right.append(((b.Math(product),), ("the product entry by entry",)))
    rows = [(*item, *other) for item, other in zip_longest(left, right, fillvalue=((), ()))]
    if rows:
        header: tuple[b.Line, ...] = (("array",), ("shape",), ("sign",), ("meaning",))
        # Shapes of four axes take their room from the words.
        wide = ceil(max(EM * max(map(width, named)) - _SHAPE, 0))
        yield b.Table(header, tuple(rows), f"P{{42mm}}lP{{16mm}}P{{{68 - wide}mm}}")


def _plural(word: str, things: Sequence[object]) -> str:
    return word if len(things) == 1 else f"{word}s"


# -- equations -----------------------------------------------------------------


def _side_by_side(lines: Sequence[str], shapes: Shapes) -> Iterator[b.Equations]:
    """b.Equations in their order, short ones side by side as many as fit."""
    rows = [_rows(line, shapes, TEXT) for line in lines]
    short = [row[0] for row in rows if len(row) == 1]
    columns = next((k for k in range(_BESIDE, 1, -1) if _together(short, k) <= TEXT + 1), 1)
    for is_short, run in groupby(rows, lambda row: len(row) == 1 and columns > 1):
        if is_short:
            yield b.Equations(tuple(chain(*run)), columns)
        else:
            yield from (b.Equations(tuple(row)) for row in run)


def _together(equations: Sequence[b.Equation], columns: int) -> float:
    """Return how wide equations get in so many columns, in em."""
    sides = (side for k in range(columns) for side in zip(*equations[k::columns], strict=True))
    return sum(max(map(width, side)) for side in sides) + 2.4 * columns - 1


def _rows(line: str, shapes: Shapes, room: float) -> list[b.Equation]:
    """A line on as many rows as it needs; the left side has rows of its own if it is long."""
    if "==" not in line:
        return [(t.Row(), t.Row(), typeset(line, shapes))]
    left, *others = sides(line, shapes)
    rows: list[b.Equation] = []
    for right in others:
        beside = broken_row(right, room - width(left) - 2)
        below = broken_row(right, room - 4)
        own = broken_row(left, room) if left else []
        fits = all(width(left) + 2 + width(part) <= room for part in beside)
        shorter = len(beside) > 1 and len(own) + len(below) <= len(beside)
        if width(left) > room / 3 and (shorter or not fits):
            rows += [(t.Row(), t.Row(), piece) for piece in own]
            left, beside = t.Row(), below
        rows.append((left, t.EQUALS, beside[0]))
        rows += [(t.Row(), t.Row(), piece) for piece in beside[1:]]
        left = t.Row()
    return rows


def _cell(line: JudgedLine, shapes: Shapes, room: float) -> b.Line:
    """A line as it stands in a row of a proof, as text where it could not be read."""
    if not line.read:
        return (b.Code(line.text),)
    rows = _rows(line.text, shapes, room)
    if len(rows) == 1:
        return (_displayed(t.row(*rows[0])),)
    lines = []
    own = not rows[0][1]
    for place, (left, relation, right) in enumerate(rows):
        if own:
            # Below a long left side everything is set in.
            indent = t.row(t.Space(18 if relation else 36))
            # As a group an operator at the start has no space before it.
            after = indent + relation + right if place else t.row(t.Group(right))
            lines.append((t.Row(), after))
        else:
            lines.append((left, relation + right if relation else t.QUAD + right))
    return (_displayed(aligned(lines)),)


def _displayed(formula: t.Row) -> b.Math:
    return b.Math(t.row(t.Styled(True, formula)))


# -- the proof -----------------------------------------------------------------


def _proof(derivation: Derivation) -> b.Table:
    shapes = derivation.draft.shapes
    needed = max(
        (width(left) + width(right) + 2
         for line in derivation.lines if line.read
         for left, _, right in _rows(line.text, shapes, _MOST / EM - _SPARE)), default=0.0
    )  # fmt: skip
    column = round(min(max(EM * (needed + _SPARE) + 0.5, _LEAST), _MOST))
    rows: list[tuple[b.Line, ...]] = []
    for part in derivation.parts:
        if part:
            rows.append((_prose(part, shapes),))
        for line in derivation.lines:
            if line.said.part == part:
                cell = _cell(line, shapes, column / EM - _SPARE)
                number = b.Target(str(line.number), _place(line.number))
                rows.append(((number,), cell, _reason(line, derivation)))
    align = f"rP{{{column}mm}}P{{{_BOTH - column}mm}}"
    return b.Table(((), ("line",), ("because",)), tuple(rows), align)


def _height(proof: b.Table) -> float:
    """About how high a proof is, in mm."""
    *_, column = re.findall(r"P\{(\d+)mm\}", proof.align)
    total = 0.0
    for row in proof.rows:
        # A letter is about half an em wide.
        formulas = (round(2 * width(x.formula)) for x in row[-1] if isinstance(x, b.Math))
        letters = len(b.words(row[-1])) + sum(formulas)
        reason = 4.3 * (1 + letters // (0.5 * int(column)))
        cell = row[min(1, len(row) - 1)]
        tall = t.has(cell, t.Fraction, t.Limits("∑"), t.Limits("lim"))
        more = sum(len(x.rows) - 1 for x in t.nodes(cell) if isinstance(x, t.CellGrid))
        total += max(reason, (9.0 if tall else 5.0) * (1 + more)) + 2.3
    return total


def _reason(line: JudgedLine, derivation: Derivation) -> b.Line:
    """The reason, what it uses, under which conditions; what is wrong, if anything is."""
    shapes = derivation.draft.shapes
    reason: b.Line = (*_prose(line.said.because, shapes), *_links(line, derivation))
    alone = [condition for condition in line.where if len(_holding(condition, derivation)) == 1]
    if alone:
        reason = (*reason, " Where ", *_conditions(alone, shapes), ".")
    if line.proved:
        return reason
    reason = (*reason, " ", b.Strong(line.status.capitalize() + "."))
    if counterexample := line.counterexample:
        at = {**counterexample.sizes, **counterexample.indices, **counterexample.values}
        equal = [typeset(name, shapes) + t.EQUALS + _value(value) for name, value in at.items()]
        reason = (*reason, *((" At ", *b.joined(map(b.Math, equal))) if at else ()))
        left, right = (b.Math(_value(x)) for x in (counterexample.left, counterexample.right))
        reason = (*reason, ": " if at else " ", left, " is not ", right, ".")
    reason = (*reason, *_sentence(line.why, shapes))
    return (*reason, *_sentence(line.hint, shapes))


def _sentence(words: str, shapes: Shapes) -> b.Line:
    """Return what a message says; a line at its end as mathematics."""
    if not words:
        return ()
    message, _, line = words.partition(": ")
    opened = f" {words[0].upper()}{message[1:]}"
    if "==" in line:
        with suppress(Malformed):
            return (f"{opened}: ", b.Math(typeset(line, shapes)), ".")
    return (f" {words[0].upper()}{words[1:]}.",)


def _links(line: JudgedLine, derivation: Derivation) -> b.Line:
    """The definitions, assumptions, lines and derivations that a line names as its reasons."""
    shapes = derivation.draft.shapes
    named = [reason for reason in line.said.by or () if reason != PLAIN]
    numbers = [number for reason in named if (number := whole(reason)) is not None]
    assumed = [typeset(reason, shapes) for reason in named if reason in derivation.draft.hypotheses]
    keys = [reason.array.name for reason in derivation.draft.definitions]
    defined = [typeset(reason, shapes) for reason in named if reason in keys]
    others = [reason for reason in named if draft_of(reason) and reason not in line.said.because]
    parts: list[b.Line] = []
    if defined:
        parts.append((_plural("definition", defined), " of ", *b.joined(map(b.Math, defined))))
    if assumed:
        parts.append((_plural("assumption", assumed), " ", *b.joined(map(b.Math, assumed))))
    if numbers:
        parts.append((_plural("line", numbers), " ", *_ranges(sorted(numbers))))
    parts += [_prose(reason, shapes) for reason in others]
    return (" (", *b.joined(parts, "; "), ")") if parts else ()


def _holding(where: str, derivation: Derivation) -> list[int]:
    """The numbers of the lines that have a condition."""
    return [line.number for line in derivation.lines if where in line.where]


def _conditions(where: Iterable[SideCondition], shapes: Shapes) -> b.Line:
    return b.joined(b.Math(condition(each, shapes)) for each in where)


def _checks(derivation: Derivation) -> Iterator[b.Block]:
    shapes = derivation.draft.shapes
    shared: dict[tuple[int, ...], list[SideCondition]] = {}
    for where in dict.fromkeys(where for line in derivation.lines for where in line.where):
        shared.setdefault(tuple(_holding(where, derivation)), []).append(where)
    for numbers, conditions in shared.items():
        if len(numbers) > 1:
            held = _conditions(conditions, shapes)
            yield b.Paragraph(("Lines ", *_ranges([*numbers]), " hold where ", *held, "."))
    tried = dict.fromkeys(
        ", ".join(f"{name} = {size}" for name, size in trial.items())
        for line in derivation.lines
        for trial in line.sizes
        if trial
    )
    at = _prose(f" and sizes, such as {next(iter(tried))},", shapes) if tried else ()
    yield b.Paragraph(
        (
            b.Strong("How it was checked. "),
            b.Code(f"symattn derive {derivation.file or derivation.name}"),
            f" finds {derivation.summary()}. A line is proved when a small kernel follows its "
            "proof for all sizes, and balls at random numbers",
            *at,
            " find no difference.",
        )
    )


def _value(value: object) -> t.Row:
    """A number of a counterexample."""
    return t.letters(str(value).replace(" ", ""))


def _place(number: int) -> str:
    """Return what links call a line."""
    return f"line-{number}"


def _ranges(numbers: list[int]) -> b.Line:
    """Numbers of lines in order as links, three or more neighbours as a range:
    ``1, 3 to 6 and 8``."""
    groups: list[b.Line] = []
    # Of neighbours each is as far from its place as the others.
    for _, run in groupby(enumerate(numbers), lambda item: item[1] - item[0]):
        first, *rest = (b.Link(str(number), _place(number)) for _, number in run)
        groups += [(first, " to ", rest[-1])] if len(rest) > 1 else [(x,) for x in (first, *rest)]
    *before, last = groups
    return (*b.joined(before), *([" and "] if before else []), *last)


def _prose(words: str, shapes: Shapes) -> b.Line:
    """Words with the formulas in them as mathematics, derivations by their titles."""
    named = _REFERENCE.sub(_title, words)
    return tuple(x if isinstance(x, str) else b.Math(x) for x in pieces(named, shapes) if x)


def _title(match: re.Match[str]) -> str:
    other = draft_of(match[0])
    return f"“{other.title}”" if other else match[0]
