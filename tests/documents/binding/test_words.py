"""Words are read in time that grows with their number."""

import pytest

from symattn.documents.binding import joining, roles, subjects
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Passage, PrintedFigure, Words
from tests.effort import effort

#: So often each piece is said: no work where it is linear, and minutes where it is not.
TIMES = 20_000


def tokens(words):
    """All rows and columns that words name."""
    return subjects.mentions(words, ["cat", "dog"], everywhere=True)


def sentences(words):
    """What is told of as many figures as there are sentences."""
    at = words.find("42.2%")
    spans = [Span(k, k + 5) for k in range(at, len(words), len(words) // TIMES)] if at >= 0 else []
    pieces = (
        Words(words, Span(0, len(words)), tuple(PrintedFigure("42.2%", one) for one in spans)),
    )
    return list(subjects.told(*subjects.joined(Passage("prose", pieces)), ["cat", "dog"], None))


def joined(words):
    """A name and a value with the words between them."""
    name = Chain((PrintedFigure("1"),), (), (Span(0, 1),))
    return list(joining.joined([Passage("prose", (name, Words(words, Span(1, 2)), name))]))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("read", "words", "found"),
    [
        (tokens, "row" + " " * TIMES + "x", 0),
        (tokens, " " * TIMES + "x", 0),
        (tokens, "row 1." * TIMES, 1),
        (tokens, "row 1 " * TIMES, TIMES),
        (tokens, "for cat " * TIMES, TIMES),
        (roles.spoken, "input " * TIMES, TIMES),
        (roles.spoken, "attention " * TIMES, 0),
        (roles.spoken, "softmax(" * TIMES, TIMES),
        (roles.spoken, "scores after" + " the" * TIMES, 1),
        (sentences, "\n " * TIMES + "x", 0),
        (sentences, "It pays 42.2% attention. " * TIMES, TIMES),
        (joined, " " * TIMES + "x", 1),
        (joined, "is " * TIMES + "x", 1),
        (joined, "A" + " " * TIMES + "x", 1),
    ],
    ids=lambda one: one[:12].strip() if isinstance(one, str) else getattr(one, "__name__", one),
)
def test_words_without_end_are_read_at_once(read, words, found):
    """What is said over and over, or never goes on, takes no more than its length; what it
    says is found as often as it is said."""
    assert len(read(words)) == found
    assert effort(lambda: read(words)) < 10_000


def test_of_very_many_tokens_none_is_looked_for_in_words():
    """Tokens by the thousand would each have to be looked for everywhere."""
    many = [f"t{k}" for k in range(2000)]
    assert [one.place for one in subjects.mentions('for t7, "t8"', many)] == [8]
    assert [one.place for one in subjects.mentions('for t7, "t8"', many[:200])] == [7, 8]


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("to on the mat", [(0, True), (1, False), (3, True)]),
        ("for the mat and on", [(1, False), (3, True), (0, True)]),
        ("mats for mat's", []),
        ("→ sat → the mat", [(2, True), (1, True), (3, False)]),
    ],
)
def test_tokens_that_announce_others(words, places):
    """Words that announce a token may be tokens themselves."""
    said = subjects.mentions(words, ["on", "the", "sat", "mat"], everywhere=True)
    assert [(one.place, one.certain) for one in said] == places
