"""Stores of articles and results: folders of this machine, or a bucket by fsspec."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from symattn.cases.library import is_below
from symattn.documents.files import SIDE_FILE, is_article
from symattn.errors import Fault, Faults, Malformed
from symattn.limits import BYTES
from symattn.ownership import Outputs

#: What tells a folder of results from others: nothing is looked for in it but results.
MARKER = ".symattn-corpus"
_ABOUT = b"symattn keeps the results of a corpus here, and may replace all of them.\n"
#: A longer result is none.
_MOST_KEPT = 1 << 28
#: What is being written has this at the end of its name until it is whole.
_PART = ".part"
_WILD = frozenset("*?[")


def library(name: str) -> Any:
    """A module that the extra ``corpus`` brings; raises :class:`Malformed` without it."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        hint = "pip install 'symattn[corpus]'"
        raise Malformed(f"{package} is not installed: {hint}") from None


def is_remote(where: str) -> bool:
    """Return whether that is no path of this machine, but an address as fsspec reads it.

    >>> is_remote("s3://bucket/posts"), is_remote("posts/*.md")
    (True, False)
    """
    return "://" in where


# -- articles ------------------------------------------------------------------------------


def articles(where: str, allow_outside: bool = False) -> list[str]:
    """The articles of a corpus, in order, each once: those in a folder and below, those that a
    pattern names, or the lines of a list, seen from the folder that the list is in.

    Folders of results and what begins with a dot are passed over. Raises :class:`Malformed`
    where there is nothing, and for links and lines that lead out of the folder, unless they may.
    """
    try:
        found = _remote(where) if is_remote(where) else _local(where)
    except Malformed:
        raise
    except (OSError, ValueError) as error:
        raise Malformed(f"{where} can't be read: {_reason(error)}") from None
    if not found.lines:
        raise Malformed(f"{where}: no articles there; expected a folder, a list or a pattern")
    if not allow_outside:
        found.check_inside(where)
    return sorted(found.lines)


class _Found(NamedTuple):
    """Articles, each with its line where a list names it, and the folder that they are in."""

    folder: str
    lines: Mapping[str, int]

    def check_inside(self, where: str) -> None:
        """Raise :class:`Malformed` with all that lead out of the folder."""
        faults = Faults()
        for path, line in self.lines.items():
            if is_remote(self.folder):
                is_inside = path.startswith(f"{self.folder}/") and ".." not in path.split("/")
            else:
                # Links are seldom, and following what is none takes long.
                is_plain = not line and not os.path.islink(path)  # noqa: PTH114
                is_inside = is_plain or (
                    not is_remote(path) and is_below(Path(path), Path(self.folder))
                )
            if not is_inside:
                why = f"{path} leads out of its folder: it is read only with --allow-outside"
                faults.append(Fault("", f"{why}, in Python allow_outside=True", line))
        faults.raise_all(where)


def _local(where: str) -> _Found:
    if Path(where).is_dir():
        return _Found(where, dict.fromkeys(_below(Path(where)), 0))
    if _WILD & set(where) and not os.path.lexists(where):
        found = glob(where, recursive=True)  # noqa: PTH207 - a whole pattern, absolute or not
        fixed = re.split(r"[*?\[]", where, maxsplit=1)[0].rpartition("/")
        folder = fixed[0] or fixed[1] or "."
        return _Found(folder, dict.fromkeys(filter(is_article, found), 0))
    _check_list(where)
    return _listed(Path(where).read_text("utf-8"), str(Path(where).parent))


def _listed(text: str, folder: str) -> _Found:
    """Return what the lines of a list name."""
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            beside = f"{folder}/{line}" if is_remote(folder) else str(Path(folder, line))
            lines.setdefault(line if is_remote(line) else beside, number)
    return _Found(folder, lines)


def _below(folder: Path) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        if MARKER in names:
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if is_article(name) and not name.startswith("."):
                yield str(Path(place, name))


def _check_list(where: str) -> None:
    if is_article(where) and not where.endswith(".txt"):
        raise Malformed(f"{where} is an article: audit it by its name, without --corpus")


def _remote(where: str) -> _Found:
    files, path = _filesystem(where)
    if _WILD & set(where):
        found = files.glob(path)
    elif files.isdir(path):
        found = files.find(path)
        ours = {name.rpartition("/")[0] + "/" for name in found if name.endswith("/" + MARKER)}
        found = [name for name in found if not any(map(name.startswith, ours))]
    else:
        _check_list(where)
        return _listed(files.cat_file(path).decode("utf-8"), where.rpartition("/")[0])
    named = (files.unstrip_protocol(name) for name in found if is_article(name))
    # What a bucket lists is in it.
    return _Found("", dict.fromkeys(named, 0))


