"""Whose a file is: what a command may replace, and what it may not.

Commands write through :class:`Outputs`, which replaces neither what the command reads, nor one of
its own results by another, nor, without force, what symattn did not write itself. That is told by a
record beside the files: their digests, so that what was changed since is its user's again.
"""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from symattn import outputs
from symattn.errors import Fault, Malformed

#: What the record of a folder is called, and its first line.
RECORD = ".symattn-written"
_HEAD = "# What symattn wrote here, and may replace: digest, command, file.\n"
#: A longer record is none of ours.
_MOST_BYTES = 1 << 28


class Outputs:
    """The outputs of one command; ``by`` is its name, ``inputs`` are the files that it reads, and
    ``instead`` is what messages say to do where a file may not be replaced.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "post.html")
    ...     for content in (b"first", b"second"):
    ...         Outputs("sheet").write(path, content)
    ...     path.write_bytes(b"edited")
    ...     Outputs("sheet").write(path, b"third")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    symattn.errors.Malformed: ...post.html was changed since symattn wrote it: ...
    """

    def __init__(
        self,
        by: str,
        inputs: Iterable[str | Path | int] = (),
        force: bool = False,
        instead: str = "choose another -o, or overwrite it with --force",
    ) -> None:
        self._by = by
        self._instead = instead
        self.force = force
        self._inputs = {key for file in inputs for key in _identities(file)}
        self._claimed: dict[object, Path] = {}
        self._in_folders: dict[Path, bool] = {}
        self._records: dict[Path, _Record] = {}

    def claim(self, path: Path, by: str = "") -> None:
        """:class:`Malformed` if a file can't or may not be written, or is another output too;
        ``by`` tells what for, where the command alone does not."""
        outputs.check(path)
        self._claim(path, by or self._by)
        self._in_folders[path] = False

    def claim_in(self, folder: Path, names: Iterable[str] = (), by: str = "") -> None:
        """The same for files in a folder that is made for them; with all their faults."""
        outputs.check_folder(folder)
        faults: list[Fault] = []
        for path in (folder / name for name in names):
            try:
                self._claim(path, by or self._by)
            except Malformed as error:
                faults += error.faults
            self._in_folders[path] = True
        if faults:
            raise Malformed(faults)

    def may_write(self, path: Path, by: str) -> bool:
        """Return whether a file is not there yet, or may be replaced."""
        try:
            self._check(path, by)
        except Malformed:
            return False
        return True

    def write(self, path: Path, content: bytes, by: str = "") -> None:
        """Write a file, and note that it was; :class:`Malformed` as by :meth:`claim`."""
        if path not in self._in_folders:
            self.claim(path, by)
        if self._in_folders[path]:
            outputs.prepare_folder(path.parent)
        if (target := outputs.ordinary(path)) is None:
            outputs.write(path, content)
            return
        # Noted first: whatever ends the program, what was written is known.
        self._record(target).note(target.name, by or self._by, _digest(content))
        outputs.write(path, content, partial(self._permit, path, target, by or self._by))

    def create(self, path: Path, content: bytes) -> None:
        """Write a file where there is none, force or not. It is the user's from then on."""
        check_absent(path)
        outputs.write(path, content, lambda _: _refuse_to_replace(path))

    def revise(self, path: Path, old: bytes, new: bytes) -> None:
        """Write a file that was read, if it still holds what was read. It stays the user's."""

        def permit(content: bytes) -> None:
            if content != old:
                why = "has changed in the meantime and is left as it is"
                raise Malformed(f"{path} {why}: run the command again")

        outputs.write(path, new, permit)

    def remove(self, path: Path) -> None:
        """Remove a file that speaks of something older, if it is there and may be replaced."""
        self._check(path, self._by)
        outputs.remove(path)

    def _claim(self, path: Path, by: str) -> None:
        self._check(path, by)
        # What is two names here may be one name where the files are taken to.
        keys = [
            unicodedata.normalize("NFC", key).casefold() if isinstance(key, str) else key
            for key in _identities(path)
        ]
        for key in keys:
            if (other := self._claimed.get(key)) is not None:
                raise Malformed(f"{other} and {path} would be one file: write them one at a time")
        self._claimed.update(dict.fromkeys(keys, path))

    def _check(self, path: Path, by: str) -> None:
        """:class:`Malformed` if a file is an input, or may not be replaced."""
        if not os.path.lexists(path) or (target := outputs.ordinary(path)) is None:
            return
        if not self._inputs.isdisjoint(_identities(path)):
            why = "is an input and would be overwritten"
            raise Malformed(f"{path} {why}: choose another -o, or omit it")
        if target.exists():
            self._permit(path, target, by)

    def _permit(self, path: Path, target: Path, by: str, content: bytes | None = None) -> None:
        """:class:`Malformed` if what a file holds may not be replaced."""
        if self.force:
            return
        why = "already exists and was not written by symattn"
        if makers := self._record(target).makers(target.name):
            digest = _digest(target.read_bytes() if content is None else content)
            if (by, digest) in makers:
                return
            others = [maker for maker, written in makers if written == digest]
            why = "was changed since symattn wrote it"
            if others:
                why = f"was written by symattn for something else ({others[0]})"
        raise Malformed(f"{path} {why}: {self._instead}")

    def _record(self, target: Path) -> _Record:
        if target.parent not in self._records:
            self._records[target.parent] = _Record(target.parent / RECORD)
        return self._records[target.parent]


