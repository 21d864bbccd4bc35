"""Members of equations: the values of what a chain names, of what the words around it speak of, or
of what its numbers work out. Outputs show what the code before them does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf

from symattn.documents.binding import context, subjects, tables, values, workings
from symattn.documents.binding.bounds import bounds, same
from symattn.documents.binding.definitions import is_symbolic, is_worked
from symattn.documents.binding.evidence import Kind
from symattn.documents.binding.ledger import Candidate, Ledger
from symattn.documents.binding.stated import unlike
from symattn.documents.binding.subjects import Mention, Place, Speech, Subject
from symattn.documents.trees import Chain, Labelled, Member, Opaque, Words
from symattn.expressions import syntax
from symattn.spelling import written

#: So many of the things that code showed are looked through for the one that is printed.
_AHEAD = 256


class Outputs:
    """Follows what code shows, passage by passage, to the outputs behind it."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._kind = ""
        #: What code showed that its output has not shown yet, each behind words.
        self._shown: list[tuple[str, syntax.Tree | None]] = []
        #: What code shows behind words of its own.
        self._labelled: dict[str, syntax.Tree] = {}
        #: What the last statement is of: a comment may say its value.
        self._stated: syntax.Tree | None = None
        #: Whether the last value is one that code showed and nobody knows what it is of.
        self.is_hidden = False

    def enter(self, kind: str) -> None:
        """A passage of a kind begins: an output shows what the code right before it shows."""
        if kind == "code" and self._kind != "code":
            self._shown.clear()
        if kind != "code":
            self._stated = None
        self._kind = kind

    def target(self, chain: Chain, said: str, target: syntax.Tree | None) -> syntax.Tree | None:
        """Return what a chain behind words names, or where it is a value by itself what code showed
        there."""
        members = list(chain.members)
        self.is_hidden = False
        if self._kind == "code":
            return self._in_comment(chain, said, target)
        match members:
            case [syntax.Name(label), value] if self._kind == "output":
                # A label is no name: "Paris: [0.2 0.8]", and "scores" that code showed first.
                said, members = label, [value]
                if any(words == _folded(label) for words, _ in self._shown[:_AHEAD]):
                    target = None
        said = _folded(said)
        if target is not None:
            for k, (_, shown) in enumerate(self._shown[:_AHEAD] if self._kind == "output" else ()):
                if shown == target:
                    del self._shown[: k + 1]
                    break
        elif len(members) == 1 and values.is_value(member := members[0]):
            tree = self._printed(said, member) or self._labelled.get(said)
            return tree if tree is not None and self.ledger.fits(tree, member) else None
        return target

    def _take(self, chain: Chain, said: str, target: syntax.Tree | None) -> None:
        """Note what code shows, and behind which words."""
        if chain.is_code and len(chain.members) == 1:
            said = _folded(said)
            self._shown.append((said, target))
            if target is not None and said:
                self._labelled[said] = target
            else:
                # What stood behind these words before is shown no longer.
                self._labelled.pop(said, None)

    def _in_comment(
        self, chain: Chain, said: str, target: syntax.Tree | None
    ) -> syntax.Tree | None:
        """Return what a chain of code names; of a value alone in a comment what the statement
        before it is of: "w = softmax(s)" and "# Result: [0.2, 0.8]"."""
        self._take(chain, said, target)
        match chain.members:
            case _ if chain.is_code:
                self._stated = target
                return target
            case [syntax.Name(), value] | [value] if target is None and values.is_value(value):
                is_alone = len(chain.members) > 1 or not said.strip()
                tree = self._stated if is_alone else self._labelled.get(_folded(said))
                self._stated = None
                return tree if tree is not None and self.ledger.fits(tree, value) else None
        return target

    def told(self, words: Words) -> None:
        """The figures in the words of an output, each of what code showed behind the same
        words: "un 0.310 petit 0.272"."""
        at = 0
        for placing in subjects.placed(words) if self._kind == "output" else ():
            said = _folded(words.text[at : placing.start])
            at = placing.end
            if any(map(str.isalpha, said)) and self._is_behind(said):
                _, tree = self._shown.pop(0)
                if tree is not None and self.ledger.fits(tree, placing.figure):
                    self.ledger.claim(tree, placing.figure, "output")

    def _printed(self, words: str, value: syntax.Tree) -> syntax.Tree | None:
        """Return what the code before an output showed there: what it showed behind the words that
        are ``said``, or the next thing, if it has that shape; None where it showed something
        that isn't understood."""
        if self._kind != "output":
            return None
        self._is_behind(words)
        while self._shown:
            _, tree = self._shown.pop(0)
            if tree is None or self.ledger.fits(tree, value):
                self.is_hidden = tree is None
                return tree
        return None

    def _is_behind(self, words: str) -> bool:
        """Return whether code showed something behind these words; then that is the next thing."""
        for k, (label, _) in enumerate(self._shown[:_AHEAD]):
            if words and label == words:
                del self._shown[:k]
                return True
        return False


