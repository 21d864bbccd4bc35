"""What is copied of a matrix on a page is the matrix: as LaTeX, as NumPy and as TOML."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import mpmath
import pytest

from symattn.cases import library
from symattn.documents.notation import read_formula
from symattn.documents.text import Text
from symattn.exercises.exercise import exercise
from symattn.exercises.questions import question, solution
from symattn.expressions import typesetting as t
from symattn.numbers.reading import Masked, read_entry
from symattn.printers import blocks as b
from symattn.printers.html import document

from ..browser import Browser, browser
from ..documents.notation.reading_back import shown
from .test_html import blocks

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.heavy]

FORMS = ("LaTeX", "NumPy", "TOML")
#: Of each matrix that can be copied its place among all, and its text in each form.
COPIED = """(async () => {
  const found = [], box = () => document.querySelector(".copier");
  const all = [...document.querySelectorAll("div.matrix")];
  for (const [place, one] of all.entries()) {
    const button = one.querySelector(".copy");
    if (!button) continue;
    button.click();
    const texts = {};
    for (const form of box().querySelectorAll("button")) {
      if (form.hidden) continue;
      form.click();
      texts[form.textContent] = box().querySelector("textarea").value;
    }
    box().hidePopover();
    found.push([place, texts]);
  }
  return found;
})()"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all pages."""
    with browser() as made:
        yield made


def opened(chromium: Browser, folder: Path, sheet: b.Sheet) -> None:
    """A sheet's page in the browser."""
    path = folder / "page.html"
    path.write_text(document(sheet), "utf-8")
    chromium.open(path)


def matrices(items: Any) -> Iterator[b.Matrix]:
    """The matrices of blocks, in their order on the page."""
    for item in items:
        match item:
            case b.Matrices(inner) | b.Beside(inner):
                yield from matrices(inner)
            case b.Matrix(_, cells) if cells:
                yield item


def in_notation(latex: str) -> str:
    """LaTeX as the reader of articles understands it."""
    return " ".join(shown(read_formula(Text.whole(latex))))


def number(node: ast.expr) -> Any:
    """The value of an expression of numbers and NumPy's functions; nothing else is understood."""
    match node:
        case ast.Constant(int() | float() as value):
            return mpmath.mpf(str(value))
        case ast.Attribute(ast.Name("np"), "inf"):
            return mpmath.inf
        case ast.UnaryOp(ast.USub(), inner):
            return -number(inner)
        case ast.BinOp(left, op, right):
            x, y = number(left), number(right)
            match op:
                case ast.Add():
                    return x + y
                case ast.Sub():
                    return x - y
                case ast.Mult():
                    return x * y
                case ast.Div():
                    return x / y
        case ast.Call(ast.Attribute(ast.Name("np"), name), [inner], []):
            return getattr(mpmath, name)(number(inner))
    raise AssertionError(ast.dump(node))


def of_numpy(text: str) -> list[list[Any]]:
    """The entries of ``X = np.array([[...]])``."""
    (statement,) = ast.parse(text).body
    match statement:
        case ast.Assign(
            [ast.Name()], ast.Call(ast.Attribute(ast.Name("np"), "array"), [ast.List(rows)], [])
        ):
            return [[number(x) for x in row.elts] for row in rows]  # type: ignore[attr-defined]
    raise AssertionError(text)


def of_toml(text: str) -> list[list[Any]]:
    """The entries of a table's line, as cases read them."""
    ((_, rows),) = tomllib.loads(text, parse_float=str).items()
    values = [[read_entry(x) for x in row] for row in rows]
    return [
        [-mpmath.inf if isinstance(x, Masked) else mpmath.mpf(float(x.ball(64))) for x in row]
        for row in values
    ]


def of_latex(cells: Sequence[Sequence[t.Row]]) -> list[list[Any]]:
    """The numbers that cells are, by another way: as the reader of articles reads the LaTeX
    that papers get."""

    def value(cell: t.Row) -> Any:
        text = in_notation(t.latex(cell)).replace("inf", "np.inf")
        text = re.sub(r"\b(exp|sqrt|cos|sin|log|tanh)\(", r"np.\1(", text)
        text = re.sub(r"\be\b", "np.exp(1)", text)
        text = re.sub(r"(\([^()]*(?:\([^()]*\)[^()]*)*\))\*\*2", r"(\1*\1)", text)
        return number(ast.parse(text, mode="eval").body)

    return [[value(cell) for cell in row] for row in cells]


def are_close(one: list[list[Any]], other: list[list[Any]]) -> bool:
    """Whether two matrices have the same numbers, as far as these are computed."""
    return [len(row) for row in one] == [len(row) for row in other] and all(
        x == y or abs(x - y) <= 1e-12 * (1 + abs(y))
        for row, right in zip(one, other, strict=True)
        for x, y in zip(row, right, strict=True)
    )


