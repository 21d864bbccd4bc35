"""What refutes nothing: each reason for doubt, and what takes it away."""

from __future__ import annotations

import numpy as np
import pytest

from symattn.documents.binding.confidence import Confidence
from symattn.documents.binding.coverage import Coverage
from symattn.documents.binding.evidence import Kind
from symattn.documents.binding.ledger import Ledger
from symattn.documents.binding.recipe import Recipe
from symattn.expressions.syntax import parse
from tests.documents.binding.blocks import Printer

X = np.array([[0.31, 1.62, 0.47], [1.13, 0.29, 0.84], [0.56, 0.93, 1.78]])
EVERY = [(i, j) for i in range(3) for j in range(3)]
LITTLE = "too little around it agrees to be sure what it is"


class Article:
    """An article made of a recipe and of claims."""

    def __init__(self, *, assumed: bool = False) -> None:
        self.printer = Printer()
        self.recipe = Recipe()
        self.ledger = Ledger(self.recipe, Coverage([]))
        self.recipe.give("X", self.printer.matrix(X, 2), None)
        self.recipe.define("S", parse("X @ X.T"))
        self.recipe.define("T", parse("S / sqrt(3)"), assumed=assumed)
        self.recipe.define("A", parse("softmax(T)"))

    def rows(self, text: str, decimals: int = 4) -> np.ndarray:
        """What is right to print of an expression."""
        found = self.recipe.floats(parse(text))
        assert found is not None
        return np.round(found, decimals)

    def prints(self, text: str, *kinds: Kind, wrong=(), off: float = 0.31, decimals: int = 4):
        """Claim a block of a quantity, some figures of which are wrong; that claim."""
        figures = self.rows(text, decimals)
        for place in wrong:
            figures[place] += off
        assert self.ledger.claim(parse(text), self.printer.matrix(figures, decimals), *kinds)
        return self.ledger.entries[-1]

    def works(self, text: str, figure: str):
        """Claim that numbers come to a figure; that claim."""
        numbers = self.printer(text.replace(" + ", " "))
        sum_of = parse(text)
        assert numbers
        self.ledger.work_out(sum_of, self.printer(figure))
        return self.ledger.entries[-1]

    def settled(self):
        """The claims with their doubts."""
        return Confidence(self.ledger).settle()

    def doubt(self, entry) -> str:
        """Why a claim refutes nothing; '' where it does."""
        self.settled()
        return str(entry.doubt)


@pytest.fixture
def article():
    """An article that says all of its steps."""
    return Article()


def test_a_wrong_figure_in_good_company_is_refuted(article):
    """Its block, what that is computed from, and what stands around it agree."""
    for name in ("S", "T"):
        article.prints(name, "name", "formula")
    entry = article.prints("A", "name", "formula", wrong=[(1, 1)])
    article.prints("A[0]", "name")
    assert article.doubt(entry) == ""
    assert entry.trust > 1
    assert entry.basis == "the formula beside it, its name; 8 of 9 figures agree"


def test_what_holds_is_in_no_doubt(article):
    """Even by itself, and with nothing but its figures."""
    entry = article.prints("A", "figures")
    assert article.doubt(entry) == ""
    assert entry.trust == np.inf


def test_a_lone_wrong_figure_is_doubted(article):
    """Nothing around it says whether it is that, and wrong, or read amiss."""
    entry = article.prints("A[0]", "name", wrong=[(0, 1)], decimals=2)
    assert article.doubt(entry) == LITTLE


def test_in_bad_company_nothing_is_refuted(article):
    """Where all else is off, it is the reading."""
    for name in ("S", "T"):
        article.prints(name, "name", "formula", wrong=EVERY[1:])
    entry = article.prints("A", "name", "formula", wrong=EVERY[4:])
    assert article.doubt(entry) == LITTLE


def test_what_the_author_notes_is_meant(article):
    """Though it stands alone."""
    assert article.doubt(article.prints("A[0]", "note", wrong=[(0, 1)])) == ""


def test_what_only_its_value_suggests_is_doubted(article):
    """However much agrees."""
    for name in ("S", "T", "A"):
        article.prints(name, "name", "formula")
    entry = article.prints("A", "figures", "value", wrong=[(1, 1)])
    assert article.doubt(entry) == "only its value suggests so"


def test_a_step_that_is_assumed_refutes_nothing_by_itself():
    """Nor does what is computed from it; once its own figures are there, it does."""
    article = Article(assumed=True)
    entry = article.prints("A", "name", "formula", wrong=EVERY[1:])
    article.prints("S", "name", "formula")
    assert article.doubt(entry) == "the article does not define T"
    article.prints("T", "name")
    assert article.doubt(entry) != "the article does not define T"


