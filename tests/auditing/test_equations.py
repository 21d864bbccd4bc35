"""Equations that an article prints: true as printed, or given away by no rounding."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing import reports
from symattn.auditing.audit import audit
from symattn.auditing.fixing import fixed
from symattn.cases.case import make
from symattn.cases.library import load
from symattn.documents.reading import ArticleNumber
from symattn.documents.text import Span
from symattn.expressions import syntax
from symattn.programs.operands import Operands
from symattn.verdicts import Verdict
from tests.documents.skeletons import skeleton

from ..strategies import some
from .articles import audited, claimed, read

TRUTH = """
[given]
T = [["0.7071", "0"]]
A = [["0.3543", "0.6457"]]
V = [[2], [1]]
[steps]
E = "exp(T)"
N = "rowsum(E)"
Y = "A @ V"
"""


@pytest.fixture
def article(tmp_path):
    """A marked text about small numbers."""
    truth = tmp_path / "truth.toml"
    truth.write_text(TRUTH)
    return lambda text: skeleton(text, truth)


def judged(made):
    """Label, verdict, cause and whether it holds as printed, of the figures of quantities."""
    return [
        (figure.label, str(figure.verdict), figure.cause, figure.as_printed)
        for figure in made.audit(made.printed).figures
        if not figure.claim.is_arithmetic
    ]


def alone(chain, printed):
    """The verdict of arithmetic that stands by itself."""
    said = [{"as_printed": chain, "printed": printed}]
    (figure,) = audit(make("paper", {}, {}, claims=said)).figures
    return figure.verdict


# -- the equation around a figure comes first ----------------------------------------------

SCORE = "exp(⟦T[0, 0]|0.71⟧) = ⟦E[0, 0]=|2.034⟧\n"


def test_what_is_true_as_printed_is_not_refuted(article):
    """The exponential of the printed score is right, though the exact score has another one;
    it is told with the exact value, counted, and never fixed."""
    made = article(SCORE)
    assert judged(made)[1] == ("E[0, 0]", "holds", "", True)
    found = made.audit(made.printed)
    assert (found.count(Verdict.REFUTED), found.summary["as_printed"]) == (0, 1)
    (shown,) = (item for item in reports.as_dict(found)["claims"] if item["as_printed"])
    assert (shown["of"], shown["printed"], shown["correct"]) == ("E[0, 0]", "2.034", "2.028")
    assert fixed(found, made.audit).fixes == ()


def test_sums_with_rounded_weights_hold_as_printed(article):
    """Whole values and weights of two digits come to 1.35; the exact weights to 1.3543."""
    text = "⟦A[0, 0]|0.35⟧ * ⟦given V[0, 0]|2⟧ + ⟦A[0, 1]|0.65⟧ * ⟦given V[1, 0]|1⟧ = ⟦Y[0, 0]=|{}⟧"
    assert judged(article(text.format("1.350")))[-1] == ("Y[0, 0]", "holds", "", True)
    assert judged(article(text.format("1.35")))[-1] == ("Y[0, 0]", "holds", "", False)
    # Neither the numbers come to it nor the quantity.
    assert judged(article(text.format("1.380")))[-1][1] == "refuted"


def test_what_follows_from_the_figures_on_paper_holds_as_printed(article):
    """Without an equation too: who works by hand goes on with the digits on paper. In a
    walkthrough file, whose figures are claimed one by one, it is refuted with its cause."""
    text = "⟦T[0, 0]|0.71⟧ ⟦E[0, 0]|2.034⟧"
    assert judged(article(text))[1] == ("E[0, 0]", "holds", "", True)
    assert judged(article(text.replace("2.034", "2.035")))[1][1] == "refuted"
    claims = [{"of": of, "printed": text} for of, text in [("T", "0.71"), ("E", "2.034")]]
    case = make("paper", {"T": [["0.7071"]]}, {"E": "exp(T)"}, claims=claims)
    assert [figure.cause for figure in audit(case).figures] == ["", "rounded-inputs"]


def test_what_follows_from_wrong_figures_does_not(article):
    """The weight is wrong, and so is what comes of it."""
    (_, weight, output) = judged(article("⟦A[0, 0]|0.36⟧ ⟦A[0, 1]|0.65⟧ ⟦Y[0, 0]|1.37⟧"))
    assert (weight[1], output[1:3]) == ("holds", ("refuted", "carried"))


def test_a_row_that_says_results_again_holds_with_them():
    """Each of its figures is the result of an equation above, on rounded numbers."""
    row = "row [0.4013 & 0.197]"
    source = f"2.034 / 5.068 = 0.4013, 1 / 5.068 = 0.197, 1 / 5.069 = 0.199 {row}"
    claims = [
        claimed(source, "as_printed", "2.034 / 5.068", "0.4013"),
        claimed(source, "as_printed", "1 / 5.068", "0.197"),
        claimed(source, "of", "W", "0.4013 & 0.197", after="row"),
    ]
    outcomes = {}
    for weight in ("0.1978", "0.1994"):
        found = audited(read(source, claims, given={"W": ("0.4013", weight)}))
        outcomes[weight] = str(found.figures[-1].verdict)
    assert outcomes == {"0.1978": "holds", "0.1994": "refuted"}


def test_what_a_wrong_operand_leads_to_is_carried(article):
    """The equation is true as printed, but of a wrong score; both are fixed."""
    made = article("exp(⟦T[0, 0]|0.72⟧) = ⟦E[0, 0]=|2.054⟧\n")
    assert [verdict for _, verdict, *_ in judged(made)] == ["refuted"] * 2
    assert [fix.correct for fix in fixed(made.audit(made.printed), made.audit).fixes] == [
        "0.71",
        "2.028",
    ]


def test_wrong_operands_are_no_excuse_though_they_are_near(article):
    """Two weights that are wrong in their last digits come near enough for rounding; but they
    are wrong, and so is what follows."""
    text = (
        "⟦A[0, 0]|0.36⟧ * ⟦given V[0, 0]|2⟧ + ⟦A[0, 1]|0.64⟧ * ⟦given V[1, 0]|1⟧ = ⟦Y[0, 0]=|1.360⟧"
    )
    assert [outcome[1:3] for outcome in judged(article(text))][-1] == ("refuted", "carried")


def test_a_wrong_operand_spoils_only_what_depends_on_it():
    """Of two vectors that are added entry by entry, each entry has its own operands."""
    source = "[0.71 & 0.03] + [0.354 & 0.646] = [1.064 & 0.676]"
    chain = "[0.71, 0.03] + [0.354, 0.646]"
    claims = [
        claimed(source, "of", "T", "0.71 & 0.03"),
        claimed(source, "of", "A", "0.354 & 0.646"),
        claimed(source, "as_printed", chain, "1.064 & 0.676"),
        claimed(source, "of", "T + A", "1.064 & 0.676"),
    ]
    numbers = [("bound", x) for x in ("0.71", "0.03", "0.354", "0.646", "1.064", "0.676")]
    given = {"T": ("0.7071", "0"), "A": ("0.3543", "0.6457")}
    found = audited(read(source, claims, given=given, numbers=numbers))
    assert [figure.text for figure in found.figures if figure.as_printed] == ["1.064"]
    assert [figure.text for figure in found.figures if figure.cause] == ["0.03", "0.676"]


def test_an_operand_that_nothing_says_what_it_is_must_be_near(article):
    """What the equation may have come to before its operands were rounded is not the quantity:
    it is of another number."""
    assert judged(article("exp(0.75) = ⟦E[0, 0]=|2.117⟧\n")) == [
        ("E[0, 0]", "refuted", "root", False)
    ]


def test_what_repeats_it_and_what_follows_from_it_hold_as_well(article):
    """In a table before, in a sum behind, with fewer digits; a slip in the sum is none the
    less refuted."""
    table = "⟦E[0, 0]|2.034⟧ ⟦E[0, 0]|2.03⟧\n"
    sums = "⟦E[0, 0]|2.034⟧ + ⟦E[0, 1]|1.000⟧ = ⟦N[0]=|{}⟧\n"
    held = judged(article(table + SCORE + sums.format("3.034")))
    assert [verdict for _, verdict, *_ in held] == ["holds"] * len(held)
    slipped = judged(article(table + SCORE + sums.format("3.043")))
    assert [label for label, verdict, *_ in slipped if verdict == "refuted"] == ["N[0][0]"]


# -- hand sums are not given away ------------------------------------------------------------


def test_hand_sums_have_no_hidden_digits():
    """Of numbers with one digit that nothing else is known of no more is taken than they say."""
    assert alone("0.1 * 0.3 + 0.4 * 0.4 + 0.5 * 0.7", "0.51") is Verdict.REFUTED
    assert alone("0.1 * 0.3 + 0.4 * 0.4 + 0.5 * 0.7", "0.54") is Verdict.HOLDS
    assert alone("0.10 * 0.3 + 0.40 * 0.4 + 0.50 * 0.7", "0.541") is Verdict.HOLDS


tenths = st.integers(-99, 99)


@some
@given(st.lists(st.tuples(tenths, tenths), min_size=1, max_size=5), st.integers(-30, 30))
def test_hand_sums_are_judged_by_fractions(pairs, off):
    """They hold if they come to it exactly, as Python's fractions say."""
    chain = " + ".join(f"({a / 10:.1f}) * ({b / 10:.1f})" for a, b in pairs)
    exact = sum(a * b for a, b in pairs)
    verdict = alone(chain, Decimal(exact + off).scaleb(-2))
    assert (verdict is Verdict.HOLDS) is (off == 0)


