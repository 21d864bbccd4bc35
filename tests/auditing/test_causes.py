"""Why a figure is wrong: cut off, rounded before, carried, or wrong in itself."""

from __future__ import annotations

from random import Random

import pytest
from flint import fmpq

from symattn.auditing.audit import audit
from symattn.auditing.reports import grouped, origins
from symattn.cases.case import make
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

from .papers import (
    BACKWARD,
    DOCUMENTS,
    GIVEN,
    STEPS,
    Said,
    claiming,
    claims_of,
    declaring,
    document,
    expressions_of,
    flat,
    honest,
    printed,
    refuted,
    slipping,
    solved,
)

CUT = "every error is explained by truncation instead of rounding"
ROUNDED = "every error is explained by computing with rounded figures"


def by_hand(places, steps=STEPS, given=GIVEN):
    """What a person prints who computes each step from what was printed before."""
    figures, known = {}, dict(given)
    for name, text in steps.items():
        figures[name] = printed(Solution(make("by hand", known, {name: text}))[name], places)
        known[name] = figures[name]
    return figures


def test_rounded_intermediates_are_no_roots():
    """Each step computed from the rounded figures of the one before: what is
    off comes out from the document's own figures and is not wrong in itself."""
    wrong = []
    for places in (2, 3, 4, 5):
        found = document(*by_hand(places).items())
        assert refuted(found)
        assert found.habit != CUT
        wrong += refuted(found)
    assert {figure.cause for figure in wrong} == {"rounded-inputs", "carried", "truncated"}
    # Cut off or rounded before: where both may be, both are said.
    cut = [figure for figure in wrong if figure.cause == "truncated"]
    assert all("as printed also gives this value" in figure.reason for figure in cut)
    for figure in (figure for figure in wrong if figure.cause == "rounded-inputs"):
        assert all(f.verdict is Verdict.HOLDS for f in figure.because)
        assert all(f.order < figure.order for f in figure.because)


def test_the_habit_of_computing_with_rounded_figures_is_seen():
    """When that explains every miss, the audit says so; with one miss of
    another kind it does not."""
    thirds = Solution(make("thirds", {"a": ["1/3", "2/3", "4/3"]}, {"b": "a * 1", "c": "3 * b"}))
    first = Said("first", "b", ["0.333", "0.667", "1.333"])
    then = Said("then", "c", ["0.999", "2.001", "3.999"])
    found = audit(claiming(thirds, [first, then]))
    assert [figure.cause for figure in found.figures] == [""] * 3 + ["rounded-inputs"] * 3
    assert found.habit == ROUNDED
    assert not found.roots
    other = audit(claiming(thirds, [first, then, Said("later", "c[0]", "0.876")]))
    assert other.habit == ""


@pytest.mark.parametrize(
    ("of", "fine", "coarse"),
    [
        ("A[2, 2]", "0.1975", "0.198"),
        ("A[3, 2]", "0.37025", "0.3703"),
        ("Y[3, 3]", "0.4665", "0.467"),
        ("S[0, 0]", "-0.725", "-0.73"),
        ("d_k / 24 + 1e-9 - 2e-9", "0.125", "0.13"),
    ],
)
def test_rounding_twice_is_rounded_inputs(of, fine, coarse):
    """A figure rounded from one that was rounded up to it before."""
    found = document((of, fine), (of, coarse))
    assert [figure.verdict for figure in found.figures] == [Verdict.HOLDS, Verdict.REFUTED]
    assert [figure.cause for figure in found.figures] == ["", "rounded-inputs"]


# -- truncation --------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("places", [2, 4, 6])
def test_a_truncating_document_is_recognised(name, places):
    """All figures cut off: every miss is truncated where it is first said,
    and the document's habit is named."""
    solution = solved(name)
    claims = claims_of(solution, expressions_of(solution), places, "down")
    found = audit(claiming(solution, claims))
    assert len(refuted(found)) > 30
    for figure in refuted(found):
        again = figure.cause == "carried" and figure.reason.startswith("repeats")
        assert again or figure.cause == "truncated"
    assert found.habit == CUT


@pytest.mark.parametrize("of", ["A[2, 1]", "Y[1, 0]", "T[1, 2]"])
def test_one_figure_that_is_cut_off_is_truncated(of):
    """Alone in its document, which makes it no habit."""
    (figure,) = document((of, str(honest()[of].decimal(4, "down")))).figures
    assert (figure.cause, figure.slip) == ("truncated", "")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_declared_truncation_holds(name):
    """``rounding = "down"`` makes a truncating document hold."""
    solution = solved(name)
    claims = claims_of(solution, expressions_of(solution), 4, "down")
    found = audit(declaring(claiming(solution, claims), rounding="down"))
    assert not refuted(found)
    assert not found.habit


