"""Files being written: the one way in which anything reaches the disk.

Ordinary files are replaced whole: a reader sees the old file or the new one,
never half, and so does who comes after a power cut. Links stay links; modes,
owners, access lists and extended attributes stay as they are, and what is no
ordinary file is written into or refused, never replaced.

What may be replaced at all is decided by :mod:`symattn.ownership`.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from symattn.errors import Malformed
from symattn.signals import undone

#: Where ``-o -`` goes.
STANDARD_OUTPUT = Path("/dev/stdout")

#: As many links as Linux follows.
_MAX_LINKS = 40
#: Streams of this process that have a name; it may itself lead to any file.
_STREAMS = re.compile(r"/dev/std(?:out|err)|/dev/fd/\d+|/proc/self/fd/\d+")
_REFUSED = {
    stat.S_IFDIR: "is a directory",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFBLK: "is a disk",
}


def check(path: Path) -> None:
    """:class:`Malformed` if it is certain that ``path`` can't be written."""
    with _explained(f"{path} can't be written"):
        _target(path)


def write(path: Path, content: bytes, permit: Callable[[bytes], None] | None = None) -> None:
    """Write a file; :class:`Malformed` if that can't be done.

    A link is written through, and its target made if it isn't there. A file
    with several names (hard links), or whose owner or attributes a new one
    can't have, is written in place; so are devices and pipes.

    ``permit`` is called with what an ordinary file holds just before it is
    replaced, and raises where that may not be.
    """
    with _explained(f"{path} can't be written"):
        target, status = _target(path)
        if status is not None and (not stat.S_ISREG(status.st_mode) or _is_stream(target)):
            with _opened(target) as file:
                file.write(content)
        elif status is not None and (status.st_nlink > 1 or not _can_be_replaced(target, status)):
            _rewrite(target, content, permit)
        else:
            _replace(target, content, status, permit)


def ordinary(path: Path) -> Path | None:
    """The ordinary file that ``path`` leads to, there or not; None where it leads to a
    device, a pipe or a stream. :class:`Malformed` as by :func:`check`."""
    with _explained(f"{path} can't be written"):
        target, status = _target(path)
    if _is_stream(target) or (status is not None and not stat.S_ISREG(status.st_mode)):
        return None
    return target


def remove(path: Path) -> None:
    """Remove a file that speaks of something older, if it is there."""
    with _explained(f"{path} can't be removed"):
        path.unlink(missing_ok=True)


def check_folder(folder: Path) -> None:
    """:class:`Malformed` if it is certain that nothing can be written into ``folder``."""
    with _explained(f"the folder {folder} can't be written to"):
        nearest = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
        if not nearest.is_dir():
            raise OSError(0, "File exists" if nearest == folder else "Not a directory")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise OSError(0, os.strerror(errno.EACCES))


