"""A derivation as a sheet: statement, notation, proof line by line, conclusion."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from math import ceil

from symattn.calculus.derivation import PLAIN, Derivation, Line
from symattn.calculus.library import draft_of
from symattn.calculus.printing import Shapes, condition, latex, pieces, sides
from symattn.errors import Malformed
from symattn.printers import blocks as b
from symattn.printers.layout import TEXT, aligned, broken_text, width

#: What is said of a sign where it stands in a line: what to look for, the sign, what it means.
_SIGNS = (
    ("delta(", r"\delta_{ij}", "1 where i and j are the same, else 0"),
    ("step(", r"[j \le i]", "1 where the comparison holds, else 0"),
    ("sum(", r"\textstyle\sum_j", "runs over the whole range of its index"),
    ("mean(", r"\operatorname{mean}_j", "the sum over j divided by their number"),
    ("diff(", r"\partial y / \partial x", "derivative; in an array, in each of its entries"),
    ("diag(", r"\operatorname{diag}", "the matrix with these entries on its diagonal"),
    (".T", r"A^\top", "transpose; a vector is a column"),
    ("ones(", r"\mathbf{1}_{n}", "the column of n ones"),
    ("zeros(", r"\mathbf{0}_{n}", "the column of n zeros"),
    ("eye(", "I_{n}", "the unit matrix"),
    ("rowsum(", r"\operatorname{rowsum}", "the column of row sums; beside a matrix it "
     "stands in each of its columns"),
    ("softmax(", r"\operatorname{softmax}", "taken row by row"),
    ("expect(", r"\operatorname{E}[x]", "expected value"),
    ("operations(", r"\operatorname{ops}", "number of operations for all entries"),
)  # fmt: skip
#: At most so many short equations stand side by side.
_BESIDE = 4
#: Widths in mm: of both columns of a proof, and the least and the most of the lines.
_BOTH, _LEAST, _MOST = 147, 62, 94
#: Height in mm of what is said of the checks and of the headings.
_CHECKS = 40
#: Width in mm of shapes of up to three axes.
_SHAPE = 20
#: An em in mm; room in em that stays free beside a line.
_EM, _SPARE = 3.515, 2.0
_REFERENCE = re.compile(r"(?<=\bsee )[a-z]+(?:-[a-z]+)+\b")

Equation = tuple[str, str, str]


def sheet(derivation: Derivation) -> b.Sheet:
    """The sheet of a derivation, its lines and how they were checked.

    >>> from symattn.calculus.library import THEORY
    >>> sheet(THEORY["softmax-jacobian"]).name
    'softmax-jacobian'
    """
    draft = derivation.draft
    title = draft.title or derivation.name.replace("-", " ").capitalize()
    said = _prose(draft.statement, draft.shapes)
    blocks = tuple(_blocks(derivation))
    return b.Sheet(derivation.name, _prose(title, draft.shapes), said, blocks)


def statement(derivation: Derivation) -> Iterator[b.Block]:
    """What a derivation shows, and all that its formulas mean."""
    draft, shapes = derivation.draft, derivation.draft.shapes
    if draft.conclusions:
        yield from _beside([one.text for one in derivation.conclusions], shapes)
    if draft.source:
        yield b.Paragraph((b.Strong("Source: "), draft.source, "."))
    yield b.Heading(("Notation",))
    if draft.assumptions:
        yield b.Paragraph(_prose(" ".join(draft.assumptions), shapes))
    if draft.hypotheses:
        assumed = _prose(", ".join(f"`{one}`" for one in draft.hypotheses), shapes)
        yield b.Paragraph(("It is assumed that ", *assumed, "."))
    if draft.definitions:
        yield b.Paragraph(("Definitions:",))
        yield from _beside([f"{one.key} == {one.text}" for one in draft.definitions], shapes)
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
    arrays = [*draft.ground.given, *(one.array for one in draft.definitions)]
    named: dict[str, list[str]] = {}
    for array in arrays:
        shape = r" \times ".join(latex(str(axis), {}) for axis in array.axes)
        named.setdefault(shape, []).append(latex(array.name, shapes))
    left: list[tuple[b.Line, ...]] = []
    for shape, names in named.items():
        kind: b.Line = (b.Math(shape),) if shape else (_plural("number", names),)
        if shape and r"\times" not in shape:
            kind = (*kind, " entries")
        left.append((_listed(names), kind))
    lines = [one.text for one in derivation.lines if one.read]
    said = " ".join([*lines, *(one.text for one in draft.definitions)])
    right: list[tuple[b.Line, ...]] = [
        ((b.Math(sign),), _prose(words, shapes)) for word, sign, words in _SIGNS if word in said
    ]
    if any(r"\circ" in latex(one, shapes) for one in lines):
        right.append(((b.Math(r"A \circ B"),), ("the product entry by entry",)))
    rows = [(*one, *other) for one, other in zip_longest(left, right, fillvalue=((), ()))]
    if rows:
        header: tuple[b.Line, ...] = (("array",), ("shape",), ("sign",), ("meaning",))
        # Shapes of four axes take their room from the words.
        wide = ceil(max(_EM * max(map(width, named)) - _SHAPE, 0))
        yield b.Table(header, tuple(rows), f"P{{42mm}}lP{{16mm}}P{{{68 - wide}mm}}")


def _plural(word: str, things: Sequence[object]) -> str:
    return word if len(things) == 1 else f"{word}s"


def _listed(formulas: Sequence[str]) -> b.Line:
    """Formulas with commas between them."""
    found: list[str | b.Math | b.Code | b.Strong] = []
    for one in formulas:
        found += [", ", b.Math(one)] if found else [b.Math(one)]
    return tuple(found)


# -- equations -----------------------------------------------------------------


def _beside(lines: Sequence[str], shapes: Shapes) -> Iterator[b.Equations]:
    """Equations in their order, short ones side by side as many as fit."""
    rows = [_rows(line, shapes, TEXT) for line in lines]
    short = [one[0] for one in rows if len(one) == 1]
    columns = next((k for k in range(_BESIDE, 1, -1) if _together(short, k) <= TEXT + 1), 1)
    run: list[Equation] = []
    for one in [*rows, ()]:
        if len(one) == 1 and columns > 1:
            run += one
            continue
        if run:
            yield b.Equations(tuple(run), columns)
            run = []
        if one:
            yield b.Equations(tuple(one))


def _together(equations: Sequence[Equation], columns: int) -> float:
    """How wide equations get in so many columns, in em."""
    return (
        sum(
            sum(
                max(map(width, one), default=0.0)
                for one in zip(*equations[k::columns], strict=True)
            )
            for k in range(columns)
        )
        + 1.4 * columns
        + (columns - 1)
    )


def _rows(line: str, shapes: Shapes, room: float) -> list[Equation]:
    """A line on as many rows as it needs; the left side has rows of its own if it is long."""
    if "==" not in line:
        return [("", "", latex(line, shapes))]
    left, *others = sides(line, shapes)
    found: list[Equation] = []
    for right in others:
        beside = broken_text(right, room - width(left) - 2)
        below = broken_text(right, room - 4)
        own = broken_text(left, room) if left else []
        fits = all(width(left) + 2 + width(one) <= room for one in beside)
        shorter = len(beside) > 1 and len(own) + len(below) <= len(beside)
        if width(left) > room / 3 and (shorter or not fits):
            found += [("", "", piece) for piece in own]
            left, beside = "", below
        found.append((left, "=", beside[0]))
        found += [("", "", piece) for piece in beside[1:]]
        left = ""
    return found


def _cell(line: Line, shapes: Shapes, room: float) -> b.Line:
    """A line as it stands in a row of a proof, as text where it could not be read."""
    if not line.read:
        return (b.Code(line.text),)
    rows = _rows(line.text, shapes, room)
    if len(rows) == 1:
        return (b.Math(rf"\displaystyle {' '.join(filter(None, rows[0]))}"),)
    shown = []
    own = not rows[0][1]
    for place, (left, relation, right) in enumerate(rows):
        if own:
            # Below a long left side everything is set in.
            indent = (r"\quad " if relation else r"\qquad ") if place else ""
            # In braces an operator at the start has no space before it.
            shown.append(f"&{indent}{relation} {right}" if place else f"&{{{right}}}")
        else:
            shown.append(f"{left} &{relation} {right}" if relation else rf"&\quad {right}")
    return (b.Math(rf"\displaystyle {aligned(shown)}"),)


# -- the proof -----------------------------------------------------------------


def _proof(derivation: Derivation) -> b.Table:
    shapes = derivation.draft.shapes
    needed = max(
        (width(left) + width(right) + 2
         for one in derivation.lines if one.read
         for left, _, right in _rows(one.text, shapes, _MOST / _EM - _SPARE)), default=0.0
    )  # fmt: skip
    column = round(min(max(_EM * (needed + _SPARE) + 0.5, _LEAST), _MOST))
    rows: list[tuple[b.Line, ...]] = []
    for part in derivation.parts:
        if part:
            rows.append((_prose(part, shapes),))
        for one in derivation.lines:
            if one.said.part == part:
                shown = _cell(one, shapes, column / _EM - _SPARE)
                number = b.Target(str(one.number), _place(one.number))
                rows.append(((number,), shown, _reason(one, derivation)))
    align = f"rP{{{column}mm}}P{{{_BOTH - column}mm}}"
    return b.Table(((), ("line",), ("because",)), tuple(rows), align)


def _height(proof: b.Table) -> float:
    """About how high a proof is, in mm."""
    *_, column = re.findall(r"P\{(\d+)mm\}", proof.align)
    total = 0.0
    for row in proof.rows:
        words = "".join("x" * round(2 * width(one.latex)) if isinstance(one, b.Math) else
                        one if isinstance(one, str) else one.text for one in row[-1])  # fmt: skip
        reason = 4.3 * (1 + len(words) // (0.5 * int(column)))
        shown = "".join(one.latex for one in row[min(1, len(row) - 1)] if isinstance(one, b.Math))
        tall = any(one in shown for one in (r"\frac", r"\sum", r"\lim"))
        total += max(reason, (9.0 if tall else 5.0) * (1 + shown.count(r"\\"))) + 2.3
    return total


def _reason(line: Line, derivation: Derivation) -> b.Line:
    """The reason, what it uses, under which conditions; what is wrong, if anything is."""
    shapes = derivation.draft.shapes
    reason: b.Line = (*_prose(line.said.because, shapes), *_links(line, derivation))
    alone = [one for one in line.where if len(_holding(one, derivation)) == 1]
    if alone:
        reason = (*reason, " Where ", *_conditions(alone, shapes), ".")
    if line.proved:
        return reason
    reason = (*reason, " ", b.Strong(line.status.capitalize() + "."))
    if found := line.counterexample:
        at = {**found.sizes, **found.indices, **found.values}
        for place, (name, value) in enumerate(at.items()):
            shown = b.Math(f"{latex(name, shapes)} = {value}")
            reason = (*reason, ", " if place else " At ", shown)
        left, right = b.Math(found.left), b.Math(found.right)
        reason = (*reason, ": " if at else " ", left, " is not ", right, ".")
    else:
        reason = (*reason, *_sentence(line.why, shapes))
    return (*reason, *_sentence(line.hint, shapes))


def _sentence(words: str, shapes: Shapes) -> b.Line:
    """What a message says; a line at its end as mathematics."""
    if not words:
        return ()
    said, _, line = words.partition(": ")
    opened = f" {words[0].upper()}{said[1:]}"
    if "==" in line:
        with suppress(Malformed):
            return (f"{opened}: ", b.Math(latex(line, shapes)), ".")
    return (f" {words[0].upper()}{words[1:]}.",)


def _links(line: Line, derivation: Derivation) -> b.Line:
    """The definitions, assumptions, lines and derivations that a line names as its reasons."""
    shapes = derivation.draft.shapes
    named = [one for one in line.said.by or () if one != PLAIN]
    numbers = [int(one) for one in named if re.fullmatch("[0-9]{1,9}", one)]
    assumed = [latex(one, shapes) for one in named if one in derivation.draft.hypotheses]
    keys = [one.array.name for one in derivation.draft.definitions]
    defined = [latex(one, shapes) for one in named if one in keys]
    others = [one for one in named if draft_of(one) and one not in line.said.because]
    parts: list[b.Line] = []
    if defined:
        parts.append((_plural("definition", defined), " of ", *_listed(defined)))
    if assumed:
        parts.append((_plural("assumption", assumed), " ", *_listed(assumed)))
    if numbers:
        parts.append((_plural("line", numbers), " ", *_ranges(sorted(numbers))))
    parts += [_prose(one, shapes) for one in others]
    found: b.Line = ()
    for part in parts:
        found = (*found, "; " if found else " (", *part)
    return (*found, ")") if found else ()


def _holding(where: str, derivation: Derivation) -> list[int]:
    """The numbers of the lines that have a condition."""
    return [one.number for one in derivation.lines if where in one.where]


def _conditions(where: Sequence[str], shapes: Shapes) -> b.Line:
    found: b.Line = ()
    for one in where:
        shown: b.Math | b.Code
        try:
            shown = b.Math(condition(one, shapes))
        except Malformed:
            shown = b.Code(one)
        found = (*found, ", ", shown) if found else (shown,)
    return found


def _checks(derivation: Derivation) -> Iterator[b.Block]:
    shapes = derivation.draft.shapes
    shared = dict.fromkeys(where for line in derivation.lines for where in line.where)
    for where in shared:
        numbers = _holding(where, derivation)
        if len(numbers) > 1:
            shown = _conditions([where], shapes)
            yield b.Paragraph(("Lines ", *_ranges(numbers), " hold where ", *shown, "."))
    tried = dict.fromkeys(
        ", ".join(f"{name} = {size}" for name, size in one.items())
        for line in derivation.lines
        for one in line.sizes
        if one
    )
    sizes = "; ".join(list(tried)[:2])
    at = _prose(f" and sizes, such as {sizes}", shapes) if sizes else ()
    yield b.Paragraph(
        (
            b.Strong("How it was checked. "),
            b.Code(f"symattn derive {derivation.file or derivation.name}"),
            f" finds {derivation.summary()}. "
            "A line is proved when two witnesses agree that share no code: a normal form for all "
            "sizes, with SymPy's derivatives, and balls at random numbers",
            *at,
            ", which find no difference.",
        )
    )


def _place(number: int) -> str:
    """What links call a line."""
    return f"line-{number}"


def _ranges(numbers: list[int]) -> b.Line:
    """Numbers of lines in order as links, three or more neighbours as a range:
    ``1, 3 to 6 and 8``."""
    runs: list[list[int]] = []
    for one in numbers:
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    found: list[b.Line] = []
    for run in runs:
        first, *rest = (b.Link(str(one), _place(one)) for one in run)
        found += [(first, " to ", rest[-1])] if len(run) > 2 else [(first,), *((x,) for x in rest)]
    joined: b.Line = found[0]
    for place, piece in enumerate(found[1:], 2):
        joined = (*joined, " and " if place == len(found) else ", ", *piece)
    return joined


def _prose(words: str, shapes: Shapes) -> b.Line:
    """Words with the formulas in them as mathematics, derivations by their titles."""
    named = _REFERENCE.sub(_title, words)
    return tuple(b.Math(formula) if formula else plain for plain, formula in pieces(named, shapes))


def _title(found: re.Match[str]) -> str:
    other = draft_of(found[0])
    return f"“{other.title}”" if other else found[0]
