"""What mystmd, pandoc and Sphinx get: their own trees, with figures or with errors."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.documents.files import article
from symattn.errors import Fault, Malformed
from symattn.live import conversion, myst, names, pandoc

from .posts import POST

CASE = '[given]\nX = [[1, 0], [0, 1]]\n[steps]\nA = "softmax(X)"\n'
PLACE = {"start": {"line": 3, "column": 1}, "end": {"line": 3, "column": 9}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "case.toml").write_text(CASE)
    return tmp_path


def role(text: str, name: str = "symattn") -> dict[str, Any]:
    """What stands for a role, as mystmd hands it on."""
    data = {"name": name, "node": {"position": PLACE}, "body": text}
    (node,) = names.standing_for(data, is_role=True)
    return node


def directive(text: str, name: str) -> dict[str, Any]:
    data = {"name": name, "node": {"position": PLACE}, "arg": text}
    (node,) = names.standing_for(data, is_role=False)
    return node


def page(*nodes: dict[str, Any], case: str = "case.toml") -> dict[str, Any]:
    named = [directive(case, "symattn:case")] if case else []
    return {"type": "root", "children": [{"type": "paragraph", "children": [*nodes, *named]}]}


def contents(tree: dict[str, Any]) -> list[dict[str, Any]]:
    (paragraph,) = tree["children"]
    found: list[dict[str, Any]] = paragraph["children"]
    return found


def test_myst_offers_what_there_is() -> None:
    """Every role has its directive, and is plain JSON."""
    offered = json.loads(json.dumps(names.specification()))
    roles = [one["name"] for one in offered["roles"]]
    assert roles == ["symattn", "symattn:matrix", "symattn:step", "symattn:heatmap"]
    assert [one["name"] for one in offered["directives"]] == [*roles, "symattn:case"]
    assert [one["stage"] for one in offered["transforms"]] == ["document"]


def test_myst_computes_a_page(folder: Path) -> None:
    """Roles and directives become text, formulas and pictures at their places."""
    nodes = (
        role("A[0, 1]:.3f"),
        directive("A:.2f", "symattn:matrix"),
        directive("A", "symattn:heatmap"),
        directive("A", "symattn:step"),
    )
    made, faults = myst.computed(page(*nodes), folder)
    assert not faults
    number, matrix, picture, *step = contents(made)
    assert (number["type"], number["value"], number["position"]) == ("text", "0.269", PLACE)
    assert (matrix["type"], matrix["value"].count("0.73")) == ("math", 2)
    assert matrix["html"].startswith('<math display="block">')
    assert picture["url"].startswith("data:image/svg+xml;base64,")
    assert [one["type"] for one in step][:2] == ["math", "paragraph"]


def test_myst_sets_a_formula(folder: Path) -> None:
    """Figures take the places of what mystmd has set in an author's formula: in what is
    seen, in what is read out, and in its source."""
    shown, source = "A[0,\u00a01]:.3f", r"w = \symattn{A[0, 1]:.3f}"
    page_of = f"<mtext>{shown}</mtext><a>{source}</a><b>{shown}</b>"
    node = {"type": "inlineMath", "value": source, "html": page_of}
    made, faults = myst.computed(page(node), folder)
    assert not faults
    (formula,) = contents(made)
    assert formula["value"] == "w = 0.269"
    shown = "<mrow><mn>0.269</mn></mrow><a>w = 0.269</a><b>0.269</b>"
    assert formula["html"] == shown


@pytest.mark.parametrize(
    ("case", "text", "why"),
    [
        ("case.toml", "B[0]", "line 3: B[0]: unknown name 'B'"),
        ("", "A[0, 0]", "line 3: A[0, 0]: nothing says what it is computed from"),
        ("other.toml", "A[0, 0]", "other.toml"),
    ],
)
def test_myst_shows_an_error_at_its_place(folder, case, text, why) -> None:
    """What can't be computed is told where it stands, and a picture that isn't there makes a
    strict build fail; the rest is computed."""
    made, (fault,) = myst.computed(page(role(text), case=case), folder)
    assert why in fault
    words, missing = contents(made)
    assert words["children"][0]["value"] == f"[symattn: {fault}]"
    assert (missing["type"], missing["url"]) == ("image", f"symattn: {fault} .png")


def test_myst_refuses_a_formula_that_it_has_not_set(folder: Path) -> None:
    """Where the macro is missing nothing is computed: the page would show the expression."""
    node = {"type": "inlineMath", "value": r"\symattn{A[0, 1]}", "html": "<b>error</b>"}
    _, (fault,) = myst.computed(page(node), folder)
    assert r"the macro  math: {'\symattn': '\text{#1}'}" in fault


def code(text: str, name: str, kind: str = "Code") -> dict[str, Any]:
    return {"t": kind, "c": [["", [name], []], text]}


def document(*blocks: dict[str, Any], case: str = "case.toml") -> dict[str, Any]:
    meta = {"symattn": {"t": "MetaInlines", "c": [{"t": "Str", "c": case}]}} if case else {}
    return {"pandoc-api-version": [1, 22], "meta": meta, "blocks": [*blocks]}


def test_pandoc_computes_a_document(folder: Path) -> None:
    """Code becomes text, formulas and pictures, wherever it stands in the tree."""
    inside = [code("A[0, 1]:.3f", "symattn"),
              {"t": "Math", "c": [{"t": "InlineMath"}, r"w = \symattn{A[0, 1]:.2f}"]},
              code("A", "other")]  # fmt: skip
    listed = {"t": "BulletList", "c": [[{"t": "Para", "c": inside}]]}
    block = code("A:.2f\n", "symattn-matrix", "CodeBlock")
    made, faults = pandoc.computed(document(listed, block), folder)
    assert not faults
    first, second = made["blocks"]
    number, formula, other = first["c"][0][0]["c"]
    assert number == {"t": "Span", "c": [["", [], []], [{"t": "Str", "c": "0.269"}]]}
    assert formula["c"][1] == "w = 0.27"
    assert other == code("A", "other")
    ((matrix,),) = [part["c"] for part in second["c"][1]]
    assert (matrix["c"][0], matrix["c"][1].count("0.73")) == ({"t": "DisplayMath"}, 2)


STRING = {"t": "Str", "c": "case.toml"}
#: What stands behind symattn: in front matter, as pandoc reads it; whether it names a file.
METADATA = [
    ({"t": "MetaInlines", "c": [{"t": "Code", "c": [["", [], []], "case.toml"]}]}, True),
    ({"t": "MetaString", "c": "case.toml"}, True),
    ({"t": "MetaBlocks", "c": [{"t": "Para", "c": [STRING]}]}, True),
    ({"t": "MetaList", "c": [{"t": "MetaInlines", "c": [STRING]}]}, True),
    ({"t": "MetaInlines", "c": [{"t": "Quoted", "c": [{"t": "DoubleQuote"}, [STRING]]}]}, True),
    ({"t": "MetaBool", "c": True}, False),
    ({"t": "MetaMap", "c": {"file": {"t": "MetaInlines", "c": [STRING]}}}, False),
]


@pytest.mark.parametrize(("said", "names_file"), METADATA)
def test_pandoc_reads_what_metadata_name(folder: Path, said: Any, names_file: bool) -> None:
    """A file is named in whatever way pandoc reads its name; what is no text names none."""
    tree = {"meta": {"symattn": said}, "blocks": [code("A[0, 1]:.3f", "symattn")]}
    made, faults = pandoc.computed(tree, folder)
    assert ("0.269" in json.dumps(made)) == names_file
    assert [fault for fault in faults if "nothing says what it is computed" not in fault] == []
    assert bool(faults) != names_file


@pytest.mark.parametrize("kind", ["Code", "CodeBlock"])
def test_pandoc_shows_an_error_at_its_place(folder: Path, kind: str) -> None:
    """What can't be computed is told where it stands."""
    made, (fault,) = pandoc.computed(document(code("B[0]", "symattn", kind)), folder)
    assert fault.startswith("B[0]: unknown name 'B'")
    assert f"[symattn: {fault}]" in json.dumps(made)


