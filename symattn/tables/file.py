"""A TOML file: its text, what it says, and the lines of its faults.

Where the bundled files are.

Tables written as TOML: text and numbers as ``tomllib`` reads them back.
"""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from unicodedata import category

from symattn.errors import Fault, Faults, Malformed
from symattn.escaping import is_hidden
from symattn.limits import BYTES, DIGITS, KEY_PARTS
from symattn.tables.places import TomlPlaces

Document = dict[str, Any]


@dataclass(frozen=True)
class File:
    """A file's text, and the document that it is."""

    path: Path
    text: str
    document: Document

    @cached_property
    def places(self) -> TomlPlaces:
        """Return where its values stand."""
        return TomlPlaces(self.text)

    def line(self, where: str) -> int:
        """The line of a place; of what the file says nothing of, the line where
        it takes that from another."""
        return self.places.line(where) or self.places.line("extends")

    def malformed(self, faults: Faults) -> Malformed:
        """The faults in the order of their lines."""
        placed = [replace(fault, line=self.line(fault.where)) for fault in faults]
        in_order = sorted(placed, key=lambda fault: fault.line)
        return Malformed(in_order, str(self.path), faults.more)


def parsed(path: Path, content: bytes) -> File:
    """The file of these bytes. Raises :class:`Malformed` if they are no TOML."""
    text = decoded(content)
    if faults := _long_keys(text):
        raise Malformed(faults)
    try:
        return File(path, text, dict(_parsed(text)))
    except RecursionError:
        raise Malformed("TOML nested too deeply to be read") from None
    except tomllib.TOMLDecodeError as error:
        raise Malformed(_invalid(str(error))) from None
    except ValueError:
        # A whole number beyond what Python reads: its message has no place.
        raise Malformed(_long_numbers(text)) from None


@lru_cache(maxsize=4)
def _parsed(text: str) -> Document:
    """Return what a text says; that of a case that many extend is kept."""
    return tomllib.loads(text, parse_float=_decimal)


def _decimal(text: str) -> Decimal | str:
    """A number with its zeros; as text where its power of ten is beyond all
    bounds, so that whoever reads numbers says so."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return text


def decoded(content: bytes) -> str:
    """Bytes as text. Raises :class:`Malformed` if they are none."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8 text: byte {error.start} can't be read") from None


def _invalid(message: str) -> Fault:
    match = re.fullmatch(r"(.*) \(at line ([0-9]+), column ([0-9]+)\)", message, re.DOTALL)
    if match is None:
        return Fault("", f"not valid TOML: {message}")
    return Fault("", f"not valid TOML: {match[1]} at column {match[3]}", int(match[2]))


def content(path: Path, name: str, kind: str, advice: str) -> bytes:
    """The bytes of a file, which messages call ``name``; a ``kind`` of file, and how one is made.

    Raises :class:`Malformed` where it can't be read, or is too long.
    """
    try:
        status = path.stat()
        plain = stat.S_ISREG(status.st_mode)
        data = path.read_bytes() if plain and status.st_size <= BYTES.most else b""
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        hint = f"; {advice}" if isinstance(error, FileNotFoundError) else ""
        raise Malformed(f"{name} can't be read: {reason}{hint}") from None
    if stat.S_ISDIR(status.st_mode):
        raise Malformed(f"{name} is a folder, not a {kind}; {advice}")
    if not plain:
        raise Malformed(f"{name} can't be read: a device or a pipe")
    if status.st_size > BYTES.most:
        raise Malformed(f"{name} has {BYTES.said(status.st_size)}")
    return data


def _long_numbers(text: str) -> Faults:
    return Faults(
        Fault("", DIGITS.said(len(match[0])), line)
        for line, content in enumerate(text.split("\n"), 1)
        for match in re.finditer(rf"[0-9_]{{{DIGITS.most + 1},}}", content)
    )


_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DOTTED = re.compile(rf"({_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+)[ \t]*+([=\]])?+")


def _long_keys(text: str) -> Faults:
    return Faults(
        Fault("", KEY_PARTS.said(parts), line)
        for line, content in enumerate(text.split("\n"), 1)
        if content.count(".") >= KEY_PARTS.most
        for match in _DOTTED.finditer(content)
        if match[2] and (parts := len(re.findall(_PART, match[1]))) > KEY_PARTS.most
    )


_PACKAGE = Path(__file__).resolve().parent.parent


@lru_cache(maxsize=1)
def folder() -> Path:
    """Return where the bundled cases and derivations are: inside an installed
    package, or beside it in a checkout."""
    for place in (_PACKAGE / "derivations", _PACKAGE.parent / "derivations"):
        if place.is_dir():
            return place
    raise Malformed("the bundled cases are missing: install symattn again")


def written(data: Any) -> str:
    """A number, text, or nested lists of them, one row of a matrix on a line;
    what TOML has no number for as text.

    >>> from fractions import Fraction
    >>> written([1, Decimal("0.50"), Fraction(1, 3), Decimal("-Infinity")])
    '[1, 0.50, "1/3", "-inf"]'
    """
    if isinstance(data, str):
        return text(data)
    if isinstance(data, Decimal):
        return '"-inf"' if data.is_infinite() else str(data)
    if isinstance(data, int):
        return str(data)
    data = data.tolist() if hasattr(data, "tolist") else data
    if not isinstance(data, Sequence):
        return text(str(data))
    if any(isinstance(row, Sequence) and not isinstance(row, str) for row in data):
        return "\n".join(["[", *(f"    {written(row)}," for row in data), "]"])
    return f"[{', '.join(map(written, data))}]"


def text(content: str) -> str:
    r"""Text in quotes, what is hidden in it by its code.

    >>> print(text('a "b"\x1b'))
    "a \"b\"\U0000001b"
    """
    return f'"{"".join(map(_letter, content))}"'


def _letter(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if category(c) == "Cs":
        # Half of a pair, from the name of a file: no text that TOML could hold.
        return "\N{REPLACEMENT CHARACTER}"
    return rf"\U{ord(c):08x}" if is_hidden(c) else c
