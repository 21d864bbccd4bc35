"""Articles corrected: what becomes of every refuted figure, and of all the rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.auditing.audit import audit
from symattn.auditing.fixing import fixed
from symattn.documents.article import Block
from symattn.documents.binding.evidence import MARGIN
from symattn.documents.reading import Claimed, ReadStep
from symattn.documents.text import Span, Text
from symattn.errors import Malformed
from symattn.expressions import syntax
from tests.documents import marks
from tests.documents.skeletons import loaded, skeleton

FOLDER = Path(__file__).parents[1] / "documents" / "corpus"
#: Documents whose slips are all figures of quantities, as arithmetic needs a reader, and
#: that no renderer made: such are left.
CORPUS = [
    path
    for path in marks.documents(FOLDER)
    if all(mark.expression for mark in marks.load(path).marks if mark.is_slip)
    and "<annotation" not in path.read_text("utf-8")
]
SMALL = FOLDER / "bees-love-thyme.md.marked"

TRUTH = """
[given]
X = [[1, 0], [0, 1]]
d = 2
[steps]
S = "X @ X.T"
A = "softmax(S)"
Y = "100 * A"
"""


@pytest.fixture
def corrected(tmp_path):
    """What becomes of a marked text about a small walkthrough."""
    truth = tmp_path / "truth.toml"
    truth.write_text(TRUTH)

    def act(text, change=lambda reading: reading):
        found = skeleton(text, truth)
        changed = replace(found, change=change)
        return fixed(changed.audit(found.printed), changed.audit)

    return act


def square(name, claims):
    """A matrix that is printed as those four figures."""
    a, b, c, d = claims
    return replace(
        a,
        tree=syntax.parse(name),
        printed=((a.printed, b.printed), (c.printed, d.printed)),
        spans=((a.span, b.span), (c.span, d.span)),
        span=a.span.to(d.span),
    )


def why(result):
    return [(one.label, one.why) for one in result.left]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_a_document_is_corrected_to_what_its_author_meant(path):
    """Every planted slip gets the digits that were there before it was planted, in every
    form and style, and not one other character changes; a second time nothing does."""
    document = loaded(path)
    result = fixed(document.audit(document.printed), document.audit)
    assert (result.text, result.left, result.refused) == (document.correct, (), "")
    assert len(result.fixes) == sum(mark.is_slip for mark in document.figures)
    again = fixed(document.audit(result.text), document.audit)
    assert (again.text, again.fixes, again.left) == (result.text, (), ())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", "\ufeff"), ("utf-16-le", "\ufeff")])
def test_line_ends_and_encodings_stay(end, encoding, mark):
    """The bytes differ from those of the file where the digits do, and nowhere else."""
    document = loaded(SMALL)
    first, *rest = (piece.replace("\n", end) for piece in document.pieces)
    document = replace(document, pieces=(mark + first, *rest), encoding=encoding)
    result = fixed(document.audit(document.printed), document.audit)
    assert result.text == document.correct
    old, new = document.printed.encode(encoding), result.text.encode(result.article.encoding)
    slips = [(one.printed, one.correct) for one in document.figures if one.correct]
    changed = sum(a != b for slip in slips for a, b in zip(*slip, strict=True))
    assert sum(a != b for a, b in zip(old, new, strict=True)) == changed > 0


@pytest.mark.heavy
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_whatever_is_printed_becomes_right(data):
    """With any digits in the place of some figures, all come out as they were meant."""
    document = loaded(SMALL)
    held = [k for k, one in enumerate(document.figures) if "." in one.printed and not one.is_given]
    texts = [one.correct or one.printed for one in document.figures]
    for k in data.draw(st.lists(st.sampled_from(held), max_size=6)):
        places = len(texts[k].partition(".")[2])
        texts[k] = f"{data.draw(st.integers(-(10**4), 10**4)) / 10**places:.{places}f}"
    result = fixed(document.audit(document.filled(texts)), document.audit)
    assert result.refused == ""
    brackets = str.maketrans("", "", "()")
    assert result.text.translate(brackets) == document.correct.translate(brackets)


def test_fixes_say_where_and_what(corrected):
    """A fix has its place, what it is of, and both texts."""
    (fix,) = corrected("A is ⟦A[0, 0]|0.7311⟧ and ⟦A[0, 1]|0.2698⟧.").fixes
    assert (fix.span, fix.label, fix.printed, fix.correct) == (
        (16, 22),
        "A[0, 1]",
        "0.2698",
        "0.2689",
    )


def test_a_carried_figure_gets_the_exact_digits(corrected):
    """What follows from a wrong figure is not what follows from the right one's digits,
    but from the quantity itself."""
    result = corrected("⟦A[0, 1]|0.2698⟧, so ⟦Y[0, 1]|26.98⟧ %")
    assert result.text == "0.2689, so 26.89 %"


def test_arithmetic_comes_to_what_its_corrected_operands_do(corrected):
    """First the quantities, then what their printed digits come to, and so on down a
    chain of sums."""
    result = corrected("A = ⟦A[0, 1]|0.2698⟧\n2 * ⟦A[0, 1]|0.2698⟧ = ⟦=|0.5396⟧\n1 + 1 = ⟦=|3⟧\n")
    assert result.text == "A = 0.2689\n2 * 0.2689 = 0.5378\n1 + 1 = 2\n"
    assert [fix.label for fix in result.fixes] == ["A[0, 1]", "A[0, 1]", "", ""]


def test_a_quantity_goes_before_its_arithmetic(corrected):
    """Where a figure is a quantity and the result of numbers, and wrong as both, it gets the
    quantity's digits."""
    result = corrected("A = 0.3000 * 0.9000 = ⟦A[0, 1]=|0.2800⟧")
    assert result.text == "A = 0.3000 * 0.9000 = 0.2689"
    assert why(result) == [
        ("0.3000 * 0.9000", "0.3000 * 0.9000 is 0.2700, but as A[0, 1] it is not refuted")
    ]


