"""Students, computed by NumPy alone: each step from the numbers that were written down before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, NamedTuple

import numpy as np

from symattn.cases.case import make
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.marking.collecting import Blank, Script, read_answer

STEPS = {
    "Q": "X @ W_Q",
    "K": "X @ W_K",
    "V": "X @ W_V",
    "S": "Q @ K.T",
    "T": "S / sqrt(d_k)",
    "M": "causal(T)",
    "A": "softmax(M)",
    "Y": "A @ V",
}
#: What each step asks for, in order, and what it is worth.
POINTS = {"Q": 2, "K": 2, "V": 2, "S": 2, "T": 1, "M": 1, "A": 3, "Y": 2}

Held = dict[str, Any]


def softmax(scores: Any, axis: int = 1) -> Any:
    powers = np.exp(scores)
    return powers / powers.sum(axis=axis, keepdims=True)


def masked(scores: Any) -> Any:
    return np.where(np.tri(len(scores)) == 1, scores, -np.inf)


RIGHT: Mapping[str, Callable[[Held], Any]] = {
    "Q": lambda q: q["X"] @ q["W_Q"],
    "K": lambda q: q["X"] @ q["W_K"],
    "V": lambda q: q["X"] @ q["W_V"],
    "S": lambda q: q["Q"] @ q["K"].T,
    "T": lambda q: q["S"] / np.sqrt(q["d_k"]),
    "M": lambda q: masked(q["T"]),
    "A": lambda q: softmax(q["M"]),
    "Y": lambda q: q["A"] @ q["V"],
}


class Planted(NamedTuple):
    """A slip: the step it is made in, what is computed there, and how it may be said."""

    step: str
    instead: Callable[[Held], Any]
    said: str


SLIPS = {
    "scale-dropped": Planted("T", lambda q: q["S"], "without the division by sqrt(d_k)"),
    "scale-not-rooted": Planted("T", lambda q: q["S"] / q["d_k"], "instead of its square root"),
    "mask-forgotten": Planted("M", lambda q: q["T"], "without the mask"),
    "mask-transposed": Planted("M", lambda q: masked(q["T"].T).T, "mask transposed"),
    "softmax-columns": Planted("A", lambda q: softmax(q["M"], 0), "softmax down the columns"),
    "not-normalised": Planted("A", lambda q: np.exp(q["M"]), "without the division by the sums"),
    "transposed": Planted("S", lambda q: q["Q"] @ q["K"], "K not transposed"),
    "sign-flipped": Planted("S", lambda q: -(q["Q"] @ q["K"].T), "S with the wrong sign"),
    "other-matrix": Planted("S", lambda q: q["Q"] @ q["V"].T, "S with V instead of K"),
    "result-transposed": Planted("S", lambda q: q["K"] @ q["Q"].T, "S transposed"),
    "product-ignored": Planted("Y", lambda q: q["V"], "Y replaced by V"),
}


def numbers(seed: int, size: int = 3) -> Held:
    """Square matrices with one digit behind the point, none of them with a pattern."""
    random = Random(seed)

    def matrix() -> Any:
        return np.array(
            [[random.choice([*range(-19, 0), *range(1, 20)]) / 10 for _ in range(size)]
             for _ in range(size)]
        )  # fmt: skip

    return {**{name: matrix() for name in ("X", "W_Q", "W_K", "W_V")}, "d_k": size + 2}


def exercise_of(given: Held, places: int = 4) -> Exercise:
    """The exercise with these numbers."""
    raw = {
        name: value if np.ndim(value) == 0 else [[f"{x:.1f}" for x in row] for row in value]
        for name, value in given.items()
    }
    parts = tuple(Part(name, points, places) for name, points in POINTS.items())
    return Exercise(make("attention", raw, STEPS), "masked", parts)


def written(
    given: Held,
    places: int = 4,
    instead: Mapping[str, Callable[[Held], Any]] | None = None,
    kept: int | None = None,
) -> dict[str, Any]:
    """What a student writes down, who computes on with the numbers as they are written; with
    ``kept`` with so many places of them."""
    held = dict(given)
    found = {}
    for name, right in RIGHT.items():
        made = (instead or {}).get(name, right)(held)
        held[name] = np.round(made, places if kept is None else kept)
        found[name] = np.round(made, places)
    return found


def text(x: float, places: int) -> str:
    return "-inf" if np.isneginf(x) else f"{x + 0.0:.{places}f}"


def script(found: Mapping[str, Any], places: int = 4, student: str = "Ada") -> Script:
    """The script of what a student writes down."""
    answers = {
        Blank(name, i, j): read_answer(text(x, places))
        for name, table in found.items()
        for i, row in enumerate(table)
        for j, x in enumerate(row)
    }
    return Script(student, 0, answers)
