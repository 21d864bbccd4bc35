"""Rows and columns that are counted from 1."""

from __future__ import annotations

import ast
import inspect
import random
import re
from typing import Any

import pytest

from symattn.crosscheck import definitions
from symattn.printers.latex import document
from symattn.sheets.case_sheet import sheet
from symattn.sheets.definitions import counted_from_1

#: Rows and columns of all matrices, and the sizes that definitions are told.
SIZE = 4
SIZES = {"n": 3, "d": 3, "m": 4}


class FromOne(list[Any]):
    """A list that is counted from 1."""

    def __getitem__(self, place):
        assert 1 <= place <= len(self), place
        return super().__getitem__(place - 1)


class FromZero(list[Any]):
    """A list that is not counted from its end."""

    def __getitem__(self, place):
        assert 0 <= place < len(self), place
        return super().__getitem__(place)


def value(kind: str, rng: random.Random, kept: type[list[Any]]):
    """Numbers of a kind; of one seed the same, whatever they are counted from."""
    match kind:
        case "Matrix":
            rows = [[rng.uniform(0.1, 0.9) for _ in range(SIZE)] for _ in range(SIZE)]
            return kept(kept(row) for row in rows)
        case "Mask":
            return kept(kept(rng.choice([0, 1]) for _ in range(SIZE)) for _ in range(SIZE))
        case "Whole":
            return kept(rng.randrange(SIZE) for _ in range(SIZE))
        case "Row" | "Column" | "Normalisers":
            return kept(rng.uniform(0.1, 0.9) for _ in range(SIZE))
    return rng.uniform(0.1, 0.9)


@pytest.mark.parametrize("name", definitions.names())
def test_the_same_entries(name):
    """Every definition has the same entries, whatever its indices are counted from."""
    function = definitions.definition(name)
    (written,) = ast.parse(inspect.getsource(function)).body
    assert isinstance(written, ast.FunctionDef)
    (returned,) = [x.value for x in written.body if isinstance(x, ast.Return) and x.value]
    counted = counted_from_1(returned, definitions.indices(name))
    code = compile(ast.fix_missing_locations(ast.Expression(counted)), name, "eval")
    kinds = definitions.parameters(name)
    indices = definitions.indices(name)
    compared = 0
    for place in range(SIZE ** len(indices)):
        at = {key: place // SIZE**k % SIZE for k, key in enumerate(indices)}
        ours, theirs = (
            {key: SIZES.get(key, 2) if kind == "int" else value(kind, rng, kept)
             for key, kind in kinds.items()}
            for kept, rng in ((FromZero, random.Random(name)), (FromOne, random.Random(name)))
        )  # fmt: skip
        ours |= at
        theirs |= {key: i + 1 for key, i in at.items()}
        try:
            wanted = function(**ours)
        except AssertionError:
            # Of other sizes than these.
            continue
        assert eval(code, {**function.__globals__, **theirs}) == pytest.approx(wanted)
        compared += 1
    assert compared >= min(SIZE, SIZE ** len(indices))


def shifted(text: str, by: int) -> str:
    """What stands below letters, and the limits of sums, counted from another number."""

    def moved(found: re.Match[str]) -> str:
        return re.sub(r"\d+", lambda number: str(int(number[0]) + by), found[0])

    return re.sub(r"_\{(?:[A-Z],)?\d+(?:,\d+)?\}|_\{[a-z] = \d\}\^\{\d+\}", moved, text)


@pytest.mark.sampled(1, 3)
@pytest.mark.parametrize("case", ["cat-sat-mat", "please-study-man", "cat-sat-mat-causal"])
def test_sheets(case: str):
    """A sheet is the same but for what its indices are counted from."""
    zero, one = (
        document(sheet(case, detail="full", count_from=first, commands=False)) for first in (0, 1)
    )
    words = (
        ("counted from 0", "counted from 1"),
        *((f"row {i}", f"row {i + 1}") for i in (2, 1, 0)),
    )
    for ours, theirs in words:
        zero = zero.replace(ours, theirs).replace(ours.capitalize(), theirs.capitalize())
    assert re.search(r"S_\{3,\d\}", one)
    assert shifted(zero, 1) == one
