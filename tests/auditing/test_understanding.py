"""What a report says of how an article was understood, and the notes that it gives to paste."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from symattn.auditing import reports, understanding
from symattn.auditing.audit import audit
from symattn.cases.article import case_of
from symattn.documents.binding import evidence
from symattn.documents.binding.binder import read
from symattn.documents.files import article
from symattn.documents.help import help_of
from symattn.languages.sentence import joined
from symattn.printers.source import document
from symattn.sheets.marked import page
from symattn.verdicts import Verdict

from ..cli.test_articles import text_of
from .articles import audited, claimed, post
from .articles import read as read_by_hand

ASSUMED = """# Two words

$Q = [[1, 2], [3, 1]]$ and $K = [[2, 0], [1, 1]]$

The scores: $$S = Q K^T = [[2, 3], [6, 4]]$$

The attention weights: $$A = [[0.330, 0.670], [0.804, 0.196]]$$
"""

#: Figures that wait for a matrix that nothing defines.
HIDDEN = """# Hidden

$X = [[1, 2], [3, 1]]$

$$M = N + X$$

$$A = M / 3 = [[0.667, 1.000], [1.333, 0.667]]$$

And $$Z = 2 P = [[2.5, 3]]$$ with 17 of 0.123 in words.
"""


def judged(text, name="post.md"):
    """The audit of a text."""
    made = article(Path(name), text.encode())
    return audit(case_of(read(made, help_of(made))))


def pasted(text, note, line=0):
    """A text with a note before a line, or before all."""
    lines = text.splitlines()
    lines[max(line - 1, 0) : max(line - 1, 0)] = [note, ""]
    return "\n".join(lines) + "\n"


def sure(one):
    """What there must be."""
    assert one is not None
    return one


# -- what was understood -------------------------------------------------------------------


def test_a_report_begins_with_what_was_understood():
    """The inputs with their shapes, the steps and which of them are assumed, and by what how
    many figures are bound."""
    inputs, steps, bound = understanding.summary(judged(ASSUMED))
    assert inputs == "inputs: Q (2x2), K (2x2)"
    assert steps.startswith("steps: S, ")
    assert "(assumed)" in steps
    assert bound.startswith("figures bound: ")
    lines = text_of(judged(ASSUMED), width=100).splitlines()
    assert lines[1:4] == [inputs, steps, bound]


def test_of_many_names_the_first_are_told():
    """Two lines are no place for thirty."""
    given = {f"x_{k}": "1" for k in range(30)}
    found = audited(read_by_hand("nothing", given=given))
    (inputs,) = understanding.summary(found)
    assert inputs == f"inputs: {', '.join(f'x_{k}' for k in range(8))} and 22 more"


def test_the_note_for_an_assumed_step_is_read():
    """As it stands it says what was assumed."""
    found = judged(ASSUMED)
    note = sure(understanding.remedy(found))
    assert note.when == "if this is misread, add this note:"
    again = judged(pasted(ASSUMED, note.text))
    name = note.text.split()[2]
    assert [sure(one.case.reading).steps[name].assumed for one in (found, again)] == [True, False]
    assert note.text in text_of(found, width=40)


def test_the_note_for_what_is_refuted_is_read():
    """Where it was told to be put it has the block claim nothing."""
    source = (
        "$X = [[1.25, 2.5], [3.75, 4]]$\n\n$Y = X + X = [[2.5, 5], [7.5, 9]]$\n\n"
        "$Z = 3 X = [[3.75, 7.5], [11.25, 12]]$\n"
    )
    found = judged(source)
    note = sure(understanding.remedy(found))
    assert (found.count(Verdict.REFUTED), note.line) == (1, 3)
    assert judged(pasted(source, note.text, note.line)).count(Verdict.REFUTED) == 0


def test_where_nothing_is_assumed_or_refuted_nothing_is_advised():
    """A right article has no need of notes."""
    assert (
        understanding.remedy(judged("$X = [[1, 2], [3, 4]]$\n\n$Y = X + X = [[2, 4], [6, 8]]$"))
        is None
    )


@pytest.mark.parametrize(
    ("form", "text", "when"),
    [
        (
            "markdown",
            "<!-- symattn: ignore -->",
            "if this is misread, add this note before line 9:",
        ),
        ("latex", "% symattn: ignore", "if this is misread, add this note before line 9:"),
        ("pdf", "ignore = [9]", "if this is misread, write into post.symattn.toml beside it:"),
    ],
)
def test_notes_are_written_as_the_file_has_them(form, text, when):
    """In its comments; for what has none in a side file."""
    reading = post()
    found = audited(replace(reading, article=replace(reading.article, form=form)))
    note = sure(understanding.remedy(found))
    assert (note.text, note.when) == (text, when)


# -- what a binding rests on -----------------------------------------------------------------

BASIS = joined(
    (
        joined(evidence.EVIDENCE[kind].called for kind in ("labels", "suggested")),
        evidence.Agreement(11, 12).sentence,
    ),
    "; ",
)


def rested():
    """The post, with what its first claim rests on."""
    reading = post()
    first, *claims = reading.claims
    return audited(replace(reading, claims=(replace(first, basis=BASIS), *claims)))


def test_each_refutation_says_on_what_it_rests():
    """In the text, in the annotations, the log, the data and the page."""
    found = rested()
    said = f"bound by: {BASIS}"
    assert f"      {said}\n" in text_of(found)
    assert f"(off by one unit in the last place; {said})" in reports.github([found])
    (result,) = (
        one
        for one in json.loads(reports.sarif([found], "0"))["runs"][0]["results"]
        if one["ruleId"] == "last-digit"
    )
    assert said in result["message"]["text"]
    (wrong,) = (x for x in reports.as_dict(found)["claims"] if x["verdict"] == "refuted")
    assert wrong["basis"] == BASIS
    assert said in document(page(found))


def test_it_is_said_in_german():
    """Word by word."""
    german = document(page(rested(), language="de"))
    assert "zugeordnet durch: Beschriftung, was der Name nahelegt; 11 von 12 Zahlen" in german
    assert "Gegeben: S (2x2)" in german


# -- what is open and what was not read ------------------------------------------------------


def test_what_is_open_is_grouped_by_its_reason():
    """One line for each reason with the first places, the rest counted; one thing alone has
    its place and reason as ever."""
    doubt = "too little around it agrees to be sure what it is"
    source = "\n".join(f"The share {k} is 0.{k}1." for k in range(1, 7)) + "\na quarter\n"
    claims = [claimed(source, "of", "A", f"0.{k}1", doubt=doubt) for k in range(1, 7)]
    found = audited(
        read_by_hand(
            source, claims, given={"A": "0.5"}, left=[("a quarter", "of what is not said")]
        )
    )
    text = text_of(found, width=100)
    assert f"open, 6 times: {doubt}\n" in text
    assert "  1:16 0.11 (A?), 2:16 0.21 (A?), 3:16 0.31 (A?), 4:16 0.41 (A?) and 2 more\n" in text
    assert "post.md:7:1: open: a quarter (of what is not said)\n" in text
    first, second = understanding.open_groups(found)
    assert (len(first.items), len(second.items)) == (6, 1)
    assert (sure(first.note).text, sure(first.note).line) == ("<!-- symattn: A -->", 1)


def test_numbers_that_were_not_read_are_grouped_by_what_would_open_them():
    """The name that a formula needs, not the one that it begins with; the largest group
    first, and last what nothing is said of. With the note filled in they are read."""
    found = judged(HIDDEN)
    first, second, last = understanding.unread_groups(found)
    assert [group.reason for group in (first, second, last)] == [
        "N is not defined",
        "P is not defined",
        "nothing says what they are",
    ]
    assert (len(first.items), len(second.items)) == (5, 3)
    assert sure(first.note).text == "<!-- symattn: N = ... -->"
    defined = judged(pasted(HIDDEN, sure(first.note).text.replace("...", "[[1, 1], [1, 1]]")))
    assert len(defined.figures) == 4
    assert "N" not in str([group.reason for group in understanding.unread_groups(defined)])
    text = text_of(found, width=100)
    assert "  not read: N is not defined (5 numbers, line 7)\n" in text
    assert "open: N" not in text
    (shown, *_) = reports.as_dict(found)["unread"]
    assert (shown["count"], shown["lines"]) == (5, [7])


def test_what_is_printed_of_a_quantity_that_is_not_understood_is_what_it_is():
    """So that what is computed from it is judged."""
    printed = HIDDEN.replace("M = N + X", "M = N + X = [[2, 3], [4, 2]]").replace(
        "0.667]", "0.607]"
    )
    figures = judged(printed).figures
    assert {figure.claim.text for figure in figures} == {"A"}
    assert [(f.text, f.correct) for f in figures if str(f.verdict) == "refuted"] == [
        ("0.607", "0.667")
    ]


def test_the_page_groups_as_well():
    """Its lists have a line for each reason, with the note."""
    text = document(page(judged(HIDDEN)))
    assert "N is not defined; to have them read, add this note:" in text
    assert "&lt;!-- symattn: N = ... --&gt;" in text


def test_what_holds_as_printed_is_told():
    """With the exact value, in the text and on the page."""
    source = "exp(0.71) = 2.034, said of 0.7071."
    claims = [
        claimed(source, "as_printed", "exp(0.71)", "2.034"),
        claimed(source, "of", "E", "2.034"),
    ]
    found = audited(read_by_hand(source, claims, given={"T": "0.7071"}, steps={"E": "exp(T)"}))
    said = "E = 2.034 holds as printed; the exact value is 2.028"
    text = text_of(found)
    assert "2 hold (1 as printed), 0 refuted" in text
    assert f"  {said} (line 1)\n" in text
    assert said in document(page(found))
    assert f"title=as-printed::{said}" in reports.github([found])
