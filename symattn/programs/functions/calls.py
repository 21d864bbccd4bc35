"""Functions of steps: each a Python function from nodes to a node, whose signature is theirs.

A function that the arithmetics don't know by themselves is written in operations that they
know; its node remembers how it was written, for sheets and for the rule of its gradient.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import NoneType
from typing import Any, Literal, NewType, cast, get_args, get_origin, get_type_hints

from symattn.errors import Malformed, short
from symattn.expressions import syntax
from symattn.expressions.shapes import Letter, show
from symattn.limits import ENTRIES
from symattn.numbers.values import Value
from symattn.programs import nodes
from symattn.programs.nodes import Back, Node, WrittenCall

#: A whole number above 0 that is known when the step is read: written, or rows(X), cols(X).
Size = NewType("Size", int)
#: A whole number from 0 on that is written in the step.
Count = NewType("Count", int)
#: An axis: -1 or 1 along each row, 0 down each column.
Axis = NewType("Axis", int)

#: What stands for one axis or another, and other names that NumPy and PyTorch have.
_ALSO: Mapping[str, str] = {"dim": "axis", "keepdim": "keepdims", "correction": "ddof"}
_NO_DEFAULT = inspect.Parameter.empty
_BY_NAME = inspect.Parameter.KEYWORD_ONLY
#: Functions that give fewer entries keep the axis: what NumPy and PyTorch call keepdims.
_KEEPS = "keepdims"


# -- the numbers that functions are of ------------------------------------------------------
# What operations refuse by themselves does not stand here: the logarithm and the root of negative
# numbers, divisions by 0, masks other than 0 and 1, rows that are masked whole. What stands here
# are numbers that a function's formula is defined for, and means nothing: a class beyond the last,
# a negative share. Numbers are known when a case is solved, which holds them against the domains
# (:mod:`symattn.solution.entries`).


@dataclass(frozen=True)
class Domain:
    """Numbers from ``least``, or above it where that is left ``out``, to ``most``; ``whole``
    ones only.

    >>> str(Domain(0, 2, whole=True)), str(Domain(0)), str(Domain(0, out=True)), str(Domain(0, 1))
    ('a whole number from 0 to 2', 'at least 0', 'a number above 0', 'a number from 0 to 1')
    """

    least: int
    most: int | None = None
    whole: bool = False
    out: bool = False

    def __str__(self) -> str:
        if (self.least, self.most, self.whole) == (0, 1, True):
            return "0 or 1"
        kind = "a whole number" if self.whole else "a number"
        if self.most is not None:
            return f"{kind} from {self.least} to {self.most}"
        return f"{kind} above {self.least}" if self.out else f"at least {self.least}"


#: What a call was given, by parameter; and of what a parameter may be then.
Given = Mapping[str, Any]
DomainOf = Domain | Callable[[Given], Domain]

#: What flows into each operand of a call; None: nothing, or what the operations below it say.
Flows = list[Node | None]
#: How a gradient flows through a call: (the node, what flows into it, then all that the function
#: is called with) to what flows into each operand.
CallRule = Callable[..., Flows]


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A function of steps: how it is built, and what is said of it.

    ``back`` is the rule of its gradient, None where that is left to the operations that it is
    written in; a function that is not ``is_written`` leaves no trace of its name. ``kink`` says
    what is taken for the gradient where there is none; ``domains`` are of parameters that are not
    of all numbers.
    """

    name: str
    build: Callable[..., Node]
    back: CallRule | None = None
    is_written: bool = True
    kink: str = ""
    domains: Mapping[str, DomainOf] = field(default_factory=dict)

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters by name, with what they may be."""
        hints = get_type_hints(self.build)
        parameters = inspect.signature(self.build).parameters
        return {
            name: parameter.replace(annotation=hints[name])
            for name, parameter in parameters.items()
        }

    @property
    def signature(self) -> str:
        """Return how it is called.

        >>> from symattn.programs.functions import FUNCTIONS
        >>> FUNCTIONS["var"].signature
        'var(x, axis=None, ddof=0)'
        """
        return f"{self.name}({', '.join(map(_shown, self.parameters.values()))})"

    @property
    def summary(self) -> str:
        """Return what it is, in a line."""
        return (inspect.getdoc(self.build) or "").split("\n\n")[0].replace("\n", " ")

    def called(self, call: syntax.Call, lower: Callable[[syntax.Tree], Node]) -> Node:
        """The node of a call; raises :class:`Malformed` for arguments that don't fit."""
        parts = map(lower, call.arguments) if self.takes_parts else ()
        return self(*parts, **self.read(call, lower))

    def read(self, call: syntax.Call, lower: Callable[[syntax.Tree], Node]) -> dict[str, Any]:
        """The arguments by parameter: nodes, whole numbers, words. Raises :class:`Malformed`."""
        return {name: self._read(name, tree, lower) for name, tree in self.given(call).items()}

    def __call__(self, *arguments: Any, **options: Any) -> Node:
        """The node, of nodes and options."""
        node = self.build(*arguments, **options)
        if node.op == self.name or not self.is_written:
            return node
        bound = inspect.signature(self.build).bind(*arguments, **options).arguments
        operands: list[tuple[str, Node]] = []
        settings: list[tuple[str, syntax.Tree]] = []
        for name, value in bound.items():
            parameter = self.parameters[name]
            label = name if parameter.kind is _BY_NAME else ""
            if isinstance(value, Node):
                operands.append((label, value))
            elif parameter.kind is parameter.VAR_POSITIONAL:
                operands += (("", operand) for operand in value)
            elif value is not None and value != parameter.default:
                is_size = Size in (parameter.annotation, *get_args(parameter.annotation))
                plain = is_size or parameter.default is _NO_DEFAULT
                settings.append(("" if plain else name, as_written(value)))
        if node.written is not None or any(node is operand for _, operand in operands):
            node = nodes.copy(node)
        labels, nodes_ = zip(*operands, strict=True) if operands else ((), ())
        back = None if self.back is None else self._back(self.back, arguments, options)
        written = WrittenCall(self.name, nodes_, labels, tuple(settings), bound, back)
        return replace(node, written=written)

    def _back(self, rule: CallRule, arguments: Sequence[Any], options: Given) -> Back:
        """The rule of a call with these arguments."""

        def back(node: Node, g: Node) -> Flows:
            bound = inspect.signature(self.build).bind(*arguments, **options)
            bound.apply_defaults()
            return rule(node, g, *bound.args, **bound.kwargs)

        return back

    @property
    def takes_parts(self) -> bool:
        """Return whether it takes any number of arguments."""
        return self._rest is not None

    @property
    def _rest(self) -> inspect.Parameter | None:
        return next((x for x in self.parameters.values() if x.kind is x.VAR_POSITIONAL), None)

    def given(self, call: syntax.Call) -> dict[str, syntax.Tree]:
        """The arguments by parameter, but for those of which there may be any number."""
        parameters = self.parameters
        names = [
            name
            for name, parameter in parameters.items()
            if parameter.kind is not parameter.VAR_POSITIONAL
        ]
        positional = [name for name in names if parameters[name].kind is not _BY_NAME]
        given: dict[str, syntax.Tree] = {}
        if self._rest is None:
            if len(call.arguments) > len(positional):
                many = "no arguments" if not positional else f"at most {len(positional)}"
                raise Malformed(f"{self.signature} takes {many}, found {len(call.arguments)}")
            given = dict(zip(positional, call.arguments, strict=False))
        for option, tree in call.options:
            name = _ALSO.get(option, option) if option not in parameters else option
            if name == _KEEPS and "axis" in parameters:
                self._need_kept(tree)
                continue
            if name not in names:
                raise Malformed(f"{self.name} has no option {short(option)!r}: {self._options()}")
            if name in given:
                raise Malformed(f"{self.name}: {name} is given twice")
            given[name] = tree
        if missing := [
            name for name in names if parameters[name].default is _NO_DEFAULT and name not in given
        ]:
            count = f"{len(call.arguments)} argument" + "s" * (len(call.arguments) != 1)
            listed = " and ".join(missing)
            raise Malformed(f"{self.signature} needs {listed}, found {count}")
        return given

    def _need_kept(self, tree: syntax.Tree) -> None:
        if tree != syntax.Word("True"):
            raise Malformed(
                f"{self.name} keeps the axis that it sums over, as keepdims=True does: "
                "write X[:, 0] for a column as a vector"
            )

    def _options(self) -> str:
        names = [n for n, p in self.parameters.items() if p.default is not _NO_DEFAULT]
        return f"there is {' and '.join(names)}" if names else "it takes none"

    def _read(self, name: str, tree: syntax.Tree, lower: Callable[[syntax.Tree], Node]) -> Any:
        kinds = self.parameters[name].annotation
        allowed = get_args(kinds) if get_origin(kinds) is not Literal else (kinds,)
        allowed = allowed or (kinds,)
        try:
            return _value(tree, allowed, lower)
        except Malformed as error:
            if Node in allowed and not isinstance(tree, syntax.Word):
                raise
            raise Malformed(f"{self.name}: {name}: {error}") from None


