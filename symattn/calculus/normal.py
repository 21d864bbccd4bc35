"""The normal form of what a line says: the first witness, for all sizes at once.

Expressions become sums of products (:mod:`symattn.calculus.atoms`) with all
definitions unfolded; a line holds where the difference of its sides is nothing.
Derivatives are SymPy's, stage by stage, put together by the chain rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, Literal

import sympy as sp

from symattn.calculus import differentiating, tends
from symattn.calculus import language as term
from symattn.calculus.atoms import (
    ONE,
    At,
    Atom,
    Poly,
    Undecided,
    add,
    composed,
    entries,
    named,
    scaled,
)
from symattn.calculus.language import Array, Axis, Expr, Index, Place
from symattn.calculus.sums import Sums

Env = Mapping[Index, At]
Slopes = dict[tuple[Expr, Array], tuple[Any, dict[Index, Any], tuple[Any, ...]]]
"""SymPy's derivatives of what stands on a page, which normal forms of one file share."""


class Normal(Sums):
    """Normal forms of expressions; ``folded`` arrays are not unfolded, as if they were given."""

    def __init__(
        self, folded: frozenset[Array] = frozenset(), slopes: Slopes | None = None
    ) -> None:
        super().__init__()
        self.folded = folded
        self._slopes: Slopes = {} if slopes is None else slopes
        self._bodies: dict[Array, Poly] = {}
        self._totals: dict[tuple[Array, Array], Poly] = {}
        self._free: dict[Index, At] = {}
        self._arrays: dict[str, Array] = {}
        self._depth = 0
        self._opaque = {array.name: array for array in folded}
        self._limits: dict[str, tuple[Atom, Fraction | Literal["oo", "-oo"]]] = {}
        self.random: frozenset[str] = frozenset()
        self.instead: dict[Array, tuple[Sequence[Index], Expr]] = {}
        """What folded arrays are known to be, for all values of what they are made of."""
        self.unseen = ""
        """Why a limit was left as it stands."""

    # -- expressions -----------------------------------------------------------

    def read(self, value: Expr, env: Env | None = None) -> Poly:
        """The normal form of an expression. Raises :class:`Undecided`."""
        poly: Poly = _RULES[type(value)](self, value, env or {})
        return poly

    def place(self, at: Place, env: Env) -> At:
        """A place by its name."""
        if at.index is not None:
            place = env.get(at.index) or self.named(at.index)
            place = (place[0], place[1] + at.offset, place[2])
        else:
            place = (f"={at.size}", at.offset, ())
        return composed(place, [(image, 1) for image in at.images])

    def named(self, index: Index) -> At:
        """A name for a free index; a second index of the same name gets a prime."""
        if index not in self._free:
            name = index.name
            while (name, 0, ()) in self._free.values():
                name += "'"
            self._free[index] = (name, 0, ())
        return self._free[index]

    def _entry(self, value: term.Entry, env: Env) -> Poly:
        at = tuple(self.place(place, env) for place in value.at)
        for place, axis in zip(at, value.array.axes, strict=True):
            if place[1]:
                self.exists.add((axis, place))
        return self.entry_of(value.array, at)

    def entry_of(self, array: Array, at: tuple[At, ...]) -> Poly:
        """An entry of an array, by its definition if it has one that is unfolded."""
        if array.body is None or array in self.folded:
            return self.entry(array.name, at)
        if array not in self._bodies:
            self._bodies[array] = self.read(
                array.body, {place: _formal(array, k) for k, place in enumerate(array.params)}
            )
        to = {_formal(array, k)[0]: place for k, place in enumerate(at)}
        return self.moved(self._bodies[array], to)

    def _summed(self, value: term.Sum, env: Env) -> Poly:
        name = f"%{self._depth}"
        self._depth += 1
        try:
            inside = self.read(value.body, {**env, value.index: (name, 0, ())})
        finally:
            self._depth -= 1
        return self.bind(inside, name, value.index.size)

    def _add(self, value: term.Add, env: Env) -> Poly:
        total: Poly = {}
        for summand in value.terms:
            total = add(total, self.read(summand, env))
        return total

    def _div(self, value: term.Div, env: Env) -> Poly:
        below = self.read(value.below, env)
        return self.mul(self.read(value.above, env), self.raised(below, -1))

    def _apply(self, value: term.Apply, env: Env) -> Poly:
        body = self.read(value.body, env)
        match value.function:
            case "exp":
                return self.exp(body)
            case "log":
                return self.log(body)
            case "positive":
                return self.above_zero(body)
        return self.apply(value.function, body)

    def _size_of(self, value: term.Size, env: Env) -> Poly:
        return self.size(value.of.size if isinstance(value.of, Index) else value.of)

    def _pi(self, value: term.Constant, env: Env) -> Poly:
        return self.one(self.make("c", "pi", "pi"))

    # -- derivatives -----------------------------------------------------------

    def _partial(self, value: term.Partial, env: Env) -> Poly:
        array = value.array
        at = tuple(self.place(place, env) for place in value.at)
        if isinstance(value.of, term.Entry):
            of = value.of
            return self._total(
                of.array, tuple(self.place(place, env) for place in of.at), array, at
            )
        return self._chain(value.of, env, array, at)

    def _total(self, of: Array, here: tuple[At, ...], array: Array, at: tuple[At, ...]) -> Poly:
        """The derivative of an entry of one array in an entry of another."""
        if of is array:
            return self.product(self.delta(*two) for two in zip(here, at, strict=True))
        if array not in of.uses:
            return {}
        if of in self.folded and of not in self.instead:
            return self._through(of, here, array, at)
        key = (of, array)
        if key not in self._totals:
            mine = tuple(_formal(of, k) for k in range(len(of.axes)))
            theirs = tuple(_formal(array, k, "'") for k in range(len(array.axes)))
            if of.of is not None:
                self._totals[key] = self._of_loss(of, of.of, array, theirs)
            else:
                params, body = self.instead.get(of, (of.params, of.body))
                assert body is not None
                env = dict(zip(params, mine, strict=True))
                self._totals[key] = self._chain(body, env, array, theirs)
        to = {_formal(of, k)[0]: place for k, place in enumerate(here)}
        to |= {_formal(array, k, "'")[0]: place for k, place in enumerate(at)}
        return self.moved(self._totals[key], to)

    def _through(self, of: Array, here: tuple[At, ...], array: Array, at: tuple[At, ...]) -> Poly:
        """The derivative of what is folded: by the chain rule where all ways lead through
        what is not, else as it stands."""
        total: Poly = {}
        for middle in self._between(of, array):
            via = tuple((self.fresh(), 0, ()) for _ in middle.axes)
            slope = self.entry(f"d{of.name}/d{middle.name}", (*here, *via))
            part = self.mul(slope, self._total(middle, via, array, at))
            total = add(total, self._over(part, via, middle))
        return total or self.entry(f"d{of.name}/d{array.name}", (*here, *at))

    def _between(self, of: Array, array: Array) -> list[Array]:
        """Unfolded arrays through which alone one array depends on another; none on each other."""
        unfolded = [
            candidate
            for candidate in of.uses - self.folded
            if candidate.body is not None and array in candidate.uses and "." not in candidate.name
        ]
        last = [
            candidate
            for candidate in unfolded
            if not any(candidate in other.uses for other in unfolded)
        ]
        todo, seen = [of], {of, *last}
        while todo:
            body = todo.pop().body
            if body is None:
                continue
            inner = differentiating.names_in(body)
            if array in inner or any(isinstance(part, _WORKED_OUT) for part in term.walk(body)):
                return []
            todo += inner - seen
            seen |= inner
        return sorted(last, key=lambda candidate: candidate.name)

    def _of_loss(self, loss: Array, of: Array, array: Array, at: tuple[At, ...]) -> Poly:
        """A loss knows of its own argument only: the rest is the chain rule."""
        name = f"d{loss.name}/d{of.name}"
        self._opaque[loss.name] = loss
        if array is of:
            return self.entry(name, at)
        via = tuple((self.fresh(), 0, ()) for _ in of.axes)
        slope = self.mul(self.entry(name, via), self._total(of, via, array, at))
        return self._over(slope, via, of)

    def _over(self, poly: Poly, via: tuple[At, ...], array: Array) -> Poly:
        """The sum over all entries of an array."""
        return self.bound_all(poly, {at[0]: axis for at, axis in zip(via, array.axes, strict=True)})

    def _chain(self, of: Expr, env: Env, array: Array, at: tuple[At, ...]) -> Poly:
        """The derivative of an expression, by SymPy's derivatives in what stands in it."""
        if any(isinstance(quantity, _WORKED_OUT) for quantity in term.walk(of)):
            return self._leaves(of, env, array, at)
        inside = differentiating.names_in(of)
        self._arrays |= {quantity.name: quantity for quantity in inside}
        total: Poly = {}
        for quantity in sorted(inside, key=lambda each: each.name):
            if quantity is not array and array not in quantity.uses:
                continue
            if (of, quantity) not in self._slopes:
                self._slopes[of, quantity] = differentiating.slope(of, quantity)
            slope, dummies, via = self._slopes[of, quantity]
            names: dict[Any, At] = {
                dummy: env.get(index) or self.named(index) for index, dummy in dummies.items()
            }
            if quantity is array:
                names |= dict(zip(via, at, strict=True))
                total = add(total, self._written(slope, names))
                continue
            fresh = tuple((self.fresh(), 0, ()) for _ in via)
            names |= dict(zip(via, fresh, strict=True))
            inner = self._total(quantity, fresh, array, at)
            part = self.mul(self._written(slope, names), inner) if inner else {}
            total = add(total, self._over(part, fresh, quantity))
        return total

    def _leaves(self, of: Expr, env: Env, array: Array, at: tuple[At, ...]) -> Poly:
        """The derivative of what holds a derivative itself, in an array that is not unfolded."""
        inner = Normal(self.folded | {array}, self._slopes)
        inner.positive, inner.random = self.positive, self.random
        inner.exists = self.exists
        poly = inner.read(
            of, {**env, **{index: env.get(index) or self.named(index) for index in _free(of)}}
        )
        if any(
            quantity != array.name and inner.depends(quantity, {array.name})
            for quantity in named(poly)
        ):
            # The gradient of a loss changes with what it is taken at.
            raise Undecided("the derivative of what is not taken apart")
        written = differentiating.Written()
        value = written.poly(poly)
        via = tuple(sp.Dummy(f"p{k}", integer=True) for k in range(len(array.axes)))
        slope = differentiating.derivative(value, array, via)
        names = {dummy: (name, 0, ()) for name, dummy in written.names.items()}
        self._arrays |= {name: Array(name, axes) for name, axes in written.arrays.items()}
        self._arrays |= {quantity.name: quantity for quantity in term.arrays(of)}
        return self._written(slope, names | dict(zip(via, at, strict=True)))

    def _written(self, value: Any, names: Mapping[Any, At]) -> Poly:
        """SymPy's expression in normal form."""
        match value:
            case sp.Rational():
                return self.number(differentiating.rational(value))
            case sp.Add(args=args):
                poly: Poly = {}
                for part in args:
                    poly = add(poly, self._written(part, names))
                return poly
            case sp.Mul(args=args):
                poly = self.number(1)
                for part in sorted(args, key=_last):
                    poly = self.mul(poly, self._written(part, names))
                    if not poly:
                        break
                return poly
            case sp.Pow(base=base, exp=exponent) if exponent.is_Rational:
                raised = differentiating.rational(exponent)
                return self.raised(self._written(base, names), raised)
            case sp.exp(args=(body,)):
                return self.exp(self._written(body, names))
            case sp.log(args=(body,)):
                return self.log(self._written(body, names))
            case sp.sin(args=(body,)) | sp.cos(args=(body,)) | sp.erf(args=(body,)):
                return self.apply(type(value).__name__, self._written(body, names))
            case sp.Sum(function=body, limits=limits):
                inner = {limit[0]: (self.fresh(), 0, ()) for limit in limits}
                poly = self._written(body, {**names, **inner})
                bounds = {inner[index][0]: _axis(end) for index, _, end in limits}
                return self.bound_all(poly, bounds)
            case sp.Indexed():
                array = self._arrays[str(value.base.label)]
                at = tuple(self._at(part, names) for part in value.indices[: len(array.axes)])
                return self.entry_of(array, at)
            case sp.KroneckerDelta(args=args):
                return self.delta(*(self._at(part, names) for part in args))
            case differentiating.Reciprocal(args=(body,)):
                return self.raised(self._written(body, names), -1)
            case differentiating.Above(args=(body,)):
                return self.above_zero(self._written(body, names))
            case sp.Symbol():
                return self.position(names[value]) if value in names else self.size(_axis(value))
        if value.func == differentiating.AT_MOST:
            return self.at_most(*(self._at(part, names) for part in value.args))
        if value is sp.pi:
            return self.one(self.make("c", "pi", "pi"))
        if value is sp.E:
            return self.exp(self.number(1))
        raise Undecided(f"SymPy's {type(value).__name__}")

    def _at(self, value: Any, names: Mapping[Any, At]) -> At:
        if value.is_Integer:
            return ("=", int(value), ())
        if value.is_Symbol:
            return names.get(value) or (f"={value}", 0, ())
        if value.is_Add:
            offset, (rest,) = value.args[0], value.args[1:]
            place = self._at(rest, names)
            return (place[0], place[1] + int(offset), place[2])
        place = self._at(value.args[0], names)
        return (*place[:2], (*place[2], (value.func.__name__, 1)))

    # -- what is no algebra ----------------------------------------------------

    def _limit(self, value: term.Limit, env: Env) -> Poly:
        name = f"limit {value.variable.name} {value.target}"
        ((variable, _),) = next(iter(self.entry(value.variable.name, ())))
        self._limits[name] = variable, value.target
        return self.apply(name, self.read(value.body, env))

    def _expectation(self, value: term.Expectation, env: Env) -> Poly:
        return self.apply("expect", self.read(value.body, env))

    def apply(self, name: str, poly: Poly) -> Poly:
        """A function, limit or expected value of a sum."""
        if name == "expect":
            unknown = frozenset(array for array in named(poly) if self.depends(array, self.random))
            return tends.expectation(self, poly, self.random, unknown - self.random)
        if name in self._limits:
            return self._tends(name, poly, *self._limits[name])
        return super().apply(name, poly)

    def depends(self, name: str, on: Collection[str]) -> bool:
        """Whether an entry that is not taken apart depends on one of some arrays: one itself,
        or of what is folded, or a derivative of such or of a loss."""
        array = self._opaque.get(name[1:].partition("/")[0] if "/" in name else name)
        return name in on or (array is not None and any(each.name in on for each in array.uses))

    def _tends(
        self, name: str, body: Poly, variable: Atom, target: Fraction | Literal["oo", "-oo"]
    ) -> Poly:
        """A limit; it stands as it is where it depends on what is folded, or is not seen."""
        moving = {variable.data[0]}
        if all(array in moving or not self.depends(array, moving) for array in named(body)):
            try:
                return tends.limit(self, body, variable, target)
            except tends.Unsigned as reason:
                self.unseen = str(reason)
            except Undecided as reason:
                self.unseen = str(reason)
                with suppress(Undecided):
                    return self._limit_by_sympy(body, variable, target)
        return self.one(self.function(name, body))

    def limit_by_parts(self, atom: Atom, known: Callable[[Atom], Poly | None]) -> Poly | None:
        """A limit that stands as it is, by those of its parts that are known and finite."""
        name, body = atom.data
        if name not in self._limits:
            return None
        moving = {self._limits[name][0].data[0]}

        def still(part: Atom) -> bool:
            return not any(self.depends(each, moving) for each in entries(part))

        return tends.by_parts(
            self, dict(body), still, lambda part: known(self.function(name, part))
        )

    def _limit_by_sympy(
        self, body: Poly, variable: Atom, target: Fraction | Literal["oo", "-oo"]
    ) -> Poly:
        """SymPy's limit of an expression without sums."""
        if any(atom.kind == "S" or atom.height for mono in body for atom, _ in mono):
            raise Undecided("the limit of a sum over indices")
        written = differentiating.Written()
        value = written.poly(body)
        if sp.count_ops(value) > _LONGEST_LIMIT:
            raise Undecided("the limit of a long expression")
        places = value.atoms(sp.Indexed)
        plain = {atom: sp.Dummy("x", real=True) for atom in places}
        moving = plain[written.atom(variable)]
        goal = {"oo": sp.oo, "-oo": -sp.oo}.get(str(target))
        goal = sp.Rational(str(target)) if goal is None else goal
        try:
            limit = sp.limit(value.xreplace(plain), moving, goal, "+-" if goal.is_finite else "-")
        except (NotImplementedError, ValueError, TypeError, RecursionError):
            raise Undecided("a limit that SymPy does not find") from None
        if not limit.is_finite or limit.has(sp.Limit, sp.AccumBounds, sp.sign):
            raise Undecided("a limit that SymPy does not find")
        limit = limit.xreplace({dummy: atom for atom, dummy in plain.items()})
        names = {dummy: (name, 0, ()) for name, dummy in written.names.items()}
        self._arrays |= {name: Array(name, axes) for name, axes in written.arrays.items()}
        return self._written(limit, names)

    def _operations(self, value: term.Operations, env: Env) -> Poly:
        total: Poly = {}
        for array in value.arrays:
            if array in self.folded:
                total = add(total, self.entry(f"operations {array.name}", ()))
                continue
            assert array.body is not None
            each = self.counted(array.body)
            for axis in array.axes:
                each = self.mul(each, self.size(axis))
            total = add(total, each)
        return total

    def counted(self, value: Expr) -> Poly:
        """How many operations one value of an expression takes; the same for all entries."""
        match value:
            case term.Add(parts) | term.Mul(parts):
                inner = [self.counted(part) for part in parts]
                return _all([self.number(len(parts) - 1), *inner])
            case term.Neg(body):
                return self.counted(body)
            case term.Div(above, below):
                return _all([self.number(1), self.counted(above), self.counted(below)])
            case term.Power(term.Size() | term.Number(), _):
                return {}
            case term.Power(body, _) | term.Apply(_, body):
                return add(self.number(1), self.counted(body))
            case term.Sum(index, body):
                size = self.size(index.size)
                return _all([self.mul(size, self.counted(body)), size, self.number(-1)])
            case term.AtMost() | term.Delta():
                return self.number(1)
            case term.Entry() | term.Number() | term.Size() | term.Constant() | term.Position():
                return {}
        raise Undecided(f"the operations in {type(value).__name__}")


