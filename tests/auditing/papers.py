"""Documents for the audit's tests: printed from a program, corrupted, audited."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache
from random import Random
from typing import NamedTuple

from symattn.auditing.audit import audit
from symattn.cases import library
from symattn.cases.case import make
from symattn.cases.claims import read_claims
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

#: The bundled documents that print numbers.
DOCUMENTS = ("cat-sat-mat", "length-4-causal", "please-study-man", "the-cat-sleeps")


@cache
def solved(name):
    """The solution of a bundled case, solved once."""
    return Solution(library.load(name))


class Said(NamedTuple):
    """What a document says: figures as text, before they are read as a claim."""

    where: str
    of: str
    printed: object


def claiming(solution, said):
    """A solved case with other claims; what is worked out already is shared."""
    claims = read_claims(solution.program, [claim._asdict() for claim in said])
    return declaring(solution, claims=claims)


def declaring(solution, **details):
    """A solved case whose document declares another rounding or tolerance."""
    other = copy.copy(solution)
    other.case = replace(solution.case, **details)
    return other


def printed(quantity, places, mode="half-even"):
    """A quantity as a document prints it, correctly rounded: nested lists of text."""

    def text(entry):
        if isinstance(entry, tuple):
            return [text(inner) for inner in entry]
        return "-inf" if entry.is_infinite() else format(entry, "f")

    return text(quantity.decimal(places, mode))


def claims_of(solution, expressions, places, mode="half-even"):
    """Claims of these expressions, correctly rounded."""
    return [Said(f"step {of}", of, printed(solution[of], places, mode)) for of in expressions]


def expressions_of(solution):
    """Everything that a bundled case prints, its steps and its gradients."""
    case = solution.case
    gradients = [] if case.symbols else [f"dL/d{name}" for name in case.wrt]
    return [*dict.fromkeys(c.of for c in case.claims if c.of), *case.steps, *gradients]


def flat(table, place=()):
    """Every figure of nested lists with its index."""
    if not isinstance(table, list):
        return [(place, table)]
    return [found for k, inner in enumerate(table) for found in flat(inner, (*place, k))]


def with_figure(table, place, text):
    """Nested lists with one figure replaced."""
    if not place:
        return text
    return [
        with_figure(inner, place[1:], text) if k == place[0] else inner
        for k, inner in enumerate(table)
    ]


def one_digit_off(figure, random: Random):
    """A figure with one of its digits changed."""
    k = random.choice([k for k, letter in enumerate(figure) if letter.isdigit()])
    return figure[:k] + random.choice("0123456789".replace(figure[k], "")) + figure[k + 1 :]


def refuted(found):
    """The refuted figures of an audit."""
    return [figure for figure in found.figures if figure.verdict is Verdict.REFUTED]


def causes(found, *, of=None):
    """The causes of the refuted figures, of one quantity or of all."""
    return {figure.cause for figure in refuted(found) if of in (None, figure.place[0])}


# -- a program with nothing special about its numbers ----------------------------------

GIVEN = {
    "X": [
        ["0.9", "-0.4", "0.7", "0.2"],
        ["-0.3", "0.8", "0.5", "-0.6"],
        ["0.1", "0.6", "-0.9", "0.4"],
        ["0.7", "0.3", "0.2", "-0.8"],
    ],
    "W_Q": [
        ["0.5", "-0.2", "0.9", "0.1"],
        ["0.3", "0.7", "-0.4", "0.6"],
        ["-0.8", "0.2", "0.4", "0.5"],
        ["0.6", "-0.9", "0.1", "0.3"],
    ],
    "W_K": [
        ["0.4", "0.9", "-0.5", "0.2"],
        ["-0.7", "0.1", "0.6", "0.8"],
        ["0.3", "-0.6", "0.2", "0.9"],
        ["0.8", "0.4", "0.7", "-0.1"],
    ],
    "W_V": [
        ["0.7", "0.3", "-0.2", "0.6"],
        ["0.1", "-0.8", "0.5", "0.9"],
        ["0.4", "0.6", "0.3", "-0.5"],
        ["-0.9", "0.2", "0.8", "0.7"],
    ],
    "d_k": 3,
}
STEPS = {
    "Q": "X @ W_Q",
    "K": "X @ W_K",
    "V": "X @ W_V",
    "S": "Q @ K.T",
    "T": "S / sqrt(d_k)",
    "M": "causal(T)",
    "A": "softmax(M)",
    "Y": "A @ V",
}
LOSS = {
    "output": "Y",
    "upstream": [
        ["1", "-2", "3", "1"],
        ["2", "1", "-1", "4"],
        ["-3", "2", "1", "2"],
        ["1", "5", "-2", "-1"],
    ],
}
BACKWARD = tuple(f"dL/d{name}" for name in ("V", "A", "M", "T", "S", "Q", "K"))


@cache
def honest():
    """The program as it should be computed."""
    return Solution(make("honest", GIVEN, STEPS, LOSS))


def slipping(given=GIVEN, **steps):
    """The program with other steps."""
    return Solution(make("slipping", given, {**STEPS, **steps}, LOSS))


def document(*figures):
    """The honest program audited against these printed figures: pairs of an
    expression and what is printed of it, in the order of the document."""
    said = [Said(f"line {k}", of, text) for k, (of, text) in enumerate(figures)]
    return audit(claiming(honest(), said))
