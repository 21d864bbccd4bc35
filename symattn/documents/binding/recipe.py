"""The recipe of an article as far as it is known: inputs and steps, with their values.

Values are floats here: they only tell whether a reading agrees with what is
printed; what is wrong is judged exactly, later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain, count

import numpy as np

from symattn import syntax
from symattn.documents.binding import values
from symattn.documents.binding.bounds import interval
from symattn.documents.binding.roles import Role, named
from symattn.documents.reading import ReadInput, ReadStep
from symattn.documents.text import Span
from symattn.documents.trees import Opaque, plain, walk
from symattn.errors import SymattnError
from symattn.numbers.arrays import Numbers, read_rows
from symattn.programs import floats
from symattn.programs.floats import FloatOperations, Matrix
from symattn.programs.nodes import Node
from symattn.programs.nodes import given as given_node
from symattn.programs.program import Program, differentiate, name_fault
from symattn.programs.running import Run
from symattn.shapes import Shape, rows_of


class Recipe:
    """Inputs and steps by name, in order, and what they come to."""

    def __init__(self) -> None:
        self.given: dict[str, ReadInput] = {}
        self.steps: dict[str, ReadStep] = {}
        self.trees: dict[str, syntax.Tree] = {}
        #: What the article says that gradients are, by the names of their quantities.
        self.said: dict[str, syntax.Tree] = {}
        self.upstream: tuple[str, Matrix] | None = None
        self.loss: dict[str, object] | None = None
        self._numbers: dict[str, Matrix] = {}
        self._quantities: dict[str, Node] = {}
        self._run = Run(FloatOperations(), self._leaf)
        #: What was asked before of expressions, while the recipe stays what it is.
        self._nodes: dict[syntax.Tree, Node | None] = {}
        self._agreements: dict[tuple[syntax.Tree, syntax.Tree], float] = {}
        self._roles: dict[str, Role | None] = {}
        #: The figures that are printed of entries, right or wrong, by their expressions.
        self.printed: dict[str, set[float]] = {}
        #: What expressions are by the definitions, so many steps deep.
        self.forms: dict[tuple[syntax.Tree, int], list[syntax.Tree]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._quantities

    def give(self, name: str, tree: syntax.Tree, span: Span | None) -> str | None:
        """Take a printed value as an input, under the first free name like this one; None
        where it is no input: too large, or not of numbers."""
        try:
            numbers = Numbers.read(values.printed(tree))
        except SymattnError:
            return None
        free = self._free(name)
        self.given[free] = ReadInput(numbers, span)
        self._numbers[free] = floats.matrix(numbers.rows)
        self._quantities[free] = given_node(free, numbers.shape)
        self._forget()
        return free

    def define(
        self, name: str, tree: syntax.Tree, span: Span | None = None, assumed: bool = False
    ) -> str | None:
        """Take an expression over known names as a step; None where it makes no sense."""
        node = self.node(tree)
        if node is None or any(isinstance(part, syntax.Gradient) for part in walk(tree)):
            return None
        if np.isnan(self._run[node]).any():
            return None
        free = self._free(name)
        self.steps[free] = ReadStep(plain(tree), span, assumed)
        self.trees[free] = tree
        self._quantities[free] = self._program.lower_tree(tree)
        self._forget()
        return free

    def state(self, name: str, span: Span | None) -> None:
        """A step that was assumed is said as well."""
        if name in self.steps and self.steps[name].assumed:
            self.steps[name] = replace(self.steps[name], span=span, assumed=False)

    def _free(self, name: str) -> str:
        """The name, or one like it that is free."""
        base = re.sub(r"[^A-Za-z0-9_]++", "_", name)
        if name_fault(base):
            base = f"{base}1" if base[:1].isalpha() else f"X{base}"
        others = (f"{base}_{number}" for number in count(2))
        return next(free for free in chain([base], others) if free not in self._quantities)

    def _forget(self) -> None:
        self.__dict__.pop("_program", None)
        self._nodes.clear()
        self._agreements.clear()
        self._roles.clear()
        self.forms.clear()

    @cached_property
    def _program(self) -> Program:
        made = Program(self._quantities, tuple(self.given), tuple(self.steps))
        if self.upstream is not None:
            made = differentiate(made, self.upstream[0])
        return made

    def set_upstream(self, output: str, tree: syntax.Tree) -> bool:
        """Take a printed value as dL/d(output), if it has the output's shape."""
        node = self._quantities.get(output)
        if node is None or values.shape(tree) != node.shape or output not in self.steps:
            return False
        self.upstream = output, floats.matrix(read_rows(values.printed(tree))[1])
        self.loss = {"output": output, "upstream": values.printed(tree)}
        self._forget()
        return True

    # -- expressions ------------------------------------------------------------------

    def node(self, tree: syntax.Tree) -> Node | None:
        """The node of an expression; None where a name or a shape doesn't fit."""
        if tree not in self._nodes:
            self._nodes[tree] = self._lowered(tree)
        return self._nodes[tree]

    def _lowered(self, tree: syntax.Tree) -> Node | None:
        if not _is_plain(tree):
            return None
        try:
            return self._program.lower_tree(tree)
        except (SymattnError, RecursionError):
            return None

    def why_not(self, tree: syntax.Tree) -> str:
        """Why an expression has no node."""
        try:
            self._program.lower_tree(tree)
        except SymattnError as error:
            return str(error)
        return ""

    def shape(self, tree: syntax.Tree) -> Shape | None:
        """The shape of an expression, or None."""
        node = self.node(tree)
        return None if node is None else node.shape

    def floats(self, tree: syntax.Tree) -> Matrix | None:
        """The value of an expression by rows of its grid; None where it has none."""
        node = self.node(tree)
        return None if node is None else self._run[node]

    def _leaf(self, node: Node) -> Matrix | None:
        if node.op != "given":
            return None
        if self.upstream is not None and node is self._program.upstream:
            return self.upstream[1]
        return self._numbers.get(node.extra)

    def agreement(self, tree: syntax.Tree, value: syntax.Tree) -> float:
        """The part of a printed value's figures that the expression rounds to; 0 where
        the shapes differ."""
        if (tree, value) not in self._agreements:
            self._agreements[tree, value] = self._agreement(tree, value)
        return self._agreements[tree, value]

    def _agreement(self, tree: syntax.Tree, value: syntax.Tree) -> float:
        node = self.node(tree)
        if node is None or node.shape != values.shape(value):
            return 0.0
        found = self._run[node]
        rows = rows_of(values.printed(value))
        held = [
            rounds(float(found[i, j]), text)
            for i, row in enumerate(rows)
            for j, text in enumerate(row)
        ]
        return sum(held) / len(held) if held else 0.0

    def with_role(self, role: Role) -> list[str]:
        """The names of quantities that play a role, in the order of the recipe."""
        found = [name for name in self._quantities if self.role(name) == role]
        matrices = [name for name in found if len(self._quantities[name].shape) == 2]
        return matrices or found

    def role(self, name: str) -> Role | None:
        """What a quantity is by how it is computed, or by its name."""
        if name not in self._roles:
            self._roles[name] = self._role(name)
        return self._roles[name]

    def _role(self, name: str) -> Role | None:
        tree = self.trees.get(name)
        while isinstance(tree, syntax.Name) and tree.name in self.trees:
            if named(name):
                return named(name)
            tree = self.trees[tree.name]
        match tree:
            case syntax.Call("softmax"):
                return "weights"
            case syntax.Call("causal" | "mask"):
                return "masked"
            case syntax.Binary("/" | "*", left, right):
                if any(self._is(part, "scores") for part in (left, right)):
                    return "scaled"
                if any(_is_product(part) for part in (left, right)):
                    return "scaled"
            case syntax.Binary("@", left, right):
                if self._is(left, "weights"):
                    return "output"
                if _is_product(tree) and not self._is(left, "input"):
                    return "scores"
                for part, made in _PROJECTED.items():
                    if self._is(right, part):
                        return made
        return named(name)

    def _is(self, tree: syntax.Tree, role: Role) -> bool:
        if isinstance(tree, syntax.Name):
            return tree.name in self._quantities and self.role(tree.name) == role
        if isinstance(tree, syntax.Call) and role == "weights":
            return tree.function == "softmax"
        return role == "scores" and _is_product(tree)


