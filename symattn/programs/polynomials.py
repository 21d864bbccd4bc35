"""Polynomials on the lattices of softmaxes: closed forms, whole matrices at a time.

Where scores are rational, every entry of attention and of its gradients is a numerator
over a power of its row's normaliser Z, or a sum of such quotients over all rows. The
numerators are polynomials (:mod:`~symattn.numbers.kronecker`); Z and a common whole
denominator stay apart until the normal form is asked for. What is not of that kind, or
takes longer, is not held, nor is what depends on it: None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, isqrt, lcm, prod
from typing import Any

from flint import arb, fmpq, fmpz, fmpz_mat

from symattn.limits import PACKED, PACKED_DEGREE, PACKED_DIGITS, PACKED_ENTRIES
from symattn.numbers.kronecker import (
    MOST,
    KroneckerLattice,
    NotPacked,
    PackedPart,
    PackedQuotient,
    are_added,
    cancelled,
    packed,
)
from symattn.numbers.reading import Masked
from symattn.numbers.tables import NumberTable
from symattn.numbers.values import Value, rational
from symattn.programs.nodes import FLOW, Node


@dataclass(frozen=True)
class Quotients:
    """All entries of a matrix: packed parts in normal form, over a whole number."""

    lattice: KroneckerLattice
    packed: Sequence[Sequence[Sequence[PackedPart]]]
    below: int

    def at(self, i: int, j: int, check: Callable[[arb], None]) -> Value:
        """Entry (i, j); ``check`` is given an enclosure of it before it is used."""
        quotient = PackedQuotient(self.lattice, self.packed[i][j], self.below, check)
        known = quotient.rational()
        return Value(quotient, ()) if known is None else rational(known)


@dataclass(frozen=True)
class Polynomials:
    """Numerators over ``below`` times a power of the normalisers of their rows, or where
    the matrix is ``turned``, of their columns; rational numbers where there is no lattice.

    ``size`` is what no numerator's coefficients sum to more than, without their signs;
    ``hidden`` are the flat places of masked scores.
    """

    matrix: fmpz_mat
    below: int
    size: int
    lattice: KroneckerLattice | None = None
    power: int = 0
    turned: bool = False
    masked: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if self.size >= MOST:
            raise NotPacked

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.matrix.nrows(), self.matrix.ncols()

    @property
    def digits(self) -> int:
        """Digits of a packed numerator, at most."""
        return 1 + self.power * self.lattice.degree if self.lattice else 1

    @cached_property
    def normal(self) -> list[list[PackedPart | None]]:
        """Every entry in normal form but for the whole number below; None: it is 0."""
        assert self.lattice is not None
        _need(*self.shape, self.digits, 1 + self.lattice.degree)
        normalisers, rows = self.lattice.normalisers, []
        for i, row in enumerate(self.matrix.tolist()):
            below = normalisers if self.turned else [normalisers[i]] * len(row)
            rows.append(
                [
                    cancelled(z, self.power, above) if above else None
                    for z, above in zip(below, row, strict=True)
                ]
            )
        return rows

    def quotients(self) -> Quotients:
        """All entries."""
        assert self.lattice is not None
        rows = [[() if part is None else (part,) for part in row] for row in self.normal]
        return Quotients(self.lattice, rows, self.below)


class _Products(Sequence[PackedPart]):
    """Parts times whole numbers, multiplied when used: those of all entries fill the memory."""

    def __init__(self, parts: Sequence[PackedPart | None], factors: Sequence[fmpz]) -> None:
        self._parts, self._factors = parts, factors

    def __iter__(self) -> Iterator[PackedPart]:
        for part, factor in zip(self._parts, self._factors, strict=True):
            if part and factor:
                yield part[0], part[1], part[2] * factor

    def __len__(self) -> int:
        return sum(1 for x in zip(self._parts, self._factors, strict=True) if all(x))

    def __getitem__(self, place: Any) -> Any:
        return [*self][place]


@dataclass(frozen=True)
class _Mixed:
    """A product that sums over rows with normalisers of their own: of one that is
    ``turned`` and rational numbers. Nothing is computed from it but its entries."""

    left: Polynomials
    right: Polynomials
    transposed: bool = False

    def __post_init__(self) -> None:
        # Those with the same normaliser are added, over its highest power.
        most = self.left.size * self.right.size * self.right.shape[0]
        if most * self.lattice.size**self.left.power >= MOST:
            raise NotPacked

    @property
    def lattice(self) -> KroneckerLattice:
        """Return the lattice of the left factor."""
        assert self.left.lattice is not None
        return self.left.lattice

    def quotients(self) -> Quotients:
        """All entries."""
        columns = self.right.matrix.transpose().tolist()
        rows: list[list[Sequence[PackedPart]]] = []
        for row in self.left.normal:
            entries: list[Sequence[PackedPart]] = [_Products(row, each) for each in columns]
            # Told once for all entries: to hash normalisers costs more than to multiply.
            if are_added([part[0] for part in row if part]):
                _need(*self.left.shape, len(columns), self.left.digits, most=PACKED_DIGITS)
                entries = [self.lattice.normal([*entry]) for entry in entries]
            rows.append(entries)
        if self.transposed:
            rows = [list(row) for row in zip(*rows, strict=True)]
        return Quotients(self.lattice, rows, self.left.below * self.right.below)


Held = Polynomials | _Mixed

#: Operations that only move entries.
_MOVING = ("copy", "reshape", "transpose")


class PolynomialMatrices:
    """The operations on packed polynomials; None is what is not held."""

    centres = sees_factors = False

    def apply(self, node: Node, operands: list[Held | None]) -> Held | None:
        """See :class:`~symattn.programs.nodes.Arithmetic`."""
        rule = _OPERATIONS.get(node.op)
        if rule is None or None in operands or prod(node.grid) > PACKED_ENTRIES:
            return None
        if any(isinstance(x, _Mixed) for x in operands) and node.op not in _MOVING:
            return None
        try:
            return rule(node, *operands)
        except NotPacked:
            return None


def read(rows: Sequence[Sequence[Value | Masked]]) -> Polynomials | None:
    """Entries that are rational numbers; None where others are among them."""
    grid = len(rows), rows.columns if isinstance(rows, NumberTable) else len(rows[0])
    if prod(grid) > PACKED_ENTRIES:
        return None
    try:
        if isinstance(rows, NumberTable):
            fractions = rows.fractions()
            return _fractions(grid, *fractions) if fractions else _rational(grid, rows.numbers())
        flat = [None if isinstance(x, Masked) else x for row in rows for x in row]
        numbers = [None if x is None else x.number for x in flat]
        if any(x is not None and x.number is None for x in flat):
            return None
        return _rational(grid, numbers)
    except NotPacked:
        return None


def quotients(matrix: Held | None) -> Quotients | None:
    """The entries of a matrix with normalisers, all in normal form; None for another, and
    where they are not surely in the form that they have one by one."""
    if matrix is None or matrix.lattice is None:
        return None
    try:
        return matrix.quotients()
    except NotPacked:
        return None


def _rational(grid: tuple[int, int], numbers: Sequence[fmpq | None]) -> Polynomials:
    known = [fmpq(0) if x is None else x for x in numbers]
    polynomials = _fractions(grid, [int(x.p) for x in known], [int(x.q) for x in known])
    return replace(polynomials, masked=frozenset(k for k, x in enumerate(numbers) if x is None))


def _fractions(grid: tuple[int, int], above: Sequence[int], below: Sequence[int]) -> Polynomials:
    common = 1
    for number in set(below):
        common = lcm(common, number)
        if common >= MOST:
            raise NotPacked
    if common > 1:
        above = [p * (common // q) for p, q in zip(above, below, strict=True)]
    return Polynomials(fmpz_mat(*grid, above), common, max(map(abs, above)))


def _need(*work: int, most: int = PACKED) -> None:
    """:class:`NotPacked` beyond what is computed at once."""
    if prod(work) > most:
        raise NotPacked


def _open(x: Polynomials) -> Polynomials:
    """The matrix, which must not have masked scores."""
    if x.masked:
        raise NotPacked
    return x


def _constant(node: Node) -> Polynomials:
    number = node.extra.number
    if number is None:
        raise NotPacked
    return _rational((1, 1), [number])


def _triangle(node: Node) -> Polynomials:
    rows, columns = node.grid
    return _rational(node.grid, [fmpq(j <= i) for i in range(rows) for j in range(columns)])


def _transpose(node: Node, x: Held) -> Held:
    if isinstance(x, _Mixed):
        return replace(x, transposed=not x.transposed)
    return _turned(_open(x))


def _turned(x: Polynomials) -> Polynomials:
    turned = x.lattice is not None and not x.turned
    return replace(x, matrix=x.matrix.transpose(), turned=turned)


def _negate(node: Node, x: Polynomials) -> Polynomials:
    return replace(_open(x), matrix=-x.matrix)


def _add(node: Node, x: Polynomials, y: Polynomials) -> Polynomials:
    x, y = _over_one(*_fitted(node, x, y))
    return replace(x, matrix=x.matrix + y.matrix, size=x.size + y.size, masked=x.masked | y.masked)


def _fitted(node: Node, x: Polynomials, y: Polynomials) -> tuple[Polynomials, Polynomials]:
    """The two in the node's shape, with the same lattice."""
    x, y = (_spread(node, each) for each in (x, y))
    if x.lattice is y.lattice is None:
        return x, y
    _open(x), _open(y)
    if x.lattice is None or y.lattice is None:
        known = y if x.lattice is None else x
        return (
            replace(x, lattice=known.lattice, turned=known.turned),
            replace(y, lattice=known.lattice, turned=known.turned),
        )
    if x.lattice is not y.lattice or x.turned is not y.turned:
        raise NotPacked
    return x, y


