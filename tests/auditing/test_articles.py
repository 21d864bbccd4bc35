"""Audits of articles: each figure at its own place, and an account of all numbers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing import reports
from symattn.auditing.reports import errata
from symattn.cases.article import case_of
from symattn.cases.case import make
from symattn.documents.reading import ArticleNumber
from symattn.documents.text import Span
from symattn.sheets.redpen import sheet
from symattn.verdicts import Verdict

from ..strategies import some
from .articles import POST, audited, claimed, post, read, span_of


def cut(source, item):
    """What a place of JSON has in the source, by its lines and columns."""
    lines = source.split("\n")
    if item["line"] == item["end_line"]:
        return lines[item["line"] - 1][item["column"] - 1 : item["end_column"] - 1]
    first, last = lines[item["line"] - 1], lines[item["end_line"] - 1]
    between = lines[item["line"] : item["end_line"] - 1]
    return "\n".join([first[item["column"] - 1 :], *between, last[: item["end_column"] - 1]])


# -- places ------------------------------------------------------------------------------


def test_every_figure_has_its_own_place():
    """In JSON what stands at the place of a figure is that figure as it is printed."""
    shown = reports.as_dict(audited())
    assert len(shown["claims"]) == 7
    for item in (*shown["claims"], *shown["roots"]):
        assert item["file"] == "post.md"
        assert cut(POST, item) == item["printed"]
    for item in (*shown["coverage"]["unread_at"], *shown["coverage"]["ignored_at"]):
        assert cut(POST, item) == item["text"]
    assert [cut(POST, item) for item in shown["open"]] == ["a quarter"]


@some
@given(st.text("ab\u00e9\u732b\U0001f600\t", max_size=9), st.sampled_from(["\n", "\r\n", "\r"]))
def test_columns_count_characters(before, end):
    """Whatever stands before a figure, and however lines end."""
    source = f"{before}{end}{before}2 * 3 = 7.5{end}"
    found = audited(read(source, [claimed(source, "as_printed", "2 * 3", "7.5")]))
    (item,) = reports.as_dict(found)["claims"]
    assert (item["line"], item["column"]) == (2, len(before) + 9)
    assert (item["end_line"], item["end_column"]) == (2, len(before) + 12)


def test_a_statement_over_two_lines():
    """It ends on another line than it begins."""
    source = "It is so that\n1 is more\nthan 2."
    found = audited(read(source, [claimed(source, "holds", "1 > 2", "1 is more\nthan 2")]))
    (item,) = reports.as_dict(found)["claims"]
    assert cut(source, item) == "1 is more\nthan 2"
    ((result,),) = (
        [one for one in run["results"] if one["ruleId"] == "statement"]
        for run in json.loads(reports.sarif([found], "0"))["runs"]
    )
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 1, "endLine": 3, "endColumn": 7}


def test_annotations_and_logs_have_the_same_places():
    """Those of JSON, in the article's own file."""
    found = audited()
    (wrong,) = (x for x in reports.as_dict(found)["claims"] if x["verdict"] == "refuted")
    line, *notices = reports.github([found]).splitlines()
    assert line.startswith(
        f"::error file=post.md,line=9,col={wrong['column']},endLine=9,"
        f"endColumn={wrong['end_column']},title=last-digit::A[0, 1] is printed as 0.39"
    )
    assert all(notice.startswith("::notice file=post.md,line=") for notice in notices)
    (run,) = json.loads(reports.sarif([found], "0"))["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "post.md"},
        "region": {"startLine": 9, "startColumn": wrong["column"],
                   "endColumn": wrong["end_column"]},
    }  # fmt: skip
    rules = [result["ruleId"] for result in run["results"][1:]]
    assert rules == ["within-rounding", "within-rounding", "open", "assumption", "coverage"]
    assert {result["level"] for result in run["results"][1:]} == {"note"}


