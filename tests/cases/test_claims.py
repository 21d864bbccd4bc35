"""Claims: read once, when their file is, into all that audits and sheets need."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing import figures
from symattn.auditing.audit import audit
from symattn.auditing.figures import Decider
from symattn.auditing.reports import as_dict, github
from symattn.cases import library
from symattn.cases.case import make
from symattn.cases.claims import read_claims, read_unchecked
from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.languages.sentence import Sentence
from symattn.limits import STATEMENT, STATEMENTS
from symattn.numbers import balls, exponential_sums
from symattn.numbers.rationals import read_printed
from symattn.programs.program import Program, program
from symattn.sheets.redpen import sheet
from symattn.slips.catalogue import KINDS, formula
from symattn.solution.solution import solve
from symattn.verdicts import Verdict

from ..strategies import some

MADE = program(
    {"x": (), "v": (3,), "X": (2, 3)}, {"A": "softmax(X)", "s": "total(A)", "B": "A @ X.T"}
)


def read(**entry):
    """The claim of one table."""
    (claim,) = read_claims(MADE, [entry])
    return claim


def told(*entries, passed_over=()):
    """The faults of tables, as text."""
    with pytest.raises(Malformed) as caught:
        read_claims(MADE, entries, passed_over)
    return [str(fault) for fault in caught.value.faults]


# -- read once ---------------------------------------------------------------------------


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["please-study-man", "length-4-causal", "cat-sat-mat-unscaled"])
def test_a_claim_is_parsed_and_lowered_once(name, monkeypatch):
    """From its file through the audit and its reports to the red pen's sheet:
    no claim's text is parsed twice, and no part of its tree lowered twice."""
    parsed, lowered = [], []
    parse, lower = syntax.parse, Program.lower_tree

    def parsing(text, **more):
        parsed.append(text)
        return parse(text, **more)

    def lowering(self, tree, *more):
        lowered.append(tree)
        return lower(self, tree, *more)

    monkeypatch.setattr(syntax, "parse", parsing)
    monkeypatch.setattr(Program, "lower_tree", lowering)
    case = library.load(name)
    numbers = {text for data in case.raw.values() for text in flat(data)}
    before = Counter(parsed)
    found = audit(case)
    as_dict(found)
    sheet(found)
    # Names of quantities are looked up and typeset by name, as well as claimed.
    texts = {claim.text for claim in case.claims} - numbers - case.program.named.keys()
    assert len(texts) > 5
    for text in texts:
        assert before[text] == Counter(parsed)[text] == 1 + (text in case.steps.values())
    # Rules of slips are made of steps as often as they fit.
    of_rules = {
        id(formula(text))
        for slip in KINDS.values()
        for rule in slip.rules
        for text in (rule.instead, *rule.words)
        if not isinstance(text, Sentence)
    }
    assert max(Counter(id(tree) for tree in lowered if id(tree) not in of_rules).values()) == 1
    assert {id(claim.tree) for claim in case.claims if claim.of} <= set(map(id, lowered))


def flat(data):
    """The texts in nested lists."""
    if isinstance(data, list):
        return [text for item in data for text in flat(item)]
    return [data] if isinstance(data, str) else []


def test_what_a_claim_carries():
    """Text, tree, node, figures by the rows of the grid; of a statement, its comparisons."""
    claim = read(where="3.1", of="A[0]", printed=["0.50", Decimal("0.1"), "-inf"])
    assert (claim.where, claim.text, claim.of, claim.holds) == ("3.1", "A[0]", "A[0]", "")
    assert claim.tree == syntax.parse("A[0]")
    assert (claim.node.shape, claim.line, claim.comparisons) == ((3,), 0, ())
    assert claim.printed == ((read_printed("0.50"), read_printed("0.1"), None),)
    said = read(holds="0 < max(A[0]) < 1 and s == 2")
    assert (said.text, said.of, said.holds) == ("0 < max(A[0]) < 1 and s == 2", "", said.text)
    assert (said.where, said.node, said.printed) == ("claims[0]", None, ())
    assert [c.relations for c in said.comparisons] == [("<", "<"), ("==",)]
    assert said.tree == syntax.parse(said.text)