hundredths = st.integers(-999, 999).filter(lambda x: x % 10 != 0)


@pytest.mark.heavy
@some
@given(st.tuples(*[hundredths] * 4), st.integers(-9, 9))
def test_inputs_are_exact(tmp_path_factory, numbers, off):
    """Where an article computes with its inputs, nothing was rounded, however many digits
    these have; the same numbers that stand for nothing else may have been."""
    truth = tmp_path_factory.mktemp("inputs") / "truth.toml"
    a, b, c, d = (f"{x / 100:.2f}" for x in numbers)
    truth.write_text(f'[given]\nq = ["{a}", "{b}"]\nk = ["{c}", "{d}"]\n[steps]\ns = "q @ k"\n')
    exact = sum(Fraction(x) * Fraction(y) for x, y in ((a, c), (b, d)))
    printed = f"{Decimal(int(exact * 10**4) + off).scaleb(-4):f}"
    text = f"⟦q[0]|{a}⟧ * ⟦k[0]|{c}⟧ + ⟦q[1]|{b}⟧ * ⟦k[1]|{d}⟧ = ⟦s=|{printed}⟧"
    made = skeleton(text, truth)
    *_, figure = (x for x in made.audit(made.printed).figures if x.claim.is_arithmetic)
    assert (figure.verdict is Verdict.HOLDS) is (off == 0)