FALSE = "correcting it would make an equation false that is true as printed"


def test_a_true_equation_stays_true(corrected):
    """The figure that it gives is left, and so is that quantity everywhere else."""
    text = "⟦A[0, 1]|0.2700⟧\nA = 0.3000 * 0.9000 = ⟦A[0, 1]=|0.2700⟧\n"
    result = corrected(text)
    assert (result.text, result.fixes) == (marks.read(text.replace("=|", "|"))[0], ())
    assert why(result) == [("A[0, 1]", FALSE)] * 2


def test_an_equation_is_corrected_as_a_whole_or_not_at_all(corrected):
    """Where its result can't be, its operands are left, here and elsewhere; other quantities
    are corrected all the same."""
    right = "⟦A[1, 1]|0.7311⟧ ⟦A[1, 0]|0.2689⟧ ⟦A[0, 0]|0.731⟧\n"
    sums = "⟦A[0, 1]|0.2698⟧ and ⟦A[0, 0]|0.7313⟧\n3 * ⟦A[0, 1]|0.2698⟧ = ⟦=|0.8094⟧\n"

    def input_result(reading):
        *numbers, last = reading.numbers
        return replace(reading, numbers=(*numbers, replace(last, status="given")))

    result = corrected(right + sums, input_result)
    assert [fix.label for fix in result.fixes] == ["A[0, 0]"]
    assert why(result) == [("A[0, 1]", FALSE)] * 2
    result = corrected(right + sums)
    assert [fix.label for fix in result.fixes] == ["A[0, 1]", "A[0, 0]", "A[0, 1]", ""]
    assert result.text.endswith("3 * 0.2689 = 0.8067\n")


def test_only_what_is_surely_meant_is_corrected(corrected):
    """A refutation asks for some evidence, a correction for twice as much."""
    for trust, fixed_label in ((2 * MARGIN - 0.1, []), (2 * MARGIN, ["A[0, 1]"])):

        def trusted(reading, trust=trust):
            return replace(reading, claims=(replace(reading.claims[0], trust=trust),))

        result = corrected("it is ⟦A[0, 1]|0.2698⟧", trusted)
        assert [fix.label for fix in result.fixes] == fixed_label
        assert [label for label, _ in why(result)] == ([] if fixed_label else ["A[0, 1]"])


