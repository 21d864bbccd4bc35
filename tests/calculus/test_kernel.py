"""The kernel alone: what it must not prove, whatever is asked of it, and what it replays."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import pytest

from symattn.calculus import draft, line_reading
from symattn.calculus.certificates import certificate, replay
from symattn.calculus.conditions import written
from symattn.calculus.judged_lines import Evidence, JudgedLine
from symattn.calculus.judging import Judge, derived
from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.proof import Kernel, Shown
from symattn.calculus.kernel.rules import RULES
from symattn.calculus.kernel.terms import Unproved
from symattn.calculus.library import THEORY, draft_of
from symattn.calculus.prover import Prover
from symattn.calculus.tensors import ParsedLine
from symattn.errors import Malformed

from .files import document, names, theory, theory_document
from .proofs import proof, prover

SHAPES: dict[str, list[object]] = {
    **{name: ["n"] for name in "xypw"},
    **{name: [] for name in "tuab"},
    "S": ["n", "m"],
    "Q": ["n", "n"],
}
TABLES = {
    "sizes": ["n", "m"],
    "shapes": SHAPES,
    "permutations": {"pi_": "n"},
    "random": ["w"],
    "define": {"q": "sqrt(t**2) / t"},
}


@pytest.mark.sampled(49)
@pytest.mark.parametrize(
    ("line", "hypotheses"),
    [
        # What holds where a comparison does is not known outside of it.
        (
            "step(i < n) * sum(j, delta(j, i + 1) * y[j]) + sum(j, delta(j, i + 1) * y[j])"
            " == step(i < n) * y[i + 1] + y[i]",
            [],
        ),
        # Not below 0 is not above it.
        ("step(0 < t - 1) == 1", ["t >= 1"]),
        ("step(0 < sqrt(a)) == 1", ["a >= 0"]),
        ("step(0 < t - 1) + sqrt(t - 1) == 1 + sqrt(t - 1)", []),
        # Of the variable of a limit, and of random entries, nothing is known.
        ("limit(t, -oo, sqrt(t**2) / t) == 1", ["t > 0"]),
        ("limit(t, 0, sqrt((t - 5)**2)) == -5", ["t >= 5"]),
        ("log(t) * limit(t, -oo, sqrt(t**2) / t) == log(t)", []),
        ("sqrt(t - 5) * limit(t, 0, sqrt((t - 5)**2)) == -5 * sqrt(t - 5)", []),
        ("limit(t, oo, q) - limit(t, -oo, q) == 0", []),
        ("limit(t, oo, q) + limit(t, -oo, q) == 2", []),
        ("limit(t, oo, erf(t)) == erf(1)", ["t == 1"]),
        ("limit(t, oo, sin(t)) == sin(1)", ["t == 1"]),
        ("sqrt(w[1]) * expect(sqrt(w[1]**2)) == 0", []),
        ("limit(t, oo, limit(t, -oo, sqrt(t**2) / t)) == 1", []),
        ("limit(t, oo, step(0 < t * a - t * b)) + step(0 < t * a - t * b) == 2", ["a > b"]),
        ("expect(exp(w[1])) == exp(a)", ["w[i] == a"]),
        # What is only known to tend to 0 outweighs nothing.
        (
            "limit(t, oo, t**(1/1000000000000) * (t + 1)**(-1/10000000000000)) == 0",
            ["limit(u, oo, erf(u)) == 1"],
        ),
        # What is said of two places says at one place what it says there.
        ("step(0 < log(x[i]) - 1) == 1", ["log(x[i] + x[j]) > 1"]),
        # At the ends of a range nothing is as within it.
        ("sum(i, step(i - 1 <= 1) * x[i]**0) == 1 - delta(1, n)", []),
        ("sum(i, step(1 <= i - 1) * x[i]**0) == n + step(2 <= n) - 1 + delta(1, n)", []),
        # A slope needs more than the end of where there is a value, and no hypothesis.
        ("diff(sqrt(t**2), t) == 1", ["t >= 0"]),
        ("diff(sum(i, y[i]), y[k]) == 0", ["sum(i, y[i]) == 1"]),
        # An equation says no more than it says.
        ("Q[i, k] == Q[k, i]", ["Q[1, 2] == Q[2, 1]"]),
        ("x[i] == 1", ["x[1] == 1"]),
        # Places that there need not be.
        ("sum(i, delta(i, 2) * x[i]) == x[1]", []),
        ("sum(i, delta(i, 5) * x[i]) == x[1]", []),
        ("step(2 <= n) == 1", []),
        ("exp(log(t**2) / 2) == t", []),
        ("(t**2)**0.5 == t", []),
        ("sqrt(x[1] * x[2])**2 == -x[1] * x[2]", []),
        ("diff(diff(q, t), t) == 1", []),
        ("x[n + 1] - x[n + 1] == 0", []),
        ("sum(i, x[i - 1] * 0) == 0", []),
        ("y[n] == a", ["x[i + 1] == y[i]", "x[i + 1] == a"]),
        # What a sum of errors grows to is no smaller than it.
        (
            "limit(t, oo, sum(i, exp(x[i] * t) * sin(exp(x[i] / t) - 1 - x[i] / t"
            " - x[i]**2 / (2 * t**2)))) == 0",
            [],
        ),
        # An equation that is put into another binds what it binds.
        ("diff(a, t) == 1", ["t == u", "a == u"]),
        ("limit(t, oo, a / t) == 1", ["t == u", "a == u"]),
        # The form of a term says something where the term has a meaning only.
        ("log(exp(log(x[i]))) * 0 + step(0 < x[k]) == 1", []),
        ("sqrt(sqrt(x[i])**2) * 0 + sqrt(x[k]**2) == x[k]", []),
        # What was computed while a condition was known says nothing of it.
        ("log(x[k]) * 0 + x[k] + log(-x[k]) * 0 == 1", ["x[i] == 2 * step(0 < x[i]) - 1"]),
        # Which permutations send a place is told apart from where it lies.
        ("step(0 < x[pi_[k + 1]] + y[pi_[k]]) == 1", ["x[i + 1] + y[i] > 0"]),
        # A side of a limit.
        ("limit(t, oo, limit(t, 0, abs(t) / t)) == 1", []),
        ("log(t) * 0 + limit(t, -1, abs(t + 1) / (t + 1)) == 1", []),
        ("limit(t, -1, abs(t + 1) / (t + 1)) == 1", ["t > 0"]),
        # What is assumed of a limit says nothing of where its variable is.
        ("step(0 < t) == 1", ["limit(t, 0, erf(1 / t)) == 1"]),
        ("step(0 < t) == 1", ["limit(t, 0, erf(1 / t)) > 0"]),
        # What a rule needs of a hypothesis is not what the hypothesis says.
        ("step(0 < 1 + t) == 1", ["b == log(2 + 2 * relu(t))"]),
        ("step(0 < 1 + t) == 1", ["log(2 + step(0 < a) * 2 * t) > -10"]),
        ("step(0 < t**2) == 1", ["diff(relu(t)**2, t) == b"]),
        ("step(0 < a) == 1", ["limit(t, 0, t * log(a + t)) == b"]),
        # Where a place does not exist nothing is assumed, nor has a meaning.
        ("step(0 < x[n]) == 1", ["y[i + 1] == log(x[i])"]),
        ("step(0 < x[1]) == 1", ["y[i] == y[i - 1] + log(x[i])"]),
        ("abs(x[n]) == x[n]", ["x[i] * exp(y[i + 1]) > 0"]),
        ("abs(x[n]) == x[n]", ["x[i] > 0 * y[i + 1]"]),
        # An index has the places of its own axis.
        ("step(2 <= k - 1) * b + 0 * S[i, k] == 0", ["step(2 <= i) * b + 0 * x[i] == 0"]),
        ("step(2 <= pi_[1]) * b == 0", ["step(2 <= k) * b + 0 * S[i, k] == 0"]),
        # What is above 0 at a point is so near it where it does not jump.
        (
            "diff(t * relu((1/2 - step(0 < t**2)) * a) / (1/2 - step(0 < t**2)), t) == relu(a)",
            ["1/2 - step(0 < t**2) > 0"],
        ),
        # Conditions that are met nowhere.
        ("limit(t, -oo, log(t) * 0) == 0", []),
        ("diff(log(abs(t)), t) == 1 / t", []),
    ],
)
def test_no_false_line_is_proved(line, hypotheses) -> None:
    """By no rule: each was once proved, or is of a kind that provers like to prove."""
    why, _ = proof(line, TABLES, *hypotheses)
    assert why


@pytest.mark.parametrize(
    ("line", "hypotheses", "where"),
    [
        ("limit(t, oo, 1 / (1 + a * t)) == 0", [], ["a != 0"]),
        ("limit(t, 0, t / (t + a)) == 0", [], ["a != 0"]),
        ("limit(t, oo, exp(-sqrt(a) * t)) == 0", ["a >= 0"], ["sqrt(a) > 0"]),
        ("limit(t, oo, 1 / (1 + (n - 9)**2 * t)) == 0", [], ["81 - 18 * n + n**2 != 0"]),
        ("limit(u, oo, exp(-(a - 1) * u)) == 0", ["a >= 1"], ["-1 + a > 0"]),
        ("diff(relu(t), t) == step(0 < t)", [], ["t != 0"]),
        ("x[5] - x[5] == 0", [], ["n >= 5"]),
        # Those of an equation that was used within a step, too.
        (
            "1 / (y[k] + b / x[k]) == x[k] / (t + b)",
            ["x[i] * y[i] == t + 0 * y[i + 1]"],
            ["y[k] + b / x[k] != 0", "t + b != 0", "x[k] != 0", "k + 1 <= n"],
        ),
        ("x[k] / x[k] == 1", ["y[i + 1] / x[i] == t"], ["x[k] != 0"]),
        # What an expression is near an end only is no name for a condition elsewhere.
        (
            "limit(t, oo, 1 / (sqrt(t**2) - a)) + limit(u, oo, 1 / ((t - a) * u + 1)) == 0",
            [],
            ["a - t != 0"],
        ),
        ("log(n - m) * sqrt(n - m) * 0 == 0", [], ["n - m > 0"]),
        ("1 / (t - 1) * sqrt(t - 1) == 1 / sqrt(t - 1)", [], ["t - 1 != 0", "t - 1 >= 0"]),
        ("limit(t, oo, exp(-(a**2 + b**2) * t)) == 0", [], ["a**2 + b**2 > 0"]),
        ("x[i + 1] - x[i + 1] == 0", [], ["i + 1 <= n"]),
        ("step(i < n) * (x[i + 1] - x[i + 1]) == 0", [], []),
        ("diff(sqrt(t), t) * sqrt(t) == 1/2", [], ["t > 0"]),
        ("t / t == 1", ["t + 1 > 0"], ["t != 0"]),
        ("(a / b)**2 * 0 == 0", [], ["b != 0"]),
        ("(1 / t)**0 == 1", [], ["t != 0"]),
        ("sum(i, step(1 < i) * x[i - 1] * 0) == 0", [], []),
        ("1 / (n - 1) * (n - 1) == 1", [], ["n - 1 != 0"]),
        ("relu(t) - relu(-t) == t", [], []),
        ("sqrt(sqrt(t)**2) * 0 == 0", [], ["t >= 0"]),
        ("1 / exp(log(t)) * 0 == 0", [], ["t > 0"]),
        ("y[i] == a", ["x[i + 1] == y[i]", "x[i + 1] == a"], ["i + 1 <= n"]),
        (
            "log((a - t)**2 + t) * 0 + limit(t, oo, 1 / ((a - t)**2 + t)) == 0",
            [],
            ["(a - t)**2 + t > 0"],
        ),
        ("log(x[k]) * 0 + x[k] == 1", ["x[i] == 2 * step(0 < x[i]) - 1"], ["x[k] > 0"]),
        ("sum(k, log(x[k])) == 0", ["x[i] == 2 * step(0 < x[i]) - 1"], ["x[k] > 0 for all k"]),
        # Bound letters name nothing else.
        (
            "sum(i, diff(abs(Q[i, j] * t), t)) * 0 + 0 * x[j] == 0",
            [],
            ["Q[k, j] != 0 for all k", "t != 0"],
        ),
        # From below there may be another limit, or none.
        (
            "limit(t, 0, abs(t) / t * erf(1 / t)) == limit(t, 0, erf(1 / t))",
            [],
            ["t > 0"],
        ),
        ("limit(t, 0, exp(-1 / t)) == 0", [], ["t > 0"]),
        ("limit(t, 1, exp(-1 / (t - 1))) == 0", [], ["-1 + t > 0"]),
        ("limit(t, 0, exp(-1 / t)) == 0", ["t > 0"], []),
        ("limit(t, 0, sin(t) / t) == 1", [], []),
        ("sum(i, step(i < n) * x[i + 1]) == sum(i, x[i]) - x[1]", [], []),
    ],
)
def test_all_conditions_are_told(line, hypotheses, where) -> None:
    """A line that holds only where something is so says where."""
    assert proof(line, TABLES, *hypotheses) == ("", where)


@pytest.mark.heavy
def test_what_holds_row_by_row_is_no_condition() -> None:
    """Sums over few places are seen to be above 0 in each of them."""
    found = derived(
        "rows",
        {
            "sizes": ["n"],
            "shapes": {"X": [1, "n"], "x": [1, "n"]},
            "losses": {"L": "A"},
            "define": {
                "P": "concat(X, x, axis=0)",
                "T": "causal(P @ P.T)",
                "A": "softmax(T)",
                "dT": "diff(L, T)",
            },
            "lines": [{"line": "diff(L, X) == ((dT + dT.T) @ P)[0:1, :]"}],
        },
    )
    assert [(line.status, line.where) for line in found.lines] == [("proved", ())]


def test_conditions_go_with_what_is_cited() -> None:
    """What follows from a line holds where that does."""
    lines = [
        {"line": "t / t == 1", "label": "a"},
        {"line": "x[i] * t / t == x[i]", "by": ["a"]},
        {"line": "y[i] == t / t * y[i]", "by": ["2", "a"]},
    ]
    found = derived("cited", {**TABLES, "define": {}, "lines": lines[:2]})
    assert [line.where for line in found.lines] == [("t != 0",)] * 2


def test_arms_that_there_are_not_are_no_reason_to_refuse() -> None:
    """Of two deltas that are not 1 at once without a third."""
    root = "sqrt((delta(i, k) + step(i < n))**2 + 1) * x[i]"
    assert proof(f"{root} == {root} + 0 * x[k]", TABLES) == ("", [])


def test_a_size_is_no_index() -> None:
    """A condition has letters of its own for its indices, and an index is none of a size."""
    tables = {"sizes": ["j"], "shapes": {"x": ["j"], "t": []}}
    line = "diff(sum(i, relu(t * x[i] - j)), t) == sum(i, x[i] * step(j < t * x[i]))"
    assert proof(line, tables) == ("", ["-j + t * x[k] != 0 for all k"])
    found = derived("p", {**TABLES, "define": {"p[n]": "x[n]**2"}, "lines": [{"line": "n == n"}]})
    assert "n is a size" in str(found.faults)
    again: dict[str, Any] = {
        **TABLES,
        "define": {"p[t]": "t * x[t]"},
        "lines": [{"line": "t == t"}],
    }
    assert "t is given or defined" in str(derived("p", again).faults)


def test_a_loss_lies_between_what_it_is_of() -> None:
    """The chain rule through one quantity misses what goes through a loss."""
    define = {"Y": "t * b", "B": "t * a", "F": "B * L"}
    line = "diff(F, t) == diff(F, B) * a"
    lines = [{"line": line, "by": ["B"]}]
    tables = {**TABLES, "losses": {"L": "Y"}, "define": define, "lines": lines}
    assert derived("between", tables).lines[0].status == "refuted"
    read = draft.read(tables)
    judge = Judge(read)
    found = judge.prover_from(["B"]).proof(line_reading.line(line, read.scope))
    assert found.why


@pytest.mark.parametrize(
    ("line", "hypotheses"),
    [
        (
            "where(step(b < a + a) + step(a < b + b), t, u) == "
            "(step(b < a + a) + step(a < b + b)) * (t - u) + u",
            [],
        ),
        ("sum(j, C[0:2][j + 1]) == C[2]", []),
        ("diff(u, t) == 0", ["u == t**2"]),
        ("limit(t, 0, u) == u", ["u == t**2"]),
        ("expect(x[i]) == x[i]", ["x[i] == 2 * w[i]"]),
    ],
)
def test_what_is_not_proved(line, hypotheses) -> None:
    """Comparisons that may both hold, places that are none, what is tied to what varies."""
    tables = {
        **TABLES,
        "shapes": {**SHAPES, "C": [4]},
        "hypotheses": hypotheses,
        "lines": [{"line": line}],
    }
    assert derived("not proved", tables).lines[0].status != "proved"


def test_a_reason_holds_where_the_line_stands() -> None:
    """No hypothesis that is dropped there, nor what was proved under it."""
    lines = [
        {"line": "t * t == a * t", "label": "one"},
        {"line": "t * t == a * t", "by": ["t == a"], "without": [0]},
        {"line": "t * t == a * t", "by": ["one"], "without": [0]},
    ]
    found = derived("without", {**TABLES, "define": {}, "hypotheses": ["t == a"], "lines": lines})
    assert [line.status for line in found.lines] == ["proved", "refuted", "refuted"]
    judge = Judge(found.draft)
    judge.lines()
    assert judge.stands("t == a", ())
    assert not judge.stands("t == a", (0,))
    assert judge.stands("one", ())
    assert not judge.stands("one", (0,))


def test_an_index_in_an_option_is_one_of_the_line() -> None:
    """What it stands in is another number for each of its values."""
    row = "sum(k, rmsnorm(x, eps=y[k]**2 + 1)[1] * Q[k, i])"
    tables = {**TABLES, "define": {"d[i]": row}}
    line = "d[i] * sum(k, Q[k, j]) == d[j] * sum(k, Q[k, i])"
    why, _ = proof(line, tables)
    assert why


def cited(tables, *lines):
    """Why the last line does not follow from those before it, and where it holds."""
    read = draft.read({**tables, "lines": [{"line": line} for line in lines]})
    by = prover(read)
    kernel = by.kernel
    given: list[tuple[ParsedLine, Shown]] = []
    for line in lines:
        parsed = line_reading.line(line, read.scope)
        defined = frozenset(item.array for item in read.definitions) if given else frozenset()
        by = Prover(kernel, [] if given else read.ground.hypotheses, given, defined)
        found = by.proof(parsed)
        given = [*given, (parsed, by.shown(found))]
    return found.why, [written(each, found.sources) for each in found.conditions]


def test_a_line_says_nothing_of_what_is_defined_otherwise() -> None:
    """It is true by the definition: where that is varied it need not be."""
    tables = {**TABLES, "define": {"A_[i]": "exp(x[i]) / sum(j, exp(x[j]))"}}
    why, _ = cited(tables, "sum(j, A_[j]) == 1", "diff(sum(j, A_[j]), A_[k]) == 0")
    assert why
    why, _ = cited(tables, "sum(j, A_[j]) == 1", "diff(log(sum(j, A_[j])), x[k]) == 0")
    assert not why


@pytest.mark.parametrize(
    ("hypothesis", "line"),
    [("a > 0", "limit(a, -oo, b_ / a) == 1"), ("t == log(a)", "limit(a, -1, b_) == -1"),
     ("a >= 0", "diff(b_, a) == 1")],
)  # fmt: skip
def test_a_cited_line_is_read_with_signs_that_bind_it(hypothesis, line) -> None:
    """What it is where a > 0 it need not be where a varies."""
    lines = [
        {"line": "b_ == sqrt(a**2)", "by": ["b_"]},
        {"line": line, "by": ["1", hypothesis]},
    ]
    define = {"b_": "sqrt(a**2)"}
    read = draft.read({**TABLES, "define": define, "hypotheses": [hypothesis], "lines": lines})
    judge = Judge(read)
    for number, statement in enumerate(read.lines, 1):
        parsed, by = (
            line_reading.line(statement.line, read.scope),
            judge.prover_from(statement.by or ()),
        )
        found = by.proof(parsed)
        evidence = Evidence(by, found, True, {})
        judge.done.append(JudgedLine(number, statement, "proved", parsed, evidence=evidence))
    assert found.why


def test_a_sign_by_form_is_not_that_of_what_a_condition_makes_of_it() -> None:
    """Where that does not hold the form is of another term."""
    tables = {**TABLES, "define": {}, "hypotheses": ["abs(b * a) == exp(3 * t)"]}
    lines = "exp(log(b * a)) == exp(3 * t)", "log(exp(3 * t)) * 0 + exp(3 * t) == b * a"
    assert cited(tables, *lines) == ("", ["b * a > 0"])


# -- certificates ------------------------------------------------------------------------------


def replayed(name):
    written = certificate(THEORY[name])
    held = draft.read(theory_document(name))
    return json.loads(json.dumps(written)), held


@pytest.mark.sampled(0, 3)
@pytest.mark.parametrize("name", theory())
def test_certificates_are_replayed(name) -> None:
    """From plain data, without looking for a proof, to the same conditions."""
    data, held = replayed(name)
    where = replay(held, data, draft_of)
    assert where == {line.number: line.where for line in THEORY[name].lines if line.proved}


@pytest.mark.sampled(0, 5)
@pytest.mark.parametrize("name", names("corpus"))
def test_certificates_of_the_corpus_are_replayed(name) -> None:
    """With hypotheses, limits, and means too."""
    tables = document("corpus", name)
    judged = derived(name, tables)
    data = json.loads(json.dumps(certificate(judged)))
    proved = {line.number: line.where for line in judged.lines if line.proved}
    assert replay(draft.read(tables), data) == proved


def test_a_certificate_proves_its_own_lines_only() -> None:
    """With a line changed, a step left out, or another rule, nothing is proved."""
    data, _ = replayed("softmax-jacobian")
    tables = theory_document("softmax-jacobian")
    other = copy.deepcopy(tables)
    place = next(k for k, line in enumerate(tables["lines"]) if "- A[k]" in line["line"])
    other["lines"][place]["line"] = tables["lines"][place]["line"].replace("- A[k]", "+ A[k]")
    other["conclusions"] = []
    with pytest.raises((Malformed, Unproved)):
        replay(draft.read(other), data, draft_of)
    for change in ("transport", "counted", "nothing"):
        changed = copy.deepcopy(data)
        for line in changed["proofs"]:
            for step in line["proof"]["steps"]:
                step[2]["Step"]["rule"] = change
        with pytest.raises(Malformed):
            replay(draft.read(tables), changed, draft_of)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"format": "other"},
        {"format": "symattn certificate 2"},
        {"format": "symattn certificate 2", "atoms": [["x"]], "proofs": []},
        {"format": "symattn certificate 2", "atoms": [], "proofs": [{"line": 1}]},
        {"format": "symattn certificate 2", "atoms": 3, "proofs": 4},
    ],
)
def test_what_is_no_certificate_is_refused(data) -> None:
    """With a message, not an error of ours."""
    with pytest.raises(Malformed):
        replay(draft.read(theory_document("softmax-jacobian")), data, draft_of)


NUMBER, SUM = (lambda text: {"number": text}), (lambda *pairs: {"sum": [*map(list, pairs)]})


@pytest.mark.parametrize(
    ("line", "hypotheses", "atoms", "steps", "last"),
    [
        # Times 0 everything vanishes.
        ("t == a", [], [["p", SUM([[], NUMBER("0")])]], [], ["clear", [{"at": 0}, 1]]),
        ("t == a", [], [["p", SUM([[], NUMBER("3")])]], [], ["clear", [{"at": 0}, 10**9]]),
        # A limit has an end that is a number, or none.
        (
            "limit(t, 0, 1 / (1 + t**2)) == 0",
            [],
            [
                ["array", "t"],
                ["x", [{"at": 0}, []]],
                ["p", SUM([[], NUMBER("1")], [[[{"at": 1}, 2]], NUMBER("1")])],
                ["L", [{"at": 0}, 0, SUM([[[{"at": 2}, -1]], NUMBER("1")])]],
            ],
            [("expansion", [[{"at": 3}, 1]], {"data": 3, "moving": ["t"]})],
            [],
        ),
        # A comparison tells no two places to be one.
        (
            "step(i <= k) * x[i] == step(i <= k) * x[k]",
            [],
            [
                ["index", "line 1, index 0"],
                ["index", "line 1, index 1"],
                ["m", [[{"at": 0}, 0, []], [{"at": 1}, 0, []]]],
            ],
            [],
            ["cases", {"at": 2}],
        ),
        # One factor of an equation is not what the equation is of.
        (
            "b == 0",
            ["a * b == 0"],
            [
                ["array", "a"],
                ["array", "b"],
                ["x", [{"at": 0}, []]],
                ["x", [{"at": 1}, []]],
            ],
            [
                [
                    "instance",
                    [[{"at": 3}, 1]],
                    {"left": [[{"at": 2}, 1], [{"at": 3}, 1]], "beside": [[{"at": 2}, -1]]},
                ]
            ],
            None,
        ),
        # The index of a sum that is opened later captures nothing.
        (
            "t == sum(j, Q[j, j])",
            ["t == sum(j, Q[i, j])"],
            [
                ["array", "t"],
                ["array", "Q"],
                ["variable", 0, "n"],
                ["index", "hypothesis 0, index 0"],
                ["x", [{"at": 0}, []]],
            ],
            [
                [
                    "instance",
                    [[{"at": 4}, 1]],
                    {
                        "left": [[{"at": 4}, 1]],
                        "beside": [],
                        "at": [[{"at": 3}, [{"at": 2}, 0, []]]],
                    },
                ]
            ],
            None,
        ),
    ],
)
def test_no_step_proves_what_is_false(line, hypotheses, atoms, steps, last) -> None:
    """Whatever a certificate says, each step is one that holds, or there is no proof."""

    def step(epoch, rule, to, use):
        moving = use.get("moving", [])
        data = use.get("data", {"Instance": {"number": 0, "at": [], **use}})
        return [epoch, moving, {"Step": {"rule": rule, "to": to, "data": data}}]

    proof = {
        "steps": [step(epoch, *each) for epoch in range(4) for each in steps],
        "equations": [],
        "last": [{"Last": {"rule": last[0], "data": last[1]}}] if last else [],
    }
    ready = {"steps": [], "equations": [["assume", 0]] if hypotheses else [], "last": []}
    data = {
        "format": "symattn certificate 2",
        "title": "",
        "atoms": atoms,
        "proofs": [{"line": 1, "by": False, "ready": ready, "proof": proof, "where": []}],
    }
    read = draft.read({**TABLES, "hypotheses": hypotheses, "lines": [{"line": line}]})
    with pytest.raises(Malformed):
        replay(read, data, draft_of)


def test_a_line_does_not_follow_from_one_without_a_proof() -> None:
    """Nor from a sign that was assumed where it is varied."""
    lines = [{"line": "step(0 < t) == 1"}, {"line": "limit(t, -oo, step(0 < t)) == 1", "by": ["1"]}]
    tables = {**TABLES, "define": {}, "hypotheses": ["t > 0"], "lines": lines}
    found = derived("cited", tables)
    assert [line.status for line in found.lines] == ["proved", "refuted"]
    data, read = replayed("softmax-backward")
    assert [entry["line"] for entry in data["proofs"]][:3] == [1, 2, 3]
    del data["proofs"][0]
    with pytest.raises(Malformed, match="has no proof"):
        replay(read, data, draft_of)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        (
            "limit(t, oo, (exp(sin(1 / t)) - 1) * t) == 1",
            "limit(t, oo, (exp(sin(1 / t)) - 1) * t) == 0",
        ),
        (
            "limit(t, oo, log(1 + sin(1 / t)) * t) == 1",
            "limit(t, oo, log(1 + sin(1 / t)) * t) == 0",
        ),
    ],
)
def test_a_short_series_has_errors(true, false) -> None:
    """A certificate may ask for few terms: then the limit is not known."""
    found = derived("true", {**TABLES, "lines": [{"line": true}]})
    text = json.dumps(certificate(found))
    assert '"data": 3}' in text
    read = draft.read({**TABLES, "lines": [{"line": false}]})
    with pytest.raises(Malformed):
        replay(read, json.loads(text.replace('"data": 3}', '"data": 1}')), draft_of)


def test_a_sum_is_nested_with_all_its_factors() -> None:
    """Those that have none of its indices as well."""
    kernel = Kernel()
    read = draft.read({**TABLES, "define": {}, "lines": [{"line": "sum(i, x[i]) == t"}]})
    total, number = (
        kernel.read(x) for x in line_reading.line("sum(i, x[i]) == t", read.scope).sides
    )
    ((((atom, _),), _),) = total.items()
    ((((letter, _),), _),) = number.items()
    assert isinstance(atom, kinds.Sum)
    constant = kernel.atom(kinds.Sum, atom.axes, ((letter, 1),))
    assert RULES["nest"](kernel, ((constant, 1),), (0,)) == kernel.mul(number, kernel.size("n"))


@pytest.mark.parametrize("whole", [None, (0, "1/2"), (0, "1/2", "1/3"), (0, "1/2", "1/2", 1), ()])
def test_a_sum_of_places_is_what_its_differences_say(whole) -> None:
    """A polynomial whose differences are other terms is refused, whoever gives it."""
    kernel = Kernel()
    read = draft.read({**TABLES, "define": {}, "lines": [{"line": "sum(i, i + 0 * x[i]) == t"}]})
    line = line_reading.line("sum(i, i + 0 * x[i]) == n * (n + 1) / 2", read.scope)
    sum_of_places, closed = map(kernel.read, line.sides)
    (total,) = sum_of_places
    half = Fraction(1, 2)
    assert RULES["counted"](kernel, total, (Fraction(0), half, half)) == closed
    with pytest.raises(Unproved):
        RULES["counted"](kernel, total, whole and tuple(map(Fraction, whole)))


def test_a_bundled_derivation_is_no_reason_in_a_certificate() -> None:
    """There its letters are what they are, here A may be anything."""
    ready = {"steps": [], "equations": [["assume", 0]], "last": []}
    proof: dict[str, list[object]] = {"steps": [], "equations": [], "last": []}
    entry = {"line": 1, "by": True, "ready": ready, "proof": proof, "where": []}
    data = {"format": "symattn certificate 2", "title": "", "atoms": [], "proofs": [entry]}
    lines = [{"line": "J[i, k] == A[i] * (delta(i, k) - A[k])", "by": ["softmax-jacobian"]}]
    define = {"A[i]": "sigmoid(x[i])", "J[i, k]": "diff(A[i], x[k])"}
    read = draft.read({"sizes": ["n"], "shapes": {"x": ["n"]}, "define": define, "lines": lines})
    with pytest.raises(Malformed, match="line 1 follows from softmax-jacobian, which has no proof"):
        replay(read, data, draft_of)
