"""Case files: what can't be read, and every fault of what can, with its place."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq

from symattn.cases import library
from symattn.cases.case import make, shape_of
from symattn.errors import Fault, Malformed
from symattn.limits import BYTES, CHAIN

GIVEN = "[given]\nX = [[1, 2], [3, 4]]\n"
GOOD = GIVEN + "[steps]\nA = 'softmax(X)'\n"

Faults = Callable[[str], list[str]]
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of that text, and gives its path."""

    def write(text: str, name: str = "case.toml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.fixture
def faults(write: Write) -> Faults:
    """The faults of a file with that text, as text after their lines."""

    def read(text: str) -> list[str]:
        path = write(text)
        with pytest.raises(Malformed) as caught:
            library.load(path)
        assert caught.value.source == str(path)
        return [f"{fault.line} {fault}" for fault in caught.value.faults]

    return read


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "2 faults"),
        (bytes(range(256)), "not UTF-8 text"),
        (GOOD.encode("utf-16"), "not UTF-8 text"),
        (b"#" * (BYTES.most + 1), f"at most {BYTES.most} are read"),
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


def test_the_largest_file_is_read(tmp_path: Path) -> None:
    """Just as large as is allowed."""
    path = tmp_path / "case.toml"
    path.write_text(GOOD + "#" * (BYTES.most - len(GOOD)))
    assert library.load(path).output == "A"


def test_what_is_no_file(tmp_path: Path) -> None:
    """Folders, devices, pipes, missing files, circles of links: refused, none waited for."""
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "device.toml").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "a.toml").symlink_to("b.toml")
    (tmp_path / "b.toml").symlink_to("a.toml")
    kind = "a device or a pipe$"
    said = {"device": kind, "pipe": kind, "a": "too many levels",
            "missing": "no such file or directory", "x" * 300: "file name too long",
            "null\0byte": "(stat: )?embedded null"}  # fmt: skip
    for name, reason in said.items():
        path = tmp_path / f"{name}.toml"
        with pytest.raises(Malformed) as caught:
            library.load(path)
        (fault,) = caught.value.faults
        assert re.match(f"the file can't be read: {reason}", str(fault))
        assert caught.value.source == str(path)
    with pytest.raises(Malformed, match="is a folder, not a case file; 'symattn new "):
        library.load(tmp_path / "folder.toml")


def test_a_long_number_is_told_its_line(faults: Faults) -> None:
    """Python's own limit on digits has no place; the message does."""
    text = "[given]\nx = 1\ny = " + "9" * 10**6 + "\n"
    assert faults(text) == ["3 a number of 1000000 digits; at most 400 are read"]
    text = f"[given]\nw = {'9' * 400}\nx = {'9' * 401}\ny = {'9' * 5000}\n"
    assert [line[0] for line in faults(text)] == ["3", "4"]


def test_a_number_beyond_decimals_is_a_fault_like_any_other(faults: Faults) -> None:
    """Where Python's own decimals end, nothing breaks."""
    number = "1e99999999999999999999"
    (found,) = faults(f"[given]\nx = [1,\n {number}]\n[steps]\ny = 'x'\n")
    assert found == f"3 given.x[1]: {number}: power of ten beyond 400"


EVERYTHING = """\
titel = 'x'
rounding = 'nearly'
tokens = 'a b'
tolerance = '-0.1'
[given]
X = [[1, 2],
     [3]]
y = [nan, true]
W = [[1, 2, 3]]
[steps]
A = 'W @ W'
B = 3
C = 'B + 1'
D = 'Z'
E = 'W + 1'
[loss]
out = 'A'
output = 'E'
upstream = [[1, 'W', -inf]]
wrt = ['W', 'F']

[[claims]] # the first
where = 3
[[claims]]
holds = 'E[0, 0] == 1 and H == 2'
[[claims]]
of = 'E'
printed = [[1, 2,
  '3..4']]
[[claims]]
of = 'C'
printed = 'x'
[[claims]]
of = 'E[3]'
printed = [[1], [2, 3]]
[[claims]]
holds = 'C == 1'
[[unchecked]]
what = 'x'
"""


