"""Files are written whole, through links, with their modes; nothing else is ever replaced."""

from __future__ import annotations

import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from symattn import outputs
from symattn.errors import Malformed
from symattn.outputs import check, check_folder, prepare_folder, remove, write

pytestmark = pytest.mark.usefixtures("safe_devices")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=["nameless", "named"])
def kind(request, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to make a new file: as Linux can, and as all can."""
    if request.param == "named":
        monkeypatch.setattr(outputs, "_nameless", lambda *_: None)


# -- ordinary files -----------------------------------------------------------------------


def test_files_are_replaced_whole(kind, tmp_path: Path) -> None:
    """Who has the old file open still reads the old one; nothing else is left behind."""
    path = tmp_path / "sheet.tex"
    write(path, b"old")
    with path.open("rb") as reader:
        write(path, b"new")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"
    assert [*tmp_path.iterdir()] == [path]


def test_a_new_file_has_the_mode_of_any_new_file(kind, tmp_path: Path) -> None:
    """What the user's mask leaves, and the mask stays what it is."""
    before = os.umask(0o027)
    try:
        write(tmp_path / "sheet.tex", b"new")
    finally:
        assert os.umask(before) == 0o027
    assert mode(tmp_path / "sheet.tex") == 0o640


@pytest.mark.parametrize("bits", [0o600, 0o644, 0o666, 0o755, 0o620])
def test_the_mode_stays(kind, bits: int, tmp_path: Path) -> None:
    """A private file stays private, a file for all one for all."""
    path = tmp_path / "sheet.tex"
    path.write_bytes(b"a longer text than the new one")
    path.chmod(bits)
    write(path, b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", bits)


@needs_root
def test_the_owner_stays(kind, tmp_path: Path) -> None:
    """The superuser writes into somebody's file, and it stays theirs."""
    path = tmp_path / "sheet.tex"
    path.write_bytes(b"old")
    os.chown(path, 1234, 5678)
    write(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)
    assert path.read_bytes() == b"new"


def test_what_would_change_its_owner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Who may write a file but not give a new one to its owner writes it in place."""
    path = tmp_path / "sheet.tex"
    path.write_bytes(b"a longer text than the new one")
    number = path.stat().st_ino
    monkeypatch.setattr("os.geteuid", lambda: 4321)
    write(path, b"new")
    assert (path.read_bytes(), path.stat().st_ino) == (b"new", number)


def test_a_file_in_a_closed_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where no file may be made, one that may be written is written in place."""
    path = tmp_path / "sheet.tex"
    path.write_bytes(b"a longer text than the new one")
    number = path.stat().st_ino
    monkeypatch.setattr("os.access", lambda place, _: Path(place) != tmp_path)
    write(path, b"new")
    assert (path.read_bytes(), path.stat().st_ino) == (b"new", number)


def test_hard_links_are_not_cut(tmp_path: Path) -> None:
    """A file with two names keeps both."""
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"a longer text than the new one")
    other.hardlink_to(path)
    write(path, b"new")
    assert path.samefile(other)
    assert other.read_bytes() == b"new"


def test_links_are_written_through(kind, tmp_path: Path) -> None:
    """Links stay links, one after the other, also where the target has yet to be made."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "link").symlink_to("deep/second")
    (tmp_path / "deep" / "second").symlink_to("../target")
    for content in (b"new", b"newer"):
        write(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "deep" / "second").is_symlink()
        assert (tmp_path / "target").read_bytes() == content
        assert not (tmp_path / "target").is_symlink()
    assert len([*tmp_path.rglob("*")]) == 4


def test_a_name_as_long_as_can_be(kind, tmp_path: Path) -> None:
    """The temporary file is no longer than a name may be."""
    write(tmp_path / ("x" * 255), b"new")
    assert (tmp_path / ("x" * 255)).read_bytes() == b"new"


# -- what is no ordinary file ---------------------------------------------------------------


@needs_root
def test_devices_stay(tmp_path: Path) -> None:
    """A device is written into; the superuser doesn't replace it either."""
    null = tmp_path / "null"
    os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    write(null, b"gone")
    assert stat.S_ISCHR(null.stat().st_mode)
    assert [*tmp_path.iterdir()] == [null]


@needs_root
def test_a_full_device(tmp_path: Path) -> None:
    """What a device refuses is told."""
    full = tmp_path / "full"
    os.mknod(full, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
    with pytest.raises(Malformed, match=r"full can't be written: no space left on device$"):
        write(full, b"too much")
    assert stat.S_ISCHR(full.stat().st_mode)


def test_pipes(tmp_path: Path) -> None:
    """A named pipe is written into, and stays."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write(pipe, b"through")
    reader.join(10)
    assert read == [b"through"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_standard_output_goes_on(name: str, tmp_path: Path) -> None:
    """A file that standard output leads to is neither begun again nor replaced."""
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = (
        # The machine's own devices stay, whatever the code under test does.
        "import os\nos.rename = os.replace = None\n"
        "import sys\nfrom pathlib import Path\nfrom symattn.outputs import write\n"
        f"print('before')\nwrite(Path({name!r}), b'between\\n')\nprint('after')\n"
    )
    path = tmp_path / "out"
    with path.open("wb") as out:
        out.write(b"first\n")
        out.flush()
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, cwd=tmp_path)
    assert path.read_bytes() == b"first\nbefore\nbetween\nafter\n"


def test_another_stream(tmp_path: Path) -> None:
    """A stream by its number is written into where it stands."""
    with (tmp_path / "out").open("wb") as out:
        out.write(b"first\n")
        out.flush()
        write(Path(f"/dev/fd/{out.fileno()}"), b"second\n")
    assert (tmp_path / "out").read_bytes() == b"first\nsecond\n"


# -- refusals -------------------------------------------------------------------------------


@pytest.fixture
def refused(tmp_path: Path) -> Path:
    """A folder with one of everything that can't be written."""
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    (tmp_path / "closed").write_bytes(b"mine")
    (tmp_path / "closed").chmod(0o444)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "lost").symlink_to("no/file")
    with socket.socket(socket.AF_UNIX) as made:
        # The name of a socket may not be as long as a test's folder.
        before = Path.cwd()
        os.chdir(tmp_path)
        made.bind("socket")
        os.chdir(before)
    return tmp_path


@pytest.mark.parametrize("act", [check, lambda path: write(path, b"content")])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("folder", "is a directory"),
        ("socket", "is a socket"),
        ("closed", "is read-only"),
        ("loop", "too many levels of symbolic links"),
        ("no/file", "no such file or directory"),
        ("lost", "no such file or directory"),
        ("closed/file", "not a directory"),
    ],
)
def test_refusals(act, name: str, reason: str, refused: Path) -> None:
    """What can't be written is one line, also to the superuser, and all stays as it was."""

    def held() -> list[tuple[str, os.stat_result]]:
        return [(str(path), path.lstat()) for path in sorted(refused.rglob("*"))]

    before = held()
    with pytest.raises(Malformed) as caught:
        act(refused / name)
    assert str(caught.value) == f"{refused / name} can't be written: {reason}"
    assert [(name, status[:7]) for name, status in held()] == [
        (name, status[:7]) for name, status in before
    ]
    assert (refused / "closed").read_bytes() == b"mine"


