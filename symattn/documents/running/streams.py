"""Seeded generators, and what functions draw from them where all versions in use draw the same.

NumPy's old functions are frozen (NEP 19). Those of ``default_rng`` may change; the methods here
have drawn the same 64 bits since NumPy 1.17 brought them, as its release notes tell. PyTorch's on
the CPU are those of ``ATen/core/DistributionsHelper.h`` and of ``normal_fill`` in
``ATen/native/cpu/DistributionTemplates.h``.
"""

from __future__ import annotations

import ast
import re
from cmath import rect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p, pi, prod, sqrt
from typing import Any

import numpy as np
from flint import arb

from symattn.documents.running.library import ATTRIBUTES, LIBRARY, plain, spread
from symattn.documents.running.numbers import Array, Lost, Scalar, array, ball, made, number, small
from symattn.documents.running.own import CALLS, METHODS
from symattn.numbers.balls import charge

#: Draws so many numbers of a kind, between bounds, or with a mean and a deviation.
Stream = Callable[[str, float, float, int], Sequence[Scalar]]

#: From so many on PyTorch draws normal numbers in blocks of as many. Their angles, of up to 2 pi,
#: are off by half a unit in the last place, 2^-22, and as much by that of pi.
_BLOCK, _OFF = 16, 2.0**-20
#: Whole numbers in larger ranges take 64 bits in some versions (pull request 143787 of PyTorch).
_RANGE = 1 << 24


def _numpy(source: np.random.RandomState | np.random.Generator) -> Stream:
    """A stream of NumPy."""
    names = {"whole": "randint" if isinstance(source, np.random.RandomState) else "integers"}

    def draw(kind: str, low: float, high: float, count: int) -> Sequence[Scalar]:
        found = getattr(source, names.get(kind, kind))(low, high, count).tolist()
        return [one if isinstance(one, int) else number(repr(one)) for one in found]

    return draw


class _Torch:
    """The stream of PyTorch on the CPU, of words of MT19937; its numbers have 32 bits."""

    def __init__(self, seed: int) -> None:
        self._source = np.random.RandomState(seed % 2**32)
        #: The second normal number of the last pair.
        self._spare: float | None = None

    def __call__(self, kind: str, low: float, high: float, count: int) -> Sequence[Scalar]:
        draw: Callable[[float, float, int], Sequence[Scalar]] = getattr(self, f"_{kind}")
        return draw(low, high, count)

    def _words(self, count: int) -> Any:
        return self._source.randint(0, 2**32, count, dtype=np.uint32).astype(int)

    def _shares(self, count: int) -> Any:
        return self._words(count) % 2**24 / 2**24

    def _uniform(self, low: float, high: float, count: int) -> Sequence[Scalar]:
        off = 0 if (low, high) == (0, 1) else _off(low) + _off(high)
        return [arb(low + (high - low) * x, off) for x in self._shares(count).tolist()]

    def _normal(self, mean: float, deviation: float, count: int) -> Sequence[Scalar]:
        found = [(0.0, 0.0)] * count
        if count < _BLOCK:
            found = [(x, 0.0) for x in map(self._next, found)]
        else:
            shares = self._shares(count)
            for start in range(0, count - _BLOCK + 1, _BLOCK):
                found[start : start + _BLOCK] = _block(shares[start : start + _BLOCK])
            if count % _BLOCK:
                # The last sixteen are drawn anew.
                found[-_BLOCK:] = _block(self._shares(_BLOCK))
        return [
            arb(mean + deviation * x, _off(mean) + deviation * (off + _off(x))) for x, off in found
        ]

    def _next(self, _: object) -> float:
        """The next normal number, of a pair that two shares of 53 bits make."""
        if self._spare is not None:
            found, self._spare = self._spare, None
            return found
        words = self._words(4).tolist()
        turn, share = ((x << 32 | y) % 2**53 / 2**53 for x, y in (words[:2], words[2:]))
        pair = rect(sqrt(-2 * log1p(-share)), 2 * pi * turn)
        self._spare = pair.imag
        return pair.real

    def _whole(self, low: float, high: float, count: int) -> Sequence[Scalar]:
        if not 0 < high - low <= _RANGE:
            raise Lost
        return [int(low) + x % int(high - low) for x in self._words(count).tolist()]

    def _order(self, low: float, high: float, count: int) -> Sequence[Scalar]:
        found = [*range(count)]
        for k, word in enumerate(self._words(max(count - 1, 0)).tolist()):
            other = k + word % (count - k)
            found[k], found[other] = found[other], found[k]
        return found


def _off(value: float) -> float:
    """Return how far the arithmetic of 32 bits may be off by a number of this size."""
    return abs(value) * 2.0**-22


def _block(shares: Any) -> list[tuple[float, float]]:
    """Sixteen normal numbers of as many shares, and how far each is off."""
    radius, angle = np.sqrt(-2 * np.log1p(-shares[:8])), 2 * pi * shares[8:]
    found = radius * np.exp(1j * angle)
    values = np.concatenate([found.real, found.imag])
    return [*zip(values.tolist(), (np.tile(radius, 2) * _OFF).tolist(), strict=True)]


#: By the path of a function that is given a seed: the stream that begins there.
SEEDED: Mapping[str, Callable[[int], Stream]] = {
    "numpy.random.seed": lambda seed: _numpy(np.random.RandomState(seed)),
    "numpy.random.RandomState": lambda seed: _numpy(np.random.RandomState(seed)),
    "numpy.random.default_rng": lambda seed: _numpy(np.random.Generator(np.random.PCG64(seed))),
    **{f"torch.{of}manual_seed": _Torch for of in ("", "random.", "Generator.")},
}

