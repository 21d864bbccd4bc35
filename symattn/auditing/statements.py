"""Statements decided exactly."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from symattn import syntax
from symattn.cases.claims import Claim
from symattn.cases.statements import Function, LoweredComparison, Sizes, lower_statement
from symattn.errors import Malformed, Undecided
from symattn.limits import STATEMENT, STATEMENT_ENTRY
from symattn.numbers.reading import Masked
from symattn.numbers.spending import Exhausted, is_exhausted, task
from symattn.numbers.values import ONE, Value, rational
from symattn.programs import nodes
from symattn.programs.nodes import Node
from symattn.solution.quantity import Quantity
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict


class Decider:
    """Decides statements about a solution.

    >>> from symattn.solution.solution import solve
    >>> decider = Decider(solve("cat-sat-mat"))
    >>> decider.decide("Y[0, 0] == Y[1, 1] and max(A[2]) < 1/2")
    <Verdict.HOLDS: 'holds'>
    >>> decider.decide("argmax(A[0]) == 1")
    <Verdict.REFUTED: 'refuted'>
    """

    def __init__(self, solution: Solution) -> None:
        self.solution = solution

    def decide(self, statement: Claim | str) -> Verdict:
        """Whether a statement holds, of a claim or as text; :class:`Malformed`
        if it can't be read, or has no answer at these numbers.

        A comparison of matrices is meant for every entry.
        """
        return self.judged(statement)[0]

    def judged(self, statement: Claim | str) -> tuple[Verdict, str]:
        """Like :meth:`decide`; with it why a statement stays open that takes more than is spent
        on one (:data:`~symattn.limits.STATEMENT`), else ''.

        >>> from symattn.solution.solution import solve
        >>> Decider(solve("rope")).judged("cos(S**3) == cos(S**2 * S)")
        (<Verdict.HOLDS: 'holds'>, '')
        """
        if isinstance(statement, str):
            tree = syntax.parse(statement)
            comparisons = lower_statement(self.solution.program, tree)
        else:
            comparisons = statement.comparisons
        operands = (operand for comparison in comparisons for operand in comparison.operands)
        entries = sum(prod(operand.grid) for operand in operands if isinstance(operand, Node))
        limit = replace(STATEMENT, most=STATEMENT.most + STATEMENT_ENTRY * entries)
        with task(limit.most):
            verdict = Verdict.all([*map(self._comparison, comparisons)])
            is_cut = verdict is Verdict.UNDECIDED and is_exhausted()
        return verdict, limit.said() if is_cut else ""

    def _comparison(self, comparison: LoweredComparison) -> Verdict:
        known: dict[int, Node] = {}
        try:
            for decided in comparison.decided:
                operand = self._quantity(decided.operand, known)
                known[decided.node.serial] = _value(decided.function, operand)
            # What is compared is one quantity, or the whole numbers of a list.
            lists = (x.lengths if isinstance(x, Sizes) else (x,) for x in comparison.operands)
            operands = [[self._quantity(node, known) for node in parts] for parts in lists]
        except (Undecided, Exhausted):
            # Which entry is the largest, or which sign one has, stays open.
            return Verdict.UNDECIDED
        sides = zip(operands, comparison.relations, operands[1:], strict=False)
        return Verdict.all([_relation(*side) for side in sides])

    def _quantity(self, node: Node, known: dict[int, Node]) -> Quantity:
        """The quantity of a node with what is ``known`` in place of some of its inputs."""
        return self.solution.quantity(nodes.replaced(node, known))


def _value(function: Function, operand: Quantity) -> Node:
    """What a function that only statements know gives, worked out exactly."""
    if function != "abs":
        return nodes.constant(_extreme(function, operand))
    entries = (tuple(map(_number, row)) for row in operand.rows)
    rows = tuple(tuple(-x if _sign(x) < 0 else x for x in row) for row in entries)
    return nodes.table(rows, operand.shape)


def _relation(left: list[Quantity], relation: str, right: list[Quantity]) -> Verdict:
    if len(left) != len(right):
        return Verdict.REFUTED
    return Verdict.all(
        [
            _compared(_entry(x, i, j), relation, _entry(y, i, j))
            for x, y in zip(left, right, strict=True)
            for i in range(max(x.grid[0], y.grid[0]))
            for j in range(max(x.grid[1], y.grid[1]))
        ]
    )


def _entry(quantity: Quantity, i: int, j: int) -> Value | Masked:
    rows, columns = quantity.grid
    return quantity.entry(i if rows > 1 else 0, j if columns > 1 else 0)


def _number(value: Value | Masked) -> Value:
    if isinstance(value, Masked):
        raise Malformed("a masked score (-inf) can't be compared")
    return value


def _sign(value: Value) -> int:
    if value.has_symbols:
        raise Undecided(f"the sign of {value} depends on its symbols")
    return value.sign()


def _extreme(kind: Function, quantity: Quantity) -> Value:
    """The largest or smallest entry, or the first place of the largest."""
    best: Value | None = None
    place = 0
    entries = [value for row in quantity.rows for value in row]
    for k, value in enumerate(entries):
        if isinstance(value, Masked) and kind != "min":
            continue
        number = _number(value)
        if best is None or _sign(number - best) * (-1 if kind == "min" else 1) > 0:
            best, place = number, k
    if best is None:
        raise Malformed("all entries are masked scores (-inf)")
    return ONE * rational(place) if kind == "argmax" else best


def _compared(left: Value | Masked, relation: str, right: Value | Masked) -> Verdict:
    if isinstance(left, Masked) or isinstance(right, Masked):
        both = isinstance(left, Masked) and isinstance(right, Masked)
        less = isinstance(left, Masked) and not both
        truth = {
            "==": both,
            "!=": not both,
            "<": less,
            "<=": less or both,
            ">": not less and not both,
        }
        return _verdict(truth.get(relation, not less))
    try:
        return _ordered(left - right, relation)
    except Exhausted:
        # Another entry may refute the statement at no cost.
        return Verdict.UNDECIDED


def _ordered(difference: Value, relation: str) -> Verdict:
    zero = difference.is_zero()
    if relation == "!=":
        return zero.negated
    if relation == "==" or zero is Verdict.UNDECIDED:
        return zero
    if zero is Verdict.HOLDS:
        return _verdict("=" in relation)
    if difference.has_symbols:
        return Verdict.UNDECIDED
    return _verdict((difference.sign() < 0) == relation.startswith("<"))


def _verdict(truth: bool) -> Verdict:
    return Verdict.HOLDS if truth else Verdict.REFUTED
