"""Meanings that a name of which nothing is known may have, by the names that are known.

A name is the writer's own only if it is not made of what has a meaning: ``A12`` is an entry
where A is known, ``dCE_dz`` a derivative where z is.

>>> names = Names({"z": 1, "A": 2, "L": 0})
>>> [*map(str, readings("A12", names))], [*map(str, readings("dCE_dz", names))]
(['an entry of A'], ['the gradient in z'])
>>> [*readings("h_new", names)]
[]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from symattn.calculus.names import Names
from symattn.calculus.notation import functions

LOSSES = ("L", "J", "loss", "Loss", "cost", "Cost", "ell")
"""Names that a number has which is a loss."""
#: Functions that are known by these names, and have no others here.
_FUNCTIONS = ("tr", "ln", "det", "rank", "dim", "len", "E", "Var", "var", "Cov", "cov")
#: Signs of derivatives, those that hardly mean anything else first.
_SURELY = ("grad", "nabla", "partial", "ddot", "dot")
_SIGNS = (*_SURELY, "delta", "bar", "jac", "hess", *"dDgGJH")
#: What parts of a name make: ``k`` known, ``o`` a sign, ``i`` an index, ``f`` a function, ``t`` a
#: transposition, ``w`` a word.
_ENTRY = re.compile(r"k(?:_*i)+_*")
_QUOTIENT = re.compile(r"o_?i?_?[kw][_i]*o_?i?_?k[_i]*")
_SIGNED = re.compile(r"o_?i?_?k{1,2}[_i]*")
_MARKED = re.compile(r"k_?o")
_APPLIED = re.compile(r"f_?k[_i]*|k_f|k_?t_?k")
_LOWERED = re.compile(r"k(?:_k+)+")
#: Characters of a name, and ways to take it apart, that are looked at.
_LONGEST, _MOST = 60, 40


@dataclass(frozen=True)
class Reading:
    """A meaning that a name may have: an entry or a multiple of a known one, or the gradient in it;
    whether it can hardly be another's, and whether the name is that up to capitals only."""

    kind: str
    of: str
    surely: bool = False
    exactly: bool = True

    def __str__(self) -> str:
        return f"{self.kind} {self.of}"


def readings(name: str, names: Names) -> Iterator[Reading]:
    """All that a name may be by what is known."""
    for path in _paths(name, names):
        kinds = "".join(kind for kind, _ in path)
        known = [part for kind, part in path if kind == "k"]
        signs = [part for kind, part in path if kind == "o"]
        if _ENTRY.fullmatch(kinds):
            yield from _entries(path, names.axes.get(known[0], 0))
            continue
        if _APPLIED.fullmatch(kinds) or kinds == "kt":
            kind = "the transpose of" if kinds == "kt" else "a form of"
            yield Reading(kind, known[0])
            continue
        is_first_number = bool(known) and names.axes.get(known[0]) == 0
        if _MARKED.fullmatch(kinds):
            if signs[0] in (*_SURELY, "bar"):
                is_surely = signs[0] != "bar"
                yield Reading("the gradient in", known[0], is_surely, is_surely)
        elif (
            _QUOTIENT.fullmatch(kinds)
            or (_SIGNED.fullmatch(kinds) and (len(known) == 1 or is_first_number))
            or (_LOWERED.fullmatch(kinds) and is_first_number)
        ):
            surely = len(signs) > 1 or signs[:1] in (["grad"], ["nabla"])
            yield Reading("the gradient in", known[-1], surely, known[-1] in name)


def _entries(path: tuple[tuple[str, str], ...], axes: int) -> Iterator[Reading]:
    """An array with its indices behind it, or a number with a factor."""
    (_, of), *rest = path
    parts = [part for kind, part in rest if kind == "i" and part != "prime"]
    groups = "".join(kind for kind, part in rest if part != "prime").strip("_").split("_")
    is_glued = rest[0][0] == "i"
    if not axes:
        if is_glued and all(part.isdigit() for part in parts):
            yield Reading("a multiple or a power of", of)
    elif is_glued:
        if all(part.isdigit() for part in parts) or (
            len(parts) == axes and all(part in "ijklmn" or part.isdigit() for part in parts)
        ):
            yield Reading("an entry of", of)
    elif len(parts) == axes or all(len(group) == 1 for group in groups):
        yield Reading("an entry of", of)


def _paths(name: str, names: Names) -> list[tuple[tuple[str, str], ...]]:
    """The ways to take a name apart into parts that mean something."""
    if len(name) > _LONGEST:
        return []
    reached: list[list[tuple[tuple[str, str], ...]]] = [[] for _ in range(len(name) + 1)]
    reached[0].append(())
    for at in range(len(name)):
        for path in reached[at][:_MOST]:
            for kind, part, end in _parts(name, at, path, names):
                reached[end].append((*path, (kind, part)))
    return reached[-1][:_MOST]


def _parts(
    name: str, at: int, path: tuple[tuple[str, str], ...], names: Names
) -> Iterator[tuple[str, str, int]]:
    """Yield what may begin at a place of a name, behind these parts, and where it ends."""
    before = path[-1][0] if path else ""
    if name[at] == "_":
        if path and before != "_":
            yield "_", "_", at + 1
        return
    is_signed = any(kind == "o" for kind, _ in path)
    for end in range(at + 1, len(name) + 1):
        part = name[at:end]
        if known := names.known(part):
            yield "k", known, end
        elif is_signed:
            for other in names.known_up_to_capitals(part):
                yield "k", other, end
        if part in functions() or part in _FUNCTIONS:
            yield "f", part, end
        if part in _SIGNS:
            yield "o", part, end
        if (
            part == "prime"
            or part in names.sizes
            or (part.isdigit() and not name[end : end + 1].isdigit())
        ):
            yield "i", part, end
        if path == (("o", "d"),) and (
            name[end : end + 2] == "_d" or (part in LOSSES and name[end : end + 1] == "d")
        ):
            yield "w", part, end
    if path and name[at] == "T":
        yield "t", "T", at + 1
    if path and name[at].isalpha():
        yield "i", name[at], at + 1