def _folded(said: str) -> str:
    """Words before a value, to be compared: without spaces, which prints fill up."""
    return "".join(said.lower().split()).rstrip(":")


#: What two tokens have together.
_OF_PAIRS = ("scores", "scaled", "masked", "weights")
#: A larger angle is one in degrees.
_TURN = 6.3
#: So many digits of numbers tell what they are where no row is spoken of.
_TELLING = 6


class Equalities:
    """Reads chains one after another."""

    def __init__(self, speech: Speech, place: Place) -> None:
        self.speech = speech
        self.place = place
        self.ledger = speech.ledger
        self.names = speech.names
        self.recipe = speech.recipe
        self.standard = speech.standard
        self.outputs = Outputs(self.ledger)
        #: The matrix that was shown last.
        self._last: syntax.Tree | None = None
        #: What names stand for in the row that is spoken of.
        self._local: tuple[Mention | None, dict[str, syntax.Tree]] = (None, {})

    def read(self, chain: Chain, before: Subject) -> None:
        """Bind what the members of a chain are the values of, and what comes to them."""
        members = list(chain.members)
        label = before
        while len(members) > 1 and (mentions := self._tokens(members[0])):
            label = replace(label, mentions=(*label.mentions, *mentions))
            if len(mentions) == 2 and self.place.around.role not in _OF_PAIRS:
                label = replace(label, role="scores")
            members.pop(0)
        first = next((one for one in members if values.is_value(one)), None)
        about = label.within(self.place.around)
        if carried := self._is_of_row(about, label, members, first):
            assert self.place.row is not None
            about = replace(about, mentions=(self.place.row, *about.mentions))
        # An arrow says what follows: "0-9 → 10 characters" is no subtraction.
        begun = len(chain.members) - len(members)
        links, spans = chain.links[begun:], chain.spans[begun:]
        members = [self._localised(one) for one in members]
        if not chain.is_code:
            members = [
                one if isinstance(one, Opaque) else values.with_powers(one, self.recipe.shape)
                for one in members
            ]
        target = named = self._target(members)
        if target is not None and first is not None and self.speech.is_suggested(members[0]):
            # "softmax = [0.49, 0.51]" may be a row of what the name suggests.
            is_working = any(values.figures(target))
            target = target if self.ledger.fits(target, first) and not is_working else None
        target = self.outputs.target(chain, self.place.said, target)
        is_known = target is not None or self.outputs.is_hidden
        spoken = [] if is_known else self.speech.candidates(about, members, label)
        meant = [one.tree for one in spoken]
        candidates = spoken
        if target is not None:
            kinds: set[Kind] = self._kinds(members) if target == named else {"output"}
            candidates = [Candidate(target, frozenset(kinds))]
        work: syntax.Tree | None = None
        rounded: list[syntax.Tree] = []
        self._note(members, target)
        for k, member in enumerate(members):
            if isinstance(member, Opaque):
                work = None
            elif values.is_value(member):
                is_equal = links[k - 1] != "→" if k else False
                if work and is_equal and not self._carries(work, member, [target, *meant]):
                    side = self._side(work, rounded, member)
                    if side is not work or not self._may_be_degrees(work, member):
                        # What a label says stands nowhere as numbers; and where another side
                        # comes to it, that one may be wrong.
                        others = [one for one in members[: k - 1] if values.is_numeric(one)]
                        is_open = (
                            spans[k - 1] == spans[k]
                            or side != syntax.replaced(side, workings.as_meant)
                            or any(self.ledger.agreement(one, member) == 1 for one in others)
                        )
                        self.ledger.work_out(side, member, 0.0 if is_open else inf)
                        if self.ledger.agreement(side, member) == 1:
                            for one in others if "→" not in links[:k] else ():
                                if other := unlike(one, work, "≈" in links[: k - 1]):
                                    self.ledger.work_out(other, member, 0.0)
                self._value(
                    member, target, [self._worked(candidate, work) for candidate in candidates]
                )
                if isinstance(member, Labelled):
                    self._of_labels(member, target)
                for one in meant:
                    if self.ledger.fits(one, member):
                        self._call(members[0], one)
                        break
                work = None
            elif not values.is_closed(member):
                meaning = self.names.resolved(member)
                if meaning is not None and any(values.figures(meaning)):
                    self._working(meaning, None, target, meant, about, carried)
                    # What is left are constants of the formula.
                    self.ledger.coverage.mark(values.figures(meaning), "ignored")
            elif values.is_numeric(member):
                is_second = k == 1 == len(members) - 1 and links[0] == "="
                if work is not None:
                    is_sum = len(workings.terms(member)) > 1
                    for one, term in workings.operands(work, member):
                        # What is right may be said to be more than that.
                        if is_sum or self.ledger.agreement(term, one) < 1:
                            self.ledger.work_out(term, one)
                    rounded = [work, *rounded] if links[k - 1] == "≈" else []
                elif is_second and values.is_value(members[0]):
                    # [[7, 10], [15, 22]] = [[1, 2], [3, 4]] @ [[1, 2], [3, 4]]
                    self.ledger.work_out(self._side(member, [], members[0]), members[0])
                work = member
                if len(members) > 1 and not values.is_scientific(work):
                    # What stands by itself, such as a size 2 x 3, is equal to nothing.
                    self.ledger.coverage.mark(values.figures(work), "local")
                value = next((one for one in members[k:] if values.is_value(one)), None)
                self._working(member, value, target, meant, about, carried)

    def _side(
        self, work: syntax.Tree, rounded: Sequence[syntax.Tree], value: syntax.Tree
    ) -> syntax.Tree:
        """Return what a value of arithmetic is to be held against: what stands before it, or what
        that was rounded from, in ``e^3.54 / e^7.21 \\approx 34 / 1353 \\approx 3\\%``."""
        meant = syntax.replaced(work, workings.as_meant)
        turned = workings.in_degrees(work, _TURN), work, workings.in_degrees(work)
        sides = (*turned, meant, syntax.replaced(work, workings.to_base_two), *rounded)
        return next((side for side in sides if self.ledger.agreement(side, value) == 1), work)

    def _may_be_degrees(self, work: syntax.Tree, value: syntax.Tree) -> bool:
        """Return whether numbers that don't come to a value have an angle of more than a turn: in
        degrees it is another."""
        turned = workings.in_degrees(work, _TURN)
        return turned != work and self.ledger.agreement(work, value) < 1

    def _of_labels(self, value: Labelled, target: syntax.Tree | None) -> None:
        """A matrix with labels that no words say more of, or some rows of the target."""
        if self.ledger.is_taken(value):
            return
        if target is None:
            tables.claim_only(value, self.ledger, self.speech.tokens)
        else:
            for tree, row in tables.parts(value, target, self.ledger, self.speech.tokens):
                self.ledger.claim(tree, row, "name", "labels")

    def _note(self, members: Sequence[Member], target: syntax.Tree | None) -> None:
        """Of a matrix that a chain is about: it may be spoken of next, and what a gradient
        is said to be is how its entries are worked out."""
        if target is None or len(self.recipe.shape(target) or ()) != 2:
            return
        self._last = target
        if isinstance(target, syntax.Gradient) and target.of not in self.recipe.said:
            meaning = [self.names.resolved(member) for member in members if is_symbolic(member)]
            for one in meaning:
                if one is not None and self._is_one([target, one]):
                    self.recipe.said[target.of] = one

    def _carries(
        self, work: syntax.Tree, value: syntax.Tree, targets: Iterable[syntax.Tree | None]
    ) -> bool:
        """Return whether numbers don't come to a value of a quantity only because one of them is
        not what it should be, which is judged for itself."""
        if self.ledger.agreement(work, value) == 1.0:
            return False
        for target in targets:
            if target is not None and self.ledger.agreement(target, value) > 0.5:
                _, bound = workings.bindings(self.recipe, target, work)
                return any(self.ledger.agreement(tree, one) < 1.0 for one, tree in bound)
        return False

    def _is_of_row(
        self, about: Subject, label: Subject, members: list[Member], first: syntax.Tree | None
    ) -> bool:
        """Return whether a chain can only be of the row that was spoken of last: it has a
        dimension, a name that tells what it is, or it is a row or a working by its words."""
        if self.place.row is None or any(not mention.across for mention in about.mentions):
            return False
        if about.mentions:
            return True
        if first is None or len(values.shape(first)) > 1:
            return False
        is_row = len(values.shape(first)) == 1 or any(map(values.is_numeric, members))
        return (label.role is not None and is_row) or self.speech.is_suggested(members[0])

    def _localised(self, member: Member) -> Member:
        """A member with the names of the row that is spoken of."""
        if isinstance(member, Opaque | syntax.Name) or self.place.row is None:
            return member
        row, local = self._local
        if row != self.place.row or not local:
            return member
        return syntax.renamed(member, lambda name: local.get(name, syntax.Name(name)))

    def _call(self, head: Member, tree: syntax.Tree) -> None:
        """A name stands for something as long as the row is spoken of."""
        if self._local[0] != self.place.row:
            self._local = self.place.row, {}
        if isinstance(head, syntax.Name):
            self._local[1][head.name] = tree

    def _tokens(self, member: Member) -> list[Mention]:
        """The tokens that a label before a value names: one, or two with a dot between
        them, for the score of the second in the row of the first."""
        match member:
            case syntax.Name(name) if name in self.speech.tokens:
                return [Mention(self.speech.tokens.index(name), 0, 0)]
            case syntax.Binary("@" | "*", syntax.Name() as left, syntax.Name() as right):
                row, column = self._tokens(left), self._tokens(right)
                return [*row, *column] if row and column else []
        return []

    def _target(self, members: list[Member]) -> syntax.Tree | None:
        """The first member that names something of the recipe."""
        for member in members:
            if isinstance(member, Opaque) or values.is_closed(member) or is_worked(member):
                continue
            meaning = self.names.resolved(member)
            if meaning is not None:
                return meaning
        return None

    def _kinds(self, members: Sequence[Member]) -> set[Kind]:
        """Return how a chain names what it is of."""
        kinds: set[Kind] = set()
        for member in members:
            if is_symbolic(member) and not is_worked(member):
                kinds.add("formula")
            elif not isinstance(member, Opaque) and not values.is_closed(member):
                kinds.add("suggested" if self.speech.is_suggested(member) else "name")
        return kinds - {"suggested"} or kinds

    def _worked(self, candidate: Candidate, work: syntax.Tree | None) -> Candidate:
        """A candidate, with what the numbers say that come to its value."""
        if work is None or workings.bindings(self.recipe, candidate.tree, work)[0] < 0.5:
            return candidate
        return candidate._replace(kinds=candidate.kinds | {"result"})

    def _value(
        self, value: syntax.Tree, target: syntax.Tree | None, candidates: Sequence[Candidate]
    ) -> None:
        """A printed value: of what the chain names, or of what the words say."""
        if target is not None:
            self.standard.note(target)
            if _is_size(target) and self.ledger.agreement(target, value) < 1:
                # The size of another model, said in passing.
                self.ledger.coverage.mark(values.figures(value), "ignored")
                return
        self.ledger.weigh(value, candidates)

    def _working(
        self,
        numbers: syntax.Tree,
        value: syntax.Tree | None,
        target: syntax.Tree | None,
        spoken: Sequence[syntax.Tree],
        about: Subject,
        carried: bool,
    ) -> None:
        """Numbers that something is worked out from: each is what stands there in the
        definition of what the chain or the words name, or of the only entry in the row
        that is spoken of whose numbers they are."""
        for one in (target, *spoken):
            if one is not None:
                share, bound = workings.bindings(self.recipe, one, numbers)
                if share >= (0.6 if carried else 0.5):
                    self.ledger.claim_all(bound, "working", "name" if one is target else "around")
                    return
        row = next(
            (self.speech.counted(mention) for mention in about.mentions if not mention.across), None
        )
        telling = _telling(numbers) + (0 if value is None else _telling(value))
        if row is None and telling < _TELLING:
            return
        found: list[tuple[syntax.Tree, workings.Bound]] = []
        carried_row = None if self.place.row is None else self.speech.counted(self.place.row)
        for place in dict.fromkeys([row] if row is not None else [carried_row, None]):
            found = found or self._worked_out(numbers, about, place)
        if not found or not self._is_one([tree for tree, _ in found]):
            return
        tree, bound = found[0]
        self.ledger.claim_all(bound, "working")
        if value is not None and target is None:
            self.ledger.claim(tree, value, "result")

    def _worked_out(
        self, numbers: syntax.Tree, about: Subject, row: int | None
    ) -> list[tuple[syntax.Tree, workings.Bound]]:
        """Return what numbers work out in a row, or in any, as all of them agree."""
        found: list[tuple[syntax.Tree, workings.Bound]] = []
        near = bounds(numbers)
        for tree in context.targets(self.recipe, about.role, row, self._last, near):
            share, bound = workings.bindings(self.recipe, tree, numbers)
            if share > 1 - 1e-9 and bound:
                found.append((tree, bound))
        return found

    def _is_one(self, trees: list[syntax.Tree]) -> bool:
        """Return whether all of them have one value."""
        numbers = [self.recipe.floats(tree) for tree in trees]
        first = numbers[0]
        return first is not None and all(one is not None and same(first, one) for one in numbers)


def _is_size(tree: syntax.Tree) -> bool:
    return isinstance(tree, syntax.Call) and tree.function in ("rows", "cols")


def _telling(numbers: syntax.Tree) -> int:
    """Return how many digits of an expression's figures tell them from others."""
    return sum(len(written(figure.text).digits) for figure in values.figures(numbers))
