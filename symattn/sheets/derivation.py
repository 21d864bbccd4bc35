"""A derivation as a sheet: statement, notation, proof line by line, conclusion."""

from __future__ import annotations

from collections.abc import Iterator

from symattn.calculus.derivation import PLAIN, Derivation, Line
from symattn.calculus.printing import latex, pieces, sides
from symattn.sheets import blocks as b
from symattn.sheets.layout import TEXT, broken_text, width

#: What is said of a sign where it stands in a line: what to look for, the sign, what it means.
_SIGNS = (
    ("delta(", r"\delta_{ij}", "is 1 where i and j are the same, else 0."),
    ("step(", r"[j \le i]", "is 1 where the comparison holds, else 0."),
    ("sum(", r"\sum_{j}", "runs over the whole range of its index."),
    ("mean(", r"\operatorname*{mean}_{j}", "is the sum over j divided by their number."),
    ("diff(", r"\partial A / \partial S_{ij}", "is the derivative in one entry."),
    (".T", r"A^\top", "is the transpose; a vector is a column."),
    ("ones(", r"\mathbf{1}_{n}", "is the column of n ones."),
    ("eye(", "I_{n}", "is the unit matrix."),
    ("rowsum(", r"\operatorname{rowsum}", "is the column of the sums of the rows."),
    ("softmax(", r"\operatorname{softmax}", "is taken row by row."),
    ("expect(", r"\operatorname{E}[\,]", "is the expected value."),
    ("operations(", r"\operatorname{ops}", "counts the operations that all entries take."),
)
#: So many short definitions stand side by side.
_BESIDE = 5
#: Room above and below what stands in a row.
_AIR = r"\vphantom{\biggl(}"


def sheet(derivation: Derivation) -> b.Sheet:
    """The sheet of a derivation, its lines and how they were checked.

    >>> from symattn.calculus.library import THEORY
    >>> sheet(THEORY["softmax-jacobian"]).name
    'softmax-jacobian'
    """
    draft = derivation.draft
    title = draft.title or derivation.name.replace("-", " ").capitalize()
    statement = _prose(draft.statement, derivation)
    return b.Sheet(derivation.name, title, statement, tuple(_blocks(derivation)))


def _blocks(derivation: Derivation) -> Iterator[b.Block]:
    draft, shapes = derivation.draft, derivation.draft.shapes
    if draft.conclusions:
        yield b.Equations(_rows([one.text for one in derivation.conclusions], shapes))
    yield b.Heading(("Notation",))
    for assumption in draft.assumptions:
        yield b.Paragraph(_prose(assumption, derivation))
    yield from _given(derivation)
    if draft.hypotheses:
        yield b.Paragraph(("It is assumed that",))
        yield b.Equations(_rows(draft.hypotheses, shapes))
    if draft.definitions:
        named = [f"{one.key} == {one.text}" for one in draft.definitions]
        yield b.Equations(_packed(named, shapes))
    yield b.Heading(("Proof",))
    rows: list[tuple[b.Line, ...]] = []
    for part in derivation.parts:
        if part:
            title = _prose(part, derivation)
            strong = tuple(b.Strong(one) if isinstance(one, str) else one for one in title)
            rows.append(((), (b.Math(_AIR), *strong), ()))
        rows += [_row(one, derivation) for one in derivation.lines if one.said.part == part]
    yield b.Table(((), ("line",), ("because",)), tuple(rows), "rP{94mm}P{52mm}")
    yield from _checks(derivation)


def _given(derivation: Derivation) -> Iterator[b.Block]:
    """What is given with its shape, and what the signs mean."""
    draft, shapes = derivation.draft, derivation.draft.shapes
    rows: list[tuple[b.Line, ...]] = []
    for array in draft.ground.given:
        shape = r" \times ".join(latex(str(axis), {}) for axis in array.axes)
        kind = ("a number", "a vector", "a matrix", "an array")[min(len(array.axes), 3)]
        meaning: b.Line = (kind, *((": ", b.Math(shape)) if shape else ()))
        rows.append(((b.Math(latex(array.name, shapes)),), meaning))
    lines = [one.text for one in derivation.lines if one.read]
    said = " ".join([*lines, *(one.text for one in draft.definitions)])
    rows += [((b.Math(sign),), (words,)) for word, sign, words in _SIGNS if word in said]
    if any(r"\circ" in latex(one, draft.shapes) for one in lines):
        rows.append(((b.Math(r"\circ"),), ("multiplies matrices entry by entry.",)))
    if rows:
        yield b.Table((("sign",), ("meaning",)), tuple(rows), "lP{110mm}")


