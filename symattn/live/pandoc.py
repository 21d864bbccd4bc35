"""Live figures in pandoc and Quarto: a filter of pandoc's tree, as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

from symattn.errors import Fault
from symattn.live.figures import IN_MATHEMATICS, Mathematics, Piece, Text
from symattn.live.myst import data_address
from symattn.live.names import CASE, NAMES
from symattn.live.origins import Asked, answers, named_origin
from symattn.live.places import How, spelled
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
    named, faults = _text(document["meta"].get("symattn")), list[str]()
    live: list[tuple[Element, Asked]] = []
    for element in elements:
        one = _asked(element)
        if one is not None and one.name == CASE:
            named = one.text.strip()
            element.update(t="Plain", c=[])
        elif one is not None:
            live.append((element, one))
    find = partial(named_origin, named, folder / named, folder, allow_outside, _UNSAID)
    found = answers(find, [one for _, one in live])
    for (element, one), answer in zip(live, found, strict=True):
        if isinstance(answer, Fault):
            faults.append(": ".join(filter(None, (answer.where, one.text, answer.message))))
            words = {"t": "Strong", "c": [{"t": "Str", "c": f"[symattn: {faults[-1]}]"}]}
            element.update({"t": "Para", "c": [words]} if one.how == "block" else words)
        elif isinstance(answer, str):
            element["c"][1] = answer
        elif one.how == "line":
            pieces = [_inline(piece) for paragraph in answer for piece in paragraph]
            element.update(t="Span", c=[["", [], []], pieces])
        else:
            paragraphs = [{"t": "Para", "c": [*map(_inline, pieces)]} for pieces in answer]
            element.update(t="Div", c=[["", [], []], paragraphs])
    return document, faults


def _asked(element: Element) -> Asked | None:
    """The live figure that an element is, or the file that it names, if it is either."""
    kind, contents = element["t"], cast(Any, element.get("c"))
    if kind == "Math" and IN_MATHEMATICS.search(contents[1]):
        return Asked("mathematics", "symattn", contents[1])
    if kind not in ("Code", "CodeBlock"):
        return None
    name = next(filter(None, map(spelled, contents[0][1])), None)
    is_one = name in NAMES or (name == CASE and kind == "CodeBlock")
    how: How = "line" if kind == "Code" else "block"
    return Asked(how, str(name), contents[1].strip()) if is_one else None


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
