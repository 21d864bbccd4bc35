"""The ledger: what each printed block is the value of, and how sure that is.

A block has candidates; each has what names, words and places say for it, and what its
figures say (:mod:`~symattn.documents.binding.evidence`). The best is claimed if it has
more for it than *something else*, which needs no evidence, and than whatever quantity its
figures fit best. Whether a claim with figures that disagree refutes them is decided once
the article is read (:mod:`~symattn.documents.binding.confidence`): where its trust is less
than :data:`~symattn.documents.binding.evidence.MARGIN`, they are open.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, log2
from typing import Literal, NamedTuple

import numpy as np

from symattn.documents.binding import values, workings
from symattn.documents.binding.bounds import bounds, interval
from symattn.documents.binding.coverage import Coverage
from symattn.documents.binding.evidence import EVIDENCE, Agreement, Kind, agreement, structure
from symattn.documents.binding.recipe import Recipe
from symattn.documents.reading import Claimed, OpenQuestion
from symattn.documents.text import Span
from symattn.documents.trees import PrintedFigure, plain
from symattn.expressions import syntax
from symattn.numbers.rationals import MINUS_INFINITY

#: Rows of larger quantities are not compared with a printed row.
_ROWS = 64
#: By so much more than the worst of some ways a figure may be off as inputs are shown rounded.
WIDER = 1.6
_NOTHING = Agreement()
#: Numbers whose point may part thousands.
_POINTED = re.compile(r"-?[1-9][0-9]{0,2}\.[0-9]{3}")


class Candidate(NamedTuple):
    """A meaning that a block may have, and what says so besides its figures."""

    tree: syntax.Tree
    kinds: frozenset[Kind]


@dataclass
class Entry:
    """A claim as it was made: the block, what it is, what says so; and what its figures
    say."""

    key: Literal["of", "as_printed"]
    tree: syntax.Tree
    value: syntax.Tree
    where: str
    kinds: frozenset[Kind] = frozenset()
    agreement: Agreement = _NOTHING
    rival: float = 0.0
    trust: float = inf
    doubt: str = ""
    basis: str = ""
    reach: float = 0.0

    @property
    def span(self) -> Span:
        """Return where the block stands."""
        figures = list(values.figures(self.value))
        return figures[0].span.to(figures[-1].span)

    @property
    def lead(self) -> float:
        """By how many bits it leads the next best."""
        return structure(self.kinds) + self.agreement.bits - self.rival

    @property
    def is_named(self) -> bool:
        """Return whether a formula, a name or its code says what it is."""
        return not self.kinds.isdisjoint(("formula", "name", "output", "note"))

    def claimed(self) -> Claimed:
        """The claim as a case file has it."""
        shown, places = values.printed(self.value), values.spans(self.value)
        return Claimed(
            self.key,
            plain(self.tree),
            self.where,
            self.span,
            shown,
            places,
            self.doubt,
            self.basis,
            self.trust,
            self.reach,
        )


@dataclass
class Ledger:
    """The claims so far."""

    recipe: Recipe
    coverage: Coverage
    entries: list[Entry] = field(default_factory=list)
    where: str = ""
    #: Values whose figures are those of something else than what words took them for.
    others: list[tuple[syntax.Tree, syntax.Tree]] = field(default_factory=list)
    #: Where values stand of which the article says what they are, against their figures.
    stated: set[int] = field(default_factory=set)
    _taken: set[int] = field(default_factory=set)
    _by_place: dict[int, Entry] = field(default_factory=dict)
    _left: dict[int, OpenQuestion] = field(default_factory=dict)

    def take(self, tree: syntax.Tree, name: str) -> None:
        """A printed value is an input where it stands: nothing is claimed of it."""
        named = syntax.Name(name)
        for figure, keys in values.entries(tree):
            self.coverage.mark([figure], "given", syntax.entry_text(name, named, keys))
        self._taken.update(figure.span.start for figure in values.figures(tree))

    def chosen(self) -> Iterator[int]:
        """Yield where figures of inputs begin that have no more digits than are shown."""
        for number in self.coverage.numbers():
            given = self.recipe.given.get(number.of.partition("[")[0])
            if number.status == "given" and given is not None and not given.is_rounded:
                yield number.span.start

    def settle(self, places: Collection[Span]) -> None:
        """Figures at these places are judged by what is stated of them."""
        self.coverage.mark((PrintedFigure("", place) for place in places), "local")
        self._taken.update(place.start for place in places)

    def is_taken(self, value: syntax.Tree) -> bool:
        """Return whether it is known of a figure of the value what it is."""
        return any(figure.span.start in self._taken for figure in values.figures(value))

    @property
    def bits(self) -> float:
        """Return what all figures say for the article as it is understood."""
        return sum(entry.agreement.bits for entry in self.entries)

    # -- what figures say -----------------------------------------------------------------

    def fits(self, target: syntax.Tree, value: syntax.Tree) -> bool:
        """Return whether a value can be printed of an expression, by its shape."""
        return self._fitted(target, value) is not None

    def agreement(self, target: syntax.Tree, value: syntax.Tree) -> float:
        """The part of a value's figures that the expression rounds to."""
        fitted = self._fitted(target, value)
        return 0.0 if fitted is None else self.recipe.agreement(*fitted)

    def likeness(self, target: syntax.Tree, value: syntax.Tree) -> float:
        """The part of a value's figures that the expression rounds to, or that were printed
        of it before."""
        fitted = self._fitted(target, value)
        return 0.0 if fitted is None else workings.likeness(self.recipe, *fitted)

    def said(self, target: syntax.Tree, value: syntax.Tree) -> Agreement:
        """Return what a value's figures say of an expression of its shape."""
        numbers = self.recipe.floats(target)
        if numbers is None or numbers.size == 0:
            return _NOTHING
        texts = values.texts(value)
        if len(texts) != numbers.size:
            return _NOTHING
        reach = self.recipe.reach(target)
        if reach is None:
            return agreement(zip(texts, map(float, numbers.reshape(-1)), strict=True))
        far = WIDER * reach
        ends = zip((numbers - far).reshape(-1), (numbers + far).reshape(-1), strict=True)
        return _within(texts, ends)

    def _rival(self, target: syntax.Tree, value: syntax.Tree) -> tuple[float, syntax.Tree | None]:
        """Return what speaks most for something else: for nothing that is known, 0 bits; for
        another quantity its figures, less what it takes to choose it among all."""
        own = self.recipe.floats(target)
        best, tree = 0.0, None
        rivals = list(others(self.recipe, target, value))
        chosen = log2(len(rivals) + 1)
        for other in rivals:
            numbers = self.recipe.floats(other)
            if numbers is None or own is None or np.array_equal(numbers, own):
                continue
            if (bits := self.said(other, value).bits - chosen) > best:
                best, tree = bits, other
        return best, tree

    # -- what is claimed ------------------------------------------------------------------

    def weigh(self, value: syntax.Tree, candidates: Iterable[Candidate]) -> Candidate | None:
        """Claim a value of the best of its candidates, if that has more for it than
        something else; that, or None."""
        if self.is_taken(value):
            return None
        best: tuple[float, Entry, Candidate] | None = None
        for candidate in candidates:
            entry = self._entry(candidate, value)
            if entry is not None and (best is None or entry.lead > best[0] + 1e-9):
                best = entry.lead, entry, candidate
        if best is None:
            return None
        _, entry, candidate = best
        if entry.agreement.share < 1:
            entry.rival, other = self._rival(entry.tree, entry.value)
            if entry.lead <= 0:
                self._leave(entry, other)
                return None
        elif entry.lead <= 0:
            return None
        self._add(entry)
        return candidate

    def held(self, value: syntax.Tree) -> Entry | None:
        """Return what was claimed of a whole value."""
        places = [figure.span for figure in values.figures(value)]
        found = self._by_place.get(places[0].start) if places else None
        if found is None or [one.span for one in values.figures(found.value)] != places:
            return None
        return found

    def claim(self, target: syntax.Tree, value: syntax.Tree, *kinds: Kind) -> bool:
        """Claim that a value is printed of an expression; False if their shapes don't fit,
        if it is known already what it is, or if its figures speak for something else.

        A matrix of one row or one column fits a vector.
        """
        return self.weigh(value, [Candidate(target, frozenset(kinds))]) is not None

    def claim_all(self, bound: Iterable[tuple[syntax.Tree, syntax.Tree]], *kinds: Kind) -> None:
        """Claim each value of the expression that it is bound to."""
        for value, tree in bound:
            self.claim(tree, value, *kinds)

    def _entry(self, candidate: Candidate, value: syntax.Tree) -> Entry | None:
        target = candidate.tree
        if isinstance(value, PrintedFigure) and value.text.endswith("%"):
            target, value = hundredfold(target), _without_sign(value)
        elif self._is_in_percent(target, value):
            target = hundredfold(target)
        fitted = self._fitted(target, value)
        if fitted is None or not any(values.figures(value)) or self._lacks_mask(*fitted):
            return None
        agreement = self.said(*fitted)
        return Entry("of", *fitted, self.where, candidate.kinds, agreement)

    def _lacks_mask(self, target: syntax.Tree, value: syntax.Tree) -> bool:
        """Return whether entries of a value are masked, and none of what it would be."""
        if all(figure.text != MINUS_INFINITY for figure in values.figures(value)):
            return False
        known = self.recipe.floats(target)
        return known is not None and bool(np.isfinite(known).all())

    def _add(self, entry: Entry) -> None:
        text = syntax.text(entry.tree)
        is_weak = "value" in entry.kinds
        self._by_place[entry.span.start] = entry
        for figure, keys in values.entries(entry.value):
            self._taken.add(figure.span.start)
            of = syntax.entry_text(text, entry.tree, keys)
            self.coverage.mark([figure], "bound", of, is_weak)
            place = syntax.text(workings.entry_at(self.recipe, entry.tree, keys))
            if (ends := interval(figure.text)) is not None and figure.text != MINUS_INFINITY:
                self.recipe.printed.setdefault(place, set()).add((ends[0] + ends[1]) / 2)
        self.entries.append(entry)

    def _leave(self, entry: Entry, other: syntax.Tree | None) -> None:
        """Say of a value that it isn't what it was taken for."""
        span, target = entry.span, syntax.text(entry.tree)
        why = "what stands around it says so, but its figures do not agree"
        if structure(entry.kinds) >= EVIDENCE["figures"].bits:
            self.stated.add(span.start)
        elif other is not None:
            self.others.append((entry.value, other))
        if other is not None:
            why = f"it stands there, but its figures are those of {syntax.text(other)}"
        self._left.setdefault(span.start, OpenQuestion(target, why, span))

    @property
    def open(self) -> tuple[OpenQuestion, ...]:
        """Return what was left, and not claimed since."""
        return tuple(question for at, question in self._left.items() if at not in self._taken)

    def _is_in_percent(self, target: syntax.Tree, value: syntax.Tree) -> bool:
        """Return whether figures can only be shares in percent without the sign: none is the
        share itself, most are its hundredfold."""
        several = sum(1 for _ in values.entries(value)) > 1
        if not several or self.agreement(target, value) > 0:
            return False
        return self.agreement(hundredfold(target), value) > 0.5

    def work_out(self, numbers: syntax.Tree, value: syntax.Tree, trust: float = inf) -> None:
        """Claim that numbers come to a printed value, if that makes sense by their shapes.
        ``60.5 + 39.5 = 100%`` counts in percent on both sides."""
        if isinstance(value, PrintedFigure) and values.is_share(value):
            plain = _without_sign(value)
            if self._worked_out(numbers, plain).share > self._worked_out(numbers, value).share:
                value = plain
        is_lost = isinstance(value, PrintedFigure) and value.text == MINUS_INFINITY
        if is_lost or values.is_of_shapes(numbers, value):
            # Of floats that underflow, log(1e-46) = -inf may be true.
            return
        fitted = self._fitted(numbers, value)
        if fitted is not None and fitted[0] is numbers and any(values.figures(fitted[1])):
            agreement = self._worked_out(*fitted)
            kinds: frozenset[Kind] = frozenset({"arithmetic"})
            entry = Entry("as_printed", *fitted, self.where, kinds, agreement, trust=trust)
            self.entries.append(entry)
            self.coverage.mark(values.figures(fitted[1]), "local")

    def comes_to_thousands(self, entry: Entry) -> bool:
        """Return whether arithmetic comes out if the points in it part thousands."""
        numbers, value = map(_without_points, (entry.tree, entry.value))
        is_same = (numbers, value) == (entry.tree, entry.value)
        return not is_same and self._worked_out(numbers, value).share == 1

    @staticmethod
    def _worked_out(numbers: syntax.Tree, value: syntax.Tree) -> Agreement:
        """Return what figures say of what numbers come to, as these may have been rounded."""
        near = bounds(numbers)
        texts = values.texts(value)
        if near is None or near.low.size != len(texts):
            return _NOTHING
        return _within(texts, zip(near.low.reshape(-1), near.high.reshape(-1), strict=True))

    def _fitted(
        self, target: syntax.Tree, value: syntax.Tree
    ) -> tuple[syntax.Tree, syntax.Tree] | None:
        """An expression and a value of one shape: these, or their only row or column, which
        may be printed as the other."""
        shape = self.recipe.shape(target)
        if shape is None:
            return None
        for shaped in (value, values.flat(value)):
            if shape == values.shape(shaped):
                return target, shaped
        size = values.shape(value)
        if len(size) == 2 and 1 in size and size == shape[::-1]:
            return syntax.Transposed(target), value
        if size == () and shape and max(shape) == 1:
            return workings.indexed(target, *(0 for _ in shape)), value
        if len(size) == 1 and len(shape) == 2 and size[0] == max(shape) and min(shape) == 1:
            is_row = shape[0] == 1
            vector = workings.indexed(target, 0) if is_row else workings.column(target, 0)
            return vector, value
        return None


