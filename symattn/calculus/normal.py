"""The normal form of what a line says: the first witness, for all sizes at once.

Expressions become sums of products (:mod:`symattn.calculus.atoms`) with all
definitions unfolded; a line holds where the difference of its sides is nothing.
Derivatives are SymPy's, stage by stage, put together by the chain rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from symattn.calculus import differentiating, limits
from symattn.calculus import language as term
from symattn.calculus.atoms import (
    ONE,
    At,
    Atom,
    NoNormalForm,
    Poly,
    add,
    composed,
    entries,
    named,
    scaled,
    summed,
)
from symattn.calculus.differentiating import FromSympy, ToSympy
from symattn.calculus.index_sums import Sums
from symattn.calculus.language import Array, AxisPlace, Expr, Index

Env = Mapping[Index, At]
SlopeCache = dict[tuple[Expr, Array], tuple[Any, dict[Index, Any], tuple[Any, ...]]]
"""SymPy's derivatives of what stands on a page, which normal forms of one file share."""


class Normal(Sums):
    """Normal forms of expressions; ``folded`` arrays are not unfolded, as if they were given."""

    def __init__(
        self, folded: frozenset[Array] = frozenset(), slopes: SlopeCache | None = None
    ) -> None:
        super().__init__()
        self.folded = folded
        self._slopes: SlopeCache = {} if slopes is None else slopes
        self._bodies: dict[Array, Poly] = {}
        self._totals: dict[tuple[Array, Array], Poly] = {}
        self._free: dict[Index, At] = {}
        self._arrays: dict[str, Array] = {}
        self._depth = 0
        self._opaque = {array.name: array for array in folded}
        self._limits: dict[str, tuple[Atom, limits.Target]] = {}
        self.random: frozenset[str] = frozenset()
        self.instead: dict[Array, tuple[Sequence[Index], Expr]] = {}
        """What folded arrays are known to be, for all values of what they are made of."""
        self.unseen = ""
        """Why a limit was left as it stands."""

    # -- expressions -----------------------------------------------------------

    def read(self, value: Expr, env: Env | None = None) -> Poly:
        """The normal form of an expression. Raises :class:`NoNormalForm`."""
        poly: Poly = _RULES[type(value)](self, value, env or {})
        return poly

    def place(self, at: AxisPlace, env: Env) -> At:
        """A place by its name."""
        if at.index is not None:
            place = env.get(at.index) or self.named(at.index)
            place = (place[0], place[1] + at.offset, place[2])
        else:
            place = (f"={at.size}", at.offset, ())
        return composed(place, [(image, 1) for image in at.images])

    def places(self, at: Iterable[AxisPlace], env: Env) -> tuple[At, ...]:
        """Places by their names."""
        return tuple(self.place(place, env) for place in at)

    def named(self, index: Index) -> At:
        """A name for a free index; a second index of the same name gets a prime."""
        if index not in self._free:
            name = index.name
            while (name, 0, ()) in self._free.values():
                name += "'"
            self._free[index] = (name, 0, ())
        return self._free[index]

    def _entry(self, value: term.Entry, env: Env) -> Poly:
        at = self.places(value.at, env)
        for place, axis in zip(at, value.array.axes, strict=True):
            if place[1]:
                self.exists.add((axis, place))
        return self.entry_of(value.array, at)

    def entry_of(self, array: Array, at: tuple[At, ...]) -> Poly:
        """An entry of an array, by its definition if it has one that is unfolded."""
        if array.body is None or array in self.folded:
            return self.entry(array.name, at)
        if array not in self._bodies:
            env = dict(zip(array.params, _formal(array), strict=True))
            self._bodies[array] = self.read(array.body, env)
        return self.moved(self._bodies[array], _put(_formal(array), at))

    def _summed(self, value: term.Sum, env: Env) -> Poly:
        name = f"%{self._depth}"
        self._depth += 1
        try:
            inside = self.read(value.body, {**env, value.index: (name, 0, ())})
        finally:
            self._depth -= 1
        return self.bind(inside, name, value.index.size)

    def _div(self, value: term.Div, env: Env) -> Poly:
        below = self.read(value.below, env)
        return self.mul(self.read(value.above, env), self.raised(below, -1))

    def _apply(self, value: term.Apply, env: Env) -> Poly:
        body = self.read(value.body, env)
        own = {"exp": self.exp, "log": self.log, "positive": self.above_zero}.get(value.function)
        return own(body) if own else self.apply(value.function, body)

    # -- derivatives -----------------------------------------------------------

    def _partial(self, value: term.Partial, env: Env) -> Poly:
        array, at = value.array, self.places(value.at, env)
        if isinstance(value.of, term.Entry):
            return self._total(value.of.array, self.places(value.of.at, env), array, at)
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
            theirs = _formal(array, "'")
            if of.of is not None:
                self._totals[key] = self._of_loss(of, of.of, array, theirs)
            else:
                params, body = self.instead.get(of, (of.params, of.body))
                assert body is not None
                env = dict(zip(params, _formal(of), strict=True))
                self._totals[key] = self._chain(body, env, array, theirs)
        to = _put(_formal(of), here) | _put(_formal(array, "'"), at)
        return self.moved(self._totals[key], to)

    def _through(self, of: Array, here: tuple[At, ...], array: Array, at: tuple[At, ...]) -> Poly:
        """The derivative of what is folded: by the chain rule where all ways lead through
        what is not, else as it stands."""
        total: Poly = {}
        for middle in self._between(of, array):
            via = self._fresh_places(middle)
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
        via = self._fresh_places(of)
        slope = self.mul(self.entry(name, via), self._total(of, via, array, at))
        return self._over(slope, via, of)

    def _fresh_places(self, array: Array) -> tuple[At, ...]:
        return tuple((self.fresh(), 0, ()) for _ in array.axes)

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
                total = add(total, self._from_sympy(slope, names))
                continue
            fresh = self._fresh_places(quantity)
            names |= dict(zip(via, fresh, strict=True))
            inner = self._total(quantity, fresh, array, at)
            part = self.mul(self._from_sympy(slope, names), inner) if inner else {}
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
            raise NoNormalForm("the derivative of what is not taken apart")
        written = ToSympy()
        slope, via = differentiating.derivative(written.poly(poly), array)
        self._arrays |= written.arrays
        self._arrays |= {quantity.name: quantity for quantity in term.arrays(of)}
        return self._from_sympy(slope, written.places | dict(zip(via, at, strict=True)))

    def _from_sympy(self, value: Any, places: Mapping[Any, At]) -> Poly:
        return FromSympy(self, self.entry_of, self._arrays, places).read(value)

    # -- what is no algebra ----------------------------------------------------

    def _limit(self, value: term.Limit, env: Env) -> Poly:
        name = f"limit {value.variable.name} {value.target}"
        ((variable, _),) = next(iter(self.entry(value.variable.name, ())))
        self._limits[name] = variable, value.target
        return self.apply(name, self.read(value.body, env))

    def apply(self, name: str, poly: Poly) -> Poly:
        """A function, limit or expected value of a sum."""
        if name == "expect":
            unknown = frozenset(array for array in named(poly) if self.depends(array, self.random))
            return limits.expectation(self, poly, self.random, unknown - self.random)
        if name in self._limits:
            return self._tends(name, poly, *self._limits[name])
        return super().apply(name, poly)

    def depends(self, name: str, on: Collection[str]) -> bool:
        """Whether an entry that is not taken apart depends on one of some arrays: one itself,
        or of what is folded, or a derivative of such or of a loss."""
        array = self._opaque.get(name[1:].partition("/")[0] if "/" in name else name)
        return name in on or (array is not None and any(each.name in on for each in array.uses))

    def _tends(self, name: str, body: Poly, variable: Atom, target: limits.Target) -> Poly:
        """A limit; it stands as it is where it depends on what is folded, or is not seen."""
        moving = {variable.data[0]}
        if all(array in moving or not self.depends(array, moving) for array in named(body)):
            try:
                return limits.limit(self, body, variable, target)
            except limits.Unsigned as reason:
                self.unseen = str(reason)
            except NoNormalForm as reason:
                self.unseen = str(reason)
                with suppress(NoNormalForm):
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

        return limits.by_parts(
            self, dict(body), still, lambda part: known(self.function(name, part))
        )

    def _limit_by_sympy(self, body: Poly, variable: Atom, target: limits.Target) -> Poly:
        """SymPy's limit of an expression without sums."""
        if any(atom.kind == "S" or atom.height for mono in body for atom, _ in mono):
            raise NoNormalForm("the limit of a sum over indices")
        written = ToSympy()
        limit = differentiating.limit(written.poly(body), written.atom(variable), target)
        self._arrays |= written.arrays
        return self._from_sympy(limit, written.places)

    def _operations(self, value: term.Operations, env: Env) -> Poly:
        total: Poly = {}
        for array in value.arrays:
            if array in self.folded:
                total = add(total, self.entry(f"operations {array.name}", ()))
                continue
            assert array.body is not None
            sizes = map(self.size, array.axes)
            total = add(total, self.product([self.counted(array.body), *sizes]))
        return total

    def counted(self, value: Expr) -> Poly:
        """How many operations one value of an expression takes; the same for all entries."""
        match value:
            case term.Add(parts) | term.Mul(parts):
                return summed([self.number(len(parts) - 1), *map(self.counted, parts)])
            case term.Neg(body):
                return self.counted(body)
            case term.Div(above, below):
                return summed([self.number(1), self.counted(above), self.counted(below)])
            case term.Power(term.Size() | term.Number(), _):
                return {}
            case term.Power(body, _) | term.Apply(_, body):
                return add(self.number(1), self.counted(body))
            case term.Sum(index, body):
                size = self.size(index.size)
                return summed([self.mul(size, self.counted(body)), size, self.number(-1)])
            case term.AtMost() | term.Delta():
                return self.number(1)
            case term.Entry() | term.Number() | term.Size() | term.Constant() | term.Position():
                return {}
        raise NoNormalForm(f"the operations in {type(value).__name__}")


