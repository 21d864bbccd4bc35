"""The styles of a Word document, as far as they say what a paragraph or a run is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from symattn.documents.word.elements import Element

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
        """Whether a style is that of the title of the whole."""
        return self._named(name).lower() == "title"

    def is_again(self, name: str) -> bool:
        """Whether a paragraph of that style is one of a list of contents."""
        return _AGAIN.fullmatch(self._named(name)) is not None

    def is_code(self, style: str, properties: Element | None, outer: bool = False) -> bool:
        """Whether a run, or a paragraph, is code: by its font, its style, or as what is around
        it is."""
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
    """Whether a font is one of code; None where none is said."""
    fonts = properties.child("w:rFonts") if properties is not None else None
    if fonts is None:
        return None
    names = (fonts.attributes.get(name) for name in ("ascii", "hAnsi"))
    name = next(filter(None, names), "")
    return bool(_FONTS.search(name)) if name else None
