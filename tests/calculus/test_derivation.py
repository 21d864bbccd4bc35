"""A derivation as a chain: reasons that apply, and none that do not."""

from __future__ import annotations

import pytest

from symattn.calculus.draft import read
from symattn.calculus.judging import derived
from symattn.calculus.library import THEORY, derive, names

from .files import theory

TABLES = {
    "title": "Chain",
    "sizes": ["n"],
    "shapes": {"x": ["n"], "y": ["n"], "t": []},
    "hypotheses": ["sum(j, y[j]) == 1", "t > 0"],
    "define": {"p": "softmax(x)", "q[i]": "p[i]**2"},
}


def statuses(*lines, library=lambda _: None):
    found = derived("chain", {**TABLES, "lines": list(lines)}, library)
    assert found.faults == ()
    return [one.status for one in found.lines], [one.why for one in found.lines]


SUM = {"line": "sum(i, p[i]) == 1", "by": ["p"], "label": "rows"}


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("by", "line"),
    [
        (["p"], "sum(i, p[i]) == 1"),
        (["rows"], "sum(i, p[i]) * t == t"),
        (["1"], "sum(i, p[i]) * t == t"),
        (["algebra"], "x[i] + x[i] == 2 * x[i]"),
        ([], "x[i] + x[i] == 2 * x[i]"),
        (["q"], "q[i] == p[i]**2"),
        (["q", "p"], "q[i] == exp(x[i])**2 / sum(j, exp(x[j]))**2"),
        (["sum(j, y[j]) == 1"], "sum(j, y[j]) * t == t"),
        (["t > 0"], "sqrt(t**2) == t"),
        (["other"], "sum(i, p[i]) * t == t"),
    ],
)
def test_good_reasons(by, line) -> None:
    """A definition, an earlier line by number or label, a hypothesis, what another concludes."""
    lines = ["zz == 1", "sum(i, p[i]) == 1"]
    other = read({**TABLES, "lines": [{"line": one} for one in lines], "conclusions": lines})
    found, why = statuses(
        SUM, {"line": line, "by": by}, library=lambda name: other if name == "other" else None
    )
    assert found == ["proved", "proved"], why


@pytest.mark.parametrize(
    ("by", "line", "told"),
    [
        (["q"], "sum(i, p[i]) == 1", "does not follow from q"),
        (["p", "q"], "sum(i, p[i]) == 1", "follows without q"),
        (["algebra"], "sum(i, p[i]) == 1", "does not follow from algebra"),
        (["rows", "p"], "sum(i, p[i]) * t == t", "follows without"),
        (["nobody"], "sum(i, p[i]) == 1", "there is no definition, hypothesis, earlier line"),
        (["2"], "sum(i, p[i]) == 1", "there is no definition, hypothesis, earlier line"),
        (["3"], "sum(i, p[i]) == 1", "there is no definition, hypothesis, earlier line"),
        (["t > 0"], "x[i] - x[i] == 0", "follows without t > 0"),
        (["sum(j, y[j]) == 1"], "sqrt(t**2) == t", "does not follow from sum(j, y[j]) == 1"),
    ],
)
def test_bad_reasons(by, line, told) -> None:
    """A line with a wrong reason, or one that is not needed, is not proved."""
    found, why = statuses(SUM, {"line": line, "by": by})
    assert found == ["proved", "undecided"]
    assert told in why[1]


def test_what_follows_from_a_false_line_is_not_proved() -> None:
    """A reason has to hold itself; another derivation says what its letters mean there."""
    false = {"line": "sum(i, x[i]) == 1", "label": "false"}
    found, _ = statuses(false, {"line": "sum(i, x[i]) * t == t", "by": ["false"]})
    assert found == ["refuted", "refuted"]
    open_line = "relu(a - 1) + relu(1 - a) == sqrt((a - 1)**2)"
    lines = [{"line": open_line}, {"line": open_line.replace("==", "== 0 +"), "by": ["1"]}]
    found = derived("own", {"shapes": {"a": []}, "lines": lines}).lines
    assert [one.status for one in found] == ["checked", "checked"]
    elsewhere = read({**TABLES, "define": {"p": "softmax(x)"}, "lines": [{"line": SUM["line"]}]})
    own = {**TABLES, "define": {"p[i]": "x[i]"}}
    lines = [{"line": SUM["line"], "by": ["other"]}]
    [line] = derived("own", {**own, "lines": lines}, {"other": elsewhere}.get).lines
    assert line.status == "refuted"


