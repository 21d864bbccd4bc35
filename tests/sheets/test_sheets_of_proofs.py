"""The sheet of a derivation has every line of it, in order, with its reason."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import pytest

from symattn.proofs import THEORY
from symattn.proofs.derivation import HOW, Equation, Step
from symattn.proofs.language import Add
from symattn.proofs.printing import latex, pieces
from symattn.sheets import blocks as b
from symattn.sheets import derivation
from symattn.sheets.layout import TEXT, width

from .pages import of, plain

NAMES = sorted(THEORY)


def words(text: str) -> str:
    """Prose with its names as mathematics."""
    return "".join(name or word for word, name in pieces(text))


def left_of(step: Step) -> str:
    return r"\qquad" if step.continues else latex(step.lhs)


def equations(block: b.Equations) -> list[str]:
    """The equations of a display, each on one line."""
    found: list[str] = []
    pending = ""
    for left, relation, right in block.lines:
        if left:
            found.append(f"{left} {relation} {right}")
        elif relation:
            found.append(f"{pending} {relation} {right}")
            pending = ""
        elif found and not pending and not starts(block, right):
            found[-1] += f" {right}"
        else:
            pending = f"{pending} {right}".strip()
    return found


def starts(block: b.Equations, right: str) -> bool:
    """Whether a line without left and relation begins an equation: no line above does."""
    lines = block.lines
    place = next(k for k, line in enumerate(lines) if line == ("", "", right))
    return all(line[:2] == ("", "") for line in lines[:place])


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_there(name: str) -> None:
    """Number, equation and reason of each step; a step that goes on has no left side of its own,
    one that only examples support says so."""
    made, theory = derivation.sheet(THEORY[name]), THEORY[name]
    tables = of(made, b.Table)
    assert len(tables) == len(theory.parts)
    rows = [tuple(map(plain, row)) for table in tables for row in table.rows]
    expected = [
        (
            str(step.number),
            rf"\displaystyle {left_of(step)} = {latex(step.rhs)}",
            words(step.rule) + ("" if step.how == "symbolic" else f" ({HOW[step.how]})"),
        )
        for part in theory.parts
        for step in theory.steps
        if step.part == part
    ]
    assert rows == expected
    assert len(rows) == len(theory.steps)
    for table in tables:
        assert [plain(cell) for cell in table.header] == ["", "line", "because"]


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_around_the_proof(name: str) -> None:
    """Title, statement, assumptions, source, parts and how it was checked."""
    made, theory = derivation.sheet(THEORY[name]), THEORY[name]
    assert (made.name, made.title) == (name, name.replace("-", " ").title())
    assert plain(made.subtitle) == words(theory.statement)
    headings = [plain(block.text) for block in of(made, b.Heading)]
    parts = [words(part) if part else "Proof" for part in theory.parts]
    assert headings == ["Given", *parts, "Conclusion", "How it was checked"]
    texts = [plain(block.text) for block in of(made, b.Paragraph)]
    assert texts[:-1] == [
        *map(words, theory.assumptions),
        f"Source: {words(theory.source)}.",
    ]
    sizes = "; ".join(
        ", ".join(f"{size} = {count}" for size, count in dict(held).items())
        for held in theory.sizes
    )
    report = theory.check()
    agreed = ", ".join(label for label, verdict in report.numeric if str(verdict) == "holds")
    assert texts[-1] == (
        f"Lines confirmed: {theory.summary()}. Every line also holds exactly at the sizes {sizes}. "
        f"NumPy, at random points and with derivatives by complex steps, agrees on: {agreed}."
    )
    assert of(made, b.Listing) == [b.Listing((f"symattn derive {name}",))]


@pytest.mark.parametrize("name", NAMES)
def test_definitions_and_results(name: str) -> None:
    """Definitions stand with their part, results at the end, by index and in matrices; what is
    wide is on several lines, each of which fits."""
    made, theory = derivation.sheet(THEORY[name]), THEORY[name]
    results: list[list[Equation]] = [
        [result.index] + ([result.matrix] if result.matrix is not None else [])
        for result in theory.conclusion.results
    ]
    groups: list[list[Equation]] = [
        [line for line in theory.definitions if line.part == part]
        for part in dict.fromkeys(["", *theory.parts])
    ]
    expected = [
        [f"{latex(line.lhs)} = {latex(line.rhs)}" for line in group]
        for group in [*groups, *results]
        if group
    ]
    assert [equations(block) for block in of(made, b.Equations)] == expected
    for left, _, right in chain.from_iterable(block.lines for block in of(made, b.Equations)):
        assert width(left) + width(right) <= TEXT or " + " not in right.replace(r"\left", "")


def laid_out(lhs: int, rhs: int) -> tuple[tuple[str, str, str], ...]:
    """The lines of a definition whose sides are sums of so many terms."""
    theory = THEORY["softmax-jacobian"]
    first = theory.definitions[0]
    long = replace(first, lhs=Add((first.rhs,) * lhs), rhs=Add((first.rhs,) * rhs))
    wide = replace(theory, definitions=(long,))
    return of(derivation.sheet(wide), b.Equations)[0].lines


@pytest.mark.parametrize("terms", range(2, 40))
def test_wide_sides_fill_their_lines(terms: int) -> None:
    """A right side takes the room beside the left, a left side wider than half of the page has
    lines of its own; each line takes as many terms as fit."""
    piece = width("+ e^{S_i}") + 0.5
    right = laid_out(1, terms)
    left = width(right[0][0])
    assert [line[:2] for line in right] == [(right[0][0], "=")] + [("", "")] * (len(right) - 1)
    assert_full([line[2] for line in right], TEXT - left - 4, piece)
    above = laid_out(terms, 1)
    if above[0][0]:
        assert width(above[0][0]) <= TEXT / 2
        assert [line[1] for line in above] == ["="]
        return
    assert above[-1] == ("", "=", "e^{S_i}")
    assert {line[:2] for line in above[:-1]} == {("", "")}
    pieces = [line[2] for line in above[:-1]]
    assert width(" ".join(pieces)) > TEXT / 2
    assert_full(pieces, TEXT - 4, piece)


def assert_full(pieces: list[str], room: float, term: float) -> None:
    assert all(width(line) <= room for line in pieces)
    assert all(width(line) + term > room for line in pieces[:-1])
