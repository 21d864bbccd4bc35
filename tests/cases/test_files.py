"""Walkthrough files: what can't be read, and every fault of what can, with its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from symattn.cases import library
from symattn.cases.case import make, shape_of
from symattn.cases.file import MAX_BYTES, MAX_CHAIN
from symattn.errors import Fault, Malformed

GIVEN = "[given]\nX = [[1, 2], [3, 4]]\n"
GOOD = GIVEN + "[steps]\nA = 'softmax(X)'\n"

Faults = Callable[[str], list[str]]


@pytest.fixture
def faults(tmp_path: Path) -> Faults:
    """The faults of a file with that text, as text."""

    def read(text: str) -> list[str]:
        path = tmp_path / "case.toml"
        path.write_text(text, "utf-8")
        with pytest.raises(Malformed) as caught:
            library.load(path)
        assert caught.value.source == str(path)
        return [str(fault) for fault in caught.value.faults]

    return read


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "2 faults"),
        (bytes(range(256)), "not UTF-8 text"),
        (GOOD.encode("utf-16"), "not UTF-8 text"),
        (b"#" * (MAX_BYTES + 1), f"at most {MAX_BYTES} are read"),
        (b"[given]\nX = " + b"[" * 5000, "nested too deep"),
        (b"[given]\nX = " + b"{a = " * 5000, "nested too deep"),
        (b"[given]\nX = 1\nX = 2\n", "not valid TOML"),
    ],
)
def test_what_is_no_walkthrough(content: bytes, said: str, tmp_path: Path) -> None:
    """Bytes that can't be a walkthrough are refused with the reason."""
    path = tmp_path / "case.toml"
    path.write_bytes(content)
    with pytest.raises(Malformed, match=said):
        library.load(path)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    """Editors on Windows write one; it is no part of the text."""
    path = tmp_path / "case.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert library.load(path).output == "A"


def test_what_is_no_file(tmp_path: Path) -> None:
    """Folders, devices, pipes, missing files, circles of links: refused, none waited for."""
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "device.toml").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "a.toml").symlink_to("b.toml")
    (tmp_path / "b.toml").symlink_to("a.toml")
    for name in ("folder", "device", "pipe", "a", "missing", "x" * 300, "null\0byte"):
        with pytest.raises(Malformed, match="the file can't be read"):
            library.load(tmp_path / f"{name}.toml")


def test_a_long_number_is_told_its_line(faults: Faults) -> None:
    """Python's own limit on digits has no place; the message does."""
    text = "[given]\nx = 1\ny = " + "9" * 10**6 + "\n"
    assert faults(text) == ["line 3: a number of 1000000 digits; at most 400 are read"]


def test_faults_of_every_kind_come_together(faults: Faults) -> None:
    """Keys, kinds, numbers, shapes, names and claims are told in one go."""
    found = faults(
        "titel = 'x'\nrounding = 'nearly'\ntokens = 'a b'\n"
        "[given]\nX = [[1, 2], [3]]\ny = [nan, true]\nW = [[1, 2, 3]]\n"
        "[steps]\nA = 'W @ W'\nB = 3\nC = 'B + 1'\nD = 'Z'\n"
        "[loss]\nout = 'A'\n[[claims]]\nwhere = 3\n[[unchecked]]\nwhat = 'x'\n"
    )
    places = [line.partition(":")[0] for line in found]
    assert places == [
        "titel", "tokens", "loss.out", "claims[0].where", "claims[0]", "unchecked[0].where",
        "unchecked[0].reason", "rounding", "given.X[1]", "given.y[0]", "given.y[1]", "steps.B",
        "steps.A", "steps.D",
    ]  # fmt: skip