def test_faults_of_every_kind_come_together(faults: Faults) -> None:
    """Keys, kinds, numbers, shapes, names, statements and printed figures are
    told in one go, in the order of their lines; what uses something faulty is
    no fault of its own."""
    places = [line.partition(": ")[0] for line in faults(EVERYTHING)]
    assert places == [
        "1 titel", "2 rounding", "3 tokens", "4 tolerance", "7 given.X[1]", "8 given.y[0]",
        "8 given.y[1]", "11 steps.A", "12 steps.B", "14 steps.D", "17 loss.out",
        "19 loss.upstream[0][1]", "19 loss.upstream[0][2]", "20 loss.wrt[1]", "22 claims[0]",
        "23 claims[0].where", "25 claims[1].holds", "29 claims[2].printed[0][2]",
        "32 claims[3].printed", "34 claims[4].of", "35 claims[4].printed[1]",
        "38 unchecked[0].where", "38 unchecked[0].reason",
    ]  # fmt: skip


def test_one_fault_is_told_after_its_line(write: Write) -> None:
    """As compilers do, so that editors find it; several stand in a list."""
    path = write(f"{GOOD}[[claims]]\n\nholds = 'B == 1'\n")
    with pytest.raises(Malformed) as caught:
        library.load(path)
    said = "claims[0].holds: unknown name 'B': expected one of X, A"
    assert str(caught.value) == f"{path}:7: {said}"
    write(f"titel = 'x'\n{GOOD}[[claims]]\nholds = 'B == 1'\n[loss]\noutput = 'Y'\n")
    with pytest.raises(Malformed) as caught:
        library.load(path)
    assert str(caught.value).splitlines() == [
        f"{path}: 3 faults",
        f"  {path}:1: titel: unknown key 'titel': did you mean title?",
        f"  {path}:7: {said}",
        f"  {path}:9: loss.output: expected a step (A), found 'Y'",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[given]\nX = 1\nX = 2\n", "3 not valid TOML: Cannot overwrite a value at column 6"),
        ("[given]\nX = [", "0 not valid TOML: Invalid value (at end of document)"),
    ],
)
def test_what_is_no_toml_is_told_its_line(text: str, said: str, faults: Faults) -> None:
    """The line that tomllib knows stands where all lines stand."""
    assert faults(text) == [said]


def test_a_wrong_kind_is_not_also_missing(faults: Faults) -> None:
    """A table of another kind is one fault; what is missing besides is another."""
    assert faults("given = 3\n") == [
        "0 steps: missing: expected a [steps] table",
        "1 given: expected a table, found a number",
    ]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("title", "3", "expected text, found a number"),
        ("source", "[1]", "expected text, found a list"),
        ("note", "true", "expected text, found true or false"),
        ("extends", "{}", "expected text, found a table"),
        ("rounding", "1.5", "expected text, found a number"),
        ("tolerance", "0.1", "expected text, found a number"),
        ("tokens", "1979-05-27", "expected a list, found a date"),
        ("claims", "'x'", "expected a list, found text"),
        ("unchecked", "{a = 1}", "expected a list, found a table"),
        ("replace_steps", "'yes'", "expected true or false, found text"),
    ],
)
def test_kinds_of_values(key: str, value: str, said: str, faults: Faults) -> None:
    """Each key of a file has one kind of value; another is told as what it is."""
    assert faults(f"{key} = {value}\n{GOOD}") == [f"1 {key}: {said}"]


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
    assert found.startswith("6 ")
    assert said in found


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("of = 'A'\nprinted = [[1, 2]]", "11 claims[1].printed: A is 2x2, found 1x2"),
        ("of = 'Q'\nprinted = 1", "10 claims[1].of: unknown name 'Q'"),
        ("of = 'A[0, 0]'", "8 claims[1]: expected both 'of' and 'printed'"),
        ("of = ''\nprinted = 1", "10 claims[1].of: expected text, found nothing"),
        ("of = 'A'\nholds = 'A == A'", "8 claims[1]: expected either 'holds' or both"),
        ("of = 'A[0]'\nprinted = [1,\n'1/2']", "12 claims[1].printed[1]: expected a printed"),
        ("of = 'A[0, 0]'\nprinted = 'x'", "11 claims[1].printed: expected a printed number"),
        ("of = 'A[0]'\nprinted = [1, [2]]", "11 claims[1].printed[0]: expected a row"),
        ("of = 'dX @ A[0:1]'\nprinted = 1", "10 claims[1].of: shapes don't fit: 2x2 @ 1x2"),
        ("of = 'A == A'\nprinted = 1", "10 claims[1].of: a comparison states something"),
        ("holds = 'A'", "10 claims[1].holds: states nothing: expected a comparison"),
        ("holds = 'A[0, 0] == Q'", "10 claims[1].holds: unknown name 'Q'"),
        ("holds = 'A == A and A + 1'", "10 claims[1].holds: states nothing"),
        ("holds = 'argmax(Q) == 1'", "10 claims[1].holds: unknown name 'Q'"),
        ("holds = 'argmax(A) == 1'", "10 claims[1].holds: argmax takes a vector, found 2x2"),
        ("holds = 'max(A, X) == 1'", "10 claims[1].holds: max takes one argument, found 2"),
        ("holds = 'A == concat(A, A)'", "10 claims[1].holds: shapes don't fit"),
        ("holds = 'A < (1, 2)'", "10 claims[1].holds: a shape is compared with =="),
        ("holds = 'shape(A) < (1, 2)'", "10 claims[1].holds: a shape is compared with =="),
        ("holds = '(1, 2) == A'", "10 claims[1].holds: a shape is compared with =="),
        ("holds = 'shape(A) == (2, A)'", "10 claims[1].holds: expected a number inside"),
        ("holds = 'shape(A, X) == (2, 2)'", "10 claims[1].holds: shape takes one argument"),
        ("holds = 'shape(A)[0] == 2'", "10 claims[1].holds: a shape is compared as a whole"),
        ("holds = 'median(A) < 1'", "10 claims[1].holds: unknown function 'median'"),
        ("holds = 'max(A @ A[0, 0]) < 1'", "10 claims[1].holds"),
        ("holds = 'A[0, 0] == 9**9**9'", "10 claims[1].holds"),
    ],
)
def test_faults_of_a_claim(claim: str, said: str, faults: Faults) -> None:
    """A claim that doesn't fit its walkthrough is a fault of the file, at its
    number and on its line."""
    right = "[[claims]]\nwhere = 'w'\nholds = 'shape(A) == (2, 2) and max(A[0]) < 1'\n"
    (found,) = faults(f"{GOOD}{right}[[claims]]\nwhere = 'w'\n{claim}\n")
    assert found.startswith(said)


