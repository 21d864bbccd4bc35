"""Calls of the functions of steps, read by the signatures that steps have.

What they mean is defined anew (:mod:`symattn.calculus.row_functions` and
:mod:`symattn.calculus.place_functions`), in sums, deltas and steps over axes of any size.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from symattn import syntax
from symattn.calculus import place_functions, row_functions
from symattn.calculus.language import Axis
from symattn.calculus.matrix_forms import Forms
from symattn.calculus.row_functions import DEFINITIONS, compared, each_entry
from symattn.calculus.tensors import FUNCTIONS, Tensor
from symattn.errors import Malformed
from symattn.programs import functions as steps
from symattn.programs.functions import calls
from symattn.syntax import Tree

UNSAYABLE: Mapping[str, str] = {
    "onehot": f"{row_functions.BY_ROWS}, and write T",
    "embedding": f"{row_functions.BY_ROWS}, and write T @ E",
    "heads": "write the columns of each head, Q[:, 0:2], or give heads an axis of their own: "
    "'Q: n x h x d' and Q[:, a, :]",
    "merge": "write the heads side by side: concat(Y_0, Y_1)",
}
"""Functions that can't be said for any size: why, and what to write instead."""

_OF_SCORES = (
    *("exp", "softmax", "logsumexp", "log_softmax", "rowmax", "max", "causal", "mask", "window"),
    *("padding", "alibi", "head", "cross_entropy", "nll", "rows", "cols"),
)
"""What takes hidden scores."""


def named() -> list[str]:
    """The functions of steps that lines know."""
    return [name for name in steps.FUNCTIONS if name in DEFINITIONS or name in FUNCTIONS]


class StepCalls(Forms):
    """Reads the functions of steps."""

    sliced = staticmethod(place_functions.sliced)

    @abstractmethod
    def tensor(self, tree: Tree) -> Tensor:
        """Return what a tree stands for, which has no hidden scores."""

    @abstractmethod
    def scores(self, tree: Tree) -> Tensor:
        """Return what a tree stands for, of which scores may be hidden."""

    def step_call(self, call: syntax.Call) -> Tensor:
        """Return what a function of steps gives."""
        name = steps.ALIASES.get(call.function, call.function)
        if name in UNSAYABLE:
            raise Malformed(f"{call.function}: {UNSAYABLE[name]}")
        function = steps.FUNCTIONS[name]
        if name in ("max", "min") and len(call.arguments) > 1:
            raise Malformed(
                f"{name}: write axis={syntax.text(call.arguments[1])} for an axis; the larger of"
                " two numbers is maximum(x, y), the smaller minimum(x, y)"
            )
        read = {
            option: self._argument(function, option, tree)
            for option, tree in function.given(call).items()
        }
        if name in FUNCTIONS and len(read) == 1:
            return each_entry(name, read["x"])
        parts = map(self.scores, call.arguments) if function.takes_parts else ()
        return DEFINITIONS[name](self, *parts, **read)

    def _argument(self, function: calls.StepFunction, name: str, tree: Tree) -> Any:
        """Return what an argument is, by what it may be."""
        annotation = function.parameters[name].annotation
        allowed = get_args(annotation) if get_origin(annotation) is not Literal else (annotation,)
        allowed = allowed or (annotation,)
        word = tree.text if isinstance(tree, syntax.Word) else None
        if word == "None" and NoneType in allowed:
            return None
        where = f"{function.name}: {name}"
        for kind in allowed:
            if get_origin(kind) is Literal or kind is bool:
                choices = {str(choice): choice for choice in get_args(kind) or (True, False)}
                choice = tree.name if isinstance(tree, syntax.Name) else word
                if choice not in choices:
                    raise Malformed(f"{where}: expected {' or '.join(choices)}")
                return choices[choice]
            if kind is calls.Size:
                return self.size(tree, where)
            if kind in (calls.Axis, calls.Count):
                return _whole(tree, where, kind)
        if word is not None:
            raise Malformed(f"{where}: expected a value, found {word}")
        if name == "M" and isinstance(tree, syntax.Comparison):
            if len(tree.operands) != 2:
                raise Malformed(f"{where}: expected one comparison, such as X > 0")
            left, right = map(self.tensor, tree.operands)
            return compared(self, left, right, tree.relations[0])
        if function.name == "where" and name == "y" and tree == syntax.Negative(syntax.Name("inf")):
            return None
        may_hide = function.name in _OF_SCORES and name == "x"
        return self.scores(tree) if may_hide else self.tensor(tree)

    def size(self, tree: Tree, where: str) -> Axis:
        """A size: its name, a number, ``rows(X)`` or ``cols(X)``."""
        match tree:
            case syntax.Name(name) if name in self.scope.sizes:
                return name
            case syntax.Literal(text) if text.isdigit() and int(text):
                return int(text)
            case syntax.Call("rows" | "cols" as side, (of,), ()):
                axes = self.scores(of).axes
                if axes:
                    return axes[0 if side == "rows" else -1]
        raise Malformed(f"{where}: expected a size, a whole number above 0, rows(X) or cols(X)")


def _whole(tree: Tree, where: str, kind: Any) -> int:
    match tree:
        case syntax.Literal(text) if text.isdigit() and (kind is calls.Count or int(text) < 2):
            return int(text)
        case syntax.Negative(syntax.Literal("1")) if kind is calls.Axis:
            return -1
    wanted = "a whole number" if kind is calls.Count else "-1 or 1, along rows, or 0, down columns"
    raise Malformed(f"{where}: expected {wanted}, found {syntax.text(tree)}")
