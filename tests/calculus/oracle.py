"""An evaluator of lines in numbers, written for the tests alone.

It shares the trees of :mod:`symattn.expressions.syntax` with the package, and nothing else:
whole arrays (:mod:`.grids`), numbers for what a file speaks of (:mod:`.worlds`),
and the values of trees (:mod:`.states`). It decides whether a line is false.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from symattn.calculus.counterexamples import Counterexample
from symattn.expressions import syntax
from symattn.expressions.syntax import Comparison

from .grids import Grid, NoMeaning, mp
from .states import SMALL, State
from .worlds import World, comparison


class Judge:
    """Says of the lines of one document whether they are false."""

    def __init__(self, document: Mapping[str, Any], tries: int = 7, edges: int = 16) -> None:
        self.document = document
        self._worlds: dict[Any, World | None] = {}
        self._tries = 2 * tries if document.get("permutations") else tries
        self._edges = edges

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

    def _edge(self, number: int, sizes: Mapping[str, int]) -> World | None:
        """Numbers that are 0, or alike, at these sizes."""
        key = (number, *sizes.items())
        if key not in self._worlds:
            try:
                self._worlds[key] = World(self.document, sizes, number, edged=True)
            except NoMeaning:
                self._worlds[key] = None
        return self._worlds[key]

    def _every(self, tree: Comparison) -> Iterator[World]:
        """Worlds within, then those at the edge; sizes that the line names among them."""
        yield from filter(None, map(self._world, range(self._tries)))
        names = self.document.get("sizes", [])
        named = [
            int(part.text)
            for part in syntax.walk(tree)
            if isinstance(part, syntax.Literal) and part.text.isdigit() and 4 < int(part.text) < 12
        ]
        for number in range(self._edges):
            sizes = dict.fromkeys(names, 1 + number % 3)
            if named and names and number % 2:
                sizes[random.Random(number).choice(names)] = named[number % len(named)]
            if world := self._edge(number, sizes):
                yield world

    def is_false(self, line: str) -> bool | None:
        """Whether a line is false; None where it has no meaning at any point tried.

        Raises :class:`Unreadable`.
        """
        tree = comparison(line)
        seen = False
        for world in self._every(tree):
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

    def is_false_at(self, line: str, place: Counterexample) -> bool | None:
        """Whether a line is false at a counterexample's numbers; None where these don't say
        everything, or a side has no meaning there. Raises :class:`Unreadable`."""
        if self.document.get("losses") or self.document.get("random"):
            return None
        sizes = dict.fromkeys(self.document.get("sizes", []), 2) | dict(place.sizes)
        world = World({**self.document, "hypotheses": []}, sizes, 1)
        for name, value in place.values.items():
            array, _, at = name.partition("[")
            if name in world.permutations:
                axis, _ = world.permutations[name]
                world.permutations[name] = axis, [int(each) for each in value[1:-1].split(",")]
            elif not at:
                world.given[name] = mp.mpf(value)
            else:
                key = tuple(int(each) - 1 for each in at[:-1].split(","))
                world.given[array].data[key] = mp.mpf(value)
        tree, state = comparison(line), State(world)
        try:
            axes = {one: state.axis(one, tree, {}) for one in state.free(tree)}
            if place.indices.keys() == axes.keys():
                sides = [state.evaluate(one, place.indices, axes) for one in tree.operands]
                if not any(isinstance(one, Grid) for one in sides):
                    return any(abs(one - sides[0]) > SMALL for one in sides)
            every = [
                np.ravel(x.data if isinstance(x, Grid) else [x]) for x in state.differences(tree)
            ]
            return any(abs(one) > SMALL for each in every for one in each)
        except NoMeaning:
            return None
