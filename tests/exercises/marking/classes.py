"""A simulated class: students who make one slip wherever its step occurs, and go on from there.

Slips are made in the text of steps, by rules of this module's own, and their figures come of
solving the other steps: nothing here asks the catalogue that is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from random import Random
from typing import Any, NamedTuple

from symattn.cases import library
from symattn.cases.case import Case, make
from symattn.errors import Malformed, SymattnError
from symattn.exercises.exercise import Exercise, exercise
from symattn.exercises.marking.collecting import Blank, Script, read_answer
from symattn.expressions import syntax
from symattn.expressions.syntax import Binary, Call, Name, Negative, Transposed, Tree
from symattn.numbers.reading import MASKED
from symattn.solution.solution import Solution

Slip = Callable[[Tree], "Tree | None"]


def _is_number(tree: Tree, numbers: set[str]) -> bool:
    match tree:
        case syntax.Literal():
            return True
        case Name(name):
            return name in numbers
        case Call("sqrt", (operand,)):
            return _is_number(operand, numbers)
    return False


def slips(numbers: set[str]) -> Mapping[str, Slip]:
    """The twelve commonest slips: what each makes of an operation, None where it does nothing.

    ``numbers`` are what is no matrix.
    """
    return {
        kind: lambda tree, kind=kind: _slip(kind, tree, numbers)  # type: ignore[misc]
        for kind in KINDS
    }


#: The twelve commonest slips, by the names that the catalogue has for them.
KINDS = (
    "scale-dropped", "scale-not-rooted", "mask-forgotten", "mask-transposed", "mask-as-zero",
    "softmax-columns", "not-normalised", "transposed", "product-swapped", "term-dropped",
    "term-sign", "sign-flipped",
)  # fmt: skip


def _slip(kind: str, tree: Tree, numbers: set[str]) -> Tree | None:
    match kind, tree:
        case "scale-dropped", Binary("/" | "*", x, s) if _is_number(s, numbers):
            return None if _is_number(x, numbers) else x
        case "scale-not-rooted", Binary("/", x, Call("sqrt", (s,))) if _is_number(s, numbers):
            return Binary("/", x, s)
        case "mask-forgotten", Call("causal" | "mask", (x, *_)):
            return x
        case "mask-transposed", Call("causal", (x,)):
            return Transposed(Call("causal", (Transposed(x),)))
        case "mask-transposed", Call("mask", (x, Name() as keep)):
            return Call("mask", (x, Transposed(keep)))
        case "mask-as-zero", Call("mask", (x, keep)):
            return Binary("*", x, keep)
        case "softmax-columns", Call("softmax", (x,), ()):
            return Transposed(Call("softmax", (Transposed(x),)))
        case "not-normalised", Call("softmax", (x,), ()):
            return Call("exp", (x,))
        case "transposed", Binary("@", x, Transposed(y)):
            return Binary("@", x, y)
        case "transposed", Binary("@", Transposed(x), y):
            return Binary("@", x, y)
        case "product-swapped", Binary("@", x, y):
            return Binary("@", y, x)
        case "term-dropped", Binary("+" | "-", x, _):
            return x
        case "term-sign", Binary("-", x, y):
            return Binary("+", x, y)
        case "sign-flipped", Binary("@"):
            return Negative(tree)
    return None


def slipped(steps: Mapping[str, str], slip: Slip) -> dict[str, str]:
    """The steps with a slip wherever the first operation that it changes occurs.

    An operation is the same one in every head: steps that differ in names alone.
    """
    first: object = None
    changed = {}
    for name, text in steps.items():
        tree = syntax.parse(text)
        instead = _anywhere(tree, slip)
        form = _form(tree)
        if instead is not None and first in (None, form):
            first = form
            changed[name] = syntax.text(instead)
    return changed


def _anywhere(tree: Tree, slip: Slip) -> Tree | None:
    """A step with a slip in the first part that it changes."""
    if (instead := slip(tree)) is not None:
        return instead
    for part in syntax.inside(tree):
        if (instead := _anywhere(part, slip)) is not None:
            return syntax.mapped(tree, partial(_put, part, instead))
    return None


def _put(part: Tree, instead: Tree, each: Tree) -> Tree:
    return instead if each is part else each


def _form(tree: Tree) -> object:
    """A step without the names of its matrices."""
    match tree:
        case Name():
            return ""
        case Call("sqrt"):
            return syntax.text(tree)
    inside = tuple(map(_form, syntax.inside(tree)))
    return type(tree).__name__, getattr(tree, "op", getattr(tree, "function", "")), inside


class Student(NamedTuple):
    """A student's case, exercise, slip and script."""

    name: str
    asked: Exercise
    kind: str
    script: Script


