"""Proofs by the kernel alone, for tests."""

from __future__ import annotations

from symattn.calculus import draft, line_reading
from symattn.calculus.clocks import OutOfTime, time_limit
from symattn.calculus.conditions import written
from symattn.calculus.kernel.proof import Kernel
from symattn.calculus.prover import Prover
from symattn.limits import LINE_SECONDS


def prover(read) -> Prover:
    """A prover with what a draft says."""
    kernel = Kernel()
    kernel.random = frozenset(read.ground.random)
    kernel.permutations = read.scope.permutations
    return Prover(kernel, read.ground.hypotheses)


def proof(line, tables, *hypotheses):
    """Why a line was not shown, nothing if it was; and the conditions under which it was. A line
    has the time that it has for who judges it."""
    read = draft.read({**tables, "hypotheses": list(hypotheses), "lines": [{"line": line}]})
    try:
        with time_limit(LINE_SECONDS):
            by = prover(read)
            found = by.proof(line_reading.line(line, read.scope))
    except OutOfTime:
        return "too long", []
    return found.why, [written(each, found.sources) for each in found.conditions]