def test_pandoc_knows_lines_of_an_article(folder: Path) -> None:
    """Where the figures come from the article itself, errors have their lines."""
    (folder / "post.md").write_text(POST + "\n`B[0]`{.symattn}\n")
    named = code("post.md\n", "symattn-case", "CodeBlock")
    _, (fault,) = pandoc.computed(document(code("B[0]", "symattn"), named, case=""), folder)
    assert fault.startswith(f"{folder / 'post.md'}:14: B[0]: unknown name 'B'")


#: Ways to name a file outside of the folder.
OUTSIDE = ["../secret/case.toml", "/{secret}/case.toml", "link.toml", "up/case.toml",
           "sub/../../secret/case.toml", "./../secret/post.md"]  # fmt: skip


def outside(folder: Path, name: str) -> tuple[Path, str]:
    """A folder beside one with a case, and the case as a document names it."""
    secret, inner = folder / "secret", folder / "inner"
    for one in (secret, inner, inner / "sub"):
        one.mkdir()
    (secret / "case.toml").write_text(CASE)
    (secret / "post.md").write_text(POST)
    (inner / "link.toml").symlink_to("../secret/case.toml")
    (inner / "up").symlink_to("../secret")
    return inner, name.format(secret=secret)


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("system", ["myst", "pandoc", "pandoc-block", "plain", "live"])
def test_files_elsewhere_are_read_with_leave_only(name, system, tmp_path) -> None:
    """A document names a file outside of its folder in whatever way: nothing of that is told
    but that it takes leave; with leave it is read."""
    # In MyST paths begin at the folder of the project, with a slash or without.
    inner, name = outside(
        tmp_path, name.replace("/{secret}", "../secret") if system == "myst" else name
    )

    def computed(allow_outside: bool) -> tuple[str, list[str]]:
        if system == "myst":
            made, faults = myst.computed(page(role("A[0, 1]:.3f"), case=name), inner, allow_outside)
            return json.dumps(made), faults
        if system == "pandoc":
            tree = document(code("A[0, 1]:.3f", "symattn"), case=name)
        elif system == "pandoc-block":
            block = code(name, "symattn-case", "CodeBlock")
            tree = document(code("A[0, 1]:.3f", "symattn"), block, case="")
        else:
            text = f"---\nsymattn: {name}\n---\nIt is {{symattn}}`A[0, 1]:.3f`.\n"
            if system == "live":
                text = f"It is {{symattn}}`A[0, 1]:.3f`.\n\n```{{symattn:case}} {name}\n```\n"
            try:
                again = conversion.plain(
                    article(inner / "a.md", text.encode()), None, allow_outside
                )
            except Malformed as error:
                return "", [str(error)]
            return again[0], []
        made, faults = pandoc.computed(tree, inner, allow_outside)
        return json.dumps(made), faults

    shown, (fault,) = computed(False)
    assert "is not in the folder of the documents or below: it is read only with" in fault
    assert "0.269" not in shown
    shown, faults = computed(True)
    assert (faults, "0.269" in shown) == ([], True)