def test_rounded_weights_of_one_digit_have_room(article):
    """A digit that stands for a weight with more of them is not all there is of it."""
    text = "⟦A[0, 0]|0.4⟧ * ⟦given V[0, 0]|2⟧ + ⟦A[0, 1]|0.6⟧ * ⟦given V[1, 0]|1⟧ = ⟦=|1.35⟧"
    made = article(text)
    (figure,) = (x for x in made.audit(made.printed).figures if x.claim.is_arithmetic)
    assert figure.within_rounding
    assert alone("0.4 * 2 + 0.6 * 1", "1.35") is Verdict.REFUTED


# -- what a figure is held against -----------------------------------------------------------

CHAIN = r"""$$
\begin{{align}}
p &= \frac{{e^{{3.54}}}}{{e^{{7.09}} + e^{{4.96}} + e^{{3.54}}}} \\
  &\approx \frac{{34}}{{1375}} \approx {}
\end{{align}}
$$
"""


@pytest.mark.parametrize(
    ("printed", "verdict"), [("2.50\\%", "holds"), ("2.47\\%", "holds"), ("2.6\\%", "refuted")]
)
def test_what_numbers_are_rounded_from_may_give_a_figure_as_well(printed, verdict, tmp_path):
    """34 and 1375 are rounded, as the sign before them says: e^3.54 over the sum is 2.50 %."""
    path = tmp_path / "post.md"
    path.write_text(CHAIN.format(printed))
    (figure,) = audit(load(path)).figures[-1:]
    assert str(figure.verdict) == verdict