def _value(
    tree: syntax.Tree, allowed: tuple[Any, ...], lower: Callable[[syntax.Tree], Node]
) -> Any:
    """Return what an argument is, by what it may be."""
    word = tree.text if isinstance(tree, syntax.Word) else None
    if word == "None" and NoneType in allowed:
        return None
    for kind in allowed:
        if get_origin(kind) is Literal:
            choice = tree.name if isinstance(tree, syntax.Name) else word
            if choice in get_args(kind):
                return choice
            choices = " or ".join(f'"{word}"' for word in get_args(kind))
            raise Malformed(f"expected {choices}, found {_text(tree)}")
        if kind is bool:
            if word in ("True", "False"):
                return word == "True"
            raise Malformed(f"expected True or False, found {_text(tree)}")
    if word is not None:
        raise Malformed(f"expected {_wanted(allowed)}, found {_text(tree)}")
    for kind, least in ((Axis, -1), (Size, 1), (Count, 0)):
        if kind in allowed:
            return _whole(lower(tree), least, _wanted(allowed), 1 if kind is Axis else ENTRIES.most)
    return lower(tree)


def _whole(node: Node, least: int, wanted: str, most: int) -> int:
    """The number of a constant node."""
    value = node.extra if node.op == "constant" else None
    if node.op == "negate" and node.operands[0].op == "constant":
        value = -node.operands[0].extra
    number = value.number if isinstance(value, Value) else None
    any_size = node.extra if node.op == "table" and isinstance(node.extra, syntax.Tree) else None
    if any_size is not None and not node.shape and least == 1:
        return cast("int", Letter(any_size))
    if number is None or number.q != 1 or not least <= number.p <= most:
        actual = f"a quantity of {show(node.shape)}" if number is None else str(number)
        actual = actual if any_size is None else syntax.text(any_size)
        raise Malformed(f"expected {wanted}, found {actual}")
    return int(number.p)


