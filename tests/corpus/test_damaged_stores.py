"""Folders of results that something has damaged: a run goes on as if they were not, or is
refused with one message, and its report is that of an empty folder."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from symattn.corpus import records, stores
from symattn.corpus.audit import LINES, PAGE, PARQUET, audit_corpus
from symattn.errors import Malformed

from .test_runs import PLAIN, RIGHT, WRONG, contents, here

__all__ = ["here"]

#: What a run writes last, from what is kept: the same however that came about.
REPORT = (LINES, PAGE, *PARQUET)
TABLE = b"| a | b | a * b |\n|---|---|---|\n| 0.25 | 3 | 0.85 |\n| 2 | 3 | 7 |\n\nOf 12 and 7.\n"
#: What stands in the place of a value, of every kind that JSON has.
VALUES: tuple[Any, ...] = (
    None, True, 3, -1, 0.5, 10**30, float("nan"), "text", "", "\ud800", [], [3], {}, {"a": 1},
)  # fmt: skip


def campaign(first: int, end: int) -> list[Any]:
    """Seeds that are the campaign's."""
    return [pytest.param(seed, marks=pytest.mark.campaign) for seed in range(first, end)]


#: Seconds that a run may take, whatever it finds.
PATIENCE = 20


@pytest.fixture
def whole(tmp_path, monkeypatch, here):
    """Articles, and what is in a folder of their results, in the folder ``r``."""
    monkeypatch.chdir(tmp_path)
    Path("posts").mkdir()
    for name, data in [("a.md", WRONG), ("b.md", RIGHT), ("c.txt", PLAIN), ("d.md", TABLE)]:
        Path("posts", name).write_bytes(data)
    audit_corpus("posts", "r")
    return contents("r")


