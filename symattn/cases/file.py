"""The case file: TOML text to a checked case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from symattn.advice import MAKE_ONE
from symattn.cases.case import Case, make
from symattn.cases.functions import own_name
from symattn.errors import Fault, Faults, Malformed, short
from symattn.languages.language import LANGUAGE_FILE, language
from symattn.limits import CHAIN
from symattn.tables.file import Document, File, content, parsed
from symattn.tables.places import misfits, unknown

#: What a file says of a case besides its numbers and steps, as :func:`make` takes it.
_DETAILS: dict[str, type] = {
    **dict.fromkeys(("title", "source", "note", "rounding", "tolerance"), str),
    **dict.fromkeys(("tokens", "claims", "unchecked"), list),
    **dict.fromkeys(("exercise", "functions", "sheet"), dict),
    "symbols": object,
}
#: The keys of a file and the kinds of their values.
_KEYS: dict[str, type] = {
    **_DETAILS,
    **dict.fromkeys(("given", "steps", "loss"), dict),
    "extends": str,
    "replace_steps": bool,
}

#: What messages call such a file, and how one is made.
_KIND = ("case file", MAKE_ONE)
#: (name of a case or a file, the file that names it) -> the file of that name.
_FindFile = Callable[[str, Path], Path]


def read_case(path: Path, find: _FindFile, held: bytes | None = None) -> Case:
    """The case in the file at ``path``, or in one that holds these bytes; ``find`` gives
    the files it extends.

    Raises :class:`Malformed` with every fault of the file, each with its line.
    """
    try:
        read = content(path, "the file", *_KIND) if held is None else held
        file = parsed(path, read)
    except Malformed as error:
        raise Malformed(error.faults, str(path), error.more) from None
    faults = _structure(file.document)
    with faults.inside("sheet.language"):
        _find_language(file, find)
    try:
        document, base = _extended(file, find)
        if {"given", "steps"} <= document.keys():
            details = {key: document[key] for key in _DETAILS.keys() & document.keys()}
            numbers, steps = document["given"], document["steps"]
            case = make(path.stem, numbers, steps, document.get("loss"), **details)
    except Malformed as error:
        faults += error.faults
        faults.more += error.more
    if faults:
        raise file.malformed(faults)
    return replace(
        case,
        claims=tuple(
            replace(claim, line=file.line(f"claims[{claim.number}]")) for claim in case.claims
        ),
        lines={name: file.line(f"steps.{case.origins.get(name, name)}") for name in case.steps},
        extends=document.get("extends", ""),
        path=path,
        base=base,
    )


def _structure(document: Document) -> Faults:
    """Faults of the file's own tables; :func:`make` finds those inside them.

    What is faulty is taken out, so that the rest can be checked.
    """
    faults = unknown(document, _KEYS)
    if "extends" not in document:
        faults += [
            Fault(key, f"missing: expected a [{key}] table")
            for key in ("given", "steps")
            if key not in document
        ]
    for wrong in misfits(document, _KEYS):
        del document[wrong.where]
        faults.append(wrong)
    return faults


@contextmanager
def _closed(wrong: str) -> Iterator[None]:
    """Say of a file that it is wrong and at which line, and nothing of what is in it."""
    try:
        yield
    except Malformed as error:
        line = error.faults[0].line
        raise Malformed(f"{wrong}: see its line {line}" if line else wrong) from None


def _find_language(file: File, find: _FindFile) -> None:
    """Puts the path of a language file in place of what the file calls it.

    Raises :class:`Malformed` where there is none, which says nothing of what is
    in it: that may be any file. The faulty name is taken out.
    """
    sheet = dict(file.document.get("sheet", {}))
    name = sheet.pop("language", None)
    if not isinstance(name, str) or not name.endswith(".toml"):
        return
    file.document["sheet"] = sheet
    path, label = find(name, file.path), repr(short(name))
    content(path, label, *LANGUAGE_FILE)
    with _closed(f"{label} is not a language file"):
        language(str(path))
    sheet["language"] = str(path)


def _extended(file: File, find: _FindFile) -> tuple[Document, Path | None]:
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


def _base(chain: list[File], find: _FindFile) -> File:
    """The file that the last one of a chain extends.

    Raises :class:`Malformed` with one fault, which says nothing of what is in
    another file than the first: that may be any file.
    """
    here = chain[-1]
    name = here.document["extends"]
    label = repr(short(name))
    try:
        path = find(name, here.path)
    except Malformed:
        if len(chain) == 1:
            raise
        raise Malformed(f"what {here.path} extends is not read") from None
    if len(chain) > 1:
        label = f"what {here.path} extends"
    data = content(path, label, *_KIND)
    if any(path.samefile(known.path) for known in chain):
        raise Malformed(f"{label} extends this file in turn")
    if len(chain) > CHAIN.most:
        raise Malformed(CHAIN.said())
    with _closed(f"{label} is not a case file"):
        other = parsed(path, data)
        faults = _structure(other.document)
        with faults.inside("sheet.language"):
            _find_language(other, find)
        if faults:
            raise other.malformed(faults)
    return other


def _merged(base: Document, document: Document) -> Document:
    """Return what a document says, on top of what it extends."""
    # What a document says is said of its own numbers only.
    merged = {**base, "claims": [], "unchecked": [], "exercise": {}, **document}
    for key in ("given", "steps", "sheet", "loss"):
        is_replaced = key == "steps" and document.get("replace_steps", False)
        if not is_replaced and (key in base or key in document):
            merged[key] = {**base.get(key, {}), **document.get(key, {})}
    if isinstance(base.get("symbols", {}), dict) and isinstance(document.get("symbols", {}), dict):
        merged["symbols"] = {**base.get("symbols", {}), **document.get("symbols", {})}
    # A function takes the place of one of its name, whatever its parameters.
    own = document.get("functions", {})
    above = set(map(own_name, own))
    kept = {
        key: body for key, body in base.get("functions", {}).items() if own_name(key) not in above
    }
    merged["functions"] = {**kept, **own}
    return merged
