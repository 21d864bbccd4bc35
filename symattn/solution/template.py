"""A case file to start from: a small example, or another case with its figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from symattn.tables.file import text, written

if TYPE_CHECKING:
    from symattn.cases.case import Case
    from symattn.solution.solution import Solution

#: A small case, whose comments explain the format.
EXAMPLE = Path(__file__).with_name("example.toml").read_text("utf-8")

#: Decimal places of the figures that are to be replaced.
PLACES = 4


def template(solution: Solution) -> str:
    """A case file with the numbers, steps and loss of a case, and a claim
    for every step with its correctly rounded figures.

    >>> from symattn.cases.case import make
    >>> from symattn.solution.solution import Solution
    >>> made = template(Solution(make("two", {"X": ["1/3", 1]}, {"A": "softmax(X)"})))
    >>> print(made[made.index("[given]") :])
    [given]
    X = ["1/3", 1]
    <BLANKLINE>
    [steps]
    A = "softmax(X)"
    <BLANKLINE>
    [[claims]]
    where = "A"
    of = "A"
    printed = [0.3392, 0.6608]
    <BLANKLINE>
    """
    return "\n".join(_lines(solution))


def _lines(solution: Solution) -> Iterator[str]:
    case = solution.case
    yield "# The figures are correct, rounded to so many places: put in their place"
    yield "# what the document prints, and where. 'symattn audit' says which are wrong."
    yield ""
    yield f"title = {text(case.title)}"
    if case.source:
        yield f"source = {text(case.source)}"
    if case.tokens:
        yield f"tokens = [{', '.join(map(text, case.tokens))}]"
    if case.rounding != "half-even":
        yield f"rounding = {text(case.rounding)}"
    yield from ("", "[given]")
    for name, data in case.raw.items():
        yield f"{name} = {written(data)}"
    yield from steps(case)
    if case.states_loss:
        yield from ("", "[loss]", f"output = {text(case.output)}")
        if case.raw_upstream is not None:
            yield f"upstream = {written(case.raw_upstream)}"
        yield f"wrt = [{', '.join(map(text, case.wrt))}]"
    for name in case.steps:
        yield from ("", "[[claims]]", f"where = {text(name)}", f"of = {text(name)}")
        yield f"printed = {written(solution[name].decimal(PLACES))}"
    yield ""


def steps(case: Case) -> Iterator[str]:
    """The lines of the tables of a case's steps and functions."""
    yield from ("", "[steps]")
    yield from (f"{name} = {text(step)}" for name, step in case.steps.items())
    if case.functions:
        yield from ("", "[functions]")
        yield from (f"{text(head)} = {text(body)}" for head, body in case.functions.items())
