"""Steps of several heads are the steps that one would write for each."""

from __future__ import annotations

import pytest

from symattn.cases.case import make
from symattn.errors import Malformed

X = [[1, 0, 2, 1], [0, 1, 1, 3]]


def test_the_steps_of_each_head() -> None:
    """Heads of keys are shared where there are fewer; merged they stand side by side."""
    steps = {
        "Q": "heads(X, 4)",
        "K": "heads(X[:, 0:2], 2)",
        "S": "Q @ K.T",
        "Y": "merge(S @ Q) * 2",
    }
    case = make("grouped", {"X": X}, steps)
    assert [case.steps[f"S_{k}"] for k in range(4)] == [
        "Q_0 @ K_0.T", "Q_1 @ K_0.T", "Q_2 @ K_1.T", "Q_3 @ K_1.T",
    ]  # fmt: skip
    assert case.steps["Y"] == "concat(S_0 @ Q_0, S_1 @ Q_1, S_2 @ Q_2, S_3 @ Q_3) * 2"
    assert case.program.shapes()["Y"] == (2, 4)
    assert case.origins["S_3"] == "S"


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ({"Q": "heads(X, 3)"}, "steps.Q: Q_0: expected a matrix of a multiple of 3 columns"),
        ({"Q": "heads(X, n)"}, "steps.Q: heads takes a quantity and how many heads it has"),
        ({"Q": "heads(X, 2)", "Q_1": "X"}, "steps.Q_1: the head Q_1 has the name of another"),
        ({"M": "merge(X) + heads(X, 2)"}, "steps.M: merge takes what has several heads"),
        ({"Q": "heads(X, 4)", "K": "heads(X, 3) + Q"}, "steps.K: 4 heads can't share 3"),
    ],
)
def test_faults_are_those_of_the_step_as_written(steps: dict[str, str], said: str) -> None:
    """Each at the step that says so."""
    with pytest.raises(Malformed) as caught:
        make("heads", {"X": X}, steps)
    assert said in str(caught.value)