_PROJECTED: Mapping[Role, Role] = {
    "query weights": "query",
    "key weights": "key",
    "value weights": "value",
}


def _is_product(tree: syntax.Tree) -> bool:
    """Whether it is a product with a transpose, as scores are."""
    match tree:
        case syntax.Binary("@", _, syntax.Transposed()):
            return True
    return False


#: Decimals that expressions know and floats hold.
_DECIMAL = re.compile(
    r"[+-]?(?:[0-9]{1,200}+\.?[0-9]{0,200}+|\.[0-9]{1,200}+)(?:[eE][+-]?[0-9]{1,2})?\Z"
)


def _is_plain(tree: syntax.Tree) -> bool:
    """Whether all of it is understood, and its numbers are decimals, which expressions know."""
    for part in walk(tree):
        if isinstance(part, Opaque):
            return False
        if isinstance(part, syntax.Literal) and not _DECIMAL.match(part.text):
            return False
    return True


def rounds(value: float, text: str) -> bool:
    """Whether a value rounds to a printed figure, as floats can tell.

    >>> rounds(0.50648, "0.5065"), rounds(0.50648, "50.7%"), rounds(-np.inf, "-inf")
    (True, False, True)
    """
    ends = interval(text)
    return ends is not None and ends[0] <= value <= ends[1]