def _over_one(x: Polynomials, y: Polynomials) -> tuple[Polynomials, Polynomials]:
    """The two with one denominator."""
    power, below = max(x.power, y.power), lcm(x.below, y.below)
    scaled = []
    for each in (x, y):
        factor, missing = below // each.below, power - each.power
        matrix, size = each.matrix * factor, each.size * factor
        if missing:
            assert each.lattice is not None
            _need(*each.shape, 1 + power * each.lattice.degree, 1 + each.lattice.degree)
            matrix = _by_lines(matrix, [z**missing for z in each.lattice.normalisers], each.turned)
            size *= each.lattice.size**missing
        scaled.append(replace(each, matrix=matrix, size=size, below=below, power=power))
    return scaled[0], scaled[1]


def _by_lines(x: fmpz_mat, factors: Sequence[fmpz], turned: bool) -> fmpz_mat:
    if turned:
        return _by_lines(x.transpose(), factors, turned=False).transpose()
    rows = zip(x.tolist(), factors, strict=True)
    return fmpz_mat([[entry * factor for entry in row] for row, factor in rows])


def _spread(node: Node, x: Polynomials) -> Polynomials:
    rows, columns = node.grid
    if x.shape == (rows, columns):
        return x
    if _open(x).lattice is not None and x.shape[x.turned] != node.grid[x.turned]:
        raise NotPacked
    _need(rows, columns, x.digits)
    down, across = int(x.shape[0] > 1), int(x.shape[1] > 1)
    table = x.matrix.tolist()
    flat = [table[i * down][j * across] for i in range(rows) for j in range(columns)]
    return replace(x, matrix=fmpz_mat(rows, columns, flat))


