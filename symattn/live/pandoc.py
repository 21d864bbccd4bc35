"""Live figures in pandoc and Quarto: a filter of pandoc's tree, as JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from symattn.errors import Malformed, SymattnError
from symattn.live.figures import IN_MATHEMATICS, Mathematics, Paragraph, Piece, Text
from symattn.live.myst import data_address
from symattn.live.names import CASE, NAMES
from symattn.live.origins import Origin, origin
from symattn.live.places import spelled

#: An element of pandoc's tree: its type and contents.
Element = dict[str, Any]

_UNSAID = (
    "nothing says what it is computed from: name a case file or the article itself in the "
    "metadata, symattn: post.toml"
)


def computed(document: Element, folder: Path) -> tuple[Element, list[str]]:
    """A document with its figures computed, and what was wrong with any: where they can't
    be, an error stands in their place. ``folder`` is where the files are that it names."""
    return (filtered := _Filter(document, folder)).document, filtered.faults


class _Filter:
    def __init__(self, document: Element, folder: Path) -> None:
        self.faults: list[str] = []
        self._named = _text(document.get("meta", {}).get("symattn", {}))
        self._source: Origin | SymattnError | None = None
        self._folder = folder
        _each(document.get("blocks", []), self._name)
        _each(document.get("blocks", []), self._compute)
        self.document = document

    def _origin(self) -> Origin:
        """What the figures are computed from; read when the first one is."""
        if self._source is None:
            try:
                if not self._named:
                    raise Malformed(_UNSAID)
                self._source = origin(self._folder / self._named)
            except SymattnError as error:
                self._source = error
        if isinstance(self._source, SymattnError):
            raise self._source
        return self._source

    def _name(self, element: Element) -> None:
        if element["t"] == "CodeBlock" and _called(element) == CASE:
            self._named = element["c"][1].strip()
            element.update(t="Plain", c=[])

    def _compute(self, element: Element) -> None:
        kind = element["t"]
        if kind == "Math":
            latex = element["c"][1]
            if IN_MATHEMATICS.search(latex):
                self._at("symattn", latex, element, self._mathematics)
        elif kind in ("Code", "CodeBlock") and (name := _called(element)) in NAMES:
            assert name is not None
            self._at(name, element["c"][1].strip(), element, self._figure)

    def _at(
        self, name: str, text: str, element: Element, act: Callable[[str, str, Element], None]
    ) -> None:
        try:
            act(name, text, element)
        except SymattnError as error:
            known = self._source if isinstance(self._source, Origin) else None
            where = known.where(name, text) if known else ""
            message = ": ".join(filter(None, (where, text, str(error))))
            self.faults.append(message)
            words = {"t": "Strong", "c": [{"t": "Str", "c": f"[symattn: {message}]"}]}
            if element["t"] == "CodeBlock":
                element.update(t="Para", c=[words])
            else:
                element.clear()
                element.update(words)

    def _mathematics(self, name: str, text: str, element: Element) -> None:
        element["c"][1] = self._origin().figures.mathematics(text)

    def _figure(self, name: str, text: str, element: Element) -> None:
        kind, figures = NAMES[name], self._origin().figures
        nothing = ["", [], []]
        if element["t"] == "Code":
            element.update(t="Span", c=[nothing, [*map(_inline, figures.inline(kind, text))]])
        else:
            blocks = [*map(_paragraph, figures.paragraphs(kind, text))]
            element.update(t="Div", c=[nothing, blocks])


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


def _text(meta: Element) -> str:
    """A text of the metadata; '' for what is none, such as true. Only what stands in backticks
    or in a block is as it was written: of other text pandoc has set quotes and dashes."""
    words: list[str] = []

    def gather(element: Element) -> None:
        match element:
            case {"t": "Str" | "MetaString", "c": word}:
                words.append(word)
            case {"t": "Code" | "CodeBlock", "c": [_, word]}:
                words.append(word)
            case {"t": "Space" | "SoftBreak"}:
                words.append(" ")

    _each(meta, gather)
    return "".join(words).strip()


def _each(tree: Any, act: Callable[[Element], None]) -> None:
    """``act`` on every element; what it is made into isn't looked at again."""
    waiting = [tree]
    while waiting:
        current = waiting.pop()
        if isinstance(current, list):
            waiting += reversed(current)
        elif isinstance(current, dict):
            contents = current.get("c")
            if "t" in current:
                act(current)
            waiting.append(contents)