def test_reasons_name_lines():
    """What is carried tells the line of what it carries, in a matrix of several lines too."""
    source = "Y: 2.5;\n3.5\n\nZ: 5.0; 7.0"
    claims = [claimed(source, "of", "Y", "2.5;\n3.5"), claimed(source, "of", "Z", "5.0; 7.0")]
    claims = [
        type(one)(**{**vars(one), "printed": tuple(x[0] for x in one.printed),
                     "spans": tuple(x[0] for x in one.spans)})
        for one in claims
    ]  # fmt: skip
    found = audited(read(source, claims, given={"Y": ("2.5", "3.4")}, steps={"Z": "2 * Y"}))
    figure = next(figure for figure in found.figures if figure.cause == "carried")
    assert figure.reason.endswith("Y[1] = 3.5 (line 2)")


# -- the account of all numbers --------------------------------------------------------------


def test_coverage_counts_every_number():
    """Each is counted once, by what became of it; the sentence leaves out what there is none
    of, and names the lines of what was not read."""
    found = audited()
    counts = reports.counts(found.numbers)
    assert counts == {
        "numbers": 20, "given": 4, "bound": 5, "local": 8, "ignored": 2, "unread": 1
    }  # fmt: skip
    assert counts["numbers"] == sum(counts.values()) / 2
    assert reports.line(found) == (
        "20 numbers: 5 bound, 8 local, 4 given, 2 ignored, 1 not read (line 12)"
    )
    assert reports.line(audited(read("None.", ()))) == "0 numbers"
    assert reports.line(audited(read("In 2026.", (), numbers=[("ignored", "2026")]))) == (
        "1 number: 1 ignored"
    )


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([7, 7], "line 7"),
        ([40, 3, 40, 12], "lines 3, 12, 40"),
        (range(1, 15), "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more"),
    ],
)
def test_lines_are_named_once_and_in_order(lines, told):
    """Of many the first."""
    assert reports.lines(lines) == told


def test_every_report_says_how_the_article_was_read():
    """The coverage, what was assumed, and what is left open."""
    found = audited()
    pen = str(sheet(found).blocks)
    texts = [reports.github([found]), reports.sarif([found], "0"), errata(found), pen]
    for text in (*texts, str(reports.as_dict(found))):
        assert "a quarter" in text
        assert "assuming softmax row by row" in text
    for text in texts:
        assert "20 numbers: 5 bound, 8 local, 4 given, 2 ignored, 1 not read" in text


def test_errata_and_red_pen_tell_places():
    """Below the heading that a figure stands under, its line and its column."""
    found = audited()
    assert "| Softmax (line 9, column 30) | `A[0, 1]` | 0.39 | 0.38 |" in errata(found)
    assert "Softmax (line 9, column 30)" in str(sheet(found).blocks)
    assert "Softmax (Zeile 9, Spalte 30)" in str(sheet(found, language="de").blocks)
    source = "Above all headings 2 * 3 = 7."
    bare = audited(read(source, [claimed(source, "as_printed", "2 * 3", "7", where="")]))
    assert "| line 1, column 28 |" in errata(bare)


def test_walkthrough_files_have_the_same_keys():
    """Without an article there are no columns, and nothing was read."""
    article = reports.as_dict(audited())
    plain = reports.as_dict(audited_case({"of": "X", "printed": "0.5"}, {"holds": "X == 1"}))
    assert plain.keys() == article.keys()
    assert {frozenset(item) for item in (*plain["claims"], *article["claims"])} == {
        frozenset(article["claims"][0])
    }
    assert (plain["coverage"], plain["assumptions"], plain["open"]) == (None, [], [])
    assert {item["column"] for item in plain["claims"]} == {None}


def audited_case(*claims):
    """The audit of a case that was made in Python."""
    from symattn.auditing.audit import audit

    return audit(make("mine", {"X": "0.5"}, {}, claims=claims))


# -- what is no claim -----------------------------------------------------------------------


def test_what_only_its_value_bound_is_never_refuted():
    """It is left open with its place, and counts as not read; nor is it evidence."""
    claims = [claimed(POST, "of", "A[0, 1]", "0.622", doubt="only its value suggests so")]
    found = audited(read(POST, claims, given={"S": (("1", "0.5"), ("0", "2"))},
                         steps={"A": "softmax(S)"}, numbers=[("bound", "0.622")]))  # fmt: skip
    assert (found.figures, found.count(Verdict.REFUTED)) == ((), 0)
    (left,) = found.open
    assert (left.what, left.span) == ("0.622", span_of(POST, "0.622"))
    assert reports.counts(found.numbers)["unread"] == 1
    right = audited(post())
    assert [figure.text for figure in right.figures if figure.claim.doubt] == ["0.622"]


