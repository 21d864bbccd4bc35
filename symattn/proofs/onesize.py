"""Index expressions at one size: every sum written out, every entry an unknown.

The arithmetic that confirms (or refutes) a step at a concrete size, with the
exact functions of :mod:`symattn.proofs.rational`.

>>> from symattn.proofs.language import Size, exp, indices, sum_over
>>> from symattn.proofs.matrices import Array
>>> n = Size("n")
>>> i, j = indices("i j", n)
>>> S = Array("S", (n,))
>>> everything = sum_over(j, exp(S[j]))
>>> [str(OneSize({"n": size}).compare(everything, exp(S[1]))) for size in (1, 2)]
['holds', 'refuted']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from symattn.errors import Malformed
from symattn.proofs import language as term
from symattn.proofs.language import Expr, Image, Index, Position, Size
from symattn.proofs.matrices import Array
from symattn.proofs.meaning import Arithmetic, Dual, Variable
from symattn.proofs.polynomials import Polynomial
from symattn.proofs.rational import Functions
from symattn.proofs.structure import Undecidable, free_indices
from symattn.verdicts import Verdict


class OneSize(Functions, Arithmetic[Polynomial, int]):
    """The arithmetic of expressions whose sizes are the given whole numbers."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        super().__init__()
        self.sizes = dict(sizes)

    def compare(self, left: Expr, right: Expr) -> Verdict:
        """Whether two expressions agree at this size, for all values of their free indices."""
        return self.first_difference(left, right)[0]

    def first_difference(self, left: Expr, right: Expr) -> tuple[Verdict, str]:
        """The verdict, and where the first difference (or open question) lies.

        A division by zero refutes: one of the sides has no value there.
        """
        free = free_indices(left, right)
        found = Verdict.HOLDS, ""
        for places in product(*(self._range(index) for index in free)):
            env = dict(zip(free, places, strict=True))
            where = ", ".join(f"{i.name}={p}" for i, p in zip(free, places, strict=True))
            try:
                verdict = self._agree(left, right, env)
            except ZeroDivisionError:
                return Verdict.REFUTED, f"{where} (division by zero)".lstrip()
            if verdict is Verdict.REFUTED:
                return verdict, where
            if verdict is Verdict.UNDECIDED:
                found = verdict, where
        return found

    def _agree(self, left: Expr, right: Expr, env: Mapping[Index, int]) -> Verdict:
        try:
            minus = self.multiply(self.number(-1), self.evaluate(right, env).value)
            return self.is_zero(self.add(self.evaluate(left, env).value, minus))
        except Undecidable:
            return Verdict.UNDECIDED

    def _range(self, index: Index) -> range:
        return range(1, self._length(index.size) + 1)

    def _length(self, size: Size) -> int:
        if size.name not in self.sizes:
            raise Malformed(f"sizes: {size.name} is missing")
        return self.sizes[size.name]

    def size(self, size: Size) -> Polynomial:
        """A size as a quantity."""
        return self.number(self._length(size))

    def root(self, size: Size) -> Polynomial:
        """The positive root of a size."""
        return self.root_of(self._length(size))

    def unknown(self, array: Array, at: tuple[int, ...]) -> Polynomial:
        """An entry of a given array."""
        return self.symbol((self.label(array), *at), array.kind)

    def place(self, position: Position, env: Mapping[Index, int]) -> int:
        """Where a position lies."""
        match position:
            case Index():
                return env[position]
            case Image(_, index):
                # Any permutation will do: this one sends each place to the next.
                return env[index] % self._length(index.size) + 1
            case Size():
                return self._length(position)
        return position

    def same(self, first: int, second: int) -> Polynomial:
        """Kronecker's delta."""
        return self.number(int(first == second))

    def at_most(self, first: int, second: int, axis: str) -> Polynomial:
        """1 where the first place is not after the second, else 0."""
        return self.number(int(first <= second))

    def scope(self) -> object:
        """Nothing: an entry has one value."""
        return None

    def total(
        self, index: Index, body: Expr, env: Mapping[Index, int], by: Variable[int] | None
    ) -> Dual[Polynomial]:
        """The sum over an index."""
        return self._added((body, {**env, index: at}, by) for at in self._range(index))

    def pairs(
        self, pair: term.PairSum, env: Mapping[Index, int], by: Variable[int] | None
    ) -> Dual[Polynomial]:
        """The sum over all pairs of a symmetric body."""
        return self._added(
            (pair.body, {**env, pair.first: first, pair.second: second}, by)
            for second in self._range(pair.second)
            for first in range(1, second)
        )

    def _added(
        self, parts: Iterator[tuple[Expr, Mapping[Index, int], Variable[int] | None]]
    ) -> Dual[Polynomial]:
        found: Dual[Polynomial] = Dual(self.number(0))
        for body, env, by in parts:
            found = self.plus(found, self.evaluate(body, env, by))
        return found
