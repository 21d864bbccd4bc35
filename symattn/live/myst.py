"""Live figures in MyST: the tree of a page, with its figures computed.

mystmd tells a plugin of no file, but hands on every page once its roles are read. So a role
only says what it stands for (:mod:`symattn.live.names`), and the page is computed at once.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from symattn.errors import Malformed, SymattnError, expected, short
from symattn.escaping import html_text
from symattn.expressions import typesetting as t
from symattn.live.figures import (
    IN_MATHEMATICS,
    Figures,
    Mathematics,
    Paragraph,
    Picture,
    Piece,
    Text,
)
from symattn.live.names import CASE, NAME, NAMES, Node
from symattn.live.origins import Origin, named_origin
from symattn.printers.web import elements, mathml
from symattn.tables.places import check

_UNSET = (
    "MyST can't set it inside a formula: expected letters, digits and brackets, and in "
    r"myst.yml under project the macro  math: {'\symattn': '\text{#1}'}"
)
_UNSAID = (
    "nothing says what it is computed from: name a case file or the article itself in a "
    "directive on the page, ```{symattn:case} post.toml"
)


_FORMULA = {"value": str, "html?": str, "position?": {"start": {"line": int}}}
#: What nodes hold that are looked into.
_HELD = {
    **dict.fromkeys(("math", "inlineMath"), _FORMULA),
    NAME: {**_FORMULA, "name": str, "inline": bool},
}


def computed(page: Node, folder: Path, allow_outside: bool = False) -> tuple[Node, list[str]]:
    """A page with its figures computed, and what was wrong with any: where they can't be, an
    error stands in their place. Files that it names are in ``folder`` or below, unless others
    are allowed. Raises :class:`Malformed`, with its place, for what is no page."""
    nodes = [*_walk(page)]
    named = next((node["value"].lstrip("/") for node in nodes if _called(node) == CASE), "")
    faults: list[str] = []
    source: Origin | SymattnError
    try:
        source = named_origin(named, folder / named, folder, allow_outside, _UNSAID)
    except SymattnError as error:
        source = error
    for parent in nodes:
        children = parent.get("children") or []
        if any(map(_is_live, children)):
            made = [_nodes(child, source, faults) if _is_live(child) else [child]
                    for child in children]  # fmt: skip
            parent["children"] = [node for nodes in made for node in nodes]
    return page, faults


def _nodes(node: Node, source: Origin | SymattnError, faults: list[str]) -> list[Node]:
    """Return what stands in the place of a live figure."""
    name, text, place = _called(node), node["value"], node.get("position")
    if name == CASE:
        return []
    if name not in NAMES:
        source = Malformed(f"unknown kind of figure {short(name)!r}: {expected(name, NAMES)}")
    try:
        if isinstance(source, SymattnError):
            raise source
        return [{**made, "position": place} for made in _computed(node, source)]
    except SymattnError as error:
        where = source.where(name, text) if isinstance(source, Origin) else ""
        line = f"line {place['start']['line']}" if place and not where else ""
        message = ": ".join(filter(None, (where or line, text, str(error))))
        faults.append(message)
        return _error(message, place, node["type"] != "math" and node.get("inline", True))


def _called(node: Node) -> str:
    """The name that a live figure has; a formula is text with numbers in it."""
    return str(node["name"]) if node["type"] == NAME else NAME


def _is_live(node: Node) -> bool:
    if node["type"] == NAME:
        return True
    return node["type"] in _HELD and IN_MATHEMATICS.search(node["value"]) is not None


def _computed(node: Node, source: Origin) -> list[Node]:
    if node["type"] != NAME:
        return [_with_figures(node, source.figures)]
    kind, text = NAMES[node["name"]], node["value"]
    if node["inline"]:
        return [*map(_node, source.figures.inline(kind, text))]
    return [*map(_paragraph, source.figures.paragraphs(kind, text))]


def _with_figures(node: Node, figures: Figures) -> Node:
    """An author's formula with its figures computed. mystmd has set it already, each
    expression as a text of its own: the figures take the places of these."""
    page = node.get("html") or ""
    for text in dict.fromkeys(match[1] for match in IN_MATHEMATICS.finditer(node["value"])):
        row = figures.row(text)
        shown = html_text(" ".join(text.split())).replace(" ", "\N{NO-BREAK SPACE}")
        if f">{shown}<" not in page:
            raise Malformed(_UNSET)
        number = t.plain_figure(row)
        page = page.replace(f"<mtext>{shown}</mtext>", f"<mrow>{elements(row)}</mrow>")
        page = page.replace(f">{shown}<", f">{mathml(row) if number is None else number}<")
        page = page.replace(html_text(rf"\symattn{{{text}}}"), html_text(t.latex(row)))
    return {**node, "value": figures.mathematics(node["value"]), "html": page}


def _paragraph(pieces: Paragraph) -> Node:
    nodes = [*map(_node, pieces)]
    if len(nodes) == 1 and nodes[0]["type"] in ("math", "image"):
        return nodes[0]
    return {"type": "paragraph", "children": nodes}


def _node(piece: Piece) -> Node:
    match piece:
        case Text(text):
            return {"type": "text", "value": text}
        case Mathematics(_, display):
            # mystmd sets no formula behind the plugins.
            kind = "math" if display else "inlineMath"
            return {"type": kind, "value": piece.latex, "html": piece.mathml}
        case Picture():
            return {"type": "image", "url": data_address(piece), "alt": piece.words}


def data_address(picture: Picture) -> str:
    """A drawing as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(picture.svg.encode()).decode()}"


def _error(message: str, place: object, inline: bool) -> list[Node]:
    """An error that readers see. Of a picture that is missing mystmd itself says so, with
    file and line, and a strict build fails: a plugin has no other way to make it fail. Of one
    without an ending it would complain twice."""
    words = {"type": "strong", "children": [{"type": "text", "value": f"[symattn: {message}]"}]}
    missing = {"type": "image", "url": f"symattn: {message} .png", "alt": "", "position": place}
    return [words, missing] if inline else [{"type": "paragraph", "children": [words, missing]}]


def _walk(page: Node) -> Iterator[Node]:
    """All nodes, in order, however deep. Raises :class:`Malformed` for one that doesn't hold
    what its type says."""
    waiting = [(page, "")]
    while waiting:
        node, where = waiting.pop()
        check(node, {"type": str, "children?": list}, where)
        check(node, _HELD.get(node["type"], dict), where)
        yield node
        children = enumerate(node.get("children") or [])
        waiting += [(child, f"{where}.children[{k}]".lstrip(".")) for k, child in children][::-1]
