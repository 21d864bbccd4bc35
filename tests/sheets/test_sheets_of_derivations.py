"""The sheet of a derivation has every line of it, in order, with its reason."""

from __future__ import annotations

import re
from typing import Any

import pytest

from symattn.calculus.library import THEORY, derive
from symattn.calculus.printing import condition, pieces, sides, typeset
from symattn.expressions import typesetting as t
from symattn.printers import blocks as b
from symattn.printers.layout import TEXT, width
from symattn.sheets import derivation

from ..notation import in_latex, read
from .pages import of, paragraphs, plain

NAMES = sorted(THEORY)


def latex(line: str, shapes: dict[str, int]) -> str:
    """A line in LaTeX."""
    return t.latex(typeset(line, shapes))


REFERENCE = re.compile(r"see ([a-z]+(?:-[a-z]+)+)\b")


def aligned_rows(text: str) -> list[str]:
    """The rows of an equation on several lines."""
    whole = re.fullmatch(r"\\displaystyle \\begin\{aligned\}\[t\](.*)\\end\{aligned\}", text)
    return whole[1].split(r" \\ ") if whole else []


def words(text: str, shapes: dict[str, int]) -> str:
    """Prose with its formulas as mathematics, other derivations by their titles."""
    titled = REFERENCE.sub(lambda name: f"see “{THEORY[name[1]].draft.title}”", text)
    return "".join(map(in_latex, pieces(titled, shapes)))


def proof(made: b.Sheet) -> Any:
    """The table of the lines."""
    (table,) = [table for table in of(made, b.Table) if plain(table.header[1]) == "line"]
    return table


def own(text: str) -> tuple[b.Sheet, list[list[str]]]:
    """The sheet of a reader's derivation, and the rows of its proof."""
    made = derivation.sheet(derive(text))
    return made, [[*map(plain, row)] for row in proof(made).rows]


@pytest.mark.sampled(2, 12)
@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_there(name: str) -> None:
    """Number, equation and reason of each line, below the title of its part."""
    made, theory = derivation.sheet(THEORY[name]), THEORY[name]
    shapes = theory.draft.shapes
    table = proof(made)
    rows = [row for row in table.rows if len(row) == 3]
    assert len(rows) == len(theory.lines)
    for row, line in zip(rows, theory.lines, strict=True):
        number, equation, reason = map(plain, row)
        assert number == str(line.number)
        whole = re.sub(r"\\(begin|end)\{aligned\}(\[t\])?|\\displaystyle |\\\\", "", equation)
        whole = re.sub(r"[&{}\s]|\\quad|\\qquad", "", whole)
        written = " = ".join(map(t.latex, sides(line.text, shapes)))
        assert whole == re.sub(r"[{}\s]|\\quad|\\displaystyle ", "", written)
        assert reason.startswith(words(line.said.because, shapes))
        for where in line.where:
            shown = t.latex(condition(where, shapes))
            assert shown in reason or any(shown in one for one in paragraphs(made))
    titles = [plain(row[0]) for row in table.rows if len(row) == 1]
    assert titles == [words(part, shapes) for part in theory.parts if part]
    assert [plain(heading.text) for heading in of(made, b.Heading)] == ["Notation", "Proof"]


@pytest.mark.sampled(2, 14)
@pytest.mark.parametrize("name", NAMES)
def test_every_reason_says_what_it_uses(name: str) -> None:
    """Lines by their numbers, definitions by their names, other derivations by their titles."""
    theory = THEORY[name]
    rows = [row for row in proof(derivation.sheet(theory)).rows if len(row) == 3]
    for row, line in zip(rows, theory.lines, strict=True):
        reason = plain(row[2])
        named = re.findall(r"\d+(?: to \d+)?", reason.rpartition("line")[2])
        bounds = [(int(one.split()[0]), int(one.split()[-1])) for one in named]
        for one in line.said.by or ():
            if one.isdigit():
                assert any(first <= int(one) <= last for first, last in bounds), reason
            elif one in THEORY:
                assert f"“{THEORY[one].draft.title}”" in reason
            elif one in theory.draft.shapes:
                assert latex(one, theory.draft.shapes) in reason
        assert not re.search(r"[a-z]+-(?:backward|jacobian|gradients|invariance)", reason)


