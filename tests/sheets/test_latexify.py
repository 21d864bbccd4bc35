"""The formulas of definitions beside the LaTeX that latexify makes of the same functions.

Sheets read what latexify makes of their expressions into rows, put names and sizes in, and leave
out brackets around what a sum adds up: what is printed of a row says the same.
"""

from __future__ import annotations

import re
import warnings

import latexify
import pytest

from symattn.crosscheck import definitions
from symattn.expressions import typesetting as t
from symattn.sheets.definitions import equation

#: What functions are called in formulas.
CALLED = {
    **{"inf": "infty", "greatest": "max", "least": "min", "magnitude": "abs"},
    **{"sign_of": "sign", "ln": "log", "first_greatest": "max", "first_least": "min"},
}
#: Brackets that grow, names in upright letters, and blanks: both set them in their own ways.
LOOKS = re.compile(
    r"\\(?:mathopen|mathclose)\{\}|\\(?:left|right)(?![a-z])|\\[,; ]|\\cdot|\s"
    r"|\\(?:operatorname|mathrm)(?=\{)|\\(?=(?:exp|log|tanh|sin|cos|max|min)\b)"
)
SUM = re.compile(r"\\sum_\{[^{}]*\}\^\{[^{}]*\}")


def plain(latex: str) -> str:
    """LaTeX without what only says how it looks, and without brackets around all that a sum
    adds up, which latexify always writes."""
    text = LOOKS.sub("", latex).replace(r"\leq", r"\le").replace(r"\geq", r"\ge")
    for found in reversed([*SUM.finditer(text)]):
        start = found.end()
        if text[start : start + 1] in ("(", "{") and (end := closing(text, start)) is not None:
            inside = text[start + 1 : end]
            if text[start] == "(" and text[end + 1 : end + 2] != "^":
                text = text[:start] + inside + text[end + 1 :]
    return re.sub("[{}]", "", text)


def closing(text: str, start: int) -> int | None:
    """Where the bracket that opens there closes."""
    opening, depth = text[start], 0
    for k in range(start, len(text)):
        depth += (text[k] == opening) - (text[k] == {"(": ")", "{": "}"}[opening])
        if not depth:
            return k
    return None


@pytest.mark.sampled(81)
@pytest.mark.parametrize("name", definitions.names())
def test_a_formula_says_what_latexify_reads(name: str) -> None:
    """The same letters, operations and indices in the same order, with the same brackets."""
    with warnings.catch_warnings():
        # latexify 0.4.4 still names nodes that newer Pythons call deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        other = latexify.get_latex(
            definitions.definition(name),
            identifiers=CALLED,
            use_math_symbols=True,
            use_signature=False,
        )
    assert plain(t.latex(equation(name, {}, {})).partition(" = ")[2]) == plain(other)
