"""Reports of audits that were made in Python: without a file, with several roots, counted."""

from __future__ import annotations

import json
from random import Random

import pytest

from symattn.auditing import reports
from symattn.auditing.audit import audit
from symattn.auditing.reports import errata
from symattn.cases.case import make
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

from . import planting

GIVEN = {"a": "1/3", "b": "1/7", "c": "1/9"}
STEPS = {"s": "a + b", "t": "2 * s", "u": "c / 2", "v": "log(4) - 2 * log(2)"}
#: What is printed of each, where nothing is wrong.
RIGHT = {"a": "0.333", "b": "0.143", "c": "0.111", "s": "0.476", "t": "0.952", "u": "0.056"}


def document(*figures, **more):
    """The audit of these printed figures, pairs of an expression and a text, in this order."""
    claims = [{"where": f"line {k}", "of": of, "printed": text} for k, (of, text) in
              enumerate(figures)]  # fmt: skip
    claims += [{"holds": text} for text in more.pop("holds", ())]
    return audit(Solution(make("paper", GIVEN, STEPS, claims=claims, **more)))


#: What is said of a root without a cause.
NONE = "incorrect, no cause found"


def labels(figures):
    """The expressions of figures."""
    return [figure.label for figure in figures]


@pytest.mark.parametrize(
    ("figures", "more", "line"),
    [
        ({}, {"holds": ["a > b"]}, "0 figures and 1 statement: 1 holds, 0 refuted, 0 roots"),
        (["a"], {}, "1 figure: 1 holds, 0 refuted, 0 roots"),
        (["a", "b"], {}, "2 figures: 2 hold, 0 refuted, 0 roots"),
        (
            ["a", "b"],
            {"holds": ["a > b", "a < b", "v == 0", "v == 0"]},
            "2 figures and 4 statements: 3 hold, 1 refuted, 2 undecided, 0 roots",
        ),
        (
            [("c", "0.777"), "a"],
            {"unchecked": [{"where": "1", "what": "x", "reason": "y"}] * 2},
            "2 figures: 1 holds, 1 refuted, 1 root; 2 not checked",
        ),
    ],
)
def test_the_counts_in_one_sentence(figures, more, line) -> None:
    """One of a kind is singular; statements, what is undecided or unchecked only where there is."""
    pairs = [pair if isinstance(pair, tuple) else (pair, RIGHT[pair]) for pair in figures]
    assert reports.summary_line(document(*pairs, **more)) == line


def test_a_figure_that_carries_two_roots() -> None:
    """It stands with the first of its roots, whatever the order in which they are met."""
    found = document(("b", "0.243"), ("a", "0.433"), ("s", "0.676"), ("t", "1.352"), ("u", "0.056"))
    b, a, s, t, u = found.figures
    assert [figure.cause for figure in (b, a, s, t, u)] == [
        "root",
        "root",
        "carried",
        "carried",
        "",
    ]
    assert labels(reports.origins(s)) == labels(reports.origins(t)) == ["b", "a"]
    assert [(root.label, labels(carried)) for root, carried in reports.grouped(found)] == [
        ("b", ["s", "t"]),
        ("a", []),
    ]
    # A root is its own, and so is a figure without a cause.
    assert reports.origins(a) == [a]
    assert reports.origins(u) == [u]
    assert [item["because"] for item in reports.as_dict(found)["claims"]] == [
        [], [], ["line 0: b", "line 1: a"], ["line 2: s"], [],
    ]  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(32, 40))
def test_figures_of_a_cause_stand_together(seed) -> None:
    """All figures that a slip explains stand with its first one, whatever else they carry;
    every wrong figure stands somewhere, once; causes come first, by their numbers."""
    found = audit(planting.document(Random(seed), "queries-for-keys", 3).case)
    groups = reports.grouped(found)
    listed = [figure.order for root, carried in groups for figure in (root, *carried)]
    wrong = [figure.order for figure in found.figures if figure.verdict is Verdict.REFUTED]
    assert sorted(listed) == wrong
    for (root, carried), slip in zip(groups, found.causes, strict=False):
        assert root is slip.explains[0]
        assert {id(figure) for figure in slip.explains} <= {id(f) for f in (root, *carried)}
    assert not any(root.explained for root, _ in groups[len(found.causes) :])


@pytest.mark.parametrize(
    ("carried", "said"),
    [
        ([], ""),
        ([("s", "0.576")], "1 more figure is wrong because of it: s"),
        (
            [("s", "0.576"), ("s", "0.576"), ("t", "1.152")],
            "3 more figures are wrong because of it: s (2 times), t",
        ),
    ],
)
def test_what_is_carried_in_a_line(carried, said) -> None:
    """How many figures, and what of; what is there several times is told once."""
    found = document(("b", "0.243"), *carried)
    ((_, follow),) = reports.grouped(found)
    assert reports.propagated_line(found, follow) == said