@pytest.mark.parametrize(("tolerance", "refutes"), [(fmpq(1, 10**4), 0), (fmpq(1, 10**5), 1)])
def test_a_declared_tolerance_is_the_largest_distance(tolerance, refutes):
    """Within it a truncated figure holds; the correct one is still told."""
    cut = claiming(honest(), claims_of(honest(), STEPS, 4, "down"))
    found = audit(declaring(cut, tolerance=tolerance))
    assert bool(refuted(found)) == bool(refutes)
    right = [text for name in STEPS for _, text in flat(printed(honest()[name], 4))]
    assert [figure.correct for figure in found.figures] == right


def test_one_cut_figure_is_no_habit():
    """Two misses may be chance; and one of another kind ends the habit."""
    table = printed(honest()["A"], 4, "down")
    assert document(("A", table)).habit == CUT
    table[2][0] = "0.9876"
    assert document(("A", table)).habit == ""


# -- carried -----------------------------------------------------------------------------


@pytest.mark.sampled(0, 2)
@pytest.mark.parametrize("places", [2, 3, 5])
def test_a_repeated_figure_is_carried_from_its_first_occurrence(places):
    """Saying a wrong figure again, or rounding it, is no new slip: whatever it
    is, cut off by chance or off by one, it points at the first occurrence."""
    random = Random(places)
    for _ in range(20):
        i = random.randrange(1, 4)
        j = random.randrange(i + 1)
        wrong = f"{random.random():.{places}f}"
        table = printed(honest()["A"], places)
        assert table[i][j] != wrong
        table[i][j] = wrong
        at = f"A[{i}, {j}]"
        found = document((at, wrong), (f"A[{i}]", table[i]), ("A", table), (f"{at} * 1", wrong))
        wrongs = refuted(found)
        assert len(wrongs) == 4
        assert len(found.roots) <= 1
        assert [figure.cause for figure in wrongs[1:]] == ["carried"] * 3
        assert all(figure.because == (wrongs[0],) for figure in wrongs[1:])
        assert all(figure.reason.startswith("repeats") for figure in wrongs[1:])


def test_a_carried_figure_names_the_wrong_ones_that_it_used():
    """Not the right ones; and not those that it doesn't depend on."""
    table = printed(honest()["A"], 4)
    table[2][1] = "0.9999"
    wrong = slipping(A="softmax(M)", Y="A @ V")
    numbers = [[text.replace("-inf", "0") for text in row] for row in table]
    output = printed(Solution(make("on", {"A": numbers, "V": printed(wrong["V"], 4)},
                                   {"Y": "A @ V"}))["Y"], 4)  # fmt: skip
    found = document(("V", printed(honest()["V"], 4)), ("A", table), ("Y", output))
    carried = [figure for figure in refuted(found) if figure.cause == "carried"]
    assert [figure.place for figure in carried] == [("Y", 2, j) for j in range(4)]
    for figure in carried:
        assert [source.label for source in figure.because] == ["A[2, 1]"]


def test_roots_corrected_everything_carried_comes_out():
    """The document with its roots corrected, and computed on from there, has
    nothing refuted: the roots are enough, and none of them can stay."""
    wrong = slipping(T="S")
    found = audit(claiming(honest(), claims_of(wrong, STEPS, 5)))
    assert {figure.place[0] for figure in found.roots} == {"T"}
    right = claims_of(honest(), STEPS, 5)
    assert not refuted(audit(claiming(honest(), right)))
    by_place = {figure.place: figure.correct for figure in found.figures}
    for claim in right:
        for (i, j), text in flat(claim.printed):
            assert by_place[claim.of, i, j] == text


@pytest.mark.heavy
def test_every_refuted_figure_stands_under_one_root():
    """The groups of a report hold each refuted figure once, under a figure
    that it really comes from."""
    for name in DOCUMENTS:
        found = audit(solved(name))
        listed = [figure for root, carried in grouped(found) for figure in (root, *carried)]
        assert sorted(f.order for f in listed) == [f.order for f in refuted(found)]
        for root, carried in grouped(found):
            assert root.cause != "carried"
            assert all(origins(figure)[0] is root for figure in carried)


def test_each_refuted_figure_has_a_cause_and_no_other_has():
    """Causes belong to what is refuted, sentences to causes, figures to their slips."""
    found = audit(claiming(honest(), claims_of(slipping(V="X @ W_K"), (*STEPS, *BACKWARD), 4)))
    for figure in found.figures:
        assert bool(figure.cause) == (figure.verdict is Verdict.REFUTED)
        assert bool(figure.reason) == bool(figure.cause)
        assert bool(figure.because) == (figure.cause in ("carried", "rounded-inputs"))
        assert figure.explained is None or figure in figure.explained.explains