def test_what_numbers_come_to_as_well_is_sure_enough(corrected):
    """Less evidence does for a quantity where the numbers before its figure, which is wrong,
    come to the same; where they come to something else, or are right, it is left."""

    def weak(reading):
        claims = (
            one if one.key == "as_printed" else replace(one, trust=MARGIN) for one in reading.claims
        )
        return replace(reading, claims=tuple(claims))

    result = corrected("A = 0.5378 / 2 = ⟦A[0, 1]=|0.2698⟧", weak)
    assert result.text == "A = 0.5378 / 2 = 0.2689"
    for text in ("A = 0.5 / 2 = ⟦A[0, 1]=|0.2698⟧", "A = 0.5396 / 2 = ⟦A[0, 1]=|0.2698⟧"):
        result = corrected(text, weak)
        assert [label for label, _ in why(result)] == ["A[0, 1]"], text
        assert result.fixes == ()


def test_nothing_is_corrected_where_most_is_in_doubt(corrected):
    """Rather than most figures being wrong the article was misread; what is open counts."""
    wrong = "⟦A[0, 1]|0.2698⟧ ⟦A[0, 0]|0.7313⟧"
    result = corrected(f"{wrong} ⟦A[1, 0]|0.27⟧ ⟦A[1, 1]|0.74⟧")
    assert (len(result.fixes), result.left) == (0, ())
    assert result.refused == "3 of 4 figures are refuted or open, so it may have been misread"
    assert len(corrected(f"{wrong} ⟦A[1, 0]|0.27⟧ ⟦A[1, 1]|0.73⟧").fixes) == 2

    def doubted(reading):
        *claims, last = reading.claims
        return replace(reading, claims=(*claims, replace(last, doubt="only its value")))

    assert corrected(f"{wrong} ⟦A[1, 0]|0.27⟧ ⟦A[1, 1]|0.74⟧", doubted).refused


def test_what_a_program_computes_with_is_left(corrected):
    """A number in code is an input of it, whatever it is said to be; what stands in a comment
    is not."""

    def in_code(reading):
        article = reading.article
        block = Block.of("code", Text.whole(article.source), "python")
        return replace(reading, article=replace(article, blocks=(block,)))

    result = corrected("A = [0.7311, ⟦A[0, 1]|0.2698⟧]  # ⟦A[0, 1]|0.2698⟧\n", in_code)
    assert result.text == "A = [0.7311, 0.2698]  # 0.2689\n"
    assert why(result) == [("A[0, 1]", "the program there computes with it")]


def test_corrections_are_no_evidence(corrected):
    """What was open stays as it is, though with the other figures right it would be refuted."""

    def doubted(reading):
        *claims, last = reading.claims
        doubt = "too little agrees" if "0.2698" in reading.article.source else ""
        return replace(reading, claims=(*claims, replace(last, doubt=doubt)))

    result = corrected("⟦A[0, 1]|0.2698⟧ ⟦A[1, 0]|0.27⟧ ⟦A[1, 1]|0.73⟧ ⟦A[0, 0]|0.74⟧", doubted)
    assert (result.text, result.refused) == ("0.2689 0.27 0.73 0.74", "")
    assert why(result) == [("A[0, 0]", "it may not be A[0, 0]: too little agrees")]


def test_sums_of_what_is_open_are_left(corrected):
    """Who knows which of its numbers is wrong."""

    def doubted(reading):
        first, *claims = reading.claims
        return replace(reading, claims=(replace(first, doubt="only its value"), *claims))

    result = corrected("2 * ⟦A[0, 1]|0.2698⟧ = ⟦=|0.5386⟧", doubted)
    assert why(result) == [("2 * 0.2698", "it follows from a figure that was left as it is")]


@pytest.mark.parametrize("figure", ["⟦given X[0, 0]|1⟧", "⟦A[0, 1]|0⟧", "⟦A[0, 1]|0.3⟧"])
def test_what_is_not_refuted_is_not_touched(corrected, figure):
    """Inputs, coarse and vacuous figures stay as they are, without a word."""
    result = corrected(f"it is {figure}")
    assert (result.text, result.left) == (marks.read(f"it is {figure}")[0], ())


