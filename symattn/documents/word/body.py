"""The body of a Word document put into blocks, and into the text that places count in.

A paragraph is a line of that text, with its formulas between dollars; a row of a table is
one, with bars between its cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise

from symattn.documents.article import (
    Block,
    BlockPart,
    Contents,
    ParagraphBuilder,
    ParagraphPlace,
    PartKind,
    PlaceKind,
    TableBuilder,
    listing,
    trimmed,
)
from symattn.documents.text import Span, Text
from symattn.documents.word.elements import Element, Styles
from symattn.documents.word.package import Package, WrittenText, tree
from symattn.spelling import DECIMAL, pairs

# -- Office mathematics to the source that LaTeX would have ------------------------------
# An element becomes a form of LaTeX, in which its arguments stand. What is typed in a line, ``Q
# K^T`` or ``■(1&2@3&4)``, is LaTeX already but for its matrices.

#: What elements become: a name in angles is the argument of that name.
_FORMS = pairs(
    r"f \frac{<num>}{<den>} sSup <e>^{<sup>} sSub <e>_{<sub>} sSubSup <e>_{<sub>}^{<sup>}"
    r" sPre {}_{<sub>}^{<sup>}<e> limLow <e>_{<lim>} limUpp <e>^{<lim>} box <e>"
    r" borderBox <e> func <fName><e> rad \sqrt[<deg>]{<e>}"
)
_ARGUMENT = re.compile("<([a-zA-Z]+)>")
#: Bases of indices that take braces.
_HIGH = frozenset(("m:f", "m:nary", "m:func"))
#: What is no part of what is said.
_NO_MATHEMATICS = frozenset(
    ("w:del", "w:moveFrom", "w:rPr", "w:pPr", "m:rPr", "m:ctrlPr", "m:argPr")
)
_ACCENTS = {
    "\u0302": r"\hat", "^": r"\hat", "\u0303": r"\tilde", "~": r"\tilde", "\u0304": r"\bar",
    "\u0305": r"\bar", "\u20d7": r"\vec", "\u0307": r"\dot", "\u0308": r"\ddot",
}  # fmt: skip
_BRACES = {"⏟": r"\underbrace", "⏞": r"\overbrace"}
_LARGE = pairs(r"∑ \sum ∏ \prod ∫ \int")
_FENCES = {"{": r"\{", "}": r"\}", "": ".", "‖": r"\|"}
#: What LaTeX writes otherwise, and what isn't seen.
_SIGNS = re.compile(r"[%#$&{}]|[\s\u00a0]++|[\u200b\u2060-\u2062\u2064〖〗]|\u2063")
_COMMAND = re.compile(r"\\[A-Za-z]")
_LETTERS = re.compile(r"[A-Za-z]{2,}")
#: Matrices, and lines one below the other, as they are typed.
_TYPED = re.compile(r"(?:■|█|\\matrix|\\eqarray)\(([^()]*)\)")
_ROW_END = re.compile("@")
_EQUATES = re.compile("[=≈]")


def formula(element: Element) -> Text:
    r"""The source of what an element of mathematics holds.

    >>> from symattn.documents.word.elements import parsed
    >>> space = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    >>> fraction = "<f><num><r><t>x</t></r></num><den><r><t>2</t></r></den></f>"
    >>> str(formula(parsed(f'<oMath xmlns="{space}">{fraction}</oMath>')))
    '\\frac{x}{2}'
    """
    return _with_matrices(Text.joined([element.mark(""), *_row(element)])).stripped()


def _row(element: Element | None) -> Iterator[Text]:
    """Yield what stands in an element, one after the other; runs that look alike are one."""
    if element is None:
        return
    inside = [*_inside_formula(element)]
    labels = {id(one) for one, after in pairwise(inside) if _labels(one, after)}
    for look, group in groupby(inside, key=_look):
        if look is None:
            for child in group:
                if id(child) not in labels:
                    yield from _made(child)
        else:
            yield from _run(list(group), *look)


def _labels(matrix: Element, after: Element) -> bool:
    """Return whether a matrix without brackets is a column of words, the labels of the rows of the
    one after it."""
    if (matrix.name, after.name) != ("m:m", "m:d"):
        return False
    rows = [[*row.all("m:e")] for row in matrix.all("m:mr")]
    return all(len(row) == 1 and all(map(_is_word, row[0].elements)) for row in rows)


def _is_word(element: Element) -> bool:
    return element.name in ("m:ctrlPr", "m:argPr", "m:phant") or element.is_on("m:rPr", "m:nor")


def _inside_formula(element: Element) -> Iterator[Element]:
    for child in element.elements:
        if child.name in _NO_MATHEMATICS:
            continue
        if child.name.startswith("m:"):
            yield child
        else:
            # What was put in, and such as a link.
            yield from _inside_formula(child)


def _look(element: Element) -> tuple[bool, bool] | None:
    """Return whether a run is set as words, and whether upright; None of what is none."""
    if element.name != "m:r":
        return None
    return element.is_on("m:rPr", "m:nor"), element.value("m:rPr", "m:sty") == "p"


def _run(runs: Iterable[Element], is_words: bool, is_upright: bool) -> Iterator[Text]:
    texts = [text for run in runs for text in _typed(run)]
    if not texts:
        return
    text = Text.joined(texts)
    if is_words and not _LETTERS.fullmatch(text.string.strip()):
        words = _LETTERS.search(text.string)
        yield text.enclosed(r"\text{", "}") if words else _as_latex(text)
    elif is_words or (is_upright and _LETTERS.fullmatch(text.string)):
        yield text.stripped().enclosed(r"\operatorname{", "}")
    else:
        yield _as_latex(text)


def _typed(run: Element) -> Iterator[Text]:
    for child in run.elements:
        if child.name in ("m:t", "w:t"):
            yield child.text
            if child.text.string in (",", ";"):
                # A comma of its own parts what is beside it, and belongs to no number.
                yield child.behind(" ")
        elif child.name == "w:br":
            yield child.mark(r" \\ ")


def _as_latex(text: Text) -> Text:
    """Return what is typed as LaTeX has it; who types commands means these."""
    if _COMMAND.search(text.string) or _TYPED.search(text.string):
        return text
    return text.sub(_SIGNS, _sign)


def _sign(sign: re.Match[str]) -> str:
    """Return how LaTeX writes a sign; what only says where lines align is left out."""
    match sign[0]:
        case "\u2063":
            return ","
        case "%" | "#" | "$" | "{" | "}":
            return f"\\{sign[0]}"
        case other if other.isspace():
            return r"\quad " if len(other) > 1 or other == "\u2003" else " "
    return ""


def _with_matrices(text: Text) -> Text:
    """A formula with the matrices that are typed in a line as those of LaTeX."""

    def matrix(typed: re.Match[str]) -> Text:
        rows = text.group(typed, 1).sub(_ROW_END, r" \\ ")
        return rows.enclosed(r"\begin{matrix} ", r" \end{matrix}")

    return text.sub(_TYPED, matrix)


def _typed_in(element: Element | None) -> str:
    runs = element.all("m:r") if element is not None else ()
    return "".join(text.string for run in runs for text in _typed(run)).strip()


def _equates(element: Element) -> bool:
    """Return whether a cell has a sign of equality of its own: then it is no entry of a matrix."""
    return _EQUATES.search(_typed_in(element)) is not None


def _says(element: Element | None) -> bool:
    """Return whether an argument has anything in it."""
    waiting = [element] if element is not None else []
    while waiting:
        here = waiting.pop()
        if any(text.string.strip() for text in here.texts):
            return True
        waiting.extend(child for child in here.elements if child.name not in _NO_MATHEMATICS)
    return False


def _made(element: Element) -> Iterator[Text]:
    kind = element.name.removeprefix("m:")
    match kind:
        case "d":
            yield from _fenced(element)
        case "m":
            rows = [[*row.all("m:e")] for row in element.all("m:mr")]
            are_equations = any(_equates(cell) for row in rows for cell in row)
            yield from _laid_out(element, rows, are_equations)
        case "eqArr":
            yield from _laid_out(element, [[line] for line in element.all("m:e")], True)
        case "nary":
            yield from _nary(element)
        case "acc":
            mark = _ACCENTS.get(element.value("m:accPr", "m:chr") or "\u0302", "")
            yield from _filled(element, f"{mark}{{<e>}}")
        case "bar":
            is_below = element.value("m:barPr", "m:pos") != "top"
            yield from _filled(element, rf"\{'under' if is_below else 'over'}line{{<e>}}")
        case "groupChr":
            sign = element.value("m:groupChrPr", "m:chr") or "⏟"
            yield from _filled(element, f"{_BRACES.get(sign, '')}{{<e>}}")
        case "limLow" | "limUpp" if brace := _BRACES.get(_typed_in(element.child("m:lim"))):
            yield from _filled(element, f"{brace}{{<e>}}")
        case "phant" if element.find("m:phantPr", "m:show") and not element.is_on(
            "m:phantPr", "m:show"
        ):
            return
        case "rad" if not _says(element.child("m:deg")):
            yield from _filled(element, r"\sqrt{<e>}")
        case "f" if element.value("m:fPr", "m:type") == "noBar":
            yield from _filled(element, r"\binom{<num>}{<den>}")
        case "sSup" | "sSub" | "sSubSup":
            base = element.child("m:e")
            is_high = base is not None and any(x.name in _HIGH for x in base.elements)
            form = _FORMS[kind]
            yield from _filled(element, form.replace("<e>", "{<e>}") if is_high else form)
        case _ if kind in _FORMS:
            yield from _filled(element, _FORMS[kind])
        case _:
            yield from _row(element)


def _filled(element: Element, form: str) -> Iterator[Text]:
    """A form with its arguments, where these stand in the element."""
    behind = element.start
    for place, piece in enumerate(_ARGUMENT.split(form)):
        argument = element.child(f"m:{piece}") if place % 2 else None
        if argument is not None:
            yield from _row(argument)
            behind = argument.end
        elif not place % 2:
            yield Text.at(piece, Span(behind, behind))


def _fenced(element: Element) -> Iterator[Text]:
    """Yield what stands in brackets; without a word these are round ones, and a bar is between."""

    def sign(name: str, usual: str) -> str:
        found = element.find("m:dPr", name)
        return usual if found is None else found.attributes.get("val", "")

    opening, closing = sign("m:begChr", "("), sign("m:endChr", ")")
    if (opening, closing) == ("[", ")") and any(held.child("m:m") for held in element.all("m:e")):
        # As LibreOffice saves what it read from Word.
        closing = "]"
    yield element.mark(rf"\left{_FENCES.get(opening, opening)} ")
    for place, argument in enumerate(element.all("m:e")):
        if place:
            yield argument.mark(f"{sign('m:sepChr', '|')} ")
        yield from _row(argument)
    yield element.behind(rf" \right{_FENCES.get(closing, closing)} ")


def _laid_out(
    element: Element, rows: Sequence[Sequence[Element]], are_equations: bool
) -> Iterator[Text]:
    """A matrix, or lines of equations, in which a cell that begins with a sign of equality, or
    stands behind one, goes on with the equation before it."""
    name = "aligned" if are_equations else "matrix"
    yield element.mark(rf"\begin{{{name}}} ")
    for number, row in enumerate(rows):
        ended = True
        for place, cell in enumerate(row):
            typed = _typed_in(cell)
            starts = ended and not _EQUATES.match(typed)
            if place or number:
                beside = " & " if place == 1 or not are_equations else " "
                beside = r" \quad " if are_equations and starts else beside
                yield cell.mark(beside if place else r" \\ ")
            yield from _row(cell)
            ended = _says(cell) and not _EQUATES.fullmatch(typed)
    yield element.behind(rf" \end{{{name}}}")


def _nary(element: Element) -> Iterator[Text]:
    char = element.find("m:naryPr", "m:chr")
    said = "∫" if char is None else char.attributes.get("val", "")
    form = f"{_LARGE.get(said, said)} "
    for name, mark in (("sub", "_"), ("sup", "^")):
        if _says(element.child(f"m:{name}")):
            form = f"{form.rstrip()}{mark}{{<{name}>}} "
    yield from _filled(element, form + "<e>")


# -- body --------------------------------------------------------------------------------

#: What is no part of the text: what was taken out, what only tells how something looks.
_SKIPPED = frozenset(
    ("w:del", "w:moveFrom", "w:pPr", "w:rPr", "w:sdtPr", "w:sdtEndPr", "w:sectPr", "w:tblPr",
     "w:tblGrid", "w:rubyPr", "w:rt")
)  # fmt: skip
_ADDED = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-"}
#: Marks around what stands in a line, where people see it.
_MARKS = {"math": "$", "code": "`"}
#: Quotation marks that Word makes of those that are typed in code.
_QUOTES = re.compile("[“”„‘’]")
_UNSEEN = re.compile("[\u00ad\u200b\ufeff]")
_LINE_END = re.compile(r"[\r\n]")
#: A sign of equality that what stands in a cell begins with, which goes on with the cell before.
_GOES_ON = re.compile(r"\s*+(?:[=≈→]|\\(?:approx|to|rightarrow)\b)")
_MATRIX = "\\begin{matrix}"
_COUNTED = re.compile(r"\s*+(?:\([0-9.]++[a-z]?\))?+\s*+")
#: The notes below the text: what they are to the document, their elements, and their name.
_NOTES: Sequence[tuple[str, str, PlaceKind]] = (
    ("footnotes", "w:footnote", "footnote"),
    ("endnotes", "w:endnote", "endnote"),
)
#: The letters and signs of Symbol, an old font with codes of its own.
_SYMBOLS = dict(
    zip(
        [*range(0x61, 0x7B), 0x2D, 0xA3, 0xA5, 0xAE, 0xB1, 0xB3, 0xB4, 0xB9, 0xBB, 0xC5, 0xD7],
        "αβχδεφγηιϕκλμνοπθρστυϖωξψζ−≤∞→±≥×≠≈⊕⋅",
        strict=True,
    )
)


@dataclass(frozen=True)
class _Piece(BlockPart):
    """A piece of a paragraph, whether it is set lower or higher, and whether it is a formula
    that stands by itself."""

    raised: str = ""
    is_display: bool = False

    @property
    def mark(self) -> str:
        """Return what stands around it where people see it."""
        return "$$" if self.is_display else _MARKS.get(self.kind, "")


class BodyReader:
    """Reads bodies one after the other; :meth:`contents` is what was found."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._blocks: list[Block] = []
        self._title = ""
        self._lines = _Lines()
        self._kind: PlaceKind = "paragraph"
        self._count = self._tables = 0
        #: Lines of code, which go on up to what is none.
        self._code: list[tuple[Text, ParagraphPlace]] = []
        self._boxes: list[Element] = []
        self._objects = 0

    def read(self, body: Element, kind: PlaceKind = "paragraph") -> None:
        """Read a body, or the notes below the text, which are counted by themselves."""
        self._kind, self._count = kind, 0
        self._read(body)
        self._end_code()

    def contents(self) -> tuple[Text, Contents]:
        """The text, and what it holds."""
        notes: tuple[str, ...] = ()
        if self._objects:
            notes = (f"formulas of MathType or in fields, not read: {self._objects}",)
        places = tuple(self._lines.places)
        return self._lines.text, Contents(
            tuple(self._blocks), self._title, notes, paragraphs=places
        )

    def _read(self, element: Element) -> None:
        for child in _inside(element):
            match child.name:
                case "w:p" | "m:oMathPara" | "m:oMath":
                    self._paragraph(child)
                case "w:tbl":
                    self._table(child)
                case _:
                    self._read(child)

    # -- paragraphs -----------------------------------------------------------------

    def _paragraph(self, element: Element) -> None:
        properties = element.child("w:pPr")
        style = element.value("w:pPr", "w:pStyle")
        pieces = self._pieces(element)
        boxes, self._boxes = self._boxes, []
        if not self._styles.is_again(style):
            self._put(pieces, self._styles.level(style, properties), self._styles.is_title(style))
        for box in boxes:
            self._end_code()
            self._read(box)

    def _put(self, pieces: Sequence[_Piece], level: int, is_title: bool) -> None:
        said = [piece for piece in pieces if piece.text.string.strip()]
        if not said:
            if self._code:
                text, place = self._code[-1]
                self._code.append((text[:0], place))
            return
        self._count += 1
        place = ParagraphPlace(self._kind, self._count)
        if not level and all(piece.kind == "code" for piece in said):
            text = Text.joined([piece.text for piece in pieces])
            if any("\n" in one.string for one in (text, *(line for line, _ in self._code[-1:]))):
                # A paragraph of several lines is a listing of its own.
                self._end_code()
            self._code.append((text, place))
            return
        self._end_code()
        if not level and [piece.kind for piece in said] == ["math"]:
            pieces = [replace(said[0], is_display=True)]
        alone = groupby(trimmed(pieces), key=lambda piece: piece.is_display and not level)
        for is_alone, run in alone:
            if is_alone:
                for piece in run:
                    self._blocks.append(Block.of("formula", self._lines.marked(piece)))
                    self._lines.end(place)
            elif parts := self._together(run):
                self._blocks.append(Block("heading" if level else "prose", parts, level=level))
                self._lines.end(place)
        if is_title and not self._title:
            self._title = " ".join(self._blocks[-1].text.string.split())

    def _together(self, pieces: Iterable[_Piece]) -> tuple[BlockPart, ...]:
        """Put pieces in a line, as parts of one block."""
        builder = ParagraphBuilder()
        for piece in pieces:
            builder.add(self._lines.marked(replace(piece, is_display=False)), piece.kind)
        return builder.end()

    def _end_code(self) -> None:
        """What is set as code in one paragraph after the other is one listing."""
        lines, self._code = self._code, []
        texts = []
        for text, place in lines:
            text = text.sub(_QUOTES, lambda quote: '"' if quote[0] in "“”„" else "'")
            texts += [self._lines.put(text), self._lines.end(place)]
        if texts:
            self._blocks += listing(Text.joined(texts), before=self._blocks)

    def _pieces(self, element: Element) -> list[_Piece]:
        """The pieces of a paragraph; what is set lower or higher is an index."""
        style = element.value("w:pPr", "w:pStyle")
        is_code = self._styles.is_code(style, None)
        top = [element] if element.name.startswith("m:") else _inside(element)
        found = [piece for child in top for piece in self._of(child, is_code)]
        pieces: list[_Piece] = []
        for (kind, raised), group in groupby(found, key=lambda one: (one.kind, one.raised)):
            if kind == "math":
                pieces += group
                continue
            text = Text.joined([piece.text for piece in group])
            if raised and text.string.strip():
                one = len(text.string) == 1
                text = text.enclosed(raised if one else f"{raised}{{", "" if one else "}")
            pieces.append(_Piece(kind, text))
        return pieces

    def _of(self, element: Element, is_code: bool) -> Iterator[_Piece]:
        match element.name:
            case "w:r":
                yield from self._run(element, is_code)
            case "m:oMath":
                if len(text := formula(element)):
                    yield _Piece("math", text)
            case "m:oMathPara":
                for child in _inside(element):
                    if child.name == "m:oMath" and len(text := formula(child)):
                        yield _Piece("math", text, is_display=True)
            case "w:txbxContent":
                self._boxes.append(element)
            case "w:p":
                # In a cell, what is in several paragraphs is in one.
                yield _Piece("text", element.mark(" "))
                for child in _inside(element):
                    yield from self._of(child, is_code)
            case _:
                for child in _inside(element):
                    yield from self._of(child, is_code)

    def _run(self, run: Element, outer: bool) -> Iterator[_Piece]:
        properties = run.child("w:rPr")
        if properties is not None and properties.is_on("w:vanish"):
            return
        style = run.value("w:rPr", "w:rStyle")
        kind: PartKind = "code" if self._styles.is_code(style, properties, outer) else "text"
        align = run.value("w:rPr", "w:vertAlign")
        raised = {"superscript": "^", "subscript": "_"}.get(align, "")
        for child in _inside(run):
            if child.name == "w:t":
                yield _Piece(kind, child.text.sub(_UNSEEN, "").sub(_LINE_END, " "), raised)
            elif child.name in _ADDED:
                yield _Piece(kind, Text.at(_ADDED[child.name], Span(child.start, child.end)))
            elif child.name == "w:sym":
                yield _Piece(kind, Text.at(_symbol(child), Span(child.start, child.end)), raised)
            elif child.name == "w:instrText":
                self._objects += child.text.string.lstrip().startswith("EQ ")
            else:
                for object_ in _all(child, "o:OLEObject"):
                    self._objects += object_.attributes.get("ProgID", "").startswith("Equation")
                self._boxes += _all(child, "w:txbxContent")

    # -- tables ---------------------------------------------------------------------

    def _table(self, table: Element) -> None:
        self._end_code()
        rows = [row for row in _deep(table, "w:tr") if row.find("w:trPr", "w:del") is None]
        cells = [list(_deep(row, "w:tc")) for row in rows]
        if len(cells) == len([*chain(*cells)]) == 1:
            # A frame around what stands in it.
            self._read(cells[0][0])
            return
        self._tables += 1
        if any(map(self._is_laid_out, chain(*cells))):
            self._equations(cells)
            return
        builder = TableBuilder()
        read = [[self._pieces(cell) for cell in row] for row in cells]
        has_head = _has_head(read)
        for number, (row, inside) in enumerate(zip(rows, cells, strict=True), 1):
            is_head = (number == 1 and has_head) or row.is_on("w:trPr", "w:tblHeader")
            for at, cell in enumerate(inside):
                if at:
                    self._lines.mark(" | ")
                span = cell.value("w:tcPr", "w:gridSpan")[:4]
                merged = cell.find("w:tcPr", "w:vMerge")
                goes_on = merged is not None and merged.attributes.get("val") != "restart"
                parts = () if goes_on else self._cell(read[number - 1][at])
                builder.cell(parts, is_head, int(span) if span.isdecimal() else 1)
            builder.line()
            self._lines.end(ParagraphPlace("table", number, self._tables))
        boxes, self._boxes = self._boxes, []
        if found := builder.rows():
            self._blocks.append(Block("table", rows=found))
        for box in boxes:
            self._read(box)

    def _cell(self, pieces: Sequence[_Piece]) -> tuple[BlockPart, ...]:
        return self._together(
            replace(piece, text=piece.text.sub(_LINE_END, " ")) for piece in trimmed(pieces)
        )

    def _is_laid_out(self, cell: Element) -> bool:
        """Return whether a cell holds a part of an equation, or a matrix: then nothing is
        tabulated."""
        said = [piece for piece in self._pieces(cell) if piece.text.string.strip()]
        self._boxes = []
        if not said or said[0].kind != "math":
            return False
        return bool(_GOES_ON.match(said[0].text.string)) or _MATRIX in said[0].text.string

    def _equations(self, rows: Sequence[Sequence[Element]]) -> None:
        """A table that only lays out equations: a cell that begins with a sign of equality, or
        with nothing to its left, goes on with what stands before it."""
        table, equations = self._tables, list[list[Text]]()
        for number, row in enumerate(rows, 1):
            place = ParagraphPlace("table", number, table)
            for cells in self._parted(row):
                if isinstance(cells, Element):
                    self._lines.end(place)
                    equations = self._end_equations(equations)
                    self._table(cells)
                    continue
                is_first = True
                for at, cell in enumerate(cells):
                    pieces = [one for one in self._pieces(cell) if one.text.string.strip()]
                    if _is_formula(pieces):
                        self._equate(pieces, equations, bool(at) and is_first)
                    elif pieces and _is_number(pieces):
                        self._lines.marked(pieces[0])
                    elif pieces:
                        equations = self._end_equations(equations)
                        self._blocks.append(Block("prose", self._together(trimmed(pieces))))
                        self._lines.mark(" ")
                    is_first = is_first and not pieces
            self._lines.end(place)
        self._end_equations(equations)

    def _parted(self, row: Sequence[Element]) -> Iterator[Sequence[Element] | Element]:
        """Yield what a row is made of: cells, the rows of tables in it that only lay out as well,
        and other tables."""
        plain: list[Element] = []
        for cell in row:
            tables = [table for table in _inside(cell) if table.name == "w:tbl"]
            if not tables:
                plain.append(cell)
                continue
            if plain:
                yield plain
                plain = []
            for table in tables:
                rows = [list(_deep(inner, "w:tc")) for inner in _deep(table, "w:tr")]
                if any(map(self._is_laid_out, chain(*rows))):
                    for inner in rows:
                        yield from self._parted(inner)
                else:
                    yield table
        if plain:
            yield plain

    def _equate(self, pieces: Sequence[_Piece], equations: list[list[Text]], goes_on: bool) -> None:
        """The formulas of a cell, which the number of an equation may stand beside."""
        for one in pieces:
            if one.kind == "text":
                self._lines.marked(one)
                continue
            text = self._lines.marked(replace(one, is_display=False))
            self._lines.mark(" ")
            if equations and (goes_on or _GOES_ON.match(text.string)):
                equations[-1].append(text)
            else:
                equations.append([text])
            goes_on = False

    def _end_equations(self, equations: list[list[Text]]) -> list[list[Text]]:
        for pieces in equations:
            self._blocks.append(Block.of("formula", Text.joined(pieces, " ")))
        return []