def heads(count: int, draw: Random) -> Case:
    """Attention in so many heads, with numbers drawn at random."""
    n, d = draw.randint(2, 4), draw.randint(2, 4)

    def rows() -> list[list[int]]:
        return [[draw.randint(-2, 3) for _ in range(d)] for _ in range(n)]

    steps = {"S": "Q{k} @ K{k}.T", "T": "S{k} / sqrt(d_k)"}
    if is_masked := draw.random() < 0.5:
        steps["M"] = draw.choice(["causal(T{k})", "mask(T{k}, P)"])
    steps |= {"A": "softmax(M{k})" if is_masked else "softmax(T{k})", "Y": "A{k} @ V{k}"}
    if draw.random() < 0.5:
        steps["R"] = draw.choice(["Y{k} + Q{k}", "Y{k} - Q{k}"])
    given: dict[str, Any] = {f"{name}{k}": rows() for k in range(count) for name in "QKV"}
    given |= {"d_k": d}
    if "P" in steps.get("M", ""):
        given["P"] = [[int(j <= i or j == 0) for j in range(n)] for i in range(n)]
    return make(
        f"heads-{count}",
        given,
        {f"{name}{k}": text.format(k=k) for k in range(count) for name, text in steps.items()},
    )


def cases(draw: Random) -> Iterator[Case]:
    """All bundled cases, and twenty drawn at random, of one, two and four heads."""
    yield from map(library.load, library.names())
    for k in range(20):
        yield heads((1, 2, 4)[k % 3], draw)


def students(count: int, seed: int) -> Iterator[Student]:
    """So many students, each with a slip that shows in the answers."""
    draw = Random(seed)
    every = [(case, places) for case in cases(draw) for places in (3, 4)]
    made: dict[int, list[tuple[Exercise, str, Solution]]] = {}
    found = 0
    while found < count:
        place = draw.randrange(len(every))
        if place not in made:
            made[place] = [*_wrong(*every[place])]
        if not made[place]:
            continue
        asked, kind, wrong = draw.choice(made[place])
        script = answers(asked, wrong)
        found += 1
        yield Student(asked.case.name, asked, kind, script)


def _wrong(case: Case, places: int) -> Iterator[tuple[Exercise, str, Solution]]:
    """Yield the slips of a case that its answers show."""
    asked = exercise(case, places=places)
    if asked.is_proof:
        return
    numbers = {name for name in case.given if not case.program.quantities[name].shape}
    for kind, slip in slips(numbers).items():
        changed = slipped(case.steps, slip)
        if not changed:
            continue
        try:
            wrong = Solution(
                make(case.name, case.raw, {**case.steps, **changed}, functions=case.functions)
            )
            seen = [_is_seen(asked, wrong, part.quantity, part.places) for part in asked.parts]
        except SymattnError:
            # The slip makes shapes that don't fit, or rows that are masked whole.
            continue
        if any(seen):
            yield asked, kind, wrong


def _is_seen(asked: Exercise, wrong: Solution, name: str, places: int) -> bool:
    if asked.solution[name].shape != wrong[name].shape:
        raise Malformed("a student sees that this is no answer")
    right = asked.solution[name].decimal(places + 2)
    return _flat(right) != _flat(wrong[name].decimal(places + 2))


def _flat(table: Any) -> list[Any]:
    return [x for row in table for x in _flat(row)] if isinstance(table, tuple) else [table]


def answers(asked: Exercise, wrong: Solution) -> Script:
    """The script of who computes with all digits and rounds in the end."""
    found = {}
    for part in asked.parts:
        quantity = wrong[part.quantity]
        rows = _rows(quantity.decimal(part.places), quantity.grid)
        for i, row in enumerate(quantity.rows):
            for j, entry in enumerate(row):
                text = "-inf" if entry is MASKED else f"{rows[i][j]:f}"
                found[Blank(part.quantity, i, j)] = read_answer(text)
    return Script("Ada", asked.version, found)


def _rows(table: Any, grid: tuple[int, int]) -> list[list[Any]]:
    flat = _flat(table)
    return [flat[k * grid[1] : (k + 1) * grid[1]] for k in range(grid[0])]
