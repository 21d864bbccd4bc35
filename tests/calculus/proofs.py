"""Proofs by the kernel alone, for tests."""

from __future__ import annotations

from symattn.calculus import draft, line_reading
from symattn.calculus.conditions import written
from symattn.calculus.kernel.proof import Kernel
from symattn.calculus.prover import Prover


def prover(read) -> Prover:
    """A prover with what a draft says."""
    kernel = Kernel()
    kernel.random = frozenset(read.ground.random)
    return Prover(kernel, read.ground.hypotheses)


def proof(line, tables, *hypotheses):
    """Why a line was not shown, nothing if it was; and the conditions under which it was."""
    read = draft.read({**tables, "hypotheses": list(hypotheses), "lines": [{"line": line}]})
    by = prover(read)
    found = by.proof(line_reading.line(line, read.scope))
    return found.why, [written(each, by.kernel.sources) for each in found.conditions]
