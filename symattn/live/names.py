"""Names of live figures, and how mystmd is told of them.

mystmd runs a plugin once for every role and directive: this is all that is loaded then.
"""

from __future__ import annotations

from typing import Any, Literal

from symattn.tables.places import check

#: The kinds of live figures: one number, a matrix, a step worked out, a heat map.
Kind = Literal["number", "matrix", "step", "heatmap"]
#: What a live figure of each kind is called in a document.
NAMES: dict[str, Kind] = {
    "symattn": "number",
    "symattn:matrix": "matrix",
    "symattn:step": "step",
    "symattn:heatmap": "heatmap",
}
#: What names the file that the figures of a document come from.
CASE = "symattn:case"
#: What mystmd calls us, and the name of what computes a page.
NAME = "symattn"
#: A node of MyST's tree.
Node = dict[str, Any]


def specification() -> Node:
    """Return the roles and directives the plugin offers, as mystmd asks for them."""
    text = {"type": "string", "required": True, "doc": "An expression, such as A[0, 1]:.4f"}
    file = {**text, "doc": "A case file or an article, from the project's folder on"}
    offered = [{"name": name, "doc": f"A {kind}, computed"} for name, kind in NAMES.items()]
    roles = [{**one, "body": text} for one in offered]
    directives: list[Node] = [{**one, "arg": text} for one in offered]
    directives.append({"name": CASE, "doc": "What figures are computed from", "arg": file})
    compute = {"name": NAME, "stage": "document", "doc": "Computes the figures of a page"}
    return {
        "name": "symattn: figures that are computed",
        "roles": roles,
        "directives": directives,
        "transforms": [compute],
    }


def standing_for(data: Node, is_role: bool) -> list[Node]:
    """Return what a role or a directive is until its page is computed. Raises :class:`Malformed`,
    with its place, for what is neither."""
    said = "body" if is_role else "arg"
    check(data, {"name": str, f"{said}?": str, "node?": dict})
    return [
        {
            "type": NAME,
            "name": data["name"],
            "value": (data.get(said) or "").strip(),
            "inline": is_role,
            "position": (data.get("node") or {}).get("position"),
        }
    ]
