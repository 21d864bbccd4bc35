"""Files being written: the one way in which anything reaches the disk.

Ordinary files are replaced whole: a reader sees the old file or the new one,
never half. Links stay links, modes and owners stay as they are, and what is no
ordinary file is written into or refused, never replaced.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from symattn.endings import undone
from symattn.errors import Malformed

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
    with _told(f"{path} can't be written"):
        _target(path)


def write(path: Path, content: bytes) -> None:
    """Write a file; :class:`Malformed` if that can't be done.

    A link is written through, and its target made if it isn't there. A file
    with several names (hard links), or whose owner would change, is written in
    place; so are devices and pipes.
    """
    with _told(f"{path} can't be written"):
        target, held = _target(path)
        if held is None:
            _replace(target, content, None)
        elif not stat.S_ISREG(held.st_mode) or _is_stream(target):
            with _opened(target) as file:
                file.write(content)
        elif held.st_nlink > 1 or not _can_be_replaced(target, held):
            with _opened(target) as file:
                file.write(content)
                file.truncate()
        else:
            _replace(target, content, held)


def remove(path: Path) -> None:
    """Remove a file that speaks of something older, if it is there."""
    with _told(f"{path} can't be removed"):
        path.unlink(missing_ok=True)


def check_folder(folder: Path) -> None:
    """:class:`Malformed` if it is certain that nothing can be written into ``folder``."""
    with _told(f"the folder {folder} can't be written to"):
        nearest = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
        if not nearest.is_dir():
            raise OSError(0, "File exists" if nearest == folder else "Not a directory")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise OSError(0, os.strerror(errno.EACCES))


def prepare_folder(folder: Path) -> None:
    """Make ``folder`` if it isn't there; :class:`Malformed` if that can't be done."""
    check_folder(folder)
    with _told(f"the folder {folder} can't be written to"):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def _told(what: str) -> Iterator[None]:
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
    """What ``path`` leads to, and its status if it is there."""
    target = path
    for _ in range(_MAX_LINKS):
        if _is_stream(target) or not target.is_symlink():
            break
        target = target.parent / target.readlink()
    else:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    try:
        held = target.stat()
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise
        return target, None
    if reason := _REFUSED.get(stat.S_IFMT(held.st_mode)):
        raise OSError(0, reason)
    if stat.S_ISREG(held.st_mode) and not _is_stream(target):
        # The superuser may write everything; a file that nobody may is meant so.
        if not held.st_mode & 0o222:
            raise OSError(0, "is read-only")
        if not os.access(target, os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    return target, held


def _can_be_replaced(target: Path, held: os.stat_result) -> bool:
    """Whether a new file in the place of ``target`` can have its owner."""
    own = (held.st_uid, held.st_gid) == (os.geteuid(), os.getegid())
    return (own or os.geteuid() == 0) and os.access(target.parent, os.W_OK | os.X_OK)


@contextmanager
def _opened(target: Path) -> Iterator[BinaryIO]:
    """What is there already, to be written into."""
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


def _replace(target: Path, content: bytes, held: os.stat_result | None) -> None:
    """Put a new file in the place of ``target``, with the mode and owner of what was there."""
    temporary = target.parent / f".symattn-{secrets.token_hex(8)}"
    # Until it has its owner, the file is for nobody else.
    mode = 0o666 if held is None else 0o600
    with undone(lambda: temporary.unlink(missing_ok=True)):
        handle = _nameless(target.parent, mode)
        nameless = handle is not None
        if handle is None:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if held is not None:
                if (held.st_uid, held.st_gid) != (os.geteuid(), os.getegid()):
                    os.fchown(handle, held.st_uid, held.st_gid)
                os.fchmod(handle, stat.S_IMODE(held.st_mode))
            if nameless:
                # A folder must be named for the link in /proc to be followed.
                link = f"/proc/self/fd/{handle}"
                os.link(link, temporary, src_dir_fd=0, follow_symlinks=True)
        temporary.replace(target)


def _nameless(folder: Path, mode: int) -> int | None:
    """A new file that goes with this process, even if it is killed; Linux has such."""
    with suppress(AttributeError, OSError):
        return os.open(folder, os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, mode)
    return None
