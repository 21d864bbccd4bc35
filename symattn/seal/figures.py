"""Printed figures as theorems: that what a walkthrough defines rounds to them, or does not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flint import arb, fmpq

from symattn.numbers.rationals import PrintedNumber, read_printed
from symattn.seal.bounds import Bounds, precise
from symattn.seal.definitions import Definitions, Unstated
from symattn.seal.gradients import Derivative, slope
from symattn.seal.terms import Entry, Term, decimal_fraction, number_text, side
from symattn.seal.theorems import Theorem


@dataclass(frozen=True)
class Printed:
    """A figure to be sealed: what it is of, what is printed, and what should be; ``said`` is it
    as its readers know it. ``correct`` is '' where the figure is right; ``exact`` is the rational
    number that it should be, where it is one."""

    said: str
    term: Term
    number: PrintedNumber
    correct: str = ""
    exact: fmpq | None = None


def decimal_text(printed: PrintedNumber) -> str:
    """A printed number as a fraction of its unit: ``1863 / 10000``.

    >>> decimal_text(read_printed("0.1863")), decimal_text(read_printed("-2"))
    ('1863 / 10000', '- 2')
    """
    if printed.unit.p != 1:
        return number_text(printed.value)
    return decimal_fraction(printed.count, int(printed.unit.q))


class Figures:
    """Theorems of figures over definitions, with the lemmas that they need."""

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self.bounds = Bounds(definitions)

    def theorem(self, name: str, figure: Printed) -> Theorem:
        """The theorem of a figure. Raises :class:`Unstated` where what it is of is not known
        closely enough to say on which side of a boundary it is."""
        printed, term = figure.number, figure.term
        of = side(term)
        try:
            with precise():
                value = self.bounds.numbers.value(term, {})
        except KeyError as missing:
            raise Unstated(f"{missing} has no statement") from None
        exact = value if isinstance(value, fmpq) else figure.exact
        if exact == printed.value and (proof := self._equal(term, value)) is not None:
            return Theorem(name, f"{of} = {decimal_text(printed)}", proof, figure.said)
        if self._is_within(value if exact is None else exact, printed):
            statement = within(of, printed)
            return Theorem(name, statement, self._near(term, value), figure.said)
        statement = f"~ {within(of, printed)}"
        near = self._near(term, value)
        if not figure.correct:
            return Theorem(name, statement, f"apply Rlt_not_le. {near}", figure.said)
        right = read_printed(figure.correct)
        if right is None:
            raise Unstated(f"{figure.correct} is no number")
        proof = f"split. {{ apply Rlt_not_le. {near} }} {{ {near} }}"
        if not self._is_within(value if exact is None else exact, right):
            raise Unstated(f"{figure.correct} is not within half a unit either")
        said = f"{figure.said}: wrong, it is {figure.correct}"
        return Theorem(name, f"{statement} /\\ {within(of, right)}", proof, said)

    def derivative(self, derivative: Derivative, name: str, figure: Printed) -> Theorem:
        """The theorem of a figure of a gradient: the derivative is there, and is near it."""
        assert isinstance(figure.term, Entry)
        inner = self.theorem("", figure)
        entry = side(figure.term)
        moving = slope(derivative.loss_name, derivative.by, *figure.term.indices)
        d = "d" if derivative.by != "d" else "d'"
        near = re.sub(rf"\b{entry}\b", d, inner.statement)
        proof = f"exists ({entry}). split; [apply {derivative.theorem.name}; lia |]. {inner.proof}"
        return Theorem(name, f"exists {d} : R, {moving} {d} /\\ {near}", proof, figure.said)

    def _is_within(self, value: fmpq | arb, printed: PrintedNumber) -> bool:
        if isinstance(value, fmpq):
            half = printed.unit / 2
            return bool(-half <= value - printed.value <= half)
        with precise():
            room = arb(printed.unit / 2) - abs(value - arb(printed.value))
            if room >= 0:
                return True
            if room < 0:
                return False
        raise Unstated("it is too close to a boundary of rounding")

    def _near(self, term: Term, value: fmpq | arb) -> str:
        """The proof that a term is near a number, or far from it."""
        if isinstance(term, Entry) and not self.bounds.is_given(term):
            lemma = self.bounds.lemma(term).name
            return f"{'rewrite' if isinstance(value, fmpq) else 'pose proof'} {lemma}. figure."
        return (
            f"{self.bounds.preparation(term)} {'figure' if isinstance(value, fmpq) else 'bounded'}."
        )

    def _equal(self, term: Term, value: fmpq | arb) -> str | None:
        """The proof that a term is a rational number: by rational steps, or as exponentials
        cancel, for which all is opened that is no rational number; None where that is too much."""
        if isinstance(value, fmpq):
            return f"{self.bounds.preparation(term)} same."
        opened = self.bounds.opening(term)
        return None if opened is None else f"{opened} same."


def within(of: str, printed: PrintedNumber) -> str:
    """The statement that a term is within half a unit of a printed number.

    >>> within("A 0 1", read_printed("0.1863"))
    'Rabs (A 0 1 - 1863 / 10000) <= 1 / 20000'
    """
    far = decimal_text(printed)
    sign = "+" if far.startswith("- ") else "-"
    return f"Rabs ({of} {sign} {far.removeprefix('- ')}) <= {number_text(printed.unit / 2)}"
