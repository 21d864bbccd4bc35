"""The door for articles: a file's bytes to an :class:`Article`, by its form."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import TYPE_CHECKING

from symattn.documents.article import Article, Block, Contents, Form
from symattn.documents.text import Text
from symattn.errors import Fault, Malformed, alike, expected, short
from symattn.limits import LINES, NUMBERS
from symattn.spelling import DECIMAL
from symattn.tables.file import content

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The forms of articles by the suffixes of their files, in lower case.
FORMS: Mapping[str, Form] = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd", ".mdx", ".myst"), "markdown"),
    **dict.fromkeys((".qmd", ".rmd"), "markdown"),
    ".ipynb": "notebook",
    **dict.fromkeys((".tex", ".ltx", ".latex"), "latex"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".pdf": "pdf",
    ".docx": "word",
    **dict.fromkeys((".txt", ".text", ".rst"), "text"),
}

#: The usual suffixes, as messages name them.
SUFFIXES = (".md", ".ipynb", ".tex", ".html", ".docx", ".pdf", ".txt")

#: The suffixes of files that programs for Word documents save as such.
OF_WORD = (".doc", ".dot", ".odt", ".rtf")

#: What messages call an article, and how one is made.
_KIND = ("file", f"an article ends in one of {', '.join(FORMS)}")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

#: How the name of a side file ends, in which an author says something of an article.
SIDE_FILE = ".symattn.toml"


def is_side_file(name: str | Path) -> bool:
    """Return whether a file of that name is a side file.

    >>> is_side_file("post.symattn.toml"), is_side_file("post.toml")
    (True, False)
    """
    return str(name).endswith(SIDE_FILE)


def is_article(name: str | Path) -> bool:
    """Return whether a file of that name is an article.

    >>> is_article("post.md"), is_article("post.toml"), is_article("cat-sat-mat")
    (True, False, False)
    """
    return Path(name).suffix.lower() in FORMS


def read_article(path: str | Path) -> Article:
    """The article in the file at ``path``.

    Raises :class:`Malformed` where it can't be read, with what was wrong and where.
    """
    path = Path(path)
    try:
        kind, hint = _KIND
        return article(path, content(path, "the file", kind, _meant(path) or hint))
    except Malformed as error:
        raise Malformed(error.faults, str(path), error.more) from None


def articles_in(folder: Path) -> list[str]:
    """The names of the articles in a folder, in order; none where it can't be read."""
    try:
        return sorted(path.name for path in folder.iterdir() if is_article(path))
    except (OSError, ValueError):
        return []


def is_there(path: Path) -> bool:
    """Return whether a path is one of something; what can be no path is none."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _meant(path: Path) -> str:
    """The article beside it that a path which nothing has may have meant, as a question."""
    return "" if is_there(path) else alike(path.name, articles_in(path.parent))


def article(path: Path, data: bytes) -> Article:
    """The article of a file that holds these bytes; its suffix tells the form.

    >>> article(Path("a.md"), b"So $x = 1$").blocks[0].parts[1].kind
    'math'
    """
    form = FORMS.get(path.suffix.lower())
    if form is None:
        suffix = repr(short(path.suffix)) if path.suffix else "none"
        raise Malformed(
            f"the suffix of an article is {expected(path.suffix, FORMS)}; found {suffix}"
        )
    encoding, packed = "utf-8", None
    # Places in what is no text count in the text that is seen of it.
    if form == "word":
        from symattn.documents import word

        packed, contents = word.read(data)
        source = packed.text.string
        _check_lines(source.split("\n"))
    else:
        if form == "pdf":
            from symattn.documents import pdf

            source = pdf.text(data)
        else:
            source, encoding = decoded(data)
        text = Text.whole(source)[source.startswith("\ufeff") :].with_plain_ends()
        # A notebook has its lines in strings.
        _check_lines(text.string.split("\\n" if form == "notebook" else "\n"))
        contents = _read(form, text)
    title = contents.title or _heading(contents.blocks)
    found = contents.notes, contents.cells, contents.paragraphs
    return _checked(Article(path, form, source, contents.blocks, encoding, title, *found, packed))


def _check_lines(lines: Iterable[str]) -> None:
    if (count := sum(1 for line in lines if line.strip())) > LINES.most:
        raise Malformed(f"the file has {LINES.said(count)}")


def _checked(article: Article) -> Article:
    """An article; Malformed, with the place, where it prints more numbers than are read."""
    left = NUMBERS.most
    for text in (part.text for block in article.blocks for part in block.all_parts):
        starts = [match.start() for match in re.finditer(DECIMAL, text.string)]
        if len(starts) > left:
            place = article.place(text.span(starts[left]).start)
            raise Malformed(Fault(f"column {place.column}", NUMBERS.said(), place.line))
        left -= len(starts)
    return article


def decoded(data: bytes) -> tuple[str, str]:
    """The text of these bytes, and its encoding: UTF-8, or UTF-16 with its mark.

    The mark is kept, so that the text encodes to the same bytes.

    >>> decoded("\\ufeffα".encode("utf-16-le"))
    ('\\ufeffα', 'utf-16-le')
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        source = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Malformed(
            f"not text: byte {error.start}, in line {line}, is not valid {encoding.upper()}; "
            "save the file as UTF-8"
        ) from None
    if "\0" in source:
        line = source.count("\n", 0, source.index("\0")) + 1
        raise Malformed(f"binary, not text: a null character in line {line}")
    return source, encoding


def _read(form: Form, text: Text) -> Contents:
    """Return what a text of that form holds; only its own reader is loaded."""
    match form:
        case "markdown":
            from symattn.documents.markdown import read
        case "notebook":
            from symattn.documents.notebook import read
        case "latex":
            from symattn.documents.latex import read
        case "html":
            from symattn.documents.html import read
        case _:
            from symattn.documents.plain import read
    return read(text)


def _heading(blocks: tuple[Block, ...]) -> str:
    headings = [block for block in blocks if block.kind == "heading"]
    first = min(headings, key=lambda block: block.level, default=None)
    return " ".join(str(first.text).split()) if first else ""
