"""Live figures in pandoc and Quarto: a filter of pandoc's tree, as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symattn.errors import Malformed, SymattnError
from symattn.live.figures import IN_MATHEMATICS, Mathematics, Paragraph, Piece, Text
from symattn.live.myst import data_address
from symattn.live.names import CASE, NAMES
from symattn.live.origins import Origin, named_origin
from symattn.live.places import spelled
from symattn.tables.places import check

#: An element of pandoc's tree: its type and contents.
Element = dict[str, Any]

#: What code holds, and with it the other elements that are looked into.
_CODE = ((str, [str], list), str)
_CONTENTS = {"Code": _CODE, "CodeBlock": _CODE, "Math": (dict, str), "Str": str, "MetaString": str}
_UNSAID = (
    "nothing says what it is computed from: name a case file or the article itself in the "
    "metadata, symattn: post.toml"
)


def computed(
    document: Element, folder: Path, allow_outside: bool = False
) -> tuple[Element, list[str]]:
    """A document with its figures computed, and what was wrong with any: where they can't
    be, an error stands in their place. ``folder`` is where the files are that it names, and
    of those that are not below it only reads what it is allowed to.

    Raises :class:`Malformed`, with its place, for what is no tree of pandoc's.
    """
    check(document, {"meta": dict, "blocks": list})
    elements = [*_elements(document["blocks"], "blocks")]
    named = _text(document["meta"].get("symattn"))
    for element in elements:
        if element["t"] == "CodeBlock" and _called(element) == CASE:
            named = element["c"][1].strip()
            element.update(t="Plain", c=[])
    filtered = _Filter(named, folder, allow_outside)
    for element in elements:
        filtered.compute(element)
    return document, filtered.faults


class _Filter:
    def __init__(self, named: str, folder: Path, allow_outside: bool) -> None:
        self.faults: list[str] = []
        self._named, self._folder, self._allow_outside = named, folder, allow_outside
        self._source: Origin | SymattnError | None = None

    def _origin(self) -> Origin:
        """What the figures are computed from; read when the first one is."""
        if self._source is None:
            name, folder = self._named, self._folder
            try:
                if not name:
                    raise Malformed(_UNSAID)
                self._source = named_origin(name, folder / name, folder, self._allow_outside)
            except SymattnError as error:
                self._source = error
        if isinstance(self._source, SymattnError):
            raise self._source
        return self._source

    def compute(self, element: Element) -> None:
        """Put what it comes to in the place of a live figure."""
        match element["t"]:
            case "Math" if IN_MATHEMATICS.search(element["c"][1]):
                name = "symattn"
            case "Code" | "CodeBlock" if (called := _called(element)) in NAMES:
                name = str(called)
            case _:
                return
        text = element["c"][1].strip()
        try:
            element.update(self._computed(element["t"], name, text, element["c"]))
        except SymattnError as error:
            known = self._source if isinstance(self._source, Origin) else None
            where = known.where(name, text) if known else ""
            message = ": ".join(filter(None, (where, text, str(error))))
            self.faults.append(message)
            words = {"t": "Strong", "c": [{"t": "Str", "c": f"[symattn: {message}]"}]}
            element.update({"t": "Para", "c": [words]} if element["t"] == "CodeBlock" else words)

    def _computed(self, of: str, name: str, text: str, contents: Any) -> Element:
        figures, nothing = self._origin().figures, ["", [], []]
        if of == "Math":
            return {"c": [contents[0], figures.mathematics(contents[1])]}
        if of == "Code":
            return {"t": "Span", "c": [nothing, [*map(_inline, figures.inline(NAMES[name], text))]]}
        blocks = [*map(_paragraph, figures.paragraphs(NAMES[name], text))]
        return {"t": "Div", "c": [nothing, blocks]}


def _paragraph(pieces: Paragraph) -> Element:
    return {"t": "Para", "c": [*map(_inline, pieces)]}


def _inline(piece: Piece) -> Element:
    match piece:
        case Text(text):
            return {"t": "Str", "c": text}
        case Mathematics(_, display):
            kind = {"t": "DisplayMath" if display else "InlineMath"}
            return {"t": "Math", "c": [kind, piece.latex]}
        case _:
            words = [{"t": "Str", "c": piece.words}]
            return {"t": "Image", "c": [["", [], []], words, [data_address(piece), ""]]}


def _called(element: Element) -> str | None:
    """The name of a live figure, if code is one."""
    _, classes, _ = element["c"][0]
    return next(filter(None, map(spelled, classes)), None)


def _text(meta: object) -> str:
    """A text of the metadata; '' for what is none, such as true. Only what stands in backticks
    or in a block is as it was written: of other text pandoc has set quotes and dashes."""
    words: list[str] = []
    for element in _elements(meta, "meta.symattn"):
        match element:
            case {"t": "Str" | "MetaString", "c": word}:
                words.append(word)
            case {"t": "Code" | "CodeBlock", "c": [_, word]}:
                words.append(word)
            case {"t": "Space" | "SoftBreak"}:
                words.append(" ")
    return "".join(words).strip()


def _elements(tree: object, where: str) -> Iterator[Element]:
    """Every element of a tree that stands at a place of the document, in order. Raises
    :class:`Malformed` for one that doesn't hold what its type says."""
    waiting = [(tree, where)]
    while waiting:
        current, where = waiting.pop()
        if isinstance(current, list):
            waiting += [(item, f"{where}[{k}]") for k, item in enumerate(current)][::-1]
        elif isinstance(current, dict):
            if "t" in current:
                check(current, {"t": str}, where)
                if (contents := _CONTENTS.get(current["t"])) is not None:
                    check(current, {"c": contents}, where)
                yield current
            waiting.append((current.get("c"), f"{where}.c"))
