"""What is told of a figure where a reader asks for it: where it comes from, its closed form,
more of its digits."""

from __future__ import annotations

from symattn import formulas as f
from symattn import typesetting as t
from symattn.printers import blocks as b
from symattn.printers.layout import broken, width
from symattn.programs.nodes import Node
from symattn.sheets.presentation import NARROW, Presentation

#: Decimal places of a figure that is asked for.
PLACES = 12

#: Room of a line in em, which telephones have, and of a closed form.
_ROOM, _CLOSED = 21.0, 2 * NARROW
#: Terms of a sum of which a line can't show all.
_TERMS = 24


def hints(presentation: Presentation, node: Node, count: int) -> tuple[tuple[b.Hint, ...], ...]:
    """The hints of the first rows of a quantity; none where there is nothing to tell."""
    if node.op == "given" and presentation.is_plain(node):
        return ()
    rows = range(len(presentation.hints.setdefault(node.serial, [])), count)
    presentation.hints[node.serial] += [
        tuple(hint(presentation, node, i, j) for j in range(node.grid[1])) for i in rows
    ]
    return tuple(presentation.hints[node.serial][:count])


def hint(presentation: Presentation, node: Node, i: int, j: int) -> b.Hint:
    """The hint of an entry.

    >>> from symattn.solution.solution import solve
    >>> solution = solve("cat-sat-mat")
    >>> weights = solution.program.quantities["A"]
    >>> for line in hint(Presentation(solution, 4), weights, 0, 1).lines:
    ...     print(*map(t.latex, line))
    A_{0,1} = \\frac{1}{Z_{0}}
     \\approx 0.186323723226
    """
    rows: list[tuple[t.Row, t.Row]] = []
    if node.op != "given" and not presentation.quantity(node).is_hidden(i, j):
        rows.append((t.EQUALS, _short(presentation.substituted(node, i, j))))
    exact = (
        None
        if presentation.large and not presentation.is_plain(node)
        else presentation.exact(node, i, j)
    )
    if exact is not None and width(closed := f.typeset(exact)) <= _CLOSED:
        rows.append((t.EQUALS, closed))
    digits = presentation.approximate(node, i, j, max(PLACES, presentation.places))
    if digits is not None:
        rows.append((t.ABOUT, _short(digits)))
    name = f.typeset(presentation.entry_name(node, i, j))
    lines = ((name if row is rows[0] else t.Row(), *row) for row in dict.fromkeys(rows))
    return b.Equations(tuple(lines))


def _short(formula: f.Formula) -> t.Row:
    """A formula on one line; of a longer sum the beginning."""
    if isinstance(formula, f.Sum):
        # No more stand on the line than that, and all of a long one take long to be set.
        formula = f.Sum(formula.terms[:_TERMS])
    first, *more = broken(formula, _ROOM)
    return t.row(first, t.sign("+"), t.DOTS) if more else first
