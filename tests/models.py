"""Walkthroughs that are small files and large work, as text."""

from __future__ import annotations

import random
from collections.abc import Iterable

PRIMES = [p for p in range(2, 104) if all(p % k for k in range(2, p))]


def table(rows: int, columns: int, seed: int) -> str:
    """A matrix of decimals between -0.9 and 0.9."""
    chance = random.Random(seed)
    numbers = [[str(chance.randint(-9, 9) / 10) for _ in range(columns)] for _ in range(rows)]
    return "[" + ", ".join(f"[{', '.join(row)}]" for row in numbers) + "]"


def walkthrough(given: dict[str, str], steps: dict[str, str], rest: str = "") -> str:
    """A file of given values and steps; ``rest`` follows as it is."""
    values = "".join(f"{name} = {value}\n" for name, value in given.items())
    lines = "".join(f'{name} = "{step}"\n' for name, step in steps.items())
    return f"[given]\n{values}[steps]\n{lines}{rest}"


def layers(tokens: int, width: int, count: int, causal: bool = False) -> str:
    """So many layers of attention on top of each other, each with its own
    projections and a residual, and the gradients of all."""
    given = {"X": table(tokens, width, 0)}
    steps: dict[str, str] = {}
    x = "X"
    for k in range(count):
        given |= {f"W_{c}{k}": table(width, width, 10 * k + ord(c)) for c in "QKV"}
        steps |= {f"{c}{k}": f"{x} @ W_{c}{k}" for c in "QKV"}
        steps[f"S{k}"] = f"Q{k} @ K{k}.T / sqrt(cols(K{k}))"
        steps[f"A{k}"] = f"softmax(causal(S{k}))" if causal else f"softmax(S{k})"
        steps[f"Y{k}"] = f"A{k} @ V{k} + {x}"
        x = f"Y{k}"
    return walkthrough(given, steps, f'[loss]\noutput = "{x}"\n')


def one_number(text: str) -> str:
    """A number that is an expression, and a softmax over it."""
    return walkthrough({"x": f'["{text}", 1]'}, {"S": "x / total(x)", "A": "softmax(S)"})


def repeated(first: str, step: str, count: int, size: int) -> str:
    """One step again and again, on a square matrix."""
    steps = {"A0": first} | {f"A{k}": step.format(f"A{k - 1}") for k in range(1, count)}
    return walkthrough({"X": table(size, size, 1)}, steps)


def claims(printed: Iterable[str]) -> str:
    """Claims of the step A."""
    return "".join(f'[[claims]]\nof = "A"\nprinted = {figures}\n' for figures in printed)


def symbols(size: int) -> str:
    """A symbol in every entry of the upstream gradient."""
    rows = (", ".join(f'"g{i}_{j}"' for j in range(size)) for i in range(size))
    given = {"Q": table(size, 4, 1), "K": table(size, 4, 2), "V": table(size, size, 3)}
    steps = {"S": "Q @ K.T", "A": "softmax(S)", "Y": "A @ V"}
    upstream = ", ".join(f"[{row}]" for row in rows)
    return walkthrough(given, steps, f'[loss]\noutput = "Y"\nupstream = [{upstream}]\n')


def wrong(size: int) -> str:
    """A table of figures all of which are wrong."""
    chance = random.Random(size)
    rows = (", ".join(f"{chance.random():.4f}" for _ in range(size)) for _ in range(size))
    figures = claims([f"[{', '.join(f'[{row}]' for row in rows)}]"])
    return walkthrough({"X": table(size, 4, 1)}, {"S": "X @ X.T", "A": "softmax(S)"}, figures)


_LARGE = [10**23 + 117, 10**23 + 183, 10**22 + 9, 10**22 + 93, 10**23 + 1203]
_ROOTS = "+".join(f"sqrt({p})" for p in PRIMES[:12])

#: Files that once took minutes or hours, by what made them so.
COSTLY = {
    "a reciprocal of twelve roots": one_number(f"1/({_ROOTS})"),
    "a product of 26 sums": one_number("*".join(f"(1+exp(sqrt({p})))" for p in PRIMES[:26])),
    "roots of large primes": one_number(
        f"1/(1+{'+'.join('*'.join(f'sqrt({p})' for p in _LARGE[:k]) for k in range(1, 6))})"
    ),
    "three layers": layers(3, 3, 3),
    "softmax of softmax": repeated("softmax(X)", "softmax({})", 30, 3),
    "weights squared": repeated("softmax(X)", "{0} @ {0}", 4, 12),
    "numbers squared": repeated("X", "{0} @ {0}", 15, 4),
    "symbols": symbols(16),
    "one claim 2,000 times": walkthrough(
        {"X": "[[1, 0, 1], [0, 1, 1], [1, 1, 0]]"},
        {"S": "X @ X.T", "A": "softmax(S)"},
        claims(["[[0.12, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]"] * 2000),
    ),
    "a table of wrong figures": wrong(32),
    "three layers of 16 tokens": layers(16, 8, 3),
    "three causal layers of 16 tokens": layers(16, 8, 3, causal=True),
}