# -- what functions ask for ------------------------------------------------------------------

#: By the names of functions: how they draw, and what stands before the sizes.
_DRAWS: Mapping[str, tuple[str, Sequence[str]]] = {
    "rand random random_sample": ("uniform", ()),
    "randn standard_normal": ("normal", ()),
    "uniform": ("uniform", ("low", "high")),
    "normal": ("normal", ("low", "high")),
    "randint integers": ("whole", ("low", "high")),
    "rand_like": ("uniform", ("like",)),
    "randn_like": ("normal", ("like",)),
    "randperm": ("order", ("size",)),
}
DRAWS = {name: row for names, row in _DRAWS.items() for name in names.split()}
#: Other names of arguments: mean and deviation stand where others have their bounds.
_ALIASES = {
    "loc": "low", "mean": "low", "scale": "high", "std": "high", "n": "size", "input": "like",
    "shape": "size",
}  # fmt: skip
#: What changes no number: types and devices that functions have by themselves.
_USUAL = {
    "numpy": ("float", "float64", "int64", None),
    "torch": ("float", "float32", "long", "int64", "cpu", None),
}


@dataclass(frozen=True)
class Draw:
    """The numbers that are asked for; those that are not usual are drawn in other ways."""

    kind: str
    shape: tuple[int, ...]
    low: Any = None
    high: Any = None
    is_usual: bool = True
    is_torch: bool = False

    def of(self, stream: Stream) -> Any:
        """Return what a stream gives; raises any :class:`Exception` where that isn't sure."""
        if not self.is_usual:
            raise Lost
        low, high = (0 if one is None else _exact(one) for one in (self.low, self.high))
        if self.high is None:
            low, high = (0, low) if self.kind == "whole" else (low, 1)
        charge(count := small(prod(self.shape)))
        drawn = np.array(stream(self.kind, low, high, count), dtype=object)
        return made(drawn.reshape(self.shape), Array(drawn, self.is_torch))


def asked(name: str, given: Sequence[Any], keys: Mapping[str, Any], library: str) -> Draw:
    """Return what a call asks for; raises any :class:`Exception` where its shape isn't known."""
    kind, takes = DRAWS[name]
    if name == "randint" and library == "torch" and isinstance([*given, 0, 0][1], list | tuple):
        given = [0, *given]
    named = {_ALIASES.get(key, key): value for key, value in keys.items()}
    named |= dict(zip(takes, given, strict=False))
    if given[len(takes) :]:
        named["size"] = spread(given[len(takes) :])
    like = array(named.pop("like")) if "like" in takes else None
    told = like.shape if like is not None else plain(named.get("size"))
    shape = told if isinstance(told, tuple) else () if told is None else (told,)
    options = [named.pop(key, None) for key in ("dtype", "device")]
    is_usual = all(getattr(one, "name", one) in _USUAL.get(library, ()) for one in options)
    # What lies otherwise in memory is filled in another order, and other options have meanings.
    is_usual &= like is None or like.data.flags.c_contiguous
    is_usual &= named.keys() <= {"low", "high", "size", "requires_grad"}
    low, high = named.get("low"), named.get("high")
    return Draw(kind, shape, low, high, is_usual, library == "torch")


def _exact(value: Scalar) -> float:
    """A number as the nearest float; raises :class:`Lost` of one that isn't known so well."""
    if ball(value).rel_accuracy_bits() < 60:
        raise Lost
    return value if isinstance(value, int) else float(value.mid())


# -- what draws nothing ----------------------------------------------------------------------

#: Functions that draw nothing, as programs name them.
_STILL = re.compile(
    r"(?:np|numpy|jax|jnp|tf|tensorflow|pd|pandas|plt|matplotlib|sns|seaborn|plotly|ax\w*|fig\w*"
    r"|math|os|sys|time|json|warnings|copy|typing|collections|itertools|functools|dataclasses|tqdm"
    r"|IPython|super|isinstance|hasattr|type|id)\b(?!.*\.random\b)"
    r"|torch\.(?:cuda|mps|backends|device|linalg|fft|autograd|optim|use_|is_|set_grad|set_num)"
    r"|.*\.(?:backward|zero_grad|no_grad|inference_mode|set_printoptions|is_available|parameters"
    r"|allclose|topk|sort|argsort|unique|nonzero|eval|zero_|fill_|copy_|Parameter|finfo)\Z"
)
_METHODS = frozenset().union(*METHODS.values())


def is_still(function: str) -> bool:
    """Return whether a function draws nothing, by how it is named.

    >>> [is_still(name) for name in ("plt.plot", "np.random.shuffle", "F.dropout", "len")]
    [True, False, False, True]
    """
    name = function.rsplit(".", 1)[-1]
    if _STILL.match(function):
        return True
    # Attention may drop weights.
    tables = (LIBRARY, ATTRIBUTES, CALLS, _METHODS)
    return "attention" not in name and any(name in table for table in tables)


def may_draw(node: ast.AST) -> bool:
    """Return whether a statement may draw numbers: by a function, or from what it goes through."""
    return any(
        not is_still(ast.unparse(part.func))
        if isinstance(part, ast.Call)
        else isinstance(part, ast.For | ast.comprehension) and not isinstance(part.iter, ast.Call)
        for part in ast.walk(node)
    )
