"""What is put in for letters: arrays by the name of what is given, entries by their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy

from symattn import syntax
from symattn.errors import Faults, Malformed, expected, short
from symattn.numbers.arrays import FloatEntries, as_array
from symattn.numbers.reading import MASKED, Masked, read_entry
from symattn.numbers.rows import read_each, shape_of
from symattn.numbers.sympy_bridge import to_sympy
from symattn.shapes import Shape, chosen, grid, rows_at, show

Expr: TypeAlias = sympy.Expr

_ARRAYS = (sympy.MatrixExpr, sympy.IndexedBase)
#: What is no real number.
_NOT_FINITE = (sympy.oo, -sympy.oo, sympy.zoo, sympy.nan)
NOT_REAL = (*_NOT_FINITE, sympy.I)


@dataclass(frozen=True)
class GivenLetters:
    """A given quantity, or the upstream gradient, and its letters by rows of the grid;
    a masked score has none."""

    name: str
    shape: Shape
    letters: tuple[tuple[Expr | Masked, ...], ...]

    @property
    def all(self) -> Iterator[Expr]:
        """Every letter."""
        return (letter for letter in chain(*self.letters) if not isinstance(letter, Masked))

    def paired(self, rows: Any) -> Iterator[tuple[Expr, Any]]:
        """Each letter with the entry of ``rows`` in its place."""
        entries = zip(chain(*self.letters), chain(*rows), strict=True)
        return (pair for pair in entries if not isinstance(pair[0], Masked))

    def need(self, shape: Shape) -> None:
        """Raise :class:`Malformed` for another shape; a vector may be a matrix of one row."""
        is_other = len(shape) > 2 or grid(shape) != grid(self.shape)
        if shape != self.shape and is_other:
            raise Malformed(f"expected {show(self.shape)}, found {show(shape)}")

    def need_masks(self, is_masked: npt.NDArray[np.bool_]) -> None:
        """Raise :class:`Malformed` where other scores are masked than those of the case."""
        known = np.array([[isinstance(x, Masked) for x in row] for row in self.letters])
        for i, j in np.argwhere(known != is_masked.reshape(known.shape)).tolist():
            found = "-inf, which masks a score that the case does not mask"
            if known[i, j]:
                found = "a number, but the case masks this score with -inf"
            raise Malformed(f"entry {i}, {j}: found {found}")

    def read(self, values: Any) -> Iterator[tuple[Expr, Expr]]:
        """What an array of exact numbers and expressions puts in for the letters."""
        self.need(shape_of(values))
        _, rows = read_each(values, expression)
        self.need_masks(np.array([[isinstance(x, Masked) for x in row] for row in rows]))
        return self.paired(rows)

    def floats(self, values: Any) -> Iterator[tuple[Expr, float]]:
        """What an array of real numbers puts in for the letters."""
        floats = _floats(values)
        self.need(floats.shape)
        if not (np.isfinite(floats) | np.isneginf(floats)).all():
            raise Malformed("expected finite numbers, found infinity or NaN")
        self.need_masks(np.isneginf(floats))
        return self.paired(floats.reshape(grid(self.shape)).tolist())

    def letter(self, keys: tuple[syntax.Key, ...]) -> Expr:
        """The letter at a place."""
        numbers = [key for key in keys if isinstance(key, int)]
        if len(numbers) != len(keys) or len(keys) != len(self.shape):
            example = ", ".join("0" * len(self.shape))
            place = f"{self.name}[{example}]" if example else self.name
            raise Malformed(f"expected the place of one entry, such as {place}")
        _, places = chosen(self.shape, numbers)
        letter = self.letters[rows_at(self.shape, places)[0]][places[-1][0]]
        if isinstance(letter, Masked):
            raise Malformed("the case masks this score with -inf")
        return letter


def _floats(values: Any) -> npt.NDArray[np.float64]:
    """An array of real numbers in double precision."""
    try:
        array = values.array if isinstance(values, FloatEntries) else as_array(values)
        array = np.asarray(values) if array is None else array
        if array.dtype.kind in "iuf":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise Malformed(f"expected an array of real numbers, found {short(repr(values))}")


@dataclass(frozen=True)
class Givens:
    """What can be put in; ``known`` tells the name that results have of any other one, None for
    what is no name."""

    given: Mapping[str, GivenLetters]
    known: Callable[[str], str | None]

    def called(self, name: str) -> GivenLetters:
        """What has that name, else :class:`Malformed`.

        >>> d_k = GivenLetters("d_k", (), ((sympy.Symbol("d_k"),),))
        >>> Givens({"d_k": d_k}, {"S": "S"}.get).called("S")
        Traceback (most recent call last):
        ...
        symattn.errors.Malformed: S is computed: expected one of d_k
        """
        known = self.known(name)
        if known is None:
            raise Malformed(f"unknown name {short(name)!r}: {expected(name, self.given)}")
        if known not in self.given:
            raise Malformed(f"{known} is computed: {expected('', self.given)}")
        return self.given[known]

    def put(self, values: Iterable[tuple[Any, Any]]) -> dict[Expr, Expr]:
        """What is put in for which letter: arrays by a name, entries by a place, ``"Q[0, 1]"``
        or SymPy's letter of it. :class:`Malformed` with every fault."""
        faults, found = Faults(), dict[Expr, Expr]()
        for key, value in values:
            with faults.inside(short(str(key))):
                for letter, entry in self._read(key, value):
                    if letter in found:
                        raise Malformed(f"{letter} is put in twice")
                    found[letter] = entry
        faults.raise_all()
        return found

    def _read(self, key: object, value: object) -> Iterator[tuple[Expr, Expr]]:
        if not isinstance(key, str | sympy.Basic):
            raise Malformed("expected a name such as 'Q', or a place such as 'Q[0, 1]'")
        name = str(key)
        tree = None if self.known(name) else syntax.parse(name)
        if not isinstance(tree, syntax.Indexed):
            return self.called(name).read(value)
        letter = self.called(syntax.text(tree.operand)).letter(tree.keys)
        entry = expression(value)
        if isinstance(entry, Masked):
            raise Malformed("-inf masks a score that the case does not mask")
        return iter([(letter, entry)])

    def floats(self, values: Mapping[str, Any]) -> dict[Expr, float]:
        """Floats that are put in for letters, by the names of arrays; :class:`Malformed`
        with every fault."""
        faults, found = Faults(), dict[Expr, float]()
        for name, value in values.items():
            with faults.inside(short(str(name))):
                given = self.called(str(name))
                if any(x in found for x in chain(*given.letters)):
                    raise Malformed(f"{given.name} is put in twice")
                found |= given.floats(value)
        faults.raise_all()
        return found


def expression(entry: Any) -> Expr | Masked:
    """An exact number, or text of one, as SymPy's; an expression of SymPy's as it is.
    :class:`Malformed` for the rest, floats and expressions with floats among it.

    >>> expression("sqrt(2) / 4"), expression(sympy.Symbol("a") + 1)
    (sqrt(2)/4, a + 1)
    """
    if not isinstance(entry, sympy.Basic):
        value = read_entry(entry, symbols=True)
        return value if isinstance(value, Masked) else to_sympy(value)
    if entry == -sympy.oo:
        return MASKED
    if not isinstance(entry, sympy.Expr) or isinstance(entry, _ARRAYS):
        raise Malformed(f"expected a number or an expression, found {type(entry).__name__}")
    for number in entry.atoms(sympy.Float):
        raise Malformed(f"{number} is a float, not an exact number: write a Rational")
    if entry.has(*_NOT_FINITE):
        raise Malformed(f"expected a finite number, found {entry}")
    return entry