def _within(texts: Sequence[str], ends: Iterable[tuple[float, float]]) -> Agreement:
    """Return what figures say of values that are only known to lie between two ends."""
    return agreement(
        (text, _nearest(text, float(low), float(high)))
        for text, (low, high) in zip(texts, ends, strict=True)
    )


def _nearest(text: str, low: float, high: float) -> float:
    """Return what in some bounds is nearest to a figure."""
    ends = interval(text)
    return min(max(sum(ends) / 2, low), high) if ends is not None else low


def others(recipe: Recipe, target: syntax.Tree, value: syntax.Tree) -> Iterator[syntax.Tree]:
    """Yield what else a printed block may be: quantities of its shape, or their rows, entries or
    transposes, and other forms of what it is said to be."""
    yield from forms(recipe, target)
    size = values.shape(value)
    for name in (*recipe.given, *recipe.steps):
        whole: syntax.Tree = syntax.Name(name)
        shape = recipe.shape(whole) or ()
        if shape == size and size:
            yield whole
        if shape == size[::-1] and len(size) == 2:
            yield syntax.Transposed(whole)
        if len(shape) == 2 and len(size) == 1 and shape[1] == size[0] and shape[0] <= _ROWS:
            yield from (workings.indexed(whole, i) for i in range(shape[0]))


