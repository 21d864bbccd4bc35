"""Nothing flows through a masked score: gradients by what scales one."""

from __future__ import annotations

from typing import Any

import mpmath
import pytest

from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.numbers.reading import MASKED
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict
from symattn.verification import verify

GIVEN: dict[str, Any] = {
    "S": [[1, "1/2"], ["-2/3", 3]],
    "W": [["1/2", 2], [3, "1/5"]],
    "v": [2, "3/2"],
}


@pytest.mark.parametrize("text", ["causal(S) * {w}", "{w} * causal(S)", "causal(S) / {w}"])
@pytest.mark.parametrize("by", ["W", "v"])
def test_gradients_by_a_factor(text, by) -> None:
    """They are those of the scores that are kept, by central differences in mpmath."""
    steps = {"T": text.format(w=by), "A": "softmax(T)", "Y": "A * S"}
    held = Solution(make("factor", GIVEN, steps))
    assert verify(held).verdict is Verdict.HOLDS
    shape = held.program.quantities[by].shape
    for place in [(0,), (1,)] if len(shape) == 1 else [(0, 0), (0, 1), (1, 0), (1, 1)]:
        with mpmath.workdps(50):
            step = mpmath.mpf(10) ** -15
            ends = [_loss(text, by, place, sign * step) for sign in (1, -1)]
            slope = (ends[0] - ends[1]) / (2 * step)
            near: Any = held.gradient(by).at(*place)
            assert abs(mpmath.mpf(str(near.decimal(20))) - slope) < mpmath.mpf(10) ** -18


def _loss(text, by, place, step):
    """The sum of the outputs with one factor moved."""
    scores = [[_number(x) for x in row] for row in GIVEN["S"]]
    raw = GIVEN[by] if by == "W" else [GIVEN["v"], GIVEN["v"]]
    factors = [[_number(x) for x in row] for row in raw]
    for i in range(2):
        if len(place) == 1 or place[0] == i:
            factors[i][place[-1]] += step
    total = mpmath.mpf(0)
    for i in range(2):
        scaled = [
            scores[i][j] / factors[i][j] if "/" in text else scores[i][j] * factors[i][j]
            for j in range(i + 1)
        ]
        powers = [mpmath.exp(x) for x in scaled]
        total += sum(p * s for p, s in zip(powers, scores[i], strict=False)) / sum(powers)
    return total


def _number(raw):
    over, _, below = str(raw).partition("/")
    return mpmath.mpf(over) / int(below or 1)


def test_a_factor_that_balls_do_not_know() -> None:
    """What a computed mask keeps is settled exactly, and so is what it scales."""
    steps = {
        "n": "rowsum(softmax(W))",
        "F": "mask(W, n)",
        "T": "causal(S) * F",
        "D": "causal(S) / F",
    }
    held = Solution(make("computed", GIVEN, steps))
    for name in ("T", "D"):
        assert held[name].is_masked(0, 1)
        assert not held[name].is_masked(1, 0)
    wrong = {**steps, "F": "mask(0 - W, n)"}
    with pytest.raises(Malformed, match=r"not positive|not defined"):
        Solution(make("negative", GIVEN, wrong))


@pytest.mark.parametrize("mask", ["B", "B[0]", "causal(S)"])
def test_minus_infinity_is_no_mask(mask) -> None:
    """A mask holds 0 and 1: -inf hides nothing, it is refused."""
    given = {**GIVEN, "B": [[1, "-inf"], [1, 1]]}
    with pytest.raises(Malformed, match="masked score"):
        Solution(make("bias", given, {"T": f"mask(S, {mask})"}))


@pytest.mark.parametrize("upstream", [None, [["g1", "g2 - 1"], [2, "g1/3"]]])
def test_an_output_of_scaled_masked_scores(upstream) -> None:
    """Masked scores in the output count nothing in the gradient of their factor."""
    loss = {"upstream": upstream} if upstream else {}
    held = Solution(make("output", GIVEN, {"T": "causal(S) * W"}, loss))
    assert verify(held).verdict is not Verdict.REFUTED
    assert str(held.gradient("W").at(0, 1)) == "0"
    expected = "g1" if upstream else "1"
    assert str(held.gradient("W").at(0, 0)) == expected


def test_what_masked_scores_are_divided_by_stands_at_their_place() -> None:
    """Positive where a score is masked; elsewhere, and mirrored, it may be anything."""
    given = {"S": [[0, "-inf"], [1, 2]], "D": [[1, 2], [-1, 1]]}
    found = Solution(make("t", given, {"T": "S / D", "A": "softmax(T)"}))
    assert found["T"].rows[0][1] is MASKED
    assert found["A"].decimal(2)[0] == (1, 0)
    given["D"] = [[1, -2], [1, 1]]
    with pytest.raises(Malformed, match="scaled by"):
        Solution(make("t", given, {"T": "S / D"}))
