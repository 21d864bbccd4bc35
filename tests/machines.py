"""Running a program in each of its four arithmetics, on plain nested lists."""

from __future__ import annotations

import numpy as np

from symattn.cases.case import read_rows
from symattn.numbers.balls import precision
from symattn.numbers.reading import Hidden
from symattn.programs import enclosures, entrywise
from symattn.programs.floats import Floats
from symattn.programs.running import Run

BITS = 128


def rows_of(data):
    """The exact entries of nested numbers, as rows."""
    return read_rows(data)[1]


def as_float(entry):
    return float("-inf") if isinstance(entry, Hidden) else float(entry.ball(64))


def table(grid):
    """The entries of a grid, by rows."""
    return [[grid.at(i, j) for j in range(grid.columns)] for i in range(grid.rows)]


def exact(data, node):
    """Exact values."""
    inputs = {name: entrywise.grid(rows_of(raw)) for name, raw in data.items()}
    return table(Run(entrywise.exact(), inputs)[node])


def balls(data, node, bits=BITS):
    """Enclosures at ``bits`` bits; None for a masked score."""
    with precision(bits):
        inputs = {name: enclosures.enclose(rows_of(raw), bits) for name, raw in data.items()}
        held = Run(enclosures.Balls(), inputs)[node]
        rows, columns = held.shape
        return [
            [None if i * columns + j in held.hidden else held.matrix[i, j] for j in range(columns)]
            for i in range(rows)
        ]


def floats(data, node):
    """A float64 array."""
    inputs = {
        name: np.array([[as_float(entry) for entry in row] for row in rows_of(raw)])
        for name, raw in data.items()
    }
    return Run(Floats(), inputs)[node]


def symbols(name, shape):
    """A grid of SymPy symbols for a quantity of that shape."""
    rows, columns = shape if len(shape) == 2 else (1, shape[0] if shape else 1)
    return entrywise.symbols(name, rows, columns)


def symbolic(inputs, node):
    """SymPy expressions; ``inputs`` are grids."""
    return table(Run(entrywise.symbolic(), inputs)[node])


def overlap(ball, value, bits=BITS):
    """Whether a ball and a closed form can be the same number; both near."""
    if isinstance(value, Hidden):
        return ball is None
    return ball.overlaps(value.ball(bits)) and ball.rad() < 1e-9
