"""Whole numbers drawn by a seed: the same on every machine, whatever runs there.

The words are those of SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, *Fast
splittable pseudorandom number generators*, OOPSLA 2014), which is arithmetic on
64-bit integers and nothing else.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_MASK = (1 << 64) - 1


class Draws:
    """Draws numbers, each call the next ones.

    >>> [hex(word) for word in Draws(0).words(2).tolist()]
    ['0xe220a8397b1dcdaf', '0x6e789e6aa1b965f4']
    >>> Draws(7).below(6, (2, 4)).tolist()
    [[2, 0, 5, 3], [2, 1, 2, 1]]
    """

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """The next words of 64 bits."""
        with np.errstate(over="ignore"):
            steps = np.arange(1, count + 1, dtype=np.uint64)
            z = np.uint64(self._state) + steps * _GAMMA
            self._state = (self._state + count * int(_GAMMA)) & _MASK
            z = (z ^ (z >> np.uint64(30))) * _FIRST
            z = (z ^ (z >> np.uint64(27))) * _SECOND
            return np.asarray(z ^ (z >> np.uint64(31)))

    def below(self, bound: int, shape: tuple[int, ...]) -> Integers:
        """Whole numbers from 0 on below a bound of at most 32 bits."""
        high = self.words(int(np.prod(shape))) >> np.uint64(32)
        drawn = (high * np.uint64(bound)) >> np.uint64(32)
        return drawn.astype(np.int64).reshape(shape)
