"""Confidence that a block that disagrees is what it was taken for, and wrong.

A misreading refutes as loudly as a mistake does. What tells them apart is the company that
a block keeps: whether other figures of its quantity agree, those that it is computed from,
and those that stand around it; and whether each step on the way is said in the article, or
borne out by figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain, product
from math import inf

import numpy as np

from symattn.documents.binding import values, workings
from symattn.documents.binding.bounds import interval
from symattn.documents.binding.evidence import EVIDENCE, MARGIN, PRIOR, TRUST, Kind
from symattn.documents.binding.ledger import WIDER, Entry, Ledger
from symattn.documents.trees import PrintedFigure
from symattn.expressions import syntax
from symattn.expressions.shapes import rows_of
from symattn.languages.sentence import joined
from symattn.spelling import written

#: More bits from one side say no more.
_CAP = 30.0
#: What only suggests what a single figure is.
_HINTS: frozenset[Kind] = frozenset({"suggested", "around", "loose", "row"})
#: So many blocks before and behind are the company that a block keeps.
_AROUND = 4
#: A step that isn't said is borne out by so many bits of its figures.
_BORNE_OUT = 12.0
#: Of matrices with more entries a figure may be any.
_ENTRIES = 256
#: Programs that show so many digits may have no more than single precision: a few units
#: in its last place are rounding. Of so many digits floats can't tell the last.
_SINGLE, _ULPS, _DOUBLE = 7, 16 * 2.0**-24, 15


class Confidence:
    """The confidence in the entries of a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.recipe = ledger.recipe
        #: In the article's order, which is not that in which they were found.
        self.entries = sorted(
            (one for one in ledger.entries if one.agreement.figures), key=lambda one: one.span
        )

    # -- what the figures of an article say of each other ----------------------------------

    @cached_property
    def _by_name(self) -> Mapping[str, list[Entry]]:
        """The claims by the quantity that each is mainly of."""
        found: dict[str, list[Entry]] = {}
        for one in self.entries:
            found.setdefault(principal(one.tree), []).append(one)
        return found

    @cached_property
    def _places(self) -> Mapping[int, int]:
        """Return where each entry stands among all."""
        return {id(one): at for at, one in enumerate(self.entries)}

    def evidence(self, entry: Entry) -> dict[Kind, float]:
        """Return how much there is of each kind of evidence for an entry that disagrees."""
        found: dict[Kind, float] = dict.fromkeys(entry.kinds, 1.0)
        name = principal(entry.tree)
        found["digits"] = min(entry.agreement.support, _CAP) / 10
        found["miss"] = min(entry.agreement.against, _CAP) / 10
        others = [one for one in self._by_name.get(name, ()) if one is not entry]
        found["kin"] = _balance(others)
        behind = self._path(entry)[1:]
        found["operands"] = _balance(
            [one for on in behind for one in self._by_name.get(on, ())] or self._operands(entry)
        )
        found["company"] = _balance(self._around(entry))
        found["section"] = _balance(
            [one for one in self.entries if one is not entry and one.where == entry.where]
        )
        found["article"] = _balance(self.entries)
        found["rival"] = min(entry.rival, _CAP) / 10
        found["assumed"] = float(sum(1 for on in {name, *behind} if not self._is_sound(on)))
        return found

    def settle(self) -> list[Entry]:
        """Say of each entry what its binding rests on, and of one that disagrees whether
        that is enough to refute anything. All entries: a block of what follows from inputs
        that are shown rounded comes figure by figure."""
        settled: list[Entry] = []
        for entry in self.ledger.entries:
            entry.basis, is_noted = _basis(entry), "note" in entry.kinds
            if entry.agreement.agreeing < entry.agreement.figures and not is_noted:
                entry.doubt = self._doubt(entry)
                if entry.doubt and entry.agreement.support <= entry.agreement.against:
                    # Its names may mislead, and its figures don't say that it is that.
                    entry.trust = -inf
            settled += self._apart(entry)
        return settled

    def _apart(self, entry: Entry) -> Iterable[Entry]:
        """An entry by its figures, where some are only off as inputs are shown rounded, or as
        single precision is: what lies within a way that was tried holds, as between the
        inputs shown and those of that way some give just this figure."""
        if entry.key == "as_printed":
            return [entry]
        reach, single = self.recipe.reach(entry.tree), self._single(entry)
        is_double = single > 0 and _longest(entry) >= _DOUBLE
        if reach is None and (not single or (entry.agreement.share == 1 and not is_double)):
            return [entry]
        found: list[Entry] = []
        for figure, keys in values.entries(entry.value):
            tree = workings.entry_at(self.recipe, entry.tree, keys)
            one = replace(entry, tree=tree, value=figure)
            off, far = self._off(tree, figure), self.recipe.reach(tree)
            near = max(single, 0.0 if far is None else float(far.max()))
            if off <= near and (off > 0 or is_double):
                one.reach, one.doubt = near, ""
            elif 0 < off <= WIDER * near:
                one.doubt = "the inputs are shown rounded, and it may be off as much"
            found.append(one)
        return found

    def _single(self, entry: Entry) -> float:
        """Return how far figures may be off that a program worked out in single precision; 0 of
        what has less digits than that."""
        held = self.recipe.floats(entry.tree)
        if held is None or _longest(entry) < _SINGLE:
            return 0.0
        return float(np.nan_to_num(abs(held)).max()) * _ULPS

    def _off(self, tree: syntax.Tree, figure: PrintedFigure) -> float:
        held, ends = self.recipe.floats(tree), interval(figure.text)
        if held is None or ends is None:
            return np.inf
        return abs(float(held.reshape(-1)[0]) - sum(ends) / 2) - (ends[1] - ends[0]) / 2

    def _doubt(self, entry: Entry) -> str:
        if why := self.barred(entry):
            return why
        if entry.key == "as_printed":
            # Which of its figures is wrong, the numbers alone don't tell.
            entry.trust = min(entry.trust, inf if self._has_known_operands(entry) else MARGIN)
            return ""
        if "sentence" in entry.kinds and self._is_of_none(entry):
            # Whichever weight the sentence is taken to speak of, it isn't that.
            entry.trust = MARGIN
            return ""
        found = self.evidence(entry)
        entry.trust = PRIOR + sum(TRUST.get(kind, 0.0) * much for kind, much in found.items())
        if entry.trust >= MARGIN:
            if entry.kinds == {"figures"}:
                # What figures alone suggest may be refuted, and is never corrected (#43).
                entry.trust = MARGIN
            return ""
        return "too little around it agrees to be sure what it is"

    def _is_of_none(self, entry: Entry) -> bool:
        """Return whether a figure is no entry of the quantity that it is said to be one of, nor the
        sum or the difference of two in a row or a column of it."""
        name = principal(entry.tree)
        here = (one for one in self._by_name[name] if one.where == entry.where)
        ends = interval(next(values.figures(entry.value)).text)
        held = self.recipe.floats(syntax.Name(name))
        if ends is None or held is None or held.ndim != 2 or held.size > _ENTRIES:
            return False
        if not any(one.agreement.share == 1 for one in here):
            # Another example may be spoken of.
            return False
        held = held * (100.0 if isinstance(entry.tree, syntax.Binary) else 1.0)
        middle, half = sum(ends) / 2, (ends[1] - ends[0]) / 2
        sides = product((held, held.T), (1, -1))
        pairs = []
        for side, sign in sides:
            one, other = np.triu_indices(side.shape[1], 1)
            pairs.append(side[:, one] + sign * side[:, other])
        near = [np.abs(np.abs(found) - abs(middle)) <= 2 * half for found in (held, *pairs)]
        return not any(map(np.any, near))

    def _has_known_operands(self, entry: Entry) -> bool:
        """Return whether it is known what all numbers are that arithmetic begins with, and they are
        right."""
        wrong = {one.span.start for one in self.entries if one.agreement.share < 1}
        return all(
            self.ledger.coverage.of(figure) and figure.span.start not in wrong
            for figure in values.figures(entry.tree)
        )

    def barred(self, entry: Entry) -> str:
        """Return why an entry refutes nothing whatever stands around it, or ''."""
        if entry.key == "as_printed":
            if self.ledger.comes_to_thousands(entry):
                return "points may part its thousands"
            others = [one for one in self._by_name.get("", ()) if one is not entry]
            near = [one for one in others if one.where == entry.where] or others
            amiss = "the numbers around it do not come out either: they may be read amiss"
            return amiss if _balance(near) < 0 else ""
        if "value" in entry.kinds:
            return "only its value suggests so"
        if entry.agreement.figures == 1 and not entry.kinds - _HINTS:
            return "only what it is called suggests so"
        if "figures" in entry.kinds and self._are_left_out(entry):
            return "only its figures suggest what it is"
        for on in self._path(entry):
            step = self.recipe.steps.get(on)
            if step is not None and step.guessed and _is_scaled(step.tree):
                # A dropout multiplies what it keeps.
                return f"only its figures suggest what {on} is"
        unsound = [on for on in self._path(entry) if not self._is_sound(on)]
        if unsound:
            return f"the article does not define {unsound[0]}"
        if self._may_be_carried(entry):
            return "what it is computed from may be wrong instead"
        if self._is_finer(entry):
            return "it has more digits than the input that it would repeat"
        if entry.rival > max(entry.agreement.bits, 0.0):
            return "its figures are rather those of something else"
        return ""

    def _are_left_out(self, entry: Entry) -> bool:
        """Return whether all figures that disagree are zeros, as a dropout makes them."""
        return all(
            not figure.text.strip("-+.0")
            for figure, keys in values.entries(entry.value)
            if self.ledger.said(workings.entry_at(self.recipe, entry.tree, keys), figure).share < 1
        )

    def _is_finer(self, entry: Entry) -> bool:
        """Return whether figures have more decimals than an input that they would say again: they
        were computed then, or given anew."""
        given = self.recipe.given.get(principal(entry.tree))
        if given is None or not isinstance(entry.tree, syntax.Name | syntax.Indexed):
            return False
        printed = [figure.text for figure in values.figures(entry.value)]
        shown = chain(*rows_of(given.entries))
        return max(written(one).decimals for one in printed) > max(
            written(one).decimals for one in shown
        )

    def _may_be_carried(self, entry: Entry) -> bool:
        """Return whether one wrong figure of an input that may be a result, and so is not given,
        would explain what disagrees: it changes a whole row, or a whole column."""
        if self.recipe.supposed.isdisjoint(self._path(entry)):
            return False
        wrong = {
            keys
            for figure, keys in values.entries(entry.value)
            if self.ledger.said(workings.entry_at(self.recipe, entry.tree, keys), figure).share < 1
        }
        size = values.shape(entry.value)
        if len(size) < 2:
            return len(wrong) > 1 or not size
        rows, columns = size
        return any(all((i, j) in wrong for j in range(columns)) for i in range(rows)) or any(
            all((i, j) in wrong for i in range(rows)) for j in range(columns)
        )

    def _path(self, entry: Entry) -> list[str]:
        return list(self.recipe.behind(syntax.Name(principal(entry.tree))))

    def _operands(self, entry: Entry) -> list[Entry]:
        """The claims of the numbers that arithmetic works with."""
        places = {figure.span.start for figure in values.figures(entry.tree)}
        return [one for one in self.entries if places and one.span.start in places]

    def _around(self, entry: Entry) -> list[Entry]:
        at = self._places[id(entry)]
        return [*self.entries[max(0, at - _AROUND) : at], *self.entries[at + 1 : at + 1 + _AROUND]]

    def _is_sound(self, name: str) -> bool:
        """Return whether a quantity is given or defined in the article, or borne out by its figures
        and those of what is computed from it."""
        step = self.recipe.steps.get(name)
        return step is None or not step.assumed or self._borne_out.get(name, 0.0) >= _BORNE_OUT

    @cached_property
    def _borne_out(self) -> Mapping[str, float]:
        """The bits for each quantity, of what is computed from it as well."""
        found: dict[str, float] = {}
        for one in self.entries:
            for name in self._path(one):
                found[name] = found.get(name, 0.0) + one.agreement.bits
        return found


