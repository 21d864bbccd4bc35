"""Arithmetic: whether the numbers that a document computes with come to what it prints.

That is a question of its own beside what the quantity is: a chain of numbers
may be right and its numbers wrong, or the other way round. Such a figure is
no evidence about any quantity, and no slip in a recipe explains it.

Rounding on the way is judged apart on either side. Of a *quantity* the right
digits are asked: one computed from the document's own rounded figures is refuted,
with the cause ``rounded-inputs`` or ``carried``. Of *arithmetic* only that its
operands come to it: these are roundings themselves, and a result that they may
have come to before holds, marked as within rounding
(:mod:`symattn.auditing.operands`). So where ``0.5066 * 2 = 1.0133`` is printed of a
quantity that is 1.0131, the arithmetic holds within rounding, and the quantity is
refuted; its reason tells what the arithmetic gives as printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symattn.auditing.figures import Cause, Figure
from symattn.auditing.standard import is_truncated
from symattn.languages.sentence import Sentence, joined
from symattn.verdicts import Verdict


def explained(figures: Sequence[Figure], known: Mapping[Figure, Cause]) -> dict[Figure, Cause]:
    """The causes of all refuted figures, of those about quantities as they are ``known``.

    Where a claim says both what a quantity is and how its numbers come to it,
    the reason of either tells of the other.
    """
    chains = {_place(figure): figure for figure in figures if figure.claim.key == "as_printed"}
    quantities = {_place(figure): figure for figure in figures if figure.claim.key == "of"}
    causes: dict[Figure, Cause] = {}
    wrong: dict[str, Figure] = {}
    for figure in figures:
        if figure.verdict is not Verdict.REFUTED:
            continue
        why = known.get(figure) or _cause(figure, wrong.setdefault(figure.term.key, figure))
        chain, quantity = (of.get(_place(figure)) for of in (chains, quantities))
        if chain and quantity:
            right = Sentence(
                "{quantity} is {figure}", quantity=quantity.label, figure=_right(quantity)
            )
            more = _gives(chain) if figure is quantity else right
            why = replace(why, reason=joined((why.reason, more), "; "))
        causes[figure] = why
    return causes


def _place(figure: Figure) -> tuple[int, tuple[int, ...]]:
    """The table that a figure stands in, and where it is inside what is printed."""
    return figure.claim.number, figure.at


def _cause(figure: Figure, first: Figure) -> Cause:
    """Why numbers do not come to a figure; ``first`` is where those are wrong first."""
    if figure is not first and figure.rounds_from(first.number):
        reason = Sentence("repeats {figure}", figure=first.description)
        return Cause("carried", reason, (first,))
    if figure.printed and is_truncated(figure.entry, figure.printed):
        return Cause("truncated", Sentence("truncated, not rounded"))
    return Cause("root", _gives(figure))


def _gives(chain: Figure) -> Sentence:
    return Sentence("the arithmetic as printed gives {figure}", figure=_right(chain))


def _right(figure: Figure) -> str:
    return figure.correct or Sentence("undecided")
