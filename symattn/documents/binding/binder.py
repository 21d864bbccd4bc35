"""An article bound to its recipe: what every printed number is the value of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from symattn import syntax
from symattn.documents.article import Article
from symattn.documents.binding import author, context, tables, values, workings
from symattn.documents.binding import rows as row_runs
from symattn.documents.binding.claims import Claims
from symattn.documents.binding.construction import Column, Construction, same
from symattn.documents.binding.coverage import Coverage
from symattn.documents.binding.definitions import collected, is_worked
from symattn.documents.binding.joining import joined
from symattn.documents.binding.names import Names
from symattn.documents.binding.place import Place
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.sentences import Sentences
from symattn.documents.binding.speech import Speech
from symattn.documents.binding.standard import Standard, Variant
from symattn.documents.binding.subjects import (
    Mention,
    Subject,
    counts_from_zero,
    labelled_tokens,
    spoken_tokens,
)
from symattn.documents.help import NONE, Help, Said, malformed
from symattn.documents.passages import passages as passages_of
from symattn.documents.reading import Open, Reading
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Member, Opaque, Passage, Table, Words
from symattn.errors import Fault

#: The forms that an article may have in mind where it doesn't define its steps.
_VARIANTS = (
    Variant(),
    Variant(scaled=False),
    Variant(causal=True),
    Variant(scaled=False, causal=True),
)


#: A mask may be meant in ``A = softmax(S)``.
_MASK = re.compile(r"causal|mask", re.I)
_LAST = re.compile(r"(?<=[.!?;])\s+")
#: Rows of larger quantities are not compared with a printed vector.
_ROWS = 64
#: So many digits of numbers tell what they are where no row is spoken of.
_TELLING = 6


def read(article: Article, held: Help = NONE) -> Reading:
    """What an article computes and prints, with the help of its author.

    Raises :class:`Malformed` where the author speaks of what there is not. Where the
    article leaves steps of attention out, of the usual forms that one is assumed that
    most of its figures agree with.
    """
    passages = passages_of(article)
    best: tuple[int, float, Reading, list[tuple[Said, Fault]]] | None = None
    for variant in _VARIANTS:
        binder = Binder(article, passages, variant, held)
        reading = binder.read()
        merit = (-len(binder.author.faults), binder.claims.agreeing)
        if best is None or merit[0] > best[0] or (merit[0] == best[0] and merit[1] > best[1] + 0.5):
            best = *merit, reading, binder.author.faults
        if not reading.assumptions and not _MASK.search(article.source):
            break
    assert best is not None
    if best[3]:
        raise malformed(best[3])
    return best[2]


class Binder:
    """Reads the passages of one article, with one form of the standard recipe."""

    def __init__(
        self, article: Article, passages: Sequence[Passage], variant: Variant, held: Help = NONE
    ) -> None:
        self.article = article
        self.held = held
        self.recipe = Recipe()
        self.standard = Standard(self.recipe, variant)
        every = list(joined([_signed(passage) for passage in passages]))
        self.passages = passages = author.without(every, held.ignored)
        self.chains = list(_chains(passages))
        self.definitions = collected(self.chains, held)
        self.names = Names(self.recipe, self.definitions, self.standard, article.source)
        self.standard.resolved = self.names.resolved
        self.coverage = Coverage(every)
        self.coverage.leave(passages)
        self.claims = Claims(self.recipe, self.coverage)
        self.open: list[Open] = []
        self._shown: list[syntax.Tree | None] = []
        self._kind = ""
        first = 0 if counts_from_zero(map(_words, passages)) else 1
        if held.count_from is not None:
            first = held.count_from
        self.speech = Speech(self.recipe, self.standard, self.names, self.claims, first)
        self.sentences = Sentences(self.speech)
        self.author = author.Author(held, self.names, self.claims, self.coverage)
        self._rows = {run.chains[0].span: run for run in row_runs.found(passages)}
        self._in_rows = {chain.span for run in self._rows.values() for chain in run.chains[1:]}

    def read(self) -> Reading:
        """The reading of the whole article."""
        construction = Construction(
            self.recipe, self.definitions, self.names, self.claims, self.held
        )
        construction.build(self.chains, self._rows.values(), _columns(self.passages))
        self.speech.tokens = self.names.tokens = construction.tokens or self._told_tokens()
        self.author.take(self.chains, self.passages)
        self._walk()
        return self._reading()

    def _enter_under(self, passage: Passage) -> None:
        """What the author says that a passage stands under."""
        start = passage.pieces[0].span.start if passage.pieces else 0
        while self._under and self._under[-1].span.start <= start:
            one = self._under.pop()
            self.place.under.append((one.span, one.words, self.speech.subject(one.words)))
            self.place.label = Subject()
        while self.place.under and self.place.under[-1][0].end <= start:
            self.place.under.pop()

    # -- the article ----------------------------------------------------------------------

    def _told_tokens(self) -> tuple[str, ...]:
        """The words of a sentence that the article quotes, as many as there are rows."""
        if labels := labelled_tokens(map(_words, self.passages)):
            return labels
        sizes = {shape[0] for name in self.recipe.given if (shape := self._shape(name))}
        return spoken_tokens([self.article.text(one) for one in _prose_spans(self.passages)], sizes)

    def _shape(self, name: str) -> tuple[int, ...]:
        shape = self.recipe.shape(syntax.Name(name)) or ()
        return shape if len(shape) == 2 else ()

    def _walk(self) -> None:
        """All passages in their order."""
        self.place = Place()
        self._under = sorted(self.held.under, key=lambda one: one.span, reverse=True)
        self.order = -1
        for passage in self.passages:
            self._enter_under(passage)
            if passage.kind == "heading":
                words = _words(passage)
                about = self.speech.subject(words)
                self.place.enter(passage.level, words, about)
            self.claims.where = self.place.where
            self._passage(passage)

    def _passage(self, passage: Passage) -> None:
        # What was said right before stands for words of its own.
        about = self.place.label if self.place.label.adjacent else Subject()
        self.place.label = replace(self.place.label, adjacent=False)
        if passage.kind == "code" and self._kind != "code":
            self._shown.clear()
        self._kind = passage.kind
        for piece in passage.pieces:
            match piece:
                case Words(text):
                    about = self.speech.subject(text, adjacent=True)
                    self.coverage.words(piece, passage.kind)
                case Chain():
                    self.order += 1
                    self.names.at(self.order)
                    self._chain(piece, about)
                    about = replace(about, adjacent=False)
                case Table():
                    self._table(piece)
        if passage.kind == "prose":
            self.sentences.read(passage, self.place.around)
            said = _words(passage)
            sentence = self.speech.subject(_LAST.split(said)[-1], not said.endswith((".", "!")))
            self.place.label = sentence

    def _table(self, table: Table) -> None:
        """A table: as a whole or by its columns, then what is left cell by cell."""
        whole = self.speech.meant(self.place.around, [])
        self.names.at(self.order + 1)
        around = self.place.around
        tables.bind(
            table,
            self.claims,
            self.standard,
            self.names.resolved,
            self.speech.tokens,
            whole,
            around,
        )
        for piece in table.pieces:
            match piece:
                case Chain():
                    self.order += 1
                    self.names.at(self.order)
                    self._chain(piece, Subject())
                case Words():
                    self.coverage.words(piece, "table")

    def _chain(self, chain: Chain, before: Subject) -> None:
        """What the members of a chain are the values of, and what comes to them."""
        if chain.span in self._in_rows:
            return
        if chain.span in self._rows:
            run = self._rows[chain.span]
            if self._run_of_rows(run, before):
                return
            self._in_rows -= {one.span for one in run.chains}
        members = list(chain.members)
        label = before
        while len(members) > 1 and (mention := self._token(members[0])) is not None:
            label = replace(label, mentions=(*label.mentions, mention))
            members.pop(0)
        about = label.within(self.place.around)
        target = self._target(members)
        first = next((one for one in members if values.is_value(one)), None)
        if target is not None and first is not None and not self.claims.fits(target, first):
            # "softmax = [0.49, 0.51]" may be a row of what the name suggests.
            target = None if self.speech.is_suggested(members[0]) else target
        if chain.is_code and len(members) == 1:
            self._shown.append(target)
        if target is None and len(members) == 1 and values.is_value(members[0]):
            target = self._printed(members[0])
        spoken = self.speech.meant(about, members) if target is None else None
        work: syntax.Tree | None = None
        for k, member in enumerate(members):
            if isinstance(member, Opaque):
                work = None
            elif values.is_value(member):
                if work is not None:
                    self.claims.work_out(work, member)
                is_named = target is not None or (
                    spoken is not None and self.speech.is_worked(spoken)
                )
                self._value(member, target or spoken, is_named, label)
                work = None
            elif not values.is_closed(member):
                made = self.names.resolved(member)
                if made is not None and any(values.figures(made)):
                    self._working(made, None, target, spoken, about)
            elif values.is_numeric(member):
                work = member
                self.coverage.mark(values.figures(work), "local")
                value = next((one for one in members[k:] if values.is_value(one)), None)
                self._working(member, value, target, spoken, about)

    def _printed(self, value: syntax.Tree) -> syntax.Tree | None:
        """What the code before an output showed there: the next thing, if it has that
        shape; None where it showed something that isn't understood."""
        while self._kind == "output" and self._shown:
            tree = self._shown.pop(0)
            if tree is None or self.claims.fits(tree, value):
                return tree
        return None

    def _token(self, member: Member) -> Mention | None:
        if isinstance(member, syntax.Name) and member.name in self.speech.tokens:
            return Mention(self.speech.tokens.index(member.name), 0, 0)
        return None

    def _target(self, members: list[Member]) -> syntax.Tree | None:
        """The first member that names something of the recipe."""
        for member in members:
            if isinstance(member, Opaque) or values.is_closed(member) or is_worked(member):
                continue
            made = self.names.resolved(member)
            if made is not None:
                return made
        return None

    def _value(
        self,
        value: syntax.Tree,
        target: syntax.Tree | None,
        is_named: bool,
        label: Subject,
    ) -> None:
        """A printed value: of what the chain names, or of what the words say."""
        if target is not None and is_named:
            self.standard.note(target)
        if target is None or self.claims.is_taken(value):
            return
        if _is_size(target) and self.claims.agreement(target, value) < 1:
            # The size of another model, said in passing.
            self.coverage.mark(values.figures(value), "ignored")
            return
        is_whole = label.adjacent and (label.role is not None or _is_entry(target))
        is_likely = is_whole or self.claims.agreement(target, value) >= 0.5
        if is_named or (is_likely and not self._is_other(target, value)):
            self.claims.claim(target, value)
            return
        self._operand_of(target, value)
        if is_likely and not self.claims.is_taken(value):
            figures = list(values.figures(value))
            why = "the words around it say so, but its figures are those of another quantity"
            span = figures[0].span.to(figures[-1].span)
            self.open.append(Open(syntax.text(target), why, span))

    def _operand_of(self, target: syntax.Tree, value: syntax.Tree) -> None:
        """A value in a section about a quantity that it isn't: what that is computed from,
        where all of its figures agree."""
        match target:
            case syntax.Indexed(syntax.Name(name), keys):
                made = self.recipe.trees.get(name)
            case _:
                return
        if isinstance(made, syntax.Call) and made.function == "softmax":
            row = workings.indexed(made.arguments[0], *(k for k in keys if isinstance(k, int)))
            if self.claims.agreement(row, value) == 1.0:
                self.claims.claim(row, value, confirmed=True)

    def _working(
        self,
        numbers: syntax.Tree,
        value: syntax.Tree | None,
        target: syntax.Tree | None,
        spoken: syntax.Tree | None,
        about: Subject,
    ) -> None:
        """Numbers that something is worked out from: each is what stands there in the
        definition of what the chain or the words name, or of the only entry in the row
        that is spoken of whose numbers they are."""
        for one in (target, spoken):
            if one is not None:
                share, bound = workings.bindings(self.recipe, one, numbers)
                if share >= 0.5:
                    self._claim_all(bound)
                    return
        row = next((self.speech.counted(one) for one in about.mentions if not one.across), None)
        telling = _telling(numbers) + (0 if value is None else _telling(value))
        if row is None and telling < _TELLING:
            return
        found: list[tuple[syntax.Tree, workings.Bound]] = []
        for one in context.targets(self.recipe, self.standard, about.role, row):
            share, bound = workings.bindings(self.recipe, one, numbers)
            if share > 1 - 1e-9 and bound:
                found.append((one, bound))
        if not found or not self._is_one([tree for tree, _ in found]):
            return
        tree, bound = found[0]
        self._claim_all(bound)
        if value is not None and target is None:
            self.claims.claim(tree, value)

    def _claim_all(self, bound: workings.Bound) -> None:
        for value, tree in bound:
            self.claims.claim(tree, value)

    def _is_one(self, trees: list[syntax.Tree]) -> bool:
        """Whether all of them have one value."""
        found = [self.recipe.floats(tree) for tree in trees]
        first = found[0]
        return first is not None and all(one is not None and same(first, one) for one in found)

    def _is_other(self, target: syntax.Tree, value: syntax.Tree) -> bool:
        """Whether most of a printed value's figures are those of another quantity, or of
        a row of one."""
        own = max(self.claims.agreement(target, value), 0.5)
        others: list[syntax.Tree] = []
        for name in (*self.recipe.given, *self.recipe.steps):
            whole = syntax.Name(name)
            shape = self.recipe.shape(whole) or ()
            if len(shape) == 2 and len(values.shape(value)) == 1 and shape[0] <= _ROWS:
                others += [workings.indexed(whole, i) for i in range(shape[0])]
            else:
                others.append(whole)
        return any(self.recipe.agreement(other, value) > own for other in others)

    def _run_of_rows(self, run: row_runs.Rows, before: Subject) -> bool:
        """Rows that are printed one by one: each of the quantity that is spoken of; False
        where they are not the rows of one."""
        about = before.within(self.place.around)
        if self.claims.is_taken(run.tree):
            return True
        whole = None if about.role is None else self.standard.of(about.role)
        if whole is None or self.recipe.shape(whole) != values.shape(run.tree):
            return False
        return not self._is_other(whole, run.tree) and self.claims.claim(whole, run.tree)

    # -- the whole ------------------------------------------------------------------------

    def _reading(self) -> Reading:
        used = self._used()
        steps = {name: step for name, step in self.recipe.steps.items() if name in used}
        assumed = [f"{name} = {one.expression}" for name, one in steps.items() if one.assumed]
        assumptions = (
            (f"assuming scaled dot-product attention: {'; '.join(assumed)}",) if assumed else ()
        )
        return Reading(
            self.article,
            dict(self.recipe.given),
            steps,
            self._loss(),
            tuple(self.claims.found),
            self._fitting_tokens(),
            self.coverage.numbers(),
            assumptions,
            tuple(self.open),
        )

    def _loss(self) -> dict[str, object] | None:
        """The loss as a walkthrough file has it, what the author says first."""
        stated = dict(self.held.loss or {})
        if isinstance(output := stated.get("output"), str):
            stated["output"] = self._name(output)
        if isinstance(wrt := stated.get("wrt"), list):
            stated["wrt"] = [self._name(one) for one in wrt]
        return {**(self.recipe.loss or {}), **stated} or None

    def _name(self, name: str) -> str:
        """The recipe's name of what the author calls so."""
        made = self.names.resolved(syntax.Name(name))
        return made.name if isinstance(made, syntax.Name) else name

    def _fitting_tokens(self) -> tuple[str, ...]:
        count = len(self.speech.tokens)
        shapes = [self.recipe.shape(syntax.Name(name)) or () for name in self.recipe.given]
        return self.speech.tokens if any(count in shape for shape in shapes) else ()

    def _used(self) -> set[str]:
        """The steps that claims speak of, with those that they need."""
        waiting = [
            name for claim in self.claims.found for name in syntax.names(syntax.parse(claim.text))
        ]
        waiting += [name for name, step in self.recipe.steps.items() if not step.assumed]
        used: set[str] = set()
        while waiting:
            name = waiting.pop().removeprefix("dL/d")
            if name not in used:
                used.add(name)
                if name in self.recipe.trees:
                    waiting += syntax.names(self.recipe.trees[name])
        return used


