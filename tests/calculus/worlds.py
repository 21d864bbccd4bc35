"""Numbers for all that a derivation file speaks of."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from symattn.expressions import syntax
from symattn.expressions.syntax import Cell, Comparison, Name, Tree

from .grids import Grid, NoMeaning, Unreadable, mp
from .states import STEP, State


def comparison(text: str) -> Comparison:
    """What a line or a hypothesis says. Raises :class:`Unreadable` where it has no sides."""
    tree = syntax.parse(text, letters=True)
    if not isinstance(tree, Comparison):
        raise Unreadable("no sides")
    return tree


def head(tree: Tree) -> tuple[str, list[str] | None]:
    """The name of an array, and the indices of an entry."""
    match tree:
        case Name(name):
            return name, None
        case Cell(Name(name), places):
            return name, [one.name for one in places if isinstance(one, Name)]
    raise Unreadable("no array")


class World:
    """Numbers for all that a document speaks of, at one choice of sizes.

    At the edge (``edged``) they are 0, 1 and -1, and many are alike.
    """

    def __init__(
        self,
        document: Mapping[str, Any],
        sizes: Mapping[str, int],
        seed: int,
        edged: bool = False,
    ) -> None:
        rng = random.Random(seed)
        self.edged = edged
        self.sizes = dict(sizes)
        self.permutations: dict[str, tuple[str | int, list[int]]] = {}
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
        self.hypotheses = [*map(comparison, texts)]
        above = {head(one.operands[0])[0] for one in self.hypotheses if one.relations == (">",)}
        kind = seed % 3
        alike = mp.mpf(rng.randint(1, 2)) if edged and seed % 4 == 3 else None
        self.given: dict[str, Any] = {}
        for name, axes in self.shapes.items():
            data = np.empty(tuple(map(self.length, axes)), dtype=object)
            for at in np.ndindex(data.shape):
                number = mp.mpf(rng.randint(200, 2000)) / 997
                if alike is not None:
                    number = alike
                elif edged and rng.random() < 0.8:
                    number = mp.mpf(rng.choice((1, 1, 2) if name in above else (0, 0, 0, 1)))
                if name not in above and (kind == 0 or (kind == 2 and rng.random() < 0.5)):
                    number = -number
                data[at] = number
            self.given[name] = Grid(data, axes) if axes else data[()]
        self.defined: dict[str, tuple[list[str] | None, Tree]] = {}
        for key, text in document.get("define", {}).items():
            name, indices = head(syntax.parse(key, letters=True))
            self.defined[name] = indices, syntax.parse(text, letters=True)
        self.losses = {
            name: (of, rng.randint(0, 10**9)) for name, of in document.get("losses", {}).items()
        }
        self._uses: dict[str, frozenset[str]] = {}
        self.state = State(self)
        if any(one.relations == ("==",) for one in self.hypotheses):
            self._assume()
        for name in above & self.given.keys():
            value = self.given[name]
            if any(
                one <= 0 for one in np.ravel(value.data if isinstance(value, Grid) else [value])
            ):
                raise NoMeaning

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
                for one in syntax.names(self.defined[name][1]):
                    found |= self.uses(one)
            self._uses[name] = frozenset(found)
        return self._uses[name]

    def _assume(self) -> None:
        """Move the givens until the equations assumed hold: the steps of Gauss and Newton."""
        equations = [one for one in self.hypotheses if one.relations == ("==",)]
        named = {name for one in equations for name in syntax.names(one)}
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
            found: list[Any] = []
            for one in equations:
                for apart in state.differences(one, every=True):
                    found.extend(np.ravel(apart.data) if isinstance(apart, Grid) else [apart])
            return found

        rests: list[Any] = []
        for _ in range(60):
            now = residuals(self.state)
            rests.append(max(map(abs, now)))
            if rests[-1] < mp.mpf(10) ** -100:
                self._round(places)
                return
            if len(rests) > 6 and rests[-1] > rests[-6] / 2:
                raise NoMeaning
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
