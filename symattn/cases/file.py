"""The walkthrough file: TOML text to a checked case."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from symattn.cases.case import Case, make
from symattn.cases.entries import KINDS, kind, unknown
from symattn.cases.places import Places
from symattn.errors import Fault, Malformed
from symattn.syntax import MAX_DIGITS

#: Largest file that is read, in bytes.
MAX_BYTES = 4_000_000

#: Longest chain of files that extend each other.
MAX_CHAIN = 10

#: What a file says of a case besides its numbers and steps, as :func:`make` takes it.
_DETAILS: dict[str, type] = {
    **dict.fromkeys(("title", "source", "note", "rounding", "tolerance"), str),
    **dict.fromkeys(("tokens", "claims", "unchecked"), list),
}
#: The keys of a file and the kinds of their values.
_KEYS: dict[str, type] = {
    **_DETAILS,
    **dict.fromkeys(("given", "steps", "loss"), dict),
    "extends": str,
    "replace_steps": bool,
}

Document = dict[str, Any]

#: (name of a case, the file that names it) -> the file of that case.
Find = Callable[[str, Path], Path]


def read_case(path: Path, find: Find) -> Case:
    """The case in the file at ``path``; ``find`` gives the files it extends.

    Raises :class:`Malformed` with every fault of the file, each with its line.
    """
    file = _load(path)
    faults = _structure(file.document)
    try:
        document, base = _extended(file, find, (path.resolve(),))
        if {"given", "steps"} <= document.keys():
            details = {key: document[key] for key in _DETAILS.keys() & document.keys()}
            case = make(
                path.stem,
                document["given"],
                document["steps"],
                document.get("loss"),
                **details,
            )
    except Malformed as error:
        faults += error.faults
    if faults:
        raise file.malformed(faults)
    lines = [file.places.line(f"claims[{number}]") for number in range(len(case.claims))]
    return replace(
        case,
        claims=tuple(
            replace(claim, line=line) for claim, line in zip(case.claims, lines, strict=True)
        ),
        extends=document.get("extends", ""),
        path=path,
        base=base,
    )


@dataclass(frozen=True)
class _File:
    """A file's text, and the document that it is."""

    path: Path
    text: str
    document: Document

    @cached_property
    def places(self) -> Places:
        return Places(self.text)

    def malformed(self, faults: Iterable[Fault]) -> Malformed:
        """The faults in the order of their lines; what the file says nothing
        of is told where it takes that from another."""
        placed = [
            replace(fault, line=self.places.line(fault.where) or self.places.line("extends"))
            for fault in faults
        ]
        return Malformed(sorted(placed, key=lambda fault: fault.line), source=str(self.path))


def _load(path: Path) -> _File:
    source = str(path)
    content = _bytes(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8 text: byte {error.start} can't be read", source) from None
    try:
        return _File(path, text, dict(_parsed(text)))
    except RecursionError:
        raise Malformed("not TOML that is read: nested too deep", source) from None
    except tomllib.TOMLDecodeError as error:
        raise Malformed(_invalid(str(error)), source) from None
    except ValueError:
        # A whole number beyond what Python reads: its message has no place.
        raise Malformed(_long_numbers(text), source) from None


@lru_cache(maxsize=4)
def _parsed(text: str) -> Document:
    """What a text says; that of a walkthrough that many extend is kept."""
    return tomllib.loads(text, parse_float=_decimal)


def _decimal(text: str) -> Decimal | str:
    """A number with its zeros; as text where its power of ten is beyond all
    bounds, so that whoever reads numbers says so."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return text


def _invalid(message: str) -> Fault:
    """What tomllib says, its line told apart."""
    found = re.fullmatch(r"(.*) \(at line ([0-9]+), column ([0-9]+)\)", message, re.DOTALL)
    if found is None:
        return Fault("", f"not valid TOML: {message}")
    return Fault("", f"not valid TOML: {found[1]} at column {found[3]}", int(found[2]))


def _bytes(path: Path) -> bytes:
    source = str(path)
    try:
        found = path.stat()
        plain = stat.S_ISREG(found.st_mode) or path.is_dir()
        content = path.read_bytes() if plain and found.st_size <= MAX_BYTES else b""
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise Malformed(f"the file can't be read: {reason}", source) from None
    if not plain:
        raise Malformed("the file can't be read: a device or a pipe", source)
    if found.st_size > MAX_BYTES:
        size = f"a file of {found.st_size} bytes; at most {MAX_BYTES} are read"
        raise Malformed(size, source)
    return content


def _long_numbers(text: str) -> list[Fault]:
    return [
        Fault("", f"a number of {len(found[0])} digits; at most {MAX_DIGITS} are read", line)
        for line, content in enumerate(text.split("\n"), 1)
        for found in re.finditer(rf"[0-9_]{{{MAX_DIGITS + 1},}}", content)
    ]


def _structure(document: Document) -> list[Fault]:
    """Faults of the file's own tables; :func:`make` finds those inside them.

    What is faulty is taken out, so that the rest can be checked.
    """
    faults = list(unknown(document, _KEYS))
    wrong = {key for key, of in _KEYS.items() if not isinstance(document.get(key, of()), of)}
    faults += [
        Fault(key, f"expected {KINDS[_KEYS[key]]}, found {kind(document.pop(key))}")
        for key in sorted(wrong)
    ]
    if "extends" not in document.keys() | wrong:
        faults += [
            Fault(key, f"missing: expected a [{key}] table")
            for key in ("given", "steps")
            if key not in document.keys() | wrong
        ]
    return faults


def _extended(file: _File, find: Find, seen: tuple[Path, ...]) -> tuple[Document, Path | None]:
    """The document on top of the one that it extends, and the file of that one."""
    document = file.document
    if "extends" not in document:
        return document, None
    name = document["extends"]
    try:
        path = find(name, file.path)
        other = _load(path)
        here = path.resolve()
        if here in seen:
            raise Malformed(f"{name!r} extends this file in turn")
        if len(seen) > MAX_CHAIN:
            raise Malformed(f"more than {MAX_CHAIN} files that extend each other")
        if faults := _structure(other.document):
            raise other.malformed(faults)
        base, _ = _extended(other, find, (*seen, here))
    except Malformed as error:
        # To this file, what is wrong with another is wrong with naming it.
        told = [Fault("extends", fault.at(error.source)) for fault in error.faults]
        raise file.malformed(told) from None
    # What a document says is said of its own numbers only.
    merged = {**base, "claims": [], "unchecked": [], **document}
    merged["given"] = {**base.get("given", {}), **document.get("given", {})}
    if not document.get("replace_steps", False):
        merged["steps"] = {**base.get("steps", {}), **document.get("steps", {})}
    merged["loss"] = {**base.get("loss", {}), **document.get("loss", {})}
    if "loss" not in base and "loss" not in document:
        del merged["loss"]
    return merged, path