def test_an_input_is_never_changed(corrected):
    """Where the inputs stand, a claim changes nothing."""
    marked = "X is ⟦X[0, 1]|1⟧"

    def as_input(reading):
        return replace(reading, numbers=(replace(reading.numbers[0], status="given"),))

    result = corrected(marked, as_input)
    assert (result.text, why(result)) == ("X is 1", [("X[0, 1]", "it is an input")])


def test_what_claims_disagree_on_is_left(corrected):
    """A figure that is right as one thing and wrong as another is left and told, and so is
    one that would be two different ones."""

    def both(reading):
        first = reading.claims[0]
        return replace(reading, claims=(first, replace(first, tree=syntax.parse("A[0, 0]"))))

    result = corrected("it is ⟦A[0, 1]|0.2689⟧", both)
    assert (result.text, result.fixes) == ("it is 0.2689", ())
    assert why(result) == [("A[0, 0]", "A[0, 0] is 0.7311, but as A[0, 1] it is not refuted")]
    result = corrected("it is ⟦A[0, 1]|0.5⟧", both)
    assert (result.text, result.fixes) == ("it is 0.5", ())
    assert why(result) == [("A[0, 1]", "as A[0, 1] it would be 0.3, as A[0, 0] it would be 0.7")]


def test_what_only_its_value_binds_is_left(corrected):
    """A figure whose meaning nothing says is not corrected."""

    def confirmed(reading):
        return replace(
            reading, claims=(replace(reading.claims[0], doubt="only its value suggests so"),)
        )

    result = corrected("it is ⟦A[0, 1]|0.2698⟧", confirmed)
    assert (result.text, result.fixes) == ("it is 0.2698", ())


def test_a_matrix_that_is_wrong_nearly_everywhere_is_left(corrected):
    """Rather than everything in it being wrong it is something else, and not to be touched;
    one wrong figure in it is corrected."""
    text = "A = ⟦A[0, 0]|{}⟧ ⟦A[0, 1]|{}⟧ ⟦A[1, 0]|{}⟧ ⟦A[1, 1]|{}⟧"

    def together(reading):
        return replace(reading, claims=(square("A", reading.claims),))

    wrong = text.format("3.12", "0.41", "0.64", "0.98")
    result = corrected(wrong, together)
    assert (result.text, result.fixes) == (marks.read(wrong)[0], ())
    assert ["it may be something else" in reason for _, reason in why(result)] == [True] * 4
    result = corrected(text.format("0.73", "0.50", "0.27", "0.73"), together)
    assert result.text == "A = 0.73 0.27 0.27 0.73"


def test_figures_in_one_another_are_left(corrected):
    """Of two figures that share characters neither is written."""

    def crossing(reading):
        first = reading.claims[0]
        short = Span(first.span.start, first.span.end - 2)
        other = replace(
            first, tree=syntax.parse("A[0, 0]"), printed="0.26", spans=short, span=short
        )
        return replace(reading, claims=(first, other))

    result = corrected("it is ⟦A[0, 1]|0.2698⟧", crossing)
    assert (result.text, result.fixes) == ("it is 0.2698", ())
    assert {reason for _, reason in why(result)} == {"it overlaps another figure"}


def test_a_result_of_figures_that_are_left_is_left(corrected):
    """What follows from a wrong figure that stays is not made to fit it."""

    def as_input(reading):
        numbers = (replace(reading.numbers[0], status="given"), *reading.numbers[1:])
        return replace(reading, numbers=numbers)

    result = corrected("2 * ⟦X[0, 1]|1⟧ = ⟦=|3⟧", as_input)
    assert result.text == "2 * 1 = 3"
    assert why(result) == [
        ("X[0, 1]", "it is an input"),
        ("2 * 1", "it follows from a figure that was left as it is"),
    ]


def test_nothing_is_corrected_that_would_be_read_otherwise(corrected):
    """Where the corrected text has another recipe, other inputs or another meaning of a
    figure, the old one stays."""

    def astray(reading):
        if "0.2698" in reading.article.source:
            return reading
        steps = {**reading.steps, "A": ReadStep(syntax.parse("S"))}
        return replace(reading, steps=steps)

    def unbound(reading):
        return reading if "0.2698" in reading.article.source else replace(reading, claims=())

    for change, what in ((astray, "A"), (unbound, "A[0, 1]")):
        result = corrected("it is ⟦A[0, 1]|0.2698⟧", change)
        assert (result.text, result.fixes) == ("it is 0.2698", ())
        assert f"{what} would be read differently" in result.refused


