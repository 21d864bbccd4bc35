"""What definitions come to: rational numbers, or balls where they are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flint import arb, fmpq

from symattn.seal.definitions import Definition, Unstated
from symattn.seal.terms import Entry, Number, Term, Undecided, value

_CONDITIONS: Mapping[str, Callable[..., bool]] = {
    "causal": lambda i, j: j <= i,
    "Nat.ltb": lambda i, j: i < j,
    "within": lambda first, n, i: first <= i < first + n,
}


class Numbers:
    """What the definitions come to: rational numbers, or balls where they are none."""

    def __init__(self, definitions: Mapping[str, Definition]) -> None:
        self._definitions = definitions
        self._known: dict[Entry, fmpq | arb] = {}

    def holds(self, keeps: str, place: tuple[int, ...]) -> bool:
        """Whether a condition holds at a place."""
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
        """What a term comes to."""
        try:
            return value(term, env, self.__getitem__, self.holds)
        except Undecided as why:
            raise Unstated(str(why)) from None

    def body(self, entry: Entry) -> tuple[Term, Mapping[str, int]]:
        """What an entry is defined as, and what its variables are there."""
        definition = self._definitions[entry.name]
        i, j = (int(str(index)) for index in entry.indices or (0, 0))
        if definition.term is None:
            return Number(definition.rows[i][j]), {}
        return definition.term, {"i": i, "j": j}