def _multiply(node: Node, x: Polynomials, y: Polynomials) -> Polynomials:
    if node.extra == FLOW:
        _open(x), _open(y)
    for side, other in ((x, y), (y, x)):
        if other.lattice is None and other.shape == (1, 1):
            (factor,) = _open(other).matrix.entries()
            return _scaled(side, fmpq(factor, other.below))
    x, y = _fitted(node, _open(x), _open(y))
    _need(*node.grid, x.digits, y.digits)
    flat = [a * b for a, b in zip(x.matrix.entries(), y.matrix.entries(), strict=True)]
    return replace(
        x,
        matrix=fmpz_mat(*node.grid, flat),
        below=x.below * y.below,
        size=x.size * y.size,
        power=x.power + y.power,
    )


def _scaled(x: Polynomials, factor: fmpq) -> Polynomials:
    """A masked score stays one by what is positive."""
    if factor <= 0:
        _open(x)
    above, below = int(factor.p), int(factor.q)
    return replace(
        x, matrix=x.matrix * above, below=x.below * below, size=x.size * max(abs(above), 1)
    )


def _divide(node: Node, x: Polynomials, y: Polynomials) -> Polynomials:
    if y.lattice is not None or y.shape != (1, 1) or not _open(y).matrix[0, 0]:
        raise NotPacked
    return _scaled(_spread(node, x), fmpq(y.below) / fmpq(y.matrix[0, 0]))


