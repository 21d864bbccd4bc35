"""The red-pen sheet: a document's figures with the wrong ones struck through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from symattn.auditing import reports
from symattn.auditing.audit import Audit
from symattn.auditing.figures import Figure, Statement
from symattn.auditing.reports import (
    cause_number,
    grouped,
    place,
    propagated,
    rivals_sentence,
    summary_line,
    where,
    why,
)
from symattn.cases.settings import settings
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.shapes import keys
from symattn.languages.language import Language
from symattn.printers import blocks as b
from symattn.programs.display import formula, names, symbol
from symattn.sheets.checks import verdict
from symattn.sheets.presentation import indexed
from symattn.verdicts import Verdict


def sheet(audit: Audit, **changes: Any) -> b.Sheet:
    """The red-pen sheet of an audited document, in the language and on the paper
    that its case's ``[sheet]`` table and ``changes`` say.

    Raises :class:`Malformed` for settings that there are not.

    >>> from symattn.auditing.audit import audit
    >>> sheet(audit("cat-sat-mat-unscaled")).name
    'cat-sat-mat-unscaled-audit'
    """
    case, wanted = audit.case, settings(audit.case.sheet, changes)
    say = wanted.say
    blocks = [*_summary(audit, say), *_marked(audit, say), *_statements(audit, say)]
    if audit.unchecked:
        rows = (((x.where,), (x.what,), (x.reason,)) for x in audit.unchecked)
        blocks += [b.Heading(say("Not checked")), _open(rows, say)]
    blocks += _reading(audit, say)
    title = say.text("{title}: red pen", title=case.title)
    subtitle = (case.source or case.name,)
    return b.Sheet(f"{case.name}-audit", title, subtitle, tuple(blocks), say, wanted.paper)


def _summary(audit: Audit, say: Language) -> Iterator[b.Block]:
    yield b.Paragraph((f"{say.again(summary_line(audit))}. {say.again(audit.habit)}".strip(),))
    if not audit.count(Verdict.REFUTED):
        yield b.Paragraph(say("Nothing to correct."))
        return
    marked = say(
        "A struck-out figure is wrong at the places printed; the correct one is beside it. A "
        "root is an error of its own; a propagated error comes out right once its roots are "
        "corrected."
    )
    yield b.Paragraph(marked)
    if audit.causes:
        yield b.Heading(say("Causes"))
    # Numbered as the marks at the figures are.
    for number, slip in enumerate(audit.causes, 1):
        sentence = f" {say.again(slip.sentence)} {say.again(rivals_sentence(slip))}".rstrip()
        yield b.Paragraph((b.Math(t.row(t.CauseMark(str(number)))), sentence))
    yield b.Heading(say("Roots"))
    rows = tuple(
        (*_root(audit, root, say.again(why(audit, root)), say), (str(len(carried) or ""),))
        for root, carried in grouped(audit)
    )
    yield b.Table((*_header(say), say("propagated")), rows, "P{25mm}P{34mm}lP{43mm}r")


def _header(say: Language) -> tuple[b.Line, ...]:
    return say("where"), say("quantity"), say("figure"), say("why")


def _root(audit: Audit, root: Figure, reason: str, say: Language) -> tuple[b.Line, ...]:
    """A root below :func:`_header`."""
    figure = b.Math(struck(root))
    return (_where(audit, root, say),), (label(audit, root),), (figure,), (reason,)


def _marked(audit: Audit, say: Language) -> Iterator[b.Block]:
    """Every printed matrix, row or number with a wrong figure in it."""
    groups = [list(x) for _, x in groupby(audit.figures, key=lambda figure: id(figure.claim))]
    wrong = [x for x in groups if any(figure.verdict is not Verdict.HOLDS for figure in x)]
    if wrong:
        yield b.Heading(say("As printed"))
    for figures in wrong:
        pointed = {figure.at: _pointed(audit, figure) for figure in figures}
        rows = dict.fromkeys(at[:-1] for at in pointed)
        columns = range(1 + max((at[-1] for at in pointed if at), default=0))
        # Where the document's own figure is not one that is judged there are dots.
        cells = tuple(tuple(pointed.get((*row, k), t.DOTS) for k in columns) for row in rows)
        notes: dict[b.Line, None] = dict.fromkeys(
            (_note(audit, figure, say),) for figure in figures if figure.verdict is Verdict.REFUTED
        )
        if any(figure.coarse for figure in figures):
            notes[say("coarse: a whole number for a quantity that is not whole")] = None
        stated = figures[0].claim.stated
        if stated is not None and stated.is_run:
            # What a program prints has no formula, but the code that does.
            before = t.row(t.Text(syntax.text(stated.said))) + t.EQUALS
        else:
            before = f.typeset(_expression(audit, figures[0])) + t.EQUALS
        is_array = bool(figures[0].at)
        matrix = b.Matrix(before, cells) if is_array else b.Matrix(before + pointed[()], ())
        yield b.RedPen(_where(audit, figures[0], say), matrix, tuple(notes))


def _pointed(audit: Audit, figure: Figure) -> t.Row:
    """A figure as it is marked, with the number of its cause."""
    number = cause_number(audit, figure)
    return struck(figure) + (t.row(t.THIN, t.CauseMark(str(number))) if number else t.Row())


def _note(audit: Audit, figure: Figure, say: Language) -> str:
    """Return why a figure is wrong; what has a cause says no more than which."""
    if number := cause_number(audit, figure):
        return say.text("cause {number}", number=number)
    return say.again(figure.reason)


def _statements(audit: Audit, say: Language) -> Iterator[b.Block]:
    wrong = [s for s in audit.statements if s.verdict is not Verdict.HOLDS]
    if wrong:
        yield b.Heading(say("Statements"))
        rows: list[tuple[b.Line, ...]] = [
            ((_where(audit, s, say),), (b.Code(s.claim.holds),), (verdict(s.verdict, say),))
            for s in wrong
        ]
        header = (say("where"), say("statement"), say("verdict"))
        yield b.Table(header, tuple(rows), "P{40mm}P{85mm}l")


def _open(rows: Iterable[tuple[b.Line, ...]], say: Language) -> b.Table:
    """Return what is left open: where it stands, what it is, and why."""
    header = (say("where"), say("what"), say("why not"))
    return b.Table(header, tuple(rows), "P{32mm}P{62mm}P{55mm}")


def _reading(audit: Audit, say: Language) -> Iterator[b.Block]:
    """Yield how an article was read: its numbers, what was assumed, what is left open."""
    if not (line := reports.line(audit)):
        return
    yield b.Heading(say("How the article was read"))
    yield b.Paragraph((f"{say.again(line)}.",))
    for sentence in audit.assumptions:
        yield b.Paragraph(say("Assumed: {what}.", what=sentence))
    if audit.open:
        rows = (
            ((say.again(place(audit.case, x.span)),), (b.Code(x.what),), (x.why,))
            for x in audit.open
        )
        yield _open(rows, say)


def _where(audit: Audit, item: Figure | Statement, say: Language) -> str:
    return say.again(where(audit.case, item))


def differences(audit: Audit, say: Language) -> Iterator[b.Block]:
    """Yield where the document differs: a section of the worked-solution sheet."""
    yield b.Heading(say("Where the document differs"))
    yield b.Paragraph((f"{say.again(summary_line(audit))}.",))
    rows: list[tuple[b.Line, ...]] = []
    for root, carried in grouped(audit):
        reason = say.again(root.reason)
        if carried:
            reason += f" ({say.again(propagated(len(carried)))})"
        rows.append(_root(audit, root, reason, say))
    if rows:
        yield b.Table(_header(say), tuple(rows), "P{30mm}P{40mm}lP{55mm}")
    for statement in audit.statements:
        if statement.verdict is Verdict.REFUTED:
            holds = b.Code(statement.claim.holds)
            sentence = say("{statement} does not hold.", statement=holds)
            yield b.Paragraph((f"{_where(audit, statement, say)}: ", *sentence))


def struck(figure: Figure) -> t.Row:
    """A figure; a wrong one struck through with the right one beside,
    which a coarse one has as well."""
    printed = t.figure(figure.text)
    if figure.coarse and figure.correct:
        return printed + correct(figure.correct)
    if figure.verdict is Verdict.HOLDS:
        return printed
    if figure.verdict is Verdict.UNDECIDED:
        return t.row(printed, t.THIN, f.bracketed(t.row(t.Text("?"))))
    return t.row(t.Marking("struck", printed), correct(figure.correct))


def correct(text: str) -> t.Row:
    """The right figure behind a wrong one."""
    return t.row(t.THICK, t.Marking("correct", t.figure(text)))


def label(audit: Audit, figure: Figure) -> b.Math | b.Code:
    """Return what a figure is of: ``A_{0,2}`` where it is one entry, else its text."""
    if figure.term.op == "entry":
        name, i, j = figure.term.parts
        place = keys(audit.case.program.named[name].shape, i, j)
        return b.Math(indexed(f.typeset(symbol(name)), ",".join(map(str, place))))
    return b.Code(figure.label)


def _expression(audit: Audit, figure: Figure) -> syntax.Tree:
    if figure.claim.is_arithmetic:
        return figure.claim.tree
    program = audit.case.program
    if figure.claim.of in program.named:
        return symbol(figure.claim.of)
    return formula(figure.node, names(program))
