"""Running a program in each of its four arithmetics, on plain nested lists."""

from __future__ import annotations

import numpy as np
import sympy

from symattn.cases.case import read_rows
from symattn.errors import Malformed
from symattn.expressions.shapes import grid
from symattn.numbers.balls import precision
from symattn.numbers.reading import Masked
from symattn.numbers.sympy_bridge import to_sympy
from symattn.programs import enclosures, entrywise
from symattn.programs.enclosures import FloatOperations
from symattn.programs.nodes import Run

BITS = 128


def rows_of(data):
    """The exact entries of nested numbers, as rows."""
    return read_rows(data)[1]


def as_float(entry):
    return float("-inf") if isinstance(entry, Masked) else float(entry.ball(64))


def table(grid):
    """The entries of a grid, by rows."""
    return [[grid.at(i, j) for j in range(grid.columns)] for i in range(grid.rows)]


def exact(data, node):
    """Exact values."""
    inputs = {name: entrywise.grid(rows_of(raw)) for name, raw in data.items()}
    found = Run(entrywise.exact(), by_name(inputs))[node]
    assert (found.rows, found.columns) == node.grid
    return table(found)


def by_name(inputs):
    """What a run takes from outside, by the names of the given quantities."""
    return lambda node: inputs[node.extra] if node.op == "given" else None


def balls(data, node, bits=BITS):
    """Enclosures at ``bits`` bits; None for a masked score."""
    with precision(bits):
        inputs = {name: enclosures.enclose(rows_of(raw), bits) for name, raw in data.items()}
        held = Run(enclosures.BallMatrices(), by_name(inputs))[node]
        rows, columns = node.grid
        assert held.shape == (rows, columns)
        return [
            [None if i * columns + j in held.masked else held.matrix[i, j] for j in range(columns)]
            for i in range(rows)
        ]


def floats(data, node):
    """A float64 array."""
    inputs = {
        name: np.array([[as_float(entry) for entry in row] for row in rows_of(raw)])
        for name, raw in data.items()
    }
    found = Run(FloatOperations(), by_name(inputs))[node]
    assert found.shape == node.grid
    return found


def symbols(name, shape):
    """A grid of SymPy symbols for a quantity of that shape."""
    rows, columns = grid(shape)
    return entrywise.grid(
        [[sympy.Symbol(f"{name}_{i}_{j}") for j in range(columns)] for i in range(rows)]
    )


class Symbolic:
    """SymPy expressions as scalars, for formulas at a concrete size."""

    def constant(self, value):
        return to_sympy(value)

    def total(self, items):
        return sympy.Add(*items)

    def sum_of_products(self, pairs):
        return sympy.Add(*(a * b for a, b in pairs))

    def negative(self, x):
        return -x

    def divisor(self, y):
        return y

    def quotient(self, x, divisor):
        return x / divisor

    def function(self, name, x):
        return getattr(sympy, name)(x)

    def largest(self, items, *, to_first):
        return sympy.Max(*items)

    def above(self, x, y):
        return sympy.Heaviside(x - y, 0)

    def is_positive(self, x):
        return bool(x.is_positive)


def keeps(node, i, j, mask):
    """What a mask of SymPy numbers keeps."""
    kept = mask.number(i, j)
    if kept != 0 and kept != 1:
        raise Malformed(f"a mask holds 0 (hide) and 1 (keep), found {kept}")
    return bool(kept == 1)


def symbolic(inputs, node):
    """SymPy expressions; ``inputs`` are grids."""
    return table(symbolic_run(inputs)[node])


def symbolic_run(inputs):
    """A run in SymPy expressions."""
    return Run(entrywise.Entrywise(Symbolic(), keeps), by_name(inputs))


def overlap(ball, value, bits=BITS):
    """Whether a ball and a closed form can be the same number; both near."""
    if isinstance(value, Masked):
        return ball is None
    return ball.overlaps(value.ball(bits)) and ball.rad() < 1e-9
