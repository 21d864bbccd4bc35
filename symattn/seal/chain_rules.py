"""How the gradients of a derivation come from one another, each by the nearest before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from symattn.calculus import language as term
from symattn.calculus.language import Array, AxisPlace, Index
from symattn.seal.line_terms import Terms, slope_of
from symattn.seal.theorems import Theorem

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
        """Those of some gradients from which no other of them comes."""
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
        own = terms.names[body.array]
        inner = [
            Index(f"{index}'", axis) for index, axis in zip("abce", through.axes, strict=False)
        ]
        with terms.binding(*array.params) as names, terms.binding(*inner) as places:
            moved = terms.moved(body.of, body.array, body.at, {})
            entry = term.Entry(through, tuple(map(AxisPlace, inner)))
            slope = terms.moved(entry, body.array, body.at, {})
            total = f"{terms.names[above]} {' '.join(places)} * Derive {slope}"
            for index, name in [*zip(inner, places, strict=True)][::-1]:
                total = f"sum {terms.axis(index.size)} (fun {name} => {total})"
            bounds = [*map(terms.within, array.params), *self.conditions(array)]
            stated = " -> ".join((*bounds, f"is_derive {moved} ({total})"))
            statement = f"forall {' '.join(names)} : nat, {stated}"
            with terms.variable("x") as x:
                put = f"(put{len(names)} {own} {' '.join(names)} {x})"
                path = f"(fun {x} => {terms.array(through, {body.array: put})})"
            intros = f"intros {' '.join((*names, *('?' for _ in names)))}."
        return Theorem(self.rule(array), statement, f"{intros} chain {self._lemma(above)} {path}.")

    def _is_gradient(self, array: Array) -> Theorem:
        terms, (through, above) = self.terms, self.sources[array]
        body = array.body
        assert isinstance(body, term.Partial)
        with terms.variable("y") as y, terms.variable("x") as x, terms.variable("path") as path:
            of = terms.text(body.of, {body.array: y})
            moving = terms.array(through, {body.array: f"({path} {x})"})
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
        """Whether an array depends on another but through a third."""
        if of is without or of.body is None:
            return of is by and of is not without
        return of is by or any(self._past(without, each, by) for each in self.terms.direct(of))
