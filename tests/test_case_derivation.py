"""The functions of steps mean in derivations what they compute in walkthroughs, and a case's
gradients are lines that are proved."""

from __future__ import annotations

from itertools import product

import pytest
from flint import arb

from symattn.calculus import draft as drafts
from symattn.calculus.sampling import SamplePoint
from symattn.case_derivation import tables
from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.numbers.balls import precision
from symattn.solution.entries import EntryValue
from symattn.solution.solution import Solution

from .programs.test_operations import GIVEN, STEPS

BITS = 200

#: What can't be said for any size, and why.
REFUSED = {
    "cross_entropy, shares": "whole numbers that are computed name places",
    "rope": "an array is written out in numbers, 2, 5: give it a name and a shape",
}
#: 0 log 0 is 0 in steps; a line says nothing of it.
WITHOUT_VALUE = ("entropy",)
#: What these say otherwise.
MORE = {
    "cross_entropy, matrices": "cross_entropy(Q, softmax(P))",
    "cross_entropy, vectors": "cross_entropy(v, K[0], label_smoothing=1/3)",
    "cross_entropy, masked": "cross_entropy(causal(P @ P.T), eye(2))",
    "rope, positions": "rope(R, positions=v[0:2], base=100)",
    "entropy, positive": "entropy(softmax(Q)) * entropy(softmax(v))",
    "window, square": "softmax(window(P @ P.T, 0, 1)) @ P",
    "causal, square": "logsumexp(causal(P @ P.T) / sqrt(c)) + rowmax(causal(P @ P.T))",
    "causal, columns": "softmax(causal(P @ P.T) + 1, axis=0)",
    "transposed product": "(P @ K.T).T",
    "alibi, hidden": "softmax(alibi(causal(P @ P.T), c))",
    "sink, hidden": "softmax(causal(P @ P.T), sink=rowsum(Q))",
    "padding, computed": "exp(padding(Q, i[1]))",
    "log_softmax, hidden": "exp(log_softmax(causal(P @ P.T)))",
}


def balls(quantity):
    """All entries, row by row; None for hidden scores."""
    rows, columns = quantity.grid
    return [
        None if quantity.is_masked(i, j) else EntryValue(quantity, i, j).ball(BITS)
        for i, j in product(range(rows), range(columns))
    ]


def read(document, solution):
    """A derivation that states a case, and the numbers of the case: whole numbers that name
    places as rows of 0 and 1."""
    draft = drafts.read({**document, "lines": [{"line": "1 == 1"}]})
    values, sizes = {}, {}
    # Whole numbers last: how many places they name is known then.
    for array in sorted(
        draft.ground.given, key=lambda x: len(x.axes) > len(solution[x.name].shape)
    ):
        shape, entries = solution[array.name].shape, balls(solution[array.name])
        if len(array.axes) > len(shape):
            count = sizes.get(array.axes[-1], array.axes[-1])
            shape = (*shape, count)
            entries = [arb(int(entry == c)) for entry in entries for c in range(count)]
        sizes |= zip(array.axes, shape, strict=True)
        places = product(*(range(1, length + 1) for length in shape))
        values[array] = dict(zip(places, entries, strict=True))
    return draft, SamplePoint(sizes, values, {})


@pytest.mark.parametrize("name", [*STEPS, *MORE])
def test_a_step_means_in_a_derivation_what_it_computes(name):
    case = make("one-step", GIVEN, {"y": {**STEPS, **MORE}[name]})
    solution = Solution(case)
    if name in REFUSED:
        with pytest.raises(Malformed, match=REFUSED[name]):
            tables(case)
        return
    document = tables(case)
    with precision(BITS):
        draft, point = read(document, solution)
        array = draft.scope.arrays["y"]
        mine = [arb(point.entry(array, at)) for at in point.places(array.axes)]
        for x, y in zip(mine, balls(solution["y"]), strict=True):
            assert (x - y).contains(0), (document["define"], x, y)
            assert (x - y).rad() < 1e-30 or name in WITHOUT_VALUE
