"""The environments of LaTeX that hold formulas; each may have a star."""

from __future__ import annotations

from symattn.spelling import words

#: Displays, which stand in text.
DISPLAYS = words(
    "equation align alignat xalignat flalign gather multline eqnarray IEEEeqnarray displaymath"
    " dmath dgroup math"
)
MATRICES = words(
    "matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix psmallmatrix bsmallmatrix array"
)
#: Those that stand inside of a formula; one in text is a formula of its own.
INNER = MATRICES | words("aligned alignedat gathered multlined split cases dcases rcases")
FORMULAS = DISPLAYS | INNER
#: Those with an argument before their contents.
WITH_ARGUMENT = words("array alignat alignedat xalignat IEEEeqnarray")


def is_formula(name: str) -> bool:
    """Whether an environment of that name, perhaps with a star, is a formula.

    >>> is_formula("align*"), is_formula("figure")
    (True, False)
    """
    return name.rstrip("*") in FORMULAS