@pytest.mark.parametrize(
    ("of", "printed", "rows"),
    [
        ("x", "1", [["1"]]),
        ("v", ["1", "2", "3"], [["1", "2", "3"]]),
        ("X", [["1", "2", "3"], ["4", "5", "6"]], [["1", "2", "3"], ["4", "5", "6"]]),
        ("X", ((1, 2, 3), (4, 5, 6)), [["1", "2", "3"], ["4", "5", "6"]]),
        ("X[:, 0:1]", [["1"], ["2"]], [["1"], ["2"]]),
    ],
)
def test_figures_are_rows_of_the_grid(of, printed, rows):
    """A number is one row of one, a vector one row."""
    claim = read(of=of, printed=printed)
    assert [[figure.text for figure in row] for row in claim.printed] == rows


def test_the_same_text_is_one_expression():
    """Claims that say it again share its tree and node."""
    one, other, third = read_claims(
        MADE, [{"of": "A + 1", "printed": [[1] * 3] * 2}] * 2 + [{"of": "s", "printed": 1}]
    )
    assert one.node is other.node is not third.node
    assert one.tree is other.tree


def test_claims_are_named_by_their_position():
    """Where a document doesn't say where it prints something."""
    claims = read_claims(MADE, [{"holds": "x == 1"}, {"where": "2", "of": "x", "printed": 1}])
    assert [claim.where for claim in claims] == ["claims[0]", "2"]


def test_numbers_as_printed_are_a_claim_of_their_own():
    """Before the one about the quantity, with the same figures, of the same table and place."""
    numbers, quantity, alone, other = read_claims(MADE, [
        {"where": "3", "of": "x", "as_printed": "2 * 0.50", "printed": "1.00"},
        {"as_printed": "sqrt(4) / 2", "printed": 1},
        {"of": "A[0, 0]", "printed": 1},
    ])  # fmt: skip
    assert [(c.key, c.number, c.where) for c in (numbers, quantity, alone, other)] == [
        ("as_printed", 0, "3"), ("of", 0, "3"), ("as_printed", 1, "claims[1]"),
        ("of", 2, "claims[2]"),
    ]  # fmt: skip
    assert (numbers.text, numbers.of, numbers.holds) == ("2 * 0.50", "2 * 0.50", "")
    assert numbers.tree == syntax.parse("2 * 0.50")
    assert numbers.printed == quantity.printed == ((read_printed("1.00"),),)
    assert [c.is_arithmetic for c in (numbers, quantity, alone, other)] == [True, False] * 2


@pytest.mark.parametrize(
    ("claim", "arithmetic"),
    [({"of": "32 * 32", "printed": 1024}, True), ({"of": "exp(1)", "printed": 3}, True),
     ({"of": "rows(X) * 32", "printed": 64}, False), ({"of": "x + 0", "printed": 1}, False),
     ({"of": "X[0, 0]", "printed": 1}, False), ({"holds": "1 == 1"}, False)],
)  # fmt: skip
def test_figures_of_numbers_only_are_arithmetic(claim, arithmetic):
    """Under any key; a size is one of a quantity."""
    assert read(**claim).is_arithmetic is arithmetic


def test_the_lines_of_claims_from_one_table(tmp_path):
    """Both begin where the table does, and so do those after it."""
    path = tmp_path / "case.toml"
    text = "[given]\nx = 1\n[steps]\ny = 'x'\n"
    both = "[[claims]]\nof = 'y'\nas_printed = '2 - 1'\nprinted = 1\n"
    path.write_text(f"{text}{both}[[claims]]\nholds = 'x == y'\n{both}")
    lines = [(claim.key, claim.line) for claim in library.load(path).claims]
    assert lines == [("as_printed", 5), ("of", 5), ("holds", 9), ("as_printed", 11), ("of", 11)]


def test_claims_show_themselves_briefly():
    """However much they print or say."""
    claim = read(where="w" * 500, of="X" + " + X" * 150, printed=[[1] * 3] * 2)
    assert repr(claim) == f"<Claim '{'w' * 57}...': 'X{' + X' * 14}...', 2x3 printed>"
    claim = read(where="w" * 60, holds="x == 1")
    assert repr(claim) == f"<Claim '{'w' * 60}': 'x == 1', a statement>"
    assert (
        repr(read(where="3", of="v", printed=[1] * 3)) == "<Claim '3': 'v', a vector of 3 printed>"
    )
    assert repr(read(where="3", holds="x == 1")) == "<Claim '3': 'x == 1', a statement>"


# -- faults ------------------------------------------------------------------------------


