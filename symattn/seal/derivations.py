"""Lines of derivations as theorems for all sizes.

Each line is stated by its entries, under the conditions that are printed with it; a line about a
derivative says that there is one, too. Its proof takes what the line names as its reasons, and
if that does not do the definitions. What the library has no words or no proof for is told apart:
it is stated without a proof, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from symattn.calculus import language as term
from symattn.calculus import line_reading
from symattn.calculus.derivation import Derivation
from symattn.calculus.draft import DerivationDraft
from symattn.calculus.judged_lines import JudgedLine, in_unicode
from symattn.calculus.language import Array, AxisPlace, Expr, Index, ParsedLine
from symattn.calculus.writing import SideCondition
from symattn.errors import Malformed
from symattn.expressions.syntax import Binary, Comparison, Literal, Name, Tree, Written
from symattn.seal.line_terms import ENDINGS, Terms, Unsayable, opened, same, slope_of
from symattn.seal.seals import Sealing, Unsealed
from symattn.seal.terms import Entry, Sum, Term
from symattn.seal.theorems import File, Names, Theorem

# -- how the gradients of a derivation come from one another -----------------------------

AXES = 4
"""Arrays of so many axes can vary in the library."""


class ChainRules:
    """The gradients among what is ``defined``, of losses that are any function; ``conditions``
    says under which each is there."""

    def __init__(
        self,
        defined: Sequence[Array],
        losses: Sequence[Array],
        terms: Terms,
        conditions: Callable[[Array], Iterable[str]],
    ) -> None:
        self.defined, self.terms, self.conditions = defined, terms, conditions
        self.given = {terms.gradient(loss): loss for loss in losses}
        self.sources = {
            array: found
            for array in defined
            if (by := slope_of(array)) is not None
            and array not in self.given
            and (found := self._source(array, by)) is not None
        }
        """Of each gradient the array through which its own varies, and the gradient in that."""

    def lemmas(self) -> Iterator[Theorem]:
        """Each gradient by the one before it; and that it is one, where another needs it."""
        needed = {gradient for _, gradient in self.sources.values()}
        for array in self.sources:
            yield self._rule(array)
            if array in needed:
                yield self._is_gradient(array)

    def latest(self, gradients: Sequence[Array]) -> list[Array]:
        """Return those of some gradients from which no other of them comes."""
        before = {x for each in gradients for x in self._before(each)}
        return [each for each in gradients if each in self.sources and each not in before]

    def rule(self, array: Array) -> str:
        """The name of the lemma that says where a gradient comes from."""
        return f"{self.terms.names[array]}_is"

    def _before(self, array: Array) -> Iterator[Array]:
        while array in self.sources:
            array = self.sources[array][1]
            yield array

    def _rule(self, array: Array) -> Theorem:
        terms, (through, above) = self.terms, self.sources[array]
        body = array.body
        assert isinstance(body, term.Partial)
        own = Entry(terms.names[body.array])
        inner = [
            Index(f"{index}'", axis) for index, axis in zip("abce", through.axes, strict=False)
        ]
        with terms.binding(*array.params) as names, terms.binding(*inner) as places:
            entry = term.Entry(through, tuple(map(AxisPlace, inner)))
            slope = terms.slope(replace(body, of=entry), {})
            total: Term = Entry(terms.names[above]).at(*places) * slope
            for index, name in [*zip(inner, places, strict=True)][::-1]:
                total = Sum(terms.axis(index.size), name, total)
            bounds = [*map(terms.within, array.params), *self.conditions(array)]
            stated = " -> ".join((*bounds, terms.derived(body, total)))
            statement = f"forall {' '.join(names)} : nat, {stated}"
            with terms.variable("x") as x:
                put = own.put(names, x)
                path = f"(fun {x} => {terms.argument(through, {body.array: put})})"
            intros = f"intros {' '.join((*names, *('?' for _ in names)))}."
        return Theorem(self.rule(array), statement, f"{intros} chain {self._lemma(above)} {path}.")

    def _is_gradient(self, array: Array) -> Theorem:
        terms, (through, above) = self.terms, self.sources[array]
        body = array.body
        assert isinstance(body, term.Partial)
        with terms.variable("y") as y, terms.variable("x") as x, terms.variable("path") as path:
            of = terms.text(body.of, {body.array: Entry(y)})
            moving = terms.argument(through, {body.array: Entry(path).at(x)})
            sizes = " ".join(map(terms.axis, array.axes))
            own, name = terms.names[body.array], terms.names[array]
            statement = f"gradient{len(array.axes)} {sizes} (fun {y} => {of}) {own} {name}"
            proof = (
                f"intros {path} {x} slopes moving. cite {self.rule(array)}. "
                f"chained {self._lemma(above)} (fun {x} => {moving})."
            )
        return Theorem(self._lemma(array), statement, proof)

    def _lemma(self, array: Array) -> str:
        return f"{self.terms.names[self.given.get(array, array)]}_gradient"

    def _source(self, array: Array, by: Array) -> tuple[Array, Array] | None:
        """The nearest array through which alone a loss depends on another, and the gradient in
        it; None where there is no such."""
        assert isinstance(array.body, term.Partial)
        assert isinstance(array.body.of, term.Entry)
        loss = array.body.of.array
        assert loss.of is not None
        found = {loss.of: self.terms.gradient(loss)}
        for other in self.defined:
            if (of := slope_of(other, loss)) is not None and of is not by:
                found.setdefault(of, other)
        alone = [each for each in found if by in each.uses and not self._past(each, loss.of, by)]
        nearest = [x for x in alone if not any(y is not x and y in x.uses for y in alone)]
        if len(nearest) != 1 or not 0 < len(by.axes) <= AXES:
            return None
        return nearest[0], found[nearest[0]]

    def _past(self, without: Array, of: Array, by: Array) -> bool:
        """Return whether an array depends on another but through a third."""
        if of is without or of.body is None:
            return of is by and of is not without
        return of is by or any(self._past(without, each, by) for each in self.terms.direct(of))


# -- conditions of lines as premises of theorems -----------------------------------------

_RELATIONS = {"!=": "<>", ">=": ">=", "<=": "<=", ">": ">"}


class SideConditions:
    """Writes the conditions of one derivation's lines."""

    def __init__(self, draft: DerivationDraft, terms: Terms) -> None:
        self.draft, self.terms = draft, terms

    def of(self, conditions: Iterable[SideCondition], free: tuple[Index, ...]) -> list[str]:
        """Return those of a line, of its places or of all. Raises :class:`Unsayable`."""
        said: list[str] = []
        for each in conditions:
            try:
                said += self._of(each, () if each.letters else free)
            except Malformed:
                raise Unsayable(f"the condition {each}") from None
        return said

    def _of(self, condition: SideCondition, free: tuple[Index, ...]) -> Iterator[str]:
        (left, right), relation = condition.sides, condition.relation
        places = {index.name: self.terms.indices[index] for index in free}
        sizes = self.terms.sizes
        match relation, left, right:
            case "<=", Name(base), Name(end) if base in places and end in sizes:
                yield f"({places[base]} + 0 < {sizes[end]})%nat"
            case "<=", Binary("+", Name(base), Literal(offset)), Name(end) if (
                base in places and end in sizes
            ):
                yield f"({places[base]} + {offset} < {sizes[end]})%nat"
            case ">=", Name(base), Literal(least) if base in places:
                yield f"({int(least) - 1} <= {places[base]})%nat"
            case ">=", Name(size), Literal(least) if size in sizes:
                yield f"({least} <= {sizes[size]})%nat"
            case _:
                yield from self._of_numbers(left, relation, right, free)

    def _of_numbers(
        self, left: Tree, relation: str, right: Tree, free: tuple[Index, ...]
    ) -> Iterator[str]:
        terms = self.terms
        equation = Written.of(Comparison((left, right), ("==",)))
        read = line_reading.hypothesis(equation, self.draft.scope)
        if self._is_above(read.sides[0]):
            return
        named = {index.name: index for index in free}
        others = [index for index in read.free if index.name not in named]
        for index in read.free:
            if index.name in named:
                terms.indices[index] = terms.indices[named[index.name]]
        with terms.binding(*others) as names:
            bounds = "".join(f"{terms.within(index)} -> " for index in others)
            sides = [*map(terms.text, read.sides)]
        stated = f"{sides[0]} {_RELATIONS[relation]} {sides[1]}"
        yield f"(forall {' '.join(names)} : nat, {bounds}{stated})" if names else stated

    def _is_above(self, value: Expr, strictly: bool = True) -> bool:
        """Tell whether an expression is above 0, or not below it, by its form, as the library sees
        it."""
        match value:
            case term.AtMost() | term.Delta() | term.Power(_, exponent=2) if not strictly:
                return True
            case term.Number(number):
                return number > 0
            case term.Size() | term.Apply("exp") | term.Constant():
                return True
            case term.Entry(array) if array.body is not None:
                return self._is_above(array.body, strictly)
            case term.Entry(array):
                return any(
                    line.relation == ">"
                    and isinstance(side := line.sides[0], term.Entry)
                    and side.array is array
                    for line in self.draft.ground.hypotheses
                )
            case term.Sum(_, body):
                parts = body.factors if isinstance(body, term.Mul) else (body,)
                return all(
                    isinstance(each, term.AtMost | term.Delta) or self._is_above(each, strictly)
                    for each in parts
                )
            case term.Power(body):
                return self._is_above(body)
            case term.Mul(factors):
                return all(self._is_above(each, strictly) for each in factors)
            case term.Div(above, below):
                return self._is_above(above, strictly) and self._is_above(below)
            case term.Add(parts):
                return any(map(self._is_above, parts)) and all(
                    self._is_above(each, strictly=False) for each in parts
                )
        return False


