"""Masks of exercises: a case with one put before its softmax."""

from __future__ import annotations

from itertools import count

from symattn import syntax
from symattn.cases.case import Case, make
from symattn.errors import Malformed
from symattn.programs.nodes import ancestors


def has_mask(case: Case) -> bool:
    """Whether a case masks scores."""
    return any(node.op == "hide" for node in ancestors(case.program.quantities.values()))


def masked(case: Case) -> Case:
    """The case with a mask before each softmax that is a step: ``P`` is given, and
    keeps for each query the keys up to its own.

    Raises :class:`Malformed` where no step is a softmax of a matrix, or where
    their scores have several shapes.

    >>> from symattn.cases.library import load
    >>> made = masked(load("cat-sat-mat"))
    >>> made.steps["M"], made.steps["A"], made.raw["P"]
    ('mask(T, P)', 'softmax(M)', [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    """
    program = case.program
    softmaxes = [name for name in program.steps if _scores(case.steps[name])]
    shapes = {program.quantities[name].shape for name in softmaxes}
    if len(shapes) != 1 or len(*shapes) != 2:
        raise Malformed(
            f"{case.name} has no mask, and one can only be added where steps such as "
            'A = "softmax(T)" have scores of one shape: write a mask into its steps'
        )
    ((rows, columns),) = shapes
    taken = {*program.quantities, *case.symbols}
    mask = _free("P", taken)
    steps: dict[str, str] = {}
    for name, step in case.steps.items():
        if name in softmaxes:
            hidden = _free("M" if len(softmaxes) == 1 else f"M_{name}", taken | steps.keys())
            steps[hidden] = f"mask({_scores(step)}, {mask})"
            step = f"softmax({hidden})"
        steps[name] = step
    loss = {"output": case.output, "upstream": case.raw_upstream, "wrt": case.wrt}
    return make(
        case.name,
        {**case.raw, mask: triangle(rows, columns)},
        steps,
        {key: value for key, value in loss.items() if value is not None}
        if case.states_loss
        else None,
        tokens=case.tokens,
        title=case.title,
        rounding=case.rounding,
        exercise=case.asked.table,
    )


def triangle(rows: int, columns: int) -> list[list[int]]:
    """What keeps for each query the keys up to its own; of more keys than queries
    the last ones are the queries' own.

    >>> triangle(2, 3)
    [[1, 1, 0], [1, 1, 1]]
    """
    before = max(columns - rows, 0)
    return [[int(j <= i + before) for j in range(columns)] for i in range(rows)]


def _scores(step: str) -> str:
    """What a step takes the softmax of, as text; '' where it is no softmax."""
    match syntax.parse(step):
        case syntax.Call("softmax", _) if step.lstrip().startswith("softmax"):
            return step[step.index("(") + 1 : step.rindex(")")].strip()
    return ""


def _free(name: str, taken: set[str]) -> str:
    return next(x for k in count() if (x := f"{name}{k or ''}") not in taken)
