"""Word documents to blocks: their text, tables and Office mathematics.

What is read is the text that people see; its lines are paragraphs and rows of tables.
"""

from collections.abc import Sequence

from symattn.documents.article import Contents, PlaceKind
from symattn.documents.word.body import BodyReader
from symattn.documents.word.elements import Element, Styles
from symattn.documents.word.package import Package, WrittenText, tree

__all__ = ["read"]

#: The notes below the text: what they are to the document, their elements, and their name.
_NOTES: Sequence[tuple[str, str, PlaceKind]] = (
    ("footnotes", "w:footnote", "footnote"),
    ("endnotes", "w:endnote", "endnote"),
)


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
