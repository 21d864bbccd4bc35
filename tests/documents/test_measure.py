"""The measure of readers: a perfect one has full marks, and each fault is told."""

from __future__ import annotations

import html
import tomllib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from symattn.cases.article import case_of
from symattn.documents.article import Article
from symattn.documents.reading import ArticleNumber, Claimed, Reading, ReadInput, ReadStep
from symattn.documents.text import Span
from symattn.errors import Malformed
from symattn.expressions.syntax import parse
from symattn.numbers.rows import Numbers
from tests.documents import marks
from tests.documents.measure import Faults, measure

CORPUS = Path(__file__).with_name("corpus")

TRUTH = """
[given]
X = [[1, 3], [0, 2]]
[steps]
S = "X @ X.T"
A = "softmax(S)"
"""
POST = """# Post of 2024

X is [[⟦given X[0, 0]|1⟧, ⟦given X[0, 1]|3⟧], [⟦given X[1, 0]|0⟧, ⟦given X[1, 1]|2⟧]],
and S = [⟦S[0, 0]|10⟧, ⟦S[0, 1]|−6|6⟧], ⟦=|2⟧ + ⟦=|2⟧ = ⟦=|5|4⟧, at 7 o'clock.
"""


@pytest.fixture
def document(tmp_path):
    """A short post with two slips, one of them in arithmetic of its own."""
    tmp_path.joinpath("post.toml").write_text(TRUTH)
    tmp_path.joinpath("post.md.marked").write_text(POST)
    return marks.load(tmp_path / "post.md.marked")


def perfect(document):
    """The reading of one who sees the marks and the truth."""
    truth = tomllib.loads(document.truth.read_text(), parse_float=Decimal)
    spans = [Span(mark.start, mark.end) for mark in document.marks]
    pairs = list(zip(document.marks, spans, strict=True))
    return Reading(
        Article(Path(document.name), "markdown", document.text, ()),
        {
            name: ReadInput(Numbers.read(entries), Span(0, 1))
            for name, entries in truth["given"].items()
        },
        {name: ReadStep(parse(expression)) for name, expression in truth["steps"].items()},
        truth.get("loss"),
        tuple(
            Claimed("of", parse(mark.expression), "here", span, html.unescape(mark.printed), span)
            if mark.expression
            else Claimed(
                "as_printed", parse(mark.correct or mark.printed), "here", span, mark.printed, span
            )
            for mark, span in pairs
            if not mark.is_given
        ),
        numbers=tuple(
            ArticleNumber(
                mark.printed,
                span,
                "given" if mark.is_given else "bound" if mark.expression else "local",
                mark.expression,
            )
            for mark, span in pairs
        ),
    )


def measured(document, reading):
    """That document measured with that reading of it."""
    return measure(document, lambda path: case_of(reading))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("path", marks.documents(CORPUS), ids=lambda path: path.name)
def test_a_perfect_reader_has_full_marks(path):
    """Nothing in a document keeps a reader from finding and binding every figure, and
    the audit from refuting the planted slips, and only these."""
    document = marks.load(path)
    found = measured(document, perfect(document))
    assert (found.error, found.found, found.bound) == ("", 1, 1)
    assert found.faults == Faults()
    assert found.caught == found.mended == len(document.slips)


def test_what_is_not_read_is_missed(document):
    """A figure without a number of the reader's counts as not found and not bound, and
    a slip that nobody refutes as overlooked, at its line and column."""
    reading = perfect(document)
    found = measured(document, replace(reading, numbers=reading.numbers[:4], claims=()))
    assert (found.found, found.bound) == (4 / 9, 4 / 6)
    assert [str(note) for note in found.faults.missed][:1] == ["4:10 10, S[0, 0]: no number"]
    assert [note[:2] for note in found.faults.overlooked] == [(4, 14), (4, 27)]


def test_another_quantity_is_wrong_and_an_equal_one_is_right(document):
    """Not the name counts but the value, to twelve digits."""
    reading = perfect(document)
    numbers = list(reading.numbers)
    numbers[4] = replace(numbers[4], of="S[0, 1] + 4")
    numbers[3] = replace(numbers[3], of="A[0, 1]")
    found = measured(document, replace(reading, numbers=tuple(numbers)))
    assert [note[:2] for note in found.faults.wrong] == [(3, 19)]
    assert found.bound == 5 / 6


@pytest.mark.parametrize("of", ["", "X @ X", "nothing", "S["])
def test_what_has_no_value_is_not_bound(document, of):
    """Neither no quantity, nor a matrix, nor what is no expression."""
    reading = perfect(document)
    numbers = (*reading.numbers[:4], replace(reading.numbers[4], of=of), *reading.numbers[5:])
    assert measured(document, replace(reading, numbers=numbers)).bound == 5 / 6


def test_what_claims_nothing_must_not_be_judged(document):
    """A number without a mark that is taken for a figure is told, and where it is
    refuted, it is a false alarm as well."""
    reading = perfect(document)
    year = Span(10, 14)
    claims = (*reading.claims, Claimed("of", parse("S[0, 0]"), "here", year, "2024", year))
    numbers = (ArticleNumber("2024", year, "bound", "S[0, 0]"), *reading.numbers)
    found = measured(document, replace(reading, claims=claims, numbers=numbers))
    assert [str(note) for note in found.faults.judged] == ["1:11 2024, bound S[0, 0]"]
    assert [str(note) for note in found.faults.alarms] == ["1:11 S[0, 0] = 2024, not 10"]


def test_a_right_figure_refuted_is_a_false_alarm(document):
    """Also where it was found, and bound to what it is not."""
    reading = perfect(document)
    claims = (replace(reading.claims[0], tree=parse("S[1, 1]")), *reading.claims[1:])
    found = measured(document, replace(reading, claims=claims))
    assert [note[:2] for note in found.faults.alarms] == [(4, 10)]


def test_a_slip_found_elsewhere_is_overlooked(document):
    """The column is that of the figure, before or after its sign."""
    reading = perfect(document)
    for shift, overlooked in ((0, 0), (1, 0), (-2, 1)):
        span = reading.claims[1].span
        moved = replace(reading.claims[1], spans=Span(span.start + shift, span.end))
        claims = (reading.claims[0], moved, *reading.claims[2:])
        assert (
            len(measured(document, replace(reading, claims=claims)).faults.overlooked) == overlooked
        )


def test_what_can_t_be_read_at_all_counts_as_missed(document):
    """A document that the reader refuses has no share of anything, and says why."""

    def refuse(path):
        raise Malformed("not today")

    found = measure(document, refuse)
    assert (found.error, found.found, found.bound, found.caught) == ("not today", 0, 0, 0)


def test_sums_with_a_planted_operand_are_no_false_alarm(document):
    """Numbers that don't come to what is printed are one, but not on the line of a slip,
    which may be among them."""
    reading = perfect(document)
    given, scores = reading.numbers[0].span, reading.claims[0].span
    for span, alarms in ((given, [(3, 8)]), (scores, [])):
        claims = (*reading.claims, Claimed("as_printed", parse("3 + 4"), "here", span, "1", span))
        found = measured(document, replace(reading, claims=claims))
        assert [note[:2] for note in found.faults.alarms] == alarms


def test_a_statement_refuted_is_a_false_alarm(document):
    """No statement is planted."""
    reading = perfect(document)
    claims = (
        *reading.claims,
        Claimed("holds", parse("S[0, 0] == 3"), "here", reading.claims[0].span),
    )
    found = measured(document, replace(reading, claims=claims))
    assert [str(note) for note in found.faults.alarms] == ["4:10 S[0, 0] == 3"]
