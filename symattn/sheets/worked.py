"""Entries worked out: what stands in one entry of a step, number by number."""

from __future__ import annotations

from collections.abc import Callable

from symattn import formulas as f
from symattn.programs.nodes import Node

#: What an entry of a named quantity is shown as.
Leaf = Callable[[Node, int, int], f.Formula]

#: A masked score.
HIDDEN = f.Negated(f.Symbol("inf", r"\infty"))


def entry(node: Node, i: int, j: int, leaf: Leaf, is_leaf: Callable[[Node], bool]) -> f.Formula:
    """Entry (i, j) of ``node`` in terms of the entries of named quantities."""

    def inside(x: Node, row: int, column: int) -> f.Formula:
        return leaf(x, row, column) if is_leaf(x) else work(x, row, column)

    def spread(x: Node, row: int, column: int) -> f.Formula:
        return inside(x, row if x.grid[0] > 1 else 0, column if x.grid[1] > 1 else 0)

    def work(x: Node, i: int, j: int) -> f.Formula:
        operands = x.operands
        match x.op:
            case "given" | "constant":
                return leaf(x, i, j)
            case "copy" | "reshape":
                return inside(operands[0], i, j)
            case "transpose":
                return inside(operands[0], j, i)
            case "negate":
                return f.Negated(inside(operands[0], i, j))
            case "add":
                return _sum([spread(operands[0], i, j), spread(operands[1], i, j)])
            case "subtract":
                return _sum([spread(operands[0], i, j), f.Negated(spread(operands[1], i, j))])
            case "multiply":
                return f.Product((spread(operands[0], i, j), spread(operands[1], i, j)))
            case "divide":
                return f.Quotient(spread(operands[0], i, j), spread(operands[1], i, j))
            case "matmul":
                left, right = operands
                return _sum(
                    [
                        f.Product((inside(left, i, k), inside(right, k, j)))
                        for k in range(left.grid[1])
                    ]
                )
            case "sqrt":
                return f.Root(inside(operands[0], i, j))
            case "exp" | "log":
                return f.Function(x.op, (inside(operands[0], i, j),))
            case "softmax":
                return _softmax([inside(operands[0], i, k) for k in range(x.grid[1])], j)
            case "hide":
                keep = leaf(operands[1], i, j)
                return HIDDEN if keep == f.Number("0") else inside(operands[0], i, j)
            case "triangle":
                return f.Number("1" if j <= i else "0")
            case "concat":
                for part in operands:
                    if j < part.grid[1]:
                        return inside(part, i, j)
                    j -= part.grid[1]
            case "rowsum":
                return _sum([inside(operands[0], i, k) for k in range(operands[0].grid[1])])
            case "colsum":
                return _sum([inside(operands[0], k, j) for k in range(operands[0].grid[0])])
            case "total":
                rows, columns = operands[0].grid
                return _sum(
                    [inside(operands[0], k, l) for k in range(rows) for l in range(columns)]
                )
            case "pick":
                return inside(operands[0], x.extra[0][i], x.extra[1][j])
            case "scatter":
                rows, columns = x.extra
                if i in rows and j in columns:
                    return inside(operands[0], rows.index(i), columns.index(j))
                return f.Number("0")
            case "spread":
                return spread(operands[0], i, j)
        raise AssertionError(f"no entry is worked for {x.op}")

    return work(node, i, j)


def _sum(terms: list[f.Formula]) -> f.Formula:
    flat: list[f.Formula] = []
    for term in terms:
        flat += term.terms if isinstance(term, f.Sum) else (term,)
    return flat[0] if len(flat) == 1 else f.Sum(tuple(flat))


def _softmax(row: list[f.Formula], j: int) -> f.Formula:
    powers: list[f.Formula] = [f.Number("0") if x == HIDDEN else f.Power(f.E, x) for x in row]
    return f.Quotient(powers[j], _sum(powers))