class _Lines:
    """The text that places count in, while it is put together."""

    def __init__(self) -> None:
        self._pieces: list[Text] = []
        self._length = 0
        self._at = Span(0, 0)
        self._ends = 0
        self.places: list[ParagraphPlace] = []

    @property
    def text(self) -> Text:
        return Text.joined(self._pieces) if self._pieces else Text.whole("")

    def put(self, text: Text) -> Text:
        """Put a text in, and give it with its places there."""
        start, self._length = self._length, self._length + len(text)
        self._pieces.append(text)
        if len(text):
            self._at = Span(text.ends[-1], text.ends[-1])
            self._ends += text.string.count("\n")
        return Text(text.string, range(start, self._length), range(start + 1, self._length + 1))

    def mark(self, string: str) -> Text:
        """Put in what the file does not have."""
        return self.put(Text.at(string, self._at))

    def marked(self, piece: _Piece) -> Text:
        """Put in a piece between its marks."""
        self.mark(piece.mark)
        put = self.put(piece.text)
        self.mark(piece.mark)
        return put

    def end(self, place: ParagraphPlace) -> Text:
        """A line ends, in code also one of nothing."""
        end = self.mark("\n")
        self.places += [place] * (self._ends - len(self.places))
        return end


def _inside(element: Element) -> Iterator[Element]:
    """The elements in one, without what was taken out; of alternatives the first."""
    for child in element.elements:
        if child.name == "mc:AlternateContent":
            chosen = child.child("mc:Choice") or child.child("mc:Fallback")
            if chosen is not None:
                yield chosen
        elif child.name not in _SKIPPED:
            yield child