def _all(parts: list[Poly]) -> Poly:
    total: Poly = {}
    for part in parts:
        total = add(total, part)
    return total


def _formal(array: Array, k: int, mark: str = "") -> At:
    """The name of a place of an array whose value is kept for all places."""
    return (f"${array.name}.{k}{mark}", 0, ())


def _axis(value: Any) -> Axis:
    return int(value) if value.is_Integer else str(value)


def _last(value: Any) -> int:
    """Deltas first: they shorten what follows."""
    return 0 if isinstance(value, sp.KroneckerDelta) else 2 if isinstance(value, sp.Sum) else 1


def _free(value: Expr) -> set[Index]:
    """The indices of places in an expression; those of sums are among them."""
    every = [*term.walk(value)]
    places = (place.index for part in every for place in term.places(part) if place.index)
    return {*places, *(part.index for part in every if isinstance(part, term.Position))}


_LONGEST_LIMIT = 60
"""SymPy is asked for limits of expressions of at most so many operations."""
_WORKED_OUT = term.Partial | term.Limit | term.Expectation | term.Operations

_RULES: dict[type, Any] = {
    term.Number: lambda self, value, env: self.number(value.value),
    term.Constant: Normal._pi,
    term.Size: Normal._size_of,
    term.Position: lambda self, value, env: self.position(self.place(Place(value.index), env)),
    term.Entry: Normal._entry,
    term.Add: Normal._add,
    term.Neg: lambda self, value, env: scaled(self.read(value.body, env), -ONE),
    term.Mul: lambda self, value, env: self.product(self.read(one, env) for one in value.factors),
    term.Div: Normal._div,
    term.Power: lambda self, value, env: self.raised(self.read(value.base, env), value.exponent),
    term.Apply: Normal._apply,
    term.Sum: Normal._summed,
    term.Delta: lambda self, value, env: self.delta(
        self.place(value.first, env), self.place(value.second, env)
    ),
    term.AtMost: lambda self, value, env: self.at_most(
        self.place(value.first, env), self.place(value.second, env)
    ),
    term.Partial: Normal._partial,
    term.Limit: Normal._limit,
    term.Expectation: Normal._expectation,
    term.Operations: Normal._operations,
}