def test_tokens_that_fit_nothing(faults: Faults) -> None:
    """Tokens label rows or columns; a number of them that nothing has is a slip."""
    assert faults("tokens = ['a', 'b', 'c']\n" + GOOD) == [
        "1 tokens: 3 tokens, but no quantity has 3 rows or columns"
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("self.toml", "extends this file in turn"),
        ("ring.toml", "extends this file in turn"),
        ("nothing", "unknown case 'nothing'"),
        ("nothing.toml", "'nothing.toml' can't be read: no such file"),
        ("bad.toml", "'bad.toml' is not a case file: see its line 3"),
        ("broken.toml", "'broken.toml' is not a case file: see its line 2"),
        ("deep.toml", "/deep.toml extends is not a case file: see its line 3"),
        ("lost.toml", "/lost.toml extends is not read"),
        ("c0.toml", f"more than {CHAIN.most} files that extend each other"),
    ],
)
def test_faults_of_extends(name: str, said: str, tmp_path: Path) -> None:
    """What is wrong with the other file is told at ``extends``."""
    (tmp_path / "ring.toml").write_text("extends = 'self.toml'")
    (tmp_path / "bad.toml").write_text(f"\n\nnote = 3\n{GOOD}")
    (tmp_path / "broken.toml").write_text("\nnote = x")
    (tmp_path / "deep.toml").write_text("\nextends = 'bad.toml'")
    (tmp_path / "lost.toml").write_text("\nextends = 'nowhere'")
    for k in range(CHAIN.most + 2):
        (tmp_path / f"c{k}.toml").write_text(f"extends = 'c{k + 1}.toml'")
    path = tmp_path / "self.toml"
    path.write_text(f"title = ''\nextends = {name!r}")
    with pytest.raises(Malformed) as caught:
        library.load(path)
    (found,) = caught.value.faults
    assert (found.where, found.line) == ("extends", 2)
    assert said in found.message


def test_bases_are_found_beside_the_file_that_names_them(tmp_path: Path) -> None:
    """A chain through folders is followed from file to file, whatever the folder one is in."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "first.toml").write_text(GOOD)
    (tmp_path / "deep" / "second.toml").write_text("extends = 'first.toml'\n[steps]\nB = 'A + 1'")
    path = tmp_path / "third.toml"
    path.write_text("extends = 'deep/second.toml'\n[given]\nX = [[1]]")
    case = library.load(path)
    assert list(case.steps) == ["A", "B"]
    assert case.base is not None
    assert case.base.resolve() == tmp_path / "deep" / "second.toml"


BASE = """\
title = "the base"
source = "a book"
note = "of numbers"
tokens = ["a", "b"]
rounding = "up"
tolerance = "0.01"

[given]
X = [[1, 2], [3, 4]]
w = 2

[steps]
S = "w * X"
A = "softmax(S)"
Y = "A @ X"

[loss]
output = "A"
upstream = [["g", 1], [0, "1/2"]]
wrt = ["S"]