def fill(held: dict[str, bytes]) -> None:
    """Have the folder ``r`` hold that and nothing else."""
    for place, folders, _ in os.walk("r"):
        for folder in folders:
            Path(place, folder).chmod(0o755)
    shutil.rmtree("r", ignore_errors=True)
    for name, data in held.items():
        path = Path("r", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def run(whole: dict[str, bytes]) -> str:
    """How a run ends over a damaged folder: ``remade`` what is told, ``as it was``, or
    ``refused``."""
    try:
        tally = audit_corpus("posts", "r")
    except Malformed as error:
        for fault in error.faults:
            assert str(fault).startswith("r")
            assert ": " in str(fault)
        return "refused"
    assert {name: Path("r", name).read_bytes() for name in REPORT} == {
        name: whole[name] for name in REPORT
    }
    return "remade" if tally.remade else "as it was"


def kept(whole: dict[str, bytes]) -> list[str]:
    return [name for name in whole if name.startswith("kept/")]


# -- one file, of which every bit may be another -------------------------------------------


def damaged(drawn: random.Random, data: bytes) -> bytes:
    """A file cut off anywhere, with bits flipped, pieces lost, twice or foreign."""
    at, end = sorted((drawn.randrange(len(data) + 1), drawn.randrange(len(data) + 1)))
    match drawn.randrange(7):
        case 0:
            return data[:at]
        case 1 | 2:
            flipped = bytearray(data)
            for _ in range(drawn.choice([1, 1, 2, 20])):
                flipped[drawn.randrange(len(data))] ^= 1 << drawn.randrange(8)
            return bytes(flipped)
        case 3:
            return data[:at] + data[end:]
        case 4:
            return data[:end] + data[at:]
        case 5:
            return data[:at] + drawn.randbytes(end - at) + data[end:]
    return drawn.choice(
        [b"", b"\0" * len(data), data + data, data + b"more", gzip.decompress(data)]
    )


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in plain data."""
    yield path
    inner = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data if isinstance(data, list) else [])
    )
    for key, value in inner:
        yield from places(value, (*path, key))


def changed(data: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """Plain data with a change at a path."""
    made = [deepcopy(data)]
    inside: Any = made
    for key in (last := (0, *path))[:-1]:
        inside = inside[key]
    change(inside, last[-1])
    return made[0]


def mistyped(drawn: random.Random, data: bytes) -> bytes:
    """A result with another value at some place, or with a place less; whole JSON, well packed."""
    about = json.loads(gzip.decompress(data))
    path = drawn.choice([*places(about)])
    value = drawn.choice(VALUES)

    def put(inside: Any, key: Any) -> None:
        inside[key] = value

    def lose(inside: Any, key: Any) -> None:
        del inside[key]

    lost = bool(path) and drawn.random() < 0.3
    return gzip.compress(records.json_bytes(changed(about, path, lose if lost else put)))


@pytest.mark.parametrize("seed", [0, *campaign(1, 40)])
@pytest.mark.parametrize("damage", [damaged, mistyped])
def test_a_damaged_result_is_made_again(damage, seed, whole) -> None:
    """Whatever is in its place, the report is the same."""
    drawn, ends = random.Random(f"{damage.__name__} {seed}"), Counter[str]()
    for _ in range(25):
        name = drawn.choice(kept(whole))
        data = damage(drawn, whole[name])
        fill(whole | {name: data})
        end = run(whole)
        assert end == "remade" or (
            end == "as it was" and gzip.decompress(data) == gzip.decompress(whole[name])
        )
        assert contents("r")[name] == (whole[name] if end == "remade" else data)
        ends[end] += 1
    assert ends["remade"] >= 20


def test_cut_off_at_any_byte(whole) -> None:
    name = kept(whole)[0]
    for length in range(0, len(whole[name]), 37):
        fill(whole | {name: whole[name][:length]})
        assert run(whole) == "remade"


def test_results_of_others(whole) -> None:
    """One that lies in the place of another, as it was kept, is none."""
    for one in kept(whole):
        for other in kept(whole):
            fill(whole | {one: whole[other]})
            assert run(whole) == ("as it was" if one == other else "remade")


@pytest.mark.parametrize("seed", [0, *campaign(1, 40)])
def test_a_forged_result_is_no_fault(seed, whole) -> None:
    """Whoever makes digests, too, may have any report, but no traceback."""
    drawn = random.Random(f"forged {seed}")
    for _ in range(25):
        name = drawn.choice(kept(whole))
        data = json.loads(gzip.decompress(mistyped(drawn, whole[name])))
        if isinstance(data, dict):
            data.pop("digest", None)
            fill(whole | {name: records.packed(data, Path(name).name[:64])})
            assert audit_corpus("posts", "r").articles == 4


# -- the folder ----------------------------------------------------------------------------


def as_folder(path: Path) -> None:
    (path / "inside").mkdir(parents=True)


def as_link(to: str) -> Callable[[Path], None]:
    def made(path: Path) -> None:
        path.symlink_to(to)

    made.__name__ = f"link to {to}"
    return made


def as_file(path: Path) -> None:
    path.write_bytes(b"foreign")


def as_nothing(path: Path) -> None:
    pass


def as_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


INSTEAD = [
    as_folder, as_file, as_nothing, as_large, os.mkfifo, as_link("nowhere"), as_link("/dev/zero"),
    as_link("../outside"), as_link("/"), as_link("."), as_link("a.json.gz"),
]  # fmt: skip


def replaced(whole: dict[str, bytes]) -> list[str]:
    """What may be something else: files, those that are being written, and folders."""
    files = [*whole, *(f"{name}.part" for name in whole)]
    return [*files, "kept", *(name.rpartition("/")[0] for name in kept(whole)), "kept/more"]


@pytest.mark.sampled(3, 11)
@pytest.mark.parametrize("instead", INSTEAD)
def test_something_else_in_the_place_of_a_file(instead, whole) -> None:
    """Pipes are not waited for, links lead nowhere, and what has no end is not read to it."""
    Path("outside").write_bytes(b"mine")
    ends = Counter[str]()
    for name in replaced(whole):
        fill(whole)
        path = Path("r", name)
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        instead(path)
        begun = time.monotonic()
        ends[run(whole)] += 1
        assert time.monotonic() - begun < PATIENCE
        assert Path("outside").read_bytes() == b"mine"
    assert ends["as it was"] + ends["remade"] > 0


#: What may be forbidden: with the mode of files, or that of folders.
FORBIDDEN = [(0o000, 0o755), (0o444, 0o755), (0o644, 0o000), (0o644, 0o555), (0o644, 0o444)]


@pytest.mark.parametrize("seed", [0, *campaign(1, 20)])
def test_what_may_not_be_read_or_written(seed, whole) -> None:
    """To a user who is not the superuser: modes of some files and folders."""
    if os.geteuid() != 0:
        pytest.skip("only the superuser can be another user for a moment")
    os.chown(".", 65534, 65534)
    drawn, ends = random.Random(seed), Counter[str]()
    places = [".", *replaced(whole)]
    for _ in range(25):
        fill(whole)
        for name in ["", *replaced(whole)]:
            if Path("r", name).exists():
                os.chown(Path("r", name), 65534, 65534)
        of_files, of_folders = drawn.choice(FORBIDDEN)
        for name in drawn.sample(places, drawn.randrange(1, 6)):
            path = Path("r", name)
            if path.exists():
                path.chmod(of_folders if path.is_dir() else of_files)
        os.seteuid(65534)
        try:
            ends[run(whole)] += 1
        finally:
            os.seteuid(0)
    assert ends["refused"]
    assert ends["remade"] + ends["as it was"]


#: A run that does nothing but write results, again and again, each with what it was given.
WRITER = """
import itertools, sys
from symattn.corpus import stores
with stores.opened("r") as store:
    print("ready", flush=True)
    for number in itertools.count():
        for name in ("kept/ab/x", "index.html"):
            store.write(name, [b"%d " % number] * 3000)
"""


@pytest.mark.parametrize("seed", [0, *campaign(1, 100)])
def test_killed_while_it_writes(seed, tmp_path, monkeypatch) -> None:
    """Every file is whole, nothing else counts, and the next run may write."""
    monkeypatch.chdir(tmp_path)
    drawn = random.Random(seed)
    for _ in range(2):
        with subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(drawn.uniform(0.01, 0.3))
            process.send_signal(signal.SIGKILL)
        with stores.opened("r") as store:
            names = store.names(".") - {stores.MARKER}
            assert names <= {"x", "index.html"}
            for name in ("kept/ab/x", "index.html"):
                if name.rpartition("/")[2] in names:
                    (number,) = {*(pieces := store.read(name).split())}
                    assert number.isdigit()
                    assert len(pieces) == 3000