HIDDEN = r"""
The hidden layer is

$$H_n = \begin{bmatrix}.9&.9&1\\.9&-.9&1\\-.9&.9&1\end{bmatrix}
\begin{bmatrix}.23&-1.13\\.73&-.48\\.23&-.24\end{bmatrix}
=\begin{bmatrix}1.09&-1.7\\-.22&-.83\\.68&.34\end{bmatrix}$$

and its output

$$H_o = \tanh\left(\begin{bmatrix}1.09&-1.7\\-.22&-.83\\.68&.34\end{bmatrix}\right)
= \begin{bmatrix}.80&-.93\\-.22&-.68\\.59&.33\end{bmatrix}$$
"""


def test_a_result_that_lost_its_last_zero_is_rounded_like_those_beside_it(tmp_path):
    """-1.689 is printed as -1.7 beside 1.09: what is computed from it may be -0.934, as it is."""
    path = tmp_path / "layer.md"
    for hyperbolic, refuted in (("-.93", []), ("-.91", ["-.91", "-.91"])):
        path.write_text(HIDDEN.replace("-.93", hyperbolic))
        found = audit(load(path))
        wrong = [figure.text for figure in found.figures if figure.verdict is Verdict.REFUTED]
        assert wrong == refuted


def test_a_true_equation_of_unknown_numbers_vouches_for_what_it_gives(article):
    """Nothing says what 0.75 is: then its exponential is not surely the one it was taken for.
    Where it is known to be another score, it is wrong."""

    def outcome(text, status):
        made = article(text)

        def known(reading):
            at = reading.article.source.index("0.75")
            number = ArticleNumber("0.75", Span(at, at + 4), status)
            return replace(reading, numbers=tuple(sorted((number, *reading.numbers), key=place)))

        found = replace(made, change=known).audit(made.printed)
        wrong = [figure.label for figure in found.figures if figure.verdict is Verdict.REFUTED]
        return wrong, [item.what for item in found.unjudged]

    def place(number):
        return number.span

    text = "exp(0.75) = ⟦E[0, 0]=|2.117⟧\n"
    assert outcome(text, "unread") == ([], [])
    assert outcome(text, "given") == (["E[0, 0]"], [])


def test_an_input_given_since_is_meant_and_exact():
    """0.3 was a result that is rounded; then it is an input of the sum."""
    sums = "1 / 3 = 0.3, v [0.3, 0.5] and 0.11 * 0.3 = {}"
    for product, verdict in (("0.033", "holds"), ("0.036", "refuted")):
        source = sums.format(product)
        claims = [
            claimed(source, "as_printed", "1 / 3", "0.3"),
            claimed(source, "as_printed", "0.11 * 0.3", product),
        ]
        numbers = [("local", "1"), ("local", "3"), ("local", "0.3"), ("given", "0.3")]
        numbers += [("given", "0.5"), ("given", "0.11"), ("local", "0.3"), ("local", product)]
        found = audited(read(source, claims, given={"v": ("0.3", "0.5")}, numbers=numbers))
        assert str(found.figures[-1].verdict) == verdict


def test_what_a_statement_may_come_to_is_worked_out_once(monkeypatch, tmp_path):
    """However many of its figures are judged."""
    asked: Counter[str] = Counter()
    enclosure = Operands.enclosure

    def counted(self, tree, known=None):
        asked[syntax.text(tree)] += 1
        return enclosure(self, tree, known)

    monkeypatch.setattr(Operands, "enclosure", counted)
    path = tmp_path / "post.md"
    vector = ", ".join(f"{k / 100:.2f}" for k in range(101, 121))
    path.write_text(f"[{vector}] / norm([{vector}]) = [{vector}]")
    found = audit(load(path))
    assert len(found.figures) == 20
    assert 0 < max(asked.values()) < 5
