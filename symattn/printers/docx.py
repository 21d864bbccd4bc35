"""Sheets as Word documents, for who must edit them.

A document is a ZIP file of parts in XML (Office Open XML, ECMA-376); those that are the
same in each, as the styles, lie in ``word/``. Mathematics is that of
:mod:`symattn.printers.omml`, headings and paragraphs have the styles of Word, and what is
aligned or side by side stands in tables, which every program shows. A blank is a content
control: who types into it replaces its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from string import Template
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from symattn import typesetting as t
from symattn.escaping import html_text
from symattn.printers import blocks as b
from symattn.printers import omml
from symattn.printers.layout import (
    Display,
    columns_of,
    cut,
    display_width,
    shelves,
    width,
)
from symattn.printers.word_tables import (
    BLANK,
    GAP,
    MATH,
    PAGE,
    Cell,
    blank_matrix,
    has_blanks,
    heat_map,
    paragraph,
    rows_table,
    runs,
    table,
    twips,
)

_PARTS = Path(__file__).with_name("word")
#: The parts by their places in the file, the first of which says what the others are.
_FILES = {
    "[Content_Types].xml": "content-types.xml",
    "_rels/.rels": "package.rels",
    "docProps/core.xml": "core.xml",
    "word/_rels/document.xml.rels": "document.rels",
    "word/styles.xml": "styles.xml",
    "word/settings.xml": "settings.xml",
    "word/footer.xml": "footer.xml",
}
_DOCUMENT = "word/document.xml"
_NAMESPACES = " ".join(
    f'xmlns:{name}="http://schemas.openxmlformats.org/{address}"'
    for name, address in (
        ("w", "wordprocessingml/2006/main"),
        ("m", "officeDocument/2006/math"),
        ("r", "officeDocument/2006/relationships"),
        ("wp", "drawingml/2006/wordprocessingDrawing"),
        ("a", "drawingml/2006/main"),
        ("pic", "drawingml/2006/picture"),
    )
)
_BEGIN = (
    f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<w:document {_NAMESPACES}><w:body>\n'
)
_END = "</w:body></w:document>\n"
_SECTION = "<w:sectPr>"
#: Width and height of a paper in mm.
_PAPERS = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
#: Word's dictionaries are those of a country.
_LANGUAGES = {"en": "en-US", "de": "de-DE"}
#: No document tells when it was made: the same sheet gives the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)
_LOGO = "word/media/logo.png"
_DRAWING = '<wp:docPr id="{}"'
#: The width of a page, in em of mathematics.
_ROOM = PAGE / MATH


def document(sheet: b.Sheet) -> bytes:
    """The Word document of a sheet.

    >>> made = document(b.Sheet("x", "A < B", ("by hand",), (b.Paragraph(("It is.",)),)))
    >>> text = ZipFile(BytesIO(made)).read("word/document.xml").decode()
    >>> "<w:t>A &lt; B</w:t>" in text, "<w:t>It is.</w:t>" in text
    (True, True)
    """
    tag = _LANGUAGES.get(sheet.say.tag, sheet.say.tag)
    title = b.words(sheet.heading) or sheet.name
    values = {"language": tag, "title": html_text(title), "logo": ""}
    parts: dict[str, bytes] = {}
    logo = ""
    if sheet.logo is not None:
        values["logo"] = (
            '\n  <Relationship Id="logo" Type="http://schemas.openxmlformats.org/officeDocument/'
            '2006/relationships/image" Target="media/logo.png"/>'
        )
        parts[_LOGO] = sheet.logo.data
        logo = paragraph(_image(sheet.logo), side="right")
    head = (
        logo + paragraph(runs(sheet.heading), "Title") + paragraph(runs(sheet.subtitle), "Subtitle")
    )
    text = f"{_BEGIN}{head}{_blocks(sheet.blocks)}{_section(sheet.paper)}{_END}"
    written = {
        name: Template((_PARTS / file).read_text("utf-8")).substitute(values).encode()
        for name, file in _FILES.items()
    }
    return _packed(written | {_DOCUMENT: text.encode()} | parts)


def bound(documents: Sequence[bytes]) -> bytes:
    """Documents of sheets as one, which begins each on a right-hand page.

    >>> one = document(b.Sheet("x", "X", (), ()))
    >>> text = ZipFile(BytesIO(bound([one, one]))).read("word/document.xml").decode()
    >>> text.count("<w:body>"), text.count('<w:type w:val="oddPage"/>')
    (1, 2)
    """
    packages = list(map(_unpacked, documents))
    *most, last = (
        # No two drawings have the same number.
        parts[_DOCUMENT].decode().removeprefix(_BEGIN).removesuffix(_END)
        .replace(_DRAWING.format(1), _DRAWING.format(number))
        for number, parts in enumerate(packages, 1)
    )  # fmt: skip
    ended = "".join(map(_ended, most))
    return _packed(packages[0] | {_DOCUMENT: f"{_BEGIN}{ended}{last}{_END}".encode()})


def _ended(body: str) -> str:
    """A body with the end of its section in a last paragraph, where others follow."""
    before, start, section = body.rpartition(_SECTION)
    return f'{before}<w:p><w:pPr><w:pStyle w:val="Gap"/>{start}{section}</w:pPr></w:p>'


def _packed(parts: Mapping[str, bytes]) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w") as package:
        for name, data in parts.items():
            info = ZipInfo(name, _DATE)
            # As on other systems.
            info.create_system = 3
            info.compress_type = ZIP_DEFLATED
            package.writestr(info, data)
    return file.getvalue()


def _unpacked(document: bytes) -> dict[str, bytes]:
    with ZipFile(BytesIO(document)) as package:
        return {name: package.read(name) for name in package.namelist()}


def _section(paper: str) -> str:
    """The last of a body: its paper, and that its pages begin on the right and are counted
    from 1."""
    across, high = _PAPERS[paper]
    side = (across - PAGE) / 2
    return (
        f'{_SECTION}<w:footerReference w:type="default" r:id="footer"/><w:type w:val="oddPage"/>'
        f'<w:pgSz w:w="{twips(across)}" w:h="{twips(high)}"/>'
        f'<w:pgMar w:top="{twips(18)}" w:right="{twips(side)}" w:bottom="{twips(22)}" '
        f'w:left="{twips(side)}" w:header="{twips(9)}" w:footer="{twips(9)}" w:gutter="0"/>'
        '<w:pgNumType w:start="1"/></w:sectPr>'
    )


def _image(logo: b.Logo) -> str:
    """A logo in a line, as large as 60 mm by 14 mm allow."""
    across, high = (int.from_bytes(logo.data[k : k + 4]) or 1 for k in (16, 20))
    scale = min(60 / across, 14 / high)
    # In units of which a millimetre has 36000.
    cx, cy = (max(round(36000 * scale * x), 1) for x in (across, high))
    return (
        '<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0">'
        f'<wp:extent cx="{cx}" cy="{cy}"/>{_DRAWING.format(1)} name="logo"/>'
        '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture">'
        '<pic:pic><pic:nvPicPr><pic:cNvPr id="0" name="logo"/><pic:cNvPicPr/></pic:nvPicPr>'
        '<pic:blipFill><a:blip r:embed="logo"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>'
        f'<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="{cx}" cy="{cy}"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    )


# -- blocks ---------------------------------------------------------------------


def _blocks(blocks: Iterable[b.Block]) -> str:
    shown = [block for block in blocks if not isinstance(block, b.Picture)]
    return "\n".join(
        _block(block, b.introduces(block, after)) for block, after in zip_longest(shown, shown[1:])
    )


def _block(block: b.Block, keep: bool) -> str:
    match block:
        case b.Heading(text, level):
            return paragraph(runs(text), f"Heading{min(level, 3)}")
        case b.Paragraph(text):
            return paragraph(runs(text), keep=keep)
        case b.Equations(lines, count):
            return _equations(lines, count)
        case b.Matrices() | b.HeatMaps():
            return "".join(map(_shelf, shelves((block,), _ROOM)))
        case b.Beside(items):
            return "".join(map(_shelf, shelves(items, _ROOM)))
        case b.Table():
            return rows_table(block)
        case b.RedPen():
            return _marked(block)
        case b.Listing(lines):
            return "".join(paragraph(runs((line,)), "Listing") for line in lines) + GAP
        case b.Picture():
            return ""


def _shelf(items: Sequence[Display]) -> str:
    """Displays side by side: matrices in one formula, others in a table without lines."""
    matrices = [item for item in items if isinstance(item, b.Matrix) and not has_blanks(item)]
    if len(matrices) == len(items):
        return _matrices(matrices)
    match items:
        case [b.Equations(lines) as equations]:
            return _equations(lines, columns_of(equations, _ROOM))
        case [item]:
            return _display(item)
    widths = [(display_width(item) + 1.5) * MATH for item in items]
    cells = [Cell(_display(item)) for item in items]
    return table([cells], widths) + GAP


def _matrices(items: Sequence[b.Matrix]) -> str:
    return paragraph(omml.matrices(items), "Display")


def _display(item: Display) -> str:
    match item:
        case b.Equations(lines):
            return _equations(lines, 1, display_width(item) * MATH)
        case b.Matrix():
            return blank_matrix(item) if has_blanks(item) else _matrices([item])
        case b.HeatMap():
            return heat_map(item)


def _equations(lines: Sequence[b.Equation], count: int, room: float = PAGE) -> str:
    """Equations aligned at their relations, in as many columns as fit: a table without lines."""
    count = min(count, columns_of(b.Equations(tuple(lines)), room / MATH))
    left = (max(width(line[0]) for line in lines) + 1) * MATH
    right = max(room / count - left, 20.0)
    cells = [_equation(*line) for line in lines]
    empty = [Cell(paragraph("", "Cell"))] * 2
    rows = [
        [cell for pair in cells[k : k + count] for cell in pair]
        + empty * (count - len(cells[k : k + count]))
        for k in range(0, len(cells), count)
    ]
    return table(rows, [left, right] * count) + GAP


def _equation(left: t.Row, relation: t.Row, right: t.Row) -> list[Cell]:
    """Both sides of a line; what continues that above is set in."""
    indent = t.Row() if relation else t.QUAD
    sides = (left, "right"), (indent + relation + right, "left")
    return [Cell(paragraph(omml.display(side, jc) if side else "", "Cell")) for side, jc in sides]


def _marked(marked: b.RedPen) -> str:
    """Figures on the left, what is said of them in red on the right."""
    pieces = [_matrices([piece]) for piece in cut(marked.matrix, 0.62 * _ROOM)]
    left = paragraph(runs((marked.where,)), "Label") + "".join(pieces)
    notes = "".join(paragraph(runs(note, omml.PEN), "RedPen") for note in marked.notes)
    return table([[Cell(left), Cell(notes or BLANK)]], [0.65 * PAGE, 0.35 * PAGE]) + GAP