def _rows(
    lines: list[str] | tuple[str, ...], shapes: dict[str, int]
) -> tuple[tuple[str, str, str], ...]:
    """Lines under one another, each on as many rows as it needs."""
    found: list[tuple[str, str, str]] = []
    for line in lines:
        if "==" not in line:
            found.append(("", "", latex(line, shapes)))
            continue
        left, *others = sides(line, shapes)
        for right in others:
            if width(left) > TEXT / 2:
                # A long left side gets rows of its own, the right side the last one.
                *above, last = broken_text(left, TEXT - 4)
                found += [("", "", piece) for piece in (*above, last)]
                found.append(("", "=", right))
            else:
                first, *rest = broken_text(right, TEXT - width(left) - 4)
                found.append((left, "=", first))
                found += [("", "", piece) for piece in rest]
            left = ""
    return tuple(found)


def _packed(lines: list[str], shapes: dict[str, int]) -> tuple[tuple[str, str, str], ...]:
    """Definitions under one another, those of gradients side by side."""
    found: list[tuple[str, str, str]] = []
    beside: list[str] = []
    for line in [*lines, ""]:
        if "diff(" in line and width(shown := latex(line, shapes)) < TEXT / 6:
            beside.append(shown)
            if len(beside) < _BESIDE:
                continue
            line = ""
        if beside:
            found.append(("", "", r" \qquad ".join(beside)))
            beside = []
        found += _rows([line], shapes) if line else ()
    return tuple(found)


def _row(line: Line, derivation: Derivation) -> tuple[b.Line, ...]:
    shown = latex(line.text, derivation.draft.shapes) if line.read else rf"\text{{{line.number}}}"
    reason: b.Line = (*_prose(line.said.because, derivation), *_links(line, derivation))
    if line.where:
        reason = (*reason, " Where ", ", ".join(line.where), ".")
    if not line.proved:
        reason = (*reason, " ", b.Strong(line.status.upper()))
    return (str(line.number),), (b.Math(rf"\displaystyle {_AIR} {shown}"),), reason


def _links(line: Line, derivation: Derivation) -> b.Line:
    """The definitions, lines and derivations that a line names as its reasons."""
    named = [one for one in line.said.by or () if one != PLAIN]
    shapes = derivation.draft.shapes
    found: list[str | b.Math | b.Code | b.Strong] = []
    for one in named:
        found.append(", " if found else " (")
        plain = one.isdigit() or ("-" in one and "=" not in one)
        found.append(one if plain else b.Math(latex(one, shapes)))
    return (*found, ")") if found else ()


def _checks(derivation: Derivation) -> Iterator[b.Block]:
    draft = derivation.draft
    yield b.Heading(("How it was checked",))
    if draft.source:
        yield b.Paragraph((b.Strong("Source: "), *_prose(draft.source, derivation), "."))
    tried = dict.fromkeys(
        ", ".join(f"{name} = {size}" for name, size in one.items())
        for line in derivation.lines
        for one in line.sizes
        if one
    )
    sizes = "; ".join(list(tried)[:4])
    yield b.Paragraph(
        (
            f"{derivation.summary()}. ",
            "A line is proved when two witnesses agree that share no code: its sides have the "
            "same normal form for all sizes, with SymPy's derivatives, and its meaning was "
            "evaluated in balls at random numbers and sizes, such as ",
            *_prose(sizes or "none", derivation),
            ", where no difference was found.",
        )
    )
    yield b.Listing((f"symattn derive {derivation.name}",))


def _prose(words: str, derivation: Derivation) -> b.Line:
    """Words with the formulas in them as mathematics."""
    shapes = derivation.draft.shapes
    return tuple(b.Math(formula) if formula else plain for plain, formula in pieces(words, shapes))
