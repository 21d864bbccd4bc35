"""How much there is to derive in a program, told from its shapes alone."""

from __future__ import annotations

from math import prod

from symattn.programs.nodes import Node, ancestors
from symattn.programs.program import Program


def uses(program: Program) -> int:
    """How often steps use an entry in making another, and once more for each two
    that one entry is made of: what there is to differentiate.

    >>> from symattn.programs.program import program
    >>> uses(program({"Q": (2, 3), "K": (3, 4)}, {"S": "Q @ K"})) == 8 * 6 + 6 * 6
    True
    """
    return sum(map(_uses, ancestors(program.quantities[name] for name in program.steps)))


def _uses(node: Node) -> int:
    if not node.operands:
        return 0
    rows, columns = node.operands[0].grid
    each = {
        "matmul": 2 * columns,
        "softmax": columns,
        "rowsum": columns,
        "colsum": rows,
        "total": rows * columns,
    }.get(node.op, len(node.operands))
    return prod(node.grid) * each + each**2
