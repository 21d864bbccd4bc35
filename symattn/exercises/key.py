"""The key of an exercise: one file with the numbers and right answers of all its versions.

It is a case's steps, what is asked, and for each version what is given; who marks needs nothing
besides. The answers in it are for people to read: what reads the file works them out again.

Whole numbers drawn by a seed: the same on every machine, whatever runs there.

The words are those of SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, *Fast
splittable pseudorandom number generators*, OOPSLA 2014), which is arithmetic on
64-bit integers and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from symattn.cases.case import Case, make, with_numbers
from symattn.cases.settings import LEVELS, MOST_ANSWER_PLACES, MOST_POINTS
from symattn.errors import Fault, Faults, Malformed, blamed_on, expected, short
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.marking.collecting import DEFAULT
from symattn.expressions.shapes import nested, show
from symattn.solution.template import steps
from symattn.tables.file import content, parsed, text, written
from symattn.tables.places import kind, misfits, table, unknown

#: What a key file says that it is: the number of its form.
_FORM = 1
#: What the key is called in the folder of its exercises.
FILE = "key.toml"

_KEYS: Mapping[str, type] = {
    "key": int,
    **dict.fromkeys(("name", "title", "level", "rounding"), str),
    "seed": int,
    "count_from": int,
    **dict.fromkeys(("tokens", "parts", "versions"), list),
    **dict.fromkeys(("steps", "functions", "loss", "scheme"), dict),
}
_PART_KEYS: Mapping[str, type] = {"quantity": str, "points": int, "places": int, "shape": list}
_VERSION_KEYS: Mapping[str, type] = {
    "version": int, "given": dict, "upstream": list, "answers": dict,
}  # fmt: skip
_NEEDED = {
    "": ("key", "name", "level", "seed", "steps", "parts", "versions"),
    "parts": ("quantity", "points", "places"),
    "versions": ("version", "given"),
}
_KIND = ("key of an exercise", "symattn exercise writes one, key.toml")


def key(exercises: Sequence[Exercise]) -> str:
    """The key file of the versions of one exercise.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> made = key([exercise(load("cat-sat-mat"))])
    >>> print(made[made.index("[versions.answers]") :].partition("]")[0])
    [versions.answers
    """
    return "\n".join(_lines(exercises))


def _lines(exercises: Sequence[Exercise]) -> Iterator[str]:
    first = exercises[0]
    case = first.case
    yield "# The answer key of an exercise, for 'symattn mark'."
    yield "# The answers are for people to read: 'symattn mark' computes them again."
    yield f"key = {_FORM}"
    yield f"name = {text(case.name)}"
    yield f"title = {text(first.title)}"
    yield f"level = {text(first.level)}"
    yield f"seed = {first.seed}"
    if case.tokens:
        yield f"tokens = {written(case.tokens)}"
    yield f"rounding = {text(case.rounding)}"
    if first.first:
        yield f"count_from = {first.first}"
    yield from steps(case)
    if case.states_loss:
        yield from ("", "[loss]", f"output = {text(case.output)}", f"wrt = {written(case.wrt)}")
    for part in first.parts:
        yield from ("", "[[parts]]", f"quantity = {text(part.quantity)}")
        yield from (f"points = {part.points}", f"places = {part.places}")
        if not first.is_proof:
            yield f"shape = {written(first.shape(part))}"
    for exercise in exercises:
        yield from _version(exercise)
    if not first.is_proof:
        yield ""
        yield "# The share of its points that an answer gets which is not right; change it here."
        yield from ("[scheme]", *(f"{name} = {text(of)}" for name, of in DEFAULT.table.items()))
    yield ""


def _version(exercise: Exercise) -> Iterator[str]:
    case = exercise.case
    yield from ("", "[[versions]]", f"version = {exercise.version}")
    if case.raw_upstream is not None:
        yield f"upstream = {written(case.raw_upstream)}"
    yield from ("", "[versions.given]")
    for name, data in case.raw.items():
        yield f"{name} = {written(data)}"
    if not exercise.is_proof:
        yield from ("", "[versions.answers]")
        for part in exercise.parts:
            right = nested(exercise.shape(part), exercise.right(part))
            yield f"{text(part.quantity)} = {written(right)}"


def read_key(path: Path) -> tuple[Exercise, ...]:
    """The exercises of the key file at ``path``, one for each version.

    Raises :class:`Malformed` with every fault of the file, each with its line.
    """
    with blamed_on(path):
        return read(path, content(path, "the file", *_KIND))


def read(path: Path, content: bytes) -> tuple[Exercise, ...]:
    """The exercises of what a key file at ``path`` holds; see :func:`read_key`."""
    file = parsed(path, content)
    faults = Faults()
    try:
        return _read(file.document, faults)
    except Malformed as error:
        raise file.malformed(Faults(error.faults)) from None


def _read(document: Mapping[str, Any], faults: Faults) -> tuple[Exercise, ...]:
    if document.get("key", _FORM) != _FORM:
        message = f"expected {_FORM}, found {short(str(document['key']))}: another symattn wrote it"
        raise Malformed(Fault("key", message))
    whole = _checked(document, _KEYS, _NEEDED[""], faults)
    if whole.get("level", LEVELS[0]) not in LEVELS:
        level = whole.pop("level")
        faults.append(Fault("level", f"unknown level {short(level)!r}: {expected(level, LEVELS)}"))
    parts = _entries(whole, "parts", _PART_KEYS, faults)
    versions = _entries(whole, "versions", _VERSION_KEYS, faults)
    faults.raise_all()
    cases = _cases(whole, versions, faults)
    faults.raise_all()
    asked = tuple(_parts(parts, cases[0], whole["level"], faults))
    faults.raise_all()
    return tuple(
        Exercise(case, whole["level"], asked, whole["seed"], version["version"])
        for case, version in zip(cases, versions, strict=True)
    )


def _checked(
    entry: Mapping[str, Any], kinds: Mapping[str, type], needed: Sequence[str], faults: Faults
) -> dict[str, Any]:
    """Return what of a table is of the kinds that it should be."""
    faults += unknown(entry, kinds)
    wrong = misfits(entry, kinds)
    wrong += [
        Fault(name, "expected a whole number, found true or false")
        for name, of in kinds.items()
        if of is int and isinstance(entry.get(name), bool)
    ]
    faults += wrong
    faults += [Fault(name, "missing") for name in needed if name not in entry]
    bad = {fault.where for fault in wrong}
    return {name: value for name, value in entry.items() if name in kinds and name not in bad}


def _entries(
    whole: Mapping[str, Any], name: str, kinds: Mapping[str, type], faults: Faults
) -> list[dict[str, Any]]:
    entries = whole.get(name, [])
    if not entries and name in whole:
        faults.append(Fault(name, "expected at least one, found none"))
    tables = []
    for place, entry in enumerate(entries):
        inside = Faults()
        with faults.inside(f"{name}[{place}]"):
            tables.append(_checked(table(entry), kinds, _NEEDED[name], inside))
            inside.raise_all()
    return tables


def _cases(
    whole: Mapping[str, Any], versions: Sequence[Mapping[str, Any]], faults: Faults
) -> list[Case]:
    """The case of every version; all have the program of the first."""
    first = versions[0]
    loss = dict(whole.get("loss", {}))
    if "upstream" in first:
        loss["upstream"] = first["upstream"]
    try:
        base = make(
            whole["name"],
            first["given"],
            whole["steps"],
            loss if "loss" in whole else None,
            tokens=whole.get("tokens", ()),
            title=whole.get("title", ""),
            rounding=whole.get("rounding", "half-even"),
            functions=whole.get("functions", {}),
        )
    except Malformed as error:
        moved = [replace(fault, where=_moved(fault.where)) for fault in error.faults]
        raise Malformed(moved, more=error.more) from None
    if whole.get("count_from"):
        base = replace(base, sheet={"count_from": 1})
    cases = [base]
    seen = {first["version"]}
    for place, version in enumerate(versions[1:], 1):
        with faults.inside(f"versions[{place}]"):
            if version["version"] in seen:
                message = f"two versions have the number {version['version']}"
                raise Malformed(Fault("version", message))
            seen.add(version["version"])
            missing = [name for name in base.given if name not in version["given"]]
            Faults(Fault(f"given.{name}", "missing") for name in missing).raise_all()
            cases.append(with_numbers(base, version["given"], version.get("upstream")))
    return cases


def _moved(where: str) -> str:
    """Return where a fault of the first version's case stands in the key."""
    if where.startswith("loss.upstream"):
        return f"versions[0].{where.removeprefix('loss.')}"
    return f"versions[0].{where}" if where.startswith("given") else where


def _parts(
    entries: Sequence[Mapping[str, Any]], case: Case, level: str, faults: Faults
) -> Iterator[Part]:
    from symattn.calculus import library

    known = library.names() if level == "proof" else [*case.program.named]
    limits = {"points": (1, MOST_POINTS), "places": (0, MOST_ANSWER_PLACES)}
    for place, entry in enumerate(entries):
        with faults.inside(f"parts[{place}]"):
            wrong = Faults(
                Fault(name, f"expected {least} to {most}, found {entry[name]}")
                for name, (least, most) in limits.items()
                if not least <= entry[name] <= most
            )
            name = entry["quantity"]
            if name not in known:
                message = f"unknown name {short(name)!r}: {expected(name, known)}"
                wrong.append(Fault("quantity", message))
            elif level != "proof" and "shape" in entry:
                wrong += _shape_faults(entry["shape"], case, name)
            wrong.raise_all()
            yield Part(name, entry["points"], entry["places"])


def _shape_faults(shape: Sequence[object], case: Case, name: str) -> Iterator[Fault]:
    own = case.program.named[name].shape
    if list(shape) != list(own):
        listed = ", ".join(str(x) if type(x) is int else kind(x) for x in shape[:4])
        yield Fault("shape", f"{name} is {show(own)}, found [{listed}]")


Integers = npt.NDArray[np.int64]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_MASK = (1 << 64) - 1


class Draws:
    """Draws numbers, each call the next ones.

    >>> [hex(word) for word in Draws(0).words(2).tolist()]
    ['0xe220a8397b1dcdaf', '0x6e789e6aa1b965f4']
    >>> Draws(7).below(6, (2, 4)).tolist()
    [[2, 0, 5, 3], [2, 1, 2, 1]]
    """

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """The next words of 64 bits."""
        with np.errstate(over="ignore"):
            steps = np.arange(1, count + 1, dtype=np.uint64)
            z = np.uint64(self._state) + steps * _GAMMA
            self._state = (self._state + count * int(_GAMMA)) & _MASK
            z = (z ^ (z >> np.uint64(30))) * _FIRST
            z = (z ^ (z >> np.uint64(27))) * _SECOND
            return np.asarray(z ^ (z >> np.uint64(31)))

    def below(self, bound: int, shape: tuple[int, ...]) -> Integers:
        """Whole numbers from 0 on below a bound of at most 32 bits."""
        high = self.words(int(np.prod(shape))) >> np.uint64(32)
        drawn = (high * np.uint64(bound)) >> np.uint64(32)
        return drawn.astype(np.int64).reshape(shape)
