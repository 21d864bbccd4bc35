"""An evaluator of index expressions in floating point, written for the tests alone.

It shares no code with the evaluators of the package: sums and counts are loops,
derivatives complex steps, limits large or small numbers, expected values means
over all signs.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping
from itertools import combinations, product

import numpy as np

from symattn.proofs import language as term
from symattn.proofs.language import Expr, Image, Index, Position, Size
from symattn.proofs.matrices import Array
from symattn.proofs.structure import free_indices

STEP = 1e-30
NEAR = {"0": 1e-13, "oo": 300.0, "-oo": -300.0}


class Floats:
    """Index expressions at one size and at random values of the given arrays."""

    def __init__(self, sizes: Mapping[str, int], seed: int = 0) -> None:
        self.sizes = dict(sizes)
        self._random = np.random.default_rng(seed)
        self._drawn: dict[tuple[str, tuple[int, ...]], complex] = {}
        self._set: dict[tuple[Array, tuple[int, ...]], complex] = {}
        self._known: dict[tuple[Array, tuple[int, ...]], complex] = {}
        self._signed: dict[tuple[str, tuple[int, ...]], float] = {}

    def __call__(self, value: Expr, env: Mapping[Index, int]) -> complex:
        match value:
            case term.Number(number):
                return complex(number)
            case term.Size(name):
                return self.sizes[name]
            case term.Sqrt(size):
                return math.sqrt(self.sizes[size.name])
            case term.Entry(array, at):
                return self.entry(array, tuple(self._place(one, env) for one in at))
            case term.Add(parts):
                return sum((self(part, env) for part in parts), 0j)
            case term.Neg(body):
                return -self(body, env)
            case term.Mul(parts):
                return complex(np.prod([self(part, env) for part in parts]))
            case term.Div(above, below):
                return self(above, env) / self(below, env)
            case term.Power(base, exponent):
                return self(base, env) ** exponent
            case term.Exp(body):
                return cmath.exp(self(body, env))
            case term.Log(body):
                return cmath.log(self(body, env))
            case term.Sum(index, body):
                return sum((self(body, {**env, index: at}) for at in self.range(index)), 0j)
            case term.PairSum(first, second, body):
                pairs = combinations(self.range(first), 2)
                return sum((self(body, {**env, first: a, second: b}) for a, b in pairs), 0j)
            case term.Delta(first, second):
                return float(self._place(first, env) == self._place(second, env))
            case term.AtMost(first, second):
                return float(self._place(first, env) <= self._place(second, env))
            case term.Partial(of, wrt):
                key = wrt.array, tuple(self._place(one, env) for one in wrt.at)
                return self._at(key, self.entry(*key) + 1j * STEP, of, env).imag / STEP
            case term.Limit(body, variable, target):
                return self._at((variable.array, ()), NEAR[target], body, env)
            case term.Mean(body):
                return self._mean(body, env)
            case term.Count(arrays):
                return float(sum(self._all_operations(array) for array in arrays))
        raise NotImplementedError(type(value).__name__)

    def differ(self, left: Expr, right: Expr) -> bool:
        """Whether two expressions differ at some place by more than rounding."""
        for env in self.everywhere(free_indices(left, right)):
            one, other = self(left, env), self(right, env)
            if abs(one - other) > 1e-9 * (1 + abs(one)):
                return True
        return False

    def everywhere(self, indices) -> list[dict[Index, int]]:
        """All places that some indices can take together."""
        ranges = [self.range(index) for index in indices]
        return [dict(zip(indices, places, strict=True)) for places in product(*ranges)]

    def range(self, index: Index) -> range:
        return range(1, self.sizes[index.size.name] + 1)

    def entry(self, array: Array, at: tuple[int, ...]) -> complex:
        if (array, at) in self._set:
            return self._set[array, at]
        if array.body is not None:
            if (array, at) not in self._known:
                env = dict(zip(array.params, at, strict=True))
                self._known[array, at] = self(array.body, env)
            return self._known[array, at]
        if array.kind == "random":
            return self._signed[array.name, at]
        if (array.name, at) not in self._drawn:
            draw = float(self._random.uniform(0.2, 1.2))
            if array.kind == "binary":  # Each row keeps its first key.
                draw = float(draw > 0.7 or at[-1] == 1)
            self._drawn[array.name, at] = draw
        return self._drawn[array.name, at]

    def _place(self, position: Position, env: Mapping[Index, int]) -> int:
        match position:
            case Index():
                return env[position]
            case Image(_, index):
                return env[index] % self.sizes[index.size.name] + 1
            case Size(name):
                return self.sizes[name]
        return position

    def _at(self, key, value: complex, body: Expr, env: Mapping[Index, int]) -> complex:
        known, self._known = self._known, {}
        self._set[key] = value
        found = self(body, env)
        del self._set[key]
        self._known = known
        return found

    def _mean(self, body: Expr, env: Mapping[Index, int]) -> complex:
        """Over all signs of q and k, which have mean 0 and variance 1."""
        keys = [(name, (c,)) for name in "qk" for c in range(1, self.sizes["d_k"] + 1)]
        found = []
        for signs in product((-1.0, 1.0), repeat=len(keys)):
            self._signed, self._known = dict(zip(keys, signs, strict=True)), {}
            found.append(self(body, env))
        self._known = {}
        return complex(np.mean(found))

    def _all_operations(self, array: Array) -> int:
        body = array.body
        assert body is not None
        return sum(self._operations(body, env) for env in self.everywhere(array.params))

    def _operations(self, value: Expr, env: Mapping[Index, int]) -> int:
        match value:
            case term.Add(parts) | term.Mul(parts):
                return len(parts) - 1 + sum(self._operations(part, env) for part in parts)
            case term.Div(above, below):
                return 1 + self._operations(above, env) + self._operations(below, env)
            case term.Exp(body):
                return 1 + self._operations(body, env)
            case term.Neg(body):
                return self._operations(body, env)
            case term.Sum(index, body) | term.Largest(index, body):
                counts = [self._operations(body, {**env, index: at}) for at in self.range(index)]
                return sum(counts) + len(counts) - 1
        return 0
