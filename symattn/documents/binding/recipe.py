"""The recipe of an article as far as it is known: inputs and steps, with their values.

Values are floats here: they only tell whether a reading agrees with what is printed; what
is wrong is judged exactly, later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain, count

import numpy as np

from symattn.documents.binding import values
from symattn.documents.binding.bounds import halves, rounds
from symattn.documents.binding.roles import Role, named
from symattn.documents.reading import ReadInput, ReadStep
from symattn.documents.text import Span
from symattn.documents.trees import Opaque, plain, walk
from symattn.errors import SymattnError
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape, rows_of
from symattn.numbers.rows import Numbers, read_rows
from symattn.programs import enclosures
from symattn.programs.enclosures import FloatOperations, Matrix
from symattn.programs.nodes import Node, Run
from symattn.programs.nodes import given as given_node
from symattn.programs.program import Program, differentiate, name_fault

#: So many ways are tried in which inputs may be off.
_SHAKES = 12


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
        #: Inputs that may be results: nothing but their use says that they are given.
        self.supposed: set[str] = set()
        #: How far inputs may be off that are shown rounded.
        self._rounded: dict[str, Matrix] = {}
        self._run = Run(FloatOperations(), self.leaf)
        #: What was asked before of expressions, while the recipe stays what it is.
        self._nodes: dict[syntax.Tree, Node | None] = {}
        self._agreements: dict[tuple[syntax.Tree, syntax.Tree], float] = {}
        self._roles: dict[str, Role | None] = {}
        #: The recipe with inputs that are shown rounded as they may have been, in some ways
        #: along the first axis of what depends on them.
        self._shaken: Run[Matrix] | None = None
        self._reaches: dict[int, Matrix | None] = {}
        #: The figures that are printed of entries, right or wrong, by their expressions.
        self.printed: dict[str, set[float]] = {}
        #: What expressions are by the definitions, so many steps deep.
        self.forms: dict[tuple[syntax.Tree, int], list[syntax.Tree]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._quantities

    def give(
        self, name: str, tree: syntax.Tree, span: Span | None, is_rounded: bool = False
    ) -> str | None:
        """Take a printed value as an input, under the first free name like this one; None
        where it is no input: too large, or not of numbers. ``is_rounded`` where it has more
        digits than are shown."""
        try:
            numbers = Numbers.read(values.printed(tree))
            # An input can't have the name of Euler's number.
            free = self._free("e1" if name == "e" else name)
            node = given_node(free, numbers.shape)
        except SymattnError:
            return None
        self._numbers[free] = enclosures.matrix(numbers.rows)
        self._quantities[free] = node
        half = halves(tree).reshape(self._numbers[free].shape) * is_rounded
        if half.any():
            self._rounded[free] = half
        self.given[free] = ReadInput(numbers, span, free in self._rounded)
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

    def guess(self, name: str) -> None:
        """Only figures say what a step is that a program makes in another way."""
        self.steps[name] = replace(self.steps[name], guessed=True)

    def rename(self, old: str, new: str) -> None:
        """Call the step that was defined last otherwise."""
        step, tree = self.steps.pop(old), self.trees.pop(old)
        del self._quantities[old]
        self._forget()
        self.define(new, tree, step.span, step.assumed)

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
        self._shaken = None
        self._reaches.clear()
        self._roles.clear()
        self.forms.clear()

    @cached_property
    def _program(self) -> Program:
        program = Program(self._quantities, tuple(self.given), tuple(self.steps))
        if self.upstream is not None:
            program = differentiate(program, self.upstream[0])
        return program

    def set_upstream(self, output: str, tree: syntax.Tree) -> bool:
        """Take a printed value as dL/d(output), if it has the output's shape."""
        node = self._quantities.get(output)
        if node is None or values.shape(tree) != node.shape or output not in self.steps:
            return False
        self.upstream = output, enclosures.matrix(read_rows(values.printed(tree))[1])
        self.loss = {"output": output, "upstream": values.printed(tree)}
        self._forget()
        return True

    # -- expressions ------------------------------------------------------------------

    def node(self, tree: syntax.Tree) -> Node | None:
        """The node of an expression; None where a name or a shape doesn't fit."""
        # To look a tree up takes a walk through it.
        try:
            return self._nodes[tree]
        except KeyError:
            node = self._nodes[tree] = self._lowered(tree)
            return node

    def _lowered(self, tree: syntax.Tree) -> Node | None:
        if not _is_plain(tree):
            return None
        try:
            return self._program.lower_tree(tree)
        except (SymattnError, RecursionError):
            return None

    def behind(self, tree: syntax.Tree) -> dict[str, syntax.Tree | None]:
        """All that an expression is computed from, with what that is; None of inputs."""
        waiting, found = [tree], dict[str, syntax.Tree | None]()
        while waiting:
            for name in syntax.names(waiting.pop()):
                if name not in found:
                    found[name] = self.trees.get(name)
                    waiting += (self.trees[name],) if name in self.trees else ()
        return found

    def why_not(self, tree: syntax.Tree) -> str:
        """Return why an expression has no node."""
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

    def reach(self, tree: syntax.Tree) -> Matrix | None:
        """Return how far each entry of an expression is off in the worst of some ways in which
        inputs that are shown rounded may be; None where none of these goes into it."""
        node = self.node(tree) if self._rounded else None
        if node is None:
            return None
        if node.serial not in self._reaches:
            self._reaches[node.serial] = self._reach(node)
        return self._reaches[node.serial]

    def _reach(self, node: Node) -> Matrix | None:
        held = self._run[node]
        if self._shaken is None:
            self._shaken = self._shake(np.random.default_rng(0))
        moved = self._shaken[node]
        if moved.ndim == held.ndim:
            # Nothing that is shown rounded goes into it.
            return None
        with np.errstate(all="ignore"):
            off = np.nan_to_num(abs(moved - held).max(axis=0))
        return off if off.any() else None

    def _shake(self, chance: np.random.Generator) -> Run[Matrix]:
        ways = [
            {name: chance.choice((-1.0, 1.0), half.shape) for name, half in self._rounded.items()}
            for _ in range(_SHAKES)
        ]
        moved = {
            name: self._numbers[name] + half * np.array([way[name] for way in ways])
            for name, half in self._rounded.items()
        }

        def leaf(node: Node) -> Matrix | None:
            known = moved.get(node.extra) if node.op == "given" else None
            return self.leaf(node) if known is None else known

        return Run(FloatOperations(), leaf)

    def leaf(self, node: Node) -> Matrix | None:
        """Return what is known of a node without computing it."""
        if node.op != "given":
            return None
        if self.upstream is not None and node is self._program.upstream:
            return self.upstream[1]
        return self._numbers.get(node.extra)

    def agreement(self, tree: syntax.Tree, value: syntax.Tree) -> float:
        """The part of a printed value's figures that the expression rounds to; 0 where
        the shapes differ."""
        try:
            return self._agreements[tree, value]
        except KeyError:
            share = self._agreements[tree, value] = self._agreement(tree, value)
            return share

    def _agreement(self, tree: syntax.Tree, value: syntax.Tree) -> float:
        node = self.node(tree)
        if node is None or node.shape != values.shape(value):
            return 0.0
        numbers = self._run[node]
        rows = rows_of(values.printed(value))
        agreeing = [
            rounds(float(numbers[i, j]), text)
            for i, row in enumerate(rows)
            for j, text in enumerate(row)
        ]
        return sum(agreeing) / len(agreeing) if agreeing else 0.0

    def with_role(self, role: Role) -> list[str]:
        """The names of quantities that play a role, in the order of the recipe."""
        names = [name for name in self._quantities if self.role(name) == role]
        matrices = [name for name in names if len(self._quantities[name].shape) == 2]
        return matrices or names

    def role(self, name: str) -> Role | None:
        """Return what a quantity is by how it is computed, or by its name."""
        if name not in self._roles:
            self._roles[name] = self._role(name)
        return self._roles[name]

    def _role(self, name: str) -> Role | None:
        if name[:1] == "d" and name[1:2].isupper():
            # A gradient plays no part forward.
            return None
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
                if isinstance(right, syntax.Transposed) and (
                    not self._is(left, "input") or self._is(right.operand, "input")
                ):
                    return "scores"
                for part, role in _PROJECTED.items():
                    if self._is(right, part):
                        return role
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
    """Return whether it is a product with a transpose, as scores are."""
    match tree:
        case syntax.Binary("@", _, syntax.Transposed()):
            return True
    return False


#: Decimals that expressions know and floats hold.
_DECIMAL = re.compile(
    r"[+-]?(?:[0-9]{1,200}+\.?[0-9]{0,200}+|\.[0-9]{1,200}+)(?:[eE][+-]?[0-9]{1,2})?\Z"
)


def _is_plain(tree: syntax.Tree) -> bool:
    """Return whether all of it is understood, and its numbers are decimals, which expressions
    know."""
    for part in walk(tree):
        if isinstance(part, Opaque):
            return False
        if isinstance(part, syntax.Literal) and not _DECIMAL.match(part.text):
            return False
    return True