def _deep(element: Element, name: str) -> Iterator[Element]:
    """Yield those of that name in an element, but none in another one of it."""
    for child in _inside(element):
        if child.name == name:
            yield child
        elif child.name not in ("w:tbl", "w:p"):
            yield from _deep(child, name)


def _all(element: Element, name: str) -> Iterator[Element]:
    """Yield those of that name in an element, itself among them."""
    waiting = [element]
    while waiting:
        here = waiting.pop()
        if here.name == name:
            yield here
        else:
            waiting.extend(reversed([*_inside(here)]))


def _is_number(pieces: Sequence[_Piece]) -> bool:
    """Return whether a cell holds the number of an equation."""
    return len(pieces) == 1 and bool(_COUNTED.fullmatch(pieces[0].text.string))


def _is_formula(pieces: Sequence[_Piece]) -> bool:
    """Return whether a cell holds formulas, and nothing else but the number of one."""
    words = "".join(one.text.string for one in pieces if one.kind == "text")
    return any(one.kind == "math" for one in pieces) and bool(_COUNTED.fullmatch(words))


def _symbol(element: Element) -> str:
    code = element.attributes.get("char", "")
    try:
        number = int(code, 16) & 0xFF
    except ValueError:
        return "\ufffd"
    font = element.attributes.get("font", "").lower()
    return _SYMBOLS.get(number, "\ufffd") if font == "symbol" else "\ufffd"


def _has_head(rows: Sequence[Sequence[Sequence[_Piece]]]) -> bool:
    """Return whether the first row tells what stands in the columns: no number alone is in it, and
    some are below it."""
    numbers = [
        [re.fullmatch(DECIMAL, "".join(p.text.string for p in cell).strip()) for cell in row]
        for row in rows
    ]
    return len(rows) > 1 and not any(numbers[0]) and any(map(any, numbers[1:]))


def read(data: bytes) -> tuple[WrittenText, Contents]:
    """The text of a document, and the blocks in it.

    Raises :class:`Malformed` for what is no Word document, or too large.
    """
    package = Package(data)
    parts = [package.document]
    styles = package.beside("styles")
    reader = BodyReader(Styles(tree(styles) if styles else None))
    body = tree(parts[0]).child("w:body")
    if body is not None:
        reader.read(body)
    for kind, name, called in _NOTES:
        part = package.beside(kind)
        if part is None:
            continue
        parts.append(part)
        root = tree(part)
        # Those with a type are only the lines above them.
        notes = [note for note in root.all(name) if "type" not in note.attributes]
        reader.read(Element(root.name, {}, root.start, root.end, [*notes]), called)
    text, contents = reader.contents()
    return WrittenText(package, tuple(parts), text), contents