[[claims]]
where = "1"
holds = "w == 2"

[[unchecked]]
where = "2"
what = "x"
reason = "y"
"""


def test_what_a_file_does_not_say_it_has_from_the_one_it_extends(write: Write) -> None:
    """All but what a document says of its own numbers; and the base's file is known."""
    base = library.load(write(BASE, "base.toml"))
    case = library.load(write("extends = 'base.toml'\n"))
    for name in ("title", "source", "note", "tokens", "rounding", "tolerance", "steps", "output",
                 "upstream", "wrt", "states_loss", "raw_upstream", "symbols"):  # fmt: skip
        assert str(getattr(case, name)) == str(getattr(base, name))
        assert getattr(case, name)
    assert case.raw == base.raw
    assert case.program.shapes() == base.program.shapes()
    assert (case.name, case.extends, case.claims, case.unchecked) == ("case", "base.toml", (), ())
    assert (len(base.claims), len(base.unchecked), base.extends) == (1, 1, "")
    assert (base.base, case.base) == (None, base.path)


def test_what_a_file_says_replaces_what_it_extends(write: Write) -> None:
    """Name by name inside the tables; a step keeps its turn; the rest stays."""
    write(BASE, "base.toml")
    text = "extends = 'base.toml'\ntitle = 'mine'\ntolerance = '0.2'\n"
    text += "[given]\nw = 3\nz = 1\n[steps]\nS = 'z * X'\nZ = 'Y + z'\n[loss]\nwrt = ['X']\n"
    case = library.load(write(text))
    assert (case.title, case.tolerance) == ("mine", fmpq(1, 5))
    assert case.raw == {"X": [[1, 2], [3, 4]], "w": 3, "z": 1}
    assert list(case.steps.items())[:2] == [("S", "z * X"), ("A", "softmax(S)")]
    assert list(case.steps) == ["S", "A", "Y", "Z"]
    assert (case.output, case.wrt, case.symbols) == ("A", ("X",), ("g",))


@pytest.mark.parametrize("own", ["", "replace_steps = false\n"])
def test_steps_are_replaced_whole_only_when_told(own: str, write: Write) -> None:
    """``replace_steps`` drops those of the base."""
    write(BASE, "base.toml")
    steps = "[steps]\nA = 'X'\n[loss]\noutput = 'A'\nupstream = [[1, 1], [1, 1]]\nwrt = ['X']"
    case = library.load(write(f"extends = 'base.toml'\nreplace_steps = true\n{steps}"))
    assert dict(case.steps) == {"A": "X"}
    case = library.load(write(f"extends = 'base.toml'\n{own}{steps}"))
    assert list(case.steps) == ["S", "A", "Y"]


@pytest.mark.parametrize(
    ("base", "own", "states"),
    [("", "", False), ("[loss]\n", "", True), ("", "[loss]\n", True), ("[loss]\n", "[loss]", True)],
)
def test_a_loss_is_stated_by_either_file(base: str, own: str, states: bool, write: Write) -> None:
    """One that neither states is not made up."""
    write(f"{GOOD}{base}", "base.toml")
    assert library.load(write(f"extends = 'base.toml'\n{own}")).states_loss is states


def test_a_fault_in_what_a_file_inherits_is_told_where_it_says_so(write: Write) -> None:
    """A step of the base that the own numbers don't fit: on the line of ``extends``."""
    write(BASE, "base.toml")
    path = write("title = 'x'\nextends = 'base.toml'\n[given]\nX = [[1, 2, 3]]\n")
    with pytest.raises(Malformed) as caught:
        library.load(path)
    places = [(fault.line, fault.where) for fault in caught.value.faults]
    assert places == [(2, "steps.Y"), (2, "loss.upstream")]


def test_claims_have_their_lines(write: Write) -> None:
    """Whatever stands behind or between their headers, and however they are written."""
    text = "note = '''\n[[claims]]\n'''\n# [[claims]]\n" + GOOD
    text += "[[claims]] # one\nholds = 'A == A'\n\n  [[ \"claims\" ]]\nof = 'A[0]'\n"
    text += "printed = [\n  1,\n  0\n]\n[[claims]]\nholds = 'A == X'\n"
    inline = "claims = [{holds = 'A == A'},\n\n  {of = 'A[0]', printed = [1, 0]}]\n"
    for content, lines in [(text, [9, 12, 18]), (inline + GOOD, [1, 3])]:
        for newline in ("\n", "\r\n"):
            case = library.load(write(content.replace("\n", newline)))
            assert [claim.line for claim in case.claims] == lines


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
