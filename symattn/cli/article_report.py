"""The findings of an audit at an article's own lines, each with the line and a mark in it.

Lines of an article, cut around what is spoken of, with a mark under that.

How an article was understood, on a terminal, as wide as that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from symattn.auditing import reports, understanding
from symattn.cli.cases import styled
from symattn.cli.terminal_table import Columns, heading, paragraph
from symattn.errors import short
from symattn.escaping import visible
from symattn.expressions import syntax
from symattn.expressions.shapes import Nested, show
from symattn.languages.sentence import Sentence
from symattn.verdicts import Verdict

if TYPE_CHECKING:
    from rich.console import Console

    from symattn.auditing.audit import Audit
    from symattn.auditing.figures import Figure, Statement
    from symattn.auditing.understanding import Group, Note
    from symattn.cases.case import Case
    from symattn.documents.article import Article
    from symattn.documents.reading import ArticleNumber, Claimed, OpenQuestion, Reading
    from symattn.documents.text import Span

#: Stands for what is left out of a line.
_CUT = "\N{HORIZONTAL ELLIPSIS}"
_ENDS = "\r\n"


class Excerpt(NamedTuple):
    """A line of an article: what stands before what is spoken of, that, and what is behind."""

    before: str
    marked: str
    behind: str

    @property
    def marks(self) -> str:
        """Carets below what is spoken of, one at least."""
        return " " * cell_len(self.before) + "^" * max(cell_len(self.marked), 1)


def excerpt(article: Article, span: Span, width: int) -> Excerpt:
    """The line that a span begins on, no wider than ``width`` cells: what is hidden is
    shown by its code, and what is left out by an ellipsis.

    >>> from pathlib import Path
    >>> from symattn.documents.article import Article
    >>> from symattn.documents.text import Span
    >>> post = Article(Path("post.md"), "markdown", "Weights: 0.51 and 0.49.", ())
    >>> found = excerpt(post, Span(9, 13), 16)
    >>> print("".join(found[:3]), found.marks, sep="\\n")
    …hts: 0.51 and …
          ^^^^
    """
    room = max(width, 8)
    # A line may be as long as the file: no more of it is looked at than could be shown.
    source, start = article.source, span.start
    left = source[max(start - room - 1, 0) : start]
    left = left[max(map(left.rfind, _ENDS)) + 1 :]
    marked = _line(source[start : min(span.end, start + room)])
    end = start + len(marked)
    # Nothing stands behind what itself goes on.
    right = _line(source[end : end + room + 1]) if end >= span.end else ""
    shown_marked = _fitted(marked, room)
    rest = room - _cells(shown_marked)
    if len(left) <= room:
        left = left.lstrip()
    behind = _fitted(right, rest - min(_cells(map(_displayed, left)), rest // 2))
    before = _fitted(reversed(left), rest - _cells(behind))
    return Excerpt("".join(reversed(before)), "".join(shown_marked), "".join(behind))


def _line(text: str) -> str:
    """Text up to where its line ends."""
    return text[: min((at for end in _ENDS if (at := text.find(end)) >= 0), default=len(text))]


def _displayed(character: str) -> str:
    return " " if character == "\t" else visible(character)


def _fitted(text: Iterable[str], room: int) -> list[str]:
    """The characters as they are shown, as many as there is room for; one cell of that is
    kept for the ellipsis where some are left out."""
    pieces: list[str] = []
    used = 0
    for character in text:
        piece = _displayed(character)
        used += cell_len(piece)
        if used > room:
            while pieces and _cells(pieces) >= room:
                pieces.pop()
            return [*pieces, _CUT] if room > 0 else []
        pieces.append(piece)
    return pieces


def _cells(pieces: Iterable[str]) -> int:
    return sum(map(cell_len, pieces))


#: What stands below a line is told so far in.
_INSIDE = " " * 6
#: Lines of an article are shown no wider, however wide the terminal is.
_WIDEST = 100
#: So many places that are open for one reason are told.
_PLACES = 4
#: So much of an expression stands in a heading; all of it is in the line.
_LABEL = 60


def figures(audit: Audit, out: Console, unfolded: bool) -> None:
    """All wrong figures: those of a cause, those that none was found for, the rest."""
    several = reports.several_unexplained(audit)
    groups = reports.grouped(audit)
    listed = [
        member for root, carried in groups for member in (root, *(carried if unfolded else ()))
    ]
    sums = _sums(listed)
    for root, carried in groups:
        if root.span and sums.get(root.span) is root:
            continue
        _figure(audit, out, root, sums, several)
        if unfolded:
            for figure in carried:
                _figure(audit, out, figure, sums, several)
        elif carried:
            lines = reports.lines((figure.span or figure.line for figure in carried), audit.case)
            paragraph(out, f"{reports.propagated_line(audit, carried)} ({lines})", "dim", _INSIDE)


def understood(audit: Audit, out: Console) -> None:
    """Print what the article was understood to give, to compute and to print; and what to add where
    that is wrong."""
    for line in understanding.summary(audit):
        paragraph(out, line, "dim")
    if note := understanding.remedy(audit):
        _note(out, note, "")


def _note(out: Console, note: Note, start: str) -> None:
    """A note to add, on a line of its own: nothing is broken that will be pasted."""
    paragraph(out, note.when, "dim", start)
    out.print(styled(f"{start}    {visible(note.text)}"), soft_wrap=True)


def _sums(figures: Sequence[Figure]) -> dict[Span, Figure]:
    """The figures that are also what the numbers before them come to, by their places: one
    is told with the quantity that is printed there."""
    named = {figure.span for figure in figures if figure.span and not figure.claim.is_arithmetic}
    return {
        figure.span: figure
        for figure in figures
        if figure.span in named and figure.claim.is_arithmetic
    }


def _figure(
    audit: Audit, out: Console, figure: Figure, sums: Mapping[Span, Figure], several: bool
) -> None:
    label = short(figure.label, _LABEL)
    sentence = f"{label} printed {figure.text}, correct {figure.correct}"
    _finding(audit, out, figure, sentence, "bold")
    if figure.span:
        _marked(audit, out, figure.span, figure.correct)
    also = sums.get(figure.span) if figure.span else None
    reasons = (
        reports.cause_sentence(audit, judged, several) for judged in (figure, also) if judged
    )
    for why in dict.fromkeys(filter(None, reasons)):
        paragraph(out, why, "", _INSIDE)
    if basis := understanding.basis(figure.claim):
        paragraph(out, basis, "dim", _INSIDE)


def others(audit: Audit, out: Console, strict: bool) -> None:
    """Print what is wrong or in doubt besides figures that are refuted."""
    for statement in audit.statements:
        if statement.verdict is not Verdict.HOLDS:
            text = f"{statement.verdict}: {statement.claim.holds}{statement.because}"
            _finding(audit, out, statement, text, "red")
            if statement.claim.span:
                _marked(audit, out, statement.claim.span)
    for figure in audit.figures:
        if figure.verdict is Verdict.UNDECIDED:
            _finding(
                audit, out, figure, f"undecided: {figure.label} printed {figure.text}", "yellow"
            )
    for figure in reports.coarse(audit, everywhere=strict):
        style = "red" if strict else "yellow"
        _finding(audit, out, figure, f"coarse: {reports.coarse_sentence(figure)}", style)


def reading(audit: Audit, out: Console) -> None:
    """Print how the article was read: what was assumed and left open, and what was not read."""
    assert audit.case.reading is not None
    for sentence in audit.assumptions:
        paragraph(out, f"assumed: {sentence}", "yellow")
    for note in audit.case.reading.article.notes:
        paragraph(out, f"{reports.file_of(audit.case)}: {note}", "yellow")
    for group in understanding.open_groups(audit):
        _open_group(audit, out, group)
    paragraph(out, reports.line(audit), "dim")
    for group in understanding.unread_groups(audit):
        count = len(group.items)
        numbers = "1 number" if count == 1 else f"{count} numbers"
        places = [reports.spanned(audit.case, span) for span in group.spans]
        if any(place.paragraph for place in places):
            lines = reports.lines(group.spans, audit.case)
        else:
            lines = reports.lines(place.line for place in places)
        paragraph(out, f"not read: {group.reason} ({numbers}, {lines})", "dim", "  ")
        if group.note:
            _note(out, group.note, "  ")


def _open_group(audit: Audit, out: Console, group: Group) -> None:
    """What is open for one reason: the first places, and how many more there are."""
    first = group.items[:_PLACES]
    for item in first if len(group.items) == 1 else ():
        at = reports.spanned(audit.case, item.span)
        text = f"{reports.file_of(audit.case)}:{at}: open: {short(item.what, _LABEL)} ({item.why})"
        paragraph(out, text, "yellow")
    if len(group.items) > 1:
        paragraph(out, f"open, {len(group.items)} times: {group.reason}", "yellow")
        places = ", ".join(_place(audit, item) for item in first)
        more = len(group.items) - len(first)
        paragraph(out, places + (f" and {more} more" if more else ""), "", "  ")
    if group.note:
        _note(out, group.note, "  ")


def _place(audit: Audit, item: OpenQuestion) -> str:
    """Return where something is open, and what it may be of."""
    figure = item.why.pieces.get("figure") if isinstance(item.why, Sentence) else None
    of = f" ({short(str(figure), _LABEL)}?)" if figure else ""
    return f"{reports.spanned(audit.case, item.span)} {short(item.what, _LABEL)}{of}"


def _finding(audit: Audit, out: Console, judged: Figure | Statement, text: str, style: str) -> None:
    """What is told of a place: ``post.md:41:18: text``."""
    at = reports.region(audit.case, judged)
    paragraph(out, f"{reports.file_of(audit.case)}:{at}: {text}", style)


def _marked(audit: Audit, out: Console, span: Span, correct: str = "") -> None:
    """The line of a place, carets below it, and what is correct behind these."""
    assert audit.case.reading is not None
    article = audit.case.reading.article
    paragraph = article.paragraph(span.start)
    place = article.cell(span.start) or article.place(span.start)
    number = f"{paragraph.number if paragraph else place.line:5d} | "
    quote = excerpt(article, span, min(out.width, _WIDEST) - len(number))
    line = styled(number, style="dim")
    line.append(quote.before).append(quote.marked, style="red").append(quote.behind)
    out.print(line, soft_wrap=True)
    marks = styled(" " * (len(number) - 2) + "| ", style="dim")
    marks.append(quote.marks, style="red")
    if correct:
        marks.append(f" {visible(correct)}", style="green")
    out.print(marks, soft_wrap=True)


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
    _section(out, ("claims", "figures", ""), _claims(case, reading), right=(1,))
    _section(out, ("left open", "", ""), _open(reading))
    _section(out, ("not read", "", ""), _unread(reading))
    out.print()
    for sentence in (*reading.assumptions, *reading.article.notes):
        paragraph(out, sentence, "yellow")
    paragraph(out, reports.sentence(case, reading.numbers), "dim")


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


def _claims(case: Case, reading: Reading) -> Iterator[tuple[str, ...]]:
    """Yield how many figures are of each quantity, and on which lines."""
    spans: dict[str, list[Span]] = {}
    for claim in reading.claims:
        figures = [*_figures(claim.spans)] or [claim.span]
        spans.setdefault(_quantity(claim), []).extend(figures)
    for about, of in spans.items():
        yield about, str(len(of)), reports.lines(of, case)


def _quantity(claim: Claimed) -> str:
    """Return what a claim is about, whichever entries of it are printed."""
    if claim.key == "as_printed":
        return "(from the numbers printed there)"
    if claim.key == "holds":
        return f"({short(claim.text, _EXPRESSION)})"
    return short(syntax.text(_whole(claim.tree)), _EXPRESSION)


def _whole(tree: syntax.Tree) -> syntax.Tree:
    """Return what an entry, a row or a column is taken from."""
    while isinstance(tree, syntax.Indexed | syntax.Transposed):
        tree = tree.operand
    return tree


def _open(reading: Reading) -> Iterator[tuple[str, ...]]:
    items = sorted((*reading.open, *reading.unfit), key=lambda item: item.span)
    for item in items:
        yield reading.article.said(item.span.start), short(item.what, _EXPRESSION), item.why


def _unread(reading: Reading) -> Iterator[tuple[str, ...]]:
    """The lines with numbers that were not read, with these and the line itself."""
    article = reading.article
    by_line: dict[str, list[ArticleNumber]] = {}
    for number in reports.with_status(reading.numbers, "unread"):
        by_line.setdefault(article.said(number.span.start), []).append(number)
    for said, numbers in by_line.items():
        texts = short(", ".join(figure.text for figure in numbers), _NUMBERS)
        line = article.line(article.place(numbers[0].span.start).line)
        yield said, texts, short(line.strip(), _LINE)


def _origin(reading: Reading, span: Span | None) -> str:
    return "side file" if span is None else reading.article.said(span.start)


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
