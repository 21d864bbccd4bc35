"""An article bound to its recipe: what every printed number is the value of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from symattn.documents.article import Article
from symattn.documents.binding import author, context, standard, tables, values
from symattn.documents.binding import tables as row_runs
from symattn.documents.binding.confidence import Confidence
from symattn.documents.binding.construction import Column, Construction
from symattn.documents.binding.coverage import Coverage, figures
from symattn.documents.binding.definitions import collected
from symattn.documents.binding.discovery import Found
from symattn.documents.binding.equalities import Equalities
from symattn.documents.binding.joining import joined
from symattn.documents.binding.ledger import Ledger
from symattn.documents.binding.names import Names
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.standard import Standard, Variant
from symattn.documents.binding.statements import Statements
from symattn.documents.binding.subjects import (
    Place,
    Sentences,
    Speech,
    Subject,
    counts_from_zero,
    labelled_tokens,
    spoken_tokens,
)
from symattn.documents.help import NONE, Help, Origin, malformed
from symattn.documents.outputs import ran
from symattn.documents.passages import passages as passages_of
from symattn.documents.reading import OpenQuestion, Reading
from symattn.documents.text import Memory, Span
from symattn.documents.trees import (
    Chain,
    Labelled,
    Opaque,
    Passage,
    ReadTable,
    Words,
    alone,
)
from symattn.errors import Fault, lacks_memory, shows_tracebacks, unforeseen
from symattn.expressions import syntax
from symattn.limits import CLOSED, RUN

# -- what an article says ----------------------------------------------------------------
# That is found out once, and holds for all forms that are tried.


class Outline:
    """The passages of an article that assert something, the chains in them, what names are
    defined as, and what blocks are of each other by their figures."""

    def __init__(self, passages: Sequence[Passage], notes: Help) -> None:
        every = list(joined([_signed(passage) for passage in passages]))
        noted = author.without(every, notes.ignored)
        self.passages = list(context.asserted(noted))
        self.found = Found.of(self.passages)
        self.chains = list(chains_of(self.passages))
        self.definitions = collected(self.chains, notes)
        self.runs = list(row_runs.found(self.passages))
        self.rows = {one.chains[-1].span.start: one.tree for one in self.runs}
        self._coverage = Coverage(every)
        self._coverage.leave(noted, "the author says so")
        self._coverage.leave(self.passages, "it is only supposed")
        #: What rows and entries are counted from.
        self.first = 0 if counts_from_zero(map(words_of, self.passages)) else 1

    def coverage(self) -> Coverage:
        """All numbers, of which nothing is known yet."""
        return self._coverage.copy()


def words_of(passage: Passage) -> str:
    """The words of a passage, without its formulas."""
    return " ".join(piece.text for piece in passage.pieces if isinstance(piece, Words)).strip()


def _signed(passage: Passage) -> Passage:
    """The passage with each sign before a figure in the figure itself."""
    pieces = tuple(
        replace(piece, members=tuple(map(values.signed, piece.members)))
        if isinstance(piece, Chain)
        else piece
        for piece in passage.pieces
    )
    return replace(passage, pieces=pieces)


def chains_of(passages: Sequence[Passage]) -> Iterator[Chain]:
    """All chains in their order."""
    for passage in passages:
        for piece in passage.pieces:
            if isinstance(piece, Chain):
                yield piece
            elif isinstance(piece, ReadTable):
                yield from (part for part in piece.pieces if isinstance(part, Chain))


# -- binder ------------------------------------------------------------------------------

#: Where a reader fails, the article is read so many times at most to learn with what.
_AGAIN = 40
#: So many masks are tried.
_MASKS = 3
#: Words between values that are told together.
_GOES_ON = re.compile(r"[\s,;]*+(?:and)?+\s*+")
_LAST = re.compile(r"(?<=[.!?;])\s+")


def read(article: Article, notes: Help = NONE, memory: Memory | None = None) -> Reading:
    """Return what an article computes and prints, with the help of its author; a ``memory`` keeps
    what its blocks are read as.

    Raises :class:`Malformed` where the author speaks of what there is not. Where the
    article leaves steps of attention out, of the usual forms that one is assumed that
    most of its figures agree with. A passage that a reader fails with is left unread.
    """
    passages = list(passages_of(article, memory))
    left = _AGAIN * len(passages)
    while True:
        try:
            found, faults = _read(article, passages, notes)
            break
        except Exception as error:
            if lacks_memory(error) or shows_tracebacks():
                raise
            place, fault = _failing(article, passages, notes, error)
            left -= 2 * len(passages)
            if left < 0 or any(_faults(passages[place])):
                raise fault from None
            passages[place] = _unread(article, passages[place], unforeseen(fault))
    if faults:
        raise malformed(faults)
    return found


def _failing(
    article: Article, passages: Sequence[Passage], notes: Help, fault: Exception
) -> tuple[int, Exception]:
    """The passage with which the reading of what stands before it begins to fail, and how."""
    low, high = 0, len(passages)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            _read(article, passages[:middle], notes)
            low = middle
        except Exception as error:
            if lacks_memory(error):
                raise
            high, fault = middle, error
    return low, fault


def _unread(article: Article, passage: Passage, why: str) -> Passage:
    """A passage that isn't understood: its numbers, and why."""
    spans = [piece.span for piece in passage.pieces]
    span = spans[0].to(spans[-1])
    numbers = tuple(figure for piece in passage.pieces for figure in figures(piece))
    return replace(passage, pieces=(alone(Opaque(article.text(span), span, numbers, why)),))