def _is_entry(tree: syntax.Tree) -> bool:
    return isinstance(tree, syntax.Indexed) and len(tree.keys) == 2


def _is_size(tree: syntax.Tree) -> bool:
    return isinstance(tree, syntax.Call) and tree.function in ("rows", "cols")


def _columns(passages: Sequence[Passage]) -> Iterator[Column]:
    for passage in passages:
        for piece in passage.pieces:
            if isinstance(piece, Table):
                yield from tables.inputs(piece)


def _prose_spans(passages: Sequence[Passage]) -> Iterator[Span]:
    for passage in passages:
        spans = [piece.span for piece in passage.pieces]
        if spans and passage.kind in ("prose", "heading"):
            yield spans[0].to(spans[-1])


def _words(passage: Passage) -> str:
    """The words of a passage, without its formulas."""
    return " ".join(one.text for one in passage.pieces if isinstance(one, Words)).strip()


def _telling(numbers: syntax.Tree) -> int:
    """How many digits of an expression's figures tell them from others."""
    return sum(len(one.text.strip("-0.").replace(".", "")) for one in values.figures(numbers))


def _signed(passage: Passage) -> Passage:
    """The passage with each sign before a figure in the figure itself."""
    pieces = tuple(
        replace(piece, members=tuple(map(values.signed, piece.members)))
        if isinstance(piece, Chain)
        else piece
        for piece in passage.pieces
    )
    return replace(passage, pieces=pieces)


def _chains(passages: Sequence[Passage]) -> Iterator[Chain]:
    """All chains in their order."""
    for passage in passages:
        for piece in passage.pieces:
            if isinstance(piece, Chain):
                yield piece
            elif isinstance(piece, Table):
                yield from (part for part in piece.pieces if isinstance(part, Chain))