def test_an_input_that_may_be_a_result_may_be_what_is_wrong(article):
    """A whole row or column off is what one wrong figure of it makes; one figure isn't."""
    for name in ("S", "T", "A"):
        article.prints(name, "name", "formula")
    row = article.prints("X @ X", "name", "formula", wrong=[(1, k) for k in range(3)])
    column = article.prints("X @ X", "name", "formula", wrong=[(k, 2) for k in range(3)])
    one = article.prints("X @ X", "name", "formula", wrong=[(1, 2)])
    assert article.doubt(row) == article.doubt(column) == article.doubt(one) == ""
    article.recipe.supposed.add("X")
    carried = "what it is computed from may be wrong instead"
    assert [article.doubt(entry) for entry in (row, column, one)] == [carried, carried, ""]


def test_figures_of_something_else_are_doubted(article):
    """Whatever stands around them, those of a row of T are none of S."""
    for name in ("S", "T", "A"):
        article.prints(name, "name", "formula")
    value = article.printer.matrix(article.rows("T[0]", 2), 2)
    kinds: tuple[Kind, ...] = ("formula", "name", "result", "working", "output")
    assert article.ledger.claim(parse("S[0]"), value, *kinds)
    entry = article.ledger.entries[-1]
    assert entry.rival > 0
    assert article.doubt(entry) == "its figures are rather those of something else"


def test_arithmetic_says_itself_what_it_is(article):
    """And is refuted, but where most that is worked out there doesn't come out."""
    right = [article.works(f"0.{k}1 + 0.2", f"0.{k + 2}1") for k in range(1, 5)]
    wrong = article.works("0.31 + 0.25", "0.91")
    assert article.doubt(wrong) == wrong.basis == ""
    assert all(article.doubt(entry) == "" for entry in right)


def test_arithmetic_that_never_comes_out_is_read_amiss(article):
    """As where a term of a sum stands on the next line."""
    wrong = [article.works(f"0.{k}1 + 0.25", "0.91") for k in range(1, 5)]
    reasons = {article.doubt(entry) for entry in wrong}
    assert reasons == {"the numbers around it do not come out either: they may be read amiss"}


def test_inputs_that_are_shown_rounded_are_no_more_than_that():
    """What is off by no more than they allow holds within that; what is off by more is
    refuted."""
    article = Article()
    article.recipe.give("W", article.printer.matrix(X, 2), None, is_rounded=True)
    article.recipe.define("Q", parse("X @ W"))
    for name in ("S", "T", "A"):
        article.prints(name, "name", "formula")
    figures = article.rows("Q")
    figures[0, 0] += 0.001
    figures[1, 1] += 0.31
    assert article.ledger.claim(parse("Q"), article.printer.matrix(figures, 4), "name", "formula")
    entries = article.settled()[3:]
    assert not any(one.doubt for one in entries)
    assert [one.reach > 0 for one in entries] == [True, *8 * [False]]


def test_single_precision_is_no_mistake(article):
    """A program that shows eight digits has no more than seven."""
    for name in ("S", "T"):
        article.prints(name, "output")
    figures = article.rows("A", 8)
    figures[0, 0] += 2e-8
    figures[2, 2] += 0.003
    assert article.ledger.claim(parse("A"), article.printer.matrix(figures, 8), "output")
    entries = article.settled()[2:]
    assert not any(one.doubt for one in entries)
    assert [one.reach > 0 for one in entries] == [True, *8 * [False]]


def test_what_agrees_by_chance_in_a_doubted_block_does_not_hold(article):
    """Where more of its figures say that it is something else."""
    few = article.prints("A", "name", wrong=EVERY[1:], off=1.31, decimals=1)
    most = article.prints("T", "name", wrong=EVERY[:2], off=1.31, decimals=4)
    assert article.doubt(few) == article.doubt(most) == LITTLE
    assert few.trust == -np.inf
    assert most.trust > -np.inf


def test_an_input_with_more_digits_was_computed_since():
    """Who gives 0.43 and prints 0.42871 of the same name shows another one."""
    article = Article()
    article.recipe.give("b", article.printer.matrix(X[:, :2], 2), None)
    off = X[:, :2] + [[0.0041, 0.0032], [0.0012, 0.0071], [0.0, 0.0]]
    for decimals, doubt in ((4, "it has more digits than the input that it would repeat"), (2, "")):
        tree = article.printer.matrix(off, decimals)
        article.ledger.claim(parse("b"), tree, "name")
        entry = article.ledger.entries[-1]
        assert Confidence(article.ledger).barred(entry) == doubt
