"""The elements of a part of a Word document, each character of text with its place.

The library's parser tells where everything stands; document types, and with them entities
of one's own, are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from xml.parsers import expat

from symattn.documents.text import Span, Text
from symattn.errors import Fault, Malformed
from symattn.limits import ELEMENTS, LETTERS, XML_NESTING

#: How elements are called here, by the ends of their namespaces: those of ECMA-376 and of
#: its strict form.
_SPACES = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w:",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w:",
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "m:",
    "http://purl.oclc.org/ooxml/officeDocument/math": "m:",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc:",
    "urn:schemas-microsoft-com:office:office": "o:",
}
_OFF = ("0", "false", "off", "none")


@dataclass(slots=True)
class Element:
    """An element: its name (``w:p``), its attributes by their names alone, what is in it,
    and where it begins and ends."""

    name: str
    attributes: Mapping[str, str]
    start: int
    end: int
    children: list[Element | Text] = field(default_factory=list)

    @property
    def elements(self) -> Iterator[Element]:
        """The elements right in it."""
        return (child for child in self.children if isinstance(child, Element))

    def child(self, name: str) -> Element | None:
        """The first of that name right in it."""
        return next((child for child in self.elements if child.name == name), None)

    def all(self, name: str) -> Iterator[Element]:
        """Return those of that name right in it."""
        return (child for child in self.elements if child.name == name)

    def value(self, *path: str) -> str:
        """Return what the element at the end of a path is set to; '' where there is none.

        >>> parsed('<a><b val="1"/></a>').value("b")
        '1'
        """
        found = self.find(*path)
        return found.attributes.get("val", "") if found is not None else ""

    def find(self, *path: str) -> Element | None:
        """The element at the end of a path; None where there is none."""
        found: Element | None = self
        for name in path:
            found = found.child(name) if found is not None else None
        return found

    def is_on(self, *path: str) -> bool:
        """Return whether a switch is there and on."""
        found = self.find(*path)
        return found is not None and found.attributes.get("val", "1") not in _OFF

    @property
    def text(self) -> Text:
        """The text right in it."""
        return Text.joined([Text.at("", Span(self.start, self.start)), *self.texts])

    @property
    def texts(self) -> Iterator[Text]:
        """The pieces of text right in it."""
        return (child for child in self.children if isinstance(child, Text))

    def mark(self, string: str) -> Text:
        """A string that is put before it, and is not in the file."""
        return Text.at(string, Span(self.start, self.start))

    def behind(self, string: str) -> Text:
        """A string that is put at its end, and is not in the file."""
        return Text.at(string, Span(self.end, self.end))


def parsed(source: str, base: int = 0) -> Element:
    """The element that a part consists of; places count from ``base``.

    Raises :class:`Malformed` for what is not well-formed, has a document type, or is too
    large or too deep.

    >>> root = parsed('<a>1 &lt; 2</a>')
    >>> str(root.text), root.text.span(2, 3)
    ('1 < 2', Span(start=5, end=9))
    """
    return _Parser(source, base).root()


class _Parser:
    def __init__(self, source: str, base: int) -> None:
        self._source = source
        self._data = source.encode("utf-8", "surrogatepass")
        self._is_plain = len(self._data) == len(source)
        self._base = base
        self._bytes = self._chars = 0
        self._in_section = False
        self._count = self._letters = 0
        self._open = [Element("", {}, base, base)]
        parser = self._parser = expat.ParserCreate("utf-8", " ")
        parser.buffer_text = False
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartCdataSectionHandler = lambda: setattr(self, "_in_section", True)
        parser.EndCdataSectionHandler = lambda: setattr(self, "_in_section", False)

    def root(self) -> Element:
        try:
            self._parser.Parse(self._data, True)
        except expat.ExpatError as error:
            why = expat.errors.messages.get(error.code, "broken")
            fault = f"not well-formed XML: {why} at column {error.offset + 1}"
            raise Malformed(Fault("", fault, error.lineno)) from None
        return next(self._open[0].elements)

    def _here(self) -> int:
        """Return where the parser is, in characters: it counts bytes, and only goes on."""
        index = self._parser.CurrentByteIndex
        if self._is_plain:
            return self._base + index
        self._chars += len(self._data[self._bytes : index].decode("utf-8", "surrogatepass"))
        self._bytes = index
        return self._base + self._chars

    def _refuse(self, *_: object) -> None:
        raise Malformed("it has a document type: Word documents have none, and it is not read")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > ELEMENTS.most:
            raise Malformed(ELEMENTS.said())
        if len(self._open) > XML_NESTING.most:
            raise Malformed(XML_NESTING.said())
        space, _, local = name.rpartition(" ")
        start = self._here()
        plain = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        element = Element(_SPACES.get(space, "") + local, plain, start, start)
        self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        element, here = self._open.pop(), self._here()
        # The end of an empty element is told where it begins.
        if here == element.start:
            here = self._base + self._source.index(">", here - self._base) + 1
        element.end = here

    def _characters(self, string: str) -> None:
        self._letters += len(string)
        if self._letters > LETTERS.most:
            raise Malformed(LETTERS.said())
        start = self._here()
        if self._source[start - self._base] == "&" and not self._in_section:
            end = self._base + self._source.index(";", start - self._base) + 1
            text = Text.at(string, Span(start, end))
        else:
            end = start + len(string)
            text = Text(string, range(start, end), range(start + 1, end + 1))
        self._open[-1].children.append(text)


# -- the styles of a Word document -------------------------------------------------------

#: Fonts, and names of styles, of code.
_FONTS = re.compile(
    r"courier|consol|mono\b|monospace|menlo|monaco|typewriter|source code|fira code|inconsolata"
    r"|cascadia",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"code\b|code$|preformatted|verbatim|listing\b|source ?text|teletype|macro ?text", re.IGNORECASE
)
_HEADING = re.compile(r"heading ?([1-9])", re.IGNORECASE)
#: Lists of contents and the like, which say again what stands elsewhere.
_AGAIN = re.compile(r"(?:toc|contents|index|table of figures)\b.*", re.IGNORECASE)
#: Styles that one is based on, at most.
_CHAIN = 20
_NO_LEVEL = 9


class Styles:
    """The styles of a document; without a part none.

    >>> Styles().level("Heading2", None)
    2
    """

    def __init__(self, root: Element | None = None) -> None:
        self._styles: dict[str, Element] = {}
        usual = ""
        for style in root.all("w:style") if root is not None else ():
            name = style.attributes.get("styleId", "")
            self._styles.setdefault(name, style)
            if style.attributes.get("type") == "paragraph" and style.attributes.get("default"):
                usual = name
        self._looks_like_code = cache(self._style_is_code)
        #: Where all is set as code is, only the names of styles tell what is code.
        self._is_typed = False
        fonts = root.find("w:docDefaults", "w:rPrDefault", "w:rPr") if root is not None else None
        self._is_typed = bool(_font_is_code(fonts) or self._style_is_code(usual))

    def _chain(self, name: str) -> Iterator[Element]:
        """A style, and those that it is based on."""
        for _ in range(_CHAIN):
            style = self._styles.get(name)
            if style is None:
                return
            yield style
            name = style.value("w:basedOn")

    def _named(self, name: str) -> str:
        """The name of a style that people see, which is the same in all languages."""
        style = self._styles.get(name)
        return (style.value("w:name") if style is not None else "") or name

    def level(self, name: str, properties: Element | None) -> int:
        """The level of a paragraph that is a heading, from 1; 0 of others."""
        said = self._named(name)
        if said.lower() == "title":
            return 1
        if heading := _HEADING.fullmatch(said):
            return int(heading[1])
        told = [properties, *(style.child("w:pPr") for style in self._chain(name))]
        values = (one.value("w:outlineLvl") for one in told if one is not None)
        level = next(filter(None, values), "")
        return int(level) + 1 if level.isdecimal() and int(level) < _NO_LEVEL else 0

    def is_title(self, name: str) -> bool:
        """Return whether a style is that of the title of the whole."""
        return self._named(name).lower() == "title"

    def is_again(self, name: str) -> bool:
        """Return whether a paragraph of that style is one of a list of contents."""
        return _AGAIN.fullmatch(self._named(name)) is not None

    def is_code(self, style: str, properties: Element | None, outer: bool = False) -> bool:
        """Return whether a run, or a paragraph, is code: by its font, its style, or as what is
        around it is."""
        by_font = None if self._is_typed else _font_is_code(properties)
        if by_font is not None:
            return by_font
        return self._looks_like_code(style) if style and not outer else outer

    def _style_is_code(self, name: str) -> bool:
        for style in self._chain(name):
            if _CODE.search(self._named(style.attributes.get("styleId", ""))):
                return True
            by_font = None if self._is_typed else _font_is_code(style.child("w:rPr"))
            if by_font is not None:
                return by_font
        return not self._styles and _CODE.search(name) is not None


def _font_is_code(properties: Element | None) -> bool | None:
    """Return whether a font is one of code; None where none is said."""
    fonts = properties.child("w:rFonts") if properties is not None else None
    if fonts is None:
        return None
    names = (fonts.attributes.get(name) for name in ("ascii", "hAnsi"))
    name = next(filter(None, names), "")
    return bool(_FONTS.search(name)) if name else None
