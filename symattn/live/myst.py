"""Live figures in MyST: what mystmd asks of an executable plugin, as JSON.

mystmd runs a plugin once for every role and directive, and tells it no file; then once for
every page, with its whole tree. So a role only says what it stands for, and the page is
computed at once.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symattn.errors import Malformed, SymattnError
from symattn.live.figures import (
    CASE,
    IN_MATHEMATICS,
    NAMES,
    Mathematics,
    Paragraph,
    Picture,
    Piece,
    Text,
)
from symattn.live.origins import Origin, origin

#: What mystmd calls us, and the name of what computes a page.
NAME = "symattn"
#: A node of MyST's tree.
Node = dict[str, Any]

_UNSAID = (
    "nothing says what it is computed from: name a case file or the article itself in a "
    "directive on the page, ```{symattn:case} post.toml"
)


def specification() -> Node:
    """What the plugin offers."""
    text = {"type": "string", "required": True, "doc": "An expression, such as A[0, 1]:.4f"}
    file = {**text, "doc": "A case file or an article, from the project's folder on"}
    roles = [{"name": name, "doc": f"A {kind}, computed", "body": text} for name, kind in _known()]
    directives: list[Node] = [
        {"name": name, "doc": f"A {kind}, computed", "arg": text} for name, kind in _known()
    ]
    directives.append({"name": CASE, "doc": "What figures are computed from", "arg": file})
    compute = {"name": NAME, "stage": "document", "doc": "Computes the figures of a page"}
    return {
        "name": "symattn: figures that are computed",
        "roles": roles,
        "directives": directives,
        "transforms": [compute],
    }


def _known() -> list[tuple[str, str]]:
    return [(name, kind) for name, kind in NAMES.items()]


def standing_for(data: Node, is_role: bool) -> list[Node]:
    """What a role or a directive is until its page is computed."""
    text = str(data.get("body" if is_role else "arg") or "")
    place = data.get("node", {}).get("position")
    return [
        {
            "type": NAME,
            "name": data.get("name", ""),
            "value": text.strip(),
            "inline": is_role,
            "position": place,
        }
    ]


def computed(page: Node, folder: Path) -> tuple[Node, list[str]]:
    """A page with its figures computed, and what was wrong with any: where they can't be, an
    error stands in their place."""
    live = [node for node in _walk(page) if _is_live(node)]
    named = [node for node in live if node.get("name") == CASE]
    faults: list[str] = []
    source: Origin | SymattnError
    try:
        if not named and live:
            raise Malformed(_UNSAID)
        source = origin(folder / named[0]["value"].lstrip("/")) if named else Malformed(_UNSAID)
    except SymattnError as error:
        source = error
    for node in live:
        text, place = node.get("value", ""), node.get("position")
        try:
            if node.get("name") == CASE:
                _replace(node, {"type": "comment", "value": f"symattn: {text}"})
                continue
            if isinstance(source, SymattnError):
                raise source
            _compute(node, source)
        except SymattnError as error:
            name = str(node.get("name") or NAME)
            where = source.where(name, text) if isinstance(source, Origin) else ""
            line = "" if where or not place else f"line {place['start']['line']}"
            message = ": ".join(filter(None, (where or line, text, str(error))))
            faults.append(message)
            _replace(node, _error(message, place, bool(node.get("inline", True))))
    return page, faults


def _is_live(node: Node) -> bool:
    if node.get("type") in ("math", "inlineMath"):
        return IN_MATHEMATICS.search(node.get("value", "")) is not None
    return node.get("type") == NAME


def _compute(node: Node, source: Origin) -> None:
    if node["type"] != NAME:
        node["value"] = source.figures.mathematics(node["value"])
        # What was set with the expression in it.
        node.pop("html", None)
        return
    kind, text = NAMES[node["name"]], node["value"]
    if node["inline"]:
        pieces = source.figures.inline(kind, text)
        _replace(node, {"type": "span", "children": [*map(_node, pieces)]})
    else:
        paragraphs = source.figures.paragraphs(kind, text)
        _replace(node, {"type": "div", "children": [*map(_paragraph, paragraphs)]})


def _paragraph(pieces: Paragraph) -> Node:
    nodes = [*map(_node, pieces)]
    if len(nodes) == 1 and nodes[0]["type"] in ("math", "image"):
        return nodes[0]
    return {"type": "paragraph", "children": nodes}


def _node(piece: Piece) -> Node:
    match piece:
        case Text(text):
            return {"type": "text", "value": text}
        case Mathematics(latex, display):
            return {"type": "math" if display else "inlineMath", "value": latex}
        case Picture():
            return {"type": "image", "url": data_address(piece), "alt": piece.words}


def data_address(picture: Picture) -> str:
    """A drawing as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(picture.svg.encode()).decode()}"


def _error(message: str, place: object, inline: bool) -> Node:
    """An error that readers see. Of a picture that is missing mystmd itself says so, with
    file and line, and a strict build fails: a plugin has no other way to make it fail."""
    words = {"type": "strong", "children": [{"type": "text", "value": f"[symattn: {message}]"}]}
    missing = {"type": "image", "url": f"symattn: {message}", "alt": "", "position": place}
    return {"type": "span" if inline else "paragraph", "children": [words, missing]}


def _replace(node: Node, by: Node) -> None:
    place = node.get("position")
    node.clear()
    node.update(by, position=place)


def _walk(node: Node) -> Iterator[Node]:
    """All nodes, in order, however deep."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting += reversed(current.get("children") or [])
