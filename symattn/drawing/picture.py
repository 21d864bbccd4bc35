"""A case as a drawing: its attention pattern, its flow, and its gradients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from symattn.cases.case import Case
from symattn.cases.settings import settings
from symattn.drawing.cells import Cells
from symattn.drawing.flow import Flow
from symattn.drawing.legend import legend
from symattn.drawing.pattern import AttentionPattern, attentions, pattern
from symattn.drawing.svg import Panel, drawing, stacked
from symattn.errors import Malformed, expected
from symattn.languages.language import Language
from symattn.shapes import show
from symattn.solution.solution import Solution, solve

#: What there is to draw.
What = Literal["pattern", "flow", "gradients", "all"]
WHAT: tuple[What, ...] = get_args(What)

#: Most places that figures in a drawing have.
_MOST_PLACES = 6
#: A legend is at least so wide before it takes another line; and the most that a
#: description tells one by one.
_LEGEND, _TOLD = 420.0, 64


def draw(
    case: str | Path | Case | Solution,
    what: What = "all",
    places: int | None = None,
    language: str | None = None,
) -> str:
    """A case as SVG, one file that loads nothing: for a browser, a page or a slide.

    ``what`` is ``pattern`` (every softmax: who attends to whom), ``flow`` (the
    steps as a graph, a heat map each), ``gradients`` (the flow with the gradient
    of every value beside it) or ``all`` (the pattern above the flow with its
    gradients). Figures have 0 to 6 ``places``, correctly rounded; without, as many
    as show two digits of the largest of each quantity. ``language`` is that of the
    case's sheets unless told. Raises :class:`Malformed` for other values, where there
    are no steps, and where a pattern is asked for and there is no softmax.

    >>> draw("cat-sat-mat", "pattern").startswith("<svg ")
    True
    """
    if what not in WHAT:
        raise Malformed(f"unknown drawing {what!r}: {expected(what, WHAT)}")
    if places is not None and not 0 <= places <= _MOST_PLACES:
        raise Malformed(f"expected 0 to {_MOST_PLACES} places in a drawing, found {places}")
    solution = case if isinstance(case, Solution) else solve(case)
    if not solution.case.steps:
        raise Malformed(f"{solution.case.name} has no steps: nothing to draw")
    say = settings(solution.case.sheet, {"language": language} if language else {}).say
    softmaxes = attentions(solution, places) if what in ("pattern", "all") else []
    if what == "pattern" and not softmaxes:
        raise Malformed("no step is a softmax, so nothing attends: draw the flow")
    panels: list[Panel] = []
    drawn: list[Cells] = [attention.cells for attention in softmaxes]
    sentences = [line for attention in softmaxes for line in _attending(attention, say)]
    if softmaxes:
        panels.append(pattern(softmaxes, say))
    if what != "pattern":
        flow = Flow(solution, places, what != "flow")
        panels.append(flow.panel())
        drawn += flow.cells
        sentences += _flowing(solution, say)
    room = max(_LEGEND, *(panel.width for panel in panels))
    panels.append(legend(drawn, say, room))
    title = f"{solution.case.title or solution.case.name}: {_called(what, say)}"
    return drawing(stacked(panels), title, " ".join(sentences), say.tag)


def _called(what: str, say: Language) -> str:
    match what:
        case "pattern":
            return say.text("attention pattern")
        case "flow":
            return say.text("flow")
    return say.text("flow and gradients")


def _attending(attention: AttentionPattern, say: Language) -> Iterator[str]:
    """Who attends to whom, in words, where that can be told one by one."""
    name = "".join(run.text for run in attention.name)
    yield say.text(
        "{name}: {queries} queries attend to {keys} keys.",
        name=name,
        queries=attention.node.grid[0],
        keys=attention.node.grid[1],
    )
    if len(attention.queries) * len(attention.keys) > _TOLD:
        return
    for query, row in zip(attention.queries, attention.cells.rows, strict=True):
        weights = [
            f"{key} {say.text('masked') if cell.is_hidden else cell.figure}"
            for key, cell in zip(attention.keys, row, strict=True)
        ]
        yield say.text("{query} attends to {weights}.", query=query, weights=", ".join(weights))


def _flowing(solution: Solution, say: Language) -> Iterator[str]:
    """What each quantity is, in words."""
    for name, node in solution.program.quantities.items():
        shape = show(node.shape)
        if name in solution.case.steps:
            step = solution.case.steps[name]
            yield say.text("{name} = {step}, {shape}.", name=name, step=step, shape=shape)
        else:
            yield say.text("{name} is given, {shape}.", name=name, shape=shape)
