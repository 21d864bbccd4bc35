"""How an article was understood, on a terminal, as wide as that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from symattn import syntax
from symattn.auditing import coverage
from symattn.cli.columns import Columns, heading, paragraph
from symattn.errors import short
from symattn.escaping import visible
from symattn.shapes import Nested, show

if TYPE_CHECKING:
    from rich.console import Console

    from symattn.cases.case import Case
    from symattn.documents.reading import ArticleNumber, Claimed, Reading
    from symattn.documents.text import Span

#: So much of an expression, of numbers and of a line of the article is shown.
_EXPRESSION, _NUMBERS, _LINE = 60, 40, 72


def report(case: Case, reading: Reading, out: Console) -> None:
    """Print what an article gives, computes and prints, beside its lines."""
    heading(out, reading.article.path.name, reading.article.title)
    _section(out, ("inputs", "", "", ""), _inputs(case, reading))
    if reading.tokens:
        _section(out, ("tokens",), ((", ".join(reading.tokens),),))
    _section(out, ("steps", ""), _steps(reading))
    if reading.loss is not None:
        entries = (f"{key} = {_shortly(value)}" for key, value in reading.loss.items())
        _section(out, ("loss",), ((entry,) for entry in entries))
    _section(out, ("claims", "figures", ""), _claims(reading), right=(1,))
    _section(out, ("left open", "", ""), _open(reading))
    _section(out, ("not read", "", ""), _unread(reading))
    out.print()
    for sentence in (*reading.assumptions, *reading.article.notes):
        paragraph(out, sentence, "yellow")
    paragraph(out, coverage.sentence(case, reading.numbers), "dim")


def _section(
    out: Console,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Sequence[int] = (),
) -> None:
    cells = [tuple(map(visible, row)) for row in rows]
    if not cells:
        return
    out.print()
    table = Columns(headings, ("",) * (len(headings) - 1) + ("dim",), right)
    widths = table.shrunk(cells, out.width, ())
    table.head(out, widths)
    for row in cells:
        table.row(out, widths, row, False)


def _inputs(case: Case, reading: Reading) -> Iterator[tuple[str, ...]]:
    for name, quantity in reading.given.items():
        shape = show(case.program.quantities[name].shape)
        yield name, shape, _shortly(quantity.entries), _origin(reading, quantity.span)


def _steps(reading: Reading) -> Iterator[tuple[str, ...]]:
    for name, step in reading.steps.items():
        origin = "assumed" if step.assumed else _origin(reading, step.span)
        yield f"{name} = {short(step.expression, _EXPRESSION)}", origin


def _claims(reading: Reading) -> Iterator[tuple[str, ...]]:
    """How many figures are of each quantity, and on which lines."""
    lines: dict[str, list[int]] = {}
    for claim in reading.claims:
        figures = [*_figures(claim.spans)] or [claim.span]
        lines.setdefault(_quantity(claim), []).extend(_line(reading, span) for span in figures)
    for about, of in lines.items():
        yield about, str(len(of)), coverage.lines(of)


def _quantity(claim: Claimed) -> str:
    """What a claim is about, whichever entries of it are printed."""
    if claim.key == "as_printed":
        return "(from the numbers printed there)"
    if claim.key == "holds":
        return f"({short(claim.text, _EXPRESSION)})"
    return short(syntax.text(_whole(claim.tree)), _EXPRESSION)


def _whole(tree: syntax.Tree) -> syntax.Tree:
    """What an entry, a row or a column is taken from."""
    while isinstance(tree, syntax.Indexed | syntax.Transposed):
        tree = tree.operand
    return tree


def _open(reading: Reading) -> Iterator[tuple[str, ...]]:
    items = sorted((*reading.open, *reading.unfit), key=lambda item: item.span)
    for item in items:
        yield f"line {_line(reading, item.span)}", short(item.what, _EXPRESSION), item.why


def _unread(reading: Reading) -> Iterator[tuple[str, ...]]:
    """The lines with numbers that were not read, with these and the line itself."""
    by_line: dict[int, list[ArticleNumber]] = {}
    for number in coverage.with_status(reading.numbers, "unread"):
        by_line.setdefault(_line(reading, number.span), []).append(number)
    for line, numbers in by_line.items():
        texts = short(", ".join(figure.text for figure in numbers), _NUMBERS)
        yield f"line {line}", texts, short(reading.article.line(line).strip(), _LINE)


def _origin(reading: Reading, span: Span | None) -> str:
    return "side file" if span is None else f"line {_line(reading, span)}"


def _line(reading: Reading, span: Span) -> int:
    return reading.article.place(span.start).line


def _figures(spans: Nested[Span] | None) -> Iterator[Span]:
    from symattn.documents.text import Span

    if isinstance(spans, Span):
        yield spans
    elif spans is not None:
        for part in spans:
            yield from _figures(part)


def _shortly(value: object) -> str:
    """Numbers in a line; of many the first."""
    return short(_plain(value), _NUMBERS)


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_plain, value))}]"
    return str(value)
