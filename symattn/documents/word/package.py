"""The file of a Word document: parts in a ZIP file, of which only few are read.

No part is unpacked to the disk, nothing outside of the file is looked at, and all that is
unpacked is bounded. Where figures are corrected, the bytes of all other parts stay.
"""

from __future__ import annotations

import posixpath
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from symattn.documents.text import Span, Text
from symattn.documents.word.elements import Element, parsed
from symattn.errors import Malformed, short
from symattn.escaping import html_text
from symattn.limits import COPIED, PARTS, UNPACKED

#: How files of Word begin that are no ZIP files: those before 2007, and those with a password.
_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_TYPE = re.compile(
    r"application/(?:vnd\.openxmlformats-officedocument\.|vnd\.ms-)?word(?:processingml)?\."
)
_NUMBER = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class Part:
    """A part that is read: its text, and where in all that is read it begins."""

    name: str
    source: str
    base: int
    encoding: str


#: What is raised of a package that is damaged, or packed in ways that nobody reads.
_DAMAGED = (
    BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, NotImplementedError,
)  # fmt: skip


class Package:
    """The parts of a Word document.

    Raises :class:`Malformed` for what is none.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._left = UNPACKED.most
        self._base = 0
        if data.startswith(_OLD):
            raise Malformed(
                "an old or encrypted file of Word: save it as a Word document (.docx), "
                "without a password"
            )
        try:
            with ZipFile(BytesIO(data)) as file:
                entries = file.infolist()
        except _DAMAGED as error:
            raise _broken(str(error)) from None
        if len(entries) > PARTS.most:
            raise Malformed(PARTS.said(len(entries)))
        self._entries = {entry.filename.lower(): entry for entry in entries}
        if len(self._entries) < len(entries):
            raise _broken("two of its parts have one name")
        self._main = self._named_main()
        self._beside = self._relations(self._main)

    def _bytes(self, name: str) -> bytes | None:
        """A part unpacked, None where there is none."""
        entry = self._entries.get(name.lower())
        if entry is None:
            return None
        if entry.flag_bits & 1:
            raise Malformed("it is encrypted: save it without a password")
        if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise _broken(f"{short(name)} is compressed in a way that Word doesn't read")
        try:
            with ZipFile(BytesIO(self.data)) as file, file.open(entry) as part:
                unpacked = part.read(self._left + 1)
        except _DAMAGED as error:
            raise _broken(f"{short(name)}: {error}") from None
        self._left -= len(unpacked)
        if self._left < 0:
            raise Malformed(UNPACKED.said())
        return unpacked

    def _tree(self, name: str) -> Element | None:
        part = self.part(name)
        return None if part is None else tree(part)

    def part(self, name: str) -> Part | None:
        """The text of a part, None where there is none."""
        data = self._bytes(name)
        if data is None:
            return None
        marks = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
        encoding = marks.get(data[:2], "utf-8")
        try:
            source = data.decode(encoding)
        except UnicodeDecodeError:
            raise _broken(f"{short(name)} is not valid {encoding.upper()}") from None
        part = Part(self._entries[name.lower()].filename, source, self._base, encoding)
        self._base += len(source) + 1
        return part

    def _relations(self, name: str) -> Mapping[str, str]:
        """The parts that a part names, by what they are to it; what is outside of the file is
        left out."""
        folder, file = posixpath.split(name)
        root = self._tree(posixpath.join(folder, "_rels", f"{file}.rels"))
        found: dict[str, str] = {}
        for element in root.elements if root is not None else ():
            given = element.attributes
            if given.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, given.get("Target", "")))
                found.setdefault(given.get("Type", "").rpartition("/")[2], target.lstrip("/"))
        return found

    def _named_main(self) -> str:
        """The part that is the document."""
        types = self._tree("[Content_Types].xml")
        if types is None:
            raise _broken("it has no [Content_Types].xml")
        name = self._relations("").get("officeDocument", "")
        for element in types.elements:
            if element.attributes.get("PartName", "").lstrip("/").lower() == name.lower():
                found = element.attributes.get("ContentType", "")
                if not _TYPE.match(found):
                    raise Malformed(f"it holds {short(found)!r}, not a Word document")
        if name.lower() not in self._entries:
            raise _broken("it doesn't say which of its parts is the document")
        return name

    @property
    def document(self) -> Part:
        """The part that is the document."""
        part = self.part(self._main)
        assert part is not None
        return part

    def beside(self, kind: str) -> Part | None:
        """The part that is that to the document (``styles``, ``footnotes``), if there is one."""
        name = self._beside.get(kind)
        return None if name is None else self.part(name)

    # -- what is written ------------------------------------------------------------

    def with_parts(self, new: Mapping[str, bytes]) -> bytes:
        """The file with some parts anew. All others keep their bytes.

        Raises :class:`Malformed` for a file of which a part can't be read, or that is too large.
        """
        if sum(entry.file_size for entry in self._entries.values()) > COPIED.most:
            raise Malformed(COPIED.said())
        written = BytesIO()
        try:
            with ZipFile(BytesIO(self.data)) as file, ZipFile(written, "w") as copy:
                copy.comment = file.comment
                for entry in file.infolist():
                    name, attributes = entry.filename, entry.external_attr
                    copy.writestr(entry, new[name] if name in new else file.read(entry))
                    # The library gives rights to parts that have none.
                    entry.external_attr = attributes
        except (*_DAMAGED, RuntimeError) as error:
            raise Malformed(f"one of its parts can't be written again: {error}") from None
        return written.getvalue()


def tree(part: Part) -> Element:
    """The elements of a part; what is wrong with them is told with its name."""
    try:
        return parsed(part.source, part.base)
    except Malformed as error:
        first = error.faults[0]
        line = f", line {first.line}" if first.line else ""
        raise Malformed(f"{short(part.name)}{line}: {first.message}") from None


def _broken(why: str) -> Malformed:
    return Malformed(f"can't be read as a Word document (.docx): {short(why)}")


@dataclass(frozen=True)
class WrittenText:
    """The text that people see of a Word document, and where it stands in its parts."""

    package: Package
    parts: tuple[Part, ...]
    text: Text

    def with_text(self, new: str) -> bytes:
        """The file with another text: digits are replaced where they stand.

        Raises :class:`Malformed` where what changes does not stand in the file as such.
        """
        edits = sorted(self._edits(new))
        written: dict[str, bytes] = {}
        for part in self.parts:
            end = part.base + len(part.source)
            inside = [edit for edit in edits if part.base <= edit[0].start and edit[0].end <= end]
            if not inside:
                continue
            pieces, at = [], 0
            for (start, stop), text in inside:
                pieces += [part.source[at : start - part.base], html_text(text)]
                at = stop - part.base
            written[part.name] = "".join([*pieces, part.source[at:]]).encode(part.encoding)
        return self.package.with_parts(written) if written else self.package.data

    def _edits(self, new: str) -> Iterator[tuple[Span, str]]:
        """Yield what changes in the parts, character by character where as many take their
        place."""
        at = 0
        old_lines, new_lines = self.text.string.split("\n"), new.split("\n")
        if len(old_lines) != len(new_lines):
            raise Malformed("a line was put in or left out: nothing is written")
        for old, other in zip(old_lines, new_lines, strict=True):
            if old != other:
                for start, end, text in _changes(old, other):
                    yield from self._replaced(at + start, at + end, text)
            at += len(old) + 1

    def _replaced(self, start: int, end: int, text: str) -> Iterator[tuple[Span, str]]:
        spans = [self.text.span(k, k + 1) for k in range(start, end)]
        if start == end:
            # Something is put in beside what the file has.
            after, before = self.text.span(start, start + 1), self.text.span(start - 1, start)
            place = after.start if after.start < after.end else before.end
            is_there = after.start < after.end or before.start < before.end
            spans = [Span(place, place)] if is_there else []
        if not spans or (start < end and any(span.start == span.end for span in spans)):
            raise Malformed("what is to be corrected does not stand in the file as it was read")
        pieces = [*text[: len(spans) - 1].ljust(len(spans) - 1, "\0"), text[len(spans) - 1 :]]
        yield from zip(spans, (piece.replace("\0", "") for piece in pieces), strict=True)


def _changes(old: str, new: str) -> Iterator[tuple[int, int, str]]:
    """Yield where a line changes, number by number, and no more of it than changes."""
    before, after = _NUMBER.split(old), _NUMBER.split(new)
    starts = [0]
    for piece in before:
        starts.append(starts[-1] + len(piece))
    for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            was, now = "".join(before[i:j]), "".join(after[k:m])
            first = _alike(was, now)
            last = _alike(was[first:][::-1], now[first:][::-1])
            yield starts[i] + first, starts[j] - last, now[first : len(now) - last]


def _alike(first: str, second: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((k for k, (a, b) in pairs if a != b), min(len(first), len(second)))