def _matmul(node: Node, x: Polynomials, y: Polynomials) -> Held:
    inner = x.shape[1]
    _need(*node.grid, inner, max(_open(x).digits, _open(y).digits))
    if x.lattice is not None and y.lattice is not None:
        raise NotPacked
    size = inner * x.size * y.size
    if x.lattice is not None and x.turned:
        return _Mixed(x, y)
    if y.lattice is not None and not y.turned:
        return _Mixed(_turned(y), _turned(x), transposed=True)
    known = y if x.lattice is None else x
    return replace(known, matrix=x.matrix * y.matrix, below=x.below * y.below, size=size)


def _sqrt(node: Node, x: Polynomials) -> Polynomials:
    """Of one square."""
    if x.lattice is not None or x.shape != (1, 1):
        raise NotPacked
    square = Fraction(int(_open(x).matrix[0, 0]), x.below)
    above, below = isqrt(max(square.numerator, 0)), isqrt(square.denominator)
    if (above * above, below * below) != square.as_integer_ratio():
        raise NotPacked
    return _rational((1, 1), [fmpq(above, below)])


def _softmax(node: Node, x: Polynomials) -> Polynomials:
    rows, columns = x.shape
    if x.lattice is not None:
        raise NotPacked
    scores = x.matrix.entries()
    above: list[list[int | None]] = []
    for i in range(rows):
        places = range(i * columns, (i + 1) * columns)
        row = [None if k in x.masked else int(scores[k]) for k in places]
        least = min((score for score in row if score is not None), default=None)
        if least is None:
            raise NotPacked
        above.append([None if score is None else score - least for score in row])
    shared = gcd(x.below, *(score for row in above for score in row if score is not None))
    powers = [[None if s is None else s // shared for s in row] for row in above]
    known = [[power for power in row if power is not None] for row in powers]
    if max(map(max, known)) > PACKED_DEGREE:
        raise NotPacked
    lattice = KroneckerLattice(x.below // shared, known)
    below = lcm(*lattice.contents)
    flat = [
        0 if power is None else packed([power]) * (below // content)
        for row, content in zip(powers, lattice.contents, strict=True)
        for power in row
    ]
    return Polynomials(fmpz_mat(rows, columns, flat), below, below, lattice, 1)


def _hide(node: Node, x: Polynomials, keep: Polynomials) -> Polynomials:
    if x.lattice is not None:
        # What is read of quotients of exponentials knows of no masked ones.
        raise NotPacked
    keep = _spread(node, keep)
    flat = _open(keep).matrix.entries()
    if keep.lattice is not None or not all(entry in (0, keep.below) for entry in flat):
        raise NotPacked
    return replace(x, masked=x.masked | {k for k, entry in enumerate(flat) if not entry})


def _rowsum(node: Node, x: Polynomials) -> Polynomials:
    columns = _open(x).shape[1]
    if x.turned:
        raise NotPacked
    ones = fmpz_mat(columns, 1, [1] * columns)
    return replace(x, matrix=x.matrix * ones, size=x.size * columns)


_OPERATIONS: Mapping[str, Callable[..., Held]] = {
    "constant": _constant, "triangle": _triangle, "copy": lambda node, x: x,
    "reshape": lambda node, x: x, "transpose": _transpose, "negate": _negate, "add": _add,
    "subtract": lambda node, x, y: _add(node, x, _negate(node, y)), "multiply": _multiply,
    "divide": _divide, "matmul": _matmul, "sqrt": _sqrt, "softmax": _softmax, "hide": _hide,
    "rowsum": _rowsum,
}  # fmt: skip
