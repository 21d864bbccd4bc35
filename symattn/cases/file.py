"""The walkthrough file: TOML text to a checked case."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from symattn.advice import MAKE_ONE
from symattn.cases.case import Case, make
from symattn.cases.entries import KINDS, kind, unknown
from symattn.cases.places import Places
from symattn.errors import Fault, Faults, Malformed, short
from symattn.limits import BYTES, CHAIN, DIGITS, KEY_PARTS

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
        document, base = _extended(file, find)
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
        faults.more += error.more
    if faults:
        raise file.malformed(faults)
    lines = [file.line(f"claims[{number}]") for number in range(len(case.claims))]
    return replace(
        case,
        claims=tuple(
            replace(claim, line=line) for claim, line in zip(case.claims, lines, strict=True)
        ),
        lines={name: file.line(f"steps.{name}") for name in case.steps},
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

    def line(self, where: str) -> int:
        """The line of a place; of what the file says nothing of, the line where
        it takes that from another."""
        return self.places.line(where) or self.places.line("extends")

    def malformed(self, faults: Faults) -> Malformed:
        """The faults in the order of their lines."""
        placed = [replace(fault, line=self.line(fault.where)) for fault in faults]
        in_order = sorted(placed, key=lambda fault: fault.line)
        return Malformed(in_order, str(self.path), faults.more)


def _load(path: Path) -> _File:
    try:
        return _read(path, _bytes(path, "the file"))
    except Malformed as error:
        raise Malformed(error.faults, str(path), error.more) from None


def _read(path: Path, content: bytes) -> _File:
    """The file of these bytes; :class:`Malformed` if they are no TOML."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8 text: byte {error.start} can't be read") from None
    if faults := _long_keys(text):
        raise Malformed(faults)
    try:
        return _File(path, text, dict(_parsed(text)))
    except RecursionError:
        raise Malformed("not TOML that is read: nested too deep") from None
    except tomllib.TOMLDecodeError as error:
        raise Malformed(_invalid(str(error))) from None
    except ValueError:
        # A whole number beyond what Python reads: its message has no place.
        raise Malformed(_long_numbers(text)) from None


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


def _bytes(path: Path, shown: str) -> bytes:
    try:
        found = path.stat()
        plain = stat.S_ISREG(found.st_mode)
        content = path.read_bytes() if plain and found.st_size <= BYTES.most else b""
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        made = f"; {MAKE_ONE}" if isinstance(error, FileNotFoundError) else ""
        raise Malformed(f"{shown} can't be read: {reason}{made}") from None
    if stat.S_ISDIR(found.st_mode):
        raise Malformed(f"{shown} is a folder, not a walkthrough file; {MAKE_ONE}")
    if not plain:
        raise Malformed(f"{shown} can't be read: a device or a pipe")
    if found.st_size > BYTES.most:
        raise Malformed(f"{shown} has {BYTES.said(found.st_size)}")
    return content


def _long_numbers(text: str) -> Faults:
    return Faults(
        Fault("", DIGITS.said(len(found[0])), line)
        for line, content in enumerate(text.split("\n"), 1)
        for found in re.finditer(rf"[0-9_]{{{DIGITS.most + 1},}}", content)
    )


_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DOTTED = re.compile(rf"({_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+)[ \t]*+([=\]])?+")


def _long_keys(text: str) -> Faults:
    return Faults(
        Fault("", KEY_PARTS.said(parts), line)
        for line, content in enumerate(text.split("\n"), 1)
        if content.count(".") >= KEY_PARTS.most
        for found in _DOTTED.finditer(content)
        if found[2] and (parts := len(re.findall(_PART, found[1]))) > KEY_PARTS.most
    )


def _structure(document: Document) -> Faults:
    """Faults of the file's own tables; :func:`make` finds those inside them.

    What is faulty is taken out, so that the rest can be checked.
    """
    faults = unknown(document, _KEYS)
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


def _extended(file: _File, find: Find) -> tuple[Document, Path | None]:
    """The document on top of those that it extends, and the file of the first of them."""
    chain = [file]
    try:
        while "extends" in chain[-1].document:
            chain.append(_base(chain, find))
    except Malformed as error:
        # To this file, what is wrong with another is wrong with naming it.
        (fault,) = error.faults
        raise file.malformed(Faults([Fault("extends", fault.message)])) from None
    merged = chain[-1].document
    for above in reversed(chain[:-1]):
        merged = _merged(merged, above.document)
    return merged, chain[1].path if len(chain) > 1 else None


def _base(chain: list[_File], find: Find) -> _File:
    """The file that the last one of a chain extends.

    Raises :class:`Malformed` with one fault, which says nothing of what is in
    another file than the first: that may be any file.
    """
    here = chain[-1]
    name = here.document["extends"]
    shown = repr(short(name))
    try:
        path = find(name, here.path)
    except Malformed:
        if len(chain) == 1:
            raise
        raise Malformed(f"what {here.path} extends is not read") from None
    if len(chain) > 1:
        shown = f"what {here.path} extends"
    content = _bytes(path, shown)
    if any(path.samefile(known.path) for known in chain):
        raise Malformed(f"{shown} extends this file in turn")
    if len(chain) > CHAIN.most:
        raise Malformed(CHAIN.said())
    try:
        other = _read(path, content)
        if faults := _structure(other.document):
            raise other.malformed(faults)
    except Malformed as error:
        line = error.faults[0].line
        at = f": see its line {line}" if line else ""
        raise Malformed(f"{shown} is not a walkthrough file{at}") from None
    return other


def _merged(base: Document, document: Document) -> Document:
    """What a document says, on top of what it extends."""
    # What a document says is said of its own numbers only.
    merged = {**base, "claims": [], "unchecked": [], **document}
    merged["given"] = {**base.get("given", {}), **document.get("given", {})}
    if not document.get("replace_steps", False):
        merged["steps"] = {**base.get("steps", {}), **document.get("steps", {})}
    merged["loss"] = {**base.get("loss", {}), **document.get("loss", {})}
    if "loss" not in base and "loss" not in document:
        del merged["loss"]
    return merged
