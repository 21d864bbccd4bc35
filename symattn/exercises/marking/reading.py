"""Reading what students answered: a table in CSV, or TOML or JSON.

A fault is told with its place and costs nobody else anything: who can be marked is
marked.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from symattn.errors import Faults, Malformed, blamed_on
from symattn.exercises.exercise import Exercise
from symattn.exercises.marking.collecting import Answers, Collector
from symattn.exercises.marking.columns import read_table
from symattn.exercises.marking.points import Scheme, read_scheme
from symattn.exercises.marking.trees import Positions, parsed_json, read_tree
from symattn.tables.file import content, parsed

_KIND = ("file of answers", "symattn mark --help shows one")


def read_answers(path: Path, exercises: Iterable[Exercise]) -> Answers:
    """The scripts in a ``.csv``, ``.toml`` or ``.json`` file, for the versions of an exercise.

    Raises :class:`Malformed` where the file can't be read, or is no such table.
    """
    with blamed_on(path):
        data = content(path, "the file", *_KIND)
        collector = Collector({exercise.version: exercise for exercise in exercises})
        match path.suffix.lower():
            case ".csv" | ".tsv":
                read_table(_text(data), collector)
            case ".toml":
                file = parsed(path, data)
                read_tree(file.document, collector, lambda where: file.places.at(*where))
            case ".json":
                text = _text(data)
                read_tree(parsed_json(text), collector, Positions(text).at)
            case suffix:
                ending = f"found {suffix}" if suffix else "found a name without an ending"
                raise Malformed(f"expected a .csv, .toml or .json file, {ending}")
        return collector.answers()


def scheme_of(path: Path) -> Scheme:
    """The ``[scheme]`` of a key file; where it has none, the one by default.

    Raises :class:`Malformed` with every fault.
    """
    file = parsed(path, content(path, "the file", "key of an exercise", "symattn exercise writes"))
    try:
        return read_scheme(file.document.get("scheme", {}))
    except Malformed as error:
        raise file.malformed(Faults(fault.inside("scheme") for fault in error.faults)) from None


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text: byte {error.start} can't be read"
        raise Malformed(f"{message}; save it as 'CSV UTF-8'") from None
