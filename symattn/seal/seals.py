"""Seals: what Coq's kernel said of a file, kept beside it, and found again by who prints what it
is about.

Nothing in a folder of seals is believed that can be known: who shows a seal states the theorems
anew, and what lies there has to be that, byte for byte. That Coq took it, and which one, only the
folder says; ``symattn seal --check`` asks it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from symattn.errors import Malformed
from symattn.escaping import json_text
from symattn.seal.coqc import Checked, without_proofs
from symattn.seal.theorems import LIBRARY, File, library
from symattn.tables.file import content

FORMAT = "symattn seal 2"
SUFFIX = ".seal.json"
_VERSION = re.compile(r"[\w.+~-]{1,30}")
_AGAIN = "symattn seal NAME --check -o DIR makes one"
#: How much of a line is told that is another than expected.
_SHOWN = 60


@dataclass(frozen=True)
class Unsealed:
    """What has no theorem, or one that is not proved, and why."""

    said: str
    why: str


@dataclass(frozen=True)
class Sealing:
    """A file of theorems of ``figures`` or ``lines``, and what has none; ``missing`` says why of
    those that are only stated, by their names, and ``notes`` what others do not say; ``defined``
    are those that hold by definition."""

    kind: str
    file: File
    unsealed: tuple[Unsealed, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    defined: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        """How many figures or lines there are."""
        return len(self.file.sealing()) + len(self.unsealed)


@dataclass(frozen=True)
class Seal:
    """What was sealed of a walkthrough or a derivation: how many of its figures or lines, and how
    many hold by definition besides; by which version of Coq, in which file with which text, and
    according to which folder, if Coq was not asked now."""

    kind: str
    sealed: int
    defined: int
    count: int
    coq: str
    file: str
    text: str = field(repr=False)
    folder: str = ""

    def said(self) -> str:
        """The seal in words.

        >>> Seal("lines", 38, 3, 41, "8.16.1", "a.v", "", "seals").said()
        'sealed: 38 of 41 lines, by Coq 8.16.1, according to seals; 3 more hold by definition'
        """
        source = f", according to {self.folder}" if self.folder else ""
        more = f"; {self.defined} more hold by definition" if self.defined else ""
        return f"sealed: {self.sealed} of {self.count} {self.kind}, by Coq {self.coq}{source}{more}"


def seal(sealing: Sealing, checked: Checked) -> Seal:
    """The seal of what was checked. Nothing is sealed that rests on more than the axioms of the
    real numbers."""
    proved = {x.name for x in checked.file.sealing() if x.proof is not None and checked.is_sound}
    defined = len(proved & sealing.defined)
    counts = len(proved) - defined, defined, sealing.count
    module, text = sealing.file.module, checked.file.text()
    return Seal(sealing.kind, *counts, checked.version, f"{module}.v", text)


def written(sealing: Sealing, checked: Checked) -> dict[str, Any]:
    """A seal as it is kept, with every theorem and what became of it."""
    made = asdict(seal(sealing, checked))
    why = {**sealing.missing, **checked.refused, **sealing.notes}
    theorems = [
        {
            "name": theorem.name,
            "of": theorem.seals,
            "states": theorem.statement,
            "proved": theorem.proof is not None,
            "by_definition": theorem.name in sealing.defined,
            **({"why": why[theorem.name]} if theorem.name in why else {}),
        }
        for theorem in checked.file.sealing()
    ]
    return {
        "format": FORMAT,
        "name": sealing.file.name,
        **{name: made[name] for name in ("kind", "sealed", "defined", "count", "coq", "file")},
        "axioms": list(checked.axioms),
        "refused": dict(checked.refused),
        "theorems": theorems,
        "unsealed": [asdict(each) for each in sealing.unsealed],
    }


def files(sealing: Sealing, checked: Checked | None = None) -> dict[str, str]:
    """Return what stands in a folder of seals of what is stated, and was checked if it was."""
    module = sealing.file.module
    texts = {LIBRARY: library(), f"{module}.v": (checked or sealing).file.text()}
    if checked:
        texts[f"{module}{SUFFIX}"] = json_text(written(sealing, checked)) + "\n"
    return texts


def found(folder: Path, sealing: Sealing) -> Seal:
    """The seal in a folder of what is stated. Raises :class:`Malformed` where there is none, or
    where anything there is not what is stated now."""
    path = folder / f"{sealing.file.module}{SUFFIX}"
    checked = _told(path, _read(path), sealing)
    for name, text in files(sealing, checked).items():
        if (there := _read(folder / name)) != text.encode():
            raise Malformed(_difference(there, text), str(folder / name))
    return replace(seal(sealing, checked), folder=str(folder))


def _told(path: Path, data: bytes, sealing: Sealing) -> Checked:
    """Return what only a seal can tell of what is stated: which Coq said what of it."""
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"expected JSON: {error}", str(path)) from None
    if not isinstance(told, Mapping) or told.get("format") != FORMAT:
        raise Malformed(f"expected the format {FORMAT!r}: {_AGAIN}", str(path))
    version, axioms, refused = told.get("coq"), told.get("axioms"), told.get("refused")
    proved = {x.name for x in sealing.file.theorems() if x.proof is not None}
    if not (
        (isinstance(version, str) and _VERSION.fullmatch(version))
        and isinstance(axioms, list)
        and (isinstance(refused, Mapping) and proved.issuperset(refused))
    ):
        why = "expected which 'coq' checked it, its 'axioms', and which proofs it 'refused'"
        raise Malformed(f"{why}: {_AGAIN}", str(path))
    file = without_proofs(sealing.file, refused)
    return Checked(file, version, 0.0, tuple(map(str, axioms)), refused)


def _difference(there: bytes, wanted: str) -> str:
    """The first line of a file that is not as it is stated now."""
    lines = zip_longest(there.split(b"\n"), wanted.encode().split(b"\n"), fillvalue=b"")
    number, pair = next(each for each in enumerate(lines, 1) if each[1][0] != each[1][1])
    line, other = (text[:_SHOWN].decode("utf-8", "replace") for text in pair)
    return f"line {number} is {line!r}, where {other!r} is stated now: seal it again, {_AGAIN}"


def _read(path: Path) -> bytes:
    try:
        return content(path, "the file", "seal", _AGAIN)
    except Malformed as error:
        raise Malformed(error.faults, str(path)) from None
