"""Exercise pages that check themselves: what their script is given.

A page holds the given numbers, the steps and the slips of the catalogue as data; its script
(in the folder ``scripts``) computes from them what is right, and what follows from a
student's own answers. No answer is in the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symattn.errors import Malformed
from symattn.exercises.exercise import Exercise
from symattn.exercises.faults import inputs, suspects
from symattn.exercises.marking.follow_through import FollowThrough
from symattn.exercises.marking.naming import WEIGHING, SlipSearch
from symattn.languages.language import Language
from symattn.numbers import rounding
from symattn.numbers.rationals import MINUS_INFINITY
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.printers.blocks import PageScript
from symattn.programs.nodes import Node, ancestors, sums_to_zero, weights_of_mean
from symattn.slips.catalogue import KINDS

#: Digits of a given number that is no fraction: the script computes with no more.
_DIGITS = 100
_HERE = Path(__file__).parent
#: The scripts of a page, one after the other.
_SCRIPTS = ("balls.js", "judging.js", "page.js")
#: The operations that hold numbers.
_NUMBERS = ("given", "constant", "table")


def page_script(exercise: Exercise, say: Language) -> PageScript:
    """Return what makes the page of a question check its answers.

    Raises :class:`Malformed` for proofs, and where a step can't be enclosed.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> from symattn.languages.language import ENGLISH
    >>> made = page_script(exercise(load("cat-sat-mat")), ENGLISH).data
    >>> made["parts"][2]["of"], made["slips"][made["parts"][1]["slips"][0][0]][-1]
    ('A', 'Without the division by sqrt(d_k)?')
    """
    if exercise.is_proof:
        raise Malformed("a proof has no figures to check: --interactive needs another level")
    program = exercise.case.program
    targets = [program.named[part.quantity] for part in exercise.parts]
    # A page has a hundred places, and needs two of them to round.
    following = FollowThrough(exercise.solution, _DIGITS - 2)
    for part in exercise.parts:
        rows = following.computed(part.quantity)
        if not all(x is None or x.is_finite() for row in rows for x in row):
            raise Malformed(f"{part.quantity} can't be computed by a page: use 'symattn mark'")
    of_parts, slips = SlipSearch(exercise).of_parts, suspects(exercise)
    instead = [node for fault in slips for node in fault.instead.values()]
    numbers = {fault: number for number, fault in enumerate(slips)}
    nodes = ancestors([*targets, *instead])
    places = {node.serial: place for place, node in enumerate(nodes)}
    keys: dict[object, int] = {}
    data = {
        "name": exercise.name,
        "version": exercise.version,
        "first": exercise.first,
        "nodes": [_node(node, exercise, places) for node in nodes],
        "parts": [
            {
                "of": part.quantity,
                "node": places[node.serial],
                "places": part.places,
                "labels": exercise.labels(part),
                "slips": [(numbers[fault], cost) for fault, cost in of_parts[part.quantity]],
            }
            for part, node in zip(exercise.parts, targets, strict=True)
        ],
        "slips": [
            [
                keys.setdefault(fault.key, len(keys)),
                int(KINDS[fault.kind].by_hand) + (fault.pieces is not None),
                int(fault.kind == "rounded"),
                [[places[x], places[node.serial]] for x, node in fault.instead.items()],
                (say.again(fault.phrase) if fault.pieces is None else fault.text(say)) + "?",
            ]
            for fault in slips
        ],
        "weighing": WEIGHING._asdict(),
        "words": dict(_words(say)),
    }
    code = "".join((_HERE / "scripts" / name).read_text("utf-8") for name in _SCRIPTS)
    return PageScript(code, data)


def _node(node: Node, exercise: Exercise, places: dict[int, int]) -> list[Any]:
    """A node: its operation, its operands, the rows and columns of its grid, and what else it
    needs."""
    operation: str = node.op
    more: Any = None
    operands = [places[x.serial] for x in node.operands]
    if node.op in _NUMBERS:
        operation, more = "table", [[*map(_number, row)] for row in _rows(node, exercise)]
    elif node.op == "matmul" and sums_to_zero(node.operands[0]):
        more = "cancels"
    elif node.op in ("pick", "scatter"):
        more = [[*axis] for axis in node.extra]
    elif node.op == "multiply":
        more = node.extra
    elif (weights := weights_of_mean(node)) is not None:
        operands.append(places[weights.serial])
    return [operation, operands, *node.grid, *([] if more is None else [more])]


def _rows(node: Node, exercise: Exercise) -> Any:
    if node.op == "given":
        return inputs(exercise.case)[node.extra]
    return node.extra if node.op == "table" else [[node.extra]]


def _number(entry: Value | Masked) -> str:
    """A number as text: a whole one, a fraction, or digits of what is neither."""
    if isinstance(entry, Masked):
        return MINUS_INFINITY
    number = entry.rational()
    return str(number) if number is not None else f"{rounding.decimal(entry, _DIGITS):f}"


def _words(say: Language) -> Iterator[tuple[str, str]]:
    """Yield what the page says, by what that is."""
    fields = {name: f"{{{name}}}" for name in ("quantity", "i", "j", "right", "count", "places")}
    yield "right", say.text("Right.")
    yield "early", say.text("Rounded too early: keep more places until the end.")
    yield "fewer", say.text("Right so far, but {places} places were asked for.", **fields)
    yield "follows", say.text("Agrees with your earlier answers: the method is right.")
    yield "again", say.text("Comes of the same mistake, which counts once.")
    yield "wrong", say.text("Not right.")
    yield "unread", say.text("This is not a number.")
    yield "blank", ""
    yield "label", say.text("{quantity}, row {i}, column {j}", **fields)
    yield "count", say.text("{right} of {count} answers are right.", **fields)
    yield "name", say.text("Your name")
    yield "download", say.text("Download the answers")
    yield "clear", say.text("Clear all answers")
