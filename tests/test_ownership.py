"""What symattn wrote may be replaced, until somebody else has changed it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symattn import outputs
from symattn.errors import Malformed
from symattn.ownership import RECORD, Outputs

CONTENTS = st.sampled_from([b"", b"one", b"two"])
WHOSE = st.sampled_from(["user", "sheet", "exercise caf\u00e9\tau\nlait"])


@settings(deadline=None)
@given(st.lists(st.tuples(WHOSE, CONTENTS, st.booleans()), max_size=12))
@example([("sheet", b"one", False), ("user", b"two", False), ("sheet", b"one", False)])
def test_whose_a_file_is(steps) -> None:
    """A file that holds what a command once wrote is that command's; any other takes force."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "post\udcff\n.html")
        held: bytes | None = None
        wrote = set()
        for who, content, force in steps:
            if who == "user":
                path.write_bytes(content)
                held = content
                continue
            if held is None or force or (who, held) in wrote:
                Outputs(who, force=force).write(path, content)
                wrote.add((who, content))
                held = content
            else:
                with pytest.raises(Malformed, match="--force"):
                    Outputs(who, force=force).write(path, content)
            assert path.read_bytes() == held


def test_what_is_saved_while_a_command_works(tmp_path: Path) -> None:
    """It was free to be written when the command began; what came since stays."""
    path, other = tmp_path / "new", tmp_path / "old"
    Outputs("sheet").write(other, b"ours")
    command = Outputs("sheet")
    command.claim(path)
    command.claim(other)
    for one in (path, other):
        one.write_bytes(b"saved meanwhile")
        with pytest.raises(Malformed, match="--force"):
            command.write(one, b"ours again")
        assert one.read_bytes() == b"saved meanwhile"


def test_what_is_saved_at_the_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the new file is written already, and only waits for its name."""
    path = tmp_path / "post.md"
    named = outputs._temporary

    def saving(target: Path) -> Path:
        path.write_bytes(b"saved meanwhile")
        return named(target)

    monkeypatch.setattr(outputs, "_temporary", saving)
    with pytest.raises(Malformed, match="already exists and is not overwritten"):
        Outputs("new").create(path, b"ours")
    assert path.read_bytes() == b"saved meanwhile"
    path.write_bytes(b"read")
    with pytest.raises(Malformed, match="has changed in the meantime and is left as it is"):
        Outputs("audit").revise(path, b"read", b"corrected")
    assert path.read_bytes() == b"saved meanwhile"
    path.unlink()
    with pytest.raises(Malformed, match="another -o, or overwrite it with --force"):
        Outputs("sheet").write(path, b"ours")
    assert [one for one in tmp_path.iterdir() if one.name != RECORD] == [path]


def test_all_faults_are_told(tmp_path: Path) -> None:
    """Of every file that is in the way, at once."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"mine")
    with pytest.raises(Malformed) as caught:
        Outputs("sheet").claim_in(tmp_path, ["a", "b", "c"])
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize("names", [("a", "a"), ("a", "A"), ("\u00e9", "e\u0301"), ("a", "link")])
def test_one_file_for_two(names: tuple[str, str], tmp_path: Path) -> None:
    """Two outputs of one command are two files, on any disk."""
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(Malformed, match="would be one file"):
        Outputs("sheet").claim_in(tmp_path, names)


def test_programs_that_write_at_once(tmp_path: Path, eager_switching: None) -> None:
    """Each notes what it wrote in one folder, and nothing that is noted is lost."""

    def write(who: int) -> None:
        for k in range(20):
            Outputs("sheet").write(tmp_path / f"{who}-{k}", b"first")

    programs = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for one in programs:
        one.start()
    for one in programs:
        one.join()
    names = {f"{who}-{k}" for who in range(4) for k in range(20)}
    noted = [line.split("\t") for line in (tmp_path / RECORD).read_text().splitlines()]
    assert {parts[2] for parts in noted if len(parts) == 3} == names
    Outputs("sheet").claim_in(tmp_path, sorted(names))


def test_the_same_again_is_noted_once(tmp_path: Path) -> None:
    """The record doesn't grow where nothing new is written."""
    for _ in range(3):
        Outputs("sheet").write(tmp_path / "a", b"ours")
    head, *lines = (tmp_path / RECORD).read_text().splitlines()
    assert head.startswith("#")
    assert len(lines) == 1


@pytest.mark.parametrize("kind", ["somebody's", "binary", "link", "lost", "folder", "pipe"])
def test_a_record_that_is_none(kind: str, tmp_path: Path) -> None:
    """It stays as it is, and what is written without one is replaced by force."""
    record, theirs = tmp_path / RECORD, tmp_path / "theirs"
    theirs.write_bytes(b"theirs")
    if kind in ("link", "lost"):
        record.symlink_to("theirs" if kind == "link" else "nothing")
    elif kind == "folder":
        record.mkdir()
    elif kind == "pipe":
        os.mkfifo(record)
    else:
        record.write_bytes(b"\xff\xfe\n" if kind == "binary" else b"my own list\n")
    before = record.lstat().st_size
    Outputs("sheet").write(tmp_path / "a", b"ours")
    with pytest.raises(Malformed, match="not written by symattn"):
        Outputs("sheet").write(tmp_path / "a", b"ours again")
    Outputs("sheet", force=True).write(tmp_path / "a", b"ours again")
    assert (record.lstat().st_size, theirs.read_bytes()) == (before, b"theirs")
    assert not (tmp_path / "nothing").exists()


def test_lines_that_say_nothing(tmp_path: Path) -> None:
    """A torn line takes nothing from the others."""
    Outputs("sheet").write(tmp_path / "a", b"ours")
    with (tmp_path / RECORD).open("ab") as file:
        file.write(b"torn\nx\t\\x\ty\n\n")
    Outputs("sheet").write(tmp_path / "a", b"ours again")


def test_what_is_no_file_is_nobody_s(tmp_path: Path) -> None:
    """Devices are written into, and no record is left beside them."""
    command = Outputs("audit")
    command.claim(Path("/dev/null"))
    command.write(Path("/dev/null"), b"gone")
    assert not Path("/dev", RECORD).exists()