@pytest.mark.sampled(0, 3)
@pytest.mark.parametrize("name", library.names())
def test_what_is_copied_is_the_matrix(name: str, chromium: Browser, tmp_path: Path) -> None:
    """Each matrix of a sheet can be copied. Its LaTeX is read like that of the sheet on paper;
    in the other forms its entries are the same numbers, and only letters have none."""
    sheet = blocks("sheet", name)
    opened(chromium, tmp_path, sheet)
    made = [*matrices(sheet.blocks)]
    copied = chromium.run(COPIED)
    assert [place for place, _ in copied] == [*range(len(made))]
    for (_, texts), matrix in zip(copied, made, strict=True):
        printed = f"{t.latex(matrix.before)} {t.latex(t.matrix(matrix.cells))}"
        assert in_notation(texts["LaTeX"]) == in_notation(printed)
        words = in_notation(t.latex(t.matrix(matrix.cells)))
        has_letters = bool(re.search(r"\b(?!(?:e|inf|exp|sqrt|sin|cos|log|tanh)\b)[A-Za-z]", words))
        assert set(texts) == ({"LaTeX"} if has_letters else set(FORMS))
        if not has_letters:
            right = of_latex(matrix.cells)
            assert are_close(of_numpy(texts["NumPy"]), right)
            assert are_close(of_toml(texts["TOML"]), right)


def test_names_and_fractions(chromium: Browser, tmp_path: Path) -> None:
    """A matrix keeps its name; what is no decimal is text in TOML, a masked score -inf."""
    third, masked = t.row(t.fraction(t.number("1"), t.number("3"))), t.MINUS_INFINITY
    left = t.row(t.Indexed(t.Letter("W"), t.row(t.Letter("Q")), t.row())) + t.EQUALS
    cells = ((third, masked), (t.number("-0.50"), t.number("2")))
    matrix = b.Matrices((b.Matrix(left, cells), b.Matrix(t.row(), ((t.row(t.Text("______")),),))))
    opened(chromium, tmp_path, b.Sheet("x", "X", (), (matrix,)))
    ((place, texts),) = chromium.run(COPIED)
    assert place == 0
    assert texts == {
        "LaTeX": r"W_{Q}= \begin{bmatrix} \frac{1}{3} & -\infty \\ -0.50 & 2 \end{bmatrix}",
        "NumPy": "W_Q = np.array([[1/3, -np.inf], [-0.50, 2]])",
        "TOML": 'W_Q = [["1/3", "-inf"], [-0.50, 2]]',
    }


def test_the_clipboard(chromium: Browser, tmp_path: Path) -> None:
    """The text is in the clipboard, that is told, and the keyboard is enough for it."""
    opened(chromium, tmp_path, question(exercise(library.load("cat-sat-mat"))))
    permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    chromium.ask("Browser.grantPermissions", permissions=permissions)
    chromium.run("document.querySelector('.copy').focus()")
    for _ in range(2):
        for kind in ("keyDown", "keyUp"):
            chromium.ask("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter",
                         windowsVirtualKeyCode=13, text="\r")  # fmt: skip
    told = "document.querySelector('.copier [role=status]').textContent"
    chromium.run(
        f"new Promise(ready => {{ const ask = () => {told} ? ready() : setTimeout(ask); ask(); }})"
    )
    assert chromium.run(told) == "Copied"
    text = chromium.run("navigator.clipboard.readText()")
    assert text == chromium.run("document.querySelector('.copier textarea').value")
    assert text.startswith(r"X= \begin{bmatrix} 1 & 0 & 1 & 0 \\")


@pytest.mark.parametrize("width", [360, 1400])
def test_nothing_moves(width: int, chromium: Browser, tmp_path: Path) -> None:
    """With the buttons matrices are as large as without, the page is no wider, and nothing of
    them is printed."""
    chromium.resize(width)
    one = exercise(library.load("cat-sat-mat"))
    opened(chromium, tmp_path, solution(one))
    sizes = """[...document.querySelectorAll('.matrix, .display')].map(x =>
        [x.offsetWidth, x.offsetHeight, x.scrollWidth])"""
    whole = chromium.run(sizes)
    assert chromium.run("document.documentElement.scrollWidth") <= width
    displayed = "getComputedStyle(document.querySelector('.copy')).display"
    assert chromium.run(displayed) != "none"
    chromium.ask("Emulation.setEmulatedMedia", media="print")
    assert chromium.run(displayed) == "none"
    chromium.ask("Emulation.setEmulatedMedia", media="")
    chromium.run("document.querySelectorAll('.copy').forEach(x => x.remove())")
    assert chromium.run(sizes) == whole