def _formal(array: Array, mark: str = "") -> tuple[At, ...]:
    """The names of the places of an array whose value is kept for all places."""
    return tuple((f"${array.name}.{k}{mark}", 0, ()) for k in range(len(array.axes)))


def _put(formal: tuple[At, ...], at: tuple[At, ...]) -> dict[str, At]:
    """Places in place of the names that stand for them."""
    return {name: place for (name, _, _), place in zip(formal, at, strict=True)}


def _free(value: Expr) -> set[Index]:
    """The indices of places in an expression; those of sums are among them."""
    every = [*term.walk(value)]
    places = (place.index for part in every for place in term.places(part) if place.index)
    return {*places, *(part.index for part in every if isinstance(part, term.Position))}


_WORKED_OUT = term.Partial | term.Limit | term.Expectation | term.Operations

_RULES: dict[type, Any] = {
    term.Number: lambda self, value, env: self.number(value.value),
    term.Constant: lambda self, value, env: self.constant(value.name),
    term.Size: lambda self, value, env: self.size(term.length(value)),
    term.Position: lambda self, value, env: self.position(self.place(AxisPlace(value.index), env)),
    term.Entry: Normal._entry,
    term.Add: lambda self, value, env: summed(self.read(part, env) for part in value.terms),
    term.Neg: lambda self, value, env: scaled(self.read(value.body, env), -ONE),
    term.Mul: lambda self, value, env: self.product(self.read(part, env) for part in value.factors),
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
    term.Expectation: lambda self, value, env: self.apply("expect", self.read(value.body, env)),
    term.Operations: Normal._operations,
}