def _wanted(allowed: tuple[Any, ...]) -> str:
    if Axis in allowed:
        return "-1 or 1, along rows, or 0, down columns"
    if Size in allowed:
        return "a whole number above 0, or rows(X) or cols(X)"
    return "a whole number" if Count in allowed else "a quantity"


def as_written(value: object) -> syntax.Tree:
    """A whole number, or a word, as it is written; a length that may be any is one too.

    >>> as_written(-1), as_written(None)
    (Negative(operand=Literal(text='1')), Word(text='None'))
    """
    if not isinstance(value, int) or isinstance(value, bool):
        return syntax.Word(str(value))
    number = syntax.Literal(str(abs(value)))
    return syntax.Negative(number) if value < 0 else number


def _text(tree: syntax.Tree) -> str:
    return short(syntax.text(tree), 40)


def _shown(parameter: inspect.Parameter) -> str:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return f"{parameter.name}, ..."
    if parameter.default is _NO_DEFAULT:
        needed = parameter.kind is _BY_NAME
        return f"{parameter.name}=..." if needed else parameter.name
    default = parameter.default
    text = f'"{default}"' if isinstance(default, str) else default
    return f"{parameter.name}={text}"


def function(
    back: CallRule | None = None,
    *,
    name: str = "",
    is_written: bool = True,
    kink: str = "",
    domains: Mapping[str, DomainOf] | None = None,
) -> Callable[[Callable[..., Node]], StepFunction]:
    """Makes a function of steps of a Python function from nodes to a node."""

    def made(build: Callable[..., Node]) -> StepFunction:
        called = name or build.__name__.strip("_")
        return StepFunction(called, build, back, is_written, kink, domains or {})

    return made
