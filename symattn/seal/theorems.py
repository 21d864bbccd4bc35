"""Files of theorems: what is stated, how it is proved, and what it seals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import count

from symattn.spelling import words

LIBRARY = "Symattn.v"
HEAD = """\
From Coq Require Import Reals Lra Lia Arith List.
From Coquelicot Require Import Coquelicot.
Require Import Symattn.
Import ListNotations.
Open Scope R_scope."""

#: What holds all proofs of a file, so that its axioms are those of each.
ALL = "all_of_it"

#: Words of Coq's that files are written with, and what tactics call a hypothesis: a tactic that
#: is given a term with an H of its own takes that for it.
_COQ = words(
    "as at cofix else end exists exists2 fix for forall fun if in let match mod return then using "
    "where with by of IF Prop SProp Set Type R nat bool list true false nil tt eq_refl "
    "IZR INR PI exp ln sqrt sin cos tanh Rabs Rmax Rpower Nat ltac constr "
    "Derive is_derive ex_derive is_lim p_infty m_infty Rlt_not_le Rgt_not_eq Rlt_not_eq H"
)
_DECLARED = re.compile(
    r"^\s*(?:Lemma|Definition|Fixpoint|Ltac|with|Module|Create HintDb|#\[local\] Opaque|"
    r"Tactic Notation) \"?([A-Za-z_][\w']*)",
    re.MULTILINE,
)


@cache
def library() -> str:
    """The library that every file rests on."""
    return resources.files("symattn.seal").joinpath(LIBRARY).read_text("utf-8")


class Names:
    """The names of a file. None is taken twice, with those that are made of it by ``endings``;
    none is a word that files are written with, be it Coq's or the library's."""

    def __init__(self, endings: Iterable[str] = ()) -> None:
        self._endings = ("", *endings)
        self._taken = {*_COQ, ALL, "Symattn", "Lines", *_DECLARED.findall(library())}

    def fresh(self, wanted: str) -> str:
        """A name that nothing else has, taken from now on: as wanted, or numbered.

        >>> names = Names()
        >>> [names.fresh("A"), names.fresh("A"), names.fresh("R"), names.fresh("a.b")]
        ['A', 'A_1', 'R_1', 'a_b']
        """
        plain = re.sub(r"[^\w']", "_", wanted)
        for number in count():
            name = f"{plain}_{number}" if number else plain
            family = {name + ending for ending in self._endings}
            if not family & self._taken:
                self._taken |= family
                return name
        raise AssertionError

    def give_back(self, names: Iterable[str]) -> None:
        """Let names be taken again that were bound for a while."""
        self._taken -= {name + ending for name in names for ending in self._endings}


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
        """Return what Coq calls it: its name in letters that a module may have.

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
        """Return what stands before its definitions."""
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
