"""What entries come to, as lemmas: exact values, or bounds on both sides.

Each lemma rests on those of the entries that its own is made of, so no proof sees more than one
step of a walkthrough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flint import arb, ctx, fmpq

from symattn.seal.definitions import Definition, Numbers
from symattn.seal.terms import Choice, Entry, Function, Term, decimal_fraction, number_text, parts, text
from symattn.seal.theorems import Theorem

#: Bits of the balls that bounds are taken from, and of Coq's intervals.
_BALLS, _INTERVALS = 320, 200
#: Decimals of bounds at the first step, and how many fewer at each later one: wider bounds
#: leave room for what a step adds up.
_DECIMALS, _WIDER = 45, 3


class Bounds:
    """The lemmas of entries, made as they are asked for, in order."""

    def __init__(self, definitions: Mapping[str, Definition]) -> None:
        self._definitions = definitions
        self.numbers = Numbers(definitions)
        self.lemmas: dict[Entry, Theorem] = {}
        self._steps: dict[Entry, int] = {}
        self._new: list[Theorem] = []

    def taken(self) -> Iterator[Theorem]:
        """The lemmas that are new since they were taken."""
        new, self._new = self._new, []
        return iter(new)

    def is_given(self, entry: Entry) -> bool:
        """Whether an entry is a given number, which needs no lemma."""
        return self._definitions[entry.name].term is None

    def exact(self, entry: Entry) -> fmpq | None:
        """The rational number that an entry is by rational steps, else None."""
        with precise():
            value = self.numbers[entry]
        return None if isinstance(value, arb) else value

    def need(self, entry: Entry) -> None:
        """Make the lemma of an entry, and before it those that it rests on."""
        waiting = [entry]
        while waiting:
            top = waiting[-1]
            if top in self.lemmas or self.is_given(top):
                waiting.pop()
                continue
            needs = self.numbers.needs(top)
            if missing := [x for x in needs if x not in self.lemmas and not self.is_given(x)]:
                waiting.extend(reversed(missing))
                continue
            self.lemmas[top] = lemma = self._lemma(top)
            self._new.append(lemma)
            waiting.pop()

    def preparation(self, term: Term, needs: Iterator[Entry], opened: str = "") -> str:
        """The tactics that put what is known of entries into a goal about a term."""
        given, known, bounds = dict.fromkeys([opened] if opened else []), [], []
        for entry in dict.fromkeys(needs):
            if self.is_given(entry):
                given[entry.name] = None
                continue
            self.need(entry)
            (known if self.exact(entry) is not None else bounds).append(self.lemmas[entry].name)
        given.update(dict.fromkeys(_choices(term)))
        tactics = [_opened(given)]
        if known:
            tactics.append(f"rewrite ?{', ?'.join(known)}.")
        tactics += [f"pose proof {name}." for name in bounds]
        with precise():
            tactics += [f"rational_root ({number_text(root)})." for root in self._roots(term)]
        return " ".join((*tactics, "known."))

    def opening(self, term: Term, needs: Iterable[Entry]) -> str:
        """The tactics that open all that a term is made of, down to rational numbers."""
        opened: dict[str, None] = dict.fromkeys(_choices(term))
        known: dict[str, None] = {}
        waiting = [*needs]
        while waiting:
            entry = waiting.pop()
            if not self.is_given(entry) and self.exact(entry) is not None:
                self.need(entry)
                known[self.lemmas[entry].name] = None
                continue
            opened[entry.name] = None
            body = self._definitions[entry.name].term
            opened.update(dict.fromkeys(_choices(body) if body else ()))
            waiting += self.numbers.needs(entry)
        rewriting = f" rewrite ?{', ?'.join(known)}." if known else ""
        return f"{_opened(opened)}{rewriting} known."

    def _roots(self, term: Term) -> Iterator[fmpq]:
        """The rational roots in a term whose variables are places, or stand for all."""
        seen = set()
        for part in parts(term):
            if isinstance(part, Function) and part.name == "sqrt":
                try:
                    root = self.numbers.value(part, {})
                except KeyError:
                    continue
                if isinstance(root, fmpq) and root not in seen:
                    seen.add(root)
                    yield root

    def _lemma(self, entry: Entry) -> Theorem:
        definition = self._definitions[entry.name]
        assert definition.term is not None
        needs = self.numbers.needs(entry)
        name = "_".join((entry.name, *map(str, entry.indices), "is"))
        statement = text(entry)
        exact = self.exact(entry)
        self._steps[entry] = step = 1 + max((self._steps.get(x, 0) for x in needs), default=0)
        prepared = self.preparation(definition.term, iter(needs), entry.name)
        if exact is not None:
            return Theorem(name, f"{statement} = {number_text(exact)}", f"{prepared} same.")
        with precise():
            low, high = ends(arb(self.numbers[entry]), _DECIMALS - _WIDER * step)
        proof = f"{prepared} interval with (i_prec {_INTERVALS})."
        return Theorem(name, f"{low} <= {statement} <= {high}", proof)


def _opened(names: Iterable[str]) -> str:
    """The tactic that opens definitions, and all of the library's."""
    listed = " ".join(names)
    return f"cbv [{listed}]; opened." if listed else "opened."


def _choices(term: Term) -> Iterator[str]:
    """What a term asks of indices."""
    return (part.condition for part in parts(term) if isinstance(part, Choice))


class precise:
    """Balls of many bits."""

    def __enter__(self) -> None:
        self._before, ctx.prec = ctx.prec, _BALLS

    def __exit__(self, *_: object) -> None:
        ctx.prec = self._before


def ends(ball: arb, decimals: int) -> tuple[str, str]:
    """Decimal numbers below and above a ball, a unit away from it at least: as much room is for
    what comes of wider bounds.

    >>> ends(arb(2).sqrt(), 3)
    ('1413 / 1000', '1416 / 1000')
    """
    scaled = arb(ball) * 10**decimals
    low = scaled.lower().floor().unique_fmpz() - 1
    high = scaled.upper().ceil().unique_fmpz() + 1
    return decimal_fraction(low, 10**decimals), decimal_fraction(high, 10**decimals)
