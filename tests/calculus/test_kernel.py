"""The kernel alone: what it must not prove, whatever is asked of it, and what it replays."""

from __future__ import annotations

import copy
import json

import pytest

from symattn.calculus import draft
from symattn.calculus.certificates import certificate, replay
from symattn.calculus.judging import derived
from symattn.calculus.kernel.terms import Unproved
from symattn.calculus.library import THEORY, draft_of
from symattn.errors import Malformed

from .files import document, names, theory, theory_document
from .proofs import proof

TABLES = {
    "sizes": ["n", "m"],
    "shapes": {
        **{name: ["n"] for name in "xypw"},
        **{name: [] for name in "tuab"},
        "S": ["n", "m"],
        "Q": ["n", "n"],
    },
    "permutations": {"pi_": "n"},
    "random": ["w"],
    "define": {"q": "sqrt(t**2) / t"},
}


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


# -- certificates ------------------------------------------------------------------------------


def replayed(name):
    written = certificate(THEORY[name])
    held = draft.read(theory_document(name))
    return json.loads(json.dumps(written)), held


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", theory())
def test_certificates_are_replayed(name) -> None:
    """From plain data, without looking for a proof, to the same conditions."""
    data, held = replayed(name)
    where = replay(held, data, draft_of)
    assert where == {line.number: line.where for line in THEORY[name].lines if line.proved}


@pytest.mark.sampled(3)
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
        {"format": "symattn certificate 1"},
        {"format": "symattn certificate 1", "atoms": [["x"]], "proofs": []},
        {"format": "symattn certificate 1", "atoms": [], "proofs": [{"line": 1}]},
        {"format": "symattn certificate 1", "atoms": 3, "proofs": 4},
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
        data = {"Instance": {"number": 0, "at": [], **use}}
        return [epoch, [], {"Step": {"rule": rule, "to": to, "data": data}}]

    proof = {
        "steps": [step(epoch, *each) for epoch in range(4) for each in steps],
        "equations": [],
        "last": [{"Last": {"rule": last[0], "data": last[1]}}] if last else [],
    }
    ready = {"steps": [], "equations": [["assume", 0]] if hypotheses else [], "last": []}
    data = {
        "format": "symattn certificate 1",
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