def test_nothing_is_corrected_that_refutes_something_else(corrected):
    """A statement that holds of the wrong figure, and not of the right one, is told."""

    def stated(reading):
        said = "A[0, 1] > 0.5" if "0.2689" in reading.article.source else "A[0, 1] < 0.5"
        claim = Claimed("holds", syntax.parse(said), "", Span(0, 2))
        return replace(reading, claims=(*reading.claims, claim))

    result = corrected("it is ⟦A[0, 1]|0.2698⟧", stated)
    assert (result.text, result.fixes) == ("it is 0.2698", ())
    assert "A[0, 1] > 0.5 would be refuted" in result.refused


def test_figures_that_never_settle_are_left(corrected):
    """A text whose figures change each time that it is read is given up."""
    seen = []

    def restless(reading):
        seen.append(reading)
        of = "A[0, 1]" if len(seen) % 2 else "A[0, 0]"
        claim = replace(reading.claims[0], tree=syntax.parse(of))
        return replace(reading, claims=(replace(claim, key="of"),))

    result = corrected("it is ⟦A[0, 1]|0.5⟧", restless)
    assert (result.text, result.fixes) == ("it is 0.5", ())
    assert result.refused


def test_a_masked_score_is_left(corrected):
    """What is no number can't be corrected by digits."""
    result = corrected("it is ⟦A[0, 1]|-inf⟧")
    assert (result.text, why(result)) == (
        "it is -inf",
        [("A[0, 1]", "correcting its digits is not enough")],
    )


@pytest.mark.heavy
def test_a_page_that_was_rendered_is_left():
    """Where a page has the source of a formula beside the formula, neither is touched."""
    document = loaded(FOLDER / "decoder-step.html.marked")
    result = fixed(document.audit(document.printed), document.audit)
    assert (result.text, result.fixes) == (document.printed, ())
    assert {reason for _, reason in why(result)} == {
        "the page also contains it in rendered form: correct the source"
    }


def test_a_walkthrough_file_has_nothing_to_fix():
    """Its figures stand in a document that is somewhere else."""
    with pytest.raises(Malformed, match="only articles can be corrected"):
        fixed(audit("cat-sat-mat-unscaled"), lambda text: audit(text))


def test_what_an_assumed_step_makes_wrong_nearly_everywhere_is_left(tmp_path):
    """A slip of the author may explain it, but the assumption may be wrong as well: only
    where the author says what is computed the figures are corrected."""
    truth = tmp_path / "truth.toml"
    truth.write_text(
        '[given]\nX = [[1, 2], [2, 0]]\n[steps]\nS = "X @ X.T"\nT = "S / 2"\nA = "softmax(T)"\n'
    )
    scores = "⟦S[0, 0]|5⟧ ⟦S[0, 1]|2⟧ ⟦S[1, 0]|2⟧ ⟦S[1, 1]|4⟧"
    scaled = "⟦T[0, 0]|2.5⟧ ⟦T[0, 1]|1⟧ ⟦T[1, 0]|1⟧ ⟦T[1, 1]|2⟧"
    # The softmax of the scores that are not scaled.
    unscaled = "⟦A[0, 0]|0.9526⟧ ⟦A[0, 1]|0.0474⟧ ⟦A[1, 0]|0.1192⟧ ⟦A[1, 1]|0.8808⟧"
    made = skeleton(f"{scores}\n{scaled}\n{unscaled}\n", truth)

    def said(reading):
        return replace(reading, claims=(*reading.claims[:8], square("A", reading.claims[8:])))

    def assuming(reading):
        step = replace(reading.steps["T"], assumed=True)
        return said(replace(reading, steps={**reading.steps, "T": step}))

    for change, count in ((said, 4), (assuming, 0)):
        changed = replace(made, change=change)
        assert len(fixed(changed.audit(made.printed), changed.audit).fixes) == count