def forms(recipe: Recipe, target: syntax.Tree) -> Iterator[syntax.Tree]:
    """A quantity as it is with a softmax in place of exponentials, or without a scale or
    a mask: of a row its rows."""
    match target:
        case syntax.Indexed(operand, keys):
            yield from (syntax.Indexed(form, keys) for form in forms(recipe, operand))
        case syntax.Name(name) if name in recipe.trees:
            yield from forms(recipe, recipe.trees[name])
        case syntax.Call("exp", (of,)):
            yield syntax.Call("softmax", (of,))
        case syntax.Call("softmax", (of,), ()):
            yield from (syntax.Call("softmax", (form,)) for form in forms(recipe, of))
        case syntax.Call("causal" | "mask", (of, *_)):
            yield of
            yield from forms(recipe, of)
        case syntax.Binary("/", of, _):
            yield of


def hundredfold(target: syntax.Tree) -> syntax.Tree:
    """Return what is printed of a share in percent."""
    return syntax.Binary("*", syntax.Literal("100"), target)


def _without_points(tree: syntax.Tree) -> syntax.Tree:
    """A tree of numbers, with a point before three digits as one that parts thousands."""

    def whole(part: syntax.Tree) -> syntax.Tree | None:
        if isinstance(part, syntax.Literal) and _POINTED.fullmatch(part.text):
            return syntax.Literal(part.text.replace(".", ""))
        return None

    return syntax.replaced(tree, whole)


def _without_sign(figure: PrintedFigure) -> PrintedFigure:
    """The number of a figure in percent."""
    text = figure.text.removesuffix("%").rstrip()
    return PrintedFigure(text, Span(figure.span.start, figure.span.start + len(text)))
