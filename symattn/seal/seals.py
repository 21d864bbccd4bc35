"""Seals: what Coq's kernel said of a file, kept beside it, and found again by who prints what it
is about.

A seal is worth something only as long as the statements are the same: who shows one states the
theorems anew, and compares them with the file that was checked.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from symattn.errors import Malformed
from symattn.seal.coqc import Checked
from symattn.seal.theorems import File
from symattn.tables.file import content

FORMAT = "symattn seal 1"
SUFFIX = ".seal.json"
_VERSION = re.compile(r"[\w.+~-]{1,30}")
_KIND = ("seal", "symattn seal NAME --check -o DIR makes one")


@dataclass(frozen=True)
class Unsealed:
    """What has no theorem, or one that is not proved, and why."""

    said: str
    why: str


@dataclass(frozen=True)
class Sealing:
    """A file of theorems of ``figures`` or ``lines``, and what has none; ``missing`` says why of
    those that are only stated, by their names."""

    kind: str
    file: File
    unsealed: tuple[Unsealed, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many figures or lines there are."""
        return len(self.file.sealing()) + len(self.unsealed)


@dataclass(frozen=True)
class Seal:
    """What was sealed of a walkthrough or a derivation: how many of its figures or lines, by
    which version of Coq, in which file, and the digest of what that states."""

    name: str
    kind: str
    sealed: int
    count: int
    coq: str
    file: str
    digest: str

    def said(self) -> str:
        """The seal in words.

        >>> Seal("a", "figures", 41, 41, "8.16.1", "a.v", "").said()
        'sealed: 41 of 41 figures, by Coq 8.16.1'
        """
        return f"sealed: {self.sealed} of {self.count} {self.kind}, by Coq {self.coq}"


def digest(file: File) -> str:
    """The digest of all that a file defines and states; proofs may differ.

    >>> len(digest(File("a", "", ())))
    64
    """
    parts = (
        part if isinstance(part, str) else f"{part.name} : {part.statement}" for part in file.parts
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def seal(sealing: Sealing, checked: Checked) -> Seal:
    """The seal of what was checked. Nothing is sealed that rests on more than the axioms of the
    real numbers."""
    proved = [x for x in checked.file.sealing() if x.proof is not None]
    sealed = len(proved) if checked.is_sound else 0
    name = sealing.file.name
    digested = digest(sealing.file)
    return Seal(
        name, sealing.kind, sealed, sealing.count, checked.version, _file(sealing), digested
    )


def _file(sealing: Sealing) -> str:
    return f"{sealing.file.module}.v"


def written(made: Seal, sealing: Sealing, checked: Checked) -> dict[str, Any]:
    """A seal as it is kept, with every theorem and what became of it."""
    why = {**sealing.missing, **checked.refused}
    theorems = [
        {
            "name": theorem.name,
            "of": theorem.seals,
            "states": theorem.statement,
            "proved": theorem.proof is not None,
            **({"why": why[theorem.name]} if theorem.name in why else {}),
        }
        for theorem in checked.file.sealing()
    ]
    return {
        "format": FORMAT,
        **asdict(made),
        "axioms": list(checked.axioms),
        "theorems": theorems,
        "unsealed": [asdict(each) for each in sealing.unsealed],
    }


def found(folder: Path, sealing: Sealing) -> Seal:
    """The seal in a folder of what is stated. Raises :class:`Malformed` where there is none, or
    where it is of something else."""
    path = folder / f"{sealing.file.module}{SUFFIX}"
    try:
        data = json.loads(content(path, "the seal", *_KIND))
    except Malformed as error:
        raise Malformed(error.faults, str(path)) from None
    except ValueError as error:
        raise Malformed(f"expected JSON: {error}", str(path)) from None
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise Malformed(f"expected the format {FORMAT!r}", str(path))
    # Nothing that the file says is taken where it is known: a name might lead anywhere.
    stated = Seal(
        sealing.file.name, sealing.kind, 0, sealing.count, "", _file(sealing), digest(sealing.file)
    )
    known = {"name", "kind", "count", "file", "digest"}
    if {name: data.get(name) for name in known} != {x: getattr(stated, x) for x in known}:
        raise Malformed(
            f"it is of other statements than those of {sealing.file.name} as it is now: "
            "seal it again",
            str(path),
        )
    sealed, version = data.get("sealed"), data.get("coq")
    if not (isinstance(sealed, int) and 0 <= sealed <= stated.count) or not (
        isinstance(version, str) and _VERSION.fullmatch(version)
    ):
        raise Malformed("expected how many are 'sealed', and by which 'coq'", str(path))
    return replace(stated, sealed=sealed, coq=version)


def theorems(folder: Path, name: str) -> bytes:
    """A file of theorems in a folder of seals. Raises :class:`Malformed` where it is missing."""
    try:
        return content(folder / name, "the file", *_KIND)
    except Malformed as error:
        raise Malformed(error.faults, str(folder / name)) from None