@needs_root
def test_disks_are_refused(tmp_path: Path) -> None:
    """Nobody wants a report on a bare disk."""
    disk = tmp_path / "disk"
    os.mknod(disk, 0o666 | stat.S_IFBLK, os.makedev(7, 250))
    with pytest.raises(Malformed, match="disk can't be written: is a disk"):
        write(disk, b"content")


def test_a_file_that_others_may_write(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file that this user may not write is not replaced either, though its folder is open."""
    (tmp_path / "theirs").write_bytes(b"theirs")
    monkeypatch.setattr("os.access", lambda path, _: Path(path) != tmp_path / "theirs")
    with pytest.raises(Malformed, match="theirs can't be written: permission denied"):
        write(tmp_path / "theirs", b"mine")
    assert (tmp_path / "theirs").read_bytes() == b"theirs"


def test_nothing_is_left_of_a_file_that_could_not_be_finished(
    kind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The old file stays, whatever fails on the way to the new one."""
    path = tmp_path / "sheet.tex"
    path.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fchmod", refuse)
    with pytest.raises(Malformed, match=r"sheet\.tex can't be written: no space left"):
        write(path, b"new")
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_bytes() == b"old"


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    """A pipe that nobody reads any more is no fault of the file."""
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        write(Path(f"/dev/fd/{writing}"), b"content")
    os.close(writing)


# -- folders, and what is out of date -----------------------------------------------------------


def test_folders_are_made(tmp_path: Path) -> None:
    """With all above them, only when they are asked for; one that is there is fine."""
    check_folder(tmp_path / "a" / "b")
    assert [*tmp_path.iterdir()] == []
    prepare_folder(tmp_path / "a" / "b")
    prepare_folder(tmp_path / "a" / "b")
    assert [*tmp_path.rglob("*")] == [tmp_path / "a", tmp_path / "a" / "b"]


@pytest.mark.parametrize("act", [check_folder, prepare_folder])
@pytest.mark.parametrize(
    ("name", "reason"),
    [("file", "file exists"), ("file/below", "not a directory"), ("lost", "file exists")],
)
def test_folders_that_cant_be_made(act, name: str, reason: str, tmp_path: Path) -> None:
    """A file in a folder's place is a fault, and so is a link that leads nowhere."""
    (tmp_path / "file").write_text("", "utf-8")
    (tmp_path / "lost").symlink_to("no/folder")
    with pytest.raises(Malformed, match=rf"^the folder .*{name} can't be written to: {reason}$"):
        act(tmp_path / name)


def test_a_closed_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder that nothing can be written into is told before any work is done."""
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(Malformed, match="can't be written to: permission denied"):
        check_folder(tmp_path / "new")


def test_removing(tmp_path: Path) -> None:
    """A file goes, if there is one; a folder stays."""
    (tmp_path / "file").write_text("", "utf-8")
    remove(tmp_path / "file")
    remove(tmp_path / "file")
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(Malformed, match="can't be removed"):
        remove(tmp_path)


# -- nothing is lost when writing fails ---------------------------------------------------------

OLD, NEW = b"the old text", b"figures that grow " * 300


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A file with two names, which is written in place."""
    path = tmp_path / "post.md"
    path.write_bytes(OLD)
    (tmp_path / "other.md").hardlink_to(path)
    return path


def assert_untouched(path: Path) -> None:
    """Both names have the old text, and nothing else is there."""
    assert path.read_bytes() == OLD
    assert sorted(one.name for one in path.parent.iterdir()) == ["other.md", "post.md"]


def test_a_file_that_may_not_grow(linked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of the system is met before a byte is changed."""
    monkeypatch.setattr(outputs, "_pour", lambda *_: pytest.fail("it is begun"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(Malformed, match="can't be written: file too large"):
            write(linked, NEW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert_untouched(linked)


@needs_root
def test_a_full_disk(tmp_path: Path) -> None:
    """A file in place stays whole where its new text has no room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        for name, old in {"post.md": OLD, "filler": bytes(40_000)}.items():
            (disk / name).write_bytes(old)
        (disk / "other.md").hardlink_to(disk / "post.md")
        with pytest.raises(Malformed, match="can't be written: no space left on device"):
            write(disk / "post.md", bytes(40_000))
        (disk / "filler").unlink()
        assert_untouched(disk / "post.md")
        write(disk / "post.md", NEW)
        assert (disk / "other.md").read_bytes() == NEW
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("room", [True, False])
def test_a_write_that_fails_halfway(
    room: bool, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old text is put back; a system that can't take room in advance is no exception."""
    whole, failures = outputs._write_all, iter([28])
    if not room:
        monkeypatch.delattr("os.posix_fallocate")

    def failing(file, content) -> None:
        if (number := next(failures, None)) is not None:
            whole(file, content[: len(content) // 2])
            raise OSError(number, os.strerror(number))
        whole(file, content)

    monkeypatch.setattr(outputs, "_write_all", failing)
    with pytest.raises(Malformed, match=r"post\.md can't be written: no space left on device$"):
        write(linked, NEW)
    assert_untouched(linked)


def test_a_disk_that_takes_nothing_any_more(linked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the old text can't be put back, it lies beside the file, and the message says where."""

    def failing(file, content) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(outputs, "_write_all", failing)
    with pytest.raises(Malformed, match="what it held is in ") as caught:
        write(linked, NEW)
    assert Path(str(caught.value).split("what it held is in ")[1]).read_bytes() == OLD


def test_a_signal_while_a_file_is_written_in_place(linked: Path) -> None:
    """What was there is put back before the program ends."""
    code = (
        "import os, signal\nfrom pathlib import Path\nfrom symattn import signals, outputs\n"
        "whole = outputs._write_all\n"
        "def half(file, content):\n"
        "    outputs._write_all = whole\n"
        "    whole(file, content[:7])\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "outputs._write_all = half\n"
        "with signals.signals_heeded():\n"
        "    outputs.write(Path('post.md'), b'new' * 1000)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=linked.parent, check=False)
    assert ended.returncode == 128 + signal.SIGTERM
    assert_untouched(linked)


def test_what_is_replaced_is_on_the_disk(
    kind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """First the new text, then its name: after a power cut there is the old file or the new."""
    path = tmp_path / "post.md"
    path.write_bytes(OLD)
    done: list[str] = []
    synchronize, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        synchronize(handle)

    def replaced(source: Path, target: Path) -> Path:
        done.append("name")
        return replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    write(path, NEW)
    assert done == ["file", "name", "folder"]


@pytest.fixture
def attributed(tmp_path: Path) -> Path:
    """A file with an extended attribute."""
    path = tmp_path / "post.md"
    path.write_bytes(OLD)
    try:
        os.setxattr(path, "user.origin", b"a notebook")
    except (AttributeError, OSError):
        pytest.skip("files have no such attributes here")
    return path


def test_attributes_stay(kind, attributed: Path) -> None:
    """Labels of the user and access lists are those of the new file too."""
    # Version 2; owner rw-, user 1234 r--, group ---, mask r--, others ---.
    entries = [(1, 6, -1), (2, 4, 1234), (4, 0, -1), (16, 4, -1), (32, 0, -1)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    with suppress(OSError):
        os.setxattr(attributed, "system.posix_acl_access", acl)
    before = {name: os.getxattr(attributed, name) for name in os.listxattr(attributed)}
    number, bits = attributed.stat().st_ino, mode(attributed)
    write(attributed, NEW)
    assert {name: os.getxattr(attributed, name) for name in os.listxattr(attributed)} == before
    assert (attributed.read_bytes(), mode(attributed)) == (NEW, bits)
    assert attributed.stat().st_ino != number


def test_attributes_that_a_new_file_may_not_have(
    kind, attributed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the old file is written in place, and keeps them."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setxattr", refuse)
    number = attributed.stat().st_ino
    write(attributed, NEW)
    assert (attributed.read_bytes(), attributed.stat().st_ino) == (NEW, number)
    assert os.getxattr(attributed, "user.origin") == b"a notebook"
    assert [*attributed.parent.iterdir()] == [attributed]


def test_disks_without_attributes(kind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not every disk has them, nor every system."""
    path = tmp_path / "post.md"
    write(path, OLD)

    def refuse(*_: object) -> list[str]:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "listxattr", refuse, raising=False)
    write(path, NEW)
    assert path.read_bytes() == NEW
    monkeypatch.delattr(os, "listxattr")
    write(path, OLD)
    assert path.read_bytes() == OLD


def test_disks_without_hard_links(kind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A new file gets its name all the same."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    write(tmp_path / "post.md", NEW, permit=lambda held: pytest.fail("nothing is there"))
    assert [*tmp_path.iterdir()] == [tmp_path / "post.md"]


def test_what_is_permitted_is_what_is_there(linked: Path, tmp_path: Path) -> None:
    """Whether a file is replaced or written in place, it is asked what it holds, and a no stays."""
    single = tmp_path / "single.md"
    single.write_bytes(OLD)
    for path in (linked, single):

        def refuse(held: bytes) -> None:
            assert held == OLD
            raise Malformed("not this one")

        with pytest.raises(Malformed, match="not this one"):
            write(path, NEW, refuse)
        assert path.read_bytes() == OLD
    single.unlink()
    assert_untouched(linked)
