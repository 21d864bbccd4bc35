"""An edited recipe differentiated anew: what its gradients are where they follow the edit.

A document that differentiates by hand keeps the right formulas of the backward
pass; one that lets a library do it differentiates what it computes.
"""

from __future__ import annotations

from symattn.auditing.model import AuditedGraph
from symattn.programs.gradient import differentiate
from symattn.programs.nodes import Node, ancestors, replaced
from symattn.programs.program import Program
from symattn.syntax import gradient_name


def rederived(recipe: AuditedGraph, node: Node, instead: Node) -> list[Node] | None:
    """For each figure the node that it is an entry of, where another stands in the place of
    one forward and the gradients are those of that; None where there are none."""
    program, case = recipe.solution.program, recipe.solution.case
    if program.upstream is None or not case.output:
        return None
    output = recipe.named[case.output]
    if node not in ancestors([output]):
        return None
    put = {node.serial: instead}
    quantities = {name: replaced(recipe.named[name], put) for name in program.quantities}
    forward = Program(quantities, program.given, program.steps)
    backward = differentiate(forward, case.output)
    assert backward.upstream is not None
    upstream = {backward.upstream.serial: recipe.graph[program.upstream]}
    for name, gradient in backward.gradients.items():
        old, new = recipe.named.get(gradient_name(name)), replaced(gradient, upstream)
        while old is not None and old.op == "transpose":
            # What is printed stands in the graph without its transposes.
            (old,) = old.operands
            new = Node("transpose", (new,), new.grid[::-1])
        if old is not None:
            put[old.serial] = new
    return [replaced(place, put) for place, _, _ in recipe.places]