def test_every_fault_of_every_claim_is_told():
    """Also after a statement, and in the expression and the figures of one claim."""
    assert told(
        {"holds": "x == Q"},
        {"of": "R", "printed": ["1", "one", "1e"]},
        {"holds": "x == 1"},
        {"of": "v", "printed": [1, 2], "wher": "3"},
        "x == 1",
        {"where": "", "holds": 3},
        {},
        {"printed": [[1, 2], [3]]},
        {"of": "v", "holds": "x"},
        {"of": "v", "printed": None},
    ) == [
        "[0].holds: unknown name 'Q': expected one of x, v, X, A, s, B",
        "[1].printed[1]: expected a printed number, found 'one'",
        "[1].printed[2]: expected a printed number, found '1e'",
        "[1].of: unknown name 'R': expected one of x, v, X, A, s, B",
        "[3].wher: unknown key 'wher': did you mean where?",
        "[3].printed: v is a vector of 3, found a vector of 2",
        "[4]: expected a table, found text",
        "[5].where: expected text, found nothing",
        "[5].holds: expected text, found a number",
        "[6]: expected either 'holds' or both 'of' and 'printed'",
        "[7]: expected both 'of' and 'printed'",
        "[7].printed[1]: expected 2 numbers as in the other rows, found 1",
        "[8]: expected either 'holds' or both 'of' and 'printed'",
        "[8].holds: states nothing: expected a comparison with == != < <= > >=",
        "[9].printed: expected a printed number, found None",
    ]


def test_faults_of_numbers_as_printed():
    """A name among them, their shape, what is missing beside them or too much."""
    assert told(
        {"of": "x", "as_printed": "2 * A[0, 0]", "printed": 1},
        {"as_printed": "total(grad(x))", "printed": 1},
        {"of": "v", "as_printed": "2 * 3", "printed": [1, 2, 3]},
        {"as_printed": "2 3", "printed": 1},
        {"as_printed": 3, "printed": 3},
        {"of": "x", "as_printed": "3"},
        {"as_printed": "3"},
        {"as_printed": "3", "holds": "x == 3"},
        {"as_printd": "3", "of": "x", "printed": 3},
        {"as_printed": "2 == 2", "printed": 2},
    ) == [
        "[0].as_printed: expected numbers only, found A: quantities are named in 'of'",
        "[1].as_printed: expected numbers only, found dL/dx: quantities are named in 'of'",
        "[2].printed: 2 * 3 is a scalar, found a vector of 3",
        "[3].as_printed: '2 3': expected an operator or the end at character 3, found '3': between "
        "two values stands a sign: '@' for the matrix product, '*' entry by entry",
        "[4].as_printed: expected text, found a number",
        "[5]: expected both 'of' and 'printed'",
        "[6]: expected both 'as_printed' and 'printed'",
        "[7]: expected either 'holds' or both 'of' and 'printed'",
        "[8].as_printd: unknown key 'as_printd': did you mean as_printed?",
        "[9].as_printed: a comparison states something: write it under 'holds'",
    ]


@pytest.mark.parametrize(
    ("holds", "said"),
    [
        ("A", "states nothing: expected a comparison with == != < <= > >="),
        ("x == 1 and A", "states nothing: expected a comparison with == != < <= > >="),
        ("argmax(A) == 1", "argmax takes a vector, found 2x3"),
        ("argmax(x) == 1", "argmax takes a vector, found a scalar"),
        ("max(x, v) == 1", "max takes one argument, found 2"),
        ("abs() == 1", "abs takes one argument, found 0"),
        ("shape(x, v) == (1, 2)", "shape takes one argument, found 2"),
        ("A == B", "shapes don't fit: 2x3 and 2x2"),
        ("x < A == B", "shapes don't fit: 2x3 and 2x2"),
        ("A == (2, 3)", "a shape is compared with == and a list such as (3, 4)"),
        ("shape(A) == x", "a shape is compared with == and a list such as (3, 4)"),
        ("shape(A) <= (2, 3)", "a shape is compared with == and a list such as (3, 4)"),
        ("shape(A)[0] == 2", "a shape is compared as a whole, as in shape(X) == (3, 4)"),
        ("max(shape(A)) == 3", "a shape is compared as a whole, as in shape(X) == (3, 4)"),
        ("shape(A) == (2, v)", "expected a number inside the brackets"),
        ("(A, 2) == shape(A)", "expected a number inside the brackets"),
    ],
)
def test_statements_that_can_not_be(holds, said):
    """What the shapes alone tell, they tell before anything is computed."""
    assert told({"holds": holds}) == [f"[0].holds: {said}"]