def test_a_refuted_line_is_refuted_whatever_its_reason() -> None:
    """Numbers come first."""
    found, _ = statuses({"line": "sum(i, p[i]) == 2", "by": ["p"]})
    assert found == ["refuted"]


def test_counts_and_plain_data() -> None:
    """What is handed out: statuses, counterexamples, conditions."""
    lines = [
        {"line": "x[i] / x[i] == 1", "because": "it cancels"},
        {"line": "x[i] == 1"},
        {"line": "foo == 1"},
        {"line": "relu(t - 1) + relu(1 - t) == sqrt((t - 1)**2)"},
    ]
    found = derived("chain", {**TABLES, "lines": lines})
    assert [one.status for one in found.lines] == ["proved", "refuted", "undecided", "checked"]
    assert dict(found.counts) == {"proved": 1, "refuted": 1, "undecided": 1, "checked": 1}
    assert not found.proved
    data = found.to_dict()
    assert (data["name"], data["title"], data["proved"], data["faults"]) == (
        *("chain", "Chain"),
        *(False, []),
    )
    first, second, third, fourth = data["lines"]
    assert (first["where"], first["because"]) == (["x[i] != 0"], "it cancels")
    assert second["counterexample"]["sizes"] == {"n": 1}
    assert third["why"].startswith("unknown name 'foo'")
    assert fourth["sizes"]
    assert fourth["counterexample"] is None
    assert found.lines[0].text == "x[i] / x[i] == 1"


@pytest.mark.heavy
def test_every_bundled_derivation_is_proved() -> None:
    """With the reasons that it names."""
    assert sorted(names()) == theory()
    for name in names():
        found = THEORY[name]
        assert found.proved, [(one.text, one.why) for one in found.lines if not one.proved]
        assert found.faults == ()


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("name", theory())
def test_every_reason_is_needed(name) -> None:
    """A bundled derivation without one of its reasons is refused."""
    from .files import theory_document

    tables = theory_document(name)
    for place, line in enumerate(tables["lines"]):
        by = line.get("by") or []
        assert by, line["line"]
        for left in [one for one in by if one != "algebra"][:1]:
            other = {**line, "by": [one for one in by if one != left]}
            lines = [*tables["lines"][:place], other]
            found = derived(name, {**tables, "lines": lines, "conclusions": []}, _library)
            if found.lines[-1].status != "proved":
                continue
            # Without it a line is proved only where more is so.
            whole = [*tables["lines"][:place], line]
            before = derived(name, {**tables, "lines": whole, "conclusions": []}, _library)
            assert {*found.lines[-1].where} > {*before.lines[-1].where}, (line["line"], left)


def _library(name):
    from symattn.calculus.library import draft_of

    return draft_of(name)


def test_a_text_is_judged_without_raising() -> None:
    """Faults of TOML too are told, not raised."""
    assert derive("sizes = [").faults
    assert derive("").faults
    assert derive('[[lines]]\nline = "1 == 1"').proved


def test_notebooks_show_what_speaks_against_a_line():
    """A refuted line has its counterexample and its hint, in LaTeX and in HTML; others haven't."""
    lines = [{"line": "sum(i, p[i]) == 2"}, {"line": "sum(i, p[i]) == 1"}]
    found = derived("sums", {**TABLES, "lines": lines}, lambda _: None)
    wrong, right = found.lines
    assert (wrong.status, right.status) == ("refuted", "proved")
    assert wrong.against == (str(wrong.counterexample), wrong.hint)
    assert right.against == ()
    latex = found._repr_latex_() or ""
    assert latex.startswith("\\begin{align*}\n1.\\quad & \\sum_{i} p_{i} = 2 && \\text{refuted}")
    assert latex.endswith("&& \\text{proved}\n\\end{align*}")
    assert "$" not in latex
    for shown in (latex, found._repr_html_()):
        assert "is not 2" in shown
        assert "it would hold with a division by 2" in shown
    assert derived("none", {**TABLES, "lines": []}, lambda _: None)._repr_latex_() is None