def check_absent(path: Path) -> None:
    """:class:`Malformed` if there is anything at ``path``, a link that leads nowhere too."""
    if os.path.lexists(path):
        _refuse_to_replace(path)


def _refuse_to_replace(path: Path) -> None:
    raise Malformed(f"{path} already exists and is not overwritten")


class _Record:
    """Which files of a folder symattn wrote: lines that are only ever added to, by several
    programs at once. One that can't be read or written says nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._is_foreign = False
        self._makers: dict[str, set[tuple[str, str]]] = defaultdict(set)

    def makers(self, name: str) -> set[tuple[str, str]]:
        """Return what wrote the file of that name, each with the digest of what it wrote."""
        self._refresh()
        return self._makers[_escaped(name)]

    def note(self, name: str, by: str, digest: str) -> None:
        """Add a line, unless there is such a one."""
        if (by, digest) in self.makers(name) or self._is_foreign:
            return
        line = f"{digest}\t{_escaped(by)}\t{_escaped(name)}\n"
        with suppress(OSError):
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _SAFELY, 0o666)
            with os.fdopen(handle, "wb", buffering=0) as file:
                file.write((line if self._read else _HEAD + line).encode())

    def _refresh(self) -> None:
        # One that another program has made and not yet written to is empty, and ours.
        self._is_foreign = os.path.lexists(self._path)
        with suppress(OSError, UnicodeDecodeError):
            with os.fdopen(os.open(self._path, os.O_RDONLY | _SAFELY), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
                    return
                file.seek(self._read)
                added = file.read()
            whole = added[: added.rfind(b"\n") + 1].decode("ascii")
            if not self._read and added and not whole.startswith(_HEAD):
                return
            self._is_foreign = False
            self._read += len(whole)
            for line in whole.split("\n"):
                if len(parts := line.split("\t")) == 3:
                    digest, by, name = parts
                    with suppress(UnicodeDecodeError):
                        self._makers[name].add((by.encode().decode("unicode_escape"), digest))


#: Through no link, and nobody is waited for.
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def _escaped(text: str) -> str:
    """Text as it stands in a record: no line ends in it, nor does a tab part it."""
    return text.encode("unicode_escape").decode("ascii")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _identities(file: str | Path | int) -> list[object]:
    """Return what tells a file from others, however it is spelled; of an open file, its number."""
    keys: list[object] = []
    with suppress(OSError, ValueError):
        if not isinstance(file, int):
            keys.append(os.path.realpath(file))
        status = os.stat(file)  # noqa: PTH116 - of a number too
        keys.append((status.st_dev, status.st_ino))
    return keys