@pytest.mark.parametrize(
    "text",
    ["Z", "-Z", "Z.T", "Z[0]", "x + Z", "Z @ x", "exp(Z)", "x - (Z * 2)", "grad(Z)", "dL/dZ",
     "dL/dx", "grad(x)", "total(grad(v))", "dx"],
)  # fmt: skip
def test_what_names_something_faulty_is_passed_over(text):
    """Wherever in the expression or the statement; what else is wrong is told."""
    gone = ("Z", "dL/dZ", "dx", "dL/dx", "dL/dv")
    for holds in (f"{text} == 1", f"x == 1 and 2 < {text}", f"shape({text}) == (1, 2)",
                  f"(1, {text}) == shape(X)", f"max({text}) > 1"):  # fmt: skip
        assert read_claims(MADE, [{"holds": holds}], gone) == ()
    assert read_claims(MADE, [{"of": text, "printed": 1}], gone) == ()
    assert told({"of": text, "printed": "y"}, {"holds": "Y == 1"}, passed_over=gone) == [
        "[0].printed: expected a printed number, found 'y'",
        "[1].holds: unknown name 'Y': expected one of x, v, X, A, s, B",
    ]
    (claim,) = read_claims(MADE, [{"of": "x + 1", "printed": 1}], gone)
    assert claim.node is not None


def test_what_can_not_be_checked_is_read_like_claims():
    """With all its faults at once."""
    with pytest.raises(Malformed) as caught:
        read_unchecked([{"where": "1", "what": "", "why": "z"}, 3, {"where": "1", "what": "x",
                        "reason": "y"}])  # fmt: skip
    assert [str(fault) for fault in caught.value.faults] == [
        "[0].why: unknown key 'why': expected one of where, what, reason",
        "[0].reason: missing",
        "[0].what: expected text, found nothing",
        "[1]: expected a table, found a number",
    ]


# -- statements --------------------------------------------------------------------------

NUMBERS = [[3, -1, 2], [-4, 0, 3]]
SOLVED = solve(
    make("n", {"X": NUMBERS, "v": [2, -5, 3], "P": [[1, 0, 1], [1, 1, 1]]}, {"M": "mask(X, P)"})
)
ABS = [[3, 1, 2], [4, 0, 3]]


@pytest.mark.parametrize(
    ("statement", "holds"),
    [
        ("max(X) == 3", True), ("min(X) == -4", True), ("max(X) > 3", False),
        ("argmax(v) == 2", True), ("argmax(X[0]) == 0", True), ("argmax(X[1]) < 2", False),
        ("max(abs(v)) == 5", True), ("abs(max(abs(v)) - 7) == 2", True), ("min(abs(X)) == 0", True),
        ("abs(X) >= 0", True), ("abs(X) > 0", False), ("abs(v) == abs(-v)", True),
        ("abs(X)[0, 1] == 1", True), ("total(abs(X)) == 13", True), ("2 * max(v) + 1 == 7", True),
        ("max(X[0]) == max(X[1]) and max(X) == max(v)", True), ("min(v) < min(X) < 0", True),
        ("X <= max(X)", True), ("X < max(X)", False), ("max(X) >= X", True),
        ("X - min(X) >= (0 * X)", True), ("shape(X) == (2, 3)", True),
        ("shape(X) == (3, 2)", False), ("shape(v) == shape(X[0])", True),
        ("shape(v) == shape(X)", False), ("shape(abs(X)) == (argmax(v), max(v))", True),
        ("(2, 3) == shape(X) == shape(M)", True), ("X == X + v - v", True), ("X == v", False),
        ("rowsum(X) == max(X) + 1", False), ("rowsum(X)[0, 0] == max(X) + 1", True),
        ("M[0, 1] < min(X)", True), ("max(M) == 3", True), ("argmax(M[0]) == 0", True),
    ],
)  # fmt: skip
def test_statements_are_decided_from_what_the_claim_carries(statement, holds):
    """Extremes, absolute values and shapes, inside expressions and each other;
    the same as text."""
    claims = read_claims(SOLVED.program, [{"holds": statement}])
    decider = Decider(SOLVED)
    verdict = Verdict.HOLDS if holds else Verdict.REFUTED
    assert decider.decide(claims[0]) is verdict
    assert decider.decide(statement) is verdict


