"""A document has all that its sheet has: LaTeX read back gives the blocks again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest

import symattn
from symattn.calculus.library import THEORY
from symattn.printers import blocks as b
from symattn.printers.latex import document
from symattn.printers.layout import LINE, TEXT, matrix_width
from symattn.sheets import case_sheet, derivation, redpen
from symattn.solution.solution import solve

from ..notation import equations, heat_map, in_latex, math, matrix
from ..sheets import typeset, walkthroughs
from ..sheets.pages import of
from ..sheets.truth import BUNDLED
from ..sheets.typeset import NoText, seen

NAMES = sorted(path.stem for path in BUNDLED.glob("*.toml"))
SHEETS = [
    *(f"{name} worked" for name in NAMES),
    *(f"{name} red" for name in NAMES),
    *(f"{name} proof" for name in ("attention-gradients", "softmax-jacobian", "permutation")),
    *(f"{name} own" for name in ("parts", "symbols", "heads", "many", "large", "long", "keys")),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("walkthroughs")
    for name, text in walkthroughs.ALL.items():
        (place / f"{name}.toml").write_text(text, "utf-8")
    return place


@cache
def made(which: str, folder: Path) -> tuple[b.Sheet, str]:
    """A sheet, and the body of its document."""
    name, kind = which.split(" ")
    match kind:
        case "worked":
            sheet = case_sheet.sheet(solve(name), audience="author")
        case "red":
            sheet = redpen.sheet(symattn.audit(name))
        case "proof":
            sheet = derivation.sheet(THEORY[name])
        case _:
            sheet = case_sheet.sheet(
                solve(folder / f"{name}.toml"), detail="full", audience="author"
            )
    text = document(sheet)
    return in_latex(sheet), text.partition("\\begin{document}\n")[2].removesuffix(
        "\\end{document}\n"
    )


def line(text: b.Line | str) -> str:
    """A line as it should be seen."""
    text = (text,) if isinstance(text, str) else text
    shown = [
        f"${p.formula}$" if isinstance(p, b.Math) else p if isinstance(p, str) else p.text
        for p in text
    ]
    return "".join(c if c.isprintable() else " " for c in "".join(shown))


def after_line(tex: str, wanted: str) -> str:
    """What follows the line that is seen as ``wanted``."""
    lines = tex.split("\n")
    for place, shown in enumerate(lines):
        with suppress(NoText):
            if seen(shown) == wanted:
                return "\n" + "\n".join(lines[place + 1 :])
    raise AssertionError(wanted)


@pytest.mark.sampled(1, 10)
@pytest.mark.sampled(12)
@pytest.mark.parametrize("which", SHEETS)
def test_text(which: str, folder: Path) -> None:
    """Head, headings, paragraphs and commands stand there in order, nothing doubled."""
    sheet, body = made(which, folder)
    head, _, rest = body.partition("\\medskip\n\n")
    title, subtitle = re.findall(r"\\color\{ink\}(?:\\raggedright)? (.*)\\par\}", head)
    assert (seen(title), seen(subtitle)) == (line(sheet.title), line(sheet.subtitle))
    for block in sheet.blocks:
        match block:
            case b.Heading(text, level):
                found = re.search(r"\\(sub)?section\*\{(.*)\}\n", rest)
                assert found is not None
                assert (seen(found[2]), 2 if found[1] else 1) == (line(text), level)
                rest = rest[found.end() :]
            case b.Paragraph(text):
                rest = after_line(rest, line(text))
            case b.Listing(lines):
                found = re.search(r"\\begin\{quote\}(.*)\\end\{quote\}", rest)
                assert found is not None
                commands = re.findall(r"\\texttt\{((?:[^{}\\]|\\.|\{\})*)\}", found[1])
                assert tuple(map(seen, found[1].split(r"\\"))) == lines
                assert len(commands) == len(lines)
    sections = len(re.findall(r"\\(?:sub)?section\*", body))
    assert sections == len(of(sheet, b.Heading))


@pytest.mark.sampled(3, 16)
@pytest.mark.sampled(12)
@pytest.mark.parametrize("which", SHEETS)
def test_equations(which: str, folder: Path) -> None:
    """Each line is aligned at its relation; one without is set in below the line it continues."""
    sheet, body = made(which, folder)
    displays = typeset.equations(body)
    assert [[x[:3] for x in lines] for lines in displays] == [
        list(block.lines) for block in of(sheet, b.Equations)
    ]
    for left, relation, _, indented in chain.from_iterable(displays):
        assert indented == (not relation)
        assert relation or not left


@pytest.mark.sampled(2, 7)
@pytest.mark.parametrize("which", SHEETS)
def test_matrices(which: str, folder: Path) -> None:
    """Every matrix is there with its name, cells and labels, if need be in pieces; pieces fill
    the lines and fit into them."""
    sheet, body = made(which, folder)
    found = list(typeset.shelves(body))
    pieces = iter(chain.from_iterable(found))
    beside: set[tuple[str, str]] = set()
    # Where other displays stand on the same lines, these are not full of matrices.
    mixed = {
        pair
        for block in sheet.blocks
        if isinstance(block, b.Beside)
        for one in block.items
        if isinstance(one, b.Matrices)
        for pair in pairwise([item.before for item in one.items])
    }
    for block in of(sheet, b.Matrices):
        names = [name for item in block.items for name in check_pieces(item, pieces, TEXT)]
        beside |= set(pairwise(names))
    assert next(pieces, None) is None
    for shelf, following in pairwise([*found, []]):
        used = sum(matrix_width(block_of(piece)) + 2 for piece in shelf)
        assert used <= LINE + 2 or len(shelf) == 1
        if following and (shelf[-1].before, following[0].before) in beside - mixed:
            assert used + matrix_width(block_of(following[0])) > LINE


def block_of(piece: typeset.Matrix) -> b.Matrix:
    return matrix(piece.before, tuple(map(tuple, piece.cells)), tuple(piece.labels))


def of_latex(item: Any) -> b.Matrix:
    """A matrix of LaTeX as one of formulas."""
    return matrix(item.before, item.cells, item.row_labels)


def check_pieces(item: Any, pieces: Iterator[typeset.Matrix], room: float) -> Iterator[str]:
    """The next pieces are the matrix: whole where it fits, else in as few as do; gives what
    stands before each."""
    piece = next(pieces)
    yield piece.before
    labels = [x if len(x) <= 16 else f"{x[:15]}…" for x in item.row_labels]
    whole = [list(row) for row in item.cells]
    if piece.before == item.before:
        assert (piece.cells, piece.labels) == (whole, labels)
        assert not whole or matrix_width(of_latex(item)) <= room or len(whole[0]) == 1
        return
    assert matrix_width(of_latex(item)) > room
    found = re.fullmatch(r"(.*?) ?((?:=|\\approx).*)", item.before)
    name, sign = found.groups() if found else (item.before, "")
    name = f"({name})" if name else "{}"
    start, columns = 0, len(whole[0])
    while True:
        stop = start + len(piece.cells[0])
        which = str(start) if stop == start + 1 else rf"{start}\text{{--}}{stop - 1}"
        assert piece.before == rf"{name}_{{\cdot,\,{which}}} {sign}"
        assert piece.cells == [row[start:stop] for row in whole]
        assert piece.labels == labels
        cells = tuple(tuple(row[start:stop]) for row in item.cells)
        cut = matrix(piece.before, cells, item.row_labels)
        assert matrix_width(cut) <= room or stop == start + 1
        if stop == columns:
            return
        more = rf"{name}_{{\cdot,\,{start}\text{{--}}{stop}}} {sign}"
        wider = tuple(tuple(row[start : stop + 1]) for row in item.cells)
        assert matrix_width(matrix(more, wider, item.row_labels)) > room
        start, piece = stop, next(pieces)
        yield piece.before


@pytest.mark.sampled(2, 26)
@pytest.mark.sampled(12)
@pytest.mark.parametrize("which", SHEETS)
def test_tables(which: str, folder: Path) -> None:
    """Header and rows cell by cell, with as many columns as are aligned."""
    sheet, body = made(which, folder)
    found = typeset.tables(body)
    assert len(found) == len(of(sheet, b.Table))
    for (columns, header, rows, air), table in zip(found, of(sheet, b.Table), strict=True):
        assert columns == table.align
        assert header == [line(cell) for cell in table.header]
        assert rows == [[line(cell) for cell in row] for row in table.rows]
        assert air == [air_of(row, len(header)) for row in table.rows]
        plain = re.sub(r"@\{.*?\}\}?|P\{[^}]*\}", lambda m: "P" if m[0][0] == "P" else "", columns)
        assert len(plain) == len(header)


def air_of(row: tuple[b.Line, ...], columns: int) -> int:
    """Displayed mathematics has air below, sums and fractions more."""
    shown = str(row)
    tall = r"\\frac" in shown or r"\\sum" in shown
    if len(row) < columns:
        return 4
    return (7 if tall else 5) if "displaystyle" in shown else 3 if r"\\sum" in shown else 0


@pytest.mark.sampled(2)
@pytest.mark.sampled(12)
@pytest.mark.parametrize("which", SHEETS)
def test_heat_maps(which: str, folder: Path) -> None:
    """Each cell has its shade, with the figure in an ink that is read on it; labels and titles
    stand at their rows and columns."""
    sheet, body = made(which, folder)
    found = typeset.heat_maps(body)
    blocks = of(sheet, b.HeatMaps)
    assert sum(map(len, found)) == sum(len(block.items) for block in blocks)
    maps = chain.from_iterable(found)
    for item in chain.from_iterable(block.items for block in blocks):
        check_heat(item, next(maps))


def check_heat(item: Any, heat: typeset.Heat) -> None:
    for i, row in enumerate(item.shades):
        for j, shade in enumerate(row):
            assert heat.shades.pop((i, j)) == round(100 * shade)
            assert heat.inks[i, j] == ("white" if round(100 * shade) > 55 else "black")
            assert heat.figures[i, j] == item.figures[i][j]
    assert not heat.shades
    labels = [x if len(x) <= 16 else f"{x[:15]}…" for x in item.rows]
    assert list(heat.rows.items()) == list(enumerate(labels))[:: 1 if heat.size[0] >= 5 else 2]
    assert heat.columns.keys() == set(range(0, len(item.columns), 1 if heat.size[0] >= 5 else 2))
    assert all(heat.columns[j] == item.columns[j] for j in heat.columns)
    assert heat.title == line(item.title)


@pytest.mark.heavy
@pytest.mark.heavy
def test_enough_was_read(folder: Path) -> None:
    """The documents hold many blocks of every kind."""
    bodies = [made(which, folder)[1] for which in SHEETS]
    assert sum(len(typeset.equations(body)) for body in bodies) > 270
    assert sum(len(list(typeset.shelves(body))) for body in bodies) > 330
    assert sum(len(typeset.tables(body)) for body in bodies) > 45
    assert sum(len(typeset.heat_maps(body)) for body in bodies) > 20


def body_of(*blocks: b.Block) -> str:
    text = document(b.Sheet("made", "Made", ("by hand",), blocks))
    return text.partition("\\medskip\n\n")[2].removesuffix("\n\\end{document}\n")


# -- blocks made by hand -------------------------------------------------------------


@pytest.mark.sampled(12, 18)
@pytest.mark.parametrize("which", SHEETS)
def test_how_matrices_are_set(which: str, folder: Path) -> None:
    """Fractions are centred, apart from each other and from their labels; figures line up right."""
    _, body = made(which, folder)
    for piece in chain.from_iterable(typeset.shelves(body)):
        tall = r"\frac" in str(piece.cells)
        assert set(piece.columns) <= {"c" if tall else "r"}
        assert piece.air <= {tall}
    assert body.count(r"\vphantom{") >= ("parts" in which)


def test_labels_are_as_high_as_their_rows() -> None:
    """Beside a row of fractions stands what is as high as that row."""
    row = (r"\frac{1}{2}", "x")
    item = matrix("A =", (row, ("0", r"\frac{e}{2}")), ("a", "a label of some length"))
    shown = body_of(b.Matrices((item,)))
    assert r"\textit{\small a}\vphantom{\air{\dfrac{1}{2}}\air{x}} \\" in shown
    assert r"\textit{\small a label of some\dots{}}\vphantom{\air{0}\air{\dfrac{e}{2}}}" in shown
    flat = body_of(b.Matrices((matrix("A =", (("1",),), ("a",)),)))
    assert "vphantom" not in flat


def test_displays_close_to_their_text() -> None:
    """A display is part of the paragraph above; below a heading the empty line is taken back."""
    shown = equations((("a", "=", "b"),))
    matrices = b.Matrices((matrix("A =", (("1",),)),))
    text = b.Paragraph(("text",))
    assert body_of(text, shown).startswith("text\n\\begin{align*}")
    assert body_of(text, matrices).startswith("text\n\\[")
    assert body_of(text, text) == "text\n\ntext"
    assert body_of(b.Heading(("H",)), shown).startswith(
        "\\section*{H}\n\\vspace{-\\baselineskip}\n\\begin{align*}"
    )
    assert body_of(b.Heading(("H",), 2), text) == "\\subsection*{H}\n\ntext"
    assert body_of(shown).startswith("\\begin{align*}")


def test_what_is_too_wide_is_made_small() -> None:
    """An equation, a line of text and a cell that nothing breaks are fitted to their room."""
    wide = "x" * 100
    room = round(10 * (TEXT - 0.55 - 1.5))
    assert rf"a &= \fit{{{room}pt}}{{{wide}}}" in body_of(equations((("a", "=", wide),)))
    indented = body_of(equations((("a", "=", "b"), ("", "", wide))))
    assert rf"&{{}} \quad \fit{{{10 * (TEXT - 1 - 1.5):.0f}pt}}{{{wide}}}" in indented
    narrow = body_of(equations((("a" * 80, "=", wide),)))
    assert r"\fit{80pt}" in narrow
    text = body_of(b.Paragraph((math(wide),)))
    assert text == rf"$\fit{{440pt}}{{{wide}}}$"
    breaking = " + ".join(["x" * 20] * 10)
    assert body_of(b.Paragraph((math(breaking),))) == f"${breaking}$"
    cells = (((math(wide),), ("b",)),)
    assert rf"$\fit{{440pt}}{{{wide}}}$ & b" in body_of(b.Table((("a",), ("b",)), cells, "ll"))
    four = (((math("x" * 50),), (), (), ()),)
    assert r"\fit{220pt}" in body_of(b.Table((("a",),) * 4, four, "llll"))
    one = matrix("A =", ((wide,),))
    assert r"\fit{440pt}{A = \left[" in body_of(b.Matrices((one,)))


def test_tables_give_displayed_mathematics_air() -> None:
    """Below a row with a displayed formula there is a gap, below others none."""
    rows = (((math(r"\displaystyle x"),),), (("plain",),))
    shown = body_of(b.Table((("head",),), rows, "l"))
    assert "$\\displaystyle x$ \\\\\\addlinespace[5pt]\nplain \\\\\n" in shown


def test_titles_in_a_table() -> None:
    """A row of one cell spans the table, and no page ends below it."""
    rows = ((("A part",),), (("1",), (math("x"),)))
    shown = body_of(b.Table(((), ("line",)), rows, "rP{94mm}"))
    assert r"\multicolumn{2}{@{\hspace{6mm}}P{150mm}@{}}{\boldmath\textbf{A part}} \\*" in shown


def test_columns_have_room_by_their_width() -> None:
    """What is wider than its column is made small, and no more than that."""
    wide = "x" * 50
    cells = (((math(wide),), (math(wide),)),)
    shown = body_of(b.Table((("a",), ("b",)), cells, "P{94mm}P{52mm}"))
    assert rf"$\fit{{267pt}}{{{wide}}}$ & $\fit{{148pt}}{{{wide}}}$" in shown


def test_a_heading_keeps_what_follows() -> None:
    """As much as fits on a page stays with its heading; of more, the beginning."""
    assert body_of(b.Heading(("Proof",))) == r"\section*{Proof}"
    assert body_of(b.Heading(("Proof",), room=120)) == r"\needroom{120mm}\section*{Proof}"
    assert body_of(b.Heading(("Proof",), room=400)) == r"\needroom{50mm}\section*{Proof}"


def test_equations_side_by_side() -> None:
    """In columns, each aligned at its relation, row by row."""
    lines = (("a", "=", "b"), ("c", "=", "d"), ("e", "=", "f"))
    shown = body_of(equations(lines, 2))
    inner = "a &= b &\\quad c &= d \\\\\ne &= f"
    assert shown.endswith(f"\\begin{{alignat*}}{{2}}\n{inner}\n\\end{{alignat*}}")
    assert [x[:3] for x in typeset.equations(shown)[0]] == list(lines)


def heat(rows: int, columns: int, label: str = "k", title: b.Line = ()) -> b.HeatMap:
    shades = tuple(tuple((i + j) % 10 / 9 for j in range(columns)) for i in range(rows))
    figures = tuple(tuple("0.5" for _ in range(columns)) for _ in range(rows))
    return heat_map(title, shades, figures, tuple(map(str, range(rows))), (label,) * columns)


@pytest.mark.parametrize(
    ("columns", "size"),
    [
        (1, (11, 8)),
        (6, (11, 8)),
        (7, (11, 8)),
        (10, (8, 8)),
        (13, (80 / 13, 80 / 13)),
        (20, (6, 6)),
        (25, (5, 5)),
        (40, (3.125, 3.125)),
    ],
)
def test_cells_of_heat_maps(columns: int, size: tuple[float, float]) -> None:
    """Few columns have wide cells; many fit into the line, and then only some have labels."""
    shown = body_of(b.HeatMaps((heat(3, columns),)))
    ((read,),) = typeset.heat_maps(shown)
    assert read.size == pytest.approx(size, abs=1e-4)
    apart = 2 if columns == 40 else 1
    assert [*read.columns] == list(range(0, columns, apart))
    assert [*read.rows] == list(range(0, 3, apart))
    assert rf"\fit{{{size[0] - 1:g}mm}}{{0.5}}" in shown
    assert {place for place, ink in read.inks.items() if ink == "white"} == {
        place for place, shade in read.shades.items() if shade > 55
    }


def test_shades_at_the_ends() -> None:
    """A shade outside of 0 to 1, such as one that rounding made, is the end."""
    item = heat_map((), ((-0.1, 0.004, 0.55, 0.555, 1.2),), (("",) * 5,), ("r",), tuple("abcde"))
    ((read,),) = typeset.heat_maps(body_of(b.HeatMaps((item,))))
    assert read.shades == {(0, 0): 0, (0, 1): 0, (0, 2): 55, (0, 3): 56, (0, 4): 100}
    assert [*read.inks.values()] == ["black"] * 3 + ["white"] * 2
    assert [*read.figures.values()] == [""] * 5


def test_heat_maps_side_by_side() -> None:
    """Up to eight columns together stand beside each other, more below; long labels are turned."""
    beside, below = (
        typeset.heat_maps(body_of(b.HeatMaps((heat(2, 4), heat(2, more))))) for more in (4, 5)
    )
    assert [len(maps) for maps in beside] == [2]
    assert [len(maps) for maps in below] == [1, 1]
    for label, angled in (("seventh", False), ("eighth..", True)):
        ((read,),) = typeset.heat_maps(body_of(b.HeatMaps((heat(1, 2, label),))))
        assert read.angled == angled
        assert read.columns == {0: label, 1: label}
    ((read,),) = typeset.heat_maps(body_of(b.HeatMaps((heat(3, 2, title=("title",)),))))
    assert read.title == "title"


def test_marked_figures_beside_their_notes() -> None:
    """Where, figures and notes; what is too wide is in pieces, one below the other."""
    cells = (tuple(rf"\struck{{0.{k}{k}}}\;\correct{{0.{k}}}" for k in range(8)),)
    marked = b.RedPen("step 1 & 2", matrix("A =", cells), (("first",), ("second",)))
    shown = body_of(marked)
    assert r"{\small\itshape step 1 \& 2}" in shown
    assert r"\small\color{pen}first\par second\end{minipage}" in shown
    pieces = re.findall(r"\$\\displaystyle (.*?)\$", shown, re.DOTALL)
    assert len(pieces) > 1
    assert "$\n\\par\n$" in shown
    found = iter(map(typeset.matrix, pieces))
    assert len(list(check_pieces(in_latex(marked.matrix), found, 0.68 * TEXT))) == len(pieces)
    single = body_of(b.RedPen("here", matrix(r"u = \struck{1}\;\correct{2}", ()), ()))
    assert r"$\displaystyle u = \struck{1}\;\correct{2}$" in single


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["cat-sat-mat", "length-4-causal", "please-study-man"])
def test_marked_figures_are_typeset(name: str, folder: Path) -> None:
    """Every marked claim of a document stands there, figure by figure."""
    sheet, body = made(f"{name} red", folder)
    boxes = re.findall(
        r"minipage\}\[c\]\{\.66.*?itshape (.*?)\}\\par\\smallskip (.*?)\\end\{minipage\}\\hfill"
        r".*?color\{pen\}(.*?)\\end\{minipage\}",
        body,
        re.DOTALL,
    )
    blocks = of(sheet, b.RedPen)
    assert len(boxes) == len(blocks) > 10
    for (where, figures, notes), block in zip(boxes, blocks, strict=True):
        assert seen(where) == block.where
        assert [seen(note) for note in notes.split(r"\par ")] == [line(x) for x in block.notes]
        pieces = iter(
            map(typeset.matrix, re.findall(r"\$\\displaystyle (.*?)\$", figures, re.DOTALL))
        )
        assert list(check_pieces(block.matrix, pieces, 0.68 * TEXT))
        assert next(pieces, None) is None


def test_what_is_typed_is_seen_as_typed() -> None:
    """In code two hyphens stay two, and quotes straight; stress is bold."""
    shown = body_of(b.Paragraph((b.Code("a --b 'c'"), b.Strong("so"), " & on")))
    assert shown == r"\texttt{a -{}{}-{}b \textquotesingle{}c\textquotesingle{}}\textbf{so} \& on"


def test_no_page_ends_below_a_title():
    """A paragraph that is a title has room for what it is the title of; another needs none."""
    page = document(b.Sheet("x", "X", (), (b.Paragraph((b.Strong("Mistakes"),)),)))
    assert r"\needroom{14mm}\textbf{Mistakes}" in page
    page = document(b.Sheet("x", "X", (), (b.Paragraph((b.Strong("One"), " of")),)))
    assert r"mm}\textbf{One}" not in page
