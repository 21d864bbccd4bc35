"""Articles in the styles that people and programs write, with the slips that people make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from tests.documents.test_statements import refuted, softmax

TOKENS = ("cats", "chase", "mice")


@dataclass(frozen=True)
class Worked:
    """Attention worked with small numbers, as somebody did it."""

    given: Sequence[np.ndarray]
    projected: Sequence[np.ndarray]
    scores: np.ndarray
    scaled: np.ndarray
    weights: np.ndarray
    output: np.ndarray


def worked(rng: np.random.Generator, slip: str) -> Worked:
    """Numbers of an article with a slip, or with none."""
    while True:
        given = [rng.integers(-2, 3, (3, 2)), *(rng.integers(-1, 3, (2, 2)) for _ in range(3))]
        query, key, value = projected = [given[0] @ matrix for matrix in given[1:]]
        scores = query @ key.T
        right = softmax(scores / np.sqrt(2))
        if abs(scores).max() < 9 and len(np.unique(right.round(3))) > 5:
            break
    scaled = scores / (1 if slip == "scale" else np.sqrt(2))
    weights = softmax(scaled)
    if slip == "sign":
        scaled = scaled.copy()
        scaled[np.unravel_index(abs(scaled).argmax(), scaled.shape)] *= -1
    if slip == "row":
        weights = weights[[0, 1, 1]]
    used = weights.round(1) if slip == "rounded" else weights
    output = used @ value
    if slip == "digits":
        digits = [list(f"{x:.3f}") for x in weights.ravel()]
        at = next(k for k, one in enumerate(digits) if one[3] != one[4])
        digits[at][3:] = digits[at][:2:-1]
        weights = np.array([float("".join(one)) for one in digits]).reshape(3, 3)
    return Worked(given, projected, scores, scaled, weights, output)


def row(numbers: Sequence[float], places: int) -> str:
    """Numbers of a row between commas."""
    return ", ".join(f"{x:.{places}f}" for x in numbers)


def array(matrix: np.ndarray, places: int = 0) -> str:
    """A matrix as programs show it."""
    return f"[{', '.join(f'[{row(one, places)}]' for one in matrix)}]"


def lines(matrix: np.ndarray, places: int = 3) -> str:
    """The rows of a matrix, each with its token."""
    pairs = zip(TOKENS, matrix, strict=True)
    return "```\n" + "\n".join(f"{token}: [{row(one, places)}]" for token, one in pairs) + "\n```"


def table(matrix: np.ndarray, heads: Sequence[str] = TOKENS) -> str:
    """A matrix as a table."""
    head = f"| | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}\n"
    pairs = zip(TOKENS, matrix, strict=True)
    return head + "\n".join(f"| {x} | {row(y, 3).replace(', ', ' | ')} |" for x, y in pairs)


def projected(one: Worked) -> str:
    """The queries, keys and values, a line each."""
    pairs = zip("QKV", one.projected, strict=True)
    return "\n".join(f"{name} = {array(matrix)}" for name, matrix in pairs)


def formulas(one: Worked) -> str:
    """An article in formulas."""
    names = ("X", "W_Q", "W_K", "W_V")
    inputs = ", ".join(f"{x} = {array(y)}" for x, y in zip(names, one.given, strict=True))
    made = zip("QKV", names[1:], one.projected, strict=True)
    return (
        f"$${inputs}$$\n\n$${', '.join(f'{x} = X {y} = {array(z)}' for x, y, z in made)}$$\n\n"
        f"The scores are $$S = Q K^T = {array(one.scores)}$$\n\nWe divide by $\\sqrt{{2}}$:\n\n"
        f"$$S_{{scaled}} = \\frac{{Q K^T}}{{\\sqrt{{2}}}} \\approx {array(one.scaled, 3)}$$\n\n"
        f"$$A = \\mathrm{{softmax}}(S_{{scaled}}) \\approx {array(one.weights, 3)}$$\n\n"
        f"$$\\text{{Output}} = A V \\approx {array(one.output, 3)}$$\n"
    )


def tables(one: Worked) -> str:
    """An article in tables below headings."""
    return (
        f"## Step 1: queries, keys and values\n\n{projected(one)}\n\n"
        f"## Step 2: Scaled scores QK^T/√2\n\n{table(one.scaled)}\n\n"
        f"## Step 3: Attention weights (softmax of each row)\n\n{table(one.weights)}\n\n"
        f"## Step 4: Output = weights × V\n\n{table(one.output, ('dim 1', 'dim 2'))}\n"
    )


def chat(one: Worked) -> str:
    """An article as an assistant writes it."""
    return (
        f"**Q, K, V:**\n\n```\n{projected(one)}\n```\n\n"
        f"**Scores (Q·Kᵀ):**\n\n{lines(one.scores, 0)}\n\n"
        f"**Scaled scores (divide by √2 ≈ 1.414):**\n\n{lines(one.scaled)}\n\n"
        f"**After softmax:**\n\n{lines(one.weights)}\n\n"
        f"**Output (weights × V):**\n\n{lines(one.output)}\n"
    )


@pytest.mark.parametrize("seed", [7, pytest.param(11, marks=pytest.mark.heavy)])
@pytest.mark.parametrize("style", [formulas, tables, chat])
def test_what_people_get_wrong_is_found(style: Callable[[Worked], str], seed: int) -> None:
    """Nothing that is right is refuted; of each slip something is."""
    for slip in ("", "scale", "sign", "row", "rounded", "digits"):
        rng = np.random.default_rng(seed)
        for _ in range(3):
            article = style(worked(rng, slip))
            assert bool(refuted(article)) == bool(slip), (slip, article)
