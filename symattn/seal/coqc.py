"""The verdicts of Coq's kernel on files of theorems.

A file goes to ``coqc`` as it is. Where that refuses it, each theorem is tried by itself, what does
not go through is stated without a proof, and the rest goes to ``coqc`` again: what counts as
proved was compiled whole.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from symattn.errors import EngineFailure
from symattn.seal.theorems import LIBRARY, File, Theorem, library

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
_VERSION = re.compile(r"version (\S+)")
#: What begins a line below "Axioms:" is the name of one; its type goes on in lines set in.
_AXIOM = re.compile(r"^(?!Axioms:)([^\s:]+)", re.MULTILINE)
#: What is said after each theorem.
_DONE = "this theorem was tried"


@dataclass(frozen=True)
class Checked:
    """What Coq said of a file: ``file`` has what it took, ``refused`` are the others, each with
    the reason; ``axioms`` are what all of it rests on."""

    file: File
    version: str
    seconds: float
    axioms: tuple[str, ...]
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is believed but the axioms of the real numbers."""
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
        found = _VERSION.search(said.stdout)
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
        """What Coq says of a file."""
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
        if isinstance(part, str) or part.proof is None:
            sentences.append(part if isinstance(part, str) else part.text())
        else:
            # There is a proof to abort in any case.
            sentences += [part.text(), "Goal True.", "Abort All."]
            sentences.append(f'Goal True. idtac "{_DONE}". Abort.')
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