@pytest.mark.sampled(1, 3)
@pytest.mark.parametrize("name", NAMES)
def test_every_array_has_its_shape(name: str) -> None:
    """Given or defined; every definition stands there; nothing is wider than the page."""
    made, theory = derivation.sheet(THEORY[name]), THEORY[name]
    shapes = theory.draft.shapes
    title = made.title if isinstance(made.title, str) else plain(made.title)
    assert title == words(theory.draft.title, shapes)
    assert plain(made.subtitle) == words(theory.draft.statement, shapes)
    rows = next(table for table in of(made, b.Table) if plain(table.header[0]) == "array").rows
    kinds = {one: plain(row[1]) for row in rows for one in plain(row[0]).split(", ")}
    for array in theory.draft.scope.arrays.values():
        if array.of is None:
            kind = kinds[latex(array.name, shapes)]
            assert kind.count(r"\times") == max(len(array.axes) - 1, 0)
            assert all(latex(str(axis), {}) in kind for axis in array.axes)
    displayed = [line for block in of(made, b.Equations) for line in block.lines]
    shown = " ".join(f"{left} {right}" for left, _, right in displayed)
    for definition in theory.draft.definitions:
        assert latex(definition.key, shapes) in shown
    assert all(width(read(left)) + width(read(right)) <= TEXT + 4 for left, _, right in displayed)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_every_sign_is_explained(name: str) -> None:
    """Deltas, steps, ones, row sums and products by entries, where they stand."""
    made, theory = derivation.sheet(THEORY[name]), THEORY[name]
    table = next(table for table in of(made, b.Table) if plain(table.header[0]) == "array")
    signs = " ".join(plain(row[2]) for row in table.rows)
    shown = " ".join(latex(line.text, theory.draft.shapes) for line in theory.lines)
    for sign in (r"\delta", r"\sum", r"\mathbf{1}", r"\mathbf{0}", "rowsum", r"\circ", r"\top"):
        assert sign not in shown or sign in signs
    assert not re.search(r"\[\w+ (?:<|\\le) ", shown) or r"\le" in signs


@pytest.mark.heavy
def test_no_code_is_left_in_prose() -> None:
    """Neither brackets of indices nor roots nor marks of arrays as they are typed."""
    for name in NAMES:
        made = derivation.sheet(THEORY[name])
        said = [made.subtitle, *(one.text for one in of(made, b.Paragraph))]
        said += [cell for table in of(made, b.Table) for row in table.rows for cell in row]
        plain_words = " ".join(one for line in said for one in line if isinstance(one, str))
        assert not re.search(r"sqrt|\^|\w_\w|\w\[|==|!=", plain_words)


HEAD = 'sizes = ["n"]\n[shapes]\nx = ["n"]\nt = []\n'


def test_what_is_not_proved_says_so() -> None:
    """A refuted line with its counterexample, and a line that can't be read as it stands."""
    _, rows = own(f'{HEAD}[[lines]]\nline = "x[i] == 2 * x[i]"\n[[lines]]\nline = "x[i] == y"\n')
    assert rows[0][2].strip().startswith("Refuted. At n = 1, i = 1, x_{1} = ")
    assert re.search(r"= (-?\d): (-?\d) is not (-?\d)\. ", rows[0][2])
    assert rows[1][1] == "x[i] == y"
    assert rows[1][2].strip().startswith("Undecided. Unknown name 'y'")


def test_what_would_hold_is_mathematics() -> None:
    """The hint at a usual mistake ends in a line as it is printed."""
    text = (
        'sizes = ["n", "m"]\n[shapes]\nS = ["n", "m"]\ndA = ["n", "m"]\n[define]\n'
        'A = "softmax(S)"\ndS = "A * (dA - rowsum(A * dA))"\n[[lines]]\n'
        'line = "dS[i, j] == A[i, j] * (dA[i, j] - A[i, l] * dA[i, l])"\n'
    )
    _, ((_, _, reason),) = own(text)
    assert reason.endswith(
        r"It would hold with a sum over l: "
        r"dS_{ij} = A_{ij}\,\left(dA_{ij} - \sum_{l} A_{il}\,dA_{il}\right)."
    )


def test_conditions_of_many_lines_stand_once() -> None:
    """One condition of one line stands with it; of several, below the proof."""
    lines = "".join(f'[[lines]]\nline = "{k} * t / t == {k}"\n' for k in (2, 3, 4))
    made, rows = own(f'{HEAD}{lines}[[lines]]\nline = "log(t * t) == log(t * t)"\n')
    assert all("Where" not in row[2] for row in rows[:3])
    assert r"Lines 1 to 3 hold where t \ne 0." in paragraphs(made)
    assert r"Where t\,t > 0." in rows[3][2]


def test_long_lines_are_aligned() -> None:
    """A long right side continues set in; below a long left side everything is."""
    terms = " + ".join(f"{k} * x[{k}] * x[{k + 1}]" for k in range(1, 16))
    _, rows = own(
        "[shapes]\nx = [20]\n"
        f'[[lines]]\nline = "0 * x[1] == {terms} - ({terms})"\n'
        f'[[lines]]\nline = "{terms} == {terms}"\n'
    )
    first = aligned_rows(rows[0][1])
    assert len(first) > 2
    assert first[0].startswith(r"0\,x_{1} &= ")
    assert all(row.startswith(r"&\quad + ") or row.startswith(r"&\quad - ") for row in first[1:])
    second = aligned_rows(rows[1][1])
    (place,) = [k for k, row in enumerate(second) if "=" in row]
    assert place > 1
    assert second[place].startswith(r"&\quad = ")
    assert all(row.startswith(r"&\qquad ") for row in second[1:place] + second[place + 1 :])
    room = 94 / 3.5
    assert all(width(read(row.replace("&", " "))) <= room for row in first + second)
