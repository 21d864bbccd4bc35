"""Files of theorems: what is stated, how it is proved, and what it seals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

HEAD = """\
From Coq Require Import Reals Lra Lia Arith List.
From Coquelicot Require Import Coquelicot.
Require Import Symattn.
Import ListNotations.
Open Scope R_scope."""

#: What holds all proofs of a file, so that its axioms are those of each.
ALL = "all_of_it"


@dataclass(frozen=True)
class Theorem:
    """A theorem: its statement and the tactics of its proof, None where there is none.
    ``seals`` is the figure or line that it states as its readers know it, with its place;
    empty for a lemma that others use.

    >>> print(Theorem("one", "1 = 1", "reflexivity.", "line 1").text())
    (** line 1 *)
    Theorem one : 1 = 1.
    Proof. reflexivity. Qed.
    """

    name: str
    statement: str
    proof: str | None
    seals: str = ""

    def text(self) -> str:
        """The theorem in Coq; what is only stated is a definition of what it says."""
        comment = f"(** {harmless(self.seals)} *)\n" if self.seals else ""
        if self.proof is None:
            return f"{comment}Definition {self.name} : Prop := {self.statement}."
        kind = "Theorem" if self.seals else "Lemma"
        return f"{comment}{kind} {self.name} : {self.statement}.\nProof. {self.proof} Qed."


@dataclass(frozen=True)
class File:
    """A file of theorems, with the definitions and comments between them, in order."""

    name: str
    title: str
    parts: tuple[str | Theorem, ...]

    @property
    def module(self) -> str:
        """What Coq calls it: its name in letters that a module may have.

        >>> File("3-tokens.md", "", ()).module
        'seal_3_tokens_md'
        """
        name = re.sub(r"[^A-Za-z0-9_]+", "_", self.name).strip("_") or "seal"
        return name if name[0].isalpha() and name != "Symattn" else f"seal_{name}"

    def theorems(self) -> Iterator[Theorem]:
        """Its theorems and lemmas."""
        return (part for part in self.parts if isinstance(part, Theorem))

    def sealing(self) -> list[Theorem]:
        """The theorems that state a figure or a line."""
        return [theorem for theorem in self.theorems() if theorem.seals]

    def head(self) -> str:
        """What stands before its definitions."""
        return f"(** * {harmless(self.title)} *)\n\n{HEAD}"

    def text(self) -> str:
        """The file as Coq reads it. In the end it prints what all proofs rest on."""
        parts = (part if isinstance(part, str) else part.text() for part in self.parts)
        proved = [x.name for x in self.theorems() if x.proof is not None]
        # One after the other: of a tuple of all, Coq writes the type at each.
        listed = "".join(f"\n  let _ := {name} in" for name in proved)
        tail = f"(** What all of it rests on. *)\nDefinition {ALL} :={listed} tt.\n"
        tail += f"Print Assumptions {ALL}."
        return "\n\n".join((self.head(), *parts, tail)) + "\n"


def harmless(text: str) -> str:
    """Text that ends no comment of Coq's, and begins neither one nor a string.

    >>> harmless('a (* "b" *)')
    "a ( * 'b' * )"
    """
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")