# -- derivations -------------------------------------------------------------------------

_OPENING = """\
Section Lines.

Opaque exp ln sqrt sin cos erf PI INR sum delta at_most put1 put2 put3 put4 Derive."""
_JOINT = "the chain rule where what one array moves meets again through several others"
_ORDER = "the step that takes each pair of indices in one order only"
_ROOT = "the step that puts what is under a root for its square, within sums"
_TANH = "the step that takes tanh for its exponentials, of a polynomial"
_SHIFT = "the step that takes a sum of what is left to 1 for how many there are"
_ANGLES = "the step that turns sums of angles, within sums"
_UNCLAIMED = "it does not say that the derivatives within it exist"
_STEPS = 10_000
"""How long it is looked whether a line holds by definition."""
BEYOND: Mapping[str, Mapping[int, str]] = {
    "multi-head-gradients": {13: _JOINT},
    "feed-forward-gradients": {15: _JOINT, 16: _JOINT},
    "pair-form": {7: _ORDER, 8: _ORDER},
    "layer-norm-backward": {23: _ROOT},
    "rms-norm-backward": {13: _ROOT},
    "activation-derivatives": {14: _TANH, 15: _TANH},
    "log-sum-exp": {14: _SHIFT},
    "rotary-positions": {7: _ANGLES, 8: _JOINT, 9: _JOINT, 10: _JOINT},
}
"""Bundled lines that no proof is tried of, and what is missing."""