def _faults(passage: Passage) -> Iterator[OpenQuestion]:
    """Yield what of a passage isn't understood because a reader failed."""
    for piece in passage.pieces:
        for part in piece.pieces if isinstance(piece, ReadTable) else (piece,):
            for member in part.members if isinstance(part, Chain) else ():
                if isinstance(member, Opaque) and member.why:
                    yield OpenQuestion(" ".join(member.text.split()), member.why, member.span)


def _read(
    article: Article, passages: Sequence[Passage], notes: Help
) -> tuple[Reading, Sequence[tuple[Origin, Fault]]]:
    """Return what passages compute and print, and what the author has got wrong."""
    best = _best(article, passages, notes)
    return best.reading(), best.author.faults


def bound(article: Article) -> Binder:
    """The binder whose reading of an article is the best."""
    return _best(article, passages_of(article), NONE)


def _best(article: Article, passages: Sequence[Passage], notes: Help) -> Binder:
    """The form of the recipe that most figures speak for."""
    best: Binder | None = None
    tried: list[Standard] = []
    is_masked = bool(standard.SPOKEN.search(article.source))
    for variant in _variants(article, passages):
        if not all(variant.differs(one.variant, one.asked) for one in tried):
            continue
        binder = Binder(article, passages, variant, notes, best)
        tried.append(binder.standard)
        if best is None or (binder.is_better(best) and binder.needs_mask()):
            best = binder
        if not is_masked and not binder.assumptions():
            break
    assert best is not None
    if is_masked and best.is_doubtful():
        best = Binder(article, passages, Variant(mask=standard.UNKNOWN), notes, best)
    return best


def _variants(article: Article, passages: Sequence[Passage]) -> Iterator[Variant]:
    """The forms that an article may have in mind where it doesn't define its steps."""
    yield Variant()
    yield Variant(scaled=False)
    hidden: list[standard.Mask] = [standard.CAUSAL]
    if standard.SPOKEN.search(article.source):
        hidden += standard.told(" ".join(map(words_of, passages)), chains_of(passages))
    for mask in list(dict.fromkeys(hidden))[:_MASKS]:
        yield Variant(mask=mask)
        yield Variant(scaled=False, mask=mask)


