"""The gradient of a program is a program: :mod:`~symattn.programs.backward` by name."""

from __future__ import annotations

from dataclasses import replace

from symattn.programs import nodes
from symattn.programs.backward import flows
from symattn.programs.program import Program


def differentiate(forward: Program, output: str) -> Program:
    """``forward`` with ``grad(name)`` for every quantity that ``output`` depends on.

    The loss is ``L = total(upstream * output)``; ``upstream`` is a new given
    quantity of the output's shape. The gradient with respect to a step is
    taken as if the step were an input: through its uses only.

    >>> from symattn.programs.program import program
    >>> p = program({"Q": (2, 3), "K": (4, 3)}, {"S": "Q @ K.T", "A": "softmax(S)"})
    >>> sorted(differentiate(p, "A").gradients)
    ['A', 'K', 'Q', 'S']
    """
    target = forward.quantities[output]
    upstream = nodes.given("upstream", target.shape)
    gradients = flows(target, upstream)
    named = {
        name: gradients[node.serial]
        for name, node in forward.quantities.items()
        if node.serial in gradients
    }
    return replace(forward, gradients=named, upstream=upstream)