def test_a_wrong_kind_is_not_also_missing(faults: Faults) -> None:
    """A table of another kind is one fault; what is missing besides is another."""
    assert faults("given = 3\n") == [
        "given: expected a table, found a number",
        "steps: missing: expected a [steps] table",
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([1, [2]], "[0]: expected a row of numbers, found a single value"),
        ([[1, 2], [3], [4, 5]], "[1]: expected 2 numbers as in the other rows, found 1"),
        ([[[1]]], "[0][0]: expected a number, found a list"),
        ([], "expected numbers, found an empty list"),
        ([[], []], "expected numbers, found empty rows"),
    ],
)
def test_ragged_lists(rows: object, said: str) -> None:
    """Each row that doesn't fit is told, and nothing else."""
    with pytest.raises(Malformed) as caught:
        shape_of(rows)
    assert [str(fault) for fault in caught.value.faults] == [said]


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        ("output = 'Q'", "loss.output: expected a step"),
        ("output = ['A']", "loss.output: expected a step"),
        ("upstream = [[1, 2]]", "found 1x2"),
        ("upstream = [['-inf', 1], [1, 1]]", "loss.upstream[0][0]: expected a finite number"),
        ("upstream = [['X', 1], [1, 1]]", "is a quantity's name"),
        ("upstream = [['e', 1], [1, 1]]", "reserved"),
        ("upstream = [['g1 * g2', 1], [1, 1]]", "not linear"),
        ("upstream = [['().x', 1], [1, 1]]", "loss.upstream[0][0]"),
        ("wrt = 'A'", "loss.wrt: expected a list of names"),
        ("wrt = [['A']]", "loss.wrt[0]"),
        ("wrt = ['A', 'A']", "loss.wrt[1]: A is named twice"),
        ("wrt = [3]", "loss.wrt[0]"),
    ],
)
def test_faults_of_a_loss(loss: str, said: str, faults: Faults) -> None:
    """Whatever stands under [loss], the message names the place."""
    (found,) = faults(f"{GOOD}[loss]\n{loss}\n")
    assert said in found


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("of = 'A'\nprinted = [[1, 2]]", "claims[1].printed: A is 2x2, found 1x2"),
        ("of = 'Q'\nprinted = 1", "claims[1].of: unknown name 'Q'"),
        ("of = 'A[0, 0]'", "claims[1]: expected both 'of' and 'printed'"),
        ("of = ''\nprinted = 1", "claims[1].of: expected text, found nothing"),
        ("holds = 'A'", "claims[1].holds: 'A' states nothing"),
        ("holds = 'A[0, 0] == Q'", "claims[1].holds: unknown name 'Q'"),
        ("holds = 'argmax(Q) == 1'", "claims[1].holds: unknown name 'Q'"),
        ("holds = 'median(A) < 1'", "claims[1].holds: unknown function 'median'"),
        ("holds = 'max(A @ A[0, 0]) < 1'", "claims[1].holds"),
        ("holds = 'A[0, 0] == 9**9**9'", "claims[1].holds"),
    ],
)
def test_faults_of_a_claim(claim: str, said: str, faults: Faults) -> None:
    """A claim that doesn't fit its walkthrough is a fault of the file, at its number."""
    right = "[[claims]]\nwhere = 'w'\nholds = 'shape(A) == (2, 2) and max(A[0]) < 1'\n"
    (found,) = faults(f"{GOOD}{right}[[claims]]\nwhere = 'w'\n{claim}\n")
    assert found.startswith(said)


def test_tokens_that_fit_nothing(faults: Faults) -> None:
    """Tokens label rows or columns; a number of them that nothing has is a slip."""
    assert faults("tokens = ['a', 'b', 'c']\n" + GOOD) == [
        "tokens: 3 tokens, but no quantity has 3 rows or columns"
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("self.toml", "extends this file in turn"),
        ("ring.toml", "extends this file in turn"),
        ("nothing", "unknown case 'nothing'"),
        ("nothing.toml", "nothing.toml: the file can't be read"),
        ("bad.toml", "bad.toml: steps: missing"),
        ("c0.toml", f"more than {MAX_CHAIN} files that extend each other"),
    ],
)
def test_faults_of_extends(name: str, said: str, tmp_path: Path) -> None:
    """What is wrong with the other file is told at ``extends``."""
    (tmp_path / "ring.toml").write_text("extends = 'self.toml'")
    (tmp_path / "bad.toml").write_text(GIVEN)
    for k in range(MAX_CHAIN + 2):
        (tmp_path / f"c{k}.toml").write_text(f"extends = 'c{k + 1}.toml'")
    path = tmp_path / "self.toml"
    path.write_text(f"extends = {name!r}")
    with pytest.raises(Malformed) as caught:
        library.load(path)
    (found,) = map(str, caught.value.faults)
    assert found.startswith("extends: ")
    assert said in found


def test_bases_are_found_beside_the_file_that_names_them(tmp_path: Path) -> None:
    """A chain through folders is followed from file to file, whatever the folder one is in."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "first.toml").write_text(GOOD)
    (tmp_path / "second.toml").write_text("extends = 'first.toml'\n[steps]\nB = 'A + 1'")
    path = tmp_path / "deep" / "third.toml"
    path.write_text("extends = '../second.toml'\n[given]\nX = [[1]]")
    case = library.load(path)
    assert list(case.steps) == ["A", "B"]
    assert case.base is not None
    assert case.base.resolve() == tmp_path / "second.toml"


@pytest.mark.parametrize("number", [0.5, np.float64(0.5), np.float32(0.5), float("nan")])
def test_floats_are_refused(number: float) -> None:
    """A case made in Python takes no floats; the message says what to write."""
    with pytest.raises(Malformed, match=r"given\.X\[0\]\[1\]"):
        make("floats", {"X": [[1, number]]}, {"A": "softmax(X)"})
    exact = make("exact", {"X": [[1, Decimal("0.5")]]}, {"A": "softmax(X)"})
    assert str(exact.given["X"][0][1]) == "1/2"


def test_messages_stay_on_their_lines() -> None:
    """Names and paths from outside can't steer a terminal or fake a line."""
    message = str(Malformed(Fault("steps.\x1b[31m", "a\nb \u202e"), source="x\r.toml"))
    assert message == r"x\r.toml: steps.\x1b[31m: a\nb \u202e"