@some
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6), st.integers(-9, 9))
def test_extremes_are_pythons(numbers, least):
    """Of any row, whether or not they are reached once."""
    solution = solve(make("n", {"v": numbers}, {"w": "v"}))
    decider = Decider(solution)
    for text, value in [
        ("max(v)", max(numbers)),
        ("min(v)", min(numbers)),
        ("argmax(v)", numbers.index(max(numbers))),
        ("max(abs(v))", max(map(abs, numbers))),
    ]:
        assert decider.decide(f"{text} == {value}") is Verdict.HOLDS
        truth = Verdict.HOLDS if value > least else Verdict.REFUTED
        assert decider.decide(f"{text} > {least}") is truth


@pytest.mark.parametrize("statement", ["min(M) == 1", "abs(M) == 1", "max(M[0, 1:2]) == 0"])
def test_what_has_no_answer_at_these_numbers_is_told_with_its_line(statement, tmp_path):
    """A masked score has no size: only the numbers tell, so the audit says it."""
    path = tmp_path / "case.toml"
    text = f"[given]\nX = {NUMBERS}\nP = [[1, 0, 1], [1, 1, 1]]\n[steps]\nM = 'mask(X, P)'\n"
    path.write_text(f"{text}[[claims]]\nholds = 'X == X'\n[[claims]]\nholds = '{statement}'\n")
    with pytest.raises(Malformed) as caught:
        audit(path)
    assert str(caught.value).startswith(f"{path}:8: claims[1].holds: ")


def test_a_symbolic_figure_is_told_with_its_line(tmp_path):
    """A form in symbols has no figure; one whose symbols cancel has."""
    path = tmp_path / "case.toml"
    text = "[given]\nX = [[1, 2]]\n[steps]\nY = 'X + 1'\n[loss]\nupstream = [['g', 1]]\n"
    claims = "[[claims]]\nof = 'dL/dX[0, 1]'\nprinted = '1.0'\n[[claims]]\n\nof = 'grad(X)'\n"
    path.write_text(f"{text}{claims}printed = [[1, 1]]\n")
    with pytest.raises(Malformed) as caught:
        audit(path)
    assert str(caught.value) == f"{path}:10: claims[1].of: a form in g has no figure to print"


@pytest.fixture
def spent(monkeypatch):
    """The products of terms that were formed, one number for each time."""
    counted: list[int] = []
    spend = balls.spend

    def counting(products: int) -> None:
        counted.append(products)
        spend(products)

    monkeypatch.setattr(exponential_sums, "spend", counting)
    return counted


def test_a_number_far_from_zero_shows_it_before_its_form_is_made(spent):
    """A power of a sum of waves has a form of hundreds of terms, which refuting does not need."""
    solution = solve(make("turned", {"x": 1}, {"s": "cos(x) + cos(x / 100)"}))
    assert Decider(solution).decide("cos(s**499) == 1") is Verdict.REFUTED
    assert sum(spent) < 1000


def test_deciding_a_statement_is_bounded_as_a_whole(monkeypatch, spent):
    """What takes more stays open, and says why; an entry that refutes it still does, and no
    later question is answered otherwise than before."""
    steps = {"s": "cos(x) + cos(x / 100)", "t": "concat(cos(s**9), x)"}
    solution = solve(make("turned", {"x": [1]}, steps))
    limit = replace(STATEMENT, most=500)
    monkeypatch.setattr(figures, "STATEMENT", limit)
    decider = Decider(solution)
    hard = "cos(s**9) == cos(s**8 * s)"
    verdict, doubt = decider.judged(hard)
    assert verdict is Verdict.UNDECIDED
    assert sum(spent) < 10_000
    assert doubt == limit.said().replace("500", "700")
    assert decider.judged("t == concat(cos(s**8 * s), 2 * x)") == (Verdict.REFUTED, "")
    assert decider.judged("s**2 == s * s and x == 1") == (Verdict.HOLDS, "")
    monkeypatch.setattr(figures, "STATEMENT", replace(limit, most=400_000))
    assert decider.judged(hard) == (Verdict.HOLDS, "")


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("softmax(HARD) < 1", Verdict.UNDECIDED),
        ("softmax(HARD) < 1 and x == 2 * x", Verdict.REFUTED),
        ("max(softmax(HARD)) < 1", Verdict.UNDECIDED),
    ],
)
def test_what_is_spent_on_an_operand_counts(statement, verdict):
    """An entry that takes more than may be spent stays open, however it is asked for, and another
    may refute the statement."""
    hard = statement.replace("HARD", "(x * 1e30 - log(2))**999")
    found, doubt = Decider(solve(make("t", {"x": [1, 2]}, {"y": "x"}))).judged(hard)
    assert found is verdict
    assert ("takes more than" in doubt) is (verdict is Verdict.UNDECIDED)


