"""A case file to start from: a small example, or another case with its figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symattn.tables.file import text, written

if TYPE_CHECKING:
    from symattn.cases.case import Case
    from symattn.solution.solution import Solution

EXAMPLE = """\
# A case: what a document computes, and the figures that it prints.
#
#     symattn audit FILE      which printed figures are wrong, what they should be, and why
#     symattn sheet FILE      every step worked out, as LaTeX and PDF
#     symattn show FILE A     closed forms and certain digits of a step
#
# Everything below is an example: put the document's own numbers in its place.

title = "Attention over two words"
# source = "https://..."          # where the document was published
tokens = ["hello", "world"]       # what the rows are called; may be left out

# The numbers that the document starts from: integers, decimals with all the
# digits that are printed, or text such as "1/3", "sqrt(2)" and "-inf".
[given]
X = [[1, 0.5], [0, 2]]            # a matrix, row by row
W_Q = [[1, 0], [1, 1]]
W_K = [[0, 1], [1, 0]]
d_k = 2                           # a number

# What is computed, in this order. Known are @ .T + - * / and sqrt exp log tanh
# softmax causal mask concat rowsum colsum total rows cols, and indices as in
# A[0, 1] and X[:, 0:2].
[steps]
Q = "X @ W_Q"
K = "X @ W_K"
S = "Q @ K.T / sqrt(d_k)"
A = "softmax(S)"                  # row by row
Y = "A @ X"

# What is on its sheets, which may be left out: --for, --language and the other
# flags of 'symattn sheet' by their names. Without it a sheet is for students.
# [sheet]
# audience = "teacher"            # student, teacher, author
# places = 4
# language = "en"                 # en, de, or a language file beside this one

# The backward pass, which may be left out. Without 'upstream', dL/dY is all ones.
[loss]
output = "Y"
upstream = [[1, 0], [0, 1]]
wrt = ["X", "W_Q", "A"]

# What the document prints, each with the place where it does ('where' may be
# left out). The number of places counts: 0.50 says more than 0.5.
[[claims]]
where = "queries"
of = "Q"
printed = [[1.5, 0.5], [2, 2]]

[[claims]]
where = "keys"
of = "K"
printed = [[0.5, 1], [2, 0]]

[[claims]]
where = "scores"
of = "S"
printed = [[0.8839, 2.1213], [2.1213, 2.8284]]

[[claims]]
where = "weights"
of = "A"
printed = [[0.2249, 0.7751], [0.3302, 0.6698]]

[[claims]]
where = "output"
of = "Y"
printed = [[0.2249, 1.6627], [0.3302, 1.5046]]

# A part of a step, any expression over steps, and gradients can be claimed too.
[[claims]]
where = "the second weight of the first row, in percent"
of = "100 * A[0, 1]"
printed = 77.5

# Where the document shows the numbers that it computes with, these are claimed
# as well: do they come to that figure, and is it the quantity's?
[[claims]]
where = "the second output of the first row, worked"
of = "Y[0, 1]"
as_printed = "0.2249 * 0.5 + 0.7751 * 2"
printed = 1.663

# Statements: == < <= > >= and, with argmax max min abs shape.
[[claims]]
where = "summary"
holds = "argmax(A[0]) == 1 and rowsum(A) == 1"

# What can't be said as a claim is counted with its reason.
# [[unchecked]]
# where = "figure 1"
# what = "a plot of the weights"
# reason = "it prints no figures"
"""

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
