"""What stands at the head of a course's exercises: lines of text, and a logo."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from symattn.errors import Malformed, blamed_on, short
from symattn.printers.blocks import Logo
from symattn.tables.file import content

#: Lines of a header, their letters, and the bytes of a logo, at most.
LINES, LETTERS, BYTES = 6, 200, 500_000

_HEADER = ("text file", "or give the text itself")
_LOGO = ("image", "expected a png or svg file, for LaTeX png or pdf")
_FORMS = {"html": ("png", "svg"), "tex": ("png", "pdf"), "pdf": ("png", "pdf")}


def read_header(header: str) -> tuple[str, ...]:
    """The lines of a header: the text itself, or that of a file whose name ends in ``.txt``.

    Raises :class:`Malformed` where the file can't be read, or it is too long.

    >>> read_header("Deep Learning, sheet 3")
    ('Deep Learning, sheet 3',)
    """
    text = header
    if header.endswith(".txt"):
        with blamed_on(header):
            data = content(Path(header), "the header", *_HEADER)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Malformed(f"{header}: not UTF-8 text: byte {error.start} can't be read") from None
    lines = tuple(line.strip() for line in text.splitlines() if line.strip())
    if len(lines) > LINES or any(len(line) > LETTERS for line in lines):
        raise Malformed(f"a header has at most {LINES} lines of {LETTERS} letters")
    return lines


def read_logo(path: Path, form: str) -> Logo:
    """The logo in a file, for documents of that form.

    Raises :class:`Malformed` for what is no image that they can show, and for one
    that is too large.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _FORMS[form]:
        wanted = " or ".join(_FORMS[form])
        raise Malformed(f"{path}: a logo for {form} is {wanted}, found {short(kind) or 'nothing'}")
    with blamed_on(path):
        data = content(path, "the logo", *_LOGO)
    if len(data) > BYTES:
        raise Malformed(f"{path}: a logo of {len(data)} bytes; at most {BYTES} are allowed")
    if not _KINDS[kind](data):
        raise Malformed(f"{path}: the file's content is not {kind.upper()}")
    return Logo(data, kind)


def _is_png(data: bytes) -> bool:
    begins = data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR"
    return begins and b"IEND" in data[-12:]


def _is_pdf(data: bytes) -> bool:
    return data.startswith(b"%PDF-") and b"%%EOF" in data[-1024:]


def _is_svg(data: bytes) -> bool:
    """Whether it is well-formed, an ``svg``, and defines nothing of its own."""
    names: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: names.append(name)
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError:
        return False
    return names[0].rpartition(":")[2] == "svg"


def _refuse(*declaration: object) -> None:
    """What a document declares could be as long as it likes."""
    raise expat.ExpatError


_KINDS = {"png": _is_png, "pdf": _is_pdf, "svg": _is_svg}
