"""Seals: what Coq's kernel said of a file, kept beside it, and found again by who prints what it
is about.

Nothing in a folder of seals is believed that can be known: who shows a seal states the theorems
anew, and what lies there has to be that, byte for byte. That Coq took it, and which one, only the
folder says; ``symattn seal --check`` asks it again.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from symattn.errors import EngineFailure, Malformed, blamed_on
from symattn.escaping import json_text
from symattn.seal.theorems import LIBRARY, File, Theorem, library
from symattn.tables.file import content

# -- the verdicts of Coq's kernel on files of theorems -----------------------------------
# A file goes to ``coqc`` as it is. Where that refuses it, each theorem is tried by itself, what
# does not go through is stated without a proof, and the rest goes to ``coqc`` again: what counts
# as proved was compiled whole.

#: What a theorem may rest on: how Coq makes the real numbers, and classical logic.
AXIOMS = frozenset(
    {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "Classical_Prop.classic",
        "FunctionalExtensionality.functional_extensionality_dep",
    }
)
_PACKAGES = "Debian's packages coq, libcoq-interval and libcoq-coquelicot have it"
_PRINTED_VERSION = re.compile(r"version (\S+)")
#: What begins a line below "Axioms:" is the name of one; its type goes on in lines set in.
_AXIOM = re.compile(r"^(?!Axioms:)([^\s:]+)", re.MULTILINE)
#: What is said after each theorem.
_DONE = "this theorem was tried"


@dataclass(frozen=True)
class Checked:
    """The answer of Coq to a file: ``file`` has what it took, ``refused`` are the others, each with
    the reason; ``axioms`` are what all of it rests on."""

    file: File
    version: str
    seconds: float
    axioms: tuple[str, ...]
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_sound(self) -> bool:
        """Return whether nothing is believed but the axioms of the real numbers."""
        return AXIOMS.issuperset(self.axioms)


class Kernel:
    """Coq, with the library compiled. Close it, or use it in ``with``.

    Raises :class:`EngineFailure` where Coq, or what the library needs, is missing.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._program = _found("coqc")
        self._seconds = seconds
        self._room = tempfile.TemporaryDirectory(prefix="symattn-seal-")
        self.folder = Path(self._room.name)
        said = self._run(self._program, "--version")
        found = _PRINTED_VERSION.search(said.stdout)
        self.version = found[1] if found else "?"
        (self.folder / LIBRARY).write_text(library(), "utf-8")
        if (done := self._compile("Symattn")).returncode:
            self.close()
            raise EngineFailure(
                f"the library does not compile ({_PACKAGES}): {_reason(done.stdout)}"
            )

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove what was compiled."""
        self._room.cleanup()

    def check(self, file: File) -> Checked:
        """Return what Coq says of a file."""
        start = time.monotonic()
        refused: Mapping[str, str] = {}
        done = self._taken(file)
        if done.returncode:
            refused = self.refused(file)
            file = without_proofs(file, refused)
            done = self._taken(file)
        if done.returncode:
            raise EngineFailure(f"{file.name}: coqc failed: {_reason(done.stdout)}")
        axioms = tuple(sorted(set(_AXIOM.findall(done.stdout.partition("Axioms:")[2]))))
        return Checked(file, self.version, time.monotonic() - start, axioms, refused)

    def refused(self, file: File) -> Mapping[str, str]:
        """The theorems of a file whose proofs don't go through, each tried by itself, and why."""
        said = self._run(
            _found("coqtop"), "-q", "-w", "none", "-color", "no", text="\n".join(_tried(file))
        ).stdout
        tried = [x for x in file.theorems() if x.proof is not None]
        answers = said.split(_DONE)
        refused: dict[str, str] = {}
        for theorem, answer in zip(tried, answers, strict=False):
            # A step that fails may be one that the rest does without: coqc stops there.
            if "Error:" in answer or len(answers) <= len(tried):
                refused[theorem.name] = _reason(answer)
            elif missing := refused.keys() & set(re.findall(r"\w+", theorem.proof or "")):
                refused[theorem.name] = f"it rests on {min(missing)}, which is not proved"
        return refused

    def _taken(self, file: File) -> subprocess.CompletedProcess[str]:
        (self.folder / f"{file.module}.v").write_text(file.text(), "utf-8")
        return self._compile(file.module)

    def _compile(self, module: str) -> subprocess.CompletedProcess[str]:
        return self._run(self._program, "-q", "-w", "none", f"{module}.v")

    def _run(
        self, program: str, *arguments: str, text: str = ""
    ) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(  # noqa: S603 - Coq's own path and fixed arguments
                [program, *arguments],
                cwd=self.folder,
                input=text,
                stdout=subprocess.PIPE,
                # In the order in which it was said.
                stderr=subprocess.STDOUT,
                text=True,
                timeout=self._seconds,
                check=False,
            )
        except OSError as error:
            raise EngineFailure(f"{program} can't be run: {error.strerror or error}") from None
        except subprocess.TimeoutExpired:
            raise EngineFailure(f"coqc was stopped after {self._seconds:g} seconds") from None


def without_proofs(file: File, names: Mapping[str, str]) -> File:
    """A file with some of its theorems only stated."""
    parts = tuple(
        replace(part, proof=None) if isinstance(part, Theorem) and part.name in names else part
        for part in file.parts
    )
    return replace(file, parts=parts)


def _tried(file: File) -> list[str]:
    """Sentences that state and prove each theorem, and go on where one is refused."""
    sentences = [file.head()]
    for part in file.parts:
        sentences.append(part if isinstance(part, str) else part.text())
        if isinstance(part, Theorem) and part.proof is not None:
            # There is a proof to abort in any case.
            sentences += ["Goal True.", "Abort All.", f'Goal True. idtac "{_DONE}". Abort.']
    return sentences


def _found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise EngineFailure(f"{program} is not installed: {_PACKAGES}")
    return path


def _reason(said: str) -> str:
    """The first error in what Coq said."""
    found = re.search(
        r"Error:\s*(.*?)(?=\n\d+ goals?\n|\n\w+ < |\nToplevel input|\Z)", said, re.DOTALL
    )
    return " ".join((found[1] if found else said).split())[:300] or "it gave no reason"


# -- seals -------------------------------------------------------------------------------

FORMAT = "symattn seal 2"
SUFFIX = ".seal.json"
_VERSION = re.compile(r"[\w.+~-]{1,30}")
_AGAIN = "symattn seal NAME --check -o DIR makes one"
#: How much of a line is told that is another than expected.
_SHOWN = 60


@dataclass(frozen=True)
class Unsealed:
    """A figure or line without a theorem, or with one that is not proved, and why."""

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
        """Return how many figures or lines there are."""
        return len(self.file.sealing()) + len(self.unsealed)


@dataclass(frozen=True)
class Seal:
    """The seal of a walkthrough or a derivation: how many of its figures or lines, and how many
    hold by definition besides; by which version of Coq, in which file with which text, and
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
    """The seal of what was checked: nothing that rests on more than the reals' axioms is sealed."""
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
    with blamed_on(path):
        return content(path, "the file", "seal", _AGAIN)
