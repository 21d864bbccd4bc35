"""An evaluator of lines in numbers, written for the tests alone.

It shares the trees of :mod:`symattn.syntax` with the package, and nothing else:
whole arrays in mpmath with 120 digits, derivatives by central differences, limits
by numbers close to the end. It decides whether a line is false.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from symattn import syntax
from symattn.syntax import Binary, Call, Cell, Comparison, Literal, Name, Negative, Tree

mp = mpmath.mp.clone()
mp.dps = 120
#: How far entries are moved for a difference, and how much of a difference counts.
STEP = mp.mpf(10) ** -25
SMALL = mp.mpf(10) ** -20
NEAR = mp.mpf(10) ** -30
#: What is as good as 0 where it is divided by.
NOTHING = mp.mpf(10) ** -90


class NoMeaning(Exception):
    """Nothing is said at this point: a denominator is 0, a place does not exist."""


class Unreadable(Exception):
    """The line is not in the language."""


@dataclass(frozen=True)
class Grid:
    """An array with the names of its axes."""

    data: Any
    axes: tuple[str | int, ...]


def _log(x):
    if x <= NOTHING:
        raise NoMeaning
    return mp.log(x)


def _root(x):
    if x < 0:
        raise NoMeaning
    return mp.sqrt(x)


def _sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def _quotient(x, y):
    if abs(y) <= NOTHING:
        raise NoMeaning
    return x / y


def _power(x, y):
    if y == int(y):
        return _quotient(mp.one, x ** -int(y)) if y < 0 else x ** int(y)
    if x < 0 or (x == 0 and y < 0):
        raise NoMeaning
    return x**y


def _relu(x):
    if x == 0:
        raise NoMeaning
    return max(x, mp.zero)


EACH = {
    "exp": mp.exp,
    "log": _log,
    "sqrt": _root,
    "sin": mp.sin,
    "cos": mp.cos,
    "tanh": mp.tanh,
    "sigmoid": _sigmoid,
    "softplus": lambda x: mp.log(1 + mp.exp(x)),
    "silu": lambda x: x * _sigmoid(x),
    "relu": _relu,
    "erf": mp.erf,
    "gelu": lambda x: x * (1 + mp.erf(x / mp.sqrt(2))) / 2,
}
PAIRS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": _quotient,
    "**": _power,
}


def each(function, grid):
    """A function at every entry."""
    if not isinstance(grid, Grid):
        return function(grid)
    found = np.empty(grid.data.shape, dtype=object)
    for at in np.ndindex(found.shape):
        found[at] = None if grid.data[at] is None else function(grid.data[at])
    return Grid(found, grid.axes)


def fitted(left, right):
    """Two grids with as many axes; a vector is a column, or a row where only that fits."""
    if len(left.axes) < len(right.axes):
        second, first = fitted(right, left)
        return first, second
    if len(left.axes) == 2 and len(right.axes) == 1:
        if left.axes[0] == right.axes[0]:
            right = Grid(right.data[:, None], (right.axes[0], 1))
        else:
            right = Grid(right.data[None, :], (1, right.axes[0]))
            if left.axes == (1, 1):
                raise Unreadable("a vector beside one entry")
    while len(right.axes) < len(left.axes):
        right = Grid(right.data[None], (1, *right.axes))
    for one, other in zip(left.axes, right.axes, strict=True):
        if one != other and 1 not in (one, other):
            raise Unreadable(f"shapes {left.axes} and {right.axes}")
    return left, right


def pair(function, left, right):
    """Two values combined entry by entry."""
    if not isinstance(left, Grid) and not isinstance(right, Grid):
        return function(left, right)
    if not isinstance(left, Grid):
        return each(lambda y: function(left, y), right)
    if not isinstance(right, Grid):
        return each(lambda x: function(x, right), left)
    left, right = fitted(left, right)
    one, other = np.broadcast_arrays(left.data, right.data)
    found = np.empty(one.shape, dtype=object)
    for at in np.ndindex(found.shape):
        found[at] = function(one[at], other[at])
    axes = zip(left.axes, right.axes, strict=True)
    return Grid(found, tuple(b if a == 1 else a for a, b in axes))


def bound(tree: Tree) -> list[str]:
    """The indices of a sum."""
    match tree:
        case Call("sum" | "mean", (_, *_, _) as found):
            return [one.name for one in found[:-1] if isinstance(one, Name)]
    return []


class World:
    """Numbers for all that a document speaks of, at one choice of sizes."""

    def __init__(self, document: Mapping[str, Any], sizes: Mapping[str, int], seed: int) -> None:
        rng = random.Random(seed)
        self.sizes = dict(sizes)
        self.permutations = {}
        for by, (name, axis) in enumerate(document.get("permutations", {}).items(), 1):
            images = [*range(1, self.length(axis) + 1)]
            if seed == 2:
                # One that is not its own inverse.
                images = [*images[by:], *images[:by]]
            else:
                rng.shuffle(images)
            self.permutations[name] = (axis, images)
        self.shapes = {name: tuple(axes) for name, axes in document.get("shapes", {}).items()}
        texts = document.get("hypotheses", [])
        self.hypotheses = [syntax.parse(one, letters=True) for one in texts]
        above = {
            tree.operands[0].operand.name
            if isinstance(tree.operands[0], Cell)
            else tree.operands[0].name
            for tree in self.hypotheses
            if tree.relations == (">",)
        }
        kind = seed % 3
        self.given = {}
        for name, axes in self.shapes.items():
            data = np.empty(tuple(map(self.length, axes)), dtype=object)
            for at in np.ndindex(data.shape):
                number = mp.mpf(rng.randint(200, 2000)) / 997
                if name not in above and (kind == 0 or (kind == 2 and rng.random() < 0.5)):
                    number = -number
                data[at] = number
            self.given[name] = Grid(data, axes) if axes else data[()]
        self.defined: dict[str, tuple[list[str] | None, Tree]] = {}
        for key, text in document.get("define", {}).items():
            head = syntax.parse(key, letters=True)
            tree = syntax.parse(text, letters=True)
            if isinstance(head, Cell):
                self.defined[head.operand.name] = ([one.name for one in head.places], tree)
            else:
                self.defined[head.name] = (None, tree)
        self.losses = {
            name: (of, rng.randint(0, 10**9)) for name, of in document.get("losses", {}).items()
        }
        self._uses: dict[str, frozenset[str]] = {}
        self.state = State(self)
        if any(one.relations == ("==",) for one in self.hypotheses):
            self._assume()

    def length(self, axis: str | int) -> int:
        return axis if isinstance(axis, int) else self.sizes[axis]

    def known(self, name: str) -> bool:
        return (
            name in self.shapes
            or name in self.defined
            or name in self.losses
            or name in self.sizes
            or name in self.permutations
            or name == "pi"
        )

    def uses(self, name: str) -> frozenset[str]:
        """All that an array is computed from, and itself."""
        if name not in self._uses:
            self._uses[name] = frozenset({name})
            found = {name}
            if name in self.losses:
                found |= self.uses(self.losses[name][0])
            elif name in self.defined:
                for one in names_in(self.defined[name][1]):
                    found |= self.uses(one)
            self._uses[name] = frozenset(found)
        return self._uses[name]

    def _assume(self) -> None:
        """Move the givens until the equations assumed hold: the steps of Gauss and Newton."""
        equations = [one for one in self.hypotheses if one.relations == ("==",)]
        named = set().union(*(names_in(one) for one in equations))
        places = [
            (name, at)
            for name in sorted(named & self.given.keys())
            for at in (
                np.ndindex(self.given[name].data.shape)
                if isinstance(self.given[name], Grid)
                else [()]
            )
        ]

        def residuals(state: State) -> list[Any]:
            found = []
            for one in equations:
                for apart in state.differences(one, every=True):
                    found.extend(np.ravel(apart.data) if isinstance(apart, Grid) else [apart])
            return found

        for _ in range(60):
            now = residuals(self.state)
            if max(map(abs, now)) < mp.mpf(10) ** -100:
                self._round(places)
                return
            slopes = [
                [
                    (a - b) / STEP
                    for a, b in zip(residuals(self.state.moved(*place, STEP)), now, strict=True)
                ]
                for place in places
            ]
            matrix = np.linalg.pinv(np.array(slopes, dtype=float).T, rcond=1e-9)
            for (name, at), row in zip(places, matrix, strict=True):
                step = mp.fsum(mp.mpf(x) * y for x, y in zip(row, now, strict=True))
                if at:
                    self.given[name].data[at] -= step
                else:
                    self.given[name] -= step
            self.state = State(self)
        raise NoMeaning

    def _round(self, places: list[Any]) -> None:
        """Make whole numbers of what is as good as whole."""
        for name, at in places:
            value = self.given[name].data[at] if at else self.given[name]
            near = mp.nint(value)
            if abs(value - near) < mp.mpf(10) ** -60:
                if at:
                    self.given[name].data[at] = near
                else:
                    self.given[name] = near
        self.state = State(self)


def names_in(tree: Tree) -> set[str]:
    """All names in a tree."""
    return set(syntax.names(tree))


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
        found, linked = set(), set()
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
                    raise NoMeaning
                return images[at - 1]
        raise Unreadable("a place")

    def places(self, name: str, trees: tuple[Tree, ...], env: Any) -> tuple[int, ...]:
        value = self.value(name)
        shape = value.data.shape if isinstance(value, Grid) else ()
        at = tuple(self.place(one, env) - 1 for one in trees)
        if len(at) != len(shape):
            raise Unreadable(f"places of {name}")
        if not all(0 <= k < length for k, length in zip(at, shape, strict=True)):
            raise NoMeaning
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
                return _product(self.evaluate(left, env, axes), self.evaluate(right, env, axes))
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
                    if one == other or op == "<=":
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

    def _slope(self, of: Tree, env: Any, axes: Any, name: str, at: tuple[int, ...]) -> Any:
        high = self.moved(name, at, STEP).evaluate(of, env, axes)
        low = self.moved(name, at, -STEP).evaluate(of, env, axes)
        return pair(lambda x, y: (x - y) / (2 * STEP), high, low)

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
        return close

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
        return _whole(function, value)


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


def _product(left: Any, right: Any) -> Any:
    if not isinstance(left, Grid) or not isinstance(right, Grid):
        raise Unreadable("@ of a number")
    one, other = left, right
    if len(one.axes) == 1 and len(other.axes) == 2 and other.axes[0] == 1:
        one = Grid(one.data[:, None], (*one.axes, 1))
    if one.axes[-1] != other.axes[max(len(other.axes) - 2, 0)]:
        raise Unreadable("@ of shapes that don't fit")
    if len(other.axes) > 2:
        if one.axes[:-2] != other.axes[:-2] or len(one.axes) != 3:
            raise Unreadable("@ of many axes")
        data = np.array([a @ b for a, b in zip(one.data, other.data, strict=True)], dtype=object)
        return Grid(data, (*one.axes[:-1], other.axes[-1]))
    found = one.data @ other.data
    axes = (*one.axes[:-1], *other.axes[1:])
    if axes in ((), (1,)):
        return found if axes == () else found[0]
    return Grid(found, axes)


def _whole(function: str, value: Grid) -> Any:
    data, axes = value.data, value.axes
    match function, len(axes):
        case "softmax", _:
            powers = each(mp.exp, value).data
            return Grid(powers / powers.sum(axis=-1, keepdims=True), axes)
        case "logsumexp", 1:
            return mp.log(each(mp.exp, value).data.sum())
        case "logsumexp", _:
            powers = each(mp.exp, value).data.sum(axis=-1, keepdims=True)
            return each(mp.log, Grid(powers, (*axes[:-1], 1)))
        case "rowsum", 2:
            return Grid(data.sum(axis=1, keepdims=True), (axes[0], 1))
        case "colsum", 2:
            return Grid(data.sum(axis=0, keepdims=True), (1, axes[1]))
        case (("total" | "sum"), _):
            return data.sum()
        case "mean", _:
            return data.sum() / data.size
        case "trace", 2 if axes[0] == axes[1]:
            return np.trace(data)
        case "diag", 1:
            found = np.full((data.size, data.size), mp.zero, dtype=object)
            found[np.diag_indices(data.size)] = data
            return Grid(found, (axes[0], axes[0]))
        case "diag", 2 if axes[0] == axes[1]:
            return Grid(np.diag(data), axes[:1])
    raise Unreadable(f"{function} of {axes}")


class Judge:
    """Says of the lines of one document whether they are false."""

    def __init__(self, document: Mapping[str, Any], tries: int = 7) -> None:
        self.document = document
        self._worlds: dict[int, World | None] = {}
        self._tries = 2 * tries if document.get("permutations") else tries

    def _world(self, number: int) -> World | None:
        if number not in self._worlds:
            names = self.document.get("sizes", [])
            rng = random.Random(number)
            if number == 0:
                sizes = dict.fromkeys(names, 2)
            elif number == 1:
                sizes = {name: 2 + k % 3 for k, name in enumerate(names)}
            elif number == 2:
                most = (5, 5, 4, 3)[len(names)] if len(names) < 4 else 1
                sizes = dict.fromkeys(names, most)
            elif number == 3:
                sizes = dict.fromkeys(names, 1)
            else:
                sizes = {name: rng.randint(1, 4 if len(names) < 4 else 3) for name in names}
            try:
                self._worlds[number] = World(self.document, sizes, number)
            except NoMeaning:
                self._worlds[number] = None
        return self._worlds[number]

    def is_false(self, line: str) -> bool | None:
        """Whether a line is false; None where it has no meaning at any point tried.

        Raises :class:`Unreadable`.
        """
        tree = syntax.parse(line, letters=True)
        if not isinstance(tree, Comparison):
            raise Unreadable("no sides")
        seen = False
        for number in range(self._tries):
            world = self._world(number)
            if world is None:
                continue
            try:
                for apart in world.state.differences(tree):
                    seen = True
                    every = np.ravel(apart.data) if isinstance(apart, Grid) else [apart]
                    if any(abs(one) > SMALL for one in every):
                        return True
            except NoMeaning:
                continue
            except OverflowError:
                continue
        return False if seen else None
