"""Rows that are printed one by one under each other, each with its label, as one matrix."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symattn import syntax
from symattn.documents.binding import values
from symattn.documents.binding.names import Names
from symattn.documents.binding.roles import named
from symattn.documents.trees import Chain, Labelled, Passage, Words

_QUOTES = "\"'“”‘’«»„`*"
_QUOTED = re.compile(r"[\"“‘«„`']([^\"“”‘’«»„`'\n]{1,40})[\"”’»“`']")
#: What stands between a label and its row, where rows follow each other on one line.
_ANNOUNCED = (":", "=", "→", "|", "(")
_COUNTED = re.compile(r"(?:token|row|word|position)\s*#?[0-9]+", re.I)
#: Labels longer than that are sentences.
_LONGEST = 40


@dataclass(frozen=True)
class Rows:
    """Labelled rows that follow each other; ``chains`` are those that print them."""

    tree: Labelled
    chains: tuple[Chain, ...]


def found(passages: Sequence[Passage]) -> Iterator[Rows]:
    """All runs of two or more labelled rows of one length, each label another."""
    run: list[tuple[str, syntax.Tree, Chain]] = []
    for row in _labelled(passages):
        if row is not None and run and _goes_on(run, row):
            run.append(row)
            continue
        if len(run) > 1:
            yield _together(run)
        run = [] if row is None else [row]
    if len(run) > 1:
        yield _together(run)


def _goes_on(
    run: list[tuple[str, syntax.Tree, Chain]], row: tuple[str, syntax.Tree, Chain]
) -> bool:
    same = values.shape(run[-1][1]) == values.shape(row[1])
    return same and all(label != row[0] for label, _, _ in run)


def _together(run: list[tuple[str, syntax.Tree, Chain]]) -> Rows:
    chains = tuple(chain for _, _, chain in run)
    labels = tuple(label for label, _, _ in run)
    span = chains[0].span.to(chains[-1].span)
    rows = tuple(value for _, value, _ in run)
    return Rows(Labelled(rows, rows_said=labels, span=span), chains)


def _labelled(
    passages: Sequence[Passage],
) -> Iterator[tuple[str, syntax.Tree, Chain] | None]:
    """The labelled rows in their order; None for all that stands between."""
    for passage in passages:
        if passage.kind == "note":
            continue
        before, is_line = "", False
        if all(isinstance(one, Words) for one in passage.pieces):
            # Words between rows begin something new, unless they are marks only.
            words = "".join(one.text for one in passage.pieces if isinstance(one, Words))
            if any(map(str.isalnum, words)):
                yield None
            continue
        for piece in passage.pieces:
            match piece:
                case Words(text):
                    before = text
                    if _is_sentence(text) or (is_line and not _is_label(text)):
                        yield None
                case Chain(members) if (
                    passage.kind != "heading" and (row := _row(before, members)) is not None
                ):
                    yield row[0], row[1], piece
                    before, is_line = "", True
                case _:
                    before, is_line = "", False
                    yield None


def _is_sentence(text: str) -> bool:
    return len(text.strip()) > _LONGEST or text.count("\n\n") > 0


def _is_label(words: str) -> bool:
    """Whether words between two rows are the label of the second, and no sentence that
    goes from one to the other."""
    return "\n" in words or words.rstrip(" *_`").endswith(_ANNOUNCED)


def _row(before: str, members: tuple[object, ...]) -> tuple[str, syntax.Tree] | None:
    match members:
        case (syntax.Name(label), syntax.Array() as value) if not before.strip(" \n-*•,;|"):
            words = label
        case (syntax.Array() as value,) if before.strip():
            words = before
        case _:
            return None
    if not values.is_value(value) or len(values.shape(value)) != 1:
        return None
    label = plain(words)
    return (label, value) if label and len(label) <= _LONGEST else None


def plain(label: str) -> str:
    """A label without what is around it: what is quoted in it, or its words.

    >>> plain('Token 0 ("cat"): '), plain("- sleeps ="), plain("**man** →")
    ('cat', 'sleeps', 'man')
    """
    if match := _QUOTED.search(label):
        return match[1].strip()
    return label.strip(f" \n\t-*•:=→|()[],.#{_QUOTES}")


def without_letter(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels without a letter that all of them begin with: those of x_cat, x_sat.

    >>> without_letter(["x_cat", "x_sat"]), without_letter(["cat", "sat"])
    (('cat', 'sat'), ('cat', 'sat'))
    """
    begun = {label[:2] for label in labels}
    if len(begun) == 1 and re.fullmatch("[A-Za-z]_", begun.pop()):
        return tuple(label[2:] for label in labels)
    return tuple(labels)


def are_tokens(labels: Sequence[str]) -> bool:
    """Whether labels can be tokens: different, and none of them counts or is empty."""
    return (
        len(set(labels)) == len(labels)
        and all(labels)
        and not all(map(named, labels))
        and not any(_COUNTED.fullmatch(label) or label.isdigit() for label in labels)
        and not any(re.fullmatch(r"[A-Za-z]_?[0-9]+|[A-Z]", label) for label in labels)
        and max(map(len, labels)) <= 24
        and all(len(label.split()) <= 2 for label in labels)
    )


def note_tokens(value: syntax.Tree, names: Names) -> None:
    """Take the labels of a block's rows for the tokens, where there are none yet."""
    if isinstance(value, Labelled) and not names.tokens:
        labels = tuple(map(plain, value.rows_said))
        if labels and are_tokens(labels):
            names.tokens = labels
