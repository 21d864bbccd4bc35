"""SymPy's own route for symbolic sizes: a second opinion on every step it can express.

Expressions become SymPy's ``IndexedBase``, ``Sum`` and ``KroneckerDelta``;
SymPy differentiates (with fresh dummies for every sum, so that no index can be
captured) and sums the deltas (``deltasummation`` without ``Piecewise``). Only
the last question, whether two sums are the same up to the names of their
indices, is put to :mod:`symattn.proofs.terms`: SymPy has no normal form for it.

Limits and expected values are not asked of SymPy here.

>>> from symattn.proofs.language import Size, exp, indices, partial, sum_over
>>> from symattn.proofs.matrices import Array
>>> n = Size("n")
>>> j, k = indices("j k", n)
>>> S = Array("S", (n,))
>>> Indexed().agree(partial(sum_over(j, exp(S[j])), S[k]), exp(S[k]))
<Verdict.HOLDS: 'holds'>
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.concrete.delta import deltasummation

from symattn.proofs import language as term
from symattn.proofs import terms
from symattn.proofs.allsizes import AllSizes
from symattn.proofs.language import Expr, Image, Index, Position, Size, Target
from symattn.proofs.matrices import Array
from symattn.proofs.meaning import Arithmetic, Dual, Variable
from symattn.proofs.structure import Undecidable
from symattn.proofs.terms import Place, Value
from symattn.verdicts import Verdict

ORDER = sp.Function("at_most")
"""1 where the first argument is at most the second, else 0; the third names their axis."""


class Indexed(Arithmetic[Any, Any]):
    """The arithmetic of SymPy expressions with indexed sums."""

    def __init__(self) -> None:
        super().__init__()
        self._sizes: dict[str, Any] = {}
        self._free: dict[Index, Any] = {}
        self._arrays: dict[str, Array] = {}
        self._opaque: Array | None = None

    def agree(self, left: Expr, right: Expr) -> Verdict:
        """Whether SymPy's values of two expressions are equal for all sizes; never refuted."""
        try:
            shown = self.vanishes(self.evaluate(left, {}).value - self.evaluate(right, {}).value)
        except Undecidable:
            return Verdict.UNDECIDED
        return Verdict.HOLDS if shown else Verdict.UNDECIDED

    def number(self, value: Fraction) -> Any:
        """A rational constant."""
        return sp.Rational(value.numerator, value.denominator)

    def add(self, left: Any, right: Any) -> Any:
        """The sum of two values."""
        return left + right

    def multiply(self, left: Any, right: Any) -> Any:
        """The product of two values."""
        return left * right

    def inverse(self, value: Any) -> Any:
        """One over a value. Raises ZeroDivisionError for zero."""
        return 1 / value

    def exp(self, value: Any) -> Any:
        """The exponential of a value."""
        return sp.exp(value)

    def log(self, value: Any) -> Any:
        """The logarithm of a positive value."""
        return sp.log(value)

    def size(self, size: Size) -> Any:
        """A size as a quantity."""
        return self._sizes.setdefault(
            size.name, sp.Symbol(f"={size.name}", integer=True, positive=True)
        )

    def root(self, size: Size) -> Any:
        """The positive root of a size."""
        return sp.sqrt(self.size(size))

    def unknown(self, array: Array, at: tuple[Any, ...]) -> Any:
        """An entry of a given array."""
        self._arrays[self.label(array)] = array
        # A scalar is an entry as well, so that SymPy differentiates it alike.
        return sp.IndexedBase(self.label(array))[at or (sp.Integer(0),)]

    def place(self, position: Position, env: Mapping[Index, Any]) -> Any:
        """Where a position lies."""
        match position:
            case Index(name):
                if position in env:
                    return env[position]
                return self._free.setdefault(position, sp.Dummy(name, integer=True))
            case Image(by, index):
                return sp.Function(by, integer=True)(self.place(index, env))
            case Size():
                return self.size(position)
        return sp.Integer(position)

    def same(self, first: Any, second: Any) -> Any:
        """Kronecker's delta."""
        return sp.KroneckerDelta(first, second)

    def at_most(self, first: Any, second: Any, axis: str) -> Any:
        """1 where the first place is not after the second, else 0."""
        return ORDER(first, second, sp.Symbol(axis))

    def scope(self) -> object:
        """The array that is not to be unfolded."""
        return self._opaque

    def total(
        self, index: Index, body: Expr, env: Mapping[Index, Any], by: Variable[Any] | None
    ) -> Dual[Any]:
        """The sum over an index."""
        name = sp.Dummy(index.name, integer=True)
        inside = self.evaluate(body, {**env, index: name}).value
        return Dual(sp.Sum(inside, (name, 1, self.size(index.size))))

    def pairs(
        self, pair: term.PairSum, env: Mapping[Index, Any], by: Variable[Any] | None
    ) -> Dual[Any]:
        """The sum over all pairs of a symmetric body."""
        # Half of what the whole square adds up to without its diagonal.
        first, second = (sp.Dummy(one.name, integer=True) for one in (pair.first, pair.second))
        here = self.evaluate(pair.body, {**env, pair.first: first, pair.second: second}).value
        there = self.evaluate(pair.body, {**env, pair.first: second, pair.second: first}).value
        if not self.vanishes(here - there):
            raise Undecidable("a sum over pairs whose body is not seen to be symmetric")
        along = self.evaluate(pair.body, {**env, pair.first: first, pair.second: first}).value
        end = self.size(pair.first.size)
        square = sp.Sum(here, (first, 1, end), (second, 1, end))
        return Dual((square - sp.Sum(along, (first, 1, end))) / 2)

    def limit(self, value: Any, variable: Any, target: Target) -> Any:
        """What a value tends to. Raises :class:`Undecidable` where it is not sure."""
        raise Undecidable("a limit")

    def mean(self, value: Any) -> Any:
        """The expected value over the random unknowns, up to second moments."""
        raise Undecidable("an expected value")

    def special(self, value: Expr, env: Mapping[Index, Any]) -> Any:
        """Operators that are never differentiated themselves; SymPy takes derivatives."""
        if not isinstance(value, term.Partial):
            return super().special(value, env)
        array, outer = value.wrt.array, self._opaque
        at = tuple(self.place(one, env) for one in value.wrt.at)
        self._opaque = array
        slope = self.evaluate(value.of, env).value.diff(self.unknown(array, at))
        self._opaque = outer
        return self._unfolded(_deltas_summed(slope), array)

    def entry(self, array: Array, at: tuple[Any, ...], by: Variable[Any] | None) -> Dual[Any]:
        """An entry of a given or defined array."""
        if array is self._opaque:
            return Dual(self.unknown(array, at))
        return super().entry(array, at, by)

    def _unfolded(self, value: Any, array: Array) -> Any:
        """The value with the array's entries replaced by their definition."""
        if array.body is None:
            return value
        base = sp.IndexedBase(self.label(array))
        found = [one for one in value.atoms(sp.Indexed) if one.base == base]
        return value.xreplace(
            {one: self.entry(array, one.indices[: len(array.axes)], None).value for one in found}
        )

    # Back into sums in normal form.

    def vanishes(self, value: Any) -> bool:
        """Whether a SymPy expression is zero for all sizes."""
        return AllSizes().is_zero(self._read(value, {}, AllSizes()))

    def _read(self, value: Any, names: Mapping[Any, str], into: AllSizes) -> Value:
        """A SymPy expression as a sum of terms."""

        def read(part: Any) -> Value:
            return self._read(part, names, into)

        if value.is_Rational:
            return terms.constant(Fraction(int(value.p), int(value.q)))
        if value in self._sizes.values():
            return terms.atom(("s", value.name[1:]))
        match value:
            case sp.Add() | sp.Mul():
                found = terms.constant(Fraction(0 if isinstance(value, sp.Add) else 1))
                combine = into.add if isinstance(value, sp.Add) else into.multiply
                for part in value.args:
                    found = combine(found, read(part))
                return found
            case sp.Pow(base=base, exp=exponent) if exponent.is_Integer:
                one = read(base) if exponent > 0 else into.inverse(read(base))
                return terms.power(one, abs(int(exponent)))
            case sp.Pow(base=base, exp=exponent) if base in self._sizes.values():
                return terms.atom(("r", base.name[1:]), int(2 * exponent))
            case sp.exp():
                return into.exp(read(value.args[0]))
            case sp.log():
                return into.log(read(value.args[0]))
            case sp.Sum():
                body, *limits = value.args
                inner = {limit[0]: terms.fresh() for limit in limits}
                found = self._read(body, {**names, **inner}, into)
                for index, _, end in limits:
                    found = terms.bind(found, inner[index], end.name[1:])
                return found
            case sp.Indexed():
                array = self._arrays[str(value.base.label)]
                places = [self._place(one, names) for one in value.indices[: len(array.axes)]]
                return into.unknown(array, tuple(places))
            case sp.KroneckerDelta():
                return into.same(*(self._place(one, names) for one in value.args))
        if value.func == ORDER:
            first, second, axis = value.args
            here, there = self._place(first, names), self._place(second, names)
            return into.at_most(here, there, axis.name)
        raise Undecidable(f"SymPy's {type(value).__name__}")

    def _place(self, value: Any, names: Mapping[Any, str]) -> Place:
        if value.is_Integer:
            return (f"={value}",)
        if value.is_Symbol:
            return (
                names.get(value) or (value.name if value in self._sizes.values() else str(value)),
            )
        return (*self._place(value.args[0], names), value.func.__name__)


def _deltas_summed(value: Any) -> Any:
    """All sums over a delta carried out, innermost first."""
    return value.replace(
        lambda one: isinstance(one, sp.Sum) and one.has(sp.KroneckerDelta), _delta_summed
    )


def _delta_summed(one: Any) -> Any:
    """One (perhaps manifold) sum, term by term.

    ``deltasummation`` sees only terms with a delta in its index: others it would
    hand to Gosper's algorithm, which is slow and fails on exponentials of sums.
    """
    found = one.function
    for limit in one.limits:
        parts = sp.Add.make_args(found.expand(deep=False))
        found = sp.Add(*(_term_summed(part, limit) for part in parts))
    return found


def _term_summed(part: Any, limit: Any) -> Any:
    factors = sp.Mul.make_args(part)
    if any(isinstance(one, sp.KroneckerDelta) and one.has(limit[0]) for one in factors):
        return deltasummation(part, limit, no_piecewise=True)
    return sp.Sum(part, limit)
