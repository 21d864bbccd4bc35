"""What a closed form can't look inside: symbols and opaque numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from flint import arb

from symattn.formulas import Formula

if TYPE_CHECKING:
    from symattn.numbers.terms import Terms


class Atom:
    """A symbol (``g1``) or an opaque number such as ``log(2)``.

    ``key`` is its text and its identity; ``ball`` encloses an opaque number
    at the working precision and is None for a symbol; ``radicand`` is what
    stands under a nested square root.
    """

    __slots__ = ("_hash", "ball", "formula", "key", "radicand")

    def __init__(
        self,
        key: str,
        formula: Formula,
        ball: Callable[[], arb] | None = None,
        radicand: Terms | None = None,
    ) -> None:
        self.key = key
        self.formula = formula
        self.ball = ball
        self.radicand = radicand
        self._hash = hash(key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key

    def __repr__(self) -> str:
        return f"Atom({self.key!r})"
