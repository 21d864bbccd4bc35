"""What a derivation file says, and every fault with its place."""

from __future__ import annotations

from typing import Any

import pytest

from symattn.calculus import draft
from symattn.calculus.judging import derived
from symattn.errors import Malformed
from symattn.limits import FAULTS_KEPT

GOOD: dict[str, Any] = {
    "title": "Softmax backward",
    "statement": "dS",
    "source": "a book",
    "note": "by rows",
    "assumptions": ["real numbers"],
    "sizes": ["n", "m"],
    "hypotheses": ["eps > 0"],
    "random": ["u"],
    "shapes": {"S": ["n", "m"], "u": ["n"], "eps": [], "c": [2]},
    "losses": {"L": "A", "M": "S"},
    "permutations": {"p": "n", "two": 2},
    "define": {"A": "softmax(S)", "G[i, j]": "diff(L, A[i, j])"},
    "lines": [
        {"line": "sum(j, A[i, j]) == 1", "because": "rows", "part": "Rows", "label": "rows"},
        {"line": "eps + eps == 2 * eps", "by": ["algebra"]},
    ],
}


def test_a_file_is_read() -> None:
    """All that it says, in order."""
    read = draft.read(GOOD)
    assert (read.title, read.statement, read.source, read.note) == (
        *("Softmax backward", "dS"),
        *("a book", "by rows"),
    )
    assert read.assumptions == ("real numbers",)
    assert read.scope.sizes == ["n", "m"]
    assert [array.name for array in read.ground.given] == ["S", "u", "eps", "c"]
    assert {array.name for array in read.ground.losses} == {"L", "M"}
    assert [array.name for array in read.ground.random] == ["u"]
    assert {array.name for array in read.ground.positive()} == {"eps"}
    assert [one.key for one in read.definitions] == ["A", "G[i, j]"]
    assert [one.array.axes for one in read.definitions] == [("n", "m"), ("n", "m")]
    first, second = read.lines
    assert (first.because, first.part, first.label, first.by) == ("rows", "Rows", "rows", None)
    assert (second.part, second.by) == ("Rows", ("algebra",))


def test_a_loss_depends_on_what_its_argument_is_computed_from() -> None:
    """So that its gradient follows by the chain rule."""
    arrays = draft.read(GOOD).scope.arrays
    assert arrays["L"].of is arrays["A"]
    assert {array.name for array in arrays["L"].uses} >= {"A", "S"}


@pytest.mark.parametrize(
    ("changed", "where", "told"),
    [
        ({"colour": "red"}, "colour", "unknown key 'colour'"),
        ({"title": 3}, "title", "expected text, found a number"),
        ({"sizes": "n"}, "sizes", "expected a list, found text"),
        ({"shapes": []}, "shapes", "expected a table, found a list"),
        ({"lines": {}}, "lines", "expected a list, found a table"),
        ({"lines": []}, "lines", "missing: expected at least one [[lines]] table"),
        ({"lines": [3]}, "lines[0]", "expected a table, found a number"),
        ({"lines": [{"because": "so"}]}, "lines[0].line", "missing"),
        ({"lines": [{"line": 3}]}, "lines[0].line", "expected text, found a number"),
        ({"lines": [{"line": "", "by": "x"}]}, "lines[0].by", "expected a list, found text"),
        ({"lines": [{"line": "", "hue": 1}]}, "lines[0].hue", "unknown key 'hue'"),
        ({"sizes": ["n", "m", 3]}, "sizes[2]", "expected a name such as n or d_k"),
        ({"sizes": ["n", "m", "2d"]}, "sizes[2]", "expected a name such as n or d_k"),
        ({"shapes": {**GOOD["shapes"], "2x": []}}, "shapes.2x", "expected a name of letters"),
        ({"shapes": {**GOOD["shapes"], "n": []}}, "shapes.n", "n is a size already"),
        ({"shapes": {**GOOD["shapes"], "x": "n"}}, "shapes.x", "expected a list of sizes"),
        (
            {"shapes": {**GOOD["shapes"], "x": ["k"]}},
            "shapes.x[0]",
            "expected one of the sizes (n, m)",
        ),
        ({"shapes": {**GOOD["shapes"], "x": [0]}}, "shapes.x[0]", "expected one of the sizes"),
        ({"shapes": {**GOOD["shapes"], "x": [65]}}, "shapes.x[0]", "expected one of the sizes"),
        ({"shapes": {**GOOD["shapes"], "x": [True]}}, "shapes.x[0]", "expected one of the sizes"),
        ({"permutations": {"p": "k"}}, "permutations.p", "expected one of the sizes"),
        ({"permutations": {"p": 0}}, "permutations.p", "expected one of the sizes"),
        ({"losses": {"L": "A", "K": "B"}}, "losses.K", "'B' is neither given nor defined"),
        ({"random": ["A"]}, "random[0]", "expected the name of what is given"),
        ({"random": ["zz"]}, "random[0]", "expected the name of what is given"),
        ({"hypotheses": [3]}, "hypotheses[0]", "expected text, found a number"),
        ({"hypotheses": ["eps"]}, "hypotheses[0]", "expected two sides"),
        ({"hypotheses": ["eps > zz"]}, "hypotheses[0]", "unknown name 'zz'"),
        ({"define": {"A": 3}}, "define.A", "expected text, found a number"),
        ({"define": {"A": "softmax(T)"}}, "define.A", "unknown name 'T'"),
    ],
)
def test_faults_have_a_place(changed, where, told) -> None:
    """The path inside the file, and what was expected there."""
    with pytest.raises(Malformed) as error:
        draft.read({**GOOD, **changed})
    found = {fault.where: fault.message for fault in error.value.faults}
    assert where in found
    assert told in found[where]


def test_all_faults_are_told_at_once() -> None:
    """A reader corrects them together."""
    found = derived("faults", {**GOOD, "title": 1, "random": ["zz"], "sizes": ["n", "m", ""]})
    assert {fault.where for fault in found.faults} >= {"title", "random[0]", "sizes[2]"}
    assert [one.status for one in found.lines] == ["undecided", "undecided"]
    assert {one.why for one in found.lines} == {"the file has faults"}
    assert not found.proved


_MANY = {f"key_{number}": 1 for number in range(FAULTS_KEPT.most + 7)}


@pytest.mark.parametrize("changed", [_MANY, {"lines": [{"line": "eps == eps", **_MANY}]}])
def test_faults_beyond_those_kept_are_counted_once(changed) -> None:
    """In the file itself, and in a line."""
    with pytest.raises(Malformed) as error:
        draft.read({**GOOD, **changed})
    assert len(error.value.faults) + error.value.more == len(_MANY)


@pytest.mark.parametrize("lines", [3, [3], {}])
def test_lines_that_are_no_tables_are_left_out(lines) -> None:
    """A derivation without lines, and its faults."""
    found = derived("faults", {**GOOD, "lines": lines})
    assert found.faults
    assert found.lines == ()


@pytest.mark.parametrize(("axes", "right"), [(["n", "m"], True), (["m", "n"], False), ([], False)])
def test_the_shape_of_a_definition_may_be_said(axes, right) -> None:
    """Then it has to be the one that the definition has."""
    said = {**GOOD, "shapes": {**GOOD["shapes"], "A": axes}}
    if right:
        assert "A" not in [array.name for array in draft.read(said).ground.given]
    else:
        with pytest.raises(Malformed, match=r"shapes.A: an array of n x m by its definition, said"):
            draft.read(said)