def test_whole_numbers_are_not_taken_for_rounded_ones():
    """A wrong score among whole numbers is that number, so what only a score of
    2.7 would give does not come from it."""
    for given, cause in [([[2], [1]], "root"), ([["2.001"], [1]], "carried")]:
        case = make(
            "whole",
            {"X": given},
            {"S": "X * 1", "E": "exp(S)"},
            claims=[{"of": "S", "printed": [["3"], ["1"]]}, {"of": "E[0]", "printed": ["15"]}],
        )
        (score, power) = audit(case).figures[0::2]
        assert (score.verdict, power.verdict) == (Verdict.REFUTED, Verdict.REFUTED)
        assert power.cause == cause


def test_a_carried_figure_names_its_sources_with_their_places():
    """What it is, what is printed, and where."""
    wrong = Said("section 2", "S[0, 0]", "9.999")
    found = audit(claiming(honest(), [wrong, Said("section 3", "S[0, 0] * 2", "19.998")]))
    assert found.figures[1].reason == "follows from S[0, 0] = 9.999 (section 2)"


def test_a_search_that_is_given_up_is_told(monkeypatch):
    """Where there are too many edits to try them all, a root says so."""
    monkeypatch.setattr("symattn.auditing.search.WORK", 1)
    found = audit(claiming(honest(), claims_of(slipping(V="X @ W_K"), ["V"], 4)))
    assert found.causes == ()
    reasons = {figure.reason for figure in found.roots}
    assert "incorrect, no cause found; the search for a cause was stopped early" in reasons


def test_a_statement_that_no_precision_settles_is_undecided():
    """log(2) + log(3) is log(6), which no ball tells."""
    case = make(
        "logs",
        {"X": [2, 3, 6]},
        {"Y": "log(X)"},
        claims=[{"holds": "Y[0] + Y[1] == Y[2]"}, {"holds": "Y[0] + Y[1] < Y[2]"}],
    )
    assert [s.verdict for s in audit(case).statements] == [Verdict.UNDECIDED] * 2


def test_the_largest_of_two_that_nothing_tells_apart_is_undecided():
    """log(2) + log(3) beside log(6): neither which is larger nor the sign of the difference."""
    case = make(
        "logs",
        {"X": [2, 3, 6]},
        {"Y": "log(X)", "D": "Y[0] + Y[1] - Y[2]", "Z": "concat(D * X[0:1], 0 * X[0:1])"},
        claims=[{"holds": "argmax(Z) == 0"}, {"holds": "abs(D) == D"}],
    )
    assert [s.verdict for s in audit(case).statements] == [Verdict.UNDECIDED] * 2


def test_what_mirrors_a_wrong_figure_carries_it():
    """Below the diagonal of a symmetric matrix stands what stands above it."""
    given = {"X": [["0.9", "-0.4"], ["-0.3", "0.8"], ["0.1", "0.6"]]}
    table = [["0.97", "-0.59", "-0.15"], ["-0.66", "0.73", "0.45"], ["-0.15", "0.45", "0.37"]]
    for mirrored, causes in (("-0.66", ["root", "carried"]), ("-0.59", ["root"])):
        table[0][1] = mirrored
        table[1][0] = "-0.66"
        case = make("mirror", given, {"S": "X @ X.T"}, claims=[{"of": "S", "printed": table}])
        found = audit(case)
        assert [figure.cause for figure in refuted(found)] == causes
    (above, below) = refuted(audit(make("mirror", given, {"S": "X @ X.T"}, claims=[
        {"of": "S[1]", "printed": ["-0.66", "0.73", "0.45"]},
        {"of": "S[0]", "printed": ["0.97", "-0.66", "-0.15"]},
    ])))  # fmt: skip
    assert below.because == (above,)


def test_a_figure_may_carry_what_is_printed_after_it():
    """A document that shows a result first and the numbers behind it afterwards has one root."""
    wrong = "2.20000"
    said = [
        Said("first", "A[1, 0]", f"{2.2 / (2.2 + float(honest()['exp(M[1, 1])'].decimal(9))):.5f}"),
        Said("then", "exp(M[1, 0])", wrong),
    ]
    weight, power = refuted(audit(claiming(honest(), said)))
    assert (power.cause, weight.cause) == ("root", "carried")
    assert weight.because == (power,)


@pytest.mark.parametrize(
    ("given", "steps", "printed"),
    [
        ([["1", "2"]], {"S": "X * 2"}, [["1e400", "4"]]),
        ([["1", "2"]], {"S": "X * 2"}, [["-1e400", "6e-400"]]),
        ([["1e400", "2"]], {"S": "X / 3"}, [["1", "2"]]),
        ([["1e-400", "2"]], {"S": "X + 1e400"}, [["7", "8"]]),
        ([["900", "2"]], {"S": "exp(X) * exp(X)"}, [["1e790", "8"]]),
    ],
)
def test_numbers_beyond_all_floats_are_judged(given, steps, printed):
    """The search looks for causes in floats; what is none of them is wrong in itself."""
    found = audit(make("huge", {"X": given}, steps, claims=[{"of": "S", "printed": printed}]))
    assert found.causes == ()
    assert refuted(found)
    assert all(figure.reason for figure in refuted(found))
