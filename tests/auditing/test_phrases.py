"""What the edits of a recipe are called: every kind has a phrase that reads well in a sentence."""

from __future__ import annotations

import re
from functools import cache
from random import Random

import numpy as np
import pytest

from symattn.auditing.audit import audit
from symattn.auditing.edits import AuditedGraph, Model, Site
from symattn.cases.case import make
from symattn.languages.language import fields
from symattn.slips.catalogue import KINDS
from symattn.slips.catalogue import phrase as said
from symattn.solution.solution import Solution

from . import planting

SQUARE = [["0.31", "-0.42", "0.57"], ["0.23", "0.18", "-0.36"], ["-0.71", "0.64", "0.29"]]
#: A recipe in which every kind of mistake can be made.
STEPS = {
    "Q": "X @ W",
    "K": "X @ U.T",
    "S": "Q @ K.T",
    "T": "S / sqrt(d)",
    "H": "T / d",
    "M": "causal(H)",
    "A": "softmax(M)",
    "B": "A - X",
    "C": "concat(B[:, 0:1], X[:, 0:1])",
    "Y": "A @ X",
    "Z": "Y + b",
    "L": "log(exp(Z))",
    "N": "gelu(Z)",
}
GIVEN = {"X": SQUARE, "W": SQUARE[::-1], "U": [row[::-1] for row in SQUARE], "d": 5, "b": "0.5"}


@cache
def phrases() -> dict[str, list[str]]:
    """The phrases of all edits of that recipe, by their kind."""
    claims = [{"of": name, "printed": Solution(make("x", GIVEN, STEPS))[name].decimal(3)}
              for name in STEPS]  # fmt: skip
    claims = [{**item, "printed": _texts(item["printed"])} for item in claims]
    solution = Solution(make("kinds", GIVEN, STEPS, claims=claims))
    recipe = AuditedGraph(solution, audit(solution).figures)
    model = Model(recipe)
    found: dict[str, list[str]] = {}
    for node in recipe.needed:
        site = Site(recipe, model, node, in_use=False)
        for edit in (*site.steps(), *site.entries(np.ones(node.grid, bool))):
            found.setdefault(edit.kind, []).append(edit.phrase)
    return found


def _texts(table):
    if isinstance(table, tuple):
        return [_texts(inner) for inner in table]
    return "-inf" if table.is_infinite() else format(table, "f")


#: One of each kind, as a sentence has it behind "3 wrong figures follow from".
SAID = {
    "scale-dropped": "T without the division by sqrt(d)",
    "rounded": "W rounded to 1 place before it was used",
    "mask-forgotten": "M without the mask",
    "mask-after": "A with the mask after the softmax instead of before it",
    "mask-as-zero": "M with 0 for a masked score instead of minus infinity",
    "mask-transposed": "M with the mask transposed",
    "mask-negated": "M with the mask negated: what should be hidden is seen, and nothing else",
    "scale-inverted": "T multiplied by sqrt(d), not divided",
    "scale-not-rooted": "T with d itself instead of its square root",
    "scaled-twice": "T with the division by sqrt(d) twice",
    "other-scale": "T with sqrt(3) instead of sqrt(d)",
    "softmax-columns": "A with the softmax down the columns",
    "softmax-all": "A with the softmax over all entries at once",
    "not-normalised": "A without the division by the sums of the exponentials",
    "transposed": "K with U not transposed",
    "result-transposed": "Q transposed",
    "product-swapped": "S with the factors of the product in the wrong order",
    "operand-ignored": "Q replaced by X",
    "other-quantity": "Q replaced by K",
    "other-matrix": "Q with U instead of X",
    "term-dropped": "B without the term X",
    "term-sign": "B with the wrong sign of X",
    "product-dropped": "Q[0, 0] without the part X[0, 1] * W[1, 0] of its sum",
    "product-sign": "Q[0, 0] with the wrong sign of X[0, 1] * W[1, 0] in its sum",
    "sign-flipped": "Q with the wrong sign",
    "row-reused": "X with row 0 used for row 1, counted from 0",
    "column-reused": "X with column 0 used for column 2, counted from 0",
    "rows-swapped": "X with rows 0 and 1 swapped, counted from 0",
    "columns-swapped": "X with columns 0 and 2 swapped, counted from 0",
    "entry-reused": "X[0, 1] used instead of X[0, 0]",
    "entry-of-column": "X[1, 0] used instead of X[0, 0]",
    "entries-swapped": "X[0, 0] and X[0, 1] swapped",
    "mirrored": "X with its lower triangle mirrored",
    "heads-exchanged": "C with parts 0 and 1 swapped, counted from 0",
    "off-by-one": "H divided by 4 instead of d",
    "other-base": "exp(M) to base 2",
    "held-in": "X stored as float16",
    "function-dropped": "N without gelu",
    "other-function": "N with the tanh form instead of the erf form",
}


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"wrong-number"}))
def test_every_kind_reads_well(kind) -> None:
    """Each kind is made somewhere in the recipe, and every phrase of it fits into a sentence:
    all words are filled in, blanks are single, and it ends without a stop."""
    assert SAID[kind] in phrases()[kind]
    assert fields(KINDS[kind].phrase)
    for phrase in phrases()[kind]:
        assert re.fullmatch(r"(?! )(?:(?![{}]|  ).)*[^ .,;:]", phrase)


@pytest.mark.heavy
def test_a_wrong_number_reads_well() -> None:
    """It says where it came into use, and that nobody knows where it comes from."""
    words = ("-0.91", "-0.04", "V[0, 1]")
    assert said("wrong-number", words) == "-0.91 instead of -0.04 for V[0, 1]"
    figures = planting.document(Random(0), "wrong-value").case
    (slip,) = audit(figures).causes
    assert re.fullmatch(
        "[0-9]+ wrong figures follow from one wrong number, \\S+ instead of \\S+ for V\\[\\d, "
        "\\d\\]\\. Its origin is unknown; no correct figure contradicts it.",
        slip.sentence,
    )


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("mistake", ["queries-rounded", "weights-rounded"])
def test_a_step_that_is_printed_right(mistake) -> None:
    """Where a step is printed as it should be, and used as it should not, the sentence says so."""
    slips = [
        slip
        for seed in range(12)
        for slip in audit(planting.document(Random(seed), mistake).case).causes
        if ", although" in slip.sentence
    ]
    assert slips
    for slip in slips:
        step = slip.sentence.partition(", although ")[2].partition(" is printed correctly")[0]
        assert step not in {figure.place[0] for figure in slip.explains}
        assert f"from {step} rounded to" in slip.sentence
