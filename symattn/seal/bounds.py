"""Values of entries as lemmas: exact values, or bounds on both sides.

Each lemma rests on those of the entries that its own is made of, so no proof sees more than one
step of a walkthrough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import ceil

from flint import arb, fmpq

from symattn.numbers.balls import charge, precision
from symattn.seal.definitions import Definition, Definitions, Unstated
from symattn.seal.terms import (
    Choice,
    Entry,
    Function,
    Number,
    Operation,
    Term,
    Undecided,
    decimal_fraction,
    needed,
    number_text,
    parts,
    placed,
    text,
    value,
)
from symattn.seal.theorems import Theorem

# -- what definitions come to ------------------------------------------------------------
# Rational numbers, or balls where they are none.

_CONDITIONS: Mapping[str, Callable[..., bool]] = {
    "causal": lambda i, j: j <= i,
    "Nat.ltb": lambda i, j: i < j,
    "within": lambda first, n, i: first <= i < first + n,
}


class Numbers:
    """The values of the definitions: rational numbers, or balls where they are none."""

    def __init__(self, definitions: Mapping[str, Definition]) -> None:
        self._definitions = definitions
        self._known: dict[Entry, fmpq | arb] = {}

    def holds(self, keeps: str, place: tuple[int, ...]) -> bool:
        """Return whether a condition holds at a place."""
        if keeps in _CONDITIONS:
            return _CONDITIONS[keeps](*place)
        kept = self._definitions[keeps.removesuffix("_keeps")].kept
        assert kept is not None
        return kept[place[0]][place[1]]

    def __getitem__(self, entry: Entry) -> fmpq | arb:
        if entry not in self._known:
            self._known[entry] = self.value(*self.body(entry))
        return self._known[entry]

    def value(self, term: Term, env: Mapping[str, int]) -> fmpq | arb:
        """Return what a term comes to."""
        try:
            return value(term, env, self.__getitem__, self.holds)
        except Undecided as why:
            raise Unstated(str(why)) from None

    def body(self, entry: Entry) -> tuple[Term, Mapping[str, int]]:
        """Return what an entry is defined as, and what its variables are there."""
        definition = self._definitions[entry.name]
        i, j = (int(str(index)) for index in entry.indices or (0, 0))
        if definition.term is None:
            return Number(definition.rows[i][j]), {}
        return definition.term, {"i": i, "j": j}


# -- bounds ------------------------------------------------------------------------------

#: Bits of the balls that bounds are taken from.
_BALLS = 320
precise = partial(precision, _BALLS)
#: Decimals of bounds at the first step, and how many fewer at each later one, as wider bounds
#: leave room for what a step adds up; of large numbers fewer by the digits before the point.
_DECIMALS, _WIDER = 40, 2


#: Most parts that are opened at once.
_OPENED = 100


#: What has a lemma: an entry, or a function of one.
Part = Entry | Function


class Bounds:
    """The lemmas of entries and functions, made as they are asked for, in order."""

    def __init__(self, definitions: Definitions) -> None:
        self._names = definitions.names
        self._definitions = definitions.by_name
        self.numbers = Numbers(definitions.by_name)
        self._lemmas: dict[Part, Theorem] = {}
        self._steps: dict[Part, int] = {}
        self._new: list[Theorem] = []
        self._known: dict[Part, arb] = {}

    def taken(self) -> Iterator[Theorem]:
        """The lemmas that are new since they were taken."""
        new, self._new = self._new, []
        return iter(new)

    def add(self, lemma: Theorem) -> Theorem:
        """Write another lemma among these."""
        self._new.append(lemma)
        return lemma

    def is_given(self, part: Part) -> bool:
        """Return whether it is a given number, which needs no lemma."""
        return isinstance(part, Entry) and self._definitions[part.name].term is None

    def exact(self, part: Part) -> fmpq | None:
        """The rational number that it is by rational steps, else None."""
        with precise():
            found = self.numbers.value(part, {})
        return None if isinstance(found, arb) else found

    def lemma(self, part: Part) -> Theorem:
        """Return what an entry or a function comes to; those that it rests on are made before."""
        waiting = [part]
        while waiting:
            top = waiting[-1]
            if top in self._lemmas:
                waiting.pop()
            elif missing := [x for x in self.needs(self._body(top)) if x not in self._lemmas]:
                waiting.extend(reversed(missing))
            else:
                self._lemmas[top] = made = self._made(top)
                self._new.append(made)
                waiting.pop()
        return self._lemmas[part]

    def needs(self, term: Term) -> list[Part]:
        """Return what a term at a place rests on: entries that are not given, and functions of such
        that are not rational."""
        return [x for x in self._all(term) if not self.is_given(x)]

    def _all(self, term: Term) -> Iterator[Part]:
        """The entries and functions that a term is made of; those inside functions that come
        to rational numbers."""
        made_of = dict.fromkeys(needed(term, {}, self.numbers.holds))
        charge(len(made_of))
        for part in made_of:
            if isinstance(part, Function) and self.exact(part) is not None:
                yield from self._all(part.operand)
            else:
                yield part

    def _body(self, part: Part) -> Term:
        return part.operand if isinstance(part, Function) else placed(*self.numbers.body(part))

    def preparation(self, term: Term, opened: str = "") -> str:
        """The tactics that put into a goal about a term what is known of its parts."""
        given, known, taken = dict.fromkeys([opened] if opened else []), [], []
        for part in self._all(term):
            if self.is_given(part):
                assert isinstance(part, Entry)
                given[part.name] = None
                continue
            name = self.lemma(part).name
            if self.exact(part) is not None:
                known.append(name)
            else:
                taken.append((text(part), name))
        given.update(dict.fromkeys(_choices(term)))
        # What others are inside of is taken before they are, and before they are known.
        taken.sort(key=lambda pair: -len(pair[0]))
        tactics = [_opened(given), *(f"taken ({words}) {name}." for words, name in taken)]
        if known:
            tactics.append(f"rewrite ?{', ?'.join(known)}.")
        if any(isinstance(x, Operation) and x.sign in ("Rmax", "above") for x in parts(term)):
            tactics.append("compared.")
        return " ".join((*tactics, *self._rational(term)))

    def opening(self, term: Term) -> str | None:
        """The tactics that open a term down to rational numbers; None where that is too much."""
        opened: dict[str, None] = {}
        known: dict[Entry, str] = {}
        rational: dict[str, None] = {}
        waiting: list[Term] = [term]
        for _ in range(_OPENED):
            # Where one entry is opened, all of its quantity are.
            waiting += [self._body(x) for x in known if x.name in opened]
            known = {x: name for x, name in known.items() if x.name not in opened}
            if not waiting:
                break
            body = waiting.pop()
            opened.update(dict.fromkeys(_choices(body)))
            rational.update(dict.fromkeys(self._rational(body)))
            for part in needed(body, {}, self.numbers.holds):
                if isinstance(part, Entry):
                    if not self.is_given(part) and self.exact(part) is not None:
                        known[part] = self.lemma(part).name
                        continue
                    opened[part.name] = None
                waiting.append(self._body(part))
        else:
            return None
        rewriting = f" rewrite ?{', ?'.join(known.values())}." if known else ""
        return " ".join((f"{_opened(opened)}{rewriting}", *rational))

    def _rational(self, term: Term) -> Iterator[str]:
        """The tactics for functions in a term at a place that come to rational numbers."""
        functions = list(self._exact_functions(term))
        for root in dict.fromkeys(self.exact(x) for x in functions if x.name == "sqrt"):
            assert root is not None
            yield f"rational_root ({number_text(root)})."
        if any(x.name != "sqrt" for x in functions):
            yield "known."

    def _exact_functions(self, term: Term) -> Iterator[Function]:
        for part in needed(term, {}, self.numbers.holds):
            if isinstance(part, Function) and self.exact(part) is not None:
                yield from self._exact_functions(part.operand)
                yield part

    def _made(self, part: Part) -> Theorem:
        body, statement = self._body(part), text(part)
        words = re.findall(r"\w+", statement.replace("-", "minus"))
        name = self._names.fresh("_".join((*words, "is")))
        step = 1 + max((self._steps.get(x, 0) for x in self.needs(body)), default=0)
        self._steps[part] = step
        prepared = self.preparation(body, part.name if isinstance(part, Entry) else "")
        if (exact := self.exact(part)) is not None:
            return Theorem(name, f"{statement} = {number_text(exact)}", f"{prepared} same.")
        with precise():
            whole = arb(self.numbers.value(part, {}))
            if not abs(whole) < arb(2) ** _BALLS:
                raise Unstated(f"{statement} is no number below 2^{_BALLS}")
            before_point = ceil(float((abs(whole) + 1).log() / arb(10).log()))
            most = _DECIMALS - max(before_point, _WIDER * step)
            decimals = max(0, min(most, self._decimals(part, body)))
            low, high = ends(whole, decimals)
            self._known[part] = arb(whole, arb(2) / 10**decimals)
        return Theorem(name, f"{low} <= {statement} <= {high}", f"{prepared} bounded.")

    def _decimals(self, part: Part, body: Term) -> int:
        """Return how many decimals of a part can be told by the lemmas of its own parts."""

        def known(entry: Entry) -> fmpq | arb:
            return self._known.get(entry, self.numbers[entry])

        inner = Function(part.name, body) if isinstance(part, Function) else body
        width = arb(value(inner, {}, known, self.numbers.holds)).rad()
        if not width.is_finite():
            raise Unstated(f"{text(part)} is not known closely enough")
        return _DECIMALS if width == 0 else -ceil(float(width.log() / arb(10).log())) - 1


def _opened(names: Iterable[str]) -> str:
    """The tactic that opens definitions, and all of the library's."""
    listed = " ".join(names)
    return f"cbv [{listed}]; opened." if listed else "opened."


def _choices(term: Term) -> Iterator[str]:
    """Return what a term asks of indices."""
    return (part.condition for part in parts(term) if isinstance(part, Choice))


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
