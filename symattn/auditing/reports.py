"""An audit written down: for people, for machines, for authors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from symattn.auditing import coverage
from symattn.auditing.audit import Audit
from symattn.auditing.figures import NO_CAUSE, Figure, Slip, Statement
from symattn.auditing.places import as_dict as _place
from symattn.auditing.places import file_of, region, spanned
from symattn.languages.sentence import Sentence, joined
from symattn.shapes import keys
from symattn.verdicts import Verdict


def summary_line(audit: Audit) -> Sentence:
    """The counts in one sentence."""
    count = audit.summary
    if not (count["figures"] or count["statements"] or count["unchecked"]):
        return Sentence("No figures to judge")
    judged = [_figures(count["figures"])]
    if statements := count["statements"]:
        many = Sentence("{count} statements", count=statements)
        judged.append(Sentence("1 statement") if statements == 1 else many)
    holds = Sentence("{count} hold", count=count["holds"])
    if count["holds"] == 1:
        holds = Sentence("1 holds")
    less = []
    if count["coarse"]:
        less.append(Sentence("{count} coarse", count=count["coarse"]))
    if count["within_rounding"]:
        less.append(Sentence("{count} within rounding", count=count["within_rounding"]))
    if less:
        holds = Sentence("{holds} ({less})", holds=holds, less=joined(less))
    tail = [holds, Sentence("{count} refuted", count=count["refuted"])]
    if count["undecided"]:
        tail.append(Sentence("{count} undecided", count=count["undecided"]))
    roots = Sentence("{count} roots", count=count["roots"])
    tail.append(Sentence("1 root") if count["roots"] == 1 else roots)
    line = joined((_both(*judged), joined(tail)), ": ")
    if not count["unchecked"]:
        return line
    return joined((line, Sentence("{count} not checked", count=count["unchecked"])), "; ")


def _figures(count: int) -> Sentence:
    return Sentence("1 figure") if count == 1 else Sentence("{count} figures", count=count)


def _both(first: Sentence, *second: Sentence) -> Sentence:
    return Sentence("{first} and {second}", first=first, second=second[0]) if second else first


def coarse(audit: Audit, everywhere: bool = False) -> list[Figure]:
    """The coarse figures that stand beside wrong ones, or all of them."""
    wrong = {id(f.claim) for f in audit.figures if f.verdict is Verdict.REFUTED}
    return [f for f in audit.figures if f.coarse and (everywhere or id(f.claim) in wrong)]


def coarsely(figure: Figure) -> str:
    """What is to be said of a coarse figure, in a sentence."""
    finer = f": {figure.correct}" if figure.correct else ""
    return f"{figure.label} is printed {figure.text}, but is not whole{finer}"


def loose(audit: Audit) -> list[Figure]:
    """The figures within rounding, but those that are wrong as the value of a quantity."""
    wrong = {f.span for f in audit.figures if f.span and f.verdict is Verdict.REFUTED}
    return [f for f in audit.figures if f.within_rounding and f.span not in wrong]


def loosely(figure: Figure) -> str:
    """What is to be said of a figure within rounding, in a sentence."""
    gives = f"as printed its numbers give {figure.correct}" if figure.correct else "as printed"
    return f"{figure.label} is printed {figure.text}; {gives}, it holds within their rounding"


def grouped(audit: Audit) -> list[tuple[Figure, list[Figure]]]:
    """Every root, or figure with rounded inputs, with what is carried from it.

    First those of a cause, then those that none was found for, then the rest. A
    figure that carries several roots stands with the first.
    """
    groups: dict[int, tuple[Figure, list[Figure]]] = {
        figure.order: (figure, [])
        for figure in audit.figures
        if figure.cause and figure.cause != "carried"
    }
    for figure in audit.figures:
        if figure.cause == "carried":
            slip = figure.explained
            leading = [*(slip.explains if slip else ()), *origins(figure)]
            orders = (origin.order for origin in leading if origin.order in groups)
            groups[next(orders)][1].append(figure)

    def rank(group: tuple[Figure, list[Figure]]) -> tuple[int, int, int]:
        number = cause_number(audit, group[0])
        kind = 0 if number else 1 if is_unexplained(group[0]) else 2
        return kind, number or 0, group[0].order

    return sorted(groups.values(), key=rank)


def cause_number(audit: Audit, figure: Figure) -> int | None:
    """Which of the causes explains a figure, counted from 1; None where none does."""
    return audit.causes.index(figure.explained) + 1 if figure.explained else None


def is_unexplained(figure: Figure) -> bool:
    """Whether it is a root that no cause was found for."""
    return figure.cause == "root" and figure.reason.startswith(NO_CAUSE)


def what_else(figure: Figure) -> str:
    """What is said of a root besides that no cause was found; '' for nothing."""
    return figure.reason.removeprefix(NO_CAUSE).removeprefix("; ")


def several_unexplained(audit: Audit) -> bool:
    """Whether no cause was found for more than one root: that is not repeated for each."""
    return sum(map(is_unexplained, audit.figures)) > 1


def just_as_well(slip: Slip) -> str:
    """The slips that no figure tells from this one, in a sentence; '' where there is none."""
    if not slip.rivals:
        return ""
    return Sentence(
        "Equally likely: {slips}. No figure distinguishes them.", slips=joined(slip.rivals, "; ")
    )


def why(audit: Audit, figure: Figure) -> str:
    """Why a figure is wrong, where the causes are told before: by the number of its own."""
    number = cause_number(audit, figure)
    if number is None:
        return figure.reason
    cause = Sentence("cause {number}", number=number)
    sentence = audit.causes[number - 1].sentence
    match figure.reason:
        case str(reason) if reason == sentence:
            return cause
        case Sentence(pieces={"part_0": first, **rest}) if first == sentence:
            return joined((cause, *(part for part in rest.values() if isinstance(part, str))), "; ")
        case reason:
            return joined((cause, reason), "; ")


def caused(audit: Audit, figure: Figure, several: bool) -> str:
    """The cause of a figure with its kind; where ``several`` roots have no cause, none says so."""
    reason = why(audit, figure)
    if is_unexplained(figure):
        return what_else(figure) if several else reason
    if figure.explained:
        return reason
    return f"{figure.cause}: {reason}"


def folded(audit: Audit, figures: Sequence[Figure], most: int = 6) -> str:
    """Carried figures as a count: ``13 more carry it: A[0, 0] (9 times), Y[0, 2]``; '' for none.

    Where too many entries carry it, their quantities are told.
    """
    if not figures:
        return ""
    names = [_entry(audit, figure) for figure in figures]
    if len(set(names)) > most:
        names = [_quantity(figure) for figure in figures]
    times = Counter(names)
    counts = list(times.items())[:most]
    phrases = [name + f" ({count} times)" * (count > 1) for name, count in counts]
    more = len(figures) - sum(count for _, count in counts)
    carry = "carries" if len(figures) == 1 else "carry"
    tail = f" and {more} more" if more else ""
    return f"{len(figures)} more {carry} it: {', '.join(phrases)}{tail}"


def _quantity(figure: Figure) -> str:
    return str(figure.term.parts[0]) if figure.term.op == "entry" else figure.label


def _entry(audit: Audit, figure: Figure) -> str:
    """What a figure is of: ``A[0, 2]`` for ``A[0][2]``."""
    if figure.term.op != "entry":
        return figure.label
    name, i, j = figure.term.parts
    place = keys(audit.case.program.named[name].shape, i, j)
    return f"{name}[{', '.join(map(str, place))}]" if place else name


def origins(figure: Figure) -> list[Figure]:
    """The figures that are wrong in themselves from which this one carries."""
    roots: dict[int, Figure] = {}
    waiting, seen = [figure], set()
    while waiting:
        current = waiting.pop()
        if current.order in seen:
            continue
        seen.add(current.order)
        if current.cause != "carried":
            roots[current.order] = current
        waiting += [f for f in current.because if f.verdict is Verdict.REFUTED]
    return [roots[order] for order in sorted(roots)] or [figure]


def as_dict(audit: Audit) -> dict[str, Any]:
    """The audit as plain data: what ``--format json`` prints."""
    return {
        "case": audit.case.name,
        "file": file_of(audit.case) if audit.case.path else None,
        "summary": audit.summary,
        "causes": [_cause(slip) for slip in audit.causes],
        "claims": [
            *(_figure(audit, figure) for figure in audit.figures),
            *(_statement(audit, statement) for statement in audit.statements),
        ],
        "roots": [
            {
                "where": root.claim.where,
                "of": root.label,
                "printed": root.text,
                "correct": root.correct,
                "slip": root.slip or None,
                "reason": root.reason,
                **_place(audit.case, region(audit.case, root)),
            }
            for root in audit.roots
        ],
        "unchecked": [
            {"where": item.where, "what": item.what, "reason": item.reason}
            for item in audit.unchecked
        ],
        "habit": audit.habit or None,
        "coverage": coverage.as_dict(audit),
        "assumptions": list(audit.assumptions),
        "open": [
            {
                "what": item.what,
                "why": item.why,
                **_place(audit.case, spanned(audit.case, item.span)),
            }
            for item in audit.open
        ],
    }


def _cause(slip: Slip) -> dict[str, Any]:
    """A slip behind many figures; these by their place among the claims."""
    return {
        "kind": slip.kind,
        "sentence": slip.sentence,
        "bits": slip.bits,
        "coverage": slip.coverage,
        "reproduces": [figure.order for figure in slip.reproduces],
        "follows": [figure.order for figure in slip.follows],
        "breaks": [figure.order for figure in slip.breaks],
        "rivals": list(slip.rivals),
    }


def _figure(audit: Audit, figure: Figure) -> dict[str, Any]:
    return {
        "where": figure.claim.where,
        "of": figure.claim.of,
        "arithmetic": figure.claim.is_arithmetic,
        "at": list(figure.at),
        "printed": figure.text,
        "correct": figure.correct,
        "exact": figure.exact or None,
        "verdict": str(figure.verdict),
        "cause": figure.cause or None,
        "because": [f"{f.claim.where}: {f.label}" for f in figure.because],
        "cause_of": audit.causes.index(figure.explained) if figure.explained else None,
        "candidates": [
            {"sentence": sentence, "bits": round(bits, 1)} for sentence, bits in figure.candidates
        ],
        "slip": figure.slip or None,
        "reason": figure.reason or None,
        "vacuous": figure.vacuous,
        "coarse": figure.coarse,
        "within_rounding": figure.within_rounding,
        **_said(audit, figure),
    }


def _said(audit: Audit, judged: Figure | Statement) -> dict[str, Any]:
    """Where it is said, and whether that says what it is."""
    return {
        "status": "local" if judged.claim.is_local else "bound",
        "confirmed": judged.claim.confirmed,
        **_place(audit.case, region(audit.case, judged)),
    }


def _statement(audit: Audit, statement: Statement) -> dict[str, Any]:
    claim = statement.claim
    return {
        "where": claim.where,
        "of": claim.holds,
        "arithmetic": False,
        "at": [],
        "printed": None,
        "correct": None,
        "exact": None,
        "verdict": str(statement.verdict),
        "cause": None,
        "because": [],
        "cause_of": None,
        "candidates": [],
        "slip": None,
        "reason": statement.doubt or None,
        "vacuous": False,
        "coarse": False,
        "within_rounding": statement.within_rounding,
        **_said(audit, statement),
    }
