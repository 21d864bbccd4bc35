"""Files that are all faults: told quickly, briefly, and with how many there are."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import pytest

from symattn.cases import library
from symattn.errors import Fault, Faults, Malformed
from symattn.limits import CLAIMS, FAULTS_KEPT, FAULTS_PRINTED, KEY_PARTS

KEPT, PRINTED = FAULTS_KEPT.most, FAULTS_PRINTED.most

GIVEN = "[given]\nX = [[1, 2], [3, 4]]\n"
GOOD = GIVEN + "[steps]\nA = 'softmax(X)'\n"


def refused(text: str, folder: Path) -> Malformed:
    """What is said of a file with that text, within a time that bears a loaded machine."""
    path = folder / "case.toml"
    path.write_text(text, "utf-8")
    begun = time.monotonic()
    with pytest.raises(Malformed) as caught:
        library.load(path)
    assert time.monotonic() - begun < 60
    assert len(str(caught.value)) < 20_000
    return caught.value


LARGE = {
    "unknown keys": ("".join(f"k{i} = 1\n" for i in range(300_000)) + GOOD, 300_000),
    "tables for numbers": (GOOD + "".join(f"[given.a{i}]\n" for i in range(30_000)), 30_000),
    "bad numbers": (
        GOOD.replace("X =", "".join(f"g{i} = ''\n" for i in range(30_000)) + "X ="),
        30_000,
    ),
    "ragged rows": (GOOD.replace("[[1, 2], [3, 4]]", "[" + "[1], [1, 2]," * 30_000 + "]"), 30_000),
    "lists for numbers": (GOOD.replace("[[1, 2], [3, 4]]", "[" + "[[1]]," * 30_000 + "]"), 30_000),
    "names to differentiate by": (GOOD + "[loss]\nwrt = [" + "'X'," * 500_000 + "]\n", 2),
    "claims": (GOOD + "[[claims]]\nof = 3\n" * (CLAIMS.most + 1), 1),
    "faulty claims": (GOOD + "[[claims]]\nwher = 3\n" * 2000, 4000),
    "deep keys": ("".join(f"k{i}." + "a." * 200 + "a = 1\n" for i in range(3000)), 3000),
}


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("label", LARGE)
def test_very_many_faults(label: str, tmp_path: Path) -> None:
    """All are counted, the first are kept and fewer printed."""
    text, count = LARGE[label]
    error = refused(text, tmp_path)
    assert len(error.faults) + error.more == count
    assert len(error.faults) <= KEPT
    assert all(fault.line for fault in error.faults)
    lines = str(error).splitlines()
    if count == 1:
        assert len(lines) == 1
    else:
        assert lines[0].endswith(f": {count} faults")
        assert len(lines) == 1 + min(count, PRINTED) + (count > PRINTED)
    assert count <= PRINTED or lines[-1] == f"  and {count - PRINTED} more"


@pytest.mark.parametrize(
    "count",
    [
        1,
        2,
        PRINTED,
        PRINTED + 1,
        KEPT,
        KEPT + 1,
        3 * KEPT,
    ],
)
def test_how_many_are_printed(count: int) -> None:
    """Up to the limit all of them; behind it their number. Nothing is lost on the way."""
    faults = Faults()
    for k in range(count):
        faults += [Fault(f"x[{k}]", "bad", k + 1)]
    error = Malformed(faults, "a.toml")
    for same in (error, Malformed(error.faults, "a.toml", error.more),
                 pickle.loads(pickle.dumps(error))):  # fmt: skip
        assert len(same.faults) + same.more == count
        assert str(same) == str(error)
    lines = str(error).splitlines()
    assert lines[0] == ("a.toml:1: x[0]: bad" if count == 1 else f"a.toml: {count} faults")
    assert lines[1 : PRINTED + 1] == [
        f"  a.toml:{k + 1}: x[{k}]: bad" for k in range(min(count, PRINTED) * (count > 1))
    ]
    outer = Faults()
    with outer.inside("y"):
        raise error
    assert len(outer) + outer.more == count
    other = Faults([Fault("", "bad")])
    other += outer
    assert len(other) + other.more == count + 1


def test_faults_that_are_only_counted_are_not_made() -> None:
    """Of very many items the first have a fault."""
    made = []
    faults = Faults.of(range(10**6), lambda k: made.append(k) or Fault("", str(k)))  # type: ignore[func-returns-value]
    assert (len(made), len(faults), faults.more) == (
        KEPT,
        KEPT,
        10**6 - KEPT,
    )


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "line",
    ["a." * 1_900_000 + "a = 1", "[" + "a." * 100_000 + "a]", "x = {" + "a . " * 50_000 + "a = 1}",
     "'a'." * 100_000 + '"b" = 1', '"' * 100 + "=" + "a." * 10_000 + "a=1",
     "a." * KEY_PARTS.most + "a = 1"],
)  # fmt: skip
def test_a_key_of_very_many_parts(line: str, tmp_path: Path) -> None:
    """Reading one takes the square of them: it is told its line, and not read."""
    error = refused(f"# a key\n{line}\n{GOOD}", tmp_path)
    (fault,) = error.faults
    assert fault.line == 2
    assert fault.message.startswith("a key of ")
    assert fault.message.endswith(f" parts; at most {KEY_PARTS.most} are read")


@pytest.mark.parametrize(
    "text",
    ["note = '" + "a." * 500_000 + "'\n", "note = '" + '"' * 1_000_000 + "'\n",
     "note = '''\n" + "a.b = c\n" * 1000 + "'''\n", 'note = "' + "x.y. " * 1000 + '"\n',
     "note = '" + "0.5 = " * 1000 + "'\n"],
)  # fmt: skip
def test_points_that_are_no_keys(text: str, tmp_path: Path) -> None:
    """In texts they are as many as there are."""
    path = tmp_path / "case.toml"
    path.write_text(text + GOOD, "utf-8")
    assert library.load(path).note


@pytest.mark.heavy
def test_very_many_keys_with_points(tmp_path: Path) -> None:
    """Short ones are read, however many there are."""
    error = refused(
        GOOD + "[given.b]\n" + "".join(f"a.c.k{i} = 1\n" for i in range(50_000)), tmp_path
    )
    assert [fault.where for fault in error.faults] == ["given.b"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("text", ["x" * 300_000, "\x1b" * 50_000])
def test_one_fault_is_short(text: str, tmp_path: Path) -> None:
    """Whatever it quotes."""
    quoted = '"' + "".join(f"\\u{ord(c):04x}" if c < " " else c for c in text) + '"'
    error = refused(
        f"rounding = {quoted}\ntolerance = {quoted}\n{quoted} = 1\n{GIVEN}{quoted} = 1\n[steps]\n"
        f"{quoted} = {quoted}\nA = {quoted}\n[loss]\noutput = {quoted}\nwrt = [{quoted}]\n"
        f"[[claims]]\nof = {quoted}\nprinted = {quoted}\n",
        tmp_path,
    )
    assert len(error.faults) >= 7


def test_one_claim_two_thousand_times(tmp_path: Path) -> None:
    """What is said again is read once."""
    path = tmp_path / "case.toml"
    path.write_text(GOOD + "[[claims]]\nof = 'A'\nprinted = [[0.27, 0.73], [0.27, 0.73]]\n" * 2000)
    claims = library.load(path).claims
    assert len(claims) == 2000
    assert len({id(claim.node) for claim in claims}) == 1
