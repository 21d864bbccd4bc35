"""The key file: what it holds is read back, and every fault of it is told."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from symattn.cases import library
from symattn.cases.case import Case, make
from symattn.cases.settings import LEVELS
from symattn.errors import Malformed
from symattn.exercises.exercise import Exercise, exercise
from symattn.exercises.key import key, read_key

Read = Callable[[str], tuple[Exercise, ...]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads a key file of that text."""

    def read(content: str) -> tuple[Exercise, ...]:
        path = tmp_path / "key.toml"
        path.write_text(content, "utf-8")
        return read_key(path)

    return read


def said(case: Case) -> tuple[object, ...]:
    """All that a case computes from."""
    return (
        case.name, case.title, case.tokens, case.rounding, {**case.given}, {**case.steps},
        case.output, case.upstream, case.wrt, case.states_loss,
    )  # fmt: skip


@pytest.mark.heavy
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(library.names()), st.sampled_from(LEVELS))
def test_what_is_written_is_read_back(read: Read, name: str, level: str) -> None:
    """A key holds all of an exercise, and writing it again gives the same file."""
    case = library.load(name)
    # Symbols are no answers, and where nothing is a softmax there is nothing to mask.
    without_softmax = "softmax" not in " ".join(case.steps.values())
    if (case.symbols and level == "backward") or (without_softmax and level == "masked"):
        level = "forward"
    made = exercise(case, level)
    text = key([made])
    (found,) = read(text)
    assert said(found.case) == said(made.case)
    assert (found.level, found.parts, found.seed, found.version, found.name) == (
        made.level, made.parts, made.seed, made.version, made.name,
    )  # fmt: skip
    assert key([found]) == text


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(max_size=30))
def test_hostile_titles_and_tokens(read: Read, text: str) -> None:
    """What a case says is only text in the key."""
    tokens = [text, "]\n[[versions]]"]
    made = exercise(make("two", {"X": [[1, 2], [3, 4]]}, {"A": "softmax(X)"},
                         title=text or "x", tokens=tokens))  # fmt: skip
    (found,) = read(key([made]))
    assert found.case.tokens == tuple(tokens)
    assert found.title == (text or "x")


def test_answers_are_the_solutions_decimals() -> None:
    """The answers for people are the correctly rounded decimals, in the quantity's shape."""
    case = make("v", {"x": ["1/3", "sqrt(2)"], "b": 2}, {"a": "softmax(x)", "s": "total(x) * b"})
    made = exercise(case, places=3)
    (version,) = tomllib.loads(key([made]), parse_float=Decimal)["versions"]
    assert version["answers"] == {
        "a": [*map(Decimal, ("0.253", "0.747"))],
        "s": Decimal("3.495"),
    }
    for name, found in version["answers"].items():
        right = made.solution[name].decimal(3)
        assert found == (list(right) if isinstance(right, tuple) else right)


KEY = key([exercise(library.load("cat-sat-mat"))])


@pytest.mark.parametrize(
    ("old", "new", "faults"),
    [
        ("key = 1", "key = 2", ["3 key: expected 1, found 2: another symattn wrote it"]),
        (
            "seed = 0",
            "sed = 0",
            ["7 sed: unknown key 'sed': did you mean seed?", "0 seed: missing"],
        ),
        ("seed = 0", "seed = true", ["7 seed: expected a whole number, found true or false"]),
        ('level = "forward"', 'level = "back"', ["6 level: unknown level 'back'"]),
        ('S = "Q @ K.T"', 'S = "Q @ K"', ["15 steps.S: shapes don't fit"]),
        ('quantity = "S"', 'quantity = "R"', ["21 parts[0].quantity: unknown name 'R'"]),
        ("points = 2", "points = -1", ["22 parts[0].points: expected 1 to 1000, found -1"]),
        ("shape = [3, 3]", "shape = [3, 4]", ["24 parts[0].shape: S is 3x3, found [3, 4]"]),
        ("version = 0", "version = 'one'", ["45 versions[0].version: expected a number"]),
        ("X = [\n", "X = [[1],\n", ["48 versions[0].given.X"]),
        (
            "[[versions]]",
            "[[version]]",
            ["44 version: unknown key", "47 versions: expected a list"],
        ),
    ],
)
def test_every_fault_with_its_line(read: Read, old: str, new: str, faults: list[str]) -> None:
    """What is wrong with a key is told with its place and its line."""
    text = KEY.replace(old, new, 1)
    with pytest.raises(Malformed) as caught:
        read(text)
    found = [f"{fault.line} {fault}" for fault in caught.value.faults]
    for fault in faults:
        assert any(one.startswith(fault) for one in found), found


def test_versions_fit_the_first(read: Read) -> None:
    """Versions have numbers of their own, and the same names and shapes."""
    second = KEY[KEY.index("[[versions]]") : KEY.index("[scheme]")].replace("d_k = 4\n", "", 1)
    with pytest.raises(Malformed) as caught:
        read(KEY + second)
    assert "two versions have the number 0" in str(caught.value)
    with pytest.raises(Malformed, match=r"versions\[1\].given.d_k: missing"):
        read(KEY + second.replace("version = 0", "version = 1"))


def test_what_is_no_key(tmp_path: Path) -> None:
    """A file that is not there, or something else, says how a key is made."""
    with pytest.raises(Malformed, match="symattn exercise writes one"):
        read_key(tmp_path / "key.toml")
    path = tmp_path / "case.toml"
    path.write_text("title = 'x'\n[given]\nX = 1\n")
    with pytest.raises(Malformed) as caught:
        read_key(path)
    assert {"given", "key", "versions", "parts"} <= {f.where for f in caught.value.faults}
