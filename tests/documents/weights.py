"""The weights of the evidence, estimated on marked articles: ``python -m tests.documents.weights``.

A marked article shows what a mistake looks like: its planted slips are refuted. What a
misreading looks like is shown by the same article with the figures of one input changed:
then all that is refuted, but the slips, is right by numbers that the reader doesn't have.
Logistic regression tells one from the other, each article judged by the weights of all
others.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from symattn.documents.binding import binder, values
from symattn.documents.binding.confidence import Confidence
from symattn.documents.files import article
from symattn.errors import Malformed
from tests.documents import marks
from tests.documents.marks import Mark, Marked

#: The strength of the prior that weights are 0.
PRIOR = 0.05


@dataclass(frozen=True)
class Example:
    """A block that disagrees: the article, whether it is a mistake, and the evidence."""

    name: str
    is_mistake: bool
    evidence: dict[str, float]
    label: str = ""


def entries(name: str, text: str, slips: Sequence[Mark], is_misread: bool) -> Iterator[Example]:
    """The blocks of a text that disagree with what they were taken for."""
    try:
        found = binder.bound(article(Path(name), text.encode()))
    except Malformed:
        return
    sure = Confidence(found.ledger)
    for one in sure.entries:
        if one.agreement.share == 1:
            continue
        wrong = [
            figure
            for figure, _ in values.entries(one.value)
            if any(s.start < figure.span.end and figure.span.start < s.end for s in slips)
        ]
        if is_misread and wrong:
            continue
        label = f"{name}:{text.count(chr(10), 0, one.span.start) + 1} {one.tree}"
        yield Example(name, bool(wrong), dict(sure.evidence(one)), label)


def changed(document: Marked, seed: int) -> tuple[str, list[Mark]] | None:
    """A document with the figures of one input changed, in the same places."""
    chance = random.Random(seed)
    given = [one for one in document.marks if one.is_given]
    names = sorted({re.split(r"[\[. ]", one.expression)[0] for one in given})
    if not names:
        return None
    name = chance.choice(names)
    digits = {}
    text = document.text
    for one in given:
        if re.split(r"[\[. ]", one.expression)[0] != name:
            continue
        new = digits.setdefault(
            (one.expression, one.printed),
            re.sub(
                r"\d", lambda m: str((int(m[0]) + chance.choice([1, 1, 2, 3, 7])) % 10), one.printed
            ),
        )
        assert len(new) == len(one.printed)
        text = text[: one.start] + new + text[one.end :]
    return text, list(document.slips)


def examples(documents: Sequence[Path], seeds: int = 3) -> Iterator[Example]:
    """The examples of marked articles."""
    for path in documents:
        document = marks.load(path)
        yield from entries(document.name, document.text, document.slips, False)
        for seed in range(seeds):
            made = changed(document, seed)
            if made is not None:
                yield from entries(document.name, *made, True)


def matrix(found: Sequence[Example], kinds: Sequence[str]) -> np.ndarray:
    """The evidence as rows of numbers, a one behind each."""
    return np.array([[one.evidence.get(kind, 0.0) for kind in kinds] + [1.0] for one in found])


def fitted(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weights of a logistic regression, by Newton's method."""
    w = np.zeros(x.shape[1])
    prior = np.full(x.shape[1], PRIOR * len(y) / 10)
    prior[-1] = 1e-6
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (weights * (p - y)) + prior * w
        hessian = (x * (weights * p * (1 - p))[:, None]).T @ x + np.diag(prior)
        step = np.linalg.solve(hessian, gradient)
        w -= step
        if np.abs(step).max() < 1e-8:
            break
    return w


def main() -> None:
    """Print the weights in bits, and how well each article is judged by the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    found = list(examples([one for f in options.folders for one in marks.documents(f)]))
    kinds = sorted({kind for one in found for kind in one.evidence})
    x, y = matrix(found, kinds), np.array([one.is_mistake for one in found], float)
    weights = np.where(y == 1, 0.5 / y.sum(), 0.5 / (1 - y).sum()) * len(y)
    names = np.array([one.name for one in found])
    print(f"{int(y.sum())} mistakes, {int((1 - y).sum())} misreadings, {len(set(names))} articles")
    w = fitted(x, y, weights)
    for kind, bits in zip([*kinds, "(all)"], w / np.log(2), strict=True):
        print(f"    {kind!r}: {bits:.1f},")
    score = np.zeros(len(y))
    for name in set(names):
        out = names == name
        score[out] = x[out] @ fitted(x[~out], y[~out], weights[~out]) / np.log(2)
    for margin in (0, 1, 2, 3, 4, 5, 6, 7, 8):
        kept = score >= margin
        print(
            f"margin {margin}: mistakes kept {y[kept].sum() / y.sum():.1%}, "
            f"misreadings kept {(1 - y[kept]).sum() / (1 - y).sum():.1%}"
        )
    if options.list:
        for at in np.argsort(score):
            print(f"{score[at]:6.1f} {int(y[at])} {found[at].label}")
            print("       ", {k: round(v, 1) for k, v in found[at].evidence.items()})


if __name__ == "__main__":
    main()