def test_large_quantities_are_compared_as_floats_show(monkeypatch):
    """Entries that pairs of floats tell apart are not followed up exactly, one by one; those that
    they leave open spend what a statement has."""
    solution = solve(make("t", {"x": [[1, 2]]}, {"P": "positions(8, 8) / 7", "C": "exp(P @ P.T)"}))
    followed: list[str] = []
    compared = figures._compared

    def following(x, relation, *rest):
        followed.append(relation)
        return compared(x, relation, *rest)

    monkeypatch.setattr(figures, "_compared", following)
    decider = Decider(solution)
    answers = {"C == 0": "refuted", "C != 0": "holds", "C > 0": "holds", "C <= -C": "refuted"}
    for statement, answer in answers.items():
        assert decider.decide(statement).value == answer
    assert not followed
    assert decider.decide("C == exp(P @ P.T)") is Verdict.HOLDS
    assert followed


def test_making_what_is_compared_counts(monkeypatch):
    """The products that entries are made of are counted as those that decide them."""
    monkeypatch.setattr(figures, "STATEMENT_ENTRIES", 0)
    monkeypatch.setattr(figures, "STATEMENT", replace(STATEMENT, most=1000))
    solution = solve(make("t", {"x": [1]}, {"P": "sin(positions(16, 16))", "C": "P @ P.T"}))
    assert Decider(solution).judged("C == C.T")[0] is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("statement", "most"), [("max(exp(P)) > 1", 1000), ("rowsum(softmax(P)) == 1", 5000)]
)
def test_what_is_walked_counts(statement, most, monkeypatch):
    """Sums and functions form no products, and are no less work."""
    solution = solve(make("t", {"x": [1]}, {"P": "positions(16, 16) + 1"}))
    assert Decider(solution).judged(statement) == (Verdict.HOLDS, "")
    monkeypatch.setattr(figures, "STATEMENT_ENTRIES", 0)
    monkeypatch.setattr(figures, "STATEMENT", replace(STATEMENT, most=most))
    solution = solve(make("t", {"x": [1]}, {"P": "positions(16, 16) + 1"}))
    found = Decider(solution).judged(statement)
    assert found == (Verdict.UNDECIDED, STATEMENT.said().replace("400000", f"{most}"))


@pytest.mark.heavy
def test_equality_of_many_long_sums_is_given_up():
    """Few bytes may ask for 65,536 proofs, each of a sum of 65,536 products, and ask again."""
    steps = {"P": "positions(256, 256) / 7", "C": "softmax(P @ P.T)"}
    decider = Decider(solve(make("t", {"x": [1]}, steps)))
    found = [decider.judged(f"C == softmax(P @ P.T + {k})") for k in range(1, 4)]
    assert [verdict for verdict, _ in found] == [Verdict.UNDECIDED] * 3
    assert found[0][1] == STATEMENT.said().replace("400000", "1400000")
    assert found[2][1] == STATEMENTS.said()


def test_all_statements_are_bounded_together(monkeypatch):
    """What is compared counts, however it is told apart."""
    monkeypatch.setattr(figures, "STATEMENTS", replace(STATEMENTS, most=10))
    claims = [{"where": "w", "holds": "x < 3"} for _ in range(4)]
    found = audit(solve(make("t", {"x": [1, 2]}, {"y": "x"}, claims=claims))).statements
    doubt = STATEMENTS.said().replace("2000000", "10")
    assert [(one.verdict.value, one.doubt) for one in found] == [
        *[("holds", "")] * 3,
        ("undecided", doubt),
    ]


def test_reports_say_why_a_statement_stays_open(monkeypatch):
    """In JSON, in annotations and on a terminal."""
    monkeypatch.setattr(figures, "STATEMENT", replace(STATEMENT, most=10))
    claims = [{"where": "w", "holds": "cos(s**9) == cos(s**8 * s)"}]
    found = audit(solve(make("t", {"x": 1}, {"s": "cos(x) + cos(x / 100)"}, claims=claims)))
    said = "deciding it takes more than"
    assert said in as_dict(found)["claims"][0]["reason"]
    assert said in github([found])
    assert said in found.statements[0].because