def _is_scaled(tree: syntax.Tree) -> bool:
    """Return whether it is a quantity times a number, or over one, or twice that quantity."""
    match tree:
        case syntax.Binary("+", left, right):
            return left == right
        case syntax.Binary("*" | "/", left, right):
            return isinstance(left, syntax.Literal) or isinstance(right, syntax.Literal)
    return False


def _basis(entry: Entry) -> str:
    """Return what a binding rests on, for people; '' of arithmetic, which says itself what it
    is."""
    if entry.key == "as_printed":
        return ""
    called = dict.fromkeys(one.called for kind, one in EVIDENCE.items() if kind in entry.kinds)
    return joined((joined(called), entry.agreement.sentence), "; ")


def _longest(entry: Entry) -> int:
    """Return how many digits its figures have, at most."""
    texts = (figure.text for figure, _ in values.entries(entry.value))
    return max(len(written(text).digits) for text in texts)


def _balance(entries: Iterable[Entry]) -> float:
    """Return where figures agree 1, where they don't -1, in between what part of the bits is
    for."""
    found = [one.agreement for one in entries]
    support = sum(min(one.support, _CAP) for one in found)
    against = sum(min(one.against, _CAP) for one in found)
    return (support - against) / (support + against + 10)


def principal(tree: syntax.Tree) -> str:
    """The quantity that an expression is mainly of: the first that it names."""
    match tree:
        case syntax.Gradient(of):
            return f"dL/d{of}"
    return next(iter(syntax.names(tree)), "")
