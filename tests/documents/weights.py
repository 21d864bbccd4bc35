"""The weights of the evidence, estimated on marked articles: ``python -m tests.documents.weights``.

A marked article shows what a mistake looks like: its planted slips are refuted. What a
misreading looks like is shown by the same article with the figures of one input changed, of
all that is computed under one heading, or of one block: what is refuted then, but the slips,
is another example's, and right by numbers that the reader doesn't have.
Logistic regression tells one from the other, each article judged by the weights of all
others.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from symattn.documents.binding import binder, values
from symattn.documents.binding.confidence import Confidence
from symattn.documents.binding.ledger import Entry
from symattn.documents.files import article
from symattn.documents.text import Span
from symattn.errors import Malformed
from symattn.expressions import syntax
from tests.documents import marks

#: The strength of the prior that weights are 0.
PRIOR = 0.05


@dataclass(frozen=True)
class Example:
    """A block that disagrees: the article, whether it is a mistake, and the evidence."""

    name: str
    is_mistake: bool
    evidence: dict[str, float]
    label: str = ""


def bound(name: str, text: str) -> Confidence | None:
    """The blocks of a text, bound."""
    try:
        return Confidence(binder.bound(article(Path(name), text.encode())).ledger)
    except Malformed:
        return None


def _meets(entry: Entry, spans: Iterable[Span]) -> bool:
    figures = [figure.span for figure, _ in values.entries(entry.value)]
    return any(s.start < f.end and f.start < s.end for s in spans for f in figures)


def blocks(
    name: str, text: str, slips: Sequence[Span], foreign: Sequence[Span] | None
) -> Iterator[Example]:
    """The blocks of a text that disagree with what they were taken for: mistakes where a
    slip stands; of a text that was changed misreadings, those in ``foreign`` places."""
    sure = bound(name, text)
    for one in () if sure is None else sure.entries:
        if one.agreement.share == 1 or (sure is not None and sure.barred(one)):
            continue
        is_slip = _meets(one, slips)
        if one.key == "as_printed":
            # It says itself what it is.
            continue
        if foreign is not None and (is_slip or (foreign and not _meets(one, foreign))):
            continue
        line = text.count("\n", 0, one.span.start) + 1
        label = f"{name}:{line} {syntax.text(one.tree)}"
        assert sure is not None
        found: dict[str, float] = {str(kind): much for kind, much in sure.evidence(one).items()}
        yield Example(name, is_slip, found, label)


def changed(text: str, spans: Iterable[Span], chance: random.Random) -> str:
    """A text with other digits in some places; what is written alike stays alike."""
    new: dict[str, str] = {}
    for span in spans:
        old = text[span.start : span.end]
        if old not in new:
            new[old] = re.sub(r"\d", lambda m: str((int(m[0]) + chance.choice(_OFF)) % 10), old)
        text = text[: span.start] + new[old] + text[span.end :]
    return text


_OFF = (1, 1, 2, 3, 7, 9)


def examples(documents: Sequence[Path], seeds: int = 2) -> Iterator[Example]:
    """The examples of marked articles: as they are, with an input changed, with all that is
    computed under one heading changed, and with one block changed."""
    for path in documents:
        document = marks.load(path)
        name, text = document.name, document.text
        slips = [Span(one.start, one.end) for one in document.slips]
        yield from blocks(name, text, slips, None)
        given: dict[str, list[Span]] = {}
        for one in document.marks:
            if one.is_given:
                quantity = re.split(r"[\[. ]", one.expression)[0]
                given.setdefault(quantity, []).append(Span(one.start, one.end))
        sure = bound(name, text)
        assert sure is not None
        sections: dict[str, list[Span]] = {}
        several: list[list[Span]] = []
        for entry in sure.entries:
            spans = [figure.span for figure, _ in values.entries(entry.value)]
            sections.setdefault(entry.where, []).extend(spans)
            if len(spans) > 2:
                several.append(spans)
        for seed in range(seeds):
            chance = random.Random(f"{name} {seed}")
            for groups, is_local in ((given, False), (sections, True)):
                if groups and (len(groups) > 1 or not is_local):
                    spans = groups[chance.choice(sorted(groups))]
                    other = changed(text, spans, chance)
                    yield from blocks(name, other, slips, spans if is_local else [])
            if several:
                spans = chance.choice(several)
                yield from blocks(name, changed(text, spans, chance), slips, spans)


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
    """Print the weights in bits, and how well each article is judged by those of the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--list", action="store_true", help="list all examples")
    options = parser.parse_args()
    found = list(examples([one for f in options.folders for one in marks.documents(f)]))
    kinds = sorted({kind for one in found for kind in one.evidence})
    x, y = matrix(found, kinds), np.array([one.is_mistake for one in found], float)
    weights = np.where(y == 1, 0.5 / y.sum(), 0.5 / (1 - y).sum()) * len(y)
    names = np.array([one.name for one in found])
    print(f"{int(y.sum())} mistakes, {int((1 - y).sum())} misreadings, {len(set(names))} articles")
    w = fitted(x, y, weights)
    for kind, bits in zip([*kinds, "prior"], w / np.log(2), strict=True):
        print(f"    {kind!r}: {bits:.1f},")
    score = np.zeros(len(y))
    for name in set(names):
        out = names == name
        score[out] = x[out] @ fitted(x[~out], y[~out], weights[~out]) / np.log(2)
    for margin in np.arange(0, 8, 0.5):
        kept = score >= margin
        print(
            f"margin {margin}: mistakes kept {y[kept].sum() / y.sum():.1%}, "
            f"misreadings kept {(1 - y[kept]).sum() / (1 - y).sum():.1%}"
        )
    for at in np.argsort(score) if options.list else ():
        print(f"{score[at]:6.1f} {int(y[at])} {found[at].label}")
        print("       ", {kind: round(much, 1) for kind, much in found[at].evidence.items()})


if __name__ == "__main__":
    main()