def _filesystem(where: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    fsspec = library("fsspec")
    try:
        files, path = fsspec.core.url_to_fs(where)
    except (ImportError, ValueError) as error:
        raise Malformed(f"{where}: {error}") from None
    return files, path


def content(path: str) -> tuple[bytes, bytes | None]:
    """The bytes of an article, and of the side file beside it, if there is one.

    Raises :class:`Malformed` where the article can't be read, or is too long.
    """
    side = path.rpartition(".")[0] + SIDE_FILE
    try:
        data = _read(path)
    except (OSError, ValueError) as error:
        raise Malformed(f"the file can't be read: {_reason(error)}") from None
    if len(data) > BYTES.most:
        raise Malformed(f"the file has {BYTES.said(f'more than {BYTES.most}')}")
    with suppress(OSError, ValueError):
        return data, _read(side)
    return data, None


def _reason(error: Exception) -> str:
    """Return why a file can't be read."""
    reason = getattr(error, "strerror", None)
    if reason is None and isinstance(error, FileNotFoundError):
        # fsspec says only which.
        reason = os.strerror(errno.ENOENT)
    return (reason or str(error) or type(error).__name__).lower()


def _read(path: str, most: int = BYTES.most) -> bytes:
    """The bytes of a file, no more than tell that there are too many."""
    file: IO[bytes]
    if is_remote(path):
        files, name = _filesystem(path)
        with files.open(name, "rb") as file:
            return file.read(most + 1)
    if not Path(path).is_file():
        # Nobody waits for a pipe.
        raise FileNotFoundError(0, "No such file")
    with Path(path).open("rb") as file:
        return file.read(most + 1)


# -- results -------------------------------------------------------------------------------


class Store(Protocol):
    """A folder of results: each is there as a whole or not at all, whatever ends the program."""

    def names(self, folder: str) -> set[str]:
        """Return what the files in a folder and below are called, without their folders."""

    def read(self, name: str) -> bytes:
        """Return what a file holds. Raises :class:`OSError`."""

    def write(self, name: str, pieces: Iterable[bytes]) -> None:
        """Put a file in the place of what was there."""

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""


def check_apart(where: str, names: Iterable[str], paths: Iterable[str]) -> None:
    """Raise :class:`Malformed` where a result would be written over one of the articles."""
    if is_remote(where):
        files, path = _filesystem(where.rstrip("/"))
        for name in {files.unstrip_protocol(f"{path}/{name}") for name in names} & {*paths}:
            raise Malformed(f"{name} is an input and would be overwritten: choose another -o")
    elif Path(where).is_dir():
        Outputs("audit", paths, force=True).claim_in(Path(where), names)


@contextmanager
def opened(where: str, force: bool = False) -> Iterator[Store]:
    """The results in a folder, which is this run's alone for so long, or in a bucket.

    Raises :class:`Malformed` where something else is there already, unless ``force``; where
    another run writes there; and where nothing can be written.
    """
    with ExitStack() as held:
        with _told(where):
            if is_remote(where):
                store: Store = _Bucket(where, force)
            else:
                root = Path(where)
                root.mkdir(parents=True, exist_ok=True)
                if not force and not (root / MARKER).exists() and any(root.iterdir()):
                    raise _foreign(root)
                # Locked as long as this process lives, however it ends.
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                # Nobody waits for a pipe.
                handle = os.open(root / MARKER, flags | os.O_NONBLOCK, 0o666)
                lock = held.enter_context(os.fdopen(handle, "ab"))
                if not _locked(lock):
                    raise Malformed(f"{where}: another run writes there; wait for it to end")
                if not lock.tell():
                    lock.write(_ABOUT)
                    lock.flush()
                store = _Folder(root)
        yield store


@contextmanager
def _told(what: object) -> Iterator[None]:
    """Raise :class:`Malformed` where something can't be written to."""
    try:
        yield
    except FileExistsError as error:
        raise Malformed(f"{error.filename} is no folder: choose another -o") from None
    except OSError as error:
        raise Malformed(
            f"{what} can't be written to: {_reason(error)}; choose another -o"
        ) from None


def _foreign(where: object) -> Malformed:
    return Malformed(
        f"{where} holds something else than results of a corpus: choose another -o, or write "
        "beside it with --force"
    )


class _Folder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self, folder: str) -> set[str]:
        places = os.walk(self._root / folder)
        return {name for _, _, names in places for name in names if not name.endswith(_PART)}

    def read(self, name: str) -> bytes:
        return _read(str(self._root / name), _MOST_KEPT)

    def write(self, name: str, pieces: Iterable[bytes]) -> None:
        path = self._root / name
        if not is_below(path.parent, self._root):
            raise Malformed(f"{path.parent} leads out of {self._root}: choose another -o")
        part = path.with_name(path.name + _PART)
        with _told(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            # One run writes here at a time: what another left half written is begun anew, and
            # through a link nothing is.
            part.unlink(missing_ok=True)
            with part.open("xb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)

    def remove(self, name: str) -> None:
        with _told(path := self._root / name):
            path.unlink(missing_ok=True)


def _locked(file: IO[bytes]) -> bool:
    """Return whether a file is this process's alone now; where there are no locks nobody asks."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class _Bucket:
    def __init__(self, where: str, force: bool) -> None:
        self._files, self._root = _filesystem(where.rstrip("/"))
        marker = f"{self._root}/{MARKER}"
        if not self._files.exists(marker):
            if not force and self._files.exists(self._root) and self._files.ls(self._root):
                raise _foreign(where)
            self.write(MARKER, [_ABOUT])

    def names(self, folder: str) -> set[str]:
        return {name.rpartition("/")[2] for name in self._files.find(f"{self._root}/{folder}")}

    def read(self, name: str) -> bytes:
        return _read(self._files.unstrip_protocol(f"{self._root}/{name}"), _MOST_KEPT)

    def write(self, name: str, pieces: Iterable[bytes]) -> None:
        path = f"{self._root}/{name}"
        with _told(path):
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            # An object is there when it is closed.
            with self._files.transaction, self._files.open(path, "wb") as file:
                for piece in pieces:
                    file.write(piece)

    def remove(self, name: str) -> None:
        with _told(path := f"{self._root}/{name}"):
            if self._files.exists(path):
                self._files.rm(path)
