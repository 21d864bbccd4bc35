"""The symbols that numbers may be written with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from symattn.errors import Malformed, short
from symattn.numbers.exponential_sums import Symbol
from symattn.numbers.values import Value, of_symbol

#: What a symbol may be declared to be.
DOMAINS = ("real", "positive")


class Letters:
    """The symbols of some numbers: those that are declared, by name, and SymPy's own; with
    ``is_open`` every name is one. ``known`` are those that were declared or used.

    >>> letters = Letters({"t": "positive"})
    >>> letters.named("t"), letters.named("x"), [*letters.known]
    (t, None, ['t'])
    """

    def __init__(self, declared: Mapping[str, str] | None = None, is_open: bool = False) -> None:
        self.known = {
            name: Symbol(name, domain == "positive") for name, domain in (declared or {}).items()
        }
        self._is_open = is_open

    def opened(self) -> Letters:
        """These, and every other name."""
        opened = Letters(is_open=True)
        opened.known = self.known
        return opened

    def without(self, names: Collection[str]) -> Letters:
        """These but for some, in whose place there are numbers."""
        rest = Letters(is_open=self._is_open)
        rest.known = {name: symbol for name, symbol in self.known.items() if name not in names}
        return rest

    def named(self, name: str) -> Value | None:
        """The symbol of that name in text; None for a name that is none."""
        if name not in self.known and not self._is_open:
            return None
        return self.taken(self.known.get(name) or Symbol(name))

    def written(self, symbol: Any) -> Value:
        """A symbol of SymPy; :class:`Malformed` where another has its name."""
        is_positive = bool(symbol.is_positive)
        plain = type(symbol)(symbol.name, positive=is_positive or None)
        return self.taken(Symbol(symbol.name, is_positive, None if symbol == plain else symbol))

    def taken(self, symbol: Symbol) -> Value:
        """A symbol as a value, known from here on; :class:`Malformed` where another has its
        name."""
        if self.known.setdefault(symbol.name, symbol) != symbol:
            raise Malformed(
                f"two symbols are called {short(symbol.name)!r}, with different assumptions: "
                "use one of them"
            )
        return of_symbol(symbol)


def letters_of(symbols: Letters | bool) -> Letters | None:
    """Letters, any if that is said with True, or none."""
    if isinstance(symbols, Letters):
        return symbols
    return Letters(is_open=True) if symbols else None