class Binder:
    """Reads the passages of one article, with one form of the standard recipe."""

    def __init__(
        self,
        article: Article,
        passages: Sequence[Passage],
        variant: Variant,
        notes: Help = NONE,
        like: Binder | None = None,
    ) -> None:
        self.article = article
        self.read_from = tuple(passages)
        self.held = notes
        self.recipe = Recipe()
        self.standard = Standard(self.recipe, variant)
        #: What the article says is the same whatever the form of the recipe.
        self.outline: Outline = Outline(passages, notes) if like is None else like.outline
        outline = self.outline
        self.passages, self.chains = outline.passages, outline.chains
        self.names = Names(self.recipe, outline.definitions, self.standard, article.source)
        self.standard.resolved = self.names.resolved
        self.coverage = outline.coverage()
        self.ledger = Ledger(self.recipe, self.coverage)
        self.names.first = first = outline.first
        if notes.count_from is not None:
            first = notes.count_from
        self.speech = Speech(self.recipe, self.standard, self.names, self.ledger, first)
        self.sentences = Sentences(self.speech)
        self.author = author.Author(notes, self.names, self.ledger, self.coverage)
        self.place = Place()
        self.equalities = Equalities(self.speech, self.place)
        self.statements: Statements = (
            Statements(article.source, ran(article), outline.rows)
            if like is None
            else like.statements
        )
        self._bind()

    def _bind(self) -> None:
        """Read the whole article."""
        construction = Construction(
            self.recipe, self.outline.definitions, self.names, self.ledger, self.held
        )
        runs, found = self.outline.runs, self.outline.found
        construction.build(self.chains, runs, _columns(self.passages), found)
        self.speech.tokens = self.names.tokens = construction.tokens or self._told_tokens()
        self.author.take(self.chains, self.passages)
        self._walk()
        self.statements.is_ended = True
        construction.findings.sweep()

    def is_better(self, other: Binder) -> bool:
        """Return whether the author has less to complain of, or clearly more figures agree."""
        faults, others = len(self.author.faults), len(other.author.faults)
        return faults < others or (faults == others and self.ledger.bits > other.ledger.bits + 1)

    def needs_mask(self) -> bool:
        """Return whether figures tell the mask that is assumed, if one is, from none."""
        gain = 0.0
        for entry in self.ledger.entries:
            plain = self.standard.unmasked(entry.tree)
            if plain != entry.tree:
                gain += entry.agreement.bits - self.ledger.said(plain, entry.value).bits
        is_assumed = any(
            one.assumed and self.recipe.role(name) == "masked"
            for name, one in self.recipe.steps.items()
        )
        return not is_assumed or gain > 1

    def is_doubtful(self) -> bool:
        """Return whether weights are computed without a mask, and most of their figures are not
        what comes out."""
        unmasked = {
            name
            for name in self.recipe.with_role("weights")
            if isinstance(step := self.recipe.trees.get(name), syntax.Call)
            and isinstance(scores := step.arguments[0], syntax.Name)
            and self.recipe.role(scores.name) != "masked"
        }
        agreements = [
            entry.agreement
            for entry in self.ledger.entries
            if not unmasked.isdisjoint(syntax.names(entry.tree))
        ]
        count = sum(agreement.figures for agreement in agreements)
        return count > 0 and sum(agreement.agreeing for agreement in agreements) < count / 2

    def _enter_under(self, passage: Passage) -> None:
        """What the author says that a passage stands under."""
        start = passage.pieces[0].span.start if passage.pieces else 0
        while self._under and self._under[-1].span.start <= start:
            note = self._under.pop()
            self.place.under.append((note.span, note.words, self.speech.subject(note.words)))
            self.place.label = Subject()
        while self.place.under and self.place.under[-1][0].end <= start:
            self.place.under.pop()

    # -- the article ----------------------------------------------------------------------

    def _told_tokens(self) -> tuple[str, ...]:
        """The words of a sentence that the article quotes, as many as there are rows."""
        if labels := labelled_tokens(map(words_of, self.passages)):
            return labels
        sizes = {shape[0] for name in self.recipe.given if (shape := self._shape(name))}
        if labels := next(self._headed(sizes), ()):
            return labels
        return spoken_tokens(
            [self.article.text(passage) for passage in _prose_spans(self.passages)], sizes
        )

    def _headed(self, sizes: set[int]) -> Iterator[tuple[str, ...]]:
        """The labels that stand above the columns of a matrix, those of its rows among them,
        where there are as many as rows of something."""
        for chain in self.chains:
            for member in chain.members:
                if isinstance(member, Labelled) and len(member.columns_said) in sizes:
                    labels = tuple(map(row_runs.plain, member.columns_said))
                    names = set(map(row_runs.plain, member.rows_said))
                    if names and names <= set(labels) and row_runs.are_tokens(labels):
                        yield labels

    def _shape(self, name: str) -> tuple[int, ...]:
        shape = self.recipe.shape(syntax.Name(name)) or ()
        return shape if len(shape) == 2 else ()

    def _walk(self) -> None:
        """All passages in their order."""
        self._under = sorted(self.held.under, key=lambda one: one.span, reverse=True)
        self.order = -1
        self._caption = Subject()
        for passage in self.passages:
            self._enter_under(passage)
            if passage.kind == "heading":
                words = words_of(passage)
                about = self.speech.subject(words)
                self.place.enter(passage.level, words, about)
            self.ledger.where = self.place.where
            self._passage(passage)

    def _passage(self, passage: Passage) -> None:
        self.statements.enter(self.place.where)
        # What was said right before stands for words of its own.
        about = self.place.label if self.place.label.adjacent else self._caption
        self._caption = Subject()
        self.place.label = replace(self.place.label, adjacent=False)
        self.equalities.outputs.enter(passage.kind)
        row, label = self.place.row, self.place.label
        for k, piece in enumerate(passage.pieces):
            match piece:
                case Words(text):
                    self.statements.words(piece, passage.kind)
                    if k and _GOES_ON.fullmatch(text):
                        about = replace(about, mentions=())
                    else:
                        about = self.speech.subject(text, adjacent=True)
                        self.place.speak(about)
                    is_first = not k or not isinstance(passage.pieces[k - 1], Words)
                    self.place.said = text if is_first else self.place.said + text
                    self.equalities.outputs.told(piece)
                    self.coverage.words(piece, passage.kind)
                case Chain():
                    self._chain(piece, about, passage.kind)
                    about = replace(about, adjacent=False)
                    self.place.said = ""
                case ReadTable():
                    self._table(piece)
        if passage.kind == "prose":
            around = (row, self.place.row) if self.speech.tokens else (None, None)
            if self.sentences.read(passage, self.place.around, *around):
                # "10.6 % to itself" goes on with the row that was spoken of.
                self.place.row, self.place.label = row, label
                return
            words = words_of(passage)
            sentence = self.speech.subject(_LAST.split(words)[-1], not words.endswith((".", "!")))
            self.place.label = sentence
            if words.endswith(":") and sentence.role is not None:
                self.place.topic = sentence
        elif passage.kind in ("code", "output"):
            # A line of words above a value says what it is, as far as its figures agree.
            self._caption = Subject(self.speech.subject(words_of(passage)).role)

    def _table(self, table: ReadTable) -> None:
        """A table: as a whole or by its columns, then what is left cell by cell."""
        self.statements.table(table, self.place.where)
        candidates = self.speech.candidates(self.place.around, [])
        whole = candidates[0].tree if candidates else None
        self.names.at(self.order + 1)
        tables.bind(
            table, self.ledger, self.standard, self.names.resolved, self.speech.tokens, whole
        )
        for piece in table.pieces:
            match piece:
                case Chain():
                    self._chain(piece, Subject(), "table")
                case Words():
                    self.coverage.words(piece, "table")

    def _chain(self, chain: Chain, before: Subject, kind: str) -> None:
        self.statements.read(chain, kind, self.place.where)
        self.order += 1
        self.names.at(self.order)
        self.names.in_code = chain.is_code
        self.equalities.read(chain, before)

    # -- the whole ------------------------------------------------------------------------

    def assumptions(self) -> tuple[str, ...]:
        """Return what is taken for granted though the article does not say it."""
        used = self._used()
        assumed = [
            f"{name} = {step.expression}"
            for name, step in self.recipe.steps.items()
            if step.assumed and name in used
        ]
        return (f"assuming scaled dot-product attention: {'; '.join(assumed)}",) if assumed else ()

    def reading(self) -> Reading:
        """The reading of the whole article."""
        settled = Confidence(self.ledger).settle()
        stated = [*self.statements.claims(self.ledger, settled)]
        used = self._used()
        unexpected = [one for passage in self.read_from for one in _faults(passage)]
        if self.statements.is_cut:
            unexpected.append(OpenQuestion("equations", CLOSED.said(), Span(0, 0)))
        if self.statements.runs.is_cut:
            unexpected.append(OpenQuestion("programs", RUN.said(), Span(0, 0)))
        return Reading(
            self.article,
            dict(self.recipe.given),
            {name: step for name, step in self.recipe.steps.items() if name in used},
            self._loss(),
            (*(one.claimed() for one in settled), *stated),
            self._fitting_tokens(),
            self.coverage.numbers(),
            self.assumptions(),
            (*self.ledger.open, *unexpected),
            passages=self.read_from,
        )

    def _loss(self) -> dict[str, object] | None:
        """The loss as a case file has it, what the author says first."""
        stated = dict(self.held.loss or {})
        if isinstance(output := stated.get("output"), str):
            stated["output"] = self._name(output)
        if isinstance(wrt := stated.get("wrt"), list):
            stated["wrt"] = [self._name(one) for one in wrt]
        return {**(self.recipe.loss or {}), **stated} or None

    def _name(self, name: str) -> str:
        """The recipe's name of what the author calls so."""
        meaning = self.names.resolved(syntax.Name(name))
        return meaning.name if isinstance(meaning, syntax.Name) else name

    def _fitting_tokens(self) -> tuple[str, ...]:
        count = len(self.speech.tokens)
        shapes = [self.recipe.shape(syntax.Name(name)) or () for name in self.recipe.given]
        return self.speech.tokens if any(count in shape for shape in shapes) else ()

    def _used(self) -> set[str]:
        """The steps that ledger speak of, with those that they need."""
        waiting = [name for entry in self.ledger.entries for name in syntax.names(entry.tree)]
        waiting += [name for name, step in self.recipe.steps.items() if not step.assumed]
        used: set[str] = set()
        while waiting:
            name = waiting.pop().removeprefix("dL/d")
            if name not in used:
                used.add(name)
                if name in self.recipe.trees:
                    waiting += syntax.names(self.recipe.trees[name])
        return used


def _columns(passages: Sequence[Passage]) -> Iterator[Column]:
    for passage in passages:
        for piece in passage.pieces:
            if isinstance(piece, ReadTable):
                yield from tables.inputs(piece)


def _prose_spans(passages: Sequence[Passage]) -> Iterator[Span]:
    for passage in passages:
        spans = [piece.span for piece in passage.pieces]
        if spans and passage.kind in ("prose", "heading"):
            yield spans[0].to(spans[-1])