def test_what_is_judged_as_arithmetic_is_not_open():
    """Whatever else it may be: its place is told once, right or wrong."""
    for printed, verdict in (("0.81", Verdict.HOLDS), ("0.85", Verdict.REFUTED)):
        source = f"0.62 * 1 + 0.38 * 0.50 = {printed}"
        doubt = "too little around it agrees to be sure what it is"
        claims = [claimed(source, "as_printed", "0.62 * 1 + 0.38 * 0.50", printed),
                  claimed(source, "of", "A", printed, "= ", doubt=doubt)]  # fmt: skip
        found = audited(read(source, claims, given={"A": "0.5"}))
        assert [figure.verdict for figure in found.figures] == [verdict]
        assert found.open == ()


def test_what_has_no_answer_is_left_open():
    """A division by zero, a comparison of masked scores, figures in another shape, an unknown
    name: nobody wrote them as claims. The rest is judged, and these numbers were not read."""
    source = "1 / 0 = 5, and 4 of B, and [1 2 3], and S1 > S2; 2 * 3 = 6."
    claims = [
        claimed(source, "as_printed", "1 / 0", "5"),
        claimed(source, "of", "B", "4"),
        claimed(source, "of", "S", "1 2 3"),
        claimed(source, "holds", "causal(S)[0, 1] - causal(S)[0, 1] == 0", "S1 > S2"),
        claimed(source, "as_printed", "2 * 3", "6"),
    ]
    numbers = [("local", "5"), ("bound", "4"), ("bound", "1"), ("local", "6")]
    found = audited(read(source, claims, given={"S": (("1", "2"), ("3", "4"))},
                         steps={"T": "S"}, numbers=numbers))  # fmt: skip
    assert [figure.text for figure in found.figures] == ["6"]
    assert [left.what for left in found.open] == ["1 / 0", "B", "S", claims[3].text]
    assert "division by zero" in found.open[0].why
    assert "unknown name 'B'" in found.open[1].why
    assert [number.status for number in found.numbers] == ["unread"] * 3 + ["local"]
    assert reports.line(found) == "4 numbers: 1 local, 3 not read (line 1)"


def test_claims_keep_their_places_when_others_are_left_out():
    """However many before them don't fit."""
    source = " ".join(f"x{k} is {k}.5," for k in range(9))
    claims = [
        claimed(source, "of" if k % 2 else "as_printed", f"x{k}" if k % 2 else f"{k} + 0.5",
                f"{k}.5")
        for k in range(9)
    ]  # fmt: skip
    found = audited(read(source, claims))
    spans = [figure.span for figure in found.figures]
    assert [source[span.start : span.end] for span in spans] == [f"{k}.5" for k in (0, 2, 4, 6, 8)]
    assert [left.what for left in found.open] == [f"x{k}" for k in (1, 3, 5, 7)]


def test_an_article_without_claims_is_fine():
    """There is nothing to judge, and what was not read is told."""
    found = audited(read("About 17 cats.", (), numbers=[("unread", "17")]))
    assert found.summary["figures"] == 0
    assert reports.line(found) == "1 number: 1 not read (line 1)"
    case = case_of(read("Nothing."))
    assert (case.steps, case.claims, case.output) == ({}, (), "")


@some
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=12))
def test_numbers_of_claims_without_an_answer(pairs):
    """Those that lie inside of one, and no others: as a search of all says."""
    from symattn.auditing.audit import _covering
    from symattn.documents.reading import OpenQuestion

    spans = [Span(min(pair), max(pair) + 1) for pair in pairs]
    items = [OpenQuestion("", "", span) for span in spans]
    covering = _covering(items)
    for start in range(41):
        number = ArticleNumber("1", Span(start, start + 2), "bound")
        inside = any(x.start <= start and number.span.end <= x.end for x in spans)
        assert (covering(number.span) is not None) is inside