def sealed(derivation: Derivation) -> Sealing:
    """The lines of a derivation as theorems, those that can't be stated, and those that are only
    stated, with the step that the library has not.

    >>> from symattn.calculus.library import derivation
    >>> made = sealed(derivation("softmax-jacobian"))
    >>> made.count, made.file.sealing()[15].statement
    (19, 'sum n (fun k => A k) = 1')
    >>> sealed(derivation("masking")).missing["line_1"]
    'limits'
    """
    return _Derivation(derivation).sealing()


class _Derivation:
    """One derivation on its way to a file."""

    def __init__(self, derivation: Derivation) -> None:
        self.derivation, self.draft = derivation, derivation.draft
        self.defined = [item.array for item in self.draft.definitions]
        ground, scope = self.draft.ground, self.draft.scope
        arrays = (*ground.given, *ground.losses, *self.defined)
        names = Names(ENDINGS)
        self.lines = {x.number: names.fresh(f"line_{x.number}") for x in derivation.lines}
        self.assumed = [names.fresh(f"assumed_{k}") for k, _ in enumerate(ground.hypotheses, 1)]
        self.terms = Terms(names, arrays, scope.sizes, scope.permutations)
        self.conditions = SideConditions(self.draft, self.terms)
        self.chains = ChainRules(self.defined, ground.losses, self.terms, self._everywhere)
        self.beyond = BEYOND.get(derivation.name, {}) if not derivation.file else {}
        self.unproved: set[str] = set()
        self.missing: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self.by_definition: set[str] = set()
        self.title = self.draft.title or derivation.name

    def sealing(self) -> Sealing:
        unsealed: list[Unsealed] = []
        try:
            parts: list[str | Theorem] = [_OPENING, *self._ground(), *self.chains.lemmas()]
        except Unsayable as missing:
            every = tuple(Unsealed(self._said(x), f"{missing}") for x in self.derivation.lines)
            return Sealing("lines", File(self.derivation.name, self.title, ()), every)
        for line in self.derivation.lines:
            try:
                parts.append(self._theorem(line))
            except Unsayable as missing:
                self.unproved.add(str(line.number))
                unsealed.append(Unsealed(self._said(line), f"{missing}"))
        file = File(self.derivation.name, self.title, (*parts, "End Lines."))
        told = self.missing, self.notes, frozenset(self.by_definition)
        return Sealing("lines", file, tuple(unsealed), *told)

    def _said(self, line: JudgedLine) -> str:
        return f"line {line.number} of {self.title}: {in_unicode(line.text, self.draft.shapes)}"

    # -- what is given -----------------------------------------------------------------

    def _ground(self) -> Iterator[str]:
        yield "\n".join(self._given())
        told = {*self.draft.ground.given}
        yield from self._losses(told)
        for array in self.defined:
            if array not in self.chains.given:
                yield self._definition(array)
            told.add(array)
            yield from self._losses(told)
        yield "\n".join(self._assumed())

    def _given(self) -> Iterator[str]:
        terms = self.terms
        for name in terms.sizes.values():
            yield f"Variable {name} : nat."
            yield f"Hypothesis {name}_positive : (0 < {name})%nat."
        for name, axis in self.draft.scope.permutations.items():
            own = terms.permutations[name]
            yield f"Variable {own} : nat -> nat."
            yield f"Hypothesis {own}_permutes : permutes {terms.axis(axis)} {own}."
        for array in self.draft.ground.given:
            yield f"Variable {terms.names[array]} : {_type(array)}."

    def _losses(self, told: set[Array]) -> Iterator[str]:
        """The losses of what was told just now."""
        terms = self.terms
        for gradient, loss in self.chains.given.items():
            if loss in told or loss.of not in told:
                continue
            told.add(loss)
            axes, name, own = loss.of.axes, terms.names[loss], terms.names[gradient]
            if not 0 < len(axes) <= AXES:
                raise Unsayable(f"a loss of what has {len(axes)} axes")
            sizes = " ".join(map(terms.axis, axes))
            yield (
                f"Variable {name} : ({_type(loss.of)}) -> R.\nVariable {own} : {_type(loss.of)}.\n"
                f"Hypothesis {name}_gradient : "
                f"gradient{len(axes)} {sizes} {name} {terms.names[loss.of]} {own}."
            )

    def _definition(self, array: Array) -> str:
        """A derivative is defined where it is taken, all else as a function of its parts."""
        terms, name = self.terms, self.terms.names[array]
        assert array.body is not None
        with terms.binding(*array.params) as params:
            places = f" ({' '.join(params)} : nat)" if params else ""
            if not terms.is_defined(array):
                body = terms.text(array.body)
                return f"Definition {name}{places} : R := {body}.\nHint Unfold {name} : partials."
            direct = terms.direct(array)
            own = {each: terms.names[each] for each in direct}
            binders = "".join(f" ({own[each]} : {_type(each)})" for each in direct)
            body = terms.text(array.body, {each: Entry(name) for each, name in own.items()})
        arguments = " ".join((f"{name}_of", *(terms.names[each] for each in direct)))
        return (
            f"Definition {name}_of{binders}{places} : R :=\n  {body}.\n"
            f"Local Notation {name} := ({arguments}).\nHint Unfold {name}_of : lines."
        )

    def _everywhere(self, gradient: Array) -> list[str]:
        """The conditions of all places of the first line that says what a gradient is."""
        for line in self.derivation.lines:
            first = line.read.sides[0] if line.read else None
            if isinstance(first, term.Entry) and first.array is gradient:
                return self.conditions.of((x for x in line.where if x.letters), ())
        return []

    def _assumed(self) -> Iterator[str]:
        for name, line in zip(self.assumed, self.draft.ground.hypotheses, strict=True):
            yield f"Hypothesis {name} : {self._statement(line)}."

    # -- lines -------------------------------------------------------------------------

    def _theorem(self, line: JudgedLine) -> Theorem:
        if line.read is None:
            raise Unsayable(line.why)
        statement = self._statement(line.read, line.where)
        name, why = self.lines[line.number], self._missing(line, line.read)
        if why:
            self.unproved.add(str(line.number))
            self.missing[name] = why
        elif self._is_unclaimed(line.read):
            self.notes[name] = _UNCLAIMED
        left, *others = line.read.sides
        if all(same(left, other, {}, iter(range(_STEPS))) for other in others):
            self.by_definition.add(name)
        proof = None if why else self._proof(line, line.read)
        return Theorem(name, statement, proof, self._said(line))

    def _is_unclaimed(self, line: ParsedLine) -> bool:
        """Tell whether a line has a derivative within of which nothing says that there is one."""
        first, *others = self._sides(line)
        return any(
            self._slope(part)
            and not (isinstance(part, term.Entry) and part.array in self.chains.sources)
            for part in term.walk(*others, *(() if self._slope(first) else (first,)))
        )

    def _missing(self, line: JudgedLine, read: ParsedLine) -> str:
        """The step of a line that the library has not; empty where a proof is tried."""
        if any(isinstance(side, term.Limit) for side in read.sides):
            return "limits"
        if not line.proved:
            return f"the line is {line.status}"
        return self.beyond.get(line.number, "")

    def _statement(self, line: ParsedLine, where: tuple[SideCondition, ...] = ()) -> str:
        terms = self.terms
        terms.bounds = {}
        with terms.binding(*line.free) as names:
            bounds = [terms.within(index) for index in line.free]
            bounds += self.conditions.of(where, line.free)
            left, *others = self._sides(line)
            stated = " /\\ ".join(self._equation(left, other, line.relation) for other in others)
        bounded = " -> ".join((*dict.fromkeys((*bounds, *terms.bounds)), stated))
        return f"forall {' '.join(names)} : nat, {bounded}" if names else bounded

    def _sides(self, line: ParsedLine) -> tuple[Expr, ...]:
        """The sides of a line; of an equation first the one that is a derivative, if any is: that
        says that there is one, too."""
        if line.relation != "==":
            return line.sides
        return tuple(sorted(line.sides, key=lambda side: self._slope(side) is None))

    def _equation(self, left: Expr, right: Expr, relation: str) -> str:
        terms = self.terms
        if relation == "==" and (slope := self._slope(left)) is not None:
            return terms.derived(slope, terms.of(right, {}))
        if relation == "==" and isinstance(left, term.Limit):
            with terms.variable("x") as x:
                body = terms.text(left.body, {left.variable: Entry(x)})
            goal = {"oo": "p_infty", "-oo": "m_infty"}.get(str(left.target), f"({left.target})")
            return f"is_lim (fun {x} => {body}) {goal} ({terms.text(right)})"
        return f"{terms.text(left)} {relation.replace('==', '=')} {terms.text(right)}"

    def _slope(self, value: Expr) -> term.Partial | None:
        """The derivative that an expression is; None of any other."""
        match value:
            case term.Partial(term.Entry(loss), array) if loss.of is array:
                return None
            case term.Partial():
                return value
            case term.Entry(array) if (
                isinstance(array.body, term.Partial) and array not in self.chains.given
            ):
                return self._slope(opened(value))
        return None

    # -- proofs ------------------------------------------------------------------------

    def _proof(self, line: JudgedLine, read: ParsedLine) -> str:
        by, chains, left = line.said.by or (), self.chains, self._sides(read)[0]
        own = left.array if isinstance(left, term.Entry) and left.array in chains.sources else None
        end = f"line_from {chains.rule(own)}" if own else "line"
        opened = [array for array in self.defined if array.name in by]
        own_lines = [each for each in by if each.isdigit() and each not in self.unproved]
        cited = [self.lines[int(each)] for each in own_lines]
        rules = chains.latest([each for each in opened if slope_of(each)])
        if own and not rules and not cited:
            rules = [own]
        told = zip(self.assumed, self.draft.hypotheses, strict=True)
        assumed = [name for name, text in told if text in by]
        steps = [f"cite {name}" for name in (*map(chains.rule, rules), *cited, *assumed)]
        unfolded = [f"{self.terms.names[x]}_of" for x in opened if self.terms.is_defined(x)]
        if unfolded:
            steps.append(f"unfold {', '.join(unfolded)} in *")
        if not cited:
            return f"{'. '.join((*steps, end))}."
        used = set().union(*map(term.arrays, read.sides))
        rules = chains.latest([array for array in self.defined if array in used])
        plain = [f"cite {name}" for name in (*self.assumed, *map(chains.rule, rules))]
        return f"first [{'; '.join((*steps, end))} | {'; '.join((*plain, end))}]."


def _type(array: Array) -> str:
    return " -> ".join([*("nat" for _ in array.axes), "R"])