def prepare_folder(folder: Path) -> None:
    """Make ``folder`` if it isn't there; :class:`Malformed` if that can't be done."""
    check_folder(folder)
    with _explained(f"the folder {folder} can't be written to"):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def _explained(what: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        # A reader that has seen enough is no fault.
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise Malformed(f"{what}: {reason[:1].lower()}{reason[1:]}") from None


def _is_stream(path: Path) -> bool:
    return bool(_STREAMS.fullmatch(os.path.abspath(path)))  # noqa: PTH100 - links stay


def _target(path: Path) -> tuple[Path, os.stat_result | None]:
    """Return what ``path`` leads to, and its status if it is there."""
    target = path
    for _ in range(_MAX_LINKS):
        if _is_stream(target) or not target.is_symlink():
            break
        target = target.parent / target.readlink()
    else:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    try:
        status = target.stat()
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise
        return target, None
    if reason := _REFUSED.get(stat.S_IFMT(status.st_mode)):
        raise OSError(0, reason)
    if stat.S_ISREG(status.st_mode) and not _is_stream(target):
        # The superuser may write everything; a file that nobody may is meant so.
        if not status.st_mode & 0o222:
            raise OSError(0, "is read-only")
        if not os.access(target, os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    return target, status


def _can_be_replaced(target: Path, status: os.stat_result) -> bool:
    own = (status.st_uid, status.st_gid) == (os.geteuid(), os.getegid())
    return (own or os.geteuid() == 0) and os.access(target.parent, os.W_OK | os.X_OK)


@contextmanager
def _opened(target: Path) -> Iterator[BinaryIO]:
    """Return what is there already, to be written into."""
    if _is_stream(target):
        # Opened anew, a file that a stream leads to would be begun again.
        number = {"stdout": 1, "stderr": 2}.get(target.name) or int(target.name)
        stream = {1: sys.stdout, 2: sys.stderr}.get(number)
        if stream is not None:
            stream.flush()
            yield stream.buffer
            stream.flush()
            return
        handle = os.dup(number)
    else:
        handle = os.open(target, os.O_WRONLY | os.O_CLOEXEC)
    with os.fdopen(handle, "wb") as file:
        yield file


def _replace(
    target: Path,
    content: bytes,
    status: os.stat_result | None,
    permit: Callable[[bytes], None] | None,
) -> None:
    """Put a new file in the place of ``target``, with the mode, owner and attributes of what
    was there."""
    temporary = _temporary(target)
    # Until it has its owner, the file is for nobody else.
    mode = 0o666 if status is None else 0o600
    with undone(lambda: temporary.unlink(missing_ok=True)):
        handle = _nameless(target.parent, mode)
        nameless = handle is not None
        if handle is None:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if status is not None:
                if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                    os.fchown(handle, status.st_uid, status.st_gid)
                os.fchmod(handle, stat.S_IMODE(status.st_mode))
                if not _has_attributes(target, handle):
                    _rewrite(target, content, permit)
                    return
                os.fsync(handle)
            if nameless:
                # A folder must be named for the link in /proc to be followed.
                link = f"/proc/self/fd/{handle}"
                os.link(link, temporary, src_dir_fd=0, follow_symlinks=True)
        if status is None and _appeared(temporary, target):
            return
        if permit is not None and target.exists():
            permit(target.read_bytes())
        temporary.replace(target)
    if status is not None:
        _synchronize(target.parent)


def _temporary(target: Path) -> Path:
    return target.parent / f".symattn-{secrets.token_hex(8)}"


def _appeared(temporary: Path, target: Path) -> bool:
    """Return whether a new file has got its name; not if something was made there meanwhile, or
    the disk knows no second names."""
    with suppress(OSError):
        target.hardlink_to(temporary)
        return True
    return False


def _has_attributes(target: Path, handle: int) -> bool:
    """Return whether a new file has got the extended attributes of an old one, its access list
    among them; where there are no such, all of them."""
    if not hasattr(os, "listxattr"):
        return True
    try:
        names = os.listxattr(target)
    except OSError:
        return True
    try:
        for name in names:
            value = os.getxattr(target, name)
            if name not in os.listxattr(handle) or os.getxattr(handle, name) != value:
                os.setxattr(handle, name, value)
    except OSError:
        return False
    return True


def _rewrite(target: Path, content: bytes, permit: Callable[[bytes], None] | None) -> None:
    """Write a file in place: all of it, or it is as it was.

    The room is taken before a byte is changed, and until all is done a copy of what was there lies
    beside it, where one can: it stays if nothing else could be put back.
    """
    old = target.read_bytes()
    if permit is not None:
        permit(old)
    copy = _temporary(target)
    begun = False

    def restore() -> None:
        nonlocal begun
        if begun:
            try:
                _pour(file, old)
            except OSError as error:
                where = f"; what it held is in {copy}" if copy.exists() else ""
                raise OSError(error.errno, f"{os.strerror(error.errno or 0)}{where}") from None
            begun = False
        copy.unlink(missing_ok=True)

    with target.open("r+b", buffering=0) as file, undone(restore):
        if os.access(target.parent, os.W_OK | os.X_OK):
            handle = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as kept:
                kept.write(old)
                kept.flush()
                os.fsync(handle)
        _take_room(file, len(old), len(content))
        begun = True
        _pour(file, content)
        begun = False


def _take_room(file: FileIO, old: int, new: int) -> None:
    """Lengthen a file to what it will hold; its size stays if that can't be."""
    if new <= old:
        return
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, new)
        else:
            file.seek(old)
            _write_all(file, bytes(new - old))
    except OSError:
        file.truncate(old)
        raise


def _pour(file: FileIO, content: bytes) -> None:
    file.seek(0)
    _write_all(file, content)
    file.truncate(len(content))
    os.fsync(file.fileno())


def _write_all(file: FileIO, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


def _synchronize(folder: Path) -> None:
    """See to it that what was renamed in a folder is so after a power cut; not all disks can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _nameless(folder: Path, mode: int) -> int | None:
    """A new file that goes with this process, even if it is killed; Linux has such."""
    with suppress(AttributeError, OSError):
        return os.open(folder, os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, mode)
    return None
