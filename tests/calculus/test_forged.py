"""Certificates with atoms that no derivation says: nothing follows from them."""

from __future__ import annotations

import pytest

from symattn.calculus import draft
from symattn.calculus.certificates import replay
from symattn.errors import Malformed

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {"x": ["n"], "z": ["m"], "a": [], "b": []},
    "permutations": {"pi_": "n"},
}
ONE = {"number": "1"}
GIVEN = [
    *(["array", name] for name in ("a", "b", "x")),
    *(["x", [{"at": place}, []]] for place in (0, 1)),
    ["index", "line 1, index 0"],
]


def at(place):
    return {"at": place}


def total(*places):
    """The sum of what stands at these places of the table."""
    return {"sum": [[[[at(place), 1]], ONE] for place in places]}


def forged(line, atoms, steps):
    """A certificate of a line, with these atoms behind those of what is given."""
    steps = [
        [epoch, [], {"Step": {"rule": rule, "to": [[at(to), 1]], "data": data}}]
        for epoch in range(4)
        for rule, to, data in steps
    ]
    nothing: dict[str, list[object]] = {"steps": [], "equations": [], "last": []}
    proof = {"line": 1, "by": False, "ready": nothing, "proof": {**nothing, "steps": steps}}
    data = {"format": "symattn certificate 2", "atoms": [*GIVEN, *atoms], "proofs": [proof]}
    return replay(draft.read({**TABLES, "lines": [{"line": line}]}), data)


def signs(first, last, by):
    """Both sides of a comparison with 0 over a sum, whose terms are written out."""
    steps = [("sign", place, [1, [[at(by), -1]]]) for place in range(first, last + 1)]
    return [*steps, ("written", by, 0)]


@pytest.mark.parametrize("length", [0, -2])
def test_a_sum_is_over_an_axis_that_has_places(length) -> None:
    """A sum without terms is not above 0, whatever is added up."""
    atoms = [
        ["F", ["exp", total(3)]],
        ["S", [[length], [[at(6), 1]]]],
        *(["h", total(place)] for place in (3, 4)),
    ]
    with pytest.raises(Malformed, match="without places"):
        forged("step(0 < a) * x[j] == step(0 < b) * x[j]", atoms, signs(8, 9, 7))


def test_places_of_one_axis_are_compared() -> None:
    """Of 3 places none need be behind one of another axis."""
    atoms = [
        ["m", [[at(5), 0, []], [0, 0, []]]],
        ["S", [[3], [[at(6), 1]]]],
        ["h", total(3)],
    ]
    some = "step(j <= 1) + step(j <= 2) + step(j <= 3)"
    line = f"step(0 < a) * x[j] == step(0 < a * ({some})) * x[j]"
    with pytest.raises(Malformed, match="places of two axes are compared"):
        forged(line, atoms, signs(8, 8, 7))


@pytest.mark.parametrize(
    ("atoms", "why"),
    [
        ([["variable", 0, 0]], "without places"),
        ([["variable", 0, "m"], ["x", [at(2), [[at(6), 0, []]]]]], "another axis than that of"),
        ([["x", [at(2), []]]], "certificate of this derivation"),
        ([["variable", 0, "m"], ["i", [at(6), 0, [["pi_", 1]]]]], "permutation of another axis"),
        ([["i", [at(5), 0, [["rho", 1]]]]], "certificate of this derivation"),
        ([["L", [at(2), "oo", total(3)]]], "a limit in what is no number"),
        ([["q", "n"]], "certificate of this derivation"),
        (
            [["m", [[at(5), 0, []], [at(5), 1, []], [at(5), 2, []]]]],
            "certificate of this derivation",
        ),
        (
            [["d", [[0, 0, []], [1, 0, []]]], ["S", [["n", "m"], [[at(6), 1]]]]],
            "places of two axes are compared",
        ),
        (
            [
                ["x", [at(2), [[1, 0, []]]]],
                ["S", [["n"], [[at(6), 1]]]],
                ["S", [["m"], [[at(7), 1]]]],
            ],
            "another axis than that of",
        ),
    ],
)
def test_what_no_derivation_says_is_refused(atoms, why) -> None:
    """Whether or not a step makes use of it."""
    with pytest.raises(Malformed, match=why):
        forged("a * x[j] == x[j] * a", atoms, [])
    assert forged("a * x[j] == x[j] * a", [], []) == {1: ()}
