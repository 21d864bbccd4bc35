"""The walkthrough file: TOML text to a checked case."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from symattn.cases.case import Case, Claim, Unchecked, make, shape_of
from symattn.cases.statements import check_statement
from symattn.errors import Fault, Malformed, SymattnError
from symattn.numbers.rounding import MODES
from symattn.programs.nodes import show

#: Largest file that is read, in bytes.
MAX_BYTES = 4_000_000

_TEXTS = ("title", "source", "note", "extends", "rounding", "tolerance")
_TABLES = ("given", "steps", "loss")
_KEYS = (*_TEXTS, *_TABLES, "tokens", "replace_steps", "claims", "unchecked")
_LOSS_KEYS = ("output", "upstream", "wrt")
_CLAIM_KEYS = ("where", "of", "printed", "holds")
_UNCHECKED_KEYS = ("where", "what", "reason")

Document = dict[str, Any]


def read_case(path: Path, find: Callable[[str], Path]) -> Case:
    """The case in the file at ``path``; ``find`` gives the file of a case's name.

    Raises :class:`Malformed` with every fault of the file.
    """
    document, text = _load(path)
    faults = _structure(document)
    if faults:
        raise Malformed(faults, source=str(path))
    try:
        merged = _extended(document, find, (path.resolve(),))
        return _case(path, merged, _claims(document, text))
    except Malformed as error:
        raise Malformed(error.faults, source=error.source or str(path)) from None


def _load(path: Path) -> tuple[Document, str]:
    source = str(path)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise Malformed(f"a file of {size} bytes; at most {MAX_BYTES} are read", source)
        text = path.read_bytes().decode("utf-8")
        return tomllib.loads(text, parse_float=Decimal), text
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Malformed(f"the file can't be read: {reason}", source) from None
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8 text: byte {error.start} can't be read", source) from None
    except RecursionError:
        raise Malformed("not TOML that is read: nested too deep", source) from None
    except ValueError as error:
        raise Malformed(f"not valid TOML: {error}", source) from None


def _structure(document: Document) -> list[Fault]:
    """Faults that need no mathematics: keys and kinds of values."""
    faults = [_unknown(key, key, _KEYS) for key in document if key not in _KEYS]
    for key in _TEXTS:
        if not isinstance(document.get(key, ""), str):
            faults.append(Fault(key, f"expected text, found {_kind(document[key])}"))
    for key in _TABLES:
        if not isinstance(document.get(key, {}), dict):
            faults.append(Fault(key, f"expected a table, found {_kind(document[key])}"))
            document[key] = {}
    if "extends" not in document:
        faults += [
            Fault(key, f"missing: expected a [{key}] table")
            for key in ("given", "steps")
            if key not in document
        ]
    tokens = document.get("tokens", [])
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        faults.append(Fault("tokens", "expected a list of texts"))
    if not isinstance(document.get("replace_steps", False), bool):
        faults.append(Fault("replace_steps", "expected true or false"))
    for name, step in document.get("steps", {}).items():
        if not isinstance(step, str):
            faults.append(
                Fault(f"steps.{name}", f"expected an expression as text, found {_kind(step)}")
            )
    for key in document.get("loss", {}):
        if key not in _LOSS_KEYS:
            faults.append(_unknown(f"loss.{key}", key, _LOSS_KEYS))
    faults += _entries(document, "claims", _CLAIM_KEYS, ("where",))
    faults += _entries(document, "unchecked", _UNCHECKED_KEYS, _UNCHECKED_KEYS)
    if document.get("rounding", "half-even") not in MODES and isinstance(document["rounding"], str):
        known = ", ".join(MODES)
        faults.append(
            Fault("rounding", f"expected one of {known}, found {document['rounding']!r}")
        )
    return faults


def _entries(
    document: Document, key: str, known: tuple[str, ...], needed: tuple[str, ...]
) -> list[Fault]:
    """Faults of an array of tables such as ``[[claims]]``."""
    entries = document.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        document[key] = []
        return [Fault(key, f"expected [[{key}]] tables, found {_kind(entries)}")]
    faults = []
    for place, entry in enumerate(entries):
        at = f"{key}[{place}]"
        faults += [_unknown(f"{at}.{k}", k, known) for k in entry if k not in known]
        faults += [Fault(f"{at}.{k}", "missing") for k in needed if k not in entry]
        faults += [
            Fault(f"{at}.{k}", f"expected text, found {_kind(entry[k])}")
            for k in known
            if k != "printed" and not isinstance(entry.get(k, ""), str)
        ]
        if key == "claims" and ("holds" in entry) == ("of" in entry or "printed" in entry):
            faults.append(Fault(at, "expected either 'holds' or both 'of' and 'printed'"))
        elif key == "claims" and "holds" not in entry and not {"of", "printed"} <= entry.keys():
            faults.append(Fault(at, "expected both 'of' and 'printed'"))
    return faults


def _unknown(where: str, key: str, known: tuple[str, ...]) -> Fault:
    shown = key if len(key) <= 40 else key[:37] + "..."
    return Fault(where[:80], f"unknown key {shown!r}: expected one of {', '.join(known)}")


def _kind(value: Any) -> str:
    names: Mapping[type, str] = {
        bool: "true or false", int: "a number", Decimal: "a number", str: "text",
        list: "a list", dict: "a table",
    }  # fmt: skip
    return names.get(type(value), f"a {type(value).__name__}")


def _extended(document: Document, find: Callable[[str], Path], seen: tuple[Path, ...]) -> Document:
    """The document on top of the one that it extends."""
    if "extends" not in document:
        return document
    base_path = find(document["extends"]).resolve()
    if base_path in seen or len(seen) > 10:
        raise Malformed(Fault("extends", f"{document['extends']!r} extends this file in turn"))
    base, _ = _load(base_path)
    if faults := _structure(base):
        raise Malformed(faults, source=str(base_path))
    base = _extended(base, find, (*seen, base_path))
    merged = {**base, **document}
    merged["given"] = {**base.get("given", {}), **document.get("given", {})}
    if not document.get("replace_steps", False):
        merged["steps"] = {**base.get("steps", {}), **document.get("steps", {})}
    merged["loss"] = {**base.get("loss", {}), **document.get("loss", {})}
    if "loss" not in base and "loss" not in document:
        del merged["loss"]
    return merged


def _case(path: Path, document: Document, claims: tuple[Claim, ...]) -> Case:
    case = make(
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
    )
    if faults := _claim_faults(case):
        raise Malformed(faults)
    return case


def _claims(document: Document, text: str) -> tuple[Claim, ...]:
    """The claims with the lines that they start on (TOML keeps no places)."""
    lines = [n for n, line in enumerate(text.splitlines(), 1) if line.strip() == "[[claims]]"]
    entries = document.get("claims", [])
    if len(lines) != len(entries):
        lines = [0] * len(entries)
    return tuple(Claim(line=n, **entry) for n, entry in zip(lines, entries, strict=True))


def _claim_faults(case: Case) -> list[Fault]:
    """Claims that don't fit what they claim are faults of the file."""
    faults = []
    for place, claim in enumerate(case.claims):
        at = f"claims[{place}]"
        key = "holds" if claim.holds else "of"
        try:
            if claim.holds:
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
