"""Documents with planted errors, computed by NumPy alone: what the search for causes is held to."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import numpy as np

from symattn.cases.case import Case, make

from .papers import BACKWARD, STEPS


class Numbers(NamedTuple):
    """What a document is computed from."""

    X: Any
    W_Q: Any
    W_K: Any
    W_V: Any
    d_k: int
    upstream: Any


def numbers(random: Random) -> Numbers:
    """Small numbers with one or two digits behind the point."""
    n, d, d_k = random.randint(2, 5), random.randint(2, 5), random.randint(2, 5)
    places = random.choice((1, 1, 2))

    def matrix(rows: int, columns: int, size: int) -> Any:
        scale = 10**places
        return np.array(
            [
                [random.randint(-size * scale, size * scale) / scale for _ in range(columns)]
                for _ in range(rows)
            ]
        )

    return Numbers(
        matrix(n, d, 1),
        matrix(d, d_k, 1),
        matrix(d, d_k, 1),
        matrix(d, d_k, 1),
        d_k,
        matrix(n, d_k, 2),
    )


def _softmax(scores: Any, axis: int | None = 1) -> Any:
    powers = np.exp(scores)
    return powers / powers.sum(axis=axis, keepdims=True)


def _copied_row(x: Any, random: Random) -> Any:
    a, b = random.sample(range(len(x)), 2)
    made = x.copy()
    made[b] = x[a]
    return made


def _copied_entry(x: Any, random: Random) -> Any:
    made = x.copy()
    i = random.randrange(x.shape[0])
    a, b = random.sample(range(x.shape[1]), 2)
    made[i, b] = x[i, a]
    return made


def _mirrored(x: Any) -> Any:
    return np.tril(x) + np.tril(x, -1).T


#: Mistakes, each with where it is made; of those with a choice ``random`` draws.
MISTAKES = (
    "scale-dropped", "scale-not-rooted", "scaled-twice", "scale-of-width",
    "mask-forgotten", "mask-after", "mask-transposed", "mask-as-zero",
    "softmax-columns", "softmax-all", "not-normalised",
    "weights-rounded", "scores-rounded", "queries-rounded",
    "queries-for-keys", "values-are-tokens", "values-are-keys", "keys-by-query-weights",
    "transposed-scores", "row-of-keys", "row-of-values", "row-of-tokens-in-queries",
    "row-of-weights", "entry-of-scores", "entry-of-scores-in-softmax", "mirrored-scores",
    "base-2", "wrong-value", "wrong-power",
)  # fmt: skip


def computed(given: Numbers, mistake: str, random: Random) -> dict[str, Any]:
    """All quantities of the recipe, with one mistake or with none ('')."""
    X, W_Q, W_K, W_V, d_k, G = given
    n = len(X)
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    if mistake == "keys-by-query-weights":
        K = X @ W_Q
    if mistake == "values-are-tokens" and X.shape == V.shape:
        V = X
    if mistake == "values-are-keys":
        V = K
    if mistake == "row-of-keys":
        K = _copied_row(K, random)
    if mistake == "row-of-values":
        V = _copied_row(V, random)
    if mistake == "row-of-tokens-in-queries":
        Q = _copied_row(X, random) @ W_Q
    used_Q = np.round(Q, 1) if mistake == "queries-rounded" else Q
    S = used_Q @ (Q if mistake == "queries-for-keys" else K).T
    if mistake == "transposed-scores":
        S = S.T
    if mistake == "entry-of-scores":
        S = _copied_entry(S, random)
    if mistake == "mirrored-scores":
        S = _mirrored(S)
    scale = {
        "scale-dropped": 1.0,
        "scale-not-rooted": float(d_k),
        "scaled-twice": float(d_k),
        "scale-of-width": float(np.sqrt(X.shape[1])),
    }.get(mistake, float(np.sqrt(d_k)))
    T = S / scale
    if mistake == "scores-rounded":
        T = np.round(T, 1)
    keep = np.tril(np.ones((n, n)))
    M = np.where(keep == 1, T, -np.inf)
    if mistake in ("mask-forgotten", "mask-after"):
        M = T
    if mistake == "mask-transposed":
        M = np.where(keep.T == 1, T, -np.inf)
    if mistake == "mask-as-zero":
        M = T * keep
    powers = np.exp2(M) if mistake == "base-2" else np.exp(M)
    if mistake == "entry-of-scores-in-softmax":
        i = random.randrange(1, n)
        a, b = random.sample(range(i + 1), 2)
        powers[i, b] = powers[i, a]
    if mistake == "wrong-power":
        i = random.randrange(1, n)
        powers[i, random.randrange(i + 1)] *= 1 + random.choice((-1, 1)) * random.uniform(0.1, 0.6)
    axis = {"softmax-columns": 0, "softmax-all": None}.get(mistake, 1)
    A = powers if mistake == "not-normalised" else powers / powers.sum(axis=axis, keepdims=True)
    if mistake == "mask-after":
        A = A * keep
    if mistake == "row-of-weights":
        A = _copied_row(A, random)
    used_A = np.round(A, random.choice((1, 2))) if mistake == "weights-rounded" else A
    used_V = V
    if mistake == "wrong-value":
        used_V = V.copy()
        used_V[random.randrange(n), random.randrange(d_k)] += random.choice((-1, 1)) * (
            random.uniform(0.2, 0.9)
        )
    Y = used_A @ used_V
    dV = used_A.T @ G
    dA = G @ used_V.T
    dM = used_A * (dA - (used_A * dA).sum(axis=1, keepdims=True))
    dT = dM if mistake == "mask-forgotten" else dM * keep
    dS = dT / scale
    right = Q if mistake == "queries-for-keys" else K
    return {
        "Q": Q, "K": K, "V": V, "S": S, "T": T, "M": M, "A": A, "Y": Y,
        "dL/dV": dV, "dL/dA": dA, "dL/dM": dM, "dL/dT": dT, "dL/dS": dS,
        "dL/dQ": dS @ right, "dL/dK": dS.T @ used_Q,
    }  # fmt: skip


def texts(table: Any, places: int) -> list[list[str]]:
    """Figures as a document prints them."""

    def text(x: float) -> str:
        return "-inf" if np.isneginf(x) else f"{x + 0.0:.{places}f}"

    return [[text(x) for x in row] for row in np.round(table, places)]


class Document(NamedTuple):
    """A document: what it prints of which quantities, and its case."""

    given: Numbers
    figures: dict[str, list[list[str]]]
    case: Case


def document(random: Random, mistake: str = "", errors: int = 0) -> Document:
    """A document of some quantities with a mistake in its recipe, and single wrong figures."""
    given = numbers(random)
    made = computed(given, mistake, random)
    places = random.choice((2, 3, 4, 4))
    forward = [name for name in ("Q", "K", "V", "S", "T") if random.random() < 0.6]
    shown = [*forward, "A", "Y"]
    if random.random() < 0.4:
        shown += [name for name in BACKWARD if random.random() < 0.5]
    figures = {name: texts(made[name], places) for name in shown}
    every = [
        (name, i, j)
        for name, rows in figures.items()
        for i, row in enumerate(rows)
        for j, text in enumerate(row)
        if text != "-inf"
    ]
    for name, i, j in random.sample(every, min(errors, len(every) // 2)):
        figures[name][i][j] = slipped(figures[name][i][j], random)
    return Document(given, figures, case_of(given, figures))


def slipped(text: str, random: Random) -> str:
    """A figure with a slip of the pen: a digit, two swapped, a sign, or another number."""
    way = random.random()
    places = [k for k, letter in enumerate(text) if letter.isdigit()]
    if way < 0.6:
        k = random.choice(places)
        made = text[:k] + random.choice([x for x in "0123456789" if x != text[k]]) + text[k + 1 :]
    elif way < 0.75:
        k = random.choice(places[:-1])
        other = places[places.index(k) + 1]
        letters = [*text]
        letters[k], letters[other] = letters[other], letters[k]
        made = "".join(letters)
    elif way < 0.85:
        made = text[1:] if text.startswith("-") else f"-{text}"
    else:
        after = len(text.partition(".")[2])
        made = f"{float(text) + random.uniform(-1, 1):.{after}f}"
    return made if made.lstrip("-").strip("0.") or text.lstrip("-").strip("0.") else text


def case_of(given: Numbers, figures: dict[str, list[list[str]]]) -> Case:
    """The case whose recipe is right and whose claims are these figures."""

    def rows(table: Any) -> list[list[str]]:
        return [[f"{x:.2f}" for x in row] for row in table]

    return make(
        "planted",
        {
            "X": rows(given.X), "W_Q": rows(given.W_Q), "W_K": rows(given.W_K),
            "W_V": rows(given.W_V), "d_k": given.d_k,
        },
        STEPS,
        {"output": "Y", "upstream": rows(given.upstream)},
        claims=[{"where": name, "of": name, "printed": rows} for name, rows in figures.items()],
    )  # fmt: skip
