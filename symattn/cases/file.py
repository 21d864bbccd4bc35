"""The walkthrough file: TOML text to a checked case."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from symattn.cases.case import Case, Claim, Unchecked, make, shape_of
from symattn.cases.statements import check_statement
from symattn.errors import Fault, Malformed, SymattnError
from symattn.numbers.rounding import MODES
from symattn.shapes import show
from symattn.syntax import MAX_DIGITS

#: Largest file that is read, in bytes.
MAX_BYTES = 4_000_000

#: Longest chain of files that extend each other.
MAX_CHAIN = 10

#: The keys of a file and the kinds of their values.
_KEYS: Mapping[str, type] = {
    **dict.fromkeys(("title", "source", "note", "extends", "rounding", "tolerance"), str),
    **dict.fromkeys(("given", "steps", "loss"), dict),
    "tokens": list,
    "replace_steps": bool,
    "claims": list,
    "unchecked": list,
}
_LOSS_KEYS = ("output", "upstream", "wrt")
_CLAIM_KEYS = ("where", "of", "printed", "holds")
_UNCHECKED_KEYS = ("where", "what", "reason")

#: What a user calls the kinds of TOML's values.
_KINDS: Mapping[type, str] = {
    bool: "true or false", int: "a number", Decimal: "a number", str: "text",
    list: "a list", dict: "a table",
}  # fmt: skip

Document = dict[str, Any]

#: (name of a case, the file that names it) -> the file of that case.
Find = Callable[[str, Path], Path]


def read_case(path: Path, find: Find) -> Case:
    """The case in the file at ``path``; ``find`` gives the files it extends.

    Raises :class:`Malformed` with every fault of the file.
    """
    document, text = _load(path)
    faults = _structure(document)
    try:
        merged, base = _extended(document, find, path, (path.resolve(),))
        if {"given", "steps"} <= merged.keys():
            case = _case(path, merged, base, _claims(document, text))
            faults += [*_token_faults(case), *_claim_faults(case)]
    except Malformed as error:
        faults += error.faults
    if faults:
        raise Malformed(faults, source=str(path))
    return case


def _load(path: Path) -> tuple[Document, str]:
    source = str(path)
    content = _bytes(path)
    try:
        text = content.decode("utf-8-sig")
        return tomllib.loads(text, parse_float=Decimal), text
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8 text: byte {error.start} can't be read", source) from None
    except RecursionError:
        raise Malformed("not TOML that is read: nested too deep", source) from None
    except tomllib.TOMLDecodeError as error:
        raise Malformed(f"not valid TOML: {error}", source) from None
    except ValueError:
        # A whole number beyond what Python reads: its message has no place.
        raise Malformed(_long_numbers(text), source) from None


def _bytes(path: Path) -> bytes:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) and not path.is_dir():
            raise Malformed("the file can't be read: a device or a pipe", source=str(path))
        if found.st_size > MAX_BYTES:
            size = f"a file of {found.st_size} bytes; at most {MAX_BYTES} are read"
            raise Malformed(size, source=str(path))
        return path.read_bytes()
    except Malformed:
        raise
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise Malformed(f"the file can't be read: {reason}", source=str(path)) from None


def _long_numbers(text: str) -> list[Fault]:
    return [
        Fault(f"line {n}", f"a number of {len(found[0])} digits; at most {MAX_DIGITS} are read")
        for n, line in enumerate(text.splitlines(), 1)
        for found in re.finditer(rf"[0-9_]{{{MAX_DIGITS + 1},}}", line)
    ]


def _structure(document: Document) -> list[Fault]:
    """Faults that need no mathematics: keys and kinds of values.

    What is faulty is taken out, so that the rest can be checked.
    """
    faults = [_unknown(key, key, _KEYS) for key in document if key not in _KEYS]
    for key, kind in _KEYS.items():
        if not isinstance(document.get(key, kind()), kind):
            found = _kind(document.pop(key))
            faults.append(Fault(key, f"expected {_KINDS[kind]}, found {found}"))
    told = {fault.where for fault in faults}
    if not {"extends"} & (document.keys() | told):
        faults += [
            Fault(key, f"missing: expected a [{key}] table")
            for key in ("given", "steps")
            if key not in document and key not in told
        ]
    if not all(isinstance(token, str) for token in document.get("tokens", [])):
        faults.append(Fault("tokens", "expected a list of texts"))
        del document["tokens"]
    for key in document.get("loss", {}):
        if key not in _LOSS_KEYS:
            faults.append(_unknown(f"loss.{key}", key, _LOSS_KEYS))
    faults += _entries(document, "claims", _CLAIM_KEYS, ("where",))
    faults += _entries(document, "unchecked", _UNCHECKED_KEYS, _UNCHECKED_KEYS)
    if document.get("rounding", "half-even") not in MODES:
        known = ", ".join(MODES)
        faults.append(Fault("rounding", f"expected one of {known}, found {document['rounding']!r}"))
    return faults


def _entries(
    document: Document, key: str, known: tuple[str, ...], needed: tuple[str, ...]
) -> list[Fault]:
    """Faults of an array of tables such as ``[[claims]]``."""
    entries = document.get(key, [])
    if not all(isinstance(entry, dict) for entry in entries):
        del document[key]
        return [Fault(key, f"expected [[{key}]] tables")]
    all_faults = []
    for place, entry in enumerate(entries):
        at = f"{key}[{place}]"
        faults = [_unknown(f"{at}.{k}", k, known) for k in entry if k not in known]
        faults += [Fault(f"{at}.{k}", "missing") for k in needed if k not in entry]
        faults += [
            Fault(f"{at}.{k}", f"expected text, found {_kind(v) if v else 'nothing'}")
            for k, v in entry.items()
            if k in known and k != "printed" and not (v and isinstance(v, str))
        ]
        if key == "claims" and ("holds" in entry) == ("of" in entry or "printed" in entry):
            faults.append(Fault(at, "expected either 'holds' or both 'of' and 'printed'"))
        elif key == "claims" and "holds" not in entry and not {"of", "printed"} <= entry.keys():
            faults.append(Fault(at, "expected both 'of' and 'printed'"))
        if faults:
            entries[place] = dict.fromkeys(needed, "")
        all_faults += faults
    return all_faults


def _unknown(where: str, key: str, known: Iterable[str]) -> Fault:
    shown = key if len(key) <= 40 else key[:37] + "..."
    return Fault(where[:80], f"unknown key {shown!r}: expected one of {', '.join(known)}")


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def _extended(
    document: Document, find: Find, path: Path, seen: tuple[Path, ...]
) -> tuple[Document, Path | None]:
    """The document on top of the one that it extends, and the file of that one."""
    if "extends" not in document:
        return document, None
    name = document["extends"]
    try:
        base_path = find(name, path)
        base, _ = _load(base_path)
        here = base_path.resolve()
        if here in seen:
            raise Malformed(f"{name!r} extends this file in turn")
        if len(seen) > MAX_CHAIN:
            raise Malformed(f"more than {MAX_CHAIN} files that extend each other")
        if faults := _structure(base):
            raise Malformed(faults, source=str(base_path))
        base, _ = _extended(base, find, base_path, (*seen, here))
    except Malformed as error:
        # To this file, what is wrong with another is wrong with naming it.
        told = [str(Malformed(fault, error.source)) for fault in error.faults]
        raise Malformed([Fault("extends", text) for text in told], source=str(path)) from None
    # What a document says is said of its own numbers only.
    merged = {**base, "claims": [], "unchecked": [], **document}
    merged["given"] = {**base.get("given", {}), **document.get("given", {})}
    if not document.get("replace_steps", False):
        merged["steps"] = {**base.get("steps", {}), **document.get("steps", {})}
    merged["loss"] = {**base.get("loss", {}), **document.get("loss", {})}
    if "loss" not in base and "loss" not in document:
        del merged["loss"]
    return merged, base_path


def _case(path: Path, document: Document, base: Path | None, claims: tuple[Claim, ...]) -> Case:
    return make(
        path.stem,
        document["given"],
        document["steps"],
        document.get("loss"),
        title=document.get("title", path.stem),
        source=document.get("source", ""),
        note=document.get("note", ""),
        tokens=tuple(document.get("tokens", ())),
        extends=document.get("extends", ""),
        claims=claims,
        unchecked=tuple(Unchecked(**entry) for entry in document.get("unchecked", ())),
        rounding=document.get("rounding", "half-even"),
        tolerance=document.get("tolerance", ""),
        path=path,
        base=base,
    )


def _claims(document: Document, text: str) -> tuple[Claim, ...]:
    """The claims with the lines that they start on (TOML keeps no places)."""
    lines = [n for n, line in enumerate(text.splitlines(), 1) if line.strip() == "[[claims]]"]
    entries = document.get("claims", [])
    if len(lines) != len(entries):
        lines = [0] * len(entries)
    return tuple(Claim(line=n, **entry) for n, entry in zip(lines, entries, strict=True))


def _token_faults(case: Case) -> list[Fault]:
    """Tokens that can't be the labels of anything."""
    lengths = {length for node in case.program.quantities.values() for length in node.shape}
    count = len(case.tokens)
    if not count or count in lengths:
        return []
    return [Fault("tokens", f"{count} tokens, but no quantity has {count} rows or columns")]


def _claim_faults(case: Case) -> list[Fault]:
    """Claims that don't fit what they claim are faults of the file."""
    faults = []
    for place, claim in enumerate(case.claims):
        if not claim.of and not claim.holds:
            continue
        at = f"claims[{place}]"
        key = "holds" if claim.printed is None else "of"
        try:
            if claim.printed is None:
                check_statement(case.program, claim.holds)
                continue
            shape = case.program.lower(claim.of).shape
            key = "printed"
            printed = shape_of(claim.printed)
            if printed != shape:
                faults.append(
                    Fault(f"{at}.printed", f"{claim.of} is {show(shape)}, found {show(printed)}")
                )
        except SymattnError as error:
            found = error.faults if isinstance(error, Malformed) else (Fault("", str(error)),)
            faults += [fault.inside(f"{at}.{key}") for fault in found]
    return faults