def test_what_is_carried_by_many_entries() -> None:
    """Where there are more entries than fit, quantities are told, then only how many."""
    x = [["1", "2", "3"]] * 3
    names = "PQRTUVW"
    steps = {name: "k * X" if name == "P" else "2 * P" for name in names}
    claims = [{"of": "k", "printed": 3}]
    claims += [{"of": name, "printed": [[3 * (1 + (name != "P")) * int(x) for x in row]
                for row in x]} for name in names]  # fmt: skip
    found = audit(Solution(make("many", {"X": x, "k": 2}, steps, claims=claims)))
    groups = reports.grouped(found)
    assert sum(1 + len(carried) for _, carried in groups) == 64
    figures = [figure for figure in found.figures if figure.claim.of in names]
    assert reports.propagated_line(found, figures) == (
        "63 more figures are wrong because of it: P (9 times), Q (9 times), R (9 times), "
        "T (9 times), U (9 times), V (9 times) and 9 more"
    )
    assert reports.propagated_line(found, figures[:4]) == (
        "4 more figures are wrong because of it: P[0, 0], P[0, 1], P[0, 2], P[1, 0]"
    )


def test_figures_that_follow() -> None:
    """Errata count what follows from a root, one or several, and list it as the document does."""
    one = document(("b", "0.243"), ("s", "0.576"), ("t", "0.952"))
    assert "; 1 more figure is wrong because of it |" in errata(one)
    two = document(("c", "0.777"), ("b", "0.243"), ("s", "0.576"), ("u", "0.389"), ("t", "1.152"))
    text = errata(two)
    assert f"| line 0 | `c` | 0.777 | 0.111 | {NONE}; {reports.propagated(1)} |" in text
    assert f"| line 1 | `b` | 0.243 | 0.143 | {NONE}; {reports.propagated(2)} |" in text
    after = text.partition("the following figures change as well:\n\n")[2]
    assert after.splitlines() == [
        "| where | quantity | printed | correct |",
        "|---|---|---|---|",
        "| line 2 | `s` | 0.576 | 0.476 |",
        "| line 3 | `u` | 0.389 | 0.056 |",
        "| line 4 | `t` | 1.152 | 0.952 |",
    ]


def test_what_holds_is_no_origin() -> None:
    """A right figure that a wrong one was computed from is told, and is no origin of it."""
    found = document(("a", "0.333"), ("b", "0.243"), ("s", "0.576"))
    assert labels(reports.origins(found.figures[2])) == ["b"]


def test_a_case_without_a_file() -> None:
    """It goes by its name, and its claims stand on the first line."""
    found = document(("a", "0.433"), holds=["a < b"])
    first, second = reports.github([found]).splitlines()
    assert first == (
        "::error file=paper,line=1,title=root::line 0: a is printed as 0.433; "
        "the correct value is 0.333 (incorrect, no cause found)"
    )
    assert second == "::error file=paper,line=1,title=statement::claims[1]: a < b does not hold"
    (run,) = json.loads(reports.sarif([found], "0"))["runs"]
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert places == [{"artifactLocation": {"uri": "paper"}, "region": {"startLine": 1}}] * 2
    assert [item["line"] for item in reports.as_dict(found)["claims"]] == [0, 0]


def test_several_audits_follow_each_other() -> None:
    """Annotations and results of several documents are one list, in their order."""
    wrong = document(("a", "0.433"))
    other = audit(Solution(make("other", GIVEN, STEPS, claims=[{"of": "c", "printed": "0.777"}])))
    assert [line.partition(",")[0] for line in reports.github([wrong, other]).splitlines()] == [
        "::error file=paper",
        "::error file=other",
    ]
    (run,) = json.loads(reports.sarif([wrong, other], "0"))["runs"]
    assert len(run["results"]) == 2


def test_letters_that_mean_something_in_markdown() -> None:
    """What a document says stands in errata as it is: no mark-up, no second line."""
    case = make(
        "odd", GIVEN, STEPS, title="<b>`1|2\\3`</b>\nfour",
        claims=[{"where": "a|b`c\n", "of": "a", "printed": "0.433"}, {"holds": "a < b"}],
    )  # fmt: skip
    text = errata(audit(Solution(case)))
    assert text.startswith("# Errata: \\<b>\\`1\\|2\\\\3\\`\\</b>\\\\nfour\n")
    assert "| a\\|b\\`c\\\\n | `a` | 0.433 | 0.333 | incorrect, no cause found |" in text
    assert text.endswith("- claims[1]: `a < b`\n")
