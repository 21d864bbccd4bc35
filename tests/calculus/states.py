"""The values of trees at one choice of numbers: derivatives by central differences,
limits by numbers close to the end."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from symattn.expressions import syntax
from symattn.expressions.syntax import Binary, Call, Cell, Comparison, Literal, Name, Negative, Tree

from .grids import (
    EACH,
    NOTHING,
    PAIRS,
    Grid,
    NoMeaning,
    NoPlace,
    Unreadable,
    each,
    mp,
    pair,
    product,
    reduced,
)

if TYPE_CHECKING:
    from .worlds import World

#: How far entries are moved for a difference, and how much of a difference counts.
STEP = mp.mpf(10) ** -25
SMALL = mp.mpf(10) ** -20
NEAR = mp.mpf(10) ** -30


class State:
    """The numbers of a world, some of them moved."""

    def __init__(self, world: World, above: State | None = None, move: Any = None) -> None:
        self.world, self.above, self.move = world, above, move
        self._values: dict[str, Any] = {}
        self._states: dict[Any, State] = {}

    def moved(self, name: str, at: tuple[int, ...], by: Any) -> State:
        """With one entry moved by so much."""
        return self._state((name, at, by))

    def with_(self, name: str, value: Any) -> State:
        """With a number replaced."""
        return self._state((name, None, value))

    def _state(self, move: Any) -> State:
        if move not in self._states:
            self._states[move] = State(self.world, self, move)
        return self._states[move]

    def value(self, name: str) -> Any:
        """The array of that name, with all that was moved."""
        if self.above is not None and self.move[0] not in self.world.uses(name):
            return self.above.value(name)
        if name not in self._values:
            self._values[name] = self._computed(name)
        return self._values[name]

    def _computed(self, name: str) -> Any:
        world = self.world
        if self.above is not None and self.move[0] == name:
            _, at, by = self.move
            base = self.above.value(name)
            if at is None:
                return by
            if not at:
                return base + by
            data = base.data.copy()
            data[at] += by
            return Grid(data, base.axes)
        if name in world.given:
            return world.given[name]
        if name in world.losses:
            return self._loss(*world.losses[name])
        if name not in world.defined:
            raise Unreadable(f"unknown {name}")
        params, tree = world.defined[name]
        if params is None:
            return self.evaluate(tree, {}, {})
        axes = tuple(self.axis(one, tree, {}) for one in params)
        data = np.empty(tuple(map(world.length, axes)), dtype=object)
        for at in np.ndindex(data.shape):
            env = {one: k + 1 for one, k in zip(params, at, strict=True)}
            try:
                data[at] = self.evaluate(tree, env, dict(zip(params, axes, strict=True)))
            except NoMeaning:
                data[at] = None
        return Grid(data, axes)

    def _loss(self, of: str, seed: int) -> Any:
        """Some function of all entries that is no polynomial."""
        rng = random.Random(seed)
        value = self.value(of)
        total, weighed = mp.zero, mp.zero
        for one in np.ravel(value.data) if isinstance(value, Grid) else [value]:
            if one is None:
                raise NoMeaning
            a, b, c = (mp.mpf(rng.randint(1, 99)) / 97 for _ in range(3))
            total += a * one - b * mp.sin(c * one)
            weighed += c * one
        return total + mp.cos(weighed) + weighed**2 / 3

    # -- indices ----------------------------------------------------------------

    def axis(self, index: str, tree: Tree, known: Mapping[str, Any]) -> Any:
        """The axis along which an index runs, by the places where it stands."""
        found: set[Any] = set()
        linked: set[str] = set()
        self._stands(index, tree, found, linked)
        done = {index}
        while not found and linked - done:
            other = min(linked - done)
            done.add(other)
            if other in known:
                found.add(known[other])
            else:
                self._stands(other, tree, found, linked, through=True)
        if len(found) > 1:
            raise Unreadable(f"{index} runs along {found}")
        if found:
            return found.pop()
        if len(self.world.sizes) == 1:
            return next(iter(self.world.sizes))
        raise Unreadable(f"nothing says how far {index} runs")

    def _stands(
        self, index: str, tree: Tree, found: set[Any], linked: set[str], through: bool = False
    ) -> None:
        if index in bound(tree) and not through:
            return
        match tree:
            case Cell(Name(name), places):
                axes = self._axes(name)
                if len(axes) != len(places):
                    raise Unreadable(f"places of {name}")
                for place, axis in zip(places, axes, strict=True):
                    if _stem(place) == index:
                        found.add(axis)
            case Cell():
                raise Unreadable("an entry of an expression")
            case Call("delta", (left, right)) | Call("step", (Comparison((left, right), _),)):
                for one, other in ((left, right), (right, left)):
                    if _stem(one) != index:
                        continue
                    match other:
                        case Cell(Name(name), _) if name in self.world.permutations:
                            found.add(self.world.permutations[name][0])
                        case Name(name) if name in self.world.sizes:
                            found.add(name)
                    stem = _stem(other)
                    if stem and stem != index and stem not in self.world.sizes:
                        linked.add(stem)
        for one in syntax.inside(tree):
            self._stands(index, one, found, linked, through)

    def _axes(self, name: str) -> tuple[Any, ...]:
        if name in self.world.permutations:
            return (self.world.permutations[name][0],)
        if name in self.world.losses:
            return ()
        value = State.value(self.world.state, name)
        return value.axes if isinstance(value, Grid) else ()

    def free(self, tree: Tree, held: frozenset[str] = frozenset()) -> set[str]:
        """The free indices of a tree."""
        if isinstance(tree, Name):
            name = tree.name
            return set() if name in held or self.world.known(name) else {name}
        if isinstance(tree, Cell):
            inner = tree.places
        elif isinstance(tree, Call) and tree.function == "limit":
            inner = tree.arguments[2:]
        else:
            inner = syntax.inside(tree)[len(bound(tree)) :]
        held |= set(bound(tree))
        return set().union(*(self.free(one, held) for one in inner))

    def differences(self, line: Comparison, every: bool = False, most: int = 12) -> Iterator[Any]:
        """The sides' difference at places of the free indices; a side is the one before."""
        free = sorted(self.free(line))
        if any(len(one) > 2 for one in free):
            raise Unreadable(f"unknown {free}")
        axes = {one: self.axis(one, line, {}) for one in free}
        places = list(
            itertools.product(*(range(1, self.world.length(axes[one]) + 1) for one in free))
        )
        if not every and len(places) > most:
            rng = random.Random(len(places))
            places = [places[0], places[-1], *rng.sample(places, most)]
        for at in places:
            env = dict(zip(free, at, strict=True))
            try:
                sides = [self.evaluate(one, env, axes) for one in line.operands]
            except NoMeaning:
                if every:
                    raise
                continue
            for one, other in itertools.pairwise(sides):
                yield pair(_apart(every), one, other)

    # -- values -----------------------------------------------------------------

    def place(self, tree: Tree, env: Mapping[str, int]) -> int:
        match tree:
            case Name(name):
                if name in env:
                    return env[name]
                if name in self.world.sizes:
                    return self.world.sizes[name]
            case Literal(text) if text.isdigit():
                return int(text)
            case Binary("+" | "-" as op, left, right):
                one, other = self.place(left, env), self.place(right, env)
                return one + other if op == "+" else one - other
            case Cell(Name(name), (inner,)) if name in self.world.permutations:
                images = self.world.permutations[name][1]
                at = self.place(inner, env)
                if not 1 <= at <= len(images):
                    raise NoPlace
                return images[at - 1]
        raise Unreadable("a place")

    def places(self, name: str, trees: tuple[Tree, ...], env: Any) -> tuple[int, ...]:
        value = self.value(name)
        shape = value.data.shape if isinstance(value, Grid) else ()
        at = tuple(self.place(one, env) - 1 for one in trees)
        if len(at) != len(shape):
            raise Unreadable(f"places of {name}")
        if not all(0 <= k < length for k, length in zip(at, shape, strict=True)):
            raise NoPlace
        return at

    def evaluate(self, tree: Tree, env: Mapping[str, int], axes: Mapping[str, Any]) -> Any:
        """The value of a tree, an index in ``env`` being a number."""
        world = self.world
        match tree:
            case Literal(text):
                return mp.mpf(text)
            case Name(name):
                if name in env:
                    return mp.mpf(env[name])
                if name in world.sizes:
                    return mp.mpf(world.sizes[name])
                return +mp.pi if name == "pi" else self.value(name)
            case Negative(operand):
                return each(lambda x: -x, self.evaluate(operand, env, axes))
            case syntax.Transposed(operand):
                value = self.evaluate(operand, env, axes)
                if not isinstance(value, Grid):
                    return value
                if len(value.axes) == 1:
                    return Grid(value.data[None, :], (1, *value.axes))
                return Grid(value.data.T, value.axes[::-1])
            case Binary("@", left, right):
                return product(self.evaluate(left, env, axes), self.evaluate(right, env, axes))
            case Binary("*", left, right):
                return self._times(left, right, env, axes)
            case Binary(op, left, right):
                one, other = self.evaluate(left, env, axes), self.evaluate(right, env, axes)
                return pair(PAIRS[op], one, other)
            case syntax.Power(base, exponent):
                one = self.evaluate(base, env, axes)
                return pair(PAIRS["**"], one, self.evaluate(exponent, env, axes))
            case Cell(Name(name), places):
                value = self.value(name)
                found = value.data[self.places(name, places, env)]
                if found is None:
                    raise NoMeaning
                return found
            case Call("sum" | "mean" as function, (Name(index), *rest, body)):
                if rest:
                    body = Call(function, (*rest, body))
                axis = self.axis(index, body, axes)
                every = range(1, world.length(axis) + 1)
                found = mp.zero
                for at in every:
                    one = self.evaluate(body, {**env, index: at}, {**axes, index: axis})
                    found = pair(PAIRS["+"], found, one)
                return pair(PAIRS["/"], found, mp.mpf(len(every))) if function == "mean" else found
            case Call("delta", (left, right)):
                return mp.mpf(int(self.place(left, env) == self.place(right, env)))
            case Call("step", (Comparison((left, right), ("<" | "<=" as op,)),)):
                try:
                    one, other = self.place(left, env), self.place(right, env)
                except Unreadable:
                    one = self.evaluate(left, env, axes)
                    other = self.evaluate(right, env, axes)
                    if op == "<=" or (one != other and abs(one - other) <= NOTHING):
                        raise NoMeaning from None
                return mp.mpf(int(one < other or (op == "<=" and one == other)))
            case Call("diff", (of, Cell(Name(name), places))):
                return self._slope(of, env, axes, name, self.places(name, places, env))
            case Call("diff", (of, Name(name))):
                return self._gradient(of, env, axes, name)
            case Call("limit", (Name(name), target, body)):
                return self._limit(name, target, body, env, axes)
            case Call(function, arguments):
                return self._function(function, arguments, env, axes)
        raise Unreadable(str(tree))

    def _times(self, left: Tree, right: Tree, env: Any, axes: Any) -> Any:
        """A product; a step or delta that is 0 takes care of a place that does not exist."""
        sides: list[Any] = []
        for side in (left, right):
            try:
                sides.append(self.evaluate(side, env, axes))
            except NoPlace:
                sides.append(None)
        if any(one is None for one in sides):
            for tree, one in zip((left, right), sides, strict=True):
                rules = any(
                    isinstance(part, Call) and part.function in ("delta", "step")
                    for part in syntax.walk(tree)
                )
                if rules and not isinstance(one, Grid) and one == 0:
                    return mp.zero
            raise NoPlace
        return pair(PAIRS["*"], *sides)

    def _slope(self, of: Tree, env: Any, axes: Any, name: str, at: tuple[int, ...]) -> Any:
        high = self.moved(name, at, STEP).evaluate(of, env, axes)
        low = self.moved(name, at, -STEP).evaluate(of, env, axes)
        if self.world.edged:
            # Where it bends there is no derivative.
            bend = pair(PAIRS["-"], pair(PAIRS["+"], high, low), self._twice(of, env, axes))
            for one in np.ravel(bend.data) if isinstance(bend, Grid) else [bend]:
                if one is None or abs(one) > STEP * mp.mpf(10) ** -5:
                    raise NoMeaning
        return pair(lambda x, y: (x - y) / (2 * STEP), high, low)

    def _twice(self, of: Tree, env: Any, axes: Any) -> Any:
        return each(lambda x: 2 * x, self.evaluate(of, env, axes))

    def _gradient(self, of: Tree, env: Any, axes: Any, name: str) -> Any:
        value = self.value(name)
        if not isinstance(value, Grid):
            return self._slope(of, env, axes, name, ())
        slopes = {at: self._slope(of, env, axes, name, at) for at in np.ndindex(value.data.shape)}
        first = next(iter(slopes.values()))
        outer = first.data.shape if isinstance(first, Grid) else ()
        data = np.empty((*outer, *value.data.shape), dtype=object)
        for at, slope in slopes.items():
            if isinstance(slope, Grid):
                data[(..., *at)] = slope.data
            else:
                data[at] = slope
        return Grid(data, (*(first.axes if isinstance(first, Grid) else ()), *value.axes))

    def _limit(self, name: str, target: Tree, body: Tree, env: Any, axes: Any) -> Any:
        if self.world.shapes.get(name) != ():
            raise Unreadable("the limit in something else than a number")
        match target:
            case Name("oo"):
                ends = [1 / NEAR, 1 / NEAR**2]
            case Negative(Name("oo")):
                ends = [-1 / NEAR, -1 / NEAR**2]
            case _:
                end = self.evaluate(target, {}, {})
                ends = [end + NEAR, end + NEAR / 64]
        far, close = (self.with_(name, one).evaluate(body, env, axes) for one in ends)
        if abs(far - close) > SMALL * (1 + abs(close)):
            raise NoMeaning
        # As near to 0 as it was looked at is 0.
        return mp.zero if abs(close) < mp.mpf(10) ** -25 else close

    def _function(self, function: str, arguments: Any, env: Any, axes: Any) -> Any:
        if function in EACH:
            (one,) = arguments
            return each(EACH[function], self.evaluate(one, env, axes))
        if function in ("eye", "ones", "zeros"):
            named = [one.name if isinstance(one, Name) else int(one.text) for one in arguments]
            if function == "eye":
                named *= 2
            shape = tuple(map(self.world.length, named))
            data = np.full(shape, mp.mpf(int(function == "ones")), dtype=object)
            if function == "eye":
                data[np.diag_indices(shape[0])] = mp.one
            return Grid(data, tuple(named))
        if len(arguments) != 1:
            raise Unreadable(f"{function} of {len(arguments)}")
        value = self.evaluate(arguments[0], env, axes)
        if not isinstance(value, Grid):
            raise Unreadable(f"{function} of a number")
        return reduced(function, value)


def bound(tree: Tree) -> list[str]:
    """The indices of a sum."""
    match tree:
        case Call("sum" | "mean", (_, *_, _) as found):
            return [one.name for one in found[:-1] if isinstance(one, Name)]
    return []


def _apart(plainly: bool):
    """How far two numbers are apart: plainly, or beside their size."""

    def function(x, y):
        if x is None or y is None:
            raise NoMeaning
        return x - y if plainly else (x - y) / (1 + abs(x) + abs(y))

    return function


def _stem(place: Tree) -> str:
    """The index that a place is counted from."""
    match place:
        case Name(name):
            return name
        case Binary(_, Name(name), Literal()) | Binary(_, Literal(), Name(name)):
            return name
    return ""
