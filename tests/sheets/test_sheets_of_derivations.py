"""The sheet of a derivation has every line of it, in order, with its reason."""

from __future__ import annotations

import pytest

from symattn.calculus.library import THEORY, derive
from symattn.calculus.printing import latex, pieces
from symattn.sheets import blocks as b
from symattn.sheets import derivation
from symattn.sheets.layout import TEXT, width

from .pages import of, plain

NAMES = sorted(THEORY)


def words(text: str, shapes: dict[str, int]) -> str:
    """Prose with its formulas as mathematics."""
    return "".join(name or word for word, name in pieces(text, shapes))


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_there(name: str) -> None:
    """Number, equation and reason of each line, below the title of its part."""
    made, theory = derivation.sheet(THEORY[name]), THEORY[name]
    shapes = theory.draft.shapes
    (table,) = [table for table in of(made, b.Table) if len(table.align.split("P")) == 3]
    rows = [row for row in table.rows if row[0]]
    assert len(rows) == len(theory.lines)
    for row, line in zip(rows, theory.lines, strict=True):
        number, equation, reason = map(plain, row)
        assert number == str(line.number)
        assert equation.endswith(latex(line.text, shapes))
        assert reason.startswith(words(line.said.because, shapes))
        assert all(condition in reason for condition in line.where)
    titles = [plain(row[1][1:]) for row in table.rows if not row[0]]
    assert titles == [words(part, shapes) for part in theory.parts if part]
    headings = [plain(heading.text) for heading in of(made, b.Heading)]
    assert headings == ["Notation", "Proof", "How it was checked"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_given_has_its_shape(name: str) -> None:
    """Every given array with its shape; every definition; nothing wider than the page."""
    made, theory = derivation.sheet(THEORY[name]), THEORY[name]
    assert plain(made.subtitle) == words(theory.draft.statement, theory.draft.shapes)
    signs = {plain(row[0]): plain(row[1]) for row in next(iter(of(made, b.Table))).rows}
    for array in theory.draft.ground.given:
        meaning = signs[latex(array.name, theory.draft.shapes)]
        assert meaning.count(r"\times") == max(len(array.axes) - 1, 0)
    displayed = [line for block in of(made, b.Equations) for line in block.lines]
    shown = " ".join(f"{left} {right}" for left, _, right in displayed)
    for definition in theory.draft.definitions:
        assert latex(definition.key, theory.draft.shapes) in shown
    assert all(width(left) + width(right) <= TEXT + 4 for left, _, right in displayed)


def test_what_is_not_proved_says_so() -> None:
    """A refuted line stands on the sheet with its status, a line that can't be read too."""
    found = derive(
        'sizes = ["n"]\n[shapes]\nx = ["n"]\n'
        '[[lines]]\nline = "x[i] == 2 * x[i]"\n[[lines]]\nline = "x[i] == y"\n'
    )
    made = derivation.sheet(found)
    (table,) = [table for table in of(made, b.Table) if len(table.align.split("P")) == 3]
    assert [plain(row[2]).strip() for row in table.rows] == ["REFUTED", "UNDECIDED"]