def test_a_case_that_extends_one_elsewhere(tmp_path) -> None:
    """What a document names may not name in turn what the document may not."""
    inner, _ = outside(tmp_path, "")
    (inner / "case.toml").write_text('extends = "../secret/case.toml"\n')
    tree = document(code("A[0, 1]:.3f", "symattn"))
    _, (fault,) = pandoc.computed(tree, inner)
    assert "only with --allow-outside" in fault
    assert pandoc.computed(document(code("A[0, 1]:.3f", "symattn")), inner, True)[1] == []


#: What may stand anywhere in a tree of JSON.
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["symattn", "symattn:case", "symattn-case", "math", "Code", r"\symattn{A}"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["t", "c", "type", "name", "value", "children", "position",
                                       "inline", "html", "start", "line"]), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


def paths(tree: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a tree."""
    yield before
    items = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    for key, inner in items:
        yield from paths(inner, (*before, key))


def changed(tree: Any, path: tuple[Any, ...], new: Any, is_gone: bool) -> Any:
    """A tree with something else at a place, or nothing."""
    tree = copy.deepcopy(tree)
    if not path:
        return new
    parent = tree
    for key in path[:-1]:
        parent = parent[key]
    if is_gone:
        del parent[path[-1]]
    else:
        parent[path[-1]] = new
    return tree


TREES = {
    "pandoc": document(
        {"t": "Para", "c": [code("A[0, 1]", "symattn"), {"t": "Str", "c": "x"}]},
        {"t": "Para", "c": [{"t": "Math", "c": [{"t": "InlineMath"}, r"\symattn{A}"]}]},
        code("A", "symattn-step", "CodeBlock"),
        code("case.toml", "symattn-case", "CodeBlock"),
    ),
    "myst": page(
        role("A[0, 1]"),
        directive("A", "symattn:step"),
        {"type": "math", "value": r"\symattn{A}", "html": "<mtext>A</mtext>", "position": PLACE},
    ),
}


@settings(deadline=None, max_examples=300)
@given(data=st.data())
@pytest.mark.parametrize("system", ["pandoc", "myst"])
def test_a_tree_that_is_none_is_refused_at_the_door(system, data, tmp_path_factory) -> None:
    """Whatever stands anywhere in a tree in place of what belongs there, or is missing: the tree
    is computed, or it is refused with the place."""
    folder = tmp_path_factory.getbasetemp()
    (folder / "case.toml").write_text(CASE)
    tree = TREES[system]
    for _ in range(data.draw(st.integers(1, 3))):
        if not (known := [*paths(tree)][1:]):
            break
        path = data.draw(st.sampled_from(known))
        tree = changed(tree, path, data.draw(ANYTHING), data.draw(st.booleans()))
    door = pandoc if system == "pandoc" else myst
    refused: tuple[Fault, ...] = ()
    made, faults = {}, list[str]()
    try:
        made, faults = door.computed(tree, folder)
    except Malformed as error:
        refused = error.faults
    assert all(fault.message.startswith("expected ") for fault in refused)
    json.dumps(made, allow_nan=False)
    assert all(isinstance(fault, str) for fault in faults)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((("blocks", 0, "c", 0, "c", 1), 3), "blocks[0].c[0].c[1]: expected text, found a number"),
        ((("blocks", 0, "c", 0, "c", 0, 1, 0), None), "blocks[0].c[0].c[0][1][0]: expected text"),
        ((("blocks", 1, "c", 0, "c"), []), "blocks[1].c[0].c: expected 2 entries, found 0"),
        ((("blocks", 0, "c", 0, "t"), []), "blocks[0].c[0].t: expected text, found a list"),
        ((("meta",), []), "meta: expected a table, found a list"),
    ],
)
def test_a_door_says_where(change, said, tmp_path) -> None:
    with pytest.raises(Malformed) as told:
        pandoc.computed(changed(TREES["pandoc"], change[0], change[1], False), tmp_path)
    assert str(told.value).startswith(said)
