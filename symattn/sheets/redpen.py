"""The red-pen sheet: a document's figures with the wrong ones struck through."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from symattn import formulas as f
from symattn.auditing.audit import Audit
from symattn.auditing.figures import Figure
from symattn.auditing.reports import (
    cause_number,
    grouped,
    just_as_well,
    no_common_cause,
    summary_line,
    why,
)
from symattn.printers import blocks as b
from symattn.printers.letters import escape
from symattn.programs.display import arithmetic, formula, names, symbol
from symattn.shapes import keys
from symattn.sheets.presentation import indexed
from symattn.verdicts import Verdict


def sheet(audit: Audit) -> b.Sheet:
    """The red-pen sheet of an audited document.

    >>> from symattn.auditing.audit import audit
    >>> sheet(audit("cat-sat-mat-unscaled")).name
    'cat-sat-mat-unscaled-audit'
    """
    blocks = [*_summary(audit), *_marked(audit), *_statements(audit), *_unchecked(audit)]
    title = f"{audit.case.title}: red pen"
    return b.Sheet(f"{audit.case.name}-audit", title, (_subtitle(audit),), tuple(blocks))


def _subtitle(audit: Audit) -> str:
    return audit.case.source or audit.case.name


def _summary(audit: Audit) -> Iterator[b.Block]:
    yield b.Paragraph((f"{summary_line(audit)}. {audit.habit}".strip(),))
    if not audit.count(Verdict.REFUTED):
        yield b.Paragraph(("Nothing to correct.",))
        return
    yield b.Paragraph(
        (
            "A struck figure is wrong at its printed places; beside it stands the right one. "
            "A root is wrong in itself; a carried figure comes out once its roots are corrected.",
        )
    )
    yield from _causes(audit)
    yield b.Heading(("Roots",))
    if said := no_common_cause(audit):
        yield b.Paragraph((said.replace("These", "Of these,", 1),))
    rows: list[tuple[b.Line, ...]] = []
    for root, carried in grouped(audit):
        follow = str(len(carried)) if carried else ""
        line: tuple[b.Line, ...] = (
            (root.claim.where,),
            (label(audit, root),),
            (b.Math(struck(root)),),
            (why(audit, root),),
            (follow,),
        )
        rows.append(line)
    header: tuple[b.Line, ...] = (("where",), ("quantity",), ("figure",), ("why",), ("carried",))
    yield b.Table(header, tuple(rows), "P{25mm}P{34mm}lP{43mm}r")


def _causes(audit: Audit) -> Iterator[b.Block]:
    """The slips behind many figures, numbered as the marks at these are."""
    if audit.causes:
        yield b.Heading(("Causes",))
        for number, slip in enumerate(audit.causes, 1):
            said = f" {slip.sentence} {just_as_well(slip)}".rstrip()
            yield b.Paragraph((b.Math(rf"\cause{{{number}}}"), said))


def _marked(audit: Audit) -> Iterator[b.Block]:
    """Every printed matrix, row or number with a wrong figure in it."""
    heading = True
    for _, group in groupby(audit.figures, key=lambda figure: id(figure.claim)):
        figures = list(group)
        if all(figure.verdict is Verdict.HOLDS for figure in figures):
            continue
        if heading:
            yield b.Heading(("As printed",))
            heading = False
        rows = [list(row) for _, row in groupby(figures, key=lambda x: x.at[:-1])]
        cells = tuple(tuple(_pointed(audit, figure) for figure in row) for row in rows)
        notes: dict[b.Line, None] = dict.fromkeys(
            (_note(audit, figure),) for figure in figures if figure.verdict is Verdict.REFUTED
        )
        if any(figure.coarse for figure in figures):
            notes[("coarse: a whole number for what is not whole",)] = None
        before = f"{_expression(audit, figures[0])} ="
        if figures[0].at:
            shown = b.Matrix(before, cells)
        else:
            shown = b.Matrix(f"{before} {cells[0][0]}", ())
        yield b.Marked(figures[0].claim.where, shown, tuple(notes))


def _pointed(audit: Audit, figure: Figure) -> str:
    """A figure as it is marked, with the number of its cause."""
    number = cause_number(audit, figure)
    return struck(figure) + (rf"\,\cause{{{number}}}" if number else "")


def _note(audit: Audit, figure: Figure) -> str:
    """Why a figure is wrong; what has a cause says no more than which."""
    number = cause_number(audit, figure)
    return f"cause {number}" if number else f"{figure.cause}: {figure.reason}"


def _statements(audit: Audit) -> Iterator[b.Block]:
    wrong = [s for s in audit.statements if s.verdict is not Verdict.HOLDS]
    if wrong:
        yield b.Heading(("Statements",))
        rows: list[tuple[b.Line, ...]] = [
            ((s.claim.where,), (b.Code(s.claim.holds),), (str(s.verdict),)) for s in wrong
        ]
        yield b.Table((("where",), ("statement",), ("verdict",)), tuple(rows), "P{40mm}P{85mm}l")


def _unchecked(audit: Audit) -> Iterator[b.Block]:
    if audit.unchecked:
        yield b.Heading(("Not checked",))
        rows: list[tuple[b.Line, ...]] = [
            ((item.where,), (item.what,), (item.reason,)) for item in audit.unchecked
        ]
        yield b.Table((("where",), ("what",), ("why not",)), tuple(rows), "P{32mm}P{62mm}P{55mm}")


def differences(audit: Audit) -> Iterator[b.Block]:
    """Where the document differs: a section of the worked-solution sheet."""
    if not audit.figures and not audit.statements:
        return
    yield b.Heading(("Where the document differs",))
    yield b.Paragraph((f"{summary_line(audit)}.",))
    rows: list[tuple[b.Line, ...]] = []
    for root, carried in grouped(audit):
        why = root.reason
        if carried:
            why += f" ({len(carried)} more carried from it)"
        rows.append(
            (
                (root.claim.where,),
                (label(audit, root),),
                (b.Math(struck(root)),),
                (why,),
            )
        )
    if rows:
        header: tuple[b.Line, ...] = (("where",), ("quantity",), ("figure",), ("why",))
        yield b.Table(header, tuple(rows), "P{30mm}P{40mm}lP{55mm}")
    yield from _statements_list(audit)


def _statements_list(audit: Audit) -> Iterator[b.Block]:
    for statement in audit.statements:
        if statement.verdict is Verdict.REFUTED:
            yield b.Paragraph(
                (f"{statement.claim.where}: ", b.Code(statement.claim.holds), " does not hold.")
            )


def struck(figure: Figure) -> str:
    r"""A figure in LaTeX; a wrong one struck through with the right one beside,
    which a coarse one has as well."""
    printed = _number(figure.text)
    if figure.coarse and figure.correct:
        return rf"{printed}\;\correct{{{_number(figure.correct)}}}"
    if figure.verdict is Verdict.HOLDS:
        return printed
    if figure.verdict is Verdict.UNDECIDED:
        return rf"{printed}\,(?)"
    return rf"\struck{{{printed}}}\;\correct{{{_number(figure.correct)}}}"


def _number(text: str) -> str:
    if text in ("-inf", "−inf"):
        return r"-\infty"
    plain = text.replace("−", "-")
    return plain if set(plain) <= set("0123456789.-+") else rf"\text{{{escape(text)}}}"


def label(audit: Audit, figure: Figure) -> b.Math | b.Code:
    """What a figure is of: ``A_{0,2}`` where it is one entry, else its text."""
    if figure.term.op == "entry":
        name, i, j = figure.term.parts
        place = keys(audit.case.program.named[name].shape, i, j)
        return b.Math(indexed(f.latex(symbol(name)), ",".join(map(str, place))))
    return b.Code(figure.label)


def _expression(audit: Audit, figure: Figure) -> str:
    if figure.claim.is_arithmetic:
        return f.latex(arithmetic(figure.claim.tree))
    program = audit.case.program
    if figure.claim.of in program.named:
        return f.latex(symbol(figure.claim.of))
    return f.latex(formula(figure.node, names(program)))
